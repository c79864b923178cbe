/* whatif_replay.c - the jobs of a loop go through it again, as it is or as it would be.
 *
 * An iteration is a poll, then all that came, in the order in which it came. So the times of a job
 * follow from those of the job before it, as in Lindley's recursion, whatever its length was. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

/* >>quantiles */

static void swap_values(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The value that is at `k` when they are sorted; Hoare's selection. */
static uint64_t select_value(uint64_t *values, size_t count, size_t k)
{
    size_t from = 0, to = count - 1;
    while (from < to) {
        uint64_t middle = values[from + (to - from) / 2];
        size_t i = from, j = to;
        while (i <= j) {
            while (values[i] < middle) {
                i++;
            }
            while (values[j] > middle) {
                j--;
            }
            if (i <= j) {
                swap_values(&values[i++], &values[j]);
                if (j == 0) {
                    break;
                }
                j--;
            }
        }
        if (k <= j) {
            to = j;
        } else if (k >= i) {
            from = i;
        } else {
            break;
        }
    }
    return values[k];
}

uint64_t whatif_quantile(uint64_t *values, size_t count, unsigned permille)
{
    size_t k = count * permille / 1000;
    return count == 0 ? 0 : select_value(values, count, k < count ? k : count - 1);
}

/* >>heaps: the smallest key on top */

typedef struct heap_row {
    uint64_t key;
    uint32_t job;
} heap_row;

typedef struct job_heap {
    heap_row *rows;
    size_t count;
} job_heap;

static bool comes_before(const heap_row *a, const heap_row *b)
{
    return a->key != b->key ? a->key < b->key : a->job < b->job;
}

static void heap_add(job_heap *h, uint64_t key, uint32_t job)
{
    heap_row row = { key, job };
    size_t at = h->count++;
    while (at > 0 && comes_before(&row, &h->rows[(at - 1) / 2])) {
        h->rows[at] = h->rows[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->rows[at] = row;
}

static heap_row heap_take(job_heap *h)
{
    heap_row top = h->rows[0], row = h->rows[--h->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= h->count) {
            break;
        }
        if (child + 1 < h->count && comes_before(&h->rows[child + 1], &h->rows[child])) {
            child++;
        }
        if (!comes_before(&h->rows[child], &row)) {
            break;
        }
        h->rows[at] = h->rows[child];
        at = child;
    }
    h->rows[at] = row;
    return top;
}

/* >>replay */

/* One that finished. */
typedef struct ending {
    uint32_t site;
    uint64_t latency_ns, seen_ns, delay_ns, hidden_ns;
} ending;

typedef struct job_state {
    uint64_t came_ns;          /* arrival, or release */
    uint64_t found_ns;         /* by a poll, or released */
    uint64_t begin_ns;
    uint64_t length_ns, done_ns;
    uint32_t mark;             /* the next one */
    bool moved;                /* a part of it goes on elsewhere */
    bool begun;
} job_state;

typedef struct life_state {
    uint64_t came_ns, created_ns, hidden_ns, delay_ns;
    bool known;
} life_state;

typedef struct replay {
    const whatif_loop *l;
    const whatif_arrivals *a;
    const whatif_change *c;
    job_state *jobs;
    life_state *lives;
    job_heap batch, later;     /* of this iteration; of arrivals that follow others */
    uint32_t *carry;           /* released for the next iteration */
    size_t carried, next;      /* next: in a->order */
    uint64_t t, begin_ns, busy_ns, work_ns;
    uint64_t *lengths;         /* of iterations */
    size_t iterations, iteration_room, stalls;
    ending *endings;
    size_t ending_count;
} replay;

/* An instant outside under another load. */
static uint64_t loaded(const replay *r, uint64_t ns)
{
    uint64_t begin = r->l->begin_ns;
    double load = r->c->load;
    return load == 1 || ns <= begin ? ns : begin + (uint64_t)((double)(ns - begin) / load);
}

static uint64_t order_key(const replay *r, uint32_t job)
{
    const whatif_job *j = &r->l->jobs[job];
    bool first = false;
    switch (r->c->order) {
    case ORDER_SHORTEST: return r->jobs[job].length_ns - r->jobs[job].done_ns;
    case ORDER_PRIORITY:
        first = j->site == r->c->first;
        for (uint32_t k = 0; k < j->pieces && !first; k++) {
            first = r->l->pieces[j->first_piece + k].site == r->c->first;
        }
        return !first;
    default: return 0;
    }
}

static void batch_add(replay *r, uint32_t job)
{
    heap_add(&r->batch, order_key(r, job), job);
}

uint64_t whatif_length(const whatif_loop *l, const whatif_change *c, const whatif_job *job,
                       bool *moved)
{
    double sum = 0;
    *moved = false;
    for (uint32_t k = 0; k < job->pieces; k++) {
        const whatif_piece *piece = &l->pieces[job->first_piece + k];
        double factor = piece->site != WHATIF_NONE ? c->factor[piece->site] : 1;
        *moved = *moved || (piece->site != WHATIF_NONE && c->moved[piece->site]);
        sum += (double)piece->ns * factor;
    }
    return (uint64_t)(sum + 0.5);
}

/* A life that outside brought begins when its first job was found; how long after that it was
 * created in fact is as it was. */
static void life_comes(replay *r, uint32_t job)
{
    const whatif_job *j = &r->l->jobs[job];
    const job_state *s = &r->jobs[job];
    const whatif_life *f = j->life != WHATIF_NONE ? &r->l->lives[j->life] : NULL;
    life_state *state;
    if (f == NULL || f->first_job != job || f->created_job != WHATIF_NONE) {
        return;
    }
    state = &r->lives[j->life];
    state->known = true;
    state->came_ns = s->came_ns;
    state->hidden_ns = s->found_ns - s->came_ns;
    state->created_ns = s->found_ns;
}

static void add_ending(replay *r, uint32_t site, const life_state *life, uint64_t end)
{
    ending *e = &r->endings[r->ending_count];
    r->ending_count += end >= r->c->from_ns;
    e->site = site;
    e->latency_ns = end - life->came_ns;
    e->seen_ns = end > life->created_ns ? end - life->created_ns : 0;
    e->delay_ns = life->delay_ns;
    e->hidden_ns = life->hidden_ns;
}

/* A call of the loop that has no id creates a future for what came: that began when it came. */
static void mark_create(replay *r, uint32_t job, uint32_t life, uint64_t ns)
{
    const whatif_job *j = &r->l->jobs[job];
    const job_state *s = &r->jobs[job];
    life_state *f = &r->lives[life];
    bool comes = j->life == WHATIF_NONE && j->comes == JOB_OUTSIDE;
    f->known = true;
    f->created_ns = ns;
    f->came_ns = comes ? s->came_ns : ns;
    f->hidden_ns = comes ? s->found_ns - s->came_ns : 0;
    f->delay_ns += comes ? s->begin_ns - s->found_ns : 0;
}

static void mark_finish(replay *r, uint32_t life, uint64_t ns)
{
    const life_state *f = &r->lives[life];
    if (f->known) {
        add_ending(r, r->l->lives[life].site, f, ns);
    }
}

/* A job that came from outside told late that this one could run; how much later than what brought
 * that job it came is as it was. */
static uint64_t told_by(const replay *r, const whatif_job *j, uint64_t ns)
{
    const whatif_job *teller = j->ready_job != WHATIF_NONE ? &r->l->jobs[j->ready_job] : NULL;
    uint64_t came = ns;
    if (teller != NULL && (teller->comes == JOB_OUTSIDE || teller->comes == JOB_LATER) &&
        teller->tells_ns > 0 && r->a->at_ns[j->ready_job] == teller->tells_ns) {
        came = r->jobs[j->ready_job].came_ns + (j->since_ns - teller->tells_ns);
    }
    return came < ns ? came : ns;
}

/* late: a part of the work before the mark goes on elsewhere. */
static void mark_release(replay *r, uint32_t job, uint64_t ns, bool late)
{
    const whatif_job *j = &r->l->jobs[job];
    job_state *s = &r->jobs[job];
    s->came_ns = s->found_ns = ns;
    if (j->since_ns > 0 && j->comes != JOB_LATER) {
        s->came_ns = told_by(r, j, ns);
    }
    if (j->comes == JOB_LATER) {
        uint64_t at = r->a->at_ns[job], lag = at > j->after_ns ? at - j->after_ns : 0;
        bool own = j->life != WHATIF_NONE && j->before != WHATIF_NONE &&
                   r->l->jobs[j->before].life == j->life;
        lag = (own || j->thinks) && r->c->load != 1 ? (uint64_t)((double)lag / r->c->load) : lag;
        heap_add(&r->later, ns + lag, job);
    } else if (late) {
        heap_add(&r->later, ns, job);
    } else if (j->comes == JOB_SAME) {
        batch_add(r, job);
    } else {
        r->carry[r->carried++] = job;
    }
}

/* The marks of a job that it has passed. */
static void take_marks(replay *r, uint32_t job, bool ended)
{
    job_state *s = &r->jobs[job];
    while (s->mark != WHATIF_NONE) {
        const whatif_mark *mark = &r->l->marks[s->mark];
        uint64_t at = (uint64_t)(mark->part * (double)s->length_ns + 0.5);
        uint64_t ns = ended && at > s->done_ns ? r->t : r->t - (s->done_ns - at);
        bool late = s->moved && mark->part >= 1 && r->c->moved_ns > 0;
        if (!ended && at > s->done_ns) {
            return;
        }
        ns += late ? r->c->moved_ns : 0;
        s->mark = mark->next;
        switch (mark->kind) {
        case MARK_RELEASE: mark_release(r, mark->target, ns, late); break;
        case MARK_CREATE: mark_create(r, job, mark->target, ns); break;
        default: mark_finish(r, mark->target, ns); break;
        }
    }
}

static void job_starts(replay *r, uint32_t job)
{
    const whatif_job *j = &r->l->jobs[job];
    job_state *s = &r->jobs[job];
    r->t += j->gap_ns;
    r->work_ns += j->gap_ns;
    s->begun = true;
    s->begin_ns = r->t;
    if (j->life != WHATIF_NONE) {
        life_comes(r, job);
        r->lives[j->life].delay_ns += s->begin_ns - (j->since_ns > 0 ? s->came_ns : s->found_ns);
    }
}

static void job_ends(replay *r, uint32_t job)
{
    const whatif_job *j = &r->l->jobs[job];
    const job_state *s = &r->jobs[job];
    uint64_t late = s->moved ? r->c->moved_ns : 0;
    if (j->life == WHATIF_NONE && j->site != WHATIF_NONE) {
        const life_state whole = { .known = true, .came_ns = s->came_ns, .created_ns = s->found_ns,
                                   .hidden_ns = s->found_ns - s->came_ns,
                                   .delay_ns = s->begin_ns - s->found_ns };
        add_ending(r, j->site, &whole, r->t + late);
    }
    r->t += j->tail_ns;
    r->work_ns += j->tail_ns;
}

/* One job, or as much of it as is allowed at a time. */
static void run_job(replay *r, uint32_t job)
{
    job_state *s = &r->jobs[job];
    uint64_t left = s->length_ns - s->done_ns, split = r->c->split_ns;
    bool ended = split == 0 || left <= split;
    if (!s->begun) {
        job_starts(r, job);
    }
    left = ended ? left : split;
    s->done_ns += left;
    r->t += left;
    r->work_ns += left;
    take_marks(r, job, ended);
    if (ended) {
        job_ends(r, job);
    } else {
        r->carry[r->carried++] = job;
    }
}

/* What has come by now. */
static void take_arrivals(replay *r)
{
    const whatif_arrivals *a = r->a;
    while (r->next < a->count && loaded(r, a->at_ns[a->order[r->next]]) <= r->t) {
        uint32_t job = a->order[r->next++];
        r->jobs[job].came_ns = loaded(r, a->at_ns[job]);
        r->jobs[job].found_ns = r->t;
        batch_add(r, job);
    }
    while (r->later.count > 0 && r->later.rows[0].key <= r->t) {
        heap_row row = heap_take(&r->later);
        r->jobs[row.job].came_ns = row.key;
        r->jobs[row.job].found_ns = r->t;
        batch_add(r, row.job);
    }
}

/* The next arrival; UINT64_MAX: none. */
static uint64_t next_arrival(const replay *r)
{
    const whatif_arrivals *a = r->a;
    uint64_t ns = r->next < a->count ? loaded(r, a->at_ns[a->order[r->next]]) : UINT64_MAX;
    return r->later.count > 0 && r->later.rows[0].key < ns ? r->later.rows[0].key : ns;
}

/* What a poll takes that returns at once: as long as the one that found this did, if it did. */
static uint64_t poll_takes(const replay *r)
{
    const whatif_arrivals *a = r->a;
    const whatif_iteration *w;
    if (r->carried > 0 || r->next >= a->count) {
        return r->l->poll_ns;
    }
    w = &r->l->iterations[r->l->jobs[a->order[r->next]].found];
    return w->at_once ? w->leave_ns - w->enter_ns : r->l->poll_ns;
}

/* What comes next ends a wait so much later than it came or was due. */
static uint64_t wakes_after(const replay *r, uint64_t next)
{
    const whatif_arrivals *a = r->a;
    bool later = r->later.count > 0 && r->later.rows[0].key == next;
    const whatif_job *j = &r->l->jobs[later ? r->later.rows[0].job : a->order[r->next]];
    const whatif_iteration *w = &r->l->iterations[j->found];
    bool due = j->since_ns >= w->enter_ns && j->since_ns < w->leave_ns && j->since_ns > 0;
    uint64_t waited = w->leave_ns - w->enter_ns;
    if (due) {
        return w->leave_ns - j->since_ns;
    }
    return r->l->wake_ns < waited || w->at_once ? r->l->wake_ns : waited;
}

/* false: nothing comes any more. */
static bool poll_loop(replay *r)
{
    uint64_t next = next_arrival(r);
    if (next == UINT64_MAX && r->carried == 0) {
        return false;
    }
    if (r->carried > 0 || next <= r->t) {
        r->t += poll_takes(r);
    } else {
        r->t = next + wakes_after(r, next);
    }
    take_arrivals(r);
    for (size_t i = 0; i < r->carried; i++) {
        batch_add(r, r->carry[i]);
    }
    r->carried = 0;
    return true;
}

static bool run_iteration(replay *r)
{
    uint64_t begin = r->t, length;
    if (!whatif_room((void **)&r->lengths, &r->iteration_room, r->iterations,
                     sizeof *r->lengths)) {
        return false;
    }
    while (r->batch.count > 0) {
        run_job(r, heap_take(&r->batch).job);
    }
    length = r->t - begin;
    r->lengths[r->iterations++] = length;
    r->stalls += length > r->l->stall_ns;
    r->busy_ns += length;
    return true;
}

/* >>figures */

static void kind_of(const ending *endings, const uint32_t *rows, size_t count, uint64_t *scratch,
                    kind_figures *k)
{
    double hidden = 0;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = endings[rows[i]].latency_ns;
        hidden += (double)endings[rows[i]].hidden_ns;
    }
    k->count = (double)count;
    k->hidden = count > 0 ? hidden / (double)count : 0;
    k->p50 = (double)whatif_quantile(scratch, count, 500);
    k->p99 = (double)whatif_quantile(scratch, count, 990);
    k->p999 = (double)whatif_quantile(scratch, count, 999);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = endings[rows[i]].delay_ns;
    }
    k->delay_p99 = (double)whatif_quantile(scratch, count, 990);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = endings[rows[i]].seen_ns;
    }
    k->seen_p50 = (double)whatif_quantile(scratch, count, 500);
    k->seen_p99 = (double)whatif_quantile(scratch, count, 990);
}

