/* tests/test_open.c - blocks as files: what chroprof_open takes, refuses, and shows of them. */
#include "harness.h"

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };
static const chroprof_site D = { "timer", "timer.c", 5 };

/* The fields at the start of a block, as the manual of the layout has them. */
enum { AT_MAGIC = 0, AT_LAYOUT = 8, AT_ORDER = 12, AT_SEQ = 64 };

enum { SMALL = CHROPROF_MEMORY_MIN, ROOM = SMALL + 128 };

typedef union small_block {
    uint64_t word;
    unsigned char bytes[ROOM];
} small_block;

/* >>blocks to open */

/* Nested creations, every state, a barrier, orphans, frames twice, stalls, windows, delays. */
static void live_a_little(chroprof *p)
{
    uint64_t t = 0, id;
    for (id = 1; id < 6; id++) {
        chroprof_event(p, CHROPROF_PENDING, id, id % 2 ? &A : &B, t += 3);
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, t += 5);
        chroprof_event(p, CHROPROF_PENDING, id + 10, &C, t += 40);
        chroprof_event(p, CHROPROF_READY, id + 10, NULL, t += 2);
        chroprof_event(p, CHROPROF_PAUSED, id, NULL, t += 7 * id);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t += 1);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 90);
    }
    chroprof_event(p, CHROPROF_COMPLETED, 12, NULL, t += 4);
    chroprof_event(p, CHROPROF_RUNNING, 1, NULL, t += 4);
    chroprof_event(p, CHROPROF_RUNNING, 2, NULL, t += 4);
    chroprof_event(p, CHROPROF_COMPLETED, 1, NULL, t += 4);
    chroprof_event(p, CHROPROF_LOOP_ENTER, 0, NULL, t += 4);
    chroprof_event(p, CHROPROF_ENTER, 0, &D, t += 4);
    chroprof_event(p, CHROPROF_RUNNING, 2, NULL, t += 4);
    chroprof_event(p, CHROPROF_PENDING, 30, &A, t += 4);
    chroprof_event(p, CHROPROF_PENDING, 30, &A, t += 4);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, t + 11);
}

static chroprof_options small_options(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.window_ns = 50;
    o.stall_ns = 60;
    o.name = "small";
    return o;
}

/* A profile in a block of the least size. */
static void small_profile(chroprof *p, small_block *block)
{
    chroprof_options o = small_options();
    memset(block, 0, sizeof *block);
    CHECK_EQ(chroprof_init(p, block->bytes, SMALL, &o), CHROPROF_OK);
    live_a_little(p);
}

/* A profile with room for everything. */
static chroprof *roomy_profile(void)
{
    chroprof_options o = small_options();
    chroprof *p = fresh(&o);
    live_a_little(p);
    laws(p);
    return p;
}

static size_t core_at(const small_block *block)
{
    uint64_t word = UINT64_C(0x31464F5250524843);
    size_t at = 0;
    while (memcmp(block->bytes + at, &word, 8) != 0 && at < 128)
        at++;
    CHECK(at < 128);
    return at;
}

/* >>reading everything */

static int forget(void *user, const void *bytes, size_t count)
{
    uint64_t *sum = (uint64_t *)user;
    size_t i;
    for (i = 0; i < count; i++)
        *sum += ((const unsigned char *)bytes)[i];
    return 0;
}

static uint64_t read_everything(chroprof *p, int formats)
{
    static chroprof_rank ranks[64];
    static chroprof_path paths[64];
    static chroprof_future futures[64];
    static chroprof_window windows[64];
    static chroprof_stall stalls[64];
    static uint64_t cells[64];
    uint64_t sum = totals_of(p).elapsed_ns;
    uint32_t site;
    int f;
    sum += chroprof_ranks(p, ranks, 64, CHROPROF_BY_BLAME) + chroprof_paths(p, paths, 64);
    sum += chroprof_futures(p, futures, 64) + chroprof_windows(p, windows, 64);
    sum += chroprof_stalls(p, stalls, 64) + (chroprof_check(p) == NULL);
    sum += table_of(p, CHROPROF_TABLE_DEPTH).peak;
    for (site = 0; site < 8; site++)
        sum += chroprof_site_windows(p, site, cells, 64);
    for (f = 0; f < formats; f++)
        chroprof_write(p, (chroprof_format)f, forget, &sum);
    return sum;
}

