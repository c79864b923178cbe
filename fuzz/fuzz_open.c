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

#include "../examples/adapters/chroprof_query.h"
#include "reading.h"

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
    if ((unsigned)query.format > CHROPROF_PROMETHEUS_ALL || query.seconds > 86400 ||
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
