/* The bench of chroprof: what an event costs, beside what the clock alone costs.
 *
 * Every row is a batch of the real calls, timed right after a batch of its floor (bare reads of the
 * same clock), some dozens of rounds in turn; a row's ratio is the median of the rounds' ratios. So
 * a machine that changes its speed, or is shared, moves both sides alike. No time makes it fail.
 *
 *   bench [--quick] [--json FILE] [--cpu N] [--work] [--worst] [FILTER]
 *   bench --loop ROW COUNT      runs one row's calls, untimed (for valgrind)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../chroprof.h"
#include "disabled.h"
#include "quiet.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "not told (-DBENCH_FLAGS)"
#endif

/* >>clock: what chroprof_now reads, as bare as it gets */

#if defined(__x86_64__) && !defined(CHROPROF_NO_TSC)
#include <x86intrin.h>
#define CLOCK_NAME "rdtsc"
static inline uint64_t clock_read(void) { return __rdtsc(); }
static inline void clock_fence(void) { _mm_lfence(); }
#elif defined(__aarch64__) && !defined(CHROPROF_NO_TSC)
#define CLOCK_NAME "cntvct_el0"
static inline uint64_t clock_read(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
static inline void clock_fence(void) { __asm__ volatile("isb" ::: "memory"); }
#else
#define CLOCK_NAME "clock_gettime"
static inline uint64_t clock_read(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline void clock_fence(void) { }
#endif

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* >>scene: a profile with so many sites, live futures and frames */

enum {
    NO_WINDOWS = 1, NO_HISTOGRAMS = 2, NO_STALLS = 4, MAPPED = 8, READER = 16, MANUAL = 32,
    OFF = 64, AT_RANDOM = 128, COUNTER_IDS = 256, SNAPSHOTS = 512
};
enum { MAX_SITES = 1000, CYCLE = 4096, NAME_BYTES = 24, MAX_DEPTH = 72 };

typedef struct scene {
    uint32_t sites, live, depth;
    unsigned flags;
} scene;

typedef struct bench {
    chroprof prof;
    scene now;
    unsigned char *block;
    size_t block_size;
    uint64_t *order;           /* ids in the order in which a row visits them */
    uint32_t order_mask, at;
    uint32_t site_mask;        /* of the calls that name a site: 16 of them, or about all */
    uint64_t *pool;            /* every id of the scene; the first `live` are live at the start */
    uint32_t pool_count;
    uint64_t *chase;           /* a table as large as the futures', each entry the next to visit */
    size_t chase_bytes;
    uint64_t chase_at;
    uint64_t manual;           /* the manual clock's time */
    uint64_t hand_ticks, hand_count, hand_max;
    uint32_t *work;            /* the working set of --work */
    uint32_t work_steps;
    uint64_t work_state;
    pid_t reader;
    volatile uint64_t *snapshots;   /* of the reader: taken, refused */
    int cpu;
    int rounds;
    double crowding;           /* of a core of our own, as far as was seen */
} bench;

static char site_names[MAX_SITES][NAME_BYTES];
static chroprof_site sites[MAX_SITES];
static volatile uint64_t sink;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void *memory_or_exit(size_t size, int flags, int file)
{
    void *m = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (m == MAP_FAILED) {
        perror("bench: mmap");
        exit(1);
    }
    return m;
}

static void *pages(size_t size)
{
    return memory_or_exit(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void make_sites(void)
{
    for (uint32_t i = 0; i < MAX_SITES; i++) {
        snprintf(site_names[i], NAME_BYTES, "handle_request_%u", (unsigned)i);
        sites[i].name = site_names[i];
        sites[i].file = "src/server.c";
        sites[i].line = 10 + 3 * i;
    }
}

static const chroprof_site *site_of(const bench *b, uint32_t index)
{
    return &sites[index % b->now.sites];
}

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t p = CYCLE;
    while (p < at_least)
        p *= 2;
    return p;
}

/* Ids as a heap hands them out (blocks of 112 bytes), or a plain counter. */
static void make_ids(bench *b)
{
    uint32_t i, fresh = b->now.live > CYCLE ? b->now.live : CYCLE;
    b->pool_count = b->now.live + fresh + MAX_DEPTH;
    b->pool = (uint64_t *)pages(b->pool_count * sizeof *b->pool);
    for (i = 0; i < b->pool_count; i++)
        b->pool[i] = b->now.flags & COUNTER_IDS ? i + 1 : 0x558000001000u + (uint64_t)i * 112;
}

static void shuffle(uint64_t *a, uint32_t count)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(mix(i) % (i + 1));
        uint64_t t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}

static void make_order(bench *b)
{
    uint32_t i, count = power_of_two(b->now.live);
    b->order = (uint64_t *)pages(count * sizeof *b->order);
    b->order_mask = count - 1;
    b->at = 0;
    for (i = 0; i < count; i++)
        b->order[i] = b->pool[i % b->now.live];
    if (b->now.flags & AT_RANDOM)
        shuffle(b->order, count);
}

/* One cycle through all cache lines of a table of that size, in random order. */
static void make_chase(bench *b)
{
    uint64_t i, lines = b->chase_bytes / 64;
    b->chase = (uint64_t *)pages(b->chase_bytes);
    b->chase_at = 0;
    for (i = 0; i < lines; i++)
        b->chase[i * 8] = i;
    for (i = lines - 1; i > 0; i--) {
        uint64_t j = mix(i) % i;
        uint64_t t = b->chase[i * 8];
        b->chase[i * 8] = b->chase[j * 8];
        b->chase[j * 8] = t;
    }
}

static size_t futures_bytes(const chroprof *p)
{
    chroprof_table t[CHROPROF_TABLE_COUNT];
    memset(t, 0, sizeof t);
    chroprof_tables(p, t, CHROPROF_TABLE_COUNT);
    return (size_t)t[CHROPROF_TABLE_FUTURES].bytes;
}

static chroprof_options options_of(const scene *s)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_futures = s->live + MAX_DEPTH < 1024 ? 1024 : s->live + MAX_DEPTH;
    o.max_sites = MAX_SITES + 24;
    o.max_paths = 2 * MAX_SITES + 128;
    o.max_depth = 128;
    o.max_histograms = s->flags & NO_HISTOGRAMS ? 1 : s->sites + 8;
    o.window_ns = s->flags & NO_WINDOWS ? (uint64_t)1 << 50 : 0;
    o.stall_ns = s->flags & NO_STALLS ? (uint64_t)1 << 50 : 0;
    o.max_step_ns = (uint64_t)1 << 50;
    o.clock = s->flags & MANUAL ? chroprof_clock_manual : NULL;
    o.name = "bench";
    return o;
}

static unsigned char *make_block(const scene *s, size_t size)
{
    unsigned char *m;
    FILE *f;
    if (!(s->flags & (MAPPED | READER | SNAPSHOTS)))
        return (unsigned char *)pages(size);
    f = tmpfile();
    if (!f || ftruncate(fileno(f), (off_t)size) != 0) {
        perror("bench: temporary file");
        exit(1);
    }
    m = (unsigned char *)memory_or_exit(size, MAP_SHARED, fileno(f));
    fclose(f);
    return m;
}

static bool pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* What chroprof top does, without ever pausing. */
static void take_snapshots(const bench *b)
{
    unsigned char *copy = (unsigned char *)pages(b->block_size);
    for (;;)
        b->snapshots[chroprof_snapshot(b->block, b->block_size, copy, b->block_size) !=
                     CHROPROF_OK]++;
}

/* Another process on another cpu reads the whole block, or takes snapshots, over and over. */
static void start_reader(bench *b)
{
    b->snapshots = (volatile uint64_t *)memory_or_exit(64, MAP_SHARED | MAP_ANONYMOUS, -1);
    b->reader = fork();
    if (b->reader != 0)
        return;
    pin(b->cpu == 0 ? 1 : 0);
    if (b->now.flags & SNAPSHOTS)
        take_snapshots(b);
    for (;;) {
        uint64_t sum = 0;
        for (size_t i = 0; i < b->block_size; i += 64)
            sum += ((volatile const unsigned char *)b->block)[i];
        sink = sum;
    }
}

static void stop_reader(bench *b)
{
    if (b->reader > 0) {
        kill(b->reader, SIGKILL);
        waitpid(b->reader, NULL, 0);
        if (b->now.flags & SNAPSHOTS)
            printf("  (the reader took %llu snapshots, %llu more failed)\n",
                   (unsigned long long)b->snapshots[0], (unsigned long long)b->snapshots[1]);
        munmap((void *)(uintptr_t)b->snapshots, 64);
    }
    b->reader = 0;
}

static void fill_scene(bench *b)
{
    uint32_t i;
    for (i = 0; i < b->now.live; i++)
        chroprof_pending(&b->prof, b->pool[i], site_of(b, i));
    for (i = 0; i < b->now.depth; i++) {
        uint64_t id = b->pool[b->pool_count - 1 - i];
        chroprof_pending(&b->prof, id, site_of(b, i));
        chroprof_running(&b->prof, id);
    }
}

static void begin_scene(bench *b, const scene *s)
{
    chroprof_options o = options_of(s);
    chroprof_result r;
    b->now = *s;
    b->manual = 1;
    b->site_mask = s->sites > 16 ? 1023 : 15;
    b->block_size = chroprof_memory_size(&o);
    b->block = make_block(s, b->block_size);
    r = chroprof_init(&b->prof, b->block, b->block_size, &o);
    if (r != CHROPROF_OK) {
        fprintf(stderr, "bench: %s\n", chroprof_result_text(r));
        exit(1);
    }
    make_ids(b);
    make_order(b);
    fill_scene(b);
    chroprof_set_enabled(&b->prof, !(s->flags & OFF));
    if (s->flags & (READER | SNAPSHOTS))
        start_reader(b);
}

static void end_scene(bench *b)
{
    const char *broken = chroprof_check(&b->prof);
    stop_reader(b);
    if (broken)
        printf("  (chroprof_check: %s)\n", broken);
    munmap(b->block, b->block_size);
    munmap(b->pool, b->pool_count * sizeof *b->pool);
    munmap(b->order, (b->order_mask + 1) * sizeof *b->order);
    if (b->chase)
        munmap(b->chase, b->chase_bytes);
    b->chase = NULL;
}

/* >>floors */

typedef void (*loop)(bench *b, uint32_t count);

static void read_1(bench *b, uint32_t count)
{
    uint64_t sum = 0, last = clock_read();
    (void)b;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t = clock_read();
        sum += t - last;
        last = t;
    }
    sink = sum;
}

