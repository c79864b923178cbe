/* copies/snapshot.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
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
#include "../block/samples.h"
#include "../event/step.h"
#include "../event/tally.h"
#include "../event/slow.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/samples.h"
#include "../reading/validate.h"
#include "../public/reset.h"
#include "../copies/owner.h"

/* >>snapshot: a copy of a block that somebody may be writing, or died over. First the copy: each
 * row is of one moment. Then the repair, where rows are of several moments or of half an event:
 * links and sums are made anew, rows that can't be are emptied, and both laws hold. Last, if the
 * program lives, time goes on to the present. It relies on >>validate for what can be; difference
 * and merge use parts of the repair. */

CHROPROF__COLD_BEGIN

enum {
    CHROPROF__SPINS = 1 << 16,     /* looks at an odd sequence word before it counts as stuck */
    CHROPROF__ROW_TRIES = 64,
    CHROPROF__ALL_TRIES = 1 << 16, /* of all rows that do not hold still */
    CHROPROF__COPY_TRIES = 3,
    CHROPROF__RECENT_NS = 20000000
};

typedef struct chroprof__copy {
    const chroprof__core *from;    /* live: read by chroprof__load alone */
    chroprof__core *to;
    uint64_t seq, edits;           /* before the part under way */
    uint64_t tries;                /* left for rows that do not hold still */
    bool stuck;                    /* inside an event or an edit that does not go on */
    bool torn;                     /* that was so when the core was copied */
    bool moved;                    /* something changed meanwhile */
} chroprof__copy;

CHROPROF__INLINE uint64_t chroprof__load(const void *word)
{
    return *(const volatile chroprof__word *)word;
}

CHROPROF__COLD void chroprof__copy_words(chroprof__copy *s, uint64_t offset, uint64_t bytes)
{
    const char *from = (const char *)s->from + offset;
    char *to = (char *)s->to + offset;
    for (uint64_t k = 0; k < bytes; k += 8) {
        uint64_t word = chroprof__load(from + k);
        memcpy(to + k, &word, sizeof(word));
    }
}

/* Waits for the end of an event that is under way, unless it has none. */
static void chroprof__await(chroprof__copy *s)
{
    uint32_t spins = 0;
    bool odd;
    do {
        s->seq = chroprof__load(&s->from->seq);
        s->edits = chroprof__load(&s->from->edits);
        odd = (s->seq | s->edits) % 2 != 0;
    } while (odd && !s->stuck && ++spins < CHROPROF__SPINS);
    s->stuck = odd;
    CHROPROF__LOAD_FENCE();
}

/* Was what has been copied since of one moment? */
CHROPROF__COLD bool chroprof__held_still(const chroprof__copy *s)
{
    CHROPROF__LOAD_FENCE();
    return chroprof__load(&s->from->seq) == s->seq && chroprof__load(&s->from->edits) == s->edits;
}

/* The rows of a table that are in use; *bytes: of one. */
static uint64_t chroprof__rows_in_use(const chroprof__core *c, uint32_t table, uint64_t *bytes)
{
    const chroprof__table_row *t = c->tables + table;
    uint64_t sites = c->tables[CHROPROF_TABLE_SITES].used + CHROPROF__FIRST_SITE;
    *bytes = chroprof__row_bytes[table];
    switch (table) {
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return t->used + CHROPROF__FIRST_PATH;
    case CHROPROF__RANGE_TABLE: return t->used;
    case CHROPROF_TABLE_WINDOWS:
        *bytes = 8 * (t->capacity + UINT64_C(1));
        return sites;
    case CHROPROF_TABLE_STRINGS:
        *bytes = 8;
        return (t->used + 7) / 8;
    default: return t->rows;
    }
}

/* Copies a table so that each row is of one moment between two events, if that comes. Paths note
 * when it was. */
