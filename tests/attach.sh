#!/bin/sh
# chroprof attach: what it says of programs with a known fault, and that it does them no harm.
#   sh tests/attach.sh [COMMAND]        default build/chroprof
# The programs run until they are told to end, so a busy machine has as long as it needs; what is
# expected of a stall is its function and that there is one, never how long it was.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
program=
trap 'kill $program 2>/dev/null; rm -rf "$scratch"' EXIT
COLUMNS=200
export COLUMNS

# started PROGRAM WHAT SECONDS: in the background; returns when it is ready
started() {
    stops=0 cut=0
    : >"$scratch/out"
    "$scratch/$1" "$2" "$3" >"$scratch/out" &
    program=$!
    until grep -q ready "$scratch/out"; do kill -0 $program 2>/dev/null || return 1; done
}

# queued: ns that the program has waited for a processor so far, as the kernel counts them
queued() { cat /proc/$program/task/*/schedstat 2>/dev/null | awk '{ ns += $2 } END { print ns + 0 }'; }

# add_cuts: $cut, the waits that attach says it has cut short since the program was started, $stops in all
add_cuts() {
    set -- $(sed -n 's/.*stopped a thread \([0-9]*\) times.*/\1/p' "$scratch/err" | tail -n 1) 0
    stops=$((stops + $1))
    set -- $(sed -n 's/.*stops ended \([0-9]*\) system calls of the program early/\1/p' "$scratch/err" |
        tail -n 1) 0
    cut=$((cut + $1))
}

# attached OPTIONS...: the report goes to $scratch/err
attached() {
    queued_before=$(queued) began=$(date +%s)
    timeout 120 "$command" attach "$@" $program >"$scratch/said" 2>"$scratch/err"
    code=$?
    add_cuts
    queued_ms=$(((${queued_before:-0} < $(queued) ? $(queued) - queued_before : 0) / 1000000))
    took_s=$(($(date +%s) - began))
    return $code
}

# is_starved: the program waited for a processor for more than half of the time that it was watched, so
# that it seldom got to where it can be stopped
is_starved() { [ "${queued_ms:-0}" -gt $((took_s * 500)) ]; }

# begun PID: returns when it watches the program, of whose threads it keeps files open
begun() {
    until ls -l "/proc/$1/fd" 2>/dev/null | grep -q "/proc/$program/task"; do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.05
    done
}

# said_first PATTERN: in the first two findings
said_first() { grep '^•' "$scratch/err" | head -n 2 | grep -q "$1"; }

# attached_until PATTERN OPTIONS...: a machine that is busy may hold the program up for longer than its
# fault does, and then it says so first: it is watched again, for longer.
attached_until() {
    pattern=$1
    shift
    for seconds in 1 3 8 20 60; do
        attached --for ${seconds}s "$@"
        ! said_first "$pattern" || break
    done
}

blocked='blocked the loop of .* waiting in poll'

# says NAME PATTERN
says() {
    if said_first "$2"; then ok "$1"
    elif is_starved; then skip "$1" "it waited for a processor for $queued_ms ms of $took_s s"
    else fail "$1" "$(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
}

# ended NAME SIGNALS: the program's own end, as without, but for waits that attach says it has cut short.
# Those are exceptions: the wait has a time and began more than 2 ms before the stop came, which was meant
# for a thread that ran. At a load of 20 on two processors it was one stop of hundreds; most never are.
ended() {
    kill $program 2>/dev/null
    wait $program
    status=$?
    errors=$(sed -n "s/^errors \([0-9]*\) signals $2\$/\1/p" "$scratch/out" | tail -n 1)
    if [ $status = 7 ] && [ "${errors:-9999}" -le $cut ] && [ $cut -le $((2 + stops / 10)) ]; then
        ok "$1_unharmed"
    else fail "$1_unharmed" "status $status, $(tail -n 1 "$scratch/out"), $cut of $stops stops cut a wait"; fi
    program=
}

# refused NAME STATUS PATTERN WORDS...
refused() {
    name=$1 want=$2 pattern=$3
    shift 3
    "$command" attach "$@" >"$scratch/said" 2>"$scratch/err"
    status=$?
    if [ $status = "$want" ] && grep -q -e "$pattern" "$scratch/err"; then ok "$name"
    else fail "$name" "status $status: $(head -n 2 "$scratch/err" | tr '\n' '|')"; fi
}

refused no_operand 2 'PID'
refused no_process 1 'no process 999999999' 999999999
refused no_number 1 'no process nobody' nobody
refused wrong_rate 2 '1 to 1000' --rate 0 1
refused wrong_time 2 'seconds' --for now 1
refused own_process 1 'can.t be watched\|no process' 0

