/* trace_steps.c - a trace of the ring, step by step.
 *
 * Process 1 is the loop: the running stack as begins and ends, counters, stalls and samples. Each
 * root future is a process of its own, with an async track for it and one for each future that came
 * from it. A step tells an id and its predecessors are gone, so a table remembers the futures under
 * way; a future is written as soon as its name is known, which is when it first runs. Of more futures
 * than the table has room for, the one that has been in its state the longest ends early in the
 * trace. */

#include "trace_form.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum {
    LOOP_PATH = 0, IDLE_PATH = 1, UNTRACKED_PATH = 2,
    DEEPEST_DRAWN = 64,        /* a deeper frame is drawn as the 64th while on top */
    FUTURE_SETS = 64, FUTURE_WAYS = 8
};
#define NO_PATH UINT32_MAX     /* a path that is not known; no leaf */
#define UNSEEN CHROPROF_TICK   /* the state of a future that is not told yet */

typedef struct steps_frame {
    uint64_t id;               /* 0: a plain call, a barrier, or not known */
    uint32_t path;             /* 0: a barrier */
} steps_frame;

typedef struct steps_future {
    uint64_t id;               /* 0: this row is free */
    uint64_t number;           /* of its first event: its track */
    uint64_t created_ns, since_ns;
    uint32_t process;          /* of its root */
    uint32_t path;             /* 0: not known yet, and nothing of it written */
    chroprof_state state;
    bool root, created;        /* created: the ring tells when */
    bool arrow;                /* created by a task, and has not run yet */
    bool remembered;           /* became ready while it ran */
} steps_future;

typedef struct steps_trace {
    trace *t;
    const timeline *ring;
    bool counts;               /* the first go, which writes nothing */
    chroprof_step step, next;  /* the event, and the one that ends the interval after it */
    uint64_t number;           /* of the event */
    uint64_t live, ready, live_told, ready_told;    /* futures; of the ring alone in the first go */
    uint32_t processes, depth, leaf;
    bool whole;                /* no event came before the ring's */
    bool forgot;               /* a future that did not end */
    steps_frame frames[DEEPEST_DRAWN + 1];          /* those drawn, above a barrier */
    steps_future futures[FUTURE_SETS][FUTURE_WAYS];
} steps_trace;

/* >>steps writing */

__attribute__((format(printf, 2, 3)))
static void steps_put(const steps_trace *s, const char *format, ...)
{
    va_list values;
    int count;
    if (s->counts) {
        return;
    }
    va_start(values, format);
    count = vfprintf(s->t->out, format, values);
    va_end(values);
    trace_count(s->t, count > 0 ? (uint64_t)count : 0);
}

/* Begins an event, which stays open for more. */
static void steps_event(steps_trace *s, const char *phase, uint32_t process, uint64_t at_ns,
                        json_text name)
{
    steps_put(s, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":1,\"ts\":%" PRIu64 ".%03u,"
              "\"name\":\"%.*s\"", s->t->comma ? "," : "", phase, process, at_ns / 1000,
              (unsigned)(at_ns % 1000), (int)name.length, name.bytes);
    s->t->comma = s->t->comma || !s->counts;
}

static void steps_named(steps_trace *s, const char *phase, uint32_t process, uint64_t at_ns,
                        const char *name)
{
    steps_event(s, phase, process, at_ns, json_word(name));
}

/* NULL: it is none of a task. */
static const path_row *steps_path(const steps_trace *s, uint32_t path)
{
    size_t at = path < FIRST_PATH ? SIZE_MAX : path_index(&s->ring->paths, path);
    return at != SIZE_MAX ? &s->ring->paths.rows[at] : NULL;
}

static json_text steps_word(const steps_trace *s, uint32_t path)
{
    static const char words[][20] = { "(uninstrumented)", "(idle)", "(untracked)" };
    const path_row *row = steps_path(s, path);
    return path == NO_PATH ? json_word("(never ran)")
           : path < FIRST_PATH ? json_word(words[path])
           : row != NULL && row->name.bytes != NULL ? row->name : json_word("");
}

/* A figure of process 1 as of now. */
static void steps_counter(steps_trace *s, const char *name, uint64_t value, uint64_t *told)
{
    value = value >> 63 ? 0 : value;        /* the host sent what can't be */
    if (value == *told) {
        return;
    }
    *told = value;
    steps_named(s, "C", 1, s->step.at_ns, name);
    steps_put(s, ",\"cat\":\"future\",\"args\":{\"count\":%" PRIu64 "}}", value);
}

