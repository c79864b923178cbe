/* tests/sampler_live.h - the part of test_sampler.c that runs against the clock. It names functions
 * and walks their frames, so it wants to be compiled as the Makefile does, which says TEST_FRAMES:
 * -fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic, on arm64 also
 * -mno-omit-leaf-frame-pointer. */

#if defined(TEST_FRAMES) && defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define LIVE 1
#else
#define LIVE 0
#endif

#if LIVE

/* The thread sanitizer keeps signals back until the next system call, so where a tick lands and
 * what lies on the stack by then says nothing. That nothing breaks does. */
#if defined(__SANITIZE_THREAD__)
#define PROMPT_SIGNALS() SKIP("the thread sanitizer delivers signals late")
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROMPT_SIGNALS() SKIP("the thread sanitizer delivers signals late")
#endif
#endif
#ifndef PROMPT_SIGNALS
#define PROMPT_SIGNALS() ((void)0)
#define PROMPT 1
#else
#define PROMPT 0
#endif

/* ---- work whose name is known: not static, so that -rdynamic shows them to dladdr */

void spin_in_a(uint64_t ms);
void spin_in_b(uint64_t ms);
void spin_for(chroprof *p, void (*spin)(uint64_t ms), uint64_t ms, uint64_t ticks);
void callback_a(chroprof *p);
void callback_nested(chroprof *p);
void sleep_in_c(uint64_t ms);
void run_loop(chroprof *p);
void dive(chroprof *p, int depth, uint64_t ms);

static uint64_t clock_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void burn(unsigned rounds)
{
    volatile unsigned sink = 0;
    while (rounds-- > 0)
        sink = sink * 3 + rounds;
}

/* CPU time, so that a busy machine does not change the shares */
__attribute__((noinline)) void spin_in_a(uint64_t ms)
{
    uint64_t end = cpu_ns() + ms * MS;
    while (cpu_ns() < end)
        burn(20000);
}

__attribute__((noinline)) void spin_in_b(uint64_t ms)
{
    uint64_t end = cpu_ns() + ms * MS;
    while (cpu_ns() < end)
        burn(20001);
}

__attribute__((noinline)) void sleep_in_c(uint64_t ms)
{
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + ms * MS, now;
    while ((now = clock_ns(CLOCK_MONOTONIC)) < end) {
        struct timespec rest;
        rest.tv_sec = 0;
        rest.tv_nsec = (long)(end - now < 900 * MS ? end - now : 900 * MS);
        nanosleep(&rest, NULL); /* ticks of the wall mode cut it short */
    }
    burn(1);
}

static const chroprof_site site_a = { "task a", "live.c", 1 };
static const chroprof_site site_b = { "task b", "live.c", 2 };

static chroprof live;
static unsigned char live_memory[1 << 20];

static chroprof_options no_options(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    return o;
}

static chroprof *live_profile(const chroprof_options *o)
{
    chroprof_sampler_stop(&live); /* of a case that failed */
    CHECK_EQ(chroprof_init(&live, live_memory, sizeof live_memory, o), CHROPROF_OK);
    *harness_live() = &live;
    return &live;
}

/* In other threads and in children, where a case can neither fail nor be skipped. */
static chroprof_result try_start(chroprof *p, chroprof_sampler_mode mode, uint64_t period_us)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof o);
    o.mode = mode;
    o.period_ns = period_us * 1000;
    o.budget_ppm = 1000000;
    return chroprof_sampler_start(p, &o);
}

static void start(chroprof *p, chroprof_sampler_mode mode, uint64_t period_us)
{
    STARTED(try_start(p, mode, period_us));
}

/* The laws to the tick; in ns each figure is floored on its own. */
static void laws_in_ticks(const chroprof *p)
{
    const char *broken = chroprof_check(p);
    chroprof_totals t = totals_of(p);
    if (broken != NULL)
        harness_fail(__FILE__, __LINE__, "chroprof_check: %s", broken);
    CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
}

/* Brings in what waits, and looks at everything. */
static void settle(chroprof *p)
{
    chroprof_sampler_stop(p);
    chroprof_tick(p);
    laws_in_ticks(p);
}

/* Spins for so long, and on until so many ticks have come: a busy machine delivers them late. One
 * that is late weighs many, but shows one place only: of those that came in a portion no more count
 * than belong to it. It ends without them if none come: the case fails then. */
__attribute__((noinline)) void spin_for(chroprof *p, void (*spin)(uint64_t ms), uint64_t ms,
                                        uint64_t ticks)
{
    const uint64_t portion = 20, more = 4000;
    uint64_t last = sampler_of(p).ticks, counted = 0, spun;
    for (spun = 0; spun < ms || (counted < ticks && spun < ms + more); spun += portion) {
        spin(portion);
        chroprof_sampler_totals t = sampler_of(p);
        uint64_t came = t.ticks - last, most = portion * MS / t.period_ns + 1;
        counted += came < most ? came : most;
        last = t.ticks;
    }
}

/* So many samples of one weight would tell as much as these of different ones. */
static uint64_t looks_of(const chroprof *p)
{
    size_t count, i;
    uint64_t sum = 0, squares = 0;
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++) {
        sum += rows[i].weight;
        squares += rows[i].weight * rows[i].weight;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Weight of the rows whose stack has all of these words in this order. */
static uint64_t weight_with(const chroprof *p, const char *first, const char *second,
                            const char *third)
{
    size_t count, i;
    uint64_t weight = 0;
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++) {
        const char *at = strstr(names_of(p, rows[i].stack), first);
        at = at && second ? strstr(at, second) : at;
        at = at && third ? strstr(at, third) : at;
        weight += at ? rows[i].weight : 0;
    }
    return weight;
}

/* CPU time of the two in callback_a: where a machine stands still it is not as was asked for. */
static uint64_t spent_in_a, spent_in_b;

/* Ticks of ours in between: the ring is never full, so that each of the sampler's has its row. */
__attribute__((noinline)) void callback_a(chroprof *p)
{
    uint64_t begin = cpu_ns(), middle;
    int k;
    for (k = 0; k < 6; k++, chroprof_tick(p))
        spin_in_a(50);
    middle = cpu_ns();
    for (k = 0; k < 2; k++, chroprof_tick(p))
        spin_in_b(50);
    spent_in_a += middle - begin;
    spent_in_b += cpu_ns() - middle;
}

__attribute__((noinline)) void run_loop(chroprof *p)
{
    chroprof_running(p, 1);
    callback_a(p);
    chroprof_paused(p, 1);
}

/* So many periods of CPU time; more only by chance, as periods are random: half of one to one and a
 * half, so that n of them vary by 0.3 x the root of n. */
static void ticks_are_periods(const chroprof *p, uint64_t period_ns, uint64_t spent_ns)
{
#ifdef CHROPROF_ITIMER /* counts in jiffies, and late ones once */
    CHECK_IN(sampler_of(p).ticks, 1, spent_ns / period_ns * 2);
#else
    CHECK_IN(sampler_of(p).ticks, spent_ns * 4 / 5 / period_ns, spent_ns / period_ns * 17 / 16 + 4);
#endif
}

TEST(two_functions_three_to_one)
{
    chroprof_options o = no_options();
    uint64_t a = 0, b = 0, begin = cpu_ns(), exact, share, off;
    int rounds = 0;
    PROMPT_SIGNALS();
    o.max_samples = 2000; /* every row is kept */
    chroprof *p = live_profile(&o);
    spent_in_a = spent_in_b = 0;
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_pending(p, 1, &site_a);
    run_loop(p);
    do /* a busy machine delivers ticks late, and fewer */
        run_loop(p);
    while (looks_of(p) < 300 && ++rounds < 15);
    settle(p);
    a = weight_with(p, "spin_in_a", "callback_a", "[task a]");
    b = weight_with(p, "spin_in_b", "callback_a", "[task a]");
    CHECK(a + b > 50);
    exact = spent_in_a * 1000 / (spent_in_a + spent_in_b);
    share = a * 1000 / (a + b);
    off = share > exact ? share - exact : exact - share;
    if (off > 50) /* too few looks for that: five standard errors; three fail once in 370 runs */
        CHECK_IN(off * off * looks_of(p), 0, 25 * exact * (1000 - exact));
    CHECK(weight_with(p, "[task a]", "run_loop", NULL) + 10 >= a + b);
    ticks_are_periods(p, 4 * MS, cpu_ns() - begin);
}

__attribute__((noinline)) void callback_nested(chroprof *p)
{
    chroprof_enter(p, &site_b);
    spin_in_b(240);
    chroprof_leave(p);
    burn(1);
}

TEST(frames_stand_under_their_task)
{
    chroprof_options o = no_options();
    uint64_t inside, all;
    int rounds = 0;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    do {
        chroprof_enter(p, &site_a);
        callback_nested(p);
        chroprof_leave(p);
    } while (looks_of(p) < 15 && ++rounds < 40);
    settle(p);
    all = weight_with(p, "spin_in_b", NULL, NULL);
    inside = weight_with(p, "spin_in_b<[task b]<callback_nested<[task a]<", "main", NULL);
    CHECK(all >= 10);
    CHECK(inside * 10 >= all * 8);
}

TEST(a_wait_is_no_work)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[8];
    size_t count;
    uint64_t begin, slept, spun; /* CPU time */
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 5000);
    begin = cpu_ns();
    chroprof_enter(p, &site_a);
    sleep_in_c(300);
    chroprof_leave(p);
    slept = cpu_ns();
    chroprof_enter(p, &site_b);
    spin_in_a(300);
    chroprof_leave(p);
    spun = cpu_ns() - slept;
    slept -= begin;
    settle(p);
    count = chroprof_stalls(p, stalls, 8);
    CHECK_EQ(count, 2);
    CHECK(stalls[0].waiting_ns + slept > stalls[0].length_ns * 9 / 10);
    CHECK(stalls[0].cpu_ns < stalls[0].length_ns / 20 + slept);
    CHECK_IN(stalls[0].cpu_ns + stalls[0].waiting_ns, stalls[0].length_ns * 9 / 10,
             stalls[0].length_ns * 101 / 100); /* two clocks */
    CHECK_IN(stalls[1].cpu_ns, spun - 20 * MS, spun + 20 * MS);
    CHECK(strstr(names_of(p, stalls[0].samples[0].stack), "[task a]") != NULL);
    CHECK(strstr(names_of(p, stalls[1].samples[0].stack), "spin_in_a<[task b]") != NULL);
    CHECK(weight_with(p, "[task a]", NULL, NULL) > 20);
}

