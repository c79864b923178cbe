/* firefox_put.c - writes the form that firefox.c has read. */

#include "firefox_form.h"

#include <inttypes.h>
#include <string.h>

#include "elf.h"

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
    static const char *const rest[] = { "(all other sites)", "(untracked)", "(uninstrumented)" };
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
    firefox_add(f, (firefox_sample){ .stack = f->idle, .at = f->end });
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
    case FIREFOX_WAITING: return "Waiting: lifetime of paused futures (no order of time)";
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

bool firefox_put(firefox *f)
{
    bool ok = true;
    firefox_meta(f);
    firefox_libs(f);
    firefox_word(f, "\"threads\":[");
    for (int thread = 0; ok && thread < (f->draws > 0 ? 4 : 3); thread++) {
        ok = firefox_thread(f, thread);
    }
    firefox_word(f, "],\n\"counters\":[],\n");
    firefox_shared(f);
    return ok;
}
