/* event/fast.h: what nearly all events do */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/items.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/tally.h"
#include "../event/open.h"
#include "../event/slow.h"
#include "../event/stack.h"
#include "../event/events.h"
#include "../event/callers.h"

/* >>fast: the fast path of each event, next to nothing but what has to be done. Whatever is rare
 * is asked for at once, before anything changes, and takes the slow path. Both are made of the
 * same parts. */

/* Events come from one thread at a time. The fast paths do not ask which, so a look here that
 * finds another one than before has some of the next events take the slow path too, now and then.
 * Between two looks without an event in between, the thread may change only if the stack is
 * empty. */
enum { CHROPROF__WATCHED_EVENTS = 64, CHROPROF__WATCHES_APART = 1024 };
static void chroprof__look_at_thread(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__front *front = chroprof__front_of(c);
    uint64_t self = chroprof__thread();
    if (self != front->thread && front->thread != 0) {
        if (c->seq - front->looked == 2 && chroprof__ring_of(p, c, c->seq)->depth != 0)
            chroprof__count(p, CHROPROF_ANOMALY_THREAD);
        if (front->watch == 0 || c->seq - front->watch >= 2 * CHROPROF__WATCHES_APART)
            front->watch = c->seq;
    }
    front->thread = self;
    front->looked = c->seq;
    if (front->watch != 0 && c->seq - front->watch < 2 * CHROPROF__WATCHED_EVENTS)
        c->time_limit = c->last;
}

/* The slow path of an event, whatever it meets. */
CHROPROF__NOINLINE void chroprof__slow_path(chroprof *p, chroprof_state state, uint64_t id,
                                            const chroprof_site *site, uint64_t now)
{
    if (chroprof__in_child(p))
        return;
    uint64_t t = chroprof__begin_event(p, state, id, now);
    if (state <= CHROPROF_CANCELLED && id == 0)
        chroprof__without_id(p, state, site);
    else
        chroprof__dispatch(p, p->core, state, id, site, t);
    chroprof__look_at_thread(p);
    chroprof__close_event(p->core);
    if (p->stalls_due)
        p->tell(p);
    if (p->asks)
        p->follow(p, 0, CHROPROF__BEGINS_NONE);
}

/* A task begins in the slow path. The record of the function that sent the event is read first: the
 * place of this one's own is free as soon as it has jumped elsewhere. base: the stack pointer. */
CHROPROF__COLD void chroprof__begin_slowly(chroprof *p, chroprof_state state, uint64_t id,
                                           const chroprof_site *site, uint64_t now, uint64_t base)
{
#if CHROPROF__SAMPLES
    if (p->asks && !chroprof__in_child(p)) {
        const void *own = __builtin_frame_address(0);
        uintptr_t record = chroprof__stack_word((uintptr_t)own);
        chroprof__sampler *s = chroprof__sampler_of(p->core);
        chroprof__poke64(&s->noting, 1);
        p->asks = false;
        chroprof__slow_path(p, state, id, site, now);
        if (p->sampling)
            p->follow(p, record, base);
        p->asks = p->sampling && p->gate == CHROPROF__OPEN_GATE;
        chroprof__poke64(&s->noting, 0);
        return;
    }
#endif
    (void)base;
    chroprof__slow_path(p, state, id, site, now);
}

/* Is this the slot of a live future without a frame? An empty one has id 0. */
CHROPROF__INLINE bool chroprof__waits(const chroprof__future_row *slot, uint64_t id)
{
    return slot->id == id && id != 0 && slot->frame == 0 && slot->state <= CHROPROF_PAUSED &&
           slot->state != CHROPROF_RUNNING;
}

/* Was it paused, and is nothing else known of it? Most that run are. An empty slot was not. */
CHROPROF__INLINE bool chroprof__rests(const chroprof__future_row *slot)
{
    return slot->frame == 0 && slot->state == CHROPROF_PAUSED && slot->flags == 0;
}

