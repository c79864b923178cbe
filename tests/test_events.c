/* tests/test_events.c - every row of the table "what events may do to us", and every full table.
 * Each case drives the gate with explicit times, checks the laws after each event (at) and reads
 * back which unexpected calls were counted, and that no others were (only, orderly). */
#include "harness.h"

static const chroprof_site A = { "a", "host.c", 1 };
static const chroprof_site B = { "b", "host.c", 2 };
static const chroprof_site C = { "c", "host.c", 3 };

/* ---- finish while running on top ---- */

TEST(finish_on_top_pauses_first)
{
    chroprof *p = fresh(NULL);
    chroprof_rank a;
    at(p, 0, PENDING, 1, &A);
    at(p, 5, RUNNING, 1, NULL);
    at(p, 15, COMPLETED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    at(p, 20, TICK, 0, NULL);
    a = rank_of(p, "a");
    CHECK_EQ(a.completed, 1);
    CHECK_EQ(a.calls, 1);
    CHECK_EQ(a.exec_ns, 10);
    CHECK_EQ(a.slices, 1);
    CHECK_EQ(a.lifetime_ns, 15);
    CHECK_EQ(a.live, 0);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    orderly(p);
}

TEST(finish_on_top_knows_its_kind)
{
    chroprof *p = fresh(NULL);
    chroprof_rank a;
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 1, FAILED, 1, NULL);
    at(p, 1, PENDING, 2, &A);
    at(p, 1, RUNNING, 2, NULL);
    at(p, 3, CANCELLED, 2, NULL);
    a = rank_of(p, "a");
    CHECK_EQ(a.completed, 0);
    CHECK_EQ(a.failed, 1);
    CHECK_EQ(a.cancelled, 1);
    CHECK_EQ(a.calls, 2);
    CHECK_EQ(a.exec_max_ns, 2);
    orderly(p);
}

TEST(finish_off_the_stack)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 30, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 30);
    CHECK_EQ(rank_of(p, "a").slices, 0);
    orderly(p);
}

/* ---- finish in the middle of the stack ---- */

static chroprof *buried(void)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 2, &B);
    at(p, 10, RUNNING, 2, NULL);
    at(p, 20, COMPLETED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    CHECK_EQ(totals_of(p).live, 1);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    only(p, BURIED_FINISH, 1);
    return p;
}

TEST(finish_in_the_middle_keeps_the_frame)
{
    chroprof *p = buried();
    at(p, 30, COMPLETED, 2, NULL);
    at(p, 45, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 25);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 25);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 35); /* 20, and its code ran on for 15 */
    CHECK_EQ(rank_of(p, "a").waiting_ns, 10);
    CHECK_EQ(rank_of(p, "b").exec_ns, 20);
    only(p, BURIED_FINISH, 1);
}

/* The frame on top is an older future's; the one that finishes ran hidden, below no frame of it. */
TEST(finish_of_a_future_that_was_hidden)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_depth = 1;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, RUNNING, 1, NULL);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 40, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "b").completed, 1);
    CHECK_EQ(rank_of(p, "a").abandoned, 1);
    CHECK_EQ(totals_of(p).live, 0);
    at(p, 50, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 40);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    CHECK_ANOMALY(p, BURIED_FINISH, 1);
}

TEST(finish_in_the_middle_then_idle)
{
    chroprof *p = buried();
    at(p, 30, COMPLETED, 2, NULL);
    at(p, 40, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_ANOMALY(p, BURIED_FINISH, 1);
    CHECK_ANOMALY(p, UNWOUND_BY_IDLE, 1);
    CHECK_EQ(totals_of(p).anomalies, 2);
}

TEST(finish_in_the_middle_then_unwound)
{
    chroprof *p = buried();
    at(p, 35, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "b").exec_ns, 25);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_PAUSED);
    CHECK_ANOMALY(p, BURIED_FINISH, 1);
    CHECK_ANOMALY(p, UNWOUND_BY_PAUSE, 1);
    CHECK_EQ(totals_of(p).anomalies, 2);
}

TEST(finish_in_the_middle_twice)
{
    chroprof *p = buried();
    at(p, 25, FAILED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    CHECK_ANOMALY(p, UNKNOWN_FINISH, 1);
    at(p, 30, COMPLETED, 2, NULL);
    at(p, 40, FAILED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").failed, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_ANOMALY(p, BURIED_FINISH, 1);
    CHECK_ANOMALY(p, UNKNOWN_FINISH, 2);
}

/* Finished under C while two of its frames are on the stack: all they do is of one future. */
TEST(finish_in_the_middle_with_two_frames)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 20, ENTER, 0, &C);
    at(p, 25, COMPLETED, 1, NULL);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 35, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 25);
    at(p, 35, LOOP_LEAVE, 0, NULL);
    at(p, 42, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 32);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 32);
    only(p, BURIED_FINISH, 1);
}

TEST(pending_of_an_id_with_two_frames)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 20, PENDING, 1, &B);
    at(p, 20, RUNNING, 1, NULL);
    at(p, 50, PAUSED, 1, NULL);
    at(p, 53, PAUSED, 1, NULL);
    at(p, 53, LOOP_LEAVE, 0, NULL);
    at(p, 60, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 10 + 10 + 3 + 7);
    CHECK_EQ(rank_of(p, "b").exec_max_ns, 30);
    CHECK_EQ(rank_of(p, "a").abandoned, 1);
    orderly(p);
}

/* ---- paused, not on top but on the stack ---- */

TEST(pause_unwinds_what_is_above)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 2, &B);
    at(p, 10, RUNNING, 2, NULL);
    at(p, 20, ENTER, 0, &C);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_PAUSED);
    CHECK_EQ(rank_of(p, "c").completed, 1);
    CHECK_EQ(rank_of(p, "c").exec_ns, 10);
    only(p, UNWOUND_BY_PAUSE, 2);
}

TEST(pause_means_the_topmost_frame_of_any_generation)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 10, RUNNING, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    at(p, 20, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_EQ(rank_of(p, "b").exec_ns, 10);
    orderly(p);
    at(p, 40, PAUSED, 1, NULL);
    only(p, NOT_RUNNING, 1);
}

TEST(pause_crosses_a_barrier)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 20, ENTER, 0, &B);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_ANOMALY(p, BARRIER_CROSSED, 1);
    CHECK_ANOMALY(p, UNWOUND_BY_PAUSE, 1);
    CHECK_EQ(totals_of(p).anomalies, 2);
}

