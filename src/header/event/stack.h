/* event/stack.h */
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
#include "../event/stalls.h"

/* >>stack: frames come and go, slices and callbacks end. */

/* A frame is gone: what is below it, its path, or loop for a barrier, is on top. */
static void chroprof__uncover(const chroprof *p, chroprof__core *c, const chroprof__frame_row *gone)
{
    c->depth = gone->depth - 1;
    c->account = gone[-1].path;
    if ((gone->kind & CHROPROF__AGED) == 0)
        return;
    chroprof__freshen(c, p->paths + c->account);
    if (c->depth)
        p->frames[c->depth].kind |= CHROPROF__AGED;
}

/* Of the tree: a path of a user's, or its root. */
CHROPROF__INLINE uint32_t chroprof__parent_below(uint32_t path)
{
    return path < CHROPROF__FIRST_PATH ? (uint32_t)CHROPROF__LOOP : path;
}

/* A frame beyond max_depth: only counted, and time is untracked until the last of them is gone. */
CHROPROF__COLD void chroprof__hide(const chroprof *p, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_DEPTH];
    table->dropped++;
    if (c->hidden++ == 0)
        c->hidden_since = t;
    table->wanted = c->hidden > table->wanted ? c->hidden : table->wanted;
    c->account = CHROPROF__UNTRACKED;
    c->time_limit = t;              /* until they are gone no event takes the fast path */
    chroprof__push_none(p);
}

CHROPROF__COLD void chroprof__unhide(chroprof *p, uint32_t frames, uint64_t t)
{
    chroprof__core *c = p->core;
    c->hidden -= frames;
    if (c->hidden)
        return;
    p->frames[c->depth].start += t - c->hidden_since;
    c->account = p->frames[c->depth].path;
    chroprof__freshen(c, p->paths + c->account);
}

/* A frame that comes on the stack at profile time t. */
typedef struct chroprof__pushed {
    uint32_t below;            /* depth of the frame under it */
    uint32_t path, kind;
    uint64_t t;
} chroprof__pushed;

/* Puts a frame on the stack above another; the caller has checked that there is room, and that its
 * path is of the present window. */
CHROPROF__INLINE chroprof__frame_row *chroprof__push(chroprof__core *c, chroprof__frame_row *below,
                                                     chroprof__pushed n)
{
    chroprof__frame_row *frame = below + 1;
    c->depth = n.below + 1;
    CHROPROF__READ_AGAIN();                 /* else gcc puts two stores together, at a cost */
    frame->pushed = n.t;
    frame->start = n.t;
    frame->path = n.path;
    frame->kind = n.kind;
    frame->event = (uint32_t)c->seq;
    c->account = n.path;
    return frame;
}

CHROPROF__INLINE bool chroprof__no_room(const chroprof__core *c)
{
    return c->depth == c->tables[CHROPROF_TABLE_DEPTH].capacity;
}

/* Of a future that rests since the last poll: did the loop itself create it? */
static bool chroprof__brought(const chroprof__path_row *row, const chroprof__future_row *slot)
{
    return slot->state == CHROPROF_PENDING && row->parent == CHROPROF__LOOP;
}

/* What the loop begins, tells or ends outside of tasks, the last poll is taken to have found. It
 * had waited no longer than since the poll before, nor than its future rests: half of that on
 * average. A future that came to rest since the poll was not found by it, but one that the loop
 * itself created. */
CHROPROF__INLINE void chroprof__count_found(const chroprof__core *c, chroprof__path_row *row,
                                            const chroprof__future_row *slot)
{
    uint64_t most = c->iteration.start - slot->since;
    if (CHROPROF__RARELY((int64_t)most <= 0)) {
        if (!chroprof__brought(row, slot))
            return;
        most = UINT64_MAX;
    }
    row->found++;
    CHROPROF__READ_AGAIN();                 /* as in chroprof__begin_iteration */
    row->hidden += most < c->iteration.hidden ? most : c->iteration.hidden;
}

/* Does a future that rests come up outside of tasks? */
CHROPROF__INLINE bool chroprof__comes_up(const chroprof__core *c, const chroprof__future_row *slot)
{
    return c->depth == c->barrier && c->hidden == 0 &&
           (slot->state == CHROPROF_PENDING || slot->state == CHROPROF_PAUSED);
}

static void chroprof__may_be_found(const chroprof *p, const chroprof__future_row *slot)
{
    if (chroprof__comes_up(p->core, slot))
        chroprof__count_found(p->core, p->paths + slot->path, slot);
}

