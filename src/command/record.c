/* record.c - chroprof record: follows the ring of a program from outside, and keeps every event. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "block.h"
#include "clock.h"
#include "commands.h"
#include "foreign.h"
#include "hide.h"
#include "input.h"
#include "message.h"
#include "options.h"
#include "origin.h"
#include "output.h"
#include "steps.h"
#include "values.h"

#define RECORD_DEFAULT_NS UINT64_C(10000000000)
#define RECORD_PAUSE_NS UINT64_C(500000)
#define RECORD_LOOK_S 0.05
#define RECORD_TRIES 100

typedef struct record {
    const char *source;        /* operand */
    const char *out;
    uint64_t for_ns;
    block_file first, last;    /* the profile as it was, and as it is */
    block_file after;          /* as it is a moment after the stream ended */
    chroprof_origin origin;    /* of the first */
    uint64_t start_unix_ns;
    uint64_t ring;             /* how many events it holds */
    const char *ended;         /* why it ended early */
    double seconds;
    steps steps;
} record;

static const char *set_for(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    bool ok = read_seconds(value, ns) && *ns > 0 && *ns <= UINT64_C(86400000000000);
    return ok ? NULL : "expected a number of seconds, at most 86400";
}

static const tool_option record_options[] = {
    { "out", 'o', "FILE", "where the stream goes (default: standard output)", set_text,
      offsetof(record, out), NULL },
    { "for", '\0', "SECONDS", "how long (default 10); Ctrl-C ends it earlier", set_for,
      offsetof(record, for_ns), NULL },
    HIDE_IDS
};

static const char record_text[] =
    "\n"
    "The program is not stopped and runs no instruction more. Its events are read\n"
    "from the ring of its profile, again and again. Events that the program\n"
    "overwrote before they were read are counted, and their place is marked. To\n"
    "lose none on a quiet machine, the ring (option max_events) should hold the\n"
    "events of 8 ms: 8192 are enough for a million per second, 65536 for four\n"
    "million. More than eight million per second cannot be followed for long. On a\n"
    "busy machine, take eight times as many. A larger ring is read less often, which\n"
    "spares the program's caches: at a million events per second, 8192 cost it up to\n"
    "6 % of its CPU time, 65536 nothing that could be measured. Each event takes\n"
    "100 bytes of memory until all are written.\n"
    "\n"
    "The stream begins with the live futures and the running stack. chroprof replay\n"
    "turns it into a profile of that time; trace, report and diff take it as well.\n"
    "The time of each event is right to the nanosecond. The ring does not tell two\n"
    "things. A future that was created and finished without running, or at once, has\n"
    "no site, and is called (unknown). If the program switched its profile off and\n"
    "on again, what ran before is not known to have ended.\n"
    "\n"
    "exit codes: 0 recorded, 1 bad input or output, 2 wrong usage\n"
    "\n"
    "examples:\n"
    "  chroprof record $(pidof server) --for 10 -o server.events\n"
    "  chroprof replay server.events --by blame\n"
    "  chroprof trace server.events -o server.trace.json\n";

/* >>looking */

static volatile sig_atomic_t *interrupted(void)
{
    static volatile sig_atomic_t flag;
    return &flag;
}

static void on_interrupt(int number)
{
    (void)number;
    *interrupted() = 1;
}

/* Is it still the run that the record began with? NULL, or what happened. */
static const char *what_happened(const record *run, const block_file *now)
{
    chroprof_totals totals;
    chroprof_origin origin;
    chroprof_read_totals(&now->view, &totals);
    block_origin(now, &origin);
    if (origin.pid != run->origin.pid) {
        return "its program was restarted";
    }
    return totals.start_unix_ns != run->start_unix_ns ? "its program reset the profile" : NULL;
}

/* One copy; ended: of a program that is gone. false: there is nothing new to see. */
static bool take(record *run, block_file *at, bool *ended)
{
    chroprof_origin origin;
    block_file now;
    memset(&now, 0, sizeof now);
    now.name = run->first.name;
    now.place = run->first.place;
    errno = 0;
    run->ended = block_read(&now) == CHROPROF_OK ? what_happened(run, &now)
                                                 : "its file can no longer be read";
    if (run->ended != NULL) {
        block_close(&now);
        return false;
    }
    block_close(at);
    *at = now;
    block_origin(&now, &origin);
    *ended = origin.ended || (origin.mapped && !origin.alive);
    return true;
}

/* Looks again. false: there is nothing new to see; the look before stays. */
static bool look(record *run, block_file *at)
{
    bool ended, seen = take(run, at, &ended);
    if (seen && ended) {                    /* after that copy: it may have gone on for a while */
        (void)take(run, at, &ended);
        run->ended = "its program ended";
    }
    return seen;
}

static void pause_ns(uint64_t ns)
{
    const struct timespec pause = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    (void)nanosleep(&pause, NULL);
}

/* Is a quarter of the ring new since the last look, or that look long ago? Costs next to nothing. To
 * look at half would not cost the program less: what it pays for is that each line is read once. */
static bool is_due(const record *run, int fd, uint64_t sequence, double since)
{
    uint64_t events = (block_sequence(fd) - sequence) / 2;
    return events >= run->ring / 4 || seconds_now() - since >= RECORD_LOOK_S;
}