/* Opens a copy that ends where its memory ends, so that sanitizers see a step outside; reads all
 * of it if it opens. */
static chroprof_result try_bytes(const unsigned char *bytes, size_t size, int formats)
{
    unsigned char *copy = (unsigned char *)malloc(size ? size : 1);
    chroprof view;
    chroprof_result result;
    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    memset(&view, 0x77, sizeof view);
    result = chroprof_open(&view, copy, size);
    if (result == CHROPROF_OK)
        (void)read_everything(&view, formats);
    else
        CHECK(view.core == NULL && *chroprof_why_off(&view) && !view.view);
    free(copy);
    return result;
}

/* >>a view shows what the profile shows */

static void same_output(chroprof *a, chroprof *b, chroprof_format format)
{
    static harness_output first;
    memcpy(&first, written(a, format), sizeof first);
    CHECK_STR(written(b, format)->bytes, first.bytes);
}

TEST(a_view_shows_what_the_profile_shows)
{
    chroprof *p = roomy_profile();
    chroprof view;
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    CHECK(view.view);
    laws(&view);
    same_output(p, &view, CHROPROF_JSON);
    same_output(p, &view, CHROPROF_TEXT);
    same_output(p, &view, CHROPROF_FOLDED);
    CHECK_EQ(totals_of(&view).depth, totals_of(p).depth);
    CHECK_EQ(chroprof_now(&view), 0);
}

TEST(a_view_of_a_full_small_block)
{
    static small_block block;
    chroprof p, view;
    small_profile(&p, &block);
    CHECK(totals_of(&p).dropped > 0);
    CHECK_EQ(chroprof_open(&view, block.bytes, SMALL), CHROPROF_OK);
    laws(&view);
    same_output(&p, &view, CHROPROF_JSON);
}

TEST(a_view_of_a_new_profile)
{
    chroprof_options o = small_options();
    chroprof *p = fresh(&o);
    chroprof view;
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    laws(&view);
    same_output(p, &view, CHROPROF_JSON);
}

TEST(a_view_after_a_reset_and_switched_off)
{
    chroprof *p = roomy_profile();
    chroprof view;
    chroprof_reset(p);
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    laws(&view);
    same_output(p, &view, CHROPROF_JSON);
    chroprof_set_enabled(p, false);
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    laws(&view);
    CHECK(!totals_of(&view).enabled);
}

/* With a clock of its own the profile ticks before a dump; its view never does. */
TEST(a_view_ends_at_the_last_event)
{
    static small_block block;
    chroprof_options o = small_options();
    chroprof p, view;
    uint64_t elapsed;
    o.clock = NULL;
    if (chroprof_init(&p, block.bytes, SMALL, &o) == CHROPROF_ERR_CLOCK)
        SKIP("built without a clock");
    chroprof_enter(&p, &A);
    elapsed = totals_of(&p).elapsed_ticks;
    CHECK_EQ(chroprof_open(&view, block.bytes, SMALL), CHROPROF_OK);
    CHECK(written(&view, CHROPROF_JSON)->used > 0);
    CHECK_EQ(totals_of(&view).elapsed_ticks, elapsed);
    CHECK_EQ(totals_of(&p).elapsed_ticks, elapsed);
    CHECK(written(&p, CHROPROF_JSON)->used > 0);
    CHECK(totals_of(&p).elapsed_ticks > elapsed);
}

