#!/bin/sh
# Compiles the header in every way its users do. Prints "ok NAME", "FAIL NAME: why" or
# "skip NAME: why", then the counts. Arguments: parts of the names to run, or =NAME.
cd "$(dirname "$0")" || exit 1
. ../counts.sh
export SCRATCH="$scratch"             # where the programs put their files
wanted=$*

usual="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-align"
strict="$usual -DCHROPROF_STRICT"
posix=-D_POSIX_C_SOURCE=200809L
c99="-std=c99 $posix"

has() { command -v "$1" >/dev/null 2>&1; }

# is_wanted NAME: no arguments, or one of them is part of the name
is_wanted() {
    [ -z "$wanted" ] && return 0
    for part in $wanted; do
        case =$1 in "$part") return 0 ;; esac
        case $1 in *"$part"*) return 0 ;; esac
    done
    return 1
}

# clean NAME COMPILER ARGUMENTS...: compiles without an error or a warning
clean() {
    is_wanted "$1" || return 0
    name=$1 compiler=$2
    shift 2
    if ! has "$compiler"; then skip "$name" "no $compiler"; return 1; fi
    if "$compiler" "$@" >"$scratch/log" 2>&1 && ! grep -q 'warning' "$scratch/log"; then
        ok "$name"
    else
        fail "$name" "$(grep -E 'error|warning|undefined' "$scratch/log" | head -n 1)"
        return 1
    fi
}

# works NAME COMPILER ARGUMENTS...: compiles clean into a program that exits with 0
works() {
    is_wanted "$1" || return 0
    name=$1 compiler=$2
    shift 2
    if ! has "$compiler"; then skip "$name" "no $compiler"; return; fi
    if ! "$compiler" "$@" -o "$scratch/program" >"$scratch/log" 2>&1; then
        fail "$name" "$(grep -E 'error|undefined' "$scratch/log" | head -n 1)"
    elif grep -q 'warning' "$scratch/log"; then
        fail "$name" "$(grep 'warning' "$scratch/log" | head -n 1)"
    else
        "$scratch/program"
        status=$?
        if [ $status = 0 ]; then ok "$name"; else fail "$name" "exit status $status"; fi
    fi
}

# --- no warnings: gcc and clang, C and C++, old and new; the optimizer sees more, once each
for compiler in gcc clang; do
    clean "${compiler}_c99" $compiler $c99 $strict -Wstrict-prototypes -O2 -c impl.c \
        -o "$scratch/$compiler.o"
    clean "${compiler}_c11" $compiler -std=c11 $posix $strict -Wstrict-prototypes -fsyntax-only \
        impl.c
done
for compiler in g++ clang++; do
    clean "${compiler}_c++11" $compiler -x c++ -std=c++11 $strict -fsyntax-only impl.c
    clean "${compiler}_c++17" $compiler -x c++ -std=c++17 $strict -O2 -c impl.c \
        -o "$scratch/$compiler.o"
done

# --- clang -Weverything, without:
#   -Wpadded                              a struct of the interface may have holes; what lies in
#                                         the block is pinned by static asserts
#   -Wdeclaration-after-statement         is about C89, the header is C99
#   -Wdisabled-macro-expansion            comes from the C library's own macros (errno, stdout)
#   -Wunsafe-buffer-usage                 (newer clangs) asks for C++ containers
#   -Wswitch-default, -Wswitch-enum, -Wcovered-switch-default   contradict each other
#   -Wused-but-marked-unused              what only some formats need is marked unused
# and in C++ without:
#   -Wc++98-compat-pedantic               the header asks for C++11
#   -Wold-style-cast, -Wzero-as-null-pointer-constant   there is no other cast or null in C
#   -Wreserved-identifier, -Wreserved-macro-identifier  C++ reserves each name with two underscores;
#                                         in C, chroprof__ is ours, and tells private from public
everything="-DCHROPROF_STRICT -Weverything -Wno-padded -Wno-declaration-after-statement \
    -Wno-disabled-macro-expansion -Wno-unknown-warning-option -Wno-unsafe-buffer-usage \
    -Wno-switch-default -Wno-switch-enum -Wno-covered-switch-default \
    -Wno-used-but-marked-unused"
everything_c="-fsyntax-only $everything"
everything_cpp="-x c++ -std=c++11 -fsyntax-only $everything -Wno-c++98-compat-pedantic \
    -Wno-old-style-cast -Wno-zero-as-null-pointer-constant -Wno-reserved-identifier \
    -Wno-reserved-macro-identifier"
clean everything_c99 clang $c99 $everything_c impl.c
clean everything_itimer clang $c99 -DCHROPROF_ITIMER $everything_c impl.c
clean everything_c11 clang -std=c11 $posix $everything_c impl.c
clean everything_c++11 clang++ $everything_cpp impl.c
# the newest of those with a number in their names; each knows more warnings than the one before
newest=$(echo "$PATH" | tr : '\n' | while read -r folder; do ls "$folder" 2>/dev/null; done |
    sed -n 's/^clang++-\([0-9][0-9]*\)$/\1/p' | sort -n | tail -n 1)
