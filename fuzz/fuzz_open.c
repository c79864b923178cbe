/* fuzz/fuzz_open.c - any bytes as a block, and real blocks with any damage, through chroprof_open
 * and chroprof_snapshot, every read and every output, chroprof_merge and chroprof_difference; and
 * any bytes as the query of a debug page, through chroprof_parse_query.
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -o build/fuzz_open fuzz/fuzz_open.c
 * build/fuzz_open -max_len=16384 build/corpus_open fuzz/corpus_open
 *
 * Without libFuzzer, to replay files and folders of files:
 * cc -g -DFUZZ_REPLAY -fsanitize=address,undefined -o build/replay_open fuzz/fuzz_open.c
 *
 * A first byte "?": the rest is the query. Another odd one: the rest is the block. An even one: a
 * block is made (see make_block) and the rest is damage to it, in pieces of 12 bytes (see damage);
 * from 128 on it looks as if an event, from 192 on as if an edit was cut short as well, and of what
 * chroprof_snapshot makes of it both laws hold. The block is malloced to the byte, so that
 * the sanitizer sees any step outside. */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

#include <stdlib.h>
#include <string.h>

/* >>blocks */

static const chroprof_site sites[] = { { "accept", "server.c", 1 },
                                       { "reply", "server.c", 2 },
                                       { "query", "db.c", 3 } };

/* A bit of everything: all states, a barrier, orphans, a frame twice, stalls, windows, delays. */
static void live_a_little(chroprof *p, uint8_t taste)
{
    uint64_t t = 0, id;
    for (id = 1; id < 6; id++) {
        chroprof_event(p, CHROPROF_PENDING, id, &sites[(id + taste) % 3], t += 3);
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, t += 5);
        chroprof_event(p, CHROPROF_PENDING, id + 10, &sites[id % 3], t += 40);
        chroprof_sample(p, t, taste % 2);
        chroprof_event(p, CHROPROF_READY, id + 10, NULL, t += 2);
        chroprof_event(p, CHROPROF_PAUSED, id, NULL, t += 7 * id);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += 1);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 90u * (taste & 3u));
    }
    chroprof_event(p, CHROPROF_RUNNING, 1, NULL, t += 4);
    chroprof_event(p, CHROPROF_RUNNING, 2, NULL, t += 4);
    chroprof_event(p, CHROPROF_COMPLETED, 1, NULL, t += 4);
    chroprof_event(p, CHROPROF_LOOP_ENTER, 0, NULL, t += 4);
    chroprof_event(p, CHROPROF_ENTER, 0, &sites[taste % 3], t += 4);
    chroprof_event(p, CHROPROF_RUNNING, 2, NULL, t += 4);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, t + 11);
}

static uint8_t *make_block(uint8_t taste, size_t *size)
{
    chroprof_options o;
    chroprof p;
    uint8_t *block;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 50;
    o.stall_ns = 60;
    o.max_futures = 9;
    o.max_sites = 4;
    o.max_paths = o.max_edges = 8;
    o.max_depth = 5;
    o.max_windows = 6;
    o.max_stalls = 5;
    o.max_histograms = 1;
    o.max_samples = 3;
    o.string_bytes = 80;
    *size = chroprof_memory_size(&o);
    block = (uint8_t *)malloc(*size);
    if (block == NULL || chroprof_init(&p, block, *size, &o) != CHROPROF_OK)
        abort();
    live_a_little(&p, taste);
    return block;
}

/* Twelve bytes: where (2), how (1), how wide (1), a number (8). */
static void damage(uint8_t *block, size_t size, const uint8_t *bytes)
{
    static const uint8_t widths[] = { 1, 2, 4, 8 };
    size_t width = widths[bytes[3] % 4];
    size_t at = ((size_t)bytes[0] | (size_t)bytes[1] << 8) % (size - 8) / width * width;
    uint64_t value, old = 0;
    memcpy(&value, bytes + 4, sizeof value);
    memcpy(&old, block + at, width);
    switch (bytes[2] % 4) {
    case 0: break;
    case 1: value = old ^ UINT64_C(1) << (value & 63); break;
    case 2: value += old; break;
    default: memcpy(&value, block + value % (size - 8), sizeof value); break;
    }
    memcpy(block + at, &value, width);
}

