/* reading/validate.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/windows.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/stacks.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/open.h"
#include "../event/slow.h"
#include "../reading/paths.h"
#include "../reading/windows.h"
#include "../reading/samples.h"

CHROPROF__COLD_BEGIN /* part alone */
/* >>validate: every invariant of a block, once, with its text. It owns nothing and changes nothing.
 * The first part is what all reads rely on: where each table lies, every index, and that every walk
 * ends. chroprof_open asks it of a block in which nothing is believed, each table once and in
 * linear time. The second part, which no read relies on, adds up across tables. chroprof_check asks
 * both. The repair of a snapshot asks for single rows, and empties those that can't be. */

#define CHROPROF__MUST(condition, text) \
    do { \
        if (!(condition)) \
            return text; \
    } while (0)

/* What another question finds broken. */
#define CHROPROF__ASK(question)                  \
    do {                                         \
        const char *chroprof__broken = question; \
        if (chroprof__broken)                    \
            return chroprof__broken;             \
    } while (0)

/* ---- what all reads rely on */

/* Do the tables lie where a block of these capacities has them? */
CHROPROF__COLD bool chroprof__has_layout(const chroprof__core *c)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        capacity[k] = c->tables[k].capacity;
        if (capacity[k] == 0 && !chroprof__rations[k].may_be_0)
            return false;
    }
    bool good = chroprof__within_limits(capacity) && c->form.block_bytes != UINT64_MAX &&
                chroprof__layout(capacity, tables) == c->form.block_bytes;
    for (uint32_t k = 0; good && k < CHROPROF__ALL_TABLES; k++) {
        const chroprof__table_row *table = &c->tables[k];
        good = table->offset == tables[k].offset && table->bytes == tables[k].bytes &&
               table->rows == tables[k].rows && table->capacity == tables[k].capacity;
    }
    return good;
}

/* What the start of the core says, if size bytes of it are there. */
CHROPROF__COLD chroprof_result chroprof__judge_header(const chroprof__core *c, uint64_t size)
{
    if (size < offsetof(chroprof__core, process.pid))
        return CHROPROF_ERR_TRUNCATED;
    if (c->form.order == 0x04030201u)
        return CHROPROF_ERR_BYTE_ORDER;
    if (c->form.layout != CHROPROF__LAYOUT || c->form.core_bytes != sizeof(*c))
        return CHROPROF_ERR_VERSION;
    if (size < sizeof(*c))
        return CHROPROF_ERR_TRUNCATED;
    if (c->form.order != 0x01020304u || !chroprof__has_layout(c))
        return CHROPROF_ERR_CORRUPT;
    return size < c->form.block_bytes ? CHROPROF_ERR_TRUNCATED : CHROPROF_OK;
}

/* Is no more of any table in use, and of the stack, than there is? */
CHROPROF__COLD const char *chroprof__ask_uses(const chroprof__core *c)
{
    for (uint32_t k = 0; k < CHROPROF__ALL_TABLES; k++) {
        const chroprof__table_row *table = &c->tables[k];
        uint64_t most = k == CHROPROF_TABLE_STRINGS ? table->bytes
                                                    : table->rows ? table->capacity : 0;
        CHROPROF__MUST(table->used <= most, "no more of a table is in use than there is");
    }
    CHROPROF__MUST(c->tables[CHROPROF_TABLE_STRINGS].used >= CHROPROF__OWN_STRINGS,
                    "our own strings are in use");
    CHROPROF__MUST(c->depth <= c->tables[CHROPROF_TABLE_DEPTH].capacity,
                    "the stack is no deeper than max_depth");
    return NULL;
}

/* What the repair of a snapshot divides by and shifts by as well: it is asked before that. */
CHROPROF__COLD const char *chroprof__ask_scales(const chroprof__core *c)
{
    CHROPROF__MUST(c->time.factor != 0 && c->last < CHROPROF__END_OF_TIME,
                    "a tick takes time, and not all of it has passed");
    CHROPROF__MUST(c->windows.ticks != 0 && c->made.window_phase < c->windows.ticks &&
                    c->made.window_phase < CHROPROF__END_OF_TIME,
                    "windows have a width, and time 0 lies in the first one");
    CHROPROF__MUST(chroprof__tag_level(c->window) <= 62, "windows were widened so often at most");
    return NULL;
}

