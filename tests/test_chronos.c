/* tests/test_chronos.c - what Chroprof for Chronos promises, and what it gets wrong.
 * Chronos sends pending and at once running, nested in the caller; a finish comes while the future
 * still runs; timers and sockets are pending and finish without ever running. Manual clock. */
#include "harness.h"

static const chroprof_site PARENT = { "parent", "app.nim", 10 };
static const chroprof_site CHILD = { "child", "app.nim", 20 };
static const chroprof_site GRANDCHILD = { "grandchild", "app.nim", 30 };
static const chroprof_site TIMER = { "timer", "asyncloop.nim", 40 };
static const chroprof_site LOOP = { "accept", "server.nim", 50 };

/* An async procedure is called: created and running, nested in whatever runs. */
static void begin(chroprof *p, uint64_t now, uint64_t id, const chroprof_site *site)
{
    at(p, now, PENDING, id, site);
    at(p, now, RUNNING, id, NULL);
}

static void check_figures(const chroprof *p, const char *name, uint64_t exec, uint64_t children,
                          uint64_t calls)
{
    CHECK_EQ(rank_of(p, name).exec_ns, exec);
    CHECK_EQ(rank_of(p, name).children_ns, children);
    CHECK_EQ(rank_of(p, name).calls, calls);
}

/* ---- what it promises ---- */

TEST(a_simple_procedure)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    at(p, 100, COMPLETED, 1, NULL);
    check_figures(p, "parent", 100, 0, 1);
    CHECK_EQ(rank_of(p, "parent").exec_max_ns, 100);
    CHECK_EQ(rank_of(p, "parent").completed, 1);
    orderly(p);
}

/* The child runs to its end inside the parent's stay: nothing is ever paused. */
TEST(a_child_that_does_not_block)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 60, COMPLETED, 2, NULL);
    at(p, 75, COMPLETED, 1, NULL);
    check_figures(p, "parent", 25, 50, 1);
    check_figures(p, "child", 50, 0, 1);
    CHECK_EQ(rank_of(p, "parent").with_children_ns, 75);
    CHECK_EQ(path_of(p, "parent;child").exec_ns, 50);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 0);
    orderly(p);
}

/* The child waits for a timer; the parent waits for the child. */
TEST(a_child_that_blocks)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 15, PENDING, 3, &TIMER);
    at(p, 20, PAUSED, 2, NULL);
    at(p, 30, PAUSED, 1, NULL);
    at(p, 500, COMPLETED, 3, NULL);
    at(p, 510, RUNNING, 2, NULL);
    at(p, 550, COMPLETED, 2, NULL);
    at(p, 560, RUNNING, 1, NULL);
    at(p, 565, COMPLETED, 1, NULL);
    check_figures(p, "parent", 25, 50, 1);
    check_figures(p, "child", 50, 0, 1);
    check_figures(p, "timer", 0, 0, 1);
    CHECK_EQ(rank_of(p, "child").lifetime_ns, 540);
    CHECK_EQ(rank_of(p, "child").waiting_ns, 490);
    CHECK_EQ(rank_of(p, "timer").lifetime_ns, 485);
    CHECK_EQ(path_of(p, "parent;child;timer").completed, 1);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 490);
    orderly(p);
}

TEST(several_pauses)
{
    chroprof *p = fresh(NULL);
    uint64_t t;
    begin(p, 0, 1, &PARENT);
    for (t = 0; t < 1000; t += 100) {
        at(p, t + 30, PAUSED, 1, NULL);
        at(p, t + 100, RUNNING, 1, NULL);
    }
    at(p, 1005, COMPLETED, 1, NULL);
    check_figures(p, "parent", 305, 0, 1);
    CHECK_EQ(rank_of(p, "parent").slices, 11);
    CHECK_EQ(rank_of(p, "parent").slice_max_ns, 30);
    CHECK_EQ(rank_of(p, "parent").exec_max_ns, 305);
    CHECK_EQ(rank_of(p, "parent").waiting_ns, 700);
    orderly(p);
}

TEST(a_child_that_raises)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 20, FAILED, 2, NULL);
    at(p, 30, FAILED, 1, NULL);
    check_figures(p, "parent", 20, 10, 1);
    check_figures(p, "child", 10, 0, 1);
    CHECK_EQ(rank_of(p, "child").failed, 1);
    CHECK_EQ(rank_of(p, "parent").failed, 1);
    CHECK_EQ(rank_of(p, "parent").completed, 0);
    orderly(p);
}

