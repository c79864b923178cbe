/* tests/test_trace.c - chroprof trace, of blocks and of JSON: read back by tests/check_trace.py, which
 * compares what ran when with the steps of the ring, to the nanosecond.
 *
 * Run from the top of the repository; files go to SCRATCH or build/. Needs the command (see
 * command_trace.h), python3, and xz for the recorded streams. SEED=n replays one seed, ROUNDS=n asks
 * for more, SHARE=n for fewer. */
#define _POSIX_C_SOURCE 200809L
#include "command_trace.h"
#include "event_text.h"

static const chroprof_site sites[] = { { "accept", "server.c", 10 },
                                       { "reply \"\\\t", "server.c", 20 },
                                       { "query", "db.c", 7 },
                                       { "timer", NULL, 0 } };

static void need_command(void)
{
    if (!has_command())
        SKIP("no %s", command_path());
    if (system("python3 -c 'pass' >/dev/null 2>&1") != 0)
        SKIP("no python3");
}

/* One line a step, with the name of the path that its interval belongs to. */
static void save_steps(const chroprof *p, FILE *out)
{
    static const char *const own[] = { "(uninstrumented)", "(idle)", "(untracked)" };
    uint64_t cursor = 0;
    chroprof_totals t = totals_of(p);
    chroprof_step s;
    fprintf(out, "%lu %lu %lu %lu\n", (unsigned long)t.live, (unsigned long)t.anomalies,
            (unsigned long)t.dropped, (unsigned long)t.events);
    while (chroprof_next_step(p, &cursor, &s)) {
        fprintf(out, "%llu %u %s\n", (unsigned long long)s.at_ns, (unsigned)s.depth,
                s.path < 3 ? own[s.path] : chroprof_path_name(p, s.path, NULL, NULL));
    }
}

#define check_trace_of(p, block, size) harness_trace(__FILE__, __LINE__, p, block, size)
#define check_trace(p) check_trace_of(p, harness_memory(), HARNESS_MEMORY)

/* Figures of exec by path, and of the loop, idle and untracked time by the words of the manual. */
enum { PATHS = 4096 };
typedef struct figures {
    uint64_t ns[PATHS];
} figures;

static void note_figures(const chroprof *p, figures *f)
{
    chroprof_totals t = totals_of(p);
    uint64_t cursor = 0;
    chroprof_path row;
    memset(f, 0, sizeof *f);
    f->ns[0] = t.uninstrumented_ns;
    f->ns[1] = t.idle_ns;
    f->ns[2] = t.untracked_ns;
    while (chroprof_next_path(p, &cursor, &row)) {
        CHECK(row.id > 2 && row.id < PATHS);
        f->ns[row.id] = row.exec_ns;
    }
}

/* A line for each path that took time since then. */
static void save_sums(const chroprof *p, const figures *then, FILE *out)
{
    static figures now;
    unsigned k;
    note_figures(p, &now);
    for (k = 0; k < PATHS; k++) {
        if (now.ns[k] > then->ns[k])
            fprintf(out, "%u %llu\n", k, (unsigned long long)(now.ns[k] - then->ns[k]));
    }
}

/* Steps, sums and a trace of the name. steps: the trace has all of them. */
static void check_file(const char *file, int line, const char *trace, bool steps)
{
    char command[1400], base[256];
    snprintf(base, sizeof base, "%s", scratch("trace"));
    snprintf(command, sizeof command, "python3 tests/check_trace.py %s %s%s %s%s >%s.log", trace,
             steps ? base : "", steps ? ".steps" : "", steps ? base : "", steps ? ".sums" : "",
             base);
    fflush(stdout);
    if (system(command) != 0)
        harness_fail(file, line, "%s", command);
}

static bool same_files(const char *one, const char *two)
{
    char command[700];
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", one, two);
    return system(command) == 0;
}

/* The trace of the block, and that of its JSON, which has at most 100,000 steps. Samples are marks in
 * the one, and a line of code in the other; without them both are the same. */
