#!/bin/sh
# Everything there is to test, before a release and after changes of what it guards (make test-all).
#   sh tests/all.sh [GOAL...]       default: all below; TIME: the seconds of each fuzzer, default 600
# Some hours. Each goal of make leaves a row in build/checks.tsv: commit, date, result, processor.
# The last line is the sum of the counts.
cd "$(dirname "$0")/.." || exit 1
MAKE=${MAKE:-make}
B=${B:-build}
TIME=${TIME:-600}
passed=0 failed=0 skipped=0
trap 'exit 130' HUP INT TERM

# cheap ones first: what is wrong is told early
[ $# -gt 0 ] || set -- test test-rest test-one-core test-viewers test-programs cost analyze coverage proof fuzz fuzz-open fuzz-rows \
    fuzz-afl test-matrix mutation soak
mkdir -p "$B"
rm -f "$B/all-rows.part"
for goal in "$@"; do
    echo "==== make $goal"
    case $goal in test-matrix) sh tests/matrix.sh install all; more="MATRIX=all JOBS=2" ;; *) more= ;; esac
    { "$MAKE" --no-print-directory B="$B" TIME="$TIME" $more "$goal"; echo $? >"$B/all-status"; } 2>&1 </dev/null |
        tee "$B/all-$goal.log"
    status=$(cat "$B/all-status")
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$B/all-$goal.log" |
        tail -n 1)
    # what has no counts is one case
    [ $# = 3 ] || if [ "$status" = 0 ]; then set -- 1 0 0; else set -- 0 1 0; fi
    [ "$status" = 0 ] || [ "$2" != 0 ] || set -- "$1" 1 "$3"
    echo "$goal: $1 passed, $2 failed, $3 skipped" >>"$B/all-rows.part"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo
cat "$B/all-rows.part"
rm -f "$B/all-rows.part" "$B/all-status"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
