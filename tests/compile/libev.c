/* CHROPROF_LIBEV in C and C++: its wait is idle, and what runs second in a batch was due at the
 * batch's begin, so the first is blamed. Exit status 0: right. */
#include <ev.h>
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

static chroprof prof;
static unsigned char memory[1 << 17];
CHROPROF_LIBEV(&prof);

CHROPROF_SITE(site, "timer");
static int calls;

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
#ifndef CHROPROF_DISABLE
    chroprof_ready_since(&prof, (uintptr_t)timer, chroprof_libev_due);
#endif
    chroprof_running(&prof, (uintptr_t)timer);
    ev_sleep(0.01);
    calls++;
    chroprof_completed(&prof, (uintptr_t)timer);
}

/* Two timers of one time, of 10 ms each: the second waits as long as the first runs. */
static int right(void)
{
    chroprof_totals totals;
    chroprof_read_totals(&prof, &totals);
#ifdef CHROPROF_DISABLE
    return totals.events == 0;
#else
    return totals.anomalies == 0 && totals.idle_ns >= 15000000 && totals.busy_ns >= 20000000 &&
        totals.delay_ns >= 10000000 && totals.delay_ns < totals.busy_ns + totals.loop_ns;
#endif
}

int main(void)
{
    struct ev_loop *loop = ev_loop_new(0);
    ev_timer timers[2];
    if (loop == NULL || chroprof_init(&prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_libev(loop);
    for (int i = 0; i < 2; i++) {
        ev_init(&timers[i], on_timer);
        ev_timer_set(&timers[i], 0.02, 0.);
        ev_timer_start(loop, &timers[i]);
        chroprof_pending(&prof, (uintptr_t)&timers[i], &site);
    }
    ev_run(loop, 0);
    ev_loop_destroy(loop);
    return calls == 2 && right() && chroprof_check(&prof) == NULL ? 0 : 2;
}
