/* tests/test_random.c - random streams, in order and hostile, against the reference model.
 *
 * cc -std=c99 -Itests tests/test_random.c chroprof.o (an object with the implementation)
 * SEED=n replays one seed, ROUNDS=n asks for more of them, SHARE=n for fewer (a few seconds in all).
 * After every event: both laws, chroprof_check and the totals; every figure every now and then and
 * at the end. A stream that fails is cut down to the events that matter and printed. */
#include "harness.h"
#include "model.c"

enum { SITES = 7, NO_SITE = -1, FULL_EVERY = 97 };

/* The last but one has the content of the first; the last has no file. */
static const chroprof_site sites[SITES] = {
    { "accept", "server.c", 10 }, { "reply", "server.c", 20 }, { "timer", "timer.c", 5 },
    { "query", "db.c", 7 },       { "query", "db.c", 8 },      { "accept", "server.c", 10 },
    { "bare", NULL, 0 }
};

/* >>streams: a list of calls, made up front so that it can be played again */

typedef enum call_kind {
    CALL_EVENT,
    CALL_LIVE,
    CALL_READY_SINCE,
    CALL_STILLBORN,
    CALL_OFF,
    CALL_ON,
    CALL_RESET,
    CALL_WRITE
} call_kind;

typedef struct call {
    call_kind kind;
    chroprof_state state;
    uint64_t id, time;
    int site;
} call;

typedef struct stream {
    const chroprof_options *options;
    model_mutant mutant;
    bool only_laws; /* times so wild that figures wrap around */
    bool strings_full;
    call *calls; /* stb_ds */
} stream;

static const chroprof_site *site_at_index(int i)
{
    return i < 0 ? NULL : &sites[i];
}

static void add(stream *s, call_kind kind, int state, uint64_t id, int site, uint64_t time)
{
    call c;

    c.kind = kind;
    c.state = (chroprof_state)state;
    c.id = id;
    c.time = time;
    c.site = site;
    arrput(s->calls, c);
}

/* The call of its own that each kind of event has; its time is that of the event before. */
static void call_live(chroprof *p, chroprof_state state, uint64_t id, const chroprof_site *site)
{
    switch (state) {
    case CHROPROF_PENDING: chroprof_pending(p, id, site); break;
    case CHROPROF_READY: chroprof_ready(p, id); break;
    case CHROPROF_RUNNING: chroprof_running(p, id); break;
    case CHROPROF_PAUSED: chroprof_paused(p, id); break;
    case CHROPROF_COMPLETED: chroprof_completed(p, id); break;
    case CHROPROF_FAILED: chroprof_failed(p, id); break;
    case CHROPROF_CANCELLED: chroprof_cancelled(p, id); break;
    case CHROPROF_IDLE_ENTER: chroprof_idle_enter(p); break;
    case CHROPROF_IDLE_LEAVE: chroprof_idle_leave(p); break;
    case CHROPROF_LOOP_ENTER: chroprof_loop_enter(p); break;
    case CHROPROF_LOOP_LEAVE: chroprof_loop_leave(p); break;
    case CHROPROF_ENTER: chroprof_enter(p, site); break;
    case CHROPROF_LEAVE: chroprof_leave(p); break;
    case CHROPROF_TICK: chroprof_tick(p); break;
    case CHROPROF_SWITCH: chroprof_switch(p, id); break;
    default: chroprof_next(p, site); break;
    }
}

static bool takes_site(chroprof_state state)
{
    return state == CHROPROF_PENDING || state == CHROPROF_ENTER || state == CHROPROF_NEXT;
}

static int ignore(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return 0;
}

static void call_profile(chroprof *p, const call *c)
{
    const chroprof_site *site = site_at_index(c->site);

    switch (c->kind) {
    case CALL_EVENT: chroprof_event(p, c->state, c->id, site, c->time); break;
    case CALL_LIVE: call_live(p, c->state, c->id, site); break;
    case CALL_WRITE: chroprof_write(p, (chroprof_format)c->state, ignore, NULL); break;
    case CALL_READY_SINCE: chroprof_ready_since(p, c->id, c->time); break;
    case CALL_STILLBORN: chroprof_stillborn(p, site, c->state); break;
    case CALL_OFF: chroprof_set_enabled(p, false); break;
    case CALL_ON: chroprof_set_enabled(p, true); break;
    default: chroprof_reset(p); break;
    }
}