/* Figures by site: the endings are sorted into their sites by counting. */
static bool figure_kinds(const ending *endings, size_t count, size_t sites, kind_figures *kinds)
{
    size_t *from = (size_t *)calloc(sites + 2, sizeof *from);
    uint32_t *rows = (uint32_t *)calloc(count + 1, sizeof *rows);
    uint64_t *scratch = (uint64_t *)calloc(count + 1, sizeof *scratch);
    bool ok = from != NULL && rows != NULL && scratch != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        from[endings[i].site + 2]++;
    }
    for (size_t s = 2; ok && s < sites + 2; s++) {
        from[s] += from[s - 1];
    }
    for (size_t i = 0; ok && i < count; i++) {
        rows[from[endings[i].site + 1]++] = (uint32_t)i;
    }
    for (size_t s = 0; ok && s < sites; s++) {
        kind_of(endings, rows + from[s], from[s + 1] - from[s], scratch, &kinds[s]);
    }
    free(from);
    free(rows);
    free(scratch);
    return ok;
}

static bool figures(replay *r, loop_figures *out)
{
    const whatif_loop *l = r->l;
    double elapsed = (double)(r->t - r->begin_ns);
    double span = (double)(l->end_ns - l->begin_ns);
    out->utilization = elapsed > 0 ? (double)r->busy_ns / elapsed : 0;
    out->saturates_at = span / (r->work_ns > 0 ? (double)r->work_ns : 1);      /* 1: it has none */
    out->finished_per_s = elapsed > 0 ? (double)r->ending_count * 1e9 / elapsed : 0;
    out->stalls = (double)r->stalls;
    out->iteration_p50 = (double)whatif_quantile(r->lengths, r->iterations, 500);
    out->iteration_p99 = (double)whatif_quantile(r->lengths, r->iterations, 990);
    out->iteration_max = (double)whatif_quantile(r->lengths, r->iterations, 1000);
    return figure_kinds(r->endings, r->ending_count, l->site_count, out->kinds);
}

