/* tests/inside_sums.h - part of test_inside.c: copies, differences and sums of samples, where the
 * older state, the other program or the table is one that its own calls could not make so soon. */
#ifndef INSIDE_SUMS_H
#define INSIDE_SUMS_H

/* >>copies */

/* How often the sampler's row is copied if this counts, so many times, while it is. */
static uint32_t copies_while(const chroprof *p, uint64_t *count, uint32_t times)
{
    interruption *i = interrupt_copies();
    chroprof view;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    i->place = &sampler(&view)->unwind;     /* copied after what counts */
    i->count = count;
    i->times = times;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    times -= i->times;
    i->times = 0;
    if (times < CHROPROF__ROW_TRIES) {
        CHECK_EQ(sampler(&view)->ticks, sampler(p)->ticks);
        CHECK_EQ(sampler(&view)->put, sampler(p)->put);
    }
    return times;
}

TEST(the_sampler_is_copied_between_ticks)
{
    chroprof *p = sampled_scene();
    CHECK_EQ(copies_while(p, &sampler(p)->ticks, 1), 1);
    CHECK_EQ(sampler(p)->ticks, 1);
    CHECK_EQ(copies_while(p, &sampler(p)->put, 2), 2);
    CHECK_EQ(sampler(p)->put, 2);
    CHECK_EQ(copies_while(p, &sampler(p)->ticks, 1000), CHROPROF__ROW_TRIES);
}

/* Ticks of one sample of no stack each, or of one stack, that wait. */
static void let_wait(const chroprof *p, uint64_t count, uint64_t item)
{
    chroprof__sampler *s = sampler(p);
    uint64_t k, rows = chroprof__entry_count(chroprof__sample_capacity(p->core));
    for (k = 0; k < rows; k++) {
        chroprof__entry *e = chroprof__ring(p->core, s, s->taken + k);
        *e = entry_of(1, 0);
        e->stamp = e->last = p->core->epoch + p->core->last;
        if (item)
            e->items[e->count++] = item;
    }
    s->put = s->taken + count;
}

/* A count of them that no ring has is damage: nothing of it is taken. */
TEST(a_copy_takes_in_what_a_ring_can_hold)
{
    const uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(fresh(NULL)->core));
    chroprof *p = sampled_scene();
    chroprof view;
    let_wait(p, rows, 0);
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(sampler(&view)->samples, 12 + rows);
    CHECK_EQ(node(&view, 0)->weight, rows);
    p = sampled_scene();
    let_wait(p, rows + 1, 0);
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(sampler(&view)->samples, 12);
    laws(&view);
}

/* The buckets of the stacks are looked at by nobody but a tick: they may be anything. */
TEST(a_copy_finds_stacks_by_buckets_of_its_own)
{
    chroprof *p = sampled_scene();
    chroprof view;
    uint32_t k;
    for (k = 0; k < p->core->tables[CHROPROF__STACKS].rows; k++)
        node(p, k)->head = node(p, k)->next = 1;
    node(p, 1)->next = 0;
    let_wait(p, 7, node(p, 5)->item);
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(node(&view, 5)->weight, 1 + 7);
    CHECK_EQ(view.core->tables[CHROPROF__STACKS].used, 5);
    laws(&view);
}

/* >>differences */

TEST(the_most_that_a_histogram_knows)
{
    static chroprof__histogram h;
    CHECK_EQ(chroprof__histogram_most(&h), 0);
    h.count[0] = 1;
    CHECK_EQ(chroprof__histogram_most(&h), chroprof__bucket_floor(1) - 1);
    h.count[CHROPROF__BUCKETS - 2] = 1;
    CHECK_EQ(chroprof__histogram_most(&h), chroprof__bucket_floor(CHROPROF__BUCKETS - 1) - 1);
    h.count[CHROPROF__BUCKETS - 1] = 1;
    CHECK_EQ(chroprof__histogram_most(&h), UINT64_MAX);
}

/* One on the other, the first the outermost: code at these numbers. Returns the last node. */
static uint32_t chain_of(const chroprof *p, uint32_t first, uint32_t last)
{
    uint32_t node = 0, k;
    for (k = first; k <= last; k++)
        node = chroprof__intern_node(p->core, node, chroprof__item(CHROPROF__PC, OUTSIDE + k));
    CHECK(node >= last - first + 1);
    return node;
}

