/* symbolize.c - see symbolize.h */
#define _GNU_SOURCE 1          /* memmem */

#include "symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "../run/board.h"
#include "buffer.h"
#include "code.h"
#include "code_text.h"
#include "commands.h"
#include "demangle.h"
#include "elf.h"
#include "elf_ranges.h"
#include "json.h"
#include "made_names.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "perf_map.h"
#include "sheet.h"
#include "stacks.h"
#include "terminal.h"

#define SYMBOLIZE_DEBUG "/usr/lib/debug"

typedef struct stack_row {
    json_text text;            /* the row as it is written */
    json_text name;            /* without its quotes */
    uint64_t module, address;
    bool native, returns, done;
    size_t at, length;         /* of what it gains, in the texts */
} stack_row;

typedef struct symbolize {
    const profile_text *profile;
    const char *debug;         /* the folder of separate debug information */
    stack_row *rows;
    stack_row **order;         /* the rows by module and address */
    code_query *queries;
    size_t row_count;
    module_list modules;
    code_texts texts;
} symbolize;

/* >>symbolize reading */

static bool symbolize_row(void *user, json_reader *r)
{
    symbolize *s = (symbolize *)user;
    stack_row *row = &s->rows[s->row_count];
    json_reader inner;
    json_text kind = { "", 0 };
    json_text module = { "", 0 };
    json_text returns = { "", 0 };
    json_text function = { NULL, 0 };
    const json_field fields[] = {
        JSON_TEXT("kind", &kind), JSON_TEXT("name", &row->name), JSON_VALUE("module", &module),
        JSON_NUMBER("address", &row->address), JSON_VALUE("return", &returns),
        JSON_VALUE("function", &function)
    };
    if (!json_value(r, &row->text)) {
        return false;
    }
    inner = json_part(r, row->text);
    if (!JSON_FIELDS(&inner, fields) || !read_module_number(r, module, &row->module)) {
        return false;
    }
    row->native = json_is(kind, "native");
    row->returns = json_is(returns, "true");
    row->done = function.bytes != NULL;
    s->order[s->row_count++] = row;
    return true;
}

static bool symbolize_read(symbolize *s)
{
    const json_reader *whole = &s->profile->reader;
    json_text stacks = s->profile->stacks;
    return json_room(whole, stacks, (void **)&s->rows, sizeof *s->rows) &&
           json_room(whole, stacks, (void **)&s->order, sizeof(stack_row *)) &&
           json_room(whole, stacks, (void **)&s->queries, sizeof *s->queries) &&
           json_each(whole, stacks, symbolize_row, s) && modules_read(&s->modules, s->profile);
}

static void symbolize_free(symbolize *s)
{
    free(s->rows);
    free(s->order);
    free(s->queries);
    free(s->modules.rows);
    free(s->texts.bytes.bytes);
}

/* >>symbolize modules: which file answers for a module */

bool open_debug_file(code_module *m, const char *debug, const char *id, char *path, size_t size)
{
    if (strlen(id) < 3) {
        return false;
    }
    (void)snprintf(path, size, "%s/.build-id/%.2s/%s.debug",
                   debug != NULL ? debug : SYMBOLIZE_DEBUG, id, id + 2);
    if (elf_file_open(&m->elf, path) != NULL) {
        return false;
    }
    if (strcmp(m->elf.build_id, id) == 0) {
        m->path = path;
        return true;
    }
    elf_file_close(&m->elf);
    return false;
}

static void no_module(const char *path, const char *why)
{
    tool_message("%s: %s, so its functions keep the names they have", path, why);
}

/* The links by which chroprof run loads its libraries are gone when the program has ended. */
static bool is_of_run(const char *path)
{
    return strstr(path, "/chroprof-run-") != NULL &&
           strncmp(last_part(path), "chroprof_run", strlen("chroprof_run")) == 0;
}

