#!/bin/sh
# chroprof run: small programs with loops of every kind, with and without it.
#   sh tests/run_command.sh [COMMAND]      default build/chroprof; chroprof_run.so lies beside it
# QUICK=1: of the callbacks of a library, one or two are slow for long enough to be sampled; for another
# C library no code is made.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac

if [ "$(uname)" != Linux ]; then
    skip run "needs Linux"
    finish
fi
loops=$scratch/loops
if ! $CC -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$loops" tests/run_loops.c \
    -pthread 2>"$scratch/log"; then
    fail build "$(head -n 1 "$scratch/log")"
    finish
fi
TMPDIR=$scratch COLUMNS=200            # no sentence is broken where a test looks
export TMPDIR COLUMNS

# profiled OPTIONS... PROGRAM: output, messages and exit status into files and $code
profiled() { "$command" run "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?; }
plain() { "$@" >"$scratch/plain" 2>"$scratch/plain_err" </dev/null; plain_code=$?; }
# as nobody looks at a profile here, what takes 300 ms there takes 1 ms
plainly() { plain env SLOW_MS=1 "$@"; }

# starved: the kernel gave the sampler less than half of its ticks, as the report says; $ticks has
# its words. It looks at CPU timers when its own ticks find the thread running: on a crowded
# processor that may not happen for a third of a second of CPU time.
starved() {
    ticks=$(grep -a '^SAMPLES ' "$scratch/err" | tr -d ,)
    echo "$ticks" | awk '{ came += $2; lost += $3 } END { exit lost <= came }'
}

# caught OPTIONS... PROGRAM: profiled, once or twice more if it was starved
caught() {
    profiled "$@"
    for again in 1 2; do
        ! starved || profiled "$@"
    done
}

# says NAME TEXT, says_not NAME TEXT: the messages hold it
says() {
    if grep -qF -e "$2" "$scratch/err"; then ok "$1"; else
        fail "$1" "'$2' not found in: $(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
}
says_not() {
    if ! grep -qF -e "$2" "$scratch/err"; then ok "$1"; else
        fail "$1" "'$2' found: $(grep -F -e "$2" "$scratch/err" | head -n 1)"; fi
}

# missed NAME WHY: what only samples tell was not seen: skipped where the program was starved. A
# machine skips one or two; what always loses its ticks is a fault of ours.
starvations=0
missed() {
    if starved && [ "$starvations" -lt 3 ]; then
        starvations=$((starvations + 1))
        skip "$1" "the kernel gave too few ticks: $(echo "$ticks" | tr '\n' ' ')"
    else fail "$1" "$2"; fi
}

# names NAME TEXT: the messages hold it, which is known by samples
names() {                               # a line may end anywhere between two words
    if tr -s '\n ' ' ' <"$scratch/err" | grep -aqF -e "$(echo "$2" | tr -s ' ')"; then ok "$1"; else
        missed "$1" "'$2' not found in: $(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
}

# refuses NAME CODE TEXT: the exit status, and what the messages say
refuses() {
    if [ "$code" = "$2" ]; then says "$1" "$3"; else fail "$1" "exit status $code, not $2"; fi
}

# alike NAME: the program printed the same as without, and ended alike
alike() {
    if [ "$code" != "$plain_code" ]; then
        fail "$1" "exit status $code, not $plain_code: $(head -n 1 "$scratch/err")"
    elif ! cmp -s "$scratch/plain" "$scratch/out"; then
        fail "$1" "$(diff "$scratch/plain" "$scratch/out" | head -n 4 | tr '\n' '|')"
    else ok "$1"; fi
}

# a loop of each kind: undisturbed, and its stall has a site and a function
for kind in epoll poll ppoll select pselect; do
    plainly "$loops" $kind
    caught "$loops" $kind
    alike "${kind}_alike"
    called=$kind
    [ $kind != epoll ] || called=epoll_wait
    says "${kind}_stall" "The loop was blocked for"
    says "${kind}_site" "code after $called took"
    names "${kind}_function" "the_slow_function"
    names "${kind}_callback" "in on_event  run_loops.c:"
    names "${kind}_cause" "most of it in the_slow_function  run_loops.c:"
done
profiled --wall --stall 5 "$loops" poll
says wall_function "the_slow_function"
says wall_clock "of the clock"

# on one processor; and where the system speaks of 64
one=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[^0-9].*//')
if [ -n "$one" ]; then
    plainly taskset -c "$one" "$loops" threads
    caught taskset -c "$one" "$loops" threads
    alike one_processor_alike
    names one_processor_function the_slow_function
    says one_processor_threads "loop 2 of 2"
else skip one_processor "no taskset"; fi
if $CC -shared -fPIC -o "$scratch/processors.so" tests/run_processors.c -ldl 2>"$scratch/log"; then
    many="env LD_PRELOAD=$scratch/processors.so"
    plainly $many "$loops" threads
    export LD_PRELOAD="$scratch/processors.so"
    caught "$loops" threads
    unset LD_PRELOAD
    alike many_processors_alike
    names many_processors_function the_slow_function
    says many_processors_threads "loop 2 of 2"
    shown=$($many getconf _NPROCESSORS_ONLN 2>/dev/null)
    if [ "$shown" = 64 ]; then ok many_processors; else fail many_processors "$shown"; fi
else fail many_processors "$(head -n 1 "$scratch/log")"; fi

# waits in a callback that a tick cuts short go on; a signal of the program ends them
if $CC -O1 -g -fno-omit-frame-pointer -o "$scratch/sleeps" tests/run_sleeps.c -pthread \
    2>"$scratch/log"; then
    plain "$scratch/sleeps"
    for mode in "" --wall; do
        profiled $mode "$scratch/sleeps" ${mode:+5}
        alike "sleeps_alike$mode"
    done
    says sleeps_sampled "in on_time  run_sleeps.c:"
else fail sleeps "$(head -n 1 "$scratch/log")"; fi

# without frame pointers: who called into the C library, by tables; not without these. A storm of
# whatever a walk could meet in the middle of.
through=                                # musl has no tables of its own
frames=$scratch/frames
if $CC -O2 -g -fomit-frame-pointer -o "$frames" tests/run_frames.c -pthread -ldl 2>"$scratch/log"; then
    plain "$frames"
    caught -o "$scratch/kept" "$frames"
    alike frames_alike
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log"
    tables="code after poll;outermost;middle;innermost"
    ! getconf GNU_LIBC_VERSION >/dev/null 2>&1 || through=";.*;compare_numbers"
    case $(uname -m) in
    x86_64 | aarch64)
        if grep -q "$tables$through" "$scratch/folded"; then ok frames_by_tables; else
            missed frames_by_tables "$(head -n 2 "$scratch/folded")"; fi
        names frames_function " in outermost  run_frames.c:" ;;
    *) skip frames_by_tables "no walk by tables on this processor" ;;
    esac
    profiled --unwind frames -o "$scratch/kept" "$frames"
    alike frames_only_alike
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log"
    if ! grep -q "$tables" "$scratch/folded"; then ok frames_only; else
        fail frames_only "they were found"; fi
    profiled --unwind guess "$frames"
    refuses frames_unknown 2 "expected tables or frames"
