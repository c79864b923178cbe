#!/bin/sh
# tests/analyze.sh - the analyzers of gcc and clang, clang-tidy and cppcheck over chroprof.h, the
# command and the examples: each must end with status 0, and first find a planted error, or its
# silence would say nothing. Prints "ok", "FAIL" or "skip" a check, then the counts. Arguments:
# parts of the names to run. LIMIT: seconds for one.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
LIMIT=${LIMIT:-1800}
wanted=$*

c99="-std=c99 -D_POSIX_C_SOURCE=200809L"
# the header is read as the main file: analyzers pass over what is only included
whole="-DCHROPROF_STRICT -x c $c99 -DCHROPROF_IMPLEMENTATION"
# the command and the examples without the implementation, which they include as well
libraries=
for library in libevent libev libuv glib-2.0 lua5.4 libsystemd; do
    libraries="$libraries $(pkg-config --cflags $library 2>/dev/null)"
done
alone="-std=gnu99 -DCHROPROF_STRICT -Iexamples $libraries"

# ---- what is switched off, and why; the only place
#
# gcc -fanalyzer: nothing.
# clang's analyzer:
#   all of demo.c                         cancels only what is on its list, which it can't know
# clang-tidy:
#   bugprone-easily-swappable-parameters  two numbers beside each other are no error; 79 of them
#   performance-no-int-to-ptr             offsets in a block become addresses: the design
#   bugprone-not-null-terminated-result   pieces of text are copied by length, the NUL comes last
#   bugprone-implicit-widening-of-multiplication-result   constants and small counts, each bounded
#                                         by the static asserts and limits beside it
#   bugprone-narrowing-conversions        one int that was compared with 0x80 becomes a char
#   bugprone-branch-clone                 a table of sizes, one line a kind, may repeat a size
#   bugprone-macro-parentheses            an argument that is a type or a name can't be in brackets
#   misc-no-recursion                     bounded: the tree of one JSON value in the command
#   readability-misleading-indentation    takes an #if in the middle for an else
#   in the command and the examples:
#   unix.Errno (clang's analyzer)         0 before a call, then asked whether it was set
#   bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp   feature macros begin with _
#   bugprone-sizeof-expression            arrays of pointers are sorted
#   in the examples, which show one thing in few lines:
#   misc-unused-parameters                callbacks have the arguments that their library gives them
#   cert-err33-c, cert-err34-c            what printf returns; a number of seconds by atoi
#   cert-env33-c                          hello.c starts a program through the shell
# cppcheck: tests/cppcheck.xml
tidy="-*,bugprone-*,cert-*,misc-*,performance-*,portability-*,readability-misleading*,\
readability-redundant*,-bugprone-easily-swappable-parameters,-performance-no-int-to-ptr,\
-bugprone-not-null-terminated-result,-bugprone-implicit-widening-of-multiplication-result,\
-bugprone-narrowing-conversions,-bugprone-branch-clone,-bugprone-macro-parentheses,\
-misc-no-recursion,-readability-misleading-indentation"
alone_tidy="-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp,-bugprone-sizeof-expression"
example_tidy="-misc-unused-parameters,-cert-err33-c,-cert-err34-c,-cert-env33-c"

# ---- the tools: each takes a C source, the header too; $flags and $checks are for that source

