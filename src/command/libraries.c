/* libraries.c - see libraries.h */

#include "libraries.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run/board.h"
#include "buffer.h"
#include "code.h"
#include "demangle.h"
#include "demangle_nim.h"
#include "elf.h"
#include "json.h"
#include "program.h"
#include "symbolize.h"

/* Of more functions only the names are asked: lines take 10 ms a thousand. */
#define LINES_MOST 20000
#define NAME_MOST 200

#define LIST_SECONDS 5u        /* then the libraries are not known */

/* >>libraries: what the loader lists, as ldd shows it */

static void become_loader(const char *loader, const char *program, int out)
{
    static char list[] = "--list";
    char *words[] = { (char *)(uintptr_t)loader, list, (char *)(uintptr_t)program, NULL };
    int nothing = open("/dev/null", O_RDWR);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(LIST_SECONDS);              /* the program names its loader; it may be any file */
    if (nothing >= 0 && dup2(out, 1) == 1 && dup2(nothing, 0) == 0 && dup2(nothing, 2) == 2) {
        (void)execv(loader, words);
    }
    _exit(127);
}

/* What a line "NAME => FILE (ADDRESS)" or "FILE (ADDRESS)" says, in the line itself. */
static void split_line(char *line, const char **name, const char **file)
{
    char *arrow = strstr(line, " => ");
    char *end = strrchr(line, '(');
    line += strspn(line, " \t");
    while (end != NULL && end > line && end[-1] == ' ') {
        *--end = '\0';
    }
    if (arrow != NULL) {
        *arrow = '\0';
    }
    *name = last_part(line);
    *file = arrow != NULL ? arrow + 4 : line;
}

static const board_loop loops[] = BOARD_LOOPS;

enum { LOOPS = sizeof loops / sizeof loops[0] };

