/* model.c - the slow reference model, see model.h */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>

/* The macros of stb_ds.h cast any element pointer to their own header; malloc aligned it. */
#pragma GCC diagnostic ignored "-Wcast-align"

/* ---- small helpers ------------------------------------------------------------------------- */

static void count(model *m, chroprof_anomaly_kind kind)
{
    m->anomalies[kind]++;
}

static void drop(model *m, chroprof_table_kind table)
{
    m->dropped[table]++;
}

static int length_of(const void *list, size_t n)
{
    return list ? (int)n : 0;
}

#define COUNT(list) length_of(list, arrlenu(list))

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = (char *)malloc(bytes);

    if (!copy)
        abort();
    memcpy(copy, text, bytes);
    return copy;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool went_back(uint64_t difference)
{
    return difference >> 63 != 0;
}

/* ---- sites and paths ----------------------------------------------------------------------- */

static int site_of(model *m, const char *name, const char *file, uint32_t line)
{
    model_site site;
    int i;

    for (i = 0; i < COUNT(m->sites); i++)
        if (m->sites[i].line == line && strcmp(m->sites[i].name, name) == 0 &&
            strcmp(m->sites[i].file, file) == 0)
            return i;
    if ((uint64_t)COUNT(m->sites) >= m->capacity[CHROPROF_TABLE_SITES]) {
        drop(m, CHROPROF_TABLE_SITES);
        m->other_used = true;
        return MODEL_OTHER;
    }
    site.name = copy_text(name);
    site.file = copy_text(file);
    site.line = line;
    arrput(m->sites, site);
    return i;
}

static int intern(model *m, const chroprof_site *site)
{
    return site_of(m, site->name, site->file ? site->file : "", site->line);
}

/* How many sites of the path lead down to this one, itself included; 0: it is not on the path. */
static int position_on(const model_path *path, int site)
{
    int i;

    for (i = 0; i < COUNT(path->chain); i++)
        if (path->chain[i] == site)
            return i + 1;
    return 0;
}

static bool is_chain(const model_path *path, const int *chain, int n)
{
    int i;

    if (COUNT(path->chain) != n)
        return false;
    for (i = 0; i < n; i++)
        if (path->chain[i] != chain[i])
            return false;
    return true;
}

static int path_with(const model *m, const int *chain, int n)
{
    int i;

    for (i = 0; i < COUNT(m->paths); i++)
        if (is_chain(&m->paths[i], chain, n))
            return i;
    return -1;
}

static int find_edge(const model *m, int parent, int site)
{
    int i;

    for (i = 0; i < COUNT(m->edges); i++)
        if (m->edges[i].parent == parent && m->edges[i].site == site)
            return m->edges[i].path;
    return -1;
}

static int remember(model *m, int parent, int site, int path)
{
    model_edge edge;

    edge.parent = parent;
    edge.site = site;
    edge.path = path;
    arrput(m->edges, edge);
    return path;
}

static int add_path(model *m, int parent, int site)
{
    model_path path = { NULL };
    int i;

    for (i = 0; parent >= 0 && i < COUNT(m->paths[parent].chain); i++)
        arrput(path.chain, m->paths[parent].chain[i]);
    arrput(path.chain, site);
    arrput(m->paths, path);
    return COUNT(m->paths) - 1;
}

static int path_under(model *m, int parent, int site)
{
    bool deepest = parent >= 0 && COUNT(m->paths[parent].chain) == 512;
    int known = find_edge(m, parent, site);
    int instead = parent == MODEL_LOOP ? MODEL_UNTRACKED : parent;
    int on_path =
        parent >= 0 && m->mutant != MODEL_NEVER_FOLDS ? position_on(&m->paths[parent], site) : 0;

    if (known >= 0)
        return known;
    if (deepest)
        return path_under(m, MODEL_LOOP, site);
    if ((uint64_t)COUNT(m->edges) >= m->capacity[CHROPROF_TABLE_EDGES]) {
        drop(m, CHROPROF_TABLE_EDGES);
        return instead;
    }
    if (on_path)
        return remember(m, parent, site, path_with(m, m->paths[parent].chain, on_path));
    if ((uint64_t)COUNT(m->paths) >= m->capacity[CHROPROF_TABLE_PATHS]) {
        drop(m, CHROPROF_TABLE_PATHS);
        return instead;
    }
    return remember(m, parent, site, add_path(m, parent, site));
}

/* ---- the running stack --------------------------------------------------------------------- */

static int depth(const model *m)
{
    return COUNT(m->stack);
}

static model_frame *top_frame(const model *m)
{
    return m->hidden || depth(m) == 0 ? NULL : &m->stack[depth(m) - 1];
}

/* Where the innermost loop begins: the index above the innermost barrier. */
static int base_index(const model *m)
{
    int i;

    for (i = depth(m); i > 0; i--)
        if (m->stack[i - 1].kind == MODEL_FRAME_BARRIER)
            return i;
    return 0;
}

static int frames_of(const model *m, int future)
{
    int i, n = 0;

    for (i = 0; i < depth(m); i++)
        n += m->stack[i].kind == MODEL_FRAME_FUTURE && m->stack[i].future == future;
    return n;
}

/* The topmost frame that was pushed for this id, whatever its generation; -1: none. */
static int frame_with_id(const model *m, uint64_t id)
{
    int i;

    for (i = depth(m) - 1; i >= 0; i--)
        if (m->stack[i].kind <= MODEL_FRAME_UNKNOWN && m->stack[i].id == id)
            return i;
    return -1;
}

static int place_on_top(const model *m)
{
    const model_frame *top = top_frame(m);

    if (m->idle)
        return MODEL_IDLE;
    if (m->hidden)
        return MODEL_UNTRACKED;
    if (!top || top->kind == MODEL_FRAME_BARRIER)
        return MODEL_LOOP;
    return top->future < 0 ? MODEL_UNTRACKED : m->futures[top->future].path;
}

/* The parent of what is created now. */
static int parent_on_top(const model *m)
{
    int place = place_on_top(m);

    return place < 0 ? MODEL_LOOP : place;
}

/* ---- time ---------------------------------------------------------------------------------- */

static void bill_callback(model *m, uint64_t dt)
{
    int base = base_index(m);

    if (m->mutant == MODEL_KEEPS_CALLBACKS_IN_BARRIERS)
        base = 0;
    if (base < depth(m))
        m->stack[base].callback += dt;
}

static void bill_slice(model *m, uint64_t dt)
{
    const model_frame *top = top_frame(m);

    /* the lifetime of a future that has finished goes on while its code runs */
    if (top && top->future >= 0 && top->kind == MODEL_FRAME_FUTURE &&
        m->futures[top->future].end != MODEL_LIVE)
        m->futures[top->future].late += dt;

    if (top && top->slice >= 0)
        m->slices[top->slice].length += dt;
}

/* The site of a path; below -10 loop, idle and untracked. */
static int site_behind(const model *m, int place)
{
    return place < 0 ? place - 10 : arrlast(m->paths[place].chain);
}

static void share_with(model_future *f, int site, uint64_t dt)
{
    model_share share;
    int i;

    for (i = 0; i < COUNT(f->behind) && f->behind[i].site != site; i++)
        ;
    share.site = site;
    share.ticks = 0;
    if (i == COUNT(f->behind))
        arrput(f->behind, share);
    f->behind[i].ticks += dt;
}

static bool is_stacked(const model *m, int future)
{
    int i;

    for (i = 0; i < depth(m); i++)
        if (m->stack[i].kind == MODEL_FRAME_FUTURE && m->stack[i].future == future)
            return true;
    return false;
}

/* Where the lifetime of each live future goes. */
static void bill_ways(model *m, int place, uint64_t dt, bool long_step)
{
    const model_frame *top = top_frame(m);
    int i;

    m->was_hidden |= m->hidden != 0;
    m->hidden_at = m->hidden ? m->elapsed + dt : m->hidden_at;
    for (i = 0; i < COUNT(m->live); i++) {
        model_future *f = &m->futures[m->live[i]];
        if (!f->id)
            continue;
        if (is_stacked(m, m->live[i])) {
            f->stacked += dt;
            if (!long_step && !m->hidden && top->kind == MODEL_FRAME_FUTURE &&
                top->future == m->live[i])
                f->exec += dt;
        } else if (f->state == CHROPROF_READY) {
            f->waited += dt;
            share_with(f, site_behind(m, place), dt);
        }
    }
}

static uint64_t bill_delays(model *m, uint64_t dt)
{
    uint64_t blame = 0;
    int i;

    for (i = 0; i < COUNT(m->live); i++) {
        const model_future *f = &m->futures[m->live[i]];
        if (f->state != CHROPROF_READY)
            continue;
        m->delays[f->delay].length += dt;
        blame += dt;
    }
    return blame;
}

static void misbill(model *m, model_interval *interval)
{
    if (m->misbilled || m->events < 50 || interval->place < 0 ||
        interval->end - interval->start < 2)
        return;
    m->misbilled = true;
    interval->start++;
    m->elapsed++;
    arrput(m->intervals, *interval);
    interval->end = interval->start;
    interval->start--;
    interval->place = MODEL_LOOP;
    interval->blame = 0;
    m->elapsed--;
}

static void bill(model *m, uint64_t dt, bool long_step)
{
    model_interval interval;

    interval.start = m->elapsed;
    interval.end = m->elapsed + dt;
    interval.place = long_step ? MODEL_UNTRACKED : place_on_top(m);
    interval.blame = bill_delays(m, dt);
    bill_ways(m, interval.place, dt, long_step);
    if (!long_step)
        bill_slice(m, dt);
    bill_callback(m, dt);
    m->elapsed += dt;
    m->billed = dt;
    if (m->mutant == MODEL_MISBILLS_ONE_TICK)
        misbill(m, &interval);
    arrput(m->intervals, interval);
    m->steps[COUNT(m->steps) - 1].place = interval.place;
    m->steps[COUNT(m->steps) - 1].at = m->elapsed;
    m->steps[COUNT(m->steps) - 1].slice = interval.place < 0 ? -1 : top_frame(m)->slice;
}

static void advance(model *m, uint64_t now)
{
    uint64_t dt = m->started ? now - m->last : 0;
    bool long_step;

    m->last = now;
    if (went_back(dt)) {
        count(m, CHROPROF_ANOMALY_TIME_BACK);
        dt = 0;
    }
    long_step = !m->idle && dt > m->max_step_ns;
    if (long_step)
        count(m, CHROPROF_ANOMALY_LONG_STEP);
    bill(m, dt, long_step);
}

/* ---- what polls found ---------------------------------------------------------------------- */

/* It came after `from` at the earliest, and no later than the poll. */
static void find_since(model *m, int path, uint64_t from)
{
    model_found found = { path, 0 };

    if (m->polls > 1 && !m->waited) {
        from = larger(from, m->poll_before);
        found.most = m->poll > from ? m->poll - from : 0;
    }
    arrput(m->found, found);
}

