/* tests/inside_since.h - part of test_inside.c: differences and sums, function by function, with
 * figures of which no two are alike. */
#ifndef INSIDE_SINCE_H
#define INSIDE_SINCE_H

/* >>differences: figures */

static chroprof__path older_row(void)
{
    chroprof__path row;
    memset(&row, 0, sizeof row);
    row.exec = 11;
    row.slices = 22;
    row.completed = 33;
    row.failed = 44;
    row.cancelled = 55;
    row.abandoned = 66;
    row.stillborn = 77;
    row.wall = 1234;
    row.delay = 777;
    row.blame = 300;
    row.live = 3;
    row.ready = 2;
    return row;
}

static chroprof__path newer_row(void)
{
    chroprof__path row = older_row();
    row.exec += 100;
    row.slices += 200;
    row.completed += 300;
    row.failed += 400;
    row.cancelled += 500;
    row.abandoned += 600;
    row.stillborn += 700;
    row.wall = 10000;
    row.delay = 5000;
    row.blame = 900;
    row.live = 7;
    row.ready = 5;
    return row;
}

/* Those that live on have lived since the new time 0, which was 50. */
TEST(figures_of_a_path_since_the_older_state)
{
    chroprof__path row = newer_row(), old = older_row();
    CHECK(chroprof__path_since(&row, &old, 50));
    CHECK_EQ(row.exec, 100);
    CHECK_EQ(row.slices, 200);
    CHECK_EQ(row.completed, 300);
    CHECK_EQ(row.failed, 400);
    CHECK_EQ(row.cancelled, 500);
    CHECK_EQ(row.abandoned, 600);
    CHECK_EQ(row.stillborn, 700);
    CHECK_EQ(row.wall, 10000 + 4 * 50 - 1234);
    CHECK_EQ(row.delay, 5000 + 3 * 50 - 777);
    CHECK_EQ(row.blame, 600);
    CHECK(row.live == 7 && row.ready == 5);
    row = newer_row();
    row.live = 1;
    row.ready = 0;
    CHECK(chroprof__path_since(&row, &old, 50));
    CHECK_EQ(row.wall, 10000 - 2 * 50 - 1234);
    CHECK_EQ(row.delay, 5000 - 2 * 50 - 777);
    row = old;
    CHECK(chroprof__path_since(&row, &old, 50));
    CHECK_EQ(row.exec | row.slices | row.completed | row.failed | row.cancelled, 0);
    CHECK_EQ(row.abandoned | row.stillborn | row.wall | row.delay | row.blame, 0);
}

/* What fell was never the older state's. */
TEST(figures_of_a_path_that_fell)
{
    int k;
    for (k = 0; k < 8; k++) {
        chroprof__path row = newer_row(), old = newer_row();
        old.exec += k == 0;
        old.slices += k == 1;
        old.completed += k == 2;
        old.failed += k == 3;
        old.cancelled += k == 4;
        old.abandoned += k == 5;
        old.stillborn += k == 6;
        CHECK_EQ(chroprof__path_since(&row, &old, 50), k == 7);
    }
}

