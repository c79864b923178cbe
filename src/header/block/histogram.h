/* block/histogram.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"

/* >>histogram: how slices, delays and latencies are spread. Owns the rows of the histograms and
 * their ranges. The event adds, reading asks for percentiles. Sites come to histograms as they come
 * to paths; later ones must have taken more of the loop than those they displace. */

#define CHROPROF__LAST_BUCKET (UINT64_C(1) << 45)     /* all from there on are in one */

CHROPROF__INLINE uint64_t chroprof__bucket_below_last(uint64_t ticks)
{
    uint64_t eighths = ticks * 8;
    CHROPROF__ONE_WORD(eighths);            /* so that no copy of ticks is shifted as well */
    uint32_t exponent = chroprof__log2(ticks | 32);
    return (uint32_t)(eighths >> exponent) + exponent * 8 - 40;
}

/* What is counted of a length: no more than the histograms hold. */
CHROPROF__INLINE uint64_t chroprof__countable(uint64_t ticks)
{
    return ticks < CHROPROF__LAST_BUCKET ? ticks : CHROPROF__LAST_BUCKET;
}

CHROPROF__INLINE uint32_t chroprof__bucket(uint64_t ticks)
{
    return (uint32_t)chroprof__bucket_below_last(chroprof__countable(ticks));
}

/* The least that goes into a bucket. */
static uint64_t chroprof__bucket_begin(uint32_t bucket)
{
    uint32_t range = bucket < 8 ? 0 : bucket / 8 - 1;
    return (uint64_t)(bucket - range * 8) << (range + 2);
}

/* The middle of a bucket. */
static uint64_t chroprof__bucket_value(uint32_t bucket)
{
    return (chroprof__bucket_begin(bucket) + chroprof__bucket_begin(bucket + 1)) / 2;
}

/* The count of a bucket, NULL: its range has no row. */
static uint64_t *chroprof__bucket_place(const chroprof *p, const chroprof__histogram *h,
                                        uint32_t bucket)
{
    uint32_t range = h->range[bucket / 8];
    return range ? &p->ranges[range].count[bucket % 8] : NULL;
}

/* The counts of a row of histograms; NULL: it has none. */
static chroprof__slices *chroprof__counts_at(const chroprof *p, size_t row)
{
    chroprof__slices *rows = (chroprof__slices *)chroprof__rows(p->core, CHROPROF__COUNTS);
    return row >= CHROPROF__OF_SITES ? rows + (row - CHROPROF__OF_SITES) : NULL;
}

static void chroprof__set_histogram(const chroprof *p, chroprof__path_row *path, uint32_t row)
{
    const void *counts = row ? (const void *)chroprof__counts_at(p, row)
                             : (const void *)&p->core->nobody.counts;
    path->histogram = row;
    path->counts = (uint32_t)((uint64_t)((const char *)counts - (const char *)p->core) / 8);
}

/* Is it the loop's own: of its callbacks, or of its iterations? */
static bool chroprof__is_own(const chroprof *p, const chroprof__histogram *h)
{
    return h == &p->core->lengths.callback || h == &p->core->lengths.iteration;
}

/* The counts of a histogram of slices, as far as they are not in ranges; NULL: all are. */
static chroprof__slices *chroprof__counts_of(const chroprof *p, const chroprof__histogram *h)
{
    size_t at = (size_t)((const char *)h - (const char *)p->histograms);
    size_t row = at / sizeof(chroprof__histograms);
    if (chroprof__is_own(p, h))
        return NULL;
    return h == &p->histograms[row].slice ? chroprof__counts_at(p, row) : NULL;
}

static uint64_t *chroprof__least_of(const chroprof *p, const chroprof__histogram *h)
{
    chroprof__slices *counts = chroprof__counts_of(p, h);
    if (chroprof__is_own(p, h))
        return h == &p->core->lengths.callback ? &p->core->callback.min : &p->core->iteration.min;
    return counts ? &counts->min : &((chroprof__histogram *)(uintptr_t)h)->min;
}

