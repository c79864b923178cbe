/* tests/test_words.c - each word of the concepts as a case of its own: callback, iteration, slice,
 * waiting, delay, blame, path, stall, windows, percentiles, reset, on and off. Manual clock. */
#include "harness.h"

static const chroprof_site A = { "a", "host.c", 1 };
static const chroprof_site B = { "b", "host.c", 2 };
static const chroprof_site C = { "c", "host.c", 3 };
static const chroprof_site D = { "d", "host.c", 4 };

/* An activation of a callback on an empty stack: one slice, one callback. */
static void call(chroprof *p, const chroprof_site *site, uint64_t from, uint64_t to)
{
    at(p, from, ENTER, 0, site);
    at(p, to, LEAVE, 0, NULL);
}

#if defined(CHROPROF_SCOPE)
static void scoped(chroprof *p)
{
    CHROPROF_SCOPE(p, "scoped");
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 15);
}

/* Here the compiler has what the macro needs; tests/compile/scope.c has all its ways out. */
TEST(a_scope_is_an_enter_and_a_leave)
{
    chroprof *p = fresh(NULL);
    at(p, 10, TICK, 0, NULL);
    scoped(p);
    at(p, 20, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "scoped").calls, 1);
    CHECK_EQ(rank_of(p, "scoped").completed, 1);
    CHECK_EQ(rank_of(p, "scoped").exec_ns, 5);
    CHECK_EQ(totals_of(p).depth, 0);
}
#endif

/* ---- profile time, idle, loop ---- */

TEST(the_profile_starts_at_its_first_event)
{
    chroprof *p = fresh(NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    at(p, 123456, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    at(p, 123466, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    CHECK_EQ(chroprof_now(p), 123466);
    CHECK_EQ(totals_of(p).events, 2);
}

TEST(idle_and_loop_and_busy)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 100, IDLE_LEAVE, 0, NULL);
    call(p, &A, 107, 147);
    at(p, 150, IDLE_ENTER, 0, NULL);
    at(p, 180, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 130);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    CHECK_EQ(totals_of(p).busy_ns, 40);
    CHECK_EQ(totals_of(p).elapsed_ns, 180);
    CHECK(totals_of(p).idle);
    orderly(p);
}

TEST(reads_are_pure)
{
    chroprof *p = fresh(NULL);
    chroprof_totals before, after;
    chroprof_table tables[CHROPROF_TABLE_COUNT + 1], untouched;
    at(p, 0, ENTER, 0, &A);
    at(p, 10, TICK, 0, NULL);
    before = totals_of(p);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 1);
    CHECK_EQ(chroprof_futures(p, NULL, 0), 1);
    CHECK_EQ(chroprof_windows(p, NULL, 0), 1);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 0);
    CHECK_EQ(chroprof_tables(p, NULL, 0), CHROPROF_TABLE_COUNT);
    CHECK_EQ(chroprof_anomalies(p, NULL, 0), CHROPROF_ANOMALY_COUNT);
    memset(tables, 0x5A, sizeof tables);
    untouched = tables[CHROPROF_TABLE_COUNT];
    CHECK_EQ(chroprof_tables(p, tables, CHROPROF_TABLE_COUNT + 1), CHROPROF_TABLE_COUNT);
    CHECK(memcmp(tables + CHROPROF_TABLE_COUNT, &untouched, sizeof untouched) == 0);
    after = totals_of(p);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
}

/* ---- exec, slice ---- */

TEST(overlap_is_not_billed_below)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 2, &B);
    at(p, 10, RUNNING, 2, NULL);
    at(p, 40, PAUSED, 2, NULL);
    at(p, 45, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 15);
    CHECK_EQ(rank_of(p, "b").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").with_children_ns, 45);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 15);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 45);
    orderly(p);
}

TEST(the_slice_under_way_counts)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 30, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 30);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 30);
    CHECK_EQ(path_of(p, "a").slice_max_ns, 30);
    CHECK_EQ(path_of(p, "a").exec_max_ns, 30);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 0);
    CHECK_EQ(future_of(p, 1).exec_ns, 30);
}

TEST(exec_max_is_of_a_single_future)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 20, PAUSED, 1, NULL);
    at(p, 20, RUNNING, 2, NULL);
    at(p, 50, COMPLETED, 2, NULL);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 30);
    at(p, 50, RUNNING, 1, NULL);
    at(p, 65, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 35);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 30);
    CHECK_EQ(rank_of(p, "a").exec_ns, 65);
}

/* ---- callback ---- */

TEST(callback_is_an_outermost_activation)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 0);
    at(p, 40, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 40);
    call(p, &A, 50, 55);
    CHECK_EQ(totals_of(p).callbacks, 2);
    CHECK_EQ(totals_of(p).callback_max_ns, 40);
}

TEST(callback_ends_by_a_switch_at_the_base)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, SWITCH, 1, NULL);
    at(p, 30, SWITCH, 2, NULL);
    CHECK_EQ(totals_of(p).callbacks, 1);
    at(p, 50, SWITCH, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 2);
    CHECK_EQ(totals_of(p).callback_max_ns, 30);
}

TEST(callback_goes_on_over_a_switch_above_the_base)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, ENTER, 0, &C);
    at(p, 10, SWITCH, 1, NULL);
    at(p, 30, SWITCH, 2, NULL);
    at(p, 50, SWITCH, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 0);
    at(p, 60, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 60);
}

TEST(callback_leaves_out_a_nested_loop)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 20, IDLE_ENTER, 0, NULL);
    at(p, 520, IDLE_LEAVE, 0, NULL);
    call(p, &B, 530, 537);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 7);
    at(p, 540, LOOP_LEAVE, 0, NULL);
    at(p, 555, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 2);
    CHECK_EQ(totals_of(p).callback_max_ns, 25);
}

TEST(callback_percentiles)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int i;
    for (i = 0; i < 100; i++, t += 20000)
        call(p, &A, t, t + (i < 90 ? 1000 : 16000));
    CHECK_EQ(totals_of(p).callbacks, 100);
    CHECK_IN(totals_of(p).callback_p50_ns, 938, 1062);
    CHECK_IN(totals_of(p).callback_p99_ns, 15000, 16000);
    CHECK_EQ(totals_of(p).callback_max_ns, 16000);
}

/* ---- iteration ---- */

TEST(iteration_is_between_two_idles)
{
    chroprof *p = fresh(NULL);
    call(p, &A, 0, 1000);
    at(p, 1000, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 0);
    at(p, 1500, IDLE_LEAVE, 0, NULL);
    call(p, &A, 1510, 1530);
    CHECK_EQ(totals_of(p).iterations, 0);
    at(p, 1540, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 1);
    CHECK_EQ(totals_of(p).iteration_max_ns, 40);
    at(p, 1600, ENTER, 0, &B);
    at(p, 1610, LEAVE, 0, NULL);
    at(p, 1625, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 2);
    CHECK_EQ(totals_of(p).iteration_max_ns, 40);
    orderly(p);
}

TEST(iteration_percentiles)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int i;
    for (i = 0; i <= 100; i++) {
        at(p, t, IDLE_ENTER, 0, NULL);
        at(p, t + 500, IDLE_LEAVE, 0, NULL);
        t += i < 60 ? 1500 : 8500;
    }
    CHECK_EQ(totals_of(p).iterations, 100);
    CHECK_IN(totals_of(p).iteration_p50_ns, 938, 1062);
    CHECK_IN(totals_of(p).iteration_p99_ns, 7500, 8000);
    CHECK_EQ(totals_of(p).iteration_max_ns, 8000);
}

/* Half of the time is in iterations of 1000, in which it takes 500 on average until the poll; what
 * waits longer than 980 came in the first 20 of an iteration, one hundredth of the time. */
TEST(hidden_delay_of_what_comes_at_random)
{
    chroprof *p = fresh(NULL);
    uint64_t t;
    for (t = 0; t <= 200000; t += 2000) {
        at(p, t, IDLE_ENTER, 0, NULL);
        CHECK_EQ(totals_of(p).hidden_ns, t > 0 ? 250 : 0);
        CHECK_EQ(totals_of(p).hidden_p99_ns, t > 0 ? 980 : 0);
        if (t < 200000)
            at(p, t + 1000, IDLE_LEAVE, 0, NULL);
    }
    at(p, 400000, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).hidden_ns, 125);
    CHECK_EQ(totals_of(p).hidden_p99_ns, 960);
}

/* ---- lifetime, waiting, delay, blame ---- */

TEST(wall_runs_until_now_while_live)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 70, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 70);
    at(p, 90, PENDING, 2, &A);
    at(p, 100, COMPLETED, 1, NULL);
    at(p, 120, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 130);
    CHECK_EQ(future_of(p, 2).since_ns, 90);
}

TEST(waiting_is_wall_without_exec_and_delay)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 10, READY, 1, NULL);
    at(p, 25, RUNNING, 1, NULL);
    at(p, 45, PAUSED, 1, NULL);
    at(p, 75, READY, 1, NULL);
    at(p, 80, RUNNING, 1, NULL);
    at(p, 100, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 100);
    CHECK_EQ(rank_of(p, "a").exec_ns, 40);
    CHECK_EQ(rank_of(p, "a").delay_ns, 20);
    CHECK_EQ(rank_of(p, "a").waiting_ns, 40);
    orderly(p);
}

