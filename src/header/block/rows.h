/* block/rows.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>block: everything that lies in the caller's memory. Fixed-width fields, offsets and indices
 * only. */

#define CHROPROF__MAGIC UINT64_C(0x31464F5250524843)     /* "CHRPROF1" in memory, little-endian */
#define CHROPROF__LAYOUT 16u             /* one more with each change of what lies in the block */
#define CHROPROF__ALIGN 64u

/* Rows 0 to 2 of the paths and of the sites are these; users' paths begin at 3, sites at 4. */
enum {
    CHROPROF__LOOP = 0, CHROPROF__IDLE = 1, CHROPROF__UNTRACKED = 2, CHROPROF__FIRST_PATH = 3,
    CHROPROF__OTHER = 3, CHROPROF__FIRST_SITE = 4,
    CHROPROF__OWN_STRINGS = 49 /* bytes of "", "..." and the names of these four */
};

/* A live future, or an id that only has frames left (GONE). */
typedef struct chroprof__future_row {
    uint64_t id;               /* 0: the slot is empty */
    uint64_t since;            /* of the state */
    uint64_t exec;             /* slices that ended */
    uint32_t path;
    uint16_t frame;            /* the topmost frame of this id, 0: none */
    uint8_t state;             /* chroprof_state, or CHROPROF__GONE */
    uint8_t flags;
    uint64_t created;
} chroprof__future_row;

enum { CHROPROF__GONE = 255 };
enum {
    CHROPROF__REMEMBERED = 1, CHROPROF__STARTED = 2     /* ready while running; ready again */
};

/* A frame of the running stack. Number 0 is a barrier that is always there: the loop itself. */
typedef struct chroprof__frame_row {
    uint64_t id;               /* 0: an enter-frame or a barrier */
    uint64_t pushed;
    uint64_t start;            /* moved on by what was on top of it: t - start = the slice */
    uint64_t excluded;         /* of a parted frame: time that is not of its callback */
    uint64_t carried;          /* of an orphan: exec of its future when it lost its record */
    uint32_t path;
    uint32_t depth;            /* its number */
    uint32_t slot;             /* words up to its id's slot; of a barrier: the one below it */
    uint16_t same;             /* the next deeper frame of the same id, 0: none */
    uint16_t spare;
    uint32_t event;            /* seq when it was pushed, modulo 2^32 */
    uint32_t kind;
} chroprof__frame_row;

enum {
    CHROPROF__FUTURE_FRAME = 1, CHROPROF__ENTER_FRAME = 2, CHROPROF__BARRIER = 4,
    CHROPROF__ORPHAN = 8,      /* its future has finished or was abandoned */
    CHROPROF__NEWEST = 16,     /* the topmost orphan frame of its future */
    CHROPROF__OLDEST = 32,     /* the deepest one */
    CHROPROF__UNKNOWN = 64,    /* of an id that was never known: its time is untracked */
    CHROPROF__PARTED = 128,    /* a base frame: time was left out of its callback */
    CHROPROF__AGED = 256,      /* what lies below it was last billed in an earlier window */
    CHROPROF__TENDED = 512     /* of a future that has deeper frames, or became ready meanwhile */
};

/* What a path took of a callback or an iteration that is added up from the ring. */
typedef struct chroprof__sum {
    uint64_t exec, slices, slice_max;
} chroprof__sum;
#define CHROPROF__UNKNOWN_SLICES UINT64_MAX     /* some ran deeper than a tally knows */

enum { CHROPROF__OF_ITERATION, CHROPROF__OF_CALLBACK };

/* Most sites on a path: what walks along one takes so many steps. */
enum { CHROPROF__CHAIN = 512 };

