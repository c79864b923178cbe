/* tests/inside_core.h - part of test_inside.c: the parts of the core one by one, with figures that
 * were worked out by hand or by a plain model beside them. */
#ifndef INSIDE_CORE_H
#define INSIDE_CORE_H

/* >>layout: the order of the tables is that of chroprof_table_kind, then aliases, heads, stacks,
 * modules, walls, sampler */

enum {
    BYTES_OF_HITS = 32 + 16 * CHROPROF_STALL_SAMPLES,
    BYTES_OF_STALL = 40 + 24 * CHROPROF_STALL_SLICES + BYTES_OF_HITS,
    BYTES_OF_SAMPLER = 36 * 8 + 24 * 8 + 5 * BYTES_OF_HITS,
    BYTES_OF_ENTRY = 64 + 8 * 56
};

#ifdef CHROPROF_NO_SAMPLER
enum { SHARE_OF_SAMPLES = 0, SAMPLES_ELSE = 0 };
#else
enum { SHARE_OF_SAMPLES = 80, SAMPLES_ELSE = 128 };
#endif

static uint64_t lines_of(uint64_t bytes)
{
    return (bytes + 63) / 64;
}

static const uint32_t some_capacities[CHROPROF_TABLE_COUNT] = {
    11, 13, 17, 19, 23, 29, 31, 37, 41, 43
};

TEST(each_table_has_its_rows_and_place)
{
    static const uint32_t rows[CHROPROF__TABLES] = {
        2 * 11 + 23 + 2, 13 + 4, 17 + 3, 2 * 19 + 2, 23 + 1, 29 + 1, 31, 38 * 17, 41, 43 + 39,
        2 * 17, 2 * 17, 4 * 31 + 1, 7, 3 + 17, 0
    };
    static const uint32_t bytes[CHROPROF__TABLES] = {
        32, 64, 192, 16, 64, 2 * 8 * 330, 40, 8, BYTES_OF_STALL, 1, 32, 4, 40, 256, 48, 64
    };
    const uint64_t sampler_rows = lines_of(BYTES_OF_SAMPLER) + lines_of(16 * (23 + 1)) +
                                  7 * BYTES_OF_ENTRY / 64;
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t end, at = lines_of(sizeof(chroprof__core)) * 64, sum = 0;
    uint32_t k;
    memset(tables, 0x5a, sizeof tables);
    end = chroprof__layout(some_capacities, tables);
    for (k = 0; k < CHROPROF__TABLES; k++) {
        uint64_t count = k == CHROPROF__SAMPLER ? sampler_rows : rows[k];
        CHECK_EQ(tables[k].rows, count);
        CHECK_EQ(tables[k].bytes, count * bytes[k]);
        CHECK_EQ(tables[k].offset, at);
        CHECK_EQ(tables[k].capacity, k < CHROPROF_TABLE_COUNT ? some_capacities[k] : count);
        at += lines_of(tables[k].bytes) * 64;
        sum += tables[k].bytes;
    }
    CHECK_EQ(end, at);
    CHECK_EQ(chroprof__sum_bytes(some_capacities), sum);
}

/* Tables that hang on others: none where there is nothing to hold; samples have places in
 * proportion, within bounds. */
TEST(tables_of_samples_grow_with_them)
{
    static const struct { uint32_t samples, stacks, modules, walls, entries; } rows[] = {
        { 0, 0, 0, 0, 0 }, { 1, 5, 2, 3 + 4, 2 }, { 4, 17, 2, 3 + 16, 2 }, { 5, 21, 2, 3 + 20, 2 },
        { 11, 45, 2, 3 + 44, 2 }, { 12, 49, 3, 3 + 48, 3 }, { 24, 97, 6, 3 + 96, 6 },
        { 25, 101, 6, 3 + 97, 6 }, { 127, 509, 31, 3 + 97, 31 }, { 128, 513, 32, 3 + 97, 32 },
        { 4000, 16001, 32, 3 + 97, 32 }
    };
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    size_t k;
    memcpy(capacity, some_capacities, sizeof capacity);
    capacity[CHROPROF_TABLE_PATHS] = 97;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t lines = lines_of(BYTES_OF_SAMPLER) + lines_of(16 * (23 + 1)) +
                         rows[k].entries * BYTES_OF_ENTRY / 64;
        capacity[CHROPROF_TABLE_SAMPLES] = rows[k].samples;
        CHECK_EQ(chroprof__table_rows(CHROPROF__STACKS, capacity), rows[k].stacks);
        CHECK_EQ(chroprof__table_rows(CHROPROF__MODULES, capacity), rows[k].modules);
        CHECK_EQ(chroprof__table_rows(CHROPROF__WALLS, capacity), rows[k].walls);
        CHECK_EQ(chroprof__table_rows(CHROPROF__SAMPLER, capacity), rows[k].samples ? lines : 0);
        CHECK_EQ(chroprof__table_rows(CHROPROF_TABLE_SAMPLES, capacity), rows[k].samples);
        CHECK_EQ(chroprof__entry_count(rows[k].samples + !rows[k].samples),
                 rows[k].samples ? rows[k].entries : 2);
    }
    capacity[CHROPROF_TABLE_HISTOGRAMS] = 0;
    CHECK_EQ(chroprof__table_rows(CHROPROF_TABLE_HISTOGRAMS, capacity), 0);
    capacity[CHROPROF_TABLE_PATHS] = 0;
    CHECK_EQ(chroprof__table_rows(CHROPROF__WALLS, capacity), 3);
    CHECK_EQ(chroprof__note_bytes(2), 64);
    CHECK_EQ(chroprof__note_bytes(3), 64);
    CHECK_EQ(chroprof__note_bytes(4), 128);
}

/* A block without options has these; depth and windows have 16 bits. */
TEST(capacities_have_defaults_and_limits)
{
    static const uint32_t standard[CHROPROF_TABLE_COUNT] = {
        1024, 64, 256, 512, 64, 32, SAMPLES_ELSE, 120, 32, 4096
    };
    chroprof__table tables[CHROPROF__TABLES];
    uint32_t capacity[CHROPROF_TABLE_COUNT], k;
    CHECK(memcmp(chroprof__default_capacity, standard, sizeof standard) == 0);
    CHECK_EQ(chroprof_memory_size(NULL), chroprof__layout(standard, tables) + 63);
    memcpy(capacity, some_capacities, sizeof capacity);
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        uint32_t most = k == CHROPROF_TABLE_DEPTH || k == CHROPROF_TABLE_WINDOWS ? 65000 : 1u << 28;
        capacity[k] = most;
        CHECK(chroprof__within_limits(capacity));
        capacity[k] = most + 1;
        CHECK(!chroprof__within_limits(capacity));
        capacity[k] = some_capacities[k];
    }
}

/* A row number has 32 bits. */
TEST(a_table_of_2_to_the_32_rows_has_no_place)
{
    chroprof__table tables[CHROPROF__TABLES];
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    memcpy(capacity, some_capacities, sizeof capacity);
    capacity[CHROPROF_TABLE_SITES] = 65537 - 4;      /* (65534 + 1) * 65537 = 2^32 - 1 */
    capacity[CHROPROF_TABLE_WINDOWS] = 65534;
    CHECK(chroprof__layout(capacity, tables) != UINT64_MAX);
    CHECK_EQ(tables[CHROPROF_TABLE_WINDOWS].rows, UINT32_MAX);
    capacity[CHROPROF_TABLE_SITES] = 65536 - 4;
    capacity[CHROPROF_TABLE_WINDOWS] = 65535;        /* 65536 * 65536 */
    CHECK_EQ(chroprof__layout(capacity, tables), UINT64_MAX);
}

/* What one more row costs, with all that hangs on it. */
static uint64_t cost_of_row(uint32_t table, const uint32_t *capacity)
{
    uint64_t samples = capacity[CHROPROF_TABLE_SAMPLES];
    switch (table) {
    case CHROPROF_TABLE_FUTURES: return 2 * 32;
    case CHROPROF_TABLE_SITES:
        return 64 + 8 * (capacity[CHROPROF_TABLE_WINDOWS] + UINT64_C(1)) + 2 * 32 + 2 * 4;
    case CHROPROF_TABLE_PATHS: return 192 + (capacity[table] < 4 * samples ? 48 : 0);
    case CHROPROF_TABLE_EDGES: return 2 * 16;
    case CHROPROF_TABLE_DEPTH:
        return 64 + 32 + (samples && (capacity[table] + 1) % 4 == 0 ? 64 : 0);
    case CHROPROF_TABLE_HISTOGRAMS: return 2 * 8 * 330;
    case CHROPROF_TABLE_WINDOWS: return 8 * (capacity[CHROPROF_TABLE_SITES] + UINT64_C(4));
    case CHROPROF_TABLE_STALLS: return BYTES_OF_STALL;
    default: return 1;
    }
}

/* What they cost together. */
static uint64_t cost_of_samples(const uint32_t *capacity, uint64_t samples)
{
    uint64_t few = samples / 4 < 2 ? 2 : samples / 4 > 32 ? 32 : samples / 4;
    uint64_t paths = capacity[CHROPROF_TABLE_PATHS];
    if (samples == 0)
        return 0;
    return samples * 40 + (4 * samples + 1) * 40 + few * 256 +
           (3 + (paths < 4 * samples ? paths : 4 * samples)) * 48 +
           64 * (lines_of(BYTES_OF_SAMPLER) +
                 lines_of(16 * (capacity[CHROPROF_TABLE_DEPTH] + UINT64_C(1)))) +
           few * BYTES_OF_ENTRY;
}

TEST(rows_cost_what_hangs_on_them)
{
    static const uint32_t samples[] = { 0, 1, 7, 8, 16, 31, 127, 128, 4096 };
    uint32_t capacity[CHROPROF_TABLE_COUNT], k;
    size_t s;
    for (s = 0; s < sizeof samples / sizeof *samples; s++) {
        memcpy(capacity, some_capacities, sizeof capacity);
        capacity[CHROPROF_TABLE_SAMPLES] = samples[s];
        for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
            if (k != CHROPROF_TABLE_SAMPLES)
                CHECK_EQ(chroprof__unit_bytes(k, capacity), cost_of_row(k, capacity));
        CHECK_EQ(chroprof__sample_bytes(capacity, samples[s]),
                 cost_of_samples(capacity, samples[s]));
        CHECK_EQ(capacity[CHROPROF_TABLE_SAMPLES], samples[s]);
    }
}

/* One step is an eighth less, rounded up. */
static uint32_t most_samples(const uint32_t *capacity, uint64_t bytes)
{
    uint32_t samples = 4096;
    while (samples != 0 && cost_of_samples(capacity, samples) > bytes)
        samples = samples * 7 / 8;
    return samples;
}

TEST(as_many_samples_as_fit)
{
    uint32_t samples;
    for (samples = 4096; samples != 0; samples = samples * 7 / 8) {
        uint64_t bytes = cost_of_samples(some_capacities, samples);
        CHECK_EQ(chroprof__samples_in(some_capacities, bytes), samples);
        CHECK_EQ(chroprof__samples_in(some_capacities, bytes - 1), samples * 7 / 8);
    }
    CHECK_EQ(chroprof__samples_in(some_capacities, 0), 0);
    CHECK_EQ(chroprof__samples_in(some_capacities, UINT64_MAX), 4096);
}

static const uint32_t first_needs[CHROPROF_TABLE_COUNT] = { 8, 8, 12, 16, 8, 0, 0, 4, 2, 160 };

/* As much of the first needs as fits: the most sixteenths of all of them. */
static void needs_met(uint32_t *capacity, const bool *open, uint64_t size)
{
    uint32_t part, k, more[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    for (part = 16; part > 0; part--) {
        memcpy(more, capacity, sizeof more);
        for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
            if (open[k] && first_needs[k] * part / 16 > more[k])
                more[k] = first_needs[k] * part / 16;
        if (chroprof__layout(more, tables) <= size) {
            memcpy(capacity, more, sizeof more);
            return;
        }
    }
}

TEST(first_needs_are_met_in_sixteenths)
{
    static const uint32_t start[CHROPROF_TABLE_COUNT] = { 1, 1, 1, 1, 1, 0, 0, 1, 1, 1 };
    chroprof__table tables[CHROPROF__TABLES];
    bool open[CHROPROF_TABLE_COUNT];
    uint32_t want[CHROPROF_TABLE_COUNT], got[CHROPROF_TABLE_COUNT], k, shut, last = 0;
    uint64_t size, least = chroprof__layout(start, tables);
    const uint64_t most = chroprof__layout(first_needs, tables);
    for (shut = 0; shut <= CHROPROF_TABLE_COUNT; shut++)
        for (size = least - 64; size < most + 128; size += 32) {
            for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
                open[k] = k != shut;
            memcpy(want, start, sizeof start);
            memcpy(got, start, sizeof start);
            needs_met(want, open, size);
            chroprof__meet_need(got, open, size);
            for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
                CHECK_EQ(got[k], want[k]);
            last = got[CHROPROF_TABLE_STRINGS];
        }
    CHECK_EQ(last, 160);
}

/* Thousandths of what is left go to each open table, in their order; at most up to its limit. */
static void rest_shared(uint32_t *capacity, const bool *open, uint64_t size)
{
    static const uint32_t share[CHROPROF_TABLE_COUNT] = {
        320 - SHARE_OF_SAMPLES, 30, 200, 60, 20, 200, 0, 120, 15, 35
    };
    static const uint32_t limit[CHROPROF_TABLE_COUNT] = {
        1u << 28, 1u << 20, 1u << 24, 1u << 25, 1024, 4096, 4096, 240, 64, 1u << 24
    };
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t least = chroprof__layout(capacity, tables) + 16 * 64;
    uint64_t thousandth = size > least ? (size - least) / 1000 : 0;
    uint32_t k, samples;
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        uint64_t more = thousandth * share[k] / cost_of_row(k, capacity);
        if (k == CHROPROF_TABLE_HISTOGRAMS && more != 0)
            more -= 1;
        if (!open[k] || k == CHROPROF_TABLE_SAMPLES || capacity[k] >= limit[k])
            continue;
        capacity[k] = more > limit[k] - capacity[k] ? limit[k] : capacity[k] + (uint32_t)more;
    }
    samples = most_samples(capacity, thousandth * SHARE_OF_SAMPLES);
    if (open[CHROPROF_TABLE_SAMPLES] && samples > capacity[CHROPROF_TABLE_SAMPLES])
        capacity[CHROPROF_TABLE_SAMPLES] = samples;
}

static void check_rest(const uint32_t *start, uint32_t shut, uint64_t size)
{
    uint32_t want[CHROPROF_TABLE_COUNT], got[CHROPROF_TABLE_COUNT], k;
    bool open[CHROPROF_TABLE_COUNT];
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
        open[k] = k != shut;
    memcpy(want, start, sizeof want);
    memcpy(got, start, sizeof got);
    rest_shared(want, open, size);
    chroprof__share_rest(got, open, size);
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
        CHECK_EQ(got[k], want[k]);
}

TEST(the_rest_is_shared_out_in_thousandths)
{
    static const uint32_t tiny[CHROPROF_TABLE_COUNT] = { 8, 8, 12, 16, 8, 0, 0, 4, 2, 160 };
    static const uint32_t some[CHROPROF_TABLE_COUNT] = { 8, 8, 12, 16, 8, 0, 16, 4, 2, 160 };
    static const uint32_t full[CHROPROF_TABLE_COUNT] = {
        8, 8, 12, 16, 1025, 0, 5000, 300, 65, 160
    };
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t least = chroprof__layout(tiny, tables) + 16 * 64, size;
    uint32_t shut;
    check_rest(tiny, CHROPROF_TABLE_COUNT, least - 1000);
    check_rest(tiny, CHROPROF_TABLE_COUNT, least);
    check_rest(tiny, CHROPROF_TABLE_COUNT, least + 999);
    check_rest(tiny, CHROPROF_TABLE_COUNT, least + 1000);
    check_rest(tiny, CHROPROF_TABLE_COUNT, least + 1999);
    for (size = least; size < UINT64_C(1) << 36; size += size / 2) {
        for (shut = 0; shut <= CHROPROF_TABLE_COUNT; shut++)
            check_rest(some, shut, size);
        check_rest(tiny, CHROPROF_TABLE_COUNT, size);
        check_rest(full, CHROPROF_TABLE_COUNT, size);
    }
}

/* The whole: needs, a few samples where they take no more than an eighth, the rest, and what is
 * over to the futures, up to the last line but one. */
static bool shared_out(uint32_t *capacity, uint64_t size)
{
    chroprof__table tables[CHROPROF__TABLES];
    bool open[CHROPROF_TABLE_COUNT];
    uint64_t bytes;
    uint32_t k;
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        open[k] = capacity[k] == 0;
        if (open[k] && first_needs[k] != 0)
            capacity[k] = 1;
    }
    needs_met(capacity, open, size);
    if (open[CHROPROF_TABLE_SAMPLES] && SHARE_OF_SAMPLES != 0 &&
        cost_of_samples(capacity, 16) * 8 <= size)
        capacity[CHROPROF_TABLE_SAMPLES] = 16;
    rest_shared(capacity, open, size);
    bytes = chroprof__layout(capacity, tables) + 64;
    if (open[0] && bytes < size) {
        uint64_t futures = capacity[0] + (size - bytes) / 64;
        capacity[0] = futures > 1u << 28 ? 1u << 28 : (uint32_t)futures;
    }
    return chroprof__layout(capacity, tables) <= size;
}

/* A block of that size where one capacity is given. */
static bool check_block(uint64_t size, uint32_t given)
{
    uint32_t want[CHROPROF_TABLE_COUNT], got[CHROPROF_TABLE_COUNT], k;
    bool fits;
    memset(want, 0, sizeof want);
    if (given < CHROPROF_TABLE_COUNT)
        want[given] = given == CHROPROF_TABLE_FUTURES ? 1000 : 30;
    memcpy(got, want, sizeof want);
    fits = shared_out(want, size);
    CHECK(chroprof__share_out(got, size) == fits);
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
        CHECK_EQ(got[k], want[k]);
    return fits;
}

TEST(blocks_are_shared_out)
{
    uint32_t given;
    uint64_t size, eight;
    int good = 0, bad = 0;
    for (size = 6000; size < UINT64_C(1) << 36; size += size / 40)
        for (given = 0; given <= CHROPROF_TABLE_COUNT; given += 2) {
            bool fits = check_block(size, given);
            good += fits;
            bad += !fits;
        }
    CHECK(good > 1000 && bad > 5);
    eight = 8 * cost_of_samples(first_needs, 16);
    for (size = eight - 8; size < eight + 16; size++)
        CHECK(check_block(size, CHROPROF_TABLE_COUNT));
}

/* >>tables */

/* Of "abcdefgh", where so many bytes are left: cut it ends in "...", where that does not fit
 * either it is the "..." that is always there. */
static void add_where(chroprof *p, uint64_t room, const char *text, const char *want, bool is_cut)
{
    chroprof__table *table = &p->core->tables[CHROPROF_TABLE_STRINGS];
    char *end = (char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS) + table->bytes;
    uint64_t used = table->bytes - room;
    uint64_t takes = *want == '.' || *want == '\0' ? 0 : strlen(want) + 1;
    uint32_t offset;
    bool cut = false;
    table->used = used;
    table->dropped = table->wanted = 0;
    *end = 'z';
    offset = chroprof__add_string(p->core, text, &cut);
    CHECK_STR(chroprof__string(p->core, offset), want);
    CHECK_EQ(offset, takes ? used : *want == '.');
    CHECK_EQ(table->used, used + takes);
    if (takes)
        CHECK_EQ(table->peak, used + takes);
    CHECK_EQ(table->dropped, is_cut);
    CHECK_EQ(table->wanted, is_cut ? strlen(text) + 1 : 0);
    CHECK(cut == is_cut && *end == 'z');
}

