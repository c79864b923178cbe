/* writers/text_report.h: anomalies and tables, and the report as a whole */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../writers/output.h"
#include "../writers/text.h"
#include "../writers/text_summary.h"
#include "../writers/text_sites.h"
#include "../writers/text_latency.h"
#include "../writers/text_paths.h"
#include "../writers/text_stalls.h"
#include "../writers/text_slowest.h"
#include "../writers/text_samples.h"
#include "../writers/text_series.h"

/* >>text oddities */

/* Where an anomaly was met: of the task itself, or what ran when the event came. */
static void chroprof__text_place(chroprof__page *g, const char *when,
                                 const chroprof_anomaly_place *place)
{
    const uint64_t figures[] = { place->at_ns, place->id };
    const bool task = place->path != 0 || place->top > 2;
    chroprof__print(g, "         " CHROPROF__DIM, NULL);
    chroprof__show(g, when);
    chroprof__print(g, place->id ? "at %t, id %d, " : "at %t, ", figures);
    chroprof__show(g, place->path ? "task " : task ? "inside " : place->top == 0 ?
                   "outside of any task" : place->top == 1 ? "while idle" : "in untracked time");
    if (task)
        chroprof__show_placed(g, place->name, place->file, place->line, g->width);
    chroprof__newline(g);
}

static void chroprof__text_anomalies(chroprof__page *g)
{
    chroprof_anomaly row;
    if (g->totals.anomalies == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("ANOMALIES") "unexpected sequences of calls\n", NULL);
    for (int k = 0; chroprof_read_anomaly(g->p, (chroprof_anomaly_kind)k, &row); k++) {
        if (row.count == 0)
            continue;
        chroprof__print(g, "%7c  ", &row.count);
        (void)chroprof__flow(g, row.text, 9);
        chroprof__newline(g);
        if (row.placed)
            chroprof__text_place(g, row.count > 1 ? "first " : "", &row.first);
        if (row.placed && row.count > 1)
            chroprof__text_place(g, "last ", &row.last);
        chroprof__print(g, "         " CHROPROF__DIM, NULL);
        (void)chroprof__flow(g, row.cure, 9);
        chroprof__newline(g);
    }
}

static void chroprof__text_tables(chroprof__page *g)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    if (g->totals.dropped == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("FULL TABLES")
                    "all time is counted, only detail is missing\n", NULL);
    (void)chroprof_tables(g->p, rows, CHROPROF_TABLE_COUNT);
    for (const chroprof_table *t = rows; t < rows + CHROPROF_TABLE_COUNT; t++) {
        const uint64_t figures[] = { t->dropped, t->capacity, t->advice };
        if (t->dropped == 0)
            continue;
        chroprof__print(g, "%7c dropped, room for %c: ", figures);
        chroprof__show(g, t->name);
        if (t->advice > 0) {
            chroprof__print(g, "; raise " CHROPROF__BOLD, NULL);
            chroprof__show(g, t->option);
            chroprof__print(g, CHROPROF__PLAIN " to %d", figures + 2);
        }
        chroprof__newline(g);
    }
}

static void chroprof__page_setup(chroprof__page *g, chroprof__out *o, const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_rank rank;
    uint64_t cursor = 0;
    memset(g, 0, sizeof *g);
    g->out = o;
    g->p = p;
    chroprof_read_totals(p, &g->totals);
    chroprof_read_options(p, &g->options);
    chroprof_read_sampler(p, &t);
    g->period_ns = t.first_period_ns > 0 ? t.period_ns : 0;
    g->by_clock = t.mode == CHROPROF_SAMPLER_WALL;
    /* samples by hand may come without CPU time */
    while (t.samples > 0 && !g->sampled && chroprof_next_rank(p, &cursor, &rank))
        g->sampled = rank.cpu_ns > 0 || (rank.samples > 0 && g->period_ns > 0);
    if (o->look != NULL)
        g->look = *o->look;
    uint32_t width = g->look.width == 0 ? 80 : g->look.width, top = g->look.top;
    g->width = width < 60 ? 60 : width > 200 ? 200 : width;
    g->top = top == 0 ? 20 : top < CHROPROF__TEXT_ROWS ? top : (uint32_t)CHROPROF__TEXT_ROWS;
    g->by = (unsigned)g->look.by <= (unsigned)CHROPROF_BY_CALLS ? g->look.by : CHROPROF_BY_EXEC;
}

CHROPROF__COLD_API void chroprof__as_text(chroprof__out *o, const chroprof *p)
{
    chroprof__page g;
    if (o->absent) {
        chroprof__put_text(o, "chroprof: no profile: ");
        chroprof__put_text(o, chroprof_why_off(p));
        chroprof__put_byte(o, '\n');
        return;
    }
    chroprof__page_setup(&g, o, p);
    chroprof__text_title(&g);
#ifndef CHROPROF_NO_FINDINGS
    chroprof__text_findings(&g);
#endif
    chroprof__text_parts(&g);
    chroprof__text_counts(&g);
    chroprof__text_state(&g);
    chroprof__text_sites(&g);
    chroprof__text_latency(&g);
    chroprof__text_paths(&g);
    chroprof__text_stalls(&g);
    chroprof__text_slowest(&g);
    chroprof__text_samples(&g);
    chroprof__text_series(&g);
    chroprof__text_anomalies(&g);
    chroprof__text_tables(&g);
#ifndef CHROPROF_NO_FINDINGS
    chroprof__text_more_findings(&g);
#endif
}
