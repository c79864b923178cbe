/* top_draw.c - chroprof top: what it shows, as a screen or as plain text. */

#include "top.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "numbers.h"
#include "origin.h"
#include "screen.h"
#include "terminal.h"

#define TOP_HANG_NS UINT64_C(1000000000)   /* one task for so long, and no event: it hangs */

/* >>top lines */

/* Clock time of a moment, as in 20:14:33. */
figure top_clock(uint64_t unix_ns)
{
    figure f;
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm parts;
    if (unix_ns == 0 || localtime_r(&seconds, &parts) == NULL ||
        strftime(f.text, sizeof f.text, "%H:%M:%S", &parts) == 0) {
        (void)snprintf(f.text, sizeof f.text, "--:--:--");
    }
    return f;
}

/* A moment of the run by the calendar, or since its start, if that is all that is known. */
static figure top_moment(const top *t, uint64_t ns)
{
    const uint64_t start = t->watch.now->totals.start_unix_ns;
    figure f;
    if (start > 0) {
        return top_clock(start + ns);
    }
    (void)snprintf(f.text, sizeof f.text, "%8s", figure_time(&t->sheet, ns).text);
    return f;
}

static void top_separate(top *t)
{
    t->sheet.blanks += t->sheet.columns >= 60 ? 2 : 1;
}

/* A piece of a line; what does not fit whole is left out. */
static void top_item(top *t, const char *style, const char *format, ...)
{
    sheet *s = &t->sheet;
    char text[160];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (s->column > 0) {
        top_separate(t);
    }
    if (s->column + s->blanks + text_width(text) <= s->columns) {
        sheet_styled(s, style, text);
    } else {
        s->blanks = s->columns;
    }
}

static void top_title(top *t)
{
    const top_sample *now = t->watch.now;
    sheet *s = &t->sheet;
    if (s->columns >= 60) {
        top_item(t, SHEET_BOLD, "chroprof top");
    }
    if (now != NULL) {
        sheet_style(s, SHEET_BOLD);
        top_separate(t);
        sheet_cut(s, *now->origin.name != '\0' ? now->origin.name : t->watch.target.name, 30);
        sheet_style(s, SHEET_PLAIN);
    }
    if (t->paused) {
        top_item(t, SHEET_WARM, "PAUSED");
    }
    if (t->since_start) {
        top_item(t, SHEET_PLAIN, "since its start");
    } else {
        top_item(t, SHEET_PLAIN, "every %gs", (double)t->interval_ns / 1e9);
    }
    if (now != NULL) {
        top_item(t, SHEET_PLAIN, "process %" PRIu64, now->origin.pid);
        top_item(t, SHEET_PLAIN, "up %s", figure_time(s, now->totals.elapsed_ns).text);
    }
    sheet_newline(s);
}

/* A part of the bar: so many columns of a mark. */
static void top_bar_part(sheet *s, double percent, double *done, uint32_t code, char ascii)
{
    double from = *done;
    *done += percent;
    unsigned first = (unsigned)(from / 100 * s->columns + 0.5);
    unsigned end = (unsigned)(*done / 100 * s->columns + 0.5);
    for (unsigned i = first; i < end; i++) {
        sheet_glyph(s, code, ascii);
    }
}

