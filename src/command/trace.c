/* trace.c - see trace.h */

#include "trace.h"

#include <inttypes.h>
#include <stddef.h>

#include "commands.h"
#include "hide.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "symbolize.h"
#include "timeline.h"
#include "trace_form.h"

bool trace_of_steps(const chroprof *view)
{
    return view != NULL && chroprof_timeline(view, 0, UINT64_MAX, NULL, 0) > 0;
}

bool trace_write(const profile_text *p, bool windows, FILE *out)
{
    timeline ring;
    bool ok;
    if (windows) {
        return trace_windows(p, out);
    }
    ok = timeline_open(&ring, p);
    if (ok && ring.left_out > 0) {
        tool_message("%s: the trace shows the last steps, which are all that JSON keeps of the ring",
                     p->source);
    }
    ok = ok && (ring.count > 0 ? trace_steps(p, &ring, out) : trace_windows(p, out));
    if (ok && ring.count == 0) {
        tool_message("%s: it has no steps of the ring, so this trace shows the whole run by its "
                     "windows", p->source);
    }
    timeline_close(&ring);
    return ok;
}

typedef struct trace_words {
    const char *source;
    const char *out_name;
    bool windows, any_size;
    profile_text profile;
} trace_words;

static const tool_option trace_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,
      offsetof(trace_words, out_name), NULL },
    { "windows", 'w', NULL, "show the whole run by its windows", set_flag,
      offsetof(trace_words, windows), NULL },
    { "any-size", '\0', NULL, "write a trace that is 50 times as large as its profile, and\n"
      "larger than 200 MiB", set_flag, offsetof(trace_words, any_size), NULL },
    HIDE_IDS
};

static const char trace_text[] =
    "\n"
    "FILE is a profile of chroprof_map or chroprof run -o, JSON of one, or a stream\n"
    "of chroprof record. PID is a process that has a profile. - is standard input.\n"
    "OUT opens in Perfetto, chrome://tracing and speedscope.\n"
    "\n"
    "The last events as they happened, exact to the nanosecond. One track shows the\n"
    "loop: the tasks that ran and what they nested, idle and uninstrumented time,\n"
    "stalls, samples, and how many tasks were live and ready. Each root task, such as\n"
    "a request, is a process of its own. It shows that task and those that came from\n"
    "it: created, ready, running, waiting, finished.\n"
    "\n"
    "JSON has the last 100,000 events. Its samples show what code ran, on a second\n"
    "track.\n"
    "\n"
    "With --windows: the whole run. It shows what each site took per window (end to\n"
    "end, because the order inside a window is not known). It has counters per site\n"
    "in percent of the loop, and the stalls with what each site took. So is a profile\n"
    "shown that has no events: one that was merged, or JSON of chroprof 0.1.\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output, 2 wrong usage\n"
    "\n"
    "examples:\n"
    "  chroprof trace demo.json -o demo.trace.json\n"
    "  chroprof trace server.chroprof -o server.trace.json\n"
    "  chroprof trace $(pidof server) -o now.trace.json\n"
    "  chroprof trace server.events -o server.trace.json\n";

/* Of a long stream the ring has the end. */
static void trace_warn_of_rest(const profile_text *p)
{
    chroprof_totals totals;
    size_t steps = chroprof_timeline(&p->block.view, 0, UINT64_MAX, NULL, 0);
    chroprof_read_totals(&p->block.view, &totals);
    if (p->replayed && steps < totals.events) {
        tool_message("%s: the trace shows the last %zu of %" PRIu64 " events; for more: chroprof "
                     "replay %s --memory 1G --set max_events=%" PRIu64 " -f trace", p->source,
                     steps, totals.events, p->source, totals.events);
    }
}

static bool trace_write_words(void *user, FILE *out)
{
    const trace_words *run = (const trace_words *)user;
    return trace_write(&run->profile, run->windows, out);
}

static int trace_run(const tool_command *command, int count, char **words)
{
    static trace_words run;
    int result;
    if (!take_words(command, count, words, &run, &run.source, 1, &result)) {
        return result;
    }
    result = TOOL_INPUT;
    if (run.any_size) {
        trace_of_any_size();
    }
    if (output_possible(run.out_name) && profile_load_or_replay(&run.profile, run.source)) {
        bool steps = !run.windows && trace_of_steps(run.profile.view);
        if (steps || profile_symbolize(&run.profile, NULL)) {
            result = output_write(run.out_name, trace_write_words, &run);
        }
        if (steps && result == TOOL_OK) {
            trace_warn_of_rest(&run.profile);
        }
    }
    profile_free(&run.profile);
    return result;
}

const tool_command trace_command = {
    "trace", "FILE|PID|- [-w] [-o OUT.json]", { "FILE or PID" },
    "Writes a trace for Perfetto, chrome://tracing and speedscope.",
    trace_text, OPTIONS_OF(trace_options), trace_run
};
