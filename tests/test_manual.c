/* tests/test_manual.c - WHAT COUNTS WHEN: a case for each of its sentences, in the order of the
 * manual, through the public interface alone. Manual clock. */
#include "harness.h"

static const chroprof_site A = { "a", "host.c", 1 };
static const chroprof_site B = { "b", "host.c", 2 };

enum { BLOCK_WORDS = HARNESS_MEMORY / 8 };

/* The fixture's profile as it is now, in a block of its own. */
static chroprof state_now(void)
{
    static uint64_t block[BLOCK_WORDS];
    chroprof view;
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, block, sizeof block), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, block, sizeof block), CHROPROF_OK);
    return view;
}

/* What came after an older state. */
static chroprof since(const chroprof *p, const chroprof *older)
{
    static uint64_t block[BLOCK_WORDS];
    chroprof view;
    CHECK_EQ(chroprof_difference(p, older, block, sizeof block), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, block, sizeof block), CHROPROF_OK);
    laws(&view);
    return view;
}

/* As near as a percentile is. */
#define CHECK_NEAR(got, want) CHECK_IN(got, (want) - (want) / 16, (want) + (want) / 16)

static void call(chroprof *p, const chroprof_site *site, uint64_t from, uint64_t to)
{
    at(p, from, ENTER, 0, site);
    at(p, to, LEAVE, 0, NULL);
}

/* ---- under way ---- */

TEST(sums_slices_and_their_maxima_include_the_slice_under_way)
{
    chroprof *p = fresh(NULL);
    call(p, &A, 0, 40);
    at(p, 100, ENTER, 0, &A);
    at(p, 1100, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 1040);
    CHECK_EQ(rank_of(p, "a").slices, 2);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 1000);
    CHECK_EQ(rank_of(p, "a").exec_max_ns, 1000);
}

TEST(percentiles_of_slices_are_of_those_that_ended)
{
    chroprof *p = fresh(NULL);
    call(p, &A, 0, 40);
    at(p, 100, ENTER, 0, &A);
    at(p, 1100, TICK, 0, NULL);
    CHECK_NEAR(rank_of(p, "a").slice_p999_ns, 40);
    at(p, 1100, LEAVE, 0, NULL);
    CHECK_NEAR(rank_of(p, "a").slice_p999_ns, 1000);
}

TEST(percentiles_of_delay_are_of_delays_that_ended)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, READY, 1, NULL);
    at(p, 40, RUNNING, 1, NULL);
    at(p, 50, PAUSED, 1, NULL);
    at(p, 50, READY, 1, NULL);
    at(p, 1050, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 1040);
    CHECK_NEAR(rank_of(p, "a").delay_p99_ns, 40);
    at(p, 1050, RUNNING, 1, NULL);
    CHECK_NEAR(rank_of(p, "a").delay_p99_ns, 1000);
}

TEST(callbacks_and_iterations_are_those_that_ended)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 10, ENTER, 0, &A);
    at(p, 1010, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 0);
    CHECK_EQ(totals_of(p).callback_max_ns, 0);
    CHECK_EQ(totals_of(p).iterations, 0);
    CHECK_EQ(totals_of(p).iteration_max_ns, 0);
    at(p, 1010, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).callback_max_ns, 1000);
    CHECK_EQ(totals_of(p).iterations, 0);
    at(p, 1010, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iteration_max_ns, 1000);
}

/* ---- reset ---- */

TEST(what_is_under_way_at_a_reset_counts_from_there)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 1, IDLE_LEAVE, 0, NULL);
    at(p, 1, ENTER, 0, &A);
    at(p, 1001, TICK, 0, NULL);
    chroprof_reset(p);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").exec_ns, 0);
    at(p, 1041, LEAVE, 0, NULL);
    at(p, 1051, IDLE_ENTER, 0, NULL);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").slice_max_ns, 40);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 40);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 40);
    CHECK_EQ(totals_of(p).iterations, 1);
    CHECK_EQ(totals_of(p).iteration_max_ns, 50);
}

TEST(a_delay_under_way_at_a_reset_counts_from_there)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, READY, 1, NULL);
    at(p, 1000, TICK, 0, NULL);
    chroprof_reset(p);
    at(p, 1040, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 40);
    CHECK_EQ(rank_of(p, "a").delay_p99_ns, 40);
    CHECK_EQ(totals_of(p).blame_ns, 40);
}

