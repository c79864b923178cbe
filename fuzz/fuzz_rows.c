/* fuzz/fuzz_rows.c - plausible damage: blocks of every kind in whose rows single fields have values
 * that might stand there: one more, one less, the ends of their range, sizes, links, what another
 * row says. Random bits seldom get past the first check; these reach the arithmetic behind it.
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -o build/fuzz_rows fuzz/fuzz_rows.c
 * build/fuzz_rows -max_len=64 build/corpus_rows fuzz/corpus_rows
 *
 * Without libFuzzer, to replay files and folders, or for random inputs by number:
 * cc -g -DFUZZ_REPLAY -fsanitize=address,undefined -o build/replay_rows fuzz/fuzz_rows.c -pthread
 * build/replay_rows --random 10000 --seed 1
 * build/replay_rows --moving 10000      copies are made while another thread does the damage
 *
 * The first byte says which kind of block, the second how its program was stopped; then come pieces
 * of six bytes, each of which changes one field (see change). */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reading.h"

enum { SIZE = 96 << 10 };

typedef struct block {
    uint64_t words[SIZE / 8];
} block;

/* >>blocks: those of one kind are made once */

enum {
    PLAIN,
    FULL,    /* no table has room any more */
    DEEP,    /* frames of one id, orphans, barriers, hidden ones */
    SAMPLED, /* with stacks, hits, and ticks that still wait */
    MERGED,
    DIFFERENCE,
    LIVING,  /* by the clock of this machine, of this process */
    LONG,    /* windows that were merged many times */
    OUTSIDE, /* made by an observer: estimates, stacks and modules that it was told of */
    KINDS
};

static const chroprof_site sites[] = { { "accept", "server.c", 1 }, { "reply", "server.c", 2 },
                                       { "query", "db.c", 3 },      { "timer", "timer.c", 4 },
                                       { "close", "server.c", 5 },  { "write", "disk.c", 6 } };
enum { SITES = sizeof sites / sizeof *sites };

static chroprof_options options_of(int kind)
{
    chroprof_options o;
    bool small = kind == FULL;
    memset(&o, 0, sizeof o);
    o.clock = kind == LIVING ? NULL : chroprof_clock_manual;
    o.window_ns = kind == LONG ? 1 : 50;
    o.stall_ns = 60;
    o.max_futures = small ? 3 : 20;
    o.max_sites = small ? 3 : 8;
    o.max_paths = o.max_edges = small ? 4 : 24;
    o.max_depth = small ? 2 : 12;
    o.max_windows = small ? 2 : 8;
    o.max_stalls = small ? 1 : 5;
    o.max_histograms = small ? 1 : 4;
    o.max_samples = small ? 2 : 16;
    o.max_slow = small ? 1 : 4;
    o.max_incidents = small ? 1 : 3;
    o.max_events = 64;
    o.string_bytes = small ? 20 : 200;
    o.name = "damaged";
    return o;
}

static uint64_t step(const chroprof *p, uint64_t *t, uint64_t by)
{
    return p->clock == chroprof_clock_manual ? *t += by : chroprof_now(p);
}

static void send(chroprof *p, chroprof_state state, uint64_t id, uint32_t site, uint64_t *t,
                 uint64_t by)
{
    chroprof_event(p, state, id, site < SITES ? &sites[site] : NULL, step(p, t, by));
}

static void live(chroprof *p, int kind, uint64_t *t)
{
    uint32_t rounds = kind == FULL ? 60 : 24;
    for (uint32_t n = 0; n < rounds; n++) {
        uint64_t id = 1 + n % 7;
        send(p, CHROPROF_IDLE_LEAVE, 0, SITES, t, 3);
        send(p, CHROPROF_PENDING, id, n % SITES, t, 4);
        send(p, CHROPROF_READY, id, SITES, t, 2);
        send(p, CHROPROF_ENTER, 0, (n + 1) % SITES, t, 5);
        send(p, CHROPROF_PENDING, 20 + n, (n + 2) % SITES, t, 1);
        chroprof_sample(p, step(p, t, 9), n % 3 * 7);
        send(p, CHROPROF_RUNNING, id, SITES, t, kind == LONG ? UINT64_C(1) << n : n % 90);
        chroprof_sample(p, step(p, t, 30), 0);
        send(p, CHROPROF_READY, 20 + n, SITES, t, 8);
        send(p, n % 5 ? CHROPROF_PAUSED : CHROPROF_COMPLETED, id, SITES, t, 20);
        send(p, CHROPROF_LEAVE, 0, SITES, t, n % 4 ? 6 : 80);
        if (n % 3)
            send(p, n % 2 ? CHROPROF_FAILED : CHROPROF_CANCELLED, 20 + n, SITES, t, 2);
        send(p, CHROPROF_IDLE_ENTER, 0, SITES, t, 7);
    }
}

