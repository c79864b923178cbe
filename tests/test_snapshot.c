/* tests/test_snapshot.c - copies of blocks that are quiet, busy, cut short in an event, or killed.
 *
 * ROUNDS=n in the environment multiplies how long the random ones run, SHARE=n divides it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "command_trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/ptrace.h>
#endif

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };
static const chroprof_site D = { "timer", "timer.c", 5 };

enum { SIZE = 48 << 10, STEPS = 4000 };

typedef union block {
    uint64_t word;
    unsigned char bytes[SIZE];
} block;

static chroprof_options options_of(bool manual)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    if (manual)
        o.clock = chroprof_clock_manual;
    o.max_futures = 24;
    o.max_sites = 8;
    o.max_paths = 24;
    o.max_edges = 32;
    o.max_depth = 8;
    o.max_histograms = 1;
    o.max_windows = 8;
    o.max_stalls = 4;
    o.max_samples = 8;
    o.string_bytes = 200;
    o.max_events = 64;
    o.max_slow = 2;
    o.max_incidents = 1;
    o.window_ns = manual ? 300 : 20000;
    o.stall_ns = manual ? 200 : 30000;
    return o;
}

/* Counts the calls of a program that is watched from outside: odd inside one. */
typedef struct calls {
    volatile uint64_t number, resets;
} calls;

static calls *the_calls(calls *shared)
{
    static calls own;
    static calls *count = &own;
    if (shared != NULL)
        count = shared;
    return count;
}

static void mark(void)
{
    calls *count = the_calls(NULL);
    count->number = count->number + 1;
}

/* A chapter of a busy life, different for each number; time passes in every event. */
static void chapter(chroprof *p, uint64_t n, uint64_t *t)
{
    uint64_t id = 1 + n % 9, other = 1 + (n * 5 + 3) % 17;
    const chroprof_site *site = n % 3 == 0 ? &A : n % 3 == 1 ? &B : &C;
#define NEXT(state, id, site)                                                                      \
    (mark(),                                                                                       \
     chroprof_event(p, CHROPROF_##state, id, site,                                                 \
                    p->clock == chroprof_clock_manual ? *t += 7 + n % 50 : chroprof_now(p)),       \
     mark())
    NEXT(PENDING, id, site);
    NEXT(READY, id, NULL);
    NEXT(RUNNING, id, NULL);
    NEXT(PENDING, other, n % 4 == 0 ? &D : &B);
    NEXT(READY, other, NULL);
    mark();
    chroprof_sample(p, p->clock == chroprof_clock_manual ? *t : chroprof_now(p), n % 3 * 50);
    mark();
    if (n % 2 == 0)
        NEXT(ENTER, 0, &D);
    if (n % 3 == 0) {
        mark();
        chroprof_sample(p, p->clock == chroprof_clock_manual ? *t : chroprof_now(p), 0);
        mark();
    }
    NEXT(SWITCH, other, NULL);
    if (n % 5 == 0)
        NEXT(LOOP_ENTER, 0, NULL);
    NEXT(RUNNING, id, NULL);
    if (n % 7 == 0)
        NEXT(COMPLETED, id, NULL);
    else
        NEXT(PAUSED, id, NULL);
    if (n % 5 == 0)
        NEXT(LOOP_LEAVE, 0, NULL);
    if (n % 6 == 0)
        NEXT(FAILED, other, NULL);
    NEXT(IDLE_ENTER, 0, NULL);
    NEXT(IDLE_LEAVE, 0, NULL);
    if (n % 8 == 3)
        NEXT(CANCELLED, other, NULL);
#undef NEXT
}

static void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* The laws in ticks: in ns each figure is floored on its own. */
static uint64_t laws_broken(const chroprof *p)
{
    const char *broken = chroprof_check(p);
    chroprof_totals t = totals_of(p);
    if (broken != NULL)
        printf("# %s\n", broken);
    return (broken != NULL) +
           (uint64_t)(t.elapsed_ns != t.busy_ns + t.idle_ns + t.uninstrumented_ns) +
           (t.blame_ticks != t.delay_ticks);
}

/* Anomalies that claim a place that can't be: none of a chapter is met at its very begin. */
static uint64_t places_made_up(const chroprof *p)
{
    uint64_t made_up = 0, end_ns = totals_of(p).elapsed_ns;
    chroprof_anomaly row;
    int k;
    for (k = 0; chroprof_read_anomaly(p, (chroprof_anomaly_kind)k, &row); k++)
        made_up += row.placed && (row.first.at_ns == 0 || row.first.at_ns > row.last.at_ns ||
                                  row.last.at_ns > end_ns + 64); /* floored parts */
    return made_up;
}

