/* waits.c - the functions in which loops wait: epoll, poll, select */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "waits.h"
#include "spins.h"

static bool is_zero(const struct timespec *time)
{
    return time != NULL && time->tv_sec == 0 && time->tv_nsec == 0;
}

static bool is_zero_time(const struct timeval *time)
{
    return time != NULL && time->tv_sec == 0 && time->tv_usec == 0;
}

/* >>waits for a file from which accept takes a client then: that is the wait, not accept */

enum { READY_FILES = 4, READY_OF = 16 };

static __attribute__((__noinline__)) void
note_polled(seat *s, const struct pollfd *files, nfds_t count, int result)
{
    uint32_t found = 0;
    for (nfds_t k = 0; result > 0 && k < count && k < READY_OF && found < READY_FILES; k++) {
        if ((files[k].revents & POLLIN) != 0) {
            s->ready[found++] = files[k].fd;
        }
    }
    s->ready_count = found;
    s->ready_set = 0;
}

static __attribute__((__noinline__)) void note_selected(seat *s, const fd_set *read, int result)
{
    s->ready_count = 0;
    s->ready_set = 0;
    if (result > 0 && read != NULL) {
        memcpy(&s->ready_set, read, sizeof s->ready_set);
    }
}

/* For one accept: the next one may wait. Waits take no notes before the first. */
static bool take_ready(seat *s, int file)
{
    const uint64_t bit = file >= 0 && file < 64 ? UINT64_C(1) << file : 0;
    bool found = (s->ready_set & bit) != 0;
    s->ready_set &= ~bit;
    for (uint32_t k = 0; k < s->ready_count; k++) {
        if (file > 0 && s->ready[k] == file) {
            s->ready[k] = -1;
            found = true;
        }
    }
    return found;
}

/* >>waits in epoll */

EXPORT int epoll_create(int size)
{
    int fd;
    if (next.epoll_create == NULL) {
        find_function(&next.epoll_create, "epoll_create");
    }
    fd = next.epoll_create(size);
    begin_epoll(fd);
    return fd;
}

EXPORT int epoll_create1(int flags)
{
    int fd;
    if (next.epoll_create1 == NULL) {
        find_function(&next.epoll_create1, "epoll_create1");
    }
    fd = next.epoll_create1(flags);
    begin_epoll(fd);
    return fd;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int size, int ms)
{
    static const chroprof_site site = { "code after epoll_wait", NULL, 0 };
    wait_time w;
    seat *s = begin_wait(&w, ms, fd);
    int result;
    int left = ms;
    do {
        result = next.epoll_wait != NULL
                 ? next.epoll_wait(fd, events, size, left)
                 : (int)syscall(SYS_epoll_pwait, fd, events, size, left, NULL, KERNEL_MASK_BYTES);
    } while (goes_on_ms(&w, result, ms, &left));
    end_wait(s, &w, result, &site);
    if (is_spinning(s)) {
        int error = errno;
        tell_epoll(s, fd, events, result, error);
        errno = error;
    }
    return result;
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)
{
    static const chroprof_site site = { "code after epoll_pwait", NULL, 0 };
    wait_time w;
    seat *s = begin_wait(&w, ms, fd);
    sigset_t both;
    int result;
    int left = ms;
    mask = with_ours(s, mask, &both);
    do {
        result = next.epoll_pwait != NULL
                 ? next.epoll_pwait(fd, events, size, left, mask)
                 : (int)syscall(SYS_epoll_pwait, fd, events, size, left, mask, KERNEL_MASK_BYTES);
    } while (goes_on_ms(&w, result, ms, &left));
    end_wait(s, &w, result, &site);
    if (is_spinning(s)) {
        int error = errno;
        tell_epoll(s, fd, events, result, error);
        errno = error;
    }
    return result;
}

static int next_epoll_pwait2(int fd, struct epoll_event *events, int size,
                             const struct timespec *time, const sigset_t *mask)
{
    if (next.epoll_pwait2 != NULL) {
        return next.epoll_pwait2(fd, events, size, time, mask);
    }
#ifdef SYS_epoll_pwait2
    return (int)syscall(SYS_epoll_pwait2, fd, events, size, time, mask, KERNEL_MASK_BYTES);
#else
    errno = ENOSYS;
    return -1;
#endif
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int size, const struct timespec *time,
                        const sigset_t *mask)
{
    static const chroprof_site site = { "code after epoll_pwait2", NULL, 0 };
    const struct timespec *left = time;
    wait_time w;
    seat *s = begin_wait(&w, is_zero(time) ? 0 : -1, fd);
    sigset_t both;
    int result;
    mask = with_ours(s, mask, &both);
    do {
        result = next_epoll_pwait2(fd, events, size, left, mask);
    } while (goes_on_for(&w, result, time, &left));
    end_wait(s, &w, result, &site);
    if (is_spinning(s)) {
        int error = errno;
        tell_epoll(s, fd, events, result, error);
        errno = error;
    }
    return result;
}

