#!/bin/sh
# Runs the test programs, plain and with sanitizers, and the scripts. The last line is the sum of
# theirs: "N passed, N failed, N skipped".
#   sh tests/run.sh          what tells most in a few minutes (make test)
#   sh tests/run.sh long     the rest (make test-long): slow cases, more sanitizers, every way to
#                            compile the header, the examples as their build lines say
# VERBOSE=1 shows the cases that passed as well; LIMIT is the time a program has, in seconds; B the
# folder to build in.
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
MAKE=${MAKE:-make}
B=${B:-build}
part=${1:-short}
logs=$B/test/logs-$part
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

# The CPU seconds, user and system, of the children of the shell whose `times` is FILE
cpu_seconds() {
    awk 'NR == 2 { split($1, user, /[ms]/); split($2, sys, /[ms]/)
                   printf "%.0f", 60 * (user[1] + sys[1]) + user[2] + sys[2] }' "$1"
}

# run NAME COMMAND...: into a log, with its exit status, its seconds and those of CPU time
run() {
    log=$logs/$1
    shift
    started=$(date +%s)
    (
        $limited "$@" >"$log" 2>&1 </dev/null
        status=$?
        times >"$log.times"
        echo "$status $(($(date +%s) - started)) $(cpu_seconds "$log.times")" >"$log.status"
    )
}

# count NAME: shows what did not pass and adds the last line to the sums
count() {
    read -r status seconds cpu <"$logs/$1.status" || status=none
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
    echo "$1: $last ($seconds s, CPU $cpu s)"
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

# the sampler as it is where there is no timer of one thread
itimer=$B/test/itimer/test_sampler
[ "$(uname)" = Linux ] || itimer=

# Cases that take seconds each, by program: make test-long runs them.
slow_of() {
    case $1 in
    test_formats) echo a_hundred_thousand_paths first_sites_only ;;
    test_trace) echo random_streams accept_forever echo50 mixed_stillborn prodcons recursion \
        tasklist web ;;
    test_capacity) echo one_table_at_1_or_2 ;;
    test_output) echo a_locale_with_a_decimal_comma ;;
    test_snapshot) echo killed_at_random_moments copies_of_a_block_in_a_hurry \
        copies_of_a_busy_block ;;
    esac
}
# What takes long to build or to run with sanitizers, and has little more to show there.
slow_programs=" test_random test_trace test_guard test_merge test_snapshot test_sampler test_capacity \
test_formats test_bare test_suspend test_output test_traces test_words "

# in_part CONFIGURATION NAME: the programs of this part
in_part() {
    case "$part $1 $slow_programs" in
    "short san "*" $2 "*) return 1 ;;
    "short "*) return 0 ;;
    "long san "*" $2 "*) return 0 ;;
    *) [ -n "$(slow_of "$2")" ] ;;
    esac
}

# chosen CONFIGURATION NAME: the arguments that choose the cases of this part; none: all
chosen() {
    sign=-
    if [ "$part" = long ]; then sign==; fi
    case "$part $1 $slow_programs" in "long san "*" $2 "*) return ;; esac
    for case in $(slow_of "$2"); do echo "$sign$case"; done
}

tools="chroprof $B/demo $B/bench"
# goals_of CONFIGURATION: the programs of this part
goals_of() {
    for name in $tests; do
        ! in_part "$1" "$name" || echo "$B/test/$1/$name"
    done
}
if [ "$part" = long ]; then
    tools="$B/chroprof $B/demo"
    goals=$(for configuration in $configurations; do goals_of "$configuration"; done)
    [ "$configurations" = plain ] ||
        goals="$goals $B/test/san/replay_events $B/test/san/replay_open"
    goals="$goals $thread_sanitizer $itimer"
    for name in words events chronos sampler merge map output random capacity snapshot traces
    do                                                      # those that formats.sh runs
        case " $tests " in *" test_$name "*) goals="$goals $B/test/plain/test_$name" ;; esac
    done
    [ "$configurations" = plain ] && goals="$goals ITIMER_SANITIZE="
fi
# build LOG GOALS...
build() {
    log=$logs/$1
    shift
    echo "building (log: $log)"
    "$MAKE" -k -j2 B="$B" CC="$CC" SAN_CC="$san_cc" "$@" >"$log" 2>&1 </dev/null
    echo $? >"$log.status"
}
# count_build LOG: a warning is a failure as well
count_build() {
    log=$logs/$1
    if [ "$(cat "$log.status" 2>/dev/null)" != 0 ]; then
        fail "$1" "$(grep -E 'error:|undefined reference|Error ' "$log" | head -n 1)"
    elif warnings=$(grep 'warning:' "$log" | grep -v '^make'); then     # those of compilers
        echo "$warnings" | head -n 5
        fail "$1" "$(echo "$warnings" | wc -l) warnings"
    else
        passed=$((passed + 1))
    fi
}

