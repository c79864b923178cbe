/* public/setup.h */
#pragma once
#include "../interface/version.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/clock.h"
#include "../event/step.h"

/* >>public: life and events. */

/* Is it a clock of our own that tells the time? */
CHROPROF__UNUSED static bool chroprof__own_clock(const chroprof *p)
{
#ifndef CHROPROF_NO_CLOCK
    if (p->clock == chroprof__monotonic_ns)
        return true;
#endif
    return p->clock == NULL;
}

CHROPROF__COLD_API const char *chroprof_result_text(chroprof_result r)
{
    switch ((int)r) {
#define CHROPROF__RESULT_TEXT(name, text) case CHROPROF_##name: return text;
        CHROPROF_RESULTS(CHROPROF__RESULT_TEXT)
#undef CHROPROF__RESULT_TEXT
    default: return "not a result code of this version";
    }
}

CHROPROF__COLD_API const char *chroprof_version(void)
{
    return CHROPROF_VERSION;
}

CHROPROF__COLD_API size_t chroprof_sizeof(const char *name)
{
#define CHROPROF__SIZE(name) { #name, (uint16_t)sizeof(name) },
    static const struct { char name[28]; uint16_t size; } sizes[] = {
        CHROPROF_STRUCTS(CHROPROF__SIZE)
    };
#undef CHROPROF__SIZE
    for (size_t k = 0; name != NULL && k < sizeof sizes / sizeof *sizes; k++)
        if (strcmp(sizes[k].name, name) == 0)
            return sizes[k].size;
    return 0;
}

CHROPROF__COLD_API size_t chroprof_memory_size(const chroprof_options *options)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    chroprof_options defaults;
    memset(&defaults, 0, sizeof(defaults));
    chroprof__capacities(options ? options : &defaults, capacity);
    if (!chroprof__within_limits(capacity))
        return 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = capacity[k] ? capacity[k] : chroprof__rations[k].usual;
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES],
                          capacity[CHROPROF_TABLE_STACKS] == 0);
    uint64_t bytes = chroprof__layout(capacity, tables);
    if (bytes >= SIZE_MAX - CHROPROF__MOST_SKIPPED)
        return 0;
    return (size_t)(bytes + CHROPROF__MOST_SKIPPED);
}

CHROPROF__STATIC_ASSERT(least, CHROPROF_MEMORY_MIN == CHROPROF__LEAST_BYTES); /* src/join.sh */

/* The capacities for a block of this size; false: too small. */
static bool chroprof__resolve(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT],
                              uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    bool all = true;
    chroprof__capacities(o, capacity);
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        all = all && (capacity[k] != 0 || k == CHROPROF_TABLE_SAMPLES ||
                      k == CHROPROF_TABLE_STACKS);
    if (size < CHROPROF_MEMORY_MIN)
        return false;
    size -= CHROPROF__MOST_SKIPPED;
    if (!all)
        return chroprof__share_out(capacity, size);
    bool open = capacity[CHROPROF_TABLE_SAMPLES] == 0;
    if (open)
        capacity[CHROPROF_TABLE_SAMPLES] = CHROPROF__DEFAULT_SAMPLES;
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES],
                          capacity[CHROPROF_TABLE_STACKS] == 0);
    if (open && chroprof__layout(capacity, tables) > size)
        chroprof__set_samples(capacity, 0, true);
    return chroprof__layout(capacity, tables) <= size;
}

/* The program's file without its folders; "" where the system has no such link. */
CHROPROF__UNUSED static void chroprof__name_program(chroprof__core *c)
{
#if defined(__linux__) && defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L
    char path[1024];
    ssize_t count = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[count > 0 ? count : 0] = '\0';
    const char *slash = strrchr(path, '/');
    chroprof__copy_text(c->who.program, sizeof(c->who.program), slash ? slash + 1 : path);
#else
    (void)c;
#endif
}

/* "": it is not known. */
CHROPROF__UNUSED static void chroprof__name_host(char host[CHROPROF__NAME_BYTES])
{
    memset(host, 0, CHROPROF__NAME_BYTES);
#if (defined(__unix__) || defined(__APPLE__)) && defined(_POSIX_VERSION) && \
    defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L
    if (gethostname(host, CHROPROF__NAME_BYTES - 1) != 0)
        host[0] = '\0';
#endif
}

static void chroprof__describe_process(chroprof__core *c, const char *name)
{
    chroprof__copy_text(c->who.name, sizeof(c->who.name), name);
    c->form.pointer_bytes = (uint32_t)sizeof(void *);
#ifndef CHROPROF_NO_CLOCK
    c->process.start_unix_ns = chroprof__calendar_ns();
    c->process.boot_ns = c->process.start_unix_ns - chroprof__monotonic_ns(NULL);
#endif
#if (defined(__unix__) || defined(__APPLE__)) && defined(_POSIX_VERSION)
    c->process.pid = (uint64_t)getpid();
    chroprof__name_program(c);
    chroprof__name_host(c->who.host);
#endif
#ifdef CHROPROF__MAPS
    c->file.owner_start = chroprof__process_of(c->process.pid).start;
#endif
}