else fail frames "$(head -n 1 "$scratch/log")"; fi
if ${CXX:-c++} -O2 -x c++ -fomit-frame-pointer -o "$frames" tests/run_frames.c -pthread -ldl \
    2>"$scratch/log"; then
    for mode in "" --wall; do
        profiled $mode "$frames" storm 500
        if [ "$code" = 0 ]; then ok "storm$mode"; else fail "storm$mode" "exit status $code"; fi
    done
else skip storm "no compiler of C++"; fi

# nothing that a program takes away or spoils ends it under chroprof run
guarded=$scratch/guarded
if $CC -O2 -g -fPIC -shared -DPLUGIN -o "$guarded.so" tests/run_guarded.c 2>"$scratch/log" &&
    $CC -O2 -g -Wl,-z,now -o "$guarded" tests/run_guarded.c -ldl 2>"$scratch/log"; then
    for what in header gone spoiled code; do
        plainly "$guarded" "$what" "$guarded.so"
        profiled "$guarded" "$what" "$guarded.so"
        alike "guarded_$what"
    done
else fail guarded "$(head -n 1 "$scratch/log")"; fi

# small stacks live, and a signal that the sampler has does what it does without
if built_stacks=$($CC -O1 -g -Wl,-z,now -o "$scratch/stacks" tests/run_stacks.c -pthread 2>&1); then
    for what in first thread later low alternate raised sent ignored awaited stopped large system tiny; do
        plain "$scratch/stacks" $what
        profiled "$scratch/stacks" $what
        alike "stacks_$what"
        [ "${QUICK-}" != 1 ] || continue
        profiled --wall "$scratch/stacks" $what
        alike "stacks_$what-wall"
    done
    says_not stacks_tiny_told "no thread of"
else fail stacks "$built_stacks"; fi

# code that the program made itself has the names that it left for perf
plain "$loops" made "$scratch/number"
rm -f "/tmp/perf-$(cat "$scratch/number").map"
caught "$loops" made "$scratch/number"
rm -f "/tmp/perf-$(cat "$scratch/number").map"
alike made_alike
case $(cat "$scratch/out") in *none*) skip made_name "no code can be made here" ;;
*) names made_name "the_code_of_the_program" ;; esac

