/* fuzz/fuzz_events.c - any stream of events, reads and dumps on any small set of capacities.
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -o build/fuzz_events fuzz/fuzz_events.c
 * build/fuzz_events -max_len=2048 build/corpus fuzz/corpus_events
 *
 * Without libFuzzer, to replay files and folders of files:
 * cc -g -DFUZZ_REPLAY -fsanitize=address,undefined -o build/replay_events fuzz/fuzz_events.c
 *
 * The first bytes choose capacities and options (see set_up), the rest are calls (see one_call).
 * After every call both laws and chroprof_check must hold; in the end every format is written. The
 * block is malloced to the byte, so that the sanitizer sees any step outside. */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
    const uint8_t *bytes, *end;
} input;

typedef struct bench {
    input in;
    chroprof p;
    void *memory;
    uint64_t now;
    const chroprof_site *made[4]; /* by chroprof_site_make */
} bench;

/* >>input */

static uint8_t take(input *in)
{
    return in->bytes < in->end ? *in->bytes++ : 0;
}

static uint64_t take_number(input *in)
{
    uint8_t how = take(in);
    uint64_t value = take(in);

    if (how < 200)
        return value;
    if (how < 230)
        return (value << 8 | take(in)) << (how - 200);
    return how < 240 ? UINT64_MAX - value : value << (how & 63);
}

/* >>laws */

static void must(bool holds, const char *what, uint64_t a, uint64_t b)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s (%" PRIu64 ", %" PRIu64 ")\n", what, a, b);
    abort();
}

static void must_equal(const char *what, uint64_t a, uint64_t b)
{
    must(a == b, what, a, b);
}

static void hold_ranks(const chroprof *p, const chroprof_totals *t)
{
    chroprof_rank rows[64];
    size_t i, n = chroprof_ranks(p, rows, 64, CHROPROF_BY_EXEC);
    uint64_t exec = t->untracked_ns;
    uint64_t blame = t->untracked_blame_ns + t->idle_blame_ns + t->uninstrumented_blame_ns;

    must(n <= 64, "more sites than max_sites", n, 64);
    for (i = 0; i < n; i++) {
        const chroprof_rank *r = &rows[i];
        exec += r->exec_ns;
        blame += r->blame_ns;
        must_equal("with_children = exec + children", r->with_children_ns,
                   r->exec_ns + r->children_ns);
        must_equal("calls add up", r->calls,
                   r->completed + r->failed + r->cancelled + r->abandoned + r->dropped + r->live);
    }
    must_equal("busy = exec + untracked", t->busy_ns, exec);
    must_equal("blame adds up", t->blame_ns, blame);
}