TEST(strings_are_cut_to_the_room)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.string_bytes = 90;
    p = fresh(&o);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_STRINGS].bytes, 129);
    add_where(p, 20, "abcdefgh", "abcdefgh", false);
    add_where(p, 9, "abcdefgh", "abcdefgh", false);
    add_where(p, 8, "abcdefgh", "abcd...", true);
    add_where(p, 7, "abcdefgh", "abc...", true);
    add_where(p, 6, "abcdefgh", "ab...", true);
    add_where(p, 5, "abcdefgh", "a...", true);
    add_where(p, 4, "abcdefgh", "...", true);
    add_where(p, 0, "abcdefgh", "...", true);
    add_where(p, 8, "ab\xE2\x82\xAC" "cdef", "ab...", true);
    add_where(p, 9, "ab\xE2\x82\xAC" "cdef", "ab\xE2\x82\xAC...", true);
    add_where(p, 8, "ab\xC3\x81\xC3\x81" "de", "ab\xC3\x81...", true);
    add_where(p, 7, "ab\xC3\x81\xC3\x81" "de", "ab...", true);
    add_where(p, 2, "a", "a", false);
    add_where(p, 1, "a", "...", true);
    add_where(p, 9, "", "", false);
    add_where(p, 0, "", "", false);
    harness_keep_none();
}

/* A site is in the bucket of its content, the first of a file in that of the file's name as well;
 * the buckets of files lie behind those of contents. The loop's own sites stand last. */
static void check_buckets(const chroprof *p, uint32_t files)
{
    const uint32_t *heads = (const uint32_t *)chroprof__rows(p->core, CHROPROF__HEADS);
    const chroprof__site *sites = chroprof__sites(p->core);
    uint32_t half = capacity(SITES) + 4, k, at, by_content = 0, by_file = 0;
    for (k = 0; k < half; k++) {
        for (at = heads[k]; at >= CHROPROF__FIRST_SITE; at = sites[at].next, by_content++) {
            const char *name = chroprof__string(p->core, sites[at].name);
            const char *file = chroprof__string(p->core, sites[at].file);
            uint64_t hash = chroprof__hash_text(sites[at].line, name);
            CHECK_EQ(sites[at].hash, chroprof__hash_text(hash, file));
            CHECK_EQ(chroprof__hash_index(sites[at].hash, half), k);
        }
        at = heads[half + k];
        for (; at >= CHROPROF__FIRST_SITE; at = sites[at].next_file, by_file++) {
            const char *file = chroprof__string(p->core, sites[at].file);
            CHECK_EQ(chroprof__hash_index(chroprof__hash_text(0, file), half), k);
        }
    }
    CHECK_EQ(by_content, used(SITES));
    CHECK_EQ(by_file, files);
}

TEST(sites_are_in_their_buckets)
{
    enum { COUNT = 40, FILES = 7 };
    chroprof_options o;
    chroprof_site sites[COUNT];
    char names[COUNT][8], files[FILES][8];
    uint32_t k, other;
    uint64_t bytes = CHROPROF__OWN_STRINGS;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_sites = COUNT;
    o.string_bytes = 4096;
    p = fresh(&o);
    for (k = 0; k < FILES; k++)
        bytes += (uint64_t)snprintf(files[k], sizeof files[k], "%u.c", k * k) + 1;
    for (k = 0; k < COUNT; k++) {
        bytes += (uint64_t)snprintf(names[k], sizeof names[k], "n%u", k) + 1;
        sites[k].name = names[k];
        sites[k].file = files[k % FILES];
        sites[k].line = k / 3;
        CHECK_EQ(chroprof__site_index(p->core, &sites[k]), 4 + k);
        check_buckets(p, k < FILES ? k + 1 : (uint32_t)FILES);
        CHECK_EQ(used(SITES), k + 1);
        CHECK_EQ(p->core->tables[CHROPROF_TABLE_SITES].peak, k + 1);
    }
    CHECK_EQ(used(STRINGS), bytes);
    for (k = 0; k < COUNT; k++) {
        const chroprof__site *row = chroprof__sites(p->core) + 4 + k;
        other = chroprof__intern_site(p->core, names[k], files[k % FILES], k / 3);
        CHECK_EQ(other, 4 + k);
        CHECK_EQ(row->file, row[k < FILES ? 0 : -FILES].file);
        CHECK(row->cut == 0 && row->first_path == 0);
        CHECK_EQ(row->line, k / 3);
        CHECK_STR(chroprof__string(p->core, row->name), names[k]);
    }
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SITES].dropped, 0);
    CHECK_EQ(chroprof__intern_site(p->core, "n1", "0.c", 0), CHROPROF__OTHER);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SITES].dropped, 1);
    CHECK_EQ(used(STRINGS), bytes);
}

/* Names of no letters are not cut ones. What lies between the fields of a handle is 0. */
TEST(sites_without_letters)
{
    static const chroprof_site empty = { "", "", 3 }, none = { NULL, NULL, 3 };
    chroprof *p = fresh(NULL);
    chroprof_site handle;
    uint32_t k;
    for (k = 0; k < CHROPROF__FIRST_SITE; k++)
        CHECK_EQ(chroprof__sites(p->core)[k].cut, 0);
    k = chroprof__site_index(p->core, &empty);
    memset(&handle, 0, sizeof handle);
    handle.name = handle.file = chroprof__string(p->core, 0);
    handle.line = 3;
    CHECK(memcmp(chroprof__sites(p->core)[k].handle, &handle, sizeof handle) == 0);
    CHECK_EQ(chroprof__sites(p->core)[k].cut, 0);
    CHECK_EQ(used(STRINGS), CHROPROF__OWN_STRINGS);
    k = chroprof__site_index(p->core, &none);
    CHECK_STR(chroprof__string(p->core, chroprof__sites(p->core)[k].name), "(unnamed)");
    CHECK_EQ(chroprof__sites(p->core)[k].file, 0);
}

/* Slots that are freed leave no hole in front of those that stand behind their home. */
TEST(futures_are_found_in_a_small_table)
{
    enum { MOST = 10 };
    chroprof_options o;
    uint64_t state = 5, ids[MOST], t = 0;
    uint32_t count = 0, round, k, k2, wrapped = 0;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_futures = MOST;
    o.max_depth = 1;
    p = fresh(&o);
    CHECK_EQ(p->slots, 23);
    for (round = 0; round < 3000; round++) {
        bool make = count == 0 || (count < MOST && random_below(&state, 3) != 0);
        uint32_t filled = 0;
        k = (uint32_t)random_below(&state, count + make);
        if (make)
            ids[k = count++] = random_below(&state, 1000000) * 8 + 8 + round;
        if (!make && round % 2)
            chroprof_event(p, CHROPROF_RUNNING, ids[k], NULL, t++);
        chroprof_event(p, make ? CHROPROF_PENDING : CHROPROF_COMPLETED, ids[k], make ? &A : NULL,
                       t++);
        if (!make)
            ids[k] = ids[--count];
        for (k = 0; k < count; k++) {
            chroprof__future *slot = chroprof__find(p, ids[k]);
            CHECK(slot->id == ids[k] && slot < p->futures + p->slots);
            wrapped += slot < chroprof__home(p, ids[k]);
        }
        for (k2 = 0; k2 < p->slots; k2++)
            filled += p->futures[k2].id != 0;
        CHECK_EQ(filled, count);
        CHECK_EQ(p->futures[p->slots].id, 0);       /* not of this table */
    }
    CHECK(wrapped > 100);
    orderly(p);
}

/* Edges are found wherever they begin, until the table is full; what is lost has a bit each. */
TEST(edges_of_a_small_table)
{
    chroprof_options o;
    chroprof_site sites[12];
    chroprof *p;
    uint32_t k, rows, at[12];
    uint64_t bits = 0;
    memset(&o, 0, sizeof o);
    o.max_edges = 9;
    o.max_paths = 30;
    p = fresh(&o);
    rows = p->core->tables[CHROPROF_TABLE_EDGES].rows;
    CHECK_EQ(rows, 20);
    for (k = 0; k < 12; k++) {
        uint32_t parent = k < 6 ? 0 : at[k - 6];
        uint64_t key = (uint64_t)parent << 32 | (4 + k);
        sites[k].name = "s";
        sites[k].file = "f";
        sites[k].line = k;
        CHECK_EQ(chroprof__site_index(p->core, &sites[k]), 4 + k);
        at[k] = chroprof__child(p, parent, 4 + k);
        CHECK_EQ(at[k], k < 9 ? 3 + k : parent);
        if (k >= 9)
            bits |= UINT64_C(1) << chroprof__hash_index(key ^ parent, 64);
        CHECK_EQ(used(EDGES), k < 9 ? k + 1 : 9);
        CHECK_EQ(p->core->tables[CHROPROF_TABLE_EDGES].peak, k < 9 ? k + 1 : 9);
    }
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_EDGES].dropped, 3);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_EDGES].wanted, bits);
    CHECK_EQ(chroprof__child(p, 0, 3), CHROPROF__UNTRACKED);
    for (k = 0; k < 9; k++) {
        const chroprof__edge *edge = chroprof__find_edge(p->core, k < 6 ? 0 : at[k - 6], 4 + k);
        CHECK(edge < (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES) + rows);
        CHECK_EQ(edge->target, at[k]);
        CHECK_EQ(p->paths[at[k]].level, k < 6 ? 1 : 2);
        CHECK_EQ(p->paths[at[k]].parent, k < 6 ? 0 : at[k - 6]);
    }
    harness_keep_none();
}

/* The last rows go on at the first ones. */
TEST(edges_at_the_end_of_the_table)
{
    chroprof_options o;
    uint32_t k, found[6], target[6], count = 0, rows;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_edges = 9;
    o.max_paths = 30;
    o.max_sites = 400;
    p = fresh(&o);
    rows = p->core->tables[CHROPROF_TABLE_EDGES].rows;
    for (k = 0; k < 400; k++)
        CHECK_EQ(chroprof__intern_site(p->core, "s", "f", k), 4 + k);
    for (k = 4; k < 404 && count < 6; k++)
        if (chroprof__hash_index(k, rows) == rows - 1 - count / 2)
            found[count++] = k;
    CHECK_EQ(count, 6);
    for (k = 0; k < 6; k++)
        target[k] = chroprof__child(p, 0, found[k]);
    for (k = 0; k < 6; k++) {
        const chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core,
                                                                       CHROPROF_TABLE_EDGES);
        const chroprof__edge *edge = chroprof__find_edge(p->core, 0, found[k]);
        uint32_t at = (uint32_t)(edge - edges);
        CHECK(at == (k == 0 ? rows - 1 : k == 2 ? rows - 2 : k == 4 ? rows - 3 : k / 2));
        CHECK(edge->target == target[k] && target[k] == 3 + k);
    }
    harness_keep_none();
}

/* The same where paths are few: the parent takes what it creates, untracked what the loop does.
 * A fold needs no path. */
TEST(paths_of_a_small_table)
{
    chroprof_options o;
    chroprof *p;
    uint32_t k, site[4], a, b;
    memset(&o, 0, sizeof o);
    o.max_paths = 2;
    o.max_edges = 30;
    o.max_histograms = 2;
    p = fresh(&o);
    for (k = 0; k < 4; k++)
        site[k] = chroprof__site_index(p->core, k == 0 ? &A : k == 1 ? &B : k == 2 ? &C : &D);
    chroprof__sites(p->core)[site[0]].blurred = 1;
    a = chroprof__child(p, 0, site[0]);
    b = chroprof__child(p, a, site[1]);
    CHECK_EQ(a, 3);
    CHECK_EQ(b, 4);
    CHECK_EQ(p->paths[a].histogram, 0);
    CHECK_EQ(p->paths[b].histogram, 2);
    CHECK_EQ(chroprof__child(p, b, site[0]), a);
    CHECK_EQ(chroprof__child(p, b, site[1]), b);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_PATHS].dropped, 0);
    CHECK_EQ(chroprof__child(p, b, site[2]), b);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_PATHS].wanted,
             UINT64_C(1) << chroprof__hash_index((uint64_t)b << 32 | (site[2] ^ b), 64));
    CHECK_EQ(chroprof__child(p, 0, site[3]), CHROPROF__UNTRACKED);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_PATHS].dropped, 2);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_PATHS].peak, 2);
    CHECK_EQ(used(PATHS), 2);
    CHECK_EQ(used(EDGES), 4);
    harness_keep_none();
}

/* >>histogram: 4 ticks a bucket up to 32, then 8 buckets an octave, and one for all beyond 2^45 */

static uint32_t bucket_of(uint64_t value)
{
    uint64_t low = 32;
    uint32_t octave = 0;
    if (value >> 45)
        return 328;
    if (value < 32)
        return (uint32_t)value / 4;
    for (; value >= 2 * low; low *= 2)
        octave++;
    return 8 + 8 * octave + (uint32_t)((value - low) / (low / 8));
}

TEST(buckets_are_an_eighth_of_an_octave)
{
    uint32_t k;
    uint64_t value;
    for (k = 0; k < 328; k++) {
        uint64_t width = k < 16 ? 4 : UINT64_C(4) << (k / 8 - 1), floor = chroprof__bucket_floor(k);
        CHECK_EQ(chroprof__bucket_width(k), width);
        CHECK_EQ(chroprof__bucket_value(k), floor + width / 2);
        CHECK_EQ(bucket_of(floor), k);
        CHECK_EQ(bucket_of(floor + width - 1), k);
        for (value = floor; value < floor + width; value += width / 4)
            CHECK_EQ(chroprof__bucket(value), k);
        CHECK_EQ(chroprof__bucket(floor + width - 1), k);
        CHECK_EQ(chroprof__bucket(floor + width), k + 1);
    }
    CHECK_EQ(chroprof__bucket(UINT64_MAX), 328);
}

/* >>windows: against the time that was written down tick by tick */

enum { WINDOW_TICKS = 30000, WINDOW_SITES = 3 };

typedef struct diary {
    uint8_t who[WINDOW_TICKS];         /* 0: loop, 1: idle, 2: untracked, 4 on: sites */
    uint32_t now;
} diary;

static void check_window_rows(const chroprof *p, const diary *d, uint32_t width)
{
    static chroprof_window rows[256];
    static uint64_t want[256][WINDOW_SITES + 4], site[256];
    uint32_t count = d->now / width + 1, t, k, s;
    memset(want, 0, sizeof want);
    memset(rows, 0x5a, sizeof rows);
    for (t = 0; t < d->now; t++)
        want[t / width][d->who[t]]++;
    CHECK_EQ(chroprof_windows(p, rows, 256), count);
    for (k = 0; k < count; k++) {
        CHECK_EQ(rows[k].start_ns, (uint64_t)k * width);
        CHECK_EQ(rows[k].end_ns, k + 1 < count ? (k + 1) * width : d->now);
        CHECK_EQ(rows[k].loop_ns, want[k][0]);
        CHECK_EQ(rows[k].idle_ns, want[k][1]);
        CHECK_EQ(rows[k].untracked_ns, want[k][2]);
        CHECK_EQ(rows[k].busy_ns, want[k][2] + want[k][4] + want[k][5] + want[k][6]);
    }
    CHECK_EQ(rows[count].start_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    for (s = 0; s < 4 + used(SITES); s++) {
        memset(site, 0x5a, sizeof site);
        CHECK_EQ(chroprof_site_windows(p, s, site, 256), count);
        for (k = 0; k < count; k++)
            CHECK_EQ(site[k], want[k][s]);
        CHECK_EQ(site[count], UINT64_C(0x5a5a5a5a5a5a5a5a));
        CHECK_EQ(chroprof_site_windows(p, s, site, count - 1), count);
    }
    CHECK_EQ(chroprof_site_windows(p, s, site, 256), 0);
    CHECK_EQ(chroprof_windows(p, NULL, 256), count);
    CHECK_EQ(chroprof_site_windows(p, 0, NULL, 256), count);
    memset(rows, 0x5a, sizeof rows);
    CHECK_EQ(chroprof_windows(p, rows, count / 2), count);
    CHECK_EQ(rows[count / 2].start_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void step_of_diary(chroprof *p, diary *d, chroprof_state state, const chroprof_site *site,
                          uint32_t ticks, uint8_t who)
{
    for (; ticks > 0; ticks--)
        d->who[d->now++] = who;
    chroprof_event(p, state, 0, site, d->now);
}

/* 200 windows of 10 ticks become 200 of 20, 40, .., whatever lies where. */
static void keep_diary(uint32_t windows, uint64_t seed)
{
    static const chroprof_site *const sites[WINDOW_SITES] = { &A, &B, &C };
    static diary d;
    chroprof_options o;
    uint8_t stack[4] = { 0, 0, 0, 0 };
    uint32_t depth = 0, width = 10, step = 0;
    chroprof *p;
    memset(&o, 0, sizeof o);
    memset(&d, 0, sizeof d);
    o.max_windows = windows;
    o.window_ns = 10;
    o.max_step_ns = 49;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    for (; d.now < WINDOW_TICKS - 200; step++) {
        uint32_t what = step < 6 ? step % 2 : (uint32_t)random_below(&seed, 5);
        uint32_t ticks = (uint32_t)random_below(&seed, step % 50 == 0 ? 60 : 1 + d.now / 100);
        uint8_t who = ticks > 49 ? 2 : stack[depth];
        ticks = ticks > 90 ? 90 : ticks;
        who = ticks > 49 ? 2 : who;
        if (what < 2 && depth < 3) {
            uint32_t k = step < 6 ? step / 2 : (uint32_t)random_below(&seed, WINDOW_SITES);
            step_of_diary(p, &d, CHROPROF_ENTER, sites[k], ticks, who);
            stack[++depth] = (uint8_t)(4 + k);
        } else if (what == 4) {
            step_of_diary(p, &d, CHROPROF_IDLE_ENTER, NULL, ticks, who);
            depth = 0;
            step_of_diary(p, &d, CHROPROF_TICK, NULL, ticks / 2, 1);
            step_of_diary(p, &d, CHROPROF_IDLE_LEAVE, NULL, ticks / 2, 1);
        } else if (depth > 0) {
            step_of_diary(p, &d, CHROPROF_LEAVE, NULL, ticks, who);
            depth--;
        }
        while (d.now / width >= windows)
            width *= 2;
        if (step % 64 == 7)
            check_window_rows(p, &d, width);
    }
    check_window_rows(p, &d, width);
    laws(p);
}

TEST(windows_hold_each_tick)
{
    keep_diary(200, 3);
    keep_diary(128, 4);
    keep_diary(64, 5);
    keep_diary(5, 6);
    keep_diary(1, 7);
}

/* What was long ago is in the first window, however often they were merged. */
TEST(windows_that_were_merged_many_times)
{
    uint32_t level;
    for (level = 1; level < 56; level += level < 6 ? 1 : 5) {
        chroprof_options o;
        uint64_t rows[8], end = UINT64_C(40) << level;
        chroprof *p;
        memset(&o, 0, sizeof o);
        o.max_windows = 8;
        o.window_ns = 10;
        p = fresh(&o);
        at(p, 0, ENTER, 0, &A);
        at(p, 65, ENTER, 0, &B);
        at(p, 66, LEAVE, 0, NULL);
        at(p, 67, LEAVE, 0, NULL);
        at(p, 69, IDLE_ENTER, 0, NULL);
        at(p, end, TICK, 0, NULL);
        CHECK_EQ(p->core->window_ticks, end / 4);
        CHECK_EQ(p->core->window, level << 16 | 4);
        CHECK_EQ(chroprof_site_windows(p, 4, rows, 8), 5);
        CHECK_EQ(rows[0], level < 3 ? end / 4 : 66);
        CHECK_EQ(rows[1] + rows[2] + rows[3] + rows[4], level < 3 ? 66 - end / 4 : 0);
        CHECK_EQ(chroprof_site_windows(p, 5, rows, 8), 5);
        CHECK_EQ(rows[level < 3 ? 65 / (end / 4) : 0], 1);
        at(p, end, ENTER, 0, &A);
        at(p, end + 1, ENTER, 0, &B);
        at(p, end + 3, IDLE_ENTER, 0, NULL);
        CHECK_EQ(chroprof_site_windows(p, 5, rows, 8), 5);
        CHECK_EQ(rows[level < 3 ? 65 / (end / 4) : 0], 1);
        CHECK_EQ(rows[4], 2);
    }
}

/* >>percentiles: the value of the entry at the nearest rank, by its bucket */

/* The 1000 entries, shortest first: those at the ranks of the percentiles stand out. */
static uint64_t entry_at(uint32_t rank)
{
    static const struct { uint32_t upto; uint64_t ticks; } rows[] = {
        { 499, 4 }, { 500, 100 }, { 899, 200 }, { 900, 400 }, { 989, 800 }, { 990, 1600 },
        { 998, 3200 }, { 999, 6400 }, { 1000, 12800 }
    };
    size_t k = 0;
    while (rank > rows[k].upto)
        k++;
    return rows[k].ticks;
}

/* The same in another order; the shortest comes last. */
static uint64_t mixed_entry(uint32_t k)
{
    return entry_at(1 + (k * 7 + 7) % 1000);
}

TEST(percentiles_are_of_the_nearest_rank)
{
    chroprof_options o;
    chroprof *p;
    chroprof_rank r;
    chroprof_totals totals;
    uint64_t t = 0;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 1000000;
    p = fresh(&o);
    chroprof_event(p, CHROPROF_PENDING, 1, &B, t);
    for (k = 0; k < 1000; k++) {
        chroprof_event(p, CHROPROF_READY, 1, NULL, t += 3);
        chroprof_event(p, CHROPROF_RUNNING, 1, NULL, t += mixed_entry(k));
        chroprof_event(p, CHROPROF_PAUSED, 1, NULL, t += 40000);
    }
    for (k = 0; k < 1000; k++) {
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += 1 + k % 2);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 5);
        t += k < 999 ? mixed_entry(k) - 1 - (k + 1) % 2 : 0;
    }
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += mixed_entry(999));
    r = rank_of(p, "reply");
    CHECK_EQ(r.delay_p99_ns, chroprof__bucket_value(bucket_of(1600)));
    CHECK_EQ(r.slice_p50_ns, 40000);
    totals = totals_of(p);
    CHECK_EQ(totals.pass_p50_ns, chroprof__bucket_value(bucket_of(100)));
    CHECK_EQ(totals.pass_p99_ns, chroprof__bucket_value(bucket_of(1600)));
    CHECK_EQ(totals.pass_max_ns, 12800);
    CHECK_EQ(totals.passes, 1000);
    p = fresh(&o);
    for (k = 0; k < 1000; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &A, t += 3);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += mixed_entry(k));
    }
    r = rank_of(p, "accept");
    CHECK_EQ(r.slice_p50_ns, chroprof__bucket_value(bucket_of(100)));
    CHECK_EQ(r.slice_p90_ns, chroprof__bucket_value(bucket_of(400)));
    CHECK_EQ(r.slice_p99_ns, chroprof__bucket_value(bucket_of(1600)));
    CHECK_EQ(r.slice_p999_ns, chroprof__bucket_value(bucket_of(6400)));
    CHECK_EQ(r.slice_max_ns, 12800);
    totals = totals_of(p);
    CHECK_EQ(totals.turn_p50_ns, chroprof__bucket_value(bucket_of(100)));
    CHECK_EQ(totals.turn_p99_ns, chroprof__bucket_value(bucket_of(1600)));
    CHECK_EQ(totals.turn_max_ns, 12800);
    CHECK_EQ(totals.turns, 1000);
    laws(p);
}

