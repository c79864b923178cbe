/* sampler/follow.h */
#pragma once
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/items.h"
#include "../block/samples.h"
#include "../sampler/timer.h"
#include "../sampler/due.h"

#if CHROPROF__SAMPLES /* part alone */
/* ---- after each event: those that begin an activation also note who they came from */

/* What tells one call of a function from all others. */
CHROPROF__INLINE uint32_t chroprof__frame_key(uintptr_t frame, uintptr_t back)
{
    return (uint32_t)((frame ^ (uint64_t)back * UINT64_C(0x9E3779B97F4A7C15)) >> 8) | 1;
}

/* The end of the stack that an address is on; 0: not known. */
CHROPROF__INLINE uintptr_t chroprof__stack_end(const chroprof__sampler *s, uintptr_t address)
{
    if (address >= s->stack.fiber_low && address < s->stack.fiber_high)
        return (uintptr_t)s->stack.fiber_high;
    return address >= s->stack.low && address < s->stack.high ? (uintptr_t)s->stack.high : 0;
}

/* Can a frame record lie here? */
CHROPROF__INLINE bool chroprof__is_record(uintptr_t frame, uintptr_t above, uintptr_t end)
{
    return frame > above && end >= 16 && frame <= end - 16 && frame % sizeof(frame) == 0;
}

/* The callers that a path was begun by last. */
static chroprof__caller *chroprof__caller_of(const chroprof__core *c, uint32_t path)
{
    uint64_t bytes = chroprof__caller_bytes(c);
    return chroprof__callers(c) + path % (bytes / sizeof(chroprof__caller));
}

/* The callers of frame k; NULL: they are not known. The frame's own note goes first: what its path
 * had may be another one's by now. */
static const uint32_t *chroprof__keys_of(const chroprof__core *c, chroprof__sampler *s, uint32_t k)
{
    const chroprof__frame_row *frame = chroprof__frame_rows(c) + k;
    const chroprof__note *note = chroprof__notes(s) + k;
    const chroprof__caller *caller = chroprof__caller_of(c, frame->path);
    if (note->event == frame->event)
        return note->keys;
    bool known = caller->path == frame->path && caller->since <= frame->pushed;
    return known && !(s->noting && k == c->depth) ? caller->keys : NULL;
}

/* Frames of the running stack keep the callers that are about to give way. */
static void chroprof__keep_callers(const chroprof__core *c, chroprof__sampler *s, uint32_t path)
{
    const chroprof__frame_row *frames = chroprof__frame_rows(c);
    uint32_t tries = CHROPROF__NOTED_TASKS;
    for (uint32_t k = c->depth; k > 0 && tries > 0; k--, tries--) {
        const chroprof__caller *caller = chroprof__caller_of(c, frames[k].path);
        const uint32_t *keys = chroprof__keys_of(c, s, k);
        chroprof__note *note = chroprof__notes(s) + k;
        if (caller != chroprof__caller_of(c, path) || keys != caller->keys)
            continue;
        memcpy(note->keys, keys, sizeof(note->keys));
        CHROPROF__STORE_FENCE();
        note->event = frames[k].event;
    }
}

/* Whether the next frame of this path has these callers is seen by where two of them return to, if
 * there are as many. The stack of a fiber may be gone by then, so that is not looked at. */
static void chroprof__note_path(chroprof *p, const chroprof__note *note, const uintptr_t *at,
                                uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t path = p->frames[c->depth].path;
    chroprof__caller *caller = chroprof__caller_of(c, path);
    bool fiber = base >= s->stack.fiber_low && base < s->stack.fiber_high;
    chroprof__keep_callers(c, s, path);
    chroprof__poke64(&caller->base, 0);
    caller->path = 0;
    CHROPROF__STORE_FENCE();
    caller->one = caller->product = 1;
    for (int k = 0; k < 2; k++) {
        caller->at[k] = at[k] && !fiber ? at[k] : (uint64_t)(uintptr_t)&caller->one;
        caller->product *= chroprof__stack_word((uintptr_t)caller->at[k]);
    }
    caller->since = c->last;
    memcpy(caller->keys, note->keys, sizeof(caller->keys));
    CHROPROF__STORE_FENCE();
    caller->path = path;
    chroprof__poke64(&caller->base, fiber ? 0 : base);
}

/* The top frame was begun by this event: by the functions whose records these are, from the given
 * one on. That may be anything, so only what lies between here and the end of the stack is read:
 * below, inside the bounds of the stack, there may be guard pages. */
