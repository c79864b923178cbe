/* waits.h - what a wait is: how it begins and ends, and when it goes on */

#ifndef PRELOAD_WAITS_H
#define PRELOAD_WAITS_H

#include "run.h"
#include "seats.h"
#include "futures.h"
#include "profiles.h"
#include "loops.h"
#include "spins.h"

/* >>waits */

/* NULL: this wait is not watched. A wait that was left by a jump ends with the next one further out
 * on the stack; one further in is that of a signal handler. */
static seat *seat_of_wait(uintptr_t stack)
{
    seat *s = own;
    if (!is_awake() && !wake_child()) {
        note_sleeper();
        return NULL;
    }
    if (s == NULL || s->generation != generation) {
        s = take_seat();
    }
    if (s == NULL || s->busy || s->exits || (s->waits && stack < s->stack)) {
        return NULL;
    }
    return s;
}

/* Callbacks that a jump may have left are over where the loop waits. */
static __attribute__((__noinline__)) void drop_jumped(seat *s, uintptr_t stack, uintptr_t back)
{
    const loop_frame *f = innermost_loop(loops_of(s));
    if (f->place.stack == 0 || (f->place.stack == stack && f->place.back == back)) {
        while (s->depth > f->depth) {
            end_frame(s, true);
        }
    }
    s->jumped = false;
}

static inline __attribute__((__always_inline__)) void begin_idle(seat *s)
{
    uint64_t now;
    if (__atomic_load_n(&s->left, __ATOMIC_RELAXED) != s->left_seen) {
        drop_left_futures(s);
    }
    now = chroprof_now(&s->profile);        /* no time lies between the two events */
    if (!s->inside && s->slice) {
        chroprof_event(&s->profile, CHROPROF_LEAVE, 0, NULL, now);
        s->slice = false;
    }
    chroprof_event(&s->profile, CHROPROF_IDLE_ENTER, 0, NULL, now);
}

static inline __attribute__((__always_inline__)) void end_idle(seat *s, const chroprof_site *site)
{
    const uint64_t now = chroprof_now(&s->profile);
    chroprof_event(&s->profile, CHROPROF_IDLE_LEAVE, 0, NULL, now);
    if (!s->inside) {
        chroprof_event(&s->profile, CHROPROF_ENTER, 0, site, now);
        s->slice = true;
    }
}

/* NO_WAIT: nothing is told of it. */
static inline __attribute__((__always_inline__)) wait_kind
begin_kind(seat *s, uintptr_t stack, uintptr_t back, bool looks)
{
    wait_kind kind;
    s->returned = 0;
    drop_frames(s, stack);
    if (s->jumped) {
        drop_jumped(s, stack, back);
    }
    kind = kind_of_wait(s, stack, back, looks);
    if (kind == OWN_WAIT) {
        s->inside = innermost_loop(loops_of(s))->nested;
        begin_idle(s);
    } else if (kind == KEPT_WAIT) {
        keep_back(s);
    } else if (kind == TASK_WAIT) {
        s->since = chroprof_now(&s->profile);
    }
    return kind;
}

/* When a wait began, so that one which a timer signal interrupted goes on with what is left. */
typedef struct wait_time {
    uint64_t begin;                        /* by the clock of the profile; 0: a plain wait, which
                                            * began at its last event */
    struct timespec left;
    int error;                             /* errno before it */
    uint32_t cuts;                         /* that had cut calls short when it began */
} wait_time;

static void wait_from_now(wait_time *w)
{
    const seat *s = own;
    w->cuts = s != NULL ? s->cuts : 0;
    w->begin = s != NULL ? chroprof_now(&s->profile) : 0;
}

/* Is it the loop's wait, as the one before was, with nothing to be decided or told? Whatever changes
 * that takes plain_back back. */