static bool is_outside_of_tasks(const model *m)
{
    return !m->hidden && depth(m) == base_index(m);
}

static bool rests_since_poll(const model *m, const model_future *f)
{
    return m->in_iteration && f->since >= m->poll;
}

/* Created by the loop, and nothing else. */
static bool is_of_loop(const model *m, const model_future *f)
{
    return f->state == CHROPROF_PENDING && f->path >= 0 && COUNT(m->paths[f->path].chain) == 1;
}

/* A future that rests runs, is ready or ends. What came to rest after the poll it did not find. */
static void come_up(model *m, int future)
{
    const model_future *f = &m->futures[future];

    if (!is_outside_of_tasks(m) || (f->state != CHROPROF_PENDING && f->state != CHROPROF_PAUSED))
        return;
    if (!rests_since_poll(m, f))
        find_since(m, f->path, f->since);
    else if (is_of_loop(m, f))
        find_since(m, f->path, 0);
}

/* A call of the loop is over. It began in this iteration. */
static void find_call(model *m, const model_frame *frame)
{
    if (m->polls == 0 || frame->pushed >= m->poll)
        find_since(m, m->futures[frame->future].path, 0);
}

/* It was ready at an instant that was told. What is later than its record is its delay. */
static void find_told(model *m, int future, uint64_t when)
{
    const model_future *f = &m->futures[future];
    model_found found = { f->path, 0 };

    if (!is_outside_of_tasks(m) || (rests_since_poll(m, f) && !is_of_loop(m, f)))
        return;
    if (rests_since_poll(m, f) && when < m->poll)
        found.most = 2 * (m->poll - when);
    arrput(m->found, found);
}

/* ---- the life of a future ------------------------------------------------------------------ */

static int find_live(const model *m, uint64_t id)
{
    int i;

    for (i = 0; i < COUNT(m->live); i++)
        if (m->futures[m->live[i]].id == id)
            return m->live[i];
    return -1;
}

static uint64_t live_with_id(const model *m)
{
    uint64_t n = 0;
    int i;

    for (i = 0; i < COUNT(m->live); i++)
        n += m->futures[m->live[i]].id != 0;
    return n;
}

static void end_delay(model *m, model_future *f)
{
    if (f->state == CHROPROF_READY)
        m->delays[f->delay].ended = true;
}

/* The sites whose futures finish first have a group of slow ones; of others that is counted. */
static void keep_slow_site(model *m, int path)
{
    int site = site_behind(m, path), i;

    if (path < 0) /* untracked is no site */
        return;
    for (i = 0; i < COUNT(m->slow); i++)
        if (m->slow[i] == site)
            return;
    if (m->capacity[CHROPROF_TABLE_SLOW] && i >= (int)m->capacity[CHROPROF_TABLE_SLOW])
        drop(m, CHROPROF_TABLE_SLOW);
    arrput(m->slow, site);
}

static void end_future(model *m, int future, model_end end)
{
    model_future *f = &m->futures[future];
    int i;

    end_delay(m, f);
    f->end = end;
    f->died = m->elapsed;
    if (f->id && end >= MODEL_COMPLETED && end <= MODEL_CANCELLED)
        keep_slow_site(m, f->path);
    for (i = 0; i < COUNT(m->live); i++)
        if (m->live[i] == future)
            break;
    arrdel(m->live, (size_t)i);
}

static int add_future(model *m, uint64_t id, int path)
{
    model_future f;

    memset(&f, 0, sizeof f);
    f.id = id;
    f.path = path;
    f.end = MODEL_LIVE;
    f.state = CHROPROF_PENDING;
    f.born = f.since = m->elapsed;
    f.delay = -1;
    arrput(m->futures, f);
    arrput(m->live, COUNT(m->futures) - 1);
    return COUNT(m->futures) - 1;
}

/* Does a give up its record rather than b? */
static bool is_older(const model_future *a, const model_future *b)
{
    return a->since < b->since || (a->since == b->since && a->id < b->id);
}

/* Of the futures that do not run the one that has been longest in its state; -1: all run. */
static int oldest_future(const model *m)
{
    int i, oldest = -1;

    for (i = 0; i < COUNT(m->live); i++) {
        const model_future *f = &m->futures[m->live[i]];
        if (f->id && f->state != CHROPROF_RUNNING &&
            (oldest < 0 || is_older(f, &m->futures[oldest])))
            oldest = m->live[i];
    }
    return oldest;
}

/* A full table makes room by dropping the oldest future. -1: there is none, so it is a new call
 * that is dropped at once. */
static int create(model *m, uint64_t id, int path)
{
    bool full = live_with_id(m) >= m->capacity[CHROPROF_TABLE_FUTURES];
    int oldest = full ? oldest_future(m) : -1;
    int future = add_future(m, id, path);

    if (!full)
        return future;
    drop(m, CHROPROF_TABLE_FUTURES);
    m->ever_dropped = true;
    end_future(m, oldest < 0 ? future : oldest, MODEL_DROPPED);
    return oldest < 0 ? -1 : future;
}

static void begin_delay(model *m, model_future *f)
{
    model_activation delay = { -1, 0, false };

    delay.future = (int)(f - m->futures);
    f->state = CHROPROF_READY;
    f->since = m->elapsed;
    f->delay = COUNT(m->delays);
    arrput(m->delays, delay);
}

/* A future whose frame was hidden has lost it if the hidden frames were unwound: nobody says so. */
static bool lost_its_frame(const model *m, int future)
{
    const model_future *f = &m->futures[future];

    return f->id && f->state == CHROPROF_RUNNING && !frames_of(m, future) &&
           (!m->hidden || f->since < m->hidden_since);
}

static void pause_future(model *m, int future)
{
    model_future *f = &m->futures[future];

    if (f->end != MODEL_LIVE || frames_of(m, future))
        return;
    f->state = CHROPROF_PAUSED;
    f->since = m->elapsed;
    if (f->wants_ready)
        begin_delay(m, f);
    f->wants_ready = false;
}

/* It rests from the next event on that names it. */
static void settle(model *m, int future)
{
    if (future < 0 || !lost_its_frame(m, future))
        return;
    m->futures[future].wants_ready = false;
    pause_future(m, future);
}

/* ---- pushing and popping ------------------------------------------------------------------- */

static int begin_slice(model *m, int future)
{
    model_activation slice = { -1, 0, false };

    slice.future = future;
    arrput(m->slices, slice);
    return COUNT(m->slices) - 1;
}

static bool no_room_to_push(model *m)
{
    if (!m->hidden && (uint64_t)depth(m) < m->capacity[CHROPROF_TABLE_DEPTH])
        return false;
    if (m->hidden++ == 0)
        m->hidden_since = m->elapsed;
    drop(m, CHROPROF_TABLE_DEPTH);
    return true;
}

static void push(model *m, model_frame_kind kind, uint64_t id, int future)
{
    model_frame frame;

    if (no_room_to_push(m))
        return;
    frame.kind = kind;
    frame.id = id;
    frame.future = future;
    frame.slice = future < 0 ? -1 : begin_slice(m, future);
    frame.callback = 0;
    frame.pushed = m->elapsed;
    frame.step = COUNT(m->steps) - 1;
    arrput(m->stack, frame);
}

static int add_stall(model *m, chroprof_stall_kind kind, uint64_t start, uint64_t length, int step)
{
    model_stall stall = { kind, start, length, 0, 0, 0 };

    stall.first = step + 1;
    stall.end = COUNT(m->steps);
    stall.base = depth(m);
    arrput(m->stalls, stall);
    return COUNT(m->stalls) - 1;
}

static void end_callback(model *m, const model_frame *frame)
{
    int stall;

    arrput(m->callbacks, frame->callback);
    if (frame->callback <= m->stall_ns)
        return;
    stall = add_stall(m, CHROPROF_STALL_CALLBACK, frame->pushed, frame->callback, frame->step);
    if (frame->pushed >= m->iteration_start &&
        (m->iteration_callback < 0 || frame->callback >= m->stalls[m->iteration_callback].length))
        m->iteration_callback = stall;
}

/* One of its callbacks that is most of the iteration and the iteration are one stall. */
static void end_iteration(model *m)
{
    uint64_t length = m->elapsed - m->iteration_start;
    int same = m->iteration_callback, stall;

    arrput(m->iterations, length);
    if (length <= m->stall_ns)
        return;
    if (same >= 0 && m->stalls[same].length <= length / 2)
        same = -1;
    stall = add_stall(m, CHROPROF_STALL_ITERATION, m->iteration_start, length, m->iteration_step);
    if (same >= 0) {
        m->stalls[same] = m->stalls[stall];
        (void)arrpop(m->stalls);
    }
}

static void pop(model *m)
{
    model_frame frame = arrpop(m->stack);

    if (depth(m) == base_index(m) && frame.kind != MODEL_FRAME_BARRIER)
        end_callback(m, &frame);
    if (depth(m) == base_index(m) && frame.kind == MODEL_FRAME_ENTER)
        find_call(m, &frame);
    if (frame.slice >= 0)
        m->slices[frame.slice].ended = true;
    if (frame.kind == MODEL_FRAME_ENTER)
        end_future(m, frame.future, MODEL_COMPLETED);
    if (frame.kind == MODEL_FRAME_FUTURE)
        pause_future(m, frame.future);
}

/* Pops down to n frames, each counted. */
static void unwind(model *m, int n, chroprof_anomaly_kind kind)
{
    for (; m->hidden; m->hidden--)
        count(m, kind);
    while (depth(m) > n) {
        count(m, m->stack[depth(m) - 1].kind == MODEL_FRAME_BARRIER
                     ? CHROPROF_ANOMALY_BARRIER_CROSSED
                     : kind);
        pop(m);
    }
}

/* ---- events of futures --------------------------------------------------------------------- */

static const chroprof_site *or_unnamed(model *m, const chroprof_site *site)
{
    static const chroprof_site unnamed = { "(unnamed)", "", 0 };

    if (site)
        return site;
    count(m, CHROPROF_ANOMALY_SITE_NULL);
    return &unnamed;
}

static void on_pending(model *m, uint64_t id, const chroprof_site *site)
{
    int old = find_live(m, id);

    site = or_unnamed(m, site);
    if (old >= 0)
        end_future(m, old, MODEL_ABANDONED);
    create(m, id, path_under(m, parent_on_top(m), intern(m, site)));
}

static void on_ready(model *m, uint64_t id)
{
    int future = find_live(m, id);
    model_future *f;

    settle(m, future);

    if (future < 0) {
        count(m, CHROPROF_ANOMALY_UNKNOWN_READY);
        return;
    }
    f = &m->futures[future];
    come_up(m, future);
    if (f->state == CHROPROF_RUNNING)
        f->wants_ready = true;
    else if (f->state != CHROPROF_READY)
        begin_delay(m, f);
}

