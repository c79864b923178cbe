/* tests/inside_ticks.h - part of test_inside.c: the sampler's small parts, each at the bounds of
 * what it decides: walks, timers, signals, settings. */
#ifndef INSIDE_TICKS_H
#define INSIDE_TICKS_H

#if CHROPROF__SAMPLES
static chroprof__walk walk_of(const chroprof *p, chroprof__entry *e, uint32_t depth)
{
    chroprof__walk w;
    w.c = p->core;
    w.s = sampler(p);
    w.e = e;
    w.depth = depth;
    return w;
}

/* There is room for the innermost 16 tasks, and 3 items. */
TEST(tasks_come_before_native_frames)
{
    static const struct { uint32_t depth, last; } rows[] = {
        { 0, 52 }, { 1, 51 }, { 15, 37 }, { 16, 36 }, { 17, 36 }, { UINT32_MAX, 36 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__entry e = entry_of(1, 0);
        chroprof__walk w = walk_of(scene(), &e, rows[k].depth);
        e.count = rows[k].last;
        CHECK(chroprof__has_room(&w));
        e.count++;
        CHECK(!chroprof__has_room(&w));
    }
}

TEST(addresses_lose_what_stands_above_them)
{
    CHECK_EQ(chroprof__code_address(0), 0);
    CHECK_EQ(chroprof__code_address(0x12345), 0x12345);
#if UINTPTR_MAX > 0xffffffffu
    CHECK_EQ(chroprof__code_address((uintptr_t)UINT64_MAX), (UINT64_C(1) << 48) - 1);
    CHECK_EQ(chroprof__code_address((uintptr_t)(UINT64_C(1) << 48)), 0);
    CHECK_EQ(chroprof__code_address((uintptr_t)UINT64_C(0xBEEF800000000007)),
             UINT64_C(0x800000000007));
#endif
}

/* A note for each of 12 frames with three keys of its own: 10 * frame + 0, 1, 2. */
static chroprof *noted(void)
{
    chroprof *p = fresh(NULL);
    chroprof__note *notes = chroprof__notes(sampler(p));
    uint32_t k;
    for (k = 1; k <= 12; k++)
        at(p, k, ENTER, 0, &A);
    for (k = 1; k <= 12; k++) {
        notes[k].event = frame(k).event = 100 + k;
        notes[k].keys[0] = 10 * k;
        notes[k].keys[1] = 10 * k + 1;
        notes[k].keys[2] = 10 * k + 2;
    }
    return p;
}

/* The outermost of those that the call began, among the innermost eight. */
TEST(calls_know_the_tasks_that_they_began)
{
    chroprof *p = noted();
    chroprof__note *notes = chroprof__notes(sampler(p));
    chroprof__entry e = entry_of(1, 0);
    chroprof__walk w = walk_of(p, &e, 12);
    uint32_t k, i;
    for (k = 1; k <= 12; k++)
        for (i = 0; i < 3; i++)
            CHECK_EQ(chroprof__task_begun_by(&w, 10 * k + i), k >= 5 ? k : 0);
    CHECK_EQ(chroprof__task_begun_by(&w, 123), 0);
    w.depth = 8;
    for (k = 1; k <= 12; k++)
        CHECK_EQ(chroprof__task_begun_by(&w, 10 * k + 1), k <= 8 ? k : 0);
    w.depth = 0;
    notes[0].keys[0] = 7;
    CHECK_EQ(chroprof__task_begun_by(&w, 7), 0);
    w.depth = 12;
    notes[7].keys[1] = notes[9].keys[2] = notes[11].keys[0] = 999;
    CHECK_EQ(chroprof__task_begun_by(&w, 999), 7);
    notes[7].event++;                       /* of a frame that is gone */
    CHECK_EQ(chroprof__task_begun_by(&w, 999), 9);
    notes[9].event--;
    notes[11].event--;
    CHECK_EQ(chroprof__task_begun_by(&w, 999), 0);
}

/* A record may lie where the stack pointer is, and not below. */
TEST(the_first_record_is_at_the_stack_pointer_or_above)
{
    const uint64_t first = chroprof__item(CHROPROF__RETURN, LIBRARY + 1);
    uintptr_t words[16];
    chroprof *p = scene();
    chroprof__entry e = entry_of(1, 0);
    chroprof__walk w = walk_of(p, &e, 0);
    stack_of_three(sampler(p), words, 16);
    chroprof__walk_records(&w, (uintptr_t)&words[2], (uintptr_t)&words[2]);
    CHECK_EQ(e.count, 3);
    CHECK_EQ(e.items[0], first);
    e = walked(p, 1, words);                /* one task, which nobody is known to have begun */
    CHECK_EQ(e.count, 4);
    CHECK_EQ(e.items[3], chroprof__item(CHROPROF__MARK, CHROPROF__MARK_CUT));
    e = entry_of(1, 0);
    chroprof__walk_records(&w, (uintptr_t)&words[2], (uintptr_t)&words[2] + 1);
    CHECK_EQ(e.count, 0);
}

/* A fiber's stack is from its lowest byte to the one before its end. */
TEST(tasks_of_a_fiber_are_not_cut_off)
{
    const uint64_t cut = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_CUT);
    uintptr_t words[16];
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    size_t k;
    for (k = 0; k < 4; k++) {
        chroprof__entry e = entry_of(1, 0);
        chroprof__walk w = walk_of(p, &e, 5);
        stack_of_three(s, words, 16);
        s->fiber_low = (uintptr_t)&words[k < 2 ? 1 : 0] + (k == 1);
        s->fiber_high = (uintptr_t)&words[k == 2 ? 1 : k == 3 ? 2 : 16];
        chroprof__walk_records(&w, (uintptr_t)&words[2], (uintptr_t)&words[1]);
        if (k == 1 || k == 2) {             /* the stack pointer is outside: it is the thread's */
            CHECK_EQ(e.count, 4);
            CHECK_EQ(e.items[3], cut);
        } else {
            CHECK_EQ(e.count, k == 0 ? 3 : 0);
        }
    }
}