/* Follows the ring until the time is over, and looks once more then. false: no memory. */
static bool follow(record *run)
{
    double start = seconds_now(), since = start;
    int fd = open(run->first.place, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint64_t sequence = block_sequence(fd);
    bool enough = true, over = false;
    while (enough && !over && run->ended == NULL) {
        size_t count;
        pause_ns(RECORD_PAUSE_NS);
        over = *interrupted() || (seconds_now() - start) * 1e9 >= (double)run->for_ns;
        if (!over && !is_due(run, fd, sequence, since)) {
            continue;
        }
        sequence = block_sequence(fd);
        since = seconds_now();
        if (look(run, &run->last)) {
            enough = steps_take(&run->steps, &run->last.view, run->ended != NULL, &count);
        }
    }
    (void)close(fd);
    run->seconds = seconds_now() - start;
    steps_end(&run->steps);
    return enough;
}

static const chroprof *view_of(const block_file *file, const chroprof *other)
{
    return file->copy != NULL ? &file->view : other;
}

/* Of the end of the stream. */
static const chroprof *last_view(const record *run)
{
    return view_of(&run->last, &run->first.view);
}

/* The one that knows all paths. */
static const chroprof *after_view(const record *run)
{
    return view_of(&run->after, last_view(run));
}

/* What came right after the stream tells more of its last events. false: no memory. */
static bool resolve(record *run)
{
    const char *ended = run->ended;
    uint64_t lost = run->steps.lost;
    size_t count;
    bool enough = true;
    if (ended == NULL && look(run, &run->after)) {
        enough = steps_take(&run->steps, &run->after.view, run->ended != NULL, &count);
    }
    run->ended = ended;
    run->steps.lost = lost;
    return enough && steps_resolve(&run->steps, &run->first.view, last_view(run), after_view(run));
}

/* >>record */

/* Was the program inside an event, of which a part of the profile knows already? */
static bool in_event(const chroprof *view)
{
    chroprof_totals totals;
    chroprof_read_totals(view, &totals);
    return totals.doubt_events > 0;
}

static bool record_begin(record *run)
{
    chroprof_totals totals;
    chroprof_options options;
    if (!block_open(&run->first, run->source)) {
        return false;
    }
    block_origin(&run->first, &run->origin);
    if (run->first.stream || !run->origin.alive) {
        tool_message("%s: no program writes to it, so there is nothing to record; chroprof trace "
                     "shows the last events of its ring", run->first.name);
        return false;
    }
    chroprof_read_totals(&run->first.view, &totals);
    chroprof_read_options(&run->first.view, &options);
    run->start_unix_ns = totals.start_unix_ns;
    run->ring = options.max_events;
    for (int tries = 0; tries < RECORD_TRIES && in_event(&run->first.view); tries++) {
        pause_ns(RECORD_PAUSE_NS);
        if (!look(run, &run->first)) {
            tool_message("%s: %s", run->first.name, run->ended);
            return false;
        }
    }
    block_origin(&run->first, &run->origin);
    return steps_begin(&run->steps, &run->first.view, run->origin.end_ns);
}

static bool record_write(void *user, FILE *out)
{
    const record *run = (const record *)user;
    const chroprof *view = after_view(run);
    const steps *s = &run->steps;
    (void)fputs("# chroprof record of ", out);
    foreign_print(out, run->first.name); /* in one line, whatever it holds */
    (void)fputc('\n', out);
    steps_write_state(s, &run->first.view, view, out);
    for (size_t i = s->from; i < s->to; i++) {
        steps_write(&s->rows[i], view, out);
    }
    steps_write_lost(s->lost_last, out);
    (void)fprintf(out, "%" PRIu64 " tick 0\n", s->end_ns);
    return ferror(out) == 0;
}

static void record_summary(const record *run)
{
    size_t count = run->steps.to - run->steps.from;
    double rate = run->seconds > 0 ? (double)count / run->seconds : 0;
    if (run->ended != NULL) {
        tool_message("%s: %s after %.1f s", run->first.name, run->ended, run->seconds);
    }
    tool_message("%zu events in %.1f s, %.0f per second", count, run->seconds, rate);
    if (run->steps.lost > 0) {
        uint64_t advice = (uint64_t)((rate + (double)run->steps.lost / run->seconds) / 100);
        advice = advice > 8 * run->ring ? advice : 8 * run->ring;
        tool_message("%" PRIu64 " more were overwritten before they could be read; the ring holds "
                     "%" PRIu64 ", so try max_events = %" PRIu64, run->steps.lost, run->ring, advice);
    }
}

static int record_all(record *run)
{
    struct sigaction action;
    int result;
    if (!output_is_stdout(run->out) && block_is_owned(run->out)) {
        return TOOL_INPUT;
    }
    if (!record_begin(run)) {
        return TOOL_INPUT;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    tool_message("%s: recording for %.3g s; Ctrl-C ends it", run->first.name,
                 (double)run->for_ns / 1e9);
    if (!follow(run) || !resolve(run)) {
        tool_message("not enough memory for so many events; give a shorter --for");
        return TOOL_INPUT;
    }
    result = output_write(run->out, record_write, run);
    record_summary(run);
    return result;
}

static int record_run(const tool_command *command, int count, char **words)
{
    static record run;
    int result;
    run.for_ns = RECORD_DEFAULT_NS;
    input_must_be_file();
    if (!take_words(command, count, words, &run, &run.source, 1, &result)) {
        return result;
    }
    result = record_all(&run);
    block_close(&run.first);
    block_close(&run.last);
    block_close(&run.after);
    steps_free(&run.steps);
    return result;
}

const tool_command record_command = {
    "record", "FILE|PID [options]", { "FILE or PID" },
    "Records the events of a running program, for replay and other commands.",
    record_text, OPTIONS_OF(record_options), record_run
};