/* The fields of the core that reads divide by, index with, or take for text. */
static const char *chroprof__ask_core(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t index = c->window & 0xFFFF;
    CHROPROF__MUST(c->form.magic == CHROPROF__MAGIC && c->seq % 2 == 0,
                    "the block begins with the magic number and no event is under way");
    CHROPROF__ASK(chroprof__ask_scales(c));
    CHROPROF__MUST(index < c->tables[CHROPROF_TABLE_WINDOWS].capacity &&
                    index <= (c->last + c->made.window_phase) / c->windows.ticks,
                    "the present window is one of the table");
    CHROPROF__MUST(!c->hidden || c->hidden_since <= c->last, "no frame was hidden later than now");
    CHROPROF__MUST(c->account < chroprof__path_count(p), "time goes to a path");
    CHROPROF__MUST(chroprof__can_defer(p), "what is deferred belongs to a count");
    CHROPROF__MUST(c->who.name[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->who.host[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->who.program[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->told.awake[CHROPROF__AWAKE_BYTES - 1] == '\0', "names end");
    const chroprof__waited_row *end = c->told.waited + CHROPROF__WAITED;
    for (const chroprof__waited_row *row = c->told.waited; row < end; row++)
        CHROPROF__MUST(row->site < chroprof__site_count(p) &&
                       row->call[CHROPROF__CALL_BYTES - 1] == '\0' &&
                       row->within[CHROPROF__WITHIN_BYTES - 1] == '\0',
                       "waits inside tasks have a site and a call");
    for (const chroprof__held_row *row = c->told.held; row < c->told.held + CHROPROF__HELD; row++)
        CHROPROF__MUST(row->code[CHROPROF__CODE_BYTES - 1] == '\0', "code that held the loop ends");
    return NULL;
}

static const char *chroprof__ask_path(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    const chroprof__path_row *row = p->paths + k;
    CHROPROF__MUST(chroprof__tag_level(row->window) <= chroprof__tag_level(c->window) &&
                    chroprof__tag_index(c, row->window) <= (c->window & 0xFFFF),
                    "no path is ahead of the present window");
    if (k < CHROPROF__FIRST_PATH) {
        CHROPROF__MUST(row->site == k && row->parent == 0 && row->generation == 0 &&
                        row->histogram == 0 && (k == CHROPROF__LOOP || row->next == 0),
                        "loop, idle and untracked are no part of the tree");
        return NULL;
    }
    CHROPROF__MUST(row->site >= CHROPROF__OTHER && row->site < chroprof__site_count(p),
                    "a path has a site");
    CHROPROF__MUST(row->parent < k && row->parent != CHROPROF__IDLE &&
                    row->parent != CHROPROF__UNTRACKED &&
                    row->generation <= (uint32_t)CHROPROF__CHAIN &&
                    row->generation == p->paths[row->parent].generation + 1,
                    "a path is younger than its parent, and one generation below it");
    CHROPROF__MUST(row->histogram < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows,
                    "a path's histogram lies in the table");
    return NULL;
}

static const char *chroprof__ask_histograms(const chroprof *p, uint32_t k)
{
    const chroprof__histograms *row = p->histograms + k;
    uint64_t used = p->core->tables[CHROPROF__RANGE_TABLE].used;
    CHROPROF__MUST(row->path < chroprof__path_count(p), "histograms are of a path's site");
    for (uint32_t i = 0; i < CHROPROF__RANGES; i++)
        CHROPROF__MUST(row->slice.range[i] < used && row->delay.range[i] < used &&
                        row->latency.range[i] < used, "a histogram's ranges lie in the table");
    return NULL;
}

/* Of callbacks and iterations. Without percentiles they have no ranges. */
static const char *chroprof__ask_lengths(const chroprof *p)
{
    const chroprof__core *c = p->core;
    for (uint32_t k = 0; k < CHROPROF__RANGES; k++) {
        uint32_t callback = p->percentiles ? CHROPROF__CALLBACK_RANGES + k : 0;
        uint32_t iteration = p->percentiles ? CHROPROF__ITERATION_RANGES + k : 0;
        CHROPROF__MUST(c->lengths.callback.range[k] == callback &&
                        c->lengths.iteration.range[k] == iteration,
                        "the ranges of callbacks and iterations lie in a row");
    }
    return NULL;
}

static const char *chroprof__ask_paths(const chroprof *p)
{
    uint32_t count = chroprof__path_count(p), seen = CHROPROF__FIRST_PATH, generation = 0;
    for (uint32_t k = 0; k < count; k++)
        CHROPROF__ASK(chroprof__ask_path(p, k));
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next) {
        CHROPROF__MUST(k >= CHROPROF__FIRST_PATH && k < count && seen++ < count,
                        "the preorder of the paths stays in the table and has no cycle");
        CHROPROF__MUST(p->paths[k].generation <= generation + 1,
                        "in preorder a path follows its parent");
        generation = p->paths[k].generation;
    }
    CHROPROF__MUST(seen == count, "every path is in the preorder once");
    return NULL;
}

/* A string begins behind the NUL of the one before; the last NUL ends them all. */
static bool chroprof__is_string(const chroprof__core *c, uint32_t offset)
{
    return offset < c->tables[CHROPROF_TABLE_STRINGS].used &&
           (offset == 0 || chroprof__string(c, offset)[-1] == '\0');
}

/* A string of ours, no longer than those that we write. The last NUL has been looked at. */
static bool chroprof__is_text(const chroprof__core *c, uint32_t offset)
{
    size_t left = (size_t)c->tables[CHROPROF_TABLE_STRINGS].used - offset;
    return left <= CHROPROF__LONGEST_TEXT ||
           memchr(chroprof__string(c, offset), 0, CHROPROF__LONGEST_TEXT + 1) != NULL;
}

/* Each path is in one chain, so the walks of all take linear time. */
static const char *chroprof__ask_sites(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t linked = CHROPROF__FIRST_PATH, last = (uint32_t)c->tables[CHROPROF_TABLE_STRINGS].used;
    CHROPROF__MUST(*chroprof__string(c, last - 1) == '\0', "the last string ends");
    for (uint32_t number = 0; number < chroprof__site_count(p); number++) {
        const chroprof__site_entry *site = chroprof__sites(c) + number;
        uint32_t k = site->first_path, before = chroprof__path_count(p);
        CHROPROF__MUST(chroprof__is_string(c, site->name) && chroprof__is_string(c, site->file),
                        "a site's strings lie in the table");
        CHROPROF__MUST(chroprof__is_text(c, site->name) && chroprof__is_text(c, site->file),
                        "a site's strings are no longer than any that was kept");
        CHROPROF__MUST(chroprof__cells(c, number)[0] <= chroprof__tag_level(c->window),
                        "no site is ahead of the width of the windows");
        for (; k; before = k, k = p->paths[k].same_site, linked++)
            CHROPROF__MUST(k < before && p->paths[k].site == number,
                            "the paths of a site are linked, younger to older");
    }
    CHROPROF__MUST(linked == chroprof__path_count(p), "every path is one of its site's");
    return NULL;
}

static const char *chroprof__ask_frame(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k, *same = p->frames + frame->same;
    CHROPROF__MUST(frame->path < chroprof__path_count(p) && frame->depth == k,
                    "every frame has a path, and knows its number");
    CHROPROF__MUST(frame->pushed <= p->core->last && frame->start >= frame->pushed &&
                    chroprof__frame_slice(p, k) <= p->core->last - frame->pushed,
                    "a frame was pushed before now, and its slice lies in its activation");
    if (frame->id == 0)
        return NULL;
    CHROPROF__MUST(frame->slot % 5 == 0 && frame->slot / 5 < p->rows &&
                    chroprof__slot_of(p, frame)->id == frame->id,
                    "a frame knows the slot of its id");
    CHROPROF__MUST(!frame->same || (frame->same < k && same->id == frame->id &&
                                    same->slot == frame->slot),
                    "the next frame of the same id is deeper");
    return NULL;
}

static const char *chroprof__ask_stack(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t barrier = 0, barriers = 0, top = p->frames[c->depth].path;
    CHROPROF__MUST(p->frames->id == 0 && p->frames->path == CHROPROF__LOOP &&
                    p->frames->depth == 0 &&
                    p->frames->kind == CHROPROF__BARRIER, "the stack stands on the loop");
    for (uint32_t k = 1; k <= c->depth; k++) {
        CHROPROF__ASK(chroprof__ask_frame(p, k));
        if (!(p->frames[k].kind & CHROPROF__BARRIER))
            continue;
        CHROPROF__MUST(p->frames[k].slot == barrier, "a barrier knows the one below it");
        barrier = k;
        barriers++;
    }
    CHROPROF__MUST(barrier == c->barrier && barriers == c->barriers,
                    "the innermost barrier is known");
    CHROPROF__MUST(c->hidden ? c->account == CHROPROF__UNTRACKED : c->account == top ||
                        (c->account == CHROPROF__IDLE && c->depth == c->barrier),
                    "time goes to what is on top");
    return NULL;
}

/* A frame is the topmost one of at most one slot, so the chains of all take linear time. An empty
 * row is zero, here and in all tables. */
static const char *chroprof__ask_future(const chroprof *p, uint32_t k)
{
    const chroprof__future_row *slot = p->futures + k;
    const chroprof__frame_row *frame = p->frames + slot->frame;
    CHROPROF__MUST(slot->path < chroprof__path_count(p), "every future has a path");
    CHROPROF__MUST(!slot->frame || (slot->frame <= p->core->depth && frame->id == slot->id &&
                                     frame->slot == 5 * k),
                    "a future's topmost frame is one of its id");
    if (slot->state == CHROPROF__GONE) {
        CHROPROF__MUST(slot->frame, "a finished future keeps its slot only for its frames");
        return NULL;
    }
    CHROPROF__MUST(slot->frame && !(frame->kind & CHROPROF__ORPHAN)
                       ? slot->state == CHROPROF_RUNNING : slot->state <= CHROPROF_PAUSED,
                    "a live future is pending, ready, running or paused; with a frame running");
    CHROPROF__MUST(slot->since <= p->core->last, "no future is in a state since later than now");
    return NULL;
}

static const char *chroprof__ask_edge(const chroprof *p, uint32_t k)
{
    const chroprof__edge *edge = chroprof__edges(p->core) + k;
    CHROPROF__MUST(edge->path < chroprof__path_count(p) &&
                    edge->target < chroprof__path_count(p) &&
                    p->paths[edge->target].site == edge->site,
                    "an edge leads from a path to one of its site");
    return NULL;
}

/* Tables that are searched. */
static const char *chroprof__ask_counts(const chroprof *p)
{
    const chroprof__table_row *tables = p->core->tables;
    uint64_t live = 0, taken = 0, edges = 0;
    for (uint32_t k = 0; k < p->rows; k++) {
        taken += p->futures[k].id != 0;
        live += p->futures[k].id != 0 && p->futures[k].state != CHROPROF__GONE;
    }
    for (uint32_t k = 0; k < tables[CHROPROF_TABLE_EDGES].rows; k++)
        edges += chroprof__edges(p->core)[k].site != 0;
    CHROPROF__MUST(taken < p->rows, "a search for a future ends");
    CHROPROF__MUST(live == tables[CHROPROF_TABLE_FUTURES].used &&
                    edges == tables[CHROPROF_TABLE_EDGES].used,
                    "the counts of live futures and edges are those of their rows");
    return NULL;
}

static bool chroprof__good_hits(const chroprof *p, const chroprof__hits *h)
{
    uint32_t good = 0;
    while (good < h->count && good < CHROPROF_STALL_SAMPLES &&
           h->stack[good] <= p->core->tables[CHROPROF_TABLE_STACKS].used &&
           h->over[good] <= h->weight[good])
        good++;
    return good == h->count;
}

static const char *chroprof__ask_stall(const chroprof *p, uint32_t k)
{
    const chroprof__stall_row *row = chroprof__stall_rows(p->core) + k;
    CHROPROF__MUST(chroprof__good_hits(p, &row->hits) &&
                    row->share_count <= CHROPROF_STALL_SHARES,
                    "a stall's samples have stacks, and it has so many shares");
    for (uint32_t i = 0; i < row->share_count; i++)
        CHROPROF__MUST(row->shares[i].site < chroprof__site_count(p),
                        "a stall's shares are of sites");
    return NULL;
}

static bool chroprof__good_place(const chroprof *p, const chroprof__met *place)
{
    return place->path < chroprof__path_count(p) && place->top < chroprof__path_count(p) &&
           place->at <= p->core->last;
}

static const char *chroprof__ask_anomaly(const chroprof *p, uint32_t kind)
{
    CHROPROF__MUST(p->core->anomalies.placed[kind] <= p->core->tables[CHROPROF__PLACES].used,
                    "an anomaly's places lie in the table");
    const chroprof__places *row = chroprof__places_of(p->core, kind);
    CHROPROF__MUST(!row || (chroprof__good_place(p, &row->first) &&
                            chroprof__good_place(p, &row->last)),
                    "an anomaly was met on paths, and before now");
    return NULL;
}

static bool chroprof__good_slow(const chroprof *p, const chroprof__slow_entry *row)
{
    uint64_t most = chroprof__unscale(CHROPROF__END_OF_TIME - 1, p->core->time.factor);
    bool fits = row->latency < CHROPROF__END_OF_TIME && row->latency <= most;
    uint64_t rest = fits ? row->latency : 0;
    bool good = fits && row->at <= p->core->last && row->path < chroprof__path_count(p) &&
                row->state >= CHROPROF_COMPLETED && row->state <= CHROPROF_CANCELLED;
    const uint64_t parts[] = { row->exec, row->children, row->delay, row->unseen };
    for (uint32_t k = 0; k < 4; k++)
        good = chroprof__part_of(&rest, parts[k]) == parts[k] && good;
    rest = row->delay;
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES; k++)
        good = good && row->blames[k].site < chroprof__site_count(p) &&
               chroprof__part_of(&rest, row->blames[k].delay) == row->blames[k].delay;
    return good;
}

static const char *chroprof__ask_slow(const chroprof *p, uint32_t k)
{
    const chroprof__slow_group *group = chroprof__slow_groups(p->core) + k;
    CHROPROF__MUST(group->count <= CHROPROF__SLOW_ROWS && group->site < chroprof__site_count(p),
                    "the slow futures of a site are not too many");
    for (uint32_t i = 0; i < group->count; i++) {
        CHROPROF__MUST(chroprof__good_slow(p, group->rows + i),
                        "what is known of a slow future is part of its lifetime");
        CHROPROF__MUST(i == 0 || group->rows[i].latency <= group->rows[i - 1].latency,
                        "the slowest future comes first");
    }
    return NULL;
}

static const char *chroprof__ask_incident(const chroprof *p, uint32_t k)
{
    const chroprof__incident_row *row = chroprof__incidents(p->core) + k;
    uint32_t good = 0;
    for (uint64_t before = 0; good < row->count && good < CHROPROF_INCIDENT_STEPS; good++) {
        const chroprof__ring_row *step = row->steps + good;
        if ((!step->spare && step->path >= chroprof__path_count(p)) || step->time < before ||
            step->time > p->core->last)
            break;
        before = step->time;
    }
    CHROPROF__MUST(k == 0 || row->serial == 0 ||
                    (good == row->count && row->first <= row->count),
                    "the steps of a stall have paths, and stand in the order of time");
    return NULL;
}

/* The rows that the ring tells of are steps that can have been, one after the other. */
static const char *chroprof__ask_ring(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t rows = c->tables[CHROPROF_TABLE_EVENTS].rows;
    CHROPROF__MUST(c->ring_mask == 2 * (rows - 1) && rows == chroprof__ring_rows(rows),
                    "the rows of the ring are a power of two");
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t before = c->ring.begin;
    CHROPROF__MUST(c->ring.first <= r.end, "the ring tells of no event to come");
    for (uint64_t n = r.first; n < r.end; n++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, c, n);
        CHROPROF__MUST(row->path < chroprof__path_count(p) && row->depth <= p->max_depth,
                        "every step has a path, and a depth that the stack can have");
        CHROPROF__MUST(row->time >= before && row->time <= c->last,
                        "steps stand in the order of time");
        before = row->time;
    }
    return NULL;
}

