/* tests/sampler_ticks.h - the part of test_sampler.c that asks what a tick does to the program it
 * interrupts: the stack it takes, the crash handlers it meets, the waits and system calls. */
#ifndef SAMPLER_TICKS_H
#define SAMPLER_TICKS_H

/* ---- the stack of a tick */

#if defined(__linux__)
#include <fcntl.h>
#include <sys/auxv.h>
#endif

#define FRAME_UNKNOWN 1 /* for announced_frame: a kernel that says nothing of it */

/* What the kernel announces, or another one's announcement: 0 is this one's. */
static size_t announced_frame;

/* The header asks the C library, which a program may stand in for; a sanitizer asks before its
 * own start, so there this one's announcement is all there is. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define ANNOUNCES 0
#endif
#endif
#if !defined(ANNOUNCES) && defined(__linux__) && defined(__GLIBC__) && !OWN_ALLOCATOR &&           \
    !defined(__SANITIZE_THREAD__)
#define ANNOUNCES 1
unsigned long getauxval(unsigned long type)
{
    unsigned long pair[2] = { 0, 0 };
    int file;
    if (type == 51 && announced_frame > 0) /* AT_MINSIGSTKSZ */
        return announced_frame == FRAME_UNKNOWN ? 0 : announced_frame;
    file = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, pair, sizeof pair) == sizeof pair && pair[0] != type)
        continue;
    close(file);
    return pair[0] == type ? pair[1] : 0;
}
#elif !defined(ANNOUNCES)
#define ANNOUNCES 0
#endif

static size_t frame_announced(void)
{
#if defined(__linux__)
    return (size_t)getauxval(51); /* AT_MINSIGSTKSZ */
#else
    return 0;
#endif
}

/* The announcements of other machines: x86-64 without AVX, with AVX-512, with AMX (which are
 * written only for who asked for it), arm64 with the widest vectors, and an old kernel's. This
 * machine's is the first, and all there is where they can't be made. */
static const size_t announcements[] = { 0, 1300, 3632, 11952, 8400, FRAME_UNKNOWN };
enum { ANNOUNCEMENTS = ANNOUNCES ? sizeof announcements / sizeof *announcements : 1 };