TEST(a_wait_is_seen_by_the_mode_that_sleeps_too)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[8];
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 5000);
    chroprof_enter(p, &site_a);
    sleep_in_c(300);
    chroprof_leave(p);
    settle(p);
    CHECK_EQ(chroprof_stalls(p, stalls, 8), 1);
    CHECK(stalls[0].waiting_ns > stalls[0].length_ns * 8 / 10);
}

/* Somebody may learn late that a program was idle, as chroprof run does of a loop it does not know.
 * What was sampled then is no work of the task before, and in no stall. */
TEST(an_idle_that_is_told_late)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[8];
    const chroprof_sample_row *rows;
    uint64_t begin, end, from_ns, to_ns, weight = 0;
    size_t count, i;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    start(p, CHROPROF_SAMPLER_WALL, 3000);
    chroprof_enter(p, &site_a);
    sleep_in_c(20); /* the clock is calibrated then */
    spin_in_a(130);
    begin = chroprof_now(p);
    spin_for(p, spin_in_b, 60, 10);
    end = chroprof_now(p);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, begin);
    from_ns = totals_of(p).elapsed_ns;
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, begin);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, end);
    to_ns = totals_of(p).elapsed_ns;
    chroprof_event(p, CHROPROF_ENTER, 0, &site_b, end);
    chroprof_leave(p);
    settle(p);
    rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++)
        if (rows[i].state == CHROPROF_SAMPLE_BUSY && rows[i].at_ns > from_ns &&
            rows[i].at_ns < to_ns)
            weight += rows[i].weight;
    CHECK_EQ(weight, 0);
    CHECK(weight_with(p, "[task a]", NULL, NULL) > 0);
    CHECK(chroprof_stalls(p, stalls, 8) > 0);
    CHECK(strstr(names_of(p, stalls[0].samples[0].stack), "spin_in_b") == NULL);
}

/* A wait whose end is told when the stall after it is over: the thread's CPU time is then that of the
 * stall's end, and says nothing of its begin. */
TEST(a_wait_that_ends_late_hides_no_work)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[8];
    uint64_t end;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    start(p, CHROPROF_SAMPLER_CPU, 3000);
    chroprof_enter(p, &site_a);
    sleep_in_c(20); /* the clock is calibrated then */
    spin_in_a(5);
    chroprof_leave(p);
    chroprof_idle_enter(p);
    sleep_in_c(20);
    end = chroprof_now(p);
    spin_for(p, spin_in_b, 130, 0);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, end);
    chroprof_event(p, CHROPROF_ENTER, 0, &site_b, end);
    chroprof_leave(p);
    settle(p);
    size_t count = chroprof_stalls(p, stalls, 8);
    CHECK(count > 0);
    CHECK(stalls[count - 1].length_ns >= 130 * MS);
    CHECK(stalls[count - 1].cpu_ns >= 100 * MS);
}

/* A stall that is shorter than a period: what was computed before it is not of it. */
TEST(a_short_wait_is_no_work_either)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[8];
    uint64_t begin, slept; /* CPU time */
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 100000);
    chroprof_enter(p, &site_b);
    spin_in_a(12);
    chroprof_leave(p);
    begin = cpu_ns();
    chroprof_enter(p, &site_a);
    sleep_in_c(60);
    chroprof_leave(p);
    slept = cpu_ns() - begin;
    settle(p);
    size_t count = chroprof_stalls(p, stalls, 8);
    CHECK(count >= 1 && count <= 8); /* the first one, on a busy machine */
    CHECK(stalls[count - 1].cpu_ns <= slept + 2 * MS);
    CHECK(stalls[count - 1].waiting_ns >= 50 * MS);
    CHECK_EQ(stalls[count - 1].cpu_ns + stalls[count - 1].waiting_ns, stalls[count - 1].length_ns);
}

TEST(a_sleeping_loop_is_left_alone)
{
    chroprof_options o = no_options();
    uint64_t k;
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 1000);
    for (k = 0; k < 5; k++) {
        chroprof_idle_enter(p);
        CHECK_EQ(poll(NULL, 0, 60), 0); /* not -1 and EINTR */
        chroprof_idle_leave(p);
    }
    settle(p);
    CHECK(sampler_of(p).ticks <= 5);
}

/* Nobody but the kernel knows how much of it is left. */
static int wait_that_is_cut(int ms)
{
#ifdef __linux__
    struct epoll_event event;
    int fd = epoll_create1(0), count, error;
    count = epoll_wait(fd, &event, 1, ms);
    error = errno;
    close(fd);
    errno = error;
    return count;
#else
    return poll(NULL, 0, ms);
#endif
}

/* Does the C library's code say which system call it is? */
#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(CHROPROF_ITIMER)
#define WAITS_GO_ON (__GLIBC__ == 2 && __GLIBC_MINOR__ < 41)
#else
#define WAITS_GO_ON 0
#endif

static void hear_nothing(int number)
{
    (void)number;
}

#if WAITS_GO_ON
static volatile long went_on;

/* The header's own way, by hand. */
static void go_on_with_the_poll(int number, siginfo_t *info, void *context)
{
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    int64_t words[17];
    int error = errno;
    (void)number;
    (void)info;
    memcpy(words, at, sizeof words);
    if (words[13] == -EINTR && words[14] == words[16])
        went_on = syscall(SYS_restart_syscall) == 0 ? 1 : -1;
    errno = error;
}
#endif

/* Does this kernel let a handler go on with a poll? Some that stand in for Linux may not. */
static bool kernel_goes_on(void)
{
#if WAITS_GO_ON
    struct itimerval alarm = { { 0, 0 }, { 0, 10000 } };
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = go_on_with_the_poll;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    went_on = 0;
    if (sigaction(SIGALRM, &action, &before) != 0 || setitimer(ITIMER_REAL, &alarm, NULL) != 0)
        return false;
    (void)poll(NULL, 0, 200);
    (void)sigaction(SIGALRM, &before, NULL);
    return went_on == 1;
#else
    return false;
#endif
}

static int wait_by(uint64_t kind)
{
    struct timespec t = { 0, 40000000 };
    struct timeval v = { 0, 40000 };
    switch (kind) {
    case 0: return poll(NULL, 0, 40);
    case 1: return nanosleep(&t, NULL);
    case 2: return select(0, NULL, NULL, NULL, &v);
    case 3: return pselect(0, NULL, NULL, NULL, &t, NULL);
    default:
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_sec += (t.tv_nsec + 40000000) / 1000000000;
        t.tv_nsec = (t.tv_nsec + 40000000) % 1000000000;
        return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

TEST(a_wait_goes_on_in_the_handler)
{
    chroprof_options o = no_options();
    uint64_t k, begin;
    PROMPT_SIGNALS();
    if (!kernel_goes_on())
        SKIP("it is not known here which system call it is, or the kernel forbids it");
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 3000);
    for (k = 0; k < 15; k++) {
        begin = clock_ns(CLOCK_MONOTONIC);
        chroprof_enter(p, &site_a);
        CHECK_EQ(wait_by(k % 5), 0);
        CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 40 * MS);
        chroprof_leave(p);
    }
    settle(p);
    laws_in_ticks(p);
    CHECK_EQ(sampler_of(p).interrupted, 0);
    CHECK(weight_with(p, "[task a]", NULL, NULL) > 100); /* of 200 and more */
}

TEST(a_wait_that_goes_on_is_ended_by_other_signals)
{
    chroprof_options o = no_options();
    const struct itimerval none = { { 0, 0 }, { 0, 0 } };
    struct itimerval alarm = { { 0, 50000 },
                               { 0, 50000 } }; /* the first may come before the wait */
    struct sigaction action, before;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    memset(&action, 0, sizeof action);
    action.sa_handler = hear_nothing;
    CHECK_EQ(sigaction(SIGALRM, &action, &before), 0);
    start(p, CHROPROF_SAMPLER_WALL, 3000);
    chroprof_enter(p, &site_a);
    CHECK_EQ(setitimer(ITIMER_REAL, &alarm, NULL), 0);
    CHECK_EQ(poll(NULL, 0, 60000), -1);
    CHECK_EQ(errno, EINTR);
    CHECK_EQ(setitimer(ITIMER_REAL, &none, NULL), 0);
    chroprof_leave(p);
    settle(p);
    CHECK_EQ(sigaction(SIGALRM, &before, NULL), 0);
    laws_in_ticks(p);
}

