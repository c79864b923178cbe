/* tests/inside_copies.h - part of test_inside.c: copies, mending and resets, function by function:
 * which rows are copied and how often, and what each part makes of its table. */
#ifndef INSIDE_COPIES_H
#define INSIDE_COPIES_H

/* >>waiting */

TEST(a_copy_waits_for_events_and_for_edits)
{
    static chroprof__core from, to;
    chroprof__copy c;
    uint64_t k;
    memset(&c, 0, sizeof c);
    c.from = &from;
    c.to = &to;
    for (k = 0; k < 8; k++) {
        from.seq = 100 + (k & 1);
        from.edits = 6 + (k >> 1 & 1);
        c.stuck = k >= 4;                   /* it was, before */
        chroprof__await(&c);
        CHECK_EQ(c.stuck, (k & 3) != 0);
        CHECK_EQ(c.seq, from.seq);
        CHECK_EQ(c.edits, from.edits);
        CHECK(chroprof__held_still(&c));
        from.seq += 2;
        CHECK(!chroprof__held_still(&c));
        from.edits += 2;
        CHECK(!chroprof__held_still(&c));
        from.seq -= 2;
        CHECK(!chroprof__held_still(&c));
        from.edits -= 2;
        CHECK(chroprof__held_still(&c));
    }
}

/* >>rows */

static chroprof__core *copy_target(void)
{
    static union { uint64_t word; unsigned char bytes[HARNESS_MEMORY]; } target;
    return (chroprof__core *)(void *)target.bytes;
}

static chroprof__copy copy_from(const chroprof *p)
{
    chroprof__copy c;
    memset(&c, 0, sizeof c);
    memset((void *)copy_target(), 0, (size_t)p->core->block_bytes);
    c.from = p->core;
    c.to = copy_target();
    c.tries = CHROPROF__PIECE;
    memcpy((void *)c.to, c.from, sizeof *c.to);
    return c;
}

static unsigned char *table_bytes(const chroprof__core *c, uint32_t table)
{
    return (unsigned char *)chroprof__rows(c, table);
}

static void paint(const chroprof *p, uint32_t table)
{
    const uint64_t count = p->core->tables[table].bytes;
    uint64_t k;
    for (k = 0; k < count; k++)
        table_bytes(p->core, table)[k] = (unsigned char)((k * 37 + k / 251 + table) | 1);
}

/* Of a table only these bytes are there. */
static void check_painted(const chroprof *p, const chroprof__core *to, uint32_t table,
                          uint64_t begin, uint64_t end)
{
    const uint64_t count = p->core->tables[table].bytes;
    const unsigned char *ours = table_bytes(p->core, table), *copied = table_bytes(to, table);
    uint64_t k;
    CHECK(end <= (count + 63) / 64 * 64);
    for (k = 0; k < count; k++)
        if (copied[k] != (k >= begin && k < end ? ours[k] : 0))
            harness_equal(__FILE__, (int)table, "first wrong byte of the table (the line)", k,
                          count);
}

static chroprof *many_slots(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_futures = 3000;
    o.max_sites = o.max_paths = o.max_edges = o.max_depth = o.max_histograms = 8;
    o.max_samples = o.max_windows = o.max_stalls = 8;
    o.string_bytes = 100;
    return fresh(&o);
}

/* How often a row is copied that changes each time, of `count` rows of 32 bytes: pieces of at most
 * 2^16 bytes are halved, down to the row, which has 64 tries, or as many as are left in all. */
static uint32_t copies_of_a_row(uint64_t count, uint64_t row, uint32_t left)
{
    uint64_t at = 0, piece = 2048;
    uint32_t copies = 0, tries = 0;
    while (at < count) {
        piece = piece < count - at ? piece : count - at;
        if (row >= at && row < at + piece) {
            copies++;
            if (piece > 1 || (tries < 64 && left > 0)) {
                tries += piece == 1;
                left -= piece == 1;
                piece = piece > 1 ? piece / 2 : 1;
                continue;
            }
        }
        at += piece;
        piece = 2 * piece < 2048 ? 2 * piece : piece;
        tries = 0;
    }
    return copies;
}

TEST(rows_that_change_are_copied_in_smaller_pieces)
{
    static const struct { uint64_t first, count, row; uint32_t left; } rows[] = {
        { 0, 1, 0, 1000 }, { 3, 100, 0, 1000 }, { 3, 100, 99, 1000 }, { 7, 100, 57, 1000 },
        { 0, 2048, 0, 1000 }, { 1, 2049, 2048, 1000 }, { 0, 5000, 3000, 1000 },
        { 2, 5000, 4999, 20 }, { 5, 10, 4, 0 }, { 5, 10, 4, 1 }, { 5, 10, 4, 63 }, { 5, 10, 4, 64 }
    };
    interruption *i = interrupt_copies();
    const uint32_t table = CHROPROF_TABLE_FUTURES;
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = many_slots();
        chroprof__copy c = copy_from(p);
        const uint64_t first = rows[k].first, count = rows[k].count;
        uint32_t copies = copies_of_a_row(count, rows[k].row, rows[k].left), singles;
        paint(p, table);
        c.tries = rows[k].left;
        i->place = table_bytes(c.to, table) + 32 * (first + rows[k].row);
        i->count = &p->core->edits;
        i->more = 1;
        i->times = 100000;
        chroprof__copy_rows(&c, table, first, count, 32, false);
        harness_equal(__FILE__, (int)k, "copies of the row", 100000 - i->times, copies);
        singles = rows[k].left < 64 ? rows[k].left : 64;
        CHECK_EQ(c.tries, rows[k].left - singles);
        i->times = 0;
        i->more = 0;
        check_painted(p, c.to, table, 32 * first, 32 * (first + count));
    }
    harness_keep_none();
}

/* Paths say when they were copied. */
TEST(copied_paths_know_their_moment)
{
    chroprof *p = scene_of(60);
    uint32_t stamp, k;
    for (stamp = 0; stamp < 2; stamp++) {
        chroprof__copy c = copy_from(p);
        const chroprof__path *rows =
            (const chroprof__path *)chroprof__rows(c.to, CHROPROF_TABLE_PATHS);
        for (k = 0; k < 9; k++)
            path(k).reserved[0] = 7;
        chroprof__copy_rows(&c, CHROPROF_TABLE_PATHS, 2, 6, sizeof *rows, stamp != 0);
        for (k = 0; k < 10; k++)
            CHECK_EQ(rows[k].reserved[0], k < 2 || k >= 8 ? 0 : stamp ? 150 : 7);
        CHECK_EQ(rows[7].site, path(7).site);
        CHECK_EQ(rows[8].site, 0);
    }
    harness_keep_none();
}

/* >>the core */

/* Disturbed each time that this place of the copy is written, so many times; how often it was. */
static uint32_t disturb(const chroprof *p, const void *place, uint32_t times,
                        chroprof_result result, chroprof__copy *c, uint64_t bytes)
{
    interruption *i = interrupt_copies();
    chroprof_result said;
    uint32_t left;
    i->place = place;
    i->count = &p->core->edits;
    i->more = 1;
    i->times = times;
    said = chroprof__copy_core(c, p->core->block_bytes, bytes);
    left = i->times;
    i->times = 0;
    i->more = 0;
    CHECK_EQ(said, result);
    return times - left;
}

static void check_frames(const chroprof *p, const chroprof__copy *c)
{
    const uint64_t bytes = (p->core->depth + 1) * sizeof(chroprof__frame);
    CHECK_EQ(c->to->depth, p->core->depth);
    check_painted(p, c->to, CHROPROF_TABLE_DEPTH, 0, bytes);
}

TEST(the_core_is_copied_with_its_stack)
{
    chroprof *p = scene_of(60);
    const uint64_t all = p->core->block_bytes;
    static const uint32_t times[] = { 0, 1, 5, 63, 64, 1000 };
    size_t k;
    CHECK_EQ(p->core->depth, 5);
    for (k = 0; k < sizeof times / sizeof *times; k++) {
        const uint32_t most = times[k] < 64 ? times[k] : 64;
        chroprof__copy c = copy_from(p);
        CHECK_EQ(disturb(p, &c.to->boot_ns, times[k], CHROPROF_OK, &c, all), most);
        check_frames(p, &c);
        c = copy_from(p);
        CHECK_EQ(disturb(p, table_bytes(c.to, CHROPROF_TABLE_DEPTH) + 64, times[k], CHROPROF_OK, &c,
                         all), most);
        check_frames(p, &c);
    }
}

