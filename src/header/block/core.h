/* block/core.h: the start of the block, and the way to its rows */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../block/rows.h"

/* What lies right before the core, for its program alone: no reader of the block looks here. In a
 * profile of chroprof_map this is a page that the system wipes in a forked child. */
typedef struct chroprof__front {
    uint64_t row_limit;        /* from this next_row on the slow path is taken; 0: wiped */
    uint64_t thread, looked;   /* who sent the event that was looked at last, and its seq; or 0 */
    uint64_t watch;            /* seq at which the last watch of the threads began, or 0 */
    uint64_t spare[4];
} chroprof__front;

enum { CHROPROF__MOST_SKIPPED = 127 };     /* bytes of the block before the core */

/* The start of the block. What stands alone in it is of the hot path, whose first cache line begins
 * at seq, or one fact of the whole profile; what belongs together is a struct. */
typedef struct chroprof__core {
    /* what it is */
    struct {
        uint64_t magic;
        uint32_t layout;
        uint32_t order;            /* 0x01020304 as the writer has it */
        uint64_t block_bytes;
        uint32_t core_bytes;
        uint32_t pointer_bytes;
    } form;
    struct {
        uint64_t pid, boot_ns;     /* calendar time of the monotonic clock's 0 */
        uint64_t start_unix_ns;    /* calendar time of profile time 0 */
        uint64_t start_clock;
    } process;
    /* what every event touches */
    uint64_t seq;              /* twice the number of events; inside one it is odd */
    uint64_t epoch;            /* clock - epoch = profile time */
    uint64_t last;             /* profile time of the last event = elapsed */
    uint64_t time_limit;       /* at or beyond it the slow path is taken */
    uint64_t ready;            /* futures ready just now */
    uint64_t next_row;         /* where the next event's row of the ring lies, from here */
    uint32_t window;           /* tag: level << 16 | index */
    uint32_t account;          /* path on top, or loop, idle, untracked */
    uint32_t depth;
    uint32_t barrier;          /* the innermost barrier, 0: none */
    /* what most touch */
    struct {
        uint64_t limit;            /* a longer callback is the longest, or a stall */
        uint64_t min;     /* a shorter one is the shortest; UINT64_MAX without percentiles */
    } callback;
    struct {
        uint64_t slice;   /* the count that the last slice goes to, in 16 bits from the core */
        uint32_t callback, iteration; /* of these, in 64 bits from the ranges */
    } deferred;
    struct {
        uint64_t start;            /* NO_ITERATION: none began */
        uint64_t limit;            /* as callback.limit */
        uint64_t min;              /* as callback.min */
        uint64_t idle_limit;       /* of idle_leave, what time_limit is of other events */
        uint64_t event;            /* the number of the event that began the one under way */
        uint64_t hidden;           /* time since the poll before, if this one did not wait */
    } iteration;
    struct {
        uint64_t counts;           /* UINT64_MAX: counts of paths that have none */
        uint64_t count;            /* what is deferred for nobody */
    } nobody;
    struct {
        uint64_t callbacks, iterations; /* those that are in no histogram */
        uint64_t slow_due;         /* profile time from which old slow futures are looked for */
        uint64_t iteration_active;
        uint64_t iteration_callback; /* its longest callback that was a stall, 0: none */
        uint64_t iteration_callback_serial; /* that stall */
        uint64_t callback_max, iteration_max;
        uint64_t stalls;
        uint64_t at_once, at_once_ticks; /* waits shorter than the limit, and their time */
        uint64_t at_once_limit;
        uint64_t cpu_clock_ns;     /* CPU time of the loop's thread, by its clock; 0: not known */
    } loop;
    /* start and exit */
    struct {
        uint32_t begun, exits;     /* an idle has ended, once; the loop is over */
        uint64_t start_ticks, exit_ticks; /* parts of the loop's own time */
    } phase;
    /* rare */
    uint32_t barriers;         /* barriers on the stack */
    uint32_t hidden;           /* frames beyond max_depth */
    uint32_t ring_mask;        /* 2 x (rows of the ring - 1): seq counts each event twice */
    uint32_t estimated;        /* the figures are */
    uint64_t hidden_since;     /* profile time at which the first of the hidden frames came */
    struct {
        uint64_t first;            /* number of the first event that the ring may tell of */
        uint64_t begin;            /* profile time at which its interval began */
        uint64_t barrier;          /* the innermost barrier then */
    } ring;
    uint64_t seq_base;         /* seq at the last reset */
    uint64_t edits;            /* odd while something is changed outside an event */
    struct {
        uint64_t window_phase;     /* of a difference: ticks of window 0 that lie before time 0 */
        uint64_t merged_events;    /* of the profiles that were merged in */
    } made;
    uint64_t stall_ticks;      /* set.stall_ns in ticks */
    struct {
        uint64_t end, ticks;       /* the current width */
    } windows;
    uint64_t aged_at;          /* profile time of the last chroprof__age */
    uint64_t max_step_ticks;   /* set.max_step_ns in ticks */
    uint32_t clock;            /* where a reader can read it, CHROPROF__CLOCK_ */
    uint32_t foreign;          /* addresses of other processes were merged in */
    uint64_t started;          /* the epoch is known */
    uint32_t ever_dropped;     /* a future did not fit, once */
    uint32_t slow_looked;      /* rows of the ring that were looked at for slow futures */
    uint64_t enabled;
    uint64_t resetting;        /* the edit under way is a reset: the calendar time of it; or 0 */
    /* time */
    struct {
        uint64_t factor;           /* ns a tick, 32 bits of fraction */
        uint64_t calibrated;
        uint64_t calibrate_at;     /* profile time */
        uint64_t calibrate_counter, calibrate_ns;
        uint64_t error_ppb;
        uint64_t manual;
    } time;
    struct {
        uint64_t window_ns, stall_ns, max_step_ns;
    } set;
    /* who */
    struct {
        char name[CHROPROF__NAME_BYTES];
        char host[CHROPROF__NAME_BYTES];
        char program[CHROPROF__NAME_BYTES];
    } who;
    struct {
        char awake[CHROPROF__AWAKE_BYTES]; /* what makes waits return at once; "": not known */
        chroprof__waited_row waited[CHROPROF__WAITED]; /* waits inside tasks */
        chroprof__held_row held[CHROPROF__HELD]; /* of OCCUPIES, STALL, HANGS */
    } told;
    /* of a mapped file */
    struct {
        uint64_t owner_start;      /* when its process began, 0: not known */
        uint64_t in_file;          /* by chroprof_map; 2: its owner holds the lock */
        uint64_t ended;            /* it was unmapped */
    } file;
    /* of a copy */
    struct {
        uint64_t skew_ticks, skew_events; /* that went on meanwhile */
        uint64_t torn_ticks, torn_events; /* of the event that was cut short */
        uint64_t living;           /* the program lived, and time goes to when it was made */
    } copy;
    struct {
        chroprof__histogram callback, iteration; /* min: of the groups of that name */
    } lengths;
    struct {
        uint64_t counts[CHROPROF__KINDS];
        uint8_t placed[CHROPROF__KINDS]; /* 1 + the row of a kind's places; 0: none */
    } anomalies;
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    struct {
        chroprof__tally tally;     /* of the iteration, once the ring can't hold all of it */
        uint64_t tallies;          /* how many there were: each has a number */
        chroprof__stall_row due[2]; /* the last callback, and the iteration, that an event ended as
                                     * stalls */
    } stall;
} chroprof__core;

