/* report.c - chroprof report: one HTML file that shows one profile, or compares two.
 *
 * The page itself is examples/report.html. make turns it into the bytes of report_page.h; a command
 * that was built without them reads the page where --page tells. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "buffer.h"
#include "columns.h"
#include "commands.h"
#include "input.h"
#include "json.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "profile.h"
#include "symbolize.h"

#ifdef CHROPROF_REPORT_PAGE
#include CHROPROF_REPORT_PAGE
#else
static const unsigned char report_page[] = { 0 };
#endif

#define REPORT_MARK "<!-- chroprof:profiles -->"
#define REPORT_FUTURES 300     /* rows of live futures that go into the page */

typedef struct report {
    const char *sources[2];
    const char *out_name;
    const char *page_name;
    profile_text profiles[2];
    byte_buffer page;
} report;

static const tool_option report_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,
      offsetof(report, out_name), NULL },
    { "page", '\0', "HTML", "use this copy of examples/report.html", set_text,
      offsetof(report, page_name), NULL }
};

static const char report_text[] =
    "\n"
    "FILE is a profile of chroprof_map or chroprof run -o, or JSON of one; PID is a\n"
    "process that has one; - is standard input. OUT is one file that opens in every\n"
    "browser and needs nothing else: ranks, tree, timeline, stalls. If you also give\n"
    "BEFORE, another profile, the page shows what changed since then.\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output, 2 wrong usage\n"
    "\n"
    "examples:\n"
    "  chroprof report demo.json -o demo.html\n"
    "  chroprof report server.chroprof -o server.html\n"
    "  chroprof report yesterday.json today.json -o change.html\n"
    "  chroprof replay server.events -f json | chroprof report - -o server.html\n";

/* >>report writing */

static void write_attribute(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("&<>\"'", *text) != NULL || (unsigned char)*text < 0x20) {
            (void)fprintf(out, "&#%u;", (unsigned)(unsigned char)*text);
        } else {
            (void)fputc(*text, out);
        }
    }
}

/* >>report futures: a page needs those that are longest in their state, not all */

typedef struct future_row {
    json_text row;
    uint64_t since;
} future_row;

static int older_first(const void *a, const void *b)
{
    const future_row *x = (const future_row *)a;
    const future_row *y = (const future_row *)b;
    if (x->since != y->since) {
        return x->since < y->since ? -1 : 1;
    }
    return x->row.bytes < y->row.bytes ? -1 : x->row.bytes > y->row.bytes;
}

typedef struct future_list {
    future_row *rows;
    size_t count;
} future_list;

static bool read_future(void *user, json_reader *r)
{
    future_list *l = (future_list *)user;
    future_row *future = &l->rows[l->count++];
    json_reader inner;
    const json_field fields[] = { JSON_NUMBER("since_ns", &future->since) };
    if (!json_value(r, &future->row)) {
        return false;
    }
    inner = json_part(r, future->row);
    return JSON_FIELDS(&inner, fields);
}

static bool write_futures(FILE *out, const profile_text *p)
{
    future_list l = { NULL, 0 };
    bool ok = json_room(&p->reader, p->futures, (void **)&l.rows, sizeof *l.rows) &&
              json_each(&p->reader, p->futures, read_future, &l);
    if (ok) {
        qsort(l.rows, l.count, sizeof *l.rows, older_first);
        (void)fputc('[', out);
        for (size_t i = 0; i < l.count && i < REPORT_FUTURES; i++) {
            (void)fputs(i > 0 ? ",\n" : "\n", out);
            write_safe_json(out, l.rows[i].row.bytes, l.rows[i].row.length);
        }
        (void)fputs("\n]", out);
    }
    free(l.rows);
    return ok;
}