/* >>waits in poll */

static const chroprof_site poll_site = { "code after poll", NULL, 0 };
static const chroprof_site ppoll_site = { "code after ppoll", NULL, 0 };

static int next_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                      const sigset_t *mask)
{
    struct timespec left = { 0, 0 };
    if (next.ppoll != NULL) {
        return next.ppoll(files, count, time, mask);
    }
    if (time != NULL) {
        left = *time;                       /* the system writes there what is left */
    }
    return (int)syscall(SYS_ppoll, files, count, time != NULL ? &left : NULL, mask,
                        KERNEL_MASK_BYTES);
}

static int ppoll_for_ms(struct pollfd *files, nfds_t count, int ms)
{
    const struct timespec time = timespec_of((int64_t)ms * 1000000);
    return next_ppoll(files, count, ms >= 0 ? &time : NULL, NULL);
}

static inline __attribute__((__always_inline__)) int
watched_poll(struct pollfd *files, nfds_t count, int ms)
{
    wait_time w;
    seat *s = begin_wait(&w, ms, OF_FILES);
    int result;
    int left = ms;
    do {
        result = next.poll != NULL ? next.poll(files, count, left)
                                   : ppoll_for_ms(files, count, left);
    } while (goes_on_ms(&w, result, ms, &left));
    if (s != NULL && s->accepts) {
        note_polled(s, files, count, result);
    }
    end_wait(s, &w, result, &poll_site);
    if (is_spinning(s)) {
        int error = errno;
        tell_poll(s, files, count, result, error);
        errno = error;
    }
    return result;
}

static inline __attribute__((__always_inline__)) int
watched_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    const struct timespec *left = time;
    wait_time w;
    seat *s = begin_wait(&w, is_zero(time) ? 0 : -1, OF_FILES);
    sigset_t both;
    int result;
    mask = with_ours(s, mask, &both);
    do {
        result = next_ppoll(files, count, left, mask);
    } while (goes_on_for(&w, result, time, &left));
    if (s != NULL && s->accepts) {
        note_polled(s, files, count, result);
    }
    end_wait(s, &w, result, &ppoll_site);
    if (is_spinning(s)) {
        int error = errno;
        tell_poll(s, files, count, result, error);
        errno = error;
    }
    return result;
}

EXPORT int poll(struct pollfd *files, nfds_t count, int ms)
{
    return watched_poll(files, count, ms);
}

EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                 const sigset_t *mask)
{
    return watched_ppoll(files, count, time, mask);
}

/* What programs call instead that were compiled with _FORTIFY_SOURCE: the size of the list is known
 * there. One that is too small is an error that ends the program, here as there. */
EXPORT int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t bytes);
EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time,
                       const sigset_t *mask, size_t bytes);

EXPORT int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t bytes)
{
    if (bytes / sizeof *files < count) {
        abort();
    }
    return watched_poll(files, count, ms);
}

EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time,
                       const sigset_t *mask, size_t bytes)
{
    if (bytes / sizeof *files < count) {
        abort();
    }
    return watched_ppoll(files, count, time, mask);
}

/* >>waits in select. A wait that a timer signal interrupted has left its sets as they were, and in
 * its time what is left. */

static int next_pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                        const struct timespec *time, const sigset_t *mask)
{
    struct timespec left = { 0, 0 };
    const struct { const sigset_t *set; size_t bytes; } blocked = { mask, KERNEL_MASK_BYTES };
    if (next.pselect != NULL) {
        return next.pselect(count, read, write, except, time, mask);
    }
    if (time != NULL) {
        left = *time;
    }
    return (int)syscall(SYS_pselect6, count, read, write, except, time != NULL ? &left : NULL,
                        &blocked);
}

static int next_select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *time)
{
    struct timespec left = { 0, 0 };
    int result;
    if (next.select != NULL) {
        return next.select(count, read, write, except, time);
    }
    if (time != NULL) {
        left = timespec_of((int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000);
    }
    result = (int)syscall(SYS_pselect6, count, read, write, except, time != NULL ? &left : NULL,
                          NULL);
    if (time != NULL) {
        time->tv_sec = left.tv_sec;
        time->tv_usec = (suseconds_t)(left.tv_nsec / 1000);
    }
    return result;
}

EXPORT int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *time)
{
    static const chroprof_site site = { "code after select", NULL, 0 };
    wait_time w;
    seat *s = begin_wait(&w, is_zero_time(time) ? 0 : -1, OF_FILES);
    int result;
    do {
        result = next_select(count, read, write, except, time);
    } while (goes_on(&w, result));
    if (s != NULL && s->accepts) {
        note_selected(s, read, result);
    }
    end_wait(s, &w, result, &site);
    if (is_spinning(s)) {
        int error = errno;
        tell_select(s, count, read, write, result, error);
        errno = error;
    }
    return result;
}