TEST(pause_of_a_future_that_is_not_on_the_stack)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 10, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PENDING);
    only(p, NOT_RUNNING, 1);
}

/* ---- paused or finish of an unknown id ---- */

TEST(pause_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, PAUSED, 7, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    only(p, UNKNOWN_PAUSED, 1);
}

/* As the manual says: a client that frees itself calls its finish and nothing after that. */
TEST(a_task_that_ends_in_its_own_slice)
{
    static const chroprof_state finishes[] = { CHROPROF_COMPLETED, CHROPROF_FAILED,
                                               CHROPROF_CANCELLED };
    int k, paused;
    for (k = 0; k < 6; k++) {
        chroprof *p = fresh(NULL);
        paused = k / 3;
        at(p, 0, PENDING, 1, &A);
        at(p, 5, RUNNING, 1, NULL);
        chroprof_event(p, finishes[k % 3], 1, NULL, 9);
        if (paused)
            at(p, 10, PAUSED, 1, NULL); /* by a caller that does not ask whether it exists */
        at(p, 12, IDLE_ENTER, 0, NULL);
        CHECK_EQ(rank_of(p, A.name).exec_ns, 4);
        CHECK_EQ(rank_of(p, A.name).slices, 1);
        CHECK_EQ(totals_of(p).live, 0);
        CHECK_EQ(totals_of(p).anomalies, (unsigned)paused);
        CHECK_ANOMALY(p, UNKNOWN_PAUSED, (unsigned)paused);
    }
}

TEST(finish_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, COMPLETED, 7, NULL);
    at(p, 1, FAILED, 7, NULL);
    at(p, 2, CANCELLED, 7, NULL);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
    only(p, UNKNOWN_FINISH, 3);
}

TEST(finish_of_an_unknown_id_with_a_site_is_stillborn)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, COMPLETED, 7, &B);
    CHECK_EQ(rank_of(p, "b").stillborn, 1);
    CHECK_EQ(rank_of(p, "b").calls, 0);
    CHECK_EQ(path_of(p, "a;b").stillborn, 1);
    orderly(p);
}

TEST(finish_with_a_site_after_a_drop_is_no_stillborn)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_futures = 1;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 1, PENDING, 2, &B);
    at(p, 2, COMPLETED, 1, &A);
    CHECK_EQ(rank_of(p, "a").stillborn, 0);
    CHECK_EQ(rank_of(p, "a").calls, 1);
    CHECK_EQ(rank_of(p, "a").completed, 0);
    CHECK_EQ(rank_of(p, "a").dropped, 1);
    only(p, UNKNOWN_FINISH, 1);
}

/* ---- running of an unknown id ---- */

TEST(running_of_an_unknown_id_with_a_site_is_adopted)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, RUNNING, 9, &B);
    at(p, 30, PAUSED, 9, NULL);
    CHECK_EQ(path_of(p, "b").parent, 0);
    CHECK_EQ(path_of(p, "b").exec_ns, 20);
    CHECK_EQ(rank_of(p, "b").calls, 1);
    CHECK_EQ(rank_of(p, "b").live, 1);
    CHECK_EQ(rank_of(p, "b").lifetime_ns, 20);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "a").children_ns, 0);
    only(p, ADOPTED, 1);
}

TEST(running_of_an_unknown_id_without_a_site_is_untracked)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 9, NULL);
    at(p, 20, PAUSED, 9, NULL);
    at(p, 25, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 20);
    CHECK_EQ(totals_of(p).busy_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 5);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
    only(p, UNKNOWN_RUNNING, 1);
}

TEST(finish_pops_an_untracked_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 9, NULL);
    at(p, 20, COMPLETED, 9, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 1);
    CHECK_ANOMALY(p, UNKNOWN_FINISH, 1);
    at(p, 30, RUNNING, 8, NULL);
    at(p, 40, FAILED, 8, &A);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").stillborn, 1);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 2);
    CHECK_EQ(totals_of(p).anomalies, 3);
}

/* ---- running of the id already on top ---- */

TEST(running_twice_is_a_lost_pause)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, RUNNING, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 25, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").slices, 2);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 15);
    CHECK_EQ(rank_of(p, "a").exec_ns, 25);
    CHECK_EQ(totals_of(p).callbacks, 2);
    CHECK_EQ(totals_of(p).callback_max_ns, 15);
    only(p, LOST_PAUSE, 1);
}

TEST(running_twice_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 9, NULL);
    at(p, 10, RUNNING, 9, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 20, PAUSED, 9, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(totals_of(p).untracked_ns, 20);
    CHECK_ANOMALY(p, LOST_PAUSE, 1);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 2);
    CHECK_EQ(totals_of(p).anomalies, 3);
}

/* ---- the same future deeper on the stack ---- */

TEST(the_same_future_deeper_is_allowed)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 15, RUNNING, 1, NULL);
    at(p, 35, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
    at(p, 40, LOOP_LEAVE, 0, NULL);
    at(p, 50, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(rank_of(p, "a").exec_ns, 40);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 40);
    CHECK_EQ(rank_of(p, "a").slices, 2);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    orderly(p);
}

TEST(the_same_future_deeper_under_another)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, ENTER, 0, &B);
    at(p, 20, RUNNING, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 3);
    at(p, 30, PAUSED, 1, NULL);
    at(p, 40, LEAVE, 0, NULL);
    at(p, 50, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "b").exec_ns, 20);
    orderly(p);
}

TEST(the_same_future_deeper_finishes_on_top)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 20, COMPLETED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    at(p, 20, LOOP_LEAVE, 0, NULL);
    at(p, 35, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 35);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 35);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    orderly(p);
}

/* ---- pending of a live id ---- */

TEST(pending_of_a_live_id_abandons_the_old_one)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 4, READY, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    CHECK_EQ(rank_of(p, "a").abandoned, 1);
    CHECK_EQ(rank_of(p, "a").live, 0);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 10);
    CHECK_EQ(rank_of(p, "a").delay_ns, 6);
    at(p, 30, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 10);
    CHECK_EQ(rank_of(p, "a").delay_ns, 6);
    CHECK_EQ(rank_of(p, "b").completed, 1);
    CHECK_EQ(rank_of(p, "b").lifetime_ns, 20);
    orderly(p);
}

TEST(pending_of_a_running_id_keeps_its_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    CHECK_EQ(path_of(p, "a;b").live, 1);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 30);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 30); /* 10, and its code ran on for 20 */
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PENDING);
    orderly(p);
}