/* It is looked at before its stack is looked for, however little it holds still. */
TEST(a_core_that_never_holds_still_is_looked_at)
{
    uint32_t times;
    for (times = 0; times < 2000; times += 1000) {
        chroprof *p = scene_of(60);
        chroprof__copy c = copy_from(p);
        const uint64_t all = p->core->block_bytes;
        uint32_t depth = p->core->depth;
        disturb(p, &c.to->boot_ns, times, CHROPROF_ERR_MEMORY, &c, all - 1);
        p->core->depth = capacity(DEPTH) + 1;
        disturb(p, &c.to->boot_ns, times, CHROPROF_ERR_CORRUPT, &c, all);
        p->core->depth = capacity(DEPTH);
        disturb(p, &c.to->boot_ns, times, CHROPROF_OK, &c, all);
        check_frames(p, &c);
        p->core->depth = depth;
        used(SITES) += capacity(SITES);
        disturb(p, &c.to->boot_ns, times, CHROPROF_ERR_CORRUPT, &c, all);
        used(SITES) -= capacity(SITES);
        p->core->layout++;
        disturb(p, &c.to->boot_ns, times, CHROPROF_ERR_VERSION, &c, all - 1);
    }
    harness_keep_none();
}

/* Three times all of it, each time 64 times the core; then it is mended. */
TEST(a_copy_of_what_never_holds_still)
{
    interruption *i = interrupt_copies();
    chroprof *p = scene_of(60);
    chroprof view;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    i->place = &view.core->boot_ns;
    i->count = &p->core->edits;
    i->more = 1;
    i->times = 1000;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(1000 - i->times, 3 * 64);
    CHECK_EQ(view.core->depth, 5);
    CHECK_EQ(view.core->skew_events, 0);
    laws(&view);
    i->place = &view.paths[0];              /* of 9 rows: pieces of 9, 4, 2, and 65 times 1 */
    i->count = &p->core->seq;
    i->times = 1000;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(1000 - i->times, 3 * (3 + 65));
    CHECK_EQ(view.core->skew_events, 3 + 65);
    i->times = 1;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(view.core->skew_events, 0);    /* the next time all went well */
    CHECK_EQ(view.core->seq, p->core->seq);
    i->times = 0;
    i->more = 0;
}

/* >>tables: what is in use, and nothing beyond it */

static chroprof *painted(uint32_t histograms, uint64_t strings)
{
    chroprof_options o;
    chroprof *p;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.max_futures = 10;
    o.max_sites = 6;
    o.max_paths = 9;
    o.max_edges = 7;
    o.max_depth = 5;
    o.max_histograms = histograms;
    o.max_samples = 20;
    o.max_windows = 6;
    o.max_stalls = 3;
    o.string_bytes = 100;
    p = fresh(&o);
    at(p, 0, PENDING, 1, &A);
    at(p, 1, RUNNING, 1, NULL);
    at(p, 2, ENTER, 0, &B);
    at(p, 3, ENTER, 0, &A);
    for (k = 0; k < CHROPROF__TABLES; k++)
        paint(p, k);
    used(STRINGS) = strings;
    harness_keep_none();
    return p;
}

static void check_tables(const chroprof *p, const chroprof__core *to, uint64_t histograms,
                         uint64_t strings, bool samples)
{
    static const uint32_t whole[] = {
        CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES, CHROPROF_TABLE_STALLS
    };
    static const uint32_t sampled[] = {
        CHROPROF_TABLE_SAMPLES, CHROPROF__STACKS, CHROPROF__MODULES, CHROPROF__WALLS,
        CHROPROF__SAMPLER
    };
    const uint64_t paths = (3 + 2) * sizeof(chroprof__path);
    size_t k;
    check_painted(p, to, CHROPROF_TABLE_STRINGS, 0, strings);
    check_painted(p, to, CHROPROF_TABLE_SITES, 0, (4 + 2) * sizeof(chroprof__site));
    check_painted(p, to, CHROPROF_TABLE_DEPTH, 4 * sizeof(chroprof__frame),
                  6 * sizeof(chroprof__frame));
    check_painted(p, to, CHROPROF_TABLE_HISTOGRAMS, 0, histograms * sizeof(chroprof__histograms));
    check_painted(p, to, CHROPROF_TABLE_WINDOWS, 0, (4 + 2) * (6 + 1) * sizeof(uint64_t));
    for (k = 0; k < sizeof whole / sizeof *whole; k++)
        check_painted(p, to, whole[k], 0, p->core->tables[whole[k]].bytes);
    for (k = 0; k < sizeof sampled / sizeof *sampled; k++)
        check_painted(p, to, sampled[k], 0, samples ? p->core->tables[sampled[k]].bytes : 0);
    check_painted(p, to, CHROPROF__ALIASES, 0, 0);
    check_painted(p, to, CHROPROF__HEADS, 0, 0);
    for (k = 0; k < 3 + 2; k++)
        p->paths[k].reserved[0] = p->core->last;
    check_painted(p, to, CHROPROF_TABLE_PATHS, 0, paths);
}

TEST(what_is_in_use_is_copied)
{
    static const struct { uint32_t histograms; uint64_t strings, rows, bytes; bool samples; }
    rows[] = {
        { 5, 48, 3, 48, true }, { 5, 49, 3, 56, true }, { 1, 55, 2, 56, true },
        { 2, 57, 3, 64, false }, { 3, 1, 3, 8, true }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = painted(rows[k].histograms, rows[k].strings);
        chroprof__copy c;
        uint32_t sampler_rows = p->core->tables[CHROPROF__SAMPLER].rows;
        CHECK_EQ(used(SITES), 2);
        CHECK_EQ(used(PATHS), 2);
        CHECK_EQ(p->core->depth, 3);
        p->core->tables[CHROPROF__SAMPLER].rows = rows[k].samples ? sampler_rows : 0;
        c = copy_from(p);
        chroprof__copy_tables(&c);
        check_tables(p, c.to, rows[k].rows, rows[k].bytes, rows[k].samples);
    }
}

/* >>mending */

TEST(each_site_is_mended)
{
    chroprof *p = scene();
    chroprof__site *sites = chroprof__sites(p->core);
    uint32_t count = chroprof__site_count(p), k;
    char *strings = (char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS);
    p->core->window = 3 << 16;
    for (k = 0; k <= count; k++) {
        sites[k].first_path = 55;
        sites[k].name = k % 2 ? 6 : 5;      /* inside "(loop)", and where it begins */
        sites[k].file = k % 3 ? 5 : 9;
        cells_of(p, k)[0] = k % 3 + 2;
    }
    strings[used(STRINGS) - 1] = 'x';
    chroprof__mend_sites(p);
    CHECK_EQ(strings[used(STRINGS) - 1], '\0');
    for (k = 0; k <= count; k++) {
        bool there = k < count;
        CHECK_EQ(sites[k].first_path, there ? 0 : 55);
        CHECK_EQ(sites[k].name, k % 2 == 0 ? 5 : there ? 0 : 6);
        CHECK_EQ(sites[k].file, k % 3 != 0 ? 5 : there ? 0 : 9);
        CHECK_EQ(cells_of(p, k)[0], there && k % 3 == 2 ? 3 : k % 3 + 2);
    }
    harness_keep_none();
}

/* All links of the tree are made anew as they were. */
TEST(the_tree_is_made_anew)
{
    chroprof__path before[10];
    chroprof *p = scene();
    uint32_t first[9], k;
    memcpy(before, p->paths, sizeof before);
    for (k = 0; k < 9; k++)
        first[k] = chroprof__sites(p->core)[k].first_path;
    for (k = 0; k < 3; k++)
        path(k).site = path(k).parent = 9;
    for (k = 0; k < 9; k++)
        path(k).next = path(k).level = path(k).histogram = path(k).same_site = 9;
    path(9).next = 77;
    path(0).same_site = path(1).same_site = path(2).same_site = 0;
    chroprof__mend_sites(p);
    CHECK(chroprof__mend_tree(p));
    CHECK(memcmp(before, p->paths, 9 * sizeof *before) == 0);
    CHECK_EQ(path(9).next, 77);
    for (k = 0; k < 9; k++)
        CHECK_EQ(chroprof__sites(p->core)[k].first_path, first[k]);
    path(9).next = 0;
}

#define TREE_MENDS(X)                                                                              \
    X(6, true, (void)p)                                                                            \
    X(6, false, path(7).site = 2)                                                                  \
    X(6, false, (path(7).site = 2, path(7).exec = 0))                                              \
    X(6, false, path(8).site = 2)                                                                  \
    X(5, true, (path(8).site = 2, path(8).exec = 0))                                               \
    X(6, true, path(8).site = 3)                                                                   \
    X(5, true, (path(8).site = 8, path(8).exec = 0))                                               \
    X(6, true, (path(8).site = 7, path(8).exec = 0))                                               \
    X(5, true, (path(8).parent = 8, path(8).exec = 0))                                             \
    X(6, true, (path(8).parent = 7, path(8).exec = 0))                                             \
    X(5, true, (path(8).parent = 1, path(8).exec = 0))                                             \
    X(5, true, (path(8).parent = 2, path(8).exec = 0))                                             \
    X(6, true, (path(8).parent = 0, path(8).exec = 0))

