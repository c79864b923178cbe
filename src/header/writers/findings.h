/* writers/findings.h: one function a kind of finding */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../writers/phrases.h"
#include "../writers/findings_futures.h"
#include "../writers/findings_waits.h"
#include "../writers/findings_stutters.h"

/* Since when did no event but a tick arrive? False: that is not known. */
static bool chroprof__quiet_since(const chroprof__inquiry *q, uint64_t *at_ns)
{
    chroprof_step step;
    uint64_t cursor = 0, steps = 0;
    bool met = false;
    *at_ns = 0;
    for (; chroprof_next_step(q->p, &cursor, &step); steps++) {
        met = met || step.state != CHROPROF_TICK;
        *at_ns = step.state != CHROPROF_TICK ? step.at_ns : *at_ns;
    }
    return met || steps == q->totals.events;
}

/* What it waits in for most of that. NULL: that is not known. */
static const char *chroprof__hang_wait(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_task_wait wait;
    if (c->site == 0 || !chroprof__wait_of(q, c->site, &wait) || !wait.estimated ||
        wait.longest_ns < c->value_ns / 2)
        return NULL;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    if (!chroprof__is_call(words) && strcmp(wait.call, "stopped") != 0)
        return NULL;                        /* its samples show the code that would run */
    c->n[2] = wait.longest_ns < c->value_ns ? wait.longest_ns : c->value_ns;
    c->other = wait.call;
    c->fact = words->fact;
    c->cure = words->cure;
    return " For about %T2 of it, it %f.%u";
}

/* What is known of the code since then: CPU time, and the mode that it was sampled in. */
static const char *chroprof__hang_cure(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_sampler_totals s;
    chroprof_sample_row row;
    uint64_t cursor = 0;
    chroprof_read_sampler(q->p, &s);
    c->n[2] = 0;
    while (chroprof_next_sample(q->p, &cursor, &row))
        c->n[2] += row.at_ns >= c->at_ns ? row.cpu_ns : 0;
    c->n[2] = c->n[2] < c->value_ns ? c->n[2] : c->value_ns;
    const char *waits = chroprof__hang_wait(q, c);
    if (waits)
        return waits;
    if (s.samples == 0)
        return " A debugger shows the line, and samples do.";
    if (c->n[2] >= 100000000 || c->n[2] > c->value_ns / 8)
        return " It used %T2 of CPU time: its samples show the line.";
    return s.mode == CHROPROF_SAMPLER_WALL
               ? " It used %T2 of CPU time: its samples show where it waits."
               : " It used %T2 of CPU time: a debugger, or samples in wall mode, show where it is.";
}

/* A callback that ended and took half as long tells that this one may end as well. */
static void chroprof__find_hang(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_frame frame;
    chroprof_path path;
    uint64_t since_ns;
    size_t depth = chroprof_frames(q->p, &frame, 1);
    bool in_task = depth > 0 && depth == t->depth && !frame.barrier;
    if (t->idle || !t->enabled || (depth == 0 && t->exit_ns > 0) ||
        (depth == 0 && t->iterations == 0 && !t->in_iteration) ||
        !chroprof__quiet_since(q, &since_ns))
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_HANGS, NULL,
                                         chroprof__minus(t->elapsed_ns, since_ns));
    c.at_ns = c.n[1] = since_ns;
    if (c.value_ns / 2 < t->callback_max_ns)
        return;
    if (in_task) {
        c.name = chroprof_read_path(q->p, frame.path, &path) ? path.name : "a task of unknown id";
        c.file = path.file;
        c.line = path.line;
        c.site = path.site;
        (void)chroprof__name_case(q, &c, since_ns, 900000);
    }
    chroprof__report(q, &c, since_ns ? "The loop has been inside %s for %T0, since %m1, and is not "
                                       "back."
                                     : "The loop was inside %s all these %T0, and is not back.",
                     NULL, chroprof__hang_cure(q, &c));
}

/* The stack that most samples of the loop's own time have, by majority vote (Boyer and Moore) and a
 * count of what it has; 0: none has the majority. */
