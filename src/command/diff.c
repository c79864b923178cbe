/* diff.c - chroprof diff: what changed between two profiles, what of it is more than noise, and
 * whether it got worse, for people and for build servers. difference.h does the reckoning. */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "diff.h"
#include "message.h"
#include "numbers.h"
#include "options.h"
#include "sheet.h"
#include "terminal.h"
#include "values.h"

/* Its own exit codes: 1 is an answer. */
enum { DIFF_SAME = 0, DIFF_FAILS = 1, DIFF_TROUBLE = 2, DIFF_BLIND = 3 };

typedef struct diff {
    const char *sources[2];
    uint64_t fail_above;       /* tenths of a percent; UINT64_MAX: nothing fails */
    bool json, ascii, absolute;
    int color;
    uint64_t columns, most;
    FILE *out;                 /* of the text */
    diff_profile *both;        /* two of them */
    diff_noise noise[DIFF_MEASURES];
    diff_table sites, paths;
    double detects;            /* smallest factor that this comparison can detect; 0: none */
    int code;                  /* to exit with */
    sheet sheet;
} diff;

static const char *const diff_measures[DIFF_MEASURES] = { "call", "slice", "shortest", "p50", "p90",
                                                         "p99", "rate", "latency", "blame" };
static const char *const diff_verdicts[] = { "alike", "worse", "better", "new", "gone" };

/* >>diff findings: what changed, in sentences, the most important first */

/* x1.22; a dash where it is not known. */
static figure figure_factor(bool known, double change)
{
    figure f;
    double factor = exponential(change);
    int decimals = factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0;
    if (!known) {
        (void)snprintf(f.text, sizeof f.text, "-");
    } else if (factor >= 1e5) {
        (void)snprintf(f.text, sizeof f.text, "x%.0e", factor);
    } else {
        (void)snprintf(f.text, sizeof f.text, "x%.*f", decimals, factor);
    }
    return f;
}

static uint64_t mean_of(uint64_t sum, uint64_t count)
{
    return count > 0 ? sum / count : 0;
}

static size_t diff_count(const diff_table *table, diff_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        count += table->rows[i].verdict == verdict;
    }
    return count;
}

enum { DIFF_SENTENCE = 400, DIFF_SENTENCES = 6 };

/* A name, cut between characters if it is long. */
static int diff_name_bytes(const char *name)
{
    int count = 0;
    while (name[count] != '\0' && count < 80) {
        count++;
    }
    while (count > 0 && ((unsigned char)name[count] & 0xC0) == 0x80) {
        count--;
    }
    return count;
}

/* "site", or of a path "parent > site". */
static size_t diff_subject(const diff_row *row, char *text)
{
    int used = 0;
    if (row->parent != NULL) {
        used = snprintf(text, DIFF_SENTENCE, "%.*s > ", diff_name_bytes(row->parent->name),
                        row->parent->name);
    }
    used += snprintf(text + used, (size_t)(DIFF_SENTENCE - used), "%.*s ",
                     diff_name_bytes(row->name), row->name);
    return (size_t)used;
}

/* The measure that a row's sentence is about: the first of these that changed its way. */
static int diff_headline(const diff_row *row)
{
    static const int order[] = { DIFF_CALL, DIFF_P50, DIFF_SLICE, DIFF_MIN, DIFF_P90, DIFF_RATE,
                                 DIFF_LATENCY, DIFF_P99 };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const diff_change *c = &row->changes[order[i]];
        if (c->beyond && (c->change > 0) == (row->verdict == DIFF_WORSE)) {
            return order[i];
        }
    }
    return DIFF_CALL;
}