TEST(a_loop_survives_eintr)
{
    chroprof_options o = no_options();
    int pipes[2];
    uint64_t k, interrupted = 0;
    char byte = 0;
    chroprof *p = live_profile(&o);
    CHECK_EQ(pipe(pipes), 0);
    start(p, CHROPROF_SAMPLER_WALL, 3000);
    for (k = 0; k < 20; k++) { /* nobody says that these are idle */
        if (wait_that_is_cut(20) < 0) {
            CHECK_EQ(errno, EINTR);
            interrupted++;
        }
        chroprof_tick(p);
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        poll(NULL, 0, 100);
        _exit(write(pipes[1], "x", 1) == 1 ? 0 : 1);
    }
    CHECK_EQ(read(pipes[0], &byte, 1), 1); /* SA_RESTART: it goes on by itself */
    while (waitpid(child, NULL, 0) < 0)
        CHECK_EQ(errno, EINTR);
    close(pipes[0]);
    close(pipes[1]);
    settle(p);
    CHECK(interrupted > 0);
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    static harness_output out;
    memset(&out, 0, sizeof out);
    CHECK(sampler_of(p).interrupted >= interrupted);
    CHECK_EQ(chroprof_write(p, CHROPROF_TEXT, harness_collect, &out), 0);
    CHECK(strstr(out.bytes, "waits that may have ended early at a tick (EINTR): ") != NULL);
#endif
    uint64_t all = sampler_of(p).interrupted;
    chroprof_sampler_went_on(p, all - 1);
    CHECK_EQ(sampler_of(p).interrupted, 1);
    chroprof_sampler_went_on(p, 2);
    CHECK_EQ(sampler_of(p).interrupted, 0);
    CHECK(weight_with(p, "", NULL, NULL) > 10);
    laws_in_ticks(p);
}

/* ---- storms */

static void busy_life(chroprof *p, uint64_t rounds, uint64_t *seed)
{
    while (rounds-- > 0) {
        uint64_t id = 1 + random_below(seed, 50);
        switch (random_below(seed, 8)) {
        case 0: chroprof_pending(p, id, id % 2 ? &site_a : &site_b); break;
        case 1: chroprof_ready(p, id); break;
        case 2: chroprof_running(p, id); break;
        case 3: chroprof_paused(p, id); break;
        case 4: chroprof_completed(p, id); break;
        case 5: chroprof_enter(p, &on1); break;
        case 6: chroprof_leave(p); break;
        default: chroprof_switch(p, id); break;
        }
        if (rounds % 64 == 0) {
            chroprof_loop_enter(p);
            burn(200);
            chroprof_loop_leave(p);
        }
        if (rounds % 1000 == 0) {
            chroprof_idle_enter(p);
            chroprof_idle_leave(p);
        }
        burn(50);
    }
}

/* Where the processor has protection keys, the kernel makes such a page one that can only be run. */
/* No more signals come, whether events find the timer gone or not; then all begins anew. */
TEST(a_halted_timer)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    int mode;
    for (mode = 0; mode < 2; mode++) {
        start(p, mode == 0 ? CHROPROF_SAMPLER_CPU : CHROPROF_SAMPLER_WALL, 1000);
        chroprof_sampler_halt(p);
        uint64_t ticks = sampler_of(p).ticks;
        spin_for(p, spin_in_a, 40, 0);
        chroprof_tick(p);
        CHECK_EQ(sampler_of(p).ticks, ticks);
        chroprof_sampler_halt(p);
        chroprof_sampler_stop(p);
        CHECK(!sampler_of(p).running);
        start(p, CHROPROF_SAMPLER_CPU, 1000);
        spin_for(p, spin_in_a, 20, 1);
        CHECK(sampler_of(p).ticks > ticks);
        settle(p);
    }
}

TEST(a_wait_in_code_that_cannot_be_read)
{
#if defined(__linux__) && defined(__x86_64__) && defined(MAP_ANONYMOUS)
    static const unsigned char poll_call[] = { 0xb8, 7, 0, 0, 0, 0x0f, 0x05, 0xc3 };
    chroprof_options o = no_options();
    long (*waits)(void *, long, long);
    chroprof *p = live_profile(&o);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int k, cut = 0;
    PROMPT_SIGNALS();
    CHECK(page != MAP_FAILED);
    memcpy(page, poll_call, sizeof poll_call);
    if (mprotect(page, 4096, PROT_EXEC) != 0)
        SKIP("code of one's own is forbidden here");
    memcpy(&waits, &page, sizeof waits);
    start(p, CHROPROF_SAMPLER_WALL, 3000);
    for (k = 0; k < 20; k++) {
        cut += waits(NULL, 0, 20) == -EINTR;
        chroprof_tick(p);
    }
    settle(p);
    munmap(page, 4096);
    CHECK(sampler_of(p).interrupted >= (uint64_t)cut); /* where it can be read it goes on */
#else
    SKIP("the code is of x86-64 Linux");
#endif
}

TEST(a_storm_breaks_no_law)
{
    chroprof_options o = no_options();
    uint64_t seed = 1, end;
    random_seed(1);
    seed = harness()->seed;
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 1000);
    for (end = clock_ns(CLOCK_MONOTONIC) + 1500 * MS; clock_ns(CLOCK_MONOTONIC) < end;) {
        busy_life(p, 2000, &seed);
        laws_in_ticks(p);
        if (random_below(&seed, 50) == 0) {
            chroprof_reset(p);
            laws_in_ticks(p);
        }
    }
    settle(p);
    laws_in_ticks(p);
    CHECK(sampler_of(p).ticks > 0);
}

TEST(a_storm_from_many_sides)
{
    chroprof_options o = no_options();
    uint64_t seed = 3, end;
    static uint64_t copy[(1 << 20) / 8];
    chroprof view;
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 200);
    for (end = clock_ns(CLOCK_MONOTONIC) + 500 * MS; clock_ns(CLOCK_MONOTONIC) < end;) {
        busy_life(p, 500, &seed);
        CHECK_EQ(chroprof_snapshot(live_memory, sizeof live_memory, copy, sizeof copy),
                 CHROPROF_OK);
        CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
        laws_in_ticks(&view);
        chroprof_set_enabled(p, false);
        burn(20000);
        chroprof_set_enabled(p, true);
    }
    settle(p);
    laws_in_ticks(p);
}

/* ---- accuracy */

/* Slices of random lengths; the sampled share of each site against its exact exec time. */
static bool shares_agree(chroprof *p, chroprof_sampler_mode mode)
{
    uint64_t seed = harness()->seed, end, weight[2] = { 0, 0 }, all, square = 0;
    size_t count, i;
    start(p, mode, 1100);
    for (end = clock_ns(CLOCK_MONOTONIC) + 2000 * MS; clock_ns(CLOCK_MONOTONIC) < end;) {
        bool a = random_below(&seed, 10) < 7;
        chroprof_enter(p, a ? &site_a : &site_b);
        burn((unsigned)(20000 + random_below(&seed, 400000)));
        chroprof_leave(p);
    }
    settle(p);
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++)
        square += rows[i].weight * rows[i].weight;
    weight[0] = weight_with(p, "[task a]", NULL, NULL);
    weight[1] = weight_with(p, "[task b]", NULL, NULL);
    all = weight[0] + weight[1];
    double exact = (double)rank_of(p, "task a").exec_ns;
    double share = exact / (exact + (double)rank_of(p, "task b").exec_ns);
    double seen = (double)weight[0] / (double)all;
    /* of all + rows that weigh more than others: the variance of a weighted mean */
    double variance = share * (1 - share) * (double)square / ((double)all * (double)all);
    printf("# share %.4f, sampled %.4f of %" PRIu64 ", %.2f standard errors squared\n", share, seen,
           all, variance > 0 ? (seen - share) * (seen - share) / variance : 0);
    return all > 100 && (seen - share) * (seen - share) <= 9 * variance;
}

TEST(sampled_shares_are_the_exact_ones)
{
    chroprof_options o = no_options();
    int tries = 0;
    bool good = false;
    PROMPT_SIGNALS();
    random_seed(5);
    o.max_samples = 2000;
    while (!good && tries++ < 3)
        good = shares_agree(live_profile(&o), CHROPROF_SAMPLER_WALL);
    CHECK(good);
}

/* ---- hostile stacks */

/* Spins with anything in the frame pointer. */
static void spin_with_frame(uintptr_t frame)
{
    unsigned k;
    for (k = 0; k < 3000; k++) {
#if defined(__x86_64__)
        __asm__ volatile("lea -128(%%rsp), %%rsp\n push %%rbp\n" /* below the red zone */
                         "mov %0, %%rbp\n mov $3000, %%ecx\n 1: dec %%ecx\n jnz 1b\n"
                         "pop %%rbp\n lea 128(%%rsp), %%rsp"
                         :
                         : "r"(frame)
                         : "rcx", "cc", "memory");
#else
        __asm__ volatile("stp x29, x30, [sp, #-16]!\n mov x29, %0\n mov w9, #3000\n"
                         "1: subs w9, w9, #1\n b.ne 1b\n ldp x29, x30, [sp], #16"
                         :
                         : "r"(frame)
                         : "x9", "cc", "memory");
#endif
    }
}

TEST(any_frame_pointer_is_survived)
{
    chroprof_options o = no_options();
    uintptr_t here[4];
    size_t i;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    uintptr_t bad[] = {
        0,
        1,
        8,
        4096,
        UINTPTR_MAX,
        UINTPTR_MAX - 15,
        UINTPTR_MAX / 2 + 1,
        (uintptr_t)live_memory,
        (uintptr_t)here,
        (uintptr_t)here + 1,
        (uintptr_t)here - 4096,
        (uintptr_t)here + (1 << 20),
        (uintptr_t)here + (64 << 20),
        (uintptr_t)&spin_in_a,
    };
    here[0] = here[2] = (uintptr_t)here; /* a record that leads to itself */
    here[1] = here[3] = (uintptr_t)&spin_in_a;
    start(p, CHROPROF_SAMPLER_WALL, 200);
    chroprof_enter(p, &site_a);
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        spin_with_frame(bad[i]);
        chroprof_tick(p);
    }
    chroprof_leave(p);
    settle(p);
    laws_in_ticks(p);
    CHECK(weight_with(p, "(frames missing)", "[task a]", NULL) > 0);
    CHECK(weight_with(p, "[task a]", NULL, NULL) > 20);
}