/* Less than nothing is lifted to nothing, and the loop has the other side of it. */
TEST(blame_below_nothing_is_lifted)
{
    static const struct { int64_t delay, blame, lifted_delay, lifted_blame; } rows[] = {
        { 0, 0, 0, 0 }, { 5, 7, 0, 0 }, { -5, 7, 5, 0 }, { 5, -7, 0, 7 }, { -1, -2, 1, 2 },
        { INT64_MIN, INT64_MIN, 0, 0 }, { INT64_MIN + 1, 3, INT64_MAX, 0 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof__path *row = &path(3);
        const uint64_t delay = path(0).delay, blame = path(0).blame;
        row->ready = 2;
        row->delay = (uint64_t)rows[k].delay - 2 * 150;
        row->blame = (uint64_t)rows[k].blame;
        chroprof__lift_blame(p, row);
        CHECK_EQ(row->delay, (uint64_t)rows[k].delay + (uint64_t)rows[k].lifted_delay - 300);
        CHECK_EQ(row->blame, (uint64_t)rows[k].blame + (uint64_t)rows[k].lifted_blame);
        CHECK_EQ(path(0).blame, blame + (uint64_t)rows[k].lifted_delay);
        CHECK_EQ(path(0).delay, delay + (uint64_t)rows[k].lifted_blame);
    }
    harness_keep_none();
}

static uint64_t count_in(const chroprof *p, uint32_t row, bool delays, uint64_t ticks)
{
    const chroprof__histograms *rows = chroprof__histogram_rows(p->core);
    return (delays ? &rows[row].delay : &rows[row].slice)->count[chroprof__bucket(ticks)];
}

/* What is held back is put into rows that are there, the last one as well. */
TEST(what_a_newer_state_holds_back_is_settled)
{
    static unsigned char behind[64];
    uint32_t beyond;
    for (beyond = 0; beyond < 2; beyond++) {
        chroprof *p = scene();
        chroprof__core *c = p->core;
        const uint32_t last = table(HISTOGRAMS).rows - 1;
        const uint64_t turns = count_in(p, 0, false, 900);
        c->held = CHROPROF__HELD_SLICE | CHROPROF__HELD_TURN | CHROPROF__HELD_DELAY;
        c->held_slice = 50;
        c->held_turn = 900;
        c->held_delay = 130;
        c->held_slice_row = c->held_delay_row = last + beyond;
        chroprof__settle_held(c);
        CHECK_EQ(c->held, 0);
        CHECK_EQ(count_in(p, last, false, 50), 1 - beyond);
        CHECK_EQ(count_in(p, last, true, 130), 1 - beyond);
        CHECK_EQ(count_in(p, 0, false, 900), turns + 1);
        CHECK(memcmp(behind, table_bytes(c, CHROPROF_TABLE_SAMPLES), sizeof behind) == 0);
    }
    harness_keep_none();
}

TEST(entries_of_a_histogram_since_the_older_one)
{
    static chroprof__histogram h, old;
    uint32_t k;
    for (k = 0; k < CHROPROF__BUCKETS; k++) {
        h.count[k] = 1000 + 3 * k;
        old.count[k] = k % 2 ? k : 2000 + 3 * k;
    }
    h.min = 5;
    old.min = 3;
    chroprof__histogram_since(&h, &old);
    for (k = 0; k < CHROPROF__BUCKETS; k++)
        CHECK_EQ(h.count[k], k % 2 ? 1000 + 2 * k : 0);
    CHECK_EQ(h.min, 5);
    h.count[chroprof__bucket(40)] = 2;
    for (k = 0; k < 3; k++) {
        chroprof__histogram_drop(&h, 40);
        CHECK_EQ(h.count[chroprof__bucket(40)], k == 0);
    }
}

TEST(maxima_since_the_older_state)
{
    static const struct { uint64_t now, before, most, limit, want; } rows[] = {
        { 10, 5, 3, 100, 10 }, { 10, 9, 3, 100, 10 }, { 10, 10, 3, 100, 3 }, { 10, 12, 3, 100, 3 },
        { 10, 10, 9, 100, 9 }, { 10, 10, 10, 100, 10 }, { 10, 10, 11, 100, 10 },
        { 10, 5, 3, 7, 7 }, { 10, 5, 3, 10, 10 }, { 10, 5, 3, 11, 10 }, { 10, 10, 3, 2, 2 },
        { 0, 0, 0, 0, 0 }, { 10, 10, UINT64_MAX, UINT64_MAX, 10 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_EQ(chroprof__maximum_since(rows[k].now, rows[k].before, rows[k].most, rows[k].limit),
                 rows[k].want);
}

/* One entry of 40 in its slices, one of 20 in its delays: the longest that these can have been. */
static uint64_t most_of(uint64_t ticks)
{
    return chroprof__bucket_floor(chroprof__bucket(ticks) + 1) - 1;
}

static void one_entry_each(const chroprof *p, uint32_t row)
{
    chroprof__histograms *h = chroprof__histogram_rows(p->core) + row;
    memset(h, 0, sizeof *h);
    h->slice.count[chroprof__bucket(40)] = 1;
    h->delay.count[chroprof__bucket(20)] = 1;
}

static chroprof__since since_of(const chroprof *newer, const chroprof *older)
{
    chroprof__since s;
    memset(&s, 0, sizeof s);
    s.to = *newer;
    s.from = older;
    s.begin = older->core->last;
    return s;
}

TEST(maxima_of_a_path_since_the_older_state)
{
    static const struct {
        uint64_t slice, old_slice, delay, old_delay, exec_max, exec, slices;
        bool histogram, known;
        uint64_t slice_max, delay_max, max;       /* 1 and 2: what the histogram knows */
    } rows[] = {
        { 1000, 999, 701, 700, 4999, 5000, 1, true, true, 1000, 701, 4999 },
        { 1000, 1000, 700, 700, 5000, 5000, 1, true, true, 1, 2, 5000 },
        { 1000, 1000, 700, 700, 5001, 5000, 1, true, false, 1000, 700, 5000 },
        { 1000, 1000, 700, 700, 0, 5000, 0, true, true, 0, 2, 0 },
        { 1000, 999, 701, 700, 0, 600, 1, true, true, 600, 701, 0 },
        { 1000, 1000, 700, 700, 0, 5000, 1, false, true, 1000, 700, 0 },
        { 30, 30, 10, 10, 0, 5000, 1, true, true, 30, 10, 0 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        chroprof__path *row = &path(8);
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        s = since_of(p, &older);
        one_entry_each(p, row->histogram);
        row->slice_max = rows[k].slice;
        row->delay_max = rows[k].delay;
        row->exec_max = rows[k].exec_max;
        row->exec = rows[k].exec;
        row->slices = rows[k].slices;
        row->histogram = rows[k].histogram ? row->histogram : 0;
        older.paths[8].slice_max = rows[k].old_slice;
        older.paths[8].delay_max = rows[k].old_delay;
        older.core->tables[CHROPROF_TABLE_PATHS].used -= !rows[k].known;
        chroprof__path_maxima_since(&s, 8);
        CHECK_EQ(row->slice_max, rows[k].slice_max == 1 ? most_of(40) : rows[k].slice_max);
        CHECK_EQ(row->delay_max, rows[k].delay_max == 2 ? most_of(20) : rows[k].delay_max);
        CHECK_EQ(row->exec_max, rows[k].max);
    }
    harness_keep_none();
}

TEST(maxima_of_the_loop_since_the_older_state)
{
    static const struct {
        uint64_t turn, old_turn, pass, old_pass, turns, passes, last;
        bool histograms;
        uint64_t turn_max, pass_max;              /* 1 and 2: what the histogram knows */
    } rows[] = {
        { 1000, 999, 701, 700, 1, 1, 9000, true, 1000, 701 },
        { 1000, 1000, 700, 700, 1, 1, 9000, true, 1, 2 },
        { 1000, 1000, 700, 700, 0, 1, 9000, true, 0, 2 },
        { 1000, 1000, 700, 700, 1, 0, 9000, true, 1, 0 },
        { 1000, 1000, 700, 700, 1, 1, 9000, false, 1000, 700 },
        { 1000, 999, 701, 700, 1, 1, 800, true, 800, 701 },
        { 1000, 999, 701, 700, 1, 1, 600, true, 600, 600 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        chroprof__core *c = p->core;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        s = since_of(p, &older);
        one_entry_each(p, 0);
        c->turn_max = rows[k].turn;
        c->pass_max = rows[k].pass;
        c->turns = rows[k].turns;
        c->passes = rows[k].passes;
        c->last = rows[k].last;
        older.core->turn_max = rows[k].old_turn;
        older.core->pass_max = rows[k].old_pass;
        path(8).exec_max = path(8).exec + 5;
        path(2).exec_max = 77;
        if (!rows[k].histograms)
            table(HISTOGRAMS).rows = 0;
        chroprof__maxima_since(&s);
        CHECK_EQ(c->turn_max, rows[k].turn_max == 1 ? most_of(40) : rows[k].turn_max);
        CHECK_EQ(c->pass_max, rows[k].pass_max == 2 ? most_of(20) : rows[k].pass_max);
        CHECK_EQ(path(8).exec_max, path(8).exec);
        CHECK_EQ(path(2).exec_max, 77);
    }
    harness_keep_none();
}

/* >>differences: of what */

/* The newer state has 8 sites and 9 paths; the older one has some of them. */
#define FOLLOWERS(X)                                                                               \
    X(true, (void)older)                                                                           \
    X(true, older.core->last = 0)                                                                  \
    X(false, older.core->last = 151)                                                               \
    X(true, older.core->seq--)                                                                     \
    X(false, older.core->seq++)                                                                    \
    X(false, (older.core->last = 100, older.core->seq++))                                          \
    X(false, older.core->start_unix_ns = 1)                                                        \
    X(true, older.core->tables[CHROPROF_TABLE_SITES].used--)                                       \
    X(false, used(SITES)--)                                                                        \
    X(true, older.core->tables[CHROPROF_TABLE_PATHS].used--)                                       \
    X(false, used(PATHS)--)                                                                        \
    X(true, p->core->window += 1 << 16)                                                            \
    X(false, older.core->window += 1 << 16)                                                        \
    X(false, chroprof__sites(older.core)[0].hash++)                                                \
    X(false, chroprof__sites(older.core)[7].hash++)                                                \
    X(true, (chroprof__sites(older.core)[7].hash++,                                                \
             older.core->tables[CHROPROF_TABLE_SITES].used--))                                     \
    X(true, chroprof__sites(older.core)[8].hash++)                                                 \
    X(false, older.paths[0].site = 1)                                                              \
    X(false, older.paths[0].parent = 1)                                                            \
    X(false, older.paths[8].site = 3)                                                              \
    X(false, older.paths[8].parent = 4)                                                            \
    X(true, (older.paths[8].parent = 4, older.core->tables[CHROPROF_TABLE_PATHS].used--))          \
    X(true, older.paths[9].site = 3)

TEST(states_that_can_follow)
{
    chroprof *p;
    chroprof older;
#define FOLLOWS(want, poke)                                                                        \
    p = scene();                                                                                   \
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);                                                     \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__can_follow(p, &older), want);
    FOLLOWERS(FOLLOWS)
#undef FOLLOWS
    harness_keep_none();
}

/* Each figure of the first path or the last may have fallen, or not add up. */
#define PATHS_SINCE(X)                                                                             \
    X(true, (void)older)                                                                           \
    X(false, older.paths[0].stillborn++)                                                           \
    X(false, older.paths[8].stillborn++)                                                           \
    X(true, (older.paths[8].stillborn++, older.paths[8].exec = 0, older.core->last = 140,          \
             older.core->tables[CHROPROF_TABLE_PATHS].used--))                                     \
    X(false, older.paths[0].exec--)                                                                \
    X(false, older.paths[8].exec--)                                                                \
    X(false, path(8).exec++)                                                                       \
    X(false, older.core->last--)                                                                   \
    X(true, (older.core->last--, older.paths[8].exec--))

TEST(figures_of_all_paths_since_the_older_state)
{
    chroprof *p;
    chroprof older;
    chroprof__since s;
#define PATH_SINCE(want, poke)                                                                     \
    p = scene();                                                                                   \
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);                                                     \
    path(1).wall = path(2).wall = 77;       /* only untracked calls are calls */                   \
    poke;                                                                                          \
    s = since_of(p, &older);                                                                       \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__paths_since(&s), want);                     \
    CHECK(path(1).wall == 77 && path(2).wall == 0);                                                \
    CHECK_EQ(p->core->last, 150 - older.core->last);
    PATHS_SINCE(PATH_SINCE)
#undef PATH_SINCE
    harness_keep_none();
}

#define INITS(X)                                                                                   \
    X(true, (void)b)                                                                               \
    X(false, b.tables[0].capacity++)                                                               \
    X(false, b.tables[CHROPROF_TABLE_COUNT - 1].capacity++)                                        \
    X(true, b.tables[CHROPROF_TABLE_COUNT].capacity++)                                             \
    X(false, b.pid++)                                                                              \
    X(false, b.boot_ns++)                                                                          \
    X(false, b.owner_start++)                                                                      \
    X(false, b.pointer_bytes++)                                                                    \
    X(false, b.manual++)                                                                           \
    X(false, b.host[0]++)                                                                          \
    X(false, b.host[CHROPROF__NAME_BYTES - 2]++)                                                   \
    X(false, b.name[0]++)                                                                          \
    X(false, b.name[CHROPROF__NAME_BYTES - 2]++)                                                   \
    X(true, b.program[0]++)                                                                        \
    X(true, b.seq += 2)

/* What a profile is known by from its first moment to its last. */
TEST(states_of_one_profile)
{
    static chroprof__core a, b;
    memset(&a, 1, sizeof a);
#define SAME_INIT(want, poke)                                                                      \
    b = a;                                                                                         \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__same_init(&a, &b), want);                   \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__same_init(&b, &a), want);
    INITS(SAME_INIT)
#undef SAME_INIT
}

/* An entry for each slice since then, of the first site and the last; not of rows of different
 * moments, and not what was held back then. */