/* An alternate stack of this size, with a page below it that nothing may touch. */
static unsigned char *alternate_stack(size_t bytes)
{
    const size_t page = 1 << 16, whole = (bytes + page - 1) / page * page;
    unsigned char *low = (unsigned char *)mmap(NULL, page + whole, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = low + page;
    stack.ss_size = bytes;
    if (low == MAP_FAILED || mprotect(low, page, PROT_NONE) != 0 || sigaltstack(&stack, NULL) != 0)
        return NULL;
    return low + page;
}

/* Burns CPU time until this has counted so many ticks, or for 4 s. Takes next to no stack. */
static bool ticks_came(const chroprof *p, uint64_t ticks)
{
    uint64_t end = cpu_ns() + UINT64_C(4000) * MS;
    chroprof_sampler_totals t;
    for (chroprof_read_sampler(p, &t); t.ticks < ticks && cpu_ns() < end;
         chroprof_read_sampler(p, &t))
        burn(100000);
    return t.ticks >= ticks;
}

static uint64_t ticks_so_far(const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_read_sampler(p, &t);
    return t.ticks;
}

enum { TICKS_LATE = 3, NO_STACK = 4, TOO_MANY = 5, TOUCHED = 6 };

/* What a start accepts, whatever a kernel announces: the classic size, which two frames fit in. */
#if defined(__x86_64__) || defined(__i386__)
enum { SMALLEST_STACK = 8192 };
#else
enum { SMALLEST_STACK = 16384 };
#endif

/* What a start accepts: two frames, as announced, and what a tick takes that is lost. */
static size_t smallest_for_a_handler(void)
{
    size_t frame = frame_announced(), classic = SMALLEST_STACK;
    return frame > 0 && 2 * frame + 512 < classic ? 2 * frame + 512 : classic;
}

/* Bytes of an alternate stack that something has written to since it was painted. */
static size_t painted_over(const unsigned char *low, size_t bytes)
{
    size_t k = 0;
    while (k < bytes && low[k] == 0xA5)
        k++;
    return bytes - k;
}

/* What the kernel really writes for a signal here, with a handler that does nothing: often less
 * than it announces. Leaves a big alternate stack to this thread, whose low end this is. */
static size_t frame_written(unsigned char **big)
{
    enum { BYTES = 1 << 16 };
    struct sigaction action, old;
    *big = alternate_stack(BYTES);
    if (*big == NULL)
        return 0;
    memset(*big, 0xA5, BYTES);
    memset(&action, 0, sizeof action);
    action.sa_handler = some_handler;
    action.sa_flags = SA_ONSTACK;
    if (sigaction(SIGUSR1, &action, &old) != 0)
        return 0;
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    return painted_over(*big, BYTES);
}

/* No room for a sample: each tick is lost. */
static bool cramped_handler;

/* Writes a report, as crash handlers do, meanwhile ticks come. */
static void report_crash(int number)
{
    (void)number;
    chroprof_sampler_totals t;
    if (!ticks_came(signalled, ticks_so_far(signalled) + 25))
        _exit(TICKS_LATE);
    chroprof_read_sampler(signalled, &t);
    _exit(cramped_handler && t.lost < 20 ? TOO_MANY : 0);
}

/* A tick takes a sample where 4 KiB are left below the two frames that are written. */
static int crash(chroprof *p, size_t bytes)
{
    struct sigaction action;
    unsigned char *big;
    size_t frame = frame_written(&big);
    cramped_handler = frame > 0 && bytes < 2 * frame + 4096;
    memset(&action, 0, sizeof action);
    action.sa_handler = report_crash;
    action.sa_flags = SA_ONSTACK;
    if (frame == 0 || alternate_stack(bytes) == NULL || sigaction(SIGSEGV, &action, NULL) != 0)
        return NO_STACK;
    chroprof_result result = try_start(p, CHROPROF_SAMPLER_CPU, 4000);
    if (harness_no_timer(result))
        return NO_TIMER;
    if (result != CHROPROF_OK || !ticks_came(p, 3))
        return TICKS_LATE;
    chroprof_enter(p, &site_a);
    raise(SIGSEGV);
    return NO_STACK;
}

/* The classic size, and less where the kernel announces that its frames are small. */
TEST(a_crash_handler_on_a_small_stack_lives)
{
    chroprof_options o = no_options();
    const size_t sizes[3] = { SMALLEST_STACK, smallest_for_a_handler(), SMALLEST_STACK };
    size_t k;
    PROMPT_SIGNALS();
    if (OWN_ALLOCATOR)
        SKIP("the address sanitizer takes more stack than a small one has");
    signalled = live_profile(&o);
    for (k = 0; k < 2 + (size_t)ANNOUNCES; k++) {
        announced_frame = k == 2 ? 11952 : 0;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(crash(signalled, sizes[k]));
        announced_frame = 0;
        ends_well(child);
    }
}

static int tick_beside(chroprof *p, size_t bytes)
{
    bool room = bytes >= smallest_for_a_handler();
    unsigned char *big, *low;
    size_t frame = frame_written(&big);
    low = bytes >= frame ? alternate_stack(bytes) : NULL;
    if (low == NULL)
        return bytes < frame || bytes < frame_announced() ? 0 : NO_STACK; /* the kernel refuses */
    memset(low, 0xA5, bytes);
    chroprof_result result = try_start(p, CHROPROF_SAMPLER_CPU, 4000);
    if (harness_no_timer(result))
        return NO_TIMER;
    if (!room)
        return result == CHROPROF_ERR_SAMPLER_STACK && signals_are_default() ? 0 : TOO_MANY;
    if (result != CHROPROF_OK || !ticks_came(p, 5))
        return TICKS_LATE;
    return painted_over(low, bytes) == 0 ? 0 : TOUCHED;
}

/* Too small for ticks: they leave it to its owner. Where a crash handler that a tick interrupts would
 * be killed, there is no start. */
TEST(ticks_leave_small_alternate_stacks_alone)
{
    chroprof_options o = no_options();
    size_t k, kernel;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    for (kernel = 0; kernel < ANNOUNCEMENTS; kernel++) {
        announced_frame = announcements[kernel];
        const size_t least = smallest_for_a_handler();
        const size_t sizes[] = { 2048, 4096, least - 16, least, 8192, 16384 };
        for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0)
                _exit(tick_beside(p, sizes[k]));
            ends_well(child);
        }
    }
    announced_frame = 0;
}

