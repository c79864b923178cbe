/* public/send.h: the gates by which events come in */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/events.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/tables.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/samples.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/tally.h"
#include "../event/open.h"
#include "../event/events.h"
#include "../event/fast.h"
#include "../reading/paths.h"
#include "../reading/totals.h"

/* An event while the profile is off, or from inside on_stall. */
CHROPROF__COLD void chroprof__refuse(chroprof *p)
{
    if (!chroprof__has_block(p) || !p->in_hook)
        return;
    chroprof__met place = { p->core->last, 0, CHROPROF__LOOP, p->core->account };
    chroprof__count_at(p->core, CHROPROF_ANOMALY_EVENT_IN_HOOK, 1, place);
}

/* Does it take them at all? */
CHROPROF__INLINE bool chroprof__takes(chroprof *p)
{
    if (CHROPROF__LIKELY(p && chroprof__is_taking(p)))
        return !chroprof__in_child(p);
    chroprof__refuse(p);
    return false;
}

/* An event of now, where the clock is a function. */
CHROPROF__NOINLINE void chroprof__clocked_event(chroprof *p, chroprof_state state, uint64_t id,
                                                const chroprof_site *site)
{
    chroprof__take_event(p, state, id, site, chroprof__read_clock(p));
}

#if CHROPROF__SAMPLES
/* What comes after an event while the sampler runs. First the record of the function that called
 * this one is read: the place of this one's own is free as soon as it has jumped elsewhere. It is
 * read as a word of the stack: MSan takes what a call has pushed for not written. */
#define CHROPROF__FOLLOW(p)                                                                      \
    do {                                                                                         \
        if ((p)->sampling) {                                                                     \
            const void *chroprof__own = __builtin_frame_address(0);                              \
            (p)->follow(p, chroprof__stack_word((uintptr_t)chroprof__own),                       \
                        CHROPROF__BEGINS_SLOWLY);                                                \
        }                                                                                        \
    } while (0)
#else
#define CHROPROF__FOLLOW(p) ((void)0)
#endif

/* An event that comes in by the side gate. */
CHROPROF__NOINLINE void chroprof__side_event(chroprof *p, chroprof_state state, uint64_t id,
                                         const chroprof_site *site)
{
    if (!chroprof__takes(p))
        return;
    if (p->sampling && chroprof__samples_wait(p->core))
        chroprof__slow_path(p, state, id, site, chroprof__read_clock(p));
    else
        chroprof__clocked_event(p, state, id, site);
    CHROPROF__FOLLOW(p);
}

/* The clock at the open gate, and where the search for the id begins. The slot is fetched before
 * the clock is read: with a million futures it comes from main memory, and the read hides a part of
 * the way. */
CHROPROF__INLINE uint64_t chroprof__gate_clock(const chroprof *p)
{
#if CHROPROF__HAS_COUNTER
    (void)p;
    return chroprof__counter();
#else
    return chroprof__read_clock(p);
#endif
}

CHROPROF__INLINE chroprof__future_row *chroprof__fetch_home(const chroprof *p, uint64_t id)
{
    chroprof__future_row *home = chroprof__home(p, id);
    CHROPROF__PREFETCH(home);
    return home;
}

#ifndef CHROPROF_DISABLE

CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now)
{
    if (!chroprof__takes(p))
        return;
    if (CHROPROF__RARELY(!p->core->started))
        chroprof__start_at(p->core, now);   /* under the manual clock only this tells the time */
    chroprof__take_event(p, state, id, site, now);
    CHROPROF__FOLLOW(p);
}

CHROPROF__COLD_API void chroprof_sample(chroprof *p, uint64_t now, uint64_t cpu_delta_ns)
{
    chroprof__entry by_hand, *e = &by_hand;
    bool takes = chroprof__has_block(p) && chroprof__is_taking(p);
    chroprof__sampler *s = takes ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    bool busy = chroprof__is_busy(p->core);
    if (!busy && !p->core->started)
        chroprof__start_at(p->core, now);
    memset(&by_hand, 0, sizeof(by_hand));
    if (busy)
        e = chroprof__begin_entry(p->core, s);
    p->drain = chroprof__drain_all;
    if (!e) {
        s->handler.lost++;
        return;
    }
    e->stamp = e->last = now;
    e->weight = 1;
    e->cpu_ns = cpu_delta_ns;
    chroprof__put_running(p->core, e);
    CHROPROF__STORE_FENCE();
    if (busy) {
        chroprof__poke64(&s->handler.put, s->handler.put + 1);
        chroprof__wake(p->core);
        return;
    }
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
}

CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line)
{
    if (!chroprof__has_block(p) || p->view || !name)
        return NULL;
    chroprof__begin_edit(p->core);
    uint32_t k = chroprof__intern_site(p->core, name, file ? file : "", line);
    chroprof__end_edit(p->core);
    return (const chroprof_site *)(const void *)chroprof__sites(p->core)[k].handle;
}

CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when)
{
    if (!chroprof__takes(p))
        return;
    chroprof__core *c = p->core;
    uint64_t now = chroprof__read_clock(p);
    uint64_t ago = now - when, late = ago >> 63 || id == 0 ? 0 : ago;
    if (late) {                             /* a step of its own, since a row has no room for it */
        chroprof__begin_event(p, CHROPROF_SINCE, late, now);
        chroprof__close_event(c);
    }
    uint64_t t = chroprof__begin_event(p, CHROPROF_READY, id, now);
    if (ago >> 63)
        chroprof__count(p, CHROPROF_ANOMALY_READY_AHEAD);
    if (id == 0)
        chroprof__count(p, CHROPROF_ANOMALY_ID_ZERO);
    else
        chroprof__on_ready(p, c, id, chroprof__minus(t, late));
    chroprof__close_event(c);
}

CHROPROF__COLD_API void chroprof_exiting(chroprof *p, uint64_t since)
{
    if (!chroprof__takes(p))
        return;
    chroprof__core *c = p->core;
    uint64_t now = chroprof__read_clock(p), last = c->last + c->epoch, ago = now - since;
    if (since == 0 || ago >> 63)
        ago = 0;
    chroprof__begin_event(p, CHROPROF_TICK, 0, ago < now - last ? now - ago : last);
    c->phase.exits = c->phase.begun = 1;
    if (c->depth == 0) {
        chroprof__no_iteration(c);
    }
    chroprof__set_time_limit(c);
    chroprof__close_event(c);
}

CHROPROF__COLD_API void chroprof_waited(chroprof *p, const char *call, const char *within,
                                        uint64_t since)
{
    if (!chroprof__takes(p) || !call || p->core->account < CHROPROF__FIRST_PATH)
        return;
    chroprof__core *c = p->core;
    uint64_t ticks = chroprof__read_clock(p) - since;
    if (ticks >= CHROPROF__END_OF_TIME)
        return;
    chroprof__begin_edit(c);
    chroprof__waited_row *row = chroprof__row_of_wait(c, p->paths[c->account].site, call,
                                                 within ? within : "");
    row->count++;
    row->ticks += ticks;
    chroprof__raise(&row->longest, ticks);
    chroprof__end_edit(c);
}

