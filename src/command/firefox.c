/* firefox.c - see firefox.h */

#include "firefox.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "elf.h"
#include "json.h"
#include "message.h"
#include "paths.h"
#include "rows.h"
#include "stacks.h"
#include "windows.h"

enum { FIREFOX_IDLE, FIREFOX_OTHER, FIREFOX_LOOP, FIREFOX_UNTRACKED, FIREFOX_FILE };

enum { FIREFOX_SAMPLED, FIREFOX_TREE, FIREFOX_WAITING, FIREFOX_DRAWN };

/* Cells of the shared tables. */
enum { RESOURCE_NAME, RESOURCE_LIB, RESOURCE_CELLS };
enum { FUNCTION_NAME, FUNCTION_RESOURCE, FUNCTION_SOURCE, FUNCTION_LINE, FUNCTION_CELLS };
enum { FRAME_FUNCTION, FRAME_LINE, FRAME_CATEGORY, FRAME_ADDRESS, FRAME_DEPTH, FRAME_CELLS };
enum { STACK_FRAME, STACK_PREFIX, STACK_CELLS };

enum { FIREFOX_TOP = 8, FIREFOX_FILES = 8, FIREFOX_PARTS = 1000 };

typedef struct firefox_sample {
    uint64_t stack, at, weight, cpu;
} firefox_sample;

typedef struct firefox_marker {
    uint64_t name, start, end, category;
    size_t data, length;       /* in marker_data */
} firefox_marker;

typedef struct firefox {
    const profile_text *profile;
    FILE *out;
    path_tree paths;
    uint64_t *path_stacks;
    stack_tree stacks;         /* empty: no samples */
    uint64_t *node_stacks;
    window_list windows;       /* the sites, busiest first, and their cells */
    uint64_t at;               /* where the windows so far end */
    uint64_t *site_stacks;
    uint64_t files[FIREFOX_FILES];          /* that have a category of their own */
    size_t file_count, top_count;
    json_text mode;            /* of the sampler */
    uint64_t period, draws, end;            /* end: of the timeline, in ns */
    bool sampled, nameless;    /* nameless: code of a library has no name */
    text_table texts;
    row_table sources, resources, functions, frames, rows;
    byte_buffer samples;       /* firefox_sample each, of the thread that is written */
    byte_buffer markers;       /* firefox_marker each */
    byte_buffer marker_data;
    uint64_t loop, idle, untracked, other, gap, lost;   /* stacks that are no site's */
    bool failed;
} firefox;

/* >>firefox tables */

static uint64_t firefox_resource(firefox *f, json_text name, uint64_t lib)
{
    uint64_t row[RESOURCE_CELLS] = { 0 };
    row[RESOURCE_NAME] = text_of(&f->texts, name);
    row[RESOURCE_LIB] = lib;
    return row_of(&f->resources, row);
}

static uint64_t firefox_source(firefox *f, json_text file)
{
    uint64_t row = text_of(&f->texts, file);
    return file.length > 0 ? row_of(&f->sources, &row) : ROW_NONE;
}

/* The stack of a frame on top of another stack, ROW_NONE: of none. */
static uint64_t firefox_stack(firefox *f, uint64_t prefix, const uint64_t *frame)
{
    uint64_t row[STACK_CELLS] = { 0 };
    row[STACK_FRAME] = row_of(&f->frames, frame);
    row[STACK_PREFIX] = prefix;
    return row_of(&f->rows, row);
}

static uint64_t firefox_task(firefox *f, uint64_t prefix, json_text name, json_text file,
                             uint64_t line)
{
    uint64_t function[FUNCTION_CELLS] = { 0 };
    uint64_t frame[FRAME_CELLS] = { 0 };
    uint64_t text = text_of(&f->texts, file);
    line = line > 0 ? line : ROW_NONE;
    function[FUNCTION_NAME] = text_of(&f->texts, name);
    function[FUNCTION_SOURCE] = firefox_source(f, file);
    function[FUNCTION_LINE] = line;
    frame[FRAME_FUNCTION] = row_of(&f->functions, function);
    frame[FRAME_LINE] = line;
    frame[FRAME_CATEGORY] = FIREFOX_OTHER;
    frame[FRAME_ADDRESS] = ROW_NONE;
    for (size_t i = 0; i < f->file_count; i++) {
        frame[FRAME_CATEGORY] = f->files[i] == text ? FIREFOX_FILE + i : frame[FRAME_CATEGORY];
    }
    return firefox_stack(f, prefix, frame);
}

/* What is no site's has a resource of its own, so that no site's name is mistaken for it. category
 * ROW_NONE: that of the frame below. */
static uint64_t firefox_special(firefox *f, uint64_t prefix, const char *name, uint64_t category)
{
    const json_text own = { "(chroprof)", 10 };
    uint64_t function[FUNCTION_CELLS] = { 0 };
    uint64_t frame[FRAME_CELLS] = { 0 };
    function[FUNCTION_NAME] = text_word(&f->texts, name);
    function[FUNCTION_RESOURCE] = firefox_resource(f, own, ROW_NONE);
    function[FUNCTION_SOURCE] = function[FUNCTION_LINE] = ROW_NONE;
    frame[FRAME_FUNCTION] = row_of(&f->functions, function);
    frame[FRAME_LINE] = frame[FRAME_ADDRESS] = ROW_NONE;
    frame[FRAME_CATEGORY] = category;
    return firefox_stack(f, prefix, frame);
}

/* >>firefox reading: paths, then sampled stacks, each a stack of the shared table */

/* The files of the busiest sites have a color. The viewer knows its idle category by the name, so
 * no file may have it. */
