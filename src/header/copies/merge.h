/* copies/merge.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/windows.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/stacks.h"
#include "../block/samples.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/tally.h"
#include "../event/open.h"
#include "../event/stalls.h"
#include "../event/slow.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/ranks.h"
#include "../reading/windows.h"
#include "../reading/stalls.h"
#include "../reading/samples.h"
#include "../copies/snapshot.h"
#include "../copies/difference.h"

CHROPROF__COLD_BEGIN /* part alone */
/* >>merge: the figures of another profile, in ns, on top of those of one under the manual clock.
 * Owns nothing: it is an edit of that profile. Relies on >>figures for what is added, on >>tables,
 * >>histogram and >>samples to find or make room for the other's names, paths and stacks, and on
 * >>difference for the windows. Called by users alone. */

enum { CHROPROF__KNOWN_SITES = 256 };

typedef struct chroprof__merging {
    chroprof *to;
    const chroprof *from;
    uint64_t begin, elapsed;       /* where the other's time begins in ours, how long it is; ns */
    uint32_t site[CHROPROF__KNOWN_SITES], known[CHROPROF__KNOWN_SITES];    /* ours, theirs + 1 */
    uint32_t chain[CHROPROF__CHAIN];
} chroprof__merging;

/* Our number of their site; their strings are looked at once, if there are not too many sites. */
static uint32_t chroprof__merge_site(chroprof__merging *m, uint32_t site)
{
    uint32_t k = site % CHROPROF__KNOWN_SITES, line;
    const char *name, *file;
    if (site <= CHROPROF__OTHER)
        return site;
    if (m->known[k] == site + 1)
        return m->site[k];
    chroprof__read_site_name(m->from, site, &name, &file, &line);
    m->known[k] = site + 1;
    m->site[k] = chroprof__intern_site(m->to->core, name, file, line);
    return m->site[k];
}

/* Our path for one of theirs, by its chain; new if need be and there is room. */
static uint32_t chroprof__merge_target(chroprof__merging *m, uint32_t path)
{
    const chroprof__path_row *rows = m->from->paths;
    uint32_t count = 0, target = CHROPROF__LOOP;
    if (path < CHROPROF__FIRST_PATH)
        return path;
    for (; path != CHROPROF__LOOP; path = rows[path].parent) /* as often as its generation says */
        m->chain[count++] = path;
    while (count > 0) {
        uint32_t site = chroprof__merge_site(m, rows[m->chain[--count]].site);
        target = chroprof__child(m->to, target < CHROPROF__FIRST_PATH ? 0 : target, site);
    }
    return target;
}

/* A moment of their time in ours, within the time that they add. */
static uint64_t chroprof__merge_moment(const chroprof__merging *m, uint64_t ticks)
{
    uint64_t ns = chroprof__ns(m->from->core, ticks);
    return m->begin + (ns < m->elapsed ? ns : m->elapsed);
}

/* A site that is merged from one without histograms has none. */
static void chroprof__blur(chroprof *p, uint32_t site)
{
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    chroprof__sites(p->core)[site].blurred = 1;
    if (first && p->paths[first].histogram)
        chroprof__give_up_histograms(p, p->paths[first].histogram);
}

/* Each figure is what chroprof_paths shows of it. */
static void chroprof__merge_path(chroprof__merging *m, uint32_t path)
{
    const chroprof *p = m->from;
    uint32_t target = chroprof__merge_target(m, path);
    chroprof__path_row *to = m->to->paths + target, from;
    chroprof__path_now(p, path, &from);
    from.completed -= from.entered;
    chroprof__merge_figures(p->core, CHROPROF__ALL(chroprof__path_figures), &from, to);
    if (path < chroprof__wall_count(p) && chroprof__sampler_of(m->to->core))
        chroprof__merge_figures(p->core, CHROPROF__ALL(chroprof__wall_figures),
                                chroprof__wall_rows(p->core) + path,
                                chroprof__wall_of(m->to->core, target));
    uint32_t site = chroprof__merge_site(m, from.site);
    if (to->site == site)
        return;
    chroprof__blur(m->to, site);            /* it did not fit */
    chroprof__blur(m->to, to->site);
}