static void go_deep(chroprof *p, uint64_t *t)
{
    send(p, CHROPROF_PENDING, 1, 0, t, 2);
    send(p, CHROPROF_RUNNING, 1, SITES, t, 3);
    send(p, CHROPROF_RUNNING, 2, 3, t, 3);
    send(p, CHROPROF_RUNNING, 1, SITES, t, 3);
    send(p, CHROPROF_COMPLETED, 1, SITES, t, 3);
    send(p, CHROPROF_LOOP_ENTER, 0, SITES, t, 3);
    send(p, CHROPROF_PENDING, 1, 4, t, 3);
    send(p, CHROPROF_RUNNING, 1, SITES, t, 3);
    send(p, CHROPROF_LOOP_ENTER, 0, SITES, t, 3);
    for (uint32_t k = 0; k < 9; k++)
        send(p, CHROPROF_ENTER, 0, k % SITES, t, 3);
    send(p, CHROPROF_TICK, 0, SITES, t, 40);
}

static void must(chroprof_result result)
{
    if (result != CHROPROF_OK)
        abort();
}

static void make_plain(block *b, int kind, chroprof *p)
{
    chroprof_options o = options_of(kind);
    uint64_t t = 0;
    must(chroprof_init(p, b, sizeof *b, &o));
    live(p, kind, &t);
    if (kind == DEEP || kind == SAMPLED)
        go_deep(p, &t);
    for (int k = 0; kind == SAMPLED && k < 3; k++)
        chroprof_sample(p, t + 1, 9); /* nothing takes these in any more */
}

/* What chroprof attach makes: somebody else's profile, with modules that take each other's place. */
static void make_outside(block *b)
{
    chroprof_options o = options_of(OUTSIDE);
    chroprof_origin origin;
    chroprof p;
    uint64_t t = 0;
    o.max_samples = 40;
    must(chroprof_init(&p, b, sizeof *b, &o));
    memset(&origin, 0, sizeof origin);
    origin.name = "seen";
    origin.host = "elsewhere";
    origin.program = "/bin/seen";
    origin.pid = 1234567;
    origin.estimated = true;
    for (uint64_t n = 0; n < 60; n++) {
        uint64_t addresses[] = { 0x1000 + n % 5 * 16, 0x5008, n % 3 ? 0 : 0x9000, 0x100C, ~n };
        chroprof_module module = { "/lib/a.so", "ab12", 0x1000 + n % 4 * 0x800, 0, 0 };
        module.start = module.base;
        module.end = module.start + 0x1000;
        if (n % 15 == 0)
            must(chroprof_add_module(&p, &module));
        send(&p, n % 4 ? CHROPROF_ENTER : CHROPROF_IDLE_ENTER, 0, (uint32_t)n % SITES, &t, 70);
        must(chroprof_sample_stack(&p, step(&p, &t, 9), n % 2 * 5, addresses, n % 6));
        send(&p, n % 4 ? CHROPROF_LEAVE : CHROPROF_IDLE_LEAVE, 0, SITES, &t, n % 90);
    }
    chroprof_set_cpu_clock(&p, t / 2);
    chroprof_set_origin(&p, &origin);
}

static void make_merged(block *b)
{
    static const int kinds[] = { DEEP, SAMPLED, PLAIN };
    static block other;
    chroprof_options o = options_of(MERGED);
    chroprof p, q, view;
    must(chroprof_init(&p, b, sizeof *b, &o));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        make_plain(&other, kinds[k], &q);
        must(chroprof_open(&view, &other, sizeof other));
        must(chroprof_merge(&p, &view));
    }
}