/* A measure as it was read, in B (1) or A (0). */
static figure diff_reading(const diff *d, const diff_row *row, int measure, int k)
{
    const diff_side *s = &row->side[k];
    uint64_t calls = counts_calls(row) ? s->calls - s->live : s->slices;
    switch (measure) {
    case DIFF_CALL: return figure_time(&d->sheet, mean_of(s->exec_ns, calls));
    case DIFF_SLICE: return figure_time(&d->sheet, mean_of(s->exec_ns, s->slices));
    case DIFF_MIN: return figure_time(&d->sheet, s->min_ns);
    case DIFF_P50: return figure_time(&d->sheet, s->p50_ns);
    case DIFF_P90: return figure_time(&d->sheet, s->p90_ns);
    case DIFF_P99: return figure_time(&d->sheet, s->p99_ns);
    case DIFF_LATENCY: return figure_time(&d->sheet, s->latency_p50_ns);
    default:
        return figure_count(1e9 * (double)calls / greater(1, (double)d->both[k].elapsed_ns));
    }
}

/* What follows the site's name: words, the factor, words, B's reading, A's. The factor is without
 * what all sites share; where that matters, the readings need a word about it. */
static void diff_change_sentence(const diff *d, const diff_row *row, char *text, size_t room)
{
    static const char *const words[DIFF_MEASURES][3] = {
        { "takes", "as long per call", "" }, { "takes", "as long per slice", "" },
        { "takes", "as long per slice", "shortest " }, { "takes", "as long per slice", "p50 " },
        { "takes", "as long per slice", "p90 " },
        { "takes", "as long in its slowest 1% of slices", "p99 " },
        { "runs", "as often", "per second " }, { "takes", "as long to finish", "p50 " },
        { "", "", "" }
    };
    int measure = diff_headline(row);
    int shown = measure;
    const diff_change *c = &row->changes[measure];
    if (measure == DIFF_CALL && row->side[1].p50_ns > 0 && row->side[0].p50_ns > 0 &&
        (!counts_calls(row) || row->side[1].slices < 2 * row->side[1].calls)) {
        shown = DIFF_P50;                  /* a call is a slice */
    }
    (void)snprintf(text, room, "%s %.2f times %s%s: %s%s, was %s (spread %.0f%%).",
                   words[measure][0], exponential(c->change), words[measure][1],
                   absolute(c->raw - c->change) > DIFF_BUCKET ? ", relative to the other sites" : "",
                   words[shown][2], diff_reading(d, row, shown, 1).text,
                   diff_reading(d, row, shown, 0).text, 100 * (exponential(c->noise) - 1));
}

static void diff_row_sentence(const diff *d, const diff_row *row, char *text)
{
    size_t used = diff_subject(row, text);
    char *rest = text + used;
    size_t room = DIFF_SENTENCE - used;
    switch (row->verdict) {
    case DIFF_NEW:
        (void)snprintf(rest, room, "is new and takes %s of the loop.",
                       figure_percent(share_in(row, 1, d->both)).text);
        break;
    case DIFF_GONE:
        (void)snprintf(rest, room, "is gone; it took %s of the loop.",
                       figure_percent(share_in(row, 0, d->both)).text);
        break;
    default: diff_change_sentence(d, row, rest, room);
    }
}

typedef struct diff_findings {
    char text[DIFF_SENTENCES + 4][DIFF_SENTENCE];
    size_t count;
} diff_findings;

static void diff_add_rows(const diff *d, const diff_table *table, diff_verdict verdict,
                          diff_findings *f)
{
    for (size_t i = 0; i < table->count && f->count < DIFF_SENTENCES; i++) {
        if (table->rows[i].verdict == verdict) {
            diff_row_sentence(d, &table->rows[i], f->text[f->count++]);
        }
    }
}

static void diff_add_limits(const diff *d, size_t worse, diff_findings *f)
{
    if (worse == 0) {
        (void)snprintf(f->text[f->count++], DIFF_SENTENCE, "No site got worse beyond noise.");
    } else if (worse > DIFF_SENTENCES) {
        (void)snprintf(f->text[f->count++], DIFF_SENTENCE, "%zu sites got worse in total.", worse);
    }
    (void)snprintf(f->text[f->count++], DIFF_SENTENCE, d->detects > 0 ?
                   "The smallest change in time per call that this comparison can detect: %s." :
                   "There are too few slices in both profiles to compare.",
                   figure_factor(d->detects > 0, logarithm(greater(d->detects, 1))).text);
}