# two threads have a profile each
plainly "$loops" threads
profiled -o "$scratch/kept" "$loops" threads
alike threads_alike
says threads_two "loop 2 of 2"
says_not threads_sampled_both "took signal"
for file in kept kept.2; do
    if "$command" check "$scratch/$file" 2>"$scratch/log"; then ok "kept_$file"; else
        fail "kept_$file" "$(head -n 1 "$scratch/log")"; fi
    "$command" dump "$scratch/$file" >"$scratch/folded" 2>"$scratch/log"
    if ! grep -q "so its functions keep" "$scratch/log"; then ok "kept_quiet_$file"; else
        fail "kept_quiet_$file" "a library of chroprof's is missed"; fi
done

# a thread that waits in a pool is no loop, however long: it comes last
plainly "$loops" parked
caught "$loops" parked
alike parked_alike
first=$(sed -n '/loop 1 of 2/,/loop 2 of 2/p' "$scratch/err")
case $first in *the_slow_function*) ok parked_last ;;
*) missed parked_last "$first" ;; esac

# libraries that call callbacks: each has a name and a line, and is the first finding if it is slow
flags="-O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls"

# built OUT SOURCE AND FLAGS...: else the test is skipped
built() {
    out=$1
    shift
    $CC $flags -o "$scratch/$out" "$@" 2>"$scratch/log" ||
        { skip "$out" "$(head -n 1 "$scratch/log")"; return 1; }
}

# is_first PATTERN: the first finding is the callback
is_first() {
    first=$(grep -m 1 -A 2 "The loop was blocked for" "$scratch/err" | tr -s '\n ' ' ')
    case $first in *": "$1" took"*) ;; *) false ;; esac
}

# first_callback PROGRAM WHAT PATTERN
first_callback() {
    alike "$1_$2_alike"
    if is_first "$3"; then ok "$1_$2_first"; else fail "$1_$2_first" "$first"; fi
    says_not "$1_$2_order" "ANOMALIES"
}

# also_called: the same without samples, as another callback of the library has shown them. If a busy
# machine holds up another callback for longer, this one is slower the next time.
also_called() {
    if [ "${QUICK-}" != 1 ]; then called "$@"; return; fi
    plainly "$scratch/$1" "$2"
    for ms in 60 300 1500; do
        SLOW_MS=$ms "$command" run --stall 30 "$scratch/$1" "$2" >"$scratch/out" 2>"$scratch/err" \
            </dev/null
        code=$?
        ! is_first "$3" || break
    done
    first_callback "$@"
}

# called PROGRAM WHAT PATTERN: alike, and the callback is the first finding; with samples in it, so
# that a line names its function
called() {
    plainly "$scratch/$1" "$2"
    for ms in 300 1500 4000; do
        export SLOW_MS=$ms              # as also_called does
        caught -o "$scratch/kept" --stall 30 "$scratch/$1" "$2"
        unset SLOW_MS
        ! is_first "$3" || break
    done
    first_callback "$@"
    lead=$(grep -e ' stall at ' -e 'most of it in ' "$scratch/err" | tr '\n' '|')
    case $1:$lead in                # without symbols there is no function to name
    *chroprof_run* | *call_in_frame*) fail "$1_$2_lead" "$lead" ;;
    stripped:* | *:?*) ok "$1_$2_lead" ;;
    *) missed "$1_$2_lead" "no line names a function" ;; esac
}

if built libevent tests/run_libevent.c -levent -pthread; then
    for what in slow nested jump deeper fork thread exit; do
        case $what in slow | jump) called=called ;; *) called=also_called ;; esac
        $called libevent $what 'on_slow (run_libevent.c:*)'
    done
    also_called libevent buffers 'on_data (run_libevent.c:*)'
    # the callback stands below the one that created it alone, its function is the first one inside
    caught -o "$scratch/kept" "$scratch/libevent" deeper
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log"
    if grep -q "code after epoll_wait;on_tick;on_slow;on_slow;spend_slowly" "$scratch/folded"; then
        ok libevent_callback_alone
    else missed libevent_callback_alone "$(grep -m 1 on_slow "$scratch/folded")"; fi
    profiled --children "$scratch/libevent" fork
    plainly "$scratch/libevent" fork
    alike libevent_children_alike
    says libevent_children "loop 2 of 2"
    plainly "$scratch/libevent" slow
    profiled sh -c "exec '$scratch/libevent' slow"
    alike libevent_becomes_alike
    says libevent_becomes "libevent+0x"
    # without a table of symbols a function has its place in the file
    strip -o "$scratch/stripped" "$scratch/libevent"
    called stripped slow 'stripped+0x*'
