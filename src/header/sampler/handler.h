/* sampler/handler.h: what a timer signal finds */
#pragma once
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/samples.h"
#include "../sampler/timer.h"
#include "../sampler/due.h"
#include "../sampler/follow.h"

#if CHROPROF__SAMPLES /* part alone */
/* ---- in the handler */

/* Registers of the interrupted code. */
typedef struct chroprof__registers {
    uintptr_t code, stack, frame;
} chroprof__registers;

/* On Linux by their places in the kernel's frame: the names of these fields hide behind feature
 * macros. False: samples name tasks, and what options.unwind tells. */
static bool chroprof__read_registers(void *context, chroprof__registers *r)
{
#if defined(__APPLE__) && defined(__x86_64__)
    const ucontext_t *u = (const ucontext_t *)context;
    r->code = (uintptr_t)u->uc_mcontext->__ss.__rip;
    r->stack = (uintptr_t)u->uc_mcontext->__ss.__rsp;
    r->frame = (uintptr_t)u->uc_mcontext->__ss.__rbp;
    return true;
#elif defined(__APPLE__) && defined(__aarch64__) && defined(__darwin_arm_thread_state64_get_pc)
    const ucontext_t *u = (const ucontext_t *)context;
    r->code = (uintptr_t)__darwin_arm_thread_state64_get_pc(u->uc_mcontext->__ss);
    r->stack = (uintptr_t)__darwin_arm_thread_state64_get_sp(u->uc_mcontext->__ss);
    r->frame = (uintptr_t)__darwin_arm_thread_state64_get_fp(u->uc_mcontext->__ss);
    return true;
#elif defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#ifdef __x86_64__
    static const uint8_t place[3] = { 16, 15, 10 };            /* rip, rsp, rbp */
#else
    static const uint8_t place[3] = { 33, 32, 30 };            /* pc, sp, x29, behind an address */
#endif
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    memcpy(&r->code, at + 8 * place[0], sizeof(r->code));
    memcpy(&r->stack, at + 8 * place[1], sizeof(r->stack));
    memcpy(&r->frame, at + 8 * place[2], sizeof(r->frame));
    return true;
#else
    (void)context;
    (void)r;
    return false;
#endif
}

/* Is this signal what a system call returns for (EINTR)? Known on Linux, on x86-64 and arm64, by
 * the call's result. On x86-64 rcx still holds the address that it returns to (the SYSCALL
 * instruction: Intel's manual, volume 2). The code itself is not looked at: it may not be
 * readable. */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define CHROPROF__SEES_CALLS 1
static bool chroprof__has_cut(void *context)
{
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    int64_t result;
#ifdef __x86_64__
    uint64_t back, next;                    /* rcx and rip */
    memcpy(&result, at + 8 * 13, sizeof(result));
    memcpy(&back, at + 8 * 14, sizeof(back));
    memcpy(&next, at + 8 * 16, sizeof(next));
    return result == -EINTR && back == next;
#else
    memcpy(&result, at + 8 * 1, sizeof(result));
    return result == -EINTR;
#endif
}
#else
#define CHROPROF__SEES_CALLS 0
#define chroprof__has_cut(context) 0
#endif

/* A wait that this signal would end goes on inside the handler, and its result takes the place of
 * the EINTR that the host would see. Nothing has to be known of how long it was to be: polls and
 * sleeps have left that with the kernel (restart_syscall, which it calls itself after a signal
 * without a handler), the others keep it in their arguments. Which call it is only the code says,
 * where it moves the number into eax before the SYSCALL instruction; others stay cut. The host's
 * own signals end the wait as they would without this one. */
#if CHROPROF__SEES_CALLS && CHROPROF__THREAD_TIMER && defined(__x86_64__)
enum { CHROPROF__WORD_BEHIND_RCX = 16, CHROPROF__PLACE_OF_RESULT = 13 };

/* The number of the call before the address, -1: not known. The kernel reads it first, and refuses
 * what cannot be read (EFAULT), then what is no way to set a mask. */
