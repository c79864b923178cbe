/* One event of each kind at any time near the last one, for any of four ids (none, the one that is
 * there, a new one, the highest; RUNNING only for that one), in a profile that has room
 * for one future, one site, two paths and two frames: no step outside a table, no signed overflow,
 * no division by zero; the elapsed time grows by the step; both laws hold after it. Likewise a
 * slice that begins and ends at any two times.
 *
 * What came before is made by events at fixed times. With the kind open as well, or two events of
 * open ids, the solver did not end within 5 minutes and 4 GB: fuzz_events and test_random send
 * those. Three things of the header are replaced (run.sh reads which): each table is an object of
 * its own, so that a step over the end of one is not lost in the next; all keys have the same hash,
 * so that every search meets all others; and rows of an iteration that leave the ring, which no
 * proof fills. That tables do not overlap and that a hash is an index is proved in layout.c and
 * arithmetic.c. REPLACE chroprof__rows:any_rows chroprof__hash_index:worst_hash
 * chroprof__spill:no_spill */
#include "proof.h"

enum { FUTURES = 1, SITES = 1, PATHS = 2, EDGES = 2, DEPTH = 2, WINDOWS = 2, STALLS = 1 };
enum { STRINGS = 8, SITE_ROWS = SITES + CHROPROF__FIRST_SITE };
enum { PATH_ROWS = PATHS + CHROPROF__FIRST_PATH };
enum { BEGIN = 6, STEPS = 24, BACK = 3, LONG_STEP = 16 };

/* The fast paths tell the rows of the ring, and counts, by their distance from the core. Here
 * are no percentiles, so no callback and no iteration is counted where the ranges would be. */
static struct {
    chroprof__front front;
    chroprof__core core;
    chroprof__ring_row ring[64];
} block;
static chroprof__core *const core = &block.core;
static chroprof p;
static chroprof__future_row futures[2 * FUTURES + DEPTH + 2];
static chroprof__site_entry sites[SITE_ROWS];
static chroprof__path_row paths[PATH_ROWS];
static chroprof__edge edges[2 * EDGES + 2];
static chroprof__frame_row frames[DEPTH + 1];
static uint64_t cells[SITE_ROWS * (WINDOWS + 1)];
static chroprof__stall_row stalls[STALLS];
static char strings[STRINGS + CHROPROF__OWN_STRINGS];
static chroprof__shortcut shortcuts[4];
static uint32_t heads[2 * SITE_ROWS];
static chroprof__histograms histograms[1];
static chroprof__range ranges[2];
static chroprof__places places[1];
static chroprof__incident_row incidents[1];
static chroprof__slow_group slow[1];
static chroprof__slices counts[1];
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
    case CHROPROF__SHORTCUTS: return shortcuts;
    case CHROPROF_TABLE_EVENTS: return block.ring;
    case CHROPROF__HEADS: return heads;
    case CHROPROF_TABLE_HISTOGRAMS: return histograms;
    case CHROPROF__RANGE_TABLE: return ranges;
    case CHROPROF__PLACES: return places;
    case CHROPROF_TABLE_INCIDENTS: return incidents;
    case CHROPROF_TABLE_SLOW: return slow;
    case CHROPROF__COUNTS: return counts;
    default: return NULL;
    }
}

uint32_t worst_hash(uint64_t key, uint32_t n)
{
    (void)key;
    (void)n;
    return 0;
}

void no_spill(chroprof *p)
{
    (void)p;
#ifndef REACH
    __CPROVER_assert(0, "proved: no row leaves the ring");
#endif
}

/* As chroprof_init does it, but for the clearing of what is clear. */
static void start(void)
{
    static const uint32_t capacity[CHROPROF_TABLE_COUNT] = { FUTURES, SITES,   PATHS, EDGES,
                                                             DEPTH,   0,       0,     WINDOWS,
                                                             STALLS,  STRINGS, 0,     64 };
    chroprof__layout(capacity, core->tables);
    chroprof__attach(&p, core);
    chroprof__first_rows(&p);
    core->set.window_ns = 8;
    core->set.stall_ns = 4;
    core->set.max_step_ns = LONG_STEP;
    p.clock = chroprof_clock_manual;
    core->time.manual = core->time.calibrated = core->enabled = 1;
    core->ring_mask = 2 * (64 - 1);
    core->tables[CHROPROF_TABLE_EVENTS].offset = (uint64_t)((char *)block.ring - (char *)core);
    chroprof__aim(&p, core);
    chroprof__set_factor(core, UINT64_C(1) << 32);
    chroprof__set_taking(&p, true);
}

static void hold(void)
{
    uint64_t exec = 0, lack = 0;
    for (uint32_t k = 0; k < PATH_ROWS; k++) {
        exec += paths[k].exec;
        lack += chroprof__delay_ticks(&p, paths + k) - paths[k].blame;
    }
    PROVE(exec == core->last);
    PROVE(lack == 0);
}

static uint64_t any_id(void)
{
    static const uint64_t ids[] = { 0, 1, 2, UINT64_MAX };
    return ids[any_u32() % 4];
}

