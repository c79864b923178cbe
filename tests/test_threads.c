/* tests/test_threads.c - one profile a thread, and nothing between them: no lock, no hidden state.
 *
 * The checks hold by themselves; that no two threads touch the same memory is for ThreadSanitizer:
 *     cc -std=c99 -D_POSIX_C_SOURCE=200809L -g -O1 -fsanitize=thread -o build/test_threads \
 *         tests/test_threads.c tests/compile/impl.c -lpthread && build/test_threads
 */
#include "harness.h"

#include <pthread.h>

enum { THREADS = 4, EVENTS = 200000, IDS = 40, SITES = 4, BLOCK = 1 << 18 };

/* Shared by all threads, as the static sites of a program are. */
static const chroprof_site sites[SITES] = {
    { "accept", "server.c", 10 },
    { "parse", "server.c", 20 },
    { "reply", "server.c", 30 },
    { "sweep", "timer.c", 40 },
};

typedef struct worker {
    pthread_t thread;
    chroprof prof;
    uint64_t seed;
    uint64_t slices; /* begun, by its own count */
    chroprof_result result;
    const char *broken; /* what chroprof_check said in the thread itself */
    size_t written;     /* bytes of the reports it wrote */
    unsigned char memory[BLOCK];
} worker;

static worker *workers(void)
{
    static worker all[THREADS + 1]; /* the last one is the thread of the test itself */
    return all;
}

static int count_bytes(void *user, const void *bytes, size_t count)
{
    size_t *sum = (size_t *)user;
    (void)bytes;
    *sum += count;
    return 0;
}

static void run_all(void *(*body)(void *))
{
    worker *all = workers();
    int i;
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&all[i].thread, NULL, body, &all[i]), 0);
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(all[i].thread, NULL), 0);
}

/* ---- an orderly loop by the clock ---- */

static void one_future(worker *w, uint64_t id)
{
    chroprof *p = &w->prof;
    chroprof_pending(p, id, &sites[id % SITES]);
    chroprof_ready(p, id);
    chroprof_running(p, id);
    chroprof_enter(p, chroprof_site_make(p, "made at run time", NULL, (uint32_t)(id % 3)));
    chroprof_leave(p);
    chroprof_paused(p, id);
    chroprof_running(p, id);
    chroprof_completed(p, id);
    w->slices += 3;
}

static void *orderly_loop(void *argument)
{
    worker *w = (worker *)argument;
    uint64_t id;
    w->slices = 0;
    w->written = 0;
    w->result = chroprof_init(&w->prof, w->memory, sizeof w->memory, NULL);
    for (id = 1; id <= EVENTS / 8; id++) {
        one_future(w, id);
        if (id % 64 == 0) {
            chroprof_idle_enter(&w->prof);
            chroprof_idle_leave(&w->prof);
        }
        if (id % 8192 == 0)
            chroprof_write(&w->prof, CHROPROF_JSON, count_bytes, &w->written);
    }
    chroprof_write(&w->prof, CHROPROF_TEXT, count_bytes, &w->written);
    w->broken = chroprof_check(&w->prof);
    return NULL;
}

static uint64_t slices_of(const chroprof *p)
{
    static chroprof_rank rows[HARNESS_ROWS];
    size_t count = chroprof_ranks(p, rows, HARNESS_ROWS, CHROPROF_BY_CALLS);
    uint64_t slices = 0;
    size_t i;
    for (i = 0; i < count; i++)
        slices += rows[i].slices;
    return slices;
}

TEST(each_thread_its_own_profile)
{
    int i;
    run_all(orderly_loop);
    for (i = 0; i < THREADS; i++) {
        worker *w = &workers()[i];
        CHECK_EQ(w->result, CHROPROF_OK);
        CHECK(w->broken == NULL);
        CHECK(w->written > 0);
        orderly(&w->prof);
        CHECK_EQ(slices_of(&w->prof), w->slices);
        CHECK_EQ(rank_of(&w->prof, "parse").completed, EVENTS / 8 / SITES);
        CHECK_EQ(totals_of(&w->prof).live, 0);
    }
}

/* ---- a wild stream: the same in each thread, so the same figures as in one thread alone ---- */

