#!/bin/sh
# Replays each file of a fuzzing corpus on its own.    sh tests/corpus.sh PROGRAM FOLDER
passed=0 failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for input in "$2"/*; do
    [ -f "$input" ] || continue
    if "$1" "$input" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok $input"
    else
        failed=$((failed + 1))
        echo "FAIL $input: $(grep -E 'ERROR|error|broke|:' "$log" | head -n 1)"
    fi
done
if [ $passed = 0 ] && [ $failed = 0 ]; then
    failed=1
    echo "FAIL corpus: no inputs in $2"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
