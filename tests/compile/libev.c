/* chroprof_libev.h in C and C++: its wait is idle, and what runs second in a batch was due at the
 * batch's begin, so the first is blamed. A callback runs the loop itself. Exit status 0: right, by the
 * program's own measure. */
#define _XOPEN_SOURCE 700
#include <ev.h>
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../examples/adapters/chroprof_libev.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static chroprof prof;
static unsigned char memory[1 << 17];

CHROPROF_SITE(site, "timer");
static int calls;
static ev_timer timers[2];
static double idle_since, idle, busy[2]; /* measured, in ns */

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    double start = now();
    (void)loop, (void)timer, (void)events;
    if (calls == 0) {
        idle = start - idle_since;
    }
#ifndef CHROPROF_DISABLE
    chroprof_ready_since(&prof, (uintptr_t)timer, chroprof_libev_due());
#endif
    chroprof_running(&prof, (uintptr_t)timer);
    start = now();
    ev_sleep(0.01);
    busy[calls++] = now() - start;
    chroprof_completed(&prof, (uintptr_t)timer);
}

/* Both timers begin right before the loop waits for them, however long it took to get here; the
 * wait is longer than the clock's calibration, so that every figure has its last rate. */
static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)events;
    ev_prepare_stop(loop, prepare);
    ev_now_update(loop);
    for (int i = 0; i < 2; i++) {
        ev_timer_start(loop, &timers[i]);
    }
    idle_since = now();
}

#ifndef CHROPROF_DISABLE
/* Is a figure as measured, but for one percent of the clock's rate? */
static bool within(uint64_t ns, double least, double most)
{
    return (double)ns >= 0.99 * least && (double)ns <= 1.01 * most;
}
#endif

/* Two timers of one time, of 10 ms each: the second waits as long as the first runs. The measured
 * wait has some of the loop's time in it as well. */
static int right(double elapsed)
{
    chroprof_totals totals;
    chroprof_read_totals(&prof, &totals);
#ifdef CHROPROF_DISABLE
    return totals.events == 0 && elapsed > 0;
#else
    return totals.anomalies == 0 && within(totals.elapsed_ns, idle + busy[0] + busy[1], elapsed) &&
           within(totals.idle_ns, idle / 2, idle) &&
           within(totals.busy_ns, busy[0] + busy[1], elapsed - idle) &&
           within(totals.delay_ns, busy[0],
                  (double)totals.busy_ns - busy[1] + 2 * (double)totals.uninstrumented_ns);
#endif
}

static int inner, outer;

static void on_inner(struct ev_loop *loop, ev_timer *timer, int events)
{
    CHROPROF_SCOPE(&prof, "inner");
    (void)loop, (void)timer, (void)events;
    inner++;
}

static void on_signal(int number)
{
    (void)number;
}

/* Runs the loop until a signal wakes it, in which nothing is called. */
static void on_waiting(struct ev_loop *loop, ev_timer *timer, int events)
{
    const struct itimerval none = { { 0, 0 }, { 0, 0 } }, soon = { { 0, 1000 }, { 0, 20000 } };
    CHROPROF_SCOPE(&prof, "waiting");
    (void)timer, (void)events;
    outer++;
    ev_ref(loop);
    (void)setitimer(ITIMER_REAL, &soon, NULL);
    ev_run(loop, EVRUN_ONCE);
    (void)setitimer(ITIMER_REAL, &none, NULL);
    ev_unref(loop);
}

/* Runs the loop until others were called ten times in there. */
static void on_window(struct ev_loop *loop, ev_timer *timer, int events)
{
    ev_timer again;
    CHROPROF_SCOPE(&prof, "window");
    (void)events;
    outer++;
    ev_init(&again, on_inner);
    ev_timer_set(&again, 0.003, 0.003);
    ev_timer_start(loop, &again);
    while (inner < 10)
        ev_run(loop, EVRUN_ONCE);
    ev_timer_stop(loop, &again);
    ev_init(timer, on_waiting);
    ev_timer_set(timer, 0.001, 0.);
    ev_timer_start(loop, timer);
}

/* What is called in a nested loop is a callback like the outer one; where nothing was, that has
 * waited. */
static int nested_loops(void)
{
    struct ev_loop *loop = ev_loop_new(0);
    ev_timer timer;
    if (loop == NULL || signal(SIGALRM, on_signal) == SIG_ERR ||
        chroprof_init(&prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 0;
    chroprof_libev(&prof, loop);
    ev_init(&timer, on_window);
    ev_timer_set(&timer, 0.001, 0.);
    ev_timer_start(loop, &timer);
    ev_run(loop, 0);
    ev_loop_destroy(loop);
#ifndef CHROPROF_DISABLE
    {
        chroprof_task_wait rows[3];
        chroprof_totals totals;
        size_t count = chroprof_task_waits(&prof, rows, 3);
        chroprof_read_totals(&prof, &totals);
        if (totals.anomalies != 0 || totals.callbacks != 12 || count != 1 ||
            strcmp(rows[0].name, "waiting") != 0 || strcmp(rows[0].call, "ev_run") != 0)
            return 0;
    }
#endif
    return inner == 10 && outer == 2 && chroprof_check(&prof) == NULL;
}

int main(void)
{
    double start = now();
    struct ev_loop *loop = ev_loop_new(0);
    ev_prepare prepare;
    if (loop == NULL || chroprof_init(&prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_libev(&prof, loop);
    for (int i = 0; i < 2; i++) {
        ev_init(&timers[i], on_timer);
        ev_timer_set(&timers[i], 0.2, 0.);
        chroprof_pending(&prof, (uintptr_t)&timers[i], &site);
    }
    ev_init(&prepare, on_prepare);
    ev_prepare_start(loop, &prepare);
    ev_run(loop, 0);
    ev_loop_destroy(loop);
    if (calls != 2 || !right(now() - start) || chroprof_check(&prof) != NULL)
        return 2;
    return nested_loops() ? 0 : 3;
}