/* Exec of one of their windows into our cells, in proportion where that spans several. */
static void chroprof__merge_window(const chroprof__merging *m, uint64_t *cells, uint32_t window,
                                   uint64_t ticks)
{
    const chroprof__core *c = m->from->core;
    uint64_t exec = chroprof__ns(c, ticks), width = m->to->core->windows.ticks, done = 0;
    uint64_t start = chroprof__merge_moment(m, chroprof__window_start(c, window));
    uint64_t end = m->begin + m->elapsed;
    if (window < (c->window & 0xFFFF))
        end = chroprof__merge_moment(m, chroprof__window_start(c, window + 1u));
    start = start < end ? start : end;
    uint64_t k = start / width;
    for (; (k + 1) * width < end; k++) {
        uint64_t part = (k + 1) * width - start;
        part = chroprof__scale(exec, chroprof__unscale(part, end - start));
        cells[1 + k] += part - done;
        done = part;
    }
    cells[1 + k] += exec - done;
}

/* Buckets of ticks become buckets of ns; max is their largest entry, in ticks. */
static void chroprof__merge_histogram(const chroprof__merging *m, chroprof__histogram *to,
                                      const chroprof__histogram *from, uint64_t max)
{
    const chroprof__core *c = m->from->core;
    bool same = c->time.factor == UINT64_C(1) << 32, room = true;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS && room; b++) {
        uint64_t value = b + 1 < CHROPROF__BUCKETS ? chroprof__bucket_value(b) : max;
        uint64_t count = chroprof__bucket_count(m->from, from, b);
        uint32_t bucket = same ? b : chroprof__bucket(chroprof__ns(c, value));
        room = count == 0 || chroprof__histogram_put(m->to, to, bucket, count);
    }
    uint64_t min = *chroprof__least_of(m->from, from), *least = chroprof__least_of(m->to, to);
    min = min == UINT64_MAX ? min : chroprof__ns(c, min);
    if (room && min < *least)
        *least = min;
}

/* Our histograms of a site of theirs; NULL: it has none, or theirs would not be enough. */
static chroprof__histograms *chroprof__merge_row(chroprof__merging *m, uint32_t site)
{
    const chroprof__core *c = m->from->core;
    uint32_t theirs = chroprof__sites(c)[site].first_path;
    uint32_t own = chroprof__merge_site(m, site);
    uint32_t path = chroprof__sites(m->to->core)[own].first_path;
    if (theirs == 0 || path == 0 || m->to->paths[path].histogram == 0)
        return NULL;
    if (m->from->paths[theirs].histogram)
        return m->to->histograms + m->to->paths[path].histogram;
    chroprof__blur(m->to, own);
    return NULL;
}

static void chroprof__merge_percentiles(chroprof__merging *m, uint32_t site)
{
    const chroprof *p = m->from;
    chroprof__histograms *own = chroprof__merge_row(m, site);
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    uint64_t slice, delay;
    if (!own)
        return;
    const chroprof__histograms *row = p->histograms + p->paths[first].histogram;
    chroprof__site_maxima(p, first, &slice, &delay);
    own->missed += row->missed;
    chroprof__raise(&own->latency_max, chroprof__ns(p->core, row->latency_max));
    chroprof__merge_histogram(m, &own->slice, &row->slice, slice);
    if (own->path)                          /* it may have given its ranges up */
        chroprof__merge_histogram(m, &own->delay, &row->delay, delay);
    if (own->path)
        chroprof__merge_histogram(m, &own->latency, &row->latency, row->latency_max);
}

/* Callbacks and iterations. */
static void chroprof__merge_lengths(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__core *from = m->from->core;
    const chroprof__histogram *callback = &from->lengths.callback;
    const chroprof__histogram *iteration = &from->lengths.iteration;
    if (m->to->percentiles && m->from->percentiles) {
        chroprof__merge_histogram(m, &c->lengths.callback, callback, from->loop.callback_max);
        chroprof__merge_histogram(m, &c->lengths.iteration, iteration, from->loop.iteration_max);
    } else if (m->from->percentiles) {
        c->loop.callbacks += chroprof__histogram_total(m->from, callback);
        c->loop.iterations += chroprof__histogram_total(m->from, iteration);
    }
}

/* Slices under way. */
static void chroprof__merge_open_slices(chroprof__merging *m)
{
    for (uint32_t k = 1; k <= m->from->core->depth; k++) {
        const chroprof__frame_row *frame = m->from->frames + k;
        uint32_t site = m->from->paths[frame->path].site;
        chroprof__histograms *own = site < CHROPROF__OTHER || frame->kind & CHROPROF__BARRIER
                                        ? NULL : chroprof__merge_row(m, site);
        uint64_t slice = chroprof__ns(m->from->core, chroprof__frame_slice(m->from, k));
        if (own)
            chroprof__histogram_add(m->to, &own->slice, slice);
    }
}

/* Our row of their module, + 1; 0: there is no room. It stays where it is if nothing of ours is
 * there, else it goes behind all others. */