fi
if built exceptions -x c++ tests/run_libevent.c -levent -pthread -lstdc++; then
    called exceptions jump 'on_slow(int, short, void\*) (run_libevent.c:*)'
    called exceptions left 'code after epoll_wait'
fi

# programs that load libraries themselves, or have functions of the same names
if built plugin.so -O2 -foptimize-sibling-calls -shared -fPIC -DPLUGIN tests/run_loading.c -levent_extra &&
    built second.so -O2 -foptimize-sibling-calls -shared -fPIC -DPLUGIN -DON_EVENT=on_second tests/run_loading.c \
        -levent_extra &&
    built libother.so -shared -fPIC -DOTHER tests/run_loading.c &&
    built loading -rdynamic tests/run_loading.c -levent_core -pthread -ldl &&
    built names tests/run_loading.c -L"$scratch" -Wl,--no-as-needed -lother -levent_core -pthread \
        -ldl -Wl,-rpath,"$scratch"; then
    for what in local global lock error sandbox; do
        plain "$scratch/loading" $what "$scratch/plugin.so"
        timeout 60 "$command" run "$scratch/loading" $what "$scratch/plugin.so" >"$scratch/out" \
            2>"$scratch/err"
        code=$?
        alike loading_$what
    done
    set -- "$scratch/loading" turns "$scratch/plugin.so" "$scratch/second.so"
    plain "$@"
    caught -o "$scratch/kept" "$@"
    alike loading_turns
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log"
    if grep -q "on_first" "$scratch/folded" && grep -q "on_second" "$scratch/folded"; then
        ok loading_turns_names
    else missed loading_turns_names "$(head -n 3 "$scratch/folded" | tr '\n' '|')"; fi
    plain "$scratch/names" names
    profiled "$scratch/names" names
    alike loading_names
    profiled sh -c "exec '$scratch/names' names"
    alike loading_names_becomes
fi
if built libuv tests/run_libuv.c -luv; then
    for what in read write check close; do
        also_called libuv $what "on_$what (run_libuv.c:*)"
    done
    called libuv timer 'on_tick (run_libuv.c:*)'
    names libuv_task_and_function " in on_tick: "
    also_called libuv async 'on_message (run_libuv.c:*)'
    also_called libuv file 'on_file (run_libuv.c:*)'
    also_called libuv work 'after_work (run_libuv.c:*)'
    called libuv both 'on_check (run_libuv.c:*)'
    names libuv_function_of_most " in on_check: spend_slowly  run_slow.h:"
fi
if built libev tests/run_libev.c -lev; then
    called libev timer "on_timer (run_libev.c:*)"
    for what in again file idle prepare check async once fed; do
        also_called libev $what "on_$what (run_libev.c:*)"
    done
fi
if built glib tests/run_glib.c $(pkg-config --cflags --libs gio-2.0 2>/dev/null); then
    called glib timer "on_timer (run_glib.c:*)"
    for what in idle file child signal source socket; do
        also_called glib $what "on_$what (run_glib.c:*)"
    done
    called glib own "code after poll"   # its callback gets what no stand-in could pass on
fi
if built systemd tests/run_systemd.c -lsystemd; then
    called systemd timer "on_timer (run_systemd.c:*)"
    for what in file later post; do
        also_called systemd $what "on_$what (run_systemd.c:*)"
    done
fi

# requests of libuv and events of libevent are futures: how they ended, who created them, how long
# they waited; and nothing that reads like a leak
futures() {
    program=$1
    shift
    plain "$scratch/$program"
    profiled -o "$scratch/kept" "$scratch/$program"
    alike "${program}_alike"
    says "${program}_latency" "LATENCY"
    says_not "${program}_order" "ANOMALIES"
    says_not "${program}_no_leak" "did not finish"
    if command -v python3 >/dev/null 2>&1; then
        wrong=$("$command" dump --format json "$scratch/kept" 2>"$scratch/log" |
            python3 tests/run_futures.py "$@" 2>&1)
        if [ -z "$wrong" ]; then ok "${program}_futures"; else
            fail "${program}_futures" "$(echo "$wrong" | tr '\n' '|')"; fi
    else skip "${program}_futures" "no python3"; fi
}

if built requests tests/run_requests.c -luv -pthread; then
    all="calls=10 completed=10 failed=0 cancelled=0 abandoned=0 live=0 dropped=0"
    futures requests "on_stat $all by=on_tick" \
        "on_write calls=8 completed=8 live=0 by=on_tick at_least.latency_p50_ns=1" \
        "on_one_of_many calls=1500 completed=1500 live=0 dropped=0 at_least.latency_p50_ns=1" \
        "after_work calls=2 completed=1 cancelled=1 live=0 by=on_tick at_least.latency_p99_ns=5000000" \
        "on_connect calls=2 completed=0 failed=2 live=0 by=on_tick" \
        "after_other calls=1 cancelled=1 live=0 by=on_tick"
