/* tests/test_merge.c - what happened between two states of one profile, and many profiles as one.
 *
 * ROUNDS=n in the environment multiplies how long the random ones run, SHARE=n divides it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "model.c"

#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 6, SIZE = 1 << 20, ROWS = 512, SMALL = 96 << 10 };

static const chroprof_site sites[SITES] = {
    { "accept", "server.c", 10 }, { "reply", "server.c", 20 }, { "query", "db.c", 7 },
    { "timer", "timer.c", 5 },    { "log", NULL, 0 },          { "retry", "", 1 }
};

typedef union block {
    uint64_t word;
    unsigned char bytes[SIZE];
} block;
typedef union small_block {
    uint64_t word;
    unsigned char bytes[SMALL];
} small_block;

/* >>streams */

/* A stream of events that several profiles get alike. */
typedef struct source {
    uint64_t random, now, next_id;
    bool reuses; /* the same few ids again and again */
} source;

static uint64_t some_id(source *s)
{
    uint64_t newest = s->reuses ? 12 : s->next_id;
    return newest > 12 ? newest - random_below(&s->random, 12) : 1 + random_below(&s->random, 12);
}

/* The next event of the stream, into profiles and, if there is one, a model. */
static void one_event(source *s, chroprof *const *profiles, size_t count, model *m)
{
    static const chroprof_state often[] = { CHROPROF_PENDING,   CHROPROF_READY,  CHROPROF_RUNNING,
                                            CHROPROF_RUNNING,   CHROPROF_PAUSED, CHROPROF_COMPLETED,
                                            CHROPROF_ENTER,     CHROPROF_LEAVE,  CHROPROF_LEAVE,
                                            CHROPROF_IDLE_ENTER };
    chroprof_state state = often[random_below(&s->random, 10)];
    const chroprof_site *site = &sites[random_below(&s->random, SITES)];
    uint64_t id = some_id(s), step = random_below(&s->random, 60);
    size_t k;
    if (random_below(&s->random, 4) == 0)
        state = (chroprof_state)random_below(&s->random, 15);
    if (state == CHROPROF_PENDING && !s->reuses)
        id = ++s->next_id;
    if (state == CHROPROF_RUNNING && (!s->reuses || random_below(&s->random, 8) != 0))
        site = NULL;
    s->now += random_below(&s->random, 100) == 0 ? step * 50 : step;
    for (k = 0; k < count; k++)
        chroprof_event(profiles[k], state, id, site, s->now);
    if (m != NULL)
        model_event(m, state, id, site, s->now);
}

static void events(source *s, chroprof *const *profiles, size_t count, uint64_t n)
{
    for (; n > 0; n--)
        one_event(s, profiles, count, NULL);
}

static void switched_off_and_on(source *s, chroprof *const *profiles, size_t count)
{
    size_t k;
    for (k = 0; k < count; k++) {
        chroprof_set_enabled(profiles[k], false);
        chroprof_set_enabled(profiles[k], true);
    }
    s->now += 1000;
}

static chroprof_options roomy(uint64_t *random)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = 400;
    o.max_sites = 8;
    o.max_paths = 200;
    o.max_edges = 600;
    o.max_depth = 100;
    o.max_histograms = 8;
    o.max_windows = 1 + (uint32_t)random_below(random, 40);
    o.max_stalls = 1 + (uint32_t)random_below(random, 12);
    o.string_bytes = 400;
    o.window_ns = 1 + random_below(random, 2000);
    o.stall_ns = 50 + random_below(random, 500);
    o.name = "loop";
    return o;
}

static uint32_t few(uint64_t *random)
{
    return 1 + (uint32_t)random_below(random, 6);
}

static chroprof_options cramped(uint64_t *random)
{
    chroprof_options o = roomy(random);
    o.max_futures = 3 * few(random);
    o.max_sites = few(random);
    o.max_paths = 2 * few(random);
    o.max_edges = 3 * few(random);
    o.max_depth = few(random);
    o.max_histograms = few(random);
    o.max_step_ns = 300 * few(random);
    return o;
}

static void begin(chroprof *p, block *memory, const chroprof_options *o)
{
    memset(p, 0, sizeof *p);
    CHECK_EQ(chroprof_init(p, memory->bytes, SIZE, o), CHROPROF_OK);
}

