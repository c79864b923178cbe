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

static uint64_t events_of(const chroprof *view)
{
    chroprof_totals totals;
    chroprof_read_totals(view, &totals);
    return totals.events;
}

void steps_begin(steps *s, const chroprof *view)
{
    chroprof_step step;
    while (chroprof_next_step(view, &s->cursor, &step)) {
    }
    s->events = events_of(view);
}

/* What was overwritten unread came before what is read. */
bool steps_take(steps *s, const chroprof *view, size_t *count)
{
    chroprof_step step;
    size_t first = s->count;
    uint64_t events = events_of(view) - s->events;
    while (chroprof_next_step(view, &s->cursor, &step)) {
        if (!steps_add(s, &step)) {
            return false;
        }
    }
    *count = s->count - first;
    if (*count > 0 && events > *count) {
        s->rows[first].lost = events - *count;
        s->lost += events - *count;
    }
    s->events += events;
    return true;
}

void steps_free(steps *s)
{
    free(s->rows);
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

typedef struct by_id {
    uint64_t id;
    size_t row;                /* SIZE_MAX: it stands in the table of futures */
    uint32_t path;
} by_id;

/* Of one id the later ones first. */
static int compare_ids(const void *a, const void *b)
{
    const by_id *x = (const by_id *)a;
    const by_id *y = (const by_id *)b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->row > y->row ? -1 : x->row < y->row;
}

/* What is on top after the last step. */
static uint32_t top_path(const chroprof *view)
{
    chroprof_frame frame;
    return chroprof_frames(view, &frame, 1) > 0 && !frame.barrier ? frame.path : 0;
}

static void resolve_tops(steps *s, const chroprof *view)
{
    uint32_t after = top_path(view);
    for (size_t i = s->count; i-- > 0;) {
        step_row *row = &s->rows[i];
        if (puts_on_top(row->step.state) && after >= FIRST_PATH) {
            row->made = after;
        }
        after = row->lost > 0 ? 0 : row->step.path;
    }
}

bool steps_resolve(steps *s, const chroprof *view)
{
    size_t room = chroprof_futures(view, NULL, 0) + s->count, count = 0;
    by_id *ids = (by_id *)calloc(room + 1, sizeof *ids);
    chroprof_future future;
    uint64_t cursor = 0;
    uint32_t path = 0;
    if (ids == NULL) {
        return false;
    }
    resolve_tops(s, view);
    for (size_t i = 0; i < s->count; i++) {
        if (s->rows[i].step.id != 0) {
            by_id one = { s->rows[i].step.id, i, s->rows[i].made };
            ids[count++] = one;
        }
    }
    while (count < room && chroprof_next_future(view, &cursor, &future)) {
        if (future.id != 0) {
            by_id one = { future.id, SIZE_MAX, future.path };
            ids[count++] = one;
        }
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++) {    /* from its end to its beginning */
        step_row *row = ids[i].row == SIZE_MAX ? NULL : &s->rows[ids[i].row];
        bool other = i == 0 || ids[i].id != ids[i - 1].id;
        if (other || (row != NULL && finishes(row->step.state))) {
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
    free(ids);
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

void steps_write(const step_row *row, const chroprof *view, FILE *out)
{
    const chroprof_step *step = &row->step;
    uint32_t path = needs_site(step->state) || step->state == CHROPROF_RUNNING ? row->made : 0;
    if (row->lost > 0) {
        (void)fprintf(out, "# %" PRIu64 " events were lost here\n", row->lost);
    }
    if (needs_site(step->state) && path < FIRST_PATH) {
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

static void write_future(const chroprof *view, uint64_t at_ns, const chroprof_future *f, FILE *out)
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

void steps_write_state(const chroprof *view, uint64_t at_ns, FILE *out)
{
    size_t count = chroprof_frames(view, NULL, 0);
    chroprof_frame *frames = (chroprof_frame *)calloc(count + 1, sizeof *frames);
    chroprof_future future;
    chroprof_totals totals;
    uint64_t cursor = 0;
    chroprof_read_totals(view, &totals);
    while (chroprof_next_future(view, &cursor, &future)) {
        if (future.id != 0 && future.path >= FIRST_PATH) {
            write_future(view, at_ns, &future, out);
        }
    }
    count = frames != NULL ? chroprof_frames(view, frames, count) : 0;
    while (count-- > 0) {                   /* the innermost stands first */
        write_frame(view, at_ns, &frames[count], out);
    }
    if (totals.idle) {
        write_line(at_ns, "idle_enter", 0, view, 0, out);
    }
    write_line(at_ns, "reset", 0, view, 0, out);
    free(frames);
}
