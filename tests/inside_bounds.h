/* tests/inside_bounds.h - part of test_inside.c: what lies right beside a bound, and what only
 * shows when two things come together: clocks, sizes, copies, sums, outputs. */
#ifndef INSIDE_BOUNDS_H
#define INSIDE_BOUNDS_H

/* >>clocks */

/* Of the events that come first or begin a stay the slot comes from far; nothing else does. */
#if CHROPROF__HAS_COUNTER && defined(CAN_COUNT_FETCHES)
static void fetches(chroprof *p, void (*call)(chroprof *p, uint64_t id), uint64_t id,
                    unsigned count)
{
    const void *home = chroprof__home(p, id);
    *fetched() = 0;
    *last_fetched() = NULL;
    call(p, id);
    CHECK_EQ(*fetched(), count);
    CHECK(*last_fetched() == (count ? home : NULL));
}

static void create(chroprof *p, uint64_t id)
{
    chroprof_pending(p, id, &A);
}

TEST(slots_are_fetched_before_the_clock_is_read)
{
    static chroprof p;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    if (p.clock != NULL)
        SKIP("the clock is a function");
    fetches(&p, create, 7, 1);
    fetches(&p, create, 8, 1);
    fetches(&p, chroprof_ready, 7, 0);
    fetches(&p, chroprof_running, 7, 1);
    fetches(&p, chroprof_switch, 8, 1);
    fetches(&p, chroprof_paused, 8, 0);
    fetches(&p, chroprof_completed, 8, 0);
    fetches(&p, chroprof_failed, 7, 0);
    laws(&p);
}
#else
TEST(slots_are_fetched_before_the_clock_is_read) { SKIP("no counter, or nothing is fetched"); }
#endif

#if CHROPROF__HAS_COUNTER
static uint64_t *readings(void)
{
    static uint64_t count;
    return &count;
}

/* The rate is final from 89 ms on; until then it is asked for again. The clock stands. */
TEST(the_rate_is_final_after_89_milliseconds)
{
    static const uint64_t passed[] = { 88999999, 89000000, 89000001 };
    chroprof *p = fresh(NULL);
    chroprof__core *c = p->core;
    size_t k;
    pretend()->seconds = 1000000;
    for (k = 0; k < 3; k++) {
        c->calibrate_counter = chroprof__counter() - 100000000;
        c->calibrate_ns = UINT64_C(1000000000000000) - passed[k];
        chroprof__calibrate(c);
        CHECK_EQ(c->calibrated, k > 0);
    }
    memset(pretend(), 0, sizeof *pretend());
}

/* Each pair of readings is the best of four; the first rate waits for 20 us, but not for ever. */
TEST(the_clocks_are_read_a_few_times)
{
    chroprof *p = fresh(NULL);
    uint64_t counter, ns;
    pretend()->seconds = 1000000;
    pretend()->count = readings();
    *readings() = 0;
    CHECK(chroprof__read_both(&counter, &ns) != UINT64_MAX);
    CHECK_EQ(ns, UINT64_C(1000000000000000));
    CHECK_EQ(*readings(), 4);
    *readings() = 0;
    if (chroprof__counter_hz() == 0) {
        chroprof__start_counter(p->core);
        CHECK_EQ(*readings(), 4 + 100000 + 4);
        pretend()->back = -1;               /* a second each time: no waiting */
        *readings() = 0;
        chroprof__start_counter(p->core);
        CHECK_EQ(*readings(), 4 + 1 + 4);
    }
    memset(pretend(), 0, sizeof *pretend());
}
#else
TEST(the_rate_is_final_after_89_milliseconds) { SKIP("no counter here"); }
TEST(the_clocks_are_read_a_few_times) { SKIP("no counter here"); }
#endif

