/* outside.h - chroprof run of a program that no library can be loaded into: a process beside it
 * watches it, as chroprof attach does. */

#ifndef COMMAND_OUTSIDE_H
#define COMMAND_OUTSIDE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct outside {
    bool wanted;               /* false: all of these do nothing */
    const char *out_name, *report_name;    /* NULL: not asked for */
    uint64_t stall_ns;         /* 0: as attach has it */
    int gate[2];               /* by which the program learns who watches it */
    int born[2];               /* closed when the program begins */
    pid_t observer;
} outside;

/* Before the program's process is made. false, with errno. */
bool outside_open(outside *o);

/* In the program's process, before it becomes the program. */
void outside_begin(const outside *o);

/* In this one, after the fork; child < 0: there is no program. The observer has this signal mask. */
void outside_start(outside *o, pid_t child, const sigset_t *mask);

/* When the program has ended: waits for the report. */
void outside_end(const outside *o);

#endif
