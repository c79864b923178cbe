/* chroprof.h 0.1.0 - which tasks occupy an event loop, which make the others wait, and where - MIT-0 OR Unlicense

 Manual: to be written.

*/
#ifndef CHROPROF_H
#define CHROPROF_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* >>version */
#define CHROPROF_VERSION_MAJOR 0
#define CHROPROF_VERSION_MINOR 1
#define CHROPROF_VERSION_PATCH 0
#define CHROPROF_VERSION "0.1.0"

/* >>config
 * Define before the first include, in every file alike unless the line says "implementation".
 *
 *   CHROPROF_API                linkage of the public functions; default extern. "static" makes the
 *                               header private to one file (with CHROPROF_IMPLEMENTATION there).
 *   CHROPROF_DISABLE            every instrumentation call becomes nothing, arguments unevaluated.
 *   CHROPROF_NO_STDIO           no <stdio.h>, no chroprof_dump; chroprof_write remains.
 *   CHROPROF_NO_TEXT _JSON _FOLDED   (implementation) leave that format out; it then answers -1.
 *   CHROPROF_NO_CLOCK           (implementation) no clock of our own: options.clock must be given.
 *   CHROPROF_NO_TSC             (implementation) read the monotonic clock, never a cycle counter.
 *   CHROPROF_ASSERT(x)          (implementation) our own invariants only; default nothing.
 */
#ifndef CHROPROF_API
#define CHROPROF_API extern
#endif
#ifndef CHROPROF_NO_STDIO
#include <stdio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>types */

/* What an event says. The first seven are states of a future; the numbers are part of the contract. */
typedef enum chroprof_state {
    CHROPROF_PENDING,      /* created, not started; needs a site */
    CHROPROF_READY,        /* could run, waits for the loop */
    CHROPROF_RUNNING,      /* its code executes now */
    CHROPROF_PAUSED,       /* gave the loop back, not finished */
    CHROPROF_COMPLETED,    /* finished with a result */
    CHROPROF_FAILED,       /* finished with an error */
    CHROPROF_CANCELLED,    /* finished because somebody asked for it */
    CHROPROF_IDLE_ENTER,   /* the loop is about to block in the operating system */
    CHROPROF_IDLE_LEAVE,   /* it is back */
    CHROPROF_LOOP_ENTER,   /* a nested loop begins: a barrier on the running stack */
    CHROPROF_LOOP_LEAVE,   /* it ends */
    CHROPROF_ENTER,        /* an anonymous future, created and running; needs a site */
    CHROPROF_LEAVE,        /* it is completed */
    CHROPROF_TICK,         /* time passes, nothing else */
    CHROPROF_SWITCH        /* pause what runs, run this id (0: nothing) */
} chroprof_state;

/* Result codes. One list gives the names and the texts. */
#define CHROPROF_RESULTS(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(ERR_ARGUMENT, "a NULL profile or NULL memory was given: pass a chroprof and a block")         \
    X(ERR_MEMORY, "the block is too small: give at least chroprof_memory_size(options) bytes, or "  \
                  "lower the max_ options")                                                        \
    X(ERR_LIMIT, "an option is beyond its limit: max_depth and max_windows end at 65000, the "      \
                 "others at 2^28")                                                                 \
    X(ERR_CLOCK, "no clock: CHROPROF_NO_CLOCK is defined, so set options.clock")                    \
    X(ERR_ALIGNMENT, "the block to open must start at an address divisible by 8: copy it there")    \
    X(ERR_FORMAT, "not a chroprof block: no magic number in its first 64 bytes")                    \
    X(ERR_VERSION, "the block was written by another version of the layout")                       \
    X(ERR_BYTE_ORDER, "the block was written by a machine of the other byte order")                \
    X(ERR_TRUNCATED, "the block is shorter than it says")                                          \
    X(ERR_CORRUPT, "the block breaks an invariant: chroprof_check of the writer would say which")   \
    X(ERR_BUSY, "the block is being written just now: take a chroprof_snapshot instead")

