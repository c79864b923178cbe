/* writers/trace.h */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../writers/output.h"

#ifndef CHROPROF_NO_TRACE
/* >>trace: the ring as Chrome trace events, for Perfetto, chrome://tracing and speedscope.
 * Process 1 is the loop: the running stack as begins and ends, counters, stalls and samples. Each
 * root future is a process of its own, with an async track for it and one for each future that came
 * from it. A step tells an id and its predecessors are gone, so a table on the stack remembers the
 * futures under way; a future is written as soon as its name is known, which is when it first runs.
 * Of more futures than the table has room for, the one that has been in its state the longest ends
 * early in the trace. Relies on the public reads; called by >>formats. */

enum {
    CHROPROF__TRACE_DEPTH = 64,             /* a deeper frame is drawn as the 64th while on top */
    CHROPROF__TRACE_SETS = 64, CHROPROF__TRACE_WAYS = 8
};
#define CHROPROF__TRACE_NONE UINT32_MAX     /* a path that is not known; no leaf */
#define CHROPROF__TRACE_UNSEEN CHROPROF_TICK    /* the state of a future that is not told yet */

typedef struct chroprof__trace_frame {
    uint64_t id;               /* 0: a plain call, a barrier, or not known */
    uint32_t path;             /* 0: a barrier */
} chroprof__trace_frame;

typedef struct chroprof__trace_future {
    uint64_t id;               /* 0: this row is free */
    uint64_t number;           /* of its first event: its track */
    uint64_t created_ns, since_ns;
    uint32_t process;          /* of its root */
    uint32_t path;             /* 0: not known yet, and nothing of it written */
    chroprof_state state;
    bool root, created;        /* created: the ring tells when */
    bool arrow;                /* created by a task, and has not run yet */
    bool remembered;           /* became ready while it ran */
} chroprof__trace_future;

typedef struct chroprof__trace {
    chroprof__out *out;
    const chroprof *p;
    chroprof_step step, next;  /* the event, and the one that ends the interval after it */
    uint64_t begin_ns, number; /* of the trace; of the event */
    uint64_t live, ready, live_told, ready_told;   /* futures; of the ring alone in the first go */
    uint32_t processes, depth, leaf;
    bool whole;                /* no event came before the ring's */
    bool forgot;               /* a future that did not end */
    chroprof__trace_frame frames[CHROPROF__TRACE_DEPTH + 1];   /* those drawn, above a barrier */
    chroprof__trace_future futures[CHROPROF__TRACE_SETS][CHROPROF__TRACE_WAYS];
} chroprof__trace;

/* ---- events of the format */

/* Begins an event, which stays open for more. */
static void chroprof__trace_event(chroprof__trace *t, const char *phase, uint32_t process,
                                  uint64_t at_ns, const char *name)
{
    const struct {
        const char *phase;
        uint64_t process, thread, at_ns;
        const char *name;
    } values = { phase, process, 1, at_ns, name };
    chroprof__put_json(t->out, "\n{ph$ pid tid ts~ name$", &values);
}

static const char *chroprof__trace_word(const chroprof__trace *t, uint32_t path)
{
    return path == CHROPROF__TRACE_NONE ? "(never ran)" : chroprof__path_word(t->p, path);
}

/* A figure of process 1 as of now. */
static void chroprof__trace_counter(chroprof__trace *t, const char *name, uint64_t value,
                                    uint64_t *told)
{
    value = value >> 63 ? 0 : value;        /* the host sent what can't be */
    if (value == *told)
        return;
    *told = value;
    chroprof__trace_event(t, "C", 1, t->step.at_ns, name);
    chroprof__put_json(t->out, "cat'future'args{count}}", &value);
}

static void chroprof__trace_process(chroprof__trace *t, uint32_t process, const char *name,
                                    uint64_t id)
{
    const uint64_t place = process;
    chroprof__trace_event(t, "M", process, 0, "process_name");
    chroprof__put_json(t->out, "args{name\"", NULL);
    chroprof__put_quoted(t->out, name, true);
    if (id != 0) {
        chroprof__put_byte(t->out, ' ');
        chroprof__put_hex(t->out, id);
    }
    chroprof__put_json(t->out, "\"}}", NULL);
    chroprof__trace_event(t, "M", process, 0, "process_sort_index");
    chroprof__put_json(t->out, "args{sort_index}}", &place);
}