#if defined(__x86_64__)
/* An event from code that keeps anything in the frame pointer. */
static void run_with_frame(chroprof *p, uint64_t id, uintptr_t frame)
{
    void (*event)(chroprof *, uint64_t) = chroprof_running;
    __asm__ volatile("mov %%rsp, %%r12\n sub $256, %%rsp\n and $-16, %%rsp\n mov %%rbp, %%r14\n"
                     "mov %3, %%rbp\n call *%2\n mov %%r14, %%rbp\n mov %%r12, %%rsp"
                     : "+D"(p), "+S"(id)
                     : "r"(event), "r"(frame)
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r14", "cc", "memory",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

enum { GUARDED_STACK = 1 << 22, GUARD = 1 << 16 };

typedef struct guarded {
    void *low;
    chroprof *p;
    chroprof_result started;
    int error;
} guarded;

/* Who gives a thread its stack puts the guard into it, and the system knows of none. */
static void *run_above_a_guard(void *argument)
{
    guarded *g = (guarded *)argument;
    g->started = try_start(g->p, CHROPROF_SAMPLER_CPU, 4000);
    g->error = errno;
    chroprof_pending(g->p, 7, &site_a);
    run_with_frame(g->p, 7, (uintptr_t)g->low + GUARD / 2);
    chroprof_paused(g->p, 7);
    chroprof_sampler_stop(g->p);
    return NULL;
}

TEST(an_event_reads_no_guard_page)
{
    chroprof_options o = no_options();
    pthread_t thread;
    pthread_attr_t attributes;
    guarded g;
    memset(&g, 0, sizeof g);
    g.p = live_profile(&o);
    CHECK_EQ(posix_memalign(&g.low, GUARD, GUARDED_STACK), 0);
    CHECK_EQ(mprotect(g.low, GUARD, PROT_NONE), 0);
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstack(&attributes, g.low, GUARDED_STACK), 0);
    CHECK_EQ(pthread_create(&thread, &attributes, run_above_a_guard, &g), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    CHECK_EQ(mprotect(g.low, GUARD, PROT_READ | PROT_WRITE), 0);
    free(g.low);
    laws_in_ticks(g.p);
    errno = g.error;
    STARTED(g.started);
}
#else
TEST(an_event_reads_no_guard_page)
{
    SKIP("the frame pointer of an event's caller is set by x86-64 instructions");
}
#endif

__attribute__((noinline)) void dive(chroprof *p, int depth, uint64_t ms)
{
    volatile int here = depth;
    if (here > 0)
        dive(p, depth - 1, ms);
    else
        spin_for(p, spin_in_a, ms, 20);
    here = here + 1;
}

TEST(deep_recursion)
{
    chroprof_options o = no_options();
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    dive(p, 20000, 200);
    chroprof_leave(p);
    settle(p);
    CHECK(weight_with(p, "spin_in_a<spin_for<dive<dive", "(deeper frames)<[task a]", NULL) > 10);
}

static chroprof *signalled;

static void spin_in_handler(int number)
{
    (void)number;
    spin_for(signalled, spin_in_b, 150, 15);
}

TEST(other_stacks_of_signals)
{
    static char other[1 << 16];
    chroprof_options o = no_options();
    stack_t stack, before;
    struct sigaction action, old;
    PROMPT_SIGNALS();
    chroprof *p = signalled = live_profile(&o);
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = other;
    stack.ss_size = sizeof other;
    CHECK_EQ(sigaltstack(&stack, &before), 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = spin_in_handler;
    action.sa_flags = SA_ONSTACK;
    CHECK_EQ(sigaction(SIGUSR1, &action, &old), 0);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 60, 8); /* the sampler's handler on that stack itself */
    raise(SIGUSR1);                /* interrupted on that stack */
    chroprof_leave(p);
    settle(p);
    sigaction(SIGUSR1, &old, NULL);
    before.ss_flags = before.ss_sp ? before.ss_flags : SS_DISABLE;
    CHECK_EQ(sigaltstack(&before, NULL), 0);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) >= 5);
    CHECK(weight_with(p, "(unknown stack)", "[task a]", NULL) >= 10);
}

TEST(longjmp_out_of_a_task)
{
    chroprof_options o = no_options();
    static jmp_buf out;
    static volatile int rounds;
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 500);
    rounds = 0;
    (void)setjmp(out);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    laws_in_ticks(p);
    if (rounds < 200) {
        rounds = rounds + 1;
        chroprof_enter(p, &site_a);
        chroprof_enter(p, &site_b);
        burn(100000);
        longjmp(out, 1);
    }
    settle(p);
    CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_UNWOUND_BY_IDLE), 400);
    CHECK(weight_with(p, "[task b]", "[task a]", NULL) > 0);
}

/* ---- stacks of fibers */

void on_fiber(void);

static ucontext_t fiber, scheduler;
static chroprof *fiber_profile;

__attribute__((noinline)) void on_fiber(void)
{
    chroprof_enter(fiber_profile, &site_b);
    spin_for(fiber_profile, spin_in_a, 120, 15);
    chroprof_leave(fiber_profile);
    burn(1);
}

/* Runs it under task a; told: the sampler knows its stack. */
static void resume_fiber(chroprof *p, bool told)
{
    static char stack[1 << 16];
    fiber_profile = p;
    CHECK_EQ(getcontext(&fiber), 0);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof stack;
    fiber.uc_link = &scheduler;
    makecontext(&fiber, on_fiber, 0);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    if (told)
        chroprof_sampler_stack(p, stack, sizeof stack);
    CHECK_EQ(swapcontext(&scheduler, &fiber), 0);
    chroprof_sampler_stack(p, NULL, 0);
    spin_for(p, spin_in_b, 240, 10);
    chroprof_leave(p);
    settle(p);
    CHECK(weight_with(p, "spin_in_b", "[task a]", "main") > 5);
}

TEST(a_fiber_whose_stack_is_known)
{
    chroprof_options o = no_options();
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    resume_fiber(p, true);
    CHECK(weight_with(p, "spin_in_a<spin_for<[task b]<on_fiber<", "[task a]", NULL) > 10);
    CHECK_EQ(weight_with(p, "(unknown stack)", NULL, NULL), 0);
    CHECK_EQ(weight_with(p, "on_fiber", "(frames missing)", NULL), 0);
}

TEST(a_fiber_whose_stack_is_not)
{
    chroprof_options o = no_options();
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    resume_fiber(p, false);
    CHECK(weight_with(p, "(unknown stack)<[task b]<[task a]", NULL, NULL) > 10);
}

/* ---- a walk of the user's own */

static uint32_t two_addresses(void *user, void *context, uintptr_t *addresses, uint32_t capacity)
{
    ++*(unsigned *)user;
    (void)context;
    addresses[0] = (uintptr_t)&spin_in_a + 1;
    addresses[1] = (uintptr_t)&run_loop + 1;
    return capacity < 2 ? capacity : 2;
}

TEST(a_walk_of_the_user)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    unsigned calls = 0;
    int k;
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    s.period_ns = 4 * MS;
    s.unwind = two_addresses;
    s.unwind_user = &calls;
    STARTED(chroprof_sampler_start(p, &s));
    chroprof_enter(p, &site_a);
    spin_in_b(100);
    for (k = 0; k < 200 && *(volatile unsigned *)&calls < 6; k++)
        spin_in_b(20);
    chroprof_leave(p);
    settle(p);
    CHECK(calls > 3 || !PROMPT);
    CHECK(weight_with(p, "spin_in_a<run_loop<(frames missing)<[task a]", NULL, NULL) > 3 ||
          !PROMPT);
}

/* It knows that the outer function was there before the task, and where the stack ends. */
static uint32_t woven_addresses(void *user, void *context, uintptr_t *addresses, uint32_t capacity)
{
    uint32_t count = two_addresses(user, context, addresses, capacity);
    addresses[capacity] = 2;
    addresses[capacity + 1] = 1;
    addresses[count] = 0;
    return count + 1;
}

TEST(a_woven_walk_of_the_user)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    unsigned calls = 0;
    int k;
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    s.period_ns = 4 * MS;
    s.unwind = woven_addresses;
    s.unwind_user = &calls;
    STARTED(chroprof_sampler_start(p, &s));
    chroprof_enter(p, &site_a);
    spin_in_b(100);
    for (k = 0; k < 200 && *(volatile unsigned *)&calls < 6; k++)
        spin_in_b(20);
    chroprof_leave(p);
    settle(p);
    CHECK(calls > 3 || !PROMPT);
    CHECK(weight_with(p, "spin_in_a<[task a]<run_loop", NULL, NULL) > 3 || !PROMPT);
    CHECK(weight_with(p, "(frames missing)", NULL, NULL) == 0);
}

/* ---- a library that nobody compiled with frame pointers */

static uint64_t weight_in_module(const chroprof *p, const char *module, const char *task)
{
    chroprof_stack_frame frames[FRAMES];
    size_t count, i, k;
    uint64_t weight = 0;
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++) {
        size_t depth = chroprof_stack(p, rows[i].stack, frames, FRAMES);
        bool in = depth > 0 && frames[0].kind == CHROPROF_FRAME_NATIVE &&
                  strstr(frames[0].module, module) != NULL && frames[0].address < 1 << 24 &&
                  strlen(frames[0].build_id) >= 16;
        for (k = 1; in && k < depth && k < FRAMES && frames[k].kind != CHROPROF_FRAME_TASK;)
            k++;
        if (in && k < depth && strcmp(frames[k].name, task) == 0)
            weight += rows[i].weight;
    }
    return weight;
}

#if defined(__SANITIZE_ADDRESS__)
#define OWN_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_ALLOCATOR 1
#endif
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR 0
#endif

static char matched[2000];
static regex_t pattern;

static void match_in_the_library(uint64_t ms)
{
    uint64_t end = cpu_ns() + ms * MS;
    while (cpu_ns() < end)
        (void)regexec(&pattern, matched, 0, NULL, 0);
}