/* Where the first table begins: the ranges', so that counts of callbacks and iterations lie at
 * fixed distances from the core. */
#define CHROPROF__LINES(bytes) \
    (((bytes) + CHROPROF__ALIGN - 1) / CHROPROF__ALIGN * CHROPROF__ALIGN)
#define CHROPROF__CORE_BYTES CHROPROF__LINES(sizeof(chroprof__core))

#define CHROPROF__STATIC_ASSERT(name, condition) \
    typedef char chroprof__assert_##name[(condition) ? 1 : -1] CHROPROF__UNUSED
CHROPROF__STATIC_ASSERT(front, sizeof(chroprof__front) + CHROPROF__ALIGN - 1 ==
                               CHROPROF__MOST_SKIPPED);
CHROPROF__STATIC_ASSERT(future, sizeof(chroprof__future_row) == 40);
CHROPROF__STATIC_ASSERT(frame, sizeof(chroprof__frame_row) == 64);
CHROPROF__STATIC_ASSERT(path, sizeof(chroprof__path_row) == 4 * CHROPROF__ALIGN);
CHROPROF__STATIC_ASSERT(path_line, offsetof(chroprof__path_row, delay) == 64);
CHROPROF__STATIC_ASSERT(path_tree, offsetof(chroprof__path_row, site) == 128);
CHROPROF__STATIC_ASSERT(site, sizeof(chroprof__site_entry) == 72);
CHROPROF__STATIC_ASSERT(shortcut, sizeof(chroprof__shortcut) == 32);
CHROPROF__STATIC_ASSERT(ring_row, sizeof(chroprof__ring_row) == 24);
CHROPROF__STATIC_ASSERT(row_depth, offsetof(chroprof__ring_row, depth) ==
                                   offsetof(chroprof__ring_row, path) + 4);
