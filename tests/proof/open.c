/* What chroprof_open accepts, all reads can walk: any bytes in small tables. */
#include "proof.h"

enum { SLOTS = 5, DEPTH = 2, PATHS = 6, SITES = 5, EDGES = 4 };

typedef struct block {
    chroprof__core core;
    chroprof__future futures[SLOTS];
    chroprof__frame frames[DEPTH + 1];
    chroprof__path paths[PATHS];
    chroprof__site sites[SITES];
    chroprof__edge edges[EDGES];
} block;

static void place(block *b, uint32_t table, void *rows, uint32_t count, uint32_t used)
{
    b->core.tables[table].offset = (uint64_t)((char *)rows - (char *)&b->core);
    b->core.tables[table].rows = b->core.tables[table].capacity = count;
    b->core.tables[table].used = used;
}

/* A profile whose tables hold any bytes at all; sizes and uses are those of a real one. */
static void any_block(block *b, chroprof *p)
{
    __CPROVER_havoc_object(b);
    place(b, CHROPROF_TABLE_FUTURES, b->futures, SLOTS, any_u32() % SLOTS);
    place(b, CHROPROF_TABLE_DEPTH, b->frames, DEPTH, 0);
    place(b, CHROPROF_TABLE_PATHS, b->paths, PATHS, any_u32() % (PATHS - CHROPROF__FIRST_PATH + 1));
    place(b, CHROPROF_TABLE_SITES, b->sites, SITES, any_u32() % (SITES - CHROPROF__FIRST_SITE + 1));
    place(b, CHROPROF_TABLE_EDGES, b->edges, EDGES, any_u32() % EDGES);
    b->core.depth = any_u32() % (DEPTH + 1);
    chroprof__attach(p, &b->core);
}

/* The unwinding assertions say that each loop ends within its table. */
void prove_a_search_for_a_future_ends(void)
{
    static block b;
    static chroprof p;
    any_block(&b, &p);
    if (!chroprof__open_futures(&p))
        return;
    const chroprof__future *slot = chroprof__find(&p, any_u64());
    PROVE(slot >= b.futures && slot < b.futures + SLOTS);
}

void prove_a_search_for_an_edge_ends(void)
{
    static block b;
    static chroprof p;
    any_block(&b, &p);
    if (!chroprof__open_edges(&p))
        return;
    const chroprof__edge *edge = chroprof__find_edge(p.core, any_u32(), any_u32());
    PROVE(edge >= b.edges && edge < b.edges + EDGES);
    if (edge->site != 0)
        PROVE(edge->target < chroprof__path_count(&p));
}

void prove_the_tree_can_be_walked(void)
{
    static block b;
    static chroprof p;
    uint32_t steps = 0, k;
    any_block(&b, &p);
    b.core.window = 0;
    if (!chroprof__open_paths(&p))
        return;
    for (k = p.paths[0].next; k != 0; k = p.paths[k].next) {
        PROVE(k < chroprof__path_count(&p) && p.paths[k].site < chroprof__site_count(&p));
        PROVE(++steps <= PATHS);
        PROVE(chroprof__fold(&p, k, UINT32_MAX) == CHROPROF__LOOP);     /* to the root */
    }
}

void prove_frames_of_one_id_can_be_walked(void)
{
    static block b;
    static chroprof p;
    uint32_t k, i, steps;
    any_block(&b, &p);
    if (!chroprof__open_frames(&p))
        return;
    for (k = 1; k <= b.core.depth; k++) {
        PROVE(p.frames[k].path < chroprof__path_count(&p));
        for (steps = 0, i = k; i != 0; i = p.frames[i].same)
            PROVE(++steps <= DEPTH && i <= b.core.depth);
        if (p.frames[k].id != 0)
            PROVE(p.frames[k].slot < SLOTS);
    }
}
