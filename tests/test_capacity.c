/* tests/test_capacity.c - the block: any size from the minimum up, any alignment, any capacities,
 * never a byte outside, never a law broken, and advice that helps. SEED=n replays the workload. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#endif
#include "harness.h"

enum { SITES = 12, IDS = 24 };

static const chroprof_site sites[SITES] = {
    { "s0", "workload.c", 1 },
    { "s1", "workload.c", 2 },
    { "s2 with a long name", "w", 3 },
    { "s3", NULL, 4 },
    { "s4", "workload.c", 5 },
    { "s5", "another file.c", 6 },
    { "", "", 7 },
    { "s7", "workload.c", 8 },
    { "s8", "workload.c", 9 },
    { "s9 \xc3\xa4", "workload.c", 10 },
    { "s10", "workload.c", 11 },
    { "s11", "workload.c", 12 },
};

/* ---- a workload of every kind of event, mostly orderly, the same for the same seed ---- */

static chroprof_state any_state(uint64_t *seed)
{
    static const chroprof_state often[8] = {
        CHROPROF_PENDING, CHROPROF_PENDING,   CHROPROF_RUNNING, CHROPROF_RUNNING,
        CHROPROF_PAUSED,  CHROPROF_COMPLETED, CHROPROF_ENTER,   CHROPROF_LEAVE,
    };
    uint64_t r = random_below(seed, 32);
    return r < 8 ? often[r] : (chroprof_state)random_below(seed, CHROPROF_NEXT + 1);
}

static uint64_t one_event(chroprof *p, uint64_t *seed, uint64_t now)
{
    chroprof_state state = any_state(seed);
    uint64_t id = random_below(seed, IDS);
    const chroprof_site *site = &sites[random_below(seed, SITES)];
    if (state == CHROPROF_RUNNING && random_below(seed, 4) != 0)
        site = NULL;
    now += random_below(seed, 2000);
    chroprof_event(p, state, id, site, now);
    if (random_below(seed, 16) == 0)
        chroprof_ready_since(p, id, now - random_below(seed, 300));
    return now;
}

/* every: the laws are looked at after each event whose number it divides. */
static void workload(chroprof *p, uint64_t seed, unsigned events, unsigned every)
{
    uint64_t now = 1000;
    unsigned i;
    for (i = 1; i <= events; i++) {
        now = one_event(p, &seed, now);
        if (i % every == 0)
            laws(p);
    }
    laws(p);
}

static void set_capacity(chroprof_options *o, chroprof_table_kind kind, uint32_t capacity)
{
    uint32_t *const field[CHROPROF_TABLE_COUNT] = {
        &o->max_futures,      &o->max_sites,   &o->max_paths,   &o->max_edges,     &o->max_depth,
        &o->max_histograms,   &o->max_samples, &o->max_windows, &o->max_stalls,    &o->string_bytes,
        &o->max_stack_frames, &o->max_events,  &o->max_slow,    &o->max_incidents,
    };
    *field[kind] = capacity;
}

static chroprof_options every_capacity(uint32_t capacity)
{
    chroprof_options options = { 0 };
    int kind;
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++)
        set_capacity(&options, (chroprof_table_kind)kind, capacity);
    options.clock = chroprof_clock_manual;
    options.window_ns = 1000;
    options.stall_ns = 5000;
    return options;
}

static uint64_t dropped(const chroprof *p, chroprof_table_kind kind)
{
    return table_of(p, kind).dropped;
}

/* ---- capacities ---- */

/* A block of exactly the size asked for, from the heap: sanitizers watch its ends. */
static void run_in_heap(const chroprof_options *options, unsigned events, unsigned every)
{
    chroprof p;
    size_t size = chroprof_memory_size(options);
    void *block = malloc(size);
    random_seed(1);
    CHECK(block != NULL);
    CHECK_EQ(chroprof_init(&p, block, size, options), CHROPROF_OK);
    workload(&p, harness()->seed, events, every);
    harness_keep(&p);
    free(block);
}

TEST(every_table_at_1)
{
    chroprof_options options = every_capacity(1);
    run_in_heap(&options, 20000, 1);
}

TEST(every_table_at_2)
{
    chroprof_options options = every_capacity(2);
    run_in_heap(&options, 20000, 1);
}

