/* writers/findings_futures.h: what stands out of the futures: leaks and queues */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../writers/phrases.h"

/* Did the live futures of a site come to rest all over the run, as those do that a program forgets?
 * A steady set was last seen either long ago or just now. Where none of the site ever ran, a leak
 * that slows its own program adds less and less. */
static bool chroprof__forgets(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t quarters[4] = { 0, 0, 0, 0 }, cursor = 0, count = 0;
    uint32_t even = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line ||
            f.state == CHROPROF_RUNNING)
            continue;
        quarters[f.since_ns / (q->totals.elapsed_ns / 4 + 1) & 3]++;
        count++;
    }
    for (uint32_t k = 0; k < 4; k++)
        even += quarters[k] > count / (r->slices ? 10 : 32);
    return even == 4;
}

static uint64_t chroprof__unfinished(const chroprof_rank *r)
{
    return r->abandoned + r->dropped + r->live;
}

/* Are most of the live ones at rest for much longer than any took that finished? */
static bool chroprof__outlives(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t cursor = 0, count = 0, old = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line)
            continue;
        old += chroprof__minus(q->totals.elapsed_ns, f.since_ns) / 4 > r->latency_max_ns;
        count++;
    }
    return old > count / 2;
}

/* The oldest ones were dropped. Did those that are left come as all did, and until now? In a burst
 * they come faster, and may be under way. */
static bool chroprof__keeps_coming(const chroprof__inquiry *q, const chroprof_rank *r,
                                   uint64_t count)
{
    uint64_t cursor = 0, oldest_ns = q->totals.elapsed_ns, newest_ns = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line)
            continue;
        oldest_ns = f.since_ns < oldest_ns ? f.since_ns : oldest_ns;
        newest_ns = f.since_ns > newest_ns ? f.since_ns : newest_ns;
    }
    return newest_ns >= q->totals.elapsed_ns / 4 * 3 &&
           q->totals.elapsed_ns - oldest_ns >= q->totals.elapsed_ns / count * r->live / 4;
}

/* Futures that were dropped may have finished since: `late` finishes were of nobody. If those are
 * few, most that were dropped leak where others finish soon. Live ones leak if they come all over
 * the run, and stay where others finish soon, or if next to none finishes: 300 are no set of
 * servers and timers. */
static bool chroprof__leaks(const chroprof__inquiry *q, const chroprof_rank *r, uint64_t late)
{
    uint64_t count = chroprof__unfinished(r), finished = chroprof__minus(r->calls, count);
    uint64_t sure = chroprof__minus(count, late < r->dropped ? late : r->dropped);
    bool all = chroprof__ppm(sure, r->calls) >= 900000;
    if (count < 100)
        return false;
    if (r->live <= count / 2)
        return count >= 1000 && chroprof__keeps_coming(q, r, count) &&
               (all || (finished >= 10 && sure >= count / 8 * 7 && chroprof__outlives(q, r)));
    if (!(all && count >= 300) && (finished < 10 || !chroprof__outlives(q, r)))
        return false;
    return chroprof__forgets(q, r);
}

static void chroprof__find_leak(chroprof__inquiry *q)
{
    chroprof_rank worst, one;
    chroprof_anomaly late;
    uint64_t cursor = CHROPROF__FIRST_SITE, others = 0;
    memset(&worst, 0, sizeof(worst));
    (void)chroprof_read_anomaly(q->p, CHROPROF_ANOMALY_UNKNOWN_FINISH, &late);
    while (chroprof_next_rank(q->p, &cursor, &one)) {
        if (!chroprof__leaks(q, &one, late.count))
            continue;
        others += worst.name != NULL;
        worst = chroprof__unfinished(&one) > chroprof__unfinished(&worst) ? one : worst;
    }
    if (worst.name == NULL)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_LEAKS, CHROPROF__PLACE_LEAKS, &worst,
                                         0);
    const uint64_t figures[] = { chroprof__unfinished(&worst), worst.calls };
    chroprof__tell(&c, "%c of %c futures of ", figures);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " did not finish, and more come all the time.", NULL);
    chroprof__tell(&c, others == 0 ? "" : others == 1 ? " One more site is like that."
                                                      : " %c more sites are like that.", &others);
    chroprof__tell(&c, q->bare ? " If they are not to stay, they leak."
                               : " They leak, or nothing reports their end: chroprof_completed, "
                                 "chroprof_failed or chroprof_cancelled.", NULL);
    chroprof__report(q, &c);
    q->leaks = true;
}

