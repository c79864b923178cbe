/* writers/text_sites.h: the table of the sites */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../reading/figures.h"
#include "../writers/words.h"
#include "../writers/columns.h"
#include "../writers/text.h"
#include "../writers/text_tables.h"

/* >>text sites */

enum { CHROPROF__TEXT_ROWS = 40 };

#define CHROPROF__R(field) (uint16_t)offsetof(chroprof_rank, field)

/* A row of SITES: a site as it is shown. */
typedef struct chroprof__shown_site {
    chroprof_rank rank;        /* first, so that columns find its figures */
    uint64_t cpu[2], off_cpu[2];   /* each with its error */
    uint64_t hidden_ns;        /* mean, an estimate */
} chroprof__shown_site;

static const chroprof__column chroprof__site_columns[] = {
    { "", "exec", "%8t", { 60, 60 }, CHROPROF__ADDS, CHROPROF__R(exec_ns) },
    { "", "CPU", "", { CHROPROF__NEVER, 60 }, CHROPROF__SAMPLED,
      (uint16_t)offsetof(chroprof__shown_site, cpu) },
    { "", "off CPU", "", { CHROPROF__NEVER, 72 }, CHROPROF__SAMPLED,
      (uint16_t)offsetof(chroprof__shown_site, off_cpu) },
    { "with", "children", "%9t", { 120, 120 }, CHROPROF__ALONE, CHROPROF__R(with_children_ns) },
    { "slice", "p99", "%8t", { 72, 104 }, CHROPROF__ALONE, CHROPROF__R(slice_p99_ns) },
    { "slice", "max", "%8t", { 60, 60 }, CHROPROF__ALONE, CHROPROF__R(slice_max_ns) },
    { "", "slices", "%7c", { 120, 144 }, CHROPROF__ADDS, CHROPROF__R(slices) },
    { "", "calls", "%7c", { 130, 154 }, CHROPROF__ADDS, CHROPROF__R(calls) },
    { "", "lifetime", "%9t", { 120, 144 }, CHROPROF__ADDS, CHROPROF__R(lifetime_ns) },
    { "", "waiting", "%8t", { 120, 128 }, CHROPROF__ADDS, CHROPROF__R(waiting_ns) },
    { "", "delay", "%8t", { 120, 128 }, CHROPROF__OF_DELAY, CHROPROF__R(delay_ns) },
    { "~mean", "hidden", "%8t", { 140, 164 }, CHROPROF__ALONE,
      (uint16_t)offsetof(chroprof__shown_site, hidden_ns) },
    { "", "blame", "%8t", { 72, 80 }, CHROPROF__OF_DELAY, CHROPROF__R(blame_ns) }
};

/* The ranked sites and how names and places share what the figures leave. */
typedef struct chroprof__ranking {
    chroprof__grid grid;
    uint32_t count;
    uint32_t name_width, location_width;
    chroprof_rank rows[CHROPROF__TEXT_ROWS];
} chroprof__ranking;

/* A part of exec that samples tell, and its error: they are as many as the root of their number
 * allows. What is not more than twice the error is no figure. */
static void chroprof__judge_part(uint64_t *figures, uint64_t part, uint64_t exec, uint64_t samples)
{
    uint64_t root = chroprof__root(samples < UINT32_MAX ? samples << 20 : UINT64_MAX);
    figures[1] = root > 1024 ? chroprof__weigh(exec, 1024, root) : exec;
    figures[0] = part > 2 * figures[1] ? part : CHROPROF__NO_FIGURE;
}

/* Eight samples know a share within a third. They may have met a site more often than they should,
 * but it had no more CPU time than exec. By the clock a sample has the CPU time since the one
 * before, which is the site's own only where its slices are longer than the period. */
static chroprof__shown_site chroprof__judge_site(const chroprof__page *g, const chroprof_rank *rank)
{
    uint64_t samples = g->period_ns > 0 ? rank->exec_ns / g->period_ns : rank->samples;
    bool known = samples >= 8 && (!g->by_clock || samples / 4 >= rank->slices);
    uint64_t off_cpu_ns = chroprof__minus(rank->exec_ns, rank->cpu_ns);
    chroprof__shown_site row;
    row.rank = *rank;
    chroprof__judge_part(row.cpu, rank->exec_ns - off_cpu_ns, rank->exec_ns, known ? samples : 0);
    chroprof__judge_part(row.off_cpu, off_cpu_ns, rank->exec_ns, known ? samples : 0);
    row.hidden_ns = rank->found && g->totals.iterations ? rank->hidden_total_ns / rank->found
                                                        : CHROPROF__NO_FIGURE;
    if (!rank->has_percentiles)
        row.rank.slice_p99_ns = CHROPROF__NO_FIGURE;
    return row;
}

