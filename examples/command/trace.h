/* trace.h - chroprof trace: a profile as Chrome trace-event JSON, for Perfetto, chrome://tracing
 * and speedscope. Three things from the windows and stalls: a time line on which the sites of each
 * window lie end to end (their order inside it is not known), counters per site, stalls as async
 * slices.
 *
 * The sites' lists of windows are read side by side, a number each a window, so memory is what the
 * text takes, whatever the number of sites and windows. */

#define TRACE_COUNTERS 20      /* sites with a counter of their own */

typedef struct trace_site {
    json_text name, file;      /* without their quotes */
    uint64_t line, exec_ns;
    json_text windows;
    json_reader cursor;        /* at the site's number for the next window */
    bool first, ambiguous;     /* ambiguous: another site has this name */
} trace_site;

typedef struct trace_window {
    uint64_t start, end, busy, idle, loop, untracked;
} trace_window;

typedef struct trace {
    const char *source;
    const char *out_name;
    profile_text profile;
    trace_site *sites;
    size_t site_count;
    uint64_t *exec;            /* of each site in the window under way */
    FILE *out;
    bool comma, help;
} trace;

/* >>trace reading */

static bool read_trace_site(trace *t, json_reader *r)
{
    trace_site *site = &t->sites[t->site_count++];
    bool first = true;
    json_text key;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "name") ? json_string(r, &site->name)
                    : json_is(key, "file") ? json_string(r, &site->file)
                    : json_is(key, "line") ? json_u64(r, &site->line)
                    : json_is(key, "exec_ns") ? json_u64(r, &site->exec_ns)
                    : json_is(key, "windows") ? json_value(r, &site->windows) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static int busier_first(const void *a, const void *b)
{
    const trace_site *x = (const trace_site *)a;
    const trace_site *y = (const trace_site *)b;
    if (x->exec_ns != y->exec_ns) {
        return x->exec_ns > y->exec_ns ? -1 : 1;
    }
    return x->name.bytes < y->name.bytes ? -1 : x->name.bytes > y->name.bytes;
}

static void mark_ambiguous(trace *t)
{
    for (size_t i = 0; i < t->site_count; i++) {
        for (size_t k = i + 1; k < t->site_count; k++) {
            if (same_text(t->sites[i].name, t->sites[k].name)) {
                t->sites[i].ambiguous = t->sites[k].ambiguous = true;
            }
        }
    }
}

static bool read_trace_sites(trace *t)
{
    json_reader r = json_part(&t->profile.reader, t->profile.sites);
    size_t most = count_items(&t->profile.reader, t->profile.sites);
    bool first = true;
    if (most++ == SIZE_MAX) {
        return false;
    }
    t->sites = (trace_site *)calloc(most, sizeof *t->sites);
    t->exec = (uint64_t *)calloc(most, sizeof *t->exec);
    if (t->sites == NULL || t->exec == NULL) {
        tool_message("not enough memory for %llu sites", (unsigned long long)most);
        return false;
    }
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        if (!read_trace_site(t, &r)) {
            return false;
        }
    }
    if (r.failed) {
        return false;
    }
    qsort(t->sites, t->site_count, sizeof *t->sites, busier_first);
    mark_ambiguous(t);
    return true;
}

static bool read_trace_window(json_reader *r, trace_window *w)
{
    const struct { const char *key; uint64_t *value; } fields[] = {
        { "start_ns", &w->start }, { "end_ns", &w->end }, { "busy_ns", &w->busy },
        { "idle_ns", &w->idle }, { "loop_ns", &w->loop }, { "untracked_ns", &w->untracked }
    };
    bool first = true;
    json_text key;
    memset(w, 0, sizeof *w);
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        uint64_t *value = NULL;
        bool ok = json_key(r, &key);
        for (size_t i = 0; ok && i < sizeof fields / sizeof fields[0]; i++) {
            value = json_is(key, fields[i].key) ? fields[i].value : value;
        }
        if (!ok || !(value != NULL ? json_u64(r, value) : json_skip(r))) {
            return false;
        }
    }
    return !r->failed;
}

/* Rewinds every site to its first window. */
static bool begin_cursors(trace *t)
{
    for (size_t i = 0; i < t->site_count; i++) {
        trace_site *site = &t->sites[i];
        site->cursor = json_part(&t->profile.reader, site->windows);
        site->first = true;
        if (!json_open(&site->cursor, '[')) {
            return false;
        }
    }
    return true;
}

