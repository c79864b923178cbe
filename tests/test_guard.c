/* tests/test_guard.c - memory that ends where it may not be touched, writers that fail, clocks that
 * jump, ids at the ends of their range. Every public function that takes memory, every output
 * format. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "../examples/adapters/chroprof_query.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/epoll.h>
#ifdef __mips__
#define MASK_BYTES 16 /* of the kernel's signal set */
#else
#define MASK_BYTES 8
#endif
#endif

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };

/* >>memory between two forbidden pages */

typedef struct area {
    unsigned char *map, *bytes;
    size_t whole;
} area;

/* size bytes that touch the page behind them, or, at_end false, the one before. */
static area area_of(size_t size, bool at_end)
{
    area a = { NULL, NULL, 0 };
#if !defined(_WIN32)
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page * page;
    void *map;
    a.whole = pages + 2 * page;
    map = mmap(NULL, a.whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    a.map = (unsigned char *)map;
    CHECK_EQ(mprotect(a.map, page, PROT_NONE), 0);
    CHECK_EQ(mprotect(a.map + page + pages, page, PROT_NONE), 0);
    a.bytes = a.map + page + (at_end ? pages - size : 0);
#else
    (void)size;
    (void)at_end;
    SKIP("needs mmap");
#endif
    return a;
}

static void drop(area a)
{
#if !defined(_WIN32)
    CHECK_EQ(munmap(a.map, a.whole), 0);
#else
    (void)a;
#endif
}

/* A copy of these bytes that ends at a forbidden page; strings with their NUL, and structs. */
static area copy_at_end(const void *bytes, size_t size)
{
    area a = area_of(size, true);
    memcpy(a.bytes, bytes, size);
    return a;
}

/* A handle that ends at a forbidden page. */
static chroprof *handle_in(area a)
{
    void *at_handle = a.bytes;
    return (chroprof *)at_handle;
}

/* >>scene */

static chroprof_options small_options(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 50;
    o.stall_ns = 60;
    o.name = "guarded";
    return o;
}

/* Every kind of event, through the calls that have a name and through the gate. */
static void every_event(chroprof *p, uint64_t *now)
{
    const chroprof_site *made = chroprof_site_make(p, "made", "guard.c", 3);
    uint64_t id;
    for (id = 1; id < 9; id++) {
        chroprof_event(p, CHROPROF_TICK, 0, NULL, *now += 13);
        chroprof_pending(p, id, id % 2 ? &A : &B);
        chroprof_ready(p, id);
        chroprof_running(p, id);
        chroprof_event(p, CHROPROF_ENTER, 0, &C, *now += 40);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, *now += 20);
        chroprof_waited(p, "poll", "ask", *now - 15);
        chroprof_enter(p, made);
        chroprof_next(p, &A);
        chroprof_loop_enter(p);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, *now += 30);
        chroprof_loop_leave(p);
        chroprof_leave(p);
        chroprof_leave(p);
        chroprof_switch(p, id / 2);
        chroprof_ready_since(p, id, *now - 5);
        chroprof_paused(p, id);
        chroprof_idle_enter(p);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, *now += 70);
        chroprof_idle_leave(p);
        chroprof_stillborn(p, &C, CHROPROF_FAILED);
    }
    chroprof_failed(p, 1);
    chroprof_cancelled(p, 2);
    chroprof_completed(p, 3);
    chroprof_tick(p);
}

static void profile_in(chroprof *p, area a, size_t size)
{
    chroprof_options o = small_options();
    uint64_t now = 0;
    CHECK_EQ(chroprof_init(p, a.bytes, size, &o), CHROPROF_OK);
    every_event(p, &now);
    laws(p);
}

static int read_bytes(void *user, const void *bytes, size_t count)
{
    uint64_t *sum = (uint64_t *)user;
    size_t i;
    for (i = 0; i < count; i++)
        *sum += ((const unsigned char *)bytes)[i];
    return 0;
}

static uint64_t every_output(chroprof *p)
{
    const chroprof_text_options look = { 200, 40, CHROPROF_BY_CALLS, true, true };
    const chroprof_prometheus_options top = { 1, CHROPROF_BY_BLAME };
    area look_area = copy_at_end(&look, sizeof look), top_area = copy_at_end(&top, sizeof top);
    const void *at_look = look_area.bytes, *at_top = top_area.bytes;
    uint64_t sum = 0;
    int f;
    chroprof_show_ids(p, NULL, NULL);
    for (f = 0; f <= CHROPROF_PPROF; f++)
        CHECK_EQ(chroprof_write(p, (chroprof_format)f, read_bytes, &sum), 0);
    CHECK_EQ(chroprof_write(p, CHROPROF_PROMETHEUS_ALL, read_bytes, &sum), 0);
    CHECK_EQ(chroprof_write_text(p, (const chroprof_text_options *)at_look, read_bytes, &sum), 0);
    CHECK_EQ(
        chroprof_write_prometheus(p, (const chroprof_prometheus_options *)at_top, read_bytes, &sum),
        0);
    drop(look_area), drop(top_area);
    return sum;
}

static void dump_all(chroprof *p)
{
    FILE *out = fopen(scratch("guard.dump"), "w");
    int f;
    CHECK(out != NULL);
    for (f = 0; f <= CHROPROF_PPROF; f++)
        CHECK_EQ(chroprof_dump(p, (chroprof_format)f, out), 0);
    CHECK_EQ(chroprof_dump(p, CHROPROF_PROMETHEUS_ALL, out), 0);
    fclose(out);
    remove(scratch("guard.dump"));
}

