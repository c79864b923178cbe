/* sampler/start.h: the signal and the timer come and go */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/modules.h"
#include "../block/samples.h"
#include "../sampler/timer.h"
#include "../sampler/due.h"
#include "../sampler/follow.h"
#include "../sampler/handler.h"

#if CHROPROF__SAMPLES /* part alone */
/* ---- start and stop */

static bool chroprof__has_no_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 &&
           (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/* Whoever blocks a signal waits for it by other means (signalfd, sigwaitinfo), and would get
 * ours. */
static bool chroprof__is_blocked(int number)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    return sigismember(&blocked, number) == 1;
}

/* Makes a signal ours if it has no handler. One signal a profile: it can be given back without a
 * count of who else uses it. */
CHROPROF__COLD bool chroprof__claim_signal(chroprof *p, int number)
{
    struct sigaction ours, before;
    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = chroprof__on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    if (chroprof__has_big_stack())
        ours.sa_flags |= CHROPROF__ON_STACK;
#if CHROPROF__THREAD_TIMER
    sigemptyset(&ours.sa_mask);
#else
    sigfillset(&ours.sa_mask);              /* nothing jumps out while a signal is passed on */
#endif
    if (sigaction(number, NULL, &before) != 0 || !chroprof__has_no_handler(&before) ||
        chroprof__is_blocked(number) || sigaction(number, &ours, &before) != 0)
        return false;
    if (!chroprof__has_no_handler(&before)) {           /* never: another thread was faster */
        (void)sigaction(number, &before, NULL);
        return false;
    }
    p->sampler_ignored = before.sa_handler == SIG_IGN;
    return true;
}

/* Gives a signal back: none of ours that is still on its way arrives any more. A handler that the
 * host has set meanwhile stays. */
CHROPROF__COLD void chroprof__return_signal(int number, bool ignored)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    (void)sigaction(number, NULL, &action);
    if ((action.sa_flags & SA_SIGINFO) == 0 || action.sa_sigaction != chroprof__on_signal)
        return;
    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    (void)sigaction(number, &action, NULL);
    action.sa_handler = SIG_DFL;
    if (!ignored)
        (void)sigaction(number, &action, NULL);
}

#if defined(__APPLE__)
extern void *chroprof__stack_top(pthread_t thread)
    __asm__(CHROPROF__LABEL("pthread_get_stackaddr_np"));
extern size_t chroprof__stack_size(pthread_t thread)
    __asm__(CHROPROF__LABEL("pthread_get_stacksize_np"));

static void chroprof__find_stack(chroprof__sampler *s)
{
    s->stack.fiber_low = s->stack.fiber_high = 0;
    s->stack.high = (uint64_t)(uintptr_t)chroprof__stack_top(pthread_self());
    s->stack.low = s->stack.high - chroprof__stack_size(pthread_self());
}
#else
extern int chroprof__thread_attributes(pthread_t thread, pthread_attr_t *out)
    __asm__("pthread_getattr_np") __attribute__((__weak__));

static void chroprof__find_stack(chroprof__sampler *s)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    s->stack.low = s->stack.high = s->stack.fiber_low = s->stack.fiber_high = 0;
    if (!chroprof__thread_attributes ||     /* never: a C library without it, and no memory */
        chroprof__thread_attributes(pthread_self(), &attributes) != 0)
        return;
    (void)pthread_attr_getstack(&attributes, &low, &size);
    s->stack.low = (uint64_t)(uintptr_t)low;
    s->stack.high = s->stack.low + size;
    pthread_attr_destroy(&attributes);
}
#endif

