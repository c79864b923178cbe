/* timeline.h - the ring of a profile that is JSON: its steps, as they are in `timeline.data`, become
 * the ring of a profile in memory, so that it can be written as if it were the one they are of. */

#ifndef COMMAND_TIMELINE_H
#define COMMAND_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "profile.h"

typedef struct timeline {
    chroprof view;             /* it has the ring, the paths and the live futures; nothing more */
    void *block;
    uint64_t steps, left_out;  /* of the ring; of these, not in the JSON */
    uint64_t begin_ns;
} timeline;

/* false, with a message. */
bool timeline_open(timeline *t, const profile_text *p);

void timeline_close(timeline *t);

/* >>timeline ring: in impl.c, because events would bill time and leave steps of their own */

/* A path below another one, 0: a root. Returns its number; 0: there is no room. */
uint32_t ring_path(chroprof *p, uint32_t parent, const char *name, const char *file,
                   uint32_t line);

/* A live future. */
void ring_future(chroprof *p, uint64_t id, uint32_t path, bool ready);

/* The last steps of so many events since the last reset, for which the ring has room; first: the
 * number of the oldest one, now: what runs after them. The profile is a view from here on. */
void ring_steps(chroprof *p, const chroprof_step *steps, size_t count, uint64_t first,
                uint64_t events, const chroprof_step *now, uint64_t live);

#endif