/* A node of the performance tree. The first line is what most events touch. */
typedef struct chroprof__path_row {
    uint64_t exec;
    uint64_t entered;          /* calls of enter-frames that ended: slices, and completed */
    uint64_t blame;
    uint64_t activations;      /* slices of futures that ended, each from its push to its pop */
    uint64_t slice_max;
    uint64_t exec_max;         /* of a future; of an enter-frame the slice is all */
    uint64_t lifetime;         /* + live * now */
    uint32_t counts;           /* words from the core up to its site's; UINT64_MAX there: none */
    uint32_t window;           /* tag of the window that exec - mark belongs to */
    /* second line: the life of futures; lifetime and delay are kept as sums of ends minus
     * beginnings */
    uint64_t delay;            /* + ready * now */
    uint32_t live;             /* futures */
    uint32_t ready;            /* futures ready just now */
    uint64_t completed, failed, cancelled, abandoned;
    uint64_t found, hidden;    /* what polls brought, and the most that it can have waited before */
    /* third line: the tree */
    uint32_t site;
    uint32_t parent;
    uint32_t next;             /* preorder successor, 0: the end */
    uint32_t same_site;        /* next path of the same site, 0: the end */
    uint32_t generation;       /* distance from the root, at most CHROPROF__CHAIN */
    uint32_t sum_next[2];      /* next path of the tally, 0: the end */
    uint32_t histogram;        /* row of its site's, 0: none */
    uint64_t stillborn;
    uint64_t delay_max;
    uint64_t merged_live;      /* live in the profiles that were merged in */
    uint64_t dropped;          /* gave up their record to a full table */
    /* fourth line */
    chroprof__sum sum[2];
    uint32_t tally[2];         /* that the sums belong to, 0: none */
    uint64_t mark;             /* exec that the windows already hold */
} chroprof__path_row;

typedef struct chroprof__site_entry {
    uint64_t handle[3];        /* a chroprof_site of this process, for chroprof_site_make */
    uint64_t hash;             /* of the full content */
    uint32_t name, file;       /* offsets in the strings */
    uint32_t line;
    uint32_t first_path;
    uint32_t next;             /* in its bucket by content */
    uint32_t next_file;        /* in its bucket by file; only the first site of a file is in one */
    uint8_t cut;               /* a string did not fit */
    uint8_t blurred;           /* by a merge: some of its slices are in no histogram */
    uint16_t spare;
    uint32_t slow;             /* its group of slow futures + 1, 0: none */
    uint64_t slow_limit;       /* a future is looked at from this lifetime on */
} chroprof__site_entry;

/* Where a chroprof_site of this process leads from a path: what its content and the edges say,
 * remembered by its address. */
typedef struct chroprof__shortcut {
    uint64_t address, content; /* 0: the place is empty; its address is none that a site has */
    uint32_t window;           /* in which the target is, as far as is known here */
    uint32_t path;
    uint32_t target;
    uint32_t caller;           /* bytes from the core to the callers of the target */
} chroprof__shortcut;
enum { CHROPROF__NOWHERE = 1 };

/* (path, site) -> path: a creation or a fold that was seen before. */
typedef struct chroprof__edge {
    uint32_t path, site;       /* site 0: empty */
    uint32_t target;
    uint32_t reserved;
} chroprof__edge;

/* Log-linear: each power-of-two range, range for short, has 8 buckets (Gil Tene's HdrHistogram,
 * with 3 bits), so the middle of a bucket is within 1/16 of all it holds. A range has a row once
 * something falls into it. */
enum { CHROPROF__BUCKETS = 40 * 8 + 8 + 1, CHROPROF__RANGES = 42 };
enum { CHROPROF__OF_NOBODY = 0, CHROPROF__OF_SITES = 1 };
typedef struct chroprof__histogram {
    uint64_t min;              /* the maximum is kept with the figures it belongs to */
    uint16_t range[CHROPROF__RANGES + 2];      /* row of each, 0: it is empty */
} chroprof__histogram;

typedef struct chroprof__range {
    uint64_t count[8];
} chroprof__range;