static void steps_process(steps_trace *s, uint32_t process, json_text name, uint64_t id)
{
    steps_named(s, "M", process, 0, "process_name");
    steps_put(s, ",\"args\":{\"name\":\"%.*s", (int)name.length, name.bytes);
    if (id != 0) {
        steps_put(s, " 0x%" PRIx64, id);
    }
    steps_put(s, "\"}}");
    steps_named(s, "M", process, 0, "process_sort_index");
    steps_put(s, ",\"args\":{\"sort_index\":%" PRIu32 "}}", process);
}

/* >>steps futures: their tracks */

/* The rest of an event of the track of a future. */
static void steps_track(steps_trace *s, const steps_future *f)
{
    steps_put(s, ",\"cat\":\"future\",\"id\":\"0x%" PRIx64 "\"}", f->number);
}

/* Begins or ends the state that it is in, once it has a name. */
static void steps_state(steps_trace *s, const steps_future *f, const char *phase, uint64_t at_ns)
{
    static const char names[][8] = { "created", "ready", "running", "waiting" };
    if (f->path != 0 && f->state <= CHROPROF_PAUSED) {
        steps_named(s, phase, f->process, at_ns, names[f->state]);
        steps_track(s, f);
    }
}

/* Its name is known: what it has been through so far is written. */
static void steps_name(steps_trace *s, steps_future *f, uint32_t path)
{
    const path_row *row = steps_path(s, path);
    if (f->path != 0) {
        return;
    }
    f->path = path;
    if (f->root) {
        steps_process(s, f->process, steps_word(s, path), f->id);
    }
    steps_event(s, "b", f->process, f->created_ns, steps_word(s, path));
    steps_put(s, ",\"cat\":\"future\",\"id\":\"0x%" PRIx64 "\",\"args\":{\"id\":\"0x%" PRIx64 "\"",
              f->number, f->id);
    if (row != NULL) {
        steps_put(s, ",\"file\":\"%.*s\",\"line\":\"%" PRIu64 "\"", (int)row->file.length,
                  row->file.length > 0 ? row->file.bytes : "", row->line);
    }
    steps_put(s, "}}");
    if (f->created && f->state != CHROPROF_PENDING) {
        steps_named(s, "b", f->process, f->created_ns, "created");
        steps_track(s, f);
        steps_named(s, "e", f->process, f->since_ns, "created");
        steps_track(s, f);
    }
    steps_state(s, f, "b", f->since_ns);
}

static void steps_become(steps_trace *s, steps_future *f, chroprof_state state)
{
    if (f->state == state) {
        return;
    }
    s->ready += (uint64_t)(state == CHROPROF_READY) - (uint64_t)(f->state == CHROPROF_READY);
    steps_state(s, f, "e", s->step.at_ns);
    f->state = state;
    f->since_ns = s->step.at_ns;
    steps_state(s, f, "b", f->since_ns);
}

/* A future ends, or the trace does: word is how, NULL: it lives on. */
static void steps_end_future(steps_trace *s, steps_future *f, const char *word)
{
    steps_name(s, f, NO_PATH);
    steps_become(s, f, UNSEEN);
    if (word != NULL) {
        steps_named(s, "n", f->process, s->step.at_ns, word);
        steps_track(s, f);
    }
    s->live -= word != NULL;
    steps_event(s, "e", f->process, s->step.at_ns, steps_word(s, f->path));
    steps_track(s, f);
    f->id = 0;
}

static steps_future *steps_set(steps_trace *s, uint64_t id)
{
    uint64_t hash = (id ^ id >> 5) * UINT64_C(0x9E3779B97F4A7C15);
    return s->futures[(hash >> 32) * FUTURE_SETS >> 32];
}

static steps_future *steps_find(steps_trace *s, uint64_t id)
{
    steps_future *set = steps_set(s, id);
    for (uint32_t k = 0; k < FUTURE_WAYS && id != 0; k++) {
        if (set[k].id == id) {
            return &set[k];
        }
    }
    return NULL;
}

