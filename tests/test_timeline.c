/* tests/test_timeline.c - the ring of steps: what was sent, in order, and figures rebuilt from it.
 *
 * ROUNDS=n in the environment multiplies how long the random ones run, SHARE=n divides it. */
#include "harness.h"

static const chroprof_site sites[] = { { "accept", "server.c", 10 },
                                       { "reply", "server.c", 20 },
                                       { "query", "db.c", 7 },
                                       { "timer", "timer.c", 5 } };

enum { STEPS = 1 << 16, PATHS = 64 };

/* What was sent, step by step. */
typedef struct sent {
    uint64_t id;
    chroprof_state state;
} sent;

typedef struct life {
    chroprof *p;
    uint64_t random, now;
    sent list[STEPS];
    size_t count;
} life;

static life *new_life(const chroprof_options *options, uint64_t seed)
{
    static life l;
    memset(&l, 0, sizeof l);
    l.p = fresh(options);
    l.random = seed;
    return &l;
}

/* Any event at all, as a hostile host may send them; time now and then stands still. */
static void random_event(life *l)
{
    chroprof_state state = (chroprof_state)random_below(&l->random, CHROPROF_NEXT + 1);
    uint64_t id = random_below(&l->random, 9);
    const chroprof_site *site = &sites[random_below(&l->random, 4)];
    l->now += random_below(&l->random, 3) * random_below(&l->random, 500);
    chroprof_event(l->p, state, id, site, l->now);
    CHECK(l->count < STEPS);
    l->list[l->count].id = state <= CHROPROF_CANCELLED || state == CHROPROF_SWITCH ? id : 0;
    l->list[l->count++].state = state;
}

static chroprof_options ring_of(uint32_t events)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_events = events;
    return o;
}

static const chroprof_step *steps_of(const chroprof *p, size_t *count)
{
    static chroprof_step steps[STEPS];
    *count = chroprof_timeline(p, 0, UINT64_MAX, steps, STEPS);
    CHECK(*count <= STEPS);
    return steps;
}

/* The steps are the last events that were sent. */
static void same_as_sent(const life *l, const chroprof *p)
{
    size_t count, k;
    const chroprof_step *steps = steps_of(p, &count);
    const sent *s;
    CHECK(count <= l->count);
    s = l->list + (l->count - count);
    for (k = 0; k < count; k++) {
        CHECK_EQ(steps[k].id, s[k].id);
        CHECK_EQ(steps[k].state, s[k].state);
        CHECK(k == 0 || steps[k].at_ns >= steps[k - 1].at_ns);
    }
}

/* Exec by path, with loop, idle and untracked: what the profile says. */
typedef struct figures {
    uint64_t ns[PATHS];
} figures;

static figures figures_of(const chroprof *p)
{
    static chroprof_path paths[PATHS];
    size_t count = chroprof_paths(p, paths, PATHS), k;
    chroprof_totals t = totals_of(p);
    figures f;
    memset(&f, 0, sizeof f);
    CHECK(count <= PATHS);
    f.ns[0] = t.uninstrumented_ns;
    f.ns[1] = t.idle_ns;
    f.ns[2] = t.untracked_ns;
    for (k = 0; k < count; k++) {
        CHECK(paths[k].id > 2 && paths[k].id < PATHS);
        f.ns[paths[k].id] = paths[k].exec_ns;
    }
    return f;
}

/* Rebuilds what was billed since a moment: each step closes the interval from the one before. */
static void rebuilt(const chroprof *p, uint64_t from, const figures *before)
{
    static chroprof_step steps[STEPS];
    size_t count = chroprof_timeline(p, from, UINT64_MAX, steps, STEPS), k;
    figures want = figures_of(p), got = *before;
    uint64_t at = from;
    for (k = 0; k < count; k++) {
        CHECK(steps[k].path < PATHS);
        got.ns[steps[k].path] += steps[k].at_ns - at;
        at = steps[k].at_ns;
    }
    for (k = 0; k < PATHS; k++)
        CHECK_EQ(got.ns[k], want.ns[k]);
}

TEST(steps_are_the_events_that_were_sent)
{
    chroprof_options o = ring_of(256);
    uint64_t round, k;
    random_seed(1);
    for (round = 0; round < share(60); round++) {
        life *l = new_life(&o, harness()->seed + round);
        for (k = 0; k < 700; k++) {
            random_event(l);
            if (k % 97 == 0)
                same_as_sent(l, l->p);
        }
        same_as_sent(l, l->p);
        CHECK_EQ(chroprof_timeline(l->p, 0, UINT64_MAX, NULL, 0), 255);
        laws(l->p);
    }
}

