/* event/slow.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/tables.h"
#include "../event/step.h"
#include "../event/tally.h"
#include "../event/ageing.h"
#include "../event/open.h"
#include "../event/stalls.h"

/* >>slow: the slowest finished futures of each site, and where their time went. Owns that table.
 * Relies on the ring, and on the sums of >>stalls. A finish compares its lifetime with the limit of
 * the site, and calls the rest of this section if it is one of the slowest. */

/* The rows of the ring that may be looked at now: on average one an event, so that a loop in which
 * each future is slower than the last one is not slowed down further. */
#define CHROPROF__SLOW_LOOKS UINT32_C(8192)
static uint64_t chroprof__slow_looks(chroprof__core *c)
{
    uint32_t event = (uint32_t)(c->seq >> 1), ahead = c->slow_looked - event;
    if (ahead > 2 * CHROPROF__SLOW_LOOKS) {
        c->slow_looked = event;
        ahead = 0;
    }
    return ahead < CHROPROF__SLOW_LOOKS ? CHROPROF__SLOW_LOOKS - ahead : 0;
}

/* A future on its way through the ring. */
typedef struct chroprof__way {
    uint64_t id, created;
    uint32_t path;
    uint32_t depth;            /* of its deepest frame, while it is on the stack */
    bool stacked, ready, again;            /* again: it is ready when it leaves the stack */
    uint64_t time;             /* that the rows so far have told of */
    uint64_t on, own, delay;   /* ticks on the stack, on top, ready */
} chroprof__way;

/* Was no future of this path ever ready before it ran? */
static bool chroprof__is_undelayed(const chroprof__path_row *row)
{
    return row->delay == 0 && row->delay_max == 0 && row->ready == 0;
}

/* The oldest row that tells in which state the future is; the end: none does. Rows after one before
 * which it was surely not on the stack do, and all if the ring reaches back to its creation. */
static uint64_t chroprof__way_begin(chroprof *p, chroprof__reach r, const chroprof__way *w)
{
    bool waits = chroprof__is_undelayed(p->paths + w->path);
    uint64_t first = r.end, sure = r.end, looks = chroprof__slow_looks(p->core), n = r.end - 1;
    for (bool born = false; n > r.first && looks > 0 && !born; looks--) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, --n);
        chroprof_state state = chroprof__row_state(row);
        bool own = row->id == w->id;
        bool begins = own && state == CHROPROF_PENDING && row->time >= w->created;
        bool older = own && state >= CHROPROF_COMPLETED && state <= CHROPROF_CANCELLED;
        born = begins || older || row->time < w->created;
        if (begins || (own && !born && (state == CHROPROF_READY || state == CHROPROF_RUNNING ||
                                        state == CHROPROF_SWITCH)))
            first = n;
        if (born || row->depth == 0 || (row->depth == 1 && row->path != w->path))
            sure = waits && !born ? n : first;
    }
    p->core->slow_looked += (uint32_t)(r.end - n);
    return sure;
}

/* What an event did to the future; after: how deep the stack was then. */
static void chroprof__way_callback(chroprof__way *w, const chroprof__ring_row *row, uint32_t after)
{
    chroprof_state state = chroprof__row_state(row);
    bool own = row->id == w->id;
    bool runs = own && (state == CHROPROF_RUNNING || state == CHROPROF_SWITCH);
    bool handed = state == CHROPROF_SWITCH && row->id != 0 && after == w->depth;
    if (w->stacked && !runs && (after < w->depth || handed)) {
        w->stacked = false;
        w->ready = w->again;
        w->again = false;
    }
    if (runs) {
        bool deeper = w->stacked && w->depth < after;
        w->again = deeper && w->again;      /* else its only frame gave way to a new one */
        w->depth = deeper ? w->depth : after;
        w->stacked = true;
        w->ready = false;
    } else if (own && state == CHROPROF_READY) {
        w->again = w->stacked;
        w->ready = !w->stacked;
    }
}

static void chroprof__way_iteration(const chroprof *p, chroprof__way *w, chroprof__tally *y,
                               const chroprof__ring_row *row)
{
    uint64_t dt = row->time - w->time;
    w->time = row->time;
    if (w->stacked) {
        w->on += dt;
        w->own += row->path == w->path ? dt : 0;
    } else if (w->ready) {
        w->delay += dt;
        chroprof__sum_of(p, y, row->path)->exec += dt;
    }
}

/* Ticks of what is left, which becomes less by them. */
static uint64_t chroprof__part_of(uint64_t *rest, uint64_t ticks)
{
    uint64_t part = ticks < *rest ? ticks : *rest;
    *rest -= part;
    return part;
}

/* The sites that were on top most while it was ready. */
static void chroprof__blame_slow(const chroprof *p, const chroprof__tally *y,
                                 chroprof__slow_entry *slow)
{
    chroprof__stall_row taken;
    memset(&taken, 0, sizeof(taken));
    chroprof__share_tally(p, &taken, y);
    uint64_t rest = slow->delay;
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES && k < taken.share_count; k++) {
        slow->blames[k].delay = chroprof__part_of(&rest, taken.shares[k].exec);
        slow->blames[k].site = taken.shares[k].site;
    }
}

/* Follows the future from row n on, to the event under way. */
static void chroprof__follow_way(const chroprof *p, chroprof__way *w, chroprof__tally *y,
                                 uint64_t n, uint64_t end)
{
    const chroprof__core *c = p->core;
    for (; n < end; n++) {
        chroprof__way_iteration(p, w, y, chroprof__ring_at(p, c, n));
        if (chroprof__is_off(chroprof__ring_at(p, c, n), n))
            w->stacked = w->ready = w->again = false;
        else if (n + 1 < end)
            chroprof__way_callback(w, chroprof__ring_at(p, c, n),
                                   chroprof__ring_at(p, c, n + 1)->depth);
    }
}

