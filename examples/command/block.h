/* block.h - chroprof dump and chroprof check: profiles that lie in files, of programs that run,
 * hang, ended or were killed. The file is mapped, copied by chroprof_snapshot, and let go. */

typedef struct block_file {
    const char *name;          /* of the file, for people */
    const char *place;         /* where to open it */
    char found[4096];          /* both, where a process was given */
    char found_place[4096 + 64];
    void *copy;
    size_t size;
    chroprof view;
} block_file;

/* >>block files */

/* What to go back to when a file is cut shorter while it is being copied. */
static sigjmp_buf *block_gone(void)
{
    static sigjmp_buf gone;
    return &gone;
}

static void block_on_bus_error(int number)
{
    siglongjmp(*block_gone(), number);
}

/* The copy, or 0 bytes of it if the file shrank meanwhile. */
static chroprof_result block_snapshot(const void *live, size_t size, void *copy)
{
    struct sigaction action;
    struct sigaction old;
    chroprof_result result = CHROPROF_ERR_TRUNCATED;
    memset(&action, 0, sizeof action);
    action.sa_handler = block_on_bus_error;
    (void)sigaction(SIGBUS, &action, &old);
    if (sigsetjmp(*block_gone(), 1) == 0) {
        result = chroprof_snapshot(live, size, copy, size);
    }
    (void)sigaction(SIGBUS, &old, NULL);
    return result;
}

/* Opens a file as a view of a copy. */
static chroprof_result block_take(block_file *file, int fd, size_t size)
{
    void *live = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    chroprof_result result = CHROPROF_ERR_FILE;
    if (live == MAP_FAILED) {
        return result;
    }
    file->copy = calloc(1, size);
    file->size = size;
    if (file->copy != NULL) {
        result = block_snapshot(live, size, file->copy);
    }
    (void)munmap(live, size);
    return result == CHROPROF_OK ? chroprof_open(&file->view, file->copy, size) : result;
}

static chroprof_result block_read(block_file *file)
{
    struct stat facts;
    chroprof_result result = CHROPROF_ERR_FILE;
    int fd = open(file->place, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {                           /* a pipe has no block, and must not hold us */
        return result;
    }
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        result = facts.st_size > 0 ? block_take(file, fd, (size_t)facts.st_size)
                                   : CHROPROF_ERR_FORMAT;
    }
    (void)close(fd);
    return result;
}

static void block_close(block_file *file)
{
    free(file->copy);
    file->copy = NULL;
}

/* >>block processes: whose number is given; the system lists what a process has mapped */

typedef struct block_search {
    const char *pid;
    block_file *file;          /* the first profile that was found */
    size_t found;
} block_search;

/* The file of a line of /proc/PID/maps that is mapped shared; NULL: none. */
static char *block_mapped_file(char *line)
{
    char *path = strchr(line, '/');
    char *mode = strchr(line, ' ');
    line[strcspn(line, "\n")] = '\0';
    return path != NULL && mode != NULL && strncmp(mode, " rw-s", 5) == 0 ? path : NULL;
}

/* Where the file of such a line can be opened: by its name; under the process's own root, if that
 * is another one than ours; by the mapping itself, if the file has no name any more. */
static void block_locate(block_file *file, const char *pid, const char *line, const char *path)
{
    int range = (int)strcspn(line, " ");
    (void)snprintf(file->found, sizeof file->found, "%s", path);
    if (ends_in(path, " (deleted)")) {
        (void)snprintf(file->found_place, sizeof file->found_place, "/proc/%s/map_files/%.*s", pid,
                       range, line);
    } else {
        (void)snprintf(file->found_place, sizeof file->found_place, "/proc/%s/root%s", pid, path);
    }
    file->name = file->found;
    file->place = same_file(path, file->found_place) ? file->found : file->found_place;
}

static void block_list(const char *name)
{
    (void)fputs("  ", stderr);
    print_safely(stderr, name);
    (void)fputc('\n', stderr);
}

/* Takes the first profile; of further ones it says that they are there. */
static void block_consider(block_search *search, const char *line, const char *path)
{
    static block_file other;
    block_file *file = search->found == 0 ? search->file : &other;
    if (search->found > 0 && strcmp(path, search->file->found) == 0) {
        return;
    }
    block_locate(file, search->pid, line, path);
    if (block_read(file) != CHROPROF_OK) {
        block_close(file);
        return;
    }
    if (search->found == 1) {
        tool_message("process %s has several profiles mapped; give one of the files:",
                     search->pid);
        block_list(search->file->name);
    }
    if (search->found++ > 0) {
        block_list(other.name);
        block_close(&other);
    }
}

static bool block_of_process(block_file *file, const char *pid)
{
    block_search search = { pid, file, 0 };
    char line[4096 + 128];
    FILE *maps;
    (void)snprintf(line, sizeof line, "/proc/%s/maps", pid);
    maps = fopen(line, "r");
    if (maps == NULL) {
        tool_message("%s: %s", line, strerror(errno));
        return false;
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        const char *path = block_mapped_file(line);
        if (path != NULL) {
            block_consider(&search, line, path);
        }
    }
    (void)fclose(maps);
    if (search.found == 0) {
        tool_message("process %s has no profile mapped (see chroprof_map)", pid);
    }
    return search.found == 1;
}

