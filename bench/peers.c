/* One slice (begin and end, nothing in it) by what people use instead: bench/peers.sh runs this.
 *
 *   peers MODE SLICES     prints nanoseconds and bytes of memory or file a slice; modes: see below
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../chroprof.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef WITH_STB
#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>
#endif
#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peers_tp.h"
#endif

enum { LIVE = 100, SITES = 16 };

typedef struct figure {
    uint64_t start, count, total, largest;
} figure;

typedef struct record {
    uint64_t time, id;
} record;

static chroprof prof;
static unsigned char memory[1 << 20];
static uint64_t ids[LIVE];
static chroprof_site sites[SITES];
static record *records;
static volatile uint64_t sink;
#ifdef WITH_STB
static struct { uint64_t key; figure value; } *map;
#endif

#define READ() chroprof_now(&prof)         /* the same clock for all */

static void do_nothing(uint64_t id)
{
    sink = id;
}

static void do_reads(uint64_t id)
{
    uint64_t t = READ();
    (void)id;
    sink = READ() - t;
}

static void do_chroprof(uint64_t id)
{
    chroprof_running(&prof, id);
    chroprof_paused(&prof, id);
}

/* Every event is stored: 16 bytes each. */
static void do_recorder(uint64_t id)
{
    records->time = READ();
    records->id = id << 1;
    records++;
    records->time = READ();
    records->id = id << 1 | 1;
    records++;
}

/* Count, total and largest of each future, in a hash map by id. */
static void do_stb(uint64_t id)
{
#ifdef WITH_STB
    hmgetp(map, id)->value.start = READ();
    figure *f = &hmgetp(map, id)->value;
    uint64_t spent = READ() - f->start;
    f->count++;
    f->total += spent;
    f->largest = spent > f->largest ? spent : f->largest;
#else
    (void)id;
#endif
}

static void do_lttng(uint64_t id)
{
#ifdef WITH_LTTNG
    lttng_ust_tracepoint(peers, running, id);
    lttng_ust_tracepoint(peers, paused, id);
#else
    (void)id;
#endif
}

/* A function of the program, as uftrace traces it and perf samples it. */
__attribute__((noinline)) void traced_slice(uint64_t id);
void traced_slice(uint64_t id)
{
    sink = id;
    __asm__ volatile("" ::: "memory");
}

typedef struct mode {
    const char *name;
    void (*slice)(uint64_t id);
    double bytes;                  /* a slice; 0: none, or what the script finds in files */
} mode;

static const mode modes[] = {
    { "nothing", do_nothing, 0 }, { "reads", do_reads, 0 }, { "chroprof", do_chroprof, 0 },
    { "stb_ds", do_stb, 0 }, { "recorder", do_recorder, 2 * sizeof(record) },
    { "lttng", do_lttng, 0 }, { "function", traced_slice, 0 }
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void prepare(uint64_t slices)
{
    chroprof_init(&prof, memory, sizeof memory, NULL);
    records = (record *)mmap(NULL, 2 * slices * sizeof(record), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint32_t k = 0; k < LIVE; k++) {
        ids[k] = 0x558000001000u + 112 * k;
        sites[k % SITES].name = "request";
        sites[k % SITES].line = k % SITES + 1;
        chroprof_pending(&prof, ids[k], &sites[k % SITES]);
#ifdef WITH_STB
        figure none;
        memset(&none, 0, sizeof none);
        hmput(map, ids[k], none);
#endif
    }
}

int main(int argc, char **argv)
{
    uint64_t slices = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    prepare(slices);
    for (size_t k = 0; argc > 1 && k < sizeof modes / sizeof modes[0]; k++) {
        if (strcmp(modes[k].name, argv[1]) != 0)
            continue;
        double t = now_ns();
        for (uint64_t i = 0, at = 0; i < slices; i++, at = at + 1 < LIVE ? at + 1 : 0)
            modes[k].slice(ids[at]);
        printf("%.2f %.1f\n", (now_ns() - t) / (double)slices, modes[k].bytes);
        return 0;
    }
    return 2;
}