static long chroprof__call_before(uintptr_t next)
{
    uint8_t code[8];
    uint32_t number;
    (void)chroprof__system(SYS_rt_sigprocmask, 99L, (long)(next - sizeof(code)), 0L, 8L);
    if (errno != EINVAL)
        return -1;
    memcpy(code, (const void *)(next - sizeof(code)), sizeof(code));
    memcpy(&number, code + 2, sizeof(number));
    return code[1] == 0xb8 && code[6] == 0x0f && code[7] == 0x05 ? (long)number : -1;
}

/* The call that goes on with it; -1: there is none. a: its arguments. */
static long chroprof__call_to_go_on(long number, const uint64_t *a)
{
    bool for_ever = (uint32_t)a[3] == UINT32_MAX;
    switch (number) {
    case SYS_poll: case SYS_nanosleep: return SYS_restart_syscall;
    case SYS_clock_nanosleep: return a[1] == 0 ? (long)SYS_restart_syscall : number;
    case SYS_select: case SYS_pselect6: case SYS_ppoll: return number;  /* with the time left */
    case SYS_epoll_wait: case SYS_epoll_pwait: return for_ever ? number : -1;
    default: return -1;
    }
}

/* Does this handler block more than its own signal? Then the host's would not end the wait: who
 * does that continues waits in another way, as chroprof run. */
static bool chroprof__blocks_others(const void *context)
{
    uint64_t before, now = UINT64_MAX, more;
    memcpy(&before, (const char *)context + offsetof(ucontext_t, uc_sigmask), sizeof(before));
    (void)chroprof__system(SYS_rt_sigprocmask, (long)SIG_BLOCK, 0L, (long)(uintptr_t)&now, 8L);
    more = now & ~before;
    return (more & (more - 1)) != 0;
}

static bool chroprof__goes_on(chroprof__sampler *s, void *context)
{
    static const uint8_t places[6] = { 8, 9, 12, 2, 0, 1 };    /* rdi, rsi, rdx, r10, r8, r9 */
    char *at = (char *)context + offsetof(ucontext_t, uc_mcontext);
    uint64_t a[6], next, stopped = s->handler.stopped;
    long number, result;
    if (!chroprof__has_cut(context) || chroprof__blocks_others(context))
        return false;
    for (int k = 0; k < 6; k++)
        memcpy(a + k, at + 8 * places[k], sizeof(a[k]));
    memcpy(&next, at + 8 * CHROPROF__WORD_BEHIND_RCX, sizeof(next));
    number = chroprof__call_to_go_on(chroprof__call_before(next), a);
    if (number < 0)
        return false;
    chroprof__poke64(&s->handler.stopped, !s->set.steady); /* a host's handler may jump out */
    result = chroprof__system(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4],
                              (long)a[5]);
    result = result == -1 ? -(long)errno : result;
    memcpy(at + 8 * CHROPROF__PLACE_OF_RESULT, &result, sizeof(result));
    chroprof__poke64(&s->handler.stopped, stopped);
    return true;
}
#else
#define chroprof__goes_on(s, context) ((void)(context), 0)
#endif

/* A walk of the native stack; depth: frames of the running stack that have no place in it yet. */
typedef struct chroprof__walk {
    chroprof__core *c;
    chroprof__sampler *s;
    chroprof__entry *e;
    uint32_t depth;
} chroprof__walk;

/* How many more native frames there is room for: tasks come first. */
static bool chroprof__has_room(const chroprof__walk *w)
{
    uint32_t tasks = w->depth < CHROPROF__NOTED_TASKS ? w->depth : (uint32_t)CHROPROF__NOTED_TASKS;
    return w->e->count + tasks + 3 < CHROPROF__ITEMS;
}

/* The tasks that this call of a function began, as far as they are near the top, and those inside
 * them. Code of that call was there before the task: it stands outside. */