/* All that fit: 56 items, less two that may follow, the mark and 5 tasks. */
TEST(a_deep_walk_uses_its_room)
{
    static uintptr_t words[400];
    chroprof *p = scene();
    uint32_t depth;
    size_t k;
    stack_of_three(sampler(p), words, 400);
    for (k = 2; k + 2 < 400; k += 2) {
        words[k] = (uintptr_t)&words[k + 2];
        words[k + 1] = OUTSIDE + k;
    }
    for (depth = 0; depth <= 5; depth += 5) {
        chroprof__entry e = walked(p, depth, words);
        CHECK_EQ(e.count, CHROPROF__ITEMS - 1 - depth);
        for (k = 0; k + 1 < e.count; k++)
            CHECK_EQ(e.items[k], chroprof__item(CHROPROF__RETURN, OUTSIDE + 2 + 2 * k));
    }
}

/* Of a walk of the user as well: the mark and the one task behind them, and two that stay free. */
TEST(a_deep_walk_of_the_user_uses_its_room)
{
    static uint32_t says = CHROPROF__ITEMS;
    static ucontext_t nowhere;
    uint32_t (*unwind)(void *, void *, uintptr_t *, uint32_t) = a_thousand_frames;
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof__entry e = entry_of(1, 0);
    uintptr_t function;
    uint32_t k;
    memcpy(&function, &unwind, sizeof function);
    s->unwind = function;
    s->unwind_user = (uintptr_t)&says;
    at(p, 0, ENTER, 0, &A);
    chroprof__weave(p->core, s, &e, &nowhere);
    CHECK_EQ(e.count, CHROPROF__ITEMS - 2);
    for (k = 0; k + 2 < e.count; k++)
        CHECK_EQ(e.items[k], chroprof__item(k ? CHROPROF__RETURN : CHROPROF__PC, OUTSIDE + k));
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
/* As the kernel lays them out: x86-64's r8 to r15 come first, then rdi, rsi, rbp, rbx, rdx, rax,
 * rcx, rsp, rip; arm64's fault address, x0 to x30, sp, pc. */
TEST(registers_are_where_the_kernel_puts_them)
{
    chroprof__registers r;
    ucontext_t context;
    uint64_t words[34];
    uint64_t k;
    memset(&context, 0, sizeof context);
    for (k = 0; k < 34; k++)
        words[k] = 1000 + k;
    memcpy((char *)&context + offsetof(ucontext_t, uc_mcontext), words,
           sizeof words < sizeof context.uc_mcontext ? sizeof words : sizeof context.uc_mcontext);
    CHECK(chroprof__read_registers(&context, &r));
#if defined(__x86_64__)
    CHECK_EQ(r.code, 1000 + 16);
    CHECK_EQ(r.stack, 1000 + 15);
    CHECK_EQ(r.frame, 1000 + 10);
#else
    CHECK_EQ(r.code, 1000 + 1 + 32);
    CHECK_EQ(r.stack, 1000 + 1 + 31);
    CHECK_EQ(r.frame, 1000 + 1 + 29);
#endif
}
#else
TEST(registers_are_where_the_kernel_puts_them) { SKIP("registers are not known here"); }
#endif

/* What ticks may cost, at the bounds of each choice; a period of 2^40 ns or more stays. */
TEST(the_period_doubles_up_to_a_limit)
{
    const uint64_t limit = UINT64_C(1) << 40, many = CHROPROF__BUDGET_TICKS;
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    CHECK_EQ(many, 8);
    s->jitter = 1;                          /* no timer is set */
    s->first_period_ns = 1000;
    s->budget_ppm = 0;
    s->period_ns = limit - 1;
    CHECK_EQ(period_after(s, many, 1), 2 * limit - 2);
    CHECK_EQ(period_after(s, many, 1), 2 * limit - 2);
    s->period_ns = limit;
    CHECK_EQ(period_after(s, many, 1), limit);
    s->budget_ppm = 3;                      /* 3 parts in a million of 8 x 1 ms are 24 ns */
    s->period_ns = 1000999;                 /* whole microseconds count */
    CHECK_EQ(period_after(s, many, 24), 1000999);
    CHECK_EQ(period_after(s, many, 8), 1000999);
    CHECK_EQ(period_after(s, many, 25), 2001998);
    s->period_ns = 1000999;
    CHECK_EQ(period_after(s, many, 7), 500499);
    s->period_ns = s->first_period_ns = 1000999;
    CHECK_EQ(period_after(s, many, 7), 1000999);
    s->period_ns = s->first_period_ns + 1;
    CHECK_EQ(period_after(s, many, 7), 500500);
    CHECK_EQ(period_after(s, 7, 1000), 500500);
    CHECK_EQ(s->window_ticks, 7);
    CHECK_EQ(s->window_cost, 1000);
}

/* In a sixteenth of a period, and only while the loop sleeps. */
TEST(little_cpu_time_in_a_sleep_is_kept)
{
    chroprof__sampler *s = sampler(fresh(NULL));
    s->period_ns = 16 * 50 + 15;            /* a sixteenth is 50 */
    s->cpu = 1000;
    s->idle_cpu = 7;
    CHECK_EQ(chroprof__cpu_of_tick(s, 1000 + 42, CHROPROF_SAMPLE_IDLE), 0);
    CHECK_EQ(s->idle_cpu, 49);
    s->idle_cpu = 7;
    CHECK_EQ(chroprof__cpu_of_tick(s, 1000 + 43, CHROPROF_SAMPLE_IDLE), 50);
    CHECK_EQ(s->idle_cpu, 0);
    s->idle_cpu = 7;
    CHECK_EQ(chroprof__cpu_of_tick(s, 1001, CHROPROF_SAMPLE_LOOP), 8);
    CHECK_EQ(s->idle_cpu, 0);
}

/* What the system's clock says under the pretence: whole seconds. */
static void pretend_seconds(time_t now, int back)
{
    pretend()->seconds = now;
    pretend()->back = back;
}

/* Each clock is read and gives one second more, the CPU clock too. */
TEST(a_tick_counts_what_it_took)
{
    const uint64_t second = 1000000000;
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    ucontext_t nowhere;
    const chroprof__entry *e;
    memset(&nowhere, 0, sizeof nowhere);
    s->period_ns = s->first_period_ns = second;
    s->budget_ppm = 1000000;
    s->counter = 2;
    s->mode = CHROPROF_SAMPLER_WALL;
    at(p, 0, ENTER, 0, &A);
    s->stamp = 1000 * second;
    s->cpu = 900 * second;
    pretend_seconds(1000, -1);
    chroprof__take_tick(p->core, s, 3, &nowhere);  /* reads 1001 (CPU), 1002 (time), 1003 (CPU) */
    pretend_seconds(0, 0);
    e = chroprof__ring(p->core, s, 0);
    CHECK_EQ(s->put, 1);
    CHECK_EQ(e->weight, 3);
    CHECK_EQ(e->cpu_ns, 101 * second);
    CHECK_EQ(e->wall_ns, 2 * second);
    CHECK_EQ(e->draws, 3);
    CHECK_EQ(e->stamp, 1002 * second);
    CHECK_EQ(e->last, 1002 * second);
    CHECK_EQ(e->state, CHROPROF_SAMPLE_BUSY);
    CHECK_EQ(s->ticks, 3);
    CHECK_EQ(s->window_ticks, 3);
    CHECK_EQ(s->stamp, 1002 * second);
    CHECK_EQ(s->cpu, 1003 * second);
    CHECK_EQ(s->cost_ns, 2 * second);
    CHECK_EQ(s->window_cost, 2 * second);
    CHECK_EQ(s->lost, 0);
    CHECK_EQ(p->core->horizon, p->core->last);
    s->mode = CHROPROF_SAMPLER_CPU;
    s->counter = 0;
    s->stamp = 1002 * second;
    pretend_seconds(1001, -1);              /* no time has passed: that is 1 ns */
    chroprof__take_tick(p->core, s, 2, &nowhere);
    pretend_seconds(0, 0);
    e = chroprof__ring(p->core, s, 1);
    CHECK_EQ(e->stamp, 0);
    CHECK_EQ(e->draws, 0);
    CHECK_EQ(e->wall_ns, second);
    CHECK_EQ(s->ticks, 5);
    CHECK_EQ(s->cost_ns, 4 * second);
    s->stamp = 1010 * second;
    pretend_seconds(1003, -1);
    chroprof__take_tick(p->core, s, 1, &nowhere);
    pretend_seconds(0, 0);
    CHECK_EQ(chroprof__ring(p->core, s, 2)->wall_ns, 1);
}

/* A profile that is switched off takes no samples and loses none; a full ring loses what comes. */
TEST(ticks_without_a_place)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    ucontext_t nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    s->period_ns = s->first_period_ns = 1000000000;
    s->budget_ppm = 1000000;
    p->core->enabled = 0;
    chroprof__take_tick(p->core, s, 5, &nowhere);
    CHECK_EQ(s->ticks, 5);
    CHECK_EQ(s->lost, 0);
    CHECK_EQ(s->put, 0);
    p->core->enabled = 1;
}