/* The frame on top is of the old future: a finish means the new one, and leaves that frame. */
TEST(finish_of_the_new_one_leaves_the_old_ones_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "b").completed, 1);
    CHECK_EQ(rank_of(p, "a").completed, 0);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 30);
    orderly(p);
}

/* ---- ready while running ---- */

TEST(ready_while_running_begins_at_the_pause)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 5, READY, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
    at(p, 10, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_READY);
    at(p, 25, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 15);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(totals_of(p).delay_ns, 15);
    orderly(p);
}

TEST(ready_twice_while_running)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 5, READY, 1, NULL);
    at(p, 6, READY, 1, NULL);
    at(p, 10, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_READY);
    at(p, 14, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 4);
    orderly(p);
}

TEST(ready_while_running_deeper_waits_for_the_last_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 10, RUNNING, 1, NULL);
    at(p, 12, READY, 1, NULL);
    at(p, 20, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
    at(p, 30, LOOP_LEAVE, 0, NULL);
    at(p, 40, PAUSED, 1, NULL);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_READY);
    at(p, 47, RUNNING, 1, NULL);
    CHECK_EQ(totals_of(p).delay_ns, 7);
    orderly(p);
}

TEST(finish_ends_a_delay)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 5, READY, 1, NULL);
    at(p, 8, READY, 1, NULL);
    at(p, 25, CANCELLED, 1, NULL);
    at(p, 40, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_blame_ns, 20);
    orderly(p);
}

TEST(ready_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, READY, 7, NULL);
    chroprof_ready_since(p, 7, 0);
    laws(p);
    only(p, UNKNOWN_READY, 2);
}

/* ---- leave ---- */

TEST(leave_pops_an_enter_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 10);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    orderly(p);
}

TEST(leave_never_pops_a_future)
{
    chroprof *p = fresh(NULL);
    at(p, 0, LEAVE, 0, NULL);
    at(p, 0, ENTER, 0, &B);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 20, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 3);
    only(p, LEAVE_WITHOUT_ENTER, 3);
}

/* ---- next ---- */

TEST(next_leaves_one_call_and_enters_another)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, NEXT, 0, &B);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 30, NEXT, 0, &A);
    at(p, 35, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 15);
    CHECK_EQ(rank_of(p, "a").completed, 2);
    CHECK_EQ(rank_of(p, "b").exec_ns, 20);
    CHECK_EQ(totals_of(p).callbacks, 3);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 0);
    orderly(p);
}

/* The first of a row has none before it; a future is not left. */
TEST(next_without_a_call_just_enters)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 5, NEXT, 0, &B);
    CHECK_EQ(totals_of(p).depth, 2);
    at(p, 12, NEXT, 0, NULL);
    only(p, SITE_NULL, 1);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(rank_of(p, "b").exec_ns, 7);
    CHECK_EQ(rank_of(p, "a").exec_ns, 5);
}

/* ---- switch ---- */

TEST(switch_pauses_one_and_runs_another)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, SWITCH, 1, NULL);
    at(p, 10, SWITCH, 2, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_RUNNING);
    at(p, 30, SWITCH, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    at(p, 35, SWITCH, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "b").exec_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 5);
    orderly(p);
}

TEST(switch_unwinds_enter_frames)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, ENTER, 0, &C);
    at(p, 20, ENTER, 0, &C);
    at(p, 30, SWITCH, 2, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(rank_of(p, "c").completed, 2);
    CHECK_EQ(rank_of(p, "c").exec_ns, 20);
    only(p, UNWOUND_BY_SWITCH, 2);
}

TEST(switch_stops_at_the_barrier)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 20, ENTER, 0, &C);
    at(p, 30, SWITCH, 2, NULL);
    CHECK_EQ(totals_of(p).depth, 4);
    at(p, 40, SWITCH, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 3);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_RUNNING);
    orderly(p);
}

TEST(switch_to_what_runs_begins_a_new_slice)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, SWITCH, 1, NULL);
    at(p, 30, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").slices, 2);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 20);
    orderly(p);
}

TEST(switch_pauses_an_untracked_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 9, NULL);
    at(p, 10, SWITCH, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 20, SWITCH, 8, NULL);
    at(p, 30, SWITCH, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 20);
    only(p, UNKNOWN_RUNNING, 2);
}

/* ---- loop_enter, loop_leave ---- */

TEST(a_barrier_makes_roots_and_loop_time)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LOOP_ENTER, 0, NULL);
    at(p, 15, PENDING, 2, &B);
    at(p, 15, RUNNING, 2, NULL);
    at(p, 25, PENDING, 3, &C);
    at(p, 25, COMPLETED, 2, NULL);
    at(p, 30, LOOP_LEAVE, 0, NULL);
    at(p, 40, LEAVE, 0, NULL);
    CHECK_EQ(path_of(p, "b").parent, 0);
    CHECK_EQ(path_of(p, "b").exec_ns, 10);
    CHECK_EQ(path_of(p, "b;c").live, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    orderly(p);
}

TEST(loop_leave_unwinds_to_its_barrier)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, LOOP_ENTER, 0, NULL);
    at(p, 0, PENDING, 1, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, ENTER, 0, &C);
    at(p, 20, LOOP_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(rank_of(p, "c").completed, 1);
    only(p, UNWOUND_BY_LOOP, 2);
}

TEST(loop_leave_without_a_barrier)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LOOP_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    only(p, LOOP_LEAVE_WITHOUT_ENTER, 1);
}

/* ---- idle_enter ---- */

TEST(idle_unwinds_to_the_barrier)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, LOOP_ENTER, 0, NULL);
    at(p, 0, PENDING, 1, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, ENTER, 0, &C);
    at(p, 20, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    CHECK(totals_of(p).idle);
    only(p, UNWOUND_BY_IDLE, 2);
    at(p, 50, IDLE_LEAVE, 0, NULL);
    at(p, 60, LOOP_LEAVE, 0, NULL);
    at(p, 70, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 30);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    only(p, UNWOUND_BY_IDLE, 2);
}

TEST(any_event_but_tick_ends_the_idle)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, TICK, 0, NULL);
    CHECK(totals_of(p).idle);
    at(p, 20, PENDING, 1, &A);
    CHECK(!totals_of(p).idle);
    at(p, 25, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 20);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 5);
    orderly(p);
    at(p, 30, IDLE_ENTER, 0, NULL);
    at(p, 40, PAUSED, 77, NULL);
    CHECK(!totals_of(p).idle);
    at(p, 45, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 30);
    only(p, UNKNOWN_PAUSED, 1);
}