/* When it came is told. What is later than its record is its delay. */
static void chroprof__tell_found(const chroprof *p, const chroprof__future_row *slot, uint64_t at)
{
    const chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + slot->path;
    bool rested = slot->since < c->iteration.start;
    if (!chroprof__comes_up(c, slot) || (!rested && !chroprof__brought(row, slot)))
        return;
    row->found++;
    row->hidden += rested ? 0 : 2 * chroprof__minus(c->iteration.start, at);
}

/* A call of the loop has ended. */
CHROPROF__INLINE void chroprof__end_found(const chroprof__core *c, chroprof__path_row *row)
{
    row->found++;
    CHROPROF__READ_AGAIN();
    row->hidden += c->iteration.hidden;
}

/* A future became ready at profile time `at`, not later than now. */
CHROPROF__INLINE void chroprof__begin_ready(chroprof *p, chroprof__future_row *slot, uint64_t at)
{
    chroprof__path_row *row = p->paths + slot->path;
    p->core->ready++;
    row->ready++;
    row->delay -= at;
    slot->since = at;
    slot->flags = slot->state == CHROPROF_PENDING ? 0 : CHROPROF__STARTED;
    slot->state = CHROPROF_READY;
}

CHROPROF__INLINE void chroprof__end_delay(chroprof *p, const chroprof__future_row *slot, uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    p->core->ready--;
    row->ready--;
    row->delay += t;
    chroprof__raise(&row->delay_max, t - slot->since);
}

static void chroprof__end_ready(chroprof *p, const chroprof__future_row *slot, uint64_t t)
{
    uint32_t row = p->paths[slot->path].histogram;
    chroprof__end_delay(p, slot, t);
    chroprof__histogram_add(p, &p->histograms[row].delay, t - slot->since);
}

/* The last frame of a live future is gone. */
CHROPROF__INLINE void chroprof__come_to_rest(chroprof__future_row *slot, uint64_t t)
{
    slot->state = CHROPROF_PAUSED;
    slot->flags = 0;
    slot->since = t;
}

CHROPROF__INLINE void chroprof__rest(chroprof *p, chroprof__future_row *slot, uint64_t t)
{
    if (CHROPROF__RARELY(slot->flags & CHROPROF__REMEMBERED)) {
        slot->flags = 0;
        chroprof__begin_ready(p, slot, t);
        return;
    }
    chroprof__come_to_rest(slot, t);
}

/* An orphan's time still belongs to the future that lost its record: it is handed down its
 * frames. */
CHROPROF__COLD uint64_t chroprof__orphan_exec(chroprof *p, const chroprof__frame_row *frame,
                                              uint64_t slice)
{
    uint64_t exec = frame->carried + slice;
    if (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        p->frames[frame->same].carried += exec;
        p->frames[frame->same].kind |= CHROPROF__NEWEST;
    }
    return exec;
}

/* Is it the frame of a future that has finished while its code ran? */
static bool chroprof__lasts(const chroprof__frame_row *frame)
{
    return frame->kind & CHROPROF__ORPHAN && !(frame->kind & CHROPROF__UNKNOWN);
}

/* What popping a frame with an id does to its future's slot. Returns the exec of the future so
 * far. */
static uint64_t chroprof__leave_slot(chroprof *p, const chroprof__frame_row *frame, uint64_t slice,
                                     uint64_t t)
{
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    slot->frame = frame->same;
    if (slot->flags & CHROPROF__REMEMBERED)
        p->frames[slot->frame].kind |= slot->frame ? CHROPROF__TENDED : 0;
    if (CHROPROF__RARELY(frame->kind & CHROPROF__ORPHAN)) {
        uint64_t exec = chroprof__orphan_exec(p, frame, slice);
        p->paths[frame->path].lifetime += chroprof__lasts(frame) ? slice : 0;
        if (slot->frame == 0 && slot->state == CHROPROF__GONE)
            chroprof__free_slot(p, slot);
        return exec;
    }
    slot->exec += slice;
    if (slot->frame == 0 || p->frames[slot->frame].kind & CHROPROF__ORPHAN)
        chroprof__rest(p, slot, t);
    return slot->exec;
}

/* A slice of a future: its exec so far may be the largest. */
CHROPROF__INLINE void chroprof__end_activation(chroprof__path_row *row, uint64_t exec)
{
    row->activations++;
    chroprof__raise(&row->exec_max, exec);
}

/* The call of an enter-frame has ended. */
CHROPROF__INLINE void chroprof__end_call(chroprof__path_row *row, uint64_t length)
{
    row->entered++;
    row->lifetime += length;
}