TEST(figures_are_rebuilt_from_the_steps)
{
    chroprof_options o = ring_of(1024);
    uint64_t round, k;
    random_seed(2);
    for (round = 0; round < share(100); round++) {
        life *l = new_life(&o, harness()->seed + round);
        figures before;
        uint64_t from;
        for (k = 0; k < 300 + 37 * round; k++)
            random_event(l);
        before = figures_of(l->p);
        from = totals_of(l->p).elapsed_ns;
        for (k = 0; k < 900; k++) {
            random_event(l);
            if (k % 100 == 0)
                rebuilt(l->p, from, &before);
        }
        rebuilt(l->p, from, &before);
    }
}

/* Some of them, between two times; capacity 0 only counts. */
TEST(a_part_of_the_timeline)
{
    chroprof *p = fresh(NULL);
    chroprof_step steps[4];
    uint64_t t;
    at(p, 0, IDLE_ENTER, 0, NULL);
    for (t = 10; t <= 100; t += 10)
        at(p, t, TICK, 0, NULL);
    CHECK_EQ(chroprof_timeline(p, 0, UINT64_MAX, NULL, 0), 11);
    CHECK_EQ(chroprof_timeline(p, 30, 60, steps, 4), 4);
    CHECK_EQ(steps[0].at_ns, 30);
    CHECK_EQ(steps[3].at_ns, 60);
    CHECK_EQ(steps[3].path, 1);
    CHECK_EQ(steps[3].state, CHROPROF_TICK);
    CHECK_EQ(chroprof_timeline(p, 30, 60, steps, 1), 4);
    CHECK_EQ(chroprof_timeline(p, 101, UINT64_MAX, steps, 4), 0);
    CHECK_EQ(chroprof_timeline(p, 60, 30, steps, 4), 0);
    CHECK_EQ(chroprof_timeline(NULL, 0, UINT64_MAX, steps, 4), 0);
    orderly(p);
}

/* Which path an interval went to, and how deep the stack was when each event came. */
TEST(a_step_tells_the_path_and_the_depth)
{
    chroprof *p = fresh(NULL);
    chroprof_step steps[6];
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 15, ENTER, 0, &sites[0]);
    at(p, 25, PENDING, 7, &sites[1]);
    at(p, 30, RUNNING, 7, NULL);
    at(p, 60, COMPLETED, 7, NULL);
    CHECK_EQ(chroprof_timeline(p, 0, UINT64_MAX, steps, 6), 6);
    CHECK_EQ(steps[1].path, 1);
    CHECK_EQ(steps[2].path, 0);
    CHECK_EQ(steps[3].path, path_of(p, "accept").id);
    CHECK_EQ(steps[3].id, 7);
    CHECK_EQ(steps[3].depth, 1);
    CHECK_EQ(steps[5].path, path_of(p, "accept;reply").id);
    CHECK_EQ(steps[5].depth, 2);
    orderly(p);
}

TEST(a_reset_forgets_the_steps_before_it)
{
    chroprof *p = fresh(NULL);
    size_t count;
    const chroprof_step *steps;
    at(p, 0, ENTER, 0, &sites[0]);
    at(p, 40, TICK, 0, NULL);
    chroprof_reset(p);
    CHECK_EQ(chroprof_timeline(p, 0, UINT64_MAX, NULL, 0), 0);
    at(p, 50, LEAVE, 0, NULL);
    steps = steps_of(p, &count);
    CHECK_EQ(count, 1);
    CHECK_EQ(steps[0].at_ns, 10);
    CHECK_EQ(steps[0].path, path_of(p, "accept").id);
    orderly(p);
}