/* The delay that was ended last counts, where it is one of the site's, and no other. */
TEST(percentiles_have_what_is_held_back)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, READY, 1, NULL);
    at(p, 10, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "accept").delay_p99_ns, 10);
    CHECK_EQ(rank_of(p, "reply").delay_p99_ns, 0);
    CHECK_EQ(rank_of(p, "accept").slice_p50_ns, 0);
    at(p, 17, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "accept").slice_p50_ns, 7);
    CHECK_EQ(rank_of(p, "reply").slice_p50_ns, 0);
    CHECK_EQ(totals_of(p).turn_p50_ns, 7);
    at(p, 20, READY, 2, NULL);
    CHECK_EQ(rank_of(p, "accept").slice_p999_ns, 7);
    at(p, 22, RUNNING, 2, NULL);
    CHECK_EQ(rank_of(p, "reply").delay_p99_ns, 2);
    CHECK_EQ(rank_of(p, "accept").delay_p99_ns, 10);
    at(p, 23, ENTER, 0, &C);
    at(p, 28, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "query").slice_p50_ns, 5);
    CHECK_EQ(totals_of(p).turn_p50_ns, 7);
    at(p, 30, PAUSED, 2, NULL);
    CHECK_EQ(rank_of(p, "reply").slice_p50_ns, 3);
    CHECK_EQ(totals_of(p).turn_p50_ns, 7);
    CHECK_EQ(totals_of(p).turn_p99_ns, 8);
    CHECK_EQ(totals_of(p).turn_max_ns, 8);
    CHECK_EQ(rank_of(p, "reply").delay_p99_ns, 2);
}

static uint64_t percentile_of(const uint64_t *sorted, uint32_t count, uint32_t permille)
{
    uint32_t rank = (uint32_t)(((uint64_t)count * permille + 999) / 1000), bucket;
    uint64_t value;
    if (count == 0)
        return 0;
    bucket = bucket_of(sorted[(rank ? rank : 1) - 1]);
    if (bucket == CHROPROF__BUCKETS - 1)
        return sorted[count - 1];
    value = chroprof__bucket_value(bucket);
    value = value < sorted[0] ? sorted[0] : value;
    return value > sorted[count - 1] ? sorted[count - 1] : value;
}

/* Any number of entries, with one of them held back or none. */
TEST(percentiles_of_few_and_of_many)
{
    static uint64_t sorted[2108];
    static chroprof__histogram h;
    static const uint32_t ranks[] = { 1, 10, 250, 500, 750, 900, 990, 999, 1000 };
    uint32_t count, k, held;
    size_t r;
    for (k = 0; k < 2105; k++)
        sorted[k] = k < 2090 ? 7 + k * k / 3 : UINT64_C(1) << (30 + k - 2090);
    sorted[2105] = (UINT64_C(1) << 45) - 5;     /* the last bucket but one, then the last */
    sorted[2106] = UINT64_C(1) << 45;
    sorted[2107] = UINT64_C(1) << 50;
    for (count = 0; count <= 2108; count = count < 12 || count >= 2086 ? count + 1
                                         : count > 1564 ? 2086 : count * 4 / 3)
        for (held = 0; held <= 3; held++) {
            uint32_t back = held == 1 ? 0 : held == 2 ? count / 2 : count - 1;
            chroprof__histogram_clear(&h);
            CHECK_EQ(chroprof__percentile(&h, 77, 500, false, 5), 0);
            if (held && count == 0)
                continue;
            for (k = 0; k < count; k++)
                if (!held || k != back)
                    chroprof__histogram_add(&h, bucket_of(sorted[k]), sorted[k]);
            for (r = 0; r < sizeof ranks / sizeof *ranks; r++)
                CHECK_EQ(chroprof__percentile(&h, count ? sorted[count - 1] : 0, ranks[r],
                                              held != 0, sorted[held ? back : 0]),
                         percentile_of(sorted, count, ranks[r]));
        }
}

/* >>ranks: against a list in which each goes before the first that it comes before */

static uint64_t key_of_rank(const chroprof_rank *r, int by)
{
    return by == CHROPROF_BY_WITH_CHILDREN ? r->with_children_ns
         : by == CHROPROF_BY_SLICE_MAX ? r->slice_max_ns
         : by == CHROPROF_BY_BLAME ? r->blame_ns
         : by == CHROPROF_BY_DELAY ? r->delay_ns
         : by == CHROPROF_BY_CALLS ? r->calls : r->exec_ns;
}

/* By key, exec, name, file, line: the largest figures and the least words first. */
static bool ranks_before(const chroprof_rank *a, const chroprof_rank *b, int by)
{
    if (key_of_rank(a, by) != key_of_rank(b, by))
        return key_of_rank(a, by) > key_of_rank(b, by);
    if (a->exec_ns != b->exec_ns)
        return a->exec_ns > b->exec_ns;
    if (strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name) < 0;
    if (strcmp(a->file, b->file) != 0)
        return strcmp(a->file, b->file) < 0;
    return a->line < b->line;
}

static void check_order(const chroprof *p, int by, size_t capacity, size_t sites)
{
    static chroprof_rank all[40], want[40], got[40];
    size_t k, at;
    memset(got, 0x5a, sizeof got);
    CHECK_EQ(chroprof_ranks(p, all, 40, CHROPROF_BY_EXEC), sites);
    for (k = 0; k < sites; k++) {
        for (at = k; at > 0 && ranks_before(&all[k], &want[at - 1], by); at--)
            want[at] = want[at - 1];
        want[at] = all[k];
    }
    CHECK_EQ(chroprof_ranks(p, got, capacity, (chroprof_order)by), sites);
    for (k = 0; k < sites && k < capacity; k++)
        CHECK_EQ(got[k].id, want[k].id);
    CHECK_EQ(got[k].calls, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* Few different figures and words, so that there are ties of each kind. */
static void run_tied_sites(chroprof *p, chroprof_site *sites, uint32_t count, uint64_t seed)
{
    uint64_t t = 0, id = 1;
    uint32_t k, round;
    for (k = 0; k < count; k++) {
        sites[k].name = k % 3 == 0 ? "a" : k % 3 == 1 ? "b" : "c";
        sites[k].file = k % 2 ? "x.c" : "y.c";
        sites[k].line = 100 - k;
    }
    for (round = 0; round < 2 * count; round++) {
        const chroprof_site *site = &sites[round < count ? round : random_below(&seed, count)];
        chroprof_event(p, CHROPROF_PENDING, id, site, t);
        chroprof_event(p, CHROPROF_READY, id, NULL, t);
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, t += random_below(&seed, 3));
        chroprof_event(p, CHROPROF_PENDING, id + 1, &sites[random_below(&seed, count)], t);
        chroprof_event(p, CHROPROF_READY, id + 1, NULL, t);
        chroprof_event(p, CHROPROF_PAUSED, id, NULL, t += random_below(&seed, 3));
        chroprof_event(p, CHROPROF_RUNNING, id + 1, NULL, t);
        chroprof_event(p, CHROPROF_COMPLETED, id + 1, NULL, t += random_below(&seed, 3));
        id += 2;
    }
}

TEST(ranks_are_in_each_order)
{
    static chroprof_site sites[24];
    uint64_t seed;
    uint32_t count;
    size_t room;
    int by;
    for (seed = 1; seed < 4; seed++)
        for (count = 1; count <= 24; count += count < 5 ? 1 : 7) {
            chroprof *p = fresh(NULL);
            run_tied_sites(p, sites, count, seed);
            for (by = 0; by <= CHROPROF_BY_CALLS + 1; by++)
                for (room = 0; room <= count + 1; room += room < 8 || room >= count - 1 ? 1 : 3)
                    check_order(p, by, room, count);
            CHECK_EQ(chroprof_ranks(p, NULL, 3, CHROPROF_BY_BLAME), count);
        }
}

/* >>clock */

TEST(the_horizon_is_what_comes_first)
{
    const uint64_t end = UINT64_C(1) << 62;
    const struct {
        uint64_t last, step, window_end, calibrate_at;
        uint32_t calibrated, account, hidden;
        uint64_t want;
    } rows[] = {
        { 100, 50, 200, 120, 1, 0, 0, 150 },
        { 100, 50, 149, 120, 1, 0, 0, 149 },
        { 100, 50, 151, 120, 1, 3, 0, 150 },
        { 100, 50, 149, 120, 0, 2, 0, 120 },
        { 100, 50, 149, 160, 0, 0, 0, 149 },
        { 100, 50, 149, 100, 0, 0, 0, 101 },
        { 100, 50, 149, 101, 0, 0, 0, 101 },
        { 100, 50, 149, 0, 0, 0, 0, 101 },
        { 100, 50, 149, 120, 1, 1, 0, 100 },
        { 100, 50, 149, 120, 1, 2, 1, 100 },
        { end - 5, end, end * 2 - 1, 0, 1, 0, 0, end },
        { end - 5, 4, end * 2 - 1, 0, 1, 0, 0, end - 1 },
        { end - 5, 6, end * 2 - 1, 0, 1, 0, 0, end },
        { end, 6, end * 2 - 1, 0, 1, 0, 0, end + 1 }
    };
    chroprof__core c;
    size_t k;
    memset(&c, 0, sizeof c);
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        c.last = rows[k].last;
        c.max_step_ticks = rows[k].step;
        c.window_end = rows[k].window_end;
        c.calibrate_at = rows[k].calibrate_at;
        c.calibrated = rows[k].calibrated;
        c.account = rows[k].account;
        c.hidden = rows[k].hidden;
        chroprof__set_horizon(&c);
        CHECK_EQ(c.horizon, rows[k].want);
    }
}

/* The width of the windows may change as long as the first is not full. */
TEST(options_become_ticks_by_the_rate)
{
    const struct { uint64_t last, window_ns; uint32_t window; uint64_t factor, width; } rows[] = {
        { 0, 1000, 0, UINT64_C(2) << 32, 500 }, { 499, 1000, 0, UINT64_C(2) << 32, 500 },
        { 500, 1000, 0, UINT64_C(2) << 32, 77 }, { 0, 1000, 1, UINT64_C(2) << 32, 77 },
        { 0, 1, 0, UINT64_C(2) << 32, 1 }, { 0, 3, 0, UINT64_C(1) << 31, 6 },
        { 1, 1, 0, UINT64_C(2) << 32, 77 }
    };
    chroprof__core c;
    size_t k;
    memset(&c, 0, sizeof c);
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        c.last = rows[k].last;
        c.window = rows[k].window;
        c.window_ns = rows[k].window_ns;
        c.stall_ns = 3000;
        c.max_step_ns = 50000;
        c.window_ticks = c.window_end = 77;
        chroprof__set_factor(&c, rows[k].factor);
        CHECK_EQ(c.factor, rows[k].factor);
        CHECK_EQ(c.window_ticks, rows[k].width);
        CHECK_EQ(c.window_end, rows[k].width);
        CHECK_EQ(c.stall_ticks, rows[k].factor >> 31 == 1 ? 6000 : 1500);
        CHECK_EQ(c.max_step_ticks, rows[k].factor >> 31 == 1 ? 100000 : 25000);
    }
}

/* >>samples */

TEST(items_have_a_kind_and_56_bits)
{
    const uint64_t most = (UINT64_C(1) << 56) - 1;
    uint64_t item = chroprof__item(CHROPROF__RETURN, UINT64_MAX);
    uint32_t kind;
    chroprof__entry e = entry_of(1, 1);
    CHECK_EQ(item, (UINT64_C(1) << 56) + most);
    CHECK_EQ(chroprof__item_kind(item), 1);
    CHECK_EQ(chroprof__item_value(item), most);
    CHECK_EQ(chroprof__item_kind(UINT64_MAX), 255);
    CHECK_EQ(chroprof__item_value(UINT64_MAX), most);
    for (kind = 0; kind < 256; kind++)
        CHECK(chroprof__is_code(chroprof__item(kind, kind * most)) == (kind < 2));
    for (kind = 0; kind < 60; kind++)
        chroprof__put_item(&e, CHROPROF__MARK, kind);
    CHECK_EQ(e.count, 56);
    CHECK_EQ(e.items[55], (UINT64_C(3) << 56) + 55);
}

/* Behind the state lie the notes, one a frame and one more, then the ring. */
TEST(the_ring_lies_behind_the_notes)
{
    chroprof_options o;
    chroprof *p;
    char *at;
    uint64_t k;
    memset(&o, 0, sizeof o);
    o.max_samples = 21;
    o.max_depth = 8;
    p = fresh(&o);
    at = (char *)sampler(p);
    CHECK((char *)chroprof__notes(sampler(p)) == at + lines_of(BYTES_OF_SAMPLER) * 64);
    at += lines_of(BYTES_OF_SAMPLER) * 64 + lines_of(9 * 16) * 64;
    for (k = 0; k < 12; k++)
        CHECK((char *)chroprof__ring(p->core, sampler(p), k) == at + k % 5 * BYTES_OF_ENTRY);
    CHECK((char *)chroprof__ring(p->core, sampler(p), 4) + BYTES_OF_ENTRY ==
          at - lines_of(9 * 16) * 64 - lines_of(BYTES_OF_SAMPLER) * 64 +
          p->core->tables[CHROPROF__SAMPLER].bytes);
}

/* The generator that the harness has as well. */
TEST(random_numbers_are_splitmix64)
{
    chroprof__sampler s;
    uint64_t state = 1234567;
    int k;
    memset(&s, 0, sizeof s);
    s.random = state;
    for (k = 0; k < 50; k++) {
        CHECK_EQ(chroprof__random(&s), random_next(&state));
        CHECK_EQ(s.random, state);
    }
}

TEST(modules_end_before_their_end)
{
    chroprof *p = fresh(NULL);
    chroprof__module *rows = chroprof__modules(p->core);
    static const struct { uint64_t address; uint32_t row; } found[] = {
        { 99, 0 }, { 100, 1 }, { 149, 1 }, { 150, 3 }, { 159, 3 }, { 160, 1 }, { 199, 1 },
        { 200, 0 }, { 299, 0 }, { 300, 2 }, { 309, 2 }, { 310, 0 }
    };
    size_t k;
    rows[0].low = 100;
    rows[0].high = 200;
    rows[1].low = 300;
    rows[1].high = 310;
    rows[2].low = 150;                      /* the newest first */
    rows[2].high = 160;
    p->core->tables[CHROPROF__MODULES].used = 3;
    for (k = 0; k < sizeof found / sizeof *found; k++) {
        CHECK_EQ(chroprof__find_module(p->core, found[k].address), found[k].row);
        CHECK_EQ(chroprof__module_of(p->core, chroprof__item(0, found[k].address)), found[k].row);
        CHECK_EQ(chroprof__module_of(p->core, chroprof__item(1, found[k].address)), found[k].row);
        CHECK_EQ(chroprof__module_of(p->core, chroprof__item(2, found[k].address)), 0);
    }
    harness_keep_none();
}

/* A tree of 8 nodes is full with samples for 2. */
TEST(nodes_are_found_until_the_table_is_full)
{
    chroprof_options o;
    uint64_t state = 9;
    uint32_t k, again, parent[8];
    uint64_t item[8];
    chroprof__table *table;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_samples = 2;
    p = fresh(&o);
    table = &p->core->tables[CHROPROF__STACKS];
    CHECK_EQ(table->rows, 9);
    for (k = 0; k < 8; k++) {
        parent[k] = (uint32_t)random_below(&state, k + 1);
        item[k] = chroprof__item(CHROPROF__PC, k < 4 ? 7 : 70 + k);
        for (again = 0; again < k; again++)
            if (parent[again] == parent[k] && item[again] == item[k])
                item[k]++;
        CHECK_EQ(chroprof__find_node(p->core, parent[k], item[k]), 0);
        CHECK_EQ(chroprof__intern_node(p->core, parent[k], item[k]), k + 1);
        CHECK(table->used == k + 1 && table->peak == k + 1);
        for (again = 0; again <= k; again++)
            CHECK_EQ(chroprof__intern_node(p->core, parent[again], item[again]), again + 1);
        CHECK(node(p, k + 1)->item == item[k] && node(p, k + 1)->parent == parent[k]);
    }
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].dropped, 0);
    CHECK_EQ(chroprof__intern_node(p->core, 8, 5), UINT32_MAX);
    CHECK_EQ(table->used, 8);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].dropped, 1);
    for (again = 0; again < 2; again++) {       /* lost ones have keys of their own */
        uint64_t bits = 0;
        p->core->tables[CHROPROF_TABLE_SAMPLES].wanted = 0;
        for (k = 0; k < 9; k++)
            chroprof__intern_node(p->core, k, again ? UINT64_MAX : 5);
        bits = p->core->tables[CHROPROF_TABLE_SAMPLES].wanted;
        for (k = 0; bits; bits &= bits - 1)
            k++;
        CHECK(k >= 5);
    }
    harness_keep_none();
}