clean everything_newest_c99 "clang-${newest:-N}" $c99 $everything_c impl.c
clean everything_newest_c++11 "clang++-${newest:-N}" $everything_cpp impl.c

# --- the tests are C and C++ as well, so that any compiler can run them
mkdir -p "$scratch/include"
ln -sfn /usr/include/stb "$scratch/include/stb"
for test in ../test_*.c; do
    if grep -q 'model\.[ch]' "$test" && [ ! -f /usr/include/stb/stb_ds.h ]; then continue; fi
    clean "$(basename "$test" .c)_as_c++" g++ -x c++ -std=c++11 $strict \
        -Wno-missing-field-initializers -isystem "$scratch/include" -fsyntax-only "$test"
done

# --- without feature macros: strict C99 builds, or stops with one #error that says what to define
if is_wanted strict_c99; then
    if $CC -std=c99 -c impl.c -o "$scratch/strict.o" 2>"$scratch/log"; then ok strict_c99
    elif [ "$(grep -c 'error:.*chroprof: ' "$scratch/log")" = 1 ] &&
        grep 'error:' "$scratch/log" | head -n 1 | grep -q '_POSIX_C_SOURCE'; then ok strict_c99
    else fail strict_c99 "$(grep 'error:' "$scratch/log" | head -n 1)"
    fi
fi
clean gnu99_without_macros "${CC%% *}" -std=gnu99 -fsyntax-only impl.c
clean default_standard "${CC%% *}" -fsyntax-only impl.c

# --- inclusion: any order, twice, two translation units, C with C++ and the reverse
for order in FIRST LAST; do
    clean "user_c_header_$order" "${CC%% *}" $c99 $strict -DHEADER_$order -c user.c \
        -o "$scratch/user_c.o"
done
clean main_c "${CC%% *}" $c99 $strict -c main.c -o "$scratch/main.o"
for std in c++11 c++17; do
    clean "user_$std" g++ -std=$std $strict -c user.cpp -o "$scratch/user_cpp.o"
done
clean implementation_in_c gcc $c99 -c impl.c -o "$scratch/impl_c.o"
clean implementation_in_c++ g++ -x c++ -std=c++11 -c impl.c -o "$scratch/impl_cpp.o"
users="$scratch/main.o $scratch/user_c.o $scratch/user_cpp.o"
works c_implementation_c++_user g++ $users "$scratch/impl_c.o"
works c++_implementation_c_user g++ $users "$scratch/impl_cpp.o"
works alone_declarations_first "${CC%% *}" $c99 $strict alone.c
works alone_implementation_first "${CC%% *}" $c99 $strict -DIMPLEMENTATION_FIRST alone.c
works alone_c++ g++ -x c++ -std=c++11 $strict alone.c
works alone_clang++ clang++ -x c++ -std=c++17 $strict alone.c

# --- the interface: a program of the release
for api in api_0_3_0; do
    works "${api}_c" "${CC%% *}" $c99 $strict $api.c -lpthread
    works "${api}_clang" clang -std=c17 $posix $strict $api.c -lpthread
    works "${api}_c++" g++ -x c++ -std=c++11 $strict $api.c -lpthread
    works "${api}_clang++" clang++ -x c++ -std=c++20 $strict $api.c -lpthread
done
# functions: the names of all that are public, but for what the macros of two of them call
functions() {
    $CC $c99 -E -P declared.c 2>/dev/null | grep -o 'chroprof_[a-z_]* *(' | tr -d ' (' |
        grep -v chroprof__ | sort -u
}
# code_of FILE...: their own lines as the compiler has them, without comments, strings, what they
# include and what #if leaves out, so that only code counts
code_of() {
    for source in "$@"; do
        $CC $c99 -E "$source" 2>/dev/null | awk -v of="\"$source\"" '
            /^# [0-9]/ { own = $3 == of; next } own' | sed 's/"\([^"\\]\|\\.\)*"//g'
    done
}
# calls_all NAME EXCEPT FILE...: the files call every public function; EXCEPT: a pattern for grep
calls_all() {
    is_wanted "$1" || return 0
    name=$1 except=$2
    shift 2
    functions | grep -v -x -E -e "$except" >"$scratch/names"
    code_of "$@" | grep -o '\<chroprof_[a-z_]* *(' | tr -d ' (' | sed 's/^chroprof__\(dump\|write\)_by$/chroprof_\1/' |
        sort -u >"$scratch/called"
    uncalled=$(comm -23 "$scratch/names" "$scratch/called" | paste -s -d' ')
    if [ -n "$uncalled" ]; then fail "$name" "$* does not call $uncalled"
    elif [ "$(wc -l <"$scratch/names")" -lt 50 ]; then
        fail "$name" "only $(wc -l <"$scratch/names") functions were found"
    else ok "$name"
    fi
}
calls_all api_whole chroprof_clock_manual api_*.c      # that one is for options.clock: not called

# --- every function is called with memory that ends at a forbidden page; these take none
calls_all guard_whole 'chroprof_clock_manual|chroprof_result_text|chroprof_version' ../test_guard.c