/* The rows that are there from the start: loop, idle, untracked and "(other)". */
static void chroprof__first_rows(chroprof *p)
{
    static const char names[][20] = { "(uninstrumented)", "(idle)", "(untracked)", "(other)" };
    chroprof__core *c = p->core;
    memcpy((char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + 1, "...", 4);
    c->tables[CHROPROF_TABLE_STRINGS].used = 5;
    for (uint32_t k = 0; k < CHROPROF__FIRST_SITE; k++)
        chroprof__new_site(c, k, k, names[k], "", 0);
    CHROPROF_ASSERT(c->tables[CHROPROF_TABLE_STRINGS].used == CHROPROF__OWN_STRINGS);
    c->iteration.start = CHROPROF__NO_ITERATION;
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++) {
        p->paths[k].site = k;
        chroprof__set_histogram(p, p->paths + k, 0);
    }
    for (uint32_t k = 0; k <= p->max_depth; k++)
        p->frames[k].depth = k;
    p->frames[0].kind = CHROPROF__BARRIER;
    chroprof__start_histograms(p);
    for (uint32_t k = 0; k < c->tables[CHROPROF__SHORTCUTS].rows; k++)
        p->shortcuts[k].address = CHROPROF__NOWHERE;
}

/* Chooses the clock and fixes, or begins to measure, its rate. */
static chroprof_result chroprof__start_clock(chroprof *p, const chroprof_options *o)
{
    chroprof__core *c = p->core;
    c->set.window_ns = chroprof__or(o->window_ns, 100000000u);
    c->set.stall_ns = chroprof__or(o->stall_ns, 20000000u);
    c->set.max_step_ns = chroprof__or(o->max_step_ns, UINT64_C(3600000000000));
    p->clock = o->clock;
    p->clock_user = o->clock_user;
    c->time.manual = o->clock == chroprof_clock_manual;
    c->time.calibrated = 1;
    c->time.calibrate_at = UINT64_MAX;           /* ns need no factor */
    chroprof__set_factor(c, UINT64_C(1) << 32);
#ifndef CHROPROF_NO_CLOCK
#if CHROPROF__HAS_COUNTER
    if (!p->clock && chroprof__counter_is_invariant()) {
        c->clock = CHROPROF__CLOCK_COUNTER;
        chroprof__start_counter(c);
    } else
#endif
    if (!p->clock) {
        c->clock = CHROPROF__CLOCK_MONOTONIC;
        p->clock = chroprof__monotonic_ns;
    }
#else
    if (!p->clock)
        return CHROPROF_ERR_CLOCK;
#endif
    if (c->time.manual) {                   /* a replay: nobody knows when that was, nor where */
        c->process.start_unix_ns = 0;
        c->who.program[0] = '\0';
    } else {
        chroprof__start_at(c, chroprof__read_clock(p));
    }
    return CHROPROF_OK;
}

/* With the errno, if that is one of those that files have. */
static const char *chroprof__why_refused(const chroprof *p)
{
#ifdef CHROPROF__MAPS
    static const struct { int error; char text[56]; } reasons[] = {
        { ENOENT, "ENOENT: no folder for the file, or a link to nowhere" },
        { ENOTDIR, "ENOTDIR: a part of the file's path is no folder" },
        { EACCES, "EACCES: no right to write into the file's folder" },
        { EROFS, "EROFS: the file's folder is read-only" },
        { ELOOP, "ELOOP: the file is a link that leads to itself" },
        { ENOSPC, "ENOSPC: the disk is too full for the file" },
        { EFBIG, "EFBIG: the file is beyond a limit (ulimit -f)" },
        { EMFILE, "EMFILE: too many open files (ulimit -n)" },
        { ENOMEM, "ENOMEM: too little memory for the file" } };
    for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++)
        if (p->refused == CHROPROF_ERR_FILE && p->refused_errno == reasons[k].error)
            return reasons[k].text;
#endif
    return chroprof_result_text(p->refused);
}

CHROPROF__COLD_API const char *chroprof_why_off(const chroprof *p)
{
    if (!p)
        return "a NULL profile was given: pass the one that chroprof_init started";
    /* a handle without a block is zeroed, but for the reason */
    if (!chroprof__is_set(p) && (p->gate || p->core || p->futures || p->paths || p->ring ||
                                 p->mapped || p->hold))
        return "the handle was never initialized, it holds garbage: zero it or call chroprof_init";
    if (!chroprof__is_set(p))
        return p->refused ? chroprof__why_refused(p)
                          : "not started: call chroprof_init or chroprof_map first";
    if (!p->core || chroprof__is_wiped(p))
        return "a forked child has no profile: call chroprof_fork_child";
    return p->core->enabled ? "" : "switched off: call chroprof_set_enabled(p, true)";
}
