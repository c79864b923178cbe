/* attach_live.h - a process that watches another one from outside, as chroprof attach does, and
 * writes its profile to a file again and again, for chroprof top --attach. */

#ifndef COMMAND_ATTACH_LIVE_H
#define COMMAND_ATTACH_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct attach_live {
    pid_t observer;            /* 0: there is none */
    char folder[64], file[80];
} attach_live;

/* Returns when there is a first profile in the file. false, with a message. */
bool attach_live_begin(attach_live *live, const char *pid, uint64_t every_ns);

/* Has the observer ended, as the program has? */
bool attach_live_ended(attach_live *live);

/* Lets the program go, and removes the file. */
void attach_live_end(attach_live *live);

/* attach.c: what the observer does, until a signal or the program's end. */
int attach_write(const char *pid, const char *name, uint64_t every_ns);

#endif