/* Of a site: its slices, its delays, and the latency of its futures. Row 0 takes what is of sites
 * without one, so that nobody has to ask. */
typedef struct chroprof__histograms {
    chroprof__histogram slice;
    chroprof__histogram delay;
    chroprof__histogram latency;
    uint64_t latency_max;
    uint64_t missed;           /* slices that ended before the site had these */
    uint32_t path;             /* the site's, by whose exec it has them; 0: nobody's */
    uint32_t life;             /* how often they were given up */
} chroprof__histograms;

/* Of a site: its slices by bucket, as far as they are not in the ranges, and the shortest. */
typedef struct chroprof__slices {
    uint64_t min;
    uint16_t few[CHROPROF__RANGES * 8];
} chroprof__slices;

/* What a site took of a stall. */
typedef struct chroprof__stall_part {
    uint64_t exec, slices, slice_max;
    uint32_t site, spare;
} chroprof__stall_part;

/* Adds up what paths took of a stretch of the ring, row by row, in order. */
enum { CHROPROF__TALLY_DEPTHS = 20 };
typedef struct chroprof__tally {
    uint64_t next;             /* event whose row is next */
    uint64_t time;             /* of the event before it */
    uint32_t which;            /* CHROPROF__OF_ITERATION or CHROPROF__OF_CALLBACK */
    uint32_t first_path;       /* that has a sum, 0: none but loop */
    uint32_t base;             /* depth below it */
    uint32_t fence;           /* depth above which a nested loop runs, which is not of a callback */
    uint32_t number;           /* that its sums are marked with, not 0 */
    uint32_t spare;
    uint64_t slice[CHROPROF__TALLY_DEPTHS];    /* under way, by depth; no deeper ones */
    uint32_t path[CHROPROF__TALLY_DEPTHS];     /* whose slices these are, 0: none */
} chroprof__tally;

/* One event, as it happened. It is written before the event changes anything else. */
typedef struct chroprof__ring_row {
    uint64_t time;
    uint64_t id;
    uint32_t path;             /* that the interval up to it was billed to */
    uint16_t depth;            /* of the stack before it */
    uint8_t state;             /* CHROPROF__PUSHED_NONE may stand in it; UINT8_MAX: none that is */
    uint8_t spare;             /* of a stall's: path is how many before it are left out */
} chroprof__ring_row;

/* In the state of a row: the event says that something runs, but no frame was put on the stack. */
enum { CHROPROF__PUSHED_NONE = 0x80 };

/* Samples inside one callback or iteration. */
typedef struct chroprof__hits {
    uint32_t owner;        /* which one: the event of its base frame, or that began the iteration */
    uint32_t count;
    uint32_t stack[CHROPROF_STALL_SAMPLES];
    uint32_t weight[CHROPROF_STALL_SAMPLES];
    uint32_t over[CHROPROF_STALL_SAMPLES];      /* of the weight: what may be of other stacks */
    uint64_t cpu[CHROPROF_STALL_SAMPLES];
    uint64_t sampled, cpu_ns, waiting_ns;
} chroprof__hits;

typedef struct chroprof__stall_row {
    uint64_t serial;           /* from 1; 0: the row is empty */
    uint64_t start, length;
    uint64_t events;
    uint32_t kind;
    uint32_t share_count;
    chroprof__stall_part shares[CHROPROF_STALL_SHARES];
    chroprof__hits hits;
} chroprof__stall_row;

/* The steps of a stall. Row 0 has the first ones of the iteration under way if the ring lost them;
 * its serial is the event that began that iteration. */
enum {
    CHROPROF__STEPS_BEFORE = 8,
    CHROPROF__FIRST_STEPS = 32,
    CHROPROF__LAST_STEPS = 16,
    CHROPROF__STEPS_ASKED = 8192            /* among so many are the longest ones searched */
};
typedef struct chroprof__incident_row {
    uint64_t serial, length;   /* of the stall; serial 0: the row is empty */
    uint64_t left_out;         /* steps between those that are kept */
    uint32_t count, first;     /* first: those before the first ones that are left out */
    chroprof__ring_row steps[CHROPROF_INCIDENT_STEPS];
} chroprof__incident_row;