/* What lies around a copy belongs to the caller. */
typedef struct framed {
    uint64_t before[32];
    block copy;
    uint64_t after[32];
} framed;

static framed *last_framed(void)
{
    static framed memory;
    return &memory;
}

static block *last_copy(void)
{
    return &last_framed()->copy;
}

/* How many of the words around the copy are not what they were set to. */
static unsigned words_around(uint64_t value, bool set)
{
    framed *f = last_framed();
    unsigned other = 0, i;
    for (i = 0; i < 32; i++) {
        if (set)
            f->before[i] = f->after[i] = value;
        other += (unsigned)(f->before[i] != value) + (unsigned)(f->after[i] != value);
    }
    return other;
}

#define snapshot_of(view, live) harness_snapshot(__FILE__, __LINE__, view, live)

/* Takes a copy, opens it, and holds the laws against it. */
static void harness_snapshot(const char *file, int line, chroprof *view, const void *live)
{
    block *copy = last_copy();
    chroprof_result result;
    (void)words_around(UINT64_C(0xA55AA55AA55AA55A), true);
    result = chroprof_snapshot(live, SIZE, copy->bytes, SIZE);
    if (result != CHROPROF_OK)
        harness_fail(file, line, "chroprof_snapshot: %s", chroprof_result_text(result));
    result = chroprof_open(view, copy->bytes, SIZE);
    if (result != CHROPROF_OK)
        harness_fail(file, line, "chroprof_open: %s", chroprof_result_text(result));
    harness_equal(file, line, "laws", laws_broken(view), 0);
    harness_equal(file, line, "places of anomalies that were made up", places_made_up(view), 0);
    harness_equal(file, line, "words written beside the copy",
                  words_around(UINT64_C(0xA55AA55AA55AA55A), false), 0);
    harness_keep(view);
}

/* >>quiet blocks */

TEST(a_quiet_block_is_copied_exactly)
{
    static block live;
    chroprof_options o = options_of(true);
    harness_output *first = (harness_output *)malloc(sizeof *first);
    chroprof p, view;
    uint64_t t = 0, n;
    CHECK(first != NULL);
    CHECK_EQ(chroprof_init(&p, live.bytes, SIZE, &o), CHROPROF_OK);
    for (n = 0; n < 60; n++) {
        chapter(&p, n, &t);
        if (n % 4 == 1)
            chroprof_event(&p, CHROPROF_RUNNING, 3, NULL, t + 5);
        snapshot_of(&view, live.bytes);
        CHECK_EQ(totals_of(&view).skew_events, 0);
        CHECK_EQ(totals_of(&view).doubt_events, 0);
        memcpy(first, written(&p, CHROPROF_JSON), sizeof *first);
        CHECK_STR(written(&view, CHROPROF_JSON)->bytes, first->bytes);
    }
    free(first);
}

TEST(memory_of_any_alignment_takes_a_copy)
{
    static block live;
    static unsigned char memory[SIZE + 64];
    chroprof_options o = options_of(true);
    chroprof p, view;
    uint64_t t = 0;
    size_t shift;
    CHECK_EQ(chroprof_init(&p, live.bytes, SIZE, &o), CHROPROF_OK);
    chapter(&p, 1, &t);
    for (shift = 0; shift < 64; shift++) {
        CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, memory + shift, SIZE), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&view, memory + shift, SIZE), CHROPROF_OK);
        laws(&view);
    }
}

TEST(a_copy_that_cannot_be)
{
    static block live, copy;
    chroprof_options o = options_of(true);
    chroprof p;
    size_t size, at;
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, copy.bytes, SIZE), CHROPROF_ERR_FORMAT);
    CHECK_EQ(chroprof_init(&p, live.bytes, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_snapshot(NULL, SIZE, copy.bytes, SIZE), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, NULL, SIZE), CHROPROF_ERR_ARGUMENT);
    at = 64 + (64 - (uintptr_t)live.bytes % 64) % 64;
    for (size = 0; size < chroprof_memory_size(&o) - 127; size += 13) {
        unsigned char *memory = (unsigned char *)malloc(size + 1);
        CHECK(memory != NULL);
        memcpy(memory, live.bytes, size);
        CHECK_EQ(chroprof_snapshot(live.bytes, SIZE, memory, size), CHROPROF_ERR_MEMORY);
        memcpy(memory, live.bytes, size);
        CHECK_EQ(chroprof_snapshot(memory, size, copy.bytes, SIZE),
                 size < at + 8 ? CHROPROF_ERR_FORMAT : CHROPROF_ERR_TRUNCATED);
        free(memory);
    }
}

