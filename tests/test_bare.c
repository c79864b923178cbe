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
    p->core->in_file = 1;
    chroprof_read_origin(p, &origin);
    CHECK(origin.mapped && origin.alive && !origin.ended);
    p->core->ended = 1;
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
    chroprof__sampler_of(p->core)->running = 1;
    chroprof_read_sampler(p, &t);
    CHECK(!t.running);
    CHECK_EQ(chroprof_open(&view, p->core, HARNESS_MEMORY), CHROPROF_OK);
    CHECK_EQ(chroprof_sampler_start(&view, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_read_sampler(&view, &t);
    CHECK(t.running);
    chroprof__sampler_of(p->core)->running = 0;
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

/* ---- where an anomaly was met, in a copy of a block that was cut short */

/* Three calls out of order at 10, 20 and 30, the last two of them in a call; then 10 more. */
static chroprof__places *placed(chroprof **p)
{
    *p = fresh(NULL);
    at(*p, 0, TICK, 0, NULL);
    at(*p, 10, LEAVE, 0, NULL);
    at(*p, 15, ENTER, 0, &A);
    at(*p, 20, PAUSED, 7, NULL);
    at(*p, 30, PAUSED, 8, NULL);
    at(*p, 40, TICK, 0, NULL);
    return chroprof__places_of((*p)->core, CHROPROF_ANOMALY_UNKNOWN_PAUSED);
}

static chroprof_anomaly copied(chroprof *p, chroprof_anomaly_kind kind)
{
    static unsigned char memory[HARNESS_MEMORY];
    chroprof_anomaly row;
    chroprof view;
    chroprof__begin_edit(p->core);
    CHECK_EQ(chroprof_snapshot(p->core, (size_t)p->core->block_bytes, memory, sizeof memory),
             CHROPROF_OK);
    chroprof__end_edit(p->core);
    CHECK_EQ(chroprof_open(&view, memory, sizeof memory), CHROPROF_OK);
    CHECK(chroprof_read_anomaly(&view, kind, &row));
    CHECK(row.count > 0);
    return row;
}

TEST(places_in_a_copy)
{
    const chroprof_anomaly_kind kind = CHROPROF_ANOMALY_UNKNOWN_PAUSED;
    chroprof *p;
    chroprof__places *row = placed(&p);
    chroprof_anomaly a = copied(p, kind);
    CHECK(a.placed && a.first.at_ns == 20 && a.last.at_ns == 30 && a.last.id == 8);
    CHECK_STR(a.last.name, "accept");
    row->last.at = 41; /* after the copy of the core: now */
    a = copied(p, kind);
    CHECK(a.placed && a.first.at_ns == 20 && a.last.at_ns == 40);
    row = placed(&p);
    row->last.path = chroprof__path_count(p); /* a new one */
    a = copied(p, kind);
    CHECK(a.placed && a.last.path == 0 && a.last.id == 8);
    CHECK_STR(a.last.name, "accept");
    row->last.path = chroprof__path_count(p) - 1;
    CHECK_EQ(copied(p, kind).last.path, row->last.path);
}

TEST(places_that_are_not_known_in_a_copy)
{
    const chroprof_anomaly_kind kind = CHROPROF_ANOMALY_UNKNOWN_PAUSED;
    chroprof *p;
    chroprof__places *row;
    int which;
    for (which = 0; which < 6; which++) {
        row = placed(&p);
        switch (which) {
        case 0: memset(&row->first, 0, sizeof row->first); break;
        case 1: memset(&row->last, 0, sizeof row->last); break;
        case 2: row->first.top = chroprof__path_count(p); break;
        case 3: row->last.top = chroprof__path_count(p); break;
        case 4: row->first.at = 31; break;
        default: p->core->placed[kind] = (uint8_t)(p->core->tables[CHROPROF__PLACES].used + 1);
        }
        CHECK(!copied(p, kind).placed);
    }
    (void)placed(&p);
    CHECK(copied(p, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER).placed);
}

static const test_case tests[] = {
    CASE(without_a_clock_init_says_so),
    CASE(a_clock_of_the_hosts_is_enough),
    CASE(the_origin_of_a_bare_profile),
    CASE(without_timers_there_is_no_sampler),
    CASE(samples_without_a_linker),
    CASE(places_in_a_copy),
    CASE(places_that_are_not_known_in_a_copy),
};

TEST_MAIN(tests)
