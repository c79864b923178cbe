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
    size_t lines = 1;
    memset(m, 0, sizeof *m);
    (void)snprintf(path, sizeof path, "/tmp/perf-%" PRIu64 ".map", pid);
    m->text = pid > 0 ? read_own_file(path) : NULL;
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

void perf_map_free(perf_map *m)
{
    free(m->text);
    free(m->entries);
}