static size_t next_windows(const chroprof *p, chroprof_window *rows, size_t capacity)
{
    chroprof_windows_cursor cursor;
    memset(&cursor, 0, sizeof cursor);
    return chroprof_next_windows(p, &cursor, rows, capacity);
}

static size_t next_site_windows(const chroprof *p, uint64_t *rows, size_t capacity)
{
    chroprof_windows_cursor cursor;
    memset(&cursor, 0, sizeof cursor);
    return chroprof_next_site_windows(p, 4, &cursor, rows, capacity);
}

/* Lists into memory that has room for exactly `capacity` rows, up to one more than there are. */
#define LISTS(X)                                                                                   \
    X(chroprof_task_wait, chroprof_task_waits(p, rows, capacity))                                  \
    X(chroprof_rank, chroprof_ranks(p, rows, capacity, CHROPROF_BY_DELAY))                         \
    X(chroprof_path, chroprof_paths(p, rows, capacity))                                            \
    X(chroprof_future, chroprof_futures(p, rows, capacity))                                        \
    X(chroprof_window, chroprof_windows(p, rows, capacity))                                        \
    X(chroprof_window, chroprof_windows_from(p, 1, rows, capacity))                                \
    X(chroprof_window, next_windows(p, rows, capacity))                                            \
    X(uint64_t, chroprof_site_windows(p, 4, rows, capacity))                                       \
    X(uint64_t, next_site_windows(p, rows, capacity))                                              \
    X(uint64_t, chroprof_site_windows_from(p, 4, 1, rows, capacity))                               \
    X(chroprof_stall, chroprof_stalls(p, rows, capacity))                                          \
    X(chroprof_step, chroprof_timeline(p, 0, UINT64_MAX, rows, capacity))                          \
    X(chroprof_step, chroprof_incident(p, 1, rows, capacity))                                      \
    X(chroprof_frame, chroprof_frames(p, rows, capacity))                                          \
    X(chroprof_table, chroprof_tables(p, rows, capacity))                                          \
    X(chroprof_anomaly, chroprof_anomalies(p, rows, capacity))

#define TRY_LIST(type, call)                                                                       \
    {                                                                                              \
        size_t capacity = 0, count;                                                                \
        type *rows = NULL;                                                                         \
        count = call;                                                                              \
        CHECK(count > 0);                                                                          \
        for (capacity = 0; capacity <= count + 1; capacity++) {                                    \
            area a = area_of((capacity + (capacity == 0)) * sizeof(type), true);                   \
            void *memory = a.bytes;                                                                \
            rows = (type *)memory;                                                                 \
            CHECK_EQ(call, count);                                                                 \
            drop(a);                                                                               \
        }                                                                                          \
    }

static void every_list(const chroprof *p)
{
    LISTS(TRY_LIST)
}

/* One row of each cursor, and rows by their ids, at a forbidden page; as many as there are. */
#define CURSORS(X)                                                                                 \
    X(chroprof_rank, chroprof_next_rank(p, &cursor, row))                                          \
    X(chroprof_path, chroprof_next_path(p, &cursor, row))                                          \
    X(chroprof_future, chroprof_next_future(p, &cursor, row))                                      \
    X(chroprof_stall, chroprof_next_stall(p, &cursor, row))                                        \
    X(chroprof_step, chroprof_next_step(p, &cursor, row))                                          \
    X(chroprof_sample_row, chroprof_next_sample(p, &cursor, row))                                  \
    X(chroprof_stack_row, chroprof_next_stack(p, &cursor, row))                                    \
    X(chroprof_wall, chroprof_next_wall(p, &cursor, row))                                          \
    X(chroprof_rank, chroprof_read_rank(p, (uint32_t)cursor++, row) || cursor < 9)                 \
    X(chroprof_path, chroprof_read_path(p, (uint32_t)cursor++, row) || cursor < 9)                 \
    X(chroprof_path, chroprof_read_path_alone(p, (uint32_t)cursor++, row) || cursor < 9)           \
    X(chroprof_site_row, chroprof_next_site(p, &cursor, row))                                      \
    X(uint64_t, chroprof_slice_counts(p, (uint32_t)cursor++, &most, 1, row) || cursor < 9)         \
    X(chroprof_module, chroprof_modules(p, row, 1) > ++cursor)                                     \
    X(chroprof_anomaly, chroprof_read_anomaly(p, (chroprof_anomaly_kind)cursor++, row))            \
    X(chroprof_options, (chroprof_read_options(p, row), cursor++ < 1))

#define TRY_CURSOR(type, call)                                                                     \
    {                                                                                              \
        uint64_t cursor = 0;                                                                       \
        area a = area_of(sizeof(type), true);                                                      \
        void *memory = a.bytes;                                                                    \
        type *row = (type *)memory;                                                                \
        while (call) {}                                                                            \
        CHECK(cursor > 0);                                                                         \
        drop(a);                                                                                   \
    }

static void every_cursor(const chroprof *p)
{
    area at_parent = area_of(sizeof(uint32_t), true);
    void *parent = at_parent.bytes;
    const uint64_t most = UINT64_MAX;
    CURSORS(TRY_CURSOR)
    CHECK(chroprof_path_name(p, 3, (uint32_t *)parent, NULL) != NULL);
    CHECK_STR(chroprof_why_off(p), "");
    drop(at_parent);
}

