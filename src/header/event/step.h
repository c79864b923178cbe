/* event/step.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/windows.h"

/* >>event: what every event does. It leaves a row in the ring, then bills the interval up to it to
 * what was on top. */

/* What an event knows before it changes anything. */
typedef struct chroprof__moment {
    uint64_t t, dt;
    uint64_t next_row, account;
    uint32_t depth;
} chroprof__moment;

/* Looks at the clock value of an event. False: the clock went back, or profile time is at or beyond
 * the time limit (chroprof__set_time_limit tells why it may be). Then the event takes the slow
 * path. */
CHROPROF__INLINE bool chroprof__look_at_time(const chroprof__core *c, uint64_t now,
                                             const uint64_t *time_limit, chroprof__moment *m)
{
    m->t = now - c->epoch;
    m->dt = m->t - c->last;
    if (CHROPROF__RARELY(m->dt > m->t))
        return false;
    CHROPROF__READ_AGAIN();                 /* else gcc keeps that for later */
    m->account = c->account;
    return CHROPROF__LIKELY(m->t < *time_limit);
}

/* Looks at the ring. False: it begins anew, or rows of this iteration would be overwritten, or this
 * is a forked child. Then the event takes the slow path. */
CHROPROF__INLINE bool chroprof__look_at_ring(chroprof__core *c, chroprof__moment *m)
{
    m->next_row = c->next_row;
    m->depth = c->depth;
    return CHROPROF__LIKELY(m->next_row < chroprof__front_of(c)->row_limit);
}

CHROPROF__INLINE bool chroprof__look(chroprof__core *c, uint64_t now, chroprof__moment *m)
{
    return chroprof__look_at_time(c, now, &c->time_limit, m) && chroprof__look_at_ring(c, m);
}

/* The clock value again, so that no fast path has to keep it. */
CHROPROF__INLINE uint64_t chroprof__now_of(const chroprof__core *c, const chroprof__moment *m)
{
    return m->t + *(const volatile uint64_t *)&c->epoch;
}

/* The row of the ring that event number n has, or had. */
CHROPROF__INLINE chroprof__ring_row *chroprof__ring_of(const chroprof *p, const chroprof__core *c,
                                                       uint64_t seq)
{
    return (chroprof__ring_row *)(void *)((char *)p->ring +
                                          (seq & c->ring_mask) * (sizeof(*p->ring) / 2));
}

CHROPROF__INLINE chroprof__ring_row *chroprof__ring_at(const chroprof *p, const chroprof__core *c,
                                                       uint64_t n)
{
    return chroprof__ring_of(p, c, n << 1);
}

/* Do events of this state name a future? The rows of others keep an id that was there before. */
CHROPROF__INLINE bool chroprof__names_id(chroprof_state state)
{
    return state <= CHROPROF_CANCELLED || state == CHROPROF_SWITCH || state > CHROPROF_NEXT;
}

/* What the event of a row said. */
CHROPROF__INLINE chroprof_state chroprof__row_state(const chroprof__ring_row *row)
{
    uint32_t state = row->state;
    return (chroprof_state)(state == UINT8_MAX ? state : state & ~(uint32_t)CHROPROF__PUSHED_NONE);
}

CHROPROF__INLINE uint64_t chroprof__row_id(const chroprof__ring_row *row)
{
    return chroprof__names_id(chroprof__row_state(row)) ? row->id : 0;
}

/* The event under way says that something runs, but puts no frame on the stack. */
static void chroprof__push_none(const chroprof *p)
{
    chroprof__ring_of(p, p->core, p->core->seq)->state |= CHROPROF__PUSHED_NONE;
}

/* The row comes before all changes, so that a reader of a killed program knows what was under way.
 * While the event lasts seq is odd, and seq / 2 is its number. top: where the path on top and the
 * depth lie side by side, to be copied at once: in the core or in the top frame. NULL: the event
 * needs both for itself, and m has them. */
