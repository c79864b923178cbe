/* writers/findings.h: one function a kind of finding */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../writers/words.h"
#include "../writers/phrases.h"
#include "../writers/findings_futures.h"
#include "../writers/findings_waits.h"
#include "../writers/findings_stutters.h"
#include "../writers/findings_stalls.h"

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

/* What it waits in for most of that. False: that is not known. */
static bool chroprof__tell_hang_wait(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_task_wait wait;
    if (c->site == 0 || !chroprof__wait_of(q, c->site, &wait) || !wait.estimated ||
        wait.longest_ns < c->value_ns / 2)
        return false;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    const uint64_t ns[] = { wait.longest_ns < c->value_ns ? wait.longest_ns : c->value_ns };
    if (!chroprof__is_call(words) && strcmp(wait.call, "stopped") != 0)
        return false;                       /* its samples show the code that would run */
    chroprof__tell(c, " For about %T of it, it ", ns);
    chroprof__tell_wait(c, &wait);
    chroprof__tell(c, ".", NULL);
    chroprof__tell_cure(c, words->cure);
    return true;
}

/* What is known of the code since then: CPU time, and the mode that it was sampled in. */
static void chroprof__tell_hang(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_sampler_totals s;
    chroprof_sample_row row;
    uint64_t cursor = 0, cpu_ns = 0;
    if (chroprof__tell_hang_wait(q, c))
        return;
    chroprof_read_sampler(q->p, &s);
    while (chroprof_next_sample(q->p, &cursor, &row))
        cpu_ns += row.at_ns >= c->at_ns ? row.cpu_ns : 0;
    chroprof__lower(&cpu_ns, c->value_ns);
    bool runs = cpu_ns >= 100000000 || cpu_ns > c->value_ns / 8;
    chroprof__tell(c, s.samples == 0 ? " A debugger shows the line, and samples do."
                      : runs ? " It used %T of CPU time: its samples show the line."
                      : s.mode == CHROPROF_SAMPLER_WALL
                          ? " It used %T of CPU time: its samples show where it waits."
                          : " It used %T of CPU time: a debugger, or samples in wall mode, show "
                            "where it is.", &cpu_ns);
}

/* About the task on top, which hangs. */
static void chroprof__case_in_task(chroprof__inquiry *q, chroprof__case *c, uint32_t id)
{
    chroprof_path path;
    c->name = chroprof_read_path(q->p, id, &path) ? path.name : "a task of unknown id";
    c->file = path.file;
    c->line = path.line;
    c->site = q->hung = path.site;
}

/* A task that the last event left running, of a program that is gone and did not close its file. It
 * hung for sure if samples tell of a second; else what is known of the loop comes first. */
static bool chroprof__find_broken_off(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_frame frame;
    chroprof_origin origin;
    uint64_t since_ns;
    if (t->idle || !t->enabled || q->bare || chroprof_frames(q->p, &frame, 1) != t->depth ||
        t->depth == 0 || frame.barrier || !chroprof__quiet_since(q, &since_ns))
        return false;
    chroprof_read_origin(q->p, &origin);    /* it asks the system */
    if (!origin.mapped || origin.ended || origin.alive)
        return false;
    const uint64_t ns[] = { chroprof__minus(t->elapsed_ns, since_ns) };
    bool hung = ns[0] >= 1000000000;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_HANGS,
                                         hung ? CHROPROF__PLACE_HANGS : CHROPROF__PLACE_BROKEN_OFF,
                                         NULL, ns[0]);
    c.at_ns = since_ns;
    chroprof__case_in_task(q, &c, frame.path);
    q->hung = hung ? q->hung : 0;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " was running when the profile broke off: its last event was at %m, and "
                       "the program is gone without closing it, as if killed.", &since_ns);
    chroprof__tell(&c, ns[0] ? " It went on for at least %T."
                             : " How long it went on is not known.", ns);
    chroprof__report(q, &c);
    return true;
}