static unsigned loop_of(const char *name)
{
    for (size_t i = 0; i < LOOPS; i++) {
        if (strncmp(name, loops[i].begin, strlen(loops[i].begin)) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

static void read_exports(elf_symbols *s, const char *file)
{
    elf_file elf;
    memset(s, 0, sizeof *s);
    if (elf_file_open(&elf, file) == NULL) {
        elf_exports_read(s, &elf);
        elf_file_close(&elf);
    }
}

static bool has_export(const elf_symbols *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp((const char *)s->names + s->list[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool share_exports(const elf_symbols *one, const elf_symbols *other)
{
    for (size_t i = 0; i < one->count; i++) {
        if (has_export(other, (const char *)one->names + one->list[i].name)) {
            return true;
        }
    }
    return false;
}

/* The rows of libraries that ours wraps together with another one's functions. The
 * loader looks for a function in the order of the list. */
static unsigned find_clashes(const char *file, const elf_symbols ours[LOOPS])
{
    elf_symbols its;
    unsigned found = 0;
    read_exports(&its, file);
    for (size_t i = 0; i < LOOPS; i++) {
        found |= share_exports(&ours[i], &its) ? 1u << i : 0;
    }
    elf_symbols_free(&its);
    return found;
}

static unsigned read_loops(FILE *list, const elf_symbols ours[LOOPS])
{
    char line[4096];
    unsigned found = 0;
    unsigned clashes = 0;
    while (fgets(line, sizeof line, list) != NULL) {
        const char *name;
        const char *file;
        split_line(line, &name, &file);
        if (!is_loop_library(name)) {
            clashes |= find_clashes(file, ours);
        } else {
            found |= loop_of(name) & ~clashes;
        }
    }
    return found;
}

static unsigned watched_loops(int in, const char *folder)
{
    char path[4096 + 64];
    elf_symbols ours[LOOPS];
    unsigned found = 0;
    FILE *list = fdopen(in, "r");
    for (size_t i = 0; i < LOOPS; i++) {
        (void)snprintf(path, sizeof path, "%s%s", folder, loops[i].ours);
        read_exports(&ours[i], path);
    }
    if (list != NULL) {
        found = read_loops(list, ours);
    }
    (void)(list != NULL ? fclose(list) : close(in));
    for (size_t i = 0; i < LOOPS; i++) {
        elf_symbols_free(&ours[i]);
    }
    return found;
}

unsigned program_loops(const char *program, const char *folder)
{
    char loader[512];
    char binary[PROGRAM_PATH];
    int ends[2];
    unsigned found;
    pid_t child;
    if (!program_loader(program, binary, loader, sizeof loader) || pipe(ends) != 0) {
        return 0;
    }
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        become_loader(loader, binary, ends[1]);
    }
    (void)close(ends[1]);
    found = watched_loops(ends[0], folder);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    return found;
}

/* >>functions */

typedef struct function_list {
    code_module module;
    code_query *queries;       /* one a function, by address; NULL: no lines */
    code_texts texts;
    board_symbol *rows;
    size_t count;
    byte_buffer names;
    char file[4096];           /* of the last row, which neighbors often share, */
    uint32_t file_at;          /* and where it is */
} function_list;

/* Where a text will be in the file: behind the head and the rows. */
static uint32_t put_text(function_list *l, const char *text)
{
    size_t at = sizeof(board_symbols) + l->count * sizeof *l->rows + l->names.used;
    size_t length = strnlen(text, NAME_MOST);
    bool ok = at < UINT32_MAX && buffer_add(&l->names, text, length) == 0 &&
              buffer_add(&l->names, "", 1) == 0;
    return ok ? (uint32_t)at : 0;
}

static void put_name(function_list *l, board_symbol *row, const char *name)
{
    char *readable = l->module.symbols.nim ? demangled_nim(name) : demangled(name);
    row->name = put_text(l, readable != NULL ? readable : name);
    free(readable);
}

/* The file with its symbols: of separate debug information, else its own. */
static bool open_functions(code_module *m, const char *binary, char *debug, size_t size)
{
    char id[sizeof m->elf.build_id];
    m->path = binary;
    if (elf_file_open(&m->elf, binary) != NULL) {
        return false;
    }
    memcpy(id, m->elf.build_id, sizeof id);
    elf_file_close(&m->elf);
    return open_debug_file(m, NULL, id, debug, size) || elf_file_open(&m->elf, binary) == NULL;
}

/* Where the function's code begins; where that is a call that was inlined, nobody knows. */
static void put_line(function_list *l, board_symbol *row, const code_query *q)
{
    char object[8192];
    char file[4096];
    json_text name = { "", 0 };
    json_text inlined = { "", 0 };
    uint64_t line = 0;
    json_reader r;
    const json_field fields[] = {
        JSON_TEXT("file", &name), JSON_NUMBER("line", &line), JSON_VALUE("inlined", &inlined)
    };
    if (q->length == 0 || q->length > sizeof object - 2) {
        return;
    }
    object[0] = '{';
    memcpy(object + 1, l->texts.bytes.bytes + q->at + 1, q->length - 1);
    object[q->length] = '}';
    r = json_read("functions", object, q->length + 1);
    if (!JSON_FIELDS(&r, fields) || inlined.length > 2 || line == 0 || line > UINT32_MAX ||
        !json_unescape(name, file, sizeof file) || file[0] == '\0') {
        return;
    }
    if (l->file_at == 0 || strcmp(file, l->file) != 0) {
        memcpy(l->file, file, sizeof file);
        l->file_at = put_text(l, file);
    }
    row->file = l->file_at;
    row->line = row->file > 0 ? (uint32_t)line : 0;
}

/* Symbols of one address are names of one function. */
static void drop_other_names(elf_symbols *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (kept == 0 || s->list[i].address != s->list[kept - 1].address) {
            s->list[kept++] = s->list[i];
        }
    }
    s->count = kept;
}

static void find_lines(function_list *l)
{
    const elf_symbols *s = &l->module.symbols;
    l->queries = s->count <= LINES_MOST ? (code_query *)calloc(s->count, sizeof *l->queries) : NULL;
    for (size_t i = 0; l->queries != NULL && i < s->count; i++) {
        l->queries[i].address = s->list[i].address;
        l->queries[i].place = true;
    }
    if (l->queries != NULL) {
        code_find(&l->module, l->queries, s->count, &l->texts);
    }
}

static void fill_rows(function_list *l)
{
    const elf_symbols *s = &l->module.symbols;
    for (size_t i = 0; i < l->count; i++) {
        l->rows[i].address = s->list[i].address;
        put_name(l, &l->rows[i], (const char *)s->names + s->list[i].name);
        if (l->queries != NULL && !l->texts.failed) {
            put_line(l, &l->rows[i], &l->queries[i]);
        }
    }
}

static void write_list(const function_list *l, const struct stat *program, const char *path)
{
    board_symbols head;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    memset(&head, 0, sizeof head);
    head.device = (uint64_t)program->st_dev;
    head.inode = (uint64_t)program->st_ino;
    head.count = l->count;
    if (file != NULL) {
        bool ok = fwrite(&head, sizeof head, 1, file) == 1 &&
                  fwrite(l->rows, sizeof *l->rows, l->count, file) == l->count &&
                  fwrite(l->names.bytes, 1, l->names.used, file) == l->names.used;
        ok = fclose(file) == 0 && ok;
        if (!ok) {
            (void)unlink(path);             /* half of it would be read */
        }
    }
}

void write_functions(const char *program, const char *path)
{
    static function_list l;
    char binary[PROGRAM_PATH];
    char debug[4096];
    char loader[512];
    struct stat facts;
    if (!program_loader(program, binary, loader, sizeof loader) || stat(binary, &facts) != 0 ||
        !open_functions(&l.module, binary, debug, sizeof debug)) {
        return;
    }
    elf_symbols_read(&l.module.symbols, &l.module.elf);
    drop_other_names(&l.module.symbols);
    l.rows = (board_symbol *)calloc(l.module.symbols.count + 1, sizeof *l.rows);
    if (l.rows != NULL && l.module.symbols.count > 0) {
        l.count = l.module.symbols.count;
        find_lines(&l);
        fill_rows(&l);
        write_list(&l, &facts, path);
    }
    elf_symbols_free(&l.module.symbols);
    elf_file_close(&l.module.elf);
    free(l.rows);
    free(l.queries);
    free(l.texts.bytes.bytes);
    free(l.names.bytes);
}
