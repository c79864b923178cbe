/* tests/test_reads.c - the reads agree with each other: cursors with lists, rows by id with rows in
 * lists, parts with wholes, over random streams with samples and tables that are full.
 *
 * SEED=n replays one seed, ROUNDS=n asks for more of them, SHARE=n for fewer. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#if defined(__linux__)
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { SITES = 9, ROWS = 2048 };

static const chroprof_site sites[SITES] = {
    { "accept", "server.c", 10 }, { "reply", "server.c", 20 }, { "timer", "timer.c", 5 },
    { "query", "db.c", 7 },       { "query", "db.c", 8 },      { "parse", "http.c", 1 },
    { "render", "page.c", 2 },    { "", "none.c", 3 },         { "bare", NULL, 0 }
};

/* Any call that a host can make, in any order; time mostly passes. */
static void random_call(chroprof *p, uint64_t *random, uint64_t *now)
{
    uint64_t what = random_below(random, 40), id = random_below(random, 12);
    const chroprof_site *site = &sites[random_below(random, SITES)];
    *now += random_below(random, 400);
    if (what < 30)
        chroprof_event(p, (chroprof_state)(what % 15), id, what % 2 ? site : NULL, *now);
    else if (what < 37)
        chroprof_sample(p, *now, random_below(random, 3) * 100);
    else if (what == 37)
        chroprof_ready_since(p, id, *now - random_below(random, 900));
    else if (what == 38)
        chroprof_stillborn(p, site, CHROPROF_FAILED);
    else if (random_below(random, 9) == 0)
        chroprof_set_enabled(p, random_below(random, 3) > 0);
}

static chroprof_options random_options(uint64_t *random)
{
    chroprof_options o;
    bool cramped = random_below(random, 2) == 0;
    memset(&o, 0, sizeof o);
    o.window_ns = 500 + random_below(random, 5000);
    o.stall_ns = 1 + random_below(random, 2000);
    o.max_samples = 4 + (uint32_t)random_below(random, 20); /* few: stacks often give way */
    if (cramped) {
        o.max_futures = 5;
        o.max_sites = 6;
        o.max_paths = 8;
        o.max_edges = 8;
        o.max_depth = 3;
        o.max_histograms = 2;
        o.max_stalls = 4;
        o.max_windows = 6;
        o.max_events = 64;
        o.string_bytes = 60;
    }
    return o;
}

/* ---- the same rows: the fields that are no padding are compared as bytes would be */

#define SAME(a, b, field) CHECK_EQ((a)->field, (b)->field)
#define SAME_TEXT(a, b, field)                                                                     \
    CHECK_STR((a)->field != NULL ? (a)->field : "(NULL)",                                          \
              (b)->field != NULL ? (b)->field : "(NULL)")

static void same_rank(const chroprof_rank *a, const chroprof_rank *b)
{
    SAME_TEXT(a, b, name), SAME_TEXT(a, b, file), SAME(a, b, line), SAME(a, b, id);
    SAME(a, b, exec_ns), SAME(a, b, with_children_ns), SAME(a, b, exec_max_ns);
    SAME(a, b, slice_max_ns), SAME(a, b, slice_p99_ns), SAME(a, b, slices), SAME(a, b, lifetime_ns);
    SAME(a, b, delay_ns), SAME(a, b, delay_p99_ns), SAME(a, b, blame_ns), SAME(a, b, calls);
    SAME(a, b, found), SAME(a, b, hidden_total_ns), SAME(a, b, live), SAME(a, b, stillborn),
        SAME(a, b, dropped);
}

static void same_path(const chroprof_path *a, const chroprof_path *b)
{
    SAME_TEXT(a, b, name), SAME_TEXT(a, b, file), SAME(a, b, line), SAME(a, b, id);
    SAME(a, b, parent), SAME(a, b, site), SAME(a, b, exec_ns), SAME(a, b, with_children_ns);
    SAME(a, b, slices), SAME(a, b, lifetime_ns), SAME(a, b, delay_ns), SAME(a, b, calls);
}

static void same_future(const chroprof_future *a, const chroprof_future *b)
{
    SAME(a, b, id), SAME(a, b, path), SAME(a, b, state), SAME(a, b, since_ns), SAME(a, b, exec_ns);
    SAME_TEXT(a, b, name);
}

static void same_stall(const chroprof_stall *a, const chroprof_stall *b)
{
    uint32_t k;
    SAME(a, b, kind), SAME(a, b, start_ns), SAME(a, b, length_ns), SAME(a, b, events);
    SAME(a, b, share_count), SAME(a, b, rest_ns);
    for (k = 0; k < a->share_count; k++) {
        SAME(a, b, shares[k].site), SAME(a, b, shares[k].exec_ns);
        SAME_TEXT(a, b, shares[k].name);
    }
}