/* ---- tracks of futures */

/* A begin, end or mark on the track of a future. */
static void chroprof__trace_mark(chroprof__trace *t, const chroprof__trace_future *f,
                                 const char *phase, uint64_t at_ns, const char *name)
{
    chroprof__trace_event(t, phase, f->process, at_ns, name);
    chroprof__put_json(t->out, "cat'future'id#}", &f->number);
}

/* Begins or ends the state that it is in, once it has a name. */
static void chroprof__trace_state(chroprof__trace *t, const chroprof__trace_future *f,
                                  const char *phase, uint64_t at_ns)
{
    static const char names[][8] = { "created", "ready", "running", "waiting" };
    if (f->path != 0 && f->state <= CHROPROF_PAUSED)
        chroprof__trace_mark(t, f, phase, at_ns, names[f->state]);
}

/* Its name is known: what it has been through so far is written. */
static void chroprof__trace_name(chroprof__trace *t, chroprof__trace_future *f, uint32_t path)
{
    chroprof_path row;
    if (f->path != 0)
        return;
    f->path = path;
    if (f->root)
        chroprof__trace_process(t, f->process, chroprof__trace_word(t, path), f->id);
    const uint64_t ids[] = { f->number, f->id };
    chroprof__trace_event(t, "b", f->process, f->created_ns, chroprof__trace_word(t, path));
    chroprof__put_json(t->out, "cat'future'id#args{id#", ids);
    if (path != CHROPROF__TRACE_NONE && chroprof_read_path_alone(t->p, path, &row)) {
        const uint64_t line = row.line;
        chroprof__put_json(t->out, "file$", &row.file);
        chroprof__put_json(t->out, "line=", &line);
    }
    chroprof__put_json(t->out, "}}", NULL);
    if (f->created && f->state != CHROPROF_PENDING) {
        chroprof__trace_mark(t, f, "b", f->created_ns, "created");
        chroprof__trace_mark(t, f, "e", f->since_ns, "created");
    }
    chroprof__trace_state(t, f, "b", f->since_ns);
}

static void chroprof__trace_callback(chroprof__trace *t, chroprof__trace_future *f,
                                 chroprof_state state)
{
    if (f->state == state)
        return;
    t->ready += (uint64_t)(state == CHROPROF_READY) - (uint64_t)(f->state == CHROPROF_READY);
    chroprof__trace_state(t, f, "e", t->step.at_ns);
    f->state = state;
    f->since_ns = t->step.at_ns;
    chroprof__trace_state(t, f, "b", f->since_ns);
}

/* A future ends, or the trace does: word is how, NULL: it lives on. */
static void chroprof__trace_end(chroprof__trace *t, chroprof__trace_future *f, const char *word)
{
    chroprof__trace_name(t, f, CHROPROF__TRACE_NONE);
    chroprof__trace_callback(t, f, CHROPROF__TRACE_UNSEEN);
    if (word != NULL)
        chroprof__trace_mark(t, f, "n", t->step.at_ns, word);
    t->live -= word != NULL;
    chroprof__trace_mark(t, f, "e", t->step.at_ns, chroprof__trace_word(t, f->path));
    f->id = 0;
}

static chroprof__trace_future *chroprof__trace_find(chroprof__trace *t, uint64_t id)
{
    chroprof__trace_future *set = t->futures[chroprof__hash_index(id, CHROPROF__TRACE_SETS)];
    for (uint32_t k = 0; k < CHROPROF__TRACE_WAYS && id != 0; k++)
        if (set[k].id == id)
            return set + k;
    return NULL;
}

/* A future that the table does not have; process 0: it is a root. */
static chroprof__trace_future *chroprof__trace_add(chroprof__trace *t, uint32_t process,
                                                   uint64_t created_ns)
{
    uint64_t id = t->step.id;
    chroprof__trace_future *set = t->futures[chroprof__hash_index(id, CHROPROF__TRACE_SETS)];
    chroprof__trace_future *f = set;
    for (uint32_t k = 1; k < CHROPROF__TRACE_WAYS; k++)
        if (f->id != 0 && (set[k].id == 0 || set[k].since_ns < f->since_ns))
            f = set + k;
    if (f->id != 0) {
        chroprof__trace_end(t, f, NULL);
        t->forgot = true;
    }
    memset(f, 0, sizeof *f);
    f->id = id;
    f->number = t->number;
    f->created_ns = f->since_ns = created_ns;
    f->root = process == 0;
    f->process = f->root ? ++t->processes : process;
    f->state = CHROPROF__TRACE_UNSEEN;
    return f;
}