/* THE RING: time before a reset does not count. */
TEST(a_ready_from_before_a_reset_counts_from_there)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, ENTER, 0, &B);
    at(p, 1000, TICK, 0, NULL);
    chroprof_reset(p);
    at(p, 1010, TICK, 0, NULL);
    chroprof_ready_since(p, 1, 200);
    laws(p);
    CHECK_EQ(rank_of(p, "a").delay_ns, 10);
    CHECK_EQ(rank_of(p, "b").blame_ns, 10);
    CHECK_EQ(totals_of(p).blame_ns, 10);
    at(p, 1040, LEAVE, 0, NULL);
    at(p, 1040, RUNNING, 1, NULL);
    CHECK_EQ(rank_of(p, "a").delay_ns, 40);
    CHECK_EQ(rank_of(p, "b").blame_ns, 40);
    orderly(p);
}

TEST(a_stall_that_a_reset_cuts_has_the_rest_of_its_length)
{
    chroprof_options options;
    chroprof_stall row;
    chroprof *p;
    memset(&options, 0, sizeof options);
    options.stall_ns = 30;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, TICK, 0, NULL);
    chroprof_reset(p);
    at(p, 1040, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, &row, 1), 1);
    CHECK_EQ(row.start_ns, 0);
    CHECK_EQ(row.length_ns, 40);
}

/* ---- difference ---- */

TEST(a_slice_under_way_at_the_older_state_counts_as_one)
{
    chroprof *p = fresh(NULL), older, later;
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, TICK, 0, NULL);
    older = state_now();
    at(p, 1040, TICK, 0, NULL);
    later = since(p, &older);
    CHECK_EQ(rank_of(&later, "a").slices, 1);
    CHECK_EQ(rank_of(&later, "a").exec_ns, 40);
    at(p, 1040, LEAVE, 0, NULL);
    later = since(p, &older);
    CHECK_EQ(rank_of(&later, "a").slices, 1);
    CHECK_EQ(rank_of(&later, "a").exec_ns, 40);
    CHECK_EQ(rank_of(&later, "a").slice_max_ns, 40);
}

TEST(percentiles_of_a_difference_have_the_whole_slice)
{
    chroprof *p = fresh(NULL), older, later;
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, TICK, 0, NULL);
    older = state_now();
    at(p, 1040, LEAVE, 0, NULL);
    call(p, &A, 1040, 3040);
    later = since(p, &older);
    CHECK_EQ(rank_of(&later, "a").slices, 2);
    CHECK_EQ(rank_of(&later, "a").exec_ns, 2040);
    CHECK_NEAR(rank_of(&later, "a").slice_p50_ns, 1040);
    CHECK_NEAR(totals_of(&later).callback_p50_ns, 1040);
}

/* ---- waiting ---- */

TEST(waiting_is_never_below_zero)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 0, ENTER, 0, &B);
    at(p, 0, COMPLETED, 1, NULL);
    at(p, 0, LEAVE, 0, NULL);
    at(p, 100, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 100);
    CHECK_EQ(rank_of(p, "a").waiting_ns, 0);
    CHECK_EQ(path_of(p, "a").waiting_ns, 0);
    at(p, 110, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 110);
    CHECK_EQ(rank_of(p, "a").waiting_ns, 0);
    only(p, BURIED_FINISH, 1);
}

/* ---- unknown id ---- */

TEST(paused_ends_the_frame_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 7, NULL);
    at(p, 10, PAUSED, 7, NULL);
    at(p, 30, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 20);
    only(p, UNKNOWN_RUNNING, 1);
}

TEST(a_task_that_ends_in_its_own_slice_calls_its_finish_last)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 7, &A);
    at(p, 10, RUNNING, 7, NULL);
    at(p, 40, COMPLETED, 7, NULL);
    at(p, 60, PENDING, 7, &B);
    at(p, 70, RUNNING, 7, NULL);
    at(p, 90, PAUSED, 7, NULL);
    orderly(p);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    CHECK_EQ(rank_of(p, "b").exec_ns, 20);
    CHECK_EQ(rank_of(p, "b").abandoned, 0);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 40);
}

