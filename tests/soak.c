/* tests/soak.c - more events than 32 bits count: are all figures still exact?
 *
 * build/soak [EVENTS]
 *
 * Each future is created anew over the one before it (abandoned), then each running follows a lost
 * pause (a slice each). The last line is "N passed, N failed, N skipped". */
#include "../chroprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const chroprof_site A = { "soaked", "soak.c", 1 };

static unsigned failed, passed;

static void check(const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        passed++;
    else
        failed++;
    printf("%s %s: %" PRIu64, got == want ? "ok" : "FAIL", what, got);
    printf(", wanted %" PRIu64 "\n", want);
}

int main(int argc, char **argv)
{
    static unsigned char memory[100000];
    uint64_t count = (UINT64_C(1) << 32) + 5, now = 0, k;
    chroprof_options o;
    chroprof_totals t;
    chroprof_rank r;
    chroprof p;
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    if (chroprof_init(&p, memory, sizeof memory, &o) != CHROPROF_OK)
        return 1;
    for (k = 0; k < count; k++)
        chroprof_event(&p, CHROPROF_PENDING, 7, &A, now += 1);
    for (k = 0; k < count; k++)
        chroprof_event(&p, CHROPROF_RUNNING, 7, NULL, now += 1);
    chroprof_event(&p, CHROPROF_COMPLETED, 7, NULL, now += 1);
    chroprof_read_totals(&p, &t);
    chroprof_ranks(&p, &r, 1, CHROPROF_BY_EXEC);
    check("events", t.events, 2 * count + 1);
    check("calls", r.calls, count);
    check("abandoned", r.abandoned, count - 1);
    check("completed", r.completed, 1);
    check("slices", r.slices, count);
    check("turns", t.turns, count);
    check("exec", r.exec_ns, count);
    check("largest future", r.exec_max_ns, count);
    check("wall", r.wall_ns, 2 * count);
    check("half of the slices", r.slice_p50_ns, 1);
    check("elapsed", t.elapsed_ns, 2 * count);
    check("oddities", t.anomalies, count - 1);
    check("laws broken", chroprof_check(&p) != NULL, 0);
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