static void harness_trace(const char *file, int line, chroprof *p, const void *block, size_t size)
{
    static unsigned char copy[HARNESS_MEMORY];
    char json[300], from_json[300], from_block[300];
    size_t steps = chroprof_timeline(p, 0, UINT64_MAX, NULL, 0);
    FILE *out;
    snprintf(json, sizeof json, "%s", scratch("of.chroprof"));
    snprintf(from_json, sizeof from_json, "%s", scratch("of.trace"));
    snprintf(from_block, sizeof from_block, "%s", scratch("block.trace"));
    CHECK_EQ(chroprof_snapshot(block, size, copy, sizeof copy), CHROPROF_OK);
    save_bytes(json, copy, size);
    command_trace(json, from_block);
    (void)trace_of(p);
    out = fopen(scratch("trace.steps"), "w");
    CHECK(out != NULL);
    save_steps(p, out);
    CHECK_EQ(fclose(out), 0);
    check_file(file, line, from_block, true);
    check_file(file, line, from_json, steps <= 100000);
    if (steps <= 100000 && chroprof_samples(p, 0, UINT64_MAX, NULL, 0) == 0 &&
        !same_files(from_json, from_block))
        harness_fail(file, line, "%s and %s differ", from_json, from_block);
}

static chroprof_options ring_of(uint32_t events)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_events = events;
    o.stall_ns = 300000;
    o.max_samples = 8;
    return o;
}

/* >>streams */

static void replay_line(chroprof *p, const char *line)
{
    event_text e;
    int kind = event_text_parse(line, &e);
    CHECK(kind >= 0);
    if (kind > 0)
        chroprof_event(p, e.state, e.id, chroprof_site_make(p, e.name, e.file, e.line), e.time);
}

/* Its figures after so many events go to then. */
static chroprof *replay_file(const char *name, uint32_t events, uint64_t count, figures *then)
{
    chroprof_options o = ring_of(events);
    chroprof *p = fresh(&o);
    char line[2048];
    FILE *in;
    snprintf(line, sizeof line, "xz -dc %s/%s.events.xz",
             getenv("TRACES") ? getenv("TRACES") : "tests/traces", name);
    in = popen(line, "r");
    CHECK(in != NULL);
    memset(then, 0, sizeof *then);
    while (fgets(line, sizeof line, in)) {
        replay_line(p, line);
        if (totals_of(p).events == count)
            note_figures(p, then);
    }
    CHECK_EQ(pclose(in), 0);
    return p;
}

/* The spans of each path sum to its exec since the first step of the ring. */
static void replay(const char *name, uint32_t events)
{
    static figures then;
    chroprof *p = replay_file(name, events, UINT64_MAX, &then);
    size_t steps = chroprof_timeline(p, 0, UINT64_MAX, NULL, 0);
    uint64_t all = totals_of(p).events;
    FILE *out;
    p = replay_file(name, events, steps == all ? UINT64_MAX : all - steps + 1, &then);
    out = fopen(scratch("trace.sums"), "w");
    CHECK(out != NULL);
    save_sums(p, &then, out);
    CHECK_EQ(fclose(out), 0);
    check_trace(p);
    CHECK_EQ(remove(scratch("trace.sums")), 0);
}

/* With rings that have the end of it, and with one that has all. */
static void replay_each(const char *name)
{
    if (system("xz --version >/dev/null 2>&1") != 0)
        SKIP("no xz to unpack %s.events.xz", name);
    need_command();
    replay(name, 64);
    replay(name, 1 << 12);
    replay(name, 1 << 17);
}

TEST(accept_forever)
{
    replay_each("accept_forever");
}
TEST(attach_late)
{
    replay_each("attach_late");
}
TEST(cancel_parent_from_child)
{
    replay_each("cancel_parent_from_child");
}
TEST(echo50)
{
    replay_each("echo50");
}
TEST(mixed_stillborn)
{
    replay_each("mixed_stillborn");
}
TEST(nested_poll)
{
    replay_each("nested_poll");
}
TEST(outlive)
{
    replay_each("outlive");
}
TEST(prodcons)
{
    replay_each("prodcons");
}
TEST(recursion)
{
    replay_each("recursion");
}
TEST(tasklist)
{
    replay_each("tasklist");
}
TEST(web)
{
    replay_each("web");
}

/* Any event at all, as a hostile host may send them; time now and then stands still. */
static void random_stream(uint64_t seed, uint32_t events, uint32_t depth, unsigned count)
{
    chroprof_options o = ring_of(events);
    uint64_t random = seed, now = 0;
    chroprof *p;
    o.max_depth = depth;
    o.max_step_ns = 100000;
    p = fresh(&o);
    for (; count > 0; count--) {
        chroprof_state state = (chroprof_state)random_below(&random, CHROPROF_NEXT + 1);
        uint64_t id = random_below(&random, 40);
        now += random_below(&random, 3) * random_below(&random, 500);
        now += random_below(&random, 200) == 0 ? UINT64_C(150000) : 0;
        chroprof_event(p, state, id, &sites[random_below(&random, 4)], now);
        if (random_below(&random, 50) == 0)
            chroprof_sample(p, now, 10);
    }
    check_trace(p);
}