static void firefox_files(firefox *f)
{
    for (size_t i = 0; i < f->windows.site_count && f->file_count < FIREFOX_FILES; i++) {
        json_text file = f->windows.sites[i].file;
        uint64_t text = text_of(&f->texts, file);
        bool known = file.length == 0 || json_is(file, "Idle");
        for (size_t k = 0; k < f->file_count; k++) {
            known = known || f->files[k] == text;
        }
        if (!known) {
            f->files[f->file_count++] = text;
        }
    }
}

static json_text firefox_program(const firefox *f)
{
    json_text name = json_inside(f->profile->name);
    name = name.length > 0 ? name : json_inside(f->profile->program);
    return name.length > 0 ? name : json_word("chroprof");
}

static bool firefox_paths(firefox *f)
{
    f->path_stacks = (uint64_t *)calloc(f->paths.count + 1, sizeof *f->path_stacks);
    f->site_stacks = (uint64_t *)calloc(f->windows.site_count + 1, sizeof *f->site_stacks);
    if (f->path_stacks == NULL || f->site_stacks == NULL) {
        tool_message("not enough memory for %llu paths", (unsigned long long)f->paths.count);
        return false;
    }
    for (size_t i = 0; i < f->paths.count; i++) {
        const path_row *p = &f->paths.rows[i];
        uint64_t prefix = p->parent != SIZE_MAX ? f->path_stacks[p->parent] : ROW_NONE;
        f->path_stacks[i] = firefox_task(f, prefix, p->name, p->file, p->line);
    }
    for (size_t i = 0; i < f->windows.site_count; i++) {
        const window_site *site = &f->windows.sites[i];
        f->site_stacks[i] = firefox_task(f, ROW_NONE, site->name, site->file, site->line);
        f->top_count += i < FIREFOX_TOP && site->exec_ns > 0;
    }
    return true;
}

/* Path 2 is what was not tracked. */
static uint64_t firefox_path_stack(const firefox *f, uint64_t id)
{
    size_t at = path_index(&f->paths, id);
    return at != SIZE_MAX ? f->path_stacks[at] : f->untracked;
}

/* The module's place in the list of libraries, ROW_NONE: it has none. */
static uint64_t firefox_lib(const firefox *f, uint64_t id)
{
    const module_row *module = module_of(&f->stacks.modules, id);
    return module != NULL && module->path.length > 0 ? module->file : ROW_NONE;
}

/* Code that nobody has a name for goes by its address, as the viewer expects it of what it is to
 * symbolize itself. */
static uint64_t firefox_code_name(firefox *f, const stack_frame *frame, json_text name)
{
    char address[32];
    if (name.length > 0) {
        return text_of(&f->texts, name);
    }
    f->nameless = f->nameless || firefox_lib(f, frame->module_id) != ROW_NONE;
    (void)snprintf(address, sizeof address, "0x%" PRIx64, frame->address);
    return text_word(&f->texts, address);
}

/* One call of an address; depth 0 is the function itself, what is inlined into it lies above. */
static uint64_t firefox_call(firefox *f, const stack_frame *node, const stack_call *call,
                             uint64_t depth, uint64_t prefix)
{
    uint64_t function[FUNCTION_CELLS] = { 0 };
    uint64_t frame[FRAME_CELLS] = { 0 };
    uint64_t lib = firefox_lib(f, node->module_id);
    function[FUNCTION_NAME] = firefox_code_name(f, node, call->name);
    function[FUNCTION_RESOURCE] = lib != ROW_NONE ? firefox_resource(f, node->module, lib) : 0;
    function[FUNCTION_SOURCE] = firefox_source(f, call->file);
    function[FUNCTION_LINE] = ROW_NONE;
    frame[FRAME_FUNCTION] = row_of(&f->functions, function);
    frame[FRAME_LINE] = call->line > 0 ? call->line : ROW_NONE;
    frame[FRAME_CATEGORY] = ROW_NONE;
    frame[FRAME_ADDRESS] = lib != ROW_NONE ? node->address : ROW_NONE;
    frame[FRAME_DEPTH] = depth;
    return firefox_stack(f, prefix, frame);
}

static uint64_t firefox_node(firefox *f, const stack_frame *node, uint64_t prefix)
{
    stack_calls c;
    size_t at = node->task ? path_index(&f->paths, node->path) : SIZE_MAX;
    if (node->task && at != SIZE_MAX) {
        const path_row *p = &f->paths.rows[at];
        return firefox_task(f, prefix, p->name, p->file, p->line);
    }
    if (node->task) {
        return firefox_special(f, prefix, "(untracked)", FIREFOX_UNTRACKED);
    }
    if (!node->native) {
        char name[64];
        uint64_t category = json_is(node->name, "(idle)") ? FIREFOX_IDLE
                            : json_is(node->name, "(loop)") ? FIREFOX_LOOP : ROW_NONE;
        (void)json_unescape(node->name, name, sizeof name);
        return firefox_special(f, prefix, name, category);
    }
    f->failed = !stack_calls_of(f->profile, node, &c) || f->failed;
    for (size_t i = c.count; i-- > 0;) {
        prefix = firefox_call(f, node, &c.calls[i], c.count - 1 - i, prefix);
    }
    return prefix;
}

static bool firefox_nodes(firefox *f)
{
    f->node_stacks = (uint64_t *)calloc(f->stacks.count + 1, sizeof *f->node_stacks);
    if (f->node_stacks == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)f->stacks.count);
        return false;
    }
    for (size_t i = 0; i < f->stacks.count; i++) {
        size_t parent = f->stacks.frames[i].parent;
        f->node_stacks[i] = firefox_node(f, &f->stacks.frames[i],
                                         parent < i ? f->node_stacks[parent] : ROW_NONE);
    }
    return !f->failed;
}

/* >>firefox samples */

