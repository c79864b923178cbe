/* watch.c - see watch.h */

#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "origin.h"

/* >>sample */

static void sample_free(top_sample *s)
{
    if (s != NULL) {
        block_close(&s->file);
        free(s->ranks);
        free(s);
    }
}

static int by_site(const void *a, const void *b)
{
    uint32_t x = ((const chroprof_rank *)a)->id;
    uint32_t y = ((const chroprof_rank *)b)->id;
    return x < y ? -1 : x > y;
}

/* NULL: that site was not used yet. */
static chroprof_rank *find_rank(const top_sample *s, uint32_t site)
{
    chroprof_rank wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.id = site;
    return (chroprof_rank *)bsearch(&wanted, s->ranks, s->count, sizeof wanted, by_site);
}

static bool sample_ranks(top_sample *s)
{
    s->count = chroprof_ranks(&s->file.view, NULL, 0, CHROPROF_BY_EXEC);
    s->ranks = (chroprof_rank *)calloc(s->count + 1, sizeof *s->ranks);
    if (s->ranks == NULL) {
        return false;
    }
    s->count = chroprof_ranks(&s->file.view, s->ranks, s->count, CHROPROF_BY_EXEC);
    qsort(s->ranks, s->count, sizeof *s->ranks, by_site);
    chroprof_read_totals(&s->file.view, &s->totals);
    block_origin(&s->file, &s->origin);
    return true;
}

/* NULL: it cannot be read just now; *result, errno and target->why say why. */
static top_sample *sample_take(block_file *target, chroprof_result *result)
{
    top_sample *s = (top_sample *)calloc(1, sizeof *s);
    *result = CHROPROF_ERR_FILE;
    if (s == NULL) {
        return NULL;
    }
    s->file.name = target->name;
    s->file.place = target->place;
    errno = 0;
    s->taken = seconds_now();
    s->taken_unix_ns = unix_now();
    *result = block_read(&s->file);
    if (*result != CHROPROF_OK || !sample_ranks(s)) {
        int why = errno;
        target->why = s->file.why;
        sample_free(s);
        errno = why;
        return NULL;
    }
    return s;
}

/* >>sample open time */

/* The site of a path, and what the sites above it have with children. */
static void sample_bill_path(top_sample *s, uint32_t id, uint64_t ns)
{
    size_t count = chroprof_paths(&s->file.view, NULL, 0);
    chroprof_path *paths = (chroprof_path *)calloc(count + 1, sizeof *paths);
    bool leaf = true;
    if (paths == NULL) {
        return;
    }
    count = chroprof_paths(&s->file.view, paths, count);
    for (size_t i = count; i-- > 0;) {      /* parents stand before their children */
        if (paths[i].id == id) {
            chroprof_rank *rank = find_rank(s, paths[i].site);
            if (rank != NULL) {
                rank->exec_ns += leaf ? ns : 0;
                rank->with_children_ns += ns;
            }
            leaf = false;
            id = paths[i].parent;
        }
    }
    free(paths);
}

/* Bills what goes on since the last event, where the snapshot could not. */
static void sample_bill_open(top_sample *s)
{
    chroprof_frame frame;
    uint64_t ns = s->open_ns;
    bool running = chroprof_frames(&s->file.view, &frame, 1) > 0 && !frame.barrier;
    if (!s->totals.enabled || s->totals.living || ns == 0) {
        return;
    }
    s->totals.elapsed_ns += ns;
    if (s->totals.idle) {
        s->totals.idle_ns += ns;
        s->totals.asleep_ns += ns;
    } else if (running) {
        s->totals.busy_ns += ns;
        sample_bill_path(s, frame.path, ns);
    } else {
        s->totals.uninstrumented_ns += ns;
    }
}

/* How long ago its last event was: by the calendar, but within what we saw ourselves. */
static uint64_t watch_age(const top_watch *w, const top_sample *s)
{
    uint64_t now = s->taken_unix_ns;
    double age = s->origin.end_unix_ns > 0 && now > s->origin.end_unix_ns
                 ? (double)(now - s->origin.end_unix_ns) / 1e9 : 0;
    if (w->other > 0 && age > s->taken - w->other) {
        age = s->taken - w->other;
    }
    if (w->unchanged > 0 && age < s->taken - w->unchanged) {
        age = s->taken - w->unchanged;
    }
    return age > 0 && age < 1e9 ? (uint64_t)(age * 1e9) : 0;
}

/* >>watch */

