/* steps.c - see steps.h */

#include "steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Paths from here on are tasks. */
#define FIRST_PATH 3u

/* >>taking */

static bool steps_add(steps *s, const chroprof_step *step)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity == 0 ? 65536 : 2 * s->capacity;
        step_row *rows = (step_row *)realloc(s->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            return false;
        }
        s->rows = rows;
        s->capacity = capacity;
    }
    memset(&s->rows[s->count], 0, sizeof *s->rows);
    s->rows[s->count].step = *step;
    s->count++;
    return true;
}

/* Is it of one moment between two events? */
static bool is_exact(const chroprof_totals *t)
{
    return t->skew_events == 0 && t->doubt_events == 0;
}

/* A read tells no time beyond the sum of its figures, each of which lacks a part of a ns, so the last
 * steps may be that early. */
static void steps_note_sure(steps *s, uint64_t elapsed_ns)
{
    s->sure = s->count;
    while (s->sure > 0 && s->rows[s->sure - 1].step.at_ns >= elapsed_ns) {
        s->sure--;
    }
}

bool steps_begin(steps *s, const chroprof *view, uint64_t at_ns)
{
    chroprof_step step;
    chroprof_totals t;
    chroprof_read_totals(view, &t);
    while (chroprof_next_step(view, &s->cursor, &step)) {
        if (!steps_add(s, &step)) {
            return false;
        }
        s->begin_ns = step.at_ns;
    }
    s->begin_ns = s->now_ns = is_exact(&t) ? at_ns : s->begin_ns;
    s->from = s->count;
    steps_note_sure(s, t.elapsed_ns);
    s->events = t.events;
    s->skew = t.skew_events;
    s->ns = t.provisional ? t.elapsed_ns : 0;
    s->ticks = t.elapsed_ticks;
    return true;
}

/* Once the program's clock is calibrated, which is soon after it began, its times have another
 * scale. */
static void steps_rescale(steps *s, const chroprof_totals *t)
{
    if (s->ns > 0 && !t->provisional && t->elapsed_ticks > 0) {
        double scale = (double)t->elapsed_ns / (double)t->elapsed_ticks * (double)s->ticks /
                       (double)s->ns;
        s->begin_ns = (uint64_t)((double)s->begin_ns * scale);
        for (size_t i = 0; i < s->count; i++) {
            s->rows[i].step.at_ns = (uint64_t)((double)s->rows[i].step.at_ns * scale);
        }
    }
    s->ns = t->provisional ? t->elapsed_ns : 0;
    s->ticks = t->elapsed_ticks;
}

/* The next read tells their times. */
static void steps_sharpen(steps *s, const chroprof *view)
{
    uint64_t cursor = s->cursor - (s->count - s->sure);
    chroprof_step step;
    while (cursor < s->cursor && chroprof_next_step(view, &cursor, &step) && cursor <= s->cursor) {
        s->rows[s->count - (s->cursor - cursor) - 1].step.at_ns = step.at_ns;
    }
}

/* What is on top after the last step. */
static uint32_t top_path(const chroprof *view)
{
    chroprof_frame frame;
    return chroprof_frames(view, &frame, 1) > 0 && !frame.barrier ? frame.path : 0;
}

/* What was overwritten unread came before what is read. The time of an event under way, and what it
 * puts on top, are not known yet. */
bool steps_take(steps *s, const chroprof *view, bool ended, size_t *count)
{
    chroprof_step step;
    chroprof_totals t;
    size_t first = s->count;
    uint64_t events;
    chroprof_read_totals(view, &t);
    events = t.events - s->events;
    steps_rescale(s, &t);
    steps_sharpen(s, view);
    while (chroprof_next_step(view, &s->cursor, &step)) {
        if (!steps_add(s, &step)) {
            return false;
        }
    }
    s->on_top = top_path(view);
    if (t.doubt_events > 0 && !ended && s->count > first) {
        s->count--;
        s->cursor--;
        s->on_top = s->rows[s->count].step.path;
        events -= events > 0;
    }
    steps_note_sure(s, t.elapsed_ns);
    *count = s->count - first;
    s->missed = *count > 0 ? 0 : events;
    s->on_top = s->missed > 0 ? 0 : s->on_top;
    if (*count > 0) {
        s->rows[first].lost = events > *count ? events - *count : 0;
        s->lost += s->rows[first].lost;
        s->events += events;
    }
    s->now_ns = is_exact(&t) || s->count == 0 ? t.elapsed_ns : s->rows[s->count - 1].step.at_ns;
    return true;
}