CHROPROF__STATIC_ASSERT(core_depth, offsetof(chroprof__core, depth) ==
                                    offsetof(chroprof__core, account) + 4);
CHROPROF__STATIC_ASSERT(edge, sizeof(chroprof__edge) == 16);
CHROPROF__STATIC_ASSERT(histograms, sizeof(chroprof__histograms) == 3 * 96 + 24);
CHROPROF__STATIC_ASSERT(counts, sizeof(chroprof__slices) == 680);
CHROPROF__STATIC_ASSERT(ranges, CHROPROF__BUCKETS <= 8 * CHROPROF__RANGES);
CHROPROF__STATIC_ASSERT(hits, sizeof(chroprof__hits) == 32 + 20 * CHROPROF_STALL_SAMPLES);
CHROPROF__STATIC_ASSERT(stall, sizeof(chroprof__stall_row) ==
                               40 + 32 * CHROPROF_STALL_SHARES + sizeof(chroprof__hits));
CHROPROF__STATIC_ASSERT(slow_group, sizeof(chroprof__slow_group) == 904);
CHROPROF__STATIC_ASSERT(incident, sizeof(chroprof__incident_row) ==
                                  32 + 24 * CHROPROF_INCIDENT_STEPS);
CHROPROF__STATIC_ASSERT(sample, sizeof(chroprof__sample_span) == 40);
CHROPROF__STATIC_ASSERT(node, sizeof(chroprof__node) == 40);
CHROPROF__STATIC_ASSERT(module, sizeof(chroprof__module_row) == 256);
CHROPROF__STATIC_ASSERT(wall, sizeof(chroprof__wall_row) == 64);
CHROPROF__STATIC_ASSERT(note, sizeof(chroprof__note) == 16);
CHROPROF__STATIC_ASSERT(caller, sizeof(chroprof__caller) == 64);
CHROPROF__STATIC_ASSERT(entry, sizeof(chroprof__entry) == 64 + 8 * CHROPROF__ITEMS);
CHROPROF__STATIC_ASSERT(sampler, sizeof(chroprof__sampler) == 61 * 8 + 16 * CHROPROF__HITS +
                                 sizeof(chroprof__hits) * CHROPROF__HITS);
CHROPROF__STATIC_ASSERT(hot_line, offsetof(chroprof__core, seq) == 64);
CHROPROF__STATIC_ASSERT(warm_line, offsetof(chroprof__core, callback.limit) == 128);
CHROPROF__STATIC_ASSERT(core, sizeof(chroprof__core) % 8 == 0);
CHROPROF__STATIC_ASSERT(places, sizeof(chroprof__places) == 48);
CHROPROF__STATIC_ASSERT(anomalies, CHROPROF_ANOMALY_COUNT <= (int)CHROPROF__KINDS);
CHROPROF__STATIC_ASSERT(handle, sizeof(chroprof_site) <= 24);

/* Of a profile that takes events: copies have nothing before their core. */
CHROPROF__INLINE chroprof__front *chroprof__front_of(chroprof__core *c)
{
    return (chroprof__front *)(void *)c - 1;
}

CHROPROF__INLINE void *chroprof__rows(const chroprof__core *c, uint32_t table)
{
    return (char *)(uintptr_t)c + c->tables[table].offset;
}

/* What gives the rows of a table. */
#define CHROPROF__ROWS_OF(name, type, table)                                                       \
    CHROPROF__INLINE type *name(const chroprof__core *c)                                           \
    {                                                                                              \
        return (type *)chroprof__rows(c, table);                                                   \
    }
