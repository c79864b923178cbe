/* trace.c - see trace.h */

#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hide.h"
#include "json.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "stacks.h"
#include "symbolize.h"
#include "timeline.h"
#include "windows.h"

#define TRACE_COUNTERS 20      /* sites with a counter of their own */

typedef struct trace {
    const profile_text *profile;
    window_list windows;
    uint64_t at;               /* where the time line ends so far */
    bool ring;                 /* stalls are marks, and nothing before `begin` is shown */
    uint64_t begin;
    uint64_t stalls;           /* written so far */
    FILE *out;
    bool comma;
} trace;

/* >>trace writing */

static void trace_begin(trace *t, const char *phase)
{
    (void)fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":1", t->comma ? "," : "", phase);
    t->comma = true;
}

static void trace_time(trace *t, uint64_t ns)
{
    (void)fprintf(t->out, ",\"ts\":%llu.%03u", (unsigned long long)(ns / 1000),
                  (unsigned)(ns % 1000));
}

static void trace_raw(trace *t, json_text text)
{
    (void)fwrite(text.bytes, 1, text.length, t->out);
}

static void trace_site_name(trace *t, const window_site *site)
{
    (void)fputc('"', t->out);
    trace_raw(t, site->name);
    if (site->ambiguous) {
        (void)fputs(" (", t->out);
        trace_raw(t, site->file);
        (void)fprintf(t->out, ":%llu)", (unsigned long long)site->line);
    }
    (void)fputc('"', t->out);
}

/* One piece of the time line, site NULL: one of the loop's own states. Returns where it ends. */
static uint64_t trace_piece(trace *t, const window_site *site, const char *state, uint64_t start,
                            uint64_t length)
{
    for (int end = 0; end < 2 && length > 0; end++) {
        trace_begin(t, end ? "E" : "B");
        (void)fputs(",\"tid\":1,\"name\":", t->out);
        if (site != NULL) {
            trace_site_name(t, site);
        } else {
            (void)fprintf(t->out, "\"%s\"", state);
        }
        trace_time(t, start + (end ? length : 0));
        (void)fputc('}', t->out);
    }
    return start + length;
}

static uint64_t trace_pieces(trace *t, const window_row *w, uint64_t at)
{
    at = at > w->start ? at : w->start;
    for (size_t i = 0; i < t->windows.active_count; i++) {
        const window_site *site = t->windows.active[i];
        at = trace_piece(t, site, "", at, t->windows.exec[site - t->windows.sites]);
    }
    at = trace_piece(t, NULL, "(untracked)", at, w->untracked);
    at = trace_piece(t, NULL, "(uninstrumented)", at, w->loop);
    return trace_piece(t, NULL, "(idle)", at, w->idle);
}

/* Thousandths of a percent. */
static uint64_t trace_percent(uint64_t part, const window_row *w)
{
    uint64_t whole = w->end > w->start ? w->end - w->start : 1;
    while (part > UINT64_MAX / 100000) {
        part >>= 1;
        whole = whole > 1 ? whole >> 1 : 1;
    }
    return part * 100000 / whole;
}

static void trace_count(trace *t, uint64_t part, const window_row *w)
{
    uint64_t share = trace_percent(part, w);
    (void)fprintf(t->out, ":%llu.%03u", (unsigned long long)(share / 1000),
                  (unsigned)(share % 1000));
}

static void trace_counters(trace *t, const window_row *w)
{
    uint64_t rest = 0;
    trace_begin(t, "C");
    (void)fputs(",\"name\":\"sites, % of the loop\"", t->out);
    trace_time(t, w->start);
    (void)fputs(",\"args\":{", t->out);
    for (size_t i = 0; i < t->windows.active_count; i++) {
        size_t site = (size_t)(t->windows.active[i] - t->windows.sites);
        rest += site >= TRACE_COUNTERS ? t->windows.exec[site] : 0;
    }
    for (size_t i = 0; i < t->windows.site_count && i < TRACE_COUNTERS; i++) {
        trace_site_name(t, &t->windows.sites[i]);
        trace_count(t, t->windows.exec[i], w);
        (void)fputc(',', t->out);
    }
    (void)fputs("\"(other sites)\"", t->out);
    trace_count(t, rest, w);
    (void)fputs("}}", t->out);
    trace_begin(t, "C");
    (void)fputs(",\"name\":\"loop, %\"", t->out);
    trace_time(t, w->start);
    (void)fputs(",\"args\":{\"busy\"", t->out);
    trace_count(t, w->busy, w);
    (void)fputs(",\"loop\"", t->out);
    trace_count(t, w->loop, w);
    (void)fputs("}}", t->out);
}