/* A place gets at most two fifths, or what the names leave. */
static void chroprof__ranking_read(const chroprof__page *g, chroprof__ranking *r)
{
    size_t all = chroprof_ranks(g->p, r->rows, g->top, g->by);
    uint64_t cursor = 0;
    chroprof_rank rank;
    chroprof__grid_setup(g, &r->grid, CHROPROF__ALL(chroprof__site_columns),
                         chroprof__order_at(g->by), g->sampled ? 104 : 72);
    r->grid.blame = r->grid.count - 1;
    r->count = all < g->top ? (uint32_t)all : g->top;
    while (chroprof_next_rank(g->p, &cursor, &rank)) {
        const chroprof__shown_site row = chroprof__judge_site(g, &rank);
        chroprof__grid_count(&r->grid, &row);
        chroprof__raise(&r->grid.longest_ns, rank.exec_ns);
    }
    uint32_t room = r->grid.figures_at - 2, name = 16, place = 0;
    for (const chroprof_rank *row = r->rows; row < r->rows + r->count; row++) {
        uint32_t wide = chroprof__columns_of(row->name);
        uint32_t location = chroprof__location_width(row->file, row->line);
        name = wide > name ? wide : name;
        place = location > place ? location : place;
    }
    place = place < room * 2 / 5 ? place : room * 2 / 5;
    r->name_width = name + place < room ? name : room - place;
    r->location_width = place > 5 ? room - r->name_width : 0;
}

static void chroprof__cpu_legend(chroprof__page *g)
{
    static const char every[] = CHROPROF__DIM CHROPROF__FLOW
        "CPU: estimated from a sample every %t; \xC2\xB1: the root of their number; -: too few, or "
        "below twice that.";
    static const char other[] = CHROPROF__DIM CHROPROF__FLOW
        "CPU: estimated from samples; \xC2\xB1: the root of their number; -: too few, or below "
        "twice that.";
    chroprof__print(g, g->period_ns > 0 ? every : other, &g->period_ns);
    if (g->width >= 72)
        (void)chroprof__flow(g, " off CPU: the rest of exec, in which the task waited, was "
                             "preempted or was not sampled.", 0);
    chroprof__newline(g);
}

CHROPROF__NOINLINE void chroprof__text_sites(chroprof__page *g)
{
    static const char orders[6][17] = {
        "by exec", "by with children", "by slice max", "by blame", "by delay", "by calls"
    };
    const chroprof_totals *t = &g->totals;
    chroprof__ranking r;
    chroprof__ranking_read(g, &r);
    chroprof__print(g, CHROPROF__HEADING("SITES"), NULL);
    if (r.count == 0) {
        chroprof__print(g, "none was used yet\n", NULL);
        return;
    }
    chroprof__grid_head(g, &r.grid, orders[g->by], "site");
    for (const chroprof_rank *rank = r.rows; rank < r.rows + r.count; rank++) {
        const chroprof__shown_site row = chroprof__judge_site(g, rank);
        chroprof__show_name(g, rank->name, r.name_width);
        if (r.location_width > 0) {
            chroprof__blank_to(g, r.name_width + 2);
            chroprof__show_location(g, rank->file, rank->line, r.location_width);
        }
        chroprof__grid_row(g, &r.grid, rank->exec_ns, &row);
    }
    if (r.grid.rows_left > 0)
        chroprof__grid_extra(g, &r.grid, r.grid.rows_left == 1 ? "%c more site" : "%c more sites",
                             r.grid.left);
    chroprof__grid_other(g, &r.grid, "(untracked)", t->untracked_ns, t->untracked_blame_ns);
    chroprof__grid_other(g, &r.grid, "(uninstrumented)", t->uninstrumented_ns,
                         t->uninstrumented_blame_ns);
    uint64_t asleep_ns = t->asleep_ns;
    if (t->idle_ns - asleep_ns > t->elapsed_ns / 200)
        chroprof__grid_other(g, &r.grid, "(idle, awake)", t->idle_ns - asleep_ns, 0);
    else
        asleep_ns = t->idle_ns;
    chroprof__grid_other(g, &r.grid, "(idle)", asleep_ns, t->idle_blame_ns);
    chroprof__grid_extra(g, &r.grid, "total", r.grid.sum);
    if (g->sampled)
        chroprof__cpu_legend(g);
}