static void top_load_bar(top *t)
{
    const chroprof_totals *totals = &t->totals;
    sheet *s = &t->sheet;
    double done = 0;
    top_bar_part(s, share_of(totals->busy_ns, totals->elapsed_ns), &done, 0x2588, '#');
    sheet_style(s, SHEET_WARM);
    top_bar_part(s, share_of(totals->uninstrumented_ns, totals->elapsed_ns), &done, 0x2592, ':');
    sheet_style(s, SHEET_DIM);
    top_bar_part(s, share_of(totals->idle_ns, totals->elapsed_ns), &done, 0x2591, '.');
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static void top_share(top *t, const char *style, const char *what, uint64_t ns)
{
    top_item(t, style, "%s %s", what, figure_percent(share_of(ns, t->totals.elapsed_ns)).text);
}

static void top_counts(top *t)
{
    const top_sample *now = t->watch.now;
    if (now != NULL) {
        top_item(t, SHEET_PLAIN, "%" PRIu64 " live", now->totals.live);
    }
    if (t->totals.iteration_p99_ns > 0) {
        top_item(t, SHEET_PLAIN, "iteration p99 %s",
                 figure_time(&t->sheet, t->totals.iteration_p99_ns).text);
    }
    top_item(t, SHEET_PLAIN, "%s callbacks/s",
             figure_count((double)t->totals.callbacks / top_seconds(t)).text);
    top_item(t, SHEET_PLAIN, "%s events/s",
             figure_count((double)t->totals.events / top_seconds(t)).text);
    if (t->totals.hidden_ns >= 1000) {
        top_item(t, SHEET_PLAIN, "hidden delay %s (estimate)",
                 figure_time(&t->sheet, t->totals.hidden_ns).text);
    }
}

/* Nobody counted; a share that n looks met differs from the true one by so much (standard error), at
 * most. */
static void top_error(top *t)
{
    const top_sample *from = t->since_start ? NULL : t->watch.base;
    uint64_t looks = t->watch.shown != NULL ? watch_samples(from, t->watch.shown) : 0;
    if (looks > 0) {
        top_item(t, SHEET_WARM, t->sheet.ascii ? "estimates, +-%.0f%%" : "estimates, \xC2\xB1%.0f%%",
                 50 / root((double)looks));
    } else {
        top_item(t, SHEET_WARM, "estimates");
    }
}

static void top_load(top *t)
{
    const uint64_t awake_ns = gained(t->totals.idle_ns, t->totals.asleep_ns);
    top_share(t, SHEET_BOLD, "busy", t->totals.busy_ns);
    top_share(t, SHEET_PLAIN, "uninstrumented", t->totals.uninstrumented_ns);
    top_share(t, SHEET_PLAIN, "idle", t->totals.asleep_ns);
    if (awake_ns > t->totals.elapsed_ns / 200) {
        top_share(t, SHEET_WARM, "awake in waits", awake_ns);
    }
    if (t->totals.start_ns > t->totals.elapsed_ns / 200) {
        top_share(t, SHEET_PLAIN, "start", t->totals.start_ns);
    }
    if (t->totals.exit_ns > t->totals.elapsed_ns / 200) {
        top_share(t, SHEET_PLAIN, "exit", t->totals.exit_ns);
    }
    if (t->totals.stalls > 0) {
        top_item(t, SHEET_WARM, "%" PRIu64 " stall%s", t->totals.stalls,
                 t->totals.stalls == 1 ? "" : "s");
    }
    if (t->totals.estimated) {
        top_error(t);
    } else {
        top_counts(t);
    }
    sheet_newline(&t->sheet);
}

/* >>top finding: the answer, before the figures */

static const char *top_finding_style(const top *t)
{
    switch (t->finding.kind) {
    case CHROPROF_FINDING_FINE: return SHEET_GOOD;
    case CHROPROF_FINDING_HANGS: return SHEET_HOT;
    default: return SHEET_BOLD;
    }
}

/* Exactly so many lines, so that what stands below does not jump; 0: as many as it takes. */
static void top_finding(top *t, unsigned lines)
{
    sheet *s = &t->sheet;
    const char *text = t->finding.text;
    char word[sizeof t->finding.text];
    unsigned line = 0;
    sheet_style(s, top_finding_style(t));
    while (*text != '\0' && (lines == 0 || line < lines)) {
        size_t length = strcspn(text, " ");
        memcpy(word, text, length);
        word[length] = '\0';
        if (s->column > 0 && s->column + s->blanks + text_width(word) > s->columns) {
            sheet_newline(s);
            line++;
            continue;
        }
        sheet_text(s, word);
        s->blanks++;
        text += length + (text[length] == ' ');
    }
    sheet_style(s, SHEET_PLAIN);
    if (line < lines || lines == 0) {
        sheet_newline(s);
        line++;
    }
    for (; line < lines; line++) {
        sheet_newline(s);
    }
}

/* >>top now: what the program does at this moment */

/* A frame and how long it has been on the stack. */
static void top_frame(top *t, const chroprof_frame *f, unsigned most)
{
    const top_sample *now = t->watch.now;
    sheet_cut(&t->sheet, f->barrier ? "(a nested loop)" : f->name, most);
    t->sheet.blanks++;
    sheet_text(&t->sheet, figure_time(&t->sheet, gained(now->totals.elapsed_ns, f->since_ns)).text);
}

static void top_stack(top *t)
{
    chroprof_frame frames[8];
    size_t count = chroprof_frames(&t->watch.now->file.view, frames, 8);
    for (size_t i = 0; i < count && i < 8; i++) {
        if (i > 0) {
            sheet_text(&t->sheet, "  on ");
        }
        top_frame(t, &frames[i], 40);
    }
    if (count == 0) {
        sheet_text(&t->sheet, "between tasks, last event ");
        sheet_text(&t->sheet, figure_time(&t->sheet, t->watch.now->open_ns).text);
        sheet_text(&t->sheet, " ago");
    }
    if (count > 8) {
        char text[48];
        (void)snprintf(text, sizeof text, "  on %zu more", count - 8);
        sheet_text(&t->sheet, text);
    }
}

/* Who created what runs: the path of the frame on top, from the root. */
static void top_path(top *t)
{
    chroprof_frame frame;
    char text[512];
    if (t->watch.now != NULL && chroprof_frames(&t->watch.now->file.view, &frame, 1) > 0 &&
        block_path(&t->watch.now->file.view, frame.path, text, sizeof text)) {
        sheet_text(&t->sheet, "path     ");
        sheet_text(&t->sheet, text);
    }
    sheet_newline(&t->sheet);
}

/* Who watches a program from outside writes down what goes on; its last event is the last look. */
static uint64_t top_since(const top_sample *now)
{
    chroprof_frame frame;
    return !now->totals.estimated ? now->open_ns
           : chroprof_frames(&now->file.view, &frame, 1) == 0 ? 0
           : gained(now->totals.elapsed_ns, frame.since_ns);
}

static bool top_hangs(const top *t)
{
    const top_sample *now = t->watch.now;
    return t->watch.state == TOP_RUNS && now != NULL && now->totals.enabled && !now->totals.idle &&
           top_since(now) >= TOP_HANG_NS;
}

static void top_now_running(top *t)
{
    const top_sample *now = t->watch.now;
    sheet *s = &t->sheet;
    char command[80];
    if (!now->totals.enabled) {
        sheet_styled(s, SHEET_WARM, "off      ");
        sheet_text(s, "the program has switched its profile off");
    } else if (now->totals.idle) {
        sheet_styled(s, SHEET_GOOD, "idle     ");
        sheet_text(s, "for ");
        sheet_text(s, figure_time(s, now->open_ns).text);
    } else if (top_hangs(t)) {
        sheet_styled(s, SHEET_HOT, "HANGS    ");
        top_stack(t);
        debugger_command(&now->file, &now->origin, command, sizeof command);
        top_item(t, SHEET_PLAIN, "%s", command);
    } else {
        sheet_styled(s, SHEET_BOLD, now->totals.depth > 0 ? "running  " : "loop     ");
        top_stack(t);
    }
}

/* The program is no more. */
static void top_now_ended(top *t, bool well)
{
    const top_sample *now = t->watch.now;
    const bool known = now->origin.end_unix_ns > 0;
    sheet *s = &t->sheet;
    sheet_styled(s, well ? SHEET_WARM : SHEET_HOT, well ? "ended    " : "DIED     ");
    if (known) {
        sheet_text(s, "at ");
        sheet_text(s, top_clock(now->origin.end_unix_ns).text);
    }
    if (well && t->process[0] == '\0') {
        sheet_text(s, known ? "; waiting for the next one" : "waiting for the next one");
    }
    if (!well) {
        sheet_text(s, now->totals.idle ? " while idle" : " in ");
        if (!now->totals.idle) {
            top_stack(t);
        }
    }
}

static void top_now(top *t)
{
    sheet *s = &t->sheet;
    switch (t->watch.state) {
    case TOP_RUNS: top_now_running(t); break;
    case TOP_ENDED: top_now_ended(t, true); break;
    case TOP_DIED: top_now_ended(t, false); break;
    case TOP_GONE:
        sheet_styled(s, SHEET_HOT, "gone     ");
        sheet_text(s, "there is no such file any more; waiting for it");
        break;
    case TOP_UNREADABLE:
    default:
        sheet_styled(s, SHEET_HOT, "unread   ");
        sheet_text(s, t->watch.problem);
    }
    if (t->watch.restarts > 0 && seconds_now() - t->watch.restarted < 10) {
        sheet_styled(s, SHEET_WARM, "  (a new program)");
    }
    sheet_newline(s);
}

/* >>top table */

/* Which columns there is room for. */
typedef struct top_layout {
    bool shown[TOP_ORDERS];
    unsigned name, place, bar; /* widths; 0: not shown */
} top_layout;

bool top_useful(const top *t, int column)
{
    switch (column) {
    case TOP_NAME: return false;
    case TOP_CPU: case TOP_OFF_CPU: return t->sampled;
    case TOP_LATENCY_P50: case TOP_LATENCY_P99: case TOP_LATENCY_MAX: return t->latency;
    case TOP_BLAME: case TOP_DELAY:
        return t->watch.now == NULL || t->watch.now->totals.delay_ns > 0;
    default: return true;
    }
}

static void top_try_column(top_layout *l, int column, unsigned *room)
{
    unsigned width = top_columns[column].width + 2;
    if (!l->shown[column] && *room >= width) {
        l->shown[column] = true;
        *room -= width;
    }
}

static unsigned top_longest_name(const top *t)
{
    unsigned longest = 8;
    for (size_t i = 0; i < t->row_count; i++) {
        unsigned width = text_width(t->rows[i].name);
        longest = width > longest ? width : longest;
    }
    return longest;
}

static top_layout top_plan(const top *t)
{
    top_layout l;
    unsigned columns = t->sheet.columns;
    unsigned most = columns / 3 > 8 ? columns / 3 : 8;
    unsigned longest = top_longest_name(t);
    unsigned room;
    memset(&l, 0, sizeof l);
    l.name = longest < most ? longest : most;
    room = columns > l.name ? columns - l.name : 0;
    if (t->sort != TOP_NAME) {
        top_try_column(&l, t->sort, &room);
    }
    for (unsigned rank = 0; rank < TOP_ORDERS; rank++) {
        for (int i = 0; i < TOP_ORDERS; i++) {
            if (top_columns[i].rank == rank && top_useful(t, i)) {
                top_try_column(&l, i, &room);
            }
        }
        if (rank == 1 && room >= 10) {
            l.bar = 8;
            room -= 10;
        }
    }
    l.place = room >= 14 ? (room - 2 < 32 ? room - 2 : 32) : 0;
    room -= l.place > 0 ? l.place + 2 : 0;
    l.name += longest - l.name < room ? longest - l.name : room;
    return l;
}

static void top_header(top *t, const top_layout *l)
{
    sheet *s = &t->sheet;
    unsigned end = l->name + (l->place > 0 ? l->place + 2 : 0);
    sheet_style(s, SHEET_DIM);
    sheet_cut(s, t->sort == TOP_NAME ? "SITE" : "site", l->name);
    if (l->place > 0) {
        sheet_blank_to(s, l->name + 2);
        sheet_text(s, "at");
    }
    for (int i = 0; i < TOP_NAME; i++) {
        char title[16];
        if (!l->shown[i]) {
            continue;
        }
        end += top_columns[i].width + 2;
        (void)snprintf(title, sizeof title, "%s", top_columns[i].title);
        for (char *c = title; t->sort == i && *c != '\0'; c++) {
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        }
        sheet_right(s, title, end);
        end += i == TOP_EXEC && l->bar > 0 ? l->bar + 2 : 0;
    }
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static figure figure_whole(uint64_t value)
{
    figure f;
    if (value >= 10000) {
        return figure_count((double)value);
    }
    (void)snprintf(f.text, sizeof f.text, "%u", (unsigned)value);
    return f;
}

/* No samples, or no future that finished: 0 would be a figure. */
static bool top_knows(const top_row *r, int column)
{
    bool cpu = column == TOP_CPU || column == TOP_OFF_CPU;
    bool latency = column >= TOP_LATENCY_P50 && column <= TOP_LATENCY_MAX;
    return (!cpu || r->cpu_known) && (!latency || r->latency_max_ns > 0);
}

figure top_cell(const top *t, const top_row *r, int column)
{
    static const figure unknown = { "-" };
    double ns = top_key(r, column);
    if (!top_knows(r, column)) {
        return unknown;
    }
    switch (column) {
    case TOP_EXEC: case TOP_CPU: case TOP_OFF_CPU: case TOP_CHILDREN:
        return figure_percent(share_of((uint64_t)ns, t->totals.elapsed_ns));
    case TOP_SLICES: return figure_count((double)r->slices / top_seconds(t));
    case TOP_CALLS: return figure_count((double)r->calls / top_seconds(t));
    case TOP_LIVE: return figure_whole(r->live);
    default: return figure_time(&t->sheet, (uint64_t)ns);
    }
}

static void top_place(top *t, const top_row *r, unsigned width)
{
    char line[16];
    const char *slash = strrchr(r->file, '/');
    unsigned digits = (unsigned)snprintf(line, sizeof line, ":%u", (unsigned)r->line);
    if (*r->file == '\0') {
        return;
    }
    if (text_width(r->file) + digits <= width || slash == NULL) {
        slash = r->file - 1;
    }
    sheet_cut(&t->sheet, slash + 1, width - digits);
    sheet_text(&t->sheet, line);
}

static const char *top_heat(double percent)
{
    return percent >= 50 ? SHEET_HOT : percent >= 20 ? SHEET_WARM : SHEET_PLAIN;
}

static void top_line(top *t, const top_layout *l, const top_row *r)
{
    bool chosen = t->full && t->choosing && r == &t->rows[t->chosen];
    sheet *s = &t->sheet;
    unsigned end = l->name + (l->place > 0 ? l->place + 2 : 0);
    double percent = share_of(r->exec_ns, t->totals.elapsed_ns);
    sheet_style(s, chosen ? SHEET_BAR : SHEET_PLAIN);
    sheet_cut(s, r->name, l->name);
    sheet_style(s, SHEET_PLAIN);
    if (l->place > 0) {
        sheet_blank_to(s, l->name + 2);
        sheet_style(s, SHEET_DIM);
        top_place(t, r, l->place);
        sheet_style(s, SHEET_PLAIN);
    }
    for (int i = 0; i < TOP_NAME; i++) {
        if (!l->shown[i]) {
            continue;
        }
        end += top_columns[i].width + 2;
        sheet_style(s, i == TOP_EXEC ? top_heat(percent) : SHEET_PLAIN);
        sheet_right(s, top_cell(t, r, i).text, end);
        if (i == TOP_EXEC && l->bar > 0) {
            sheet_blank_to(s, end + 2);
            sheet_bar(s, percent, l->bar);
            end += l->bar + 2;
        }
        sheet_style(s, SHEET_PLAIN);
    }
    sheet_newline(s);
}

static void top_table(top *t, size_t lines)
{
    top_layout l = top_plan(t);
    top_header(t, &l);
    if (t->scroll >= t->row_count) {
        t->scroll = t->row_count > 0 ? t->row_count - 1 : 0;
    }
    if (t->chosen >= t->row_count) {
        t->chosen = t->row_count > 0 ? t->row_count - 1 : 0;
    }
    t->lines = lines;
    for (size_t i = 0; i < lines; i++) {
        if (t->scroll + i < t->row_count) {
            top_line(t, &l, &t->rows[t->scroll + i]);
        } else if (t->full) {
            sheet_newline(&t->sheet);
        }
    }
}

/* >>top stalls */

static void top_stall_part(top *t, const char *name, uint64_t part, uint64_t whole)
{
    double percent = share_of(part, whole);
    if (percent >= 1) {
        top_item(t, SHEET_PLAIN, "%.40s %.0f%%", name, percent > 100 ? 100 : percent);
    }
}

/* inside: it happened in another one that is told. */
void top_stall(top *t, const chroprof_stall *stall, bool inside)
{
    sheet *s = &t->sheet;
    sheet_style(s, SHEET_DIM);
    sheet_text(s, top_moment(t, stall->start_ns).text);
    sheet_style(s, SHEET_PLAIN);
    sheet_right(s, figure_time(s, stall->length_ns).text, 17);
    if (inside) {
        sheet_glyph(s, 0x2514, '`');
    }
    sheet_text(s, inside ? "" : " ");
    sheet_text(s, stall->kind == CHROPROF_STALL_CALLBACK ? "callback" : "iteration");
    for (uint32_t i = 0; i < stall->share_count && i < CHROPROF_STALL_SHARES; i++) {
        const chroprof_stall_share *share = &stall->shares[i];
        top_stall_part(t, share->site ? share->name : "(uninstrumented)", share->exec_ns,
                       stall->length_ns);
    }
    top_stall_part(t, "the rest", stall->rest_ns, stall->length_ns);
    sheet_newline(s);
}

/* They stand in the order in which they ended; an iteration may have begun before a callback told
 * earlier. */
static uint64_t stall_end(const chroprof_stall *stall)
{
    return stall->start_ns + stall->length_ns;
}

/* Did it happen in one of these? Its begin is among their steps: those of merged profiles only
 * happened at one time. */
static bool is_inside(const chroprof *view, const chroprof_stall *stall, const chroprof_stall *in,
                      size_t count)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    for (size_t i = 0; i < count; i++) {
        size_t known = stall->start_ns < in[i].start_ns ||
                       (stall->start_ns == in[i].start_ns && stall->length_ns >= in[i].length_ns)
                       ? 0 : chroprof_incident(view, in[i].number, steps, CHROPROF_INCIDENT_STEPS);
        for (size_t k = 0; k + 1 < known; k++) {
            if (steps[k].at_ns == stall->start_ns) {
                return true;
            }
        }
    }
    return false;
}

/* The most recent ones, newest first, those inside another one below it; of plain output only those
 * that are new. */
static void top_stalls(top *t, size_t most)
{
    const chroprof *view = &t->watch.now->file.view;
    size_t count = chroprof_stalls(view, NULL, 0);
    chroprof_stall *stalls = (chroprof_stall *)calloc(count + 1, sizeof *stalls);
    size_t shown = 0;
    if (stalls == NULL) {
        return;
    }
    count = chroprof_stalls(view, stalls, count);
    while (shown < most && shown < count &&
           stall_end(&stalls[count - 1 - shown]) > t->shown_stalls) {
        const chroprof_stall *one = &stalls[count - 1 - shown];
        top_stall(t, one, is_inside(view, one, one + 1, shown++));
    }
    if (!t->full && count > 0) {
        t->shown_stalls = stall_end(&stalls[count - 1]);
    }
    free(stalls);
}

/* >>top pages */

static void top_help_page(top *t)
{
    static const char *const lines[] = {
        "space   pause or continue      ? this page        q quit",
        "/       show only sites with this text in name or file; Esc: all",
        "a       since the start, or only the last interval",
        "+ -     longer or shorter intervals",
        "up, down, page up, page down, home   choose a row",
        "Enter   the chosen site: figures, stalls, callers, futures; Esc: back",
        "< >     order by the next column, or by:"
    };
    sheet *s = &t->sheet;
    sheet_styled(s, SHEET_BOLD, "chroprof top: keys");
    sheet_newline(s);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        sheet_text(s, lines[i]);
        sheet_newline(s);
    }
    for (int i = 0; i < TOP_ORDERS; i++) {
        char text[80];
        (void)snprintf(text, sizeof text, "%c       %-9s %s", top_columns[i].key,
                       top_columns[i].title, top_columns[i].help);
        sheet_text(s, text);
        sheet_newline(s);
    }
}

