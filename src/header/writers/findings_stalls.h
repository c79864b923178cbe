/* writers/findings_stalls.h: stalls, and what was off its processor */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../writers/phrases.h"
#include "../writers/findings_waits.h"
#include "../writers/findings_stutters.h"

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

/* From so many samples on half of a time is known within 15 points. */
enum { CHROPROF__ENOUGH_SAMPLES = 50 };

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
    if (chroprof__sampled(q, &all) < CHROPROF__ENOUGH_SAMPLES)
        return CHROPROF__OTHERS_UNKNOWN;
    if (all.cpu_ns < all.exec_ns / 2)
        return CHROPROF__OTHERS_LOST;
    return all.cpu_ns >= all.exec_ns / 10 * 9 ? CHROPROF__OTHERS_KEPT : CHROPROF__OTHERS_UNKNOWN;
}

/* From outside, what no sample met is a task as well, and nobody knows its CPU time. */
static bool chroprof__is_unseen(const chroprof__inquiry *q, const chroprof_rank *r)
{
    return q->totals.estimated && r->samples < CHROPROF__ENOUGH_SAMPLES;
}

/* Half of its time without CPU time, and that is 5 % of the run. */
static void chroprof__find_preempted(chroprof__inquiry *q)
{
    static const char cures[][80] = {
        " Look for blocking calls in it, and for other programs on its processor.",
        " Other tasks kept theirs: look for blocking calls in it.",
        " Other tasks lost theirs too: look for other programs on its processor."
    };
    const chroprof_rank *r = q->top;
    const uint64_t figures[] = { r->exec_ns, r->cpu_ns };
    chroprof_task_wait wait;
    uint64_t lost_ns = chroprof__minus(r->exec_ns, r->cpu_ns);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_PREEMPTED, CHROPROF__PLACE_PREEMPTED,
                                         r, lost_ns);
    if (r->exec_ns == 0 || r->id == CHROPROF__OTHER ||
        !chroprof__is_part(lost_ns, q->totals.elapsed_ns, 50000) ||
        !chroprof__is_part(lost_ns, r->exec_ns, 500000) ||
        chroprof__sampled(q, r) < CHROPROF__ENOUGH_SAMPLES || chroprof__is_unseen(q, r))
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " held the loop for %T, but used only %T of CPU time: it ", figures);
    if (chroprof__wait_of(q, r->id, &wait) && wait.total_ns > lost_ns / 2) {
        chroprof__tell_wait(&c, &wait);
        chroprof__tell(&c, wait.estimated ? " for about %T." : " for %T.", &wait.total_ns);
        chroprof__tell_cure(&c, chroprof__words_of(&wait)->cure);
    } else {
        chroprof__tell(&c, "waited or was preempted for the rest.", NULL);
        chroprof__tell(&c, cures[chroprof__others_cpu(q, r->id)], NULL);
    }
    chroprof__report(q, &c);
}

/* How its tasks took so much of a stall, and what helps. */
static void chroprof__tell_stall_site(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall *s = &q->stall;
    const chroprof_stall_share *most = s->shares;
    bool off = s->waiting_ns >= s->length_ns / 2;
    if (most->site == CHROPROF__UNTRACKED) {
        chroprof__tell(c, q->bare ? "." : ". See the unexpected calls and the full tables.", NULL);
    } else if (most->site == 0 && !off) {
        chroprof__tell(c, q->bare ? "." : ". Call chroprof_enter and chroprof_leave around what "
                                          "runs there.", NULL);
    } else if (most->slices >= 10 && most->slice_max_ns < s->length_ns / 4) {
        chroprof__tell(c, " in %c slices. Let the loop poll between them.", &most->slices);
    } else if (off) {                       /* one stall alone: by whom can't be told */
        chroprof__tell(c, ". %T of it were off CPU", &s->waiting_ns);
        chroprof__tell(c, chroprof__others_cpu(q, most->site) == CHROPROF__OTHERS_LOST
                           ? ". Other tasks lost CPU time too: look for other programs on its "
                             "processor."
                           : ": look for blocking calls, and for other programs on its processor.",
                       NULL);
    } else {
        chroprof__tell_held(q, c);
        chroprof__tell(c, ". Split its work into several slices, or move it off the loop.", NULL);
    }
}

/* By who took most of a stall, and how. */
static void chroprof__tell_stall(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall *s = &q->stall;
    const chroprof_stall_share *most = s->shares, *next = s->shares + 1;
    const uint64_t share[] = { most->exec_ns, s->length_ns };
    const uint64_t other[] = { next->exec_ns, s->length_ns };
    bool all = s->kind == CHROPROF_STALL_ITERATION ||      /* the rest is of more sites */
               (s->share_count == CHROPROF_STALL_SHARES && s->events <= q->max_events);
    if (s->share_count == 0 || (most->exec_ns < s->rest_ns && !all)) {
        chroprof__tell(c, q->bare ? ". No callback explains most of it."
                          : s->events > q->max_events
                              ? ". No site explains most of it: raise max_events to know more of "
                                "the next one." : ". No site explains most of it.", NULL);
        return;
    }
    c->name = most->site ? most->name : c->name;
    c->file = most->site ? most->file : c->file;
    c->line = most->line;
    c->site = most->site;
    if (chroprof__tell_stall_wait(q, c))
        return;
    chroprof__tell(c, ": ", NULL);
    chroprof__tell_site(c);
    chroprof__tell(c, " took %p of it", share);
    if (!chroprof__is_tie(most->exec_ns, next->exec_ns)) {
        chroprof__tell_stall_site(q, c);
        return;
    }
    chroprof__tell(c, ", and ", NULL);
    chroprof__tell_name(c, next->site ? next->name : "uninstrumented code", CHROPROF__FINDS_FILE);
    chroprof__tell(c, " %p. Split such work, or move it off the loop.", other);
}

/* stall_ns is the user's own threshold; from 100 ms on people notice. */
static void chroprof__find_stall(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_stall *s = &q->stall;
    const uint64_t figures[] = { s->length_ns, s->start_ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STALL,
                                         s->length_ns >= 100000000 ? CHROPROF__PLACE_STALL_GRAVE
                                                                   : CHROPROF__PLACE_STALL,
                                         NULL, s->length_ns);
    c.at_ns = s->start_ns;
    if (s->length_ns == 0 || t->stalls == 0)
        return;
    chroprof__tell(&c, "The loop was blocked for %T at %m", figures);
    bool longest = s->length_ns >= t->iteration_max_ns && s->length_ns >= t->callback_max_ns;
    if (t->stalls > 1)
        chroprof__tell(&c, longest ? ", the longest of %c stalls"
                                   : ", the longest kept of %c stalls", &t->stalls);
    chroprof__tell_stall(q, &c);
    chroprof__report(q, &c);
}
