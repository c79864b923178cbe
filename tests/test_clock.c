/* tests/test_clock.c - the clock of our own: right against the monotonic clock, provisional for its
 * first 100 ms, never back once its rate is fixed, and with it the law of time to the last ns. */
#include "harness.h"

#include <errno.h>
#include <time.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <unistd.h>
#endif

static const chroprof_site A = { "a", "host.c", 1 };
static const chroprof_site B = { "b", "host.c", 2 };

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static chroprof *own_clock(void)
{
    static chroprof profile;
    CHECK_EQ(chroprof_init(&profile, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    return &profile;
}

/* As laws(), but blame and delay are equal in ticks only: each figure floors its own. */
static void hold(const chroprof *p)
{
    chroprof_totals t = totals_of(p);
    const char *broken = chroprof_check(p);
    if (broken != NULL)
        harness_fail(__FILE__, __LINE__, "chroprof_check: %s", broken);
    CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
    CHECK_EQ(t.busy_ns, (find_rank(p, "a") != NULL ? find_rank(p, "a")->exec_ns : 0) +
                            (find_rank(p, "b") != NULL ? find_rank(p, "b")->exec_ns : 0) +
                            t.untracked_ns);
}

/* Slices, delays and idles until the monotonic clock has gone on by this much. */
static void work_for(chroprof *p, uint64_t ns)
{
    uint64_t end = monotonic_ns() + ns;
    while (monotonic_ns() < end) {
        chroprof_enter(p, &A);
        chroprof_pending(p, 7, &B);
        chroprof_ready(p, 7);
        chroprof_leave(p);
        chroprof_running(p, 7);
        chroprof_completed(p, 7);
        chroprof_idle_enter(p);
        chroprof_idle_leave(p);
    }
}

/* The window under way and the newest step end there. */
static void check_ends(const chroprof *p)
{
    static chroprof_window windows[1024];
    uint64_t cursor = 0, now = totals_of(p).elapsed_ns;
    size_t count = chroprof_windows(p, windows, 1024);
    chroprof_step step = { 0 };
    CHECK(count > 0 && count <= 1024);
    CHECK(windows[count - 1].end_ns <= now);
    for (size_t k = 0; k < count; k++) {
        CHECK(windows[k].start_ns <= windows[k].end_ns);
        CHECK(k == 0 || windows[k].start_ns == windows[k - 1].end_ns);
    }
    while (chroprof_next_step(p, &cursor, &step)) {}
    CHECK(step.at_ns <= now);
}

/* Elapsed is a sum of floored parts; a state that began just now must not begin behind it. */
TEST(no_future_begins_after_now)
{
    chroprof *p = own_clock();
    uint64_t k;
    work_for(p, 1000000);
    for (k = 1; k <= 1000; k++) {
        chroprof_frame frame;
        chroprof_enter(p, k % 2 ? &A : &B);
        CHECK_EQ(chroprof_frames(p, &frame, 1), 1);
        CHECK(frame.since_ns <= totals_of(p).elapsed_ns);
        chroprof_pending(p, 9, &A);
        CHECK(future_of(p, 9).since_ns <= totals_of(p).elapsed_ns);
        chroprof_completed(p, 9);
        chroprof_leave(p);
        chroprof_idle_enter(p);
        chroprof_idle_leave(p);
        if (k % 50 == 0)
            check_ends(p);
    }
}

/* What lies between init and the last event must be told within 1 in 1000. */
TEST(own_clock_agrees_with_the_monotonic_clock)
{
    uint64_t before = monotonic_ns();
    chroprof *p = own_clock();
    uint64_t begun = monotonic_ns();
    uint64_t ending, ended, elapsed;
    work_for(p, 300000000);
    ending = monotonic_ns();
    chroprof_tick(p);
    ended = monotonic_ns();
    hold(p);
    elapsed = totals_of(p).elapsed_ns;
    CHECK_IN(elapsed, (ending - begun) - (ending - begun) / 1000,
             (ended - before) + (ended - before) / 1000);
    CHECK(totals_of(p).tick_error_ppb < 1000000);
}

TEST(own_clock_is_provisional_at_first)
{
    chroprof *p = own_clock();
    chroprof_totals t;
    chroprof_tick(p);
    hold(p);
    t = totals_of(p);
    if (t.tick_error_ppb == 0 && !t.provisional)
        SKIP("the monotonic clock is read here: nothing to calibrate");
    if (t.elapsed_ns < 80000000)
        CHECK(t.provisional);
    work_for(p, 200000000);
    CHECK(!totals_of(p).provisional);
    hold(p);
}

TEST(figures_never_go_back)
{
    chroprof *p = own_clock();
    uint64_t elapsed = 0;
    uint64_t exec = 0;
    int i;
    work_for(p, 150000000);
    for (i = 0; i < 3000; i++) {
        work_for(p, 0);
        chroprof_enter(p, &A);
        chroprof_tick(p);
        CHECK(totals_of(p).elapsed_ns >= elapsed);
        CHECK(rank_of(p, "a").exec_ns >= exec);
        elapsed = totals_of(p).elapsed_ns;
        exec = rank_of(p, "a").exec_ns;
        chroprof_leave(p);
    }
    hold(p);
    CHECK(elapsed > 150000000);
}

TEST(laws_while_provisional)
{
    chroprof *p = own_clock();
    int i;
    for (i = 0; i < 2000; i++) {
        chroprof_enter(p, &A);
        hold(p);
        chroprof_leave(p);
        hold(p);
    }
    CHECK_EQ(rank_of(p, "a").calls, 2000);
}

TEST(ready_since_in_ticks_of_our_clock)
{
    chroprof *p = own_clock();
    uint64_t when;
    work_for(p, 120000000);
    chroprof_pending(p, 9, &B);
    when = chroprof_now(p);
    chroprof_enter(p, &A);
    while (chroprof_now(p) == when)
        continue;
    chroprof_leave(p);
    chroprof_ready_since(p, 9, when);
    chroprof_running(p, 9);
    hold(p);
    CHECK(totals_of(p).delay_ticks > 0);
    CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_READY_AHEAD), 0);
}