/* Was it created, and nothing else? */
CHROPROF__INLINE bool chroprof__is_new(const chroprof__future_row *slot, uint64_t id)
{
    return slot->frame == 0 && slot->state == CHROPROF_PENDING && slot->flags == 0 &&
           slot->id == id && id != 0;
}

/* May this future run, and is there a place for the delay that it has then, if it is ready? */
CHROPROF__INLINE bool chroprof__may_run(const chroprof *p, const chroprof__core *c,
                                        const chroprof__future_row *slot, uint64_t id, uint64_t t,
                                        chroprof__spot *delay)
{
    const chroprof__path_row *path = p->paths + slot->path;
    if (CHROPROF__LIKELY(chroprof__rests(slot)))
        return path->window == c->window;
    return chroprof__waits(slot, id) && path->window == c->window &&
           (slot->state != CHROPROF_READY ||
            chroprof__find_spot(p, &p->histograms[path->histogram].delay,
                                chroprof__bucket(t - slot->since), delay));
}

/* Where there is room for the lifetime of a future that finishes now. False: nowhere. */
CHROPROF__INLINE bool chroprof__latency_spot(const chroprof *p, const chroprof__future_row *slot,
                                           uint64_t t, chroprof__spot *spot)
{
    uint32_t row = p->paths[slot->path].histogram;
    return chroprof__find_spot(p, &p->histograms[row].latency, chroprof__bucket(t - slot->created),
                                spot);
}

CHROPROF__INLINE bool chroprof__is_base(const chroprof__frame_row *frame)
{
    return (frame[-1].kind & CHROPROF__BARRIER) != 0;
}

/* May the activation of the top frame just be added up? A callback is looked at beyond its
 * limit. */
CHROPROF__INLINE bool chroprof__may_end(const chroprof__core *c, const chroprof__frame_row *frame,
                                        uint32_t kind, uint64_t length)
{
    return frame->kind == kind && (!chroprof__is_base(frame) || length <= c->callback.limit);
}

/* The slice of a plain frame ends, and its activation: its callback ends with it, or the frame
 * below goes on. */
CHROPROF__INLINE void chroprof__end_frame(const chroprof *p, chroprof__core *c,
                                          chroprof__path_row *row, chroprof__frame_row *frame,
                                          bool base, uint64_t slice, uint64_t length)
{
    chroprof__raise(&row->slice_max, slice);
    if (base)
        chroprof__count_callback(p, c, length, length);
    else
        frame[-1].start += length;
}

/* The slice and the activation of a plain frame of a future end. Returns the slice. */
CHROPROF__INLINE uint64_t chroprof__end_run(const chroprof *p, chroprof__core *c,
                                            chroprof__path_row *row, chroprof__frame_row *frame,
                                            bool base, uint64_t t)
{
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    uint64_t slice = t - frame->start;
    uint64_t exec = slot->exec + slice;
    slot->exec = exec;
    slot->frame = 0;
    chroprof__come_to_rest(slot, t);
    chroprof__end_activation(row, exec);
    chroprof__end_frame(p, c, row, frame, base, slice, t - frame->pushed);
    return slice;
}

/* The slice and the activation of a plain frame of a call end. Returns the slice. */
CHROPROF__INLINE uint64_t chroprof__end_enter(const chroprof *p, chroprof__core *c,
                                              chroprof__path_row *row, chroprof__frame_row *frame,
                                              bool base, uint64_t t, uint64_t length)
{
    uint64_t slice = t - frame->start;
    chroprof__end_call(row, length);
    chroprof__end_frame(p, c, row, frame, base, slice, length);
    if (base)
        chroprof__end_found(c, row);
    return slice;
}

/* The frame below is on top. */
CHROPROF__INLINE void chroprof__drop_frame(chroprof__core *c, const chroprof__frame_row *frame)
{
    c->account = frame[-1].path;
    c->depth = frame[-1].depth;
}

CHROPROF__COLD void chroprof__count_shortest_and_close(const chroprof *p,
                                                       const chroprof__path_row *row,
                                                       uint64_t slice)
{
    chroprof__count_shortest(p, row, slice);
    chroprof__close_event(p->core);
}