/* Four rows; older ones are dropped with their weight and CPU time. */
TEST(rows_of_samples_go_round)
{
    static const struct { uint32_t stack, state; uint64_t weight, cpu; } ticks[] = {
        { 1, 0, 1, 5 }, { 1, 1, 2, 1 }, { 1, 1, 3, 0 }, { 1, 1, 1, 0 }, { 2, 0, 1, 7 },
        { 2, 0, 4, 6 }, { 2, 0, 1, 0 }, { 2, 1, 1, 0 }, { 1, 1, 5, 0 }, { 1, 1, 6, 0 },
        { 0, 2, 7, 0 }, { 0, 2, 2, 9 }
    };
    struct { uint64_t time, duration, weight, cpu; uint32_t stack, state; } want[20];
    chroprof_sample_row got[5];
    chroprof_options o;
    chroprof__sampler *s;
    uint64_t dropped = 0, dropped_cpu = 0, all = 0;
    size_t k, rows = 0, r, first;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_samples = 4;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    s = sampler(p);
    chroprof__intern_node(p->core, 0, 11);
    chroprof__intern_node(p->core, 0, 12);
    CHECK(chroprof__newest_row(p->core, s) == NULL);
    for (k = 0; k < sizeof ticks / sizeof *ticks; k++) {
        chroprof__entry e = entry_of(ticks[k].weight, ticks[k].cpu);
        uint64_t t = 100 + 10 * k + k * k;
        e.state = ticks[k].state;
        chroprof__add_row(p->core, s, t, ticks[k].stack, &e);
        r = rows - 1;
        if (rows == 0 || want[r].stack != ticks[k].stack || want[r].state != ticks[k].state ||
            ticks[k].cpu != 0) {
            r = rows++;
            memset(&want[r], 0, sizeof want[r]);
            want[r].time = t;
            want[r].stack = ticks[k].stack;
            want[r].state = ticks[k].state;
            if (rows > 4) {
                dropped += want[rows - 5].weight;
                dropped_cpu += want[rows - 5].cpu;
            }
        }
        want[r].duration = t - want[r].time;
        want[r].weight += ticks[k].weight;
        want[r].cpu += ticks[k].cpu;
        all += ticks[k].weight;
        CHECK_EQ(s->samples, all);
        CHECK_EQ(s->latest, t);
        CHECK_EQ(s->dropped, dropped);
        CHECK_EQ(s->dropped_cpu_ns, dropped_cpu);
        first = rows > 4 ? rows - 4 : 0;
        CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].peak, rows - first);
        p->core->last = t;
        CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, got, 5), rows - first);
        for (r = first; r < rows; r++) {
            const chroprof_sample_row *row = &got[r - first];
            CHECK_EQ(row->at_ns, want[r].time);
            CHECK_EQ(row->duration_ns, want[r].duration);
            CHECK_EQ(row->weight, want[r].weight);
            CHECK_EQ(row->cpu_ns, want[r].cpu);
            CHECK_EQ(row->stack, want[r].stack);
            CHECK_EQ(row->state, want[r].state);
        }
    }
    CHECK(dropped > 0 && dropped_cpu > 0);
    CHECK_EQ(node(p, 0)->weight, 9);
    CHECK_EQ(node(p, 1)->weight, 18);
    CHECK_EQ(node(p, 2)->cpu_ns, 13);
    harness_keep_none();
}

/* Its own place, a free one, the last of the same parent, the least of the first. */
TEST(places_of_hits)
{
    static chroprof__node nodes[12];
    chroprof__hits h;
    uint32_t k;
    for (k = 0; k < 12; k++)
        nodes[k].parent = 100 + k;
    memset(&h, 0, sizeof h);
    for (k = 0; k < 4; k++) {
        CHECK_EQ(chroprof__hit_place(nodes, &h, k + 1), k);
        CHECK_EQ(h.count, k + 1);
        CHECK_EQ(h.stack[k], k + 1);
        h.weight[k] = 5;
    }
    CHECK_EQ(chroprof__hit_place(nodes, &h, 3), 2);
    CHECK_EQ(chroprof__hit_place(nodes, &h, 5), 0);      /* of equals the first */
    CHECK(h.stack[0] == 5 && h.count == 4);
    h.weight[2] = 4;
    CHECK_EQ(chroprof__hit_place(nodes, &h, 6), 2);
    h.weight[2] = 9;
    h.weight[3] = 4;
    CHECK_EQ(chroprof__hit_place(nodes, &h, 7), 3);
    CHECK(h.stack[0] == 5 && h.stack[1] == 2 && h.stack[2] == 6 && h.stack[3] == 7);
    nodes[8].parent = nodes[2].parent;
    CHECK_EQ(chroprof__hit_place(nodes, &h, 8), 1);
    CHECK_EQ(h.stack[1], 2);                /* the first line of the function stays */
    nodes[6].parent = nodes[2].parent;
    CHECK_EQ(chroprof__hit_place(nodes, &h, 8), 2);
    nodes[5].parent = nodes[9].parent;
    h.count = 3;
    CHECK_EQ(chroprof__hit_place(nodes, &h, 9), 3);      /* a free place before a brother's */
    CHECK_EQ(h.stack[3], 9);
}

/* Of the time before a tick counts what lies inside, and as much CPU time as fits into that. */
TEST(hits_take_the_time_inside)
{
    static const struct { uint64_t inside, wall, cpu, want_wall, want_cpu; } rows[] = {
        { 10, 15, 7, 15, 7 }, { 10, 25, 7, 20, 7 }, { 10, 20, 30, 20, 20 }, { 10, 25, 20, 20, 20 },
        { 0, 25, 20, 0, 0 }, { 10, 15, 16, 15, 15 }
    };
    chroprof *p = fresh(NULL);
    chroprof__hits h;
    uint64_t cpu = 0, wall = 0;
    size_t k;
    memset(&h, 0, sizeof h);
    h.cpu_ns = h.sampled = h.count = 99;
    p->core->factor = UINT64_C(2) << 32;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__entry e = entry_of(3, rows[k].cpu);
        e.wall_ns = rows[k].wall;
        chroprof__add_hit(p->core, &h, 77, rows[k].inside, 0, &e);
        cpu += rows[k].want_cpu;
        wall += rows[k].want_wall;
        CHECK(h.owner == 77 && h.count == 1);
        CHECK_EQ(h.weight[0], 3 * (k + 1));
        CHECK_EQ(h.sampled, 3 * (k + 1));
        CHECK_EQ(h.cpu[0], cpu);
        CHECK_EQ(h.cpu_ns, cpu);
        CHECK_EQ(h.waiting_ns, wall - cpu);
    }
    harness_keep_none();
}

/* A tick is of the turn of its level and of the pass; of neither while the loop is idle. */
TEST(hits_of_turns_and_passes)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof__entry e = entry_of(1, 0);
    chroprof__stall stall;
    e.wall_ns = 1000;
    at(p, 0, TICK, 0, NULL);
    chroprof__add_hits(p, s, 5, 0, &e);
    CHECK(s->hits[0].count == 0 && s->hits[4].count == 0);
    at(p, 10, IDLE_ENTER, 0, NULL);
    at(p, 20, IDLE_LEAVE, 0, NULL);
    chroprof__add_hits(p, s, 25, 0, &e);
    CHECK(s->hits[0].count == 0 && s->hits[4].count == 1);
    CHECK_EQ(s->hits[4].waiting_ns, 5);
    CHECK_EQ(s->hits[4].owner, p->core->pass_event);
    at(p, 30, ENTER, 0, &A);
    at(p, 33, ENTER, 0, &B);
    chroprof__add_hits(p, s, 37, 0, &e);
    CHECK_EQ(s->hits[0].waiting_ns, 7);
    CHECK_EQ(s->hits[0].owner, p->frames[1].event);
    CHECK_EQ(s->hits[4].waiting_ns, 22);
    at(p, 40, LOOP_ENTER, 0, NULL);
    chroprof__add_hits(p, s, 41, 0, &e);
    CHECK(s->hits[1].count == 0 && s->hits[0].sampled == 1 && s->hits[4].sampled == 3);
    at(p, 42, ENTER, 0, &C);
    chroprof__add_hits(p, s, 41, 0, &e);                 /* before it began */
    CHECK(s->hits[1].sampled == 1 && s->hits[1].waiting_ns == 0);
    chroprof__add_hits(p, s, 45, 0, &e);
    CHECK_EQ(s->hits[1].waiting_ns, 3);
    CHECK_EQ(s->hits[0].sampled, 1);
    memset(&stall, 0, sizeof stall);
    p->core->turn[1].owner = p->frames[4].event;
    stall.kind = CHROPROF_STALL_TURN;
    chroprof__take_hits(p, &p->core->turn[1], &stall);
    CHECK_EQ(stall.hits.sampled, 2);
    memset(&stall, 0, sizeof stall);
    p->core->turn[1].owner++;
    chroprof__take_hits(p, &p->core->turn[1], &stall);
    CHECK_EQ(stall.hits.sampled, 0);
    stall.kind = CHROPROF_STALL_PASS;
    chroprof__take_hits(p, &p->core->pass, &stall);
    CHECK_EQ(stall.hits.sampled, 5);
    p->core->account = CHROPROF__IDLE;
    chroprof__add_hits(p, s, 50, 0, &e);
    CHECK_EQ(s->hits[1].sampled, 2);
    CHECK_EQ(s->hits[4].sampled, 5);
    harness_keep_none();
}

/* The eight that were met last. */
typedef struct eight {
    uint64_t ids[8], seqs[8], times[8];
} eight;

/* Met again in the same event, one has been so since then. */
static uint64_t since_by_hand(eight *e, uint64_t id, uint64_t seq, uint64_t t)
{
    uint64_t since;
    int k;
    for (k = 0; k < 7 && e->ids[k] != id; k++) {}
    since = e->ids[k] == id && e->seqs[k] == seq ? t - e->times[k] : 0;
    for (; k > 0; k--) {
        e->ids[k] = e->ids[k - 1];
        e->seqs[k] = e->seqs[k - 1];
        e->times[k] = e->times[k - 1];
    }
    e->ids[0] = id;
    e->seqs[0] = seq;
    e->times[0] = t;
    return since;
}

TEST(the_last_draws_are_remembered)
{
    chroprof__sampler s;
    uint64_t state = 3, t, id, seq;
    int round;
    eight e;
    memset(&s, 0, sizeof s);
    memset(&e, 0, sizeof e);
    for (round = 0; round < 600; round++) {
        id = 1 + random_below(&state, 11);
        seq = 2 * random_below(&state, 3);
        t = 1000 + 3 * (uint64_t)round;
        CHECK_EQ(chroprof__drawn_since(&s, id, seq, t), since_by_hand(&e, id, seq, t));
    }
}

typedef struct draws {
    uint64_t random, misses, drawn;
    uint64_t weight[CHROPROF__FIRST_PATH + 4][3], ticks[CHROPROF__FIRST_PATH + 4][3];
    eight last;
} draws;

/* Where the next numbers lead: at most 64 looks, for 8 that are live. */
static void draw_by_hand(const chroprof *p, draws *d, uint64_t t, uint64_t weight)
{
    int looks, found = 0;
    for (looks = 0; looks < 64 && found < 8; looks++) {
        uint64_t at = (random_next(&d->random) >> 32) * p->slots / (UINT64_C(1) << 32);
        const chroprof__future *f = p->futures + at;
        uint32_t state = f->state == CHROPROF_READY ? 1 : f->id == 500 ? 0 : 2;
        if (f->id == 0 || f->state == CHROPROF__GONE) {
            d->misses++;
            continue;
        }
        d->weight[f->path][state] += weight;
        d->ticks[f->path][state] += since_by_hand(&d->last, f->id, p->core->seq, t);
        d->drawn += weight;
        found++;
    }
}

static void check_draws_of(const chroprof *p, draws *d, uint64_t t, uint64_t ticks)
{
    uint64_t rounds = ticks < 8 ? ticks : 8, k;
    uint32_t path, state;
    d->random = sampler(p)->random;
    chroprof__draw_all(p, sampler(p), t, ticks);
    for (k = 0; k < rounds; k++)
        draw_by_hand(p, d, t, (ticks + rounds - 1 - k) / rounds);
    CHECK_EQ(sampler(p)->random, d->random);
    CHECK_EQ(sampler(p)->misses, d->misses);
    CHECK_EQ(sampler(p)->draws, d->drawn);
    for (path = 2; path < CHROPROF__FIRST_PATH + 4; path++)
        for (state = 0; state < 3; state++) {
            CHECK_EQ(chroprof__walls(p->core)[path].weight[state], d->weight[path][state]);
            CHECK_EQ(chroprof__walls(p->core)[path].ticks[state], d->ticks[path][state]);
        }
}

TEST(draws_are_what_the_numbers_say)
{
    static const chroprof_site *const sites[] = { &A, &B, &C, &D };
    static const uint64_t ticks[] = { 0, 1, 2, 3, 7, 8, 9, 15, 16, 100 };
    uint64_t id, most;
    size_t k;
    for (most = 0; most <= 1000; most += most < 40 ? 10 : 480) {
        chroprof_options o;
        draws d;
        chroprof *p;
        memset(&o, 0, sizeof o);
        memset(&d, 0, sizeof d);
        o.max_futures = 1000;
        p = fresh(&o);
        for (id = 1; id <= most; id++)
            chroprof_event(p, CHROPROF_PENDING, id, sites[id % 4], 0);
        for (id = 1; id <= most; id += 3)
            chroprof_event(p, CHROPROF_READY, id, NULL, 0);
        chroprof_event(p, CHROPROF_PENDING, 500, &A, 0);
        chroprof_event(p, CHROPROF_RUNNING, 501, NULL, 0);   /* gone, it has only a frame */
        chroprof_event(p, CHROPROF_RUNNING, 500, NULL, 0);
        for (k = 0; k < sizeof ticks / sizeof *ticks; k++)
            check_draws_of(p, &d, 50 + 7 * k * k, ticks[k]);
        CHECK(d.misses > 0 && (most == 0 || d.drawn > 0));
    }
}

/* Two neighbours become one: by as many chances as each weighs its stack stays. */
TEST(of_two_neighbours_one_keeps_its_stack)
{
    uint64_t seed, state;
    int kept[2] = { 0, 0 };
    for (seed = 0; seed < 60; seed++) {
        chroprof__sampler s;
        chroprof__entry a = entry_of(1 + seed % 5, 10), b = entry_of(1 + seed % 7, 200);
        bool second;
        memset(&s, 0, sizeof s);
        s.random = state = seed * 1000;
        second = random_next(&state) % (a.weight + b.weight) >= a.weight;
        a.stamp = 1;
        a.last = 2;
        a.wall_ns = 30;
        a.draws = 4;
        a.count = 5;
        a.state = CHROPROF_SAMPLE_IDLE;
        b.stamp = 11;
        b.last = 12;
        b.wall_ns = 400;
        b.draws = 50;
        b.count = 6;
        b.state = CHROPROF_SAMPLE_LOOP;
        memset(a.items, 1, sizeof a.items);
        memset(b.items, 2, sizeof b.items);
        chroprof__merge_entries(&s, &a, &b);
        CHECK_EQ(a.weight, 1 + seed % 5 + b.weight);
        CHECK_EQ(a.cpu_ns, 210);
        CHECK_EQ(a.wall_ns, 430);
        CHECK_EQ(a.draws, 54);
        CHECK_EQ(a.last, 12);
        CHECK_EQ(a.stamp, second ? 11 : 1);
        CHECK_EQ(a.count, second ? 6 : 5);
        CHECK_EQ(a.state, second ? CHROPROF_SAMPLE_LOOP : CHROPROF_SAMPLE_IDLE);
        CHECK_EQ(a.items[0], UINT64_C(0x0101010101010101) * (second ? 2 : 1));
        CHECK_EQ(a.items[55], UINT64_C(0x0101010101010101) * (second ? 2 : 1));
        kept[second]++;
    }
    CHECK(kept[0] > 15 && kept[1] > 15);
}

/* Which neighbours: those that weigh least, of equals the first, at either end of the ring. */
TEST(a_full_ring_is_thinned)
{
    static const uint64_t weights[][5] = {
        { 1, 1, 1, 1, 1 }, { 9, 1, 1, 1, 9 }, { 1, 9, 9, 9, 1 }, { 9, 9, 9, 1, 1 },
        { 1, 2, 9, 2, 1 }, { 9, 8, 7, 6, 5 }, { 5, 6, 7, 8, 9 }, { 3, 9, 3, 8, 3 }
    };
    static const size_t first[] = { 0, 1, 0, 3, 0, 3, 0, 2 };
    chroprof_options o;
    size_t r, k;
    memset(&o, 0, sizeof o);
    o.max_samples = 20;
    for (r = 0; r < 8; r++) {
        chroprof *p = fresh(&o);
        chroprof__sampler *s = sampler(p);
        s->put = s->taken = 100 + r;
        for (k = 0; k < 5; k++) {
            chroprof__entry *e = chroprof__begin_entry(p->core, s);
            CHECK(e == chroprof__ring(p->core, s, 100 + r + k));
            e->weight = weights[r][k];
            e->last = 40 + k;
            s->put++;
        }
        CHECK(chroprof__begin_entry(p->core, s) == chroprof__ring(p->core, s, 104 + r));
        CHECK(s->put == 104 + r && s->taken == 100 + r);
        for (k = 0; k < 4; k++) {
            const chroprof__entry *e = chroprof__ring(p->core, s, 100 + r + k);
            size_t from = k > first[r] ? k + 1 : k;
            CHECK_EQ(e->last, 40 + (k == first[r] ? k + 1 : from));
            CHECK_EQ(e->weight, weights[r][from] + (k == first[r] ? weights[r][k + 1] : 0));
        }
        s->put = s->taken;
    }
    harness_keep_none();
}

/* Not before the sample before, not after most, whatever the stamp is. */
TEST(times_of_samples_stay_in_the_profile)
{
    const uint64_t end = UINT64_C(1) << 62;
    const struct { uint64_t stamp, latest, most, want; } rows[] = {
        { 0, 10, 1000, 500 }, { 0, 10, 400, 400 }, { 0, 600, 1000, 600 }, { 0, 499, 1000, 500 },
        { 1030, 10, 1000, 30 }, { 1030, 30, 1000, 30 }, { 1030, 31, 1000, 31 },
        { 1030, 10, 20, 20 }, { 1030, 25, 20, 25 }, { 999, 10, 1000, 10 }, { 999, 0, 1000, 0 },
        { 1000, 0, 1000, 0 }, { 1000 + end, 10, UINT64_MAX, 500 },
        { 999 + end, 10, UINT64_MAX, end - 1 }, { 1, 0, 1000, 0 }
    };
    chroprof__core c;
    chroprof__sampler s;
    size_t k;
    memset(&c, 0, sizeof c);
    memset(&s, 0, sizeof s);
    c.epoch = 1000;
    c.last = 500;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        s.latest = rows[k].latest;
        CHECK_EQ(chroprof__sample_time(&c, &s, rows[k].stamp, rows[k].most), rows[k].want);
    }
}

