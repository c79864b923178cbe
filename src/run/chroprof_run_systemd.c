/* chroprof_run_systemd.c - wraps the functions of sd-event, in libsystemd, that take callbacks.
 * They are public and have the same parameters in every version. Only programs that link
 * libsystemd get this library. A callback that is NULL stays NULL, because that has a meaning. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "callbacks.h"

#define CALL(name, parameters, arguments) STAND_BEFORE(int, name, parameters, arguments, -ENOSYS)

CALL(sd_event_add_io,
     (void *event, void **source, int fd, uint32_t events, callback *called, void *argument),
     (event, source, fd, events, OURS(called), argument))
CALL(sd_event_add_time,
     (void *event, void **source, clockid_t clock, uint64_t time, uint64_t accuracy,
      callback *called, void *argument),
     (event, source, clock, time, accuracy, OURS(called), argument))
CALL(sd_event_add_time_relative,
     (void *event, void **source, clockid_t clock, uint64_t time, uint64_t accuracy,
      callback *called, void *argument),
     (event, source, clock, time, accuracy, OURS(called), argument))
CALL(sd_event_add_signal,
     (void *event, void **source, int number, callback *called, void *argument),
     (event, source, number, OURS(called), argument))
CALL(sd_event_add_child,
     (void *event, void **source, pid_t child, int options, callback *called, void *argument),
     (event, source, child, options, OURS(called), argument))
CALL(sd_event_add_inotify,
     (void *event, void **source, const char *path, uint32_t mask, callback *called,
      void *argument),
     (event, source, path, mask, OURS(called), argument))
CALL(sd_event_add_defer, (void *event, void **source, callback *called, void *argument),
     (event, source, OURS(called), argument))
CALL(sd_event_add_post, (void *event, void **source, callback *called, void *argument),
     (event, source, OURS(called), argument))
CALL(sd_event_add_exit, (void *event, void **source, callback *called, void *argument),
     (event, source, OURS(called), argument))
CALL(sd_event_source_set_prepare, (void *source, callback *called), (source, OURS(called)))

/* >>loops */

STAND_LOOP(int, sd_event_loop, (void *event), (event), -ENOSYS)
STAND_LOOP(int, sd_event_run, (void *event, uint64_t us), (event, us), -ENOSYS)
STAND_LOOP(int, sd_event_wait, (void *event, uint64_t us), (event, us), -ENOSYS)