TEST(a_pause_after_the_finish_is_counted_and_told_of_the_task)
{
    chroprof *p = fresh(NULL);
    chroprof_anomaly row;
    at(p, 0, PENDING, 7, &A);
    at(p, 10, RUNNING, 7, NULL);
    at(p, 40, COMPLETED, 7, NULL);
    at(p, 50, PAUSED, 7, NULL);
    only(p, UNKNOWN_PAUSED, 1);
    CHECK(chroprof_read_anomaly(p, CHROPROF_ANOMALY_UNKNOWN_PAUSED, &row));
    CHECK_STR(row.last.name, "a");
    CHECK_EQ(row.last.id, 7);
}

TEST(a_finish_ends_the_frame_of_an_unknown_id_on_top)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 7, NULL);
    at(p, 10, COMPLETED, 7, NULL);
    at(p, 30, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 20);
    CHECK_ANOMALY(p, UNKNOWN_RUNNING, 1);
    CHECK_ANOMALY(p, UNKNOWN_FINISH, 1);
    CHECK_EQ(totals_of(p).anomalies, 2);
}

TEST(a_finish_below_the_top_leaves_the_frame_of_an_unknown_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 7, NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, COMPLETED, 7, NULL);
    CHECK_EQ(totals_of(p).depth, 2);
    CHECK_ANOMALY(p, UNKNOWN_FINISH, 1);
}

TEST(a_finish_with_a_site_also_counts_a_stillborn)
{
    chroprof *p = fresh(NULL);
    at(p, 0, RUNNING, 7, NULL);
    at(p, 10, COMPLETED, 7, &A);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").stillborn, 1);
    CHECK_EQ(rank_of(p, "a").calls, 0);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    only(p, UNKNOWN_RUNNING, 1);
}

/* ---- reused id ---- */

TEST(paused_means_the_topmost_frame_of_a_reused_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, PAUSED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 20);
    CHECK_EQ(rank_of(p, "a").abandoned, 1);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PENDING);
    orderly(p);
}

TEST(a_pause_and_then_another_of_a_reused_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, RUNNING, 1, NULL);
    at(p, 50, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "b").exec_ns, 30);
    CHECK_EQ(totals_of(p).depth, 1);
    CHECK_EQ(future_of(p, 1).state, CHROPROF_PAUSED);
    at(p, 55, PAUSED, 1, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 25);
    CHECK_EQ(totals_of(p).depth, 0);
    orderly(p);
}

TEST(a_finish_means_the_newest_future_of_a_reused_id)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, COMPLETED, 1, NULL);
    CHECK_EQ(rank_of(p, "b").completed, 1);
    CHECK_EQ(rank_of(p, "b").exec_ns, 0);
    CHECK_EQ(rank_of(p, "a").completed, 0);
    CHECK_EQ(totals_of(p).depth, 1);
    orderly(p);
}

TEST(with_no_such_future_left_a_finish_ends_the_frame)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 1, &A);
    at(p, 0, RUNNING, 1, NULL);
    at(p, 10, PENDING, 1, &B);
    at(p, 20, COMPLETED, 1, NULL);
    at(p, 30, COMPLETED, 1, NULL);
    CHECK_EQ(totals_of(p).depth, 0);
    CHECK_EQ(rank_of(p, "a").exec_ns, 30);
    CHECK_EQ(rank_of(p, "a").completed, 0);
    only(p, UNKNOWN_FINISH, 1);
}

/* ---- no percentiles ---- */

TEST(other_has_no_percentiles)
{
    chroprof_options options;
    chroprof *p;
    memset(&options, 0, sizeof options);
    options.max_sites = 1;
    p = fresh(&options);
    call(p, &A, 0, 10);
    call(p, &B, 10, 30);
    CHECK(rank_of(p, "a").has_percentiles);
    CHECK(!rank_of(p, "(other)").has_percentiles);
    CHECK_EQ(rank_of(p, "(other)").slice_p50_ns, 0);
    CHECK_EQ(rank_of(p, "(other)").slice_max_ns, 20);
}