/* The future has been in one state since long before the ring tells of it. Returns the row from
 * which on the ring tells whom it waited for. */
static uint64_t chroprof__rested(chroprof *p, chroprof__reach r, chroprof__way *w,
                                 const chroprof__future_row *slot)
{
    uint64_t n = r.end, looks = chroprof__slow_looks(p->core);
    w->time = slot->since;
    w->ready = slot->state == CHROPROF_READY;
    if (!w->ready)
        return n;
    for (; n > r.first && looks > 0 && chroprof__ring_at(p, p->core, n - 1)->time > w->time; n--)
        looks--;
    p->core->slow_looked += (uint32_t)(r.end - n);
    uint64_t time = n < r.end ? chroprof__interval_begin(p, r, n) : p->core->last;
    w->delay = chroprof__minus(time, w->time);
    chroprof__raise(&w->time, time);
    return n;
}

/* What the ring tells of a future that finishes with the event under way, and its own record. */
static void chroprof__explain_slow(chroprof *p, chroprof__slow_entry *slow, chroprof__way *w,
                                   const chroprof__future_row *slot)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    chroprof__tally y;
    chroprof__begin_tally(p, &y, CHROPROF__OF_CALLBACK, r.end, slow->at);
    uint64_t n = chroprof__way_begin(p, r, w);
    uint64_t from = n < r.end ? chroprof__ring_at(p, c, n)->time : slow->at;
    bool rests = slot->state == CHROPROF_PENDING || slot->state == CHROPROF_PAUSED ||
                 slot->state == CHROPROF_READY;
    w->time = from;
    if (rests && slot->since < from) {
        from = slot->since;
        n = chroprof__rested(p, r, w, slot);
    }
    chroprof__follow_way(p, w, &y, n, r.end);
    uint64_t rest = slow->latency - slow->exec, own = from == w->created ? slow->exec : w->own;
    slow->delay = chroprof__part_of(&rest, w->delay);
    slow->children = chroprof__part_of(&rest, chroprof__minus(w->on, own));
    slow->unseen = chroprof__part_of(&rest, chroprof__minus(from - w->created,
                                                            chroprof__minus(slow->exec, own)));
    chroprof__blame_slow(p, &y, slow);
}

/* The group of a site, new if need be. NULL: there is no room. */
static chroprof__slow_group *chroprof__slow_group_of(chroprof__core *c, uint32_t number)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SLOW];
    chroprof__site_entry *site = chroprof__sites(c) + number;
    bool none = number < CHROPROF__OTHER;   /* untracked is no site */
    if (site->slow == 0 && (none || table->used == table->capacity)) {
        if (!none && table->capacity && site->slow_limit != UINT64_MAX)
            chroprof__lose(table, number);
        site->slow_limit = UINT64_MAX;
        return NULL;
    }
    if (site->slow == 0) {
        chroprof__slow_groups(c)[table->used].site = number;
        site->slow = (uint32_t)++table->used;
        table->peak = table->used;
    }
    return chroprof__slow_groups(c) + site->slow - 1;
}

/* Puts a future among the slowest of its site. */
static void chroprof__rank_slow(chroprof__core *c, chroprof__slow_group *group,
                                const chroprof__slow_entry *slow)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__SLOW_ROWS, chroprof__slow_entry, latency);
    chroprof__let_go(c, group, slow->latency);
    group->count = chroprof__keep_largest(&by, group->rows, group->count, slow);
    chroprof__set_slow_limit(c, group);
}

/* Own exec of slices that are under way at a finish in the middle of the stack. */
static uint64_t chroprof__open_exec(const chroprof *p, const chroprof__future_row *slot)
{
    uint64_t exec = 0;
    for (uint32_t k = slot->frame; k && !(p->frames[k].kind & CHROPROF__ORPHAN);
         k = p->frames[k].same)
        exec += chroprof__frame_slice(p, k);
    return exec;
}

/* A future finishes that is one of the slowest; exec is all it had. */
CHROPROF__COLD void chroprof__keep_slow(chroprof *p, const chroprof__future_row *slot,
                                        uint64_t exec, chroprof_state state, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__slow_group *group = chroprof__slow_group_of(c, p->paths[slot->path].site);
    chroprof__slow_entry slow;
    chroprof__way way;
    if (!group)
        return;
    memset(&slow, 0, sizeof(slow));
    slow.id = slot->id;
    slow.at = t;
    slow.latency = t - slot->created;
    slow.exec = exec < slow.latency ? exec : slow.latency;
    slow.path = slot->path;
    slow.state = (uint32_t)state;
    memset(&way, 0, sizeof(way));
    way.id = slot->id;
    way.created = slot->created;
    way.path = slot->path;
    chroprof__explain_slow(p, &slow, &way, slot);
    chroprof__rank_slow(c, group, &slow);
}

/* Is the future that finishes now as slow as those that are kept of its site? */
CHROPROF__INLINE bool chroprof__is_slow(const chroprof *p, const chroprof__core *c,
                                        const chroprof__future_row *slot, uint64_t t)
{
    const chroprof__site_entry *site = chroprof__sites(c) + p->paths[slot->path].site;
    return CHROPROF__RARELY(t - slot->created >= site->slow_limit);
}
