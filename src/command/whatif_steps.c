/* whatif_steps.c - the jobs of a loop, from the steps of its ring. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"

#define STALL_DEFAULT_NS UINT64_C(20000000)
#define AT_ONCE_NS UINT64_C(10000)     /* a longer wait is one */
#define NO_DEPTH UINT32_MAX

enum { LOOP_PATH = 0, IDLE_PATH = 1, UNTRACKED_PATH = 2 };

/* >>rows */

bool whatif_room(void **rows, size_t *room, size_t count, size_t size)
{
    size_t more = *room == 0 ? 1024 : 2 * *room;
    void *grown;
    if (count < *room) {
        return true;
    }
    grown = more < UINT32_MAX ? realloc(*rows, more * size) : NULL;
    if (grown == NULL) {
        return false;
    }
    *rows = grown;
    *room = more;
    return true;
}

#define ROOM(list, count, room) whatif_room((void **)&(list), &(room), count, sizeof *(list))

void whatif_free(whatif_loop *l)
{
    for (size_t i = 0; i < l->site_count; i++) {
        free(l->sites[i].name);
        free(l->sites[i].file);
    }
    free(l->site_of_path);
    free(l->sites);
    free(l->jobs);
    free(l->pieces);
    free(l->lives);
    free(l->iterations);
    free(l->marks);
    free(l->first_mark);
    free(l->last_mark);
    memset(l, 0, sizeof *l);
}

/* >>sites: paths of one site are one */

typedef struct site_key {
    const path_row *row;
    size_t at;
} site_key;