static void chroprof__note_caller(chroprof *p, uintptr_t frame, uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t event = p->frames[c->depth].event;
    const void *own = __builtin_frame_address(0);
    uintptr_t above = (uintptr_t)own, end = chroprof__stack_end(s, above), at[3] = { 0, 0, 0 };
    if (event != (uint32_t)(c->seq - 1))
        return;
    chroprof__note *note = chroprof__notes(s) + c->depth;
    memset(note, 0, sizeof(*note));
    for (int k = 0; k < 3 && end && chroprof__is_record(frame, above, end); k++) {
        at[k] = frame + sizeof(frame);
        note->keys[k] = chroprof__frame_key(frame, chroprof__stack_word(at[k]));
        above = frame;
        frame = chroprof__stack_word(frame);
    }
    CHROPROF__STORE_FENCE();
    note->event = event;
    if (base != CHROPROF__BEGINS_SLOWLY)
        chroprof__note_path(p, note, at, base);
}

/* Linux looks at a CPU timer only when a tick of its scheduler finds the thread running, which on a
 * crowded processor may not happen for long. Signals so overdue that no other delay explains it are
 * lost. */
CHROPROF__COLD void chroprof__give_up_signals(chroprof *p, chroprof__sampler *s)
{
    uint64_t overdue = chroprof__minus(s->look.cpu_ns, chroprof__peek64(&s->handler.deadline));
    if (s->set.mode != CHROPROF_SAMPLER_CPU || s->set.steady ||
        overdue < 20000000 + 2 * s->handler.period_ns)
        return;
    if (!chroprof__has_timer(s)) {
        chroprof__end_signals(p, s);
        return;
    }
    chroprof__set_timer(s->timer.number, 0, 0); /* a timer of the thread is silent from here on */
    uint64_t count = chroprof__count_due(s, s->look.cpu_ns) *
                     (s->handler.period_ns / s->set.first_period_ns);
    s->handler.ticks += count;
    s->handler.lost += count;
    s->handler.window_weight += count;              /* they cost nothing */
    chroprof__arm(s);
}

/* A callback or an iteration began before the look that comes now, which found this CPU time. */
static void chroprof__note_begun(chroprof *p, uint32_t place, uint64_t start, chroprof__begun now)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    uint64_t ns;
    if (s->begun[place].event == now.event ||
        !chroprof__cpu_at(p, place, (uint32_t)now.event, start, &ns))
        return;
    chroprof__lower(&now.cpu_ns, ns);
    s->begun[place] = now;
}

/* The callback above a barrier, which is the innermost but `outer`. */
static void chroprof__note_callback(chroprof *p, uint32_t barrier, uint32_t outer, uint64_t cpu_ns)
{
    const chroprof__frame_row *base = p->frames + barrier + 1;
    uint32_t barriers = p->core->barriers - outer;
    uint32_t place = barriers < CHROPROF__NESTED_LOOPS ? barriers : CHROPROF__NESTED_LOOPS - 1;
    chroprof__begun now = { base->event, cpu_ns };
    chroprof__note_begun(p, place, base->pushed, now);
}

/* Looks at the thread's CPU clock, once in a millisecond. What began since the last look has its
 * CPU time by that one. An event that is told late says nothing of the CPU time at its own time. */
static void chroprof__look_at_cpu(chroprof *p)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    s->look.due = 0;
    if (chroprof__is_past(c, c->last))
        return;
    uint64_t cpu_ns = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    if (c->depth > c->barrier && p->frames[c->barrier + 1].pushed < c->last)
        chroprof__note_callback(p, c->barrier, 0, cpu_ns);
    chroprof__begun iteration = { (uint32_t)c->iteration.event, cpu_ns };
    if (c->loop.iteration_active && c->iteration.start < c->last)
        chroprof__note_begun(p, CHROPROF__NESTED_LOOPS, c->iteration.start, iteration);
    s->look.cpu_ns = cpu_ns;
    s->look.cpu_busy = c->last - p->paths[CHROPROF__IDLE].exec;
    s->look.last = c->last;
    chroprof__give_up_signals(p, s);
}

/* A nested loop begins: its idle times must not count for the callback around it. */
static void chroprof__note_outer(chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__frame_row *top = p->frames + c->depth;
    if (top->event == (uint32_t)(c->seq - 1) && top->kind & CHROPROF__BARRIER &&
        c->depth > top->slot + 1)
        chroprof__note_callback(p, top->slot, 1, UINT64_MAX);
}

static void chroprof__follow_event(chroprof *p, uintptr_t frame, uint64_t base)
{
    if (base != CHROPROF__BEGINS_NONE)
        chroprof__note_caller(p, frame, base);
    if (p->core->depth)
        chroprof__note_outer(p);
    if (chroprof__sampler_of(p->core)->look.due)
        chroprof__look_at_cpu(p);
    chroprof__follow_idle(p);
}
#endif /* part alone */