CHROPROF__COLD void chroprof__carry_and_close(const chroprof *p, uint64_t full)
{
    chroprof__carry(p, full);
    chroprof__close_event(p->core);
}

/* Counts a slice and closes the event: calls at the end need no stack of ours. */
CHROPROF__INLINE void chroprof__count_and_close(const chroprof *p, chroprof__core *c,
                                                const chroprof__path_row *row, uint64_t slice)
{
    uint64_t full;
    if (CHROPROF__RARELY(chroprof__is_shortest(c, row, slice)))
        chroprof__count_shortest_and_close(p, row, slice);
    else if (CHROPROF__LIKELY(chroprof__defer_slice(c, row, slice, &full)))
        chroprof__close_event(c);
    else
        chroprof__carry_and_close(p, full);
}

/* Counts a slice in the middle of an event. */
CHROPROF__INLINE void chroprof__count_slice(const chroprof *p, chroprof__core *c,
                                            const chroprof__path_row *row, uint64_t slice)
{
    uint64_t full;
    if (CHROPROF__RARELY(chroprof__is_shortest(c, row, slice)))
        chroprof__count_shortest(p, row, slice);
    else if (CHROPROF__RARELY(!chroprof__defer_slice(c, row, slice, &full)))
        chroprof__carry(p, full);
}

CHROPROF__NOINLINE void chroprof__take_pending(chroprof *p, uint64_t id, const chroprof_site *site,
                                               chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_FUTURES];
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    const chroprof__shortcut *s = chroprof__remembered(p, &c->window, site);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || id == 0 || slot->id != 0 || !s ||
                         table->used == table->capacity)) {
        chroprof__slow_path(p, CHROPROF_PENDING, id, site, chroprof__now_of(c, &m));
        return;
    }
    uint32_t path = s->target;
    chroprof__open_event(p, c, &m, CHROPROF_PENDING, id);
    chroprof__begin_life(p->paths + path, table, slot, id, m.t);
    slot->path = path;
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_ready(chroprof *p, uint64_t id, chroprof__future_row *home,
                                             uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || !chroprof__waits(slot, id) ||
                         slot->state == CHROPROF_READY)) {
        chroprof__slow_path(p, CHROPROF_READY, id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_READY, id);
    if (m.depth == c->barrier)
        chroprof__count_found(c, p->paths + slot->path, slot);
    chroprof__begin_ready(p, slot, m.t);
    chroprof__close_event(c);
}

/* A future that is ready, or whatever else. */
CHROPROF__NOINLINE void chroprof__run_otherwise(chroprof *p, uint64_t id,
                                                const chroprof_site *site,
                                                chroprof__future_row *home, uint64_t now,
                                                uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot delay = { NULL, NULL };
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || m.depth == p->max_depth ||
                         !chroprof__may_run(p, c, slot, id, m.t, &delay) ||
                         !CHROPROF__KNOWS_CALLER(p, chroprof__caller_at(p, slot->path), base,
                                                 &m))) {
        chroprof__begin_slowly(p, CHROPROF_RUNNING, id, site, chroprof__now_of(c, &m), base);
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_RUNNING, id);
    chroprof__may_be_found(p, slot);
    chroprof__start_running(p, slot, &delay, m.t);
    chroprof__pushed n = { m.depth, slot->path, CHROPROF__FUTURE_FRAME, m.t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + m.depth, n);
    chroprof__bind_plain(p, c, frame, slot, id);
    chroprof__close_event(c);
}

