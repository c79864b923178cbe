/* writers/text_summary.h: the first lines: findings, and whose time it was */
#pragma once
#include "../interface/version.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../public/now.h"
#include "../writers/words.h"
#include "../writers/text.h"

/* >>text summary */

static void chroprof__text_rule(chroprof__page *g)
{
    chroprof__style(g, CHROPROF__DIM);
    while (g->column < g->width)
        chroprof__glyph(g, 0x2500);
    chroprof__newline(g);
}

static void chroprof__text_title(chroprof__page *g)
{
    chroprof_origin origin;
    uint32_t version = (uint32_t)strlen("chroprof " CHROPROF_VERSION);
    chroprof_read_origin(g->p, &origin);
    chroprof__style(g, CHROPROF__BOLD);
    chroprof__show_name(g, *origin.name != 0 ? origin.name : "event loop", g->width - version - 2);
    chroprof__blank_to(g, g->width - version);
    chroprof__print(g, CHROPROF__DIM "chroprof " CHROPROF_VERSION "\n", NULL);
    chroprof__text_rule(g);
}

#ifndef CHROPROF_NO_FINDINGS
/* The answer before the figures: what stands out, the most important first. What a site does to the
 * loop is said once, so that it hides nothing else; the rest comes last in the report. */
typedef struct chroprof__sentences {
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    bool first[CHROPROF_FINDING_COUNT];    /* it stands before the figures */
    size_t count, after;                   /* all; and those that come last */
} chroprof__sentences;

static bool chroprof__about_load(const chroprof_finding *f)
{
    return f->kind == CHROPROF_FINDING_OCCUPIES || f->kind == CHROPROF_FINDING_RISING ||
           f->kind == CHROPROF_FINDING_PREEMPTED || f->kind == CHROPROF_FINDING_STUTTERS;
}

/* Did one before it tell of the same site's load? */
static bool chroprof__repeats(const chroprof__sentences *s, size_t of)
{
    size_t k = 0;
    while (k < of && !(chroprof__about_load(s->rows + k) && s->rows[k].site == s->rows[of].site))
        k++;
    return k < of && chroprof__about_load(s->rows + of);
}

static void chroprof__pick_sentences(chroprof__sentences *s, const chroprof *p)
{
    enum { FEW = 4, MOST = 6 };
    size_t shown = 0;
    memset(s, 0, sizeof *s);
    s->count = chroprof_findings(p, s->rows, CHROPROF_FINDING_COUNT);
    for (size_t i = 0; i < s->count && shown < MOST; i++) {
        s->first[i] = !chroprof__repeats(s, i);
        shown += s->first[i];
    }
    for (size_t i = 0; i < s->count && shown < FEW; i++) {
        shown += !s->first[i];
        s->first[i] = true;
    }
    s->after = s->count - shown;
}

static void chroprof__text_sentences(chroprof__page *g, const chroprof__sentences *s, bool first)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->first[i] != first)
            continue;
        chroprof__print(g, i == 0 ? CHROPROF__BOLD "\xE2\x80\xA2 "
                                  : CHROPROF__PLAIN "\xE2\x80\xA2 ", NULL);
        (void)chroprof__flow(g, s->rows[i].text, 2);
        chroprof__newline(g);
    }
}

CHROPROF__NOINLINE void chroprof__text_findings(chroprof__page *g)
{
    chroprof__sentences s;
    chroprof__pick_sentences(&s, g->p);
    chroprof__text_sentences(g, &s, true);
    const uint64_t after = s.after;
    if (after > 0)
        chroprof__print(g, CHROPROF__DIM "  %c more: see MORE FINDINGS below\n", &after);
    chroprof__text_rule(g);
}

CHROPROF__NOINLINE void chroprof__text_more_findings(chroprof__page *g)
{
    chroprof__sentences s;
    chroprof__pick_sentences(&s, g->p);
    if (s.after == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("MORE FINDINGS") "\n", NULL);
    chroprof__text_sentences(g, &s, false);
}
#endif

/* The parts of the elapsed time, which add up to it: their shares, then a strip of them. */
static void chroprof__text_parts(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    uint64_t busy_end = chroprof__portion(g->width, t->busy_ns, t->elapsed_ns);
    uint64_t used_ns = t->busy_ns + t->uninstrumented_ns;
    uint64_t loop_end = chroprof__portion(g->width, used_ns, t->elapsed_ns);
    static const char parts[][24] = {
        "\xE2\x96\x88 busy %p", "\xE2\x96\x92 uninstrumented %p", "\xE2\x96\x91 idle %p",
        "awake in waits %p"
    };
    uint64_t asleep_ns = t->asleep_ns, awake_ns = t->idle_ns - asleep_ns;
    const uint64_t figures[] = { t->busy_ns, t->elapsed_ns, t->uninstrumented_ns, t->elapsed_ns,
                                 asleep_ns, t->elapsed_ns, awake_ns, t->elapsed_ns };
    chroprof__print(g, CHROPROF__BOLD "elapsed %t" CHROPROF__PLAIN, &t->elapsed_ns);
    for (uint32_t k = 0; k < (awake_ns > t->elapsed_ns / 200 ? 4u : 3u); k++)
        chroprof__show_item(g, "  ", 0, NULL, parts[k], figures + 2 * k);
    chroprof__newline(g);
    if (t->elapsed_ns == 0)
        return;
    while (g->column < g->width)
        chroprof__glyph(g, g->column < busy_end ? 0x2588 : g->column < loop_end ? 0x2592 : 0x2591);
    chroprof__newline(g);
}