static uint32_t chroprof__loop_stack(const chroprof *p)
{
    chroprof_sample_row row;
    uint64_t cursor = 0, votes = 0, all = 0, its = 0;
    uint32_t stack = 0;
    while (chroprof_next_sample(p, &cursor, &row)) {
        if (row.state != CHROPROF_SAMPLE_UNINSTRUMENTED)
            continue;
        bool same = row.stack == stack, wins = !same && row.weight > votes;
        votes = same ? votes + row.weight : wins ? row.weight - votes : votes - row.weight;
        stack = wins ? row.stack : stack;
        all += row.weight;
    }
    for (cursor = 0; chroprof_next_sample(p, &cursor, &row);)
        its += row.state == CHROPROF_SAMPLE_UNINSTRUMENTED && row.stack == stack ? row.weight : 0;
    return its > all / 2 ? stack : 0;
}

/* Where nobody said that the loop waits, it may be waiting all the time. */
static void chroprof__find_loop(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_stall *s = &q->stall;
    bool idles = t->idle || t->idle_ns > 0 || t->iterations > 0 || t->in_iteration;
    bool bare = !idles && t->busy_ns == 0;
    uint32_t stack = chroprof__loop_stack(q->p);
    chroprof_sampler_totals sampler;
    chroprof__case c = chroprof__case_of(q, idles || bare ? CHROPROF_FINDING_UNINSTRUMENTED
                                                          : CHROPROF_FINDING_NO_IDLE, NULL,
                                         t->uninstrumented_ns - t->start_ns - t->exit_ns);
    chroprof_read_sampler(q->p, &sampler);
    if (!idles && sampler.mode != CHROPROF_SAMPLER_WALL)
        stack = 0;                          /* no wait has samples of CPU time */
    c.other = chroprof__sampled_function(q->p, stack, idles);
    c.grave = idles && s->share_count > 0 && s->shares[0].site == 0 &&
              s->shares[0].exec_ns > s->length_ns / 2 && s->shares[0].exec_ns < c.share / 2;
    c.n[2] = c.grave ? s->shares[0].exec_ns : 0;
    c.n[3] = c.at_ns = c.grave ? s->start_ns : 0;
    if (bare)
        chroprof__report(q, &c, "No task ran in %T1, so nothing is instrumented yet.", NULL,
                         q->bare ? "" : " Call chroprof_enter and chroprof_leave around callbacks, "
                         "and chroprof_idle_enter and chroprof_idle_leave around the wait.");
    else if (!idles)
        chroprof__report(q, &c, "No idle time is reported: %p01 of the run (%T0) counts as "
                         "uninstrumented. Call chroprof_idle_enter and chroprof_idle_leave around "
                         "the wait of the loop",
                         *c.other ? ", in %n" : NULL,
                         *c.other ? "." : stack ? ", which the samples show."
                                     : ", such as poll. If a library waits in epoll_wait, use "
                                       "CHROPROF_EPOLL_IDLE.");
    else
        chroprof__report(q, &c, *c.other ? "%p01 of the run (%T0) is uninstrumented, mostly "
                                           "in %n"
                                         : "%p01 of the run (%T0) is uninstrumented",
                         c.grave ? ", %T2 of it in the stall at %m3" : NULL,
                         q->bare ? "." : ". Call chroprof_enter and chroprof_leave around the "
                         "callbacks that have no site.");
}

/* How many samples tell of a site's time; 0: not of all of it. In wall mode those that met it, if
 * they weigh as much and its slices are longer than what a sample tells of. Else as many as its
 * time could have had, if none fell out and they reach from begin to end. */
