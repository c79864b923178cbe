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

static void chroprof__libev_release(struct ev_loop *loop) EV_NOEXCEPT
{
    (void)loop;
    chroprof_idle_enter(chroprof__libev.profile);
}

static void chroprof__libev_acquire(struct ev_loop *loop) EV_NOEXCEPT
{
    (void)loop;
    chroprof_idle_leave(chroprof__libev.profile);
}

static void chroprof__libev_batch(struct ev_loop *loop)
{
    chroprof__libev.due = chroprof_now(chroprof__libev.profile);
    ev_invoke_pending(loop);
}

static void chroprof_libev(chroprof *profile, struct ev_loop *loop)
{
    chroprof__libev.profile = profile;
    ev_set_loop_release_cb(loop, chroprof__libev_release, chroprof__libev_acquire);
    ev_set_invoke_pending_cb(loop, chroprof__libev_batch);
}

#endif
#endif
