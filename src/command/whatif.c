/* whatif.c - chroprof whatif: what a change would bring, from the steps of a loop. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "commands.h"
#include "message.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "terminal.h"
#include "values.h"

#define DEVIATION_MOST 0.10
#define UNINSTRUMENTED_MOST 0.20
#define BLIND_MOST 0.20
#define NESTED_MOST 0.10
#define FOLLOWS_MOST 0.5
#define CALM_MOST 1.12
#define CALM_LEAST 0.62
#define FULL 0.975             /* of a loop that is never idle nobody knows what else would come */
#define CHANGES_MOST 32u
#define TOOL_NO_FIT 3          /* exit code */

/* >>words of the command */

typedef struct site_words {
    const char *name;          /* NAME or NAME@FILE:LINE */
    double factor;
    bool given;
} site_words;

typedef struct whatif_words {
    const char *source;
    site_words sites[CHANGES_MOST];
    size_t site_count;
    uint64_t split_ns, moved_ns;
    double load;
    const char *order;
    const char *priority;      /* of order: the site */
    bool json, ascii;
    int color;
    uint64_t rows, columns;
    profile_text profile;
} whatif_words;

/* A number with or without decimals. */
static bool read_real(const char *text, double least, double most, double *value)
{
    uint64_t whole = 0, part = 0;
    double scale = 1;
    const char *at = text, *point;
    if (text[0] != '.' && !read_digits(&at, &whole)) {
        return false;
    }
    point = at;
    if (*at == '.' || *at == ',') {
        point = ++at;
        if (!read_digits(&at, &part)) {
            return false;
        }
    }
    for (; point < at; point++) {
        scale *= 10;
    }
    *value = (double)whole + (scale > 1 ? (double)part / scale : 0);
    return at > text && *at == '\0' && *value >= least && *value <= most;
}

static const char *set_site(void *field, const char *value)
{
    whatif_words *w = (whatif_words *)field;
    if (w->site_count == CHANGES_MOST) {
        return "at most 32 sites can be changed at once";
    }
    w->sites[w->site_count].name = value;
    w->sites[w->site_count++].factor = 1;
    return NULL;
}

static const char *set_factor(void *field, const char *value)
{
    whatif_words *w = (whatif_words *)field;
    site_words *site = w->site_count > 0 ? &w->sites[w->site_count - 1] : NULL;
    if (site == NULL || site->given) {
        return "expected --site NAME before it";
    }
    site->given = true;
    return read_real(value, 0, 1000, &site->factor)
           ? NULL : "expected a number from 0 to 1000, such as 0.5";
}

static const char *set_load(void *field, const char *value)
{
    return read_real(value, 0.001, 1000, (double *)field)
           ? NULL : "expected a number from 0.001 to 1000, such as 1.5";
}

static const char *set_batch_order(void *field, const char *value)
{
    whatif_words *w = (whatif_words *)field;
    static const char priority[] = "priority";
    size_t length = sizeof priority - 1;
    bool known = strcmp(value, "fifo") == 0 || strcmp(value, "shortest") == 0;
    w->order = value;
    if (strncmp(value, priority, length) == 0 && value[length] != '\0' &&
        strchr(":= ", value[length]) != NULL && value[length + 1] != '\0') {
        w->priority = value + length + 1;
        known = true;
    }
    return known ? NULL : "expected fifo, shortest or priority:SITE";
}

static const char *set_columns(void *field, const char *value)
{
    bool ok = read_count(value, 60, 200, (uint64_t *)field);
    return ok ? NULL : "expected a width from 60 to 200";
}

