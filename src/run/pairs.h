/* pairs.h - the two events before the loop's wait, and the two after it */

#ifndef PRELOAD_PAIRS_H
#define PRELOAD_PAIRS_H

#include "run.h"

/* >>pairs: most waits are the loop's own. What ran since the last one is left and idle begins; then
 * idle ends and what runs next is entered. The events of a pair are one instant: the clock is read
 * once, and the second has no interval to charge. These are the header's own fast paths, with that
 * left out; whatever is rare takes its slow path. */

/* Is the header's gate for idle events open, and so the one for others? */
static inline __attribute__((__always_inline__)) bool is_gate_open(const chroprof *p)
{
    return p->idle_gate == (uint32_t)CHROPROF__IDLE_GATES + CHROPROF__OPEN_GATE;
}

/* Now, as at the last event. False: something rare wants the slow path. */
static inline __attribute__((__always_inline__)) bool is_same_instant(chroprof__core *c,
                                                                      chroprof__moment *m)
{
    m->t = c->last;
    m->dt = 0;
    m->next_row = c->next_row;
    m->account = c->account;
    m->depth = c->depth;
    return CHROPROF__LIKELY(m->t < c->time_limit) &&
           CHROPROF__LIKELY(m->next_row < chroprof__front_of(c)->row_limit);
}

static inline __attribute__((__always_inline__)) void
open_at_once(chroprof__core *c, const chroprof__moment *m, chroprof_state state)
{
    chroprof__open_row(c, m, NULL, state, 0);
    c->next_row += sizeof(chroprof__ring_row);
}

static inline __attribute__((__always_inline__)) void idle_enter_at_once(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    const bool plain = is_same_instant(c, &m);
    const uint64_t length = m.t - c->iteration.start;
    if (CHROPROF__RARELY(!plain || m.depth != c->barrier || length > c->iteration.limit)) {
        chroprof__slow_path(p, CHROPROF_IDLE_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    open_at_once(c, &m, CHROPROF_IDLE_ENTER);
    chroprof__end_iteration(p, c, length, length);
    c->account = CHROPROF__IDLE;
    c->time_limit = m.t;
    chroprof__close_event(c);
}

static inline __attribute__((__always_inline__)) void enter_at_once(chroprof *p,
                                                                    const chroprof_site *site)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    const bool plain = is_same_instant(c, &m);
    const chroprof__shortcut *s = chroprof__shortcut_home(p, m.account, site);
    uint32_t path;
    if (CHROPROF__RARELY(!plain || !chroprof__is_known(s, &c->window, site) ||
                         !CHROPROF__KNOWS_CALLER(p, s->caller, 0, &m) ||
                         m.depth == p->max_depth)) {
        chroprof__enter_elsewhere(p, site, chroprof__now_of(c, &m), chroprof__caller_base());
        return;
    }
    path = s->target;
    open_at_once(c, &m, CHROPROF_ENTER);
    chroprof__push_call(c, p->frames + m.depth, m.depth, path, m.t);
    chroprof__close_event(c);
}

/* Returns the time by the clock of the profile. */
static inline __attribute__((__always_inline__)) uint64_t leave_and_idle(chroprof *p)
{
    const uint64_t now = chroprof__gate_clock(p);
    chroprof__do_leave(p, now);
    idle_enter_at_once(p);
    return now;
}

/* In the frame of the function that the program calls: the header knows it by that. */
static inline __attribute__((__always_inline__)) void wake_and_enter(chroprof *p,
                                                                     const chroprof_site *site)
{
    chroprof__do_idle_leave(p, chroprof__gate_clock(p));
    enter_at_once(p, site);
}

#endif
