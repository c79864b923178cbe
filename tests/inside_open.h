/* tests/inside_open.h - part of test_inside.c: what chroprof_check and chroprof_open still take and
 * what they take no more, question by question, right beside each bound; handles. */
#ifndef INSIDE_OPEN_H
#define INSIDE_OPEN_H

/* >>check */

static uint32_t last_in_preorder(const chroprof *p)
{
    uint32_t k = p->paths[0].next;
    while (p->paths[k].next != 0)
        k = p->paths[k].next;
    return k;
}

/* A cycle is one, wherever it goes back to; a first path is a root. */
TEST(check_of_a_preorder_that_goes_wrong)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 9, &B);               /* a root that the others come before */
    at(p, 0, ENTER, 0, &A);
    at(p, 0, ENTER, 0, &C);
    at(p, 0, ENTER, 0, &D);
    CHECK_EQ(path(6).level, 3);
    CHECK_EQ(last_in_preorder(p), 3);
    path(3).next = 6;
    CHECK_STR(chroprof_check(p), PREORDER);
    path(3).next = 0;
    CHECK(chroprof_check(p) == NULL);
    path(0).next = 5;
    CHECK_STR(chroprof_check(p), LEVEL);
    path(0).next = 4;
    path(5).next = 3;
    CHECK_STR(chroprof_check(p), "every path is in the preorder once");
    harness_keep_none();
}

/* All that a profile without any event has. */
TEST(check_of_an_empty_profile)
{
    chroprof *p = fresh(NULL);
    chroprof nothing;
    memset(&nothing, 0, sizeof nothing);
    CHECK(chroprof_check(NULL) == NULL);
    CHECK(chroprof_check(&nothing) == NULL);
    CHECK(chroprof_check(p) == NULL);
    p->core->seq = 2;
    CHECK(chroprof_check(p) == NULL);
    p->core->seq = 3;
    CHECK_STR(chroprof_check(p), MAGIC);
}

/* What is exactly at its bound holds. */
TEST(check_of_what_is_just_right)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_futures = 2;
    p = fresh(&o);
    at(p, 10, PENDING, 1, &A);
    at(p, 10, PENDING, 2, &B);              /* as many as there is room for, since just now */
    at(p, 10, RUNNING, 1, NULL);
    CHECK_EQ(used(FUTURES), capacity(FUTURES));
    CHECK_EQ(slot(2)->since, p->core->last);
    CHECK_EQ(frame(1).pushed, p->core->last);
    CHECK_EQ(frame(1).start, p->core->last);
    CHECK(chroprof_check(p) == NULL);
    at(p, 17, PAUSED, 1, NULL);
    at(p, 20, LOOP_ENTER, 0, NULL);
    at(p, 21, IDLE_ENTER, 0, NULL);         /* idle within a nested loop */
    CHECK_EQ(p->core->account, CHROPROF__IDLE);
    CHECK_EQ(p->core->depth, p->core->floor);
    CHECK(chroprof_check(p) == NULL);
}

/* A merged profile's live calls count as calls; stillborn are apart. */
TEST(check_adds_up_calls_that_were_merged)
{
    chroprof *p = busy_scene();             /* with finished calls of each kind */
    CHECK(path(3).completed > 0 && path(3).failed > 0 && path(3).cancelled > 1);
    CHECK(path(3).abandoned > 0);
    CHECK_EQ(path(3).merged_live, 1);
    p->core->seq--;
    CHECK(chroprof_check(p) == NULL);
    p = scene();
    path(3).merged_live = 5;
    CHECK_STR(chroprof_check(p), CALLS);
    path(3).calls += 5;
    CHECK(chroprof_check(p) == NULL);
    path(3).stillborn += 7;
    CHECK(chroprof_check(p) == NULL);
    path(8).completed++;
    CHECK_STR(chroprof_check(p), CALLS);
    harness_keep_none();
}

/* A slice that is held back is the one that the histogram lacks: of its own row only. */
TEST(check_knows_what_is_held_back)
{
    const char *text = "a site's histogram has an entry for each slice that ended";
    chroprof *p = scene();
    uint32_t row = path(3).histogram;
    at(p, 160, LEAVE, 0, NULL);
    at(p, 170, PAUSED, 1, NULL);
    CHECK(p->core->held & CHROPROF__HELD_SLICE);
    CHECK_EQ(p->core->held_slice_row, row);
    p->core->held_slice_row = row + 1;
    CHECK_STR(chroprof_check(p), text);
    p->core->held_slice_row = row;
    p->core->held &= ~(uint32_t)CHROPROF__HELD_SLICE;
    CHECK_STR(chroprof_check(p), text);
    first_count(p, 3)[chroprof__bucket(p->core->held_slice)]++;
    CHECK(chroprof_check(p) == NULL);
    first_count(p, 3)[CHROPROF__BUCKETS - 1]++;
    CHECK_STR(chroprof_check(p), text);
    first_count(p, 3)[CHROPROF__BUCKETS - 1]--;
    p->core->held |= CHROPROF__HELD_SLICE;
    CHECK_STR(chroprof_check(p), text);
    harness_keep_none();
}

/* >>handles */

/* The short way only where nothing else is to be done; the long one while the sampler runs, and to
 * count events that come from on_stall. */
TEST(which_way_events_take)
{
    int k;
    for (k = 0; k < 8; k++) {
        bool taking = k & 1, sampling = k & 2, inside = k & 4;
        chroprof p;
        memset(&p, 0, sizeof p);
        p.sampling = sampling;
        p.in_callback = inside;
        chroprof__set_taking(&p, taking);
        CHECK_EQ(p.taking, taking);
        CHECK_EQ(p.on, taking && !sampling);
        CHECK_EQ(p.detour, inside || (taking && sampling));
    }
}

/* >>open: bounds. ok(condition): it is so as the scene is, and after what follows it. */

static void bounds_of_capacities(void)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT + 1], k;
    for (k = 0; k <= CHROPROF_TABLE_COUNT; k++)
        capacity[k] = 1;
    capacity[CHROPROF_TABLE_COUNT] = 0;     /* of no table */
    CHECK(chroprof__open_capacities(capacity));
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        bool narrow = k == CHROPROF_TABLE_DEPTH || k == CHROPROF_TABLE_WINDOWS;
        capacity[k] = 0;
        CHECK_EQ(chroprof__open_capacities(capacity),
                 k == CHROPROF_TABLE_HISTOGRAMS || k == CHROPROF_TABLE_SAMPLES);
        capacity[k] = narrow ? 65000 : 1u << 28;
        CHECK(chroprof__open_capacities(capacity));
        capacity[k]++;
        CHECK(!chroprof__open_capacities(capacity));
        capacity[k] = 1;
    }
}