static uint32_t chroprof__merge_module(chroprof__merging *m, const chroprof__module_row *theirs)
{
    chroprof__core *c = m->to->core;
    chroprof__table_row *table = &c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t size = theirs->high - theirs->low, low = theirs->low, end = 0;
    for (uint32_t k = 0; k < table->used; k++) {
        const chroprof__module_row *row = rows + k;
        if (row->high - row->low == size && row->low - row->base == theirs->low - theirs->base &&
            strcmp(row->build_id, theirs->build_id) == 0 && strcmp(row->path, theirs->path) == 0)
            return k + 1;
        if (row->low < theirs->high && theirs->low < row->high)
            low = UINT64_MAX;
        end = row->high > end ? row->high : end;
    }
    low = low == UINT64_MAX ? chroprof__aligned(end) : low;
    if (table->used == table->rows || size >> 48 != 0 || low >> 48 != 0)
        return 0;
    rows[table->used] = *theirs;
    rows[table->used].low = low;
    rows[table->used].high = low + size;
    rows[table->used].base = low - (theirs->low - theirs->base);
    table->peak = ++table->used;
    return (uint32_t)table->used;
}

/* One of their frames as ours. */
CHROPROF__NOINLINE uint64_t chroprof__merge_item(chroprof__merging *m, uint64_t item)
{
    const chroprof__module_row *theirs = chroprof__module_rows(m->from->core);
    uint32_t module = chroprof__item_module(item);
    if (chroprof__item_kind(item) == CHROPROF__TASK) {
        uint32_t path = chroprof__merge_target(m, (uint32_t)chroprof__item_value(item));
        return chroprof__item(CHROPROF__TASK, path);
    }
    if (module == 0)
        return item;
    theirs += module - 1;
    module = chroprof__merge_module(m, theirs);
    uint64_t moved = module ? chroprof__module_rows(m->to->core)[module - 1].low - theirs->low : 0;
    return chroprof__code_item(chroprof__item_kind(item), chroprof__item_address(item) + moved,
                               module);
}

/* Our number of their stack, or of what of it fits. */
static uint32_t chroprof__merge_stack(chroprof__merging *m, uint32_t stack)
{
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    uint64_t items[2 * CHROPROF__ITEMS];
    uint32_t count = 0;
    for (uint32_t k = stack; k && count < 2 * CHROPROF__ITEMS; k = theirs[k].parent)
        items[count++] = chroprof__merge_item(m, theirs[k].item);
    return chroprof__intern_items(m->to, items, count);
}

/* Their stacks of a stall as ours: all of one moment. */
static void chroprof__merge_hits(chroprof__merging *m, const chroprof__hits *theirs,
                                 chroprof__hits *own)
{
    const chroprof__sampler *s = chroprof__sampler_of(m->to->core);
    uint64_t renumberings = 0;
    *own = *theirs;
    if (!s)
        own->count = 0;
    for (uint32_t tries = 0; s && (tries == 0 || s->renumberings != renumberings); tries++) {
        own->count = tries < 3 ? theirs->count : 0;     /* 0: never, new room holds a stall's */
        renumberings = s->renumberings;
        for (uint32_t k = 0; k < own->count; k++)
            own->stack[k] = chroprof__merge_stack(m, theirs->stack[k]);
    }
}

/* After what we have, in the order of time whatever theirs is: ticks since their last event stand
 * at its end. */
static void chroprof__merge_sample(chroprof__merging *m, const chroprof__sample_span *row)
{
    chroprof__sampler *s = chroprof__sampler_of(m->to->core);
    uint64_t start = chroprof__merge_moment(m, row->time);
    if (row->weight == 0)
        return;
    uint32_t stack = chroprof__merge_stack(m, row->stack);
    chroprof__sample_span *own = chroprof__new_row(m->to->core, s);
    *own = *row;
    own->time = start > s->rows.latest ? start : s->rows.latest;
    own->duration = chroprof__minus(chroprof__merge_moment(m, row->time + row->duration),
                                    own->time);
    own->stack = stack;
    s->rows.latest = own->time + own->duration;
}