/* Small blocks have no room for any. */
static void every_slow_future(const chroprof *p)
{
    size_t count = chroprof_slowest(p, NULL, 0), seen = 0;
    area rows = area_of((count + (count == 0)) * sizeof(chroprof_slow), true);
    void *memory = rows.bytes;
    uint64_t cursor = 0;
    CHECK_EQ(chroprof_slowest(p, (chroprof_slow *)memory, count), count);
    while (chroprof_next_slowest(p, &cursor, (chroprof_slow *)memory + (count > 0 ? count - 1 : 0)))
        seen++;
    CHECK_EQ(seen, count);
    drop(rows);
}

#ifndef CHROPROF_NO_FINDINGS
static void every_finding(const chroprof *p)
{
    TRY_LIST(chroprof_finding, chroprof_findings(p, rows, capacity))
}
#endif

/* >>cases of memory */

TEST(every_call_on_a_block_at_a_forbidden_page)
{
    static const size_t sizes[] = { CHROPROF_MEMORY_MIN, CHROPROF_MEMORY_MIN + 1, 9503, 65537 };
    size_t k;
    int end;
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (end = 0; end < 2; end++) {
            area a = area_of(sizes[k], end != 0), handle = area_of(sizeof(chroprof), true);
            chroprof *p = handle_in(handle);
            profile_in(p, a, sizes[k]);
            CHECK(every_output(p) > 0);
            dump_all(p);
            CHECK(chroprof_now(p) > 0);
            CHECK(!chroprof_began(p, chroprof_now(NULL))); /* it has had events */
            CHECK(chroprof_to_ns(p, 1000) > 0);
            chroprof_sampler_stack(p, a.bytes, sizes[k]);
            chroprof_sampler_stack(p, NULL, 0);
            chroprof_sampler_halt(p);
            chroprof_sampler_went_on(p, 1);
            chroprof_set_cpu_clock(p, 1);
            CHECK(chroprof_last_event(p) > 0);
            chroprof_set_enabled(p, false);
            chroprof_set_enabled(p, true);
            chroprof_reset(p);
            CHECK(chroprof_check(p) == NULL);
            drop(a), drop(handle);
        }
}

/* The block ends at a forbidden page, whatever its alignment. */
TEST(every_alignment_at_a_forbidden_page)
{
    size_t k;
    for (k = 0; k < 64; k++) {
        area a = area_of(CHROPROF_MEMORY_MIN + k, true);
        chroprof p;
        profile_in(&p, a, CHROPROF_MEMORY_MIN + k);
        CHECK(every_output(&p) > 0);
        drop(a);
    }
}

TEST(lists_fill_no_more_than_they_may)
{
    chroprof_options o = small_options();
    area handle = copy_at_end(fresh(&o), sizeof(chroprof));
    chroprof *p = handle_in(handle);
    uint64_t now = 0;
    every_event(p, &now);
    at(p, now, RUNNING, 5, NULL);
    at(p, now, LOOP_ENTER, 0, NULL);
    at(p, now, ENTER, 0, &A);
    every_list(p);
#ifndef CHROPROF_NO_FINDINGS
    every_finding(p);
#endif
    drop(handle);
}

TEST(structs_and_strings_at_a_forbidden_page)
{
    chroprof_options o = small_options();
    area name = copy_at_end("edge", 5), file = copy_at_end("f", 2), options, site, totals, origin;
    chroprof_site content;
    chroprof p;
    void *at_site, *at_options, *at_totals, *at_origin;
    o.name = (const char *)name.bytes;
    content.name = (const char *)name.bytes;
    content.file = (const char *)file.bytes;
    content.line = 1;
    options = copy_at_end(&o, sizeof o);
    site = copy_at_end(&content, sizeof content);
    totals = area_of(sizeof(chroprof_totals), true);
    origin = area_of(sizeof(chroprof_origin), true);
    at_site = site.bytes;
    at_options = options.bytes;
    at_totals = totals.bytes;
    at_origin = origin.bytes;
    CHECK_EQ(chroprof_init(&p, harness_memory(), 40000, (const chroprof_options *)at_options),
             CHROPROF_OK);
    CHECK(chroprof_memory_size((const chroprof_options *)at_options) > 0);
    chroprof_event(&p, CHROPROF_ENTER, 0, (const chroprof_site *)at_site, 5);
    chroprof_waited(&p, (const char *)name.bytes, (const char *)file.bytes, 5);
    chroprof_kept_awake(&p, (const char *)name.bytes);
    CHECK_STR(chroprof_awake_by(&p), "edge");
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 9);
    CHECK(chroprof_site_make(&p, (const char *)name.bytes, (const char *)file.bytes, 1) != NULL);
    chroprof_read_totals(&p, (chroprof_totals *)at_totals);
    chroprof_read_origin(&p, (chroprof_origin *)at_origin);
    CHECK_STR(((chroprof_origin *)at_origin)->name, "edge");
    CHECK_EQ(((chroprof_totals *)at_totals)->elapsed_ns, 4);
    chroprof_exiting(&p, 0);
    CHECK_EQ(rank_of(&p, "edge").calls, 1);
    drop(name), drop(file), drop(options), drop(site), drop(totals), drop(origin);
}