typedef enum chroprof_result {
#define CHROPROF_RESULT_NAME(name, text) CHROPROF_##name,
    CHROPROF_RESULTS(CHROPROF_RESULT_NAME)
#undef CHROPROF_RESULT_NAME
    CHROPROF_RESULT_COUNT
} chroprof_result;

/* What the host did that was not in order. Counted by kind, never fatal. One list: name, text. */
#define CHROPROF_ANOMALIES(X)                                                                      \
    X(UNKNOWN_READY, "ready of an unknown id, ignored")                                            \
    X(UNKNOWN_RUNNING, "running of an unknown id without a site, its time is untracked")            \
    X(UNKNOWN_PAUSED, "paused of an unknown id, ignored")                                          \
    X(UNKNOWN_FINISH, "finish of an unknown id, ignored")                                          \
    X(ADOPTED, "running of an unknown id with a site, adopted as a root")                          \
    X(NOT_RUNNING, "paused of a future that is not on the stack, ignored")                         \
    X(LOST_PAUSE, "running of the future already on top, a new slice begins")                      \
    X(BURIED_FINISH, "finish in the middle of the running stack, its frame stays")                 \
    X(UNWOUND_BY_PAUSE, "a frame was unwound by a pause below it")                                 \
    X(UNWOUND_BY_SWITCH, "an enter-frame was unwound by a switch below it")                        \
    X(UNWOUND_BY_IDLE, "a frame was still on the stack when idle began")                           \
    X(UNWOUND_BY_LOOP, "a frame was still above the barrier when a nested loop ended")             \
    X(BARRIER_CROSSED, "a pause below a barrier unwound the nested loop")                          \
    X(LEAVE_WITHOUT_ENTER, "leave without an enter-frame on top, ignored")                         \
    X(LOOP_LEAVE_WITHOUT_ENTER, "loop_leave without a barrier, ignored")                           \
    X(IDLE_LEAVE_WITHOUT_ENTER, "idle_leave while not idle, ignored")                              \
    X(TIME_BACK, "the clock went back, no time passed")                                            \
    X(LONG_STEP, "a step above max_step_ns outside idle, untracked")                               \
    X(READY_AHEAD, "ready_since later than now, taken as now")                                     \
    X(ID_ZERO, "id 0, no effect")                                                                  \
    X(SITE_NULL, "no site where one is needed")                                                    \
    X(BAD_STATE, "a state that does not exist, ignored")                                           \
    X(EVENT_IN_CALLBACK, "an event from inside on_stall, ignored")

typedef enum chroprof_anomaly_kind {
#define CHROPROF_ANOMALY_NAME(name, text) CHROPROF_ANOMALY_##name,
    CHROPROF_ANOMALIES(CHROPROF_ANOMALY_NAME)
#undef CHROPROF_ANOMALY_NAME
    CHROPROF_ANOMALY_COUNT
} chroprof_anomaly_kind;

/* The tables of the block. One list: name, the option that sets its capacity. */
#define CHROPROF_TABLES(X)                                                                         \
    X(FUTURES, "futures", "max_futures")                                                           \
    X(SITES, "sites", "max_sites")                                                                 \
    X(PATHS, "paths", "max_paths")                                                                 \
    X(EDGES, "edges", "max_edges")                                                                 \
    X(DEPTH, "depth", "max_depth")                                                                 \
    X(HISTOGRAMS, "histograms", "max_histograms")                                                  \
    X(SAMPLES, "samples", "max_samples")                                                           \
    X(WINDOWS, "windows", "max_windows")                                                           \
    X(STALLS, "stalls", "max_stalls")                                                              \
    X(STRINGS, "strings", "string_bytes")

typedef enum chroprof_table_kind {
#define CHROPROF_TABLE_NAME(name, text, option) CHROPROF_TABLE_##name,
    CHROPROF_TABLES(CHROPROF_TABLE_NAME)
#undef CHROPROF_TABLE_NAME
    CHROPROF_TABLE_COUNT
} chroprof_table_kind;