#if CHROPROF__THREAD_TIMER
/* The signal of a timer that came late counts for each time that it should have come. */
TEST(late_signals_count_as_many)
{
    static const int overruns[] = { 0, 1, 7, -1 };
    static const uint64_t ticks[] = { 1, 3, 11, 12 };
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    ucontext_t nowhere;
    siginfo_t info;
    size_t k;
    memset(&nowhere, 0, sizeof nowhere);
    memset(&info, 0, sizeof info);
    s->period_ns = s->first_period_ns = UINT64_C(1000000000000);
    s->budget_ppm = 1000000;
    s->armed = (uintptr_t)p->core + 3;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (char *)p->core + 3;
    for (k = 0; k < 4; k++) {
        info.si_overrun = overruns[k];
        errno = 77;
        chroprof__on_signal(0, &info, &nowhere);
        CHECK_EQ(errno, 77);
        CHECK_EQ(s->ticks, ticks[k]);
    }
    info.si_value.sival_ptr = (char *)p->core + 4;
    chroprof__on_signal(0, &info, &nowhere);
    CHECK_EQ(s->ticks, 12);
    harness_keep_none();
}

/* Nanoseconds until the timer's next tick, after one that is taken by hand. */
static uint64_t left_after_a_tick(bool jitter)
{
    chroprof *p = fresh(NULL);
    chroprof__timer_value value;
    chroprof_sampler_options o;
    ucontext_t nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    memset(&value, 0, sizeof value);
    memset(&o, 0, sizeof o);
    o.period_ns = UINT64_C(1000000000000);
    o.mode = CHROPROF_SAMPLER_WALL;
    o.jitter = jitter;
    STARTED(chroprof_sampler_start(p, &o));
    CHECK_EQ(chroprof__set_timer(sampler(p)->timer, UINT64_C(5000000000000), 0), 0);
    chroprof__take_tick(p->core, sampler(p), 1, &nowhere);
    CHECK_EQ(chroprof__system(SYS_timer_gettime, (long)sampler(p)->timer, (long)&value, 0L, NULL),
             0);
    chroprof_sampler_stop(p);
    harness_keep_none();
    return (uint64_t)value.first_s * 1000000000u + (uint64_t)value.first_ns;
}

