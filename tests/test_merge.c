/* tests/test_merge.c - what happened between two states of one profile, and many profiles as one.
 *
 * ROUNDS=n in the environment multiplies how long the random ones run. */
#define _DEFAULT_SOURCE            /* MAP_ANONYMOUS */
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
    { "timer", "timer.c", 5 }, { "log", NULL, 0 }, { "", "nameless.c", 1 }
};

typedef union block { uint64_t word; unsigned char bytes[SIZE]; } block;
typedef union small_block { uint64_t word; unsigned char bytes[SMALL]; } small_block;

static unsigned long rounds(void)
{
    const char *given = getenv("ROUNDS");
    unsigned long n = given != NULL ? strtoul(given, NULL, 10) : 1;
    return n ? n : 1;
}

/* >>streams */

/* A stream of events that several profiles get alike. */
typedef struct source {
    uint64_t random, now, next_id;
    bool reuses;               /* the same few ids again and again */
} source;

static uint64_t some_id(source *s)
{
    uint64_t newest = s->reuses ? 12 : s->next_id;
    return newest > 12 ? newest - random_below(&s->random, 12) : 1 + random_below(&s->random, 12);
}

/* The next event of the stream, into profiles and, if there is one, a model. */
static void one_event(source *s, chroprof *const *profiles, size_t count, model *m)
{
    static const chroprof_state often[] = {
        CHROPROF_PENDING, CHROPROF_READY, CHROPROF_RUNNING, CHROPROF_RUNNING, CHROPROF_PAUSED,
        CHROPROF_COMPLETED, CHROPROF_ENTER, CHROPROF_LEAVE, CHROPROF_LEAVE, CHROPROF_IDLE_ENTER
    };
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

static uint32_t few(uint64_t *random) { return 1 + (uint32_t)random_below(random, 6); }

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
    CHECK_EQ(a.loop_ns, b.loop_ns);
    CHECK_EQ(a.untracked_ns, b.untracked_ns);
    CHECK_EQ(a.delay_ticks, b.delay_ticks);
    CHECK_EQ(a.blame_ticks, b.blame_ticks);
    CHECK_EQ(a.idle_blame_ns, b.idle_blame_ns);
    CHECK_EQ(a.loop_blame_ns, b.loop_blame_ns);
    CHECK_EQ(a.untracked_blame_ns, b.untracked_blame_ns);
    CHECK_EQ(a.events, b.events);
    CHECK_EQ(a.anomalies, b.anomalies);
    CHECK_EQ(a.live, b.live);
    CHECK_EQ(a.passes, b.passes);
    CHECK_EQ(a.turns, b.turns);
    CHECK_EQ(a.dropped, b.dropped);
    CHECK_EQ(a.depth, b.depth);
    CHECK_EQ(a.idle, b.idle);
    CHECK(a.stalls >= b.stalls);   /* of what began before, only the difference knows it all */
    CHECK(a.turn_max_ns >= b.turn_max_ns || a.turn_max_ns == a.elapsed_ns);
    CHECK(a.pass_max_ns >= b.pass_max_ns || a.pass_max_ns == a.elapsed_ns);
}