/* Did futures of a site that began at different times finish at one, as they do if something that
 * was busy lets them through? Of those that are kept, which are the slowest. */
static bool chroprof__released(const chroprof *p, const chroprof_rank *r)
{
    chroprof_slow s;
    uint64_t cursor = 0, first_ns = UINT64_MAX, last_ns = 0, begun_ns = UINT64_MAX, latest_ns = 0;
    uint32_t count = 0;
    while (chroprof_next_slowest(p, &cursor, &s)) {
        if (s.site != r->id || !s.of_run || s.finish != CHROPROF_COMPLETED)
            continue;
        uint64_t from_ns = chroprof__minus(s.at_ns, s.latency_ns);
        first_ns = s.at_ns < first_ns ? s.at_ns : first_ns;
        last_ns = s.at_ns > last_ns ? s.at_ns : last_ns;
        begun_ns = from_ns < begun_ns ? from_ns : begun_ns;
        latest_ns = from_ns > latest_ns ? from_ns : latest_ns;
        count++;
    }
    return count >= 4 && (last_ns - first_ns) * 4 < latest_ns - begun_ns &&
           latest_ns - begun_ns > r->latency_max_ns / 20;
}

/* Did they come at once and finish one after the other, at one rate? Then latencies are spread
 * evenly from next to nothing to the longest, or in a few steps where some are served at a time:
 * the mean of four is 5/8 of the longest. */
static bool chroprof__served(const chroprof_rank *r, uint64_t finished)
{
    uint64_t mean_ns = r->lifetime_ns / finished, most_ns = r->latency_max_ns;
    return finished >= 16 && r->live <= finished / 4 && r->latency_p50_ns >= most_ns / 5 * 2 &&
           r->latency_p50_ns <= most_ns / 20 * 13 && mean_ns >= most_ns / 5 * 2 &&
           mean_ns <= most_ns / 20 * 13 && r->latency_p99_ns >= most_ns / 10 * 9;
}

/* Did they wait for most of their time, once, and many at once, so that all of them are no timers
 * and no connections? */
static bool chroprof__queues(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t finished = r->completed + r->failed;
    return finished >= 10 && r->slices <= r->calls && r->waiting_ns / 10 >= r->lifetime_ns / 11 &&
           r->latency_p50_ns >= 100000000 && r->lifetime_ns / 4 >= q->totals.elapsed_ns &&
           (chroprof__released(q->p, r) || chroprof__served(r, finished));
}

/* What a pool or a server that is busy makes wait. */
static void chroprof__find_queue(chroprof__inquiry *q)
{
    chroprof_rank worst, one;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(&worst, 0, sizeof(worst));
    while (chroprof_next_rank(q->p, &cursor, &one))
        if (chroprof__queues(q, &one) && one.latency_max_ns > worst.latency_max_ns)
            worst = one;
    if (worst.name == NULL)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_QUEUES, CHROPROF__PLACE_QUEUES,
                                         &worst, 0);
    const uint64_t figures[] = { worst.latency_max_ns, worst.completed + worst.failed,
                                 worst.lifetime_ns / q->totals.elapsed_ns };
    c.value_ns = worst.latency_max_ns;
    if (c.value_ns < 100000000)             /* a tenth of a second is felt */
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " waits up to %T for something outside of the loop: %c futures, %c at once "
                       "on average. See what makes them wait, such as a pool of threads that is "
                       "full.", figures);
    chroprof__report(q, &c);
}