TEST(blame_is_what_it_cost_the_others)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, PENDING, 3, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, READY, 2, NULL);
    at(p, 20, READY, 3, NULL);
    at(p, 30, PAUSED, 1, NULL);
    at(p, 35, IDLE_ENTER, 0, NULL);
    at(p, 41, IDLE_LEAVE, 0, NULL);
    at(p, 43, RUNNING, 9, NULL);
    at(p, 47, PAUSED, 9, NULL);
    at(p, 48, RUNNING, 2, NULL);
    at(p, 58, RUNNING, 3, NULL);
    CHECK_EQ(rank_of(p, "a").blame_ns, 10 * 1 + 10 * 2);
    CHECK_EQ(totals_of(p).uninstrumented_blame_ns, 2 * (5 + 2 + 1));
    CHECK_EQ(totals_of(p).idle_blame_ns, 2 * 6);
    CHECK_EQ(totals_of(p).untracked_blame_ns, 2 * 4);
    CHECK_EQ(rank_of(p, "b").blame_ns, 10);
    CHECK_EQ(rank_of(p, "b").delay_ns, 38 + 38);
    CHECK_EQ(totals_of(p).blame_ns, 76);
    only(p, UNKNOWN_RUNNING, 1);
}

TEST(delay_percentiles)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int i;
    at(p, 0, PENDING, 1, &A);
    for (i = 0; i < 200; i++, t += 100000) {
        at(p, t, READY, 1, NULL);
        at(p, t + (i < 150 ? 1000 : 64000), RUNNING, 1, NULL);
        at(p, t + 70000, PAUSED, 1, NULL);
    }
    CHECK_EQ(rank_of(p, "a").delay_ns, 150 * 1000 + 50 * 64000);
    CHECK_IN(rank_of(p, "a").delay_p99_ns, 60000, 64000);
}

static void since(chroprof *p, uint64_t id, uint64_t when)
{
    chroprof_ready_since(p, id, when);
    laws(p);
}

TEST(ready_since_blames_the_past)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 30, PAUSED, 1, NULL);
    at(p, 40, ENTER, 0, &C);
    at(p, 60, TICK, 0, NULL);
    since(p, 2, 25);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_READY);
    CHECK_EQ(rank_of(p, "a").blame_ns, 5);
    CHECK_EQ(rank_of(p, "c").blame_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_blame_ns, 10);
    CHECK_EQ(rank_of(p, "b").delay_ns, 35);
    at(p, 70, LEAVE, 0, NULL);
    at(p, 70, RUNNING, 2, NULL);
    CHECK_EQ(rank_of(p, "c").blame_ns, 30);
    CHECK_EQ(rank_of(p, "b").delay_ns, 45);
    orderly(p);
}

TEST(ready_since_is_clamped_to_the_state)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &C);
    at(p, 10, PENDING, 1, &A);
    at(p, 20, TICK, 0, NULL);
    since(p, 1, 3);
    CHECK_EQ(rank_of(p, "a").delay_ns, 10);
    at(p, 30, RUNNING, 1, NULL);
    at(p, 40, PAUSED, 1, NULL);
    at(p, 55, TICK, 0, NULL);
    since(p, 1, 35);
    CHECK_EQ(rank_of(p, "a").delay_ns, 20 + 15);
    orderly(p);
}

TEST(ready_since_ahead_of_now)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 10, TICK, 0, NULL);
    since(p, 1, 11);
    CHECK_EQ(rank_of(p, "a").delay_ns, 0);
    at(p, 15, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 5);
    only(p, READY_AHEAD, 1);
}

TEST(ready_since_while_running_is_remembered)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, TICK, 0, NULL);
    since(p, 1, 5);
    at(p, 20, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_READY);
    at(p, 28, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 8);
    orderly(p);
}

/* 200 intervals of 10 ns for c. A ring of 64 steps holds 63 intervals, two of them of ready_since
 * itself; the part before is the loop's. */
TEST(ready_since_beyond_the_ring)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t t = 0;
    options.max_events = 64;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, ENTER, 0, &C);
    while (t < 2000)
        at(p, t += 10, TICK, 0, NULL);
    since(p, 1, 1500);
    CHECK_EQ(rank_of(p, "a").delay_ns, 500);
    CHECK_EQ(rank_of(p, "c").blame_ns, 500);
    at(p, 2000, CANCELLED, 1, NULL);
    at(p, 2000, PENDING, 2, &B);
    at(p, 2000, LEAVE, 0, NULL);
    at(p, 2000, IDLE_ENTER, 0, NULL);
    while (t < 3000)
        at(p, t += 10, TICK, 0, NULL);
    since(p, 2, 2000);
    CHECK_EQ(rank_of(p, "b").delay_ns, 1000);
    CHECK_EQ(totals_of(p).idle_blame_ns + totals_of(p).uninstrumented_blame_ns, 1000);
    CHECK_IN(totals_of(p).idle_blame_ns, 610, 620);
    CHECK_EQ(totals_of(p).blame_ns, 1500);
    orderly(p);
}

/* ---- path, parent, fold ---- */

TEST(parent_is_the_creator)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, PENDING, 1, &B);
    at(p, 0, LEAVE, 0, NULL);
    at(p, 5, ENTER, 0, &C);
    at(p, 5, RUNNING, 1, NULL);
    at(p, 10, PENDING, 2, &D);
    at(p, 20, COMPLETED, 1, NULL);
    at(p, 20, LEAVE, 0, NULL);
    CHECK_EQ(path_of(p, "a;b").exec_ns, 15);
    CHECK_EQ(path_of(p, "a;b;d").live, 1);
    CHECK_EQ(path_of(p, "c").with_children_ns, 0);
    CHECK_EQ(path_of(p, "a").with_children_ns, 15);
    CHECK_EQ(rank_of(p, "a").children_ns, 15);
    CHECK_EQ(path_of(p, "a").parent, 0);
    CHECK_EQ(path_of(p, "a;b").parent, path_of(p, "a").id);
    CHECK(path_of(p, "a").id > 2);
}

TEST(a_site_stands_once_on_a_path)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    at(p, 20, ENTER, 0, &A);
    at(p, 30, ENTER, 0, &B);
    at(p, 40, ENTER, 0, &C);
    at(p, 50, ENTER, 0, &A);
    at(p, 60, TICK, 0, NULL);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 3);
    CHECK_EQ(path_of(p, "a").exec_ns, 30);
    CHECK_EQ(path_of(p, "a").calls, 3);
    CHECK_EQ(path_of(p, "a;b").exec_ns, 20);
    CHECK_EQ(path_of(p, "a;b;c").exec_ns, 10);
    CHECK_EQ(rank_of(p, "a").with_children_ns, 60);
    CHECK_EQ(rank_of(p, "b").with_children_ns, 30);
    orderly(p);
}

TEST(the_same_content_is_one_site)
{
    static const char name[] = "twin";
    static const char file[] = "x.c";
    static const char other_name[] = "twin";
    static const char other_file[] = "x.c";
    const chroprof_site one = { name, file, 7 };
    const chroprof_site two = { other_name, other_file, 7 };
    const chroprof_site line = { name, file, 8 };
    const chroprof_site bare = { name, NULL, 7 };
    chroprof *p = fresh(NULL);
    const chroprof_site *made = chroprof_site_make(p, "twin", "x.c", 7);
    CHECK(made != NULL && made == chroprof_site_make(p, other_name, other_file, 7));
    CHECK(chroprof_site_make(p, NULL, "x.c", 7) == NULL);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
    call(p, &one, 0, 10);
    call(p, &two, 10, 30);
    call(p, made, 30, 60);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 1);
    CHECK_EQ(rank_of(p, "twin").exec_ns, 60);
    call(p, &line, 60, 61);
    call(p, &bare, 61, 62);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 3);
}

/* One variable, its content changed: the content counts, not where it lies. */
TEST(a_site_that_changes_is_another)
{
    chroprof_site site = A;
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &site);
    at(p, 1, LEAVE, 0, NULL);
    site.file = "other.c";
    at(p, 1, ENTER, 0, &site);
    at(p, 3, LEAVE, 0, NULL);
    site.line++;
    at(p, 3, ENTER, 0, &site);
    at(p, 6, LEAVE, 0, NULL);
    site.name = "another";
    at(p, 6, ENTER, 0, &site);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 4);
    CHECK_EQ(rank_of(p, "another").exec_ns, 4);
    orderly(p);
}

TEST(with_children_counts_a_site_under_two_parents)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &C);
    at(p, 20, LEAVE, 0, NULL);
    at(p, 20, LEAVE, 0, NULL);
    at(p, 20, ENTER, 0, &B);
    at(p, 25, ENTER, 0, &C);
    at(p, 45, LEAVE, 0, NULL);
    at(p, 45, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "c").exec_ns, 30);
    CHECK_EQ(rank_of(p, "c").calls, 2);
    CHECK_EQ(rank_of(p, "a").children_ns, 10);
    CHECK_EQ(rank_of(p, "b").children_ns, 20);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 4);
}

/* A child of a parent twice on one chain of sites must not be counted twice with a. */
TEST(with_children_is_not_counted_twice)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, ENTER, 0, &B);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, ENTER, 0, &C);
    at(p, 50, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "c").exec_ns, 50);
    CHECK_EQ(rank_of(p, "a").with_children_ns, 50);
    CHECK_EQ(rank_of(p, "b").with_children_ns, 0);
    CHECK_EQ(path_of(p, "a;c").exec_ns, 50);
}

TEST(ranks_are_sorted)
{
    chroprof_rank rows[3];
    chroprof *p = fresh(NULL);
    call(p, &A, 0, 10);
    call(p, &A, 10, 20);
    call(p, &B, 20, 80);
    call(p, &C, 80, 110);
    call(p, &C, 110, 140);
    call(p, &C, 140, 141);
    CHECK_EQ(chroprof_ranks(p, rows, 3, CHROPROF_BY_EXEC), 3);
    CHECK_STR(rows[0].name, "c");
    CHECK_STR(rows[1].name, "b");
    CHECK_STR(rows[2].name, "a");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_SLICE_MAX);
    CHECK_STR(rows[0].name, "b");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_CALLS);
    CHECK_STR(rows[0].name, "c");
    CHECK_STR(rows[1].name, "a");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_WITH_CHILDREN);
    CHECK_STR(rows[0].name, "c");
}