static bool replay_begin(replay *r, const whatif_loop *l, const whatif_arrivals *a,
                         const whatif_change *c)
{
    size_t jobs = l->job_count + 1;
    memset(r, 0, sizeof *r);
    r->l = l;
    r->a = a;
    r->c = c;
    r->t = r->begin_ns = l->begin_ns;
    r->jobs = (job_state *)calloc(jobs, sizeof *r->jobs);
    r->lives = (life_state *)calloc(l->life_count + 1, sizeof *r->lives);
    r->batch.rows = (heap_row *)calloc(jobs, sizeof *r->batch.rows);
    r->later.rows = (heap_row *)calloc(jobs, sizeof *r->later.rows);
    r->carry = (uint32_t *)calloc(jobs, sizeof *r->carry);
    r->endings = (ending *)calloc(jobs + l->life_count, sizeof *r->endings);
    if (r->jobs == NULL || r->lives == NULL || r->batch.rows == NULL || r->later.rows == NULL ||
        r->carry == NULL || r->endings == NULL) {
        return false;
    }
    for (size_t i = 0; i < l->job_count; i++) {
        r->jobs[i].mark = l->first_mark[i];
        r->jobs[i].length_ns = whatif_length(l, c, &l->jobs[i], &r->jobs[i].moved);
    }
    return true;
}