/* Every beginning of a query, and what it asks for. */
TEST(queries_at_a_forbidden_page)
{
    static const char whole[] = "format=json&seconds=50&other&format=pprof";
    area out = area_of(sizeof(chroprof_query), true);
    void *asked = out.bytes;
    char text[sizeof whole];
    size_t k;
    for (k = 0; k < sizeof whole; k++) {
        area query;
        memcpy(text, whole, k);
        text[k] = '\0';
        query = copy_at_end(text, k + 1);
        (void)chroprof_parse_query((const char *)query.bytes, (chroprof_query *)asked);
        drop(query);
    }
    CHECK_EQ(((chroprof_query *)asked)->seconds, 50);
    CHECK_EQ(((chroprof_query *)asked)->format, CHROPROF_PPROF);
    drop(out);
}

/* So may the name of a struct, and one that is longer than all. */
TEST(sizes_at_a_forbidden_page)
{
    static const char whole[] = "chroprof_prometheus_options_and_more";
    char text[sizeof whole];
    size_t k;
    for (k = 0; k < sizeof whole; k++) {
        area name;
        memcpy(text, whole, k);
        text[k] = '\0';
        name = copy_at_end(text, k + 1);
        CHECK_EQ(chroprof_sizeof((const char *)name.bytes),
                 k == 8    ? sizeof(chroprof)
                 : k == 27 ? sizeof(chroprof_prometheus_options)
                           : 0);
        drop(name);
    }
    CHECK_EQ(chroprof_sizeof(NULL), 0);
}

/* A block that is opened, copied or compared ends at a forbidden page, and so do the copy and the
 * handles. */
TEST(copies_at_a_forbidden_page)
{
    area handles[3];
    chroprof *p, *view, *older;
    size_t size = CHROPROF_MEMORY_MIN, k;
    for (k = 0; k < 64; k += 7) {
        area live = area_of(size + k, true), to = area_of(size + k, true);
        area other = area_of(size + 2 * k, true);
        uint64_t now = 10000;
        size_t h;
        for (h = 0; h < 3; h++)
            handles[h] = area_of(sizeof(chroprof), true);
        p = handle_in(handles[0]), view = handle_in(handles[1]), older = handle_in(handles[2]);
        profile_in(p, live, size + k);
        CHECK_EQ(chroprof_snapshot_ended(live.bytes, size + k, to.bytes, size + k), CHROPROF_OK);
        CHECK_EQ(chroprof_snapshot(live.bytes, size + k, to.bytes, size + k), CHROPROF_OK);
        CHECK_EQ(chroprof_open(older, to.bytes, size + k), CHROPROF_OK);
        CHECK(every_output(older) > 0);
        laws(older);
        every_event(p, &now);
        CHECK_EQ(chroprof_difference(p, older, other.bytes, size + 2 * k), CHROPROF_OK);
        CHECK_EQ(chroprof_open(view, other.bytes, size + 2 * k), CHROPROF_OK);
        CHECK(every_output(view) > 0);
        CHECK_EQ(chroprof_open(view, live.bytes, size + k), CHROPROF_OK);
        drop(live), drop(to), drop(other);
        for (h = 0; h < 3; h++)
            drop(handles[h]);
    }
}

/* One from outside: addresses, module and origin end at a forbidden page. */
static void every_stack(chroprof *p, uint64_t now)
{
    static const uint64_t addresses[] = { 0x1010, 0x1020, 0, 0x1030 };
    area stack = copy_at_end(addresses, sizeof addresses), named, whose, seen, part;
    chroprof_task_wait wait;
    void *at = stack.bytes;
    chroprof_module module;
    chroprof_origin origin;
    memset(&module, 0, sizeof module);
    module.path = module.build_id = "one";
    module.start = 0x1000;
    module.end = 0x2000;
    named = copy_at_end(&module, sizeof module);
    CHECK_EQ(chroprof_add_module(p, (const chroprof_module *)(void *)named.bytes), CHROPROF_OK);
    CHECK_EQ(chroprof_sample_stack(p, now, 1, (const uint64_t *)at, 4), CHROPROF_OK);
    chroprof_read_origin(p, &origin);
    whose = copy_at_end(&origin, sizeof origin);
    chroprof_set_origin(p, (const chroprof_origin *)(void *)whose.bytes);
    memset(&wait, 0, sizeof wait);
    wait.name = wait.file = wait.call = wait.within = "one";
    wait.count = wait.total_ns = wait.longest_ns = 1;
    seen = copy_at_end(&wait, sizeof wait);
    (void)chroprof_add_wait(p, (const chroprof_task_wait *)(void *)seen.bytes);
    (void)chroprof_name_held(p, CHROPROF_FINDING_STALL, 1, 1000, "one");
    part = area_of(sizeof(uint32_t), true);
    (void)chroprof_held_by(p, CHROPROF_FINDING_STALL, 1, (uint32_t *)(void *)part.bytes);
    drop(stack), drop(named), drop(whose), drop(seen), drop(part);
}

/* Samples by hand in each state, and where there is a timer some of its own. */
static void every_sample(chroprof *p, uint64_t *now)
{
    uint64_t k;
    for (k = 0; k < 40; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, k % 3 ? &A : &B, *now += 30);
        chroprof_event(p, CHROPROF_ENTER, 0, &C, *now += 30);
        chroprof_sample(p, *now += 30, k % 4);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, *now += 30);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, *now += 30);
        chroprof_sample(p, *now += 30, 0);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, *now += 30);
        chroprof_sample(p, *now += 30, 0);
        every_stack(p, *now += 30);
    }
}

