/* top_rows.c - chroprof top: the rows of what is shown, and their order. */

#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const top_column top_columns[TOP_ORDERS] = {
    { "exec", 6, 0, 'e', "share of the loop" },
    { "cpu", 6, 3, 'u', "the part of it on the CPU, by samples; -: too few" },
    { "off cpu", 7, 8, 'o', "the rest: it blocked, was preempted or not sampled" },
    { "children", 8, 5, 'x', "exec, including all that it created" },
    { "slices/s", 8, 9, 's', "slices per second; a slice is one activation in running" },
    { "average", 7, 1, 'v', "average length of a slice" },
    { "p99", 7, 6, 'p', "99 of 100 slices were shorter" },
    { "max", 7, 7, 'm', "longest slice" },
    { "blame", 7, 2, 'b', "delay of all others while it ran" },
    { "delay", 7, 12, 'd', "time it was ready and had to wait" },
    { "lat p50", 7, 10, '5', "latency: half of the finished futures took less" },
    { "lat p99", 7, 4, '9', "latency: 99 of 100 of them took less" },
    { "lat max", 7, 11, '0', "latency: the longest of them" },
    { "calls/s", 7, 13, 'c', "futures created per second" },
    { "live", 6, 14, 'l', "live futures" },
    { "site", 0, 0, 'n', "name" }
};

/* >>top figures */

double top_seconds(const top *t)
{
    return t->totals.elapsed_ns > 0 ? (double)t->totals.elapsed_ns / 1e9 : 1;
}

double top_key(const top_row *r, int sort)
{
    switch (sort) {
    case TOP_CPU: return r->cpu_known ? (double)r->cpu_ns : 0;
    case TOP_OFF_CPU: return r->cpu_known ? (double)(r->exec_ns - r->cpu_ns) : 0;
    case TOP_CHILDREN: return (double)r->with_children_ns;
    case TOP_SLICES: return (double)r->slices;
    case TOP_MEAN: return (double)r->exec_ns / (double)(r->slices > 0 ? r->slices : 1);
    case TOP_P99: return (double)r->slice_p99_ns;
    case TOP_MAX: return (double)r->slice_max_ns;
    case TOP_BLAME: return (double)r->blame_ns;
    case TOP_DELAY: return (double)r->delay_ns;
    case TOP_LATENCY_P50: return (double)r->latency_p50_ns;
    case TOP_LATENCY_P99: return (double)r->latency_p99_ns;
    case TOP_LATENCY_MAX: return (double)r->latency_max_ns;
    case TOP_CALLS: return (double)r->calls;
    case TOP_LIVE: return (double)r->live;
    case TOP_NAME: return 1;               /* all alike: the name decides */
    default: return (double)r->exec_ns;
    }
}

static int by_place(const top_row *x, const top_row *y)
{
    int order = strcmp(x->name, y->name);
    order = order != 0 ? order : strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_key(const void *a, const void *b)
{
    const top_row *x = (const top_row *)a;
    const top_row *y = (const top_row *)b;
    if (x->key > y->key || x->key < y->key) {
        return x->key > y->key ? -1 : 1;
    }
    if (x->key > 0 || x->ever_ns == y->ever_ns) {
        return by_place(x, y);
    }
    return x->ever_ns > y->ever_ns ? -1 : 1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool text_holds(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && lower(text[i]) == lower(part[i])) {
            i++;
        }
        if (part[i] == '\0') {
            return true;
        }
    }
    return *part == '\0';
}

/* The stall that a finding tells of, in the whole profile: of an interval it knows only what came
 * after its begin. */
static bool whole_stall(const chroprof *view, const chroprof_finding *f, chroprof_stall *found)
{
    chroprof_stall stall;
    uint64_t cursor = 0;
    bool any = false;
    while (chroprof_next_stall(view, &cursor, &stall)) {
        if (stall.length_ns == f->value_ns && (!any || stall.start_ns > found->start_ns)) {
            *found = stall;
            any = true;
        }
    }
    return any;
}

/* When a stall began stands there by the calendar, as in the list of stalls. */
static void tell_real_time(top *t)
{
    chroprof_finding *f = &t->finding;
    const uint64_t begin = t->watch.now->totals.start_unix_ns;
    char *at = f->kind == CHROPROF_FINDING_STALL ? strstr(f->text, " at ") : NULL;
    chroprof_stall stall;
    char rest[sizeof f->text];
    size_t length;
    if (at == NULL || begin == 0 || !whole_stall(&t->watch.now->file.view, f, &stall)) {
        return;
    }
    at += strlen(" at ");
    length = strspn(at, "0123456789:.");
    length -= length > 0 && strchr(":.", at[length - 1]) != NULL;
    (void)snprintf(rest, sizeof rest, "%s", at + length);
    (void)snprintf(at, sizeof f->text - (size_t)(at - f->text), "%s%s",
                   top_clock(begin + stall.start_ns).text, rest);
    f->at_ns = stall.start_ns;
}

/* What stands out in what is shown; a hang began before it, so the whole run tells of that. */
static void top_find(top *t)
{
    const top_sample *of = t->since_start ? NULL : t->watch.between;
    t->finding.text[0] = '\0';
    if (t->watch.now != NULL) {
        (void)chroprof_findings(&t->watch.now->file.view, &t->finding, 1);
    }
    if (of != NULL && t->finding.kind != CHROPROF_FINDING_HANGS) {
        (void)chroprof_findings(&of->file.view, &t->finding, 1);
        tell_real_time(t);
    }
}

/* Makes the rows of what is to be shown. */
void top_refresh(top *t)
{
    const top_sample *from = t->all ? NULL : t->watch.base;
    const top_sample *to = t->all ? t->watch.now : t->watch.shown;
    free(t->rows);
    t->rows = NULL;
    t->row_count = t->site_count = 0;
    t->since_start = from == NULL;
    if (to == NULL || (t->rows = (top_row *)calloc(to->count + 1, sizeof *t->rows)) == NULL) {
        return;
    }
    top_find(t);
    interval_totals(from, to, t->watch.between, &t->totals);
    interval_rows(from, to, t->watch.between, t->rows);
    t->site_count = to->count;
    t->sampled = watch_sampled(to);
    t->latency = watch_latency(to);
    for (size_t i = 0; i < to->count; i++) {
        top_row *row = &t->rows[i];
        row->key = top_key(row, t->sort);
        if (text_holds(row->name, t->filter) || text_holds(row->file, t->filter)) {
            t->rows[t->row_count++] = *row;
        }
    }
    qsort(t->rows, t->row_count, sizeof *t->rows, by_key);
}
