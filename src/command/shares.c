/* shares.c - see shares.h */

#include "shares.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"

static int compare_shares(const void *a, const void *b)
{
    const share_row *x = (const share_row *)a;
    const share_row *y = (const share_row *)b;
    if (x->path != y->path) {
        return x->path < y->path ? -1 : 1;
    }
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static const char *const share_names[SHARE_OTHERS] = { "(uninstrumented)", "(untracked)" };

/* The path on top in a stack, or what is none. SIZE_MAX: it is in no row. */
static size_t share_path(const path_tree *paths, const stack_tree *s, size_t frame)
{
    for (; frame != SIZE_MAX; frame = s->frames[frame].parent) {
        const stack_frame *f = &s->frames[frame];
        if (f->task) {
            size_t path = path_index(paths, f->path);
            bool untracked = path == SIZE_MAX && json_is(f->name, share_names[SHARE_UNTRACKED]);
            return untracked ? paths->count + SHARE_UNTRACKED : path;
        }
        if (!f->native && json_is(f->name, "(idle)")) {
            return SIZE_MAX;
        }
    }
    return paths->count + SHARE_LOOP;
}

/* A file may claim any weights. */
static uint64_t share_sum(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

/* value x part / whole, part <= whole. */
static uint64_t share_part(uint64_t value, uint64_t part, uint64_t whole)
{
    for (; whole >> 31 != 0; whole >>= 1) {
        part >>= 1;
    }
    return whole > 0 ? value / whole * part + value % whole * part / whole : 0;
}

/* What samples by CPU time leave of the exec time of a path. Chance makes the samples of a path that
 * only computes too few as well: by the square root of those expected, and twice as much is rare. So
 * what is less than that, or than a tenth, is not told from CPU time. */
static uint64_t share_off_cpu(const stack_tree *s, const share_row *rows, size_t count,
                              uint64_t exec, uint64_t unit_ns)
{
    uint64_t cpu = 0;
    double off, chance;
    for (size_t i = 0; i < count; i++) {
        cpu = share_sum(cpu, rows[i].weight > 0 ? s->frames[rows[i].frame].cpu : 0);
    }
    cpu /= unit_ns;
    if (!s->cpu || cpu == 0 || cpu >= exec) {
        return 0;
    }
    off = (double)(exec - cpu);
    chance = 4 * (double)(s->period / unit_ns) * (double)exec;
    return off > (double)exec / 10 && off * off > chance ? exec - cpu : 0;
}

/* The rows of one path share its time; what they add up to is all of it. The last two are for what
 * it was off the CPU, and for itself. */
static void share_divide(share_row *rows, size_t count, uint64_t exec, uint64_t off)
{
    uint64_t all = 0, before = 0, given = 0;
    exec -= off;
    for (size_t i = 0; i < count; i++) {
        all = share_sum(all, rows[i].weight);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t until;
        before = share_sum(before, rows[i].weight);
        until = i + 1 == count ? exec : share_part(exec, before, all);
        rows[i].exec = until - given;
        given = until;
    }
    rows[count - 2].exec = off;
}

bool shares_read(share_list *l, const path_tree *paths, const stack_tree *s, uint64_t unit_ns)
{
    size_t count = paths->count + SHARE_OTHERS;
    memset(l, 0, sizeof *l);
    l->rows = (share_row *)calloc(s->count + 2 * count, sizeof *l->rows);
    if (l->rows == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)s->count);
        return false;
    }
    for (size_t i = 0; i < 2 * count; i++) {
        share_row row = { i / 2, i % 2 == 0 ? SHARE_OFF_CPU : SIZE_MAX, 0, 0 };
        l->rows[l->count++] = row;
    }
    for (size_t i = 0; i < s->count; i++) {
        size_t path = s->frames[i].idle ? SIZE_MAX : share_path(paths, s, i);
        if (s->frames[i].weight > 0 && path != SIZE_MAX) {
            share_row row = { path, i, s->frames[i].weight, 0 };
            l->rows[l->count++] = row;
        }
    }
    qsort(l->rows, l->count, sizeof *l->rows, compare_shares);
    for (size_t i = 0, k; i < l->count; i = k) {
        size_t path = l->rows[i].path;
        uint64_t exec = path < paths->count ? paths->rows[path].exec
                        : path == paths->count + SHARE_LOOP ? paths->loop : paths->untracked;
        for (k = i + 1; k < l->count && l->rows[k].path == path; k++) {}
        share_divide(l->rows + i, k - i, exec,
                     share_off_cpu(s, l->rows + i, k - i, exec, unit_ns));
    }
    return true;
}

json_text share_other(const path_tree *paths, size_t path, uint64_t *blame)
{
    size_t other = path - paths->count;
    *blame = other == SHARE_LOOP ? paths->loop_blame : paths->untracked_blame;
    return json_word(share_names[other]);
}

void shares_free(share_list *l)
{
    free(l->rows);
    l->rows = NULL;
}