/* A reset moves the time of the next look at the rate; 0 would be a look that is long due. */
TEST(a_reset_moves_the_calibration)
{
    static const struct { uint64_t at, then; } rows[] = {
        { 0, 1 }, { 149, 1 }, { 150, 1 }, { 151, 1 }, { 152, 2 }, { 1150, 1000 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        CHECK_EQ(p->core->last, 150);
        p->core->calibrate_at = rows[k].at;
        chroprof_reset(p);
        CHECK_EQ(p->core->calibrate_at, rows[k].then);
    }
}

/* >>sizes */

/* A block that is full to its last byte is large enough. */
TEST(capacities_that_just_fit)
{
    uint32_t wanted[CHROPROF_TABLE_COUNT], capacity[CHROPROF_TABLE_COUNT], k;
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t size;
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
        wanted[k] = 40 + k;
    size = chroprof__layout(wanted, tables);
    memcpy(capacity, wanted, sizeof wanted);
    CHECK(chroprof__share_out(capacity, size));
    CHECK(memcmp(capacity, wanted, sizeof wanted) == 0);
    CHECK(!chroprof__share_out(capacity, size - 1));
}

/* The same where the options give all capacities; samples that they do not give are there if they
 * fit, and a block may lie anywhere, so it is larger by what a line of the cache needs. */
TEST(given_capacities_that_just_fit)
{
    uint32_t wanted[CHROPROF_TABLE_COUNT], capacity[CHROPROF_TABLE_COUNT], k;
    chroprof__table tables[CHROPROF__TABLES];
    chroprof_options o;
    uint64_t size, more;
    memset(&o, 0, sizeof o);
    o.max_futures = o.max_sites = o.max_paths = o.max_edges = o.max_depth = 50;
    o.max_histograms = o.max_windows = o.max_stalls = o.string_bytes = 50;
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)
        wanted[k] = k == CHROPROF_TABLE_SAMPLES ? 0 : 50;
    size = chroprof__layout(wanted, tables) + CHROPROF__ALIGN - 1;
    wanted[CHROPROF_TABLE_SAMPLES] = CHROPROF__DEFAULT_SAMPLES;
    more = chroprof__layout(wanted, tables) + CHROPROF__ALIGN - 1;
    CHECK(more > size && size > CHROPROF_MEMORY_MIN);
    CHECK(chroprof__resolve(&o, capacity, more));
    CHECK_EQ(capacity[CHROPROF_TABLE_SAMPLES], CHROPROF__DEFAULT_SAMPLES);
    CHECK(chroprof__resolve(&o, capacity, more - 1));
    CHECK_EQ(capacity[CHROPROF_TABLE_SAMPLES], 0);
    CHECK(chroprof__resolve(&o, capacity, size));
    CHECK(!chroprof__resolve(&o, capacity, size - 1));
    o.max_samples = CHROPROF__DEFAULT_SAMPLES;
    CHECK(chroprof__resolve(&o, capacity, more));
    CHECK(!chroprof__resolve(&o, capacity, more - 1));
}

/* What the options say when they say nothing: a turn of 20 ms is no stall, a step of an hour no
 * long step. */
TEST(options_that_are_zero)
{
    const uint64_t hour = UINT64_C(3600000000000);
    chroprof *p = fresh(NULL);
    chroprof_window w[2];
    at(p, 0, ENTER, 0, &A);
    at(p, 20000000, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 0);
    at(p, 20000000, ENTER, 0, &A);
    at(p, 40000001, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).stalls, 1);
    at(p, 100000001, TICK, 0, NULL);
    CHECK_EQ(chroprof_windows(p, w, 2), 2);
    CHECK_EQ(w[0].end_ns, 100000000);
    at(p, 100000001 + hour, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, 0);
    at(p, 100000002 + 2 * hour, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).untracked_ns, hour + 1);
}

/* The last places of the table go on at its beginning, and nowhere else. */
TEST(addresses_at_the_end_of_the_table_are_remembered)
{
    static chroprof_site pool[8192];
    chroprof_options o;
    uint32_t home, rows, back, k;
    memset(&o, 0, sizeof o);
    o.max_sites = 12;
    for (back = 1; back <= CHROPROF__ALIAS_PLACES; back++) {
        chroprof *p = fresh(&o);
        uint32_t count = 0, site[CHROPROF__ALIAS_PLACES];
        const chroprof_site *found[CHROPROF__ALIAS_PLACES];
        rows = p->core->tables[CHROPROF__ALIASES].rows;
        home = rows - back;
        for (k = 0; count < CHROPROF__ALIAS_PLACES; k++) {
            CHECK(k < 8192);
            if (chroprof__hash_index((uintptr_t)(pool + k), rows) == home) {
                pool[k].name = "n";
                pool[k].line = k;
                found[count++] = pool + k;
            }
        }
        for (k = 0; k < count; k++)
            site[k] = chroprof__site_miss(p->core, found[k]);
        for (k = 0; k < count; k++) {
            const chroprof__alias *row = (const chroprof__alias *)chroprof__rows(
                p->core, CHROPROF__ALIASES) + (home + k) % rows;
            CHECK_EQ(chroprof__known_site(p->core, found[k]), site[k]);
            CHECK(row->site == site[k] && row->line == found[k]->line);
        }
    }
    harness_keep_none();
}