static void same_step(const chroprof_step *a, const chroprof_step *b)
{
    SAME(a, b, at_ns), SAME(a, b, id), SAME(a, b, state), SAME(a, b, path), SAME(a, b, depth);
}

static void same_sample(const chroprof_sample_row *a, const chroprof_sample_row *b)
{
    SAME(a, b, at_ns), SAME(a, b, duration_ns), SAME(a, b, weight), SAME(a, b, cpu_ns);
    SAME(a, b, stack), SAME(a, b, state);
}

static void same_wall(const chroprof_wall *a, const chroprof_wall *b)
{
    SAME(a, b, path), SAME(a, b, running), SAME(a, b, ready), SAME(a, b, paused);
}

/* ---- a cursor gives the rows of its list, in their order, and then no more */

#define CURSOR_LIKE_LIST(type, next, list, same)                                                   \
    do {                                                                                           \
        static type rows[ROWS];                                                                    \
        type row;                                                                                  \
        size_t count = list, k;                                                                    \
        uint64_t cursor = 0;                                                                       \
        CHECK(count <= ROWS);                                                                      \
        for (k = 0; k < count; k++) {                                                              \
            CHECK(next(p, &cursor, &row));                                                         \
            same(&row, &rows[k]);                                                                  \
        }                                                                                          \
        CHECK(!next(p, &cursor, &row));                                                            \
        CHECK(!next(p, &cursor, &row));                                                            \
    } while (0)

static void cursors_are_like_lists(const chroprof *p)
{
    CURSOR_LIKE_LIST(chroprof_path, chroprof_next_path, chroprof_paths(p, rows, ROWS), same_path);
    CURSOR_LIKE_LIST(chroprof_future, chroprof_next_future, chroprof_futures(p, rows, ROWS),
                     same_future);
    CURSOR_LIKE_LIST(chroprof_stall, chroprof_next_stall, chroprof_stalls(p, rows, ROWS),
                     same_stall);
    CURSOR_LIKE_LIST(chroprof_step, chroprof_next_step,
                     chroprof_timeline(p, 0, UINT64_MAX, rows, ROWS), same_step);
    CURSOR_LIKE_LIST(chroprof_sample_row, chroprof_next_sample,
                     chroprof_samples(p, 0, UINT64_MAX, rows, ROWS), same_sample);
    CURSOR_LIKE_LIST(chroprof_wall, chroprof_next_wall, chroprof_walls(p, rows, ROWS), same_wall);
}

/* ---- ranks: by cursor in the order of ids, by id, and in lists of every order */

static void ranks_agree(const chroprof *p)
{
    static chroprof_rank rows[ROWS];
    chroprof_rank row;
    size_t count = chroprof_ranks(p, rows, ROWS, CHROPROF_BY_EXEC), k, walked = 0;
    uint64_t cursor = 0;
    uint32_t before = 0;
    CHECK(count <= ROWS);
    for (; chroprof_next_rank(p, &cursor, &row); walked++, before = row.id) {
        CHECK(row.id > before);
        for (k = 0; k < count && rows[k].id != row.id; k++) {}
        CHECK(k < count);
        same_rank(&row, &rows[k]);
        CHECK(chroprof_read_rank(p, row.id, &row));
        same_rank(&row, &rows[k]);
    }
    CHECK_EQ(walked, count);
    CHECK(!chroprof_read_rank(p, UINT32_MAX, &row));
    CHECK_STR(row.name, "");
    CHECK_EQ(row.exec_ns + row.calls, 0);
}

/* ---- paths: by id, names and parents, and the sums of their trees */

static void paths_agree(const chroprof *p)
{
    static chroprof_path rows[ROWS];
    chroprof_path row;
    size_t count = chroprof_paths(p, rows, ROWS), k, i;
    uint32_t parent;
    CHECK(count <= ROWS);
    for (k = 0; k < count; k++) {
        uint64_t below = rows[k].exec_ns;
        CHECK(chroprof_read_path(p, rows[k].id, &row));
        same_path(&row, &rows[k]);
        CHECK_STR(chroprof_path_name(p, rows[k].id, &parent, NULL), rows[k].name);
        CHECK_EQ(parent, rows[k].parent);
        CHECK(chroprof_path_name(p, rows[k].id, NULL, NULL) != NULL);
        for (i = 0; i < count; i++)
            below += rows[i].parent == rows[k].id ? rows[i].with_children_ns : 0;
        CHECK_EQ(rows[k].with_children_ns, below);
    }
    CHECK(!chroprof_read_path(p, UINT32_MAX, &row));
    CHECK_STR(row.name, "");
    CHECK_STR(chroprof_path_name(p, 0, &parent, NULL), "");
    CHECK_EQ(parent, 0);
}

