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
} step_row;

typedef struct steps {
    step_row *rows;
    size_t count, capacity;
    uint64_t cursor;           /* of chroprof_next_step */
    uint64_t events, lost;     /* of the profile so far; of these, overwritten unread */
} steps;

/* All later events are taken, those that the view has already are not. */
void steps_begin(steps *s, const chroprof *view);

/* Takes what happened since the last look. false: no memory. *count: how many that were. */
bool steps_take(steps *s, const chroprof *view, size_t *count);

/* Finds the path of each future and call that began; view is of the last look. false: no memory. */
bool steps_resolve(steps *s, const chroprof *view);

/* The lines that bring a fresh profile to where the view is: live futures, the running stack. Then
 * "reset", so that none of this counts. */
void steps_write_state(const chroprof *view, uint64_t at_ns, FILE *out);

/* One line; names are those of view, which is of the last look. */
void steps_write(const step_row *row, const chroprof *view, FILE *out);

void steps_free(steps *s);

#endif