static int earlier_first(const void *a, const void *b)
{
    const json_text *x = (const json_text *)a;
    const json_text *y = (const json_text *)b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The text of the profile, but the long lists in a form that is quicker to read. */
static bool write_pieces(FILE *out, const profile_text *p)
{
    const char *at = p->bytes.bytes;
    json_text lists[] = { p->paths, p->futures, p->stacks, p->samples };
    column_row head;
    bool ok = true;
    qsort(lists, sizeof lists / sizeof *lists, sizeof *lists, earlier_first);
    for (size_t i = 0; ok && i < sizeof lists / sizeof *lists; i++) {
        bool futures = lists[i].bytes == p->futures.bytes;
        if (lists[i].length == 0 || (!futures && !columns_fit(&p->reader, lists[i], &head))) {
            continue;
        }
        write_safe_json(out, at, (size_t)(lists[i].bytes - at));
        if (futures) {
            ok = write_futures(out, p);
        } else {
            write_columns(out, &p->reader, lists[i], &head);
        }
        at = lists[i].bytes + lists[i].length;
    }
    write_safe_json(out, at, (size_t)(p->bytes.bytes + p->bytes.used - at));
    return ok;
}

static bool write_profile(FILE *out, const profile_text *p)
{
    const char *slash = strrchr(p->source, '/');
    bool ok;
    (void)fputs("<script type=\"application/json\" class=\"chroprof-profile\" data-source=\"", out);
    write_attribute(out, slash != NULL ? slash + 1 : p->source);
    (void)fputs("\">", out);
    ok = write_pieces(out, p);
    (void)fputs("</script>\n", out);
    return ok;
}

/* >>report run */

static bool load_page(report *run)
{
    input in;
    bool ok;
    if (run->page_name == NULL && sizeof report_page > 1) {
        const size_t size = sizeof report_page;
        run->page.bytes = (char *)malloc(size);
        run->page.used = run->page.bytes != NULL ? size : 0;
        if (run->page.used > 0) {
            memcpy(run->page.bytes, report_page, size);
        }
        return run->page.used > 0;
    }
    if (run->page_name == NULL) {
        tool_message("report: this command was built without its page; build it with make "
                     "chroprof, or add --page examples/report.html");
        return false;
    }
    if (!input_open(&in, run->page_name)) {
        return false;
    }
    ok = buffer_grow(&run->page) && load_input(&in, &run->page);
    return input_close(&in, ok) && ok;
}

/* Where the profiles go; NULL, with a message, if this is no such page. */
static const char *find_mark(const report *run)
{
    const char *at = run->page.bytes;
    const char *end = at + run->page.used;
    size_t length = strlen(REPORT_MARK);
    for (; (size_t)(end - at) >= length; at++) {
        if (memcmp(at, REPORT_MARK, length) == 0) {
            return at;
        }
    }
    tool_message("%s: there is no line %s in this page; give a copy of examples/report.html",
                 run->page_name, REPORT_MARK);
    return NULL;
}

static bool write_page(report *run, FILE *out)
{
    const char *mark = find_mark(run);
    const char *rest = mark != NULL ? mark + strlen(REPORT_MARK) : NULL;
    bool ok = mark != NULL;
    if (!ok) {
        return false;
    }
    (void)fwrite(run->page.bytes, 1, (size_t)(mark - run->page.bytes), out);
    for (int i = 0; ok && i < 2 && run->sources[i] != NULL; i++) {
        ok = write_profile(out, &run->profiles[i]);
    }
    (void)fwrite(rest, 1, (size_t)(run->page.bytes + run->page.used - rest), out);
    return ok;
}

static bool report_write(void *user, FILE *out)
{
    return write_page((report *)user, out);
}

static int report_all(report *run)
{
    for (int i = 0; i < 2 && run->sources[i] != NULL; i++) {
        if (!profile_load(&run->profiles[i], run->sources[i]) ||
            !profile_symbolize(&run->profiles[i], NULL)) {
            return TOOL_INPUT;
        }
    }
    return load_page(run) ? output_write(run->out_name, report_write, run) : TOOL_INPUT;
}

static int report_run(const tool_command *command, int count, char **words)
{
    static report run;
    int result;
    if (!take_words(command, count, words, &run, run.sources, 2, &result)) {
        return result;
    }
    result = report_all(&run);
    profile_free(&run.profiles[0]);
    profile_free(&run.profiles[1]);
    free(run.page.bytes);
    return result;
}

const tool_command report_command = {
    "report", "[BEFORE] FILE|PID|- [-o OUT.html]", { "FILE or PID" },
    "Makes a page for the browser of a profile, or of two to compare.",
    report_text, OPTIONS_OF(report_options), report_run
};
