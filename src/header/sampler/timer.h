/* sampler/timer.h */
#pragma once
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"

/* >>sampler: the timer, its signal and its handler.
 * Owns the signal and the timer of a profile, and of the sampler's state what the handler changes:
 * the ring's newest entries, ticks, lost, cost, deadline. Events change the last four, too, when
 * samples are overdue.
 * Relies on >>samples for the ring and for what becomes of it, on >>platform for clocks and system
 * calls. The handler calls nothing but clock_gettime and the system calls of the timer, and knows
 * its profile by the value that the timer carries, so there is nothing global; but for timers of
 * the process, which carry none.
 * Called by the host to start and stop, by the kernel, and by events while the sampler runs: those
 * tell it that the loop is about to sleep. */

#if CHROPROF__SAMPLES
enum {
#ifdef SA_ONSTACK
    CHROPROF__ON_STACK = SA_ONSTACK,
#else
    CHROPROF__ON_STACK = 0x08000000,
#endif
    CHROPROF__BUDGET_PERIODS = 8
};

/* ---- the stack of a timer signal. Bytes: what the handler needs below the kernel's frame, and
 * what it leaves to a walk of the user's; an alternate stack that is big enough for signals and for
 * whoever else runs on it. */
enum {
    CHROPROF__SIGNAL_STACK = 4096, CHROPROF__UNWIND_STACK = 16384, CHROPROF__BIG_STACK = 32768
};

typedef __typeof__(((ucontext_t *)0)->uc_stack) chroprof__stack_of_signals;

extern int chroprof__alternate_stack(const void *set, void *get)
    __asm__(CHROPROF__LABEL("sigaltstack"));

static uint64_t chroprof__stack_need(bool unwinds)
{
    return unwinds ? CHROPROF__UNWIND_STACK : CHROPROF__SIGNAL_STACK;
}

/* What the kernel itself puts on the stack for a signal: 1.4 KiB and more on x86-64, 3.4 with
 * AVX-512, 11 with AMX. 0: not known. */
#if defined(__linux__)
extern unsigned long chroprof__auxiliary(unsigned long type) __asm__("getauxval")
    __attribute__((__weak__));
#endif

static uint64_t chroprof__frame_bytes(void)
{
#if defined(__linux__)
    if (chroprof__auxiliary)
        return chroprof__auxiliary(51);     /* AT_MINSIGSTKSZ */
#endif
    return 0;
}

/* Size of the alternate stack of this thread; 0: it has none. */
static uint64_t chroprof__alternate_bytes(void)
{
    chroprof__stack_of_signals stack;
    memset(&stack, 0, sizeof(stack));
    (void)chroprof__alternate_stack(NULL, &stack);
    return stack.ss_sp ? stack.ss_size : 0;
}

/* SIGSTKSZ as it was before it became a call. */
#if defined(__x86_64__) || defined(__i386__)
enum { CHROPROF__CLASSIC_STACK = 8192 };
#else
enum { CHROPROF__CLASSIC_STACK = 16384 };
#endif

/* Can a crash handler on this thread's alternate stack be interrupted by a timer signal that takes
 * no sample? The classic size will do: a processor with AMX announces a frame of 11 KiB to all, and
 * the kernel writes one only for who asked for AMX. Where none is announced, no less will do. */
static bool chroprof__handlers_have_room(void)
{
    enum { CLASSIC = CHROPROF__CLASSIC_STACK, WITHOUT_SAMPLE = 512 };
    uint64_t bytes = chroprof__alternate_bytes(), frame = chroprof__frame_bytes();
    return bytes == 0 || bytes >= CLASSIC || (frame > 0 && bytes >= 2 * frame + WITHOUT_SAMPLE);
}

/* Has this thread an alternate stack that signals may run on? A small one is its crash handler's
 * alone: a timer signal would kill the program there, or the handler that comes while a timer
 * signal runs. */
static bool chroprof__has_big_stack(void)
{
    return chroprof__alternate_bytes() >= CHROPROF__BIG_STACK;
}

