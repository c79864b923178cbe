/* tests/test_stopped.c - each public call that writes, stopped after every single instruction: what
 * it leaves behind opens and is consistent, and is either what was before the call, or what came
 * after it, or says that it is torn. (Events are in test_snapshot.c.) */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };

enum { SIZE = 64 << 10 };

typedef union block {
    uint64_t word;
    unsigned char bytes[SIZE];
} block;

static chroprof_options options_of(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = 12;
    o.max_sites = 8;
    o.max_paths = 16;
    o.max_edges = 24;
    o.max_depth = 6;
    o.max_histograms = 2;
    o.max_windows = 6;
    o.max_stalls = 3;
    o.max_samples = 8;
    o.string_bytes = 200;
    o.max_events = 64;
    o.max_slow = 2;
    o.max_incidents = 1;
    o.window_ns = 300;
    o.stall_ns = 200;
    return o;
}

/* What a profile holds before the call. */
static uint64_t live(chroprof *p, uint64_t t)
{
    uint64_t id;
    for (id = 1; id <= 5; id++) {
        chroprof_event(p, CHROPROF_PENDING, id, id % 2 ? &A : &B, t += 10);
        chroprof_event(p, CHROPROF_READY, id, NULL, t += 7);
        chroprof_event(p, CHROPROF_ENTER, 0, &C, t += 3);
        chroprof_sample(p, t, id);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += 90 * id);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += 4);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 40);
    }
    chroprof_event(p, CHROPROF_RUNNING, 1, NULL, t += 5);
    chroprof_event(p, CHROPROF_COMPLETED, 1, NULL, t += 250);
    return t;
}

/* With frames on the stack, one of them an orphan. */
static void run_on(chroprof *p, uint64_t t)
{
    chroprof_event(p, CHROPROF_RUNNING, 2, NULL, t += 5);
    chroprof_event(p, CHROPROF_LOOP_ENTER, 0, NULL, t += 5);
    chroprof_event(p, CHROPROF_RUNNING, 3, NULL, t += 5);
    chroprof_event(p, CHROPROF_ENTER, 0, &C, t += 5);
    chroprof_event(p, CHROPROF_COMPLETED, 3, NULL, t += 5);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, t + 5);
}

/* Finished ones alone, as a target of merges needs. */
static void finish_all(chroprof *p, uint64_t t)
{
    uint64_t id;
    for (id = 2; id <= 5; id++)
        chroprof_event(p, CHROPROF_CANCELLED, id, NULL, t += 9);
}

/* >>watching: the child stops at each instruction; each new state of its block is judged */

typedef struct watched {
    block *live;
    const char *path;         /* of a file that the call makes, until it is there */
    volatile uint64_t *marks; /* odd: inside the call */
    bool clocked;             /* copies go up to now: only the calendar is looked at */
    unsigned long states, torn;
} watched;

typedef struct picture {
    chroprof_totals totals;
    chroprof_path paths[20];
    size_t count;
} picture;

static block copy;

/* False: it is no block yet, or none any more. */
static bool take_picture(picture *out, const block *b, bool whole)
{
    chroprof view;
    chroprof_result result = chroprof_snapshot(b->bytes, SIZE, copy.bytes, SIZE);
    memset(out, 0, sizeof *out);
    if (!whole && result == CHROPROF_ERR_FORMAT)
        return false;
    CHECK_EQ(result, CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy.bytes, SIZE), CHROPROF_OK);
    CHECK_STR(chroprof_check(&view) ? chroprof_check(&view) : "", "");
    out->totals = totals_of(&view);
    CHECK_EQ(out->totals.elapsed_ns,
             out->totals.busy_ns + out->totals.idle_ns + out->totals.uninstrumented_ns);
    out->count = chroprof_paths(&view, out->paths, 20);
    (void)written(&view, CHROPROF_JSON);
    return true;
}

static bool same_paths(const picture *a, const picture *b)
{
    size_t i;
    for (i = 0; i < a->count && i < b->count; i++) {
        const chroprof_path *x = &a->paths[i], *y = &b->paths[i];
        if (x->id != y->id || x->exec_ns != y->exec_ns || x->calls != y->calls ||
            x->live != y->live || x->delay_ns != y->delay_ns || x->blame_ns != y->blame_ns ||
            x->lifetime_ns != y->lifetime_ns || x->slices != y->slices)
            return false;
    }
    return a->count == b->count;
}

/* The figures of all paths, and what is live, ready or on the stack. */
static bool same(const picture *a, const picture *b)
{
    const chroprof_totals *x = &a->totals, *y = &b->totals;
    return same_paths(a, b) && x->elapsed_ns == y->elapsed_ns && x->events == y->events &&
           x->live == y->live && x->delay_ns == y->delay_ns && x->blame_ns == y->blame_ns &&
           x->depth == y->depth && x->stalls == y->stalls && x->callbacks == y->callbacks &&
           x->start_unix_ns == y->start_unix_ns;
}

