#!/bin/sh
# chroprof run: which waits are the loop's idle, and which are a callback that is blocked.
#   sh tests/run_waits.sh [COMMAND]        default build/chroprof; chroprof_run.so lies beside it
# The programs print how long they waited at least, as a loop and inside callbacks: idle and the
# tasks must have as much. Neither can be more on a quick machine, nor less on a busy one.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
TMPDIR=$scratch COLUMNS=200
export TMPDIR COLUMNS
# built NAME ARGUMENTS...
built() {
    out=$1
    shift
    $CC -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$scratch/$out" \
        tests/run_waits.c -pthread "$@" 2>"$scratch/log" ||
        { skip "$out" "$(head -n 1 "$scratch/log")"; return 1; }
}

# ms PATTERN: milliseconds of the lines of the folded profile that have this
ms() { awk -v task="$1" '{ us = $NF; sub(/ [0-9]+$/, "")
           if (index($0, task)) sum += us } END { printf "%d\n", sum / 1000 }' "$scratch/folded"; }
knew() { sed -n "s/^$1 //p" "$scratch/out"; }

# run_it PROGRAM WHAT
run_it() {
    ran="$1 $2"
    rm -f "$scratch/kept"
    timeout 100 "$command" run -o "$scratch/kept" "$scratch/$1" "$2" >"$scratch/out" \
        2>"$scratch/err" </dev/null
}

# waited PROGRAM WHAT [TASK]: idle is at least what the program knows, and so is the task's time.
waited() {
    run_it "$1" "$2"
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log" ||
        { fail "$1_$2" "$(head -n 3 "$scratch/err" | tr '\n' ' ')"; return; }
    task=${3:-code after }
    idle=$(ms '(idle)') busy=$(ms "$task")
    if [ "$idle" -ge "$(knew idle)" ]; then ok "$1_$2_idle"; else
        fail "$1_$2_idle" "$idle of $(knew idle) ms: $(tr '\n' '|' <"$scratch/folded")"; fi
    if [ "$busy" -ge "$(knew blocked)" ]; then ok "$1_$2_blocked"; else
        fail "$1_$2_blocked" "$busy of $(knew blocked) ms: $(tr '\n' '|' <"$scratch/folded")"; fi
    possible "$1_$2_clocks"
}

# possible CHECK: nowhere is the loop said to be idle for longer than its CPU time leaves
possible() {
    "$command" dump --format text "$scratch/kept" >"$scratch/text" 2>"$scratch/log"
    said=$(sed -n -e 's/.* idle <0\.1%.*/0/p' -e 's/.* idle \([0-9.]*\)%.*/\1/p' "$scratch/text" |
        head -n 1)
    if awk -v elapsed="$(total elapsed_ns)" -v cpu="$(total cpu_clock_ns)" -v said="${said:-101}" \
        -v asleep="$(total asleep_ns)" 'BEGIN { most = elapsed - cpu
            exit !(cpu > 0 && asleep <= most && said / 100 <= most / elapsed + 0.0006) }'
    then ok "$1"; else
        fail "$1" "idle $said%, $(total asleep_ns) of $(total elapsed_ns) ns, CPU $(total cpu_clock_ns)"
    fi
}

# total NAME: of the last program
total() { "$command" dump --format json "$scratch/kept" 2>"$scratch/log" |
    sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | head -n 1; }

# total_ms CHECK NAME LEAST [BELOW]: so many milliseconds of it. A busy machine may hold the program up
# right there, and so make it more: it runs again.
total_ms() {
    for again in 1 2 3 4 5; do
        had=$(($(total "$2") / 1000000))
        [ "$had" -ge "${4:-1000000}" ] || break
        # shellcheck disable=SC2086       # two words
        run_it $ran
    done
    if [ "$had" -ge "$3" ] && [ "$had" -lt "${4:-1000000}" ]; then ok "$1"; else
        fail "$1" "$had ms of $2 ($3 to ${4:-any})"; fi
}

# is_slow: spins are known by 5,000 waits a second, of at most 10 us each; a machine that makes twice as
# many has room, and one that uses half of that for each
is_slow() { [ $(($(knew waits) / ($(knew seconds) + 1))) -lt 10000 ] || [ "$(knew each)" -gt 5000 ]; }