TEST(a_stall_in_a_library)
{
    chroprof_options o = no_options();
    chroprof_stall stalls[4];
    uint64_t all;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    memset(matched, 'a', sizeof matched - 1);
    CHECK_EQ(regcomp(&pattern, "(a*)*(a*)*b", REG_EXTENDED), 0);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, match_in_the_library, 200, 25);
    chroprof_leave(p);
    settle(p);
    regfree(&pattern);
    all = weight_with(p, "[task a]", NULL, NULL);
    CHECK(all > 15);
    if (!OWN_ALLOCATOR) /* the sanitizer's is no part of the library */
        CHECK(weight_in_module(p, "libc", "task a") * 10 >= all * 8);
    CHECK_EQ(chroprof_stalls(p, stalls, 4), 1);
    CHECK(stalls[0].sampled > 15);
}

/* ---- libraries that come and go */

/* A library of one function; false: there is no compiler here. */
static bool build_library(const char *name)
{
    char command[600];
    snprintf(
        command, sizeof command,
        "echo 'volatile int n;"
        " void work(long k) { while (k-- > 0) n++; }' | cc -x c -O0 -fno-omit-frame-pointer -shared -fPIC -o %s - 2>/dev/null",
        scratch(name));
    return system(command) == 0;
}

static void (*loaded_work)(long);

static void work_in_the_plugin(uint64_t ms)
{
    uint64_t end = cpu_ns() + ms * MS;
    while (cpu_ns() < end)
        loaded_work(100000);
}

/* Works for 200 ms in a library that is opened by this path. Returns where it was. */
static uintptr_t run_plugin(chroprof *p, const chroprof_site *site, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void *symbol;
    uint64_t before;
    int k;
    CHECK(library != NULL);
    symbol = dlsym(library, "work");
    memcpy(&loaded_work, &symbol, sizeof loaded_work);
    before = looks_of(p);
    /* ticks of the first may be of what was there before; a busy machine delivers fewer */
    for (k = 0; k < 20 || (k < 1000 && looks_of(p) - before < 25); k++) {
        chroprof_enter(p, site);
        work_in_the_plugin(10);
        chroprof_leave(p);
    }
    chroprof_tick(p);
    CHECK_EQ(dlclose(library), 0);
    return (uintptr_t)symbol;
}

/* One takes the other's place, less than a second after the last look: each has its own samples. */
TEST(libraries_at_one_address)
{
    chroprof_options o = no_options();
    uint64_t one, two;
    if (!build_library("plugin_one.so") || !build_library("plugin_two.so"))
        SKIP("needs a compiler named cc");
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    uintptr_t first = run_plugin(p, &site_a, scratch("plugin_one.so"));
    uintptr_t second = run_plugin(p, &site_b, scratch("plugin_two.so"));
    settle(p);
    one = weight_in_module(p, "plugin_one.so", "task a");
    two = weight_in_module(p, "plugin_two.so", "task b");
    printf("# %" PRIu64 " and %" PRIu64 " samples, at one address: %d\n", one, two,
           first == second);
    CHECK(one > 10);
    CHECK(two > 10);
    CHECK_EQ(weight_in_module(p, "plugin_one.so", "task b"), 0);
    CHECK_EQ(weight_in_module(p, "plugin_two.so", "task a"), 0);
}

static void *open_plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW), *symbol;
    CHECK(library != NULL);
    symbol = dlsym(library, "work");
    memcpy(&loaded_work, &symbol, sizeof loaded_work);
    return library;
}

/* One goes, another works at its address and goes, and the first comes back, all in one callback:
 * what worked there is not known, but never called by the wrong name. */
TEST(a_library_that_was_away_during_a_callback)
{
    chroprof_options o = no_options();
    const char *first = "plugin_one.so", *second = "plugin_two.so";
    int k;
    if (!build_library(first) || !build_library(second))
        SKIP("needs a compiler named cc");
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    void *library = open_plugin(scratch(first));
    /* a busy machine delivers ticks late, and fewer */
    for (k = 0; k < 10 || (k < 1000 && weight_in_module(p, first, "task a") <= 5); k++) {
        chroprof_enter(p, &site_a);
        work_in_the_plugin(10);
        chroprof_leave(p);
    }
    CHECK(weight_in_module(p, first, "task a") > 5);
    for (k = 0; k < 5; k++) {
        chroprof_enter(p, &site_b);
        CHECK_EQ(dlclose(library), 0);
        library = open_plugin(scratch(second));
        work_in_the_plugin(20);
        CHECK_EQ(dlclose(library), 0);
        library = open_plugin(scratch(first));
        chroprof_leave(p);
    }
    settle(p);
    CHECK_EQ(dlclose(library), 0);
    CHECK(weight_with(p, "[task b]", NULL, NULL) > 10);
    CHECK_EQ(weight_in_module(p, first, "task b"), 0);
}

/* Plugins that come and go while ticks come, more than there are rows of modules: those that do
 * nothing give way, and the last ones are known. */
TEST(more_libraries_than_fit)
{
    enum { PLUGINS = 80, LAST = 5 };
    chroprof_options o = no_options();
    char command[700], name[32];
    uint64_t known = 0;
    int k, i;
    if (!build_library("plugin_one.so"))
        SKIP("needs a compiler named cc");
    snprintf(command, sizeof command,
             "cd %s && for k in $(seq 0 %d); do cp plugin_one.so plugin_$k.so; done", scratch("."),
             PLUGINS - 1);
    CHECK_EQ(system(command), 0);
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 1000);
    for (k = 0; k < PLUGINS; k++) {
        snprintf(name, sizeof name, "plugin_%d.so", k);
        void *library = open_plugin(scratch(name));
        uint64_t ticks = sampler_of(p).ticks, end = cpu_ns() + 1000 * MS;
        chroprof_enter(p, &site_b);
        while (sampler_of(p).ticks == ticks && cpu_ns() < end)
            burn(10000);
        chroprof_leave(p);
        for (i = 0; k >= PLUGINS - LAST && i < 4; i++) {
            chroprof_enter(p, &site_a);
            work_in_the_plugin(10);
            chroprof_leave(p);
        }
        CHECK_EQ(dlclose(library), 0);
    }
    settle(p);
    for (k = PLUGINS - LAST; k < PLUGINS; k++) {
        snprintf(name, sizeof name, "plugin_%d.so", k);
        known += weight_in_module(p, name, "task a");
    }
    printf("# %" PRIu64 " samples in the last plugins\n", known);
    CHECK(known > 20);
}

/* The one module that is no file is the kernel's own, which has no path. */
static bool every_module_is_absolute(const chroprof *p)
{
    chroprof_stack_frame frames[FRAMES];
    size_t count, i;
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    for (i = 0; i < count; i++)
        if (chroprof_stack(p, rows[i].stack, frames, FRAMES) > 0 && frames[0].module[0] != '\0' &&
            frames[0].module[0] != '/' && strstr(frames[0].module, "vdso") == NULL)
            return false;
    return true;
}

TEST(a_library_opened_by_a_relative_path)
{
    chroprof_options o = no_options();
    char path[300];
    if (!build_library("plugin_one.so"))
        SKIP("needs a compiler named cc");
    snprintf(path, sizeof path, "./%s", scratch("plugin_one.so"));
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    (void)run_plugin(p, &site_a, scratch("plugin_one.so")[0] == '/' ? path + 2 : path);
    settle(p);
    CHECK(weight_in_module(p, "plugin_one.so", "task a") > 10);
    CHECK(every_module_is_absolute(p));
}

/* ---- draws of live futures */

/* The shares of weight per path and state against lifetime, delay and exec. */
static bool walls_agree(chroprof *p)
{
    chroprof_wall rows[8];
    uint64_t seed = harness()->seed, id, end, all = 0, waiting = 0;
    size_t count, i;
    double worst = 0;
    for (id = 1; id <= 100; id++)
        chroprof_pending(p, id, id <= 60 ? &site_a : &site_b);
    start(p, CHROPROF_SAMPLER_WALL, 1000);
    for (end = clock_ns(CLOCK_MONOTONIC) + 1500 * MS; clock_ns(CLOCK_MONOTONIC) < end;) {
        id = 1 + random_below(&seed, 100);
        if (random_below(&seed, 3) == 0)
            chroprof_ready(p, 1 + random_below(&seed, 100));
        chroprof_running(p, id);
        burn((unsigned)(10000 + random_below(&seed, id <= 60 ? 100000 : 400000)));
        chroprof_paused(p, id);
    }
    settle(p);
    count = chroprof_walls(p, rows, 8);
    CHECK_EQ(count, 2);
    for (i = 0; i < count; i++)
        all += rows[i].running + rows[i].ready + rows[i].paused;
    CHECK_EQ(all, sampler_of(p).draws);
    for (i = 0; i < count; i++)
        waiting += rank_of(p, i ? "task b" : "task a").lifetime_ns;
    for (i = 0; i < count; i++) {
        chroprof_rank r = rank_of(p, i ? "task b" : "task a");
        const double exact[3] = { (double)r.exec_ns, (double)r.delay_ns, (double)r.waiting_ns };
        const double seen[3] = { (double)rows[i].running, (double)rows[i].ready,
                                 (double)rows[i].paused };
        int k;
        for (k = 0; k < 3; k++) {
            double share = exact[k] / (double)waiting, off = seen[k] / (double)all - share;
            /* the 8 draws of a tick share its moment, so the tick is what counts */
            double variance = share * (1 - share) / ((double)all / 8);
            worst = off * off / variance > worst ? off * off / variance : worst;
        }
    }
    printf("# %" PRIu64 " draws, %" PRIu64 " misses, worst %.1f standard errors squared\n", all,
           sampler_of(p).misses, worst);
    return all > 1000 && worst <= 16;
}

TEST(drawn_futures_are_where_futures_are)
{
    chroprof_options o = no_options();
    int tries = 0;
    bool good = false;
    random_seed(11);
    PROMPT_SIGNALS();
    o.max_futures = 200;
    while (!good && tries++ < 3)
        good = walls_agree(live_profile(&o));
    CHECK(good);
}