/* The interval as a profile of its own, for what can't be subtracted: percentiles, maxima. */
static top_sample *sample_between(const top_sample *older, const top_sample *newer)
{
    top_sample *s = (top_sample *)calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->file.copy = calloc(1, newer->file.size);
    s->file.size = newer->file.size;
    if (s->file.copy != NULL &&
        chroprof_difference(&newer->file.view, &older->file.view, s->file.copy, s->file.size) ==
            CHROPROF_OK &&
        chroprof_open(&s->file.view, s->file.copy, s->file.size) == CHROPROF_OK &&
        sample_ranks(s)) {
        return s;
    }
    sample_free(s);
    return NULL;
}

static bool watch_restarted(const top_sample *older, const top_sample *newer)
{
    return older->origin.pid != newer->origin.pid ||
           older->totals.start_unix_ns != newer->totals.start_unix_ns ||
           (newer->totals.events < older->totals.events && !newer->totals.estimated);
}

void watch_forget(top_watch *w)
{
    sample_free(w->base);
    if (w->shown != w->now) {
        sample_free(w->shown);
    }
    sample_free(w->now);
    sample_free(w->between);
    w->base = w->shown = w->now = w->between = NULL;
    w->unchanged = w->other = 0;
}

/* What a look says about the time of the last event. */
static void watch_motion(top_watch *w, top_sample *s)
{
    bool same = w->now != NULL && w->now->totals.events == s->totals.events;
    if (!same) {
        w->other = w->now != NULL ? w->now->taken : 0;
        w->unchanged = s->taken;
    }
    s->open_ns = w->state == TOP_RUNS && !s->totals.estimated ? watch_age(w, s) : 0;
    sample_bill_open(s);
}

/* Of a program that ended, the last bit is an interval of its own. */
static bool watch_interval_over(const top_watch *w, const top_sample *s, double interval)
{
    return w->state == TOP_RUNS ? s->taken - w->shown->taken >= 0.95 * interval
                                : s->totals.events != w->shown->totals.events;
}

/* The look becomes the newest; after an interval, the end of that one. */
static void watch_accept(top_watch *w, top_sample *s, double interval)
{
    if (w->now != w->shown) {
        sample_free(w->now);
    }
    w->now = s;
    if (w->shown == NULL) {
        w->shown = s;
    } else if (watch_interval_over(w, s, interval)) {
        sample_free(w->base);
        sample_free(w->between);
        w->base = w->shown;
        w->shown = s;
        w->between = sample_between(w->base, s);
    }
}

static void watch_failed(top_watch *w, chroprof_result result)
{
    bool gone = result == CHROPROF_ERR_FILE && errno == ENOENT;
    w->state = gone ? TOP_GONE : TOP_UNREADABLE;
    w->problem = block_problem(&w->target, result);
}

bool watch_look(top_watch *w, double interval)
{
    chroprof_result result;
    top_sample *s = sample_take(&w->target, &result);
    const top_sample *before;
    if (s == NULL) {
        watch_failed(w, result);
        return false;
    }
    if (w->now != NULL && watch_restarted(w->now, s)) {
        w->restarts += !s->totals.estimated;     /* else its observer has learned more */
        w->restarted = s->taken;
        watch_forget(w);
    }
    w->state = s->origin.ended || w->over ? TOP_ENDED
             : s->origin.mapped && !s->origin.alive ? TOP_DIED : TOP_RUNS;
    watch_motion(w, s);
    before = w->shown;
    watch_accept(w, s, interval);
    w->cost = seconds_now() - s->taken;
    return w->shown != before;
}

/* >>interval */

uint64_t gained(uint64_t newer, uint64_t older)
{
    return newer > older ? newer - older : 0;
}

static void row_fill(top_row *row, const chroprof_rank *newer, const chroprof_rank *older)
{
    static const chroprof_rank none;
    older = older != NULL ? older : &none;
    row->name = newer->name;
    row->file = newer->file;
    row->line = newer->line;
    row->ever_ns = newer->exec_ns;
    row->exec_ns = gained(newer->exec_ns, older->exec_ns);
    row->with_children_ns = gained(newer->with_children_ns, older->with_children_ns);
    row->slices = gained(newer->slices, older->slices);
    row->blame_ns = gained(newer->blame_ns, older->blame_ns);
    row->delay_ns = gained(newer->delay_ns, older->delay_ns);
    row->calls = gained(newer->calls, older->calls);
    row->live = newer->live;
}

/* These are of the interval, or since the start. */
static void row_spread(top_row *row, const chroprof_rank *of)
{
    row->slice_max_ns = of->slice_max_ns;
    row->slice_p99_ns = of->slice_p99_ns;
    row->latency_p50_ns = of->latency_p50_ns;
    row->latency_p99_ns = of->latency_p99_ns;
    row->latency_max_ns = of->latency_max_ns;
}