/* The sequence words of an event that began, of an edit that began. False: no block any more. */
static bool tear(uint8_t *block, size_t size, unsigned how)
{
    uint64_t at = 0;
    chroprof__core *c;
    if (how < 2 || chroprof__seek(block, size, &at) != CHROPROF_OK ||
        size - at < sizeof(chroprof__core))
        return false;
    c = (chroprof__core *)(void *)(block + at);
    c->seq |= 1u;
    c->edits |= how > 2;
    return true;
}

/* >>reading */

static int swallow(void *user, const void *bytes, size_t count)
{
    uint32_t *sum = (uint32_t *)user;
    size_t i;
    for (i = 0; i < count; i++)
        *sum += ((const uint8_t *)bytes)[i];
    return 0;
}

#define READ_NAMES(type, call)                                                                     \
    do {                                                                                           \
        type rows[8];                                                                              \
        size_t listed = call;                                                                      \
        size_t k;                                                                                  \
        for (k = 0; k < listed && k < 8; k++)                                                      \
            length += strlen(rows[k].name) + strlen(rows[k].file);                                 \
    } while (0)

static size_t read_samples(const chroprof *p)
{
    chroprof_sample_row rows[8];
    chroprof_stack_frame frames[8];
    chroprof_wall walls[8];
    chroprof_sampler_totals totals;
    size_t count = chroprof_samples(p, 3, 300, rows, 8), length = 0, i, k;
    chroprof_read_sampler(p, &totals);
    chroprof_walls(p, walls, 8);
    for (i = 0; i < count && i < 8; i++) {
        size_t depth = chroprof_stack(p, rows[i].stack, frames, 8);
        for (k = 0; k < depth && k < 8; k++)
            length += strlen(frames[k].name);
        for (k = 0; k < depth && k < 8 && frames[k].kind == CHROPROF_FRAME_NATIVE; k++)
            length += strlen(frames[k].module) + strlen(frames[k].build_id);
    }
    return length;
}

static size_t read_all(const chroprof *p)
{
    chroprof_totals totals;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_anomaly anomalies[CHROPROF_ANOMALY_COUNT];
    chroprof_window windows[8];
    chroprof_stall stalls[8];
    uint64_t cells[8];
    size_t length = 0;
    uint32_t site;
    int by;
    for (by = 0; by < 6; by++)
        READ_NAMES(chroprof_rank, chroprof_ranks(p, rows, 8, (chroprof_order)by));
    READ_NAMES(chroprof_path, chroprof_paths(p, rows, 8));
    READ_NAMES(chroprof_future, chroprof_futures(p, rows, 8));
    chroprof_read_totals(p, &totals);
    chroprof_tables(p, tables, CHROPROF_TABLE_COUNT);
    chroprof_anomalies(p, anomalies, CHROPROF_ANOMALY_COUNT);
    chroprof_windows(p, windows, 8);
    chroprof_stalls(p, stalls, 8);
    for (site = 0; site < 8; site++)
        chroprof_site_windows(p, site, cells, 8);
    length += read_samples(p);
    return length + (chroprof_check(p) != NULL);
}

static void read_and_write(chroprof *view)
{
    static const chroprof_text_options look = { 200, 40, CHROPROF_BY_BLAME, true, true };
    uint32_t sum = 0;
    int format;
    sum += (uint32_t)read_all(view);
    for (format = 0; format <= CHROPROF_TRACE; format++)
        chroprof_write(view, (chroprof_format)format, swallow, &sum);
    chroprof_write_text(view, &look, swallow, &sum);
}

static bool laws_hold(const chroprof *p)
{
    chroprof_totals t;
    uint64_t exec = 0, k;
    chroprof_read_totals(p, &t);
    for (k = 0; k < chroprof__path_count(p); k++)
        exec += p->paths[k].exec;
    return t.elapsed_ticks == exec && t.blame_ticks == t.delay_ticks;
}

