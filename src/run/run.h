/* run.h - what all parts of the library use: the system, the header and its options */

#ifndef PRELOAD_RUN_H
#define PRELOAD_RUN_H

#define _GNU_SOURCE
#undef _TIME_BITS              /* else our own functions would get other names */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHROPROF_API static __attribute__((__unused__))
#define CHROPROF_NO_COPIES
#define CHROPROF_NO_FINDINGS
#define CHROPROF_WAIT_CALLS
#define CHROPROF_IMPLEMENTATION

/* The program's own file, also where it can't read /proc any more. */
static char program_path[1024];

static ssize_t known_link(const char *path, char *to, size_t size)
{
    if (strcmp(path, "/proc/self/exe") == 0 && program_path[0] != '\0') {
        size_t length = strnlen(program_path, size);
        memcpy(to, program_path, length);
        return (ssize_t)length;
    }
    return readlink(path, to, size);
}

/* By the name that it was started by, which may be a link's: redis-server is one on Debian. */
static void find_program_path(void)
{
    const char *given = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    struct stat is, own;
    (void)known_link("/proc/self/exe", program_path, sizeof program_path - 1);
    if (given != NULL && *given == '/' && strlen(given) < sizeof program_path &&
        strncmp(given, "/proc/", 6) != 0 && strncmp(given, "/dev/", 5) != 0 &&
        stat(given, &is) == 0 && stat("/proc/self/exe", &own) == 0 &&
        is.st_dev == own.st_dev && is.st_ino == own.st_ino) {
        memcpy(program_path, given, strlen(given) + 1);
    }
}

#define readlink known_link
#include "../../chroprof.h"
#undef readlink
#include "board.h"
#include "callbacks.h"
#include "filter.h"
#include "unwind.h"

#define PROFILE_BYTES ((size_t)1 << 20)
#define SAMPLES 256            /* a program may have code in a quarter as many libraries */
#define STACK_BYTES ((uintptr_t)64 << 10)       /* that a thread must have left to get a profile */
#define WAITS_LATER 32         /* before a thread gets a profile, where many have come and gone */
#define MOST_START_NS UINT64_C(3000000000000)   /* a step of an hour is no time of a profile */
#define SPARED_SIGNALS 8       /* the first real-time signals are left to the program */
#define CALLBACK_DEPTH 64      /* callbacks that run inside each other; inner ones have no frame */

_Static_assert(sizeof(time_t) <= sizeof(long), "functions with time have other names here");

#define is_likely(condition) (__builtin_expect((condition) ? 1 : 0, 1) != 0)

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

#endif
