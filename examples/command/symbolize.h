/* symbolize.h - chroprof symbolize: the native rows of a profile's "stacks" gain function, file,
 * line and inlined calls. Everything else stays byte by byte as it was. report, trace and dump do
 * it by themselves. */

#define SYMBOLIZE_DEBUG "/usr/lib/debug"

typedef struct stack_row {
    json_text text;            /* the row as it is written */
    uint64_t module, address;
    bool native, returns, done;
    size_t at, length;         /* of what it gains, in the texts */
} stack_row;

typedef struct module_row {
    uint64_t id;
    json_text path, build_id;  /* without their quotes */
} module_row;

typedef struct symbolize {
    const profile_text *profile;
    const char *debug;         /* the folder of separate debug information */
    stack_row *rows;
    stack_row **order;         /* the rows by module and address */
    code_query *queries;
    size_t row_count;
    module_row *modules;
    size_t module_count;
    code_texts texts;
} symbolize;

/* >>symbolize reading */

/* A whole number, or one below 0, which no module has. */
static bool read_module_number(json_reader *r, uint64_t *value)
{
    json_text text;
    json_blanks(r);
    *value = UINT64_MAX;
    return r->at < r->end && *r->at == '-' ? json_value(r, &text) : json_u64(r, value);
}

static bool read_stack_flag(json_reader *r, bool *flag)
{
    json_text text;
    bool ok = json_value(r, &text);
    *flag = ok && json_is(text, "true");
    return ok;
}

static bool read_stack_kind(json_reader *r, bool *native)
{
    json_text text;
    bool ok = json_string(r, &text);
    *native = ok && json_is(text, "native");
    return ok;
}

static bool read_stack_row(const json_reader *whole, stack_row *row)
{
    json_reader r = json_part(whole, row->text);
    bool first = true;
    json_text key;
    row->module = UINT64_MAX;
    (void)json_open(&r, '{');
    while (json_next(&r, '}', &first)) {
        bool ok = json_key(&r, &key);
        row->done = row->done || json_is(key, "function");
        ok = ok && (json_is(key, "kind") ? read_stack_kind(&r, &row->native)
                    : json_is(key, "module") ? read_module_number(&r, &row->module)
                    : json_is(key, "address") ? json_u64(&r, &row->address)
                    : json_is(key, "return") ? read_stack_flag(&r, &row->returns) : json_skip(&r));
        if (!ok) {
            return false;
        }
    }
    return !r.failed;
}

static bool read_module_row(json_reader *r, module_row *module)
{
    bool first = true;
    json_text key;
    module->id = UINT64_MAX;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "id") ? json_u64(r, &module->id)
                    : json_is(key, "path") ? json_string(r, &module->path)
                    : json_is(key, "build_id") ? json_string(r, &module->build_id) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static bool symbolize_stacks(symbolize *s)
{
    json_reader r = json_part(&s->profile->reader, s->profile->stacks);
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        stack_row *row = &s->rows[s->row_count];
        if (!json_value(&r, &row->text) || !read_stack_row(&s->profile->reader, row)) {
            return false;
        }
        s->order[s->row_count++] = row;
    }
    return !r.failed;
}

static bool symbolize_modules(symbolize *s)
{
    json_reader r = json_part(&s->profile->reader, s->profile->modules);
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        if (!read_module_row(&r, &s->modules[s->module_count++])) {
            return false;
        }
    }
    return !r.failed;
}

static bool symbolize_read(symbolize *s)
{
    size_t rows = count_items(&s->profile->reader, s->profile->stacks);
    size_t modules = count_items(&s->profile->reader, s->profile->modules);
    if (rows == SIZE_MAX || modules == SIZE_MAX) {
        return false;
    }
    s->rows = (stack_row *)calloc(rows + 1, sizeof *s->rows);
    s->order = (stack_row **)calloc(rows + 1, sizeof(stack_row *));
    s->queries = (code_query *)calloc(rows + 1, sizeof *s->queries);
    s->modules = (module_row *)calloc(modules + 1, sizeof *s->modules);
    if (s->rows == NULL || s->order == NULL || s->queries == NULL || s->modules == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)rows);
        return false;
    }
    return symbolize_stacks(s) && symbolize_modules(s);
}

