#!/bin/sh
# Runs every test program, plain and with sanitizers, then the scripts. The last line is the sum of
# theirs: "N passed, N failed, N skipped". VERBOSE=1 shows the cases that passed as well; LIMIT is
# the time a program has, in seconds; B the folder to build in.
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
MAKE=${MAKE:-make}
B=${B:-build}
logs=$B/test/logs
SCRATCH=$B/test/scratch
LIMIT=${LIMIT:-3000}
export B CC SCRATCH
# what a user may have set for the text report, and compilers in the user's language
unset COLUMNS NO_COLOR LANGUAGE
# servers of the tests are on this machine
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1"
passed=0 failed=0 skipped=0

limited=
if command -v timeout >/dev/null 2>&1; then limited="timeout $LIMIT"; fi

fail() { failed=$((failed + 1)); echo "FAIL $1: $2"; }

# run NAME COMMAND...: into a log, with its exit status and its seconds
run() {
    log=$logs/$1
    shift
    started=$(date +%s)
    $limited "$@" >"$log" 2>&1 </dev/null
    echo "$? $(($(date +%s) - started))" >"$log.status"
}

# count NAME: shows what did not pass and adds the last line to the sums
count() {
    read -r status seconds <"$logs/$1.status" || status=none
    last=$(tail -n 1 "$logs/$1")
    counts=$(echo "$last" |
        sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    if [ "${VERBOSE:-}" = 1 ]; then cat "$logs/$1"; else grep -E '^(FAIL|skip) ' "$logs/$1"; fi
    if [ -z "$counts" ]; then
        tail -n 30 "$logs/$1"
        [ "$status" = 124 ] && status="124: out of time ($LIMIT s)"
        fail "$1" "ended without its counts, exit status $status"
        return
    fi
    echo "$1: $last ($seconds s)"
    name=$1
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    if [ "$status" != 0 ] && [ "$2" = 0 ]; then fail "$name" "exit status $status"; fi
}

tally() {
    run "$@"
    count "$1"
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

rm -rf "$logs"
mkdir -p "$logs" "$SCRATCH"
if ! sh tests/setup.sh; then
    fail setup "no C compiler: install gcc, or set CC"
    finish
fi

# sanitizes COMPILER SANITIZERS: it builds programs with them, and they run on this machine
sanitizes() {
    echo 'int main(void) { return 0; }' >"$SCRATCH/empty.c"
    $1 "-fsanitize=$2" -o "$SCRATCH/empty" "$SCRATCH/empty.c" 2>/dev/null &&
        "$SCRATCH/empty" 2>/dev/null
}
configurations="plain san"
san_cc=$CC
if sanitizes clang address,undefined; then san_cc=clang
elif ! sanitizes "$CC" address,undefined; then configurations=plain; fi
thread_sanitizer=
sanitizes "$san_cc" thread &&
    thread_sanitizer="$B/test/tsan/test_threads $B/test/tsan/test_sampler"

# the sampler as it is where there is no timer of one thread
itimer=$B/test/itimer/test_sampler
[ "$(uname)" = Linux ] || itimer=

# the programs that need the reference model need stb_ds
tests=
for source in tests/test_*.c; do
    name=$(basename "$source" .c)
    if grep -q 'model\.[ch]' "$source" &&
        ! echo '#include <stb/stb_ds.h>' | $CC -E -x c - >/dev/null 2>&1; then
        skipped=$((skipped + 1))
        echo "skip $name: needs stb_ds.h (package libstb-dev)"
    else
        tests="$tests $name"
    fi
done

goals=
for configuration in $configurations; do
    for name in $tests; do goals="$goals $B/test/$configuration/$name"; done
done
echo "building (log: $logs/build)"
[ "$configurations" = plain ] || goals="$goals $B/test/san/replay_events $B/test/san/replay_open"
[ "$configurations" = plain ] && goals="$goals ITIMER_SANITIZE="
if ! "$MAKE" -k -j2 B="$B" CC="$CC" SAN_CC="$san_cc" $goals $thread_sanitizer $itimer \
    "$B/chroprof" "$B/demo" "$B/bench" >"$logs/build" 2>&1 </dev/null; then
    fail build "$(grep -E 'error:|undefined reference|Error ' "$logs/build" | head -n 1)"
elif warnings=$(grep 'warning:' "$logs/build" | grep -v '^make'); then     # those of compilers
    echo "$warnings" | head -n 5
    fail build "$(echo "$warnings" | wc -l) warnings"
else
    passed=$((passed + 1))
fi

# the scripts mostly compile: they go beside the programs
scripts="compile command top diff merge report symbolize install bench"
[ -f tests/examples.sh ] && scripts="$scripts examples examples_self"
(
    run compile sh tests/compile/run.sh
    run command sh tests/command.sh "$B/chroprof"
    run top sh tests/top.sh "$B/chroprof"
    run diff sh tests/diff.sh "$B/chroprof" "$B/demo"
    run merge sh tests/merge.sh "$B/chroprof"
    run report sh tests/report.sh "$B/chroprof"
    run install sh tests/install.sh
    run symbolize sh tests/symbolize.sh
    run bench sh tests/bench.sh
    [ -f tests/examples.sh ] && run examples sh tests/examples.sh
    [ -f tests/examples.sh ] && run examples_self sh tests/examples_self.sh
) &
beside=$!

for configuration in $configurations; do
    for name in $tests; do
        if [ -x "$B/test/$configuration/$name" ]; then
            tally "$name-$configuration" "$B/test/$configuration/$name"
        else
            fail "$name-$configuration" "does not build"
            grep -E 'error:|undefined reference' "$logs/build" | head -n 5
        fi
    done
done
if [ "$configurations" = plain ]; then
    skipped=$((skipped + 1))
    echo "skip sanitizers: neither clang nor $CC has them"
else
    tally fuzz-corpus sh tests/corpus.sh "$B/test/san/replay_events" fuzz/corpus_events
    tally fuzz-open-corpus sh tests/corpus.sh "$B/test/san/replay_open" fuzz/corpus_open
fi
if [ -n "$thread_sanitizer" ]; then
    for program in $thread_sanitizer; do tally "$(basename "$program")-tsan" "$program"; done
else
    skipped=$((skipped + 1))
    echo "skip test_threads-tsan and test_sampler-tsan: $san_cc has no thread sanitizer that runs here"
fi
[ -z "$itimer" ] || tally test_sampler-itimer "$itimer"
wait "$beside"
for script in $scripts; do count "$script"; done
tally formats sh tests/formats.sh
finish