static void diff_find(const diff *d, diff_findings *f)
{
    size_t worse = diff_count(&d->sites, DIFF_WORSE);
    f->count = 0;
    if (d->code == DIFF_BLIND) {
        (void)snprintf(f->text[f->count++], DIFF_SENTENCE, "This comparison cannot tell whether a "
                       "site takes %g%% longer per call: take longer runs on a quieter machine.",
                       (double)d->fail_above / 10);
    }
    diff_add_rows(d, &d->sites, DIFF_WORSE, f);
    if (worse == 0) {
        diff_add_rows(d, &d->paths, DIFF_WORSE, f);
    }
    diff_add_rows(d, &d->sites, DIFF_NEW, f);
    diff_add_limits(d, worse, f);
    diff_add_rows(d, &d->sites, DIFF_BETTER, f);
    diff_add_rows(d, &d->sites, DIFF_GONE, f);
}

/* >>diff text */

/* A sentence, in as many lines as it needs. */
static void diff_sentence(sheet *s, const char *text)
{
    char word[DIFF_SENTENCE];
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        memcpy(word, text, length);
        word[length] = '\0';
        if (s->column > 0 && s->column + 1 + text_width(word) > s->columns) {
            sheet_newline(s);
            s->blanks = 1;
        }
        s->blanks += s->column > 0 || s->blanks > 0;
        sheet_text(s, word);
        text += length + (text[length] == ' ');
    }
    sheet_newline(s);
}

static void diff_sentences(diff *d)
{
    diff_findings f;
    diff_find(d, &f);
    for (size_t i = 0; i < f.count; i++) {
        diff_sentence(&d->sheet, f.text[i]);
    }
    sheet_newline(&d->sheet);
}

static void diff_profile_line(diff *d, int side)
{
    const diff_profile *p = &d->both[side];
    sheet *s = &d->sheet;
    const char *slash = strrchr(p->source, '/');
    sheet_styled(s, SHEET_BOLD, side == 0 ? "A  " : "B  ");
    sheet_cut(s, slash != NULL ? slash + 1 : p->source, 24);
    s->blanks += 2;
    sheet_cut(s, p->name, 24);
    sheet_text(s, "  over ");
    sheet_text(s, figure_time(s, p->elapsed_ns).text);
    sheet_text(s, "  busy ");
    sheet_text(s, figure_percent(share_of(p->busy_ns, p->elapsed_ns)).text);
    sheet_text(s, "  iteration p99 ");
    sheet_text(s, figure_time(s, p->iteration_p99_ns).text);
    sheet_newline(s);
}

/* What all sites share. */
static void diff_noise_line(diff *d)
{
    const diff_noise *slice = &d->noise[DIFF_SLICE];
    const diff_noise *rate = &d->noise[DIFF_RATE];
    sheet *s = &d->sheet;
    char text[200];
    if (slice->rows < DIFF_LEAST_ROWS) {
        (void)snprintf(text, sizeof text, "%zu sites to compare: too few to know what the machine "
                       "changed", slice->rows);
    } else if (d->absolute) {
        (void)snprintf(text, sizeof text, "changes as measured: nothing is subtracted for the "
                       "machine");
    } else {
        (void)snprintf(text, sizeof text, "all sites: slices %s as long, %s as many (medians of %zu "
                       "sites, subtracted)", figure_factor(true, slice->common).text,
                       figure_factor(true, rate->common).text, slice->rows);
    }
    sheet_text(s, text);
    sheet_newline(s);
}

/* Columns behind the name; those at the end go first if there is no room. */
typedef struct diff_column {
    const char *title;
    unsigned width;
    int measure;               /* DIFF_MEASURES: none */
} diff_column;

static const diff_column diff_columns[] = {
    { "loop A", 8, DIFF_MEASURES }, { "loop B", 8, DIFF_MEASURES }, { "points", 8, DIFF_MEASURES },
    { "slice A", 9, DIFF_MEASURES }, { "slice B", 9, DIFF_MEASURES }, { "per call", 9, DIFF_CALL },
    { "p50", 8, DIFF_P50 }, { "p90", 8, DIFF_P90 }, { "p99", 8, DIFF_P99 },
    { "rate", 8, DIFF_RATE }, { "latency", 8, DIFF_LATENCY }, { "slice", 8, DIFF_SLICE },
    { "shortest", 9, DIFF_MIN }, { "blame", 8, DIFF_BLAME }
};
enum { DIFF_COLUMNS = sizeof diff_columns / sizeof diff_columns[0] };

