/* block/layout.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"

/* >>layout: from options to capacities, from capacities to offsets. */

#ifdef CHROPROF_NO_SAMPLER
enum { CHROPROF__SAMPLE_SHARE = 0, CHROPROF__DEFAULT_SAMPLES = 0 };
#else
enum { CHROPROF__SAMPLE_SHARE = 132, CHROPROF__DEFAULT_SAMPLES = 128 };
#endif

/* How many rows a table gets that the options say nothing of. */
typedef struct chroprof__ration {
    uint32_t usual;            /* if the block may be as large as it likes */
    uint32_t need;             /* what even a small block should hold, before the rest is shared */
    uint32_t share, limit;     /* thousandths of the rest; what the table can't use more of */
    bool may_be_0;             /* a block can do without */
} chroprof__ration;

static const chroprof__ration chroprof__rations[CHROPROF_TABLE_COUNT] = {
    { 1024, 8, 306 - CHROPROF__SAMPLE_SHARE, 1u << 28, false },                 /* FUTURES */
    { 64, 8, 25, 1u << 20, false },                                             /* SITES */
    { 256, 12, 91, 1u << 24, false },                                           /* PATHS */
    { 512, 16, 41, 1u << 25, false },                                           /* EDGES */
    { 64, 8, 20, 1024, false },                                                 /* DEPTH */
    { 32, 0, 174, 4096, true },                                                 /* HISTOGRAMS */
    { CHROPROF__DEFAULT_SAMPLES, 0, CHROPROF__SAMPLE_SHARE, 4096, true },       /* SAMPLES */
    { 120, 4, 65, 240, false },                                                 /* WINDOWS */
    { 32, 2, 15, 64, false },                                                   /* STALLS */
    { 4096, 160, 20, 1u << 24, false },                                         /* STRINGS */
    { 0, 0, 0, 0, true },                                                       /* STACKS */
    { 1024, CHROPROF__FEWEST_EVENTS, 200, 1u << 20, false },                    /* EVENTS */
    { 16, 0, 25, 256, true },                                                   /* SLOW */
    { 16, 0, 18, 64, true }                                                     /* INCIDENTS */
};

static const uint32_t chroprof__row_bytes[CHROPROF__ALL_TABLES] = {
    sizeof(chroprof__future_row), sizeof(chroprof__site_entry), sizeof(chroprof__path_row),
    sizeof(chroprof__edge), sizeof(chroprof__frame_row), sizeof(chroprof__histograms),
    sizeof(chroprof__sample_span), 8, sizeof(chroprof__stall_row), 1,
    sizeof(chroprof__node), sizeof(chroprof__ring_row), sizeof(chroprof__slow_group),
    sizeof(chroprof__incident_row), sizeof(chroprof__shortcut), 4, sizeof(chroprof__range),
    sizeof(chroprof__slices), sizeof(chroprof__places),
    sizeof(chroprof__module_row), sizeof(chroprof__wall_row), CHROPROF__ALIGN
};

