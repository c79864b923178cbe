/* event/events.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/windows.h"
#include "../block/clock.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/open.h"
#include "../event/slow.h"
#include "../event/stack.h"

/* >>events: one function a kind of event, whatever it meets. Each gets profile time t, with the
 * interval up to it billed. */

/* A future's record is about to go while it has frames: they lose it. Its lifetime goes on as long
 * as its code runs: by the slices of these frames, of which it has what there is by now. */
static void chroprof__orphan_frames(chroprof *p, const chroprof__future_row *slot)
{
    uint32_t k = slot->frame, last = 0;
    if (k == 0 || p->frames[k].kind & CHROPROF__ORPHAN)
        return;
    p->frames[k].kind |= CHROPROF__NEWEST;
    for (; k && !(p->frames[k].kind & CHROPROF__ORPHAN); k = p->frames[k].same) {
        p->frames[k].carried = last ? 0 : slot->exec;
        p->frames[k].kind |= CHROPROF__ORPHAN;
        p->paths[p->frames[k].path].lifetime -= chroprof__frame_slice(p, k);
        last = k;
    }
    p->frames[last].kind |= CHROPROF__OLDEST;
}

/* A live future's life ends; its slot stays only as long as it has frames. */
CHROPROF__INLINE void chroprof__end_life(chroprof *p, chroprof__core *c, chroprof__future_row *slot,
                                         uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    row->live--;
    row->lifetime += t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__LIKELY(slot->frame == 0)) {
        chroprof__free_slot(p, slot);
        return;
    }
    chroprof__orphan_frames(p, slot);
    slot->state = CHROPROF__GONE;
    slot->flags = 0;
}

/* A future's life begins in this slot. */
CHROPROF__INLINE void chroprof__begin_life(chroprof__path_row *row, chroprof__table_row *table,
                                           chroprof__future_row *slot, uint64_t id, uint64_t t)
{
    row->live++;
    row->lifetime -= t;
    if (++table->used > table->peak)
        table->peak = table->used;
    slot->id = id;
    slot->since = t;
    slot->created = t;
    slot->exec = 0;
    slot->state = CHROPROF_PENDING;
    slot->flags = 0;
}

/* How many futures the search for the oldest compares. A third of the slots and as many as
 * max_depth are empty, so it looks at no more slots than it needs for that. */
enum { CHROPROF__COMPARED = 64 };

/* Since when a future that may be dropped is in its state; UINT64_MAX: it may not. */
CHROPROF__INLINE uint64_t chroprof__age_key(const chroprof__future_row *slot)
{
    bool kept = (slot->id == 0) | (slot->state == CHROPROF_RUNNING) |
                (slot->state == CHROPROF__GONE);
    return slot->since | (0 - (uint64_t)kept);
}

/* Of the futures from the place of this id on that do not run, the one that has been longest in its
 * state, of several the one with the lowest id. NULL: all run. */
CHROPROF__COLD chroprof__future_row *chroprof__oldest(const chroprof *p, uint64_t id)
{
    chroprof__future_row *slot = chroprof__home(p, id), *oldest = NULL;
    const chroprof__future_row *end = p->futures + p->rows;
    uint32_t most = 4 * CHROPROF__COMPARED + 2 * p->core->tables[CHROPROF_TABLE_DEPTH].capacity;
    uint32_t left = p->rows < most ? p->rows : most, compared = 0;
    uint64_t best = UINT64_MAX - 1;
    for (; left > 0 && compared < CHROPROF__COMPARED; left--) {
        uint64_t key = chroprof__age_key(slot);
        compared += key != UINT64_MAX;
        if (key <= best && (key < best || !oldest || slot->id < oldest->id)) {
            best = key;
            oldest = slot;
        }
        if (++slot == end)
            slot = p->futures;
    }
    return oldest;
}

/* The table is full: the oldest future makes room for this id. False: there is none. */
CHROPROF__COLD bool chroprof__make_room(chroprof *p, uint64_t id, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *oldest = chroprof__oldest(p, id);
    c->tables[CHROPROF_TABLE_FUTURES].dropped++;
    c->ever_dropped = 1;
    if (!oldest)
        return false;
    p->paths[oldest->path].dropped++;
    chroprof__end_life(p, c, oldest, t);
    return true;
}