TEST(open_takes_capacities_within_limits)
{
    bounds_of_capacities();
}

/* Each table where these capacities put it, with so many rows. */
TEST(open_compares_each_table_with_its_place)
{
    chroprof *p = scene();
    chroprof__core *c = p->core;
    uint32_t k;
    CHECK(chroprof__open_layout(c));
    for (k = 0; k < CHROPROF__TABLES; k++) {
        chroprof__table saved = c->tables[k];
        c->tables[k].offset ^= 64;
        CHECK(!chroprof__open_layout(c));
        c->tables[k] = saved;
        c->tables[k].bytes ^= 1;
        CHECK(!chroprof__open_layout(c));
        c->tables[k] = saved;
        c->tables[k].rows ^= 1;
        CHECK(!chroprof__open_layout(c));
        c->tables[k] = saved;
        c->tables[k].capacity ^= 1;
        CHECK(!chroprof__open_layout(c));
        c->tables[k] = saved;
    }
    c->block_bytes--;
    CHECK(!chroprof__open_layout(c));
    c->block_bytes = UINT64_MAX;
    CHECK(!chroprof__open_layout(c));
    c->tables[CHROPROF_TABLE_SITES].capacity = 1u << 28;    /* rows that no number can count */
    c->tables[CHROPROF_TABLE_WINDOWS].capacity = 65000;
    CHECK(!chroprof__open_layout(c));
    harness_keep_none();
}

/* What an error says depends on how much of the core is there. */
TEST(open_says_what_is_wrong_with_a_header)
{
    static const struct {
        size_t size, field;
        uint32_t value;
        chroprof_result result;
    } rows[] = {
        { 0, 0, 0, CHROPROF_ERR_TRUNCATED },
        { offsetof(chroprof__core, pid) - 1, offsetof(chroprof__core, order), 0x04030201,
          CHROPROF_ERR_TRUNCATED },
        { offsetof(chroprof__core, pid), offsetof(chroprof__core, order), 0x04030201,
          CHROPROF_ERR_BYTE_ORDER },
        { offsetof(chroprof__core, pid), offsetof(chroprof__core, layout), CHROPROF__LAYOUT + 1,
          CHROPROF_ERR_VERSION },
        { offsetof(chroprof__core, pid), offsetof(chroprof__core, core_bytes),
          sizeof(chroprof__core) + 8, CHROPROF_ERR_VERSION },
        { offsetof(chroprof__core, pid), 0, 0, CHROPROF_ERR_TRUNCATED },
        { sizeof(chroprof__core) - 1, 0, 0, CHROPROF_ERR_TRUNCATED },
        { sizeof(chroprof__core) - 1, offsetof(chroprof__core, order), 0x01020305,
          CHROPROF_ERR_TRUNCATED },
        { sizeof(chroprof__core), offsetof(chroprof__core, order), 0x01020305,
          CHROPROF_ERR_CORRUPT },
        { sizeof(chroprof__core), 0, 0, CHROPROF_ERR_TRUNCATED }
    };
    chroprof *p = scene();
    uint64_t bytes = p->core->block_bytes;
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__core copy = *p->core;
        if (rows[k].field)
            memcpy((char *)&copy + rows[k].field, &rows[k].value, sizeof rows[k].value);
        harness_equal(__FILE__, (int)k, "chroprof__open_header of row number (the line)",
                      chroprof__open_header(&copy, rows[k].size), rows[k].result);
    }
    CHECK_EQ(chroprof__open_header(p->core, bytes - 1), CHROPROF_ERR_TRUNCATED);
    CHECK_EQ(chroprof__open_header(p->core, bytes), CHROPROF_OK);
    CHECK_EQ(chroprof__open_header(p->core, UINT64_MAX), CHROPROF_OK);
}

/* Full tables are taken, and none with one row more. */
TEST(open_takes_tables_that_are_full)
{
    static const uint32_t counted[] = {
        CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_SITES, CHROPROF_TABLE_PATHS, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_STALLS, CHROPROF_TABLE_SAMPLES, CHROPROF__MODULES
    };
    chroprof *p = scene();
    chroprof__core *c = p->core;
    chroprof__table *stacks = &c->tables[CHROPROF__STACKS];
    chroprof__table *strings = &c->tables[CHROPROF_TABLE_STRINGS];
    size_t k;
    CHECK(chroprof__open_uses(c));
    for (k = 0; k < sizeof counted / sizeof *counted; k++) {
        chroprof__table *table = &c->tables[counted[k]];
        uint64_t was = table->used;
        table->used = table->capacity;
        CHECK(chroprof__open_uses(c));
        table->used = table->capacity + UINT64_C(1);
        CHECK(!chroprof__open_uses(c));
        table->used = was;
    }
    stacks->used = stacks->rows - UINT64_C(1);      /* number 0 is no frame */
    CHECK(chroprof__open_uses(c));
    stacks->used = stacks->rows;
    CHECK(!chroprof__open_uses(c));
    stacks->rows = 0;
    stacks->used = 0;
    CHECK(chroprof__open_uses(c));
    stacks->used = 1;
    CHECK(!chroprof__open_uses(c));
    stacks->used = 0;
    for (k = CHROPROF__OWN_STRINGS - 1; k < strings->bytes + 2; k++) {
        strings->used = k;
        CHECK_EQ(chroprof__open_uses(c), k >= CHROPROF__OWN_STRINGS && k <= strings->bytes);
    }
    harness_keep_none();
}