static void call_model(model *m, const call *c)
{
    const chroprof_site *site = site_at_index(c->site);

    switch (c->kind) {
    case CALL_EVENT: model_event(m, c->state, c->id, site, c->time); break;
    case CALL_LIVE: model_live_event(m, c->state, c->id, takes_site(c->state) ? site : NULL); break;
    case CALL_WRITE: break; /* under the manual clock no time passes by itself */
    case CALL_READY_SINCE: model_ready_since(m, c->id, c->time); break;
    case CALL_STILLBORN: model_stillborn(m, site, c->state); break;
    case CALL_OFF: model_set_enabled(m, false); break;
    case CALL_ON: model_set_enabled(m, true); break;
    default: model_reset(m); break;
    }
}

static void print_call(const call *c)
{
    static const char *const states[] = { "PENDING",    "READY",      "RUNNING",    "PAUSED",
                                          "COMPLETED",  "FAILED",     "CANCELLED",  "IDLE_ENTER",
                                          "IDLE_LEAVE", "LOOP_ENTER", "LOOP_LEAVE", "ENTER",
                                          "LEAVE",      "TICK",       "SWITCH",     "NEXT",
                                          "(bad)" };
    static const char *const kinds[] = {
        "event", "live", "ready_since", "stillborn", "set_enabled(false)", "set_enabled(true)",
        "reset", "write"
    };

    printf("    %s", kinds[c->kind]);
    if (c->kind <= CALL_STILLBORN)
        printf(" %s id %" PRIu64 " site %d time %" PRIu64, states[(int)c->state & 15], c->id,
               c->site, c->time);
    printf("\n");
}

/* >>playing */

static int judge(const stream *s, const chroprof *p, const model *m, size_t i, size_t every,
                 FILE *err)
{
    bool last = i + 1 == arrlenu(s->calls);

    if (s->only_laws)
        return model_laws_of_totals(p, err) + (chroprof_check(p) != NULL);
    return model_laws(p, err) + model_compare_totals(m, p, err) +
           (last || i % every == 0 ? model_compare(m, p, err) : 0);
}

/* The block as chroprof_open shows it. */
static int judge_view(const stream *s, const void *memory, size_t size, const model *m, FILE *err)
{
    chroprof view;
    chroprof_result result = chroprof_open(&view, memory, size);

    if (result != CHROPROF_OK) {
        if (err)
            fprintf(err, "  chroprof_open: %s\n", chroprof_result_text(result));
        return 1;
    }
    if (s->only_laws)
        return model_laws_of_totals(&view, err) + (chroprof_check(&view) != NULL);
    return model_compare(m, &view, err);
}

/* Plays the stream to both. Returns the index of the first call after which they differ, or -1. */
static int play(const stream *s, size_t every, FILE *err)
{
    size_t size = chroprof_memory_size(s->options), i;
    void *memory = malloc(size);
    chroprof p;
    model m;
    int bad = -1;

    CHECK(memory != NULL);
    CHECK_EQ(chroprof_init(&p, memory, size, s->options), CHROPROF_OK);
    model_init(&m, s->options, &p);
    m.mutant = s->mutant;
    m.strings_full = s->strings_full;
    for (i = 0; bad < 0 && i < arrlenu(s->calls); i++) {
        call_profile(&p, &s->calls[i]);
        call_model(&m, &s->calls[i]);
        if (judge(s, &p, &m, i, every, err))
            bad = (int)i;
        if (bad < 0 && (i + 1 == arrlenu(s->calls) || i % every == 0) &&
            judge_view(s, memory, size, &m, err))
            bad = (int)i;
    }
    if (bad >= 0 && err && chroprof_check(&p))
        fprintf(err, "  chroprof_check: %s\n", chroprof_check(&p));
    if (bad < 0)
        harness_keep(&p);
    model_free(&m);
    free(memory);
    return bad;
}