/* One whose creation the ring does not tell. */
static chroprof__trace_future *chroprof__trace_meet(chroprof__trace *t)
{
    chroprof__trace_future *f = chroprof__trace_find(t, t->step.id);
    uint64_t since = t->whole || t->forgot ? t->step.at_ns : t->begin_ns;
    if (f == NULL && t->whole && !t->forgot)
        t->live++;                          /* adopted */
    return f != NULL ? f : chroprof__trace_add(t, 0, since);
}

static void chroprof__trace_create(chroprof__trace *t)
{
    uint32_t depth = t->step.path < CHROPROF__FIRST_PATH ? 0 : t->depth;
    while (t->frames[depth].path != CHROPROF__LOOP && t->frames[depth].id == 0)
        depth--;                            /* to the innermost future, or what bars the way */
    bool barred = t->frames[depth].path == CHROPROF__LOOP;
    chroprof__trace_future *f = barred ? NULL : chroprof__trace_find(t, t->frames[depth].id);
    uint32_t process = f != NULL ? f->process : 0;
    f = chroprof__trace_find(t, t->step.id);
    if (f != NULL)
        chroprof__trace_end(t, f, "abandoned");
    f = chroprof__trace_add(t, process, t->step.at_ns);
    f->state = CHROPROF_PENDING;
    f->created = true;
    f->arrow = t->step.path >= CHROPROF__FIRST_PATH;
    t->live++;
}

static void chroprof__trace_finish(chroprof__trace *t, const char *word)
{
    chroprof__trace_future *f = chroprof__trace_find(t, t->step.id);
    bool popped = t->next.depth < t->step.depth && t->step.path >= CHROPROF__FIRST_PATH;
    if (f == NULL && !t->whole && popped) {
        f = chroprof__trace_meet(t);
        f->state = CHROPROF_RUNNING;
        chroprof__trace_name(t, f, t->step.path);
    }
    if (f != NULL)
        chroprof__trace_end(t, f, word);
    else
        t->live -= !t->whole || t->forgot;
}

/* A frame of this id is gone. */
static void chroprof__trace_rest(chroprof__trace *t, uint64_t id)
{
    chroprof__trace_future *f = chroprof__trace_find(t, id);
    if (f == NULL || f->state != CHROPROF_RUNNING)
        return;
    for (uint32_t k = 1; k <= t->depth; k++)
        if (t->frames[k].id == id)
            return;
    chroprof__trace_callback(t, f, f->remembered ? CHROPROF_READY : CHROPROF_PAUSED);
    f->remembered = false;
}

static void chroprof__trace_run(chroprof__trace *t)
{
    chroprof__trace_future *f = chroprof__trace_meet(t);
    bool known = t->next.path >= CHROPROF__FIRST_PATH;
    chroprof__trace_name(t, f, known ? t->next.path : (uint32_t)CHROPROF__UNTRACKED);
    if (f->arrow) {     /* from the slice that created it to the slice in which it first runs */
        chroprof__trace_event(t, "s", 1, f->created_ns, "created");
        chroprof__put_json(t->out, "cat'future'id#}", &f->number);
        chroprof__trace_event(t, "f", 1, t->step.at_ns, "created");
        chroprof__put_json(t->out, "cat'future'id#bp'e'}", &f->number);
    }
    f->arrow = false;
    chroprof__trace_callback(t, f, CHROPROF_RUNNING);
}

static void chroprof__trace_ready(chroprof__trace *t)
{
    chroprof__trace_future *f = chroprof__trace_find(t, t->step.id);
    if (f == NULL && t->whole && !t->forgot)
        return;
    f = chroprof__trace_meet(t);
    if (f->state == CHROPROF_RUNNING)
        f->remembered = true;
    else
        chroprof__trace_callback(t, f, CHROPROF_READY);
}

