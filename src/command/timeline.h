/* timeline.h - the ring of a profile as arrays: its steps, the paths that they name, and the futures
 * that live after them. */

#ifndef COMMAND_TIMELINE_H
#define COMMAND_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "paths.h"
#include "profile.h"

#define FIRST_PATH 3u          /* those before are no tasks */

typedef struct timeline_future {
    uint64_t id;
    uint32_t path;
} timeline_future;

typedef struct timeline {
    chroprof_step *steps;      /* oldest first; behind the last one stands a tick of now */
    size_t count;              /* of the events, without that tick */
    uint64_t left_out;         /* older steps of the ring, which only its block has */
    uint64_t first;            /* how many events came before the oldest step, of all there were */
    uint64_t events;           /* since the last reset */
    uint64_t live, ready;      /* futures, now */
    path_tree paths;
    timeline_future *futures;  /* those that live */
    size_t future_count;
} timeline;

/* A profile without steps has none here. All of a block's ring, of JSON what it has. false, with a
 * message. */
bool timeline_open(timeline *t, const profile_text *p);

void timeline_close(timeline *t);

#endif
