/* sampler/due.h */
#pragma once
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/items.h"
#include "../block/stacks.h"
#include "../block/samples.h"
#include "../sampler/timer.h"

#if CHROPROF__SAMPLES /* part alone */
/* ---- when signals are due. Periods are random, so that no loop is in step with them: each is from
 * half a period to one and a half, on the clock that the mode goes by. */

static uint64_t chroprof__random_period(chroprof__sampler *s)
{
    return s->period_ns / 2 + chroprof__random(s) % s->period_ns;
}

static uint64_t chroprof__mode_ns(const chroprof__sampler *s)
{
    return s->mode == CHROPROF_SAMPLER_WALL ? chroprof__monotonic_ns(NULL)
                                            : chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How many signals were due by now, and when the next one is. Late ones count: the kernel may look
 * only every few ms. */
static uint64_t chroprof__count_due(chroprof__sampler *s, uint64_t now)
{
    uint64_t count = chroprof__minus(now, s->deadline) / s->period_ns;
    if (count < 64)
        count = 0;
    s->deadline += count * s->period_ns;
    for (; s->deadline <= now; count++)
        s->deadline += chroprof__random_period(s);
    return count;
}

static void chroprof__arm(const chroprof__sampler *s)
{
    uint64_t left = chroprof__minus(s->deadline, chroprof__mode_ns(s));
    chroprof__set_timer(s->timer, left > 1000 ? left : 1000, 0);
}

/* Of how many samples of the first period a timer signal is worth; periods: what the timer says. 0:
 * of none yet, over the budget a steady timer can't be slowed down. A timer of the process goes by
 * all threads, and may be early for this one. */
static uint64_t chroprof__signal_weight(chroprof__sampler *s, uint64_t periods)
{
    uint64_t factor = s->period_ns / s->first_period_ns, now;
    if (s->steady) {
        uint64_t weight = s->pending + periods;
        s->pending = weight < factor ? weight : 0;
        return weight < factor ? 0 : weight;
    }
    now = chroprof__mode_ns(s);
    s->deadline = s->deadline < now ? s->deadline : now;
    return chroprof__count_due(s, now) * factor;
}

/* ---- the wall mode while the loop sleeps. Idle is known from the events: it is sampled by its
 * length when it ends, and no signal has to wake the loop for it. */

/* Asked in any thread. */
static bool chroprof__is_asleep(const chroprof__core *c)
{
    return *(const volatile uint32_t *)&c->account == CHROPROF__IDLE && !chroprof__is_busy(c);
}

/* Not a forked child: one of its own timers may have the number of ours. */
static bool chroprof__has_timer(const chroprof__sampler *s)
{
    return chroprof__peek64(&s->armed) != 0 && s->pid == (uint64_t)getpid();
}

/* The loop is about to sleep. A timer signal that falls due before it can be expected back, going
 * by twice the longest of its waits of late, is called off; so a fast loop makes no system call
 * here but for the few waits around a timer signal. */
static void chroprof__begin_wait(chroprof__core *c, chroprof__sampler *s)
{
    s->resting = 1;
    s->wait_start = s->idle_from = c->last;
    if (s->stopped || s->steady)
        return;
    uint64_t now = chroprof__monotonic_ns(NULL);
    if (chroprof__minus(s->deadline, now) / 2 > s->wait_most)
        return;
    chroprof__poke64(&s->stopped, 1);
    if (chroprof__has_timer(s))
        chroprof__set_timer(s->timer, 0, 0);
    s->cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* Signals that fell due while it was called off are those of idle time. */
CHROPROF__COLD void chroprof__go_on(chroprof__sampler *s)
{
    uint64_t now = chroprof__monotonic_ns(NULL);
    (void)chroprof__count_due(s, now);
    chroprof__poke64(&s->stopped, 0);
    chroprof__arm(s);
    s->cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* It does not fire any more; in a forked child, whose timer is the parent's, it never did. */
CHROPROF__COLD void chroprof__end_signals(chroprof *p, chroprof__sampler *s)
{
    chroprof__begin_edit(p->core);
    s->armed = s->running = s->stopped = 0;
    p->sampling = false;
    chroprof__set_taking(p, chroprof__is_taking(p));
    chroprof__end_edit(p->core);
}

/* Samples of the idle that ends now, as many as periods fit into it and what was left before. */
CHROPROF__COLD void chroprof__sample_idle(const chroprof *p, chroprof__sampler *s, uint64_t weight)
{
    chroprof__core *c = p->core;
    uint64_t t = c->last, period = s->first_period_ns;
    uint64_t last = chroprof__minus(t, chroprof__unscale(s->idle_ns, c->factor));
    uint64_t first = chroprof__minus(last, chroprof__unscale((weight - 1) * period, c->factor));
    chroprof__entry e;
    memset(&e, 0, sizeof(e));
    e.state = CHROPROF_SAMPLE_IDLE;
    chroprof__put_item(&e, CHROPROF__MARK, CHROPROF__MARK_IDLE);
    (void)chroprof__put_tasks(c, &e, c->barrier, 0);
    chroprof__begin_edit(c);
    uint32_t stack = chroprof__intern_stack(p, &e);
    e.weight = 1;
    chroprof__add_row(c, s, first > s->latest ? first : s->latest, stack, &e);
    e.weight = weight - 1;                  /* 0: first is last */
    chroprof__add_row(c, s, last > s->latest ? last : s->latest, stack, &e);
    chroprof__draw(p, s, s->idle_from, t, weight);
    chroprof__end_edit(c);
}

/* Takes in the idle time up to now. */
static void chroprof__take_idle(const chroprof *p, chroprof__sampler *s)
{
    const chroprof__core *c = p->core;
    s->idle_ns += chroprof__scale(chroprof__minus(c->last, s->idle_from), c->factor);
    uint64_t weight = s->idle_ns / s->first_period_ns;
    s->idle_ns -= weight * s->first_period_ns;
    if (weight > 0)
        chroprof__sample_idle(p, s, weight);
    s->idle_from = c->last;
}

static void chroprof__follow_idle(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    bool idle = c->account == CHROPROF__IDLE;
    if (s->mode != CHROPROF_SAMPLER_WALL)
        return;
    if (s->resting)
        chroprof__take_idle(p, s);
    if (idle && !s->resting) {
        chroprof__begin_wait(c, s);
    } else if (!idle && s->resting) {
        s->resting = 0;
        s->wait_most -= s->wait_most / 256;         /* long ones are forgotten bit by bit */
        chroprof__raise(&s->wait_most,
                        chroprof__scale(chroprof__minus(c->last, s->wait_start), c->factor));
    }
    if (idle || !chroprof__peek64(&s->stopped))
        return;
    if (chroprof__has_timer(s))
        chroprof__go_on(s);
    else
        chroprof__end_signals(p, s);
}
#endif /* part alone */