static void *wild_stream(void *argument)
{
    worker *w = (worker *)argument;
    chroprof_options options;
    uint64_t seed = w->seed;
    uint64_t now = 0;
    int i;
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    w->result = chroprof_init(&w->prof, w->memory, sizeof w->memory, &options);
    for (i = 0; i < EVENTS; i++) {
        chroprof_state state = (chroprof_state)random_below(&seed, CHROPROF_NEXT + 1);
        uint64_t id = random_below(&seed, IDS);
        const chroprof_site *site = &sites[random_below(&seed, SITES)];
        now += random_below(&seed, 5000);
        chroprof_event(&w->prof, state, id, random_below(&seed, 2) != 0 ? site : NULL, now);
    }
    w->broken = chroprof_check(&w->prof);
    return NULL;
}

static void check_same(const chroprof *p, const chroprof *q)
{
    static chroprof_path left[HARNESS_ROWS], right[HARNESS_ROWS];
    size_t count = chroprof_paths(p, left, HARNESS_ROWS);
    size_t i;
    int kind;
    CHECK_EQ(chroprof_paths(q, right, HARNESS_ROWS), count);
    CHECK_IN(count, 1, HARNESS_ROWS);
    for (i = 0; i < count; i++) {
        CHECK_EQ(left[i].id, right[i].id);
        CHECK_STR(left[i].name, right[i].name);
        CHECK_EQ(left[i].exec_ns, right[i].exec_ns);
        CHECK_EQ(left[i].slices, right[i].slices);
        CHECK_EQ(left[i].delay_ns, right[i].delay_ns);
        CHECK_EQ(left[i].blame_ns, right[i].blame_ns);
        CHECK_EQ(left[i].calls, right[i].calls);
    }
    for (kind = 0; kind < (int)CHROPROF_ANOMALY_COUNT; kind++)
        CHECK_EQ(anomalies_of(p, (chroprof_anomaly_kind)kind),
                 anomalies_of(q, (chroprof_anomaly_kind)kind));
    CHECK_EQ(totals_of(p).elapsed_ns, totals_of(q).elapsed_ns);
    CHECK_EQ(totals_of(p).events, EVENTS);
}

TEST(threads_do_not_disturb_each_other)
{
    worker *alone = &workers()[THREADS];
    int i;
    random_seed(20260701);
    for (i = 0; i <= THREADS; i++)
        workers()[i].seed = harness()->seed;
    run_all(wild_stream);
    wild_stream(alone);
    CHECK_EQ(alone->result, CHROPROF_OK);
    CHECK(totals_of(&alone->prof).anomalies > 0);
    for (i = 0; i < THREADS; i++) {
        CHECK(workers()[i].broken == NULL);
        check_same(&workers()[i].prof, &alone->prof);
    }
}

/* ---- what any thread may call, while another one sends events ---- */

static void *ask_the_time(void *argument)
{
    worker *busy = (worker *)argument;
    worker *w = busy + 1;
    uint64_t last = 0;
    int i;
    w->slices = 0; /* how often the clock went back */
    for (i = 0; i < EVENTS; i++) {
        uint64_t now = chroprof_now(&busy->prof);
        w->slices += now < last;
        last = now;
        w->written += chroprof_memory_size(NULL) > 0 && chroprof_result_text(CHROPROF_OK)[0] == 'o';
    }
    return NULL;
}

/* So that what another thread adds to a queue can bring its time for chroprof_ready_since. */
TEST(the_clock_may_be_read_by_any_thread)
{
    worker *busy = workers();
    worker *asking = workers() + 1;
    uint64_t id;
    CHECK_EQ(chroprof_init(&busy->prof, busy->memory, sizeof busy->memory, NULL), CHROPROF_OK);
    asking->written = 0;
    CHECK_EQ(pthread_create(&asking->thread, NULL, ask_the_time, busy), 0);
    for (id = 1; id <= EVENTS / 8; id++)
        one_future(busy, id);
    CHECK_EQ(pthread_join(asking->thread, NULL), 0);
    CHECK_EQ(asking->slices, 0);
    CHECK_EQ(asking->written, EVENTS);
    orderly(&busy->prof);
}

/* ---- a profile handed over: its events come from one thread at a time ---- */

static void *second_half(void *argument)
{
    worker *w = (worker *)argument;
    uint64_t id;
    for (id = EVENTS / 16 + 1; id <= EVENTS / 8; id++)
        one_future(w, id);
    return NULL;
}

static void in_another_thread(worker *w, void *(*body)(void *))
{
    CHECK_EQ(pthread_create(&w->thread, NULL, body, w), 0);
    CHECK_EQ(pthread_join(w->thread, NULL), 0);
}