/* Nobody has blame or delay: exec decides, then the name. */
TEST(ranks_by_an_order_that_does_not_exist)
{
    chroprof_rank rows[3];
    chroprof *p = fresh(NULL);
    call(p, &A, 0, 10);
    call(p, &B, 10, 40);
    call(p, &C, 40, 60);
    CHECK_EQ(chroprof_ranks(p, rows, 3, (chroprof_order)made_up(99)), 3);
    CHECK_STR(rows[0].name, "b");
    CHECK_STR(rows[1].name, "c");
    CHECK_STR(rows[2].name, "a");
    CHECK_EQ(chroprof_ranks(p, rows, 1, CHROPROF_BY_SLICE_MAX), 3);
    CHECK_STR(rows[0].name, "b");
}

/* From the top down; what a slice has so far is its own time on top. */
TEST(frames_from_the_top_down)
{
    chroprof_frame rows[4], first;
    chroprof *p = fresh(NULL), none;
    memset(&none, 0, sizeof none);
    CHECK_EQ(chroprof_frames(&none, rows, 4), 0);
    CHECK_EQ(chroprof_frames(p, rows, 4), 0);
    CHECK_EQ(chroprof_frames(NULL, rows, 4), 0);
    at(p, 0, PENDING, 7, &A);
    at(p, 10, RUNNING, 7, NULL);
    at(p, 30, LOOP_ENTER, 0, NULL);
    at(p, 40, ENTER, 0, &B);
    at(p, 70, TICK, 0, NULL);
    memset(rows, 0x55, sizeof rows);
    CHECK_EQ(chroprof_frames(p, rows, 4), 3);
    CHECK_STR(rows[0].name, "b");
    CHECK(rows[0].id == 0 && !rows[0].barrier && rows[0].since_ns == 40 && rows[0].slice_ns == 30);
    CHECK(rows[1].barrier && rows[1].id == 0 && rows[1].since_ns == 30 && rows[1].slice_ns == 0);
    CHECK_STR(rows[2].name, "a");
    CHECK(rows[2].id == 7 && !rows[2].barrier && rows[2].since_ns == 10 && rows[2].slice_ns == 20);
    CHECK_EQ(rows[2].path, path_of(p, "a").id);
    CHECK_EQ(chroprof_frames(p, &first, 1), 3);
    CHECK_STR(first.name, "b");
    CHECK_EQ(chroprof_frames(p, NULL, 0), 3);
}

TEST(ranks_with_ties)
{
    chroprof_rank rows[3];
    chroprof *p = fresh(NULL);
    call(p, &C, 0, 10);
    call(p, &B, 10, 20);
    call(p, &A, 20, 25);
    CHECK_EQ(chroprof_ranks(p, rows, 1, CHROPROF_BY_BLAME), 3);
    CHECK_STR(rows[0].name, "b");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_DELAY);
    CHECK_STR(rows[0].name, "b");
    CHECK_STR(rows[1].name, "c");
    CHECK_STR(rows[2].name, "a");
}

TEST(ranks_by_blame_and_delay)
{
    chroprof_rank rows[3];
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, READY, 1, NULL);
    call(p, &B, 0, 10);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 50, COMPLETED, 1, NULL);
    CHECK_EQ(chroprof_ranks(p, rows, 3, CHROPROF_BY_BLAME), 2);
    CHECK_STR(rows[0].name, "b");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_DELAY);
    CHECK_STR(rows[0].name, "a");
    chroprof_ranks(p, rows, 3, CHROPROF_BY_EXEC);
    CHECK_STR(rows[0].name, "a");
}

/* A poll that waited hides nothing; what one found that did not had waited half of the time since
 * the poll before, on average; a future no longer than it rests. */
TEST(hidden_delay_of_a_site)
{
    chroprof *p = fresh(NULL);
    at(p, 1000, IDLE_ENTER, 0, NULL);
    at(p, 2000000, IDLE_LEAVE, 0, NULL);
    at(p, 2000000, ENTER, 0, &A);
    at(p, 2000000, PENDING, 7, &B);
    at(p, 2600000, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").found, 1);
    CHECK_EQ(rank_of(p, "a").hidden_total_ns, 0);
    at(p, 2600000, RUNNING, 7, NULL);
    at(p, 2800000, PAUSED, 7, NULL);
    CHECK_EQ(rank_of(p, "b").found, 0); /* a task had created it since the poll */
    at(p, 2999000, IDLE_ENTER, 0, NULL);
    at(p, 3000000, IDLE_LEAVE, 0, NULL);
    at(p, 3000000, ENTER, 0, &A);
    at(p, 3100000, LEAVE, 0, NULL);
    at(p, 3100000, RUNNING, 7, NULL);
    CHECK_EQ(rank_of(p, "a").found, 2);
    CHECK_EQ(rank_of(p, "a").hidden_total_ns, 500000);
    CHECK_EQ(rank_of(p, "b").found, 1);
    CHECK_EQ(rank_of(p, "b").hidden_total_ns, 100000);
}

TEST(stillborn_is_apart_from_calls)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    chroprof_stillborn(p, &B, CHROPROF_FAILED);
    laws(p);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(path_of(p, "a;b").stillborn, 1);
    CHECK_EQ(rank_of(p, "b").stillborn, 1);
    CHECK_EQ(rank_of(p, "b").calls, 0);
    CHECK_EQ(rank_of(p, "b").failed, 0);
    CHECK_EQ(rank_of(p, "b").lifetime_ns, 0);
    CHECK_EQ(rank_of(p, "b").slices, 0);
    orderly(p);
}

/* ---- live futures ---- */

TEST(live_futures_with_path_and_since)
{
    chroprof_future rows[4];
    chroprof *p = fresh(NULL);
    at(p, 5, PENDING, 1, &A);
    at(p, 15, RUNNING, 1, NULL);
    at(p, 25, PENDING, 2, &B);
    at(p, 35, READY, 2, NULL);
    at(p, 45, ENTER, 0, &C);
    at(p, 55, TICK, 0, NULL);
    CHECK_EQ(chroprof_futures(p, rows, 4), 3);
    CHECK_EQ(rows[2].id, 0);
    CHECK_STR(rows[2].name, "c");
    CHECK_EQ(rows[2].state, CHROPROF_RUNNING);
    CHECK_EQ(rows[2].exec_ns, 10);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
    CHECK_EQ(future_of(p, 1).since_ns, 10);
    CHECK_EQ(future_of(p, 1).exec_ns, 30);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_READY);
    CHECK_EQ(future_of(p, 2).since_ns, 30);
    CHECK_EQ(future_of(p, 2).path, path_of(p, "a;b").id);
    CHECK_STR(future_of(p, 2).name, "b");
    CHECK_EQ(future_of(p, 2).line, 2);
}

/* ---- stall ---- */

typedef struct witness {
    chroprof *p;
    unsigned calls;
    size_t text_bytes;
    chroprof_stall first, last;
    const char *broken;
} witness;

static void note(void *user, const chroprof_stall *stall)
{
    witness *w = (witness *)user;
    w->first = w->calls++ == 0 ? *stall : w->first;
    w->last = *stall;
}

static chroprof *stalling(witness *w, void (*on_stall)(void *, const chroprof_stall *))
{
    chroprof_options options = { 0 };
    memset(w, 0, sizeof *w);
    options.stall_ns = 100;
    options.on_stall = on_stall;
    options.on_stall_user = w;
    w->p = fresh(&options);
    return w->p;
}

TEST(stall_of_a_callback)
{
    witness w;
    chroprof_stall kept[2];
    chroprof *p = stalling(&w, note);
    call(p, &A, 0, 100);
    CHECK_EQ(w.calls, 0);
    at(p, 200, PENDING, 7, &A);
    at(p, 200, RUNNING, 7, NULL);
    at(p, 230, ENTER, 0, &B);
    at(p, 290, LEAVE, 0, NULL);
    CHECK_EQ(w.calls, 0);
    at(p, 301, PAUSED, 7, NULL);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.last.kind, CHROPROF_STALL_CALLBACK);
    CHECK_EQ(w.last.start_ns, 200);
    CHECK_EQ(w.last.length_ns, 101);
    CHECK_EQ(w.last.share_count, 2);
    CHECK_EQ(w.last.shares[0].exec_ns, 60);
    CHECK_EQ(w.last.shares[0].slices, 1);
    CHECK_STR(w.last.shares[0].name, "b");
    CHECK_EQ(w.last.shares[0].site, path_of(p, "a;b").site);
    CHECK_EQ(w.last.shares[1].exec_ns, 41);
    CHECK_EQ(w.last.shares[1].slice_max_ns, 41);
    CHECK_STR(w.last.shares[1].name, "a");
    CHECK_EQ(w.last.rest_ns, 0);
    CHECK_EQ(totals_of(p).stalls, 1);
    CHECK_EQ(chroprof_stalls(p, kept, 2), 1);
    CHECK_EQ(kept[0].length_ns, 101);
    CHECK_EQ(kept[0].share_count, 2);
    CHECK_STR(kept[0].shares[1].name, "a");
}

