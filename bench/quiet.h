/* bench/quiet.h - was this round ours alone? Decided from what was measured beside it, so that
 * tests/bench_quiet.c can ask about machines that are not there.
 *
 * Three things take a core away, and each shows elsewhere. Another thread of this system switches
 * ours out: the kernel counts it. A hypervisor or an interrupt runs: wall time passes without CPU
 * time. A neighbor on the same core (SMT, perhaps of another virtual machine) takes every other
 * cycle of its front end: a loop of one addition takes twice as long, additions without a jump do
 * not. Their ratio has no clock frequency in it, so a core that speeds up or slows down is ours.
 */
#ifndef BENCH_QUIET_H
#define BENCH_QUIET_H

#include <stdbool.h>
#include <stdlib.h>

typedef struct round_evidence {
    double lifetime_ns, cpu_ns;  /* of the round: elapsed, and this thread's own */
    long switches;             /* how often another thread took the cpu from this one */
    double crowding;           /* time of a loop of additions / of as many without a jump */
} round_evidence;

/* A core of one's own scatters by less; a busy neighbor doubles the first. */
#define QUIET_CROWDING 1.25
#define QUIET_WALL 1.05

static inline int quiet_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The q-th of count quantiles (q = 0.5: the median); sorts values. */
static inline double quantile(double *values, int count, double q)
{
    qsort(values, (size_t)count, sizeof *values, quiet_by_value);
    return values[(int)(q * (count - 1) + 0.5)];
}

/* Of the lowest times of each kind, because an interrupt only adds. */
static inline double quiet_crowding(double *jumps, double *chain, int count)
{
    return quantile(jumps, count, 0) / quantile(chain, count, 0);
}

/* What a core of one's own shows, out of many measures: low, but not the lowest, since one chain
 * that was interrupted each time would make all others look crowded. More than most is no core of
 * one's own, however long it lasts. */
static inline double quiet_base(double *crowding, int count, double most)
{
    double low = quantile(crowding, count, 0.1);
    return low < most ? low : most;
}

/* Below 1: the core was ours. Orders the rounds that were not, too. */
static inline double disturbance(const round_evidence *e, double base)
{
    double units = e->crowding / (base * QUIET_CROWDING);
    double away = e->lifetime_ns / (e->cpu_ns * QUIET_WALL);
    double most = units > away ? units : away;
    return e->switches > 0 ? most + 1 : most;
}

static inline bool quiet(double disturbed)
{
    return disturbed < 1;
}

#endif
