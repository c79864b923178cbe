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
    now = chroprof_now(&s->profile);        /* one reading: no time lies between the two events */
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

/* Call and return are in the frame of the function that the program calls, so that the sampler
 * finds the loop one frame further out. */
static inline __attribute__((__always_inline__)) seat *begin_wait(bool looks)
{
    int error = errno;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    uintptr_t back = (uintptr_t)__builtin_return_address(0);
    seat *s = seat_of_wait(stack);
    if (s != NULL) {
        s->busy = true;
        s->kind = begin_kind(s, stack, back, looks);
        if (s->kind == OWN_WAIT && !s->inside) {
            unwind_wait(&s->unwind, stack, back);
        }
        s->stack = stack;
        s->waits = s->kind != NO_WAIT;
        s->call->inside = s->kind == NO_WAIT ? INSIDE_NONE
                          : s->kind == TASK_WAIT ? INSIDE_TASK_WAIT : INSIDE_WAIT;
        if (s->suspect_waits != 0) {
            confirm_spin(s);
        }
        s->busy = false;
    }
    errno = error;
    return s;
}

static inline __attribute__((__always_inline__)) void end_wait(seat *s, const chroprof_site *site)
{
    int error = errno;
    if (s != NULL && s == own && s->waits && is_awake()) {
        s->busy = true;
        s->waits = false;
        s->call->inside = INSIDE_NONE;
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
        s->busy = false;
    }
    errno = error;
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

/* How long a wait still lasts, so that one which a timer signal interrupted goes on. */
typedef struct wait_time {
    struct timespec end, left;
    const struct timespec *given;          /* NULL: for ever, or nobody knows here */
    int error;                             /* errno before it */
    uint32_t cuts;                         /* that had cut calls short when it began */
} wait_time;

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

static int64_t time_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(&now);
}

static void wait_for(wait_time *w, const struct timespec *given)
{
    const seat *s = own;
    w->given = given;
    w->error = errno;
    w->cuts = s != NULL ? s->cuts : 0;
    if (s != NULL && s->signal != 0 && is_finite(given)) {
        w->end = timespec_of(time_now() + nanoseconds(given));
    }
}

static void wait_for_ms(wait_time *w, int ms)
{
    w->left = timespec_of((int64_t)(ms > 0 ? ms : 0) * 1000000);
    wait_for(w, ms >= 0 ? &w->left : NULL);
}

/* Rounded up: no wait ends early. */
static int milliseconds(const wait_time *w)
{
    return w->given == NULL ? -1 : (int)((nanoseconds(w->given) + 999999) / 1000000);
}

/* Whether a wait came back because of a timer signal, which the program must not see; w->given is
 * then what is left of it. A wait with signals of its own to block blocks ours as well. By CPU time
 * hardly a timer signal comes in a sleep, so what ends one is the program's. A signal of the
 * program is seen, but for one that comes in the instant between a timer signal that cut the wait
 * and the wait that goes on, or while a timer signal's handler runs where there is a filter of
 * system calls. */
static bool goes_on(wait_time *w, ssize_t result)
{
    seat *s = own;
    int64_t left;
    if (result >= 0 || errno != EINTR || s == NULL || w->cuts == s->cuts ||
        (!wall_clock && !s->waits)) {
        return false;
    }
    chroprof_sampler_went_on(&s->profile, s->cuts - w->cuts);
    s->cuts = w->cuts;                     /* or a wait around this one would go on */
    errno = w->error;
    if (is_finite(w->given)) {
        left = nanoseconds(&w->end) - time_now();
        w->left = timespec_of(left > 0 ? left : 0);
        w->given = &w->left;
    }
    return true;
}

#endif
