/* whatif_capacity.c - at which load the loop is full, from how busy it was when more or less came. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "windows.h"

#define SLOTS 40u
#define FEWEST_A_SLOT 20u
#define FEWEST_WINDOWS 20u
#define ERROR_MOST 0.15        /* of the load at which it is full */

typedef struct slot {
    double came, work_ns;
} slot;

static slot *slot_at(slot *slots, const whatif_loop *l, uint64_t ns)
{
    uint64_t width = (l->end_ns - l->begin_ns) / SLOTS + 1;
    uint64_t at = ns > l->begin_ns ? (ns - l->begin_ns) / width : 0;
    return &slots[at < SLOTS ? at : SLOTS - 1];
}

/* Work counts where its job began; a slot is long beside an iteration. */
static void fill_slots(slot *slots, const whatif_loop *l)
{
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_job *job = &l->jobs[i];
        slot *s = slot_at(slots, l, job->begin_ns);
        s->work_ns += (double)(job->gap_ns + job->tail_ns);
        for (uint32_t k = 0; k < job->pieces; k++) {
            s->work_ns += (double)l->pieces[job->first_piece + k].ns;
        }
        if (job->comes == JOB_OUTSIDE) {
            slot_at(slots, l, l->iterations[job->found].leave_ns)->came += 1;
        }
    }
}

typedef struct line {
    double slope, base, mean, spread, error;       /* error: of a value, squared */
} line;

/* Least squares. false: what comes is the same in all slots. */
static bool fit_line(const slot *slots, double width, line *f)
{
    double x = 0, y = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        x += slots[i].came / SLOTS;
        y += slots[i].work_ns / width / SLOTS;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        xx += (slots[i].came - x) * (slots[i].came - x);
        xy += (slots[i].came - x) * (slots[i].work_ns / width - y);
    }
    if (xx <= 0 || xy <= 0) {
        return false;
    }
    f->slope = xy / xx;
    f->base = y - f->slope * x;
    f->mean = x;
    f->spread = xx;
    for (size_t i = 0; i < SLOTS; i++) {
        double off = slots[i].work_ns / width - f->base - f->slope * slots[i].came;
        rest += off * off;
    }
    f->error = rest / (SLOTS - 2);
    return true;
}

void whatif_capacity(const whatif_loop *l, capacity_figures *out)
{
    slot slots[SLOTS];
    line f;
    double width = (double)(l->end_ns - l->begin_ns) / SLOTS, full;
    memset(slots, 0, sizeof slots);
    memset(out, 0, sizeof *out);
    out->slot_ns = width;
    if (l->closed || width <= 0) {
        return;
    }
    fill_slots(slots, l);
    if (!fit_line(slots, width, &f) || f.mean < FEWEST_A_SLOT) {
        return;
    }
    full = (1 - f.base) / f.slope;
    out->full_at = full / f.mean;
    out->error = 2 * root(f.error * (1.0 / SLOTS + (full - f.mean) * (full - f.mean) / f.spread)) /
                 f.slope / f.mean;
    out->known = out->full_at > 0 && out->error < ERROR_MOST * out->full_at;
}

/* >>windows */

typedef struct window_works {
    double *rows;
    size_t count, room;
    double width_ns;
    bool failed;
} window_works;

static void take_window(void *user, const window_row *row)
{
    window_works *w = (window_works *)user;
    uint64_t width = row->end > row->start ? row->end - row->start : 0;
    if (w->failed || width == 0) {
        return;
    }
    w->failed = !whatif_room((void **)&w->rows, &w->room, w->count, sizeof *w->rows);
    if (!w->failed) {
        w->width_ns = (double)(w->count == 0 ? width : (uint64_t)greater(w->width_ns, (double)width));
        w->rows[w->count++] = (double)(width > row->idle ? width - row->idle : 0) / (double)width;
    }
}

static int compare_works(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The last window is not whole. */
static void figure_windows(window_works *w, window_capacity *out)
{
    size_t count = w->count > 0 ? w->count - 1 : 0, tenth = (count + 9) / 10;
    double sum = 0, squares = 0, most = 0;
    if (count > 0) {                        /* without rows there is no memory of them */
        qsort(w->rows, count, sizeof *w->rows, compare_works);
    }
    for (size_t i = 0; i < count; i++) {
        sum += w->rows[i];
        squares += w->rows[i] * w->rows[i];
        most += i < tenth ? w->rows[i] : 0;
    }
    out->count = count;
    out->width_ns = w->width_ns;
    if (count >= FEWEST_WINDOWS && sum > 0) {
        double mean = sum / (double)count, spread = squares / (double)count - mean * mean;
        out->known = true;
        out->work = mean;
        out->tenth = most / (double)tenth;
        out->full_at = 1 / mean;
        out->error = 2 * root(greater(spread, 0) / (double)count) / (mean * mean);
    }
}

bool whatif_window_capacity(const profile_text *p, window_capacity *out)
{
    window_list list;
    window_works works = { NULL, 0, 0, 0, false };
    bool ok = windows_open(&list, p) && windows_each(&list, take_window, &works);
    memset(out, 0, sizeof *out);
    if (ok && !works.failed) {
        figure_windows(&works, out);
    }
    windows_free(&list);
    free(works.rows);
    return ok && !works.failed;
}