static const tool_option whatif_options[] = {
    { "site", 's', "NAME", "the site that the next factor is about, also as\n"
      "NAME@FILE:LINE; may be given several times", set_site, 0, NULL },
    { "factor", 'f', "F", "its own exec time is F times as long; 0: none of it\n"
      "is left on the loop", set_factor, 0, NULL },
    { "latency-of", '\0', "TIME", "what a factor of 0 takes off goes on elsewhere,\n"
      "and what it belongs to finishes so much later\n(default 0)", set_duration,
      offsetof(whatif_words, moved_ns), NULL },
    { "split", '\0', "TIME", "longer callbacks are cut, and go on in the next\niteration",
      set_duration, offsetof(whatif_words, split_ns), NULL },
    { "load", 'l', "L", "L times as much comes", set_load, offsetof(whatif_words, load), NULL },
    { "order", '\0', "ORDER", "what a poll found runs in this order: fifo (default),\n"
      "shortest, or priority:SITE", set_batch_order, 0, NULL },
    { "json", 'j', NULL, "JSON in place of text", set_flag, offsetof(whatif_words, json), NULL },
    { "top", 'n', "N", "kinds of futures that the text shows (default 3)", set_rows,
      offsetof(whatif_words, rows), NULL },
    { "columns", 'w', "N", "width of the text, 60 to 200 (default: the\nterminal's, else 80)",
      set_columns, offsetof(whatif_words, columns), NULL },
    { "ascii", '\0', NULL, "bars of plain ASCII", set_flag, offsetof(whatif_words, ascii), NULL },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color,
      offsetof(whatif_words, color), color_choices }
};

static const char whatif_text_of_help[] =
    "\n"
    "IN is a profile with the steps of its ring: a file of chroprof_map or of\n"
    "chroprof run -o, JSON of one, a stream of chroprof record, a PID, or - for\n"
    "standard input.\n"
    "\n"
    "Replays what came through the loop (a poll, then all that came), as it is and as\n"
    "it would be. It shows both: utilization, iterations, stalls, latency per kind of\n"
    "future from its arrival on, and at how many times the measured load the loop is\n"
    "full. When data arrived while the loop was busy is not known exactly, so latency\n"
    "is an estimate. The range is that of 72 random placements of the arrivals.\n"
    "\n"
    "Without a change it tells what clients saw now. It refuses to answer where the\n"
    "model does not hold: too few steps, arrivals that depend on answers, much\n"
    "uninstrumented time, or measured latencies that it can't reproduce.\n"
    "docs/whatif.md explains the model.\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output, 2 wrong usage, 3 the model does not\n"
    "fit, the reason is told\n"
    "\n"
    "examples:\n"
    "  chroprof whatif server.chroprof\n"
    "  chroprof whatif server.events --site render_page --factor 0.5\n"
    "  chroprof whatif $(pidof server) --site resize --factor 0 --latency-of 40ms\n"
    "  chroprof whatif server.events --load 1.5 --split 2ms\n";

/* >>change */

/* The site that a word names; WHATIF_NONE, with a message: none, or several. */
static uint32_t named_site(const whatif_loop *l, const char *word)
{
    const char *at = strrchr(word, '@');
    uint32_t found = WHATIF_NONE;
    nearest search = nearest_begin(word, strlen(word));
    char place[600];
    for (size_t i = 0; i < l->site_count; i++) {
        const whatif_site *site = &l->sites[i];
        bool same = strcmp(site->name, word) == 0;
        if (!same && at != NULL && strlen(site->name) == (size_t)(at - word) &&
            strncmp(site->name, word, (size_t)(at - word)) == 0) {
            (void)snprintf(place, sizeof place, "%s:%llu", site->file,
                           (unsigned long long)site->line);
            same = strcmp(place, at + 1) == 0;
        }
        nearest_try(&search, site->name);
        if (same && found != WHATIF_NONE) {
            tool_message("%s: several sites have this name; give one as NAME@FILE:LINE, such as "
                         "%s@%s:%llu", word, site->name, site->file,
                         (unsigned long long)site->line);
            return WHATIF_NONE;
        }
        found = same ? (uint32_t)i : found;
    }
    if (found == WHATIF_NONE) {
        tool_message("%s: no site has this name%s%s%s", word,
                     search.best != NULL ? "; did you mean " : "",
                     search.best != NULL ? search.best : "", search.best != NULL ? "?" : "");
    }
    return found;
}

