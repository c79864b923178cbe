#!/bin/sh
# chroprof run: which waits are the loop's idle, and which are a callback that is blocked.
#   sh tests/run_waits.sh [COMMAND]        default build/chroprof; chroprof_run.so lies beside it
# The programs print how long they waited at least, as a loop and inside callbacks: idle and the
# tasks must have as much. Neither can be more on a quick machine, nor less on a busy one.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
TMPDIR=$scratch COLUMNS=200
export TMPDIR COLUMNS
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "FAIL $1: $2"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

# built NAME ARGUMENTS...
built() {
    out=$1
    shift
    $CC -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$scratch/$out" \
        tests/run_waits.c -pthread "$@" 2>"$scratch/log" ||
        { skip "$out" "$(head -n 1 "$scratch/log")"; return 1; }
}

# ms PATTERN: milliseconds of the lines of the folded profile that have this
ms() { awk -v task="$1" '{ us = $NF; sub(/ [0-9]+$/, "")
           if (index($0, task)) sum += us } END { printf "%d\n", sum / 1000 }' "$scratch/folded"; }
knew() { sed -n "s/^$1 //p" "$scratch/out"; }

# waited PROGRAM WHAT [TASK]: idle is at least what the program knows, and so is the task's time.
waited() {
    rm -f "$scratch/kept"
    timeout 100 "$command" run -o "$scratch/kept" "$scratch/$1" "$2" >"$scratch/out" \
        2>"$scratch/err" </dev/null
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log" ||
        { fail "$1_$2" "$(head -n 3 "$scratch/err" | tr '\n' ' ')"; return; }
    task=${3:-code after }
    idle=$(ms '(idle)') busy=$(ms "$task")
    if [ "$idle" -ge "$(knew idle)" ]; then ok "$1_$2_idle"; else
        fail "$1_$2_idle" "$idle of $(knew idle) ms: $(tr '\n' '|' <"$scratch/folded")"; fi
    if [ "$busy" -ge "$(knew blocked)" ]; then ok "$1_$2_blocked"; else
        fail "$1_$2_blocked" "$busy of $(knew blocked) ms: $(tr '\n' '|' <"$scratch/folded")"; fi
}

if [ "$(uname)" != Linux ]; then
    skip run_waits "needs Linux"
else
    if built plain; then
        for what in worker handler script startup same resolver moves clients jumps pool; do
            waited plain $what
        done
        if grep -q 'loop 1 of' "$scratch/err"; then
            fail plain_pool_alone "$(grep 'loop . of' "$scratch/err" | tr '\n' ' ')"
        else ok plain_pool_alone; fi
    fi
    if built uv -DWITH_UV -luv; then
        waited uv login ';on_login'
        waited uv inner
        waited uv turns
    fi
    if built glib -DWITH_GLIB $(pkg-config --libs glib-2.0 2>/dev/null || echo -lglib-2.0); then
        waited glib click
        waited glib draw ';on_draw'
    fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