/* How many columns fit, and the width that is left to names. */
static int diff_fit(const diff *d, unsigned *name)
{
    unsigned room = d->sheet.columns;
    unsigned used = 0;
    int count = 0;
    while (count < DIFF_COLUMNS && used + diff_columns[count].width + 16 <= room) {
        used += diff_columns[count++].width;
    }
    *name = room - used;
    return count;
}

static figure diff_cell(const diff *d, const diff_row *row, int column)
{
    const diff_side *side = &row->side[column == 4];
    const diff_change *change = &row->changes[diff_columns[column].measure % DIFF_MEASURES];
    figure f;
    switch (column) {
    case 0: case 1: return figure_percent(share_in(row, column, d->both));
    case 2:
        (void)snprintf(f.text, sizeof f.text, "%+.1f",
                       share_in(row, 1, d->both) - share_in(row, 0, d->both));
        return f;
    case 3: case 4: return figure_time(&d->sheet, mean_of(side->exec_ns, side->slices));
    default: return figure_factor(change->known, change->change);
    }
}

static const char *diff_style(const diff_row *row, int column)
{
    int measure = diff_columns[column].measure;
    if (measure == DIFF_MEASURES || !row->changes[measure].beyond) {
        return SHEET_PLAIN;
    }
    return row->changes[measure].change > 0 ? SHEET_HOT : SHEET_GOOD;
}

static bool diff_beyond(const diff_row *row, int column)
{
    return strcmp(diff_style(row, column), SHEET_PLAIN) != 0;
}

/* A chain of sites, as much of its end as fits. */
static void diff_chain(sheet *s, const diff_row *row, unsigned width)
{
    const diff_row *chain[64];
    unsigned used = text_width(row->name);
    size_t count = 1;
    chain[0] = row;
    while (row->parent != NULL && count < 64 &&
           used + text_width(row->parent->name) + (row->parent->parent != NULL ? 6 : 3) <= width) {
        row = row->parent;
        used += text_width(row->name) + 3;
        chain[count++] = row;
    }
    if (row->parent != NULL && used + 3 <= width) {
        sheet_glyph(s, 0x2026, '~');
        sheet_text(s, " > ");
    }
    while (count-- > 0) {
        sheet_cut(s, chain[count]->name, width);
        if (count > 0) {
            sheet_text(s, " > ");
        }
    }
}

static void diff_name(diff *d, const diff_row *row, unsigned width)
{
    sheet *s = &d->sheet;
    char place[64];
    const char *slash = strrchr(row->file, '/');
    if (row->parent != NULL) {
        diff_chain(s, row, width - 1);
        return;
    }
    sheet_cut(s, row->name, width - 1);
    (void)snprintf(place, sizeof place, "%.40s:%llu", slash != NULL ? slash + 1 : row->file,
                   (unsigned long long)row->line);
    if (*row->file != '\0' && text_width(row->name) + 3 + text_width(place) <= width) {
        s->blanks += 2;
        sheet_styled(s, SHEET_DIM, place);
    }
}

static void diff_line(diff *d, const diff_row *row)
{
    sheet *s = &d->sheet;
    unsigned name;
    int count = diff_fit(d, &name);
    unsigned end = name;
    diff_name(d, row, name);
    for (int i = 0; i < count; i++) {
        figure f = diff_cell(d, row, i);
        end += diff_columns[i].width;
        sheet_style(s, diff_style(row, i));
        sheet_right(s, f.text, end - 1);
        if (diff_beyond(row, i)) {
            sheet_text(s, "!");
        }
        sheet_style(s, SHEET_PLAIN);
    }
    sheet_newline(s);
}