#define CORE_BOUNDS(X)                                                                             \
    X(true, p->core->factor = 1)                                                                   \
    X(false, p->core->factor = 0)                                                                  \
    X(true, p->core->last = CHROPROF__END_OF_TIME - 1)                                             \
    X(false, p->core->last = CHROPROF__END_OF_TIME)                                                \
    X(true, (p->core->window = capacity(WINDOWS) - 1, p->core->window_ticks = 1))                  \
    X(false, (p->core->window = capacity(WINDOWS), p->core->window_ticks = 1))                     \
    X(true, (p->core->window = 0, p->core->window_ticks = UINT64_MAX))                             \
    X(false, (p->core->window = 0, p->core->window_ticks = 0))                                     \
    X(true, p->core->window_phase = p->core->window_ticks - 1)                                     \
    X(false, p->core->window_phase = p->core->window_ticks)                                        \
    X(true, (p->core->window_ticks = UINT64_MAX, p->core->window = 0,                              \
             p->core->window_phase = CHROPROF__END_OF_TIME - 1))                                   \
    X(false, (p->core->window_ticks = UINT64_MAX, p->core->window = 0,                             \
              p->core->window_phase = CHROPROF__END_OF_TIME))                                      \
    X(true, p->core->window = 3)                                                                   \
    X(false, p->core->window = 4)                                                                  \
    X(false, (p->core->window = 4, p->core->window_phase = 49))                                    \
    X(true, (p->core->last = 151, p->core->window = 4, p->core->window_phase = 49))                \
    X(true, p->core->window = 3 | 62u << 16)                                                       \
    X(false, p->core->window = 3 | 63u << 16)                                                      \
    X(true, p->core->depth = capacity(DEPTH))                                                      \
    X(false, p->core->depth = capacity(DEPTH) + 1)                                                 \
    X(true, p->core->floor = 5)                                                                    \
    X(false, p->core->floor = 6)                                                                   \
    X(true, p->core->account = 8)                                                                  \
    X(false, p->core->account = 9)                                                                 \
    X(true, (p->core->hidden = 1, p->core->hidden_since = 150))                                    \
    X(false, (p->core->hidden = 1, p->core->hidden_since = 151))                                   \
    X(false, (p->core->hidden = 2, p->core->hidden_since = 151))                                   \
    X(true, (p->core->hidden = 0, p->core->hidden_since = 151))                                    \
    X(true, p->core->name[CHROPROF__NAME_BYTES - 2] = 'x')                                         \
    X(true, p->core->host[CHROPROF__NAME_BYTES - 2] = 'x')                                         \
    X(true, p->core->program[CHROPROF__NAME_BYTES - 2] = 'x')                                      \
    X(false, p->core->name[CHROPROF__NAME_BYTES - 1] = 'x')                                        \
    X(false, p->core->host[CHROPROF__NAME_BYTES - 1] = 'x')                                        \
    X(false, p->core->program[CHROPROF__NAME_BYTES - 1] = 'x')                                     \
    X(false, used(FUTURES) = capacity(FUTURES) + UINT64_C(1))

/* One line each: does the scene with this change pass the question? */
#define ASK(want, poke)                                                                            \
    p = scene();                                                                                   \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, QUESTION, want);