/* ---- a count that is deferred. The address of a count comes from the time of the event that adds
 * to it, and AMD's processors begin no time-stamp read before they know the addresses of all older
 * stores: 1.46 clock reads an event then, 1.12 without. So the last slice, callback and iteration
 * that ended are only noted, where the address is always the same. They are added with the next
 * ones. Only this part knows: what ends is given to chroprof__defer_slice and
 * chroprof__defer_length, and chroprof__bucket_count has everything. */

#define CHROPROF__FEW_FROM (offsetof(chroprof__slices, few) / sizeof(uint16_t))
#define CHROPROF__DEFERRED_FOR_NOBODY (offsetof(chroprof__core, nobody.count) / sizeof(uint16_t))

static void chroprof__defer_nothing(chroprof__core *c)
{
    c->deferred.slice = CHROPROF__DEFERRED_FOR_NOBODY;
    c->deferred.callback = c->deferred.iteration = 0;
}

/* Where in their table a count of slices lies; UINT64_MAX: it is none. deferred: in 16 bits from
 * the core on. */
CHROPROF__COLD uint64_t chroprof__few_number(const chroprof__core *c, uint64_t deferred)
{
    uint64_t at = deferred * sizeof(uint16_t) - c->tables[CHROPROF__COUNTS].offset;
    bool few = at % sizeof(chroprof__slices) >= offsetof(chroprof__slices, few);
    return at < c->tables[CHROPROF__COUNTS].bytes && few ? at : UINT64_MAX;
}

/* Is it a count that what is deferred would be added to? */
static bool chroprof__can_defer(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t ranges = 8 * c->tables[CHROPROF__RANGE_TABLE].rows;
    bool nobody = c->deferred.slice == CHROPROF__DEFERRED_FOR_NOBODY;
    return (nobody || chroprof__few_number(c, c->deferred.slice) != UINT64_MAX) &&
           c->deferred.callback < ranges && c->deferred.iteration < ranges;
}

static uint64_t chroprof__bucket_count(const chroprof *p, const chroprof__histogram *h,
                                       uint32_t bucket)
{
    const chroprof__core *c = p->core;
    const uint64_t *place = chroprof__bucket_place(p, h, bucket), *first = &p->ranges->count[0];
    const chroprof__slices *slices = chroprof__counts_of(p, h);
    const uint16_t *deferred = (const uint16_t *)(const void *)c + c->deferred.slice;
    uint64_t count = 0;
    if (place)
        count += *place + (uint32_t)(place == first + c->deferred.callback) +
                 (uint32_t)(place == first + c->deferred.iteration);
    if (slices)
        count += slices->few[bucket] + (uint32_t)(slices->few + bucket == deferred);
    return count;
}

static uint64_t chroprof__histogram_total(const chroprof *p, const chroprof__histogram *h)
{
    uint64_t total = 0;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++)
        total += chroprof__bucket_count(p, h, b);
    return total;
}

/* Range number k of all that a row's three histograms can have. */
enum { CHROPROF__ROW_RANGES = 3 * CHROPROF__RANGES };
CHROPROF__COLD uint16_t *chroprof__range_at(chroprof__histograms *row, uint32_t k)
{
    chroprof__histogram *three[] = { &row->slice, &row->delay, &row->latency };
    return three[k / CHROPROF__RANGES]->range + k % CHROPROF__RANGES;
}

static void chroprof__histograms_clear(const chroprof *p, chroprof__histograms *row)
{
    chroprof__slices *counts = chroprof__counts_at(p, (size_t)(row - p->histograms));
    uint64_t deferred = chroprof__few_number(p->core, p->core->deferred.slice);
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++)
        if (*chroprof__range_at(row, k))
            memset(p->ranges + *chroprof__range_at(row, k), 0, sizeof(chroprof__range));
    *chroprof__least_of(p, &row->slice) = *chroprof__least_of(p, &row->delay) = UINT64_MAX;
    row->latency.min = UINT64_MAX;
    if (counts)
        memset(counts->few, 0, sizeof(counts->few));
    if (deferred / sizeof(chroprof__slices) == (uint64_t)(row - p->histograms) - CHROPROF__OF_SITES)
        p->core->deferred.slice = CHROPROF__DEFERRED_FOR_NOBODY;
    row->latency_max = row->missed = 0;
}

