/* Any events with any ids and times on the smallest tables, from a profile that has one future: no
 * step outside a table, no overflow of an index, no division by zero, and both laws after each.
 * Without sites: what creates futures copies strings, which is beyond what CBMC can hold; the
 * random streams against the slow model and the fuzzer have those. */
#include "proof.h"

#ifndef EVENTS
#define EVENTS 1
#endif

enum { SLOTS = 4, DEPTH = 1, PATHS = 4, SITES = 5, WINDOWS = 2, STALLS = 1 };

typedef struct block {
    chroprof__core core;
    chroprof__future futures[SLOTS];
    chroprof__frame frames[DEPTH + 1];
    chroprof__path paths[PATHS];
    chroprof__site sites[SITES];
    uint64_t cells[SITES][WINDOWS + 1];
    chroprof__stall stalls[STALLS];
} block;

static void place(block *b, uint32_t table, void *rows, uint32_t count, uint32_t capacity)
{
    b->core.tables[table].offset = (uint64_t)((char *)rows - (char *)&b->core);
    b->core.tables[table].rows = count;
    b->core.tables[table].capacity = capacity;
}

/* As chroprof_init and one pending would leave it. */
static void start(block *b, chroprof *p)
{
    chroprof__core *c = &b->core;
    place(b, CHROPROF_TABLE_FUTURES, b->futures, SLOTS, 1);
    place(b, CHROPROF_TABLE_DEPTH, b->frames, DEPTH + 1, DEPTH);
    place(b, CHROPROF_TABLE_PATHS, b->paths, PATHS, 1);
    place(b, CHROPROF_TABLE_SITES, b->sites, SITES, 1);
    place(b, CHROPROF_TABLE_WINDOWS, b->cells, SITES * (WINDOWS + 1), WINDOWS);
    place(b, CHROPROF_TABLE_STALLS, b->stalls, STALLS, STALLS);
    c->factor = UINT64_C(1) << 32;
    c->calibrated = c->manual = c->started = c->enabled = 1;
    c->window_ticks = c->window_end = 8;
    c->stall_ticks = 4;
    c->max_step_ticks = 1000;
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        b->paths[k].site = k;
    b->paths[0].next = 3;
    b->paths[3].site = CHROPROF__FIRST_SITE;
    b->paths[3].level = 1;
    b->paths[3].calls = b->paths[3].live = 1;
    c->tables[CHROPROF_TABLE_PATHS].used = c->tables[CHROPROF_TABLE_FUTURES].used = 1;
    b->sites[CHROPROF__FIRST_SITE].first_path = 3;
    b->frames[0].kind = CHROPROF__BARRIER;
    chroprof__attach(p, c);
    chroprof__future *slot = chroprof__find(p, 1);
    slot->id = 1;
    slot->path = 3;
    p->on = true;
}

static void hold(const chroprof *p)
{
    uint64_t exec = 0, lack = 0;
    for (uint32_t k = 0; k < PATHS; k++) {
        exec += p->paths[k].exec;
        lack += chroprof__delay_ticks(p, p->paths + k) - p->paths[k].blame;
    }
    PROVE(exec == p->core->last);
    PROVE(lack == 0);
    PROVE(p->core->depth <= DEPTH && p->core->tables[CHROPROF_TABLE_FUTURES].used <= 1);
}

void prove_any_events(void)
{
    static block b;
    static chroprof p;
    uint64_t now = 0;
    start(&b, &p);
    for (int k = 0; k < EVENTS; k++) {
        now += any_u32() & 15;
        chroprof_event(&p, (chroprof_state)(any_u32() % 16), any_u32() & 1, NULL, now);
        hold(&p);
    }
}