static void chroprof__copy_table(chroprof__copy *s, uint32_t table)
{
    uint64_t row, rows = chroprof__rows_in_use(s->to, table, &row), now, tries;
    uint64_t at = s->to->tables[table].offset, end = at + rows * row;
    if (table == CHROPROF_TABLE_DEPTH)
        at += (s->to->depth + UINT64_C(1)) * row;       /* what is below came with the core */
    for (; at < end; at += row) {
        tries = s->tries < CHROPROF__ROW_TRIES ? s->tries : (uint64_t)CHROPROF__ROW_TRIES;
        do {
            chroprof__await(s);
            chroprof__copy_words(s, at, row);
            now = chroprof__load(&s->from->last);
        } while (!chroprof__held_still(s) && tries-- > 0 && s->tries-- > 0);
        if (table == CHROPROF_TABLE_PATHS)
            ((chroprof__path_row *)(void *)((char *)s->to + at))->sum[0].exec = now;
    }
}

/* The ring is copied as it goes. What was overwritten meanwhile, and the row that the next event
 * may be writing, is not told of. */
static void chroprof__copy_ring(chroprof__copy *s)
{
    const chroprof__table_row *table = &s->to->tables[CHROPROF_TABLE_EVENTS];
    chroprof__copy_words(s, table->offset, table->bytes);
    CHROPROF__LOAD_FENCE();
    uint64_t newest = chroprof__load(&s->from->seq) >> 1;
    uint64_t first = chroprof__minus(newest + 1, table->rows), end = (s->to->seq + 1) >> 1;
    bool moved = newest != s->to->seq >> 1;
    if (moved && first > s->to->ring.first)
        s->to->ring.first = first < end ? first : end;
}

/* The core and the running stack belong together: both of one moment, if that comes. */
static chroprof_result chroprof__copy_core(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes)
{
    for (uint32_t tries = 0; tries < CHROPROF__ROW_TRIES; tries++) {
        chroprof__await(s);
        chroprof__copy_words(s, 0, sizeof(chroprof__core));
        if (!chroprof__held_still(s) && tries + 1 < CHROPROF__ROW_TRIES)
            continue;
        chroprof_result result = chroprof__judge_header(s->to, live_bytes);
        if (result != CHROPROF_OK)
            return result;
        if (chroprof__ask_uses(s->to) || chroprof__ask_scales(s->to))
            return CHROPROF_ERR_CORRUPT;
        if (bytes < s->to->form.block_bytes)
            return CHROPROF_ERR_MEMORY;
        chroprof__copy_words(s, s->to->tables[CHROPROF_TABLE_DEPTH].offset,
                             (s->to->depth + 1u) * sizeof(chroprof__frame_row));
        if (chroprof__held_still(s))
            break;
    }
    return CHROPROF_OK;
}

/* What samples and stalls refer to comes after them, so that it is there. A timer signal may come
 * at any time, and between two moments in which stacks are renumbered there are many events:
 * neither comes at each try. If stacks were renumbered all the same, nothing is known of them. */
static void chroprof__copy_samples(chroprof__copy *s)
{
    chroprof__table_row *stacks = &s->to->tables[CHROPROF_TABLE_STACKS];
    chroprof__sampler *to = chroprof__sampler_of(s->to);
    const chroprof__sampler *from = (const chroprof__sampler *)(const void *)
        ((const char *)s->from + s->to->tables[CHROPROF__SAMPLER].offset);
    bool steady = false, still = false;
    for (uint32_t tries = 0; tries < CHROPROF__COPY_TRIES && !still; tries++) {
        uint64_t renumberings = to ? chroprof__load(&from->renumberings) : 0;
        chroprof__copy_table(s, CHROPROF_TABLE_STALLS);
        if (!to)
            return;
        chroprof__copy_table(s, CHROPROF__SAMPLER);
        chroprof__copy_table(s, CHROPROF_TABLE_SAMPLES);
        uint64_t used = chroprof__load(&s->from->tables[CHROPROF_TABLE_STACKS].used);
        stacks->used = used < stacks->rows ? used : 0;
        chroprof__copy_table(s, CHROPROF_TABLE_STACKS);
        chroprof__copy_table(s, CHROPROF__MODULES);
        chroprof__copy_table(s, CHROPROF__WALLS);
        CHROPROF__LOAD_FENCE();
        steady = renumberings % 2 == 0 && chroprof__load(&from->renumberings) == renumberings;
        still = steady && chroprof__load(&from->handler.ticks) == to->handler.ticks &&
                chroprof__load(&from->handler.put) == to->handler.put;
    }
    to->renumberings |= !steady;
}

/* Copies the block, what is in use of it. The paths come last, so that no other table is ahead of
 * them. */