#define TREE_MEND(paths, good, poke)                                                               \
    p = scene();                                                                                   \
    poke;                                                                                          \
    chroprof__mend_sites(p);                                                                       \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__mend_tree(p), good);                        \
    harness_equal(__FILE__, __LINE__, #poke, used(PATHS), paths);

TEST(a_path_that_was_just_being_made_goes)
{
    chroprof *p;
    TREE_MENDS(TREE_MEND)
    harness_keep_none();
}

/* An interval is billed to a path that is there, or not at all. */
TEST(an_interval_is_finished_on_a_path_that_is_there)
{
    static unsigned char before[HARNESS_MEMORY];
    uint32_t account;
    for (account = 0; account < 12; account++) {
        chroprof *p = torn_scene();
        uint64_t exec = path(account).exec;
        p->core->event_now = p->core->epoch + p->core->last + 13;
        p->core->event_account = account;
        memcpy(before, p->core, (size_t)p->core->block_bytes);
        chroprof__finish_interval(p);
        CHECK_EQ(path(account).exec, exec + (account < 9 ? 13 : 0));
        path(account).exec = exec;
        CHECK(memcmp(before, p->core, (size_t)p->core->block_bytes) == 0);
    }
    harness_keep_none();
}

TEST(futures_are_counted_anew)
{
    chroprof *p = scene();
    const uint32_t last = p->slots - 1;
    uint32_t k;
    CHECK(p->futures[0].id == 0 && p->futures[last].id == 0);
    p->futures[0].id = 1000;
    p->futures[0].path = 6;
    p->futures[last].id = 1001;
    p->futures[last].path = 7;
    p->futures[last].state = CHROPROF_READY;
    for (k = 0; k < 12; k++)
        path(k).reserved[1] = path(k).reserved[2] = 5 + k;
    chroprof__recount(p);
    for (k = 0; k < 12; k++) {
        CHECK_EQ(path(k).reserved[1], k < 9 ? path(k).live + (k == 6 || k == 7) : 5 + k);
        CHECK_EQ(path(k).reserved[2], k < 9 ? path(k).ready + (k == 7) : 5 + k);
    }
    harness_keep_none();
}

/* No call is longer than the profile, which was 100 long; what is not possible is one moment more
 * or less, or nothing. */
TEST(calls_last_no_longer_than_the_profile)
{
    static const struct { uint64_t live, ended; int64_t wall, mended; } rows[] = {
        { 0, 15, 1500, 1500 }, { 0, 15, 1514, 1514 }, { 0, 15, 1515, 1415 }, { 0, 15, 1600, 1500 },
        { 0, 15, 1614, 1514 }, { 0, 15, 1615, 0 }, { 0, 15, -1, 99 }, { 0, 15, -100, 0 },
        { 0, 15, -101, 0 }, { 2, 13, -200, -200 }, { 2, 13, -201, -101 }, { 2, 13, 1300, 1300 },
        { 2, 13, 1315, 1215 }, { 2, 13, 1500, -200 }, { 0, 0, 0, 0 }, { 0, 0, 100, 0 },
        { 0, 0, -100, 0 }, { 0, 0, 5, 0 }, { 1, 0, -100, -100 }, { 1, 0, 0, 0 }, { 1, 0, 2, -98 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__path row;
        const bool all = rows[k].ended > 10;
        memset(&row, 0, sizeof row);
        row.completed = all ? rows[k].ended - 10 : rows[k].ended;
        row.failed = all ? 1 : 0;
        row.cancelled = all ? 2 : 0;
        row.abandoned = all ? 3 : 0;
        row.merged_live = all ? 4 : 0;
        row.live = rows[k].live;
        row.wall = (uint64_t)rows[k].wall;
        row.calls = 77;
        chroprof__mend_calls(&row, 100);
        CHECK_EQ(row.calls, rows[k].ended + rows[k].live);
        harness_equal(__FILE__, (int)k, "wall of row number (the line)", row.wall,
                      (uint64_t)rows[k].mended);
    }
}

/* What a site's windows lack goes to the present one; what they have too much comes off the
 * latest. */
TEST(cells_are_mended_from_the_latest_back)
{
    static const struct { uint64_t want, cells[4]; } rows[] = {
        { 26, { 5, 6, 7, 8 } }, { 27, { 5, 6, 8, 8 } }, { 99, { 5, 6, 80, 8 } },
        { 25, { 5, 6, 7, 7 } }, { 18, { 5, 6, 7, 0 } }, { 17, { 5, 6, 6, 0 } },
        { 6, { 5, 1, 0, 0 } }, { 5, { 5, 0, 0, 0 } }, { 1, { 1, 0, 0, 0 } }, { 0, { 0, 0, 0, 0 } }
    };
    chroprof_options o;
    chroprof *p;
    size_t k;
    uint32_t i;
    memset(&o, 0, sizeof o);
    o.max_windows = 4;
    p = fresh(&o);
    p->core->window = 1 << 16 | 2;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t *cells = cells_of(p, 1), *beyond = cells_of(p, 2);
        cells[0] = 1;
        for (i = 0; i < 4; i++)
            cells[1 + i] = 5 + i;
        beyond[0] = 1;
        chroprof__mend_cells(p, 1, rows[k].want);
        for (i = 0; i < 4; i++)
            CHECK_EQ(cells[1 + i], rows[k].cells[i]);
        CHECK_EQ(cells[0], 1);
        CHECK_EQ(beyond[0], 1);
    }
    harness_keep_none();
}

/* Three slices ended; each of these lengths is a bucket. What is missing had the length that is
 * held back; the longest are too many. */
TEST(histograms_are_mended_from_the_longest_down)
{
    static const struct { uint64_t counts[3], held; bool own; uint64_t mended[3], min; } rows[] = {
        { { 1, 1, 1 }, 0, false, { 1, 1, 1 }, 70 }, { { 1, 0, 0 }, 0, false, { 1, 2, 0 }, 50 },
        { { 0, 0, 0 }, 0, false, { 0, 3, 0 }, 50 }, { { 2, 2, 2 }, 0, false, { 2, 1, 0 }, 70 },
        { { 0, 1, 9 }, 0, false, { 0, 1, 2 }, 70 }, { { 9, 0, 0 }, 0, false, { 3, 0, 0 }, 70 },
        { { 1, 1, 1 }, 1, true, { 1, 1, 0 }, 70 }, { { 1, 1, 0 }, 1, true, { 1, 1, 0 }, 70 },
        { { 0, 1, 0 }, 1, true, { 0, 2, 0 }, 50 }, { { 1, 1, 1 }, 1, false, { 1, 1, 1 }, 70 }
    };
    const uint32_t bucket[] = { 0, chroprof__bucket(50), CHROPROF__BUCKETS - 1 };
    size_t k, i;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof__histogram *h = &chroprof__histogram_rows(p->core)[path(8).histogram].slice;
        path(6).slices = 2;
        path(7).slices = 0;
        path(8).slices = 1;
        memset(h, 0, sizeof *h);
        h->min = 70;
        for (i = 0; i < 3; i++)
            h->count[bucket[i]] = rows[k].counts[i];
        p->core->held = rows[k].held ? CHROPROF__HELD_SLICE : CHROPROF__HELD_TURN;
        p->core->held_slice = 50;
        p->core->held_slice_row = path(8).histogram + (rows[k].own ? 0 : 1);
        chroprof__mend_histogram(p, path(8).site);
        for (i = 0; i < 3; i++)
            harness_equal(__FILE__, (int)k, "count of row number (the line)", h->count[bucket[i]],
                          rows[k].mended[i]);
        CHECK_EQ(h->min, rows[k].min);
        CHECK_EQ(chroprof__histogram_total(h), rows[k].mended[0] + rows[k].mended[1] +
                 rows[k].mended[2]);
    }
    harness_keep_none();
}

/* Window 3 of level 2 is the present one, 200 ticks each. */
TEST(no_tag_is_ahead_of_the_present_window)
{
    static const struct { uint32_t tag; bool stays; } rows[] = {
        { TAG(2, 3), true }, { TAG(2, 4), false }, { TAG(3, 0), false }, { TAG(1, 7), true },
        { TAG(1, 8), false }, { TAG(0, 15), true }, { TAG(0, 16), false }, { TAG(2, 0), true }
    };
    size_t k;
    uint32_t path_number;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        for (path_number = 0; path_number < 10; path_number += 1 + path_number % 4) {
            chroprof *p = scene();
            chroprof__path *row = &path(path_number);
            p->core->window_ticks = 200;
            p->core->last = 799;
            p->core->window = TAG(2, 99);
            row->window = rows[k].tag;
            row->exec = 50;
            row->mark = 49 + (uint32_t)k % 3;
            chroprof__mend_tags(p);
            CHECK_EQ(p->core->window, TAG(2, 3));
            if (path_number < 9) {
                CHECK_EQ(row->window, rows[k].stays ? rows[k].tag : TAG(2, 3));
                CHECK_EQ(row->mark, k % 3 ? 50 : 49);
            } else {
                CHECK_EQ(row->window, rows[k].tag);
            }
        }
    harness_keep_none();
}