static void read_2(bench *b, uint32_t count)
{
    uint64_t sum = 0;
    (void)b;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t = clock_read();
        sum += clock_read() - t;
    }
    sink = sum;
}

static void read_3(bench *b, uint32_t count)
{
    uint64_t sum = 0;
    (void)b;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t0 = clock_read(), t1 = clock_read();
        sum += clock_read() - t1 + t0;
    }
    sink = sum;
}

static void read_5(bench *b, uint32_t count)
{
    uint64_t sum = 0;
    (void)b;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t0 = clock_read(), t1 = clock_read(), t2 = clock_read(), t3 = clock_read();
        sum += clock_read() - t3 + t2 - t1 + t0;
    }
    sink = sum;
}

static void read_14(bench *b, uint32_t count)
{
    uint64_t sum = 0;
    (void)b;
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 7; k++) {
            uint64_t t0 = clock_read();
            sum += clock_read() - t0;
        }
    }
    sink = sum;
}

static void load_1(bench *b, uint32_t count)
{
    uint64_t at = b->chase_at;
    for (uint32_t i = 0; i < count; i++)
        at = b->chase[at * 8];
    b->chase_at = at;
}

static void read_2_load(bench *b, uint32_t count)
{
    uint64_t sum = 0, at = b->chase_at;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t = clock_read();
        at = b->chase[at * 8];
        sum += clock_read() - t;
    }
    b->chase_at = at;
    sink = sum;
}

/* What one keeps by hand in a variable: count, total and largest of one kind of slice. */
static void run_by_hand(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t = clock_read();
        uint64_t spent;
        __asm__ volatile("" ::: "memory");
        spent = clock_read() - t;
        b->hand_count++;
        b->hand_ticks += spent;
        if (spent > b->hand_max)
            b->hand_max = spent;
    }
}

static void run_clock_gettime(bench *b, uint32_t count)
{
    struct timespec t;
    (void)b;
    for (uint32_t i = 0; i < count; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    sink = (uint64_t)t.tv_nsec;
}

/* >>rows */

static inline uint64_t next_id(bench *b)
{
    return b->order[b->at++ & b->order_mask];
}

/* An id that is not live: the part of the pool behind the live ones, in turn. */
static inline uint64_t fresh_id(bench *b)
{
    return b->pool[b->now.live + (b->at++ & (CYCLE - 1))];
}

static void run_slice(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_running(&b->prof, id);
        chroprof_paused(&b->prof, id);
    }
}

static void run_ready_slice(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_ready(&b->prof, id);
        chroprof_running(&b->prof, id);
        chroprof_paused(&b->prof, id);
    }
}

static void run_since_slice(bench *b, uint32_t count)
{
    uint64_t since = chroprof_now(&b->prof);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_ready_since(&b->prof, id, since);
        chroprof_running(&b->prof, id);
        chroprof_paused(&b->prof, id);
        if ((i & 15) == 15)
            since = chroprof_now(&b->prof);
    }
}

static void run_switch(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        chroprof_switch(&b->prof, next_id(b));
}

static void run_enter(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        chroprof_enter(&b->prof, site_of(b, b->at++ & b->site_mask));
        chroprof_leave(&b->prof);
    }
}

static void run_idle(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        chroprof_idle_enter(&b->prof);
        chroprof_idle_leave(&b->prof);
    }
}

/* One pass as servers send it: 14 events of seven kinds, the connections in turn. */
static void run_iteration(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_idle_leave(&b->prof);
        chroprof_enter(&b->prof, &sites[1]);
        chroprof_leave(&b->prof);
        chroprof_running(&b->prof, id);
        chroprof_enter(&b->prof, &sites[2]);
        chroprof_leave(&b->prof);
        chroprof_enter(&b->prof, &sites[3]);
        chroprof_leave(&b->prof);
        chroprof_paused(&b->prof, id);
        chroprof_enter(&b->prof, &sites[4]);
        chroprof_enter(&b->prof, &sites[5]);
        chroprof_leave(&b->prof);
        chroprof_leave(&b->prof);
        chroprof_idle_enter(&b->prof);
    }
}

static void run_tick(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        chroprof_tick(&b->prof);
}

static void run_life(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const chroprof_site *site = site_of(b, b->at & b->site_mask);
        uint64_t id = fresh_id(b);
        chroprof_pending(&b->prof, id, site);
        chroprof_running(&b->prof, id);
        chroprof_paused(&b->prof, id);
        chroprof_running(&b->prof, id);
        chroprof_completed(&b->prof, id);
    }
}