/* Lists are no longer than they say, whatever room there is. */
TEST(lists_of_tables_and_anomalies_end)
{
    chroprof *p = scene();
    chroprof_table tables[CHROPROF_TABLE_COUNT + 2];
    chroprof_anomaly kinds[CHROPROF_ANOMALY_COUNT + 2];
    memset(tables, 0x5a, sizeof tables);
    memset(kinds, 0x5a, sizeof kinds);
    CHECK_EQ(chroprof_tables(p, tables, CHROPROF_TABLE_COUNT + 2), CHROPROF_TABLE_COUNT);
    CHECK_EQ(tables[CHROPROF_TABLE_COUNT - 1].capacity, capacity(STRINGS));
    CHECK_EQ(tables[CHROPROF_TABLE_COUNT].used, UINT64_C(0x5a5a5a5a5a5a5a5a));
    CHECK_EQ(chroprof_anomalies(p, kinds, CHROPROF_ANOMALY_COUNT + 2), CHROPROF_ANOMALY_COUNT);
    CHECK_EQ(kinds[CHROPROF_ANOMALY_COUNT - 1].count, 0);
    CHECK_EQ(kinds[CHROPROF_ANOMALY_COUNT].count, UINT64_C(0x5a5a5a5a5a5a5a5a));
    memset(tables, 0x5a, sizeof tables);
    CHECK_EQ(chroprof_tables(p, tables, 1), CHROPROF_TABLE_COUNT);
    CHECK_EQ(tables[0].used, used(FUTURES));
    CHECK_EQ(tables[1].used, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* A lost key has one bit of 64. */
TEST(lost_keys_have_a_bit_each)
{
    uint64_t all = 0, key;
    for (key = 0; key < 2000; key++) {
        chroprof__table table;
        memset(&table, 0, sizeof table);
        chroprof__lose(&table, key * 288);
        CHECK_EQ(table.dropped, 1);
        CHECK_EQ(table.wanted, UINT64_C(1) << chroprof__hash_index(key * 288, 64));
        all |= table.wanted;
    }
    CHECK_EQ(all, UINT64_MAX);
}

/* Windows of a site of several paths, of 18 ticks of 3/7 ns each: never more than the site. */
TEST(windows_of_a_site_are_its_exec)
{
    static chroprof__span span;
    chroprof *p = fresh(NULL);
    uint64_t now = 0, sum = 0;
    uint32_t k;
    const chroprof_site *const sites[] = { &A, &B, &C };
    for (k = 0; k < 3; k++) {
        at(p, now, ENTER, 0, sites[k]);
        at(p, now += 1, ENTER, 0, &D);
        at(p, now += 6, LEAVE, 0, NULL);
        at(p, now, LEAVE, 0, NULL);
    }
    p->core->factor = (UINT64_C(3) << 32) / 7;
    CHECK_EQ(rank_of(p, "timer").exec_ns, 3 * 2);
    chroprof__read_span(p, path_of(p, "accept;timer").site, 0, &span);
    for (k = 0; k < CHROPROF__SPAN; k++)
        sum += span.ns[k];
    CHECK_EQ(sum, 3 * 2);
    harness_keep_none();
}

/* Who copies the block meanwhile sees by the number of events that it is another one. */
TEST(a_reset_is_seen_by_who_copies)
{
    chroprof *p = scene();
    uint64_t seq = p->core->seq, edits = p->core->edits;
    chroprof_reset(p);
    CHECK_EQ(p->core->seq, seq + 2);
    CHECK_EQ(p->core->edits, edits + 2);
    CHECK_EQ(totals_of(p).events, 0);
    at(p, 160, TICK, 0, NULL);
    CHECK_EQ(p->core->seq, seq + 4);
    CHECK_EQ(totals_of(p).events, 1);
}

/* Where keys stand in tables, and by which numbers sites are known, is part of the layout: files of
 * other builds have it too. */
TEST(hashes_are_part_of_the_layout)
{
    static const struct { uint64_t key; uint32_t index; } rows[] = {
        { 1, 618033992 }, { 2, 236067978 }, { 3, 854101972 }, { 32, 395121631 },
        { UINT64_C(0x7f0000001000), 967206308 }, { UINT64_C(1) << 63, 828125005 },
        { UINT64_MAX, 343750002 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_EQ(chroprof__hash_index(rows[k].key, 1000000007), rows[k].index);
    CHECK_EQ(chroprof__hash_text(0, ""), UINT64_C(0x0000ff000001b14d));
    CHECK_EQ(chroprof__hash_text(0, "accept"), UINT64_C(0xaec29dd813984a85));
}

/* Names that differ in little have other hashes: of names that were cut nothing else is known. */
TEST(short_texts_have_hashes_of_their_own)
{
    static uint64_t seen[128 * 128];
    char text[3] = "";
    uint32_t a, b, count = 0, k;
    for (a = 1; a < 128; a += 3)
        for (b = 0; b < 128; b += 5) {
            text[0] = (char)a;
            text[1] = (char)b;
            seen[count] = chroprof__hash_text(0, text);
            for (k = 0; k < count; k++)
                CHECK(seen[k] != seen[count]);
            count++;
        }
    CHECK(chroprof__hash_text(chroprof__hash_text(0, "ab"), "c") !=
          chroprof__hash_text(chroprof__hash_text(0, "a"), "bc"));
}

/* >>open: sites whose chains agree with the damage */

/* A path of loop, idle or untracked's own site, which that site's chain has. */
TEST(open_refuses_paths_of_the_loops_own_sites)
{
    uint32_t site;
    for (site = 0; site < CHROPROF__OTHER; site++) {
        chroprof *p = scene();
        chroprof view;
        chroprof__site *sites = chroprof__sites(p->core);
        CHECK_EQ(sites[path(7).site].first_path, 8);
        CHECK_EQ(path(8).same_site, 7);
        path(8).same_site = 0;
        path(7).site = site;
        sites[site].first_path = 7;
        CHECK_EQ(chroprof_open(&view, p->core, (size_t)p->core->block_bytes), CHROPROF_ERR_CORRUPT);
    }
    harness_keep_none();
}

/* >>copies of several moments */

/* On a line of the cache if the copy fits there to its last byte, else on the first word. */
TEST(a_copy_begins_on_a_line_if_it_fits)
{
    static uint64_t words[64];
    char *line = (char *)words + (0 - (uint64_t)(uintptr_t)words) % 64;
    uint64_t room = 0;
    memset(words, 0x5a, sizeof words);
    CHECK((char *)chroprof__place(line + 3, 61 + 100, 100, &room) == line + 64);
    CHECK_EQ(room, 100);
    CHECK(line[2] == 0x5a && line[3] == 0 && line[63] == 0 && line[64] == 0x5a);
    CHECK((char *)chroprof__place(line + 3, 61 + 99, 100, &room) == line + 8);
    CHECK_EQ(room, 61 + 99 - 5);
    CHECK((char *)chroprof__place(line, 100, 100, &room) == line);
    CHECK_EQ(room, 100);
    CHECK((char *)chroprof__place(line, 99, 100, &room) == line);
    CHECK_EQ(room, 99);
}

/* What no event can have left behind is said so before more of it is read. */
TEST(mending_gives_up_at_once)
{
    const uint64_t all = CHROPROF__END_OF_TIME - 1, loop = scene()->paths[0].exec;
    int k;
    for (k = 0; k < 8; k++) {
        chroprof *p = scene();
        const uint64_t others = p->core->last - loop;
        chroprof__mending m;
        memset(&m, 0, sizeof m);
        m.torn = true;
        switch (k) {
        case 0: path(4).site = 0; break;
        case 1: path(7).site = 0; break;
        case 2: path(7).parent = 7; break;
        case 3: path(0).exec = all - others + 1; break;
        case 4: p->core->window_ticks = 0; break;
        case 5: p->core->window = 63u << 16; break;
        case 6: path(0).exec = all - others; break;
        default: p->core->window = 62u << 16; break;
        }
        CHECK_EQ(chroprof__mend(p, &m), k >= 6);
    }
    harness_keep_none();
}

/* Rows know at which moment they were copied: what lives was not as old, or older, then. */
TEST(rows_of_other_moments_are_brought_to_one)
{
    chroprof *p = scene();
    chroprof__mending m;
    uint32_t k;
    memset(&m, 0, sizeof m);
    m.skewed = true;
    for (k = 0; k < 9; k++)
        path(k).reserved[0] = p->core->last;
    path(3).reserved[0] = p->core->last - 10;       /* two live, one of them ready */
    path(7).reserved[0] = p->core->last + 5;
    path(3).wall = path(3).delay = path(7).wall = path(7).delay = 1000;
    path(3).reserved[1] = path(3).reserved[2] = 77;
    CHECK(chroprof__mend_time(p, &m));
    CHECK_EQ(path(3).wall, 1000 - 2 * 10);
    CHECK_EQ(path(3).delay, 1000 - 10);
    CHECK_EQ(path(7).wall, 1000 + 5);
    CHECK_EQ(path(7).delay, 1000);
    CHECK_EQ(p->core->doubt_events, 0);
    harness_keep_none();
}

/* >>copies: ticks that wait */

/* Weights are sums of what 2^40 ticks have at most; a state is one of four. */
TEST(a_copy_takes_in_what_can_be_a_tick)
{
    static const struct { uint64_t weight, state, taken; } rows[] = {
        { 0, 0, 0 }, { 1, 0, 1 }, { (UINT64_C(1) << 40) - 1, 0, (UINT64_C(1) << 40) - 1 },
        { UINT64_C(1) << 40, 0, 0 }, { UINT64_C(1) << 41, 0, 0 }, { UINT64_MAX, 0, 0 },
        { 3, CHROPROF_SAMPLE_LOOP, 3 }, { 3, CHROPROF_SAMPLE_LOOP + 1, 0 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = sampled_scene();
        chroprof view;
        chroprof__entry *e = chroprof__ring(p->core, sampler(p), sampler(p)->taken);
        let_wait(p, 1, 0);
        e->weight = rows[k].weight;
        e->state = (uint32_t)rows[k].state;
        CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
        CHECK_EQ(sampler(&view)->samples, 12 + rows[k].taken);
        CHECK_EQ(sampler(&view)->put, sampler(&view)->taken);
        laws(&view);
    }
}

/* Each stack that stands alone is found again, the first one as well. */
TEST(a_copy_finds_the_stack_of_a_tick)
{
    static const uint32_t roots[] = { 1, 5 };
    size_t k;
    for (k = 0; k < 2; k++) {
        chroprof *p = sampled_scene();
        chroprof view;
        let_wait(p, 3, node(p, roots[k])->item);
        CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
        CHECK_EQ(node(&view, roots[k])->weight, 1 + 3);
        CHECK_EQ(view.core->tables[CHROPROF__STACKS].used, 5);
    }
}

/* What a stall under way was met in may be anything. */
TEST(a_copy_forgets_damaged_hits)
{
    uint32_t k, i;
    for (k = 0; k < CHROPROF__HITS; k++) {
        chroprof *p = sampled_scene();
        chroprof view;
        let_wait(p, 1, node(p, 1)->item);
        sampler(p)->hits[k].count = CHROPROF_STALL_SAMPLES + 1;
        sampler(p)->hits[k].stack[0] = 77;
        CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
        for (i = 0; i < CHROPROF__HITS; i++)
            CHECK(chroprof__open_hits(&view, sampler(&view)->hits + i));
        laws(&view);
    }
}

/* >>differences */

/* A row that the block has not is not touched, nor the loop's own by a slice. */
TEST(what_an_older_state_held_back)
{
    static chroprof__histograms rows[4];
    static chroprof__core older;
    const uint32_t bucket = chroprof__bucket(40);
    uint32_t k, row;
    for (row = 0; row < 4; row++) {
        for (k = 0; k < 4; k++)
            rows[k].slice.count[bucket] = rows[k].delay.count[bucket] = 1;
        older.held = CHROPROF__HELD_SLICE | CHROPROF__HELD_DELAY;
        older.held_slice = older.held_delay = 40;
        older.held_slice_row = older.held_delay_row = row;
        chroprof__drop_held(rows, 3, &older);
        chroprof__drop_held(rows, 3, &older);
        for (k = 0; k < 4; k++) {
            CHECK_EQ(rows[k].slice.count[bucket], k != row || row == 0 || row == 3);
            CHECK_EQ(rows[k].delay.count[bucket], k != row || row == 3);
        }
    }
    older.held = CHROPROF__HELD_TURN;
    older.held_turn = 40;
    rows[0].slice.count[bucket] = 2;
    chroprof__drop_held(rows, 0, &older);
    CHECK_EQ(rows[0].slice.count[bucket], 2);
    chroprof__drop_held(rows, 1, &older);
    CHECK_EQ(rows[0].slice.count[bucket], 1);
}

/* A difference takes no events: what only they use is gone. */
TEST(a_difference_forgets_what_is_under_way)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = scene();
    chroprof older, view;
    uint32_t k;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    at(p, 160, TICK, 0, NULL);
    for (k = 0; k < CHROPROF__LEVELS; k++)
        p->core->turn[k].floor = p->core->turn[k].count = p->core->turn[k].owner = 3;
    p->core->pass.floor = p->core->pass.count = 3;
    memset(p->core->due, 1, sizeof p->core->due);
    p->core->calibrate_at = 170;
    CHECK_EQ(chroprof_difference(p, &older, memory, sizeof memory), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, memory, sizeof memory), CHROPROF_OK);
    for (k = 0; k < CHROPROF__LEVELS; k++)
        CHECK_EQ(view.core->turn[k].floor | view.core->turn[k].count | view.core->turn[k].owner, 0);
    CHECK_EQ(view.core->pass.floor | view.core->pass.count, 0);
    CHECK_EQ(view.core->due[0].length | view.core->due[1].length, 0);
    CHECK_EQ(view.core->horizon, 0);
    CHECK_EQ(view.core->calibrate_at, 20);
}

/* Copies of several moments may have less in a cell than before: that is nothing, not a lot. */
TEST(cells_of_a_difference_begin_anew)
{
    chroprof *p = scene();
    uint64_t *cells = cells_of(p, 4);
    uint32_t k;
    for (k = 0; k < capacity(WINDOWS); k++)
        cells[1 + k] = 0;
    cells[1] = 0 - UINT64_C(5);
    cells[2] = 7;
    cells[3] = UINT64_C(1) << 63;
    cells[4] = (UINT64_C(1) << 63) - 1;
    cells[capacity(WINDOWS)] = 9;
    chroprof__move_cells(p->core, cells, 1);
    CHECK_EQ(cells[1], 7);
    CHECK_EQ(cells[2], 0);
    CHECK_EQ(cells[3], (UINT64_C(1) << 63) - 1);
    CHECK_EQ(cells[4], 0);
    CHECK_EQ(cells[capacity(WINDOWS) - 1], 9);
    CHECK_EQ(cells[capacity(WINDOWS)], 0);
    harness_keep_none();
}

/* >>sums */

/* Ten stalls, each shorter than the one before it. */
static chroprof *ten_stalls(uint32_t most)
{
    chroprof_options o;
    chroprof *p;
    uint64_t k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 100;
    o.max_stalls = most;
    p = fresh(&o);
    for (k = 0; k < 10; k++) {
        at(p, 10000 * k, ENTER, 0, &A);
        at(p, 10000 * k + 2000 - 100 * k, LEAVE, 0, NULL);
    }
    CHECK_EQ(totals_of(p).stalls, 10);
    return p;
}

/* Half of what is kept, or one more, are the longest, here the first; the others the latest. */
static void check_kept(const chroprof *p, uint32_t most)
{
    chroprof_stall stalls[20];
    uint32_t k, longest = most / 2 + most % 2;
    CHECK_EQ(chroprof_stalls(p, stalls, 20), most);
    for (k = 0; k < most; k++)
        CHECK_EQ(stalls[k].start_ns, 10000 * (k < longest ? k : 10 - most + k));
}

TEST(the_longest_and_the_latest_stalls_are_kept)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_options o;
    chroprof sum;
    uint32_t most;
    memset(&o, 0, sizeof o);
    for (most = 1; most <= 7; most++) {
        check_kept(ten_stalls(most), most);
        o.max_stalls = most;
        begin_sum(&sum, memory, sizeof memory, &o);
        CHECK_EQ(chroprof_merge(&sum, ten_stalls(64)), CHROPROF_OK);
        check_kept(&sum, most);
    }
}

static void draw(const chroprof *p, uint32_t path, uint64_t running, uint64_t ready,
                 uint64_t paused)
{
    chroprof__wall *row = chroprof__walls(p->core) + path;
    row->weight[0] = running;
    row->weight[1] = ready;
    row->weight[2] = paused;
    row->ticks[0] = 10 * running;
    row->ticks[1] = 10 * ready;
    row->ticks[2] = 10 * paused;
}

static void check_draws(const chroprof *p, uint32_t path, uint64_t running, uint64_t ready,
                        uint64_t paused)
{
    chroprof_wall rows[10];
    size_t count = chroprof_walls(p, rows, 10), k = 0;
    while (k < count && rows[k].path != path)
        k++;
    CHECK(k < count);
    CHECK_EQ(rows[k].running, running);
    CHECK_EQ(rows[k].ready, ready);
    CHECK_EQ(rows[k].paused, paused);
    CHECK_EQ(rows[k].running_ns, 10 * running);
    CHECK_EQ(rows[k].ready_ns, 10 * ready);
    CHECK_EQ(rows[k].paused_ns, 10 * paused);
}

/* How often futures of a path were met in each state adds up, path by path. */
TEST(merged_draws_stay_with_their_path)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = scene();
    chroprof sum;
    uint64_t k;
    draw(p, CHROPROF__UNTRACKED, 1, 0, 0);
    draw(p, 3, 1, 20, 300);
    draw(p, 4, 4, 50, 600);
    draw(p, 6, 0, 0, 7);
    draw(p, 8, 0, 8, 0);
    CHECK_EQ(chroprof_walls(p, NULL, 0), 5);
    begin_sum(&sum, memory, sizeof memory, NULL);
    for (k = 1; k <= 2; k++) {
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
        CHECK_EQ(chroprof_walls(&sum, NULL, 0), 5);
        check_draws(&sum, CHROPROF__UNTRACKED, k, 0, 0);
        check_draws(&sum, path_of(&sum, "accept").id, k, 20 * k, 300 * k);
        check_draws(&sum, path_of(&sum, "accept;reply").id, 4 * k, 50 * k, 600 * k);
        check_draws(&sum, path_of(&sum, "accept;query;timer").id, 0, 0, 7 * k);
        check_draws(&sum, path_of(&sum, "accept;timer").id, 0, 8 * k, 0);
    }
}

/* A profile without histograms brings no entries, whatever lies where another has them. */
TEST(merged_profiles_without_histograms_bring_no_entries)
{
    static uint64_t least[CHROPROF_MEMORY_MIN / 8 + 8];
    static chroprof__histogram none;
    chroprof_options o;
    chroprof p;
    chroprof *sum;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&p, least, sizeof least, &o), CHROPROF_OK);
    CHECK_EQ(p.core->tables[CHROPROF_TABLE_HISTOGRAMS].rows, 0);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, 10);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 20);
    p.core->held |= CHROPROF__HELD_TURN;
    p.core->held_turn = 40;
    sum = fresh(NULL);
    CHECK_EQ(chroprof_merge(sum, &p), CHROPROF_OK);
    CHECK(chroprof__histogram_total(&chroprof__histogram_rows(sum->core)[0].slice) == 0);
    CHECK(chroprof__histogram_total(&chroprof__histogram_rows(sum->core)[0].delay) == 0);
    CHECK(memcmp(chroprof__histogram_rows(sum->core)[0].slice.count, none.count,
                 sizeof none.count) == 0);
    CHECK_EQ(totals_of(sum).turns, 1);
}

