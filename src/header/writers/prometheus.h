/* writers/prometheus.h */
#pragma once
#include "../interface/version.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../reading/figures.h"
#include "../writers/words.h"
#include "../writers/output.h"

#ifndef CHROPROF_NO_PROMETHEUS
/* >>prometheus: text exposition 0.0.4.
 * Metrics go by the lists in >>figures. The lines of a metric stand together, so each metric is a
 * walk over the sites of its own. With a limit of series each metric shows the sites that lead in
 * that very metric: the sum of all but the k largest of several rising figures never falls, whoever
 * changes place, so "(other)" is a true counter as well. One choice for all metrics would not keep
 * that. Relies on the public reads; called by >>formats. */

enum { CHROPROF__PROMETHEUS_TOP = 100, CHROPROF__BOUNDS = 15 };

/* The figures of a site and, a bit each, the bounds of its slices that people graph. */
static const char chroprof__graphed[][12] = {
    "exec_ns", "delay_ns", "blame_ns", "completed", "failed", "cancelled", "live"
};
enum { CHROPROF__GRAPHED_BOUNDS = 1 << 4 | 1 << 7 | 1 << 10 | 1 << 14 };

/* Sites whose figures are gathered at once, on the stack; a firmware has little of it. */
#ifdef CHROPROF_NO_STDIO
enum { CHROPROF__GATHERED = 64 };
#else
enum { CHROPROF__GATHERED = 1024 };
#endif

typedef struct chroprof__pick {
    uint64_t key;
    uint32_t site;
} chroprof__pick;

typedef struct chroprof__prometheus {
    chroprof__out *out;
    const chroprof *p;
    bool all;                          /* every series, not only what people graph */
    uint32_t top, count;               /* top 0: all sites, else so many of those picked */
    const chroprof__figure *by;        /* the order of live futures, slice lengths and latency */
    chroprof__pick picks[CHROPROF__PROMETHEUS_TOP];
    /* a walk over the sites with one figure of each */
    const chroprof__figure *figure;
    uint64_t cursor, value, rest;      /* rest: of the sites that are not shown */
    chroprof_site_row site;            /* its name is NULL: all that are not shown */
    uint32_t first, end;               /* the sites that are gathered */
    uint64_t values[CHROPROF__GATHERED];
} chroprof__prometheus;

/* The figure of many sites in one walk over the paths as they lie in memory: with 100,000 paths the
 * way along each site's own is a cache miss a path. */
static void chroprof__gather(chroprof__prometheus *m)
{
    const chroprof__figure *f = m->figure;
    bool deep = f->rank == offsetof(chroprof_rank, with_children_ns);
    chroprof_path row;
    m->first = m->site.id;
    m->end = m->first + CHROPROF__GATHERED;
    memset(m->values, 0, sizeof m->values);
    for (uint32_t path = CHROPROF__FIRST_PATH; deep ? chroprof_read_path(m->p, path, &row)
             : chroprof_read_path_alone(m->p, path, &row); path++)
        if (row.site - m->first < CHROPROF__GATHERED)
            chroprof__add(f, m->values + (row.site - m->first), *chroprof__field(&row, f->at));
}

static void chroprof__walk_sites(chroprof__prometheus *m, const chroprof__figure *figure)
{
    m->figure = figure;
    m->cursor = m->rest = 0;
    m->end = 0;
}

static bool chroprof__next_value(chroprof__prometheus *m)
{
    if (m->out->failed || !chroprof_next_site(m->p, &m->cursor, &m->site))
        return false;
    if (m->site.id >= m->end)
        chroprof__gather(m);
    m->value = m->values[m->site.id - m->first];
    return true;
}

/* Finds who leads in a figure, and begins a walk with another. The site "(other)" of a full table
 * is never among them. */
static void chroprof__prometheus_pick(chroprof__prometheus *m, const chroprof__figure *by,
                                      const chroprof__figure *figure)
{
    const chroprof__largest how = CHROPROF__LARGEST(m->top, chroprof__pick, key);
    m->count = 0;
    chroprof__walk_sites(m, by);
    while (m->top > 0 && chroprof__next_value(m)) {
        const chroprof__pick one = { m->value, m->site.id };
        if (one.site != CHROPROF__OTHER)
            m->count = chroprof__keep_largest(&how, m->picks, m->count, &one);
    }
    chroprof__walk_sites(m, figure);
}