fi
if built events tests/run_events.c -levent -levent_pthreads -pthread; then
    futures events "on_late calls=5 completed=5 live=0 by=on_tick at_least.latency_p50_ns=10000000" \
        "on_never calls=4 completed=0 cancelled=4 abandoned=0 live=0 by=on_tick" \
        "on_file calls=1 completed=1 slices=6 live=0 by=on_tick" \
        "on_self calls=1 completed=1 slices=3 live=0 by=on_tick" \
        "on_user calls=1 completed=1 live=0 by=on_tick at_least.delay_ns=1" \
        "on_once calls=1 completed=1 live=0 by=on_tick at_least.latency_p50_ns=5000000" \
        "on_twin calls=2 completed=2 live=0 by=on_tick"
    seeds="1 2 3"
    command -v python3 >/dev/null 2>&1 || seeds=
    for seed in $seeds; do
        profiled -o "$scratch/kept" "$scratch/events" random $seed "$scratch/number"
        refuses "events_random_$seed" 7 "LATENCY"
        says_not "events_random_${seed}_order" "ANOMALIES"
        wrong=$("$command" dump --format json "$scratch/kept" 2>"$scratch/log" |
            python3 tests/run_futures.py \
                "on_random slices=$(cat "$scratch/number") live=0 abandoned=0 dropped=0" 2>&1)
        if [ -z "$wrong" ]; then ok "events_random_${seed}_count"; else
            fail "events_random_${seed}_count" "$wrong"; fi
    done
fi

# ends of other kinds
for end in exit killed; do
    plainly "$loops" $end poll
    caught "$loops" $end poll
    alike "${end}_alike"
    names "${end}_function" "the_slow_function"
done
# in the middle of a task: up to its end; not if it became another program
for end in hangs becomes; do
    plainly "$loops" $end
    for again in 1 2 3 4 5; do
        profiled -o "$scratch/kept" --report "$scratch/page.html" "$loops" $end
        "$command" dump "$scratch/kept" >"$scratch/log" 2>"$scratch/dumped"
        case $end in
        # no event tells that a hang was starved of ticks
        hangs) ! grep -q the_slow_function "$scratch/page.html" || break ;;
        # a machine may hold it up between its last wait and the end; sleep takes 100 ms each time
        becomes) ! grep -q "poll for at least 0.000 s" "$scratch/dumped" || break ;;
        esac
    done
    alike "${end}_alike"
    case $end in
    hangs)
        if grep -q the_slow_function "$scratch/page.html"; then ok hangs_page; else
            fail hangs_page "no such function"; fi
        "$command" dump "$scratch/kept" >"$scratch/log" 2>"$scratch/err"
        says_not hangs_to_its_end "poll for at least 0.000 s"
        says hangs_task "was running code after poll" ;;
    becomes)
        "$command" dump "$scratch/kept" >"$scratch/log" 2>"$scratch/err"
        says becomes_no_more "poll for at least 0.000 s" ;;
    esac
done
plain "$loops" quick
profiled "$loops" quick
alike quick_alike
says quick_has_no_loop "there was no event loop"
profiled -o "$scratch/no_file" "$loops" quick
says quick_writes_nothing "no_file was not written"

# while it runs its profile is there to be read; a signal to the command is one to the program,
# also one that is ignored in the background
stays() {
    : >"$scratch/out"
    (trap '' INT; exec "$command" run "$loops" stay >"$scratch/out" 2>"$scratch/err") &
    runs=$!
    tries=0
    until "$command" dump "$(cat "$scratch/out")" >"$scratch/live" 2>"$scratch/log" &&
        grep -q "code after poll" "$scratch/live"; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || break
        sleep 0.1
    done
    "$command" dump "$runs" >"$scratch/by_runner" 2>&1
    kill "-$1" "$runs"
    wait "$runs"
    code=$?
}
stays TERM
if grep -q "code after poll" "$scratch/live"; then ok dump_meanwhile; else
    fail dump_meanwhile "$(head -n 1 "$scratch/log")"; fi
if grep -q "code after poll" "$scratch/by_runner"; then ok dump_runner; else
    fail dump_runner "$(head -n 1 "$scratch/by_runner")"; fi
refuses signal_passed_on 143 "code after poll"
stays INT
refuses ignored_signal_passed_on 5 "code after poll"