void steps_end(steps *s)
{
    s->to = s->count;
    s->end_ns = s->now_ns;
    s->lost_last = s->missed;
    s->lost += s->missed;
}

void steps_free(steps *s)
{
    free(s->rows);
    free(s->lives);
    memset(s, 0, sizeof *s);
}

/* >>resolving: a step tells the path that was on top before it, so the next one tells what it put
 * there. Of a future that is its path at its first run; one that never ran and still lives is in
 * the table of futures. */

static bool puts_on_top(chroprof_state state)
{
    return state == CHROPROF_RUNNING || state == CHROPROF_SWITCH || state == CHROPROF_ENTER ||
           state == CHROPROF_NEXT;
}

static bool finishes(chroprof_state state)
{
    return state == CHROPROF_COMPLETED || state == CHROPROF_FAILED || state == CHROPROF_CANCELLED;
}

/* One that is told of: by a row, or by the table of futures as it was right before a row. */
typedef struct by_id {
    uint64_t id;
    uint64_t place;            /* 2 x the row + 2, 1 less if it stands in a table */
    uint64_t since_ns;         /* in a table */
    chroprof_state state;
    uint32_t path;
} by_id;

typedef struct by_ids {
    by_id *rows;
    size_t count, room;
} by_ids;

/* Of one id the later ones first. */
static int compare_ids(const void *a, const void *b)
{
    const by_id *x = (const by_id *)a;
    const by_id *y = (const by_id *)b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->place > y->place ? -1 : x->place < y->place;
}

/* It begins no earlier than what was before it, and ends no earlier than its last event. */
static void resolve_ends(steps *s)
{
    uint64_t before = s->from > 0 ? s->rows[s->from - 1].step.at_ns : 0;
    uint64_t last = s->to > s->from ? s->rows[s->to - 1].step.at_ns : s->begin_ns;
    s->begin_ns = s->begin_ns > before ? s->begin_ns : before;
    s->end_ns = s->end_ns > last ? s->end_ns : last;
}

static void resolve_tops(steps *s)
{
    uint32_t after = s->on_top;
    for (size_t i = s->count; i-- > 0;) {
        step_row *row = &s->rows[i];
        if (puts_on_top(row->step.state) && after >= FIRST_PATH) {
            row->made = after;
        }
        after = row->lost > 0 ? 0 : row->step.path;
    }
}

/* How late a ready was told stands in the row before it. */
static void resolve_late(steps *s)
{
    for (size_t i = 1; i < s->count; i++) {
        const chroprof_step *before = &s->rows[i - 1].step, *step = &s->rows[i].step;
        if (before->state == CHROPROF_SINCE && step->state == CHROPROF_READY &&
            s->rows[i].lost == 0 && before->id <= step->at_ns) {
            s->rows[i].late_ns = s->rows[i - 1].late_ns = before->id;
        }
    }
}

static void ids_of_rows(by_ids *ids, const steps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const step_row *row = &s->rows[i];
        if (row->step.id != 0 && row->step.state != CHROPROF_SINCE) {
            by_id one = { row->step.id, 2 * (uint64_t)i + 2, 0, row->step.state, row->made };
            ids->rows[ids->count++] = one;
        }
    }
}

static void ids_of_table(by_ids *ids, const chroprof *view, size_t before_row)
{
    chroprof_future f;
    uint64_t cursor = 0;
    while (ids->count < ids->room && chroprof_next_future(view, &cursor, &f)) {
        if (f.id != 0) {
            by_id one = { f.id, 2 * (uint64_t)before_row + 1, f.since_ns, f.state, f.path };
            ids->rows[ids->count++] = one;
        }
    }
}

/* NULL: it stands in a table. */
static step_row *row_of(const steps *s, const by_id *one)
{
    return one->place % 2 == 0 ? &s->rows[one->place / 2 - 1] : NULL;
}