static chroprof_result chroprof__copy_block(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes)
{
    static const uint32_t order[] = {
        CHROPROF_TABLE_STRINGS, CHROPROF_TABLE_SITES, CHROPROF_TABLE_DEPTH, CHROPROF_TABLE_FUTURES,
        CHROPROF_TABLE_EDGES, CHROPROF_TABLE_HISTOGRAMS, CHROPROF__RANGE_TABLE, CHROPROF__COUNTS,
        CHROPROF_TABLE_WINDOWS,
        CHROPROF__PLACES, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS
    };
    chroprof__core *c = s->to;
    if (bytes < sizeof(*c))
        return CHROPROF_ERR_MEMORY;
    s->moved = true;
    for (uint32_t tries = 0; tries < CHROPROF__COPY_TRIES && s->moved; tries++) {
        chroprof_result result = chroprof__copy_core(s, live_bytes, bytes);
        if (result != CHROPROF_OK)
            return result;
        uint64_t seq = s->seq, edits = s->edits,
                 frames = (c->depth + 1u) * sizeof(chroprof__frame_row);
        uint64_t kept = c->tables[CHROPROF_TABLE_DEPTH].offset;
        memset((char *)c + sizeof(*c), 0, (size_t)(kept - sizeof(*c)));
        memset((char *)c + kept + frames, 0, (size_t)(c->form.block_bytes - kept - frames));
        s->tries = CHROPROF__ALL_TRIES;
        chroprof__copy_ring(s);
        for (uint32_t k = 0; k < sizeof(order) / sizeof(*order); k++)
            chroprof__copy_table(s, order[k]);
        chroprof__copy_samples(s);
        chroprof__copy_table(s, CHROPROF_TABLE_PATHS);
        uint64_t events = chroprof__load(&s->from->seq) - seq;
        s->torn = (seq | edits) % 2 != 0;
        s->moved = events != 0 || chroprof__load(&s->from->edits) != edits;
        c->copy.skew_events = events / 2 + events % 2;
        c->copy.skew_ticks = chroprof__minus(chroprof__load(&s->from->last), c->last);
    }
    return CHROPROF_OK;
}

/* ---- repair */

/* Parents and sites never change once a path is there: all other links are made anew from them.
 * Ranges, and paths, that were added after the counts were copied are not there. */
static bool chroprof__mend_tree(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_PATHS];
    uint32_t rows = c->tables[CHROPROF_TABLE_HISTOGRAMS].rows;
    for (uint32_t k = 0; k < chroprof__site_count(p); k++) {
        chroprof__site_entry *site = chroprof__sites(c) + k;
        site->first_path = 0;
        site->name = chroprof__is_string(c, site->name) ? site->name : 0;
        site->file = chroprof__is_string(c, site->file) ? site->file : 0;
    }
    for (uint32_t k = 0; k < rows; k++) {
        chroprof__histograms *row = p->histograms + k;
        row->path = row->path < chroprof__path_count(p) ? row->path : 0;
        for (uint32_t i = 0; i < CHROPROF__ROW_RANGES; i++)
            if (*chroprof__range_at(row, i) >= c->tables[CHROPROF__RANGE_TABLE].used)
                *chroprof__range_at(row, i) = 0;
    }
    chroprof__place_lengths(p);
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        p->paths[k].next = 0;
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        uint32_t owner = row->histogram < rows ? p->histograms[row->histogram].path : 0;
        bool own = owner != 0 && p->paths[owner].site == row->site;
        chroprof__set_histogram(p, row, own ? row->histogram : 0);
        if (row->site >= CHROPROF__OTHER && row->site < chroprof__site_count(p) && row->parent < k)
            chroprof__link_path(p, k, row->parent, row->site);
        else if (k + 1 == chroprof__path_count(p) && row->exec == 0)
            table->used--;                  /* it was just being made */
        else
            return false;
    }
    return true;
}

static uint64_t chroprof__sum_exec(const chroprof *p)
{
    uint64_t exec = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        exec += p->paths[k].exec;
    return exec;
}

/* Elapsed is the sum of what was billed. Lifetime and delay are brought from the moment of each row
 * to that. An event that was cut short is named, and its row in the ring is not ahead of time. */