/* Until a draw met a future; NULL, or why there is none. */
static const char *draw_some(chroprof *p, uint64_t *now)
{
    area options, totals = area_of(sizeof(chroprof_sampler_totals), true);
    void *at_options, *at_totals = totals.bytes;
    chroprof_sampler_totals *t = (chroprof_sampler_totals *)at_totals;
    chroprof_sampler_options o;
    chroprof_result result;
    unsigned long k;
    uint64_t draws = 0;
    memset(&o, 0, sizeof o);
    o.mode = CHROPROF_SAMPLER_WALL;
    o.period_ns = 200000;
    o.budget_ppm = 1000000;
    options = copy_at_end(&o, sizeof o);
    at_options = options.bytes;
    result = chroprof_sampler_start(p, (const chroprof_sampler_options *)at_options);
    drop(options);
    if (result != CHROPROF_OK)
        return chroprof_result_text(result);
    chroprof_event(p, CHROPROF_PENDING, 77, &A, *now += 1);
    for (k = 0; draws == 0 && k < 30000000; k++) {
        if (k % 10000 != 0)
            continue;
        chroprof_event(p, CHROPROF_TICK, 0, NULL, *now += 1);
        chroprof_read_sampler(p, t);
        draws = t->draws;
    }
    chroprof_sampler_stop(p);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, *now += 1);
    drop(totals);
    return draws > 0 ? NULL : "no tick came";
}

#define LISTS_OF_SAMPLES(X)                                                                        \
    X(chroprof_sample_row, chroprof_samples(p, 0, UINT64_MAX, rows, capacity))                     \
    X(chroprof_sample_row, chroprof_samples(p, 1, UINT64_MAX - 1, rows, capacity))                 \
    X(chroprof_stack_frame, chroprof_stack(p, 1, rows, capacity))

static void every_sample_list(const chroprof *p)
{
    LISTS_OF_SAMPLES(TRY_LIST)
}

static void every_wall(const chroprof *p){ TRY_LIST(chroprof_wall,
                                                    chroprof_walls(p, rows, capacity)) }

TEST(samples_at_a_forbidden_page)
{
    const char *without_draws = NULL;
    size_t k;
    for (k = 0; k < 64; k += 9) {
        chroprof_options o = small_options();
        size_t size = 40000 + k;
        area live = area_of(size, true), to = area_of(size, true), since = area_of(size, true);
        area sum = area_of(2 * size, true);
        chroprof p, older, view, merged;
        uint64_t now = 0;
        o.max_samples = 12;
        CHECK_EQ(chroprof_init(&p, live.bytes, size, &o), CHROPROF_OK);
        every_event(&p, &now);
        every_sample(&p, &now);
        every_sample_list(&p);
        CHECK_EQ(chroprof_snapshot(live.bytes, size, to.bytes, size), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&older, to.bytes, size), CHROPROF_OK);
        every_sample_list(&older);
        without_draws = draw_some(&p, &now);
        if (without_draws == NULL) {
            every_wall(&p);
            every_slow_future(&p);
            every_cursor(&p);
        }
        every_sample(&p, &now);
        CHECK(every_output(&p) > 0);
        CHECK_EQ(chroprof_difference(&p, &older, since.bytes, size), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&view, since.bytes, size), CHROPROF_OK);
        CHECK(every_output(&view) > 0);
        laws(&view);
        CHECK_EQ(chroprof_init(&merged, sum.bytes, 2 * size, &o), CHROPROF_OK);
        CHECK_EQ(chroprof_merge(&merged, &p), CHROPROF_OK);
        CHECK_EQ(chroprof_merge(&merged, &view), CHROPROF_OK);
        laws(&merged);
        CHECK(every_output(&merged) > 0);
        drop(live), drop(to), drop(since), drop(sum);
    }
    if (without_draws != NULL)
        SKIP("chroprof_walls was not called: %s", without_draws);
}

/* The path, the options and the handle end at a forbidden page; the block is a mapping of its own. */
TEST(a_profile_in_a_file)
{
#if !defined(_WIN32)
    chroprof_options o = small_options();
    area options = copy_at_end(&o, sizeof o), handle = area_of(sizeof(chroprof), true);
    area path, child;
    void *at_options = options.bytes;
    const chroprof_options *small = (const chroprof_options *)at_options;
    chroprof *p = handle_in(handle);
    char text[300];
    snprintf(text, sizeof text, "%s-%ld", scratch("guard"), (long)getpid());
    path = copy_at_end(text, strlen(text) + 1);
    CHECK_EQ(chroprof_map(p, (const char *)path.bytes, 0, small), CHROPROF_OK);
    CHECK_EQ(chroprof_file_owner((const char *)path.bytes), CHROPROF_ERR_OWNED);
    chroprof_enter(p, &A);
    text[strlen(text) - 1] ^= 1; /* another name of the same length */
    child = copy_at_end(text, strlen(text) + 1);
    CHECK_EQ(chroprof_fork_child(p, (const char *)child.bytes), CHROPROF_OK);
    CHECK_EQ(totals_of(p).events, 0);
    chroprof_enter(p, &A);
    CHECK_EQ(rank_of(p, "accept").calls, 1);
    CHECK_EQ(chroprof_fork_child(p, NULL), CHROPROF_OK);
    CHECK_EQ(totals_of(p).events, 0);
    chroprof_unmap(p);
    CHECK(p->core == NULL);
    CHECK_EQ(unlink((const char *)path.bytes), 0);
    CHECK_EQ(unlink(text), 0);
    drop(path), drop(child), drop(options), drop(handle);
#else
    SKIP("needs mmap");
#endif
}

