/* writers/text_stalls.h: stalls, with their steps */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../writers/words.h"
#include "../writers/output.h"
#include "../writers/text.h"
#include "../writers/text_summary.h"

/* >>text stalls */

enum { CHROPROF__TEXT_STALLS = 8 };

/* Who took so much of a whole. */
static void chroprof__show_taker(chroprof__page *g, const char *before, uint32_t indent,
                                 uint32_t site, const char *name, uint64_t part_ns,
                                 uint64_t whole_ns)
{
    const uint64_t part[] = { part_ns, whole_ns };
    chroprof__show_item(g, before, indent, site != 0 ? name : "(uninstrumented)", " %w", part);
}

/* Who took how much of a stall; what rounds to nothing is with the others. */
static void chroprof__stall_takers(chroprof__page *g, const chroprof_stall *s)
{
    uint64_t left[] = { s->length_ns, s->length_ns };
    const char *before = "";
    uint32_t indent = g->column + g->blanks;
    for (uint32_t i = 0; i < s->share_count && s->shares[i].exec_ns > s->length_ns / 200; i++) {
        const chroprof_stall_share *x = &s->shares[i];
        chroprof__show_taker(g, before, indent, x->site, x->name, x->exec_ns, s->length_ns);
        left[0] = chroprof__minus(left[0], x->exec_ns);
        before = ",";
    }
    if (left[0] > 0)
        chroprof__show_item(g, before, indent, NULL, "others %w", left);
    chroprof__newline(g);
}

/* The functions that have a name, innermost first, as many as fit; else the module. */
static void chroprof__stack_names(chroprof__page *g, uint32_t stack)
{
    chroprof_stack_frame frames[16];
    size_t count = chroprof_stack(g->p, stack, frames, 16);
    const char *module = "";
    uint32_t shown = 0;
    for (size_t k = 0; k < count && k < 16 && shown < 4; k++) {
        module = *module == 0 ? frames[k].module : module;
        if (frames[k].kind == CHROPROF_FRAME_TASK || *frames[k].name == 0)
            continue;
        chroprof__show(g, shown++ > 0 ? " < " : "");
        chroprof__show_name(g, frames[k].name, chroprof__room(g, 0));
    }
    if (shown == 0) {
        chroprof__show_name(g, *module != 0 ? chroprof__base_name(module) : "unknown code", 24);
        chroprof__show(g, " (chroprof symbolize names the function)");
    }
    chroprof__newline(g);
}

/* What the sampler saw of a stall; of a view the command names the functions. */
static void chroprof__stall_places(chroprof__page *g, const chroprof_stall *s)
{
    const uint64_t unseen = chroprof__minus(s->length_ns, s->cpu_ns + s->waiting_ns);
    const uint64_t parts[] = { s->cpu_ns, s->length_ns, s->waiting_ns, s->length_ns,
                               unseen, s->length_ns };
    if (s->cpu_ns + s->waiting_ns > 0)
        chroprof__print(g, unseen > 0 ? "         " CHROPROF__FLOW
                                        "%p CPU, %p waiting or preempted, %p not sampled\n"
                                      : "         %p CPU, %p waiting or preempted\n", parts);
    for (uint32_t i = 0; i < s->sample_count && i < 2 && !g->p->view; i++) {
        const uint64_t part[] = { s->samples[i].weight, s->sampled };
        chroprof__print(g, "         %p in ", part);
        chroprof__stack_names(g, s->samples[i].stack);
    }
}

/* What ran in a stall, as it is being told. */
typedef struct chroprof__ranked_by {
    chroprof__page *g;
    uint64_t least_ns;         /* what took less is told together with its like */
    bool begun;
    const char *name;          /* of what runs */
    uint64_t ns, slices;       /* of it, in a row */
    uint64_t brief_ns, briefs; /* what was too short to be named */
    uint64_t left_ns, left;    /* steps left out in pieces that are too short */
} chroprof__ranked_by;