/* A new live future on a path. NULL: it is a call that nobody sees again. */
CHROPROF__NOINLINE chroprof__future_row *chroprof__create(chroprof *p, chroprof__core *c,
                                                          uint64_t id, uint32_t path, uint64_t t)
{
    chroprof__path_row *row = p->paths + path;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_FUTURES];
    chroprof__future_row *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id == id && slot->state != CHROPROF__GONE)) {
        p->paths[slot->path].abandoned++;
        chroprof__end_life(p, c, slot, t);
        slot = chroprof__find(p, id);
    }
    if (CHROPROF__RARELY(table->used == table->capacity)) {
        if (!chroprof__make_room(p, id, t)) {
            row->dropped++;
            return NULL;
        }
        slot = chroprof__find(p, id);
    }
    chroprof__begin_life(row, table, slot, id, t);
    slot->path = path;
    return slot;
}

static void chroprof__on_pending(chroprof *p, chroprof__core *c, uint64_t id,
                                 const chroprof_site *site, uint64_t t)
{
    static const chroprof_site unnamed = { NULL, NULL, 0 };
    if (CHROPROF__RARELY(site == NULL))
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    site = site ? site : &unnamed;
    chroprof__create(p, c, id, chroprof__child_of(p, c->account, site), t);
}

/* A future whose frame was hidden runs until that frame is paused. If the hidden frames were
 * unwound meanwhile nobody says so: it rests from the next event on that names it. */
static bool chroprof__lost_its_frame(const chroprof *p, const chroprof__future_row *slot)
{
    const chroprof__core *c = p->core;
    bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
    return slot->state == CHROPROF_RUNNING && !own &&
           (c->hidden == 0 || slot->since < c->hidden_since);
}

static void chroprof__settle(const chroprof *p, chroprof__future_row *slot, uint64_t t)
{
    if (!chroprof__lost_its_frame(p, slot))
        return;
    slot->flags = 0;
    chroprof__come_to_rest(slot, t);
}

static void chroprof__on_ready(chroprof *p, chroprof__core *c, uint64_t id, uint64_t at)
{
    chroprof__future_row *slot = chroprof__find(p, id);
    chroprof__settle(p, slot, c->last);
    if (slot->id != id || slot->state == CHROPROF__GONE) {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_READY);
    } else if (slot->state == CHROPROF_RUNNING) {
        slot->flags |= CHROPROF__REMEMBERED;
        p->frames[slot->frame].kind |= slot->frame ? CHROPROF__TENDED : 0;
    } else if (slot->state != CHROPROF_READY) {
        if (at == c->last)
            chroprof__may_be_found(p, slot);
        else
            chroprof__tell_found(p, slot, at);
        chroprof__begin_ready(p, slot, at > slot->since ? at : slot->since);
        if (CHROPROF__RARELY(slot->since < c->last))
            chroprof__blame_past(p, slot->since);
    }
}

/* The frame is one of this slot's id from now on, and the topmost one. */
CHROPROF__INLINE void chroprof__bind_frame(const chroprof *p, chroprof__frame_row *frame,
                                           chroprof__future_row *slot)
{
    frame->id = slot->id;
    frame->slot = chroprof__words_to(p, slot);
    frame->same = slot->frame;
    if (slot->frame || slot->flags & CHROPROF__REMEMBERED)
        frame->kind |= CHROPROF__TENDED;
    slot->frame = (uint16_t)frame->depth;
}

/* Binds a frame that was pushed plain to a slot without one. */
CHROPROF__INLINE void chroprof__bind_plain(const chroprof *p, chroprof__core *c,
                                           chroprof__frame_row *frame, chroprof__future_row *slot,
                                           uint64_t id)
{
    frame->id = id;
    frame->slot = chroprof__words_to(p, slot);
    frame->same = 0;
    slot->frame = (uint16_t)c->depth;
}

/* A future without a frame is running from now on. */
CHROPROF__INLINE void chroprof__start_running(chroprof *p, chroprof__future_row *slot,
                                              const chroprof__spot *delay, uint64_t t)
{
    if (slot->state == CHROPROF_READY) {
        chroprof__end_delay(p, slot, t);
        chroprof__add_there(delay, t - slot->since);
    }
    slot->state = CHROPROF_RUNNING;
    slot->flags = 0;
    slot->since = t;
}