#ifdef __linux__
static chroprof *waits; /* whose idle this program's epoll_pwait is */
CHROPROF_EPOLL_IDLE(waits);

/* Two descriptors are ready, and there is room for one event. */
TEST(events_and_mask_at_a_forbidden_page)
{
    area block = area_of(1 << 16, true), mask = area_of(MASK_BYTES, true);
    area events = area_of(sizeof(struct epoll_event), true);
    void *at_mask = mask.bytes, *at_events = events.bytes;
    struct epoll_event wanted;
    int poller = epoll_create1(0), ends[2];
    chroprof p;
    profile_in(&p, block, 1 << 16);
    CHECK_EQ(pipe(ends), 0);
    wanted.events = EPOLLIN;
    wanted.data.fd = ends[0];
    CHECK_EQ(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &wanted), 0);
    wanted.events = EPOLLOUT;
    CHECK_EQ(epoll_ctl(poller, EPOLL_CTL_ADD, ends[1], &wanted), 0);
    CHECK_EQ(write(ends[1], "", 1), 1);
    waits = &p;
    CHECK_EQ(epoll_pwait(poller, (struct epoll_event *)at_events, 1, 100, (sigset_t *)at_mask), 1);
    waits = NULL;
    CHECK_EQ(epoll_wait(poller, (struct epoll_event *)at_events, 1, 100), 1);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0 && close(poller) == 0);
    CHECK(chroprof_check(&p) == NULL);
    drop(events), drop(mask), drop(block);
}
#endif

/* Any number of its bytes: an error, and not one byte more is read. */
TEST(pieces_of_a_block_at_a_forbidden_page)
{
    area live = area_of(CHROPROF_MEMORY_MIN, false);
    area to = area_of(CHROPROF_MEMORY_MIN, true);
    chroprof p, view;
    size_t size;
    profile_in(&p, live, CHROPROF_MEMORY_MIN);
    for (size = 0; size + 200 < CHROPROF_MEMORY_MIN; size += size < 300 ? 1 : 97) {
        area piece = copy_at_end(live.bytes, size != 0 ? size : 1);
        CHECK(chroprof_open(&view, piece.bytes, size) != CHROPROF_OK);
        CHECK(chroprof_snapshot(piece.bytes, size, to.bytes, CHROPROF_MEMORY_MIN) != CHROPROF_OK);
        CHECK(view.core == NULL);
        drop(piece);
    }
    for (size = 0; size + 200 < CHROPROF_MEMORY_MIN; size += 97) {
        area small = area_of(size != 0 ? size : 1, true);
        CHECK_EQ(chroprof_snapshot(live.bytes, CHROPROF_MEMORY_MIN, small.bytes, size),
                 CHROPROF_ERR_MEMORY);
        CHECK_EQ(chroprof_difference(&p, &p, small.bytes, size), CHROPROF_ERR_MEMORY);
        drop(small);
    }
    drop(live), drop(to);
}

/* >>writers that fail at their k-th call */

typedef struct stubborn {
    unsigned calls, fails_at;
    bool called_again;
} stubborn;

static int fail_once(void *user, const void *bytes, size_t count)
{
    stubborn *s = (stubborn *)user;
    CHECK(bytes != NULL && count > 0 && count <= 8192);
    s->called_again = s->called_again || (s->fails_at != 0 && s->calls >= s->fails_at);
    return ++s->calls == s->fails_at;
}

/* 5 and 6 are no formats: they stand for the two calls that take options. */
static int write_with(chroprof *p, int format, stubborn *s)
{
    const chroprof_text_options look = { 60, 3, CHROPROF_BY_BLAME, false, true };
    const chroprof_prometheus_options top = { 2, CHROPROF_BY_CALLS };
    if (format == CHROPROF_PPROF + 1)
        return chroprof_write_text(p, &look, fail_once, s);
    if (format == CHROPROF_PPROF + 2)
        return chroprof_write_prometheus(p, &top, fail_once, s);
    return chroprof_write(p, (chroprof_format)format, fail_once, s);
}

/* Sites and paths enough for every format to take several pieces in each of its parts. */
static chroprof *many_sites(void)
{
    static char names[300][24];
    chroprof *p = fresh(NULL);
    uint64_t now = 0;
    uint32_t k;
    for (k = 0; k < 300; k++) {
        chroprof_site site;
        snprintf(names[k], sizeof names[k], "site %u", (unsigned)k);
        site.name = names[k];
        site.file = names[k / 10];
        site.line = k;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, now += 1000);
        chroprof_sample(p, now += 10, k);
        if (k % 3 == 0)
            chroprof_event(p, CHROPROF_PENDING, k + 1, &site, now += 30000000);
        if (k % 8 == 7)
            for (; totals_of(p).depth != 0;)
                chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 5000);
        if (k % 50 == 0) {
            chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now += 1000);
            chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 90000000);
        }
    }
    laws(p);
    return p;
}

