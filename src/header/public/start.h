/* public/start.h: a profile begins */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/events.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/clock.h"
#include "../event/tally.h"
#include "../public/setup.h"
#include "../public/on_stall.h"

static chroprof_result chroprof__start(chroprof *p, void *memory, size_t size,
                                       const chroprof_options *options)
{
    chroprof_options o;
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    memset(&o, 0, sizeof(o));
    if (!p)
        return CHROPROF_ERR_ARGUMENT;
    memset(p, 0, sizeof(*p));
    if (!memory)
        return CHROPROF_ERR_ARGUMENT;
    if (options)
        o = *options;
    chroprof__capacities(&o, capacity);
    if (!chroprof__within_limits(capacity))
        return CHROPROF_ERR_LIMIT;
    if (!chroprof__resolve(&o, capacity, size))
        return CHROPROF_ERR_MEMORY;
    uintptr_t skip = sizeof(chroprof__front) + (0 - (uintptr_t)memory) % CHROPROF__ALIGN;
    chroprof__core *c = (chroprof__core *)(void *)((char *)memory + skip);
    memset(memory, 0, skip + sizeof(*c));   /* no older start lies before ours */
    uint64_t bytes = chroprof__layout(capacity, c->tables);
    memset((char *)c + sizeof(*c), 0, (size_t)bytes - sizeof(*c));
    c->form.layout = CHROPROF__LAYOUT;
    c->form.order = 0x01020304u;
    c->form.block_bytes = bytes;
    c->form.core_bytes = (uint32_t)sizeof(*c);
    chroprof__describe_process(c, o.name);
    c->ring_mask = 2 * (c->tables[CHROPROF_TABLE_EVENTS].rows - 1);
    chroprof__attach(p, c);
    chroprof__aim(p, c);
    chroprof__first_rows(p);
    p->on_stall = o.on_stall;
    p->on_stall_user = o.on_stall_user;
    p->tell = chroprof__call_on_stall;
    chroprof_result result = chroprof__start_clock(p, &o);
    if (result != CHROPROF_OK)
        return result;
    CHROPROF__STORE_FENCE();
    c->form.magic = CHROPROF__MAGIC;             /* last: from here on it is a block */
    c->enabled = 1;
    chroprof__set_taking(p, true);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                                 const chroprof_options *options)
{
    return chroprof__keep_result(p, chroprof__start(p, memory, size, options));
}

/* The time since then is nobody's; the first event charges it. */
CHROPROF__COLD_API bool chroprof_began(chroprof *p, uint64_t when)
{
    if (!p || !chroprof__is_taking(p) || !chroprof__own_clock(p) || p->core->seq != 0)
        return false;
    chroprof__core *c = p->core;
    uint64_t ticks = c->epoch - when, ns = chroprof__scale(ticks, c->time.factor);
    if (ticks >= CHROPROF__END_OF_TIME || ns >= c->set.max_step_ns)
        return false;
    chroprof__begin_edit(c);
    c->epoch = when;
    c->process.start_clock -= ticks;
    c->process.start_unix_ns = chroprof__minus(c->process.start_unix_ns, ns);
    if (c->time.calibrate_at < CHROPROF__END_OF_TIME)
        c->time.calibrate_at += ticks;
    chroprof__set_time_limit(c);
    chroprof__end_edit(c);
    return true;
}

CHROPROF__COLD_API uint64_t chroprof_to_ns(const chroprof *p, uint64_t ticks)
{
    return chroprof__can_read(p) ? chroprof__scale(ticks, p->core->time.factor) : 0;
}

CHROPROF__COLD_API uint64_t chroprof_last_event(const chroprof *p)
{
    return chroprof__can_read(p) ? p->core->last + p->core->epoch : 0;
}

CHROPROF_API uint64_t chroprof_now(const chroprof *p)
{
    if (!p)
        return chroprof__own_clock_now();
    return chroprof__can_read(p) && !p->view ? chroprof__read_clock(p) : 0;
}