/* The least power of two that is not below n. */
static uint64_t chroprof__power_above(uint64_t n)
{
    uint64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

CHROPROF__COLD uint64_t chroprof__between(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Rows of a ring of at least n; more than the limit stays beyond it. */
static uint32_t chroprof__ring_rows(uint32_t n)
{
    uint64_t rows = chroprof__between(n, CHROPROF__FEWEST_EVENTS, (1u << 28) + 1u);
    return (uint32_t)chroprof__power_above(rows);
}

/* What the options say, which are in the order of the tables. */
CHROPROF__STATIC_ASSERT(options, offsetof(chroprof_options, max_futures) == 0 &&
                                 offsetof(chroprof_options, max_incidents) ==
                                     4 * CHROPROF_TABLE_INCIDENTS &&
                                 (int)CHROPROF_TABLE_INCIDENTS + 1 == (int)CHROPROF_TABLE_COUNT);

static void chroprof__capacities(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    memcpy(capacity, o, CHROPROF_TABLE_COUNT * sizeof(*capacity));
    if (o->max_events)
        capacity[CHROPROF_TABLE_EVENTS] = chroprof__ring_rows(o->max_events);
}

CHROPROF__COLD bool chroprof__within_limits(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        bool narrow = k == CHROPROF_TABLE_DEPTH || k == CHROPROF_TABLE_WINDOWS ||
                      k == CHROPROF_TABLE_INCIDENTS;
        if (capacity[k] > (narrow ? 65000u : 1u << 28))
            return false;
    }
    return true;
}

/* How many ticks may wait for the next event. */
static uint64_t chroprof__entry_count(uint64_t samples)
{
    return chroprof__between(samples / 5, 2, 32);
}

/* Rows of ranges: one for what is of nobody, all that callbacks and iterations can take, and on
 * average some for the delays and latencies of a site and for slices that are not few. Their
 * numbers have 16 bits. */
enum {
    CHROPROF__CALLBACK_RANGES = 2, CHROPROF__ITERATION_RANGES = 2 + CHROPROF__RANGES,
    CHROPROF__FIRST_RANGE = 2 + 2 * CHROPROF__RANGES, CHROPROF__SITE_RANGES = 11
};

/* Rows that a table takes for these capacities. A third of the futures' slots is empty; they leave
 * room for ids that only have frames, and never fill up, so a probe always ends. Without samples
 * there are none of their tables. */
CHROPROF__COLD uint64_t chroprof__table_rows(uint32_t table,
                                             const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t n = table < CHROPROF_TABLE_COUNT ? capacity[table] : 0;
    uint64_t sites = (uint64_t)capacity[CHROPROF_TABLE_SITES] + CHROPROF__FIRST_SITE;
    uint64_t samples = capacity[CHROPROF_TABLE_SAMPLES];
    if (samples == 0 && (table == CHROPROF_TABLE_STACKS || table >= CHROPROF__MODULES))
        return 0;
    switch (table) {
    case CHROPROF_TABLE_FUTURES: return n + n / 2 + capacity[CHROPROF_TABLE_DEPTH] + 2;
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return n + CHROPROF__FIRST_PATH;
    case CHROPROF_TABLE_EDGES: return 2 * n + 2;
    case CHROPROF_TABLE_DEPTH: return n + 1;
    case CHROPROF_TABLE_HISTOGRAMS: return n ? n + CHROPROF__OF_SITES : 1;
    case CHROPROF_TABLE_WINDOWS: return (n + 1) * sites;
    case CHROPROF_TABLE_STRINGS: return n + CHROPROF__OWN_STRINGS;
    case CHROPROF__SHORTCUTS:               /* their bytes are counted in 32 bits */
        n = capacity[CHROPROF_TABLE_EDGES];
        return chroprof__power_above(n < 1u << 26 ? n + 1u : 1u << 26);
    case CHROPROF__HEADS: return 2 * sites;
    case CHROPROF__RANGE_TABLE:
        n = capacity[CHROPROF_TABLE_HISTOGRAMS];
        return n ? chroprof__between(CHROPROF__FIRST_RANGE + CHROPROF__SITE_RANGES * n, 0,
                                     UINT16_MAX) : 2;
    case CHROPROF__COUNTS: return capacity[CHROPROF_TABLE_HISTOGRAMS];
    case CHROPROF__PLACES: return chroprof__between(capacity[CHROPROF_TABLE_PATHS] / 4 + 1, 1,
                                                    CHROPROF__KINDS);
    case CHROPROF_TABLE_STACKS: return n + 1;
    case CHROPROF_TABLE_INCIDENTS: return n ? n + 1 : 0;
    case CHROPROF__MODULES: return chroprof__between(samples / 4, 2, CHROPROF__MOST_MODULES);
    case CHROPROF__WALLS: return CHROPROF__FIRST_PATH +
                                 chroprof__between(capacity[CHROPROF_TABLE_PATHS], 0, 4 * samples);
    case CHROPROF__SAMPLER: return (chroprof__aligned(sizeof(chroprof__sampler)) +
                                    chroprof__note_bytes(capacity[CHROPROF_TABLE_DEPTH]) +
                                    chroprof__caller_rows_of(capacity[CHROPROF_TABLE_PATHS]) *
                                        sizeof(chroprof__caller) +
                                    chroprof__entry_count(samples) * sizeof(chroprof__entry)) /
                                   CHROPROF__ALIGN;
    default: return n;
    }
}

/* The smallest block: what chroprof__table_rows says of the least capacities, without histograms,
 * samples, slow futures and incidents. It is a whole number of cache lines, so of words too.
 * src/join.sh writes it into the interface as CHROPROF_MEMORY_MIN. */
#define CHROPROF__TAKES(rows, type) CHROPROF__LINES((rows) * sizeof(type))
enum { CHROPROF__LEAST_SITES = 1 + CHROPROF__FIRST_SITE };
#define CHROPROF__LEAST_BYTES                                                                      \
    CHROPROF__LINES(                                                                               \
        CHROPROF__CORE_BYTES + CHROPROF__MOST_SKIPPED + CHROPROF__TAKES(2, chroprof__range) +      \
        CHROPROF__TAKES(1, chroprof__places) + CHROPROF__TAKES(4, chroprof__future_row) +          \
        CHROPROF__TAKES(CHROPROF__LEAST_SITES, chroprof__site_entry) +                             \
        CHROPROF__TAKES(1 + CHROPROF__FIRST_PATH, chroprof__path_row) +                            \
        CHROPROF__TAKES(4, chroprof__edge) + CHROPROF__TAKES(2, chroprof__frame_row) +             \
        CHROPROF__TAKES(1, chroprof__histograms) +                                                 \
        CHROPROF__TAKES(2 * CHROPROF__LEAST_SITES, uint64_t) /* windows */ +                       \
        CHROPROF__TAKES(1, chroprof__stall_row) +                                                  \
        CHROPROF__TAKES(1 + CHROPROF__OWN_STRINGS, char) +                                         \
        CHROPROF__TAKES(CHROPROF__FEWEST_EVENTS, chroprof__ring_row) +                             \
        CHROPROF__TAKES(2, chroprof__shortcut) +                                                   \
        CHROPROF__TAKES(2 * CHROPROF__LEAST_SITES, uint32_t) /* heads */)

/* Fills in the tables' places; returns the bytes of the block, UINT64_MAX if a row number
 * overflows. */
CHROPROF__COLD uint64_t chroprof__layout(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                         chroprof__table_row tables[CHROPROF__ALL_TABLES])
{
    uint64_t at = CHROPROF__CORE_BYTES;
    for (uint32_t n = 0; n < CHROPROF__ALL_TABLES; n++) {
        uint32_t k = (n + CHROPROF__RANGE_TABLE) % CHROPROF__ALL_TABLES;
        uint64_t rows = chroprof__table_rows(k, capacity);
        uint64_t bytes = rows * chroprof__row_bytes[k];
        if (rows > UINT32_MAX || (k == CHROPROF__COUNTS && (at + bytes) >> 35))
            return UINT64_MAX;              /* paths tell the way to counts in words, by 32 bits */
        tables[k].offset = at;
        tables[k].bytes = bytes;
        tables[k].rows = (uint32_t)rows;
        tables[k].capacity = k < CHROPROF_TABLE_COUNT ? capacity[k] : (uint32_t)rows;
        at += chroprof__aligned(tables[k].bytes);
    }
    return at;
}

/* Bytes of all tables. */
static uint64_t chroprof__sum_bytes(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < CHROPROF__ALL_TABLES; k++)
        bytes += chroprof__table_rows(k, capacity) * chroprof__row_bytes[k];
    return bytes;
}