TEST(every_table_at_its_default)
{
    chroprof_options options = every_capacity(0);
    run_in_heap(&options, 20000, 400);
}

TEST(one_table_at_1_or_2)
{
    int kind;
    uint32_t capacity;
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++) {
        for (capacity = 1; capacity <= 2; capacity++) {
            chroprof_options options = every_capacity(64);
            options.string_bytes = 4096;
            set_capacity(&options, (chroprof_table_kind)kind, capacity);
            run_in_heap(&options, 4000, 4);
        }
    }
}

TEST(one_table_large_and_the_rest_at_1)
{
    int kind;
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++) {
        chroprof_options options = every_capacity(1);
        set_capacity(&options, (chroprof_table_kind)kind, 500);
        run_in_heap(&options, 4000, 4);
    }
}

TEST(capacities_are_as_given)
{
    chroprof_options options = every_capacity(0);
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    chroprof *p;
    int kind;
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++)
        set_capacity(&options, (chroprof_table_kind)kind, 10 + (uint32_t)kind);
    p = fresh(&options);
    CHECK_EQ(chroprof_tables(p, rows, CHROPROF_TABLE_COUNT), CHROPROF_TABLE_COUNT);
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++) {
        CHECK_EQ(rows[kind].kind, kind);
        CHECK_EQ(rows[kind].capacity, kind == CHROPROF_TABLE_EVENTS ? 64 : 10 + kind);
        CHECK_EQ(rows[kind].dropped, 0);
        CHECK_EQ(rows[kind].advice, 0);
    }
}

/* What chroprof_memory_size takes for a capacity that is not given. */
TEST(the_size_of_the_defaults)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_futures = 1024;
    o.max_sites = 64;
    o.max_paths = 256;
    o.max_edges = 512;
    o.max_depth = 64;
    o.max_histograms = 32;
    o.max_windows = 120;
    o.max_stalls = 32;
    o.max_slow = 16;
    o.max_incidents = 16;
    o.string_bytes = 4096;
    CHECK_EQ(chroprof_memory_size(NULL), chroprof_memory_size(&o));
}

/* Samples are the one table that a block with all others given may have to do without. */
TEST(no_room_is_left_for_samples)
{
    chroprof_options options = every_capacity(5);
    chroprof *p = harness_profile();
    size_t size = chroprof_memory_size(&options);
    void *memory = malloc(size);
    CHECK(memory != NULL);
    options.max_samples = 0;
    CHECK_EQ(chroprof_init(p, memory, size, &options), CHROPROF_OK);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SAMPLES).capacity, 0);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).capacity, 5);
    at(p, 10, ENTER, 0, &sites[0]);
    chroprof_sample(p, 20, 1);
    chroprof_reset(p);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SAMPLES).used, 0);
    memset(p, 0, sizeof *p);
    free(memory);
}

/* ---- sizes ---- */

static chroprof_result try_size(size_t size, const chroprof_options *options)
{
    chroprof p;
    unsigned char *block = (unsigned char *)malloc(size + 1);
    chroprof_result result;
    CHECK(block != NULL);
    memset(&p, 0xff, sizeof p);
    result = chroprof_init(&p, block, size, options);
    if (result == CHROPROF_OK)
        workload(&p, 7, 200, 20);
    else
        CHECK(p.core == NULL && *chroprof_why_off(&p));
    harness_keep(&p);
    free(block);
    return result;
}

TEST(a_block_one_byte_too_small)
{
    static const uint32_t capacities[4] = { 1, 2, 33, 500 };
    size_t i;
    for (i = 0; i < 4; i++) {
        chroprof_options options = every_capacity(capacities[i]);
        size_t size = chroprof_memory_size(&options);
        CHECK(size > 0);
        CHECK_EQ(try_size(size, &options), CHROPROF_OK);
        CHECK_EQ(try_size(size - 1, &options), CHROPROF_ERR_MEMORY);
    }
}

TEST(the_smallest_block)
{
    chroprof_options options = every_capacity(0);
    CHECK_EQ(try_size(CHROPROF_MEMORY_MIN, &options), CHROPROF_OK);
    CHECK_EQ(try_size(CHROPROF_MEMORY_MIN - 1, &options), CHROPROF_ERR_MEMORY);
    CHECK_EQ(try_size(1, &options), CHROPROF_ERR_MEMORY);
    CHECK_EQ(try_size(0, &options), CHROPROF_ERR_MEMORY);
}