/* The parent cancels a child that waits: the child runs once more to clean up. */
TEST(a_cancelled_child)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 20, PAUSED, 2, NULL);
    at(p, 30, RUNNING, 2, NULL);
    at(p, 37, CANCELLED, 2, NULL);
    at(p, 40, COMPLETED, 1, NULL);
    check_figures(p, "parent", 23, 17, 1);
    check_figures(p, "child", 17, 0, 1);
    CHECK_EQ(rank_of(p, "child").cancelled, 1);
    orderly(p);
}

TEST(a_parent_cancelled_by_its_child)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 20, CANCELLED, 1, NULL);
    at(p, 30, COMPLETED, 2, NULL);
    at(p, 50, PAUSED, 1, NULL);
    check_figures(p, "parent", 30, 20, 1);
    CHECK_EQ(rank_of(p, "parent").cancelled, 1);
    CHECK_EQ(rank_of(p, "parent").lifetime_ns, 40); /* its code ran on for 20 */
    only(p, BURIED_FINISH, 1);
}

TEST(a_child_that_finishes_after_its_parent)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    at(p, 20, PAUSED, 2, NULL);
    at(p, 30, COMPLETED, 1, NULL);
    CHECK_EQ(totals_of(p).live, 1);
    at(p, 100, RUNNING, 2, NULL);
    begin(p, 110, 3, &GRANDCHILD);
    at(p, 120, COMPLETED, 3, NULL);
    at(p, 140, COMPLETED, 2, NULL);
    check_figures(p, "parent", 20, 50, 1);
    check_figures(p, "child", 40, 10, 1);
    CHECK_EQ(path_of(p, "parent;child;grandchild").exec_ns, 10);
    CHECK_EQ(totals_of(p).live, 0);
    orderly(p);
}

TEST(nested_children)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    begin(p, 10, 2, &CHILD);
    begin(p, 20, 3, &GRANDCHILD);
    at(p, 50, COMPLETED, 3, NULL);
    begin(p, 60, 4, &GRANDCHILD);
    at(p, 65, COMPLETED, 4, NULL);
    at(p, 70, COMPLETED, 2, NULL);
    at(p, 80, COMPLETED, 1, NULL);
    check_figures(p, "parent", 20, 60, 1);
    check_figures(p, "child", 25, 35, 1);
    check_figures(p, "grandchild", 35, 0, 2);
    CHECK_EQ(rank_of(p, "grandchild").exec_max_ns, 30);
    orderly(p);
}

/* finally: await cleanup(): the future is cancelled, runs its finally block, which pauses. */
TEST(a_finally_block_that_pauses)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    at(p, 10, PAUSED, 1, NULL);
    at(p, 50, RUNNING, 1, NULL);
    begin(p, 55, 2, &CHILD);
    at(p, 60, PAUSED, 2, NULL);
    at(p, 65, PAUSED, 1, NULL);
    at(p, 90, RUNNING, 2, NULL);
    at(p, 93, COMPLETED, 2, NULL);
    at(p, 95, RUNNING, 1, NULL);
    at(p, 99, CANCELLED, 1, NULL);
    check_figures(p, "parent", 10 + 10 + 4, 8, 1);
    CHECK_EQ(rank_of(p, "parent").cancelled, 1);
    CHECK_EQ(rank_of(p, "parent").slices, 3);
    CHECK_EQ(rank_of(p, "child").completed, 1);
    orderly(p);
}

TEST(call_count_and_largest_future)
{
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    uint64_t id;
    for (id = 1; id <= 50; id++) {
        begin(p, t, id, &CHILD);
        t += id == 17 ? 900 : id;
        at(p, t, COMPLETED, id, NULL);
    }
    check_figures(p, "child", 50 * 51 / 2 - 17 + 900, 0, 50);
    CHECK_EQ(rank_of(p, "child").exec_max_ns, 900);
    CHECK_EQ(rank_of(p, "child").completed, 50);
    orderly(p);
}

/* A future that is born finished shows only as an end with a site. */
TEST(stillborn_futures)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    at(p, 5, COMPLETED, 71, &CHILD);
    at(p, 6, FAILED, 72, &CHILD);
    at(p, 10, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "child").stillborn, 2);
    check_figures(p, "child", 0, 0, 0);
    check_figures(p, "parent", 10, 0, 1);
    CHECK_EQ(path_of(p, "parent;child").stillborn, 2);
    orderly(p);
}

