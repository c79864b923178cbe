/* chroprof_run_libev.c - wraps the functions of libev that take watchers. A program writes its
 * callback into the watcher by a macro, so the stand-in takes its place there when the watcher
 * starts, until it is stopped. Only programs that link libev get this library.
 *
 * The layout is that of a library built with its defaults, as distributions have it. In one of
 * another layout there is no function at this place, or one that is called with five words or
 * fewer. */

#define _GNU_SOURCE
#include <stdint.h>

#include "callbacks.h"

typedef struct watcher {
    int active, pending, priority;
    void *data;
    callback *called;
} watcher;

static void stand_in(watcher *w)
{
    if (w->called != NULL) {
        w->called = OURS(w->called);
    }
}

static void step_aside(watcher *w)
{
    callback *function = w->called != NULL ? function_of(w->called) : NULL;
    if (function != w->called) {
        w->called = function;               /* not else: the watcher may be of another layout */
    }
}

/* A function that does something with the watcher, and what is done to that before. */
#define WATCHER(name, first)                                                                       \
    KNOWN(name)                                                                                    \
    EXPORT void name(void *loop, watcher *w);                                                      \
    EXPORT void name(void *loop, watcher *w)                                                       \
    {                                                                                              \
        typedef void (*type)(void *, watcher *);                                                   \
        type next = (type)next_function(&known_##name, __builtin_return_address(0));               \
        if (next != NULL) {                                                                        \
            first(w);                                                                              \
            next(loop, w);                                                                         \
        }                                                                                          \
    }

#define STARTS(kind)                                                                               \
    WATCHER(ev_##kind##_start, stand_in)                                                           \
    WATCHER(ev_##kind##_stop, step_aside)

STARTS(io)
STARTS(timer)
STARTS(periodic)
STARTS(signal)
STARTS(child)
STARTS(stat)
STARTS(idle)
STARTS(prepare)
STARTS(check)
STARTS(embed)
STARTS(fork)
STARTS(cleanup)
STARTS(async)
WATCHER(ev_timer_again, stand_in)
WATCHER(ev_periodic_again, stand_in)

STAND_BEFORE_VOID(ev_once,
                  (void *loop, int fd, int events, double timeout, callback *called,
                   void *argument),
                  (loop, fd, events, timeout, OURS(called), argument))

/* A watcher that was never started may be called by these. */
#define FED(name)                                                                                  \
    KNOWN(name)                                                                                    \
    EXPORT void name(void *loop, watcher *w, int events);                                          \
    EXPORT void name(void *loop, watcher *w, int events)                                           \
    {                                                                                              \
        typedef void (*type)(void *, watcher *, int);                                              \
        type next = (type)next_function(&known_##name, __builtin_return_address(0));               \
        if (next != NULL) {                                                                        \
            stand_in(w);                                                                           \
            next(loop, w, events);                                                                 \
        }                                                                                          \
    }

FED(ev_feed_event)
FED(ev_invoke)

/* >>loops. It returns nothing in old versions. */

STAND_LOOP(int, ev_run, (void *loop, int flags), (loop, flags), 0)
