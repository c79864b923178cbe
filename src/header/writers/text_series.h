/* writers/text_series.h: load over time */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../writers/words.h"
#include "../writers/columns.h"
#include "../writers/text.h"

/* >>text time series */

enum { CHROPROF__SERIES_SITES = 5, CHROPROF__STRIP = 168, CHROPROF__WINDOWS_AT_ONCE = 64 };

/* A row of the strip: all busy, the sites with the most exec time, other sites, uninstrumented. */
typedef struct chroprof__series_row {
    const char *name;
    uint64_t ns, peak;                      /* peak: of a window, in thousandths, as full */
    uint64_t cells[CHROPROF__STRIP];        /* exec in a column: its parts of windows */
} chroprof__series_row;

typedef struct chroprof__series {
    uint32_t sites, width, label_room;
    uint64_t span_ns, window_ns, least_ns;  /* least_ns: of a window that may be a peak */
    uint64_t full;                          /* what a full block stands for */
    uint32_t ids[CHROPROF__SERIES_SITES];
    uint64_t spans[CHROPROF__STRIP];        /* the time of a column */
    chroprof__series_row rows[CHROPROF__SERIES_SITES + 3];
} chroprof__series;

/* A column takes its own part of a window, as if its time had been spread evenly. */
static void chroprof__series_part(chroprof__series *s, const uint64_t *values, uint64_t k,
                                  uint64_t part, uint64_t whole)
{
    for (uint32_t row = 0; row < s->sites + 3; row++)
        s->rows[row].cells[k] += chroprof__portion(values[row], part, whole);
}

/* Adds a window to the columns that touch it. Its own share is a peak, unless it is a short one, as
 * the last one of a run can be. Places are in columns, with 16 bits behind the point. */
static void chroprof__series_add(chroprof__series *s, const chroprof_window *w,
                                 const uint64_t *values)
{
    uint64_t at = chroprof__portion((uint64_t)s->width << 16, w->start_ns, s->span_ns);
    uint64_t end = chroprof__portion((uint64_t)s->width << 16, w->end_ns, s->span_ns);
    uint64_t begin = at, length = w->end_ns - w->start_ns;
    chroprof__raise(&s->window_ns, length);
    for (uint32_t row = 0; row < s->sites + 3 && length >= s->least_ns; row++)
        chroprof__raise(&s->rows[row].peak, chroprof__portion(1000, values[row], length));
    while (at < end) {
        uint64_t k = at >> 16, next = (k + 1) << 16, to = next < end ? next : end;
        s->spans[k] += chroprof__portion(length, to - at, end - begin);
        chroprof__series_part(s, values, k, to - at, end - begin);
        at = to;
    }
}

static void chroprof__series_windows(const chroprof *p, chroprof__series *s)
{
    chroprof_window w[CHROPROF__WINDOWS_AT_ONCE];
    uint64_t exec[CHROPROF__SERIES_SITES][CHROPROF__WINDOWS_AT_ONCE];
    uint64_t values[CHROPROF__SERIES_SITES + 3];
    chroprof_windows_cursor all, own[CHROPROF__SERIES_SITES];
    size_t count;
    memset(&all, 0, sizeof(all));
    memset(own, 0, sizeof(own));
    while ((count = chroprof_next_windows(p, &all, w, CHROPROF__WINDOWS_AT_ONCE)) > 0) {
        for (uint32_t i = 0; i < s->sites; i++)
            (void)chroprof_next_site_windows(p, s->ids[i], own + i, exec[i],
                                             CHROPROF__WINDOWS_AT_ONCE);
        for (size_t k = 0; k < count && k < CHROPROF__WINDOWS_AT_ONCE; k++) {
            values[0] = values[1 + s->sites] = w[k].busy_ns;
            values[2 + s->sites] = w[k].uninstrumented_ns;
            for (uint32_t i = 0; i < s->sites; i++) {
                values[1 + i] = exec[i][k];
                values[1 + s->sites] = chroprof__minus(values[1 + s->sites], exec[i][k]);
            }
            chroprof__series_add(s, &w[k], values);
        }
    }
}

static void chroprof__series_name(chroprof__series *s, uint32_t row, const char *name, uint64_t ns)
{
    s->rows[row].name = name;
    s->rows[row].ns = ns;
}

static uint64_t chroprof__series_height(const chroprof__series *s, uint32_t row, uint32_t column)
{
    return chroprof__portion(1000, s->rows[row].cells[column], s->spans[column]);
}

/* One scale for all rows, so that they compare: the next round share above the highest one. */
static void chroprof__series_scale(chroprof__series *s)
{
    static const uint16_t steps[] = { 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000 };
    const uint16_t *step = steps;
    for (uint32_t row = 0; row < s->sites + 3; row++) {
        uint64_t most = s->rows[row].peak;
        for (uint32_t k = 0; k < s->width; k++)
            chroprof__raise(&most, chroprof__series_height(s, row, k));
        while (*step < most && *step < 1000)
            step++;
    }
    s->full = *step;
}

