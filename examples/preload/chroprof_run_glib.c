/* chroprof_run_glib.c - wraps the functions of GLib 2 that take callbacks of its main loop.
 *
 * These are public and have the same parameters in every 2.x. Only programs that link GLib get this
 * library. It leaves out g_source_set_callback, because the source decides what its callback gets,
 * and g_main_context_invoke, which may call it at once. GIO's callbacks and handlers of signals
 * count as code after the wait. */

#define _GNU_SOURCE
#include "callbacks.h"

#define CALL(name, parameters, arguments) STAND_BEFORE(unsigned, name, parameters, arguments, 0)

typedef callback notify;       /* called when a source goes: as it is */

/* >>idle time and timers */

CALL(g_idle_add, (callback *called, void *data), (OURS(called), data))
CALL(g_idle_add_once, (callback *called, void *data), (OURS(called), data))
CALL(g_idle_add_full, (int priority, callback *called, void *data, notify *gone),
     (priority, OURS(called), data, gone))
CALL(g_timeout_add, (unsigned ms, callback *called, void *data), (ms, OURS(called), data))
CALL(g_timeout_add_once, (unsigned ms, callback *called, void *data), (ms, OURS(called), data))
CALL(g_timeout_add_full,
     (int priority, unsigned ms, callback *called, void *data, notify *gone),
     (priority, ms, OURS(called), data, gone))
CALL(g_timeout_add_seconds, (unsigned seconds, callback *called, void *data),
     (seconds, OURS(called), data))
CALL(g_timeout_add_seconds_full,
     (int priority, unsigned seconds, callback *called, void *data, notify *gone),
     (priority, seconds, OURS(called), data, gone))

/* >>files, signals and children */

CALL(g_io_add_watch, (void *channel, int condition, callback *called, void *data),
     (channel, condition, OURS(called), data))
CALL(g_io_add_watch_full,
     (void *channel, int priority, int condition, callback *called, void *data, notify *gone),
     (channel, priority, condition, OURS(called), data, gone))
CALL(g_unix_fd_add, (int fd, int condition, callback *called, void *data),
     (fd, condition, OURS(called), data))
CALL(g_unix_fd_add_full,
     (int priority, int fd, int condition, callback *called, void *data, notify *gone),
     (priority, fd, condition, OURS(called), data, gone))
CALL(g_unix_signal_add, (int number, callback *called, void *data),
     (number, OURS(called), data))
CALL(g_unix_signal_add_full,
     (int priority, int number, callback *called, void *data, notify *gone),
     (priority, number, OURS(called), data, gone))
CALL(g_child_watch_add, (int child, callback *called, void *data), (child, OURS(called), data))
CALL(g_child_watch_add_full,
     (int priority, int child, callback *called, void *data, notify *gone),
     (priority, child, OURS(called), data, gone))