/* The module's own file, if it is the one that ran. */
static bool open_own_file(code_module *m, const char *path, const char *id)
{
    const char *why = elf_file_open(&m->elf, path);
    if (why != NULL && is_of_run(path)) {
        return false;
    }
    if (why != NULL) {
        no_module(path, why);
        return false;
    }
    if (*id != '\0' && strcmp(m->elf.build_id, id) != 0) {
        no_module(path, "this is not the file that ran (its build id differs)");
        elf_file_close(&m->elf);
        return false;
    }
    m->path = path;
    return true;
}

/* A function without a name is told by its place in the file, as callbacks are. */
static void find_ranges(symbolize *s, const code_module *m, size_t count)
{
    elf_ranges ranges;
    char name[4096];
    elf_ranges_read(&ranges, &m->elf);
    for (size_t i = 0; i < count; i++) {
        code_query *q = &s->queries[i];
        uint64_t begin;
        if (q->length == 0 && elf_range_of(&ranges, q->address, &begin)) {
            (void)snprintf(name, sizeof name, "%s+0x%" PRIx64, last_part(m->path), begin);
            code_call(&s->texts, q, name, "", 0);
            code_end(&s->texts, q);
        }
    }
    elf_ranges_free(&ranges);
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
        no_module(path, "its build id is malformed");
        return;
    }
    if (!open_debug_file(&m, s->debug, id, debug, sizeof debug) && !open_own_file(&m, path, id)) {
        return;
    }
    elf_symbols_read(&m.symbols, &m.elf);
    code_find(&m, s->queries, count, &s->texts);
    if (m.path == path) {      /* a file of debug information has no such table */
        find_ranges(s, &m, count);
    }
    elf_symbols_free(&m.symbols);
    elf_file_close(&m.elf);
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
    const module_row *module = module_of(&s->modules, s->order[from]->module);
    size_t count = 0;
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

static void name_row(symbolize *s, stack_row *row, const char *name)
{
    code_query q = { 0, 0, 0, 0, false };
    code_call(&s->texts, &q, name, "", 0);
    code_end(&s->texts, &q);
    row->at = q.at;
    row->length = q.length;
}

/* What a map calls a function, with its file and language, if it says so. */
static void name_made_code(symbolize *s, stack_row *row, const char *entry)
{
    made_code made;
    code_query q = { 0, 0, 0, 0, false };
    perf_map_split(entry, &made);
    if (python_is_address(row->address)) {
        made.line = python_line_of(row_address(row));
    }
    code_call(&s->texts, &q, made.function, made.file, made.line);
    code_end(&s->texts, &q);
    code_language(&s->texts, &q, made.language);
    row->at = q.at;
    row->length = q.length;
}

/* Without its map the functions of a program in JavaScript are all the same. */
static void tell_no_map(const symbolize *s)
{
    static const char entry[] = "\"function\":\"Builtins_JSEntry\"";
    const char *texts = s->texts.bytes.bytes;
    if (texts != NULL && memmem(texts, s->texts.bytes.used, entry, sizeof entry - 1) != NULL) {
        tool_message("the functions in JavaScript have no names: run the program as chroprof run "
                     "node ..., or start node with --perf-basic-prof "
                     "--interpreted-frames-native-stack");
    }
}

/* Code that is in no module was made by the program itself, which may have left its names. */
static void symbolize_by_map(symbolize *s, const perf_map *map)
{
    for (size_t i = 0; i < s->row_count && map->count > 0; i++) {
        stack_row *row = &s->rows[i];
        const char *name = row->native && !row->done && row->module == UINT64_MAX &&
                           row->length == 0
                           ? perf_map_name(map, row_address(row)) : NULL;
        if (name != NULL) {
            name_made_code(s, row, name);
        }
    }
}

static void symbolize_made_code(symbolize *s)
{
    const char *names = s->profile->view != NULL ? made_names_of(s->profile->view) : NULL;
    perf_map map;
    if (names != NULL) {
        perf_map_of_text(&map, strdup(names));
        symbolize_by_map(s, &map);
        perf_map_free(&map);
    }
    perf_map_read(&map, s->profile->pid);
    symbolize_by_map(s, &map);
    if (map.count == 0) {
        tell_no_map(s);
    }
    perf_map_free(&map);
}