CHROPROF__ROWS_OF(chroprof__sites, chroprof__site_entry, CHROPROF_TABLE_SITES)
CHROPROF__ROWS_OF(chroprof__edges, chroprof__edge, CHROPROF_TABLE_EDGES)
CHROPROF__ROWS_OF(chroprof__frame_rows, chroprof__frame_row, CHROPROF_TABLE_DEPTH)
CHROPROF__ROWS_OF(chroprof__histogram_rows, chroprof__histograms, CHROPROF_TABLE_HISTOGRAMS)
CHROPROF__ROWS_OF(chroprof__range_rows, chroprof__range, CHROPROF__RANGE_TABLE)
CHROPROF__ROWS_OF(chroprof__stall_rows, chroprof__stall_row, CHROPROF_TABLE_STALLS)
CHROPROF__ROWS_OF(chroprof__slow_groups, chroprof__slow_group, CHROPROF_TABLE_SLOW)
CHROPROF__ROWS_OF(chroprof__incidents, chroprof__incident_row, CHROPROF_TABLE_INCIDENTS)
CHROPROF__ROWS_OF(chroprof__sample_rows, chroprof__sample_span, CHROPROF_TABLE_SAMPLES)
CHROPROF__ROWS_OF(chroprof__nodes, chroprof__node, CHROPROF_TABLE_STACKS)
CHROPROF__ROWS_OF(chroprof__module_rows, chroprof__module_row, CHROPROF__MODULES)
CHROPROF__ROWS_OF(chroprof__wall_rows, chroprof__wall_row, CHROPROF__WALLS)
CHROPROF__ROWS_OF(chroprof__heads, uint32_t, CHROPROF__HEADS)
#undef CHROPROF__ROWS_OF

/* NULL: there are no samples. */
CHROPROF__INLINE chroprof__sampler *chroprof__sampler_of(const chroprof__core *c)
{
    return c->tables[CHROPROF__SAMPLER].rows
        ? (chroprof__sampler *)chroprof__rows(c, CHROPROF__SAMPLER) : NULL;
}

