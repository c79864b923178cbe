#!/bin/sh
# Replays each file of a fuzzing corpus on its own.    sh tests/corpus.sh PROGRAM FOLDER [ARGUMENTS]
# ARGUMENTS: one more run of the program, with these.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
log=$scratch/log

replay() {
    if "$program" "$@" >"$log" 2>&1; then ok "$*"; else
        fail "$*" "$(grep -E 'ERROR|error|broke|:' "$log" | head -n 1) $(grep '^input' "$log")"; fi
}

program=$1 folder=$2
shift 2
for input in "$folder"/*; do
    [ ! -f "$input" ] || replay "$input"
done
[ $((passed + failed)) != 0 ] || fail corpus "no inputs in $folder"
[ $# = 0 ] || replay "$@"
finish