/* The buckets of stacks lie in the block: where another build of this version, that made it or
 * goes on with it, looks for a stack as well. So the keys are part of the format: the exclusive or
 * of the item and the low 64 bits of the parent's number times 0xD6E8FEB86659FD93. */
TEST(keys_of_stacks_are_of_the_format)
{
    const uint64_t item = UINT64_C(0x1000000000001234);
    CHECK_EQ(chroprof__node_key(0, 77), 77);
    CHECK_EQ(chroprof__node_key(1, 0), UINT64_C(0xD6E8FEB86659FD93));
    CHECK_EQ(chroprof__node_key(3, 5), UINT64_C(0x84BAFC29330DF8BC));
    CHECK_EQ(chroprof__node_key(4096, item), UINT64_C(0x9FEB86659FD92234));
    harness_keep_none();
}

/* Node numbers differ where the older state has drained what the newer one took in later. */
TEST(stacks_of_an_older_state_are_found_again)
{
    const uint64_t wild = chroprof__item(CHROPROF__PC, OUTSIDE);
    chroprof *p = scene();
    chroprof older;
    chroprof__entry e = entry_of(1, 0);
    sample_of(p, 1, 1, wild, 0);            /* 1 the task, 2 code below it */
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    CHECK_EQ(chroprof__node_since(p->core, older.core, 2), 2);
    p = scene();
    sample_of(p, 1, 1, 0, 0);
    e.items[e.count++] = wild;
    absorb(p, &e);                          /* 2 the same code below nothing */
    sample_of(p, 1, 1, wild, 0);
    CHECK_EQ(chroprof__node_since(p->core, older.core, 0), 0);
    CHECK_EQ(chroprof__node_since(p->core, older.core, 1), 1);
    CHECK_EQ(chroprof__node_since(p->core, older.core, 2), 3);
    CHECK_EQ(chroprof__node_since(older.core, p->core, 2), 0);
    p = scene();
    sample_of(p, 1, 1, wild + 1, 0);        /* 2 other code below the task */
    sample_of(p, 1, 1, wild, 0);
    CHECK_EQ(chroprof__node_since(p->core, older.core, 2), 3);
}

/* Deeper than what is ever sampled or merged: its inner part is what is looked for. */
TEST(stacks_of_an_older_state_that_are_too_deep)
{
    const uint32_t most = 2 * CHROPROF__ITEMS;
    chroprof *p = fresh(NULL);
    chroprof older;
    uint32_t deepest = chain_of(p, 1, most + 10), inner;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    p = fresh(NULL);
    inner = chain_of(p, 11, most + 10);
    CHECK_EQ(inner, most);
    CHECK_EQ(chroprof__node_since(p->core, older.core, deepest), inner);
    harness_keep_none();                    /* no sample has these stacks */
}

/* An older state that has more weight or CPU time than the newer one: none is left, and what lies
 * before the stacks is not touched. */
TEST(older_weights_beyond_the_newer_ones)
{
    static unsigned char before[HARNESS_MEMORY];
    chroprof *p;
    chroprof older;
    uint32_t k;
    int cpu;
    for (cpu = 0; cpu < 2; cpu++) {
        p = sampled_scene();
        size_t bytes = (size_t)p->core->tables[CHROPROF__STACKS].offset;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        node(&older, 1)->weight += cpu ? 0 : 1000;
        node(&older, 1)->cpu_ns += cpu ? 1000 : 0;
        node(p, 4)->weight += cpu ? 0 : 900;
        node(p, 4)->cpu_ns += 900;
        memcpy(before, p->core, bytes);
        chroprof__weights_since(p->core, older.core);
        CHECK(memcmp(before, p->core, bytes) == 0);
        for (k = 0; k <= p->core->tables[CHROPROF__STACKS].used; k++) {
            CHECK_EQ(node(p, k)->weight, 0);
            CHECK_EQ(node(p, k)->cpu_ns, k == 4 && !cpu ? 900 : 0);
        }
    }
    harness_keep_none();
}

TEST(difference_refuses_broken_stacks)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = sampled_scene();
    chroprof older;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    CHECK_EQ(chroprof_difference(p, &older, memory, sizeof memory), CHROPROF_OK);
    node(p, 3)->parent = 3;
    CHECK_EQ(chroprof_difference(p, &older, memory, sizeof memory), CHROPROF_ERR_DIFFERENT);
    harness_keep_none();
}