/* Twice into a profile that is too small for it: the laws hold, whatever it is. */
static void merge_twice(const chroprof *view)
{
    static uint64_t memory[CHROPROF_MEMORY_MIN / 8];
    chroprof_options o;
    chroprof_totals t;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    if (chroprof_init(&p, memory, sizeof memory, &o) != CHROPROF_OK)
        abort();
    chroprof_merge(&p, view);
    chroprof_merge(&p, view);
    chroprof_read_totals(&p, &t);
    if (t.elapsed_ns != t.busy_ns + t.idle_ns + t.uninstrumented_ns ||
        t.elapsed_ns != t.elapsed_ticks || !laws_hold(&p))
        abort();
    read_all(&p);
}

/* A difference that was made opens. */
static void subtract(const chroprof *newer, const chroprof *older, size_t size)
{
    uint8_t *memory = (uint8_t *)malloc(size ? size : 1);
    uint32_t sum = 0;
    chroprof view;
    if (memory == NULL)
        return;
    if (chroprof_difference(newer, older, memory, size) == CHROPROF_OK) {
        if (chroprof_open(&view, memory, size) != CHROPROF_OK)
            abort();
        read_all(&view);
        chroprof_write(&view, CHROPROF_PPROF, swallow, &sum);
        chroprof_write(&view, CHROPROF_TRACE, swallow, &sum);
    }
    free(memory);
}

/* Two states of one profile, one of them damaged. */
static void subtract_bytes(const uint8_t *whole, const uint8_t *damaged, size_t size)
{
    chroprof a, b;
    if (chroprof_open(&a, whole, size) != CHROPROF_OK ||
        chroprof_open(&b, damaged, size) != CHROPROF_OK)
        return;
    subtract(&a, &b, size);
    subtract(&b, &a, size);
}

/* A copy that was made opens, and one that was mended keeps the laws. */
static void copy_bytes(const uint8_t *bytes, size_t size, bool torn)
{
    uint8_t *copy = (uint8_t *)malloc(size ? size : 1);
    chroprof view;
    if (copy == NULL)
        return;
    if (chroprof_snapshot(bytes, size, copy, size) == CHROPROF_OK) {
        if (chroprof_open(&view, copy, size) != CHROPROF_OK || (torn && !laws_hold(&view)))
            abort();
        read_and_write(&view);
    }
    free(copy);
}

static void open_bytes(const uint8_t *bytes, size_t size, bool torn)
{
    uint8_t *copy = (uint8_t *)malloc(size ? size : 1);
    chroprof view;
    if (copy == NULL)
        return;
    memcpy(copy, bytes, size);
    if (chroprof_open(&view, copy, size) == CHROPROF_OK) {
        read_and_write(&view);
        merge_twice(&view);
    }
    copy_bytes(copy, size, torn);
    free(copy);
}

/* >>queries */

/* What a query asks for is within bounds, whatever it says, and a key that nobody knows before it
 * changes nothing. */
static void ask(const uint8_t *bytes, size_t size)
{
    char *text = (char *)malloc(size + 3);
    chroprof_query query, other;
    bool good;
    if (text == NULL)
        return;
    memcpy(text, "a&", 2);
    memcpy(text + 2, bytes, size);
    text[size + 2] = '\0';
    memset(&query, 0xa5, sizeof query);
    good = chroprof_parse_query(text + 2, &query);
    if ((unsigned)query.format > CHROPROF_TRACE || query.seconds > 86400 ||
        query.content_type == NULL || strchr(query.content_type, '/') == NULL)
        abort();
    if (chroprof_parse_query(text, &other) != good || other.format != query.format ||
        other.seconds != query.seconds || other.content_type != query.content_type)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t block_size, i;
    uint8_t *block, *whole;
    if (size == 0)
        return 0;
    if (bytes[0] == '?') {
        ask(bytes + 1, size - 1);
        return 0;
    }
    if (bytes[0] % 2 != 0) {
        open_bytes(bytes + 1, size - 1, false);
        return 0;
    }
    block = make_block(bytes[0] / 2, &block_size);
    whole = (uint8_t *)malloc(block_size);
    if (whole == NULL)
        abort();
    memcpy(whole, block, block_size);
    for (i = 1; i + 12 <= size; i += 12)
        damage(block, block_size, bytes + i);
    open_bytes(block, block_size, tear(block, block_size, bytes[0] / 64));
    subtract_bytes(whole, block, block_size);
    free(whole);
    free(block);
    return 0;
}

#include "replay.h"