static size_t firefox_sample_count(const firefox *f)
{
    return f->samples.used / sizeof(firefox_sample);
}

static firefox_sample *firefox_sample_at(const firefox *f, size_t i)
{
    return (firefox_sample *)(void *)f->samples.bytes + i;
}

static void firefox_add(firefox *f, uint64_t stack, uint64_t at, uint64_t weight, uint64_t cpu)
{
    const firefox_sample sample = { stack, at, weight, cpu };
    f->failed = f->failed || buffer_add(&f->samples, &sample, sizeof sample) != 0;
}

/* What a sample of this row was in; where it fell into code while the loop was idle, idle is on top
 * of that. */
static uint64_t firefox_row_stack(firefox *f, const sample_row *row)
{
    bool idle = json_is(row->state, "idle");
    size_t at = stack_index(&f->stacks, row->stack);
    if (at == SIZE_MAX) {
        return idle ? f->idle : f->lost;
    }
    if (!idle || (!f->stacks.frames[at].task && json_is(f->stacks.frames[at].name, "(idle)"))) {
        return f->node_stacks[at];
    }
    return firefox_special(f, f->node_stacks[at], "(idle)", FIREFOX_IDLE);
}

/* Part number k of n equal parts of a value; all of them add up to it. */
static uint64_t firefox_part(uint64_t value, uint64_t k, uint64_t n)
{
    uint64_t until = value / n * (k + 1) + value % n * (k + 1) / n;
    return until - (value / n * k + value % n * k / n);
}

/* A row, in parts if it is long: the viewer counts a sample where it begins and knows no length. */
static void firefox_add_row(firefox *f, const sample_row *row, uint64_t start, uint64_t end)
{
    uint64_t n = (end - start) / (f->end / FIREFOX_PARTS + 1) + 1;
    uint64_t stack = firefox_row_stack(f, row);
    uint64_t most = row->weight > 0 ? row->weight : 1;
    n = n < most ? n : most;
    for (uint64_t k = 0; k < n && !f->failed; k++) {
        firefox_add(f, stack, start, firefox_part(row->weight, k, n), k == 0 ? row->cpu : 0);
        start += firefox_part(end - start, 0, n - k);
    }
}

/* In the stack chart a box lasts to the next sample. Where the timer had nothing to count, because
 * the thread slept, it must end. */
static void firefox_gap(firefox *f, uint64_t now, uint64_t next)
{
    if (f->period > 0 && next > now && next - now > 2 * f->period) {
        firefox_add(f, f->gap, firefox_sample_count(f) > 0 ? now + f->period : 0, 0, 0);
    }
}

/* Calls take for each row, whose times never go back. */
static bool firefox_rows(firefox *f, void (*take)(firefox *f, const sample_row *row, uint64_t now))
{
    json_reader r = json_part(&f->profile->reader, f->profile->samples);
    bool first = true;
    uint64_t now = 0;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        sample_row row;
        if (!read_sample_row(&r, &row)) {
            return false;
        }
        take(f, &row, now);
        row.at = row.at > now ? row.at : now;
        now = row.at + row.duration > row.at ? row.at + row.duration : row.at;
    }
    return !r.failed;
}

static void firefox_take_end(firefox *f, const sample_row *row, uint64_t now)
{
    uint64_t start = row->at > now ? row->at : now;
    uint64_t end = row->at + row->duration > start ? row->at + row->duration : start;
    f->end = end > f->end ? end : f->end;
    f->sampled = true;
}

static void firefox_take_row(firefox *f, const sample_row *row, uint64_t now)
{
    uint64_t start = row->at > now ? row->at : now;
    uint64_t end = row->at + row->duration > start ? row->at + row->duration : start;
    firefox_gap(f, now, start);
    firefox_add_row(f, row, start, end);
}

/* Thread 0 of a profile with samples. */
static bool firefox_sampled(firefox *f)
{
    bool ok = firefox_rows(f, firefox_take_row);
    size_t count = firefox_sample_count(f);
    uint64_t now = count > 0 ? firefox_sample_at(f, count - 1)->at : 0;
    firefox_gap(f, now, f->end);
    return ok;
}

/* The exact tree in preorder, so that a stack chart shows the tree itself. */
static bool firefox_tree(firefox *f)
{
    const uint64_t stacks[] = { f->untracked, f->loop, f->idle };
    const uint64_t ns[] = { f->paths.untracked, f->paths.loop, f->paths.idle };
    uint64_t at = 0;
    for (size_t i = 0; i < f->paths.count + 3; i++) {
        bool path = i < f->paths.count;
        uint64_t exec = path ? f->paths.rows[i].exec : ns[i - f->paths.count];
        if (exec > 0) {
            firefox_add(f, path ? f->path_stacks[i] : stacks[i - f->paths.count], at, exec, 0);
            at += exec;
        }
    }
    return true;
}

/* Weights that have no place in time are spread over the run, each in proportion. */
static void firefox_spread(firefox *f)
{
    double all = 0, before = 0;
    for (size_t i = 0; i < firefox_sample_count(f); i++) {
        all += (double)firefox_sample_at(f, i)->weight;
    }
    for (size_t i = 0; i < firefox_sample_count(f); i++) {
        uint64_t at = (uint64_t)(before / all * (double)f->end);
        firefox_sample_at(f, i)->at = at < f->end ? at : f->end;
        before += (double)firefox_sample_at(f, i)->weight;
    }
}

static bool firefox_waiting(firefox *f)
{
    for (size_t i = 0; i < f->paths.count; i++) {
        if (f->paths.rows[i].waiting > 0) {
            firefox_add(f, f->path_stacks[i], 0, f->paths.rows[i].waiting, 0);
        }
    }
    firefox_spread(f);
    return true;
}

