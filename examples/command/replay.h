/* replay.h - chroprof replay: an event stream becomes a profile and a report. */

#define REPLAY_MEMORY ((size_t)64 << 20)
#define REPLAY_WINDOW_NS UINT64_C(1000000)
#define REPLAY_BUFFER ((size_t)256 << 10)
#define REPLAY_LONGEST_LINE ((size_t)16 << 20)

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

typedef struct replay {
    const char *source;        /* operand */
    const char *out_name;      /* NULL or "-": standard output */
    chroprof_format format;
    chroprof_text_options text;
    chroprof_options options;
    size_t memory;
    uint64_t repeat;
    int color;
    bool strict, stats, help;
    uint64_t for_ns;           /* dump: only what happens in the next ns; 0: all */
    bool trace;                /* dump: as a trace, which is not one of the header's formats */
    bool symbolize;            /* JSON gains the functions and lines of native code */
    chroprof profile;
    void *block;
    FILE *out;
    event_reader reader;
    double seconds;            /* spent on parsing and profiling */
} replay;

/* >>replay options */

typedef struct choice {
    const char *name;
    int value;
} choice;

/* Looks text up among choices; false if it is none of them. */
static bool choose(const choice *choices, const char *text, int *value)
{
    for (; choices->name != NULL; choices++) {
        if (strcmp(choices->name, text) == 0) {
            *value = choices->value;
            return true;
        }
    }
    return false;
}

static const char *set_format(void *target, const char *value)
{
    static const choice formats[] = {
        { "text", CHROPROF_TEXT }, { "json", CHROPROF_JSON }, { "folded", CHROPROF_FOLDED },
        { "prometheus", CHROPROF_PROMETHEUS }, { "pprof", CHROPROF_PPROF },
        { "firefox", CHROPROF_FIREFOX }, { NULL, 0 }
    };
    int format = 0;
    if (!choose(formats, value, &format)) {
        return "expected text, json, folded, prometheus, pprof or firefox";
    }
    ((replay *)target)->format = (chroprof_format)format;
    return NULL;
}

static const char *set_by(void *target, const char *value)
{
    static const choice orders[] = {
        { "exec", CHROPROF_BY_EXEC }, { "children", CHROPROF_BY_WITH_CHILDREN },
        { "slice-max", CHROPROF_BY_SLICE_MAX }, { "blame", CHROPROF_BY_BLAME },
        { "delay", CHROPROF_BY_DELAY }, { "calls", CHROPROF_BY_CALLS }, { NULL, 0 }
    };
    int by = 0;
    if (!choose(orders, value, &by)) {
        return "expected exec, children, slice-max, blame, delay or calls";
    }
    ((replay *)target)->text.by = (chroprof_order)by;
    return NULL;
}

static const choice colors[] = {
    { "auto", COLOR_AUTO }, { "always", COLOR_ALWAYS }, { "never", COLOR_NEVER }, { NULL, 0 }
};

static const char *set_color(void *target, const char *value)
{
    return choose(colors, value, &((replay *)target)->color) ? NULL
                                                             : "expected auto, always or never";
}

static const char *set_top(void *target, const char *value)
{
    uint64_t count;
    if (!read_count(value, 1, 1000000, &count)) {
        return "expected a number of rows from 1 to 1000000";
    }
    ((replay *)target)->text.top = (uint32_t)count;
    return NULL;
}

static const char *set_columns(void *target, const char *value)
{
    uint64_t count;
    if (!read_count(value, 60, 200, &count)) {
        return "expected a width from 60 to 200";
    }
    ((replay *)target)->text.columns = (uint32_t)count;
    return NULL;
}

static const char *set_repeat(void *target, const char *value)
{
    bool ok = read_count(value, 1, 1000000000, &((replay *)target)->repeat);
    return ok ? NULL : "expected a number from 1 to 1000000000";
}

