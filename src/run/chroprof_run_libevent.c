/* chroprof_run_libevent.c - wraps the functions of libevent 2 that take callbacks.
 *
 * These are public and have the same parameters in every 2.x, or since 2.1. Only programs that link
 * libevent get this library. It leaves out callbacks that run at once (evbuffer_add_cb) or get more
 * than five arguments (evdns_base_resolve_ipv4).
 *
 * Events are futures from event_add until their callback has run, or until event_del. Persistent
 * ones wait again. event_active makes them ready; only the loop knows when a file or timer is. */

#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/time.h>

#include "callbacks.h"

/* >>questions, which are answered as if this library was not there */

KNOWN(event_get_callback)
EXPORT callback *event_get_callback(const void *event);
EXPORT callback *event_get_callback(const void *event)
{
    typedef callback *(*type)(const void *);
    type next = (type)next_function(&known_event_get_callback, __builtin_return_address(0));
    return next != NULL ? function_of(next(event)) : NULL;
}

static void show_function(callback **at)
{
    if (at != NULL) {
        *at = function_of(*at);
    }
}

KNOWN(event_get_assignment)
EXPORT void event_get_assignment(const void *event, void **base, int *fd, short *what,
                                 callback **called, void **argument);
EXPORT void event_get_assignment(const void *event, void **base, int *fd, short *what,
                                 callback **called, void **argument)
{
    typedef void (*type)(const void *, void **, int *, short *, callback **, void **);
    type next = (type)next_function(&known_event_get_assignment, __builtin_return_address(0));
    if (next != NULL) {
        next(event, base, fd, what, called, argument);
        show_function(called);
    }
}

KNOWN(bufferevent_getcb)
EXPORT void bufferevent_getcb(void *buffers, callback **read, callback **write, callback **event,
                              void **argument);
EXPORT void bufferevent_getcb(void *buffers, callback **read, callback **write, callback **event,
                              void **argument)
{
    typedef void (*type)(void *, callback **, callback **, callback **, void **);
    type next = (type)next_function(&known_bufferevent_getcb, __builtin_return_address(0));
    if (next != NULL) {
        next(buffers, read, write, event, argument);
        show_function(read);
        show_function(write);
        show_function(event);
    }
}

/* >>events */

STAND_BEFORE(void *, event_new,
             (void *base, int fd, short what, callback *called, void *argument),
             (base, fd, what, OURS(called), argument), NULL)
STAND_BEFORE(int, event_assign,
             (void *event, void *base, int fd, short what, callback *called, void *argument),
             (event, base, fd, what, OURS(called), argument), -1)
STAND_BEFORE_VOID(event_set, (void *event, int fd, short what, callback *called, void *argument),
                  (event, fd, what, OURS(called), argument))
STAND_BEFORE(int, event_once,
             (int fd, short what, callback *called, void *argument, const struct timeval *time),
             (fd, what, OURS(called), argument, time), -1)

/* >>events that wait. Each is asked what it is: if its function is libevent's, it is none of ours. */

#define EV_TIMEOUT 0x01        /* of libevent's interface, which need not be installed */
#define EV_FILE (0x02 | 0x04 | 0x80)
#define EV_SIGNAL 0x08
#define EV_PERSIST 0x10

KNOWN(event_initialized)
KNOWN(event_pending)

static bool describe_event(loop_future *told, const void *event, const void *caller)
{
    typedef int (*ask)(const void *);
    typedef void (*describe)(const void *, void **, int *, short *, callback **, void **);
    ask initialized = (ask)next_function(&known_event_initialized, caller);
    describe facts = (describe)next_function(&known_event_get_assignment, caller);
    void *base = NULL;
    void *argument = NULL;
    int file = -1;
    short what = 0;
    memset(told, 0, sizeof *told);
    if (chroprof_run_future == NULL || initialized == NULL || facts == NULL || event == NULL ||
        initialized(event) == 0) {
        return false;
    }
    facts(event, &base, &file, &what, &told->standin, &argument);
    told->first = (uintptr_t)file;
    told->third = (uintptr_t)argument;
    told->of = event;
    told->base = base;
    told->stays = (what & EV_PERSIST) != 0;
    return base != NULL;
}

static void tell_event(future_step step, const void *event, const void *caller)
{
    loop_future told;
    if (describe_event(&told, event, caller)) {
        chroprof_run_future(step, &told);
    }
}

STAND_AROUND(int, event_add, (void *event, const struct timeval *time), (event, time), -1, ,
             if (result == 0) tell_event(FUTURE_WAITS, event, caller))

/* Before the call: later the event may be another one, or nothing. */
#define ENDS_EVENT(name, parameters, arguments)                                                    \
    STAND_AROUND(int, name, parameters, arguments, -1, tell_event(FUTURE_OVER, event, caller), )

ENDS_EVENT(event_del, (void *event), (event))
ENDS_EVENT(event_del_block, (void *event), (event))
ENDS_EVENT(event_del_noblock, (void *event), (event))
ENDS_EVENT(event_finalize, (unsigned flags, void *event, callback *called),
           (flags, event, called))