TEST(sizes_from_the_minimum_up)
{
    chroprof_options options = every_capacity(0);
    size_t size, step;
    for (size = CHROPROF_MEMORY_MIN, step = 1; size < 1 << 20; size += step, step += 34)
        CHECK_EQ(try_size(size, &options), CHROPROF_OK);
    for (size = 13000; size < 15000; size++)
        CHECK_EQ(try_size(size, &options), CHROPROF_OK);
}

TEST(a_small_block_is_shared_out)
{
    chroprof_options options = every_capacity(0);
    chroprof p;
    static unsigned char block[CHROPROF_MEMORY_MIN];
    int kind;
    CHECK_EQ(chroprof_init(&p, block, sizeof block, &options), CHROPROF_OK);
    CHECK(table_of(&p, CHROPROF_TABLE_FUTURES).capacity >= 1);
    CHECK(table_of(&p, CHROPROF_TABLE_SITES).capacity >= 1);
    CHECK(table_of(&p, CHROPROF_TABLE_PATHS).capacity >= 1);
    CHECK(table_of(&p, CHROPROF_TABLE_DEPTH).capacity >= 1);
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++)
        CHECK(table_of(&p, (chroprof_table_kind)kind).bytes < sizeof block);
}

/* What is shared out to whom may be changed on purpose only. */
TEST(capacities_of_blocks_that_are_shared_out)
{
    static const struct {
        size_t size;
        uint64_t capacity[CHROPROF_TABLE_COUNT];
    } want[] = {
        { CHROPROF_MEMORY_MIN, { 1, 1, 1, 1, 1, 0, 0, 1, 1, 10, 0, 64, 0, 0 } },
        { 9664, { 2, 1, 1, 2, 1, 0, 0, 1, 1, 20, 0, 64, 0, 0 } },
        { 12000, { 13, 3, 5, 7, 3, 0, 0, 1, 1, 70, 0, 64, 0, 0 } },
        { 20000, { 66, 8, 12, 16, 8, 0, 0, 5, 2, 200, 0, 64, 0, 0 } },
        { 32768, { 200, 11, 17, 22, 10, 0, 0, 12, 2, 460, 0, 128, 0, 0 } },
        { 65536, { 423, 15, 21, 31, 14, 0, 16, 19, 3, 880, 128, 256, 0, 0 } },
        { 262144, { 1485, 56, 75, 115, 46, 20, 30, 35, 12, 4820, 380, 1024, 6, 1 } },
        { 1048576, { 4003, 220, 291, 451, 177, 101, 122, 40, 46, 20540, 2036, 8192, 28, 10 } },
    };
    unsigned char *block = (unsigned char *)harness_memory();
    size_t i, kind;
    block += (64 - (uintptr_t)block % 64) % 64;
    for (i = 0; i < sizeof want / sizeof *want; i++) {
        chroprof p;
        CHECK_EQ(chroprof_init(&p, block, want[i].size, NULL), CHROPROF_OK);
        for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++)
            CHECK_EQ(table_of(&p, (chroprof_table_kind)kind).capacity, want[i].capacity[kind]);
    }
}

TEST(more_memory_is_more_room)
{
    chroprof p;
    uint64_t futures = 0;
    size_t size;
    for (size = 1 << 14; size <= 1 << 22; size *= 4) {
        CHECK_EQ(chroprof_init(&p, harness_memory(), size, NULL), CHROPROF_OK);
        CHECK(table_of(&p, CHROPROF_TABLE_FUTURES).capacity > futures);
        futures = table_of(&p, CHROPROF_TABLE_FUTURES).capacity;
    }
}

TEST(limits_of_the_options)
{
    chroprof_options options = { 0 };
    chroprof p;
    options.max_depth = 65001;
    CHECK_EQ(chroprof_memory_size(&options), 0);
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, &options), CHROPROF_ERR_LIMIT);
    CHECK(p.core == NULL);
    options.max_depth = 0;
    options.max_futures = UINT32_MAX;
    CHECK_EQ(chroprof_memory_size(&options), 0);
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, &options), CHROPROF_ERR_LIMIT);
    options.max_futures = 1 << 20;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, &options), CHROPROF_ERR_MEMORY);
    CHECK(chroprof_memory_size(NULL) > CHROPROF_MEMORY_MIN);
}