CHROPROF__COLD_API chroprof_result chroprof_add_wait(chroprof *p, const chroprof_task_wait *seen)
{
    if (!chroprof__has_block(p) || !seen || !seen->call || *seen->call == 0 || seen->site == 0 ||
        seen->count == 0 ||
        seen->site >= chroprof__site_count(p) || seen->total_ns >> 62 || seen->longest_ns >> 62)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__core *c = p->core;
    chroprof__begin_edit(c);
    chroprof__waited_row *row = chroprof__row_of_wait(c, seen->site, seen->call,
                                                      seen->within ? seen->within : "");
    row->estimated = 1;
    row->count += seen->count;
    row->ticks += chroprof__unscale(seen->total_ns, c->time.factor);
    chroprof__raise(&row->longest, chroprof__unscale(seen->longest_ns, c->time.factor));
    chroprof__end_edit(c);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_name_held(chroprof *p, chroprof_finding_kind kind,
                                                      uint64_t at_ns, uint32_t ppm,
                                                      const char *code)
{
    uint32_t place = chroprof__held_place(kind);
    if (!chroprof__has_block(p) || place == CHROPROF__HELD || !code || ppm > 1000000)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__held_row *row = p->core->told.held + place;
    chroprof__begin_edit(p->core);
    row->at_ns = at_ns;
    row->ppm = ppm;
    chroprof__copy_text(row->code, sizeof(row->code), code);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}

CHROPROF__COLD_API void chroprof_kept_awake(chroprof *p, const char *by)
{
    if (!chroprof__takes(p) || !by)
        return;
    chroprof__begin_edit(p->core);
    chroprof__copy_text(p->core->told.awake, sizeof(p->core->told.awake), by);
    chroprof__end_edit(p->core);
}

CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish)
{
    if (!chroprof__takes(p))
        return;
    bool good = finish >= CHROPROF_COMPLETED && finish <= CHROPROF_CANCELLED;
    chroprof_state state = good ? finish : CHROPROF_COMPLETED;
    chroprof__begin_event(p, state, 0, chroprof__read_clock(p));
    if (!site)
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    if (!good)
        chroprof__count(p, CHROPROF_ANOMALY_BAD_STATE);
    if (good && site)
        chroprof__on_stillborn(p, site);
    chroprof__close_event(p->core);
}

/* A call that sends an event: what it does at the open gate, else any other. While the profile is
 * off that is no call, and one more compare. The word is read again: so it can be an operand of
 * both. */
#define CHROPROF__SENDS_BY(gate, kind, call, parameters, state, id, site, fast)                    \
    CHROPROF_API void call parameters                                                              \
    {                                                                                              \
        if (CHROPROF__LIKELY(p && p->gate == (kind) + (uint32_t)CHROPROF__OPEN_GATE)) {            \
            fast;                                                                                  \
            return;                                                                                \
        }                                                                                          \
        CHROPROF__READ_AGAIN();                                                                    \
        if (p && p->gate == (kind) + (uint32_t)CHROPROF__SIDE_GATE)                                \
            chroprof__side_event(p, state, id, site);                                              \
    }
#define CHROPROF__SENDS(call, parameters, state, id, site, fast)                                   \
    CHROPROF__SENDS_BY(gate, 0u, call, parameters, state, id, site, fast)
#define CHROPROF__PASSES(call, parameters, state, id, site, fast)                                  \
    CHROPROF__SENDS_BY(pass_gate, CHROPROF__PASS_GATES, call, parameters, state, id, site, fast)
#define CHROPROF__IDLES(call, parameters, state, fast)                                             \
    CHROPROF__SENDS_BY(idle_gate, CHROPROF__IDLE_GATES, call, parameters, state, 0, NULL, fast)