CHROPROF__INLINE void chroprof__do_running(chroprof *p, uint64_t id, const chroprof_site *site,
                                           chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__rests(slot) && !chroprof__is_new(slot, id))) {
        chroprof__run_otherwise(p, id, site, slot, now, chroprof__caller_base());
        return;
    }
    chroprof__path_row *row = p->paths + slot->path;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->time_limit, &m) ||
                         row->window != c->window ||
                         !CHROPROF__KNOWS_CALLER(p, chroprof__caller_at(p, slot->path), 0, &m) ||
                         !chroprof__look_at_ring(c, &m) || m.depth == p->max_depth)) {
        chroprof__run_otherwise(p, id, site, slot, chroprof__now_of(c, &m),
                                chroprof__caller_base());
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_RUNNING, id);
    if (CHROPROF__LIKELY(m.depth == c->barrier))
        chroprof__count_found(c, row, slot);
    slot->since = m.t;
    chroprof__pushed n = { m.depth, slot->path, CHROPROF__FUTURE_FRAME, m.t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + m.depth, n);
    chroprof__bind_plain(p, c, frame, slot, id);
    slot->state = CHROPROF_RUNNING;
    chroprof__close_event(c);
}

/* An event that ends the activation of the top frame, a future's or a call's. */
typedef struct chroprof__ending {
    uint32_t kind;             /* of the frame */
    chroprof_state state;
    uint64_t id;               /* of the frame's future */
} chroprof__ending;

CHROPROF__INLINE void chroprof__end_top(chroprof *p, chroprof__core *c, const chroprof__moment *m,
                                        chroprof__path_row *row, chroprof__frame_row *frame,
                                        chroprof__ending e, bool base, uint64_t length)
{
    chroprof__open_row(c, m, &frame->path, e.state, e.id);
    chroprof__bill_plain(c, m, row);
    uint64_t slice = e.kind == CHROPROF__ENTER_FRAME
                         ? chroprof__end_enter(p, c, row, frame, base, m->t, length)
                         : chroprof__end_run(p, c, row, frame, base, m->t);
    chroprof__drop_frame(c, frame);
    chroprof__count_and_close(p, c, row, slice);
}

/* The top frame must be a plain one of that kind and id. Callbacks and inner activations have
 * functions of their own; a callback beyond its limit is looked at. */
CHROPROF__INLINE void chroprof__do_end(chroprof *p, chroprof__ending e, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    uint64_t length;
    chroprof__frame_row *frame = p->frames + c->depth;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || frame->kind != e.kind ||
                         (e.kind == CHROPROF__FUTURE_FRAME && frame->id != e.id))) {
        chroprof__slow_path(p, e.state, e.id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = p->paths + m.account;
    CHROPROF__ONE_WORD(c);                  /* so that p stays where the slow path wants it */
    if (!chroprof__is_base(frame))
        chroprof__end_top(p, c, &m, row, frame, e, false, m.t - frame->pushed);
    else if (CHROPROF__LIKELY((length = m.t - frame->pushed) <= c->callback.limit))
        chroprof__end_top(p, c, &m, row, frame, e, true, length);
    else
        chroprof__slow_path(p, e.state, e.id, NULL, chroprof__now_of(c, &m));
}

CHROPROF__INLINE void chroprof__do_paused(chroprof *p, uint64_t id, uint64_t now)
{
    chroprof__ending e = { CHROPROF__FUTURE_FRAME, CHROPROF_PAUSED, 0 };
    e.id = id;
    chroprof__do_end(p, e, now);
}

CHROPROF__INLINE void chroprof__do_leave(chroprof *p, uint64_t now)
{
    chroprof__ending e = { CHROPROF__ENTER_FRAME, CHROPROF_LEAVE, 0 };
    chroprof__do_end(p, e, now);
}

/* From a future on top to one that waits: the frame just changes hands. */
CHROPROF__INLINE void chroprof__do_switch(chroprof *p, uint64_t id, chroprof__future_row *home,
                                          uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot delay = { NULL, NULL };
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    chroprof__frame_row *frame = p->frames + c->depth;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) ||
                         !chroprof__may_end(c, frame, CHROPROF__FUTURE_FRAME,
                                            m.t - frame->pushed) ||
                         !chroprof__may_run(p, c, slot, id, m.t, &delay))) {
        chroprof__slow_path(p, CHROPROF_SWITCH, id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, CHROPROF_SWITCH, id);
    bool base = chroprof__is_base(frame);
    uint64_t slice = chroprof__end_run(p, c, row, frame, base, m.t);
    if (base && slot->state != CHROPROF_READY)
        chroprof__count_found(c, p->paths + slot->path, slot);
    chroprof__start_running(p, slot, &delay, m.t);
    frame->pushed = frame->start = m.t;
    frame->event = (uint32_t)c->seq;
    frame->path = c->account = slot->path;
    frame->id = id;
    frame->slot = chroprof__words_to(p, slot);
    slot->frame = (uint16_t)frame->depth;
    chroprof__count_and_close(p, c, row, slice);
}