/* What is inside chroprof says so in its first item; a tick without a span takes it from the
 * sample before. */
TEST(ticks_that_are_absorbed)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof__entry e = entry_of(3, 0);
    at(p, 0, TICK, 0, NULL);
    at(p, 10, ENTER, 0, &A);
    e.items[0] = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE);
    e.stamp = e.last = p->core->epoch + 15;
    chroprof__absorb(p, s, &e, 100);
    CHECK_EQ(s->inside, 0);
    CHECK_EQ(e.wall_ns, 15);
    e.count = 1;
    e.stamp = e.last = p->core->epoch + 19;
    chroprof__absorb(p, s, &e, 100);
    CHECK_EQ(s->inside, 3);
    CHECK_EQ(e.wall_ns, 15);
    CHECK_EQ(s->latest, 19);
    CHECK_EQ(s->hits[0].waiting_ns, 5 + 9);
    e.items[1] = e.items[0];
    e.items[0] = chroprof__item(CHROPROF__TASK, 3);
    e.count = 2;
    e.wall_ns = 0;
    e.stamp = p->core->epoch + 22;
    e.last = p->core->epoch + 29;
    e.draws = 2;
    chroprof__absorb(p, s, &e, 25);
    CHECK_EQ(s->inside, 3);
    CHECK_EQ(e.wall_ns, 3);
    CHECK_EQ(s->hits[0].waiting_ns, 5 + 9 + 3);
    CHECK_EQ(s->latest, 22);
    CHECK_EQ(s->samples, 9);
    CHECK_EQ(s->misses, 2 * 64);
    harness_keep_none();
}

static void check_items(const chroprof *p, uint32_t state, const uint64_t *want, uint32_t count)
{
    chroprof__entry e = entry_of(1, 0);
    uint32_t k;
    chroprof__put_running(p->core, &e);
    CHECK_EQ(e.state, state);
    CHECK_EQ(e.count, count);
    for (k = 0; k < count; k++)
        CHECK_EQ(e.items[k], want[k]);
}

/* What a sample has for a stack: what stands on the stack, the innermost first, 16 of it. */
TEST(stacks_of_what_runs)
{
    const uint64_t task = UINT64_C(2) << 56, mark = UINT64_C(3) << 56;
    static chroprof_site sites[20];
    uint64_t want[20];
    uint32_t k;
    chroprof *p = fresh(NULL);
    at(p, 0, TICK, 0, NULL);
    want[0] = mark | CHROPROF__MARK_LOOP;
    check_items(p, CHROPROF_SAMPLE_LOOP, want, 1);
    at(p, 1, IDLE_ENTER, 0, NULL);
    want[0] = mark | CHROPROF__MARK_IDLE;
    check_items(p, CHROPROF_SAMPLE_IDLE, want, 1);
    at(p, 2, IDLE_LEAVE, 0, NULL);
    for (k = 0; k < 18; k++) {
        sites[k].name = "deep";
        sites[k].line = k;
        at(p, 3 + k, ENTER, 0, &sites[k]);
        memmove(want + 1, want, 18 * sizeof *want);
        want[0] = task | (3 + k);
        if (k >= 16)
            want[16] = mark | CHROPROF__MARK_DEEP;
        check_items(p, CHROPROF_SAMPLE_BUSY, want, k < 16 ? k + 1 : 17);
    }
    p->core->seq++;
    want[0] = mark | CHROPROF__MARK_INSIDE;
    check_items(p, CHROPROF_SAMPLE_LOOP, want, 1);
    p->core->seq--;
    p->core->edits++;
    check_items(p, CHROPROF_SAMPLE_LOOP, want, 1);
    p->core->edits--;
    p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 1, LOOP_ENTER, 0, NULL);
    want[0] = mark | CHROPROF__MARK_LOOP;
    want[1] = task | 3;
    check_items(p, CHROPROF_SAMPLE_LOOP, want, 2);
    at(p, 2, ENTER, 0, &B);
    want[0] = task | 4;
    check_items(p, CHROPROF_SAMPLE_BUSY, want, 2);
}

/* The walk of a deep stack ends there. */
TEST(a_deep_stack_ends_with_its_mark)
{
    chroprof *p = fresh(NULL);
    chroprof__entry e = entry_of(1, 0);
    uint32_t k, depth;
    for (k = 0; k < 20; k++)
        at(p, k, ENTER, 0, &A);
    depth = 20;
    chroprof__put_tasks(p->core, &e, &depth, 15);
    CHECK(depth == 15 && e.count == 5);
    chroprof__put_tasks(p->core, &e, &depth, 4);
    CHECK(depth == 4 && e.count == 16);
    chroprof__put_tasks(p->core, &e, &depth, 3);
    CHECK(depth == 0 && e.count == 17);
    chroprof__put_tasks(p->core, &e, &depth, 0);
    CHECK(depth == 0 && e.count == 17);
}

/* >>bill: what became ready long ago is blamed on who was on top since then */

enum { PAST_EVENTS = 100 };

/* As if each event had noted its interval, and the last 63 were still known. */
static void blame_by_hand(const uint32_t *ends, const uint8_t *who, uint32_t count, uint32_t from,
                          uint64_t *blame)
{
    uint32_t k, oldest = count - 63, t;
    for (t = from; t < ends[count - 1]; t++) {
        for (k = count; k > 0 && ends[k - 1] > t; k--) {}
        blame[k < oldest ? 0 : who[k]]++;
    }
}

TEST(the_past_is_blamed_on_who_was_on_top)
{
    static const uint32_t sinces[] = { 0, 1, 50, 97, 130, 131, 132, 133, 134, 200, 280, 299, 300 };
    static const chroprof_site *const sites[] = { &A, &B };
    uint32_t back;
    size_t w;
    for (w = 0; w < sizeof sinces / sizeof *sinces; w++)
        for (back = 0; back < 3; back++) {
            uint32_t ends[PAST_EVENTS + 5], count = 0, k, from;
            uint8_t who[PAST_EVENTS + 5], on = 0;
            uint64_t blame[8] = { 0 }, state = w + 1;
            chroprof *p = fresh(NULL);
            at(p, 0, PENDING, 9, &C);
            ends[count] = 0;
            who[count++] = 0;
            for (k = 0; k < PAST_EVENTS; k++) {
                ends[count] = ends[count - 1] + 1 + (uint32_t)random_below(&state, 5);
                who[count] = on;
                chroprof_event(p, CHROPROF_TICK, 0, NULL, ends[count]);
                count++;
                if (random_below(&state, 2) == 0) {
                    uint32_t site = (uint32_t)random_below(&state, 2);
                    chroprof_event(p, on ? CHROPROF_LEAVE : CHROPROF_ENTER, 0,
                                   on ? NULL : sites[site], ends[count - 1]);
                    on = on ? 0 : (uint8_t)p->core->account;
                    ends[count] = ends[count - 1];
                    who[count] = 0;
                    count++;
                    k++;
                }
            }
            from = ends[count - 1] * sinces[w] / 300;
            from = from > back ? from - back : 0;
            ends[count] = ends[count - 1];
            who[count++] = 0;
            chroprof_ready_since(p, 9, from);
            laws(p);
            blame_by_hand(ends, who, count, from, blame);
            for (k = 0; k < 6; k++)
                CHECK_EQ(p->paths[k].blame, blame[k]);
            CHECK_EQ(future_of(p, 9).since_ns, from);
        }
}

/* >>stalls: the four longest of a list, of equals the earlier one first */

TEST(the_biggest_slices_of_a_turn)
{
    chroprof__biggest b;
    uint64_t want[4] = { 0 }, ids[4] = { 0 }, state = 8, exec;
    uint32_t k, count = 0, round;
    memset(&b, 0x5a, sizeof b);
    chroprof__clear_biggest(&b, 77);
    CHECK(b.owner == 77 && b.count == 0 && b.floor == 0);
    for (round = 1; round < 200; round++) {
        exec = round < 12 ? 1 + round % 3 : 1 + random_below(&state, 30 + round);
        if (exec <= (count == 4 ? want[3] : 0))
            continue;
        k = count < 4 ? count++ : 3;
        for (; k > 0 && want[k - 1] < exec; k--) {
            want[k] = want[k - 1];
            ids[k] = ids[k - 1];
        }
        want[k] = exec;
        ids[k] = round;
        chroprof__note_slice(&b, exec, round, round + 1000);
        CHECK_EQ(b.count, count);
        CHECK_EQ(b.floor, count == 4 ? want[3] : 0);
        for (k = 0; k < count; k++) {
            CHECK_EQ(b.slices[k].exec, want[k]);
            CHECK_EQ(b.slices[k].id, ids[k]);
            CHECK_EQ(b.slices[k].path, ids[k] + 1000);
        }
    }
}

/* A heap of the longest, whatever comes in which order. */
TEST(the_longest_stalls_are_in_a_heap)
{
    static chroprof__stall heap[8];
    uint64_t lengths[40], state = 4;
    uint32_t rows, count, k, j;
    for (rows = 1; rows <= 7; rows++) {
        memset(heap, 0, sizeof heap);
        heap[rows].length = 1;
        for (count = 0; count < 40; count++) {
            uint64_t sum = 0, want = 0;
            chroprof__stall stall;
            memset(&stall, 0, sizeof stall);
            stall.length = 2 + random_below(&state, 50);
            chroprof__keep_longest(heap, rows, &stall);
            for (k = count; k > 0 && lengths[k - 1] < stall.length; k--)
                lengths[k] = lengths[k - 1];
            lengths[k] = stall.length;
            for (j = 0; j < rows; j++) {
                sum += heap[j].length * heap[j].length;
                want += j <= count ? lengths[j] * lengths[j] : 0;
                CHECK(heap[j].length >= heap[j > 0 ? (j - 1) / 2 : 0].length);
            }
            CHECK_EQ(sum, want);
            CHECK_EQ(heap[rows].length, 1);
        }
    }
}

/* Slices of several frames and of nested loops, each list with what lies in its own turn. */
TEST(stalls_have_the_slices_of_their_turn)
{
    chroprof_options o;
    chroprof_stall s[6];
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 50;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    at(p, 5, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 12, ENTER, 0, &A);
    at(p, 20, ENTER, 0, &B);
    at(p, 27, LEAVE, 0, NULL);                  /* a slice of 7 */
    at(p, 30, LOOP_ENTER, 0, NULL);
    at(p, 31, ENTER, 0, &C);
    at(p, 34, ENTER, 0, &D);
    at(p, 40, LEAVE, 0, NULL);                  /* 6 */
    at(p, 85, LEAVE, 0, NULL);                  /* 48, a turn of 54 in the nested loop */
    CHECK_EQ(chroprof_stalls(p, s, 6), 1);
    CHECK_EQ(s[0].kind, CHROPROF_STALL_TURN);
    CHECK(s[0].start_ns == 31 && s[0].length_ns == 54 && s[0].events == 3 && s[0].slice_count == 2);
    CHECK(s[0].slices[0].exec_ns == 48 && s[0].slices[1].exec_ns == 6);
    CHECK_STR(s[0].slices[0].name, "query");
    CHECK_STR(s[0].slices[1].name, "timer");
    CHECK_STR(s[0].slices[1].file, "timer.c");
    CHECK_EQ(s[0].slices[1].line, 5);
    CHECK_EQ(s[0].slices[1].path, path_of(p, "query;timer").id);
    at(p, 86, ENTER, 0, &C);
    at(p, 136, LEAVE, 0, NULL);                 /* a turn of 50 is no stall */
    CHECK_EQ(chroprof_stalls(p, s, 6), 1);
    at(p, 140, LOOP_LEAVE, 0, NULL);
    at(p, 141, ENTER, 0, &D);
    at(p, 150, LEAVE, 0, NULL);                 /* 9 */
    at(p, 175, LEAVE, 0, NULL);                 /* 8 + 3 + 1 + 25, a turn of 53 */
    CHECK_EQ(chroprof_stalls(p, s, 6), 2);
    CHECK(s[1].start_ns == 12 && s[1].length_ns == 53 && s[1].slice_count == 3);
    CHECK_EQ(s[1].events, 13);
    CHECK(s[1].slices[0].exec_ns == 37 && s[1].slices[1].exec_ns == 9);
    CHECK_EQ(s[1].slices[2].exec_ns, 7);
    at(p, 176, IDLE_ENTER, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, s, 6), 3);
    CHECK_EQ(s[2].kind, CHROPROF_STALL_PASS);
    CHECK(s[2].start_ns == 10 && s[2].length_ns == 166 && s[2].slice_count == 4);
    CHECK_EQ(s[2].events, 15);
    CHECK(s[2].slices[0].exec_ns == 50 && s[2].slices[1].exec_ns == 48);
    CHECK(s[2].slices[2].exec_ns == 37 && s[2].slices[3].exec_ns == 9);
    CHECK_EQ(chroprof_stalls(p, NULL, 6), 3);
    CHECK_EQ(totals_of(p).stalls, 3);
    CHECK_EQ(totals_of(p).turn_max_ns, 54);
}

/* Whatever a turn was before, another one of its level begins its own list; a slice that the pass
 * list takes, the turn's may not, and the other way round. */
TEST(lists_of_slices_begin_with_their_turn)
{
    chroprof_options o;
    chroprof_stall s[4];
    chroprof *p;
    uint64_t t = 0;
    int round;
    memset(&o, 0, sizeof o);
    o.stall_ns = 99;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 0, IDLE_LEAVE, 0, NULL);
    for (round = 0; round < 2; round++) {
        int k;
        at(p, t, ENTER, 0, &A);
        for (k = 0; k < 6; k++) {               /* 30, 31, .. 35, then 10, 11, .. */
            at(p, t, ENTER, 0, &B);
            at(p, t += (round == 0 ? 30U : 20U) + (uint64_t)k, LEAVE, 0, NULL);
        }
        at(p, t += 1, LEAVE, 0, NULL);
    }
    CHECK_EQ(chroprof_stalls(p, s, 4), 2);
    for (round = 0; round < 2; round++) {
        uint64_t most = round == 0 ? 35 : 25;
        CHECK_EQ(s[round].slice_count, 4);
        CHECK_EQ(s[round].slices[0].exec_ns, most);
        CHECK_EQ(s[round].slices[1].exec_ns, most - 1);
        CHECK_EQ(s[round].slices[2].exec_ns, most - 2);
        CHECK_EQ(s[round].slices[3].exec_ns, most - 3);
        CHECK_EQ(s[round].length_ns, round == 0 ? 196 : 136);
    }
    at(p, t, IDLE_ENTER, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, s, 4), 3);
    CHECK(s[2].slices[0].exec_ns == 35 && s[2].slices[3].exec_ns == 32);
}

/* >>stack: frames of one id */

/* A future that runs within itself, and another one of its id: each has its own frames' time. */
TEST(futures_of_one_id_keep_their_time)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 15, RUNNING, 1, NULL);
    at(p, 22, TICK, 0, NULL);
    CHECK_EQ(future_of(p, 1).exec_ns, 10 + 7);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 17);
    CHECK_EQ(rank_of(p, "accept").slice_max_ns, 10);
    CHECK_EQ(rank_of(p, "accept").slices, 2);
    at(p, 22, PENDING, 1, &B);
    at(p, 25, RUNNING, 1, NULL);
    at(p, 30, TICK, 0, NULL);
    CHECK_EQ(future_of(p, 1).exec_ns, 5);
    CHECK_EQ(rank_of(p, "reply").exec_max_ns, 5);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 20);
    at(p, 31, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(future_of(p, 1).exec_ns, 6);
    at(p, 33, PAUSED, 1, NULL);
    CHECK_EQ(p->paths[3].exec_max, 12);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 22);
    CHECK_EQ(rank_of(p, "accept").slices, 2);
    at(p, 35, LOOP_LEAVE, 0, NULL);
    at(p, 40, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 27);
    CHECK_EQ(rank_of(p, "accept").slice_max_ns, 15);
    at(p, 41, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 28);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 28);
    CHECK_EQ(p->core->depth, 0);
    CHECK_EQ(future_of(p, 1).exec_ns, 6);
    at(p, 41, COMPLETED, 1, NULL);
    CHECK_EQ(chroprof_futures(p, NULL, 0), 0);
    CHECK_EQ(chroprof__find(p, 1)->id, 0);
    only(p, UNWOUND_BY_LOOP, 0);
}

/* A frame that a finished future left behind is no lost pause of what runs without a site. */
TEST(unknown_ids_above_what_is_left)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 1, RUNNING, 1, NULL);
    at(p, 2, RUNNING, 2, NULL);
    at(p, 3, COMPLETED, 1, NULL);
    at(p, 4, PAUSED, 2, NULL);
    CHECK_EQ(p->core->depth, 1);
    at(p, 5, RUNNING, 1, NULL);
    CHECK_ANOMALY(p, LOST_PAUSE, 0);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 1);
    CHECK_EQ(p->core->depth, 2);
    at(p, 7, RUNNING, 1, NULL);
    CHECK_ANOMALY(p, LOST_PAUSE, 1);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 2);
    CHECK_EQ(p->core->depth, 2);
    CHECK_EQ(totals_of(p).untracked_ns, 2);
    at(p, 11, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 6);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 1 + 1);
    at(p, 12, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 3);
    CHECK_EQ(p->paths[3].exec_max, 3);          /* nothing of what was unknown */
    CHECK_EQ(p->core->depth, 0);
    CHECK_EQ(chroprof__find(p, 1)->id, 0);
}

/* The entry that was held back last is counted once. */
TEST(percentiles_count_each_entry_once)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int k;
    at(p, 0, PENDING, 1, &A);
    for (k = 0; k < 100; k++) {
        chroprof_event(p, CHROPROF_READY, 1, NULL, t);
        chroprof_event(p, CHROPROF_RUNNING, 1, NULL, t += k < 99 ? 4 : 4000);
        CHECK_EQ(rank_of(p, "accept").delay_p99_ns, k < 99 ? 4 : 6);
        chroprof_event(p, CHROPROF_PAUSED, 1, NULL, t += 10);
    }
    CHECK_EQ(rank_of(p, "accept").delay_p99_ns, 6);
    at(p, t, ENTER, 0, &B);
    at(p, t += 5, LEAVE, 0, NULL);
    at(p, t, ENTER, 0, &B);
    at(p, t += 500, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "reply").slice_p50_ns, 6);
    at(p, t, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "reply").slice_p50_ns, 6);
    at(p, t, ENTER, 0, &C);
    at(p, t += 5, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "reply").slice_p50_ns, 6);
    CHECK_EQ(rank_of(p, "query").slice_p50_ns, 5);
    CHECK_EQ(rank_of(p, "accept").delay_p99_ns, 6);
}

TEST(turns_are_counted_once)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &C);                     /* of no ticks */
    at(p, 0, LEAVE, 0, NULL);
    CHECK(rank_of(p, "query").slice_p50_ns == 0 && rank_of(p, "query").slice_p999_ns == 0);
    p = fresh(NULL);
    at(p, 0, ENTER, 0, &B);
    at(p, 5, LEAVE, 0, NULL);
    at(p, 5, ENTER, 0, &B);
    at(p, 505, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).turn_p50_ns, 6);
    at(p, 505, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).turn_p50_ns, 6);
    at(p, 505, ENTER, 0, &B);
    at(p, 506, ENTER, 0, &A);
    at(p, 906, LEAVE, 0, NULL);                 /* a slice, but no turn */
    CHECK_EQ(totals_of(p).turn_p50_ns, 6);
    CHECK_EQ(rank_of(p, "accept").slice_p50_ns, 400);
}

/* >>reading: each figure from its own place */

/* floor(ticks * 5 / 2) */
static uint64_t halves(uint64_t ticks)
{
    return ticks * 5 / 2;
}

