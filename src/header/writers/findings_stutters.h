/* writers/findings_stutters.h: what occupies the loop, by little or by much: one site, or stays
 * below the threshold of a stall that come all the time */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../block/rows.h"
#include "../writers/phrases.h"
#include "../writers/findings_waits.h"

/* Does the second one come too close to the first to name that alone? */
static bool chroprof__is_tie(uint64_t first, uint64_t second)
{
    return first == 0 || first / 5 * 4 < second;
}

static void chroprof__find_occupant(chroprof__inquiry *q)
{
    const chroprof_rank *r = q->top;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_OCCUPIES, r, r->exec_ns);
    size_t before = q->count;
    c.n[2] = r->slices;
    c.n[3] = r->slice_max_ns;
    if (chroprof__is_tie(r->exec_ns, q->top[1].exec_ns) || r->id == CHROPROF__OTHER)
        return;
    chroprof__case held = c;
    if (chroprof__name_case(q, &held, 0, 500000))
        c.other = held.name;
    chroprof__report(q, &c, c.other ? "%s, mostly in %w, occupies the loop most: %p01 of the run, "
                                       "%T0 in "
                                     : "%s occupies the loop most: %p01 of the run, %T0 in ",
                     q->totals.estimated ? "all."
                     : r->slices == 1 ? "one slice." : "%c2 slices, the longest %T3.",
                     " Make it faster, or call it less often.");
    q->occupies = q->count > before;
}

/* How long some stays of the loop are, how many at least, and whose they are. */
typedef struct chroprof__stays {
    chroprof_rank site;        /* name NULL: iterations, of several tasks */
    uint64_t each_ns, count;
} chroprof__stays;

/* Takes the longest of these percentiles that stands for enough stays: a tenth of them is at least
 * as long as p90. */
static void chroprof__stays_of(const chroprof__inquiry *q, chroprof__stays *most,
                               const chroprof_rank *site, uint64_t percentile_ns, uint64_t count)
{
    uint64_t floor_ns = q->stall_ns / (site ? 4 : 2);
    bool often = count / 2 >= q->totals.elapsed_ns / 1000000000 && count >= 10;
    if (percentile_ns < floor_ns || percentile_ns < 4000000 || percentile_ns >= q->stall_ns ||
        !often || percentile_ns * count <= most->each_ns * most->count)
        return;
    memset(most, 0, sizeof(*most));
    if (site != NULL)
        most->site = *site;
    most->each_ns = percentile_ns;
    most->count = count;
}

/* Not what OCCUPIES tells already. */
static void chroprof__find_stutters(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof__stays most;
    chroprof_rank r;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(&most, 0, sizeof(most));
    while (chroprof_next_rank(q->p, &cursor, &r)) {
        chroprof__stays_of(q, &most, &r, r.slice_p99_ns, r.measured / 100);
        chroprof__stays_of(q, &most, &r, r.slice_p90_ns, r.measured / 10);
        chroprof__stays_of(q, &most, &r, r.slice_p50_ns, r.measured / 2);
    }
    if (most.count == 0) {
        chroprof__stays_of(q, &most, NULL, t->iteration_p99_ns, t->iterations / 100);
        chroprof__stays_of(q, &most, NULL, t->iteration_p50_ns, t->iterations / 2);
    }
    const chroprof_rank *site = most.site.name != NULL ? &most.site : NULL;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STUTTERS, site,
                                         site ? site->exec_ns : most.each_ns * most.count);
    c.value_ns = c.n[2] = most.each_ns;
    c.count = most.count * 1000 / (t->elapsed_ns / 1000000 + 1);
    c.n[3] = c.count;
    if (most.count == 0 || (site && site->id == q->top[0].id && q->occupies))
        return;
    chroprof__report(q, &c, site ? "%s holds the loop for about %T2 or more at least %c3 times a "
                                   "second, %p01 of the run in all."
                                 : "The loop does not wait for about %T2 or more at least %c3 "
                                   "times a second, which is %p01 of the run.",
                     NULL, site ? " Split its work, or call it less often."
                                : " Its tasks together take so long.");
}