/* ---- places ---- */

/* Bytes on both sides of the block must stay as they were. */
static void run_between_guards(unsigned char *memory, size_t offset, size_t size)
{
    enum { GUARD = 64 };
    chroprof_options options = every_capacity(0);
    chroprof p;
    size_t i;
    memset(memory, 0xa5, offset + size + GUARD);
    CHECK_EQ(chroprof_init(&p, memory + offset, size, &options), CHROPROF_OK);
    workload(&p, 3, 300, 10);
    harness_keep(&p);
    for (i = 0; i < offset; i++)
        CHECK_EQ(memory[i], 0xa5);
    for (i = offset + size; i < offset + size + GUARD; i++)
        CHECK_EQ(memory[i], 0xa5);
}

TEST(odd_alignments)
{
    unsigned char *memory = (unsigned char *)harness_memory();
    size_t offset;
    for (offset = 0; offset < 64; offset++) {
        run_between_guards(memory, offset, CHROPROF_MEMORY_MIN);
        run_between_guards(memory, offset, 40001 + 3 * offset);
    }
}

TEST(odd_alignments_with_all_capacities_given)
{
    unsigned char *memory = (unsigned char *)harness_memory();
    chroprof_options options = every_capacity(5);
    size_t size = chroprof_memory_size(&options);
    size_t offset;
    for (offset = 0; offset < 64; offset++) {
        chroprof p;
        CHECK_EQ(chroprof_init(&p, memory + offset, size, &options), CHROPROF_OK);
        workload(&p, 5, 300, 10);
        CHECK_EQ(chroprof_init(&p, memory + offset, size - 1, &options), CHROPROF_ERR_MEMORY);
    }
}

#if !defined(_WIN32)
/* size bytes of which the first (or the one after the last) touches a page nobody may touch */
static void run_at_a_page(size_t size, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size + page - 1) / page * page;
    unsigned char *map = (unsigned char *)mmap(NULL, pages + 2 * page, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    chroprof_options options = every_capacity(0);
    chroprof p;
    CHECK(map != (unsigned char *)MAP_FAILED);
    CHECK_EQ(mprotect(map, page, PROT_NONE), 0);
    CHECK_EQ(mprotect(map + page + pages, page, PROT_NONE), 0);
    CHECK_EQ(chroprof_init(&p, map + page + (at_end ? pages - size : 0), size, &options),
             CHROPROF_OK);
    workload(&p, 11, 1000, 50);
    written(&p, CHROPROF_TEXT);
    written(&p, CHROPROF_JSON);
    CHECK_EQ(munmap(map, pages + 2 * page), 0);
}
#endif

TEST(a_block_next_to_a_forbidden_page)
{
#if !defined(_WIN32)
    static const size_t sizes[5] = { CHROPROF_MEMORY_MIN, CHROPROF_MEMORY_MIN + 1, 9697, 65536,
                                     300007 };
    size_t i;
    for (i = 0; i < 5; i++) {
        run_at_a_page(sizes[i], false);
        run_at_a_page(sizes[i], true);
    }
#else
    SKIP("needs mmap");
#endif
}

/* ---- constant memory ---- */

TEST(ten_million_events_in_constant_memory)
{
    chroprof_options options = every_capacity(256);
    chroprof_table row;
    chroprof *p;
    uint64_t seed;
    uint64_t now = 0;
    long i;
    int kind;
    options.string_bytes = 4096;
    random_seed(9);
    seed = harness()->seed;
    p = fresh(&options);
    for (i = 0; i < 10000000; i++) {
        now = one_event(p, &seed, now);
        if (i % 1000000 == 0)
            laws(p);
    }
    laws(p);
    CHECK(totals_of(p).events >= 10000000);
    CHECK(totals_of(p).live <= IDS);
    for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++) {
        row = table_of(p, (chroprof_table_kind)kind);
        CHECK(row.used <= row.peak);
        CHECK(row.peak <= row.capacity);
    }
}

/* ---- handles that are no profile ---- */