/* >>sums */

static void begin_sum(chroprof *sum, void *memory, size_t size, const chroprof_options *options)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    if (options)
        o = *options;
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(sum, memory, size, &o), CHROPROF_OK);
}

static chroprof__module file_of(const char *path, const char *build_id, uint64_t low, uint64_t high,
                                uint64_t base)
{
    chroprof__module m;
    memset(&m, 0, sizeof m);
    m.low = low;
    m.high = high;
    m.base = base;
    memcpy(m.path, path, strlen(path) + 1);
    memcpy(m.build_id, build_id, strlen(build_id) + 1);
    return m;
}

static uint32_t merged_file(chroprof *to, chroprof__module m)
{
    static chroprof__merging merging;
    merging.to = to;
    return chroprof__merge_module(&merging, &m);
}

static const chroprof__module *file_at(const chroprof *p, uint32_t number)
{
    return chroprof__modules(p->core) + number - 1;
}

/* The same file is one with the same path, build id, size and place of its code, wherever it
 * lies. */
TEST(merged_files_that_are_nearly_the_same)
{
    static const uint64_t places[] = { 0x10000, 0x700000 };
    chroprof *p = fresh(NULL);
    size_t k;
    for (k = 0; k < 2; k++) {
        const uint64_t low = places[k];
        CHECK_EQ(merged_file(p, file_of("/a", "aa", low, low + 0x1000, low - 0x800)), 1);
        CHECK_EQ(merged_file(p, file_of("/b", "aa", low + 0x10000, low + 0x11000, low + 0xF800)),
                 2);
        CHECK_EQ(merged_file(p, file_of("/a", "bb", low + 0x20000, low + 0x21000, low + 0x1F800)),
                 3);
        CHECK_EQ(merged_file(p, file_of("/a", "aa", low + 0x30000, low + 0x31000, low + 0x2F801)),
                 4);
        CHECK_EQ(merged_file(p, file_of("/a", "aa", low + 0x40000, low + 0x41001, low + 0x3F800)),
                 5);
    }
    CHECK_EQ(p->core->tables[CHROPROF__MODULES].used, 5);
    CHECK_EQ(file_at(p, 4)->low, 0x40000);
    CHECK_EQ(file_at(p, 4)->high, 0x41000);
    CHECK_EQ(file_at(p, 4)->base, 0x3F801);
}

/* It stays where it is when it only touches others, else it goes behind all, on a whole line. */
TEST(merged_files_do_not_overlap)
{
    chroprof *p = fresh(NULL);
    const uint64_t end = UINT64_C(0x9010);
    CHECK_EQ(merged_file(p, file_of("/z", "", 0x8000, end, 0x8000)), 1);
    CHECK_EQ(merged_file(p, file_of("/a", "", 0x2000, 0x3000, 0x1000)), 2);
    CHECK_EQ(merged_file(p, file_of("/above", "", 0x3000, 0x4000, 0x3000)), 3);
    CHECK_EQ(merged_file(p, file_of("/below", "", 0x1000, 0x2000, 0x1000)), 4);
    CHECK_EQ(file_at(p, 3)->low, 0x3000);
    CHECK_EQ(file_at(p, 4)->low, 0x1000);
    CHECK_EQ(merged_file(p, file_of("/over", "", 0x3FFF, 0x4FFF, 0x3EFF)), 5);
    CHECK_EQ(file_at(p, 5)->low, chroprof__aligned(end));
    CHECK_EQ(file_at(p, 5)->high, chroprof__aligned(end) + 0x1000);
    CHECK_EQ(file_at(p, 5)->base, chroprof__aligned(end) - 0x100);
    CHECK_EQ(merged_file(p, file_of("/under", "", 0x800, 0x1001, 0x800)), 6);
    CHECK_EQ(file_at(p, 6)->low, chroprof__aligned(end) + 0x1000);
}