/* Output formats of chroprof_dump and chroprof_write. */
typedef enum chroprof_format {
    CHROPROF_TEXT,         /* for people */
    CHROPROF_JSON,         /* everything, documented in the manual */
    CHROPROF_FOLDED,       /* self time in microseconds, for flame graphs */
    CHROPROF_PROMETHEUS,   /* text exposition 0.0.4 */
    CHROPROF_PPROF,        /* profile.proto, uncompressed */
    CHROPROF_FIREFOX       /* processed profile, version 60 */
} chroprof_format;

/* What chroprof_ranks sorts by, largest first; ties by site name, file, line. */
typedef enum chroprof_order {
    CHROPROF_BY_EXEC,
    CHROPROF_BY_WITH_CHILDREN,
    CHROPROF_BY_SLICE_MAX,
    CHROPROF_BY_BLAME,
    CHROPROF_BY_DELAY,
    CHROPROF_BY_CALLS
} chroprof_order;

/* Where futures of one kind come from. Two sites of the same content are one. The content (strings
 * included) must not change while a profile that saw it lives; it is copied at first sight. */
typedef struct chroprof_site {
    const char *name;      /* UTF-8, NUL-terminated */
    const char *file;      /* may be NULL */
    uint32_t line;
} chroprof_site;

#define CHROPROF_STALL_SLICES 4

/* One of the biggest slices of a turn or a pass. */
typedef struct chroprof_stall_slice {
    uint64_t id;           /* future, 0 for an enter-frame */
    uint64_t exec_ns;      /* length of the slice: time on top */
    uint32_t path;         /* id of the path, see chroprof_paths; 2 is untracked */
    const char *name, *file; uint32_t line;   /* the site of the path */
} chroprof_stall_slice;

typedef enum chroprof_stall_kind { CHROPROF_STALL_TURN, CHROPROF_STALL_PASS } chroprof_stall_kind;

/* A turn or a pass longer than stall_ns. */
typedef struct chroprof_stall {
    chroprof_stall_kind kind;
    uint64_t start_ns;     /* profile time */
    uint64_t length_ns;    /* of a turn: without idle and what ran above a barrier */
    uint64_t events;       /* events inside */
    uint32_t slice_count;  /* how many of slices[] are filled, biggest first */
    chroprof_stall_slice slices[CHROPROF_STALL_SLICES];
} chroprof_stall;

/* Options of chroprof_init. NULL or zeroed: defaults. What chroprof_init made of them: chroprof_tables
 * and the JSON. Capacities that are 0 share out the block. */
typedef struct chroprof_options {
    uint32_t max_futures;      /* live futures; 64 bytes each */
    uint32_t max_sites;        /* about 170 bytes each, and 8 a window */
    uint32_t max_paths;        /* 192 bytes each */
    uint32_t max_edges;        /* (path, site) pairs remembered; 32 bytes each; about max_paths + folds */
    uint32_t max_depth;        /* frames of the running stack, barriers included; 64 bytes each */
    uint32_t max_histograms;   /* sites with percentiles, first come; 5.2 KiB each */
    uint32_t max_samples;      /* rows of the sampler; 64 bytes each */
    uint32_t max_windows;      /* time windows; 8 bytes a site each */
    uint32_t max_stalls;       /* half longest, half most recent; 128 bytes each */
    uint32_t string_bytes;     /* names and files, each with its NUL */
    uint64_t window_ns;        /* first width of a window; 0: 100 ms */
    uint64_t stall_ns;         /* a turn or pass longer than this is a stall; 0: 20 ms */
    uint64_t max_step_ns;      /* a longer step outside idle is untracked; 0: 1 hour */
    uint64_t (*clock)(void *user);   /* ns, NULL: our own; chroprof_clock_manual: only events move time */
    void *clock_user;
    /* A turn or pass ended that was a stall. May read and dump, not send events; its time is loop. */
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    const char *name;          /* of the profile, copied (63 bytes); NULL: "" */
} chroprof_options;

