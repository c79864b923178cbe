#!/bin/sh
# chroprof run: is the first line about the function that a person can act on?
#   sh tests/run_names.sh [COMMAND]        default build/chroprof; chroprof_run.so lies beside it
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac

if [ "$(uname)" != Linux ]; then
    skip run_names "needs Linux"
    finish
fi
TMPDIR=$scratch
export TMPDIR

# starved: the kernel gave the sampler less than half of its ticks, as the report says
starved() {
    grep -a '^SAMPLES ' "$scratch/err" | tr -d , |
        awk '{ came += $2; lost += $3 } END { exit lost <= came }'
}

# profiled PROGRAM...: the report, at 80 columns, and its first finding as one line in $first;
# tried again where the kernel gave too few samples
profiled() {
    words=$*
    for try in 1 2 3; do
        COLUMNS=80 "$command" run "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
        starved || break
    done
    first=$(awk '/^• / { if (seen++) exit } seen && !/^• |^  / { exit } seen' "$scratch/err" |
        tr -s '\n ' ' ')
}

# says NAME PATTERN: the first finding has it. A machine may hold up the program elsewhere for longer
# than the callback takes, and then it says that first: the program runs again.
says() {
    for again in 1 2 3 4; do
        # shellcheck disable=SC2254       # a pattern
        case $first in $2) break ;; esac
        # shellcheck disable=SC2086       # several words
        profiled $words
    done
    # shellcheck disable=SC2254
    case $first in $2) ok "$1" ;;
    *) if starved; then skip "$1" "the kernel gave too few samples"; else
        fail "$1" "$first"; fi ;;
    esac
}

# holds COMMAND...: it succeeds about the last run, or about one of four more, for the same reason
holds() {
    for again in 1 2 3 4; do
        ! "$@" || return 0
        # shellcheck disable=SC2086
        profiled $words
    done
    "$@"
}

# said PATTERN: the whole report has it, its spaces one each
said() { tr -s ' \n' ' ' <"$scratch/err" | grep -q "$1"; }

names=$scratch/names
if ! $CC -O2 -g -o "$names" tests/run_names.c 2>"$scratch/log"; then
    fail build "$(head -n 1 "$scratch/log")"
    finish
fi

profiled "$names" inlined
says inlined "*in handle_mail run_names.c:[0-9]*"
for deep in deep shallow deeper; do
    profiled "$names" $deep
    says $deep "*in descend_tree run_names.c:[0-9]*"
done
profiled "$names" hang
says hang "*hangs since *in parse_forever run_names.c:[0-9]*"
if holds said "of CPU time: its samples show the line"; then ok hang_cpu; else
    fail hang_cpu "$(grep -A 2 "has been inside" "$scratch/err" | tr '\n' ' ')"; fi
# while it hangs, a command to copy; it hangs until that is there
"$command" run "$names" hang 600 >"$scratch/out" 2>"$scratch/err" &
runs=$!
told=""
while kill -0 $runs 2>/dev/null && [ -z "$told" ]; do
    child=$(cat "$scratch/out")
    told=$("$command" dump "${child:-0}" 2>&1 | grep "gdb -p $child -batch -ex bt")
    sleep 0.1
done
kill -KILL "$child"
wait $runs
if [ -n "$told" ]; then ok hang_alive; else fail hang_alive "no command to copy"; fi
profiled "$names" sleepy
says sleepy "*sleep_and_parse*"
# samples of CPU time tell nothing of most of its time
not_by_little() { ! said 'mostly in [a-z_]*[^,]*, occupies'; }
if holds not_by_little; then ok sleepy_by_little; else
    fail sleepy_by_little "$(grep -A 1 'mostly in' "$scratch/err" | tr '\n' ' ')"; fi
profiled "$names" phases
says phases "*in run_phases run_names.c:[0-9]*"
profiled "$names" twofold
says twofold "*in read_mails run_names.c:[0-9]*; 2 more such stalls)*"
second() {
    grep -aq -e '^• .* in write_index\( \|$\)' -e '^ *in write_index ' "$scratch/err"
}
if holds second; then ok twofold_second; else
    fail twofold_second "$(grep -a -A 2 '^• ' "$scratch/err" | tr '\n' ' ')"; fi

# a stripped file has the places of its functions
if cp "$names" "$scratch/bare" && strip "$scratch/bare" 2>"$scratch/log" &&
    place=$(nm "$names" | sed -n 's/^0*\([0-9a-f]*\) t run_phases$/\1/p') && [ -n "$place" ]; then
    profiled "$scratch/bare" phases
    says stripped "*in bare+0x$place *"