static const char *set_memory(void *target, const char *value)
{
    return read_size(value, &((replay *)target)->memory) ? NULL
                                                         : "expected a size as in 500000, 64M, 1G";
}

static const char *set_window(void *target, const char *value)
{
    bool ok = read_duration(value, &((replay *)target)->options.window_ns);
    return ok ? NULL : "expected a duration as in 100ms, 1s";
}

static const char *set_stall(void *target, const char *value)
{
    bool ok = read_duration(value, &((replay *)target)->options.stall_ns);
    return ok ? NULL : "expected a duration as in 500us, 20ms";
}

/* The capacities, by the names that the report and the header use. */
static uint32_t *capacity_named(chroprof_options *options, const char *name, size_t length)
{
    const struct { const char *name; uint32_t *value; } capacities[] = {
        { "max_futures", &options->max_futures }, { "max_sites", &options->max_sites },
        { "max_paths", &options->max_paths }, { "max_edges", &options->max_edges },
        { "max_depth", &options->max_depth }, { "max_histograms", &options->max_histograms },
        { "max_windows", &options->max_windows }, { "max_stalls", &options->max_stalls },
        { "string_bytes", &options->string_bytes }
    };
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        if (strlen(capacities[i].name) == length &&
            memcmp(capacities[i].name, name, length) == 0) {
            return capacities[i].value;
        }
    }
    return NULL;
}

static const char *set_capacity(void *target, const char *value)
{
    const char *equals = strchr(value, '=');
    uint64_t count;
    uint32_t *capacity;
    if (equals == NULL || !read_count(equals + 1, 1, UINT32_MAX, &count)) {
        return "expected OPTION=NUMBER";
    }
    capacity = capacity_named(&((replay *)target)->options, value, (size_t)(equals - value));
    if (capacity == NULL) {
        return "expected max_futures, max_sites, max_paths, max_edges, max_depth, max_histograms, "
               "max_windows, max_stalls or string_bytes before the =";
    }
    *capacity = (uint32_t)count;
    return NULL;
}

static const char *set_out(void *target, const char *value)
{
    ((replay *)target)->out_name = value;
    return NULL;
}

static const char *set_name(void *target, const char *value)
{
    ((replay *)target)->options.name = value;
    return NULL;
}

static const char *set_strict(void *target, const char *value)
{
    (void)value;
    ((replay *)target)->strict = true;
    return NULL;
}

static const char *set_ascii(void *target, const char *value)
{
    (void)value;
    ((replay *)target)->text.ascii = true;
    return NULL;
}

static const char *set_stats(void *target, const char *value)
{
    (void)value;
    ((replay *)target)->stats = true;
    return NULL;
}

static const char *set_help(void *target, const char *value)
{
    (void)value;
    ((replay *)target)->help = true;
    return NULL;
}

static const tool_option replay_options[] = {
    { "format", 'f', "FORMAT", "text (default), json, folded, prometheus, pprof or\n"
      "firefox", set_format },
    { "out", 'o', "OUT", "write to this file instead of standard output", set_out },
    { "by", 'b', "ORDER", "order of the ranked table: exec (default), children,\n"
      "slice-max, blame, delay or calls", set_by },
    { "top", 'n', "N", "rows of the ranked table (default 20)", set_top },
    { "columns", 'w', "N", "width of the text report, 60 to 200 (default: the\n"
      "terminal's, else 80)", set_columns },
    { "ascii", '\0', NULL, "bars of plain ASCII", set_ascii },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color },
    { "strict", '\0', NULL, "stop at the first malformed line, exit 1, no report", set_strict },
    { "memory", 'm', "SIZE", "size of the profile's block, as in 512K or 1G\n"
      "(default 64M)", set_memory },
    { "set", '\0', "OPTION=N", "capacity of one table, as in max_paths=5000; the\n"
      "report names the option of a table that was full", set_capacity },
    { "window", '\0', "TIME", "first width of the time windows; it doubles when their\n"
      "table is full (default 1ms)", set_window },
    { "stall", '\0', "TIME", "a turn or pass longer than this is a stall\n(default 20ms)",
      set_stall },
    { "name", '\0', "NAME", "name of the profile (default: FILE without its folders\n"
      "and endings)", set_name },
    { "repeat", '\0', "N", "replay the stream N times from memory, its times\ngoing on",
      set_repeat },
    { "stats", '\0', NULL, "load the stream into memory first, then say on\n"
      "standard error how fast it was parsed and profiled", set_stats },
    { "help", 'h', NULL, "this text", set_help }
};

