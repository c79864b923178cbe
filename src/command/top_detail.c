/* top_detail.c - chroprof top: one site and what is known of it: figures, callers, stalls, futures. */

#include "top.h"

#include <inttypes.h>
#include <string.h>

#include "gain.h"
#include "origin.h"
#include "profile.h"

#define DETAIL_ROWS 6          /* of each list */

static bool is_detail(const top *t, const char *name, const char *file, uint32_t line)
{
    return strcmp(name, t->site_name) == 0 && strcmp(file, t->site_file) == 0 &&
           line == t->site_line;
}

void top_choose(top *t)
{
    const top_row *row;
    if (t->chosen >= t->row_count) {
        return;
    }
    row = &t->rows[t->chosen];
    (void)snprintf(t->site_name, sizeof t->site_name, "%s", row->name);
    (void)snprintf(t->site_file, sizeof t->site_file, "%s", row->file);
    t->site_line = row->line;
    t->detail = true;
}

static const top_row *detail_row(const top *t)
{
    for (size_t i = 0; i < t->row_count; i++) {
        const top_row *row = &t->rows[i];
        if (is_detail(t, row->name, row->file, row->line)) {
            return row;
        }
    }
    return NULL;
}

static void detail_head(sheet *s, const char *title)
{
    sheet_newline(s);
    sheet_styled(s, SHEET_BOLD, title);
    sheet_newline(s);
}

/* Each column of the table, two in a line. */
static void detail_figures(top *t)
{
    const top_row *row = detail_row(t);
    sheet *s = &t->sheet;
    unsigned half = s->columns >= 100 ? s->columns / 2 : 0;
    unsigned told = 0;
    if (row == NULL) {
        sheet_text(s, "it is in no row of the table; Esc: back");
        sheet_newline(s);
        return;
    }
    for (int i = 0; i < TOP_NAME; i++) {
        unsigned from = told % 2 == 1 ? half : 0;
        if (!top_useful(t, i)) {
            continue;
        }
        sheet_blank_to(s, from);
        sheet_text(s, top_columns[i].title);
        sheet_right(s, top_cell(t, row, i).text, from + 18);
        s->blanks += 2;
        sheet_style(s, SHEET_DIM);
        sheet_cut(s, top_columns[i].help, (half > 0 ? half : s->columns) - 21);
        sheet_style(s, SHEET_PLAIN);
        if (++told % 2 == 0 || half == 0) {
            sheet_newline(s);
        }
    }
    if (told % 2 == 1 && half > 0) {
        sheet_newline(s);
    }
}

static void detail_seen(sheet *s, const kind_figures *k, uint64_t of_ns)
{
    char text[160];
    (void)snprintf(text, sizeof text, "as clients saw it, in the last %s (estimates)",
                   figure_time(s, of_ns).text);
    detail_head(s, text);
    (void)snprintf(text, sizeof text, "latency p50 %s, p99 %s; hidden by the poll %s on average",
                   figure_time(s, (uint64_t)k->p50).text, figure_time(s, (uint64_t)k->p99).text,
                   figure_time(s, (uint64_t)k->hidden).text);
    sheet_cut(s, text, s->columns);
    sheet_newline(s);
}

/* From the last steps: when it came is not known exactly, so these are estimates. */
static void detail_clients(top *t)
{
    profile_text p;
    kind_figures k;
    uint64_t of_ns = 0;
    if (t->watch.now->totals.iterations < 2) {
        return;
    }
    if (profile_of_view(&p, &t->watch.now->file.view, t->operand) &&
        gain_of_kind(&p, t->site_name, t->site_file, t->site_line, &k, &of_ns)) {
        detail_seen(&t->sheet, &k, of_ns);
    }
    profile_free(&p);
}

/* What its polls brought had waited for them, by what the program counted since the start. */
static void detail_hidden(top *t)
{
    chroprof_rank rank;
    uint64_t cursor = 0, mean;
    char text[160];
    while (chroprof_next_rank(&t->watch.now->file.view, &cursor, &rank)) {
        if (rank.found == 0 || !is_detail(t, rank.name, rank.file, rank.line)) {
            continue;
        }
        mean = rank.hidden_total_ns / rank.found;
        (void)snprintf(text, sizeof text, "polls found it %s times; hidden before that: about %s on "
                       "average, at most %s (since the start)", figure_count((double)rank.found).text,
                       figure_time(&t->sheet, mean).text, figure_time(&t->sheet, 2 * mean).text);
        sheet_cut(&t->sheet, text, t->sheet.columns);
        sheet_newline(&t->sheet);
        return;
    }
}