static void top_status(top *t)
{
    sheet *s = &t->sheet;
    char text[96];
    sheet_style(s, SHEET_BAR);
    if (t->typing || *t->filter != '\0') {
        sheet_text(s, t->typing ? "/" : "only ");
        sheet_text(s, t->filter);
        sheet_text(s, t->typing ? "_  Enter: keep  Esc: all" : "  Esc: all");
    } else if (t->detail) {
        sheet_text(s, "Esc back  q quit  ? help  space pause");
    } else {
        sheet_text(s, "q quit  ? help  Enter detail  space pause  / filter  a all  < > order");
    }
    (void)snprintf(text, sizeof text, "%zu of %zu", t->row_count, t->site_count);
    if (s->columns >= 72) {
        sheet_right(s, text, s->columns);
    }
    while (s->column < s->columns) {
        s->blanks = 0;
        sheet_code(s, ' ', 1);
    }
    sheet_style(s, SHEET_PLAIN);
}

/* Where the lines of a screen go. */
static void top_page(top *t, unsigned rows)
{
    unsigned load = rows >= 7;
    unsigned bar = rows >= 12;
    unsigned path = rows >= 16;
    unsigned stalls = rows >= 30 ? 6 : rows >= 20 ? 4 : rows >= 14 ? 2 : 0;
    unsigned title = rows >= 5;
    unsigned finding = rows < 18 ? 0 : t->sheet.columns < 110 ? 3 : 2;
    unsigned fixed = 3 + title + finding + load + bar + path + (stalls > 0 ? stalls + 1 : 0);
    if (title) {
        top_title(t);
    }
    if (finding) {
        top_finding(t, finding);
    }
    if (bar) {
        top_load_bar(t);
    }
    if (load) {
        top_load(t);
    }
    top_now(t);
    if (path) {
        top_path(t);
    }
    if (rows > fixed) {
        top_table(t, rows - fixed);
    }
    if (stalls > 0 && t->watch.now != NULL) {
        sheet_styled(&t->sheet, SHEET_DIM, "stalls, newest first");
        sheet_newline(&t->sheet);
        top_stalls(t, stalls);
    }
}

