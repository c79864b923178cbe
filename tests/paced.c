/* tests/paced.c - a program in the process of its own recorder: loaded before chroprof record, it
 * makes each of its pauses as many events long as it has microseconds, whatever the machine does.
 *     PACED=FILE LD_PRELOAD=paced.so chroprof record FILE
 * It idles for 40 pauses and sends 200,000 events. Then it interrupts the record; with PACED_ENDS in
 * the environment it sends some more when it is asked whether it lives, and ends. */
#define _GNU_SOURCE
#define CHROPROF_IMPLEMENTATION
#define CHROPROF_API static
#include "../chroprof.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 100000 };

static chroprof profile;
static long sent;
CHROPROF_SITE(task, "task");

static void call(long count)
{
    for (sent += count; count > 0; count--) {
        chroprof_enter(&profile, &task);
        chroprof_leave(&profile);
    }
}

__attribute__((constructor)) static void begin(void)
{
    chroprof_options options = { 0 };
    const char *file = getenv("PACED");
    options.max_events = 8192;
    if (file == NULL || chroprof_map(&profile, file, 0, &options) != CHROPROF_OK)
        abort();
    chroprof_tick(&profile);
}

int nanosleep(const struct timespec *pause, struct timespec *rest)
{
    static int pauses;
    (void)rest;
    if (++pauses <= 40)
        return usleep(10000);
    if (sent < CALLS)
        call(pause->tv_nsec / 2000);
    return sent < CALLS || getenv("PACED_ENDS") != NULL ? 0 : kill(getpid(), SIGINT);
}

/* The command asks so whether the program holds its file. */
int fcntl(int fd, int what, ...)
{
    va_list more;
    void *lock;
    va_start(more, what);
    lock = va_arg(more, void *);
    va_end(more);
    if (what == F_OFD_GETLK && sent >= CALLS && getenv("PACED_ENDS") != NULL) {
        call(10);
        chroprof_unmap(&profile);
    }
    return (int)syscall(SYS_fcntl, fd, what, lock);
}