CHROPROF__INLINE const char *chroprof__string(const chroprof__core *c, uint32_t offset)
{
    return (const char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + offset;
}

/* The gate by which events come in, and the check word of a handle: each call compares it with what
 * it needs, so what was never set is told from a handle before anything in it is believed, and at
 * no cost. The side gate is for a clock that is a function, for the sampler, and for on_stall,
 * inside which events are counted. The open one is an operand of a compare on processors with
 * few. */
enum {
    CHROPROF__OPEN_GATE = 0xA5C000,
    CHROPROF__SIDE_GATE,
    CHROPROF__NO_GATE,         /* off, or a view, or the forked child of a mapped one */
    CHROPROF__GATES_END,
    CHROPROF__IDLE_GATES = 16, /* more: of idle events; of those that pass a frame on */
    CHROPROF__PASS_GATES = 32
};

/* Was it set, to whatever? */
CHROPROF__INLINE bool chroprof__is_set(const chroprof *p)
{
    return p && p->gate >= CHROPROF__OPEN_GATE && p->gate < CHROPROF__GATES_END;
}

/* Does a forked child have it, of a mapped profile? Its front is wiped. */
CHROPROF__INLINE bool chroprof__is_wiped(const chroprof *p)
{
    return p->mapped && chroprof__front_of(p->core)->row_limit == 0;
}

/* Is there a block, for reading? */
CHROPROF__NOINLINE bool chroprof__can_read(const chroprof *p)
{
    return chroprof__is_set(p) && p->core && !chroprof__is_wiped(p);
}

/* Are events taken, by either gate? */
CHROPROF__INLINE bool chroprof__is_taking(const chroprof *p)
{
    return p->gate == CHROPROF__OPEN_GATE || (p->gate == CHROPROF__SIDE_GATE && !p->in_hook);
}

/* While the sampler runs it asks who begins a task, and in WALL mode it follows the idle times. */
CHROPROF__COLD void chroprof__set_taking(chroprof *p, bool taking)
{
    bool knows = CHROPROF__KNOWS_CALLERS && p->callers != 0;
    bool quick = CHROPROF__HAS_COUNTER && !p->clock && (!p->sampling || knows);
    bool wall = p->sampling && p->follows_idle;
    p->gate = CHROPROF__NO_GATE;
    if (taking && quick)
        p->gate = CHROPROF__OPEN_GATE;
    else if (taking || p->in_hook)
        p->gate = CHROPROF__SIDE_GATE;
    bool open = p->gate == CHROPROF__OPEN_GATE;
    p->idle_gate = CHROPROF__IDLE_GATES + p->gate + (open && wall);     /* side is next to open */
    p->pass_gate = CHROPROF__PASS_GATES + p->gate + (open && p->sampling);
    p->asks = open && p->sampling;
}

static uint64_t chroprof__aligned(uint64_t bytes)
{
    return CHROPROF__LINES(bytes);
}

static uint64_t chroprof__note_bytes(uint64_t depth)
{
    return chroprof__aligned((depth + 1) * sizeof(chroprof__note));
}

/* Rows of callers: a power of two, so that a path's is found by its number. */
static uint64_t chroprof__caller_rows_of(uint64_t paths)
{
    uint64_t rows = 8;
    while (rows < 64 && 4 * rows < paths)
        rows *= 2;
    return rows;
}

static uint64_t chroprof__caller_bytes(const chroprof__core *c)
{
    return chroprof__caller_rows_of(c->tables[CHROPROF_TABLE_PATHS].capacity) *
           sizeof(chroprof__caller);
}

/* Bytes from the core: behind the sampler's state and the notes. */
static uint64_t chroprof__callers_at(const chroprof__core *c)
{
    uint64_t depth = c->tables[CHROPROF_TABLE_DEPTH].capacity;
    return c->tables[CHROPROF__SAMPLER].offset + chroprof__aligned(sizeof(chroprof__sampler)) +
           chroprof__note_bytes(depth);
}

/* Makes the handle point into a block. */
CHROPROF__COLD void chroprof__attach(chroprof *p, chroprof__core *c)
{
    p->core = c;
    p->gate = CHROPROF__NO_GATE;
    p->idle_gate = p->pass_gate = 0;
    p->asks = false;
    p->rows = c->tables[CHROPROF_TABLE_FUTURES].rows;
    p->futures = (chroprof__future_row *)chroprof__rows(c, CHROPROF_TABLE_FUTURES);
    p->frames = chroprof__frame_rows(c);
    p->paths = (chroprof__path_row *)chroprof__rows(c, CHROPROF_TABLE_PATHS);
    p->ring = (chroprof__ring_row *)chroprof__rows(c, CHROPROF_TABLE_EVENTS);
    p->shortcuts = (chroprof__shortcut *)chroprof__rows(c, CHROPROF__SHORTCUTS);
    p->histograms = chroprof__histogram_rows(c);
    p->ranges = chroprof__range_rows(c);
    p->max_depth = c->tables[CHROPROF_TABLE_DEPTH].capacity;
    p->shortcut_mask =
        (c->tables[CHROPROF__SHORTCUTS].rows - 1) * (uint32_t)sizeof(chroprof__shortcut);
    p->caller_mask = (uint32_t)(chroprof__caller_bytes(c) - sizeof(chroprof__caller));
    p->callers = chroprof__callers_at(c) >> 31 ? 0 : (uint32_t)chroprof__callers_at(c);
    p->percentiles = c->tables[CHROPROF_TABLE_HISTOGRAMS].capacity != 0;
}

/* The handle keeps why there is no profile, for those who did not look at the result. */
static chroprof_result chroprof__keep_result(chroprof *p, chroprof_result result)
{
    if (p && result != CHROPROF_OK) {
        memset(p, 0, sizeof(*p));
        p->refused = result;
#ifdef CHROPROF__MAPS
        p->refused_errno = result == CHROPROF_ERR_FILE ? errno : 0;
#endif
    }
    return result;
}

/* A forked child has no block of a mapped profile: from here on the handle is as a zeroed one,
 * until chroprof_fork_child. */
static bool chroprof__in_child(chroprof *p)
{
    if (!chroprof__is_wiped(p))
        return false;
    p->core = NULL;
    p->gate = CHROPROF__NO_GATE;
    p->idle_gate = p->pass_gate = 0;
    p->asks = false;
    p->sampling = p->in_hook = false;
    return true;
}

/* Is there a block that is ours? */
static bool chroprof__has_block(chroprof *p)
{
    return chroprof__is_set(p) && p->core && !chroprof__in_child(p);
}

/* Around what changes the block outside an event. */
static void chroprof__begin_edit(chroprof__core *c)
{
    c->edits++;
    CHROPROF__STORE_FENCE();
}

static void chroprof__end_edit(chroprof__core *c)
{
    CHROPROF__STORE_FENCE();
    c->edits++;
}