/* Cuts the text to so many lines less the last, or fills it up. */
static void top_fit(sheet *s, unsigned rows)
{
    size_t end = strlen(s->end);
    unsigned lines = 0;
    for (size_t i = 0; i + end <= s->used; i++) {
        if (memcmp(s->bytes + i, s->end, end) == 0 && ++lines >= rows - 1) {
            s->used = rows > 1 ? i + end : i;
        }
    }
    for (; lines + 1 < rows; lines++) {
        sheet_newline(s);
    }
}

void top_draw(top *t)
{
    const screen *place = the_screen();
    sheet *s = &t->sheet;
    s->used = s->column = s->blanks = 0;
    s->columns = place->columns;
    s->end = "\r\n\033[K";      /* erases a line before it is written: behind a full one the cursor */
    sheet_raw(s, "\033[H\033[K"); /* stands on its last character, which would go */
    if (t->helping) {
        top_help_page(t);
    } else if (t->detail) {
        top_detail_page(t);
    } else {
        top_page(t, place->rows);
    }
    top_fit(s, place->rows);
    if (place->rows > 1) {
        top_status(t);
    }
    screen_write(s->bytes, s->used);
}

/* One interval as plain text. */
void top_print(top *t)
{
    sheet *s = &t->sheet;
    s->used = s->column = s->blanks = 0;
    s->columns = t->columns_wanted > 0 ? (unsigned)t->columns_wanted : terminal_columns(stdout);
    s->end = "\n";
    top_title(t);
    top_finding(t, 0);
    top_load(t);
    top_now(t);
    top_table(t, t->most_rows);
    if (t->watch.now != NULL) {
        top_stalls(t, 10);
    }
    sheet_newline(s);
    (void)fwrite(s->bytes, 1, s->used, stdout);
    if (fflush(stdout) != 0) {
        t->done = true;
    }
}