static const char *chroprof__ask_sample(const chroprof *p, uint32_t k)
{
    const chroprof__sample_span *row = chroprof__sample_rows(p->core) + k;
    CHROPROF__MUST(row->stack <= p->core->tables[CHROPROF_TABLE_STACKS].used,
                    "a sample has a stack");
    CHROPROF__MUST(row->time < CHROPROF__END_OF_TIME && row->duration < CHROPROF__END_OF_TIME &&
                    row->state <= CHROPROF_SAMPLE_UNINSTRUMENTED,
                   "a sample was taken at a time, of a state");
    return NULL;
}

static const char *chroprof__ask_node(const chroprof *p, uint32_t k)
{
    CHROPROF__MUST(k == 0 || (chroprof__good_node(p, k) && chroprof__nodes(p->core)[k].next < k),
                    "a sampled frame is younger than the one around it, and is a task, a marker, "
                    "or a function of a module");
    return NULL;
}

static const char *chroprof__ask_module(const chroprof *p, uint32_t k)
{
    const chroprof__module_row *row = chroprof__module_rows(p->core) + k;
    CHROPROF__MUST(row->build_id[CHROPROF__BUILD_ID - 1] == '\0' &&
                    row->path[CHROPROF__MODULE_PATH - 1] == '\0', "what names a module ends");
    return NULL;
}

