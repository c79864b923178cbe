/* event/ageing.h */
#pragma once
#include "../interface/kinds.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"

/* ---- slow futures that are old give way; the walk is one look at each group a minute */

#define CHROPROF__SLOW_CALLBACK_NS UINT64_C(60000000000)
enum { CHROPROF__SLOW_CALLBACKS = 5 };     /* minutes that make "the last minutes" */

static void chroprof__set_slow_limit(chroprof__core *c, const chroprof__slow_group *group)
{
    bool full = group->count == CHROPROF__SLOW_ROWS;
    chroprof__sites(c)[group->site].slow_limit =
        full ? group->rows[group->count - 1].latency + 1 : 0;
}

static uint64_t chroprof__slow_minute(const chroprof__core *c)
{
    return chroprof__or(chroprof__unscale(CHROPROF__SLOW_CALLBACK_NS, c->time.factor), 1);
}

/* When the last minutes began. */
static uint64_t chroprof__slow_oldest(const chroprof__core *c)
{
    return chroprof__minus(c->last, CHROPROF__SLOW_CALLBACKS * chroprof__slow_minute(c));
}

/* The older ones leave, from row `first` on. */
static void chroprof__forget_rows(const chroprof__core *c, chroprof__slow_group *group,
                                  uint32_t first)
{
    uint64_t oldest = chroprof__slow_oldest(c);
    uint32_t kept = first;
    for (uint32_t i = kept; i < group->count; i++)
        if (group->rows[i].at >= oldest)
            group->rows[kept++] = group->rows[i];
    group->count = group->count < kept ? group->count : kept;
}

/* Makes room for a future that finished with this latency: if it is one of the slowest of the run,
 * the last of these is so no more. */
static void chroprof__let_go(const chroprof__core *c, chroprof__slow_group *group,
                             uint64_t latency)
{
    uint32_t last = CHROPROF__SLOW_OF_RUN - 1;
    bool pushed = group->count > last && group->rows[last].latency < latency;
    chroprof__forget_rows(c, group, pushed ? last : last + 1);
}

CHROPROF__COLD void chroprof__forget_slow(chroprof__core *c)
{
    chroprof__slow_group *group = chroprof__slow_groups(c);
    for (uint64_t k = c->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++) {
        chroprof__forget_rows(c, group, CHROPROF__SLOW_OF_RUN);
        chroprof__set_slow_limit(c, group);
    }
    c->loop.slow_due = c->last + chroprof__slow_minute(c);
}