static void run_known(model *m, int future)
{
    model_future *f = &m->futures[future];
    const model_frame *top = top_frame(m);

    if (top && top->kind == MODEL_FRAME_FUTURE && top->future == future) {
        count(m, CHROPROF_ANOMALY_LOST_PAUSE);
        if (m->mutant == MODEL_LOSES_A_PAUSE)
            return;
        pop(m);
    }
    if ((uint64_t)depth(m) < m->capacity[CHROPROF_TABLE_DEPTH])
        come_up(m, future);
    end_delay(m, f);
    if (f->state != CHROPROF_RUNNING)
        f->since = m->elapsed;
    f->state = CHROPROF_RUNNING;
    f->has_run = true;
    push(m, MODEL_FRAME_FUTURE, f->id, future);
}

static void push_unknown(model *m, uint64_t id)
{
    const model_frame *top = top_frame(m);

    if (top && top->kind == MODEL_FRAME_UNKNOWN && top->id == id) {
        count(m, CHROPROF_ANOMALY_LOST_PAUSE);
        pop(m);
    }
    push(m, MODEL_FRAME_UNKNOWN, id, -1);
}

static void adopt(model *m, uint64_t id, const chroprof_site *site)
{
    int future;

    count(m, CHROPROF_ANOMALY_ADOPTED);
    future = create(m, id, path_under(m, MODEL_LOOP, intern(m, site)));
    if (future >= 0)
        run_known(m, future);
    else
        push_unknown(m, id);
}

static void on_running(model *m, uint64_t id, const chroprof_site *site)
{
    int future = find_live(m, id);

    settle(m, future);
    if (future >= 0) {
        run_known(m, future);
    } else if (site) {
        adopt(m, id, site);
    } else {
        count(m, CHROPROF_ANOMALY_UNKNOWN_RUNNING);
        push_unknown(m, id);
    }
}

/* It is running, but its frame did not fit on the stack. */
static bool runs_hidden(const model *m, int future)
{
    return future >= 0 && m->futures[future].state == CHROPROF_RUNNING &&
           frame_with_id(m, m->futures[future].id) < 0;
}

static void pop_one_hidden(model *m)
{
    m->hidden -= m->hidden > 0;
}

static void on_paused(model *m, uint64_t id)
{
    int frame = frame_with_id(m, id);
    int future = find_live(m, id);

    if (frame < 0 || frame != depth(m) - 1 || m->hidden)
        settle(m, future);
    if (frame >= 0) {
        unwind(m, frame + 1, CHROPROF_ANOMALY_UNWOUND_BY_PAUSE);
        pop(m);
    } else if (runs_hidden(m, future)) {
        pop_one_hidden(m);
        pause_future(m, future);
    } else {
        count(m, future >= 0 ? CHROPROF_ANOMALY_NOT_RUNNING : CHROPROF_ANOMALY_UNKNOWN_PAUSED);
    }
}

static void add_stillborn(model *m, const chroprof_site *site)
{
    int parent = parent_on_top(m);
    int future = add_future(m, 0, path_under(m, parent, intern(m, site)));

    end_future(m, future, MODEL_STILLBORN);
}

static void finish_unknown(model *m, const chroprof_site *site)
{
    if (site && !m->ever_dropped)
        add_stillborn(m, site);
    else
        count(m, CHROPROF_ANOMALY_UNKNOWN_FINISH);
}

static void on_finish(model *m, uint64_t id, const chroprof_site *site, model_end end)
{
    const model_frame *top = top_frame(m);
    int future = find_live(m, id);

    bool on_top = top && top->kind <= MODEL_FRAME_UNKNOWN && top->id == id;

    if (!on_top)
        settle(m, future);

    /* a frame that an older future of this id left behind is not its own */
    if (on_top && (future < 0 || (top->kind == MODEL_FRAME_FUTURE && top->future == future))) {
        pop(m);
    } else if (runs_hidden(m, future)) {
        pop_one_hidden(m);
    } else if (future >= 0 && m->futures[future].state == CHROPROF_RUNNING) {
        count(m, CHROPROF_ANOMALY_BURIED_FINISH);
    } else if (future >= 0) {
        come_up(m, future);
    }
    if (future >= 0)
        end_future(m, future, end);
    else
        finish_unknown(m, site);
}

static void on_switch(model *m, uint64_t id)
{
    int base = base_index(m), i;

    if (m->hidden) {
        m->hidden--;
    } else {
        for (i = depth(m) - 1; i >= base && m->stack[i].kind == MODEL_FRAME_ENTER; i--)
            ;
        if (i >= base) {
            unwind(m, i + 1, CHROPROF_ANOMALY_UNWOUND_BY_SWITCH);
            pop(m);
        }
    }
    if (id)
        on_running(m, id, NULL);
}

/* ---- events of the loop -------------------------------------------------------------------- */

static void on_enter(model *m, const chroprof_site *site)
{
    int future;

    if (!site) {
        count(m, CHROPROF_ANOMALY_SITE_NULL);
        return;
    }
    if (no_room_to_push(m))
        return;
    future = add_future(m, 0, path_under(m, parent_on_top(m), intern(m, site)));
    m->futures[future].state = CHROPROF_RUNNING;
    push(m, MODEL_FRAME_ENTER, 0, future);
}

static void on_leave(model *m)
{
    const model_frame *top = top_frame(m);

    if (m->hidden)
        m->hidden--;
    else if (top && top->kind == MODEL_FRAME_ENTER)
        pop(m);
    else
        count(m, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER);
}

static void on_next(model *m, const chroprof_site *site)
{
    const model_frame *top = top_frame(m);

    if (m->hidden || (top && top->kind == MODEL_FRAME_ENTER))
        on_leave(m);
    on_enter(m, site);
}

static void on_loop_leave(model *m)
{
    int base = base_index(m);

    if (m->hidden) {
        m->hidden--;
    } else if (base == 0) {
        count(m, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER);
    } else {
        unwind(m, base, CHROPROF_ANOMALY_UNWOUND_BY_LOOP);
        pop(m);
    }
}

static uint64_t time_at(const model *m, int place);

static void end_idle(model *m, chroprof_state state)
{
    if (!m->idle) {
        if (state == CHROPROF_IDLE_LEAVE)
            count(m, CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER);
        return;
    }
    m->idle = false;
    if (m->billed < 10000) {
        m->at_once++;
        m->at_once_ns += m->billed;
    }
    if (!m->begun)
        m->start = time_at(m, MODEL_LOOP);
    m->begun = true;
    m->in_iteration = true;
    m->polls++;
    m->poll_before = m->poll;
    m->poll = m->elapsed;
    m->waited = m->billed >= 10000;
    m->iteration_start = m->elapsed;
    m->iteration_step = COUNT(m->steps) - 1;
    m->iteration_callback = -1;
}

static void on_idle_enter(model *m)
{
    unwind(m, base_index(m), CHROPROF_ANOMALY_UNWOUND_BY_IDLE);
    if (m->in_iteration)
        end_iteration(m);
    m->in_iteration = false;
    m->idle = true;
}

/* ---- the gate ------------------------------------------------------------------------------ */

static void on_future_event(model *m, chroprof_state state, uint64_t id, const chroprof_site *site)
{
    bool finish = state >= CHROPROF_COMPLETED && state <= CHROPROF_CANCELLED;

    if (id == 0 && finish && site) {
        add_stillborn(m, site);
        return;
    }
    if (id == 0) {
        count(m, CHROPROF_ANOMALY_ID_ZERO);
        return;
    }
    switch (state) {
    case CHROPROF_PENDING: on_pending(m, id, site); break;
    case CHROPROF_READY: on_ready(m, id); break;
    case CHROPROF_RUNNING: on_running(m, id, site); break;
    case CHROPROF_PAUSED: on_paused(m, id); break;
    case CHROPROF_COMPLETED: on_finish(m, id, site, MODEL_COMPLETED); break;
    case CHROPROF_FAILED: on_finish(m, id, site, MODEL_FAILED); break;
    default: on_finish(m, id, site, MODEL_CANCELLED); break;
    }
}

static bool begin_event(model *m, chroprof_state state, uint64_t id, uint64_t now)
{
    model_step step;

    if (!m->on)
        return false;
    m->events++;
    memset(&step, 0, sizeof step);
    step.start = m->elapsed;
    step.id =
        state <= CHROPROF_CANCELLED || state == CHROPROF_SWITCH || state > CHROPROF_NEXT ? id : 0;
    step.state = (uint32_t)state < 255 ? (uint32_t)state : 255;
    step.depth = depth(m);
    step.base = base_index(m);
    arrput(m->steps, step);
    advance(m, now);
    if (state != CHROPROF_TICK)
        end_idle(m, state);
    return true;
}

/* An event without a time of its own, which under the manual clock passes none. */
void model_live_event(model *m, chroprof_state state, uint64_t id, const chroprof_site *site)
{
    bool started = m->started;

    model_event(m, state, id, site, m->last);
    m->started = started;
}

/* Only an explicit time starts the profile, or goes on with it after it was off. */
void model_event(model *m, chroprof_state state, uint64_t id, const chroprof_site *site,
                 uint64_t now)
{
    if (!begin_event(m, state, id, now))
        return;
    m->started = true;
    switch ((int)state) {
    case CHROPROF_PENDING:
    case CHROPROF_READY:
    case CHROPROF_RUNNING:
    case CHROPROF_PAUSED:
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: on_future_event(m, state, id, site); break;
    case CHROPROF_IDLE_ENTER: on_idle_enter(m); break;
    case CHROPROF_IDLE_LEAVE: break;
    case CHROPROF_LOOP_ENTER: push(m, MODEL_FRAME_BARRIER, 0, -1); break;
    case CHROPROF_LOOP_LEAVE: on_loop_leave(m); break;
    case CHROPROF_ENTER: on_enter(m, site); break;
    case CHROPROF_LEAVE: on_leave(m); break;
    case CHROPROF_NEXT: on_next(m, site); break;
    case CHROPROF_TICK: break;
    case CHROPROF_SWITCH: on_switch(m, id); break;
    default: count(m, CHROPROF_ANOMALY_BAD_STATE); break;
    }
}

void model_stillborn(model *m, const chroprof_site *site, chroprof_state finish)
{
    bool good = finish >= CHROPROF_COMPLETED && finish <= CHROPROF_CANCELLED;

    if (!begin_event(m, good ? finish : CHROPROF_COMPLETED, 0, m->last))
        return;
    if (!good)
        count(m, CHROPROF_ANOMALY_BAD_STATE);
    if (!site)
        count(m, CHROPROF_ANOMALY_SITE_NULL);
    if (good && site)
        add_stillborn(m, site);
}

/* How many steps the ring holds. */
static int ring_rows(const model *m)
{
    int rows = 64;

    while ((uint64_t)rows < m->capacity[CHROPROF_TABLE_EVENTS])
        rows *= 2;
    return rows;
}