/* States of the call that were kept, to be judged once it is known what came after it. */
typedef struct film {
    picture *frames;
    size_t count, room;
} film;

static void keep_frame(film *f, const block *b, bool whole)
{
    if (f->count == f->room) {
        f->room = 2 * f->room + 64;
        f->frames = (picture *)realloc(f->frames, f->room * sizeof *f->frames);
        CHECK(f->frames != NULL);
    }
    f->count += take_picture(&f->frames[f->count], b, whole);
}

static bool same_begin(const picture *a, const picture *b)
{
    return a->totals.start_unix_ns == b->totals.start_unix_ns;
}

static void judge(watched *w, film *f, const picture *before, const picture *after)
{
    size_t i;
    for (i = 0; i < f->count; i++) {
        const picture *now = &f->frames[i];
        bool told = now->totals.doubt_events != 0;
        bool good = w->clocked ? same_begin(now, before) || same_begin(now, after)
                               : same(now, before) || same(now, after);
        if (!told && !good)
            harness_fail(__FILE__, __LINE__,
                         "state %lu of the call is neither what was before nor "
                         "what came after, and does not say so",
                         (unsigned long)i);
        w->torn += told;
    }
    w->states += f->count;
    f->count = 0;
}

/* The file, as soon as it has its name. */
static bool find_block(watched *w)
{
    void *memory;
    int file = w->live == NULL ? open(w->path, O_RDONLY) : -1;
    if (file < 0)
        return w->live != NULL;
    memory = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED);
    close(file);
    w->live = (block *)memory;
    return true;
}

/* One more instruction. False: the child has ended. */
static bool one_step(pid_t child)
{
    int status = 0;
    CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFSTOPPED(status);
}

/* Up to where there is a block. */
static void await_block(watched *w, pid_t child)
{
    while (!find_block(w))
        CHECK(one_step(child));
}

/* whole: there is a block from the start on. */
static void watch(watched *w, pid_t child, bool whole)
{
    static block previous;
    picture before, after;
    film f = { NULL, 0, 0 };
    uint64_t mark;
    bool block_before;
    await_block(w, child);
    mark = *w->marks;
    block_before = take_picture(&before, w->live, whole);
    previous = *w->live;
    while (one_step(child)) {
        bool changed = memcmp(w->live, &previous, sizeof previous) != 0;
        if (changed && *w->marks % 2 != 0)
            keep_frame(&f, w->live, whole);
        if (changed)
            previous = *w->live;
        if (*w->marks == mark || *w->marks % 2 != 0)
            continue;
        mark = *w->marks;
        CHECK(take_picture(&after, w->live, true));
        judge(w, &f, block_before ? &before : &after, &after);
        before = after;
        block_before = true;
    }
    free(f.frames);
}

typedef struct call {
    chroprof *p;
    const chroprof *other;
    void *memory;
    volatile uint64_t *marks;
    const char *path;
    uint64_t t; /* of the last event */
    bool clocked;
} call;

#define MARKED(call, what)                                                                         \
    do {                                                                                           \
        ++*(call)->marks;                                                                          \
        what;                                                                                      \
        ++*(call)->marks;                                                                          \
    } while (0)

static void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Runs it in a child that is watched. Says how many states there were. */
static unsigned long run_watched(void (*run)(call *c), call *c, block *live_block, bool whole)
{
    watched w;
    int status = 0;
    pid_t child;
    memset(&w, 0, sizeof w);
    w.live = live_block;
    w.path = c->path;
    w.clocked = c->clocked;
    w.marks = c->marks = (volatile uint64_t *)shared_memory(4096);
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1); /* an emulator, or not allowed */
        raise(SIGSTOP);
        run(c);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        SKIP("this system does not let a parent trace its child");
    watch(&w, child, whole);
    printf("# %lu states, %lu of them say that they are torn\n", w.states, w.torn);
    munmap((void *)(uintptr_t)c->marks, 4096);
    return w.states;
}

static block *prepare(chroprof *p, uint64_t *t)
{
    chroprof_options o = options_of();
    block *b = (block *)shared_memory(sizeof *b);
    CHECK_EQ(chroprof_init(p, b->bytes, SIZE, &o), CHROPROF_OK);
    *t = live(p, 1000);
    return b;
}

/* >>calls */

static void resets(call *c)
{
    MARKED(c, chroprof_reset(c->p));
    MARKED(c, chroprof_reset(c->p));
}

TEST(a_reset_stopped_anywhere)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    CHECK(run_watched(resets, &c, b, true) > 100);
    munmap(b, sizeof *b);
}

TEST(a_reset_with_frames_on_the_stack)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    run_on(&p, t);
    CHECK(run_watched(resets, &c, b, true) > 100);
    munmap(b, sizeof *b);
}

/* The profile begins at the moment of the reset, or where it began before. */
TEST(a_reset_and_the_calendar)
{
    chroprof_options o;
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, true };
    block *b = (block *)shared_memory(sizeof *b);
    memset(&o, 0, sizeof o);
    CHECK_EQ(chroprof_init(&p, b->bytes, SIZE, &o), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    CHECK(run_watched(resets, &c, b, true) > 20);
    munmap(b, sizeof *b);
}

