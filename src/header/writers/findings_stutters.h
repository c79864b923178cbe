/* writers/findings_stutters.h: what occupies the loop, by little or by much: one site, or slices
 * and iterations below the threshold of a stall that come all the time */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../block/rows.h"
#include "../writers/phrases.h"
#include "../writers/findings_waits.h"

/* Does the second one come too close to the first to name that alone? */
static bool chroprof__is_tie(uint64_t first, uint64_t second)
{
    return first == 0 || first / 5 * 4 < second;
}

/* By CPU time there are no samples of what a site waits in, for half of its time or more. One that
 * waits for a processor would run the code that is sampled. */
static bool chroprof__is_unsampled(const chroprof__inquiry *q, const chroprof_rank *r)
{
    chroprof_sampler_totals s;
    chroprof_task_wait wait;
    chroprof_read_sampler(q->p, &s);
    return s.mode == CHROPROF_SAMPLER_CPU && r->cpu_ns < r->exec_ns / 2 &&
           (!chroprof__wait_of(q, r->id, &wait) || chroprof__is_call(chroprof__words_of(&wait)));
}

/* One site that takes much of the run. */
static void chroprof__find_occupant(chroprof__inquiry *q)
{
    const chroprof_rank *r = q->top;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_OCCUPIES, CHROPROF__PLACE_OCCUPIES, r,
                                         r->exec_ns);
    const uint64_t share[] = { r->exec_ns, q->totals.elapsed_ns, r->exec_ns };
    const uint64_t slices[] = { r->slices, r->slice_max_ns };
    chroprof__case held = c;
    /* Below 20 % of the run the loop has room for five times as much; below 25 % of the time that
     * was not idle it is one of many. It must lead the next site by a quarter. */
    if (!chroprof__is_part(r->exec_ns, q->totals.elapsed_ns, 200000) ||
        !chroprof__is_part(r->exec_ns, q->work, 250000) ||
        chroprof__is_tie(r->exec_ns, q->top[1].exec_ns) || r->id == CHROPROF__OTHER)
        return;
    q->occupies = true;
    chroprof__tell_site(&c);
    if (!chroprof__is_unsampled(q, r) && chroprof__name_case(q, &held, 0, 500000)) {
        chroprof__tell(&c, ", mostly in ", NULL);
        chroprof__tell_name(&c, held.name, CHROPROF__FINDS_CAUSE);
        chroprof__tell(&c, ",", NULL);
    }
    chroprof__tell(&c, " occupies the loop most: %p of the run, %T in ", share);
    chroprof__tell(&c, q->totals.estimated ? "all." : r->slices == 1 ? "one slice."
                                                  : "%c slices, the longest %T.", slices);
    chroprof__tell(&c, r->id == q->hung ? "" : " Make it faster, or call it less often.", NULL);
    chroprof__report(q, &c);
}

/* How long some slices or iterations are, how many at least, and whose they are. */
typedef struct chroprof__stutter {
    chroprof_rank site;        /* name NULL: iterations, of several tasks */
    uint64_t each_ns, count;
} chroprof__stutter;

/* Takes the longest of these percentiles that stands for enough of them: a tenth of all is at
 * least as long as p90. */
static void chroprof__take_stutter(const chroprof__inquiry *q, chroprof__stutter *most,
                                   const chroprof_rank *site, uint64_t percentile_ns,
                                   uint64_t count)
{
    uint64_t least_ns = q->stall_ns / (site ? 4 : 2);
    bool often = count / 2 >= q->totals.elapsed_ns / 1000000000 && count >= 10;
    if (percentile_ns < least_ns || percentile_ns < 4000000 || percentile_ns >= q->stall_ns ||
        !often || percentile_ns * count <= most->each_ns * most->count)
        return;
    memset(most, 0, sizeof(*most));
    if (site != NULL)
        most->site = *site;
    most->each_ns = percentile_ns;
    most->count = count;
}

/* Not what OCCUPIES tells already. Twice a second is often, and 5 % of the run is felt. */
static void chroprof__tell_stutters(chroprof__inquiry *q, const chroprof__stutter *most)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_rank *site = most->site.name != NULL ? &most->site : NULL;
    uint64_t all_ns = site ? site->exec_ns : most->each_ns * most->count;
    uint64_t a_second = most->count * 1000 / (t->elapsed_ns / 1000000 + 1);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STUTTERS, CHROPROF__PLACE_STUTTERS,
                                         site, all_ns);
    const uint64_t figures[] = { most->each_ns, a_second, all_ns, t->elapsed_ns };
    c.value_ns = most->each_ns;
    if (!chroprof__is_part(all_ns, t->elapsed_ns, 50000) || a_second < 2 ||
        (site && site->id == q->top[0].id && q->occupies))
        return;
    if (site) {
        chroprof__tell_site(&c);
        chroprof__tell(&c, " holds the loop for about %T or more at least %c times a second, %p of "
                           "the run in all. Split its work, or call it less often.", figures);
    } else {
        chroprof__tell(&c, "The loop does not wait for about %T or more at least %c times a "
                           "second, which is %p of the run. Its tasks together take so long.",
                       figures);
    }
    chroprof__report(q, &c);
}

static void chroprof__find_stutters(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof__stutter most;
    chroprof_rank r;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(&most, 0, sizeof(most));
    while (chroprof_next_rank(q->p, &cursor, &r)) {
        chroprof__take_stutter(q, &most, &r, r.slice_p99_ns, r.measured / 100);
        chroprof__take_stutter(q, &most, &r, r.slice_p90_ns, r.measured / 10);
        chroprof__take_stutter(q, &most, &r, r.slice_p50_ns, r.measured / 2);
    }
    if (most.count == 0) {
        chroprof__take_stutter(q, &most, NULL, t->iteration_p99_ns, t->iterations / 100);
        chroprof__take_stutter(q, &most, NULL, t->iteration_p50_ns, t->iterations / 2);
    }
    if (most.count > 0)
        chroprof__tell_stutters(q, &most);
}