# --- the version: one number in the header's first line, its macros, its manual, the changelog, the
# README's picture of a report, and the name of the frozen program
header=../../chroprof.h
numbers() {
    sed -n '1s/^[^ ]* chroprof.h \([0-9.]*\) .*/\1/p' $header
    sed -n 's/^#define CHROPROF_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' $header | paste -s -d.
    sed -n 's/^ version  *of the header that wrote it, "\([0-9.]*\)"/\1/p' $header
    sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' ../../CHANGELOG.md | head -n 1
    sed -n 's/.* chroprof \([0-9][0-9]*\.[0-9.]*\)$/\1/p' ../../README.md | sort -u
    ls api_[0-9]*.c | sort -V | tail -n 1 | sed 's/^api_//; s/\.c$//' | tr _ .
}
if is_wanted version; then
    version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' $header)
    numbers >"$scratch/numbers"
    if [ "$(wc -l <"$scratch/numbers")" = 6 ] && [ -n "$version" ] &&
        ! grep -v -q -x -F "$version" "$scratch/numbers"; then ok version
    else fail version "$version, but: $(paste -s -d' ' "$scratch/numbers") (first line, macros, \
manual, CHANGELOG.md, README.md, api_*.c)"
    fi
fi

# --- the licence: what the first line names stands at the end of the header, as in LICENSE
licence() { grep -v -x -e '-*' -e LICENSE -e '\*/' -e '/\*' -e '' "$@"; }
if is_wanted licence; then
    sed -n '/^LICENSE$/,$p' $header | licence >"$scratch/inside"
    licence ../../LICENSE >"$scratch/licence"
    if ! sed 1q $header | grep -q ' - MIT-0 OR Unlicense$'; then fail licence "$(sed 1q $header)"
    elif ! grep -q '(MIT-0)$' "$scratch/licence" || ! grep -q 'The Unlicense' "$scratch/licence"; then
        fail licence "LICENSE names another one"
    elif ! cmp -s "$scratch/inside" "$scratch/licence"; then
        fail licence "$(diff "$scratch/inside" "$scratch/licence" | sed -n 2p)"
    else ok licence; fi
fi

# --- option flags
every=
for format in TEXT JSON FOLDED PROMETHEUS PPROF; do
    every="$every -DCHROPROF_NO_$format"
    others=
    for other in TEXT JSON FOLDED PROMETHEUS PPROF; do
        [ $other = $format ] || others="$others -DCHROPROF_NO_$other"
    done
    works "flags_NO_$format" "${CC%% *}" $c99 $strict -DCHROPROF_NO_$format flags.c
    works "flags_only_$format" "${CC%% *}" $c99 $strict $others flags.c
done
works flags_no_format "${CC%% *}" $c99 $strict $every flags.c
for flag in COPIES FINDINGS; do
    works "flags_NO_$flag" "${CC%% *}" $c99 $strict -O1 -DCHROPROF_NO_$flag flags.c
    every="$every -DCHROPROF_NO_$flag"
done
works flags_nothing_left_in "${CC%% *}" $c99 $strict -O1 $every -DCHROPROF_NO_STDIO \
    -DCHROPROF_NO_SAMPLER flags.c
works flags_byte_order_unknown "${CC%% *}" $c99 $strict -O1 -U__BYTE_ORDER__ flags.c
works flags_no_format_no_stdio "${CC%% *}" $c99 $strict $every -DCHROPROF_NO_STDIO flags.c
for flags in "" -DCHROPROF_NO_STDIO -DCHROPROF_NO_MMAP -DCHROPROF_NO_SAMPLER \
    -DCHROPROF_ITIMER "-DCHROPROF_NO_SAMPLER -DCHROPROF_NO_STDIO" \
    -DCHROPROF_NO_CLOCK -DCHROPROF_NO_TSC "-DCHROPROF_NO_CLOCK -DCHROPROF_NO_TSC"; do
    works "flags$(echo "$flags" | tr -d ' ' | sed 's/-DCHROPROF_/_/g')" "${CC%% *}" $c99 $strict \
        $flags flags.c
done
for compiler in "gcc $c99" "clang $c99" "g++ -x c++ -std=c++11"; do
    works "wait_calls_${compiler%% *}" $compiler $strict -O2 -DCHROPROF_WAIT_CALLS wait_calls.c
done
# names_knob NAME KNOB ARGUMENTS...: does not compile, and the error names what helps
names_knob() {
    is_wanted "$1" || return 0
    name=$1 knob=$2
    shift 2
    if ${CC%% *} "$@" -fsyntax-only alone.c >"$scratch/log" 2>&1; then
        fail "$name" "compiles"
    elif grep '#error' "$scratch/log" | grep -q "$knob"; then
        ok "$name"
    else
        fail "$name" "$(grep -m 1 error "$scratch/log")"
    fi
}
works flags_posix_2001 "${CC%% *}" -std=c99 $strict -D_XOPEN_SOURCE=600 flags.c
names_knob flags_posix_1995 CHROPROF_NO_MMAP -std=c99 -D_XOPEN_SOURCE=500
works flags_posix_1995_no_mmap "${CC%% *}" -std=c99 $strict -D_XOPEN_SOURCE=500 -DCHROPROF_NO_MMAP \
    flags.c