/* A big alternate stack takes the ticks, so that it can be measured what they need. The kernel's
 * part is what a handler leaves that does nothing. */
TEST(a_tick_needs_little_stack)
{
    enum { BYTES = 1 << 16 };
    chroprof_options o = no_options();
    unsigned char *low;
    stack_t before;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    CHECK_EQ(sigaltstack(NULL, &before), 0);
    size_t frame = frame_written(&low);
    CHECK(low != NULL);
    memset(low, 0xA5, BYTES);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 60, 8);
    chroprof_leave(p);
    settle(p);
    size_t whole = painted_over(low, BYTES);
    before.ss_flags = before.ss_sp ? before.ss_flags : SS_DISABLE;
    CHECK_EQ(sigaltstack(&before, NULL), 0);
    munmap(low - (1 << 16), 2 << 16);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) >= 5);
    printf("# stack of a tick: %zu bytes, of them %zu for a handler that does nothing\n", whole,
           frame);
    CHECK(frame > 0 && whole > frame); /* they ran there */
    if (!OWN_ALLOCATOR)
        CHECK_IN(whole - frame, 1, 1024); /* as the manual says */
}

/* ---- a start where the stack has no room */

enum { CRAMPED_STACK = 1 << 18 };

typedef struct cramped {
    chroprof *p;
    void *low;
    size_t leave;
    chroprof_result result;
    int error;
} cramped;

/* Starts with so much stack left. */
__attribute__((noinline)) static void start_below(cramped *c)
{
    volatile char here[1024];
    here[0] = here[1023] = 0;
    if ((size_t)((const volatile char *)here - (const volatile char *)c->low) > c->leave + 2048)
        start_below(c);
    else
        c->result = try_start(c->p, CHROPROF_SAMPLER_CPU, 4000);
    here[1] = here[0];
}

static void *start_cramped(void *argument)
{
    cramped *c = (cramped *)argument;
    start_below(c);
    c->error = errno;
    chroprof_sampler_stop(c->p);
    return NULL;
}