/* The next site that is shown. */
static bool chroprof__next_picked(chroprof__prometheus *m)
{
    while (chroprof__next_value(m)) {
        bool picked = m->top == 0;
        for (uint32_t k = 0; k < m->count && !picked; k++)
            picked = m->picks[k].site == m->site.id;
        if (picked)
            return true;
        chroprof__add(m->figure, &m->rest, m->value);
    }
    return false;
}

/* Writes fields as a form says: & is a text, @ that of a label, . a number of 32 bits, all else
 * itself. places: where they lie. */
static void chroprof__put_form(chroprof__out *o, const char *form, const uint16_t *places,
                               const void *row)
{
    for (; *form != 0; form++) {
        if (*form == '&' || *form == '@' || *form == '.')
            chroprof__put_field(o, form, (const char *)row + *places++);
        else
            chroprof__put_byte(o, *form);
    }
}

static bool chroprof__is_utf8(const char *text)
{
    while (*text != 0) {
        const char *from = text;
        if (chroprof__next_code(&text) == CHROPROF__NO_CODE && text - from != 3)
            return false;
    }
    return true;
}

/* What ends a line: seconds where the figure is a time. */
static void chroprof__prometheus_value(chroprof__out *o, const char *figure, uint64_t value)
{
    size_t length = strlen(figure);
    chroprof__put_byte(o, ' ');
    if (length > 3 && strcmp(figure + length - 3, "_ns") == 0)
        chroprof__put_places(o, value, 1000000000);
    else
        chroprof__put_u64(o, value);
    chroprof__put_byte(o, '\n');
}

/* A metric and what it is: two words. Not inlined: constants beside each other would be data that a
 * loader has to fill in. */
CHROPROF__NOINLINE void chroprof__prometheus_head(chroprof__out *o, const char *metric,
                                                  const char *type)
{
    const char *const words[] = { metric, chroprof__nth_text(metric, 1), metric, type };
    chroprof__put_form(o, "# HELP chroprof_& &\n# TYPE chroprof_& &\n", chroprof__in_line, words);
}

/* The labels of a site. Those that can't tell it from every other site get an id, too: of a cut
 * name, of one with bytes that are shown as U+FFFD, of a user's "(other)". It hangs on the site
 * alone, so a series never changes its labels because of what comes later. */
static void chroprof__prometheus_site(chroprof__out *o, const chroprof_site_row *site)
{
    static const uint16_t places[] = {
        (uint16_t)offsetof(chroprof_site_row, name), (uint16_t)offsetof(chroprof_site_row, file),
        (uint16_t)offsetof(chroprof_site_row, line)
    };
    bool others = strcmp(site->name, "(other)") == 0 && *site->file == 0;
    chroprof__put_form(o, "{name=\"@\",file=\"@\",line=\".\"", places, site);
    if (site->cut || !chroprof__is_utf8(site->name) || !chroprof__is_utf8(site->file) ||
        (others && site->id != CHROPROF__OTHER))
        chroprof__put_form(o, ",id=\".\"", chroprof__in_line, &site->id);
}

/* The value of a site; label "": it has none but the site's. */
static void chroprof__prometheus_line(const chroprof__prometheus *m, const char *metric,
                                      const char *label, const char *text, const char *figure,
                                      uint64_t value)
{
    chroprof__out *o = m->out;
    const char *const words[] = { metric, label, text };
    chroprof__put_form(o, "chroprof_&", chroprof__in_line, words);
    if (m->site.name != NULL)
        chroprof__prometheus_site(o, &m->site);
    else
        chroprof__put_text(o, "{name=\"(other)\",file=\"\",line=\"0\"");
    if (*label != 0)
        chroprof__put_form(o, ",&=\"@\"", chroprof__in_line, words + 1);
    chroprof__put_byte(o, '}');
    chroprof__prometheus_value(o, figure, value);
}

static void chroprof__prometheus_row(const chroprof__prometheus *m, const char *name)
{
    const char *metric = chroprof__nth_text(name, 1);
    const char *label = strcmp(metric, "calls_total") == 0 ? "result" : "";
    chroprof__prometheus_line(m, metric, label, name, name, m->value);
}