static const char replay_text[] =
    "\n"
    "FILE is a text stream of events, - for standard input; names that end in .xz or\n"
    ".gz are unpacked by the programs xz and gzip. One event a line:\n"
    "\n"
    "  TIMESTAMP_NS KIND FUTURE_ID NAME FILE LINE\n"
    "\n"
    "KIND is pending, ready, running, paused, switch, completed, failed, cancelled,\n"
    "enter, leave, idle_enter, idle_leave, loop_enter, loop_leave or tick. The site\n"
    "(NAME FILE LINE) is needed by pending and enter, and may be left out otherwise.\n"
    "In NAME and FILE \\s is a blank, \\t a tab, \\n a newline, \\\\ a backslash and \\e\n"
    "the empty string. Lines that begin with # are comments.\n"
    "\n"
    "Malformed lines are named on standard error (FILE:LINE:COLUMN, in bytes),\n"
    "left out and counted; the exit code stays 0 unless --strict is given.\n"
    "\n"
    "exit codes: 0 done, 1 input unreadable, output unwritable or, with --strict,\n"
    "malformed, 2 usage\n"
    "\n"
    "examples:\n"
    "  chroprof replay server.events\n"
    "  chroprof replay server.events.xz --by blame --top 5\n"
    "  chroprof replay - --format folded -o server.folded < server.events\n";

/* >>replay input: whole in memory, or in pieces of constant memory */

typedef struct byte_buffer {
    char *bytes;
    size_t used, capacity;
} byte_buffer;

static bool buffer_grow(byte_buffer *b)
{
    size_t capacity = b->capacity > 0 ? b->capacity * 2 : REPLAY_BUFFER;
    char *bytes = (char *)realloc(b->bytes, capacity);
    if (bytes == NULL) {
        tool_message("not enough memory for %llu bytes of input", (unsigned long long)capacity);
        return false;
    }
    b->bytes = bytes;
    b->capacity = capacity;
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Packed data under a plain name is told from a text that is merely malformed. */
static bool looks_packed(const input *in, const byte_buffer *b)
{
    static const char xz[] = { (char)0xFD, '7', 'z', 'X', 'Z' };
    static const char gzip[] = { (char)0x1F, (char)0x8B };
    bool is_xz = b->used >= sizeof xz && memcmp(b->bytes, xz, sizeof xz) == 0;
    bool is_gzip = b->used >= sizeof gzip && memcmp(b->bytes, gzip, sizeof gzip) == 0;
    if (is_xz || is_gzip) {
        tool_message("%s: this is packed by %s; give the file a name that ends in .%s, or unpack "
                     "it first", in->name, is_xz ? "xz" : "gzip", is_xz ? "xz" : "gz");
    }
    return is_xz || is_gzip;
}

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
    (void)fprintf(stderr, "\r\033[K%s: %.1f M events, %.1f M a second", in->name,
                  (double)r->events / 1e6, (double)r->events / 1e6 / (now - p->start));
    if (in->size > 0) {
        (void)fprintf(stderr, ", %.0f %%", 100.0 * (double)in->taken / (double)in->size);
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
        tool_message("%s: a line is longer than 16 MiB; this is no event stream", source);
        return false;
    }
    return buffer_grow(b);
}

