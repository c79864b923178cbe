#!/bin/sh
# The profile that each case of some test programs ends with, and each recorded stream, in every
# format: read back by the checkers of the formats and compared with its JSON, sum by sum.
#   sh tests/formats.sh        B=build: the folder of the programs
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.

cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

if ! command -v python3 >/dev/null 2>&1; then
    echo "skip formats: needs python3"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
for program in test_words test_events test_chronos; do
    PROFILES=$folder "$B/test/plain/$program" >"$folder/log" 2>&1 || {
        echo "FAIL $program: $(grep -m 1 '^FAIL' "$folder/log")"
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    }
done
command -v xz >/dev/null 2>&1 && for stream in tests/traces/*.events.xz; do
    name=$folder/$(basename "$stream" .events.xz)
    for format in json firefox pprof prometheus folded; do
        "$B/chroprof" replay "$stream" --stall 50us -f $format -o "$name.$format"
    done
done
python3 tests/check_formats.py "$folder"