/* Blames those who were on top in [from, now], as far as the last intervals are remembered. */
static void blame_past(model *m, uint64_t from)
{
    int n = COUNT(m->intervals), rows = ring_rows(m), reach = n > rows ? rows - 1 : n, i;
    uint64_t left = m->elapsed - from;

    for (i = n - 1; i >= 0 && i >= n - reach; i--) {
        model_interval *past = &m->intervals[i];
        uint64_t since = larger(past->start, from);
        uint64_t part = past->end > since ? past->end - since : 0;
        past->blame += part;
        left -= part;
    }
    m->old_blame += left;
}

static void ready_in_the_past(model *m, model_future *f, uint64_t age)
{
    uint64_t from = age > m->elapsed ? 0 : m->elapsed - age;

    if (from < m->elapsed)
        find_told(m, (int)(f - m->futures), from);
    else
        come_up(m, (int)(f - m->futures));
    from = larger(from, f->since);
    begin_delay(m, f);
    f->since = from;
    m->delays[f->delay].length += m->elapsed - from;
    if (m->mutant != MODEL_FORGETS_PAST_BLAME)
        blame_past(m, from);
}

void model_ready_since(model *m, uint64_t id, uint64_t when)
{
    int future = find_live(m, id);
    uint64_t age;

    age = m->last - when;
    if (id && age && !went_back(age))
        begin_event(m, CHROPROF_SINCE, age, m->last);
    if (!begin_event(m, CHROPROF_READY, id, m->last))
        return;
    if (went_back(age)) {
        count(m, CHROPROF_ANOMALY_READY_AHEAD);
        age = 0;
    }
    if (id && future >= 0 &&
        (m->futures[future].state == CHROPROF_PENDING ||
         m->futures[future].state == CHROPROF_PAUSED))
        ready_in_the_past(m, &m->futures[future], age);
    else
        on_future_event(m, CHROPROF_READY, id, NULL);
}

/* ---- off, on, reset ------------------------------------------------------------------------ */

static void no_longer_ready(model *m, int future)
{
    model_future *f = &m->futures[future];

    f->wants_ready = false;
    if (f->state != CHROPROF_READY && f->state != CHROPROF_RUNNING)
        return;
    end_delay(m, f);
    f->state = f->has_run ? CHROPROF_PAUSED : CHROPROF_PENDING;
    f->since = m->elapsed;
}

void model_set_enabled(model *m, bool on)
{
    int i;

    if (m->on == on)
        return;
    if (on) {
        m->on = true;
        m->started = false;
        return;
    }
    begin_event(m, CHROPROF_TICK, 0, m->last);
    m->on = false;
    m->hidden = 0;
    while (depth(m))
        pop(m);
    for (i = 0; i < COUNT(m->live); i++)
        no_longer_ready(m, m->live[i]);
    m->idle = m->in_iteration = false;
    m->polls = 0;
}

static void reset_futures(model *m)
{
    int i;

    for (i = 0; i < COUNT(m->futures); i++) {
        model_future *f = &m->futures[i];
        if (f->end != MODEL_LIVE)
            f->end = MODEL_FORGOTTEN;
        f->born = f->since = f->late = 0;
        f->exec = f->stacked = f->waited = 0;
        arrsetlen(f->behind, 0);
    }
}

static void reset_activations(model *m)
{
    model_activation delay = { -1, 0, false };
    int i;

    arrsetlen(m->slices, 0);
    arrsetlen(m->delays, 0);
    for (i = 0; i < depth(m); i++) {
        m->stack[i].callback = m->stack[i].pushed = 0;
        m->stack[i].step = -1;
        if (m->stack[i].slice >= 0)
            m->stack[i].slice = begin_slice(m, m->stack[i].future);
    }
    for (i = 0; i < COUNT(m->live); i++) {
        if (m->futures[m->live[i]].state != CHROPROF_READY)
            continue;
        delay.future = m->live[i];
        m->futures[m->live[i]].delay = COUNT(m->delays);
        arrput(m->delays, delay);
    }
}

void model_reset(model *m)
{
    int i;

    for (i = 0; i < COUNT(m->live); i++)
        settle(m, m->live[i]);
    m->waited = true; /* of the time before nothing counts */
    arrsetlen(m->found, 0);
    m->poll = m->elapsed = m->iteration_start = m->events = m->old_blame = m->hidden_since = 0;
    memset(m->anomalies, 0, sizeof m->anomalies);
    memset(m->dropped, 0, sizeof m->dropped);
    arrsetlen(m->intervals, 0);
    arrsetlen(m->callbacks, 0);
    m->at_once = m->at_once_ns = m->start = 0;
    arrsetlen(m->iterations, 0);
    arrsetlen(m->steps, 0);
    arrsetlen(m->stalls, 0);
    arrsetlen(m->slow, 0);
    m->iteration_step = m->iteration_callback = -1;
    m->was_hidden = m->hidden != 0;
    m->hidden_at = 0;
    reset_futures(m);
    reset_activations(m);
}

void model_init(model *m, const chroprof_options *options, const chroprof *p)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    size_t i, n = chroprof_tables(p, tables, CHROPROF_TABLE_COUNT);

    memset(m, 0, sizeof *m);
    m->iteration_step = m->iteration_callback = -1;
    for (i = 0; i < n; i++)
        m->capacity[tables[i].kind] = tables[i].capacity;
    m->window_ns = options->window_ns ? options->window_ns : 100000000;
    m->stall_ns = options->stall_ns ? options->stall_ns : 20000000;
    m->max_step_ns = options->max_step_ns ? options->max_step_ns : UINT64_C(3600000000000);
    m->on = true;
}

void model_free(model *m)
{
    int i;

    for (i = 0; i < COUNT(m->sites); i++) {
        free(m->sites[i].name);
        free(m->sites[i].file);
    }
    for (i = 0; i < COUNT(m->paths); i++)
        arrfree(m->paths[i].chain);
    arrfree(m->sites);
    arrfree(m->paths);
    for (i = 0; i < COUNT(m->futures); i++)
        arrfree(m->futures[i].behind);
    arrfree(m->slow);
    arrfree(m->found);
    arrfree(m->edges);
    arrfree(m->intervals);
    arrfree(m->futures);
    arrfree(m->live);
    arrfree(m->slices);
    arrfree(m->delays);
    arrfree(m->stack);
    arrfree(m->callbacks);
    arrfree(m->iterations);
    arrfree(m->steps);
    arrfree(m->stalls);
}

/* ---- figures, recomputed from the lists ---------------------------------------------------- */

typedef struct figures {
    uint64_t exec, with_children, exec_max, slice_max, slices, lifetime, waiting, delay, blame;
    uint64_t found, hidden;
    uint64_t ends[MODEL_FORGOTTEN];
    bool used;
} figures;

static uint64_t calls_of(const figures *f)
{
    return f->ends[MODEL_LIVE] + f->ends[MODEL_COMPLETED] + f->ends[MODEL_FAILED] +
           f->ends[MODEL_CANCELLED] + f->ends[MODEL_ABANDONED] + f->ends[MODEL_DROPPED];
}

static uint64_t time_at(const model *m, int place)
{
    uint64_t sum = 0;
    int i;

    for (i = 0; i < COUNT(m->intervals); i++)
        if (m->intervals[i].place == place)
            sum += m->intervals[i].end - m->intervals[i].start;
    return sum;
}

static uint64_t blame_at(const model *m, int place)
{
    uint64_t sum = place == MODEL_LOOP ? m->old_blame : 0;
    int i;

    for (i = 0; i < COUNT(m->intervals); i++)
        if (m->intervals[i].place == place)
            sum += m->intervals[i].blame;
    return sum;
}

static uint64_t sum_of_delays(const model *m)
{
    uint64_t sum = 0;
    int i;

    for (i = 0; i < COUNT(m->delays); i++)
        sum += m->delays[i].length;
    return sum;
}

static bool is_below(const model_path *path, const model_path *above)
{
    int i;

    if (COUNT(path->chain) < COUNT(above->chain))
        return false;
    for (i = 0; i < COUNT(above->chain); i++)
        if (path->chain[i] != above->chain[i])
            return false;
    return true;
}

static uint64_t *exec_of_futures(const model *m)
{
    uint64_t *exec = NULL;
    int i;

    for (i = 0; i < COUNT(m->futures); i++)
        arrput(exec, 0);
    for (i = 0; i < COUNT(m->slices); i++)
        exec[m->slices[i].future] += m->slices[i].length;
    return exec;
}

static void add_futures(const model *m, figures *all)
{
    uint64_t *exec = exec_of_futures(m);
    int i;

    for (i = 0; i < COUNT(m->futures); i++) {
        const model_future *f = &m->futures[i];
        figures *row = f->path < 0 ? NULL : &all[f->path];
        if (!row)
            continue;
        row->exec_max = larger(row->exec_max, exec[i]);
        row->lifetime += f->late;
        if (f->end == MODEL_FORGOTTEN)
            continue;
        row->ends[f->end]++;
        row->lifetime += (f->end == MODEL_LIVE ? m->elapsed : f->died) - f->born;
    }
    arrfree(exec);
}

static void add_activations(const model *m, figures *all)
{
    int i;

    for (i = 0; i < COUNT(m->slices); i++) {
        int path = m->futures[m->slices[i].future].path;
        if (path < 0)
            continue;
        all[path].slices++;
        all[path].slice_max = larger(all[path].slice_max, m->slices[i].length);
    }
    for (i = 0; i < COUNT(m->delays); i++)
        if (m->futures[m->delays[i].future].path >= 0)
            all[m->futures[m->delays[i].future].path].delay += m->delays[i].length;
}

static void add_subtrees(const model *m, figures *all)
{
    int i, k;

    for (i = 0; i < COUNT(m->paths); i++)
        for (k = 0; k < COUNT(m->paths); k++)
            if (is_below(&m->paths[k], &m->paths[i]))
                all[i].with_children += all[k].exec;
}

static uint64_t waiting_of(const figures *f)
{
    uint64_t rest = f->lifetime > f->exec ? f->lifetime - f->exec : 0;

    return rest > f->delay ? rest - f->delay : 0;
}

/* What can have waited from 0 to some time waited half of that on average. */
static void add_found(const model *m, figures *all)
{
    int i;

    for (i = 0; i < COUNT(m->found); i++) {
        if (m->found[i].path < 0)
            continue;
        all[m->found[i].path].found++;
        all[m->found[i].path].hidden += m->found[i].most;
    }
    for (i = 0; i < COUNT(m->paths); i++)
        all[i].hidden /= 2;
}

static figures *figures_of_paths(const model *m)
{
    figures *all = NULL, none;
    int i;

    memset(&none, 0, sizeof none);
    for (i = 0; i < COUNT(m->paths); i++)
        arrput(all, none);
    for (i = 0; i < COUNT(m->intervals); i++) {
        const model_interval *interval = &m->intervals[i];
        if (interval->place < 0)
            continue;
        all[interval->place].exec += interval->end - interval->start;
        all[interval->place].blame += interval->blame;
    }
    add_futures(m, all);
    add_activations(m, all);
    add_subtrees(m, all);
    add_found(m, all);
    for (i = 0; i < COUNT(m->paths); i++)
        all[i].waiting = waiting_of(&all[i]);
    return all;
}