"$command" run sleep 300 >"$scratch/out" 2>&1 &
runs=$!
tries=0
until "$command" dump "$runs" >"$scratch/log" 2>"$scratch/err" ||
    grep -qF "no event loop" "$scratch/err" || [ "$tries" -ge 300 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
says dump_runner_without_loop "the program of chroprof run $runs has had no event loop so far"
kill "$runs"
wait "$runs"

# ended while it begins: at the end of this test nothing may be left of it
for ms in 00 01 02 03 04 05 06 08 10 12 15 20; do
    "$command" run sleep 30 >"$scratch/out" 2>"$scratch/err" &
    runs=$!
    until [ "/proc/$runs/exe" -ef "$command" ] || [ ! -e "/proc/$runs" ]; do :; done
    sleep 0.0$ms
    kill "$runs"
    wait "$runs"
    code=$?
    if [ $code = 143 ]; then ok "ended_after_$ms"; else fail "ended_after_$ms" "exit status $code"; fi
done

if command -v python3 >/dev/null 2>&1; then
    missed=$(python3 -B tests/run_early.py "$command" 2>&1 | tail -n 1)
    if [ "$missed" = 0 ]; then ok interrupted_early; else fail interrupted_early "$missed missed"; fi
else skip interrupted_early "no python3"; fi

# children and their environment, signals
plainly "$loops" fork
profiled "$loops" fork
alike fork_alike
says_not fork_child_has_none "loop 2"
profiled --children "$loops" fork
says children_have_one "loop 2 of 2"
profiled "$loops" daemon "$scratch/end"
says daemon_told "has ended, but 1 process that it forked goes on"
: >"$scratch/end"
profiled --children "$loops" daemon "$scratch/end"
says daemon_waited "loop 2 of 2"
plainly "$loops" signals
profiled "$loops" signals
alike signals_alike
says signal_taken "took over signal"
plain env
profiled env
alike environment
echo 'int of_the_user;' | $CC -shared -fPIC -x c -o "$scratch/user.so" -
plain env LD_PRELOAD="$scratch/user.so" sh -c 'echo $LD_PRELOAD; exit 9'
LD_PRELOAD=$scratch/user.so "$command" run sh -c 'echo $LD_PRELOAD; exit 9' \
    >"$scratch/out" 2>"$scratch/err"
code=$?
alike other_preloads
preloads="env -u LD_PRELOAD A=1 LD_PRELOAD=$scratch/user.so B=2 env"
for words in "$preloads" "sh -c 'exec $loops poll'" "env A=1 $loops poll" "sh -c '$loops quick; exec env env'" \
    "$loops execs"; do
    case $words in *poll*) eval "plainly $words" ;; *) eval "plain $words" ;; esac
    eval "caught $words"
    alike "becomes_$(echo "$words" | tr -c 'a-z\n' _ | cut -c 1-9)"
    case $words in *poll*) names becomes_function the_slow_function ;; esac
done
echo "#!$loops" >"$scratch/script"
chmod +x "$scratch/script"
plainly "$scratch/script"
profiled "$scratch/script"
alike script_alike

# signals and system calls that the program has rules of its own for. alone: in a process group, so
# that the test itself gets no signal
if built rules tests/run_rules.c -pthread; then
    alone="env" rules=$scratch/rules
    ! command -v setsid >/dev/null 2>&1 || alone="setsid -w"
    for what in blocked descriptor waits wanted child filter late all harmless crowd; do
        plainly "$rules" $what
        [ $plain_code != 77 ] || { skip "rules_$what" "no filters of system calls here"; continue; }
        caught "$rules" $what
        alike "rules_$what"
        case $what in
        blocked | descriptor | waits | harmless | crowd)
            names "rules_${what}_sampled" the_busy_function
            says_not "rules_${what}_warning" " not sampled: "
            says_not "rules_${what}_all" "no profile: " ;;
        wanted) says rules_wanted_taken "took over signal" ;;
        filter) says rules_filter_told "before its loop began" ;;
        late) says rules_late_told "from then on it was not sampled" ;;
        esac
    done
    mkdir "$scratch/locked"
    plainly "$rules" locked "$scratch/locked"
    if [ $plain_code != 77 ]; then
        caught "$rules" locked "$scratch/locked"
        alike rules_locked
        says rules_locked_both "loop 2 of 2"
        names rules_locked_sampled the_busy_function
    else skip rules_locked "needs root"; fi
    plainly "$rules" guests
    caught -o "$scratch/guests" "$rules" guests
    alike rules_guests
    names rules_guests_busiest the_busy_function
    says rules_guests_dropped "stalls and of the busiest are kept"
    files=$(ls "$scratch"/guests* | wc -l)
    if [ "$files" -le 66 ]; then ok rules_guests_kept; else fail rules_guests_kept "$files files"; fi
    if [ "$alone" != env ]; then
        plain $alone "$rules" group
        $alone "$command" run "$rules" group >"$scratch/out" 2>"$scratch/err" </dev/null
        code=$?
        alike rules_group
    fi
    if command -v python3 >/dev/null 2>&1; then
        # as in a shell: the job stops, and goes on
        python3 tests/run_stops.py "$command" run "$rules" stops >"$scratch/log" 2>&1
        if [ "$(tr -d '\r' <"$scratch/log" | head -n 2 | tr '\n' ' ')" = "stopped ended 3 " ]; then
            ok rules_stops
        else fail rules_stops "$(head -n 3 "$scratch/log" | tr '\n' '|')"; fi
    else skip rules_stops "no python3"; fi