static void no_change(const whatif_loop *l, whatif_change *c)
{
    for (size_t s = 0; s < l->site_count; s++) {
        c->factor[s] = 1;
    }
    c->load = 1;
    c->order = ORDER_FIFO;
    c->first = WHATIF_NONE;
}

/* false, with a message. */
static bool take_change(const whatif_loop *l, const whatif_words *w, whatif_change *c)
{
    no_change(l, c);
    for (size_t i = 0; i < w->site_count; i++) {
        uint32_t site = named_site(l, w->sites[i].name);
        if (site == WHATIF_NONE) {
            return false;
        }
        c->factor[site] = w->sites[i].factor;
        c->moved[site] = w->sites[i].factor == 0;
    }
    c->load = w->load;
    c->split_ns = w->split_ns;
    c->moved_ns = w->moved_ns;
    if (w->priority != NULL) {
        c->first = named_site(l, w->priority);
        c->order = ORDER_PRIORITY;
        return c->first != WHATIF_NONE;
    }
    c->order = w->order != NULL && strcmp(w->order, "shortest") == 0 ? ORDER_SHORTEST : ORDER_FIFO;
    return true;
}

static void add_words(char *out, size_t size, const char *words)
{
    size_t used = strlen(out);
    if (used + strlen(words) + 3 < size) {      /* else it is left out */
        (void)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", words);
    }
}

static void change_in_words(const whatif_words *w, char *out, size_t size)
{
    char part[200];
    out[0] = '\0';
    for (size_t i = 0; i < w->site_count; i++) {
        (void)snprintf(part, sizeof part, "%.100s takes %.4g times as long", w->sites[i].name,
                       w->sites[i].factor);
        add_words(out, size, part);
    }
    if (w->split_ns > 0) {
        (void)snprintf(part, sizeof part, "callbacks are cut after %.6g ms",
                       (double)w->split_ns / 1e6);
        add_words(out, size, part);
    }
    if (w->load != 1) {
        (void)snprintf(part, sizeof part, "%.4g times the load", w->load);
        add_words(out, size, part);
    }
    if (w->order != NULL && strcmp(w->order, "fifo") != 0) {
        (void)snprintf(part, sizeof part, "order %.100s", w->order);
        add_words(out, size, part);
    }
    if (out[0] == '\0') {
        add_words(out, size, "none");
    }
}

/* >>fit */

static bool refuse(whatif_answer *a, const char *reason)
{
    (void)snprintf(a->reason, sizeof a->reason, "%s", reason);
    a->fits = false;
    return false;
}

static double most_finishes(const whatif_loop *l, const kind_figures *kinds)
{
    double most = 0;
    for (size_t s = 0; s < l->site_count; s++) {
        most = greater(most, kinds[s].count);
    }
    return most;
}

/* Does what comes hang on what the loop does? With arrivals from outside as much comes in a second
 * whether it waits or not. Who waits for an answer asks nothing meanwhile. */
static bool arrivals_fit(const arrival_model *m, whatif_answer *a)
{
    bool regular = m->shape == ARRIVE_REGULARLY;
    if (m->follows > FOLLOWS_MOST || (regular && m->stretch > FOLLOWS_MOST)) {
        return refuse(a, "what comes goes with what was answered, however long that took, so "
                         "arrivals seem to depend on answers");
    }
    if (!regular && m->calm_least > CALM_MOST &&
        1 / m->calm_least < 1 - 2.2 * m->calm_error) {
        return refuse(a, "less comes in a busy second than in an idle one, so arrivals seem to "
                         "depend on answers");
    }
    if (regular ? m->calm < 1 && m->calm > 0 : m->calm < CALM_LEAST && m->follows < -0.1) {
        return refuse(a, "more comes in a busy second than in an idle one, so arrivals seem to "
                         "depend on answers");
    }
    return true;
}

