/* signals.h - the signals of the sampler, and what the program does with signals */

#ifndef PRELOAD_SIGNALS_H
#define PRELOAD_SIGNALS_H

#include "run.h"
#include "next.h"
#include "seats.h"
#include "stacks.h"

/* >>sampler: one signal for each thread, of the real-time signals that programs use last; where
 * there are no more, threads share them. A timer signals its own thread alone. */

static void (*timer_handler)(int, siginfo_t *, void *);
static uint32_t signals_held;  /* 1: a thread begins or ends its sampling */
static __thread bool sampled __attribute__((__tls_model__("initial-exec")));

static void hold_signals(void)
{
    uint32_t nobody = 0;
    while (!__atomic_compare_exchange_n(&signals_held, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        nobody = 0;
        (void)sched_yield();
    }
}

static void release_signals(void)
{
    __atomic_store_n(&signals_held, 0, __ATOMIC_RELEASE);
}

/* Whether the program gets a signal as soon as this handler returns, which then ends the wait. */
static bool others_pend(const ucontext_t *before)
{
    sigset_t pending;
    int error = errno;
    bool any = false;
    if (!filtered && sigpending(&pending) == 0) {
        for (int number = 1; number <= SIGRTMAX; number++) {
            any = any || (number != own->signal && sigismember(&pending, number) == 1 &&
                          sigismember(&before->uc_sigmask, number) == 0);
        }
    }
    errno = error;
    return any;
}

/* Is this signal what a system call returns for? By the call's result. On x86-64 rcx still holds
 * the address that a call returns to. Elsewhere each signal may be. */
static bool cuts_call(const ucontext_t *context)
{
#ifdef __x86_64__
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RAX] == -EINTR && registers[REG_RCX] == registers[REG_RIP];
#elif defined(__aarch64__)
    return (int64_t)context->uc_mcontext.regs[0] == -EINTR;
#else
    (void)context;
    return true;
#endif
}

/* Signals of ours that the program ignores, by its own word; bit N - 1: signal N. */
static uint64_t ignored;       /* atomic */

static uint64_t bit_of(int number)
{
    return number > 0 && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
}

static bool ignores(int number)
{
    return (__atomic_load_n(&ignored, __ATOMIC_RELAXED) & bit_of(number)) != 0;
}

static void note_ignored(int number, bool now)
{
    if (now) {
        (void)__atomic_fetch_or(&ignored, bit_of(number), __ATOMIC_RELAXED);
    } else {
        (void)__atomic_fetch_and(&ignored, ~bit_of(number), __ATOMIC_RELAXED);
    }
}

/* Somebody has sent a signal of ours, for which the program has no handler: it ends, as it would
 * without this library. */
static void end_by(int number)
{
    struct sigaction action;
    sigset_t one;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)next.sigaction(number, &action, NULL);
    (void)raise(number);
    (void)next.pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* Somebody has sent a signal of ours that the program believes to be blocked, so it waits for it,
 * here or in another thread. It gets it back, and from now on this thread blocks it. */
static void hand_over(int number, siginfo_t *info, ucontext_t *context)
{
    const int error = errno;
    const long process = (long)getpid();
    chroprof_sampler_halt(&own->profile);
    board->taken_signal = number;
    own->signal = 0;
    own->hides = false;
    (void)sigaddset(&context->uc_sigmask, number);
    if (info->si_code == SI_TKILL) {
        (void)syscall(SYS_rt_tgsigqueueinfo, process, syscall(SYS_gettid), (long)number, info);
    } else {
        (void)syscall(SYS_rt_sigqueueinfo, process, (long)number, info);
    }
    errno = error;
}

/* Counts the timer signals that cut a system call short, which a wait must not take for a signal of
 * the program. That can come only afterwards. A timer signal may come late, while others use its
 * signal. */