/* One site's figures, times in ns, as of the last event; live futures and the slice under way
 * are included. Strings live in the block. */
typedef struct chroprof_rank {
    const char *name, *file; uint32_t line;
    uint64_t exec_ns, children_ns, with_children_ns;   /* with_children = exec + children */
    uint64_t exec_max_ns;      /* largest exec time of a single future */
    uint64_t slice_max_ns, slice_p50_ns, slice_p90_ns, slice_p99_ns, slice_p999_ns;
    uint64_t slices;           /* stays in running begun */
    uint64_t wall_ns, waiting_ns, delay_ns, delay_p99_ns, blame_ns;
    uint64_t calls;            /* = completed + failed + cancelled + abandoned + live; stillborn apart */
    uint64_t completed, failed, cancelled, abandoned, live, stillborn;
    uint32_t id;               /* of the site in this profile, for chroprof_site_windows */
    bool has_percentiles;      /* false: max_histograms was too low for this site */
} chroprof_rank;

/* One path's own figures (children apart, but for with_children_ns). */
typedef struct chroprof_path {
    uint32_t id;               /* above 2, stable for the life of the profile */
    uint32_t parent;           /* id of the parent path, 0: a root */
    uint32_t site;             /* id of its site, as in chroprof_rank */
    const char *name, *file; uint32_t line;   /* of its site */
    uint64_t exec_ns, with_children_ns, exec_max_ns, slice_max_ns, slices;
    uint64_t wall_ns, waiting_ns, delay_ns, blame_ns;
    uint64_t calls, completed, failed, cancelled, abandoned, live, stillborn;
} chroprof_path;

/* One live future. */
typedef struct chroprof_future {
    uint64_t id;               /* 0: an enter-frame */
    uint32_t path;             /* id of its path; 2: untracked */
    chroprof_state state;      /* PENDING, READY, RUNNING or PAUSED */
    uint64_t since_ns;         /* profile time at which it came into this state */
    uint64_t exec_ns;          /* its own exec time so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_future;

/* The whole loop. elapsed = busy + idle + loop; busy = sum of the sites' exec + untracked. */
typedef struct chroprof_totals {
    uint64_t elapsed_ns, busy_ns, idle_ns, loop_ns, untracked_ns;
    uint64_t delay_ns, blame_ns;   /* equal in ticks */
    uint64_t events, anomalies, live;
    uint64_t passes, pass_p50_ns, pass_p99_ns, pass_max_ns;
    uint64_t turns, turn_p50_ns, turn_p99_ns, turn_max_ns;
    uint64_t stalls;           /* turns and passes longer than stall_ns, all of them */
    uint64_t idle_blame_ns, loop_blame_ns, untracked_blame_ns;
    uint64_t dropped;          /* sum over the tables */
    uint64_t elapsed_ticks, delay_ticks, blame_ticks;
    uint64_t start_unix_ns;    /* calendar time of profile time 0; 0: unknown */
    uint64_t tick_error_ppb;   /* bound of the tick factor's error, parts in 10^9 */
    bool provisional;          /* the clock is not calibrated yet: times may still change scale */
    bool enabled;
    bool idle;                 /* the loop was idle at the last event */
    uint32_t depth;            /* frames on the running stack, hidden ones included */
} chroprof_totals;

/* One time window. Widths double when the table is full, so the windows always cover the run. */
typedef struct chroprof_window {
    uint64_t start_ns, end_ns;     /* profile time; the last one ends at the last event */
    uint64_t busy_ns, idle_ns, loop_ns, untracked_ns;   /* untracked is part of busy */
} chroprof_window;

/* One table of the block. */
typedef struct chroprof_table {
    chroprof_table_kind kind;
    const char *name, *option;     /* option: the field of chroprof_options that sets its capacity */
    uint64_t capacity, used, peak;
    uint64_t dropped;              /* how often something did not fit */
    uint64_t advice;               /* a capacity that would have been enough so far; 0: it was */
    uint64_t bytes;
} chroprof_table;

/* One kind of anomaly and how often it was seen. */
typedef struct chroprof_anomaly {
    chroprof_anomaly_kind kind;
    const char *text;
    uint64_t count;
} chroprof_anomaly;

/* The handle: small, transparent, caller-owned. A zeroed one is valid: every call does nothing.
 * It holds addresses resolved from the block and this process's hooks; copy it freely. */
typedef struct chroprof {
    struct chroprof__core *core;
    struct chroprof__future *futures;
    struct chroprof__frame *frames;
    struct chroprof__path *paths;
    uint64_t (*clock)(void *user);
    void *clock_user;
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    bool on;               /* events are taken */
    bool in_callback;      /* on_stall is being called */
    bool stall_due;        /* the event under way ended a stall */
    bool view;             /* a block that nobody writes */
} chroprof;

/* Takes bytes of output. Non-zero stops the writing. */
typedef int (*chroprof_writer)(void *user, const void *bytes, size_t count);

/* >>api life
 * Unless a line says otherwise a call is for the one thread that sends this profile's events, is not
 * for signal handlers, and does nothing on a NULL or zeroed profile. */

/* Starts a profile in memory[0..size). The block may have any alignment and stays the caller's; nothing
 * else is ever allocated. options NULL: defaults. On any error *p is zeroed (so that every call on it
 * does nothing) and the reason is returned. Cost: writes the block once, some microseconds beyond. */
CHROPROF_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                           const chroprof_options *options);