/* What is wrong with a row of a table; NULL: all is well. */
static const char *chroprof__ask_row(const chroprof *p, uint32_t table, uint32_t k)
{
    switch (table) {
    case CHROPROF_TABLE_HISTOGRAMS: return chroprof__ask_histograms(p, k);
    case CHROPROF_TABLE_FUTURES: return chroprof__ask_future(p, k);
    case CHROPROF_TABLE_EDGES: return chroprof__ask_edge(p, k);
    case CHROPROF_TABLE_STALLS: return chroprof__ask_stall(p, k);
    case CHROPROF_TABLE_SLOW: return chroprof__ask_slow(p, k);
    case CHROPROF_TABLE_INCIDENTS: return chroprof__ask_incident(p, k);
    case CHROPROF_TABLE_SAMPLES: return chroprof__ask_sample(p, k);
    case CHROPROF_TABLE_STACKS: return chroprof__ask_node(p, k);
    default: return chroprof__ask_module(p, k);
    }
}

/* All that reads rely on, behind the header. Of most tables, rows that are not in use have never
 * been, so all can be looked at. */
static const char *chroprof__ask_block(const chroprof *p)
{
    static const uint32_t tables[] = {
        CHROPROF_TABLE_HISTOGRAMS, CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_STALLS, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS,
        CHROPROF_TABLE_SAMPLES, CHROPROF_TABLE_STACKS, CHROPROF__MODULES
    };
    const chroprof__core *c = p->core;
    CHROPROF__ASK(chroprof__ask_uses(c));
    CHROPROF__ASK(chroprof__ask_core(p));
    CHROPROF__ASK(chroprof__ask_paths(p));
    CHROPROF__ASK(chroprof__ask_lengths(p));
    CHROPROF__ASK(chroprof__ask_sites(p));
    CHROPROF__ASK(chroprof__ask_stack(p));
    for (uint32_t n = 0; n < sizeof(tables) / sizeof(*tables); n++) {
        uint64_t rows = c->tables[tables[n]].rows;
        if (tables[n] == CHROPROF_TABLE_STACKS && rows)
            rows = c->tables[tables[n]].used + 1;
        for (uint32_t k = 0; k < rows; k++)
            CHROPROF__ASK(chroprof__ask_row(p, tables[n], k));
    }
    for (uint32_t k = 0; k < CHROPROF__KINDS; k++)
        CHROPROF__ASK(chroprof__ask_anomaly(p, k));
    CHROPROF__MUST(!chroprof__sampler_of(c) ||
                    chroprof__sampler_of(c)->rows.head < chroprof__sample_capacity(c),
                    "the next sample has a row");
    CHROPROF__ASK(chroprof__ask_counts(p));
    return chroprof__ask_ring(p);
}