static uint64_t chroprof__sampled(const chroprof__inquiry *q, const chroprof_rank *r)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_sampler_totals s;
    chroprof_sample_row row;
    uint64_t cursor = 0;
    chroprof_read_sampler(q->p, &s);
    (void)chroprof_tables(q->p, tables, CHROPROF_TABLE_COUNT);
    if (tables[CHROPROF_TABLE_PATHS].used > 4 * tables[CHROPROF_TABLE_SAMPLES].capacity)
        return 0;                           /* not all paths have their CPU time */
    if (s.mode == CHROPROF_SAMPLER_WALL)
        return r->samples * s.period_ns >= r->exec_ns / 10 * 9 && r->samples / 4 >= r->slices
                   ? r->samples : 0;
    if (s.samples == 0 || s.dropped > 0 || !chroprof_next_sample(q->p, &cursor, &row))
        return 0;
    uint64_t first_ns = row.at_ns;
    while (chroprof_next_sample(q->p, &cursor, &row)) {}
    if (row.at_ns + row.duration_ns - first_ns < q->totals.elapsed_ns / 10 * 9)
        return 0;
    return r->exec_ns / (s.period_ns ? s.period_ns : q->work / s.samples + 1);
}

/* Did the other tasks get the processor all the time that they held the loop? Not known: too few
 * samples, or neither is clear. */
enum { CHROPROF__OTHERS_UNKNOWN, CHROPROF__OTHERS_KEPT, CHROPROF__OTHERS_LOST };
static int chroprof__others_cpu(const chroprof__inquiry *q, uint32_t site)
{
    chroprof_rank row, all;
    uint64_t cursor = 0;
    memset(&all, 0, sizeof(all));
    while (chroprof_next_rank(q->p, &cursor, &row)) {
        if (row.id == site)
            continue;
        all.exec_ns += row.exec_ns;
        all.cpu_ns += row.cpu_ns;
        all.samples += row.samples;
        all.slices += row.slices;
    }
    if (chroprof__sampled(q, &all) < chroprof__finding_rules[CHROPROF_FINDING_PREEMPTED].count)
        return CHROPROF__OTHERS_UNKNOWN;
    if (all.cpu_ns < all.exec_ns / 2)
        return CHROPROF__OTHERS_LOST;
    return all.cpu_ns >= all.exec_ns / 10 * 9 ? CHROPROF__OTHERS_KEPT : CHROPROF__OTHERS_UNKNOWN;
}

static void chroprof__find_preempted(chroprof__inquiry *q)
{
    static const char cures[][80] = {
        " Look for blocking calls in it, and for other programs on its processor.",
        " Other tasks kept theirs: look for blocking calls in it.",
        " Other tasks lost theirs too: look for other programs on its processor."
    };
    const chroprof_rank *r = q->top;
    chroprof_task_wait wait;
    uint64_t lost_ns = chroprof__minus(r->exec_ns, r->cpu_ns);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_PREEMPTED, r, lost_ns);
    c.whole = c.n[2] = r->exec_ns;
    c.n[3] = r->cpu_ns;
    c.count = r->exec_ns > 0 && r->id != CHROPROF__OTHER ? chroprof__sampled(q, r) : 0;
    if (chroprof__wait_of(q, r->id, &wait) && wait.total_ns > lost_ns / 2) {
        const chroprof__wait_words *words = chroprof__words_of(&wait);
        c.other = wait.call;
        c.n[4] = wait.total_ns;
        c.fact = words->fact;
        chroprof__report(q, &c, wait.estimated ? "%s held the loop for %T2, but used only %T3 of "
                                                 "CPU time: it %f for about %T4."
                                               : "%s held the loop for %T2, but used only %T3 of "
                                                 "CPU time: it %f for %T4.", NULL, words->cure);
        return;
    }
    chroprof__report(q, &c, "%s held the loop for %T2, but used only %T3 of CPU time: it "
                     "waited or was preempted for the rest.", NULL,
                     cures[chroprof__others_cpu(q, r->id)]);
}