static chroprof *figures_of_paths(void)
{
    chroprof *p = fresh(NULL);
    uint32_t k;
    at(p, 0, ENTER, 0, &A);
    at(p, 5, ENTER, 0, &B);
    at(p, 5, LEAVE, 0, NULL);
    at(p, 6, LEAVE, 0, NULL);
    at(p, 6, ENTER, 0, &B);
    at(p, 7, LEAVE, 0, NULL);
    at(p, 1001, TICK, 0, NULL);
    p->core->factor = UINT64_C(5) << 31;
    for (k = 3; k < 6; k++) {
        chroprof__path *row = p->paths + k;
        uint64_t b = 1000 * k + 1;
        row->exec = b + 20;
        row->slices = b + 2;
        row->slice_max = b + 4;
        row->exec_max = b + 6;
        row->blame = b + 8;
        row->wall = b + 5000;
        row->delay = b + 10;
        row->ready = k;
        row->calls = b + 12;
        row->completed = b + 14;
        row->failed = b + 16;
        row->cancelled = b + 18;
        row->abandoned = b + 22;
        row->stillborn = b + 24;
        row->live = 20 + k;
        row->merged_live = 30 + 2 * k;
        row->delay_max = b + 26;
    }
    p->paths[0].exec = 41;
    p->paths[0].blame = 51;
    p->paths[1].exec = 43;
    p->paths[1].blame = 53;
    p->paths[2].exec = 47;
    p->paths[2].blame = 57;
    harness_keep_none();
    return p;
}

static void check_path_row(const chroprof_path *row, uint32_t k, uint64_t below)
{
    uint64_t b = 1000 * k + 1;
    CHECK_EQ(row->id, k);
    CHECK_EQ(row->parent, k == 4 ? 3 : 0);
    CHECK_STR(row->name, k == 3 ? "accept" : "reply");
    CHECK_STR(row->file, "server.c");
    CHECK_EQ(row->line, k == 3 ? 10 : 20);
    CHECK_EQ(row->site, k == 3 ? 4 : 5);
    CHECK_EQ(row->exec_ns, halves(b + 20));
    CHECK_EQ(row->with_children_ns, halves(b + 20) + below);
    CHECK_EQ(row->exec_max_ns, halves(b + 6));
    CHECK_EQ(row->slice_max_ns, halves(b + 4));
    CHECK_EQ(row->slices, b + 2);
    CHECK_EQ(row->wall_ns, halves(b + 5000 + (20 + k) * 1001));
    CHECK_EQ(row->delay_ns, halves(b + 10 + k * UINT64_C(1001)));
    CHECK_EQ(row->waiting_ns, row->wall_ns - row->exec_ns - row->delay_ns);
    CHECK_EQ(row->blame_ns, halves(b + 8));
    CHECK_EQ(row->calls, b + 12);
    CHECK_EQ(row->completed, b + 14);
    CHECK_EQ(row->failed, b + 16);
    CHECK_EQ(row->cancelled, b + 18);
    CHECK_EQ(row->abandoned, b + 22);
    CHECK_EQ(row->stillborn, b + 24);
    CHECK_EQ(row->live, 50 + 3 * k);
}

TEST(figures_of_paths_and_sites)
{
    const chroprof *p = figures_of_paths();
    chroprof_path rows[4];
    chroprof_rank a, b;
    CHECK_EQ(chroprof_paths(p, rows, 4), 3);
    check_path_row(&rows[0], 5, 0);
    check_path_row(&rows[1], 3, halves(4021));
    check_path_row(&rows[2], 4, 0);
    CHECK_EQ(chroprof_paths(p, NULL, 4), 3);
    a = rank_of(p, "accept");
    b = rank_of(p, "reply");
    CHECK(a.id == 4 && b.id == 5 && a.line == 10 && b.line == 20);
    CHECK_EQ(a.exec_ns, halves(3021));
    CHECK_EQ(a.children_ns, halves(4021));
    CHECK_EQ(a.with_children_ns, halves(3021) + halves(4021));
    CHECK_EQ(b.exec_ns, halves(4021) + halves(5021));
    CHECK_EQ(b.children_ns, 0);
    CHECK_EQ(b.exec_max_ns, halves(5007));
    CHECK_EQ(b.slice_max_ns, halves(5005));
    CHECK_EQ(b.slices, 4003 + 5003);
    CHECK_EQ(b.wall_ns, rows[0].wall_ns + rows[2].wall_ns);
    CHECK_EQ(b.delay_ns, rows[0].delay_ns + rows[2].delay_ns);
    CHECK_EQ(b.waiting_ns, b.wall_ns - b.exec_ns - b.delay_ns);
    CHECK_EQ(b.blame_ns, halves(4009) + halves(5009));
    CHECK_EQ(b.calls, 4013 + 5013);
    CHECK_EQ(b.completed, 4015 + 5015);
    CHECK_EQ(b.failed, 4017 + 5017);
    CHECK_EQ(b.cancelled, 4019 + 5019);
    CHECK_EQ(b.abandoned, 4023 + 5023);
    CHECK_EQ(b.stillborn, 4025 + 5025);
    CHECK_EQ(b.live, 62 + 65);
    CHECK(a.has_percentiles && b.has_percentiles);
}

TEST(figures_of_the_totals)
{
    chroprof *p = figures_of_paths();
    chroprof__core *c = p->core;
    chroprof_totals t;
    uint32_t k;
    c->seq = 1000;
    c->seq_base = 400;
    c->merged_events = 7;
    c->passes = 61;
    c->pass_max = 63;
    c->turns = 67;
    c->turn_max = 69;
    c->stalls = 71;
    c->start_unix_ns = 73;
    c->error_ppb = 77;
    c->hidden = 5;
    c->depth = 0;
    c->skew_ticks = 79;
    c->skew_events = 81;
    c->doubt_ticks = 83;
    c->doubt_events = 85;
    for (k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        c->anomalies[k] = k + 1;
    c->tables[CHROPROF_TABLE_FUTURES].dropped = 100;
    c->tables[CHROPROF_TABLE_STRINGS].dropped = 23;
    t = totals_of(p);
    CHECK_EQ(t.untracked_ns, halves(47));
    CHECK_EQ(t.idle_ns, halves(43));
    CHECK_EQ(t.loop_ns, halves(41));
    CHECK_EQ(t.busy_ns, halves(47) + halves(3021) + halves(4021) + halves(5021));
    CHECK_EQ(t.elapsed_ns, t.busy_ns + halves(43) + halves(41));
    CHECK_EQ(t.idle_blame_ns, halves(53));
    CHECK_EQ(t.loop_blame_ns, halves(51));
    CHECK_EQ(t.untracked_blame_ns, halves(57));
    CHECK_EQ(t.blame_ticks, 51 + 53 + 57 + 3009 + 4009 + 5009);
    CHECK_EQ(t.blame_ns, halves(51) + halves(53) + halves(57) + halves(3009) + halves(4009) +
                         halves(5009));
    CHECK_EQ(t.delay_ticks, 3011 + 4011 + 5011 + 12 * 1001);
    CHECK_EQ(t.delay_ns, halves(3011 + 3 * 1001) + halves(4011 + 4 * 1001) +
                         halves(5011 + 5 * 1001));
    CHECK_EQ(t.live, 59 + 62 + 65);
    CHECK_EQ(t.events, 307);
    CHECK_EQ(t.anomalies, CHROPROF_ANOMALY_COUNT * (CHROPROF_ANOMALY_COUNT + 1) / 2);
    CHECK_EQ(t.dropped, 123);
    CHECK(t.passes == 61 && t.turns == 67 && t.stalls == 71);
    CHECK_EQ(t.pass_max_ns, halves(63));
    CHECK_EQ(t.turn_max_ns, halves(69));
    CHECK(t.elapsed_ticks == 1001 && t.start_unix_ns == 73 && t.tick_error_ppb == 77);
    CHECK(!t.provisional && t.enabled && !t.idle && t.depth == 5);
    CHECK_EQ(t.skew_ns, halves(79));
    CHECK_EQ(t.doubt_ns, halves(83));
    CHECK(t.skew_events == 81 && t.doubt_events == 85);
    c->calibrated = 0;
    c->enabled = 0;
    c->account = CHROPROF__IDLE;
    t = totals_of(p);
    CHECK(t.provisional && !t.enabled && t.idle);
}

/* Who has no profile reads nothing. */
TEST(nothing_is_read_of_no_profile)
{
    chroprof none, *profiles[2];
    chroprof_totals t, zero;
    chroprof_sampler_totals s, no_sampler;
    size_t k;
    memset(&none, 0, sizeof none);
    memset(&zero, 0, sizeof zero);
    memset(&no_sampler, 0, sizeof no_sampler);
    profiles[0] = NULL;
    profiles[1] = &none;
    for (k = 0; k < 2; k++) {
        const chroprof *p = profiles[k];
        chroprof_rank rank;
        chroprof_path path;
        chroprof_future future;
        chroprof_frame frame;
        chroprof_window window;
        chroprof_stall stall;
        chroprof_sample_row sample;
        chroprof_stack_frame stack;
        chroprof_wall wall;
        chroprof_table table;
        chroprof_anomaly anomaly;
        uint64_t cells;
        CHECK_EQ(chroprof_ranks(p, &rank, 1, CHROPROF_BY_EXEC), 0);
        CHECK_EQ(chroprof_paths(p, &path, 1), 0);
        CHECK_EQ(chroprof_futures(p, &future, 1), 0);
        CHECK_EQ(chroprof_frames(p, &frame, 1), 0);
        CHECK_EQ(chroprof_windows(p, &window, 1), 0);
        CHECK_EQ(chroprof_site_windows(p, 0, &cells, 1), 0);
        CHECK_EQ(chroprof_stalls(p, &stall, 1), 0);
        CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, &sample, 1), 0);
        CHECK_EQ(chroprof_stack(p, 0, &stack, 1), 0);
        CHECK_EQ(chroprof_walls(p, &wall, 1), 0);
        CHECK_EQ(chroprof_tables(p, &table, 1), 0);
        CHECK_EQ(chroprof_anomalies(p, &anomaly, 1), 0);
        memset(&t, 0x5a, sizeof t);
        memset(&s, 0x5a, sizeof s);
        chroprof_read_totals(p, &t);
        chroprof_read_sampler(p, &s);
        CHECK(memcmp(&t, &zero, sizeof t) == 0 && memcmp(&s, &no_sampler, sizeof s) == 0);
    }
}

/* round(weight * part / whole), the half up. */
TEST(shares_of_a_weight_are_rounded)
{
    static const struct { uint64_t weight, part, whole, want; } rows[] = {
        { 10, 1, 3, 3 }, { 10, 2, 3, 7 }, { 10, 1, 4, 3 }, { 10, 1, 20, 1 }, { 10, 1, 21, 0 },
        { 10, 0, 3, 0 }, { 10, 3, 3, 10 }, { 1, 1, 2, 1 }, { 0, 5, 9, 0 },
        { UINT64_C(0x7fffffff), 1, UINT64_C(0x7fffffff), 1 },
        { 3, UINT64_C(1) << 30, UINT64_C(1) << 31, 2 },
        { 9, UINT64_C(1) << 32, UINT64_C(3) << 31, 6 },
        { 9, UINT64_C(1) << 60, UINT64_C(9) << 59, 2 },
        { UINT64_C(1) << 40, 5, 7, UINT64_C(785365448411) },
        { UINT64_C(1) << 40, 2, 7, UINT64_C(314146179365) }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_EQ(chroprof__weigh(rows[k].weight, rows[k].part, rows[k].whole), rows[k].want);
}

/* A row from 10 to 30, of weight 8; and one of a moment. */
TEST(parts_of_rows_of_samples)
{
    static const struct { uint64_t from, to, at, duration, weight, cpu; } rows[] = {
        { 0, 100, 10, 20, 8, 5 }, { 10, 30, 10, 20, 8, 5 }, { 9, 31, 10, 20, 8, 5 },
        { 11, 30, 11, 19, 8, 0 }, { 20, 100, 20, 10, 4, 0 }, { 0, 20, 10, 10, 4, 5 },
        { 15, 25, 15, 10, 4, 0 }, { 28, 30, 28, 2, 1, 0 }, { 29, 30, 0, 0, 0, 0 },
        { 30, 40, 0, 0, 0, 0 }, { 0, 10, 0, 0, 0, 0 }, { 15, 15, 0, 0, 0, 0 },
        { 0, 11, 0, 0, 0, 0 }, { 0, 12, 10, 2, 1, 5 }, { 20, 10, 0, 0, 0, 0 }
    };
    static const struct { uint64_t from, to; bool in; } moments[] = {
        { 10, 11, true }, { 9, 11, true }, { 9, 10, false }, { 10, 10, false }, { 11, 20, false },
        { 0, UINT64_MAX, true }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof_sample_row row;
        memset(&row, 0, sizeof row);
        row.at_ns = 10;
        row.duration_ns = 20;
        row.weight = 8;
        row.cpu_ns = 5;
        CHECK(chroprof__select_sample(&row, rows[k].from, rows[k].to) == (rows[k].weight != 0));
        if (rows[k].weight == 0)
            continue;
        CHECK_EQ(row.at_ns, rows[k].at);
        CHECK_EQ(row.duration_ns, rows[k].duration);
        CHECK_EQ(row.weight, rows[k].weight);
        CHECK_EQ(row.cpu_ns, rows[k].cpu);
    }
    for (k = 0; k < sizeof moments / sizeof *moments; k++) {
        chroprof_sample_row row;
        memset(&row, 0, sizeof row);
        row.at_ns = 10;
        row.weight = 3;
        CHECK(chroprof__select_sample(&row, moments[k].from, moments[k].to) == moments[k].in);
        CHECK(row.weight == 3 && row.at_ns == 10);
    }
}

TEST(marks_have_names)
{
    static const char *const names[] = {
        "(inside chroprof)", "(frames missing)", "(unknown stack)", "(deeper frames)", "(idle)",
        "(loop)"
    };
    chroprof *p = fresh(NULL);
    chroprof_stack_frame f[8];
    uint32_t k, stack = 0;
    for (k = 0; k < 6; k++)
        stack = chroprof__intern_node(p->core, stack, chroprof__item(CHROPROF__MARK, k + 1));
    memset(f, 0x5a, sizeof f);
    CHECK_EQ(chroprof_stack(p, stack, f, 5), 6);
    for (k = 0; k < 5; k++) {
        CHECK_EQ(f[k].kind, CHROPROF_FRAME_MARKER);
        CHECK_STR(f[k].name, names[5 - k]);
        CHECK(*f[k].module == '\0' && *f[k].build_id == '\0' && f[k].address == 0);
    }
    CHECK_EQ(f[5].address, UINT64_C(0x5a5a5a5a5a5a5a5a));
    CHECK_EQ(chroprof_stack(p, 1, f, 5), 1);
    CHECK_STR(f[0].name, names[0]);
    CHECK_EQ(chroprof_stack(p, stack, NULL, 5), 6);
    CHECK_EQ(chroprof_stack(p, stack + 1, f, 5), 0);
    CHECK_EQ(chroprof_stack(p, 0, f, 5), 0);
}

/* Rows of paths that there are, and of untracked; the loop and idle have none. */
TEST(rows_of_the_wall_profile)
{
    chroprof_options o;
    chroprof_wall w[10];
    uint32_t k, samples;
    static chroprof_site sites[8];
    for (samples = 1; samples <= 2; samples++) {
        uint32_t paths = samples == 1 ? 6 : 3, rows = samples == 1 ? 4 : 3;
        chroprof *p;
        memset(&o, 0, sizeof o);
        o.max_samples = samples;
        o.max_paths = 8;
        p = fresh(&o);
        for (k = 0; k < paths; k++) {
            sites[k].name = "w";
            sites[k].line = k;
            at(p, k, ENTER, 0, &sites[k]);
            at(p, k, LEAVE, 0, NULL);
        }
        p->core->factor = UINT64_C(5) << 31;
        for (k = 0; k < p->core->tables[CHROPROF__WALLS].rows; k++) {
            chroprof__wall *row = chroprof__walls(p->core) + k;
            memset(row, 0, sizeof *row);
            row->weight[k % 3] = 10 + k;
            row->ticks[0] = 20 + k;
            row->ticks[1] = 30 + k;
            row->ticks[2] = 41 + k;
        }
        chroprof__walls(p->core)[4].weight[4 % 3] = 0;
        memset(w, 0x5a, sizeof w);
        CHECK_EQ(chroprof_walls(p, w, 10), rows);
        for (k = 0; k < rows; k++) {
            uint32_t path = k + 2 + (k >= 2);
            CHECK_EQ(w[k].path, path);
            CHECK_EQ(w[k].running, path % 3 == 0 ? 10 + path : 0);
            CHECK_EQ(w[k].ready, path % 3 == 1 ? 10 + path : 0);
            CHECK_EQ(w[k].paused, path % 3 == 2 ? 10 + path : 0);
            CHECK_EQ(w[k].running_ns, halves(20 + path));
            CHECK_EQ(w[k].ready_ns, halves(30 + path));
            CHECK_EQ(w[k].paused_ns, halves(41 + path));
        }
        CHECK_EQ(w[rows].running, UINT64_C(0x5a5a5a5a5a5a5a5a));
        memset(w, 0x5a, sizeof w);
        CHECK_EQ(chroprof_walls(p, w, 1), rows);
        CHECK_EQ(w[1].running, UINT64_C(0x5a5a5a5a5a5a5a5a));
        CHECK_EQ(chroprof_walls(p, NULL, 10), rows);
    }
    harness_keep_none();
}

TEST(figures_of_the_sampler)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof_sampler_totals t;
    s->mode = CHROPROF_SAMPLER_WALL;
    s->period_ns = 11;
    s->first_period_ns = 12;
    s->budget_ppm = 13;
    s->ticks = 14;
    s->samples = 15;
    p->core->tables[CHROPROF_TABLE_SAMPLES].used = 16;
    s->inside = 17;
    s->lost = 18;
    s->dropped = 19;
    s->cost_ns = 20;
    s->draws = 21;
    s->misses = 22;
    memset(&t, 0x5a, sizeof t);
    chroprof_read_sampler(p, &t);
    CHECK(!t.running && t.mode == CHROPROF_SAMPLER_WALL);
    CHECK(t.period_ns == 11 && t.first_period_ns == 12 && t.budget_ppm == 13 && t.ticks == 14);
    CHECK(t.samples == 15 && t.rows == 16 && t.inside == 17 && t.lost == 18 && t.dropped == 19);
    CHECK(t.cost_ns == 20 && t.draws == 21 && t.misses == 22);
    s->mode = 77;
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.mode, CHROPROF_SAMPLER_CPU);
    s->running = 1;                         /* of a process that has no timer */
    chroprof_read_sampler(p, &t);
    CHECK(!t.running);
    p->view = true;
    chroprof_read_sampler(p, &t);
    CHECK(t.running);
    s->running = 0;
    chroprof_read_sampler(p, &t);
    CHECK(!t.running);
    harness_keep_none();
}

/* From the bits that keys left behind, how many keys there were: of n bits set, each new one was as
 * many keys as places were left over, and half as many again; never more than drops. */
TEST(numbers_of_keys_that_were_dropped)
{
    uint64_t keys = 2, bits = 0;
    uint32_t n;
    for (n = 0; n <= 64; n++) {
        chroprof__table table;
        memset(&table, 0, sizeof table);
        table.wanted = bits;
        table.dropped = 100000;
        CHECK_EQ(chroprof__distinct(&table), n < 63 ? keys : 100000);
        table.dropped = keys;
        CHECK_EQ(chroprof__distinct(&table), keys);
        table.dropped = keys - 1;
        CHECK_EQ(chroprof__distinct(&table), keys - 1);
        if (n < 64) {
            bits |= UINT64_C(1) << (n * 37 + 63) % 64;
            keys += 1 + 96 / (64 - n);
        }
    }
}