/* What is left to do for a future that finished. */
CHROPROF__NOINLINE void chroprof__free_and_close(chroprof *p, chroprof__future_row *slot)
{
    chroprof__free_slot(p, slot);
    chroprof__close_event(p->core);
}

/* A finish of what is not on top: of a future without frames, as timers and sockets are. */
CHROPROF__NOINLINE void chroprof__finish_waiting(chroprof *p, chroprof_state state, uint64_t id,
                                                 const chroprof_site *site,
                                                 chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot latency;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (!chroprof__look(c, now, &m) || !chroprof__waits(slot, id) ||
        !chroprof__latency_spot(p, slot, m.t, &latency)) {
        chroprof__slow_path(p, state, id, site, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, state, id);
    chroprof__may_be_found(p, slot);
    chroprof__count_finish(p, slot, state, m.t);
    chroprof__add_there(&latency, m.t - slot->created);
    if (chroprof__is_slow(p, c, slot, m.t))
        chroprof__keep_slow(p, slot, slot->exec, state, m.t);
    chroprof__end_life(p, c, slot, m.t);
    chroprof__close_event(c);
}

/* A finish of the future on top. */
CHROPROF__NOINLINE void chroprof__take_finish(chroprof *p, chroprof_state state, uint64_t id,
                                              const chroprof_site *site, chroprof__future_row *home,
                                              uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot latency;
    chroprof__frame_row *frame = p->frames + c->depth;
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || frame->id != id ||
                         !chroprof__may_end(c, frame, CHROPROF__FUTURE_FRAME,
                                            m.t - frame->pushed) ||
                         !chroprof__latency_spot(p, slot, m.t, &latency))) {
        chroprof__finish_waiting(p, state, id, site, home, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, state, id);
    uint64_t slice = chroprof__end_run(p, c, row, frame, chroprof__is_base(frame), m.t);
    chroprof__drop_frame(c, frame);
    chroprof__count_finish(p, slot, state, m.t);
    chroprof__add_there(&latency, m.t - slot->created); /* before a count gives ranges away */
    chroprof__count_slice(p, c, row, slice);
    if (chroprof__is_slow(p, c, slot, m.t))
        chroprof__keep_slow(p, slot, slot->exec, state, m.t);
    row->live--;
    row->lifetime += m.t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__RARELY(chroprof__next_slot(p, slot)->id != 0)) {
        chroprof__free_and_close(p, slot);
        return;
    }
    memset(slot, 0, sizeof(*slot));
    chroprof__close_event(c);
}

/* A call whose path is remembered in the first or the other of two places. */
CHROPROF__INLINE bool chroprof__enter_by(chroprof *p, const chroprof_site *site, bool first,
                                         chroprof__moment *m, uint64_t now, uint64_t base)
{
    chroprof__core *c = p->core;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->time_limit, m)))
        return false;
    chroprof__shortcut *s = chroprof__shortcut_home(p, m->account, site);
    s = first ? s : chroprof__other_place(p, s);
    if (CHROPROF__RARELY(!chroprof__is_known(s, &c->window, site) ||
                         !CHROPROF__KNOWS_CALLER(p, s->caller, base, m) ||
                         !chroprof__look_at_ring(c, m) || m->depth == p->max_depth))
        return false;
    uint32_t path = s->target;
    chroprof__open_event(p, c, m, CHROPROF_ENTER, 0);
    chroprof__push_call(c, p->frames + m->depth, m->depth, path, m->t);
    chroprof__close_event(c);
    return true;
}