static void make_difference(block *b)
{
    static block older, newer;
    chroprof p, before, after;
    uint64_t t;
    make_plain(&newer, PLAIN, &p);
    older = newer;
    t = p.core->last;
    live(&p, PLAIN, &t);
    must(chroprof_open(&before, &older, sizeof older));
    must(chroprof_open(&after, &newer, sizeof newer));
    must(chroprof_difference(&after, &before, b, sizeof *b));
}

static void make_block(block *b, int kind)
{
    chroprof p;
    if (kind == MERGED)
        make_merged(b);
    else if (kind == DIFFERENCE)
        make_difference(b);
    else if (kind == OUTSIDE)
        make_outside(b);
    else
        make_plain(b, kind, &p);
}

static const block *block_of(int kind)
{
    static block made[KINDS];
    static bool known[KINDS];
    if (!known[kind])
        make_block(&made[kind], kind);
    known[kind] = true;
    return &made[kind];
}

static chroprof__core *core_of(block *b)
{
    uint64_t at = 0;
    return chroprof__seek(b, sizeof *b, &at) == CHROPROF_OK
               ? (chroprof__core *)(void *)((char *)b + at)
               : NULL;
}

/* >>stopped: what a program leaves behind that stops inside a call */

static void reset_in_part(chroprof *p, unsigned far)
{
    chroprof__core *c = p->core;
    uint32_t paths = chroprof__path_count(p);
    c->resetting = 1;
    c->edits |= 1;
    for (uint32_t k = 0; k < paths && k < far; k++)
        chroprof__reset_path(p->paths + k);
    if (far > paths)
        chroprof__reset_futures(p);
    if (far > paths + 1)
        chroprof__reset_frames(p);
    if (far > paths + 2)
        chroprof__reset_samples(c);
    if (far > paths + 3)
        chroprof__reset_tables(p);
}

static void stop(block *b, uint8_t how)
{
    chroprof p;
    chroprof__core *c = core_of(b);
    memset(&p, 0, sizeof p);
    chroprof__attach(&p, c);
    switch (how % 4) {
    case 1: c->seq |= 1; break;
    case 2: c->edits |= 1; break;
    case 3: reset_in_part(&p, how / 4); break;
    default: break;
    }
}

/* >>damage */

typedef struct field {
    char *at;
    size_t width;
    uint64_t old;
} field;

static uint64_t rows_of(const chroprof__core *c, uint32_t table, uint64_t *bytes)
{
    uint64_t rows = chroprof__rows_in_use(c, table, bytes);
    uint64_t size = c->tables[table].bytes;
    return *bytes && size >= *bytes ? (rows * *bytes > size ? size / *bytes : rows) : 0;
}

/* Which field: a table (or the core), a row of it that is in use, an offset in that. */
static field choose(block *b, const chroprof__core *c, const uint8_t *bytes)
{
    static const uint8_t widths[] = { 8, 4, 8, 4, 2, 1, 8, 4 };
    uint32_t table = bytes[0] % (CHROPROF__ALL_TABLES + 6);
    uint64_t row = sizeof *c - offsetof(chroprof__core, process.pid), at, rows = 1;
    char *first = (char *)(uintptr_t)c + offsetof(chroprof__core, process.pid);
    field f;
    f.width = widths[bytes[1] % 8];
    if (table < CHROPROF__ALL_TABLES) {
        rows = rows_of(c, table, &row);
        first = (char *)chroprof__rows(c, table);
    }
    at = ((uint64_t)bytes[2] << 8 | bytes[3]) % (row / f.width ? row / f.width : 1) * f.width;
    at += rows ? (bytes[1] / 8u * 7u + bytes[4]) % rows * row : 0;
    f.at = first + at;
    if (f.at < (char *)b || f.at + f.width > (char *)(b + 1))
        f.at = (char *)b + 64;
    f.old = 0;
    memcpy(&f.old, f.at, f.width);
    return f;
}

