/* whatif_arrivals.c - when what a poll found had come.
 *
 * Where the loop waited, what ended the wait came when it ended. Where the poll returned at once,
 * it came at some instant since the poll before. Where the program told that instant, it is that. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"

#define REGULAR_JITTER 0.35    /* of gaps of one wait to the next, where they are all alike */
#define FEWEST_GAPS 20u
#define BUNCH_LEAST 1.1
#define FAR_OFF 4.0            /* deviations at random are seldom as far */

/* >>chance: splitmix64, the same on any machine */

static uint64_t chance_next(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Evenly in [0, 1). */
static double chance_part(uint64_t *state)
{
    return (double)(chance_next(state) >> 11) / 9007199254740992.0;
}

static uint64_t chance_below(uint64_t *state, uint64_t count)
{
    return (uint64_t)(chance_part(state) * (double)count);
}

/* >>study */

static bool from_outside(const whatif_job *job)
{
    return job->comes == JOB_OUTSIDE || job->comes == JOB_LATER;
}

static bool study_bunches(arrival_model *m, const whatif_loop *l, const uint32_t *came)
{
    double sum = 0;
    m->bunches = (uint32_t *)calloc(l->iteration_count + 1, sizeof *m->bunches);
    if (m->bunches == NULL) {
        return false;
    }
    for (size_t i = 0; i < l->iteration_count; i++) {
        if (!l->iterations[i].at_once && came[i] > 0) {
            m->bunches[m->bunch_count++] = came[i];
            sum += came[i];
        }
    }
    m->bunch_mean = m->bunch_count > 0 ? sum / (double)m->bunch_count : 1;
    return true;
}

/* Gaps from the end of one wait to the end of the next, with nothing between. */
static void study_gaps(arrival_model *m, const whatif_loop *l, const uint32_t *came)
{
    double n = 0, sum = 0, squares = 0, work = 0, work_squares = 0, both = 0;
    for (size_t i = 1; i < l->iteration_count; i++) {
        const whatif_iteration *before = &l->iterations[i - 1], *now = &l->iterations[i];
        if (!before->at_once && !now->at_once && came[i - 1] > 0 && came[i] > 0) {
            double gap = (double)(now->leave_ns - before->leave_ns);
            double took = (double)(now->enter_ns - before->leave_ns);
            work += took;
            work_squares += took * took;
            both += took * gap;
            n += 1;
            sum += gap;
            squares += gap * gap;
        }
    }
    if (n >= FEWEST_GAPS && sum > 0) {
        double mean = sum / n;
        double spread = work_squares / n - work / n * (work / n);
        m->period_ns = mean;
        m->jitter = root(squares / n - mean * mean) / mean;
        m->stretch = root(spread) > 0.01 * mean ? (both / n - mean * (work / n)) / spread : 0;
    }
}

/* In polls that return at once: does the number that came go with the time since the poll before, or
 * with the number that was found then? The second is so where each answer brings the next question. */
static void study_followers(arrival_model *m, const whatif_loop *l, const uint32_t *came)
{
    double n = 0, xx = 0, xz = 0, zz = 0, xy = 0, zy = 0, sx = 0, sz = 0, sy = 0, busy = 0;
    double most = 0, expected = 0, rate;
    for (size_t i = 1; i < l->iteration_count; i++) {
        busy += came[i];
    }
    rate = busy / greater((double)(l->end_ns - l->begin_ns), 1);
    for (size_t i = 1; i < l->iteration_count; i++) {
        double x = rate * (double)(l->iterations[i].leave_ns - l->iterations[i - 1].leave_ns);
        double z = came[i - 1], y = came[i];
        if (!l->iterations[i].at_once || came[i] == 0) {
            continue;
        }
        n += 1;
        sx += x, sz += z, sy += y;
        xx += x * x, xz += x * z, zz += z * z, xy += x * y, zy += z * y;
        most = greater(most, y);
        expected += y > 0 && x > 1.5;
    }
    m->one_a_poll = n >= 100 && most <= 1 && expected > 0.2 * n;
    if (n < 100) {
        return;
    }
    xx -= sx * sx / n, zz -= sz * sz / n, xz -= sx * sz / n;
    xy -= sx * sy / n, zy -= sz * sy / n;
    if (xx * zz - xz * xz > 0.01 * xx * zz) {
        m->follows = (zy * xx - xy * xz) / (xx * zz - xz * xz);
    }
}

/* How much more comes in idle time than in busy time. 1: no matter what the loop does; more, with
 * arrivals that are not regular: some of those who ask wait for answers, and ask nothing meanwhile. */
static void study_rates(arrival_model *m, const whatif_loop *l, const uint32_t *came)
{
    double idle = 0, busy = 0, in_idle = 0, in_busy = 0, waits = 0;
    for (size_t i = 1; i < l->iteration_count; i++) {
        const whatif_iteration *before = &l->iterations[i - 1], *now = &l->iterations[i];
        busy += (double)(now->at_once ? now->leave_ns - before->leave_ns
                                      : now->enter_ns - before->leave_ns);
        idle += (double)(now->at_once ? 0 : now->leave_ns - now->enter_ns);
        in_idle += now->at_once ? 0 : came[i];
        waits += !now->at_once && came[i] > 0;
        in_busy += now->at_once ? came[i] : 0;
    }
    if (idle > 0 && in_idle > 0) {
        double expected = in_idle / idle * busy;
        m->calm = expected / greater(in_busy, 1);
        m->calm_least = m->calm * waits / in_idle;
        m->calm_error = root(m->bunch_mean * (1 / in_idle + 1 / greater(expected, 1)));
    }
}

/* By how much more the number that came while the loop was busy spreads than if all came at random,
 * each for itself: 1. Bunches make it more. What ends a wait tells less: while the system wakes the
 * loop, more can come, and is found with it. A single pause of the senders shall not count much. */
static void study_spread(arrival_model *m, const whatif_loop *l, const uint32_t *came)
{
    double busy = 0, count = 0, rest = 0, rate;
    for (int pass = 0; pass < 2; pass++) {
        rate = busy > 0 ? count / busy : 0;
        for (size_t i = 1; i < l->iteration_count; i++) {
            const whatif_iteration *before = &l->iterations[i - 1], *now = &l->iterations[i];
            double ns = (double)((now->at_once ? now->leave_ns : now->enter_ns) - before->leave_ns);
            double y = now->at_once ? came[i] : 0, off = y - rate * ns;
            double most = FAR_OFF * FAR_OFF * (rate * ns + 1);
            busy += pass == 0 ? ns : 0;
            count += pass == 0 ? y : 0;
            rest += pass == 0 ? 0 : off * off < most ? off * off : most;
        }
    }
    m->bunched = count > 0 ? rest / count : 1;
}

bool arrivals_study(arrival_model *m, const whatif_loop *l)
{
    uint32_t *came = (uint32_t *)calloc(l->iteration_count + 1, sizeof *came);
    bool ok;
    memset(m, 0, sizeof *m);
    m->calm = 1;
    if (came == NULL) {
        return false;
    }
    for (size_t i = 0; i < l->job_count; i++) {
        came[l->jobs[i].found] += from_outside(&l->jobs[i]);
    }
    ok = study_bunches(m, l, came);
    study_gaps(m, l, came);
    study_followers(m, l, came);
    study_spread(m, l, came);
    study_rates(m, l, came);
    free(came);
    if (m->period_ns > 0 && m->jitter < REGULAR_JITTER) {
        m->shape = ARRIVE_REGULARLY;
    } else {
        m->shape = m->bunch_mean > BUNCH_LEAST && m->bunched > (1 + m->bunch_mean) / 2
                   ? ARRIVE_IN_BUNCHES : ARRIVE_EVENLY;
    }
    return ok;
}

/* >>placing */

typedef struct placing {
    const whatif_loop *l;
    const arrival_model *m;
    arrival_shape shape;
    uint64_t chance;
    uint64_t last_ns;          /* of the arrival before */
    uint64_t *scratch;
} placing;

static int compare_instants(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* count instants of an interval, sorted. */
static void draw_evenly(placing *p, uint64_t from, uint64_t to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        p->scratch[i] = from + 1 + chance_below(&p->chance, to > from ? to - from : 1);
    }
    qsort(p->scratch, count, sizeof *p->scratch, compare_instants);
}

/* Bunches of the sizes that ended waits, each at one instant. */
static void draw_bunches(placing *p, uint64_t from, uint64_t to, size_t count)
{
    const arrival_model *m = p->m;
    size_t at = 0;
    while (at < count) {
        size_t size = m->bunch_count > 0 ? m->bunches[chance_below(&p->chance, m->bunch_count)]
                                         : (p->chance % 3) + 1;
        uint64_t ns = from + 1 + chance_below(&p->chance, to > from ? to - from : 1);
        for (; size > 0 && at < count; size--) {
            p->scratch[at++] = ns;
        }
    }
    qsort(p->scratch, count, sizeof *p->scratch, compare_instants);
}

/* One period after the other, as far as the interval allows; else one in each part of it. */
static void draw_regularly(placing *p, uint64_t from, uint64_t to, size_t count)
{
    const arrival_model *m = p->m;
    double width = (double)(to - from) / (double)count;
    bool period = m->period_ns > 0 && m->jitter < REGULAR_JITTER && p->last_ns > 0;
    for (size_t i = 0; i < count; i++) {
        double at = (double)p->last_ns +
                    m->period_ns * (1 + 1.7 * m->jitter * (2 * chance_part(&p->chance) - 1));
        if (!period || at <= (double)from || at > (double)to) {
            at = (double)from + width * ((double)i + chance_part(&p->chance));
        }
        p->scratch[i] = (uint64_t)at > from ? (uint64_t)at : from + 1;
        p->last_ns = p->scratch[i];
    }
    qsort(p->scratch, count, sizeof *p->scratch, compare_instants);
}

static void draw(placing *p, uint64_t from, const whatif_iteration *w, size_t count)
{
    switch (p->shape) {
    case ARRIVE_IN_BUNCHES: draw_bunches(p, from, w->leave_ns, count); break;
    case ARRIVE_REGULARLY: draw_regularly(p, from, w->leave_ns, count); break;
    default: draw_evenly(p, from, w->leave_ns, count); break;
    }
    /* the poll returned at once, so one was there before it */
    if (p->scratch[0] > w->enter_ns && w->enter_ns > from) {
        p->scratch[0] = from + 1 + chance_below(&p->chance, w->enter_ns - from);
    }
}

/* When it came, if the program told it; 0: it did not. */
static uint64_t told_instant(const whatif_loop *l, const whatif_job *job, uint64_t from)
{
    uint64_t begin = l->iterations[job->found].leave_ns;
    if (job->since_ns > 0) {
        return job->since_ns > l->begin_ns ? job->since_ns : l->begin_ns;
    }
    return job->tells_ns > from && job->tells_ns <= begin ? job->tells_ns : 0;
}

/* When that came which ended a wait. */
static uint64_t before_wake(const whatif_loop *l, const whatif_iteration *w)
{
    uint64_t waited = w->leave_ns - w->enter_ns;
    return w->leave_ns - (l->wake_ns < waited ? l->wake_ns : waited);
}

/* What one poll found: jobs[first ..) that have the same `found`; others are passed over. */
static void place_poll(placing *p, whatif_arrivals *a, const uint32_t *jobs, size_t count)
{
    const whatif_loop *l = p->l;
    uint32_t found = l->jobs[jobs[0]].found;
    const whatif_iteration *w = &l->iterations[found];
    uint64_t from = found > 0 ? l->iterations[found - 1].leave_ns : w->enter_ns;
    if (w->at_once) {
        draw(p, from, w, count);
    }
    for (size_t i = 0; i < count; i++) {
        const whatif_job *job = &l->jobs[jobs[i]];
        uint64_t ns = w->at_once ? p->scratch[i] : before_wake(l, w);
        uint64_t told = told_instant(l, job, from);
        if (told > 0) {
            a->at_ns[jobs[i]] = told;
            continue;
        }
        if (job->thinks && l->eager && w->at_once) {
            ns = job->after_ns > from ? job->after_ns : from + 1;
        } else if (job->comes == JOB_LATER && ns < job->after_ns) {
            ns = job->after_ns + (w->leave_ns > job->after_ns
                                  ? chance_below(&p->chance, w->leave_ns - job->after_ns) : 0);
        }
        a->at_ns[jobs[i]] = ns < w->leave_ns ? ns : w->leave_ns;
    }
    p->last_ns = a->at_ns[jobs[count - 1]];
}

static const uint64_t *order_times;    /* of compare_arrivals */

static int compare_arrivals(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    if (order_times[x] != order_times[y]) {
        return order_times[x] < order_times[y] ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static void put_in_order(whatif_arrivals *a, const whatif_loop *l)
{
    bool sorted = true;
    a->count = 0;
    for (size_t i = 0; i < l->job_count; i++) {
        if (l->jobs[i].comes == JOB_OUTSIDE) {
            sorted = sorted && (a->count == 0 ||
                                a->at_ns[a->order[a->count - 1]] <= a->at_ns[i]);
            a->order[a->count++] = (uint32_t)i;
        }
    }
    if (!sorted) {
        order_times = a->at_ns;
        qsort(a->order, a->count, sizeof *a->order, compare_arrivals);
    }
}

/* Arrays of a: room for all jobs, and order for one more list of them behind the first. */
void arrivals_place(whatif_arrivals *a, const whatif_loop *l, const arrival_model *m,
                    arrival_shape shape, uint64_t number)
{
    placing p;
    size_t from = 0, count = 0;
    uint32_t *jobs = a->order;
    memset(&p, 0, sizeof p);
    p.l = l;
    p.m = m;
    p.shape = shape;
    p.chance = number * UINT64_C(0xD1342543DE82EF95) + 1;
    p.scratch = a->scratch;
    for (size_t i = 0; i < l->job_count; i++) {
        if (from_outside(&l->jobs[i])) {
            jobs[count++] = (uint32_t)i;
        }
    }
    for (size_t i = 1; i <= count; i++) {
        if (i == count || l->jobs[jobs[i]].found != l->jobs[jobs[from]].found) {
            place_poll(&p, a, jobs + from, i - from);
            from = i;
        }
    }
    put_in_order(a, l);
}

/* >>anew: what one half of the steps tells of the other */

void arrivals_come_anew(whatif_arrivals *a, const whatif_loop *l)
{
    uint64_t half = (l->end_ns - l->begin_ns) / 2, middle = l->begin_ns + half;
    size_t first = 0;
    while (first < a->count && a->at_ns[a->order[first]] < middle) {
        a->scratch[first] = a->at_ns[a->order[first]];
        first++;
    }
    for (size_t i = first; first > 0 && i < a->count; i++) {
        size_t round = (i - first) / first;
        a->at_ns[a->order[i]] = a->scratch[(i - first) % first] + half * (1 + round);
    }
}

void arrivals_think_anew(whatif_arrivals *a, const whatif_loop *l, uint64_t number)
{
    uint64_t chance = number * UINT64_C(0x9E3779B97F4A7C15) + 7, middle;
    size_t known = 0;
    middle = l->begin_ns + (l->end_ns - l->begin_ns) / 2;
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        if (job->thinks && a->at_ns[i] < middle) {
            a->scratch[known++] = a->at_ns[i] > job->after_ns ? a->at_ns[i] - job->after_ns : 0;
        }
    }
    for (size_t i = 0; known > 0 && i < l->job_count; i++) {
        if (l->jobs[i].thinks) {
            a->at_ns[i] = l->jobs[i].after_ns + a->scratch[chance_below(&chance, known)];
        }
    }
}