/* Addresses have 48 bits; a damaged file has any. */
TEST(merged_files_that_find_no_place)
{
    const uint64_t most = UINT64_C(1) << 48;
    chroprof *p = fresh(NULL);
    uint32_t rows = p->core->tables[CHROPROF__MODULES].rows, k;
    CHECK_EQ(merged_file(p, file_of("/huge", "", 0x1000, most + 0x1000, 0)), 0);
    CHECK_EQ(merged_file(p, file_of("/inside out", "", 0x1000, 0xFFF, 0)), 0);
    CHECK_EQ(merged_file(p, file_of("/far", "", most, most + 0x1000, 0)), 0);
    CHECK_EQ(p->core->tables[CHROPROF__MODULES].used, 0);
    CHECK_EQ(merged_file(p, file_of("/last", "", most - 0x1000, most, most - 0x1000)), 1);
    CHECK_EQ(merged_file(p, file_of("/behind", "", most - 0x800, most - 0x700, 0)), 0);
    for (k = 2; k <= rows; k++)
        CHECK_EQ(merged_file(p, file_of("/more", "", k * 0x1000, k * 0x1000 + k, 0)), k);
    CHECK_EQ(merged_file(p, file_of("/one too many", "", 0x1000, 0x1800, 0)), 0);
    CHECK_EQ(merged_file(p, file_of("/last", "", 0, 0x1000, 0)), 1);
    CHECK_EQ(p->core->tables[CHROPROF__MODULES].used, rows);
}

/* Code of a file that finds no place keeps its address and has no file. */
TEST(merged_code_of_a_file_without_a_row)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof sum;
    chroprof_stack_frame f[4];
    chroprof_sample_row row;
    uint32_t k;
    begin_sum(&sum, memory, sizeof memory, NULL);
    for (k = 1; k <= sum.core->tables[CHROPROF__MODULES].rows; k++)
        CHECK_EQ(merged_file(&sum, file_of("/x", "", k << 20, (k << 20) + k, 0)), k);
    CHECK_EQ(chroprof_merge(&sum, caught_in("/a", 0x1000)), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(chroprof_samples(&sum, 0, UINT64_MAX, &row, 1), 1);
    CHECK_EQ(chroprof_stack(&sum, row.stack, f, 4), 3);
    CHECK_EQ(f[0].address, 0x1800);
    CHECK_STR(f[0].module, "");
    CHECK_STR(f[2].name, "accept");
}

/* How many frames of theirs are in our stack. */
static uint32_t merged_depth(chroprof *to, const chroprof *from, uint32_t stack)
{
    static chroprof__merging m;
    uint32_t depth = 0, k;
    m.to = to;
    m.from = from;
    for (k = chroprof__merge_stack(&m, stack); k != 0; k = node(to, k)->parent)
        depth++;
    return depth;
}

/* The outermost frames of what is too deep go; the innermost of what finds no room. */
TEST(merged_stacks_are_cut)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    const uint32_t most = 2 * CHROPROF__ITEMS;
    chroprof *p = fresh(NULL);
    chroprof sum;
    chroprof__table *table;
    uint32_t deepest = chain_of(p, 1, most + 10), third = chain_of(p, 1, 3);
    begin_sum(&sum, memory, sizeof memory, NULL);
    CHECK_EQ(merged_depth(&sum, p, third), 3);
    CHECK_EQ(merged_depth(&sum, p, deepest), most);
    CHECK_EQ(node(&sum, 4)->item, chroprof__item(CHROPROF__PC, OUTSIDE + 11));
    begin_sum(&sum, memory, sizeof memory, NULL);
    table = &sum.core->tables[CHROPROF__STACKS];
    table->used = table->rows - 3;
    CHECK_EQ(table_of(&sum, CHROPROF_TABLE_SAMPLES).dropped, 0);
    CHECK_EQ(merged_depth(&sum, p, third), 2);
    CHECK_EQ(table_of(&sum, CHROPROF_TABLE_SAMPLES).dropped, 1);
    harness_keep_none();
}