/* Takes each site's number for the next window; a list that is shorter counts as zeros. */
static bool step_cursors(trace *t)
{
    for (size_t i = 0; i < t->site_count; i++) {
        trace_site *site = &t->sites[i];
        t->exec[i] = 0;
        if (site->cursor.depth > 0 && json_next(&site->cursor, ']', &site->first) &&
            !json_u64(&site->cursor, &t->exec[i])) {
            return false;
        }
        if (site->cursor.failed) {
            return false;
        }
    }
    return true;
}

/* >>trace writing */

static void trace_begin(trace *t, const char *phase)
{
    (void)fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":1", t->comma ? "," : "", phase);
    t->comma = true;
}

/* Microseconds with the nanoseconds behind the point. */
static void trace_time(trace *t, uint64_t ns)
{
    (void)fprintf(t->out, ",\"ts\":%llu.%03u", (unsigned long long)(ns / 1000),
                  (unsigned)(ns % 1000));
}

static void trace_raw(trace *t, json_text text)
{
    (void)fwrite(text.bytes, 1, text.length, t->out);
}

static void trace_site_name(trace *t, const trace_site *site)
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
static uint64_t trace_piece(trace *t, const trace_site *site, const char *state, uint64_t start,
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

static uint64_t trace_pieces(trace *t, const trace_window *w, uint64_t at)
{
    at = at > w->start ? at : w->start;
    for (size_t i = 0; i < t->site_count; i++) {
        at = trace_piece(t, &t->sites[i], "", at, t->exec[i]);
    }
    at = trace_piece(t, NULL, "(untracked)", at, w->untracked);
    at = trace_piece(t, NULL, "(loop)", at, w->loop);
    return trace_piece(t, NULL, "(idle)", at, w->idle);
}

/* Thousandths of a percent. */
static uint64_t trace_share(uint64_t part, const trace_window *w)
{
    uint64_t whole = w->end > w->start ? w->end - w->start : 1;
    while (part > UINT64_MAX / 100000) {
        part >>= 1;
        whole = whole > 1 ? whole >> 1 : 1;
    }
    return part * 100000 / whole;
}

static void trace_count(trace *t, uint64_t part, const trace_window *w)
{
    uint64_t share = trace_share(part, w);
    (void)fprintf(t->out, ":%llu.%03u", (unsigned long long)(share / 1000),
                  (unsigned)(share % 1000));
}

static void trace_counters(trace *t, const trace_window *w)
{
    uint64_t rest = 0;
    trace_begin(t, "C");
    (void)fputs(",\"name\":\"sites, % of the loop\"", t->out);
    trace_time(t, w->start);
    (void)fputs(",\"args\":{", t->out);
    for (size_t i = 0; i < t->site_count; i++) {
        if (i >= TRACE_COUNTERS) {
            rest += t->exec[i];
            continue;
        }
        trace_site_name(t, &t->sites[i]);
        trace_count(t, t->exec[i], w);
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

static bool trace_windows(trace *t)
{
    json_reader r = json_part(&t->profile.reader, t->profile.windows);
    bool first = true;
    uint64_t at = 0;
    if (!begin_cursors(t) || !json_open(&r, '[')) {
        return false;
    }
    while (json_next(&r, ']', &first)) {
        trace_window w;
        if (!read_trace_window(&r, &w) || !step_cursors(t)) {
            return false;
        }
        at = trace_pieces(t, &w, at);
        trace_counters(t, &w);
    }
    return !r.failed;
}

/* >>trace stalls: an async slice each, its biggest slices inside, end to end */

typedef struct trace_stall {
    json_text kind, slices;
    uint64_t start, length, number;
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

static bool read_trace_slice(json_reader *r, json_text *name, uint64_t *exec)
{
    bool first = true;
    json_text key;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "name") ? json_string(r, name)
                    : json_is(key, "exec_ns") ? json_u64(r, exec) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static bool trace_slices(trace *t, const trace_stall *stall)
{
    json_reader r = json_part(&t->profile.reader, stall->slices);
    uint64_t at = stall->start;
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        json_text name = { "", 0 };
        uint64_t exec = 0;
        if (!read_trace_slice(&r, &name, &exec)) {
            return false;
        }
        trace_async(t, stall, "b", at);
        trace_async_name(t, "", name);
        at += exec;
        trace_async(t, stall, "e", at);
        trace_async_name(t, "", name);
    }
    return !r.failed;
}

static bool read_trace_stall(json_reader *r, trace_stall *stall)
{
    bool first = true;
    json_text key;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "kind") ? json_string(r, &stall->kind)
                    : json_is(key, "start_ns") ? json_u64(r, &stall->start)
                    : json_is(key, "length_ns") ? json_u64(r, &stall->length)
                    : json_is(key, "slices") ? json_value(r, &stall->slices) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static bool trace_stalls(trace *t)
{
    json_reader r = json_part(&t->profile.reader, t->profile.stalls);
    uint64_t number = 0;
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        trace_stall stall = { { "", 0 }, { "[]", 2 }, 0, 0, ++number };
        if (!read_trace_stall(&r, &stall)) {
            return false;
        }
        trace_async(t, &stall, "b", stall.start);
        trace_async_name(t, "stall, ", stall.kind);
        if (!trace_slices(t, &stall)) {
            return false;
        }
        trace_async(t, &stall, "e", stall.start + stall.length);
        trace_async_name(t, "stall, ", stall.kind);
    }
    return !r.failed;
}

/* >>trace run */

/* The samples, if there are any; in trace_code.h. */
static bool trace_samples(trace *t);

/* Writes a loaded profile to t->out. */
static bool trace_write(void *user, FILE *out)
{
    trace *t = (trace *)user;
    bool ok;
    t->out = out;
    t->comma = false;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    trace_begin(t, "M");
    (void)fputs(",\"name\":\"process_name\",\"args\":{\"name\":", out);
    trace_raw(t, t->profile.name);
    (void)fputs("}}", out);
    trace_begin(t, "M");
    (void)fputs(",\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":"
                "\"sites per window, their order inside it unknown\"}}", out);
    ok = read_trace_sites(t) && trace_windows(t) && trace_stalls(t) && trace_samples(t);
    (void)fputs("\n]}\n", out);
    free(t->sites);
    free(t->exec);
    return ok;
}

static const char *set_trace_out(void *target, const char *value)
{
    ((trace *)target)->out_name = value;
    return NULL;
}

static const char *set_trace_help(void *target, const char *value)
{
    (void)value;
    ((trace *)target)->help = true;
    return NULL;
}

static const tool_option trace_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_trace_out },
    { "help", 'h', NULL, "this text", set_trace_help }
};