/* Removes n calls at `first` if the rest still fails. */
static bool still_fails_without(stream *s, size_t first, size_t n)
{
    stream less = *s;
    size_t i;
    int bad;

    less.calls = NULL;
    for (i = 0; i < arrlenu(s->calls); i++)
        if (i < first || i >= first + n)
            arrput(less.calls, s->calls[i]);
    bad = play(&less, 1, NULL);
    if (bad >= 0)
        arrsetlen(less.calls, (size_t)bad + 1);
    arrfree(*(bad >= 0 ? &s->calls : &less.calls));
    if (bad >= 0)
        s->calls = less.calls;
    return bad >= 0;
}

static void shrink(stream *s)
{
    size_t chunk, i;

    for (chunk = arrlenu(s->calls) / 2 + 1; chunk > 0; chunk /= 2)
        for (i = 0; i < arrlenu(s->calls);)
            if (!still_fails_without(s, i, chunk))
                i += chunk;
}

static void print_options(const chroprof_options *o)
{
    printf("    futures %u sites %u paths %u edges %u depth %u windows %u strings %u "
           "window_ns %" PRIu64 " stall_ns %" PRIu64 " max_step_ns %" PRIu64 "\n",
           o->max_futures, o->max_sites, o->max_paths, o->max_edges, o->max_depth, o->max_windows,
           o->string_bytes, o->window_ns, o->stall_ns, o->max_step_ns);
}

static void explain(stream *s)
{
    size_t i;

    shrink(s);
    printf("  the shortest stream that shows it (SEED=%" PRIu64 "):\n", harness()->seed);
    print_options(s->options);
    for (i = 0; i < arrlenu(s->calls); i++)
        print_call(&s->calls[i]);
    play(s, 1, stdout);
}

/* Ends the case if the profile and the model differ. */
static void hold_stream(stream *s)
{
    int bad = play(s, FULL_EVERY, NULL);

    if (bad >= 0) {
        arrsetlen(s->calls, (size_t)bad + 1);
        explain(s);
    }
    arrfree(s->calls);
    if (bad >= 0)
        harness_fail(__FILE__, __LINE__, "differs from the model after call %d", bad);
}

/* >>a scheduler that does everything right */

enum { TASKS = 12 };

typedef struct scheduler {
    stream *s;
    uint64_t random, now;
    uint64_t next_id;
    uint64_t ids[TASKS]; /* 0: free slot */
    bool on_stack[TASKS], ready[TASKS], may_be_ready[TASKS];
    uint64_t since[TASKS]; /* when it paused or was created */
    int stack[32], depth;  /* slots; -1: enter-frame, -2: barrier */
} scheduler;

static void say(scheduler *k, int state, uint64_t id, int site)
{
    uint64_t pick = random_below(&k->random, 20);

    k->now += pick == 0   ? 0
              : pick == 1 ? random_below(&k->random, 20000)
                          : random_below(&k->random, 60);
    add(k->s, CALL_EVENT, state, id, site, k->now);
}

static int some_slot(scheduler *k, bool used)
{
    int first = (int)random_below(&k->random, TASKS), i;

    for (i = 0; i < TASKS; i++)
        if ((k->ids[(first + i) % TASKS] != 0) == used)
            return (first + i) % TASKS;
    return -1;
}

static void spawn(scheduler *k)
{
    int slot = some_slot(k, false);

    if (slot < 0)
        return;
    k->ids[slot] = ++k->next_id * 64;
    k->on_stack[slot] = k->ready[slot] = false;
    say(k, CHROPROF_PENDING, k->ids[slot], (int)random_below(&k->random, SITES));
    k->since[slot] = k->now;
}

static void make_ready(scheduler *k)
{
    int slot = some_slot(k, true);

    if (slot < 0 || k->ready[slot])
        return;
    if (k->on_stack[slot] || random_below(&k->random, 2)) {
        say(k, CHROPROF_READY, k->ids[slot], NO_SITE);
    } else {
        uint64_t age = random_below(&k->random, k->now - k->since[slot] + 1);
        add(k->s, CALL_READY_SINCE, CHROPROF_READY, k->ids[slot], NO_SITE, k->now - age);
    }
    k->ready[slot] = !k->on_stack[slot];
}

static void run_some(scheduler *k)
{
    int slot = some_slot(k, true);

    if (slot < 0 || k->on_stack[slot] || k->depth >= 30)
        return;
    say(k, CHROPROF_RUNNING, k->ids[slot], NO_SITE);
    k->on_stack[slot] = true;
    k->ready[slot] = false;
    k->stack[k->depth++] = slot;
}