/* By who took most of a stall, and how; n[4] is the figure in it. */
static const char *chroprof__stall_cure(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall *s = &q->stall;
    const chroprof_stall_share *most = s->shares;
    bool all = s->kind == CHROPROF_STALL_ITERATION ||      /* the rest is of more sites */
               (s->share_count == CHROPROF_STALL_SHARES && s->events <= q->max_events);
    if (s->share_count == 0 || (most->exec_ns < s->rest_ns && !all))
        return q->bare ? ". No callback explains most of it."
             : s->events > q->max_events
                       ? ". No site explains most of it: raise max_events to know more of the next "
                         "one." : ". No site explains most of it.";
    c->name = most->site ? most->name : c->name;
    c->file = most->site ? most->file : c->file;
    c->line = most->line;
    c->site = most->site;
    const char *waits = chroprof__waiting_cure(q, c);
    if (waits)
        return waits;
    c->n[3] = most->exec_ns;
    c->n[4] = s->shares[1].exec_ns;
    c->other = s->shares[1].site ? s->shares[1].name : "uninstrumented code";
    if (chroprof__is_tie(most->exec_ns, s->shares[1].exec_ns))
        return ": %s took %p30 of it, and %n %p40. Split such work, or move it off the loop.";
    if (s->waiting_ns < s->length_ns / 2)
        c->held = chroprof__held_code(q, c, s->start_ns);
    c->n[4] = most->slices;
    if (most->site == CHROPROF__UNTRACKED)
        return q->bare ? ": %s took %p30 of it."
                       : ": %s took %p30 of it. See the unexpected calls and the full tables.";
    if (most->site == 0 && s->waiting_ns < s->length_ns / 2)
        return q->bare ? ": %s took %p30 of it."
                       : ": %s took %p30 of it. Call chroprof_enter and chroprof_leave around what "
                         "runs there.";
    if (most->slices >= 10 && most->slice_max_ns < s->length_ns / 4)
        return ": %s took %p30 of it in %c4 slices. Let the loop poll between them.";
    c->n[4] = s->waiting_ns;
    if (s->waiting_ns >= s->length_ns / 2)  /* one stall alone: by whom can't be told */
        return chroprof__others_cpu(q, most->site) == CHROPROF__OTHERS_LOST
            ? ": %s took %p30 of it. %T4 of it were off CPU. Other tasks lost CPU time too: look "
              "for other programs on its processor."
            : ": %s took %p30 of it. %T4 of it were off CPU: look for blocking calls, and for "
              "other programs on its processor.";
    return ": %s took %p30 of it%h. Split its work into several slices, or move it off the loop.";
}

static void chroprof__find_stall(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_stall *s = &q->stall;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STALL, NULL, s->length_ns);
    c.grave = s->length_ns >= 100000000;
    c.at_ns = c.n[1] = s->start_ns;
    c.count = c.n[2] = s->length_ns > 0 ? t->stalls : 0;
    const char *cure = chroprof__stall_cure(q, &c);
    bool longest = s->length_ns >= t->iteration_max_ns && s->length_ns >= t->callback_max_ns;
    chroprof__report(q, &c, "The loop was blocked for %T0 at %m1",
                     c.count < 2 ? NULL : longest ? ", the longest of %c2 stalls"
                                                  : ", the longest kept of %c2 stalls", cure);
}

/* Who had most of the blame for delays: the first site in that, or what is none. */
static void chroprof__find_delays(chroprof__inquiry *q)
{
    static const struct { char name[20], cure[92]; } who[] = {
        { "", " Make its slices shorter, or run it less often." },
        { "uninstrumented code",
          " Call chroprof_enter and chroprof_leave around the callbacks that have no site." },
        { "untracked code", " See the unexpected calls and the full tables." },
        { "idle time",
          " Report ready when a task can run, and chroprof_idle_leave right after the wait." }
    };
    const chroprof_totals *t = &q->totals;
    chroprof_rank top[2];
    uint32_t most = 0;
    memset(top, 0, sizeof(top));
    (void)chroprof_ranks(q->p, top, 2, CHROPROF_BY_BLAME);
    const uint64_t blame[] = { top[0].blame_ns, t->uninstrumented_blame_ns, t->untracked_blame_ns,
                               t->idle_blame_ns };
    uint64_t second = top[1].blame_ns;
    for (uint32_t k = 1; k < 4; k++)
        most = blame[k] > blame[most] ? k : most;
    for (uint32_t k = 0; k < 4; k++)
        second = k != most && blame[k] > second ? blame[k] : second;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_DELAYS, most ? NULL : top,
                                         most ? 0 : top[0].exec_ns);
    c.name = most ? who[most].name : c.name;
    c.value_ns = c.part = c.n[1] = blame[most];
    c.whole = c.n[2] = t->blame_ns;
    c.count = chroprof__ppm(t->delay_ns, t->elapsed_ns) / 1000;
    c.n[0] = t->delay_ns;
    if (!chroprof__is_tie(blame[most], second) && c.site != CHROPROF__OTHER)
        chroprof__report(q, &c, "Ready tasks waited %k0 task-seconds; %s caused %p12 of "
                         "it.", NULL, q->bare && most ? "" : who[most].cure);
}

