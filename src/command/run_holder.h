/* run_holder.h - chroprof run: who holds the lock that a callback waits for.
 *
 * A mutex of glibc on 64 bits says that itself: the word that a thread sleeps for is its first one, and
 * the third is the number of the thread that holds it. Both are read from outside. Of any other lock
 * nothing is said. */

#ifndef COMMAND_RUN_HOLDER_H
#define COMMAND_RUN_HOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct run_holders run_holders;

/* A thread that sleeps in futex. */
typedef struct holder_wait {
    pid_t process, thread;
    uint64_t slice;            /* another number, another slice of its loop */
    const char *call;          /* /proc/PID/task/TID/syscall, as it says now */
    const char *within;        /* the function that its loop called; "": not known */
} holder_wait;

/* *h: NULL at first; free() ends it. */
void run_holder_look(run_holders **h, const holder_wait *wait);

/* What is to be said of them, "": nothing. folder: of the profiles, where the holder's own samples are. */
const char *run_holder_text(run_holders *h, const char *folder);

#endif