ENDS_EVENT(event_free_finalize, (unsigned flags, void *event, callback *called),
           (flags, event, called))

static bool waits_still(const void *event, const void *caller)
{
    typedef int (*ask)(const void *, short, struct timeval *);
    ask pending = (ask)next_function(&known_event_pending, caller);
    return pending != NULL && pending(event, EV_TIMEOUT | EV_FILE | EV_SIGNAL, NULL) != 0;
}

STAND_AROUND(int, event_remove_timer, (void *event), (event), -1, ,
             if (result == 0 && !waits_still(event, caller))
                 tell_event(FUTURE_OVER, event, caller))

static void *freed(void *event, const void *caller)
{
    tell_event(FUTURE_OVER, event, caller);
    return event;
}

STAND_BEFORE_VOID(event_free, (void *event), (freed(event, __builtin_return_address(0))))

/* Not in the loop's thread it may be called before this returns: so it is told first. */
static void *activated(void *event, const void *caller)
{
    tell_event(FUTURE_READY, event, caller);
    return event;
}

STAND_BEFORE_VOID(event_active, (void *event, int what, short times),
                  (activated(event, __builtin_return_address(0)), what, times))

/* One that libevent makes and frees itself. For a time alone it passes -1 as the file. */
static void tell_once(callback *ours, void *base, int fd, short what, const void *argument)
{
    loop_future told;
    memset(&told, 0, sizeof told);
    told.standin = ours;
    told.first = (uintptr_t)((what & EV_FILE) != 0 ? fd : -1);
    told.third = (uintptr_t)argument;
    told.base = base;
    if (chroprof_run_future != NULL && base != NULL) {
        chroprof_run_future(FUTURE_WAITS, &told);
    }
}

STAND_AROUND(int, event_base_once,
             (void *base, int fd, short what, callback *called, void *argument,
              const struct timeval *time),
             (base, fd, what, ours, argument, time), -1, callback *ours = OURS(called),
             if (result == 0) tell_once(ours, base, fd, what, argument))

/* >>bases: which thread runs them */

static void *running(void *base, bool runs)
{
    if (chroprof_run_base != NULL) {
        chroprof_run_base(base, runs);
    }
    return base;
}

STAND_LOOP(int, event_base_loop, (void *base, int flags), (running(base, true), flags), -1)
STAND_LOOP(int, event_base_dispatch, (void *base), (running(base, true)), -1)
STAND_LOOP(int, event_loop, (int flags), (flags), -1)
STAND_LOOP(int, event_dispatch, (void), (), -1)
STAND_BEFORE_VOID(event_base_free, (void *base), (running(base, false)))
STAND_BEFORE_VOID(event_base_free_nofinalize, (void *base), (running(base, false)))

/* >>events of buffers */

STAND_BEFORE(void *, bufferevent_new,
             (int fd, callback *read, callback *write, callback *event, void *argument),
             (fd, OURS(read), OURS(write), OURS(event), argument), NULL)
STAND_BEFORE_VOID(bufferevent_setcb,
                  (void *buffers, callback *read, callback *write, callback *event, void *argument),
                  (buffers, OURS(read), OURS(write), OURS(event), argument))

/* >>listeners */

STAND_BEFORE(void *, evconnlistener_new,
             (void *base, callback *called, void *argument, unsigned flags, int backlog, int fd),
             (base, OURS(called), argument, flags, backlog, fd), NULL)
STAND_BEFORE(void *, evconnlistener_new_bind,
             (void *base, callback *called, void *argument, unsigned flags, int backlog,
              const struct sockaddr *address, int length),
             (base, OURS(called), argument, flags, backlog, address, length), NULL)
STAND_BEFORE_VOID(evconnlistener_set_cb, (void *listener, callback *called, void *argument),
                  (listener, OURS(called), argument))
STAND_BEFORE_VOID(evconnlistener_set_error_cb, (void *listener, callback *called),
                  (listener, OURS(called)))

/* >>HTTP and names */

STAND_BEFORE(int, evhttp_set_cb, (void *http, const char *path, callback *called, void *argument),
             (http, path, OURS(called), argument), -1)
STAND_BEFORE_VOID(evhttp_set_gencb, (void *http, callback *called, void *argument),
                  (http, OURS(called), argument))
STAND_BEFORE(void *, evhttp_request_new, (callback *called, void *argument),
             (OURS(called), argument), NULL)
STAND_BEFORE_VOID(evhttp_request_set_chunked_cb, (void *request, callback *called),
                  (request, OURS(called)))
STAND_BEFORE_VOID(evhttp_connection_set_closecb,
                  (void *connection, callback *called, void *argument),
                  (connection, OURS(called), argument))
STAND_BEFORE(void *, evdns_getaddrinfo,
             (void *base, const char *node, const char *service, const void *hints,
              callback *called, void *argument),
             (base, node, service, hints, OURS(called), argument), NULL)
