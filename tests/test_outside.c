/* tests/test_outside.c - profiles of a program that somebody else watches: stacks, modules and
 * whose profile it is. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

enum { FRAMES = 128, SIZE = 1 << 20 };

static const chroprof_site A = { "A", "a.c", 1 };
static const chroprof_site B = { "B", "b.c", 2 };

/* "1000>[A]>2004>(marker)": a stack, innermost first. */
static const char *stack_text(const chroprof *p, uint32_t stack)
{
    static char text[4096];
    chroprof_stack_frame frames[FRAMES];
    size_t count = chroprof_stack(p, stack, frames, FRAMES), used = 0, i;
    text[0] = '\0';
    for (i = 0; i < count && used < sizeof text; i++) {
        const chroprof_stack_frame *f = &frames[i];
        const char *sign = i > 0 ? ">" : "";
        if (f->kind == CHROPROF_FRAME_NATIVE)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s+%llx%s", sign, f->module,
                                 (unsigned long long)f->address, f->is_return ? "r" : "");
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", sign, f->name);
    }
    return text;
}

static const char *newest(const chroprof *p)
{
    chroprof_sample_row rows[512];
    size_t count = chroprof_samples(p, 0, UINT64_MAX, rows, 512);
    CHECK(count > 0 && count <= 512);
    return stack_text(p, rows[count - 1].stack);
}

static chroprof_module module_at(const char *path, uint64_t start, uint64_t end, uint64_t base)
{
    chroprof_module m;
    memset(&m, 0, sizeof m);
    m.path = path;
    m.build_id = "abcd";
    m.start = start;
    m.end = end;
    m.base = base;
    return m;
}

static void add(chroprof *p, const char *path, uint64_t start, uint64_t end, uint64_t base)
{
    chroprof_module m = module_at(path, start, end, base);
    CHECK_EQ(chroprof_add_module(p, &m), CHROPROF_OK);
}

static void take(chroprof *p, uint64_t now, uint64_t cpu_ns, const uint64_t *addresses, size_t n)
{
    CHECK_EQ(chroprof_sample_stack(p, now, cpu_ns, addresses, n), CHROPROF_OK);
    laws(p);
}

TEST(frames_stand_around_their_task)
{
    static const uint64_t around[] = { 0x1010, 0x1020, 0, 0x2030, 0x9000 };
    chroprof *p = fresh(NULL);
    add(p, "/bin/one", 0x1000, 0x2000, 0x1000);
    add(p, "/lib/two", 0x2000, 0x3000, 0);
    chroprof_event(p, CHROPROF_ENTER, 0, &A, 0);
    chroprof_event(p, CHROPROF_ENTER, 0, &B, 10);
    take(p, 20, 7, around, 5);
    CHECK_STR(newest(p), "/bin/one+10>/bin/one+20r>B>A>/lib/two+2030r>+9000r");
    take(p, 30, 0, around, 2);
    CHECK_STR(newest(p), "/bin/one+10>/bin/one+20r>B>A");
    CHECK_EQ(rank_of(p, "B").samples, 2);
    CHECK_EQ(rank_of(p, "B").cpu_ns, 7);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 40);
    take(p, 50, 0, around, 1);
    CHECK_STR(newest(p), "/bin/one+10>(idle)");
    take(p, 60, 0, NULL, 0);
    CHECK_STR(newest(p), "(idle)");
}

TEST(a_stall_has_what_was_met_in_it)
{
    static const uint64_t slow[] = { 0x1010, 0, 0x1020 }, other[] = { 0x1110, 0, 0x1020 };
    chroprof_options o;
    chroprof_stall stalls[4];
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 50;
    p = fresh(&o);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 0);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, 100);
    chroprof_event(p, CHROPROF_ENTER, 0, &A, 100);
    take(p, 120, 20, slow, 3);
    take(p, 140, 20, slow, 3);
    take(p, 160, 0, other, 3);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 200);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 200);
    CHECK_EQ(chroprof_stalls(p, stalls, 4), 1);
    CHECK_EQ(stalls[0].length_ns, 100);
    CHECK_EQ(stalls[0].sample_count, 2);
    CHECK_EQ(stalls[0].cpu_ns, 40);
    CHECK_EQ(stalls[0].waiting_ns, 20);
    laws(p);
}

/* Both ends of a deep stack are kept, with a marker between. */
TEST(a_deep_stack_loses_its_middle)
{
    uint64_t addresses[FRAMES];
    char inner[64], outer[64];
    size_t i;
    chroprof *p = fresh(NULL);
    for (i = 0; i < FRAMES; i++)
        addresses[i] = 0x1000 + i;
    chroprof_event(p, CHROPROF_ENTER, 0, &A, 0);
    take(p, 20, 1, addresses, FRAMES);
    (void)snprintf(inner, sizeof inner, "+1000>+1001r>");
    (void)snprintf(outer, sizeof outer, "+%llxr>A", 0x1000ull + FRAMES - 1);
    CHECK(strncmp(newest(p), inner, strlen(inner)) == 0);
    CHECK(strstr(newest(p), ">(frames missing)>") != NULL);
    CHECK(strstr(newest(p), outer) != NULL);
}

