/* origin.c - see origin.h */

#include "origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../run/board.h"
#include "message.h"

void block_origin(const block_file *file, chroprof_origin *origin)
{
    chroprof_result owner = chroprof_file_owner(file->place);
    chroprof_read_origin(&file->view, origin);
    if (origin->mapped && (owner == CHROPROF_OK || owner == CHROPROF_ERR_OWNED)) {
        origin->alive = owner == CHROPROF_ERR_OWNED;
    }
}

/* Seconds with three decimals. */
typedef struct dump_time {
    char text[32];
} dump_time;

static dump_time dump_seconds(uint64_t ns)
{
    dump_time t;
    (void)snprintf(t.text, sizeof t.text, "%" PRIu64 ".%03" PRIu64 " s", ns / 1000000000,
                   ns / 1000000 % 1000);
    return t;
}

/* Adds a name and what comes behind it; what does not fit is left out. */
static void add_name(char *text, size_t size, const char *name, const char *end)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", name, end);
}

bool block_path(const chroprof *view, uint32_t id, char *text, size_t size)
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
        tool_message("path %s", text);
    }
}

/* What runs, from the top of the stack down, and how long already: up to its last event, and the
 * time since then as well if it still runs. */
static void dump_stack(const chroprof *view, const chroprof_origin *origin, uint64_t since_event)
{
    chroprof_frame frames[16];
    size_t count = chroprof_frames(view, frames, 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        uint64_t since = frames[i].since_ns;
        uint64_t ns = origin->end_ns > since ? origin->end_ns - since : 0;
        ns += origin->alive ? since_event : 0;
        tool_message("%s%s for %s%s",
                     i > 0 ? "  under " : origin->alive ? "running " : "was running ",
                     frames[i].barrier ? "(a nested loop)" : frames[i].name,
                     origin->alive ? "" : "at least ", dump_seconds(ns).text);
    }
    if (count > 16) {
        tool_message("  and %zu more below", count - 16);
    }
}

/* By the calendar, which the system may have set back meanwhile; 0: not known. */
static uint64_t dump_since_event(const chroprof_origin *origin)
{
    struct timespec now;
    uint64_t ns = 0;
    if (origin->end_unix_ns > 0 && clock_gettime(CLOCK_REALTIME, &now) == 0) {
        ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    return ns > origin->end_unix_ns ? ns - origin->end_unix_ns : 0;
}

/* A file of chroprof run is called PROCESS-THREAD. */
void debugger_command(const block_file *file, const chroprof_origin *origin, char *text, size_t size)
{
    char *end;
    long process = strtol(last_part(file->place), &end, 10);
    bool other = *end == '-' && strtol(end + 1, NULL, 10) != process;
    text[0] = '\0';
    if (origin->pid > 0 && origin->alive) {
        (void)snprintf(text, size, "gdb -p %" PRIu64 " -batch -ex %s", origin->pid,
                       other ? "'thread apply all bt'" : "bt");
    }
}

void dump_origin(const block_file *file)
{
    chroprof_origin origin;
    char command[80];
    uint64_t since_event;
    block_origin(file, &origin);
    since_event = dump_since_event(&origin);
    if (origin.ended) {
        tool_message("process %" PRIu64 " ended normally", origin.pid);
        return;
    }
    /* One that goes on has nothing to tell before its report. */
    if (!origin.mapped || (origin.alive && origin.end_unix_ns > 0 && since_event < 1000000000)) {
        return;
    }
    tool_message(origin.alive ? "process %" PRIu64 " runs"
                              : "process %" PRIu64 " ended without closing its profile",
                 origin.pid);
    if (origin.end_unix_ns > 0) {
        tool_message("its last event was %s ago", dump_seconds(since_event).text);
    }
    dump_stack(&file->view, &origin, since_event);
    dump_path(&file->view);
    debugger_command(file, &origin, command, sizeof command);
    if (*command != '\0') {
        tool_message("where it is now: %s", command);
    }
}