/* A gauge has no order of its own. */
static void chroprof__prometheus_sites(chroprof__prometheus *m)
{
    const char *name = chroprof__path_words;
    const chroprof__figure *f = chroprof__path_figures;
    const chroprof__figure *end = f + sizeof chroprof__path_figures / sizeof *f;
    for (; f < end && !m->out->failed; f++, name = chroprof__nth_text(name, 3)) {
        const char *metric = chroprof__nth_text(name, 1);
        bool gauge = f->kind == CHROPROF__PRESENT, shown = m->all;
        for (size_t k = 0; k < sizeof chroprof__graphed / sizeof *chroprof__graphed; k++)
            shown = shown || strcmp(chroprof__graphed[k], name) == 0;
        if (!shown || *metric == 0)
            continue;
        if (*chroprof__nth_text(name, 2) != 0)
            chroprof__prometheus_head(m->out, metric, gauge ? "gauge" : "counter");
        chroprof__prometheus_pick(m, gauge ? m->by : f, f);
        while (chroprof__next_picked(m))
            chroprof__prometheus_row(m, name);
        m->site.name = NULL;
        m->value = m->rest;
        if (m->top != 0)
            chroprof__prometheus_row(m, name);
    }
}

static void chroprof__prometheus_histogram(const chroprof__prometheus *m)
{
    static const char names[CHROPROF__BOUNDS][9] = {
        "0.000001", "0.00001", "0.0001", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025",
        "0.05", "0.1", "0.25", "1", "10", "+Inf"
    };
    static const uint64_t bounds_ns[CHROPROF__BOUNDS] = {
        1000, 10000, 100000, 500000, 1000000, 2500000, 5000000, 10000000, 25000000, 50000000,
        100000000, 250000000, 1000000000, 10000000000u, UINT64_MAX
    };
    uint64_t slices[CHROPROF__BOUNDS];
    if (!chroprof_slice_counts(m->p, m->site.id, bounds_ns, CHROPROF__BOUNDS, slices))
        return;
    for (uint32_t k = 0; k < CHROPROF__BOUNDS; k++)
        if (m->all || (CHROPROF__GRAPHED_BOUNDS >> k & 1) != 0)
            chroprof__prometheus_line(m, "slice_duration_seconds_bucket", "le", names[k], "",
                                      slices[k]);
    chroprof__prometheus_line(m, "slice_duration_seconds_sum", "", "", "exec_ns", m->value);
    chroprof__prometheus_line(m, "slice_duration_seconds_count", "", "", "",
                              slices[CHROPROF__BOUNDS - 1]);
}

/* A site without percentiles has no row here, and the others than the first ones are not summed:
 * their buckets would fall when a site joins the first. */
static void chroprof__prometheus_histograms(chroprof__prometheus *m)
{
    chroprof__prometheus_head(m->out, "slice_duration_seconds\0Length of the slices that ended; "
                              "its sum has the one under way.", "histogram");
    chroprof__prometheus_pick(m, m->by, chroprof__path_figures);  /* the first one is exec_ns */
    while (chroprof__next_picked(m))
        chroprof__prometheus_histogram(m);
}

/* Of the sites that the histograms have shown, where futures have finished. */
static void chroprof__prometheus_latency(chroprof__prometheus *m)
{
    static const char quantiles[3][5] = { "0.5", "0.99", "1" };
    chroprof_rank rank;
    chroprof__prometheus_head(m->out, "latency_seconds\0Futures that finished, from creation; "
                              "since the start of the profile.", "summary");
    chroprof__walk_sites(m, chroprof__path_figures);
    while (chroprof__next_picked(m)) {
        (void)chroprof_read_rank(m->p, m->site.id, &rank);
        const uint64_t values[] = { rank.latency_p50_ns, rank.latency_p99_ns, rank.latency_max_ns };
        for (uint32_t k = 0; k < 3 && rank.latency_max_ns > 0; k++)
            chroprof__prometheus_line(m, "latency_seconds", "quantile", quantiles[k], "lifetime_ns",
                                      values[k]);
    }
}

static void chroprof__prometheus_total(chroprof__out *o, const char *metric, const char *type,
                                       const char *figure, uint64_t value)
{
    chroprof__prometheus_head(o, metric, type);
    chroprof__put_text(o, "chroprof_");
    chroprof__put_text(o, metric);
    chroprof__prometheus_value(o, figure, value);
}