/* ---- what it gets wrong ---- */

/* A server's accept loop never completes; it ranks at any moment all the same. */
TEST(an_endless_loop_ranks_while_it_runs)
{
    chroprof_rank top;
    chroprof *p = fresh(NULL);
    uint64_t t;
    begin(p, 0, 1, &LOOP);
    for (t = 0; t < 5000; t += 500) {
        at(p, t + 80, TICK, 0, NULL);
        CHECK_EQ(rank_of(p, "accept").exec_ns, t / 500 * 100 + 80);
        at(p, t + 100, PAUSED, 1, NULL);
        begin(p, t + 100, t + 2, &CHILD);
        at(p, t + 130, COMPLETED, t + 2, NULL);
        at(p, t + 500, RUNNING, 1, NULL);
        chroprof_ranks(p, &top, 1, CHROPROF_BY_EXEC);
        CHECK_STR(top.name, "accept");
    }
    check_figures(p, "accept", 1000, 0, 1);
    CHECK_EQ(rank_of(p, "accept").live, 1);
    CHECK_EQ(rank_of(p, "accept").exec_max_ns, 1000);
    orderly(p);
}

/* 200 deep: with children is counted once, not once a level. */
TEST(recursion_counts_once)
{
    chroprof *p = fresh(NULL);
    uint64_t id;
    begin(p, 0, 1, &PARENT);
    for (id = 2; id <= 201; id++)
        begin(p, (id - 1) * 10, id, &CHILD);
    for (id = 201; id >= 2; id--)
        at(p, 2010 + (201 - id), COMPLETED, id, NULL);
    at(p, 2300, COMPLETED, 1, NULL);
    check_figures(p, "child", 2199, 0, 200);
    check_figures(p, "parent", 101, 2199, 1);
    CHECK_EQ(path_of(p, "parent;child").calls, 200);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 2);
    CHECK_EQ(rank_of(p, "child").with_children_ns, 2199);
    CHECK_EQ(totals_of(p).busy_ns, 2300);
    orderly(p);
}

TEST(mutual_recursion_counts_once)
{
    chroprof *p = fresh(NULL);
    uint64_t id;
    for (id = 1; id <= 100; id++)
        begin(p, id * 10, id, id % 2 != 0 ? &PARENT : &CHILD);
    for (id = 100; id >= 1; id--)
        at(p, 1010, COMPLETED, id, NULL);
    CHECK_EQ(rank_of(p, "parent").with_children_ns, 1000);
    CHECK_EQ(rank_of(p, "child").with_children_ns, 500);
    CHECK_EQ(chroprof_paths(p, NULL, 0), 2);
    orderly(p);
}

/* waitFor inside a callback: the loop is entered again, and idles. */
TEST(a_nested_loop)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 12, IDLE_ENTER, 0, NULL);
    at(p, 212, IDLE_LEAVE, 0, NULL);
    begin(p, 215, 2, &CHILD);
    at(p, 230, COMPLETED, 2, NULL);
    at(p, 231, IDLE_ENTER, 0, NULL);
    at(p, 331, IDLE_LEAVE, 0, NULL);
    at(p, 335, LOOP_LEAVE, 0, NULL);
    at(p, 340, COMPLETED, 1, NULL);
    check_figures(p, "parent", 15, 0, 1);
    check_figures(p, "child", 15, 0, 1);
    CHECK_EQ(path_of(p, "child").parent, 0);
    CHECK_EQ(totals_of(p).idle_ns, 300);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 2 + 3 + 1 + 4);
    orderly(p);
}

/* A nested loop nobody announced: its idle unwinds the caller, counted, and the laws hold. */
TEST(a_nested_loop_nobody_announced)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 1, &PARENT);
    at(p, 12, IDLE_ENTER, 0, NULL);
    at(p, 112, IDLE_LEAVE, 0, NULL);
    at(p, 120, COMPLETED, 1, NULL);
    check_figures(p, "parent", 12, 0, 1);
    CHECK_EQ(rank_of(p, "parent").completed, 1);
    only(p, UNWOUND_BY_IDLE, 1);
}