static inline __attribute__((__always_inline__)) bool is_plain(const seat *s, uintptr_t stack,
                                                               uintptr_t back)
{
    return s != NULL && s->plain_back == back && s->unwind.settled == stack && s->special == 0 &&
           __atomic_load_n(awake, __ATOMIC_RELAXED) == 1 &&
           __atomic_load_n(&s->left, __ATOMIC_RELAXED) == s->left_seen;
}

/* A wait that is not plain. */
typedef struct other_wait {
    seat *s;
    uintptr_t stack, back;
    bool looks;
    int what;
} other_wait;

static void begin_wait_aside(void *argument)
{
    const other_wait *o = (const other_wait *)argument;
    seat *s = o->s;
    s->timed = s->timed || !o->looks;
    s->what = o->what;
    s->kind = begin_kind(s, o->stack, o->back, o->looks);
    if (s->kind == OWN_WAIT && !s->inside) {
        unwind_wait(&s->unwind, o->stack, o->back);
    }
    if (s->kind == OWN_WAIT || s->kind == KEPT_WAIT) {
        s->plain_back = s->kind == OWN_WAIT && !s->inside && s->suspect_waits == 0 ? o->back : 0;
    }
    s->stack = o->stack;
    s->waits = s->kind != NO_WAIT;
    s->call->inside = s->kind == NO_WAIT ? INSIDE_NONE
                      : s->kind == TASK_WAIT ? INSIDE_TASK_WAIT : INSIDE_WAIT;
    if (s->suspect_waits != 0) {
        confirm_spin(s);
    }
}

static __attribute__((__noinline__)) seat *begin_other_wait(wait_time *w, uintptr_t stack,
                                                            uintptr_t back, bool looks, int what)
{
    seat *s;
    w->error = errno;
    note_waiter(what);
    s = seat_of_wait(stack);
    wait_from_now(w);
    if (s != NULL) {
        other_wait o = { s, stack, back, looks, what };
        s->busy = true;
        aside(s, begin_wait_aside, &o);
        s->busy = false;
    }
    errno = w->error;
    return s;
}

static inline __attribute__((__always_inline__)) void
begin_plain_wait(seat *s, wait_time *w, uintptr_t stack, bool looks)
{
    s->timed |= !looks;
    w->cuts = s->cuts;
    w->error = *s->error;
    s->busy = true;
    w->begin = 0;
    chroprof_leave_for_idle(&s->profile);
    s->slice = false;
    s->stack = stack;
    s->call->inside = INSIDE_WAIT;
    s->waits = true;
    s->busy = false;
}

/* Call and return are in the frame of the function that the program calls, so that the sampler
 * finds the loop one frame further out. ms: 0: the wait takes no time. */
static inline __attribute__((__always_inline__)) seat *begin_wait(wait_time *w, int ms, int what)
{
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    uintptr_t back = (uintptr_t)__builtin_return_address(0);
    seat *s = own;
    if (is_likely(is_plain(s, stack, back))) {
        begin_plain_wait(s, w, stack, ms == 0);
    } else {
        s = begin_other_wait(w, stack, back, ms == 0, what);
    }
    return s;
}

static void end_other_wait(seat *s, const chroprof_site *site)
{
    if (s->kind == OWN_WAIT) {
        end_idle(s, site);
    } else if (s->kind == KEPT_WAIT) {
        keep_end(s, site);
    } else {
        name_in_python(s, s->within, s->since);
        chroprof_waited(&s->profile, site->name + sizeof "code after",
                        s->depth > 0 ? NULL : s->within, s->since);
        s->task_until = chroprof_now(&s->profile);
    }
}

/* errno is then as the wait left it. */
static inline __attribute__((__always_inline__)) void
end_wait(seat *s, const wait_time *w, ssize_t result, const chroprof_site *site)
{
    int error;
    if (s == NULL || !s->waits || __atomic_load_n(awake, __ATOMIC_RELAXED) != 1) {
        return;
    }
    error = is_likely(result >= 0) ? w->error : *s->error;
    s->busy = true;
    s->waits = false;
    s->call->inside = INSIDE_NONE;
    if (is_likely(w->begin == 0)) {
        chroprof_enter_from_idle(&s->profile, site);
        s->slice = true;
    } else if (s == own) {
        end_other_wait(s, site);
    }
    s->busy = false;
    *s->error = error;
}