/* What the event says of its future, before the stack changes. */
static void chroprof__trace_told(chroprof__trace *t)
{
    static const char words[][12] = { "completed", "failed", "cancelled" };
    const chroprof_step *s = &t->step;
    if (s->id == 0)
        return;
    if (s->state == CHROPROF_PENDING)
        chroprof__trace_create(t);
    else if (s->state == CHROPROF_READY)
        chroprof__trace_ready(t);
    else if (s->state >= CHROPROF_COMPLETED && s->state <= CHROPROF_CANCELLED)
        chroprof__trace_finish(t, words[s->state - CHROPROF_COMPLETED]);
}

/* ---- the track of the loop */

static void chroprof__trace_task(chroprof__trace *t, const char *phase, uint32_t path, bool leaf)
{
    if (path == CHROPROF__TRACE_NONE)
        return;
    bool nested = path == CHROPROF__LOOP && !leaf;
    const uint64_t id = path;
    chroprof__trace_event(t, phase, 1, t->step.at_ns,
                          nested ? "(nested loop)" : chroprof__trace_word(t, path));
    chroprof__put_json(t->out, *phase == 'B' ? "path}" : "}", &id);
}

/* Idle, uninstrumented or untracked time above the frames. */
static void chroprof__trace_leaf(chroprof__trace *t, uint32_t leaf)
{
    if (leaf == t->leaf)
        return;
    chroprof__trace_task(t, "E", t->leaf, true);
    chroprof__trace_task(t, "B", leaf, true);
    t->leaf = leaf;
}

static uint32_t chroprof__trace_depth(uint32_t depth)
{
    return depth < CHROPROF__TRACE_DEPTH ? depth : (uint32_t)CHROPROF__TRACE_DEPTH;
}

static void chroprof__trace_pop(chroprof__trace *t, uint32_t depth)
{
    if (depth < t->depth)
        chroprof__trace_leaf(t, CHROPROF__TRACE_NONE);
    while (t->depth > depth) {
        const chroprof__trace_frame *frame = t->frames + t->depth--;
        chroprof__trace_task(t, "E", frame->path, false);
        chroprof__trace_rest(t, frame->id);
    }
}

static void chroprof__trace_push(chroprof__trace *t, uint64_t id, uint32_t path)
{
    chroprof__trace_frame *frame = t->frames + ++t->depth;
    chroprof__trace_leaf(t, CHROPROF__TRACE_NONE);
    frame->id = id;
    frame->path = path;
    chroprof__trace_task(t, "B", path, false);
}

/* Does another frame take the place of the one at the new depth? Where frames are hidden, which is
 * untracked time before and after, none does. */
static bool chroprof__trace_replaces(const chroprof__trace *t)
{
    const chroprof_step *s = &t->step, *n = &t->next;
    uint32_t depth = chroprof__trace_depth(n->depth);
    if (n->depth > s->depth || depth == 0 || depth > t->depth ||
        (t->leaf == CHROPROF__UNTRACKED && n->path == CHROPROF__UNTRACKED))
        return false;
    return s->state == CHROPROF_NEXT || (s->state == CHROPROF_SWITCH && s->id != 0) ||
           (s->state == CHROPROF_RUNNING && t->frames[depth].id == s->id);
}

/* The stack becomes what it is in the interval after the event. */
static void chroprof__trace_stack(chroprof__trace *t)
{
    const chroprof_step *s = &t->step, *n = &t->next;
    uint32_t depth = chroprof__trace_depth(n->depth);
    bool runs = s->state == CHROPROF_RUNNING || s->state == CHROPROF_SWITCH;
    chroprof__trace_pop(t, chroprof__trace_replaces(t) ? depth - 1 : depth);
    while (t->depth < depth) {
        bool top = t->depth + 1 == depth && n->path != CHROPROF__IDLE;
        chroprof__trace_push(t, top && runs ? s->id : 0, top ? n->path : CHROPROF__TRACE_NONE);
    }
    if (n->path >= CHROPROF__FIRST_PATH && depth > 0 && t->frames[depth].path != n->path) {
        uint64_t id = t->frames[depth].id;
        chroprof__trace_pop(t, depth - 1);
        chroprof__trace_push(t, id, n->path);
    }
    if (n->path >= CHROPROF__FIRST_PATH || (n->at_ns == s->at_ns && n->path != t->leaf) ||
        (depth > 0 && n->path == CHROPROF__UNTRACKED && t->frames[depth].path == n->path))
        chroprof__trace_leaf(t, CHROPROF__TRACE_NONE);
    else
        chroprof__trace_leaf(t, n->path);
}