names_knob flags_posix_2001_gnu CHROPROF_NO_SAMPLER -std=gnu99 -D_POSIX_C_SOURCE=200112L
names_knob flags_no_posix CHROPROF_NO_CLOCK -std=c99
works flags_no_clock_strict_c99 "${CC%% *}" -std=c99 $strict -DCHROPROF_NO_CLOCK flags.c
# a private copy has functions its file does not call
works flags_static "${CC%% *}" $c99 $usual -DCHROPROF_API=static alone.c
works flags_static_c++ g++ -x c++ -std=c++11 $usual -DCHROPROF_API=static alone.c
works flags_static_clang clang $c99 $usual -DCHROPROF_API=static alone.c
works flags_disable "${CC%% *}" $c99 $strict -DCHROPROF_DISABLE alone.c
works flags_disable_clang clang $c99 $strict -DCHROPROF_DISABLE alone.c
works flags_disable_c++ g++ -x c++ -std=c++11 $strict -DCHROPROF_DISABLE alone.c

# --- beside the headers of others: macros of the names that they take, and the real ones
hostile="$strict -DHOSTILE"
works survives_macros_c99 gcc $c99 $hostile survives.c
works survives_macros_clang clang -std=gnu11 $hostile survives.c
works survives_macros_itimer gcc $c99 $hostile -DCHROPROF_ITIMER survives.c
works survives_macros_c++11 g++ -x c++ -std=c++11 $hostile survives.c
works survives_macros_clang++ clang++ -x c++ -std=c++17 $hostile survives.c
works survives_macros_coroutines g++ -x c++ -std=c++20 $hostile -DCHROPROF_COROUTINES survives.c
works survives_macros_disable gcc $c99 $hostile -DCHROPROF_DISABLE survives.c
# flags NAME: of pkg-config, as of a header of the system, so that its own warnings are none
flags() { pkg-config --cflags "$1" 2>/dev/null | sed 's/-I/-isystem /g'; }
# the helpers for libraries, where these are
libraries() {
    name=survives_macros_$1
    is_wanted "$name" || return 0
    shift
    if $CC "$@" $(flags glib-2.0) -E -DHOSTILE -DLIBRARIES survives.c >/dev/null 2>&1; then
        suite=$name
        clean ${suite}_c gcc -std=gnu99 $hostile -DLIBRARIES "$@" $(flags glib-2.0) -fsyntax-only \
            survives.c
        clean ${suite}_c++ g++ -x c++ -std=c++17 $hostile -DLIBRARIES "$@" $(flags glib-2.0) \
            -fsyntax-only survives.c
    else skip "$name" "no libraries"; fi
}
libraries libevent
libraries libev -DLIBEV
# survives NAME HEADERS FLAGS...: before and after them, in C and C++
survives() {
    suite=survives_$1 headers=$2
    shift 2
    is_wanted "$suite" || return 0
    for header in $headers; do echo "#include <$header>"; done >"$scratch/headers.h"
    if ! $CC "$@" -E "$scratch/headers.h" >/dev/null 2>&1; then
        skip "$suite" "no $headers"
        return
    fi
    for order in BEFORE AFTER; do
        others="-D$order -DHEADERS=\"$scratch/headers.h\" -Wall -Wextra -fsyntax-only $*"
        clean "${suite}_c_$order" gcc -std=gnu99 $others survives.c
        clean "${suite}_c++_$order" g++ -x c++ -std=c++17 $others survives.c
    done
}
survives term "curses.h term.h"
survives x11 "X11/Xlib.h X11/Xutil.h X11/Xatom.h"
survives glib "glib.h glib-object.h gio/gio.h" $(flags gio-2.0)
survives lua "lua.h lauxlib.h lualib.h" $(flags lua5.4)
survives python Python.h $(flags python3)
ruby=$(pkg-config --list-all 2>/dev/null | sed -n 's/^\(ruby-[0-9.]*\) .*/\1/p' | head -n 1)
survives ruby ruby.h $(flags "$ruby")
survives libev ev.h
survives libevent "event2/event.h event2/http.h"
survives libuv uv.h
# Windows, where its compiler is
for order in HOSTILE BEFORE; do
    windows="-D$order -DHEADERS=<windows.h> -Wall -Wextra -fsyntax-only"
    clean survives_windows_c_$order x86_64-w64-mingw32-gcc $windows survives.c
    clean survives_windows_c++_$order x86_64-w64-mingw32-g++ -x c++ -std=c++11 $windows survives.c
done

# --- none of the warnings that others ask for, in their own code and macros, and in the
# implementation, whose style is not theirs: CHROPROF_STRICT is not defined here
asked="$usual -Wcast-qual -Wunused -Wwrite-strings -Wmissing-declarations -Wredundant-decls \
    -Wfloat-equal -Wformat=2 -Wdouble-promotion -Wvla"
asked_c="$asked -std=gnu99 -Wdeclaration-after-statement -Wc++-compat -Wmissing-prototypes \
    -Wstrict-prototypes -Wold-style-definition -Wnested-externs -Wbad-function-cast"