TEST(entries_of_all_histograms_since_the_older_state)
{
    uint32_t skewed;
    for (skewed = 0; skewed < 2; skewed++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        const chroprof__histograms *rows = chroprof__histogram_rows(p->core);
        uint32_t k, last = table(HISTOGRAMS).rows - 1;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        for (k = 0; k <= last; k += last) {
            chroprof__histogram_rows(p->core)[k].delay.count[9] = 10 + k;
            chroprof__histogram_rows(older.core)[k].delay.count[9] = 3 + k;
            chroprof__histogram_rows(p->core)[k].slice.count[9] = 20 + k;
            chroprof__histogram_rows(older.core)[k].slice.count[9] = 4 + k;
        }
        older.core->held = skewed ? 0 : CHROPROF__HELD_DELAY;
        older.core->held_delay_row = last;
        older.core->held_delay = chroprof__bucket_value(9);
        path(3).slices = 5;
        path(8).slices = 2;
        p->core->skew_events = skewed;
        p->core->held = CHROPROF__HELD_TURN;
        p->core->held_turn = chroprof__bucket_value(9);
        s = since_of(p, &older);
        chroprof__histograms_since(&s);
        CHECK_EQ(p->core->held, 0);
        CHECK_EQ(rows[0].slice.count[9], 20 - 4 + 1);
        CHECK_EQ(rows[last].slice.count[9], 20 - 4);
        CHECK_EQ(rows[0].delay.count[9], 10 - 3);
        CHECK_EQ(rows[last].delay.count[9], 10 - 3 - !skewed);
        CHECK_EQ(chroprof__histogram_total(&rows[path(3).histogram].slice), skewed ? 0 : 5);
        CHECK_EQ(chroprof__histogram_total(&rows[path(8).histogram].slice), skewed ? 0 : 2);
    }
    harness_keep_none();
}

/* >>differences: what goes on */

/* The older state and the newer are the same scene; what follows is one difference of the two. */
#define SAME_STAYS(X)                                                                              \
    X(0x3E, (void)p)                                                                               \
    X(0x0E, older.core->depth = 3)                                                                 \
    X(0x0E, p->core->depth = 3)                                                                    \
    X(0x3A, frame(2).event++)                                                                      \
    X(0x36, frame(3).id = 1)                                                                       \
    X(0x2E, older.frames[4].path = 4)                                                              \
    X(0x1E, older.frames[5].event--)

TEST(stays_that_are_still_the_same)
{
    chroprof *p;
    chroprof older;
    chroprof__since s;
    uint32_t k, same;
#define SAME_STAY(want, poke)                                                                      \
    p = scene();                                                                                   \
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);                                                     \
    poke;                                                                                          \
    s = since_of(p, &older);                                                                       \
    same = 0;                                                                                      \
    for (k = 1; k <= 6; k++)                                                                       \
        same |= (uint32_t)chroprof__same_stay(&s, k) << k;                                         \
    harness_equal(__FILE__, __LINE__, #poke, same, want);
    SAME_STAYS(SAME_STAY)
#undef SAME_STAY
    harness_keep_none();
}

/* Future 1 had 40 in slices that ended; 20 in its frame 2 and 10 in its frame 4 were under way. */
#define EXECS_BEFORE(X)                                                                            \
    X(40, (void)p)                                                                                 \
    X(50, frame(4).event++)                                                                        \
    X(60, frame(2).event++)                                                                        \
    X(70, p->core->depth = 1)                                                                      \
    X(40, (p->core->depth = 1, older.frames[4].kind |= CHROPROF__ORPHAN))                          \
    X(50, (p->core->depth = 1, older.frames[2].kind |= CHROPROF__ORPHAN))                          \
    X(50, (p->core->depth = 1, older.frames[4].same = 0))                                          \
    X(40, (p->core->depth = 1, chroprof__find(&older, 1)->frame = 0))

TEST(exec_of_a_future_that_was_live_before)
{
    chroprof *p;
    chroprof older;
    chroprof__since s;
#define EXEC_BEFORE(want, poke)                                                                    \
    p = scene();                                                                                   \
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);                                                     \
    poke;                                                                                          \
    s = since_of(p, &older);                                                                       \
    harness_equal(__FILE__, __LINE__, #poke,                                                       \
                  chroprof__exec_before(&s, chroprof__find(&older, 1)), want);
    EXECS_BEFORE(EXEC_BEFORE)
#undef EXEC_BEFORE
    harness_keep_none();
}

/* Future 3 had 4 in slices that ended. */
#define EXECS_SINCE(X)                                                                             \
    X(6, slot(3)->exec = 10)                                                                       \
    X(0, slot(3)->exec = 4)                                                                        \
    X(3, slot(3)->exec = 3)                                                                        \
    X(10, (slot(3)->exec = 10, chroprof__find(&older, 3)->path = 4))                               \
    X(10, (slot(3)->exec = 10, chroprof__find(&older, 3)->state = CHROPROF__GONE))

TEST(exec_of_futures_since_the_older_state)
{
    chroprof *p;
    chroprof older;
    chroprof__since s;
    uint32_t last;
#define EXEC_SINCE(want, poke)                                                                     \
    p = scene();                                                                                   \
    last = p->slots - 1;                                                                           \
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);                                                     \
    poke;                                                                                          \
    p->futures[0].id = p->futures[last].id = 1000;      /* that the older one has not */           \
    p->futures[0].exec = p->futures[last].exec = 50;                                               \
    p->futures[0].since = 149;                                                                     \
    p->futures[last].since = 190;                                                                  \
    s = since_of(p, &older);                                                                       \
    chroprof__futures_since(&s);                                                                   \
    harness_equal(__FILE__, __LINE__, #poke, slot(3)->exec, want);                                 \
    CHECK_EQ(slot(3)->since, 0);                                                                   \
    CHECK(p->futures[0].since == 0 && p->futures[0].exec == 50);                                   \
    CHECK(p->futures[last].since == 40 && p->futures[last].exec == 50);
    EXECS_SINCE(EXEC_SINCE)
#undef EXEC_SINCE
    harness_keep_none();
}