TEST(idle_enter_in_idle_is_a_iteration_of_length_0)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_ENTER, 0, NULL);
    CHECK(totals_of(p).idle);
    at(p, 20, IDLE_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 1);
    CHECK_EQ(totals_of(p).iteration_max_ns, 0);
    CHECK_EQ(totals_of(p).idle_ns, 20);
    orderly(p);
}

TEST(idle_leave_without_idle)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_LEAVE, 0, NULL);
    at(p, 5, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 15, IDLE_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 5);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 10);
    only(p, IDLE_LEAVE_WITHOUT_ENTER, 2);
}

/* ---- time ---- */

TEST(time_going_back_rebases_the_clock)
{
    chroprof *p = fresh(NULL);
    at(p, 1000, ENTER, 0, &A);
    at(p, 1010, TICK, 0, NULL);
    at(p, 400, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    at(p, 403, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 13);
    CHECK_EQ(rank_of(p, "a").exec_ns, 13);
    only(p, TIME_BACK, 1);
}

TEST(time_may_wrap_around)
{
    chroprof *p = fresh(NULL);
    at(p, UINT64_MAX - 4, ENTER, 0, &A);
    at(p, 5, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    orderly(p);
}

TEST(a_long_step_is_untracked)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_step_ns = 100;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 100, TICK, 0, NULL);
    orderly(p);
    at(p, 201, TICK, 0, NULL);
    at(p, 211, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 110);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 110);
    CHECK_EQ(totals_of(p).untracked_ns, 101);
    CHECK_EQ(totals_of(p).elapsed_ns, 211);
    CHECK_EQ(totals_of(p).callback_max_ns, 211);
    only(p, LONG_STEP, 1);
}

TEST(a_long_step_in_idle_is_idle)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_step_ns = 100;
    p = fresh(&options);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 100000, IDLE_LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 100000);
    orderly(p);
}

TEST(a_long_step_is_above_an_hour_by_default)
{
    const uint64_t hour = UINT64_C(3600000000000);
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, hour, TICK, 0, NULL);
    orderly(p);
    at(p, 2 * hour + 1, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, hour);
    CHECK_EQ(totals_of(p).untracked_ns, hour + 1);
    only(p, LONG_STEP, 1);
}

/* Profile time ends at 2^62 ticks: more than a lifetime, but a hostile clock gets there. */
TEST(time_has_an_end)
{
    const uint64_t end = UINT64_C(1) << 62;
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t now = 0;
    int i;
    options.max_step_ns = UINT64_MAX;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, READY, 1, NULL);
    for (i = 0; i < 12; i++) {
        at(p, now, ENTER, 0, &B);
        at(p, now += end / 4, LEAVE, 0, NULL);
        at(p, now, IDLE_ENTER, 0, NULL);
        at(p, now += end / 4, IDLE_LEAVE, 0, NULL);
    }
    CHECK_IN(totals_of(p).elapsed_ns, end - end / 4, end);
    CHECK(rank_of(p, "b").exec_ns <= end);
}

/* ---- enabled again after off ---- */

static uint64_t host_clock(void *user)
{
    return *(uint64_t *)user;
}

static uint64_t host_time;

static chroprof *clocked(void)
{
    chroprof_options options = { 0 };
    chroprof *p;
    host_time = 1000;
    options.clock = host_clock;
    options.clock_user = &host_time;
    p = fresh(&options);
    chroprof_pending(p, 1, &A);
    chroprof_pending(p, 2, &B);
    chroprof_running(p, 1);
    chroprof_ready(p, 2);
    chroprof_enter(p, &C);
    host_time = 1010;
    chroprof_set_enabled(p, false);
    laws(p);
    return p;
}

TEST(off_empties_the_stack)
{
    chroprof *p = clocked();
    CHECK(!totals_of(p).enabled);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    CHECK_EQ(rank_of(p, "c").exec_ns, 10);
    CHECK_EQ(rank_of(p, "c").completed, 1);
    CHECK_EQ(rank_of(p, "b").delay_ns, 10);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_PENDING);
    orderly(p);
}

TEST(off_time_is_no_profile_time)
{
    chroprof *p = clocked();
    uint64_t events = totals_of(p).events;
    host_time = 5000;
    chroprof_completed(p, 1);
    chroprof_idle_enter(p);
    laws(p);
    CHECK_EQ(totals_of(p).events, events);
    CHECK_EQ(totals_of(p).live, 2);
    chroprof_set_enabled(p, true);
    CHECK(totals_of(p).enabled);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    host_time = 5020;
    chroprof_running(p, 1);
    laws(p);
    host_time = 5030;
    chroprof_completed(p, 1);
    laws(p);
    CHECK_EQ(totals_of(p).elapsed_ns, 40);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 20);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 40);
    CHECK_EQ(rank_of(p, "b").delay_ns, 10);
    orderly(p);
}

/* ---- id 0, NULL site, no such state ---- */

static chroprof_anomaly anomaly_of(const chroprof *p, chroprof_anomaly_kind kind)
{
    chroprof_anomaly row;
    CHECK(chroprof_read_anomaly(p, kind, &row));
    CHECK_EQ(row.kind, kind);
    return row;
}

static void hold_place(const chroprof_anomaly_place *place, uint64_t at_ns, uint64_t id,
                       const char *name)
{
    CHECK_EQ(place->at_ns, at_ns);
    CHECK_EQ(place->id, id);
    CHECK_STR(place->name, name);
}

TEST(an_anomaly_names_the_task_first_and_last)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    CHECK(!anomaly_of(p, CHROPROF_ANOMALY_NOT_RUNNING).placed);
    at(p, 10, PAUSED, 1, NULL);
    at(p, 20, PAUSED, 1, NULL);
    at(p, 30, PAUSED, 2, NULL);
    row = anomaly_of(p, CHROPROF_ANOMALY_NOT_RUNNING);
    CHECK(row.placed);
    CHECK_EQ(row.count, 3);
    hold_place(&row.first, 10, 1, "a");
    hold_place(&row.last, 30, 2, "b");
    CHECK_EQ(row.last.line, B.line);
    CHECK_EQ(row.last.path, future_of(p, 2).path);
    CHECK_EQ(row.last.top, 0);
    chroprof_reset(p);
    row = anomaly_of(p, CHROPROF_ANOMALY_NOT_RUNNING);
    CHECK(!row.placed);
    hold_place(&row.last, 0, 0, "");
}