asked_cpp="$asked -x c++ -std=c++11 -Wold-style-cast -Wzero-as-null-pointer-constant -Wextra-semi"
asked_libraries() { $CC -E -DLIBRARIES "$@" $(flags glib-2.0) warnings.c >/dev/null 2>&1; }
for with in "" -DPRIVATE -DCHROPROF_DISABLE "-DLIBRARIES $(flags glib-2.0)" -DLIBEV; do
    case $with in
        -DLIBRARIES*) asked_libraries || continue ;;
        -DLIBEV) asked_libraries -DLIBEV || continue ;;
    esac
    suite=warnings$(echo "${with%% *}" | sed 's/-DCHROPROF_/-D/; s/-D/_/')
    clean ${suite}_gcc gcc $asked_c $with ${WARNED:--O2} -c warnings.c -o "$scratch/warnings.o"
    clean ${suite}_clang clang $asked_c $with -c warnings.c -o "$scratch/warnings.o"
    clean ${suite}_g++ g++ $asked_cpp -Wuseless-cast $with -c warnings.c -o "$scratch/warnings.o"
    clean ${suite}_clang++ clang++ $asked_cpp $with -c warnings.c -o "$scratch/warnings.o"
done
# refuses NAME COMPILER ARGUMENTS...: does not compile
refuses() {
    is_wanted "$1" || return 0
    name=$1 compiler=$2
    shift 2
    if ! has "$compiler"; then skip "$name" "no $compiler"
    elif "$compiler" "$@" -fsyntax-only warnings.c >"$scratch/log" 2>&1; then
        fail "$name" "compiles"
    elif grep 'error' "$scratch/log" | grep -q 'constant'; then ok "$name"
    else fail "$name" "$(grep -m 1 error "$scratch/log")"; fi
}
for made in SCOPE SITE; do
    refuses run_time_name_${made}_gcc gcc -std=gnu99 -DRUN_TIME_$made
    refuses run_time_name_${made}_g++ g++ -x c++ -std=c++11 -DRUN_TIME_$made
    refuses run_time_name_${made}_clang++ clang++ -x c++ -std=c++20 -DRUN_TIME_$made
done

# --- helpers of some languages and systems: scopes, epoll, coroutines
helpers="$strict -Werror -pthread"
works scope_c99 gcc -std=gnu99 $helpers scope.c
works scope_clang clang -std=gnu11 $helpers scope.c
works scope_c++11 g++ -x c++ -std=c++11 $helpers scope.c
works scope_clang++ clang++ -x c++ -std=c++17 $helpers scope.c
works scope_hidden gcc -std=gnu99 $helpers -DDYNAMIC -rdynamic -fvisibility=hidden scope.c -ldl
works scope_hidden_c++ g++ -x c++ -std=c++11 $helpers -DDYNAMIC -rdynamic -fvisibility=hidden \
    scope.c -ldl
works scope_disable gcc -std=gnu99 $helpers -DCHROPROF_DISABLE scope.c
works scope_disable_c++ g++ -x c++ -std=c++11 $helpers -DCHROPROF_DISABLE scope.c
clean scope_everything clang -std=gnu11 $everything -fsyntax-only scope.c
works coroutines g++ -std=c++20 $strict -Werror coroutines.cc
works coroutines_optimized g++ -std=c++20 $strict -Werror -O2 coroutines.cc
works coroutines_disable g++ -std=c++20 $strict -Werror -DCHROPROF_DISABLE coroutines.cc
for compiler in clang++ clang++-19; do
    works coroutines_$compiler $compiler -std=c++20 $strict -Werror coroutines.cc
    works coroutines_${compiler}_optimized $compiler -std=c++20 $strict -Werror -O2 coroutines.cc
done

# loop PROGRAM PACKAGE HEADER FLAGS...: the helper for a library, in C and C++, and under ASan
loop() {
    program=$1 package=$2 header=$3
    shift 3
    if ! echo "#include <$header>" | $CC -E -x c - "$@" >/dev/null 2>&1; then
        is_wanted "loop_$program" && skip "loop_$program" "no $package"
        return
    fi
    works loop_${program}_c99 gcc $c99 $helpers $program.c "$@"
    works loop_${program}_clang clang -std=gnu11 -fsanitize=address $helpers $program.c "$@"
    works loop_${program}_c++11 g++ -x c++ -std=c++11 $helpers $program.c "$@"
    works loop_${program}_clang++ clang++ -x c++ -std=c++20 $helpers $program.c "$@"
    works loop_${program}_disable gcc $c99 $helpers -DCHROPROF_DISABLE $program.c "$@"
}
loop glib libglib2.0-dev glib.h $(pkg-config --cflags --libs glib-2.0 2>/dev/null)
loop evhttp libevent-dev event2/http.h -levent
if echo '#include <event2/http.h>' | $CC -E -x c - >/dev/null 2>&1; then
    works loop_evhttp_origin gcc $c99 $helpers \
        -DCHROPROF_EVHTTP_ORIGIN='"https://profiler.firefox.com"' evhttp.c -levent
fi
loop libev libev-dev ev.h -lev
loop libunwind libunwind-dev libunwind.h -lunwind -O2 -fomit-frame-pointer