static void leave_top(scheduler *k)
{
    int slot = k->depth ? k->stack[--k->depth] : -3;

    if (slot == -3)
        return;
    if (slot == -1 && random_below(&k->random, 3) == 0) {
        say(k, CHROPROF_NEXT, 0, (int)random_below(&k->random, SITES));
        k->stack[k->depth++] = slot;
        return;
    }
    if (slot < 0) {
        say(k, slot == -1 ? CHROPROF_LEAVE : CHROPROF_LOOP_LEAVE, 0, NO_SITE);
        return;
    }
    k->on_stack[slot] = false;
    if (random_below(&k->random, 4)) {
        say(k, CHROPROF_PAUSED, k->ids[slot], NO_SITE);
        k->since[slot] = k->now;
    } else {
        say(k, CHROPROF_COMPLETED + (int)random_below(&k->random, 3), k->ids[slot], NO_SITE);
        k->ids[slot] = 0;
    }
}

/* From the future on top to another, as a coroutine library does. */
static void switch_to_some(scheduler *k)
{
    int slot = some_slot(k, true), from = k->depth ? k->stack[k->depth - 1] : -1;

    if (slot < 0 || from < 0 || k->on_stack[slot])
        return;
    say(k, CHROPROF_SWITCH, k->ids[slot], NO_SITE);
    k->on_stack[from] = false;
    k->since[from] = k->now;
    k->on_stack[slot] = true;
    k->ready[slot] = false;
    k->stack[k->depth - 1] = slot;
}

static void push_other(scheduler *k)
{
    bool barrier = random_below(&k->random, 4) == 0;

    if (k->depth >= 30)
        return;
    say(k, barrier ? CHROPROF_LOOP_ENTER : CHROPROF_ENTER, 0, (int)random_below(&k->random, SITES));
    k->stack[k->depth++] = barrier ? -2 : -1;
}

static void go_idle(scheduler *k)
{
    if (k->depth && k->stack[k->depth - 1] != -2)
        return;
    say(k, CHROPROF_IDLE_ENTER, 0, NO_SITE);
    say(k, CHROPROF_TICK, 0, NO_SITE);
    say(k, CHROPROF_IDLE_LEAVE, 0, NO_SITE);
}

static void one_finished_elsewhere(scheduler *k)
{
    int slot = some_slot(k, true);

    if (slot < 0 || k->on_stack[slot])
        return;
    say(k, CHROPROF_COMPLETED + (int)random_below(&k->random, 3), k->ids[slot],
        random_below(&k->random, 2) ? NO_SITE : 0);
    k->ids[slot] = 0;
}

static void one_step(scheduler *k)
{
    switch (random_below(&k->random, 16)) {
    case 0:
    case 1:
    case 2: spawn(k); break;
    case 3:
    case 4: make_ready(k); break;
    case 5:
    case 6:
    case 7: run_some(k); break;
    case 8:
    case 9:
    case 10: leave_top(k); break;
    case 11: switch_to_some(k); break;
    case 12: push_other(k); break;
    case 13: go_idle(k); break;
    case 14: one_finished_elsewhere(k); break;
    default:
        if (random_below(&k->random, 2))
            say(k, CHROPROF_CANCELLED, 0, (int)random_below(&k->random, SITES));
        else
            say(k, CHROPROF_TICK, 0, NO_SITE);
    }
}

static void orderly_stream(stream *s, uint64_t seed, int steps)
{
    scheduler k;

    memset(&k, 0, sizeof k);
    k.s = s;
    k.random = seed;
    k.now = random_below(&k.random, 3) ? random_below(&k.random, 1000) : UINT64_MAX - 5000;
    while (steps--)
        one_step(&k);
}

/* >>a host that does everything wrong */

static uint64_t hostile_id(uint64_t *random)
{
    static const uint64_t ids[] = { 0, 1, 2, 3, 4, 5, 6, UINT64_MAX };

    return ids[random_below(random, sizeof ids / sizeof ids[0])];
}