static void on_timer(int number, siginfo_t *info, void *context)
{
    bool cut = own != NULL && cuts_call((const ucontext_t *)context);
    if (info->si_code != SI_TIMER) {
        if (own != NULL && own->hides && !filtered) {
            hand_over(number, info, (ucontext_t *)context);
        } else if (!ignores(number) && (own == NULL || !own->hides)) {
            end_by(number);
        }
        return;
    }
    if (sampled) {
        timer_handler(number, info, context);
    }
    if (cut && !others_pend((const ucontext_t *)context)) {
        own->cuts++;
    }
}

/* Puts one handler in place of another, and returns that. */
static void exchange_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    if (next.sigaction(number, NULL, &action) == 0) {
        if (handler == on_timer) {
            timer_handler = action.sa_sigaction;
        }
        action.sa_sigaction = handler;
        all_but_faults(&action.sa_mask);
        (void)next.sigaction(number, &action, NULL);
    }
}

static seat *seat_of_signal(int number)
{
    seat *s;
    size_t i = 0;
    while ((s = seat_at(i)) != NULL && (number <= 0 || s->signal != number)) {
        i++;
    }
    return s;
}

/* Nearly all programs that block a real-time signal beside the others have no use for it: they
 * block all signals, for a moment or in threads that shall get none. The sampler's stays open then,
 * and the program does not see it. A set with ours that lacks some of the others means ours. */
static bool holds_all(const sigset_t *set)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        if (sigismember(set, number) != 1) {
            return false;
        }
    }
    return true;
}

static void change_mask(int how, int number)
{
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)next.pthread_sigmask(how, &one, NULL);
}

/* Starts the sampler with this signal, also where all are blocked: it is open afterwards. */
static chroprof_result start_sampler(seat *s, const chroprof_sampler_options *options)
{
    chroprof_result result;
    struct sigaction action;
    bool opens;
    if (seat_of_signal(options->signal) == NULL &&
        next.sigaction(options->signal, NULL, &action) == 0) {
        note_ignored(options->signal, action.sa_handler == SIG_IGN);
    }
    s->hides = (s->blocks || next.pthread_sigmask(SIG_BLOCK, NULL, &s->mask) == 0) &&
               holds_all(&s->mask);
    opens = s->hides || (s->blocks && sigismember(&s->mask, options->signal) == 0);
    if (opens) {
        change_mask(SIG_UNBLOCK, options->signal);
    }
    result = chroprof_sampler_start(&s->profile, options);
    if (opens && (s->blocks || result != CHROPROF_OK)) {
        change_mask(SIG_BLOCK, options->signal);
    }
    if (opens && result == CHROPROF_OK) {
        (void)sigdelset(&s->mask, options->signal);
    }
    return result;
}

/* Whether this thread may use a number that others have: a timer signal on its small alternate
 * stack would end it, and the handler is there for all. */
static bool can_share(int number)
{
    struct sigaction action;
    stack_t stack;
    return next.sigaction(number, NULL, &action) == 0 && sigaltstack(NULL, &stack) == 0 &&
           ((action.sa_flags & SA_ONSTACK) == 0 || lent != NULL ||
            (stack.ss_flags & SS_DISABLE) != 0);
}

/* Each seat begins at a number of its own, so that threads which start at once don't meet. */
static chroprof_result find_signal(seat *s, chroprof_sampler_options *options, bool shared)
{
    chroprof_result result = CHROPROF_ERR_SAMPLER_SIGNAL;
    const int least = SIGRTMIN + SPARED_SIGNALS;
    int number = SIGRTMAX - (int)s->number % (SIGRTMAX - least);
    for (int tries = SIGRTMAX - least; tries > 0 && result == CHROPROF_ERR_SAMPLER_SIGNAL; tries--) {
        if ((seat_of_signal(number) != NULL) == shared && (!shared || can_share(number))) {
            options->signal = number;
            result = start_sampler(s, options);
        }
        number = number - 1 > least ? number - 1 : SIGRTMAX;
    }
    return result;
}