/* Only with jitter has each tick a time of its own. */
TEST(a_tick_asks_for_the_next_one_with_jitter)
{
    CHECK_IN(left_after_a_tick(false), UINT64_C(4000000000000), UINT64_C(5000000000000));
    CHECK_IN(left_after_a_tick(true), UINT64_C(400000000000), UINT64_C(1500000000000));
}

/* A value below the first page is a number that somebody sent, even where it could be a block. */
TEST(small_values_are_no_blocks)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)(uintptr_t)4095;
    CHECK(chroprof__ticked(&info) == NULL);
    info.si_value.sival_ptr = (void *)(uintptr_t)1;
    CHECK(chroprof__ticked(&info) == NULL);
}

/* Whole seconds and the rest of them, to the nanosecond. */
TEST(timers_are_set_to_the_nanosecond)
{
    static const struct { uint64_t first, interval; } rows[] = {
        { UINT64_C(2000999999999), UINT64_C(1234567890123) },
        { UINT64_C(3000000000000000000), UINT64_C(3000000000999999999) },
        { UINT64_C(5000000000000), 0 }, { UINT64_C(1000000000000), 999999999 },
    };
    chroprof *p = fresh(NULL);
    chroprof__timer_value value;
    chroprof_sampler_options o;
    size_t k;
    memset(&o, 0, sizeof o);
    memset(&value, 0, sizeof value);        /* what the kernel writes no sanitizer sees */
    o.period_ns = UINT64_C(1000000000000);
    STARTED(chroprof_sampler_start(p, &o)); /* by CPU time: a machine that stands does not count */
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t timer = sampler(p)->timer, left;
        CHECK_EQ(chroprof__set_timer(timer, rows[k].first, rows[k].interval), 0);
        CHECK_EQ(chroprof__system(SYS_timer_gettime, (long)timer, (long)&value, 0L, NULL), 0);
        CHECK_EQ(value.interval_s, rows[k].interval / 1000000000u);
        CHECK_EQ(value.interval_ns, rows[k].interval % 1000000000u);
        left = (uint64_t)value.first_s * 1000000000u + (uint64_t)value.first_ns;
        CHECK_IN(left, rows[k].first - 900000000u, rows[k].first);
    }
    chroprof_sampler_stop(p);
}
#endif

