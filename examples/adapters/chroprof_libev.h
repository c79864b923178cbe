/* chroprof_libev.h - profiles a libev loop by chroprof.h. Needs libev 4.25 or newer with
 * EV_MULTIPLICITY. Include it in one file of the program, after chroprof.h, and call once:
 *
 *     chroprof_libev(&prof, loop);
 *
 * What you get: the loop's wait is idle. Callbacks are yours to name, by CHROPROF_SCOPE or as
 * futures. For delay, begin the callback of a watcher that is a future by
 *
 *     chroprof_ready_since(&prof, id, chroprof_libev_due());
 *
 * Whatever runs in a batch of events was due when the batch began, and chroprof_libev_due() is that
 * time.
 *
 * A callback with a name may run the loop itself (ev_run): what is called in there is the loop's,
 * and the wait before it is idle. A wait after which nothing is called is the callback's own, which
 * is blocked; findings say so. chroprof_loop_enter and chroprof_loop_leave around ev_run are not
 * needed; inside them each wait is idle.
 *
 * Limits: one loop in each file that includes this; its thread is the profile's thread. Takes the
 * loop's release, acquire and invoke-pending hooks.
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_LIBEV_H
#define CHROPROF_LIBEV_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include <ev.h>
#ifndef CHROPROF_H
#include "chroprof.h"
#endif

/* libev declares its hooks as functions that do not throw. */
#ifndef EV_NOEXCEPT
#define EV_NOEXCEPT
#endif

static struct {
    chroprof *profile;
    uint64_t due;
    unsigned depth;             /* batches that run, inside each other */
    bool inside;                /* the last wait was in the loop that a task runs */
    uint64_t begin, end;        /* of that wait */
} chroprof__libev;

/* The time, as of chroprof_now, at which the batch of events that runs now began. */
static inline uint64_t chroprof_libev_due(void)
{
    return chroprof__libev.due;
}

#ifdef CHROPROF_DISABLE

static void chroprof_libev(chroprof *profile, struct ev_loop *loop)
{
    chroprof__libev.profile = profile;
    (void)loop;
}

#else

/* Whether a task is on top, which then runs the loop. */
static bool chroprof__libev_nested(void)
{
    chroprof_frame top;
    return chroprof__libev.depth > 0 && chroprof_frames(chroprof__libev.profile, &top, 1) > 0 &&
           !top.barrier;
}

static void chroprof__libev_release(struct ev_loop *loop) EV_NOEXCEPT
{
    (void)loop;
    chroprof__libev.inside = chroprof__libev_nested();
    if (chroprof__libev.inside)
        chroprof__libev.begin = chroprof_now(chroprof__libev.profile);
    else
        chroprof_idle_enter(chroprof__libev.profile);
}

static void chroprof__libev_acquire(struct ev_loop *loop) EV_NOEXCEPT
{
    (void)loop;
    if (chroprof__libev.inside)
        chroprof__libev.end = chroprof_now(chroprof__libev.profile);
    else
        chroprof_idle_leave(chroprof__libev.profile);
}

/* No time goes back. */
static void chroprof__libev_tell(chroprof_state state, uint64_t at)
{
    uint64_t last = chroprof_last_event(chroprof__libev.profile);
    chroprof_event(chroprof__libev.profile, state, 0, NULL, at > last ? at : last);
}

/* Something is called in the loop that a task runs: the wait before it was idle. */
static void chroprof__libev_nested_batch(struct ev_loop *loop)
{
    if (chroprof__libev.inside) {
        chroprof__libev_tell(CHROPROF_LOOP_ENTER, chroprof__libev.begin);
        chroprof__libev_tell(CHROPROF_IDLE_ENTER, chroprof__libev.begin);
        chroprof__libev_tell(CHROPROF_IDLE_LEAVE, chroprof__libev.end);
    } else {
        chroprof_loop_enter(chroprof__libev.profile);
    }
    chroprof__libev.inside = false;
    ev_invoke_pending(loop);
    chroprof_loop_leave(chroprof__libev.profile);
}

static void chroprof__libev_batch(struct ev_loop *loop)
{
    bool nested = chroprof__libev_nested();
    chroprof__libev.due = chroprof_now(chroprof__libev.profile);
    chroprof__libev.depth++;
    if (!nested) {
        ev_invoke_pending(loop);
    } else if (ev_pending_count(loop) > 0) {
        chroprof__libev_nested_batch(loop);
    } else if (chroprof__libev.inside) {
        chroprof_waited(chroprof__libev.profile, "ev_run", NULL,
                        chroprof_now(chroprof__libev.profile) -
                            (chroprof__libev.end - chroprof__libev.begin));
    }
    chroprof__libev.inside = false;
    chroprof__libev.depth--;
}

static void chroprof_libev(chroprof *profile, struct ev_loop *loop)
{
    chroprof__libev.profile = profile;
    ev_set_loop_release_cb(loop, chroprof__libev_release, chroprof__libev_acquire);
    ev_set_invoke_pending_cb(loop, chroprof__libev_batch);
}

#endif
#endif