/* ---- what adds up */

/* Are all rows of one moment between two events? If not, rows of different tables need not agree:
 * only the two laws hold. */
static bool chroprof__is_exact(const chroprof__core *c)
{
    return c->copy.skew_events == 0 && c->copy.torn_events == 0;
}

static const char *chroprof__ask_sums(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t exec = 0, blame = 0, delay = 0, ready = 0, live = 0, waiting = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path_row *row = p->paths + k;
        exec += row->exec;
        blame += row->blame;
        delay += chroprof__delay_ticks(p, row);
        ready += row->ready;
        live += row->live;
        CHROPROF__MUST(k < CHROPROF__FIRST_PATH || chroprof__fold(p, row->parent, row->site) == 0,
                        "a site stands at most once on a path");
    }
    for (uint32_t k = 0; k < p->rows; k++)
        waiting += p->futures[k].id != 0 && p->futures[k].state == CHROPROF_READY;
    CHROPROF__MUST(exec == c->last,
                    "elapsed = the sum of all paths' exec + untracked + idle + uninstrumented");
    CHROPROF__MUST(blame == delay, "the sum of blame = the sum of delay");
    if (!chroprof__is_exact(c))
        return NULL;
    CHROPROF__MUST(ready == c->ready && waiting == c->ready,
                    "the ready futures of the paths, and of the slots, add up");
    CHROPROF__MUST(live == c->tables[CHROPROF_TABLE_FUTURES].used,
                    "the paths' live futures add up");
    return NULL;
}