/* Since the start: the paths that lead to it, those with the most exec first. */
static void detail_paths(top *t)
{
    const chroprof *view = &t->watch.now->file.view;
    chroprof_path best[DETAIL_ROWS];
    chroprof_path path;
    uint64_t cursor = 0;
    size_t count = 0;
    char text[512];
    while (chroprof_next_path(view, &cursor, &path)) {
        size_t k = count < DETAIL_ROWS ? count : DETAIL_ROWS;
        if (!is_detail(t, path.name, path.file, path.line)) {
            continue;
        }
        for (; k > 0 && best[k - 1].exec_ns < path.exec_ns; k--) {
            if (k < DETAIL_ROWS) {
                best[k] = best[k - 1];
            }
        }
        if (k < DETAIL_ROWS) {
            best[k] = path;
        }
        count++;
    }
    detail_head(&t->sheet, "called or created by, since the start");
    for (size_t i = 0; i < count && i < DETAIL_ROWS; i++) {
        sheet_right(&t->sheet, figure_time(&t->sheet, best[i].exec_ns).text, 9);
        t->sheet.blanks += 2;
        if (block_path(view, best[i].id, text, sizeof text)) {
            sheet_cut(&t->sheet, text, t->sheet.columns - 12);
        }
        sheet_newline(&t->sheet);
    }
    if (count > DETAIL_ROWS) {
        (void)snprintf(text, sizeof text, "%zu more paths", count - DETAIL_ROWS);
        sheet_text(&t->sheet, text);
        sheet_newline(&t->sheet);
    }
}

/* The longest stalls that it has a part in. */
static void detail_stalls(top *t)
{
    chroprof_stall best[DETAIL_ROWS];
    chroprof_stall stall;
    uint64_t cursor = 0;
    size_t count = 0;
    while (chroprof_next_stall(&t->watch.now->file.view, &cursor, &stall)) {
        size_t k = count < DETAIL_ROWS ? count : DETAIL_ROWS;
        bool part = false;
        for (uint32_t i = 0; i < stall.share_count && i < CHROPROF_STALL_SHARES; i++) {
            const chroprof_stall_share *share = &stall.shares[i];
            part = part || (share->site > 0 && is_detail(t, share->name, share->file, share->line));
        }
        for (; part && k > 0 && best[k - 1].length_ns < stall.length_ns; k--) {
            if (k < DETAIL_ROWS) {
                best[k] = best[k - 1];
            }
        }
        if (part && k < DETAIL_ROWS) {
            best[k] = stall;
        }
        count += part;
    }
    detail_head(&t->sheet, count > 0 ? "stalls that it had a part in, longest first"
                                     : "no stall that is kept had it in it");
    for (size_t i = 0; i < count && i < DETAIL_ROWS; i++) {
        top_stall(t, &best[i], false);
    }
}

/* Its live futures, those first that are in their state for longest. */
static void detail_futures(top *t)
{
    static const char *const states[] = { "pending", "ready", "running", "paused" };
    const top_sample *now = t->watch.now;
    chroprof_future best[DETAIL_ROWS];
    chroprof_future future;
    uint64_t cursor = 0;
    size_t count = 0;
    char text[96];
    while (chroprof_next_future(&now->file.view, &cursor, &future)) {
        size_t k = count < DETAIL_ROWS ? count : DETAIL_ROWS;
        if (!is_detail(t, future.name, future.file, future.line)) {
            continue;
        }
        for (; k > 0 && best[k - 1].since_ns > future.since_ns; k--) {
            if (k < DETAIL_ROWS) {
                best[k] = best[k - 1];
            }
        }
        if (k < DETAIL_ROWS) {
            best[k] = future;
        }
        count++;
    }
    (void)snprintf(text, sizeof text, "%zu live future%s%s", count, count == 1 ? "" : "s",
                   count > 1 ? ", longest in its state first" : "");
    detail_head(&t->sheet, text);
    for (size_t i = 0; i < count && i < DETAIL_ROWS; i++) {
        const chroprof_future *f = &best[i];
        (void)snprintf(text, sizeof text, "%-8s for %s, exec %s, id %" PRIu64,
                       f->state < 4 ? states[f->state] : "?",
                       figure_time(&t->sheet, gained(now->totals.elapsed_ns, f->since_ns)).text,
                       figure_time(&t->sheet, f->exec_ns).text, f->id);
        sheet_cut(&t->sheet, text, t->sheet.columns);
        sheet_newline(&t->sheet);
    }
}

void top_detail_page(top *t)
{
    sheet *s = &t->sheet;
    char place[32];
    (void)snprintf(place, sizeof place, ":%" PRIu32, t->site_line);
    sheet_styled(s, SHEET_BOLD, t->site_name);
    if (t->site_file[0] != '\0') {
        s->blanks += 2;
        sheet_text(s, t->site_file);
        sheet_text(s, place);
    }
    sheet_newline(s);
    detail_figures(t);
    if (t->watch.now != NULL) {
        detail_hidden(t);
        detail_clients(t);
        detail_stalls(t);
        detail_paths(t);
        detail_futures(t);
    }
}