static bool stream_input(replay *run, input *in, byte_buffer *b)
{
    progress bar = progress_begin();
    ssize_t count = 0;
    bool ok = buffer_grow(b);
    while (ok && (count = input_read(in, b->bytes + b->used, b->capacity - b->used)) > 0) {
        b->used += (size_t)count;
        ok = !(in->taken == (uint64_t)count && looks_packed(in, b)) &&
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

static bool load_input(input *in, byte_buffer *b)
{
    ssize_t count;
    do {
        if (b->used == b->capacity && !buffer_grow(b)) {
            return false;
        }
        count = input_read(in, b->bytes + b->used, b->capacity - b->used);
        b->used += count > 0 ? (size_t)count : 0;
    } while (count > 0);
    return count == 0 && !looks_packed(in, b);
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

static bool replay_input(replay *run)
{
    input in;
    byte_buffer buffer = { NULL, 0, 0 };
    bool ok;
    if (!input_open(&in, run->source)) {
        return false;
    }
    run->reader.source = in.name;
    if (run->stats || run->repeat > 1) {
        ok = load_input(&in, &buffer);
        ok = input_close(&in, ok) && ok && feed_loaded(run, &buffer);
    } else {
        ok = stream_input(run, &in, &buffer);
        ok = input_close(&in, ok) && ok;
    }
    free(buffer.bytes);
    return ok;
}

/* >>replay output */

static bool output_is_stdout(const replay *run)
{
    return run->out_name == NULL || strcmp(run->out_name, "-") == 0;
}

/* Opening OUT empties it, so it must not be what is read. */
static bool same_file(const char *a, const char *b)
{
    struct stat facts_a;
    struct stat facts_b;
    return stat(a, &facts_a) == 0 && stat(b, &facts_b) == 0 && S_ISREG(facts_a.st_mode) &&
           facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}

/* Opened before the stream is read, so that a long run does not end in a wrong name. */
static int open_output(replay *run)
{
    run->out = stdout;
    if (output_is_stdout(run)) {
        return TOOL_OK;
    }
    if (same_file(run->out_name, run->source)) {
        tool_message("%s is both input and output", run->out_name);
        return TOOL_USAGE;
    }
    run->out = fopen(run->out_name, "wb");
    if (run->out == NULL) {
        tool_message("%s: %s", run->out_name, strerror(errno));
        return TOOL_INPUT;
    }
    return TOOL_OK;
}

static int write_bytes(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) == count ? 0 : 1;
}

static uint32_t terminal_columns(FILE *out)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col < 60 ? 60 : size.ws_col > 200 ? 200 : size.ws_col;
    }
#endif
    (void)out;
    return 80;
}