TEST(a_module_takes_the_place_of_another)
{
    static const uint64_t at[] = { 0x1010 };
    chroprof_module rows[4];
    chroprof *p = fresh(NULL);
    add(p, "/lib/old", 0x1000, 0x2000, 0x1000);
    take(p, 1, 1, at, 1);
    CHECK_STR(newest(p), "/lib/old+10>(uninstrumented)");
    add(p, "/lib/new", 0x800, 0x1800, 0x800);
    take(p, 2, 1, at, 1);
    CHECK_STR(newest(p), "/lib/new+810>(uninstrumented)");
    add(p, "/lib/old", 0x1000, 0x2000, 0x1000);
    take(p, 3, 1, at, 1);
    CHECK_STR(newest(p), "/lib/old+10>(uninstrumented)");
    CHECK_EQ(chroprof_modules(p, rows, 4), 2);
    CHECK_STR(rows[1].path, "/lib/new");
    CHECK_STR(rows[1].build_id, "abcd");
    CHECK_EQ(rows[1].start, 0x800);
    CHECK_EQ(rows[1].end, 0x1800);
}

TEST(modules_end)
{
    chroprof_result result = CHROPROF_OK;
    chroprof_module m;
    uint64_t n = 0;
    chroprof *p = fresh(NULL);
    for (; result == CHROPROF_OK && n < 100; n++) {
        m = module_at("/lib/one_of_many", n << 12, (n + 1) << 12, n << 12);
        result = chroprof_add_module(p, &m);
        laws(p);
    }
    CHECK_EQ(result, CHROPROF_ERR_LIMIT);
    CHECK(n > 2 && n <= 65);
    m = module_at("/lib/one_of_many", 0, 1 << 12, 0);
    CHECK_EQ(chroprof_add_module(p, &m), CHROPROF_OK);
}

TEST(what_is_wrong_changes_nothing)
{
    static uint64_t memory[SIZE / 8];
    static const uint64_t at[] = { 0x1010 };
    chroprof_module m = module_at("/lib/a", 8, 8, 0);
    chroprof none, *p = fresh(NULL);
    memset(&none, 0, sizeof none);
    CHECK_EQ(chroprof_add_module(p, &m), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_add_module(p, NULL), CHROPROF_ERR_ARGUMENT);
    m.end = 9;
    m.path = NULL;
    CHECK_EQ(chroprof_add_module(p, &m), CHROPROF_ERR_ARGUMENT);
    m.path = "/lib/a";
    CHECK_EQ(chroprof_add_module(&none, &m), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_sample_stack(&none, 1, 1, at, 1), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_sample_stack(p, 1, 1, NULL, 1), CHROPROF_ERR_ARGUMENT);
    chroprof_set_origin(&none, NULL);
    chroprof_set_origin(p, NULL);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, NULL, 0), 0);
    CHECK_EQ(chroprof_init(&none, memory, CHROPROF_MEMORY_MIN, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_sample_stack(&none, 1, 1, at, 1), CHROPROF_ERR_SAMPLER_MEMORY);
    CHECK_EQ(chroprof_add_module(&none, &m), CHROPROF_ERR_SAMPLER_MEMORY);
}

static const char *first_finding(const chroprof *p, chroprof_finding_kind kind)
{
    static chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (size_t k = 0; k < count && k < CHROPROF_FINDING_COUNT; k++)
        if (rows[k].kind == kind)
            return rows[k].text;
    return "";
}

