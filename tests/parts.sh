#!/bin/sh
# Is chroprof.h what its parts give? Does each part compile alone, with nothing but what it includes,
# and each file of the command and of the preloaded library?
# QUICK=1: as C++ all of the parts at once, and none alone; no file that make builds alone.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
CXX=${CXX:-c++}

if found=$(sh src/join.sh --check); then ok join; else fail join "$found"; fi

# What nobody calls is called by other parts.
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror -Wno-unused -D_GNU_SOURCE"
languages="c c++"
command -v "${CXX%% *}" >/dev/null 2>&1 || languages=c
[ "$languages" != c ] || { skipped=$((skipped + 1)); echo "skip parts_c++: no $CXX"; }
compile() {
    case $1 in
    c) $CC -std=c99 $warnings -fsyntax-only "$2" ;;
    c++) $CXX -std=c++11 $warnings -fsyntax-only "$2" ;;
    esac
}
for part in $(cd src/header && ls all.h */*.h); do
    for language in $languages; do
        [ "$part" = all.h ] || [ "$language${QUICK:-}" != c++1 ] || continue
        name=part_$(echo "${part%.h}" | tr / _)_$language
        unit=$scratch/unit.c
        [ "$language" = c ] || unit=$scratch/unit.cc
        {
            echo '#define CHROPROF_IMPLEMENTATION'
            echo "#include \"$PWD/src/header/$part\""
            echo 'extern int nothing;'
        } >"$unit"
        if compile "$language" "$unit" >"$scratch/log" 2>&1; then
            ok "$name"
        else
            fail "$name" "$(grep -m 1 -E 'error|warning' "$scratch/log")"
        fi
    done
done

# each_file FOLDER FLAGS...: each of its files alone
each_file() {
    folder=$1
    shift
    for file in "$folder"/*.[ch]; do
        # the build has done so with these
        case $file in src/command/*.c) [ "${QUICK:-}" != 1 ] || continue ;; esac
        echo "#include \"$PWD/$file\"" >"$scratch/unit.c"
        if $CC "$@" -w -fsyntax-only "$scratch/unit.c" >"$scratch/log" 2>&1; then
            ok "file_$(echo "$file" | tr / _)"
        else
            fail "file_$(echo "$file" | tr / _)" "$(grep -m 1 error "$scratch/log")"
        fi
    done
}
each_file src/command
if [ "$(uname)" = Linux ]; then each_file src/run -std=gnu99 -D_GNU_SOURCE
else skipped=$((skipped + 1)); echo "skip files_run: only for Linux"; fi
finish
