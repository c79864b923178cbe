/* block/clock.h */
#pragma once
#include "../interface/config.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"

/* >>clock */

/* Beyond this no profile time passes, so that sums of two times never overflow. */
#define CHROPROF__END_OF_TIME (UINT64_C(1) << 62)

/* A wait that is shorter returned at once: one that sleeps takes a switch there and back. */
#define CHROPROF__AT_ONCE_NS UINT64_C(10000)

/* The next event takes the slow path. */
static void chroprof__wake(chroprof__core *c)
{
    chroprof__poke64(&c->time_limit, c->last);
    chroprof__poke64(&c->iteration.idle_limit, c->last);
}

/* When the sampler, if it runs, reads the thread's CPU clock next. */
static uint64_t chroprof__sampler_limit(const chroprof__core *c)
{
    const chroprof__sampler *s = chroprof__sampler_of(c);
    return s && s->timer.running ? s->look.at : UINT64_MAX;
}

static bool chroprof__samples_wait(const chroprof__core *c)
{
    const chroprof__sampler *s = chroprof__sampler_of(c);
    return s && chroprof__peek64(&s->handler.put) != s->taken;
}

/* When the next event has to take the slow path at the latest. Whatever wants the next event there
 * sets the time limit to now. */
static void chroprof__set_time_limit(chroprof__core *c)
{
    uint64_t step = c->last + c->max_step_ticks;    /* both below 2^63 */
    uint64_t time_limit = c->windows.end < step ? c->windows.end : step;
    chroprof__lower(&time_limit, CHROPROF__END_OF_TIME);
    chroprof__lower(&time_limit, c->aged_at + CHROPROF__LAST_BUCKET / 2);
    chroprof__lower(&time_limit, c->loop.slow_due);
    chroprof__lower(&time_limit, chroprof__sampler_limit(c));
    if (!c->time.calibrated)
        chroprof__lower(&time_limit, c->time.calibrate_at);
    c->iteration.idle_limit = time_limit > c->last ? time_limit : c->last + 1;
    c->time_limit = c->iteration.idle_limit;
    if (!c->loop.iteration_active && c->account == CHROPROF__IDLE)
        c->iteration.idle_limit = c->last;
    if (c->account == CHROPROF__IDLE || c->hidden)
        c->time_limit = c->last;            /* any event takes the slow path, but idle_leave */
    CHROPROF__STORE_FENCE();                /* a signal may come here, and wants the same */
    if (c->phase.exits || chroprof__samples_wait(c))
        chroprof__wake(c);
}

/* Beyond this a callback or an iteration is looked at: it is the longest so far, or a stall. */
CHROPROF__INLINE uint64_t chroprof__length_limit(const chroprof__core *c, uint64_t longest)
{
    uint64_t limit = longest < c->stall_ticks ? longest : c->stall_ticks;
    return limit < CHROPROF__LAST_BUCKET ? limit : CHROPROF__LAST_BUCKET - 1;
}

/* Options in ns become ticks. The width of the windows can only change before the first one is
 * full. */
static void chroprof__set_factor(chroprof__core *c, uint64_t factor)
{
    c->time.factor = factor;
    c->stall_ticks = chroprof__unscale(c->set.stall_ns, factor);
    c->callback.limit = chroprof__length_limit(c, c->loop.callback_max);
    c->iteration.limit = chroprof__length_limit(c, c->loop.iteration_max);
    c->loop.at_once_limit = chroprof__unscale(CHROPROF__AT_ONCE_NS, factor);
    c->max_step_ticks = chroprof__unscale(c->set.max_step_ns, factor);
    uint64_t width = chroprof__or(chroprof__unscale(c->set.window_ns, factor), 1);
    if (c->window == 0 && c->last < width)
        c->windows.ticks = c->windows.end = width;
}

#if CHROPROF__HAS_COUNTER
/* One reading of both clocks; of several tries the one that took least. Returns its ticks. */
static uint64_t chroprof__read_both(uint64_t *counter, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int k = 0; k < 4; k++) {
        uint64_t before = chroprof__counter(), now_ns = chroprof__monotonic_ns(NULL);
        uint64_t width = chroprof__counter() - before;
        if (width >= best)
            continue;
        best = width;
        *counter = before + width / 2;
        *ns = now_ns;
    }
    return best;
}

/* What the kernel may slew the monotonic clock by, to bring it back in step with the world. */
#define CHROPROF__SLEW_PPB 500000u
#define CHROPROF__LATER_NS UINT64_C(10000000000)

/* ns a tick, in 1/2^32, between a reading before and one now. 0: these tell nothing. */
typedef struct chroprof__rate {
    uint64_t counter, ns;      /* the reading now */
    uint64_t passed;
    uint64_t factor, error_ppb;
} chroprof__rate;

static chroprof__rate chroprof__rate_since(uint64_t counter, uint64_t ns)
{
    chroprof__rate r = { 0, 0, 0, 0, 0 };
    uint64_t spread = chroprof__read_both(&r.counter, &r.ns);
    uint64_t ticks = r.counter - counter, passed = r.ns - ns;
    r.passed = passed;
    r.error_ppb = 2 * spread * 1000000u / (ticks / 1000u + 1) + 1 + CHROPROF__SLEW_PPB;
    if (passed >> 62 || ticks >> 62)
        return r;
    while (passed >> 32) {                  /* keep 32 bits for the fraction */
        passed >>= 1;
        ticks >>= 1;
    }
    r.factor = ticks ? (passed << 32) / ticks : 0;
    return r;
}

