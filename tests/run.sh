#!/bin/sh
# Builds what the suites of tests/suites.sh need, once, and runs them side by side.
#   sh tests/run.sh [TIER]   short (make test), rest (make test-rest); default short
# ONLY="run_command test_events-san": these suites of any tier; JOBS: how many at once, default one a
# processor; VERBOSE=1: shows the cases that passed as well; LIMIT: the seconds that a suite has; B:
# the folder to build in.
# Suites with timers run beside the others from the beginning, two at once, the longest first, as they
# sleep for half of their time; whoever is through with one kind takes of the other. Each suite prints
# its counts when it ends. At the end: a table of all with the seconds at which they began, what the
# failed ones said, and "N passed, N failed, N skipped".
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
MAKE=${MAKE:-make}
B=${B:-build}
tier=${1:-short}
[ -z "${ONLY:-}" ] || tier=only
logs=$B/test/logs-$tier
LIMIT=${LIMIT:-3000}
JOBS=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
export B CC
# what a user may have set for the text report, and compilers in the user's language
unset COLUMNS NO_COLOR LANGUAGE
# servers of the tests are on this machine
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1"
passed=0 failed=0 skipped=0 began=$(date +%s)
. tests/suites.sh

# in a group of its own, which ends with it
limited=
if timeout -k 1 1 true 2>/dev/null; then limited="timeout -k 10 $LIMIT"; fi

lanes=
# Interrupted: each lane ends what it runs.
stop() {
    trap '' HUP INT TERM
    kill -TERM $lanes $! 2>/dev/null
    wait
    echo "interrupted"
    echo "0 passed, 1 failed, 0 skipped"
    exit 130
}
trap stop HUP INT TERM

# ---- what this machine has

# sanitizes COMPILER SANITIZERS: it builds programs with them, and they run here
sanitizes() {
    echo 'int main(void) { return 0; }' >"$logs/empty.c"
    $1 "-fsanitize=$2" -o "$logs/empty" "$logs/empty.c" 2>/dev/null && "$logs/empty" 2>/dev/null
}

look_around() {
    has_stb=0 has_san=1 has_tsan=0 san_cc=$CC
    echo '#include <stb/stb_ds.h>' | $CC -E -x c - >/dev/null 2>&1 && has_stb=1
    if sanitizes clang address,undefined; then san_cc=clang
    elif ! sanitizes "$CC" address,undefined; then has_san=0; fi
    if sanitizes "$san_cc" thread; then has_tsan=1; fi
}