CHROPROF__COLD void chroprof__long_callback(chroprof *p, const chroprof__frame_row *base,
                                        uint64_t length)
{
    chroprof__core *c = p->core;
    chroprof__raise(&c->loop.callback_max, length);
    c->callback.limit = chroprof__length_limit(c, c->loop.callback_max);
    if (length > c->stall_ticks)
        chroprof__callback_stalled(p, base, length);
}

CHROPROF__COLD void chroprof__long_iteration(chroprof *p, uint64_t length)
{
    chroprof__core *c = p->core;
    chroprof__raise(&c->loop.iteration_max, length);
    c->iteration.limit = chroprof__length_limit(c, c->loop.iteration_max);
    if (length > c->stall_ticks)
        chroprof__iteration_stalled(p, length);
}

/* Time of a nested loop, or of on_stall, is neither of the slice nor of the callback that it is
 * in. */
static void chroprof__leave_out(chroprof *p, uint64_t ticks)
{
    const chroprof__core *c = p->core;
    chroprof__frame_row *base = p->frames + c->barrier + 1;
    if (c->depth <= c->barrier)
        return;
    if (!(base->kind & CHROPROF__PARTED))
        base->excluded = 0;
    base->kind |= CHROPROF__PARTED;
    base->excluded += ticks;
}

CHROPROF__COLD void chroprof__pop_barrier(chroprof *p, const chroprof__frame_row *barrier,
                                          uint64_t t)
{
    chroprof__core *c = p->core;
    c->barrier = barrier->slot;
    c->barriers--;
    chroprof__uncover(p, c, barrier);
    chroprof__leave_out(p, t - barrier->pushed);
    p->frames[c->depth].start += t - barrier->pushed;
}

/* The activation of the top frame, which is no barrier, ends; row is that of its path. Its row in
 * the ring still tells its depth. */
static void chroprof__pop(chroprof *p, chroprof__core *c, chroprof__path_row *row, uint64_t t)
{
    chroprof__frame_row *frame = p->frames + c->depth;
    uint64_t slice = t - frame->start, length = t - frame->pushed;
    bool base = c->depth == c->barrier + 1;
    chroprof__raise(&row->slice_max, slice);
    chroprof__histogram_add(p, &p->histograms[row->histogram].slice, slice);
    if (frame->kind & CHROPROF__ENTER_FRAME) {
        chroprof__end_call(row, length);
        if (base && (frame->pushed >= c->iteration.start || !c->loop.iteration_active))
            chroprof__end_found(c, row);
    } else {
        chroprof__end_activation(row, chroprof__leave_slot(p, frame, slice, t));
    }
    if (CHROPROF__RARELY(row->histogram == 0) && p->percentiles)
        chroprof__claim_histograms(p, row);
    if (base && frame->kind & CHROPROF__PARTED)
        length -= frame->excluded;
    if (base)
        chroprof__count_callback(p, c, length, chroprof__countable(length));
    else
        frame[-1].start += length;
    if (base && length > c->callback.limit)
        chroprof__long_callback(p, frame, length);
    chroprof__uncover(p, c, frame);
}

/* Ends the top frame, whatever it is. */
CHROPROF__COLD void chroprof__pop_any(chroprof *p, chroprof__core *c, uint64_t t)
{
    const chroprof__frame_row *frame = p->frames + c->depth;
    if (frame->kind & CHROPROF__BARRIER)
        chroprof__pop_barrier(p, frame, t);
    else
        chroprof__pop(p, c, p->paths + frame->path, t);
}

/* Takes frames off until depth is reached, hidden ones first; each is counted as kind. */
CHROPROF__COLD void chroprof__unwind(chroprof *p, uint32_t depth, chroprof_anomaly_kind kind,
                                     uint64_t t)
{
    chroprof__core *c = p->core;
    const uint32_t top = c->account;
    if (c->hidden) {
        chroprof__met place = { t, 0, CHROPROF__LOOP, CHROPROF__UNTRACKED };
        chroprof__count_at(c, kind, c->hidden, place);
        chroprof__unhide(p, c->hidden, t);
    }
    while (c->depth > depth) {
        const chroprof__frame_row *frame = p->frames + c->depth;
        chroprof__met place = { t, frame->id, chroprof__parent_below(frame->path), top };
        if (frame->kind & CHROPROF__BARRIER)
            chroprof__count(p, CHROPROF_ANOMALY_BARRIER_CROSSED);
        else
            chroprof__count_at(c, kind, 1, place);
        chroprof__pop_any(p, c, t);
    }
}