TEST(an_anomaly_of_an_unknown_id_names_what_ran)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    at(p, 0, ENTER, 0, &A);
    at(p, 10, READY, 9, NULL);
    at(p, 20, LEAVE, 0, NULL);
    at(p, 30, READY, 8, NULL);
    row = anomaly_of(p, CHROPROF_ANOMALY_UNKNOWN_READY);
    hold_place(&row.first, 10, 9, "a");
    CHECK_EQ(row.first.path, 0);
    CHECK(row.first.top > 2);
    hold_place(&row.last, 30, 8, "(uninstrumented)");
    CHECK_EQ(row.last.path + row.last.top, 0);
}

/* The record is gone, but the ring still tells whose slice that id had. */
TEST(an_anomaly_of_a_finished_future_names_its_site)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    uint64_t k;
    at(p, 0, PENDING, 5, &B);
    at(p, 10, RUNNING, 5, NULL);
    at(p, 20, COMPLETED, 5, NULL);
    at(p, 30, COMPLETED, 5, NULL);
    row = anomaly_of(p, CHROPROF_ANOMALY_UNKNOWN_FINISH);
    hold_place(&row.last, 30, 5, "b");
    CHECK(row.last.path > 2);
    CHECK_EQ(row.last.top, 0);
    for (k = 0; k < 64; k++)
        at(p, 40, TICK, 0, NULL);
    at(p, 50, COMPLETED, 5, NULL);
    row = anomaly_of(p, CHROPROF_ANOMALY_UNKNOWN_FINISH);
    hold_place(&row.first, 30, 5, "b");
    hold_place(&row.last, 50, 5, "(uninstrumented)");
}

TEST(an_unwound_frame_is_named)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 5, ENTER, 0, &B);
    at(p, 10, IDLE_ENTER, 0, NULL);
    row = anomaly_of(p, CHROPROF_ANOMALY_UNWOUND_BY_IDLE);
    CHECK_EQ(row.count, 2);
    hold_place(&row.first, 10, 0, "b");
    hold_place(&row.last, 10, 1, "a");
    CHECK_EQ(row.first.top, row.last.top);
}

/* A block keeps the places of as many kinds as it has paths, and counts the others. */
TEST(places_in_a_block_with_few_paths)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_paths = 1;
    p = fresh(&options);
    at(p, 0, LEAVE, 0, NULL);
    at(p, 1, LOOP_LEAVE, 0, NULL);
    at(p, 2, LEAVE, 0, NULL);
    CHECK_EQ(anomaly_of(p, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER).last.at_ns, 2);
    CHECK(!anomaly_of(p, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER).placed);
    CHECK_ANOMALY(p, LOOP_LEAVE_WITHOUT_ENTER, 1);
    chroprof_reset(p);
    at(p, 9, LOOP_LEAVE, 0, NULL);
    CHECK(anomaly_of(p, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER).placed);
}

TEST(an_anomaly_that_does_not_exist)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    CHECK(!chroprof_read_anomaly(p, CHROPROF_ANOMALY_COUNT, &row));
    CHECK_STR(row.text, "");
    CHECK(!chroprof_read_anomaly(NULL, CHROPROF_ANOMALY_ID_ZERO, &row));
    CHECK_STR(row.first.name, "");
}

TEST(id_0_has_no_effect)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, PENDING, 0, &B);
    at(p, 20, READY, 0, NULL);
    at(p, 30, RUNNING, 0, &B);
    at(p, 40, PAUSED, 0, NULL);
    at(p, 50, COMPLETED, 0, NULL);
    at(p, 60, FAILED, 0, NULL);
    at(p, 70, CANCELLED, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 70);
    CHECK(find_rank(p, "b") == NULL);
    only(p, ID_ZERO, 7);
}

TEST(id_0_with_a_site_is_stillborn)
{
    chroprof *p = fresh(NULL);
    at(p, 0, COMPLETED, 0, &A);
    at(p, 0, FAILED, 0, &A);
    chroprof_stillborn(p, &A, CHROPROF_CANCELLED);
    laws(p);
    CHECK_EQ(rank_of(p, "a").stillborn, 3);
    CHECK_EQ(rank_of(p, "a").calls, 0);
    CHECK_EQ(rank_of(p, "a").completed, 0);
    CHECK_EQ(rank_of(p, "a").slices, 0);
    orderly(p);
}

TEST(a_null_site)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, NULL);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "(unnamed)").calls, 1);
    CHECK_EQ(rank_of(p, "(unnamed)").exec_ns, 10);
    CHECK_STR(rank_of(p, "(unnamed)").file, "");
    CHECK_EQ(rank_of(p, "(unnamed)").line, 0);
    only(p, SITE_NULL, 1);
    at(p, 10, ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    chroprof_stillborn(p, NULL, CHROPROF_COMPLETED);
    laws(p);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 1);
    only(p, SITE_NULL, 3);
}

TEST(a_state_that_does_not_exist)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    chroprof_event(p, (chroprof_state)made_up(CHROPROF_NEXT + 1), 1, &B, 10);
    laws(p);
    chroprof_event(p, (chroprof_state)made_up(0x7fffffff), 1, &B, 20);
    laws(p);
    chroprof_stillborn(p, &B, CHROPROF_RUNNING);
    laws(p);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK(find_rank(p, "b") == NULL);
    only(p, BAD_STATE, 3);
    /* in the JSON a tick of an id, 13 + 16 + 32 x 1, then 10 ns, path 3, id 1: 61 10 3 2, 61 10 .. */
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"data\":\"CwAAPQoDAj0K") != NULL);
}

/* ---- full tables ---- */

static bool report_says(chroprof *p, const char *words)
{
    return strstr(written(p, CHROPROF_TEXT)->bytes, words) != NULL;
}

TEST(full_futures)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_futures = 2;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &A);
    CHECK(!report_says(p, "max_futures"));
    at(p, 0, PENDING, 3, &B);
    CHECK_EQ(rank_of(p, "a").calls, 2);
    CHECK_EQ(rank_of(p, "a").dropped, 1);
    CHECK_EQ(rank_of(p, "a").abandoned, 0);
    CHECK_EQ(rank_of(p, "b").live, 1);
    CHECK_EQ(totals_of(p).live, 2);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).capacity, 2);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).used, 2);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).dropped, 1);
    CHECK_IN(table_of(p, CHROPROF_TABLE_FUTURES).advice, 3, 64);
    CHECK_EQ(totals_of(p).dropped, 1);
    CHECK(report_says(p, "max_futures"));
    at(p, 0, RUNNING, 3, NULL);
    at(p, 10, COMPLETED, 3, NULL);
    CHECK_EQ(rank_of(p, "b").exec_ns, 10);
    at(p, 10, PENDING, 4, &B);
    CHECK_EQ(rank_of(p, "b").live, 1);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).dropped, 1);
    orderly(p);
}