/* A future that the table does not have; process 0: it is a root. */
static steps_future *steps_add_future(steps_trace *s, uint32_t process, uint64_t created_ns)
{
    uint64_t id = s->step.id;
    steps_future *set = steps_set(s, id), *f = set;
    for (uint32_t k = 1; k < FUTURE_WAYS; k++) {
        if (f->id != 0 && (set[k].id == 0 || set[k].since_ns < f->since_ns)) {
            f = &set[k];
        }
    }
    if (f->id != 0) {
        steps_end_future(s, f, NULL);
        s->forgot = true;
    }
    memset(f, 0, sizeof *f);
    f->id = id;
    f->number = s->number;
    f->created_ns = f->since_ns = created_ns;
    f->root = process == 0;
    f->process = f->root ? ++s->processes : process;
    f->state = UNSEEN;
    return f;
}

/* One whose creation the ring does not tell. */
static steps_future *steps_meet(steps_trace *s)
{
    steps_future *f = steps_find(s, s->step.id);
    uint64_t since = s->whole || s->forgot ? s->step.at_ns : s->t->begin;
    if (f == NULL && s->whole && !s->forgot) {
        s->live++;                          /* adopted */
    }
    return f != NULL ? f : steps_add_future(s, 0, since);
}

static void steps_create(steps_trace *s)
{
    uint32_t depth = s->step.path < FIRST_PATH ? 0 : s->depth;
    uint32_t process = 0;
    steps_future *f = NULL;
    while (s->frames[depth].path != LOOP_PATH && s->frames[depth].id == 0) {
        depth--;                            /* to the innermost future, or what bars the way */
    }
    if (s->frames[depth].path != LOOP_PATH) {
        f = steps_find(s, s->frames[depth].id);
        process = f != NULL ? f->process : 0;
    }
    f = steps_find(s, s->step.id);
    if (f != NULL) {
        steps_end_future(s, f, "abandoned");
    }
    f = steps_add_future(s, process, s->step.at_ns);
    f->state = CHROPROF_PENDING;
    f->created = true;
    f->arrow = s->step.path >= FIRST_PATH;
    s->live++;
}

static void steps_finish(steps_trace *s, const char *word)
{
    steps_future *f = steps_find(s, s->step.id);
    bool popped = s->next.depth < s->step.depth && s->step.path >= FIRST_PATH;
    if (f == NULL && !s->whole && popped) {
        f = steps_meet(s);
        f->state = CHROPROF_RUNNING;
        steps_name(s, f, s->step.path);
    }
    if (f != NULL) {
        steps_end_future(s, f, word);
    } else {
        s->live -= !s->whole || s->forgot;
    }
}

/* A frame of this id is gone. */
static void steps_rest(steps_trace *s, uint64_t id)
{
    steps_future *f = steps_find(s, id);
    if (f == NULL || f->state != CHROPROF_RUNNING) {
        return;
    }
    for (uint32_t k = 1; k <= s->depth; k++) {
        if (s->frames[k].id == id) {
            return;
        }
    }
    steps_become(s, f, f->remembered ? CHROPROF_READY : CHROPROF_PAUSED);
    f->remembered = false;
}

static void steps_run(steps_trace *s)
{
    steps_future *f = steps_meet(s);
    steps_name(s, f, s->next.path >= FIRST_PATH ? s->next.path : (uint32_t)UNTRACKED_PATH);
    if (f->arrow) {     /* from the slice that created it to the slice in which it first runs */
        steps_named(s, "s", 1, f->created_ns, "created");
        steps_track(s, f);
        steps_named(s, "f", 1, s->step.at_ns, "created");
        steps_put(s, ",\"cat\":\"future\",\"id\":\"0x%" PRIx64 "\",\"bp\":\"e\"}", f->number);
    }
    f->arrow = false;
    steps_become(s, f, CHROPROF_RUNNING);
}

static void steps_ready(steps_trace *s)
{
    steps_future *f = steps_find(s, s->step.id);
    if (f == NULL && s->whole && !s->forgot) {
        return;
    }
    f = steps_meet(s);
    if (f->state == CHROPROF_RUNNING) {
        f->remembered = true;
    } else {
        steps_become(s, f, CHROPROF_READY);
    }
}