/* Bytes of all tables with another capacity of one of them. */
static uint64_t chroprof__bytes_with(const uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t table,
                                     uint32_t other)
{
    uint32_t changed[CHROPROF_TABLE_COUNT];
    memcpy(changed, capacity, sizeof(changed));
    changed[table] = other;
    return chroprof__sum_bytes(changed);
}

/* Raises a capacity by what so many bytes hold, up to its limit. Shortcuts come with an edge, up to
 * two, and places of anomalies with every fourth path. The first row may cost more than others. */
static void chroprof__grow(uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t table, uint64_t bytes)
{
    uint32_t own = capacity[table], base = own ? own : 1;
    uint64_t room = chroprof__minus(chroprof__rations[table].limit, own);
    uint64_t least = chroprof__bytes_with(capacity, table, base);
    uint64_t row = (chroprof__bytes_with(capacity, table, base + 4) - least) / 4;
    if (table == CHROPROF_TABLE_EDGES)
        row = 2 * sizeof(chroprof__edge) + 2 * sizeof(chroprof__shortcut);
    if (own == 0)
        bytes = chroprof__minus(bytes, least - row - chroprof__sum_bytes(capacity));
    uint64_t more = bytes / row;
    capacity[table] += (uint32_t)(more < room ? more : room);
}

/* Fewer samples than these are no use. */
enum { CHROPROF__FEW_SAMPLES = 16, CHROPROF__SOME_SAMPLES = 128 };

/* Sets how many samples there are, and the frames of their stacks if the options say nothing of
 * those. Without samples there are none. */
