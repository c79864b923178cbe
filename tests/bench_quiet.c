/* tests/bench_quiet.c - what bench/quiet.h says of rounds on machines that are not there. */
#include "../bench/quiet.h"

#include <stdio.h>

static int passed, failed;

static void expect(const char *name, bool got, bool want)
{
    if (got == want)
        passed++;
    else
        failed++;
    printf("%s %s\n", got == want ? "ok" : "FAIL", name);
}

/* Additions with jumps and without, on a core of so many GHz and a share of its front end; the
 * k-th measure of each kind has an interrupt in it. */
static double crowding(double ghz, double share, int jumps_hit, int chain_hit)
{
    double jumps[3], chain[3];
    for (int i = 0; i < 3; i++) {
        jumps[i] = 16000 / (share * ghz) + (i == jumps_hit ? 9000 : 0);
        chain[i] = 16000 / ghz + (i == chain_hit ? 9000 : 0);
    }
    return quiet_crowding(jumps, chain, 3);
}

static bool round_is_quiet(double lifetime_ns, long switches, double crowded, double base)
{
    round_evidence e;
    e.lifetime_ns = lifetime_ns;
    e.cpu_ns = 600000;
    e.switches = switches;
    e.crowding = crowded;
    return quiet(disturbance(&e, base));
}

int main(void)
{
    double base = crowding(3.8, 1, -1, -1), many[100], worst[2];
    expect("idle", round_is_quiet(602000, 0, base, base), true);
    expect("idle, the clock falls from 3.8 to 2.1 GHz",
           round_is_quiet(602000, 0, crowding(2.1, 1, -1, -1), base), true);
    expect("idle, the clock rises from 2.1 to 3.8 GHz",
           round_is_quiet(602000, 0, base, crowding(2.1, 1, -1, -1)), true);
    expect("idle, with interrupts among the additions",
           round_is_quiet(612000, 0, crowding(3.8, 1, 0, 2), base), true);
    expect("a neighbor on the same core takes half of it",
           round_is_quiet(602000, 0, crowding(3.8, 0.5, -1, -1), base), false);
    expect("a neighbor takes a quarter, and the clock is higher than before",
           round_is_quiet(602000, 0, crowding(4.2, 0.75, -1, -1), base), false);
    expect("another thread had the cpu, however briefly", round_is_quiet(602000, 1, base, base),
           false);
    expect("the hypervisor had the cpu for 100 us", round_is_quiet(700000, 0, base, base), false);

    for (int i = 0; i < 100; i++)
        many[i] = i < 3 ? 0.5 * base : i < 70 ? base : 2 * base;
    expect("a base from a while with chains cut short and a neighbor",
           round_is_quiet(602000, 0, base, quiet_base(many, 100, 1.2)), true);
    for (int i = 0; i < 100; i++)
        many[i] = 2.1;
    expect("a neighbor from the first moment on",
           round_is_quiet(602000, 0, 2.1, quiet_base(many, 100, 1.2)), false);
    worst[0] = disturbance(&(round_evidence){ 900000, 600000, 0, base }, base);
    worst[1] = disturbance(&(round_evidence){ 602000, 600000, 3, base }, base);
    expect("switched out is worse than any delay", worst[1] > worst[0], true);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
