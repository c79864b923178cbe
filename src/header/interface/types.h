/* interface/types.h */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../interface/kinds.h"

/* Where futures of one kind come from. Two sites with the same contents are one. The contents
 * (strings included) are copied at first sight, but must not change while a profile that saw them
 * lives. */
typedef struct chroprof_site {
    const char *name;      /* UTF-8, NUL-terminated */
    const char *file;      /* may be NULL */
    uint32_t line;
} chroprof_site;

#define CHROPROF_STALL_SHARES 6
#define CHROPROF_STALL_SAMPLES 4
#define CHROPROF_INCIDENT_STEPS 64

/* Samples that the sampler took inside a callback or an iteration, at one place. */
typedef struct chroprof_stall_sample {
    uint32_t stack;        /* see chroprof_stack; if there are too many places, a neighbor's */
    uint32_t weight;       /* samples that were surely there */
    uint64_t cpu_ns;       /* their thread CPU time, each since the sample before */
} chroprof_stall_sample;

/* What one site took of a callback or an iteration. */
typedef struct chroprof_stall_share {
    uint32_t site;         /* as chroprof_rank.id; 0: uninstrumented; 2: untracked */
    uint64_t exec_ns;      /* total */
    uint64_t slices;       /* how many exec_ns is of; 0: loop, or not known */
    uint64_t slice_max_ns; /* of the largest one, the part inside the stall; as slices */
    const char *name, *file; uint32_t line;
} chroprof_stall_share;

typedef enum chroprof_stall_kind {
    CHROPROF_STALL_CALLBACK,
    CHROPROF_STALL_ITERATION
} chroprof_stall_kind;

/* An iteration longer than stall_ns, or a callback that is not most of such an iteration. */
typedef struct chroprof_stall {
    chroprof_stall_kind kind;
    uint64_t start_ns;     /* profile time */
    uint64_t length_ns;    /* of a callback: without idle and what ran above a barrier */
    uint64_t events;       /* after the one that began it, up to and with the one that ended it */
    uint32_t share_count;  /* how many of shares[] are filled, the largest first */
    chroprof_stall_share shares[CHROPROF_STALL_SHARES];
    uint64_t rest_ns;      /* other sites; of a callback also what the ring no longer holds */
    /* what the sampler saw of the stall; all 0 if it was off */
    uint64_t sampled;      /* samples inside; samples[] has at most as many: the rest was at other
                              places */
    uint64_t cpu_ns;       /* thread CPU time in it, within 1 ms; with chroprof_sample what
                              that was told */
    uint64_t waiting_ns;   /* the rest: the thread waited, or was preempted */
    uint32_t sample_count; /* how many of samples[] are filled, most first */
    chroprof_stall_sample samples[CHROPROF_STALL_SAMPLES];
    uint64_t number;       /* for chroprof_incident, from 1; of a callback and its iteration one */
    uint32_t step_count;   /* steps that were kept; 0: none */
    uint32_t first_steps;  /* how many of them come before the first one left out */
    uint64_t left_out;     /* steps that did not fit, or that the ring no longer held */
} chroprof_stall;

#define CHROPROF_SLOW_BLAMES 3

/* Whom a slow future waited for while it was ready. */
typedef struct chroprof_slow_blame {
    uint32_t site;         /* as chroprof_rank.id; 0: uninstrumented; 1: idle; 2:
                              untracked */
    uint64_t delay_ns;     /* how long the site was on top during that time */
    const char *name, *file; uint32_t line;
} chroprof_slow_blame;

/* One of the slowest finished futures of its site, and where its latency went: exec_ns +
 * children_ns + delay_ns + waiting_ns + unseen_ns = latency_ns. These cover what the ring still
 * held at the finish, up to 8192 steps. Of the time before that its own exec is known, and, if it
 * was in one state since then, that state. */
