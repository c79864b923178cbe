/* perf_map.c - see perf_map.h */

#include "perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERF_MAP_BYTES ((size_t)256 << 20)     /* of a map that is read */

/* Anybody may leave files in that folder: only ours and the system's are believed. */
static char *read_own_file(const char *path)
{
    struct stat facts;
    char *text = NULL;
    size_t used = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
        (facts.st_uid == geteuid() || facts.st_uid == 0) &&
        (uint64_t)facts.st_size < PERF_MAP_BYTES) {
        text = (char *)malloc((size_t)facts.st_size + 1);
    }
    while (text != NULL && used < (size_t)facts.st_size) {
        ssize_t count = read(file, text + used, (size_t)facts.st_size - used);
        if (count <= 0) {
            break;
        }
        used += (size_t)count;
    }
    if (text != NULL) {
        text[used] = '\0';
    }
    (void)close(file);
    return text;
}

/* Takes the line that begins at `line`, without its newline. */
static void take_line(perf_map *m, char *line)
{
    perf_entry *e = &m->entries[m->count];
    char *at = line;
    e->address = strtoull(at, &at, 16);
    e->size = strtoull(at, &at, 16);
    if (at > line && *at == ' ' && e->size > 0) {
        e->name = (size_t)(at + 1 - m->text);
        m->count++;
    }
}

void perf_map_read(perf_map *m, uint64_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/perf-%" PRIu64 ".map", pid);
    perf_map_of_text(m, pid > 0 ? read_own_file(path) : NULL);
}

void perf_map_of_text(perf_map *m, char *text)
{
    size_t lines = 1;
    memset(m, 0, sizeof *m);
    m->text = text;
    for (const char *at = m->text; at != NULL && (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    m->entries = m->text != NULL ? (perf_entry *)calloc(lines, sizeof *m->entries) : NULL;
    for (char *line = m->text; line != NULL && m->entries != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        take_line(m, line);
        line = end;
    }
}

const char *perf_map_name(const perf_map *m, uint64_t address)
{
    for (size_t i = m->count; i > 0; i--) {
        const perf_entry *e = &m->entries[i - 1];
        if (address >= e->address && address - e->address < e->size) {
            return m->text + e->name;
        }
    }
    return NULL;
}

/* >>perf_map entries: V8's (src/logging/log.cc: a tag, a mark of the compiler, name, place) and
 * CPython's (Python/perf_trampoline.c: py::name:file) */

static void copy_part(char *out, size_t size, const char *from, size_t length)
{
    (void)snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

/* The number after the last colon, which it cuts off; 0: there is none. */
static uint64_t cut_number(char *text)
{
    char *colon = strrchr(text, ':');
    uint64_t number = colon != NULL ? strtoull(colon + 1, NULL, 10) : 0;
    if (number > 0) {
        *colon = '\0';
    }
    return number;
}

/* Where the place begins: a path, a URL or node:internal/timers. Names can have spaces, "get size",
 * and paths too. */
static const char *place_in(const char *words)
{
    const char *space = words;
    if (words[0] == '/') {
        return words;
    }
    for (; (space = strchr(space, ' ')) != NULL; space++) {
        const char *colon = strchr(space + 1, ':');
        const char *next = strchr(space + 1, ' ');
        if (space[1] == '/' || (colon != NULL && (next == NULL || colon < next))) {
            return space + 1;
        }
    }
    return words + strlen(words);
}

static void split_javascript(const char *words, made_code *made)
{
    const char *place, *path;
    words += strspn(words, "*~^+");
    place = place_in(words);
    path = strncmp(place, "file://", 7) == 0 ? place + 7 : place;
    copy_part(made->file, sizeof made->file, path, strlen(path));
    (void)cut_number(made->file);           /* the column */
    made->line = cut_number(made->file);
    copy_part(made->function, sizeof made->function, words,
              *place == '\0' ? strlen(words) : place > words ? (size_t)(place - words - 1) : 0);
    if (made->function[0] == '\0') {
        (void)snprintf(made->function, sizeof made->function, "(anonymous)");
    }
    made->language = "javascript";
}

static void split_python(const char *words, made_code *made)
{
    const char *colon = strchr(words, ':');
    copy_part(made->function, sizeof made->function, words,
              colon != NULL ? (size_t)(colon - words) : strlen(words));
    copy_part(made->file, sizeof made->file, colon != NULL ? colon + 1 : "",
              colon != NULL ? strlen(colon + 1) : 0);
    made->language = "python";
}

void perf_map_split(const char *entry, made_code *made)
{
    static const char *const tags[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:" };
    memset(made, 0, sizeof *made);
    made->language = "";
    copy_part(made->function, sizeof made->function, entry, strlen(entry));
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        size_t length = strlen(tags[i]);
        if (strncmp(entry, tags[i], length) == 0) {
            split_javascript(entry + length, made);
            return;
        }
    }
    if (strncmp(entry, "py::", 4) == 0) {
        split_python(entry + 4, made);
    }
}

void perf_map_free(perf_map *m)
{
    free(m->text);
    free(m->entries);
}