static const char *chroprof__ask_searches(const chroprof *p)
{
    const chroprof__edge *edge = chroprof__edges(p->core);
    const chroprof__edge *end = edge + p->core->tables[CHROPROF_TABLE_EDGES].rows;
    for (uint32_t k = 0; k < p->rows; k++)
        CHROPROF__MUST(!p->futures[k].id || chroprof__find(p, p->futures[k].id) == p->futures + k,
                        "every future is found by its id");
    for (; edge < end; edge++)
        CHROPROF__MUST(!edge->site || chroprof__find_edge(p->core, edge->path, edge->site) == edge,
                        "every edge is found by its path and site");
    return NULL;
}

static const char *chroprof__ask_windows(const chroprof *p, uint32_t site)
{
    uint32_t first = chroprof__sites(p->core)[site].first_path, row = p->paths[first].histogram;
    uint64_t exec = site < CHROPROF__OTHER ? p->paths[site].exec : 0;
    const chroprof__histograms *h = p->histograms + row;
    chroprof__part part;
    memset(&part, 0, sizeof(part));
    for (uint32_t k = first; k; k = p->paths[k].same_site)
        exec += p->paths[k].exec;
    while (chroprof__next_part(p, site, &part))
        exec -= part.ticks;
    CHROPROF__MUST(exec == 0, "the windows of a site hold its exec");
    CHROPROF__MUST(row == 0 || !chroprof__is_exact(p->core) ||
                    h->missed + chroprof__histogram_total(p, &h->slice) ==
                        chroprof__slices_ended(p, site),
                    "a site's histogram has an entry for each slice that ended");
    return NULL;
}