static int site_at_end(const model_path *path)
{
    return path->chain[COUNT(path->chain) - 1];
}

static void add_figures(figures *sum, const figures *row)
{
    int i;

    sum->used = true;
    sum->exec += row->exec;
    sum->with_children += row->with_children;
    sum->exec_max = larger(sum->exec_max, row->exec_max);
    sum->slice_max = larger(sum->slice_max, row->slice_max);
    sum->slices += row->slices;
    sum->lifetime += row->lifetime;
    sum->delay += row->delay;
    sum->blame += row->blame;
    sum->found += row->found;
    sum->hidden += row->hidden;
    for (i = 0; i < MODEL_FORGOTTEN; i++)
        sum->ends[i] += row->ends[i];
}

static figures figures_of_site(const model *m, const figures *all, int site)
{
    figures sum;
    int i;

    memset(&sum, 0, sizeof sum);
    for (i = 0; i < COUNT(m->paths); i++)
        if (site_at_end(&m->paths[i]) == site)
            add_figures(&sum, &all[i]);
    sum.waiting = waiting_of(&sum);
    return sum;
}

/* ---- comparing ----------------------------------------------------------------------------- */

typedef struct comparison {
    const model *m;
    const chroprof *p;
    FILE *err;
    char where[200];
    int differences;
} comparison;

static void hold(comparison *c, const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        return;
    c->differences++;
    if (c->err)
        fprintf(c->err, "  %s %s: %llu, the model says %llu\n", c->where, what,
                (unsigned long long)got, (unsigned long long)want);
}

static void compare_times(comparison *c, const chroprof_totals *t)
{
    const model *m = c->m;
    uint64_t idle = time_at(m, MODEL_IDLE), loop = time_at(m, MODEL_LOOP);

    hold(c, "elapsed_ns", t->elapsed_ns, m->elapsed);
    hold(c, "elapsed_ticks", t->elapsed_ticks, m->elapsed);
    hold(c, "idle_ns", t->idle_ns, idle);
    hold(c, "uninstrumented_ns", t->uninstrumented_ns, loop);
    hold(c, "busy_ns", t->busy_ns, m->elapsed - idle - loop);
    hold(c, "start_ns", t->start_ns, m->start);
    hold(c, "at_once", t->at_once, m->at_once);
    hold(c, "at_once_ns", t->at_once_ns, m->at_once_ns);
    hold(c, "asleep_ns", t->asleep_ns,
         idle - (m->at_once_ns > m->elapsed / 100 ? m->at_once_ns : 0));
    hold(c, "untracked_ns", t->untracked_ns, time_at(m, MODEL_UNTRACKED));
    hold(c, "delay_ns", t->delay_ns, sum_of_delays(m));
    hold(c, "idle_blame_ns", t->idle_blame_ns, blame_at(m, MODEL_IDLE));
    hold(c, "uninstrumented_blame_ns", t->uninstrumented_blame_ns, blame_at(m, MODEL_LOOP));
    hold(c, "untracked_blame_ns", t->untracked_blame_ns, blame_at(m, MODEL_UNTRACKED));
}

