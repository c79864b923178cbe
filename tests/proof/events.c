/* A future that is ready begins to run, at any time near the last one, in a profile that has room
 * for one future, one site, two paths and two frames: the event is taken; no step outside a table,
 * no signed overflow, no division by zero; it adds to the elapsed time what it should; both laws
 * hold after it.
 *
 * Only time is unknown to the solver: with unknown kinds or ids, two unknown steps in a row, or an
 * event that ends a slice, it did not end within 40 to 70 s of CPU time. What came before is made by
 * events at fixed times. Two things of the header are replaced (run.sh reads which): each table is
 * an object of its own, so that a step over the end of one is not lost in the next, and all keys
 * have the same hash, so that every search meets all others. That tables do not overlap and that a
 * hash is an index is proved in layout.c and arithmetic.c.
 * REPLACE chroprof__rows:any_rows chroprof__hash_index:worst_hash */
#include "proof.h"

enum { FUTURES = 1, SITES = 1, PATHS = 2, EDGES = 2, DEPTH = 2, WINDOWS = 2, STALLS = 1 };
enum { STRINGS = 8, SITE_ROWS = SITES + CHROPROF__FIRST_SITE };
enum { PATH_ROWS = PATHS + CHROPROF__FIRST_PATH };
enum { BEGIN = 6, STEPS = 24, BACK = 3, LONG_STEP = 16 };

static chroprof__core core;
static chroprof p;
static chroprof__future futures[2 * FUTURES + DEPTH + 2];
static chroprof__site sites[SITE_ROWS];
static chroprof__path paths[PATH_ROWS];
static chroprof__edge edges[2 * EDGES + 2];
static chroprof__frame frames[DEPTH + 1];
static uint64_t cells[SITE_ROWS * (WINDOWS + 1)];
static chroprof__stall stalls[STALLS];
static char strings[STRINGS + CHROPROF__OWN_STRINGS];
static chroprof__alias aliases[2 * SITE_ROWS];
static uint32_t heads[2 * SITE_ROWS];
static const chroprof_site site = { "a", "f", 1 };

void *any_rows(const chroprof__core *c, uint32_t table)
{
    (void)c;
    switch (table) {
    case CHROPROF_TABLE_FUTURES: return futures;
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return paths;
    case CHROPROF_TABLE_EDGES: return edges;
    case CHROPROF_TABLE_DEPTH: return frames;
    case CHROPROF_TABLE_WINDOWS: return cells;
    case CHROPROF_TABLE_STALLS: return stalls;
    case CHROPROF_TABLE_STRINGS: return strings;
    case CHROPROF__ALIASES: return aliases;
    case CHROPROF__HEADS: return heads;
    default: return NULL;
    }
}

uint32_t worst_hash(uint64_t key, uint32_t n)
{
    (void)key;
    (void)n;
    return 0;
}

/* As chroprof_init does it, but for the clearing of what is clear. */
static void start(void)
{
    static const uint32_t capacity[CHROPROF_TABLE_COUNT] = {
        FUTURES, SITES, PATHS, EDGES, DEPTH, 0, 0, WINDOWS, STALLS, STRINGS
    };
    chroprof__layout(capacity, core.tables);
    chroprof__attach(&p, &core);
    chroprof__first_rows(&p);
    core.window_ns = 8;
    core.stall_ns = 4;
    core.max_step_ns = LONG_STEP;
    p.clock = chroprof_clock_manual;
    core.manual = core.calibrated = core.enabled = 1;
    chroprof__set_factor(&core, UINT64_C(1) << 32);
    chroprof__set_taking(&p, true);
}

static void hold(void)
{
    uint64_t exec = 0, lack = 0;
    for (uint32_t k = 0; k < PATH_ROWS; k++) {
        exec += paths[k].exec;
        lack += chroprof__delay_ticks(&p, paths + k) - paths[k].blame;
    }
    PROVE(exec == core.last);
    PROVE(lack == 0);
}

/* An event that has to be taken, and what holds after it. Id 1 is the future that may be there. */
static void send(chroprof_state state, uint64_t id, int64_t step)
{
    uint64_t seq = core.seq, last = core.last, elapsed = step > 0 ? (uint64_t)step : 0;
    const chroprof_site *from = id == 2 ? NULL : &site;
    chroprof_event(&p, state, id, from, (uint64_t)(BEGIN + step));
    PROVE(core.seq == seq + 2);
    PROVE(core.last == last + elapsed);
    hold();
}

/* What came before, at time BEGIN. */
static void before(chroprof_state state)
{
    chroprof_event(&p, state, 1, &site, BEGIN);
}

/* One event of a kind, at any time; `goal` can be met after it. */
#define ONE_EVENT(kind, id, goal)                                                                  \
    do {                                                                                           \
        send(CHROPROF_##kind, id, (int64_t)(any_u32() % STEPS) - BACK);                            \
        REACHABLE(goal);                                                                           \
        REACHABLE(core.anomalies[CHROPROF_ANOMALY_TIME_BACK] > 0);                                 \
        REACHABLE(core.window >> 16 > 0);                                                          \
    } while (0)

static void start_ready(void)
{
    start();
    before(CHROPROF_PENDING);
    before(CHROPROF_READY);
}

void prove_event_running(void)
{
    start_ready();
    ONE_EVENT(RUNNING, 1, paths[CHROPROF__LOOP].blame > 0);
}