/* Four quarters of the last whole windows in which a site ran, and its exec in each. */
typedef struct chroprof__quarters {
    chroprof_rank site;
    uint32_t each;                 /* windows */
    uint64_t ns[4];
} chroprof__quarters;

/* A rise, not a burst or a wave: from quarter to quarter it is more, but for 5 % of the last, and
 * in that it is in most of the windows. What only began late, such as the load of a server, but for
 * 1 % of its peak, has no quarter before it began. */
static bool chroprof__rises(const chroprof *p, uint32_t whole, chroprof__quarters *s)
{
    chroprof_windows_cursor cursor;
    uint64_t ns[CHROPROF__FINDS_WINDOWS];
    uint32_t count = whole < CHROPROF__FINDS_WINDOWS ? whole : (uint32_t)CHROPROF__FINDS_WINDOWS;
    uint32_t idle = 0, most = 0;
    uint64_t peak = 0;
    bool up = true;
    memset(s->ns, 0, sizeof(s->ns));
    memset(&cursor, 0, sizeof(cursor));
    cursor.next = whole - count;            /* what came before is not looked at */
    (void)chroprof_next_site_windows(p, s->site.id, &cursor, ns, count);
    for (uint32_t k = 0; k < count; k++)
        peak = ns[k] > peak ? ns[k] : peak;
    while (idle < count && ns[idle] <= peak / 100)
        idle++;
    s->each = (count - idle) / 4;
    for (uint32_t k = 0; k < 4 * s->each; k++)
        s->ns[k / s->each] += ns[count - 4 * s->each + k];
    for (uint32_t k = count - s->each; k < count; k++)
        most += ns[k] > s->ns[3] / s->each / 2;
    for (uint32_t k = 1; k < 4; k++)
        up = up && s->ns[k - 1] <= s->ns[k] + s->ns[3] / 20;
    return up && most >= s->each - s->each / 4;
}

/* The windows of a merged profile, which has no steps, are those of several in a row. */
static void chroprof__find_rise(chroprof__inquiry *q)
{
    chroprof__quarters s, steepest;
    chroprof_window w;
    uint64_t cursor = CHROPROF__FIRST_SITE, at_ns[5];
    uint32_t whole = (uint32_t)chroprof_windows(q->p, NULL, 0) - 1;
    memset(&steepest, 0, sizeof steepest);
    if (chroprof_timeline(q->p, 0, UINT64_MAX, NULL, 0) == 0)
        return;
    while (chroprof_next_rank(q->p, &cursor, &s.site))
        if (chroprof__rises(q->p, whole, &s) && s.ns[3] > steepest.ns[3] &&
            s.site.slice_max_ns <= s.ns[3] / 2)     /* one long slice is no trend */
            steepest = s;
    if (steepest.ns[3] == 0)
        return;
    for (uint32_t k = 0; k < 5; k++) {
        chroprof_windows_cursor at;
        memset(&at, 0, sizeof(at));
        at.next = whole - (4 - k) * steepest.each;
        (void)chroprof_next_windows(q->p, &at, &w, 1);
        at_ns[k] = w.start_ns;
    }
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_RISING, &steepest.site,
                                         steepest.ns[3]);
    c.share_of = c.n[1] = at_ns[4] - at_ns[3];
    c.n[2] = steepest.ns[0];
    c.n[3] = at_ns[1] - at_ns[0];
    c.n[4] = at_ns[0];
    c.at_ns = at_ns[3];
    c.count = steepest.each;
    c.whole = chroprof__ppm(c.n[0], c.n[1]);
    c.part = chroprof__minus(c.whole, chroprof__ppm(c.n[2], c.n[3]));
    chroprof__report(q, &c, "%s rises from %p23 (the %T3 after %m4) to %p01 (the last %T1).", NULL,
                     " Look for what grows while it runs, such as a list or a queue.");
}

