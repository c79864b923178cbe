#!/bin/sh
# What of chroprof.h the inputs of a fuzzer reach: the seeds, and what it found if it ran before.
#     sh fuzz/coverage.sh events|open           B: folder to build in
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
C=$B/fuzz_coverage
flags="-std=c99 -g -O1 -fprofile-instr-generate -fcoverage-mapping"
mkdir -p "$C"
rm -f "$C/$1.profraw"
clang $flags -DFUZZ_REPLAY -o "$C/$1" "fuzz/fuzz_$1.c" || exit 1
found=$B/corpus
[ "$1" = open ] && found=$B/corpus_open
mkdir -p "$found"
LLVM_PROFILE_FILE=$C/$1.profraw "$C/$1" "fuzz/corpus_$1" $(ls -d "$found"/* >/dev/null 2>&1 &&
    echo "$found") >"$C/$1.log" || exit 1
llvm-profdata merge -o "$C/$1.profdata" "$C/$1.profraw" || exit 1
llvm-cov export "$C/$1" -instr-profile="$C/$1.profdata" >"$C/$1.json" || exit 1
python3 tests/coverage.py "$C/$1.json" chroprof.h 0 0 >"$C/$1.report"
echo "fuzz_$1 reaches, of what it is built with (the list: $C/$1.report):"
grep -E '^ok (lines|branches)' "$C/$1.report"
