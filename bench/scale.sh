#!/bin/sh
# Instructions and cache misses an operation as tables grow, counted by cachegrind with caches of
# 48 KiB and 32 MiB, whatever the machine: no clock, no noise.
#   bench/scale.sh [OUTPUT_FOLDER]        needs valgrind
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../build/bench-scale}
cc=${CC:-cc}
command -v valgrind >/dev/null || { echo "scale.sh: needs valgrind" >&2; exit 2; }
mkdir -p "$out"
$cc -std=c99 -O2 "$here/scale.c" "$here/impl.c" -o "$out/scale"

# totals KIND SIZE COUNT: instructions, D1 misses, last-level data misses of the whole run
totals() {
    valgrind --tool=cachegrind --cachegrind-out-file=/dev/null --D1=49152,12,64 \
        --LL=33554432,16,64 "$out/scale" --count "$1" "$2" "$3" 2>&1 | sed 's/,//g' |
        awk '/I +refs:/ { i = $4 } /D1 +misses:/ { d = $4 } /LLd misses:/ { l = $4 }
             END { print i, d, l }'
}

# The difference of two runs is the operations' alone.
row() {
    first=$(totals "$1" "$2" 20000)
    second=$(totals "$1" "$2" 60000)
    echo "$first $second" | awk -v kind="$1" -v size="$2" '{
        printf "%-8s %10d %10.0f %10.2f %10.2f\n", kind, size,
               ($4 - $1) / 40000, ($5 - $2) / 40000, ($6 - $3) / 40000 }'
}

printf '%-8s %10s %10s %10s %10s\n' kind size instr. 'D1 misses' 'LL misses'
for size in 10 100 1000 10000 100000 1000000; do row FUTURES $size; done
for size in 10 100 1000 10000 100000; do row SITES $size; done
for size in 10 100 1000 10000 100000 1000000; do row PATHS $size; done
