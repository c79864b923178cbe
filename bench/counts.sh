#!/bin/sh
# Instructions, branches and cache lines of each call, counted by valgrind: no clock, no noise.
#   bench/counts.sh [OUTPUT_FOLDER]        needs valgrind, python3, nm
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../build/bench-counts}
cc=${CC:-cc}
for tool in valgrind python3 nm; do
    command -v "$tool" >/dev/null || { echo "counts.sh: needs $tool" >&2; exit 2; }
done
mkdir -p "$out"
# At a fixed address, so that the addresses of the trace are those of nm.
$cc -std=c99 -O2 -fno-pie -no-pie "$here/bench.c" "$here/impl.c" "$here/disabled.c" -o "$out/bench"
nm --defined-only --print-size "$out/bench" >"$out/symbols"

printf '%-32s %-22s %8s %8s %8s %7s  %7s\n' row call instr. loads stores lines written
count() {
    valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$out/bench" --loop "$1" "$2" 9>&1 \
        >/dev/null 2>&1 | python3 "$here/counts.py" "$out/symbols" "$1"
}
count "an iteration of 14 events" 400
count "slice" 400
count "slice at depth 64" 400
count "slice, all three off" 400
count "slice, 10,000 live, random" 400
count "switch" 400
count "life" 400
count "enter/leave" 400
count "idle enter/leave" 400
count "tick" 400
count "ready + slice" 400
count "ready_since + slice" 400
count "slice by chroprof_event" 400
count "slice, switched off" 400
count "oldest ends, 10,000 live" 400