static void run_cramped(cramped *c, size_t leave)
{
    pthread_t thread;
    pthread_attr_t attributes;
    c->leave = leave;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstack(&attributes, c->low, CRAMPED_STACK), 0);
    CHECK_EQ(pthread_create(&thread, &attributes, start_cramped, c), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

TEST(a_start_on_a_cramped_stack_is_refused)
{
    chroprof_options o = no_options();
    cramped c;
    if (OWN_ALLOCATOR)
        SKIP("the address sanitizer takes more stack than there is");
    memset(&c, 0, sizeof c);
    c.p = live_profile(&o);
    CHECK_EQ(posix_memalign(&c.low, 1 << 16, CRAMPED_STACK), 0);
    run_cramped(&c, 5120);
    CHECK_EQ(c.result, CHROPROF_ERR_SAMPLER_STACK);
    CHECK(signals_are_default());
    run_cramped(&c, CRAMPED_STACK / 2);
    free(c.low);
    errno = c.error;
    STARTED(c.result);
}

/* ---- the wall mode while the loop sleeps */

static void spin_until(uint64_t end)
{
    while (clock_ns(CLOCK_MONOTONIC) < end)
        burn(500);
}

/* Waits as loops do; how many of them ended by EINTR. */
static uint64_t wait_idle(chroprof *p, int ms)
{
    uint64_t cut;
    chroprof_idle_enter(p);
    cut = poll(NULL, 0, ms) < 0;
    chroprof_idle_leave(p);
    return cut;
}

/* Does a sampled share of n looks agree with the exact one, within three standard errors? */
static bool share_agrees(double seen, double exact, double looks)
{
    double off = seen - exact;
    return off * off * looks <= 9 * exact * (1 - exact);
}

/* 3 ms of work, 3 of waiting, a tick each 5: no tick cuts a wait short, and none makes the loop
 * fall in step. */
static bool waits_are_seen(chroprof *p)
{
    enum { WAITS = 300 };
    uint64_t k, cut = 0;
    start(p, CHROPROF_SAMPLER_WALL, 5000);
    for (k = 0; k < WAITS; k++) {
        chroprof_enter(p, &site_a);
        spin_until(clock_ns(CLOCK_MONOTONIC) + 3 * MS);
        chroprof_leave(p);
        cut += wait_idle(p, 3);
    }
    settle(p);
    CHECK_IN(cut, 0, WAITS / 100);
    CHECK_IN(sampler_of(p).interrupted, cut, WAITS / 100);
    double all = (double)sampler_of(p).samples;
    double exact = (double)totals_of(p).idle_ns / (double)totals_of(p).elapsed_ns;
    double seen = (double)weight_with(p, "(idle)", NULL, NULL) / all;
    printf("# idle %.3f, sampled %.3f of %.0f\n", exact, seen, all);
    return all > 100 && share_agrees(seen, exact, all);
}

TEST(waits_are_sampled_and_not_interrupted)
{
    chroprof_options o = no_options();
    int tries = 0;
    bool good = false;
    PROMPT_SIGNALS();
    o.max_samples = 2000;
    while (!good && tries++ < 3)
        good = waits_are_seen(live_profile(&o));
    CHECK(good);
}

/* Many short waits and a few that are longer than the period. */
TEST(a_fast_loop_with_long_waits_is_left_alone)
{
    chroprof_options o = no_options();
    uint64_t k, cut = 0, waits = 2000;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 5000);
    for (k = 0; k < waits; k++) {
        chroprof_enter(p, &site_a);
        burn(3000);
        chroprof_leave(p);
        cut += wait_idle(p, k % 100 == 99 ? 12 : 0);
    }
    settle(p);
    CHECK_IN(cut, 0, waits / 100);
    CHECK(weight_with(p, "(idle)", NULL, NULL) * 5 * MS <= totals_of(p).idle_ns + 5 * MS);
    CHECK(weight_with(p, "(idle)", NULL, NULL) * 5 * MS + 5 * MS > totals_of(p).idle_ns);
}

/* Idle inside a task stands under it, and a tick in the middle brings in what has passed. */
TEST(idle_of_a_nested_loop_stands_under_its_task)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 1000);
    chroprof_enter(p, &site_a);
    chroprof_loop_enter(p);
    chroprof_idle_enter(p);
    spin_until(clock_ns(CLOCK_MONOTONIC) + 20 * MS);
    chroprof_tick(p);
    CHECK(weight_with(p, "(idle)<[task a]", NULL, NULL) >= 19);
    spin_until(clock_ns(CLOCK_MONOTONIC) + 20 * MS);
    chroprof_idle_leave(p);
    CHECK(weight_with(p, "(idle)<[task a]", NULL, NULL) >= 39);
    chroprof_loop_leave(p);
    chroprof_leave(p);
    settle(p);
}

/* ---- shares, whatever the period of the loop */

enum { PARTS = 5 };
static const unsigned part_share[PARTS] = { 50, 25, 12, 8, 5 };
static const char *const part_name[PARTS] = { "part 1", "part 2", "part 3", "part 4", "part 5" };