/* With an event in less than 400 ns of work, the 20 to 60 ns that one takes are a tenth. */
static void chroprof__find_cost(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_sampler_totals s;
    chroprof_rank r;
    chroprof_read_sampler(q->p, &s);
    if (t->events < 100000 || q->work / t->events >= 400 || q->work < t->elapsed_ns / 5 ||
        chroprof_ranks(q->p, &r, 1, CHROPROF_BY_CALLS) == 0) {
        chroprof__case sampler = chroprof__case_of(q, CHROPROF_FINDING_COST, NULL, s.cost_ns);
        chroprof__report(q, &sampler, "The sampler took %p01 of the run (%T0), which disturbs what "
                         "it measures.", NULL,
                         q->bare ? "" : " Raise its period_ns, or lower its budget_ppm.");
        return;
    }
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_COST, &r, q->work);
    c.n[1] = t->events;
    c.n[2] = r.calls;
    chroprof__report(q, &c, "%c1 events in %T0 of work: at 20 to 60 ns each, profiling is a "
                     "visible part of it.",
                     NULL, q->bare ? " %s has most calls, %c2."
                                   : " Leave out the smallest tasks; %s has most calls, %c2.");
}

/* The full table that hides most. From the histograms on, no time stands elsewhere. */
static void chroprof__find_full(chroprof__inquiry *q)
{
    static const uint8_t order[] = { CHROPROF_TABLE_SITES, CHROPROF_TABLE_PATHS,
        CHROPROF_TABLE_DEPTH, CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_HISTOGRAMS, CHROPROF_TABLE_STRINGS, CHROPROF_TABLE_STACKS };
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FULL, NULL, 0);
    size_t k = 0;
    (void)chroprof_tables(q->p, tables, CHROPROF_TABLE_COUNT);
    while (k < sizeof(order) && (tables[order[k]].dropped == 0 || tables[order[k]].advice == 0))
        k++;
    if (k == sizeof(order))
        return;
    const chroprof_table *full = tables + order[k];
    q->lost = tables[CHROPROF_TABLE_FUTURES].dropped > 0;
    c.grave = k < 5;
    c.name = full->option;
    c.count = c.n[0] = full->dropped;
    c.n[1] = full->capacity;
    c.n[2] = full->advice;
    chroprof__report(q, &c, "%o is too small at %d1: %c0 times something did not fit, ",
                     c.grave ? "so time stands under other names." : "so detail is missing.",
                     q->bare ? " chroprof run has no option for that." : " Set it to %d2.");
}

/* What helps against most anomalies of a kind: in the order of the kinds, each up to its last. */
static const char *chroprof__anomaly_cure(chroprof_anomaly_kind kind)
{
    static const struct { uint8_t last; char text[88]; } cures[] = {
        { CHROPROF_ANOMALY_ADOPTED,
          "Report chroprof_pending first, and nothing after its finish." },
        { CHROPROF_ANOMALY_UNWOUND_BY_IDLE,
          "Pair running with paused, enter with leave, on early returns too." },
        { CHROPROF_ANOMALY_BARRIER_CROSSED,
          "Pair each chroprof_loop_enter with a chroprof_loop_leave." },
        { CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER,
          "Pair each enter with one leave, and finish futures by chroprof_completed." },
        { CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER,
          "Pair each chroprof_loop_enter with a chroprof_loop_leave." },
        { CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER,
          "Call chroprof_idle_enter before each wait, and no other event until it is over." },
        { CHROPROF_ANOMALY_LONG_STEP, "Check the clock, or raise max_step_ns." },
        { CHROPROF_ANOMALY_BAD_STATE, "Check the arguments of that event." },
        { CHROPROF_ANOMALY_EVENT_IN_HOOK, "Only read in on_stall." },
        { CHROPROF_ANOMALY_THREAD, "Send all events from the thread that runs the loop." }
    };
    size_t k = 0;
    while (cures[k].last < (unsigned)kind)
        k++;
    return cures[k].text;
}