/* A row begins where the one before it ends, whatever its own program says. */
TEST(merged_rows_are_in_order)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    static const uint64_t times[] = { 1, 3, 9 }, durations[] = { 5, 4, 2 };
    chroprof *p = fresh(NULL);
    chroprof sum;
    chroprof_sample_row row[3];
    size_t k;
    chroprof__sample *rows = chroprof__sample_rows(p->core);
    at(p, 0, ENTER, 0, &A);
    chroprof_sample(p, 1, 1);
    chroprof_sample(p, 2, 1);
    chroprof_sample(p, 3, 1);
    at(p, 20, LEAVE, 0, NULL);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].used, 3);
    for (k = 0; k < 3; k++) {
        rows[k].time = times[k];
        rows[k].duration = durations[k];
    }
    begin_sum(&sum, memory, sizeof memory, NULL);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(chroprof_samples(&sum, 0, UINT64_MAX, row, 3), 3);
    CHECK(row[0].at_ns == 1 && row[0].duration_ns == 5);
    CHECK(row[1].at_ns == 6 && row[1].duration_ns == 1);
    CHECK(row[2].at_ns == 9 && row[2].duration_ns == 2);
    rows[1].weight = 0;                     /* of no sample */
    begin_sum(&sum, memory, sizeof memory, NULL);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_samples(&sum, 0, UINT64_MAX, row, 3), 2);
    CHECK(row[1].at_ns == 9 && row[1].duration_ns == 2);
    harness_keep_none();
}

/* Addresses of another process have no names here, nor what holds some of them. */
TEST(sums_with_samples_of_others_are_foreign)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof sum, view;
    begin_sum(&sum, memory, sizeof memory, NULL);
    CHECK_EQ(chroprof_merge(&sum, caught_in("/a", 0x1000)), CHROPROF_OK);
    CHECK_EQ(sum.core->foreign, 0);
    CHECK_EQ(copy_of(harness_profile(), &view), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &view), CHROPROF_OK);
    CHECK_EQ(sum.core->foreign, 1);
    CHECK_EQ(chroprof_merge(&sum, caught_in("/a", 0x1000)), CHROPROF_OK);
    CHECK_EQ(sum.core->foreign, 1);
    begin_sum(&sum, memory, sizeof memory, NULL);
    harness_profile()->core->foreign = 1;
    CHECK_EQ(chroprof_merge(&sum, harness_profile()), CHROPROF_OK);
    CHECK_EQ(sum.core->foreign, 1);
}

/* A sum without a sampler has no stacks that its stalls could name. */
TEST(merged_stalls_without_a_sampler)
{
    static uint64_t memory[HARNESS_MEMORY / 8], least[CHROPROF_MEMORY_MIN / 8];
    chroprof_stall stalls[8];
    chroprof *p = sampled_scene();
    chroprof sum;
    int k;
    size_t n;
    at(p, 300, LOOP_LEAVE, 0, NULL);
    at(p, 310, PAUSED, 1, NULL);
    at(p, 320, IDLE_ENTER, 0, NULL);
    CHECK(totals_of(p).stalls > 0 && totals_of(p).stalls <= 8);
    for (n = 0; n < p->core->tables[CHROPROF_TABLE_STALLS].rows; n++) {
        chroprof__stall_rows(p->core)[n].hits.count = 1;
        chroprof__stall_rows(p->core)[n].hits.stack[0] = 2;
    }
    for (k = 0; k < 2; k++) {
        begin_sum(&sum, k ? least : memory, k ? sizeof least : sizeof memory, NULL);
        CHECK_EQ(sampler(&sum) == NULL, k == 1);
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
        laws(&sum);
        n = chroprof_stalls(&sum, stalls, 8);
        CHECK(n > 0);
        while (n > 0)
            CHECK_EQ(stalls[--n].sample_count, k == 0);
    }
}

/* Each of the reasons alone. */
TEST(merge_refuses_a_target_in_use)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    const chroprof *from = scene();
    chroprof sum;
    begin_sum(&sum, memory, sizeof memory, NULL);
    sum.view = true;
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_ERR_TARGET);
    sum.view = false;
    sum.in_callback = true;
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_ERR_TARGET);
    sum.in_callback = false;
    sum.core->manual = 0;
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_ERR_TARGET);
    sum.core->manual = 1;
    chroprof_event(&sum, CHROPROF_ENTER, 0, &A, 0);
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_ERR_TARGET);
    chroprof_event(&sum, CHROPROF_LEAVE, 0, NULL, 0);
    chroprof_event(&sum, CHROPROF_PENDING, 9, &A, 0);
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_ERR_TARGET);
    chroprof_event(&sum, CHROPROF_CANCELLED, 9, NULL, 0);
    CHECK_EQ(totals_of(&sum).elapsed_ns, 0);
    CHECK_EQ(chroprof_merge(&sum, from), CHROPROF_OK);
    CHECK_EQ(totals_of(&sum).elapsed_ns, 150);
    laws(&sum);
}