static bool parts_agree(chroprof *p, chroprof_sampler_mode mode, uint64_t period, uint64_t loop_us)
{
    clockid_t which = mode == CHROPROF_SAMPLER_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const chroprof_site *sites[PARTS];
    uint64_t spent[PARTS] = { 0 }, begin, now, due, all = 0, rounds = 0, wanted = 600, looks;
    size_t k;
    bool good = true;
    for (k = 0; k < PARTS; k++)
        sites[k] = chroprof_site_make(p, part_name[k], "live.c", 1);
    if (mode == CHROPROF_SAMPLER_CPU)
        wanted = 150;
    start(p, mode, period);
    now = begin = clock_ns(which);
    for (due = begin; rounds * loop_us < wanted * period; rounds++) {
        for (k = 0; k < PARTS; k++, now = clock_ns(which)) {
            uint64_t from = now;
            due += loop_us * 10 * part_share[k];
            chroprof_enter(p, sites[k]);
            while ((now = clock_ns(which)) < due)
                burn(300);
            chroprof_leave(p);
            spent[k] += now - from;
        }
    }
    settle(p);
    looks = looks_of(p);
    for (k = 0; k < PARTS; k++)
        all += weight_with(p, part_name[k], NULL, NULL);
    for (k = 0; k < PARTS; k++) {
        double exact = (double)spent[k] / (double)(now - begin);
        double seen = (double)weight_with(p, part_name[k], NULL, NULL) / (double)all;
        printf("# %s of %u us: %.3f, sampled %.3f\n", part_name[k], (unsigned)loop_us, exact, seen);
        good = good && share_agrees(seen, exact, (double)looks);
    }
    return good && all > wanted / 4;
}

/* In step with the sampler, nearly so, and at small fractions of it. */
TEST(loops_of_any_period_have_their_shares)
{
    static const uint64_t loop_us[] = { 1000, 1030, 2000, 500 };
    chroprof_options o = no_options();
    size_t k;
    PROMPT_SIGNALS();
    o.max_samples = 2000;
    for (k = 0; k < sizeof loop_us / sizeof *loop_us; k++) {
        int tries = 0;
        bool good = false;
        while (!good && tries++ < 3)
            good = parts_agree(live_profile(&o), CHROPROF_SAMPLER_WALL, 1000, loop_us[k]);
        CHECK(good);
    }
}

TEST(work_in_step_with_the_period_has_its_shares)
{
    chroprof_options o = no_options();
    int tries = 0;
    bool good = false;
    PROMPT_SIGNALS();
    o.max_samples = 2000;
    while (!good && tries++ < 3)
        good = parts_agree(live_profile(&o), CHROPROF_SAMPLER_CPU, 19000, 19000);
    CHECK(good);
}

/* ---- draws: each live future is as likely, and 8 a tick */

enum { DRAWN_MOST = 64 };

static chroprof *with_live_futures(const chroprof_options *o, void *memory, size_t bytes,
                                   unsigned live_count)
{
    char name[16];
    unsigned k;
    chroprof_sampler_stop(&live);
    CHECK_EQ(chroprof_init(&live, memory, bytes, o), CHROPROF_OK);
    for (k = 0; k < live_count; k++) {
        snprintf(name, sizeof name, "f%u", k);
        chroprof_pending(&live, UINT64_C(0x7f0000001000) + 320 * (uint64_t)k,
                         chroprof_site_make(&live, name, "live.c", k));
    }
    return &live;
}

/* Draws of this many live futures, while the loop sleeps; least and most of one. A wait draws once
 * for all its ticks, in a large table from one stretch of it. lumps: how much that can be for one
 * future, of waits that a busy machine made long. */
static chroprof_sampler_totals draw_among(const chroprof_options *o, size_t bytes, unsigned count,
                                          uint64_t *least, uint64_t *most, uint64_t *lumps)
{
    static chroprof_wall rows[DRAWN_MOST];
    void *memory = malloc(bytes);
    size_t k;
    CHECK(memory != NULL);
    chroprof *p = with_live_futures(o, memory, bytes, count);
    chroprof_result result = try_start(p, CHROPROF_SAMPLER_WALL, 100);
    if (result != CHROPROF_OK)
        free(memory);
    STARTED(result);
    for (k = 0, *lumps = 0; k < 300; k++) {
        uint64_t before = sampler_of(p).samples, ticks;
        (void)wait_idle(p, 1);
        ticks = sampler_of(p).samples - before;
        *lumps += ticks > 20 ? 4 * ticks : 0;
    }
    chroprof_sampler_stop(p);
    chroprof_tick(p);
    size_t met = chroprof_walls(p, rows, DRAWN_MOST);
    chroprof_sampler_totals t = sampler_of(p);
    const char *broken = chroprof_check(p);
    *least = met == count ? UINT64_MAX : 0;
    for (k = *most = 0; k < met && k < DRAWN_MOST; k++) {
        uint64_t weight = rows[k].paused;
        *least = weight < *least ? weight : *least;
        *most = weight > *most ? weight : *most;
    }
    memset(p, 0, sizeof *p);
    free(memory);
    CHECK(broken == NULL);
    printf("# %u live: %.2f draws a sample, %" PRIu64 " to %" PRIu64 " each, %" PRIu64 " misses\n",
           count, (double)t.draws / (double)t.samples, *least, *most, t.misses);
    return t;
}