TEST(a_profile_may_change_hands)
{
    worker *w = workers();
    uint64_t id;
    w->slices = 0;
    CHECK_EQ(chroprof_init(&w->prof, w->memory, sizeof w->memory, NULL), CHROPROF_OK);
    for (id = 1; id <= EVENTS / 16; id++)
        one_future(w, id);
    in_another_thread(w, second_half);
    CHECK_EQ(slices_of(&w->prof), w->slices);
    CHECK_EQ(rank_of(&w->prof, "parse").completed, EVENTS / 8 / SITES);
    orderly(&w->prof);
}

static void *one_iteration(void *argument)
{
    worker *w = (worker *)argument;
    chroprof_idle_leave(&w->prof);
    one_future(w, 1);
    chroprof_idle_enter(&w->prof);
    return NULL;
}

/* As a pool of threads does that runs whichever loop has work. */
TEST(a_profile_may_change_hands_with_every_iteration)
{
    worker *w = workers();
    int i;
    CHECK_EQ(chroprof_init(&w->prof, w->memory, sizeof w->memory, NULL), CHROPROF_OK);
    chroprof_idle_enter(&w->prof);
    for (i = 0; i < 400; i++) {
        one_iteration(w);
        in_another_thread(w, one_iteration);
    }
    orderly(&w->prof);
}

static void *call_helper(void *argument)
{
    worker *w = (worker *)argument;
    chroprof_enter(&w->prof, &sites[3]);
    chroprof_leave(&w->prof);
    return NULL;
}

/* In turns, so the events are in order; only who sends them is wrong. */
TEST(events_of_a_second_thread_are_counted)
{
    worker *w = workers();
    chroprof_options options;
    chroprof_anomaly row;
    chroprof_finding finding;
    uint64_t i, rounds = 400;
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual; /* so no window ends */
    CHECK_EQ(chroprof_init(&w->prof, w->memory, sizeof w->memory, &options), CHROPROF_OK);
    chroprof_event(&w->prof, CHROPROF_PENDING, 7, &sites[1], 1);
    for (i = 0; i < rounds; i++) {
        chroprof_running(&w->prof, 7);
        in_another_thread(w, call_helper);
        chroprof_paused(&w->prof, 7);
    }
    chroprof_event(&w->prof, CHROPROF_TICK, 0, NULL, UINT64_C(5000000000));
    CHECK(chroprof_read_anomaly(&w->prof, CHROPROF_ANOMALY_THREAD, &row));
    CHECK_IN(row.count, rounds / 16, 2 * rounds);
    CHECK(row.placed);
    CHECK_EQ(row.first.id, 7); /* the first to be told from a hand-over is the pause */
    CHECK_STR(row.first.name, "parse");
    CHECK_EQ(totals_of(&w->prof).anomalies, row.count);
    CHECK(chroprof_findings(&w->prof, &finding, 1) >= 1);
    CHECK_EQ(finding.kind, CHROPROF_FINDING_ORDER); /* whatever else the figures say */
    CHECK(strstr(finding.text, "another thread") != NULL);
    CHECK(chroprof_check(&w->prof) == NULL);
}

/* ---- a thread with little room ---- */

static void *write_a_text(void *argument)
{
    worker *w = (worker *)argument;
    w->written = 0;
    if (chroprof_write_text(&w->prof, NULL, count_bytes, &w->written) != 0)
        w->written = 0;
    return NULL;
}

/* Threads of pools and fibers have stacks of this size; the text measures what an event costs, in a
 * profile of its own. */
TEST(a_text_in_a_thread_of_256_KiB)
{
    worker *w = &workers()[0];
    pthread_attr_t small;
    CHECK_EQ(chroprof_init(&w->prof, w->memory, sizeof w->memory, NULL), CHROPROF_OK);
    one_future(w, 1);
    CHECK_EQ(pthread_attr_init(&small), 0);
    CHECK_EQ(pthread_attr_setstacksize(&small, 256 << 10), 0);
    CHECK_EQ(pthread_create(&w->thread, &small, write_a_text, w), 0);
    CHECK_EQ(pthread_join(w->thread, NULL), 0);
    CHECK_EQ(pthread_attr_destroy(&small), 0);
    CHECK(w->written > 0);
}

static const test_case cases[] = {
    CASE(each_thread_its_own_profile),
    CASE(threads_do_not_disturb_each_other),
    CASE(the_clock_may_be_read_by_any_thread),
    CASE(a_profile_may_change_hands),
    CASE(a_profile_may_change_hands_with_every_iteration),
    CASE(events_of_a_second_thread_are_counted),
    CASE(a_text_in_a_thread_of_256_KiB),
};

TEST_MAIN(cases)