static void chroprof__put_begun(chroprof__walk *w, uintptr_t frame, uintptr_t back)
{
    uint32_t key = chroprof__frame_key(frame, back), found = 0;
    for (uint32_t k = w->depth, tries = 8; k > 0 && tries > 0; k--, tries--) {
        const uint32_t *keys = chroprof__keys_of(w->c, w->s, k);
        if (keys && (keys[0] == key || keys[1] == key || keys[2] == key))
            found = k;
    }
    if (found)
        w->depth = chroprof__put_tasks(w->c, w->e, w->depth, found - 1);
}

/* Follows the frame records. A return address is put down once it is known whether the function it
 * leads to was there before the task. */
static void chroprof__walk_records(chroprof__walk *w, uintptr_t frame, uintptr_t stack)
{
    uintptr_t end = chroprof__stack_end(w->s, stack), above = stack - 1, back = 0;
    bool fiber = stack >= w->s->stack.fiber_low && stack < w->s->stack.fiber_high;
    uint32_t mark = end ? CHROPROF__MARK_CUT : CHROPROF__MARK_STACK;
    while (end && chroprof__is_record(frame, above, end)) {
        uintptr_t next = chroprof__stack_word(frame);
        uintptr_t caller = chroprof__stack_word(frame + sizeof(frame));
        chroprof__put_begun(w, frame, caller);
        if (back)
            chroprof__put_item(w->e, CHROPROF__RETURN, back);
        back = caller;
        above = frame;
        frame = next;
        if (chroprof__has_room(w))
            continue;
        mark = CHROPROF__MARK_DEEP;
        break;
    }
    if (back)
        chroprof__put_item(w->e, CHROPROF__RETURN, back);
    if (mark != CHROPROF__MARK_CUT || (w->depth > 0 && !fiber))
        chroprof__put_item(w->e, CHROPROF__MARK, mark);
}

/* The walk of the user, who knows the frames, and perhaps where their records lie. */
static void chroprof__walk_by_user(chroprof__walk *w, void *context)
{
    uintptr_t addresses[2 * CHROPROF__ITEMS];
    const uintptr_t *records = addresses + CHROPROF__ITEMS;
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *out, uint32_t capacity);
    uintptr_t function = (uintptr_t)w->s->unwind.walk;
    memcpy(&unwind, &function, sizeof(unwind));
    memset(addresses, 0, sizeof(addresses));
    uint32_t count = unwind((void *)(uintptr_t)w->s->unwind.user, context, addresses,
                            CHROPROF__ITEMS), k;
    if (count > CHROPROF__ITEMS)
        count = CHROPROF__ITEMS;
    bool ends = records[0] != 0 && count > 1 && addresses[count - 1] == 0;
    count -= ends;
    for (k = 0; k < count && chroprof__has_room(w); k++) {
        if (records[k] > 1)
            chroprof__put_begun(w, records[k], addresses[k + 1]);
        else if (records[k] == 1)
            w->depth = chroprof__put_tasks(w->c, w->e, w->depth, 0);
        chroprof__put_item(w->e, k == 0 ? CHROPROF__PC : CHROPROF__RETURN, addresses[k]);
    }
    if (w->depth > 0 && (!ends || k < count))
        chroprof__put_item(w->e, CHROPROF__MARK, CHROPROF__MARK_CUT);
}

/* The native stack and the running stack as one: functions of the slice, its task, the functions
 * that began it, and so on out. */
static void chroprof__weave(chroprof__core *c, chroprof__sampler *s, chroprof__entry *e,
                            void *context)
{
    chroprof__registers r = { 0, 0, 0 };
    chroprof__walk w = { c, s, e, c->depth };
    if (chroprof__is_busy(c) ||
        (!s->unwind.walk && !chroprof__read_registers(context, &r))) { /* never */
        chroprof__put_running(c, e);
        return;
    }
    e->state = chroprof__sample_state_of(c);
    if (s->unwind.walk) {
        chroprof__walk_by_user(&w, context);
    } else {
        chroprof__put_item(e, CHROPROF__PC, r.code);
        if (c->hidden)
            chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
        chroprof__walk_records(&w, r.frame, r.stack);
    }
    (void)chroprof__put_tasks(c, e, w.depth, 0);
}