/* Empties the histograms of callbacks and iterations. */
static void chroprof__lengths_clear(const chroprof *p)
{
    chroprof__core *c = p->core;
    if (p->percentiles)
        memset(p->ranges + CHROPROF__CALLBACK_RANGES, 0,
               2 * CHROPROF__RANGES * sizeof(chroprof__range));
    c->callback.min = c->iteration.min = UINT64_MAX;
    c->deferred.callback = c->deferred.iteration = 0;
}

/* Slices of a site that ended. */
static uint64_t chroprof__slices_ended(const chroprof *p, uint32_t site)
{
    uint64_t slices = 0;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        slices += p->paths[k].entered + p->paths[k].activations;
    return slices;
}

static void chroprof__set_histograms(const chroprof *p, uint32_t site, uint32_t row)
{
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        chroprof__set_histogram(p, p->paths + k, row);
}

/* Ranges without an owner are in a list by their first counts. */
static void chroprof__free_ranges(const chroprof *p, chroprof__histograms *row)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF__RANGE_TABLE];
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++) {
        uint16_t *range = chroprof__range_at(row, k);
        if (*range == 0)
            continue;
        p->ranges[*range].count[0] = table->wanted;
        table->wanted = *range;
        *range = 0;
    }
}

/* A number of an empty range; 0: all are taken. */
static uint16_t chroprof__new_range(const chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF__RANGE_TABLE];
    uint64_t k = table->wanted;
    if (k) {
        table->wanted = p->ranges[k].count[0];
        p->ranges[k].count[0] = 0;
    } else if (table->used < table->rows) {
        k = table->used++;
    }
    return (uint16_t)k;
}

/* A site has no histograms from now on; they wait for another. */
static void chroprof__give_up_histograms(const chroprof *p, uint32_t row)
{
    chroprof__histograms *h = p->histograms + row;
    if (h->path)
        chroprof__set_histograms(p, p->paths[h->path].site, 0);
    chroprof__histograms_clear(p, h);
    chroprof__free_ranges(p, h);
    h->path = 0;
    h->life++;
}

/* For the first path of a site, number k: its row; 0: there is none left. */
static uint32_t chroprof__histogram_for(const chroprof *p, uint32_t k, uint32_t site)
{
    const chroprof__site_entry *row = chroprof__sites(p->core) + site;
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_HISTOGRAMS];
    if (row->first_path)
        return p->paths[row->first_path].histogram;
    if (site < CHROPROF__FIRST_SITE || row->blurred)
        return 0;
    if (table->used == table->capacity) {
        table->dropped++;
        return 0;
    }
    uint32_t number = (uint32_t)table->used + CHROPROF__OF_SITES;
    table->peak = ++table->used;
    p->histograms[number].path = k;
    return number;
}

static bool chroprof__has_ranges(chroprof__histograms *row)
{
    uint32_t k = 0;
    while (k < CHROPROF__ROW_RANGES && *chroprof__range_at(row, k) == 0)
        k++;
    return k < CHROPROF__ROW_RANGES;
}

/* The histograms whose path took least, if it is less than that; 0: none. Those without an owner
 * count if they are free for the taking. giving: only those that have ranges to give. */
static uint32_t chroprof__least_histograms(const chroprof *p, uint64_t exec, bool giving)
{
    uint32_t best = 0, used = (uint32_t)p->core->tables[CHROPROF_TABLE_HISTOGRAMS].used;
    for (uint32_t k = CHROPROF__OF_SITES; k < CHROPROF__OF_SITES + used; k++) {
        uint32_t owner = p->histograms[k].path;
        uint64_t own = owner ? p->paths[owner].exec : 0;
        if (giving && !chroprof__has_ranges(p->histograms + k))
            continue;
        best = own < exec ? k : best;
        exec = own < exec ? own : exec;
    }
    return best;
}

/* A path without histograms gets those whose path took least, if that is less than half as much. */
CHROPROF__COLD void chroprof__claim_histograms(const chroprof *p, const chroprof__path_row *path)
{
    uint32_t row = chroprof__least_histograms(p, path->exec / 2, false);
    const chroprof__site_entry *site = chroprof__sites(p->core) + path->site;
    if (row == 0 || path->site < CHROPROF__FIRST_SITE || site->blurred)
        return;
    chroprof__give_up_histograms(p, row);
    p->histograms[row].path = (uint32_t)(path - p->paths);
    p->histograms[row].missed = chroprof__slices_ended(p, path->site);
    chroprof__set_histograms(p, path->site, row);
}

