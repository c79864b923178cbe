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
    return s->handler.period_ns / 2 + chroprof__random(s) % s->handler.period_ns;
}

static uint64_t chroprof__mode_ns(const chroprof__sampler *s)
{
    return s->set.mode == CHROPROF_SAMPLER_WALL ? chroprof__monotonic_ns(NULL)
                                            : chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How many signals were due by now, and when the next one is. Late ones count: the kernel may look
 * only every few ms. */
static uint64_t chroprof__count_due(chroprof__sampler *s, uint64_t now)
{
    uint64_t count = chroprof__minus(now, s->handler.deadline) / s->handler.period_ns;
    if (count < 64)
        count = 0;
    s->handler.deadline += count * s->handler.period_ns;
    for (; s->handler.deadline <= now; count++)
        s->handler.deadline += chroprof__random_period(s);
    return count;
}

static void chroprof__arm(const chroprof__sampler *s)
{
    uint64_t left = chroprof__minus(s->handler.deadline, chroprof__mode_ns(s));
    chroprof__set_timer(s->timer.number, left > 1000 ? left : 1000, 0);
}

/* Of how many samples of the first period a timer signal is worth; periods: what the timer says. 0:
 * of none yet, over the budget a steady timer can't be slowed down. A timer of the process goes by
 * all threads, and may be early for this one. */
static uint64_t chroprof__signal_weight(chroprof__sampler *s, uint64_t periods)
{
    uint64_t factor = s->handler.period_ns / s->set.first_period_ns, now;
    if (s->set.steady) {
        uint64_t weight = s->handler.pending + periods;
        s->handler.pending = weight < factor ? weight : 0;
        return weight < factor ? 0 : weight;
    }
    now = chroprof__mode_ns(s);
    s->handler.deadline = s->handler.deadline < now ? s->handler.deadline : now;
    return chroprof__count_due(s, now) * factor;
}

/* ---- the wall mode while the loop sleeps. Idle is known from the events: it is sampled by its
 * length when it ends, and no signal has to wake the loop for it. */

/* Does the loop's thread sleep? Any thread may ask. */
static bool chroprof__is_asleep(const chroprof__core *c)
{
    return *(const volatile uint32_t *)&c->account == CHROPROF__IDLE && !chroprof__is_busy(c);
}

/* Is the timer of this process? A forked child inherits none, but one of its own may have that
 * number. */
static bool chroprof__has_timer(const chroprof__sampler *s)
{
    return chroprof__peek64(&s->timer.armed) != 0 && s->timer.pid == (uint64_t)getpid();
}

/* The loop is about to sleep. A timer signal that falls due before it can be expected back, going
 * by twice the longest of its waits of late, is called off; so a fast loop makes no system call
 * here but for the few waits around a timer signal. */
static void chroprof__begin_wait(chroprof__core *c, chroprof__sampler *s)
{
    s->wait.resting = 1;
    s->wait.start = s->wait.idle_from = c->last;
    if (s->handler.stopped || s->set.steady)
        return;
    uint64_t now = chroprof__monotonic_ns(NULL);
    if (chroprof__minus(s->handler.deadline, now) / 2 > s->wait.most)
        return;
    chroprof__poke64(&s->handler.stopped, 1);
    if (chroprof__has_timer(s))
        chroprof__set_timer(s->timer.number, 0, 0);
    s->handler.cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* Arms the timer again after a wait. Signals that fell due while it was called off are of idle
 * time. */
CHROPROF__COLD void chroprof__go_on(chroprof__sampler *s)
{
    uint64_t now = chroprof__monotonic_ns(NULL);
    (void)chroprof__count_due(s, now);
    chroprof__poke64(&s->handler.stopped, 0);
    chroprof__arm(s);
    s->handler.cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* The timer does not fire any more; in a forked child, which does not inherit it, it never did. */
CHROPROF__COLD void chroprof__end_signals(chroprof *p, chroprof__sampler *s)
{
    chroprof__begin_edit(p->core);
    s->timer.armed = s->timer.running = s->handler.stopped = 0;
    p->sampling = false;
    chroprof__set_taking(p, chroprof__is_taking(p));
    chroprof__end_edit(p->core);
}

/* Samples of the idle that ends now, as many as periods fit into it and what was left before. */
CHROPROF__COLD void chroprof__sample_idle(const chroprof *p, chroprof__sampler *s, uint64_t weight)
{
    chroprof__core *c = p->core;
    uint64_t t = c->last, period = s->set.first_period_ns;
    uint64_t last = chroprof__minus(t, chroprof__unscale(s->wait.idle_ns, c->time.factor));
    uint64_t first = chroprof__minus(last, chroprof__unscale((weight - 1) * period,
                                                             c->time.factor));
    chroprof__entry e;
    memset(&e, 0, sizeof(e));
    e.state = CHROPROF_SAMPLE_IDLE;
    chroprof__put_item(&e, CHROPROF__MARK, CHROPROF__MARK_IDLE);
    (void)chroprof__put_tasks(c, &e, c->barrier, 0);
    chroprof__begin_edit(c);
    uint32_t stack = chroprof__intern_stack(p, &e);
    e.weight = 1;
    chroprof__add_row(c, s, first > s->rows.latest ? first : s->rows.latest, stack, &e);
    e.weight = weight - 1;                  /* 0: first is last */
    chroprof__add_row(c, s, last > s->rows.latest ? last : s->rows.latest, stack, &e);
    chroprof__draw(p, s, s->wait.idle_from, t, weight);
    chroprof__end_edit(c);
}

/* Takes in samples of the idle time up to now. */
static void chroprof__take_idle(const chroprof *p, chroprof__sampler *s)
{
    const chroprof__core *c = p->core;
    s->wait.idle_ns += chroprof__scale(chroprof__minus(c->last, s->wait.idle_from), c->time.factor);
    uint64_t weight = s->wait.idle_ns / s->set.first_period_ns;
    s->wait.idle_ns -= weight * s->set.first_period_ns;
    if (weight > 0)
        chroprof__sample_idle(p, s, weight);
    s->wait.idle_from = c->last;
}

static void chroprof__follow_idle(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    bool idle = c->account == CHROPROF__IDLE;
    if (s->set.mode != CHROPROF_SAMPLER_WALL)
        return;
    if (s->wait.resting)
        chroprof__take_idle(p, s);
    if (idle && !s->wait.resting) {
        chroprof__begin_wait(c, s);
    } else if (!idle && s->wait.resting) {
        s->wait.resting = 0;
        s->wait.most -= s->wait.most / 256;         /* long ones are forgotten bit by bit */
        chroprof__raise(&s->wait.most,
                        chroprof__scale(chroprof__minus(c->last, s->wait.start), c->time.factor));
    }
    if (idle || !chroprof__peek64(&s->handler.stopped))
        return;
    if (chroprof__has_timer(s))
        chroprof__go_on(s);
    else
        chroprof__end_signals(p, s);
}
#endif /* part alone */
