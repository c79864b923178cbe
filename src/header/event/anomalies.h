/* event/anomalies.h: events that come in the wrong order are counted */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/tables.h"
#include "../event/step.h"

/* ---- anomalies */

/* NULL: none are kept of this kind. */
static chroprof__places *chroprof__places_of(const chroprof__core *c, uint32_t kind)
{
    chroprof__places *rows = (chroprof__places *)chroprof__rows(c, CHROPROF__PLACES);
    return c->anomalies.placed[kind] ? rows + (c->anomalies.placed[kind] - 1) : NULL;
}

static void chroprof__meet(chroprof__core *c, uint32_t kind, const chroprof__places *met)
{
    chroprof__table_row *table = &c->tables[CHROPROF__PLACES];
    chroprof__places *row = chroprof__places_of(c, kind);
    if (row) {
        row->last = met->last;
    } else if (table->used < table->rows) {
        row = (chroprof__places *)chroprof__rows(c, CHROPROF__PLACES) + table->used++;
        *row = *met;
        CHROPROF__STORE_FENCE();            /* a place that is named is there */
        c->anomalies.placed[kind] = (uint8_t)table->used;
    }
}

CHROPROF__COLD void chroprof__count_at(chroprof__core *c, chroprof_anomaly_kind kind,
                                       uint64_t count, chroprof__met place)
{
    chroprof__places met = { place, place };
    c->anomalies.counts[kind] += count;
    chroprof__meet(c, (uint32_t)kind, &met);
}

/* The path of a future that has ended, from the last steps: what comes after the one that ran it is
 * its slice. 0: not known. */
enum { CHROPROF__STEPS_BACK = 64 };
static uint32_t chroprof__path_before(const chroprof *p, uint64_t id)
{
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t oldest = chroprof__minus(r.end, CHROPROF__STEPS_BACK);
    uint32_t after = CHROPROF__LOOP;
    for (uint64_t n = r.end; n > r.first && n > oldest; n--) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, n - 1);
        chroprof_state state = chroprof__row_state(row);
        bool runs = state == CHROPROF_RUNNING || state == CHROPROF_SWITCH;
        if (row->id == id && runs && after >= CHROPROF__FIRST_PATH)
            return after;
        after = row->path;
    }
    return CHROPROF__LOOP;
}

/* The path of the future that an event names; 0: not known. */
static uint32_t chroprof__path_named(const chroprof *p, uint64_t id)
{
    if (id == 0)
        return CHROPROF__LOOP;
    const chroprof__future_row *slot = chroprof__find(p, id);
    bool live = slot->id == id && slot->state != CHROPROF__GONE;
    return live ? slot->path : chroprof__path_before(p, id);
}

/* The event under way is out of order: its row says who it names and what was on top. */
CHROPROF__COLD void chroprof__count(const chroprof *p, chroprof_anomaly_kind kind)
{
    chroprof__core *c = p->core;
    const chroprof__ring_row *row = chroprof__ring_of(p, c, c->seq);
    uint64_t id = chroprof__row_id(row);
    chroprof__met place = { row->time, id, chroprof__path_named(p, id), row->path };
    chroprof__count_at(c, kind, 1, place);
}