TEST(callbacks_and_iterations_have_no_percentiles_without_histograms)
{
    static uint64_t block[CHROPROF_MEMORY_MIN / 8];
    chroprof_options options;
    chroprof *p = harness_profile();
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(p, block, sizeof block, &options), CHROPROF_OK);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_HISTOGRAMS).capacity, 0);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 5, IDLE_LEAVE, 0, NULL);
    call(p, &A, 10, 50);
    at(p, 60, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 40);
    CHECK_EQ(totals_of(p).callback_p50_ns, 0);
    CHECK_EQ(totals_of(p).callback_p99_ns, 0);
    CHECK_EQ(totals_of(p).iterations, 1);
    CHECK_EQ(totals_of(p).iteration_max_ns, 55);
    CHECK_EQ(totals_of(p).iteration_p50_ns, 0);
    CHECK_EQ(totals_of(p).iteration_p99_ns, 0);
}

/* ---- off ---- */

TEST(off_counts_the_callback_under_way)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 100, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    CHECK_EQ(rank_of(p, "a").slices, 1);
    CHECK_EQ(rank_of(p, "a").completed, 1);
    CHECK_EQ(rank_of(p, "a").slice_p50_ns, 100);
    CHECK_EQ(totals_of(p).callbacks, 1);
    CHECK_EQ(totals_of(p).callback_max_ns, 100);
    orderly(p);
}

TEST(off_forgets_the_iteration_under_way)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, IDLE_LEAVE, 0, NULL);
    at(p, 110, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    at(p, 1000, TICK, 0, NULL);
    at(p, 1200, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 0);
    CHECK_EQ(totals_of(p).iteration_max_ns, 0);
    at(p, 1210, IDLE_LEAVE, 0, NULL);
    at(p, 1240, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).iterations, 1);
    CHECK_EQ(totals_of(p).iteration_max_ns, 30);
    orderly(p);
}

TEST(off_in_idle_begins_no_iteration)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 10, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    at(p, 1000, TICK, 0, NULL);
    at(p, 1040, IDLE_ENTER, 0, NULL);
    CHECK_EQ(totals_of(p).idle_ns, 10);
    CHECK_EQ(totals_of(p).uninstrumented_ns, 40);
    CHECK_EQ(totals_of(p).iterations, 0);
    orderly(p);
}

/* ---- manual clock ---- */

TEST(named_calls_before_the_first_timed_event_are_at_time_zero)
{
    chroprof *p = fresh(NULL);
    chroprof_pending(p, 1, &A);
    chroprof_running(p, 1);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    at(p, 1000, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 0);
    at(p, 1010, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    CHECK_EQ(rank_of(p, "a").exec_ns, 10);
    CHECK_EQ(rank_of(p, "a").lifetime_ns, 10);
    orderly(p);
}

TEST(named_calls_are_at_the_time_of_the_last_timed_event)
{
    chroprof *p = fresh(NULL);
    at(p, 1000, TICK, 0, NULL);
    at(p, 1010, TICK, 0, NULL);
    chroprof_enter(p, &A);
    CHECK_EQ(future_of(p, 0).since_ns, 10);
    at(p, 1015, TICK, 0, NULL);
    chroprof_leave(p);
    at(p, 1100, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 5);
    orderly(p);
}

TEST(named_calls_after_off_and_on_wait_for_a_timed_event)
{
    chroprof *p = fresh(NULL);
    at(p, 0, TICK, 0, NULL);
    at(p, 10, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    chroprof_enter(p, &A);
    at(p, 5000, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 10);
    at(p, 5005, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 5);
    orderly(p);
}

/* ---- clocks that wrap ---- */

TEST(a_clock_of_64_bits_may_wrap)
{
    chroprof *p = fresh(NULL);
    at(p, UINT64_MAX - 5, ENTER, 0, &A);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 16);
    orderly(p);
    p = fresh(NULL);
    at(p, UINT64_MAX - 5, ENTER, 0, &A);
    at(p, 1000000010, LEAVE, 0, NULL); /* across windows */
    CHECK_EQ(rank_of(p, "a").exec_ns, 1000000016);
    orderly(p);
}

TEST(a_clock_of_32_bits_that_wraps_goes_back)
{
    chroprof *p = fresh(NULL);
    at(p, UINT32_MAX - 5, ENTER, 0, &A);
    at(p, UINT32_MAX, TICK, 0, NULL);
    at(p, 10, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 5);
    at(p, 30, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "a").exec_ns, 25);
    only(p, TIME_BACK, 1);
}

/* ---- sites ---- */