/* ---- windows: each part of the list is that part, and the sites' add up to their exec */

static void windows_agree(const chroprof *p)
{
    static chroprof_window rows[ROWS];
    static uint64_t of_site[ROWS];
    chroprof_window part[3];
    chroprof_rank r;
    uint64_t cursor = 0, exec[3], sum;
    size_t count = chroprof_windows(p, rows, ROWS), k;
    uint32_t first;
    CHECK(count <= ROWS);
    for (first = 0; first <= count; first++) {
        size_t left = chroprof_windows_from(p, first, part, 3);
        CHECK_EQ(left, count - first);
        for (k = 0; k < left && k < 3; k++) {
            SAME(&part[k], &rows[first + k], start_ns), SAME(&part[k], &rows[first + k], end_ns);
            SAME(&part[k], &rows[first + k], busy_ns), SAME(&part[k], &rows[first + k], idle_ns);
        }
    }
    while (chroprof_next_rank(p, &cursor, &r)) {
        CHECK_EQ(chroprof_site_windows(p, r.id, of_site, ROWS), count);
        for (sum = 0, k = 0; k < count; k++)
            sum += of_site[k];
        CHECK_EQ(sum, r.exec_ns);
        for (first = 0; first <= count; first += 1 + (uint32_t)count / 3) {
            CHECK_EQ(chroprof_site_windows_from(p, r.id, first, exec, 3), count - first);
            for (k = 0; k < 3 && first + k < count; k++)
                CHECK_EQ(exec[k], of_site[first + k]);
        }
    }
}

/* ---- windows: a report looks at each cell a limited number of times */

#if defined(__linux__)
enum { MANY_WINDOWS = 16000, MANY_SITES = 20, OPEN_PAGES = 8 };

/* Only some pages of the block can be read at a time; each other one that is touched is counted. */
typedef struct turned {
    unsigned char *block;
    size_t size, page;
    unsigned char *open[OPEN_PAGES];
    unsigned long pages;
} turned;

static turned *the_turned(void)
{
    static turned t;
    return &t;
}

static void on_touch(int number, siginfo_t *info, void *context)
{
    turned *t = the_turned();
    unsigned char *at = (unsigned char *)info->si_addr;
    unsigned char **place = &t->open[t->pages++ % OPEN_PAGES];
    (void)number;
    (void)context;
    if (at < t->block || at >= t->block + t->size)
        _exit(99);
    if (*place != NULL)
        mprotect(*place, t->page, PROT_NONE);
    *place = t->block + (size_t)(at - t->block) / t->page * t->page;
    mprotect(*place, t->page, PROT_READ);
}

static int swallow(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return 0;
}

static void live_in_windows(chroprof *p)
{
    static char names[MANY_SITES][8];
    chroprof_site many[MANY_SITES];
    uint64_t t = 0;
    uint32_t k, n;
    for (k = 0; k < MANY_SITES; k++) {
        snprintf(names[k], sizeof names[k], "s%u", (unsigned)k);
        many[k].name = names[k];
        many[k].file = "windows.c";
        many[k].line = k;
    }
    for (n = 0; n + 2 < MANY_WINDOWS; n++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &many[n % MANY_SITES], t);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += 60);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, t += 40);
    }
}

/* A cell is eight bytes: pages that are touched more often than that, by what the cells of 64
 * windows and the rows of their site need, are looked at again and again. */