/* What the steps themselves tell against the model. */
static bool steps_fit(const whatif_loop *l, const arrival_model *m, const kind_figures *measured,
                      whatif_answer *a)
{
    double elapsed = (double)(l->end_ns - l->begin_ns);
    double jobs = (double)l->job_count;
    if (l->iteration_count < 2 || jobs == 0) {
        return refuse(a, "its steps have no loop iteration with a callback, between two waits that "
                         "are told (idle_enter, idle_leave)");
    }
    if (most_finishes(l, measured) < WHATIF_FEWEST) {
        return refuse(a, "too few steps: no kind of future finished 100 times in them");
    }
    if ((double)(l->uninstrumented_ns + l->untracked_ns) > UNINSTRUMENTED_MOST * elapsed) {
        return refuse(a, "more than 20 % of the time is uninstrumented or untracked, so what a "
                         "callback costs is not known");
    }
    if ((double)l->nested_idle_ns > NESTED_MOST * elapsed) {
        return refuse(a, "callbacks wait inside for more than 10 % of the time");
    }
    if ((double)l->blind > BLIND_MOST * jobs) {
        return refuse(a, "futures run long after they were created, and ready is never told, so "
                         "when they could have run is not known");
    }
    if ((double)l->idle_ns < (1 - FULL) * elapsed) {
        return refuse(a, "the loop is never idle, so how much more would come to a quicker one is "
                         "not known");
    }
    if (m->one_a_poll) {
        return refuse(a, "no poll found more than one event, however long the iteration before: "
                         "arrivals depend on answers, or the loop takes one event at a time");
    }
    return l->closed || arrivals_fit(m, a);
}

static double error_of(double value, double truth)
{
    return truth > 0 ? absolute(value - truth) / truth : 0;
}

static void measure_deviation(const whatif_loop *l, const kind_figures *measured,
                              whatif_answer *a)
{
    for (size_t s = 0; s < l->site_count; s++) {
        const kind_figures *was = &measured[s], *is = &a->before.kinds[s];
        if (was->count >= WHATIF_FEWEST && is->count > 0) {
            a->deviation = greater(a->deviation, error_of(is->seen_p50, was->seen_p50));
            a->deviation = greater(a->deviation, error_of(is->seen_p99, was->seen_p99));
        }
    }
}

/* >>placements */

typedef struct runs {
    loop_figures before[WHATIF_PLACEMENTS], after[WHATIF_PLACEMENTS];
    size_t likely;             /* the first ones, which lie as the waits tell */
    uint64_t *scratch;
} runs;

/* Figures as an array of real numbers, those of the loop first. */
static double *figure_at(loop_figures *f, size_t i)
{
    size_t loop = offsetof(loop_figures, kinds) / sizeof(double);
    size_t kind = sizeof(kind_figures) / sizeof(double);
    return i < loop ? (double *)(void *)f + i
                    : (double *)(void *)&f->kinds[(i - loop) / kind] + (i - loop) % kind;
}

static int compare_figures(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle of the likely ones; the least and greatest of all. NULL: not wanted. */
static void summarize(const whatif_loop *l, loop_figures *rows, size_t likely,
                      loop_figures *middle, loop_figures *low, loop_figures *high)
{
    size_t count = offsetof(loop_figures, kinds) / sizeof(double) +
                   l->site_count * sizeof(kind_figures) / sizeof(double);
    double values[WHATIF_PLACEMENTS];
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < WHATIF_PLACEMENTS; k++) {
            values[k] = *figure_at(&rows[k], i);
        }
        qsort(values, likely, sizeof *values, compare_figures);
        *figure_at(middle, i) = values[likely / 2];
        if (low != NULL) {
            qsort(values, WHATIF_PLACEMENTS, sizeof *values, compare_figures);
            *figure_at(low, i) = values[0];
            *figure_at(high, i) = values[WHATIF_PLACEMENTS - 1];
        }
    }
}

/* Most placements are as the waits tell, some as if they told wrong. */
static arrival_shape shape_of(const arrival_model *m, size_t k)
{
    static const arrival_shape others[3][2] = {
        { ARRIVE_IN_BUNCHES, ARRIVE_REGULARLY }, { ARRIVE_EVENLY, ARRIVE_REGULARLY },
        { ARRIVE_EVENLY, ARRIVE_IN_BUNCHES }
    };
    size_t likely = WHATIF_PLACEMENTS * 2 / 3;
    return k < likely ? m->shape : others[m->shape][k % 2];
}

