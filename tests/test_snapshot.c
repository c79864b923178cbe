/* tests/test_snapshot.c - copies of blocks that are quiet, busy, cut short in an event, or killed.
 *
 * ROUNDS=n in the environment multiplies how long the random ones run, SHARE=n divides it. */
#define _DEFAULT_SOURCE            /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

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

enum { SIZE = 34 << 10, STEPS = 4000 };

typedef union block { uint64_t word; unsigned char bytes[SIZE]; } block;

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
    o.window_ns = manual ? 300 : 20000;
    o.stall_ns = manual ? 200 : 30000;
    return o;
}

/* A chapter of a busy life, different for each number; time passes in every event. */
static void chapter(chroprof *p, uint64_t n, uint64_t *t)
{
    uint64_t id = 1 + n % 9, other = 1 + (n * 5 + 3) % 17;
    const chroprof_site *site = n % 3 == 0 ? &A : n % 3 == 1 ? &B : &C;
#define NEXT(state, id, site)                                                                      \
    chroprof_event(p, CHROPROF_##state, id, site,                                                  \
                   p->clock == chroprof_clock_manual ? *t += 7 + n % 50 : chroprof_now(p))
    NEXT(PENDING, id, site);
    NEXT(READY, id, NULL);
    NEXT(RUNNING, id, NULL);
    NEXT(PENDING, other, n % 4 == 0 ? &D : &B);
    NEXT(READY, other, NULL);
    chroprof_sample(p, p->clock == chroprof_clock_manual ? *t : chroprof_now(p), n % 3 * 50);
    if (n % 2 == 0)
        NEXT(ENTER, 0, &D);
    if (n % 3 == 0)
        chroprof_sample(p, p->clock == chroprof_clock_manual ? *t : chroprof_now(p), 0);
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
    return (broken != NULL) + (uint64_t)(t.elapsed_ns != t.busy_ns + t.idle_ns + t.loop_ns) +
           (t.blame_ticks != t.delay_ticks);
}

static block *last_copy(void)
{
    static block copy;
    return &copy;
}

#define snapshot_of(view, live) harness_snapshot(__FILE__, __LINE__, view, live)