/* The one whose state has not changed for the longest time; what runs has not been forgotten. */
TEST(full_futures_drop_the_oldest)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_futures = 4;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 1, PENDING, 2, &A);
    at(p, 2, PENDING, 3, &A);
    at(p, 3, PENDING, 4, &A);
    at(p, 4, READY, 2, NULL);
    at(p, 5, PENDING, 5, &B);
    CHECK(find_future(p, 3) == NULL);
    at(p, 6, PENDING, 6, &B);
    CHECK(find_future(p, 4) == NULL);
    at(p, 10, PENDING, 7, &B);
    CHECK(find_future(p, 2) == NULL);
    CHECK_EQ(rank_of(p, "a").dropped, 3);
    CHECK_EQ(rank_of(p, "a").calls, 4);
    CHECK_EQ(rank_of(p, "a").live, 1);
    CHECK_EQ(rank_of(p, "a").delay_ns, 6);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 10 + 9 + 3 + 3);
    orderly(p);
    at(p, 12, RUNNING, 2, NULL);
    at(p, 15, PAUSED, 2, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 3);
    only(p, UNKNOWN_RUNNING, 1);
}

/* Then the new one has no record. */
TEST(full_futures_that_all_run)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_futures = 1;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 2, &B);
    CHECK_EQ(path_of(p, "a;b").dropped, 1);
    CHECK_EQ(path_of(p, "a;b").calls, 1);
    CHECK_EQ(path_of(p, "a;b").abandoned, 0);
    CHECK_EQ(totals_of(p).live, 1);
    at(p, 20, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    orderly(p);
}

/* A server that forgets each connection still sees all of its requests. */
TEST(forgotten_futures_do_not_blind)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t k, now = 0;
    options.max_futures = 1000;
    p = fresh(&options);
    for (k = 1; k <= 200000; k++) {
        chroprof_event(p, CHROPROF_PENDING, k * 4096, &A, now += 10);
        chroprof_event(p, CHROPROF_PENDING, k * 4096 + 64, &B, now);
        chroprof_event(p, CHROPROF_RUNNING, k * 4096 + 64, NULL, now);
        chroprof_event(p, CHROPROF_COMPLETED, k * 4096 + 64, NULL, now += 10);
    }
    laws(p);
    CHECK_EQ(rank_of(p, "b").completed, 200000);
    CHECK_EQ(rank_of(p, "b").exec_ns, 2000000);
    CHECK_EQ(rank_of(p, "a").calls, 200000);
    CHECK_EQ(rank_of(p, "a").abandoned, 0);
    CHECK_IN(rank_of(p, "a").live, 999, 1000);
    CHECK_EQ(rank_of(p, "a").dropped, 200000 - rank_of(p, "a").live);
    CHECK_EQ(totals_of(p).untracked_ns, 0);
    orderly(p);
}

/* However large the table: what is in use stays, although those that are forgotten fill the rest. */
TEST(forgotten_futures_do_not_displace_others)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t k, id, now = 0;
    options.max_futures = 4000;
    p = fresh(&options);
    for (id = 1; id <= 1000; id++)
        chroprof_event(p, CHROPROF_PENDING, id, &B, now);
    for (k = 1; k <= 100; k++) {
        for (id = 1; id <= 1000; id++) {
            chroprof_event(p, CHROPROF_RUNNING, id, NULL, ++now);
            chroprof_event(p, CHROPROF_PAUSED, id, NULL, ++now);
        }
        for (id = 1; id <= 100; id++)
            chroprof_event(p, CHROPROF_PENDING, (k * 100 + id) * 64 + 2000, &A, ++now);
    }
    laws(p);
    CHECK_EQ(rank_of(p, "b").live, 1000);
    CHECK_EQ(rank_of(p, "b").dropped, 0);
    CHECK_EQ(rank_of(p, "a").dropped, 10000 - 3000);
    orderly(p);
}

TEST(full_futures_adoption)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_futures = 1;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 2, &B);
    at(p, 10, PAUSED, 2, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "b").exec_ns, 10);
    CHECK_EQ(rank_of(p, "b").live, 1);
    CHECK_EQ(rank_of(p, "a").dropped, 1);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_FUTURES).dropped, 1);
    at(p, 10, RUNNING, 2, NULL);
    at(p, 10, RUNNING, 3, &B);
    at(p, 20, PAUSED, 3, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    CHECK_EQ(rank_of(p, "b").dropped, 1);
}

TEST(full_depth_hides_frames)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_depth = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    at(p, 20, ENTER, 0, &B);
    CHECK_EQ(totals_of(p).depth, 3);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 40, LEAVE, 0, NULL);
    at(p, 50, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_EQ(totals_of(p).untracked_ns, 30);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_DEPTH).capacity, 1);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_DEPTH).dropped, 2);
    CHECK_IN(table_of(p, CHROPROF_TABLE_DEPTH).advice, 3, 64);
    CHECK(report_says(p, "max_depth"));
    orderly(p);
}

TEST(full_depth_matches_pauses)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_depth = 1;
    p = fresh(&options);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, PENDING, 2, &B);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, RUNNING, 2, NULL);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_RUNNING);
    at(p, 30, PAUSED, 2, NULL);
    CHECK_EQ(future_of(p, 2).state, CHROPROF_PAUSED);
    at(p, 40, RUNNING, 2, NULL);
    at(p, 50, COMPLETED, 2, NULL);
    CHECK_EQ(totals_of(p).depth, 1);
    at(p, 60, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "b").completed, 1);
    CHECK_EQ(totals_of(p).untracked_ns, 30);
    orderly(p);
}

TEST(full_depth_and_idle)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_depth = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, ENTER, 0, &B);
    at(p, 10, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    only(p, UNWOUND_BY_IDLE, 2);
}

