/* hide.c - see hide.h */

#include "hide.h"

#include <stdint.h>
#include <stdlib.h>

#include "hash.h"

typedef struct hidden_id {
    uint64_t id, number;       /* number 0: the row is empty */
} hidden_id;

typedef struct hidden_ids {
    bool wanted;
    hidden_id *rows;
    size_t room, used;         /* room: 0, or a power of two */
} hidden_ids;

static hidden_ids *all_hidden(void)
{
    static hidden_ids all;
    return &all;
}

static hidden_id *hidden_row(hidden_id *rows, size_t room, uint64_t id)
{
    size_t at = (size_t)hash_mix(0, id) & (room - 1);
    while (rows[at].number != 0 && rows[at].id != id) {
        at = (at + 1) & (room - 1);
    }
    return &rows[at];
}

static bool hidden_grow(hidden_ids *all)
{
    size_t room = all->room > 0 ? 2 * all->room : 1024;
    hidden_id *rows = (hidden_id *)calloc(room, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < all->room; i++) {
        if (all->rows[i].number != 0) {
            *hidden_row(rows, room, all->rows[i].id) = all->rows[i];
        }
    }
    free(all->rows);
    all->rows = rows;
    all->room = room;
    return true;
}

/* Without memory it is no id. */
static uint64_t hide_id(void *user, uint64_t id)
{
    hidden_ids *all = (hidden_ids *)user;
    hidden_id *row;
    if (2 * all->used >= all->room && !hidden_grow(all)) {
        return 0;
    }
    row = hidden_row(all->rows, all->room, id);
    if (row->number == 0) {
        row->id = id;
        row->number = ++all->used;
    }
    return row->number;
}

const char *set_hide_ids(void *field, const char *value)
{
    (void)field;
    (void)value;
    all_hidden()->wanted = true;
    return NULL;
}

bool ids_are_hidden(void)
{
    return all_hidden()->wanted;
}

void hide_ids_of(chroprof *view)
{
    if (all_hidden()->wanted) {
        chroprof_show_ids(view, hide_id, all_hidden());
    }
}