TEST(live_futures_are_drawn_alike)
{
    static const struct {
        unsigned futures, live;
        size_t bytes;
    } rows[] = { { 64, 64, 1 << 20 },
                 { 64, 8, 1 << 20 },
                 { 5000, 41, 1 << 20 },
                 { 100000, 41, 1 << 24 },
                 { 64, 3, 1 << 20 } };
    chroprof_options o = no_options();
    uint64_t least, most, lumps;
    size_t k;
    o.max_paths = 128;
    o.max_samples = 64;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t each = rows[k].live < 8 ? rows[k].live : 8;
        o.max_futures = rows[k].futures;
        chroprof_sampler_totals t =
            draw_among(&o, rows[k].bytes, rows[k].live, &least, &most, &lumps);
        CHECK(t.samples > 2000); /* 300 ms at least */
        CHECK_IN(t.draws + 2 * lumps, (t.samples - t.inside) * each * 9 / 10,
                 t.samples * each * 11 / 10 + 4 * lumps);
        uint64_t mean = t.draws / rows[k].live, off = rows[k].futures > 5000 ? 6 : 3;
        CHECK_IN(least + lumps, mean * (10 - off) / 10, mean + lumps); /* met 25 times, or 100 */
        CHECK_IN(most, mean, mean * (10 + off) / 10 + lumps);
        CHECK_IN(t.misses, 0, t.samples * 8192);
    }
}

/* ---- system calls */

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* From here on whoever sets a timer or reads a link is killed. */
static bool forbid_timers_and_links(void)
{
#if defined(SYS_readlink)
    enum { LINKS = 2 };
#else
    enum { LINKS = 1 };
#endif
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, LINKS + 1, 0),
#if defined(SYS_readlink)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 2, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setitimer, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program;
    program.len = sizeof code / sizeof *code;
    program.filter = code;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Over its budget all the time. Loads a library meanwhile, if there is one. */
static int tick_in_a_sandbox(chroprof *p, chroprof_sampler_mode mode, const char *library)
{
    chroprof_sampler_options s;
    chroprof_result result;
    memset(&s, 0, sizeof s);
    s.mode = mode;
    s.period_ns = 100000;
    s.budget_ppm = 1;
    s.steady = true;
    result = chroprof_sampler_start(p, &s);
    if (harness_no_timer(result) || !forbid_timers_and_links())
        return NO_TIMER;
    chroprof_enter(p, &site_a);
    if (result != CHROPROF_OK || !ticks_came(p, 500))
        return TICKS_LATE;
    chroprof_leave(p);
    if (library && dlopen(library, RTLD_NOW) == NULL)
        return NO_STACK;
    if (!ticks_came(p, ticks_so_far(p) + 50))
        return TICKS_LATE;
    (void)wait_idle(p, 5);
    return sampler_of(p).period_ns >= 400000 && chroprof_check(p) == NULL ? 0 : TICKS_LATE;
}

TEST(a_steady_sampler_sets_its_timer_once)
{
    chroprof_options o = no_options();
    int mode;
    PROMPT_SIGNALS();
    bool built = build_library("plugin_one.so");
    char *library = built ? realpath(scratch("plugin_one.so"), NULL) : NULL;
    chroprof *p = live_profile(&o);
    for (mode = CHROPROF_SAMPLER_CPU; mode <= CHROPROF_SAMPLER_WALL; mode++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(tick_in_a_sandbox(p, (chroprof_sampler_mode)mode, library));
        ends_well(child);
    }
    free(library);
}
#else
TEST(a_steady_sampler_sets_its_timer_once)
{
    SKIP("seccomp is Linux's");
}
#endif