/* A primitive future: a timer or a socket's readiness. */
static void run_short_life(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const chroprof_site *site = site_of(b, b->at & 15);
        uint64_t id = fresh_id(b);
        chroprof_pending(&b->prof, id, site);
        chroprof_completed(&b->prof, id);
    }
}

/* One is created, the oldest ends: as many live as before, ids used again after a while. */
static void run_churn(bench *b, uint32_t count)
{
    uint32_t live = b->now.live, total = 2 * live;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t young = b->pool[(b->at + live) % total], old = b->pool[b->at % total];
        chroprof_pending(&b->prof, young, site_of(b, b->at & 15));
        chroprof_running(&b->prof, old);
        chroprof_completed(&b->prof, old);
        b->at++;
    }
}

static void run_gate(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_event(&b->prof, CHROPROF_RUNNING, id, NULL, b->manual);
        chroprof_event(&b->prof, CHROPROF_PAUSED, id, NULL, b->manual + 137);
        b->manual += 200;
    }
}

/* The same with lengths that scatter over the histogram, 32 ns to 1 ms. */
static void run_gate_spread(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b), r = mix(b->manual);
        chroprof_event(&b->prof, CHROPROF_RUNNING, id, NULL, b->manual);
        b->manual += (32 + (r & 31)) << (r >> 32 & 15);
        chroprof_event(&b->prof, CHROPROF_PAUSED, id, NULL, b->manual);
        b->manual += 10;
    }
}

typedef struct row {
    const char *group, *name;
    loop run, floor;
    const char *floor_name;
    double target;             /* 0: none */
    scene with;
} row;

#define MANY 1000000
#define TWO read_2, "2 reads"