TEST(reports_look_at_each_window_once)
{
    static const chroprof_format formats[] = { CHROPROF_TEXT, CHROPROF_JSON };
    turned *t = the_turned();
    struct sigaction action, old;
    chroprof_options o;
    chroprof p;
    size_t k;
    memset(&o, 0, sizeof o);
    memset(&action, 0, sizeof action);
    o.clock = chroprof_clock_manual;
    o.max_windows = MANY_WINDOWS;
    o.max_sites = MANY_SITES + 2;
    o.window_ns = 100;
    o.max_paths = o.max_edges = MANY_SITES + 2;
    o.max_events = 64;
    o.max_samples = 1;
    o.max_futures = o.max_stalls = 4;
    t->page = (size_t)sysconf(_SC_PAGESIZE);
    t->size = (chroprof_memory_size(&o) + t->page - 1) / t->page * t->page;
    t->block = (unsigned char *)mmap(NULL, t->size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(t->block != MAP_FAILED);
    CHECK_EQ(chroprof_init(&p, t->block, t->size, &o), CHROPROF_OK);
    live_in_windows(&p);
    action.sa_sigaction = on_touch;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &old);
    for (k = 0; k < 2; k++) {
        chroprof view;
        CHECK_EQ(chroprof_open(&view, t->block, t->size), CHROPROF_OK);
        t->pages = 0;
        memset(t->open, 0, sizeof t->open);
        mprotect(t->block, t->size, PROT_NONE);
        (void)chroprof_write(&view, formats[k], swallow, NULL);
        mprotect(t->block, t->size, PROT_READ);
        printf("# format %d: %lu pages\n", (int)formats[k], t->pages);
        CHECK(t->pages < UINT64_C(2) * 5 * (MANY_WINDOWS / 64) * MANY_SITES);
    }
    sigaction(SIGSEGV, &old, NULL);
    munmap(t->block, t->size);
}
#endif

/* ---- samples: none is lost, and the tree of stacks is the list of each stack's frames */

static void stacks_agree(const chroprof *p)
{
    static chroprof_stack_row tree[ROWS];
    chroprof_stack_frame frames[64];
    chroprof_sampler_totals t;
    size_t count = 0, depth, k;
    uint64_t cursor = 0, weight = 0;
    chroprof_read_sampler(p, &t);
    while (chroprof_next_stack(p, &cursor, &tree[count])) {
        chroprof_stack_row *row = &tree[count++];
        uint32_t up;
        CHECK(count < ROWS);
        CHECK(row->parent < row->id);
        weight += row->weight;
        depth = chroprof_stack(p, row->id, frames, 64);
        CHECK_IN(depth, 1, 64);
        for (k = 0, up = row->id; k < depth; k++) {
            size_t at = 0;
            while (tree[at].id != up)
                at++;
            CHECK_EQ(frames[k].kind, tree[at].frame.kind);
            CHECK_STR(frames[k].name, tree[at].frame.name);
            CHECK_EQ(frames[k].path, tree[at].frame.path);
            up = tree[at].parent;
        }
        CHECK_EQ(up, 0);
    }
    CHECK_EQ(weight, t.samples);
    CHECK_EQ(chroprof_stack(p, UINT32_MAX, frames, 64), 0);
    CHECK_EQ(chroprof_modules(p, NULL, 0), 0); /* samples by hand have no functions */
}

static void samples_agree(const chroprof *p, uint64_t now)
{
    static chroprof_sample_row rows[ROWS];
    chroprof_sampler_totals t;
    uint64_t weight = 0;
    size_t count = chroprof_samples(p, 0, UINT64_MAX, rows, ROWS), k;
    chroprof_read_sampler(p, &t);
    CHECK_EQ(count, t.rows);
    for (k = 0; k < count; k++) {
        CHECK(rows[k].weight > 0);
        CHECK(k == 0 || rows[k].at_ns >= rows[k - 1].at_ns + rows[k - 1].duration_ns);
        CHECK(rows[k].at_ns + rows[k].duration_ns <= now);
        weight += rows[k].weight;
    }
    CHECK_EQ(weight + t.dropped, t.samples);
}

static void all_agree(const chroprof *p, uint64_t now)
{
    laws(p);
    cursors_are_like_lists(p);
    ranks_agree(p);
    paths_agree(p);
    windows_agree(p);
    stacks_agree(p);
    samples_agree(p, now);
}

/* ---- cases */

static void reads_of(uint64_t seed, bool reset)
{
    uint64_t random = seed, now = 1000, k;
    chroprof_options o = random_options(&random);
    chroprof *p = fresh(&o), view;
    for (k = random_below(&random, 700); k > 0; k--) {
        random_call(p, &random, &now);
        if (reset && random_below(&random, 200) == 0)
            chroprof_reset(p);
    }
    all_agree(p, now);
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    all_agree(&view, now);
}

TEST(reads_agree_with_each_other)
{
    uint64_t k;
    random_seed(1);
    for (k = 0; k < share(60); k++)
        reads_of(harness()->seed++, false);
}

TEST(reads_agree_after_a_reset)
{
    uint64_t k;
    random_seed(1001);
    for (k = 0; k < share(60); k++)
        reads_of(harness()->seed++, true);
}

/* A tree of stacks that is full again and again: whatever gives way, it stays a tree, and no sample
 * is lost. */
