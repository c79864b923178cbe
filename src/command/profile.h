/* profile.h - a whole profile as the text of CHROPROF_JSON, and where its parts are: from a file, a
 * pipe, or a block. A block becomes the text that the program itself would have written. */

#ifndef COMMAND_PROFILE_H
#define COMMAND_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "buffer.h"
#include "json.h"

typedef struct profile_text {
    const char *source;        /* as it was named */
    block_file block;          /* if it was one, or a stream of events */
    bool replayed;             /* it was a stream of events */
    const chroprof *view;      /* that it was made of, while that lives; NULL: it was JSON */
    uint64_t pid;              /* of its program, if it was a block; 0: not known */
    byte_buffer bytes;
    json_reader reader;
    json_text name;            /* in its quotes */
    json_text sites, stalls, windows, futures;
    json_text totals, paths, program, timeline, findings, waits;    /* may be missing */
    json_text clients;         /* what gain.h added; mostly missing */
    json_text sampler, modules, stacks, samples, wall;    /* length 0: written without a sampler */
} profile_text;

/* Checks the whole text, so that what reads its parts later meets no surprise but of type. */
bool profile_check(profile_text *p);

/* Callbacks a profile into the text that its program would have written. false, with a message. */
bool profile_of_view(profile_text *p, chroprof *view, const char *source);

/* The same of p->block, whose program's state it tells on standard error. */
bool profile_of_block(profile_text *p);

/* IN is JSON, a block in a file, or the number of a process that has one mapped. */
bool profile_load(profile_text *p, const char *source);

/* The same, or a stream of events. */
bool profile_load_or_replay(profile_text *p, const char *source);

void profile_free(profile_text *p);

#endif
