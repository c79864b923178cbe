/* whatif_link.c - which jobs come from outside, and which ones other jobs released. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

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
    l->first_mark = (uint32_t *)malloc((l->job_count + 1) * sizeof *l->first_mark);
    l->last_mark = (uint32_t *)calloc(l->job_count + 1, sizeof *l->last_mark);
    ok = ok && l->first_mark != NULL && l->last_mark != NULL;
    for (size_t i = 0; ok && i < l->job_count; i++) {
        l->first_mark[i] = WHATIF_NONE;
        link_job(l, i);
    }
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
