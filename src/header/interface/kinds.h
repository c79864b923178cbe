/* interface/kinds.h */
#pragma once

/* >>types: first the words of the interface, each a number, then the structs. */

/* What an event says. Seven are states of a future. The numbers are part of the contract. */
typedef enum chroprof_state {
    CHROPROF_PENDING,      /* created, not started; needs a site */
    CHROPROF_READY,        /* could run, waits for the loop */
    CHROPROF_RUNNING,      /* its code executes now */
    CHROPROF_PAUSED,       /* gave the loop back, not finished */
    CHROPROF_COMPLETED,    /* finished with a result */
    CHROPROF_FAILED,       /* finished with an error */
    CHROPROF_CANCELLED,    /* finished because somebody asked for it */
    CHROPROF_IDLE_ENTER,   /* the loop is about to wait in the operating system */
    CHROPROF_IDLE_LEAVE,   /* the wait has ended */
    CHROPROF_LOOP_ENTER,   /* a nested loop begins: a barrier on the running stack */
    CHROPROF_LOOP_LEAVE,   /* the nested loop ends */
    CHROPROF_ENTER,        /* an anonymous future, created and running; needs a site */
    CHROPROF_LEAVE,        /* the anonymous future completes */
    CHROPROF_TICK,         /* time passes, nothing else */
    CHROPROF_SWITCH,       /* pauses what runs, runs this id (0: nothing) */
    CHROPROF_NEXT,         /* leaves the enter-frame on top, enters another */
    CHROPROF_SINCE = 126   /* in steps alone: the ready right after it was late by id, in ns */
} chroprof_state;

/* Result codes, each with its name and text. */
#define CHROPROF_RESULTS(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(ERR_ARGUMENT, "a NULL profile or NULL memory was given: pass a chroprof and a block")        \
    X(ERR_MEMORY, "the block is too small: give at least chroprof_memory_size(options) bytes, or " \
                  "lower the max_ options")                                                        \
    X(ERR_LIMIT, "an option is beyond its limit: max_depth and max_windows end at 65000, the "     \
                 "others at 2^28")                                                                 \
    X(ERR_CLOCK, "no clock: CHROPROF_NO_CLOCK is defined, so set options.clock")                   \
    X(ERR_ALIGNMENT, "the block to open must start at an address divisible by 8: copy it there")   \
    X(ERR_FORMAT, "not a chroprof block: no magic number in its first 128 bytes")                  \
    X(ERR_VERSION, "the block has the layout of another version: write JSON with the command of "  \
                   "that version, this one's reads it")                                            \
    X(ERR_BYTE_ORDER, "the block was written by a machine of the other byte order")                \
    X(ERR_TRUNCATED, "the block is shorter than it says")                                          \
    X(ERR_CORRUPT, "the block breaks an invariant: chroprof_check of the writer would say which")  \
    X(ERR_BUSY, "the block is being written just now: take a chroprof_snapshot instead")           \
    X(ERR_FILE, "the file could not be made or mapped: errno says why")                            \
    X(ERR_OWNED, "a program that still runs owns this file: give another path")                    \
    X(ERR_DIFFERENT, "not two states of one profile, the newer first: give two snapshots of the "  \
                     "same program")                                                               \
    X(ERR_RESET, "the profile was reset between the two: the newer one alone is what happened "    \
                 "since")                                                                          \
    X(ERR_TARGET, "profiles are merged into one of their own, without live futures: init it with " \
                  "options.clock = chroprof_clock_manual")                                         \
    X(ERR_TIME, "the sum of the times is beyond 2^62 ns: merge fewer profiles into one")           \
    X(ERR_SAMPLER, "no sampler here: it needs 64-bit Linux, or another 64-bit Unix and "           \
                   "CHROPROF_ITIMER; POSIX.1-2008 (_POSIX_C_SOURCE); and no CHROPROF_NO_SAMPLER. " \
                   "chroprof_sample works everywhere")                                             \
    X(ERR_SAMPLER_MEMORY, "the block has no room for samples: set max_samples, or give a larger "  \
                          "block")                                                                 \
    X(ERR_SAMPLER_RUNNING, "the sampler of this profile runs already: chroprof_sampler_stop first")\
    X(ERR_SAMPLER_SIGNAL, "no real-time signal is free, or the given one has a handler or is "     \
                          "blocked: set signal to one that nobody uses (with CHROPROF_ITIMER "     \
                          "only SIGPROF will do, in the wall mode SIGALRM)")                       \
    X(ERR_SAMPLER_TIMER, "the system refused a timer: errno says why; RLIMIT_SIGPENDING limits "   \
                         "them. EBUSY: the one of the process is in use (CHROPROF_ITIMER)")        \
    X(ERR_SAMPLER_STACK, "this thread has too little stack left for a sample: give it 64 KiB, or " \
                         "an alternate stack of 32 KiB (sigaltstack) before "                      \
                         "chroprof_sampler_start")                                                 \
    X(ERR_PREVIOUS, "PATH.prev is not the profile of a program that ended, so it stays: move it "  \
                    "away or give another path")

typedef enum chroprof_result {
#define CHROPROF_RESULT_NAME(name, text) CHROPROF_##name,
    CHROPROF_RESULTS(CHROPROF_RESULT_NAME)
#undef CHROPROF_RESULT_NAME
    CHROPROF_RESULT_COUNT
} chroprof_result;

/* Unexpected sequences of calls. They are counted by kind and are never fatal. For each: name, what
 * happened, the likely cause and cure. */