/* Frame 5 was pushed at 140 and had a slice of 10 at 150, the new time 0; now it is 200. */
TEST(a_stay_since_the_older_state)
{
    static const struct {
        bool same;
        uint64_t pushed, start, then_pushed, then_start;
        uint64_t excluded, carried;
    } rows[] = {
        { true, 140, 140, 0, 0, 70, 700 }, { true, 140, 150, 0, 10, 70, 700 },
        { true, 140, 160, 0, 20, 70, 700 }, { true, 140, 195, 0, 50, 70, 700 },
        { true, 140, 100, 0, 0, 70, 700 }, { false, 140, 140, 0, 0, 100, 1000 },
        { false, 170, 180, 20, 30, 100, 1000 }, { false, 170, 160, 20, 20, 100, 1000 },
        { false, 150, 151, 0, 1, 100, 1000 }, { false, 151, 151, 1, 1, 100, 1000 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        older.frames[5].excluded = 30;
        older.frames[5].carried = 300;
        s = since_of(p, &older);
        frame(5).pushed = rows[k].pushed;
        frame(5).start = rows[k].start;
        frame(5).excluded = 100;
        frame(5).carried = 1000;
        frame(5).event += !rows[k].same;
        chroprof__stay_since(&s, 5, 200);
        harness_equal(__FILE__, (int)k, "start of row number (the line)", frame(5).start,
                      rows[k].then_start);
        CHECK_EQ(frame(5).pushed, rows[k].then_pushed);
        CHECK_EQ(frame(5).excluded, rows[k].excluded);
        CHECK_EQ(frame(5).carried, rows[k].carried);
    }
    harness_keep_none();
}

/* Each frame ends where the one above it begins, the top one now or where frames are hidden. */
TEST(stays_since_the_older_state)
{
    uint32_t hidden;
    for (hidden = 0; hidden < 2; hidden++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        older.core->depth = 4;
        s = since_of(p, &older);
        frame(5).pushed = 160;              /* a new one */
        frame(5).start = 165;
        p->core->hidden = hidden;
        p->core->hidden_since = 190;
        chroprof__frames_since(&s, 200);
        CHECK_EQ(frame(5).pushed, 10);
        CHECK_EQ(frame(5).start, 15);
        CHECK_EQ(frame(4).pushed, 0);
        CHECK_EQ(frame(4).start, 0);        /* all 10 since */
        CHECK_EQ(p->core->hidden_since, 40);
        p->core->depth = 4;                 /* the older one's frame 4 had 20 by then */
        older.core->depth = 4;
        frame(4).pushed = 130;
        frame(4).start = 150;
        p->core->hidden_since = 190;
        chroprof__frames_since(&s, 200);
        CHECK_EQ(frame(4).start, 20);       /* all but what it had */
        CHECK_EQ(frame(4).pushed, 0);
    }
    harness_keep_none();
}

TEST(stalls_since_the_older_state)
{
    static const struct { uint64_t start, serial, then_start, then_serial; } rows[] = {
        { 140, 4, 0, 0 }, { 140, 5, 0, 0 }, { 151, 6, 1, 1 }, { 149, 7, 0, 2 }, { 400, 9, 250, 4 }
    };
    chroprof *p = scene();
    const uint32_t last = table(STALLS).rows - 1;
    uint32_t k;
    for (k = 0; k < 5; k++) {
        chroprof__stall *row = chroprof__stall_rows(p->core) + (k < 4 ? k : last);
        row->start = rows[k].start;
        row->serial = rows[k].serial;
        row->length = 60 + k;
    }
    p->core->stalls = 4;
    chroprof__stalls_since(p->core, 5, 150);
    for (k = 0; k < 5; k++) {
        const chroprof__stall *row = chroprof__stall_rows(p->core) + (k < 4 ? k : last);
        CHECK_EQ(row->start, rows[k].then_start);
        CHECK_EQ(row->serial, rows[k].then_serial);
        CHECK_EQ(row->length, rows[k].then_serial ? 60 + k : 0);
    }
    CHECK_EQ(used(STALLS), 4);
    CHECK_EQ(table(STALLS).peak, 4);
    p->core->stalls = capacity(STALLS);
    chroprof__stalls_since(p->core, 0, 0);
    CHECK_EQ(used(STALLS), capacity(STALLS));
    p->core->stalls = capacity(STALLS) + UINT64_C(1);
    chroprof__stalls_since(p->core, 0, 0);
    CHECK_EQ(used(STALLS), capacity(STALLS));
    CHECK_EQ(table(STALLS).peak, capacity(STALLS));
    harness_keep_none();
}

/* >>differences: windows */

/* Two ticks of the older state's windows are one of the newer's; what its paths had not put there
 * yet goes as well. */
TEST(cells_since_the_older_state)
{
    const uint32_t kinds[] = { 0, 1 };
    size_t k;
    uint32_t i;
    for (k = 0; k < 2; k++) {
        chroprof *p = scene();
        const uint32_t site = kinds[k] ? path(8).site : 2, most = capacity(WINDOWS);
        uint64_t *cells = cells_of(p, site), *before;
        chroprof older;
        chroprof__since s;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        s = since_of(p, &older);
        before = cells_of(&older, site);
        for (i = 0; i < most; i++) {
            cells[1 + i] = 10000 + i;
            before[1 + i] = i + 1;
        }
        before[0] = 0;
        p->core->window = TAG(1, 30);
        older.core->window = TAG(0, 61);
        for (i = 0; i < 9; i++) {
            older.paths[i].exec = 100 * i + 7;
            older.paths[i].mark = 90 * i;
            older.paths[i].window = TAG(0, 2 * i + 41);
        }
        chroprof__cells_since(&s, site);
        for (i = 0; i < most; i++) {
            uint64_t want = 10000 + i;
            want -= i < most / 2 ? 2 * i + 1 + 2 * i + 2 : 0;
            if (k == 0 && i == 22)
                want -= 2 * 10 + 7;
            if (k == 1 && i >= 26 && i <= 28)       /* paths 6, 7 and 8 */
                want -= (i - 20) * 10 + 7;
            CHECK_EQ(cells[1 + i], want);
        }
        CHECK_EQ(most % 2, 0);
    }
    harness_keep_none();
}

TEST(cells_of_windows_that_became_one)
{
    chroprof *p = scene();
    chroprof older;
    chroprof__since s;
    uint32_t level, i;
    for (level = 15; level < 18; level++) {
        uint64_t *cells = cells_of(p, 2), *before;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        s = since_of(p, &older);
        before = cells_of(&older, 2);
        for (i = 0; i < capacity(WINDOWS); i++) {
            cells[1 + i] = 10000;
            before[1 + i] = 1;
        }
        older.paths[2].exec = older.paths[2].mark = 0;
        before[0] = 3;
        p->core->window = TAG(level + 3, 0);
        chroprof__cells_since(&s, 2);
        CHECK_EQ(cells[1], 10000 - capacity(WINDOWS));
        CHECK_EQ(cells[2], 10000);
    }
    harness_keep_none();
}

/* Of windows of 50 ticks the one that time 0 lies in is the first; never one yet to come. */
TEST(windows_since_the_older_state)
{
    static const struct { uint64_t begin; uint32_t window, then; uint64_t phase; } rows[] = {
        { 150, 5, 2, 0 }, { 149, 5, 3, 49 }, { 170, 5, 2, 20 }, { 0, 5, 5, 0 }, { 199, 3, 0, 49 },
        { 250, 5, 0, 0 }
    };
    size_t k;
    uint32_t site;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        chroprof older;
        chroprof__since s;
        const uint32_t first = rows[k].window - rows[k].then;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        older.core->tables[CHROPROF_TABLE_SITES].used--;    /* it has not the last one */
        s = since_of(p, &older);
        s.begin = rows[k].begin;
        p->core->window = rows[k].window;
        older.core->window = 3;
        for (site = 0; site < 8; site++) {
            memset(cells_of(p, site) + 1, 0, 8 * capacity(WINDOWS));
            memset(cells_of(&older, site) + 1, 0, 8 * capacity(WINDOWS));
            cells_of(p, site)[1 + rows[k].window] = 1000;
            cells_of(&older, site)[1 + rows[k].window] = 1;
        }
        for (site = 0; site < 9; site++)
            older.paths[site].mark = older.paths[site].exec;
        cells_of(p, 8)[1 + rows[k].window] = 777;           /* of no site */
        chroprof__windows_since(&s);
        CHECK_EQ(cells_of(p, 8)[1 + rows[k].window], 777);
        CHECK_EQ(p->core->window, rows[k].then);
        CHECK_EQ(p->core->window_phase, rows[k].phase);
        for (site = 0; site < 8; site++)
            CHECK_EQ(cells_of(p, site)[1 + rows[k].window - first], site < 7 ? 999 : 1000);
    }
    harness_keep_none();
}

/* >>differences: counts */

/* No two alike: the kth is base + k * step, of the older state k. */
static void number_the_counts(chroprof__core *c, uint64_t base)
{
    uint32_t k;
    c->merged_events = base + 1;
    c->turns = base + 2;
    c->passes = base + 3;
    c->stalls = base + 4;
    for (k = 0; k < 32; k++)
        c->anomalies[k] = base + 10 + k;
    for (k = 0; k < CHROPROF__TABLES; k++) {
        c->tables[k].dropped = base + 50 + k;
        c->tables[k].wanted = base + 80 + k;
    }
    c->skew_ticks = base + 5;
    c->skew_events = base + 6;
    c->doubt_ticks = base + 7;
    c->doubt_events = base + 8;
    c->seq = base + 2000;
    c->seq_base = base + 900;
}

TEST(counts_since_the_older_state)
{
    static chroprof__core c, old;
    uint32_t k;
    number_the_counts(&c, 30000);
    number_the_counts(&old, 1000);
    CHECK(chroprof__counts_since(&c, &old));
    CHECK_EQ(c.merged_events, 29000);
    CHECK_EQ(c.turns, 29000);
    CHECK_EQ(c.passes, 29000);
    CHECK_EQ(c.stalls, 29000);
    for (k = 0; k < 32; k++)
        CHECK_EQ(c.anomalies[k], k < CHROPROF_ANOMALY_COUNT ? 29000 : 30010 + k);
    for (k = 0; k < CHROPROF__TABLES; k++) {
        CHECK_EQ(c.tables[k].dropped, k < CHROPROF_TABLE_COUNT ? 29000 : 30050 + k);
        CHECK_EQ(c.tables[k].wanted, k == CHROPROF_TABLE_STRINGS ? 29000 : 30080 + k);
    }
    CHECK_EQ(c.seq_base, 30900 + 3000 - 1900);
    CHECK_EQ(c.skew_ticks, 30005 + 1005);
    CHECK_EQ(c.skew_events, 30006 + 1006);
    CHECK_EQ(c.doubt_ticks, 30007 + 1007);
    CHECK_EQ(c.doubt_events, 30008 + 1008);
    for (k = 0; k < 4 + CHROPROF_ANOMALY_COUNT + CHROPROF_TABLE_COUNT + 1; k++) {
        uint32_t i = k - 4, n = i - CHROPROF_ANOMALY_COUNT;
        number_the_counts(&c, 1000);        /* as many as before, but for one fewer */
        number_the_counts(&old, 1000);
        c.merged_events -= k == 0;
        c.turns -= k == 1;
        c.passes -= k == 2;
        c.stalls -= k == 3;
        if (k >= 4 && i < CHROPROF_ANOMALY_COUNT)
            c.anomalies[i]--;
        else if (k >= 4 && n < CHROPROF_TABLE_COUNT)
            c.tables[n].dropped--;
        CHECK_EQ(chroprof__counts_since(&c, &old),
                 k == 4 + CHROPROF_ANOMALY_COUNT + CHROPROF_TABLE_COUNT);
    }
}

/* Time 0 is the older state's last event; what only events need is gone. */
TEST(the_core_since_the_older_state)
{
    static chroprof__core c, want;
    uint32_t k;
    for (k = 0; k < 2; k++) {
        memset(&c, 0x11, sizeof c);
        c.factor = UINT64_C(1) << 33;
        c.start_unix_ns = k ? 5000 : 0;
        c.pass_start = k ? 190 : 149;
        c.calibrate_at = k ? 149 : 170;
        want = c;
        want.epoch += 150;
        want.start_clock += 150;
        want.start_unix_ns = k ? 5000 + 300 : 0;
        want.pass_start = k ? 40 : 0;
        want.calibrate_at = k ? 0 : 20;
        want.horizon = 0;
        clear_biggest(&want.pass);
        clear_biggest(&want.turn[0]);
        clear_biggest(&want.turn[1]);
        clear_biggest(&want.turn[2]);
        clear_biggest(&want.turn[3]);
        memset(want.due, 0, sizeof want.due);
        memset(want.intervals, 0, sizeof want.intervals);
        chroprof__core_since(&c, 150);
        CHECK(memcmp(&c, &want, sizeof c) == 0);
    }
}