TEST(random_streams)
{
    unsigned long k;
    need_command();
    for (k = 0; k < share(20 * rounds()); k++) {
        random_seed(k);
        random_stream(1000 + k, k % 2 ? 64 : 4096, k % 3 ? 64 : 4, k % 2 ? 3000 : 1000);
    }
}

/* Requests that create queries, in good order: nothing but what the trace can tell exactly. */
static uint64_t serve(chroprof *p, uint64_t now, uint64_t rounds_)
{
    uint64_t k;
    for (k = 0; k < rounds_; k++) {
        uint64_t id = 100 + 2 * k;
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 3000 + k);
        chroprof_event(p, CHROPROF_ENTER, 0, &sites[0], now += 1000);
        chroprof_event(p, CHROPROF_PENDING, id, &sites[1], now += 500);
        chroprof_event(p, CHROPROF_READY, id, NULL, now += 5);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 20 * (k % 7));
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, now += 70);
        chroprof_event(p, CHROPROF_PENDING, id + 1, &sites[2], now += 5);
        chroprof_event(p, CHROPROF_PAUSED, id, NULL, now += 12);
        chroprof_event(p, CHROPROF_RUNNING, id + 1, NULL, now);
        chroprof_event(p, k % 5 ? CHROPROF_COMPLETED : CHROPROF_FAILED, id + 1, NULL,
                       now += 100001);
        chroprof_event(p, CHROPROF_SWITCH, id, NULL, now += k % 2);
        chroprof_event(p, k % 3 ? CHROPROF_COMPLETED : CHROPROF_PAUSED, id, NULL, now += 12);
    }
    return now;
}

TEST(a_request_and_its_query)
{
    chroprof_options o = ring_of(256);
    chroprof *p = fresh(&o);
    const char *text;
    need_command();
    serve(p, 0, 3);
    check_trace(p);
    text = trace_of(p);
    /* request 1: created, ready, running, waiting, running; its query is in its process */
    CHECK(strstr(text, "{\"ph\":\"b\",\"pid\":3,\"tid\":1,\"ts\":109.106,\"name\":\"reply "
                       "\\\"\\\\\\u0009\",\"cat\":\"future\",\"id\":\"0x11\",\"args\":{\"id\":"
                       "\"0x66\",\"file\":\"server.c\",\"line\":\"20\"}}") != NULL);
    CHECK_EQ(count_of(text, "process_name"), 4);
    CHECK_EQ(count_of(text, "\"ph\":\"s\""), 6);
    CHECK_EQ(count_of(text, "\"ph\":\"f\""), 6);
    CHECK_EQ(count_of(text, "\"ph\":\"n\""), 5);
    CHECK_EQ(count_of(text, "\"name\":\"waiting\""), 2 * 4);
    CHECK_EQ(count_of(text, "\"name\":\"ready\""), 2 * 3);
}

/* The end of the trace pauses nobody. */
TEST(still_running)
{
    chroprof_options o = ring_of(256);
    chroprof *p = fresh(&o);
    need_command();
    chroprof_event(p, CHROPROF_ENTER, 0, &sites[0], 10);
    chroprof_event(p, CHROPROF_PENDING, 7, &sites[1], 20);
    chroprof_event(p, CHROPROF_RUNNING, 7, NULL, 30);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 40);
    check_trace(p);
    CHECK_EQ(count_of(trace_of(p), "\"name\":\"running\""), 2);
    CHECK_EQ(count_of(trace_of(p), "\"name\":\"waiting\""), 0);
}

TEST(stalls_and_samples)
{
    const char *text;
    chroprof_options o = ring_of(4096);
    chroprof *p = fresh(&o);
    uint64_t now;
    need_command();
    now = serve(p, 0, 20);
    chroprof_event(p, CHROPROF_ENTER, 0, &sites[3], now += 5);
    chroprof_sample(p, now += 400000, 400000);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 5);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now += 5);
    check_trace(p);
    CHECK_EQ(count_of(trace_of(p), "stall (iteration)"), 1);
    text = text_of_file(scratch("block.trace"));
    CHECK_EQ(count_of(text, "stall (iteration)"), 1);
    CHECK_EQ(count_of(text, "\"name\":\"sample\""), 1);
    CHECK(strstr(text, "\"cpu_ns\":400000") != NULL);
}