static void trace_window(void *user, const window_row *row)
{
    trace *t = (trace *)user;
    t->at = trace_pieces(t, row, t->at);
    trace_counters(t, row);
}

/* >>trace stalls: an async slice each, what its sites took inside, end to end; beside the ring a
 * mark each, as CHROPROF_TRACE has them */

typedef struct trace_stall {
    trace *t;
    json_text kind, shares;
    uint64_t start, length, number;
    uint64_t at;               /* where the shares so far end */
} trace_stall;

static void trace_async(trace *t, const trace_stall *stall, const char *phase, uint64_t at)
{
    trace_begin(t, phase);
    (void)fprintf(t->out, ",\"tid\":1,\"cat\":\"stall\",\"id\":\"stall %llu\"",
                  (unsigned long long)stall->number);
    trace_time(t, at);
}

static void trace_async_name(trace *t, const char *before, json_text name)
{
    (void)fprintf(t->out, ",\"name\":\"%s", before);
    trace_raw(t, name);
    (void)fputs("\"}", t->out);
}

/* A part of a stall: one of its sites, which stands behind the one before. */
static bool trace_share(void *user, json_reader *r)
{
    trace_stall *stall = (trace_stall *)user;
    json_text name = { "", 0 };
    uint64_t exec = 0;
    uint64_t site = 1;                      /* a slice of schema 1 does not name its site */
    const json_field fields[] = {
        JSON_TEXT("name", &name), JSON_NUMBER("site", &site),
        JSON_NUMBER("exec_ns", &exec)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    name = site == 0 ? json_word("(uninstrumented)") : name;
    if (stall->t->ring) {
        (void)fprintf(stall->t->out, ",\"%" PRIu64 ". ", ++stall->at);
        trace_raw(stall->t, name);
        (void)fprintf(stall->t->out, "\":%" PRIu64, exec);
        return true;
    }
    trace_async(stall->t, stall, "b", stall->at);
    trace_async_name(stall->t, "", name);
    stall->at += exec;
    trace_async(stall->t, stall, "e", stall->at);
    trace_async_name(stall->t, "", name);
    return true;
}

static bool trace_stall_mark(trace *t, trace_stall *stall)
{
    bool ok;
    if (stall->start + stall->length <= t->begin) {
        return true;
    }
    trace_begin(t, "i");
    (void)fputs(",\"tid\":1", t->out);
    trace_time(t, stall->start > t->begin ? stall->start : t->begin);
    (void)fputs(",\"name\":\"stall (", t->out);
    trace_raw(t, stall->kind);
    (void)fprintf(t->out, ")\",\"cat\":\"stall\",\"s\":\"p\",\"args\":{\"length_ns\":%" PRIu64,
                  stall->length);
    ok = json_each(&t->profile->reader, stall->shares, trace_share, stall);
    (void)fputs("}}", t->out);
    return ok;
}

static bool trace_stall_row(void *user, json_reader *r)
{
    trace *t = (trace *)user;
    trace_stall stall = { t, { "", 0 }, { "[]", 2 }, 0, 0, ++t->stalls, 0 };
    const json_field fields[] = {
        JSON_TEXT("kind", &stall.kind), JSON_NUMBER("start_ns", &stall.start),
        JSON_NUMBER("length_ns", &stall.length), JSON_VALUE("shares", &stall.shares),
        JSON_VALUE("slices", &stall.shares)             /* schema 1 */
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (t->ring) {
        return trace_stall_mark(t, &stall);
    }
    trace_async(t, &stall, "b", stall.start);
    trace_async_name(t, "stall, ", stall.kind);
    stall.at = stall.start;
    if (!json_each(&t->profile->reader, stall.shares, trace_share, &stall)) {
        return false;
    }
    trace_async(t, &stall, "e", stall.start + stall.length);
    trace_async_name(t, "stall, ", stall.kind);
    return true;
}

/* >>trace code: the samples of a profile as a second line of its trace: which functions ran under
 * which task. A sample says what ran at its moment; it is drawn until the next one, but for no
 * longer than its own duration and one period. Neighbours share the calls they have in common. */

#define TRACE_DEPTH 1024       /* frames of a stack; a deeper one is none of chroprof's */

typedef struct trace_code {
    trace *t;
    stack_tree stacks;
    size_t *open, *next;       /* frames from the root: of the calls under way, of the sample */
    size_t open_count, next_count;
    uint64_t until;            /* where the calls under way end */
} trace_code;

static void trace_code_event(trace_code *c, const char *phase, const stack_frame *frame,
                             json_text name, uint64_t at)
{
    trace_begin(c->t, phase);
    (void)fprintf(c->t->out, ",\"tid\":2,\"cat\":\"%s\",\"name\":\"",
                  frame->task ? "task" : "code");
    trace_raw(c->t, name);
    if (name.length == 0) {
        (void)fputc('[', c->t->out);
        trace_raw(c->t, frame->module);
        (void)fputc(']', c->t->out);
    }
    (void)fputc('"', c->t->out);
    trace_time(c->t, at);
    (void)fputc('}', c->t->out);
}

/* All calls of a frame begin from the outside in, and end from the inside out. */
static bool trace_code_frame(trace_code *c, size_t index, bool ends, uint64_t at)
{
    stack_calls calls;
    const stack_frame *frame = &c->stacks.frames[index];
    if (!stack_calls_of(c->t->profile, frame, &calls)) {
        return false;
    }
    for (size_t i = 0; i < calls.count; i++) {
        size_t call = ends ? i : calls.count - 1 - i;
        trace_code_event(c, ends ? "E" : "B", frame, calls.calls[call].name, at);
    }
    return true;
}

static bool same_frame(const trace_code *c, size_t a, size_t b)
{
    return a == b || (c->stacks.frames[a].task == c->stacks.frames[b].task &&
                      same_text(c->stacks.frames[a].name, c->stacks.frames[b].name) &&
                      same_text(c->stacks.frames[a].module, c->stacks.frames[b].module) &&
                      same_text(c->stacks.frames[a].inlined, c->stacks.frames[b].inlined));
}

/* Ends the calls under way down to a depth. */
static bool trace_code_close(trace_code *c, size_t depth, uint64_t at)
{
    while (c->open_count > depth) {
        if (!trace_code_frame(c, c->open[--c->open_count], true, at)) {
            return false;
        }
    }
    return true;
}

/* From the calls under way to those of the sample. */
static bool trace_code_callback(trace_code *c, uint64_t at)
{
    size_t common = 0;
    while (common < c->open_count && common < c->next_count &&
           same_frame(c, c->open[common], c->next[common])) {
        common++;
    }
    if (!trace_code_close(c, common, at)) {
        return false;
    }
    for (; c->open_count < c->next_count; c->open_count++) {
        c->open[c->open_count] = c->next[c->open_count];
        if (!trace_code_frame(c, c->open[c->open_count], false, at)) {
            return false;
        }
    }
    return true;
}

/* The chain of a stack, root first, or its innermost frames; idle has none. */
static void trace_code_chain(trace_code *c, const sample_row *sample)
{
    size_t at = json_is(sample->state, "idle") ? SIZE_MAX : stack_index(&c->stacks, sample->stack);
    c->next_count = 0;
    for (size_t up = at; up != SIZE_MAX && c->next_count < TRACE_DEPTH;
         up = c->stacks.frames[up].parent) {
        c->next_count++;
    }
    for (size_t i = c->next_count; i > 0; at = c->stacks.frames[at].parent) {
        c->next[--i] = at;
    }
}

static bool trace_code_samples(trace_code *c)
{
    json_reader r = json_part(&c->t->profile->reader, c->t->profile->samples);
    bool first = true;
    uint64_t span = c->stacks.period > 0 ? c->stacks.period : 1000;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        sample_row sample;
        if (!read_sample_row(&r, &sample) ||
            (sample.at > c->until && !trace_code_close(c, 0, c->until))) {
            return false;
        }
        trace_code_chain(c, &sample);
        if (sample.at >= c->t->begin && !trace_code_callback(c, sample.at)) {
            return false;
        }
        c->until = sample.at + sample.duration + span;
    }
    return !r.failed && trace_code_close(c, 0, c->until);
}

static bool trace_code_room(trace_code *c)
{
    c->open = (size_t *)calloc(TRACE_DEPTH, sizeof *c->open);
    c->next = (size_t *)calloc(TRACE_DEPTH, sizeof *c->next);
    if (c->open == NULL || c->next == NULL) {
        tool_message("not enough memory for a stack of %d frames", TRACE_DEPTH);
        return false;
    }
    return true;
}

static bool trace_samples(trace *t)
{
    trace_code c;
    bool ok;
    memset(&c, 0, sizeof c);
    c.t = t;
    ok = stacks_read(&c.stacks, t->profile) && trace_code_room(&c);
    if (ok && c.stacks.count > 0) {
        trace_begin(t, "M");
        (void)fputs(",\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":"
                    "\"sampled code, each sample drawn until the next\"}}", t->out);
    }
    ok = ok && (c.stacks.count == 0 || trace_code_samples(&c));
    stacks_free(&c.stacks);
    free(c.open);
    free(c.next);
    return ok;
}

/* >>trace run */

static bool trace_windows(const profile_text *p, FILE *out)
{
    trace t;
    bool ok;
    memset(&t, 0, sizeof t);
    t.profile = p;
    t.out = out;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    trace_begin(&t, "M");
    (void)fputs(",\"name\":\"process_name\",\"args\":{\"name\":", out);
    trace_raw(&t, p->name);
    (void)fputs("}}", out);
    trace_begin(&t, "M");
    (void)fputs(",\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":"
                "\"sites per window, their order inside it unknown\"}}", out);
    ok = windows_open(&t.windows, p) && windows_each(&t.windows, trace_window, &t) &&
         json_each(&p->reader, p->stalls, trace_stall_row, &t) && trace_samples(&t);
    (void)fputs("\n]}\n", out);
    windows_free(&t.windows);
    return ok;
}

/* >>trace ring: of JSON, as CHROPROF_TRACE has that of a block, with the stalls and samples that the
 * JSON tells */

/* The last bracket that the view writes, in a line of its own, closes the list of events. */
static bool trace_ring(const profile_text *p, timeline *ring, FILE *out)
{
    byte_buffer b = { NULL, 0, 0 };
    size_t end;
    trace t;
    bool ok = chroprof_write(&ring->view, CHROPROF_TRACE, buffer_add, &b) == 0;
    memset(&t, 0, sizeof t);
    t.profile = p;
    t.out = out;
    t.ring = t.comma = true;
    t.begin = ring->begin_ns;
    if (ok) {
        for (end = b.used - 2; b.bytes[end + 1] != ']';) {
            end--;
        }
        (void)fwrite(b.bytes, 1, end, out);
        ok = json_each(&p->reader, p->stalls, trace_stall_row, &t) && trace_samples(&t);
        (void)fwrite(b.bytes + end, 1, b.used - end, out);
    }
    free(b.bytes);
    return ok;
}

bool trace_of_steps(const chroprof *view)
{
    return chroprof_timeline(view, 0, UINT64_MAX, NULL, 0) > 0;
}

bool trace_write(const profile_text *p, bool windows, FILE *out)
{
    chroprof view = p->block.view;
    timeline ring;
    bool ok;
    if (windows || trace_of_steps(&view)) {
        return windows ? trace_windows(p, out)
                       : chroprof_write(&view, CHROPROF_TRACE, output_bytes, out) == 0;
    }
    ok = timeline_open(&ring, p);
    if (ok && ring.left_out > 0) {
        tool_message("%s: the trace shows the last steps, which are all that JSON keeps of the ring",
                     p->source);
    }
    ok = ok && (ring.steps > 0 ? trace_ring(p, &ring, out) : trace_windows(p, out));
    if (ok && ring.steps == 0) {
        tool_message("%s: it has no steps of the ring, so this trace shows the whole run by its "
                     "windows", p->source);
    }
    timeline_close(&ring);
    return ok;
}

typedef struct trace_words {
    const char *source;
    const char *out_name;
    bool windows;
    profile_text profile;
} trace_words;

static const tool_option trace_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,
      offsetof(trace_words, out_name), NULL },
    { "windows", 'w', NULL, "show the whole run by its windows", set_flag,
      offsetof(trace_words, windows), NULL },
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
    if (output_possible(run.out_name) && profile_load_or_replay(&run.profile, run.source)) {
        bool steps = !run.windows && trace_of_steps(&run.profile.block.view);
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