/* Bytes that are always enough for these options; capacities that are 0 count with their defaults.
 * NULL: all defaults. 0 if an option is beyond its limit. A block of fewer bytes is refused if every
 * capacity is given, else it is shared out, down to CHROPROF_MEMORY_MIN. Any thread. */
CHROPROF_API size_t chroprof_memory_size(const chroprof_options *options);

/* The smallest block that chroprof_init takes (with zeroed capacities), in bytes. */
#define CHROPROF_MEMORY_MIN 6144

/* What a result code means, naming the knob to turn. A static string, never NULL. Any thread. */
CHROPROF_API const char *chroprof_result_text(chroprof_result r);

/* Figures, profile time and windows to zero, as of the last event; sites, paths, live futures and the
 * running stack stay known. Cost: walks the whole block. Not from on_stall. */
CHROPROF_API void chroprof_reset(chroprof *p);

/* Off: brings the profile up to now, empties the running stack, ends idle; events cost one branch.
 * On again: off-time is no profile time, no future is ready, known futures stay known. A call that
 * changes nothing costs nothing. Cost: walks the live futures. Not from on_stall. */
CHROPROF_API void chroprof_set_enabled(chroprof *p, bool on);

/* A clock for options.clock that never moves: time is the now of chroprof_event, 1 tick = 1 ns. */
CHROPROF_API uint64_t chroprof_clock_manual(void *user);

/* >>api events
 * None of them can fail; what is out of order is counted (chroprof_anomalies). Cost: a clock read and
 * a small constant of work. They do nothing while the profile is off. */
#ifndef CHROPROF_DISABLE

/* A handle for a site whose name is made at run time. The strings are copied; same content, same
 * handle, valid as long as the block. file may be NULL. NULL name: NULL. Full table: the handle of
 * "(other)". Cost: hashes the strings. */
CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line);

/* A future is created. Its parent is the path on top of the running stack. An id that is still live
 * is abandoned first. */
CHROPROF_API void chroprof_pending(chroprof *p, uint64_t id, const chroprof_site *site);

/* It could run from now on: its delay begins. While it runs: remembered until it pauses. Optional. */
CHROPROF_API void chroprof_ready(chroprof *p, uint64_t id);

/* The same, known late: it could run since `when` (clock ticks as of chroprof_now, when <= now).
 * Clamped to the time at which it paused or was created. */
CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when);

/* Its code begins to execute, on top of whatever runs. */
CHROPROF_API void chroprof_running(chroprof *p, uint64_t id);

