/* shares.h - which code ran for a path: its exec time, which is exact, divided in proportion to the
 * samples that the path was on top in. What was not sampled stays with the path itself. */

#ifndef COMMAND_SHARES_H
#define COMMAND_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths.h"
#include "stacks.h"

/* What is no path comes behind them. */
enum { SHARE_LOOP, SHARE_UNTRACKED, SHARE_OTHERS };

typedef struct share_row {
    size_t path;               /* index; paths->count + SHARE_LOOP and so on */
    size_t frame;              /* innermost frame of the stack; SIZE_MAX: the path itself */
    uint64_t weight;           /* samples */
    uint64_t exec;             /* ns of the path */
} share_row;

typedef struct share_list {
    share_row *rows;           /* by path */
    size_t count;
} share_list;

/* One row a stack with samples, and one for each path, loop and untracked without. false, with a
 * message. */
bool shares_read(share_list *l, const path_tree *paths, const stack_tree *s);

/* (loop) or (untracked), and who had the blame for it. */
json_text share_other(const path_tree *paths, size_t path, uint64_t *blame);

void shares_free(share_list *l);

#endif