static bool chroprof__mend_time(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    uint64_t last = c->last;
    c->last = chroprof__sum_exec(p);
    if (c->copy.skew_events && c->last < last)
        c->ring.first = chroprof__ring_reach(c).end;    /* it was reset meanwhile */
    if (c->last >= CHROPROF__END_OF_TIME)
        return false;
    chroprof__lower(&c->ring.begin, c->last);           /* a merge moves it on before the paths */
    chroprof__reach r = chroprof__ring_reach(c);
    if (r.first < r.end)
        chroprof__lower(&c->ring.begin, chroprof__ring_at(p, c, r.first)->time);
    for (uint32_t k = 0; c->copy.skew_events && k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        row->lifetime += row->live * (row->sum[0].exec - c->last);
        row->delay += row->ready * (row->sum[0].exec - c->last);
    }
    c->copy.torn_events = s->torn;
    if (s->torn && c->seq % 2 != 0) {
        uint64_t n = c->seq >> 1;
        chroprof__lower(&chroprof__ring_at(p, c, n)->time, c->last);
        c->copy.torn_ticks = chroprof__minus(c->last, chroprof__interval_begin(p, r, n));
    }
    return true;
}

static bool chroprof__good_frame(const chroprof *p, const chroprof__frame_row *frame)
{
    bool plain = frame->kind & (CHROPROF__BARRIER | CHROPROF__ENTER_FRAME);
    if (frame->path >= chroprof__path_count(p) || frame->pushed > p->core->last ||
        frame->depth != (uint32_t)(frame - p->frames))
        return false;
    if (frame->kind & CHROPROF__BARRIER ? frame->path != CHROPROF__LOOP
                                         : frame->path < CHROPROF__UNTRACKED)
        return false;
    return plain ? frame->id == 0 : frame->id != 0 && frame->kind & CHROPROF__FUTURE_FRAME;
}

/* Cuts the stack above the first frame that can't be; finds the barriers anew. No slice begins
 * after its end. */
static void chroprof__mend_stack(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__frame_row *frame = p->frames;
    uint32_t k = 1;
    c->barrier = c->barriers = 0;
    for (; k <= c->depth && chroprof__good_frame(p, frame + k); k++) {
        bool barrier = frame[k].kind & CHROPROF__BARRIER;
        frame[k].same = 0;
        if (!barrier)
            continue;
        frame[k].slot = c->barrier;
        c->barrier = k;
        c->barriers++;
    }
    c->depth = k - 1;
    chroprof__lower(&c->hidden_since, c->last);
    uint64_t end = c->hidden ? c->hidden_since : c->last;
    for (k = c->depth; k > 0; k--) {
        chroprof__lower(&frame[k].pushed, end);
        frame[k].start = chroprof__between(frame[k].start, frame[k].pushed, end);
        end = frame[k].pushed;
    }
    if (c->hidden)
        c->account = CHROPROF__UNTRACKED;
    else if (c->account != CHROPROF__IDLE || c->depth != c->barrier)
        c->account = p->frames[c->depth].path;
}

/* Ties a frame to the slot of its id. */
static void chroprof__mend_frame(chroprof *p, uint32_t k)
{
    chroprof__frame_row *frame = p->frames + k;
    chroprof__future_row *slot = chroprof__find(p, frame->id);
    if (slot->id == 0) {
        slot->id = frame->id;
        slot->path = frame->path;
        slot->state = CHROPROF__GONE;
    }
    bool own = slot->state != CHROPROF__GONE && slot->path == frame->path;
    if (!(frame->kind & CHROPROF__ORPHAN) && !own) {
        frame->kind |= CHROPROF__ORPHAN | CHROPROF__NEWEST | CHROPROF__OLDEST;
        frame->carried = 0;
    }
    frame->slot = chroprof__words_to(p, slot);
    frame->same = slot->frame;
    slot->frame = (uint16_t)k;
}

/* The slots of live futures stay; those that only had frames come back with these. */
static void chroprof__mend_futures(chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_FUTURES];
    table->used = 0;
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        slot->frame = 0;
        chroprof__lower(&slot->since, p->core->last);
        if (slot->id == 0 || chroprof__ask_future(p, k) || table->used == table->capacity)
            memset(slot, 0, sizeof(*slot));
        table->used += slot->id != 0;
    }
    for (uint32_t k = 1; k <= p->core->depth; k++)
        if (p->frames[k].id)
            chroprof__mend_frame(p, k);
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
        if (own)
            slot->state = CHROPROF_RUNNING;
        else if (slot->state == CHROPROF_RUNNING && p->core->hidden == 0)
            slot->state = CHROPROF_PAUSED;
    }
}