/* >>ticks */

/* What the sampler drew of the paths of two programs. */
TEST(merged_draws_are_added)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = scene();
    chroprof_wall before, after;
    chroprof sum;
    uint32_t k, round;
    for (k = 0; k < 3; k++) {
        chroprof__walls(p->core)[4].weight[k] = 3 + k;
        chroprof__walls(p->core)[4].ticks[k] = 30 + k;
    }
    CHECK(chroprof__read_wall(p, 4, &before));
    CHECK(!chroprof__read_wall(p, 3, &after));
    begin_sum(&sum, memory, sizeof memory, NULL);
    for (round = 1; round < 3; round++) {
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
        CHECK_EQ(chroprof_walls(&sum, &after, 1), 1);
        CHECK_EQ(after.running, round * before.running);
        CHECK_EQ(after.ready, round * before.ready);
        CHECK_EQ(after.paused, round * before.paused);
        CHECK_EQ(after.running_ns, round * before.running_ns);
        CHECK_EQ(after.ready_ns, round * before.ready_ns);
        CHECK_EQ(after.paused_ns, round * before.paused_ns);
    }
    CHECK(before.running > 0 && before.ready > 0 && before.paused > 0);
}

/* Half of the rows are for the longest stalls, the others for the last; each here is a turn and its
 * pass. */
TEST(merged_stalls_are_the_longest_and_the_last)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    static const uint64_t lengths[2][4] = { { 50, 40, 11, 12 }, { 13, 14, 0, 0 } };
    static const uint64_t left[] = { 50, 50, 40, 40, 13, 13, 14, 14 };
    chroprof_stall stalls[8];
    chroprof_options o;
    chroprof sum;
    uint64_t t = 0;
    size_t k, i;
    memset(&o, 0, sizeof o);
    o.max_stalls = 8;
    o.stall_ns = 10;
    begin_sum(&sum, memory, sizeof memory, &o);
    for (i = 0; i < 2; i++) {
        chroprof *p = fresh(&o);
        for (k = 0; k < 4 && lengths[i][k]; k++) {
            at(p, t, IDLE_ENTER, 0, NULL);
            at(p, ++t, IDLE_LEAVE, 0, NULL);
            at(p, t, ENTER, 0, &A);
            at(p, t += lengths[i][k], LEAVE, 0, NULL);
        }
        at(p, t, IDLE_ENTER, 0, NULL);
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    }
    laws(&sum);
    CHECK_EQ(chroprof_stalls(&sum, stalls, 8), 8);
    for (k = 0; k < 8; k++)
        CHECK_EQ(stalls[k].length_ns, left[k]);
}

/* Stalls of 1000 in the rows of the longest, others from 200 on; then one of 300 is merged. */
static void check_last_stalls(uint32_t most, uint64_t last, const uint64_t *left)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    const uint32_t longest = most / 2;
    chroprof_stall stalls[8];
    chroprof_options o;
    chroprof sum;
    uint64_t t = 0, k;
    memset(&o, 0, sizeof o);
    o.max_stalls = most;
    o.stall_ns = 100;
    begin_sum(&sum, memory, sizeof memory, &o);
    for (k = 0; k < longest + last; k++) {
        chroprof_event(&sum, CHROPROF_ENTER, 0, &A, t);
        t += k < longest ? 1000 : 200 + k - longest;
        chroprof_event(&sum, CHROPROF_LEAVE, 0, NULL, t);
    }
    chroprof *p = fresh(&o);
    at(p, 0, ENTER, 0, &B);
    at(p, 300, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(chroprof_stalls(&sum, stalls, 8), most);
    for (k = 0; k < most; k++)
        CHECK_EQ(stalls[k].length_ns, k < longest ? 1000 : left[k - longest]);
}

/* A merged stall is the last one, and the oldest of those that are kept for being new gives way. */
TEST(a_merged_stall_follows_the_live_ones)
{
    static const uint64_t two[] = { 202, 300 }, three[] = { 202, 203, 300 };
    check_last_stalls(4, 3, two);
    check_last_stalls(6, 4, three);
}

/* >>reads */

