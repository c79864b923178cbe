/* whatif_link.c - which jobs come from outside, and which ones other jobs released. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#define RARE 0.05              /* polls that find more than clients who send at once explain */
#define LONG_LIFE 8u           /* slices a life; those with more are connections and the like */

/* The part of a job that had passed at an instant. */
static double part_at(const whatif_job *job, uint64_t ns)
{
    double length = (double)(job->end_ns - job->begin_ns);
    double part = length > 0 && ns > job->begin_ns ? (double)(ns - job->begin_ns) / length : 1;
    return ns <= job->begin_ns && length > 0 ? 0 : part < 1 ? part : 1;
}

static bool add_mark(whatif_loop *l, uint32_t job, mark_kind kind, uint32_t target, uint64_t ns)
{
    whatif_mark *mark;
    uint32_t *link = &l->first_mark[job];
    if (!whatif_room((void **)&l->marks, &l->mark_room, l->mark_count, sizeof *l->marks)) {
        return false;
    }
    mark = &l->marks[l->mark_count];
    mark->kind = kind;
    mark->target = target;
    mark->part = part_at(&l->jobs[job], ns);
    if (*link != WHATIF_NONE && l->marks[l->last_mark[job]].part <= mark->part) {
        link = &l->marks[l->last_mark[job]].next;      /* nearly always */
    }
    while (*link != WHATIF_NONE && l->marks[*link].part <= mark->part) {
        link = &l->marks[*link].next;
    }
    mark->next = *link;
    l->last_mark[job] = (uint32_t)l->mark_count;       /* put in last: marks come by kind, in time */
    *link = (uint32_t)l->mark_count++;
    return true;
}

/* >>follows: does the next slice of a connection come some time after the one before, or whenever it
 * likes? The times from arrival to arrival grow with the times from arrival to end in the first case. */

typedef struct regression {
    double n, x, y, xx, xy;
} regression;

static double slope_of(const regression *r)
{
    double spread = r->xx - r->x * r->x / (r->n > 0 ? r->n : 1);
    return r->n >= 30 && spread > 0 ? (r->xy - r->x * r->y / r->n) / spread : 1;
}

static double found_ns(const whatif_loop *l, const whatif_job *job)
{
    const whatif_iteration *i = &l->iterations[job->iteration];
    if (i->at_once && job->iteration > 0) {
        return ((double)l->iterations[job->iteration - 1].leave_ns + (double)i->leave_ns) / 2;
    }
    return (double)i->leave_ns;
}

static bool find_followers(whatif_loop *l)
{
    regression *sums = (regression *)calloc(l->site_count + 1, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        if (job->site != WHATIF_NONE && job->life != WHATIF_NONE && job->before != WHATIF_NONE &&
            l->jobs[job->before].life == job->life) {
            regression *sum = &sums[job->site];
            double from = found_ns(l, &l->jobs[job->before]);
            double x = (double)job->after_ns - from, y = found_ns(l, job) - from;
            sum->n += 1;
            sum->x += x;
            sum->y += y;
            sum->xx += x * x;
            sum->xy += x * y;
        }
    }
    for (size_t s = 0; s < l->site_count; s++) {
        whatif_site *site = &l->sites[s];
        bool connection = site->lives > 0 && site->slices > LONG_LIFE * site->lives;
        site->follows = !connection || slope_of(&sums[s]) > 0.5;
    }
    free(sums);
    return true;
}

/* >>comes */

static void link_outside(whatif_loop *l, whatif_job *job)
{
    bool own = job->before != WHATIF_NONE && l->jobs[job->before].life == job->life;
    job->comes = JOB_OUTSIDE;
    job->thinks = false;
    if (job->before == WHATIF_NONE || (own && !l->sites[job->site].follows)) {
        return;
    }
    job->comes = JOB_LATER;
    job->after = job->before;
    l->closed = l->closed || (own && l->sites[job->site].slices >
                                         LONG_LIFE * l->sites[job->site].lives);
}

static void link_job(whatif_loop *l, size_t at)
{
    whatif_job *job = &l->jobs[at];
    const whatif_job *last = at > 0 ? &l->jobs[at - 1] : NULL;
    const whatif_life *f = job->life != WHATIF_NONE ? &l->lives[job->life] : NULL;
    bool first = f != NULL && f->first_job == at;
    if (f == NULL || job->site == WHATIF_NONE) {
        job->comes = JOB_OUTSIDE;
    } else if (job->ready_ns > 0 && job->ready_job != WHATIF_NONE) {
        job->comes = job->ready_iteration == job->iteration ? JOB_SAME : JOB_NEXT;
        job->after = job->ready_job;
        job->after_ns = job->ready_ns;
    } else if (job->ready_ns > 0) {
        job->found = job->ready_iteration;
        link_outside(l, job);
    } else if (first && f->created_job != WHATIF_NONE && f->created_iteration == job->iteration) {
        job->comes = JOB_SAME;
        job->after = f->created_job;
        job->after_ns = f->created_ns;
    } else if (!first && l->sites[job->site].ready > 0 && last != NULL &&
               last->iteration == job->iteration) {
        job->comes = JOB_SAME;              /* what ran before it goes on with it */
        job->after = (uint32_t)at - 1;
        job->after_ns = last->end_ns;
    } else {
        l->blind += first && f->created_ns > 0 && f->created_iteration != job->iteration;
        link_outside(l, job);
    }
}