TEST(stall_of_a_iteration_of_many_small_slices)
{
    witness w;
    uint64_t t = 20;
    int i;
    chroprof *p = stalling(&w, note);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 20, IDLE_LEAVE, 0, NULL);
    for (i = 0; i < 10; i++, t += 12)
        call(p, i == 4 ? &B : &A, t, t + 10 + (uint64_t)(i == 4));
    CHECK_EQ(w.calls, 0);
    at(p, t, IDLE_ENTER, 0, NULL);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.last.kind, CHROPROF_STALL_ITERATION);
    CHECK_EQ(w.last.start_ns, 20);
    CHECK_EQ(w.last.length_ns, 120);
    CHECK_EQ(w.last.share_count, 3);
    CHECK_STR(w.last.shares[0].name, "a");
    CHECK_EQ(w.last.shares[0].exec_ns, 90);
    CHECK_EQ(w.last.shares[0].slices, 9);
    CHECK_EQ(w.last.shares[0].slice_max_ns, 10);
    CHECK_EQ(w.last.shares[1].site, 0); /* loop: what nobody instrumented */
    CHECK_EQ(w.last.shares[1].exec_ns, 19);
    CHECK_EQ(w.last.shares[1].slices, 0);
    CHECK_STR(w.last.shares[2].name, "b");
    CHECK_EQ(w.last.shares[2].exec_ns, 11);
    CHECK_EQ(totals_of(p).stalls, 1);
}

/* A task whose callback is a stall, and inside it, in a nested loop, a callback whose callback is
 * one. */
static chroprof *two_stalled_callbacks(witness *w, uint64_t id)
{
    chroprof *p = stalling(w, note);
    at(p, 0, PENDING, id, &A);
    at(p, 0, RUNNING, id, NULL);
    at(p, 290, TICK, 0, NULL);
    at(p, 290, LOOP_ENTER, 0, NULL);
    at(p, 300, ENTER, 0, &B);
    at(p, 700, TICK, 0, NULL);
    CHECK_EQ(w->calls, 0);
    return p;
}

/* An event that unwinds across a barrier, or all of the stack, ends both. */
TEST(stalls_of_two_callbacks_that_one_event_ends)
{
    int off;
    for (off = 0; off < 2; off++) {
        witness w;
        chroprof *p = two_stalled_callbacks(&w, 7);
        if (off)
            chroprof_set_enabled(p, false);
        else
            at(p, 700, PAUSED, 7, NULL);
        CHECK_EQ(totals_of(p).stalls, 2);
        CHECK_EQ(w.calls, 2);
        CHECK_STR(w.first.shares[0].name, "b");
        CHECK_EQ(w.first.length_ns, 400);
        CHECK_STR(w.last.shares[0].name, "a");
        CHECK_EQ(w.last.length_ns, 290);
    }
}

/* The end of an iteration ends the callback under way: two stalls, because the callback is the
 * lesser part. */
TEST(stalls_of_a_callback_and_its_iteration_that_one_event_ends)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 310, ENTER, 0, &B);
    at(p, 510, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 2);
    CHECK_EQ(w.calls, 2);
    CHECK_EQ(w.first.kind, CHROPROF_STALL_CALLBACK);
    CHECK_EQ(w.first.length_ns, 200);
    CHECK_EQ(w.last.kind, CHROPROF_STALL_ITERATION);
    CHECK_EQ(w.last.length_ns, 500);
}

/* They are one stall: heard of when the callback ends, or with the iteration. */
TEST(a_callback_that_is_most_of_its_iteration_is_heard_of_once)
{
    int early;
    for (early = 0; early < 2; early++) {
        witness w;
        chroprof *p = stalling(&w, note);
        at(p, 0, IDLE_ENTER, 0, NULL);
        at(p, 10, IDLE_LEAVE, 0, NULL);
        at(p, 20, ENTER, 0, &B);
        if (early)
            at(p, 420, LEAVE, 0, NULL);
        else
            at(p, 420, TICK, 0, NULL);
        CHECK_EQ(w.calls, early);
        at(p, 430, IDLE_ENTER, 0, NULL);
        CHECK_EQ(totals_of(p).stalls, 1);
        CHECK_EQ(w.calls, 1);
        CHECK_EQ(w.last.kind, early ? CHROPROF_STALL_CALLBACK : CHROPROF_STALL_ITERATION);
    }
}

/* A callback of 97 slices of 1 to 97 ns in a shuffled order, and a ring that holds less than all of
 * it. */
TEST(stall_of_a_callback_beyond_the_ring)
{
    witness w;
    uint64_t t = 0, shown = 0;
    uint64_t i;
    chroprof_options options = { 0 };
    chroprof *p;
    memset(&w, 0, sizeof w);
    options.stall_ns = 100;
    options.max_events = 1; /* 64 is the least */
    options.on_stall = note;
    options.on_stall_user = &w;
    w.p = p = fresh(&options);
    at(p, t, ENTER, 0, &B);
    for (i = 0; i < 97; i++) {
        uint64_t length = 1 + i * 35 % 97;
        at(p, t, PENDING, length, &A);
        at(p, t, RUNNING, length, NULL);
        at(p, t += length, COMPLETED, length, NULL);
        shown += i >= 97 - 21 ? length : 0; /* 63 intervals: LEAVE, 20 x 3, and 2 of one more */
    }
    at(p, t, LEAVE, 0, NULL);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.last.events, 3 * 97 + 1); /* those after the first */
    CHECK_STR(w.last.shares[0].name, "a");
    CHECK_EQ(w.last.shares[0].exec_ns, shown);
    CHECK_EQ(w.last.shares[0].slices, 21);
    CHECK_EQ(w.last.rest_ns, t - shown);
}

/* What an iteration consists of is exact, whatever the ring holds. */
TEST(stall_of_a_iteration_beyond_the_ring)
{
    witness w;
    uint64_t t = 20;
    int i;
    chroprof_options options = { 0 };
    chroprof *p;
    memset(&w, 0, sizeof w);
    options.stall_ns = 5000;
    options.max_events = 64;
    options.on_stall = note;
    options.on_stall_user = &w;
    w.p = p = fresh(&options);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 20, IDLE_LEAVE, 0, NULL);
    for (i = 0; i < 1000; i++, t += 12)
        call(p, i % 10 == 4 ? &B : &A, t, t + (i == 500 ? 11 : 10));
    at(p, t, IDLE_ENTER, 0, NULL);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.last.length_ns, 12000);
    CHECK_EQ(w.last.events, 2001);
    CHECK_EQ(w.last.share_count, 3);
    CHECK_STR(w.last.shares[0].name, "a");
    CHECK_EQ(w.last.shares[0].exec_ns, 9001);
    CHECK_EQ(w.last.shares[0].slices, 900);
    CHECK_EQ(w.last.shares[0].slice_max_ns, 11);
    CHECK_EQ(w.last.shares[1].site, 0);
    CHECK_EQ(w.last.shares[1].exec_ns, 1999);
    CHECK_EQ(w.last.shares[2].exec_ns, 1000);
    CHECK_EQ(w.last.shares[2].slices, 100);
    CHECK_EQ(w.last.rest_ns, 0);
}

/* A reset while the loop is idle: windows, and steps that are too long, go by the new time. */
TEST(reset_while_idle)
{
    chroprof_options options = { 0 };
    chroprof_window rows[64];
    chroprof *p;
    size_t n;
    options.window_ns = 100;
    options.max_windows = 64;
    options.max_step_ns = 3000;
    p = fresh(&options);
    at(p, 1000000, IDLE_ENTER, 0, NULL);
    at(p, 1000001, TICK, 0, NULL);
    chroprof_reset(p);
    at(p, 1000051, IDLE_LEAVE, 0, NULL);
    call(p, &A, 1000051, 1002051);
    at(p, 1012051, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 10000);
    n = chroprof_windows(p, rows, 64);
    CHECK(n > 10);
    CHECK_EQ(rows[0].end_ns - rows[0].start_ns, rows[1].end_ns - rows[1].start_ns);
    CHECK_EQ(rows[n - 1].end_ns, 12050);
}

/* What each site took of a stall: slices that one event ends, and a switch with nothing to pause.
 * */
TEST(stall_shares_of_what_is_unwound)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 50, ENTER, 0, &B);
    at(p, 110, ENTER, 0, &C);
    at(p, 180, PAUSED, 1, NULL);
    CHECK_EQ(w.last.share_count, 3);
    CHECK_STR(w.last.shares[0].name, "c");
    CHECK_EQ(w.last.shares[1].slices, 1);
    CHECK_EQ(w.last.shares[1].slice_max_ns, 60);
    CHECK_EQ(w.last.shares[2].slices, 1);
    CHECK_EQ(w.last.shares[2].slice_max_ns, 50);
    at(p, 200, ENTER, 0, &B);
    at(p, 250, SWITCH, 1, NULL);
    at(p, 320, SWITCH, 0, NULL);
    at(p, 380, LEAVE, 0, NULL);
    CHECK_EQ(w.calls, 2);
    CHECK_STR(w.last.shares[0].name, "b");
    CHECK_EQ(w.last.shares[0].slices, 1);
    CHECK_EQ(w.last.shares[0].slice_max_ns, 110);
}

/* A switch to another future unwinds what is above the one that it pauses: the slices of both end. */
TEST(stall_shares_of_a_switch_that_unwinds)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 10, PENDING, 1, &A);
    at(p, 10, PENDING, 2, &B);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 60, ENTER, 0, &C);
    at(p, 100, SWITCH, 2, NULL);
    at(p, 150, SWITCH, 1, NULL);
    at(p, 210, PAUSED, 1, NULL);
    at(p, 220, IDLE_ENTER, 0, NULL);
    CHECK_EQ(w.last.kind, CHROPROF_STALL_ITERATION);
    CHECK_STR(w.last.shares[0].name, "a");
    CHECK_EQ(w.last.shares[0].exec_ns, 110);
    CHECK_EQ(w.last.shares[0].slices, 2);
    CHECK_EQ(w.last.shares[0].slice_max_ns, 60);
}