/* A snapshot has the steps of the program; a difference those since the older state. */
TEST(steps_of_a_snapshot_and_of_a_difference)
{
    enum { SIZE = 1 << 18 };
    static union {
        uint64_t word;
        unsigned char bytes[SIZE];
    } live, older, newer, gone;
    chroprof_options o = ring_of(128);
    chroprof p, before, after, d;
    size_t count, k;
    const chroprof_step *steps;
    figures none;
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&p, live.bytes, SIZE, &o), CHROPROF_OK);
    for (k = 0; k < 1000; k++)
        chroprof_event(&p, k % 2 ? CHROPROF_LEAVE : CHROPROF_ENTER, 0, &sites[k / 2 % 4], 7 * k);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, older.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&before, older.bytes, SIZE), CHROPROF_OK);
    for (k = 1000; k < 1050; k++)
        chroprof_event(&p, k % 2 ? CHROPROF_LEAVE : CHROPROF_ENTER, 0, &sites[k / 2 % 4], 7 * k);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, newer.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&after, newer.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_timeline(&after, 0, UINT64_MAX, NULL, 0), 127);
    CHECK_EQ(chroprof_difference(&after, &before, gone.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, gone.bytes, SIZE), CHROPROF_OK);
    steps = steps_of(&d, &count);
    CHECK_EQ(count, 50);
    for (k = 0; k < count; k++) {
        CHECK_EQ(steps[k].at_ns, 7 * (k + 1));
        CHECK_EQ(steps[k].state, k % 2 ? CHROPROF_LEAVE : CHROPROF_ENTER);
    }
    memset(&none, 0, sizeof none);
    rebuilt(&d, 0, &none);
}

/* No time that the ring tells of is that of the sum. */
TEST(a_merge_forgets_the_steps)
{
    enum { SIZE = 1 << 18 };
    static union {
        uint64_t word;
        unsigned char bytes[SIZE];
    } memory;
    chroprof *p = fresh(NULL);
    chroprof sum;
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory.bytes, SIZE, &o), CHROPROF_OK);
    at(p, 0, ENTER, 0, &sites[0]);
    at(p, 40, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_timeline(&sum, 0, UINT64_MAX, NULL, 0), 0);
    laws(&sum);
}

/* A future of `id` that is ready from its creation on, waits for query, runs, and finishes. */
static void slow_life(chroprof *p, uint64_t begin, uint64_t id, uint64_t delay, uint64_t exec)
{
    at(p, begin, PENDING, id, &sites[0]);
    at(p, begin + 5, READY, id, NULL);
    at(p, begin + 5, ENTER, 0, &sites[2]);
    at(p, begin + 5 + delay, LEAVE, 0, NULL);
    at(p, begin + 5 + delay, RUNNING, id, NULL);
    at(p, begin + 5 + delay, ENTER, 0, &sites[1]);
    at(p, begin + 12 + delay, LEAVE, 0, NULL);
    at(p, begin + 12 + delay + exec, COMPLETED, id, NULL);
}

static chroprof *slow_profile(void)
{
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    options.max_slow = 2;
    return fresh(&options);
}

TEST(where_the_latency_of_a_slow_future_went)
{
    chroprof *p = slow_profile();
    chroprof_slow row;
    slow_life(p, 0, 7, 30, 100);
    CHECK_EQ(chroprof_slowest(p, &row, 1), 1);
    CHECK_EQ(row.id, 7);
    CHECK_STR(row.name, "accept");
    CHECK_EQ(row.finish, CHROPROF_COMPLETED);
    CHECK_EQ(row.at_ns, 142);
    CHECK_EQ(row.latency_ns, 142);
    CHECK_EQ(row.exec_ns, 100);
    CHECK_EQ(row.children_ns, 7);
    CHECK_EQ(row.delay_ns, 30);
    CHECK_EQ(row.waiting_ns, 5);
    CHECK_EQ(row.unseen_ns, 0);
    CHECK_EQ(row.blame_count, 1);
    CHECK_STR(row.blames[0].name, "query");
    CHECK_EQ(row.blames[0].delay_ns, 30);
    chroprof_reset(p);
    CHECK_EQ(chroprof_slowest(p, NULL, 0), 0);
    laws(p);
}

/* What a future's own record tells reaches further back than the ring; and where none of a path was
 * ever ready, what was not on the stack waited. */
