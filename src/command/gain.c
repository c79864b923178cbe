/* gain.c - see gain.h */

#include "gain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "numbers.h"

#define STEPS_MOST 65536u      /* that a report looks at */
#define STEPS_OF_TOP 16384u    /* it looks again and again */
#define STEPS_OF_TABLE 16384u  /* it has many answers */
#define LEAST_SHARE 0.02       /* of the loop's work: what is below brings little */
#define FINDINGS_MOST 4u

/* >>gain study */

bool gain_open(gain_study *g, const profile_text *p, size_t steps)
{
    profile_text newest = *p;
    timeline last;
    size_t older;
    memset(g, 0, sizeof *g);
    newest.view = NULL;                     /* JSON has more steps than are looked at */
    if (p->timeline.length == 0 || !timeline_open(&g->ring, &newest) || g->ring.count == 0) {
        return false;
    }
    last = g->ring;
    older = last.count > steps ? last.count - steps : 0;
    last.steps += older;
    last.count -= older;
    return whatif_read(&g->loop, &last, p) &&
           whatif_study_open(&g->study, &g->loop, GAIN_PLACEMENTS) && g->study.fits &&
           whatif_change_open(&g->change, &g->loop) && whatif_answer_open(&g->answer, &g->loop);
}

void gain_close(gain_study *g)
{
    whatif_answer_close(&g->answer);
    whatif_change_close(&g->change);
    whatif_study_close(&g->study);
    whatif_free(&g->loop);
    timeline_close(&g->ring);
}

/* >>gain of one site */

/* The kind whose p99 falls by the largest part, if the whole range is below what it was. */
static void best_kind(const whatif_study *s, const whatif_answer *a, gain *g)
{
    double best = 0.05;
    for (uint32_t k = 0; k < s->l->site_count; k++) {
        const kind_figures *was = &s->before.kinds[k], *is = &a->after.kinds[k];
        if (was->count >= WHATIF_FEWEST && was->p99 > 0 && a->high.kinds[k].p99 < was->p99 &&
            1 - is->p99 / was->p99 > best) {
            best = 1 - is->p99 / was->p99;
            g->kind = k;
            g->p99_before = was->p99;
            g->p99_after = is->p99;
        }
    }
}

static double worth_of(const whatif_study *s, const whatif_answer *a)
{
    double before = 0, after = 0;
    for (size_t k = 0; k < s->l->site_count; k++) {
        const kind_figures *was = &s->before.kinds[k];
        if (was->count >= WHATIF_FEWEST) {
            before += was->count * was->p99;
            after += was->count * a->after.kinds[k].p99;
        }
    }
    return before > 0 ? 1 - after / before : 0;
}

bool gain_of(whatif_study *s, whatif_change *change, whatif_answer *a, uint32_t site, double factor,
             gain *out)
{
    bool ok;
    memset(out, 0, sizeof *out);
    change->factor[site] = factor;
    change->moved[site] = factor == 0;
    ok = whatif_ask(s, change, a);
    change->factor[site] = 1;
    change->moved[site] = false;
    out->site = site;
    out->kind = WHATIF_NONE;
    out->full_before = s->before.saturates_at;
    out->full_after = a->after.saturates_at;
    out->worth = worth_of(s, a);
    best_kind(s, a, out);
    return ok;
}

size_t gain_candidates(const whatif_loop *l, uint32_t *sites, size_t room)
{
    uint64_t all = 0;
    size_t count = 0;
    for (size_t i = 0; i < l->site_count; i++) {
        all += l->sites[i].exec_ns;
    }
    for (uint32_t i = 0; i < l->site_count; i++) {
        uint64_t ns = l->sites[i].exec_ns;
        size_t k = count < room ? count : room;
        if ((double)ns < LEAST_SHARE * (double)all || ns == 0) {
            continue;
        }
        for (; k > 0 && l->sites[sites[k - 1]].exec_ns < ns; k--) {
            if (k < room) {
                sites[k] = sites[k - 1];
            }
        }
        if (k < room) {
            sites[k] = i;
        }
        count += count < room;
    }
    return count;
}