/* >>outputs */

/* A slice under way may be the longest of the first site. */
TEST(slices_under_way_are_gathered)
{
    static struct { chroprof__gathered all; uint64_t behind; } s;
    chroprof *p = scene();
    uint32_t first = path(3).site;
    at(p, 300, TICK, 0, NULL);
    memset(&s, 0, sizeof s);
    s.all.first = first;
    chroprof__gather_frames(p, &s.all);
    CHECK_EQ(s.all.value[0], 20);           /* of the frames 2 and 4 */
    CHECK_EQ(s.all.value[path(4).site - first], 5);
    CHECK_EQ(s.all.value[path(5).site - first], 0);
    CHECK_EQ(s.all.value[path(8).site - first], 160);
    s.all.value[0] = 21;
    chroprof__gather_frames(p, &s.all);
    CHECK_EQ(s.all.value[0], 21);
    memset(&s, 0, sizeof s);
    s.all.first = path(8).site + 1;         /* other sites' turn */
    chroprof__gather_frames(p, &s.all);
    CHECK_EQ(s.all.value[0], 0);
    s.all.first = path(8).site - CHROPROF__GATHERED;
    chroprof__gather_frames(p, &s.all);
    CHECK_EQ(s.behind, 0);
}

static const chroprof__firefox *firefox_read(const chroprof *p)
{
    static chroprof__firefox f;
    static chroprof__codes codes;
    static chroprof__out out;
    chroprof__firefox_read(&f, &codes, &out, p);
    return &f;
}

