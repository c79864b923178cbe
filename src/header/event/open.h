/* event/open.h: how an event is opened on the slow path */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/clock.h"
#include "../block/samples.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/tally.h"
#include "../event/ageing.h"

/* What an interval is that is not plain: time that went back does not pass, a step that is too long
 * is untracked. */
typedef struct chroprof__oddity {
    bool back, leap;
} chroprof__oddity;

static chroprof__oddity chroprof__look_again(const chroprof__core *c, chroprof__moment *m)
{
    chroprof__oddity odd = { m->dt >> 63 || m->t >= CHROPROF__END_OF_TIME, false };
    if (odd.back) {
        m->t = c->last;
        m->dt = 0;
    }
    m->depth = c->depth;
    m->account = c->account;
    odd.leap = m->dt > c->max_step_ticks && m->account != CHROPROF__IDLE;
    if (odd.leap)
        m->account = CHROPROF__UNTRACKED;
    return odd;
}

/* Opens any event. Any but tick ends an idle. */
CHROPROF__COLD void chroprof__open_slow(chroprof *p, chroprof__moment *m, chroprof_state state,
                                        uint64_t id, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__oddity odd = chroprof__look_again(c, m);
    chroprof__met place = { m->t, id, CHROPROF__LOOP, c->account };
    chroprof__aim(p, c);
    if (chroprof__until_spill(c) == 0)
        chroprof__spill(p);
    m->next_row = c->next_row;
    chroprof__open_row(c, m, NULL, state, id);
    if (odd.back) {
        chroprof__count_at(c, CHROPROF_ANOMALY_TIME_BACK, 1, place);
        c->epoch = now - c->last;
    }
    if (odd.leap) {
        chroprof__count_at(c, CHROPROF_ANOMALY_LONG_STEP, 1, place);
        if (c->depth && !c->hidden)
            p->frames[c->depth].start += m->dt;
    }
    chroprof__bill_across(p, (uint32_t)m->account, m->t);
#if CHROPROF__HAS_COUNTER
    if (m->t >= c->time.calibrate_at)
        chroprof__calibrate(c);
#endif
    if (m->t >= c->iteration.idle_limit)
        chroprof__age(p, c);
    if (c->phase.exits && m->account == CHROPROF__LOOP)
        c->phase.exit_ticks += m->dt;
    if (c->account == CHROPROF__IDLE && state != CHROPROF_TICK) {
        if (!c->phase.begun)
            c->phase.start_ticks = p->paths[CHROPROF__LOOP].exec;
        c->phase.begun = 1;
        chroprof__begin_iteration(c, m->dt);
        c->iteration.hidden *= c->loop.iteration_active;    /* 0: it was the first poll */
        c->loop.iteration_active = 1;
    }
    if (m->t >= c->loop.slow_due)
        chroprof__forget_slow(c);
    if (m->t >= chroprof__sampler_limit(c))
        chroprof__plan_look(c);
    chroprof__set_time_limit(c);
    chroprof__aim(p, c);
}

/* Opens an event on the slow path. Returns profile time, with the interval billed. */
static uint64_t chroprof__begin_event(chroprof *p, chroprof_state state, uint64_t id, uint64_t now)
{
    chroprof__moment m;
    if (chroprof__look(p->core, now, &m))
        chroprof__open_event(p, p->core, &m, state, id);
    else
        chroprof__open_slow(p, &m, state, id, now);
    chroprof__drain(p);
    return p->core->last;
}

/* What the ring holds of [from, c->last) is blamed on those who were on top; what it does not reach
 * is the loop's. */
static void chroprof__blame_past(chroprof *p, uint64_t from)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t end = c->last;
    for (uint64_t n = r.end; n > r.first && end > from; n--) {
        uint64_t begin = chroprof__interval_begin(p, r, n - 1);
        uint64_t start = begin > from ? begin : from;
        if (start < end)
            p->paths[chroprof__ring_at(p, c, n - 1)->path].blame += end - start;
        end = start < end ? start : end;
    }
    if (end > from)
        p->paths[CHROPROF__LOOP].blame += end - from;
}

/* Ticks of the slice under way that frame k has so far. */
static uint64_t chroprof__frame_slice(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    uint64_t end = c->hidden ? c->hidden_since : c->last;
    if (k < c->depth)
        end = p->frames[k + 1].pushed;
    return end - p->frames[k].start;
}