if [ "$(uname)" != Linux ]; then skip attach "needs Linux"; finish; fi
$CC -O1 -g -o "$scratch/plain" tests/attached.c -pthread 2>"$scratch/log" ||
    { fail build "$(head -n 1 "$scratch/log")"; finish; }
started plain quiet 300
if ! attached --for 2s && grep -q "can.t be watched" "$scratch/err"; then
    skip attach "$(head -n 1 "$scratch/err")"
    finish
fi
ended quiet 0

started plain login 300
attached_until "on_login $blocked" -o "$scratch/login.chroprof"
says login "on_login $blocked"
if "$command" check "$scratch/login.chroprof" >"$scratch/log" 2>&1; then ok profile
else fail profile "$(head -n 1 "$scratch/log")"; fi
if "$command" dump --format json "$scratch/login.chroprof" | grep -q '"estimated":true'; then
    ok estimated
else fail estimated "$("$command" dump --format json "$scratch/login.chroprof" | head -c 300)"; fi
for format in prometheus pprof text; do
    "$command" dump --format $format "$scratch/login.chroprof" >"$scratch/dumped" 2>"$scratch/log"
    if grep -aq 'all times are estimates' "$scratch/dumped"; then ok "estimated_$format"
    else fail "estimated_$format" "$(head -n 1 "$scratch/log")"; fi
done
if "$command" dump --format folded "$scratch/login.chroprof" >"$scratch/folded" 2>"$scratch/log" &&
    grep -q '(idle)' "$scratch/folded" && grep -q 'on_login' "$scratch/folded"; then ok idle
else fail idle "$(head -n 3 "$scratch/folded" | tr '\n' '|')"; fi
ended login 0

started plain hang 300
attached_until parse_header
says hang 'parse_header'
ended hang 0

started plain spin 300
attached_until 'spins: .*EPOLLHUP'
says spin 'spins: .*EPOLLHUP'
ended spin 0

# a loop that only looks, and sleeps in between, is idle there
started plain pump 300
attached --for 3s
idle=$(sed -n 's/^elapsed .* idle \([0-9]*\).*/\1/p' "$scratch/err" | head -n 1)
if [ "${idle:-0}" -ge 40 ]; then ok pump
elif is_starved; then skip pump "it waited for a processor for $queued_ms ms of $took_s s"
else fail pump "$(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
ended pump 0

# the other ways to spin
for spin in 'looks timeout of epoll_wait is 0' 'writable EPOLLOUT: it can be written' \
    'aside descriptor .*EPOLLOUT: it can be written'; do
    started plain "${spin%% *}" 300
    attached_until "spins: .*${spin#* }"
    says "spin_${spin%% *}" "spins: .*${spin#* }"
    ended "spin_${spin%% *}" 0
done

# a list of poll's that is the work itself
started plain crowd 300
crowd='computes in its own wait: each poll looks at 1010 descriptors'
attached_until "$crowd"
says crowd "$crowd"
ended crowd 0

# a stall of six waits is one, and a thread without a loop blocks none
started plain retry 300
attached --for 3s
kill $program
wait $program
program=
rounds=$(sed -n 's/^rounds //p' "$scratch/out")
stalls=$(sed -n 's/.*on_retry blocked the loop.*the longest of \([0-9]*\) stalls.*/\1/p' "$scratch/err")
if [ "${stalls:-0}" -le $((2 * ${rounds:-0} + 2)) ]; then ok many_waits
elif is_starved; then skip many_waits "it waited for a processor for $queued_ms ms of $took_s s"
else fail many_waits "$stalls stalls in $rounds rounds"; fi
if ! grep -q 'pause_often.*blocked the loop' "$scratch/err"; then ok no_loop
else fail no_loop "$(grep -m 1 pause_often "$scratch/err")"; fi

# what it does before its first wait is its start
started plain starts 300
"$command" attach --for 100s $program >"$scratch/said" 2>"$scratch/err" &
watcher=$!
begun $watcher
sleep 1
kill -USR1 $program
sleep 2
kill -INT $watcher
wait $watcher
if ! grep -q 'load_all.* blocked the loop' "$scratch/err"; then ok start
elif grep -q 'only begun' "$scratch/err"; then fail start "$(grep -m 1 load_all "$scratch/err")"
else skip start "it came late: $(grep -m 1 load_all "$scratch/err")"; fi
kill $program
wait $program
program=