static void compare_counts(comparison *c, const chroprof_totals *t)
{
    const model *m = c->m;
    uint64_t anomalies = 0;
    int i;

    for (i = 0; i < CHROPROF_ANOMALY_COUNT; i++)
        anomalies += m->anomalies[i];
    hold(c, "events", t->events, m->events);
    hold(c, "anomalies", t->anomalies, anomalies);
    hold(c, "live", t->live, (uint64_t)COUNT(m->live));
    hold(c, "enabled", t->enabled, m->on);
    hold(c, "idle", t->idle, m->idle);
    hold(c, "depth", t->depth, (uint64_t)depth(m) + m->hidden);
    hold(c, "provisional", t->provisional, false);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Nearest rank, within 1/16 from 2^5 to 2^45 ticks; below 2^5 as at it, 2 ticks. */
static void compare_percentile(comparison *c, const char *what, uint64_t got,
                               const uint64_t *sorted, int n, uint64_t per_mille)
{
    uint64_t rank = ((uint64_t)n * per_mille + 999) / 1000;
    uint64_t want = n ? sorted[rank ? rank - 1 : 0] : 0;
    uint64_t off = got > want ? got - want : want - got;

    if (want >> 45 == 0 && off > (want < 32 ? 2 : want / 16))
        hold(c, what, got, want);
}

static void compare_loop_lengths(comparison *c, const char *what, uint64_t *list,
                                 const uint64_t got[4])
{
    uint64_t *sorted = NULL;
    int n = COUNT(list), i;

    snprintf(c->where, sizeof c->where, "totals %s", what);
    for (i = 0; i < n; i++)
        arrput(sorted, list[i]);
    if (n)
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    hold(c, "count", got[0], (uint64_t)n);
    hold(c, "max", got[3], n ? sorted[n - 1] : 0);
    compare_percentile(c, "p50", got[1], sorted, n, 500);
    compare_percentile(c, "p99", got[2], sorted, n, 990);
    arrfree(sorted);
}

static uint32_t place_number(const uint32_t *path_ids, int place)
{
    return place == MODEL_LOOP        ? 0
           : place == MODEL_IDLE      ? 1
           : place == MODEL_UNTRACKED ? 2
                                      : path_ids[place];
}

/* The ring tells the last events as they were sent. */
static void compare_steps(comparison *c, const uint32_t *path_ids)
{
    chroprof_step *got = NULL;
    size_t n = chroprof_timeline(c->p, 0, UINT64_MAX, NULL, 0), i;
    int total = COUNT(c->m->steps), rows = ring_rows(c->m);
    size_t want = (size_t)(total < rows ? total : rows - 1); /* the next event's place is no row */

    snprintf(c->where, sizeof c->where, "steps");
    hold(c, "count", n, want);
    if (n != want || n == 0)
        return;
    arrsetlen(got, n);
    chroprof_timeline(c->p, 0, UINT64_MAX, got, n);
    for (i = total % 16 == 0 || n < 3 ? 0 : n - 3; i < n; i++) { /* all, now and then */
        const model_step *s = &c->m->steps[(size_t)total - n + i];
        snprintf(c->where, sizeof c->where, "step %d", (int)i);
        hold(c, "at_ns", got[i].at_ns, s->at);
        hold(c, "id", got[i].id, s->id);
        hold(c, "state", (uint64_t)got[i].state, (uint64_t)s->state);
        hold(c, "path", got[i].path, place_number(path_ids, s->place));
        hold(c, "depth", got[i].depth, (uint64_t)s->depth);
    }
    arrfree(got);
}

/* What a site, or loop (-1), or untracked (-2), took of a stall: its steps, but for what ran above
 * a barrier of a callback. */
static uint64_t taken(const model *m, const model_stall *stall, int site)
{
    uint64_t ticks = 0;
    int i;

    for (i = stall->first; i < stall->end; i++) {
        const model_step *s = &m->steps[i];
        int at = s->place == MODEL_LOOP ? -1
                 : s->place < 0         ? -2
                                        : arrlast(m->paths[s->place].chain);
        if (stall->kind == CHROPROF_STALL_CALLBACK && s->base != stall->base)
            continue;
        ticks += at == site ? s->at - s->start : 0;
    }
    return ticks;
}

/* How many slices of a site had steps in a stall, and what the largest one had there. */
static uint64_t slices_taken(const model *m, const model_stall *stall, int site, uint64_t *max)
{
    model_share *parts = NULL; /* here site is the number of a slice */
    uint64_t n;
    int i, k;

    *max = 0;
    for (i = stall->first; i < stall->end; i++) {
        const model_step *s = &m->steps[i];
        model_share part = { s->slice, 0 };
        if ((stall->kind == CHROPROF_STALL_CALLBACK && s->base != stall->base) || s->slice < 0 ||
            arrlast(m->paths[s->place].chain) != site)
            continue;
        for (k = COUNT(parts) - 1; k >= 0 && parts[k].site != s->slice; k--)
            ;
        if (k < 0) {
            arrput(parts, part);
            k = COUNT(parts) - 1;
        }
        parts[k].ticks += s->at - s->start;
        *max = larger(*max, parts[k].ticks);
    }
    n = (uint64_t)COUNT(parts);
    arrfree(parts);
    return n;
}

/* Did the site run more than 20 frames above the base of the stall? */
static bool ran_deep(const model *m, const model_stall *stall, int site)
{
    int base = stall->kind == CHROPROF_STALL_CALLBACK ? stall->base : 0, i;

    for (i = stall->first; i < stall->end; i++)
        if (m->steps[i].place >= 0 && arrlast(m->paths[m->steps[i].place].chain) == site &&
            m->steps[i].depth > base + 20)
            return true;
    return false;
}

static int site_of_share(const comparison *c, const chroprof_stall_share *share)
{
    int i;

    if (share->site == 0 || share->site == 2)
        return share->site ? -2 : -1;
    for (i = 0; i < COUNT(c->m->sites); i++)
        if (c->m->sites[i].line == share->line && strcmp(c->m->sites[i].name, share->name) == 0 &&
            strcmp(c->m->sites[i].file, share->file) == 0)
            return i;
    return -3;
}

/* Of a site that ran deeper than a tally knows there is neither figure. */
static void compare_slices(comparison *c, const model_stall *want, const chroprof_stall_share *got,
                           int site)
{
    uint64_t max, slices = slices_taken(c->m, want, site, &max);

    if (got->slices == 0 && got->slice_max_ns == 0 && ran_deep(c->m, want, site))
        return;
    hold(c, "share slices", got->slices, slices);
    hold(c, "share slice_max_ns", got->slice_max_ns, max);
}

static void compare_shares(comparison *c, const model_stall *want, const chroprof_stall *got)
{
    uint64_t sum = got->rest_ns;
    uint32_t k;
    /* of a callback that began before a reset the ring may not tell what ran above a barrier */
    bool whole = want->kind == CHROPROF_STALL_ITERATION ||
                 (want->first > 0 && want->end - want->first < ring_rows(c->m));

    hold(c, "length_ns", got->length_ns, want->length);
    hold(c, "events", got->events, (uint64_t)(want->end - want->first));
    for (k = 0; k < got->share_count; k++) {
        int site = site_of_share(c, &got->shares[k]);
        sum += got->shares[k].exec_ns;
        if (whole && site != -3 && !c->m->strings_full && !c->m->other_used)
            hold(c, "share exec_ns", got->shares[k].exec_ns, taken(c->m, want, site));
        if (whole && site >= 0 && !c->m->strings_full && !c->m->other_used)
            compare_slices(c, want, &got->shares[k], site);
        if (k > 0 && got->shares[k].exec_ns > got->shares[k - 1].exec_ns)
            hold(c, "order of shares", 1, 0);
        if (got->shares[k].slice_max_ns > got->shares[k].exec_ns)
            hold(c, "slice_max_ns within exec_ns", 1, 0);
    }
    hold(c, "shares and the rest", sum, got->length_ns);
}

/* The stalls that are kept are some of those that there were. */
static void compare_stalls(comparison *c)
{
    chroprof_stall *got = NULL;
    size_t n = chroprof_stalls(c->p, NULL, 0), i;
    int k;

    if (n == 0)
        return;
    arrsetlen(got, n);
    chroprof_stalls(c->p, got, n);
    for (i = n < 3 ? 0 : n - 3; i < n; i++) { /* the newest; others were that once */
        for (k = COUNT(c->m->stalls) - 1; k >= 0; k--)
            if (c->m->stalls[k].kind == got[i].kind && c->m->stalls[k].start == got[i].start_ns &&
                c->m->stalls[k].length == got[i].length_ns)
                break;
        snprintf(c->where, sizeof c->where, "stall %d", (int)i);
        hold(c, "known", k >= 0, 1);
        if (k >= 0)
            compare_shares(c, &c->m->stalls[k], &got[i]);
    }
    arrfree(got);
}

/* ---- the slowest futures */

/* Up to here no slow future was forgotten. */
#define A_MINUTE UINT64_C(60000000000)

/* The future that a row is about; -1: there was none. */
static int find_slow(const model *m, const chroprof_slow *got)
{
    int i;

    for (i = 0; i < COUNT(m->futures); i++) {
        const model_future *f = &m->futures[i];
        if (f->end >= MODEL_COMPLETED && f->end <= MODEL_CANCELLED && f->id == got->id &&
            f->died == got->at_ns && f->died - f->born == got->latency_ns)
            return i;
    }
    return -1;
}

/* How many futures of its site were slower, or as slow and earlier. */
static uint32_t rank_of_slow(const model *m, int future)
{
    const model_future *f = &m->futures[future];
    uint32_t rank = 0;
    int i, site = site_behind(m, f->path);

    for (i = 0; i < COUNT(m->futures); i++) {
        const model_future *g = &m->futures[i];
        uint64_t latency = g->died - g->born;
        if (g->id && g->end >= MODEL_COMPLETED && g->end <= MODEL_CANCELLED &&
            site_behind(m, g->path) == site)
            rank += latency > f->died - f->born;
    }
    return rank;
}

/* Of what finished while it was ready the delay is known from its own record, and whom it waited for
 * as far as the ring reached. */
static bool reaches_to(const comparison *c, uint64_t time)
{
    uint64_t cursor = 0;
    chroprof_step oldest;
    return chroprof_next_step(c->p, &cursor, &oldest) && oldest.at_ns < time;
}

static void compare_blames(comparison *c, const model_future *f, const chroprof_slow *got)
{
    uint64_t most = UINT64_MAX;
    uint32_t k, more = 0;
    int i;

    if (f->state == CHROPROF_READY && !reaches_to(c, got->at_ns - got->delay_ns))
        return;

    for (k = 0; k < got->blame_count; k++) {
        chroprof_stall_share share;
        int site;
        memset(&share, 0, sizeof share);
        share.site = got->blames[k].site;
        share.name = got->blames[k].name;
        share.file = got->blames[k].file;
        share.line = got->blames[k].line;
        site = share.site > 2 ? site_of_share(c, &share) : site_behind(c->m, -1 - (int)share.site);
        for (i = 0; i < COUNT(f->behind) && f->behind[i].site != site; i++)
            ;
        hold(c, "blamed", got->blames[k].delay_ns, i < COUNT(f->behind) ? f->behind[i].ticks : 0);
        hold(c, "order of blames", got->blames[k].delay_ns <= most, 1);
        most = got->blames[k].delay_ns;
    }
    for (i = 0; i < COUNT(f->behind); i++)
        more += f->behind[i].ticks > (k == CHROPROF_SLOW_BLAMES ? most : 0);
    hold(c, "others were on top less", more <= (k == CHROPROF_SLOW_BLAMES ? k - 1 : k), 1);
}

static void compare_slow(comparison *c, const chroprof_slow *got, uint32_t place)
{
    const model *m = c->m;
    int future = find_slow(m, got);
    const model_future *f = &m->futures[future];

    hold(c, "parts",
         got->exec_ns + got->children_ns + got->delay_ns + got->waiting_ns + got->unseen_ns,
         got->latency_ns);
    hold(c, "known", future >= 0, 1);
    if (future < 0)
        return;
    if (place < 4 || m->elapsed < A_MINUTE)
        hold(c, "rank", rank_of_slow(m, future) <= place, 1);
    hold(c, "of_run", got->of_run, place < 4);
    hold(c, "finish", (uint64_t)got->finish,
         (uint64_t)(CHROPROF_COMPLETED + (f->end - MODEL_COMPLETED)));
    hold(c, "exec_ns", got->exec_ns, f->exec);
    if (got->unseen_ns || (m->was_hidden && f->born <= m->hidden_at) || m->other_used ||
        m->strings_full)
        return;
    hold(c, "children_ns", got->children_ns, f->stacked - f->exec);
    hold(c, "delay_ns", got->delay_ns, f->waited);
    compare_blames(c, f, got);
}

/* How many rows the sites have at least; in the first minute that is how many. */
static uint64_t slow_rows(const model *m)
{
    uint64_t rows = 0, most = m->elapsed < A_MINUTE ? 8 : 4;
    int k, i;

    for (k = 0; k < COUNT(m->slow) && k < (int)m->capacity[CHROPROF_TABLE_SLOW]; k++) {
        uint64_t finished = 0;
        for (i = 0; i < COUNT(m->futures); i++) {
            const model_future *f = &m->futures[i];
            finished += f->id && f->end >= MODEL_COMPLETED && f->end <= MODEL_CANCELLED &&
                        site_behind(m, f->path) == m->slow[k];
        }
        rows += finished < most ? finished : most;
    }
    return rows;
}

static void compare_slowest(comparison *c)
{
    uint64_t cursor = 0, rows = 0, wanted = slow_rows(c->m);
    uint32_t site = 0, place = 0;
    chroprof_slow row;

    while (chroprof_next_slowest(c->p, &cursor, &row)) {
        place = rows++ && row.site == site ? place + 1 : 0;
        site = row.site;
        snprintf(c->where, sizeof c->where, "slow %lu of site %lu", (unsigned long)place,
                 (unsigned long)site);
        compare_slow(c, &row, place);
    }
    snprintf(c->where, sizeof c->where, "slowest");
    hold(c, "enough rows", rows >= wanted, 1);
    if (c->m->elapsed < A_MINUTE)
        hold(c, "rows", rows, wanted);
}

static void compare_all_totals(comparison *c)
{
    chroprof_totals t;
    uint64_t got[4];

    chroprof_read_totals(c->p, &t);
    snprintf(c->where, sizeof c->where, "totals");
    compare_times(c, &t);
    compare_counts(c, &t);
    hold(c, "stalls", t.stalls, (uint64_t)COUNT(c->m->stalls));
    got[0] = t.callbacks;
    got[1] = t.callback_p50_ns;
    got[2] = t.callback_p99_ns;
    got[3] = t.callback_max_ns;
    compare_loop_lengths(c, "callbacks", c->m->callbacks, got);
    got[0] = t.iterations;
    got[1] = t.iteration_p50_ns;
    got[2] = t.iteration_p99_ns;
    got[3] = t.iteration_max_ns;
    compare_loop_lengths(c, "iterations", c->m->iterations, got);
}

static uint64_t *ended_of_site(const model *m, const model_activation *activations, int n, int site)
{
    uint64_t *sorted = NULL;
    int i;

    for (i = 0; i < n; i++) {
        int path = m->futures[activations[i].future].path;
        if (activations[i].ended && path >= 0 && site_at_end(&m->paths[path]) == site)
            arrput(sorted, activations[i].length);
    }
    if (sorted)
        qsort(sorted, arrlenu(sorted), sizeof *sorted, by_value);
    return sorted;
}

/* From birth to a finish, which a program that runs on after it does not change. */
static uint64_t *latencies_of_site(const model *m, int site)
{
    uint64_t *sorted = NULL;
    int i;

    for (i = 0; i < COUNT(m->futures); i++) {
        const model_future *f = &m->futures[i];
        bool finished =
            f->end == MODEL_COMPLETED || f->end == MODEL_FAILED || f->end == MODEL_CANCELLED;
        if (finished && f->id != 0 && f->path >= 0 && site_at_end(&m->paths[f->path]) == site)
            arrput(sorted, f->died - f->born);
    }
    if (sorted)
        qsort(sorted, arrlenu(sorted), sizeof *sorted, by_value);
    return sorted;
}

static void compare_latency(comparison *c, const chroprof_rank *r, int site)
{
    uint64_t *walls = latencies_of_site(c->m, site);

    compare_percentile(c, "latency_p50_ns", r->latency_p50_ns, walls, COUNT(walls), 500);
    compare_percentile(c, "latency_p99_ns", r->latency_p99_ns, walls, COUNT(walls), 990);
    hold(c, "latency_max_ns", r->latency_max_ns, walls ? walls[COUNT(walls) - 1] : 0);
    arrfree(walls);
}

/* Of a site that got its histograms late they say less. */
static void compare_site_percentiles(comparison *c, const chroprof_rank *r, int site)
{
    const model *m = c->m;
    uint64_t *slices = ended_of_site(m, m->slices, COUNT(m->slices), site);
    uint64_t *delays = ended_of_site(m, m->delays, COUNT(m->delays), site);

    if (r->measured < (uint64_t)COUNT(slices)) {
        arrfree(slices);
        arrfree(delays);
        return;
    }
    hold(c, "measured", r->measured, (uint64_t)COUNT(slices));
    hold(c, "slice_min_ns", r->slice_min_ns, COUNT(slices) ? slices[0] : 0);
    compare_percentile(c, "slice_p1_ns", r->slice_p1_ns, slices, COUNT(slices), 10);
    compare_percentile(c, "slice_p50_ns", r->slice_p50_ns, slices, COUNT(slices), 500);
    compare_percentile(c, "slice_p90_ns", r->slice_p90_ns, slices, COUNT(slices), 900);
    compare_percentile(c, "slice_p99_ns", r->slice_p99_ns, slices, COUNT(slices), 990);
    compare_percentile(c, "slice_p999_ns", r->slice_p999_ns, slices, COUNT(slices), 999);
    compare_percentile(c, "delay_p99_ns", r->delay_p99_ns, delays, COUNT(delays), 990);
    compare_latency(c, r, site);
    arrfree(slices);
    arrfree(delays);
}

static const char *name_of(const model *m, int site)
{
    return site == MODEL_OTHER ? "(other)" : m->sites[site].name;
}

static const char *file_of(const model *m, int site)
{
    return site == MODEL_OTHER ? "" : m->sites[site].file;
}

static uint32_t line_of(const model *m, int site)
{
    return site == MODEL_OTHER ? 0 : m->sites[site].line;
}

/* Is this row of p about that site? By its number; its content too while no string was cut. */
static bool is_site(const comparison *c, int site, uint32_t id, const chroprof_rank *r)
{
    if (id != (uint32_t)(site == MODEL_OTHER ? 3 : site + 4))
        return false;
    return c->m->strings_full ||
           (strcmp(name_of(c->m, site), r->name) == 0 &&
            strcmp(file_of(c->m, site), r->file) == 0 && line_of(c->m, site) == r->line);
}

static void compare_rank(comparison *c, const chroprof_rank *r, const figures *f, int site)
{
    snprintf(c->where, sizeof c->where, "site %.100s", r->name);
    hold(c, "exec_ns", r->exec_ns, f->exec);
    hold(c, "children_ns", r->children_ns, f->with_children - f->exec);
    hold(c, "with_children_ns", r->with_children_ns, f->with_children);
    hold(c, "exec_max_ns", r->exec_max_ns, f->exec_max);
    hold(c, "slice_max_ns", r->slice_max_ns, f->slice_max);
    hold(c, "slices", r->slices, f->slices);
    hold(c, "lifetime_ns", r->lifetime_ns, f->lifetime);
    hold(c, "waiting_ns", r->waiting_ns, f->waiting);
    hold(c, "delay_ns", r->delay_ns, f->delay);
    hold(c, "blame_ns", r->blame_ns, f->blame);
    hold(c, "calls", r->calls, calls_of(f));
    hold(c, "completed", r->completed, f->ends[MODEL_COMPLETED]);
    hold(c, "failed", r->failed, f->ends[MODEL_FAILED]);
    hold(c, "cancelled", r->cancelled, f->ends[MODEL_CANCELLED]);
    hold(c, "abandoned", r->abandoned, f->ends[MODEL_ABANDONED]);
    hold(c, "dropped", r->dropped, f->ends[MODEL_DROPPED]);
    hold(c, "live", r->live, f->ends[MODEL_LIVE]);
    hold(c, "stillborn", r->stillborn, f->ends[MODEL_STILLBORN]);
    hold(c, "found", r->found, f->found);
    hold(c, "hidden_total_ns", r->hidden_total_ns, f->hidden);
    if (r->has_percentiles)
        compare_site_percentiles(c, r, site);
}

static uint64_t rank_key(const chroprof_rank *r, chroprof_order by)
{
    switch (by) {
    case CHROPROF_BY_EXEC: return r->exec_ns;
    case CHROPROF_BY_WITH_CHILDREN: return r->with_children_ns;
    case CHROPROF_BY_SLICE_MAX: return r->slice_max_ns;
    case CHROPROF_BY_BLAME: return r->blame_ns;
    case CHROPROF_BY_DELAY: return r->delay_ns;
    default: return r->calls;
    }
}

/* Largest first; ties by exec, then by the site's content. */
static bool in_order(const chroprof_rank *a, const chroprof_rank *b, chroprof_order by)
{
    int name = strcmp(a->name, b->name), file = strcmp(a->file, b->file);

    if (rank_key(a, by) != rank_key(b, by))
        return rank_key(a, by) > rank_key(b, by);
    if (a->exec_ns != b->exec_ns)
        return a->exec_ns > b->exec_ns;
    return name ? name < 0 : file ? file < 0 : a->line <= b->line;
}

static void compare_order(comparison *c, const chroprof_rank *rows, size_t n, chroprof_order by)
{
    size_t i;

    for (i = 1; i < n; i++)
        if (!in_order(&rows[i - 1], &rows[i], by))
            hold(c, "row out of order", i, (uint64_t)by);
}

static void compare_site(comparison *c, const chroprof_rank *rows, size_t n, const figures *all,
                         int site)
{
    figures sum = figures_of_site(c->m, all, site);
    size_t i, found = 0;

    for (i = 0; i < n; i++) {
        if (!is_site(c, site, rows[i].id, &rows[i]))
            continue;
        found++;
        compare_rank(c, &rows[i], &sum, site);
    }
    snprintf(c->where, sizeof c->where, "site %.100s", name_of(c->m, site));
    hold(c, "rows", found, sum.used);
}

static void compare_ranks(comparison *c, const figures *all)
{
    size_t n = chroprof_ranks(c->p, NULL, 0, CHROPROF_BY_EXEC), listed = 0;
    chroprof_rank *rows = (chroprof_rank *)calloc(n + 1, sizeof *rows);
    int site, by;

    for (by = CHROPROF_BY_CALLS; by >= CHROPROF_BY_EXEC; by--) {
        snprintf(c->where, sizeof c->where, "ranks");
        hold(c, "count", chroprof_ranks(c->p, rows, n, (chroprof_order)by), n);
        compare_order(c, rows, n, (chroprof_order)by);
    }
    for (site = MODEL_OTHER; site < COUNT(c->m->sites); site++) {
        listed += figures_of_site(c->m, all, site).used;
        compare_site(c, rows, n, all, site);
    }
    snprintf(c->where, sizeof c->where, "ranks");
    hold(c, "count", n, listed);
    free(rows);
}

static const chroprof_path *row_with_id(const chroprof_path *rows, size_t n, uint32_t id)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

static bool path_row_is_site(const comparison *c, const chroprof_path *row, int site)
{
    chroprof_rank r;

    r.name = row->name;
    r.file = row->file;
    r.line = row->line;
    return is_site(c, site, row->site, &r);
}

/* Does the row's chain of parents spell the model's path? */
static bool is_path(const comparison *c, const chroprof_path *rows, size_t n,
                    const chroprof_path *row, const model_path *path)
{
    int i;

    for (i = COUNT(path->chain) - 1; i >= 0; i--) {
        if (!row || !path_row_is_site(c, row, path->chain[i]))
            return false;
        row = row->parent ? row_with_id(rows, n, row->parent) : NULL;
    }
    return row == NULL;
}

static void compare_path(comparison *c, const chroprof_path *row, const figures *f)
{
    snprintf(c->where, sizeof c->where, "path %lu %.100s", (unsigned long)row->id, row->name);
    hold(c, "exec_ns", row->exec_ns, f->exec);
    hold(c, "with_children_ns", row->with_children_ns, f->with_children);
    hold(c, "exec_max_ns", row->exec_max_ns, f->exec_max);
    hold(c, "slice_max_ns", row->slice_max_ns, f->slice_max);
    hold(c, "slices", row->slices, f->slices);
    hold(c, "lifetime_ns", row->lifetime_ns, f->lifetime);
    hold(c, "waiting_ns", row->waiting_ns, f->waiting);
    hold(c, "delay_ns", row->delay_ns, f->delay);
    hold(c, "blame_ns", row->blame_ns, f->blame);
    hold(c, "calls", row->calls, calls_of(f));
    hold(c, "completed", row->completed, f->ends[MODEL_COMPLETED]);
    hold(c, "failed", row->failed, f->ends[MODEL_FAILED]);
    hold(c, "cancelled", row->cancelled, f->ends[MODEL_CANCELLED]);
    hold(c, "abandoned", row->abandoned, f->ends[MODEL_ABANDONED]);
    hold(c, "dropped", row->dropped, f->ends[MODEL_DROPPED]);
    hold(c, "live", row->live, f->ends[MODEL_LIVE]);
    hold(c, "stillborn", row->stillborn, f->ends[MODEL_STILLBORN]);
    hold(c, "found", row->found, f->found);
    hold(c, "hidden_total_ns", row->hidden_total_ns, f->hidden);
}

/* The id that p gave to each path of the model, 0 where it has none. */
static uint32_t *compare_paths(comparison *c, const figures *all)
{
    size_t n = chroprof_paths(c->p, NULL, 0), k;
    chroprof_path *rows = (chroprof_path *)calloc(n + 1, sizeof *rows);
    uint32_t *ids = NULL;
    int i;

    snprintf(c->where, sizeof c->where, "paths");
    hold(c, "count", n, (uint64_t)COUNT(c->m->paths));
    hold(c, "count of rows", chroprof_paths(c->p, rows, n), n);
    for (k = 1; k < n; k++)
        if (rows[k].parent && !row_with_id(rows, k, rows[k].parent))
            hold(c, "preorder broken at row", k, 0);
    for (i = 0; i < COUNT(c->m->paths); i++) {
        arrput(ids, 0);
        for (k = 0; k < n && !is_path(c, rows, n, &rows[k], &c->m->paths[i]); k++)
            ;
        if (k < n) {
            ids[i] = rows[k].id;
            compare_path(c, &rows[k], &all[i]);
        } else {
            snprintf(c->where, sizeof c->where, "path to %.100s",
                     name_of(c->m, site_at_end(&c->m->paths[i])));
            hold(c, "rows", 0, 1);
        }
    }
    free(rows);
    return ids;
}

static bool is_future(const model *m, const chroprof_future *row, const model_future *f,
                      uint32_t path, uint64_t exec)
{
    chroprof_state state = lost_its_frame(m, (int)(f - m->futures)) ? CHROPROF_PAUSED : f->state;

    return row->id == f->id && row->state == state && row->path == path &&
           row->since_ns == f->since && row->exec_ns == exec;
}

static void print_live(comparison *c, const chroprof_future *rows, size_t n,
                       const uint32_t *path_ids, const uint64_t *exec)
{
    const model *m = c->m;
    size_t k;
    int i;

    for (k = 0; c->err && k < n; k++)
        fprintf(c->err, "    id %llu path %lu state %d since %llu exec %llu\n",
                (unsigned long long)rows[k].id, (unsigned long)rows[k].path, (int)rows[k].state,
                (unsigned long long)rows[k].since_ns, (unsigned long long)rows[k].exec_ns);
    for (i = 0; c->err && i < COUNT(m->live); i++) {
        const model_future *f = &m->futures[m->live[i]];
        fprintf(c->err, "    model: id %llu path %lu state %d since %llu exec %llu\n",
                (unsigned long long)f->id, (unsigned long)(f->path < 0 ? 2 : path_ids[f->path]),
                (int)f->state, (unsigned long long)f->since, (unsigned long long)exec[m->live[i]]);
    }
}

static void compare_futures(comparison *c, const uint32_t *path_ids)
{
    const model *m = c->m;
    size_t n = chroprof_futures(c->p, NULL, 0), k;
    chroprof_future *rows = (chroprof_future *)calloc(n + 1, sizeof *rows);
    uint64_t *exec = exec_of_futures(m);
    int i, before = c->differences;

    snprintf(c->where, sizeof c->where, "futures");
    hold(c, "count of rows", chroprof_futures(c->p, rows, n), n);
    hold(c, "count", n, (uint64_t)COUNT(m->live));
    for (i = 0; i < COUNT(m->live); i++) {
        const model_future *f = &m->futures[m->live[i]];
        uint32_t path = f->path < 0 ? 2 : path_ids[f->path];
        for (k = 0; k < n && !is_future(c->m, &rows[k], f, path, exec[m->live[i]]); k++)
            ;
        hold(c, "row of this id missing", k < n ? f->id : 0, f->id);
        if (f->id == 0)
            hold(c, "enter-frames missing", k < n, true);
    }
    if (c->differences != before)
        print_live(c, rows, n, path_ids, exec);
    arrfree(exec);
    free(rows);
}

/* ---- windows ------------------------------------------------------------------------------- */

static int level_of_windows(const model *m)
{
    uint64_t last = m->elapsed / m->window_ns;
    int level = 0;

    while (last >> level >= m->capacity[CHROPROF_TABLE_WINDOWS])
        level++;
    return level;
}

static int site_at(const model *m, int place)
{
    return place < 0 ? place : site_at_end(&m->paths[place]);
}

/* Adds the part of each interval of this place (or this site, if by_site) to its window. */
static void fill_windows(const model *m, uint64_t *windows, int place, bool by_site)
{
    uint64_t width = m->window_ns << level_of_windows(m);
    int i;

    for (i = 0; i < COUNT(m->intervals); i++) {
        uint64_t at = m->intervals[i].start, end = m->intervals[i].end;
        if (by_site ? m->intervals[i].place < 0 || site_at(m, m->intervals[i].place) != place
                    : m->intervals[i].place != place)
            continue;
        while (at < end) {
            uint64_t left = width - at % width, part = end - at < left ? end - at : left;
            windows[at / width] += part;
            at += part;
        }
    }
}

static uint64_t *windows_of(const model *m, int place, bool by_site)
{
    uint64_t *windows = NULL;
    uint64_t i;

    for (i = 0; i <= m->capacity[CHROPROF_TABLE_WINDOWS]; i++)
        arrput(windows, 0);
    fill_windows(m, windows, place, by_site);
    return windows;
}

static uint64_t window_count(const model *m)
{
    uint64_t width = m->window_ns << level_of_windows(m);

    return m->elapsed / width + 1;
}

static void compare_loop_windows(comparison *c, const chroprof_window *rows, size_t n)
{
    const model *m = c->m;
    uint64_t *idle = windows_of(m, MODEL_IDLE, false), *loop = windows_of(m, MODEL_LOOP, false);
    uint64_t *untracked = windows_of(m, MODEL_UNTRACKED, false);
    uint64_t width = m->window_ns << level_of_windows(m);
    size_t i;

    for (i = 0; i < n && i < window_count(m); i++) {
        uint64_t end = i + 1 < window_count(m) ? (i + 1) * width : m->elapsed;
        snprintf(c->where, sizeof c->where, "window %lu", (unsigned long)i);
        hold(c, "start_ns", rows[i].start_ns, i * width);
        hold(c, "end_ns", rows[i].end_ns, end);
        hold(c, "idle_ns", rows[i].idle_ns, idle[i]);
        hold(c, "uninstrumented_ns", rows[i].uninstrumented_ns, loop[i]);
        hold(c, "untracked_ns", rows[i].untracked_ns, untracked[i]);
        hold(c, "busy_ns", rows[i].busy_ns, end - i * width - idle[i] - loop[i]);
    }
    arrfree(idle);
    arrfree(loop);
    arrfree(untracked);
}

static void compare_site_windows(comparison *c, size_t n, int site, uint64_t *got)
{
    uint64_t *want = windows_of(c->m, site, true);
    uint32_t id = (uint32_t)(site == MODEL_OTHER ? 3 : site + 4);
    size_t i, rows = chroprof_site_windows(c->p, id, got, n);

    for (i = 0; i < rows && i < n && i < window_count(c->m); i++) {
        snprintf(c->where, sizeof c->where, "window %lu of site %.100s", (unsigned long)i,
                 name_of(c->m, site));
        hold(c, "exec_ns", got[i], want[i]);
    }
    snprintf(c->where, sizeof c->where, "windows of site %.100s", name_of(c->m, site));
    hold(c, "count", rows, window_count(c->m));
    arrfree(want);
}

static void compare_windows(comparison *c)
{
    size_t n = chroprof_windows(c->p, NULL, 0);
    chroprof_window *rows = (chroprof_window *)calloc(n + 1, sizeof *rows);
    uint64_t *site_rows = (uint64_t *)calloc(n + 1, sizeof *site_rows);
    int site;

    snprintf(c->where, sizeof c->where, "windows");
    hold(c, "count", n, window_count(c->m));
    hold(c, "count of rows", chroprof_windows(c->p, rows, n), n);
    compare_loop_windows(c, rows, n);
    for (site = 0; site < COUNT(c->m->sites); site++)
        compare_site_windows(c, n, site, site_rows);
    if (c->m->other_used)
        compare_site_windows(c, n, MODEL_OTHER, site_rows);
    free(rows);
    free(site_rows);
}

/* ---- anomalies, tables, all ---------------------------------------------------------------- */

static void compare_anomalies(comparison *c)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t i, n = chroprof_anomalies(c->p, rows, CHROPROF_ANOMALY_COUNT);

    snprintf(c->where, sizeof c->where, "anomalies");
    hold(c, "count", n, CHROPROF_ANOMALY_COUNT);
    for (i = 0; i < n; i++)
        hold(c, rows[i].text, rows[i].count, c->m->anomalies[rows[i].kind]);
}

