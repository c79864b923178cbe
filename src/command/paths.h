/* paths.h - the tree of creations of a profile, and its whole figures, as arrays. */

#ifndef COMMAND_PATHS_H
#define COMMAND_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "profile.h"

#define PATH_DEPTH 512         /* of chroprof's own paths: what is deeper in a file is a root */

typedef struct path_row {
    uint64_t id, line;
    uint64_t exec, lifetime, waiting, delay, blame, calls;
    uint64_t parent_id;
    size_t parent;             /* index of a row before this one; SIZE_MAX: a root */
    size_t depth;              /* sites on it, at most PATH_DEPTH */
    json_text name, file;
} path_row;

typedef struct path_key {
    uint64_t id;
    size_t at;
} path_key;

typedef struct path_tree {
    path_row *rows;
    path_key *keys;            /* by id */
    size_t count;
    uint64_t elapsed, idle, loop, untracked, start_unix;
    uint64_t idle_blame, loop_blame, untracked_blame;
} path_tree;

void paths_free(path_tree *t);

/* SIZE_MAX: there is none. */
size_t path_index(const path_tree *t, uint64_t id);

/* false, with a message. A parent stands before its children: what does not is a root. */
bool paths_read(path_tree *t, const profile_text *p);

#endif