static void chroprof__series_read(const chroprof__page *g, chroprof__series *s)
{
    chroprof_rank ranks[CHROPROF__SERIES_SITES];
    size_t all = chroprof_ranks(g->p, ranks, CHROPROF__SERIES_SITES, CHROPROF_BY_EXEC);
    uint64_t others = g->totals.busy_ns;
    memset(s, 0, sizeof *s);
    s->label_room = g->width < 80 ? 14 : g->width < 120 ? 18 : 26;
    s->width = g->width - s->label_room - 2 - 14;
    s->span_ns = g->totals.elapsed_ns;
    s->least_ns = g->options.window_ns / 2;
    for (; s->sites < all && s->sites < CHROPROF__SERIES_SITES && ranks[s->sites].exec_ns > 0;
         s->sites++) {
        const chroprof_rank *rank = &ranks[s->sites];
        s->ids[s->sites] = rank->id;
        chroprof__series_name(s, 1 + s->sites, rank->name, rank->exec_ns);
        others = chroprof__minus(others, rank->exec_ns);
    }
    chroprof__series_name(s, 0, "all busy", g->totals.busy_ns);
    chroprof__series_name(s, 1 + s->sites, "(others)", others);
    chroprof__series_name(s, 2 + s->sites, "(uninstrumented)", g->totals.uninstrumented_ns);
    chroprof__series_windows(g->p, s);
    chroprof__series_scale(s);
}

static void chroprof__series_show(chroprof__page *g, const chroprof__series *s, uint32_t row)
{
    const chroprof__series_row *r = &s->rows[row];
    const uint64_t figures[] = { r->ns, g->totals.elapsed_ns, r->peak, 1000 };
    chroprof__show_name(g, r->name, s->label_room);
    chroprof__blank_to(g, s->label_room + 2);
    for (uint32_t k = 0; k < s->width; k++) {
        uint64_t height = (chroprof__series_height(s, row, k) * 8 + s->full - 1) / s->full;
        chroprof__show_code(g, height == 0 ? ' ' : 0x2580 + (height < 8 ? (uint32_t)height : 8));
    }
    chroprof__blank_to(g, s->label_room + 2 + s->width);
    chroprof__print(g, "%7p%7p\n", figures);
}

/* 0, the middle and the end of the run, on one line. */
static void chroprof__series_axis(chroprof__page *g, const chroprof__series *s)
{
    const uint64_t half = s->span_ns / 2;
    uint32_t begin = s->label_room + 2, end = begin + s->width;
    chroprof__phrase middle, last;
    chroprof__say_only(&middle, "%t", &half);
    chroprof__say_only(&last, "%t", &s->span_ns);
    chroprof__blank_to(g, begin);
    chroprof__print(g, CHROPROF__DIM "0", NULL);
    while (g->column < begin + (s->width - chroprof__columns_of(middle.text)) / 2)
        chroprof__glyph(g, 0x2500);
    chroprof__show(g, middle.text);
    while (g->column < end - chroprof__columns_of(last.text))
        chroprof__glyph(g, 0x2500);
    chroprof__show(g, last.text);
    chroprof__newline(g);
}

/* Why there are no columns. */
static void chroprof__series_none(chroprof__page *g)
{
    chroprof_step oldest;
    uint64_t reach = 0;
    if (chroprof_timeline(g->p, 0, UINT64_MAX, &oldest, 1) > 0)
        reach = chroprof__minus(g->totals.elapsed_ns, oldest.at_ns);
    const uint64_t figures[] = { g->totals.elapsed_ns, g->options.max_events, reach };
    chroprof__print(g, reach > 0
                    ? CHROPROF__HEADING("TIME") "the windows of this run are too wide by now for a "
                      "part of %T, and its last %c events reach back only %T. Raise max_events.\n"
                    : CHROPROF__HEADING("TIME") "the windows of this run are too wide by now for a "
                      "part of %T.\n", figures);
}

CHROPROF__NOINLINE void chroprof__text_series(chroprof__page *g)
{
    chroprof__series s;
    size_t windows = chroprof_windows(g->p, NULL, 0);
    const chroprof_options *of = &g->options;
    /* a short part of a long run, of which the ring has lost some, has few windows that are wide */
    if (windows > 0 && windows < 8 && windows < of->max_windows / 2 && of->window_ns > 0 &&
        windows * 2 <= g->totals.elapsed_ns / of->window_ns) {
        chroprof__series_none(g);
        return;
    }
    if (g->totals.elapsed_ns == 0 || windows < 2)
        return;
    chroprof__series_read(g, &s);
    const uint64_t figures[] = { s.window_ns, s.full, 1000 };
    chroprof__print(g, g->width < 80 ? CHROPROF__HEADING("TIME") "windows of %t; full block: %w"
                       : CHROPROF__HEADING("TIME") "share of the loop in windows of %t; full "
                         "block: %w", figures);
    chroprof__blank_to(g, g->width - 14);
    chroprof__print(g, "   mean   peak\n", NULL);
    for (uint32_t row = 0; row < s.sites + 3; row++)
        if (s.rows[row].ns > 0)
            chroprof__series_show(g, &s, row);
    chroprof__series_axis(g, &s);
}