static void replay_end(replay *r)
{
    free(r->jobs);
    free(r->lives);
    free(r->batch.rows);
    free(r->later.rows);
    free(r->carry);
    free(r->endings);
    free(r->lengths);
}

bool whatif_replay(const whatif_loop *l, const whatif_arrivals *a, const whatif_change *c,
                   loop_figures *out)
{
    replay r;
    bool ok = replay_begin(&r, l, a, c);
    while (ok && poll_loop(&r)) {
        ok = run_iteration(&r);
    }
    ok = ok && figures(&r, out);
    replay_end(&r);
    return ok;
}

/* >>measured: from where the profile begins to count, as it was */

bool whatif_measured(const whatif_loop *l, uint64_t from_ns, kind_figures *kinds)
{
    ending *endings = (ending *)calloc(l->job_count + l->life_count + 1, sizeof *endings);
    size_t count = 0;
    bool ok;
    for (size_t i = 0; endings != NULL && i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        if (job->life == WHATIF_NONE && job->site != WHATIF_NONE && job->end_ns >= from_ns) {
            endings[count].site = job->site;
            endings[count++].seen_ns = job->end_ns - l->iterations[job->found].leave_ns;
        }
    }
    for (size_t i = 0; endings != NULL && i < l->life_count; i++) {
        const whatif_life *f = &l->lives[i];
        uint64_t from = f->created_ns;
        if (f->created_ns == 0 || f->finished_ns == 0 || f->finished_ns < from_ns ||
            f->site == WHATIF_NONE || f->finish_job == WHATIF_NONE || f->first_job == WHATIF_NONE) {
            continue;
        }
        if (f->created_job == WHATIF_NONE) {
            from = l->iterations[f->created_iteration].leave_ns;
        }
        endings[count].site = f->site;
        endings[count++].seen_ns = f->finished_ns - from;
    }
    ok = endings != NULL && figure_kinds(endings, count, l->site_count, kinds);
    free(endings);
    return ok;
}