static void chroprof__merge_samples(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__sampler *from = chroprof__sampler_of(m->from->core);
    chroprof__sampler *to = chroprof__sampler_of(c);
    if (from && !to)
        c->tables[CHROPROF_TABLE_SAMPLES].dropped += from->rows.samples;
    if (!from || !to)
        return;
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    for (uint32_t k = 0; k <= m->from->core->tables[CHROPROF_TABLE_STACKS].used; k++) {
        if ((theirs[k].weight | theirs[k].cpu_ns) == 0)
            continue;
        chroprof__node *own = chroprof__nodes(c) + chroprof__merge_stack(m, k);
        own->weight += theirs[k].weight;
        own->cpu_ns += theirs[k].cpu_ns;
    }
    for (uint64_t k = 0; k < m->from->core->tables[CHROPROF_TABLE_SAMPLES].used; k++)
        chroprof__merge_sample(m, chroprof__sample_at(m->from, k));
    c->estimated |= m->from->core->estimated;
    c->foreign |= m->from->view || m->from->core->foreign;
    to->set.mode = to->set.first_period_ns ? to->set.mode : from->set.mode;
    chroprof__merge_figures(m->from->core, CHROPROF__ALL(chroprof__sampler_figures), from, to);
    chroprof__mend_rows(m->to, to);
}

/* The steps of their stall, in our time. */
static void chroprof__merge_steps(chroprof__merging *m, uint64_t serial,
                                  const chroprof__stall_row *stall)
{
    const chroprof__incident_row *from = chroprof__incident_of(m->from->core, serial);
    for (uint32_t recent = 0; from && recent < 2; recent++) {
        chroprof__incident_row *row = chroprof__incident_place(m->to->core, stall, recent != 0);
        if (!row)
            continue;
        *row = *from;
        row->serial = stall->serial;
        row->length = stall->length;
        memset(row->steps + row->count, 0,
               (CHROPROF_INCIDENT_STEPS - row->count) * sizeof(*row->steps));
        for (chroprof__ring_row *step = row->steps; step < row->steps + row->count; step++) {
            step->time = chroprof__merge_moment(m, step->time);
            if (!step->spare)
                step->path = chroprof__merge_target(m, step->path);
            if (chroprof__row_state(step) != CHROPROF_SINCE)
                step->id = chroprof__shown_id(m->from, chroprof__row_id(step));
        }
    }
}

static void chroprof__merge_stalls(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__core *theirs = m->from->core;
    const chroprof__stall_row *row = chroprof__stall_after(m->from, 0);
    for (; row; row = chroprof__stall_after(m->from, row->serial)) {
        chroprof__stall_row stall = *row;
        stall.serial = c->loop.stalls + (row->serial < theirs->loop.stalls ? row->serial
                                                                           : theirs->loop.stalls);
        stall.start = m->begin + chroprof__ns(theirs, row->start);
        stall.length = chroprof__ns(theirs, row->length);
        chroprof__merge_hits(m, &row->hits, &stall.hits);
        for (uint32_t k = 0; k < stall.share_count; k++) {
            chroprof__stall_part *share = stall.shares + k;
            share->exec = chroprof__ns(theirs, share->exec);
            share->slice_max = chroprof__ns(theirs, share->slice_max);
            share->site = chroprof__merge_site(m, share->site);
        }
        if (stall.serial != 0)
            chroprof__keep_stall(c, &stall);
        chroprof__merge_steps(m, row->serial, &stall);
    }
    chroprof__set_stalls(c, c->loop.stalls + theirs->loop.stalls);
}

static void chroprof__merge_slow_row(chroprof__merging *m, uint32_t site, chroprof__slow_entry slow)
{
    const chroprof__core *theirs = m->from->core;
    chroprof__slow_group *group = chroprof__slow_group_of(m->to->core, site);
    if (!group)
        return;
    slow.id = chroprof__shown_id(m->from, slow.id);
    slow.at = chroprof__merge_moment(m, slow.at);
    slow.latency = chroprof__ns(theirs, slow.latency);
    slow.exec = chroprof__ns(theirs, slow.exec);
    slow.children = chroprof__ns(theirs, slow.children);
    slow.delay = chroprof__ns(theirs, slow.delay);
    slow.unseen = chroprof__ns(theirs, slow.unseen);
    slow.path = chroprof__merge_target(m, slow.path);
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES; k++) {
        slow.blames[k].delay = chroprof__ns(theirs, slow.blames[k].delay);
        slow.blames[k].site = chroprof__merge_site(m, slow.blames[k].site);
    }
    chroprof__rank_slow(m->to->core, group, &slow);
}

static void chroprof__merge_place(chroprof__merging *m, chroprof__met *place)
{
    place->at = chroprof__merge_moment(m, place->at);
    place->id = chroprof__shown_id(m->from, place->id);
    place->path = chroprof__merge_target(m, place->path);
    place->top = chroprof__merge_target(m, place->top);
}