static void check_advice(const chroprof *p, chroprof_table_kind kind, uint64_t dropped,
                         uint64_t wanted, uint64_t advice)
{
    chroprof__table *table = &p->core->tables[kind];
    CHECK_EQ(table_of(p, kind).advice, 0);
    table->dropped = dropped;
    table->wanted = wanted;
    CHECK_EQ(table_of(p, kind).dropped, dropped);
    CHECK_EQ(table_of(p, kind).advice, advice);
    CHECK_EQ(table_of(p, kind).capacity, table->capacity);
    CHECK_EQ(table_of(p, kind).bytes, table->bytes);
    table->dropped = table->wanted = 0;
}

TEST(figures_of_the_tables)
{
    static const uint32_t depths[][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 2, 3 }, { 1, 3 } };
    chroprof_options o;
    chroprof_table row;
    chroprof *p;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.max_futures = 11;
    o.max_sites = 12;
    o.max_paths = 13;
    o.max_edges = 14;
    o.max_depth = 3;
    o.max_histograms = 2;
    o.max_samples = 15;
    o.max_windows = 4;
    o.max_stalls = 16;
    o.string_bytes = 170;
    o.window_ns = 10;
    p = fresh(&o);
    row = table_of(p, CHROPROF_TABLE_HISTOGRAMS);
    CHECK(row.used == 0 && row.dropped == 0 && row.advice == 0);
    check_advice(p, CHROPROF_TABLE_FUTURES, 7, 99, 18);
    check_advice(p, CHROPROF_TABLE_SITES, 7, 3, 12 + 6);
    check_advice(p, CHROPROF_TABLE_PATHS, 7, 1, 13 + 4);
    check_advice(p, CHROPROF_TABLE_EDGES, 3, 3, 14 + 3);
    check_advice(p, CHROPROF_TABLE_DEPTH, 7, 2, 5);
    check_advice(p, CHROPROF_TABLE_STRINGS, 7, 30, 200);
    check_advice(p, CHROPROF_TABLE_SAMPLES, 7, 1, 19);
    for (k = 0; k < 5; k++) {
        row = table_of(p, CHROPROF_TABLE_DEPTH);
        CHECK(row.used == depths[k][0] && row.peak == depths[k][1]);
        if (k == 0)
            at(p, 0, ENTER, 0, &A);
        else if (k == 1)
            at(p, 9, ENTER, 0, &B);
        else if (k == 2) {
            at(p, 10, ENTER, 0, &C);
            CHECK_EQ(table_of(p, CHROPROF_TABLE_DEPTH).used, 3);
            at(p, 11, LEAVE, 0, NULL);
        } else if (k == 3)
            at(p, 12, LEAVE, 0, NULL);
    }
    row = table_of(p, CHROPROF_TABLE_HISTOGRAMS);
    CHECK(row.used == 2 && row.peak == 2 && row.dropped == 1 && row.advice == 3);
    row = table_of(p, CHROPROF_TABLE_STRINGS);
    CHECK_EQ(row.used, 7 + 6 + 6 + 9 + 5);
    CHECK_EQ(row.peak, row.used);
    row = table_of(p, CHROPROF_TABLE_WINDOWS);
    CHECK(row.used == 2 && row.peak == 2);
    at(p, 39, TICK, 0, NULL);
    row = table_of(p, CHROPROF_TABLE_WINDOWS);
    CHECK(row.used == 4 && row.peak == 4);
    at(p, 40, TICK, 0, NULL);
    row = table_of(p, CHROPROF_TABLE_WINDOWS);
    CHECK(row.used == 3 && row.peak == 4);
    p->core->tables[CHROPROF_TABLE_SITES].dropped = 7;
    CHECK_EQ(totals_of(p).dropped, 1 + 7);
    harness_keep_none();
}

/* Frames beyond max_depth are only counted: each end takes one, whatever kind it is of. */
TEST(hidden_frames_end_one_by_one)
{
    static const chroprof_state ends[][2] = {
        { CHROPROF_LEAVE, CHROPROF_LEAVE }, { CHROPROF_LOOP_LEAVE, CHROPROF_LOOP_LEAVE },
        { CHROPROF_SWITCH, CHROPROF_SWITCH }, { CHROPROF_PAUSED, CHROPROF_PAUSED },
        { CHROPROF_COMPLETED, CHROPROF_FAILED }, { CHROPROF_LEAVE, CHROPROF_LOOP_LEAVE }
    };
    chroprof_options o;
    size_t k;
    memset(&o, 0, sizeof o);
    o.max_depth = 1;
    for (k = 0; k < sizeof ends / sizeof *ends; k++) {
        chroprof *p = fresh(&o);
        bool ids = ends[k][0] == CHROPROF_PAUSED || ends[k][0] == CHROPROF_COMPLETED;
        at(p, 0, PENDING, 1, &B);
        at(p, 0, PENDING, 2, &C);
        at(p, 0, ENTER, 0, &A);
        at(p, 10, RUNNING, 1, NULL);
        CHECK(table_of(p, CHROPROF_TABLE_DEPTH).advice == 2 && totals_of(p).depth == 2);
        at(p, 13, RUNNING, 2, NULL);
        CHECK(totals_of(p).depth == 3 && rank_of(p, "accept").slice_max_ns == 10);
        chroprof_event(p, ends[k][0], ids ? 2 : 0, NULL, 15);
        laws(p);
        CHECK(totals_of(p).depth == 2 && totals_of(p).untracked_ns == 5);
        chroprof_event(p, ends[k][1], ids ? 1 : 0, NULL, 20);
        laws(p);
        CHECK(totals_of(p).depth == 1 && totals_of(p).untracked_ns == 10);
        at(p, 25, TICK, 0, NULL);
        CHECK(rank_of(p, "accept").exec_ns == 15 && rank_of(p, "accept").slice_max_ns == 15);
        at(p, 27, LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).turn_max_ns, 27);
        CHECK_EQ(p->paths[path_of(p, "accept").id].slice_max, 17);
        orderly(p);
        CHECK_EQ(table_of(p, CHROPROF_TABLE_DEPTH).dropped, 2);
        CHECK_EQ(table_of(p, CHROPROF_TABLE_DEPTH).advice, 3);
    }
}

/* All of them at once, and what the loop left on the stack besides. */
TEST(hidden_frames_end_with_the_turn)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_depth = 2;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 4, LOOP_ENTER, 0, NULL);
    at(p, 6, ENTER, 0, &B);
    at(p, 7, ENTER, 0, &C);
    at(p, 8, LOOP_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 5);
    at(p, 10, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    only(p, UNWOUND_BY_IDLE, 3);
    at(p, 11, IDLE_LEAVE, 0, NULL);
    at(p, 12, LOOP_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 15, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 4 + 3);
    CHECK_EQ(totals_of(p).turn_max_ns, 7);
    CHECK_EQ(totals_of(p).untracked_ns, 4);
    CHECK_EQ(totals_of(p).loop_ns, 2 + 1);
    CHECK_EQ(totals_of(p).idle_ns, 1);
    only(p, UNWOUND_BY_IDLE, 3);
}

/* The slots, then the enter-frames from below; frames from the top. */
TEST(lists_of_futures_and_frames)
{
    static const struct { uint64_t id, since, slice; const char *name; bool barrier; } want[] = {
        { 0, 40, 5, "query", false }, { 0, 30, 0, "(loop)", true }, { 0, 12, 18, "reply", false },
        { 1, 7, 5, "accept", false }
    };
    chroprof *p = fresh(NULL);
    chroprof_future f[6];
    chroprof_frame frames[6];
    size_t k, first;
    at(p, 0, PENDING, 1, &A);
    at(p, 2, PENDING, 2, &D);
    at(p, 7, RUNNING, 1, NULL);
    at(p, 12, ENTER, 0, &B);
    at(p, 20, READY, 2, NULL);
    at(p, 30, LOOP_ENTER, 0, NULL);
    at(p, 40, ENTER, 0, &C);
    at(p, 45, TICK, 0, NULL);
    memset(f, 0x5a, sizeof f);
    CHECK_EQ(chroprof_futures(p, f, 6), 4);
    first = f[0].id == 1 ? 0 : 1;
    CHECK(f[first].id == 1 && f[first].state == CHROPROF_RUNNING && f[first].since_ns == 7);
    CHECK(f[first].exec_ns == 5 && f[first].path == 3 && f[first].line == 10);
    CHECK(f[1 - first].id == 2 && f[1 - first].state == CHROPROF_READY);
    CHECK(f[1 - first].since_ns == 20 && f[1 - first].exec_ns == 0 && f[1 - first].path == 4);
    CHECK_STR(f[1 - first].name, "timer");
    CHECK(f[2].id == 0 && f[2].state == CHROPROF_RUNNING && f[2].since_ns == 12);
    CHECK(f[2].exec_ns == 18 && f[2].path == path_of(p, "accept;reply").id);
    CHECK_STR(f[2].name, "reply");
    CHECK(f[3].id == 0 && f[3].since_ns == 40 && f[3].exec_ns == 5);
    CHECK_EQ(f[3].path, path_of(p, "query").id);
    CHECK_STR(f[3].file, "db.c");
    CHECK_EQ(f[4].since_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    memset(f, 0x5a, sizeof f);
    CHECK_EQ(chroprof_futures(p, f, 3), 4);
    CHECK_EQ(f[3].since_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    memset(frames, 0x5a, sizeof frames);
    CHECK_EQ(chroprof_frames(p, frames, 6), 4);
    for (k = 0; k < 4; k++) {
        CHECK(frames[k].id == want[k].id && frames[k].since_ns == want[k].since);
        CHECK_EQ(frames[k].slice_ns, want[k].slice);
        CHECK(frames[k].barrier == want[k].barrier);
        CHECK_STR(frames[k].name, want[k].name);
    }
    CHECK(frames[0].path == path_of(p, "query").id && frames[2].line == 20);
    CHECK_EQ(frames[4].since_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    memset(frames, 0x5a, sizeof frames);
    CHECK_EQ(chroprof_frames(p, frames, 2), 4);
    CHECK_EQ(frames[2].since_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    CHECK_EQ(chroprof_frames(p, NULL, 6), 4);
    at(p, 46, LEAVE, 0, NULL);                  /* what has gone is in no list */
    CHECK_EQ(chroprof_futures(p, f, 6), 3);
    CHECK_EQ(chroprof_frames(p, frames, 6), 3);
    p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    CHECK(chroprof_futures(p, f, 6) == 1 && f[0].path == 3);
}

/* >>time: what the slow way makes of each step */

TEST(steps_of_time_at_their_bounds)
{
    const uint64_t half = UINT64_C(1) << 63, end = UINT64_C(1) << 62;
    const struct { uint64_t from, to; bool back; } rows[] = {
        { 100, 99, true }, { 100, 100, false }, { 100, 100 + end - 1, false },
        { 100, 100 + end, true }, { 100, 100 + half, true }, { 0, UINT64_MAX, true },
        { UINT64_MAX - 5, 10, false }, { half, half + 7, false }, { 100, 0, true }
    };
    chroprof_options o;
    size_t k;
    memset(&o, 0, sizeof o);
    o.max_step_ns = UINT64_MAX;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = fresh(&o);
        uint64_t step = rows[k].back ? 0 : rows[k].to - rows[k].from;
        at(p, rows[k].from, ENTER, 0, &A);
        at(p, rows[k].to, LEAVE, 0, NULL);
        CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_TIME_BACK), rows[k].back);
        CHECK_EQ(totals_of(p).elapsed_ticks, step);
        CHECK_EQ(rank_of(p, "accept").exec_ns, step);
        at(p, rows[k].to + 3, TICK, 0, NULL);
        CHECK_EQ(totals_of(p).loop_ns, step == end - 1 ? 0 : 3);
    }
}

/* A step that is too long is nobody's, and no part of the slice; an idle may be that long. */
TEST(long_steps_at_their_bound)
{
    uint64_t step;
    for (step = 49; step <= 51; step++) {
        chroprof_options o;
        uint64_t lost = step > 50 ? step : 0;
        chroprof *p;
        memset(&o, 0, sizeof o);
        o.max_step_ns = 50;
        o.max_depth = 2;
        p = fresh(&o);
        at(p, 0, ENTER, 0, &A);
        at(p, 10, ENTER, 0, &B);
        at(p, 10 + step, LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).untracked_ns, lost);
        CHECK_EQ(rank_of(p, "reply").slice_max_ns, step - lost);
        CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_LONG_STEP), lost != 0);
        at(p, 10 + 2 * step, LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).untracked_ns, 2 * lost);
        CHECK_EQ(rank_of(p, "accept").slice_max_ns, 10 + step - lost);
        at(p, 10 + 3 * step, IDLE_ENTER, 0, NULL);
        CHECK_EQ(totals_of(p).untracked_ns, 3 * lost);
        at(p, 10 + 4 * step, IDLE_LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).idle_ns, step);
        CHECK_EQ(totals_of(p).untracked_ns, 3 * lost);
        at(p, 10 + 4 * step, ENTER, 0, &A);
        at(p, 10 + 4 * step, ENTER, 0, &B);
        at(p, 12 + 4 * step, ENTER, 0, &C);             /* hidden */
        at(p, 12 + 5 * step, LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).untracked_ns, 3 * lost + step);
        at(p, 15 + 5 * step, LEAVE, 0, NULL);
        CHECK_EQ(rank_of(p, "reply").exec_ns, step - lost + 2 + 3);
        CHECK_EQ(p->paths[path_of(p, "accept;reply").id].slices, 2);
        CHECK_EQ(p->paths[path_of(p, "accept;reply").id].slice_max,
                 step - lost > 5 ? step - lost : 5);
    }
}

/* >>straight: which way an event goes where the lists of slices are full */

/* Below so many nested loops; those beyond the last level share its list. */
static void check_switches(uint32_t level)
{
    chroprof *p = fresh(NULL);
    const chroprof__biggest *turn = p->core->turn + (level < CHROPROF__LEVELS ? level : 3);
    uint64_t t = 0, id;
    uint32_t k;
    at(p, 0, TICK, 0, NULL);
    for (k = 0; k < level; k++)
        at(p, 0, LOOP_ENTER, 0, NULL);
    for (id = 1; id <= 2; id++)
        at(p, 0, PENDING, id, &A);
    at(p, 1, ENTER, 0, &B);
    at(p, 2, RUNNING, 1, NULL);
    t = 2;
    for (k = 0; k < 5; k++)                     /* slices of 10: after four the lists are full */
        goes_straight(p, CHROPROF_SWITCH, 2 - k % 2, NULL, t += 10, k >= 4);
    goes_straight(p, CHROPROF_SWITCH, 1, NULL, t += 11, false);
    goes_straight(p, CHROPROF_SWITCH, 2, NULL, t += 10, true);
    at(p, t, PAUSED, 2, NULL);
    CHECK(turn->slices[0].exec == 11 && turn->slices[3].exec == 10);
    at(p, t, LEAVE, 0, NULL);
    at(p, t, RUNNING, 1, NULL);                 /* at the base the turn's list does not matter */
    goes_straight(p, CHROPROF_SWITCH, 2, NULL, t += 10, true);
    goes_straight(p, CHROPROF_SWITCH, 1, NULL, t += 11, false);
    CHECK_EQ(p->core->pass.slices[1].exec, 11);
    at(p, t, PAUSED, 1, NULL);
    at(p, t, ENTER, 0, &B);                     /* another turn: its list is empty */
    at(p, t, RUNNING, 1, NULL);
    goes_straight(p, CHROPROF_SWITCH, 2, NULL, t += 10, false);
    CHECK_EQ(turn->count, 1);
}

TEST(switches_go_straight_below_the_floor)
{
    uint32_t level;
    for (level = 0; level <= CHROPROF__LEVELS + 2; level++)
        check_switches(level);
}

/* What only looks common: ids of 0, futures that are not there, frames of others. */
TEST(rare_events_go_the_general_way)
{
    static uint64_t stalled;           /* the profile is kept when the case has ended */
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_futures = 3;
    o.max_depth = 2;
    o.stall_ns = 100;
    o.on_stall = take_a_while;
    o.on_stall_user = &stalled;
    stalled = 0;
    p = fresh(&o);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, ENTER, 0, &B);
    at(p, 0, LEAVE, 0, NULL);
    goes_straight(p, CHROPROF_PENDING, 0, &A, 1, false);
    goes_straight(p, CHROPROF_RUNNING, 0, NULL, 1, false);
    goes_straight(p, CHROPROF_PAUSED, 0, NULL, 1, false);
    goes_straight(p, CHROPROF_COMPLETED, 0, NULL, 1, false);
    only(p, ID_ZERO, 4);
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, 1, false);
    goes_straight(p, CHROPROF_RUNNING, 7, NULL, 1, false);
    goes_straight(p, CHROPROF_PAUSED, 7, NULL, 2, false);
    goes_straight(p, CHROPROF_PENDING, 2, &A, 2, true);
    goes_straight(p, CHROPROF_PENDING, 2, &A, 2, false);         /* abandons it */
    goes_straight(p, CHROPROF_PENDING, 3, &A, 2, true);
    CHECK_EQ(totals_of(p).live, 3);
    goes_straight(p, CHROPROF_PENDING, 4, &A, 2, false);         /* the table is full */
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).dropped, 1);
    goes_straight(p, CHROPROF_RUNNING, 1, NULL, 3, true);
    goes_straight(p, CHROPROF_RUNNING, 1, NULL, 4, false);       /* its pause was lost */
    CHECK_ANOMALY(p, LOST_PAUSE, 1);
    goes_straight(p, CHROPROF_SWITCH, 1, NULL, 4, false);
    CHECK_EQ(rank_of(p, "accept").slices, 3);
    goes_straight(p, CHROPROF_READY, 1, NULL, 5, false);
    goes_straight(p, CHROPROF_PAUSED, 1, NULL, 5, false);        /* it is ready again at once */
    CHECK_EQ(future_of(p, 1).state, CHROPROF_READY);
    goes_straight(p, CHROPROF_RUNNING, 1, NULL, 6, true);
    CHECK_EQ(rank_of(p, "accept").delay_ns, 1);
    goes_straight(p, CHROPROF_ENTER, 0, NULL, 6, false);         /* no site */
    goes_straight(p, CHROPROF_ENTER, 0, &B, 6, false);           /* not yet below this one */
    goes_straight(p, CHROPROF_RUNNING, 2, NULL, 6, false);       /* no room */
    CHECK_EQ(totals_of(p).depth, 3);
    goes_straight(p, CHROPROF_PAUSED, 2, NULL, 6, false);
    at(p, 6, LEAVE, 0, NULL);
    goes_straight(p, CHROPROF_ENTER, 0, &B, 6, true);
    goes_straight(p, CHROPROF_COMPLETED, 1, NULL, 6, false);     /* buried */
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, 6, true);
    goes_straight(p, CHROPROF_PAUSED, 1, NULL, 6, false);
    CHECK_EQ(totals_of(p).depth, 0);
    goes_straight(p, CHROPROF_ENTER, 0, &B, 7, true);
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, 107, true);
    goes_straight(p, CHROPROF_ENTER, 0, &B, 107, true);
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, 208, false);       /* a stall */
    goes_straight(p, CHROPROF_RUNNING, 2, NULL, 208, true);
    goes_straight(p, CHROPROF_PAUSED, 2, NULL, 309, false);
    goes_straight(p, CHROPROF_RUNNING, 2, NULL, 309, true);
    goes_straight(p, CHROPROF_SWITCH, 3, NULL, 410, false);
    goes_straight(p, CHROPROF_COMPLETED, 3, NULL, 511, false);
    CHECK_EQ(totals_of(p).stalls, 4);
    goes_straight(p, CHROPROF_IDLE_ENTER, 0, NULL, 511, false);
    goes_straight(p, CHROPROF_ENTER, 0, &B, 512, false);         /* ends the idle */
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, 512, true);
    goes_straight(p, CHROPROF_ENTER, 0, &B, 511, false);         /* back in time */
    CHECK_ANOMALY(p, TIME_BACK, 1);
}