static const row rows[] = {
    { "server", "an iteration of 14 events", run_iteration, read_14, "14 reads", 1.15,
      { 16, 50, 0, 0 } },
    { "server", "an iteration below a scope", run_iteration, read_14, "14 reads", 1.15,
      { 16, 50, 1, 0 } },

    { "calls", "slice", run_slice, TWO, 1.10, { 16, 100, 0, 0 } },
    { "calls", "switch", run_switch, read_1, "1 read", 1.30, { 16, 100, 0, 0 } },
    { "calls", "life", run_life, read_5, "5 reads", 1.20, { 16, 100, 0, 0 } },
    { "calls", "enter/leave", run_enter, TWO, 0, { 16, 100, 0, 0 } },
    { "calls", "idle enter/leave", run_idle, TWO, 0, { 16, 100, 0, 0 } },
    { "calls", "tick", run_tick, read_1, "1 read", 0, { 16, 100, 0, 0 } },
    { "calls", "pending + completed", run_short_life, TWO, 0, { 16, 100, 0, 0 } },
    { "calls", "by hand: count, total, max", run_by_hand, TWO, 0, { 16, 100, 0, 0 } },
    { "calls", "clock_gettime", run_clock_gettime, read_1, "1 read", 0, { 16, 100, 0, 0 } },

    { "depth", "slice at depth 2", run_slice, TWO, 1.10, { 16, 100, 1, 0 } },
    { "depth", "slice at depth 4", run_slice, TWO, 1.10, { 16, 100, 3, 0 } },
    { "depth", "slice at depth 8", run_slice, TWO, 1.10, { 16, 100, 7, 0 } },
    { "depth", "slice at depth 16", run_slice, TWO, 1.10, { 16, 100, 15, 0 } },
    { "depth", "slice at depth 32", run_slice, TWO, 1.10, { 16, 100, 31, 0 } },
    { "depth", "slice at depth 64", run_slice, TWO, 1.10, { 16, 100, 63, 0 } },
    { "depth", "switch at depth 8", run_switch, read_1, "1 read", 1.30, { 16, 100, 7, 0 } },
    { "depth", "switch at depth 64", run_switch, read_1, "1 read", 1.30, { 16, 100, 63, 0 } },
    { "depth", "life at depth 64", run_life, read_5, "5 reads", 1.20, { 16, 100, 63, 0 } },
    { "depth", "enter/leave at depth 64", run_enter, TWO, 0, { 16, 100, 63, 0 } },
    { "depth", "life at depth 8", run_life, read_5, "5 reads", 1.20, { 16, 100, 7, 0 } },
    { "depth", "enter/leave at depth 8", run_enter, TWO, 0, { 16, 100, 7, 0 } },

    { "sites", "slice, 1,000 sites and live", run_slice, TWO, 0, { 1000, 1000, 0, 0 } },
    { "sites", "slice, 1,000 sites, random", run_slice, TWO, 0, { 1000, 1000, 0, AT_RANDOM } },
    { "sites", "switch, 1,000 sites", run_switch, read_1, "1 read", 0, { 1000, 1000, 0, 0 } },
    { "sites", "life, 1,000 sites", run_life, read_5, "5 reads", 0, { 1000, 1000, 0, 0 } },
    { "sites", "enter/leave, 1,000 sites", run_enter, TWO, 0, { 1000, 1000, 0, 0 } },

    { "live", "slice, 1 live", run_slice, TWO, 1.10, { 16, 1, 0, 0 } },
    { "live", "slice, 10 live", run_slice, TWO, 1.10, { 16, 10, 0, 0 } },
    { "live", "slice, 100 live, random", run_slice, TWO, 1.10, { 16, 100, 0, AT_RANDOM } },
    { "live", "slice, 1,000 live", run_slice, TWO, 0, { 16, 1000, 0, 0 } },
    { "live", "slice, 1,000 live, random", run_slice, TWO, 0, { 16, 1000, 0, AT_RANDOM } },
    { "live", "slice, 10,000 live", run_slice, TWO, 0, { 16, 10000, 0, 0 } },
    { "live", "slice, 10,000 live, random", run_slice, TWO, 0, { 16, 10000, 0, AT_RANDOM } },
    { "live", "slice, 100,000 live", run_slice, TWO, 0, { 16, 100000, 0, 0 } },
    { "live", "slice, 100,000 live, random", run_slice, read_2_load, "2 reads + load", 0,
      { 16, 100000, 0, AT_RANDOM } },
    { "live", "slice, 1,000,000 live", run_slice, TWO, 0, { 16, MANY, 0, 0 } },
    { "live", "slice, 1,000,000 live, random", run_slice, read_2_load, "2 reads + load", 0.90,
      { 16, MANY, 0, AT_RANDOM } },
    { "live", "switch, 1,000,000 live, random", run_switch, read_2_load, "2 reads + load", 0,
      { 16, MANY, 0, AT_RANDOM } },
    { "live", "life, 10,000 live", run_life, read_5, "5 reads", 0, { 16, 10000, 0, 0 } },
    { "live", "life, 1,000,000 live", run_life, read_5, "5 reads", 0, { 16, MANY, 0, 0 } },
    { "live", "oldest ends, 100 live", run_churn, read_3, "3 reads", 0, { 16, 100, 0, 0 } },
    { "live", "oldest ends, 10,000 live", run_churn, read_3, "3 reads", 0, { 16, 10000, 0, 0 } },
    { "live", "oldest ends, 1,000,000 live", run_churn, read_3, "3 reads", 0, { 16, MANY, 0, 0 } },
    { "live", "slice, counters as ids", run_slice, TWO, 1.10, { 16, 100, 0, COUNTER_IDS } },
    { "live", "slice, 1,000,000 counters, random", run_slice, read_2_load, "2 reads + load", 0.90,
      { 16, MANY, 0, AT_RANDOM | COUNTER_IDS } },

    { "features", "slice, windows off", run_slice, TWO, 1.10, { 16, 100, 0, NO_WINDOWS } },
    { "features", "slice, histograms off", run_slice, TWO, 1.10, { 16, 100, 0, NO_HISTOGRAMS } },
    { "features", "slice, stalls off", run_slice, TWO, 1.10, { 16, 100, 0, NO_STALLS } },
    { "features", "slice, all three off", run_slice, TWO, 1.10,
      { 16, 100, 0, NO_WINDOWS | NO_HISTOGRAMS | NO_STALLS } },
    { "features", "life, all three off", run_life, read_5, "5 reads", 1.20,
      { 16, 100, 0, NO_WINDOWS | NO_HISTOGRAMS | NO_STALLS } },
    { "features", "switch, all three off", run_switch, read_1, "1 read", 1.30,
      { 16, 100, 0, NO_WINDOWS | NO_HISTOGRAMS | NO_STALLS } },
    { "features", "ready + slice", run_ready_slice, read_3, "3 reads", 0, { 16, 100, 0, 0 } },
    { "features", "ready_since + slice", run_since_slice, read_3, "3 reads", 0,
      { 16, 100, 0, 0 } },
    { "features", "slice, block in a mapped file", run_slice, TWO, 1.10, { 16, 100, 0, MAPPED } },
    { "features", "slice, another cpu reads the block", run_slice, TWO, 0,
      { 16, 100, 0, READER } },
    { "features", "slice, a live reader takes snapshots", run_slice, TWO, 0,
      { 16, 100, 0, SNAPSHOTS } },

    { "gate", "slice by chroprof_event", run_gate, TWO, 0, { 16, 100, 0, MANUAL } },
    { "gate", "slice, 32 ns to 1 ms", run_gate_spread, TWO, 0, { 16, 100, 0, MANUAL } },
    { "gate", "slice at depth 64", run_gate, TWO, 0, { 16, 100, 63, MANUAL } },
    { "off", "slice, switched off", run_slice, TWO, 0, { 16, 100, 0, OFF } }
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* >>measure */

enum { MAX_ROUNDS = 101 };

typedef struct figures {
    double ns, floor_ns, ratio, ratio_low, ratio_high;
    double crowding;           /* the higher one of before and after the round */
    double disturbed;          /* of a summary: of the worst round in it */
} figures;

/* In this thread's own time on the cpu: who else had the cpu meanwhile does not count. */
static double batch_ns(bench *b, loop run, uint32_t count)
{
    double t = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    run(b, count);
    return (seconds_of(CLOCK_THREAD_CPUTIME_ID) - t) * 1e9 / count;
}

/* How many to run for a batch of about that length. */
static uint32_t batch_count(bench *b, loop run, double ns)
{
    double each = batch_ns(b, run, 1000);
    double again = batch_ns(b, run, 1000);
    each = again < each ? again : each;
    return (uint32_t)(ns / (each < 0.5 ? 0.5 : each)) + 100;
}

/* Sixteen additions that wait for each other: they take as long on a core that is shared. */
#define ADD(x) x += i; __asm__ volatile("" : "+r"(x));
#define ADD_4(x) ADD(x) ADD(x) ADD(x) ADD(x)

static void add_chain(bench *b, uint32_t count)
{
    uint64_t x = 1;
    (void)b;
    for (uint64_t i = 0; i < count; i++) {
        ADD_4(x) ADD_4(x)
        ADD_4(x) ADD_4(x)
    }
    sink = x;
}

/* The same, but a jump back after each: two threads on a core jump in turn. In assembler, because
 * some cores are slow at a jump that crosses a line of 32 bytes. */
static void add_jumps(bench *b, uint32_t count)
{
    uint64_t x = 1, i = 16 * (uint64_t)count;
    (void)b;
#if defined(__x86_64__)
    __asm__ volatile(".p2align 5\n0:\tadd %1, %0\n\tdec %1\n\tjnz 0b" : "+r"(x), "+r"(i) : : "cc");
#else
    for (; i > 0; i--) {
        ADD(x)
    }
#endif
    sink = x;
}

/* The most that it can be on a core of one's own: the cores of x86-64 jump once a cycle. */
#if defined(__x86_64__)
#define MOST_CROWDING 1.2
#else
#define MOST_CROWDING 1e9
#endif

/* Does another thread share the core (quiet.h)? Bookkeeping takes up to twice as long then, a clock
 * read does not. */
static double take_crowding(bench *b)
{
    double jumps[3], chain[3];
    for (int i = 0; i < 3; i++) {
        jumps[i] = batch_ns(b, add_jumps, 1000);
        chain[i] = batch_ns(b, add_chain, 1000);
    }
    return quiet_crowding(jumps, chain, 3);
}

/* What it is over a while, to compare with. */
static void find_crowding(bench *b)
{
    static double seen[2000];
    int count = 0;
    double end = seconds_of(CLOCK_MONOTONIC) + 0.2;
    while (count < 2000 && (count == 0 || seconds_of(CLOCK_MONOTONIC) < end))
        seen[count++] = take_crowding(b);
    b->crowding = quiet_base(seen, count, MOST_CROWDING);
}

static bool uncrowded(bench *b)
{
    round_evidence e = { 1, 1, 0, 0 };
    e.crowding = take_crowding(b);
    return quiet(disturbance(&e, b->crowding));
}

static long switched_out(void)
{
    struct rusage r;
    return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : 0;
}

static int by_disturbance(const void *a, const void *b)
{
    return quiet_by_value(&((const figures *)a)->disturbed, &((const figures *)b)->disturbed);
}

static figures summary(const figures *rounds, int count)
{
    double own[MAX_ROUNDS], base[MAX_ROUNDS], ratio[MAX_ROUNDS];
    figures f;
    for (int i = 0; i < count; i++) {
        own[i] = rounds[i].ns;
        base[i] = rounds[i].floor_ns;
        ratio[i] = rounds[i].ratio;
    }
    f.ns = quantile(own, count, 0.5);
    f.floor_ns = quantile(base, count, 0.5);
    f.ratio = quantile(ratio, count, 0.5);
    f.ratio_low = quantile(ratio, count, 0.25);
    f.ratio_high = quantile(ratio, count, 0.75);
    f.disturbed = rounds[count - 1].disturbed;
    return f;
}

/* One batch of the floor, one of the calls, framed by the additions. */
static figures one_round(bench *b, loop run, uint32_t count, loop floor_run, uint32_t floor_count)
{
    figures f;
    round_evidence e;
    double before = take_crowding(b), after;
    memset(&f, 0, sizeof f);
    e.switches = switched_out();
    e.lifetime_ns = seconds_of(CLOCK_MONOTONIC) * 1e9;
    e.cpu_ns = seconds_of(CLOCK_THREAD_CPUTIME_ID) * 1e9;
    f.floor_ns = batch_ns(b, floor_run, floor_count);
    f.ns = batch_ns(b, run, count);
    e.cpu_ns = seconds_of(CLOCK_THREAD_CPUTIME_ID) * 1e9 - e.cpu_ns;
    e.lifetime_ns = seconds_of(CLOCK_MONOTONIC) * 1e9 - e.lifetime_ns;
    e.switches = switched_out() - e.switches;
    f.ratio = f.ns / f.floor_ns;
    after = take_crowding(b);
    e.crowding = f.crowding = after > before ? after : before;
    f.disturbed = disturbance(&e, b->crowding);
    return f;
}

/* A calmer core than any before it: the next rows are compared with that. */
static void learn_crowding(bench *b, const figures *rounds, int count)
{
    double seen[8 * MAX_ROUNDS], base;
    for (int i = 0; i < count; i++)
        seen[i] = rounds[i].crowding;
    base = quiet_base(seen, count, MOST_CROWDING);
    b->crowding = base < b->crowding ? base : b->crowding;
}

/* Rounds until enough of them were quiet, at most eight times as many; then the calmest count. */
static figures measure(bench *b, loop run, loop floor_run)
{
    static figures rounds[8 * MAX_ROUNDS];
    double length = b->now.live >= 10000 ? 1e6 : 3e5;
    uint32_t count = batch_count(b, run, length);
    uint32_t floor_count = batch_count(b, floor_run, length);
    int done = 0, calm = 0;
    for (; done < 8 * b->rounds && calm < b->rounds; done++) {
        rounds[done] = one_round(b, run, count, floor_run, floor_count);
        calm += quiet(rounds[done].disturbed);
    }
    learn_crowding(b, rounds, done);
    qsort(rounds, (size_t)done, sizeof rounds[0], by_disturbance);
    return summary(rounds, done < b->rounds ? done : b->rounds);
}

/* >>output */

static FILE *json;
static bool json_open;

static void json_begin(const char *key)
{
    if (json)
        fprintf(json, "%s\n \"%s\": ", json_open ? "," : "{", key);
    json_open = true;
}

static void json_text(const char *key, const char *text)
{
    json_begin(key);
    if (json) {
        fputc('"', json);
        for (; *text; text++)
            if (*text == '"' || *text == '\\')
                fprintf(json, "\\%c", *text);
            else if ((unsigned char)*text >= ' ')
                fputc(*text, json);
        fputc('"', json);
    }
}

static void json_number(const char *key, double value)
{
    json_begin(key);
    if (json)
        fprintf(json, "%.3f", value);
}

static void fact(const char *key, const char *text)
{
    printf("%-10s%s\n", key, text);
    json_text(key, text);
}

static void cpu_model(char *out, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown cpu");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (f)
        fclose(f);
}

static void print_machine(const bench *b)
{
    char model[128], text[320];
    struct utsname u;
    memset(&u, 0, sizeof u);
    uname(&u);
    cpu_model(model, sizeof model);
    snprintf(text, sizeof text, "%s, %ld cpus, %s %s, on cpu %d", model,
             sysconf(_SC_NPROCESSORS_ONLN), u.sysname, u.release, b->cpu);
    fact("version", CHROPROF_VERSION);
    fact("machine", text);
#ifdef __clang__
    fact("compiler", "clang " __clang_version__);
#else
    fact("compiler", "gcc " __VERSION__);
#endif
    fact("flags", BENCH_FLAGS);
    fact("clock", CLOCK_NAME);
}

static void print_floor(bench *b, const char *name, const char *key, loop run)
{
    double ns[MAX_ROUNDS], lowest;
    uint32_t count = batch_count(b, run, 3e5);
    for (int i = 0; i < b->rounds; i++)
        ns[i] = batch_ns(b, run, count);
    lowest = quantile(ns, b->rounds, 0);
    printf("  %-36s %8.2f  (lowest %.2f)\n", name, quantile(ns, b->rounds, 0.5), lowest);
    json_number(key, quantile(ns, b->rounds, 0.5));
}

static void print_floors(bench *b)
{
    static const scene plain = { 16, 100, 0, 0 };
    begin_scene(b, &plain);
    printf("\nfloors%34s\n", "ns");
    print_floor(b, "1 read", "floor_1_ns", read_1);
    print_floor(b, "2 reads", "floor_2_ns", read_2);
    print_floor(b, "3 reads", "floor_3_ns", read_3);
    print_floor(b, "5 reads", "floor_5_ns", read_5);
    end_scene(b);
}

static const char *verdict(double target, double value)
{
    return target <= 0 ? "" : value <= target ? "met" : "missed";
}

static void json_row(const row *r, const figures *f)
{
    static bool first = true;
    if (!json)
        return;
    if (first)
        json_begin("rows");
    fprintf(json, "%s\n  {\"group\": \"%s\", \"name\": \"%s\", \"ns\": %.2f, \"floor\": \"%s\", "
            "\"floor_ns\": %.2f, \"ratio\": %.3f, \"ratio_p25\": %.3f, \"ratio_p75\": %.3f, "
            "\"quiet\": %s",
            first ? "[" : ",", r->group, r->name, f->ns, r->floor_name, f->floor_ns, f->ratio,
            f->ratio_low, f->ratio_high, quiet(f->disturbed) ? "true" : "false");
    if (r->target > 0)
        fprintf(json, ", \"target\": %.2f, \"met\": %s", r->target,
                f->ratio <= r->target ? "true" : "false");
    fprintf(json, "}");
    first = false;
}

static void print_row(const row *r, const figures *f)
{
    printf("  %-36s %8.2f %8.2f %6.2f", r->name, f->ns, f->floor_ns, f->ratio);
    printf("  %.2f-%.2f", f->ratio_low, f->ratio_high);
    if (r->target > 0)
        printf("  %.2f %s", r->target, verdict(r->target, f->ratio));
    printf("%s\n", quiet(f->disturbed) ? "" : "  (shared core)");
    fflush(stdout);
    json_row(r, f);
}

static bool wanted(const char *filter, const char *group, const char *name)
{
    return !filter || strstr(name, filter) || strcmp(group, filter) == 0;
}

static void run_row(bench *b, const row *r)
{
    figures f;
    begin_scene(b, &r->with);
    if (r->floor == read_2_load) {
        b->chase_bytes = futures_bytes(&b->prof);
        make_chase(b);
    }
    f = measure(b, r->run, r->floor);
    print_row(r, &f);
    end_scene(b);
}

static void run_rows(bench *b, const char *filter)
{
    const char *group = "";
    for (int i = 0; i < ROW_COUNT; i++) {
        const row *r = &rows[i];
        if (!wanted(filter, r->group, r->name))
            continue;
        if (strcmp(group, r->group) != 0)
            printf("\n%-38s %8s %8s %6s  %-9s  %s\n", r->group, "ns", "floor", "ratio", "quartiles",
                   "target");
        group = r->group;
        run_row(b, r);
    }
    if (json && *group)
        fprintf(json, "\n ]");
}

/* >>load: is the floor of the million-live rows honest? Reads and load together and apart. */

static void print_load(bench *b)
{
    static const scene many = { 16, MANY, 0, AT_RANDOM };
    double reads[MAX_ROUNDS], load[MAX_ROUNDS], both[MAX_ROUNDS];
    begin_scene(b, &many);
    b->chase_bytes = futures_bytes(&b->prof);
    make_chase(b);
    for (int i = 0; i < b->rounds; i++) {
        reads[i] = batch_ns(b, read_2, 20000);
        load[i] = batch_ns(b, load_1, 20000);
        both[i] = batch_ns(b, read_2_load, 20000);
    }
    printf("\nthe floor of a million live futures, a table of %.0f MB%8s\n",
           (double)b->chase_bytes / 1e6, "ns");
    printf("  %-36s %8.2f\n", "one dependent random load", quantile(load, b->rounds, 0.5));
    printf("  %-36s %8.2f\n", "2 reads + load, in one loop", quantile(both, b->rounds, 0.5));
    printf("  %-36s %8.2f\n", "2 reads + load, added up",
           quantile(load, b->rounds, 0.5) + quantile(reads, b->rounds, 0.5));
    end_scene(b);
}

/* >>memory */

static void print_memory(void)
{
    chroprof_options o;
    double low, high, each;
    memset(&o, 0, sizeof o);
    o.max_futures = MANY;
    low = (double)chroprof_memory_size(&o);
    o.max_futures = 2 * MANY;
    high = (double)chroprof_memory_size(&o);
    each = (high - low) / MANY;
    printf("\nmemory\n  %-36s %8.1f %27s%.0f %s\n", "bytes a live future, table full", each, "",
           96.0, verdict(96, each));
    json_number("bytes_per_future", each);
    memset(&o, 0, sizeof o);
    printf("  %-36s %8.1f\n", "KiB of a block with default options",
           (double)chroprof_memory_size(&o) / 1024);
}

/* >>off */

/* The calls alone, with what it takes to hand over their arguments. One future's, because to choose
 * the next takes longer than they do; sixteen in a row, so that nothing of the loop is in them and
 * nothing has to be taken off. */
#define TWICE(f, g) (f(&b->prof, id), g(&b->prof, id))
#define SIXTEEN(f, g) (TWICE(f, g), TWICE(f, g), TWICE(f, g), TWICE(f, g), \
                       TWICE(f, g), TWICE(f, g), TWICE(f, g), TWICE(f, g))
