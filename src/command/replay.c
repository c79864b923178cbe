/* replay.c - chroprof replay: an event stream becomes a profile and a report. */

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "block.h"
#include "buffer.h"
#include "capacity.h"
#include "clock.h"
#include "commands.h"
#include "content.h"
#include "events.h"
#include "formats.h"
#include "hide.h"
#include "input.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "replayed.h"
#include "values.h"

#define REPLAY_LONGEST_LINE ((size_t)16 << 20)

typedef struct replay {
    const char *source;        /* operand */
    format_options out;
    chroprof_options options;
    size_t memory;
    uint64_t repeat;
    bool strict, stats;
    chroprof profile;
    void *block;
    event_reader reader;
    double seconds;            /* spent on parsing and profiling */
} replay;

/* >>replay options */

static const char *set_repeat(void *field, const char *value)
{
    bool ok = read_count(value, 1, 1000000000, (uint64_t *)field);
    return ok ? NULL : "expected a number from 1 to 1000000000";
}

static const char *set_memory(void *field, const char *value)
{
    return read_size(value, (size_t *)field) ? NULL : "expected a size such as 500000, 64M or 1G";
}

static const tool_option replay_options[] = {
    { "format", 'f', "FORMAT", "text (default), json, folded, prometheus,\n"
      "prometheus-all (every series), pprof, firefox or\ntrace", set_format,
      offsetof(replay, out), format_choices },
    FORMAT_OUT(replay, out),
    HIDE_IDS,
    FORMAT_TEXT(replay, out),
    { "strict", '\0', NULL, "stop at the first malformed line, exit 1, no report", set_flag,
      offsetof(replay, strict), NULL },
    { "memory", 'm', "SIZE", "size of the profile's block, such as 512K or 1G\n"
      "(default 64M)", set_memory, offsetof(replay, memory), NULL },
    { "set", '\0', "OPTION=N", "capacity of one table, such as max_paths=5000; the\n"
      "report names the option of a full table", set_capacity,
      offsetof(replay, options), NULL },
    { "window", '\0', "TIME", "first width of the time windows; it doubles when their\n"
      "table is full (default 1ms)", set_duration, offsetof(replay, options.window_ns), NULL },
    { "stall", '\0', "TIME", "a callback or loop iteration longer\n"
      "than this is a stall (default 20ms)",
      set_duration, offsetof(replay, options.stall_ns), NULL },
    { "name", '\0', "NAME", "name of the profile (default: FILE without folders\n"
      "and endings)", set_text, offsetof(replay, options.name), NULL },
    { "repeat", '\0', "N", "replay the stream N times from memory; its times\ncontinue",
      set_repeat, offsetof(replay, repeat), NULL },
    { "stats", '\0', NULL, "load the stream into memory first, then print on\n"
      "standard error how fast it was parsed and profiled", set_flag,
      offsetof(replay, stats), NULL }
};

static const char replay_text[] =
    "\n"
    "FILE is a text stream of events; - is standard input. Names that end in .xz or\n"
    ".gz are unpacked by the programs xz and gzip. Each line is one event:\n"
    "\n"
    "  TIMESTAMP_NS KIND FUTURE_ID NAME FILE LINE\n"
    "  TIMESTAMP_NS ready_since FUTURE_ID SINCE_NS\n"
    "\n"
    "KIND is pending, ready, running, paused, switch, completed, failed, cancelled,\n"
    "enter, leave, next, idle_enter, idle_leave, loop_enter, loop_leave, tick or\n"
    "reset (nothing before it counts). pending, enter and next need the site\n"
    "(NAME FILE LINE); for the others it is optional. ready_since is a ready that was\n"
    "told late.\n"
    "In NAME and FILE \\s is a space, \\t a tab, \\n a newline, \\\\ a backslash and \\e\n"
    "the empty string. Lines that begin with # are comments.\n"
    "\n"
    "Malformed lines are skipped, counted, and named on standard error\n"
    "(FILE:LINE:COLUMN, in bytes). The exit code stays 0 unless --strict is given.\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output (malformed lines only with --strict,\n"
    "or if no line is an event), 2 wrong usage\n"
    "\n"
    "examples:\n"
    "  chroprof replay server.events\n"
    "  chroprof replay server.events.xz --by blame --top 5\n"
    "  chroprof replay - --format folded -o server.folded < server.events\n";

/* >>replay input: whole in memory, or in pieces of constant memory */

/* A line on the terminal, renewed now and then while a long stream is read. */
typedef struct progress {
    double start, last;
    bool on, shown;
} progress;

static progress progress_begin(void)
{
    progress p = { 0, 0, false, false };
    p.on = isatty(STDERR_FILENO) == 1;
    p.start = p.last = seconds_now();
    return p;
}

