/* A profile with many paths, in a file: what reads and outputs of a big one cost (bench/big.py).
 *
 *   big FILE PATHS MEGABYTES FUTURES
 *
 * Path k lies below path k / 10: each call makes ten others, to the depth that PATHS asks for, and
 * each of them took a while. FUTURES of them are alive. The whole is sent three times. */
#include "../chroprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 60, NAME_BYTES = 24, TIMES = 3 };

static chroprof prof;
static chroprof_site sites[SITES];
static char names[SITES][NAME_BYTES];
static uint64_t now, path_count;

static uint64_t told_now(void *user)
{
    (void)user;
    return now;
}

/* Not the same length twice. */
static void pass_time(uint64_t k)
{
    now += 500 + (k * 2654435761u >> 7) % 40000;
}

static void call(uint64_t k, unsigned depth)
{
    if (k > path_count)
        return;
    chroprof_enter(&prof, &sites[(depth * 10 + k % 10) % SITES]);
    pass_time(k);
    for (uint64_t below = 10 * k; below < 10 * k + 10; below++)
        call(below, depth + 1);
    pass_time(k + 1);
    chroprof_leave(&prof);
}

static void send(uint64_t futures)
{
    for (uint64_t k = 1; k <= futures; k++) {
        chroprof_pending(&prof, k, &sites[k % SITES]);
        pass_time(k);
    }
    chroprof_idle_enter(&prof);
    for (int i = 0; i < TIMES; i++) {
        for (uint64_t k = 1; k < 10; k++) {
            chroprof_idle_leave(&prof);
            call(k, 0);
            chroprof_idle_enter(&prof);
            pass_time(k);
        }
    }
}

int main(int argc, char **argv)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    if (argc != 5) {
        fprintf(stderr, "usage: big FILE PATHS MEGABYTES FUTURES\n");
        return 2;
    }
    path_count = strtoull(argv[2], NULL, 10);
    o.max_paths = (uint32_t)path_count + 200;
    o.max_edges = o.max_paths;
    o.max_futures = (uint32_t)strtoul(argv[4], NULL, 10) + 64;
    o.max_sites = SITES + 4;
    o.clock = told_now;
    for (uint32_t k = 0; k < SITES; k++) {
        snprintf(names[k], NAME_BYTES, "task_%u", (unsigned)k);
        sites[k].name = names[k];
        sites[k].file = "big.c";
        sites[k].line = k + 1;
    }
    chroprof_result r = chroprof_map(&prof, argv[1], strtoul(argv[3], NULL, 10) << 20, &o);
    if (r != CHROPROF_OK) {
        fprintf(stderr, "big: %s\n", chroprof_result_text(r));
        return 1;
    }
    send(o.max_futures - 64);
    chroprof_totals totals;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_read_totals(&prof, &totals);
    chroprof_tables(&prof, tables, CHROPROF_TABLE_COUNT);
    tables[CHROPROF_TABLE_HISTOGRAMS].dropped = 0;      /* their like have no percentiles */
    printf("%lu paths, %lu events, laws: %s", (unsigned long)tables[CHROPROF_TABLE_PATHS].used,
           (unsigned long)totals.events, chroprof_check(&prof) ? "broken" : "hold");
    for (int k = 0; k < (int)CHROPROF_TABLE_COUNT; k++)
        if (tables[k].dropped)
            printf(", %lu dropped of %s", (unsigned long)tables[k].dropped, tables[k].name);
    printf("\n");
    chroprof_unmap(&prof);
    return 0;
}