/* The bytes below an address, as far as its stack is known; else many. */
static uint64_t chroprof__stack_left(const chroprof__sampler *s, uintptr_t here)
{
    if (here >= s->stack.fiber_low && here < s->stack.fiber_high)
        return here - s->stack.fiber_low;
    return here >= s->stack.low && here < s->stack.high ? here - s->stack.low : UINT64_MAX;
}

/* Is there room for a timer signal below here? A crash handler on a small stack must live, and so
 * must a fiber near its end: the kernel's frame fitted, but little more might. */
CHROPROF__NOINLINE bool chroprof__has_stack(const chroprof__sampler *s, const void *context)
{
    const chroprof__stack_of_signals *other = &((const ucontext_t *)context)->uc_stack;
    const void *frame = __builtin_frame_address(0);
    uintptr_t here = (uintptr_t)frame, low = (uintptr_t)other->ss_sp;
    uint64_t left = here - low < other->ss_size ? here - low : chroprof__stack_left(s, here);
    return left >= chroprof__stack_need(s->unwind.walk != 0);
}

/* May the sampler start here, where a timer signal could come next? */
static bool chroprof__can_interrupt_here(const chroprof__sampler *s,
                                         const chroprof_sampler_options *o)
{
    const void *frame = __builtin_frame_address(0);
    uint64_t left = chroprof__stack_left(s, (uintptr_t)frame), bytes = chroprof__frame_bytes();
    chroprof__raise(&bytes, 4096);
    return chroprof__has_big_stack() ||
           (left >= bytes + chroprof__stack_need(o->unwind != NULL) &&
            chroprof__handlers_have_room());
}

#if CHROPROF__THREAD_TIMER
enum { CHROPROF__THREAD_SIGNAL = 4 };      /* SIGEV_THREAD_ID */

/* How the kernel takes the event of a timer: struct sigevent. */
typedef struct chroprof__timer_event {
    uint64_t value;
    int32_t signal, notify, thread;
    int32_t rest[11];
} chroprof__timer_event;

/* Arms a timer, or stops it if first_ns is 0. The kernel takes times in s and ns. */
static void chroprof__set_timer(uint64_t timer, uint64_t first_ns, uint64_t interval_ns)
{
    const uint64_t s = 1000000000u;
    const uint64_t value[4] = { interval_ns / s, interval_ns % s, first_ns / s, first_ns % s };
    (void)chroprof__system(SYS_timer_settime, (long)timer, 0L, value, NULL);
}
#else
/* A timer of the process, and whose its signals are. It may interrupt any thread, which passes the
 * signal on to the loop's. */
typedef struct chroprof__process_timer {
    const chroprof *owner;
    chroprof__core *core;      /* NULL: the signals are nobody's */
    pthread_t thread;          /* of the loop */
    long pid;                  /* of the owner's process; 0: the timer is free */
    long passing;              /* threads that are about to pass a timer signal on */
    bool ignored;              /* the signal, before */
} chroprof__process_timer;

static chroprof__process_timer chroprof__process_timers[2];

/* The timer of the process that sends this signal. */
static chroprof__process_timer *chroprof__timer_of(int number)
{
    return chroprof__process_timers + (number == SIGPROF);
}

static void chroprof__set_timer(uint64_t number, uint64_t first_ns, uint64_t interval_ns)
{
    struct itimerval value;
    memset(&value, 0, sizeof(value));
    value.it_interval.tv_sec += (long)(interval_ns / 1000000000u);
    value.it_interval.tv_usec += (int)(interval_ns % 1000000000u / 1000u);
    value.it_value.tv_sec += (long)(first_ns / 1000000000u);
    value.it_value.tv_usec += (int)(first_ns % 1000000000u / 1000u);
    (void)setitimer(number == SIGPROF ? ITIMER_PROF : ITIMER_REAL, &value, NULL);
}
#endif
#endif /* part alone */
