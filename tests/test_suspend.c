/* Our own clock on a machine that sleeps: the monotonic clock stands still while the cycle counter
 * goes on, as in a suspend or in a pause of a virtual machine. */
#include <time.h>

/* ns that the monotonic clock has lost so far */
static unsigned long long *lost(void)
{
    static unsigned long long ns;
    return &ns;
}

/* Since then it runs slow by a tenth; 0: it does not. */
static unsigned long long *slow_since(void)
{
    static unsigned long long ns;
    return &ns;
}

static int asleep(clockid_t which, struct timespec *t)
{
    int result = clock_gettime(which, t);
    unsigned long long ns =
        (unsigned long long)t->tv_sec * 1000000000u + (unsigned long long)t->tv_nsec - *lost();
    if (*slow_since() != 0)
        ns -= (ns - *slow_since()) / 10;
    t->tv_sec = (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
    return result;
}

#define clock_gettime(which, t) asleep(which, t)
#define CHROPROF_IMPLEMENTATION
#include "harness.h"
#undef clock_gettime

static const chroprof_site A = { "a", "suspend.c", 1 };

static uint64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work_for(chroprof *p, uint64_t ns)
{
    uint64_t end = real_ns() + ns;
    while (real_ns() < end) {
        chroprof_enter(p, &A);
        chroprof_leave(p);
    }
}

static chroprof *begun(void)
{
    static chroprof profile;
    (void)asleep; /* Windows has another clock */
    *lost() = 0;
    *slow_since() = 0;
    CHECK_EQ(chroprof_init(&profile, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    return &profile;
}

/* The system sleeps for so long, and the counter does not. */
static void sleep_for(uint64_t ns)
{
    uint64_t from = real_ns();
    while (real_ns() - from < ns) {}
    *lost() += real_ns() - from;
}

/* What the profile shows of 100 ms, within its own bound, and 1 in 100. */
static void check_scale(chroprof *p)
{
    uint64_t from = real_ns(), before, inside, outside, shown, to;
    chroprof_tick(p);
    before = totals_of(p).elapsed_ns;
    inside = real_ns();
    work_for(p, 100000000);
    to = real_ns();
    chroprof_tick(p);
    outside = real_ns() - from;
    shown = totals_of(p).elapsed_ns - before;
    CHECK_IN(shown, (to - inside) - (to - inside) / 100, outside + outside / 100);
}

static void settle(chroprof *p)
{
    int tries;
    for (tries = 0; tries < 100 && totals_of(p).provisional; tries++)
        work_for(p, 20000000);
    CHECK(!totals_of(p).provisional);
}

TEST(a_suspend_while_the_clock_is_calibrated)
{
    chroprof *p = begun();
    if (totals_of(p).tick_error_ppb == 0 && !totals_of(p).provisional)
        SKIP("the monotonic clock is read here: nothing to calibrate");
    work_for(p, 30000000);
    sleep_for(45000000);
    work_for(p, 60000000);
    settle(p);
    check_scale(p);
    CHECK(chroprof_check(p) == NULL);
}

TEST(a_suspend_after_it_was_calibrated)
{
    chroprof *p = begun();
    uint64_t error;
    if (totals_of(p).tick_error_ppb == 0 && !totals_of(p).provisional)
        SKIP("the monotonic clock is read here: nothing to calibrate");
    settle(p);
    error = totals_of(p).tick_error_ppb;
    sleep_for(45000000);
    check_scale(p);
    CHECK_EQ(totals_of(p).tick_error_ppb, error);
    CHECK(error >= 500000); /* the system may slew its clock by 500 ppm */
}

/* The look that comes every 10 s is asked for now. */
TEST(a_clock_that_drifts_widens_the_bound)
{
    chroprof *p = begun();
    int k;
#ifdef _WIN32
    SKIP("Windows has another clock");
#endif
    if (totals_of(p).tick_error_ppb == 0 && !totals_of(p).provisional)
        SKIP("the monotonic clock is read here: nothing to calibrate");
    settle(p);
    CHECK(totals_of(p).tick_error_ppb < 50000000);
    *slow_since() = real_ns();
    work_for(p, 300000000);
    for (k = 0; k < 20 && totals_of(p).tick_error_ppb < 50000000; k++) { /* others may run in one */
        p->core->time.calibrate_at = p->core->last + 1;
        work_for(p, 150000000); /* a window ends, so that an event looks what is due */
    }
    CHECK_IN(totals_of(p).tick_error_ppb, 50000000, 200000000);
    CHECK(chroprof_check(p) == NULL);
}

static const test_case cases[] = {
    CASE(a_suspend_while_the_clock_is_calibrated),
    CASE(a_suspend_after_it_was_calibrated),
    CASE(a_clock_that_drifts_widens_the_bound),
};

TEST_MAIN(cases)