# --- a shared library with a private copy of another version, in a program that has one as well
# copies NAME COMPILER FLAGS OF THE LIBRARY: they are not mixed, and the library exports no names
copies() {
    is_wanted "$1" || return 0
    name=$1 compiler=$2 language=c
    shift 2
    if ! has "$compiler" || [ "$(uname)" != Linux ] || ! has nm; then
        skip "$name" "no $compiler and nm, or not Linux"
        return
    fi
    case $compiler in *++) language=c++ ;; esac
    sed 's/^typedef struct chroprof {/&\n    uint64_t of_another_version[3];/
        s/^typedef struct chroprof_totals {/&\n    uint64_t of_another_version;/
        s/^#define CHROPROF_VERSION "/&9./' ../../chroprof.h >"$scratch/another.h"
    "$compiler" -x $language -shared -fPIC -DLIBRARY "-DHEADER=\"$scratch/another.h\"" "$@" \
        copies.c -o "$scratch/libcopies.so" >"$scratch/log" 2>&1 &&
        "$compiler" -x $language -rdynamic copies.c -x none "$scratch/libcopies.so" \
            -o "$scratch/copies" >>"$scratch/log" 2>&1
    if [ $? != 0 ]; then
        fail "$name" "$(grep -m 1 -E 'error|undefined' "$scratch/log")"
        return
    fi
    exported=$(nm -D --defined-only "$scratch/libcopies.so" | grep -v ' library_' | sed 1q)
    "$scratch/copies"
    status=$?
    if [ -n "$exported" ]; then fail "$name" "exports $exported"
    elif [ $status != 0 ]; then fail "$name" "exit status $status"
    else ok "$name"; fi
}
for compiler in gcc g++; do
    copies copies_static_$compiler $compiler -DCHROPROF_API=static
    copies copies_hidden_$compiler $compiler -fvisibility=hidden
done
copies copies_static_optimized g++ -DCHROPROF_API=static -O2

# --- disabled calls leave nothing behind
# same_code NAME COMPILER SOURCE: with and without calls, the sections that are loaded are the same
same_code() {
    is_wanted "$1" || return 0
    if ! has "$2" || ! has objcopy; then skip "$1" "no $2 or objcopy"; return; fi
    for with in CALLS NOTHING; do
        if ! $2 $4 -O2 -w -DWITH_$with -c "$3" -o "$scratch/$with.o" 2>"$scratch/log" ||
            ! objcopy -O binary -R .comment -R '.note*' -R '.eh_frame*' "$scratch/$with.o" \
                "$scratch/$with.bin" 2>>"$scratch/log"; then
            fail "$1" "$(head -n 1 "$scratch/log")"
            return
        fi
    done
    if [ -s "$scratch/CALLS.bin" ] && cmp -s "$scratch/CALLS.bin" "$scratch/NOTHING.bin"; then
        ok "$1"
    else
        fail "$1" "$(wc -c <"$scratch/CALLS.bin") bytes, not $(wc -c <"$scratch/NOTHING.bin")"
    fi
}
same_code disabled_gcc gcc disabled.c "$c99"
same_code disabled_clang clang disabled.c "$c99"
same_code disabled_g++ g++ disabled.cpp -std=c++11
same_code disabled_clang++ clang++ disabled.cpp -std=c++11
clean disabled_warnings "${CC%% *}" $c99 $strict -DWITH_CALLS -c disabled.c -o "$scratch/disabled.o"