TEST(a_writer_that_fails_at_any_call)
{
    chroprof *p = many_sites();
    unsigned step = (unsigned)harness_number("SHARE");
    int format;
    for (format = 0; format <= CHROPROF_PROMETHEUS_ALL; format++) {
        stubborn s = { 0, 0, false };
        unsigned total, k;
        CHECK_EQ(write_with(p, format, &s), 0);
        total = s.calls;
        CHECK(total > 3);
        for (k = 1 + (unsigned)format % step; k <= total;
             k = k < total && k + step > total ? total : k + step) {
            s.calls = 0;
            s.fails_at = k;
            s.called_again = false;
            CHECK_EQ(write_with(p, format, &s), -1);
            CHECK_EQ(s.calls, k);
            CHECK(!s.called_again);
        }
    }
    laws(p);
}

TEST(a_writer_that_is_missing)
{
    chroprof *p = many_sites();
    stubborn s = { 0, 0, false };
    int format;
    for (format = 0; format <= CHROPROF_PROMETHEUS_ALL; format++) {
        CHECK_EQ(chroprof_write(p, (chroprof_format)format, NULL, NULL), -1);
        s.calls = 0;
        CHECK_EQ(chroprof_write(NULL, (chroprof_format)format, fail_once, &s), -1);
        /* these two say why there is nothing */
        CHECK_EQ(s.calls != 0, format == CHROPROF_TEXT || format == CHROPROF_JSON);
    }
    CHECK_EQ(chroprof_write_text(p, NULL, NULL, NULL), -1);
    CHECK_EQ(chroprof_write_prometheus(p, NULL, NULL, NULL), -1);
    CHECK_EQ(chroprof_write_prometheus(NULL, NULL, fail_once, &s), -1);
}

/* >>clocks */

typedef struct wild_clock {
    uint64_t now;
} wild_clock;

static uint64_t read_wild(void *user)
{
    return ((wild_clock *)user)->now;
}

static chroprof *wild_profile(wild_clock *clock, uint64_t start, uint64_t max_step)
{
    chroprof_options o = small_options();
    o.clock = read_wild;
    o.clock_user = clock;
    o.max_step_ns = max_step;
    o.window_ns = 1000;
    clock->now = start;
    return fresh(&o);
}

enum { YEAR_S = 31556952 };
#define YEAR ((uint64_t)YEAR_S * 1000000000u)

/* Whatever the clock does, time is conserved and the calls are counted. */
TEST(a_clock_that_jumps_by_years)
{
    static const uint64_t jumps[] = { 0,
                                      1,
                                      1000,
                                      YEAR,
                                      0 - YEAR,
                                      100 * YEAR,
                                      0 - 100 * YEAR,
                                      UINT64_C(1) << 62,
                                      0 - (UINT64_C(1) << 62),
                                      UINT64_C(1) << 63,
                                      (UINT64_C(1) << 63) - 1,
                                      UINT64_MAX };
    const size_t kinds = sizeof jumps / sizeof *jumps;
    uint64_t state, round, before, calls;
    wild_clock clock;
    int k;
    random_seed(61);
    state = harness()->seed;
    for (round = 0; round < 60; round++) {
        chroprof *p = wild_profile(&clock, random_next(&state), round % 2 ? 0 : UINT64_MAX);
        for (calls = 0, before = 0, k = 0; k < 40; k++) {
            clock.now += jumps[random_below(&state, kinds)];
            chroprof_pending(p, 1 + random_below(&state, 5), &A);
            calls++;
            clock.now += jumps[random_below(&state, kinds)];
            chroprof_running(p, 1 + random_below(&state, 5));
            clock.now += jumps[random_below(&state, kinds)];
            if (random_below(&state, 3) == 0)
                chroprof_idle_enter(p);
            laws(p);
            CHECK(totals_of(p).elapsed_ticks >= before);
            before = totals_of(p).elapsed_ticks;
            CHECK(before <= UINT64_C(1) << 62);
        }
        CHECK_EQ(rank_of(p, "accept").calls, calls);
        CHECK(every_output(p) > 0);
    }
}

TEST(a_clock_that_passes_its_end)
{
    wild_clock clock;
    chroprof *p = wild_profile(&clock, UINT64_MAX - 49, 0);
    chroprof_enter(p, &A);
    clock.now += 100; /* 50 by now */
    chroprof_leave(p);
    CHECK_EQ(clock.now, 50);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 100);
    CHECK_EQ(totals_of(p).elapsed_ns, 100);
    orderly(p);
    laws(p);
}

TEST(a_clock_that_goes_back_a_year)
{
    wild_clock clock;
    chroprof *p = wild_profile(&clock, 2 * YEAR, 0);
    chroprof_enter(p, &A);
    clock.now += 10;
    chroprof_tick(p);
    clock.now -= YEAR;
    chroprof_tick(p);
    clock.now += 7; /* goes on from there */
    chroprof_leave(p);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 17);
    CHECK_EQ(rank_of(p, "accept").slice_max_ns, 17);
    only(p, TIME_BACK, 1);
    laws(p);
}

TEST(a_clock_that_stands_still)
{
    wild_clock clock;
    chroprof *p = wild_profile(&clock, 77, 0);
    int k;
    for (k = 0; k < 100; k++) {
        chroprof_enter(p, &A);
        chroprof_leave(p);
        chroprof_idle_enter(p);
        chroprof_idle_leave(p);
    }
    CHECK_EQ(rank_of(p, "accept").slices, 100);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 0);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    CHECK_EQ(totals_of(p).iterations, 99);
    orderly(p);
    laws(p);
}