static const char *chroprof__ask_weights(const chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    const chroprof__node *nodes = chroprof__nodes(c);
    uint64_t weight = 0, cpu = 0, end = 0;
    if (!s)
        return NULL;
    for (uint32_t k = 0; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        weight += nodes[k].weight;
        cpu += nodes[k].cpu_ns;
    }
    CHROPROF__MUST(weight == s->rows.samples,
                    "the weights of the stacks add up to the samples taken");
    for (uint64_t k = 0; k < c->tables[CHROPROF_TABLE_SAMPLES].used; k++) {
        const chroprof__sample_span *row = chroprof__sample_at(p, k);
        CHROPROF__MUST(row->time >= end && row->weight > 0,
                        "samples stand in the order of time, and weigh something");
        end = row->time + row->duration;
        weight -= row->weight;
        cpu -= row->cpu_ns;
    }
    CHROPROF__MUST(weight == s->rows.dropped && cpu == s->rows.dropped_cpu_ns,
                    "the rows of samples and what was dropped add up to the samples taken");
    CHROPROF__MUST(end <= s->rows.latest, "the newest sample is the latest");
    return NULL;
}

CHROPROF__COLD_API const char *chroprof_check(const chroprof *p)
{
    if (!chroprof__can_read(p))
        return NULL;
    CHROPROF__ASK(chroprof__ask_block(p));
    CHROPROF__ASK(chroprof__ask_sums(p));
    if (chroprof__is_exact(p->core))
        CHROPROF__ASK(chroprof__ask_searches(p));
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        CHROPROF__ASK(chroprof__ask_windows(p, site));
    return chroprof__ask_weights(p);
}