static uint64_t row_of(const chroprof__firefox *f, uint32_t row)
{
    uint64_t ns = 0;
    uint32_t bin;
    for (bin = 0; bin < f->bins; bin++)
        ns += f->ns[row][bin];
    return ns;
}

/* Ticks of 3/7 ns: what the timeline shows of a row is what the reads show of it, though a sum of
 * ticks has more whole ns than its parts. Some of it is untracked. */
TEST(rows_of_the_timeline_are_what_the_reads_show)
{
    char names[30][8];
    chroprof_site site = { names[0], "f", 1 };
    chroprof *p = fresh(NULL);
    const chroprof__firefox *f;
    chroprof_totals t;
    uint64_t now = 0, sum = 0;
    uint32_t k;
    for (k = 0; k < 30; k++) {
        snprintf(names[k], sizeof names[k], "t%u", (unsigned)k);
        site.name = names[k];
        at(p, now, ENTER, 0, &site);
        at(p, now += 5 + 7 * (k < 9 ? 9 - k : 0), LEAVE, 0, NULL);
        at(p, now += 2, RUNNING, 77, NULL);
        at(p, now += 4, PAUSED, 77, NULL);
        at(p, now += 3, IDLE_ENTER, 0, NULL);
        at(p, now += 6, IDLE_LEAVE, 0, NULL);
    }
    p->core->factor = (UINT64_C(3) << 32) / 7;
    t = totals_of(p);
    f = firefox_read(p);
    CHECK(t.untracked_ns > 0 && t.idle_ns > 0 && t.loop_ns > 0);
    CHECK_EQ(f->top_count, CHROPROF__FIREFOX_SITES);
    CHECK_EQ(f->rows, CHROPROF__FIREFOX_SITES + 4);
    for (k = 0; k < CHROPROF__FIREFOX_SITES; k++) {
        sum += rank_of(p, names[k]).exec_ns;
        CHECK_EQ(row_of(f, k), rank_of(p, names[k]).exec_ns);
    }
    CHECK_EQ(row_of(f, k), t.busy_ns - t.untracked_ns - sum);
    CHECK_EQ(row_of(f, k + 1), t.untracked_ns);
    CHECK_EQ(row_of(f, k + 2), t.loop_ns);
    CHECK_EQ(row_of(f, k + 3), t.idle_ns);
    harness_keep_none();
}