static void symbolize_free(symbolize *s)
{
    free(s->rows);
    free(s->order);
    free(s->queries);
    free(s->modules);
    free(s->texts.bytes.bytes);
}

/* >>symbolize modules: which file answers for a module */

/* The file of separate debug information, which goes by the build id. */
static bool open_debug_file(const symbolize *s, code_module *m, const char *id, char *path,
                            size_t size)
{
    if (strlen(id) < 3) {
        return false;
    }
    (void)snprintf(path, size, "%s/.build-id/%.2s/%s.debug", s->debug, id, id + 2);
    if (elf_open(&m->elf, path) != NULL) {
        return false;
    }
    if (strcmp(m->elf.build_id, id) == 0) {
        m->path = path;
        return true;
    }
    elf_close(&m->elf);
    return false;
}

static const char *no_module(const char *path, const char *why)
{
    char shown[256];
    size_t length = 0;
    for (; path[length] != '\0' && length + 1 < sizeof shown; length++) {
        unsigned char byte = (unsigned char)path[length];
        shown[length] = byte < 0x20 || byte == 0x7F ? '?' : (char)byte;
    }
    shown[length] = '\0';
    tool_message("%s: %s, so its functions keep the names they have", shown, why);
    return NULL;
}

/* The module's own file, if it is the one that ran. */
static bool open_own_file(code_module *m, const char *path, const char *id)
{
    const char *why = elf_open(&m->elf, path);
    if (why != NULL) {
        (void)no_module(path, why);
        return false;
    }
    if (*id != '\0' && strcmp(m->elf.build_id, id) != 0) {
        (void)no_module(path, "this is not the file that ran (its build id differs)");
        elf_close(&m->elf);
        return false;
    }
    m->path = path;
    return true;
}

/* Only whole paths: what the system put there itself, "[vdso]", has no file. */
static void find_in_module(symbolize *s, const module_row *row, size_t count)
{
    char debug[4096 + 128];
    char path[4096];
    char id[2 * ELF_ID_BYTES + 1];
    code_module m;
    memset(&m, 0, sizeof m);
    if (!json_unescape(row->path, path, sizeof path) ||
        !json_unescape(row->build_id, id, sizeof id) || path[0] != '/') {
        return;
    }
    if (id[strspn(id, "0123456789abcdef")] != '\0') {
        (void)no_module(path, "its build id is malformed");
        return;
    }
    if (!open_debug_file(s, &m, id, debug, sizeof debug) && !open_own_file(&m, path, id)) {
        return;
    }
    elf_symbols_read(&m.symbols, &m.elf);
    code_find(&m, s->queries, count, &s->texts);
    elf_symbols_free(&m.symbols);
    elf_close(&m.elf);
}

/* >>symbolize run */

static bool wanted_row(const stack_row *row)
{
    return row->native && !row->done && row->module != UINT64_MAX;
}

static uint64_t row_address(const stack_row *row)
{
    return row->address - (row->returns && row->address > 0);
}

/* Those that are asked for first, by module and address. */
static int by_module(const void *a, const void *b)
{
    const stack_row *x = *(stack_row *const *)a;
    const stack_row *y = *(stack_row *const *)b;
    if (wanted_row(x) != wanted_row(y)) {
        return wanted_row(x) ? -1 : 1;
    }
    if (x->module != y->module) {
        return x->module < y->module ? -1 : 1;
    }
    return row_address(x) < row_address(y) ? -1 : row_address(x) > row_address(y);
}