CHROPROF__INLINE void chroprof__open_row(chroprof__core *c, const chroprof__moment *m,
                                         const uint32_t *top, chroprof_state state, uint64_t id)
{
    uint64_t at = m->next_row;
#define CHROPROF__ROW ((chroprof__ring_row *)(void *)((char *)c + at))
    CHROPROF__ROW->time = m->t;
    CHROPROF__ONE_WORD(at);                 /* so that each store adds by itself: no other does */
    if (chroprof__names_id(state))
        CHROPROF__ROW->id = id;
    CHROPROF__ONE_WORD(at);
    if (top && CHROPROF__LITTLE) {          /* 32 bits of the depth, half of which is overwritten */
        memcpy((char *)c + at + offsetof(chroprof__ring_row, path), top, 8);
    } else {
        CHROPROF__ROW->path = (uint32_t)m->account;
        CHROPROF__ONE_WORD(at);
        CHROPROF__ROW->depth = (uint16_t)m->depth;
    }
    CHROPROF__ONE_WORD(at);
    CHROPROF__ROW->state = (uint8_t)((uint32_t)state < UINT8_MAX ? (uint32_t)state : UINT8_MAX);
#undef CHROPROF__ROW
    CHROPROF__STORE_FENCE();
    c->seq++;
    CHROPROF__STORE_FENCE();
}

CHROPROF__INLINE void chroprof__close_event(chroprof__core *c)
{
    CHROPROF__STORE_FENCE();
    c->seq++;
}

CHROPROF__INLINE void chroprof__bill(const chroprof__core *c, chroprof__path_row *row, uint64_t dt)
{
    row->exec += dt;
    row->blame += dt * c->ready;
}

/* The interval that a plain event closes is billed to the path on top. */
CHROPROF__INLINE void chroprof__bill_plain(chroprof__core *c, const chroprof__moment *m,
                                           chroprof__path_row *row)
{
    c->next_row += sizeof(chroprof__ring_row);
    chroprof__bill(c, row, m->dt);
    c->last = m->t;
}

/* Opens a plain event: its row, and the bill. top: as above. Returns the path that the interval was
 * billed to. */
CHROPROF__INLINE chroprof__path_row *chroprof__open_under(const chroprof *p, chroprof__core *c,
                                                          const chroprof__moment *m,
                                                          const uint32_t *top,
                                                          chroprof_state state, uint64_t id)
{
    chroprof__open_row(c, m, top, state, id);
    chroprof__path_row *row = p->paths + m->account;
    chroprof__bill_plain(c, m, row);
    return row;
}

CHROPROF__INLINE void chroprof__open_event(const chroprof *p, chroprof__core *c,
                                           const chroprof__moment *m, chroprof_state state,
                                           uint64_t id)
{
    chroprof__open_under(p, c, m, NULL, state, id);
}

/* A window has ended, or what might be a long time: what is on top, and what any event may bring
 * there, are of the present window. Frames on the stack are not; they are looked at on their way
 * down. So no frame that the fast paths take off has been there longer than half of what the
 * histograms hold. */
static void chroprof__age(const chroprof *p, chroprof__core *c)
{
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        chroprof__freshen(c, p->paths + k);
    chroprof__freshen(c, p->paths + c->account);
    if (c->depth)
        p->frames[c->depth].kind |= CHROPROF__AGED;
    c->aged_at = c->last;
}

/* Bills up to t across the borders of windows. */
static void chroprof__bill_across(chroprof *p, uint32_t account, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + account;
    chroprof__widen_windows(c, t);
    if (row->window != c->window)
        chroprof__close_window(c, row);
    while (t >= c->windows.end) {            /* the end of the window that last is in */
        chroprof__bill(c, row, c->windows.end - c->last);
        c->last = c->windows.end;
        c->window++;
        c->windows.end += c->windows.ticks;
        chroprof__close_window(c, row);
    }
    chroprof__bill(c, row, t - c->last);
    c->last = t;
}

/* The profile begins at the first event where nothing else says when. */
static void chroprof__start_at(chroprof__core *c, uint64_t now)
{
    c->process.start_clock = now;
    c->epoch = now - c->last;
    CHROPROF__STORE_FENCE();
    c->started = 1;
}

/* The event after which the profile was off names no id; in its row stands this. */
static uint64_t chroprof__off_mark(uint64_t n)
{
    return n ^ UINT64_C(0x9E3779B97F4A7C15);
}

static bool chroprof__is_off(const chroprof__ring_row *row, uint64_t n)
{
    return row->state == CHROPROF_TICK && row->id == chroprof__off_mark(n);
}

/* Numbers of the events whose rows are there: from first up to, not including, end. The row of an
 * event under way counts. Between two events the oldest row does not: the next event may be writing
 * over it already, which nobody sees from outside. */
typedef struct chroprof__reach {
    uint64_t first, end;
} chroprof__reach;

static chroprof__reach chroprof__ring_reach(const chroprof__core *c)
{
    chroprof__reach r;
    r.end = (c->seq + 1) >> 1;
    r.first = chroprof__minus(c->seq >> 1, c->ring_mask / 2);
    r.first = c->ring.first > r.first ? c->ring.first : r.first;
    return r;
}