/* A name that the dynamic linker knew is all there is of some code, so it has to be readable. */
static void symbolize_names(symbolize *s)
{
    char name[DEMANGLE_LONGEST];
    for (size_t i = 0; i < s->row_count; i++) {
        stack_row *row = &s->rows[i];
        char *readable = row->native && !row->done && row->length == 0 && row->name.length > 0 &&
                         json_unescape(row->name, name, sizeof name) ? demangled(name) : NULL;
        if (readable != NULL) {
            name_row(s, row, readable);
        }
        free(readable);
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

bool profile_symbolize(profile_text *p, const char *debug)
{
    symbolize s;
    byte_buffer out = { NULL, 0, 0 };
    bool ok;
    if (p->stacks.length == 0 || p->modules.length == 0) {
        return true;
    }
    memset(&s, 0, sizeof s);
    s.profile = p;
    s.debug = debug;
    ok = symbolize_read(&s);
    if (ok) {
        symbolize_find(&s);
        symbolize_made_code(&s);
        symbolize_names(&s);
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

/* >>symbolize command */

typedef struct symbolize_words {
    const char *source;
    const char *out_name;
    const char *debug;
    profile_text profile;
    bool text;
} symbolize_words;

static const choice symbolize_formats[] = { { "json", false }, { "text", true }, { NULL, 0 } };

static const char *set_symbolize_format(void *field, const char *value)
{
    int text = false;
    if (!choose(symbolize_formats, value, &text)) {
        return "expected json or text";
    }
    *(bool *)field = text != 0;
    return NULL;
}

static const tool_option symbolize_options[] = {
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,
      offsetof(symbolize_words, out_name), NULL },
    { "format", 'f', "FORMAT", "json (default), or text: functions and lines by task,\n"
      "and those of the longest stalls", set_symbolize_format,
      offsetof(symbolize_words, text), symbolize_formats },
    { "debug", 'd', "DIR", "folder of separate debug information, by build id\n(default "
      SYMBOLIZE_DEBUG ")", set_text, offsetof(symbolize_words, debug), NULL }
};

#ifdef CHROPROF_LIBDW
#define SYMBOLIZE_BY "elfutils' libdw"
#else
#define SYMBOLIZE_BY "the program addr2line"
#endif

static const char symbolize_text[] =
    "\n"
    "FILE is a profile of chroprof_map or chroprof run -o, or JSON of one; PID is a\n"
    "process that has one; - is standard input. Each native row of its \"stacks\" gets\n"
    "\"function\", \"file\" and \"line\" of the code that ran. It also gets \"inlined\": the\n"
    "functions that it was inlined into; the one that has a symbol is last. report,\n"
    "trace and dump do this by themselves. The modules are read from their paths in\n"
    "the profile. If a file has another build id than the one that ran, it is not\n"
    "used, and a message says so.\n"
    "\n"
    "This command uses " SYMBOLIZE_BY ".\n"
    "\n"
    "exit codes: 0 done, 1 bad input or output, 2 wrong usage\n"
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
        tool_message("%s: this profile has no samples; start the sampler with "
                     "chroprof_sampler_start", p->source);
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
    int result;
    if (!take_words(command, count, words, &run, &run.source, 1, &result)) {
        return result;
    }
    result = output_possible(run.out_name) && profile_load(&run.profile, run.source) &&
                     profile_symbolize(&run.profile, run.debug)
             ? output_write(run.out_name, symbolize_write, &run) : TOOL_INPUT;
    profile_free(&run.profile);
    return result;
}

const tool_command symbolize_command = {
    "symbolize", "FILE|PID|- [-o OUT.json]", { "FILE or PID" },
    "Names the functions, files and lines of a profile's native stacks.",
    symbolize_text, OPTIONS_OF(symbolize_options), symbolize_run
};