/* No range is left for an entry of these histograms: the site gives its own up that took least.
 * Can they go on? */
static bool chroprof__make_ranges(const chroprof *p, uint32_t row)
{
    uint64_t exec = p->paths[p->histograms[row].path].exec;
    uint32_t least = chroprof__least_histograms(p, exec, true);
    p->core->tables[CHROPROF_TABLE_HISTOGRAMS].dropped++;
    chroprof__give_up_histograms(p, least ? least : row);
    return least != 0;
}

/* Adds so many entries to a bucket. False: its range could not be had, and the site has no
 * histograms any more. The loop's own have all of theirs from the start. */
CHROPROF__COLD bool chroprof__histogram_put(const chroprof *p, chroprof__histogram *h,
                                            uint32_t bucket, uint64_t entries)
{
    size_t row = (size_t)((char *)h - (char *)p->histograms) / sizeof(chroprof__histograms);
    uint16_t *range = &h->range[bucket / 8];
    chroprof__slices *counts = chroprof__counts_of(p, h);
    if (counts && entries <= UINT16_MAX && counts->few[bucket] + entries <= UINT16_MAX) {
        counts->few[bucket] = (uint16_t)(counts->few[bucket] + entries);
        return true;
    }
    while (*range == 0) {
        *range = chroprof__new_range(p);
        if (*range == 0 && !chroprof__make_ranges(p, (uint32_t)row))
            return false;
    }
    *chroprof__bucket_place(p, h, bucket) += entries;
    return true;
}

/* A count of slices in 16 bits began anew: 2^16 are no longer few. deferred: which, in 16 bits from
 * the core on; if it is none there is nothing to do. */
CHROPROF__COLD void chroprof__carry(const chroprof *p, uint64_t deferred)
{
    uint64_t at = chroprof__few_number(p->core, deferred);
    uint64_t row = at / sizeof(chroprof__slices) + CHROPROF__OF_SITES;
    uint64_t few = at % sizeof(chroprof__slices) - offsetof(chroprof__slices, few);
    if (at != UINT64_MAX)
        chroprof__histogram_put(p, &p->histograms[row].slice, (uint32_t)few / 2, UINT64_C(1) << 16);
}

/* Adds what is deferred. */
CHROPROF__UNUSED static void chroprof__pay(const chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t *counts = &p->ranges[0].count[0], slice = c->deferred.slice;
    bool many = ++((uint16_t *)(void *)c)[slice] == 0;
    ++counts[c->deferred.callback];
    ++counts[c->deferred.iteration];
    chroprof__defer_nothing(c);
    if (many)
        chroprof__carry(p, slice);
}

/* Where an entry will be counted. */
typedef struct chroprof__spot {
    chroprof__histogram *h;
    uint64_t *count;
} chroprof__spot;

/* False: the range has no row yet. */
CHROPROF__INLINE bool chroprof__find_spot(const chroprof *p, chroprof__histogram *h,
                                          uint32_t bucket, chroprof__spot *spot)
{
    uint32_t range = h->range[bucket / 8];
    spot->h = h;
    spot->count = &p->ranges[range].count[bucket % 8];
    return range != 0;
}

CHROPROF__INLINE void chroprof__add_there(const chroprof__spot *spot, uint64_t ticks)
{
    ++*spot->count;
    if (CHROPROF__RARELY(ticks < spot->h->min))
        spot->h->min = ticks;
}

static void chroprof__histogram_add(const chroprof *p, chroprof__histogram *h, uint64_t ticks)
{
    uint64_t *least = chroprof__least_of(p, h);
    if (chroprof__histogram_put(p, h, chroprof__bucket(ticks), 1) && ticks < *least)
        *least = ticks;
}