/* order[from..to) are the rows of one module. */
static void symbolize_module(symbolize *s, size_t from, size_t to)
{
    const module_row *module = NULL;
    size_t count = 0;
    for (size_t i = 0; i < s->module_count; i++) {
        module = s->modules[i].id == s->order[from]->module ? &s->modules[i] : module;
    }
    for (size_t i = from; i < to; i++) {
        uint64_t address = row_address(s->order[i]);
        if (i == from || address != s->queries[count - 1].address) {
            memset(&s->queries[count], 0, sizeof s->queries[count]);
            s->queries[count++].address = address;
        }
    }
    if (module != NULL) {
        find_in_module(s, module, count);
    }
    for (size_t i = from, k = 0; i < to; i++) {
        k += s->queries[k].address != row_address(s->order[i]);
        s->order[i]->at = s->queries[k].at;
        s->order[i]->length = s->queries[k].length;
    }
}

static void symbolize_find(symbolize *s)
{
    size_t from = 0;
    qsort(s->order, s->row_count, sizeof *s->order, by_module);
    while (from < s->row_count && wanted_row(s->order[from])) {
        size_t to = from + 1;
        while (to < s->row_count && wanted_row(s->order[to]) &&
               s->order[to]->module == s->order[from]->module) {
            to++;
        }
        symbolize_module(s, from, to);
        from = to;
    }
}

/* The whole text, with what each row gains before its closing bracket. */
static bool symbolize_join(const symbolize *s, byte_buffer *out)
{
    const char *at = s->profile->bytes.bytes;
    const char *end = at + s->profile->bytes.used;
    bool ok = true;
    for (size_t i = 0; ok && i < s->row_count; i++) {
        const stack_row *row = &s->rows[i];
        const char *bracket = row->text.bytes + row->text.length - 1;
        if (row->length > 0) {
            ok = buffer_add(out, at, (size_t)(bracket - at)) == 0 &&
                 buffer_add(out, s->texts.bytes.bytes + row->at, row->length) == 0;
            at = bracket;
        }
    }
    return ok && buffer_add(out, at, (size_t)(end - at)) == 0;
}

/* Replaces the profile's text. A profile without samples stays as it is. */
static bool profile_symbolize(profile_text *p, const char *debug)
{
    symbolize s;
    byte_buffer out = { NULL, 0, 0 };
    bool ok;
    if (p->stacks.length == 0 || p->modules.length == 0) {
        return true;
    }
    memset(&s, 0, sizeof s);
    s.profile = p;
    s.debug = debug != NULL ? debug : SYMBOLIZE_DEBUG;
    ok = symbolize_read(&s);
    if (ok) {
        symbolize_find(&s);
        ok = !s.texts.failed && symbolize_join(&s, &out);
    }
    symbolize_free(&s);
    if (!ok) {
        free(out.bytes);
        return false;
    }
    free(p->bytes.bytes);
    p->bytes = out;
    return profile_check(p);
}

static int write_symbolized(replay *run)
{
    profile_text p;
    int failed;
    memset(&p, 0, sizeof p);
    p.source = run->source;
    failed = chroprof_write(&run->profile, CHROPROF_JSON, buffer_add, &p.bytes);
    failed = failed || !profile_check(&p) || !profile_symbolize(&p, NULL) ||
             fwrite(p.bytes.bytes, 1, p.bytes.used, run->out) != p.bytes.used;
    profile_free(&p);
    return failed;
}

/* The samples as text, for people; in code_text.h. */
static bool code_text_write(sheet *s, const profile_text *p);

/* Adds to a text report what only symbols can tell: the functions and lines that ran. */
static int write_code(replay *run)
{
    profile_text p;
    sheet s;
    int failed;
    memset(&p, 0, sizeof p);
    memset(&s, 0, sizeof s);
    p.source = run->source;
    s.columns = run->text.columns;
    s.ascii = run->text.ascii;
    s.color = run->text.color;
    failed = chroprof_write(&run->profile, CHROPROF_JSON, buffer_add, &p.bytes);
    failed = failed || !profile_check(&p) || !profile_symbolize(&p, NULL) ||
             !code_text_write(&s, &p) || fwrite(s.bytes != NULL ? s.bytes : "", 1, s.used,
                                                run->out) != s.used;
    free(s.bytes);
    profile_free(&p);
    return failed;
}