static void send_everything(chroprof *p)
{
    chroprof_pending(p, 1, &sites[0]);
    chroprof_ready(p, 1);
    chroprof_ready_since(p, 1, 0);
    chroprof_running(p, 1);
    chroprof_paused(p, 1);
    chroprof_switch(p, 1);
    chroprof_completed(p, 1);
    chroprof_failed(p, 1);
    chroprof_cancelled(p, 1);
    chroprof_stillborn(p, &sites[0], CHROPROF_COMPLETED);
    chroprof_enter(p, &sites[0]);
    chroprof_next(p, &sites[0]);
    chroprof_leave(p);
    chroprof_loop_enter(p);
    chroprof_loop_leave(p);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    chroprof_tick(p);
    chroprof_event(p, CHROPROF_ENTER, 0, &sites[0], 5);
    chroprof_sample(p, 5, 5);
}

#define NO_ROWS(X)                                                                                 \
    X(chroprof_rank, chroprof_next_rank(p, &cursor, &row))                                         \
    X(chroprof_rank, chroprof_read_rank(p, 4, &row))                                               \
    X(chroprof_path, chroprof_next_path(p, &cursor, &row))                                         \
    X(chroprof_path, chroprof_read_path(p, 3, &row))                                               \
    X(chroprof_path, chroprof_read_path_alone(p, 3, &row))                                         \
    X(chroprof_site_row, chroprof_next_site(p, &cursor, &row))                                     \
    X(chroprof_future, chroprof_next_future(p, &cursor, &row))                                     \
    X(chroprof_stall, chroprof_next_stall(p, &cursor, &row))                                       \
    X(chroprof_slow, chroprof_next_slowest(p, &cursor, &row))                                      \
    X(chroprof_step, chroprof_next_step(p, &cursor, &row))                                         \
    X(chroprof_sample_row, chroprof_next_sample(p, &cursor, &row))                                 \
    X(chroprof_stack_row, chroprof_next_stack(p, &cursor, &row))                                   \
    X(chroprof_wall, chroprof_next_wall(p, &cursor, &row))                                         \
    X(chroprof_frame, chroprof_frames(p, &row, 1))                                                 \
    X(chroprof_sample_row, chroprof_samples(p, 0, UINT64_MAX, &row, 1))                            \
    X(chroprof_stack_frame, chroprof_stack(p, 1, &row, 1))                                         \
    X(chroprof_module, chroprof_modules(p, &row, 1))                                               \
    X(chroprof_wall, chroprof_walls(p, &row, 1))                                                   \
    X(chroprof_anomaly, chroprof_read_anomaly(p, CHROPROF_ANOMALY_ID_ZERO, &row))                  \
    X(uint64_t, chroprof_slice_counts(p, 4, &most, 1, &row))

#define NO_ROW(type, call)                                                                         \
    {                                                                                              \
        uint64_t cursor = 0;                                                                       \
        type row;                                                                                  \
        memset(&row, 0, sizeof row);                                                               \
        CHECK(!(call) && cursor < 9);                                                              \
    }

static void read_rows(const chroprof *p)
{
    const uint64_t most = UINT64_MAX;
    uint32_t parent;
    NO_ROWS(NO_ROW)
    CHECK(*chroprof_path_name(p, 3, &parent, NULL) == '\0');
}

static void read_everything(const chroprof *p)
{
    chroprof_totals zero;
    chroprof_totals totals = totals_of(p);
    uint64_t exec;
    memset(&zero, 0, sizeof zero);
    CHECK(memcmp(&totals, &zero, sizeof zero) == 0);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 0);
    CHECK_EQ(chroprof_futures(p, NULL, 0), 0);
    CHECK_EQ(chroprof_windows(p, NULL, 0), 0);
    CHECK_EQ(chroprof_site_windows(p, 4, &exec, 1), 0);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 0);
    CHECK(chroprof_tables(p, NULL, 0) <= CHROPROF_TABLE_COUNT);
    CHECK(chroprof_anomalies(p, NULL, 0) <= CHROPROF_ANOMALY_COUNT);
    CHECK(chroprof_check(p) == NULL);
    CHECK(p == NULL || chroprof_now(p) == 0); /* NULL: the clock of this machine */
    read_rows(p);
}

static int swallow(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return 0;
}