TEST(windows_add_up_in_our_clock)
{
    static chroprof_window rows[HARNESS_ROWS];
    chroprof *p = own_clock();
    uint64_t now = 0;
    size_t count, i;
    work_for(p, 350000000);
    count = chroprof_windows(p, rows, HARNESS_ROWS);
    CHECK_IN(count, totals_of(p).elapsed_ns / 100000000, totals_of(p).elapsed_ns / 100000000 + 2);
    for (i = 0; i < count; i++) {
        CHECK_EQ(rows[i].start_ns, now);
        now = rows[i].end_ns;
        CHECK_IN(rows[i].busy_ns + rows[i].idle_ns + rows[i].uninstrumented_ns,
                 now - rows[i].start_ns - 10, now - rows[i].start_ns + 10);
    }
}

#ifdef __linux__
static chroprof *waits; /* whose idle this program's epoll_pwait is */
CHROPROF_EPOLL_IDLE(waits);

/* The wait is idle, the time around it loop; what the system says comes back. */
TEST(epoll_pwait_is_idle)
{
    chroprof *p = own_clock();
    struct epoll_event event;
    int poller = epoll_create1(0);
    uint64_t start = monotonic_ns();
    waits = p;
    CHECK_EQ(epoll_pwait(poller, &event, 1, 5, NULL), 0);
    CHECK_IN(totals_of(p).idle_ns, 4000000, monotonic_ns() - start + 1000000);
    CHECK_EQ(totals_of(p).events, 2);
    CHECK(close(poller) == 0);
    CHECK_EQ(epoll_pwait(poller, &event, 1, 5, NULL), -1);
    CHECK_EQ(errno, EBADF);
    waits = NULL;
    CHECK_EQ(epoll_wait(poller, &event, 1, 5), -1);
    hold(p);
}

/* A task that waits in a descriptor of its own is blocked; what takes no time is no wait. Its loop's
 * own is idle, in a nested loop as well. */
TEST(epoll_pwait_of_a_task)
{
    static const chroprof_site task = { "client", NULL, 0 };
    chroprof *p = own_clock();
    struct epoll_event event;
    chroprof_task_wait rows[2];
    uint64_t idle;
    int loops = epoll_create1(0), its = epoll_create1(0);
    waits = p;
    CHECK_EQ(epoll_wait(loops, &event, 1, 1), 0);
    chroprof_enter(p, &task);
    idle = totals_of(p).idle_ns;
    CHECK_EQ(epoll_wait(its, &event, 1, 0), 0);
    CHECK_EQ(chroprof_task_waits(p, rows, 2), 0);
    CHECK_EQ(epoll_pwait(its, &event, 1, 5, NULL), 0);
    CHECK_EQ(epoll_wait(its, &event, 1, 5), 0);
    CHECK_EQ(totals_of(p).idle_ns, idle);
    CHECK_EQ(chroprof_task_waits(p, rows, 2), 1);
    CHECK_STR(rows[0].name, "client");
    CHECK_STR(rows[0].call, "epoll_wait");
    CHECK_EQ(rows[0].count, 2);
    CHECK(rows[0].total_ns >= 8000000);
    chroprof_loop_enter(p);
    CHECK_EQ(epoll_wait(loops, &event, 1, 5), 0);
    chroprof_loop_leave(p);
    chroprof_leave(p);
    CHECK(totals_of(p).idle_ns >= idle + 4000000);
    CHECK_EQ(chroprof_task_waits(p, rows, 2), 1);
    CHECK_EQ(totals_of(p).anomalies, 0);
    CHECK(close(loops) == 0 && close(its) == 0);
    waits = NULL;
    CHECK(chroprof_check(p) == NULL);
}