# lacks NAME GOALS: why this suite cannot run here; nothing if it can
lacks() {
    of=${1%%-*} of=${of#test_}
    if [ "test_$of" = "${1%%-*}" ] && ! has_parts "$of"; then
        echo "stb_ds.h (package libstb-dev)"
    fi
    case $2 in
    "$B"/test/san/*) [ $has_san = 1 ] || echo "the address sanitizer of clang or $CC" ;;
    "$B"/test/tsan/*) [ $has_tsan = 1 ] || echo "the thread sanitizer of $san_cc" ;;
    esac
}

# is_wanted NAME TIER
is_wanted() {
    [ "$tier" = only ] || { [ "$2" = "$tier" ]; return; }
    for word in $ONLY; do
        case $1 in "$word" | "$word"-*) return 0 ;; esac
    done
    return 1
}

# Into $logs: chosen, in the order of the table; queue, the longest first; goals, what to build.
choose() {
    suites | while IFS='|' read -r name of flag seconds goals command; do
        is_wanted "$name" "$of" || continue
        why=$(lacks "$name" "$goals" | head -n 1)
        if [ -n "$why" ]; then
            printf 'skip %s: needs %s\n0 passed, 0 failed, 1 skipped\n' "$name" "$why" >"$logs/$name.log"
            echo "0 0 0 0" >"$logs/$name.status"
        fi
        echo "$name|$flag|$seconds|$goals|$command"
    done >"$logs/chosen"
    sort -t '|' -k 3,3nr "$logs/chosen" | while IFS='|' read -r name rest; do
        [ -e "$logs/$name.status" ] || echo "$name|$rest"
    done >"$logs/queue"
    # two that wait for no program first, then the longest
    grep '|timer|' "$logs/queue" | grep -e '|tools|' | head -n 2 >"$logs/queue-timer"
    grep '|timer|' "$logs/queue" | grep -v -x -F -f "$logs/queue-timer" >"$logs/queue-later"
    cat "$logs/queue-later" >>"$logs/queue-timer"
    grep -v '|timer|' "$logs/queue" >"$logs/queue-other"
    cut -d '|' -f 4 "$logs/queue" | tr ' ' '\n' | grep -v -x -e none -e tools -e '' | sort -u >"$logs/goals"
}

# ---- building

# make_goals LOG JOBS GOALS...
make_goals() {
    log=$logs/$1.log jobs=$2
    shift 2
    [ $# -gt 0 ] || { echo 0 >"${log%.log}.status"; return; }
    $limited "$MAKE" -k -j"$jobs" B="$B" CC="$CC" SAN_CC="$san_cc" $without_sanitizers "$@" \
        >"$log" 2>&1 </dev/null &
    wait $!
    echo $? >"${log%.log}.status"
}

# count_build LOG: a warning is a failure as well
count_build() {
    log=$logs/$1.log
    if [ "$(cat "$logs/$1.status" 2>/dev/null)" != 0 ]; then
        failing "$1" "$(grep -E 'error:|undefined reference|Error ' "$log" | head -n 5)"
    elif warnings=$(grep 'warning:' "$log" | grep -v '^make'); then     # those of compilers
        failing "$1" "$(echo "$warnings" | head -n 5)"
    else
        passed=$((passed + 1))
    fi
}

# ---- running

# cpu_so_far: $cpu_now is the CPU time, user and system, in tenths of s, of what this shell has waited for
cpu_so_far() {
    times >"$logs/times-$lane"
    cpu_now=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, sys, /[ms]/)
        printf "%.0f", 600 * (user[1] + sys[1]) + 10 * (user[2] + sys[2]) }' "$logs/times-$lane")
}

# run_one NAME COMMAND: into a log, with its exit status, its seconds and those of CPU time
run_one() {
    mkdir -p "$SCRATCH_OF_ALL/$1"
    cpu_so_far
    one_began=$(date +%s) cpu_before=$cpu_now
    SCRATCH="$SCRATCH_OF_ALL/$1" $limited sh -c "$2" >"$logs/$1.log" 2>&1 </dev/null &
    wait $!
    one_status=$?
    cpu_so_far
    one_ended=$(date +%s)
    echo "$one_status $((one_ended - one_began)) $(((cpu_now - cpu_before + 5) / 10)) $((one_began - began))" >"$logs/$1.status"
    rm -rf "${SCRATCH_OF_ALL:?}/$1"
    say "$1"
}

# say NAME: what did not pass, and its counts
say() {
    read -r status seconds cpu from <"$logs/$1.status"
    if [ "${VERBOSE:-}" = 1 ]; then cat "$logs/$1.log"
    else grep -a -E '^(FAIL|skip) ' "$logs/$1.log" | cut -c 1-400; fi
    echo "$1: $(tail -n 1 "$logs/$1.log" | cut -c 1-200) ($seconds s, CPU $cpu s)"
}

# lane NAME QUEUE...: takes the next suite that no other lane has taken
lane() {
    lane=$1
    shift
    trap 'kill -TERM $! 2>/dev/null; wait; exit 143' HUP INT TERM
    for queue in "$@"; do
        while IFS='|' read -r name flag seconds goals command; do
            mkdir "$logs/$name.taken" 2>/dev/null || continue
            case $goals in
            none | tools) ;;
            *) while [ ! -e "$logs/build-tests.status" ]; do sleep 0.2; done ;;
            esac
            run_one "$name" "$command"
        done <"$logs/$queue"
    done
}

# ---- what came of it

# failing NAME TEXT: for the end
failing() {
    failed=$((failed + 1))
    { echo "---- $1"; echo "$2" | cut -c 1-300; } >>"$logs/failing"
}

# count NAME: adds its last line to the sums; a row of the table
count() {
    status=none seconds=0 cpu=0 from=0
    read -r status seconds cpu from <"$logs/$1.status"
    set -- "$1" $(tail -n 1 "$logs/$1.log" 2>/dev/null |
        sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    if [ $# = 1 ]; then
        [ "$status" != 124 ] || status="124: out of time ($LIMIT s)"
        failing "$1" "ended without its counts, exit status $status
$(grep -a '^FAIL ' "$logs/$1.log" | head -n 5; tail -n 12 "$logs/$1.log")"
        set -- "$1" 0 1 0
        failed=$((failed - 1))
    elif [ "$3" != 0 ]; then
        failing "$1" "$(grep -a '^FAIL ' "$logs/$1.log" | head -n 8)"
        failed=$((failed - 1))
    elif [ "$status" != 0 ]; then
        failing "$1" "exit status $status
$(tail -n 8 "$logs/$1.log")"
    fi
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf '%-18s %7s %7s %7s %7s %7s %7s\n' "$1" "$from" "$seconds" "$cpu" "$2" "$3" "$4"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$tier" "$seconds" "$cpu" "$2" "$3" "$4" >>"$logs/table"
}

finish() {
    if [ -s "$logs/failing" ]; then
        echo
        echo "what failed (logs: $logs)"
        head -n 45 "$logs/failing"
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

# ---- all of it

SCRATCH_OF_ALL=$B/test/scratch
rm -rf "$logs"
mkdir -p "$logs" "$SCRATCH_OF_ALL"
if [ "$tier" != only ] && ! sh tests/setup.sh; then
    failing setup "no C compiler: install gcc, or set CC"
    finish
fi
look_around
without_sanitizers=
[ $has_san = 1 ] || without_sanitizers=ITIMER_SANITIZE=
choose
for word in ${ONLY:-}; do
    grep -q -e "^$word[|-]" "$logs/chosen" || failing choice "no suite is called $word"
done
while IFS='|' read -r name rest; do
    [ ! -e "$logs/$name.status" ] || grep '^skip ' "$logs/$name.log"
done <"$logs/chosen"
installed=$(date +%s)
echo "building, $JOBS at once (logs: $logs)"
! grep -q tools "$logs/queue" || make_goals build-tools "$JOBS" chroprof
make_tests() {
    lane=build
    trap 'kill -TERM $! 2>/dev/null; wait; exit 143' HUP INT TERM
    make_goals build-tests "$JOBS" $(cat "$logs/goals")
}
make_tests &
lanes=$!
lane timer queue-timer queue-other &
lanes="$lanes $!"
if [ "$JOBS" -gt 1 ]; then
    lane timer-2 queue-timer queue-other &
    lanes="$lanes $!"
fi
# one of the others comes when all is built: make has as many jobs
later() { while [ ! -e "$logs/build-tests.status" ]; do sleep 0.2; done; lane "$@"; }
later 1 queue-other queue-timer &
lanes="$lanes $!"
number=2
while [ "$number" -le "$JOBS" ]; do
    lane $number queue-other queue-timer &
    lanes="$lanes $!"
    number=$((number + 1))
done
wait $lanes
lane=all
cpu_so_far

echo
printf '%-18s %7s %7s %7s %7s %7s %7s\n' suite from seconds CPU passed failed skipped
while IFS='|' read -r name rest; do count "$name"; done <"$logs/chosen"
[ ! -e "$logs/build-tools.log" ] || count_build build-tools
[ ! -e "$logs/build-tests.log" ] || count_build build-tests
echo "$(grep -c . "$logs/chosen") suites in $(($(date +%s) - installed)) s, $((cpu_now / 10)) s of CPU with the build, $((installed - began)) s before for what was missing"
finish
