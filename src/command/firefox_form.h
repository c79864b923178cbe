/* firefox_form.h - a profile as the Firefox Profiler keeps it; for firefox*.c alone. */

#ifndef COMMAND_FIREFOX_FORM_H
#define COMMAND_FIREFOX_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"
#include "json.h"
#include "paths.h"
#include "profile.h"
#include "rows.h"
#include "stacks.h"
#include "windows.h"

/* Milliseconds with all their digits. */
#define FIREFOX_MS "%" PRIu64 ".%06u"
#define FIREFOX_MS_OF(ns) (ns) / 1000000, (unsigned)((ns) % 1000000)

enum { FIREFOX_IDLE, FIREFOX_OTHER, FIREFOX_LOOP, FIREFOX_UNTRACKED, FIREFOX_FILE };

enum { FIREFOX_SAMPLED, FIREFOX_TREE, FIREFOX_WAITING, FIREFOX_DRAWN };

/* Cells of the shared tables. */
enum { RESOURCE_NAME, RESOURCE_LIB, RESOURCE_CELLS };
enum { FUNCTION_NAME, FUNCTION_RESOURCE, FUNCTION_SOURCE, FUNCTION_LINE, FUNCTION_CELLS };
enum { FRAME_FUNCTION, FRAME_LINE, FRAME_CATEGORY, FRAME_ADDRESS, FRAME_DEPTH, FRAME_CELLS };
enum { STACK_FRAME, STACK_PREFIX, STACK_CELLS };

enum { FIREFOX_TOP = 8, FIREFOX_FILES = 8, FIREFOX_PARTS = 1000 };

typedef struct firefox_sample {
    uint64_t stack, at, weight, cpu;
} firefox_sample;

typedef struct firefox_marker {
    uint64_t name, start, end, category;
    size_t data, length;       /* in marker_data */
} firefox_marker;

typedef struct firefox {
    const profile_text *profile;
    FILE *out;
    path_tree paths;
    uint64_t *path_stacks;
    stack_tree stacks;         /* empty: no samples */
    uint64_t *node_stacks;
    window_list windows;       /* the sites, busiest first, and their cells */
    uint64_t at;               /* where the windows so far end */
    uint64_t *site_stacks;
    uint64_t files[FIREFOX_FILES];          /* that have a category of their own */
    size_t file_count, top_count;
    json_text mode;            /* of the sampler */
    uint64_t period, draws, end;            /* end: of the timeline, in ns */
    bool sampled, nameless;    /* nameless: code of a library has no name */
    text_table texts;
    row_table sources, resources, functions, frames, rows;
    byte_buffer samples;       /* firefox_sample each, of the thread that is written */
    byte_buffer markers;       /* firefox_marker each */
    byte_buffer marker_data;
    uint64_t loop, idle, untracked, other, gap, lost;   /* stacks that are no site's */
    bool failed;
} firefox;

/* The samples of the thread that is written. */
size_t firefox_sample_count(const firefox *f);
firefox_sample *firefox_sample_at(const firefox *f, size_t i);
void firefox_add(firefox *f, firefox_sample sample);

/* The samples of each thread but the first. */
bool firefox_tree(firefox *f);
bool firefox_waiting(firefox *f);
bool firefox_drawn(firefox *f);

/* What the program is called. */
json_text firefox_program(const firefox *f);

/* Writes what was read. */
bool firefox_put(firefox *f);

#endif