/* In a task, or below all of them, since then. */
static void chroprof__find_hang(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_frame frame;
    uint64_t since_ns;
    size_t depth = chroprof_frames(q->p, &frame, 1);
    bool in_task = depth > 0 && depth == t->depth && !frame.barrier;
    if (t->idle || !t->enabled || (depth == 0 && t->exit_ns > 0) ||
        (depth == 0 && t->iterations == 0 && !t->in_iteration) ||
        !chroprof__quiet_since(q, &since_ns))
        return;
    uint64_t ns = chroprof__minus(t->elapsed_ns, since_ns);
    /* What is shorter than a second will be a stall. A callback that ended and took half as long
     * tells that this one may end as well. */
    if (ns < 1000000000 || ns / 2 < t->callback_max_ns)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_HANGS, CHROPROF__PLACE_HANGS, NULL,
                                         ns);
    const uint64_t figures[] = { ns, since_ns };
    c.at_ns = since_ns;
    if (in_task) {
        chroprof__case_in_task(q, &c, frame.path);
        (void)chroprof__name_case(q, &c, since_ns, 900000);
    }
    chroprof__tell(&c, since_ns ? "The loop has been inside " : "The loop was inside ", NULL);
    chroprof__tell_site(&c);
    chroprof__tell(&c, since_ns ? " for %T, since %m, and is not back."
                                : " all these %T, and is not back.", figures);
    chroprof__tell_hang(q, &c);
    chroprof__report(q, &c);
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

/* Where nobody said that the loop waits, it may be waiting all the time. Below 20 % the loop may be
 * too busy to wait; half a second may be the program's start. No wait has samples of CPU time. */
static void chroprof__find_no_idle(chroprof__inquiry *q, uint64_t ns)
{
    chroprof_sampler_totals sampler;
    chroprof_read_sampler(q->p, &sampler);
    bool sees = sampler.mode == CHROPROF_SAMPLER_WALL;
    uint32_t stack = sees ? chroprof__loop_stack(q->p) : 0;
    const char *function = chroprof__sampled_function(q->p, stack, false);
    const uint64_t figures[] = { ns, q->totals.elapsed_ns, ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_NO_IDLE, CHROPROF__PLACE_NO_IDLE,
                                         NULL, ns);
    if (!chroprof__is_part(ns, q->totals.elapsed_ns, 200000) || ns < 500000000)
        return;
    chroprof__tell(&c, "No idle time is reported: %p of the run (%T) counts as uninstrumented. "
                       "Call chroprof_idle_enter and chroprof_idle_leave around the wait of the "
                       "loop", figures);
    chroprof__tell(&c, *function ? ", in " : "", NULL);
    chroprof__tell_name(&c, function, CHROPROF__FINDS_FILE);
    chroprof__tell(&c, *function ? "." : stack ? ", which the samples show."
                       : ", such as poll. If a library waits in epoll_wait, use "
                         "CHROPROF_EPOLL_IDLE.", NULL);
    chroprof__report(q, &c);
}

static void chroprof__tell_uninstrumented(const chroprof__inquiry *q, chroprof__case *c)
{
    const uint64_t figures[] = { c->share, c->share_of, c->share };
    const char *function = chroprof__sampled_function(q->p, chroprof__loop_stack(q->p), true);
    chroprof__tell(c, "%p of the run (%T) is uninstrumented", figures);
    chroprof__tell(c, *function ? ", mostly in " : "", NULL);
    chroprof__tell_name(c, function, CHROPROF__FINDS_FILE);
    if (c->place == (uint32_t)CHROPROF__PLACE_UNINSTRUMENTED_GRAVE) {
        const uint64_t stall[] = { q->stall.shares[0].exec_ns, q->stall.start_ns };
        c->at_ns = q->stall.start_ns;
        chroprof__tell(c, ", %T of it in the stall at %m", stall);
    }
    chroprof__tell(c, q->bare ? "." : ". Call chroprof_enter and chroprof_leave around the "
                                      "callbacks that have no site.", NULL);
}

/* As a site, but from 10 % on, as it hides what else there is. */
static void chroprof__find_uninstrumented(chroprof__inquiry *q, uint64_t ns, bool idles)
{
    const chroprof_stall *s = &q->stall;
    bool grave = idles && s->share_count > 0 && s->shares[0].site == 0 &&
                 s->shares[0].exec_ns > s->length_ns / 2 && s->shares[0].exec_ns < ns / 2;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_UNINSTRUMENTED,
                                         grave ? CHROPROF__PLACE_UNINSTRUMENTED_GRAVE
                                               : CHROPROF__PLACE_UNINSTRUMENTED, NULL, ns);
    if (!chroprof__is_part(ns, q->totals.elapsed_ns, 100000) ||
        !chroprof__is_part(ns, q->work, 250000))
        return;
    if (idles) {
        chroprof__tell_uninstrumented(q, &c);
    } else {
        chroprof__tell(&c, "No task ran in %T, so nothing is instrumented yet.", &c.share_of);
        chroprof__tell(&c, q->bare ? "" : " Call chroprof_enter and chroprof_leave around "
                                          "callbacks, and chroprof_idle_enter and "
                                          "chroprof_idle_leave around the wait.", NULL);
    }
    chroprof__report(q, &c);
}