CHROPROF__SENDS(chroprof_pending, (chroprof *p, uint64_t id, const chroprof_site *site),
                CHROPROF_PENDING, id, site,
                chroprof__take_pending(p, id, site, chroprof__fetch_home(p, id),
                                       chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_ready, (chroprof *p, uint64_t id), CHROPROF_READY, id, NULL,
                chroprof__take_ready(p, id, chroprof__fetch_home(p, id), chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_running, (chroprof *p, uint64_t id), CHROPROF_RUNNING, id, NULL,
                chroprof__do_running(p, id, NULL, chroprof__fetch_home(p, id),
                                     chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_paused, (chroprof *p, uint64_t id), CHROPROF_PAUSED, id, NULL,
                chroprof__do_paused(p, id, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_switch, (chroprof *p, uint64_t id), CHROPROF_SWITCH, id, NULL,
                 chroprof__do_switch(p, id, chroprof__fetch_home(p, id), chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_completed, (chroprof *p, uint64_t id), CHROPROF_COMPLETED, id, NULL,
                chroprof__take_finish(p, CHROPROF_COMPLETED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_failed, (chroprof *p, uint64_t id), CHROPROF_FAILED, id, NULL,
                chroprof__take_finish(p, CHROPROF_FAILED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_cancelled, (chroprof *p, uint64_t id), CHROPROF_CANCELLED, id, NULL,
                chroprof__take_finish(p, CHROPROF_CANCELLED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_enter, (chroprof *p, const chroprof_site *site), CHROPROF_ENTER, 0, site,
                chroprof__do_enter(p, site, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_leave, (chroprof *p), CHROPROF_LEAVE, 0, NULL,
                chroprof__do_leave(p, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_next, (chroprof *p, const chroprof_site *site), CHROPROF_NEXT, 0, site,
                 chroprof__take_next(p, site, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_loop_enter, (chroprof *p), CHROPROF_LOOP_ENTER, 0, NULL,
                 chroprof__take_loop_enter(p, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_loop_leave, (chroprof *p), CHROPROF_LOOP_LEAVE, 0, NULL,
                chroprof__take_loop_leave(p, chroprof__gate_clock(p)))
CHROPROF__IDLES(chroprof_idle_enter, (chroprof *p), CHROPROF_IDLE_ENTER,
                chroprof__do_idle_enter(p, chroprof__gate_clock(p)))
CHROPROF__IDLES(chroprof_idle_leave, (chroprof *p), CHROPROF_IDLE_LEAVE,
                chroprof__do_idle_leave(p, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_tick, (chroprof *p), CHROPROF_TICK, 0, NULL,
                chroprof__take_tick(p, chroprof__gate_clock(p)))

#ifdef CHROPROF_WAIT_CALLS
/* Is the gate of idle events open, and so the one of others? */
CHROPROF__INLINE bool chroprof__is_idle_open(const chroprof *p)
{
    return p && p->idle_gate == CHROPROF__IDLE_GATES + (uint32_t)CHROPROF__OPEN_GATE;
}

CHROPROF_API void chroprof_leave_for_idle(chroprof *p)
{
    if (CHROPROF__LIKELY(chroprof__is_idle_open(p))) {
        chroprof__do_leave_for_idle(p, chroprof__gate_clock(p));
        return;
    }
    chroprof_leave(p);
    chroprof_idle_enter(p);
}

CHROPROF_API void chroprof_enter_from_idle(chroprof *p, const chroprof_site *site)
{
    if (CHROPROF__LIKELY(chroprof__is_idle_open(p))) {
        chroprof__do_enter_from_idle(p, site, chroprof__gate_clock(p));
        return;
    }
    chroprof_idle_leave(p);
    chroprof_enter(p, site);
}
#endif
#undef CHROPROF__SENDS
#undef CHROPROF__PASSES
#undef CHROPROF__IDLES
#undef CHROPROF__SENDS_BY

#ifdef CHROPROF__EPOLL
#if defined(__mips__)
#define CHROPROF__MASK_BYTES 16             /* of the kernel's signal set */
#else
#define CHROPROF__MASK_BYTES 8
#endif
#define CHROPROF__POLLER_MOVES 16           /* waits of a task, before they are the loop's */

/* Whether a task waits there for what its loop does not know: that waits in another descriptor. One
 * in which it waits again and again, and the loop never in between, is the loop's. */
static bool chroprof__task_polls(chroprof *p, int fd, int ms)
{
    if (!chroprof__takes(p))
        return false;
    if (p->core->account < CHROPROF__FIRST_PATH) {
        p->poller = fd + 1;
    } else if (p->poller != 0 && p->poller != fd + 1) {
        if (ms == 0)
            return true;
        if (p->other_poller != fd + 1)
            p->other_polls = 0;
        p->other_poller = fd + 1;
        if (++p->other_polls < CHROPROF__POLLER_MOVES)
            return true;
        p->poller = fd + 1;
    }
    p->other_poller = 0;
    return false;
}

CHROPROF_API int chroprof__epoll_pwait(chroprof *p, int fd, void *events, int size, int ms,
                                      const void *mask)
{
    const bool task = chroprof__task_polls(p, fd, ms);
    const uint64_t since = task ? chroprof__read_clock(p) : 0;
    int count;
    if (!task)
        chroprof_idle_enter(p);
    count = (int)chroprof__system(SYS_epoll_pwait, fd, events, size, ms, mask,
                                  (long)CHROPROF__MASK_BYTES);
    if (!task)
        chroprof_idle_leave(p);
    else if (ms != 0)
        chroprof_waited(p, "epoll_wait", NULL, since);
    return count;
}
#endif

#endif /* CHROPROF_DISABLE */