static void same_path(const chroprof_path *a, const chroprof_path *b)
{
    CHECK_EQ(a->id, b->id);
    CHECK_EQ(a->parent, b->parent);
    CHECK_STR(a->name, b->name);
    CHECK_EQ(a->exec_ns, b->exec_ns);
    CHECK_EQ(a->with_children_ns, b->with_children_ns);
    CHECK_EQ(a->slices, b->slices);
    CHECK_EQ(a->wall_ns, b->wall_ns);
    CHECK_EQ(a->delay_ns, b->delay_ns);
    CHECK_EQ(a->blame_ns, b->blame_ns);
    CHECK_EQ(a->calls, b->calls);
    CHECK_EQ(a->completed, b->completed);
    CHECK_EQ(a->failed, b->failed);
    CHECK_EQ(a->cancelled, b->cancelled);
    CHECK_EQ(a->abandoned, b->abandoned);
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
        CHECK_EQ(r.has_percentiles, rows[k].has_percentiles);
        if (!was_quiet || !r.has_percentiles)
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
    int k;
    for (k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        CHECK_EQ(anomalies_of(d, (chroprof_anomaly_kind)k),
                 anomalies_of(want, (chroprof_anomaly_kind)k));
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
        CHECK_EQ(rows[k].busy_ns + rows[k].idle_ns + rows[k].loop_ns, at - rows[k].start_ns);
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
    for (format = 0; format < 6; format++)
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
    same_paths(&d, &reset);
    same_ranks(&d, &reset, was_quiet);
    same_futures(&d, &reset, s->reuses);
    same_frames(&d, &reset);
    same_anomalies(&d, &reset);
    whole_windows(&d);
    new_stalls(&d);
    writes(&d);
}

static void many_differences(chroprof_options (*choose)(uint64_t *), uint64_t count, bool reuses)
{
    uint64_t first, k;
    random_seed(1);
    first = harness()->seed;
    for (k = 0; k < count * rounds(); k++) {
        source s = { 0, 1000, 0, false };
        chroprof_options o;
        harness()->seed = first + k;
        s.random = first + k;
        s.reuses = reuses;
        o = choose(&s.random);
        one_difference(&s, &o, random_below(&s.random, 400), random_below(&s.random, 400));
    }
}

TEST(difference_is_a_reset_in_between) { many_differences(roomy, 150, false); }
TEST(difference_of_reused_ids) { many_differences(roomy, 150, true); }
TEST(difference_with_full_tables) { many_differences(cramped, 400, true); }

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
    t = totals_of(&d);
    CHECK_EQ(t.elapsed_ns, 0);
    CHECK_EQ(t.events, 0);
    CHECK_EQ(t.turns + t.passes + t.stalls + t.anomalies, 0);
    CHECK_EQ(t.turn_max_ns + t.pass_max_ns + t.turn_p99_ns, 0);
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
    static union { uint64_t word; unsigned char bytes[SMALL + 128]; } wide;
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
    CHECK_EQ(rows[0].loop_ns, 10);
    CHECK_EQ(rows[1].end_ns, 120);
    CHECK_EQ(rows[1].loop_ns, 50);
    CHECK_EQ(rank_of(&d, "accept").slice_max_ns, 60);
    CHECK_EQ(rank_of(&d, "accept").exec_max_ns, 60);
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
    CHECK_IN(totals_of(&d).turn_max_ns, 1000, 1125);
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
    for (k = 0; k < 20000 * rounds(); k++) {
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
    CHECK_EQ(t.elapsed_ticks, b.elapsed_ticks - a.elapsed_ticks);
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
    CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.loop_ns);
    CHECK_EQ(t.skew_events, a.skew_events + b.skew_events);
}

TEST(differences_of_a_busy_program)
{
    static block copies[2], result;
    chroprof views[2], p;
    chroprof_options o;
    uint64_t random = 1, k, skewed = 0, tries = 1000 * rounds();
    block *live = (block *)mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                -1, 0);
    pid_t child;
    CHECK(live != MAP_FAILED);
    o = roomy(&random);
    o.clock = NULL;
    o.max_windows = 8;
    o.window_ns = 100000;
    CHECK_EQ(chroprof_init(&p, live->bytes, SIZE, &o), CHROPROF_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        busy_life(&p);
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

static const test_case cases[] = {
    CASE(difference_is_a_reset_in_between), CASE(difference_of_reused_ids),
    CASE(difference_with_full_tables), CASE(difference_is_the_second_half_of_the_model),
    CASE(difference_refuses_what_it_is_not_for), CASE(difference_of_two_loops),
    CASE(difference_of_a_state_and_itself), CASE(difference_in_place_and_anywhere),
    CASE(difference_keeps_the_borders_of_windows), CASE(difference_tells_old_maxima_from_new),
    CASE(difference_of_damaged_states), CASE(differences_of_a_busy_program)
};

TEST_MAIN(cases)