TEST(drawn_again_with_nothing_in_between)
{
    chroprof_options o = no_options();
    chroprof_wall row;
    PROMPT_SIGNALS();
    o.max_futures = 1; /* few slots, so that draws meet it */
    o.max_depth = 4;
    chroprof *p = live_profile(&o);
    chroprof_pending(p, 1, &site_a);
    start(p, CHROPROF_SAMPLER_WALL, 5000);
    chroprof_running(p, 1);
    spin_for(p, spin_in_a, 150, 20); /* no event in here: ticks met the same future */
    settle(p);
    CHECK_EQ(chroprof_walls(p, &row, 1), 1);
    CHECK_EQ(row.ready + row.paused, 0);
    CHECK(row.running > 20);
    CHECK(row.running_ns > 80 * MS);
    CHECK(row.running_ns <= totals_of(p).elapsed_ns);
}

/* ---- what people read */

/* A loop that tells nobody that it is idle. Where the C library has no names, as in a static
 * program, there are its samples. */
TEST(findings_name_the_wait)
{
    chroprof_options o = no_options();
    chroprof_finding found;
    uint64_t end;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_WALL, 5000);
    for (end = clock_ns(CLOCK_MONOTONIC) + 700 * MS; clock_ns(CLOCK_MONOTONIC) < end;) {
        (void)poll(NULL, 0, 20);
        chroprof_enter(p, &site_a);
        chroprof_leave(p);
    }
    settle(p);
    CHECK(chroprof_findings(p, &found, 1) > 0);
    CHECK_EQ(found.kind, CHROPROF_FINDING_NO_IDLE);
    CHECK(strstr(found.text, "poll.") != NULL || strstr(found.text, "the samples show") != NULL);
    CHECK(strstr(found.text, "EPOLL_IDLE") == NULL);
}

TEST(the_report_names_functions)
{
    chroprof_options o = no_options();
    static harness_output out;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 150, 20);
    chroprof_leave(p);
    settle(p);
    memset(&out, 0, sizeof out);
    CHECK_EQ(chroprof_write(p, CHROPROF_TEXT, harness_collect, &out), 0);
    CHECK(strstr(out.bytes, "\nSAMPLES  ") != NULL);
    CHECK(strstr(out.bytes, "one every 4.00ms of CPU time") != NULL);
    CHECK(strstr(out.bytes, " in spin_in_a < ") != NULL || strstr(out.bytes, " < spin_in_a < "));
    CHECK(strstr(out.bytes, "CPU, ") != NULL);
    memset(&out, 0, sizeof out);
    CHECK_EQ(chroprof_write(p, CHROPROF_JSON, harness_collect, &out), 0);
    CHECK(strstr(out.bytes, "\"name\":\"spin_in_a\"") != NULL);
    CHECK(strstr(out.bytes, "\"running\":false,\"mode\":\"cpu\",\"period_ns\":4000000") != NULL);
}

TEST(functions_and_stalls_are_merged)
{
    static uint64_t copy[(1 << 20) / 8], memory[(1 << 20) / 8];
    chroprof_options o = no_options();
    chroprof sum, view;
    chroprof_stall stalls[4];
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 150, 20);
    chroprof_leave(p);
    settle(p);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    laws_in_ticks(&sum);
    uint64_t once = weight_with(p, "spin_in_a", "[task a]", NULL);
    CHECK(once > 10);
    CHECK_EQ(weight_with(&sum, "spin_in_a", "[task a]", NULL), 2 * once);
    CHECK_EQ(sampler_of(&sum).samples, 2 * sampler_of(p).samples);
    CHECK_EQ(sampler_of(&sum).first_period_ns, 4 * MS);
    CHECK_EQ(chroprof_stalls(&sum, stalls, 4), 2);
    CHECK(stalls[1].sample_count > 0 && stalls[1].waiting_ns + stalls[1].cpu_ns > 100 * MS);
    CHECK(strstr(names_of(&sum, stalls[1].samples[0].stack), "[task a]") != NULL);
    /* of another process: no names of this one */
    CHECK_EQ(chroprof_snapshot(live_memory, sizeof live_memory, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &view), CHROPROF_OK);
    laws_in_ticks(&sum);
    CHECK_EQ(weight_with(&sum, "spin_in_a", NULL, NULL), 0);
    CHECK_EQ(weight_with(&sum, "[task a]", NULL, NULL), 3 * weight_with(p, "[task a]", NULL, NULL));
}

/* No event comes, as in a program that hangs: a copy has the ticks that wait, the profile itself
 * has not; and what came since the copy is known by its difference. */
TEST(a_copy_has_the_ticks_that_wait)
{
    static uint64_t copy[(1 << 20) / 8], later[(1 << 20) / 8], since[(1 << 20) / 8];
    chroprof_options o = no_options();
    chroprof view, newer, difference;
    uint64_t waiting;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_in_a(60);
    chroprof_tick(p);
    uint64_t taken = sampler_of(p).samples;
    spin_for(p, spin_in_b, 120, 15);
    CHECK_EQ(chroprof_snapshot(live_memory, sizeof live_memory, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(sampler_of(p).samples, taken);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    laws_in_ticks(&view);
    waiting = sampler_of(&view).samples;
    CHECK(waiting >= taken + 10);
    CHECK_EQ(waiting, sampler_of(&view).ticks);
    CHECK(sampler_of(&view).running);
    size_t count;
    const chroprof_sample_row *rows = samples_of(&view, 0, UINT64_MAX, &count);
    CHECK(totals_of(&view).living && totals_of(p).elapsed_ns + 60 * MS < rows[count - 1].at_ns);
    CHECK(rows[count - 1].at_ns <= totals_of(&view).elapsed_ns);
    CHECK(strstr(names_of(&view, rows[count - 1].stack), "[task a]") != NULL);
    spin_for(p, spin_in_b, 60, 3);
    chroprof_leave(p);
    settle(p);
    CHECK(sampler_of(p).samples > waiting);
    CHECK_EQ(chroprof_snapshot(live_memory, sizeof live_memory, later, sizeof later), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&newer, later, sizeof later), CHROPROF_OK);
    CHECK_EQ(chroprof_difference(&newer, &view, since, sizeof since), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&difference, since, sizeof since), CHROPROF_OK);
    laws_in_ticks(&difference);
    CHECK_EQ(sampler_of(&difference).samples, sampler_of(p).samples - waiting);
}

/* ---- life of a sampler */

#ifdef CHROPROF_ITIMER
enum { TAKEN_SIGNAL = SIGPROF }; /* the one that a start without a wish takes */

static bool timers_are_listed(void)
{
    return true;
}

static size_t timers_of_process(void)
{
    struct itimerval cpu, wall;
    CHECK_EQ(getitimer(ITIMER_PROF, &cpu), 0);
    CHECK_EQ(getitimer(ITIMER_REAL, &wall), 0);
    return (size_t)(cpu.it_value.tv_sec || cpu.it_value.tv_usec) +
           (size_t)(wall.it_value.tv_sec || wall.it_value.tv_usec);
}
#else
#define TAKEN_SIGNAL SIGRTMIN

/* Only kernels that can save and restore processes list them. */
static bool timers_are_listed(void)
{
    return access("/proc/self/timers", R_OK) == 0;
}

/* 0 where nobody lists them. */
static size_t timers_of_process(void)
{
    char line[256];
    size_t count = 0;
    FILE *file = fopen("/proc/self/timers", "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        count += strncmp(line, "ID:", 3) == 0;
    fclose(file);
    return count;
}
#endif

static bool signal_is_default(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

static bool signals_are_default(void)
{
    int number;
    for (number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (!signal_is_default(number))
            return false;
    return signal_is_default(SIGPROF) && signal_is_default(SIGALRM);
}

TEST(ten_thousand_starts_leak_nothing)
{
    chroprof_options o = no_options();
    int k;
    bool listed = timers_are_listed();
    size_t before = timers_of_process();
    chroprof *p = live_profile(&o);
    for (k = 0; k < 10000; k++) {
        start(p, k % 2 ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU, 100);
        if (k % 1000 == 0)
            CHECK_EQ(timers_of_process(), before + listed);
        chroprof_sampler_stop(p);
    }
    CHECK_EQ(timers_of_process(), before);
    CHECK(signals_are_default());
    settle(p);
    laws_in_ticks(p);
    if (!listed)
        SKIP("all but the count of timers holds: /proc/self/timers, which has it, is not there");
}

static void some_handler(int number)
{
    (void)number;
}

TEST(what_start_refuses)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    struct sigaction mine, old;
    chroprof zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    memset(&s, 0, sizeof s);
    CHECK_EQ(chroprof_sampler_start(NULL, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_sampler_start(&zeroed, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_sampler_stop(NULL);
    chroprof_sampler_stop(&zeroed);
    chroprof_sampler_stack(&zeroed, NULL, 0);
    CHECK_EQ(chroprof_init(&live, live_memory, CHROPROF_MEMORY_MIN, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_sampler_start(&live, NULL), CHROPROF_ERR_SAMPLER_MEMORY);
    CHECK(strstr(chroprof_result_text(CHROPROF_ERR_SAMPLER_MEMORY), "max_samples") != NULL);
    chroprof *p = live_profile(&o);
    memset(&mine, 0, sizeof mine);
    mine.sa_handler = some_handler;
    CHECK_EQ(sigaction(TAKEN_SIGNAL, &mine, &old), 0);
    s.signal = TAKEN_SIGNAL;
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_SIGNAL);
    s.signal = SIGKILL;
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_SIGNAL);
    s.signal = INT_MAX;
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_SIGNAL);
    s.signal = -1;
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_SIGNAL);
    CHECK_EQ(sigaction(TAKEN_SIGNAL, &old, &mine), 0);
    CHECK(mine.sa_handler == some_handler);
    s.signal = 0;
    STARTED(chroprof_sampler_start(p, &s));
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_RUNNING);
    CHECK(sampler_of(p).running);
    CHECK_EQ(sampler_of(p).period_ns, 19 * MS);
    CHECK_EQ(sampler_of(p).budget_ppm, 10000);
    chroprof_sampler_stop(p);
    CHECK(!sampler_of(p).running);
    CHECK(signals_are_default());
}

/* A host that waits for a signal, one that ignores it, one that takes it over in the middle. */
TEST(signals_of_the_host_stay_its_own)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    struct sigaction mine, now;
    sigset_t waited, before;
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    memset(&mine, 0, sizeof mine);
    STARTED(chroprof_sampler_start(p, &s)); /* it may; nothing has been changed yet */
    chroprof_sampler_stop(p);
    sigemptyset(&waited);
    sigaddset(&waited, TAKEN_SIGNAL);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &waited, &before), 0);