# --- the stack that calls take: not more than the manual says; each is measured, and each is told
# stack NAME FLAGS: every line "name bytes" of stack.c against "name KiB" of the manual
stack() {
    is_wanted "$1" || return 0
    name=$1 compiler=$2
    shift 2
    if ! has "$compiler"; then skip "$name" "no $compiler"; return; fi
    if ! "$compiler" $c99 $strict "$@" -pthread -Wl,-z,now stack.c impl.c -o "$scratch/stack" \
        >"$scratch/log" 2>&1 || ! "$scratch/stack" >"$scratch/stack.txt"; then
        fail "$name" "$(grep -E 'error|warning' "$scratch/log" | head -n 1)"
        return
    fi
    wrong=$(sed -n '/^ Stack in KiB, at most:/,/^ optimization/p' ../../chroprof.h |
        sed '/Compiled without/{s/Compiled without.*//;q;}' | tr ',:.' '\n\n\n' | awk '
            NR == FNR { if (NF == 2 && $2 + 0) most[$1] = $2; next }
            !($1 in most) || $2 > most[$1] * 1024 || $2 < 1 { print $1, $2 }
            { seen++ } END { if (seen < 14) print "only " seen " of them" }' - "$scratch/stack.txt")
    if [ -z "$wrong" ]; then ok "$name"; else fail "$name" "$(echo "$wrong" | paste -s -d' ')"; fi
}
stack stack_gcc gcc -O2
stack stack_clang clang -O2
stack stack_small gcc -Os

# --- the object: only our own names, no data, no allocation, no counter if told so
# own_symbols NAME OBJECT: what the linker sees of it is chroprof_.. and, of chroprof__.., only what the
# interface declares for its macros
own_symbols() {
    is_wanted "$1" || return 0
    if ! has nm || [ ! -f "$2" ]; then skip "$1" "no nm, or no object"; return; fi
    nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }' >"$scratch/symbols"
    $CC $c99 -E -P declared.c 2>/dev/null | grep -o 'chroprof__[a-z_]*' >"$scratch/of_macros"
    foreign=$(grep -v '^chroprof_[a-z]' "$scratch/symbols" | grep -v -x -F -f "$scratch/of_macros" | paste -s -d' ')
    if [ -n "$foreign" ]; then fail "$1" "$foreign"
    elif [ "$(wc -l <"$scratch/symbols")" -lt 50 ]; then
        fail "$1" "only $(wc -l <"$scratch/symbols") symbols were found"
    else ok "$1"; fi
}
# object CHECKS FLAGS...: the implementation with these, for the checks that follow, and for
# symbols_FLAGS; nothing if none of them is wanted
object() {
    symbols=$(echo "$*" | sed 's/^[^-]*//; s/ //g; s/-DCHROPROF_/_/g')
    own=
    for check in $1 "symbols$symbols"; do is_wanted "$check" && own=1; done
    shift
    [ -n "$own" ] || return 0
    rm -f "$scratch/impl.o"
    if [ $# = 0 ] && [ -f "$scratch/gcc.o" ] && [ "$CC" = cc ]; then   # gcc_c99 made it
        cp "$scratch/gcc.o" "$scratch/impl.o"
    else
        $CC $c99 -O2 "$@" -c impl.c -o "$scratch/impl.o" 2>/dev/null
    fi
    own_symbols "symbols$symbols" "$scratch/impl.o"
}
$CC -x c -c /dev/null -o "$scratch/impl.o"
for compiler in gcc clang g++ clang++ impl_c impl_cpp; do
    own_symbols symbols_$compiler "$scratch/$compiler.o"
done
object "writable_globals data_and_bss allocation locale_dependent_output"
# empty NAME TEXT: there must be none
empty() {
    is_wanted "$1" || return 0
    if ! has nm || [ ! -f "$scratch/impl.o" ]; then skip "$1" "no nm, or no object"
    elif [ -z "$2" ]; then ok "$1"; else fail "$1" "$(echo "$2" | tr '\n' ' ')"; fi
}
empty writable_globals "$(nm "$scratch/impl.o" | awk '$2 ~ /^[BbDdCS]$/')"
empty data_and_bss "$(size "$scratch/impl.o" | awk 'NR == 2 && $2 + $3 != 0 { print $2, $3 }')"
empty allocation "$(nm -u "$scratch/impl.o" |
    awk '$2 ~ /^(malloc|calloc|realloc|free|sbrk|strdup|asprintf)$/')"
# the C library puts together names of files alone, of text and whole numbers
empty locale_dependent_output "$(nm -u "$scratch/impl.o" | grep -E 'printf|strtod' | grep -vw snprintf
    grep -hE 'snprintf\(' ../../chroprof.h | sed 's/%s//g; s/%llu//g' | grep %)"
# links_only_FORMAT: a program that writes that one holds no code of the others
links_only() {
    is_wanted "links_only_$1" || return 0
    if ! has nm; then skip "links_only_$1" "no nm"; return; fi
    [ -f "$scratch/parts.o" ] ||
        $CC $c99 -O2 -ffunction-sections -fdata-sections -c impl.c -o "$scratch/parts.o"
    $CC $c99 -O2 "-DFORMAT=CHROPROF_$1" -c one.c -o "$scratch/one.o" 2>"$scratch/log" &&
        $CC -Wl,--gc-sections "$scratch/one.o" "$scratch/parts.o" -o "$scratch/one" \
            2>>"$scratch/log"
    wanted_format=$(echo "chroprof_as_$1" | tr A-Z a-z)
    found=$(nm "$scratch/one" | awk '$3 ~ /^chroprof_as_/ { print $3 }' | sort -u | paste -s -d' ')
    if [ "$found" = "$wanted_format" ]; then ok "links_only_$1"; else
        fail "links_only_$1" "${found:-nothing} $(head -n 1 "$scratch/log")"; fi
}
for format in TEXT JSON FOLDED PROMETHEUS PPROF; do links_only $format; done
# who takes no samples links no code for them: a call of chroprof_sample brings a tenth and more
if is_wanted links_no_samples; then
    without=$(size "$scratch/one" 2>/dev/null | awk 'NR == 2 { print $1 }')
    $CC $c99 -O2 -DSAMPLE -DFORMAT=CHROPROF_PPROF -c one.c -o "$scratch/one.o" 2>"$scratch/log" &&
        $CC -Wl,--gc-sections "$scratch/one.o" "$scratch/parts.o" -o "$scratch/sampled" \
            2>>"$scratch/log"
    with=$(size "$scratch/sampled" 2>/dev/null | awk 'NR == 2 { print $1 }')
    if [ $((${with:-0} * 10)) -gt $((${without:-0} * 11)) ] && [ "${without:-0}" -gt 0 ]; then
        ok links_no_samples
    else fail links_no_samples "${without:-0} bytes, with samples ${with:-0}"; fi