static void compare_tables(comparison *c)
{
    const model *m = c->m;
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t i, n = chroprof_tables(c->p, rows, CHROPROF_TABLE_COUNT);

    snprintf(c->where, sizeof c->where, "tables");
    hold(c, "count", n, CHROPROF_TABLE_COUNT);
    for (i = 0; i < n; i++) {
        snprintf(c->where, sizeof c->where, "table %s", rows[i].name);
        hold(c, "capacity", rows[i].capacity, m->capacity[rows[i].kind]);
        switch (rows[i].kind) {
        case CHROPROF_TABLE_FUTURES: hold(c, "used", rows[i].used, live_with_id(m)); break;
        case CHROPROF_TABLE_SITES: hold(c, "used", rows[i].used, (uint64_t)COUNT(m->sites)); break;
        case CHROPROF_TABLE_PATHS: hold(c, "used", rows[i].used, (uint64_t)COUNT(m->paths)); break;
        case CHROPROF_TABLE_EDGES: hold(c, "used", rows[i].used, (uint64_t)COUNT(m->edges)); break;
        case CHROPROF_TABLE_DEPTH: hold(c, "used", rows[i].used, (uint64_t)depth(m)); break;
        case CHROPROF_TABLE_SLOW: break;
        default: continue;
        }
        hold(c, "dropped", rows[i].dropped, m->dropped[rows[i].kind]);
    }
}