/* Doubles the period when the signals cost more than they may, halves it again when there is
 * room. */
static void chroprof__keep_budget(chroprof__sampler *s)
{
    uint64_t period = s->handler.period_ns, first = s->set.first_period_ns;
    uint64_t cost = s->handler.window_cost * 1000u;
    uint64_t allowed = first / 1000u * s->handler.window_weight * s->set.budget_ppm;
    if (s->handler.window_weight < period / first * CHROPROF__BUDGET_PERIODS)
        return;
    if (cost > allowed && period >> 40 == 0)
        period *= 2;
    else if (cost < allowed / 3 && period > s->set.first_period_ns)
        period /= 2;
    s->handler.window_weight = s->handler.window_cost = 0;
    chroprof__poke64(&s->handler.period_ns, period);
}

/* A handler must not ask a clock of the host's: then a sample has the time of the event behind it.
 * Never inlined: until it is known that there is room the handler must need next to no stack. */
CHROPROF__NOINLINE bool chroprof__catch_signal(chroprof__core *c, chroprof__sampler *s,
                                               uint64_t weight, void *context)
{
    uint64_t cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID), now = chroprof__monotonic_ns(NULL);
    chroprof__entry *e = c->enabled ? chroprof__begin_entry(c, s) : NULL;
    s->handler.ticks += weight;
    s->handler.window_weight += weight;
    if (e) {
        chroprof__weave(c, s, e, context);
        e->weight = weight;
        e->cpu_ns = chroprof__minus(cpu, s->handler.cpu);
        e->wall_ns = chroprof__or(chroprof__minus(now, s->handler.stamp), 1);
        e->draws = s->set.mode == CHROPROF_SAMPLER_WALL && !chroprof__is_busy(c) ? weight : 0;
        e->stamp = e->last = chroprof__clock_here(c);
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->handler.put, s->handler.put + 1);
        chroprof__wake(c);                  /* inside an event, too: what it sets itself it may */
    } else {
        s->handler.lost += c->enabled ? weight : 0;
    }
    s->handler.stamp = now;
    s->handler.cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    s->handler.cost_ns += chroprof__minus(s->handler.cpu, cpu);
    s->handler.window_cost += chroprof__minus(s->handler.cpu, cpu);
    chroprof__keep_budget(s);
    return e != NULL;
}

/* A timer signal that finds the loop asleep in the wall mode: idle is sampled without it. */
static bool chroprof__is_needless(const chroprof__core *c, chroprof__sampler *s, void *context)
{
    if (s->set.mode != CHROPROF_SAMPLER_WALL || !chroprof__is_asleep(c))
        return false;
    s->handler.stopped = !s->set.steady;
    s->handler.interrupted += !chroprof__goes_on(s, context) && s->wait.resting;
    return true;
}

/* The wait has gone on: the signals that were due in it have the stack of the one before. */
static void chroprof__catch_wait(chroprof__core *c, chroprof__sampler *s)
{
    uint64_t weight = s->set.steady ? 0 : chroprof__signal_weight(s, 0);
    uint64_t now = chroprof__monotonic_ns(NULL), before = s->handler.put - 1;
    if (weight == 0)
        return;
    s->handler.ticks += weight;
    s->handler.window_weight += weight;
    bool waits = c->enabled && s->handler.put != chroprof__peek64(&s->taken);
    chroprof__entry *e = waits ? chroprof__begin_entry(c, s) : NULL;
    if (!e) {
        s->handler.lost += c->enabled ? weight : 0;
        return;
    }
    before = s->handler.put - 1 < before ? s->handler.put - 1 : before; /* two became one */
    *e = *chroprof__ring(c, before);
    e->weight = e->draws = weight;
    e->cpu_ns = 0;
    e->wall_ns = chroprof__or(chroprof__minus(now, s->handler.stamp), 1);
    e->stamp = e->last = chroprof__clock_here(c);
    s->handler.stamp = now;
    CHROPROF__STORE_FENCE();
    chroprof__poke64(&s->handler.put, s->handler.put + 1);
    chroprof__wake(c);
}