/* >>differences: samples */

TEST(parts_are_taken_as_far_as_they_go)
{
    static const struct { uint64_t figure, part, then, left; } rows[] = {
        { 10, 3, 7, 5 }, { 3, 10, 0, 12 }, { 5, 5, 0, 5 }, { 0, 1, 0, 6 }, { 1, 0, 1, 5 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t figure = rows[k].figure, left = 5;
        chroprof__take_part(&figure, rows[k].part, &left);
        CHECK_EQ(figure, rows[k].then);
        CHECK_EQ(left, rows[k].left);
    }
}

/* What a stack has not to give, the last stacks give, be it only 1. */
TEST(one_sample_too_many_before)
{
    int cpu;
    for (cpu = 0; cpu < 2; cpu++) {
        chroprof *p = sampled_scene();
        chroprof older;
        uint32_t last = p->core->tables[CHROPROF__WALLS].rows - 1, k;
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        node(&older, 1)->weight += !cpu;
        node(&older, 1)->cpu_ns += cpu ? 1 : 0;
        node(p, 3)->weight += 7;
        node(p, 3)->cpu_ns += 9;
        node(p, 5)->weight += cpu ? 0 : 3;
        for (k = 0; k < 3; k++) {
            chroprof__walls(p->core)[0].weight[k] = chroprof__walls(p->core)[last].ticks[k] = 90;
            chroprof__walls(older.core)[0].weight[k] = 10 + k;
            chroprof__walls(older.core)[last].ticks[k] = 60 + 20 * k;
        }
        chroprof__weights_since(p->core, older.core);
        for (k = 0; k <= 5; k++) {
            CHECK_EQ(node(p, k)->weight, k == 3 ? 7 : k == 5 && !cpu ? 3 - 1 : 0);
            CHECK_EQ(node(p, k)->cpu_ns, k != 3 ? 0 : cpu ? 9 - 1 : 9);
        }
        for (k = 0; k < 3; k++) {
            CHECK_EQ(chroprof__walls(p->core)[0].weight[k], 80 - k);
            CHECK_EQ(chroprof__walls(p->core)[last].ticks[k], k == 0 ? 30 : k == 1 ? 10 : 0);
        }
    }
    harness_keep_none();
}

static void three_rows(const chroprof *p)
{
    static const uint64_t times[] = { 10, 20, 30 }, durations[] = { 10, 10, 5 };
    static const uint64_t weights[] = { 3, 2, 4 };
    uint32_t k;
    used(SAMPLES) = sampler(p)->head = 3;
    sampler(p)->latest = 35;
    for (k = 0; k < 3; k++) {
        chroprof__sample *row = chroprof__sample_rows(p->core) + k;
        row->time = times[k];
        row->duration = durations[k];
        row->weight = weights[k];
        row->cpu_ns = 10 * weights[k];
    }
}

/* As many as were taken since 25, from the newest back; part of a row that was extended. */
TEST(rows_of_samples_since_the_older_state)
{
    static const struct { uint64_t samples, weight[3], cpu[3]; } rows[] = {
        { 0, { 0, 0, 0 }, { 0, 0, 0 } }, { 3, { 0, 0, 3 }, { 0, 0, 0 } },
        { 4, { 0, 0, 4 }, { 0, 0, 40 } }, { 5, { 0, 1, 4 }, { 0, 0, 40 } },
        { 6, { 0, 2, 4 }, { 0, 20, 40 } }, { 8, { 2, 2, 4 }, { 0, 20, 40 } },
        { 9, { 3, 2, 4 }, { 30, 20, 40 } }, { 99, { 3, 2, 4 }, { 30, 20, 40 } }
    };
    size_t k, i;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = scene();
        const chroprof__sample *row = chroprof__sample_rows(p->core);
        three_rows(p);
        sampler(p)->samples = rows[k].samples;
        chroprof__rows_since(p, 25);
        for (i = 0; i < 3; i++) {
            CHECK_EQ(row[i].weight, rows[k].weight[i]);
            CHECK_EQ(row[i].cpu_ns, rows[k].cpu[i]);
        }
        CHECK(row[0].time == 0 && row[0].duration == 0);
        CHECK(row[1].time == 0 && row[1].duration == 5);
        CHECK(row[2].time == 5 && row[2].duration == 5);
        CHECK_EQ(sampler(p)->latest, 10);
    }
    harness_keep_none();
}

TEST(counts_of_the_sampler_since_the_older_state)
{
    chroprof *p = sampled_scene();
    chroprof older;
    chroprof__sampler *s = sampler(p), *was;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    was = sampler(&older);
    s->inside = 1000;
    was->inside = 1;
    s->draws = 2000;
    was->draws = 2;
    s->misses = 3000;
    was->misses = 3;
    s->ticks = 4000;
    was->ticks = 4;
    s->lost = 5000;
    was->lost = 5;
    s->cost_ns = 6000;
    was->cost_ns = 6;
    s->samples += 9;
    node(p, 2)->weight += 9;
    chroprof__samples_since(p, older.core, 150);
    CHECK_EQ(s->inside, 999);
    CHECK_EQ(s->draws, 1998);
    CHECK_EQ(s->misses, 2997);
    CHECK_EQ(s->ticks, 3996);
    CHECK_EQ(s->lost, 4995);
    CHECK_EQ(s->cost_ns, 5994);
    CHECK_EQ(s->samples, 9);
    CHECK_EQ(node(p, 2)->weight, 9);
    p->core->tables[CHROPROF__SAMPLER].rows = 0;
    s->inside = 5;
    chroprof__samples_since(p, older.core, 150);
    CHECK_EQ(s->inside, 5);
    harness_keep_none();
}

/* >>sums: figures */

TEST(lives_are_added)
{
    chroprof__path to = older_row(), from = newer_row();
    to.merged_live = 5;
    from.merged_live = 6;
    chroprof__merge_life(&to, &from);
    CHECK_EQ(to.completed, 33 + 333);
    CHECK_EQ(to.failed, 44 + 444);
    CHECK_EQ(to.cancelled, 55 + 555);
    CHECK_EQ(to.abandoned, 66 + 666);
    CHECK_EQ(to.stillborn, 77 + 777);
    CHECK_EQ(to.merged_live, 5 + 6 + 7);
    CHECK_EQ(to.calls, 366 + 488 + 610 + 732 + 18);
    CHECK_EQ(to.live, 3);
    CHECK_EQ(to.exec, 11);
}

/* Two ns a tick in what is added. */
TEST(counts_are_added)
{
    static chroprof__core to, from;
    uint32_t k;
    number_the_counts(&to, 1000);
    number_the_counts(&from, 30000);
    to.error_ppb = 10;
    from.error_ppb = 20;
    to.ever_dropped = 0;
    from.ever_dropped = 1;
    from.factor = UINT64_C(1) << 33;
    chroprof__merge_counts(&to, &from);
    CHECK_EQ(to.merged_events, 1001 + (32000 - 30900) / 2 + 30001);
    for (k = 0; k < 32; k++)
        CHECK_EQ(to.anomalies[k], 1010 + k + (k < CHROPROF_ANOMALY_COUNT ? 30010 + k : 0));
    CHECK_EQ(to.error_ppb, 20);
    CHECK_EQ(to.skew_ticks, 1005 + 2 * 30005);
    CHECK_EQ(to.skew_events, 1006 + 30006);
    CHECK_EQ(to.doubt_ticks, 1007 + 2 * 30007);
    CHECK_EQ(to.doubt_events, 1008 + 30008);
    CHECK_EQ(to.ever_dropped, 1);
    CHECK(to.turns == 1002 && to.stalls == 1004);
    for (k = 0; k < CHROPROF__TABLES; k++) {
        const uint64_t a = 1080 + k, b = 30080 + k;
        CHECK_EQ(to.tables[k].dropped, 1050 + k + (k < CHROPROF_TABLE_COUNT ? 30050 + k : 0));
        CHECK_EQ(to.tables[k].wanted, k >= CHROPROF_TABLE_COUNT ? a
                                      : k == CHROPROF_TABLE_DEPTH ? b
                                      : k == CHROPROF_TABLE_STRINGS ? a + b : (a | b));
    }
    from.error_ppb = 3;
    from.ever_dropped = 0;
    from.tables[CHROPROF_TABLE_DEPTH].wanted = 7;
    chroprof__merge_counts(&to, &from);
    CHECK_EQ(to.error_ppb, 20);
    CHECK_EQ(to.ever_dropped, 1);
    CHECK_EQ(to.tables[CHROPROF_TABLE_DEPTH].wanted, 30080 + CHROPROF_TABLE_DEPTH);
}