/* A file, or, where there is none of that name and it is a number, a process. */
static bool block_open(block_file *file, const char *operand)
{
    chroprof_result result;
    if (operand[strspn(operand, "0123456789")] == '\0' && access(operand, F_OK) != 0) {
        return block_of_process(file, operand);
    }
    file->name = file->place = operand;
    errno = 0;
    result = block_read(file);
    if (result != CHROPROF_OK) {
        tool_message("%s: %s", operand, result == CHROPROF_ERR_FILE && errno != 0
                                            ? strerror(errno) : chroprof_result_text(result));
    }
    return result == CHROPROF_OK;
}

/* Is the file for output the profile of a program that runs? Cut short, it would kill that one;
 * replaced, its profile would be lost. */
static bool block_is_owned(const char *out)
{
    static block_file file;
    chroprof_origin origin;
    memset(&origin, 0, sizeof origin);
    file.name = file.place = out;
    if (block_read(&file) == CHROPROF_OK) {
        chroprof_read_origin(&file.view, &origin);
    }
    block_close(&file);
    if (origin.alive) {
        tool_message("%s: process %" PRIu64 " keeps its profile there", out, origin.pid);
    }
    return origin.alive;
}

/* >>dump */

static void dump_seconds(uint64_t from, uint64_t to)
{
    uint64_t ms = to > from ? (to - from) / 1000000 : 0;
    (void)fprintf(stderr, "%" PRIu64 ".%03" PRIu64 " s", ms / 1000, ms % 1000);
}

/* Adds a name and what comes behind it; what does not fit is left out. */
static void add_name(char *text, size_t size, const char *name, const char *end)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", name, end);
}

/* The sites of a path from its root down, as in "accept > connection > fetch". false: it is none. */
static bool block_path(const chroprof *view, uint32_t id, char *text, size_t size)
{
    size_t count = chroprof_paths(view, NULL, 0);
    chroprof_path *paths = (chroprof_path *)calloc(count + 1, sizeof *paths);
    uint32_t chain[64];
    size_t depth = 0;
    count = paths != NULL ? chroprof_paths(view, paths, count) : 0;
    for (size_t i = count; i-- > 0 && depth < 64;) {   /* parents stand before their children */
        if (paths[i].id == id) {
            chain[depth++] = (uint32_t)i;
            id = paths[i].parent;
        }
    }
    *text = '\0';
    for (size_t i = depth; i-- > 0;) {
        add_name(text, size, paths[chain[i]].name, i > 0 ? " > " : "");
    }
    free(paths);
    return depth > 0;
}

/* Who created what runs. */
static void dump_path(const chroprof *view)
{
    char text[4096];
    chroprof_frame frame;
    if (chroprof_frames(view, &frame, 1) > 0 && block_path(view, frame.path, text, sizeof text)) {
        (void)fputs("chroprof: path ", stderr);
        print_safely(stderr, text);
        (void)fputc('\n', stderr);
    }
}

/* What runs, from the top of the stack down. */
static void dump_stack(const chroprof *view, const chroprof_origin *origin)
{
    chroprof_frame frames[16];
    size_t count = chroprof_frames(view, frames, 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        (void)fputs(i == 0 ? "chroprof: running " : "chroprof:   under ", stderr);
        print_safely(stderr, frames[i].barrier ? "(a nested loop)" : frames[i].name);
        (void)fputs(", since ", stderr);
        dump_seconds(frames[i].since_ns, origin->end_ns);
        (void)fputs(" of profile time\n", stderr);
    }
    if (count > 16) {
        (void)fprintf(stderr, "chroprof:   and %zu more below\n", count - 16);
    }
}

/* How the program is, and what it was doing at its last event. */
static void dump_origin(const block_file *file)
{
    chroprof_origin origin;
    struct timespec now;
    chroprof_read_origin(&file->view, &origin);
    if (origin.ended) {
        tool_message("process %" PRIu64 " ended well", origin.pid);
        return;
    }
    if (!origin.mapped) {
        return;
    }
    tool_message(origin.alive ? "process %" PRIu64 " runs"
                              : "process %" PRIu64 " did not end well", origin.pid);
    if (origin.end_unix_ns > 0 && clock_gettime(CLOCK_REALTIME, &now) == 0) {
        uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        (void)fputs("chroprof: its last event was ", stderr);
        dump_seconds(origin.end_unix_ns, ns);
        (void)fputs(" ago\n", stderr);
    }
    dump_stack(&file->view, &origin);
    dump_path(&file->view);
}

