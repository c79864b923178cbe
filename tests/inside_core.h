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
        check_buckets(p, k < FILES ? k + 1 : FILES);
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
    for (level = 1; level < 56; level++) {
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
    static uint64_t sorted[2105];
    static chroprof__histogram h;
    static const uint32_t ranks[] = { 1, 10, 250, 500, 750, 900, 990, 999, 1000 };
    uint32_t count, k, held;
    size_t r;
    for (k = 0; k < 2105; k++)
        sorted[k] = k < 2090 ? 7 + k * k / 3 : UINT64_C(1) << (30 + k - 2090);
    for (count = 0; count <= 2105; count += count < 12 || count > 2085 ? 1 : count / 3)
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
    for (seed = 1; seed < 6; seed++)
        for (count = 1; count <= 24; count += count < 5 ? 1 : 7) {
            chroprof *p = fresh(NULL);
            run_tied_sites(p, sites, count, seed);
            for (by = 0; by <= CHROPROF_BY_CALLS + 1; by++)
                for (room = 0; room <= count + 1; room += room < 8 || room >= count - 1 ? 1 : 3)
                    check_order(p, by, room, count);
            CHECK_EQ(chroprof_ranks(p, NULL, 3, CHROPROF_BY_BLAME), count);
        }
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
    CASE(ranks_are_in_each_order)

#endif