static void chroprof__set_up_sampler(const chroprof *p, chroprof__sampler *s,
                                     const chroprof_sampler_options *o)
{
    uintptr_t unwind = 0;
    memcpy(&unwind, &o->unwind, sizeof(unwind));
    s->set.mode = o->mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    s->set.first_period_ns = chroprof__or(o->period_ns, 19000000u);
    chroprof__raise(&s->set.first_period_ns, 100000);
    s->handler.period_ns = s->set.first_period_ns;
    s->set.budget_ppm = chroprof__or(o->budget_ppm, 10000);
    s->set.steady = o->steady;
    s->unwind.walk = unwind;
    s->unwind.user = (uint64_t)(uintptr_t)o->unwind_user;
    s->handler.window_weight = s->handler.window_cost = s->handler.pending = s->wait.resting = 0;
    s->wait.most = 2 * s->set.first_period_ns;  /* at first none is expected to be short */
    s->handler.stamp = chroprof__monotonic_ns(NULL);
    s->handler.cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    s->draw.random ^= s->handler.stamp;
    s->wait.idle_ns = chroprof__random(s) % s->set.first_period_ns;
    s->timer.pid = (uint64_t)getpid();
    s->noting = s->look.due = 0;
    s->look.last = UINT64_MAX;
    memset(chroprof__notes(s), 0,
           (size_t)chroprof__note_bytes(p->core->tables[CHROPROF_TABLE_DEPTH].capacity));
    memset(chroprof__callers(p->core), 0,
           (size_t)chroprof__caller_bytes(p->core));
}

#if CHROPROF__THREAD_TIMER
static int chroprof__find_signal(chroprof *p, const chroprof_sampler_options *o)
{
    if (o->signal)
        return chroprof__claim_signal(p, o->signal) ? o->signal : 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (chroprof__claim_signal(p, number))
            return number;
    return 0;
}