/* A live future that has no frame of its own on top is running from now on. */
CHROPROF__NOINLINE void chroprof__run(chroprof *p, chroprof__core *c, chroprof__future_row *slot,
                                      uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    else if (!chroprof__no_room(c))
        chroprof__may_be_found(p, slot);
    if (CHROPROF__LIKELY(slot->state != CHROPROF_RUNNING))
        slot->since = t;
    slot->state = CHROPROF_RUNNING;
    if (CHROPROF__RARELY(chroprof__no_room(c))) {
        chroprof__hide(p, t);
        return;
    }
    chroprof__freshen(c, p->paths + slot->path);
    chroprof__pushed n = { c->depth, slot->path, CHROPROF__FUTURE_FRAME, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    chroprof__bind_frame(p, frame, slot);
}

/* Attached to a program under way: with a site the future is adopted, without it only has a
 * frame. */
CHROPROF__COLD void chroprof__run_unknown(chroprof *p, uint64_t id, const chroprof_site *site,
                                          uint64_t t)
{
    chroprof__core *c = p->core;
    if (site) {
        chroprof__future_row *adopted =
            chroprof__create(p, c, id, chroprof__child_of(p, CHROPROF__LOOP, site), t);
        chroprof__count(p, CHROPROF_ANOMALY_ADOPTED);
        if (adopted) {
            chroprof__run(p, c, adopted, t);
            return;
        }
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_RUNNING);
    }
    const chroprof__frame_row *top = p->frames + c->depth;
    if (!c->hidden && top->id == id && top->kind & CHROPROF__UNKNOWN) {
        chroprof__count(p, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    if (chroprof__no_room(c)) {
        chroprof__hide(p, t);
        return;
    }
    chroprof__future_row *slot = chroprof__find(p, id);
    slot->id = id;
    slot->state = CHROPROF__GONE;
    uint32_t kind = CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN | CHROPROF__NEWEST |
                    CHROPROF__OLDEST | CHROPROF__UNKNOWN;
    chroprof__pushed n = { c->depth, CHROPROF__UNTRACKED, kind, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    chroprof__bind_frame(p, frame, slot);
    frame->carried = 0;
}

/* Is the topmost frame one of this id? */
CHROPROF__INLINE bool chroprof__on_top(const chroprof *p, const chroprof__core *c, uint64_t id)
{
    return p->frames[c->depth].id == id && c->hidden == 0;
}

CHROPROF__INLINE void chroprof__on_running(chroprof *p, chroprof__core *c, uint64_t id,
                                           const chroprof_site *site, uint64_t t)
{
    chroprof__future_row *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__run_unknown(p, id, site, t);
        return;
    }
    chroprof__settle(p, slot, t);
    if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING) && chroprof__on_top(p, c, id) &&
        !(p->frames[c->depth].kind & CHROPROF__ORPHAN)) {
        chroprof__count(p, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    chroprof__run(p, c, slot, t);
}

/* A pause of what is not on top. */
CHROPROF__COLD void chroprof__pause_buried(chroprof *p, uint64_t id, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *slot = chroprof__find(p, id);
    chroprof__settle(p, slot, t);
    if (slot->id != id) {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_PAUSED);
    } else if (slot->frame) {
        chroprof__unwind(p, slot->frame, CHROPROF_ANOMALY_UNWOUND_BY_PAUSE, t);
        chroprof__pop_any(p, c, t);
    } else if (slot->state == CHROPROF_RUNNING) {
        if (c->hidden)
            chroprof__unhide(p, 1, t);
        chroprof__rest(p, slot, t);
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_NOT_RUNNING);
    }
}

CHROPROF__INLINE void chroprof__on_paused(chroprof *p, chroprof__core *c, uint64_t id, uint64_t t)
{
    if (CHROPROF__LIKELY(chroprof__on_top(p, c, id)))
        chroprof__pop(p, c, p->paths + c->account, t);
    else
        chroprof__pause_buried(p, id, t);
}

static void chroprof__on_stillborn(chroprof *p, const chroprof_site *site)
{
    p->paths[chroprof__child_of(p, p->core->account, site)].stillborn++;
}

/* A finish of an id that is no live future. */
CHROPROF__COLD void chroprof__finish_unknown(chroprof *p, uint64_t id, const chroprof_site *site)
{
    if (site && !(id && p->core->ever_dropped))
        chroprof__on_stillborn(p, site);
    else
        chroprof__count(p, id ? CHROPROF_ANOMALY_UNKNOWN_FINISH : CHROPROF_ANOMALY_ID_ZERO);
}

