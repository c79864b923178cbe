/* attach_spin.c - a loop whose wait returns at once: its time is 0, or which descriptor is always
 * ready. A copy of it (pidfd_getfd) is asked by poll, which changes nothing; see attach.h */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CROWD = 1000 };

static int copy_of(int process, int descriptor)
{
#ifdef SYS_pidfd_getfd
    return process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, descriptor, 0) : -1;
#else
    (void)process;
    (void)descriptor;
    return -1;
#endif
}

static int open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* What is ready at a descriptor of the program, of these events. */
static short ready_at(int process, int descriptor, unsigned events)
{
    struct pollfd one = { copy_of(process, descriptor), (short)(events & 0x7FFF), 0 };
    if (one.fd < 0) {
        return 0;
    }
    (void)poll(&one, 1, 0);
    (void)close(one.fd);
    return one.revents;
}

static const char *name_of(short ready)
{
    return (ready & POLLHUP) != 0 ? "EPOLLHUP: its other end is closed"
           : (ready & POLLERR) != 0 ? "EPOLLERR: an error that nobody takes"
           : (ready & POLLIN) != 0 ? "EPOLLIN: data that nobody reads"
           : "EPOLLOUT: it can be written, and nobody does";
}

static void describe(pid_t pid, int descriptor, short ready, char *out, size_t size)
{
    char path[64];
    char link[100];
    ssize_t count;
    (void)snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, descriptor);
    count = readlink(path, link, sizeof link - 1);
    link[count > 0 ? count : 0] = '\0';
    (void)snprintf(out, size, "descriptor %d (%s) is ready at every look, %s", descriptor, link,
                   name_of(ready));
}

/* Two words of the program, as times are. */
static bool is_zero_at(pid_t pid, uint64_t place)
{
    uint64_t words[32] = { 1, 1 };
    return place != 0 && attach_read(pid, place, words, sizeof words) >= 2 * sizeof words[0] &&
           words[0] == 0 && words[1] == 0;
}

bool attach_is_look(pid_t pid, long call, const uint64_t *args)
{
    switch (call) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return (int)args[3] == 0;
#ifdef SYS_poll
    case SYS_poll:
        return (int)args[2] == 0;
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
        return is_zero_at(pid, args[3]);
#endif
    case SYS_ppoll:
        return is_zero_at(pid, args[2]);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return is_zero_at(pid, args[4]);
    default:
        return false;
    }
}

/* Of a list of poll's: the first one that is ready. */
static bool ready_in_list(pid_t pid, int process, const uint64_t *args, char *out, size_t size)
{
    static struct pollfd files[256];
    size_t count = args[1] < 256 ? (size_t)args[1] : 256;
    if (attach_read(pid, args[0], files, sizeof files) < count * sizeof files[0]) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        short ready = files[i].fd >= 0
                      ? ready_at(process, files[i].fd, (unsigned short)files[i].events) : 0;
        if (ready != 0) {
            describe(pid, files[i].fd, ready, out, size);
            return true;
        }
    }
    return false;
}

static bool ready_in_epoll(pid_t pid, int process, int epoll, char *out, size_t size)
{
    char path[64];
    char line[200];
    bool found = false;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%ld/fdinfo/%d", (long)pid, epoll);
    file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        int descriptor;
        unsigned events;
        short ready;
        if (sscanf(line, "tfd: %d events: %x", &descriptor, &events) == 2 &&
            (ready = ready_at(process, descriptor, events)) != 0) {
            describe(pid, descriptor, ready, out, size);
            found = true;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static bool is_list(long call)
{
#ifdef SYS_poll
    if (call == SYS_poll) {
        return true;
    }
#endif
    return call == SYS_ppoll;
}

uint64_t attach_crowd(const attach_thread *t)
{
    return t->waits > 0 && is_list(t->wait_call) && t->wait_args[1] >= CROWD ? t->wait_args[1] : 0;
}

bool attach_awake(pid_t pid, const attach_thread *t, bool epoll, char *out, size_t size)
{
    int process = -1;
    bool found = false;
    if (t->waits == 0) {
        return false;
    }
    if (t->looks == t->waits) {
        if (epoll && !attach_is_epoll(t->wait_call)) {
            return false;
        }
        (void)snprintf(out, size, "the timeout of %s is 0", attach_call_name(t->wait_call));
        return true;
    }
    process = open_process(pid);
    if (attach_is_epoll(t->wait_call)) {
        found = ready_in_epoll(pid, process, (int)t->wait_args[0], out, size);
    } else if (is_list(t->wait_call)) {
        found = ready_in_list(pid, process, t->wait_args, out, size);
    }
    if (process >= 0) {
        (void)close(process);
    }
    return found;
}

#endif
