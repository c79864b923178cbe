/* writers/text_latency.h: percentiles of latencies, delays and slices */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../writers/text.h"
#include "../writers/text_sites.h"

/* >>text latency */

enum { CHROPROF__TEXT_LATENCIES = 10 };

/* The sites whose finished futures took longest. */
CHROPROF__NOINLINE void chroprof__text_latency(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_LATENCIES, chroprof_rank, latency_p99_ns);
    chroprof_rank rows[CHROPROF__TEXT_LATENCIES], rank;
    uint64_t cursor = 0, left = 0;
    uint32_t count = 0, figures_at = (g->width < 100 ? g->width : 100) - 33;
    while (chroprof_next_rank(g->p, &cursor, &rank)) {
        if (rank.latency_max_ns == 0)
            continue;
        count = chroprof__keep_largest(&by, rows, count, &rank);
        left++;
    }
    if (count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("LATENCY")
                    "of futures that finished, from their creation\n" CHROPROF__DIM "site", NULL);
    chroprof__blank_to(g, figures_at);
    chroprof__print(g, " finished     p50     p99     max\n", NULL);
    for (const chroprof_rank *r = rows; r < rows + count; r++, left--) {
        const uint64_t figures[] = { r->completed + r->failed + r->cancelled, r->latency_p50_ns,
                                     r->latency_p99_ns, r->latency_max_ns };
        chroprof__show_placed(g, r->name, r->file, r->line, figures_at - 1);
        chroprof__blank_to(g, figures_at);
        chroprof__print(g, "%9c%8t%8t%8t\n", figures);
    }
    if (left > 0)
        chroprof__print(g, left == 1 ? CHROPROF__DIM "%c more site with a lower p99\n"
                                     : CHROPROF__DIM "%c more sites with a lower p99\n", &left);
}

#undef CHROPROF__R
