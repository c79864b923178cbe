/* The places of the tables, for all options. */
#include "proof.h"

static void any_capacities(uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = any_u32();
}

/* A step of chroprof__layout: whatever the number of rows, a table that begins at a line of the
 * cache ends where the next may begin or before, and no sum or product overflows. Twelve such steps
 * stay below 2^53; all tables at once are too much for the solver (test_capacity). */
void prove_a_table_ends_before_the_next(void)
{
    uint64_t at = (uint64_t)any_u32() << 20 | (any_u32() & 0xFFFC0), rows = any_u32();
    uint32_t table = any_u32() % CHROPROF__ALL_TABLES;
    uint64_t bytes = rows * chroprof__row_bytes[table];
    uint64_t next = at + chroprof__aligned(bytes);
    PROVE(bytes >> 49 == 0);
    PROVE(next % CHROPROF__ALIGN == 0 && next >= at + bytes && next - at < bytes + CHROPROF__ALIGN);
}

/* The futures' table always has an empty slot, so a search ends: futures and frames fit beside. */
void prove_searches_end(void)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    any_capacities(capacity);
    ASSUME(chroprof__within_limits(capacity));
    PROVE(chroprof__table_rows(CHROPROF_TABLE_FUTURES, capacity) >
          (uint64_t)capacity[CHROPROF_TABLE_FUTURES] + capacity[CHROPROF_TABLE_DEPTH]);
    PROVE(chroprof__table_rows(CHROPROF_TABLE_EDGES, capacity) > capacity[CHROPROF_TABLE_EDGES]);
}