fi

# a limit of file sizes, variables without a value, checkers of memory
(ulimit -f 1; "$command" run "$loops" quick 2>&1 | cat >&3) 3>"$scratch/err"
says small_files "File too large"
LD_PRELOAD='' "$command" run sh -c 'echo "${LD_PRELOAD-none}"; exit 2' >"$scratch/out" 2>"$scratch/err"
code=$?
plain env LD_PRELOAD= sh -c 'echo "${LD_PRELOAD-none}"; exit 2'
alike empty_preload
if $CC -O1 -g -fsanitize=address -o "$scratch/checked" tests/run_loops.c -pthread 2>"$scratch/log"; then
    plainly "$scratch/checked" poll
    caught "$scratch/checked" poll
    alike checked_alike
    names checked_function the_slow_function
else skip checked "no AddressSanitizer"; fi

# a daemon that gives up the rights of root
if [ "$(id -u)" = 0 ]; then
    plainly "$loops" user
    TMPDIR=/tmp                         # others may not enter ours
    caught "$loops" user
    TMPDIR=$scratch
    alike user_alike
    names user_function the_slow_function
    mkdir -m 700 "$scratch/closed"
    cp "$command" "$(dirname "$command")/chroprof_run.so" "$scratch/closed"
    if command -v setpriv >/dev/null 2>&1; then
        set -- setpriv --reuid=65534 --clear-groups sh -c 'exit 4'
        plain "$@"
        "$scratch/closed/chroprof" run "$@" >"$scratch/out" 2>"$scratch/err"
        code=$?
        alike user_without_library
        says_not user_sees_nothing "cannot be preloaded"
    else skip user_without_library "no setpriv"; fi
else skip user_alike "needs root"; fi

# a caller that ignores the ends of its children
(trap '' CHLD; "$command" run sh -c 'exit 7' >"$scratch/out" 2>"$scratch/err"; echo $? >"$scratch/status")
if grep -qx 7 "$scratch/status"; then ok ignored_children; else fail ignored_children "$(cat "$scratch/status")"; fi

# nobody reads the report
("$command" run sh -c 'sleep 0.2; exit 9' 2>&1; echo $? >"$scratch/status") | :
while [ ! -s "$scratch/status" ]; do sleep 0.1; done
if grep -qx 9 "$scratch/status"; then ok unread_report; else fail unread_report "$(cat "$scratch/status")"; fi

# compared with an earlier run, which may be the file that it replaces
profiled -o "$scratch/before" "$loops" long poll
profiled --diff "$scratch/before" -o "$scratch/before" "$loops" long poll
says diff_replaced "A  before"
plainly "$loops" long select
profiled --diff "$scratch/before" "$loops" long select
alike diff_undisturbed
says diff_new "code after select is new and takes"
says diff_gone "code after poll is gone"
says diff_other_run "B  loops"
first=$(grep -n -m 1 -e 'is new' -e 'The loop was blocked' "$scratch/err")
case $first in *new*) ok diff_first ;; *) fail diff_first "$first" ;; esac
profiled --diff "$scratch/before" "$loops" quick
says diff_without_loop "there is no profile to compare with"
profiled --diff "$scratch/nothing" "$loops" quick
refuses diff_missing 2 "nothing: No such file"
if [ ! -s "$scratch/out" ]; then ok diff_missing_not_run; else fail diff_missing_not_run "it was"; fi
profiled --diff - "$loops" quick
refuses diff_standard_input 2 "standard input is the program's"
profiled --diff "$loops" "$loops" quick
refuses diff_no_profile 2 "this is not a profile"
{       # the number of the layout stands behind the mark
    number=$(($(LC_ALL=C grep -abo CHRPROF1 "$scratch/before" | head -n 1 | cut -d : -f 1) + 8))
    dd if="$scratch/before" bs=1 count=$number
    printf '\143'
    dd if="$scratch/before" bs=1 skip=$((number + 1))
} >"$scratch/other" 2>"$scratch/log"
profiled --diff "$scratch/other" "$loops" quick
refuses diff_other_version 2 "by another version"