static void diff_header(diff *d, const char *title)
{
    sheet *s = &d->sheet;
    unsigned name;
    int count = diff_fit(d, &name);
    unsigned end = name;
    sheet_newline(s);
    sheet_styled(s, SHEET_BOLD, title);
    sheet_style(s, SHEET_DIM);
    for (int i = 0; i < count; i++) {
        end += diff_columns[i].width;
        sheet_right(s, diff_columns[i].title, end - 1);
    }
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

/* The rows of one verdict; they stand together. */
static void diff_section(diff *d, const diff_table *table, diff_verdict verdict, const char *title)
{
    char text[64];
    size_t shown = 0;
    size_t all = diff_count(table, verdict);
    if (all == 0) {
        return;
    }
    diff_header(d, title);
    for (size_t i = 0; i < table->count && shown < d->most; i++) {
        if (table->rows[i].verdict == verdict) {
            diff_line(d, &table->rows[i]);
            shown++;
        }
    }
    if (shown < all) {
        (void)snprintf(text, sizeof text, "%zu more (see --top)", all - shown);
        sheet_text(&d->sheet, text);
        sheet_newline(&d->sheet);
    }
}

static void diff_sections(diff *d, const diff_table *table, bool paths)
{
    static const diff_verdict verdicts[] = { DIFF_WORSE, DIFF_NEW, DIFF_BETTER, DIFF_GONE,
                                             DIFF_ALIKE };
    static const char *const titles[2][5] = {
        { "WORSE sites", "NEW sites", "BETTER sites", "GONE sites", "within noise" },
        { "WORSE paths", "NEW paths", "BETTER paths", "GONE paths", "within noise" }
    };
    for (int i = 0; i < (paths ? 4 : 5); i++) {
        diff_section(d, table, verdicts[i], titles[paths][i]);
    }
}

static void diff_print(diff *d)
{
    sheet *s = &d->sheet;
    s->columns = d->columns > 0 ? (unsigned)d->columns : terminal_columns(d->out);
    s->ascii = ascii_wanted(d->ascii);
    s->color = color_wanted(d->color, d->out);
    s->end = "\n";
    diff_sentences(d);
    diff_profile_line(d, 0);
    diff_profile_line(d, 1);
    diff_noise_line(d);
    diff_sections(d, &d->sites, false);
    diff_sections(d, &d->paths, true);
    (void)fwrite(s->bytes, 1, s->used, d->out);
}

/* >>diff json */

static void diff_json_profile(const diff_profile *p, const char *key)
{
    (void)printf("\"%s\":{\"source\":", key);
    json_put(stdout, p->source);
    (void)fputs(",\"name\":", stdout);
    json_put(stdout, p->name);
    (void)printf(",\"elapsed_ns\":%llu,\"busy_ns\":%llu,\"iteration_p99_ns\":%llu,"
                 "\"stalls\":%llu},\n",
                 (unsigned long long)p->elapsed_ns, (unsigned long long)p->busy_ns,
                 (unsigned long long)p->iteration_p99_ns, (unsigned long long)p->stalls);
}

static void diff_json_side(const diff_side *s, const char *key)
{
    (void)printf(",\"%s\":{\"exec_ns\":%llu,\"slices\":%llu,\"calls\":%llu,\"slice_p99_ns\":%llu,"
                 "\"slice_max_ns\":%llu,\"delay_ns\":%llu,\"blame_ns\":%llu}", key,
                 (unsigned long long)s->exec_ns, (unsigned long long)s->slices,
                 (unsigned long long)s->calls, (unsigned long long)s->p99_ns,
                 (unsigned long long)s->max_ns, (unsigned long long)s->delay_ns,
                 (unsigned long long)s->blame_ns);
}

/* The chain of a path, the root first; of one that only a forged profile has, the end. */
static void diff_json_chain(const diff_row *row)
{
    const diff_row *chain[512];
    size_t count = 0;
    for (; row != NULL && count < 512; row = row->parent) {
        chain[count++] = row;
    }
    while (count-- > 0) {
        json_put(stdout, chain[count]->name);
        if (count > 0) {
            (void)putchar(',');
        }
    }
}

static void diff_json_changes(const diff_row *row)
{
    bool comma = false;
    (void)fputs(",\"changes\":{", stdout);
    for (int m = 0; m < DIFF_MEASURES; m++) {
        const diff_change *c = &row->changes[m];
        if (c->known) {
            (void)printf("%s\"%s\":{\"factor\":%.6g,\"noise_factor\":%.6g,\"beyond\":%s}",
                         comma ? "," : "", diff_measures[m], exponential(c->change),
                         exponential(DIFF_SIGMAS * c->noise), c->beyond ? "true" : "false");
            comma = true;
        }
    }
    (void)putchar('}');
}

static void diff_json_rows(const diff *d, const diff_table *table, bool paths)
{
    (void)printf("\"%s\":[", paths ? "paths" : "sites");
    for (size_t i = 0; i < table->count; i++) {
        const diff_row *row = &table->rows[i];
        (void)printf("%s\n{\"verdict\":\"%s\",\"name\":", i > 0 ? "," : "",
                     diff_verdicts[row->verdict]);
        json_put(stdout, row->name);
        (void)fputs(",\"file\":", stdout);
        json_put(stdout, row->file);
        (void)printf(",\"line\":%llu", (unsigned long long)row->line);
        if (paths) {
            (void)fputs(",\"path\":[", stdout);
            diff_json_chain(row);
            (void)putchar(']');
        }
        (void)printf(",\"share_a\":%.6g,\"share_b\":%.6g,\"excess\":%.6g,\"worse_percent\":%.6g",
                     share_in(row, 0, d->both), share_in(row, 1, d->both), row->excess,
                     row_worse(row));
        diff_json_changes(row);
        diff_json_side(&row->side[0], "a");
        diff_json_side(&row->side[1], "b");
        (void)putchar('}');
    }
    (void)fputs("\n]", stdout);
}

static void diff_json_findings(const diff *d)
{
    diff_findings f;
    diff_find(d, &f);
    (void)fprintf(d->out, "{\"chroprof_diff\":1,\n\"detects_factor\":%.6g,\n\"findings\":[",
                  d->detects);
    for (size_t i = 0; i < f.count; i++) {
        (void)fputs(i > 0 ? ",\n" : "\n", d->out);
        json_put(d->out, f.text[i]);
    }
    (void)fputs("\n],\n", d->out);
}

static void diff_json(const diff *d)
{
    diff_json_findings(d);
    diff_json_profile(&d->both[0], "a");
    diff_json_profile(&d->both[1], "b");
    (void)fputs("\"common\":{", stdout);
    for (int m = 0; m < DIFF_MEASURES; m++) {
        const diff_noise *n = &d->noise[m];
        (void)printf("%s\"%s\":{\"factor\":%.6g,\"spread\":%.6g,\"sites\":%zu}", m > 0 ? "," : "",
                     diff_measures[m], exponential(n->common), n->spread, n->rows);
    }
    (void)fputs("},\n", stdout);
    diff_json_rows(d, &d->sites, false);
    (void)fputs(",\n", stdout);
    diff_json_rows(d, &d->paths, true);
    (void)fputs("}\n", stdout);
}

/* >>diff run */

static const char *set_diff_fail(void *field, const char *value)
{
    return read_percent(value, (uint64_t *)field) ? NULL : "expected a percentage such as 5 or 2.5";
}

static const char *set_diff_columns(void *field, const char *value)
{
    bool ok = read_count(value, 60, 500, (uint64_t *)field);
    return ok ? NULL : "expected a width from 60 to 500";
}

static const tool_option diff_options[] = {
    { "fail-above", '\0', "PCT", "exit code 1 if something got worse by more than PCT\n"
      "percent; 3 if that could not be detected", set_diff_fail,
      offsetof(diff, fail_above), NULL },
    { "json", 'j', NULL, "write JSON, for programs", set_flag, offsetof(diff, json), NULL },
    { "absolute", '\0', NULL, "do not subtract what most sites share: for a quiet\n"
      "machine, and changes that make every task slower", set_flag,
      offsetof(diff, absolute), NULL },
    { "top", 'n', "N", "rows of each kind (default 20)", set_rows, offsetof(diff, most), NULL },
    { "columns", 'w', "N", "width, 60 to 500 (default: the terminal's, else 80)",
      set_diff_columns, offsetof(diff, columns), NULL },
    { "ascii", '\0', NULL, "plain ASCII", set_flag, offsetof(diff, ascii), NULL },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color,
      offsetof(diff, color), color_choices }
};