static uint64_t plausible(const chroprof__core *c, const field *f, uint8_t how)
{
    const chroprof__table_row *table = &c->tables[how / 32 * 3 % CHROPROF__ALL_TABLES];
    uint64_t next = 0;
    if (f->at + 2 * f->width <= (const char *)c + c->form.block_bytes)
        memcpy(&next, f->at + f->width, f->width);
    switch (how % 32) {
    case 0: return f->old + 1;
    case 1: return f->old - 1;
    case 2: return 0;
    case 3: return 1;
    case 4: return UINT64_MAX;
    case 5: return UINT64_MAX - 1;
    case 6: return UINT64_C(1) << 63;
    case 7: return (UINT64_C(1) << 63) - 1;
    case 8: return UINT64_C(1) << 32;
    case 9: return UINT32_MAX;
    case 10: return UINT64_C(1) << 31;
    case 11: return c->last;
    case 12: return c->last + 1;
    case 13: return 0 - c->last;
    case 14: return 0 - f->old;
    case 15: return table->used;
    case 16: return table->used + 1;
    case 17: return table->capacity;
    case 18: return table->capacity + 1u;
    case 19: return table->rows;
    case 20: return table->rows - 1u;
    case 21: return table->offset;
    case 22: return c->form.block_bytes;
    case 23: return next;
    case 24: return f->old * 2;
    case 25: return f->old << 16;
    case 26: return f->old ^ UINT64_C(1) << (how / 32);
    case 27: return CHROPROF__END_OF_TIME;
    case 28: return CHROPROF__END_OF_TIME - 1;
    case 29: return UINT64_C(1) << 16;
    case 30: return ~f->old;
    default: return UINT64_C(1) << 62;
    }
}

/* Six bytes: the table, the width and more of the row, the offset (2), the row, the value. */
static void change(block *b, const chroprof__core *c, const uint8_t *bytes)
{
    field f = choose(b, c, bytes);
    uint64_t value = plausible(c, &f, bytes[5]);
    memcpy(f.at, &value, f.width);
}

/* >>what is done with it */

/* As if its program had just ended: copies then go up to now. */
static void copy_ended(const block *b)
{
    static block copy;
    chroprof view;
    if (chroprof_snapshot_ended(b, sizeof *b, &copy, sizeof copy) != CHROPROF_OK)
        return;
    if (chroprof_open(&view, &copy, sizeof copy) != CHROPROF_OK)
        broken("a copy that goes up to now does not open", chroprof__ask_block(&view));
    read_and_write(&view);
}