/* Waits, and leaves of the profile what happened meanwhile. */
static bool dump_wait(block_file *file, uint64_t ns)
{
    const struct timespec pause = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    void *copy = file->copy;
    chroprof older = file->view;
    chroprof_result result;
    (void)nanosleep(&pause, NULL);
    file->copy = NULL;
    errno = 0;
    result = block_read(file);
    if (result == CHROPROF_OK) {
        result = chroprof_difference(&file->view, &older, file->copy, file->size);
    }
    if (result == CHROPROF_OK) {
        result = chroprof_open(&file->view, file->copy, file->size);
    }
    free(copy);
    if (result != CHROPROF_OK) {
        tool_message("%s: after the wait: %s", file->name,
                     result == CHROPROF_ERR_FILE && errno != 0 ? strerror(errno)
                                                               : chroprof_result_text(result));
    }
    return result == CHROPROF_OK;
}

static const char *set_for(void *target, const char *value)
{
    uint64_t *ns = &((replay *)target)->for_ns;
    bool ok = read_seconds(value, ns) && *ns > 0 && *ns <= UINT64_C(86400000000000);
    return ok ? NULL : "expected seconds, up to 86400";
}

static const char *set_dump_format(void *target, const char *value)
{
    replay *run = (replay *)target;
    run->trace = strcmp(value, "trace") == 0;
    return run->trace || set_format(target, value) == NULL
           ? NULL : "expected text, json, folded, prometheus, pprof, firefox or trace";
}

/* Takes over the profile in file; file NULL: reads run->source, JSON too. In trace.h. */
static int dump_trace(const replay *run, block_file *file);

static const char dump_text[] =
    "\n"
    "A number that is not the name of a file is a process: the profile that it has mapped\n"
    "is taken; of several one must be named. How the program is, and what it runs, goes\n"
    "to standard error. For --format trace it may be JSON, too: see chroprof trace.\n"
    "\n"
    "examples:\n"
    "  chroprof dump server.chroprof\n"
    "  chroprof dump $(pidof server) --format json -o now.json\n"
    "  chroprof dump server.chroprof --for 10 --format pprof -o 10s.pb\n";

static const tool_option dump_options[] = {
    { "format", 'f', "FORMAT", "text (default), json, folded, prometheus, pprof,\nfirefox or trace",
      set_dump_format },
    { "out", 'o', "OUT", "write to this file instead of standard output", set_out },
    { "for", '\0', "SECONDS", "only what happens in the next SECONDS", set_for },
    { "by", 'b', "ORDER", "order of the ranked table: exec (default), children,\n"
      "slice-max, blame, delay or calls", set_by },
    { "top", 'n', "N", "rows of the ranked table (default 20)", set_top },
    { "columns", 'w', "N", "width of the text report, 60 to 200 (default: the\n"
      "terminal's, else 80)", set_columns },
    { "ascii", '\0', NULL, "bars of plain ASCII", set_ascii },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color },
    { "help", 'h', NULL, "this text", set_help }
};

/* Parses the words of dump and check; *go is false if that is all there is to do. */
static int block_words(const tool_command *command, int count, char **words, replay *run, bool *go)
{
    int operands;
    int result = parse_words(command, count, words, run, &run->source, 1, &operands);
    *go = false;
    if (!shall_run(command, run->help, operands == 0 ? "FILE or PID" : NULL, &result)) {
        return result;
    }
    *go = true;
    return TOOL_OK;
}

static int dump_run(const tool_command *command, int count, char **words)
{
    static replay run;
    static block_file file;
    bool go;
    int result = block_words(command, count, words, &run, &go);
    if (!go) {
        return result;
    }
    if (run.trace && run.for_ns == 0) {
        return dump_trace(&run, NULL);
    }
    if (!block_open(&file, run.source) || (run.for_ns > 0 && !dump_wait(&file, run.for_ns))) {
        result = TOOL_INPUT;
    } else if (run.trace) {
        result = dump_trace(&run, &file);
    } else {
        run.source = file.name;
        run.profile = file.view;
        run.symbolize = true;
        dump_origin(&file);
        bool owned = !output_is_stdout(&run) && block_is_owned(run.out_name);
        result = owned ? TOOL_INPUT : open_output(&run);
        result = result == TOOL_OK ? replay_output(&run) : result;
    }
    block_close(&file);
    return result;
}

/* >>check */

static const char check_text[] =
    "\n"
    "Says nothing and returns 0 if the block opens and every law and invariant holds;\n"
    "else it names the first one that is broken.\n"
    "\n"
    "examples:\n"
    "  chroprof check server.chroprof.prev\n";

static const tool_option check_options[] = {
    { "help", 'h', NULL, "this text", set_help }
};

static int check_run(const tool_command *command, int count, char **words)
{
    static replay run;
    static block_file file;
    const char *broken = NULL;
    bool go;
    int result = block_words(command, count, words, &run, &go);
    if (!go) {
        return result;
    }
    result = TOOL_INPUT;
    if (block_open(&file, run.source)) {
        broken = chroprof_check(&file.view);
        result = broken == NULL ? TOOL_OK : TOOL_INPUT;
    }
    if (broken != NULL) {
        tool_message("%s: does not hold: %s", file.name, broken);
    }
    block_close(&file);
    return result;
}