static void stacks_give_way(uint64_t seed)
{
    static chroprof_site many[120];
    uint64_t random = seed, now = 0;
    chroprof_options o;
    chroprof *p;
    uint32_t k, depth;
    memset(&o, 0, sizeof o);
    o.max_samples = 4 + (uint32_t)random_below(&random, 60);
    o.max_sites = 130;
    p = fresh(&o);
    for (k = 0; k < 120; k++) {
        many[k].name = "task";
        many[k].file = "many.c";
        many[k].line = k;
    }
    for (k = 0; k < 1500; k++) {
        for (depth = (uint32_t)random_below(&random, 6); depth > 0; depth--)
            chroprof_event(p, CHROPROF_ENTER, 0, &many[random_below(&random, 120)], now += 10);
        chroprof_sample(p, now += 10, random_below(&random, 2));
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now += 10);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 10);
        if (k % 50 != 0)
            continue;
        CHECK(chroprof_check(p) == NULL);
        stacks_agree(p);
    }
}

TEST(stacks_that_give_way_leave_a_tree)
{
    uint64_t k;
    random_seed(1);
    for (k = 0; k < share(20); k++)
        stacks_give_way(harness()->seed++);
}

/* What a program reads from the options is what it can give to another profile of the same kind. */
TEST(options_that_are_read_make_the_same_profile)
{
    uint64_t k;
    random_seed(1);
    for (k = 0; k < share(40); k++) {
        static uint64_t memory[HARNESS_MEMORY / 8];
        uint64_t random = harness()->seed++;
        chroprof_options o = random_options(&random), read, again;
        chroprof other;
        const chroprof *p = fresh(&o);
        int kind;
        chroprof_read_options(p, &read);
        read.clock = chroprof_clock_manual;
        CHECK_EQ(chroprof_init(&other, memory, sizeof memory, &read), CHROPROF_OK);
        chroprof_read_options(&other, &again);
        SAME(&read, &again, window_ns), SAME(&read, &again, stall_ns);
        SAME(&read, &again, max_step_ns), SAME(&read, &again, max_samples);
        CHECK_STR(again.name, read.name);
        for (kind = 0; kind < CHROPROF_TABLE_COUNT; kind++)
            CHECK_EQ(table_of(&other, (chroprof_table_kind)kind).capacity,
                     table_of(p, (chroprof_table_kind)kind).capacity);
    }
}

/* A cursor that stands anywhere ends; what is no profile has no rows. */
TEST(cursors_that_nobody_gave_end)
{
    static const uint64_t wild[] = { 1,
                                     2,
                                     3,
                                     7,
                                     64,
                                     UINT32_MAX,
                                     (uint64_t)UINT32_MAX + 1,
                                     UINT64_MAX / 2,
                                     UINT64_MAX - 1,
                                     UINT64_MAX };
    chroprof_options o;
    uint64_t random = 5, now = 0;
    size_t k, e;
    chroprof empty, *p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 100;
    o.max_samples = 20;
    p = fresh(&o);
    memset(&empty, 0, sizeof empty);
    for (k = 0; k < 300; k++)
        random_call(p, &random, &now);
    for (k = 0; k < sizeof wild / sizeof *wild; k++)
        for (e = 0; e < 3; e++) {
            const chroprof *of = e == 0 ? p : e == 1 ? &empty : NULL;
            size_t most = e == 0 ? ROWS : 0;
#define ENDS(name, type)                                                                           \
    do {                                                                                           \
        uint64_t cursor = e == 0 ? wild[k] : 0;                                                    \
        type row;                                                                                  \
        size_t met = 0;                                                                            \
        while (met <= most && chroprof_next_##name(of, &cursor, &row))                             \
            met++;                                                                                 \
        CHECK(met <= most);                                                                        \
    } while (0)
            ENDS(rank, chroprof_rank);
            ENDS(path, chroprof_path);
            ENDS(future, chroprof_future);
            ENDS(stall, chroprof_stall);
            ENDS(step, chroprof_step);
            ENDS(wall, chroprof_wall);
            ENDS(sample, chroprof_sample_row);
            ENDS(stack, chroprof_stack_row);
        }
}

static const test_case tests[] = { CASE(reads_agree_with_each_other),
                                   CASE(stacks_that_give_way_leave_a_tree),
                                   CASE(reads_agree_after_a_reset),
                                   CASE(options_that_are_read_make_the_same_profile),
#if defined(__linux__)
                                   CASE(reports_look_at_each_window_once),
#endif
                                   CASE(cursors_that_nobody_gave_end) };

TEST_MAIN(tests)