static void chroprof__find_loop(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    bool idles = t->idle || t->idle_ns > 0 || t->iterations > 0 || t->in_iteration;
    uint64_t ns = t->uninstrumented_ns - t->start_ns - t->exit_ns;
    if (idles || t->busy_ns == 0)
        chroprof__find_uninstrumented(q, ns, idles);
    else
        chroprof__find_no_idle(q, ns);
}

/* Who had most of the blame for delays: the first site in that, or what is none. It must have
 * caused a quarter of them, and a tenth of a task must have waited on average: with fewer the loop
 * is nowhere near full. */
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
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_DELAYS, CHROPROF__PLACE_DELAYS,
                                         most ? NULL : top, most ? 0 : top[0].exec_ns);
    const uint64_t figures[] = { blame[most], t->blame_ns };
    c.name = most ? who[most].name : c.name;
    c.value_ns = blame[most];
    if (!chroprof__is_part(blame[most], t->blame_ns, 250000) ||
        !chroprof__is_part(t->delay_ns, t->elapsed_ns, 100000) ||
        chroprof__is_tie(blame[most], second) || c.site == CHROPROF__OTHER)
        return;
    chroprof__tell(&c, "Ready tasks waited %k task-seconds; ", &t->delay_ns);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " caused %p of it.", figures);
    chroprof__tell(&c, q->bare && most ? "" : who[most].cure, NULL);
    chroprof__report(q, &c);
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

/* Below 20 % of the last quarter it is no load. In the first quarter it had at most half as much.
 * Of fewer than 4 windows it is a burst. */
static void chroprof__tell_rise(chroprof__inquiry *q, const chroprof__quarters *s,
                                const uint64_t *at_ns)
{
    const uint64_t first_ns = at_ns[1] - at_ns[0], last_ns = at_ns[4] - at_ns[3];
    const uint64_t figures[] = { s->ns[0], first_ns, first_ns, at_ns[0], s->ns[3], last_ns,
                                 last_ns };
    uint32_t ppm = chroprof__ppm(s->ns[3], last_ns), before = chroprof__ppm(s->ns[0], first_ns);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_RISING, CHROPROF__PLACE_RISING,
                                         &s->site, s->ns[3]);
    c.share_of = last_ns;
    c.at_ns = at_ns[3];
    if (ppm < 200000 || !chroprof__is_part(chroprof__minus(ppm, before), ppm, 500000) ||
        s->each < 4)
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " rises from %p (the %T after %m) to %p (the last %T). Look for what grows "
                       "while it runs, such as a list or a queue.", figures);
    chroprof__report(q, &c);
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
    chroprof__tell_rise(q, &steepest, at_ns);
}

/* From 2 % on it disturbs what is measured. */
static void chroprof__find_sampler_cost(chroprof__inquiry *q)
{
    const uint64_t elapsed_ns = q->totals.elapsed_ns;
    chroprof_sampler_totals s;
    chroprof_read_sampler(q->p, &s);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_COST, CHROPROF__PLACE_COST, NULL,
                                         s.cost_ns);
    const uint64_t figures[] = { s.cost_ns, elapsed_ns, s.cost_ns };
    if (!chroprof__is_part(s.cost_ns, elapsed_ns, 20000) || s.cost_ns < 1000000)
        return;
    chroprof__tell(&c, "The sampler took %p of the run (%T), which disturbs what it measures.",
                   figures);
    chroprof__tell(&c, q->bare ? "" : " Raise its period_ns, or lower its budget_ppm.", NULL);
    chroprof__report(q, &c);
}