static bool place_all(const whatif_loop *l, const arrival_model *m, const whatif_change *none,
                      const whatif_change *change, runs *all, whatif_arrivals *a)
{
    bool ok = true;
    all->likely = WHATIF_PLACEMENTS * 2 / 3;
    for (size_t k = 0; ok && k < WHATIF_PLACEMENTS; k++) {
        arrivals_place(a, l, m, shape_of(m, k), k + 1);
        ok = whatif_replay(l, a, none, &all->before[k]) &&
             whatif_replay(l, a, change, &all->after[k]);
    }
    return ok;
}

static bool make_kinds(const whatif_loop *l, loop_figures *rows, size_t count)
{
    bool ok = true;
    for (size_t k = 0; k < count; k++) {
        rows[k].kinds = (kind_figures *)calloc(l->site_count + 1, sizeof *rows[k].kinds);
        ok = ok && rows[k].kinds != NULL;
    }
    return ok;
}

static void free_kinds(loop_figures *rows, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        free(rows[k].kinds);
    }
}

/* The range is wider by what the model misses where nothing is changed. */
static void widen(const whatif_loop *l, whatif_answer *a)
{
    size_t count = offsetof(loop_figures, kinds) / sizeof(double) +
                   l->site_count * sizeof(kind_figures) / sizeof(double);
    for (size_t i = 0; i < count; i++) {
        *figure_at(&a->low, i) *= 1 - a->deviation;
        *figure_at(&a->high, i) *= 1 + a->deviation;
    }
}

static bool replay_all(const whatif_loop *l, const arrival_model *m, const whatif_change *none,
                       const whatif_change *change, whatif_answer *a)
{
    runs *all = (runs *)calloc(1, sizeof *all);
    whatif_arrivals arrivals;
    bool ok = all != NULL;
    memset(&arrivals, 0, sizeof arrivals);
    arrivals.at_ns = (uint64_t *)calloc(l->job_count + 1, sizeof *arrivals.at_ns);
    arrivals.order = (uint32_t *)calloc(l->job_count + 1, sizeof *arrivals.order);
    arrivals.scratch = (uint64_t *)calloc(l->job_count + 1, sizeof *arrivals.scratch);
    ok = ok && arrivals.at_ns != NULL && arrivals.order != NULL && arrivals.scratch != NULL &&
         make_kinds(l, all->before, WHATIF_PLACEMENTS) &&
         make_kinds(l, all->after, WHATIF_PLACEMENTS) &&
         place_all(l, m, none, change, all, &arrivals);
    if (ok) {
        summarize(l, all->before, all->likely, &a->before, NULL, NULL);
        summarize(l, all->after, all->likely, &a->after, &a->low, &a->high);
    }
    if (all != NULL) {
        free_kinds(all->before, WHATIF_PLACEMENTS);
        free_kinds(all->after, WHATIF_PLACEMENTS);
    }
    free(arrivals.at_ns);
    free(arrivals.order);
    free(arrivals.scratch);
    free(all);
    return ok;
}

/* >>whatif */

static void judge(const whatif_loop *l, const kind_figures *measured, const whatif_change *change,
                  whatif_answer *a)
{
    measure_deviation(l, measured, a);
    if (a->deviation > DEVIATION_MOST) {
        char reason[160];
        (void)snprintf(reason, sizeof reason, "unchanged, the model misses the measured "
                       "percentiles by %.0f %%", 100 * a->deviation);
        (void)refuse(a, reason);
        return;
    }
    widen(l, a);
    a->full = !l->closed && a->after.saturates_at < change->load;
    if (a->full) {
        (void)snprintf(a->reason, sizeof a->reason, "more would come than the loop can take, so "
                       "latency would grow without end; what is shown is of this stretch alone");
    }
}