# main only waits for the thread that has the loop; a loop that waits in recv
started plain joins 300
attached_until "on_login $blocked"
if grep '^•' "$scratch/err" | grep -q 'hangs'; then
    fail joins "$(grep -m 1 hangs "$scratch/err")"
else says joins "on_login $blocked"; fi
ended joins 0
# main hangs by itself, beside a thread that has the loop: or is that where it waits for work?
sleeps='sleeps in one call .*(recv): it hangs there, or waits there for work'
started plain hang_beside 300
for seconds in 3 8 20 60; do
    attached --for ${seconds}s
    ! grep -q "$sleeps" "$scratch/err" || break
done
if grep -q "$sleeps" "$scratch/err"; then ok hang_beside
elif is_starved; then skip hang_beside "it waited for a processor for $queued_ms ms of $took_s s"
else fail hang_beside "$(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
ended hang_beside 0
# a callback's recv is not the loop's wait, which hardly sleeps
started plain query 300
attached_until 'ask_database blocked the loop of .* waiting in recv'
says query 'ask_database blocked the loop of .* waiting in recv'
ended query 0
started plain datagrams 300
attached_until 'answer blocked the loop of'
says datagrams 'answer blocked the loop of'
ended datagrams 0

# a static program without names: its file and the place in it
if $CC -O1 -static -o "$scratch/static" tests/attached.c -pthread 2>"$scratch/log" &&
    strip "$scratch/static" 2>>"$scratch/log"; then
    started static login 300
    attached_until "static+0x[0-9a-f]* $blocked"
    says static "static+0x[0-9a-f]* $blocked"
    ended static 0
else skip static "$(head -n 1 "$scratch/log")"; fi

# chroprof run of a static program
if [ -x "$scratch/static" ]; then
    for seconds in 3 8 20 60; do            # as attached_until does
        "$command" run --stall 50 -o "$scratch/run.chroprof" "$scratch/static" login $seconds \
            >"$scratch/said" 2>"$scratch/err"
        status=$?
        ! said_first "static+0x[0-9a-f]* $blocked" || break
    done
    if [ $status = 7 ] && grep -q '^errors 0' "$scratch/said"; then ok run_static; else
        fail run_static "status $status, $(tail -n 1 "$scratch/said")"; fi
    says run_static_cause "static+0x[0-9a-f]* $blocked"
    if "$command" check "$scratch/run.chroprof" >"$scratch/log" 2>&1; then ok run_static_profile
    else fail run_static_profile "$(head -n 1 "$scratch/log")"; fi
fi

# other subcommands attach as well
started plain login 300
for length in 0.5 2 8; do                   # a login takes 0.45 s, on a busy machine longer
    "$command" top --attach -n 2 -d $length -w 120 $program >"$scratch/said" 2>"$scratch/err"
    add_cuts
    ! grep -q '^on_login .*%' "$scratch/said" || break
done
if grep -q '^on_login .*%' "$scratch/said" && grep -q 'estimates' "$scratch/said"; then ok top
else fail top "$(head -n 3 "$scratch/err" | tr '\n' '|') $(tail -n 5 "$scratch/said" | tr '\n' '|')"
fi
"$command" top -n 1 $program >"$scratch/said" 2>"$scratch/err"
if grep -q 'no profile; .*--attach' "$scratch/err"; then ok top_offers
else fail top_offers "$(head -n 2 "$scratch/err")"; fi
for length in 1s 5s 20s; do
    "$command" report $program --attach --for $length -o "$scratch/page" >"$scratch/said" 2>"$scratch/err"
    add_cuts
    ! grep -q 'on_login' "$scratch/page" || break
done
if grep -q 'on_login' "$scratch/page"; then ok report
else fail report "$(head -n 2 "$scratch/err" | tr '\n' '|')"; fi
ended others 0

# one that has a profile is not watched but read
"$command" run "$scratch/plain" quiet 300 >"$scratch/out" 2>"$scratch/log" &
program=$!
until "$command" check $program >"$scratch/said" 2>&1; do kill -0 $program || break; done
"$command" attach -o "$scratch/copy" $program >"$scratch/said" 2>"$scratch/err"
if grep -q 'has a profile' "$scratch/err" && "$command" check "$scratch/copy" >"$scratch/said"; then
    ok profile_read
else fail profile_read "$(head -n 3 "$scratch/err" | tr '\n' '|')"; fi
kill $program
wait $program
program=

# signals and children while it is watched: each is taken once. A signal may cut the wait short, so
# its errors are not more than the signals.
started plain forks 300
attached --for 5s --rate 500 &
watcher=$!
sent=0
while kill -0 $watcher 2>/dev/null && [ $sent -lt 20 ]; do
    kill -USR1 $program && sent=$((sent + 1))
    sleep 0.1