static void progress_show(progress *p, const input *in, const event_reader *r)
{
    double now = p->on ? seconds_now() : p->last;
    if (now - p->last < 0.25) {
        return;
    }
    p->last = now;
    p->shown = true;
    (void)fputs("\r\033[K", stderr);
    tool_part("%s: %.1f M events, %.1f M per second", in->name, (double)r->events / 1e6,
              (double)r->events / 1e6 / (now - p->start));
    if (in->size > 0) {
        tool_part(", %.0f %%", 100.0 * (double)in->taken / (double)in->size);
    }
}

static void progress_end(const progress *p)
{
    if (p->shown) {
        (void)fputs("\r\033[K", stderr);
    }
}

/* Moves what was not fed to the front and makes room behind it. */
static bool buffer_next(byte_buffer *b, size_t fed, const char *source)
{
    memmove(b->bytes, b->bytes + fed, b->used - fed);
    b->used -= fed;
    if (b->used < b->capacity) {
        return true;
    }
    if (b->capacity >= REPLAY_LONGEST_LINE) {
        tool_message("%s: a line is longer than 16 MiB, so this is not a stream of events", source);
        return false;
    }
    return buffer_grow(b);
}

/* Somebody may give a profile, or what is packed; said once, in place of many malformed lines. */
static bool is_no_stream(const input *in, const byte_buffer *b)
{
    content got = content_of(b->bytes, b->used);
    size_t begin = b->used < 128 ? b->used : 128;
    bool binary = got == CONTENT_OTHER && memchr(b->bytes, '\0', begin) != NULL;
    if (looks_packed(in, b)) {
        return true;
    }
    if (got == CONTENT_BLOCK || got == CONTENT_JSON || binary) {
        content_refuse(in->name, got, CONTENT_EVENTS);
        return true;
    }
    return false;
}

static bool stream_input(replay *run, input *in, byte_buffer *b)
{
    progress bar = progress_begin();
    ssize_t count = 0;
    bool ok = buffer_grow(b);
    while (ok && (count = input_read(in, b->bytes + b->used, b->capacity - b->used)) > 0) {
        b->used += (size_t)count;
        ok = !(in->taken == (uint64_t)count && is_no_stream(in, b)) &&
             buffer_next(b, reader_feed(&run->reader, b->bytes, b->used, false), in->name) &&
             !run->reader.stopped;
        progress_show(&bar, in, &run->reader);
    }
    progress_end(&bar);
    if (ok && count == 0) {
        (void)reader_feed(&run->reader, b->bytes, b->used, true);
    }
    return ok && count == 0 && !run->reader.stopped;
}

static bool feed_loaded(replay *run, const byte_buffer *b)
{
    double start = seconds_now();
    for (uint64_t round = 0; round < run->repeat && !run->reader.stopped; round++) {
        if (round > 0) {
            reader_rewind(&run->reader);
        }
        (void)reader_feed(&run->reader, b->bytes, b->used, true);
    }
    run->seconds = seconds_now() - start;
    return !run->reader.stopped;
}

/* A process has no stream, but one can be made of its events. */
static bool is_process(const char *source)
{
    char place[64];
    if (!block_is_process(source)) {
        return false;
    }
    (void)snprintf(place, sizeof place, "/proc/%.20s", source);
    if (access(place, F_OK) != 0) {
        block_nobody(source);
    } else {
        tool_message("%s: this is a process; use chroprof record %s -o FILE to keep its events, "
                     "or chroprof dump %s for a report", source, source, source);
    }
    return true;
}

static bool replay_input(replay *run)
{
    input in;
    byte_buffer buffer = { NULL, 0, 0 };
    bool ok;
    if (is_process(run->source)) {
        return false;
    }
    if (!input_open(&in, run->source)) {
        return false;
    }
    run->reader.source = in.name;
    if (run->stats || run->repeat > 1) {
        ok = load_input(&in, &buffer) && !is_no_stream(&in, &buffer);
        ok = input_close(&in, ok) && ok && feed_loaded(run, &buffer);
    } else {
        ok = stream_input(run, &in, &buffer);
        ok = input_close(&in, ok) && ok;
    }
    free(buffer.bytes);
    return ok;
}

/* >>replay output */

/* An order by figures that the stream never gave would puzzle. */
static void warn_without_ready(const replay *run)
{
    chroprof_totals totals;
    bool asked = run->out.by == CHROPROF_BY_DELAY || run->out.by == CHROPROF_BY_BLAME;
    chroprof_read_totals(&run->profile, &totals);
    if (asked && totals.delay_ns == 0) {
        tool_message("%s: no future was ready and had to wait, so delay and blame are 0; does "
                     "the stream have ready events?", run->reader.source);
    }
}