static void chroprof__find_disorder(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_anomaly most, row;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_ORDER, NULL, t->untracked_ns);
    (void)chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)0, &most);
    for (int k = 1; chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)k, &row); k++)
        most = row.count > most.count ? row : most;
    bool threads = chroprof_read_anomaly(q->p, CHROPROF_ANOMALY_THREAD, &row) && row.count > 0;
    most = threads ? row : most;
    bool untracked = t->untracked_ns > t->elapsed_ns / 10;
    c.grave = threads || untracked;
    c.part = c.count = c.n[2] = most.count;
    c.whole = t->events;
    if (threads) {                          /* a few of many are seen, and spoil all figures */
        c.whole = c.part;
        c.count += chroprof__finding_rules[CHROPROF_FINDING_ORDER].count;
    }
    c.name = most.text;
    c.n[3] = most.last.id;
    c.other = most.last.name;
    bool task = most.last.path != 0 || most.last.top > 2;
    const char *where = task ? (c.n[3] ? "Last with id %d3, in %n. " : "Last in %n. ")
                             : c.n[3] ? "Last with id %d3. " : NULL;
    if (!q->lost || most.kind > CHROPROF_ANOMALY_UNKNOWN_FINISH)
        chroprof__report(q, &c, threads ? "At least %c2 times: %o. "
                                : untracked ? "%c2 times: %o; %p01 of the run is untracked. "
                                            : "%c2 times: %o. ",
                         most.placed ? where : NULL,
                         q->bare ? "" : chroprof__anomaly_cure(most.kind));
}

/* The site that runs in most iterations, by its slices; a name that only says which wait came
 * before is none. */
static bool chroprof__in_most(const chroprof__inquiry *q, chroprof_rank *out)
{
    chroprof_rank row;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(out, 0, sizeof(*out));
    while (chroprof_next_rank(q->p, &cursor, &row))
        if (row.slices > out->slices && !chroprof__is_after_wait(row.name))
            *out = row;
    return out->slices > q->totals.iterations / 2 && out->id != CHROPROF__OTHER;
}

/* Waits that return at once, and so little between them that the loop has no work. Who says what
 * keeps it awake has looked at the processor's time as well; else they must be shorter than one
 * that sleeps can be, and leave no time to read and to answer. */
static void chroprof__find_spin(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const char *awake = chroprof_awake_by(q->p);
    uint64_t mean_ns = t->at_once ? t->at_once_ns / t->at_once : 0;
    uint64_t most_ns = *awake ? 10000 : 1500, work_ns = *awake ? mean_ns + 10000 : 500;
    chroprof_rank site;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SPINS, NULL, t->at_once_ns);
    bool named = chroprof__in_most(q, &site);
    if (t->iterations == 0 || t->iteration_p50_ns == 0 || mean_ns > most_ns ||
        t->iteration_p50_ns > mean_ns + work_ns || t->elapsed_ns < 1000000)
        return;
    c.part = c.n[0] = t->at_once < t->iterations ? t->at_once : t->iterations;
    c.whole = c.n[1] = t->iterations;
    c.count = c.n[2] = t->at_once * 1000 / (t->elapsed_ns / 1000000);
    c.other = awake;
    if (named) {
        c.name = site.name;
        c.file = site.file;
        c.line = site.line;
        c.site = site.id;
    }
    chroprof__report(q, &c, named ? "The loop spins: %p01 of its waits return at once, %c2 a "
                                    "second, and %s runs in most of them."
                                  : "The loop spins: %p01 of its waits return at once, %c2 a "
                                    "second.",
                     *awake ? " Kept awake by %w" : NULL,
                     *awake ? "." : " Look for what is always ready, or a timeout of 0.");
}

