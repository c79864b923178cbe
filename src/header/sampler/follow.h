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
    if (address >= s->fiber_low && address < s->fiber_high)
        return (uintptr_t)s->fiber_high;
    return address >= s->low && address < s->high ? (uintptr_t)s->high : 0;
}

/* Can a frame record lie here? */
CHROPROF__INLINE bool chroprof__is_record(uintptr_t frame, uintptr_t above, uintptr_t end)
{
    return frame > above && end >= 16 && frame <= end - 16 && frame % sizeof(frame) == 0;
}

/* The top frame was begun by this event: by the functions whose records these are, from the given
 * one on. That may be anything, so only what lies between here and the end of the stack is read:
 * below, inside the bounds of the stack, there may be guard pages. */
static void chroprof__note_caller(chroprof *p, uintptr_t frame)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t event = p->frames[c->depth].event;
    const void *own = __builtin_frame_address(0);
    uintptr_t above = (uintptr_t)own, end = chroprof__stack_end(s, above);
    if (event != (uint32_t)(c->seq - 1))
        return;
    chroprof__note *note = chroprof__notes(s) + c->depth;
    memset(note, 0, sizeof(*note));
    note->event = event;
    for (int k = 0; k < 3 && end && chroprof__is_record(frame, above, end); k++) {
        note->keys[k] = chroprof__frame_key(frame, chroprof__stack_word(frame + sizeof(frame)));
        above = frame;
        frame = chroprof__stack_word(frame);
    }
}

/* Linux looks at a CPU timer only when a tick of its scheduler finds the thread running, which on a
 * crowded processor may not happen for long. Signals so overdue that no other delay explains it are
 * lost. */
CHROPROF__COLD void chroprof__give_up_signals(chroprof *p, chroprof__sampler *s)
{
    uint64_t overdue = chroprof__minus(s->cpu_ns, chroprof__peek64(&s->deadline));
    if (s->mode != CHROPROF_SAMPLER_CPU || s->steady || overdue < 20000000 + 2 * s->period_ns)
        return;
    if (!chroprof__has_timer(s)) {
        chroprof__end_signals(p, s);
        return;
    }
    chroprof__set_timer(s->timer, 0, 0);    /* a timer of the thread is silent from here on */
    uint64_t count = chroprof__count_due(s, s->cpu_ns) * (s->period_ns / s->first_period_ns);
    s->ticks += count;
    s->lost += count;
    s->window_weight += count;              /* they cost nothing */
    chroprof__arm(s);
}

/* Looks at the thread's CPU clock, once in a millisecond, and remembers what it says when a
 * callback or an iteration begins: what has not been idle since the last look counts as CPU time.
 * */
static void chroprof__note_cpu(chroprof *p)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__begun *iteration = s->begun + CHROPROF__NESTED_LOOPS;
    uint64_t busy = c->last - p->paths[CHROPROF__IDLE].exec, number = c->iteration_event;
    if (c->last >= s->look_at) {
        s->look_at = c->last + chroprof__unscale(1000000, c->factor);
        s->cpu_ns = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
        s->cpu_busy = busy;
        chroprof__give_up_signals(p, s);
    }
    uint64_t now = s->cpu_ns + chroprof__scale(busy - s->cpu_busy, c->factor);
    if (c->depth == c->barrier + 1 && p->frames[c->depth].event == (uint32_t)(c->seq - 1)) {
        s->begun[chroprof__callback_place(c)].event = p->frames[c->depth].event;
        s->begun[chroprof__callback_place(c)].cpu_ns = now;
    }
    if (c->iteration_active && iteration->event != (uint32_t)number && number >= s->first_event) {
        iteration->event = (uint32_t)number;
        iteration->cpu_ns = now;
    }
}

static void chroprof__follow_event(chroprof *p, uintptr_t frame)
{
    chroprof__note_caller(p, frame);
    chroprof__note_cpu(p);
    chroprof__follow_idle(p);
}
#endif /* part alone */