/* Rows that can't be are emptied. */
static void chroprof__empty_broken(chroprof *p)
{
    static const uint32_t tables[] = {
        CHROPROF_TABLE_EDGES, CHROPROF_TABLE_SAMPLES, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS
    };
    chroprof__core *c = p->core;
    for (uint32_t n = 0; n < sizeof(tables) / sizeof(*tables); n++) {
        char *row = (char *)chroprof__rows(c, tables[n]);
        for (uint32_t k = 0; k < c->tables[tables[n]].rows; k++) {
            if (chroprof__ask_row(p, tables[n], k))
                memset(row, 0, chroprof__row_bytes[tables[n]]);
            row += chroprof__row_bytes[tables[n]];
        }
    }
    c->tables[CHROPROF_TABLE_EDGES].used = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_EDGES].rows; k++)
        c->tables[CHROPROF_TABLE_EDGES].used += chroprof__edges(c)[k].site != 0;
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        if (chroprof__ask_anomaly(p, k))
            c->anomalies.placed[k] = 0;
    if (!chroprof__can_defer(p))
        chroprof__defer_nothing(c);
}

/* The second law: delay that blame lacks, or the reverse, is the loop's. */
static void chroprof__blame_loop(chroprof *p)
{
    uint64_t lack = 0;                      /* wraps around */
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        lack += chroprof__delay_ticks(p, p->paths + k) - p->paths[k].blame;
    if (lack >> 63)
        p->paths[CHROPROF__LOOP].delay += 0 - lack;
    else
        p->paths[CHROPROF__LOOP].blame += lack;
}

/* How many calls a path had at most; there is one more that has finished and still runs. 0: so many
 * that no program had them. */
static uint64_t chroprof__most_calls(const chroprof__path_row *row)
{
    const uint64_t counts[] = { row->completed, row->failed, row->cancelled, row->abandoned,
                                row->dropped, row->live, row->merged_live, row->entered, 1 };
    uint64_t calls = 0, rest = UINT64_MAX;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        calls += chroprof__part_of(&rest, counts[k]);
    return rest ? calls : 0;
}

/* The window that the last event is in, and no path's tag beyond it. No call can have lasted longer
 * than the profile. False: a count can't be. */
static bool chroprof__mend_paths(chroprof *p)
{
    chroprof__core *c = p->core;
    const uint64_t off[] = { 0, c->last, 0 - c->last };
    chroprof__move_window(c, c->last);
    c->ready = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        uint64_t calls = chroprof__most_calls(row);
        if (calls == 0)
            return false;
        uint64_t lifetime = row->lifetime + row->live * c->last;
        uint32_t tried = 0;                 /* one call more: what has finished and still runs */
        while (tried < 3 && (lifetime + off[tried]) / calls > c->last)
            tried++;
        row->lifetime = tried < 3 ? row->lifetime + off[tried] : 0 - row->live * c->last;
        c->ready += row->ready;
        if (chroprof__tag_level(row->window) > chroprof__tag_level(c->window) ||
            chroprof__tag_index(c, row->window) > (c->window & 0xFFFF))
            row->window = c->window;
        chroprof__lower(&row->mark, row->exec);
    }
    return true;
}

/* The cells of a site hold what its paths have put there. What they lack goes to the present
 * window, what they have too much comes off the latest ones. */
static void chroprof__mend_windows(chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        uint64_t *cells = chroprof__cells(c, site);
        uint64_t want = site < CHROPROF__OTHER ? p->paths[site].mark : 0, have = 0;
        uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
        for (uint32_t k = chroprof__sites(c)[site].first_path; k; k = p->paths[k].same_site)
            want += p->paths[k].mark;
        chroprof__lower(cells, chroprof__tag_level(c->window));
        chroprof__merge_cells(c, cells);
        for (uint32_t k = 0; k < capacity; k++)
            have += cells[1 + k];
        if (have < want)
            cells[1 + (c->window & 0xFFFF)] += want - have;
        for (uint32_t k = capacity; k > 0 && have > want; k--)
            have -= chroprof__part_of(cells + k, have - want);
    }
}