/* Takes a copy, opens it, and holds the laws against it. */
static void harness_snapshot(const char *file, int line, chroprof *view, const void *live)
{
    block *copy = last_copy();
    chroprof_result result = chroprof_snapshot(live, SIZE, copy->bytes, SIZE);
    if (result != CHROPROF_OK)
        harness_fail(file, line, "chroprof_snapshot: %s", chroprof_result_text(result));
    result = chroprof_open(view, copy->bytes, SIZE);
    if (result != CHROPROF_OK)
        harness_fail(file, line, "chroprof_open: %s", chroprof_result_text(result));
    harness_equal(file, line, "laws", laws_broken(view), 0);
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
    at = (64 - (uintptr_t)live.bytes % 64) % 64;
    for (size = 0; size < chroprof_memory_size(&o) - 63; size += 13) {
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

typedef struct film { block *frames; size_t count; } film;

static void child_of_steps(chroprof *p, uint64_t chapters)
{
    uint64_t t = 0, n;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1);                   /* an emulator, or not allowed */
    raise(SIGSTOP);
    for (n = 0; n < chapters; n++) {
        chapter(p, n, &t);
        if (n % 4 == 2)
            chroprof_site_make(p, n % 8 == 2 ? "made" : "made later", "made.c", (uint32_t)n);
        if (n % 11 == 9)
            chroprof_reset(p);
        if (n % 13 == 5) {
            chroprof_set_enabled(p, false);
            chroprof_set_enabled(p, true);
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

/* In a page: the words that are odd while something changes, and what that is. */
enum { SEQ = 64, EDITS = 104, EVENT_STATE = 88 };

static bool between(uint64_t value, uint64_t a, uint64_t b, uint64_t slack)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return value + slack >= low && value <= high + slack;
}

#define BETWEEN(field, slack)                                                                      \
    do {                                                                                           \
        if (!between(now->field, before->field, after->field, slack))                              \
            harness_fail(__FILE__, __LINE__,                                                       \
                         "%s: %s is %" PRIu64 ", before %" PRIu64 ", after %" PRIu64,              \
                         what, #field, now->field, before->field, after->field);                   \
    } while (0)

static void path_between(const char *what, const chroprof_path *now, const chroprof_path *before,
                         const chroprof_path *after)
{
    BETWEEN(exec_ns, 0);
    BETWEEN(calls, 0);
    BETWEEN(live, 1);
    BETWEEN(completed, 0);
    BETWEEN(failed, 0);
    BETWEEN(cancelled, 0);
    BETWEEN(abandoned, 0);
    BETWEEN(stillborn, 0);
    BETWEEN(slices, 1);
}

typedef struct picture {
    chroprof_totals totals;
    chroprof_path paths[32];
    size_t count;
} picture;

static void take_picture(picture *out, const block *b)
{
    chroprof view;
    snapshot_of(&view, b->bytes);
    memset(out, 0, sizeof *out);
    out->totals = totals_of(&view);
    out->count = chroprof_paths(&view, out->paths, 32);
    CHECK(out->count <= 32);
}

static const chroprof_path *path_in(const picture *of, uint32_t id)
{
    static chroprof_path none;      /* zeros */
    size_t i;
    for (i = 0; i < of->count; i++)
        if (of->paths[i].id == id)
            return &of->paths[i];
    return &none;
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
    for (i = 0; i < now->count; i++) {
        const chroprof_path *path = &now->paths[i];
        snprintf(what, sizeof what, "path %u %.16s", path->id, path->name);
        path_between(what, path, path_in(before, path->id), path_in(after, path->id));
    }
}

/* wall, delay and blame are told apart: how many copies have one that is not between. */
static unsigned long count_doubtful(const picture *now, const picture *before,
                                    const picture *after)
{
    unsigned long doubtful = 0;
    size_t i;
    for (i = 0; i < now->count; i++) {
        const chroprof_path *n = &now->paths[i], *b = path_in(before, n->id);
        const chroprof_path *a = path_in(after, n->id);
        uint64_t own = after->totals.elapsed_ns - before->totals.elapsed_ns;
        doubtful += !between(n->wall_ns, b->wall_ns, a->wall_ns, own * (n->live + 1)) ||
                    !between(n->delay_ns, b->delay_ns, a->delay_ns, own * (n->live + 1)) ||
                    !between(n->blame_ns, b->blame_ns, a->blame_ns, own * 24);
    }
    return doubtful != 0;
}

static void judge_film(const film *f, const block *first, const block *last, unsigned long *frames,
                       unsigned long *doubtful)
{
    static picture before, after, now;
    size_t i;
    take_picture(&before, first);
    take_picture(&after, last);
    for (i = 0; i < f->count; i++) {
        bool resetting = word_at(&f->frames[i], EDITS) % 2 != 0 &&
                         (uint32_t)word_at(&f->frames[i], EVENT_STATE) == 255;
        if (resetting) {
            take_picture(&now, &f->frames[i]);
            CHECK_EQ(now.totals.elapsed_ns, 0);
            continue;
        }
        take_picture(&now, &f->frames[i]);
        judge_frame(&now, &before, &after);
        *doubtful += count_doubtful(&now, &before, &after);
        ++*frames;
    }
}

/* Runs the child instruction by instruction. Keeps what the block was at each change. */
static void watch(pid_t child, const block *live, unsigned long *frames, unsigned long *doubtful)
{
    static block before, previous;
    film f = { NULL, 0 };
    int status = 0;
    CHECK_EQ(word_at(live, 0), UINT64_C(0x31464F5250524843));
    f.frames = (block *)malloc(STEPS * sizeof *f.frames);
    CHECK(f.frames != NULL);
    before = previous = *live;
    for (;;) {
        CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        if (memcmp(live, &previous, sizeof previous) == 0)
            continue;
        previous = *live;
        if ((word_at(live, SEQ) | word_at(live, EDITS)) % 2 != 0) {
            CHECK(f.count < STEPS);
            f.frames[f.count++] = previous;
            continue;
        }
        if (f.count > 0)
            judge_film(&f, &before, &previous, frames, doubtful);
        f.count = 0;
        before = previous;
    }
    free(f.frames);
}

TEST(stopped_at_every_instruction)
{
    chroprof_options o = options_of(true);
    block *live = (block *)shared_memory(sizeof *live);
    unsigned long frames = 0, doubtful = 0;
    chroprof p;
    int status;
    pid_t child;
    CHECK_EQ(chroprof_init(&p, live->bytes, SIZE, &o), CHROPROF_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        child_of_steps(&p, 14 * rounds());
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) {
        munmap(live, sizeof *live);
        SKIP("this system does not let a parent trace its child");
    }
    watch(child, live, &frames, &doubtful);
    printf("# %lu states inside an event, %lu of them with a wall, delay or blame in doubt\n",
           frames, doubtful);
    CHECK(frames > 1000);
    CHECK(doubtful <= frames / 10);
    munmap(live, sizeof *live);
}

#endif

/* >>busy blocks: events come in between whenever the reader steps from page to page */

#if defined(__linux__)

typedef struct stage {
    unsigned char *live;           /* as the reader sees it */
    size_t size;
    chroprof p;                    /* writes through another mapping */
    uint64_t random, t, n;
    unsigned disturb;              /* of 64 steps, how many bring events */
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
            _exit(1);               /* the test was killed: nobody else ends this child */
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
    while (*(volatile uint64_t *)memory != UINT64_C(0x31464F5250524843))
        CHECK_EQ(waitpid(child, NULL, WNOHANG), 0);
    return child;
}

static void snapshots_under_load(bool hurry, unsigned long count)
{
    void *live = shared_memory(SIZE);
    pid_t child = start_life(live, hurry);
    unsigned long i, exact = 0;
    uint64_t skew = 0, doubt = 0;
    chroprof view;
    for (i = 0; i < count; i++) {
        snapshot_of(&view, live);
        exact += totals_of(&view).skew_events == 0;
        doubt += totals_of(&view).doubt_events;
        skew += totals_of(&view).skew_events;
        written(&view, i % 16 ? CHROPROF_FOLDED : CHROPROF_JSON);    /* the writer must succeed */
    }
    printf("# %lu copies: %lu exact, %" PRIu64 " events apart in all, %" PRIu64 " in doubt\n",
           count, exact, skew, doubt);
    end_child(child);
    munmap(live, SIZE);
}

TEST(copies_of_a_busy_block) { snapshots_under_load(false, share(100000)); }
TEST(copies_of_a_block_in_a_hurry) { snapshots_under_load(true, share(50000)); }

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
        cut += totals_of(&view).doubt_events != 0;
    }
    printf("# %lu killed, %lu of them inside an event\n", i, cut);
    CHECK(cut > 0);
    munmap(live, SIZE);
}

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
};
TEST_MAIN(tests)