/* With an event in less than 400 ns of work, the 20 to 60 ns that one takes are a tenth. */
static void chroprof__find_cost(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_rank r;
    if (t->events < 100000 || q->work / t->events >= 400 || q->work < t->elapsed_ns / 5 ||
        chroprof_ranks(q->p, &r, 1, CHROPROF_BY_CALLS) == 0) {
        chroprof__find_sampler_cost(q);
        return;
    }
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_COST, CHROPROF__PLACE_COST, &r,
                                         q->work);
    const uint64_t figures[] = { t->events, q->work };
    if (q->work < 1000000)
        return;
    chroprof__tell(&c, "%c events in %T of work: at 20 to 60 ns each, profiling is a visible part "
                       "of it.", figures);
    chroprof__tell(&c, q->bare ? " " : " Leave out the smallest tasks; ", NULL);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " has most calls, %c.", &r.calls);
    chroprof__report(q, &c);
}

/* The full table that hides most. From the histograms on, no time stands elsewhere. */
static void chroprof__find_full(chroprof__inquiry *q)
{
    static const uint8_t order[] = { CHROPROF_TABLE_SITES, CHROPROF_TABLE_PATHS,
        CHROPROF_TABLE_DEPTH, CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_HISTOGRAMS, CHROPROF_TABLE_STRINGS, CHROPROF_TABLE_STACKS };
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    size_t k = 0;
    (void)chroprof_tables(q->p, tables, CHROPROF_TABLE_COUNT);
    while (k < sizeof(order) && (tables[order[k]].dropped == 0 || tables[order[k]].advice == 0))
        k++;
    if (k == sizeof(order))
        return;
    const chroprof_table *full = tables + order[k];
    const uint64_t figures[] = { full->capacity, full->dropped };
    bool grave = k < 5;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FULL,
                                         grave ? CHROPROF__PLACE_FULL_GRAVE : CHROPROF__PLACE_FULL,
                                         NULL, 0);
    q->lost = tables[CHROPROF_TABLE_FUTURES].dropped > 0;
    chroprof__tell(&c, full->option, NULL);
    chroprof__tell(&c, " is too small at %d: %c times something did not fit, ", figures);
    chroprof__tell(&c, grave ? "so time stands under other names." : "so detail is missing.", NULL);
    chroprof__tell(&c, q->leaks && order[k] == CHROPROF_TABLE_FUTURES ? " See what leaks first."
                       : q->bare ? " chroprof run has no option for that." : " Set it to %d.",
                   &full->advice);
    chroprof__report(q, &c);
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

/* Where the last one was met, in a blank-ended sentence. */
static void chroprof__tell_place(chroprof__case *c, const chroprof_anomaly *most)
{
    const chroprof_anomaly_place *last = &most->last;
    bool task = last->path != 0 || last->top > 2;
    if (!most->placed || (!task && last->id == 0))
        return;
    chroprof__tell(c, last->id != 0 ? "Last with id %d" : "Last", &last->id);
    if (task) {
        chroprof__tell(c, last->id != 0 ? ", in " : " in ", NULL);
        chroprof__tell_name(c, last->name, CHROPROF__FINDS_FILE);
    }
    chroprof__tell(c, ". ", NULL);
}

/* A few come with attaching to a program under way; 0.1 % of the events do not. Grave where much
 * time is untracked for it. Events of other threads: a few of many are seen, and spoil all
 * figures. */
static void chroprof__find_disorder(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_anomaly most, row;
    (void)chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)0, &most);
    for (int k = 1; chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)k, &row); k++)
        most = row.count > most.count ? row : most;
    bool threads = chroprof_read_anomaly(q->p, CHROPROF_ANOMALY_THREAD, &row) && row.count > 0;
    most = threads ? row : most;
    bool untracked = t->untracked_ns > t->elapsed_ns / 10;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_ORDER,
                                         threads || untracked ? CHROPROF__PLACE_ORDER_GRAVE
                                                              : CHROPROF__PLACE_ORDER,
                                         NULL, t->untracked_ns);
    const uint64_t share[] = { t->untracked_ns, t->elapsed_ns };
    if ((!threads && (most.count < 10 || !chroprof__is_part(most.count, t->events, 1000))) ||
        (q->lost && most.kind <= CHROPROF_ANOMALY_UNKNOWN_FINISH))
        return;
    chroprof__tell(&c, threads ? "At least %c times: " : "%c times: ", &most.count);
    chroprof__say_text(&c.said, most.text);
    chroprof__tell(&c, !threads && untracked ? "; %p of the run is untracked. " : ". ", share);
    chroprof__tell_place(&c, &most);
    chroprof__tell(&c, q->bare ? "" : chroprof__anomaly_cure(most.kind), NULL);
    chroprof__report(q, &c);
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

