/* trace_form.h - a trace under way; for trace*.c alone. */

#ifndef COMMAND_TRACE_FORM_H
#define COMMAND_TRACE_FORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"
#include "profile.h"
#include "timeline.h"

typedef struct trace {
    const profile_text *profile;
    bool ring;                 /* stalls are marks, and nothing before `begin` is shown */
    uint64_t begin;
    uint64_t stalls;           /* written so far */
    FILE *out;
    uint64_t bytes;            /* written, about; more than `most` are refused */
    uint64_t most;
    bool comma;
} trace;

/* Of this profile into this file. */
void trace_open(trace *t, const profile_text *p, FILE *out);

/* So many bytes more. With a message, the last one: it is too large. */
void trace_count(trace *t, uint64_t bytes);

/* Begins an event of process 1, which stays open for more. */
void trace_begin(trace *t, const char *phase);

void trace_time(trace *t, uint64_t ns);

void trace_raw(trace *t, json_text text);

/* >>trace parts: what windows and steps share. false, with a message. */

/* An async slice each, what its sites took inside, end to end; beside the ring a mark each. */
bool trace_stalls(trace *t);

/* A second line: which functions ran under which task. */
bool trace_samples(trace *t);

/* A mark each, and behind all events the tree of stacks that they refer to: of a block, whose code
 * has no names yet. */
bool trace_sample_marks(trace *t);
bool trace_stack_frames(trace *t);

/* >>trace kinds: a whole trace of one kind. false, with a message. */

bool trace_windows(const profile_text *p, FILE *out);

/* Of a ring that has steps. */
bool trace_steps(const profile_text *p, const timeline *ring, FILE *out);

#endif