static chroprof_result find_any_signal(seat *s, chroprof_sampler_options *options, uintptr_t stack)
{
    chroprof_result result;
    if (lend_stack(s) < BIG_SIGNAL_BYTES && !is_main && is_near_end(s, stack)) {
        return CHROPROF_ERR_SAMPLER_STACK;
    }
    result = find_signal(s, options, false);
    return result == CHROPROF_ERR_SAMPLER_SIGNAL ? find_signal(s, options, true) : result;
}

static void begin_sampling(seat *s, uintptr_t stack)
{
    chroprof_sampler_options options;
    chroprof_result result;
    if (next.sigaction == NULL || next.pthread_sigmask == NULL || board->taken_signal != 0) {
        return;
    }
    memset(&options, 0, sizeof options);
    options.mode = wall_clock ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    s->unwind.high = 0;
    if (with_tables && unwind_begin(&s->unwind)) {
        board->python = s->unwind.python == NULL ? python_version() : 0;
        options.unwind = unwind_walk;
        options.unwind_user = &s->unwind;
    }
    hold_signals();
    sampled = asks = true;
    result = find_any_signal(s, &options, stack);
    asks = false;
    sampled = result == CHROPROF_OK;
    if (sampled) {
        if (seat_of_signal(options.signal) == NULL) {
            exchange_handler(options.signal, on_timer);
        }
        s->signal = options.signal;
    } else {
        take_back_stack(s);
        note(&board->unsampled);
        board->unsampled_why = (int32_t)result;
    }
    release_signals();
}

/* From the moment at which the signal is nobody's, sigaction shows the header its own handler. */
static void end_sampling(seat *s)
{
    int number = s->signal;
    hold_signals();
    s->signal = 0;
    if (number != 0 && seat_of_signal(number) == NULL) {
        exchange_handler(number, timer_handler);
    }
    sampled = false;
    asks = true;
    chroprof_sampler_stop(&s->profile);
    if (number != 0 && seat_of_signal(number) == NULL && ignores(number)) {
        (void)next.signal(number, SIG_IGN);
    }
    take_back_stack(s);
    asks = false;
    release_signals();
}

/* The program wants a signal of ours for itself: its threads are sampled no more. A timer signal
 * that is on its way is thrown away. */
static void give_up_signal(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    board->taken_signal = number;
    for (seat *s = seat_of_signal(number); s != NULL; s = seat_of_signal(number)) {
        chroprof_sampler_halt(&s->profile);
        s->signal = 0;
    }
    action.sa_handler = SIG_IGN;
    (void)next.sigaction(number, &action, NULL);
    action.sa_handler = SIG_DFL;
    (void)next.sigaction(number, &action, NULL);
}

static bool is_handler(signal_handler handler)
{
    return handler != SIG_DFL && handler != SIG_IGN;
}

/* Whether the program may set this signal. One of ours stays ours while the program only resets it,
 * as daemons do to all of them: a timer signal would kill it. It also stays when the header sets it
 * for one thread more, or resets it for one of several. */
static bool may_set_signal(int number, bool sets, signal_handler handler)
{
    seat *s = seat_of_signal(number);
    if (s == NULL || asks || !sets) {
        return s == NULL;
    }
    note_ignored(number, handler == SIG_IGN);
    if (!is_handler(handler)) {
        return false;
    }
    if (is_awake()) {
        give_up_signal(number);
    }
    for (; s != NULL; s = seat_of_signal(number)) {     /* a forked child has no timers */
        s->signal = 0;
    }
    return true;
}

/* A handler that blocks all signals would put a timer signal off to its own end, and what the
 * program's signal cut short would then seem cut by the timer signal. So ours stay open in it; the
 * program does not see that. */