#define ACCOUNTS(X)                                                                                \
    X(8, (void)p)                                                                                  \
    X(8, p->core->account = 77)                                                                    \
    X(8, p->core->account = CHROPROF__IDLE)                                                        \
    X(2, p->core->hidden = 1)                                                                      \
    X(2, (p->core->hidden = 2, p->core->depth = 3, p->core->account = CHROPROF__IDLE))             \
    X(1, (p->core->depth = 3, p->core->account = CHROPROF__IDLE))                                  \
    X(0, (p->core->depth = 3, p->core->account = 8))                                               \
    X(1, (p->core->depth = p->core->floor = 0, p->core->account = CHROPROF__IDLE))                 \
    X(0, (p->core->depth = p->core->floor = 0, p->core->account = 8))

TEST(time_goes_to_what_is_on_top_again)
{
    chroprof *p;
#define QUESTION (chroprof__mend_account(p), p->core->account)
    ACCOUNTS(ASK)
#undef QUESTION
    harness_keep_none();
}

/* Of rows that fit together the newest are kept, and the stacks have at least their weight. */
TEST(samples_that_fit_together_are_kept)
{
    static const struct {
        uint64_t time[3], duration[3], weight[3], used, latest, kept, cpu;
    } rows[] = {
        { { 10, 20, 30 }, { 10, 10, 5 }, { 1, 2, 4 }, 3, 35, 7, 70 },
        { { 11, 20, 30 }, { 10, 10, 5 }, { 1, 2, 4 }, 2, 35, 6, 60 },
        { { 10, 21, 30 }, { 10, 10, 5 }, { 1, 2, 4 }, 1, 35, 4, 40 },
        { { 10, 20, 30 }, { 10, 10, 0 }, { 0, 2, 4 }, 2, 30, 6, 60 },
        { { 10, 20, 30 }, { 10, 10, 5 }, { 1, 0, 4 }, 1, 35, 4, 40 },
        { { 10, 20, 30 }, { 10, 10, 5 }, { 1, 2, 0 }, 0, 150, 0, 0 },
        { { 10, 10, 10 }, { 0, 0, 0 }, { 1, 2, 4 }, 3, 10, 7, 70 }
    };
    static const struct { uint64_t stack, cpu, none, none_cpu, taken, dropped, dropped_cpu; }
    nodes[] = {
        { 7, 70, 0, 0, 7, 0, 0 }, { 6, 60, 0, 0, 6, 0, 0 }, { 9, 45, 0, 0, 9, 5, 5 },
        { 3, 99, 3, 0, 6, 0, 39 }, { 4, 39, 0, 1, 4, 0, 0 }, { 1, 1, 0, 0, 1, 1, 1 },
        { 0, 0, 7, 70, 7, 0, 0 }
    };
    size_t k, i;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof__table *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
        chroprof__sampler *s = sampler(p);
        p->core->tables[CHROPROF__STACKS].used = 2;
        node(p, 2)->weight = nodes[k].stack;
        node(p, 2)->cpu_ns = nodes[k].cpu;
        node(p, 3)->weight = node(p, 3)->cpu_ns = 1000;         /* not in use */
        table->used = 3;
        s->head = 3;
        s->latest = 150;
        s->samples = s->dropped = s->dropped_cpu_ns = 77;
        for (i = 0; i < 3; i++) {
            chroprof__sample *row = chroprof__sample_rows(p->core) + i;
            row->time = rows[k].time[i];
            row->duration = rows[k].duration[i];
            row->weight = rows[k].weight[i];
            row->cpu_ns = 10 * row->weight;
        }
        chroprof__mend_rows(p, s);
        harness_equal(__FILE__, (int)k, "rows in use", table->used, rows[k].used);
        CHECK_EQ(s->latest, rows[k].latest);
        CHECK_EQ(node(p, 0)->weight, nodes[k].none);
        CHECK_EQ(node(p, 0)->cpu_ns, nodes[k].none_cpu);
        CHECK_EQ(s->samples, nodes[k].taken);
        CHECK_EQ(s->dropped, nodes[k].dropped);
        CHECK_EQ(s->dropped_cpu_ns, nodes[k].dropped_cpu);
    }
    harness_keep_none();
}

/* What delay has more than blame is blamed on the event's own interval, if it is just that; else it
 * is taken off the event's path, if that then has a delay that can be; else it is the loop's. */
TEST(blame_that_is_missing_is_found)
{
    const uint64_t most = UINT64_C(1) << 62;
    enum { LOOP, INTERVAL, CULPRIT };
    const struct { int64_t lack; uint64_t then; uint32_t account, culprit; bool torn; int who; }
    rows[] = {
        { 0, 0, 8, 3, true, LOOP }, { 15, 0, 8, 3, true, INTERVAL },
        { 15, 0, 9, 3, true, CULPRIT }, { 15, 0, 8, 3, false, LOOP },
        { 14, 0, 8, 3, true, CULPRIT }, { 16, 0, 8, 3, true, CULPRIT },
        { 14, 0, 8, 0, true, LOOP }, { -5, 0, 8, 3, true, CULPRIT }, { -5, 0, 8, 0, true, LOOP },
        { -5, 0, 8, 3, false, LOOP }, { 5, most - 1, 8, 3, true, CULPRIT },
        { 5, most, 8, 3, true, LOOP }, { 5, most + 1, 8, 3, true, LOOP }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof__path *row = &path(3);
        const uint64_t lack = (uint64_t)rows[k].lack, delay = chroprof__delay_ticks(p, row);
        const uint64_t more = rows[k].then ? rows[k].then - delay : 0;
        const uint64_t loop_delay = path(0).delay, loop_blame = path(0).blame;
        chroprof__path account;
        chroprof__mending m;
        memset(&m, 0, sizeof m);
        m.torn = rows[k].torn;
        m.culprit = rows[k].culprit;
        m.ready = 3;
        p->core->doubt_ticks = 5;
        p->core->event_account = rows[k].account;
        row->delay += lack + more;
        path(1).blame += more;
        account = path(rows[k].account);
        chroprof__mend_blame(p, &m);
        harness_equal(__FILE__, (int)k, "lack that is left in row (the line)",
                      chroprof__unblamed(p), 0);
        CHECK_EQ(chroprof__delay_ticks(p, row),
                 delay + more + (rows[k].who == CULPRIT ? 0 : lack));
        CHECK_EQ(path(rows[k].account).blame,
                 account.blame + (rows[k].who == INTERVAL ? lack : 0));
        CHECK_EQ(path(0).blame,
                 loop_blame + (rows[k].who == LOOP && rows[k].lack > 0 ? lack : 0));
        CHECK_EQ(path(0).delay,
                 loop_delay + (rows[k].who == LOOP && rows[k].lack < 0 ? 0 - lack : 0));
    }
    harness_keep_none();
}

/* The frames were pushed at 95, 100, 120, 130 and 140. */
#define SLICES(X)                                                                                  \
    X(4, 130, 130, (void)p)                                                                        \
    X(4, 140, 140, frame(4).pushed = 141)                                                          \
    X(4, 140, 140, frame(4).pushed = 140)                                                          \
    X(4, 139, 139, frame(4).pushed = 139)                                                          \
    X(4, 130, 140, frame(4).start = 141)                                                           \
    X(4, 130, 139, frame(4).start = 139)                                                           \
    X(4, 130, 130, frame(4).start = 129)                                                           \
    X(5, 150, 150, frame(5).pushed = 151)                                                          \
    X(5, 140, 150, frame(5).start = 151)                                                           \
    X(5, 139, 139, (p->core->hidden = 1, p->core->hidden_since = 139))                             \
    X(5, 140, 145, (frame(5).start = 149, p->core->hidden = 1, p->core->hidden_since = 145))       \
    X(4, 129, 129, (p->core->hidden = 1, p->core->hidden_since = 129))                             \
    X(1, 90, 90, (frame(1).start = 0, frame(1).pushed = 90))                                       \
    X(1, 85, 85, (frame(2).pushed = 85))