#ifndef CHROPROF_ITIMER
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_OK);
    CHECK(signal_is_default(TAKEN_SIGNAL));
    CHECK(!signals_are_default()); /* another one */
    chroprof_sampler_stop(p);
#endif
    s.signal = TAKEN_SIGNAL;
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_ERR_SAMPLER_SIGNAL);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    mine.sa_handler = SIG_IGN;
    CHECK_EQ(sigaction(TAKEN_SIGNAL, &mine, NULL), 0);
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_OK);
    chroprof_sampler_stop(p);
    CHECK_EQ(sigaction(TAKEN_SIGNAL, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_IGN);
    CHECK_EQ(chroprof_sampler_start(p, &s), CHROPROF_OK);
    mine.sa_handler = some_handler;
    CHECK_EQ(sigaction(TAKEN_SIGNAL, &mine, NULL), 0);
    chroprof_sampler_stop(p);
    mine.sa_handler = SIG_DFL;
    CHECK_EQ(sigaction(TAKEN_SIGNAL, &mine, &now), 0);
    CHECK(now.sa_handler == some_handler);
    CHECK(signals_are_default());
}

TEST(over_its_budget_it_steps_back)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    int k;
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    s.mode = CHROPROF_SAMPLER_WALL;
    s.period_ns = 100000;
    s.budget_ppm = 1;
    STARTED(chroprof_sampler_start(p, &s));
    chroprof_enter(p, &site_a);
    spin_in_a(100);
    for (k = 0; k < 200 && sampler_of(p).period_ns < 400000; k++)
        spin_in_a(20);
    chroprof_leave(p);
    CHECK(sampler_of(p).period_ns >= 400000);
    CHECK_EQ(sampler_of(p).first_period_ns, 100000);
    CHECK(sampler_of(p).cost_ns > 0);
    settle(p);
}

typedef struct dear {
    volatile bool on;
    uint64_t last; /* CPU time at the end of the last one */
} dear;

/* A walk that costs 2 ms of CPU time as long as it is told to, and a sixth of the time where ticks
 * come so late that 2 ms are within the budget: the sampler goes back until that is seen. */
static uint32_t dear_walk(void *user, void *context, uintptr_t *addresses, uint32_t capacity)
{
    dear *d = (dear *)user;
    uint64_t now = cpu_ns(), cost = (now - d->last) / 5;
    (void)context;
    addresses[0] = (uintptr_t)&spin_in_a + 1;
    while (d->on && cpu_ns() < now + (cost < 2 * MS ? 2 * MS : cost))
        burn(1000);
    d->last = cpu_ns();
    return capacity > 0;
}

TEST(with_room_again_it_steps_forward)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    dear d = { true, cpu_ns() };
    int k;
    PROMPT_SIGNALS();
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    s.period_ns = 4 * MS;
    s.budget_ppm = 100000;
    s.unwind = dear_walk;
    s.unwind_user = &d;
    STARTED(chroprof_sampler_start(p, &s));
    for (k = 0; k < 40 && sampler_of(p).period_ns < 16 * MS; k++)
        spin_in_b(50);
    CHECK_IN(sampler_of(p).period_ns, 16 * MS, 64 * MS);
    d.on = false;
    for (k = 0; k < 60 && sampler_of(p).period_ns > 4 * MS; k++)
        spin_in_b(50);
    CHECK_EQ(sampler_of(p).period_ns, 4 * MS);
    spin_in_b(100);
    CHECK_EQ(sampler_of(p).period_ns, 4 * MS); /* and no further */
    settle(p);
}

/* Whoever delivers the ticks may be late with each, but none is due before half a period. */
TEST(random_periods_are_at_least_half_a_period)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    chroprof *p = live_profile(&o);
    uint64_t begin = cpu_ns();
    PROMPT_SIGNALS();
    memset(&s, 0, sizeof s);
    s.period_ns = 20 * MS;
    s.budget_ppm = 1000000;
    STARTED(chroprof_sampler_start(p, &s));
    spin_for(p, spin_in_a, 1000, 8);
    settle(p);
    CHECK_IN(sampler_of(p).ticks, 8, (cpu_ns() - begin) / (10 * MS) + 1);
}

enum { NO_TIMER = 77 }; /* what a child says that is granted none */

static int in_the_child(chroprof *p)
{
    uint64_t ticks = sampler_of(p).ticks;
    chroprof_result result;
    if (sampler_of(p).running)
        return 1;
    chroprof_enter(p, &site_b);
    spin_in_a(60);
    chroprof_leave(p);
    if (sampler_of(p).ticks != ticks || chroprof_check(p) != NULL)
        return 2;
    result = chroprof_sampler_start(p, NULL);
    if (harness_no_timer(result))
        return NO_TIMER;
    if (result != CHROPROF_OK || !sampler_of(p).running)
        return 3;
    spin_for(p, spin_in_a, 60, 1);
    chroprof_sampler_stop(p);
    chroprof_tick(p);
    if (sampler_of(p).ticks == ticks || chroprof_check(p) != NULL)
        return 4;
    return timers_of_process() != 0 || !signals_are_default() ? 5 : 0;
}

/* Waits for it and ends the case if all was not well with it. */
static void ends_well(pid_t child)
{
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_TIMER)
        SKIP("no timers in a child here");
    CHECK_EQ(status, 0);
}

TEST(a_forked_child_has_no_timer)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(in_the_child(p));
    ends_well(child);
    spin_for(p, spin_in_a, 60, 8);
    chroprof_leave(p);
    CHECK(sampler_of(p).running);
    settle(p);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) > 3 || !PROMPT);
    CHECK_EQ(weight_with(p, "[task b]", NULL, NULL), 0);
}

/* ---- several threads, each with its own */

typedef struct worker {
    pthread_t thread;
    chroprof p;
    chroprof_site site;
    const char *broken;
    chroprof_result result;
    int error;
    uint64_t own, all;
    unsigned char memory[1 << 18];
} worker;

static uint64_t own_samples(const chroprof *p, uint64_t *all)
{
    static __thread chroprof_sample_row rows[ROWS];
    chroprof_stack_frame frames[FRAMES];
    size_t count = chroprof_samples(p, 0, UINT64_MAX, rows, ROWS), i, k;
    uint64_t own = 0;
    *all = 0;
    for (i = 0; i < count; i++) {
        size_t depth = chroprof_stack(p, rows[i].stack, frames, FRAMES);
        *all += rows[i].weight;
        for (k = 0; k < depth && k < FRAMES; k++)
            if (strcmp(frames[k].name, "spin_in_a") == 0)
                own += rows[i].weight;
    }
    return own;
}

static void *sampled_thread(void *argument)
{
    worker *w = (worker *)argument;
    chroprof_sampler_options s;
    memset(&s, 0, sizeof s);
    s.period_ns = 4 * MS;
    w->result = chroprof_init(&w->p, w->memory, sizeof w->memory, NULL);
    if (w->result == CHROPROF_OK)
        w->result = chroprof_sampler_start(&w->p, &s);
    w->error = errno;
    chroprof_enter(&w->p, &w->site);
    if (w->result == CHROPROF_OK)
        spin_for(&w->p, spin_in_a, 200, 25);
    chroprof_leave(&w->p);
    chroprof_sampler_stop(&w->p);
    chroprof_tick(&w->p);
    w->broken = chroprof_check(&w->p);
    w->own = own_samples(&w->p, &w->all);
    return NULL;
}

/* Did its start go well? */
static void worker_started(const worker *w)
{
    errno = w->error;
    STARTED(w->result);
}

#ifdef CHROPROF_ITIMER
/* The loop is not the thread that a signal of the process meets first. */
TEST(ticks_of_a_process_reach_the_loop)
{
    static worker w;
    w.site.name = "thread";
    CHECK_EQ(pthread_create(&w.thread, NULL, sampled_thread, &w), 0);
    CHECK_EQ(pthread_join(w.thread, NULL), 0);
    worker_started(&w);
    CHECK(w.broken == NULL);
    CHECK(w.all >= 20);
    CHECK(w.own * 10 >= w.all * 9);
    CHECK(signals_are_default());
}

/* Others burn CPU time while the loop sleeps: nothing of the loop's. */
static void *burn_time(void *unused)
{
    spin_in_b(200);
    return unused;
}

TEST(ticks_of_others_are_none)
{
    chroprof_options o = no_options();
    pthread_t other;
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + 300 * MS;
    chroprof *p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_idle_enter(p);
    CHECK_EQ(pthread_create(&other, NULL, burn_time, NULL), 0);
    while (clock_ns(CLOCK_MONOTONIC) < end)
        poll(NULL, 0, 300); /* may be interrupted */
    CHECK_EQ(pthread_join(other, NULL), 0);
    chroprof_idle_leave(p);
    CHECK(sampler_of(p).ticks <= 2);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 200, 30);
    chroprof_leave(p);
    settle(p);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) >= 20);
}

static void *turn_until(void *end)
{
    while (*(volatile int *)end == 0)
        burn(1000);
    return end;
}