/* Inside an event the stack of tasks is not to be trusted: nobody walks. */
TEST(no_walk_inside_an_event)
{
    static ucontext_t nowhere;
    chroprof *p = scene();
    chroprof__entry e = entry_of(1, 0);
    chroprof__begin_edit(p->core);
    chroprof__weave(p->core, sampler(p), &e, &nowhere);
    chroprof__end_edit(p->core);
    CHECK_EQ(e.count, 1);
    CHECK_EQ(e.items[0], chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE));
    CHECK_EQ(e.state, CHROPROF_SAMPLE_LOOP);
}

/* >>settings */

static chroprof__sampler *set_up(chroprof *p, const chroprof_sampler_options *o)
{
    chroprof__set_up_sampler(p, sampler(p), o);
    return sampler(p);
}

TEST(settings_of_the_sampler)
{
    static const struct { uint64_t asked, got; } periods[] = {
        { 0, 19000000 }, { 1, 100000 }, { 99999, 100000 }, { 100000, 100000 },
        { 100001, 100001 }, { UINT64_C(1) << 50, UINT64_C(1) << 50 },
    };
    chroprof_sampler_options o;
    chroprof *p = fresh(NULL);
    chroprof__sampler *s;
    size_t k;
    memset(&o, 0, sizeof o);
    for (k = 0; k < sizeof periods / sizeof *periods; k++) {
        o.period_ns = periods[k].asked;
        s = set_up(p, &o);
        CHECK_EQ(s->period_ns, periods[k].got);
        CHECK_EQ(s->first_period_ns, periods[k].got);
    }
    CHECK_EQ(s->budget_ppm, 10000);
    CHECK_EQ(s->mode, CHROPROF_SAMPLER_CPU);
    CHECK_EQ(s->jitter, 0);
    CHECK_EQ(s->pid, (uint64_t)getpid());
    o.budget_ppm = 1;
    o.mode = CHROPROF_SAMPLER_WALL;
    o.jitter = true;
    s->window_ticks = s->window_cost = s->idle_cpu = 5;
    chroprof__notes(s)[0].event = chroprof__notes(s)[3].keys[1] = 5;
    s = set_up(p, &o);
    CHECK_EQ(s->budget_ppm, 1);
    CHECK_EQ(s->mode, CHROPROF_SAMPLER_WALL);
    CHECK_EQ(s->jitter, 1);
    CHECK_EQ(s->window_ticks + s->window_cost + s->idle_cpu, 0);
    CHECK_EQ(chroprof__notes(s)[0].event + chroprof__notes(s)[3].keys[1], 0);
    o.mode = (chroprof_sampler_mode)made_up(99);
    CHECK_EQ(set_up(p, &o)->mode, CHROPROF_SAMPLER_CPU);
}