static void run_off(bench *b, uint32_t count)
{
    uint64_t id = next_id(b);
    for (uint32_t i = 0; i < count; i += 16)
        SIXTEEN(chroprof_running, chroprof_paused);
}

/* What it costs to call anything at all. */
static void run_empty(bench *b, uint32_t count)
{
    uint64_t id = next_id(b);
    for (uint32_t i = 0; i < count; i += 16)
        SIXTEEN(empty_call, empty_call);
}

static void print_off(bench *b)
{
    static const scene off = { 16, 100, 0, OFF };
    long bytes = disabled_bytes();
    figures f;
    begin_scene(b, &off);
    f = measure(b, run_off, run_empty);
    end_scene(b);
    printf("\nswitched off\n  %-36s %8.2f %27s1.00 %s\n", "ns a call, at run time", f.ns, "",
           verdict(1, f.ns));
    printf("  %-36s %8.2f\n", "ns a call of an empty function", f.floor_ns);
    json_number("off_ns_per_call", f.ns);
    json_number("empty_ns_per_call", f.floor_ns);
    if (bytes < 0)
        printf("  %-36s %8s\n", "CHROPROF_DISABLE", "not told");
    else
        printf("  %-36s %8ld %27s0 %s\n", "CHROPROF_DISABLE, bytes of code", bytes, "",
               bytes == 0 ? "met" : "missed");
    json_number("disable_bytes", (double)bytes);
}