/* The signals that are blocked in a wait, and ours. NULL: none were given. */
static const sigset_t *with_ours(const seat *s, const sigset_t *mask, sigset_t *both)
{
    if (s == NULL || s->signal == 0 || mask == NULL) {
        return mask;
    }
    *both = *mask;
    (void)sigaddset(both, s->signal);
    return both;
}

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    struct timespec t;
    t.tv_sec = (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

/* Is there a time that passes? The system judges all others. */
static bool is_finite(const struct timespec *t)
{
    return t != NULL && t->tv_sec >= 0 && t->tv_sec < 1000000000 && t->tv_nsec >= 0 &&
           t->tv_nsec < 1000000000 && nanoseconds(t) > 0;
}

/* Of a time, since the wait began. The clock of a profile goes as fast as the system's but for a
 * known error, most in its first 100 ms. That error counts as time to wait: no wait ends early. */
static int64_t left_of(const wait_time *w, int64_t whole_ns)
{
    const chroprof *p = &own->profile;
    const uint64_t begin = w->begin != 0 ? w->begin : chroprof_last_event(p);
    const uint64_t ns = chroprof_to_ns(p, chroprof_now(p) - begin);
    chroprof_totals totals;
    int64_t left;
    chroprof_read_totals(p, &totals);
    left = whole_ns - (int64_t)ns +
           (int64_t)((ns / 1000 + 1) * (totals.tick_error_ppb / 1000 + 1) / 1000);
    return left < 0 ? 0 : left < whole_ns ? left : whole_ns;
}

/* What is left of a wait that goes on. */
static __attribute__((__noinline__)) const struct timespec *
time_left(wait_time *w, const struct timespec *given)
{
    if (!is_finite(given)) {
        return given;
    }
    w->left = timespec_of(left_of(w, nanoseconds(given)));
    return &w->left;
}

/* The same in milliseconds, rounded up. */
static __attribute__((__noinline__)) int ms_left(const wait_time *w, int ms)
{
    return ms > 0 ? (int)((left_of(w, (int64_t)ms * 1000000) + 999999) / 1000000) : ms;
}

/* Whether a wait that failed came back because of a timer signal, which the program must not see:
 * then it goes on. A wait with signals of its own to block blocks ours as well. By CPU time hardly a
 * timer signal comes in a sleep, so what ends one is the program's. A signal of the program is seen,
 * but for one that comes in the instant between a timer signal that cut the wait and the wait that
 * goes on, or while a timer signal's handler runs where there is a filter of system calls. */
static __attribute__((__noinline__)) bool is_cut_short(wait_time *w)
{
    seat *s = own;
    if (errno != EINTR || s == NULL || w->cuts == s->cuts || (!wall_clock && !s->waits)) {
        return false;
    }
    chroprof_sampler_went_on(&s->profile, s->cuts - w->cuts);
    s->cuts = w->cuts;                     /* or a wait around this one would go on */
    errno = w->error;
    return true;
}

static inline __attribute__((__always_inline__)) bool goes_on(wait_time *w, ssize_t result)
{
    return !is_likely(result >= 0) && is_cut_short(w);
}

/* The same of waits that are given a time; left is what the next call is given. */
static inline __attribute__((__always_inline__)) bool
goes_on_for(wait_time *w, ssize_t result, const struct timespec *given, const struct timespec **left)
{
    if (!goes_on(w, result)) {
        return false;
    }
    *left = time_left(w, given);
    return true;
}

static inline __attribute__((__always_inline__)) bool goes_on_ms(wait_time *w, int result, int ms,
                                                                 int *left)
{
    if (!goes_on(w, result)) {
        return false;
    }
    *left = ms_left(w, ms);
    return true;
}

#endif