done
wait $watcher
kill $program
wait $program
status=$?
set -- $(tail -n 1 "$scratch/out")
if [ $status = 7 ] && [ "$4" -le $sent ] && [ "$4" -ge 1 ] && [ "$2" -le "$4" ]; then ok signals
else fail signals "status $status, sent $sent, $(tail -n 1 "$scratch/out")"; fi
program=

# the observer is killed at any moment, and at the end by Ctrl-C: the program goes on. A stop that was
# under way may have cut a wait short, which is the one error that it can see: at most one a kill. How
# many kills meet a stop is up to the machine.
started plain login 3000
for moment in $(awk -v seed="${SEED:-$$}" -v kills="${KILLS:-20}" 'BEGIN { srand(seed)
        for (i = 0; i < kills; i++) printf "%.3f\n", 0.25 * rand() }'); do
    "$command" attach --rate 1000 $program >"$scratch/said" 2>&1 &
    watcher=$!
    sleep "$moment"
    kill -9 $watcher
    wait $watcher 2>/dev/null
done
for seconds in 1 5 20; do               # until it has been looked at
    attached --for ${seconds}s
    ! grep -q '^•' "$scratch/err" || break
done
if grep -q '^•' "$scratch/err"; then ok killed_and_again
else fail killed_and_again "$(head -n 1 "$scratch/err")"; fi
kill $program
wait $program
status=$?
cut=$(sed -n 's/^errors \([0-9]*\) signals 0$/\1/p' "$scratch/out")
echo "waits cut short by ${KILLS:-20} kills: ${cut:-not known}"
if [ $status = 7 ] && [ "${cut:-10000}" -le "${KILLS:-20}" ]; then ok killed
else fail killed "status $status, errors ${cut:-not known}"; fi
program=

# a loop that waits at a condition, as Tcl's does, and one that waits for datagrams: neither hangs
if $CC -O2 -shared -fPIC -DNOTIFIER -o "$scratch/libnotifier.so" tests/run_plugins.c -pthread 2>"$scratch/log" &&
    $CC -O2 -g -o "$scratch/plugins" tests/run_plugins.c -L"$scratch" -lnotifier -Wl,-rpath,"$scratch" -ldl \
        2>"$scratch/log"; then
    started plugins condition 300
    attached_until on_slow_timer        # on a quiet machine it occupies the loop, and seldom blocks it
    if grep -q '^• .*waiting in futex' "$scratch/err"; then
        fail condition "$(grep -m 1 futex "$scratch/err")"
    else says condition on_slow_timer; fi
    kill $program
    wait $program
    started plugins made 300            # a call of code that the program has made is in on_slow_timer
    attached_until 'on_slow_timer blocked the loop of .*in match_pattern'
    says made_code 'on_slow_timer blocked the loop of .*in match_pattern'
    kill $program
    wait $program
    started plugins datagram 300
    attached --for 2s
    if grep -q 'hangs\|sleeps in one call\|blocked the loop' "$scratch/err"; then
        fail awaits_datagram "$(head -n 1 "$scratch/err")"
    else ok awaits_datagram; fi
    kill $program
    wait $program
    program=
else fail plugins_build "$(head -n 1 "$scratch/log")"; fi

# a wait that has a time is not begun anew: stopped late in it, it would last for nearly two of them
if $CC -O1 -g -o "$scratch/waits" tests/attached_wait.c 2>"$scratch/log"; then
    for try in 1 2 3 4 5 6 7 8; do  # begun anew each is too long; a busy machine makes some late
        started waits quiet 300
        for i in 1 2 3 4; do
            sleep 0.4
            attached --for 300ms --rate 500
        done
        kill $program
        wait $program
        program=
        longest=$(sed -n 's/^longest //p' "$scratch/out")
        [ "${longest:-9999}" -ge 3000 ] || break
    done
    if [ "${longest:-9999}" -lt 3000 ]; then ok waits_once
    else fail waits_once "longest wait ${longest:-not known} ms of 1500"; fi
else fail waits_build "$(head -n 1 "$scratch/log")"; fi

# threads that come and go
started plain threads 300
attached --for 2s --rate 500
ended threads 0

# it becomes another program, when it is told to: what was seen until then is told, and that
for length in 0.3 1 4 15; do                # until it has been looked at, which a busy machine puts off
    started plain becomes 300
    "$command" attach --for 100s $program >"$scratch/said" 2>"$scratch/err" &
    watcher=$!
    begun $watcher
    sleep $length
    kill -USR1 $program
    wait $watcher
    ! grep -q 'before it could be looked at' "$scratch/err" || { kill $program; wait $program; continue; }
    break