/* Is a slice shorter than all of its site's before? One of a site without counts always is. */
CHROPROF__INLINE bool chroprof__is_shortest(const chroprof__core *c, const chroprof__path_row *row,
                                            uint64_t slice)
{
    return slice < ((const uint64_t *)c)[row->counts];
}

/* A slice that is the shortest of its site is counted at once. */
CHROPROF__COLD void chroprof__count_shortest(const chroprof *p, const chroprof__path_row *row,
                                             uint64_t slice)
{
    if (row->histogram)
        chroprof__histogram_add(p, &p->histograms[row->histogram].slice, slice);
}

/* Any other is deferred, and what was deferred is added. It is surely below the last bucket.
 * False: a count has become too large for its 16 bits, and chroprof__carry has to have it. */
CHROPROF__INLINE bool chroprof__defer_slice(chroprof__core *c, const chroprof__path_row *row,
                                            uint64_t slice, uint64_t *full)
{
    uint64_t before = *full = c->deferred.slice;
    c->deferred.slice = chroprof__bucket_below_last(slice) + CHROPROF__FEW_FROM +
                        4 * (uint64_t)row->counts;
    return CHROPROF__LIKELY(++((uint16_t *)(void *)c)[before] != 0);
}

/* What is deferred of callbacks, or of iterations. */
typedef struct chroprof__own_lengths {
    uint64_t *count, *least;   /* count: of those that are in no histogram */
    uint32_t *deferred;
    uint32_t first;            /* of its ranges */
} chroprof__own_lengths;

/* Defers the count of one of them, and adds what was deferred. Without percentiles they are only
 * counted. countable: the ticks, as chroprof__countable has them. */
CHROPROF__INLINE void chroprof__defer_length(const chroprof *p, chroprof__core *c,
                                             chroprof__own_lengths own, uint64_t ticks,
                                             uint64_t countable)
{
    uint64_t *counts = (uint64_t *)(void *)((char *)c + CHROPROF__CORE_BYTES);
    if (CHROPROF__RARELY(ticks < *own.least)) {
        *own.least = p->percentiles ? ticks : UINT64_MAX;
        *own.count += !p->percentiles;
        if (!p->percentiles)
            return;
    }
    uint64_t before = *own.deferred;
    *own.deferred = (uint32_t)(8 * own.first + chroprof__bucket_below_last(countable));
    counts[before]++;
}

CHROPROF__INLINE void chroprof__count_callback(const chroprof *p, chroprof__core *c,
                                               uint64_t ticks, uint64_t countable)
{
    chroprof__own_lengths own = { &c->loop.callbacks, &c->callback.min, &c->deferred.callback,
                                  CHROPROF__CALLBACK_RANGES };
    chroprof__defer_length(p, c, own, ticks, countable);
}

CHROPROF__INLINE void chroprof__count_iteration(const chroprof *p, chroprof__core *c,
                                                uint64_t ticks, uint64_t countable)
{
    chroprof__own_lengths own = { &c->loop.iterations, &c->iteration.min, &c->deferred.iteration,
                                  CHROPROF__ITERATION_RANGES };
    chroprof__defer_length(p, c, own, ticks, countable);
}

/* The loop's own have all of their ranges from the start, in a row. */
static void chroprof__place_lengths(const chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t k = 0; p->percentiles && k < CHROPROF__RANGES; k++) {
        c->lengths.callback.range[k] = (uint16_t)(CHROPROF__CALLBACK_RANGES + k);
        c->lengths.iteration.range[k] = (uint16_t)(CHROPROF__ITERATION_RANGES + k);
    }
}

/* Empty histograms without owners but for the loop's own. */
static void chroprof__start_histograms(const chroprof *p)
{
    chroprof__core *c = p->core;
    c->nobody.counts = UINT64_MAX;
    chroprof__defer_nothing(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++)
        chroprof__histograms_clear(p, p->histograms + k);
    chroprof__lengths_clear(p);
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++)
        *chroprof__range_at(p->histograms + CHROPROF__OF_NOBODY, k) = 1;
    chroprof__place_lengths(p);
    c->tables[CHROPROF__RANGE_TABLE].used =
        p->percentiles ? (uint32_t)CHROPROF__FIRST_RANGE : (uint32_t)CHROPROF__CALLBACK_RANGES;
}