static uint64_t hostile_time(uint64_t *random, uint64_t now)
{
    switch (random_below(random, 40)) {
    case 0: return now - random_below(random, 500);
    case 1: return now + random_below(random, 100000);
    case 2: return now + (UINT64_C(1) << random_below(random, 50));
    case 3: return UINT64_MAX - random_below(random, 100);
    case 4:
    case 5:
    case 6: return now;
    default: return now + random_below(random, 50);
    }
}

static int hostile_state(uint64_t *random)
{
    static const unsigned char often[] = { CHROPROF_PENDING,   CHROPROF_PENDING, CHROPROF_RUNNING,
                                           CHROPROF_RUNNING,   CHROPROF_PAUSED,  CHROPROF_READY,
                                           CHROPROF_SWITCH,    CHROPROF_ENTER,   CHROPROF_LEAVE,
                                           CHROPROF_COMPLETED, CHROPROF_NEXT };

    if (random_below(random, 2))
        return often[random_below(random, sizeof often)];
    return (int)random_below(random, CHROPROF_NEXT + 2);
}

static void hostile_call(stream *s, uint64_t *random, uint64_t *now)
{
    uint64_t pick = random_below(random, 300), id = hostile_id(random);
    int site = random_below(random, 6) ? (int)random_below(random, SITES) : NO_SITE;

    if (pick == 0)
        add(s, CALL_RESET, 0, 0, NO_SITE, 0);
    else if (pick == 1)
        add(s, CALL_OFF, 0, 0, NO_SITE, 0);
    else if (pick <= 4)
        add(s, CALL_ON, 0, 0, NO_SITE, 0);
    else if (pick < 25)
        add(s, CALL_READY_SINCE, CHROPROF_READY, id, NO_SITE, hostile_time(random, *now - 20));
    else if (pick < 28)
        add(s, CALL_WRITE, (int)random_below(random, 3), 0, NO_SITE, 0);
    else if (pick < 45)
        add(s, CALL_LIVE, (int)random_below(random, CHROPROF_NEXT + 1), id, site, 0);
    else if (pick < 52)
        add(s, CALL_STILLBORN, hostile_state(random), 0, site, 0);
    else
        add(s, CALL_EVENT, hostile_state(random), id, site, *now = hostile_time(random, *now));
}

static void hostile_stream(stream *s, uint64_t seed, int steps)
{
    uint64_t random = seed;
    uint64_t now = random_below(&random, 3) ? random_below(&random, 1000) : UINT64_MAX - 5000;

    while (steps--)
        hostile_call(s, &random, &now);
}

/* Any time at all: figures wrap, so only the laws hold. */
static void wild_stream(stream *s, uint64_t seed, int steps)
{
    uint64_t random = seed, now;

    while (steps--) {
        now = random_next(&random) >> random_below(&random, 64);
        hostile_call(s, &random, &now);
    }
}

/* >>options */

static chroprof_options roomy(uint64_t *random)
{
    static const uint64_t widths[] = { 1, 7, 100, 4096, 1000000 };
    chroprof_options o;

    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = 64;
    o.max_sites = 16;
    o.max_paths = 512;
    o.max_edges = 2048;
    o.max_depth = 64;
    o.max_histograms = 16;
    o.max_samples = 1;
    o.max_windows = 1 + (uint32_t)random_below(random, 12);
    o.max_stalls = 1 + (uint32_t)random_below(random, 5);
    o.max_events = 64u << random_below(random, 6);
    o.max_slow = 1 + (uint32_t)random_below(random, 8);
    o.max_incidents = 1 + (uint32_t)random_below(random, 4);
    o.string_bytes = 4096;
    o.window_ns = widths[random_below(random, 5)];
    o.stall_ns = 1 + random_below(random, 300);
    o.max_step_ns = random_below(random, 2) ? 0 : 5000;
    return o;
}

static uint32_t tight(uint64_t *random, uint32_t otherwise)
{
    return random_below(random, 2) ? otherwise : 1 + (uint32_t)random_below(random, 3);
}

static chroprof_options cramped(uint64_t *random)
{
    chroprof_options o = roomy(random);

    o.max_futures = tight(random, o.max_futures);
    o.max_sites = tight(random, o.max_sites);
    o.max_paths = tight(random, o.max_paths);
    o.max_edges = tight(random, o.max_edges);
    o.max_depth = tight(random, o.max_depth);
    o.max_histograms = tight(random, o.max_histograms);
    return o;
}