TEST(what_waited_longer_than_the_ring_reaches)
{
    static const chroprof_state ways[][2] = { { CHROPROF_PENDING, CHROPROF_CANCELLED },
                                              { CHROPROF_PAUSED, CHROPROF_COMPLETED },
                                              { CHROPROF_READY, CHROPROF_CANCELLED } };
    chroprof_slow row;
    uint64_t t, k, i;
    for (k = 0; k < 4; k++) {
        chroprof *p = slow_profile();
        t = 0;
        at(p, t += 10, PENDING, 1, &sites[0]);
        if (k == 1 || k == 3) {
            at(p, t += 5, RUNNING, 1, NULL);
            at(p, t += 5, PAUSED, 1, NULL);
        } else if (k == 2) {
            at(p, t += 5, READY, 1, NULL);
        }
        const uint64_t rested = t;
        for (i = 0; i < 4 * 8192; i++)
            chroprof_event(p, CHROPROF_TICK, 0, NULL, t += 10); /* laws: at the end */
        const uint64_t ran = t;
        if (k == 3)
            at(p, t += 10, RUNNING, 1, NULL);
        chroprof_event(p, k == 3 ? CHROPROF_COMPLETED : ways[k][1], 1, NULL, t += 5);
        CHECK_EQ(chroprof_slowest(p, &row, 1), 1);
        CHECK_EQ(row.exec_ns, k == 3 ? 10 : k == 1 ? 5 : 0);
        CHECK_EQ(row.delay_ns, k == 2 ? t - rested : 0);
        if (k < 3)
            CHECK_EQ(row.waiting_ns, k == 2 ? 0 : t - rested);
        else
            CHECK(row.waiting_ns > 0 && row.waiting_ns < ran - rested);
        CHECK(k == 3 || row.unseen_ns <= 5);
        laws(p);
    }
}

/* Off and on again, nobody is ready. */
TEST(no_delay_from_before_a_switch_off)
{
    chroprof *p = slow_profile();
    chroprof_slow row;
    uint64_t t = 10;
    int k;
    at(p, t, PENDING, 1, &sites[0]);
    for (k = 0; k < 3; k++) {
        at(p, t += 5, READY, 1, NULL);
        at(p, t += 100, TICK, 0, NULL);
        chroprof_set_enabled(p, false);
        chroprof_set_enabled(p, true);
        at(p, t += 1000, TICK, 0, NULL);
        at(p, t += 1000, TICK, 0, NULL);
    }
    at(p, t += 10, COMPLETED, 1, NULL);
    CHECK_EQ(chroprof_slowest(p, &row, 1), 1);
    CHECK_EQ(row.delay_ns, 300);
    CHECK_EQ(row.unseen_ns, 0);
    laws(p);
}

/* Futures that no path could hold are of no site. */
TEST(untracked_futures_are_no_slow_ones)
{
    static unsigned char memory[1 << 18];
    chroprof_options o;
    chroprof p;
    chroprof_totals totals;
    uint64_t id;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_paths = 1;
    o.max_slow = 8;
    CHECK_EQ(chroprof_init(&p, memory, sizeof memory, &o), CHROPROF_OK);
    for (id = 1; id < 9; id++) {
        at(&p, 10 * id, PENDING, id, &sites[id % 3]);
        at(&p, 10 * id + 5, CANCELLED, id, NULL);
    }
    CHECK_EQ(chroprof_slowest(&p, NULL, 0), 3);
    at(&p, 200, IDLE_ENTER, 0, NULL);
    at(&p, 210, IDLE_LEAVE, 0, NULL);
    chroprof_read_totals(&p, &totals);
    CHECK(totals.in_iteration && !totals.idle);
    at(&p, 220, IDLE_ENTER, 0, NULL);
    chroprof_read_totals(&p, &totals);
    CHECK(!totals.in_iteration && totals.idle);
    laws(&p);
}

/* What a slower one pushes out of the four of the run goes, if it is old. */
TEST(the_four_slowest_push_out_old_ones)
{
    const uint64_t minute = UINT64_C(60000000000);
    chroprof *p = slow_profile();
    chroprof_slow rows[16];
    uint64_t id, k, count;
    for (id = 1; id <= 8; id++)
        slow_life(p, 10000 * id, id, 10, 1000 + id);
    for (id = 11; id <= 14; id++)
        slow_life(p, (id - 4) * minute, id, 10, 5000 + id);
    count = chroprof_slowest(p, rows, 16);
    for (k = 0; k < count; k++)
        CHECK(rows[k].of_run || rows[k].at_ns + 5 * minute >= 10 * minute);
    CHECK_EQ(count, 4);
    laws(p);
}