TEST(settings_of_the_first_sampler_stay)
{
    static chroprof__sampler to, from;
    int k;
    for (k = 0; k < 2; k++) {
        to.inside = 1;
        to.ticks = 2;
        to.lost = 3;
        to.cost_ns = 4;
        to.draws = 5;
        to.misses = 6;
        to.mode = 0;
        to.period_ns = 7;
        to.first_period_ns = (uint64_t)k;
        to.budget_ppm = 8;
        from.inside = 100;
        from.ticks = 200;
        from.lost = 300;
        from.cost_ns = 400;
        from.draws = 500;
        from.misses = 600;
        from.mode = 1;
        from.period_ns = 700;
        from.first_period_ns = 750;
        from.budget_ppm = 800;
        chroprof__merge_sampler(&to, &from);
        CHECK(to.inside == 101 && to.ticks == 202 && to.lost == 303 && to.cost_ns == 404);
        CHECK(to.draws == 505 && to.misses == 606);
        CHECK_EQ(to.mode, k ? 0 : 1);
        CHECK_EQ(to.period_ns, k ? 7 : 700);
        CHECK_EQ(to.first_period_ns, k ? 1 : 750);
        CHECK_EQ(to.budget_ppm, k ? 8 : 800);
    }
}

static chroprof__merging *merging_of(chroprof *to, const chroprof *from)
{
    static chroprof__merging m;
    memset(&m, 0, sizeof m);
    m.to = to;
    m.from = from;
    m.begin = to->core->last;
    CHECK(chroprof__merge_length(from, CHROPROF__END_OF_TIME, &m.elapsed));
    return &m;
}

/* Two ns a tick: maxima are the larger ones, entries are in other buckets. */
TEST(turns_and_passes_are_added)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = scene();
    chroprof__core *c = p->core;
    chroprof sum;
    const uint64_t turns = 11, passes = 13;
    uint64_t held;
    begin_sum(&sum, memory, sizeof memory, NULL);
    c->factor = UINT64_C(1) << 33;
    memset(chroprof__histogram_rows(c), 0, sizeof(chroprof__histograms));
    chroprof__histogram_rows(c)->slice.min = 33;
    chroprof__histogram_rows(c)->delay.min = UINT64_MAX;
    chroprof__histogram_rows(c)->slice.count[chroprof__bucket(1000)] = 5;
    chroprof__histogram_rows(c)->delay.count[chroprof__bucket(3000)] = 6;
    c->turns = turns;
    c->passes = passes;
    c->turn_max = 1001;
    c->pass_max = 3003;
    c->held_turn = 40000;
    for (held = 0; held < 2; held++) {
        c->held = held ? CHROPROF__HELD_TURN : CHROPROF__HELD_SLICE | CHROPROF__HELD_DELAY;
        chroprof__merge_loop(merging_of(&sum, p));
        CHECK_EQ(sum.core->turns, (held + 1) * turns);
        CHECK_EQ(sum.core->passes, (held + 1) * passes);
        CHECK_EQ(sum.core->turn_max, 2002);
        CHECK_EQ(sum.core->pass_max, 6006);
        CHECK_EQ(count_in(&sum, 0, false, 2000), 5 * (held + 1));
        CHECK_EQ(count_in(&sum, 0, true, 6000), 6 * (held + 1));
        CHECK_EQ(count_in(&sum, 0, false, 80000), held);
        CHECK_EQ(chroprof__histogram_rows(sum.core)->slice.min, 66);
        CHECK_EQ(chroprof__histogram_rows(sum.core)->delay.min, UINT64_MAX);
    }
    c->turn_max = 7;
    c->pass_max = 8;
    chroprof__merge_loop(merging_of(&sum, p));
    CHECK(sum.core->turn_max == 2002 && sum.core->pass_max == 6006);
    harness_keep_none();
}

/* Buckets of ns as they are; buckets of ticks by their middle, the last by the largest entry. */
TEST(histograms_are_added)
{
    static chroprof__histogram to, from, none;
    static chroprof__core c;
    const uint32_t last = CHROPROF__BUCKETS - 1;
    uint32_t k;
    for (k = 0; k < CHROPROF__BUCKETS; k++) {
        from.count[k] = k + 1;
        to.count[k] = 1000;
    }
    c.factor = UINT64_C(1) << 32;
    from.min = 50;
    to.min = 60;
    chroprof__merge_histogram(&c, &to, &from, 7);
    for (k = 0; k < CHROPROF__BUCKETS; k++)
        CHECK_EQ(to.count[k], 1001 + k);
    CHECK_EQ(to.min, 50);
    c.factor = UINT64_C(3) << 32;
    from = to = none;
    from.count[0] = 2;
    from.count[100] = 3;
    from.count[last] = 4;
    from.min = 20;
    to.min = 60;
    chroprof__merge_histogram(&c, &to, &from, UINT64_C(1) << 40);
    CHECK_EQ(to.count[chroprof__bucket(3 * chroprof__bucket_value(0))], 2);
    CHECK_EQ(to.count[chroprof__bucket(3 * chroprof__bucket_value(100))], 3);
    CHECK_EQ(to.count[chroprof__bucket(UINT64_C(3) << 40)], 4);
    CHECK_EQ(chroprof__histogram_total(&to), 9);
    CHECK_EQ(to.min, 60);
    from.min = 19;
    chroprof__merge_histogram(&c, &to, &from, 0);
    CHECK_EQ(to.min, 57);
    CHECK_EQ(to.count[0] + to.count[last], 4);      /* the last ones, as if they were 0 */
}

/* Windows of 8 ticks: in proportion, each rounded down as far as it goes. */
TEST(exec_is_spread_over_windows)
{
    static const struct { uint64_t start, end, exec, cells[5]; } rows[] = {
        { 0, 8, 100, { 100, 0, 0, 0, 0 } }, { 8, 16, 5, { 0, 5, 0, 0, 0 } },
        { 0, 16, 7, { 3, 4, 0, 0, 0 } }, { 4, 20, 160, { 40, 80, 40, 0, 0 } },
        { 5, 5, 9, { 9, 0, 0, 0, 0 } }, { 16, 16, 9, { 0, 0, 9, 0, 0 } },
        { 15, 17, 3, { 0, 1, 2, 0, 0 } }, { 0, 32, 1, { 0, 0, 0, 1, 0 } },
        { 7, 39, 64, { 2, 16, 16, 16, 14 } }, { 31, 32, 8, { 0, 0, 0, 8, 0 } }
    };
    static chroprof__core c;
    size_t k, i;
    c.window_ticks = 8;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t cells[8] = { 1, 10, 20, 30, 40, 50, 60, 70 };
        chroprof__merge_span(&c, cells, rows[k].start, rows[k].end, rows[k].exec);
        for (i = 0; i < 8; i++)
            harness_equal(__FILE__, (int)k, "cell of row number (the line)", cells[i],
                          i == 0 ? 1 : 10 * i + (i < 6 ? rows[k].cells[i - 1] : 0));
    }
}

/* Each path is floored alone; all of them are less than the limit. */
TEST(how_long_another_profile_is)
{
    chroprof *p = scene();
    uint64_t ns = 99, sum = 0;
    uint32_t k;
    CHECK(chroprof__merge_length(p, 151, &ns));
    CHECK_EQ(ns, 150);
    CHECK(!chroprof__merge_length(p, 150, &ns));
    CHECK(!chroprof__merge_length(p, 1, &ns));
    for (k = 0; k < 9; k++)
        path(k).exec = 2 * k + 1;
    p->core->factor = UINT64_C(3) << 31;            /* 3 ns are 2 ticks */
    for (k = 0; k < 9; k++)
        sum += (2 * k + 1) * 3 / 2;
    path(9).exec = 1000;
    CHECK(chroprof__merge_length(p, sum + 1, &ns));
    CHECK_EQ(ns, sum);
    CHECK(!chroprof__merge_length(p, sum, &ns));
    path(9).exec = 0;
    harness_keep_none();
}

/* Our clock goes on by their time, as if it had begun so much earlier. */
TEST(time_goes_on_by_theirs)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_options o;
    chroprof sum;
    uint64_t epoch;
    memset(&o, 0, sizeof o);
    o.window_ns = 50;
    begin_sum(&sum, memory, sizeof memory, &o);
    chroprof_event(&sum, CHROPROF_TICK, 0, NULL, 1000);
    chroprof_event(&sum, CHROPROF_TICK, 0, NULL, 1070);
    epoch = sum.core->epoch;
    sum.core->pass_start = 5;
    chroprof__merge_time(merging_of(&sum, scene()));
    CHECK_EQ(sum.core->last, 70 + 150);
    CHECK_EQ(sum.core->epoch, epoch - 150);
    CHECK_EQ(sum.core->pass_start, 155);
    CHECK_EQ(sum.core->window, 4);
    CHECK_EQ(sum.core->window_end, 250);
    CHECK(is_zero(sum.core->intervals, sizeof sum.core->intervals));
    CHECK_EQ(sum.paths[0].mark, 70);
    CHECK_EQ(cells_of(&sum, 0)[1], 50);
    CHECK_EQ(cells_of(&sum, 0)[2], 20);
}

