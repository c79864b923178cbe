/* writers/text_samples.h: the functions that ticks met */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../writers/words.h"
#include "../writers/text.h"

/* >>text samples */

enum { CHROPROF__CODE_GROUPS = 96, CHROPROF__CODE_ROWS = 12, CHROPROF__FEW_TO_SHARE = 5 };

/* A function under a task. Two of one name lie at one address, and so do two names of one site. */
typedef struct chroprof__code_group {
    uint64_t weight;
    const char *task, *name;   /* without a name of its own, a module has code in it */
    const char *in;            /* "in " before a module */
} chroprof__code_group;

static void chroprof__code_of(const chroprof *p, const chroprof_stack_row *row,
                              chroprof__code_group *out)
{
    chroprof_stack_frame frames[CHROPROF__ITEMS + 1];
    size_t count = chroprof_stack(p, row->id, frames, CHROPROF__ITEMS + 1), k = 0;
    bool bare = row->frame.kind == CHROPROF_FRAME_NATIVE && *row->frame.name == 0;
    while (k < count && k < CHROPROF__ITEMS && frames[k].kind != CHROPROF_FRAME_TASK)
        k++;
    out->weight = row->weight;
    out->task = frames[k].kind == CHROPROF_FRAME_TASK && k < count ? frames[k].name : "(no task)";
    out->in = bare ? "in " : "";
    out->name = bare ? row->frame.module : k == 0 ? "(itself)" : row->frame.name;
}

/* The heaviest groups, heaviest first; more than there is room for are left out of the list. */
static uint32_t chroprof__code_groups(const chroprof *p, chroprof__code_group *groups)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__CODE_GROUPS, chroprof__code_group, weight);
    chroprof_stack_row row;
    chroprof__code_group one;
    uint64_t cursor = 0;
    uint32_t count = 0;
    while (chroprof_next_stack(p, &cursor, &row)) {
        uint32_t i = 0;
        if (row.weight == 0)
            continue;
        chroprof__code_of(p, &row, &one);
        while (i < count && (groups[i].task != one.task || groups[i].name != one.name))
            i++;
        one.weight += i < count ? groups[i].weight : 0;
        i -= i == CHROPROF__CODE_GROUPS;    /* the lightest makes room */
        if (i < count)
            memmove(groups + i, groups + i + 1, (--count - i) * sizeof one);
        count = chroprof__keep_largest(&by, groups, count, &one);
    }
    return count;
}

static void chroprof__samples_head(chroprof__page *g, const chroprof_sampler_totals *t)
{
    uint64_t cursor = 0, covered_ns = g->totals.elapsed_ns;
    chroprof_sample_row row;
    while (chroprof_next_sample(g->p, &cursor, &row))       /* beyond it where a program hangs */
        chroprof__raise(&covered_ns, row.at_ns + row.duration_ns);
    const uint64_t figures[] = { t->samples, t->lost, t->period_ns, t->cost_ns, t->cost_ns,
                                 covered_ns };
    chroprof__print(g, t->first_period_ns == 0 ? CHROPROF__HEADING("SAMPLES") "%c, %c lost\n"
                       : t->mode == CHROPROF_SAMPLER_WALL
                           ? CHROPROF__HEADING("SAMPLES") "%c, %c lost; one every %t; cost %t, %p\n"
                           : CHROPROF__HEADING("SAMPLES")
                             "%c, %c lost; one every %t of CPU time; cost %t, %p\n", figures);
    if (t->interrupted > 0)
        chroprof__print(g, CHROPROF__DIM "waits that may have ended early at a tick (EINTR): %c\n",
                        &t->interrupted);
}

/* Functions are named in their own process only: the command has more to name those of a view. */
CHROPROF__NOINLINE void chroprof__text_samples(chroprof__page *g)
{
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    chroprof_sampler_totals t;
    chroprof_read_sampler(g->p, &t);
    if (t.samples + t.lost == 0)
        return;
    chroprof__samples_head(g, &t);
    if (g->p->view || t.samples == 0)
        return;
    uint32_t wide = g->width / 3;
    chroprof__print(g, CHROPROF__DIM "  share  task", NULL);
    chroprof__blank_to(g, 11 + wide);
    chroprof__print(g, "function\n", NULL);
    uint32_t count = chroprof__code_groups(g->p, groups);
    uint64_t left[] = { t.samples, t.samples };
    for (uint32_t i = 0; i < count && i < CHROPROF__CODE_ROWS; i++) {
        const chroprof__code_group *c = &groups[i];
        const char *name = *c->in != 0 ? chroprof__base_name(c->name) : c->name;
        const uint64_t share[] = { c->weight, t.samples };
        chroprof__print(g, t.samples < CHROPROF__FEW_TO_SHARE ? " %c of %c" : "%7p", share);
        g->blanks += 2;
        chroprof__show_name(g, c->task, wide);
        chroprof__blank_to(g, 11 + wide);
        chroprof__show(g, c->in);
        chroprof__show_name(g, *name != 0 ? name : "unknown code", g->width - wide - 16);
        chroprof__newline(g);
        left[0] = chroprof__minus(left[0], c->weight);
    }
    if (left[0] > 0)
        chroprof__print(g, CHROPROF__DIM "%7p  others\n", left);
}