static void switches(call *c)
{
    MARKED(c, chroprof_set_enabled(c->p, false));
    MARKED(c, chroprof_set_enabled(c->p, true));
}

TEST(off_and_on_stopped_anywhere)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    run_on(&p, t);
    CHECK(run_watched(switches, &c, b, true) > 20);
    munmap(b, sizeof *b);
}

static void merges(call *c)
{
    MARKED(c, CHECK_EQ(chroprof_merge(c->p, c->other), CHROPROF_OK));
}

TEST(a_merge_stopped_anywhere)
{
    static block other;
    chroprof_options o = options_of();
    chroprof p, q, view;
    call c = { &p, &view, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    finish_all(&p, t);
    CHECK_EQ(chroprof_init(&q, other.bytes, SIZE, &o), CHROPROF_OK);
    run_on(&q, live(&q, 77));
    CHECK_EQ(chroprof_open(&view, other.bytes, SIZE), CHROPROF_OK);
    CHECK(run_watched(merges, &c, b, true) > 100);
    munmap(b, sizeof *b);
}

static void names(call *c)
{
    MARKED(c, chroprof_site_make(c->p, "made", "made.c", 1));
    MARKED(c, chroprof_site_make(c->p,
                                 "made later, and longer than there is room for in the table "
                                 "of the strings, which is not large, and has names already",
                                 "made.c", 2));
}

TEST(a_site_made_stopped_anywhere)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    CHECK(run_watched(names, &c, b, true) > 20);
    munmap(b, sizeof *b);
}

static void samples(call *c)
{
    MARKED(c, chroprof_sample(c->p, c->t + 3, 5));
    MARKED(c, chroprof_event(c->p, CHROPROF_TICK, 0, NULL, c->t + 9));
}

TEST(a_sample_stopped_anywhere)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    run_on(&p, t);
    c.t = t + 40;
    CHECK(run_watched(samples, &c, b, true) > 20);
    munmap(b, sizeof *b);
}

#if !defined(CHROPROF_NO_SAMPLER)
static void sampling(call *c)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof o);
    o.period_ns = UINT64_C(1000000000) * 3600; /* no tick comes */
    MARKED(c, if (chroprof_sampler_start(c->p, &o) != CHROPROF_OK) _exit(0));
    MARKED(c, chroprof_sampler_stop(c->p));
}

TEST(a_sampler_that_starts_and_stops)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    run_on(&p, t);
    if (chroprof_sampler_start(&p, NULL) == CHROPROF_ERR_SAMPLER)
        SKIP("no sampler here");
    chroprof_sampler_stop(&p);
    CHECK(run_watched(sampling, &c, b, true) > 10);
    munmap(b, sizeof *b);
}
#endif

static void begins(call *c)
{
    chroprof_options o = options_of();
    MARKED(c, CHECK_EQ(chroprof_init(c->p, c->memory, SIZE, &o), CHROPROF_OK));
}

/* Over memory that an older profile was in: what is left of that is none. */
TEST(a_start_over_an_older_profile)
{
    chroprof p, q;
    call c = { &q, NULL, NULL, NULL, NULL, 0, false };
    uint64_t t;
    block *b = prepare(&p, &t);
    c.memory = b;
    CHECK(run_watched(begins, &c, b, false) > 2);
    munmap(b, sizeof *b);
}

static void maps(call *c)
{
    chroprof_options o = options_of();
    MARKED(c, CHECK_EQ(chroprof_map(c->p, c->path, SIZE, &o), CHROPROF_OK));
    MARKED(c, chroprof_unmap(c->p));
}

/* Whoever finds the file by its name finds a whole block in it. */
TEST(a_file_is_whole_from_the_moment_it_has_its_name)
{
    chroprof p;
    call c = { &p, NULL, NULL, NULL, NULL, 0, false };
    memset(&p, 0, sizeof p);
    c.path = scratch("stopped");
    (void)remove(c.path);
    (void)run_watched(maps, &c, NULL, true);
    (void)remove(c.path);
}

#else

TEST(a_reset_stopped_anywhere)
{
    SKIP("needs the calls of Linux");
}
#endif

static const test_case tests[] = {
#if defined(__linux__)
    CASE(a_reset_stopped_anywhere),        CASE(a_reset_with_frames_on_the_stack),
    CASE(a_reset_and_the_calendar),        CASE(off_and_on_stopped_anywhere),
    CASE(a_merge_stopped_anywhere),        CASE(a_site_made_stopped_anywhere),
    CASE(a_sample_stopped_anywhere),
#if !defined(CHROPROF_NO_SAMPLER)
    CASE(a_sampler_that_starts_and_stops),
#endif
    CASE(a_start_over_an_older_profile),   CASE(a_file_is_whole_from_the_moment_it_has_its_name),
#else
    CASE(a_reset_stopped_anywhere),
#endif
};
TEST_MAIN(tests)