/* >>symbolize command */

typedef struct symbolize_words {
    const char *source;
    const char *out_name;
    const char *debug;
    profile_text profile;
    bool text, help;
} symbolize_words;

static const char *set_symbolize_out(void *target, const char *value)
{
    ((symbolize_words *)target)->out_name = value;
    return NULL;
}

static const char *set_symbolize_debug(void *target, const char *value)
{
    ((symbolize_words *)target)->debug = value;
    return NULL;
}

static const char *set_symbolize_format(void *target, const char *value)
{
    ((symbolize_words *)target)->text = strcmp(value, "text") == 0;
    return strcmp(value, "text") == 0 || strcmp(value, "json") == 0 ? NULL
                                                                    : "expected json or text";
}

static const char *set_symbolize_help(void *target, const char *value)
{
    (void)value;
    ((symbolize_words *)target)->help = true;
    return NULL;
}

static const tool_option symbolize_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_symbolize_out },
    { "format", 'f', "FORMAT", "json (default), or text: functions and lines by task, and\n"
      "those of the longest stalls", set_symbolize_format },
    { "debug", 'd', "DIR", "folder of separate debug information, by build id\n(default "
      SYMBOLIZE_DEBUG ")", set_symbolize_debug },
    { "help", 'h', NULL, "this text", set_symbolize_help }
};

#ifdef CHROPROF_LIBDW
#define SYMBOLIZE_BY "elfutils' libdw"
#else
#define SYMBOLIZE_BY "the program addr2line"
#endif

static const char symbolize_text[] =
    "\n"
    "IN is a profile with samples: CHROPROF_JSON (- for standard input), a profile in a\n"
    "file, or a process that has one. Each native row of its \"stacks\" gains \"function\",\n"
    "\"file\" and \"line\" of the code that ran, and \"inlined\": the calls it was inlined\n"
    "into, the function that has a symbol last. report, trace and dump do this by\n"
    "themselves. The modules are read where the profile says they lie; a file with another\n"
    "build id than the one that ran is left out, and said so.\n"
    "\n"
    "This command was built to ask " SYMBOLIZE_BY ".\n"
    "\n"
    "exit codes: 0 done, 1 input unreadable or malformed, output unwritable, 2 usage\n"
    "\n"
    "examples:\n"
    "  chroprof symbolize demo.json -o demo.symbols.json\n"
    "  chroprof symbolize demo.json --format text\n"
    "  chroprof symbolize $(pidof server) -o server.json\n";

static bool symbolize_write_text(const profile_text *p, FILE *out)
{
    sheet s;
    bool ok;
    memset(&s, 0, sizeof s);
    s.columns = terminal_columns(out);
    ok = code_text_write(&s, p);
    if (ok && s.used == 0) {
        tool_message("%s: has no samples (see chroprof_sampler_start)", p->source);
    }
    (void)fwrite(s.bytes != NULL ? s.bytes : "", 1, s.used, out);
    free(s.bytes);
    return ok;
}

static bool symbolize_write(void *user, FILE *out)
{
    const profile_text *p = &((symbolize_words *)user)->profile;
    if (((symbolize_words *)user)->text) {
        return symbolize_write_text(p, out);
    }
    return fwrite(p->bytes.bytes, 1, p->bytes.used, out) == p->bytes.used;
}

static int symbolize_run(const tool_command *command, int count, char **words)
{
    static symbolize_words run;
    int operands;
    int result = parse_words(command, count, words, &run, &run.source, 1, &operands);
    if (!shall_run(command, run.help, operands == 0 ? "IN" : NULL, &result)) {
        return result;
    }
    result = profile_load(&run.profile, run.source) &&
             profile_symbolize(&run.profile, run.debug)
             ? tool_output(run.out_name, symbolize_write, &run) : TOOL_INPUT;
    profile_free(&run.profile);
    return result;
}