static const char trace_text[] =
    "\n"
    "IN is a profile that was written as CHROPROF_JSON (- for standard input), a profile\n"
    "in a file (see chroprof_map), or a process that has one. OUT opens in Perfetto,\n"
    "chrome://tracing and speedscope: what each site took per window (end to end, as the\n"
    "order inside a window is not known), counters per site in percent of the loop, and\n"
    "the stalls with their biggest slices.\n"
    "\n"
    "exit codes: 0 done, 1 input unreadable or malformed, output unwritable, 2 usage\n"
    "\n"
    "examples:\n"
    "  chroprof trace demo.json -o demo.trace.json\n"
    "  chroprof trace server.chroprof -o server.trace.json\n"
    "  chroprof replay server.events -f json | chroprof trace - -o server.trace.json\n";

static int trace_output(trace *t, bool loaded)
{
    int result = loaded && profile_symbolize(&t->profile, NULL)
                 ? tool_output(t->out_name, trace_write, t) : TOOL_INPUT;
    profile_free(&t->profile);
    return result;
}

static int trace_run(const tool_command *command, int count, char **words)
{
    static trace run;
    int operands;
    int result = parse_words(command, count, words, &run, &run.source, 1, &operands);
    if (!shall_run(command, run.help, operands == 0 ? "IN" : NULL, &result)) {
        return result;
    }
    return trace_output(&run, profile_load(&run.profile, run.source));
}

static int dump_trace(const replay *run, block_file *file)
{
    static trace t;
    t.source = run->source;
    t.out_name = run->out_name;
    if (file == NULL) {
        return trace_output(&t, profile_load(&t.profile, t.source));
    }
    t.profile.block = *file;
    file->copy = NULL;
    return trace_output(&t, profile_of_block(&t.profile));
}
