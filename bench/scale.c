/* What an event costs as tables grow: up to ten million live futures, 100,000 sites, a million
 * paths.
 *
 *   scale [FUTURES|SITES|PATHS]       curves, beside two clock reads and one random load from a
 *                                     table of the same size; a cliff of ours would show as a step
 *                                     in the last column
 *   scale --count KIND SIZE COUNT     COUNT operations, untimed (bench/scale.sh counts them)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../chroprof.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 7, OPERATIONS = 200000, NAME_BYTES = 32 };

typedef struct scale {
    chroprof prof;
    chroprof_site *sites;
    char *names;
    uint64_t *chase;               /* a random cycle through as many cache lines as the table has */
    uint64_t size, lines, at;
    uint64_t random;
    unsigned char *block;
    size_t block_bytes;
} scale;

typedef struct kind {
    const char *name, *operation;
    uint64_t largest;
    chroprof_table_kind table;     /* that grows */
    void (*fill)(scale *s);
    void (*run)(scale *s, uint32_t count);
} kind;

static volatile uint64_t sink;

static void *pages(size_t bytes)
{
    void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) {
        perror("scale: mmap");
        exit(1);
    }
    return m;
}

static uint64_t pick(scale *s, uint64_t count)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 32) * count >> 32;
}

/* >>kinds */

static uint64_t id_of(uint64_t k)
{
    return 0x558000001000u + 112 * k;
}

static void fill_futures(scale *s)
{
    for (uint64_t k = 0; k < s->size; k++)
        chroprof_pending(&s->prof, id_of(k), &s->sites[k % 16]);
}

static void run_futures(scale *s, uint32_t count)
{
    while (count--) {
        uint64_t id = id_of(pick(s, s->size));
        chroprof_running(&s->prof, id);
        chroprof_paused(&s->prof, id);
    }
}

static void fill_sites(scale *s)
{
    for (uint64_t k = 0; k < s->size; k++) {
        chroprof_enter(&s->prof, &s->sites[k]);
        chroprof_leave(&s->prof);
    }
}

static void run_sites(scale *s, uint32_t count)
{
    while (count--) {
        chroprof_enter(&s->prof, &s->sites[pick(s, s->size)]);
        chroprof_leave(&s->prof);
    }
}

/* Path k is site k / 1000 > site 1000 + k % 1000. */
static void one_path(scale *s, uint64_t k)
{
    chroprof_enter(&s->prof, &s->sites[k / 1000]);
    chroprof_enter(&s->prof, &s->sites[1000 + k % 1000]);
    chroprof_leave(&s->prof);
    chroprof_leave(&s->prof);
}

static void fill_paths(scale *s)
{
    for (uint64_t k = 0; k < s->size; k++)
        one_path(s, k);
}

static void run_paths(scale *s, uint32_t count)
{
    while (count--)
        one_path(s, pick(s, s->size));
}