/* What a job tells late came before it did, and it with the first of these. */
static void link_told(whatif_loop *l)
{
    for (size_t i = 0; i < l->job_count; i++) {
        l->jobs[i].tells_ns = 0;
    }
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        if (job->since_ns > 0 && job->ready_job != WHATIF_NONE) {
            whatif_job *teller = &l->jobs[job->ready_job];
            bool first = teller->tells_ns == 0 || job->since_ns < teller->tells_ns;
            teller->tells_ns = first ? job->since_ns : teller->tells_ns;
        }
    }
}

/* A life that outside brought begins with its first job. */
static bool mark_life(whatif_loop *l, uint32_t at)
{
    whatif_life *f = &l->lives[at];
    if (f->created_ns == 0 || f->finished_ns == 0 || f->finish_job == WHATIF_NONE ||
        f->first_job == WHATIF_NONE || f->site == WHATIF_NONE) {
        return true;
    }
    return (f->created_job == WHATIF_NONE ||
            add_mark(l, f->created_job, MARK_CREATE, at, f->created_ns)) &&
           add_mark(l, f->finish_job, MARK_FINISH, at, f->finished_ns);
}

bool whatif_link(whatif_loop *l)
{
    bool ok = find_followers(l);
    free(l->first_mark);
    free(l->last_mark);
    l->mark_count = 0;
    l->blind = 0;
    l->closed = false;
    l->first_mark = (uint32_t *)malloc((l->job_count + 1) * sizeof *l->first_mark);
    l->last_mark = (uint32_t *)calloc(l->job_count + 1, sizeof *l->last_mark);
    ok = ok && l->first_mark != NULL && l->last_mark != NULL;
    for (size_t i = 0; ok && i < l->job_count; i++) {
        l->first_mark[i] = WHATIF_NONE;
        link_job(l, i);
    }
    link_told(l);
    for (size_t i = 0; ok && i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        ok = job->comes == JOB_OUTSIDE ||
             add_mark(l, job->after, MARK_RELEASE, (uint32_t)i, job->after_ns);
    }
    for (size_t i = 0; ok && i < l->life_count; i++) {
        ok = mark_life(l, (uint32_t)i);
    }
    return ok;
}

/* >>clients */

typedef struct answered {
    uint64_t ns;
    uint32_t job;
} answered;

static int compare_answers(const void *a, const void *b)
{
    const answered *x = (const answered *)a;
    const answered *y = (const answered *)b;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : (x->job > y->job) - (x->job < y->job);
}

/* What a job that came from outside was asked for is answered when its future ends, or itself. */
static bool answer_of(const whatif_loop *l, uint32_t at, answered *out)
{
    const whatif_job *job = &l->jobs[at];
    const whatif_life *f = job->life != WHATIF_NONE ? &l->lives[job->life] : NULL;
    if (f != NULL && f->first_job == at && f->created_job == WHATIF_NONE) {
        out->ns = f->finished_ns;
        out->job = f->finish_job;
        return f->finished_ns > 0 && f->finish_job != WHATIF_NONE;
    }
    out->ns = job->end_ns;
    out->job = at;
    return job->end_ns > 0;
}

/* The most that were asked and not answered when a poll ended, but for the given part of the polls.
 * polls: room for how many times so many were. */
static size_t most_waiting(const whatif_loop *l, const uint32_t *came, size_t count,
                           const answered *answers, size_t answered_count, uint32_t *polls, double part)
{
    size_t most = 0, done = 0, all = 0, above = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t found = l->jobs[came[k]].found;
        while (done < answered_count && answers[done].ns < l->iterations[found].leave_ns) {
            done++;
        }
        if (k + 1 > done && (k + 1 == count || l->jobs[came[k + 1]].found != found)) {
            polls[k + 1 - done]++;
            all++;
            most = k + 1 - done > most ? k + 1 - done : most;
        }
    }
    while (most > 1 && (double)(above + polls[most]) <= part * (double)all) {
        above += polls[most--];
    }
    return most;
}

static bool follow_answers(whatif_loop *l, const uint32_t *came, size_t count,
                           const answered *answers, size_t answered_count, bool eager)
{
    uint32_t *polls = (uint32_t *)calloc(count + 1, sizeof *polls);
    size_t clients = eager;
    bool ok = polls != NULL;
    if (ok) {
        clients += most_waiting(l, came, count, answers, answered_count, polls, eager ? RARE : 0);
    }
    free(polls);
    for (size_t k = clients; ok && k < count && k - clients < answered_count; k++) {
        whatif_job *job = &l->jobs[came[k]];
        job->comes = JOB_LATER;
        job->thinks = true;
        job->after = answers[k - clients].job;
        job->after_ns = answers[k - clients].ns;
        ok = add_mark(l, job->after, MARK_RELEASE, came[k], job->after_ns);
    }
    l->clients = (uint32_t)clients;
    l->eager = eager;
    l->closed = true;
    return ok;
}

bool whatif_link_clients(whatif_loop *l, bool eager)
{
    uint32_t *came = (uint32_t *)calloc(l->job_count + 1, sizeof *came);
    answered *answers = (answered *)calloc(l->job_count + 1, sizeof *answers);
    size_t count = 0, answered_count = 0;
    bool ok = came != NULL && answers != NULL && whatif_link(l);
    for (uint32_t i = 0; ok && i < l->job_count; i++) {
        if (l->jobs[i].comes == JOB_OUTSIDE) {
            came[count++] = i;
            answered_count += answer_of(l, i, &answers[answered_count]);
        }
    }
    if (ok) {
        qsort(answers, answered_count, sizeof *answers, compare_answers);
        ok = follow_answers(l, came, count, answers, answered_count, eager);
    }
    free(came);
    free(answers);
    return ok;
}