/* It gives the loop back. Frames above it are unwound, counted. */
CHROPROF_API void chroprof_paused(chroprof *p, uint64_t id);

/* Pauses the innermost running future above the barrier and runs id (0: nothing); one clock read. */
CHROPROF_API void chroprof_switch(chroprof *p, uint64_t id);

/* It finished; if it is on top this pauses it too. Its record is freed at once. */
CHROPROF_API void chroprof_completed(chroprof *p, uint64_t id);
/* As chroprof_completed, with an error. */
CHROPROF_API void chroprof_failed(chroprof *p, uint64_t id);
/* As chroprof_completed, because somebody asked for it. */
CHROPROF_API void chroprof_cancelled(chroprof *p, uint64_t id);

/* A future that is created already finished; finish is COMPLETED, FAILED or CANCELLED. */
CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish);

/* A callback or a plain call begins: an anonymous future, created and running. */
CHROPROF_API void chroprof_enter(chroprof *p, const chroprof_site *site);

/* It ends: pops an enter-frame on top, never a future. */
CHROPROF_API void chroprof_leave(chroprof *p);

/* A nested loop begins: a barrier. Above it, what is created outside any future is a root, and time
 * outside any future is loop. */
CHROPROF_API void chroprof_loop_enter(chroprof *p);

/* It ends; frames above the innermost barrier are unwound, counted. */
CHROPROF_API void chroprof_loop_leave(chroprof *p);

/* The loop is about to block. Frames above the innermost barrier are unwound, counted. */
CHROPROF_API void chroprof_idle_enter(chroprof *p);

/* It is back. Any event but tick ends the idle too. */
CHROPROF_API void chroprof_idle_leave(chroprof *p);

/* Time passes, nothing else: brings the figures up to now. */
CHROPROF_API void chroprof_tick(chroprof *p);

/* The gate that all of these go through, with an explicit time in the unit of chroprof_now, so that
 * streams can be replayed. site may be NULL; with RUNNING it adopts an unknown id, with a finish of an
 * unknown id (or id 0) it is a stillborn. Any values are safe. */
CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now);

#endif /* CHROPROF_DISABLE */

/* The time now in clock ticks: of the cycle counter or ns; under the manual clock the time of the last
 * event; 0 for a view. Any thread that may call the clock. */
CHROPROF_API uint64_t chroprof_now(const chroprof *p);

/* >>api reading
 * Reads are pure: they show the profile as of its last event and change nothing, so several agree with
 * each other. They work on a view too, and may be called from on_stall. Each list call fills at most
 * capacity rows of out (NULL with capacity 0 asks for the number) and returns how many there are. */

/* Sites, largest first. A site that nothing used is not listed. Cost: sites + paths x depth, and a
 * sort. */
CHROPROF_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                   chroprof_order by);

/* Paths, in preorder: each parent right before its subtree. Cost: paths x depth. */
CHROPROF_API size_t chroprof_paths(const chroprof *p, chroprof_path *out, size_t capacity);

/* Live futures, in no order, then the enter-frames on the stack. Cost: max_futures. */
CHROPROF_API size_t chroprof_futures(const chroprof *p, chroprof_future *out, size_t capacity);

/* Time windows, oldest first. Cost: windows x sites. */
CHROPROF_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity);

/* Exec time of one site (chroprof_rank.id) in each window, in the order of chroprof_windows; their sum
 * is the site's exec, each flooring what was not floored before. An unknown id: 0 rows. */
CHROPROF_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                          size_t capacity);

/* Stalls that were kept, oldest first: the longest and the most recent. Cost: stalls squared. */
CHROPROF_API size_t chroprof_stalls(const chroprof *p, chroprof_stall *out, size_t capacity);

/* Capacity, use and drops of every table: CHROPROF_TABLE_COUNT rows. */
CHROPROF_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity);

/* Every kind of anomaly, zero counts included: CHROPROF_ANOMALY_COUNT rows. */
CHROPROF_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out, size_t capacity);