#define SLICE(k, was_pushed, started, poke)                                                        \
    p = scene();                                                                                   \
    poke;                                                                                          \
    chroprof__mend_slices(p);                                                                      \
    harness_equal(__FILE__, __LINE__, #poke, frame(k).pushed, was_pushed);                         \
    harness_equal(__FILE__, __LINE__, #poke, frame(k).start, started);

TEST(slices_begin_before_their_end)
{
    chroprof *p;
    SLICES(SLICE)
    harness_keep_none();
}

/* A row of the sites that is not in use has no say, whatever it holds. */
TEST(mending_ends_with_the_last_site)
{
    chroprof *p = torn_scene();
    const uint32_t timer = path(8).site, beyond = chroprof__site_count(p);
    const chroprof__histogram *h = &chroprof__histogram_rows(p->core)[path(8).histogram].slice;
    chroprof__mending m;
    uint64_t cell;
    memset(&m, 0, sizeof m);
    m.torn = true;
    path(8).slices = 1;
    p->core->held = 0;
    chroprof__sites(p->core)[beyond].first_path = 7;
    cell = cells_of(p, beyond)[1] = 5;
    CHECK(chroprof__mend(p, &m));
    CHECK_EQ(chroprof__slices_ended(p, timer), 1);
    CHECK_EQ(chroprof__histogram_total(h), 1);
    CHECK_EQ(cells_of(p, beyond)[1], cell);
    CHECK_EQ(chroprof__sites(p->core)[beyond].first_path, 7);
    harness_keep_none();
}

/* >>mending: futures and their counts */

/* A future runs if it has a frame of its own; else it does not, unless frames are hidden. */
TEST(futures_run_in_frames)
{
    uint32_t hidden;
    for (hidden = 0; hidden < 2; hidden++) {
        chroprof *p = scene();
        uint64_t id = 0, ends[2] = { 0, 0 };
        while (ends[0] == 0 || ends[1] == 0) {
            const uint32_t home = chroprof__hash_index(++id, p->slots);
            if (id > 6 && (home == 0 || home == p->slots - 1))
                ends[home != 0] = id;
        }
        for (id = 0; id < 2; id++) {
            chroprof__future *f = p->futures + (id ? p->slots - 1 : 0);
            f->id = ends[id];
            f->path = 7;
            f->state = CHROPROF_RUNNING;
        }
        slot(1)->state = CHROPROF_PAUSED;
        slot(3)->state = CHROPROF_RUNNING;
        slot(5)->state = CHROPROF_RUNNING;
        p->core->hidden = hidden;
        chroprof__mend_futures(p);
        CHECK_EQ(slot(1)->state, CHROPROF_RUNNING);
        CHECK_EQ(slot(2)->state, CHROPROF__GONE);
        CHECK_EQ(slot(3)->state, hidden ? CHROPROF_RUNNING : CHROPROF_PAUSED);
        CHECK_EQ(slot(4)->state, CHROPROF_READY);
        CHECK_EQ(slot(5)->state, hidden ? CHROPROF_RUNNING : CHROPROF_PAUSED);
        CHECK_EQ(slot(6)->state, CHROPROF_PENDING);
        CHECK_EQ(p->futures[0].state, hidden ? CHROPROF_RUNNING : CHROPROF_PAUSED);
        CHECK_EQ(p->futures[p->slots - 1].state, hidden ? CHROPROF_RUNNING : CHROPROF_PAUSED);
        CHECK(slot(1)->frame == 4 && frame(4).same == 2 && frame(2).same == 0);
        CHECK(frame(4).future == 4 && frame(5).future == 4 && frame(3).future == 0);
        CHECK(slot(2)->frame == 1 && frame(1).future == 1);
    }
    harness_keep_none();
}

/* Whose figures the event was changing: the path that does not agree with its futures, or that of
 * the event's own future. */
#define CULPRITS(X)                                                                                \
    X(0, (void)p)                                                                                  \
    X(6, p->core->event_id = 5)                                                                    \
    X(3, p->core->event_id = 4)                                                                    \
    X(0, p->core->event_id = 999)                                                                  \
    X(6, (path(6).live--, path(6).calls--))                                                        \
    X(5, path(5).ready = 1)                                                                        \
    X(3, (path(3).ready = 2, p->core->event_id = 5))                                               \
    X(8, (path(8).ready = 1, path(5).ready = 1))                                                   \
    X(2, path(2).ready = 1)

#define CULPRIT(want, poke)                                                                        \
    p = scene();                                                                                   \
    memset(&m, 0, sizeof m);                                                                       \
    poke;                                                                                          \
    chroprof__mend_counts(p, &m);                                                                  \
    harness_equal(__FILE__, __LINE__, #poke, m.culprit, want);                                     \
    for (k = 0; k < 9; k++) {                                                                      \
        CHECK_EQ(path(k).live, live[k]);                                                           \
        CHECK_EQ(path(k).ready, k == 3);                                                           \
    }

TEST(counts_that_do_not_agree_have_a_culprit)
{
    static const uint64_t live[] = { 0, 0, 0, 2, 0, 1, 1, 1, 1 };
    chroprof *p;
    chroprof__mending m;
    uint32_t k;
    CULPRITS(CULPRIT)
    harness_keep_none();
}

/* A frame is tied to the slot of its id; one whose future is not its own any more is an orphan, the
 * only one of its future. */
#define ORPHANED (CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN | CHROPROF__NEWEST | CHROPROF__OLDEST)
#define TIES(X)                                                                                    \
    X(CHROPROF__FUTURE_FRAME, 9, 2, (void)p)                                                       \
    X(ORPHANED, 0, 2, slot(1)->path = 5)                                                           \
    X(ORPHANED, 0, 2, slot(1)->state = CHROPROF__GONE)                                             \
    X(CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN, 9, 2, frame(4).kind |= CHROPROF__ORPHAN)          \
    X(CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN, 9, 2,                                             \
      (frame(4).kind |= CHROPROF__ORPHAN, slot(1)->path = 5))                                      \
    X(ORPHANED, 0, 0, frame(4).id = 77)

#define TIE(want_kind, want_carried, want_same, poke)                                              \
    p = scene();                                                                                   \
    slot(1)->frame = 2;                                                                            \
    frame(4).carried = 9;                                                                          \
    frame(4).same = frame(4).future = 0;                                                           \
    frame(4).slot = 0;                                                                             \
    poke;                                                                                          \
    chroprof__mend_frame(p, 4);                                                                    \
    harness_equal(__FILE__, __LINE__, #poke, frame(4).kind, want_kind);                            \
    harness_equal(__FILE__, __LINE__, #poke, frame(4).carried, want_carried);                      \
    harness_equal(__FILE__, __LINE__, #poke, frame(4).same, want_same);                            \
    CHECK_EQ(frame(4).future, 4);                                                                  \
    CHECK(p->futures + frame(4).slot == slot(frame(4).id));                                        \
    CHECK_EQ(slot(frame(4).id)->frame, 4);                                                         \
    CHECK(slot(frame(4).id)->id == frame(4).id);

TEST(frames_are_tied_to_their_futures)
{
    chroprof *p;
    TIES(TIE)
    CHECK(slot(77)->state == CHROPROF__GONE && slot(77)->path == 3);
    harness_keep_none();
}

/* The call that an event ended is still there: its future, or the frame on top. */
static const struct {
    uint64_t id;
    uint32_t path, futures, depth, state;       /* of slot(id) after it */
} drops[] = {
    { 5, 6, 4, 5, 0 }, { 5, 7, 5, 5, CHROPROF_PENDING }, { 5, 8, 5, 4, CHROPROF_PENDING },
    { 0, 8, 5, 4, 0 }, { 0, 3, 5, 5, 0 }, { 1, 3, 4, 5, CHROPROF__GONE },
    { 1, 8, 5, 4, CHROPROF_RUNNING }, { 2, 4, 5, 5, CHROPROF__GONE }, { 999, 6, 5, 5, 0 },
    { 999, 8, 5, 4, 0 }, { 4, 3, 4, 5, 0 }, { 4, 6, 5, 5, CHROPROF_READY }
};

TEST(calls_that_an_event_ended_are_dropped)
{
    size_t k;
    for (k = 0; k < sizeof drops / sizeof *drops; k++) {
        chroprof *p = scene();
        CHECK_EQ(used(FUTURES), 5);
        p->core->event_id = drops[k].id;
        slot(1)->flags = 3;
        chroprof__drop_call(p, drops[k].path);
        harness_equal(__FILE__, (int)k, "live futures of row (the line)", used(FUTURES),
                      drops[k].futures);
        CHECK_EQ(p->core->depth, drops[k].depth);
        CHECK_EQ(slot(drops[k].id)->state, drops[k].state);
        CHECK_EQ(slot(1)->flags, drops[k].id == 1 && drops[k].path == 3 ? 0 : 3);
        CHECK_EQ((frame(4).kind & CHROPROF__ORPHAN) != 0, slot(1)->state == CHROPROF__GONE);
    }
    harness_keep_none();
}

TEST(calls_of_a_future_are_not_dropped_with_its_frame)
{
    chroprof *p = scene();
    p->core->depth = 4;                     /* a future's frame on top */
    p->core->event_id = 0;
    chroprof__drop_call(p, 3);
    CHECK_EQ(p->core->depth, 4);
    CHECK_EQ(used(FUTURES), 5);
    harness_keep_none();
}

/* >>mending: hashed tables of four rows */

/* The nth good edge whose home is this row. */
static chroprof__edge edge_of(const chroprof *p, uint32_t home, uint32_t nth)
{
    chroprof__edge edge;
    memset(&edge, 0, sizeof edge);
    for (edge.path = 0; edge.path < 9; edge.path++)
        for (edge.target = 3; edge.target < 8; edge.target++) {
            edge.site = path(edge.target).site;
            if (edge.target != 7 &&
                chroprof__hash_index((uint64_t)edge.path << 32 ^ edge.site, FEW) == home &&
                nth-- == 0)
                return edge;
        }
    harness_fail(__FILE__, __LINE__, "no such edge");
    return edge;
}

static void check_edge(const chroprof *p, uint32_t row, chroprof__edge want)
{
    const chroprof__edge *edges =
        (const chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    harness_equal(__FILE__, (int)row, "edge of the row (the line)",
                  memcmp(edges + row, &want, sizeof want) == 0, true);
}

/* Once around, from behind an empty row: what is in the wrong one goes to the first free one from
 * its home, and leaves its own to those after it. */
TEST(edges_are_put_where_they_are_found)
{
    chroprof *p = few_edges();
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    const chroprof__edge none = { 0, 0, 0, 0 }, a = edge_of(p, 3, 0), b = edge_of(p, 1, 0);
    const chroprof__edge c = edge_of(p, 0, 0), d = edge_of(p, 0, 1);
    chroprof__edge bad = c, beyond = edges[FEW];
    edges[0] = a;
    edges[1] = b;
    edges[2] = c;
    chroprof__mend_edges(p);
    check_edge(p, 0, c);
    check_edge(p, 1, b);
    check_edge(p, 2, none);
    check_edge(p, 3, a);
    CHECK_EQ(used(EDGES), 3);
    edges[2] = d;                           /* full: c and b before it, a behind it */
    chroprof__mend_edges(p);
    check_edge(p, 0, c);
    check_edge(p, 1, b);
    check_edge(p, 2, d);
    check_edge(p, 3, a);
    CHECK_EQ(used(EDGES), 4);
    table(EDGES).capacity = 3;              /* from the last row on: a, c and b are first */
    chroprof__mend_edges(p);
    check_edge(p, 2, none);
    CHECK_EQ(used(EDGES), 3);
    table(EDGES).capacity = 4;
    bad.target = 9;
    edges[2] = bad;
    chroprof__mend_edges(p);
    check_edge(p, 2, none);
    CHECK_EQ(used(EDGES), 3);
    edges[0] = edges[1] = none;             /* around the end */
    edges[2] = edge_of(p, 3, 1);
    chroprof__mend_edges(p);
    check_edge(p, 0, edge_of(p, 3, 1));
    check_edge(p, 2, none);
    check_edge(p, 3, a);
    CHECK_EQ(used(EDGES), 2);
    check_edge(p, FEW, beyond);
    harness_keep_none();
}

static chroprof__future future_at(uint32_t home, uint32_t nth)
{
    chroprof__future f;
    memset(&f, 0, sizeof f);
    do {
        f.id++;
    } while (chroprof__hash_index(f.id, FEW) != home || nth-- != 0);
    f.path = 3;
    f.state = CHROPROF_PENDING;
    f.since = 40 + home;
    return f;
}

static void check_slots(const chroprof *p, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    CHECK_EQ(p->futures[0].id, a);
    CHECK_EQ(p->futures[1].id, b);
    CHECK_EQ(p->futures[2].id, c);
    CHECK_EQ(p->futures[3].id, d);
    CHECK_EQ(p->futures[4].id, 99);
    CHECK_EQ(used(FUTURES), (a != 0) + (b != 0) + (c != 0) + (d != 0));
}

static chroprof *few_slots(uint32_t capacity_of_them)
{
    chroprof *p = scene();
    memset(p->futures, 0, 5 * sizeof *p->futures);
    p->futures[FEW].id = 99;
    p->slots = FEW;
    capacity(FUTURES) = capacity_of_them;
    harness_keep_none();
    return p;
}

TEST(futures_are_put_where_they_are_found)
{
    chroprof *p = few_slots(4);
    const chroprof__future a = future_at(3, 0), b = future_at(1, 0), c = future_at(0, 0);
    const chroprof__future d = future_at(0, 1), e = future_at(3, 1);
    CHECK(c.id != d.id && a.id != e.id);
    p->futures[0] = a;
    p->futures[1] = b;
    p->futures[2] = c;
    chroprof__mend_slots(p);
    check_slots(p, c.id, b.id, 0, a.id);
    p->futures[2] = d;
    chroprof__mend_slots(p);
    check_slots(p, c.id, b.id, d.id, a.id);
    capacity(FUTURES) = 3;
    chroprof__mend_slots(p);
    check_slots(p, c.id, b.id, 0, a.id);
    p->futures[2] = a;                      /* an id twice */
    capacity(FUTURES) = 4;
    chroprof__mend_slots(p);
    check_slots(p, c.id, b.id, 0, a.id);
    memset(p->futures, 0, 2 * sizeof a);
    p->futures[2] = e;
    chroprof__mend_slots(p);
    check_slots(p, e.id, 0, 0, a.id);
}

/* Those of no path, of no state; times and frames that cannot be. */
TEST(futures_that_cannot_be_go)
{
    static const struct { uint32_t path, state; bool stays; } rows[] = {
        { 2, CHROPROF_PENDING, true }, { 1, CHROPROF_PENDING, false },
        { 8, CHROPROF_PAUSED, true }, { 9, CHROPROF_PAUSED, false },
        { 3, CHROPROF_PAUSED + 1, false }, { 3, CHROPROF__GONE, false }
    };
    size_t k;
    uint64_t since;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        for (since = 149; since < 152; since++) {
            chroprof *p = few_slots(1);
            chroprof__future *f = p->futures + 1;
            *f = future_at(1, 0);
            f->path = rows[k].path;
            f->state = (uint8_t)rows[k].state;
            f->since = since;
            f->frame = 5;
            f->exec = 7;
            chroprof__mend_slots(p);
            CHECK_EQ(used(FUTURES), rows[k].stays);
            CHECK_EQ(f->id != 0, rows[k].stays);
            CHECK_EQ(f->since, !rows[k].stays ? 0 : since < 150 ? since : 150);
            CHECK_EQ(f->exec, rows[k].stays ? 7 : 0);
            CHECK_EQ(f->frame, 0);
        }
}

/* Rows that all have one home, in a full table: 64 steps a row, and what then finds no place at
 * once goes. Each walks to where it was; the last one is the first. */
static uint64_t rows_within_steps(uint64_t rows, uint64_t home)
{
    uint64_t steps = 64 * rows, kept = 0, n;
    for (n = 0; n < rows; n++) {
        const uint64_t walk = (rows - 1 + n + rows - home) % rows;
        kept += walk <= steps;
        steps -= walk < steps ? walk : steps;
    }
    return kept;
}

TEST(steps_in_a_table_full_of_damage_are_limited)
{
    chroprof *p = scene_of(60);
    uint64_t rows = p->slots, kept;
    collide(p);
    capacity(FUTURES) = (uint32_t)rows;
    chroprof__mend_slots(p);
    kept = rows_within_steps(rows, 5);
    CHECK(kept < rows);
    CHECK_EQ(used(FUTURES), kept);
    p = scene_of(99);
    rows = table(EDGES).rows;
    repeat_an_edge(p);
    capacity(EDGES) = (uint32_t)rows;
    chroprof__mend_edges(p);
    kept = rows_within_steps(rows, chroprof__hash_index(path(3).site, (uint32_t)rows));
    CHECK(kept < rows);
    CHECK_EQ(used(EDGES), kept);
    harness_keep_none();
}

/* Slices and samples that a stall cannot have. */
TEST(stalls_are_mended)
{
    chroprof *p = sampled_scene();
    const uint32_t last = table(STALLS).rows - 1;
    chroprof__stall *rows = chroprof__stall_rows(p->core);
    uint32_t k, i;
    for (k = 0; k <= last; k += last) {
        for (i = 0; i < CHROPROF_STALL_SLICES; i++)
            rows[k].slices[i].path = 7 + i;
        rows[k].slice_count = k ? CHROPROF_STALL_SLICES + 1 : 3;
        rows[k].hits.count = k ? 2 : 1;
        rows[k].hits.stack[0] = 5;
        rows[k].hits.stack[1] = 6;
    }
    chroprof__mend_stalls(p);
    for (k = 0; k <= last; k += last) {
        CHECK_EQ(rows[k].slice_count, k ? CHROPROF_STALL_SLICES : 3);
        for (i = 0; i < CHROPROF_STALL_SLICES; i++)
            CHECK_EQ(rows[k].slices[i].path,
                     i < 2 || i >= rows[k].slice_count ? 7 + i : 2);
        CHECK_EQ(rows[k].hits.count, k ? 0 : 1);
    }
    harness_keep_none();
}

/* Rows of samples, the first and the last, and modules that are not in use. */
TEST(damaged_rows_of_samples_are_emptied)
{
    int k;
    for (k = 0; k < 5; k++) {
        chroprof *p = sampled_scene();
        const uint32_t last = chroprof__sample_capacity(p->core) - 1;
        chroprof__sample *rows = chroprof__sample_rows(p->core);
        chroprof__module *modules = chroprof__modules(p->core);
        rows[last] = rows[1];
        rows[last].stack = k == 0 ? 6 : 5;
        rows[0].stack = k == 1 ? 6 : 1;
        sampler(p)->head = k == 2 ? last + 1 : 5;
        node(p, 3)->parent = k == 3 ? 3 : 2;
        memset(modules[0].build_id, 'x', sizeof modules->build_id);
        memset(modules[0].path, 'x', sizeof modules->path);
        memset(modules[1].path, 'x', sizeof modules->path);
        chroprof__mend_samples(p);
        CHECK_EQ(rows[last].weight, k == 0 || k == 2 || k == 3 ? 0 : 3);
        CHECK_EQ(rows[0].weight, k == 1 || k == 2 || k == 3 ? 0 : 1);
        CHECK_EQ(used(SAMPLES), k == 1 ? 4 : k == 2 || k == 3 ? 0 : 5);
        CHECK_EQ(sampler(p)->samples, k == 2 || k == 3 ? 0 : 12);
        CHECK_EQ(sampler(p)->dropped, k == 1 ? 1 : 0);
        CHECK_EQ(modules[0].build_id[CHROPROF__BUILD_ID - 1], '\0');
        CHECK_EQ(modules[0].build_id[CHROPROF__BUILD_ID - 2], 'x');
        CHECK_EQ(modules[0].path[CHROPROF__MODULE_PATH - 1], '\0');
        CHECK_EQ(modules[0].path[CHROPROF__MODULE_PATH - 2], 'x');
        CHECK_EQ(modules[1].path[CHROPROF__MODULE_PATH - 1], 'x');
    }
    harness_keep_none();
}

/* Each node in the bucket of its key, the newest first; rows behind those in use have none. */
TEST(buckets_of_stacks_are_made_anew)
{
    chroprof *p = sampled_scene();
    const uint32_t rows = p->core->tables[CHROPROF__STACKS].rows;
    uint32_t k, found = 0;
    for (k = 0; k < rows; k++)
        node(p, k)->head = 77;
    CHECK(chroprof__mend_stacks(p));
    for (k = 0; k < rows; k++) {
        uint32_t n = node(p, k)->head, before = UINT32_MAX;
        for (; n != 0; before = n, n = node(p, n)->next, found++) {
            CHECK(n < before);
            CHECK_EQ(chroprof__hash_index(chroprof__node_key(node(p, n)->parent, node(p, n)->item),
                                          rows), k);
        }
    }
    CHECK_EQ(found, 5);
    node(p, 5)->parent = 5;
    CHECK(!chroprof__mend_stacks(p));
    node(p, 5)->parent = 0;
    node(p, 1)->module = 2;
    CHECK(!chroprof__mend_stacks(p));
    harness_keep_none();
}

/* >>resets */

/* Its place in the tree is all that stays of a path. */
TEST(a_path_begins_anew)
{
    chroprof__path row, want;
    memset(&row, 0x5a, sizeof row);
    memset(&want, 0, sizeof want);
    row.histogram = want.histogram = 11;
    row.site = want.site = 12;
    row.parent = want.parent = 13;
    row.next = want.next = 14;
    row.same_site = want.same_site = 15;
    row.level = want.level = 16;
    chroprof__reset_path(&row);
    CHECK(memcmp(&row, &want, sizeof row) == 0);
}

/* Futures in the first slot and the last as well; those that are gone are no calls. */
TEST(futures_begin_anew)
{
    static const struct { uint32_t path, state; } rows[] = {
        { 6, CHROPROF_PENDING }, { 7, CHROPROF_READY }, { 8, CHROPROF__GONE }
    };
    chroprof *p = scene();
    uint32_t slots[3], k;
    slots[0] = 0;
    slots[1] = p->slots - 1;
    slots[2] = 1;
    for (k = 0; k < 3; k++) {
        chroprof__future *row = p->futures + slots[k];
        CHECK_EQ(row->id, 0);
        row->id = 1000 + k;
        row->path = rows[k].path;
        row->state = (uint8_t)rows[k].state;
        row->since = row->exec = 99;
    }
    p->futures[2].since = p->futures[2].exec = 99;
    for (k = 0; k < 9; k++)
        memset(&path(k), 0, sizeof path(k));
    chroprof__reset_futures(p);
    for (k = 0; k < p->slots; k++)
        CHECK(p->futures[k].since == 0 && p->futures[k].exec == 0);
    for (k = 0; k < 9; k++) {       /* live: 1, 4 of path 3; 3 of 5; 5 of 6; 6 of 7; these two */
        static const uint64_t live[] = { 0, 0, 0, 2, 0, 1, 2, 2, 0 };
        CHECK_EQ(path(k).calls, live[k]);
        CHECK_EQ(path(k).live, live[k]);
        CHECK_EQ(path(k).ready, k == 3 || k == 7);
    }
    harness_keep_none();
}

/* Frames stay; their stays begin at time 0. */
TEST(frames_begin_anew)
{
    chroprof *p = scene();
    uint32_t depth = p->core->depth, k;
    chroprof__note *notes = chroprof__notes(sampler(p));
    chroprof__frame before[8];
    CHECK_EQ(depth, 5);
    for (k = 0; k < 8; k++) {
        frame(k).pushed = frame(k).start = frame(k).excluded = frame(k).carried = 7;
        frame(k).event = 100 + k;
        notes[k].event = k == 2 ? 0 : 100 + k;
    }
    frame(6).kind = frame(7).kind = frame(capacity(DEPTH)).kind = 9;
    memcpy(before, p->frames, sizeof before);
    for (k = 0; k < 9; k++)
        memset(&path(k), 0, sizeof path(k));
    p->core->seq = 1000;
    chroprof__reset_frames(p);
    for (k = 0; k < 8; k++) {
        bool there = k > 0 && k <= depth;
        CHECK_EQ(frame(k).pushed, there ? 0 : 7);
        CHECK_EQ(frame(k).start, there ? 0 : 7);
        CHECK_EQ(frame(k).excluded, there ? 0 : 7);
        CHECK_EQ(frame(k).carried, there ? 0 : 7);
        CHECK_EQ(frame(k).event, there ? 1000 : 100 + k);
        CHECK_EQ(frame(k).kind, k > depth ? 0 : before[k].kind);
        CHECK_EQ(notes[k].event, k == 2 ? 0 : there ? 1000 : 100 + k);
    }
    CHECK_EQ(frame(capacity(DEPTH)).kind, 0);
    for (k = 0; k < 9; k++) {               /* the enter-frame's call */
        CHECK_EQ(path(k).calls, k == 8);
        CHECK_EQ(path(k).live, k == 8);
    }
    harness_keep_none();
}

static bool is_zero(const void *bytes, uint64_t count)
{
    const unsigned char *b = (const unsigned char *)bytes;
    uint64_t k;
    for (k = 0; k < count; k++)
        if (b[k] != 0)
            return false;
    return true;
}

TEST(tables_begin_anew)
{
    chroprof *p = scene();
    chroprof__core *c = p->core;
    chroprof__histograms *rows = chroprof__histogram_rows(c);
    uint32_t count = table(HISTOGRAMS).rows, k;
    paint(p, CHROPROF_TABLE_HISTOGRAMS);
    paint(p, CHROPROF_TABLE_WINDOWS);
    paint(p, CHROPROF_TABLE_STALLS);
    for (k = 0; k < CHROPROF__TABLES; k++) {
        c->tables[k].used = 100 + k;
        c->tables[k].peak = c->tables[k].dropped = c->tables[k].wanted = 500;
    }
    chroprof__reset_tables(c);
    for (k = 0; k < count; k++) {
        CHECK(is_zero(rows[k].slice.count, sizeof rows->slice.count));
        CHECK(is_zero(rows[k].delay.count, sizeof rows->delay.count));
        CHECK(rows[k].slice.min == UINT64_MAX && rows[k].delay.min == UINT64_MAX);
    }
    CHECK(is_zero(table_bytes(c, CHROPROF_TABLE_WINDOWS), table(WINDOWS).bytes));
    CHECK(is_zero(table_bytes(c, CHROPROF_TABLE_STALLS), table(STALLS).bytes));
    for (k = 0; k < CHROPROF__TABLES; k++) {
        bool known = k < CHROPROF_TABLE_COUNT;
        CHECK_EQ(c->tables[k].used, k == CHROPROF_TABLE_STALLS ? 0 : 100 + k);
        CHECK_EQ(c->tables[k].peak, known ? c->tables[k].used : 500);
        CHECK_EQ(c->tables[k].dropped, known ? 0 : 500);
        CHECK_EQ(c->tables[k].wanted, known ? 0 : 500);
    }
    harness_keep_none();
}

/* Settings, notes, the ring and the modules stay. */
TEST(samples_begin_anew)
{
    chroprof *p = sampled_scene();
    chroprof__core *c = p->core;
    chroprof__sampler *s = sampler(p), want;
    memset((void *)s, 0x11, sizeof *s);
    s->put = 9;
    s->taken = 7;
    want = *s;
    want.samples = want.inside = want.dropped = want.dropped_cpu_ns = want.head = 0;
    want.latest = want.draws = want.misses = want.module_at = 0;
    want.taken = 9;
    want.ticks = want.lost = want.cost_ns = 0;
    memset(want.drawn, 0, sizeof want.drawn);
    memset(want.hits, 0, sizeof want.hits);
    paint(p, CHROPROF__STACKS);
    paint(p, CHROPROF_TABLE_SAMPLES);
    paint(p, CHROPROF__WALLS);
    chroprof__reset_samples(c);
    CHECK(memcmp(s, &want, sizeof want) == 0);
    CHECK(is_zero(table_bytes(c, CHROPROF__STACKS), c->tables[CHROPROF__STACKS].bytes));
    CHECK(is_zero(table_bytes(c, CHROPROF_TABLE_SAMPLES), table(SAMPLES).bytes));
    CHECK(is_zero(table_bytes(c, CHROPROF__WALLS), c->tables[CHROPROF__WALLS].bytes));
    CHECK_EQ(c->tables[CHROPROF__STACKS].used, 0);
    CHECK_EQ(used(SAMPLES), 0);
    CHECK_EQ(c->tables[CHROPROF__MODULES].used, 1);
    CHECK_STR(chroprof__modules(c)->build_id, "c0ffee");
    harness_keep_none();
}

static void clear_biggest(chroprof__biggest *b)
{
    b->floor = 0;
    b->count = b->owner = 0;
}

/* The calendar, the clock and the number of events go on; all figures are 0. */
TEST(the_core_begins_anew)
{
    int manual;
    for (manual = 0; manual < 2; manual++) {
        chroprof *p = scene();
        chroprof__core *c = p->core, want;
        uint32_t k;
        c->manual = (uint64_t)manual;
        c->start_unix_ns = 5000;
        c->window = 3 << 16 | 2;
        c->window_ticks = 400;
        c->held = 7;
        c->turns = c->turn_max = c->passes = c->pass_max = c->stalls = 9;
        c->hidden_since = c->merged_events = c->pass_start = 9;
        c->horizon = 9;
        for (k = 0; k < 32; k++)
            c->anomalies[k] = 3;
        memset(c->intervals, 0x33, sizeof c->intervals);
        memset(c->due, 0x44, sizeof c->due);    /* the next event's */
        c->pass.floor = c->pass.count = 3;
        for (k = 0; k < CHROPROF__LEVELS; k++)
            c->turn[k].floor = c->turn[k].count = c->turn[k].owner = 3;
        want = *c;
        want.epoch += 150;
        want.start_clock = want.epoch;
        want.start_unix_ns += manual ? 0 : 150;
        want.calibrate_at = c->calibrate_at > 150 ? c->calibrate_at - 150 : 1;
        want.last = want.window = want.held = 0;
        want.turns = want.turn_max = want.passes = want.pass_max = want.stalls = 0;
        want.hidden_since = want.merged_events = want.pass_start = want.horizon = 0;
        want.seq_base = c->seq;
        want.pass_event = c->seq / 2 - 1;
        want.window_ticks = want.window_end = 50;
        memset(want.anomalies, 0, sizeof want.anomalies);
        memset(want.intervals, 0, sizeof want.intervals);
        clear_biggest(&want.pass);
        for (k = 0; k < CHROPROF__LEVELS; k++)
            clear_biggest(&want.turn[k]);
        chroprof__reset_core(c);
        for (k = 0; k < sizeof want; k++)
            if (((const unsigned char *)&want)[k] != ((const unsigned char *)c)[k])
                harness_equal(__FILE__, __LINE__, "first wrong byte of the core", k, sizeof want);
    }
    harness_keep_none();
}

/* >>off */

/* Nothing is ready or, with a frame that was hidden, running when a profile is switched off. */
TEST(futures_are_calm_when_the_profile_is_off)
{
    static const struct { uint8_t state, flags, then, left; bool changed, ended; } rows[] = {
        { CHROPROF_PENDING, 0, CHROPROF_PENDING, 0, false, false },
        { CHROPROF_PENDING, 2, CHROPROF_PENDING, 2, false, false },
        { CHROPROF_READY, 0, CHROPROF_PENDING, 0, true, true },
        { CHROPROF_READY, 1, CHROPROF_PENDING, 0, true, true },
        { CHROPROF_READY, 2, CHROPROF_PAUSED, 0, true, true },
        { CHROPROF_READY, 3, CHROPROF_PAUSED, 0, true, true },
        { CHROPROF_RUNNING, 0, CHROPROF_PAUSED, 0, true, false },
        { CHROPROF_RUNNING, 1, CHROPROF_PAUSED, 0, true, false },
        { CHROPROF_PAUSED, 3, CHROPROF_PAUSED, 3, false, false },
        { CHROPROF__GONE, 1, CHROPROF__GONE, 1, false, false }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof__future *f = slot(4);
        uint64_t delay = chroprof__delay_ticks(p, &path(3)), since = f->since;
        f->state = rows[k].state;
        f->flags = rows[k].flags;
        chroprof__calm_future(p, f, 150);
        CHECK_EQ(f->state, rows[k].then);
        CHECK_EQ(f->flags, rows[k].left);
        CHECK_EQ(f->since, rows[k].changed ? 150 : since);
        CHECK_EQ(p->core->ready, !rows[k].ended);
        CHECK_EQ(path(3).ready, !rows[k].ended);
        CHECK_EQ(chroprof__delay_ticks(p, &path(3)), delay);
    }
    harness_keep_none();
}

#define COPIES_CASES                                                                               \
    CASE(a_copy_waits_for_events_and_for_edits),                                                   \
    CASE(rows_that_change_are_copied_in_smaller_pieces),                                           \
    CASE(copied_paths_know_their_moment),                                                          \
    CASE(the_core_is_copied_with_its_stack),                                                       \
    CASE(a_core_that_never_holds_still_is_looked_at),                                              \
    CASE(a_copy_of_what_never_holds_still),                                                        \
    CASE(what_is_in_use_is_copied),                                                                \
    CASE(each_site_is_mended),                                                                     \
    CASE(the_tree_is_made_anew),                                                                   \
    CASE(a_path_that_was_just_being_made_goes),                                                    \
    CASE(an_interval_is_finished_on_a_path_that_is_there),                                         \
    CASE(futures_are_counted_anew),                                                                \
    CASE(calls_last_no_longer_than_the_profile),                                                   \
    CASE(cells_are_mended_from_the_latest_back),                                                   \
    CASE(histograms_are_mended_from_the_longest_down),                                             \
    CASE(no_tag_is_ahead_of_the_present_window),                                                   \
    CASE(time_goes_to_what_is_on_top_again),                                                       \
    CASE(samples_that_fit_together_are_kept),                                                      \
    CASE(blame_that_is_missing_is_found),                                                          \
    CASE(slices_begin_before_their_end),                                                           \
    CASE(mending_ends_with_the_last_site),                                                         \
    CASE(futures_run_in_frames),                                                                   \
    CASE(counts_that_do_not_agree_have_a_culprit),                                                 \
    CASE(frames_are_tied_to_their_futures),                                                        \
    CASE(calls_that_an_event_ended_are_dropped),                                                   \
    CASE(calls_of_a_future_are_not_dropped_with_its_frame),                                        \
    CASE(edges_are_put_where_they_are_found),                                                      \
    CASE(futures_are_put_where_they_are_found),                                                    \
    CASE(futures_that_cannot_be_go),                                                               \
    CASE(steps_in_a_table_full_of_damage_are_limited),                                             \
    CASE(stalls_are_mended),                                                                       \
    CASE(damaged_rows_of_samples_are_emptied),                                                     \
    CASE(buckets_of_stacks_are_made_anew),                                                         \
    CASE(a_path_begins_anew),                                                                      \
    CASE(futures_begin_anew),                                                                      \
    CASE(frames_begin_anew),                                                                       \
    CASE(tables_begin_anew),                                                                       \
    CASE(samples_begin_anew),                                                                      \
    CASE(the_core_begins_anew),                                                                    \
    CASE(futures_are_calm_when_the_profile_is_off)

#endif