void gain_words(const sheet *s, const whatif_loop *l, const gain *g, char *out, size_t size)
{
    size_t used;
    out[0] = '\0';
    if (g->kind != WHATIF_NONE) {
        (void)snprintf(out, size, "p99 of %.60s %s to %s", l->sites[g->kind].name,
                       figure_time(s, (uint64_t)g->p99_before).text,
                       figure_time(s, (uint64_t)g->p99_after).text);
    }
    used = strlen(out);
    if (!l->closed && g->full_after > 1.05 * g->full_before && used + 40 < size) {
        (void)snprintf(out + used, size - used, "%sroom for %.2g times the load",
                       used > 0 ? ", " : "", lesser(g->full_after, 99));
    }
}

/* >>gain findings: the sites that the first findings are about */

typedef struct told_site {
    uint64_t id;
    json_text finding;
    uint32_t site;             /* of the loop */
} told_site;

typedef struct told_sites {
    const whatif_loop *l;
    told_site rows[FINDINGS_MOST];
    size_t count;
} told_sites;

static bool take_finding(void *user, json_reader *r)
{
    told_sites *t = (told_sites *)user;
    told_site row = { 0, { "", 0 }, WHATIF_NONE };
    const json_field fields[] = { JSON_TEXT("kind", &row.finding), JSON_NUMBER("site", &row.id) };
    bool known = false;
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    for (size_t i = 0; i < t->count; i++) {
        known = known || t->rows[i].id == row.id;
    }
    if (!known && t->count < FINDINGS_MOST && row.id != 0 &&
        (json_is(row.finding, "occupies") || json_is(row.finding, "delays"))) {
        t->rows[t->count++] = row;
    }
    return true;
}

static bool is_site(const whatif_site *site, json_text name, json_text file, uint64_t line)
{
    char *plain = json_plain(name), *place = json_plain(file);
    bool same = plain != NULL && place != NULL && strcmp(site->name, plain) == 0 &&
                strcmp(site->file, place) == 0 && site->line == line;
    free(plain);
    free(place);
    return same;
}