/* >>work: what a slice adds where there is work in it, over a working set of 256 KiB */

enum { WORK_WORDS = 256 * 1024 / 4 };

static inline void do_work(bench *b)
{
    uint64_t x = b->work_state;
    for (uint32_t i = 0; i < b->work_steps; i++) {
        uint32_t *word = &b->work[x >> 48 & (WORK_WORDS - 1)];
        x = x * 6364136223846793005u + *word;
        *word = (uint32_t)(x >> 13);
    }
    b->work_state = x;
}

static void work_bare(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sink = next_id(b);
        do_work(b);
    }
}

static void work_reads(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t t = clock_read();
        sink = next_id(b);
        do_work(b);
        b->hand_ticks += clock_read() - t;
    }
}

static void work_slice(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = next_id(b);
        chroprof_running(&b->prof, id);
        do_work(b);
        chroprof_paused(&b->prof, id);
    }
}

static void work_read(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sink = next_id(b);
        b->hand_ticks += clock_read();
        do_work(b);
    }
}

static void work_switch(bench *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        chroprof_switch(&b->prof, next_id(b));
        do_work(b);
    }
}

static void calibrate_work(bench *b)
{
    double ns[9];
    b->work = (uint32_t *)pages(WORK_WORDS * sizeof *b->work);
    for (uint32_t i = 0; i < WORK_WORDS; i++)
        b->work[i] = (uint32_t)mix(i);
    b->work_steps = 100;
    for (int i = 0; i < 9; i++)
        ns[i] = batch_ns(b, work_bare, 2000);
    b->work_steps = (uint32_t)(100 * 130 / quantile(ns, 9, 0.5)) + 1;
}

static void print_work_row(bench *b, const char *name, loop reads, loop calls)
{
    double bare[MAX_ROUNDS], floor_added[MAX_ROUNDS], added[MAX_ROUNDS], extra[MAX_ROUNDS], own;
    for (int i = 0, tried = 0; i < b->rounds; i++, tried++) {
        while (tried < 20 * b->rounds && !uncrowded(b))
            tried++;
        bare[i] = batch_ns(b, work_bare, 2000);
        floor_added[i] = batch_ns(b, reads, 2000) - bare[i];
        added[i] = batch_ns(b, calls, 2000) - bare[i];
        extra[i] = added[i] - floor_added[i];
    }
    own = quantile(floor_added, b->rounds, 0.5);
    printf("  %-36s %8.1f %8.1f %8.1f %8.1f\n", name, quantile(bare, b->rounds, 0.5), own,
           quantile(added, b->rounds, 0.5), quantile(extra, b->rounds, 0.5));
    if (json)
        fprintf(json, "{\"name\": \"%s\", \"work_ns\": %.2f, \"reads_add_ns\": %.2f, "
                "\"calls_add_ns\": %.2f}", name, quantile(bare, b->rounds, 0.5), own,
                quantile(added, b->rounds, 0.5));
}

static void print_work(bench *b)
{
    static const scene scenes[] = {
        { 16, 100, 0, 0 }, { 16, 10000, 0, AT_RANDOM }, { 1000, 10000, 7, AT_RANDOM }
    };
    static const char *const names[][2] = {
        { "slice, 100 live", "switch, 100 live" },
        { "slice, 10,000 live, random", "switch, 10,000 live, random" },
        { "slice, same, 1,000 sites, depth 8", "switch, same, 1,000 sites, depth 8" }
    };
    printf("\nwith work over 256 KiB, ns a slice %12s %8s %8s %8s\n", "work", "reads add",
           "calls add", "more");
    json_begin("work");
    for (int i = 0; i < 3; i++) {
        begin_scene(b, &scenes[i]);
        if (!b->work)
            calibrate_work(b);
        if (json)
            fprintf(json, i ? ",\n  " : "[\n  ");
        print_work_row(b, names[i][0], work_reads, work_slice);
        if (json)
            fprintf(json, ",\n  ");
        print_work_row(b, names[i][1], work_read, work_switch);
        end_scene(b);
    }
    if (json)
        fprintf(json, "]");
}

/* >>sampler: what a tick costs, measured by itself and as the thread's CPU time sees it, which is
 * with the delivery of the signal; and what a run costs at the default rate */

/* Thread CPU seconds of so much work in slices, and the handler's share of it. */
static double sampled_work(bench *b, uint32_t count, const chroprof_sampler_options *o,
                           chroprof_sampler_totals *t)
{
    chroprof_result r = o ? chroprof_sampler_start(&b->prof, o) : CHROPROF_OK;
    double began = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    if (r != CHROPROF_OK)
        return 0;
    work_slice(b, count);
    began = seconds_of(CLOCK_THREAD_CPUTIME_ID) - began;
    chroprof_sampler_stop(&b->prof);
    chroprof_read_sampler(&b->prof, t);
    chroprof_reset(&b->prof);
    return began;
}