TEST(a_view_takes_no_events)
{
    static small_block block, before;
    chroprof p, view;
    small_profile(&p, &block);
    before = block;
    CHECK_EQ(chroprof_open(&view, block.bytes, SMALL), CHROPROF_OK);
    chroprof_event(&view, CHROPROF_PENDING, 77, &A, 9999);
    chroprof_enter(&view, &A);
    chroprof_tick(&view);
    chroprof_ready_since(&view, 2, 1);
    chroprof_stillborn(&view, &A, CHROPROF_COMPLETED);
    chroprof_set_enabled(&view, true);
    chroprof_set_enabled(&view, false);
    chroprof_reset(&view);
    CHECK(chroprof_site_make(&view, "new", "new.c", 1) == NULL);
    (void)read_everything(&view, 6);
    CHECK(memcmp(&block, &before, sizeof block) == 0);
}

/* Memory that is full of starts of blocks. */
TEST(what_lay_in_the_memory_before)
{
    enum { WORDS = 3 * CHROPROF_MEMORY_MIN / 8 };
    static uint64_t live[WORDS], copy[WORDS];
    size_t offset, k, size = sizeof live - 64;
    chroprof_options o;
    chroprof p, view;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    for (offset = 0; offset < 64; offset++) {
        unsigned char *memory = (unsigned char *)live + offset,
                      *to = (unsigned char *)copy + offset;
        for (k = 0; k < WORDS; k++)
            live[k] = copy[k] = UINT64_C(0x31464F5250524843);
        CHECK_EQ(chroprof_init(&p, memory, size, &o), CHROPROF_OK);
        chroprof_enter(&p, &A);
        CHECK_EQ(chroprof_open(&view, memory, size), CHROPROF_OK);
        CHECK_EQ(rank_of(&view, A.name).calls, 1);
        CHECK_EQ(chroprof_snapshot(memory, size, to, size), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&view, to, size), CHROPROF_OK);
        CHECK_EQ(rank_of(&view, A.name).calls, 1);
    }
}

TEST(a_string_that_was_cut_opens)
{
    static small_block block;
    chroprof_options o = small_options();
    chroprof p, view;
    char name[9000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_EQ(chroprof_init(&p, block.bytes, SMALL, &o), CHROPROF_OK);
    CHECK(chroprof_site_make(&p, name, "long.c", 1) != NULL);
    chroprof_event(&p, CHROPROF_ENTER, 0, chroprof_site_make(&p, name + 1, "long.c", 1), 5);
    CHECK_EQ(chroprof_open(&view, block.bytes, SMALL), CHROPROF_OK);
    laws(&view);
}

static chroprof_table strings_of(const chroprof *p)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    CHECK_EQ(chroprof_tables(p, rows, CHROPROF_TABLE_COUNT), CHROPROF_TABLE_COUNT);
    return rows[CHROPROF_TABLE_STRINGS];
}