static bool color_wanted(int when, FILE *out)
{
    const char *terminal = getenv("TERM");
    const char *refused = getenv("NO_COLOR");
    if (when != COLOR_AUTO) {
        return when == COLOR_ALWAYS;
    }
    return isatty(fileno(out)) == 1 && (refused == NULL || *refused == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* JSON in which native code has its functions and lines, and a text of these; in symbolize.h. */
static int write_symbolized(replay *run);
static int write_code(replay *run);

static int write_report(replay *run)
{
    if (run->symbolize && run->format == CHROPROF_JSON) {
        return write_symbolized(run);
    }
    if (run->format != CHROPROF_TEXT) {
        return chroprof_write(&run->profile, run->format, write_bytes, run->out);
    }
    run->text.color = color_wanted(run->color, run->out);
    if (run->text.columns == 0) {
        run->text.columns = terminal_columns(run->out);
    }
    if (chroprof_write_text(&run->profile, &run->text, write_bytes, run->out) != 0) {
        return 1;
    }
    return run->symbolize ? write_code(run) : 0;
}

static int replay_output(replay *run)
{
    int failed;
    errno = 0;
    failed = write_report(run) != 0;
    failed = fflush(run->out) != 0 || failed;
    if (run->out != stdout) {
        failed = fclose(run->out) != 0 || failed;
    }
    if (failed) {
        tool_message("%s: %s", output_is_stdout(run) ? "(standard output)" : run->out_name,
                     errno != 0 ? strerror(errno) : "this build writes no such format");
    }
    return failed ? TOOL_INPUT : TOOL_OK;
}

/* An order by figures that the stream never gave would puzzle. */
static void warn_without_ready(const replay *run)
{
    chroprof_totals totals;
    bool asked = run->text.by == CHROPROF_BY_DELAY || run->text.by == CHROPROF_BY_BLAME;
    chroprof_read_totals(&run->profile, &totals);
    if (asked && totals.delay_ns == 0) {
        tool_message("%s: no future was ready and waited, so delay and blame are 0; a stream tells "
                     "it by ready events", run->reader.source);
    }
}

/* What standard error says at the end. */
static void replay_summary(const replay *run)
{
    const event_reader *r = &run->reader;
    if (r->malformed > 0 && !r->strict) {
        tool_message("%s: %llu malformed line%s left out, %llu event%s taken", r->source,
                     (unsigned long long)r->malformed, r->malformed == 1 ? "" : "s",
                     (unsigned long long)r->events, r->events == 1 ? "" : "s");
    }
    if (run->stats) {
        double seconds = run->seconds > 0 ? run->seconds : 1e-9;
        (void)fprintf(stderr, "%llu events in %.3f s: %.2f million a second\n",
                      (unsigned long long)r->events, run->seconds,
                      (double)r->events / seconds / 1e6);
    }
}

/* >>replay run */

/* The profile's name: FILE without its folders and endings. */
static const char *default_name(const char *source)
{
    static char name[64];
    static const char *const endings[] = { ".xz", ".gz", ".events" };
    const char *slash = strrchr(source, '/');
    (void)snprintf(name, sizeof name, "%s", slash != NULL && slash[1] != '\0' ? slash + 1 : source);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(name);
        if (length > strlen(endings[i]) && ends_in(name, endings[i])) {
            name[length - strlen(endings[i])] = '\0';
        }
    }
    return strcmp(source, "-") == 0 ? "stdin" : name;
}

static bool replay_profile(replay *run)
{
    chroprof_result result;
    run->block = malloc(run->memory);
    if (run->block == NULL) {
        tool_message("not enough memory for a block of %llu bytes, see --memory",
                     (unsigned long long)run->memory);
        return false;
    }
    run->options.clock = chroprof_clock_manual;
    if (run->options.window_ns == 0) {
        run->options.window_ns = REPLAY_WINDOW_NS;
    }
    if (run->options.name == NULL) {
        run->options.name = default_name(run->source);
    }
    result = chroprof_init(&run->profile, run->block, run->memory, &run->options);
    if (result != CHROPROF_OK) {
        tool_message("%s (see --memory and --set)", chroprof_result_text(result));
    }
    return result == CHROPROF_OK;
}

/* The report is written for whatever was taken, unless --strict or a failing input forbids it. */
static int replay_all(replay *run)
{
    const char *broken;
    int result = open_output(run);
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
    result = replay_output(run);
    replay_summary(run);
    warn_without_ready(run);
    return result;
}

static int replay_run(const tool_command *command, int count, char **words)
{
    static replay run;
    int operands;
    int result;
    run.memory = REPLAY_MEMORY;
    run.repeat = 1;
    result = parse_words(command, count, words, &run, &run.source, 1, &operands);
    if (!shall_run(command, run.help, operands == 0 ? "FILE" : NULL, &result)) {
        return result;
    }
    if (!replay_profile(&run)) {
        free(run.block);
        return TOOL_USAGE;
    }
    result = reader_init(&run.reader, &run.profile, run.source, run.strict) ? replay_all(&run)
                                                                            : TOOL_INPUT;
    reader_free(&run.reader);
    free(run.block);
    return result;
}