/* Each row of one id gets the path of its life, from the end to the beginning. */
static void resolve_paths(steps *s, const by_id *ids, size_t count)
{
    uint32_t path = 0;
    for (size_t i = 0; i < count; i++) {
        step_row *row = row_of(s, &ids[i]);
        if (row != NULL && finishes(row->step.state)) {
            path = 0;                       /* another life */
        }
        path = ids[i].path != 0 ? ids[i].path : path;
        if (row != NULL && row->made == 0) {
            row->made = path;
        }
        if (row != NULL && row->step.state == CHROPROF_PENDING) {
            path = 0;                       /* what came before it was another life */
        }
    }
}

/* The table of the first look may be some events late: one that is in it may have been created
 * since then, one that is not may have finished. What the steps tell goes before what it says. */
static bool resolve_life(const steps *s, const by_id *ids, size_t count, step_life *life)
{
    const by_id *first = NULL, *before = NULL, *table = NULL;
    uint64_t begin = 2 * (uint64_t)s->from + 1;
    bool ended = false, touched;
    for (size_t i = 0; i < count && before == NULL; i++) {
        bool row = row_of(s, &ids[i]) != NULL;
        if (row && ids[i].place > begin) {
            first = &ids[i];
            ended = finishes(first->state) || (ended && first->state != CHROPROF_PENDING);
        }
        before = row && ids[i].place < begin ? &ids[i] : NULL;
        table = ids[i].place == begin ? &ids[i] : table;
    }
    touched = first != NULL && s->skew > 0 && first->place < begin + 2 * s->skew + 2;
    life->id = ids[0].id;
    life->path = table != NULL ? table->path : touched ? row_of(s, first)->made : 0;
    life->state = table != NULL ? table->state : CHROPROF_PAUSED;
    if (touched && before != NULL) {
        life->state = before->state <= CHROPROF_READY ? before->state : CHROPROF_PAUSED;
    }
    if (touched && first->state == CHROPROF_PENDING) {
        return table != NULL && table->since_ns <= s->begin_ns;
    }
    return life->path >= FIRST_PATH && (table != NULL || (touched && ended));
}

bool steps_resolve(steps *s, const chroprof *first, const chroprof *last, const chroprof *after)
{
    by_ids ids = { NULL, 0, 0 };
    ids.room = chroprof_futures(first, NULL, 0) + chroprof_futures(last, NULL, 0) +
               chroprof_futures(after, NULL, 0) + s->count;
    ids.rows = (by_id *)calloc(ids.room + 1, sizeof *ids.rows);
    s->lives = (step_life *)calloc(ids.room + 1, sizeof *s->lives);
    if (ids.rows == NULL || s->lives == NULL) {
        free(ids.rows);
        return false;
    }
    resolve_ends(s);
    resolve_tops(s);
    resolve_late(s);
    ids_of_rows(&ids, s);
    ids_of_table(&ids, first, s->from);
    ids_of_table(&ids, last, s->to);
    ids_of_table(&ids, after, s->count + 1);
    qsort(ids.rows, ids.count, sizeof *ids.rows, compare_ids);
    for (size_t i = 0, next; i < ids.count; i = next) {
        for (next = i + 1; next < ids.count && ids.rows[next].id == ids.rows[i].id;) {
            next++;
        }
        resolve_paths(s, ids.rows + i, next - i);
        s->life_count += resolve_life(s, ids.rows + i, next - i, &s->lives[s->life_count]);
    }
    free(ids.rows);
    return true;
}

/* >>writing */

static const char *state_name(chroprof_state state)
{
    static const char *const names[] = { "pending", "ready", "running", "paused", "completed",
                                         "failed", "cancelled", "idle_enter", "idle_leave",
                                         "loop_enter", "loop_leave", "enter", "leave", "tick",
                                         "switch", "next" };
    return (size_t)state < sizeof names / sizeof names[0] ? names[state] : "tick";
}

static void write_text(const char *text, FILE *out)
{
    static const char *const escapes[] = { " \\s", "\t\\t", "\n\\n", "\\\\\\" };
    if (text[0] == '\0') {
        (void)fputs("\\e", out);
    }
    for (; text[0] != '\0'; text++) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
            escape = escapes[i][0] == text[0] ? escapes[i] + 1 : escape;
        }
        if (escape != NULL) {
            (void)fputs(escape, out);
        } else {
            (void)fputc(text[0], out);
        }
    }
}