/* A report names a site again and again: one long name must not fill it. */
TEST(a_long_name_is_cut)
{
    static unsigned char memory[1 << 20], copy[1 << 20];
    static char name[100000];
    uint64_t cursor = 0, id;
    chroprof p, view;
    chroprof_options o = small_options();
    chroprof_site_row row;
    o.string_bytes = 200000;
    memset(name, 'x', sizeof name - 1);
    memcpy(name + 996, "\xE2\x82\xAC", 3); /* what is cut off begins with a character */
    CHECK_EQ(chroprof_init(&p, memory, sizeof memory, &o), CHROPROF_OK);
    const chroprof_site site = { name, name, 1 };
    CHECK(chroprof_site_make(&p, name, name, 1) == chroprof_site_make(&p, name, name, 1));
    CHECK(chroprof_site_make(&p, name, name, 1) != chroprof_site_make(&p, name + 1, name, 1));
    for (id = 1; id <= 100; id++)
        chroprof_event(&p, CHROPROF_PENDING, id, &site, id);
    CHECK_EQ(chroprof_snapshot(memory, sizeof memory, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    while (chroprof_next_site(&view, &cursor, &row) && row.line != 1) {}
    CHECK(row.cut);
    CHECK_EQ(strlen(row.name), 999);
    CHECK_EQ(strlen(row.file), 999);
    CHECK_STR(row.name + 990, "xxxxxx...");
    CHECK_EQ(strings_of(&view).dropped, 0);
    laws(&view);
}

/* The last name of the table made longer than any that is kept. */
TEST(a_long_name_of_another_writer_is_cut)
{
    static uint64_t memory[1 << 14], copy[1 << 14];
    chroprof p, view;
    chroprof_options o = small_options();
    chroprof_site_row row;
    uint64_t cursor = 0, k, found = 0, used;
    char name[601], *text = NULL;
    o.string_bytes = 20000;
    memset(name, 'y', 600);
    name[600] = '\0';
    CHECK_EQ(chroprof_init(&p, memory, sizeof memory, &o), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, 5);
    chroprof_event(&p, CHROPROF_ENTER, 0, chroprof_site_make(&p, name, A.file, 1), 9);
    used = strings_of(&p).used;
    for (k = 0; k + 1 < sizeof memory / 8; k++) {
        if (memory[k] >= used && memory[k] < used + 100 && memory[k + 1] == memory[k]) {
            memory[k] = memory[k + 1] += 5000; /* with the header's own */
            found++;
        }
        if (memcmp(memory + k, "yyyyyyyy", 8) == 0 && text == NULL)
            text = (char *)(memory + k);
    }
    CHECK_EQ(found, 1);
    CHECK(text != NULL);
    memset(text + strlen(text), 'y', 5000);
    CHECK_EQ(chroprof_open(&view, memory, sizeof memory), CHROPROF_ERR_CORRUPT);
    CHECK_EQ(chroprof_snapshot(memory, sizeof memory, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    while (chroprof_next_site(&view, &cursor, &row) && row.line != 1) {}
    CHECK_EQ(strlen(row.name), 1000);
    CHECK_STR(row.name + 990, "yyyyyyy...");
    laws(&view);
}

/* >>where the block lies */

TEST(a_copy_opens_wherever_it_is_aligned)
{
    static small_block block, copy;
    chroprof p, view;
    size_t shift, at;
    small_profile(&p, &block);
    at = core_at(&block);
    for (shift = 0; shift < 64; shift++) {
        chroprof_result want = shift % 8 == 0 ? CHROPROF_OK : CHROPROF_ERR_ALIGNMENT;
        memset(&copy, 0, sizeof copy);
        memcpy(copy.bytes + shift, block.bytes + at, SMALL - at);
        CHECK_EQ(chroprof_open(&view, copy.bytes, SMALL - at + shift), want);
        if (want == CHROPROF_OK)
            laws(&view);
    }
}

TEST(memory_of_any_alignment_opens_where_it_lies)
{
    static small_block block;
    chroprof_options o = small_options();
    chroprof p, view;
    size_t shift;
    for (shift = 0; shift < 64; shift++) {
        CHECK_EQ(chroprof_init(&p, block.bytes + shift, SMALL, &o), CHROPROF_OK);
        live_a_little(&p);
        CHECK_EQ(chroprof_open(&view, block.bytes + shift, SMALL), CHROPROF_OK);
        laws(&view);
    }
}

/* >>what is refused */

TEST(arguments_that_are_missing)
{
    static small_block block;
    chroprof view;
    memset(&view, 0x77, sizeof view);
    CHECK_EQ(chroprof_open(NULL, block.bytes, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_open(&view, NULL, SMALL), CHROPROF_ERR_ARGUMENT);
    CHECK(view.core == NULL);
    CHECK_EQ(chroprof_open(&view, block.bytes, 0), CHROPROF_ERR_FORMAT);
}

TEST(other_bytes_are_no_block)
{
    unsigned char text[] = "This is a text of more than sixty-four bytes, and it is no block of "
                           "a profile, whatever somebody may have thought of it.";
    CHECK_EQ(try_bytes(text, sizeof text, 3), CHROPROF_ERR_FORMAT);
}

static void refused(chroprof_result want, size_t field, const void *value, size_t size)
{
    static small_block block;
    chroprof p;
    small_profile(&p, &block);
    memcpy(block.bytes + core_at(&block) + field, value, size);
    CHECK_EQ(try_bytes(block.bytes, SMALL, 3), want);
}

TEST(another_version_is_refused)
{
    uint32_t version = 999;
    refused(CHROPROF_ERR_VERSION, AT_LAYOUT, &version, sizeof version);
}

TEST(a_block_being_written_is_refused)
{
    uint64_t odd = 1;
    refused(CHROPROF_ERR_BUSY, AT_SEQ, &odd, sizeof odd);
}

/* A program that stopped inside an event, and any word of its block says nearly 2^64: sums of it go
 * round to 0, so a repair that divides by one must not rely on it. */
TEST(a_snapshot_of_a_torn_block_with_any_count)
{
    static small_block block, copy;
    uint64_t odd, old, enormous;
    unsigned long made = 0;
    chroprof p, view;
    chroprof_options o = small_options();
    size_t i, less, begin;
    memset(&block, 0, sizeof block);
    CHECK_EQ(chroprof_init(&p, block.bytes, SMALL, &o), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, 10);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 20);
    begin = core_at(&block);
    memcpy(&odd, block.bytes + begin + AT_SEQ, sizeof odd);
    odd--; /* as if it had stopped before the event ended */
    memcpy(block.bytes + begin + AT_SEQ, &odd, sizeof odd);
    for (i = begin; i + 8 <= begin + SMALL - 64; i += 8)
        for (less = 0; less < 6; less++) {
            if ((i / 8 + less) % harness_number("SHARE") != 0)
                continue;
            enormous = UINT64_MAX - less;
            memcpy(&old, block.bytes + i, 8);
            memcpy(block.bytes + i, &enormous, 8);
            if (chroprof_snapshot(block.bytes, SMALL, copy.bytes, ROOM) == CHROPROF_OK) {
                CHECK_EQ(chroprof_open(&view, copy.bytes, ROOM), CHROPROF_OK);
                CHECK(chroprof_check(&view) == NULL);
                made++;
            }
            memcpy(block.bytes + i, &old, 8);
        }
    CHECK(made * harness_number("SHARE") > 100);
}

TEST(swapped_order_mark_is_refused)
{
    uint32_t swapped = 0x04030201;
    refused(CHROPROF_ERR_BYTE_ORDER, AT_ORDER, &swapped, sizeof swapped);
}

TEST(the_other_byte_order_is_refused)
{
    static small_block block;
    chroprof p;
    size_t at, i;
    small_profile(&p, &block);
    at = core_at(&block);
    for (i = 0; i < 4; i++) {
        unsigned char byte = block.bytes[at + i];
        block.bytes[at + i] = block.bytes[at + 7 - i];
        block.bytes[at + 7 - i] = byte;
    }
    CHECK_EQ(try_bytes(block.bytes, SMALL, 3), CHROPROF_ERR_BYTE_ORDER);
}

TEST(every_truncation_is_refused)
{
    static small_block block;
    chroprof p;
    uint64_t whole;
    size_t size, at;
    small_profile(&p, &block);
    at = core_at(&block);
    memcpy(&whole, block.bytes + at + 16, sizeof whole);
    CHECK_IN(whole, 2048, SMALL);
    for (size = 0; size < at + whole; size++)
        CHECK_EQ(try_bytes(block.bytes, size, 3),
                 size < at + 8 ? CHROPROF_ERR_FORMAT : CHROPROF_ERR_TRUNCATED);
    CHECK_EQ(try_bytes(block.bytes, size, 3), CHROPROF_OK);
}

TEST(truncations_of_memory_of_any_alignment)
{
    static small_block block;
    chroprof_options o = small_options();
    chroprof p, view;
    size_t shift;
    for (shift = 0; shift < 64; shift += 8) {
        size_t at;
        uint64_t whole;
        CHECK_EQ(chroprof_init(&p, block.bytes + shift, SMALL, &o), CHROPROF_OK);
        at = (size_t)((const unsigned char *)p.core - (block.bytes + shift));
        memcpy(&whole, block.bytes + shift + at + 16, sizeof whole);
        CHECK_EQ(chroprof_open(&view, block.bytes + shift, at + (size_t)whole), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&view, block.bytes + shift, at + (size_t)whole - 1),
                 CHROPROF_ERR_TRUNCATED);
    }
}

/* >>broken bytes */

/* Every bit of the block in turn: it opens and reads, or is refused; no more can be asked. */
TEST(every_bit_flipped)
{
    static small_block block;
    unsigned long opened = 0, flips = 0;
    chroprof p;
    size_t i;
    int bit;
    small_profile(&p, &block);
    for (i = 0; i < SMALL; i++)
        for (bit = 0; bit < 8; bit++) {
            if ((i * 8 + (size_t)bit) % harness_number("SHARE") != 0)
                continue;
            flips++;
            block.bytes[i] ^= (unsigned char)(1 << bit);
            opened += try_bytes(block.bytes, SMALL, flips % 16 == 0 ? 3 : 0) == CHROPROF_OK;
            block.bytes[i] ^= (unsigned char)(1 << bit);
        }
    CHECK(opened > flips / 4 && opened < flips);
}

/* Words that mean most harm, at every place of the block. */
TEST(every_word_overwritten)
{
    static const uint64_t words[] = { 0,
                                      1,
                                      3,
                                      0xFF,
                                      0xFFFF,
                                      0x7FFFFFFF,
                                      UINT32_MAX,
                                      UINT64_C(0x100000000),
                                      UINT64_C(0xFFFFFFFF00000001),
                                      UINT64_C(1) << 62,
                                      UINT64_MAX };
    static small_block block;
    uint64_t old;
    chroprof p;
    size_t i, w;
    small_profile(&p, &block);
    for (i = 0; i + 8 <= SMALL; i += 4)
        for (w = 0; w < sizeof words / sizeof *words; w++) {
            memcpy(&old, block.bytes + i, 8);
            memcpy(block.bytes + i, &words[w], 8);
            (void)try_bytes(block.bytes, SMALL, 0);
            memcpy(block.bytes + i, &old, 8);
        }
    CHECK_EQ(try_bytes(block.bytes, SMALL, 3), CHROPROF_OK);
}

/* Several places at once, each given a number that other places hold. */
TEST(random_damage)
{
    static small_block block, damaged;
    uint64_t state;
    chroprof p;
    int round, k;
    random_seed(20);
    state = harness()->seed;
    small_profile(&p, &block);
    for (round = 0; round < 4000; round++) {
        damaged = block;
        for (k = (int)random_below(&state, 4); k >= 0; k--) {
            size_t to = (size_t)random_below(&state, SMALL / 4) * 4;
            size_t from = (size_t)random_below(&state, SMALL / 4) * 4;
            memcpy(damaged.bytes + to, block.bytes + from, 4);
        }
        (void)try_bytes(damaged.bytes, SMALL, round % 8 == 0 ? 3 : 0);
    }
}

static const test_case tests[] = {
    CASE(a_view_shows_what_the_profile_shows),
    CASE(a_view_of_a_full_small_block),
    CASE(a_view_of_a_new_profile),
    CASE(a_view_after_a_reset_and_switched_off),
    CASE(a_view_ends_at_the_last_event),
    CASE(a_view_takes_no_events),
    CASE(what_lay_in_the_memory_before),
    CASE(a_string_that_was_cut_opens),
    CASE(a_long_name_is_cut),
    CASE(a_long_name_of_another_writer_is_cut),
    CASE(a_copy_opens_wherever_it_is_aligned),
    CASE(memory_of_any_alignment_opens_where_it_lies),
    CASE(arguments_that_are_missing),
    CASE(other_bytes_are_no_block),
    CASE(another_version_is_refused),
    CASE(a_block_being_written_is_refused),
    CASE(a_snapshot_of_a_torn_block_with_any_count),
    CASE(swapped_order_mark_is_refused),
    CASE(the_other_byte_order_is_refused),
    CASE(every_truncation_is_refused),
    CASE(truncations_of_memory_of_any_alignment),
    CASE(every_bit_flipped),
    CASE(every_word_overwritten),
    CASE(random_damage),
};
TEST_MAIN(tests)