/* The thread's own stack, which has this frame. */
TEST(the_sampler_knows_the_stack_it_is_on)
{
    chroprof__sampler *s = sampler(fresh(NULL));
    uint64_t here = (uint64_t)(uintptr_t)&s;
    s->fiber_low = 1;
    s->fiber_high = 2;
    chroprof__find_stack(s);
    CHECK_EQ(s->fiber_low + s->fiber_high, 0);
#if !defined(__APPLE__)
    if (!chroprof__thread_attributes)
        SKIP("linked without the function that tells where the stack is");
#endif
    CHECK_IN(here, s->low, s->high - 1);
    CHECK(s->high - s->low >= 4096);
    CHECK_EQ(chroprof__stack_end(s, (uintptr_t)here), s->high);
}

TEST(the_clock_of_samples)
{
    chroprof_options o;
    chroprof *p;
    uint64_t own = 2;
#if CHROPROF__HAS_COUNTER
    own = chroprof__counter_is_invariant() ? 1 : 2;
#endif
    memset(&o, 0, sizeof o);
    o.clock = chroprof__monotonic_ns;
    p = fresh(&o);
    CHECK_EQ(chroprof__sample_clock(p), own);
    p->clock = NULL;
    CHECK_EQ(chroprof__sample_clock(p), own);
    p->clock = chroprof_clock_manual;
    CHECK_EQ(chroprof__sample_clock(p), 0);
}

/* >>signals */

/* Gives a signal what it does; flags SA_SIGINFO: a handler with information. */
static void give_signal(int number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = flags;
    if (flags & SA_SIGINFO)
        action.sa_sigaction = host_handler;
    else
        action.sa_handler = handler;
    CHECK_EQ(sigaction(number, &action, NULL), 0);
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    CHECK_EQ(sigaction(number, NULL, &action), 0);
    CHECK((action.sa_flags & SA_SIGINFO) == 0);
    return action.sa_handler;
}

static chroprof_result start_with(chroprof *p, int number)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof o);
    o.period_ns = UINT64_C(1000000000000);
    o.signal = number;