static void chroprof__prometheus_totals(const chroprof__prometheus *m)
{
    chroprof_totals t;
    const char *name = chroprof__loop_words;
    chroprof_read_totals(m->p, &t);
    for (size_t k = 0; k < sizeof chroprof__loop_figures / sizeof *chroprof__loop_figures; k++) {
        const char *metric = chroprof__nth_text(name, 1);
        if (*metric != 0)
            chroprof__prometheus_total(m->out, metric, "counter", name,
                                       *chroprof__field(&t, chroprof__loop_figures[k].at));
        name = chroprof__nth_text(name, 3);
    }
    if (t.estimated)
        chroprof__put_text(m->out, "# Taken from outside: all times are estimates from samples. "
                           "Of n samples, a share differs by up to 0.5/sqrt(n) (standard "
                           "error).\n");
    if (t.hidden_p99_ns > 0 && !t.estimated) {
        chroprof__prometheus_total(m->out, "hidden_delay_mean_seconds\0Estimate: how long data "
                                   "waits until the loop polls, on average.", "gauge",
                                   "hidden_ns", t.hidden_ns);
        chroprof__prometheus_total(m->out, "hidden_delay_p99_seconds\0Estimate: the same, of "
                                   "99 in 100.", "gauge", "hidden_p99_ns", t.hidden_p99_ns);
    }
    if (t.start_unix_ns > 0)
        chroprof__prometheus_total(m->out, "start_time_seconds\0Calendar time of profile time 0.",
                                   "gauge", "start_unix_ns", t.start_unix_ns);
}

static void chroprof__prometheus_anomalies(const chroprof__prometheus *m)
{
    chroprof_anomaly row;
    chroprof__prometheus_head(m->out, "anomalies_total\0Unexpected sequences of calls.", "counter");
    for (int k = 0; chroprof_read_anomaly(m->p, (chroprof_anomaly_kind)k, &row); k++) {
        chroprof__put_text(m->out, "chroprof_anomalies_total{kind=\"");
        chroprof__put_word(m->out, CHROPROF__ANOMALY_WORDS, (uint64_t)row.kind);
        chroprof__put_text(m->out, "\"}");
        chroprof__prometheus_value(m->out, "", row.count);
    }
}

/* One of the counts of all tables. */
static void chroprof__prometheus_tables(const chroprof__prometheus *m, const char *metric,
                                        const char *type, uint16_t at)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(m->p, rows, CHROPROF_TABLE_COUNT);
    chroprof__prometheus_head(m->out, metric, type);
    for (size_t k = 0; k < count; k++) {
        const char *const words[] = { metric, rows[k].name };
        chroprof__put_form(m->out, "chroprof_&{table=\"@\"}", chroprof__in_line, words);
        chroprof__prometheus_value(m->out, "", *chroprof__field(rows + k, at));
    }
}

/* What both formats have. */
static void chroprof__prometheus_write(chroprof__prometheus *m, chroprof__out *o,
                                       const chroprof *p, bool all)
{
    const chroprof_prometheus_options none = { 0, CHROPROF_BY_EXEC };
    const chroprof_prometheus_options *series = o->series != NULL ? o->series : &none;
    chroprof_options of;
    memset(m, 0, sizeof *m);
    m->out = o;
    m->p = p;
    m->all = all;
    m->top = series->top;
    if (m->top > CHROPROF__PROMETHEUS_TOP)
        m->top = CHROPROF__PROMETHEUS_TOP;
    m->by = chroprof__path_figures;
    while (m->by->rank != chroprof__order_at(series->by))
        m->by++;
    chroprof_read_options(p, &of);
    chroprof__prometheus_head(o, "info\0The profile.", "gauge");
    chroprof__put_form(o, "chroprof_info{profile=\"@\",", chroprof__in_line, &of.name);
    chroprof__put_text(o, "version=\"" CHROPROF_VERSION "\"} 1\n");
    chroprof__prometheus_totals(m);
    chroprof__prometheus_sites(m);
    chroprof__prometheus_histograms(m);
    chroprof__prometheus_anomalies(m);
    chroprof__prometheus_tables(m, "table_dropped_total\0How often something did not fit.",
                                "counter", (uint16_t)offsetof(chroprof_table, dropped));
}

CHROPROF__COLD_API void chroprof__as_prometheus(chroprof__out *o, const chroprof *p)
{
    chroprof__prometheus m;
    if (!o->absent)
        chroprof__prometheus_write(&m, o, p, false);
}

CHROPROF__COLD_API void chroprof__as_prometheus_all(chroprof__out *o, const chroprof *p)
{
    chroprof__prometheus m;
    if (o->absent)
        return;
    chroprof__prometheus_write(&m, o, p, true);
    chroprof__prometheus_latency(&m);
    chroprof__prometheus_tables(&m, "table_capacity\0Rows that a table has.", "gauge",
                                (uint16_t)offsetof(chroprof_table, capacity));
    chroprof__prometheus_tables(&m, "table_used\0Rows in use.", "gauge",
                                (uint16_t)offsetof(chroprof_table, used));
}
#else
CHROPROF__LEFT_OUT(chroprof__as_prometheus)
CHROPROF__LEFT_OUT(chroprof__as_prometheus_all)
#endif /* CHROPROF_NO_PROMETHEUS */
