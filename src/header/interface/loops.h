/* interface/loops.h */
#pragma once
#include "../interface/events.h"
#include "../interface/macros.h"

/* >>loops: for a library that waits in epoll_wait(2) or epoll_pwait(2) and has no hook there, such
 * as libuv and libevent 2.1. CHROPROF_EPOLL_IDLE(&prof); outside any function defines both calls in
 * your program. The library then calls these, which report idle and call the system. sigset_t must
 * be declared before it, by <sys/epoll.h>, <signal.h> or the library's header. Each wait evaluates
 * p in the thread that waits. If other threads wait too, p must be NULL in them (use a thread-local
 * pointer). These calls are no cancellation points of pthreads. Put it in the program itself, not
 * in a library that it loads: libraries look in the program first. A wait inside a task, in another
 * descriptor than the loop's, is that task's (chroprof_waited); after 16 in one descriptor and none
 * in the loop's, that is the loop's. Linux only; elsewhere it does nothing, and the wait counts as
 * uninstrumented. */
#ifdef CHROPROF__EPOLL
#define CHROPROF_EPOLL_IDLE(p)                                                                     \
    CHROPROF__QUIET_BEGIN                                                                          \
    struct epoll_event;                                                                            \
    CHROPROF__VISIBLE int epoll_pwait(int fd, struct epoll_event *events, int size, int ms,        \
                                      const sigset_t *mask);                                       \
    CHROPROF__VISIBLE int epoll_wait(int fd, struct epoll_event *events, int size, int ms);        \
    int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)    \
    {                                                                                              \
        return chroprof__epoll_pwait((p), fd, events, size, ms, mask);                             \
    }                                                                                              \
    int epoll_wait(int fd, struct epoll_event *events, int size, int ms)                           \
    {                                                                                              \
        return chroprof__epoll_pwait((p), fd, events, size, ms, NULL);                             \
    }                                                                                              \
    CHROPROF__QUIET_END                                                                            \
    struct chroprof__semicolon
#else
#define CHROPROF_EPOLL_IDLE(p) struct chroprof__semicolon
#endif