TEST(a_switch_ignores_its_site)
{
    chroprof *p = fresh(NULL);
    at(p, 0, SWITCH, 5, &A);
    at(p, 10, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 10);
    CHECK_EQ(totals_of(p).live, 0);
    CHECK(find_rank(p, "a") == NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 0);
    only(p, UNKNOWN_RUNNING, 1);
}

/* All of them with a site, none with an effect on one. */
TEST(an_ignored_event_leaves_no_site)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 0, &A);
    at(p, 0, RUNNING, 0, &A);
    at(p, 0, READY, 3, &A);
    at(p, 0, PAUSED, 3, &A);
    at(p, 0, LEAVE, 0, &A);
    at(p, 0, LOOP_LEAVE, 0, &A);
    at(p, 0, IDLE_LEAVE, 0, &A);
    chroprof_event(p, (chroprof_state)made_up(99), 3, &A, 0);
    chroprof_stillborn(p, &A, CHROPROF_PENDING);
    CHECK_EQ(totals_of(p).anomalies, 9);
    chroprof_set_enabled(p, false);
    chroprof_pending(p, 3, &A);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 0);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_STRINGS).used, 0);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
}

TEST(a_site_that_is_only_made_is_not_listed)
{
    chroprof *p = fresh(NULL);
    const chroprof_site *made = chroprof_site_make(p, "made", NULL, 0);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 1);
    CHECK(find_rank(p, "made") == NULL);
    call(p, made, 0, 10);
    CHECK_EQ(rank_of(p, "made").exec_ns, 10);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 1);
}

TEST(a_site_whose_paths_found_no_room_is_not_listed)
{
    chroprof_options options;
    chroprof *p;
    memset(&options, 0, sizeof options);
    options.max_paths = 1;
    p = fresh(&options);
    call(p, &A, 0, 10);
    call(p, &B, 10, 30);
    CHECK(find_rank(p, "b") == NULL);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 2);
    CHECK_EQ(totals_of(p).untracked_ns, 20);
}

static const test_case cases[] = {
    CASE(sums_slices_and_their_maxima_include_the_slice_under_way),
    CASE(percentiles_of_slices_are_of_those_that_ended),
    CASE(percentiles_of_delay_are_of_delays_that_ended),
    CASE(callbacks_and_iterations_are_those_that_ended),
    CASE(what_is_under_way_at_a_reset_counts_from_there),
    CASE(a_delay_under_way_at_a_reset_counts_from_there),
    CASE(a_ready_from_before_a_reset_counts_from_there),
    CASE(a_stall_that_a_reset_cuts_has_the_rest_of_its_length),
    CASE(a_slice_under_way_at_the_older_state_counts_as_one),
    CASE(percentiles_of_a_difference_have_the_whole_slice),
    CASE(waiting_is_never_below_zero),
    CASE(paused_ends_the_frame_of_an_unknown_id),
    CASE(a_task_that_ends_in_its_own_slice_calls_its_finish_last),
    CASE(a_pause_after_the_finish_is_counted_and_told_of_the_task),
    CASE(a_finish_ends_the_frame_of_an_unknown_id_on_top),
    CASE(a_finish_below_the_top_leaves_the_frame_of_an_unknown_id),
    CASE(a_finish_with_a_site_also_counts_a_stillborn),
    CASE(paused_means_the_topmost_frame_of_a_reused_id),
    CASE(a_pause_and_then_another_of_a_reused_id),
    CASE(a_finish_means_the_newest_future_of_a_reused_id),
    CASE(with_no_such_future_left_a_finish_ends_the_frame),
    CASE(other_has_no_percentiles),
    CASE(callbacks_and_iterations_have_no_percentiles_without_histograms),
    CASE(off_counts_the_callback_under_way),
    CASE(off_forgets_the_iteration_under_way),
    CASE(off_in_idle_begins_no_iteration),
    CASE(named_calls_before_the_first_timed_event_are_at_time_zero),
    CASE(named_calls_are_at_the_time_of_the_last_timed_event),
    CASE(named_calls_after_off_and_on_wait_for_a_timed_event),
    CASE(a_clock_of_64_bits_may_wrap),
    CASE(a_clock_of_32_bits_that_wraps_goes_back),
    CASE(a_switch_ignores_its_site),
    CASE(an_ignored_event_leaves_no_site),
    CASE(a_site_that_is_only_made_is_not_listed),
    CASE(a_site_whose_paths_found_no_room_is_not_listed),
};

TEST_MAIN(cases)