/* Makes the timer; its number, or -1 and errno. */
static int chroprof__make_timer(chroprof *p, chroprof__sampler *s, int number)
{
    chroprof__timer_event event;
    int timer = -1;
    s->timer.armed = (uint64_t)(uintptr_t)p->core + chroprof__random(s) % CHROPROF__ALIGN;
    memset(&event, 0, sizeof(event));
    event.value = s->timer.armed;
    event.signal = number;
    event.notify = CHROPROF__THREAD_SIGNAL;
    event.thread = (int32_t)chroprof__system(SYS_gettid);
    long clock = s->set.mode == CHROPROF_SAMPLER_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    return chroprof__system(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

/* Deletes the timer, once: afterwards its number may be that of another one. */
static void chroprof__silence(const chroprof *p, chroprof__sampler *s)
{
    bool armed = chroprof__peek64(&s->timer.armed) != 0;
    chroprof__poke64(&s->timer.armed, 0);
    if (armed)
        (void)chroprof__system(SYS_timer_delete, (long)p->sampler_timer);
}

static void chroprof__end_timer(const chroprof *p)
{
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        chroprof__silence(p, chroprof__sampler_of(p->core));
    chroprof__return_signal(p->sampler_signal, p->sampler_ignored);
}
#else
static int chroprof__signal_of(const chroprof_sampler_options *o)
{
    return o->mode == CHROPROF_SAMPLER_WALL ? SIGALRM : SIGPROF;
}

/* Stops the timer, also in the middle of events: those find no timer then. */
static void chroprof__silence(const chroprof *p, chroprof__sampler *s)
{
    (void)p;
    chroprof__poke64(&s->timer.armed, 0);
    chroprof__set_timer(s->timer.number, 0, 0);
}

static void chroprof__free_timer(chroprof__process_timer *t)
{
    __atomic_store_n(&t->owner, (const chroprof *)NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->pid, 0, __ATOMIC_SEQ_CST);
}

/* Takes hold of the process's timer. A forked child takes its parent's over, which does not fire
 * there; its signal is given back first. False: somebody uses it. */
static bool chroprof__hold_timer(const chroprof *p, const chroprof_sampler_options *o)
{
    int number = chroprof__signal_of(o);
    chroprof__process_timer *t = chroprof__timer_of(number);
    struct itimerval now;
    long held = __atomic_load_n(&t->pid, __ATOMIC_SEQ_CST), own = (long)getpid();
    errno = EBUSY;
    if (held == own ||
        !__atomic_compare_exchange_n(&t->pid, &held, own, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return false;
    __atomic_store_n(&t->owner, p, __ATOMIC_SEQ_CST);
    t->core = NULL;
    if (held) {
        t->passing = 0;                     /* whoever did is not in this process */
        chroprof__return_signal(number, t->ignored);
    }
    memset(&now, 0, sizeof(now));
    (void)getitimer(number == SIGPROF ? ITIMER_PROF : ITIMER_REAL, &now);
    if (now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0)
        return true;
    chroprof__free_timer(t);
    errno = EBUSY;
    return false;
}

/* Claims a signal; if there is none to be had, the process's timer is free again. */
static int chroprof__find_signal(chroprof *p, const chroprof_sampler_options *o)
{
    int number = chroprof__signal_of(o);
    if ((o->signal == 0 || o->signal == number) && chroprof__claim_signal(p, number))
        return number;
    chroprof__free_timer(chroprof__timer_of(number));
    return 0;
}

static int chroprof__make_timer(chroprof *p, chroprof__sampler *s, int number)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    t->thread = pthread_self();
    t->ignored = p->sampler_ignored;
    s->timer.armed = 1;
    __atomic_store_n(&t->core, p->core, __ATOMIC_SEQ_CST);
    return number;
}

/* No thread passes a timer signal on any more: it would come when the signal is no longer ours.
 * False: one has not got any further for a second. */
static bool chroprof__await_passing(chroprof__process_timer *t)
{
    uint64_t end = chroprof__monotonic_ns(NULL) + 1000000000u;
    while (__atomic_load_n(&t->passing, __ATOMIC_SEQ_CST) > 0) {
        if (chroprof__monotonic_ns(NULL) > end)
            return false;
        (void)sched_yield();
    }
    return true;
}

static void chroprof__end_timer_of(const chroprof *p, int number)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    if (__atomic_load_n(&t->owner, __ATOMIC_SEQ_CST) != p)    /* a forked child's: taken over */
        return;
    if (t->pid != (long)getpid()) {
        t->passing = 0;
    } else {
        __atomic_store_n(&t->core, (chroprof__core *)NULL, __ATOMIC_SEQ_CST);
        t->ignored |= !chroprof__await_passing(t);
        chroprof__set_timer((uint64_t)number, 0, 0);        /* none arms it again */
    }
    chroprof__return_signal(number, t->ignored);
    chroprof__free_timer(t);
}

static void chroprof__end_timer(const chroprof *p)
{
    chroprof__end_timer_of(p, p->sampler_signal);
}
#endif

/* Sets the timer off. A steady one is left alone from here on. */
static void chroprof__begin_signals(chroprof *p, chroprof__sampler *s)
{
    s->timer.running = 1;
    s->modules.loads = s->modules.loaded = s->look.at = 0;
    s->first_event = p->core->seq >> 1;
    chroprof__look_at_modules(p->core);
    s->modules.possible = s->modules.loaded;
    chroprof__wake(p->core);
    chroprof__end_edit(p->core);
    chroprof__set_taking(p, chroprof__is_taking(p));
    (void)*(volatile int *)&errno;          /* linked now: in the handler that takes 1 to 3 KiB */
    s->handler.deadline = chroprof__mode_ns(s) + chroprof__random_period(s);
    s->handler.stopped = 0;
    if (s->set.steady)
        chroprof__set_timer(s->timer.number, s->handler.period_ns, s->handler.period_ns);
    else
        chroprof__arm(s);
}

/* There is no timer: takes back what the start has changed so far. */
static chroprof_result chroprof__no_timer(const chroprof *p, chroprof__sampler *s, int number)
{
    int error = errno;
    s->timer.armed = 0;
    chroprof__end_edit(p->core);
    chroprof__return_signal(number, p->sampler_ignored);
    errno = error;
    return CHROPROF_ERR_SAMPLER_TIMER;
}

CHROPROF__COLD_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                          const chroprof_sampler_options *options)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof(o));
    if (!chroprof__has_block(p) || p->view || p->in_hook)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (!s)
        return CHROPROF_ERR_SAMPLER_MEMORY;
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        return CHROPROF_ERR_SAMPLER_RUNNING;
    chroprof_sampler_stop(p);               /* the parent's, in a forked child */
    if (options)
        o = *options;
    chroprof__find_stack(s);