/* Four of the run stay; what else is five minutes old gives way. */
TEST(slow_futures_of_the_last_minutes)
{
    const uint64_t minute = UINT64_C(60000000000);
    chroprof *p = slow_profile();
    chroprof_slow rows[16];
    uint64_t id;
    for (id = 1; id <= 12; id++)
        slow_life(p, 10000 * id, id, 10, 1000 + id);
    CHECK_EQ(chroprof_slowest(p, rows, 16), 8);
    CHECK_EQ(rows[0].id, 12);
    CHECK_EQ(rows[7].id, 5);
    CHECK(rows[3].of_run);
    CHECK(!rows[4].of_run);
    at(p, 7 * minute, TICK, 0, NULL);
    CHECK_EQ(chroprof_slowest(p, rows, 16), 4);
    slow_life(p, 7 * minute + 1, 20, 1, 1);
    CHECK_EQ(chroprof_slowest(p, rows, 16), 5);
    CHECK_EQ(rows[4].id, 20);
    laws(p);
}

TEST(slow_futures_of_a_difference_and_a_merge)
{
    enum { SIZE = 1 << 18 };
    static union {
        uint64_t align;
        unsigned char bytes[SIZE];
    } live, a, b, c;
    chroprof program, *p = &program, older, whole, sum;
    chroprof_slow rows[16];
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(p, live.bytes, SIZE, &o), CHROPROF_OK);
    slow_life(p, 0, 7, 30, 100);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, a.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&older, a.bytes, SIZE), CHROPROF_OK);
    slow_life(p, 1000, 8, 20, 50);
    CHECK_EQ(chroprof_difference(p, &older, b.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&whole, b.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_slowest(&whole, rows, 16), 1);
    CHECK_EQ(rows[0].id, 8);
    CHECK_EQ(rows[0].at_ns, 1082 - 142);
    CHECK_EQ(chroprof_init(&sum, c.bytes, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &whole), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &older), CHROPROF_OK);
    CHECK_EQ(chroprof_slowest(&sum, rows, 16), 2);
    CHECK_EQ(rows[0].id, 7);
    CHECK_EQ(rows[1].id, 8);
    CHECK_STR(chroprof_path_name(&sum, rows[1].path, NULL, NULL), "accept");
    CHECK_STR(rows[1].blames[0].name, "query");
    laws(&sum);
}

/* Whatever a word of a block says, what opens tells of parts that add up. */
TEST(forged_slow_futures)
{
    enum { SIZE = 24 << 10, WORDS = SIZE / 8 };
    static uint64_t live[WORDS], forged[WORDS];
    chroprof program, *p = &program, view;
    chroprof_options o;
    chroprof_slow row;
    size_t k, opened = 0;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_slow = 1;
    CHECK_EQ(chroprof_init(p, live, SIZE, &o), CHROPROF_OK);
    slow_life(p, 0, 7, 30, 100);
    slow_life(p, 1000, 8, 20, 50);
    for (k = 0; k < (size_t)2 * WORDS; k++) {
        uint64_t cursor = 0;
        memcpy(forged, live, sizeof forged);
        forged[k / 2] = k % 2 ? UINT64_MAX : forged[k / 2] + 1000;
        if (chroprof_open(&view, forged, SIZE) != CHROPROF_OK)
            continue;
        for (opened++; chroprof_next_slowest(&view, &cursor, &row);)
            CHECK_EQ(row.exec_ns + row.children_ns + row.delay_ns + row.waiting_ns + row.unseen_ns,
                     row.latency_ns);
    }
    CHECK(opened > 0 && opened < (size_t)2 * WORDS);
}

static const test_case cases[] = { CASE(steps_are_the_events_that_were_sent),
                                   CASE(figures_are_rebuilt_from_the_steps),
                                   CASE(a_part_of_the_timeline),
                                   CASE(a_step_tells_the_path_and_the_depth),
                                   CASE(a_reset_forgets_the_steps_before_it),
                                   CASE(steps_of_a_snapshot_and_of_a_difference),
                                   CASE(a_merge_forgets_the_steps),
                                   CASE(where_the_latency_of_a_slow_future_went),
                                   CASE(what_waited_longer_than_the_ring_reaches),
                                   CASE(no_delay_from_before_a_switch_off),
                                   CASE(untracked_futures_are_no_slow_ones),
                                   CASE(the_four_slowest_push_out_old_ones),
                                   CASE(slow_futures_of_the_last_minutes),
                                   CASE(slow_futures_of_a_difference_and_a_merge),
                                   CASE(forged_slow_futures) };

TEST_MAIN(cases)