typedef struct chroprof_slow {
    uint64_t id;
    uint32_t site, path;   /* as chroprof_rank.id and chroprof_path.id */
    const char *name, *file; uint32_t line;   /* of the site */
    chroprof_state finish; /* CHROPROF_COMPLETED, CHROPROF_FAILED or CHROPROF_CANCELLED */
    bool of_run;           /* one of the slowest of the run; false: of the last minutes */
    uint64_t at_ns;        /* profile time of the finish */
    uint64_t latency_ns;   /* from created to finished */
    uint64_t exec_ns;      /* its own, exact */
    uint64_t children_ns;  /* what ran on top of it */
    uint64_t delay_ns;     /* ready, and not on the stack; from the call of ready_since on */
    uint64_t waiting_ns;   /* neither */
    uint64_t unseen_ns;    /* before the ring begins, or more than 8192 steps before the finish
                              (fewer right after other slow ones); without its own exec */
    uint32_t blame_count;  /* how many of blames[] are filled, the largest first */
    chroprof_slow_blame blames[CHROPROF_SLOW_BLAMES]; /* of delay_ns, as far as the ring
                              reaches; others took the rest */
} chroprof_slow;

/* Options of chroprof_init. NULL or zeroed: defaults. A capacity of 0 is sized automatically.
 * chroprof_read_options, chroprof_tables and the JSON tell the values in force. */
typedef struct chroprof_options {
    uint32_t max_futures;      /* live futures; 60 bytes each. If there are more, the one that
                                  has been in its state the longest gives up its record */
    uint32_t max_sites;        /* about 170 bytes each, and 8 per window */
    uint32_t max_paths;        /* 256 bytes each */
    uint32_t max_edges;        /* (path, site) pairs remembered; up to 96 bytes each */
    uint32_t max_depth;        /* frames of the running stack, barriers included; 64 bytes each */
    uint32_t max_histograms;   /* sites with percentiles; 1.4 KiB each. If there are more sites, a
                                  path with twice the exec time of the least one takes over its
                                  histograms, and they begin anew */
    uint32_t max_samples;      /* rows of the sampler; some 300 bytes each */
    uint32_t max_windows;      /* time windows; each 8 bytes per site */
    uint32_t max_stalls;       /* half the longest, half the most recent; 330 bytes each */
    uint32_t string_bytes;     /* names and files, each with its NUL */
    uint32_t max_stack_frames; /* different frames of sampled stacks; 40 bytes each; 0: to match
                                  max_samples, some 2,000 in a block of 1 MiB. In a full table
                                  the lightest innermost frames make room */
    uint32_t max_events;       /* steps of the ring; 24 bytes each. Rounded up to a power of two, at
                                  least 64. All but one of them can be read */
    uint32_t max_slow;         /* sites whose slowest futures are kept; 904 bytes each. 0 means none
                                  in a block of less than some 40 KiB */
    uint32_t max_incidents;    /* stalls whose steps are kept, half the longest, half the most
                                  recent; 1.6 KiB each. The end of a stall looks at half of them. 0
                                  means none in a block of less than some 180 KiB */
    uint64_t window_ns;        /* first width of a window; 0: 100 ms */
    uint64_t stall_ns;         /* a callback or iteration longer than this is a stall; 0: 20 ms */
    uint64_t max_step_ns;      /* a longer step outside idle is untracked; 0: 1 hour */
    uint64_t (*clock)(void *user);   /* in ns; NULL: our own; or chroprof_clock_manual */
    void *clock_user;
    /* Called when a stall (callback or iteration) has ended. It may read and dump, but not send
     * events. It must return; its time is uninstrumented. If one event ends several (nested loops,
     * a callback and its iteration), it gets them in the order they ended, those that fit in their
     * table. */
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    const char *name;          /* of the profile, copied (63 bytes); NULL: "" */
} chroprof_options;

/* One site's figures, in ns, as of the last event. Live futures and the slice under way are
 * included. Strings live in the block. */
