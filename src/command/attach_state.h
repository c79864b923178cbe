/* attach_state.h - chroprof attach: what it knows of the program that it watches; see attach.h */

#ifndef COMMAND_ATTACH_STATE_H
#define COMMAND_ATTACH_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach.h"

typedef struct attach_options {
    uint64_t for_ns, stall_ns, rate;
    const char *out_name, *report_name, *threads;
} attach_options;

enum { ATTACH_THREADS = 64, ATTACH_ROWS = 1 << 20 };

typedef struct attach {
    attach_options o;
    pid_t pid;
    char program[64];
    attach_thread *threads[ATTACH_THREADS];
    size_t count;
    attach_image image;
    attach_costs costs;
    uint64_t begin_ns, scan_ns, period_ns, random;
    uint64_t failed;           /* looks that could not be taken */
    bool go, ended, told;
    unsigned beyond;           /* threads for which there was no room */
} attach;

/* attach_watch.c: looks at it until the time is over, it ends, or attach_stopped is set. */
extern volatile sig_atomic_t attach_stopped;
void attach_watch(attach *a);

/* attach_report.c */
void attach_who(const attach *a, const attach_thread *t, char *text, size_t size);
int attach_report_all(attach *a);

#endif