static void print_tick(bench *b, uint32_t count)
{
    chroprof_sampler_options o;
    chroprof_sampler_totals t, none;
    double own[MAX_ROUNDS], whole[MAX_ROUNDS];
    memset(&o, 0, sizeof o);
    o.mode = CHROPROF_SAMPLER_WALL;
    o.period_ns = 200000;
    o.jitter = true;                        /* no tick stands for several that came late */
    o.budget_ppm = 1000000;
    for (int i = 0; i < b->rounds; i++) {
        double without = sampled_work(b, count, NULL, &none);
        double with = sampled_work(b, count, &o, &t);
        double ticks = t.samples ? (double)t.samples : 1;
        own[i] = (double)t.cost_ns / ticks;
        whole[i] = (with - without) * 1e9 / ticks;
    }
    printf("  %-36s %8.0f\n", "ns a tick, by its own account", quantile(own, b->rounds, 0.5));
    printf("  %-36s %8.0f\n", "ns a tick, all that the thread lost",
           quantile(whole, b->rounds, 0.5));
    json_number("tick_own_ns", quantile(own, b->rounds, 0.5));
    json_number("tick_ns", quantile(whole, b->rounds, 0.5));
}

static void print_sampler(bench *b)
{
    static const scene sampled = { 16, 100, 0, 0 };
    chroprof_sampler_options o;
    chroprof_sampler_totals t;
    memset(&o, 0, sizeof o);
    printf("\nsampler\n");
    begin_scene(b, &sampled);
    if (!b->work)
        calibrate_work(b);
    uint32_t second = (uint32_t)(1e9 / (batch_ns(b, work_slice, 20000) + 1));
    double busy = sampled_work(b, second, &o, &t);
    if (busy == 0) {
        printf("  not here\n");
        end_scene(b);
        return;
    }
    double share = (double)t.cost_ns / (busy * 1e9);
    printf("  %-36s %8.4f %27s0.1 %s\n", "% of CPU time at the default rate", 100 * share, "",
           verdict(0.1, 100 * share));
    json_number("sampler_percent", 100 * share);
    print_tick(b, second / 4);
    (void)chroprof_sampler_start(&b->prof, &o);
    figures f = measure(b, run_slice, read_2);
    chroprof_sampler_stop(&b->prof);
    printf("  %-36s %8.2f %8.2f %6.2f\n", "slice while it runs", f.ns, f.floor_ns, f.ratio);
    json_number("sampled_slice_ns", f.ns);
    end_scene(b);
}

/* >>worst: single events of one long stream, the same stream several times. An interrupt does not
 * hit the same event every time, what the event itself does is there every time: so the lowest of
 * its times is the event's own. */

enum { SCRIPT_EVENTS = 8, READY_SINCE = 1000, WORST_LIVE = 5000 };

typedef struct worst_event {
    int state;
    uint64_t id;
    const chroprof_site *site;
    uint64_t now;
} worst_event;

typedef struct stream {
    bench *b;
    worst_event script[SCRIPT_EVENTS];
    int used, length;
    uint64_t draw, clock, next_life;
} stream;

static void script_add(stream *s, int state, uint64_t id, uint64_t step)
{
    worst_event *e = &s->script[s->length++];
    s->clock += step;
    e->state = state;
    e->id = id;
    e->site = state == CHROPROF_PENDING || state == CHROPROF_ENTER ?
              site_of(s->b, (uint32_t)(s->draw >> 20)) : NULL;
    e->now = s->clock;
}

static void script_slice(stream *s, uint64_t id, bool ready)
{
    uint64_t length = (s->draw >> 8 & 255) << (s->draw >> 16 & 7);
    if (ready)
        script_add(s, s->draw >> 40 & 1 ? READY_SINCE : CHROPROF_READY, id, 5);
    script_add(s, CHROPROF_RUNNING, id, 30);
    script_add(s, CHROPROF_PAUSED, id, length);
}

static void script_life(stream *s)
{
    uint64_t id = s->b->pool[s->b->now.live + (s->next_life++ & (CYCLE - 1))];
    script_add(s, CHROPROF_PENDING, id, 20);
    script_add(s, CHROPROF_RUNNING, id, 3);
    script_add(s, CHROPROF_PAUSED, id, 90);
    script_add(s, CHROPROF_RUNNING, id, 40);
    script_add(s, CHROPROF_COMPLETED, id, 70);
}

static void script_idle(stream *s)
{
    bool long_idle = (s->draw >> 24 & 0xffff) == 7;
    script_add(s, CHROPROF_IDLE_ENTER, 0, 15);
    script_add(s, CHROPROF_IDLE_LEAVE, 0, long_idle ? 3600u * 1000000000u : s->draw >> 30 & 4095);
}

static void script_nested(stream *s, uint64_t id, uint64_t other)
{
    script_add(s, CHROPROF_RUNNING, id, 30);
    script_add(s, CHROPROF_ENTER, 0, 25);
    script_add(s, CHROPROF_LOOP_ENTER, 0, 10);
    script_add(s, CHROPROF_SWITCH, other, 12);
    script_add(s, CHROPROF_SWITCH, 0, 300);
    script_add(s, CHROPROF_LOOP_LEAVE, 0, 12);
    script_add(s, CHROPROF_LEAVE, 0, 18);
    script_add(s, CHROPROF_PAUSED, id, 30);
}

static void script_make(stream *s)
{
    uint64_t id, other;
    uint32_t kind;
    s->draw = mix(s->draw + 0x9e3779b97f4a7c15u);
    kind = (uint32_t)(s->draw & 15);
    id = s->b->pool[(s->draw >> 32) % s->b->now.live];
    other = s->b->pool[(s->draw >> 44) % s->b->now.live];
    s->used = s->length = 0;
    if (kind < 6)
        script_slice(s, id, false);
    else if (kind < 9)
        script_slice(s, id, true);
    else if (kind < 13)
        script_life(s);
    else if (kind < 15)
        script_idle(s);
    else
        script_nested(s, id, other);
}

static const worst_event *stream_next(stream *s)
{
    if (s->used == s->length)
        script_make(s);
    return &s->script[s->used++];
}

static uint32_t time_one(chroprof *p, const worst_event *e)
{
    uint64_t t;
    clock_fence();
    t = clock_read();
    clock_fence();
    if (e->state == READY_SINCE)
        chroprof_ready_since(p, e->id, e->now > 5000 ? e->now - 5000 : 0);
    else
        chroprof_event(p, (chroprof_state)e->state, e->id, e->site, e->now);
    clock_fence();
    t = clock_read() - t;
    return t > UINT32_MAX ? UINT32_MAX : (uint32_t)t;
}

static uint32_t timer_floor(void)
{
    uint32_t lowest = UINT32_MAX;
    for (int i = 0; i < 10000; i++) {
        uint64_t t;
        clock_fence();
        t = clock_read();
        clock_fence();
        __asm__ volatile("" ::: "memory");
        clock_fence();
        t = clock_read() - t;
        lowest = t < lowest ? (uint32_t)t : lowest;
    }
    return lowest;
}

static const scene worst_scene = { 200, WORST_LIVE, 0, MANUAL | AT_RANDOM };