/* A child's own timer may have the number of the parent's: events leave it alone. */
static int child_with_a_timer(chroprof *p)
{
#if defined(__linux__) && !defined(CHROPROF_ITIMER)
    struct itimerspec value;
    timer_t timer;
    struct sigevent event;
    int k;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_NONE;
    memset(&value, 0, sizeof value);
    value.it_value.tv_sec = 1000;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &value, NULL) != 0)
        return NO_TIMER;
    for (k = 0; k < 5; k++) {
        (void)wait_idle(p, 2);
        chroprof_enter(p, &site_a);
        spin_in_a(20);
        chroprof_leave(p);
    }
    if (timer_gettime(timer, &value) != 0 || value.it_value.tv_sec < 900)
        return NO_STACK;
#endif
    return chroprof_check(p) == NULL && !sampler_of(p).running ? 0 : TICKS_LATE;
}

/* Starts where no CPU time was used yet, so that its child's soon is beyond the deadline. */
static int parent_of_one_with_a_timer(chroprof *p)
{
    int status = -1;
    chroprof_result result = try_start(p, CHROPROF_SAMPLER_CPU, 1000);
    if (harness_no_timer(result))
        return NO_TIMER;
    pid_t child = fork();
    if (child == 0)
        _exit(child_with_a_timer(p));
    if (result != CHROPROF_OK || child < 0 || waitpid(child, &status, 0) != child)
        return NO_STACK;
    return WIFEXITED(status) ? WEXITSTATUS(status) : NO_STACK;
}

TEST(events_of_a_forked_child_leave_its_timers_alone)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(parent_of_one_with_a_timer(p));
    ends_well(child);
    start(p, CHROPROF_SAMPLER_WALL, 1000);
    (void)wait_idle(p, 2);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(child_with_a_timer(p));
    ends_well(child);
    settle(p);
}

/* Ticks that the kernel does not deliver in time are lost, and said to be: here the thread blocks
 * their signal. */
TEST(ticks_that_do_not_come_are_lost)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    sigset_t every, before;
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    sigfillset(&every);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &every, &before), 0);
    const chroprof_sampler_totals first = sampler_of(p);
    chroprof_enter(p, &site_a);
    spin_in_a(10);
    chroprof_leave(p);
    const uint64_t early = sampler_of(p).lost; /* not long overdue yet */
    chroprof_enter(p, &site_a);
    spin_in_a(200);
    chroprof_leave(p);
    const chroprof_sampler_totals last = sampler_of(p);
    const char *text = written(p, CHROPROF_TEXT)->bytes;
    bool told = last.samples > 0 || strstr(text, "SAMPLES  0, ") != NULL;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    CHECK_EQ(early, first.lost);
    CHECK_EQ(last.ticks - first.ticks, last.lost - first.lost);
    CHECK(told);
    CHECK_IN(last.lost - first.lost, 200 / 6 - 2, 210 / 2 + 2); /* periods of 2 to 6 ms */
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 60, 8); /* and go on when they can come */
    chroprof_leave(p);
    settle(p);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) > 3 || !PROMPT);
}

#define TICK_CASES                                                                                 \
    CASE(waits_are_sampled_and_not_interrupted), CASE(a_fast_loop_with_long_waits_is_left_alone),  \
        CASE(idle_of_a_nested_loop_stands_under_its_task),                                         \
        CASE(loops_of_any_period_have_their_shares),                                               \
        CASE(work_in_step_with_the_period_has_its_shares), CASE(live_futures_are_drawn_alike),     \
        CASE(a_steady_sampler_sets_its_timer_once),                                                \
        CASE(events_of_a_forked_child_leave_its_timers_alone),                                     \
        CASE(a_crash_handler_on_a_small_stack_lives),                                              \
        CASE(ticks_leave_small_alternate_stacks_alone), CASE(a_tick_needs_little_stack),           \
        CASE(a_start_on_a_cramped_stack_is_refused), CASE(ticks_that_do_not_come_are_lost),

#endif
