/* report.c - chroprof report: one HTML file that shows one profile, or compares two. */

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
#include "diff.h"
#include "gain.h"
#include "hide.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "profile.h"
#include "symbolize.h"

typedef struct report {
    const char *sources[2];
    const char *out_name;
    const char *page_name;
    bool attach;               /* a process without a profile is watched from outside first */
    const char *for_text;      /* how long; NULL: ten seconds */
    profile_text profiles[2];
    byte_buffer page;
} report;

static const tool_option report_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,
      offsetof(report, out_name), NULL },
    { "attach", '\0', NULL, "watch a process without a profile from outside first,\n"
      "as chroprof attach does (Linux)", set_flag, offsetof(report, attach), NULL },
    { "for", '\0', "S", "how long (default 10 s), or a duration such as 500ms", set_text,
      offsetof(report, for_text), NULL },
    { "page", '\0', "HTML", "use this page; src/page/join.sh makes one", set_text,
      offsetof(report, page_name), NULL },
    HIDE_IDS
};

static const char report_text[] =
    "\n"
    "FILE is a profile of chroprof_map or chroprof run -o, JSON of one, or a stream\n"
    "of chroprof record. PID is a process that has a profile. - is standard input.\n"
    "OUT is one file that opens in every browser and needs nothing else: ranks, tree,\n"
    "timeline, stalls. If you also give BEFORE, another profile, the page shows what\n"
    "changed since then.\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output, 2 wrong usage\n"
    "\n"
    "examples:\n"
    "  chroprof report demo.json -o demo.html\n"
    "  chroprof report server.chroprof -o server.html\n"
    "  chroprof report yesterday.json today.json -o change.html\n"
    "  chroprof report server.events -o server.html\n"
    "  chroprof report $(pidof redis-server) --attach -o now.html\n";

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

static bool write_profile(FILE *out, const profile_text *p)
{
    const char *slash = strrchr(p->source, '/');
    bool ok;
    (void)fputs("<script type=\"application/json\" class=\"chroprof-profile\" data-source=\"", out);
    write_attribute(out, slash != NULL ? slash + 1 : p->source);
    (void)fputs("\">", out);
    ok = page_write_profile(out, p);
    (void)fputs("</script>\n", out);
    return ok;
}

/* What chroprof diff says of the two, for the page to say the same. */
static bool write_verdict(FILE *out, const profile_text *both)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *text = open_memstream(&bytes, &count);
    bool ok = text != NULL && diff_write_verdict(&both[0], &both[1], text);
    ok = text != NULL && fclose(text) == 0 && ok;
    if (ok && count > 0) {
        (void)fputs("<script type=\"application/json\" class=\"chroprof-diff\">", out);
        write_safe_json(out, bytes, count);
        (void)fputs("</script>\n", out);
    }
    free(bytes);
    return ok;
}

/* >>report run */

static bool write_page(report *run, FILE *out)
{
    const char *mark = page_find(&run->page, run->page_name, PAGE_MARK);
    const char *rest = mark != NULL ? mark + strlen(PAGE_MARK) : NULL;
    bool ok = mark != NULL;
    if (!ok) {
        return false;
    }
    (void)fwrite(run->page.bytes, 1, (size_t)(mark - run->page.bytes), out);
    for (int i = 0; ok && i < 2 && run->sources[i] != NULL; i++) {
        ok = write_profile(out, &run->profiles[i]);
    }
    ok = ok && (run->sources[1] == NULL || write_verdict(out, run->profiles));
    (void)fwrite(rest, 1, (size_t)(run->page.bytes + run->page.used - rest), out);
    return ok;
}

static bool report_write(void *user, FILE *out)
{
    return write_page((report *)user, out);
}

static int report_all(report *run)
{
    if (!output_possible(run->out_name)) {
        return TOOL_INPUT;
    }
    for (int i = 0; i < 2 && run->sources[i] != NULL; i++) {
        if (!profile_load_or_replay(&run->profiles[i], run->sources[i]) ||
            !profile_symbolize(&run->profiles[i], NULL) || !gain_add(&run->profiles[i], true)) {
            return TOOL_INPUT;
        }
    }
    return page_load(&run->page, run->page_name)
           ? output_write(run->out_name, report_write, run) : TOOL_INPUT;
}

/* chroprof attach writes the page. */
static int report_attached(report *run)
{
    char words[][12] = { "--for", "--report" };
    char seconds[] = "10", out[] = "-";
    char *all[] = { words[0], (char *)(uintptr_t)run->for_text, words[1],
                    (char *)(uintptr_t)run->out_name, (char *)(uintptr_t)run->sources[0], NULL };
    all[1] = all[1] != NULL ? all[1] : seconds;
    all[3] = all[3] != NULL ? all[3] : out;
    return attach_command.run(&attach_command, 5, all);
}

static int report_run(const tool_command *command, int count, char **words)
{
    report run;                /* of its own: run and attach write pages by this, more than once */
    int result;
    memset(&run, 0, sizeof run);
    if (!take_words(command, count, words, &run, run.sources, 2, &result)) {
        return result;
    }
    if (!output_is_readable(run.out_name, "a page")) {
        return TOOL_USAGE;
    }
    result = run.attach && run.sources[1] == NULL && block_is_process(run.sources[0]) &&
             !block_of_a_process(run.sources[0]) ? report_attached(&run) : report_all(&run);
    profile_free(&run.profiles[0]);
    profile_free(&run.profiles[1]);
    free(run.page.bytes);
    return result;
}

const tool_command report_command = {
    "report", "[BEFORE] FILE|PID|- [-o OUT.html]", { "FILE or PID" },
    "Writes a page for the browser about one profile, or two to compare.",
    report_text, OPTIONS_OF(report_options), report_run
};
