/* writers/text_paths.h: the tree */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../reading/figures.h"
#include "../writers/text.h"
#include "../writers/text_tables.h"

/* >>text paths */

enum { CHROPROF__TWIGS = 24 };

#define CHROPROF__P(field) (uint16_t)offsetof(chroprof_path, field)

static const chroprof__column chroprof__path_columns[] = {
    { "with", "children", "%9t", { 60, 60 }, CHROPROF__ALONE, CHROPROF__P(with_children_ns) },
    { "", "exec", "%8t", { 60, 60 }, CHROPROF__ADDS, CHROPROF__P(exec_ns) },
    { "", "calls", "%7c", { 72, 72 }, CHROPROF__ADDS, CHROPROF__P(calls) },
    { "slice", "max", "%8t", { 120, 120 }, CHROPROF__ALONE, CHROPROF__P(slice_max_ns) },
    { "", "waiting", "%8t", { 120, 120 }, CHROPROF__ADDS, CHROPROF__P(waiting_ns) }
};

/* The hottest paths with all their ancestors, the hottest first: a path never has less time with
 * children than one below it and comes before it, so the largest ones always form a tree. */
typedef struct chroprof__tree {
    chroprof__grid grid;
    uint32_t count;
    chroprof_path twigs[CHROPROF__TWIGS];
    bool drawn[CHROPROF__TWIGS];
    uint32_t above[CHROPROF__TWIGS + 1];            /* the paths on the way to the last drawn */
    chroprof_path fullest;                          /* with the most live futures */
} chroprof__tree;

static void chroprof__tree_read(const chroprof__page *g, chroprof__tree *t)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TWIGS, chroprof_path, with_children_ns);
    uint64_t cursor = 0;
    chroprof_path path;
    memset(t, 0, sizeof *t);
    chroprof__grid_setup(g, &t->grid, CHROPROF__ALL(chroprof__path_columns), CHROPROF__NOT_THERE,
                         72);
    t->grid.longest_ns = g->totals.elapsed_ns;
    t->grid.exec = 1;
    t->grid.blame = CHROPROF__COLUMNS;
    while (chroprof_next_path(g->p, &cursor, &path)) {
        chroprof__grid_count(&t->grid, &path);
        if (path.live > t->fullest.live)
            t->fullest = path;
        if (path.with_children_ns > 0 && path.with_children_ns >= g->totals.busy_ns / 100)
            t->count = chroprof__keep_largest(&by, t->twigs, t->count, &path);
    }
}

/* The hottest twig below a parent that is not drawn yet; the count: none. */
static uint32_t chroprof__tree_next(const chroprof__tree *t, uint32_t parent)
{
    uint32_t k = 0;
    while (k < t->count && (t->twigs[k].parent != parent || t->drawn[k]))
        k++;
    return k;
}

#undef CHROPROF__P

/* The lines that lead to a twig, dotted at the end where it was created and not called. Of a very
 * deep one the lines nearest the root are left out. */
static void chroprof__tree_lines(chroprof__page *g, const chroprof__tree *t, uint32_t depth,
                                 bool called)
{
    uint32_t most = (t->grid.figures_at - 16) / 3, d = 1;
    if (depth == 0)
        return;
    chroprof__style(g, CHROPROF__DIM);
    if (depth > most) {
        d = depth - most + 2;
        chroprof__glyph(g, 0x2026);
        g->blanks += 2;
    }
    for (; d < depth; d++) {
        chroprof__show_code(g, chroprof__tree_next(t, t->above[d]) < t->count ? 0x2502 : ' ');
        g->blanks += 2;
    }
    chroprof__glyph(g, chroprof__tree_next(t, t->above[depth]) < t->count ? 0x251C : 0x2514);
    chroprof__glyph(g, called ? 0x2500 : 0x2504);
    g->blanks++;
    chroprof__style(g, CHROPROF__PLAIN);
}

/* Depth first, the hottest first. */
static void chroprof__tree_show(chroprof__page *g, chroprof__tree *t)
{
    uint32_t depth = 0;
    for (;;) {
        uint32_t twig = chroprof__tree_next(t, t->above[depth]);
        if (twig == t->count && depth-- == 0)
            return;
        if (twig == t->count)
            continue;
        const chroprof_path *path = &t->twigs[twig];
        bool called = path->entered > 0 && path->entered * 2 >= path->completed;
        t->drawn[twig] = true;
        chroprof__tree_lines(g, t, depth, called);
        chroprof__show_placed(g, path->name, path->file, path->line, t->grid.figures_at);
        chroprof__grid_row(g, &t->grid, path->with_children_ns, path);
        t->above[++depth] = path->id;
    }
}

/* The path of most live futures, which may leak, has its row, however little time it took. */
static void chroprof__tree_fullest(chroprof__page *g, chroprof__tree *t)
{
    const chroprof_path *path = &t->fullest;
    if (path->live < 8 || path->live * 2 < g->totals.live)
        return;
    for (uint32_t k = 0; k < t->count; k++)
        if (t->twigs[k].id == path->id && t->drawn[k])
            return;
    chroprof__style(g, CHROPROF__DIM);
    if (path->parent > 0)
        chroprof__glyph(g, 0x2026);
    g->blanks += path->parent > 0;
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__show_placed(g, path->name, path->file, path->line, t->grid.figures_at);
    chroprof__grid_row(g, &t->grid, path->with_children_ns, path);
}

CHROPROF__NOINLINE void chroprof__text_paths(chroprof__page *g)
{
    chroprof__tree t;
    chroprof__tree_read(g, &t);
    if (t.count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("PATHS"), NULL);
    chroprof__grid_head(g, &t.grid, "", "\xE2\x94\x80 called by   \xE2\x94\x84 created by");
    chroprof__tree_show(g, &t);
    chroprof__tree_fullest(g, &t);
    if (t.grid.rows_left > 0)
        chroprof__grid_extra(g, &t.grid, t.grid.rows_left == 1 ? "%c more path" : "%c more paths",
                             t.grid.left);
    chroprof__grid_other(g, &t.grid, "(untracked)", g->totals.untracked_ns, 0);
    chroprof__grid_extra(g, &t.grid, "total: busy", t.grid.sum);
}
