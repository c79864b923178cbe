/* chroprof_run_libevent.c - stands before the functions of libevent 2 that take callbacks.
 *
 * These are public and old: they are in every 2.x, or in 2.1, with these parameters. Only programs
 * that link libevent get this library. Callbacks that run on the spot (evbuffer_add_cb) or get more
 * than five arguments (evdns_base_resolve_ipv4) are left alone. */

#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/time.h>

#include "callbacks.h"

/* >>events */

STAND_BEFORE(void *, event_new,
             (void *base, int fd, short what, callback *called, void *argument),
             (base, fd, what, OURS(called), argument), NULL)
STAND_BEFORE(int, event_assign,
             (void *event, void *base, int fd, short what, callback *called, void *argument),
             (event, base, fd, what, OURS(called), argument), -1)
STAND_BEFORE_VOID(event_set, (void *event, int fd, short what, callback *called, void *argument),
                  (event, fd, what, OURS(called), argument))
STAND_BEFORE(int, event_base_once,
             (void *base, int fd, short what, callback *called, void *argument,
              const struct timeval *time),
             (base, fd, what, OURS(called), argument, time), -1)
STAND_BEFORE(int, event_once,
             (int fd, short what, callback *called, void *argument, const struct timeval *time),
             (fd, what, OURS(called), argument, time), -1)

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