#if !CHROPROF__THREAD_TIMER                 /* else there is one for each profile */
    chroprof__end_timer_of(p, SIGPROF);     /* of a profile that was begun anew without a stop */
    chroprof__end_timer_of(p, SIGALRM);
#endif
    if (!chroprof__can_interrupt_here(s, &o))
        return CHROPROF_ERR_SAMPLER_STACK;
#if !CHROPROF__THREAD_TIMER
    if (!chroprof__hold_timer(p, &o))
        return CHROPROF_ERR_SAMPLER_TIMER;
#endif
    int number = chroprof__find_signal(p, &o);
    if (number == 0)
        return CHROPROF_ERR_SAMPLER_SIGNAL;
    chroprof__begin_edit(p->core);
    chroprof__set_up_sampler(p, s, &o);
    p->sampler_timer = chroprof__make_timer(p, s, number);
    s->timer.number = (uint64_t)(uint32_t)p->sampler_timer;
    if (p->sampler_timer < 0)
        return chroprof__no_timer(p, s, number);
    p->sampler_signal = number;
    p->sampler_pid = s->timer.pid;
    p->drain = chroprof__drain_all;
    p->follow = chroprof__follow_event;
    p->follows_idle = s->set.mode == CHROPROF_SAMPLER_WALL;
    p->sampling = true;
    chroprof__begin_signals(p, s);
    return CHROPROF_OK;
}

CHROPROF__COLD_API void chroprof_sampler_stop(chroprof *p)
{
    if (!chroprof__is_set(p) || p->sampler_signal == 0 || p->in_hook)
        return;
    bool block = chroprof__has_block(p);    /* the child of a mapped one has the signal only */
    chroprof__end_timer(p);
    p->sampler_signal = 0;
    if (!block || !p->sampling)
        return;
    chroprof__end_signals(p, chroprof__sampler_of(p->core));
    chroprof__wake_drain(p->core);
}

CHROPROF__COLD_API void chroprof_sampler_halt(chroprof *p)
{
    if (chroprof__is_set(p) && p->sampling && p->sampler_pid == (uint64_t)getpid())
        chroprof__silence(p, chroprof__sampler_of(p->core));
}

CHROPROF__COLD_API void chroprof_sampler_went_on(chroprof *p, uint64_t waits)
{
    chroprof__sampler *s = chroprof__has_block(p) ? chroprof__sampler_of(p->core) : NULL;
    if (s && !p->view)
        s->handler.interrupted = chroprof__minus(s->handler.interrupted, waits);
}

CHROPROF__COLD_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    if (!chroprof__is_set(p) || !p->sampling)
        return;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    chroprof__poke64(&s->stack.fiber_high, 0); /* at no moment do the two differ */
    chroprof__poke64(&s->stack.fiber_low, (uint64_t)(uintptr_t)low);
    chroprof__poke64(&s->stack.fiber_high, (uint64_t)(uintptr_t)low + bytes);
}
#elif !defined(CHROPROF_NO_SAMPLER)
CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options)
{
    (void)options;
    return chroprof__can_read(p) && !p->view ? CHROPROF_ERR_SAMPLER : CHROPROF_ERR_ARGUMENT;
}

CHROPROF_API void chroprof_sampler_stop(chroprof *p)
{
    (void)p;
}

CHROPROF_API void chroprof_sampler_halt(chroprof *p)
{
    (void)p;
}

CHROPROF_API void chroprof_sampler_went_on(chroprof *p, uint64_t waits)
{
    (void)p;
    (void)waits;
}

CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    (void)p;
    (void)low;
    (void)bytes;
}
#endif