/* What the event says of its future, before the stack changes. */
static void steps_told(steps_trace *s)
{
    static const char words[][12] = { "completed", "failed", "cancelled" };
    const chroprof_step *step = &s->step;
    if (step->id == 0) {
        return;
    }
    if (step->state == CHROPROF_PENDING) {
        steps_create(s);
    } else if (step->state == CHROPROF_READY) {
        steps_ready(s);
    } else if (step->state >= CHROPROF_COMPLETED && step->state <= CHROPROF_CANCELLED) {
        steps_finish(s, words[step->state - CHROPROF_COMPLETED]);
    }
}

/* >>steps loop: its track */

static void steps_task(steps_trace *s, const char *phase, uint32_t path, bool leaf)
{
    bool nested = path == LOOP_PATH && !leaf;
    if (path == NO_PATH) {
        return;
    }
    steps_event(s, phase, 1, s->step.at_ns,
                nested ? json_word("(nested loop)") : steps_word(s, path));
    if (*phase == 'B') {
        steps_put(s, ",\"path\":%" PRIu32, path);
    }
    steps_put(s, "}");
}

/* Idle, uninstrumented or untracked time above the frames. */
static void steps_leaf(steps_trace *s, uint32_t leaf)
{
    if (leaf != s->leaf) {
        steps_task(s, "E", s->leaf, true);
        steps_task(s, "B", leaf, true);
        s->leaf = leaf;
    }
}

static uint32_t drawn_depth(uint32_t depth)
{
    return depth < DEEPEST_DRAWN ? depth : (uint32_t)DEEPEST_DRAWN;
}

static void steps_pop(steps_trace *s, uint32_t depth)
{
    if (depth < s->depth) {
        steps_leaf(s, NO_PATH);
    }
    while (s->depth > depth) {
        const steps_frame *frame = &s->frames[s->depth--];
        steps_task(s, "E", frame->path, false);
        steps_rest(s, frame->id);
    }
}

static void steps_push(steps_trace *s, uint64_t id, uint32_t path)
{
    steps_frame *frame = &s->frames[++s->depth];
    steps_leaf(s, NO_PATH);
    frame->id = id;
    frame->path = path;
    steps_task(s, "B", path, false);
}

/* Does another frame take the place of the one at the new depth? Where frames are hidden, which is
 * untracked time before and after, none does. */
static bool steps_replaces(const steps_trace *s)
{
    const chroprof_step *step = &s->step, *next = &s->next;
    uint32_t depth = drawn_depth(next->depth);
    if (next->depth > step->depth || depth == 0 || depth > s->depth ||
        (s->leaf == UNTRACKED_PATH && next->path == UNTRACKED_PATH)) {
        return false;
    }
    return step->state == CHROPROF_NEXT || (step->state == CHROPROF_SWITCH && step->id != 0) ||
           (step->state == CHROPROF_RUNNING && s->frames[depth].id == step->id);
}

/* The stack becomes what it is in the interval after the event. */
static void steps_stack(steps_trace *s)
{
    const chroprof_step *step = &s->step, *next = &s->next;
    uint32_t depth = drawn_depth(next->depth);
    bool runs = step->state == CHROPROF_RUNNING || step->state == CHROPROF_SWITCH;
    steps_pop(s, steps_replaces(s) ? depth - 1 : depth);
    while (s->depth < depth) {
        bool top = s->depth + 1 == depth && next->path != IDLE_PATH;
        steps_push(s, top && runs ? step->id : 0, top ? next->path : NO_PATH);
    }
    if (next->path >= FIRST_PATH && depth > 0 && s->frames[depth].path != next->path) {
        uint64_t id = s->frames[depth].id;
        steps_pop(s, depth - 1);
        steps_push(s, id, next->path);
    }
    if (next->path >= FIRST_PATH || (next->at_ns == step->at_ns && next->path != s->leaf) ||
        (depth > 0 && next->path == UNTRACKED_PATH && s->frames[depth].path == next->path)) {
        steps_leaf(s, NO_PATH);
    } else {
        steps_leaf(s, next->path);
    }
}

/* >>steps run */

/* One event: what it says, and what runs until the next. */
static void steps_step(steps_trace *s)
{
    const chroprof_step *step = &s->step;
    steps_told(s);
    steps_stack(s);
    if (step->id != 0 && step->state == CHROPROF_PAUSED) {
        steps_rest(s, step->id);            /* that of a hidden frame */
    } else if (step->id != 0 &&
               (step->state == CHROPROF_RUNNING || step->state == CHROPROF_SWITCH)) {
        steps_run(s);
    }
    steps_counter(s, "live futures", s->live, &s->live_told);
    steps_counter(s, "ready futures", s->ready, &s->ready_told);
}

