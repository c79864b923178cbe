/* Sequences of any events with any ids and times on the smallest tables: no step outside a table, no
 * overflow of an index, no division by zero, and both laws after each. */
#include "proof.h"

#ifndef EVENTS
#define EVENTS 1
#endif

static const chroprof_site sites[2] = { { "a", "", 1 }, { "b", "", 2 } };

static uint64_t memory[1200];

static void start(chroprof *p)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_futures = o.max_sites = o.max_paths = o.max_edges = o.max_depth = o.max_stalls = 1;
    o.max_windows = 2;
    o.string_bytes = 1;
    o.window_ns = 8;
    o.stall_ns = 4;
    o.clock = chroprof_clock_manual;
    chroprof_result result = chroprof_init(p, memory, sizeof memory, &o);
    PROVE(result == CHROPROF_OK);
}

/* Both laws, as chroprof_check has them. */
static void hold(const chroprof *p)
{
    uint64_t exec = 0, lack = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        exec += p->paths[k].exec;
        lack += chroprof__delay_ticks(p, p->paths + k) - p->paths[k].blame;
    }
    PROVE(exec == p->core->last);
    PROVE(lack == 0);
    PROVE(p->core->depth <= 1 && p->core->tables[CHROPROF_TABLE_FUTURES].used <= 1);
}

void prove_any_events(void)
{
    static chroprof p;
    uint64_t now = 0;
    start(&p);
    for (int k = 0; k < EVENTS; k++) {
        uint32_t which = any_u32();
        now += any_u32() & 15;
        chroprof_event(&p, (chroprof_state)(any_u32() % 16), any_u32() & 1,
                       which < 2 ? &sites[which] : NULL, now);
        hold(&p);
    }
}