static const kind kinds[] = {
    { "FUTURES", "slice of a random live future", 10000000, CHROPROF_TABLE_FUTURES, fill_futures,
      run_futures },
    { "SITES", "enter and leave of a random site", 100000, CHROPROF_TABLE_SITES, fill_sites,
      run_sites },
    { "PATHS", "enter, enter, leave, leave on a random path", 1000000, CHROPROF_TABLE_PATHS,
      fill_paths, run_paths }
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* >>scene */

static void make_sites(scale *s, uint64_t count)
{
    s->sites = (chroprof_site *)pages(count * sizeof *s->sites);
    s->names = (char *)pages(count * NAME_BYTES);
    for (uint64_t k = 0; k < count; k++) {
        snprintf(s->names + k * NAME_BYTES, NAME_BYTES, "task_%lu", (unsigned long)k);
        s->sites[k].name = s->names + k * NAME_BYTES;
        s->sites[k].file = "scale.c";
        s->sites[k].line = (uint32_t)k + 1;
    }
}

static chroprof_options options_of(const kind *k, uint64_t size)
{
    chroprof_options o;
    uint32_t n = (uint32_t)size;
    memset(&o, 0, sizeof o);
    o.max_futures = k->table == CHROPROF_TABLE_FUTURES ? n : 64;
    o.max_sites = k->table == CHROPROF_TABLE_SITES ? n + 16 : 2100;
    o.max_paths = k->table == CHROPROF_TABLE_PATHS ? n + 2100 : n > 2100 ? n + 16 : 2100;
    if (k->table == CHROPROF_TABLE_FUTURES)
        o.max_paths = 100;
    o.max_edges = o.max_paths;
    o.string_bytes = o.max_sites * 16;
    o.max_histograms = 64;
    o.max_windows = 60;
    o.window_ns = (uint64_t)1 << 50;        /* one window: no cells to bring up to date */
    o.stall_ns = (uint64_t)1 << 50;
    return o;
}

static void make_chase(scale *s)
{
    uint64_t i;
    s->chase = (uint64_t *)pages(s->lines * 64);
    for (i = 0; i < s->lines; i++)
        s->chase[i * 8] = i;
    for (i = s->lines - 1; i > 0; i--) {
        uint64_t j = pick(s, i), t = s->chase[i * 8];
        s->chase[i * 8] = s->chase[j * 8];
        s->chase[j * 8] = t;
    }
}

/* Bytes of the tables that an operation looks up. */
static uint64_t table_bytes(const scale *s)
{
    chroprof_table t[CHROPROF_TABLE_COUNT];
    chroprof_tables(&s->prof, t, CHROPROF_TABLE_COUNT);
    return t[CHROPROF_TABLE_FUTURES].bytes + t[CHROPROF_TABLE_SITES].bytes +
           t[CHROPROF_TABLE_PATHS].bytes + t[CHROPROF_TABLE_EDGES].bytes;
}

static void begin(scale *s, const kind *k, uint64_t size)
{
    chroprof_options o = options_of(k, size);
    memset(s, 0, sizeof *s);
    make_sites(s, o.max_sites);
    s->size = size;
    s->block_bytes = chroprof_memory_size(&o);
    s->block = (unsigned char *)pages(s->block_bytes);
    chroprof_result r = chroprof_init(&s->prof, s->block, s->block_bytes, &o);
    if (r != CHROPROF_OK) {
        fprintf(stderr, "scale: %s\n", chroprof_result_text(r));
        exit(1);
    }
    k->fill(s);
    s->lines = table_bytes(s) / 64 + 2;
}

/* Nothing but histograms, of which there are 64, may have been too few. */
static void end(scale *s)
{
    chroprof_totals t;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    const char *broken = chroprof_check(&s->prof);
    chroprof_read_totals(&s->prof, &t);
    chroprof_tables(&s->prof, tables, CHROPROF_TABLE_COUNT);
    t.dropped -= tables[CHROPROF_TABLE_HISTOGRAMS].dropped;
    if (broken || t.dropped || t.anomalies) {
        printf("  WRONG: %s, %lu dropped, %lu anomalies\n", broken ? broken : "laws hold",
               (unsigned long)t.dropped, (unsigned long)t.anomalies);
        exit(1);
    }
    munmap(s->block, s->block_bytes);
    if (s->chase)
        munmap(s->chase, s->lines * 64);
    munmap(s->sites, 64);
}

/* >>measure */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Two reads of the clock and one load that depends on the one before. */
static void run_floor(scale *s, uint32_t count)
{
    uint64_t sum = 0;
    while (count--) {
        uint64_t t = chroprof_now(&s->prof);
        s->at = s->chase[s->at * 8];
        sum += chroprof_now(&s->prof) - t;
    }
    sink = sum;
}

static double least_ns(scale *s, void (*run)(scale *, uint32_t))
{
    double best = 1e18;
    for (int k = 0; k < ROUNDS; k++) {
        double t = now_ns();
        run(s, OPERATIONS);
        t = (now_ns() - t) / OPERATIONS;
        best = t < best ? t : best;
    }
    return best;
}

static void print_curve(const kind *k)
{
    printf("%s: %s\n%12s %10s %10s %14s %10s\n", k->name, k->operation, "size", "MB", "ns",
           "reads + load", "ratio");
    for (uint64_t size = 10; size <= k->largest; size *= 10) {
        static scale s;
        begin(&s, k, size);
        make_chase(&s);
        double ns = least_ns(&s, k->run), floor = least_ns(&s, run_floor);
        printf("%12lu %10.1f %10.1f %14.1f %10.2f\n", (unsigned long)size,
               (double)s.lines * 64 / 1e6, ns, floor, ns / floor);
        fflush(stdout);
        end(&s);
    }
}

static int run_count(const char *name, const char *size, const char *count)
{
    static scale s;
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0) {
            begin(&s, &kinds[k], strtoul(size, NULL, 10));
            kinds[k].run(&s, (uint32_t)strtoul(count, NULL, 10));
            return 0;
        }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--count") == 0)
        return run_count(argv[2], argv[3], argv[4]);
    for (int k = 0; k < KINDS; k++)
        if (argc < 2 || strcmp(kinds[k].name, argv[1]) == 0)
            print_curve(&kinds[k]);
    return 0;
}