/* However a hidden frame ends, its future runs no more, and waits again when it is ready. */
TEST(full_depth_forgets_no_hidden_future)
{
    static const chroprof_state ends[] = { CHROPROF_IDLE_ENTER, CHROPROF_PAUSED, CHROPROF_SWITCH,
                                           CHROPROF_LEAVE };
    chroprof_options options = { 0 };
    size_t k;
    options.max_depth = 1;
    for (k = 0; k < sizeof ends / sizeof *ends; k++) {
        chroprof *p = fresh(&options);
        at(p, 0, PENDING, 1, &A);
        at(p, 0, PENDING, 2, &B);
        at(p, 0, RUNNING, 1, NULL);
        at(p, 0, RUNNING, 2, NULL);
        chroprof_event(p, ends[k], ends[k] == CHROPROF_PAUSED ? 1 : 0, NULL, 10);
        laws(p);
        at(p, 20, READY, 2, NULL);
        at(p, 30, IDLE_ENTER, 0, NULL);
        CHECK_EQ(totals_of(p).depth, 0);
        at(p, 50, RUNNING, 2, NULL);
        CHECK_IN(rank_of(p, "b").delay_ns, 20, 30);
        at(p, 55, COMPLETED, 2, NULL);
        CHECK_EQ(rank_of(p, "b").completed, 1);
    }
}

TEST(full_paths)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_paths = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_PATHS).capacity, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").calls, 2);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_PATHS).dropped, 1);
    at(p, 30, ENTER, 0, &C);
    at(p, 35, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 5);
    CHECK(find_rank(p, "c") == NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_PATHS).dropped, 2);
    CHECK_IN(table_of(p, CHROPROF_TABLE_PATHS).advice, 2, 64);
    CHECK(report_says(p, "max_paths"));
    orderly(p);
}

TEST(full_edges)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_edges = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_EDGES).capacity, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").calls, 2);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_EDGES).dropped, 1);
    at(p, 30, ENTER, 0, &C);
    at(p, 35, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 5);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_EDGES).dropped, 2);
    CHECK_IN(table_of(p, CHROPROF_TABLE_EDGES).advice, 2, 64);
    CHECK(report_says(p, "max_edges"));
    orderly(p);
}

/* What ran below a root that was lost looked like a root itself. */
TEST(advice_for_edges_counts_children_of_the_lost)
{
    chroprof_options options = { 0 };
    int run;
    options.max_edges = options.max_paths = 1;
    for (run = 0; run < 2; run++) {
        chroprof *p = fresh(&options);
        at(p, 0, ENTER, 0, &A);
        at(p, 1, LEAVE, 0, NULL);
        at(p, 2, ENTER, 0, &B);
        at(p, 3, ENTER, 0, &A);
        at(p, 4, LEAVE, 0, NULL);
        at(p, 5, LEAVE, 0, NULL);
        CHECK_EQ(totals_of(p).dropped != 0, run == 0);
        options.max_edges = (uint32_t)table_of(p, CHROPROF_TABLE_EDGES).advice;
        options.max_paths = 3;
    }
}

TEST(full_sites)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_sites = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 1);
    at(p, 10, ENTER, 0, &B);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 30, ENTER, 0, &C);
    at(p, 35, LEAVE, 0, NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).capacity, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "(other)").exec_ns, 25);
    CHECK_EQ(rank_of(p, "(other)").calls, 2);
    CHECK_STR(rank_of(p, "(other)").file, "");
    CHECK_EQ(rank_of(p, "(other)").line, 0);
    CHECK_IN(table_of(p, CHROPROF_TABLE_SITES).dropped, 1, 2);
    CHECK_IN(table_of(p, CHROPROF_TABLE_SITES).advice, 2, 64);
    CHECK(report_says(p, "max_sites"));
    orderly(p);
}

#define LONG "a name of nearly a hundred bytes, which does not fit into a table of so few strings, "

TEST(full_strings_cut_names)
{
    static const chroprof_site first = { LONG LONG LONG "1", "f.c", 1 };
    static const chroprof_site second = { LONG LONG LONG "2", "f.c", 1 };
    chroprof_options options = { 0 };
    chroprof_rank rows[4];
    chroprof_table strings;
    chroprof *p;
    options.string_bytes = 16;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &first);
    at(p, 10, LEAVE, 0, NULL);
    at(p, 10, ENTER, 0, &second);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 30, ENTER, 0, &first);
    at(p, 35, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_ranks(p, rows, 4, CHROPROF_BY_EXEC), 2);
    CHECK_EQ(rows[0].exec_ns, 20);
    CHECK_EQ(rows[1].exec_ns, 15);
    CHECK_EQ(rows[1].calls, 2);
    CHECK(strlen(rows[1].name) < strlen(first.name));
    CHECK(strcmp(rows[1].name + strlen(rows[1].name) - 3, "...") == 0);
    strings = table_of(p, CHROPROF_TABLE_STRINGS);
    CHECK_IN(strings.dropped, 2, 4);
    CHECK_EQ(strings.capacity, 16);
    CHECK(strings.used <= strings.capacity);
    CHECK(strings.advice > 2 * strlen(first.name));
    CHECK(report_says(p, "string_bytes"));
    orderly(p);
}

TEST(full_histograms)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_histograms = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, LEAVE, 0, NULL);
    at(p, 1000, ENTER, 0, &B);
    at(p, 2000, LEAVE, 0, NULL);
    CHECK(rank_of(p, "a").has_percentiles);
    CHECK(rank_of(p, "a").slice_p50_ns > 0);
    CHECK(!rank_of(p, "b").has_percentiles);
    CHECK_EQ(rank_of(p, "b").slice_max_ns, 1000);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_HISTOGRAMS).capacity, 1);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_HISTOGRAMS).dropped, 1);
    CHECK_IN(table_of(p, CHROPROF_TABLE_HISTOGRAMS).advice, 2, 64);
    CHECK(report_says(p, "max_histograms"));
    orderly(p);
}

/* A site that comes late and takes more than the others has their percentiles. */
TEST(heavy_sites_have_the_histograms)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_histograms = 1;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, LEAVE, 0, NULL);
    at(p, 1000, ENTER, 0, &B);
    at(p, 2000, LEAVE, 0, NULL);
    at(p, 2000, ENTER, 0, &B);
    at(p, 400000000, LEAVE, 0, NULL);
    at(p, 400000000, ENTER, 0, &B);
    at(p, 400000500, LEAVE, 0, NULL);
    CHECK(!rank_of(p, "a").has_percentiles);
    CHECK(rank_of(p, "b").has_percentiles);
    CHECK_EQ(rank_of(p, "b").slices, 3);
    CHECK_EQ(rank_of(p, "b").measured, 1);
    CHECK_IN(rank_of(p, "b").slice_p50_ns, 468, 532);
    orderly(p);
}