/* A future that finished, and where its lifetime went; what is in no part it waited. */
typedef struct chroprof__slow_part {
    uint64_t delay;
    uint32_t site, spare;
} chroprof__slow_part;

typedef struct chroprof__slow_entry {
    uint64_t id;
    uint64_t at, latency;
    uint64_t exec, children, delay, unseen;
    uint32_t path;
    uint32_t state;            /* the finish */
    chroprof__slow_part blames[CHROPROF_SLOW_BLAMES];    /* the largest first; 0: none */
} chroprof__slow_entry;

/* The slowest futures of a site. The first half is of the run, the rest of the last minutes,
 * because it goes when it is old. */
enum { CHROPROF__SLOW_OF_RUN = 4, CHROPROF__SLOW_ROWS = 8 };
typedef struct chroprof__slow_group {
    uint32_t site;
    uint32_t count;
    chroprof__slow_entry rows[CHROPROF__SLOW_ROWS];
} chroprof__slow_group;

enum { CHROPROF__NESTED_LOOPS = 4, CHROPROF__NAME_BYTES = 64, CHROPROF__FEWEST_EVENTS = 64 };

/* Waits of one site inside its tasks, by one call. Count 0: the row is free. */
enum {
    CHROPROF__AWAKE_BYTES = 96, CHROPROF__WAITED = 8, CHROPROF__CALL_BYTES = 16,
    CHROPROF__WITHIN_BYTES = 48
};
typedef struct chroprof__waited_row {
    uint64_t count, ticks, longest;
    uint32_t site, estimated;
    char call[CHROPROF__CALL_BYTES];
    char within[CHROPROF__WITHIN_BYTES];   /* the function that calls it; "": not known */
} chroprof__waited_row;

/* Who held the loop, for one kind of finding. Empty code: nobody knows. */
enum { CHROPROF__HELD = 3, CHROPROF__CODE_BYTES = 64 };
typedef struct chroprof__held_row {
    uint64_t at_ns;
    uint32_t ppm, spare;
    char code[CHROPROF__CODE_BYTES];
} chroprof__held_row;

/* Tables beyond those that are public. */
enum {
    CHROPROF__SHORTCUTS = CHROPROF_TABLE_COUNT,
    CHROPROF__HEADS,           /* buckets of the sites: by content, then by file */
    CHROPROF__RANGE_TABLE,     /* of the histograms */
    CHROPROF__COUNTS,
    CHROPROF__PLACES,          /* of the anomalies, as kinds come */
    CHROPROF__MODULES,         /* these three, and the stacks, are there if there are samples */
    CHROPROF__WALLS,
    CHROPROF__SAMPLER,
    CHROPROF__ALL_TABLES
};

typedef struct chroprof__sample_span {
    uint64_t time, duration;
    uint64_t weight;
    uint64_t cpu_ns;
    uint32_t stack;            /* node, 0: none */
    uint32_t state;            /* chroprof_sample_state */
} chroprof__sample_span;

/* What a node of the stacks and an entry of the ring hold: a kind above 56 bits of value. */
enum { CHROPROF__PC, CHROPROF__RETURN, CHROPROF__TASK, CHROPROF__MARK };
enum {
    CHROPROF__MARK_INSIDE = 1, CHROPROF__MARK_CUT, CHROPROF__MARK_STACK, CHROPROF__MARK_DEEP,
    CHROPROF__MARK_IDLE, CHROPROF__MARK_LOOP, CHROPROF__MARK_FULL, CHROPROF__MARKS
};

/* A node of the tree of sampled stacks. Number 0 is the stack that has no frames. Below a frame a
 * MARK_FULL stands for stacks that went on, and had to give way to others. */