static bool answer(const whatif_loop *l, const whatif_change *none, const whatif_change *change,
                   whatif_answer *a)
{
    kind_figures *measured = (kind_figures *)calloc(l->site_count + 1, sizeof *measured);
    arrival_model m;
    bool ok;
    memset(&m, 0, sizeof m);
    ok = measured != NULL && whatif_measured(l, measured) && arrivals_study(&m, l);
    a->fits = true;
    if (ok && steps_fit(l, &m, measured, a)) {
        ok = replay_all(l, &m, none, change, a);
        if (ok) {
            judge(l, measured, change, a);
        }
    }
    free(m.bunches);
    free(measured);
    return ok;
}

static int show(const whatif_loop *l, const whatif_words *w, const whatif_answer *a)
{
    char change[400];
    whatif_view v;
    memset(&v, 0, sizeof v);
    change_in_words(w, change, sizeof change);
    v.columns = w->columns > 0 ? (unsigned)w->columns : terminal_columns(stdout);
    v.ascii = ascii_wanted(w->ascii);
    v.color = color_wanted(w->color, stdout);
    v.rows = w->rows > 0 ? w->rows : 3;
    v.change = change;
    if (w->json) {
        whatif_json(l, a, stdout);
    } else {
        whatif_text(l, a, &v, stdout);
    }
    if (!a->fits) {
        tool_message("%s: %s", l->source, a->reason);
    }
    return a->fits ? TOOL_OK : TOOL_NO_FIT;
}

static int whatif_of(const whatif_loop *l, const whatif_words *w)
{
    whatif_answer a;
    whatif_change none, change;
    loop_figures *all[] = { &a.before, &a.after, &a.low, &a.high };
    double *factors = (double *)calloc(2 * l->site_count + 2, sizeof *factors);
    bool *moved = (bool *)calloc(2 * l->site_count + 2, sizeof *moved);
    bool ok = factors != NULL && moved != NULL;
    int result = TOOL_INPUT;
    memset(&a, 0, sizeof a);
    memset(&none, 0, sizeof none);
    memset(&change, 0, sizeof change);
    none.factor = factors;
    none.moved = moved;
    for (size_t i = 0; i < 4; i++) {
        ok = make_kinds(l, all[i], 1) && ok;
    }
    if (ok) {
        change.factor = factors + l->site_count;
        change.moved = moved + l->site_count;
        no_change(l, &none);
        result = take_change(l, w, &change) ? TOOL_OK : TOOL_USAGE;
    }
    if (ok && result == TOOL_OK) {
        ok = answer(l, &none, &change, &a);
        result = ok ? show(l, w, &a) : TOOL_INPUT;
    }
    if (!ok) {
        tool_message("%s: not enough memory", l->source);
    }
    for (size_t i = 0; i < 4; i++) {
        free_kinds(all[i], 1);
    }
    free(factors);
    free(moved);
    return result;
}

static int whatif_file(whatif_words *w)
{
    timeline ring;
    whatif_loop loop;
    int result = TOOL_INPUT;
    memset(&ring, 0, sizeof ring);
    memset(&loop, 0, sizeof loop);
    if (profile_load_or_replay(&w->profile, w->source) && timeline_open(&ring, &w->profile) &&
        whatif_read(&loop, &ring, &w->profile)) {
        result = whatif_of(&loop, w);
    }
    whatif_free(&loop);
    timeline_close(&ring);
    profile_free(&w->profile);
    return result;
}

static int whatif_run(const tool_command *command, int count, char **words)
{
    static whatif_words w;
    int result;
    w.load = 1;
    if (!take_words(command, count, words, &w, &w.source, 1, &result)) {
        return result;
    }
    for (size_t i = 0; i < w.site_count; i++) {
        if (!w.sites[i].given) {
            tool_line("chroprof whatif: --site %s: expected --factor F after it (see: chroprof "
                      "whatif --help)", w.sites[i].name);
            return TOOL_USAGE;
        }
    }
    return whatif_file(&w);
}

const tool_command whatif_command = {
    "whatif", "IN [--site NAME --factor F]... [options]", { "IN" },
    "Tells what a change would bring: latency and load after it.",
    whatif_text_of_help, OPTIONS_OF(whatif_options), whatif_run
};