static void chroprof__tell_spin(chroprof__inquiry *q, const char *awake, const uint64_t *figures)
{
    chroprof_rank site;
    bool named = chroprof__in_most(q, &site);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SPINS, CHROPROF__PLACE_SPINS,
                                         named ? &site : NULL, q->totals.at_once_ns);
    chroprof__tell(&c, "The loop spins: %p of its waits return at once, %c a second", figures);
    if (named) {
        chroprof__tell(&c, ", and ", NULL);
        chroprof__tell_site(&c);
        chroprof__tell(&c, " runs in most of them", NULL);
    }
    chroprof__tell(&c, *awake ? ". Kept awake by "
                              : ". Look for what is always ready, or a timeout of 0", NULL);
    chroprof__tell_name(&c, awake, CHROPROF__FINDS_CAUSE);
    chroprof__tell(&c, ".", NULL);
    chroprof__report(q, &c);
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
    uint64_t few = t->at_once < t->iterations ? t->at_once : t->iterations;
    if (t->iterations == 0 || t->iteration_p50_ns == 0 || mean_ns > most_ns ||
        t->iteration_p50_ns > mean_ns + work_ns || t->elapsed_ns < 1000000)
        return;
    const uint64_t figures[] = { few, t->iterations,
                                 t->at_once * 1000 / (t->elapsed_ns / 1000000) };
    /* 5,000 waits a second, of all those nine in ten. */
    if (figures[2] >= 5000 && chroprof__is_part(few, t->iterations, 900000))
        chroprof__tell_spin(q, awake, figures);
}

/* A profile that is too short to tell more: it is mostly the program's start. */
static void chroprof__find_too_early(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, CHROPROF__PLACE_FINE, NULL, 0);
    chroprof__tell(&c, "It is too early to say: the profile covers %T and has ", &t->elapsed_ns);
    chroprof__tell(&c, t->events == 1 ? "one event." : "%c events.", &t->events);
    chroprof__report(q, &c);
}

/* How much room the loop has, and who takes most of the rest. */
static void chroprof__tell_nothing(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_rank *r = q->top;
    const chroprof_totals *t = &q->totals;
    const uint64_t figures[] = { t->elapsed_ns, t->asleep_ns, t->elapsed_ns };
    const uint64_t first[] = { r->exec_ns, t->elapsed_ns };
    const uint64_t second[] = { r[1].exec_ns, t->elapsed_ns };
    bool next = r[1].exec_ns && chroprof__is_tie(r->exec_ns, r[1].exec_ns);
    chroprof__tell(c, t->asleep_ns < t->elapsed_ns / 5
                          ? "No task stands out in %T, but the loop was idle for only %p of it"
                          : "Nothing stands out in %T: the loop was idle for %p of it", figures);
    if (r->exec_ns) {
        chroprof__tell(c, ", and ", NULL);
        chroprof__tell_site(c);
        chroprof__tell(c, " took the most of all tasks, %p", first);
    }
    chroprof__tell(c, next ? "; the next took %p." : ".", second);
}

/* Nothing makes the loop slow: the list has at most what lacks detail. */
static void chroprof__find_nothing(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const uint64_t figures[] = { t->elapsed_ns, t->exit_ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, CHROPROF__PLACE_FINE,
                                         q->top->exec_ns ? q->top : NULL, 0);
    c.site = 0;
    if (q->count > 0 && q->keys[0] >> 32 > CHROPROF__PLACE_FINE)
        return;
    if (t->elapsed_ns < 1000000000 && t->iterations == 0 && t->idle_ns == 0) {
        chroprof__find_too_early(q);
        return;
    }
    if (t->exit_ns >= 100000000)
        chroprof__tell(&c, "Nothing stands out in %T, but after the last wait of the loop the "
                           "program ran for %T more.", figures);
    else
        chroprof__tell_nothing(q, &c);
    chroprof__report(q, &c);
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
    q->top[0].name = q->top[0].file = q->no_text;
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
    bool broken_off = chroprof__find_broken_off(&q);
    if (q.totals.elapsed_ns / 1000000 < CHROPROF__FINDS_EARLY_MS) {
        if (!broken_off)
            chroprof__find_too_early(&q);
        return q.count;
    }
    if (!broken_off)
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