static void chroprof__set_samples(uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t samples,
                                  bool open_stacks)
{
    uint32_t few = samples < CHROPROF__FEW_SAMPLES ? samples : (uint32_t)CHROPROF__FEW_SAMPLES;
    uint32_t some = samples < CHROPROF__SOME_SAMPLES ? samples : (uint32_t)CHROPROF__SOME_SAMPLES;
    capacity[CHROPROF_TABLE_SAMPLES] = samples;
    if (open_stacks || samples == 0)
        capacity[CHROPROF_TABLE_STACKS] = 8 * few + 18 * (some - few) + 4 * (samples - some);
}

/* What so many samples take, all tables of theirs. */
static uint64_t chroprof__sample_bytes(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                       uint32_t samples, bool open_stacks)
{
    uint32_t more[CHROPROF_TABLE_COUNT];
    memcpy(more, capacity, sizeof(more));
    chroprof__set_samples(more, samples, open_stacks);
    return chroprof__sum_bytes(more) - chroprof__bytes_with(more, CHROPROF_TABLE_SAMPLES, 0);
}

/* How many samples so many bytes hold. */
static uint32_t chroprof__samples_in(const uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t bytes,
                                     bool open_stacks)
{
    uint32_t samples = chroprof__rations[CHROPROF_TABLE_SAMPLES].limit;
    while (samples > 0 && chroprof__sample_bytes(capacity, samples, open_stacks) > bytes)
        samples -= (samples + 31) / 32;
    return samples;
}

/* Raises the open capacities to that, or to as many sixteenths of it as fit. */
static void chroprof__meet_need(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    for (uint32_t part = 16; part > 0; part--) {
        uint32_t more[CHROPROF_TABLE_COUNT];
        for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
            uint32_t need = chroprof__rations[k].need * part / 16;
            more[k] = open[k] && need > capacity[k] ? need : capacity[k];
        }
        if (chroprof__layout(more, tables) <= size) {
            memcpy(capacity, more, sizeof(more));
            return;
        }
    }
}

/* Gives each open capacity its share of the bytes that are left. */
static void chroprof__share_rest(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                 const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    uint64_t least = chroprof__layout(capacity, tables) + CHROPROF__ALL_TABLES * CHROPROF__ALIGN;
    uint64_t budget = size > least ? size - least : 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (open[k] && k != CHROPROF_TABLE_SAMPLES && k != CHROPROF_TABLE_STACKS)
            chroprof__grow(capacity, k, budget / 1000 * chroprof__rations[k].share);
    if (open[CHROPROF_TABLE_EVENTS])        /* down to a power of two */
        capacity[CHROPROF_TABLE_EVENTS] =
            chroprof__ring_rows(capacity[CHROPROF_TABLE_EVENTS] / 2 + 1);
    uint64_t bytes = budget / 1000 * CHROPROF__SAMPLE_SHARE;
    bool stacks = open[CHROPROF_TABLE_STACKS];
    uint32_t samples = chroprof__samples_in(capacity, bytes, stacks);
    if (open[CHROPROF_TABLE_SAMPLES] && samples > capacity[CHROPROF_TABLE_SAMPLES])
        chroprof__set_samples(capacity, samples, stacks);    /* last: it hangs on paths and depth */
}

/* Shares a block out over the capacities that are 0; what their limits leave over goes to the
 * futures. False: the block is too small. */
static bool chroprof__share_out(uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    bool open[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        open[k] = capacity[k] == 0;
        if (open[k] && !chroprof__rations[k].may_be_0)
            capacity[k] = k == CHROPROF_TABLE_EVENTS ? CHROPROF__FEWEST_EVENTS : 1;
    }
    bool stacks = open[CHROPROF_TABLE_STACKS];
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES], stacks);
    chroprof__meet_need(capacity, open, size);
    if (open[CHROPROF_TABLE_SAMPLES] && CHROPROF__SAMPLE_SHARE > 0 &&
        chroprof__sample_bytes(capacity, CHROPROF__FEW_SAMPLES, stacks) <= size / 5)
        chroprof__set_samples(capacity, CHROPROF__FEW_SAMPLES, stacks);
    chroprof__share_rest(capacity, open, size);
    uint64_t odd = sizeof(chroprof__future_row) + CHROPROF__ALIGN; /* halves and ends round up */
    uint64_t left = chroprof__minus(size, chroprof__layout(capacity, tables) + odd);
    if (open[CHROPROF_TABLE_FUTURES])
        chroprof__grow(capacity, CHROPROF_TABLE_FUTURES, left);
    return chroprof__layout(capacity, tables) <= size;
}
