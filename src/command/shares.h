/* shares.h - which code ran for a path: its exec time, which is exact, divided in proportion to the
 * samples that the path was on top in. What was not sampled stays with the path itself. Samples by
 * CPU time say nothing of the time that a path slept, so that is nobody's but the path's: its frame
 * (off CPU). */

#ifndef COMMAND_SHARES_H
#define COMMAND_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths.h"
#include "stacks.h"

/* What is no path comes behind them. */
enum { SHARE_LOOP, SHARE_UNTRACKED, SHARE_OTHERS };

/* What a row has in place of a frame: the path was off the CPU. */
#define SHARE_OFF_CPU (SIZE_MAX - 1)
#define SHARE_OFF_CPU_NAME "(off CPU)"

typedef struct share_row {
    size_t path;               /* index; paths->count + SHARE_LOOP and so on */
    size_t frame;              /* innermost frame of the stack; SIZE_MAX: the path itself */
    uint64_t weight;           /* samples */
    uint64_t exec;             /* of the path, in the unit of its exec */
} share_row;

typedef struct share_list {
    share_row *rows;           /* by path */
    size_t count;
} share_list;

/* One row a stack with samples, and two for each path, loop and untracked. unit_ns: of the exec of
 * the paths. false, with a message. */
bool shares_read(share_list *l, const path_tree *paths, const stack_tree *s, uint64_t unit_ns);

/* (loop) or (untracked), and who had the blame for it. */
json_text share_other(const path_tree *paths, size_t path, uint64_t *blame);

void shares_free(share_list *l);

#endif