else skip stripped "$(head -n 1 "$scratch/log")"; fi

# of a stripped file that gives some of its functions to others, one of these
cat >"$scratch/gives.c" <<'C'
#include <poll.h>
#include <time.h>
static volatile unsigned long sum;
static __attribute__((noinline)) void inner(void)
{
    for (int i = 0; i < 20000; i++)
        sum += (unsigned long)i;
    __asm__ volatile("");
}
__attribute__((noinline)) void parse_document(void)
{
    struct timespec t;
    do {
        inner();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec == 0 && t.tv_nsec < 500000000);
}
static __attribute__((noinline)) void on_request(void)
{
    parse_document();
    __asm__ volatile("");
}
int main(void)
{
    for (int i = 0; i < 6; i++) {
        poll(0, 0, 5);
        if (i == 3)
            on_request();
    }
    return 0;
}
C
if $CC -O1 -rdynamic -o "$scratch/gives" "$scratch/gives.c" && strip "$scratch/gives"; then
    profiled -o "$scratch/kept" "$scratch/gives"
    says names_before_places "*in parse_document*"
    "$command" dump "$scratch/kept" >"$scratch/err" 2>"$scratch/log"
    if head -n 3 "$scratch/err" | tr -s '\n ' ' ' | grep -q '^• .* in parse_document'; then ok dump_begins_with_them; else
        fail dump_begins_with_them "$(head -n 2 "$scratch/err" | tr '\n' ' ')"; fi
else skip names_before_places "strip failed"; fi

profiled "$names" forks
if grep -q "forked 2 processes that wait as loops do: --children" "$scratch/err"; then ok forks
else fail forks "$(head -n 1 "$scratch/err")"; fi
profiled --children "$names" forks
if grep -q "as loops do" "$scratch/err"; then fail forks_watched "asks for --children"; else
    ok forks_watched; fi

# a wait of a callback comes before what was computed in the same stall
cat >"$scratch/login.c" <<'C'
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
static volatile unsigned long sum;
static int logins, ends[2];
static void on_login(uv_timer_t *timer)
{
    struct pollfd answer = { ends[0], POLLIN, 0 };
    poll(&answer, 1, 1000);
    if (++logins == 3)
        uv_stop(timer->loop);
}
static void on_render(uv_timer_t *timer)
{
    struct timespec t, begin;
    (void)timer;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 20000; i++)
            sum += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((t.tv_sec - begin.tv_sec) * 1000000000 + t.tv_nsec - begin.tv_nsec < 40000000);
}
int main(void)
{
    uv_timer_t login, render;
    uv_loop_t *loop = uv_default_loop();
    if (pipe(ends) != 0)
        return 1;
    uv_timer_init(loop, &login);
    uv_timer_init(loop, &render);
    uv_timer_start(&login, on_login, 20, 20);
    uv_timer_start(&render, on_render, 5, 100);
    return uv_run(loop, UV_RUN_DEFAULT);
}
C
if $CC -O1 -g -o "$scratch/login" "$scratch/login.c" -luv 2>"$scratch/log"; then
    profiled "$scratch/login"
    # on a busy machine on_render can have a longer stall, which is told before
    if holds said 'stall at .*: on_login waits in poll login\.c:'; then ok waits_first; else
        fail waits_first "$first"; fi
else skip waits_first "$(head -n 1 "$scratch/log")"; fi

# what began before the first wait is known, and in a forked child what it registers before its own
cat >"$scratch/jobs.c" <<'C'
#include <unistd.h>
#include <uv.h>
static void resize(uv_work_t *work) { (void)work; usleep(1000); }
static void on_resized(uv_work_t *work, int status) { (void)work; (void)status; }
int main(void)
{
    static uv_work_t jobs[40];
    for (int i = 0; i < 40; i++)
        uv_queue_work(uv_default_loop(), &jobs[i], resize, on_resized);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
C
cat >"$scratch/worker.c" <<'C'
#include <event2/event.h>
#include <sys/wait.h>
#include <unistd.h>
static int uploads;
static void on_upload(evutil_socket_t file, short what, void *base)
{
    (void)file; (void)what;
    if (++uploads == 5)
        event_base_loopbreak(base);
}
int main(void)
{
    if (fork() == 0) {
        struct event_base *base = event_base_new();
        struct timeval time = { 0, 10000 };
        event_add(event_new(base, -1, EV_PERSIST, on_upload, base), &time);
        _exit(event_base_dispatch(base) < 0);
    }
    return wait(NULL) < 0;
}
C
cat >"$scratch/child.c" <<'C'
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    char byte;
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        for (int i = 0; i < 5; i++)
            poll(0, 0, 5);
        _exit(read(ends[0], &byte, 1) == 1);
    }
    sleep(2);
    kill(child, SIGKILL);
    return wait(0) < 0;
}
C
if cat /proc/self/syscall >"$scratch/log" 2>&1 && $CC -O1 -g -o "$scratch/child" "$scratch/child.c"; then
    profiled --children "$scratch/child"
    if holds said 'has been inside .* it waits in read'; then ok hung_child
    else fail hung_child "$first"; fi