/* The rows that fit together, from the newest back; what they lack was dropped. */
static void chroprof__mend_rows(const chroprof *p, chroprof__sampler *s)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t weight = 0, cpu = 0, good = 0, begin = UINT64_MAX;
    for (; good < table->used; good++) {
        const chroprof__sample_span *row = chroprof__sample_at(p, table->used - 1 - good);
        if (row->weight == 0 || row->time + row->duration > begin)
            break;
        begin = row->time;
        weight += row->weight;
        cpu += row->cpu_ns;
        s->rows.latest = good == 0 ? row->time + row->duration : s->rows.latest;
    }
    table->used = good;
    chroprof__node *nodes = chroprof__nodes(p->core);
    uint64_t taken = 0, taken_cpu = 0;
    for (uint32_t k = 0; k <= p->core->tables[CHROPROF_TABLE_STACKS].used; k++) {
        taken += nodes[k].weight;
        taken_cpu += nodes[k].cpu_ns;
    }
    nodes[0].weight += chroprof__minus(weight, taken);
    nodes[0].cpu_ns += chroprof__minus(cpu, taken_cpu);
    s->rows.samples = taken > weight ? taken : weight;
    s->rows.dropped = s->rows.samples - weight;
    s->rows.dropped_cpu_ns = chroprof__minus(taken_cpu, cpu);
}

/* Samples whose parts do not fit, or that were renumbered meanwhile, are none. */
static void chroprof__mend_samples(chroprof *p)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (!s)
        return;
    if (s->renumberings % 2 == 0 && s->rows.head < chroprof__sample_capacity(p->core) &&
        chroprof__link_nodes(p))
        chroprof__mend_rows(p, s);
    else
        chroprof__reset_samples(p->core);
    s->renumberings += s->renumberings % 2;
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (!chroprof__good_hits(p, &chroprof__stall_rows(p->core)[k].hits))
            chroprof__stall_rows(p->core)[k].hits.count = 0;
}

/* Makes a copy of several moments, or of the middle of an event, one that opens and whose laws
 * hold. False: no event can have left that behind. */
CHROPROF__COLD bool chroprof__mend(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    char *strings = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS);
    strings[c->tables[CHROPROF_TABLE_STRINGS].used - 1] = '\0';
    if (!chroprof__mend_tree(p) || !chroprof__mend_time(p, s))
        return false;
    chroprof__mend_stack(p);
    chroprof__mend_futures(p);
    chroprof__empty_broken(p);
    if (!chroprof__mend_paths(p))
        return false;
    chroprof__blame_loop(p);
    chroprof__mend_windows(p);
    chroprof__mend_samples(p);
    return true;
}

/* ---- the finished copy */

/* A text that no program of ours can have kept is cut, as a long one is when it comes. */
static void chroprof__cut_text(const chroprof__core *c, uint32_t at)
{
    char *text = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + at;
    if (chroprof__is_string(c, at) && !chroprof__is_text(c, at))
        memcpy(text + chroprof__whole_characters(text, CHROPROF__LONGEST_TEXT - 3), "...", 4);
}

/* Ticks since the last event: what the next one would take in. It never comes if the program hangs,
 * and then these show where. The tables have been looked at, but what events alone use. */
static void chroprof__drain_copy(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    uint64_t waiting = s ? s->handler.put - s->taken : 0, running = s ? s->timer.running : 0;
    if (waiting == 0 || waiting > rows)
        return;
    (void)chroprof__link_nodes(p);         /* their buckets; the nodes are good */
    chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t k = 1; h; h = chroprof__hits_at(c, k++))
        if (!chroprof__good_hits(p, h))
            h->count = 0;
    s->timer.running = 0;                         /* modules: of that program, not of this one */
    for (; s->taken != s->handler.put; s->taken++) {
        chroprof__entry *e = chroprof__ring(c, s->taken);
        if (e->weight > 0 && e->weight >> 40 == 0 && e->state <= CHROPROF_SAMPLE_UNINSTRUMENTED)
            chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    }
    s->timer.running = running;
}

/* The copy is finished: rows as chroprof_open expects them, no event under way. A reset that was
 * cut short is made again. So that the repair takes nothing that stays for what can't be, futures
 * and frames begin anew before it. */