/* >>sums: whose they are */

/* The loop's own sites have the same numbers; others that share a place are not mixed up. */
TEST(sites_of_another_profile)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    static char names[600][8];
    chroprof_options o;
    chroprof *p;
    chroprof sum;
    chroprof__merging *m;
    uint32_t k, round;
    memset(&o, 0, sizeof o);
    o.max_sites = 600;
    o.string_bytes = 8192;
    begin_sum(&sum, memory, sizeof memory, &o);
    p = fresh(&o);
    (void)chroprof_site_make(&sum, "ours", "o.c", 1);
    for (k = 0; k < 600; k++) {
        snprintf(names[k], sizeof names[k], "s%u", (unsigned)k);
        CHECK(chroprof_site_make(p, names[k], "t.c", k) != NULL);
    }
    m = merging_of(&sum, p);
    for (k = 0; k < 4; k++)
        CHECK_EQ(chroprof__merge_site(m, k), k);
    for (round = 0; round < 2; round++)
        for (k = 0; k < 200; k++) {
            CHECK_EQ(chroprof__merge_site(m, 4 + k), 5 + 2 * k);
            CHECK_EQ(chroprof__merge_site(m, 4 + 256 + k), 5 + 2 * k + 1);
            CHECK_EQ(chroprof__merge_site(m, 4 + 256 + k), 5 + 2 * k + 1);
        }
    CHECK_EQ(sum.core->tables[CHROPROF_TABLE_SITES].used, 1 + 2 * 200);
    CHECK_STR(chroprof__string(sum.core, chroprof__sites(sum.core)[5].name), "s0");
    CHECK_STR(chroprof__string(sum.core, chroprof__sites(sum.core)[6].name), "s256");
    CHECK_EQ(chroprof__sites(sum.core)[6].line, 256);
    harness_keep_none();
}

/* One that finds no room is counted once, however often it is asked for. */
TEST(sites_of_another_profile_without_room)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_options o;
    chroprof *p = scene();
    chroprof sum;
    chroprof__merging *m;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.max_sites = 1;
    begin_sum(&sum, memory, sizeof memory, &o);
    m = merging_of(&sum, p);
    for (k = 0; k < 12; k++)
        CHECK_EQ(chroprof__merge_site(m, 4 + k % 4), k % 4 == 0 ? 4 : CHROPROF__OTHER);
    CHECK_EQ(table_of(&sum, CHROPROF_TABLE_SITES).dropped, 3);
    harness_keep_none();
}

/* A chain that is there is found, one that is not is made. */
TEST(paths_of_another_profile)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = scene();
    chroprof sum;
    chroprof__merging *m;
    uint32_t k, target[9];
    begin_sum(&sum, memory, sizeof memory, NULL);
    m = merging_of(&sum, p);
    for (k = 9; k-- > 0;)
        target[k] = chroprof__merge_target(m, k);
    for (k = 0; k < 3; k++)
        CHECK_EQ(target[k], k);
    CHECK_EQ(sum.core->tables[CHROPROF_TABLE_PATHS].used, 6);
    for (k = 3; k < 9; k++) {
        const chroprof__path *row = sum.paths + target[k];
        CHECK_EQ(chroprof__merge_target(m, k), target[k]);
        CHECK_EQ(row->parent, path(k).parent < 3 ? 0 : target[path(k).parent]);
        CHECK_EQ(row->level, path(k).level);
        CHECK_EQ(row->site, chroprof__merge_site(m, path(k).site));
    }
    CHECK_EQ(sum.core->tables[CHROPROF_TABLE_PATHS].used, 6);
    harness_keep_none();
}

/* No percentiles of a site of which slices went elsewhere, on any of its paths. */
TEST(sites_without_all_their_slices)
{
    chroprof *p = scene();
    uint32_t k;
    chroprof__blur(p, path(8).site);
    for (k = 3; k < 9; k++)
        CHECK_EQ(path(k).histogram != 0, path(k).site != path(8).site);
    CHECK_EQ(chroprof__sites(p->core)[path(8).site].blurred, 1);
    CHECK_EQ(chroprof__sites(p->core)[path(3).site].blurred, 0);
    harness_keep_none();
}

/* >>sums: one profile, and once more */

static void same_rank(const chroprof_rank *a, const chroprof_rank *b)
{
    CHECK_STR(a->name, b->name);
    CHECK_STR(a->file, b->file);
    CHECK_EQ(a->line, b->line);
    CHECK(a->exec_ns == b->exec_ns && a->children_ns == b->children_ns);
    CHECK(a->exec_max_ns == b->exec_max_ns && a->slice_max_ns == b->slice_max_ns);
    CHECK(a->slice_p50_ns == b->slice_p50_ns && a->slice_p90_ns == b->slice_p90_ns);
    CHECK(a->slice_p99_ns == b->slice_p99_ns && a->slice_p999_ns == b->slice_p999_ns);
    CHECK_EQ(a->slices, b->slices);
    CHECK(a->wall_ns == b->wall_ns && a->waiting_ns == b->waiting_ns);
    CHECK(a->delay_ns == b->delay_ns && a->delay_p99_ns == b->delay_p99_ns);
    CHECK(a->blame_ns == b->blame_ns && a->calls == b->calls && a->completed == b->completed);
    CHECK(a->failed == b->failed && a->cancelled == b->cancelled);
    CHECK(a->abandoned == b->abandoned && a->live == b->live && a->stillborn == b->stillborn);
}

static void same_windows(const chroprof *sum, uint32_t ours, const chroprof *p, uint32_t theirs,
                         size_t shift)
{
    static uint64_t a[200], b[200];
    size_t count = chroprof_site_windows(p, theirs, b, 200), k;
    CHECK_EQ(chroprof_site_windows(sum, ours, a, 200), count + shift);
    for (k = 0; k < count + shift; k++)
        CHECK_EQ(a[k], (k < count ? b[k] : 0) + (shift && k >= shift ? b[k - shift] : 0));
}

/* Nothing is under way: slices that are, are in no percentile of theirs, but in ours. */
static chroprof *quiet_busy_scene(void)
{
    chroprof *p = busy_scene();
    p->core->seq--;
    at(p, 169, CANCELLED, 4, NULL);
    at(p, 200, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    return p;
}

TEST(a_sum_of_one_profile_is_that_profile)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_rank theirs[8], ours[8];
    chroprof_options o;
    chroprof *p = quiet_busy_scene();
    chroprof sum;
    size_t count = chroprof_ranks(p, theirs, 8, CHROPROF_BY_EXEC), k;
    chroprof_totals a = totals_of(p), b;
    memset(&o, 0, sizeof o);
    o.window_ns = 50;
    begin_sum(&sum, memory, sizeof memory, &o);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_ranks(&sum, ours, 8, CHROPROF_BY_EXEC), count);
    CHECK_EQ(count, 4);
    for (k = 0; k < count; k++) {
        same_rank(ours + k, theirs + k);
        same_windows(&sum, ours[k].id, p, theirs[k].id, 0);
    }
    for (k = 0; k < 3; k++)
        same_windows(&sum, (uint32_t)k, p, (uint32_t)k, 0);
    b = totals_of(&sum);
    CHECK(a.elapsed_ns == b.elapsed_ns && a.busy_ns == b.busy_ns && a.idle_ns == b.idle_ns);
    CHECK(a.loop_ns == b.loop_ns && a.untracked_ns == b.untracked_ns && a.live == b.live);
    CHECK(a.delay_ns == b.delay_ns && a.idle_blame_ns == b.idle_blame_ns);
    CHECK(a.loop_blame_ns == b.loop_blame_ns && a.untracked_blame_ns == b.untracked_blame_ns);
    CHECK(a.events == b.events && a.anomalies == b.anomalies && a.passes == b.passes);
    CHECK(a.turns == b.turns && a.turn_max_ns == b.turn_max_ns && a.pass_max_ns == b.pass_max_ns);
    CHECK(a.turn_p50_ns == b.turn_p50_ns && a.turn_p99_ns == b.turn_p99_ns);
    CHECK(a.pass_p50_ns == b.pass_p50_ns && a.pass_p99_ns == b.pass_p99_ns);
    CHECK(a.stalls == b.stalls && a.stalls == 2);
    laws(&sum);
    harness_keep_none();
}

static void same_stall(const chroprof_stall *a, const chroprof_stall *b, uint64_t later)
{
    uint32_t k;
    CHECK_EQ(a->start_ns, b->start_ns + later);
    CHECK_EQ(a->length_ns, b->length_ns);
    CHECK_EQ(a->kind, b->kind);
    CHECK_EQ(a->events, b->events);
    CHECK_EQ(a->slice_count, b->slice_count);
    CHECK(a->slice_count > 1);
    for (k = 0; k < a->slice_count; k++) {
        CHECK_EQ(a->slices[k].exec_ns, b->slices[k].exec_ns);
        CHECK_EQ(a->slices[k].id, b->slices[k].id);
        CHECK_STR(a->slices[k].name, b->slices[k].name);
    }
}