static void begin_stream(bench *b, stream *s)
{
    begin_scene(b, &worst_scene);
    memset(s, 0, sizeof *s);
    s->b = b;
    s->clock = 1000000;
}

/* lowest[i] becomes the lower of itself and this run's time of event i; single[i] is this run's. */
static void worst_run(bench *b, uint32_t *lowest, uint32_t *single, uint32_t count, bool first)
{
    stream s;
    begin_stream(b, &s);
    for (uint32_t i = 0; i < count; i++) {
        single[i] = time_one(&b->prof, stream_next(&s));
        if (first || single[i] < lowest[i])
            lowest[i] = single[i];
    }
    end_scene(b);
}

static double ticks_per_ns(void)
{
    double t0 = seconds_of(CLOCK_MONOTONIC);
    uint64_t c0 = clock_read();
    while (seconds_of(CLOCK_MONOTONIC) - t0 < 0.05)
        continue;
    return (double)(clock_read() - c0) / ((seconds_of(CLOCK_MONOTONIC) - t0) * 1e9);
}

typedef struct scale {
    double ticks_per_ns;
    uint32_t floor_ticks;
} scale;

static double own_ns(const scale *s, uint32_t ticks)
{
    return ticks > s->floor_ticks ? (ticks - s->floor_ticks) / s->ticks_per_ns : 0;
}

static int by_ticks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print_quantiles(const char *name, const char *worst_key, uint32_t *ticks,
                            uint32_t count, const scale *s)
{
    double worst;
    qsort(ticks, count, sizeof *ticks, by_ticks);
    worst = own_ns(s, ticks[count - 1]);
    printf("  %-28s", name);
    printf(" %8.1f %8.1f %8.1f", own_ns(s, ticks[count / 2]), own_ns(s, ticks[count / 100 * 99]),
           own_ns(s, ticks[count / 10000 * 9999]));
    printf(" %8.1f %8.1f\n", own_ns(s, ticks[count / 1000000 * 999999]), worst);
    json_number(worst_key, worst);
}

static const char *state_name(int state)
{
    static const char *const names[] = {
        "pending", "ready", "running", "paused", "completed", "failed", "cancelled", "idle_enter",
        "idle_leave", "loop_enter", "loop_leave", "enter", "leave", "tick", "switch", "next"
    };
    return state == READY_SINCE ? "ready_since" : names[state];
}

/* The slowest events by name: what to look at next. */
static void print_slowest(bench *b, const uint32_t *lowest, uint32_t count, uint32_t threshold,
                          const scale *sc)
{
    stream s;
    int shown = 0;
    begin_stream(b, &s);
    printf("  slowest:");
    for (uint32_t i = 0; i < count && shown < 8; i++) {
        const worst_event *e = stream_next(&s);
        if (lowest[i] < threshold)
            continue;
        printf("%s %s %.0f ns (event %u)", shown++ ? "," : "", state_name(e->state),
               own_ns(sc, lowest[i]), (unsigned)i);
    }
    printf("\n");
    end_scene(b);
}

static uint32_t eighth_largest(const uint32_t *values, uint32_t count)
{
    uint32_t top[8] = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        int at = 0;
        if (values[i] <= top[0])
            continue;
        for (; at < 7 && values[i] > top[at + 1]; at++)
            top[at] = top[at + 1];
        top[at] = values[i];
    }
    return top[0];
}

static void print_worst(bench *b, bool quick)
{
    uint32_t count = quick ? 1000000 : 10000000;
    int runs = quick ? 3 : 7;
    uint32_t *lowest = (uint32_t *)pages(count * sizeof *lowest);
    uint32_t *single = (uint32_t *)pages(count * sizeof *single);
    scale s;
    s.ticks_per_ns = ticks_per_ns();
    s.floor_ticks = timer_floor();
    for (int i = 0; i < runs; i++)
        worst_run(b, lowest, single, count, i == 0);
    printf("\nsingle events, ns, of %u (the timer's own %.1f ns taken off)\n", (unsigned)count,
           s.floor_ticks / s.ticks_per_ns);
    printf("  %-28s %8s %8s %8s %8s %8s\n", "", "p50", "p99", "p99.99", "p99.9999", "worst");
    print_slowest(b, lowest, count, eighth_largest(lowest, count), &s);
    print_quantiles("one run, interrupts included", "worst_one_run_ns", single, count, &s);
    print_quantiles("lowest of identical runs", "worst_lowest_ns", lowest, count, &s);
    munmap(lowest, count * sizeof *lowest);
    munmap(single, count * sizeof *single);
}

/* >>main */

static const row *find_row(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    fprintf(stderr, "bench: no row is called \"%s\"\n", name);
    exit(2);
}

/* Untimed, for valgrind: the difference of two counts is the cost of the calls alone. */
static int run_loop(bench *b, const char *name, const char *count)
{
    const row *r = find_row(name);
    scene s = r->with;
    s.flags |= NO_WINDOWS | NO_STALLS;      /* slowed down a thousand times, each would be one */
    begin_scene(b, &s);
    r->run(b, (uint32_t)strtoul(count, NULL, 10));
    end_scene(b);
    return 0;
}

typedef struct arguments {
    bool quick, work_only, worst_only;
    const char *json_path, *filter, *loop_row, *loop_count;
    int cpu;
} arguments;

static int usage(void)
{
    fprintf(stderr, "usage: bench [--quick] [--json FILE] [--cpu N] [--work] [--worst] "
            "[FILTER]\n       bench --loop ROW COUNT\n");
    return 2;
}

static bool parse(arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            a->quick = true;
        else if (strcmp(argv[i], "--work") == 0)
            a->work_only = true;
        else if (strcmp(argv[i], "--worst") == 0)
            a->worst_only = true;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            a->json_path = argv[++i];
        else if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            a->cpu = atoi(argv[++i]);
        else if (strcmp(argv[i], "--loop") == 0 && i + 2 < argc) {
            a->loop_row = argv[++i];
            a->loop_count = argv[++i];
        } else if (argv[i][0] != '-' && !a->filter)
            a->filter = argv[i];
        else
            return false;
    }
    return true;
}

static void run_all(bench *b, const arguments *a)
{
    bool only = a->work_only || a->worst_only || a->filter;
    print_machine(b);
    find_crowding(b);
    print_floors(b);
    if (!a->work_only && !a->worst_only)
        run_rows(b, a->filter);
    if (!only) {
        print_load(b);
        print_off(b);
        print_memory();
    }
    if (!only || a->work_only)
        print_work(b);
    if (!only || (a->filter && strcmp(a->filter, "sampler") == 0))
        print_sampler(b);
    if (!only || a->worst_only)
        print_worst(b, a->quick);
}

int main(int argc, char **argv)
{
    static bench b;
    arguments a = { false, false, false, NULL, NULL, NULL, NULL, -1 };
    if (!parse(&a, argc, argv))
        return usage();
    make_sites();
    b.cpu = a.cpu >= 0 ? a.cpu : sched_getcpu();
    b.rounds = a.quick ? 9 : 41;
    if (!pin(b.cpu))
        fprintf(stderr, "bench: cannot stay on cpu %d, figures will scatter\n", b.cpu);
    if (a.loop_row)
        return run_loop(&b, a.loop_row, a.loop_count);
    json = a.json_path ? fopen(a.json_path, "w") : NULL;
    if (a.json_path && !json) {
        perror(a.json_path);
        return 1;
    }
    run_all(&b, &a);
    if (json)
        fprintf(json, "\n}\n");
    return json && fclose(json) != 0;
}
