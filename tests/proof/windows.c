/* The windows: merging loses nothing, and every time has a window. */
#include "proof.h"

enum { WINDOWS = 4 };

static chroprof__core *core_with(uint32_t capacity)
{
    static chroprof__core core;
    __CPROVER_havoc_object(&core);
    core.tables[CHROPROF_TABLE_WINDOWS].capacity = capacity;
    return &core;
}

/* Any cells of any earlier level, at any later level. */
void prove_merging_conserves_the_sum(void)
{
    uint64_t cells[WINDOWS + 1], before = 0, after = 0;
    uint32_t capacity = 1 + any_u32() % WINDOWS;
    chroprof__core *c = core_with(capacity);
    uint32_t level = any_u32() % 63;
    __CPROVER_havoc_object(cells);
    c->window = level << 16 | any_u32() % capacity;
    ASSUME(cells[0] <= level);
    for (uint32_t k = 0; k < capacity; k++)
        before += cells[1 + k];
    chroprof__merge_cells(c, cells);
    for (uint32_t k = 0; k < capacity; k++)
        after += cells[1 + k];
    PROVE(before == after);
    PROVE(cells[0] == level);
}

/* A tag of any earlier level has an index inside the table at the present one. */
void prove_tags_stay_in_the_table(void)
{
    chroprof__core *c = core_with(WINDOWS);
    uint32_t level = any_u32() % 63, tag = any_u32();
    c->window = level << 16 | any_u32() % WINDOWS;
    ASSUME(chroprof__tag_level(tag) <= level && (tag & 0xFFFF) < WINDOWS);
    PROVE(chroprof__tag_index(c, tag) < WINDOWS);
}
