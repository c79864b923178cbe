/* attach_state.h - chroprof attach: what it knows of the program that it watches; see attach.h */

#ifndef COMMAND_ATTACH_STATE_H
#define COMMAND_ATTACH_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "attach.h"

typedef struct attach_options {
    uint64_t for_ns, stall_ns, rate;
    const char *out_name, *report_name, *threads;
    const char *live_name;     /* where to write the profile again and again, instead of a report */
    uint64_t live_ns;          /* how often */
} attach_options;

enum { ATTACH_THREADS = 64, ATTACH_ROWS = 1 << 20, ATTACH_NAMES = 512 };

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
    uint64_t write_ns;         /* of the next profile, if it is written again and again */
    uint64_t write_cost_ns;    /* of the last one; the first one reads all symbols */
    const attach_thread *live; /* of which it is */
    bool live_idle[ATTACH_WAITS];      /* its waits that were the loop's in the one before */
    size_t live_waits;
    uint32_t live_names[ATTACH_NAMES]; /* of its sites, by number, as hashes */
    bool process;              /* its threads are no loops: what is told is of all together */
    uint64_t program_mark;     /* attach_program */
    bool epoll;                /* it has one: a recv is no loop's wait */
    unsigned scans;            /* for its threads */
    bool ended, became, told;  /* became: another program */
    unsigned beyond;           /* threads for which there was no room */
} attach;

/* attach_watch.c: looks at it until the time is over, it ends, or attach_stopped is set. */
extern volatile sig_atomic_t attach_stopped;
void attach_watch(attach *a);
bool attach_only_joins(const attach *a, const attach_thread *t);

/* attach_report.c */
void attach_who(const attach *a, const attach_thread *t, char *text, size_t size);
int attach_report_all(attach *a);
/* Of a block_file, to a stream: for output_write. */
bool attach_write_copy(void *user, FILE *out);
/* attach_process.c, for a program without loops */
void attach_tell_process(const attach *a);
void attach_feed_process(struct chroprof *p, const attach *a);
/* The busiest loop's profile; it takes the place of the one before. */
void attach_write_live(attach *a);

#endif