static void hold_laws(const chroprof *p)
{
    const char *broken = chroprof_check(p);
    chroprof_totals t;

    must(broken == NULL, broken ? broken : "", 0, 0);
    chroprof_read_totals(p, &t);
    must_equal("elapsed = busy + idle + uninstrumented", t.elapsed_ns,
               t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    must_equal("blame = delay", t.blame_ticks, t.delay_ticks);
    hold_ranks(p, &t);
}

/* >>output */

typedef struct sink {
    uint64_t left;
    uint32_t sum;
} sink;

/* Fails when its bytes are used up; reads all it is given, so that the sanitizer sees them. */
static int swallow(void *user, const void *bytes, size_t count)
{
    sink *s = (sink *)user;
    size_t i;

    for (i = 0; i < count; i++)
        s->sum += ((const uint8_t *)bytes)[i];
    if (count > s->left)
        return 1;
    s->left -= count;
    return 0;
}

static void write_one(bench *b, uint8_t format, uint64_t room)
{
    sink s = { 0, 0 };

    s.left = room;
    chroprof_write(&b->p, (chroprof_format)(format % (CHROPROF_PROMETHEUS_ALL + 1)), swallow, &s);
}

static void write_text(bench *b)
{
    chroprof_text_options look;
    sink s = { UINT64_MAX, 0 };
    uint8_t bits = take(&b->in);

    memset(&look, 0, sizeof look);
    look.width = take(&b->in);
    look.top = take(&b->in);
    look.by = (chroprof_order)(bits % 6);
    look.ascii = (bits & 8) != 0;
    look.color = (bits & 16) != 0;
    chroprof_write_text(&b->p, &look, swallow, &s);
}

/* Reads, writes and sends from inside, as a host might. */
static void nag(void *user, const chroprof_stall *stall)
{
    chroprof *p = &((bench *)user)->p;
    chroprof_totals t;

    must(stall->share_count <= CHROPROF_STALL_SHARES, "share_count", stall->share_count, 0);
    chroprof_read_totals(p, &t);
    chroprof_tick(p);
    chroprof_reset(p);
    chroprof_set_enabled(p, false);
    write_one((bench *)user, CHROPROF_TEXT, UINT64_MAX);
}

/* >>reading */

#define READ_LIST(type, call)                                                                      \
    do {                                                                                           \
        type rows[8];                                                                              \
        size_t listed = call(p, rows, 8);                                                          \
        size_t k;                                                                                  \
        for (k = 0; k < listed && k < 8; k++)                                                      \
            must(strlen(rows[k].name) < 4096, #call, k, listed);                                   \
    } while (0)

static void read_samples(const chroprof *p)
{
    chroprof_sample_row rows[8];
    chroprof_stack_frame frames[20];
    chroprof_wall walls[4];
    size_t count = chroprof_samples(p, 5, 500, rows, 8), i;

    for (i = 0; i < count && i < 8; i++)
        must(chroprof_stack(p, rows[i].stack, frames, 20) <= 18, "frames of a stack", i, 18);
    chroprof_walls(p, walls, 4);
}

static void read_all(const chroprof *p)
{
    chroprof_window windows[8];
    chroprof_stall stalls[8];
    chroprof_anomaly anomalies[CHROPROF_ANOMALY_COUNT];
    uint64_t cells[8];
    uint32_t site;

    READ_LIST(chroprof_path, chroprof_paths);
    READ_LIST(chroprof_future, chroprof_futures);
    READ_LIST(chroprof_table, chroprof_tables);
    chroprof_windows(p, windows, 8);
    chroprof_stalls(p, stalls, 8);
    chroprof_anomalies(p, anomalies, CHROPROF_ANOMALY_COUNT);
    for (site = 0; site < 10; site++)
        chroprof_site_windows(p, site, cells, 8);
    read_samples(p);
}

/* >>calls */

static const chroprof_site *some_site(bench *b, uint8_t pick)
{
    static const chroprof_site sites[] = {
        { "accept", "server.c", 1 },
        { "reply", "server.c", 2 },
        { "query", NULL, 0 },
        { "accept", "server.c", 1 },
        { "", "", 7 },
        { NULL, "nameless.c", 3 },
        { "a name as long as names can get in a program with templates", "long.cpp", 9 }
    };

    if (pick % 12 >= 11)
        return NULL;
    return pick % 12 >= 7 ? b->made[pick % 12 - 7] : &sites[pick % 12];
}

static uint64_t some_id(uint8_t pick)
{
    return pick % 8 == 7 ? UINT64_MAX : pick % 8;
}

static void any_event(bench *b, chroprof_state state)
{
    uint8_t pick = take(&b->in);
    uint64_t id = some_id(pick);
    const chroprof_site *site = some_site(b, (uint8_t)(pick / 8));

    b->now += take_number(&b->in);
    chroprof_event(&b->p, state, id, site, b->now);
}

static void live_event(bench *b)
{
    chroprof *p = &b->p;
    uint8_t pick = take(&b->in);
    uint64_t id = some_id(take(&b->in));
    const chroprof_site *site = some_site(b, take(&b->in));

    switch (pick % 17) {
    case 0: chroprof_pending(p, id, site); break;
    case 1: chroprof_ready(p, id); break;
    case 2: chroprof_running(p, id); break;
    case 3: chroprof_paused(p, id); break;
    case 4: chroprof_switch(p, id); break;
    case 5: chroprof_completed(p, id); break;
    case 6: chroprof_failed(p, id); break;
    case 7: chroprof_cancelled(p, id); break;
    case 8: chroprof_enter(p, site); break;
    case 9: chroprof_leave(p); break;
    case 10: chroprof_loop_enter(p); break;
    case 11: chroprof_loop_leave(p); break;
    case 12: chroprof_idle_enter(p); break;
    case 13: chroprof_idle_leave(p); break;
    case 14: chroprof_tick(p); break;
    default: chroprof_stillborn(p, site, (chroprof_state)(id + 2)); break;
    }
}

static void make_site(bench *b)
{
    uint8_t pick = take(&b->in) % 4;
    char name[8];
    size_t i;

    for (i = 0; i < 7; i++)
        name[i] = (char)take(&b->in);
    name[7] = '\0';
    b->made[pick] =
        chroprof_site_make(&b->p, name, take(&b->in) % 2 ? name + 3 : NULL, take(&b->in));
    must(b->made[pick] != NULL, "chroprof_site_make", pick, 0);
}

/* Now or at any other time; the weight of all selections of the whole is the weight taken. */
static void take_sample(bench *b)
{
    chroprof_sample_row rows[8];
    chroprof_sampler_totals t;
    uint64_t weight = 0;
    uint8_t pick = take(&b->in);
    size_t count, i;

    chroprof_sample(&b->p, pick % 8 == 7 ? take_number(&b->in) : b->now, pick / 64);
    chroprof_read_sampler(&b->p, &t);
    count = chroprof_samples(&b->p, 0, UINT64_MAX, rows, 8);
    must(count <= 8, "rows of samples", count, 8);
    for (i = 0; i < count; i++)
        weight += rows[i].weight;
    must_equal("weight of samples", weight + t.dropped, t.samples);
}

static void one_call(bench *b)
{
    uint8_t op = take(&b->in);

    if (op < 200) {
        any_event(b, (chroprof_state)(op % 16));
        return;
    }
    if (op % 20 == 8) {
        take_sample(b);
        return;
    }
    switch (op % 10) {
    case 0: chroprof_ready_since(&b->p, some_id(take(&b->in)), b->now - take_number(&b->in)); break;
    case 1: chroprof_set_enabled(&b->p, take(&b->in) % 4 != 0); break;
    case 2: chroprof_reset(&b->p); break;
    case 3: make_site(b); break;
    case 4: write_one(b, take(&b->in), take_number(&b->in)); break;
    case 5: write_text(b); break;
    case 6: read_all(&b->p); break;
    case 7: b->now -= take_number(&b->in); break;
    default: live_event(b); break;
    }
}

/* >>set-up */

static uint32_t some_capacity(input *in, uint32_t most)
{
    static const uint32_t few[] = { 1, 2, 3, 5 };
    uint8_t pick = take(in);

    return pick < 128 ? most : few[pick % 4];
}

static chroprof_options some_options(input *in)
{
    static const uint64_t steps[] = { 1, 7, 1000, 100000000 };
    chroprof_options o;
    uint8_t pick;

    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = some_capacity(in, 20);
    o.max_sites = some_capacity(in, 20);
    o.max_paths = some_capacity(in, 40);
    o.max_edges = some_capacity(in, 60);
    o.max_depth = some_capacity(in, 12);
    o.max_windows = some_capacity(in, 10);
    o.max_stalls = some_capacity(in, 6);
    o.string_bytes = 4 * some_capacity(in, 60);
    pick = take(in);
    o.max_histograms = 1 + pick % 2;
    o.max_samples = 1 + pick / 2 % 8;
    o.window_ns = steps[take(in) % 4];
    o.stall_ns = steps[take(in) % 4];
    o.max_step_ns = steps[take(in) % 4];
    o.name = "fuzz";
    return o;
}

/* A block of just the bytes that chroprof_memory_size asks for, at an odd address now and then. */
static bool set_up(bench *b)
{
    chroprof_options o = some_options(&b->in);
    uint8_t bits = take(&b->in);
    size_t size = chroprof_memory_size(&o), skip = bits % 16;

    if (bits & 16) {
        o.on_stall = nag;
        o.on_stall_user = b;
    }
    b->memory = malloc(size + skip);
    if (b->memory == NULL)
        return false;
    must_equal("chroprof_init", chroprof_init(&b->p, (char *)b->memory + skip, size, &o),
               CHROPROF_OK);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    bench b;
    uint8_t format;

    memset(&b, 0, sizeof b);
    b.in.bytes = bytes;
    b.in.end = bytes + size;
    if (!set_up(&b))
        return 0;
    while (b.in.bytes < b.in.end) {
        one_call(&b);
        hold_laws(&b.p);
    }
    for (format = 0; format <= CHROPROF_PROMETHEUS_ALL; format++)
        write_one(&b, format, UINT64_MAX);
    read_all(&b.p);
    hold_laws(&b.p);
    free(b.memory);
    return 0;
}

#include "replay.h"