static void chroprof__order_item(chroprof__ranked_by *o, const char *name, const char *text,
                                 const uint64_t *figures)
{
    if (!o->begun)
        chroprof__show(o->g, "         in order: ");
    chroprof__show_item(o->g, o->begun ? "," : "", 9, name, text, figures);
    o->begun = true;
}

static void chroprof__order_briefs(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->briefs, o->brief_ns };
    if (o->briefs > 0)
        chroprof__order_item(o, NULL, o->briefs == 1 ? "%c short slice %t" : "%c short slices %t",
                             figures);
    o->briefs = o->brief_ns = 0;
}

/* Something else runs now. */
static void chroprof__order_end(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->slices, o->ns };
    if (o->ns < o->least_ns || o->ns == 0) {
        o->briefs += o->slices;
        o->brief_ns += o->ns;
    } else {
        chroprof__order_briefs(o);
        chroprof__order_item(o, o->name, o->slices > 1 ? " x%c %t" : " %t",
                             figures + (o->slices <= 1));
    }
    o->ns = o->slices = 0;
}

/* The interval between two steps. */
static void chroprof__order_add(chroprof__ranked_by *o, const chroprof_step *from,
                                const chroprof_step *to)
{
    bool begins = from->state == CHROPROF_RUNNING || from->state == CHROPROF_SWITCH ||
                  from->state == CHROPROF_ENTER || from->state == CHROPROF_NEXT;
    const char *name = chroprof__path_word(o->g->p, to->path);
    uint64_t ns = to->at_ns - from->at_ns;
    if (to->path == 0 && ns < o->least_ns)  /* a breath between two tasks */
        return;
    if (name != o->name)
        chroprof__order_end(o);
    o->name = name;
    o->ns += ns;
    o->slices += begins && to->path >= 3;
}

/* Steps are left out here. What is too short to be told here is told in the end. */
static void chroprof__order_gap(chroprof__ranked_by *o, uint64_t steps, uint64_t ns)
{
    const uint64_t figures[] = { steps, ns };
    if (ns < o->least_ns) {
        o->left += steps;
        o->left_ns += ns;
        return;
    }
    chroprof__order_end(o);
    chroprof__order_briefs(o);
    chroprof__order_item(o, NULL, steps == 1 ? "%c step left out (%t)" : "%c steps left out (%t)",
                         figures);
}

static void chroprof__order_done(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->left, o->left_ns };
    chroprof__order_end(o);
    chroprof__order_briefs(o);
    if (o->left > 0)
        chroprof__order_item(o, NULL, o->left == 1 ? "%c step left out between them (%t)"
                                                   : "%c steps left out between them (%t)",
                             figures);
    if (o->begun)
        chroprof__newline(o->g);
}

/* What ran, one after the other. */
static void chroprof__stall_order(chroprof__page *g, const chroprof_stall *s)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t count = chroprof_incident(g->p, s->number, steps, CHROPROF_INCIDENT_STEPS);
    chroprof__ranked_by o = { g, s->length_ns / 100, false, NULL, 0, 0, 0, 0, 0, 0 };
    if (s->shares[0].exec_ns >= s->length_ns - 5 * o.least_ns && s->shares[0].slices <= 1)
        return;                             /* one slice, which has been said */
    for (size_t i = 0; i < count; i++) {
        uint64_t from = i > 0 ? steps[i - 1].at_ns : s->start_ns;
        if (steps[i].left_out > 0)
            chroprof__order_gap(&o, steps[i].left_out, steps[i].at_ns - from);
        else if (i > 0 && from >= s->start_ns)
            chroprof__order_add(&o, &steps[i - 1], &steps[i]);
    }
    chroprof__order_done(&o);
}

/* By the calendar, where there is room and it is known. */
static bool chroprof__stall_clock(chroprof__page *g, uint64_t at_ns)
{
    uint64_t date[6];
    if (g->width < 72 || g->totals.start_unix_ns == 0)
        return false;
    chroprof__calendar(g->totals.start_unix_ns + at_ns, date);
    chroprof__print(g, " %z:%z:%z", date + 3);
    return true;
}

