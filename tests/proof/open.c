/* What chroprof_open lets through can be walked: a small table of any bytes that its checks accept.
 * The proof also shows that the checks themselves read no byte outside. That the tables lie where
 * they should is checked before, against the layout of their capacities. */
#include "proof.h"

enum { PATHS = 3, SITES = 2 };
enum { PATH_ROWS = PATHS + CHROPROF__FIRST_PATH };

typedef struct tables {
    chroprof__core core;
    chroprof p;
} tables;

/* Any bytes, but for what was checked before: uses are at most the capacities. */
static chroprof *any_tables(void)
{
    static tables t;
    static chroprof__path_row paths[PATH_ROWS];
    __CPROVER_havoc_object(&t);
    __CPROVER_havoc_object(paths);
    ASSUME(t.core.tables[CHROPROF_TABLE_PATHS].used <= PATHS);
    ASSUME(t.core.tables[CHROPROF_TABLE_SITES].used <= SITES);
    t.p.core = &t.core;
    t.p.paths = paths;
    return &t.p;
}

/* Each path is met once in preorder, and the way up from it ends. */
void prove_opened_paths_can_be_walked(void)
{
    const chroprof *p = any_tables();
    uint32_t met = 0;
    ASSUME(chroprof__ask_paths(p) == NULL);
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next) {
        PROVE(k >= CHROPROF__FIRST_PATH && k < chroprof__path_count(p));
        PROVE(p->paths[k].parent < k && p->paths[k].site < chroprof__site_count(p));
        PROVE(p->paths[k].generation == p->paths[p->paths[k].parent].generation + 1);
        met++;
    }
    PROVE(met == chroprof__path_count(p) - CHROPROF__FIRST_PATH);
}
