/* One iteration of a server, as real ones send their events: 14 of them, of seven kinds, at depths 0
 * to 2,
 * over six sites and 50 connections. A slice alone in a loop flatters: its branches are always right
 * and its lines always warm.
 *
 *   make bench-shape    ns an event and its ratio to a bare clock read, without work and with some; then, by
 *                       valgrind, instructions an event (the loop's own are some 6 of them). Then the same
 *                       with the sampler running, with on_stall and options of a server, and below a scope
 *   make bench-record   in a file, with `chroprof record` running beside it and without */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define CHROPROF_IMPLEMENTATION
#include "chroprof.h"

enum { CLIENTS = 50, EVENTS = 14, ITERATIONS = 20000, ROUNDS = 21 };
static chroprof prof;
static unsigned char memory[4 << 20], set[256 << 10];
static uint64_t ids[CLIENTS], random_state = 88172645463325252u;
static volatile uint64_t sink;
CHROPROF_SITE(client, "client");
CHROPROF_SITE(after, "after_sleep");
CHROPROF_SITE(before, "before_sleep");
CHROPROF_SITE(read_query, "read");
CHROPROF_SITE(get, "get");
CHROPROF_SITE(write_reply, "write");

/* Dependent loads and stores over 256 KiB, as a handler has them. */
static void work(int steps)
{
    uint64_t x = random_state, sum = 0;
    for (int k = 0; k < steps; k++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        unsigned char *p = set + x % sizeof(set);
        sum += *p;
        *p = (unsigned char)sum;
    }
    random_state = x;
    sink += sum;
}

__attribute__((noinline)) void one_iteration(uint64_t id, int steps)
{
    chroprof_idle_leave(&prof);
    chroprof_enter(&prof, &after);
    work(steps);
    chroprof_leave(&prof);
    chroprof_running(&prof, id);
    chroprof_enter(&prof, &read_query);
    work(steps);
    chroprof_leave(&prof);
    chroprof_enter(&prof, &get);
    work(steps);
    chroprof_leave(&prof);
    chroprof_paused(&prof, id);
    chroprof_enter(&prof, &before);
    chroprof_enter(&prof, &write_reply);
    work(steps);
    chroprof_leave(&prof);
    chroprof_leave(&prof);
    chroprof_idle_enter(&prof);
}

__attribute__((noinline)) void bare_iteration(uint64_t id, int steps)
{
    sink += id;
    for (int k = 0; k < 4; k++)
        work(steps);
}

__attribute__((noinline)) void reads(void)
{
    for (int k = 0; k < EVENTS; k++)
        sink += chroprof_now(&prof);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static void measure(const char *name, int steps)
{
    double added[ROUNDS], floor_ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double t0 = cpu_ns();
        for (int k = 0; k < ITERATIONS; k++)
            bare_iteration(ids[k % CLIENTS], steps);
        double t1 = cpu_ns();
        for (int k = 0; k < ITERATIONS; k++)
            one_iteration(ids[k % CLIENTS], steps);
        double t2 = cpu_ns();
        for (int k = 0; k < ITERATIONS; k++)
            reads();
        double t3 = cpu_ns();
        added[r] = ((t2 - t1) - (t1 - t0)) / ITERATIONS / EVENTS;
        floor_ns[r] = (t3 - t2) / ITERATIONS / EVENTS;
    }
    qsort(added, ROUNDS, sizeof(*added), by_size);
    qsort(floor_ns, ROUNDS, sizeof(*floor_ns), by_size);
    printf("%-28s %5.1f ns an event, %4.2f x a read of %4.1f ns\n", name, added[ROUNDS / 2],
           added[ROUNDS / 2] / floor_ns[ROUNDS / 2], floor_ns[ROUNDS / 2]);
}

/* The same in a file, so that others can look on: waits for a byte of input, then says what CPU time
 * an event took. */
static int in_file(const char *file, int iterations, int steps, int ring)
{
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.max_events = (uint32_t)ring;
    if (chroprof_map(&prof, file, 0, &options) != CHROPROF_OK) {
        (void)fprintf(stderr, "%s: %s\n", file, chroprof_why_off(&prof));
        return 1;
    }
    printf("ready\n");
    (void)fflush(stdout);
    (void)getchar();
    for (int k = 0; k < CLIENTS; k++)
        chroprof_pending(&prof, ids[k], &client);
    double from = 0;
    for (int k = 0; k < iterations + iterations / 8; k++) {
        if (k == iterations / 8)            /* the first ones warm up */
            from = cpu_ns();
        one_iteration(ids[k % CLIENTS], steps);
    }
    printf("%.3f\n", (cpu_ns() - from) / iterations / EVENTS);
    chroprof_unmap(&prof);
    return 0;
}

static void hear(void *user, const chroprof_stall *stall)
{
    (void)user;
    (void)stall;
}

/* What programs add to that: words of the command line. */
static int started(int argc, char **argv)
{
    chroprof_options options;
    memset(&options, 0, sizeof options);
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "on_stall") == 0)
            options.on_stall = hear;
        if (strcmp(argv[k], "server") == 0) {
            options.max_futures = 20000;
            options.max_sites = 100;
            options.stall_ns = 20000000;
            options.name = "server";
        }
    }
    if (chroprof_init(&prof, memory, sizeof(memory), &options) != CHROPROF_OK)
        return 0;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "sampler") == 0 &&
            chroprof_sampler_start(&prof, NULL) != CHROPROF_OK)
            return 0;
        if (strcmp(argv[k], "scope") == 0) {
            chroprof_enter(&prof, &client);
            chroprof_loop_enter(&prof);
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    for (int k = 0; k < CLIENTS; k++)
        ids[k] = 0x7f0000001000u + (uint64_t)k * 208;
    if (argc == 6 && strcmp(argv[1], "file") == 0)
        return in_file(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    if (!started(argc, argv))
        return 1;
    if (argc > 1 && strcmp(argv[1], "clock") == 0) {    /* a counter is not calibrated at once */
        chroprof_totals totals;
        chroprof_read_totals(&prof, &totals);
        printf("%s\n", totals.provisional ? "counter" : "system");
        return 0;
    }
    for (int k = 0; k < CLIENTS; k++)
        chroprof_pending(&prof, ids[k], &client);
    if (argc > 1 && strcmp(argv[1], "count") == 0) {
        for (int k = 0; k < ITERATIONS; k++)
            one_iteration(ids[k % CLIENTS], 0);
        return 0;
    }
    measure("an iteration, no work", 0);
    measure("an iteration, 4 x 140 ns of work", 40);
    return 0;
}