/* Where there are no histograms there are no percentiles, whatever lies there. */
TEST(no_percentiles_without_histograms)
{
    chroprof *p = fresh(NULL);
    chroprof_totals t;
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 1, IDLE_LEAVE, 0, NULL);
    at(p, 2, ENTER, 0, &A);
    at(p, 9, LEAVE, 0, NULL);
    at(p, 12, IDLE_ENTER, 0, NULL);
    t = totals_of(p);
    CHECK(t.pass_p50_ns == 11 && t.pass_p99_ns == 11 && t.turn_p50_ns == 7 && t.turn_p99_ns == 7);
    p->core->tables[CHROPROF_TABLE_HISTOGRAMS].rows = 0;
    t = totals_of(p);
    CHECK(t.pass_p50_ns == 0 && t.pass_p99_ns == 0 && t.turn_p50_ns == 0 && t.turn_p99_ns == 0);
    CHECK(t.pass_max_ns == 11 && t.turn_max_ns == 7);
    harness_keep_none();
}

/* Rows before the time that is asked for do not hide those in it. */
TEST(samples_of_a_time)
{
    chroprof *p = fresh(NULL);
    chroprof_sample_row rows[4];
    at(p, 0, TICK, 0, NULL);
    chroprof_sample(p, 10, 1);
    chroprof_sample(p, 20, 2);
    chroprof_sample(p, 30, 3);
    at(p, 40, TICK, 0, NULL);
    memset(rows, 0x5a, sizeof rows);
    CHECK_EQ(chroprof_samples(p, 20, 100, rows, 4), 2);
    CHECK(rows[0].at_ns == 20 && rows[0].cpu_ns == 2 && rows[1].at_ns == 30);
    CHECK_EQ(rows[2].at_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    memset(rows, 0x5a, sizeof rows);
    CHECK_EQ(chroprof_samples(p, 0, 100, rows, 2), 3);
    CHECK_EQ(rows[2].at_ns, UINT64_C(0x5a5a5a5a5a5a5a5a));
    CHECK_EQ(chroprof_samples(p, 0, 30, rows, 0), 2);
    CHECK_EQ(chroprof_samples(p, 0, 31, NULL, 4), 3);
}

/* Of slices that are as long as the shortest of a full list the earlier ones stay. */
TEST(lists_of_slices_keep_the_earlier_of_equals)
{
    chroprof_options o;
    chroprof_stall s[3];
    chroprof *p;
    uint64_t t = 0, id;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 60;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 0, IDLE_LEAVE, 0, NULL);
    at(p, 0, ENTER, 0, &B);
    for (id = 1; id <= 6; id++) {
        at(p, t, PENDING, id, &A);
        at(p, t, RUNNING, id, NULL);
        at(p, t, READY, id, NULL);              /* to be remembered: the general way */
        at(p, t += 10, PAUSED, id, NULL);
    }
    at(p, t += 10, LEAVE, 0, NULL);             /* its own slice of 10 as well */
    at(p, t, IDLE_ENTER, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, s, 3), 2);
    for (k = 0; k < 2; k++) {
        CHECK(s[k].length_ns == 70 && s[k].slice_count == 4);
        for (id = 0; id < 4; id++)
            CHECK(s[k].slices[id].id == id + 1 && s[k].slices[id].exec_ns == 10);
    }
}

#if CHROPROF__HAS_COUNTER
/* The rate of so many ns in so many ticks, which are a few more when they are read. What makes no
 * sense changes nothing. */
TEST(rates_of_long_times)
{
    static const struct { uint64_t passed, ticks, factor; } rows[] = {
        { UINT64_C(1) << 58, UINT64_C(1) << 60, UINT64_C(1) << 30 },
        { (UINT64_C(1) << 32) - 1, UINT64_C(1) << 58, 64 },
        { UINT64_C(1) << 32, UINT64_C(1) << 58, 64 }, { UINT64_C(3) << 31, UINT64_C(1) << 58, 96 },
        { UINT64_C(1) << 44, UINT64_C(1) << 58, UINT64_C(1) << 18 },
        { (UINT64_C(1) << 62) - 1, UINT64_C(1) << 61, UINT64_C(1) << 33 },
        { UINT64_C(1) << 62, UINT64_C(1) << 61, 77 }, { UINT64_C(1) << 61, UINT64_C(1) << 62, 77 },
        { UINT64_C(1) << 61, UINT64_C(1) << 63, 77 }, { 1, UINT64_C(1) << 60, 77 },
        { 0, UINT64_C(1) << 60, 77 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = fresh(NULL);
        chroprof__core *c = p->core;
        uint64_t slack = rows[k].factor >> 10;
        pretend()->seconds = 1000000;
        c->calibrated = 0;
        c->error_ppb = 5;
        c->factor = 77;
        c->calibrate_ns = UINT64_C(1000000000000000) - rows[k].passed;
        c->calibrate_counter = chroprof__counter() - rows[k].ticks;
        chroprof__calibrate(c);
        memset(pretend(), 0, sizeof *pretend());
        CHECK_IN(c->factor, rows[k].factor - slack - (rows[k].factor != 77),
                 rows[k].factor + slack);
        CHECK_EQ(c->error_ppb, rows[k].factor == 77 ? 5 : 1);
        CHECK_EQ(c->calibrated, rows[k].factor != 77);
    }
    harness_keep_none();
}
#else
TEST(rates_of_long_times) { SKIP("no counter here"); }
#endif

/* >>events: small print */

/* An id of 0 is none, in whatever state; a finish of none with a site is a stillborn. */
TEST(ids_of_zero_in_each_state)
{
    chroprof *p = fresh(NULL);
    int state, zeros = 0;
    at(p, 0, ENTER, 0, &A);
    for (state = CHROPROF_PENDING; state <= CHROPROF_CANCELLED; state++) {
        chroprof_event(p, (chroprof_state)state, 0, NULL, 1);
        laws(p);
        only(p, ID_ZERO, (uint64_t)++zeros);
        CHECK_EQ(totals_of(p).depth, 1);
    }
    at(p, 2, COMPLETED, 0, &B);
    at(p, 2, FAILED, 0, &B);
    at(p, 2, CANCELLED, 0, &C);
    only(p, ID_ZERO, (uint64_t)zeros);
    CHECK_EQ(rank_of(p, "reply").stillborn, 2);
    CHECK_EQ(rank_of(p, "query").stillborn, 1);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 3, PENDING, 5, NULL);
    CHECK_EQ(rank_of(p, "(unnamed)").line, 0);
    CHECK_ANOMALY(p, SITE_NULL, 1);
}

/* The end of an idle that was none is counted, the end of one is not. */
TEST(ends_of_idles)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_LEAVE, 0, NULL);
    only(p, IDLE_LEAVE_WITHOUT_ENTER, 1);
    at(p, 1, IDLE_ENTER, 0, NULL);
    at(p, 2, TICK, 0, NULL);
    CHECK(totals_of(p).idle);
    at(p, 3, IDLE_LEAVE, 0, NULL);
    only(p, IDLE_LEAVE_WITHOUT_ENTER, 1);
    at(p, 4, IDLE_LEAVE, 0, NULL);
    only(p, IDLE_LEAVE_WITHOUT_ENTER, 2);
    at(p, 5, IDLE_ENTER, 0, NULL);
    at(p, 6, ENTER, 0, &A);
    at(p, 6, IDLE_LEAVE, 0, NULL);
    only(p, IDLE_LEAVE_WITHOUT_ENTER, 3);
    CHECK(totals_of(p).idle_ns == 3 && totals_of(p).passes == 1);
}

/* A turn or pass that is just as long as the threshold is no stall, on either way. */
TEST(stalls_are_longer_than_the_threshold)
{
    uint64_t more;
    for (more = 0; more < 2; more++) {
        chroprof_options o;
        chroprof_stall s[5];
        chroprof *p;
        memset(&o, 0, sizeof o);
        o.stall_ns = 50;
        o.window_ns = 70;
        p = fresh(&o);
        at(p, 0, ENTER, 0, &A);
        at(p, 50 + more, LEAVE, 0, NULL);               /* the straight way */
        CHECK_EQ(totals_of(p).stalls, more);
        at(p, 60, ENTER, 0, &A);
        at(p, 110 + more, LEAVE, 0, NULL);              /* across the end of a window */
        CHECK_EQ(totals_of(p).stalls, 2 * more);
        at(p, 120, IDLE_ENTER, 0, NULL);
        at(p, 130, IDLE_LEAVE, 0, NULL);
        at(p, 131, ENTER, 0, &B);
        at(p, 132, LEAVE, 0, NULL);
        at(p, 180 + more, IDLE_ENTER, 0, NULL);
        CHECK_EQ(totals_of(p).stalls, 3 * more);
        CHECK_EQ(chroprof_stalls(p, s, 5), 3 * more);
        if (more == 0)
            continue;
        CHECK(s[2].slice_count == 1 && s[2].slices[0].exec_ns == 1);
        CHECK(s[2].length_ns == 51 && s[2].events == 3);
    }
}

/* A slice that ended when the pass began is none of its. */
TEST(slices_before_the_pass)
{
    chroprof_options o;
    chroprof_stall s;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 50;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 10, IDLE_ENTER, 0, NULL);
    at(p, 12, IDLE_LEAVE, 0, NULL);
    at(p, 12, LOOP_LEAVE, 0, NULL);
    at(p, 12, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "accept").slice_max_ns, 10);
    CHECK_EQ(totals_of(p).turn_max_ns, 10);
    at(p, 70, IDLE_ENTER, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, &s, 1), 1);
    CHECK(s.kind == CHROPROF_STALL_PASS && s.start_ns == 12 && s.slice_count == 0);
}

/* Time that goes back within the profile. */
TEST(steps_back_to_a_time_that_was)
{
    chroprof *p = fresh(NULL);
    at(p, 100, ENTER, 0, &A);
    at(p, 200, TICK, 0, NULL);
    at(p, 150, TICK, 0, NULL);
    CHECK_ANOMALY(p, TIME_BACK, 1);
    CHECK_EQ(totals_of(p).elapsed_ns, 100);
    at(p, 160, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 110);
    CHECK_ANOMALY(p, TIME_BACK, 1);
}

/* A future that runs within itself still runs when the inner stay ends, by each kind of end. */
TEST(the_outer_stay_of_a_future_goes_on)
{
    static const chroprof_state ends[] = { CHROPROF_PAUSED, CHROPROF_SWITCH, CHROPROF_LOOP_LEAVE };
    size_t k;
    for (k = 0; k < 3; k++) {
        chroprof *p = fresh(NULL);
        at(p, 0, PENDING, 1, &A);
        at(p, 1, RUNNING, 1, NULL);
        at(p, 2, PAUSED, 1, NULL);
        at(p, 2, RUNNING, 1, NULL);
        at(p, 4, LOOP_ENTER, 0, NULL);
        at(p, 5, RUNNING, 1, NULL);
        chroprof_event(p, ends[k], ends[k] == CHROPROF_PAUSED, NULL, 9);
        laws(p);
        CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
        CHECK_EQ(future_of(p, 1).exec_ns, 1 + 2 + 4);
        CHECK_EQ(totals_of(p).depth, k == 2 ? 1 : 2);
        if (k < 2)
            at(p, 10, LOOP_LEAVE, 0, NULL);
        at(p, 12, TICK, 0, NULL);
        CHECK_EQ(future_of(p, 1).exec_ns, 7 + (k < 2 ? 2 : 3));
        at(p, 13, COMPLETED, 1, NULL);
        CHECK_EQ(rank_of(p, "accept").exec_max_ns, 7 + (k < 2 ? 3 : 4));
        CHECK_EQ(rank_of(p, "accept").slices, 3);
        CHECK_EQ(rank_of(p, "accept").slice_max_ns, k < 2 ? 5 : 6);
        CHECK_EQ(chroprof_futures(p, NULL, 0), 0);
    }
}

/* A future whose id has an older one's frame: its end leaves that as it is. */
TEST(ends_above_the_frame_of_another)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 1, RUNNING, 1, NULL);
    at(p, 3, PENDING, 1, &B);
    CHECK_EQ(rank_of(p, "accept").abandoned, 1);
    at(p, 4, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "reply").completed, 1);
    CHECK_EQ(p->frames[0].kind, CHROPROF__BARRIER);
    CHECK_EQ(p->frames[1].kind, CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN | CHROPROF__NEWEST |
                                CHROPROF__OLDEST);
    at(p, 6, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 5);
    at(p, 7, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 6);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(chroprof__find(p, 1)->id, 0);
    orderly(p);
}

/* Of stalls that are equally long the earlier ones stay. */
TEST(the_first_of_equally_long_stalls)
{
    static chroprof__stall heap[4];
    uint32_t k, j;
    memset(heap, 0, sizeof heap);
    for (k = 0; k < 9; k++) {
        uint64_t starts = 0;
        chroprof__stall stall;
        memset(&stall, 0, sizeof stall);
        stall.length = 7;
        stall.start = UINT64_C(1) << k;
        chroprof__keep_longest(heap, 4, &stall);
        for (j = 0; j < 4; j++)
            starts |= heap[j].start;
        CHECK_EQ(starts, k < 4 ? (UINT64_C(2) << k) - 1 : 15);
    }
}

/* The interval that the event itself ends is of the past as well. */
TEST(the_last_interval_is_blamed)
{
    chroprof_options o;
    static uint64_t now;               /* the profile is kept when the case has ended */
    chroprof *p;
    memset(&o, 0, sizeof o);
    now = 100;
    o.clock = read_the_hand;
    o.clock_user = &now;
    p = fresh(&o);
    at(p, 100, PENDING, 9, &C);
    at(p, 110, ENTER, 0, &A);
    at(p, 120, ENTER, 0, &B);
    now = 140;
    chroprof_ready_since(p, 9, 115);
    laws(p);
    CHECK_EQ(path_of(p, "accept").blame_ns, 5);
    CHECK_EQ(path_of(p, "accept;reply").blame_ns, 20);
    CHECK_EQ(future_of(p, 9).since_ns, 15);
    now = 150;
    chroprof_tick(p);
    CHECK_EQ(path_of(p, "accept;reply").blame_ns, 30);
    CHECK_EQ(totals_of(p).loop_blame_ns, 0);
    orderly(p);
}

/* A block that is too small for samples has none, whatever happens. */
TEST(a_small_block_without_samples)
{
    chroprof_options o;
    chroprof *p = fresh(NULL);
    chroprof_sample_row row;
    chroprof_sampler_totals t;
    chroprof_stall s;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 10;
    o.stall_ns = 50;
    CHECK_EQ(chroprof_init(p, harness_memory(), 20000, &o), CHROPROF_OK);
    CHECK(capacity(SAMPLES) == 0 && sampler(p) == NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 5, IDLE_LEAVE, 0, NULL);
    at(p, 6, ENTER, 0, &A);
    chroprof_sample(p, 20, 1);
    at(p, 70, LEAVE, 0, NULL);
    at(p, 80, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 2);
    CHECK_EQ(chroprof_stalls(p, &s, 1), 1);             /* of two rows both are the pass's */
    CHECK(capacity(STALLS) == 2 && s.length_ns == 75);
    CHECK(s.sampled == 0 && s.sample_count == 0);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, &row, 1), 0);
    CHECK_EQ(chroprof_walls(p, NULL, 0), 0);
    chroprof_read_sampler(p, &t);
    CHECK(t.samples == 0 && t.ticks == 0 && t.rows == 0);
    orderly(p);
}

#define CORE_CASES                                                                                 \
    CASE(each_table_has_its_rows_and_place), CASE(tables_of_samples_grow_with_them),               \
    CASE(capacities_have_defaults_and_limits), CASE(a_table_of_2_to_the_32_rows_has_no_place),     \
    CASE(rows_cost_what_hangs_on_them), CASE(as_many_samples_as_fit),                              \
    CASE(first_needs_are_met_in_sixteenths), CASE(the_rest_is_shared_out_in_thousandths),          \
    CASE(blocks_are_shared_out), CASE(strings_are_cut_to_the_room),                                \
    CASE(sites_are_in_their_buckets), CASE(sites_without_letters),                                 \
    CASE(futures_are_found_in_a_small_table), CASE(edges_of_a_small_table),                        \
    CASE(edges_at_the_end_of_the_table), CASE(paths_of_a_small_table),                             \
    CASE(buckets_are_an_eighth_of_an_octave), CASE(windows_hold_each_tick),                        \
    CASE(windows_that_were_merged_many_times), CASE(percentiles_are_of_the_nearest_rank),          \
    CASE(percentiles_have_what_is_held_back), CASE(percentiles_of_few_and_of_many),                \
    CASE(ranks_are_in_each_order), CASE(the_horizon_is_what_comes_first),                          \
    CASE(options_become_ticks_by_the_rate), CASE(items_have_a_kind_and_56_bits),                   \
    CASE(the_ring_lies_behind_the_notes), CASE(random_numbers_are_splitmix64),                     \
    CASE(modules_end_before_their_end), CASE(nodes_are_found_until_the_table_is_full),             \
    CASE(rows_of_samples_go_round), CASE(places_of_hits), CASE(hits_take_the_time_inside),         \
    CASE(hits_of_turns_and_passes), CASE(the_last_draws_are_remembered),                           \
    CASE(draws_are_what_the_numbers_say), CASE(of_two_neighbours_one_keeps_its_stack),             \
    CASE(a_full_ring_is_thinned), CASE(times_of_samples_stay_in_the_profile),                      \
    CASE(ticks_that_are_absorbed), CASE(stacks_of_what_runs),                                      \
    CASE(a_deep_stack_ends_with_its_mark), CASE(the_past_is_blamed_on_who_was_on_top),             \
    CASE(the_biggest_slices_of_a_turn), CASE(the_longest_stalls_are_in_a_heap),                    \
    CASE(stalls_have_the_slices_of_their_turn), CASE(lists_of_slices_begin_with_their_turn),       \
    CASE(futures_of_one_id_keep_their_time), CASE(unknown_ids_above_what_is_left),                 \
    CASE(percentiles_count_each_entry_once), CASE(turns_are_counted_once),                         \
    CASE(figures_of_paths_and_sites), CASE(figures_of_the_totals),                                 \
    CASE(nothing_is_read_of_no_profile), CASE(shares_of_a_weight_are_rounded),                     \
    CASE(parts_of_rows_of_samples), CASE(marks_have_names), CASE(rows_of_the_wall_profile),        \
    CASE(figures_of_the_sampler), CASE(numbers_of_keys_that_were_dropped),                         \
    CASE(figures_of_the_tables), CASE(hidden_frames_end_one_by_one),                               \
    CASE(hidden_frames_end_with_the_turn), CASE(lists_of_futures_and_frames),                      \
    CASE(steps_of_time_at_their_bounds), CASE(long_steps_at_their_bound),                          \
    CASE(switches_go_straight_below_the_floor), CASE(rare_events_go_the_general_way),              \
    CASE(no_percentiles_without_histograms), CASE(samples_of_a_time),                              \
    CASE(lists_of_slices_keep_the_earlier_of_equals), CASE(rates_of_long_times),                   \
    CASE(ids_of_zero_in_each_state), CASE(ends_of_idles),                                          \
    CASE(stalls_are_longer_than_the_threshold), CASE(slices_before_the_pass),                      \
    CASE(steps_back_to_a_time_that_was), CASE(the_outer_stay_of_a_future_goes_on),                 \
    CASE(ends_above_the_frame_of_another), CASE(the_first_of_equally_long_stalls),                 \
    CASE(the_last_interval_is_blamed), CASE(a_small_block_without_samples)

#endif