/* Its 200 ns come after the first 200, which are four windows. */
TEST(a_sum_of_a_profile_and_itself)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_rank theirs[8], ours[8];
    chroprof_stall stalls[2], sums[4];
    chroprof_options o;
    chroprof *p = quiet_busy_scene();
    chroprof sum;
    size_t count = chroprof_ranks(p, theirs, 8, CHROPROF_BY_EXEC), k;
    memset(&o, 0, sizeof o);
    o.window_ns = 50;
    begin_sum(&sum, memory, sizeof memory, &o);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_ranks(&sum, ours, 8, CHROPROF_BY_EXEC), count);
    for (k = 0; k < count; k++) {
        CHECK_EQ(ours[k].exec_ns, 2 * theirs[k].exec_ns);
        CHECK_EQ(ours[k].wall_ns, 2 * theirs[k].wall_ns);
        CHECK_EQ(ours[k].delay_ns, 2 * theirs[k].delay_ns);
        CHECK_EQ(ours[k].blame_ns, 2 * theirs[k].blame_ns);
        CHECK_EQ(ours[k].slices, 2 * theirs[k].slices);
        CHECK_EQ(ours[k].slice_p50_ns, theirs[k].slice_p50_ns);
        CHECK_EQ(ours[k].exec_max_ns, theirs[k].exec_max_ns);
        same_windows(&sum, ours[k].id, p, theirs[k].id, 4);
    }
    for (k = 0; k < 3; k++)
        same_windows(&sum, (uint32_t)k, p, (uint32_t)k, 4);
    CHECK_EQ(chroprof_stalls(p, stalls, 2), 2);
    CHECK_EQ(chroprof_stalls(&sum, sums, 4), 4);
    for (k = 0; k < 4; k++)
        same_stall(sums + k, stalls + k % 2, k / 2 * 200);
    laws(&sum);
    harness_keep_none();
}

/* Each stack has its weight, each row its stack. */
TEST(a_sum_of_one_profile_has_its_samples)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = sampled_scene();
    chroprof sum;
    uint64_t times, k;
    begin_sum(&sum, memory, sizeof memory, NULL);
    node(p, 0)->weight += 3;                /* of stacks that did not fit */
    node(p, 0)->cpu_ns += 4;
    sampler(p)->samples += 3;
    sampler(p)->dropped += 3;
    sampler(p)->dropped_cpu_ns += 4;
    sampler(p)->inside = 2;
    laws(p);
    for (times = 1; times <= 2; times++) {
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
        CHECK_EQ(sum.core->tables[CHROPROF__STACKS].used, 5);
        for (k = 0; k <= 5; k++) {
            CHECK_EQ(node(&sum, (uint32_t)k)->weight, times * node(p, (uint32_t)k)->weight);
            CHECK_EQ(node(&sum, (uint32_t)k)->cpu_ns, times * node(p, (uint32_t)k)->cpu_ns);
            CHECK_EQ(node(&sum, (uint32_t)k)->module, node(p, (uint32_t)k)->module);
        }
        CHECK_EQ(sum.core->tables[CHROPROF_TABLE_SAMPLES].used, 5 * times);
        for (k = 0; k < 5 * times; k++) {
            const chroprof__sample *a = chroprof__sample_row(&sum, k);
            const chroprof__sample *b = chroprof__sample_row(p, k % 5);
            CHECK(a->stack == b->stack && a->weight == b->weight && a->cpu_ns == b->cpu_ns);
            CHECK(a->state == b->state && a->time == b->time + 150 * (k / 5));
        }
        CHECK_EQ(sampler(&sum)->samples, times * 15);
        CHECK_EQ(sampler(&sum)->dropped, times * 3);
        CHECK_EQ(sampler(&sum)->dropped_cpu_ns, times * 4);
        CHECK_EQ(sampler(&sum)->inside, times * 2);
        laws(&sum);
    }
    harness_keep_none();
}

/* Stalls of its own follow those that were merged, where these would have been. */
TEST(stalls_after_a_sum)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof_stall stalls[20];
    chroprof_options o;
    chroprof sum;
    uint32_t most, k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 100;
    for (most = 4; most <= 9; most++) {
        const uint32_t longest = most / 2 + most % 2;
        uint64_t elapsed;
        o.max_stalls = most;
        begin_sum(&sum, memory, sizeof memory, &o);
        CHECK_EQ(chroprof_merge(&sum, ten_stalls(64)), CHROPROF_OK);
        elapsed = totals_of(&sum).elapsed_ns;
        chroprof_event(&sum, CHROPROF_ENTER, 0, &A, 500);
        chroprof_event(&sum, CHROPROF_LEAVE, 0, NULL, 700);
        CHECK_EQ(totals_of(&sum).stalls, 11);
        CHECK_EQ(chroprof_stalls(&sum, stalls, 20), most);
        for (k = 0; k < most; k++)
            CHECK_EQ(stalls[k].start_ns, k + 1 == most ? elapsed
                                         : 10000 * (k < longest ? k : 11 - most + k));
        laws(&sum);
    }
    harness_keep_none();
}

/* A slice of 30 of which 15 were before: its count is in the bucket of 30, and the shortest that
 * the histogram knows is 30, but no slice was longer than 15 since. */
TEST(percentiles_of_a_slice_that_began_before)
{
    static union { uint64_t word; unsigned char bytes[HARNESS_MEMORY]; } result;
    chroprof *p = fresh(NULL);
    chroprof older, since;
    chroprof_rank r;
    at(p, 100, PENDING, 1, &A);
    at(p, 100, RUNNING, 1, NULL);
    at(p, 115, TICK, 0, NULL);
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    at(p, 130, PAUSED, 1, NULL);
    at(p, 140, TICK, 0, NULL);
    CHECK_EQ(chroprof_difference(p, &older, result.bytes, sizeof result), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&since, result.bytes, sizeof result), CHROPROF_OK);
    r = rank_of(&since, "accept");
    CHECK_EQ(r.slices, 1);
    CHECK_EQ(r.exec_ns, 15);
    CHECK_EQ(r.slice_max_ns, 15);
    CHECK(r.has_percentiles);
    CHECK_EQ(r.slice_p50_ns, 15);
    CHECK_EQ(r.slice_p99_ns, 15);
}

#define SINCE_CASES                                                                                \
    CASE(figures_of_a_path_since_the_older_state),                                                 \
    CASE(figures_of_a_path_that_fell),                                                             \
    CASE(blame_below_nothing_is_lifted),                                                           \
    CASE(what_a_newer_state_holds_back_is_settled),                                                \
    CASE(entries_of_a_histogram_since_the_older_one),                                              \
    CASE(maxima_since_the_older_state),                                                            \
    CASE(maxima_of_a_path_since_the_older_state),                                                  \
    CASE(maxima_of_the_loop_since_the_older_state),                                                \
    CASE(states_that_can_follow),                                                                  \
    CASE(figures_of_all_paths_since_the_older_state),                                              \
    CASE(states_of_one_profile),                                                                   \
    CASE(entries_of_all_histograms_since_the_older_state),                                         \
    CASE(stays_that_are_still_the_same),                                                           \
    CASE(exec_of_a_future_that_was_live_before),                                                   \
    CASE(exec_of_futures_since_the_older_state),                                                   \
    CASE(a_stay_since_the_older_state),                                                            \
    CASE(stays_since_the_older_state),                                                             \
    CASE(stalls_since_the_older_state),                                                            \
    CASE(cells_since_the_older_state),                                                             \
    CASE(cells_of_windows_that_became_one),                                                        \
    CASE(windows_since_the_older_state),                                                           \
    CASE(counts_since_the_older_state),                                                            \
    CASE(the_core_since_the_older_state),                                                          \
    CASE(parts_are_taken_as_far_as_they_go),                                                       \
    CASE(one_sample_too_many_before),                                                              \
    CASE(rows_of_samples_since_the_older_state),                                                   \
    CASE(counts_of_the_sampler_since_the_older_state),                                             \
    CASE(lives_are_added),                                                                         \
    CASE(counts_are_added),                                                                        \
    CASE(settings_of_the_first_sampler_stay),                                                      \
    CASE(turns_and_passes_are_added),                                                              \
    CASE(histograms_are_added),                                                                    \
    CASE(exec_is_spread_over_windows),                                                             \
    CASE(how_long_another_profile_is),                                                             \
    CASE(time_goes_on_by_theirs),                                                                  \
    CASE(sites_of_another_profile),                                                                \
    CASE(sites_of_another_profile_without_room),                                                   \
    CASE(paths_of_another_profile),                                                                \
    CASE(sites_without_all_their_slices),                                                          \
    CASE(a_sum_of_one_profile_is_that_profile),                                                    \
    CASE(a_sum_of_a_profile_and_itself),                                                           \
    CASE(a_sum_of_one_profile_has_its_samples),                                                    \
    CASE(stalls_after_a_sum),                                                                      \
    CASE(percentiles_of_a_slice_that_began_before)

#endif
