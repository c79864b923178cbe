/* How much stack the calls take: "NAME BYTES" a line, the deepest byte that each has written on a
 * stack of its own, less what a thread takes that does nothing. run.sh compares with the manual. */
#include "../../chroprof.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK = 1 << 20, BLOCK = 1 << 20, SITES = 40 };

typedef union block {
    uint64_t word;
    unsigned char bytes[BLOCK];
} block;

static block stack, memory, copy, older, merged;
static chroprof p, view;
static int failures;

static void must(bool holds)
{
    if (!holds)
        failures++;
}

static int take(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return 0;
}

static void event(chroprof_state state, uint64_t id, const chroprof_site *site)
{
    chroprof_event(&p, state, id, site, chroprof_now(&p));
}

static const chroprof_site *site_of(uint64_t n)
{
    char name[] = "a site of this number: ..";
    name[sizeof name - 3] = (char)('0' + n / 10 % 10);
    name[sizeof name - 2] = (char)('0' + n % 10);
    return chroprof_site_make(&p, name, "a/file/of/some/length.c", (uint32_t)n);
}

/* Futures in trees, each within the one before; stalls, samples, windows, full tables. */
static void do_events(void)
{
    uint64_t n, k;
    for (n = 1; n <= 4000; n++) {
        event(CHROPROF_IDLE_ENTER, 0, NULL);
        event(CHROPROF_IDLE_LEAVE, 0, NULL);
        for (k = 0; k < n % 90; k++)
            event(CHROPROF_ENTER, 0, site_of((n + k) % SITES));
        event(CHROPROF_PENDING, n, site_of(n % SITES));
        event(CHROPROF_READY, n, NULL);
        event(CHROPROF_RUNNING, n, NULL);
        chroprof_sample(&p, chroprof_now(&p), 1000);
        if (n % 3)
            event(CHROPROF_COMPLETED, n, NULL);
    }
}

static void do_nothing(void) {}

static void do_init(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.stall_ns = 1;
    o.window_ns = 100000; /* so that there are enough for a series on any machine */
    o.max_samples = 128;
    o.max_futures = 1000;
    must(chroprof_init(&p, memory.bytes, BLOCK, &o) == CHROPROF_OK);
}

static void do_reads(void)
{
    static chroprof_rank ranks[100];
    static chroprof_path paths[1000];
    static chroprof_stall stalls[100];
    chroprof_totals t;
    chroprof_read_totals(&p, &t);
    chroprof_ranks(&p, ranks, 100, CHROPROF_BY_EXEC);
    chroprof_paths(&p, paths, 1000);
    chroprof_stalls(&p, stalls, 100);
}

static void do_snapshot(void)
{
    must(chroprof_snapshot(memory.bytes, BLOCK, copy.bytes, BLOCK) == CHROPROF_OK);
}

static void do_open(void)
{
    must(chroprof_open(&view, copy.bytes, BLOCK) == CHROPROF_OK);
}
static void do_check(void)
{
    must(chroprof_check(&view) == NULL);
}

static void do_difference(void)
{
    must(chroprof_difference(&p, &view, older.bytes, BLOCK) == CHROPROF_OK);
}

static void do_merge(void)
{
    chroprof_options o;
    chroprof sum;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    must(chroprof_init(&sum, merged.bytes, BLOCK, &o) == CHROPROF_OK);
    must(chroprof_merge(&sum, &view) == CHROPROF_OK);
}

static void do_map(void)
{
    chroprof mapped;
    const char *folder = getenv("SCRATCH");
    char path[300];
    size_t n = strlen(folder != NULL ? folder : "/tmp");
    memcpy(path, folder != NULL ? folder : "/tmp", n);
    memcpy(path + n, "/stack.chroprof", 16);
    must(chroprof_map(&mapped, path, 0, NULL) == CHROPROF_OK);
    chroprof_unmap(&mapped);
    must(chroprof_map(&mapped, path, 0, NULL) == CHROPROF_OK);
    chroprof_unmap(&mapped);
    unlink(path);
}

static void do_text(void)
{
    must(chroprof_write(&p, CHROPROF_TEXT, take, NULL) == 0);
}
static void do_json(void)
{
    must(chroprof_write(&p, CHROPROF_JSON, take, NULL) == 0);
}
static void do_folded(void)
{
    must(chroprof_write(&p, CHROPROF_FOLDED, take, NULL) == 0);
}
static void do_prometheus(void)
{
    chroprof_prometheus_options o = { 10, CHROPROF_BY_BLAME };
    must(chroprof_write_prometheus(&p, &o, take, NULL) == 0);
}
static void do_pprof(void)
{
    must(chroprof_write(&p, CHROPROF_PPROF, take, NULL) == 0);
}

typedef struct task {
    const char *name;
    void (*run)(void);
} task;

static void *run(void *user)
{
    ((const task *)user)->run();
    return NULL;
}

/* 0: no thread could be had */
static size_t measure(const task *t)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t k = 0;
    memset(stack.bytes, 0xa5, STACK);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack.bytes, STACK) != 0 ||
        pthread_create(&thread, &attributes, run, (void *)(uintptr_t)t) != 0)
        return 0;
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    while (k < STACK && stack.bytes[k] == 0xa5)
        k++;
    return STACK - k;
}

int main(void)
{
    static const task tasks[] = { { "nothing", do_nothing },   { "init", do_init },
                                  { "events", do_events },     { "reads", do_reads },
                                  { "snapshot", do_snapshot }, { "open", do_open },
                                  { "check", do_check },       { "difference", do_difference },
                                  { "merge", do_merge },       { "map", do_map },
                                  { "text", do_text },         { "JSON", do_json },
                                  { "folded", do_folded },     { "Prometheus", do_prometheus },
                                  { "pprof", do_pprof } };
    size_t k, nothing = measure(&tasks[0]);
    for (k = 1; k < sizeof tasks / sizeof *tasks; k++)
        printf("%s %u\n", tasks[k].name, (unsigned)(measure(&tasks[k]) - nothing));
    return nothing == 0 || failures != 0;
}