# named CHECK PATTERN: the report says so
named() {
    for again in 1 2 3 4; do
        ! tr -s '\n ' ' ' <"$scratch/err" | grep -q "$2" || break
        # shellcheck disable=SC2086       # two words
        run_it $ran
    done
    if tr -s '\n ' ' ' <"$scratch/err" | grep -q "$2"; then ok "$1"; else
        fail "$1" "$(grep -m 1 -A 2 -e '^. ' "$scratch/err" | tr '\n' ' ')"; fi
}

if [ "$(uname)" != Linux ]; then
    skip run_waits "needs Linux"
else
    if built plain; then
        for what in worker polls selects handler script startup same resolver moves clients jumps pump \
            pool; do
            waited plain $what
        done
        if grep -q 'loop 1 of' "$scratch/err"; then
            fail plain_pool_alone "$(grep 'loop . of' "$scratch/err" | tr '\n' ' ')"
        else ok plain_pool_alone; fi
    fi
    if built plain; then
        # what comes after the last wait is exit, and no callback
        for what in ends late; do
            waited plain $what
            total_ms plain_${what}_start start_ns 200
            total_ms plain_${what}_exit exit_ns 400
            total_ms plain_${what}_callback callback_max_ns 0 400
        done
        waited plain first
        total_ms plain_first_callback callback_max_ns 400
        if grep -q 'waits in' "$scratch/err"; then fail plain_first_waits "it worked"; else
            ok plain_first_waits; fi
        waited plain worker
        named plain_worker_named 'serve waits in poll'
        waited plain handler
        named plain_handler_named 'on_cursor waits in poll'
        waited plain slices
        named plain_slices_named 'on_query waits in poll'
        waited plain jobs
        if grep -q 'code after pthread_cond_wait' "$scratch/folded" &&
            ! grep -q 'waits for another thread' "$scratch/err"; then ok plain_jobs_rest
        else fail plain_jobs_rest "$(tr '\n' '|' <"$scratch/folded") $(grep -e '^. ' "$scratch/err")"; fi
        waited plain shared
        if grep -q ' waits in ' "$scratch/err"; then
            fail plain_shared_rests "$(grep -m 1 -A 2 -e '^. ' "$scratch/err" | tr '\n' ' ')"
        else ok plain_shared_rests; fi
        for what in asks awaits drains queries; do
            waited plain $what
        done
        # a C library that finds the oldest version of a function
        oldest="env LD_PRELOAD=$scratch/oldest.so timeout 60"
        if [ "$(uname -m)" = x86_64 ] &&
            $CC -O2 -fPIC -shared -o "$scratch/oldest.so" tests/run_oldest.c -ldl 2>"$scratch/log" &&
            $oldest "$scratch/plain" jobs >"$scratch/log" 2>&1; then
            if $oldest "$command" run "$scratch/plain" jobs >"$scratch/out" 2>"$scratch/err" </dev/null
            then ok plain_oldest; else fail plain_oldest "$(head -n 2 "$scratch/err")"; fi
        else skip plain_oldest "$(head -n 1 "$scratch/log")"; fi
        # what tasks wait for off their processor is seen from outside
        if ! cat /proc/self/syscall >"$scratch/log" 2>&1; then
            skip plain_off_cpu "the system does not tell what threads wait for"
        else
            for call in locks:futex stops:stopped reads:read; do
                waited plain ${call%:*}
                if "$command" dump --format json "$scratch/kept" 2>"$scratch/log" |
                    grep -q "\"call\":\"${call#*:}\".*\"estimated\":true"; then
                    ok plain_${call%:*}_seen
                else fail plain_${call%:*}_seen "$(sed -n '/^. /,/^[^ ]/p' "$scratch/err" | head -n 3)"; fi
            done
        fi
        # whose wait it is, by the stack, which is read from outside
        if ! grep -q CHROPROF_LIBDW "$(dirname "$command")/flags/LIBDW" 2>"$scratch/log" ||
            [ "$(uname -m)" != x86_64 ] || ! cat /proc/self/syscall >"$scratch/log" 2>&1; then
            skip plain_reader "needs libdw, and a system that tells what threads wait for"
        else
            for try in 1 2 3 4 5 6; do
                waited plain reader
                ! tr -s '\n ' ' ' <"$scratch/err" | grep -q 'on_reader > read_slowly waits in read' ||
                    break
            done
            named plain_reader_named 'stall at [0-9.a-z]*: on_reader > read_slowly waits in read'
            named plain_reader_finding 'on_reader > read_slowly waits in read, for about [0-9.]* m*s in all'
            for try in 1 2 3 4 5; do
                waited plain sleepers
                ! tr -s '\n ' ' ' <"$scratch/err" | grep -q ': on_long waits in [a-z_]*nanosleep' ||
                    break
            done
            named plain_sleepers_named ': on_long waits in [a-z_]*nanosleep'
            if grep -q 'on_short waits' "$scratch/err"; then
                fail plain_sleepers_other "$(grep 'on_short waits' "$scratch/err")"
            else ok plain_sleepers_other; fi
        fi
        # who has the lock, by the lock itself, as glibc keeps it; where, by its samples or its stack
        if ! grep -q CHROPROF_LIBDW "$(dirname "$command")/flags/LIBDW" 2>"$scratch/log" ||
            [ "$(uname -m)" != x86_64 ] || ! cat /proc/self/syscall >"$scratch/log" 2>&1 ||
            ! getconf GNU_LIBC_VERSION >"$scratch/log" 2>&1; then
            skip plain_holders "needs glibc, libdw, and a system that tells what threads wait for"
        else
            waited plain holders
            named plain_holders_sampled \
                'waited for a lock that thread packer ([0-9]*) held in .* mostly in compress_block (run_'
            waited plain locks
            named plain_holders_asleep 'held in [0-9]* of [0-9]* looks, mostly asleep in hold\.'
            waited plain jobs
            if grep -q 'waited for a lock' "$scratch/err"; then
                fail plain_holders_none "$(grep -m 1 -A 1 'waited for a lock' "$scratch/err")"
            else ok plain_holders_none; fi
        fi
        # what its own process does not see: calls that the C library makes, and one without end
        if ! cat /proc/self/syscall >"$scratch/log" 2>&1; then
            skip plain_unseen "the system does not tell what threads wait for"
        else
            waited plain joins
            if grep -q 'waits for another thread' "$scratch/err"; then
                fail plain_joins_at_exit "$(grep -B 2 -m 1 'another thread' "$scratch/err" | tr '\n' ' ')"
            else ok plain_joins_at_exit; fi
            waited plain inside
            named plain_inside_named 'waits in ppoll'
            waited plain lookup
            if [ "$(knew lookup)" -ge 800 ] 2>"$scratch/log"; then
                named plain_lookup_named 'waits in getaddrinfo'
            else skip plain_lookup_named "names are looked up elsewhere"; fi
            timeout 100 "$command" run "$scratch/plain" hang >"$scratch/out" 2>"$scratch/err" </dev/null
            named plain_hang_named 'For about [0-9.]* s of it, it waits in read'
        fi
        waited plain spin
        if is_slow; then
            skip plain_spin "this machine is too slow"
        else named plain_spin 'The loop spins'; fi
        waited plain no_files
        if is_slow; then
            skip plain_no_files "this machine is too slow"
        else
            named plain_no_files 'a listening socket, port [0-9]*: EPOLLIN; accept fails: EMFILE'
            if grep -q 'waits in accept' "$scratch/err"; then
                fail plain_no_files_no_wait "$(grep -A 2 'waits in accept' "$scratch/err")"
            else ok plain_no_files_no_wait; fi
        fi
        waited plain once
        told=$(tr -s '\n ' ' ' <"$scratch/err" |
            sed -n 's/.*1 thread waited once and then worked, .* longest, for \([0-9]*\) ms.*/\1/p')
        if [ "${told:-0}" -ge 300 ]; then ok plain_once_told; else
            fail plain_once_told "${told:-nothing}: $(head -n 3 "$scratch/err" | tr '\n' ' ')"; fi
        waited plain busy
        if grep -q 'The loop spins' "$scratch/err"; then
            fail plain_busy_works "$(grep -m 1 -A 2 -e '^. ' "$scratch/err" | tr '\n' ' ')"
        else ok plain_busy_works; fi
    fi
    if built uv -DWITH_UV -luv; then
        waited uv login ';on_login'
        named uv_login_named 'on_login (run_waits.c:[0-9]*) waits in poll for'
        waited uv inner
        waited uv turns
        waited uv last ';on_last'
        waited uv after ';on_login'
        total_ms uv_after_exit exit_ns 400
        total_ms uv_after_callback callback_max_ns 0 400
    fi
    if built event -DWITH_EVENT -levent; then
        waited event alone ';on_alone'
        named event_alone_named 'on_alone (run_waits.c:[0-9]*) waits in [a-z_2]* for'
        waited event inner
    fi
    if built glib -DWITH_GLIB $(pkg-config --libs glib-2.0 2>/dev/null || echo -lglib-2.0); then
        waited glib click
        waited glib draw ';on_draw'
    fi
fi
finish