/* figures: how many there were, then p50, p99 and maximum of their lengths. */
static void chroprof__text_spread(chroprof__page *g, const char *label, uint64_t *figures)
{
    if (g->options.max_histograms == 0)
        figures[1] = figures[2] = CHROPROF__NO_FIGURE;
    chroprof__show(g, label);
    chroprof__print(g, figures[0] > 0 ? "%8c %8t %8t %8t\n" : "%8c\n", figures);
}

/* What the profile itself cost is a measured cost an event, times the events. */
static void chroprof__text_counts(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    uint64_t iterations[] = { t->iterations, t->iteration_p50_ns, t->iteration_p99_ns,
                              t->iteration_max_ns };
    uint64_t callbacks[] = { t->callbacks, t->callback_p50_ns, t->callback_p99_ns,
                             t->callback_max_ns };
    uint64_t cost_ps = chroprof__event_cost_ps(g->p);
    uint64_t cost_ns = t->events / 1000 * cost_ps + t->events % 1000 * cost_ps / 1000;
    const uint64_t at_once[] = { t->at_once, t->at_once_ns };
    const uint64_t events[] = { t->events, chroprof__round(cost_ps, 100), cost_ns, cost_ns,
                                t->elapsed_ns };
    if (!t->estimated) {                    /* nobody counted them */
        chroprof__blank_to(g, 24);
        chroprof__print(g, CHROPROF__DIM "   count      p50      p99      max\n", NULL);
        chroprof__text_spread(g, "loop iterations         ", iterations);
        chroprof__text_spread(g, "callbacks               ", callbacks);
    }
    if (t->hidden_p99_ns >= 1000 && !t->estimated)
        chroprof__print(g, "hidden delay            %8t " CHROPROF__FLOW "on average, p99 %t: an "
                           "estimate of how long data waits for the poll\n", &t->hidden_ns);
    chroprof__print(g, "live futures            %8c\n", &t->live);
    if (t->delay_ns > 0)
        chroprof__print(g, "delay                   %8k " CHROPROF__FLOW
                        "task-seconds: ready, but not running\n", &t->delay_ns);
    if (t->at_once_ns > t->elapsed_ns / 100)
        chroprof__print(g, "waits that return       %8c %8t of idle: at once, without sleep\n",
                        at_once);
    if (t->start_ns >= 1000000)
        chroprof__print(g, "start                            %8t uninstrumented\n", &t->start_ns);
    if (t->exit_ns >= 1000000)
        chroprof__print(g, "exit                             %8t uninstrumented\n", &t->exit_ns);
    chroprof__print(g, cost_ps > 0 ? "events                  %8c " CHROPROF__FLOW
                                     "cost %fns each: %t, %h of elapsed\n"
                                   : "events                  %8c\n", events);
}

/* Year, month, day, hour, minute and second, by counting days from a first of March. */
static void chroprof__calendar(uint64_t unix_ns, uint64_t out[6])
{
    uint64_t minutes = unix_ns / 60000000000u, days = minutes / 1440 + 719468;
    uint64_t day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    uint64_t month = (5 * day + 2) / 153;
    out[0] = year + days / 146097 * 400 + (month >= 10 ? 1 : 0);
    out[1] = month < 10 ? month + 3 : month - 9;
    out[2] = day - (153 * month + 2) / 5 + 1;
    out[3] = minutes / 60 % 24;
    out[4] = minutes % 60;
    out[5] = unix_ns / 1000000000u % 60;
}

/* When it began, and in what state it is if that is not the usual one. */
static void chroprof__text_state(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    const uint64_t skew[] = { t->skew_ns, t->skew_events };
    const char *why = chroprof_why_off(g->p);
    uint64_t date[6];
    chroprof__calendar(t->start_unix_ns, date);
    if (t->start_unix_ns > 0)
        chroprof__print(g, "started %d-%z-%z %z:%z:%z UTC\n", date);
    if (t->estimated)
        chroprof__print(g, CHROPROF__FLOW "taken from outside: all times are estimates from "
                                          "samples\n", NULL);
    if (t->skew_events > 0)
        chroprof__print(g, CHROPROF__WARM CHROPROF__FLOW
                        "snapshot of a busy program: maximum skew %t, %c events\n", skew);
    if (t->doubt_events > 0)
        chroprof__print(g, CHROPROF__WARM CHROPROF__FLOW "the program stopped inside an event: %t "
                        "may be charged to the wrong task\n", &t->doubt_ns);
    if (t->provisional)
        chroprof__print(g, CHROPROF__WARM "provisional: the clock is not calibrated yet\n", NULL);
    if (*why != 0 && !g->p->view) {
        chroprof__print(g, CHROPROF__WARM "no events are taken:\n" CHROPROF__WARM, NULL);
        (void)chroprof__flow(g, why, 0);
        chroprof__newline(g);
    }
}
