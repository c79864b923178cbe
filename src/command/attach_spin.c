/* attach_spin.c - a loop whose wait returns at once: which descriptor is always ready. A copy of it
 * (pidfd_getfd) is asked by poll, which changes nothing; see attach.h */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

bool attach_ready(pid_t pid, int epoll, char *out, size_t size)
{
    char path[64];
    char line[200];
    bool found = false;
    int process = open_process(pid);
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
    if (process >= 0) {
        (void)close(process);
    }
    return found;
}

#endif