/* Of a site that also ran too deep it is not known how many slices there were. */
TEST(stall_shares_of_what_is_too_deep)
{
    witness w;
    int depth;
    chroprof *p = stalling(&w, note);
    at(p, 0, ENTER, 0, &A);
    at(p, 50, ENTER, 0, &B);
    for (depth = 2; depth < 20; depth++)
        at(p, 60, ENTER, 0, &B);
    at(p, 60, ENTER, 0, &C);
    for (depth = 20; depth >= 0; depth--)
        at(p, 200, LEAVE, 0, NULL);
    CHECK_STR(w.last.shares[0].name, "c");
    CHECK_EQ(w.last.shares[0].exec_ns, 140);
    CHECK_EQ(w.last.shares[0].slices, 0);
    CHECK_EQ(w.last.shares[0].slice_max_ns, 0);
    CHECK_STR(w.last.shares[1].name, "a");
    CHECK_EQ(w.last.shares[1].slices, 1);
    CHECK_EQ(w.last.shares[1].slice_max_ns, 50);
}

TEST(stall_begins_above_the_threshold)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 110, IDLE_ENTER, 0, NULL);
    at(p, 120, IDLE_LEAVE, 0, NULL);
    call(p, &A, 120, 220);
    at(p, 220, IDLE_ENTER, 0, NULL);
    CHECK_EQ(w.calls, 0);
    CHECK_EQ(totals_of(p).iteration_max_ns, 100);
    CHECK_EQ(totals_of(p).callback_max_ns, 100);
    at(p, 230, IDLE_LEAVE, 0, NULL);
    at(p, 331, IDLE_ENTER, 0, NULL);
    CHECK_EQ(w.calls, 1);
}

TEST(stall_is_the_callback_without_the_nested_loop)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, ENTER, 0, &A);
    at(p, 40, LOOP_ENTER, 0, NULL);
    at(p, 540, LOOP_LEAVE, 0, NULL);
    at(p, 580, LEAVE, 0, NULL);
    CHECK_EQ(w.calls, 0);
    CHECK_EQ(totals_of(p).stalls, 0);
    CHECK_EQ(totals_of(p).callback_max_ns, 80);
}

static int measure(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    ((witness *)user)->text_bytes += count;
    return 0;
}

/* What on_stall may do: read and dump. What it may not: events; they are ignored whole, counted. */
static void meddle(void *user, const chroprof_stall *stall)
{
    witness *w = (witness *)user;
    uint64_t events = totals_of(w->p).events;
    note(user, stall);
    w->broken = chroprof_check(w->p);
    if (chroprof_ranks(w->p, NULL, 0, CHROPROF_BY_EXEC) != 1)
        w->broken = "ranks";
    if (chroprof_write(w->p, CHROPROF_TEXT, measure, w) != 0)
        w->broken = "text";
    if (chroprof_write(w->p, CHROPROF_JSON, measure, w) != 0)
        w->broken = "json";
    chroprof_event(w->p, CHROPROF_PENDING, 99, &C, 123456);
    chroprof_tick(w->p);
    if (totals_of(w->p).events != events)
        w->broken = "an event was taken";
}

TEST(on_stall_may_read_and_dump_but_not_send_events)
{
    witness w;
    chroprof *p = stalling(&w, meddle);
    call(p, &A, 0, 150);
    CHECK_EQ(w.calls, 1);
    if (w.broken != NULL)
        harness_fail(__FILE__, __LINE__, "%s", w.broken);
    CHECK(w.text_bytes > 400);
    CHECK(find_rank(p, "c") == NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 150);
    CHECK_EQ(totals_of(p).live, 0);
    only(p, EVENT_IN_HOOK, 2);
    call(p, &A, 200, 310);
    CHECK_EQ(w.calls, 2);
}

static uint64_t stall_clock_now;

static uint64_t stall_clock(void *user)
{
    (void)user;
    return stall_clock_now;
}

static void dawdle(void *user, const chroprof_stall *stall)
{
    witness *w = (witness *)user;
    note(user, stall);
    stall_clock_now += 40;
    if (chroprof_write(w->p, CHROPROF_JSON, measure, w) != 0)
        w->broken = "json";
}

TEST(the_time_of_on_stall_is_loop)
{
    witness w;
    chroprof_options options = { 0 };
    chroprof *p;
    memset(&w, 0, sizeof w);
    stall_clock_now = 0;
    options.clock = stall_clock;
    options.stall_ns = 100;
    options.on_stall = dawdle;
    options.on_stall_user = &w;
    p = w.p = fresh(&options);
    chroprof_enter(p, &A);
    stall_clock_now = 150;
    chroprof_leave(p);
    laws(p);
    chroprof_enter(p, &B);
    laws(p);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 150);
    CHECK_EQ(rank_of(p, "b").exec_ns, 0);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 40);
    CHECK(w.broken == NULL && w.text_bytes > 400);
    orderly(p);
}

/* A profile whose clock is stall_clock, with this on_stall. */
static chroprof *stalling_by_clock(witness *w, void (*on_stall)(void *, const chroprof_stall *))
{
    chroprof_options options = { 0 };
    memset(w, 0, sizeof *w);
    stall_clock_now = 0;
    options.clock = stall_clock;
    options.stall_ns = 100;
    options.on_stall = on_stall;
    options.on_stall_user = w;
    return w->p = fresh(&options);
}

/* The stalled callback is that of a nested loop: on_stall's time is none of the call around it. */
TEST(the_time_of_on_stall_inside_a_nested_loop_is_loop)
{
    witness w;
    chroprof *p = stalling_by_clock(&w, dawdle);
    chroprof_enter(p, &A);
    stall_clock_now += 10;
    chroprof_loop_enter(p);
    chroprof_enter(p, &B);
    stall_clock_now += 150;
    chroprof_leave(p); /* 40 in on_stall */
    laws(p);
    stall_clock_now += 5;
    chroprof_loop_leave(p);
    stall_clock_now += 20;
    chroprof_leave(p);
    laws(p);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 30);
    CHECK_EQ(rank_of(p, "b").slice_max_ns, 150);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 45);
    CHECK_EQ(totals_of(p).callback_max_ns, 150);
    CHECK_EQ(totals_of(p).elapsed_ns, 225);
    orderly(p);
}

/* A switch at the base ends a callback while the next one has begun. */
TEST(the_time_of_on_stall_at_a_switch_is_loop)
{
    witness w;
    chroprof *p = stalling_by_clock(&w, dawdle);
    chroprof_pending(p, 1, &A);
    chroprof_pending(p, 2, &B);
    chroprof_running(p, 1);
    stall_clock_now += 150;
    chroprof_switch(p, 2);
    laws(p);
    stall_clock_now += 30;
    chroprof_paused(p, 2);
    laws(p);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(rank_of(p, "b").exec_ns, 30);
    CHECK_EQ(rank_of(p, "b").slice_max_ns, 30);
    CHECK_EQ(totals_of(p).callback_max_ns, 150);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 40);
    orderly(p);
}

TEST(a_stall_that_switching_off_ends)
{
    witness w;
    chroprof *p = stalling_by_clock(&w, dawdle);
    chroprof_enter(p, &A);
    stall_clock_now += 150;
    chroprof_set_enabled(p, false);
    CHECK_EQ(w.calls, 1);
    CHECK(!totals_of(p).enabled);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 150);
    chroprof_enter(p, &A);
    CHECK_EQ(rank_of(p, "a").calls, 1);
    laws(p);
}

/* Life calls from on_stall do nothing, but for init. */
static void rebel(void *user, const chroprof_stall *stall)
{
    witness *w = (witness *)user;
    note(user, stall);
    chroprof_reset(w->p);
    chroprof_set_enabled(w->p, false);
    chroprof_set_enabled(w->p, true);
#if defined(__unix__) || defined(__APPLE__)
    chroprof_unmap(w->p);
#endif
    if (chroprof_site_make(w->p, "made", "inside.c", 1) == NULL)
        w->broken = "no site";
}

TEST(on_stall_does_not_change_the_profiles_life)
{
    witness w;
    chroprof *p = stalling_by_clock(&w, rebel);
    chroprof_enter(p, &A);
    stall_clock_now += 150;
    chroprof_leave(p);
    CHECK_EQ(w.calls, 1);
    CHECK(w.broken == NULL);
    CHECK(totals_of(p).enabled);
    CHECK_EQ(rank_of(p, "a").exec_ns, 150);
    laws(p);
    orderly(p);
}

static void begin_anew(void *user, const chroprof_stall *stall)
{
    witness *w = (witness *)user;
    note(user, stall);
    w->p = fresh(NULL);
}

TEST(on_stall_makes_a_new_profile_of_the_handle)
{
    witness w;
    chroprof *p = stalling_by_clock(&w, begin_anew);
    chroprof_enter(p, &A);
    stall_clock_now += 150;
    chroprof_leave(p);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    CHECK(find_rank(p, "a") == NULL);
    at(p, 5, ENTER, 0, &B);
    CHECK_EQ(rank_of(p, "b").calls, 1);
    orderly(p);
}

/* One callback of i ns for each i in a shuffled order: the longest and the most recent are kept. */
TEST(stalls_keep_the_longest_and_the_most_recent)
{
    static chroprof_stall kept[64];
    chroprof_options options = { 0 };
    chroprof *p;
    size_t count, i;
    uint64_t t = 0;
    bool longest = false;
    bool recent = false;
    options.stall_ns = 100;
    options.max_stalls = 8;
    p = fresh(&options);
    for (i = 0; i < 97; i++, t += 10000)
        call(p, &A, t, t + 200 + i * 35 % 97);
    CHECK_EQ(totals_of(p).stalls, 97);
    count = chroprof_stalls(p, kept, 64);
    CHECK_IN(count, 4, 8);
    for (i = 0; i < count; i++) {
        longest = longest || kept[i].length_ns == 296;
        recent = recent || kept[i].start_ns == 960000;
        CHECK(i == 0 || kept[i - 1].start_ns < kept[i].start_ns);
    }
    CHECK(longest);
    CHECK(recent);
}