/* >>stopped inside an event, at every single instruction that changed the block */

#if defined(__linux__)

typedef struct film {
    block *frames;
    size_t count;
} film;

static void child_of_steps(chroprof *p, uint64_t chapters)
{
    uint64_t t = 0, n;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1); /* an emulator, or not allowed */
    raise(SIGSTOP);
    for (n = 0; n < chapters; n++) {
        chapter(p, n, &t);
        if (n % 4 == 2) {
            mark();
            chroprof_site_make(p, n % 8 == 2 ? "made" : "made later", "made.c", (uint32_t)n);
            mark();
        }
        if (n % 11 == 9) {
            the_calls(NULL)->resets = 1;
            mark();
            chroprof_reset(p);
            mark();
            the_calls(NULL)->resets = 0;
        }
        if (n % 13 == 5) {
            mark();
            chroprof_set_enabled(p, false);
            mark(), mark();
            chroprof_set_enabled(p, true);
            mark();
        }
    }
    _exit(0);
}

static uint64_t word_at(const block *b, size_t at)
{
    uint64_t word;
    memcpy(&word, b->bytes + at, sizeof word);
    return word;
}

static bool between(uint64_t value, uint64_t a, uint64_t b, uint64_t slack)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return value + slack >= low && value <= high + slack;
}