/* In 20 us: good to some thousandths. */
static chroprof__rate chroprof__rate_of_now(void)
{
    uint64_t counter = 0, ns = 0;
    uint32_t tries = 0;                     /* a clock that stands still must not hang us */
    chroprof__read_both(&counter, &ns);
    while (chroprof__monotonic_ns(NULL) - ns < 20000 && ++tries < 100000) {}
    return chroprof__rate_since(counter, ns);
}

/* How far two factors are apart. */
static uint64_t chroprof__apart_ppb(uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, gap = a < b ? b - a : a - b;
    if (low == 0 || gap >= low)
        return 1000000000u;
    while (gap >> 33) {
        gap >>= 1;
        low >>= 1;
    }
    return gap * 1000000000u / low;
}

/* From this reading on, for as long as that. */
static void chroprof__look_from(chroprof__core *c, const chroprof__rate *r, uint64_t ns)
{
    c->time.calibrate_counter = r->counter;
    c->time.calibrate_ns = r->ns;
    c->time.calibrate_at = c->last + chroprof__unscale(ns, c->time.factor) + 1;
}

static void chroprof__take_rate(chroprof__core *c, const chroprof__rate *r)
{
    c->time.error_ppb = r->error_ppb;
    chroprof__set_factor(c, r->factor);
}

/* Looks at both clocks. The factor comes from the readings at init and 90 ms later, before the
 * first window ends; the system may have slept in them, then they begin anew. From then on it is
 * fixed, and each later look only widens the bound of its error. */
static void chroprof__calibrate(chroprof__core *c)
{
    chroprof__rate r = chroprof__rate_since(c->time.calibrate_counter, c->time.calibrate_ns);
    if (r.factor == 0)
        return;
    uint64_t apart = chroprof__apart_ppb(r.factor, c->time.factor);
    chroprof__rate now;
    bool unsure = apart > c->time.error_ppb + r.error_ppb;
    if (unsure)
        now = chroprof__rate_of_now();
    /* a short look agrees with a long one, unless the system slept and one clock stood still */
    if (unsure && now.factor && chroprof__apart_ppb(r.factor, now.factor) >
                                   r.error_ppb + now.error_ppb + 2000000u) {
        if (!c->time.calibrated)
            chroprof__take_rate(c, &now);
        chroprof__look_from(c, &now, c->time.calibrated ? CHROPROF__LATER_NS : 90000000u);
    } else if (c->time.calibrated) {
        if (apart > c->time.error_ppb)
            c->time.error_ppb = apart + r.error_ppb;
        chroprof__look_from(c, &r, CHROPROF__LATER_NS);
    } else {
        chroprof__take_rate(c, &r);
        c->time.calibrated = r.passed >= 89000000u;
        if (c->time.calibrated)
            chroprof__look_from(c, &r, CHROPROF__LATER_NS);
    }
}

static void chroprof__start_counter(chroprof__core *c)
{
    uint64_t hz = chroprof__counter_hz();
    if (hz) {                               /* never: an x86 counter does not tell its rate */
        chroprof__set_factor(c, (UINT64_C(1000000000) << 32) / hz);
        return;
    }
    chroprof__rate r = chroprof__rate_of_now();
    c->time.calibrated = 0;
    if (r.factor)
        chroprof__take_rate(c, &r);
    chroprof__look_from(c, &r, 90000000u);
}
#endif

CHROPROF_API uint64_t chroprof_clock_manual(void *user)
{
    (void)user;
    return 0;
}

CHROPROF__INLINE uint64_t chroprof__read_clock(const chroprof *p)
{
#if CHROPROF__HAS_COUNTER
    if (CHROPROF__LIKELY(p->clock == NULL))
        return chroprof__counter();
#endif
    if (p->clock == chroprof_clock_manual)
        return p->core->epoch + p->core->last;
    return p->clock(p->clock_user);
}

/* Our own clock, as a profile that begins now would read it; 0: there is none. */
static uint64_t chroprof__own_clock_now(void)
{
#if CHROPROF__HAS_COUNTER
    if (chroprof__counter_is_invariant())
        return chroprof__counter();
#endif
#ifndef CHROPROF_NO_CLOCK
    return chroprof__monotonic_ns(NULL);
#else
    return 0;
#endif
}

/* The clock of the block, read here; 0: it can't be. */
CHROPROF__UNUSED static uint64_t chroprof__clock_here(const chroprof__core *c)
{
    (void)c;                                /* without a clock of our own there is none */
#if CHROPROF__HAS_COUNTER
    if (c->clock == CHROPROF__CLOCK_COUNTER)
        return chroprof__counter();
#endif
#ifndef CHROPROF_NO_CLOCK
    if (c->clock == CHROPROF__CLOCK_MONOTONIC)
        return chroprof__monotonic_ns(NULL);
#endif
    return 0;
}
