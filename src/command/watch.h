/* watch.h - looks at a profile again and again, for chroprof top: what happened meanwhile. */

#ifndef COMMAND_WATCH_H
#define COMMAND_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "block.h"

/* One look at a profile. What no event has closed yet is charged to what runs, so that a program
 * that hangs shows it now and not when it comes back. */
typedef struct top_sample {
    block_file file;
    chroprof_totals totals;
    chroprof_origin origin;
    chroprof_rank *ranks;
    size_t count;
    double taken;              /* when the look began: seconds of our own clock, */
    uint64_t taken_unix_ns;    /* and calendar time */
    uint64_t open_ns;          /* from its last event to this look */
} top_sample;

/* One site over an interval. */
typedef struct top_row {
    const char *name, *file;
    uint32_t line;
    uint64_t exec_ns, with_children_ns, slices, slice_max_ns, slice_p99_ns;
    uint64_t blame_ns, delay_ns, calls, live;
    uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;   /* of those that finished; or 0 */
    uint64_t cpu_ns;           /* at most exec_ns */
    bool cpu_known;            /* there were samples enough */
    double key;                /* to sort by; then by the exec since the start */
    uint64_t ever_ns;
} top_row;

typedef enum top_state { TOP_RUNS, TOP_ENDED, TOP_DIED, TOP_GONE, TOP_UNREADABLE } top_state;

/* A profile that is followed, through ends and restarts of its program. */
typedef struct top_watch {
    block_file target;         /* where it lies */
    top_state state;
    const char *problem;       /* of TOP_UNREADABLE */
    top_sample *base, *shown;  /* the ends of the last interval; base NULL: all since the start */
    top_sample *between;       /* what happened in it; NULL: not known */
    top_sample *now;           /* the last look, may be shown */
    double unchanged;          /* since when no event was seen; 0: not known */
    double other;              /* when there were other events; 0: never */
    bool over;                 /* who writes the profile has ended, if it can't tell by itself */
    uint64_t restarts;
    double restarted;          /* when */
    double cost;               /* seconds that the last look took */
} top_watch;

void watch_forget(top_watch *w);

/* Looks again; true if that ended an interval. */
bool watch_look(top_watch *w, double interval);

uint64_t gained(uint64_t newer, uint64_t older);

/* Samples from one look to a later one (from NULL: since the start). */
uint64_t watch_samples(const top_sample *from, const top_sample *to);

/* Whether the sampler tells of CPU time, in whatever interval, and whether futures finished. */
bool watch_sampled(const top_sample *s);

bool watch_latency(const top_sample *s);

/* The sites from one look to a later one (from NULL: since the start); rows has room for as many
 * as the later one has. between may be NULL: then maxima and percentiles are since the start. */
void interval_rows(const top_sample *from, const top_sample *to, const top_sample *between,
                   top_row *rows);

/* The loop's totals over the same. */
void interval_totals(const top_sample *from, const top_sample *to,
                     const top_sample *between, chroprof_totals *out);

#endif