/* The profile that is left here is for the checkers of the formats. */
TEST(a_hundred_callbacks_stall_and_ten_iterations)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t i, t = 0;
    options.stall_ns = 1000;
    options.max_stalls = 400;
    options.window_ns = 25000;
    p = fresh(&options);
    at(p, 0, IDLE_ENTER, 0, NULL);
    for (i = 0; i < 100; i++, t += 10000) {
        if (i % 10 == 0)
            at(p, t + 500, IDLE_LEAVE, 0, NULL);
        call(p, i % 3 == 0 ? &B : &A, t + 1000, t + 3000 + i * 35 % 97 * 50);
        if (i % 10 == 9)
            at(p, t + 9000, IDLE_ENTER, 0, NULL);
    }
    at(p, t, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 110);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 110);
    CHECK_EQ(chroprof_windows(p, NULL, 0), 41);
    orderly(p);
}

/* ---- windows ---- */

static size_t sum_windows(const chroprof *p, uint64_t *busy, uint64_t *idle, uint64_t *whole)
{
    static chroprof_window rows[HARNESS_ROWS];
    size_t count = chroprof_windows(p, rows, HARNESS_ROWS);
    size_t i;
    *busy = *idle = *whole = 0;
    for (i = 0; i < count; i++) {
        CHECK_EQ(rows[i].start_ns, i == 0 ? 0 : rows[i - 1].end_ns);
        CHECK_EQ(rows[i].busy_ns + rows[i].idle_ns + rows[i].uninstrumented_ns,
                 rows[i].end_ns - rows[i].start_ns);
        *busy += rows[i].busy_ns;
        *idle += rows[i].idle_ns;
        *whole += rows[i].end_ns - rows[i].start_ns;
    }
    return count;
}

static void check_windows(const chroprof *p)
{
    uint64_t busy, idle, whole;
    sum_windows(p, &busy, &idle, &whole);
    CHECK_EQ(busy, totals_of(p).busy_ns);
    CHECK_EQ(idle, totals_of(p).idle_ns);
    CHECK_EQ(whole, totals_of(p).elapsed_ns);
}

static chroprof *windowed(uint32_t count, uint64_t width)
{
    chroprof_options options = { 0 };
    options.max_windows = count;
    options.window_ns = width;
    return fresh(&options);
}

TEST(windows_split_an_interval)
{
    uint64_t exec[8];
    chroprof *p = windowed(8, 100);
    call(p, &A, 0, 50);
    call(p, &B, 80, 330);
    at(p, 380, IDLE_ENTER, 0, NULL);
    at(p, 390, IDLE_LEAVE, 0, NULL);
    CHECK_EQ(chroprof_windows(p, NULL, 0), 4);
    check_windows(p);
    CHECK_EQ(chroprof_site_windows(p, rank_of(p, "b").id, exec, 8), 4);
    CHECK_EQ(exec[0], 20);
    CHECK_EQ(exec[1], 100);
    CHECK_EQ(exec[2], 100);
    CHECK_EQ(exec[3], 30);
    CHECK_EQ(chroprof_site_windows(p, rank_of(p, "a").id, exec, 8), 4);
    CHECK_EQ(exec[0], 50);
    CHECK_EQ(exec[1], 0);
    CHECK_EQ(chroprof_site_windows(p, UINT32_MAX, exec, 8), 0);
}

TEST(windows_merge_when_full)
{
    static const chroprof_site *const sites[3] = { &A, &B, &C };
    uint64_t exec[8];
    uint64_t t = 0;
    uint64_t sum = 0;
    size_t i, count;
    chroprof *p = windowed(8, 100);
    for (i = 0; i < 3000; i++, t += 37) {
        call(p, sites[i % 3], t, t + 5 + i % 7);
        check_windows(p);
    }
    count = chroprof_windows(p, NULL, 0);
    CHECK_IN(count, 4, 8);
    CHECK_EQ(chroprof_site_windows(p, rank_of(p, "b").id, exec, 8), count);
    for (i = 0; i < count; i++)
        sum += exec[i];
    CHECK_EQ(sum, rank_of(p, "b").exec_ns);
}

TEST(windows_jump_an_hour_of_idle)
{
    const uint64_t hour = UINT64_C(3600000000000);
    uint64_t exec[64];
    chroprof *p = windowed(64, 100);
    call(p, &A, 0, 50);
    at(p, 60, IDLE_ENTER, 0, NULL);
    at(p, 60 + hour, IDLE_LEAVE, 0, NULL);
    check_windows(p);
    call(p, &B, 70 + hour, 100 + hour);
    check_windows(p);
    CHECK_EQ(totals_of(p).idle_ns, hour);
    CHECK_IN(chroprof_windows(p, NULL, 0), 32, 64);
    CHECK_EQ(chroprof_site_windows(p, rank_of(p, "a").id, exec, 64), chroprof_windows(p, NULL, 0));
    CHECK_EQ(exec[0], 50);
    orderly(p);
}

TEST(windows_of_untracked_time)
{
    chroprof_window row;
    chroprof *p = windowed(8, 100);
    at(p, 0, RUNNING, 9, NULL);
    at(p, 40, PAUSED, 9, NULL);
    at(p, 50, TICK, 0, NULL);
    CHECK_EQ(chroprof_windows(p, &row, 1), 1);
    CHECK_EQ(row.untracked_ns, 40);
    CHECK_EQ(row.busy_ns, 40);
    CHECK_EQ(row.uninstrumented_ns, 10);
    CHECK_EQ(row.end_ns, 50);
}

/* ---- percentiles ---- */

TEST(percentiles_within_a_sixteenth)
{
    static const uint64_t unit[3] = { 40, 9973, UINT64_C(1) << 33 };
    chroprof_options options = { 0 };
    size_t u;
    options.max_step_ns = UINT64_MAX;
    for (u = 0; u < 3; u++) {
        const uint64_t k = unit[u];
        chroprof *p = fresh(&options);
        chroprof_rank a;
        uint64_t t = 0;
        uint64_t i;
        for (i = 1; i <= 1000; i++, t += i * k) {
            chroprof_event(p, CHROPROF_ENTER, 0, &A, t);
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t + i * k);
        }
        laws(p);
        a = rank_of(p, "a");
        CHECK_IN(a.slice_p1_ns, 10 * k - 10 * k / 16, 10 * k + 10 * k / 16);
        CHECK_IN(a.slice_p50_ns, 499 * k - 499 * k / 16, 501 * k + 501 * k / 16);
        CHECK_IN(a.slice_typical_ns, 375 * k - 375 * k / 100, 375 * k + 375 * k / 100);
        CHECK_IN(a.slice_p90_ns, 899 * k - 899 * k / 16, 901 * k + 901 * k / 16);
        CHECK_IN(a.slice_p99_ns, 989 * k - 989 * k / 16, 1000 * k);
        CHECK_IN(a.slice_p999_ns, 998 * k - 998 * k / 16, 1000 * k);
        CHECK_EQ(a.slice_min_ns, k);
        CHECK_EQ(a.slice_max_ns, 1000 * k);
        CHECK(a.slice_p999_ns <= a.slice_max_ns);
    }
}

TEST(percentiles_of_equal_slices)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int i;
    for (i = 0; i < 100; i++, t += 2000000)
        call(p, &A, t, t + 1000003);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 1000003);
    CHECK_EQ(rank_of(p, "a").slice_p999_ns, 1000003);
    CHECK_IN(rank_of(p, "a").slice_typical_ns, 1000003 - 1000003 / 50, 1000003 + 1000003 / 50);
}

TEST(typical_slices_are_without_interruptions)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    int i;
    for (i = 0; i < 1000; i++, t += 20000000)
        call(p, &A, t, t + 1000 + 10 * (uint64_t)(i % 40) + (i % 10 ? 0 : 500000));
    CHECK_IN(rank_of(p, "a").slice_typical_ns, 1156 - 1156 / 16, 1156 + 1156 / 16);
    CHECK(rank_of(p, "a").exec_ns / 1000 > 50000);
    chroprof_event(p, CHROPROF_ENTER, 0, &A, t);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, t + 3600);
    CHECK_IN(rank_of(p, "a").slice_typical_ns, 1156 - 1156 / 16, 1156 + 1156 / 16);
}

static int shorter_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of few slices of any lengths, with and without one under way. */
TEST(typical_slices_are_right_within_a_sixteenth)
{
    unsigned long run, runs = share(900);
    uint64_t state = harness()->seed + 1;
    for (run = 0; run < runs; run++) {
        chroprof *p = fresh(NULL);
        uint64_t t = 0, lengths[24], sum = 0;
        size_t i, n = 1 + (size_t)random_below(&state, 24), kept = n - n / 4;
        for (i = 0; i < n; i++) {
            uint64_t long_one = random_below(&state, 5) == 0 ? random_below(&state, 1000000) : 0;
            lengths[i] = run % 3 == 0   ? 1000 + random_below(&state, 300)
                         : run % 3 == 1 ? UINT64_C(40) << random_below(&state, 20)
                                        : 500 + random_below(&state, 50) + long_one;
            call(p, &A, t, t + lengths[i]);
            t += lengths[i];
        }
        qsort(lengths, n, sizeof *lengths, shorter_first);
        for (i = 0; i < kept; i++)
            sum += lengths[i];
        sum /= kept;
        CHECK_IN(rank_of(p, "a").slice_typical_ns, sum - sum / 16 - 1, sum + sum / 16 + 1);
        chroprof_event(p, CHROPROF_ENTER, 0, &A, t);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, t + random_below(&state, 1000000));
        CHECK_IN(rank_of(p, "a").slice_typical_ns, sum - sum / 16 - 1, sum + sum / 16 + 1);
    }
}