/* Profile time ends at 2^62 ticks: from there on no time passes, and nothing overflows. */
TEST(the_end_of_profile_time)
{
    const uint64_t end = UINT64_C(1) << 62;
    wild_clock clock;
    chroprof *p = wild_profile(&clock, 1000, UINT64_MAX);
    chroprof_pending(p, 1, &A);
    chroprof_ready(p, 1);
    chroprof_enter(p, &B);
    clock.now += end - 2;
    chroprof_tick(p);
    CHECK_EQ(totals_of(p).elapsed_ticks, end - 2);
    clock.now += 1;
    chroprof_tick(p);
    CHECK_EQ(totals_of(p).elapsed_ticks, end - 1);
    orderly(p);
    clock.now += 1;
    chroprof_tick(p);
    clock.now += 1000;
    chroprof_running(p, 1);
    clock.now += 1000;
    chroprof_completed(p, 1);
    chroprof_leave(p);
    CHECK_EQ(totals_of(p).elapsed_ticks, end - 1);
    CHECK_EQ(rank_of(p, "reply").exec_ns, end - 1);
    CHECK_EQ(rank_of(p, "accept").delay_ns, end - 1);
    CHECK_EQ(rank_of(p, "reply").blame_ns, end - 1);
    CHECK(anomalies_of(p, CHROPROF_ANOMALY_TIME_BACK) > 0);
    laws(p);
    CHECK(every_output(p) > 0);
}

/* >>ids */

TEST(ids_at_the_ends_of_their_range)
{
    static const uint64_t ids[] = { UINT64_MAX, UINT64_MAX - 1, 1, UINT64_C(1) << 63, UINT32_MAX };
    chroprof *p = fresh(NULL);
    uint64_t now = 0;
    size_t k;
    for (k = 0; k < sizeof ids / sizeof *ids; k++) {
        at(p, now += 5, PENDING, ids[k], &A);
        at(p, now += 5, READY, ids[k], NULL);
        at(p, now += 5, RUNNING, ids[k], NULL);
        at(p, now += 5, PAUSED, ids[k], NULL);
        CHECK_EQ(future_of(p, ids[k]).exec_ns, 5);
        CHECK_EQ(future_of(p, ids[k]).state, CHROPROF_PAUSED);
    }
    CHECK_EQ(totals_of(p).live, 5);
    for (k = 0; k < sizeof ids / sizeof *ids; k++) {
        at(p, now += 5, SWITCH, ids[k], NULL);
        CHECK_EQ(future_of(p, ids[k]).state, CHROPROF_RUNNING);
        at(p, now += 5, SWITCH, 0, NULL);
        CHECK_EQ(future_of(p, ids[k]).exec_ns, 10);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, now += 5);
        chroprof_ready_since(p, ids[k], now - 3);
        CHECK_EQ(future_of(p, ids[k]).state, CHROPROF_READY);
        CHECK_EQ(future_of(p, ids[k]).since_ns, totals_of(p).elapsed_ns - 3);
        laws(p);
    }
    for (k = 0; k < sizeof ids / sizeof *ids; k++)
        at(p, now += 5, COMPLETED, ids[k], NULL);
    CHECK_EQ(rank_of(p, "accept").completed, 5);
    CHECK_EQ(totals_of(p).live, 0);
    orderly(p);
}

TEST(the_id_that_is_none)
{
    static const chroprof_state states[] = { CHROPROF_PENDING,   CHROPROF_READY,
                                             CHROPROF_RUNNING,   CHROPROF_PAUSED,
                                             CHROPROF_COMPLETED, CHROPROF_FAILED,
                                             CHROPROF_CANCELLED };
    chroprof *p = fresh(NULL);
    size_t k;
    for (k = 0; k < 7; k++) {
        chroprof_event(p, states[k], 0, NULL, k);
        laws(p);
        only(p, ID_ZERO, k + 1);
    }
    chroprof_event(p, CHROPROF_SWITCH, 0, NULL, 20);
    chroprof_ready_since(p, 0, 5);
    only(p, ID_ZERO, 8);
    for (k = 4; k < 7; k++)
        chroprof_event(p, states[k], 0, &A, 30);
    CHECK_EQ(rank_of(p, "accept").stillborn, 3);
    only(p, ID_ZERO, 8);
    CHECK_EQ(totals_of(p).live, 0);
}

static const test_case tests[] = {
    CASE(every_call_on_a_block_at_a_forbidden_page),
    CASE(every_alignment_at_a_forbidden_page),
    CASE(lists_fill_no_more_than_they_may),
    CASE(structs_and_strings_at_a_forbidden_page),
    CASE(queries_at_a_forbidden_page),
    CASE(sizes_at_a_forbidden_page),
    CASE(copies_at_a_forbidden_page),
    CASE(samples_at_a_forbidden_page),
    CASE(a_profile_in_a_file),
#ifdef __linux__
    CASE(events_and_mask_at_a_forbidden_page),
#endif
    CASE(pieces_of_a_block_at_a_forbidden_page),
    CASE(a_writer_that_fails_at_any_call),
    CASE(a_writer_that_is_missing),
    CASE(a_clock_that_jumps_by_years),
    CASE(a_clock_that_passes_its_end),
    CASE(a_clock_that_goes_back_a_year),
    CASE(a_clock_that_stands_still),
    CASE(the_end_of_profile_time),
    CASE(ids_at_the_ends_of_their_range),
    CASE(the_id_that_is_none),
};

TEST_MAIN(tests)