done
if grep -q 'has become another program' "$scratch/err"; then ok becomes
else fail becomes "$(tail -n 2 "$scratch/err" | tr '\n' '|')"; fi
until [ "$(grep -c ready "$scratch/out")" = 2 ]; do kill -0 $program || break; done
add_cuts
ended becomes 0

# only one observer
started plain quiet 300
"$command" attach $program >"$scratch/said" 2>"$scratch/err" &
watcher=$!
begun $watcher
"$command" attach --for 1s $program >"$scratch/said" 2>"$scratch/log"
if grep -q 'another chroprof attach' "$scratch/log"; then ok second     # in a stop it traces
else fail second "$(head -n 1 "$scratch/log")"; fi
kill $program
wait $watcher
add_cuts
ended second 0

# another tracer
if command -v strace >/dev/null 2>&1; then
    started plain quiet 300
    strace -o "$scratch/traced" -p $program 2>"$scratch/log" &
    watcher=$!
    until grep -q '^TracerPid:.*[1-9]' /proc/$program/status; do kill -0 $watcher 2>/dev/null || break; done
    attached --for 1s
    if ! kill -0 $watcher 2>/dev/null; then skip tracer "$(head -n 1 "$scratch/log")"
    elif grep -q "process $watcher traces it (gdb, strace" "$scratch/err"; then ok tracer
    else fail tracer "$(head -n 1 "$scratch/err")"; fi
    kill $watcher 2>/dev/null
    wait $watcher 2>/dev/null
    kill $program                       # its waits were cut short by that one
    wait $program
    program=
else skip tracer "no strace"; fi

# another user
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 &&
    setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$command"; then
    started plain quiet 300
    setpriv --reuid 65534 --regid 65534 --clear-groups "$command" attach --for 1s $program \
        >"$scratch/said" 2>"$scratch/err"
    if grep -q "can.t be watched: .* root" "$scratch/err"; then ok other_user
    else fail other_user "$(head -n 1 "$scratch/err")"; fi
    ended other_user 0
else
    skip other_user "needs root, setpriv, and a folder that others may read"
fi

# in namespaces of its own, as in a container
if unshare --pid --mount --fork --kill-child true 2>"$scratch/log"; then
    : >"$scratch/out"
    unshare --pid --mount --fork --kill-child "$scratch/plain" login 300 >"$scratch/out" &
    outer=$!
    until grep -q ready "$scratch/out"; do kill -0 $outer 2>/dev/null || break; done
    program=$(cat /proc/$outer/task/$outer/children)
    attached_until "on_login $blocked"
    says container "on_login $blocked"
    kill $program
    wait $outer
    program=
else skip container "$(head -n 1 "$scratch/log")"; fi

# a stopped program stays stopped, and goes on when it is told to
started plain quiet 300
kill -STOP $program
until grep -q '^State:.*T' /proc/$program/status; do :; done
attached --for 300ms
if grep -q '^State:.*T' /proc/$program/status; then ok stopped
else fail stopped "$(grep State /proc/$program/status)"; fi
kill -CONT $program
# SIGSTOP itself ends an epoll_wait with EINTR, watched or not; more than that one is from the observer
kill $program
wait $program
status=$?
program=
if [ $status = 7 ] && grep -q '^errors [01] signals 0$' "$scratch/out"; then ok stopped_unharmed
else fail stopped_unharmed "status $status, $(tail -n 1 "$scratch/out")"; fi

# it has ended, and its parent, a sleep, does not ask how: /proc still lists it
sh -c '"$1" quiet 2 >/dev/null & echo $! >"$2"; exec sleep 600' sh "$scratch/plain" "$scratch/zombie" &
careless=$!
until [ -s "$scratch/zombie" ]; do kill -0 $careless || break; done
timeout 100 "$command" attach "$(cat "$scratch/zombie")" >"$scratch/said" 2>"$scratch/err"
if [ $? != 124 ]; then ok ends_with_a_zombie; else fail ends_with_a_zombie "goes on"; fi
kill $careless

# only one can trace
started plain quiet 300
if command -v gdb >/dev/null 2>&1; then
    gdb -q -batch -ex "shell $command attach $program; true" -p $program >"$scratch/gdb" 2>&1 </dev/null
    if grep -q 'traces it' "$scratch/gdb"; then ok traced
    else fail traced "$(tail -n 2 "$scratch/gdb" | tr '\n' '|')"; fi
else
    skip traced "needs gdb"
fi
kill $program
wait $program
program=
finish