/* Of pieces of one length the first gives way, to a longer one only. */
TEST(the_shortest_piece_gives_way)
{
    static chroprof__firefox f;
    uint32_t k;
    f.piece_count = CHROPROF__FIREFOX_STALLS;
    for (k = 0; k < CHROPROF__FIREFOX_STALLS; k++) {
        f.pieces[k].start = 100 * k;
        f.pieces[k].end = 100 * k + (k == 3 || k == 7 ? 5 : 10);
    }
    CHECK_EQ(chroprof__shortest_piece(&f), 3);
    CHECK(!chroprof__piece_fits(&f, 5));
    CHECK_EQ(f.piece_count, CHROPROF__FIREFOX_STALLS);
    CHECK(chroprof__piece_fits(&f, 6));
    CHECK_EQ(f.piece_count, CHROPROF__FIREFOX_STALLS - 1);
    for (k = 0; k < f.piece_count; k++)
        CHECK_EQ(f.pieces[k].start, 100 * (k < 3 ? k : k + 1));
    CHECK(chroprof__piece_fits(&f, 1));
    CHECK_EQ(f.piece_count, CHROPROF__FIREFOX_STALLS - 1);
}

/* A stall has its slices, and of all but idle what is left in proportion; never more than there
 * is. */
TEST(stalls_take_no_idle_time)
{
    static chroprof__firefox f;
    chroprof__piece piece;
    chroprof__bin bin;
    uint64_t take[CHROPROF__FIREFOX_ROWS];
    f.rows = 5;
    memset(&bin, 0, sizeof bin);
    memset(&piece, 0, sizeof piece);
    bin.end = 100;
    bin.left[0] = 10;
    bin.left[3] = 20;
    bin.left[4] = 70;
    piece.start = 40;
    piece.end = 55;
    CHECK_EQ(chroprof__take_piece(&f, &piece, &bin, take), 15);
    CHECK(take[0] == 5 && take[3] == 10 && take[4] == 0);
    CHECK(bin.left[0] == 5 && bin.left[3] == 10 && bin.left[4] == 70);
    piece.start = 0;
    piece.end = 100;
    CHECK_EQ(chroprof__take_piece(&f, &piece, &bin, take), 15);
    CHECK(take[0] == 5 && take[3] == 10 && take[4] == 0);
    CHECK(bin.left[0] == 0 && bin.left[3] == 0 && bin.left[4] == 70);
    bin.left[0] = 30;
    bin.left[2] = 6;
    piece.count = 1;                        /* half of the stall is in the bin */
    piece.rows[0] = 2;
    piece.ns[0] = 8;
    piece.start = 90;
    piece.end = 110;
    CHECK_EQ(chroprof__take_piece(&f, &piece, &bin, take), 10);
    CHECK_EQ(take[2], 4);
    CHECK_EQ(take[0], 6);
    CHECK_EQ(bin.left[4], 70);
    piece.start = 100;
    piece.end = 120;
    CHECK_EQ(chroprof__take_piece(&f, &piece, &bin, take), 0);
}

