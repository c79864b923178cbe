/* tests/test_processor.c - processors that this one is not: those whose cycle counter is not
 * invariant, and those that are older than the question. Their clock is the system's. */
#include <time.h>

typedef struct processor {
    unsigned leaves;  /* the highest of the extended ones */
    unsigned answers; /* EDX of leaf 0x80000007 */
} processor;

static processor *here(void)
{
    static processor p;
    return &p;
}

#define CHROPROF__CPUID(a, b, c, d)                                                                \
    ((b) = (c) = 0, (d) = (a) == 0x80000007u ? here()->answers : 0,                                \
     (a) = (a) == 0x80000000u ? here()->leaves : 0, (void)(b), (void)(c), (void)(d))
#define CHROPROF_IMPLEMENTATION
#include "harness.h"

static const chroprof_site A = { "a", "processor.c", 1 };

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static chroprof *begun(unsigned leaves, unsigned answers)
{
    static chroprof profile;
    here()->leaves = leaves;
    here()->answers = answers;
    CHECK_EQ(chroprof_init(&profile, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    return &profile;
}

/* Its ticks are ns of the system's clock from the first event on, so what lies between two readings
 * of that has no tolerance. */
static void runs_on_the_systems_clock(unsigned leaves, unsigned answers)
{
    uint64_t start = monotonic_ns(), k;
#if defined(_WIN32) || (CHROPROF__HAS_COUNTER && !defined(__x86_64__))
    SKIP("the counter of this system or processor is one by its definition");
#endif
    chroprof *p = begun(leaves, answers);
    uint64_t before = monotonic_ns(), now = chroprof_now(p);
    CHECK_IN(now, before, monotonic_ns());
    CHECK(!totals_of(p).provisional);
    CHECK_EQ(totals_of(p).tick_error_ppb, 0);
    for (k = 0; k < 1000; k++) {
        chroprof_enter(p, &A);
        chroprof_leave(p);
    }
    CHECK(chroprof_check(p) == NULL);
    CHECK_IN(totals_of(p).elapsed_ns, 0, monotonic_ns() - start);
    CHECK_EQ(rank_of(p, "a").calls, 1000);
}

TEST(a_counter_that_is_not_invariant)
{
    runs_on_the_systems_clock(0x8000001eu, 0);
    runs_on_the_systems_clock(0x8000001eu, ~0x100u);
    runs_on_the_systems_clock(0x80000007u, 0);
}

TEST(a_processor_that_does_not_know_the_question)
{
    runs_on_the_systems_clock(0x80000006u, ~0u);
    runs_on_the_systems_clock(0, ~0u);
}

TEST(an_invariant_counter)
{
    chroprof *p = begun(0x80000008u, 0x100);
    chroprof_tick(p);
    if (!totals_of(p).provisional)
        SKIP("no counter is read here, or it took its time");
    CHECK(chroprof_check(p) == NULL);
}

static const test_case cases[] = { CASE(a_counter_that_is_not_invariant),
                                   CASE(a_processor_that_does_not_know_the_question),
                                   CASE(an_invariant_counter) };

TEST_MAIN(cases)
