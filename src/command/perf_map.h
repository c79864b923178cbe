/* perf_map.h - names of code that a program made itself: /tmp/perf-PID.map, which node
 * (--perf-basic-prof), LuaJIT, agents of Java and Python 3.12 write for Linux perf. A line of it is
 * an address and a size, hexadecimal, and a name. */

#ifndef COMMAND_PERF_MAP_H
#define COMMAND_PERF_MAP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct perf_entry {
    uint64_t address, size;
    size_t name;               /* where it begins in the text */
} perf_entry;

/* Addresses from here to the next piece. */
typedef struct perf_piece {
    uint64_t begin;
    size_t entry;              /* that was the last to name them; plus 1; 0: none did */
} perf_piece;

typedef struct perf_map {
    char *text;
    perf_entry *entries;       /* as they stand in the file */
    size_t count;
    perf_piece *pieces;        /* by address: a file has hundreds of thousands of lines */
    size_t piece_count;
} perf_map;

/* That of a process; empty if there is none, or if it is somebody else's. */
void perf_map_read(perf_map *m, uint64_t pid);

/* One of a text, which is then the map's. NULL: empty. */
void perf_map_of_text(perf_map *m, char *text);

/* What the map said last of an address; NULL: nothing. */
const char *perf_map_name(const perf_map *m, uint64_t address);

/* What an entry says, as V8 and Python write theirs: "JS:*handle /home/me/app.js:2:22" and
 * "py::handle:/home/me/app.py". Else it is all a function's name. */
typedef struct made_code {
    char function[512], file[PATH_MAX];
    uint64_t line;             /* where the function begins; 0: not known */
    const char *language;      /* "javascript", "python", or "" */
} made_code;

void perf_map_split(const char *entry, made_code *made);

void perf_map_free(perf_map *m);

#endif