# The compilations that differ most from each other, by their names or (without =) parts of them.
compilations="=gcc_c99 =clang_c11 =g++_c++11 =clang++_c++11 =everything_c99 =everything_c++11
    everything_newest strict_c99 user_c_header user_c++11 =main_c =api_0_1_0_c++ =api_0_2_0_clang++
    api_frozen api_whole guard_whole version licence =flags_no_format_no_stdio flags_ITIMER
    flags_no_posix =flags_posix_1995 flags_no_clock_strict_c99 flags_static_clang
    flags_disable_clang =scope_c++11 survives_macros_c99 disabled_ symbols_gcc writable_globals
    =copies_static_g++
    data_and_bss allocation locale =foreign_macros =foreign_names =foreign_macros_c++
    =foreign_names_c++ =foreign_macros_DISABLE =foreign_names_DISABLE every_macro own_macros"

# The scripts go beside the programs, in three lanes: the first compiles, the others mostly wait.
examples=
[ ! -f tests/examples.sh ] || examples="examples examples_self"
if [ "$part" = short ]; then
    first="compile command symbolize bench install dist record_command hide_ids"
    second="run_command bindings dashboards merge report"
    third="${examples%% *} top serve diff tour style parts"
else
    first="compile symbolize debian" second="$examples" third="formats diff"
fi
script() {
    case $part-$1 in
    short-compile) run compile sh tests/compile/run.sh $compilations ;;
    short-examples) run examples env QUICK=1 sh tests/examples.sh ;;
    short-symbolize) run symbolize env QUICK=1 sh tests/symbolize.sh ;;
    short-diff) run diff env PAIRS=1 sh tests/diff.sh "$B/chroprof" "$B/demo" ;;
    long-diff) run diff sh tests/diff.sh "$B/chroprof" "$B/demo" ;;
    long-formats)           # files of its own: the same programs run beside it
        mkdir -p "$SCRATCH/formats"
        run formats env SCRATCH="$SCRATCH/formats" sh tests/formats.sh ;;
    *-command | *-run_command | *-top | *-merge | *-report | *-serve | *-record_command | *-hide_ids | *-tour)
        run "$1" sh "tests/$1.sh" "$B/chroprof" ;;
    *-compile) run compile sh tests/compile/run.sh ;;
    *) run "$1" sh "tests/$1.sh" ;;
    esac
}
build build-tools $tools
count_build build-tools
if [ "$part" = long ]; then
    build build $goals
    count_build build
fi
(for one in $first; do script "$one"; done) &
first_lane=$!
(for one in $second; do script "$one"; done) &
second_lane=$!
(for one in $third; do script "$one"; done) &
third_lane=$!

# programs DO CONFIGURATION: each program of this part, with its log's name
programs() {
    for name in $tests; do
        ! in_part "$2" "$name" || $1 "$name-$2" "$B/test/$2/$name" $(chosen "$2" "$name")
    done
}
run_built() { [ ! -x "$2" ] || run "$@"; }
count_built() {
    if [ -x "$2" ]; then
        count "$1"
    else
        fail "$1" "does not build"
        grep -hE 'error:|undefined reference' "$logs/build" "$logs"/build-* 2>/dev/null | head -n 5
    fi
}
# both configurations at once, each as soon as it is built, with files of their own; random tests go
# round less in the short part
share=1
[ "$part" = long ] || share=3
lanes=
for configuration in $configurations; do
    mkdir -p "$SCRATCH/$configuration"
    (SCRATCH=$SCRATCH/$configuration; SHARE=$share; export SHARE
        [ "$part" = long ] || build "build-$configuration" $(goals_of "$configuration")
        programs run_built "$configuration") &
    lanes="$lanes $!"
done
wait $lanes
for configuration in $configurations; do
    [ "$part" = long ] || count_build "build-$configuration"
    programs count_built "$configuration"
done
if [ "$configurations" = plain ]; then
    skipped=$((skipped + 1))
    echo "skip sanitizers: neither clang nor $CC has them"
elif [ "$part" = long ]; then
    tally fuzz-corpus sh tests/corpus.sh "$B/test/san/replay_events" fuzz/corpus_events
    tally fuzz-open-corpus sh tests/corpus.sh "$B/test/san/replay_open" fuzz/corpus_open
fi
if [ "$part" = long ]; then
    for program in $thread_sanitizer; do tally "$(basename "$program")-tsan" "$program"; done
    if [ -z "$thread_sanitizer" ]; then
        skipped=$((skipped + 1))
        echo "skip thread sanitizer: $san_cc has none that runs here"
    fi
    [ -z "$itimer" ] || tally test_sampler-itimer "$itimer"
fi
wait "$first_lane" "$second_lane" "$third_lane"
for one in $first $second $third; do count "$one"; done
finish