/* A wait at the start is not the loop's for ever: one that runs in a scope is found after 16 waits.
 * Waits of a task between those of its loop never become that. */
TEST(epoll_pwait_of_a_loop_in_a_scope)
{
    static const chroprof_site scope = { "serve", NULL, 0 };
    chroprof *p = own_clock();
    struct epoll_event event;
    chroprof_task_wait rows[2];
    uint64_t idle;
    int start = epoll_create1(0), loops = epoll_create1(0), i;
    waits = p;
    CHECK_EQ(epoll_wait(start, &event, 1, 1), 0);
    chroprof_enter(p, &scope);
    idle = totals_of(p).idle_ns;
    for (i = 0; i < 15; i++)
        CHECK_EQ(epoll_wait(loops, &event, 1, 1), 0);
    CHECK_EQ(totals_of(p).idle_ns, idle);
    chroprof_leave(p);
    CHECK_EQ(epoll_wait(start, &event, 1, 1), 0);
    idle = totals_of(p).idle_ns;
    chroprof_enter(p, &scope);
    for (i = 0; i < 15; i++)
        CHECK_EQ(epoll_wait(loops, &event, 1, 1), 0);
    for (i = 0; i < 15; i++)
        CHECK_EQ(epoll_wait(loops, &event, 1, 0), 0);
    CHECK_EQ(chroprof_task_waits(p, rows, 2), 1);
    CHECK_EQ(rows[0].count, 30);
    CHECK_EQ(totals_of(p).idle_ns, idle);
    for (i = 0; i < 5; i++)
        CHECK_EQ(epoll_wait(loops, &event, 1, 5), 0);
    chroprof_leave(p);
    CHECK(totals_of(p).idle_ns >= idle + 20000000);
    CHECK_EQ(chroprof_task_waits(p, rows, 2), 1);
    CHECK_EQ(rows[0].count, 30);
    CHECK(close(start) == 0 && close(loops) == 0);
    waits = NULL;
    CHECK(chroprof_check(p) == NULL);
}
#endif

/* The time before there was memory for a profile is its start, once. */
TEST(a_profile_that_began_before_its_memory)
{
    uint64_t before = chroprof_now(NULL), begun;
    chroprof *p = own_clock(), none;
    chroprof_totals t;
    begun = chroprof_now(p);
    CHECK(chroprof_began(p, before));
    chroprof_idle_enter(p);
    t = totals_of(p);
    CHECK(t.elapsed_ticks >= begun - before);
    CHECK_EQ(t.uninstrumented_ns, t.elapsed_ns);
    chroprof_idle_leave(p);
    CHECK_IN(totals_of(p).start_ns, t.uninstrumented_ns, UINT64_MAX);
    CHECK(!chroprof_began(p, before)); /* it has had an event */
    hold(p);
    p = own_clock();
    CHECK(!chroprof_began(p, chroprof_now(p) + (UINT64_C(1) << 40))); /* that is to come */
    CHECK_EQ(chroprof_to_ns(p, 0), 0);
    hold(p);
    memset(&none, 0, sizeof none);
    CHECK(!chroprof_began(&none, before) && !chroprof_began(NULL, before));
    CHECK_EQ(chroprof_to_ns(&none, 5), 0);
    CHECK_EQ(chroprof_to_ns(NULL, 5), 0);
}

static const test_case cases[] = {
    CASE(no_future_begins_after_now),
    CASE(own_clock_agrees_with_the_monotonic_clock),
    CASE(own_clock_is_provisional_at_first),
    CASE(figures_never_go_back),
    CASE(laws_while_provisional),
    CASE(ready_since_in_ticks_of_our_clock),
    CASE(windows_add_up_in_our_clock),
    CASE(a_profile_that_began_before_its_memory),
#ifdef __linux__
    CASE(epoll_pwait_is_idle),
    CASE(epoll_pwait_of_a_task),
    CASE(epoll_pwait_of_a_loop_in_a_scope),
#endif
};

TEST_MAIN(cases)