fi
object itimer_one_writable_global -DCHROPROF_ITIMER
empty itimer_one_writable_global "$(nm "$scratch/impl.o" |
    awk '$2 ~ /^[BbDdCS]$/ && $3 != "chroprof__process_timers"')"
object no_mmap_maps_no_file -DCHROPROF_NO_MMAP
empty no_mmap_maps_no_file "$(nm -u "$scratch/impl.o" |
    awk '$2 ~ /^(mmap|open|link|rename|kill)$/')"
object "no_sampler_no_signal no_sampler_waits_and_maps_only no_sampler_no_calls" -DCHROPROF_NO_SAMPLER
empty no_sampler_no_signal "$(nm -u "$scratch/impl.o" |
    awk '$2 ~ /^(sigaction|pthread_.*|dl.*)$/')"
calls() { objdump -dr "$scratch/impl.o" | awk '/^[0-9a-f]+ </ { where = $2 }
    /[ \t]syscall(-|$)/ { print where }'; }
empty no_sampler_waits_and_maps_only "$([ "$(uname)" != Linux ] || calls | sort -u |
    awk '/^<chroprof__epoll_pwait>:$/ { waits = 1 } !/^<chroprof_(_epoll_pwait|map|_map_file)>:$/ { print }
        END { if (!waits) print "no caller" }')"
empty no_sampler_no_calls "$(nm "$scratch/impl.o" | grep chroprof_sampler_st)"
object "no_clock_reads_none no_clock_reads_no_counter" -DCHROPROF_NO_CLOCK -DCHROPROF_NO_TSC
empty no_clock_reads_none "$(nm -u "$scratch/impl.o" | grep -E 'clock|time')"
counter() { objdump -d "$scratch/impl.o" | grep -E 'rdtsc|cntvct' | head -n 1; }
empty no_clock_reads_no_counter "$(counter)"
object no_tsc_reads_no_counter -DCHROPROF_NO_TSC
empty no_tsc_reads_no_counter "$(counter)"

# --- the declarations bring in no macros but our own and those of the four standard headers
macros() { $CC "$@" -dM -E declared.c | awk '{ print $2 }' | sed 's/(.*//' | sort; }
# names FLAGS...: everything that is declared for others
names() { clang "$@" -Xclang -ast-dump=json -fsyntax-only declared.c | python3 names.py | sort; }
# only_ours NAME HOW FLAGS...: what the declarations add, by macros or names, has our prefix
only_ours() {
    is_wanted "$1" || return 0
    name=$1 how=$2
    shift 2
    $how "$@" >"$scratch/ours" 2>"$scratch/log"
    $how "$@" -DSTANDARD >"$scratch/standard" 2>>"$scratch/log"
    comm -23 "$scratch/ours" "$scratch/standard" >"$scratch/added"
    foreign=$(grep -v -x -E 'chroprof|(chroprof|CHROPROF)_.*' "$scratch/added" | paste -s -d' ')
    if [ -s "$scratch/log" ]; then fail "$name" "$(head -n 1 "$scratch/log")"
    elif [ -n "$foreign" ]; then fail "$name" "$foreign"
    elif [ "$(wc -l <"$scratch/added")" -lt 20 ]; then
        fail "$name" "only $(wc -l <"$scratch/added") were found"
    else ok "$name"; fi
}
for flags in "" -DCHROPROF_DISABLE -DCHROPROF_NO_STDIO -DCHROPROF_NO_SAMPLER
do
    suffix=$(echo "$flags" | sed 's/-DCHROPROF_/_/')
    cpp="-x c++ -std=c++11"
    only_ours "foreign_macros$suffix" macros $c99 $flags
    ! has clang || ! has python3 || only_ours "foreign_names$suffix" names $c99 $flags
    only_ours "foreign_macros_c++$suffix" macros $cpp $flags
    ! has clang || ! has python3 || only_ours "foreign_names_c++$suffix" names $cpp $flags
done
is_wanted foreign_names && { has clang && has python3 || skip foreign_names "no clang or python3"; }
# whatever the flags, the system and the compiler: every macro of the file, by its text
if is_wanted every_macro; then
    sed -n 's/^[ \t]*#[ \t]*define[ \t]*//p' ../../chroprof.h ../../examples/adapters/*.h \
        >"$scratch/defined"
    foreign=$(grep -v -E '^(chroprof|CHROPROF)_|^UNW_LOCAL_ONLY$|^EV_NOEXCEPT$' "$scratch/defined" | paste -s -d' ')
    if [ -n "$foreign" ]; then fail every_macro "$foreign"
    elif [ "$(wc -l <"$scratch/defined")" -lt 100 ]; then
        fail every_macro "only $(wc -l <"$scratch/defined") were found"
    else ok every_macro; fi
fi
macros $c99 >"$scratch/ours"
macros $c99 -DCHROPROF_NO_STDIO >"$scratch/no_stdio"
empty no_stdio_in_the_declarations "$(grep -x -e EOF -e BUFSIZ "$scratch/no_stdio")"
if is_wanted own_macros; then
    if grep -q '^CHROPROF_SITE$' "$scratch/ours"; then ok own_macros; else
        fail own_macros "CHROPROF_SITE is not there"
    fi
fi

finish