/* A future has finished, and so its latency is known. */
CHROPROF__INLINE void chroprof__count_finish(chroprof *p, const chroprof__future_row *slot,
                                             chroprof_state state, uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    if (state == CHROPROF_COMPLETED)
        row->completed++;
    else if (state == CHROPROF_FAILED)
        row->failed++;
    else
        row->cancelled++;
    chroprof__raise(&p->histograms[row->histogram].latency_max, t - slot->created);
}

static void chroprof__finish_slot(chroprof *p, const chroprof__future_row *slot,
                                  chroprof_state state, uint64_t t)
{
    uint32_t row = p->paths[slot->path].histogram;
    chroprof__count_finish(p, slot, state, t);
    chroprof__histogram_add(p, &p->histograms[row].latency, t - slot->created);
    if (chroprof__is_slow(p, p->core, slot, t))
        chroprof__keep_slow(p, slot, slot->exec + chroprof__open_exec(p, slot), state, t);
}

/* A finish of a running future that was not on top. */
CHROPROF__COLD void chroprof__finish_buried(chroprof *p, const chroprof__future_row *slot,
                                            uint64_t t)
{
    if (slot->frame)
        chroprof__count(p, CHROPROF_ANOMALY_BURIED_FINISH);
    else if (p->core->hidden)
        chroprof__unhide(p, 1, t);
}

/* A finish while a frame of this id is on top that is not its live future's. That frame is another
 * one's, unless there is no such future: then it is what runs, and its code is over. */
CHROPROF__COLD void chroprof__finish_on_orphan(chroprof *p, chroprof_state state, uint64_t id,
                                               const chroprof_site *site, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *slot = chroprof__find(p, id);
    if (slot->state == CHROPROF__GONE) {
        chroprof__pop_any(p, c, t);
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (slot->state == CHROPROF_RUNNING)
        chroprof__finish_buried(p, slot, t);
    chroprof__finish_slot(p, slot, state, t);
    chroprof__end_life(p, c, slot, t);
}

CHROPROF__INLINE void chroprof__on_finish(chroprof *p, chroprof__core *c, chroprof_state state,
                                          uint64_t id, const chroprof_site *site, uint64_t t)
{
    const chroprof__frame_row *top = p->frames + c->depth;
    bool on_top = chroprof__on_top(p, c, id);
    if (CHROPROF__RARELY(on_top && top->kind & CHROPROF__ORPHAN)) {
        chroprof__finish_on_orphan(p, state, id, site, t);
        return;
    }
    chroprof__future_row *slot = on_top ? chroprof__slot_of(p, top) : chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (!on_top)
        chroprof__settle(p, slot, t);
    if (CHROPROF__LIKELY(on_top))
        chroprof__pop(p, c, p->paths + c->account, t);
    else if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING))
        chroprof__finish_buried(p, slot, t);
    else
        chroprof__may_be_found(p, slot);
    chroprof__finish_slot(p, slot, state, t);
    chroprof__end_life(p, c, slot, t);
}

/* Pauses the innermost future above the barrier, unwinding enter-frames above it, and runs id. */
static void chroprof__on_switch(chroprof *p, chroprof__core *c, uint64_t id, uint64_t t)
{
    uint32_t runner = c->depth;
    while (runner > c->barrier && p->frames[runner].id == 0)
        runner--;
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (runner > c->barrier) {
        chroprof__unwind(p, runner, CHROPROF_ANOMALY_UNWOUND_BY_SWITCH, t);
        chroprof__pop_any(p, c, t);
    }
    if (id)
        chroprof__on_running(p, c, id, NULL, t);
}

/* An enter-frame above depth: it has no id, and the futures below it remain what they are. Its call
 * is counted when it ends; reads find what is under way on the stack. */
CHROPROF__INLINE void chroprof__push_call(chroprof__core *c, chroprof__frame_row *below,
                                          uint32_t depth, uint32_t path, uint64_t t)
{
    chroprof__pushed n = { depth, path, CHROPROF__ENTER_FRAME, t };
    chroprof__push(c, below, n)->id = 0;
}

static void chroprof__on_enter(chroprof *p, chroprof__core *c, const chroprof_site *site,
                               uint64_t t)
{
    if (site == NULL)
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    else if (chroprof__no_room(c))
        chroprof__hide(p, t);
    else
        chroprof__push_call(c, p->frames + c->depth, c->depth,
                            chroprof__child_of(p, c->account, site), t);
}