static int compare_texts(json_text a, json_text b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common > 0 ? memcmp(a.bytes, b.bytes, common) : 0;
    return order != 0 ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int compare_sites(const void *a, const void *b)
{
    const site_key *x = (const site_key *)a;
    const site_key *y = (const site_key *)b;
    int order = compare_texts(x->row->name, y->row->name);
    order = order != 0 ? order : compare_texts(x->row->file, y->row->file);
    return order != 0 ? order : x->row->line < y->row->line ? -1 : x->row->line > y->row->line;
}

static bool name_site(whatif_loop *l, const path_row *row)
{
    whatif_site *site = &l->sites[l->site_count];
    site->name = json_plain(row->name);
    site->file = json_plain(row->file.length > 0 ? row->file : json_word(""));
    site->line = row->line;
    l->site_count++;
    return site->name != NULL && site->file != NULL;
}

static bool read_sites(whatif_loop *l, const path_tree *t)
{
    site_key *keys = (site_key *)calloc(t->count + 1, sizeof *keys);
    bool ok = keys != NULL;
    l->path_count = t->count;
    l->site_of_path = (uint32_t *)calloc(t->count + 1, sizeof *l->site_of_path);
    l->sites = (whatif_site *)calloc(t->count + 1, sizeof *l->sites);
    ok = ok && l->site_of_path != NULL && l->sites != NULL;
    for (size_t i = 0; ok && i < t->count; i++) {
        keys[i].row = &t->rows[i];
        keys[i].at = i;
    }
    if (ok) {
        qsort(keys, t->count, sizeof *keys, compare_sites);
    }
    for (size_t i = 0; ok && i < t->count; i++) {
        if (t->rows[keys[i].at].id < FIRST_PATH) {
            l->site_of_path[keys[i].at] = WHATIF_NONE;
            continue;
        }
        if (l->site_count == 0 || i == 0 || t->rows[keys[i - 1].at].id < FIRST_PATH ||
            compare_sites(&keys[i - 1], &keys[i]) != 0) {
            ok = name_site(l, keys[i].row);
        }
        l->site_of_path[keys[i].at] = (uint32_t)(l->site_count - 1);
    }
    free(keys);
    return ok;
}

/* >>lives by id */

typedef struct id_slot {
    uint64_t id;               /* 0: free */
    uint32_t life;
} id_slot;

typedef struct steps_reader {
    whatif_loop *l;
    const timeline *ring;
    id_slot *slots;
    size_t slot_count;         /* a power of two */
    chroprof_step step, next;
    uint32_t base;             /* depth of the loop's own waits */
    uint32_t job;              /* under way; WHATIF_NONE: none */
    uint32_t last_job;         /* of this iteration; WHATIF_NONE: none yet */
    bool started;              /* a wait has ended */
    bool cut;                  /* the callback under way began before that */
    bool idle;
    uint64_t enter_ns, gap_ns;
    uint64_t late_ns;          /* of the ready that comes next */
    uint64_t nested_idle_ns, uninstrumented_ns, untracked_ns;      /* of the iteration under way */
} steps_reader;

static id_slot *slot_of(const steps_reader *r, uint64_t id)
{
    size_t at = (size_t)((id ^ id >> 7) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    for (;; at++) {
        id_slot *slot = &r->slots[at & (r->slot_count - 1)];
        if (slot->id == id || slot->id == 0) {
            return slot;
        }
    }
}

static uint32_t life_of(const steps_reader *r, uint64_t id)
{
    return id != 0 && slot_of(r, id)->id == id ? slot_of(r, id)->life : WHATIF_NONE;
}

static uint32_t this_iteration(const steps_reader *r)
{
    return (uint32_t)r->l->iteration_count - 1;
}

/* A new life of an id. false: no memory. */
static bool life_begin(steps_reader *r, uint64_t id, bool created)
{
    whatif_loop *l = r->l;
    id_slot *slot = slot_of(r, id);
    whatif_life *f;
    if (!ROOM(l->lives, l->life_count, l->life_room)) {
        return false;
    }
    f = &l->lives[l->life_count];
    memset(f, 0, sizeof *f);
    f->site = f->first_job = f->last_job = f->finish_job = f->ready_job = WHATIF_NONE;
    f->created_ns = created ? r->step.at_ns : 0;
    f->created_job = created ? r->job : WHATIF_NONE;
    f->created_iteration = this_iteration(r);
    slot->id = id;
    slot->life = (uint32_t)l->life_count++;
    return true;
}

static void life_end(steps_reader *r, uint64_t id)
{
    id_slot *slot = slot_of(r, id);
    whatif_life *f = &r->l->lives[slot->life];
    f->finished_ns = r->step.at_ns;
    f->finish_job = r->job != WHATIF_NONE ? r->job : f->last_job;
    slot->life = WHATIF_NONE;               /* the slot stays: ids are used again */
}

/* It can have been ready no earlier than it was paused, or created by a job. What the loop created
 * as it found it came before that. */
static uint64_t rests_since(const steps_reader *r, const whatif_life *f)
{
    bool found = f->created_job == WHATIF_NONE && f->created_iteration == this_iteration(r);
    return f->last_job != WHATIF_NONE ? f->last_ns : found ? 0 : f->created_ns;
}

static void life_ready(steps_reader *r, uint32_t life)
{
    whatif_life *f = &r->l->lives[life];
    f->ready_ns = r->step.at_ns;
    f->since_ns = 0;
    if (r->late_ns > 0 && r->late_ns < r->step.at_ns) {
        uint64_t since = r->step.at_ns - r->late_ns, rests = rests_since(r, f);
        f->since_ns = since > rests ? since : rests;
    }
    f->ready_job = r->job;
    f->ready_iteration = this_iteration(r);
}

/* >>jobs */

static uint32_t site_of(const steps_reader *r, uint32_t path)
{
    size_t at = path >= FIRST_PATH ? path_index(&r->ring->paths, path) : SIZE_MAX;
    return at != SIZE_MAX ? r->l->site_of_path[at] : WHATIF_NONE;
}

/* What a life has been through before this slice goes into its job. */
static void job_of_life(steps_reader *r, whatif_job *job, uint32_t life)
{
    whatif_life *f = &r->l->lives[life];
    job->life = life;
    job->ready_ns = f->ready_ns;
    job->since_ns = f->since_ns;
    job->ready_job = f->ready_job;
    job->ready_iteration = f->ready_iteration;
    job->before = f->last_job != WHATIF_NONE ? f->last_job : f->created_job;
    job->after_ns = f->last_job != WHATIF_NONE ? f->last_ns : f->created_ns;
}

static bool job_begin(steps_reader *r, uint64_t id)
{
    whatif_loop *l = r->l;
    whatif_job *job;
    uint32_t life = life_of(r, id);
    if (!ROOM(l->jobs, l->job_count, l->job_room)) {
        return false;
    }
    job = &l->jobs[l->job_count];
    memset(job, 0, sizeof *job);
    job->iteration = job->found = this_iteration(r);
    job->site = site_of(r, r->next.path);
    job->life = job->ready_job = job->before = job->after = WHATIF_NONE;
    job->first_piece = (uint32_t)l->piece_count;
    job->begin_ns = r->step.at_ns;
    job->gap_ns = r->gap_ns;
    if (life != WHATIF_NONE) {
        job_of_life(r, job, life);
    }
    r->gap_ns = 0;
    r->job = r->last_job = (uint32_t)l->job_count++;
    l->iterations[job->iteration].jobs++;
    return true;
}

static void job_end(steps_reader *r)
{
    whatif_job *job;
    if (r->job != WHATIF_NONE) {
        job = &r->l->jobs[r->job];
        job->end_ns = r->step.at_ns;
        if (job->life != WHATIF_NONE) {
            r->l->lives[job->life].last_ns = job->end_ns;
        }
    }
    r->job = WHATIF_NONE;
    r->cut = false;
}

/* A future runs, at whatever depth: in the job that its frame begins, or that is under way. */
static void life_runs(steps_reader *r, uint32_t life)
{
    whatif_life *f = &r->l->lives[life];
    if (f->site == WHATIF_NONE) {
        f->site = site_of(r, r->next.path);
    }
    f->first_job = f->first_job == WHATIF_NONE ? r->job : f->first_job;
    f->last_job = r->job;
    f->last_ns = r->step.at_ns;
    f->ready_ns = f->since_ns = 0;
    f->ready_job = WHATIF_NONE;
    f->slices++;
}

/* The interval that a step closes. false: no memory. */
static bool take_interval(steps_reader *r, uint64_t ns)
{
    whatif_loop *l = r->l;
    whatif_piece *piece;
    uint32_t site = site_of(r, r->step.path);
    bool idle = r->step.path == IDLE_PATH;
    if (!r->started || ns == 0 || (idle && r->step.depth <= r->base)) {
        l->idle_ns += r->started && idle ? ns : 0;
        return true;
    }
    r->nested_idle_ns += idle ? ns : 0;
    r->uninstrumented_ns += r->step.path == LOOP_PATH ? ns : 0;
    r->untracked_ns += r->step.path == UNTRACKED_PATH ? ns : 0;
    if (r->job == WHATIF_NONE) {
        r->gap_ns += ns;
        return true;
    }
    piece = l->piece_count > l->jobs[r->job].first_piece ? &l->pieces[l->piece_count - 1] : NULL;
    if (piece == NULL || piece->site != site) {
        if (!ROOM(l->pieces, l->piece_count, l->piece_room)) {
            return false;
        }
        piece = &l->pieces[l->piece_count++];
        piece->site = site;
        piece->ns = 0;
        l->jobs[r->job].pieces++;
    }
    piece->ns += ns;
    return true;
}

/* >>iterations */

static void iteration_end(steps_reader *r)
{
    whatif_loop *l = r->l;
    if (r->last_job != WHATIF_NONE) {
        l->jobs[r->last_job].tail_ns += r->gap_ns;
        r->gap_ns = 0;
    }
    l->nested_idle_ns += r->nested_idle_ns;
    l->uninstrumented_ns += r->uninstrumented_ns;
    l->untracked_ns += r->untracked_ns;
    r->nested_idle_ns = r->uninstrumented_ns = r->untracked_ns = 0;
    l->end_ns = r->step.at_ns;
    r->last_job = WHATIF_NONE;
    r->enter_ns = r->step.at_ns;
}

static bool iteration_begin(steps_reader *r)
{
    whatif_loop *l = r->l;
    whatif_iteration *i;
    if (!ROOM(l->iterations, l->iteration_count, l->iteration_room)) {
        return false;
    }
    i = &l->iterations[l->iteration_count++];
    memset(i, 0, sizeof *i);
    i->enter_ns = r->enter_ns;
    i->leave_ns = r->step.at_ns;
    if (!r->started) {
        l->begin_ns = l->end_ns = r->step.at_ns;
        r->cut = r->next.depth > r->base;
    }
    r->started = true;
    return true;
}

/* >>steps */

static bool runs(const chroprof_step *step)
{
    return step->state == CHROPROF_RUNNING || (step->state == CHROPROF_SWITCH && step->id != 0);
}

static bool finishes(chroprof_state state)
{
    return state >= CHROPROF_COMPLETED && state <= CHROPROF_CANCELLED;
}

/* What an event says of its future. false: no memory. */
static bool take_future(steps_reader *r)
{
    uint64_t id = r->step.id;
    uint32_t life = life_of(r, id);
    if (id == 0 || r->step.state == CHROPROF_SINCE) {
        r->late_ns = id;
        return true;
    }
    if (r->step.state == CHROPROF_PENDING) {
        return life_begin(r, id, true);
    }
    if (runs(&r->step) && life == WHATIF_NONE) {
        return life_begin(r, id, false);
    }
    if (life != WHATIF_NONE && r->step.state == CHROPROF_READY) {
        life_ready(r, life);
    } else if (life != WHATIF_NONE && finishes(r->step.state)) {
        life_end(r, id);
    }
    r->late_ns = 0;
    return true;
}

/* The stack becomes what it is after the event. false: no memory. */
static bool take_stack(steps_reader *r)
{
    bool before = r->step.depth > r->base && !r->idle;
    bool after = r->next.depth > r->base && (r->next.path != IDLE_PATH || r->job != WHATIF_NONE);
    bool other = r->next.depth == r->base + 1 && r->step.depth > r->base &&
                 (runs(&r->step) || (r->step.state == CHROPROF_NEXT));
    if (before && (!after || other)) {
        job_end(r);
    }
    if (after && !r->cut && (!before || other) && !job_begin(r, runs(&r->step) ? r->step.id : 0)) {
        return false;
    }
    if (runs(&r->step) && life_of(r, r->step.id) != WHATIF_NONE) {
        life_runs(r, life_of(r, r->step.id));
    }
    return true;
}

static bool take_event(steps_reader *r)
{
    bool idle = r->next.path == IDLE_PATH && r->next.depth <= r->base &&
                (r->next.at_ns > r->step.at_ns || r->step.state == CHROPROF_IDLE_ENTER);
    bool ok = true;
    if (idle && !r->idle) {
        job_end(r);
        iteration_end(r);
    } else if (!idle && r->idle) {
        ok = iteration_begin(r);
    }
    r->idle = idle;
    return ok && (!r->started || idle || (take_future(r) && take_stack(r)));
}

/* The least depth at which the loop waits. */
static uint32_t base_depth(const timeline *ring)
{
    uint32_t base = NO_DEPTH;
    for (size_t i = 0; i < ring->count; i++) {
        const chroprof_step *step = &ring->steps[i];
        base = step->path == IDLE_PATH && step->depth < base ? step->depth : base;
    }
    return base == NO_DEPTH ? 0 : base;
}

static bool take_steps(steps_reader *r)
{
    const timeline *ring = r->ring;
    bool ok = true;
    for (size_t i = 0; ok && i < ring->count; i++) {
        uint64_t before = i > 0 ? ring->steps[i - 1].at_ns : ring->steps[0].at_ns;
        r->step = ring->steps[i];
        r->next = ring->steps[i + 1];
        r->next.at_ns = r->next.at_ns > r->step.at_ns ? r->next.at_ns : r->step.at_ns;
        ok = take_interval(r, r->step.at_ns > before ? r->step.at_ns - before : 0) &&
             take_event(r);
    }
    return ok;
}

/* The last iteration is not whole: its jobs do not count. */
static void drop_last(whatif_loop *l)
{
    uint32_t last = (uint32_t)l->iteration_count - 1;
    while (l->job_count > 0 && l->jobs[l->job_count - 1].iteration >= last) {
        l->piece_count = l->jobs[--l->job_count].first_piece;
    }
    l->iteration_count = l->iteration_count > 0 ? last : 0;
    for (size_t i = 0; i < l->life_count; i++) {
        whatif_life *f = &l->lives[i];
        if (f->finish_job != WHATIF_NONE && f->finish_job >= l->job_count) {
            f->finish_job = WHATIF_NONE;
            f->finished_ns = 0;
        }
        f->first_job = f->first_job >= l->job_count ? WHATIF_NONE : f->first_job;
    }
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Up to where a poll has returned at once. few: what a tenth of the polls take at most. cycle: a mean
 * iteration with its wait. On a busy machine some polls take several times as long as most; where
 * that is a small part of the cycle, nearly no wait is as short. */
static uint64_t at_once_limit(uint64_t few, uint64_t cycle)
{
    uint64_t limit = 6 * few < AT_ONCE_NS ? 6 * few : AT_ONCE_NS;
    uint64_t wide = 40 * few < cycle / 100 ? 40 * few : cycle / 100;
    limit = limit < 1000 ? 1000 : limit;
    return limit > wide ? limit : wide;
}

/* Polls that return at once take about the same time, waits mostly more. */
static bool tell_waits(whatif_loop *l)
{
    size_t count = l->iteration_count, at_once = 0;
    uint64_t *ns = (uint64_t *)calloc(count + 1, sizeof *ns), limit;
    if (ns == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        ns[i] = l->iterations[i].leave_ns - l->iterations[i].enter_ns;
    }
    qsort(ns, count, sizeof *ns, compare_times);
    limit = at_once_limit(ns[count / 10], count > 0 ? (l->end_ns - l->begin_ns) / count : 0);
    while (at_once < count && ns[at_once] <= limit) {
        at_once++;
    }
    l->poll_ns = at_once > 0 ? ns[at_once / 2] : 0;
    for (size_t i = 1; i < count; i++) {
        whatif_iteration *w = &l->iterations[i];
        w->at_once = w->leave_ns - w->enter_ns <= limit;
    }
    free(ns);
    return true;
}

static void count_sites(whatif_loop *l)
{
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        for (uint32_t k = 0; k < job->pieces; k++) {
            const whatif_piece *piece = &l->pieces[job->first_piece + k];
            if (piece->site != WHATIF_NONE) {
                l->sites[piece->site].exec_ns += piece->ns;
            }
        }
        if (job->site != WHATIF_NONE) {
            l->sites[job->site].slices++;
            l->sites[job->site].ready += job->ready_ns > 0;
        }
    }
    for (size_t i = 0; i < l->life_count; i++) {
        if (l->lives[i].site != WHATIF_NONE) {
            l->sites[l->lives[i].site].lives++;
        }
    }
}

static uint64_t stall_bar(const profile_text *p)
{
    json_reader whole = p->reader, r;
    json_text options = { NULL, 0 };
    uint64_t ns = 0;
    const json_field fields[] = { JSON_VALUE("options", &options) };
    const json_field figures[] = { JSON_NUMBER("stall_ns", &ns) };
    whole.at = whole.begin;
    if (JSON_FIELDS(&whole, fields) && options.length > 0) {
        r = json_part(&p->reader, options);
        (void)JSON_FIELDS(&r, figures);
    }
    return ns > 0 ? ns : STALL_DEFAULT_NS;
}

static uint64_t run_of(const profile_text *p)
{
    json_reader r = json_part(&p->reader, p->totals);
    uint64_t ns = 0;
    const json_field figures[] = { JSON_NUMBER("elapsed_ns", &ns) };
    return p->totals.length > 0 && JSON_FIELDS(&r, figures) ? ns : 0;
}

bool whatif_read(whatif_loop *l, const timeline *ring, const profile_text *p)
{
    steps_reader r;
    bool ok;
    memset(l, 0, sizeof *l);
    memset(&r, 0, sizeof r);
    l->source = p->source;
    l->profile = p;
    l->run_ns = run_of(p);
    l->cut = ring->first > 0;
    l->stepped = ring->count > 0;
    l->stall_ns = stall_bar(p);
    r.l = l;
    r.ring = ring;
    r.base = base_depth(ring);
    r.job = r.last_job = WHATIF_NONE;
    for (r.slot_count = 1024; r.slot_count < 2 * ring->count;) {
        r.slot_count *= 2;
    }
    r.slots = (id_slot *)calloc(r.slot_count, sizeof *r.slots);
    ok = r.slots != NULL && read_sites(l, &ring->paths) && take_steps(&r);
    free(r.slots);
    if (ok) {
        drop_last(l);
        count_sites(l);
        ok = tell_waits(l) && whatif_link(l);
    }
    if (!ok) {
        tool_message("%s: not enough memory for %zu steps", p->source, ring->count);
    }
    return ok;
}