typedef struct chroprof_rank {
    const char *name, *file; uint32_t line;
    uint64_t exec_ns, children_ns, with_children_ns;   /* with_children = exec + children */
    uint64_t exec_max_ns;      /* largest exec time of a single future */
    uint64_t slice_max_ns, slice_p50_ns, slice_p90_ns, slice_p99_ns, slice_p999_ns;
    uint64_t slices;           /* that have begun */
    uint64_t lifetime_ns, waiting_ns, delay_ns, delay_p99_ns, blame_ns;
    uint64_t found, hidden_total_ns;   /* what polls brought: slices, calls, and futures told ready
                                  or finished, outside of tasks; and an estimate of how long all
                                  that had waited for the poll, at most twice as long: half of the
                                  time since the poll before, of a future as far as it rested. No
                                  wait is hidden that ended a wait of the loop, or that ready_since
                                  tells. Part of no other figure */
    uint64_t calls;            /* completed + failed + cancelled + abandoned + dropped + live */
    uint64_t completed, failed, cancelled, abandoned, live, stillborn;
    uint64_t dropped;          /* gave up their records to a full table, see max_futures */
    /* Latency: the lifetime of futures that completed, failed or were cancelled. 0 without
     * percentiles, and of plain calls (enter), whose lifetime is their activation. */
    uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
    uint64_t measured;         /* slices that the percentiles rest on; fewer than have ended if the
                                  site got its histograms late */
    uint64_t slice_typical_ns; /* mean of the shortest three quarters of slices, which interruptions
                                  do not lengthen, so that two runs can be compared. Within 1/16,
                                  mostly within 1/50; 0 without percentiles */
    uint64_t slice_min_ns, slice_p1_ns;   /* the shortest slice (in a difference, of the later
                                  profile), and 1 % are no longer than the other. If the two are
                                  close, they are the work itself, whatever else the machine did */
    uint64_t cpu_ns, samples;  /* of the sampler, in the site's slices. Paths with an id above
                                  4 x max_samples + 2 add none */
    uint32_t id;               /* of the site in this profile, for chroprof_site_windows */
    bool has_percentiles;      /* false: max_histograms was too low for this site */
} chroprof_rank;

/* One path's own figures; only with_children_ns includes its children. */
typedef struct chroprof_path {
    uint32_t id;               /* above 2, stable for the life of the profile */
    uint32_t parent;           /* id of the parent path, 0: a root. Below 512 sites one begins */
    uint32_t site;             /* id of its site, as in chroprof_rank */
    const char *name, *file; uint32_t line;   /* of its site */
    uint64_t exec_ns, with_children_ns, exec_max_ns, slice_max_ns, slices;
    uint64_t lifetime_ns, waiting_ns, delay_ns, blame_ns;
    uint64_t found, hidden_total_ns;   /* see chroprof_rank */
    uint64_t calls, completed, failed, cancelled, abandoned, live, stillborn, dropped;
    uint64_t entered;          /* of calls, those by chroprof_enter that have ended */
    uint64_t cpu_ns, samples;  /* of the sampler, in its slices; see chroprof_rank */
} chroprof_path;

