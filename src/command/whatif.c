/* whatif.c - chroprof whatif: what a change would bring, from the steps of a loop. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "commands.h"
#include "gain.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "terminal.h"
#include "values.h"

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
    uint64_t split_ns, moved_ns, wake_ns;
    double load;
    const char *order;
    const char *priority;      /* of order: the site */
    bool json, ascii;
    bool all;                  /* each site in turn, with all_factor */
    double all_factor;
    int color;
    uint64_t rows, columns, placements;
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
    if (site == NULL && w->all) {
        return read_real(value, 0, 1000, &w->all_factor)
               ? NULL : "expected a number from 0 to 1000, such as 0.5";
    }
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

static const char *set_placements(void *field, const char *value)
{
    bool ok = read_count(value, GAIN_PLACEMENTS, WHATIF_PLACEMENTS, (uint64_t *)field);
    return ok ? NULL : "expected a number from 24 to 72";
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
    { "all", 'a', NULL, "each site that takes much of the loop, ranked by\n"
      "what F times its exec time would bring (--factor F\nbehind it, default 0.5)", set_flag,
      offsetof(whatif_words, all), NULL },
    { "latency-of", '\0', "TIME", "what a factor of 0 takes off goes on elsewhere,\n"
      "and what it belongs to finishes so much later\n(default 0)", set_duration,
      offsetof(whatif_words, moved_ns), NULL },
    { "split", '\0', "TIME", "longer callbacks are cut, and go on in the next\niteration",
      set_duration, offsetof(whatif_words, split_ns), NULL },
    { "load", 'l', "L", "L times as much comes", set_load, offsetof(whatif_words, load), NULL },
    { "order", '\0', "ORDER", "what a poll found runs in this order: fifo (default),\n"
      "shortest, or priority:SITE", set_batch_order, 0, NULL },
    { "wake", '\0', "TIME", "what ends a wait had come so much earlier: the\nsystem's way from a "
      "sender to a loop that waits\n(default 0)", set_duration,
      offsetof(whatif_words, wake_ns), NULL },
    { "placements", '\0', "N", "random placements of the arrivals, 24 to 72 (default\n72; --all "
      "and the page of report take 24)", set_placements,
      offsetof(whatif_words, placements), NULL },
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
    "  chroprof whatif server.events --load 1.5 --split 2ms\n"
    "  chroprof whatif server.events --all\n";

/* >>change */

/* Is the rest of a word, behind the name, this site's @FILE:LINE? Names and files may have an @. */
static bool is_place(const whatif_site *site, const char *rest)
{
    size_t length = strlen(site->file);
    char line[24];
    (void)snprintf(line, sizeof line, ":%llu", (unsigned long long)site->line);
    return rest[0] == '@' && strncmp(rest + 1, site->file, length) == 0 &&
           strcmp(rest + 1 + length, line) == 0;
}

/* The site that a word names; WHATIF_NONE, with a message: none, or several. */
static uint32_t named_site(const whatif_loop *l, const char *word)
{
    uint32_t found = WHATIF_NONE;
    nearest search = nearest_begin(word, strlen(word));
    for (size_t i = 0; i < l->site_count; i++) {
        const whatif_site *site = &l->sites[i];
        size_t length = strlen(site->name);
        bool same = strncmp(site->name, word, length) == 0 &&
                    (word[length] == '\0' || is_place(site, word + length));
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

/* false, with a message. */
static bool take_change(const whatif_loop *l, const whatif_words *w, whatif_change *c)
{
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
        const site_words *site = &w->sites[i];
        if (site->factor == 0 && w->moved_ns > 0) {
            (void)snprintf(part, sizeof part, "%.100s costs the loop nothing, and what it belongs "
                           "to finishes %.6g ms later", site->name, (double)w->moved_ns / 1e6);
        } else {
            (void)snprintf(part, sizeof part, "%.100s takes %.4g times as long", site->name,
                           site->factor);
        }
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

/* >>whatif */

static void view_of(const whatif_words *w, const char *change, whatif_view *v)
{
    memset(v, 0, sizeof *v);
    v->columns = w->columns > 0 ? (unsigned)w->columns : terminal_columns(stdout);
    v->ascii = ascii_wanted(w->ascii);
    v->color = color_wanted(w->color, stdout);
    v->rows = w->rows;
    v->change = change;
}

static int show(const whatif_study *s, const whatif_words *w, const whatif_answer *a)
{
    char change[400];
    whatif_view v;
    change_in_words(w, change, sizeof change);
    view_of(w, change, &v);
    if (w->json) {
        whatif_json(s, a, stdout);
    } else {
        whatif_text(s, a, &v, stdout);
    }
    if (!s->fits) {
        tool_message("%s: %s", s->l->source, s->reason);
    }
    return s->fits ? TOOL_OK : TOOL_NO_FIT;
}

static int whatif_of(whatif_loop *l, const whatif_words *w)
{
    static whatif_study s;
    whatif_answer a;
    whatif_change change;
    size_t placements = w->placements > 0 ? w->placements : WHATIF_PLACEMENTS;
    bool ok = whatif_change_open(&change, l);
    int result = ok && !take_change(l, w, &change) ? TOOL_USAGE : TOOL_INPUT;
    if (result == TOOL_USAGE) {
        whatif_change_close(&change);
        return result;
    }
    ok = whatif_answer_open(&a, l) && ok;
    ok = whatif_study_open(&s, l, placements) && ok && whatif_ask(&s, &change, &a);
    if (ok) {
        result = show(&s, w, &a);
    } else {
        tool_message("%s: not enough memory", l->source);
    }
    whatif_study_close(&s);
    whatif_answer_close(&a);
    whatif_change_close(&change);
    return result;
}

static int by_worth(const void *a, const void *b)
{
    const gain *x = (const gain *)a;
    const gain *y = (const gain *)b;
    return x->worth > y->worth ? -1 : x->worth < y->worth ? 1 : x->site < y->site ? -1 : 1;
}

/* false: no memory. */
static bool rank_sites(whatif_study *s, double factor, gain_list *list)
{
    uint32_t sites[GAIN_SITES];
    size_t count = gain_candidates(s->l, sites, GAIN_SITES);
    whatif_change change;
    whatif_answer a;
    bool ok = whatif_change_open(&change, s->l);
    ok = whatif_answer_open(&a, s->l) && ok;
    list->factor = factor;
    for (size_t i = 0; ok && s->fits && i < count; i++) {
        ok = gain_of(s, &change, &a, sites[i], factor, &list->rows[list->count++]);
    }
    qsort(list->rows, list->count, sizeof *list->rows, by_worth);
    whatif_answer_close(&a);
    whatif_change_close(&change);
    return ok;
}

static int show_all(const whatif_study *s, const whatif_words *w, const gain_list *list)
{
    whatif_view v;
    view_of(w, "", &v);
    if (w->json) {
        whatif_json_all(s, list, stdout);
    } else {
        whatif_text_all(s, list, &v, stdout);
    }
    if (!s->fits) {
        tool_message("%s: %s", s->l->source, s->reason);
    }
    return s->fits ? TOOL_OK : TOOL_NO_FIT;
}

static int whatif_all(whatif_loop *l, const whatif_words *w)
{
    static whatif_study s;
    static gain_list list;
    size_t placements = w->placements > 0 ? w->placements : GAIN_PLACEMENTS;
    int result = TOOL_INPUT;
    if (whatif_study_open(&s, l, placements) && rank_sites(&s, w->all_factor, &list)) {
        result = show_all(&s, w, &list);
    } else {
        tool_message("%s: not enough memory", l->source);
    }
    whatif_study_close(&s);
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
        loop.wake_ns = w->wake_ns;
        result = w->all ? whatif_all(&loop, w) : whatif_of(&loop, w);
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
    w.all_factor = 0.5;
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
    if (w.all && (w.site_count > 0 || w.split_ns > 0 || w.moved_ns > 0 || w.order != NULL ||
                  w.load < 1 || w.load > 1)) {
        tool_line("chroprof whatif: --all changes one site at a time, and nothing else (see: "
                  "chroprof whatif --help)");
        return TOOL_USAGE;
    }
    return whatif_file(&w);
}

const tool_command whatif_command = {
    "whatif", "IN [--site NAME --factor F]... [options]", { "IN" },
    "Tells what a change would bring: latency and load after it.",
    whatif_text_of_help, OPTIONS_OF(whatif_options), whatif_run
};