/* A timer signal that finds no room on the stack it was delivered on is counted, and that is
 * all. */
static void chroprof__catch(chroprof__core *c, chroprof__sampler *s, uint64_t periods,
                           void *context)
{
    if (chroprof__is_needless(c, s, context))
        return;
    bool cut = chroprof__has_cut(context);
    uint64_t weight = chroprof__signal_weight(s, periods);
    bool room = weight > 0 && chroprof__has_stack(s, context);
    if (room) {
        room = chroprof__catch_signal(c, s, weight, context);
    } else {
        s->handler.ticks += weight;
        s->handler.lost += weight;
    }
    if (cut && s->set.mode == CHROPROF_SAMPLER_WALL && chroprof__goes_on(s, context)) {
        cut = false;
        if (room)
            chroprof__catch_wait(c, s);
    }
    s->handler.interrupted += cut;
    if (weight == 0)
        return;
    if (!s->set.steady)
        chroprof__arm(s);
}

/* Does somebody still want signals of this value here? Not if the profile was begun anew without a
 * stop. */
static bool chroprof__is_armed(const chroprof__core *c, uint64_t value)
{
    const chroprof__sampler *s = c->form.magic == CHROPROF__MAGIC ? chroprof__sampler_of(c) : NULL;
    return s && chroprof__peek64(&s->timer.armed) == value;
}

#if CHROPROF__THREAD_TIMER
/* The profile a signal is of, and the periods it stands for; NULL: it is none of ours. The low bits
 * of its value are a number of this start, so that a timer that a lost profile left behind is not
 * taken for ours. */
static chroprof__core *chroprof__interrupted(int number, const siginfo_t *info, uint64_t *periods)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    (void)number;
    if (info->si_code != SI_TIMER || value < 4096)
        return NULL;
    chroprof__core *c = (chroprof__core *)(value - value % CHROPROF__ALIGN);
    *periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
    return chroprof__is_armed(c, value) ? c : NULL;
}
#else
/* The loop sleeps, and others burn CPU time: the next signal of a timer of the process. In any
 * thread. */
static void chroprof__put_off(chroprof__sampler *s)
{
    if (s->set.steady)
        return;
    if (s->set.mode == CHROPROF_SAMPLER_WALL)
        chroprof__poke64(&s->handler.stopped, 1);
    else
        chroprof__set_timer(s->timer.number, s->handler.period_ns, 0);
}

/* Is this signal of this thread? Others pass it on to the loop's, unless that sleeps. */
static bool chroprof__takes_signal(const chroprof__core *c, pthread_t loop, int number)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    bool here = pthread_equal(loop, pthread_self()) != 0;
    if (chroprof__is_asleep(c) && (!here || s->set.mode == CHROPROF_SAMPLER_CPU)) {
        chroprof__put_off(s);
        return false;
    }
    if (!here)
        (void)pthread_kill(loop, number);
    return here;
}

/* The profile whose timer signal this thread takes; NULL: none. */
static chroprof__core *chroprof__interrupted(int number, const siginfo_t *info, uint64_t *periods)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    (void)info;
    *periods = 1;
    (void)__atomic_add_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    chroprof__core *c = __atomic_load_n(&t->core, __ATOMIC_SEQ_CST);
    bool own = c && __atomic_load_n(&t->pid, __ATOMIC_SEQ_CST) == (long)getpid() &&
               chroprof__is_armed(c, 1) && chroprof__takes_signal(c, t->thread, number);
    (void)__atomic_sub_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    return own ? c : NULL;
}
#endif

CHROPROF__COLD void chroprof__on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    uint64_t periods;
    chroprof__core *c = chroprof__interrupted(number, info, &periods);
    if (c)
        chroprof__catch(c, chroprof__sampler_of(c), periods, context);
    errno = error;
}
#endif /* part alone */
