/* block/windows.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/tables.h"

/* >>windows: exec per site and window. A path's exec beyond its mark belongs to the window of its
 * tag and is put into its cell when the path is next billed in another window. */

CHROPROF__COLD uint64_t *chroprof__cells(const chroprof__core *c, uint32_t site)
{
    uint64_t *cells = (uint64_t *)chroprof__rows(c, CHROPROF_TABLE_WINDOWS);
    return cells + (uint64_t)site * (c->tables[CHROPROF_TABLE_WINDOWS].capacity + 1u);
}

CHROPROF__INLINE uint32_t chroprof__tag_level(uint32_t tag)
{
    return tag >> 16;
}

/* The index that a tag's window has at the present level. */
CHROPROF__COLD uint32_t chroprof__tag_index(const chroprof__core *c, uint32_t tag)
{
    uint32_t shift = chroprof__tag_level(c->window) - chroprof__tag_level(tag);
    return shift < 16 ? (tag & 0xFFFF) >> shift : 0;
}

/* Brings a site's cells to the present level. Cells[0] is their level. Each site does that when it
 * is next touched, so no event merges more than one or two rows. */
static void chroprof__merge_cells(const chroprof__core *c, uint64_t *cells)
{
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    cells[0] = chroprof__tag_level(c->window);
    for (uint32_t k = 0; k < capacity && shift; k++) {
        uint64_t exec = cells[1 + k];
        cells[1 + k] = 0;
        cells[1 + (shift < 16 ? k >> shift : 0)] += exec;
    }
}

CHROPROF__COLD void chroprof__close_window(chroprof__core *c, chroprof__path_row *row)
{
    uint64_t *cells = chroprof__cells(c, row->site);
    if (cells[0] != chroprof__tag_level(c->window))
        chroprof__merge_cells(c, cells);
    cells[1 + chroprof__tag_index(c, row->window)] += row->exec - row->mark;
    row->mark = row->exec;
    row->window = c->window;
}

/* Before it comes on top: what is on top is of the present window. */
CHROPROF__INLINE void chroprof__freshen(chroprof__core *c, chroprof__path_row *row)
{
    if (CHROPROF__RARELY(row->window != c->window))
        chroprof__close_window(c, row);
}

/* Of a path of this process, with an account on top: the path of a future of this site, fresh. What
 * did not fit is not remembered, so that each miss is counted. */
static uint32_t chroprof__child_of(chroprof *p, uint32_t account, const chroprof_site *site)
{
    chroprof__core *c = p->core;
    chroprof__shortcut *s = chroprof__shortcut_home(p, account, site);
    if (!chroprof__is_shortcut(s, account, site))
        s = chroprof__other_place(p, s);
    if (chroprof__is_shortcut(s, account, site)) {
        chroprof__freshen(c, p->paths + s->target);
        s->window = c->window;
        return s->target;
    }
    uint32_t parent = account < CHROPROF__FIRST_PATH ? (uint32_t)CHROPROF__LOOP : account;
    uint32_t k = chroprof__intern_site(c, site->name ? site->name : "(unnamed)",
                                       site->file ? site->file : "", site->line);
    uint32_t target = chroprof__child(p, parent, k);
    chroprof__freshen(c, p->paths + target);
    if (k != CHROPROF__OTHER && chroprof__find_edge(c, parent, k)->site)
        chroprof__keep_shortcut(p, account, site, target);
    return target;
}

/* Doubles the width until profile time t has a window. */
CHROPROF__COLD void chroprof__widen_windows(chroprof__core *c, uint64_t t)
{
    uint32_t level = chroprof__tag_level(c->window), index = c->window & 0xFFFF;
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    while (c->windows.ticks >> 62 == 0 && t / c->windows.ticks >= capacity) {
        c->windows.ticks *= 2;
        index /= 2;
        level++;
    }
    c->window = level << 16 | index;
    c->windows.end = (index + 1) * c->windows.ticks;
}

/* The present window is the one that profile time t is in, wherever it was. */
CHROPROF__COLD void chroprof__move_window(chroprof__core *c, uint64_t t)
{
    chroprof__widen_windows(c, t);
    uint64_t index = t / c->windows.ticks;
    c->window = (c->window & 0xFFFF0000u) | (uint32_t)index;
    c->windows.end = (index + 1) * c->windows.ticks;
}