with_gcc() { timeout "$LIMIT" gcc-12 $flags -O1 -fanalyzer -Werror -c "$1" -o "$scratch/object.o"; }
# max-nodes: how far it looks into one function; the default of 225000 takes many minutes
with_clang() {
    timeout "$LIMIT" $clang $flags --analyze --analyzer-output text -Xclang -analyzer-werror \
        -Xclang -analyzer-opt-analyze-headers -Xclang -analyzer-config -Xclang max-nodes=10000 \
        -o "$scratch/report" "$1"
}
with_clang_14() { clang=clang-14; with_clang "$1"; }
with_clang_22() {
    clang=clang-22
    [ "$1" = chroprof.h ] || clang="clang-22 -Xclang -analyzer-disable-checker=unix.Errno"
    with_clang "$1"
}
with_tidy() {
    timeout "$LIMIT" clang-tidy --quiet --warnings-as-errors='*' --checks="$checks" \
        --header-filter='src/command/' "$1" -- $flags
}
with_cppcheck() {
    timeout "$LIMIT" cppcheck --language=c --std=c99 --enable=warning,performance,portability -q \
        --error-exitcode=1 --suppress-xml=tests/cppcheck.xml -D__x86_64__ -D__unix__ -D__linux__ \
        -D__GNUC__=12 \
        -D_POSIX_C_SOURCE=200809L -DCLOCK_MONOTONIC=1 -U__cplusplus \
        $(echo "$flags" | tr ' ' '\n' | grep -E '^-(DCHRO|Iex)') "$1"
}

cat >"$scratch/planted.h" <<'END'
#include <stdlib.h>
#include <string.h>
int planted(int *p);
char *room(const char *text);
int planted(int *p)
{
    if (p == NULL)
        return *p;
    free(p);
    return *p;
}
char *room(const char *text)
{
    return (char *)malloc(strlen(text + 1));
}
END

is_wanted() {
    [ -z "$wanted" ] && return 0
    for part in $wanted; do case $1 in *"$part"*) return 0 ;; esac; done
    return 1
}

count() {
    echo "$1 $2"
    case $1 in ok) passed=$((passed + 1)) ;; FAIL) failed=$((failed + 1)) ;;
    *) skipped=$((skipped + 1)) ;; esac
}

# analyze NAME TOOL FUNCTION: the planted error is found; nothing else is, anywhere
analyze() {
    is_wanted "$1" || return 0
    if ! command -v "$2" >/dev/null 2>&1; then count skip "$1: no $2"; return; fi
    flags=$whole checks=$tidy
    if "$3" "$scratch/planted.h" >"$scratch/log" 2>&1; then
        count FAIL "$1: does not find a planted error"
    else count ok "${1}_finds_errors"; fi
    silent "$1" "$3" chroprof.h
    for source in examples/*.c src/command/*.c; do
        case "$3 $source" in with_clang*' examples/demo.c') continue ;; esac
        own_source "$1" "$3" "$source"
    done
}

# own_source NAME FUNCTION SOURCE: without the line that brings the implementation; a part of the
# command, which has its own headers beside it, where it lies
own_source() {
    flags=$alone checks=$tidy,$alone_tidy
    case $3 in
    */impl.c) return ;;
    src/command/*) file=$3 ;;
    *)
        checks=$checks,$example_tidy
        file=$scratch/$(basename "$3")
        sed 's/^#define CHROPROF_IMPLEMENTATION.*//' "$3" >"$file"
        ;;
    esac
    if gcc-12 $flags -fsyntax-only "$file" >"$scratch/log" 2>&1; then
        silent "$1, $(basename "$3")" "$2" "$file"
    else
        count skip "$1, $(basename "$3"): $(grep -m 1 error "$scratch/log" | sed 's/.*error: //')"
    fi
}

# silent NAME FUNCTION SOURCE: status 0, within LIMIT
silent() {
    started=$(date +%s)
    "$2" "$3" >"$scratch/log" 2>&1
    status=$?
    if [ $status = 0 ]; then count ok "$1 ($(($(date +%s) - started)) s)"
    else count FAIL "$1: status $status: $(grep -E 'warning|error' "$scratch/log" | head -n 1)"; fi
}

analyze gcc_analyzer gcc-12 with_gcc
analyze clang_14_analyzer clang-14 with_clang_14
analyze clang_22_analyzer clang-22 with_clang_22
analyze clang_tidy clang-tidy with_tidy
analyze cppcheck cppcheck with_cppcheck
finish
