/* public/on_stall.h: the call that tells of a stall */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/windows.h"
#include "../block/clock.h"
#include "../event/step.h"
#include "../event/open.h"
#include "../event/stack.h"
#include "../reading/stalls.h"

/* What was spent in on_stall is loop, whoever is on top by now, and not part of slice or callback.
 * */
static void chroprof__bill_callback(chroprof *p)
{
    chroprof__core *c = p->core;
    uint32_t account = c->account;
    uint64_t before = c->last, start = p->frames[c->depth].start, limit = c->max_step_ticks;
    c->max_step_ticks = UINT64_MAX >> 1;    /* however long it took, it was the loop's */
    chroprof__begin_edit(c);
    c->account = CHROPROF__LOOP;
    uint64_t t = chroprof__begin_event(p, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = account;
    chroprof__freshen(c, p->paths + account);
    c->max_step_ticks = limit;
    chroprof__set_time_limit(c);
    if (c->depth)                           /* a stall ends by a pop, so no frame is hidden */
        p->frames[c->depth].start = start + (t - before);
    chroprof__leave_out(p, t - before);
    chroprof__close_event(c);
    chroprof__end_edit(c);
}

/* A stall of the event under way. An iteration that is the same stall as a callback takes its
 * place. NULL: more ended than the table holds. */
static const chroprof__stall_row *chroprof__stall_due(chroprof__core *c, uint64_t serial)
{
    const chroprof__stall_row *rows = chroprof__stall_rows(c);
    for (int kind = CHROPROF_STALL_ITERATION; kind >= CHROPROF_STALL_CALLBACK; kind--)
        if (c->stall.due[kind].serial == serial)
            return &c->stall.due[kind];
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].capacity; k++)
        if (rows[k].serial == serial)
            return rows + k;
    return NULL;
}

/* Tells the host of the stalls that the event just ended. */
CHROPROF__COLD void chroprof__call_on_stall(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof_stall stall;
    uint64_t last = c->loop.stalls, serial = last - p->stalls_due;
    p->stalls_due = 0;
    p->in_hook = true;
    chroprof__set_taking(p, false);
    while (serial++ < last) {
        const chroprof__stall_row *row = chroprof__stall_due(c, serial);
        if (!row)
            continue;
        chroprof__read_stall(p, row, &stall);
        p->on_stall(p->on_stall_user, &stall);
        /* it made a new profile of the handle, or the program forked in it */
        if (!p->in_hook || chroprof__in_child(p))
            return;
    }
    c->stall.due[CHROPROF_STALL_ITERATION].serial = 0;
    c->stall.due[CHROPROF_STALL_CALLBACK].serial = 0;
    p->in_hook = false;
    chroprof__set_taking(p, true);
    if (!c->time.manual)
        chroprof__bill_callback(p);
}