static bool firefox_take_draw(void *user, json_reader *r)
{
    firefox *f = (firefox *)user;
    uint64_t path = 2, weight = 0;
    json_text state = { "", 0 };
    const json_field fields[] = {
        JSON_NUMBER("path", &path), JSON_NUMBER("weight", &weight),
        JSON_TEXT("state", &state)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (json_is(state, "paused") && weight > 0) {
        firefox_add(f, firefox_path_stack(f, path), 0, weight, 0);
    }
    return true;
}

static bool firefox_drawn(firefox *f)
{
    bool ok = json_each(&f->profile->reader, f->profile->wall, firefox_take_draw, f);
    firefox_spread(f);
    return ok;
}

/* >>firefox markers: the stalls, then the shares of the loop in each window */

static void firefox_data(firefox *f, const char *format, ...)
{
    char text[256];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    f->failed = f->failed || buffer_add(&f->marker_data, text, strlen(text)) != 0;
}

static void firefox_data_text(firefox *f, json_text text)
{
    f->failed = f->failed || buffer_add(&f->marker_data, text.bytes, text.length) != 0;
}

/* The data are what was added to marker_data since `data`. */
static void firefox_mark(firefox *f, const char *name, uint64_t start, uint64_t end,
                         uint64_t category, size_t data)
{
    const firefox_marker marker = { text_word(&f->texts, name), start, end, category, data,
                                    f->marker_data.used - data };
    f->failed = f->failed || buffer_add(&f->markers, &marker, sizeof marker) != 0;
}

#define FIREFOX_MS "%" PRIu64 ".%06u"
#define FIREFOX_MS_OF(ns) (ns) / 1000000, (unsigned)((ns) % 1000000)

typedef struct firefox_stall {
    json_text kind, shares, samples;
    uint64_t start, length, events;
    uint64_t site, exec, stack;             /* of the largest share; of most samples */
    json_text handler, file;
    uint64_t line;
} firefox_stall;

static bool firefox_take_share(firefox_stall *stall, json_reader *r)
{
    const json_field fields[] = {
        JSON_NUMBER("site", &stall->site), JSON_NUMBER("exec_ns", &stall->exec),
        JSON_TEXT("name", &stall->handler), JSON_TEXT("file", &stall->file),
        JSON_NUMBER("line", &stall->line)
    };
    stall->site = 1;                        /* a slice of schema 1 does not name its site */
    return JSON_FIELDS(r, fields);
}

static bool firefox_take_hit(firefox_stall *stall, json_reader *r)
{
    const json_field fields[] = { JSON_NUMBER("stack", &stall->stack) };
    return JSON_FIELDS(r, fields);
}

/* The first item of a list, if there is one. */
static bool firefox_first(const firefox *f, json_text list, firefox_stall *stall,
                          bool (*take)(firefox_stall *stall, json_reader *r))
{
    json_reader r = json_part(&f->profile->reader, list);
    bool first = true;
    return list.length == 0 ||
           (json_open(&r, '[') && (!json_next(&r, ']', &first) || take(stall, &r)) && !r.failed);
}

/* The site that took most of it. 0 is loop, 2 what was not tracked. */
static uint64_t firefox_handler(firefox *f, const firefox_stall *stall)
{
    if (stall->site == 0 || stall->site == 2) {
        return stall->site == 0 ? f->loop : f->untracked;
    }
    return firefox_task(f, ROW_NONE, stall->handler, stall->file, stall->line);
}

/* The code where most of its samples fell, else the site that took most of it. */
static uint64_t firefox_cause(firefox *f, const firefox_stall *stall)
{
    size_t node = stall->stack > 0 ? stack_index(&f->stacks, stall->stack) : SIZE_MAX;
    return node != SIZE_MAX ? f->node_stacks[node] : firefox_handler(f, stall);
}

/* That of the innermost frame that has one. */
static uint64_t firefox_category(const firefox *f, uint64_t stack)
{
    uint64_t category = ROW_NONE;
    while (stack != ROW_NONE && category == ROW_NONE) {
        category = row_cell(&f->frames, (size_t)row_cell(&f->rows, (size_t)stack, STACK_FRAME),
                            FRAME_CATEGORY);
        stack = row_cell(&f->rows, (size_t)stack, STACK_PREFIX);
    }
    return category != ROW_NONE ? category : FIREFOX_OTHER;
}

static bool firefox_take_stall(void *user, json_reader *r)
{
    firefox *f = (firefox *)user;
    size_t data = f->marker_data.used;
    firefox_stall stall;
    const json_field fields[] = {
        JSON_TEXT("kind", &stall.kind), JSON_NUMBER("start_ns", &stall.start),
        JSON_NUMBER("length_ns", &stall.length), JSON_NUMBER("events", &stall.events),
        JSON_VALUE("shares", &stall.shares), JSON_VALUE("samples", &stall.samples),
        JSON_VALUE("slices", &stall.shares)             /* schema 1 */
    };
    memset(&stall, 0, sizeof stall);
    if (!JSON_FIELDS(r, fields) || !firefox_first(f, stall.shares, &stall, firefox_take_share) ||
        !firefox_first(f, stall.samples, &stall, firefox_take_hit)) {
        return false;
    }
    if (stall.site == 0) {
        stall.handler.bytes = "(loop)";
        stall.handler.length = 6;
    }
    firefox_data(f, "{\"type\":\"Stall\",\"handler\":\"");
    firefox_data_text(f, stall.handler);
    firefox_data(f, "\",\"share\":" FIREFOX_MS ",\"dur\":" FIREFOX_MS ",\"events\":%" PRIu64
                 ",\"cause\":{\"stack\":%" PRIu64 ",\"time\":" FIREFOX_MS ",\"tid\":1}}",
                 FIREFOX_MS_OF(stall.exec), FIREFOX_MS_OF(stall.length), stall.events,
                 firefox_cause(f, &stall), FIREFOX_MS_OF(stall.start));
    firefox_mark(f, json_is(stall.kind, "pass") ? "Stall: pass" : "Stall: turn", stall.start,
                 stall.start + stall.length,
                 firefox_category(f, firefox_handler(f, &stall)),
                 data);
    return true;
}

/* Millionths of a whole. */
static unsigned firefox_share(uint64_t part, uint64_t whole)
{
    while (whole >> 40 != 0) {
        whole >>= 1;
        part >>= 1;
    }
    return (unsigned)(whole > 0 ? part * 1000000 / whole : 0);
}

/* The lines of the graph: the busiest sites, all others, what was not tracked, the loop. */
static void firefox_mark_window(firefox *f, const window_row *w)
{
    size_t data = f->marker_data.used, most = 0, lines = f->top_count + 3;
    uint64_t ns[FIREFOX_TOP + 3] = { 0 };
    uint64_t whole = w->untracked + w->loop + w->idle;
    for (size_t i = 0; i < f->windows.site_count; i++) {
        ns[i < f->top_count ? i : f->top_count] += f->windows.exec[i];
        most = f->windows.exec[i] > f->windows.exec[most] ? i : most;
        whole += f->windows.exec[i];
    }
    ns[lines - 2] = w->untracked;
    ns[lines - 1] = w->loop;
    firefox_data(f, "{\"type\":\"Use\",\"most\":\"");
    if (f->windows.site_count > 0 && f->windows.exec[most] > 0) {
        firefox_data_text(f, f->windows.sites[most].name);
    } else {
        firefox_data(f, w->loop > 0 ? "(loop)" : "(idle)");
    }
    firefox_data(f, "\"");
    for (size_t i = 0; i < lines; i++) {
        unsigned share = firefox_share(ns[i], whole);
        firefox_data(f, ",\"s%u\":%u.%06u", (unsigned)i, share / 1000000, share % 1000000);
    }
    firefox_data(f, "}");
    firefox_mark(f, "Loop", w->start, w->end, FIREFOX_OTHER, data);
}

/* The sites of a window end to end, if nobody sampled. */
static uint64_t firefox_add_window(firefox *f, const window_row *w, uint64_t at)
{
    const uint64_t stacks[] = { f->untracked, f->loop, f->idle };
    const uint64_t ns[] = { w->untracked, w->loop, w->idle };
    size_t sites = f->windows.site_count;
    at = at > w->start ? at : w->start;
    for (size_t i = 0; i < sites + 3 && !f->sampled; i++) {
        uint64_t weight = i < sites ? f->windows.exec[i] : ns[i - sites];
        if (weight > 0) {
            firefox_add(f, i < sites ? f->site_stacks[i] : stacks[i - sites],
                        at < f->end ? at : f->end, weight, 0);
            at += weight;
        }
    }
    return at;
}

static void firefox_window(void *user, const window_row *row)
{
    firefox *f = (firefox *)user;
    f->at = firefox_add_window(f, row, f->at);
    firefox_mark_window(f, row);
}

/* >>firefox writing */

static void firefox_word(firefox *f, const char *text)
{
    (void)fputs(text, f->out);
}

static void firefox_text(firefox *f, json_text text)
{
    (void)fputc('"', f->out);
    if (text.length > 0) {
        (void)fwrite(text.bytes, 1, text.length, f->out);
    }
    (void)fputc('"', f->out);
}

static void firefox_number(firefox *f, uint64_t value, const char *none)
{
    if (value == ROW_NONE) {
        firefox_word(f, none);
    } else {
        (void)fprintf(f->out, "%" PRIu64, value);
    }
}

static void firefox_ms(firefox *f, uint64_t ns)
{
    (void)fprintf(f->out, FIREFOX_MS, FIREFOX_MS_OF(ns));
}

static void firefox_column(firefox *f, const char *name, const row_table *t, size_t cell,
                           const char *none)
{
    (void)fprintf(f->out, ",\"%s\":[", name);
    for (size_t i = 0; i < t->count; i++) {
        firefox_word(f, i > 0 ? "," : "");
        firefox_number(f, row_cell(t, i, cell), none);
    }
    firefox_word(f, "]");
}

/* A column of one value over and over. */
static void firefox_fill(firefox *f, const char *name, size_t count, const char *value)
{
    (void)fprintf(f->out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        firefox_word(f, i > 0 ? "," : "");
        firefox_word(f, value);
    }
    firefox_word(f, "]");
}

static void firefox_table(firefox *f, const char *name, size_t count)
{
    (void)fprintf(f->out, ",\n\"%s\":{\"length\":%llu", name, (unsigned long long)count);
}

static void firefox_categories(firefox *f)
{
    static const char *const shades[FIREFOX_FILES] = {
        "blue", "orange", "green", "purple", "yellow", "magenta", "lightblue", "brown"
    };
    firefox_word(f, "\"categories\":["
        "{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Loop\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Untracked\",\"color\":\"lightred\",\"subcategories\":[\"Other\"]}");
    for (size_t i = 0; i < f->file_count; i++) {
        firefox_word(f, ",\n{\"name\":");
        firefox_text(f, text_at(&f->texts, (size_t)f->files[i]));
        (void)fprintf(f->out, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", shades[i]);
    }
    firefox_word(f, "]");
}

/* The graph of shares: a line for each of the busiest sites, then the rest. */
static void firefox_graph(firefox *f)
{
    static const char *const shades[FIREFOX_TOP + 3] = {
        "blue", "orange", "green", "purple", "red", "teal", "magenta", "yellow", "grey", "ink",
        "ink"
    };
    static const char *const rest[] = { "(all other sites)", "(untracked)", "(loop)" };
    firefox_word(f, ",\n{\"name\":\"Use\",\"tooltipLabel\":\"Share of the loop\","
        "\"tableLabel\":\"most of it: {marker.data.most}\",\"display\":[\"marker-table\"],"
        "\"fields\":[{\"key\":\"most\",\"label\":\"Most of it\",\"format\":\"string\"}");
    for (size_t i = 0; i < f->top_count + 3; i++) {
        json_text name = { "", 0 };
        name.bytes = i < f->top_count ? f->windows.sites[i].name.bytes : rest[i - f->top_count];
        name.length = i < f->top_count ? f->windows.sites[i].name.length : strlen(name.bytes);
        (void)fprintf(f->out, ",{\"key\":\"s%u\",\"label\":", (unsigned)i);
        firefox_text(f, name);
        firefox_word(f, ",\"format\":\"percentage\"}");
    }
    firefox_word(f, "],\"graphs\":[");
    for (size_t i = 0; i < f->top_count + 3; i++) {
        size_t color = i < f->top_count ? i : FIREFOX_TOP + i - f->top_count;
        (void)fprintf(f->out, "%s{\"key\":\"s%u\",\"type\":\"line\",\"color\":\"%s\"}",
                      i > 0 ? "," : "", (unsigned)i, shades[color]);
    }
    firefox_word(f, "]}");
}

static void firefox_schemas(firefox *f)
{
    firefox_word(f, ",\n\"markerSchema\":[{\"name\":\"Stall\","
        "\"tooltipLabel\":\"Stall in {marker.data.handler}\","
        "\"tableLabel\":\"{marker.data.handler}: {marker.data.dur}\","
        "\"chartLabel\":\"{marker.data.handler}\","
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":["
        "{\"key\":\"handler\",\"label\":\"Site that took most of it\",\"format\":\"string\"},"
        "{\"key\":\"share\",\"label\":\"How much it took\",\"format\":\"duration\"},"
        "{\"key\":\"dur\",\"label\":\"Length of the stall\",\"format\":\"duration\"},"
        "{\"key\":\"events\",\"label\":\"Events\",\"format\":\"integer\"}]}");
    firefox_graph(f);
    firefox_word(f, "]");
}

static void firefox_meta(firefox *f)
{
    firefox_word(f, "{\"meta\":{\"interval\":");
    firefox_ms(f, f->sampled && f->period > 0 ? f->period : 1000000);
    firefox_word(f, ",\"startTime\":");
    firefox_ms(f, f->paths.start_unix);
    firefox_word(f, ",\"processType\":0,\"product\":");
    firefox_text(f, firefox_program(f));
    (void)fprintf(f->out, ",\"importedFrom\":\"chroprof\",\"stackwalk\":0,\"version\":24,"
        "\"preprocessedProfileVersion\":60,\"symbolicated\":%s,\"usesOnlyOneStackType\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,"
        "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n",
        f->nameless ? "false" : "true");
    firefox_categories(f);
    firefox_schemas(f);
    (void)fprintf(f->out, ",\n\"initialVisibleThreads\":[0,1,2%s],\"initialSelectedThreads\":[0],"
                  "\"keepProfileThreadOrder\":true},\n", f->draws > 0 ? ",3" : "");
}

/* How Breakpad writes a build id: as a GUID, whose first three numbers have the least byte first,
 * and an age. */
static void firefox_breakpad(const char *id, char *out)
{
    static const unsigned char order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    size_t length = strlen(id);
    for (size_t i = 0; i < sizeof order; i++) {
        for (size_t half = 0; half < 2; half++) {
            size_t at = 2u * order[i] + half;
            char digit = at < length ? id[at] : '0';
            out[2 * i + half] = digit >= 'a' && digit <= 'f' ? (char)(digit - 'a' + 'A') : digit;
        }
    }
    out[32] = length > 0 ? '0' : '\0';
    out[33] = '\0';
}

static void firefox_libs(firefox *f)
{
    bool first = true;
    firefox_word(f, "\"libs\":[");
    for (size_t i = 0; i < f->stacks.modules.count; i++) {
        const module_row *module = &f->stacks.modules.rows[i];
        char id[2 * ELF_ID_BYTES + 1];
        char breakpad[34];
        if (module->path.length == 0) {
            continue;
        }
        if (!json_unescape(module->build_id, id, sizeof id) ||
            id[strspn(id, "0123456789abcdef")] != '\0') {
            id[0] = '\0';
        }
        firefox_breakpad(id, breakpad);
        firefox_word(f, first ? "\n{\"arch\":\"\",\"name\":" : ",\n{\"arch\":\"\",\"name\":");
        firefox_text(f, module_name(&f->stacks, module->id));
        firefox_word(f, ",\"path\":");
        firefox_text(f, module->path);
        firefox_word(f, ",\"debugName\":");
        firefox_text(f, module_name(&f->stacks, module->id));
        firefox_word(f, ",\"debugPath\":");
        firefox_text(f, module->path);
        (void)fprintf(f->out, ",\"breakpadId\":\"%s\",\"codeId\":", id[0] != '\0' ? breakpad : "");
        (void)fprintf(f->out, id[0] != '\0' ? "\"%s\"}" : "null}", id);
        first = false;
    }
    firefox_word(f, "],\n");
}

enum { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_WEIGHT, SAMPLE_CPU };

static void firefox_sample_column(firefox *f, int column, bool counted)
{
    static const char *const names[] = { "stack", "time", "weight", "threadCPUDelta" };
    (void)fprintf(f->out, ",\"%s\":[", names[column]);
    for (size_t i = 0; i < firefox_sample_count(f); i++) {
        const firefox_sample *s = firefox_sample_at(f, i);
        firefox_word(f, i > 0 ? "," : "");
        if (column == SAMPLE_TIME || (column == SAMPLE_WEIGHT && !counted)) {
            firefox_ms(f, column == SAMPLE_TIME ? s->at : s->weight);
        } else {
            firefox_number(f, column == SAMPLE_STACK ? s->stack
                              : column == SAMPLE_WEIGHT ? s->weight : s->cpu, "0");
        }
    }
    firefox_word(f, "]");
}

/* The last sample has no weight: in a stack chart it ends the box before it. */
static void firefox_samples(firefox *f, int thread)
{
    bool timed = thread == FIREFOX_SAMPLED && f->sampled;
    bool counted = timed || thread == FIREFOX_DRAWN;
    firefox_add(f, f->idle, f->end, 0, 0);
    (void)fprintf(f->out, "\"samples\":{\"length\":%zu", firefox_sample_count(f));
    for (int column = SAMPLE_STACK; column <= (timed ? SAMPLE_CPU : SAMPLE_WEIGHT); column++) {
        firefox_sample_column(f, column, counted);
    }
    (void)fprintf(f->out, ",\"weightType\":\"%s\"},\n", counted ? "samples" : "tracing-ms");
}

enum { MARKER_NAME, MARKER_START, MARKER_END, MARKER_PHASE, MARKER_CATEGORY, MARKER_DATA };

static void firefox_marker_cell(firefox *f, const firefox_marker *m, int column)
{
    switch (column) {
    case MARKER_NAME: firefox_number(f, m->name, "0"); break;
    case MARKER_START: firefox_ms(f, m->start); break;
    case MARKER_END: firefox_ms(f, m->end); break;
    case MARKER_PHASE: firefox_word(f, "1"); break;
    case MARKER_CATEGORY: firefox_number(f, m->category, "0"); break;
    default: (void)fwrite(f->marker_data.bytes + m->data, 1, m->length, f->out); break;
    }
}

static void firefox_markers(firefox *f, size_t count)
{
    static const char *const names[] = {
        "name", "startTime", "endTime", "phase", "category", "data"
    };
    const firefox_marker *rows = (const firefox_marker *)(const void *)f->markers.bytes;
    (void)fprintf(f->out, "\"markers\":{\"length\":%zu", count);
    for (int column = MARKER_NAME; column <= MARKER_DATA; column++) {
        (void)fprintf(f->out, ",\"%s\":[", names[column]);
        for (size_t i = 0; i < count; i++) {
            firefox_word(f, i > 0 ? "," : "");
            firefox_marker_cell(f, &rows[i], column);
        }
        firefox_word(f, "]");
    }
    firefox_word(f, "}}");
}

static const char *firefox_thread_name(const firefox *f, int thread)
{
    switch (thread) {
    case FIREFOX_TREE: return "Exact tree of exec time (no order of time)";
    case FIREFOX_WAITING: return "Waiting: wall time of paused futures (no order of time)";
    case FIREFOX_DRAWN: return "Waiting: paused futures that the sampler met (no order of time)";
    default: break;
    }
    if (!f->sampled) {
        return "Timeline of windows (no order inside a window; no sampler)";
    }
    return json_is(f->mode, "wall") ? "Timeline of samples (wall clock)"
           : json_is(f->mode, "cpu") ? "Timeline of samples (CPU time)" : "Timeline of samples";
}

static bool firefox_thread(firefox *f, int thread)
{
    bool ok = true;
    if (thread != FIREFOX_SAMPLED) {
        f->samples.used = 0;
        ok = thread == FIREFOX_TREE ? firefox_tree(f)
             : thread == FIREFOX_WAITING ? firefox_waiting(f) : firefox_drawn(f);
    }
    (void)fprintf(f->out, "%s\n{\"name\":\"%s\",\"isMainThread\":%s,\"processType\":\"default\","
                  "\"processName\":", thread > 0 ? "," : "", firefox_thread_name(f, thread),
                  thread == FIREFOX_SAMPLED ? "true" : "false");
    firefox_text(f, firefox_program(f));
    (void)fprintf(f->out, ",\"processStartupTime\":0,\"processShutdownTime\":null,"
                  "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"pid\":\"1\","
                  "\"tid\":%d,\"showMarkersInTimeline\":true,\n", thread + 1);
    firefox_samples(f, thread);
    firefox_markers(f, thread == FIREFOX_SAMPLED ? f->markers.used / sizeof(firefox_marker) : 0);
    return ok && !f->failed;
}

/* >>firefox shared tables */

static void firefox_strings(firefox *f)
{
    firefox_word(f, "\"shared\":{\"stringArray\":[");
    for (size_t i = 0; i < f->texts.rows.count; i++) {
        firefox_word(f, i > 0 ? "," : "");
        firefox_text(f, text_at(&f->texts, i));
    }
    firefox_word(f, "]");
}

static void firefox_frames(firefox *f)
{
    size_t count = f->frames.count;
    firefox_table(f, "stackTable", f->rows.count);
    firefox_column(f, "frame", &f->rows, STACK_FRAME, "null");
    firefox_column(f, "prefix", &f->rows, STACK_PREFIX, "null");
    firefox_word(f, "}");
    firefox_table(f, "frameTable", count);
    firefox_column(f, "address", &f->frames, FRAME_ADDRESS, "-1");
    firefox_column(f, "inlineDepth", &f->frames, FRAME_DEPTH, "0");
    firefox_column(f, "category", &f->frames, FRAME_CATEGORY, "null");
    firefox_word(f, ",\"subcategory\":[");
    for (size_t i = 0; i < count; i++) {
        bool none = row_cell(&f->frames, i, FRAME_CATEGORY) == ROW_NONE;
        firefox_word(f, i > 0 ? "," : "");
        firefox_word(f, none ? "null" : "0");
    }
    firefox_word(f, "]");
    firefox_column(f, "func", &f->frames, FRAME_FUNCTION, "null");
    firefox_fill(f, "nativeSymbol", count, "null");
    firefox_fill(f, "innerWindowID", count, "null");
    firefox_column(f, "line", &f->frames, FRAME_LINE, "null");
    firefox_fill(f, "column", count, "null");
    firefox_word(f, "}");
}

static void firefox_functions(firefox *f)
{
    size_t count = f->functions.count;
    firefox_table(f, "funcTable", count);
    firefox_column(f, "name", &f->functions, FUNCTION_NAME, "null");
    firefox_fill(f, "isJS", count, "false");
    firefox_fill(f, "relevantForJS", count, "false");
    firefox_column(f, "resource", &f->functions, FUNCTION_RESOURCE, "-1");
    firefox_column(f, "source", &f->functions, FUNCTION_SOURCE, "null");
    firefox_column(f, "lineNumber", &f->functions, FUNCTION_LINE, "null");
    firefox_fill(f, "columnNumber", count, "null");
    firefox_word(f, "}");
}

static void firefox_shared(firefox *f)
{
    firefox_strings(f);
    firefox_frames(f);
    firefox_functions(f);
    firefox_table(f, "resourceTable", f->resources.count);
    firefox_column(f, "lib", &f->resources, RESOURCE_LIB, "null");
    firefox_column(f, "name", &f->resources, RESOURCE_NAME, "null");
    firefox_fill(f, "host", f->resources.count, "null");
    firefox_fill(f, "type", f->resources.count, "1");
    firefox_word(f, "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
                    "\"name\":[],\"functionSize\":[]}");
    firefox_table(f, "sources", f->sources.count);
    firefox_fill(f, "id", f->sources.count, "null");
    firefox_column(f, "filename", &f->sources, 0, "null");
    firefox_word(f, "}}}\n");
}

/* >>firefox run */

static bool firefox_sampler(firefox *f)
{
    json_reader r = json_part(&f->profile->reader, f->profile->sampler);
    const json_field fields[] = {
        JSON_NUMBER("period_ns", &f->period), JSON_NUMBER("draws", &f->draws),
        JSON_TEXT("mode", &f->mode)
    };
    return f->profile->sampler.length == 0 || JSON_FIELDS(&r, fields);
}

static void firefox_begin(firefox *f, const profile_text *p, FILE *out)
{
    row_table *const tables[] = { &f->sources, &f->resources, &f->functions, &f->frames, &f->rows };
    static const size_t widths[] = { 1, RESOURCE_CELLS, FUNCTION_CELLS, FRAME_CELLS, STACK_CELLS };
    memset(f, 0, sizeof *f);
    f->profile = p;
    f->out = out;
    text_begin(&f->texts);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        tables[i]->width = tables[i]->key = widths[i];
    }
    (void)firefox_resource(f, firefox_program(f), ROW_NONE);
}

static void firefox_end(firefox *f)
{
    paths_free(&f->paths);
    stacks_free(&f->stacks);
    text_free(&f->texts);
    row_free(&f->sources);
    row_free(&f->resources);
    row_free(&f->functions);
    row_free(&f->frames);
    row_free(&f->rows);
    free(f->path_stacks);
    free(f->node_stacks);
    windows_free(&f->windows);
    free(f->site_stacks);
    free(f->samples.bytes);
    free(f->markers.bytes);
    free(f->marker_data.bytes);
}

static void firefox_specials(firefox *f)
{
    f->untracked = firefox_special(f, ROW_NONE, "(untracked)", FIREFOX_UNTRACKED);
    f->loop = firefox_special(f, ROW_NONE, "(loop)", FIREFOX_LOOP);
    f->idle = firefox_special(f, ROW_NONE, "(idle)", FIREFOX_IDLE);
    f->gap = firefox_special(f, ROW_NONE, "(no samples)", FIREFOX_IDLE);
    f->lost = firefox_special(f, ROW_NONE, "(frames missing)", FIREFOX_OTHER);
}

static bool firefox_read(firefox *f)
{
    if (!paths_read(&f->paths, f->profile) || !windows_open(&f->windows, f->profile) ||
        !firefox_sampler(f) || !stacks_read(&f->stacks, f->profile)) {
        return false;
    }
    firefox_specials(f);
    firefox_files(f);
    f->end = f->paths.elapsed;
    return firefox_paths(f) && firefox_nodes(f) &&
           (f->profile->samples.length == 0 || firefox_rows(f, firefox_take_end)) &&
           (!f->sampled || firefox_sampled(f)) &&
           json_each(&f->profile->reader, f->profile->stalls, firefox_take_stall, f) &&
           windows_each(&f->windows, firefox_window, f) && !f->failed;
}

bool firefox_write(const profile_text *p, FILE *out)
{
    static firefox f;
    bool ok;
    firefox_begin(&f, p, out);
    ok = firefox_read(&f);
    if (ok) {
        firefox_meta(&f);
        firefox_libs(&f);
        firefox_word(&f, "\"threads\":[");
        for (int thread = 0; ok && thread < (f.draws > 0 ? 4 : 3); thread++) {
            ok = firefox_thread(&f, thread);
        }
        firefox_word(&f, "],\n\"counters\":[],\n");
        firefox_shared(&f);
    }
    ok = ok && !f.failed && !f.texts.rows.failed && !f.rows.failed && !f.frames.failed &&
         !f.functions.failed && !f.resources.failed && !f.sources.failed;
    firefox_end(&f);
    return ok;
}
