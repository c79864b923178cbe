/* trace_put.c - what both kinds of trace have: how an event is written, stalls and samples. */

#include "trace_form.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "stacks.h"
#include "trace.h"

/* >>trace writing */

/* No program that was seen has a trace of more than 20 times its profile. */
#define TRACE_MOST (UINT64_C(200) << 20)
#define TRACE_TIMES 50
#define TRACE_EVENT 100        /* bytes of an event without its names */

static bool *any_size(void)
{
    static bool any;
    return &any;
}

void trace_of_any_size(void)
{
    *any_size() = true;
}

void trace_open(trace *t, const profile_text *p, FILE *out)
{
    uint64_t size = p->bytes.used > p->block.size ? p->bytes.used : p->block.size;
    t->profile = p;
    t->out = out;
    t->most = TRACE_TIMES * size > TRACE_MOST ? TRACE_TIMES * size : TRACE_MOST;
}

/* Small rows of a damaged profile may each have long names: that is told before the disk is full, and
 * there is nobody to go back to. */
void trace_count(trace *t, uint64_t bytes)
{
    t->bytes += bytes;
    if (t->bytes > t->most && !*any_size()) {
        tool_message("%s: its trace is larger than %" PRIu64 " MiB, so the file ends there and can't "
                     "be opened; if you want it whole: chroprof trace --any-size", t->profile->source,
                     t->most >> 20);
        (void)fflush(t->out);
        exit(TOOL_INPUT);
    }
}

void trace_begin(trace *t, const char *phase)
{
    trace_count(t, TRACE_EVENT);
    (void)fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":1", t->comma ? "," : "", phase);
    t->comma = true;
}

void trace_time(trace *t, uint64_t ns)
{
    (void)fprintf(t->out, ",\"ts\":%llu.%03u", (unsigned long long)(ns / 1000),
                  (unsigned)(ns % 1000));
}

void trace_raw(trace *t, json_text text)
{
    trace_count(t, text.length);
    (void)fwrite(text.bytes, 1, text.length, t->out);
}

/* >>trace stalls */

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

bool trace_stalls(trace *t)
{
    return json_each(&t->profile->reader, t->profile->stalls, trace_stall_row, t);
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

bool trace_samples(trace *t)
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

/* >>trace marks */

static bool trace_sample_mark(void *user, json_reader *r)
{
    trace *t = (trace *)user;
    sample_row row;
    if (!read_sample_row(r, &row)) {
        return false;
    }
    if (row.at < t->begin) {
        return true;
    }
    trace_begin(t, "i");
    (void)fputs(",\"tid\":1", t->out);
    trace_time(t, row.at);
    (void)fprintf(t->out, ",\"name\":\"sample\",\"cat\":\"sample\",\"s\":\"t\",\"sf\":%" PRIu64
                  ",\"args\":{\"duration_ns\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
                  ",\"state\":\"", row.stack, row.duration, row.weight, row.cpu);
    trace_raw(t, row.state);
    (void)fputs("\"}}", t->out);
    return true;
}

bool trace_sample_marks(trace *t)
{
    return json_each(&t->profile->reader, t->profile->samples, trace_sample_mark, t);
}

static bool trace_stack_frame(void *user, json_reader *r)
{
    trace *t = (trace *)user;
    uint64_t id = 0, parent = 0, address = 0;
    json_text name = { "", 0 };
    const json_field fields[] = {
        JSON_NUMBER("id", &id), JSON_NUMBER("parent", &parent), JSON_TEXT("name", &name),
        JSON_NUMBER("address", &address)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    (void)fprintf(t->out, ",\n\"%" PRIu64 "\":{\"name\":\"", id);
    if (name.length > 0) {
        trace_raw(t, name);
    } else {
        (void)fprintf(t->out, "0x%" PRIx64, address);
    }
    (void)fputc('"', t->out);
    if (parent != 0) {
        (void)fprintf(t->out, ",\"parent\":\"%" PRIu64 "\"", parent);
    }
    (void)fputc('}', t->out);
    return true;
}

bool trace_stack_frames(trace *t)
{
    return json_each(&t->profile->reader, t->profile->stacks, trace_stack_frame, t);
}