CHROPROF__COLD bool chroprof__seal(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    bool resetting = s->torn && c->edits % 2 != 0 && c->resetting;
    if (resetting) {
        chroprof__restart_futures(p);
        chroprof__reset_frames(p);
    }
    if ((s->torn || s->moved) && !chroprof__mend(p, s))
        return false;
    c->seq += c->seq % 2;
    c->edits += c->edits % 2;
    if (resetting) {
        chroprof__reset_all(p);
        c->copy.torn_ticks = c->copy.torn_events = 0;
    }
    chroprof__forget_tallies(p);
    for (uint32_t k = 0; k < chroprof__site_count(p); k++) {
        chroprof__cut_text(c, chroprof__sites(c)[k].name);
        chroprof__cut_text(c, chroprof__sites(c)[k].file);
    }
    if (chroprof__ask_block(p))
        return false;
    if (s->torn || s->moved)
        return true;
    chroprof__drain_copy(p);
    return chroprof__ask_block(p) == NULL;
}

/* Where the copy begins: on a line of the cache if there is room, as chroprof_init has it. What
 * lies before it looks like no start. */
static chroprof__core *chroprof__place(void *memory, uint64_t size, uint64_t bytes, uint64_t *room)
{
    uint64_t skip = (0 - (uint64_t)(uintptr_t)memory) % CHROPROF__ALIGN;
    if (skip + bytes > size)
        skip = (0 - (uint64_t)(uintptr_t)memory) % 8;
    *room = chroprof__minus(size, skip);
    memset(memory, 0, (size_t)(size - *room));
    return (chroprof__core *)((uintptr_t)memory + (uintptr_t)skip);
}

/* Of a program that lives, what is on top goes on until now, however long that is: so a hang is
 * seen while it lasts. A last event that was just now is recent enough: who writes may have read
 * the clock for the next one already, and that is earlier than our now. */
static void chroprof__bring_up(chroprof *p, const chroprof__copy *s, bool just_ended)
{
    chroprof__core *c = p->core;
    uint64_t now = chroprof__clock_here(c), t = now - c->epoch;
    bool still = !s->torn && !s->moved && chroprof__held_still(s);
    c->copy.living = now != 0 && c->enabled && c->started &&
                (just_ended ? !c->file.ended : chroprof__find_owner(c) == CHROPROF__OWNER_HERE);
    if (c->copy.living && still && t < CHROPROF__END_OF_TIME && t > c->last &&
        chroprof__ns(c, t - c->last) >= CHROPROF__RECENT_NS)
        chroprof__bill_across(p, c->account, t);
}

static chroprof_result chroprof__copy_of(const void *live_block, size_t live_size, void *memory,
                                         size_t size, bool just_ended)
{
    chroprof p;
    chroprof__copy s;
    uint64_t at, bytes, room;
    if (!live_block || !memory)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__seek(live_block, live_size, &at);
    if (result != CHROPROF_OK)
        return result;
    if (live_size - at < sizeof(chroprof__core))
        return CHROPROF_ERR_TRUNCATED;
    memset(&p, 0, sizeof(p));
    memset(&s, 0, sizeof(s));
    s.from = (const chroprof__core *)((uintptr_t)live_block + (uintptr_t)at);
    bytes = chroprof__load(&s.from->form.block_bytes);
    bytes = bytes < live_size - at ? bytes : live_size - at;
    s.to = chroprof__place(memory, size, bytes, &room);
    result = chroprof__copy_block(&s, live_size - at, room);
    if (result != CHROPROF_OK)
        return result;
    chroprof__attach(&p, s.to);
    if (!chroprof__seal(&p, &s))
        return CHROPROF_ERR_CORRUPT;
    chroprof__bring_up(&p, &s, just_ended);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_snapshot(const void *live_block, size_t live_size,
                                                     void *memory, size_t size)
{
    return chroprof__copy_of(live_block, live_size, memory, size, false);
}

CHROPROF__COLD_API chroprof_result chroprof_snapshot_ended(const void *block, size_t block_size,
                                                           void *memory, size_t size)
{
    return chroprof__copy_of(block, block_size, memory, size, true);
}
CHROPROF__COLD_END /* part alone */