/* A copy of several moments may say that a window lost time: that is not counted. */
TEST(cells_that_move_to_earlier_windows)
{
    uint64_t cells[] = { 0, 5, 0 - UINT64_C(2), 7, 11 };
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_windows = 4;
    p = fresh(&o);
    chroprof__move_cells(p->core, cells, 1);
    CHECK(cells[1] == 5 && cells[2] == 7 && cells[3] == 11 && cells[4] == 0);
}

/* Parts of a site that are floored alone: the windows show as much as the site does. */
TEST(windows_show_what_the_site_shows)
{
    chroprof *p = fresh(NULL);
    chroprof__span s;
    uint32_t site;
    at(p, 0, ENTER, 0, &B);
    at(p, 1, ENTER, 0, &A);
    at(p, 4, LEAVE, 0, NULL);
    at(p, 5, LEAVE, 0, NULL);
    at(p, 5, ENTER, 0, &A);
    at(p, 8, LEAVE, 0, NULL);
    chroprof__set_factor(p->core, UINT64_C(1) << 31);      /* two ticks are a ns */
    site = p->paths[CHROPROF__FIRST_PATH + 1].site;
    CHECK_EQ(p->paths[CHROPROF__FIRST_PATH + 2].site, site);
    chroprof__read_span(p, site, 0, &s);
    CHECK_EQ(s.ns[0], 2);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 2);
    harness_keep_none();
}

#if CHROPROF__SAMPLES
/* Code of no file does not make each sample dear: the list is asked for once a second. */
TEST(modules_are_read_once_a_second)
{
    chroprof *p = scene();
    chroprof__table *table = &p->core->tables[CHROPROF__MODULES];
    uint64_t next;
    if (!chroprof__each_object)
        SKIP("linked statically, without a list of modules");
    sampler(p)->running = 1;
    CHECK(chroprof__load_modules(p->core));
    CHECK(table->used > 0);
    next = sampler(p)->module_at;
    CHECK_EQ(next, p->core->last + 1000000000u);
    table->used = 0;
    CHECK(!chroprof__load_modules(p->core));
    p->core->last = next - 1;
    CHECK(!chroprof__load_modules(p->core));
    CHECK_EQ(table->used, 0);
    p->core->last = next;
    CHECK(chroprof__load_modules(p->core));
    CHECK(table->used > 0);
    CHECK_EQ(sampler(p)->module_at, next + 1000000000u);
    harness_keep_none();
}

/* The last part of a stall is what the clocks say since the last tick; a tick that comes between
 * the two has told it already. */
TEST(a_tick_while_a_stall_ends)
{
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    chroprof__stall stall;
    int way;
    pretend()->seconds = 1000;
    for (way = 0; way < 3; way++) {
        memset(&stall, 0, sizeof stall);
        stall.length = 5000;
        s->stamp = UINT64_C(1000000000000) - 300;
        s->cpu = UINT64_C(1000000000000) - 100;
        p->sampling = way != 1;
        pretend()->count = way == 2 ? &s->stamp : NULL;
        chroprof__add_last_part(p, s, &stall);
        CHECK_EQ(stall.hits.cpu_ns, way == 0 ? 100 : 0);
        CHECK_EQ(stall.hits.waiting_ns, way == 0 ? 200 : 0);
    }
    p->sampling = false;
    pretend()->seconds = 0;
    pretend()->count = NULL;
}

/* What a full ring has no room for is lost; not what comes while the profile is off. */
TEST(ticks_that_are_lost_inside_an_event)
{
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    uint64_t room = chroprof__entry_count(chroprof__sample_capacity(p->core)), k;
    ucontext_t nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    s->period_ns = s->first_period_ns = UINT64_C(1) << 40;     /* for good */
    s->budget_ppm = 1000000;
    p->core->seq++;
    for (k = 0; k < room; k++)
        chroprof__take_tick(p->core, s, 1, &nowhere);
    CHECK_EQ(s->lost, 0);
    chroprof__take_tick(p->core, s, 3, &nowhere);
    CHECK_EQ(s->lost, 3);
    p->core->enabled = 0;
    chroprof__take_tick(p->core, s, 5, &nowhere);
    CHECK_EQ(s->lost, 3);
    CHECK_EQ(s->ticks, room + 8);
    CHECK_EQ(s->put, room);
    harness_keep_none();
}
#endif

#endif
