/* A soak: billions of real events in one block of constant size, with every count known beforehand.
 *
 *   bench_soak [EVENTS]       default 1000000000; 10000000000 takes some four minutes
 *   bench_soak one [EVENTS]   one future, each event so often by the manual clock; default 2^32 + 5
 *
 * It fails (exit 1) if a law breaks, a count is off by one, memory grows, or anything was dropped
 * or out of order. 2^32 events pass on the way: what is 32 bits wide has wrapped around by then.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES = 24, LIVE = 1000, BATCH = 1000, STEPS = 64, BLOCK = 2 << 20 };

typedef struct soak {
    chroprof prof;
    uint64_t ids[LIVE];            /* of the live futures, oldest at `oldest` */
    uint32_t oldest;
    uint64_t next_id, random;
    /* what must come out */
    uint64_t events, slices, calls, completed, failed, stillborn, iterations;
} soak;

static chroprof_site sites[SITES];
static unsigned char block[BLOCK];
static soak s;

static uint32_t pick(uint32_t count)
{
    s.random = s.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((s.random >> 32) * count >> 32);
}

static const chroprof_site *any_site(void)
{
    return &sites[pick(SITES)];
}

static uint64_t any_live(void)
{
    return s.ids[pick(LIVE)];
}

static uint64_t fresh_id(void)
{
    return 0x558000001000u + 112 * s.next_id++;
}

static void expect(uint64_t events, uint64_t slices)
{
    s.events += events;
    s.slices += slices;
}

/* >>patterns: each sends some events and says what they must add up to */

static void slice(void)
{
    uint64_t id = any_live();
    chroprof_running(&s.prof, id);
    chroprof_paused(&s.prof, id);
    expect(2, 1);
}

static void ready_slice(void)
{
    uint64_t id = any_live();
    chroprof_ready(&s.prof, id);
    chroprof_running(&s.prof, id);
    chroprof_paused(&s.prof, id);
    expect(3, 1);
}

static void late_ready_slice(void)
{
    uint64_t id = any_live();
    chroprof_ready_since(&s.prof, id, chroprof_now(&s.prof) - 1 - pick(2000));
    chroprof_running(&s.prof, id);
    chroprof_paused(&s.prof, id);
    expect(4, 1);
}

static void life(void)
{
    uint64_t id = fresh_id();
    chroprof_pending(&s.prof, id, any_site());
    chroprof_running(&s.prof, id);
    chroprof_paused(&s.prof, id);
    chroprof_running(&s.prof, id);
    chroprof_completed(&s.prof, id);
    s.calls++;
    s.completed++;
    expect(5, 2);
}

static void switches(void)
{
    uint32_t at = pick(LIVE);
    chroprof_running(&s.prof, s.ids[at]);
    for (uint32_t k = 1; k < 8; k++)
        chroprof_switch(&s.prof, s.ids[(at + k) % LIVE]);
    chroprof_switch(&s.prof, 0);
    expect(9, 8);
}

static void calls(void)
{
    for (int k = 0; k < 4; k++)
        chroprof_enter(&s.prof, &sites[k]);
    for (int k = 0; k < 4; k++)
        chroprof_leave(&s.prof);
    s.calls += 4;
    s.completed += 4;
    expect(8, 4);
}

static void nested_loop(void)
{
    chroprof_enter(&s.prof, &sites[4]);
    chroprof_loop_enter(&s.prof);
    slice();
    chroprof_loop_leave(&s.prof);
    chroprof_leave(&s.prof);
    s.calls++;
    s.completed++;
    expect(4, 1);
}

/* The oldest future fails; a callback creates one that takes its place. */
static void replace_oldest(void)
{
    chroprof_failed(&s.prof, s.ids[s.oldest]);
    s.ids[s.oldest] = fresh_id();
    chroprof_enter(&s.prof, &sites[5]);
    chroprof_pending(&s.prof, s.ids[s.oldest], any_site());
    chroprof_leave(&s.prof);
    s.oldest = (s.oldest + 1) % LIVE;
    s.calls += 2;
    s.completed++;
    s.failed++;
    expect(4, 1);
}

static void idle_iteration(void)
{
    chroprof_idle_enter(&s.prof);
    chroprof_idle_leave(&s.prof);
    slice();
    chroprof_tick(&s.prof);
    s.iterations++;
    expect(3, 0);
}

static void born_dead(void)
{
    chroprof_stillborn(&s.prof, any_site(), CHROPROF_COMPLETED);
    s.stillborn++;
    expect(1, 0);
}