static void write_line(uint64_t at_ns, const char *kind, uint64_t id, const chroprof *view,
                       uint32_t path, FILE *out)
{
    chroprof_path row;
    (void)fprintf(out, "%" PRIu64 " %s %" PRIu64, at_ns, kind, id);
    if (path >= FIRST_PATH && chroprof_read_path_alone(view, path, &row)) {
        (void)fputc(' ', out);
        write_text(row.name, out);
        (void)fputc(' ', out);
        write_text(row.file, out);
        (void)fprintf(out, " %" PRIu32, row.line);
    }
    (void)fputc('\n', out);
}

static bool needs_site(chroprof_state state)
{
    return state == CHROPROF_PENDING || state == CHROPROF_ENTER || state == CHROPROF_NEXT;
}

void steps_write_lost(uint64_t lost, FILE *out)
{
    if (lost > 0) {
        (void)fprintf(out, "# %" PRIu64 " events were lost here\n", lost);
    }
}

void steps_write(const step_row *row, const chroprof *view, FILE *out)
{
    const chroprof_step *step = &row->step;
    uint32_t path = needs_site(step->state) || step->state == CHROPROF_RUNNING ? row->made : 0;
    steps_write_lost(row->lost, out);
    if (step->state == CHROPROF_SINCE) {    /* of a ready that was lost: time passed */
        if (row->late_ns == 0) {
            write_line(step->at_ns, "tick", 0, view, 0, out);
        }
        return;
    }
    if (row->late_ns > 0) {
        (void)fprintf(out, "%" PRIu64 " ready_since %" PRIu64 " %" PRIu64 "\n", step->at_ns, step->id,
                      step->at_ns - row->late_ns);
        return;
    }
    /* a finish of one that is not known: it was created with it */
    if ((needs_site(step->state) || finishes(step->state)) && row->made < FIRST_PATH) {
        (void)fprintf(out, "%" PRIu64 " %s %" PRIu64 " (unknown) \\e 0\n", step->at_ns,
                      state_name(step->state), step->id);
    } else {
        write_line(step->at_ns, state_name(step->state), step->id, view, path, out);
    }
}

/* Those that created a path call it again, so that it lies where it did. Returns how many. */
static size_t enter_parents(const chroprof *view, uint64_t at_ns, uint32_t path, FILE *out)
{
    uint32_t parent;
    size_t depth = 0;
    (void)chroprof_path_name(view, path, &parent, NULL);
    if (parent >= FIRST_PATH) {
        depth = 1 + enter_parents(view, at_ns, parent, out);
        write_line(at_ns, "enter", 0, view, parent, out);
    }
    return depth;
}

static void write_life(const chroprof *view, uint64_t at_ns, const step_life *f, FILE *out)
{
    size_t depth = enter_parents(view, at_ns, f->path, out);
    write_line(at_ns, "pending", f->id, view, f->path, out);
    while (depth-- > 0) {
        write_line(at_ns, "leave", 0, view, 0, out);
    }
    if (f->state == CHROPROF_PAUSED) {
        write_line(at_ns, "running", f->id, view, 0, out);
        write_line(at_ns, "paused", f->id, view, 0, out);
    } else if (f->state == CHROPROF_READY) {
        write_line(at_ns, "ready", f->id, view, 0, out);
    }
}

static void write_frame(const chroprof *view, uint64_t at_ns, const chroprof_frame *f, FILE *out)
{
    if (f->barrier) {
        write_line(at_ns, "loop_enter", 0, view, 0, out);
    } else if (f->id != 0) {
        write_line(at_ns, "running", f->id, view, f->path, out);
    } else if (f->path >= FIRST_PATH) {
        write_line(at_ns, "enter", 0, view, f->path, out);
    }
}

void steps_write_state(const steps *s, const chroprof *first, const chroprof *view, FILE *out)
{
    size_t count = chroprof_frames(first, NULL, 0);
    chroprof_frame *frames = (chroprof_frame *)calloc(count + 1, sizeof *frames);
    chroprof_totals totals;
    chroprof_read_totals(first, &totals);
    for (size_t i = 0; i < s->life_count; i++) {
        write_life(view, s->begin_ns, &s->lives[i], out);
    }
    count = frames != NULL ? chroprof_frames(first, frames, count) : 0;
    while (count-- > 0) {                   /* the innermost stands first */
        write_frame(view, s->begin_ns, &frames[count], out);
    }
    if (totals.idle) {
        write_line(s->begin_ns, "idle_enter", 0, view, 0, out);
    }
    write_line(s->begin_ns, "reset", 0, view, 0, out);
    free(frames);
}