/* The path of the frame that lies at this depth where the ring begins: that of the first step that
 * has it on top. */
static uint32_t steps_below(const timeline *ring, uint32_t depth)
{
    for (size_t i = 0; i < ring->count; i++) {
        const chroprof_step *step = &ring->steps[i];
        if (step->depth <= depth) {
            return step->depth == depth && step->path != IDLE_PATH ? step->path : NO_PATH;
        }
    }
    return NO_PATH;
}

/* From the first event, and the stack that it meets; or, if the ring has all events of the profile,
 * from its beginning on. */
static void steps_go(steps_trace *s)
{
    const timeline *ring = s->ring;
    bool all = ring->count == ring->events;
    s->leaf = NO_PATH;
    s->live_told = s->ready_told = UINT64_MAX;
    s->processes = 1;
    s->whole = ring->first == 0;
    s->step = ring->steps[0];
    s->t->begin = s->step.at_ns = all ? 0 : s->step.at_ns;
    for (uint32_t d = 1; d <= drawn_depth(ring->steps[0].depth); d++) {
        steps_push(s, 0, steps_below(ring, d));
    }
    if (all) {
        memset(&s->step, 0, sizeof s->step);
        s->step.state = CHROPROF_TICK;
    }
    for (size_t i = all ? 0 : 1; i <= ring->count; i++) {
        s->number = i > 0 ? ring->first + i : 0;
        s->next = ring->steps[i];
        if (s->next.at_ns < s->step.at_ns) {    /* damaged */
            s->next.at_ns = s->step.at_ns;
        }
        steps_step(s);
        s->step = s->next;
    }
}

/* Those that live and have not run get their names; then all tracks end. */
static void steps_close(steps_trace *s)
{
    for (size_t i = 0; i < s->ring->future_count; i++) {
        const timeline_future *row = &s->ring->futures[i];
        steps_future *f = steps_find(s, row->id);
        if (f != NULL && row->path >= FIRST_PATH) {     /* else killed while it was created */
            steps_name(s, f, row->path);
        }
    }
    for (uint32_t k = 0; k < FUTURE_SETS * FUTURE_WAYS; k++) {
        steps_future *f = &s->futures[k / FUTURE_WAYS][k % FUTURE_WAYS];
        if (f->id != 0) {
            steps_end_future(s, f, NULL);
        }
    }
    steps_pop(s, 0);
    steps_leaf(s, NO_PATH);
}

/* The counters where the ring begins: those of now, less what the ring adds to them. */
static void steps_count(steps_trace *s)
{
    trace *t = s->t;
    const timeline *ring = s->ring;
    s->counts = true;
    steps_go(s);
    uint64_t live = ring->live - s->live, ready = ring->ready - s->ready;
    memset(s, 0, sizeof *s);
    s->t = t;
    s->ring = ring;
    s->live = live >> 63 ? 0 : live;
    s->ready = ready >> 63 ? 0 : ready;
}

/* The samples of a block are marks, because its code has no names. */
bool trace_steps(const profile_text *p, const timeline *ring, FILE *out)
{
    trace t;
    steps_trace *s = (steps_trace *)calloc(1, sizeof *s);
    json_text name = json_inside(p->name);
    bool block = p->view != NULL, ok;
    if (s == NULL) {
        tool_message("%s: not enough memory for its trace", p->source);
        return false;
    }
    memset(&t, 0, sizeof t);
    trace_open(&t, p, out);
    t.ring = true;
    s->t = &t;
    s->ring = ring;
    steps_count(s);
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    steps_process(s, 1, name.length > 0 ? name : json_word("loop"), 0);
    steps_go(s);
    steps_close(s);
    free(s);
    ok = trace_stalls(&t) && (block ? trace_sample_marks(&t) : trace_samples(&t));
    (void)fputs("\n],\"stackFrames\":{\"0\":{\"name\":\"(no stack)\"}", out);
    ok = ok && (!block || trace_stack_frames(&t));
    (void)fputs("}}\n", out);
    return ok;
}