/* The state of a profile, as a view of a copy. */
static void keep(chroprof *view, const block *memory, block *copy)
{
    CHECK_EQ(chroprof_snapshot(memory->bytes, SIZE, copy->bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(view, copy->bytes, SIZE), CHROPROF_OK);
}

/* >>comparing a difference with a profile that was reset at the older state */

static void same_totals(const chroprof *d, const chroprof *want)
{
    chroprof_totals a = totals_of(d), b = totals_of(want);
    CHECK_EQ(a.elapsed_ns, b.elapsed_ns);
    CHECK_EQ(a.busy_ns, b.busy_ns);
    CHECK_EQ(a.idle_ns, b.idle_ns);
    CHECK_EQ(a.uninstrumented_ns, b.uninstrumented_ns);
    CHECK_EQ(a.untracked_ns, b.untracked_ns);
    CHECK_EQ(a.delay_ticks, b.delay_ticks);
    CHECK_EQ(a.blame_ticks, b.blame_ticks);
    CHECK_EQ(a.idle_blame_ns, b.idle_blame_ns);
    CHECK_EQ(a.uninstrumented_blame_ns, b.uninstrumented_blame_ns);
    CHECK_EQ(a.untracked_blame_ns, b.untracked_blame_ns);
    CHECK_EQ(a.events, b.events);
    CHECK_EQ(a.anomalies, b.anomalies);
    CHECK_EQ(a.live, b.live);
    CHECK_EQ(a.iterations, b.iterations);
    CHECK_EQ(a.callbacks, b.callbacks);
    CHECK_EQ(a.dropped, b.dropped);
    CHECK_EQ(a.depth, b.depth);
    CHECK_EQ(a.idle, b.idle);
    CHECK(a.stalls + 1 >= b.stalls); /* what began before may be one stall with what followed */
    CHECK(a.callback_max_ns >= b.callback_max_ns || a.callback_max_ns == a.elapsed_ns);
    CHECK(a.iteration_max_ns >= b.iteration_max_ns || a.iteration_max_ns == a.elapsed_ns);
}

static void same_path(const chroprof_path *a, const chroprof_path *b)
{
    CHECK_EQ(a->id, b->id);
    CHECK_EQ(a->parent, b->parent);
    CHECK_STR(a->name, b->name);
    CHECK_EQ(a->exec_ns, b->exec_ns);
    CHECK_EQ(a->with_children_ns, b->with_children_ns);
    CHECK_EQ(a->slices, b->slices);
    CHECK_EQ(a->lifetime_ns, b->lifetime_ns);
    CHECK_EQ(a->delay_ns, b->delay_ns);
    CHECK_EQ(a->blame_ns, b->blame_ns);
    CHECK_EQ(a->calls, b->calls);
    CHECK_EQ(a->completed, b->completed);
    CHECK_EQ(a->failed, b->failed);
    CHECK_EQ(a->cancelled, b->cancelled);
    CHECK_EQ(a->abandoned, b->abandoned);
    CHECK_EQ(a->dropped, b->dropped);
    CHECK_EQ(a->live, b->live);
    CHECK_EQ(a->stillborn, b->stillborn);
    CHECK_IN(a->slice_max_ns, b->slice_max_ns, a->exec_max_ns);
    CHECK_IN(a->exec_max_ns, b->slice_max_ns, a->exec_ns);
}

static void same_paths(const chroprof *d, const chroprof *want)
{
    static chroprof_path a[ROWS], b[ROWS];
    size_t count = chroprof_paths(d, a, ROWS), k;
    CHECK(count <= ROWS);
    CHECK_EQ(count, chroprof_paths(want, b, ROWS));
    for (k = 0; k < count; k++)
        same_path(a + k, b + k);
}

/* Within an eighth, if nothing was under way at the older state that ended later. */
static void near(uint64_t got, uint64_t want)
{
    CHECK_IN(got, want - want / 8, want + want / 8 + 8);
}

static void same_ranks(const chroprof *d, const chroprof *want, bool was_quiet)
{
    chroprof_rank rows[SITES + 1];
    size_t count = chroprof_ranks(want, rows, SITES + 1, CHROPROF_BY_EXEC), k;
    for (k = 0; k < count; k++) {
        chroprof_rank r = rank_of(d, rows[k].name);
        CHECK_EQ(r.exec_ns, rows[k].exec_ns);
        CHECK_EQ(r.calls, rows[k].calls);
        CHECK_EQ(r.delay_ns, rows[k].delay_ns);
        CHECK_EQ(r.blame_ns, rows[k].blame_ns);
        if (r.has_percentiles != rows[k].has_percentiles) /* the heavy sites have them */
            CHECK_EQ(table_of(d, CHROPROF_TABLE_HISTOGRAMS).used,
                     table_of(d, CHROPROF_TABLE_HISTOGRAMS).capacity);
        if (!was_quiet || !r.has_percentiles || r.measured != rows[k].measured)
            continue;
        near(r.slice_p50_ns, rows[k].slice_p50_ns);
        near(r.slice_p99_ns, rows[k].slice_p99_ns);
        near(r.delay_p99_ns, rows[k].delay_p99_ns);
        CHECK(r.slice_max_ns <= rows[k].slice_max_ns + rows[k].slice_max_ns / 8 + 8);
    }
}

static void same_futures(const chroprof *d, const chroprof *want, bool reused)
{
    static chroprof_future a[ROWS], b[ROWS];
    size_t count = chroprof_futures(d, a, ROWS), k;
    CHECK(count <= ROWS);
    CHECK_EQ(count, chroprof_futures(want, b, ROWS));
    for (k = 0; k < count; k++) {
        CHECK_EQ(a[k].id, b[k].id);
        CHECK_EQ(a[k].path, b[k].path);
        CHECK_EQ(a[k].state, b[k].state);
        if (table_of(d, CHROPROF_TABLE_DEPTH).capacity >= 8) /* in the tick of its hiding: either */
            CHECK_EQ(a[k].since_ns, b[k].since_ns);
        CHECK_IN(a[k].exec_ns, reused ? 0 : b[k].exec_ns, b[k].exec_ns);
    }
}

static void same_frames(const chroprof *d, const chroprof *want)
{
    static chroprof_frame a[ROWS], b[ROWS];
    size_t count = chroprof_frames(d, a, ROWS), k;
    CHECK_EQ(count, chroprof_frames(want, b, ROWS));
    for (k = 0; k < count; k++) {
        CHECK_EQ(a[k].id, b[k].id);
        CHECK_EQ(a[k].path, b[k].path);
        CHECK_EQ(a[k].barrier, b[k].barrier);
        CHECK_EQ(a[k].since_ns, b[k].since_ns);
        CHECK_EQ(a[k].slice_ns, b[k].slice_ns);
    }
}

static void same_anomalies(const chroprof *d, const chroprof *want)
{
    chroprof_anomaly a, b;
    int k;
    for (k = 0; k < CHROPROF_ANOMALY_COUNT; k++) {
        CHECK(chroprof_read_anomaly(d, (chroprof_anomaly_kind)k, &a));
        CHECK(chroprof_read_anomaly(want, (chroprof_anomaly_kind)k, &b));
        CHECK_EQ(a.count, b.count);
        if (!a.placed || !b.placed) /* a reset makes room for other kinds */
            continue;
        CHECK_EQ(a.last.at_ns, b.last.at_ns);
        CHECK_EQ(a.last.id, b.last.id);
        CHECK_EQ(a.last.top, b.last.top);
        if (a.last.path != 0 && b.last.path != 0) /* the ring of a reset does not reach back */
            CHECK_STR(a.last.name, b.last.name);
        CHECK(a.first.at_ns == b.first.at_ns || a.first.at_ns == a.last.at_ns);
    }
}

/* Whatever is under way, the older state and the difference add up to the newer one. */
static void parts_are_the_whole(const chroprof *older, const chroprof *d, const chroprof *newer)
{
    chroprof_path a, b, c;
    uint64_t cursor = 0;
    while (chroprof_next_path(newer, &cursor, &c)) {
        (void)chroprof_read_path(older, c.id, &a); /* all zero if it came later */
        CHECK(chroprof_read_path(d, c.id, &b));
        CHECK_EQ(a.exec_ns + b.exec_ns, c.exec_ns);
        CHECK_EQ(a.with_children_ns + b.with_children_ns, c.with_children_ns);
        CHECK_EQ(a.lifetime_ns + b.lifetime_ns, c.lifetime_ns);
        CHECK_EQ(a.delay_ns + b.delay_ns, c.delay_ns);
        CHECK_EQ(a.blame_ns + b.blame_ns, c.blame_ns);
        CHECK_EQ(a.found + b.found,
                 c.found); /* a reset forgets the poll before it: not in same_path */
        CHECK_IN(a.hidden_total_ns + b.hidden_total_ns + 1, c.hidden_total_ns,
                 c.hidden_total_ns + 1);
        CHECK_EQ(a.completed + b.completed, c.completed);
        CHECK_EQ(a.failed + b.failed, c.failed);
        CHECK_EQ(a.cancelled + b.cancelled, c.cancelled);
        CHECK_EQ(a.abandoned + b.abandoned, c.abandoned);
        CHECK_EQ(a.dropped + b.dropped, c.dropped);
        CHECK_EQ(a.stillborn + b.stillborn, c.stillborn);
        CHECK_EQ(b.live, c.live);
    }
}

/* Windows follow each other, and each holds as much time as it is long. */
static void whole_windows(const chroprof *d)
{
    static chroprof_window rows[ROWS];
    size_t count = chroprof_windows(d, rows, ROWS), k;
    uint64_t at = 0;
    CHECK_IN(count, 1, ROWS);
    for (k = 0; k < count; k++) {
        CHECK_EQ(rows[k].start_ns, at);
        at = rows[k].end_ns;
        CHECK_EQ(rows[k].busy_ns + rows[k].idle_ns + rows[k].uninstrumented_ns,
                 at - rows[k].start_ns);
    }
    CHECK_EQ(at, totals_of(d).elapsed_ns);
}

static void new_stalls(const chroprof *d)
{
    static chroprof_stall rows[ROWS];
    size_t count = chroprof_stalls(d, rows, ROWS), k;
    CHECK(count <= totals_of(d).stalls);
    for (k = 0; k < count; k++)
        CHECK(rows[k].start_ns <= totals_of(d).elapsed_ns);
}

static int swallow(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return 0;
}

static void writes(chroprof *p)
{
    size_t bytes = 0;
    int format;
    for (format = 0; format <= CHROPROF_PPROF; format++)
        CHECK_EQ(chroprof_write(p, (chroprof_format)format, swallow, &bytes), 0);
}

/* >>difference */

static void one_difference(source *s, const chroprof_options *o, uint64_t before, uint64_t after)
{
    static block memory[2], copy[2], result;
    chroprof whole, reset, older, d;
    chroprof *both[2] = { &whole, &reset };
    bool was_quiet;
    begin(&whole, &memory[0], o);
    begin(&reset, &memory[1], o);
    events(s, both, 2, before);
    keep(&older, &memory[0], &copy[0]);
    chroprof_reset(&reset);
    was_quiet = totals_of(&older).depth == 0 && chroprof_futures(&older, NULL, 0) == 0;
    events(s, both, 2, after / 2);
    if (random_below(&s->random, 4) == 0)
        switched_off_and_on(s, both, 2);
    events(s, both, 2, after - after / 2);
    CHECK_EQ(chroprof_difference(&whole, &older, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    laws(&d);
    same_totals(&d, &reset);
    parts_are_the_whole(&older, &d, &whole);
    same_paths(&d, &reset);
    same_ranks(&d, &reset, was_quiet);
    same_futures(&d, &reset, s->reuses);
    same_frames(&d, &reset);
    same_anomalies(&d, &reset);
    whole_windows(&d);
    new_stalls(&d);
    writes(&d);
    harness_keep(&d);
}

static void many_differences(chroprof_options (*choose)(uint64_t *), unsigned long count,
                             bool reuses)
{
    uint64_t first, k;
    random_seed(1);
    first = harness()->seed;
    for (k = 0; k < share(count); k++) {
        source s = { 0, 1000, 0, false };
        chroprof_options o;
        harness()->seed = first + k;
        s.random = first + k;
        s.reuses = reuses;
        o = choose(&s.random);
        if (o.max_futures < 12) /* a reset makes all futures equally old */
            o.max_futures = 12;
        one_difference(&s, &o, random_below(&s.random, 400), random_below(&s.random, 400));
    }
}

/* Futures that a full table dropped are a figure like any other: taken away, and added up. */
TEST(sites_without_histograms_in_differences_and_merges)
{
    static block memory, copy, result, sum;
    chroprof_options o = { 0 };
    chroprof p, older, d, all;
    int k;
    o.clock = chroprof_clock_manual;
    o.max_histograms = 1;
    begin(&p, &memory, &o);
    for (k = 0; k < 3; k++)
        chroprof_event(&p, CHROPROF_PENDING, 7, &sites[k], 1);
    keep(&older, &memory, &copy);
    CHECK_EQ(table_of(&older, CHROPROF_TABLE_HISTOGRAMS).dropped, 2);
    chroprof_event(&p, CHROPROF_PENDING, 7, &sites[3], 1);
    CHECK_EQ(chroprof_difference(&p, &older, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(table_of(&d, CHROPROF_TABLE_HISTOGRAMS).dropped, 1);
    CHECK_EQ(totals_of(&d).dropped, 1);
    o.max_histograms = 10;
    begin(&all, &sum, &o);
    CHECK_EQ(chroprof_merge(&all, &p), CHROPROF_OK);
    CHECK_EQ(table_of(&all, CHROPROF_TABLE_HISTOGRAMS).dropped, 3);
    CHECK_EQ(table_of(&p, CHROPROF_TABLE_HISTOGRAMS).advice, 4);
    chroprof_reset(&p);
    CHECK_EQ(table_of(&p, CHROPROF_TABLE_HISTOGRAMS).dropped, 0);
}

/* What a merge took without its histograms is gone after a reset. */
TEST(a_reset_target_has_histograms_again)
{
    static block memory, sum;
    chroprof_options o = { 0 };
    chroprof p, all;
    uint64_t t = 0;
    int k;
    o.clock = chroprof_clock_manual;
    begin(&p, &memory, &o);
    o.max_histograms = 1;
    begin(&all, &sum, &o);
    for (k = 0; k < 2; k++)
        chroprof_event(&all, CHROPROF_ENTER, 0, &sites[k], t);
    CHECK_EQ(chroprof_merge(&p, &all), CHROPROF_OK);
    CHECK(!rank_of(&p, sites[1].name).has_percentiles);
    chroprof_reset(&p);
    for (k = 0; k < 200; k++) {
        chroprof_event(&p, CHROPROF_ENTER, 0, &sites[1], t += 1000);
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, t += 1000);
    }
    CHECK(rank_of(&p, sites[1].name).has_percentiles);
}

/* The rows of a timeline that find no room are in the sampler's own count, or, where the target has
 * none, in that of the table. */
TEST(samples_that_a_merged_timeline_drops_are_counted)
{
    static block memory, sum;
    chroprof_sampler_totals s;
    chroprof_sample_row rows[50];
    chroprof_options o = { 0 };
    chroprof p, all, none;
    uint64_t weight = 0, t = 0;
    int k;
    o.clock = chroprof_clock_manual;
    begin(&p, &memory, &o);
    for (k = 0; k < 400; k++) {
        chroprof_event(&p, CHROPROF_ENTER, 0, &sites[k % 4], t += 1000);
        chroprof_sample(&p, t += 10, 100);
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, t += 1000);
    }
    o.max_samples = 50;
    begin(&all, &sum, &o);
    CHECK_EQ(chroprof_merge(&all, &p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&all, &p), CHROPROF_OK);
    chroprof_read_sampler(&all, &s);
    CHECK_EQ(chroprof_samples(&all, 0, UINT64_MAX, rows, 50), 50);
    for (k = 0; k < 50; k++)
        weight += rows[k].weight;
    CHECK_EQ(s.samples, 800);
    CHECK_EQ(rank_of(&all, sites[1].name).samples, 200);
    CHECK_EQ(rank_of(&all, sites[1].name).cpu_ns, 200 * 100);
    CHECK_EQ(s.dropped, 800 - weight);
    o.max_samples = 0;
    CHECK_EQ(chroprof_init(&none, sum.bytes, CHROPROF_MEMORY_MIN + 320, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&none, &p), CHROPROF_OK);
    CHECK_EQ(table_of(&none, CHROPROF_TABLE_SAMPLES).dropped, 400);
}

TEST(dropped_futures_in_differences_and_merges)
{
    static block memory, copy, result, sum;
    chroprof_options o = { 0 };
    chroprof p, older, d, all;
    uint64_t id;
    o.clock = chroprof_clock_manual;
    o.max_futures = 2;
    begin(&p, &memory, &o);
    for (id = 1; id <= 5; id++)
        chroprof_event(&p, CHROPROF_PENDING, id, &sites[0], id);
    keep(&older, &memory, &copy);
    for (; id <= 12; id++)
        chroprof_event(&p, CHROPROF_PENDING, id, &sites[0], id);
    CHECK_EQ(chroprof_difference(&p, &older, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    laws(&d);
    CHECK_EQ(rank_of(&p, sites[0].name).dropped, 10);
    CHECK_EQ(rank_of(&older, sites[0].name).dropped, 3);
    CHECK_EQ(rank_of(&d, sites[0].name).dropped, 7);
    CHECK_EQ(rank_of(&d, sites[0].name).calls, 9);
    begin(&all, &sum, &o);
    CHECK_EQ(chroprof_merge(&all, &p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&all, &older), CHROPROF_OK);
    laws(&all);
    CHECK_EQ(rank_of(&all, sites[0].name).dropped, 13);
    CHECK_EQ(rank_of(&all, sites[0].name).calls, 17);
}

/* The id of a live future is used again in the tick of the older state: another future. */
TEST(difference_knows_a_future_by_its_creation)
{
    static block memory, copy, result;
    chroprof_options o = { 0 };
    chroprof p, older, d;
    o.clock = chroprof_clock_manual;
    begin(&p, &memory, &o);
    chroprof_event(&p, CHROPROF_PENDING, 7, &sites[0], 50);
    chroprof_event(&p, CHROPROF_RUNNING, 7, NULL, 60);
    chroprof_event(&p, CHROPROF_PAUSED, 7, NULL, 80);
    keep(&older, &memory, &copy);
    chroprof_event(&p, CHROPROF_COMPLETED, 7, NULL, 80);
    chroprof_event(&p, CHROPROF_PENDING, 7, &sites[0], 80);
    chroprof_event(&p, CHROPROF_RUNNING, 7, NULL, 80);
    chroprof_event(&p, CHROPROF_PAUSED, 7, NULL, 110);
    CHECK_EQ(chroprof_difference(&p, &older, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    laws(&d);
    CHECK_EQ(future_of(&d, 7).exec_ns, 30);
}

TEST(difference_is_a_reset_in_between)
{
    many_differences(roomy, 150, false);
}
TEST(difference_of_reused_ids)
{
    many_differences(roomy, 150, true);
}
TEST(difference_with_full_tables)
{
    many_differences(cramped, 400, true);
}

/* A life in which nothing is out of order, and its second half as the slow model has it. */
TEST(difference_is_the_second_half_of_the_model)
{
    static block memory, copy, result;
    uint64_t half;
    random_seed(7);
    for (half = 1; half < 40; half++) {
        source s = { 0, 1000, 0, true };
        chroprof_options o;
        chroprof p, older, d;
        model m;
        chroprof *one = &p;
        uint64_t k;
        s.random = harness()->seed + half;
        o = roomy(&s.random);
        begin(&p, &memory, &o);
        model_init(&m, &o, &p);
        for (k = 0; k < 20 * half; k++) {
            one_event(&s, &one, 1, &m);
            if (k + 1 != 10 * half)
                continue;
            keep(&older, &memory, &copy);
            model_reset(&m);
        }
        CHECK_EQ(chroprof_difference(&p, &older, result.bytes, SIZE), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
        CHECK_EQ(model_compare_totals(&m, &d, stdout), 0);
        CHECK_EQ(model_laws(&d, stdout), 0);
        harness_keep(&d);
        model_free(&m);
    }
}

static const chroprof_site *const small_sites[2] = { &sites[0], &sites[2] };

/* A small profile and a state of it in the middle of its life. */
static void small_life(chroprof *p, small_block *memory, small_block *older, const char *name)
{
    chroprof_options o;
    uint64_t t = 0, id;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 50;
    o.stall_ns = 30;
    o.name = name;
    CHECK_EQ(chroprof_init(p, memory->bytes, SMALL, &o), CHROPROF_OK);
    for (id = 1; id < 9; id++) {
        chroprof_event(p, CHROPROF_PENDING, id, small_sites[id % 2], t += 3);
        chroprof_event(p, CHROPROF_READY, id, NULL, t += 5);
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, t += 7);
        chroprof_event(p, CHROPROF_ENTER, 0, &sites[3], t += 9);
        if (id == 4)
            CHECK_EQ(chroprof_snapshot(memory->bytes, SMALL, older->bytes, SMALL), CHROPROF_OK);
        if (id % 3 == 0)
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += 11);
        if (id % 2 == 0)
            chroprof_event(p, CHROPROF_COMPLETED, id, NULL, t += 4 * id);
        if (id % 4 == 1)
            chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += 3);
    }
}

static void view_of(chroprof *view, const small_block *memory)
{
    CHECK_EQ(chroprof_open(view, memory->bytes, SMALL), CHROPROF_OK);
}

TEST(difference_refuses_what_it_is_not_for)
{
    static small_block memory[3], older[2], result;
    chroprof p, other, named, view, view_of_other, none;
    small_life(&p, &memory[0], &older[0], "a");
    small_life(&other, &memory[1], &older[1], "a");
    small_life(&named, &memory[2], &older[1], "b");
    view_of(&view, &older[0]);
    view_of(&view_of_other, &older[1]);
    memset(&none, 0, sizeof none);
#define DIFFERENCE(a, b, room) chroprof_difference(a, b, result.bytes, room)
    CHECK_EQ(DIFFERENCE(&p, &view, SMALL), CHROPROF_OK);
    CHECK_EQ(DIFFERENCE(&p, &view_of_other, SMALL), CHROPROF_ERR_DIFFERENT);
    CHECK_EQ(DIFFERENCE(&view, &p, SMALL), CHROPROF_ERR_DIFFERENT);
    CHECK_EQ(DIFFERENCE(NULL, &view, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(DIFFERENCE(&p, NULL, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(DIFFERENCE(&none, &view, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(DIFFERENCE(&p, &none, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_difference(&p, &view, NULL, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_difference(&p, &view, memory[0].bytes, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(DIFFERENCE(&p, &view, 100), CHROPROF_ERR_MEMORY);
    CHECK_EQ(DIFFERENCE(&p, &view, 0), CHROPROF_ERR_MEMORY);
    laws(&p);
    chroprof_reset(&p);
    CHECK_EQ(DIFFERENCE(&p, &view, SMALL), CHROPROF_ERR_RESET);
#undef DIFFERENCE
}

/* Two loops of one program that live alike: one is not the past of the other. */
TEST(difference_of_two_loops)
{
    static small_block memory[2], older[2], result;
    chroprof a, b, view;
    chroprof_options o;
    uint64_t k;
    memset(&o, 0, sizeof o);
    CHECK_EQ(chroprof_init(&a, memory[0].bytes, SMALL, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_init(&b, memory[1].bytes, SMALL, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_snapshot(memory[0].bytes, SMALL, older[0].bytes, SMALL), CHROPROF_OK);
    for (k = 0; k < 1000; k++)
        chroprof_tick(&b);
    view_of(&view, &older[0]);
    CHECK_EQ(chroprof_difference(&b, &view, result.bytes, SMALL), CHROPROF_ERR_DIFFERENT);
}

TEST(difference_of_a_state_and_itself)
{
    static small_block memory, older, result, copy;
    chroprof p, view, d, again;
    chroprof_totals t;
    small_life(&p, &memory, &older, "x");
    CHECK_EQ(chroprof_snapshot(memory.bytes, SMALL, copy.bytes, SMALL), CHROPROF_OK);
    view_of(&view, &copy);
    CHECK_EQ(chroprof_difference(&p, &view, result.bytes, SMALL), CHROPROF_OK);
    view_of(&d, &result);
    laws(&d);
    whole_windows(&d);
    harness_keep(&d);
    t = totals_of(&d);
    CHECK_EQ(t.elapsed_ns, 0);
    CHECK_EQ(t.events, 0);
    CHECK_EQ(t.callbacks + t.iterations + t.stalls + t.anomalies, 0);
    CHECK_EQ(t.callback_max_ns + t.iteration_max_ns + t.callback_p99_ns, 0);
    CHECK_EQ(t.live, totals_of(&p).live);
    CHECK_EQ(rank_of(&d, "accept").slice_max_ns, 0);
    CHECK_EQ(rank_of(&d, "accept").calls, rank_of(&p, "accept").live);
    view_of(&again, &older);
    CHECK_EQ(chroprof_difference(&d, &again, copy.bytes, SMALL), CHROPROF_ERR_RESET);
}

static bool same_text(chroprof *a, chroprof *b)
{
    static harness_output text;
    memcpy(&text, written(a, CHROPROF_JSON), sizeof text);
    return strcmp(text.bytes, written(b, CHROPROF_JSON)->bytes) == 0;
}

TEST(difference_in_place_and_anywhere)
{
    static small_block memory, older, result, copy;
    static union {
        uint64_t word;
        unsigned char bytes[SMALL + 128];
    } wide;
    chroprof p, view, now, d, e;
    size_t skip;
    small_life(&p, &memory, &older, "x");
    view_of(&view, &older);
    CHECK_EQ(chroprof_difference(&p, &view, result.bytes, SMALL), CHROPROF_OK);
    view_of(&d, &result);
    CHECK_EQ(chroprof_snapshot(memory.bytes, SMALL, copy.bytes, SMALL), CHROPROF_OK);
    view_of(&now, &copy);
    CHECK_EQ(chroprof_difference(&now, &view, copy.bytes, SMALL), CHROPROF_OK);
    view_of(&e, &copy);
    CHECK(same_text(&d, &e));
    for (skip = 0; skip < 64; skip++) {
        size_t size = SMALL + 128 - skip;
        CHECK_EQ(chroprof_difference(&p, &view, wide.bytes + skip, size), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&e, wide.bytes + skip, size), CHROPROF_OK);
        CHECK(same_text(&d, &e));
    }
}

/* Windows of the time between lie where they lay in the whole. */
TEST(difference_keeps_the_borders_of_windows)
{
    static small_block memory, older, result;
    chroprof p, view, d;
    chroprof_options o;
    chroprof_window rows[4];
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 100;
    CHECK_EQ(chroprof_init(&p, memory.bytes, SMALL, &o), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &sites[0], 0);
    chroprof_event(&p, CHROPROF_TICK, 0, NULL, 130);
    CHECK_EQ(chroprof_snapshot(memory.bytes, SMALL, older.bytes, SMALL), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 190);
    chroprof_event(&p, CHROPROF_TICK, 0, NULL, 250);
    view_of(&view, &older);
    CHECK_EQ(chroprof_difference(&p, &view, result.bytes, SMALL), CHROPROF_OK);
    view_of(&d, &result);
    CHECK_EQ(chroprof_windows(&d, rows, 4), 2);
    CHECK_EQ(rows[0].end_ns, 70);
    CHECK_EQ(rows[0].busy_ns, 60);
    CHECK_EQ(rows[0].uninstrumented_ns, 10);
    CHECK_EQ(rows[1].end_ns, 120);
    CHECK_EQ(rows[1].uninstrumented_ns, 50);
    CHECK_EQ(rank_of(&d, "accept").slice_max_ns, 60);
    CHECK_EQ(rank_of(&d, "accept").exec_max_ns, 60);
    harness_keep(&d);
}

/* The windows of p hold what the narrower ones of the other hold in their place. */
static void windows_hold(const chroprof *p, const chroprof *narrow)
{
    chroprof_window a[ROWS], b[ROWS];
    uint64_t exec[2][ROWS], cursor = 0;
    chroprof_rank r;
    size_t count = chroprof_windows(p, a, ROWS), fine = chroprof_windows(narrow, b, ROWS), k, n;
    while (chroprof_next_rank(p, &cursor, &r)) {
        CHECK_EQ(chroprof_site_windows(p, r.id, exec[0], ROWS), count);
        CHECK_EQ(chroprof_site_windows(narrow, r.id, exec[1], ROWS), fine);
        for (k = n = 0; k < count; k++) {
            uint64_t sum = 0;
            for (; n < fine && b[n].start_ns < a[k].end_ns; n++)
                sum += exec[1][n];
            CHECK_EQ(sum, exec[0][k]);
            CHECK(n == fine || b[n].start_ns == a[k].end_ns);
        }
    }
    for (k = n = 0; k < count; k++) {
        uint64_t busy = 0, loop = 0, idle = 0, untracked = 0;
        for (; n < fine && b[n].start_ns < a[k].end_ns; n++) {
            busy += b[n].busy_ns;
            loop += b[n].uninstrumented_ns;
            idle += b[n].idle_ns;
            untracked += b[n].untracked_ns;
        }
        CHECK_EQ(busy, a[k].busy_ns);
        CHECK_EQ(loop, a[k].uninstrumented_ns);
        CHECK_EQ(idle, a[k].idle_ns);
        CHECK_EQ(untracked, a[k].untracked_ns);
    }
}

/* Windows were doubled before the part began. Those of the part hold what those of a twin hold that
 * never had to double, and are as many as fit, as long as the ring holds all of the part. */
TEST(difference_of_a_long_run_has_windows_that_fit_it)
{
    static block memory[2], copy[2], result[2];
    uint64_t length;
    random_seed(9);
    for (length = 1; length < 90; length++) {
        source s = { 0, 1000, 0, true };
        chroprof_options o;
        chroprof p[2], older[2], d[2], *pair[2];
        chroprof_window w;
        size_t k, windows;
        s.random = harness()->seed + length;
        o = roomy(&s.random);
        o.max_events = 64;
        o.window_ns = 100;
        for (k = 0; k < 2; k++) {
            o.max_windows = k == 0 ? 16 : ROWS;
            begin(pair[k] = &p[k], &memory[k], &o);
        }
        events(&s, pair, 2, 400);
        for (k = 0; k < 2; k++)
            keep(&older[k], &memory[k], &copy[k]);
        events(&s, pair, 2, length);
        for (k = 0; k < 2; k++) {
            CHECK_EQ(chroprof_difference(&p[k], &older[k], result[k].bytes, SIZE), CHROPROF_OK);
            CHECK_EQ(chroprof_open(&d[k], result[k].bytes, SIZE), CHROPROF_OK);
        }
        windows = chroprof_windows(&d[0], &w, 1);
        windows_hold(&d[0], &d[1]);
        if (chroprof_timeline(&d[0], 0, UINT64_MAX, NULL, 0) < totals_of(&d[0]).events)
            CHECK_IN(windows, 1, 8);
        else
            CHECK(windows >= 7 || w.end_ns <= 100);
        harness_keep(&d[0]);
    }
}

/* A maximum of long ago is not one of just now. */
TEST(difference_tells_old_maxima_from_new)
{
    static small_block memory, older, result;
    chroprof p, view, d;
    chroprof_options o;
    uint64_t k, t = 0;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.stall_ns = 3000;
    CHECK_EQ(chroprof_init(&p, memory.bytes, SMALL, &o), CHROPROF_OK);
    for (k = 0; k < 20; k++) {
        chroprof_event(&p, CHROPROF_ENTER, 0, &sites[0], t += 10);
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, t += k == 3 ? 5000 : k == 12 ? 1000 : 400);
        if (k == 9)
            CHECK_EQ(chroprof_snapshot(memory.bytes, SMALL, older.bytes, SMALL), CHROPROF_OK);
    }
    view_of(&view, &older);
    CHECK_EQ(chroprof_difference(&p, &view, result.bytes, SMALL), CHROPROF_OK);
    view_of(&d, &result);
    CHECK_EQ(totals_of(&d).stalls, 0);
    CHECK_EQ(chroprof_stalls(&d, NULL, 0), 0);
    CHECK_EQ(totals_of(&p).stalls, 1);
    CHECK_IN(rank_of(&d, "accept").slice_max_ns, 1000, 1125);
    CHECK_IN(totals_of(&d).callback_max_ns, 1000, 1125);
    harness_keep(&d);
}

/* Any damage to a state: an error, or a block that opens. */
TEST(difference_of_damaged_states)
{
    static small_block memory, older, damaged[2], result;
    chroprof p, views[2], d;
    uint64_t random, k, opened = 0;
    small_life(&p, &memory, &older, "x");
    random_seed(5);
    random = harness()->seed;
    for (k = 0; k < share(20000); k++) {
        uint64_t which = k % 2, at = random_below(&random, SMALL / 8) * 8, bit;
        uint64_t *word;
        memcpy(&damaged[0], &memory, sizeof memory);
        memcpy(&damaged[1], &older, sizeof older);
        word = (uint64_t *)(void *)(damaged[which].bytes + at);
        bit = UINT64_C(1) << random_below(&random, 64);
        *word = k % 3 == 0 ? random_next(&random) : k % 3 == 1 ? *word ^ bit : *word + bit;
        if (chroprof_open(&views[0], damaged[0].bytes, SMALL) != CHROPROF_OK ||
            chroprof_open(&views[1], damaged[1].bytes, SMALL) != CHROPROF_OK)
            continue;
        if (chroprof_difference(&views[0], &views[1], result.bytes, SMALL) != CHROPROF_OK)
            continue;
        view_of(&d, &result);
        chroprof_check(&d);
        chroprof_futures(&d, NULL, 0);
        totals_of(&d);
        if (k % 50 == 0)
            writes(&d);
        opened++;
    }
    CHECK(opened > k / 100);
}

/* >>difference of a program that goes on */

static void busy_life(chroprof *p)
{
    uint64_t n;
    for (n = 0;; n++) {
        uint64_t id = 1 + n % 9, other = 1 + (n * 5 + 3) % 17;
        chroprof_pending(p, id, &sites[n % 3]);
        chroprof_ready(p, id);
        chroprof_running(p, id);
        chroprof_pending(p, other, &sites[n % 4]);
        chroprof_ready(p, other);
        chroprof_enter(p, &sites[3]);
        chroprof_switch(p, other);
        if (n % 7 == 0)
            chroprof_completed(p, id);
        if (n % 6 == 0)
            chroprof_failed(p, other);
        if (n % 3 == 0)
            chroprof_idle_enter(p);
    }
}

static void lawful_difference(chroprof *newer, const chroprof *older, block *result)
{
    chroprof d;
    chroprof_totals t, a, b;
    CHECK_EQ(chroprof_difference(newer, older, result->bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result->bytes, SIZE), CHROPROF_OK);
    if (chroprof_check(&d) != NULL)
        harness_fail(__FILE__, __LINE__, "chroprof_check: %s", chroprof_check(&d));
    t = totals_of(&d);
    a = totals_of(older);
    b = totals_of(newer);
    if (b.elapsed_ticks >= a.elapsed_ticks) /* else the older one ends at a later now */
        CHECK_EQ(t.elapsed_ticks, b.elapsed_ticks - a.elapsed_ticks);
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
    CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    CHECK_EQ(t.skew_events, a.skew_events + b.skew_events);
    harness_keep(&d);
}

TEST(differences_of_a_busy_program)
{
    static block copies[2], result;
    chroprof views[2], p;
    chroprof_options o;
    uint64_t random = 1, k, skewed = 0, tries = share(1000);
    block *live =
        (block *)mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    CHECK(live != MAP_FAILED);
    o = roomy(&random);
    o.clock = NULL;
    o.max_windows = 8;
    o.window_ns = 100000;
    CHECK_EQ(chroprof_init(&p, live->bytes, SIZE, &o), CHROPROF_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(1500); /* should a check fail, nobody else would end it */
        busy_life(&p);
    }
    CHECK_EQ(chroprof_snapshot(live->bytes, SIZE, copies[0].bytes, SIZE), CHROPROF_OK);
    for (k = 0; k < tries; k++) {
        chroprof_result result_of_copy =
            chroprof_snapshot(live->bytes, SIZE, copies[~k & 1].bytes, SIZE);
        CHECK_EQ(result_of_copy, CHROPROF_OK);
        CHECK_EQ(chroprof_open(&views[k & 1], copies[k & 1].bytes, SIZE), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&views[~k & 1], copies[~k & 1].bytes, SIZE), CHROPROF_OK);
        lawful_difference(&views[~k & 1], &views[k & 1], &result);
        skewed += totals_of(&views[~k & 1]).skew_events != 0;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap(live, SIZE);
    printf("# %" PRIu64 " of %" PRIu64 " copies were skewed, %" PRIu64 " events\n", skewed, tries,
           totals_of(&views[0]).events);
}

/* >>merge */

static chroprof_options target_options(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = o.max_depth = 1;
    o.max_sites = 20;
    o.max_paths = 600;
    o.max_edges = 1200;
    o.max_histograms = 20;
    o.max_windows = 50;
    o.max_stalls = 64;
    o.string_bytes = 600;
    return o;
}

enum { PARTS = 4 };

/* A few profiles with random lives, all there is room for. */
static void live_lives(chroprof *parts, block *memory, uint64_t seed,
                       chroprof_options (*choose)(uint64_t *))
{
    size_t k;
    for (k = 0; k < PARTS; k++) {
        chroprof *one = &parts[k];
        source s = { 0, 500, 0, true };
        chroprof_options o;
        s.random = seed * PARTS + k;
        s.now += k;
        o = choose(&s.random);
        begin(one, &memory[k], &o);
        events(&s, &one, 1, random_below(&s.random, 400));
    }
}

static void merge_in_order(chroprof *p, block *memory, const chroprof_options *o,
                           const chroprof *parts, const int *order)
{
    size_t k;
    begin(p, memory, o);
    for (k = 0; k < PARTS; k++) {
        CHECK_EQ(chroprof_merge(p, &parts[order[k]]), CHROPROF_OK);
        laws(p);
    }
}

#define ADD(field) sum.field += t.field
#define SAME(field) CHECK_EQ(got.field, sum.field)

static void totals_add_up(const chroprof *p, const chroprof *parts, size_t count)
{
    chroprof_totals got = totals_of(p), sum;
    size_t k;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < count; k++) {
        chroprof_totals t = totals_of(&parts[k]);
        ADD(elapsed_ns);
        ADD(busy_ns);
        ADD(idle_ns);
        ADD(uninstrumented_ns);
        ADD(untracked_ns);
        ADD(delay_ns);
        ADD(idle_blame_ns);
        ADD(untracked_blame_ns);
        ADD(uninstrumented_blame_ns);
        ADD(events);
        ADD(anomalies);
        ADD(live);
        ADD(iterations);
        ADD(callbacks);
        ADD(stalls);
        if (t.callback_max_ns > sum.callback_max_ns)
            sum.callback_max_ns = t.callback_max_ns;
        if (t.iteration_max_ns > sum.iteration_max_ns)
            sum.iteration_max_ns = t.iteration_max_ns;
    }
    SAME(elapsed_ns);
    SAME(busy_ns);
    SAME(idle_ns);
    SAME(uninstrumented_ns);
    SAME(untracked_ns);
    SAME(delay_ns);
    SAME(idle_blame_ns);
    SAME(untracked_blame_ns);
    SAME(uninstrumented_blame_ns);
    SAME(events);
    SAME(anomalies);
    SAME(live);
    SAME(iterations);
    SAME(callbacks);
    SAME(stalls);
    SAME(callback_max_ns);
    SAME(iteration_max_ns);
}
#undef ADD

/* Adds what a profile has on this chain. */
#define ADD(field) sum->field += t.field
static void add_chain(chroprof_path *sum, const chroprof *p, const char *chain)
{
    const chroprof_path *found = find_path(p, chain);
    chroprof_path t;
    if (found == NULL)
        return;
    t = *found;
    ADD(exec_ns);
    ADD(with_children_ns);
    ADD(slices);
    ADD(lifetime_ns);
    ADD(delay_ns);
    ADD(blame_ns);
    ADD(calls);
    ADD(completed);
    ADD(failed);
    ADD(cancelled);
    ADD(abandoned);
    ADD(live);
    ADD(stillborn);
    ADD(dropped);
    if (t.exec_max_ns > sum->exec_max_ns)
        sum->exec_max_ns = t.exec_max_ns;
    if (t.slice_max_ns > sum->slice_max_ns)
        sum->slice_max_ns = t.slice_max_ns;
}

static void paths_add_up(const chroprof *p, const chroprof *parts, size_t count)
{
    static chroprof_path rows[ROWS];
    size_t n = chroprof_paths(p, rows, ROWS), i, k;
    char chain[1024];
    CHECK(n <= ROWS);
    for (i = 0; i < n; i++) {
        chroprof_path got = rows[i], sum;
        memset(&sum, 0, sizeof sum);
        harness_chain(rows, i, chain, sizeof chain);
        for (k = 0; k < count; k++)
            add_chain(&sum, &parts[k], chain);
        SAME(exec_ns);
        SAME(with_children_ns);
        SAME(slices);
        SAME(lifetime_ns);
        SAME(delay_ns);
        SAME(blame_ns);
        SAME(calls);
        SAME(completed);
        SAME(failed);
        SAME(cancelled);
        SAME(abandoned);
        SAME(live);
        SAME(stillborn);
        SAME(dropped);
        SAME(exec_max_ns);
        SAME(slice_max_ns);
    }
}

#undef ADD
#undef SAME

/* All that does not hang on the order. */
static void same_whatever_order(const chroprof *a, const chroprof *b)
{
    chroprof_rank rows[SITES + 1];
    chroprof_totals s = totals_of(a), t = totals_of(b);
    size_t count = chroprof_ranks(a, rows, SITES + 1, CHROPROF_BY_EXEC), k;
    CHECK_EQ(count, chroprof_ranks(b, NULL, 0, CHROPROF_BY_EXEC));
    paths_add_up(a, b, 1);
    CHECK_EQ(s.callback_p50_ns, t.callback_p50_ns);
    CHECK_EQ(s.callback_p99_ns, t.callback_p99_ns);
    CHECK_EQ(s.iteration_p99_ns, t.iteration_p99_ns);
    for (k = 0; k < count; k++) {
        chroprof_rank r = rank_of(b, rows[k].name);
        CHECK_EQ(r.has_percentiles, rows[k].has_percentiles);
        CHECK_EQ(r.exec_ns, rows[k].exec_ns);
        CHECK_EQ(r.slice_p50_ns, rows[k].slice_p50_ns);
        CHECK_EQ(r.slice_p90_ns, rows[k].slice_p90_ns);
        CHECK_EQ(r.slice_p99_ns, rows[k].slice_p99_ns);
        CHECK_EQ(r.slice_p999_ns, rows[k].slice_p999_ns);
        CHECK_EQ(r.slice_typical_ns, rows[k].slice_typical_ns);
        CHECK_EQ(r.slice_min_ns, rows[k].slice_min_ns);
        CHECK_EQ(r.slice_p1_ns, rows[k].slice_p1_ns);
        CHECK_EQ(r.delay_p99_ns, rows[k].delay_p99_ns);
    }
}

/* Under a clock of ns each window still holds as much as it is long, but for what is floored where
 * a window of a part spans two of the whole: less than one ns for each of its sites. */
static void windows_add_up(const chroprof *p)
{
    static chroprof_window rows[ROWS];
    size_t count = chroprof_windows(p, rows, ROWS), k;
    uint64_t at = 0, sum = 0;
    for (k = 0; k < count; k++) {
        uint64_t length = rows[k].end_ns - rows[k].start_ns;
        uint64_t held = rows[k].busy_ns + rows[k].idle_ns + rows[k].uninstrumented_ns;
        CHECK_EQ(rows[k].start_ns, at);
        CHECK(held + 200 >= length && held <= length + 200);
        at = rows[k].end_ns;
        sum += held;
    }
    CHECK_EQ(at, totals_of(p).elapsed_ns);
    CHECK_EQ(sum, at);
}

static void many_merges(chroprof_options (*choose)(uint64_t *), unsigned long count)
{
    static block memory[PARTS + 2];
    static const int orders[2][PARTS] = { { 0, 1, 2, 3 }, { 2, 3, 1, 0 } };
    chroprof parts[PARTS], a, b;
    chroprof_options o = target_options();
    uint64_t first, k;
    random_seed(1);
    first = harness()->seed;
    for (k = 0; k < share(count); k++) {
        harness()->seed = first + k;
        o.window_ns = 1 + k * 7 % 5000;
        live_lives(parts, memory, harness()->seed, choose);
        merge_in_order(&a, &memory[PARTS], &o, parts, orders[0]);
        merge_in_order(&b, &memory[PARTS + 1], &o, parts, orders[1]);
        totals_add_up(&a, parts, PARTS);
        paths_add_up(&a, parts, PARTS);
        same_whatever_order(&a, &b);
        windows_add_up(&a);
        harness_keep(&a);
        if (k % 10 == 0)
            writes(&a);
    }
}

TEST(merge_adds_up_in_any_order)
{
    many_merges(roomy, 30);
}
TEST(merge_of_profiles_with_full_tables)
{
    many_merges(cramped, 100);
}

/* Where there was room for all of them. */
static void same_stalls(const chroprof *p, const chroprof *want)
{
    chroprof_stall x[ROWS], y[ROWS];
    size_t count = chroprof_stalls(want, x, ROWS), k;
    CHECK_EQ(chroprof_stalls(p, y, ROWS), count);
    for (k = 0; k < count; k++) {
        CHECK_EQ(y[k].kind, x[k].kind);
        CHECK_EQ(y[k].start_ns, x[k].start_ns);
        CHECK_EQ(y[k].length_ns, x[k].length_ns);
        CHECK_EQ(y[k].share_count, x[k].share_count);
        CHECK_EQ(y[k].rest_ns, x[k].rest_ns);
        if (x[k].share_count > 0)
            CHECK_STR(y[k].shares[0].name, x[k].shares[0].name);
    }
}

static void same_windows(const chroprof *p, const chroprof *want)
{
    chroprof_window a[ROWS], b[ROWS];
    size_t count = chroprof_windows(want, a, ROWS), k;
    CHECK_EQ(chroprof_windows(p, b, ROWS), count);
    for (k = 0; k < count; k++) {
        CHECK_EQ(b[k].end_ns, a[k].end_ns);
        CHECK_EQ(b[k].busy_ns, a[k].busy_ns);
        CHECK_EQ(b[k].idle_ns, a[k].idle_ns);
        CHECK_EQ(b[k].untracked_ns, a[k].untracked_ns);
    }
}

/* Ends whatever is live. */
static void calm_down(chroprof *p, const source *s)
{
    uint64_t id;
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    for (id = 1; id < 20; id++)
        chroprof_event(p, CHROPROF_CANCELLED, id, NULL, s->now);
    CHECK_EQ(totals_of(p).live + totals_of(p).depth, 0);
}

/* Where nothing was live at the cut, both halves together are the whole. */
static void two_halves(source *s, uint64_t seed)
{
    static block memory[2], copy, half;
    chroprof whole, merged, parts[2], *one = &whole;
    chroprof_options o;
    s->random = seed;
    o = roomy(&s->random);
    begin(&whole, &memory[0], &o);
    events(s, &one, 1, random_below(&s->random, 300));
    calm_down(&whole, s);
    keep(&parts[0], &memory[0], &copy);
    events(s, &one, 1, random_below(&s->random, 300));
    calm_down(&whole, s);
    CHECK_EQ(chroprof_difference(&whole, &parts[0], half.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&parts[1], half.bytes, SIZE), CHROPROF_OK);
    o.clock = chroprof_clock_manual;
    begin(&merged, &memory[1], &o);
    CHECK_EQ(chroprof_merge(&merged, &parts[0]), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&merged, &parts[1]), CHROPROF_OK);
    laws(&merged);
    totals_add_up(&merged, &whole, 1);
    same_whatever_order(&merged, &whole);
    same_windows(&merged, &whole);
    harness_keep(&merged);
    if (totals_of(&whole).stalls <= (o.max_stalls + 1) / 2)
        same_stalls(&merged, &whole);
}

/* Where an anomaly was met lies on the sum's own paths, in the sum's time. */
TEST(merge_keeps_where_anomalies_were_met)
{
    static block memory[3];
    chroprof_options o = { 0 };
    chroprof parts[2], sum;
    chroprof_anomaly row;
    uint64_t k;
    o.clock = chroprof_clock_manual;
    for (k = 0; k < 2; k++) {
        begin(&parts[k], &memory[k], &o);
        chroprof_event(&parts[k], CHROPROF_ENTER, 0, &sites[1 - k], 0);
        chroprof_event(&parts[k], CHROPROF_READY, 70 + k, NULL, 10 + k);
        chroprof_event(&parts[k], CHROPROF_LEAVE, 0, NULL, 100);
    }
    begin(&sum, &memory[2], &o);
    CHECK_EQ(chroprof_merge(&sum, &parts[0]), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &parts[1]), CHROPROF_OK);
    laws(&sum);
    CHECK(chroprof_read_anomaly(&sum, CHROPROF_ANOMALY_UNKNOWN_READY, &row));
    CHECK_EQ(row.count, 2);
    CHECK_EQ(row.first.at_ns, 10);
    CHECK_EQ(row.first.id, 70);
    CHECK_STR(row.first.name, sites[1].name);
    CHECK_EQ(row.last.at_ns, 111);
    CHECK_EQ(row.last.id, 71);
    CHECK_STR(row.last.name, sites[0].name);
}

TEST(merge_of_two_halves_is_the_whole)
{
    uint64_t first, k;
    random_seed(3);
    first = harness()->seed;
    for (k = 0; k < share(100); k++) {
        source s = { 0, 1000, 0, true };
        harness()->seed = first + k;
        two_halves(&s, first + k);
    }
}

/* What does not fit is billed elsewhere, never lost. */
TEST(merge_into_full_tables)
{
    static block memory[PARTS + 1];
    static const int order[PARTS] = { 0, 1, 2, 3 };
    chroprof parts[PARTS], p;
    uint64_t first, k, dropped = 0, n;
    random_seed(17);
    first = harness()->seed;
    for (n = 0; n < share(200); n++) {
        chroprof_options o = target_options();
        uint64_t sum = 0, random = first + n;
        harness()->seed = first + n;
        o.max_sites = few(&random);
        o.max_paths = few(&random);
        o.max_edges = few(&random);
        o.max_histograms = few(&random);
        o.max_windows = few(&random);
        o.max_stalls = few(&random);
        o.string_bytes = 10 * few(&random);
        live_lives(parts, memory, first + n, n % 2 ? roomy : cramped);
        merge_in_order(&p, &memory[PARTS], &o, parts, order);
        for (k = 0; k < PARTS; k++)
            sum += totals_of(&parts[k]).elapsed_ns;
        CHECK_EQ(totals_of(&p).elapsed_ns, sum);
        dropped += table_of(&p, CHROPROF_TABLE_PATHS).dropped != 0;
        harness_keep(&p);
        if (n % 10 == 0)
            writes(&p);
    }
    CHECK(dropped > 0);
}

TEST(merge_refuses_what_it_is_not_for)
{
    static small_block memory[4], older;
    chroprof p, from, live, clocked, view, none;
    chroprof_options o = target_options();
    memset(&none, 0, sizeof none);
    o.max_sites = o.max_paths = o.max_edges = o.max_histograms = o.max_stalls = 0;
    small_life(&from, &memory[0], &older, "x");
    view_of(&view, &older);
    CHECK_EQ(chroprof_init(&p, memory[1].bytes, SMALL, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(NULL, &from), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(&p, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(&p, &none), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(&none, &from), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(&p, &p), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_merge(&view, &from), CHROPROF_ERR_TARGET);
    small_life(&live, &memory[2], &older, "y");
    CHECK_EQ(chroprof_merge(&live, &from), CHROPROF_ERR_TARGET);
    CHECK_EQ(chroprof_init(&clocked, memory[3].bytes, SMALL, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&clocked, &from), CHROPROF_ERR_TARGET);
    CHECK_EQ(totals_of(&p).elapsed_ns, 0);
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_OK);
    laws(&p);
}

TEST(merge_ends_with_time)
{
    static small_block memory[2];
    chroprof p, from;
    chroprof_options o = target_options();
    uint64_t before;
    o.max_sites = o.max_paths = o.max_edges = o.max_histograms = o.max_stalls = 0;
    o.max_step_ns = UINT64_C(1) << 61;
    CHECK_EQ(chroprof_init(&p, memory[0].bytes, SMALL, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_init(&from, memory[1].bytes, SMALL, &o), CHROPROF_OK);
    chroprof_event(&from, CHROPROF_ENTER, 0, &sites[0], 0);
    chroprof_event(&from, CHROPROF_LEAVE, 0, NULL, UINT64_C(3) << 59);
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_OK);
    laws(&p);
    before = totals_of(&p).events;
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_ERR_TIME);
    CHECK_EQ(totals_of(&p).events, before);
    laws(&p);
    harness_keep(&p);
}

/* Ticks of a cycle counter become ns. */
TEST(merge_of_a_running_clock)
{
    static block memory[3];
    chroprof p, parts[2];
    chroprof_options o = target_options();
    chroprof_rank was, is;
    uint64_t k, n;
    for (k = 0; k < 2; k++) {
        begin(&parts[k], &memory[k], NULL);
        for (n = 0; n < 20000; n++) {
            chroprof_pending(&parts[k], 1, &sites[0]);
            chroprof_ready(&parts[k], 1);
            chroprof_running(&parts[k], 1);
            chroprof_enter(&parts[k], &sites[1 + n % 2]);
            chroprof_leave(&parts[k]);
            chroprof_completed(&parts[k], 1);
        }
        chroprof_enter(&parts[k], &sites[3]);
        chroprof_tick(&parts[k]);
    }
    begin(&p, &memory[2], &o);
    CHECK_EQ(chroprof_merge(&p, &parts[0]), CHROPROF_OK);
    is = rank_of(&p, "accept");
    was = rank_of(&parts[0], "accept");
    CHECK_EQ(is.exec_ns, was.exec_ns);
    CHECK_EQ(is.slice_max_ns, was.slice_max_ns);
    near(is.slice_p50_ns, was.slice_p50_ns);
    near(is.slice_p99_ns, was.slice_p99_ns);
    CHECK_EQ(chroprof_merge(&p, &parts[1]), CHROPROF_OK);
    laws(&p);
    paths_add_up(&p, parts, 2);
    windows_add_up(&p);
    CHECK_EQ(totals_of(&p).elapsed_ns,
             totals_of(&parts[0]).elapsed_ns + totals_of(&parts[1]).elapsed_ns);
    CHECK_EQ(rank_of(&p, "timer").live, 2);
    CHECK_EQ(chroprof_futures(&p, NULL, 0), 0);
    harness_keep(&p);
}

/* The last event's slice and callback, which no histogram has yet, count as well. */
TEST(merge_of_what_was_just_measured)
{
    static block memory[2];
    chroprof from, p;
    chroprof_options o = target_options();
    begin(&from, &memory[0], &o);
    begin(&p, &memory[1], &o);
    chroprof_event(&from, CHROPROF_ENTER, 0, &sites[0], 0);
    chroprof_event(&from, CHROPROF_LEAVE, 0, NULL, 300);
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_OK);
    laws(&p);
    CHECK_EQ(totals_of(&p).callback_p50_ns, 300);
    CHECK_EQ(rank_of(&p, "accept").slice_p50_ns, 300);
    harness_keep(&p);
}

/* A merged profile is one like any other: it takes events, is copied, subtracted, merged, reset. */
TEST(merged_profiles_go_on)
{
    static block memory[PARTS + 2], copy, result;
    static const int order[PARTS] = { 3, 2, 1, 0 };
    chroprof parts[PARTS], p, older, d, again, two[2];
    chroprof_options o = target_options();
    uint64_t elapsed;
    o.max_futures = o.max_depth = 20;
    live_lives(parts, memory, 77, roomy);
    merge_in_order(&p, &memory[PARTS], &o, parts, order);
    elapsed = totals_of(&p).elapsed_ns;
    keep(&older, &memory[PARTS], &copy);
    at(&p, 50, ENTER, 0, &sites[1]);
    at(&p, 75, PENDING, 5, &sites[2]);
    at(&p, 95, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(&p).elapsed_ns, elapsed + 45);
    CHECK_EQ(chroprof_merge(&p, &parts[0]), CHROPROF_ERR_TARGET);
    at(&p, 100, CANCELLED, 5, NULL);
    CHECK_EQ(chroprof_merge(&p, &parts[0]), CHROPROF_OK);
    laws(&p);
    at(&p, 107, TICK, 0, NULL);
    CHECK_EQ(chroprof_difference(&p, &older, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    laws(&d);
    CHECK_EQ(totals_of(&d).elapsed_ns, 57 + totals_of(&parts[0]).elapsed_ns);
    begin(&again, &memory[PARTS + 1], &o);
    two[0] = older;
    two[1] = d;
    CHECK_EQ(chroprof_merge(&again, &older), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&again, &d), CHROPROF_OK);
    laws(&again);
    paths_add_up(&again, two, 2);
    harness_keep(&again);
    chroprof_reset(&p);
    laws(&p);
    CHECK_EQ(totals_of(&p).live, 0);
}

/* A chain of more sites than a path may have: one that is too deep is a root. */
TEST(merge_of_a_deep_chain)
{
    static block memory[2];
    chroprof from, p;
    chroprof_options o;
    uint64_t k;
    char name[24];
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_sites = o.max_paths = o.max_depth = 700;
    o.max_edges = 1400;
    o.string_bytes = 9000;
    o.max_futures = o.max_stalls = o.max_windows = o.max_histograms = 1;
    begin(&from, &memory[0], &o);
    begin(&p, &memory[1], &o);
    for (k = 0; k < 600; k++) {
        snprintf(name, sizeof name, "site%u", (unsigned)k);
        chroprof_event(&from, CHROPROF_ENTER, 0, chroprof_site_make(&from, name, "a.c", 1), k);
    }
    CHECK_EQ(chroprof_paths(&from, NULL, 0), 600);
    CHECK_EQ(chroprof_merge(&p, &from), CHROPROF_OK);
    laws(&p);
    CHECK_EQ(chroprof_paths(&p, NULL, 0), 600);
    CHECK_EQ(totals_of(&p).busy_ns, totals_of(&from).busy_ns);
    CHECK_EQ(rank_of(&p, "site511").exec_ns, 1);
    CHECK_EQ(rank_of(&p, "site0").with_children_ns, 512);
    CHECK_EQ(rank_of(&p, "site512").with_children_ns, 599 - 512);
    harness_keep(&p);
}

/* Any damage to what is merged: the laws of time and of blame hold for the sum. */
TEST(merge_of_damaged_profiles)
{
    static small_block memory, older, damaged;
    static block target;
    chroprof p, view, from;
    chroprof_options o = target_options();
    uint64_t random, k, merged = 0;
    small_life(&from, &memory, &older, "x");
    random_seed(5);
    random = harness()->seed;
    begin(&p, &target, &o);
    for (k = 0; k < share(20000); k++) {
        uint64_t spot = random_below(&random, SMALL / 8) * 8;
        uint64_t bit = UINT64_C(1) << random_below(&random, 64);
        uint64_t *word = (uint64_t *)(void *)(damaged.bytes + spot);
        chroprof_totals t;
        memcpy(&damaged, &memory, sizeof memory);
        *word = k % 3 == 0 ? random_next(&random) : k % 3 == 1 ? *word ^ bit : *word + bit;
        if (chroprof_open(&view, damaged.bytes, SMALL) != CHROPROF_OK)
            continue;
        if (chroprof_merge(&p, &view) != CHROPROF_OK)
            begin(&p, &target, &o);
        t = totals_of(&p);
        CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.uninstrumented_ns);
        CHECK_EQ(t.elapsed_ns, t.elapsed_ticks);
        CHECK_EQ(t.blame_ticks, t.delay_ticks);
        if (k % 50 == 0)
            writes(&p);
        merged++;
    }
    CHECK(merged > k / 100);
}

/* A task of this site runs for so long, and waits for all of it. */
static void wait_in(chroprof *p, const chroprof_site *site, const char *call, uint64_t *now,
                    uint64_t ns)
{
    chroprof_event(p, CHROPROF_ENTER, 0, site, *now);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, *now + ns);
    chroprof_waited(p, call, "ask", *now);
    *now += ns;
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, *now);
}

TEST(merged_waits_are_those_of_the_parts)
{
    static small_block memory[3];
    chroprof_options o;
    chroprof_task_wait rows[4];
    chroprof parts[2], sum;
    uint64_t now[2] = { 0, 0 };
    size_t k;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory[2].bytes, SMALL, &o), CHROPROF_OK);
    for (k = 0; k < 2; k++)
        CHECK_EQ(chroprof_init(&parts[k], memory[k].bytes, SMALL, &o), CHROPROF_OK);
    wait_in(&parts[0], &sites[0], "poll", &now[0], 200);
    wait_in(&parts[1], &sites[2], "recv", &now[1], 30);
    wait_in(&parts[1], &sites[0], "poll", &now[1], 350);
    for (k = 0; k < 2; k++)
        CHECK_EQ(chroprof_merge(&sum, &parts[k]), CHROPROF_OK);
    CHECK_EQ(chroprof_task_waits(&sum, rows, 4), 2);
    CHECK(strcmp(rows[0].name, "accept") == 0 && strcmp(rows[0].call, "poll") == 0);
    CHECK(strcmp(rows[0].within, "ask") == 0 && !rows[0].estimated);
    CHECK_EQ(rows[0].count, 2);
    CHECK_EQ(rows[0].total_ns, 550);
    CHECK_EQ(rows[0].longest_ns, 350);
    CHECK(strcmp(rows[1].name, "query") == 0 && strcmp(rows[1].call, "recv") == 0);
    CHECK_EQ(rows[1].total_ns, 30);
}

static const test_case cases[] = { CASE(merged_waits_are_those_of_the_parts),
                                   CASE(sites_without_histograms_in_differences_and_merges),
                                   CASE(a_reset_target_has_histograms_again),
                                   CASE(samples_that_a_merged_timeline_drops_are_counted),
                                   CASE(dropped_futures_in_differences_and_merges),
                                   CASE(difference_knows_a_future_by_its_creation),
                                   CASE(difference_is_a_reset_in_between),
                                   CASE(difference_of_reused_ids),
                                   CASE(difference_with_full_tables),
                                   CASE(difference_is_the_second_half_of_the_model),
                                   CASE(difference_refuses_what_it_is_not_for),
                                   CASE(difference_of_two_loops),
                                   CASE(difference_of_a_state_and_itself),
                                   CASE(difference_in_place_and_anywhere),
                                   CASE(difference_keeps_the_borders_of_windows),
                                   CASE(difference_of_a_long_run_has_windows_that_fit_it),
                                   CASE(difference_tells_old_maxima_from_new),
                                   CASE(difference_of_damaged_states),
                                   CASE(differences_of_a_busy_program),
                                   CASE(merge_adds_up_in_any_order),
                                   CASE(merge_of_profiles_with_full_tables),
                                   CASE(merge_keeps_where_anomalies_were_met),
                                   CASE(merge_of_two_halves_is_the_whole),
                                   CASE(merge_into_full_tables),
                                   CASE(merge_refuses_what_it_is_not_for),
                                   CASE(merge_ends_with_time),
                                   CASE(merge_of_a_running_clock),
                                   CASE(merge_of_what_was_just_measured),
                                   CASE(merged_profiles_go_on),
                                   CASE(merge_of_a_deep_chain),
                                   CASE(merge_of_damaged_profiles) };

TEST_MAIN(cases)