#define BETWEEN(field, slack)                                                                      \
    do {                                                                                           \
        if (!between(now->field, before->field, after->field, slack))                              \
            harness_fail(__FILE__, __LINE__,                                                       \
                         "%s: %s is %" PRIu64 ", before %" PRIu64 ", after %" PRIu64, what,        \
                         #field, now->field, before->field, after->field);                         \
    } while (0)

static void path_between(const char *what, const chroprof_path *now, const chroprof_path *before,
                         const chroprof_path *after)
{
    BETWEEN(exec_ns, 0);
    BETWEEN(calls, 1); /* a call of an enter-frame is counted when it ends: at that */
    BETWEEN(live, 1);  /* moment it may be one that lives as well */
    BETWEEN(completed, 1);
    BETWEEN(failed, 0);
    BETWEEN(cancelled, 0);
    BETWEEN(abandoned, 0);
    BETWEEN(dropped, 0);
    BETWEEN(stillborn, 0);
    BETWEEN(slices, 1);
}

/* Its trace goes up to its last step at least, and each begin has its end. */
static void check_last_step(chroprof *view)
{
    const char *text = trace_of(view), *end = text, *next = text;
    uint64_t cursor = 0;
    chroprof_step step;
    unsigned long us = 0;
    unsigned ns = 0;
    memset(&step, 0, sizeof step);
    while (chroprof_next_step(view, &cursor, &step)) {}
    while ((next = strstr(next + 1, "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":")) != NULL)
        end = next;
    CHECK(end == text ||
          sscanf(end, "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%lu.%u", &us, &ns) == 2);
    CHECK(us * UINT64_C(1000) + ns >= step.at_ns);
    CHECK_EQ(count_of(text, "{\"ph\":\"B\""), count_of(text, "{\"ph\":\"E\""));
    CHECK_EQ(count_of(text, "{\"ph\":\"b\""), count_of(text, "{\"ph\":\"e\""));
}

typedef struct picture {
    chroprof_totals totals;
    chroprof_path paths[32];
    size_t count;
    chroprof_step newest;
    chroprof_stall stalls[4];
    chroprof_step steps[4][CHROPROF_INCIDENT_STEPS]; /* of these */
} picture;

static void take_picture(picture *out, const block *b)
{
    chroprof view;
    uint64_t cursor = 0;
    size_t k;
    snapshot_of(&view, b->bytes);
    memset(out, 0, sizeof *out);
    out->totals = totals_of(&view);
    out->count = chroprof_paths(&view, out->paths, 32);
    CHECK(out->count <= 32);
    while (chroprof_next_step(&view, &cursor, &out->newest)) {}
    check_last_step(&view);
    CHECK(chroprof_stalls(&view, out->stalls, 4) <= 4);
    for (k = 0; k < 4; k++)
        CHECK_EQ(
            chroprof_incident(&view, out->stalls[k].number, out->steps[k], CHROPROF_INCIDENT_STEPS),
            out->stalls[k].step_count);
}

static const chroprof_path *path_in(const picture *of, uint32_t id)
{
    static chroprof_path none; /* zeros */
    size_t i;
    for (i = 0; i < of->count; i++)
        if (of->paths[i].id == id)
            return &of->paths[i];
    return &none;
}

/* The newest step is the event under way, or the one before. */
static bool same_newest(const picture *a, const picture *b)
{
    return a->newest.id == b->newest.id && a->newest.state == b->newest.state &&
           a->newest.path == b->newest.path && a->newest.depth == b->newest.depth;
}

static bool has_steps_of(const picture *of, const picture *now, size_t stall)
{
    size_t k;
    for (k = 0; k < 4; k++)
        if (of->stalls[k].number == now->stalls[stall].number &&
            of->stalls[k].step_count == now->stalls[stall].step_count &&
            memcmp(of->steps[k], now->steps[stall], sizeof of->steps[k]) == 0)
            return true;
    return false;
}

/* A stall has the steps that it had, or those that it is being given, or none. */
static void judge_steps(const picture *now, const picture *before, const picture *after)
{
    size_t k;
    CHECK(same_newest(now, before) || same_newest(now, after));
    for (k = 0; k < 4; k++)
        CHECK(now->stalls[k].step_count == 0 || has_steps_of(before, now, k) ||
              has_steps_of(after, now, k));
}

/* A copy from the middle of an event shows what was before, or what came after, or, figure by
 * figure, something between. */
static void judge_frame(const picture *now, const picture *before, const picture *after)
{
    char what[32];
    size_t i;
    CHECK_IN(now->totals.elapsed_ns, before->totals.elapsed_ns, after->totals.elapsed_ns);
    CHECK_IN(now->totals.events, before->totals.events, after->totals.events);
    CHECK_IN(now->totals.doubt_events, 0, 1);
    CHECK_EQ(now->totals.skew_events, 0);
    CHECK(now->totals.doubt_ns <= after->totals.elapsed_ns);
    judge_steps(now, before, after);
    for (i = 0; i < now->count; i++) {
        const chroprof_path *path = &now->paths[i];
        snprintf(what, sizeof what, "path %u %.16s", path->id, path->name);
        path_between(what, path, path_in(before, path->id), path_in(after, path->id));
    }
}

/* lifetime, delay and blame are told apart: how many copies have one that is not between. */
static unsigned long count_torn(const picture *now, const picture *before, const picture *after)
{
    unsigned long torn = 0;
    size_t i;
    for (i = 0; i < now->count; i++) {
        const chroprof_path *n = &now->paths[i], *b = path_in(before, n->id);
        const chroprof_path *a = path_in(after, n->id);
        uint64_t own = after->totals.elapsed_ns - before->totals.elapsed_ns;
        torn += !between(n->lifetime_ns, b->lifetime_ns, a->lifetime_ns, own * (n->live + 1)) ||
                !between(n->delay_ns, b->delay_ns, a->delay_ns, own * (n->live + 1)) ||
                !between(n->blame_ns, b->blame_ns, a->blame_ns, own * 24);
    }
    return torn != 0;
}

/* Of the states of an event, one in so many is looked at: more with SHARE=1. */
static size_t every_so_many(void)
{
    return (size_t)(harness_number("SHARE") + 3) / 4;
}

static void judge_film(const film *f, const block *first, const block *last, bool reset,
                       unsigned long *frames, unsigned long *torn)
{
    static picture before, after, now;
    size_t i, step = every_so_many();
    take_picture(&before, first);
    take_picture(&after, last);
    for (i = f->count % step; i < f->count; i += step) {
        take_picture(&now, &f->frames[i]);
        if (reset) { /* before it, or after it */
            CHECK(now.totals.elapsed_ns == 0 || now.totals.elapsed_ns == before.totals.elapsed_ns);
            continue;
        }
        judge_frame(&now, &before, &after);
        *torn += count_torn(&now, &before, &after);
        ++*frames;
    }
}

/* Runs the child instruction by instruction. Keeps what the block was at each change. */
static void watch(pid_t child, const block *live, const calls *marks, unsigned long *frames,
                  unsigned long *torn)
{
    static block before, previous;
    film f = { NULL, 0 };
    int status = 0;
    CHECK_EQ(word_at(live, 64), UINT64_C(0x31464F5250524843));
    f.frames = (block *)malloc(STEPS * sizeof *f.frames);
    CHECK(f.frames != NULL);
    before = previous = *live;
    for (;;) {
        CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        if (memcmp(live, &previous, sizeof previous) != 0) {
            previous = *live;
            CHECK(f.count < STEPS);
            f.frames[f.count++] = previous;
        }
        if (marks->number % 2 != 0 || f.count == 0)
            continue;
        judge_film(&f, &before, &previous, marks->resets != 0, frames, torn);
        f.count = 0;
        before = previous;
    }
    free(f.frames);
}

TEST(stopped_at_every_instruction)
{
    chroprof_options o = options_of(true);
    block *live = (block *)shared_memory(sizeof *live);
    calls *marks = (calls *)shared_memory(sizeof *marks);
    unsigned long frames = 0, torn = 0;
    chroprof p;
    int status;
    pid_t child;
    CHECK_EQ(chroprof_init(&p, live->bytes, SIZE, &o), CHROPROF_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        the_calls(marks);
        child_of_steps(&p, 14 * rounds());
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) {
        munmap(live, sizeof *live);
        SKIP("this system does not let a parent trace its child");
    }
    watch(child, live, marks, &frames, &torn);
    printf(
        "# %lu states inside an event, %lu of them with a lifetime, delay or blame that is torn\n",
        frames, torn);
    CHECK(frames * every_so_many() > 1000);
    CHECK(torn <= frames / 10);
    munmap(live, sizeof *live);
}

#endif

/* >>busy blocks: events come in between whenever the reader steps from page to page */

#if defined(__linux__)

typedef struct stage {
    unsigned char *live; /* as the reader sees it */
    size_t size;
    chroprof p; /* writes through another mapping */
    uint64_t random, t, n;
    unsigned disturb; /* of 64 steps, how many bring events */
    unsigned long chapters;
} stage;

static stage *the_stage(void)
{
    static stage s;
    return &s;
}

/* The page becomes readable, all others do not. */
static void on_step(int number, siginfo_t *info, void *context)
{
    stage *s = the_stage();
    unsigned char *at = (unsigned char *)info->si_addr;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)number;
    (void)context;
    if (at < s->live || at >= s->live + s->size)
        _exit(99);
    if (random_below(&s->random, 64) < s->disturb) {
        chapter(&s->p, s->n++, &s->t);
        s->chapters++;
        if (s->n % 3 == 0)
            chroprof_site_make(&s->p, s->n % 2 ? "odd" : "even", "made.c", (uint32_t)s->n);
    }
    mprotect(s->live, s->size, PROT_NONE);
    mprotect(s->live + (size_t)(at - s->live) / page * page, page, PROT_READ);
}

static void set_the_stage(stage *s)
{
    chroprof_options o = options_of(true);
    FILE *file = fopen(scratch("stage"), "w+");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *other;
    memset(s, 0, sizeof *s);
    s->size = (SIZE + page - 1) / page * page;
    CHECK(file != NULL);
    CHECK_EQ(ftruncate(fileno(file), (off_t)s->size), 0);
    s->live = (unsigned char *)mmap(NULL, s->size, PROT_NONE, MAP_SHARED, fileno(file), 0);
    other = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    CHECK(s->live != MAP_FAILED && other != MAP_FAILED);
    fclose(file);
    CHECK_EQ(chroprof_init(&s->p, other, SIZE, &o), CHROPROF_OK);
    s->random = harness()->seed;
}

/* What happened since the copy before, whose laws hold as well, however far rows are apart. */
static void difference_since(const chroprof *view, const block *older)
{
    static block result;
    chroprof before, d;
    CHECK_EQ(chroprof_open(&before, older->bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_difference(view, &before, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(laws_broken(&d), 0);
    CHECK_EQ(totals_of(&d).elapsed_ns, totals_of(view).elapsed_ns - totals_of(&before).elapsed_ns);
    CHECK(totals_of(&d).blame_ns <= totals_of(view).blame_ns);
}

TEST(events_between_the_rows)
{
    static block older;
    stage *s = the_stage();
    unsigned long i, skewed = 0;
    struct sigaction action, old;
    chroprof view;
    memset(&action, 0, sizeof action);
    memset(&old, 0, sizeof old);
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    random_seed(11);
    set_the_stage(s);
    sigaction(SIGSEGV, &action, &old);
    for (i = 0; i < share(100); i++) {
        chroprof_totals before = totals_of(&s->p), after, t;
        mprotect(s->live, s->size, PROT_NONE);
        s->disturb = (unsigned)(i % 9);
        snapshot_of(&view, s->live);
        after = totals_of(&s->p);
        t = totals_of(&view);
        skewed += t.skew_events != 0;
        CHECK_IN(t.elapsed_ns, before.elapsed_ns, after.elapsed_ns);
        CHECK_IN(t.events, before.events, after.events);
        CHECK(t.events + t.skew_events <= after.events);
        CHECK(t.skew_ns <= after.elapsed_ns - before.elapsed_ns);
        CHECK_EQ(t.doubt_events, 0);
        CHECK(i % 8 != 0 || written(&view, CHROPROF_JSON)->used > 0);
        if (i % 50 != 0)
            difference_since(&view, &older);
        older = *last_copy();
        if (i % 50 == 49)
            chroprof_reset(&s->p);
    }
    sigaction(SIGSEGV, &old, NULL);
    printf("# %lu copies, %lu of them with events in between\n", i, skewed);
    CHECK(skewed > i / 4);
}

#endif

/* Goes on until it is killed. */
static void child_of_life(void *memory, bool hurry)
{
    chroprof_options o = options_of(false);
    char name[24];
    chroprof p;
    uint64_t n, t = 0;
    if (chroprof_init(&p, memory, SIZE, &o) != CHROPROF_OK)
        _exit(1);
    for (n = 0;; n++) {
        chapter(&p, n, &t);
        if (n % 4096 == 0 && getppid() == 1)
            _exit(1); /* the test was killed: nobody else ends this child */
        if (n % 1000 == 0) {
            snprintf(name, sizeof name, "made %u", (unsigned)(n / 1000 % 40));
            chroprof_enter(&p, chroprof_site_make(&p, name, "made.c", 3));
            chroprof_leave(&p);
        }
        if (!hurry && n % 8 == 0)
            usleep(50);
        if (n % 100000 == 99999)
            chroprof_reset(&p);
    }
}

static void end_child(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

static pid_t start_life(void *memory, bool hurry)
{
    pid_t child;
    memset(memory, 0, SIZE);
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        child_of_life(memory, hurry);
    while (*((volatile uint64_t *)memory + 8) != UINT64_C(0x31464F5250524843))
        CHECK_EQ(waitpid(child, NULL, WNOHANG), 0);
    return child;
}

/* None ends before it starts, whatever was amid its change. */
static void check_windows(const chroprof *p)
{
    static chroprof_window windows[64];
    size_t k, count = chroprof_windows(p, windows, 64);
    for (k = 0; k < count && k < 64; k++)
        CHECK(windows[k].start_ns <= windows[k].end_ns);
    for (k = 1; k < count && k < 64; k++)
        CHECK_EQ(windows[k].start_ns, windows[k - 1].end_ns);
}

static void snapshots_under_load(bool hurry, unsigned long count)
{
    void *live = shared_memory(SIZE);
    pid_t child = start_life(live, hurry);
    unsigned long i, exact = 0;
    uint64_t skew = 0, torn = 0;
    chroprof view;
    for (i = 0; i < count; i++) {
        snapshot_of(&view, live);
        exact += totals_of(&view).skew_events == 0;
        torn += totals_of(&view).doubt_events;
        skew += totals_of(&view).skew_events;
        check_windows(&view);
        written(&view, i % 16 ? CHROPROF_FOLDED : CHROPROF_JSON); /* the writer must succeed */
    }
    printf("# %lu copies: %lu exact, %" PRIu64 " events apart in all, %" PRIu64 " torn\n", count,
           exact, skew, torn);
    end_child(child);
    munmap(live, SIZE);
}

TEST(copies_of_a_busy_block)
{
    snapshots_under_load(false, share(100000));
}
TEST(copies_of_a_block_in_a_hurry)
{
    snapshots_under_load(true, share(50000));
}

/* >>killed blocks */

TEST(killed_at_random_moments)
{
    void *live = shared_memory(SIZE);
    unsigned long i, cut = 0;
    uint64_t state;
    chroprof view;
    random_seed(6);
    state = harness()->seed;
    for (i = 0; i < share(1000); i++) {
        struct timespec pause = { 0, 0 };
        pid_t child = start_life(live, true);
        pause.tv_nsec = (long)random_below(&state, 300000);
        nanosleep(&pause, NULL);
        end_child(child);
        snapshot_of(&view, live);
        CHECK_EQ(totals_of(&view).skew_events, 0);
        if (has_command())
            check_last_step(&view);
        cut += totals_of(&view).doubt_events != 0;
    }
    printf("# %lu killed, %lu of them inside an event\n", i, cut);
    CHECK(cut > 0);
    munmap(live, SIZE);
}

/* >>programs that hang */

#if defined(__linux__)

typedef struct hang {
    unsigned char *live;
    pid_t child;
} hang;

static uint64_t now_ns(void)
{
    struct timespec t;
    CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_ms(long ms)
{
    struct timespec pause = { 0, 0 };
    pause.tv_nsec = ms * 1000000;
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ;
}

/* When a program began, as /proc tells: in ticks since the boot; 0: it does not tell. */
static unsigned long long start_of(const char *path)
{
    char text[1024];
    const char *at;
    FILE *in = fopen(path, "r");
    size_t count = in ? fread(text, 1, sizeof text - 1, in) : 0;
    int field;
    if (in)
        fclose(in);
    text[count] = 0;
    at = strrchr(text, ')'); /* the second field, which may have anything in it */
    for (field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* A snapshot knows a living program by when it began. An emulator tells the program itself another
 * time than it tells the others of it. */
static void need_starts(void)
{
    char path[64];
    unsigned long long *own = (unsigned long long *)shared_memory(sizeof *own), seen;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        *own = start_of("/proc/self/stat");
        _exit(0);
    }
    CHECK_EQ(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
    sprintf(path, "/proc/%ld/stat", (long)child);
    seen = start_of(path);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    if (seen == 0 || seen != *own)
        SKIP("programs here don't know when they began");
    munmap(own, sizeof *own);
}

/* A child that stays where it is: in A, or idle. */
static hang start_hang(bool idle, bool manual)
{
    hang h;
    chroprof_options o = options_of(false);
    calls *ready = (calls *)shared_memory(sizeof *ready);
    need_starts();
    o.clock = manual ? chroprof_clock_manual : NULL;
    h.live = (unsigned char *)shared_memory(SIZE);
    fflush(stdout);
    h.child = fork();
    CHECK(h.child >= 0);
    if (h.child == 0) {
        chroprof p;
        if (chroprof_init(&p, h.live, SIZE, &o) != CHROPROF_OK)
            _exit(1);
        chroprof_pending(&p, 7, &B);
        chroprof_ready(&p, 7);
        chroprof_enter(&p, &A);
        if (idle) {
            chroprof_leave(&p);
            chroprof_idle_enter(&p);
        }
        ready->number = 1;
        while (getppid() != 1)
            wait_ms(50);
        _exit(1);
    }
    while (ready->number == 0)
        CHECK_EQ(waitpid(h.child, NULL, WNOHANG), 0);
    munmap(ready, sizeof *ready);
    wait_ms(40);
    return h;
}

static void end_hang(const hang *h)
{
    end_child(h->child);
    munmap(h->live, SIZE);
}

/* Two snapshots, 60 ms apart or more; the first one stays in *older. Returns what A took in
 * between, as both and their difference say. */
static uint64_t grown(const hang *h, block *older, chroprof_totals *since)
{
    static block result;
    chroprof a, b, d;
    uint64_t exec, begin, passed;
    snapshot_of(&a, h->live);
    *older = *last_copy();
    begin = now_ns();
    wait_ms(60);
    passed = now_ns() - begin;
    CHECK_EQ(chroprof_open(&a, older->bytes, SIZE), CHROPROF_OK);
    snapshot_of(&b, h->live);
    CHECK_EQ(chroprof_difference(&b, &a, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(laws_broken(&d), 0);
    *since = totals_of(&d);
    exec = rank_of(&b, A.name).exec_ns - rank_of(&a, A.name).exec_ns;
    CHECK_EQ(totals_of(&b).living, totals_of(&a).living);
    CHECK(!totals_of(&b).living || since->elapsed_ns >= passed - passed / 8);
    CHECK_IN(rank_of(&d, A.name).exec_ns, exec - (exec > 0), exec + 1);
    return exec;
}

TEST(a_hang_is_seen_while_it_lasts)
{
    static block older;
    hang h = start_hang(false, false);
    chroprof_totals since;
    chroprof_origin origin;
    chroprof view;
    int status;
    CHECK(grown(&h, &older, &since) >= 50000000);
    CHECK(since.delay_ns >= 50000000 && since.busy_ns == since.elapsed_ns);
    kill(h.child, SIGSTOP);
    CHECK_EQ(waitpid(h.child, &status, WUNTRACED), h.child);
    CHECK(WIFSTOPPED(status) && grown(&h, &older, &since) >= 50000000);
    snapshot_of(&view, h.live);
    CHECK(totals_of(&view).living && rank_of(&view, A.name).slice_max_ns >= 120000000);
    CHECK_EQ(totals_of(&view).events, 3);
    chroprof_read_origin(&view, &origin);
    CHECK(origin.end_ns + 120000000 <= totals_of(&view).elapsed_ns);
    end_hang(&h);
}

TEST(a_dead_program_ends_at_its_last_event)
{
    static block older, zombie, result;
    hang h = start_hang(false, false);
    chroprof_totals since;
    chroprof view, before, d;
    siginfo_t facts;
    CHECK(grown(&h, &older, &since) > 0);
    kill(h.child, SIGKILL);
    memset(&facts, 0, sizeof facts);
    CHECK_EQ(waitid(P_PID, (id_t)h.child, &facts, WEXITED | WNOWAIT), 0);
    CHECK_EQ(grown(&h, &zombie, &since), 0);
    CHECK_EQ(waitpid(h.child, NULL, 0), h.child);
    snapshot_of(&view, h.live);
    CHECK(!totals_of(&view).living);
    CHECK_EQ(rank_of(&view, A.name).exec_ns, 0);
    CHECK_EQ(chroprof_open(&before, older.bytes, SIZE), CHROPROF_OK);
    CHECK(totals_of(&before).living);
    CHECK_EQ(chroprof_difference(&view, &before, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&d, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(laws_broken(&d), 0);
    CHECK_EQ(totals_of(&d).elapsed_ns, 0);
    munmap(h.live, SIZE);
}

/* Up to its end: to whoever has seen it, what was on top went on until then. */
TEST(a_program_that_just_ended)
{
    static block older, result;
    hang h = start_hang(false, false);
    chroprof_totals since;
    chroprof view, before;
    CHECK(grown(&h, &older, &since) > 0);
    end_child(h.child);
    CHECK_EQ(chroprof_snapshot_ended(h.live, SIZE, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, result.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&before, older.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(laws_broken(&view), 0);
    CHECK(totals_of(&view).living);
    CHECK_EQ(totals_of(&view).events, 3);
    CHECK(rank_of(&view, A.name).exec_ns >= rank_of(&before, A.name).exec_ns + 60000000);
    munmap(h.live, SIZE);
}

TEST(an_idle_program_is_idle_up_to_now)
{
    static block older;
    hang h = start_hang(true, false);
    chroprof_totals since;
    CHECK_EQ(grown(&h, &older, &since), 0);
    CHECK(since.idle_ns >= 50000000 && since.idle_ns == since.elapsed_ns);
    end_hang(&h);
}

TEST(a_clock_that_nobody_else_can_read)
{
    static block older;
    hang h = start_hang(false, true);
    chroprof_totals since;
    CHECK_EQ(grown(&h, &older, &since), 0);
    CHECK_EQ(since.elapsed_ns, 0);
    end_hang(&h);
}

#endif

static const test_case tests[] = {
    CASE(a_quiet_block_is_copied_exactly),
    CASE(memory_of_any_alignment_takes_a_copy),
    CASE(a_copy_that_cannot_be),
#if defined(__linux__)
    CASE(stopped_at_every_instruction),
#endif
#if defined(__linux__)
    CASE(events_between_the_rows),
#endif
    CASE(copies_of_a_busy_block),
    CASE(copies_of_a_block_in_a_hurry),
    CASE(killed_at_random_moments),
#if defined(__linux__)
    CASE(a_hang_is_seen_while_it_lasts),
    CASE(a_dead_program_ends_at_its_last_event),
    CASE(a_program_that_just_ended),
    CASE(an_idle_program_is_idle_up_to_now),
    CASE(a_clock_that_nobody_else_can_read),
#endif
};
TEST_MAIN(tests)