static const char diff_text[] =
    "\n"
    "A and B are profiles: files of chroprof_map or chroprof run -o, JSON of them,\n"
    "streams of chroprof record, PIDs, or - for standard input. Sites are matched by\n"
    "name and file, without folders and lines; paths are matched by their chain of\n"
    "sites. What got worse comes first, ordered by its share of the loop.\n"
    "\n"
    "The first lines are the findings, the most important first. They end with the\n"
    "smallest change in time per call that this comparison can detect (for the sites\n"
    "that take half of the exec time).\n"
    "\n"
    "loop A, loop B    share of the loop; points: the difference\n"
    "slice A, slice B  average length of a slice\n"
    "per call          exec per call, as a factor, by the typical slice: the mean of\n"
    "                  all slices but the longest quarter, which interruptions make\n"
    "                  longer; exec per slice if a task runs all the time. ! marks\n"
    "                  what is beyond noise\n"
    "p50, p90, p99     percentiles of slices, as factors; slice: the typical slice\n"
    "shortest          the shortest slice, if 1% of them are about as short\n"
    "rate, latency     calls per second, median lifetime of finished futures\n"
    "blame             delay of others during a slice; shown, not judged\n"
    "\n"
    "The change that most sites share (the median of their changes) comes from the\n"
    "machine or the load, and is subtracted. If the sites do not agree on it, sites\n"
    "with even slices are compared as they are. For the others it is subtracted if it\n"
    "is above 12% and that leaves less of the change; a third of it counts as noise.\n"
    "\n"
    "A change counts if it is above 4 standard errors. These come from\n"
    "  - the number of slices, and how uneven they are; up to 10% more if they are\n"
    "    uneven below their median too, because such slices follow the machine\n"
    "  - the width of the buckets that percentiles come from\n"
    "  - the longest slices\n"
    "  - how far the changes of all sites lie apart, by their median: at least 3% for\n"
    "    time per call, 2% for p50 and the shortest slice, 5% for p90, 20% for p99,\n"
    "    15% for rate and latency; at least 15% if there are fewer than 4 sites\n"
    "\n"
    "Time per call counts only if p50 or p90 changed too, and the average did not\n"
    "change the other way. The shortest slice, if it is known, is the work itself,\n"
    "without what else the machine did: a change in time of less than 35% that it\n"
    "does not show does not count. A change must also matter: 0.2 points of the loop,\n"
    "or 50 us of p99 or latency. New and gone sites need 20 slices and 0.2% of the\n"
    "loop. For finer answers take longer runs on a quieter machine.\n"
    "\n"
    "--fail-above PCT fails if a change beyond noise is above PCT percent, or a new\n"
    "site takes more than PCT points of the loop. Changes of percentiles count less\n"
    "the width of a bucket, 12%. If nothing fails, but the smallest change that can\n"
    "be detected is above PCT, the exit code is 3. With 0 percent, all that is\n"
    "beyond noise fails, and nothing else.\n"
    "\n"
    "exit codes: 0 done, 1 worse than --fail-above, 2 wrong usage, bad input or\n"
    "output, 3 the comparison is too coarse for --fail-above\n"
    "\n"
    "examples:\n"
    "  chroprof diff yesterday.json server.chroprof\n"
    "  chroprof diff main.json branch.json --fail-above 10\n";

