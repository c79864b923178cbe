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

/* The four biggest slices, in falling order, whatever comes. */
void prove_the_biggest_slices_are_kept(void)
{
    static chroprof__biggest b;
    uint64_t most = 0;
    memset(&b, 0, sizeof b);
    for (int k = 0; k < 6; k++) {
        uint64_t exec = any_u64();
        most = exec > most ? exec : most;
        if (exec > b.floor)
            chroprof__note_slice(&b, exec, any_u64(), any_u32());
        PROVE(b.count <= CHROPROF_STALL_SLICES);
        for (uint32_t i = 1; i < b.count; i++)
            PROVE(b.slices[i - 1].exec >= b.slices[i].exec);
    }
    PROVE(b.count == 0 ? most == 0 : b.slices[0].exec == most);
}