/* Does it begin inside the other one, or with it and is a part of it? */
static bool chroprof__begins_in(const chroprof_stall *s, const chroprof_stall *other)
{
    return s->start_ns == other->start_ns ? s->length_ns < other->length_ns
                                          : s->start_ns > other->start_ns;
}

/* Which of them happened in the one: bit k. Its own steps tell, for those of merged profiles only
 * happened at one time. */
static uint32_t chroprof__stalls_inside(const chroprof__page *g, const chroprof_stall *all,
                                        uint32_t count, uint32_t one)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t known = chroprof_incident(g->p, all[one].number, steps, CHROPROF_INCIDENT_STEPS);
    uint32_t inside = 0;
    for (uint32_t k = 0; k < count; k++)
        for (size_t i = 0; i + 1 < known; i++)
            if (steps[i].at_ns == all[k].start_ns && chroprof__begins_in(all + k, all + one))
                inside |= 1u << k;
    return inside;
}

static void chroprof__show_stall(chroprof__page *g, const chroprof_stall *s, bool inside)
{
    const uint64_t row[] = { s->length_ns, s->start_ns, s->events };
    bool callback = s->kind == CHROPROF_STALL_CALLBACK;
    chroprof__print(g, inside ? "%7t" : CHROPROF__BOLD "%7t" CHROPROF__PLAIN, row);
    chroprof__show(g, inside ? " \xE2\x94\x94" : "  ");
    chroprof__show(g, callback ? "callback " : "iteration");
    chroprof__print(g, "  %9m", row + 1);
    if (chroprof__stall_clock(g, s->start_ns))
        chroprof__print(g, "%7c  ", row + 2);
    else
        chroprof__print(g, g->width >= 72 ? "%8c  " : "  ", row + 2);
    chroprof__stall_takers(g, s);
    chroprof__stall_order(g, s);
    chroprof__stall_places(g, s);
}

/* The longest first; those that happened in another one below it, as they came. */
static void chroprof__show_stalls(chroprof__page *g, const chroprof_stall *all, uint32_t count)
{
    uint32_t inside[CHROPROF__TEXT_STALLS], nested = 0;
    for (uint32_t i = 0; i < count; i++)
        nested |= inside[i] = chroprof__stalls_inside(g, all, count, i);
    for (uint32_t k = 0; k < count; k++)    /* what is in one that is in another is in that, too */
        for (uint32_t i = 0; i < count; i++)
            inside[i] |= inside[i] >> k & 1 ? inside[k] : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = i;
        if (nested >> i & 1)
            continue;
        chroprof__show_stall(g, all + i, false);
        for (uint32_t last = i; ; last = next) {
            next = last;
            for (uint32_t k = 0; k < count; k++)
                if (inside[i] >> k & 1 && chroprof__begins_in(all + k, all + last) &&
                    (next == last || chroprof__begins_in(all + next, all + k)))
                    next = k;
            if (next == last)
                break;
            chroprof__show_stall(g, all + next, true);
        }
    }
}

CHROPROF__NOINLINE void chroprof__text_stalls(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_STALLS, chroprof_stall, length_ns);
    chroprof_stall picked[CHROPROF__TEXT_STALLS], stall;
    const uint64_t figures[] = { g->totals.stalls, g->options.stall_ns };
    uint64_t cursor = 0;
    uint32_t count = 0;
    while (chroprof_next_stall(g->p, &cursor, &stall))
        count = chroprof__keep_largest(&by, picked, count, &stall);
    if (count == 0)
        return;
    chroprof__print(g, figures[0] == 1
                    ? CHROPROF__HEADING("STALLS") "%c iteration or callback longer than %t\n"
                    : CHROPROF__HEADING("STALLS") "%c iterations and callbacks longer than %t; the "
                      "longest:\n", figures);
    chroprof__print(g, g->width >= 72 && g->totals.start_unix_ns > 0
                    ? CHROPROF__DIM " length  kind              at      UTC events  taken by\n"
                    : g->width >= 72
                    ? CHROPROF__DIM " length  kind              at  events  taken by\n"
                    : CHROPROF__DIM " length  kind              at  taken by\n", NULL);
    chroprof__show_stalls(g, picked, count);
}