/* What tells of CPU time; period_ns 0: samples by hand. */
static chroprof_sampler_totals sampler_of(const top_sample *s)
{
    chroprof_sampler_totals t;
    chroprof_read_sampler(&s->file.view, &t);
    t.period_ns = t.first_period_ns > 0 ? t.period_ns : 0;
    return t;
}

/* Eight samples know a share within a third. They may have met a site too often, but it had no
 * more CPU time than exec. By the clock a sample has the CPU time since the one before, which is
 * the site's own only where its slices are longer than the period. */
static void row_cpu(top_row *row, const chroprof_rank *newer, const chroprof_rank *older,
                    const chroprof_sampler_totals *t)
{
    static const chroprof_rank none;
    uint64_t samples;
    older = older != NULL ? older : &none;
    samples = t->period_ns > 0 ? row->exec_ns / t->period_ns
                               : gained(newer->samples, older->samples);
    row->cpu_ns = gained(newer->cpu_ns, older->cpu_ns);
    row->cpu_ns = row->cpu_ns < row->exec_ns ? row->cpu_ns : row->exec_ns;
    row->cpu_known = samples >= 8 &&
                     (t->mode != CHROPROF_SAMPLER_WALL || row->slices <= samples / 4);
}

uint64_t watch_samples(const top_sample *from, const top_sample *to)
{
    uint64_t before = from != NULL ? sampler_of(from).samples : 0;
    return gained(sampler_of(to).samples, before);
}

bool watch_sampled(const top_sample *s)
{
    uint64_t period_ns = sampler_of(s).period_ns;
    for (size_t i = 0; i < s->count; i++) {
        if (s->ranks[i].cpu_ns > 0 || (s->ranks[i].samples > 0 && period_ns > 0)) {
            return true;
        }
    }
    return false;
}

bool watch_latency(const top_sample *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->ranks[i].latency_max_ns > 0) {
            return true;
        }
    }
    return false;
}

/* A slice under way is longer than the interval that it fills. */
static uint64_t slice_under_way(const top_sample *s, const chroprof_rank *rank)
{
    chroprof_frame frame;
    chroprof_path path;
    bool its = s->totals.enabled && !s->totals.idle &&
               chroprof_frames(&s->file.view, &frame, 1) > 0 && !frame.barrier &&
               chroprof_read_path(&s->file.view, frame.path, &path) && path.site == rank->id;
    return its ? s->open_ns : 0;
}

void interval_rows(const top_sample *from, const top_sample *to, const top_sample *between,
                   top_row *rows)
{
    static const chroprof_rank none;
    chroprof_sampler_totals sampler = sampler_of(to);
    for (size_t i = 0; i < to->count; i++) {
        const chroprof_rank *rank = &to->ranks[i];
        const chroprof_rank *before = from != NULL ? find_rank(from, rank->id) : NULL;
        const chroprof_rank *part = rank;
        if (from != NULL && between != NULL) {
            part = find_rank(between, rank->id);
        }
        row_fill(&rows[i], rank, before);
        row_cpu(&rows[i], rank, before, &sampler);
        row_spread(&rows[i], part != NULL ? part : &none);
        if (slice_under_way(to, rank) > rows[i].slice_max_ns) {
            rows[i].slice_max_ns = to->open_ns;
        }
    }
}

void interval_totals(const top_sample *from, const top_sample *to,
                     const top_sample *between, chroprof_totals *out)
{
    *out = to->totals;
    if (from == NULL) {
        return;
    }
    out->hidden_ns = between != NULL ? between->totals.hidden_ns : 0;
    out->iteration_p99_ns = between != NULL ? between->totals.iteration_p99_ns : 0;
    out->elapsed_ns = gained(to->totals.elapsed_ns, from->totals.elapsed_ns);
    out->busy_ns = gained(to->totals.busy_ns, from->totals.busy_ns);
    out->idle_ns = gained(to->totals.idle_ns, from->totals.idle_ns);
    out->at_once_ns = gained(to->totals.at_once_ns, from->totals.at_once_ns);
    out->asleep_ns = gained(out->idle_ns, out->at_once_ns > out->elapsed_ns / 100 ? out->at_once_ns
                                                                                  : 0);
    out->start_ns = gained(to->totals.start_ns, from->totals.start_ns);
    out->exit_ns = gained(to->totals.exit_ns, from->totals.exit_ns);
    out->uninstrumented_ns = gained(to->totals.uninstrumented_ns, from->totals.uninstrumented_ns);
    out->delay_ns = gained(to->totals.delay_ns, from->totals.delay_ns);
    out->events = gained(to->totals.events, from->totals.events);
    out->callbacks = gained(to->totals.callbacks, from->totals.callbacks);
    out->iterations = gained(to->totals.iterations, from->totals.iterations);
    out->stalls = gained(to->totals.stalls, from->totals.stalls);
}
