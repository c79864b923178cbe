/* trace_windows.c - a trace of the whole run, of its windows: a time line on which the sites of each
 * window lie end to end (their order inside it is not known), and counters per site. */

#include "trace_form.h"

#include <string.h>

#include "windows.h"

#define TRACE_COUNTERS 20      /* sites with a counter of their own */

typedef struct trace_line {
    trace t;
    window_list windows;
    uint64_t at;               /* where the time line ends so far */
} trace_line;

static void trace_site_name(trace *t, const window_site *site)
{
    (void)fputc('"', t->out);
    trace_raw(t, site->name);
    if (site->ambiguous) {
        (void)fputs(" (", t->out);
        trace_raw(t, site->file);
        (void)fprintf(t->out, ":%llu)", (unsigned long long)site->line);
    }
    (void)fputc('"', t->out);
}

/* One piece of the time line, site NULL: one of the loop's own states. Returns where it ends. */
static uint64_t trace_piece(trace *t, const window_site *site, const char *state, uint64_t start,
                            uint64_t length)
{
    for (int end = 0; end < 2 && length > 0; end++) {
        trace_begin(t, end ? "E" : "B");
        (void)fputs(",\"tid\":1,\"name\":", t->out);
        if (site != NULL) {
            trace_site_name(t, site);
        } else {
            (void)fprintf(t->out, "\"%s\"", state);
        }
        trace_time(t, start + (end ? length : 0));
        (void)fputc('}', t->out);
    }
    return start + length;
}

static uint64_t trace_pieces(trace_line *l, const window_row *w, uint64_t at)
{
    at = at > w->start ? at : w->start;
    for (size_t i = 0; i < l->windows.active_count; i++) {
        const window_site *site = l->windows.active[i];
        at = trace_piece(&l->t, site, "", at, l->windows.exec[site - l->windows.sites]);
    }
    at = trace_piece(&l->t, NULL, "(untracked)", at, w->untracked);
    at = trace_piece(&l->t, NULL, "(uninstrumented)", at, w->loop);
    return trace_piece(&l->t, NULL, "(idle)", at, w->idle);
}

/* Thousandths of a percent. */
static uint64_t trace_percent(uint64_t part, const window_row *w)
{
    uint64_t whole = w->end > w->start ? w->end - w->start : 1;
    while (part > UINT64_MAX / 100000) {
        part >>= 1;
        whole = whole > 1 ? whole >> 1 : 1;
    }
    return part * 100000 / whole;
}

static void trace_share_of(trace *t, uint64_t part, const window_row *w)
{
    uint64_t share = trace_percent(part, w);
    (void)fprintf(t->out, ":%llu.%03u", (unsigned long long)(share / 1000),
                  (unsigned)(share % 1000));
}

static void trace_counters(trace_line *l, const window_row *w)
{
    uint64_t rest = 0;
    trace_begin(&l->t, "C");
    (void)fputs(",\"name\":\"sites, % of the loop\"", l->t.out);
    trace_time(&l->t, w->start);
    (void)fputs(",\"args\":{", l->t.out);
    for (size_t i = 0; i < l->windows.active_count; i++) {
        size_t site = (size_t)(l->windows.active[i] - l->windows.sites);
        rest += site >= TRACE_COUNTERS ? l->windows.exec[site] : 0;
    }
    for (size_t i = 0; i < l->windows.site_count && i < TRACE_COUNTERS; i++) {
        trace_site_name(&l->t, &l->windows.sites[i]);
        trace_share_of(&l->t, l->windows.exec[i], w);
        (void)fputc(',', l->t.out);
    }
    (void)fputs("\"(other sites)\"", l->t.out);
    trace_share_of(&l->t, rest, w);
    (void)fputs("}}", l->t.out);
    trace_begin(&l->t, "C");
    (void)fputs(",\"name\":\"loop, %\"", l->t.out);
    trace_time(&l->t, w->start);
    (void)fputs(",\"args\":{\"busy\"", l->t.out);
    trace_share_of(&l->t, w->busy, w);
    (void)fputs(",\"loop\"", l->t.out);
    trace_share_of(&l->t, w->loop, w);
    (void)fputs("}}", l->t.out);
}

static void trace_window(void *user, const window_row *row)
{
    trace_line *l = (trace_line *)user;
    l->at = trace_pieces(l, row, l->at);
    trace_counters(l, row);
}

bool trace_windows(const profile_text *p, FILE *out)
{
    trace_line l;
    trace *t = &l.t;
    bool ok;
    memset(&l, 0, sizeof l);
    trace_open(t, p, out);
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    trace_begin(t, "M");
    (void)fputs(",\"name\":\"process_name\",\"args\":{\"name\":", out);
    trace_raw(t, p->name);
    (void)fputs("}}", out);
    trace_begin(t, "M");
    (void)fputs(",\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":"
                "\"sites per window, their order inside it unknown\"}}", out);
    ok = windows_open(&l.windows, p) && windows_each(&l.windows, trace_window, &l) &&
         trace_stalls(t) && trace_samples(t);
    (void)fputs("\n]}\n", out);
    windows_free(&l.windows);
    return ok;
}