/* One event: what it says, and what runs until the next. */
static void chroprof__trace_step(chroprof__trace *t)
{
    const chroprof_step *s = &t->step;
    chroprof__trace_told(t);
    chroprof__trace_stack(t);
    if (s->id != 0 && s->state == CHROPROF_PAUSED)
        chroprof__trace_rest(t, s->id);     /* that of a hidden frame */
    else if (s->id != 0 && (s->state == CHROPROF_RUNNING || s->state == CHROPROF_SWITCH))
        chroprof__trace_run(t);
    chroprof__trace_counter(t, "live futures", t->live, &t->live_told);
    chroprof__trace_counter(t, "ready futures", t->ready, &t->ready_told);
}

/* The path of the frame that lies at this depth where the ring begins: that of the first step that
 * has it on top. */
static uint32_t chroprof__trace_below(const chroprof *p, uint32_t depth)
{
    uint64_t cursor = 0;
    chroprof_step step;
    while (chroprof_next_step(p, &cursor, &step))
        if (step.depth <= depth)
            return step.depth == depth && step.path != CHROPROF__IDLE ? step.path
                                                                      : CHROPROF__TRACE_NONE;
    return CHROPROF__TRACE_NONE;
}

/* The first event, and the stack that it meets. False: there is none. */
static bool chroprof__trace_begin(chroprof__trace *t, const chroprof_totals *totals,
                                  uint64_t *cursor)
{
    bool all = chroprof_timeline(t->p, 0, UINT64_MAX, NULL, 0) == totals->events;
    *cursor = 0;
    t->leaf = CHROPROF__TRACE_NONE;
    t->live_told = t->ready_told = UINT64_MAX;
    t->processes = 1;
    if (!chroprof_next_step(t->p, cursor, &t->step))
        return false;
    t->whole = *cursor == 1;
    t->begin_ns = t->step.at_ns = all ? 0 : t->step.at_ns;
    for (uint32_t d = 1; d <= chroprof__trace_depth(t->step.depth); d++)
        chroprof__trace_push(t, 0, chroprof__trace_below(t->p, d));
    if (all) {                              /* from the beginning of the profile on */
        memset(&t->step, 0, sizeof t->step);
        t->step.state = CHROPROF_TICK;
        *cursor = 0;
    }
    return true;
}

static void chroprof__trace_steps(chroprof__trace *t, const chroprof_totals *totals)
{
    uint64_t cursor;
    bool more = chroprof__trace_begin(t, totals, &cursor);
    while (more) {
        t->number = cursor;
        more = chroprof_next_step(t->p, &cursor, &t->next);
        if (!more)                          /* of a snapshot of a program that lives */
            t->next = chroprof__step_now(t->p, totals);
        if (t->next.at_ns < t->step.at_ns)  /* a damaged block */
            t->next.at_ns = t->step.at_ns;
        chroprof__trace_step(t);
        t->step = t->next;
    }
}

/* Those that are live and have not run get their names; then all tracks end. */
static void chroprof__trace_close(chroprof__trace *t)
{
    uint64_t cursor = 0;
    chroprof_future row;
    while (!t->out->failed && chroprof_next_future(t->p, &cursor, &row)) {
        chroprof__trace_future *f = chroprof__trace_find(t, row.id);
        if (f != NULL && row.path >= CHROPROF__FIRST_PATH)     /* killed while it was created */
            chroprof__trace_name(t, f, row.path);
    }
    for (uint32_t k = 0; k < CHROPROF__TRACE_SETS * CHROPROF__TRACE_WAYS; k++) {
        chroprof__trace_future *f = t->futures[k / CHROPROF__TRACE_WAYS] + k % CHROPROF__TRACE_WAYS;
        if (f->id != 0)
            chroprof__trace_end(t, f, NULL);
    }
    chroprof__trace_pop(t, 0);
    chroprof__trace_leaf(t, CHROPROF__TRACE_NONE);
}

/* The counters where the ring begins: those of now, less what the ring adds to them. This first go
 * through it writes nothing, as an output that has failed. */
