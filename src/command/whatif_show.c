/* whatif_show.c - what a change would bring, as JSON and as text. */

#include "whatif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gain.h"
#include "json.h"
#include "numbers.h"
#include "sheet.h"

/* >>json */

static uint64_t whole(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static uint64_t ppm(double part)
{
    return whole(part * 1e6);
}

static void json_site(const whatif_site *site, FILE *out)
{
    (void)fputs("{\"name\": ", out);
    json_put(out, site->name);
    (void)fputs(", \"file\": ", out);
    json_put(out, site->file);
    (void)fprintf(out, ", \"line\": %" PRIu64, site->line);
}

static void json_kind(const whatif_site *site, const kind_figures *k, FILE *out)
{
    json_site(site, out);
    (void)fprintf(out, ", \"count\": %" PRIu64, whole(k->count));
    (void)fprintf(out, ", \"latency_p50_ns\": %" PRIu64 ", \"latency_p99_ns\": %" PRIu64
                  ", \"latency_p999_ns\": %" PRIu64 ", \"delay_p99_ns\": %" PRIu64
                  ", \"hidden_ns\": %" PRIu64 "}",
                  whole(k->p50), whole(k->p99), whole(k->p999), whole(k->delay_p99),
                  whole(k->hidden));
}

static void json_figures(const char *key, const whatif_loop *l, const loop_figures *f, FILE *out)
{
    bool first = true;
    (void)fprintf(out, ",\n \"%s\": {\"utilization_ppm\": %" PRIu64 ", \"iteration_p50_ns\": %"
                  PRIu64 ", \"iteration_p99_ns\": %" PRIu64 ", \"iteration_max_ns\": %" PRIu64
                  ", \"stalls\": %" PRIu64 ", \"finished_per_s\": %" PRIu64
                  ", \"saturates_at_ppm\": %" PRIu64 ",\n  \"sites\": [", key,
                  ppm(f->utilization), whole(f->iteration_p50), whole(f->iteration_p99),
                  whole(f->iteration_max), whole(f->stalls), whole(f->finished_per_s),
                  ppm(f->saturates_at));
    for (size_t s = 0; s < l->site_count && f->kinds != NULL; s++) {
        if (f->kinds[s].count > 0) {
            (void)fputs(first ? "\n   " : ",\n   ", out);
            json_kind(&l->sites[s], &f->kinds[s], out);
            first = false;
        }
    }
    (void)fputs("]}", out);
}

static void json_head(const whatif_study *s, const char *reason, FILE *out)
{
    (void)fprintf(out, "{\"chroprof_whatif\": 1, \"fits\": %s, \"deviation_ppm\": %" PRIu64
                  ", \"model\": \"%s\", \"reason\": ", s->fits ? "true" : "false",
                  ppm(s->deviation), s->l->closed ? "closed" : "open");
    json_put(out, reason);
    json_figures("before", s->l, &s->before, out);
}

/* from: what it was told from; "": it is not known. */
static void json_capacity(const char *from, double full_at, double error, double slot_ns, FILE *out)
{
    (void)fprintf(out, ",\n \"capacity\": {\"from\": \"%s\", \"full_at_ppm\": %" PRIu64
                  ", \"error_ppm\": %" PRIu64 ", \"slot_ns\": %" PRIu64 ", \"reason\": ", from,
                  ppm(full_at), ppm(error), whole(slot_ns));
}

/* What the answer is of, and the load at which the loop is full, seen without a replay. */
static void json_tail(const whatif_study *s, FILE *out)
{
    const whatif_loop *l = s->l;
    capacity_figures c;
    window_capacity w;
    whatif_capacity(l, &c);
    if (s->fits && !l->closed) {
        json_capacity(c.known ? "steps" : "", c.known ? c.full_at : 0, c.known ? c.error : 0,
                      c.slot_ns, out);
        json_put(out, c.known ? "" : "arrivals are too even, or too few, to tell");
    } else if (!l->closed && whatif_window_capacity(l->profile, &w) && w.known) {
        json_capacity("windows", w.full_at, w.error, w.width_ns, out);
        json_put(out, "if all work comes with the load");
    } else {
        json_capacity("", 0, 0, 0, out);
        json_put(out, l->closed ? "arrivals depend on answers" : "too few windows");
    }
    (void)fprintf(out, "},\n \"covers_ns\": %" PRIu64 ", \"of_ns\": %" PRIu64 "}\n",
                  l->end_ns - l->begin_ns, l->run_ns);
}

void whatif_json(const whatif_study *s, const whatif_answer *a, FILE *out)
{
    json_head(s, a->reason, out);
    json_figures("after", s->l, &a->after, out);
    json_figures("low", s->l, &a->low, out);
    json_figures("high", s->l, &a->high, out);
    json_tail(s, out);
}

/* The part of the loop's work that is a site's own. */
static double share_of_work(const whatif_loop *l, const whatif_site *site)
{
    double all = 0;
    for (size_t i = 0; i < l->site_count; i++) {
        all += (double)l->sites[i].exec_ns;
    }
    return all > 0 ? (double)site->exec_ns / all : 0;
}

void whatif_json_all(const whatif_study *s, const gain_list *list, FILE *out)
{
    json_head(s, s->reason, out);
    (void)fprintf(out, ",\n \"factor_ppm\": %" PRIu64 ", \"sites\": [", ppm(list->factor));
    for (size_t i = 0; i < list->count; i++) {
        const gain *g = &list->rows[i];
        const whatif_site *site = &s->l->sites[g->site];
        (void)fputs(i > 0 ? ",\n  " : "\n  ", out);
        json_site(site, out);
        (void)fprintf(out, ", \"share_ppm\": %" PRIu64 ", \"worth_ppm\": %.0f, "
                      "\"saturates_at_ppm\": %" PRIu64 ", \"kind\": ",
                      ppm(share_of_work(s->l, site)), 1e6 * g->worth, ppm(g->full_after));
        json_put(out, g->kind != WHATIF_NONE ? s->l->sites[g->kind].name : "");
        (void)fprintf(out, ", \"latency_p99_before_ns\": %" PRIu64 ", \"latency_p99_after_ns\": %"
                      PRIu64 "}", whole(g->p99_before), whole(g->p99_after));
    }
    (void)fputs("]}\n", out);
}

/* >>text */

enum { NAMES = 2, BEFORE = 44, AFTER = 55, BOUNDS = 79, BAR_FROM = 14 };

static void put_figure(sheet *s, figure f, unsigned end)
{
    sheet_right(s, f.text, end);
}

static figure time_of(const sheet *s, double ns)
{
    return figure_time(s, whole(ns));
}

static figure times_of(const sheet *s, double times)
{
    figure f;
    (void)s;
    (void)snprintf(f.text, sizeof f.text, "x%.2f", times < 1e6 ? times : 1e6);
    return f;
}

static figure percent_of(const sheet *s, double part)
{
    (void)s;
    return figure_percent(part * 100);
}

static figure count_of(const sheet *s, double value)
{
    (void)s;
    return figure_count(value);
}

/* A figure before, after, and the range that it lies in. */
typedef struct shown_row {
    double before, after, low, high;
} shown_row;

static void put_row(sheet *s, const char *name, figure (*form)(const sheet *s, double value),
                    const shown_row *row)
{
    char range[64];
    figure from = form(s, row->low), to = form(s, row->high);
    sheet_blank_to(s, NAMES);
    sheet_text(s, name);
    put_figure(s, form(s, row->before), BEFORE);
    put_figure(s, form(s, row->after), AFTER);
    (void)snprintf(range, sizeof range, "%s to %s", from.text, to.text);
    sheet_right(s, strcmp(from.text, to.text) == 0 ? from.text : range, BOUNDS);
    sheet_newline(s);
}

typedef struct shown {
    sheet *s;
    const whatif_study *study;
    const whatif_answer *a;
} shown;

#define ROW(v, name, form, field)                                                                  \
    put_row((v)->s, name, form, &(const shown_row){                                                \
        .before = (double)(v)->study->before.field, .after = (double)(v)->a->after.field,          \
        .low = (double)(v)->a->low.field, .high = (double)(v)->a->high.field })

static void put_heads(sheet *s, const char *name)
{
    sheet_style(s, SHEET_BOLD);
    sheet_cut(s, name, BEFORE - 10);
    sheet_right(s, "before", BEFORE);
    sheet_right(s, "after", AFTER);
    sheet_right(s, "range", BOUNDS);
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static void put_bar(sheet *s, const char *name, double value, double most)
{
    unsigned width = s->columns - BAR_FROM - 12;
    sheet_blank_to(s, NAMES);
    sheet_text(s, name);
    sheet_blank_to(s, BAR_FROM);
    sheet_bar(s, most > 0 ? 100 * value / most : 0, width);
    sheet_blank_to(s, BAR_FROM + width + 1);
    sheet_text(s, time_of(s, value).text);
    sheet_newline(s);
}

static void put_kind(const shown *v, size_t kind)
{
    char head[200];
    sheet *s = v->s;
    const kind_figures *was = &v->study->before.kinds[kind];
    double before = was->p99, after = v->a->after.kinds[kind].p99;
    (void)snprintf(head, sizeof head, "%s x %.0f", v->study->l->sites[kind].name, was->count);
    sheet_newline(s);
    put_heads(s, head);
    ROW(v, "latency p50 (estimate)", time_of, kinds[kind].p50);
    ROW(v, "latency p99 (estimate)", time_of, kinds[kind].p99);
    ROW(v, "latency p99.9 (estimate)", time_of, kinds[kind].p999);
    ROW(v, "of it hidden, mean (estimate)", time_of, kinds[kind].hidden);
    ROW(v, "delay p99", time_of, kinds[kind].delay_p99);
    put_bar(s, "p99 before", before, before > after ? before : after);
    put_bar(s, "p99 after", after, before > after ? before : after);
}

static void put_loop(const shown *v)
{
    put_heads(v->s, "loop");
    ROW(v, "utilization", percent_of, utilization);
    ROW(v, "iteration p50", time_of, iteration_p50);
    ROW(v, "iteration p99", time_of, iteration_p99);
    ROW(v, "iteration max", time_of, iteration_max);
    ROW(v, "stalls", count_of, stalls);
    ROW(v, "finished per second", count_of, finished_per_s);
    ROW(v, "full at this many times the load", times_of, saturates_at);
}

static void put_flow(sheet *s, const char *text)
{
    sheet_flow(s, text, 0);
    sheet_newline(s);
}

static void model_in_words(const whatif_loop *l, char *out, size_t size)
{
    if (l->clients > 0) {
        (void)snprintf(out, size, "closed (as of %" PRIu32 " client%s, who send%s the next request some "
                       "time after an answer)", l->clients, l->clients == 1 ? "" : "s",
                       l->clients == 1 ? "s" : "");
        return;
    }
    (void)snprintf(out, size, "%s", l->closed
                   ? "closed (a connection sends its next request some time after the answer)"
                   : "open (what comes does not depend on the answers)");
}

/* The load at which it is full, seen from how busy it was when more or less came. */
static void put_capacity(sheet *s, const whatif_loop *l)
{
    char line[240];
    capacity_figures c;
    whatif_capacity(l, &c);
    if (c.known) {
        (void)snprintf(line, sizeof line, "Capacity, from busy time against arrivals in slots of %s: "
                       "full at %.2f times the load, give or take %.2f.",
                       time_of(s, c.slot_ns).text, c.full_at, c.error);
    } else {
        (void)snprintf(line, sizeof line, "Capacity: arrivals in slots of %s are too even, or too few, "
                       "to tell it from them.", time_of(s, c.slot_ns).text);
    }
    put_flow(s, line);
}

/* Where the steps have no answer, windows still tell how busy the loop was. */
static void put_window_capacity(sheet *s, const whatif_loop *l)
{
    char line[400];
    window_capacity c;
    if (!whatif_window_capacity(l->profile, &c) || !c.known) {
        return;
    }
    (void)snprintf(line, sizeof line, "Capacity, from %zu windows of %s: the loop worked for %s of the time, "
                   "and for %s of the busiest tenth. If all of it comes with the load, it is full at "
                   "%.2f times the load, give or take %.2f (estimate).", c.count,
                   time_of(s, c.width_ns).text, percent_of(s, c.work).text,
                   percent_of(s, c.tenth).text, c.full_at, c.error);
    put_flow(s, line);
}

/* What is asked, and whether there is an answer. */
static void put_head(sheet *s, const whatif_study *study)
{
    char line[600], model[160], whole[80] = "";
    const whatif_loop *l = study->l;
    if (l->cut) {
        (void)snprintf(whole, sizeof whole, ", the last of %s: older steps are gone",
                       time_of(s, (double)l->run_ns).text);
    }
    (void)snprintf(line, sizeof line, "%s: %zu callbacks in %zu iterations of %s%s", l->source,
                   l->job_count, l->iteration_count,
                   time_of(s, (double)(l->end_ns - l->begin_ns)).text, whole);
    put_flow(s, line);
    if (!study->fits) {
        (void)snprintf(line, sizeof line, "No answer: %s.", study->reason);
        put_flow(s, line);
        put_window_capacity(s, l);
        return;
    }
    model_in_words(l, model, sizeof model);
    (void)snprintf(line, sizeof line, "Model: %s. Unchanged, it gives the measured percentiles "
                   "within %.1f %%.", model, 100 * study->deviation);
    put_flow(s, line);
    if (!l->closed) {
        put_capacity(s, l);
    }
}

static void put_change(const shown *v, const char *change)
{
    char line[600];
    (void)snprintf(line, sizeof line, "Change: %s.", change);
    put_flow(v->s, line);
    if (v->a->reason[0] != '\0') {
        (void)snprintf(line, sizeof line, "Note: %s.", v->a->reason);
        put_flow(v->s, line);
    }
    sheet_newline(v->s);
}

/* The kinds that finished most often. */
static size_t next_kind(const whatif_study *study, double below, size_t last)
{
    const kind_figures *kinds = study->before.kinds;
    size_t best = SIZE_MAX;
    for (size_t s = 0; s < study->l->site_count; s++) {
        double count = kinds[s].count;
        if (count <= 0 || count > below || (count == below && s <= last && last != SIZE_MAX)) {
            continue;
        }
        best = best == SIZE_MAX || count > kinds[best].count ? s : best;
    }
    return best;
}

static void put_kinds(const shown *v, uint64_t most)
{
    double below = 1e300;
    size_t last = SIZE_MAX, left = 0;
    char line[120];
    for (size_t k = 0; (last = next_kind(v->study, below, last)) != SIZE_MAX; k++) {
        below = v->study->before.kinds[last].count;
        if (k < most) {
            put_kind(v, last);
        } else {
            left++;
        }
    }
    if (left > 0) {
        sheet_newline(v->s);
        (void)snprintf(line, sizeof line, "%zu more kinds: --top %zu, or --json", left,
                       (size_t)most + left);
        put_flow(v->s, line);
    }
}

static void sheet_begin(sheet *s, const whatif_view *v)
{
    memset(s, 0, sizeof *s);
    s->columns = v->columns;
    s->ascii = v->ascii;
    s->color = v->color;
    s->end = "\n";
}

static void sheet_end(sheet *s, FILE *out)
{
    (void)fwrite(s->bytes != NULL ? s->bytes : "", 1, s->used, out);
    free(s->bytes);
}

void whatif_text(const whatif_study *study, const whatif_answer *a, const whatif_view *v,
                 FILE *out)
{
    sheet s;
    const shown all = { &s, study, a };
    sheet_begin(&s, v);
    put_head(&s, study);
    if (study->fits) {
        put_change(&all, v->change);
        put_loop(&all);
        put_kinds(&all, v->rows > 0 ? v->rows : 3);
    }
    sheet_end(&s, out);
}

/* >>text of all sites */

enum { SHARE = 9, LESS = 21, FULL = 33, ALL_NAMES = 35 };

static void put_all_heads(sheet *s, double factor)
{
    char line[200];
    (void)snprintf(line, sizeof line, "Each site alone with %.4g times its own exec time. p99: how "
                   "much shorter latency p99 is, the mean of all finished futures (estimate).",
                   factor);
    put_flow(s, line);
    sheet_newline(s);
    sheet_style(s, SHEET_BOLD);
    sheet_right(s, "of work", SHARE);
    sheet_right(s, "p99", LESS);
    sheet_right(s, "full at", FULL);
    sheet_blank_to(s, ALL_NAMES);
    sheet_text(s, "site");
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static void put_gain(sheet *s, const whatif_study *study, const gain *g)
{
    const whatif_site *site = &study->l->sites[g->site];
    char words[200], less[40];
    (void)snprintf(less, sizeof less, absolute(g->worth) < 0.005 ? "0 %%" : "%+.0f %%",
                   -100 * g->worth);
    sheet_right(s, figure_percent(100 * share_of_work(study->l, site)).text, SHARE);
    sheet_right(s, less, LESS);
    sheet_right(s, times_of(s, g->full_after).text, FULL);
    sheet_blank_to(s, ALL_NAMES);
    sheet_cut(s, site->name, s->columns - ALL_NAMES);
    sheet_newline(s);
    gain_words(s, study->l, g, words, sizeof words);
    if (words[0] != '\0') {
        sheet_blank_to(s, ALL_NAMES);
        sheet_flow(s, words, ALL_NAMES);
        sheet_newline(s);
    }
}

void whatif_text_all(const whatif_study *study, const gain_list *list, const whatif_view *v,
                     FILE *out)
{
    size_t most = v->rows > 0 && v->rows < list->count ? (size_t)v->rows : list->count;
    sheet s;
    sheet_begin(&s, v);
    put_head(&s, study);
    if (study->fits) {
        put_all_heads(&s, list->factor);
    }
    for (size_t i = 0; study->fits && i < most; i++) {
        put_gain(&s, study, &list->rows[i]);
    }
    sheet_end(&s, out);
}