static bool diff_reckon(diff *d)
{
    bool ok = diff_keys(&d->both[0]) && diff_keys(&d->both[1]) &&
              diff_join(&d->both[0].sites, &d->both[1].sites, &d->sites) &&
              diff_join(&d->both[0].paths, &d->both[1].paths, &d->paths);
    for (int m = 0; ok && m < DIFF_MEASURES; m++) {
        ok = diff_estimate(&d->sites, m, d->both, d->absolute, &d->noise[m]);
    }
    if (ok) {
        diff_judge(&d->sites, d->noise, d->both);
        diff_judge(&d->paths, d->noise, d->both);
        ok = diff_detects(&d->sites, &d->detects);
    }
    return ok;
}

static bool diff_exceeds(const diff *d, const diff_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (row_worse(&table->rows[i]) * 10 > (double)d->fail_above) {
            return true;
        }
    }
    return false;
}

/* The exit code; without --fail-above, and if nothing may get worse at all, there is no question
 * that the comparison could be too coarse for. */
static int diff_code(const diff *d)
{
    bool asked = d->fail_above < UINT64_MAX;
    if (asked && (diff_exceeds(d, &d->sites) || diff_exceeds(d, &d->paths))) {
        return DIFF_FAILS;
    }
    bool sees = d->detects > 0 && 1000 * (d->detects - 1) <= (double)d->fail_above;
    return asked && d->fail_above > 0 && !sees ? DIFF_BLIND : DIFF_SAME;
}