EXPORT int pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                   const struct timespec *time, const sigset_t *mask)
{
    static const chroprof_site site = { "code after pselect", NULL, 0 };
    const struct timespec *left = time;
    wait_time w;
    seat *s = begin_wait(&w, is_zero(time) ? 0 : -1, OF_FILES);
    sigset_t both;
    int result;
    mask = with_ours(s, mask, &both);
    do {
        result = next_pselect(count, read, write, except, left, mask);
    } while (goes_on_for(&w, result, time, &left));
    if (s != NULL && s->accepts) {
        note_selected(s, read, result);
    }
    end_wait(s, &w, result, &site);
    if (is_spinning(s)) {
        int error = errno;
        tell_select(s, count, read, write, result, error);
        errno = error;
    }
    return result;
}

/* >>waits in accept, of a thread that waits for its clients there: where the file is one that waits,
 * and no callback runs. */

static const chroprof_site accept_site = { "code after accept", NULL, 0 };

static bool is_blocking(int file)
{
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

static inline __attribute__((__always_inline__)) bool accept_waits(int file)
{
    int error = errno;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    seat *s = own;
    wait_place *place;
    bool waits_there;
    if (awake == NULL || filtered || (s != NULL && (s->busy || s->waits || s->exits || s->depth > 0))) {
        return false;
    }
    if (s != NULL && (s->accepts ? take_ready(s, file) : is_ready(file, POLLIN))) {
        waits_there = false;
    } else if (s == NULL || s->generation != generation) {
        waits_there = is_blocking(file);
    } else {
        place = place_of(s, stack, (uintptr_t)__builtin_return_address(0));
        if (place->file != file) {
            place->file = file;
            place->blocking = is_blocking(file);
        }
        waits_there = place->blocking;
    }
    if (s != NULL) {
        s->accepts = true;
    }
    errno = error;
    return waits_there;
}

static void note_accept(int file, int result)
{
    seat *s = own;
    if (result < 0 && (errno == EMFILE || errno == ENFILE) && s != NULL) {
        s->no_files = true;
        s->refused = file;
    }
}

enum { AT_ONCE_NS = 100000 };  /* what accept takes at most where a client is there */

/* In a task a client that is there, or an error, is no wait. */
static bool came_at_once(const seat *s, int result)
{
    const chroprof *p = &s->profile;
    return (result < 0 && errno != EINTR) ||
           chroprof_to_ns(p, chroprof_now(p) - s->since) < AT_ONCE_NS;
}

static void end_accept(seat *s, const wait_time *w, int file, int result)
{
    if (s != NULL && s->waits && s->kind == TASK_WAIT && came_at_once(s, result)) {
        s->waits = false;
        s->call->inside = INSIDE_NONE;
    }
    end_wait(s, w, result, &accept_site);
    note_accept(file, result);
}

EXPORT int accept(int file, struct sockaddr *address, socklen_t *length)
{
    wait_time w;
    seat *s = accept_waits(file) ? begin_wait(&w, -1, OF_FILES) : NULL;
    int result;
    if (next.accept == NULL) {
        find_function(&next.accept, "accept");
    }
    result = next.accept(file, address, length);
    end_accept(s, &w, file, result);
    return result;
}

EXPORT int accept4(int file, struct sockaddr *address, socklen_t *length, int flags)
{
    wait_time w;
    seat *s = accept_waits(file) ? begin_wait(&w, -1, OF_FILES) : NULL;
    int result;
    if (next.accept4 == NULL) {
        find_function(&next.accept4, "accept4");
    }
    result = next.accept4(file, address, length, flags);
    end_accept(s, &w, file, result);
    return result;
}

/* >>waits of Tcl: with threads it waits for one of its own, which is in select, at a condition. From
 * version 9 on its seconds have 64 bits everywhere. */

KNOWN(Tcl_WaitForEvent)
EXPORT int Tcl_WaitForEvent(const long *time);          /* seconds and microseconds; NULL: for ever */

EXPORT int Tcl_WaitForEvent(const long *time)
{
    static const chroprof_site site = { "code after Tcl_WaitForEvent", NULL, 0 };
    typedef int (*function)(const long *);
    function next_wait = (function)next_function(&known_Tcl_WaitForEvent,
                                                 __builtin_return_address(0));
    const bool looks = LONG_MAX > INT_MAX && time != NULL && time[0] == 0 && time[1] == 0;
    wait_time w;
    seat *s = begin_wait(&w, looks ? 0 : -1, OF_FILES);
    int result = next_wait != NULL ? next_wait(time) : -1;
    end_wait(s, &w, result, &site);
    return result;
}