/* What is on its way from one thread to another when the signal is given back kills nobody. */
TEST(stops_while_others_pass_ticks_on)
{
    chroprof_options o = no_options();
    pthread_t others[3];
    int k, end = 0;
    sigset_t all, before;
    chroprof *p = live_profile(&o);
    sigfillset(&all);
    for (k = 0; k < 3; k++)
        CHECK_EQ(pthread_create(&others[k], NULL, turn_until, &end), 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    for (k = 0; k < 3000; k++) {
        start(p, k % 2 ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU, 100);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &all, NULL), 0); /* so that the others get them */
        burn(20000);
        if (k % 3)
            CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
        chroprof_sampler_stop(p);
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    }
    *(volatile int *)&end = 1;
    for (k = 0; k < 3; k++)
        CHECK_EQ(pthread_join(others[k], NULL), 0);
    settle(p);
    CHECK(signals_are_default());
}

static int another_in_the_child(chroprof *parents)
{
    static unsigned char memory[1 << 18];
    chroprof mine;
    if (chroprof_init(&mine, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    if (chroprof_sampler_start(&mine, NULL) != CHROPROF_OK)
        return 2;
    chroprof_sampler_stop(parents); /* which it no longer is */
    if (timers_of_process() != 1 || signals_are_default())
        return 3;
    spin_for(&mine, spin_in_a, 60, 1);
    chroprof_sampler_stop(&mine);
    chroprof_tick(&mine);
    if (sampler_of(&mine).ticks == 0 || chroprof_check(&mine) != NULL)
        return 4;
    return timers_of_process() != 0 || !signals_are_default() ? 5 : 0;
}

TEST(one_timer_a_process)
{
    static unsigned char memory[1 << 18];
    chroprof_options o = no_options();
    chroprof second;
    struct itimerval hosts, now;
    int status = 0;
    chroprof_sampler_options wall;
    chroprof *p = live_profile(&o);
    memset(&wall, 0, sizeof wall);
    wall.mode = CHROPROF_SAMPLER_WALL;
    CHECK_EQ(chroprof_init(&second, memory, sizeof memory, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_sampler_start(p, NULL), CHROPROF_OK);
    errno = 0;
    CHECK_EQ(chroprof_sampler_start(&second, NULL), CHROPROF_ERR_SAMPLER_TIMER);
    CHECK_EQ(errno, EBUSY);
    CHECK_EQ(chroprof_sampler_start(&second, &wall), CHROPROF_OK);
    CHECK_EQ(timers_of_process(), 2);
    chroprof_sampler_stop(&second);
    CHECK_EQ(timers_of_process(), 1);
    CHECK(sampler_of(p).running);
    pid_t child = fork();
    if (child == 0)
        _exit(another_in_the_child(p));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(timers_of_process(), 1);
    settle(p);
    memset(&hosts, 0, sizeof hosts);
    hosts.it_value.tv_sec = 1000;
    CHECK_EQ(setitimer(ITIMER_REAL, &hosts, NULL), 0);
    CHECK_EQ(chroprof_sampler_start(p, &wall), CHROPROF_ERR_SAMPLER_TIMER);
    CHECK_EQ(errno, EBUSY);
    CHECK_EQ(getitimer(ITIMER_REAL, &now), 0);
    CHECK(now.it_value.tv_sec >= 900);
    hosts.it_value.tv_sec = 0;
    CHECK_EQ(setitimer(ITIMER_REAL, &hosts, NULL), 0);
    CHECK_EQ(chroprof_sampler_start(p, &wall), CHROPROF_OK);
    settle(p);
    CHECK(signals_are_default());
}

/* Its timer goes on, but finds no sampler in the block; the next start is as the first. */
TEST(begun_anew_without_a_stop)
{
    chroprof_options o = no_options();
    chroprof_sampler_options wall;
    int k;
    chroprof *p = live_profile(&o);
    memset(&wall, 0, sizeof wall);
    wall.mode = CHROPROF_SAMPLER_WALL;
    wall.period_ns = 1 * MS;
    for (k = 0; k < 4; k++) {
        CHECK_EQ(chroprof_sampler_start(p, k % 2 ? NULL : &wall), CHROPROF_OK);
        CHECK_EQ(timers_of_process(), 1);
        CHECK_EQ(
            chroprof_init(p, live_memory, k == 3 ? CHROPROF_MEMORY_MIN : sizeof live_memory, NULL),
            CHROPROF_OK);
        spin_in_a(30);
        CHECK_EQ(sampler_of(p).ticks, 0);
        CHECK_EQ(raise(k % 2 ? SIGPROF : SIGALRM), 0);
    }
    p = live_profile(&o);
    start(p, CHROPROF_SAMPLER_CPU, 4000);
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 100, 10);
    chroprof_leave(p);
    settle(p);
    CHECK(weight_with(p, "spin_in_a", "[task a]", NULL) >= 5);
    CHECK_EQ(timers_of_process(), 0);
    CHECK(signals_are_default());
}

/* How a program ends that takes over from a sampled one: its signal, or 0. */
static int end_after_exec(bool stop)
{
    chroprof_options o = no_options();
    chroprof *p = live_profile(&o);
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (try_start(p, CHROPROF_SAMPLER_WALL, 4000) != CHROPROF_OK)
            _exit(2);
        if (stop)
            chroprof_sampler_stop(p);
        execlp("sleep", "sleep", "0.2", (char *)NULL);
        _exit(1);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* The manual says so: the kernel keeps the timer, but not the handler. */
TEST(exec_wants_a_stop)
{
    CHECK_EQ(end_after_exec(true), 0);
    CHECK_EQ(end_after_exec(false), SIGALRM);
}

#define THREAD_CASES                                                                               \
    CASE(exec_wants_a_stop), CASE(begun_anew_without_a_stop),                                      \
        CASE(ticks_of_a_process_reach_the_loop), CASE(ticks_of_others_are_none),                   \
        CASE(stops_while_others_pass_ticks_on), CASE(one_timer_a_process),
#else
TEST(a_sampler_a_thread)
{
    enum { THREADS = 4 };
    static worker workers[THREADS];
    int k;
    for (k = 0; k < THREADS; k++) {
        workers[k].site.name = "thread";
        CHECK_EQ(pthread_create(&workers[k].thread, NULL, sampled_thread, &workers[k]), 0);
    }
    for (k = 0; k < THREADS; k++)
        CHECK_EQ(pthread_join(workers[k].thread, NULL), 0);
    for (k = 0; k < THREADS; k++) {
        worker_started(&workers[k]);
        CHECK(workers[k].broken == NULL);
        CHECK(workers[k].all >= 20 || !PROMPT);
        CHECK(workers[k].own * 10 >= workers[k].all * 9 || !PROMPT);
    }
    CHECK(signals_are_default());
}

/* Any signal will do that nobody has. */
TEST(a_signal_of_choice)
{
    chroprof_options o = no_options();
    chroprof_sampler_options s;
    chroprof *p = live_profile(&o);
    memset(&s, 0, sizeof s);
    s.period_ns = 4 * MS;
    s.signal = SIGPROF;
    STARTED(chroprof_sampler_start(p, &s));
    CHECK(!signal_is_default(SIGPROF));
    chroprof_enter(p, &site_a);
    spin_for(p, spin_in_a, 100, 8);
    chroprof_leave(p);
    settle(p);
    CHECK(sampler_of(p).ticks > 3);
    CHECK(signals_are_default());
}

#define THREAD_CASES CASE(a_sampler_a_thread), CASE(a_signal_of_choice),
#endif

#include "sampler_ticks.h"

#define LIVE_CASES                                                                                 \
    CASE(two_functions_three_to_one), CASE(frames_stand_under_their_task),                         \
        CASE(a_wait_is_no_work), CASE(a_wait_is_seen_by_the_mode_that_sleeps_too),                 \
        CASE(an_idle_that_is_told_late), CASE(a_wait_that_ends_late_hides_no_work),                \
        CASE(a_short_wait_is_no_work_either), CASE(a_sleeping_loop_is_left_alone),                 \
        CASE(a_wait_goes_on_in_the_handler), CASE(a_wait_that_goes_on_is_ended_by_other_signals),  \
        CASE(a_loop_survives_eintr), CASE(a_halted_timer),                                         \
        CASE(a_wait_in_code_that_cannot_be_read), CASE(a_storm_breaks_no_law),                     \
        CASE(a_storm_from_many_sides), CASE(sampled_shares_are_the_exact_ones),                    \
        CASE(any_frame_pointer_is_survived), CASE(an_event_reads_no_guard_page),                   \
        CASE(deep_recursion), CASE(other_stacks_of_signals), CASE(longjmp_out_of_a_task),          \
        CASE(ten_thousand_starts_leak_nothing), CASE(what_start_refuses),                          \
        CASE(signals_of_the_host_stay_its_own), CASE(over_its_budget_it_steps_back),               \
        CASE(with_room_again_it_steps_forward), CASE(random_periods_are_at_least_half_a_period),   \
        CASE(a_forked_child_has_no_timer), THREAD_CASES CASE(a_fiber_whose_stack_is_known),        \
        CASE(a_fiber_whose_stack_is_not), CASE(a_walk_of_the_user),                                \
        CASE(a_woven_walk_of_the_user), CASE(a_stall_in_a_library),                                \
        CASE(libraries_at_one_address), CASE(a_library_opened_by_a_relative_path),                 \
        CASE(a_library_that_was_away_during_a_callback), CASE(more_libraries_than_fit),            \
        CASE(drawn_futures_are_where_futures_are), CASE(drawn_again_with_nothing_in_between),      \
        CASE(functions_and_stalls_are_merged), CASE(a_copy_has_the_ticks_that_wait),               \
        TICK_CASES CASE(findings_name_the_wait), CASE(the_report_names_functions),

#else

TEST(the_timer)
{
    SKIP("the sampler's timer is tested on Linux, x86-64 and arm64, with TEST_FRAMES");
}

#define LIVE_CASES CASE(the_timer),

#endif