static void chroprof__merge_waits(chroprof__merging *m)
{
    const chroprof__core *c = m->from->core;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        const chroprof__waited_row *theirs = c->told.waited + k;
        if (theirs->count == 0)
            continue;
        chroprof__waited_row *row = chroprof__row_of_wait(
            m->to->core, chroprof__merge_site(m, theirs->site), theirs->call, theirs->within);
        row->estimated |= theirs->estimated;
        row->count += theirs->count;
        row->ticks += chroprof__ns(c, theirs->ticks);
        chroprof__raise(&row->longest, chroprof__ns(c, theirs->longest));
    }
}

static void chroprof__merge_counts(chroprof__merging *m)
{
    chroprof__core *to = m->to->core;
    const chroprof__core *c = m->from->core;
    chroprof__merge_figures(c, CHROPROF__ALL(chroprof__loop_figures), c, to);
    to->loop.cpu_clock_ns = 0;
    memset(to->told.held, 0, sizeof(to->told.held));
    to->made.merged_events += (c->seq - c->seq_base) / 2;
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++) {
        const chroprof__places *theirs = chroprof__places_of(c, k);
        to->anomalies.counts[k] += c->anomalies.counts[k];
        if (!theirs || c->anomalies.counts[k] == 0)
            continue;
        chroprof__places met = *theirs;
        chroprof__merge_place(m, &met.first);
        chroprof__merge_place(m, &met.last);
        chroprof__meet(to, k, &met);
    }
    to->ever_dropped |= c->ever_dropped;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        chroprof__table_row *table = &to->tables[k];
        uint64_t wanted = c->tables[k].wanted;
        table->dropped += c->tables[k].dropped;
        if (k == CHROPROF_TABLE_DEPTH)
            chroprof__raise(&table->wanted, wanted);
        else if (k == CHROPROF_TABLE_STRINGS)
            table->wanted += wanted;
        else
            table->wanted |= wanted;
    }
}

/* Our time, and the window that it is in, go on by theirs. All our exec is in the cells then. */
static void chroprof__merge_time(const chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    uint64_t end = m->begin + m->elapsed;
    chroprof__move_window(c, end);
    chroprof__close_windows(m->to);
    c->epoch -= m->elapsed;
    c->last = end;
    c->iteration.start += m->elapsed;
    c->ring.first = c->seq >> 1;            /* no time that the ring tells of is the target's */
    c->ring.begin = end;
}

static void chroprof__merge_all(chroprof__merging *m)
{
    chroprof *p = m->to;
    chroprof__merge_time(m);
    for (uint32_t k = 0; k < chroprof__path_count(m->from); k++)
        chroprof__merge_path(m, k);
    for (uint32_t site = 0; site < chroprof__site_count(m->from); site++) {
        uint64_t *own = chroprof__cells(p->core, chroprof__merge_site(m, site));
        chroprof__part part = { 0, 0, 0, 0 };
        chroprof__merge_cells(p->core, own);        /* a new site */
        while (chroprof__next_part(m->from, site, &part))
            chroprof__merge_window(m, own, part.window, part.ticks);
        if (site >= CHROPROF__FIRST_SITE)
            chroprof__merge_percentiles(m, site);
    }
    chroprof__merge_open_slices(m);
    chroprof__merge_lengths(m);
    chroprof__merge_stalls(m);
    const chroprof__slow_group *group = chroprof__slow_groups(m->from->core);
    for (uint64_t k = m->from->core->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++)
        for (uint32_t i = 0; i < group->count; i++)
            chroprof__merge_slow_row(m, chroprof__merge_site(m, group->site), group->rows[i]);
    chroprof__merge_samples(m);
    chroprof__merge_waits(m);
    chroprof__merge_counts(m);
    chroprof__marks_since(p);
    chroprof__blame_loop(p);
    chroprof__set_time_limit(p->core);
}

CHROPROF__COLD_API chroprof_result chroprof_merge(chroprof *p, const chroprof *other)
{
    chroprof__merging m;
    if (!chroprof__has_block(p) || !chroprof__can_read(other) || p->core == other->core)
        return CHROPROF_ERR_ARGUMENT;
    const chroprof__core *c = p->core;
    if (p->view || p->in_hook || !c->time.manual || c->depth ||
        c->tables[CHROPROF_TABLE_FUTURES].used)
        return CHROPROF_ERR_TARGET;
    memset(&m, 0, sizeof(m));
    m.to = p;
    m.from = other;
    m.begin = c->last;
    for (uint32_t k = 0; k < chroprof__path_count(other); k++) {
        uint64_t exec = chroprof__ns(other->core, other->paths[k].exec);
        if (exec >= CHROPROF__END_OF_TIME - c->last - m.elapsed)
            return CHROPROF_ERR_TIME;
        m.elapsed += exec;
    }
    chroprof__begin_edit(p->core);
    chroprof__merge_all(&m);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}

CHROPROF__COLD_END