else skip hung_child "the system does not tell what threads wait for"; fi
if $CC -O1 -g -o "$scratch/jobs" "$scratch/jobs.c" -luv 2>"$scratch/log"; then
    profiled "$scratch/jobs"
    if grep -Eq '^on_resized .* 40( +[^ ]+){3}$' "$scratch/err"; then ok early_futures; else
        fail early_futures "$(grep -A 2 '^LATENCY' "$scratch/err" | tr '\n' ' ')"; fi
else skip early_futures "$(head -n 1 "$scratch/log")"; fi
if $CC -O1 -g -o "$scratch/worker" "$scratch/worker.c" -levent 2>"$scratch/log"; then
    profiled --children "$scratch/worker"
    if grep -q '^on_upload ' "$scratch/err"; then ok named_in_a_child; else
        fail named_in_a_child "$(grep -A 3 '^SITES' "$scratch/err" | tr '\n' ' ')"; fi
else skip named_in_a_child "$(head -n 1 "$scratch/log")"; fi

# more libraries than the table of modules has rows: the last one holds the loop
most=70 libraries="" calls=""
cat >"$scratch/library.c" <<'C'
#include <time.h>
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)
static volatile unsigned long sum;
int NAME(keep_, N)(void) { return N; }
void NAME(hold_, N)(void)
{
    struct timespec t;
    do {
        for (int i = 0; i < 20000; i++)
            sum += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec == 0 && t.tv_nsec < 400000000);
}
C
for i in $(seq $most); do
    $CC -O1 -g -shared -fPIC -DN="$i" -o "$scratch/libof$i.so" "$scratch/library.c"
    libraries="$libraries -lof$i" calls="$calls keep_$i();"
done
cat >"$scratch/many.c" <<C
#include <poll.h>
void hold_$most(void);
int main(void)
{
    $calls
    for (int i = 0; i < 3; i++)
        poll(0, 0, 5);
    hold_$most();
    for (int i = 0; i < 3; i++)
        poll(0, 0, 5);
    return 0;
}
C
# shellcheck disable=SC2086
if $CC -w -O1 -g -o "$scratch/many" "$scratch/many.c" -L"$scratch" $libraries \
    -Wl,-rpath,"$scratch" 2>"$scratch/log"; then
    profiled "$scratch/many"
    says many_libraries "*in hold_$most library.c:[0-9]*"
else skip many_libraries "$(head -n 1 "$scratch/log")"; fi

# a plugin that the program loads before its first wait: in its first stall, who called it; a loop
# that waits at a condition, as Tcl's does; and code that the program has made
if $CC -O2 -shared -fPIC -DPLUGIN -o "$scratch/plugin.so" tests/run_plugins.c 2>"$scratch/log" &&
    $CC -O2 -shared -fPIC -DNOTIFIER -o "$scratch/libnotifier.so" tests/run_plugins.c -pthread 2>"$scratch/log" &&
    $CC -O2 -g -o "$scratch/plugins" tests/run_plugins.c -L"$scratch" -lnotifier -Wl,-rpath,"$scratch" -ldl \
        2>"$scratch/log"; then
    profiled "$scratch/plugins" plugin "$scratch/plugin.so"
    says first_stall "*in on_slow_timer run_plugins.c:[0-9]*"
    profiled "$scratch/plugins" condition
    says condition "*in on_slow_timer run_plugins.c:[0-9]*"
    not_a_lock() { ! said "off CPU (a lock)"; }
    if holds not_a_lock; then ok condition_is_idle; else fail condition_is_idle "$first"; fi
    profiled "$scratch/plugins" made
    says made_code "*in on_slow_timer run_plugins.c:[0-9]*"
else skip plugins "$(head -n 1 "$scratch/log")"; fi
finish
