/* paths.c - see paths.h */

#include "paths.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

void paths_free(path_tree *t)
{
    free(t->rows);
    free(t->keys);
    memset(t, 0, sizeof *t);
}

static int compare_path_keys(const void *a, const void *b)
{
    uint64_t x = ((const path_key *)a)->id;
    uint64_t y = ((const path_key *)b)->id;
    return (x > y) - (x < y);
}

size_t path_index(const path_tree *t, uint64_t id)
{
    path_key wanted = { id, 0 };
    const path_key *found = (const path_key *)bsearch(&wanted, t->keys, t->count, sizeof wanted,
                                                      compare_path_keys);
    return found != NULL ? found->at : SIZE_MAX;
}

static bool read_path_row(void *user, json_reader *r)
{
    path_tree *t = (path_tree *)user;
    path_row *row = &t->rows[t->count];
    const json_field fields[] = {
        JSON_NUMBER("id", &row->id), JSON_NUMBER("parent", &row->parent_id),
        JSON_NUMBER("line", &row->line), JSON_NUMBER("exec_ns", &row->exec),
        JSON_NUMBER("lifetime_ns", &row->lifetime), JSON_NUMBER("waiting_ns", &row->waiting),
        JSON_NUMBER("delay_ns", &row->delay), JSON_NUMBER("blame_ns", &row->blame),
        JSON_NUMBER("calls", &row->calls), JSON_TEXT("name", &row->name),
        JSON_TEXT("file", &row->file)
    };
    t->keys[t->count].at = t->count;
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    t->keys[t->count++].id = row->id;
    return true;
}

static bool read_path_totals(path_tree *t, const profile_text *p)
{
    json_reader r = json_part(&p->reader, p->totals);
    const json_field fields[] = {
        JSON_NUMBER("elapsed_ns", &t->elapsed), JSON_NUMBER("idle_ns", &t->idle),
        JSON_NUMBER("uninstrumented_ns", &t->loop), JSON_NUMBER("untracked_ns", &t->untracked),
        JSON_NUMBER("start_unix_ns", &t->start_unix),
        JSON_NUMBER("idle_blame_ns", &t->idle_blame),
        JSON_NUMBER("uninstrumented_blame_ns", &t->loop_blame),
        JSON_NUMBER("untracked_blame_ns", &t->untracked_blame)
    };
    return JSON_FIELDS(&r, fields);
}

bool paths_read(path_tree *t, const profile_text *p)
{
    size_t deeper = 0;
    memset(t, 0, sizeof *t);
    if (!json_room(&p->reader, p->paths, (void **)&t->rows, sizeof *t->rows) ||
        !json_room(&p->reader, p->paths, (void **)&t->keys, sizeof *t->keys) ||
        !read_path_totals(t, p) || !json_each(&p->reader, p->paths, read_path_row, t)) {
        return false;
    }
    qsort(t->keys, t->count, sizeof *t->keys, compare_path_keys);
    for (size_t i = 0; i < t->count; i++) {
        size_t parent = path_index(t, t->rows[i].parent_id);
        bool below = parent < i && t->rows[parent].depth < PATH_DEPTH;
        t->rows[i].parent = below ? parent : SIZE_MAX;
        t->rows[i].depth = below ? t->rows[parent].depth + 1 : 1;
        deeper += parent < i && !below;
    }
    if (deeper > 0) {
        tool_message("%zu paths stand at the root: they are deeper than %d sites", deeper,
                     PATH_DEPTH);
    }
    return true;
}
