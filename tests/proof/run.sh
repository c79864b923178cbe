#!/bin/sh
# Proofs by CBMC: each function prove_.. of tests/proof/*.c, for all values of what is left open.
#     sh tests/proof/run.sh [part of a file's or a function's name]...
# Each is run twice. The second time (REACH) every PROVE and REACHABLE must be met by some values:
# one that cannot be met makes the proof fail, for it proves nothing there.
# LIMIT: seconds of the processor for each program; CBMC, GOTO_CC, GOTO_INSTRUMENT and SOLVER (of
# SAT): the programs. The last line is the sum; no proof at all is a failure.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
LIMIT=${LIMIT:-300}
out=$B/proof
mkdir -p "$out"
passed=0 failed=0 skipped=0
CBMC=${CBMC:-cbmc} GOTO_CC=${GOTO_CC:-goto-cc} GOTO_INSTRUMENT=${GOTO_INSTRUMENT:-goto-instrument}
SOLVER=${SOLVER:-cadical}
all_there() { "$CBMC" --version && "$GOTO_INSTRUMENT" --version && "$SOLVER" --version; }
if ! all_there >/dev/null 2>&1; then
    folder=$(cd "$out" && pwd)
    CBMC=$folder/cbmc GOTO_CC=$folder/goto-cc GOTO_INSTRUMENT=$folder/goto-instrument
    SOLVER=$folder/cadical
    all_there >/dev/null 2>&1 || B=$B sh tests/proof/fetch.sh >"$out/fetch.log" 2>&1
fi
if ! all_there >/dev/null 2>&1; then
    echo "skip proofs: needs CBMC (package cbmc, in Debian from version 13 on) and package cadical"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
checks="--bounds-check --pointer-check --div-by-zero-check --signed-overflow-check"
checks="$checks --undefined-shift-check --unwinding-assertions --drop-unused-functions"

# Loops that hang on what is unknown, in tables of a few rows.
events=chroprof__widen_windows.0:4,chroprof__bill_across.0:5,chroprof__blame_past.0:8
events=$events,chroprof__unwind.0:4,chroprof__free_slot.0:8,chroprof__find_from.0:8
events=$events,chroprof__find_edge.0:8,chroprof__fold.0:4
events=$events,chroprof__histograms_clear.0:128,chroprof__free_ranges.0:128
events=$events,chroprof__has_ranges.0:128,chroprof__start_histograms.1:128
events=$events,chroprof__start_histograms.2:128
events=$events,chroprof__merge_cells.0:4,chroprof__moved.0:4,chroprof__orphan_frames.0:4

# options FILE FUNCTION: how often loops are unwound, more than any of them needs
options() {
    case $1 in
        events) echo "--unwind 45 --unwindset $events" ;;
        arithmetic) echo "--unwind 40" ;;
        open) echo "--unwind 10" ;;
        *) echo "--unwind 30" ;;
    esac
}

wanted() {
    [ -z "$words" ] && return
    for word in $words; do case "$1 $2" in *"$word"*) return 0 ;; esac; done
    return 1
}

# build FILE DEFINE: the program, with what its comment REPLACE names replaced.
build() {
    calls=$(sed -n 's/^ \* REPLACE \(.*\) \*\/$/\1/p' "tests/proof/$1.c")
    replaced=
    for call in $calls; do replaced="$replaced --replace-calls $call"; done
    "$GOTO_CC" "-D$2" -o "$out/$1.$2" "tests/proof/$1.c" || return 1
    [ -z "$replaced" ] ||
        "$GOTO_INSTRUMENT" $replaced "$out/$1.$2" "$out/$1.$2"
}

# check FILE FUNCTION DEFINE [OPTION]...: one run; its output is in the log.
check() {
    program=$out/$1.$3 entry=$2
    options=$(options "$1")
    shift 3
    (
        ulimit -t "$LIMIT"
        exec "$CBMC" "$program" --function "$entry" --slice-formula \
            --external-sat-solver "$SOLVER" $options "$@"
    ) >"$log" 2>&1
}

# ended STATUS: of a run without a result; never empty
ended() { echo "ended with status $1: $(grep . "$log" | tail -n 1), see $log"; }

# verdict: of the run that proves; nothing is said only if all is proved
verdict() {
    case $1 in
        0) grep -q 'VERIFICATION SUCCESSFUL' "$log" && return
           echo "no result, see $log" ;;
        137 | 152) echo "not done in $LIMIT s" ;;
        *) grep -m 1 ': FAILURE' "$log" || ended "$1" ;;
    esac
}

# reached: of the run that must fail everywhere. Status 10: some properties failed.
reached() {
    case $1 in
        0 | 10) ;;
        137 | 152) echo "what it reaches is not known in $LIMIT s"; return ;;
        *) ended "$1"; return ;;
    esac
    missed=$(grep -m 1 'reached: .*: SUCCESS$' "$log")
    if [ -n "$missed" ]; then
        echo "never $missed"
    elif ! grep -q 'reached: .*: FAILURE$' "$log"; then
        echo "reaches nothing"
    fi
}

# prove FILE FUNCTION: prints why not, if so.
prove() {
    log=$out/$2.log
    check "$1" "$2" PROOF $checks
    why=$(verdict $?)
    [ -n "$why" ] && echo "$why" && return
    log=$out/$2.reach.log
    check "$1" "$2" REACH --no-standard-checks --drop-unused-functions
    reached $?
}

words=$*
for source in tests/proof/*.c; do
    file=$(basename "$source" .c)
    functions=$(sed -n 's/^void \(prove_[a-z0-9_]*\)(void)$/\1/p' "$source")
    built=
    for function in $functions; do
        wanted "$file" "$function" || continue
        if [ -z "$built" ] &&
            ! { build "$file" PROOF && build "$file" REACH; } >"$out/$file.log" 2>&1; then
            echo "FAIL $file: does not compile, see $out/$file.log"
            failed=$((failed + 1))
            break
        fi
        built=1
        started=$(date +%s)
        why=$(prove "$file" "$function")
        seconds=$(($(date +%s) - started))
        if [ -z "$why" ]; then
            passed=$((passed + 1)); echo "ok $function ($seconds s)"
        else
            failed=$((failed + 1)); echo "FAIL $function: $why"
        fi
    done
done
if [ $((passed + failed)) = 0 ]; then
    echo "FAIL no proof has a name with: $words"
    failed=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