/* Ids are addresses: a new future at an address that was never seen to finish. */
TEST(ids_are_reused)
{
    chroprof *p = fresh(NULL);
    begin(p, 0, 4096, &PARENT);
    at(p, 10, PAUSED, 4096, NULL);
    begin(p, 20, 4096, &CHILD);
    at(p, 50, COMPLETED, 4096, NULL);
    begin(p, 60, 4096, &PARENT);
    at(p, 65, COMPLETED, 4096, NULL);
    check_figures(p, "parent", 15, 0, 2);
    check_figures(p, "child", 30, 0, 1);
    CHECK_EQ(rank_of(p, "parent").abandoned, 1);
    CHECK_EQ(rank_of(p, "parent").completed, 1);
    CHECK_EQ(rank_of(p, "parent").exec_max_ns, 10);
    CHECK_EQ(totals_of(p).live, 0);
    orderly(p);
}

/* Recording begins while futures are live: nothing is assumed about those never seen. */
TEST(a_late_attach)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PAUSED, 5, NULL);
    at(p, 10, RUNNING, 6, &PARENT);
    begin(p, 15, 7, &CHILD);
    at(p, 20, COMPLETED, 7, NULL);
    at(p, 30, COMPLETED, 6, NULL);
    at(p, 40, RUNNING, 8, NULL);
    at(p, 55, PAUSED, 8, NULL);
    check_figures(p, "parent", 15, 5, 1);
    check_figures(p, "child", 5, 0, 1);
    CHECK_EQ(totals_of(p).untracked_ns, 15);
    CHECK_ANOMALY(p, UNKNOWN_PAUSED, 1);
    CHECK_ANOMALY(p, ADOPTED, 1);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 1);
    CHECK_EQ(totals_of(p).anomalies, 3);
}

/* Each timer creates its successor while it runs, for ever: a chain of parents a million long. */
static uint64_t renew(chroprof *p, uint64_t id, uint64_t rounds, uint64_t now)
{
    uint64_t last = id + rounds;
    for (; id < last; id++, now += 100) {
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, now);
        chroprof_event(p, CHROPROF_PENDING, id + 1, &TIMER, now + 3);
        chroprof_event(p, CHROPROF_COMPLETED, id, NULL, now + 10);
    }
    laws(p);
    return now;
}

TEST(a_self_renewing_timer_in_constant_memory)
{
    enum { ROUNDS = 1000000 };
    chroprof_table before[CHROPROF_TABLE_COUNT];
    chroprof_table after[CHROPROF_TABLE_COUNT];
    chroprof *p = fresh(NULL);
    uint64_t now;
    size_t i;
    at(p, 0, PENDING, 1, &TIMER);
    now = renew(p, 1, 1000, 0);
    chroprof_tables(p, before, CHROPROF_TABLE_COUNT);
    renew(p, 1001, ROUNDS - 1000, now);
    chroprof_tables(p, after, CHROPROF_TABLE_COUNT);
    for (i = 0; i < CHROPROF_TABLE_COUNT; i++) {
        CHECK_EQ(after[i].dropped, 0);
        if (i != CHROPROF_TABLE_WINDOWS && i != CHROPROF_TABLE_EVENTS) {
            CHECK_EQ(after[i].used, before[i].used);
            CHECK_EQ(after[i].peak, before[i].peak);
        }
    }
    CHECK_EQ(chroprof_paths(p, NULL, 0), 1);
    check_figures(p, "timer", 10 * (uint64_t)ROUNDS, 0, ROUNDS + 1);
    CHECK_EQ(rank_of(p, "timer").completed, ROUNDS);
    CHECK_EQ(totals_of(p).live, 1);
    orderly(p);
}

static const test_case cases[] = {
    CASE(a_simple_procedure),
    CASE(a_child_that_does_not_block),
    CASE(a_child_that_blocks),
    CASE(several_pauses),
    CASE(a_child_that_raises),
    CASE(a_cancelled_child),
    CASE(a_parent_cancelled_by_its_child),
    CASE(a_child_that_finishes_after_its_parent),
    CASE(nested_children),
    CASE(a_finally_block_that_pauses),
    CASE(call_count_and_largest_future),
    CASE(stillborn_futures),
    CASE(an_endless_loop_ranks_while_it_runs),
    CASE(recursion_counts_once),
    CASE(mutual_recursion_counts_once),
    CASE(a_nested_loop),
    CASE(a_nested_loop_nobody_announced),
    CASE(ids_are_reused),
    CASE(a_late_attach),
    CASE(a_self_renewing_timer_in_constant_memory),
};

TEST_MAIN(cases)