/* A task of 200 ms that nobody but its observer can explain. */
TEST(waits_seen_from_outside_and_code_that_was_named)
{
    static const chroprof_site after = { "code after poll", NULL, 0 };
    chroprof_task_wait seen;
    uint32_t ppm = 1;
    chroprof *p = fresh(NULL);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 1000000);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, 500000000);
    chroprof_event(p, CHROPROF_ENTER, 0, &after, 500000000);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 700000000);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 700000000);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, 1200000000);
    CHECK(strstr(first_finding(p, CHROPROF_FINDING_STALL), "code after poll took 100.0%") != NULL);
    CHECK_EQ(chroprof_name_held(p, CHROPROF_FINDING_STALL, 499000000, 900000, "parse (a.c:7)"),
             CHROPROF_OK);
    CHECK_STR(chroprof_held_by(p, CHROPROF_FINDING_STALL, 1, &ppm), "");
    CHECK_EQ(ppm, 0);
    CHECK_EQ(chroprof_name_held(p, CHROPROF_FINDING_LEAKS, 0, 1, "x"), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_name_held(p, CHROPROF_FINDING_STALL, 0, 1, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_name_held(p, CHROPROF_FINDING_STALL, 0, 1000001, ""), CHROPROF_ERR_ARGUMENT);
    memset(&seen, 0, sizeof seen);
    seen.call = "quota";
    CHECK_EQ(chroprof_add_wait(p, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_add_wait(p, &seen), CHROPROF_ERR_ARGUMENT);
    seen.site = rank_of(p, "code after poll").id;
    seen.count = 1;
    seen.total_ns = seen.longest_ns = UINT64_C(1) << 62;
    CHECK_EQ(chroprof_add_wait(p, &seen), CHROPROF_ERR_ARGUMENT);
    seen.total_ns = seen.longest_ns = 250000000;
    CHECK_EQ(chroprof_add_wait(p, &seen), CHROPROF_OK);
    laws(p);
    CHECK(strstr(
              first_finding(p, CHROPROF_FINDING_STALL),
              "code after poll took 100.0% of it, mostly in parse (a.c:7). About 200 ms of it were "
              "off CPU: it is held back by its CPU quota. Raise the quota") != NULL);
    chroprof_reset(p);
    CHECK_EQ(chroprof_task_waits(p, &seen, 1), 0);
    CHECK_STR(chroprof_held_by(p, CHROPROF_FINDING_STALL, 499000000, &ppm), "");
}

TEST(an_origin_goes_with_the_profile)
{
    static uint64_t copy[HARNESS_MEMORY / 8], other[SIZE / 8];
    chroprof_origin origin, read;
    chroprof_options o;
    chroprof view, sum, *p = fresh(NULL);
    chroprof_event(p, CHROPROF_ENTER, 0, &A, 1);
    CHECK(!totals_of(p).estimated);
    memset(&origin, 0, sizeof origin);
    origin.pid = 4000000000u;
    origin.name = "server 17";
    origin.program = "server";
    origin.host = "elsewhere";
    origin.estimated = true;
    origin.end_unix_ns = UINT64_C(1700000000000000000);
    chroprof_set_origin(p, &origin);
    laws(p);
    CHECK(totals_of(p).estimated);
    origin.name = origin.program = NULL;
    origin.end_unix_ns = 0;
    chroprof_set_origin(p, &origin);
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    chroprof_read_origin(&view, &read);
    CHECK_EQ(read.pid, 4000000000u);
    CHECK_STR(read.name, "server 17");
    CHECK_STR(read.program, "server");
    CHECK_STR(read.host, "elsewhere");
    CHECK(read.estimated && totals_of(&view).estimated);
    CHECK_EQ(read.end_unix_ns, UINT64_C(1700000000000000000));
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, other, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &view), CHROPROF_OK);
    CHECK(totals_of(&sum).estimated);
    chroprof_reset(p);
    CHECK(totals_of(p).estimated);
}

static uint64_t hand; /* of a clock */

static uint64_t by_hand(void *user)
{
    (void)user;
    return hand;
}

/* What is under a task stays the task's; before the last event nothing changes any more. */
TEST(the_exit_began_then)
{
    const uint64_t since[] = { 0, 1, 900, 950, 1000, 2000, UINT64_C(1) << 62 };
    const uint64_t exits[] = { 0, 100, 100, 50, 0, 0, 0 };
    chroprof_options o;
    size_t k;
    memset(&o, 0, sizeof o);
    o.clock = by_hand;
    for (k = 0; k < sizeof since / sizeof since[0]; k++) {
        hand = 500;
        chroprof *p = fresh(&o);
        CHECK_EQ(chroprof_last_event(p), 500);
        chroprof_event(p, CHROPROF_ENTER, 0, &A, 600);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 900);
        CHECK_EQ(chroprof_last_event(p), 900);
        hand = 1000;
        chroprof_exiting(p, since[k]);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, 1000);
        laws(p);
        CHECK_EQ(totals_of(p).exit_ns, exits[k]);
        CHECK_EQ(totals_of(p).anomalies, 0);
        hand = 1030;
        chroprof_tick(p);
        CHECK_EQ(totals_of(p).exit_ns, exits[k] + 30);
    }
    CHECK_EQ(chroprof_last_event(NULL), 0);
    chroprof_exiting(NULL, 0);
}

TEST(cpu_time_by_the_clock_of_the_thread)
{
    chroprof *p = fresh(NULL);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 100000);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, 900000);
    CHECK_EQ(totals_of(p).cpu_clock_ns, 0);
    CHECK_EQ(totals_of(p).asleep_ns, 800000);
    chroprof_set_cpu_clock(p, 500000);
    CHECK_EQ(totals_of(p).cpu_clock_ns, 500000);
    CHECK_EQ(totals_of(p).asleep_ns, totals_of(p).elapsed_ns - 500000);
    laws(p);
    chroprof_set_cpu_clock(NULL, 500000);
}

static const test_case cases[] = { CASE(frames_stand_around_their_task),
                                   CASE(a_stall_has_what_was_met_in_it),
                                   CASE(a_deep_stack_loses_its_middle),
                                   CASE(a_module_takes_the_place_of_another),
                                   CASE(modules_end),
                                   CASE(what_is_wrong_changes_nothing),
                                   CASE(waits_seen_from_outside_and_code_that_was_named),
                                   CASE(an_origin_goes_with_the_profile),
                                   CASE(the_exit_began_then),
                                   CASE(cpu_time_by_the_clock_of_the_thread) };

TEST_MAIN(cases)