TEST(percentiles_below_and_above_the_range)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_step_ns = UINT64_MAX;
    p = fresh(&options);
    call(p, &A, 0, 0);
    call(p, &B, 0, UINT64_C(1) << 50);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 0);
    CHECK_EQ(rank_of(p, "b").slice_p50_ns, UINT64_C(1) << 50);
}

/* ---- reset, on and off ---- */

TEST(reset_keeps_what_is_live)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, READY, 2, NULL);
    at(p, 30, PAUSED, 77, NULL);
    chroprof_reset(p);
    laws(p);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    CHECK_EQ(totals_of(p).events, 0);
    CHECK_EQ(totals_of(p).live, 2);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(rank_of(p, "a").calls, 1);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 0);
    orderly(p);
    at(p, 50, PAUSED, 1, NULL);
    at(p, 60, RUNNING, 2, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 20);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 20);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 30);
    CHECK_EQ(rank_of(p, "b").delay_ns, 30);
    CHECK_EQ(rank_of(p, "a").blame_ns, 20);
    CHECK_EQ(totals_of(p).elapsed_ns, 30);
    CHECK_EQ(totals_of(p).events, 2);
    check_windows(p);
    orderly(p);
}

TEST(reset_forgets_what_is_over)
{
    witness w;
    chroprof *p = stalling(&w, note);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 0, IDLE_LEAVE, 0, NULL);
    call(p, &A, 0, 5000);
    call(p, &B, 5000, 15000);
    at(p, 25000, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 3);
    chroprof_reset(p);
    laws(p);
    CHECK_EQ(totals_of(p).stalls, 0);
    CHECK_EQ(totals_of(p).callbacks, 0);
    CHECK_EQ(totals_of(p).iterations, 0);
    CHECK_EQ(totals_of(p).callback_max_ns, 0);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 0);
    at(p, 25010, IDLE_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 10);
    call(p, &A, 25010, 25011);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 1);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 1);
    CHECK_EQ(rank_of(p, "a").calls, 1);
}

/* The calendar time of profile time 0 moves with it. */
TEST(reset_moves_the_start)
{
    chroprof_options options = { 0 };
    uint64_t started;
    chroprof *p;
    stall_clock_now = 1000;
    options.clock = stall_clock;
    p = fresh(&options);
    started = totals_of(p).start_unix_ns;
    CHECK(started > 0);
    stall_clock_now += 5000;
    chroprof_tick(p);
    chroprof_reset(p);
    CHECK_EQ(totals_of(p).start_unix_ns, started + 5000);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    stall_clock_now += 30;
    chroprof_tick(p);
    CHECK_EQ(totals_of(p).elapsed_ns, 30);
    laws(p);
}

TEST(off_and_on_ends_idle_and_the_iteration)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    chroprof_set_enabled(p, false);
    laws(p);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    chroprof_set_enabled(p, true);
    laws(p);
    at(p, 30, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 0);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    CHECK(!totals_of(p).idle);
    orderly(p);
}

static uint64_t attach_now;

static uint64_t attach_clock(void *user)
{
    (void)user;
    return attach_now;
}

TEST(off_and_on_keeps_what_is_known)
{
    chroprof_options options = { 0 };
    chroprof *p;
    attach_now = 0;
    options.clock = attach_clock;
    p = fresh(&options);
    chroprof_pending(p, 1, &A);
    attach_now = 10;
    chroprof_set_enabled(p, false);
    attach_now = 1000;
    chroprof_pending(p, 2, &B);
    chroprof_set_enabled(p, true);
    attach_now = 1005;
    chroprof_running(p, 1);
    attach_now = 1012;
    chroprof_paused(p, 1);
    chroprof_event(p, CHROPROF_RUNNING, 2, &B, 1012);
    chroprof_event(p, CHROPROF_PAUSED, 2, NULL, 1020);
    laws(p);
    CHECK_EQ(rank_of(p, "a").exec_ns, 7);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 30);
    CHECK_EQ(rank_of(p, "b").exec_ns, 8);
    CHECK_EQ(totals_of(p).elapsed_ns, 30);
    only(p, ADOPTED, 1);
}

/* >>cursors: the same rows as the lists */

/* Begun anew, and from a cursor that no call ever left. */
#define SAME_ROWS(p, type, next, list, field)                                                      \
    {                                                                                              \
        type rows[64], row;                                                                        \
        uint64_t place = 0, wild = UINT64_MAX;                                                     \
        size_t count = list, k;                                                                    \
        CHECK_IN(count, 1, 64);                                                                    \
        for (k = 0; k < count; k++) {                                                              \
            CHECK(next(p, &place, &row));                                                          \
            CHECK_EQ(row.field, rows[k].field);                                                    \
        }                                                                                          \
        CHECK(!next(p, &place, &row));                                                             \
        CHECK(!next(p, &wild, &row));                                                              \
    }

static chroprof *lively(void)
{
    chroprof_options o = { 0 };
    uint64_t t = 0, id;
    chroprof *p;
    o.stall_ns = 100;
    o.window_ns = 50;
    p = fresh(&o);
    for (id = 1; id <= 6; id++) {
        at(p, t += 10, ENTER, 0, id % 2 ? &A : &B);
        at(p, t += 10, PENDING, id, &C);
        chroprof_sample(p, t += 10, id);
        at(p, t += 40 * id, LEAVE, 0, NULL);
    }
    at(p, t += 10, READY, 2, NULL);
    at(p, t += 10, RUNNING, 3, NULL);
    at(p, t += 10, ENTER, 0, &A);
    return p;
}

TEST(cursors_read_the_rows_of_lists)
{
    chroprof *p = lively();
    uint64_t cursor = 0;
    uint32_t sites = 0;
    chroprof_rank by_id, rank;
    SAME_ROWS(p, chroprof_path, chroprof_next_path, chroprof_paths(p, rows, 64), with_children_ns)
    SAME_ROWS(p, chroprof_future, chroprof_next_future, chroprof_futures(p, rows, 64), since_ns)
    SAME_ROWS(p, chroprof_stall, chroprof_next_stall, chroprof_stalls(p, rows, 64), start_ns)
    SAME_ROWS(p, chroprof_step, chroprof_next_step, chroprof_timeline(p, 0, UINT64_MAX, rows, 64),
              at_ns)
    SAME_ROWS(p, chroprof_sample_row, chroprof_next_sample,
              chroprof_samples(p, 0, UINT64_MAX, rows, 64), at_ns)
    for (; chroprof_next_rank(p, &cursor, &by_id); sites++) {
        rank = rank_of(p, by_id.name);
        CHECK_EQ(rank.id, by_id.id);
        CHECK_EQ(rank.with_children_ns, by_id.with_children_ns);
    }
    CHECK_EQ(sites, 3);
}

TEST(names_and_slice_lengths_of_sites)
{
    static const uint64_t bounds[] = { 0, 1000000, UINT64_MAX };
    chroprof *p = lively();
    uint64_t cursor = 0, ranks = 0, slices[3];
    chroprof_site_row site;
    chroprof_rank rank;
    while (chroprof_next_site(p, &cursor, &site)) {
        CHECK(chroprof_next_rank(p, &ranks, &rank));
        CHECK_EQ(site.id, rank.id);
        CHECK_STR(site.name, rank.name);
        CHECK_STR(site.file, rank.file);
        CHECK_EQ(site.line, rank.line);
        CHECK(!site.cut);
        CHECK_EQ(chroprof_slice_counts(p, site.id, bounds, 3, slices), rank.has_percentiles);
        CHECK(!rank.has_percentiles || (slices[0] <= slices[1] && slices[1] <= slices[2]));
        CHECK(!rank.has_percentiles || slices[2] <= rank.slices);
        CHECK(!rank.has_percentiles || rank.slice_max_ns > 900000 || slices[1] == slices[2]);
    }
    CHECK(!chroprof_next_rank(p, &ranks, &rank));
    CHECK(!chroprof_slice_counts(p, 0, bounds, 3, slices));
    CHECK(!chroprof_slice_counts(p, UINT32_MAX, bounds, 3, slices));
}

TEST(one_site_or_path_by_its_id)
{
    chroprof *p = lively();
    chroprof_rank rank;
    chroprof_path path, alone;
    uint64_t cursor = 0;
    uint32_t parent = 1, site = 0;
    CHECK(chroprof_read_rank(p, rank_of(p, "c").id, &rank));
    CHECK_STR(rank.name, "c");
    CHECK_EQ(rank.live, 6);
    CHECK(!chroprof_read_rank(p, 0, &rank));
    CHECK(!chroprof_read_rank(p, UINT32_MAX, &rank));
    CHECK_STR(rank.name, "");
    while (chroprof_next_path(p, &cursor, &path)) {
        CHECK_STR(chroprof_path_name(p, path.id, &parent, &site), path.name);
        CHECK_EQ(parent, path.parent);
        CHECK_EQ(site, path.site);
        CHECK(chroprof_read_path_alone(p, path.id, &alone));
        CHECK_EQ(alone.with_children_ns, path.exec_ns);
        path.with_children_ns = path.exec_ns;
        CHECK(memcmp(&alone, &path, sizeof path) == 0);
    }
    CHECK(!chroprof_read_path_alone(p, 2, &alone));
    CHECK(!chroprof_read_path(p, 2, &path));
    CHECK(!chroprof_read_path(p, UINT32_MAX, &path));
    CHECK_STR(path.file, "");
    CHECK_STR(chroprof_path_name(p, UINT32_MAX, &parent, NULL), "");
    CHECK_EQ(parent, 0);
    CHECK_STR(chroprof_path_name(p, 2, NULL, NULL), "");
}