typedef struct chroprof__node {
    uint64_t item;
    uint64_t weight, cpu_ns;   /* of the samples that end here */
    uint32_t parent;           /* a lower number */
    uint32_t next;             /* in its bucket */
    uint32_t head;             /* of the bucket of this number */
    uint32_t heir;             /* while room is made */
} chroprof__node;

enum { CHROPROF__MODULE_PATH = 184, CHROPROF__BUILD_ID = 48 };
enum { CHROPROF__MOST_MODULES = 64 };  /* the sampler has a bit for each */

typedef struct chroprof__module_row {
    uint64_t low, high;        /* addresses */
    uint64_t base;             /* load bias */
    char build_id[CHROPROF__BUILD_ID];
    char path[CHROPROF__MODULE_PATH];
} chroprof__module_row;

/* What the sampler saw of a path: weight and ticks of its futures that were met running, ready,
 * paused; samples in its slices and their CPU time. */
typedef struct chroprof__wall_row {
    uint64_t weight[3];
    uint64_t ticks[3];
    uint64_t samples, cpu_ns;
} chroprof__wall_row;

/* Whom a frame of the running stack was begun by: three native frames, as hashes. */
typedef struct chroprof__note {
    uint32_t event;            /* of the frame, so that an old note is not taken for its */
    uint32_t keys[3];
} chroprof__note;

/* Whom a path was begun by last: most begin at one place, and then two words of the stack
 * say so. Frames that were pushed since then have this note. */
typedef struct chroprof__caller {
    uint64_t base;             /* the stack pointer; 0: nobody is known again by this */
    uint64_t at[2], product;   /* where return addresses stood, or one; what they were */
    uint64_t since;            /* profile time */
    uint32_t path;             /* 0: none */
    uint32_t keys[3];
    uint64_t one;
} chroprof__caller;

/* What an event without a stack pointer to compare says to chroprof__follow_event. */
enum { CHROPROF__BEGINS_SLOWLY, CHROPROF__BEGINS_NONE };

/* A sample that waits for the next event. */
enum { CHROPROF__ITEMS = 56, CHROPROF__NOTED_TASKS = 16, CHROPROF__DRAWS = 8 };
enum { CHROPROF__STRETCH = 2048 };         /* slots that a sample looks at for a draw */
typedef struct chroprof__entry {
    uint64_t stamp;            /* of the clock; 0: not known */
    uint64_t last;             /* of the last signal that this one stands for */
    uint64_t weight;
    uint64_t cpu_ns;
    uint64_t wall_ns;          /* since the signal before; 0: since the sample before */
    uint64_t draws;            /* signals that ask for a draw of futures */
    uint32_t count;
    uint32_t state;
    uint64_t reserved;
    uint64_t items[CHROPROF__ITEMS];       /* the innermost first */
} chroprof__entry;

/* A callback or iteration that began while the sampler ran: the thread's CPU time then. */
typedef struct chroprof__begun {
    uint64_t event, cpu_ns;    /* modulo 2^32 */
} chroprof__begun;

#define CHROPROF__NO_ITERATION (UINT64_C(1) << 62)

enum { CHROPROF__HITS = 5 };   /* of the callbacks of LEVELS nested loops and of the iteration */

