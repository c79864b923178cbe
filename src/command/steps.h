/* steps.h - the steps of a program's ring, gathered look by look, and written as an event stream. */

#ifndef COMMAND_STEPS_H
#define COMMAND_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../chroprof.h"

/* One event as the ring has it, and what was found out about it later. */
typedef struct step_row {
    chroprof_step step;
    uint32_t made;             /* the path of the future or call that it begins; 0: not known */
    uint64_t lost;             /* how many events before it were overwritten unread */
    uint64_t late_ns;          /* of a ready that was told late, and the step before it: by how much */
} step_row;

/* A future that lived when the stream began. */
typedef struct step_life {
    uint64_t id;
    uint32_t path;
    chroprof_state state;
} step_life;

typedef struct steps {
    step_row *rows;            /* those of the stream are [from, to); others tell more of these */
    size_t count, capacity, from, to;
    size_t sure;               /* times of rows from here on may be some ns early */
    uint64_t cursor;           /* of chroprof_next_step */
    uint64_t begin_ns, end_ns; /* of the stream */
    uint64_t now_ns;           /* of the last look */
    uint64_t events, lost;     /* of the profile so far; of these, overwritten unread */
    uint64_t missed;           /* events since then of which the last look read none */
    uint64_t lost_last;        /* of lost, those after the last row of the stream */
    uint64_t skew;             /* events while the first look was taken */
    uint64_t ns, ticks;        /* of the last look, if the clock was not calibrated yet; else 0 */
    uint32_t on_top;           /* after the last step: a path, or 0 */
    step_life *lives;
    size_t life_count;
} steps;

/* All later events are of the stream. at_ns: the time of the view. false: no memory. */
bool steps_begin(steps *s, const chroprof *view, uint64_t at_ns);

/* Takes what happened since the last look. An event under way is for the next one, unless the
 * program ended. false: no memory. *count: how many that were. */
bool steps_take(steps *s, const chroprof *view, bool ended, size_t *count);

/* The stream ends here; what is taken from now on only tells more of it. */
void steps_end(steps *s);

/* Finds the path of each future and call that began, and who lived when the stream did. The views
 * are those of the first look, the last of the stream, and the last of all. false: no memory. */
bool steps_resolve(steps *s, const chroprof *first, const chroprof *last, const chroprof *after);

/* The lines that bring a fresh profile to where the first look was: live futures, the running stack.
 * Then "reset", so that none of this counts. Names are those of view, which knows all paths. */
void steps_write_state(const steps *s, const chroprof *first, const chroprof *view, FILE *out);

/* One line; names are those of view, which is of the last look. */
void steps_write(const step_row *row, const chroprof *view, FILE *out);

/* A remark, if any were. */
void steps_write_lost(uint64_t lost, FILE *out);

void steps_free(steps *s);

#endif