/* A file without a name has no colour, nor has one that is named as the viewer's own category. */
TEST(files_that_are_no_category)
{
    static const chroprof_site sites[] = {
        { "one", "", 1 }, { "two", "Idle", 2 }, { "three", "x", 3 }
    };
    chroprof *p = fresh(NULL);
    uint32_t k;
    for (k = 0; k < 3; k++) {
        at(p, 100 * k, ENTER, 0, &sites[k]);
        at(p, 100 * k + 50, LEAVE, 0, NULL);
    }
    CHECK_EQ(firefox_read(p)->file_count, 1);
    CHECK(strstr(firefox_of(p), "{\"name\":\"\",\"color\"") == NULL);
    CHECK(strstr(firefox_of(p), "{\"name\":\"x\",\"color\":\"blue\"") != NULL);
    CHECK(strstr(firefox_of(p), "{\"name\":\"Idle\",\"color\":\"transparent\"") != NULL);
    CHECK(strstr(firefox_of(p), "{\"name\":\"Idle\",\"color\":\"orange\"") == NULL);
}

/* The loop itself, without a slice of anybody. */
TEST(a_stall_of_the_loop_has_no_slice)
{
    chroprof *p = long_scene();
    uint32_t k, rows = p->core->tables[CHROPROF_TABLE_STALLS].rows;
    for (k = 0; k < rows; k++)
        chroprof__stall_rows(p->core)[k].slice_count = 0;
    CHECK(strstr(firefox_of(p), "\"handler\":\"(loop)\",\"slice\":0.000000,\"dur\":") != NULL);
    CHECK(strstr(firefox_of(p), "\"handler\":\"(loop)\",\"slice\":0.000001") == NULL);
    harness_keep_none();
}

#endif