TEST(open_asks_the_core)
{
    chroprof *p;
#define QUESTION chroprof__open_core(p->core)
    CORE_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

/* Offsets of strings: 0, and whatever follows a NUL and is in use. */
TEST(open_asks_where_a_string_begins)
{
    chroprof *p = scene();
    const char *strings = chroprof__string(p->core, 0);
    uint32_t k;
    for (k = 0; k < used(STRINGS) + 3; k++)
        CHECK_EQ(chroprof__open_string(p->core, k),
                 k < used(STRINGS) && (k == 0 || strings[k - 1] == '\0'));
}

#define SITE_BOUNDS(X)                                                                             \
    X(true, site_of(p, 8)->first_path = 8)                                                         \
    X(false, site_of(p, 8)->first_path = 9)                                                        \
    X(true, site_of(p, 8)->name = 0)                                                               \
    X(false, site_of(p, 8)->name = 7)                                                              \
    X(false, site_of(p, 8)->name = (uint32_t)used(STRINGS))                                        \
    X(true, site_of(p, 8)->file = 5)                                                               \
    X(false, site_of(p, 8)->file = 6)                                                              \
    X(true, (p->core->window = 2 << 16, cells_of(p, path(8).site)[0] = 2))                         \
    X(false, (p->core->window = 2 << 16, cells_of(p, path(8).site)[0] = 3))

TEST(open_asks_each_site)
{
    chroprof *p;
#define QUESTION chroprof__open_site(p, path(8).site)
    SITE_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

/* The first site and the last; chains that go the wrong way, or to another site's path. */
#define SITES_BOUNDS(X)                                                                            \
    X(true, (void)p)                                                                               \
    X(false, chroprof__sites(p->core)[0].name = 7)                                                 \
    X(false, chroprof__sites(p->core)[chroprof__site_count(p) - 1].name = 7)                       \
    X(true, chroprof__sites(p->core)[chroprof__site_count(p)].name = 7)                            \
    X(false, ((char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS))[used(STRINGS) - 1] = 'x')   \
    X(false, path(6).same_site = 6)                                                                \
    X(false, path(6).same_site = 7)                                                                \
    X(false, path(6).same_site = 5)                                                                \
    X(false, path(7).same_site = 0)                                                                \
    X(false, site_of(p, 3)->first_path = 0)                                                        \
    X(false, used(PATHS)--)

TEST(open_asks_all_sites)
{
    chroprof *p = scene();
    CHECK_EQ(site_of(p, 8)->first_path, 8);
    CHECK_EQ(path(8).same_site, 7);
    CHECK_EQ(path(7).same_site, 6);
    CHECK_EQ(path(6).same_site, 0);
#define QUESTION chroprof__open_sites(p)
    SITES_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

#define TAG(level, index) ((uint32_t)(level) << 16 | (index))
#define TAG_BOUNDS(X)                                                                              \
    X(true, path(8).window = TAG(2, 3))                                                            \
    X(false, path(8).window = TAG(2, 4))                                                           \
    X(false, path(8).window = TAG(3, 0))                                                           \
    X(true, path(8).window = TAG(1, 7))                                                            \
    X(false, path(8).window = TAG(1, 8))                                                           \
    X(true, path(8).window = TAG(0, 15))                                                           \
    X(false, path(8).window = TAG(0, 16))

/* No tag is ahead of window 3 of level 2, whatever its own level. */
TEST(open_asks_for_the_window_of_a_path)
{
    chroprof *p;
#define QUESTION (p->core->window = TAG(2, 3), chroprof__open_tag(p->core, &path(8)))
    TAG_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

#define OWN_PATH_BOUNDS(X)                                                                         \
    X(true, (void)p)                                                                               \
    X(false, path(own).site = (own + 1) % 3)                                                       \
    X(false, path(own).parent = 1)                                                                 \
    X(false, path(own).level = 1)                                                                  \
    X(false, path(own).histogram = 1)                                                              \
    X(own == CHROPROF__LOOP, path(own).next = 3)                                                   \
    X(false, path(own).window = p->core->window + 1)                                               \
    X(true, path(own).window = p->core->window)

TEST(open_asks_each_path_of_the_loop)
{
    chroprof *p;
    uint32_t own;
    for (own = 0; own < CHROPROF__FIRST_PATH; own++) {
#define QUESTION chroprof__open_own_path(p, own)
        OWN_PATH_BOUNDS(ASK)
#undef QUESTION
    }
    harness_keep_none();
}

/* Of path 4, accept;reply. The scene has 8 sites, that is, levels up to 8. */
#define PATH_BOUNDS(X)                                                                             \
    X(true, (void)p)                                                                               \
    X(true, path(4).site = CHROPROF__OTHER)                                                        \
    X(false, path(4).site = CHROPROF__OTHER - 1)                                                   \
    X(true, path(4).site = 7)                                                                      \
    X(false, path(4).site = 8)                                                                     \
    X(false, path(4).parent = 4)                                                                   \
    X(false, (path(4).parent = 5, path(5).level = 1))                                              \
    X(true, (path(4).parent = CHROPROF__LOOP, path(4).level = 1))                                  \
    X(false, (path(4).parent = CHROPROF__IDLE, path(4).level = 1))                                 \
    X(false, (path(4).parent = CHROPROF__UNTRACKED, path(4).level = 1))                            \
    X(false, path(4).level = 1)                                                                    \
    X(false, path(4).level = 3)                                                                    \
    X(true, (path(3).level = 7, path(4).level = 8))                                                \
    X(false, (path(3).level = 8, path(4).level = 9))                                               \
    X(true, path(4).histogram = 0)                                                                 \
    X(true, path(4).histogram = table(HISTOGRAMS).rows - 1)                                        \
    X(false, path(4).histogram = table(HISTOGRAMS).rows)                                           \
    X(true, path(4).window = p->core->window)                                                      \
    X(false, path(4).window = p->core->window + 1)

TEST(open_asks_each_path)
{
    chroprof *p = scene();
    CHECK_EQ(chroprof__site_count(p), 8);
#define QUESTION chroprof__open_path(p, 4)
    PATH_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

#define PATHS_BOUNDS(X)                                                                            \
    X(true, (void)p)                                                                               \
    X(false, path(0).site = 1)                                                                     \
    X(false, path(2).site = 3)                                                                     \
    X(false, path(3).site = 2)                                                                     \
    X(false, path(8).site = 2)                                                                     \
    X(true, path(9).site = 99)                                                                     \
    X(false, path(0).next = 0)                                                                     \
    X(false, path(0).next = 1)                                                                     \
    X(false, path(0).next = 2)                                                                     \
    X(false, path(last_in_preorder(p)).next = 9)                                                   \
    X(false, path(last_in_preorder(p)).next = 2)                                                   \
    X(false, (skip_first_path(p), path(last_in_preorder(p)).next = 9))                             \
    X(false, close_the_preorder(p))                                                                \
    X(false, skip_first_path(p))

TEST(open_asks_all_paths)
{
    chroprof *p;
#define QUESTION chroprof__open_paths(p)
    PATHS_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

/* Of frame 4, the second one of future 1, above a barrier and the frame 2. */
#define FRAME_BOUNDS(X)                                                                            \
    X(true, (void)p)                                                                               \
    X(true, frame(4).path = 8)                                                                     \
    X(false, frame(4).path = 9)                                                                    \
    X(false, frame(4).same = 4)                                                                    \
    X(true, frame(4).same = 0)                                                                     \
    X(false, frame(4).same = 1)                                                                    \
    X(false, frame(4).id = 77)                                                                     \
    X(false, frame(4).slot = p->slots)                                                             \
    X(false, frame(4).slot++)                                                                      \
    X(false, frame(4).id = 0)                                                                      \
    X(true, frame(4).id = frame(4).same = 0)

TEST(open_asks_each_frame)
{
    chroprof *p;
    uint32_t k;
#define QUESTION chroprof__open_frame(p, 4)
    FRAME_BOUNDS(ASK)
#undef QUESTION
    for (k = 0; k <= 6; k++) {
        p = scene();
        frame(k).path = k == 0 ? 1 : 9;
        CHECK_EQ(chroprof__open_frames(p), k == 6);
    }
    harness_keep_none();
}

#define FUTURE_BOUNDS(X)                                                                           \
    X(true, (void)p)                                                                               \
    X(true, slot(1)->path = 8)                                                                     \
    X(false, slot(1)->path = 9)                                                                    \
    X(false, slot(1)->frame = 6)                                                                   \
    X(false, slot(1)->frame = 5)                                                                   \
    X(false, slot(1)->frame = 1)                                                                   \
    X(true, slot(1)->frame = 2)                                                                    \
    X(true, slot(1)->frame = 0)                                                                    \
    X(false, frame(4).id = 2)                                                                      \
    X(false, frame(4).slot++)                                                                      \
    X(true, slot(1)->state = CHROPROF_PAUSED)                                                      \
    X(false, slot(1)->state = CHROPROF_PAUSED + 1)                                                 \
    X(true, slot(1)->state = CHROPROF__GONE)                                                       \
    X(false, (slot(1)->state = CHROPROF__GONE, slot(1)->frame = 0))                                \
    X(false, slot(1)->state = CHROPROF__GONE - 1)

TEST(open_asks_each_future)
{
    chroprof *p;
#define QUESTION chroprof__open_future(p, (uint32_t)(slot(1) - p->futures))
    FUTURE_BOUNDS(ASK)
#undef QUESTION
    harness_keep_none();
}

/* A row is found if no empty one lies between its home and it. */
TEST(open_asks_whether_a_row_is_found)
{
    static const struct { uint32_t k, home, rows, least; } rows[] = {
        { 5, 5, 10, 1 }, { 5, 4, 10, 2 }, { 9, 0, 10, 10 }, { 0, 9, 10, 2 }, { 0, 1, 10, 10 },
        { 2, 8, 10, 5 }, { 0, 0, 1, 1 }
    };
    size_t k;
    uint32_t run;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        for (run = 0; run < 12; run++)
            CHECK_EQ(chroprof__open_found(rows[k].k, rows[k].home, rows[k].rows, run),
                     run >= rows[k].least);
}

#define EDGE_BOUNDS(X)                                                                             \
    X(true, edge.path = 8)                                                                         \
    X(false, edge.path = 9)                                                                        \
    X(true, edge.target = 7)                                                                       \
    X(true, edge.target = 8)                                                                       \
    X(false, edge.target = 5)                                                                      \
    X(false, (edge.target = 9, edge.site = path(9).site))

TEST(open_asks_each_edge)
{
    chroprof *p;
    chroprof__edge edge;
#define QUESTION chroprof__open_edge(p, &edge)
#define FRESH_EDGE(want, poke)                                                                     \
    p = scene();                                                                                   \
    memset(&edge, 0, sizeof edge);                                                                 \
    edge.target = 8;                                                                               \
    edge.site = path(8).site;                                                                      \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, QUESTION, want);
    EDGE_BOUNDS(FRESH_EDGE)
#undef FRESH_EDGE
#undef QUESTION
}

/* A table of futures or edges around whose end the full rows go. */
static void fill_row(const chroprof *p, uint32_t k, uint32_t home)
{
    uint64_t id = 0;
    do {
        id++;
    } while (chroprof__hash_index(id, p->slots) != home || slot(id)->id == id);
    p->futures[k].id = id;
    p->futures[k].path = 3;
    p->futures[k].state = CHROPROF_PENDING;
    p->core->tables[CHROPROF_TABLE_FUTURES].used++;
}

TEST(open_follows_full_rows_around_the_end)
{
    chroprof_options o;
    chroprof *p;
    uint32_t rows, k;
    memset(&o, 0, sizeof o);
    o.max_futures = 5;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    rows = p->slots;
    CHECK(chroprof__open_futures(p));
    fill_row(p, rows - 2, rows - 2);
    fill_row(p, rows - 1, rows - 2);
    fill_row(p, 0, rows - 2);
    fill_row(p, 1, 0);
    CHECK(chroprof__open_futures(p));
    used(FUTURES)++;
    CHECK(!chroprof__open_futures(p));
    used(FUTURES)--;
    p->futures[1].state = CHROPROF_PAUSED + 1;
    CHECK(!chroprof__open_futures(p));
    p->futures[1].state = CHROPROF_PENDING;
    memset(&p->futures[rows - 1], 0, sizeof *p->futures);
    used(FUTURES)--;
    CHECK(!chroprof__open_futures(p));              /* row 0 is not found any more */
    memset(p->futures, 0, 2 * sizeof *p->futures);
    used(FUTURES) -= 2;
    CHECK(chroprof__open_futures(p));
    fill_row(p, 0, rows - 1);
    CHECK(!chroprof__open_futures(p));
    for (k = 0; k < rows; k++) {
        memset(&p->futures[k], 0, sizeof *p->futures);
        p->futures[k].id = k + 1;
    }
    CHECK(!chroprof__open_futures(p));              /* nothing that is not there would be */
    harness_keep_none();
}

static bool opens(const chroprof *p)
{
    chroprof view;
    return chroprof_open(&view, p->core, (size_t)p->core->block_bytes) == CHROPROF_OK;
}

/* >>open and check: tables of a few rows, with others behind them that are not theirs */

enum { FEW = 4 };

/* An edge whose home is this row, and that is not there yet. */
static void add_edge(const chroprof *p, uint32_t home)
{
    uint32_t from, target;
    for (from = 0; from < 9; from++)
        for (target = 3; target < 9; target++) {
            const uint32_t site = path(target).site;
            const uint64_t key = (uint64_t)from << 32 ^ site;
            chroprof__edge *edge = chroprof__find_edge(p->core, from, site);
            if (chroprof__hash_index(key, FEW) != home || edge->site != 0)
                continue;
            edge->path = from;
            edge->site = site;
            edge->target = target;
            used(EDGES)++;
            return;
        }
    harness_fail(__FILE__, __LINE__, "no such edge");
}

/* No edges in a table of so few rows; what lies behind it looks like full ones. */
static chroprof *few_edges(void)
{
    chroprof *p = scene();
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    memset(edges, 0, 8 * sizeof *edges);
    table(EDGES).rows = FEW;
    edges[FEW].site = path(3).site;
    edges[FEW].path = 99;
    used(EDGES) = 0;
    CHECK(chroprof__open_edges(p) && chroprof__check_edges(p) == NULL);
    return p;
}

static void check_few_edges(const chroprof *p, bool opens, const char *broken)
{
    const char *said = chroprof__check_edges(p);
    CHECK_EQ(chroprof__open_edges(p), opens);
    if (broken == NULL)
        CHECK(said == NULL);
    else
        CHECK_STR(said, broken);
}

TEST(edges_in_the_first_row_and_the_last)
{
    const char *count = "the count of edges is that of their rows";
    const char *ends = "an edge joins two paths";
    uint32_t row;
    for (row = 0; row < FEW; row++) {
        chroprof *p = few_edges();
        chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
        add_edge(p, row);
        CHECK(edges[row].site != 0);
        check_few_edges(p, true, NULL);
        used(EDGES)++;
        check_few_edges(p, false, count);
        used(EDGES) -= 2;
        check_few_edges(p, false, count);
        used(EDGES)++;
        add_edge(p, row);
        add_edge(p, row);                   /* the last two rows go on at the first */
        check_few_edges(p, true, NULL);
        edges[(row + 2) % FEW].target = 9;
        check_few_edges(p, false, ends);
        edges[(row + 2) % FEW].target = 8;
        edges[(row + 2) % FEW].path = 9;
        check_few_edges(p, false, ends);
        edges[(row + 2) % FEW].path = edges[row].path;
        edges[(row + 2) % FEW].target = edges[row].target;
        edges[(row + 2) % FEW].site = edges[row].site;
        check_few_edges(p, true, "every edge is found by its path and site");
        memset(edges + (row + 1) % FEW, 0, sizeof *edges);
        used(EDGES)--;
        check_few_edges(p, false, "every edge is found by its path and site");
        edges[(row + 1) % FEW] = edges[row];
        memset(edges + row, 0, sizeof *edges);
        memset(edges + (row + 2) % FEW, 0, sizeof *edges);
        used(EDGES)--;
        check_few_edges(p, false, "every edge is found by its path and site");
    }
    harness_keep_none();
}

/* Without an empty row nobody would know that something is not there. */
TEST(open_needs_an_empty_row)
{
    chroprof *p = few_edges();
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint32_t k;
    for (k = 0; k + 1 < FEW; k++)
        add_edge(p, k);
    CHECK(chroprof__open_edges(p));
    edges[FEW - 1] = edges[FEW - 2];
    CHECK(!chroprof__open_edges(p));
    p = scene();
    p->slots = FEW;
    memset(p->futures, 0, 8 * sizeof *p->futures);
    p->core->depth = 0;
    used(FUTURES) = 0;
    for (k = 0; k + 1 < FEW; k++)
        fill_row(p, k, k);
    CHECK(chroprof__open_futures(p));
    p->futures[FEW - 1] = p->futures[FEW] = p->futures[0];
    CHECK(!chroprof__open_futures(p));
    harness_keep_none();
}

/* The last row in use of each table, the first that is not, and what lies before the first. */
TEST(open_asks_for_the_last_module)
{
    chroprof *p = sampled_scene();
    chroprof__module *rows = chroprof__modules(p->core);
    char *strings = (char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS);
    char before = strings[-1];
    add_library(p);
    CHECK(chroprof__open_samples(p));
    rows[1].build_id[CHROPROF__BUILD_ID - 1] = 'x';
    CHECK(!chroprof__open_samples(p));
    rows[1].build_id[CHROPROF__BUILD_ID - 1] = '\0';
    rows[1].path[CHROPROF__MODULE_PATH - 1] = 'x';
    CHECK(!chroprof__open_samples(p));
    rows[1].path[CHROPROF__MODULE_PATH - 1] = '\0';
    rows[2].path[CHROPROF__MODULE_PATH - 1] = 'x';
    CHECK(chroprof__open_samples(p));
    rows[2].path[CHROPROF__MODULE_PATH - 1] = '\0';
    strings[-1] = 'x';
    CHECK(chroprof__open_string(p->core, 0));
    strings[-1] = before;
}

#define NOTHING NULL
#define WINDOWS_HOLD "the windows of a site hold its exec"
#define HAS_PATH "every future has a path"
#define FRAME_PATH "every frame has a path"

/* A future in a slot that is its home. */
static chroprof__future *placed(const chroprof *p, uint32_t home)
{
    fill_row(p, home, home);
    path(3).live++;
    path(3).calls++;
    path(3).wall -= p->core->last;
    return p->futures + home;
}

/* The first row of each table and the last in use, and the one behind it. */
#define ENDS(X)                                                                                    \
    X(NOTHING, (void)p)                                                                            \
    X(CALLS, path(0).calls++)                                                                      \
    X(CALLS, path(8).calls++)                                                                      \
    X(NOTHING, (path(9).calls++, path(9).exec++, path(9).blame++, path(9).live++))                 \
    X(NOTHING, placed(p, 0))                                                                       \
    X(NOTHING, placed(p, p->slots - 1))                                                            \
    X(HAS_PATH, placed(p, 0)->path = 9)                                                            \
    X(HAS_PATH, placed(p, p->slots - 1)->path = 9)                                                 \
    X(FRAME_PATH, frame(1).path = 9)                                                               \
    X(FRAME_PATH, frame(5).path = 9)                                                               \
    X(NOTHING, frame(6).path = 9)                                                                  \
    X(WINDOWS_HOLD, cells_of(p, 3)[1]++)                                                           \
    X(WINDOWS_HOLD, cells_of(p, 7)[capacity(WINDOWS)]++)                                           \
    X(NOTHING, cells_of(p, 8)[1]++)                                                                \
    X("the windows hold loop, idle and untracked", cells_of(p, 2)[capacity(WINDOWS)]++)            \
    X(STRINGS, chroprof__sites(p->core)[3].name = (uint32_t)used(STRINGS))                         \
    X(STRINGS, chroprof__sites(p->core)[7].file = (uint32_t)used(STRINGS))                         \
    X(NOTHING, chroprof__sites(p->core)[8].file = (uint32_t)used(STRINGS))                         \
    X(NOTHING, chroprof__sites(p->core)[7].file = (uint32_t)used(STRINGS) - 1)                     \
    X(NOTHING, chroprof__sites(p->core)[7].name = (uint32_t)used(STRINGS) - 1)                     \
    X(LINKED, path(6).same_site = 6)                                                               \
    X(NOTHING, p->core->skew_events = 1)                                                           \
    X("the sum of blame = the sum of delay", (p->core->skew_events = 1, path(8).blame++))

static void check_says(const chroprof *p, int line, const char *poke, const char *want)
{
    const char *said = chroprof_check(p);
    harness_same(__FILE__, line, poke, said ? said : "nothing", want ? want : "nothing");
}

#define SAYS(text, poke)                                                                           \
    p = scene();                                                                                   \
    poke;                                                                                          \
    check_says(p, __LINE__, #poke, text);

TEST(check_of_the_first_rows_and_the_last)
{
    chroprof *p;
    ENDS(SAYS)
    harness_keep_none();
}

#define SUM_OF_STACKS "the weights of the stacks add up to the samples taken"
#define SUM_OF_ROWS "the rows of samples and what was dropped add up to the samples taken"
#define ORDER "samples stand in the order of time, and weigh something"
#define YOUNGER "a sampled stack is younger than its parent"
#define GOOD_ITEM "a sampled frame is a task, a function or a marker"
#define OF_MODULE "a sampled function is of a module"
#define LATEST "the newest sample is the latest"
#define sampled(k) chroprof__sample_rows(p->core)[k]

#define SAMPLE_ENDS(X)                                                                             \
    X(NOTHING, (void)p)                                                                            \
    X(SUM_OF_STACKS, node(p, 0)->weight++)                                                         \
    X(SUM_OF_STACKS, node(p, 5)->weight--)                                                         \
    X(NOTHING, node(p, 6)->weight++)                                                               \
    X(SUM_OF_STACKS, sampler(p)->samples++)                                                        \
    X(SUM_OF_ROWS, node(p, 0)->cpu_ns++)                                                           \
    X(SUM_OF_ROWS, node(p, 5)->cpu_ns++)                                                           \
    X(SUM_OF_ROWS, sampler(p)->dropped++)                                                          \
    X(SUM_OF_ROWS, sampler(p)->dropped_cpu_ns++)                                                   \
    X(SUM_OF_ROWS, sampled(0).weight++)                                                            \
    X(SUM_OF_ROWS, sampled(4).cpu_ns++)                                                            \
    X(SUM_OF_ROWS, used(SAMPLES)--)                                                                \
    X(NOTHING, (used(SAMPLES)--, sampler(p)->head--, sampler(p)->dropped += sampled(4).weight))    \
    X(NOTHING, (node(p, 0)->weight += 7, sampler(p)->samples += 7, sampler(p)->dropped += 7))      \
    X(NOTHING, (node(p, 2)->cpu_ns += 7, sampler(p)->dropped_cpu_ns += 7))                         \
    X(NOTHING, sampled(1).time = 15)                                                               \
    X(ORDER, sampled(1).time = 14)                                                                 \
    X(ORDER, sampled(0).duration = 6)                                                              \
    X(NOTHING, sampled(4).time = 34)                                                               \
    X(ORDER, sampled(4).time = 33)                                                                 \
    X(ORDER, sampled(0).weight = 0)                                                                \
    X(LATEST, sampled(4).time = 41)                                                                \
    X(LATEST, sampled(4).duration = 1)                                                             \
    X(LATEST, sampler(p)->latest = 39)                                                             \
    X(NOTHING, sampler(p)->latest = 41)                                                            \
    X(YOUNGER, node(p, 1)->parent = 1)                                                             \
    X(YOUNGER, node(p, 5)->parent = 5)                                                             \
    X(NOTHING, node(p, 5)->parent = 4)                                                             \
    X(YOUNGER, node(p, 5)->next = 5)                                                               \
    X(NOTHING, node(p, 5)->next = 4)                                                               \
    X(NOTHING, node(p, 6)->parent = 6)                                                             \
    X(GOOD_ITEM, node(p, 1)->item = UINT64_MAX)                                                    \
    X(GOOD_ITEM, node(p, 5)->item = UINT64_MAX)                                                    \
    X(OF_MODULE, node(p, 5)->module = 2)                                                           \
    X(OF_MODULE, node(p, 1)->module = 2)                                                           \
    X(NOTHING, node(p, 5)->module = 1)

static chroprof *timed_samples(void)
{
    static const uint64_t times[] = { 10, 15, 20, 30, 40 }, durations[] = { 5, 5, 0, 4, 0 };
    chroprof *p = sampled_scene();
    uint32_t k;
    for (k = 0; k < 5; k++) {
        sampled(k).time = times[k];
        sampled(k).duration = durations[k];
    }
    sampler(p)->latest = 40;
    return p;
}

#define SAYS_OF_SAMPLES(text, poke)                                                                \
    p = timed_samples();                                                                           \
    poke;                                                                                          \
    check_says(p, __LINE__, #poke, text);

TEST(check_of_the_first_samples_and_the_last)
{
    chroprof *p;
    SAMPLE_ENDS(SAYS_OF_SAMPLES)
    harness_keep_none();
}

#undef sampled

/* >>open: samples and stalls */

#define last_row(table) (p->core->tables[table].rows - 1)

#define SAMPLE_BOUNDS(X)                                                                           \
    X(true, (void)p)                                                                               \
    X(true, chroprof__sample_rows(p->core)[0].stack = 5)                                           \
    X(false, chroprof__sample_rows(p->core)[0].stack = 6)                                          \
    X(true, chroprof__sample_rows(p->core)[0].time = CHROPROF__END_OF_TIME - 1)                    \
    X(false, chroprof__sample_rows(p->core)[0].time = CHROPROF__END_OF_TIME)                       \
    X(true, chroprof__sample_rows(p->core)[0].duration = CHROPROF__END_OF_TIME - 1)                \
    X(false, chroprof__sample_rows(p->core)[0].duration = CHROPROF__END_OF_TIME)                   \
    X(true, chroprof__sample_rows(p->core)[0].state = CHROPROF_SAMPLE_LOOP)                        \
    X(false, chroprof__sample_rows(p->core)[0].state = CHROPROF_SAMPLE_LOOP + 1)                   \
    X(true, sampler(p)->head = chroprof__sample_capacity(p->core) - 1)                             \
    X(false, sampler(p)->head = chroprof__sample_capacity(p->core))                                \
    X(false, chroprof__sample_rows(p->core)[chroprof__sample_capacity(p->core) - 1].stack = 6)     \
    X(true, node(p, 5)->parent = 4)                                                                \
    X(false, node(p, 5)->parent = 5)                                                               \
    X(false, node(p, 1)->parent = 1)                                                               \
    X(true, node(p, 6)->parent = 6)                                                                \
    X(true, node(p, 0)->parent = 0)                                                                \
    X(false, node(p, 1)->item = chroprof__item(CHROPROF__TASK, 9))                                 \
    X(true, node(p, 1)->item = chroprof__item(CHROPROF__TASK, 8))                                  \
    X(true, node(p, 5)->module = 1)                                                                \
    X(false, node(p, 5)->module = 2)                                                               \
    X(true, chroprof__modules(p->core)->build_id[CHROPROF__BUILD_ID - 2] = 'x')                    \
    X(false, chroprof__modules(p->core)->build_id[CHROPROF__BUILD_ID - 1] = 'x')                   \
    X(true, chroprof__modules(p->core)->path[CHROPROF__MODULE_PATH - 2] = 'x')                     \
    X(false, chroprof__modules(p->core)->path[CHROPROF__MODULE_PATH - 1] = 'x')                    \
    X(true, chroprof__modules(p->core)[1].path[CHROPROF__MODULE_PATH - 1] = 'x')

#define ASK_SAMPLED(want, poke)                                                                    \
    p = sampled_scene();                                                                           \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__open_samples(p), want);                     \
    harness_equal(__FILE__, __LINE__, #poke, opens(p), want);

TEST(open_asks_all_samples)
{
    chroprof *p;
    SAMPLE_BOUNDS(ASK_SAMPLED)
    harness_keep_none();
}

#define stall_row(k) chroprof__stall_rows(p->core)[k]

#define STALL_BOUNDS(X)                                                                            \
    X(true, (void)p)                                                                               \
    X(true, stall_row(0).slice_count = CHROPROF_STALL_SLICES)                                      \
    X(false, stall_row(0).slice_count = CHROPROF_STALL_SLICES + 1)                                 \
    X(false, stall_row(last_row(CHROPROF_TABLE_STALLS)).slice_count = CHROPROF_STALL_SLICES + 1)   \
    X(true, (stall_row(0).slice_count = 2, stall_row(0).slices[1].path = 8))                       \
    X(false, (stall_row(0).slice_count = 2, stall_row(0).slices[1].path = 9))                      \
    X(true, (stall_row(0).slice_count = 2, stall_row(0).slices[2].path = 9))                       \
    X(false, (stall_row(0).slice_count = 1, stall_row(0).slices[0].path = 9))                      \
    X(true, stall_row(0).hits.count = CHROPROF_STALL_SAMPLES)                                      \
    X(false, stall_row(0).hits.count = CHROPROF_STALL_SAMPLES + 1)                                 \
    X(true, (stall_row(0).hits.count = 1, stall_row(0).hits.stack[0] = 5))                         \
    X(false, (stall_row(0).hits.count = 1, stall_row(0).hits.stack[0] = 6))                        \
    X(false, (stall_row(0).hits.count = 2, stall_row(0).hits.stack[1] = 6))                        \
    X(true, (stall_row(0).hits.count = 1, stall_row(0).hits.stack[1] = 6))

#define ASK_STALLS(want, poke)                                                                     \
    p = sampled_scene();                                                                           \
    memset(&stall_row(0), 0, sizeof(chroprof__stall));                                             \
    poke;                                                                                          \
    harness_equal(__FILE__, __LINE__, #poke, chroprof__open_stalls(p), want);

TEST(open_asks_all_stalls)
{
    chroprof *p;
    STALL_BOUNDS(ASK_STALLS)
    harness_keep_none();
}

/* Everything at once: a full stack, full tables. Whatever part is asked last is asked. */
TEST(open_asks_every_part)
{
    chroprof *p;
    int k;
    for (k = 0; k <= 8; k++) {
        p = sampled_scene();
        memset(&stall_row(0), 0, sizeof(chroprof__stall));
        switch (k) {
        case 0: p->core->factor = 0; break;
        case 1: path(8).level = 1; break;
        case 2: site_of(p, 8)->name = 7; break;
        case 3: frame(0).kind = CHROPROF__ENTER_FRAME; break;
        case 4: slot(4)->path = 9; break;
        case 5: any_edge(p)->path = 9; break;
        case 6: stall_row(0).slice_count = CHROPROF_STALL_SLICES + 1; break;
        case 7: node(p, 1)->parent = 1; break;
        default: break;
        }
        CHECK_EQ(chroprof__open_tables(p), k == 8);
        CHECK_EQ(opens(p), k == 8);
    }
    harness_keep_none();
}

/* Not while an event or an edit is under way; a handle that was refused is empty. */
TEST(open_waits_for_nobody)
{
    chroprof *p = scene();
    chroprof view;
    size_t size = (size_t)p->core->block_bytes;
    uint32_t k;
    for (k = 0; k < 4; k++) {
        p->core->seq = 100 + (k & 1);
        p->core->edits = 6 + (k >> 1);
        memset(&view, 0x5a, sizeof view);
        CHECK_EQ(chroprof_open(&view, p->core, size), k ? CHROPROF_ERR_BUSY : CHROPROF_OK);
        CHECK_EQ(view.view, k == 0);
        CHECK(k == 0 ? view.core == p->core : view.core == NULL);
        CHECK(!view.on && !view.taking && !view.detour && !view.sampling);
    }
    p->core->seq = 100;
    p->core->edits = 6;
    CHECK_EQ(chroprof_open(NULL, p->core, size), CHROPROF_ERR_ARGUMENT);
    memset(&view, 0x5a, sizeof view);
    CHECK_EQ(chroprof_open(&view, NULL, size), CHROPROF_ERR_ARGUMENT);
    CHECK(view.core == NULL && !view.view);
    path(8).level = 1;
    memset(&view, 0x5a, sizeof view);
    CHECK_EQ(chroprof_open(&view, p->core, size), CHROPROF_ERR_CORRUPT);
    CHECK(view.core == NULL && !view.view && view.paths == NULL);
    harness_keep_none();
}

#undef last_row
#undef stall_row

#define OPEN_CASES                                                                                 \
    CASE(check_of_a_preorder_that_goes_wrong),                                                     \
    CASE(check_of_an_empty_profile),                                                               \
    CASE(check_of_what_is_just_right),                                                             \
    CASE(check_adds_up_calls_that_were_merged),                                                    \
    CASE(check_knows_what_is_held_back),                                                           \
    CASE(which_way_events_take),                                                                   \
    CASE(open_takes_capacities_within_limits),                                                     \
    CASE(open_compares_each_table_with_its_place),                                                 \
    CASE(open_says_what_is_wrong_with_a_header),                                                   \
    CASE(open_takes_tables_that_are_full),                                                         \
    CASE(open_asks_the_core),                                                                      \
    CASE(open_asks_where_a_string_begins),                                                         \
    CASE(open_asks_each_site),                                                                     \
    CASE(open_asks_all_sites),                                                                     \
    CASE(open_asks_for_the_window_of_a_path),                                                      \
    CASE(open_asks_each_path_of_the_loop),                                                         \
    CASE(open_asks_each_path),                                                                     \
    CASE(open_asks_all_paths),                                                                     \
    CASE(open_asks_each_frame),                                                                    \
    CASE(open_asks_each_future),                                                                   \
    CASE(open_asks_whether_a_row_is_found),                                                        \
    CASE(open_asks_each_edge),                                                                     \
    CASE(open_follows_full_rows_around_the_end),                                                   \
    CASE(edges_in_the_first_row_and_the_last),                                                     \
    CASE(open_needs_an_empty_row),                                                                 \
    CASE(open_asks_for_the_last_module),                                                           \
    CASE(check_of_the_first_rows_and_the_last),                                                    \
    CASE(check_of_the_first_samples_and_the_last),                                                 \
    CASE(open_asks_all_samples),                                                                   \
    CASE(open_asks_all_stalls),                                                                    \
    CASE(open_asks_every_part),                                                                    \
    CASE(open_waits_for_nobody)

#endif