static void diff_begin(diff *d, diff_profile *both, FILE *out)
{
    d->most = 20;
    d->fail_above = UINT64_MAX;
    d->both = both;
    d->out = out;
}

static void diff_end(diff *d)
{
    free(d->sites.rows);
    free(d->paths.rows);
    diff_free(&d->both[0]);
    diff_free(&d->both[1]);
    free(d->sheet.bytes);
}

bool diff_show(diff_profile *both, FILE *out)
{
    static diff d;
    bool ok;
    memset(&d, 0, sizeof d);
    diff_begin(&d, both, out);
    ok = diff_reckon(&d);
    if (ok) {
        diff_print(&d);
    }
    diff_end(&d);
    return ok;
}

/* The sites alone: a page shows no paths of it. */
static void diff_json_verdicts(const diff *d)
{
    diff_json_findings(d);
    (void)fputs("\"sites\":[", d->out);
    for (size_t i = 0; i < d->sites.count; i++) {
        const diff_row *row = &d->sites.rows[i];
        (void)fprintf(d->out, "%s\n{\"verdict\":\"%s\",\"line\":%llu,\"name\":", i > 0 ? "," : "",
                      diff_verdicts[row->verdict], (unsigned long long)row->line);
        json_put(d->out, row->name);
        (void)fputs(",\"file\":", d->out);
        json_put(d->out, row->file);
        (void)fputc('}', d->out);
    }
    (void)fputs("\n]}\n", d->out);
}

bool diff_write_verdict(const profile_text *was, const profile_text *is, FILE *out)
{
    static diff d;
    static diff_profile both[2];
    bool ok = true;
    if (was->totals.length == 0 || is->totals.length == 0) {
        return true;
    }
    memset(&d, 0, sizeof d);
    memset(both, 0, sizeof both);
    diff_begin(&d, both, out);
    ok = diff_borrow(&both[0], was) && diff_borrow(&both[1], is) && diff_reckon(&d);
    if (ok) {
        diff_json_verdicts(&d);
    }
    free(d.sites.rows);
    free(d.paths.rows);
    diff_give_back(&both[0]);
    diff_give_back(&both[1]);
    return ok;
}

static int diff_answer(diff *d)
{
    if (!diff_load(&d->both[0], d->sources[0]) || !diff_load(&d->both[1], d->sources[1]) ||
        !diff_reckon(d)) {
        return DIFF_TROUBLE;
    }
    d->code = diff_code(d);
    if (d->json) {
        diff_json(d);
    } else {
        diff_print(d);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        tool_message("(standard output): %s", strerror(errno));
        return DIFF_TROUBLE;
    }
    return d->code;
}

static int diff_run(const tool_command *command, int count, char **words)
{
    static diff d;
    static diff_profile both[2];
    int result;
    diff_begin(&d, both, stdout);
    if (!take_words(command, count, words, &d, d.sources, 2, &result)) {
        return result;
    }
    result = diff_answer(&d);
    diff_end(&d);
    return result;
}

const tool_command diff_command = {
    "diff", "A B [options]", { "A", "B" },
    "Shows what changed between two profiles beyond noise.",
    diff_text, OPTIONS_OF(diff_options), diff_run
};