/* The whole loop's figures; all zero for a NULL or zeroed profile. Cost: paths. */
CHROPROF_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out);

/* Walks every table and compares both conservation laws. NULL: all holds; else a static text that names
 * the first broken invariant (a bug in chroprof.h, or a block somebody wrote into). Cost: the block. */
CHROPROF_API const char *chroprof_check(const chroprof *p);

/* >>api output */

/* Writes the profile in pieces of at most some KiB; ticks a live profile first (not in on_stall).
 * Returns 0, or -1 when the writer stopped or the format was left out. Never allocates. */
CHROPROF_API int chroprof_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                void *user);

#ifndef CHROPROF_NO_STDIO
/* The same into a stream; colour and width of the text report follow the terminal, if it is one.
 * Returns 0, or -1 with errno set. */
CHROPROF_API int chroprof_dump(chroprof *p, chroprof_format format, FILE *out);
#endif

/* How the text report looks. Zeroed: 80 columns, UTF-8, no colour, 20 sites, by exec. */
typedef struct chroprof_text_options {
    uint32_t columns;          /* 60 to 200 */
    uint32_t top;              /* rows of the ranked table */
    chroprof_order by;
    bool ascii;                /* plain ASCII bars */
    bool color;                /* ANSI colours */
} chroprof_text_options;

/* The text report with a look of its own; as chroprof_write otherwise. options NULL: zeroed. */
CHROPROF_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                     chroprof_writer write, void *user);

#ifdef __cplusplus
}
#endif

/* >>macros */

/* Defines a site of this source line: CHROPROF_SITE(site_accept, "accept"); */
#ifndef CHROPROF_DISABLE
#define CHROPROF_SITE(variable, name) \
    static const chroprof_site variable = { name, __FILE__, (uint32_t)__LINE__ }
#else
#ifdef __cplusplus
#define CHROPROF_SITE(variable, name) \
    static const chroprof_site variable = { name, __FILE__, (uint32_t)__LINE__ }
#else
#define CHROPROF_SITE(variable, name) \
    struct chroprof_disabled_##variable { int unused; }
#endif
#define chroprof_site_make(p, name, file, line) ((const chroprof_site *)0)
#define chroprof_pending(p, id, site) ((void)0)
#define chroprof_ready(p, id) ((void)0)
#define chroprof_ready_since(p, id, when) ((void)0)
#define chroprof_running(p, id) ((void)0)
#define chroprof_paused(p, id) ((void)0)
#define chroprof_switch(p, id) ((void)0)
#define chroprof_completed(p, id) ((void)0)
#define chroprof_failed(p, id) ((void)0)
#define chroprof_cancelled(p, id) ((void)0)
#define chroprof_stillborn(p, site, finish) ((void)0)
#define chroprof_enter(p, site) ((void)0)
#define chroprof_leave(p) ((void)0)
#define chroprof_loop_enter(p) ((void)0)
#define chroprof_loop_leave(p) ((void)0)
#define chroprof_idle_enter(p) ((void)0)
#define chroprof_idle_leave(p) ((void)0)
#define chroprof_tick(p) ((void)0)
#define chroprof_event(p, state, id, site, now) ((void)0)
#endif

#ifdef __cplusplus
/* Enter here, leave at the end of the block, exceptions included: chroprof_scope s(&prof, &site); */
class chroprof_scope {
public:
#ifndef CHROPROF_DISABLE
    chroprof_scope(chroprof *p, const chroprof_site *site) : profile(p) { chroprof_enter(p, site); }
    ~chroprof_scope() { chroprof_leave(profile); }
private:
    chroprof *profile;
#else
    template <class A, class B> chroprof_scope(const A &, const B &) {}
    ~chroprof_scope() {}
private:
#endif
    chroprof_scope(const chroprof_scope &);
    chroprof_scope &operator=(const chroprof_scope &);
};
#endif

/* A reader of the interface may stop here. */
#endif /* CHROPROF_H */