/* An event at any time near the last one, with a site or without, and what holds after it. One that
 * makes no sense is counted as well, and its time is taken. */
static void send(chroprof_state state, uint64_t id)
{
    uint64_t last = core->last, seq = core->seq, step = (uint64_t)(any_u32() % STEPS) - BACK;
    chroprof_event(&p, state, id, any_u32() % 2 ? &site : NULL, core->epoch + last + step);
    PROVE(core->seq == seq + 2);
    PROVE(core->last == last + (step >> 63 ? 0 : step));
    hold();
}

/* What came before, at time BEGIN. */
static void before(chroprof_state state, uint64_t id)
{
    chroprof_event(&p, state, id, &site, BEGIN);
}

/* An event of this kind while future 1 runs; `goal` can be met after it. */
#define WHILE_RUNNING(kind, id, goal)                                                              \
    do {                                                                                           \
        start();                                                                                   \
        before(CHROPROF_PENDING, 1);                                                               \
        before(CHROPROF_RUNNING, 1);                                                               \
        send(CHROPROF_##kind, id);                                                                 \
        REACHABLE(goal);                                                                           \
        REACHABLE(core->anomalies.counts[CHROPROF_ANOMALY_TIME_BACK] > 0);                         \
        REACHABLE(core->last > BEGIN);                                                             \
        REACHABLE(core->window >> 16 > 0);                                                         \
    } while (0)

#define FIRST (paths + CHROPROF__FIRST_PATH)

void prove_event_pending(void)
{
    WHILE_RUNNING(PENDING, any_id(), core->tables[CHROPROF_TABLE_FUTURES].dropped > 0);
}

void prove_event_ready(void)
{
    WHILE_RUNNING(READY, any_id(), FIRST->exec > 0);
}

void prove_event_running(void)
{
    WHILE_RUNNING(RUNNING, 1, FIRST->exec > 0);
}

void prove_event_paused(void)
{
    WHILE_RUNNING(PAUSED, any_id(), FIRST->exec > 0 && core->depth == 0);
}

void prove_event_completed(void)
{
    WHILE_RUNNING(COMPLETED, any_id(), FIRST->exec > 0 && core->depth == 0);
}

void prove_event_failed(void)
{
    WHILE_RUNNING(FAILED, any_id(), FIRST->exec > 0 && core->depth == 0);
}

void prove_event_cancelled(void)
{
    WHILE_RUNNING(CANCELLED, any_id(), FIRST->exec > 0 && core->depth == 0);
}

void prove_event_idle_enter(void)
{
    WHILE_RUNNING(IDLE_ENTER, 0, FIRST->exec > 0);
}

void prove_event_idle_leave(void)
{
    WHILE_RUNNING(IDLE_LEAVE, 0, FIRST->exec > 0);
}

void prove_event_loop_enter(void)
{
    WHILE_RUNNING(LOOP_ENTER, 0, core->depth == 2);
}

void prove_event_loop_leave(void)
{
    WHILE_RUNNING(LOOP_LEAVE, 0, core->depth == 1);
}

void prove_event_enter(void)
{
    WHILE_RUNNING(ENTER, 0, core->depth == 2);
}

void prove_event_leave(void)
{
    WHILE_RUNNING(LEAVE, 0, core->depth == 1);
}

void prove_event_tick(void)
{
    WHILE_RUNNING(TICK, 0, FIRST->exec > 0);
}

void prove_event_switch(void)
{
    WHILE_RUNNING(SWITCH, any_id(), FIRST->exec > 0 && core->depth == 0);
}

/* What a future that waits for the loop takes from those that made it wait. */
void prove_event_running_after_ready(void)
{
    start();
    before(CHROPROF_PENDING, 1);
    before(CHROPROF_READY, 1);
    send(CHROPROF_RUNNING, 1);
    REACHABLE(paths[CHROPROF__LOOP].blame > 0);
}

void prove_event_idle_leave_after_idle(void)
{
    start();
    before(CHROPROF_PENDING, 1);
    before(CHROPROF_READY, 1);
    before(CHROPROF_IDLE_ENTER, 0);
    send(CHROPROF_IDLE_LEAVE, 0);
    REACHABLE(paths[CHROPROF__IDLE].exec > 0);
}

/* Profile time begins with the first event, whenever it comes. */
void prove_first_event(void)
{
    start();
    chroprof_event(&p, CHROPROF_PENDING, any_id(), &site, any_u32());
    PROVE(core->seq == 2 && core->last == 0);
    hold();
    REACHABLE(core->tables[CHROPROF_TABLE_FUTURES].used == 1);
}

void prove_a_slice_begins_and_ends(void)
{
    start();
    before(CHROPROF_PENDING, 1);
    before(CHROPROF_READY, 1);
    send(CHROPROF_RUNNING, 1);
    send(CHROPROF_PAUSED, 1);
    REACHABLE(FIRST->exec > 0 && FIRST->delay > 0);
}