/* >>cases */

typedef void (*stream_maker)(stream *s, uint64_t seed, int steps);
typedef chroprof_options (*options_maker)(uint64_t *random);

/* SEED= replays one round; else each round has the next seed. */
static void many(stream_maker make, options_maker choose, unsigned long count, int steps,
                 stream template_)
{
    uint64_t i, n = getenv("SEED") ? 1 : share(count);

    for (i = 0; i < n; i++) {
        stream s = template_;
        chroprof_options options;
        uint64_t random;
        random_seed(1000 + i);
        random = harness()->seed;
        options = choose(&random);
        s.options = &options;
        make(&s, random, steps);
        hold_stream(&s);
    }
}

static stream plain(void)
{
    stream s;

    memset(&s, 0, sizeof s);
    return s;
}

TEST(orderly_roomy)
{
    many(orderly_stream, roomy, 60, 700, plain());
}
TEST(orderly_cramped)
{
    many(orderly_stream, cramped, 120, 400, plain());
}
TEST(hostile_roomy)
{
    many(hostile_stream, roomy, 120, 400, plain());
}
TEST(hostile_cramped)
{
    many(hostile_stream, cramped, 300, 250, plain());
}
TEST(hostile_short)
{
    many(hostile_stream, cramped, 3000, 12, plain());
}

static chroprof_options all_ones(uint64_t *random)
{
    chroprof_options o = roomy(random);

    o.max_futures = o.max_sites = o.max_paths = o.max_edges = 1;
    o.max_depth = o.max_histograms = o.max_windows = o.max_stalls = 1;
    return o;
}

TEST(hostile_all_ones)
{
    many(hostile_stream, all_ones, 60, 250, plain());
}

static chroprof_options few_strings(uint64_t *random)
{
    chroprof_options o = cramped(random);

    o.string_bytes = 1 + (uint32_t)random_below(random, 40);
    return o;
}

TEST(hostile_few_strings)
{
    stream s = plain();

    s.strings_full = true;
    many(hostile_stream, few_strings, 60, 200, s);
}

TEST(wild_times)
{
    stream s = plain();

    s.only_laws = true;
    many(wild_stream, cramped, 200, 300, s);
}

static chroprof_options defaults(uint64_t *random)
{
    chroprof_options o;

    (void)random;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    return o;
}

TEST(hostile_defaults)
{
    many(hostile_stream, defaults, 2, 300, plain());
}

TEST(orderly_is_orderly)
{
    uint64_t random = 7;
    chroprof_options options = roomy(&random);
    stream s = plain();
    chroprof *p;
    size_t i;

    options.max_step_ns = 0;
    options.max_slow = 16;
    p = fresh(&options);
    orderly_stream(&s, 42, 20000);
    for (i = 0; i < arrlenu(s.calls); i++)
        call_profile(p, &s.calls[i]);
    arrfree(s.calls);
    CHECK_EQ(totals_of(p).dropped, 0);
    orderly(p);
}

/* The comparison can fail: each broken rule of a model is noticed, the sound one is not. */
static void hold_mutants(stream *s)
{
    int mutant;

    for (mutant = MODEL_SOUND; mutant < MODEL_MUTANTS; mutant++) {
        s->mutant = (model_mutant)mutant;
        if ((play(s, 1, NULL) >= 0) != (mutant != MODEL_SOUND))
            harness_fail(__FILE__, __LINE__, "mutant %d: not as it should be", mutant);
    }
}

TEST(a_wrong_model_is_noticed)
{
    uint64_t random = 11;
    chroprof_options options = roomy(&random);
    stream s = plain();

    options.max_windows = 8;
    s.options = &options;
    hostile_stream(&s, 5, 600);
    hold_mutants(&s);
    arrfree(s.calls);
}

static const test_case cases[] = { CASE(orderly_is_orderly),      CASE(orderly_roomy),
                                   CASE(orderly_cramped),         CASE(hostile_roomy),
                                   CASE(hostile_cramped),         CASE(hostile_short),
                                   CASE(hostile_all_ones),        CASE(hostile_few_strings),
                                   CASE(hostile_defaults),        CASE(wild_times),
                                   CASE(a_wrong_model_is_noticed) };

TEST_MAIN(cases)
