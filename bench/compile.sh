#!/bin/sh
# What the header costs a compiler, in user time, and the program, in bytes of code.
#   bench/compile.sh [ROUNDS]     (make bench-compile)
# Times are the least of the rounds: what always does the same takes no less.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-5}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
has() { command -v "$1" >/dev/null 2>&1; }

# What any program includes anyway, then the header, then the implementation.
common='#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>'
printf '%s\nint x;\n' "$common" >"$out/common.c"
printf '%s\n#include "%s/../chroprof.h"\nint x;\n' "$common" "$here" >"$out/declared.c"
printf '#include "%s/impl.c"\n' "$here" >"$out/implementation.c"
cp "$out/common.c" "$out/common.cc"
cp "$out/declared.c" "$out/declared.cc"

# user_ms REPEAT COMMAND...: user milliseconds of a run, the least of the rounds of so many in a row
user_ms() {
    repeat=$1 i=0
    shift
    while [ $i -lt "$rounds" ]; do
        sh -c 'n=$1; shift; while [ $n -gt 0 ]; do "$@" || exit 1; n=$((n - 1)); done; times' \
            sh "$repeat" "$@" | tail -n 1
        i=$((i + 1))
    done | sed 's/m/ /; s/s.*//' | awk -v n="$repeat" '{
        t = 1000 * (60 * $1 + $2) / n; if (NR == 1 || t < m) m = t } END { printf "%.1f", m }'
}

printf 'user ms a compilation, the least of %d rounds\n' "$rounds"
printf '%-26s %10s %14s %12s %16s\n' compiler without declarations added implementation
for compiler in "gcc -std=gnu99" "clang -std=gnu99" "g++ -std=c++11" "clang++ -std=c++11"; do
    has "${compiler%% *}" || { echo "skipped: ${compiler%% *}"; continue; }
    case $compiler in *++*) end=cc ;; *) end=c ;; esac
    # shellcheck disable=SC2086
    a=$(user_ms 10 $compiler -O2 -c -o "$out/x.o" "$out/common.$end")
    # shellcheck disable=SC2086
    b=$(user_ms 10 $compiler -O2 -c -o "$out/x.o" "$out/declared.$end")
    c=-
    # shellcheck disable=SC2086
    [ $end = cc ] || c=$(user_ms 1 $compiler -O2 -c -o "$out/x.o" "$out/implementation.c")
    echo "$a $b $c" | awk -v n="$compiler -O2" '{
        printf "%-26s %10s %14s %12.1f %16s\n", n, $1, $2, $2 - $1, $3 }'
done

# text_bytes FLAGS...: code and constants of the implementation
text_bytes() {
    ${CC:-cc} -std=gnu99 -Os -c "$@" -o "$out/x.o" "$out/implementation.c"
    size "$out/x.o" | awk 'NR == 2 { print $1 }'
}

printf '\ncode and constants, bytes (%s -Os; with -O2: ' "${CC:-cc}"
${CC:-cc} -std=gnu99 -O2 -c -o "$out/x.o" "$out/implementation.c"
size "$out/x.o" | awk 'NR == 2 { printf "%d in all)\n", $1 }'
all=$(text_bytes)
printf '%-34s %8d\n' 'everything' "$all"
without() {
    name=$1
    shift
    printf '%-34s %8d\n' "  $name" $((all - $(text_bytes "$@")))
}
for format in TEXT JSON FOLDED PROMETHEUS PPROF; do
    without "format $format" "-DCHROPROF_NO_$format"
done
formats="-DCHROPROF_NO_TEXT -DCHROPROF_NO_JSON -DCHROPROF_NO_FOLDED -DCHROPROF_NO_PROMETHEUS
    -DCHROPROF_NO_PPROF"
# shellcheck disable=SC2086
without "all formats" $formats
without "mapped files" -DCHROPROF_NO_MMAP
without "the sampler" -DCHROPROF_NO_SAMPLER
# shellcheck disable=SC2086
printf '%-34s %8d\n' 'none of these, no stdio' \
    "$(text_bytes $formats -DCHROPROF_NO_MMAP -DCHROPROF_NO_SAMPLER -DCHROPROF_NO_STDIO)"

# What a program keeps that only sends events and dumps text, if the linker drops the rest.
cat >"$out/small.c" <<END
#define _GNU_SOURCE
#define CHROPROF_API static
#define CHROPROF_IMPLEMENTATION
#include "$here/../chroprof.h"
static chroprof prof;
static unsigned char memory[65536];
CHROPROF_SITE(site, "x");
int main(void)
{
    chroprof_init(&prof, memory, sizeof memory, NULL);
    chroprof_enter(&prof, &site);
    chroprof_leave(&prof);
    END_CALL
    return 0;
}
END
small() {
    sed "s/END_CALL/$2/" "$out/small.c" >"$out/small_one.c"
    ${CC:-cc} -std=gnu99 -Os -w -c -o "$out/x.o" "$out/small_one.c"
    printf '%-34s %8d\n' "$1" "$(size "$out/x.o" | awk 'NR == 2 { print $1 }')"
}
small 'private, enter and leave only' ''
small 'the same with a dump as text' 'chroprof_dump(\&prof, CHROPROF_TEXT, stdout);'
