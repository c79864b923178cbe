#!/bin/sh
# Lines and branches of chroprof.h under the test programs, by clang's source-based coverage.
#     sh tests/coverage.sh LEAST_LINES LEAST_BRANCHES
# B: the folder to build in; KEEP=1: takes the figures of the last run.
# The counters lie in a shared file (%c), so what a child did that was killed counts as well.
# What is compiled in is what this system compiles; the parts of other systems are not counted.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
C=$B/coverage
LIMIT=${LIMIT:-600}
SCRATCH=$C/scratch
export SCRATCH
skip() { echo "skip coverage: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }

command -v clang >/dev/null 2>&1 || skip "needs clang (package clang)"
command -v llvm-cov >/dev/null 2>&1 || skip "needs llvm-cov (package llvm)"
command -v python3 >/dev/null 2>&1 || skip "needs python3 (package python3)"

flags="-std=c99 -D_POSIX_C_SOURCE=200809L -O1 -g -pthread -fprofile-instr-generate"
flags="$flags -fcoverage-mapping -mllvm -runtime-counter-relocation"
flags="$flags -DCHROPROF_STRICT"            # what a header of the system does is not counted
flags="$flags -fprofile-update=atomic"      # threads and children count in one place
mkdir -p "$C" "$SCRATCH"
failed=0
if [ -z "${KEEP:-}" ]; then
    rm -f "$C"/*.profraw "$C"/*.a "$C"/test_*
    clang $flags -c -o "$C/impl.o" tests/compile/impl.c && ar rcs "$C/impl.a" "$C/impl.o" || exit 1
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        more=
        # as in the Makefile: functions that the sampler can walk and name
        [ "$name" = test_sampler ] &&
            more="-fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic -DTEST_FRAMES"
        clang $flags $more -o "$C/$name" "$source" "$C/impl.a" || exit 1
        LLVM_PROFILE_FILE="$C/$name-%c.profraw" timeout "$LIMIT" "$C/$name" \
            >"$C/$name.log" 2>&1 </dev/null ||
            { echo "FAIL $name: $(grep -m 1 ^FAIL "$C/$name.log")"; failed=1; }
    done
fi
objects=
for program in "$C"/test_*; do
    case $program in *.*) ;; *) objects="$objects -object $program" ;; esac
done
llvm-profdata merge -o "$C/all.profdata" "$C"/*.profraw || exit 1
llvm-cov export $objects -instr-profile="$C/all.profdata" >"$C/export.json" || exit 1
python3 tests/coverage.py "$C/export.json" chroprof.h "${1:-100}" "${2:-100}" >"$C/report"
status=$?
cat "$C/report"
[ $failed = 0 ] && [ $status = 0 ]