/* What standard error says at the end. */
static void replay_summary(const replay *run)
{
    const event_reader *r = &run->reader;
    if (r->malformed > 0 && !r->strict) {
        tool_message("%s: %llu malformed line%s skipped, %llu event%s read", r->source,
                     (unsigned long long)r->malformed, r->malformed == 1 ? "" : "s",
                     (unsigned long long)r->events, r->events == 1 ? "" : "s");
    }
    if (r->malformed > 0 && r->events == 0) {
        tool_message("%s: no line of it is an event; chroprof replay --help shows the format",
                     r->source);
    }
    if (r->malformed == 0 && r->events == 0) {
        tool_message("%s: the stream has no events", r->source);
    }
    if (run->stats) {
        double seconds = run->seconds > 0 ? run->seconds : 1e-9;
        tool_line("%llu events in %.3f s: %.2f million per second",
                  (unsigned long long)r->events, run->seconds,
                  (double)r->events / seconds / 1e6);
    }
}

/* >>replay run */

/* The smallest block that has room for the options, which is more than the one that had not. Of a
 * large one, one that is surely enough: each try writes it. 0: no block is. */
static size_t replay_least(const replay *run)
{
    size_t enough = chroprof_memory_size(&run->options);
    size_t small = (size_t)run->memory;
    void *block = enough <= REPLAY_MEMORY ? malloc(enough) : NULL;
    chroprof profile;
    while (block != NULL && enough > small + 1) {
        size_t size = small + (enough - small) / 2;
        if (chroprof_init(&profile, block, size, &run->options) == CHROPROF_OK) {
            enough = size;
        } else {
            small = size;
        }
    }
    free(block);
    return enough;
}

static void replay_no_room(const replay *run)
{
    size_t least = replay_least(run);
    if (least > run->memory) {
        tool_message("--memory %llu is too small; give at least %zu bytes",
                     (unsigned long long)run->memory, least);
    } else {
        tool_message("no memory is enough for these --set values; lower them");
    }
}

static bool replay_profile(replay *run)
{
    chroprof_result result;
    run->block = malloc(run->memory);
    if (run->block == NULL) {
        tool_message("not enough memory for a block of %llu bytes; lower --memory",
                     (unsigned long long)run->memory);
        return false;
    }
    run->options.clock = chroprof_clock_manual;
    if (run->options.window_ns == 0) {
        run->options.window_ns = REPLAY_WINDOW_NS;
    }
    if (run->options.name == NULL) {
        run->options.name = replayed_name(run->source);
    }
    result = chroprof_init(&run->profile, run->block, run->memory, &run->options);
    if (result == CHROPROF_ERR_MEMORY) {
        replay_no_room(run);
    } else if (result != CHROPROF_OK) {
        tool_message("%s (see --memory and --set)", chroprof_result_text(result));
    }
    hide_ids_of(&run->profile);
    return result == CHROPROF_OK;
}

/* The report is written for whatever was taken, unless that is nothing, or --strict or a failing
 * input forbids it. The output is opened before, so that a long run does not end in a wrong name. */
static int replay_all(replay *run)
{
    const char *broken;
    FILE *out;
    bool wrote;
    int result = output_open(run->out.out, run->source, &out);
    if (result != TOOL_OK) {
        return result;
    }
    if (!replay_input(run)) {
        return TOOL_INPUT;
    }
    broken = chroprof_check(&run->profile);
    if (broken != NULL) {
        tool_message("a bug in chroprof.h, please report it: %s", broken);
        return TOOL_INPUT;
    }
    if (run->reader.events == 0) {
        replay_summary(run);
        return output_close(run->out.out, out, false);
    }
    wrote = write_view(&run->out, &run->profile, run->source, false, out);
    result = output_close(run->out.out, out, wrote);
    replay_summary(run);
    warn_without_ready(run);
    return result;
}

static int replay_run(const tool_command *command, int count, char **words)
{
    static replay run;
    int result;
    run.memory = REPLAY_MEMORY;
    run.repeat = 1;
    if (!take_words(command, count, words, &run, &run.source, 1, &result)) {
        return result;
    }
    if (!format_is_readable(&run.out) || !replay_profile(&run)) {
        free(run.block);
        return TOOL_USAGE;
    }
    result = reader_init(&run.reader, &run.profile, run.source, run.strict) ? replay_all(&run)
                                                                            : TOOL_INPUT;
    reader_free(&run.reader);
    free(run.block);
    return result;
}

const tool_command replay_command = {
    "replay", "FILE [options]", { "FILE" },
    "Reads a stream of events and reports where the loop's time went.",
    replay_text, OPTIONS_OF(replay_options), replay_run
};