static int set_open_action(int number, const struct sigaction *action, struct sigaction *old)
{
    static uint64_t opened;                /* atomic; bit N - 1: signal N's handler */
    const uint64_t bit = bit_of(number);
    const bool opens = action != NULL && is_awake() && holds_all(&action->sa_mask);
    const bool were = (__atomic_load_n(&opened, __ATOMIC_RELAXED) & bit) != 0;
    struct sigaction copy;
    int result;
    if (opens) {
        copy = *action;
        for (int ours = SIGRTMIN + SPARED_SIGNALS; ours <= SIGRTMAX; ours++) {
            (void)sigdelset(&copy.sa_mask, ours);
        }
    }
    result = next.sigaction(number, opens ? &copy : action, old);
    for (int ours = SIGRTMIN + SPARED_SIGNALS; were && old != NULL && ours <= SIGRTMAX; ours++) {
        (void)sigaddset(&old->sa_mask, ours);
    }
    if (result == 0 && action != NULL && opens) {
        (void)__atomic_fetch_or(&opened, bit, __ATOMIC_RELAXED);
    } else if (result == 0 && action != NULL) {
        (void)__atomic_fetch_and(&opened, ~bit, __ATOMIC_RELAXED);
    }
    return result;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    signal_handler before;
    if (next.sigaction == NULL) {
        find_function(&next.sigaction, "sigaction");
    }
    before = ignores(number) ? SIG_IGN : SIG_DFL;
    if (may_set_signal(number, action != NULL, action != NULL ? action->sa_handler : SIG_DFL)) {
        return asks ? next.sigaction(number, action, old) : set_open_action(number, action, old);
    }
    if (old != NULL) {
        memset(old, 0, sizeof *old);
        old->sa_handler = before;
    }
    return 0;
}

EXPORT signal_handler signal(int number, signal_handler handler)
{
    const signal_handler before = ignores(number) ? SIG_IGN : SIG_DFL;
    if (next.signal == NULL) {
        find_function(&next.signal, "signal");
    }
    return may_set_signal(number, true, handler) ? next.signal(number, handler) : before;
}

/* A set of signals that the program blocks or waits for, without ours if it means all: then `copy`.
 * If it means ours, the program gets it. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy, bool *all)
{
    seat *s = own;
    *all = false;
    if (s == NULL || s->signal == 0 || !is_awake() || set == NULL ||
        sigismember(set, s->signal) != 1) {
        return set;
    }
    *all = holds_all(set);
    if (!*all) {
        give_up_signal(s->signal);
        return set;
    }
    *copy = *set;
    (void)sigdelset(copy, s->signal);
    return copy;
}

/* What a change makes of ours, as the program sees it. */
static bool hides_then(const seat *s, int how, const sigset_t *set, bool all)
{
    if (set == NULL || how == SIG_BLOCK) {
        return s->hides || all;
    }
    return how == SIG_SETMASK ? all : s->hides && sigismember(set, s->signal) != 1;
}

typedef int mask_function(int, const sigset_t *, sigset_t *);

static int set_mask(mask_function *set_it, int how, const sigset_t *set, sigset_t *old)
{
    seat *s = own;
    sigset_t copy;
    bool all = false;
    bool hid, hides;
    int result;
    const sigset_t *given = how != SIG_UNBLOCK ? without_ours(set, &copy, &all) : set;
    if (s == NULL || s->signal == 0 || !is_awake()) {
        return set_it(how, given, old);
    }
    hid = s->hides;
    hides = hides_then(s, how, set, all);
    result = set_it(how, given, old);
    if (result == 0 && old != NULL && hid) {
        (void)sigaddset(old, s->signal);
    }
    s->hides = result == 0 ? hides : hid;
    return result;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    if (next.sigprocmask == NULL) {
        find_function(&next.sigprocmask, "sigprocmask");
    }
    return set_mask(next.sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (next.pthread_sigmask == NULL) {
        find_function(&next.pthread_sigmask, "pthread_sigmask");
    }
    return set_mask(next.pthread_sigmask, how, set, old);
}

EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;
    bool all;
    if (next.sigwait == NULL) {
        find_function(&next.sigwait, "sigwait");
    }
    return next.sigwait(without_ours(set, &copy, &all), number);
}

EXPORT int signalfd(int file, const sigset_t *set, int flags)
{
    sigset_t copy;
    bool all;
    if (next.signalfd == NULL) {
        find_function(&next.signalfd, "signalfd");
    }
    return next.signalfd(file, without_ours(set, &copy, &all), flags);
}

#endif