CHROPROF__NOINLINE void chroprof__enter_elsewhere(chroprof *p, const chroprof_site *site,
                                                  uint64_t now, uint64_t base)
{
    chroprof__moment m;
    if (!chroprof__enter_by(p, site, false, &m, now, base))
        chroprof__begin_slowly(p, CHROPROF_ENTER, 0, site, now, base);
}

CHROPROF__INLINE void chroprof__do_enter(chroprof *p, const chroprof_site *site, uint64_t now)
{
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__enter_by(p, site, true, &m, now, 0)))
        chroprof__enter_elsewhere(p, site, chroprof__now_of(p->core, &m),
                                  chroprof__caller_base());
}

/* From one call to the next: the frame just changes hands. */
CHROPROF__NOINLINE void chroprof__take_next(chroprof *p, const chroprof_site *site, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__frame_row *frame = p->frames + c->depth;
    const uint32_t top[] = { c->window, frame[c->depth ? -1 : 0].path };
    const chroprof__shortcut *s = chroprof__remembered(p, top, site);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || !s ||
                         !chroprof__may_end(c, frame, CHROPROF__ENTER_FRAME,
                                            m.t - frame->pushed))) {
        chroprof__slow_path(p, CHROPROF_NEXT, 0, site, now);
        return;
    }
    uint32_t path = s->target;
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, CHROPROF_NEXT, 0);
    uint64_t length = m.t - frame->pushed;
    uint64_t slice = chroprof__end_enter(p, c, row, frame, chroprof__is_base(frame), m.t, length);
    chroprof__push_call(c, frame - 1, frame[-1].depth, path, m.t);
    chroprof__count_and_close(p, c, row, slice);
}

