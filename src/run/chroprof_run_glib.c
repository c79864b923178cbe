/* chroprof_run_glib.c - wraps the functions of GLib 2 that take callbacks of its main loop.
 *
 * These are public, with these parameters in every 2.x that has them. Only programs that link GLib
 * get this library. g_main_context_invoke is left alone, which may run its callback on the spot. What
 * GIO calls when an operation is done, and the handlers of signals, stay with the wait before them. */

#define _GNU_SOURCE
#include "callbacks.h"

#define CALL(name, parameters, arguments) STAND_BEFORE(unsigned, name, parameters, arguments, 0)

typedef callback notify;       /* called when a source goes: as it is */

/* >>idle time and timers */

CALL(g_idle_add, (callback *called, void *data), (OURS(called), data))
CALL(g_idle_add_once, (callback *called, void *data), (OURS(called), data))
CALL(g_idle_add_full, (int priority, callback *called, void *data, notify *gone),
     (priority, OURS(called), data, gone))
CALL(g_timeout_add, (unsigned ms, callback *called, void *data), (ms, OURS(called), data))
CALL(g_timeout_add_once, (unsigned ms, callback *called, void *data), (ms, OURS(called), data))
CALL(g_timeout_add_full,
     (int priority, unsigned ms, callback *called, void *data, notify *gone),
     (priority, ms, OURS(called), data, gone))
CALL(g_timeout_add_seconds, (unsigned seconds, callback *called, void *data),
     (seconds, OURS(called), data))
CALL(g_timeout_add_seconds_full,
     (int priority, unsigned seconds, callback *called, void *data, notify *gone),
     (priority, seconds, OURS(called), data, gone))

/* >>files, signals and children */

CALL(g_io_add_watch, (void *channel, int condition, callback *called, void *data),
     (channel, condition, OURS(called), data))
CALL(g_io_add_watch_full,
     (void *channel, int priority, int condition, callback *called, void *data, notify *gone),
     (channel, priority, condition, OURS(called), data, gone))
CALL(g_unix_fd_add, (int fd, int condition, callback *called, void *data),
     (fd, condition, OURS(called), data))
CALL(g_unix_fd_add_full,
     (int priority, int fd, int condition, callback *called, void *data, notify *gone),
     (priority, fd, condition, OURS(called), data, gone))
CALL(g_unix_signal_add, (int number, callback *called, void *data),
     (number, OURS(called), data))
CALL(g_unix_signal_add_full,
     (int priority, int number, callback *called, void *data, notify *gone),
     (priority, number, OURS(called), data, gone))
CALL(g_child_watch_add, (int child, callback *called, void *data), (child, OURS(called), data))
CALL(g_child_watch_add_full,
     (int priority, int child, callback *called, void *data, notify *gone),
     (priority, child, OURS(called), data, gone))

/* >>sources. Each kind calls its callback in its own way. Those of GLib and GIO pass pointers and
 * numbers, four at most. Of what a program has made itself, nobody knows, so it is left alone. */

#define KNOWN_PARTS 16

typedef struct code_part {
    uintptr_t begin, end;
} code_part;

static code_part known_parts[KNOWN_PARTS];          /* the code of both libraries */
static size_t known_count;

static int add_parts(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *file = info->dlpi_name != NULL ? last_part(info->dlpi_name) : "";
    (void)size;
    (void)unused;
    if (strncmp(file, "libglib-2.0.so", 14) != 0 && strncmp(file, "libgio-2.0.so", 13) != 0) {
        return 0;
    }
    for (size_t i = 0; i < info->dlpi_phnum && known_count < KNOWN_PARTS; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            known_parts[known_count].begin = (uintptr_t)info->dlpi_addr + part->p_vaddr;
            known_parts[known_count].end = known_parts[known_count].begin + part->p_memsz;
            known_count++;
        }
    }
    return 0;
}

__attribute__((__constructor__)) static void find_parts(void)
{
    (void)dl_iterate_phdr(add_parts, NULL);
}

/* GLib's structs: macros of its headers and programs know these fields, so they stay where they are.
 * A source begins with the data of its callback, and functions to hold that. */
typedef struct source_functions {
    callback *prepare, *check, *dispatch;
} source_functions;

typedef struct any_source {
    void *data, *holders;
    const source_functions *functions;
} any_source;

static callback *of_source(const any_source *source, callback *called)
{
    uintptr_t dispatch = source != NULL && source->functions != NULL
                         ? (uintptr_t)source->functions->dispatch : 0;
    for (size_t i = 0; i < known_count; i++) {
        if (dispatch >= known_parts[i].begin && dispatch < known_parts[i].end) {
            return OURS(called);
        }
    }
    return called;
}

STAND_BEFORE_VOID(g_source_set_callback,
                  (any_source *source, callback *called, void *data, notify *gone),
                  (source, of_source(source, called), data, gone))

/* >>loops */

STAND_LOOP(int, g_main_context_iteration, (void *context, int may_wait), (context, may_wait), 0)

KNOWN(g_main_loop_run)
EXPORT void g_main_loop_run(void *loop);
EXPORT void g_main_loop_run(void *loop)
{
    typedef void (*type)(void *);
    type next = (type)next_function(&known_g_main_loop_run, __builtin_return_address(0));
    LOOP_IS(true)
    if (next != NULL) {
        next(loop);
    }
    LOOP_IS(false)
}