TEST(stacks_lead_to_the_samples)
{
    chroprof *p = lively();
    chroprof_stack_row row;
    chroprof_module module;
    uint64_t cursor = 0, weight = 0, cpu_ns = 0;
    for (; chroprof_next_stack(p, &cursor, &row); weight += row.weight, cpu_ns += row.cpu_ns) {
        chroprof_stack_frame frames[8];
        size_t count = chroprof_stack(p, row.id, frames, 8);
        CHECK_IN(count, 1, 8);
        CHECK(row.parent < row.id);
        CHECK_STR(row.frame.name, frames[0].name);
        CHECK_EQ(row.module, 0);
        CHECK_EQ(chroprof_stack(p, row.parent, frames, 8), count - 1);
    }
    CHECK_EQ(weight, 6);
    CHECK_EQ(cpu_ns, 1 + 2 + 3 + 4 + 5 + 6);
    CHECK_EQ(rank_of(p, "a").samples, 3);
    CHECK_EQ(rank_of(p, "b").samples, 3);
    CHECK_EQ(rank_of(p, "a").cpu_ns, 1 + 3 + 5);
    CHECK_EQ(rank_of(p, "c").samples + rank_of(p, "c").cpu_ns, 0);
    CHECK_EQ(chroprof_modules(p, &module, 1), 0);
}

TEST(windows_from_one_in_the_middle)
{
    chroprof *p = lively();
    chroprof_window all[64], some[64];
    uint64_t exec[64], part[64];
    uint32_t site = rank_of(p, "a").id, k;
    size_t count = chroprof_windows(p, all, 64);
    CHECK_IN(count, 6, 64);
    CHECK_EQ(chroprof_windows_from(p, 5, some, 64), count - 5);
    CHECK_EQ(chroprof_site_windows(p, site, exec, 64), count);
    CHECK_EQ(chroprof_site_windows_from(p, site, 5, part, 64), count - 5);
    for (k = 5; k < count; k++) {
        CHECK_EQ(some[k - 5].end_ns, all[k].end_ns);
        CHECK_EQ(some[k - 5].busy_ns, all[k].busy_ns);
        CHECK_EQ(part[k - 5], exec[k]);
    }
    CHECK_EQ(chroprof_windows_from(p, (uint32_t)count, some, 64), 0);
    CHECK_EQ(chroprof_site_windows_from(p, site, UINT32_MAX, part, 64), 0);
}

TEST(options_as_they_are)
{
    chroprof_options o;
    chroprof *p = lively();
    chroprof_read_options(p, &o);
    CHECK_EQ(o.stall_ns, 100);
    CHECK_EQ(o.window_ns, 50);
    CHECK_EQ(o.max_paths, table_of(p, CHROPROF_TABLE_PATHS).capacity);
    CHECK_EQ(o.max_events, table_of(p, CHROPROF_TABLE_EVENTS).capacity);
    chroprof_read_options(NULL, &o);
    CHECK_EQ(o.max_paths, 0);
}

TEST(cursors_of_nothing)
{
    chroprof zeroed;
    const chroprof *none[2];
    size_t k;
    memset(&zeroed, 0, sizeof zeroed);
    none[0] = NULL;
    none[1] = &zeroed;
    for (k = 0; k < 2; k++) {
        uint64_t cursor = 0;
        chroprof_rank rank;
        chroprof_path path;
        chroprof_future future;
        chroprof_stall stall;
        chroprof_step step;
        chroprof_sample_row sample;
        chroprof_stack_row stack;
        chroprof_wall wall;
        chroprof_site_row site;
        CHECK(!chroprof_next_rank(none[k], &cursor, &rank));
        CHECK(!chroprof_next_site(none[k], &cursor, &site));
        CHECK(!chroprof_slice_counts(none[k], 4, &cursor, 1, &cursor));
        CHECK(!chroprof_read_path_alone(none[k], 3, &path));
        CHECK(!chroprof_next_path(none[k], &cursor, &path));
        CHECK(!chroprof_next_future(none[k], &cursor, &future));
        CHECK(!chroprof_next_stall(none[k], &cursor, &stall));
        CHECK(!chroprof_next_step(none[k], &cursor, &step));
        CHECK(!chroprof_next_sample(none[k], &cursor, &sample));
        CHECK(!chroprof_next_stack(none[k], &cursor, &stack));
        CHECK(!chroprof_next_wall(none[k], &cursor, &wall));
        CHECK(!chroprof_read_rank(none[k], 4, &rank));
        CHECK(!chroprof_read_path(none[k], 3, &path));
        CHECK_STR(chroprof_path_name(none[k], 3, NULL, NULL), "");
        CHECK_EQ(chroprof_modules(none[k], NULL, 0), 0);
        CHECK_EQ(chroprof_windows_from(none[k], 0, NULL, 0), 0);
        CHECK_EQ(chroprof_site_windows_from(none[k], 4, 0, NULL, 0), 0);
    }
}

static const test_case cases[] = {
#if defined(CHROPROF_SCOPE)
    CASE(cursors_read_the_rows_of_lists),
    CASE(names_and_slice_lengths_of_sites),
    CASE(one_site_or_path_by_its_id),
    CASE(stacks_lead_to_the_samples),
    CASE(windows_from_one_in_the_middle),
    CASE(options_as_they_are),
    CASE(cursors_of_nothing),
    CASE(a_scope_is_an_enter_and_a_leave),
#endif
    CASE(the_profile_starts_at_its_first_event),
    CASE(idle_and_loop_and_busy),
    CASE(reads_are_pure),
    CASE(overlap_is_not_billed_below),
    CASE(the_slice_under_way_counts),
    CASE(exec_max_is_of_a_single_future),
    CASE(callback_is_an_outermost_activation),
    CASE(callback_ends_by_a_switch_at_the_base),
    CASE(callback_goes_on_over_a_switch_above_the_base),
    CASE(callback_leaves_out_a_nested_loop),
    CASE(callback_percentiles),
    CASE(iteration_is_between_two_idles),
    CASE(iteration_percentiles),
    CASE(hidden_delay_of_what_comes_at_random),
    CASE(wall_runs_until_now_while_live),
    CASE(waiting_is_wall_without_exec_and_delay),
    CASE(blame_is_what_it_cost_the_others),
    CASE(delay_percentiles),
    CASE(ready_since_blames_the_past),
    CASE(ready_since_is_clamped_to_the_state),
    CASE(ready_since_ahead_of_now),
    CASE(ready_since_while_running_is_remembered),
    CASE(ready_since_beyond_the_ring),
    CASE(parent_is_the_creator),
    CASE(a_site_stands_once_on_a_path),
    CASE(the_same_content_is_one_site),
    CASE(a_site_that_changes_is_another),
    CASE(with_children_counts_a_site_under_two_parents),
    CASE(with_children_is_not_counted_twice),
    CASE(ranks_are_sorted),
    CASE(ranks_by_an_order_that_does_not_exist),
    CASE(frames_from_the_top_down),
    CASE(ranks_with_ties),
    CASE(ranks_by_blame_and_delay),
    CASE(hidden_delay_of_a_site),
    CASE(stillborn_is_apart_from_calls),
    CASE(live_futures_with_path_and_since),
    CASE(stall_of_a_callback),
    CASE(stalls_of_two_callbacks_that_one_event_ends),
    CASE(stalls_of_a_callback_and_its_iteration_that_one_event_ends),
    CASE(a_callback_that_is_most_of_its_iteration_is_heard_of_once),
    CASE(stall_of_a_iteration_of_many_small_slices),
    CASE(reset_while_idle),
    CASE(stall_shares_of_what_is_unwound),
    CASE(stall_shares_of_a_switch_that_unwinds),
    CASE(stall_shares_of_what_is_too_deep),
    CASE(stall_of_a_callback_beyond_the_ring),
    CASE(stall_of_a_iteration_beyond_the_ring),
    CASE(stall_begins_above_the_threshold),
    CASE(stall_is_the_callback_without_the_nested_loop),
    CASE(on_stall_may_read_and_dump_but_not_send_events),
    CASE(the_time_of_on_stall_is_loop),
    CASE(the_time_of_on_stall_inside_a_nested_loop_is_loop),
    CASE(the_time_of_on_stall_at_a_switch_is_loop),
    CASE(a_stall_that_switching_off_ends),
    CASE(on_stall_does_not_change_the_profiles_life),
    CASE(on_stall_makes_a_new_profile_of_the_handle),
    CASE(stalls_keep_the_longest_and_the_most_recent),
    CASE(a_hundred_callbacks_stall_and_ten_iterations),
    CASE(windows_split_an_interval),
    CASE(windows_merge_when_full),
    CASE(windows_jump_an_hour_of_idle),
    CASE(windows_of_untracked_time),
    CASE(percentiles_within_a_sixteenth),
    CASE(percentiles_of_equal_slices),
    CASE(typical_slices_are_without_interruptions),
    CASE(typical_slices_are_right_within_a_sixteenth),
    CASE(percentiles_below_and_above_the_range),
    CASE(reset_keeps_what_is_live),
    CASE(reset_forgets_what_is_over),
    CASE(reset_moves_the_start),
    CASE(off_and_on_ends_idle_and_the_iteration),
    CASE(off_and_on_keeps_what_is_known),
};

TEST_MAIN(cases)