/* Futures of all latencies there are: a site that needs more ranges than there are begins anew. */
TEST(ranges_go_to_the_heavy_site)
{
    chroprof_options options = { 0 };
    uint64_t t = 0, k;
    chroprof *p;
    options.max_histograms = 1;
    options.max_step_ns = UINT64_MAX;
    p = fresh(&options);
    for (k = 0; k < 45; k++) {
        at(p, t, PENDING, 1, &A);
        at(p, t, RUNNING, 1, NULL);
        at(p, t += UINT64_C(1) << k, COMPLETED, 1, NULL);
        orderly(p);
    }
    CHECK_EQ(rank_of(p, "a").slices, 45);
    CHECK(rank_of(p, "a").measured < 45);
}

TEST(latency_is_from_creation_to_finish)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 100, RUNNING, 1, NULL);
    at(p, 150, PAUSED, 1, NULL);
    at(p, 1000, COMPLETED, 1, NULL);
    at(p, 1000, PENDING, 2, &A);
    at(p, 1000, RUNNING, 2, NULL);
    at(p, 1600, FAILED, 2, NULL);
    at(p, 1700, PENDING, 3, &A); /* abandoned, which is no finish */
    at(p, 9700, PENDING, 3, &A);
    CHECK_EQ(rank_of(p, "a").latency_max_ns, 1000);
    CHECK_IN(rank_of(p, "a").latency_p50_ns, 562, 638);
    CHECK_IN(rank_of(p, "a").latency_p99_ns, 937, 1000);
    at(p, 9800, ENTER, 0, &B);
    at(p, 9900, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "b").latency_max_ns, 0);
}

static const test_case cases[] = {
    CASE(finish_on_top_pauses_first),
    CASE(finish_on_top_knows_its_kind),
    CASE(finish_off_the_stack),
    CASE(finish_in_the_middle_keeps_the_frame),
    CASE(finish_of_a_future_that_was_hidden),
    CASE(finish_in_the_middle_then_idle),
    CASE(finish_in_the_middle_then_unwound),
    CASE(finish_in_the_middle_twice),
    CASE(finish_in_the_middle_with_two_frames),
    CASE(pending_of_an_id_with_two_frames),
    CASE(pause_unwinds_what_is_above),
    CASE(pause_means_the_topmost_frame_of_any_generation),
    CASE(pause_crosses_a_barrier),
    CASE(pause_of_a_future_that_is_not_on_the_stack),
    CASE(pause_of_an_unknown_id),
    CASE(a_task_that_ends_in_its_own_slice),
    CASE(finish_of_an_unknown_id),
    CASE(finish_of_an_unknown_id_with_a_site_is_stillborn),
    CASE(finish_with_a_site_after_a_drop_is_no_stillborn),
    CASE(running_of_an_unknown_id_with_a_site_is_adopted),
    CASE(running_of_an_unknown_id_without_a_site_is_untracked),
    CASE(finish_pops_an_untracked_frame),
    CASE(running_twice_is_a_lost_pause),
    CASE(running_twice_of_an_unknown_id),
    CASE(the_same_future_deeper_is_allowed),
    CASE(the_same_future_deeper_under_another),
    CASE(the_same_future_deeper_finishes_on_top),
    CASE(pending_of_a_live_id_abandons_the_old_one),
    CASE(pending_of_a_running_id_keeps_its_frame),
    CASE(finish_of_the_new_one_leaves_the_old_ones_frame),
    CASE(ready_while_running_begins_at_the_pause),
    CASE(ready_twice_while_running),
    CASE(ready_while_running_deeper_waits_for_the_last_frame),
    CASE(finish_ends_a_delay),
    CASE(ready_of_an_unknown_id),
    CASE(leave_pops_an_enter_frame),
    CASE(leave_never_pops_a_future),
    CASE(next_leaves_one_call_and_enters_another),
    CASE(next_without_a_call_just_enters),
    CASE(switch_pauses_one_and_runs_another),
    CASE(switch_unwinds_enter_frames),
    CASE(switch_stops_at_the_barrier),
    CASE(switch_to_what_runs_begins_a_new_slice),
    CASE(switch_pauses_an_untracked_frame),
    CASE(a_barrier_makes_roots_and_loop_time),
    CASE(loop_leave_unwinds_to_its_barrier),
    CASE(loop_leave_without_a_barrier),
    CASE(idle_unwinds_to_the_barrier),
    CASE(any_event_but_tick_ends_the_idle),
    CASE(idle_enter_in_idle_is_a_iteration_of_length_0),
    CASE(idle_leave_without_idle),
    CASE(time_going_back_rebases_the_clock),
    CASE(time_may_wrap_around),
    CASE(a_long_step_is_untracked),
    CASE(a_long_step_in_idle_is_idle),
    CASE(a_long_step_is_above_an_hour_by_default),
    CASE(time_has_an_end),
    CASE(off_empties_the_stack),
    CASE(off_time_is_no_profile_time),
    CASE(an_anomaly_names_the_task_first_and_last),
    CASE(an_anomaly_of_an_unknown_id_names_what_ran),
    CASE(an_anomaly_of_a_finished_future_names_its_site),
    CASE(an_unwound_frame_is_named),
    CASE(places_in_a_block_with_few_paths),
    CASE(an_anomaly_that_does_not_exist),
    CASE(id_0_has_no_effect),
    CASE(id_0_with_a_site_is_stillborn),
    CASE(a_null_site),
    CASE(a_state_that_does_not_exist),
    CASE(full_futures),
    CASE(full_futures_adoption),
    CASE(full_futures_drop_the_oldest),
    CASE(full_futures_that_all_run),
    CASE(forgotten_futures_do_not_blind),
    CASE(forgotten_futures_do_not_displace_others),
    CASE(full_depth_hides_frames),
    CASE(full_depth_matches_pauses),
    CASE(full_depth_and_idle),
    CASE(full_depth_forgets_no_hidden_future),
    CASE(full_paths),
    CASE(full_edges),
    CASE(advice_for_edges_counts_children_of_the_lost),
    CASE(full_sites),
    CASE(full_strings_cut_names),
    CASE(full_histograms),
    CASE(heavy_sites_have_the_histograms),
    CASE(ranges_go_to_the_heavy_site),
    CASE(latency_is_from_creation_to_finish),
};

TEST_MAIN(cases)