#undef CHROPROF__MUST
#undef CHROPROF__ASK

/* ---- a block from outside */

#ifndef CHROPROF_NO_COPIES
/* The core begins at a multiple of 64 of the memory it was made in, which may since have been
 * copied to anywhere: it is looked for. */
CHROPROF__COLD chroprof_result chroprof__seek(const void *block, uint64_t size, uint64_t *at)
{
    chroprof_result result = CHROPROF_ERR_FORMAT;
    uint64_t word, swapped = UINT64_C(0x43485250524F4631);
    for (*at = 0; *at <= CHROPROF__MOST_SKIPPED && size >= sizeof(word) + *at; ++*at) {
        memcpy(&word, (const char *)block + *at, sizeof(word));
        if (word == CHROPROF__MAGIC && ((uintptr_t)block + *at) % 8 == 0)
            return CHROPROF_OK;
        if (word == CHROPROF__MAGIC)
            result = CHROPROF_ERR_ALIGNMENT;
        if (word == swapped && result == CHROPROF_ERR_FORMAT)
            result = CHROPROF_ERR_BYTE_ORDER;
    }
    return result;
}

static chroprof_result chroprof__open_block(chroprof *view, const void *block, size_t size)
{
    uint64_t at;
    if (view)
        memset(view, 0, sizeof(*view));
    if (!view || !block)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__seek(block, size, &at);
    chroprof__core *c = (chroprof__core *)((uintptr_t)block + (uintptr_t)at);
    if (result == CHROPROF_OK)
        result = chroprof__judge_header(c, size - at);
    if (result == CHROPROF_OK && (c->seq | c->edits) % 2 != 0)
        result = CHROPROF_ERR_BUSY;
    if (result != CHROPROF_OK)
        return result;
    chroprof__attach(view, c);
    view->view = true;
    return chroprof__ask_block(view) ? CHROPROF_ERR_CORRUPT : CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_open(chroprof *view, const void *block, size_t size)
{
    return chroprof__keep_result(view, chroprof__open_block(view, block, size));
}
#endif

CHROPROF__COLD_END
