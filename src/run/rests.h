/* rests.h - waits in other calls that are a thread's own: the sleep of a loop that only looks at its
 * files, and a worker's wait for work */

#ifndef PRELOAD_RESTS_H
#define PRELOAD_RESTS_H

#include "run.h"
#include "seats.h"
#include "loops.h"
#include "waits.h"

/* >>rests. In a callback such a call is that task, blocked, and nothing here is told of it: the
 * system tells from outside what a thread is in. In Python one function takes all locks. */

static inline bool may_rest(const seat *s)
{
    return awake != NULL && s != NULL && !filtered && !s->busy && !s->waits && !s->exits &&
           s->depth == 0 && is_seat_awake(s) && s->unwind.python == NULL &&
           !innermost_loop(loops_of(s))->known;
}

/* A program that pumps its loop, as games do: all its waits are looks, and between them it sleeps.
 * Where one took time it is a callback that sleeps, even if it is inlined into the loop. */
static __attribute__((__noinline__)) bool is_pause(uintptr_t stack, uintptr_t back)
{
    seat *s = own;
    const loop_frame *f;
    if (!may_rest(s) || s->timed) {
        return false;
    }
    f = innermost_loop(loops_of(s));
    return f->place.stack == 0 || further_in(place_of(s, stack, back), &f->place) <= 0;
}

/* Does the function that waits for work here call the one that waits there? */
static bool is_around(const wait_place *work, const wait_place *inner)
{
    const uint32_t frames = work->frames;
    return frames > 0 && frames <= PLACE_CALLS && frames <= inner->frames &&
           memcmp(work->calls, inner->calls, (frames - 1) * sizeof work->calls[0]) == 0;
}

/* Of two calls in one function: the thread waits for work at least as often as for files. Asked at
 * its first, second, fourth... */
static bool is_usual(const seat *s, wait_place *work)
{
    chroprof_totals t;
    work->times++;
    if ((work->times & (work->times - 1)) == 0) {
        chroprof_read_totals(&s->profile, &t);
        work->blocking = t.iterations <= (uint64_t)work->times + work->taken;
    }
    work->taken += work->blocking;
    return work->blocking;
}

/* Where a thread waited for work last, before it waited for files: it comes back there. */
static __thread struct { uintptr_t stack, back; } first_work
    __attribute__((__tls_model__("initial-exec")));

/* A thread that other threads give work, in which it may also wait for files; or one of several that
 * share a loop. Else it is a callback that waits for another thread, even if it is inlined. */
static __attribute__((__noinline__)) bool is_for_work(uintptr_t stack, uintptr_t back)
{
    seat *s = own;
    const loop_frame *f;
    wait_place *place;
    if (s == NULL && waits == 0) {
        first_work.stack = stack;
        first_work.back = back;
    }
    if (!may_rest(s)) {
        return false;
    }
    f = innermost_loop(loops_of(s));
    if ((!is_main && stack == first_work.stack && back == first_work.back) ||
        (stack == f->place.stack && back == f->place.back)) {
        return true;
    }
    place = place_of(s, stack, back);
    return f->place.stack != 0 && is_shared(f->place.what) && is_around(place, &f->place) &&
           (place->frames < f->place.frames || is_usual(s, place));
}

/* In the frame of the function that the program calls, as waits are. */
#define PAUSES() is_pause((uintptr_t)__builtin_frame_address(0),                                   \
                          (uintptr_t)__builtin_return_address(0))
#define WAITS_FOR_WORK() is_for_work((uintptr_t)__builtin_frame_address(0),                        \
                                     (uintptr_t)__builtin_return_address(0))

/* NULL: it is none, and may only have to go on after a timer signal. */
static inline __attribute__((__always_inline__)) seat *
begin_rest(wait_time *w, bool is_one, int what)
{
    if (is_one) {
        seat *s = begin_wait(w, -1, what);
        if (s != NULL && what == OF_FILES) {
            s->timed = false;              /* as before this pause */
        }
        return s;
    }
    w->error = errno;
    wait_from_now(w);
    return NULL;
}

#endif