#if !CHROPROF__THREAD_TIMER
    o.mode = number == SIGALRM ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
#endif
    return chroprof_sampler_start(p, &o);
}

static int free_signal(void)
{
#if CHROPROF__THREAD_TIMER
    return SIGRTMIN + 5;
#else
    return SIGPROF;
#endif
}

/* A handler may run on a stack of signals, interrupts no system call for good, and holds nothing
 * else up. */
TEST(what_the_handler_asks_of_the_system)
{
    struct sigaction action;
    chroprof *p = fresh(NULL);
    int number = free_signal(), on_stack = CHROPROF__ON_STACK;
#ifdef SA_ONSTACK
    CHECK_EQ(on_stack, SA_ONSTACK);
#elif defined(__linux__) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
    CHECK_EQ(on_stack, 0x08000000);
#endif
    memset(&action, 0, sizeof action);
    STARTED(start_with(p, number));
    CHECK_EQ(sigaction(number, NULL, &action), 0);
    CHECK((action.sa_flags & on_stack) != 0);
    CHECK((action.sa_flags & SA_SIGINFO) != 0);
    CHECK((action.sa_flags & SA_RESTART) != 0);
    CHECK((action.sa_flags & SA_NOCLDSTOP) == 0);
    CHECK(chroprof__is_ours(&action));
    CHECK(!chroprof__has_no_handler(&action));
#if CHROPROF__THREAD_TIMER
    CHECK_EQ(sigismember(&action.sa_mask, SIGTERM), 0);
    CHECK_EQ(sigismember(&action.sa_mask, SIGUSR1), 0);
#else
    CHECK_EQ(sigismember(&action.sa_mask, SIGTERM), 1);
#endif
    chroprof_sampler_stop(p);
    CHECK(handler_of(number) == SIG_DFL);
}

/* Ours takes information, and no handler takes any. */
TEST(handlers_are_known_by_their_flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = chroprof__on_signal;
    CHECK(!chroprof__is_ours(&action));
    CHECK(!chroprof__has_no_handler(&action));
    action.sa_flags = SA_SIGINFO;
    CHECK(chroprof__is_ours(&action));
    CHECK(!chroprof__has_no_handler(&action));
    action.sa_sigaction = host_handler;
    CHECK(!chroprof__is_ours(&action));
    action.sa_handler = SIG_DFL;
    CHECK(!chroprof__has_no_handler(&action));
    action.sa_flags = SA_RESTART;
    CHECK(chroprof__has_no_handler(&action));
    action.sa_handler = SIG_IGN;
    CHECK(chroprof__has_no_handler(&action));
    action.sa_handler = on_any_signal;
    CHECK(!chroprof__has_no_handler(&action));
}

/* Ignored or not, as before; a handler or a waiter of the host's keeps the signal. */
TEST(signals_are_given_back_as_they_were)
{
    sigset_t one;
    chroprof *p = fresh(NULL);
    int number = free_signal();
    give_signal(number, SIG_IGN, 0);
    STARTED(start_with(p, number));
    CHECK(p->sampler_ignored);
    chroprof_sampler_stop(p);
    CHECK(handler_of(number) == SIG_IGN);
    give_signal(number, SIG_DFL, 0);
    CHECK_EQ(start_with(p, number), CHROPROF_OK);
    CHECK(!p->sampler_ignored);
    chroprof_sampler_stop(p);
    CHECK(handler_of(number) == SIG_DFL);
    give_signal(number, on_any_signal, 0);
    CHECK_EQ(start_with(p, number), CHROPROF_ERR_SAMPLER_SIGNAL);
    CHECK(handler_of(number) == on_any_signal);
    give_signal(number, NULL, SA_SIGINFO);
    CHECK_EQ(start_with(p, number), CHROPROF_ERR_SAMPLER_SIGNAL);
    give_signal(number, SIG_DFL, 0);
    sigemptyset(&one);
    sigaddset(&one, number);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &one, NULL), 0);
    CHECK(chroprof__is_blocked(number));
    CHECK_EQ(start_with(p, number), CHROPROF_ERR_SAMPLER_SIGNAL);
    CHECK_EQ(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
    CHECK(!chroprof__is_blocked(number));
    CHECK(handler_of(number) == SIG_DFL);
}