static void chroprof__find_too_early(chroprof__inquiry *q)
{
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, NULL, 0);
    c.n[2] = q->totals.events;
    chroprof__report(q, &c, "It is too early to say: the profile covers %T1 and has ", NULL,
                     c.n[2] == 1 ? "one event." : "%c2 events.");
}

/* Nothing makes the loop slow: the list has at most what lacks detail. */
static void chroprof__find_nothing(chroprof__inquiry *q)
{
    const chroprof_rank *r = q->top;
    const chroprof_totals *t = &q->totals;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, r->exec_ns ? r : NULL, 0);
    c.site = 0;
    c.n[0] = t->asleep_ns;
    c.n[2] = r->exec_ns;
    c.n[3] = r[1].exec_ns;
    c.n[4] = t->exit_ns;
    if (q->count > 0 && q->keys[0] >> 32 > chroprof__finding_rules[CHROPROF_FINDING_FINE].place)
        return;
    if (t->elapsed_ns < 1000000000 && t->iterations == 0 && t->idle_ns == 0) {
        chroprof__find_too_early(q);
        return;
    }
    if (t->exit_ns >= 100000000) {
        chroprof__report(q, &c, "Nothing stands out in %T1, but after the last wait of the loop "
                         "the program ran for %T4 more.", NULL, "");
        return;
    }
    chroprof__report(q, &c, c.n[0] < t->elapsed_ns / 5
                         ? "No task stands out in %T1, but the loop was idle for only %p01 of it"
                         : "Nothing stands out in %T1: the loop was idle for %p01 of it",
                     r->exec_ns ? ", and %s took the most of all tasks, %p21" : NULL,
                     r[1].exec_ns && chroprof__is_tie(r->exec_ns, r[1].exec_ns)
                         ? "; the next took %p31." : ".");
}

/* Under chroprof run the code between waits has names of its own. */
static bool chroprof__is_bare(const chroprof *p)
{
    uint64_t cursor = CHROPROF__FIRST_SITE;
    chroprof_rank r;
    while (chroprof_next_rank(p, &cursor, &r))
        if (*r.file == 0 && chroprof__is_after_wait(r.name))
            return true;
    return false;
}

/* What several kinds look at. */
static void chroprof__begin_inquiry(chroprof__inquiry *q, const chroprof *p)
{
    chroprof_stall stall;
    chroprof_options options;
    uint64_t cursor = 0;
    memset(q, 0, sizeof(*q));
    q->p = p;
    chroprof_read_totals(p, &q->totals);
    q->work = q->totals.busy_ns + q->totals.uninstrumented_ns;
    q->bare = chroprof__is_bare(p);
    chroprof_read_options(p, &options);
    q->stall_ns = options.stall_ns;
    q->max_events = options.max_events;
    q->top[0].name = q->top[0].file = "";
    (void)chroprof_ranks(p, q->top, 2, CHROPROF_BY_EXEC);
    while (chroprof_next_stall(p, &cursor, &stall))
        q->stall = stall.length_ns > q->stall.length_ns ? stall : q->stall;
}

CHROPROF__COLD_API size_t chroprof_findings(const chroprof *p, chroprof_finding *out,
                                            size_t capacity)
{
    chroprof__inquiry q;
    if (!chroprof__can_read(p))
        return 0;
    chroprof__begin_inquiry(&q, p);
    q.out = out;
    q.capacity = out ? capacity : 0;
    if (q.totals.elapsed_ns / 1000000 < CHROPROF__FINDS_EARLY_MS) {
        chroprof__find_too_early(&q);
        return q.count;
    }
    chroprof__find_hang(&q);
    chroprof__find_spin(&q);
    chroprof__find_loop(&q);
    chroprof__find_stall(&q);
    chroprof__find_occupant(&q);
    chroprof__find_stutters(&q);
    chroprof__find_preempted(&q);
    chroprof__find_rise(&q);
    chroprof__find_delays(&q);
    chroprof__find_leak(&q);
    chroprof__find_queue(&q);
    chroprof__find_cost(&q);
    chroprof__find_full(&q);
    chroprof__find_disorder(&q);
    chroprof__find_nothing(&q);
    chroprof__find_saturation(&q);
    return q.count;
}
