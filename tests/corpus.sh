#!/bin/sh
# Replays each file of a fuzzing corpus on its own.    sh tests/corpus.sh PROGRAM FOLDER [ARGUMENTS]
# ARGUMENTS: one more run of the program, with these.
passed=0 failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

replay() {
    if "$program" "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok $*"
    else
        failed=$((failed + 1))
        echo "FAIL $*: $(grep -E 'ERROR|error|broke|:' "$log" | head -n 1) $(grep '^input' "$log")"
    fi
}

program=$1 folder=$2
shift 2
for input in "$folder"/*; do
    [ ! -f "$input" ] || replay "$input"
done
if [ $passed = 0 ] && [ $failed = 0 ]; then
    failed=1
    echo "FAIL corpus: no inputs in $folder"
fi
[ $# = 0 ] || replay "$@"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
