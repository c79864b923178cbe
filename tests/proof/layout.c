/* The places of the tables, for all options. */
#include "proof.h"

static void any_capacities(uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = any_u32();
}

/* Whatever the options are: no sum or product overflows, every table begins at a line of the cache,
 * behind the one before it, and ends inside the block. */
void prove_tables_lie_in_the_block(void)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    any_capacities(capacity);
    ASSUME(chroprof__within_limits(capacity));
    uint64_t bytes = chroprof__layout(capacity, tables);
    if (bytes == UINT64_MAX)
        return;
    PROVE(bytes < UINT64_C(1) << 48 && bytes % CHROPROF__ALIGN == 0);
    uint64_t end = sizeof(chroprof__core);
    for (uint32_t k = 0; k < CHROPROF__TABLES; k++) {
        PROVE(tables[k].offset >= end && tables[k].offset % CHROPROF__ALIGN == 0);
        PROVE(tables[k].bytes == (uint64_t)tables[k].rows * chroprof__row_bytes[k]);
        end = tables[k].offset + tables[k].bytes;
        PROVE(end >= tables[k].offset && end <= bytes);
    }
}

/* The futures' table always has an empty slot, so a search ends: futures and frames fit beside. */
void prove_searches_end(void)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    any_capacities(capacity);
    ASSUME(chroprof__within_limits(capacity));
    PROVE(chroprof__table_rows(CHROPROF_TABLE_FUTURES, capacity) >
          (uint64_t)capacity[CHROPROF_TABLE_FUTURES] + capacity[CHROPROF_TABLE_DEPTH]);
    PROVE(chroprof__table_rows(CHROPROF_TABLE_EDGES, capacity) >
          capacity[CHROPROF_TABLE_EDGES]);
}

/* What chroprof_open accepts of the layout is what chroprof_init would have made: any bytes. */
void prove_open_takes_no_other_layout(void)
{
    static chroprof__core core;
    __CPROVER_havoc_object(&core);
    if (!chroprof__open_layout(&core))
        return;
    PROVE(core.block_bytes < UINT64_C(1) << 48);
    for (uint32_t k = 0; k < CHROPROF__TABLES; k++) {
        PROVE(core.tables[k].offset >= sizeof(core));
        PROVE(core.tables[k].offset % CHROPROF__ALIGN == 0);
        PROVE(core.tables[k].offset + core.tables[k].bytes <= core.block_bytes);
        PROVE(core.tables[k].bytes == (uint64_t)core.tables[k].rows * chroprof__row_bytes[k]);
    }
}