#if CHROPROF__THREAD_TIMER
/* The first that is free, up to the last: as far as the system has them. */
TEST(the_first_free_signal_is_taken)
{
    chroprof *p = fresh(NULL);
    sigset_t all;
    int number;
    sigfillset(&all);                       /* whoever started us may have left some blocked */
    CHECK_EQ(sigprocmask(SIG_UNBLOCK, &all, NULL), 0);
    for (number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction action;
        chroprof_result result = start_with(p, 0);
        if (number == SIGRTMIN)
            STARTED(result);
        if (result != CHROPROF_OK)
            break;                          /* an emulator that has not as many */
        CHECK_EQ(p->sampler_signal, number);
        chroprof_sampler_stop(p);
        memset(&action, 0, sizeof action);
        sigemptyset(&action.sa_mask);
        action.sa_handler = on_any_signal;
        if (sigaction(number, &action, NULL) != 0)
            break;                          /* what valgrind keeps for itself */
    }
    CHECK(number > SIGRTMIN);
    if (number > SIGRTMAX)
        CHECK_EQ(start_with(p, 0), CHROPROF_ERR_SAMPLER_SIGNAL);
    while (--number >= SIGRTMIN)
        give_signal(number, SIG_DFL, 0);
}
#endif

/* What a start and a stop leave in the block. */
TEST(a_start_and_a_stop_leave_their_marks)
{
    static char stack[64];
    chroprof *p = fresh(NULL), view, none;
    chroprof__sampler *s = sampler(p);
    uint64_t random = s->random;
    memset(&none, 0, sizeof none);
    view = *p;
    view.view = true;
    CHECK_EQ(chroprof_sampler_start(NULL, NULL), CHROPROF_ERR_ARGUMENT);
    chroprof_sampler_stop(NULL);
    chroprof_sampler_stack(NULL, stack, sizeof stack);
    CHECK_EQ(chroprof_sampler_start(&none, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_sampler_start(&view, NULL), CHROPROF_ERR_ARGUMENT);
    p->in_callback = true;
    CHECK_EQ(chroprof_sampler_start(p, NULL), CHROPROF_ERR_ARGUMENT);
    p->in_callback = false;
    chroprof_sampler_stack(p, stack, sizeof stack);
    CHECK_EQ(s->fiber_low + s->fiber_high, 0);      /* nothing runs */
    s->module_at = 5;
    STARTED(start_with(p, free_signal()));
#if defined(__linux__)
    if (chroprof__each_object)
        CHECK_EQ(s->module_at, 1000000000); /* read now, and again after a second */
    else
        CHECK_EQ(s->module_at, 0);
#endif
    CHECK(p->sampling && p->sampler_signal == free_signal());
    CHECK_EQ(s->running, 1);
    CHECK(s->armed != 0);
    CHECK(s->random != random);
    CHECK_EQ(p->sampler_pid, (uint64_t)getpid());
    CHECK_EQ(s->timer, (uint32_t)p->sampler_timer);
#if CHROPROF__THREAD_TIMER
    CHECK_IN(s->armed, (uintptr_t)p->core, (uintptr_t)p->core + CHROPROF__ALIGN - 1);
#endif
    CHECK_EQ(start_with(p, free_signal()), CHROPROF_ERR_SAMPLER_RUNNING);
    chroprof_sampler_stack(p, stack, sizeof stack);
    CHECK_EQ(s->fiber_low, (uintptr_t)stack);
    CHECK_EQ(s->fiber_high, (uintptr_t)stack + 64);
    p->in_callback = true;
    chroprof_sampler_stop(p);
    CHECK(p->sampling);
    p->in_callback = false;
    chroprof_sampler_stop(p);
    CHECK(!p->sampling && p->sampler_signal == 0);
    CHECK_EQ(s->running + s->armed + s->fiber_low + s->fiber_high, 0);
    laws(p);
}
#endif

#endif