# a page, and what is wrong with the words
caught --report "$scratch/page.html" -o "$scratch/paged" "$loops" poll
if grep -q the_slow_function "$scratch/page.html"; then ok page; else
    missed page "no such function"; fi
texts() { sed -n 's/.*"kind":"[a-z_]*","text":\("[^"]*"\).*/\1/p'; }
if [ "$(texts <"$scratch/page.html")" = \
     "$("$command" dump "$scratch/paged" -f json 2>/dev/null | texts)" ]; then ok page_findings; else
    fail page_findings "$(texts <"$scratch/page.html" | head -n 2)"; fi
profiled
refuses no_program 2 "missing argument PROGRAM"
for option in --out --report; do
    profiled $option "$scratch/no/such/folder" "$loops" quick
    refuses "no_folder$option" 2 "make the folder first"
    if [ ! -s "$scratch/out" ]; then ok "not_run$option"; else fail "not_run$option" "it was"; fi
done
profiled -o "$scratch" "$loops" quick
refuses out_is_a_folder 2 "this is a directory"
profiled --stall soon "$loops"
refuses bad_stall 2 "expected milliseconds"
profiled "$scratch/nothing"
refuses not_there 127 "No such file"
profiled nothing-of-this-name
refuses not_in_path 127 "no such program in PATH"
profiled "$loops" --help
says_not options_of_the_program usage

# programs that nothing can be loaded into: they run, and are watched from outside
outside() {
    plain "$scratch/$1" quick
    profiled "$scratch/$1" quick
    alike "$1_alike"
    says "$1_outside" "watched from outside"
}
if $CC -static -O1 -o "$scratch/static" tests/run_loops.c -pthread 2>/dev/null; then
    outside static
else skip static_outside "no static C library"; fi
cp "$loops" "$scratch/setuid" && chmod u+s "$scratch/setuid"
if [ "$(id -u)" = 0 ]; then outside setuid; else
    profiled "$scratch/setuid" quick
    refuses setuid_program 126 "setuid"
fi

# nothing but the functions that it wraps
library=$(dirname "$command")/chroprof_run.so
if command -v nm >/dev/null 2>&1; then
    shown=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
    wanted="Tcl_WaitForEvent __asan_default_options __longjmp_chk __poll_chk __ppoll_chk _longjmp accept accept4 chroot chroprof_run_base chroprof_run_function \
chroprof_run_future chroprof_run_loop chroprof_run_standin clock_nanosleep epoll_create epoll_create1 epoll_pwait epoll_pwait2 epoll_wait execl execle execlp execv \
execve execvp execvpe fexecve getaddrinfo gethostbyaddr gethostbyname \
getnameinfo longjmp msgrcv msgsnd nanosleep pause poll ppoll prctl pselect \
pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait pthread_sigmask select sem_clockwait sem_timedwait sem_wait semop semtimedop \
seteuid setresuid setreuid setuid sigaction sigaltstack siglongjmp signal signalfd sigprocmask sigsuspend \
sigtimedwait sigwait sigwaitinfo sleep syscall usleep "
    if [ "$shown" = "$wanted" ]; then ok symbols; else fail symbols "$shown"; fi
    for loop in libevent libuv libev glib systemd; do
        shown=$(nm -D --defined-only "${library%.so}_$loop.so" | awk '{ print $3 }' |
            grep -v -e '^uv_' -e '^ev' -e '^bufferevent_' -e '^g_' -e '^sd_event_')
        if [ -z "$shown" ]; then ok "symbols_$loop"; else fail "symbols_$loop" "$shown"; fi
    done
else skip symbols "no nm"; fi

# another C library. QUICK: what differs is what its headers declare, so no code is made
if command -v musl-gcc >/dev/null 2>&1; then
    how=-shared
    [ "${QUICK-}" != 1 ] || how=-fsyntax-only
    for source in src/run/*.c; do
        name=musl_$(basename "$source" .c)
        if musl-gcc -std=gnu99 -fPIC $how -w -o "$scratch/$name" "$source" 2>"$scratch/log"; then
            ok "$name"
        else fail "$name" "$(head -n 1 "$scratch/log")"; fi
    done
else skip musl "no musl-gcc"; fi

tries=0                         # a busy machine may still be at it
while left=$(ls -d "$scratch"/chroprof-run-* 2>/dev/null) && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
if [ -z "$left" ]; then ok nothing_left; else fail nothing_left "$left"; fi
finish
