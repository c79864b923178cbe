#!/bin/sh
# Builds and runs the examples that are no loops: reads.c, a report of one's own, of a loop in it and
# of a file; fibers.c, stacks of fibers.
# Usage: tests/reads.sh
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

# The build line of an example, with warnings, and with the copy of the implementation that there is.
built() {
    sed 's,^#define CHROPROF_IMPLEMENTATION.*,,' "examples/$1.c" >"$scratch/$1.c"
    command=$(sed -n "s,FILE,-Iexamples $scratch/$1.c $implementation,; s,OUT,$scratch/$1,; s,^/\* build: cc \(.*\) ; needs.*,\1,p" \
        "examples/$1.c")
    # shellcheck disable=SC2086
    $CC -Wall -Wextra -Werror $command >"$scratch/log" 2>&1
}

if ! built reads; then
    fail reads_builds "$(grep -m 1 error "$scratch/log")"
elif ! "$scratch/reads" >"$scratch/out" 2>&1; then
    fail reads_runs "$(tail -n 1 "$scratch/out")"
else
    # the words of findings are tested elsewhere
    if grep -v '^\* ' "$scratch/out" | diff - tests/golden/reads.txt >"$scratch/log"; then
        ok reads_says_what_it_did
    else
        fail reads_says_what_it_did "$(sed -n 2p "$scratch/log")"
    fi
    if grep -q '^\* on_mail (reads.c:[0-9]*) occupies' "$scratch/out"; then
        ok reads_has_findings
    else
        fail reads_has_findings "$(grep -m 1 '^\*' "$scratch/out")"
    fi
    echo 'int main(void) { return 0; }' >"$scratch/none.c"
    if "$scratch/reads" "$scratch/none.c" >"$scratch/out" 2>&1 || ! grep -q 'none.c: ' "$scratch/out"; then
        fail reads_refuses "$(tail -n 1 "$scratch/out")"
    else
        ok reads_refuses
    fi
fi

if ! built fibers; then
    fail fibers_builds "$(grep -m 1 error "$scratch/log")"
elif ! "$scratch/fibers" >"$scratch/out" 2>&1; then
    if grep -q '^no sampler: ' "$scratch/out"; then skip fibers "$(tail -n 1 "$scratch/out")"
    else fail fibers "$(tail -n 1 "$scratch/out")"; fi
elif grep -q '% *fiber *render' "$scratch/out"; then
    ok fibers_name_the_function
else
    fail fibers_name_the_function "$(grep -A 3 '^SAMPLES' "$scratch/out" | tail -n 2)"
fi

finish