/* Whatever these answer: they must not crash. */
static void write_everything(chroprof *p)
{
    int format;
    FILE *out = tmpfile();
    for (format = 0; format <= CHROPROF_PROMETHEUS_ALL + 1; format++) {
        chroprof_write(p, (chroprof_format)format, swallow, NULL);
        if (out != NULL)
            chroprof_dump(p, (chroprof_format)format, out);
    }
    chroprof_write_text(p, NULL, swallow, NULL);
    if (out != NULL)
        fclose(out);
}

static chroprof_options options_of(const chroprof *p)
{
    chroprof_options options;
    chroprof_read_options(p, &options);
    return options;
}

static chroprof_sampler_totals sampler_of(const chroprof *p)
{
    chroprof_sampler_totals totals;
    chroprof_read_sampler(p, &totals);
    return totals;
}

static void use_setup(chroprof *p)
{
    const chroprof_sampler_totals nothing = sampler_of(NULL);
    const chroprof_sampler_totals sampler = sampler_of(p);
    chroprof_origin origin;
    chroprof_read_origin(p, &origin);
    CHECK(origin.pid == 0 && *origin.name == '\0' && !origin.mapped);
    CHECK_EQ(options_of(p).max_futures, 0);
    CHECK(memcmp(&sampler, &nothing, sizeof nothing) == 0);
    CHECK_EQ(chroprof_sampler_start(p, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_sampler_stack(p, &origin, sizeof origin);
    chroprof_sampler_stop(p);
#if defined(__unix__) || defined(__APPLE__)
    CHECK_EQ(chroprof_fork_child(p, NULL), CHROPROF_OK);
    chroprof_unmap(p);
#endif
}

static void use_everything(chroprof *p)
{
    send_everything(p);
    CHECK(chroprof_site_make(p, "x", "y", 1) == NULL);
    chroprof_set_enabled(p, true);
    chroprof_set_enabled(p, false);
    chroprof_reset(p);
    send_everything(p);
    read_everything(p);
    write_everything(p);
    use_setup(p);
#ifndef CHROPROF_NO_FINDINGS
    CHECK_EQ(chroprof_findings(p, NULL, 0), 0);
#endif
}

TEST(a_null_handle)
{
    use_everything(NULL);
    CHECK_EQ(chroprof_init(NULL, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_ERR_ARGUMENT);
}

TEST(a_zeroed_handle)
{
    chroprof p;
    memset(&p, 0, sizeof p);
    use_everything(&p);
}

TEST(a_handle_after_a_failed_init)
{
    chroprof p;
    memset(&p, 0xff, sizeof p);
    CHECK_EQ(chroprof_init(&p, NULL, 1 << 20, NULL), CHROPROF_ERR_ARGUMENT);
    use_everything(&p);
    memset(&p, 0xff, sizeof p);
    CHECK_EQ(chroprof_init(&p, harness_memory(), 100, NULL), CHROPROF_ERR_MEMORY);
    use_everything(&p);
}

/* The reports say it to those who did not look at the result. */
static const char *report(chroprof *p, chroprof_format format, int result)
{
    static harness_output output;
    output.used = 0;
    CHECK_EQ(chroprof_write(p, format, harness_collect, &output), result);
    output.bytes[output.used] = '\0';
    return output.bytes;
}

static void hold_why(chroprof *p, const char *why)
{
    char words[400];
    int result = options_of(p).max_futures != 0 ? 0 : -1;
    CHECK_STR(chroprof_why_off(p), why);
    snprintf(words, sizeof words, "\"why_off\":\"%s\"", why);
    CHECK(strstr(report(p, CHROPROF_JSON, result), words) != NULL);
    snprintf(words, sizeof words, "chroprof: no profile: %s\n", why);
    if (result != 0)
        CHECK_STR(report(p, CHROPROF_TEXT, -1), words);
    else
        CHECK((strstr(report(p, CHROPROF_TEXT, 0), "no events are taken:\n") != NULL) ==
              (*why != '\0'));
    if (result != 0)
        CHECK_STR(report(p, CHROPROF_FOLDED, -1), "");
}

TEST(a_report_tells_why_there_is_no_profile)
{
    chroprof p;
    chroprof_options o = every_capacity(0);
    o.clock = chroprof_clock_manual;
    memset(&p, 0, sizeof p);
    hold_why(&p, "not started: call chroprof_init or chroprof_map first");
    chroprof_init(&p, harness_memory(), 100, &o);
    hold_why(&p, chroprof_result_text(CHROPROF_ERR_MEMORY));
    chroprof_init(&p, NULL, 100, &o);
    hold_why(&p, chroprof_result_text(CHROPROF_ERR_ARGUMENT));
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, &o), CHROPROF_OK);
    hold_why(&p, "");
    chroprof_set_enabled(&p, false);
    hold_why(&p, "switched off: call chroprof_set_enabled(p, true)");
    chroprof_set_enabled(&p, true);
    hold_why(&p, "");
    CHECK(*chroprof_why_off(NULL) != '\0');
}

/* ---- a handle that was never set: whatever lay in its memory ---- */

/* A block that is read together with one. */
static void use_as_other(chroprof *good, const chroprof *p)
{
    static unsigned char memory[1 << 16];
    CHECK_EQ(chroprof_difference(good, p, memory, sizeof memory), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_difference(p, good, memory, sizeof memory), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(good, p), CHROPROF_ERR_ARGUMENT);
}

static void use_garbage(chroprof *p)
{
    static const char why[] =
        "the handle was never initialized, it holds garbage: zero it or call chroprof_init";
    chroprof before = *p, view;
    use_everything(p);
    hold_why(p, why);
    CHECK(chroprof_init(&view, harness_memory(), HARNESS_MEMORY, NULL) == CHROPROF_OK);
    use_as_other(&view, p);
    CHECK(memcmp(p, &before, sizeof before) == 0);
    CHECK(chroprof_init(p, harness_memory(), HARNESS_MEMORY, NULL) == CHROPROF_OK);
    hold_why(p, "");
}

TEST(a_handle_that_was_never_set)
{
    static const unsigned char bytes[] = { 0xff, 0xaa, 0xcd, 0x55, 1, 0x80 };
    chroprof p;
    uint64_t seed = 18;
    size_t k, at;
    for (k = 0; k < sizeof bytes; k++) {
        memset(&p, bytes[k], sizeof p);
        use_garbage(&p);
    }
    for (k = 0; k < 200; k++) {
        for (at = 0; at < sizeof p; at++)
            ((unsigned char *)&p)[at] = (unsigned char)random_below(&seed, 256);
        use_garbage(&p);
    }
}

/* Most of what lies on a stack is zero: each word alone is not. */
TEST(a_handle_that_is_zeroed_in_part)
{
    chroprof p;
    size_t at;
    for (at = 0; at + 8 <= sizeof p; at += 8) {
        memset(&p, 0, sizeof p);
        memset((char *)&p + at, 0xaa, 8);
        use_everything(&p);
        CHECK(*chroprof_why_off(&p) != '\0');
    }
    for (at = 0; at + 8 <= sizeof p; at += 8) {
        memset(&p, 0xaa, sizeof p);
        memset((char *)&p + at, 0, 8);
        use_garbage(&p);
    }
}

/* What a valid one left in the memory, at any place but its own. */
TEST(a_handle_that_lies_elsewhere)
{
    union {
        chroprof handles[3];
        unsigned char bytes[3 * sizeof(chroprof)];
    } u;
    chroprof p;
    size_t shift;
    for (shift = 4; shift < 2 * sizeof p; shift += 4) {
        memset(&u, 0, sizeof u);
        CHECK_EQ(chroprof_init(&u.handles[1], harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
        memcpy(&p, u.bytes + shift, sizeof p);
        if (shift == sizeof p)
            hold_why(&p, "");
        else
            use_everything(&p);
        CHECK((*chroprof_why_off(&p) == '\0') == (shift == sizeof p));
    }
}

TEST(every_result_has_a_text)
{
    int r;
    for (r = 0; r < CHROPROF_RESULT_COUNT; r++)
        CHECK(strlen(chroprof_result_text((chroprof_result)r)) > 1);
    CHECK(strstr(chroprof_result_text(CHROPROF_ERR_MEMORY), "max_") != NULL);
    CHECK(chroprof_result_text(CHROPROF_RESULT_COUNT) != NULL);
    CHECK(chroprof_result_text((chroprof_result)made_up(0x7fffffff)) != NULL);
}

/* A handle may be copied; both go to the same block. */
TEST(a_copied_handle)
{
    chroprof *p = fresh(NULL);
    chroprof copy;
    at(p, 0, ENTER, 0, &sites[0]);
    copy = *p;
    at(&copy, 10, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "s0").exec_ns, 10);
}

/* ---- advice ---- */

static chroprof *run_with(const chroprof_options *options)
{
    chroprof *p = fresh(options);
    workload(p, 21, 3000, 500);
    return p;
}

static chroprof_options roomy(void)
{
    chroprof_options options = every_capacity(100);
    options.max_paths = options.max_edges = 3000;
    options.max_depth = 2000;
    options.string_bytes = 8000;
    return options;
}

/* Follows the advice for one table until nothing is dropped. Returns the number of runs it took. */
static int follow_advice(chroprof_options *options, chroprof_table_kind kind)
{
    chroprof_table row = table_of(run_with(options), kind);
    int runs = 0;
    while (row.dropped > 0 && runs < 20) {
        CHECK(row.advice > row.capacity);
        set_capacity(options, kind, (uint32_t)row.advice);
        row = table_of(run_with(options), kind);
        runs++;
    }
    CHECK_EQ(row.dropped, 0);
    CHECK_EQ(row.advice, 0);
    return runs;
}

TEST(the_advised_capacity_is_enough)
{
    static const chroprof_table_kind counted[4] = {
        CHROPROF_TABLE_FUTURES,
        CHROPROF_TABLE_SITES,
        CHROPROF_TABLE_HISTOGRAMS,
        CHROPROF_TABLE_STRINGS,
    };
    size_t i;
    for (i = 0; i < 4; i++) {
        chroprof_options options = roomy();
        CHECK_EQ(dropped(run_with(&options), counted[i]), 0);
        set_capacity(&options, counted[i], 1);
        CHECK_EQ(follow_advice(&options, counted[i]), 1);
    }
}

/* What was dropped would have had children, and they children: here the advice takes some runs. */
TEST(the_advised_capacity_of_the_tree_is_enough_soon)
{
    static const chroprof_table_kind deep[3] = {
        CHROPROF_TABLE_PATHS,
        CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_DEPTH,
    };
    size_t i;
    for (i = 0; i < 3; i++) {
        chroprof_options options = roomy();
        CHECK_EQ(dropped(run_with(&options), deep[i]), 0);
        set_capacity(&options, deep[i], 1);
        CHECK_IN(follow_advice(&options, deep[i]), 1, 6);
    }
}

TEST(following_all_advice_settles)
{
    chroprof_options options = every_capacity(1);
    uint64_t drops = 1;
    int round, kind;
    for (round = 0; round < 12 && drops > 0; round++) {
        chroprof *p = run_with(&options);
        drops = totals_of(p).dropped;
        for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++) {
            chroprof_table row = table_of(p, (chroprof_table_kind)kind);
            if (row.advice != 0)
                set_capacity(&options, row.kind, (uint32_t)row.advice);
        }
    }
    CHECK_EQ(drops, 0);
}

static const test_case cases[] = {
    CASE(every_table_at_1),
    CASE(every_table_at_2),
    CASE(every_table_at_its_default),
    CASE(one_table_at_1_or_2),
    CASE(one_table_large_and_the_rest_at_1),
    CASE(capacities_are_as_given),
    CASE(the_size_of_the_defaults),
    CASE(no_room_is_left_for_samples),
    CASE(a_block_one_byte_too_small),
    CASE(the_smallest_block),
    CASE(sizes_from_the_minimum_up),
    CASE(a_small_block_is_shared_out),
    CASE(capacities_of_blocks_that_are_shared_out),
    CASE(more_memory_is_more_room),
    CASE(limits_of_the_options),
    CASE(odd_alignments),
    CASE(odd_alignments_with_all_capacities_given),
    CASE(a_block_next_to_a_forbidden_page),
    CASE(ten_million_events_in_constant_memory),
    CASE(a_null_handle),
    CASE(a_zeroed_handle),
    CASE(a_handle_that_was_never_set),
    CASE(a_handle_that_is_zeroed_in_part),
    CASE(a_handle_that_lies_elsewhere),
    CASE(a_handle_after_a_failed_init),
    CASE(a_report_tells_why_there_is_no_profile),
    CASE(every_result_has_a_text),
    CASE(a_copied_handle),
    CASE(the_advised_capacity_is_enough),
    CASE(the_advised_capacity_of_the_tree_is_enough_soon),
    CASE(following_all_advice_settles),
};

TEST_MAIN(cases)