#define CHROPROF_ANOMALIES(X)                                                                      \
    X(UNKNOWN_READY, "ready of an unknown id, ignored",                                            \
      "Call chroprof_pending before chroprof_ready. After the finish call neither.")               \
    X(UNKNOWN_RUNNING, "running of an unknown id without a site, its time is untracked",           \
      "Call chroprof_pending where the task is created. Other causes: it had finished, or "        \
      "max_futures is too low.")                                                                   \
    X(UNKNOWN_PAUSED, "paused of an unknown id, ignored",                                          \
      "A finish ends the slice: call no chroprof_paused after it.")                                \
    X(UNKNOWN_FINISH, "finish of an unknown id, ignored",                                          \
      "Report each finish once, and chroprof_pending before it.")                                  \
    X(ADOPTED, "running of an unknown id with a site, adopted as a root",                          \
      "Normal for tasks older than the profile. For others call chroprof_pending where they "      \
      "are created.")                                                                              \
    X(NOT_RUNNING, "paused of a future that is not on the stack, ignored",                         \
      "Its slice had ended. Pause a task once, with the id that chroprof_running had.")            \
    X(LOST_PAUSE, "running of the future already on top, a new slice begins",                      \
      "Call chroprof_paused wherever the task returns to the loop, early returns included.")       \
    X(BURIED_FINISH, "finish in the middle of the running stack, its frame stays",                 \
      "Pause or leave what runs on top of a task before the task finishes.")                       \
    X(UNWOUND_BY_PAUSE, "a frame was unwound by a pause below it",                                 \
      "A chroprof_paused or chroprof_leave is missing: look for early returns and exceptions.")    \
    X(UNWOUND_BY_SWITCH, "an enter-frame was unwound by a switch below it",                        \
      "Call chroprof_leave before chroprof_switch.")                                               \
    X(UNWOUND_BY_IDLE, "a frame was still on the stack when idle began",                           \
      "A chroprof_paused or chroprof_leave is missing. If a nested loop waits there, call "        \
      "chroprof_loop_enter around it.")                                                            \
    X(UNWOUND_BY_LOOP, "a frame was still above the barrier when a nested loop ended",             \
      "A chroprof_paused or chroprof_leave is missing inside the nested loop.")                    \
    X(BARRIER_CROSSED, "a pause below a barrier unwound the nested loop",                          \
      "Call chroprof_loop_leave before the task that runs the nested loop pauses.")                \
    X(LEAVE_WITHOUT_ENTER, "leave without an enter-frame on top, ignored",                         \
      "Call chroprof_leave once for each chroprof_enter. A task ends with chroprof_paused or a "   \
      "finish.")                                                                                   \
    X(LOOP_LEAVE_WITHOUT_ENTER, "loop_leave without a barrier, ignored",                           \
      "Call chroprof_loop_leave once for each chroprof_loop_enter.")                               \
    X(IDLE_LEAVE_WITHOUT_ENTER, "idle_leave while not idle, ignored",                              \
      "Call chroprof_idle_enter before the wait. Any event but tick ends the wait early.")         \
    X(TIME_BACK, "the clock went back, or on by decades: no time passed",                          \
      "Use a clock that never goes back, such as CLOCK_MONOTONIC.")                                \
    X(LONG_STEP, "a step above max_step_ns outside idle, untracked",                               \
      "The program was stopped or suspended. If it did run that long, raise max_step_ns.")         \
    X(READY_AHEAD, "ready_since later than now, taken as now",                                     \
      "Give the time in clock ticks, as chroprof_now returns it.")                                 \
    X(ID_ZERO, "id 0, no effect",                                                                  \
      "Zero means no id: use an address, or a counter that begins at 1.")                          \
    X(SITE_NULL, "no site where one is needed",                                                    \
      "Pass a CHROPROF_SITE to chroprof_pending and chroprof_enter.")                              \
    X(BAD_STATE, "a state that does not exist, ignored",                                           \
      "Pass chroprof_event a constant of chroprof_state.")                                         \
    X(EVENT_IN_HOOK, "an event from inside on_stall, ignored",                                 \
      "on_stall may read and dump. Report events after it has returned.")                          \
    X(THREAD, "an event from another thread than the one whose tasks were on the stack",           \
      "Send all events from the thread that runs the loop. Hand a profile over only while no "     \
      "task runs.")

typedef enum chroprof_anomaly_kind {
#define CHROPROF_ANOMALY_NAME(name, text, cure) CHROPROF_ANOMALY_##name,
    CHROPROF_ANOMALIES(CHROPROF_ANOMALY_NAME)
#undef CHROPROF_ANOMALY_NAME
    CHROPROF_ANOMALY_COUNT
} chroprof_anomaly_kind;

/* The tables of the block, each with its name and the option that sets its capacity. */
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
    X(STRINGS, "strings", "string_bytes")                                                          \
    X(STACKS, "stacks", "max_stack_frames")                                                        \
    X(EVENTS, "events", "max_events")                                                              \
    X(SLOW, "slow", "max_slow")                                                                    \
    X(INCIDENTS, "incidents", "max_incidents")

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
    CHROPROF_PPROF,        /* profile.proto, uncompressed. 5 was CHROPROF_FIREFOX in 0.1.0, 6 was
                              CHROPROF_TRACE in 0.2.0: the command writes these */
    CHROPROF_PROMETHEUS_ALL = 7 /* every series; CHROPROF_PROMETHEUS has those that people graph */
} chroprof_format;

/* What chroprof_ranks sorts by, largest first. Ties go by exec time, then by site name, file and
 * line. */
typedef enum chroprof_order {
    CHROPROF_BY_EXEC,
    CHROPROF_BY_WITH_CHILDREN,
    CHROPROF_BY_SLICE_MAX,
    CHROPROF_BY_BLAME,
    CHROPROF_BY_DELAY,
    CHROPROF_BY_CALLS
} chroprof_order;