TEST(deeper_than_is_drawn)
{
    chroprof_options o = ring_of(4096);
    chroprof *p;
    uint64_t now = 0;
    int k;
    need_command();
    o.max_depth = 300;
    p = fresh(&o);
    for (k = 0; k < 200; k++)
        chroprof_event(p, CHROPROF_ENTER, 0, &sites[k % 4], now += 10);
    for (k = 0; k < 150; k++)
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 7);
    check_trace(p);
}

/* More futures at once than the trace follows: those that wait the longest end early. */
TEST(more_futures_than_are_followed)
{
    chroprof_options o = ring_of(1 << 14);
    chroprof *p;
    uint64_t k, now = 0;
    need_command();
    o.max_futures = 4000;
    p = fresh(&o);
    for (k = 1; k <= 3000; k++)
        chroprof_event(p, CHROPROF_PENDING, k, &sites[k % 4], now += 10);
    for (k = 1; k <= 3000; k++) {
        chroprof_event(p, CHROPROF_RUNNING, k, NULL, now += 10);
        chroprof_event(p, CHROPROF_COMPLETED, k, NULL, now += 10);
    }
    check_trace(p);
}

TEST(of_nothing)
{
    chroprof *p = fresh(NULL);
    const char *text;
    need_command();
    text = trace_of(p); /* by windows, of which there are none */
    CHECK_EQ(count_of(text, "{\"ph\":\"B\""), count_of(text, "{\"ph\":\"E\""));
    CHECK_EQ(count_of(text, "\"cat\":"), 0);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 5);
    check_trace(p);
}

/* Off, on, reset: the stack is forgotten, the futures are not. */
TEST(off_and_reset)
{
    chroprof_options o = ring_of(4096);
    chroprof *p = fresh(&o);
    uint64_t now;
    need_command();
    now = serve(p, 0, 5);
    chroprof_event(p, CHROPROF_ENTER, 0, &sites[0], now += 10);
    chroprof_set_enabled(p, false);
    chroprof_set_enabled(p, true);
    now = serve(p, now, 5);
    check_trace(p);
    chroprof_reset(p);
    serve(p, now, 5);
    check_trace(p);
}

/* What a debug page gives for some seconds: the difference of two states, from its begin on. */
TEST(of_an_interval)
{
    enum { SIZE = 1 << 18 };
    static union {
        uint64_t word;
        unsigned char bytes[SIZE];
    } live, older, newer, both;
    chroprof_options o = ring_of(1024);
    chroprof p, before, after, d;
    uint64_t now;
    need_command();
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&p, live.bytes, SIZE, &o), CHROPROF_OK);
    now = serve(&p, 0, 5);
    chroprof_event(&p, CHROPROF_ENTER, 0, &sites[0], now += 10);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, older.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&before, older.bytes, SIZE), CHROPROF_OK);
    check_trace_of(&before, older.bytes, SIZE);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, now += 10);
    serve(&p, now, 5);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, newer.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&after, newer.bytes, SIZE), CHROPROF_OK);
    check_trace_of(&after, newer.bytes, SIZE);
    CHECK_EQ(chroprof_difference(&after, &before, both.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, both.bytes, SIZE), CHROPROF_OK);
    check_trace_of(&d, both.bytes, SIZE);
}

static const test_case cases[] = { CASE(accept_forever),
                                   CASE(attach_late),
                                   CASE(cancel_parent_from_child),
                                   CASE(echo50),
                                   CASE(mixed_stillborn),
                                   CASE(nested_poll),
                                   CASE(outlive),
                                   CASE(prodcons),
                                   CASE(recursion),
                                   CASE(tasklist),
                                   CASE(web),
                                   CASE(random_streams),
                                   CASE(a_request_and_its_query),
                                   CASE(still_running),
                                   CASE(stalls_and_samples),
                                   CASE(deeper_than_is_drawn),
                                   CASE(more_futures_than_are_followed),
                                   CASE(of_nothing),
                                   CASE(off_and_reset),
                                   CASE(of_an_interval) };

TEST_MAIN(cases)
