/* tests/test_bare.c - the header without a clock of its own, without files: as on a small device.
 * Has an implementation of its own, made with these options. */
#define CHROPROF_NO_CLOCK
#define CHROPROF_NO_MMAP
#define CHROPROF_IMPLEMENTATION
#include "harness.h"

static const chroprof_site A = { "accept", "server.c", 10 };

static uint64_t ticks;

static uint64_t tick_tock(void *user)
{
    (void)user;
    return ticks += 10;
}

TEST(without_a_clock_init_says_so)
{
    chroprof p;
    memset(&p, 0x55, sizeof p);
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_ERR_CLOCK);
    CHECK(p.core == NULL && *chroprof_why_off(&p));
    CHECK(strstr(chroprof_result_text(CHROPROF_ERR_CLOCK), "options.clock") != NULL);
    chroprof_enter(&p, &A);
    chroprof_tick(&p);
    CHECK_EQ(totals_of(&p).events, 0);
}

TEST(a_clock_of_the_hosts_is_enough)
{
    chroprof_options o;
    chroprof_totals t;
    FILE *out = tmpfile();
    chroprof p;
    int f;
    memset(&o, 0, sizeof o);
    o.clock = tick_tock;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, &o), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    t = totals_of(&p);
    CHECK_EQ(t.elapsed_ns, 20);
    CHECK_EQ(t.start_unix_ns, 0);
    CHECK(!t.provisional);
    CHECK_EQ(rank_of(&p, "accept").exec_ns, 10);
    laws(&p);
    CHECK(out != NULL);
    for (f = 0; f <= CHROPROF_PPROF; f++)
        CHECK_EQ(chroprof_dump(&p, (chroprof_format)f, out), 0);
    fclose(out);
    laws(&p);
}

TEST(the_origin_of_a_bare_profile)
{
    chroprof *p = fresh(NULL);
    chroprof_origin origin;
    p->core->file.in_file = 1;
    chroprof_read_origin(p, &origin);
    CHECK(origin.mapped && origin.alive && !origin.ended);
    p->core->file.ended = 1;
    chroprof_read_origin(p, &origin);
    CHECK(origin.mapped && !origin.alive && origin.ended);
}

TEST(without_timers_there_is_no_sampler)
{
    chroprof *p = fresh(NULL);
    chroprof view;
    chroprof_sampler_totals t;
    CHECK_EQ(chroprof_sampler_start(p, NULL), CHROPROF_ERR_SAMPLER);
    CHECK_EQ(chroprof_sampler_start(NULL, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_sampler_stop(p);
    chroprof_sampler_stack(p, NULL, 0);
    chroprof__sampler_of(p->core)->timer.running = 1;
    chroprof_read_sampler(p, &t);
    CHECK(!t.running);
    CHECK_EQ(chroprof_open(&view, p->core, HARNESS_MEMORY), CHROPROF_OK);
    CHECK_EQ(chroprof_sampler_start(&view, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_read_sampler(&view, &t);
    CHECK(t.running);
    chroprof__sampler_of(p->core)->timer.running = 0;
    chroprof_read_sampler(&view, &t);
    CHECK(!t.running);
    memset(&view, 0, sizeof view);
    CHECK_EQ(chroprof_sampler_start(&view, NULL), CHROPROF_ERR_ARGUMENT);
}

/* Samples by hand work; code of another program's block has no name here. */
TEST(samples_without_a_linker)
{
    chroprof *p = fresh(NULL);
    chroprof__entry e;
    chroprof_stack_frame f;
    chroprof_stall stall;
    memset(&e, 0, sizeof e);
    e.weight = 1;
    e.items[e.count++] = chroprof__item(CHROPROF__PC, 0x1234);
    at(p, 0, ENTER, 0, &A);
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, chroprof__sampler_of(p->core), &e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
    chroprof_sample(p, 5, 2);
    CHECK_EQ(chroprof_stack(p, 1, &f, 1), 1);
    CHECK_EQ(f.address, 0x1234);
    CHECK(*f.name == '\0' && *f.module == '\0');
    at(p, 2000000000, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, &stall, 1), 1);
    CHECK_EQ(stall.sampled, 2);
}

static const test_case tests[] = {
    CASE(without_a_clock_init_says_so), CASE(a_clock_of_the_hosts_is_enough),
    CASE(the_origin_of_a_bare_profile), CASE(without_timers_there_is_no_sampler),
    CASE(samples_without_a_linker),
};

TEST_MAIN(tests)