static void (*const patterns[])(void) = {
    slice, life, switches, calls, ready_slice, replace_oldest, idle_iteration, nested_loop,
    late_ready_slice, born_dead
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* >>checks */

static int wrong;

static void same(const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        return;
    printf("WRONG: %s is %" PRIu64 ", must be %" PRIu64 "\n", what, got, want);
    wrong++;
}

static chroprof_rank sum_ranks(void)
{
    chroprof_rank rows[SITES + 4], sum;
    size_t count = chroprof_ranks(&s.prof, rows, SITES + 4, CHROPROF_BY_EXEC);
    memset(&sum, 0, sizeof sum);
    for (size_t k = 0; k < count; k++) {
        sum.slices += rows[k].slices;
        sum.calls += rows[k].calls;
        sum.completed += rows[k].completed;
        sum.failed += rows[k].failed;
        sum.stillborn += rows[k].stillborn;
        sum.exec_ns += rows[k].exec_ns;
    }
    return sum;
}

static void check_all(chroprof_totals *t)
{
    chroprof_rank sum = sum_ranks();
    const char *broken = chroprof_check(&s.prof);
    chroprof_read_totals(&s.prof, t);
    if (broken) {
        printf("WRONG: chroprof_check: %s\n", broken);
        wrong++;
    }
    same("events", t->events, s.events);
    same("anomalies", t->anomalies, 0);
    same("dropped", t->dropped, 0);
    same("live", t->live, LIVE);
    /* the last one goes on */
    same("iterations", t->iterations, s.iterations ? s.iterations - 1 : 0);
    same("slices", sum.slices, s.slices);
    same("calls", sum.calls, s.calls);
    same("completed", sum.completed, s.completed);
    same("failed", sum.failed, s.failed);
    same("stillborn", sum.stillborn, s.stillborn);
    same("elapsed", t->elapsed_ns, t->busy_ns + t->idle_ns + t->uninstrumented_ns);
    same("busy", t->busy_ns, sum.exec_ns + t->untracked_ns);
    same("blame", t->blame_ticks, t->delay_ticks);
}

/* Memory of this process that is not a file's, in KiB, counted page by page (statm is only about
 * right); 0: not told here. */
static long memory_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Anonymous:", 10) == 0)
            kib = strtol(line + 10, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

/* >>one: no counter of one site stays below 2^32. Each future is created anew over the one before
 * it (abandoned), then each running follows a lost pause (a slice each). */

static void check_one(uint64_t count)
{
    chroprof_totals t;
    chroprof_rank r;
    const char *broken = chroprof_check(&s.prof);
    chroprof_read_totals(&s.prof, &t);
    chroprof_ranks(&s.prof, &r, 1, CHROPROF_BY_EXEC);
    same("laws broken", broken != NULL, 0);
    same("events", t.events, 2 * count + 1);
    same("calls", r.calls, count);
    same("abandoned", r.abandoned, count - 1);
    same("completed", r.completed, 1);
    same("slices", r.slices, count);
    same("callbacks", t.callbacks, count);
    same("exec", r.exec_ns, count);
    same("largest future", r.exec_max_ns, count);
    same("wall", r.lifetime_ns, 2 * count);
    same("half of the slices", r.slice_p50_ns, 1);
    same("elapsed", t.elapsed_ns, 2 * count);
    same("anomalies", t.anomalies, count - 1);
}

static int soak_one(uint64_t count)
{
    static const chroprof_site site = { "soaked", "soak.c", 1 };
    chroprof_options o;
    uint64_t now = 0, k;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    if (chroprof_init(&s.prof, block, sizeof block, &o) != CHROPROF_OK)
        return 1;
    for (k = 0; k < count; k++)
        chroprof_event(&s.prof, CHROPROF_PENDING, 7, &site, ++now);
    for (k = 0; k < count; k++)
        chroprof_event(&s.prof, CHROPROF_RUNNING, 7, NULL, ++now);
    chroprof_event(&s.prof, CHROPROF_COMPLETED, 7, NULL, ++now);
    check_one(count);
    printf("%" PRIu64 " of each event: %s\n", count, wrong ? "FAILED" : "every count exact");
    return wrong != 0;
}

/* >>main */

static void begin(void)
{
    static char names[SITES][16];
    chroprof_result r = chroprof_init(&s.prof, block, sizeof block, NULL);
    if (r != CHROPROF_OK) {
        fprintf(stderr, "soak: %s\n", chroprof_result_text(r));
        exit(1);
    }
    for (uint32_t k = 0; k < SITES; k++) {
        snprintf(names[k], sizeof names[k], "task_%u", (unsigned)k);
        sites[k].name = names[k];
        sites[k].file = "soak.c";
        sites[k].line = k + 1;
    }
    for (uint32_t k = 0; k < LIVE; k++) {
        s.ids[k] = fresh_id();
        chroprof_pending(&s.prof, s.ids[k], any_site());
    }
    s.calls = s.events = LIVE;
}

/* One pattern a batch: branches are as predictable as in a program that does one thing for a
 * while. */
static void send_until(uint64_t events)
{
    while (s.events < events) {
        void (*pattern)(void) = patterns[pick(PATTERNS)];
        for (int k = 0; k < BATCH; k++)
            pattern();
    }
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000000u;
    chroprof_totals t;
    long before = 0;
    if (argc > 1 && strcmp(argv[1], "one") == 0)
        return soak_one(argc > 2 ? strtoull(argv[2], NULL, 10) : (UINT64_C(1) << 32) + 5);
    begin();
    for (uint64_t step = 1; step <= STEPS && !wrong; step++) {
        send_until(count / STEPS * step);
        check_all(&t);
        before = before ? before : memory_kib();
    }
    same("KiB of memory", (uint64_t)memory_kib(), (uint64_t)before);
    printf("%" PRIu64 " events, %.1f s of profile time, %.1f ns an event with the checks\n",
           t.events, (double)t.elapsed_ns / 1e9, (double)t.elapsed_ns / (double)t.events);
    printf("%" PRIu64 " slices, %" PRIu64 " calls, %" PRIu64 " iterations; delay = blame = %" PRIu64
           " ticks\n", s.slices, s.calls, s.iterations, t.blame_ticks);
    printf("block %d KiB, memory %ld KiB from the first 64th to the end\n", BLOCK >> 10, before);
    printf("%s\n", wrong ? "FAILED" : "both laws exact, every count exact, memory constant");
    return wrong != 0;
}