static void chroprof__trace_count(chroprof__trace *t, const chroprof_totals *totals)
{
    chroprof__out *out = t->out;
    const chroprof *p = t->p;
    out->failed = true;
    chroprof__trace_steps(t, totals);
    uint64_t live = totals->live - t->live;
    uint64_t ready = chroprof__count_ready(p) - t->ready;
    out->failed = out->comma = false;
    out->used = 0;
    memset(t, 0, sizeof *t);
    t->out = out;
    t->p = p;
    t->live = live >> 63 ? 0 : live;
    t->ready = ready >> 63 ? 0 : ready;
}

/* ---- stalls and samples, of the ring's time */

static void chroprof__trace_stalls(chroprof__trace *t)
{
    uint64_t cursor = 0;
    chroprof_stall row;
    while (!t->out->failed && chroprof_next_stall(t->p, &cursor, &row)) {
        if (row.start_ns + row.length_ns <= t->begin_ns)
            continue;
        chroprof__trace_event(t, "i", 1, row.start_ns > t->begin_ns ? row.start_ns : t->begin_ns,
                              row.kind == CHROPROF_STALL_ITERATION ? "stall (iteration)"
                                                                   : "stall (callback)");
        chroprof__put_json(t->out, "cat'stall's'p'args{length_ns", &row.length_ns);
        for (uint32_t k = 0; k < row.share_count; k++) {
            chroprof__put_text(t->out, ",\"");
            chroprof__put_u64(t->out, k + 1u);
            chroprof__put_text(t->out, ". ");
            chroprof__put_quoted(t->out, row.shares[k].site != 0 ? row.shares[k].name
                                                                 : "(uninstrumented)", true);
            chroprof__put_json(t->out, "\":%", &row.shares[k].exec_ns);
        }
        chroprof__put_json(t->out, "}}", NULL);
    }
}

static void chroprof__trace_samples(chroprof__trace *t)
{
    uint64_t cursor = 0;
    chroprof_sample_row row;
    while (!t->out->failed && chroprof_next_sample(t->p, &cursor, &row)) {
        if (row.at_ns < t->begin_ns)
            continue;
        chroprof__trace_event(t, "i", 1, row.at_ns, "sample");
        chroprof__put_json(t->out, "cat'sample's't'sf.", &row.stack);
        chroprof__put_json(t->out, "args{duration_ns weight cpu_ns", &row.duration_ns);
        chroprof__put_json(t->out, "state(busy,idle,uninstrumented)}}", &row.state);
    }
}

/* The tree of sampled stacks that samples refer to. */
static void chroprof__trace_stacks(chroprof__trace *t)
{
    uint64_t cursor = 0;
    chroprof_stack_row row;
    chroprof__put_json(t->out, "=:{name'(no stack)'}", &cursor);
    while (!t->out->failed && chroprof_next_stack(t->p, &cursor, &row)) {
        const uint64_t ids[] = { row.id, row.parent };
        chroprof__put_json(t->out, "\n=:{", ids);
        if (row.frame.name[0] != 0)
            chroprof__put_json(t->out, "name$", &row.frame.name);
        else
            chroprof__put_json(t->out, "name#", &row.frame.address);
        chroprof__put_json(t->out, row.parent != 0 ? "parent=}" : "}", ids + 1);
    }
}

CHROPROF__COLD_API void chroprof_as_trace(chroprof__out *o, const chroprof *p)
{
    chroprof__trace t;
    chroprof_options of;
    chroprof_totals totals;
    if (o->absent)
        return;
    chroprof_read_options(p, &of);
    chroprof_read_totals(p, &totals);
    memset(&t, 0, sizeof t);
    t.p = p;
    t.out = o;
    chroprof__trace_count(&t, &totals);
    chroprof__put_json(o, "{displayTimeUnit'ns'traceEvents[", NULL);
    chroprof__trace_process(&t, 1, of.name[0] != 0 ? of.name : "loop", 0);
    chroprof__trace_steps(&t, &totals);
    chroprof__trace_close(&t);
    chroprof__trace_stalls(&t);
    chroprof__trace_samples(&t);
    chroprof__put_json(o, "\n]stackFrames{", NULL);
    chroprof__trace_stacks(&t);
    chroprof__put_text(o, "}}\n");
}
#else
CHROPROF__LEFT_OUT(chroprof_as_trace)
#endif /* CHROPROF_NO_TRACE */