static comparison begin_comparison(const model *m, const chroprof *p, FILE *err)
{
    comparison c;

    memset(&c, 0, sizeof c);
    c.m = m;
    c.p = p;
    c.err = err;
    return c;
}

int model_compare_totals(const model *m, const chroprof *p, FILE *err)
{
    comparison c = begin_comparison(m, p, err);
    chroprof_totals t;

    chroprof_read_totals(p, &t);
    snprintf(c.where, sizeof c.where, "totals");
    hold(&c, "elapsed_ns", t.elapsed_ns, m->elapsed);
    compare_counts(&c, &t);
    return c.differences;
}

int model_compare(const model *m, const chroprof *p, FILE *err)
{
    comparison c = begin_comparison(m, p, err);
    figures *all = figures_of_paths(m);
    uint32_t *path_ids;

    compare_all_totals(&c);
    compare_anomalies(&c);
    compare_tables(&c);
    compare_ranks(&c, all);
    path_ids = compare_paths(&c, all);
    compare_futures(&c, path_ids);
    compare_windows(&c);
    compare_steps(&c, path_ids);
    compare_stalls(&c);
    compare_slowest(&c);
    arrfree(path_ids);
    arrfree(all);
    return c.differences;
}

/* ---- the laws, from public figures alone --------------------------------------------------- */

static void laws_of_totals(comparison *c, const chroprof_totals *t)
{
    snprintf(c->where, sizeof c->where, "law:");
    hold(c, "elapsed = busy + idle + uninstrumented", t->elapsed_ns,
         t->busy_ns + t->idle_ns + t->uninstrumented_ns);
    hold(c, "blame = delay, in ticks", t->blame_ticks, t->delay_ticks);
    hold(c, "untracked within busy", t->untracked_ns <= t->busy_ns, true);
}

static void laws_of_rank(comparison *c, const chroprof_rank *r)
{
    hold(c, "calls add up", r->calls,
         r->completed + r->failed + r->cancelled + r->abandoned + r->dropped + r->live);
    hold(c, "with_children = exec + children", r->with_children_ns, r->exec_ns + r->children_ns);
    hold(c, "slice_max within exec_max", r->slice_max_ns <= r->exec_max_ns, true);
    hold(c, "exec_max within exec", r->exec_max_ns <= r->exec_ns, true);
}

static void laws_of_ranks(comparison *c, const chroprof_totals *t)
{
    chroprof_rank some[64], *rows = some;
    size_t i, n = chroprof_ranks(c->p, some, 64, CHROPROF_BY_EXEC);
    uint64_t exec = t->untracked_ns, live = 0;
    uint64_t blame = t->untracked_blame_ns + t->uninstrumented_blame_ns + t->idle_blame_ns;

    if (n > 64) {
        rows = (chroprof_rank *)calloc(n, sizeof *rows);
        chroprof_ranks(c->p, rows, n, CHROPROF_BY_EXEC);
    }
    for (i = 0; i < n; i++) {
        laws_of_rank(c, &rows[i]);
        exec += rows[i].exec_ns;
        blame += rows[i].blame_ns;
        live += rows[i].live;
    }
    hold(c, "busy = sum of exec + untracked", t->busy_ns, exec);
    hold(c, "blame = sum of the sites' + untracked, loop, idle", t->blame_ns, blame);
    hold(c, "live at sites within live", live <= t->live, true);
    if (rows != some)
        free(rows);
}

int model_laws_of_totals(const chroprof *p, FILE *err)
{
    comparison c = begin_comparison(NULL, p, err);
    chroprof_totals t;

    chroprof_read_totals(p, &t);
    laws_of_totals(&c, &t);
    return c.differences;
}

int model_laws(const chroprof *p, FILE *err)
{
    comparison c = begin_comparison(NULL, p, err);
    const char *broken = chroprof_check(p);
    chroprof_totals t;

    chroprof_read_totals(p, &t);
    laws_of_totals(&c, &t);
    laws_of_ranks(&c, &t);
    if (broken) {
        snprintf(c.where, sizeof c.where, "chroprof_check: %.150s", broken);
        hold(&c, "broken", 1, 0);
    }
    return c.differences;
}