/* One live future. */
typedef struct chroprof_future {
    uint64_t id;               /* 0: an enter-frame */
    uint32_t path;             /* id of its path; 2: untracked */
    chroprof_state state;      /* PENDING, READY, RUNNING or PAUSED */
    uint64_t since_ns;         /* profile time at which this state began */
    uint64_t exec_ns;          /* its own exec time so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_future;

/* The whole loop. elapsed = busy + idle + uninstrumented; busy = untracked + the exec of all
 * sites. */
typedef struct chroprof_totals {
    uint64_t elapsed_ns, busy_ns, idle_ns, uninstrumented_ns, untracked_ns;
    uint64_t start_ns;         /* uninstrumented before the first idle ended; 0 until then */
    uint64_t exit_ns;          /* uninstrumented since chroprof_exiting */
    uint64_t at_once, at_once_ns;  /* waits that returned at once, in less than 10 us, and the part
                                  of idle_ns that they took: there the loop did not sleep */
    uint64_t cpu_clock_ns;     /* of chroprof_set_cpu_clock, as chroprof run tells it; 0: not known.
                                  Idle beyond elapsed_ns - this was no sleep */
    uint64_t asleep_ns;        /* what reports call idle: idle_ns without waits that returned at
                                  once, if those took 1 % of elapsed_ns, and no more than
                                  cpu_clock_ns leaves */
    uint64_t hidden_ns, hidden_p99_ns;  /* estimate: how long data that comes at a random moment
                                  waits for the poll, on average and at most in 99 of 100 cases;
                                  part of no delay; 0 without percentiles */
    uint64_t delay_ns, blame_ns;   /* equal in ticks */
    uint64_t events, anomalies, live;
    uint64_t iterations, iteration_p50_ns, iteration_p99_ns, iteration_max_ns;
    uint64_t callbacks, callback_p50_ns, callback_p99_ns, callback_max_ns;
    uint64_t stalls;           /* all callbacks and iterations longer than stall_ns, kept or not */
    uint64_t idle_blame_ns, uninstrumented_blame_ns, untracked_blame_ns;
    uint64_t dropped;          /* sum over the tables */
    uint64_t elapsed_ticks, delay_ticks, blame_ticks;
    uint64_t start_unix_ns;    /* calendar time of profile time 0; 0: unknown */
    uint64_t tick_error_ppb;   /* bound of the clock rate's error, parts per 10^9 */
    bool provisional;          /* the clock is not calibrated yet: times may still change scale */
    bool enabled;
    bool idle;                 /* the loop was idle at the last event */
    bool in_iteration;         /* an iteration is under way: an idle was reported and has ended */
    uint32_t depth;            /* frames on the running stack, hidden ones included */
    uint64_t skew_ns, skew_events;     /* of a snapshot: maximum skew of its rows; 0: exact */
    uint64_t doubt_ns, doubt_events;   /* of a snapshot: the torn event, where it stopped */
    bool living;               /* of a snapshot: the program was alive, and the figures go up
                                  to that moment; false: they end at the last event */
    bool estimated;            /* somebody watched the program from outside: all times of it are
                                  estimates from samples. See chroprof_set_origin */
} chroprof_totals;

/* One time window. Widths double when the table is full, so the windows always cover the run. */
typedef struct chroprof_window {
    uint64_t start_ns, end_ns;     /* profile time; the last window ends at the last event */
    uint64_t busy_ns, idle_ns, uninstrumented_ns, untracked_ns;  /* untracked is part of busy */
} chroprof_window;

/* How far chroprof_next_windows or chroprof_next_site_windows has come; 0 before the first. */
typedef struct chroprof_windows_cursor {
    uint32_t next;             /* number of the next window */
    bool begun;
    uint64_t ticks[4], shown[4], most[4];  /* theirs */
} chroprof_windows_cursor;

/* One table of the block. */
typedef struct chroprof_table {
    chroprof_table_kind kind;
    const char *name, *option;     /* option: the field of chroprof_options for it */
    uint64_t capacity, used, peak;
    uint64_t dropped;              /* how often something did not fit */
    uint64_t advice;               /* a capacity that would have been enough so far, for paths and
                                      edges an estimate; 0: this one was enough */
    uint64_t bytes;
} chroprof_table;

/* Where an anomaly was met. */
typedef struct chroprof_anomaly_place {
    uint64_t at_ns;            /* profile time */
    uint64_t id;               /* of the event, or of the frame that was unwound; 0: none */
    uint32_t path;             /* of the future or call it is about, above 2; 0: not known */
    uint32_t top;              /* path on top of the running stack when the event came: above 2,
                                  or 0 uninstrumented, 1 idle, 2 untracked */
    const char *name, *file; uint32_t line;   /* of the site of path, or of top if that is 0 */
} chroprof_anomaly_place;

/* One kind of anomaly, how often and where it was seen. */
typedef struct chroprof_anomaly {
    chroprof_anomaly_kind kind;
    const char *text;              /* what happened */
    const char *cure;              /* its likely cause and what to do */
    uint64_t count;
    bool placed;                   /* first and last are known: count is above 0, and this kind is
                                      one of the first max_paths / 4 + 1 met */
    chroprof_anomaly_place first, last;    /* zero and "" if not known. In a difference first is
                                      last if the older state had met this kind */
} chroprof_anomaly;

/* One frame of the running stack. */
typedef struct chroprof_frame {
    uint64_t id;               /* of the future; 0: an enter-frame, or a barrier */
    uint32_t path;             /* 2: untracked */
    bool barrier;              /* a nested loop begins here */
    uint64_t since_ns;         /* profile time at which it was pushed */
    uint64_t slice_ns;         /* exec time of this slice so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_frame;

/* One row of the ring: an event, as it happened. */
typedef struct chroprof_step {
    uint64_t at_ns;            /* profile time of the event */
    uint64_t id;               /* 0: none */
    chroprof_state state;      /* what the event said */
    uint32_t path;             /* to which the time before it was charged: above 2 a path, 0
                                  uninstrumented, 1 idle, 2 untracked */
    uint32_t depth;            /* frames of the running stack when it came, without hidden ones */
    uint32_t left_out;         /* of a stall's: steps missing before it; path is 2 then */
} chroprof_step;

/* What ran when a sample was taken. */
typedef enum chroprof_sample_state {
    CHROPROF_SAMPLE_BUSY,      /* a future or an enter-frame */
    CHROPROF_SAMPLE_IDLE,
    CHROPROF_SAMPLE_UNINSTRUMENTED
} chroprof_sample_state;

/* One sample, or several samples in a row with the same stack and no CPU time in between. */
typedef struct chroprof_sample_row {
    uint64_t at_ns;            /* profile time of the first one */
    uint64_t duration_ns;      /* to the last one */
    uint64_t weight;           /* how many samples */
    uint64_t cpu_ns;           /* thread CPU time since the sample before */
    uint32_t stack;            /* see chroprof_stack, until the next event; 0: none */
    chroprof_sample_state state;
} chroprof_sample_row;

/* The name and place of a site. */
typedef struct chroprof_site_row {
    uint32_t id;               /* as chroprof_rank.id */
    const char *name, *file; uint32_t line;
    bool cut;                  /* name or file is cut: too long, or no room */
} chroprof_site_row;

/* One module whose functions were sampled: the program or a library. */
typedef struct chroprof_module {
    const char *path;
    const char *build_id;      /* hexadecimal, "" if not known */
    uint64_t base;             /* load bias: an address minus this is its place in the file */
    uint64_t start, end;       /* its code lies in [start, end) */
} chroprof_module;

typedef enum chroprof_frame_kind {
    CHROPROF_FRAME_TASK,       /* a frame of the running stack */
    CHROPROF_FRAME_NATIVE,     /* a function */
    CHROPROF_FRAME_MARKER      /* says in words what is not known */
} chroprof_frame_kind;

/* One frame of a sampled stack. */
typedef struct chroprof_stack_frame {
    chroprof_frame_kind kind;
    const char *name;          /* task: its site; native: what dladdr knows, or ""; marker: text */
    uint32_t path;             /* task: id of its path; 2: untracked */
    bool is_return;            /* native: a return address: look up address - 1 */
    uint64_t address;          /* native: minus the module's load bias; module "": absolute */
    const char *module;        /* native: path of the program or library, "" if not known */
    const char *build_id;      /* native: hexadecimal, "" if not known */
} chroprof_stack_frame;

/* One node of the tree of sampled stacks: a frame, and the stack around it. */
typedef struct chroprof_stack_row {
    uint32_t id;               /* as chroprof_sample_row.stack, until the next event */
    uint32_t parent;           /* the stack around the frame, a lower id; 0: none */
    uint32_t module;           /* native: row of chroprof_modules + 1; 0: not known */
    uint64_t weight, cpu_ns;   /* of the samples that end here, dropped ones included */
    chroprof_stack_frame frame;
} chroprof_stack_row;

/* One path as the draws of WALL mode saw it: how often its live futures were met in each state, and
 * the time between two meetings of a future with no event in between. */
typedef struct chroprof_wall {
    uint32_t path;                                 /* 2: those beyond 4 x max_samples */
    uint64_t running, ready, paused;               /* weight; paused includes pending futures, and
                                                      running ones that have others on top */
    uint64_t running_ns, ready_ns, paused_ns;
} chroprof_wall;

/* Waits inside the tasks of a site, as chroprof_waited told: its exec has this time. */
typedef struct chroprof_task_wait {
    uint32_t site;             /* as chroprof_rank.id */
    uint64_t count, total_ns, longest_ns;
    const char *call;          /* in which it waited */
    const char *within;        /* the function that called that; "": not known */
    const char *name, *file; uint32_t line;   /* of the site */
    bool estimated;            /* somebody saw it from outside (chroprof_add_wait) */
} chroprof_task_wait;

/* What a finding is about. The JSON has these names in lower case. */
#define CHROPROF_FINDINGS(X)                                                                       \
    X(OCCUPIES)            /* one site takes much of the run */                                    \
    X(RISING)              /* a site takes more and more of the loop */                            \
    X(UNINSTRUMENTED)      /* time in which the program ran and no task was named */               \
    X(NO_IDLE)             /* the loop never says that it waits */                                 \
    X(STALL)      /* the longest callback or iteration above stall_ns */                           \
    X(DELAYS)              /* ready tasks waited, most of it for one site */                       \
    X(HANGS)               /* the loop is in a task and not back, or its program died in it */     \
    X(LEAKS)               /* futures are created, but do not finish */                            \
    X(PREEMPTED)           /* a site is on the loop without using the processor */                 \
    X(COST)                /* profiling itself takes a visible part of the time */                 \
    X(FULL)                /* a table of the block is full */                                      \
    X(ORDER)               /* unexpected sequences of calls: see chroprof_anomalies */             \
    X(FINE)                /* nothing stands out, or it is too early to say */                     \
    X(SPINS)               /* waits return at once, and little is done between them */             \
    X(QUEUES)              /* futures wait long for something outside of the loop */               \
    X(SATURATES)           /* how much more load the loop takes */                                 \
    X(STUTTERS)            /* what holds the loop for less than stall_ns, often */

typedef enum chroprof_finding_kind {
#define CHROPROF_FINDING_NAME(name) CHROPROF_FINDING_##name,
    CHROPROF_FINDINGS(CHROPROF_FINDING_NAME)
#undef CHROPROF_FINDING_NAME
    CHROPROF_FINDING_COUNT
} chroprof_finding_kind;

/* One sentence about the profile that a person can act on, with the figures it rests on. */
typedef struct chroprof_finding {
    chroprof_finding_kind kind;
    uint32_t site;             /* as chroprof_rank.id; 0: none, or uninstrumented */
    uint32_t share_ppm;        /* its share of elapsed_ns, parts per million; 0: none. RISING:
                                  of the last quarter. STALL: of that one stall */
    uint64_t value_ns;         /* the figure it rests on; 0: none */
    uint64_t at_ns;            /* profile time at which it happened or began; 0: none */
    char text[240];            /* what was found, then what to do. UTF-8 without control characters,
                                  names shortened to fit, NUL-terminated, no newline */
} chroprof_finding;

/* Which clock the sampler's timer goes by. */
typedef enum chroprof_sampler_mode {
    CHROPROF_SAMPLER_CPU,      /* the thread's CPU time: never interrupts a loop that sleeps */
    CHROPROF_SAMPLER_WALL      /* all time: sees callbacks that block, and draws live futures */
} chroprof_sampler_mode;

/* Options of chroprof_sampler_start. NULL or zeroed: the defaults. */
typedef struct chroprof_sampler_options {
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* mean period; 0: 19 ms; the least is 100 us */
    bool jitter;               /* no effect: periods are random unless steady */
    uint32_t budget_ppm;       /* the handler's share of the loop's time; 0: 10000, which is 1 % */
    int signal;                /* 0: the first real-time signal that is not handled or blocked; with
                                  CHROPROF_ITIMER SIGPROF, in WALL mode SIGALRM */
    /* Replaces the walk by frame pointers: fills in return addresses, innermost (the interrupted
     * instruction) first, and returns how many. All of them stand under the innermost task, unless
     * it also tells where they were. For that, addresses[capacity + k] is where the frame record of
     * the function of addresses[k] lies. Without a record it is another place in its frame. 1 means
     * that this function and those further out were called before all tasks; 0 means not known. A
     * last address of 0 then says that the walk reached the end of the stack. Called in the signal
     * handler, on any processor. */
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *addresses, uint32_t capacity);
    void *unwind_user;
    /* All periods are equal, with no timer call after the start: for programs whose seccomp filter
     * allows none. A loop in step with the period is then sampled wrongly, and WALL mode interrupts
     * waits. */
    bool steady;
} chroprof_sampler_options;

/* The sampler and what it cost. */
typedef struct chroprof_sampler_totals {
    bool running;
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* in force */
    uint64_t first_period_ns;  /* asked for */
    uint64_t budget_ppm;
    uint64_t ticks;            /* of the timer: periods (of first_period_ns) that it ran */
    uint64_t samples;          /* total weight = weights of all rows + dropped; in WALL mode with
                                  idle time, which needs no timer */
    uint64_t rows;
    uint64_t inside;           /* of samples, those inside the profiler */
    uint64_t lost;             /* periods without a sample: the ring was full inside an event, the
                                  stack had no room, or in CPU mode the kernel gave none in time
                                  (a blocked signal, a crowded processor) */
    uint64_t dropped;          /* weight of rows that fell out of the table */
    uint64_t cost_ns;          /* thread CPU time of the handler */
    uint64_t draws, misses;    /* in WALL mode: futures met, empty slots met */
    uint64_t interrupted;      /* waits that a sample cut short (EINTR): after idle_enter; on Linux
                                  on x86-64 and arm64 all others, too */
} chroprof_sampler_totals;

/* Whose profile it is. */
typedef struct chroprof_origin {
    uint64_t pid;              /* 0: not known */
    const char *name, *host;   /* of the profile, of the machine; "" if not known */
    uint64_t end_ns;           /* profile time of the last event */
    uint64_t end_unix_ns;      /* calendar time of it; 0: not known */
    bool mapped;               /* by chroprof_map */
    bool ended;                /* by chroprof_unmap */
    bool alive;                /* mapped, and by its process number the program still runs, or it
                                * can't be told here. chroprof_file_owner knows it in any case */
    const char *program;       /* its file without folders; "" if not known */
    bool estimated;            /* as totals.estimated */
} chroprof_origin;

/* The handle: small, transparent, owned by the caller. A zeroed one is valid: every call does
 * nothing. It holds addresses in the block, and the hooks of this process. */
typedef struct chroprof {
    struct chroprof__core *core;               /* from here to shortcuts: one cache line */
    uint32_t gate;         /* by which events come in; 0: zeroed, else a word of ours */
    uint32_t rows;         /* of the futures */
    uint32_t max_depth;    /* as resolved */
    uint32_t shortcut_mask;                    /* of bytes */
    struct chroprof__future_row *futures;
    struct chroprof__frame_row *frames;
    struct chroprof__path_row *paths;
    struct chroprof__range *ranges;            /* of the histograms */
    struct chroprof__shortcut *shortcuts;
    struct chroprof__ring_row *ring;
    struct chroprof__histograms *histograms;
    uint64_t (*clock)(void *user);
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *clock_user, *on_stall_user;
    void (*tell)(struct chroprof *p);          /* calls it for what the last event ended */
    bool percentiles, in_hook;                 /* there are histograms; on_stall is being called */
    uint16_t stalls_due;   /* that the event under way ended and on_stall is to hear of */
    bool view;             /* a block that nobody writes */
    bool sampling, sampler_ignored;            /* the sampler runs; its signal was ignored before */
    void *mapped;          /* by chroprof_map */
    size_t mapped_bytes;
    uint64_t sampler_pid;  /* the process whose timer it is */
    int sampler_signal, sampler_timer;         /* 0: none */
    void *hold;            /* by chroprof_map: what keeps its file ours */
    uint32_t idle_gate, pass_gate;             /* of idle events; of those that pass a frame on */
    /* of samples, so that a program without any links none of their code */
    void (*drain)(struct chroprof *p);         /* takes in those that wait */
    void (*follow)(struct chroprof *p, uintptr_t frame, uint64_t base);     /* after an event */
    bool asks, follows_idle;                   /* who begins a task, and what idle times are */
    uint32_t callers, caller_mask; /* bytes from the core to those who begin tasks, 0: too far */
    uint64_t (*show_id)(void *user, uint64_t id);
    void *show_id_user;
    chroprof_result refused; int refused_errno;    /* why there is no profile, chroprof_why_off */
    int poller, other_poller, other_polls;     /* by CHROPROF_EPOLL_IDLE: descriptors plus 1 */
} chroprof;

/* Takes bytes of output. Non-zero stops the writing. */
typedef int (*chroprof_writer)(void *user, const void *bytes, size_t count);