static void chroprof__on_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (c->hidden)
        chroprof__unhide(p, 1, t);
    else if (p->frames[c->depth].kind & CHROPROF__ENTER_FRAME)
        chroprof__pop(p, c, p->paths + c->account, t);
    else
        chroprof__count(p, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER);
}

static void chroprof__on_next(chroprof *p, chroprof__core *c, const chroprof_site *site,
                              uint64_t t)
{
    if (c->hidden || p->frames[c->depth].kind & CHROPROF__ENTER_FRAME)
        chroprof__on_leave(p, c, t);
    chroprof__on_enter(p, c, site, t);
    if (site == NULL)
        chroprof__push_none(p);
}

CHROPROF__INLINE void chroprof__push_barrier(const chroprof *p, chroprof__core *c, uint64_t t)
{
    chroprof__pushed n = { c->depth, CHROPROF__LOOP, CHROPROF__BARRIER, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    frame->id = 0;
    frame->slot = c->barrier;
    c->barrier = c->depth;
    c->barriers++;
}

static void chroprof__on_loop_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (chroprof__no_room(c))
        chroprof__hide(p, t);
    else
        chroprof__push_barrier(p, c, t);
}

static void chroprof__on_loop_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (c->barrier) {
        chroprof__unwind(p, c->barrier, CHROPROF_ANOMALY_UNWOUND_BY_LOOP, t);
        chroprof__pop_any(p, c, t);
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER);
    }
}

static void chroprof__on_idle_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    chroprof__unwind(p, c->barrier, CHROPROF_ANOMALY_UNWOUND_BY_IDLE, t);
    uint64_t length = t - c->iteration.start;
    if (c->loop.iteration_active) {
        chroprof__count_iteration(p, c, length, chroprof__countable(length));
        if (length > c->iteration.limit)
            chroprof__long_iteration(p, length);
        c->loop.iteration_callback = 0;
    }
    c->account = CHROPROF__IDLE;
    chroprof__set_time_limit(c);
}

/* Opening the event has ended the idle already, if there was one: then the iteration under way
 * began with this event. */
static void chroprof__on_idle_leave(const chroprof *p, const chroprof__core *c)
{
    if (!c->loop.iteration_active || c->iteration.event != c->seq >> 1)
        chroprof__count(p, CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER);
}

CHROPROF__INLINE void chroprof__dispatch(chroprof *p, chroprof__core *c, chroprof_state state,
                                         uint64_t id, const chroprof_site *site, uint64_t t)
{
    switch (state) {
    case CHROPROF_PENDING: chroprof__on_pending(p, c, id, site, t); break;
    case CHROPROF_READY: chroprof__on_ready(p, c, id, t); break;
    case CHROPROF_RUNNING: chroprof__on_running(p, c, id, site, t); break;
    case CHROPROF_PAUSED: chroprof__on_paused(p, c, id, t); break;
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: chroprof__on_finish(p, c, state, id, site, t); break;
    case CHROPROF_IDLE_ENTER: chroprof__on_idle_enter(p, c, t); break;
    case CHROPROF_IDLE_LEAVE: chroprof__on_idle_leave(p, c); break;
    case CHROPROF_LOOP_ENTER: chroprof__on_loop_enter(p, c, t); break;
    case CHROPROF_LOOP_LEAVE: chroprof__on_loop_leave(p, c, t); break;
    case CHROPROF_ENTER: chroprof__on_enter(p, c, site, t); break;
    case CHROPROF_LEAVE: chroprof__on_leave(p, c, t); break;
    case CHROPROF_TICK: break;
    case CHROPROF_SWITCH: chroprof__on_switch(p, c, id, t); break;
    case CHROPROF_NEXT: chroprof__on_next(p, c, site, t); break;
    default: chroprof__count(p, CHROPROF_ANOMALY_BAD_STATE); break;
    }
}

/* A state that means a future, and id 0, which is none: a finish can be a stillborn. */
CHROPROF__COLD void chroprof__without_id(chroprof *p, chroprof_state state,
                                         const chroprof_site *site)
{
    if (state >= CHROPROF_COMPLETED)
        chroprof__finish_unknown(p, 0, site);
    else
        chroprof__count(p, CHROPROF_ANOMALY_ID_ZERO);
}