/* A block that opens: the laws needn't hold, but no read, merge or difference comes to harm. */
static void open_block(const block *b, const block *whole)
{
    chroprof view;
    if (chroprof_open(&view, b, sizeof *b) == CHROPROF_OK) {
        read_and_write(&view);
        merge_twice(&view);
        subtract_bytes((const uint8_t *)whole, (const uint8_t *)b, sizeof *b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    block *b = (block *)malloc(sizeof *b);
    const block *whole;
    const chroprof__core *c;
    bool torn;
    if (b == NULL || size < 2) {
        free(b);
        return 0;
    }
    whole = block_of(bytes[0] % KINDS);
    *b = *whole;
    c = core_of((block *)(uintptr_t)whole);
    stop(b, bytes[1]);
    c = (const chroprof__core *)(const void *)((char *)b + ((const char *)c - (const char *)whole));
    for (size_t i = 2; i + 6 <= size; i += 6)
        change(b, c, bytes + i);
    torn = ((c->seq | c->edits) & 1) != 0;
    open_block(b, whole);
    copy_bytes((const uint8_t *)b, sizeof *b, torn);
    copy_ended(b);
    free(b);
    return 0;
}

#ifdef FUZZ_REPLAY

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define FUZZ_MAIN
#include "replay.h"

static uint64_t under_way;

static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t random_input(uint64_t number, uint8_t *bytes)
{
    uint64_t state = number;
    size_t pieces = mix(&state) % 4, size = 2 + 6 * (1 + pieces * (mix(&state) % 2));
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(mix(&state) >> 20);
    return size;
}

/* Which one it was: it can be made again by its number. */
static void tell(void)
{
    char text[80];
    int length = snprintf(text, sizeof text, "input: --random 1 --seed %llu\n",
                          (unsigned long long)under_way);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(1);
}

static void on_death(int number)
{
    tell();
    signal(number, SIG_DFL);
    raise(number);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((__weak__));

static void watch_deaths(void)
{
    static const int numbers[] = { SIGABRT, SIGFPE, SIGALRM, SIGSEGV, SIGBUS };
    size_t own = sizeof numbers / sizeof *numbers;
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(tell);
        own = 3;
    }
    for (size_t k = 0; k < own; k++)
        signal(numbers[k], on_death);
}

static void run_random(uint64_t count, uint64_t seed)
{
    uint8_t bytes[64];
    for (uint64_t n = 0; n < count; n++) {
        under_way = seed + n;
        alarm(60);
        LLVMFuzzerTestOneInput(bytes, random_input(under_way, bytes));
    }
    alarm(0);
    printf("%llu random inputs\n", (unsigned long long)count);
}

/* >>moving: copies of a block in which another thread goes on doing damage */

typedef struct moving {
    block live;
    const block *whole;
    uint64_t state;
    atomic_bool done;
} moving;

static void *disturb(void *user)
{
    moving *m = (moving *)user;
    const chroprof__core *c = core_of((block *)(uintptr_t)m->whole);
    ptrdiff_t at = (const char *)c - (const char *)m->whole;
    uint8_t bytes[6];
    while (!m->done) {
        field f;
        uint64_t value;
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(mix(&m->state) >> 20);
        f = choose((block *)(uintptr_t)m->whole, c, bytes);
        value = plausible(c, &f, bytes[5]);
        f.at = (char *)&m->live + (f.at - (const char *)m->whole);
        for (size_t i = 0; i < f.width; i++)
            ((volatile char *)f.at)[i] = (char)(value >> 8 * i);
        for (size_t i = 0; i < f.width; i++)
            ((volatile char *)f.at)[i] = (char)(f.old >> 8 * i);
        if (mix(&m->state) % 8 == 0)
            *(volatile uint64_t *)((char *)&m->live + at + offsetof(chroprof__core, seq)) += 1;
    }
    return NULL;
}

static void run_moving(uint64_t count, uint64_t seed)
{
    static moving m;
    uint64_t good = 0;
    m.state = seed;
    for (uint64_t n = 0; n < count; n += 50) {
        pthread_t other;
        m.whole = block_of((int)(n / 50 % KINDS));
        m.live = *m.whole;
        m.done = false;
        if (pthread_create(&other, NULL, disturb, &m) != 0)
            abort();
        for (int k = 0; k < 50; k++) {
            static block copy;
            chroprof view;
            if (chroprof_snapshot(&m.live, sizeof m.live, &copy, sizeof copy) != CHROPROF_OK)
                continue;
            if (chroprof_open(&view, &copy, sizeof copy) != CHROPROF_OK)
                broken("a copy of what moves does not open", chroprof__ask_block(&view));
            read_and_write(&view);
            good++;
        }
        m.done = true;
        pthread_join(other, NULL);
    }
    printf("%llu copies of moving blocks, %llu of them good\n", (unsigned long long)count,
           (unsigned long long)good);
}

int main(int argc, char **argv)
{
    uint64_t random = 0, moving = 0, seed = 1;
    int i, wrong = 0;
    for (i = 1; i < argc; i++) {
        uint64_t *number = strcmp(argv[i], "--random") == 0   ? &random
                           : strcmp(argv[i], "--moving") == 0 ? &moving
                           : strcmp(argv[i], "--seed") == 0   ? &seed
                                                              : NULL;
        if (number == NULL)
            wrong |= replay(argv[i]);
        else if (++i < argc)
            *number = strtoull(argv[i], NULL, 0);
    }
    watch_deaths();
    run_random(random, seed);
    run_moving(moving, seed);
    printf("%lu inputs replayed\n", replayed);
    return wrong || (replayed == 0 && random == 0 && moving == 0);
}

#endif