static bool take_site(void *user, json_reader *r)
{
    told_sites *t = (told_sites *)user;
    json_text name = { "", 0 }, file = { "", 0 };
    uint64_t line = 0, id = 0;
    const json_field fields[] = {
        JSON_TEXT("name", &name), JSON_TEXT("file", &file), JSON_NUMBER("line", &line),
        JSON_NUMBER("id", &id)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    for (size_t i = 0; i < t->count; i++) {
        for (uint32_t k = 0; t->rows[i].id == id && k < t->l->site_count; k++) {
            t->rows[i].site = is_site(&t->l->sites[k], name, file, line) ? k : t->rows[i].site;
        }
    }
    return true;
}

static bool find_told(told_sites *t, const whatif_loop *l, const profile_text *p)
{
    memset(t, 0, sizeof *t);
    t->l = l;
    return json_each(&p->reader, p->findings, take_finding, t) &&
           (t->count == 0 || json_each(&p->reader, p->sites, take_site, t));
}

/* >>gain text */

enum { FINISHED = 9, HIDDEN = 19, P50 = 29, P99 = 39, SEEN_P50 = 51, SEEN_P99 = 61, NAMES = 63,
       NARROW_NAMES = 41 };

/* Kinds of enough finishes, the most frequent first. */
static uint32_t next_kind(const whatif_study *s, uint32_t last)
{
    const kind_figures *kinds = s->before.kinds;
    uint32_t best = WHATIF_NONE;
    for (uint32_t k = 0; k < s->l->site_count; k++) {
        double count = kinds[k].count;
        bool later = last == WHATIF_NONE || count < kinds[last].count ||
                     (count >= kinds[last].count && count <= kinds[last].count && k > last);
        if (count >= WHATIF_FEWEST && later && (best == WHATIF_NONE || count > kinds[best].count)) {
            best = k;
        }
    }
    return best;
}

static void put_heads(sheet *s, const gain_study *g, bool wide)
{
    char text[160];
    sheet_newline(s);
    sheet_styled(s, SHEET_BOLD, "CLIENTS");
    (void)snprintf(text, sizeof text, "  latency as they saw it, from the arrival on: estimates, "
                   "from the last %s",
                   figure_time(s, g->loop.end_ns - g->loop.begin_ns).text);
    sheet_flow(s, text, 9);
    sheet_newline(s);
    sheet_style(s, SHEET_DIM);
    sheet_right(s, "mean", HIDDEN);
    if (wide) {
        sheet_right(s, "from poll", SEEN_P50);
        sheet_right(s, "from poll", SEEN_P99);
    }
    sheet_newline(s);
    sheet_right(s, "finished", FINISHED);
    sheet_right(s, "hidden", HIDDEN);
    sheet_right(s, "p50", P50);
    sheet_right(s, "p99", P99);
    if (wide) {
        sheet_right(s, "p50", SEEN_P50);
        sheet_right(s, "p99", SEEN_P99);
    }
    sheet_blank_to(s, wide ? NAMES : NARROW_NAMES);
    sheet_text(s, "site");
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static void put_kind(sheet *s, const gain_study *g, uint32_t kind, bool wide)
{
    const kind_figures *k = &g->study.before.kinds[kind];
    const kind_figures *was = &g->study.measured[kind];
    sheet_right(s, figure_count(k->count).text, FINISHED);
    sheet_right(s, figure_time(s, (uint64_t)k->hidden).text, HIDDEN);
    sheet_right(s, figure_time(s, (uint64_t)k->p50).text, P50);
    sheet_right(s, figure_time(s, (uint64_t)k->p99).text, P99);
    if (wide) {
        sheet_right(s, figure_time(s, (uint64_t)was->seen_p50).text, SEEN_P50);
        sheet_right(s, figure_time(s, (uint64_t)was->seen_p99).text, SEEN_P99);
    }
    sheet_blank_to(s, wide ? NAMES : NARROW_NAMES);
    sheet_cut(s, g->loop.sites[kind].name, s->columns - (wide ? NAMES : NARROW_NAMES));
    sheet_newline(s);
}

static bool put_told(sheet *s, gain_study *g, const profile_text *p)
{
    told_sites told;
    bool ok = find_told(&told, &g->loop, p);
    for (size_t i = 0; ok && i < told.count; i++) {
        char words[200], text[400];
        gain found;
        if (told.rows[i].site == WHATIF_NONE) {
            continue;
        }
        ok = gain_of(&g->study, &g->change, &g->answer, told.rows[i].site, 0.5, &found);
        gain_words(s, &g->loop, &found, words, sizeof words);
        if (ok && words[0] != '\0') {
            (void)snprintf(text, sizeof text, "With %.60s half as long: %s (estimate).",
                           g->loop.sites[found.site].name, words);
            sheet_flow(s, text, 0);
            sheet_newline(s);
        }
    }
    return ok;
}

bool gain_text(sheet *s, const profile_text *p)
{
    gain_study *g = (gain_study *)malloc(sizeof *g);
    bool ok = g != NULL, wide = s->columns >= 76;
    s->end = "\n";
    if (ok && gain_open(g, p, STEPS_MOST)) {
        put_heads(s, g, wide);
        for (uint32_t k = next_kind(&g->study, WHATIF_NONE); k != WHATIF_NONE;
             k = next_kind(&g->study, k)) {
            put_kind(s, g, k, wide);
        }
        ok = put_told(s, g, p);
    }
    if (g != NULL) {
        gain_close(g);
    }
    free(g);
    return ok;
}

bool gain_of_kind(const profile_text *p, const char *name, const char *file, uint64_t line,
                  kind_figures *k, uint64_t *of_ns)
{
    gain_study *g = (gain_study *)malloc(sizeof *g);
    bool known = false;
    if (g != NULL && gain_open(g, p, STEPS_OF_TOP)) {
        for (size_t i = 0; i < g->loop.site_count; i++) {
            const whatif_site *site = &g->loop.sites[i];
            if (g->study.before.kinds[i].count >= WHATIF_FEWEST && site->line == line &&
                strcmp(site->name, name) == 0 && strcmp(site->file, file) == 0) {
                *k = g->study.before.kinds[i];
                *of_ns = g->loop.end_ns - g->loop.begin_ns;
                known = true;
            }
        }
    }
    if (g != NULL) {
        gain_close(g);
    }
    free(g);
    return known;
}

/* >>gain JSON */

static void json_site(const whatif_site *site, FILE *out)
{
    (void)fputs("{\"name\":", out);
    json_put(out, site->name);
    (void)fputs(",\"file\":", out);
    json_put(out, site->file);
    (void)fprintf(out, ",\"line\":%" PRIu64, site->line);
}

static void json_kinds(const gain_study *g, FILE *out)
{
    const char *comma = "";
    for (uint32_t k = next_kind(&g->study, WHATIF_NONE); k != WHATIF_NONE;
         k = next_kind(&g->study, k)) {
        const kind_figures *f = &g->study.before.kinds[k], *was = &g->study.measured[k];
        (void)fprintf(out, "%s\n", comma);
        json_site(&g->loop.sites[k], out);
        (void)fprintf(out, ",\"count\":%.0f,\"hidden_ns\":%.0f,\"latency_p50_ns\":%.0f,"
                      "\"latency_p99_ns\":%.0f,\"measured_p50_ns\":%.0f,\"measured_p99_ns\":%.0f}",
                      f->count, f->hidden, f->p50, f->p99, was->seen_p50, was->seen_p99);
        comma = ",";
    }
}

static bool json_gains(gain_study *g, const profile_text *p, FILE *out)
{
    told_sites told;
    const char *comma = "";
    const sheet plain = { NULL, 0, 0, 0, 0, 80, false, false, "" };
    bool ok = find_told(&told, &g->loop, p);
    for (size_t i = 0; ok && i < told.count; i++) {
        char words[200];
        gain found;
        if (told.rows[i].site == WHATIF_NONE) {
            continue;
        }
        ok = gain_of(&g->study, &g->change, &g->answer, told.rows[i].site, 0.5, &found);
        gain_words(&plain, &g->loop, &found, words, sizeof words);
        if (!ok || words[0] == '\0') {
            continue;
        }
        (void)fprintf(out, "%s\n", comma);
        json_site(&g->loop.sites[found.site], out);
        (void)fprintf(out, ",\"finding\":\"%.*s\",\"factor_ppm\":500000,\"full_before_ppm\":%.0f,"
                      "\"full_after_ppm\":%.0f,\"text\":", (int)told.rows[i].finding.length,
                      told.rows[i].finding.bytes, 1e6 * found.full_before, 1e6 * found.full_after);
        json_put(out, words);
        (void)fputc('}', out);
        comma = ",";
    }
    return ok;
}

/* >>gain table: answers for a page with sliders */

enum { TABLE_SITES = 3, TABLE_KINDS = 6 };
static const double table_factors[] = { 0, 0.25, 0.5, 0.75 };
static const double table_loads[] = { 1, 1.25, 1.5, 2 };

static void json_range(const char *key, double value, double low, double high, FILE *out)
{
    (void)fprintf(out, "\"%s\":%.0f,\"low_%s\":%.0f,\"high_%s\":%.0f", key, value, key, low, key,
                  high);
}

/* site: from 1 on, of the list of changed ones; 0: none. */
static bool json_answer(gain_study *g, size_t site, double factor, double load, FILE *out)
{
    const whatif_answer *a = &g->answer;
    const char *comma = "";
    uint32_t k = next_kind(&g->study, WHATIF_NONE);
    g->change.load = load;
    if (!whatif_ask(&g->study, &g->change, &g->answer)) {
        return false;
    }
    (void)fprintf(out, "{\"site\":%zu,\"factor_ppm\":%.0f,\"load_ppm\":%.0f,\"over\":%s,"
                  "\"utilization_ppm\":%.0f,\"full_ppm\":%.0f,\"kinds\":[", site, 1e6 * factor,
                  1e6 * load, a->full ? "true" : "false", 1e6 * a->after.utilization,
                  1e6 * a->after.saturates_at);
    for (size_t n = 0; n < TABLE_KINDS && k != WHATIF_NONE; k = next_kind(&g->study, k), n++) {
        const kind_figures *f = &a->after.kinds[k];
        (void)fprintf(out, "%s{", comma);
        json_range("latency_p50_ns", f->p50, a->low.kinds[k].p50, a->high.kinds[k].p50, out);
        (void)fputc(',', out);
        json_range("latency_p99_ns", f->p99, a->low.kinds[k].p99, a->high.kinds[k].p99, out);
        (void)fputc('}', out);
        comma = ",";
    }
    (void)fputs("]}", out);
    return true;
}

static bool json_answers(gain_study *g, size_t number, uint32_t site, FILE *out)
{
    size_t factors = sizeof table_factors / sizeof table_factors[0];
    size_t loads = sizeof table_loads / sizeof table_loads[0];
    bool ok = true;
    for (size_t f = 0; f < (number > 0 ? factors : 1); f++) {
        double factor = number > 0 ? table_factors[f] : 1;
        for (size_t n = 0; ok && n < loads; n++) {
            if (number > 0) {
                g->change.factor[site] = factor;
                g->change.moved[site] = factor == 0;
            }
            (void)fputs(number + f + n > 0 ? ",\n" : "\n", out);
            ok = json_answer(g, number, factor, table_loads[n], out);
        }
    }
    if (number > 0) {
        g->change.factor[site] = 1;
        g->change.moved[site] = false;
    }
    g->change.load = 1;
    return ok;
}

static bool json_table(gain_study *g, FILE *out)
{
    uint32_t sites[TABLE_SITES];
    size_t count = gain_candidates(&g->loop, sites, TABLE_SITES);
    bool ok;
    (void)fputs(",\"changed\":[", out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ",\n" : "\n", out);
        json_site(&g->loop.sites[sites[i]], out);
        (void)fputc('}', out);
    }
    (void)fputs("\n],\"answers\":[", out);
    ok = json_answers(g, 0, 0, out);
    for (size_t i = 0; ok && i < count; i++) {
        ok = json_answers(g, i + 1, sites[i], out);
    }
    (void)fputs("\n]", out);
    return ok;
}

/* >>gain JSON whole */

/* false: nothing was written. */
static bool json_all(const profile_text *p, bool table, FILE *out)
{
    gain_study *g = (gain_study *)malloc(sizeof *g);
    bool known = g != NULL && gain_open(g, p, table ? STEPS_OF_TABLE : STEPS_MOST);
    if (known) {
        (void)fprintf(out, ",\n\"clients\":{\"estimate\":true,\"of_ns\":%" PRIu64
                      ",\"deviation_ppm\":%.0f,\"model\":\"%s\",\"full_ppm\":%.0f,\"kinds\":[",
                      g->loop.end_ns - g->loop.begin_ns, 1e6 * g->study.deviation,
                      g->loop.closed ? "closed" : "open", 1e6 * g->study.before.saturates_at);
        json_kinds(g, out);
        (void)fputs("\n],\"gains\":[", out);
        known = json_gains(g, p, out);
        (void)fputs("\n]", out);
        known = known && (!table || json_table(g, out));
        (void)fputs("}\n}\n", out);
    }
    if (g != NULL) {
        gain_close(g);
    }
    free(g);
    return known;
}

/* What an earlier command added, with the comma before it. */
static void cut_clients(profile_text *p)
{
    size_t from = (size_t)(p->clients.bytes - p->bytes.bytes), end = from + p->clients.length;
    while (from > 0 && p->bytes.bytes[from] != ',') {
        from--;
    }
    if (from > 0) {
        memmove(p->bytes.bytes + from, p->bytes.bytes + end, p->bytes.used - end);
        p->bytes.used -= end - from;
        p->clients.length = 0;
    }
}

/* In place of the brace that ends the profile. */
static bool add_behind(profile_text *p, const char *bytes, size_t count)
{
    size_t end = p->bytes.used;
    while (end > 0 && p->bytes.bytes[end - 1] != '}') {
        end--;
    }
    end -= end > 0;
    while (end > 0 && strchr(" \n\r\t", p->bytes.bytes[end - 1]) != NULL) {
        end--;
    }
    p->bytes.used = end;
    return buffer_add(&p->bytes, bytes, count) == 0 && profile_check(p);
}

bool gain_add(profile_text *p, bool table)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *out;
    bool known, ok;
    if ((p->clients.length > 0 && !table) || p->timeline.length == 0) {
        return true;
    }
    out = open_memstream(&bytes, &count);
    known = out != NULL && json_all(p, table, out);
    ok = out != NULL && fclose(out) == 0;
    if (ok && known && p->clients.length > 0) {
        cut_clients(p);
    }
    ok = ok && (!known || p->clients.length > 0 || add_behind(p, bytes, count));
    free(bytes);
    if (!ok) {
        tool_message("%s: not enough memory for what its clients saw", p->source);
    }
    return ok;
}
