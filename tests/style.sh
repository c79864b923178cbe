#!/bin/sh
# Are the tests and the command written as .clang-format says, and is the header as tests/sections.py
# says? The header's tables and the examples' marks are not for a formatter. WRITE=1 formats.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

# what is formatted; a release's program is frozen, and symbolize/ knows its own lines
files() { ls tests/*.[ch] tests/compile/*.[ch] tests/bare/*.[ch] tests/proof/*.[ch] fuzz/*.[ch] |
    grep -v -E '/api_[0-9]'; }

formatter=
for candidate in clang-format-14 clang-format; do      # other versions have other opinions
    if [ -z "$formatter" ] && $candidate --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$candidate
    fi
done
if [ -z "$formatter" ]; then
    skipped=$((skipped + 1))
    echo "skip style: needs clang-format 14 (package clang-format-14)"
else
    [ "${WRITE:-}" != 1 ] || $formatter -i $(files)
    for file in $(files); do
        if $formatter "$file" | cmp -s - "$file"; then
            passed=$((passed + 1))
            echo "ok style_$file"
        else
            failed=$((failed + 1))
            echo "FAIL style_$file: line $($formatter "$file" | diff "$file" - |
                sed -n '1s/[^0-9].*//p') is not as .clang-format says; WRITE=1 sh tests/style.sh"
        fi
    done
fi

if command -v python3 >/dev/null 2>&1; then
    sections=$(python3 tests/sections.py)
    echo "$sections" | sed '$d'
    set -- $(echo "$sections" | tail -n 1)
    passed=$((passed + ${1:-0})) failed=$((failed + ${3:-1})) skipped=$((skipped + ${5:-0}))
else
    skipped=$((skipped + 1))
    echo "skip sections: needs python3"
fi
finish
