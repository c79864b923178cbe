#!/bin/sh
# Proofs by CBMC: each function prove_.. of tests/proof/*.c, for all values of what is left open.
#     sh tests/proof/run.sh [part of a file's or a function's name]...
# LIMIT: seconds of the processor for each proof; EVENTS: how many in a row; CBMC, GOTO_CC: the
# programs. The last line is the sum.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
LIMIT=${LIMIT:-120}
EVENTS=${EVENTS:-2}
out=$B/proof
mkdir -p "$out"
passed=0 failed=0 skipped=0
CBMC=${CBMC:-cbmc} GOTO_CC=${GOTO_CC:-goto-cc}
if ! command -v "$CBMC" >/dev/null 2>&1; then
    CBMC=$out/cbmc GOTO_CC=$out/goto-cc
    "$CBMC" --version >/dev/null 2>&1 || B=$B sh tests/proof/fetch.sh >"$out/fetch.log" 2>&1
fi
if ! "$CBMC" --version >/dev/null 2>&1; then
    echo "skip proofs: needs CBMC (package cbmc, in Debian from version 13 on)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
checks="--bounds-check --pointer-check --div-by-zero-check --signed-overflow-check"
checks="$checks --undefined-shift-check --unwinding-assertions --drop-unused-functions"

# options FILE FUNCTION: how often loops are unwound, more than any of them needs
options() {
    case $1 in
        events) echo "--unwind 12 --unwindset chroprof__blame_past.0:65" ;;
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

words=$*
for source in tests/proof/*.c; do
    file=$(basename "$source" .c)
    functions=$(sed -n 's/^void \(prove_[a-z0-9_]*\)(void)$/\1/p' "$source")
    built=
    for function in $functions; do
        wanted "$file" "$function" || continue
        log=$out/$function.log
        if [ -z "$built" ] &&
            ! "$GOTO_CC" -DEVENTS=$EVENTS -o "$out/$file.goto" "$source" >"$log" 2>&1; then
            echo "FAIL $file: does not compile, see $log"
            failed=$((failed + 1))
            break
        fi
        built=1
        started=$(date +%s)
        (
            ulimit -t "$LIMIT"
            exec "$CBMC" "$out/$file.goto" --function "$function" $checks $(options "$file")
        ) >"$log" 2>&1
        status=$?
        seconds=$(($(date +%s) - started))
        case $status in
            0) passed=$((passed + 1)); echo "ok $function ($seconds s)" ;;
            137 | 152) failed=$((failed + 1)); echo "FAIL $function: not done in $LIMIT s" ;;
            *) failed=$((failed + 1))
               echo "FAIL $function: $(grep -m 1 ': FAILURE' "$log" || tail -n 1 "$log")" ;;
        esac
    done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
