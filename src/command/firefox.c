/* firefox.c - see firefox.h */

#include "firefox.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "firefox_form.h"
#include "message.h"

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

json_text firefox_program(const firefox *f)
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
                            : is_uninstrumented(node->name) ? FIREFOX_LOOP : ROW_NONE;
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

size_t firefox_sample_count(const firefox *f)
{
    return f->samples.used / sizeof(firefox_sample);
}

firefox_sample *firefox_sample_at(const firefox *f, size_t i)
{
    return (firefox_sample *)(void *)f->samples.bytes + i;
}

void firefox_add(firefox *f, firefox_sample sample)
{
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
        firefox_add(f, (firefox_sample){ .stack = stack, .at = start,
                                         .weight = firefox_part(row->weight, k, n),
                                         .cpu = k == 0 ? row->cpu : 0 });
        start += firefox_part(end - start, 0, n - k);
    }
}

/* In the stack chart a box lasts to the next sample. Where the timer had nothing to count, because
 * the thread slept, it must end. */
static void firefox_gap(firefox *f, uint64_t now, uint64_t next)
{
    if (f->period > 0 && next > now && next - now > 2 * f->period) {
        uint64_t at = firefox_sample_count(f) > 0 ? now + f->period : 0;
        firefox_add(f, (firefox_sample){ .stack = f->gap, .at = at });
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
bool firefox_tree(firefox *f)
{
    const uint64_t stacks[] = { f->untracked, f->loop, f->idle };
    const uint64_t ns[] = { f->paths.untracked, f->paths.loop, f->paths.idle };
    uint64_t at = 0;
    for (size_t i = 0; i < f->paths.count + 3; i++) {
        bool path = i < f->paths.count;
        uint64_t exec = path ? f->paths.rows[i].exec : ns[i - f->paths.count];
        if (exec > 0) {
            uint64_t stack = path ? f->path_stacks[i] : stacks[i - f->paths.count];
            firefox_add(f, (firefox_sample){ .stack = stack, .at = at, .weight = exec });
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

bool firefox_waiting(firefox *f)
{
    for (size_t i = 0; i < f->paths.count; i++) {
        if (f->paths.rows[i].waiting > 0) {
            firefox_add(f, (firefox_sample){ .stack = f->path_stacks[i],
                                             .weight = f->paths.rows[i].waiting });
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
        firefox_add(f, (firefox_sample){ .stack = firefox_path_stack(f, path), .weight = weight });
    }
    return true;
}

bool firefox_drawn(firefox *f)
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

/* Its name is still missing, and the length: its data are what was added since marker.data. */
static void firefox_mark(firefox *f, const char *name, firefox_marker marker)
{
    marker.name = text_word(&f->texts, name);
    marker.length = f->marker_data.used - marker.data;
    f->failed = f->failed || buffer_add(&f->markers, &marker, sizeof marker) != 0;
}

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
        stall.handler = json_word("(uninstrumented)");
    }
    firefox_data(f, "{\"type\":\"Stall\",\"handler\":\"");
    firefox_data_text(f, stall.handler);
    firefox_data(f, "\",\"share\":" FIREFOX_MS ",\"dur\":" FIREFOX_MS ",\"events\":%" PRIu64
                 ",\"cause\":{\"stack\":%" PRIu64 ",\"time\":" FIREFOX_MS ",\"tid\":1}}",
                 FIREFOX_MS_OF(stall.exec), FIREFOX_MS_OF(stall.length), stall.events,
                 firefox_cause(f, &stall), FIREFOX_MS_OF(stall.start));
    firefox_mark(f, is_iteration(stall.kind) ? "Stall: iteration" : "Stall: callback",
                 (firefox_marker){ .start = stall.start, .end = stall.start + stall.length,
                                   .category = firefox_category(f, firefox_handler(f, &stall)),
                                   .data = data });
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
        firefox_data(f, w->loop > 0 ? "(uninstrumented)" : "(idle)");
    }
    firefox_data(f, "\"");
    for (size_t i = 0; i < lines; i++) {
        unsigned share = firefox_share(ns[i], whole);
        firefox_data(f, ",\"s%u\":%u.%06u", (unsigned)i, share / 1000000, share % 1000000);
    }
    firefox_data(f, "}");
    firefox_mark(f, "Loop", (firefox_marker){ .start = w->start, .end = w->end,
                                              .category = FIREFOX_OTHER, .data = data });
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
            uint64_t stack = i < sites ? f->site_stacks[i] : stacks[i - sites];
            firefox_add(f, (firefox_sample){ .stack = stack, .at = at < f->end ? at : f->end,
                                             .weight = weight });
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
    f->loop = firefox_special(f, ROW_NONE, "(uninstrumented)", FIREFOX_LOOP);
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
    ok = firefox_read(&f) && firefox_put(&f);
    ok = ok && !f.failed && !f.texts.rows.failed && !f.rows.failed && !f.frames.failed &&
         !f.functions.failed && !f.resources.failed && !f.sources.failed;
    firefox_end(&f);
    return ok;
}
