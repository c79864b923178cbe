/* guard.h - work on a profile of somebody else in a process of its own: whatever it does to that
 * process, it takes no more than the time and the memory that it is given, and nobody else waits. */

#ifndef COMMAND_GUARD_H
#define COMMAND_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct guard {
    pid_t child;
    int fd;                    /* what the work writes; -1: there is none */
} guard;

/* In the child; what it leaves in `out` is all that anybody hears of it. */
typedef void guard_work(void *user, FILE *out);

/* `memory`: bytes of addresses. false, with errno. */
bool guard_start(guard *g, size_t memory, guard_work *work, void *user);

/* In the child: from now on so many seconds of the processor, and three times as many by the clock. */
void guard_allow(unsigned seconds);

typedef enum guard_end {
    GUARD_DONE,
    GUARD_SLOW,                /* its time was over */
    GUARD_FAILED               /* anything else ended it */
} guard_end;

/* Ends it if it has not, and says how it ended. */
guard_end guard_finish(guard *g);

#endif