/* The sampler's state. The notes follow it, then the callers, then the ring of entries. */
typedef struct chroprof__sampler {
    /* changed by the loop's own calls */
    struct {
        uint64_t samples, inside, dropped;
        uint64_t dropped_cpu_ns;
        uint64_t head;             /* row of the next sample */
        uint64_t latest;           /* end of the newest row */
    } rows;
    struct {
        uint64_t draws, misses;
        uint64_t random;
    } draw;
    struct {
        uint64_t loads, unloads;   /* of modules, when they were last looked at */
        uint64_t loaded;           /* a bit for each row of the modules that is in memory */
        uint64_t possible;         /* those that addresses of samples being taken in may be of */
        uint64_t added;            /* those that somebody named, and no survey finds */
    } modules;
    struct {
        uint64_t cursor;           /* slot of the next draw */
        uint64_t seq, at;          /* after which event the last one was, and when */
    } drawn;
    uint64_t first_event;      /* of the run of the timer */
    struct {
        uint64_t at;               /* profile time from which the next event reads the CPU clock */
        uint64_t due;              /* the event under way does */
        uint64_t last;             /* when it was read last; UINT64_MAX: never */
        uint64_t cpu_ns, cpu_busy; /* CPU time then, and time that was not idle */
    } look;
    uint64_t noting;           /* who begins the top frame is about to be noted */
    struct {
        uint64_t resting;          /* the wait under way is known */
        uint64_t start;            /* when it began */
        uint64_t idle_from, idle_ns; /* idle that was sampled; not yet */
        uint64_t most;             /* ns of the longest wait of late */
    } wait;
    uint64_t renumberings;     /* how often stacks were renumbered, twice; odd while they are */
    uint64_t patience;         /* frames that are turned away before room is looked for again */
    uint64_t taken;            /* entries that were drained */
    struct {
        uint64_t low, high;        /* the thread's stack */
        uint64_t fiber_low, fiber_high;
    } stack;
    /* changed by the handler, and by events that give up overdue samples */
    struct {
        uint64_t put;              /* entries that were made */
        uint64_t ticks, lost, cost_ns;
        uint64_t cpu, stamp;       /* at the end of the signal before */
        uint64_t deadline;         /* of the next one, on the clock that the mode goes by */
        uint64_t stopped;          /* the timer, until the loop has slept */
        uint64_t interrupted;
        uint64_t pending;          /* steady: periods of which no sample was taken yet */
        uint64_t window_weight, window_cost; /* since the budget was last looked at */
        uint64_t period_ns;
    } handler;
    /* settings */
    struct {
        uint64_t first_period_ns, budget_ppm, mode, steady;
    } set;
    struct {
        uint64_t armed;            /* the value of the timer's signal; 0: there is none */
        uint64_t pid, number, running;
    } timer;
    struct {
        uint64_t vain, patient;    /* looks for the module of an address, one after the other, that
                                      found none; addresses until the next look */
    } search;
    struct {
        uint64_t walk, user;       /* of this process */
    } unwind;
    chroprof__begun begun[CHROPROF__HITS];
    chroprof__hits hits[CHROPROF__HITS];
} chroprof__sampler;

typedef struct chroprof__table_row {
    uint64_t offset;           /* from the core */
    uint64_t bytes;
    uint64_t used, peak;
    uint64_t dropped;
    uint64_t wanted;           /* depth: most hidden frames; strings: bytes cut off; sites, paths,
                                  edges: a bitmap of what was dropped, to tell how many differed */
    uint32_t capacity;         /* what the option says */
    uint32_t rows;             /* what that takes */
} chroprof__table_row;

/* Where an anomaly was met. */
typedef struct chroprof__met {
    uint64_t at;               /* profile time */
    uint64_t id;               /* 0: none */
    uint32_t path;             /* of the future or call that it is about; 0: not known */
    uint32_t top;              /* on top of the stack when the event came */
} chroprof__met;

typedef struct chroprof__places {
    chroprof__met first, last;
} chroprof__places;

enum { CHROPROF__KINDS = 24 };

/* Clocks that are the same in all programs of a machine. */
enum {
    CHROPROF__CLOCK_OWN, CHROPROF__CLOCK_MONOTONIC, CHROPROF__CLOCK_TSC, CHROPROF__CLOCK_CNTVCT
};
#ifdef __x86_64__
#define CHROPROF__CLOCK_COUNTER CHROPROF__CLOCK_TSC
#else
#define CHROPROF__CLOCK_COUNTER CHROPROF__CLOCK_CNTVCT
#endif
