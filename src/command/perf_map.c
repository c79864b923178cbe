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

static uint64_t end_of(const perf_entry *e)
{
    return e->size < UINT64_MAX - e->address ? e->address + e->size : UINT64_MAX;
}

static int compare_pieces(const void *a, const void *b)
{
    const uint64_t x = ((const perf_piece *)a)->begin, y = ((const perf_piece *)b)->begin;
    return (x > y) - (x < y);
}

/* The last piece that begins there or before; piece_count: none does. */
static size_t piece_at(const perf_map *m, uint64_t address)
{
    size_t low = 0;
    size_t high = m->piece_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->pieces[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low - 1 : m->piece_count;
}

/* The first piece from k on that no entry has yet. next: where to look on; ways are made short. */
static size_t free_piece(size_t *next, size_t k)
{
    while (next[k] != k) {
        next[k] = next[next[k]];
        k = next[k];
    }
    return k;
}

/* Each piece is of the last entry that has it, so the last ones take theirs first. */
static void give_pieces(perf_map *m, size_t *next)
{
    for (size_t k = 0; k <= m->piece_count; k++) {
        next[k] = k;
    }
    for (size_t i = m->count; i > 0; i--) {
        const uint64_t end = end_of(&m->entries[i - 1]);
        size_t k = free_piece(next, piece_at(m, m->entries[i - 1].address));
        while (k < m->piece_count && m->pieces[k].begin < end) {
            m->pieces[k].entry = i;
            next[k] = k + 1;
            k = free_piece(next, k);
        }
    }
}

/* Pieces begin where entries begin and end. */
static void sort_entries(perf_map *m)
{
    size_t *next = (size_t *)malloc((2 * m->count + 1) * sizeof *next);
    size_t kept = 0;
    m->pieces = (perf_piece *)calloc(2 * m->count + 1, sizeof *m->pieces);
    if (m->pieces != NULL && next != NULL) {
        for (size_t i = 0; i < m->count; i++) {
            m->pieces[2 * i].begin = m->entries[i].address;
            m->pieces[2 * i + 1].begin = end_of(&m->entries[i]);
        }
        qsort(m->pieces, 2 * m->count, sizeof *m->pieces, compare_pieces);
        for (size_t i = 0; i < 2 * m->count; i++) {
            if (kept == 0 || m->pieces[i].begin != m->pieces[kept - 1].begin) {
                m->pieces[kept++] = m->pieces[i];
            }
        }
        m->piece_count = kept;
        give_pieces(m, next);
    }
    free(next);
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
    sort_entries(m);
}

const char *perf_map_name(const perf_map *m, uint64_t address)
{
    const size_t k = piece_at(m, address);
    const size_t entry = k < m->piece_count ? m->pieces[k].entry : 0;
    return entry > 0 ? m->text + m->entries[entry - 1].name : NULL;
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
    free(m->pieces);
}