CHROPROF__INLINE void chroprof__do_idle_enter(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    uint64_t length;
    bool plain = chroprof__look(c, now, &m);
    length = m.t - c->iteration.start;
    if (CHROPROF__RARELY(!plain || m.depth != c->barrier || length > c->iteration.limit)) {
        chroprof__slow_path(p, CHROPROF_IDLE_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_IDLE_ENTER, 0);
    chroprof__count_iteration(p, c, length, length);
    c->account = CHROPROF__IDLE;
    c->time_limit = m.t;            /* no event but idle_leave takes the fast path */
    chroprof__close_event(c);
}

/* A signal between the load of one limit and the store of the other has its sample wait: at most
 * until that limit, which is at most the sampler's next look at the CPU clock, or idle_leave. */
CHROPROF__INLINE void chroprof__do_idle_leave(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->iteration.idle_limit, &m) ||
                         m.account != CHROPROF__IDLE || !chroprof__look_at_ring(c, &m))) {
        chroprof__slow_path(p, CHROPROF_IDLE_LEAVE, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_under(p, c, &m, &c->account, CHROPROF_IDLE_LEAVE, 0);
    c->time_limit = c->iteration.idle_limit;
    chroprof__begin_iteration(c, m.dt);
    chroprof__close_event(c);
}

#ifdef CHROPROF_WAIT_CALLS
/* The second of two events of one instant has no interval to bill. False: something rare wants the
 * slow path. */
CHROPROF__INLINE bool chroprof__look_at_once(chroprof__core *c, chroprof__moment *m)
{
    m->t = c->last;
    m->dt = 0;
    m->account = c->account;
    return CHROPROF__LIKELY(m->t < c->time_limit) && chroprof__look_at_ring(c, m);
}

CHROPROF__INLINE void chroprof__open_at_once(chroprof__core *c, const chroprof__moment *m,
                                             chroprof_state state)
{
    chroprof__open_row(c, m, NULL, state, 0);
    c->next_row += sizeof(chroprof__ring_row);
}

/* The wait begins as the call on top ends. */
CHROPROF__INLINE void chroprof__do_leave_for_idle(chroprof *p, uint64_t now)
{
    chroprof__do_leave(p, now);
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look_at_once(c, &m);
    uint64_t length = m.t - c->iteration.start;
    if (CHROPROF__RARELY(!plain || m.depth != c->barrier || length > c->iteration.limit)) {
        chroprof__slow_path(p, CHROPROF_IDLE_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_at_once(c, &m, CHROPROF_IDLE_ENTER);
    chroprof__count_iteration(p, c, length, length);
    c->account = CHROPROF__IDLE;
    c->time_limit = m.t;
    chroprof__close_event(c);
}

/* A call begins as the wait ends. */
CHROPROF__INLINE void chroprof__do_enter_from_idle(chroprof *p, const chroprof_site *site,
                                                   uint64_t now)
{
    chroprof__do_idle_leave(p, now);
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look_at_once(c, &m);
    chroprof__shortcut *s = chroprof__shortcut_home(p, m.account, site);
    if (CHROPROF__RARELY(!plain || !chroprof__is_known(s, &c->window, site) ||
                         !CHROPROF__KNOWS_CALLER(p, s->caller, 0, &m) ||
                         m.depth == p->max_depth)) {
        chroprof__enter_elsewhere(p, site, chroprof__now_of(c, &m), chroprof__caller_base());
        return;
    }
    uint32_t path = s->target;
    chroprof__open_at_once(c, &m, CHROPROF_ENTER);
    chroprof__push_call(c, p->frames + m.depth, m.depth, path, m.t);
    chroprof__close_event(c);
}
#endif

CHROPROF__NOINLINE void chroprof__take_loop_enter(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || m.depth == p->max_depth)) {
        chroprof__slow_path(p, CHROPROF_LOOP_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_LOOP_ENTER, 0);
    chroprof__push_barrier(p, c, m.t);
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_loop_leave(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look(c, now, &m);
    if (CHROPROF__RARELY(!plain || m.depth == 0 || m.depth != c->barrier)) {
        chroprof__slow_path(p, CHROPROF_LOOP_LEAVE, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_LOOP_LEAVE, 0);
    chroprof__pop_barrier(p, p->frames + m.depth, m.t);
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_tick(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m))) {
        chroprof__slow_path(p, CHROPROF_TICK, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_under(p, c, &m, &c->account, CHROPROF_TICK, 0);
    chroprof__close_event(c);
}

/* One event, as chroprof_event gets it. home: where the search for the id begins. */
static void chroprof__take_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now)
{
    chroprof__future_row *home = chroprof__home(p, id);
    switch (state) {
    case CHROPROF_PENDING: chroprof__take_pending(p, id, site, home, now); break;
    case CHROPROF_READY: chroprof__take_ready(p, id, home, now); break;
    case CHROPROF_RUNNING: chroprof__do_running(p, id, site, home, now); break;
    case CHROPROF_PAUSED: chroprof__do_paused(p, id, now); break;
    case CHROPROF_SWITCH: chroprof__do_switch(p, id, home, now); break;
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: chroprof__take_finish(p, state, id, site, home, now); break;
    case CHROPROF_ENTER: chroprof__do_enter(p, site, now); break;
    case CHROPROF_LEAVE: chroprof__do_leave(p, now); break;
    case CHROPROF_NEXT: chroprof__take_next(p, site, now); break;
    case CHROPROF_IDLE_ENTER: chroprof__do_idle_enter(p, now); break;
    case CHROPROF_IDLE_LEAVE: chroprof__do_idle_leave(p, now); break;
    case CHROPROF_LOOP_ENTER: chroprof__take_loop_enter(p, now); break;
    case CHROPROF_LOOP_LEAVE: chroprof__take_loop_leave(p, now); break;
    case CHROPROF_TICK: chroprof__take_tick(p, now); break;
    default: chroprof__slow_path(p, state, id, site, now); break;
    }
}
