/* tests/test_inside.c - what no public call can bring about: each invariant broken on purpose, blocks
 * damaged in one place, the arithmetic at the ends of its range. Has an implementation of its own,
 * whose private parts it sees. */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION
#include "harness.h"

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };
static const chroprof_site D = { "timer", "timer.c", 5 };

/* >>scene: the paths accept (3), accept;reply (4), accept;query (5), accept;query;timer (6), timer (7),
 * accept;timer (8). The stack: 2 (orphan), 1, a barrier, 1, an enter-frame. Ready: 4. */

static chroprof *scene(void)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.window_ns = 50;
    o.stall_ns = 60;
    o.max_futures = 600;
    o.max_edges = 600;
    p = fresh(&o);
    at(p, 0, PENDING, 1, &A);
    at(p, 20, RUNNING, 1, NULL);
    at(p, 30, PENDING, 2, &B);
    at(p, 40, READY, 2, NULL);
    at(p, 50, PENDING, 3, &C);
    at(p, 60, PAUSED, 1, NULL);
    at(p, 65, RUNNING, 3, NULL);
    at(p, 68, PENDING, 5, &D);
    at(p, 69, PAUSED, 3, NULL);
    at(p, 70, IDLE_ENTER, 0, NULL);
    at(p, 90, IDLE_LEAVE, 0, NULL);
    at(p, 91, PENDING, 6, &D);
    at(p, 92, PENDING, 4, &A);
    at(p, 93, READY, 4, NULL);
    at(p, 95, RUNNING, 2, NULL);
    at(p, 100, RUNNING, 1, NULL);
    at(p, 110, COMPLETED, 2, NULL);
    at(p, 120, LOOP_ENTER, 0, NULL);
    at(p, 130, RUNNING, 1, NULL);
    at(p, 140, ENTER, 0, &D);
    at(p, 150, TICK, 0, NULL);
    CHECK_EQ(p->core->depth, 5);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_PATHS].used, 6);
    return p;
}

static chroprof__edge *any_edge(const chroprof *p)
{
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    while (edges->site == 0)
        edges++;
    return edges;
}

static chroprof__site *site_of(const chroprof *p, uint32_t path)
{
    return chroprof__sites(p->core) + p->paths[path].site;
}

static uint64_t *cells_of(const chroprof *p, uint32_t site)
{
    return chroprof__cells(p->core, site);
}

static void skip_first_path(const chroprof *p)
{
    p->paths[0].next = p->paths[p->paths[0].next].next;
}

static void close_the_preorder(const chroprof *p)
{
    uint32_t k = p->paths[0].next;
    while (p->paths[k].next != 0)
        k = p->paths[k].next;
    p->paths[k].next = p->paths[0].next;
}

static uint64_t *first_count(const chroprof *p, uint32_t path)
{
    return chroprof__histogram_rows(p->core)[p->paths[path].histogram].slice.count;
}

/* >>check: each invariant, and ways to break it. slot(id): its slot; frame(k); path(k). */

#define slot(i) chroprof__find(p, i)
#define frame(k) p->frames[k]
#define path(k) p->paths[k]
#define used(table) p->core->tables[CHROPROF_TABLE_##table].used
#define capacity(table) p->core->tables[CHROPROF_TABLE_##table].capacity

#define CALLS "calls = completed + failed + cancelled + abandoned + live on every path"
#define PREORDER "the preorder of the paths stays in the table and has no cycle"
#define PARENT "a path is younger than its parent"
#define LEVEL "a path stands one level below its parent, in preorder"
#define TOPMOST "a future's topmost frame is one of its id"
#define LIVE_SLOTS "the count of live futures is that of their slots"
#define PUSHED "a frame was pushed before now and its slice began not before that"
#define KNOWS_SLOT "a frame knows the slot of its id"
#define DEEPER "the next frame of the same id is deeper"
#define FLOOR "the innermost barrier is the floor"
#define ON_TOP "time goes to what is on top"
#define STRINGS "a site's strings lie in the table"
#define LINKED "the paths of a site are linked, younger to older"
#define MAGIC "the block begins with the magic number and no event is under way"

#define BREACHES(X)                                                                                \
    X(CALLS, path(3).calls++)                                                                      \
    X(CALLS, path(3).completed++)                                                                  \
    X(CALLS, path(3).failed++)                                                                     \
    X(CALLS, path(3).cancelled++)                                                                  \
    X(CALLS, path(3).abandoned++)                                                                  \
    X(CALLS, path(8).live++)                                                                       \
    X("elapsed = the sum of all paths' exec + untracked + idle + loop", path(0).exec++)            \
    X("elapsed = the sum of all paths' exec + untracked + idle + loop", path(8).exec--)            \
    X("the sum of blame = the sum of delay", path(1).blame++)                                      \
    X("the sum of blame = the sum of delay", path(3).delay--)                                      \
    X("the paths' ready futures add up", (path(5).ready++, path(5).delay -= p->core->last))        \
    X("the paths' ready futures add up", p->core->ready++)                                         \
    X("the paths' live futures add up", (path(8).live++, path(8).calls++))                         \
    X("the paths' live futures add up", used(FUTURES)++)                                           \
    X(PREORDER, path(0).next = CHROPROF__UNTRACKED)                                                \
    X(PREORDER, path(0).next = 9)                                                                  \
    X(PREORDER, close_the_preorder(p))                                                             \
    X(PARENT, path(4).parent = 4)                                                                  \
    X(PARENT, path(4).parent = CHROPROF__IDLE)                                                     \
    X(PARENT, path(4).parent = CHROPROF__UNTRACKED)                                                \
    X(LEVEL, path(4).level = 3)                                                                    \
    X(LEVEL, path(7).next = 6)                                                                     \
    X("a path has a site", path(7).site = CHROPROF__UNTRACKED)                                     \
    X("a path has a site", path(7).site = 8)                                                       \
    X("a site stands at most once on a path", path(4).site = path(3).site)                         \
    X("every path is in the preorder once", skip_first_path(p))                                    \
    X("every future is found by its id", slot(4)->id = 123456)                                     \
    X("every future has a path", slot(4)->path = 9)                                                \
    X(TOPMOST, slot(4)->frame = 6)                                                                 \
    X(TOPMOST, slot(4)->frame = 2)                                                                 \
    X("a finished future keeps its slot only for its frames", slot(2)->frame = 0)                  \
    X("a live future is pending, ready, running or paused", slot(3)->state = CHROPROF_COMPLETED)   \
    X("a future with a frame is running", slot(1)->state = CHROPROF_PAUSED)                        \
    X("no future is in a state since later than now", slot(3)->since = p->core->last + 1)          \
    X(LIVE_SLOTS, slot(1)->state = CHROPROF__GONE)                                                 \
    X(LIVE_SLOTS, capacity(FUTURES) = 4)                                                           \
    X("the count of ready futures is that of their slots", slot(4)->state = CHROPROF_PENDING)      \
    X(PUSHED, frame(1).pushed = p->core->last + 1)                                                 \
    X(PUSHED, frame(5).start = frame(5).pushed - 1)                                                \
    X("a slice is no longer than its stay", frame(5).start = p->core->last + 1)                    \
    X("every frame has a path", frame(4).path = 9)                                                 \
    X(KNOWS_SLOT, frame(4).slot = p->slots)                                                        \
    X(KNOWS_SLOT, frame(4).slot = (uint32_t)(slot(2) - p->futures))                                \
    X(DEEPER, frame(4).same = 4)                                                                   \
    X(DEEPER, frame(4).same = 1)                                                                   \
    X("a future's frame is the innermost future's", frame(4).future = 2)                           \
    X("a barrier knows the one below it", frame(3).slot = 1)                                       \
    X(FLOOR, p->core->floor = 0)                                                                   \
    X(FLOOR, p->core->level = 2)                                                                   \
    X(ON_TOP, p->core->account = 3)                                                                \
    X(ON_TOP, p->core->account = CHROPROF__IDLE)                                                   \
    X(ON_TOP, (p->core->hidden = 1, p->core->hidden_since = p->core->last))                        \
    X("an edge joins two paths", any_edge(p)->path = 9)                                            \
    X("an edge joins two paths", any_edge(p)->target = 9)                                          \
    X("an edge leads to a path of its site", any_edge(p)->target = CHROPROF__UNTRACKED)            \
    X("every edge is found by its path and site", any_edge(p)->path = 8)                           \
    X("the count of edges is that of their rows", used(EDGES)++)                                   \
    X(STRINGS, site_of(p, 3)->name = (uint32_t)used(STRINGS))                                      \
    X(STRINGS, site_of(p, 3)->file = (uint32_t)used(STRINGS))                                      \
    X(LINKED, site_of(p, 3)->first_path = 4)                                                       \
    X(LINKED, path(8).same_site = 8)                                                               \
    X("the windows of a site hold its exec", cells_of(p, path(3).site)[1]++)                       \
    X("a site's histogram has an entry for each slice that ended", first_count(p, 3)[9]++)         \
    X("the windows hold loop, idle and untracked", cells_of(p, 0)[1]++)                            \
    X("the windows hold loop, idle and untracked", cells_of(p, 1)[2]++)                            \
    X("the windows hold loop, idle and untracked", cells_of(p, 2)[1]++)                            \
    X(MAGIC, p->core->magic++)                                                                     \
    X(MAGIC, p->core->seq++)

static const char *breach(const chroprof *p, int which)
{
    int k = 0;
#define BREAK(text, poke)                                                                          \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return text;                                                                               \
    }
    BREACHES(BREAK)
#undef BREAK
    return NULL;
}

TEST(check_names_each_broken_invariant)
{
    const char *text = "";
    int k;
    for (k = 0; text != NULL; k++) {
        chroprof *p = scene();
        text = breach(p, k);
        harness()->event = text;
        if (text != NULL)
            CHECK_STR(chroprof_check(p), text);
    }
    harness()->event = NULL;
    CHECK(k > 60);
    CHECK(chroprof_check(scene()) == NULL);
}

/* Rows of different moments: what only agrees between tables is not asked. */
TEST(check_of_a_skewed_copy)
{
    chroprof *p = scene();
    p->core->skew_events = 1;
    slot(4)->state = CHROPROF_PENDING;
    first_count(p, 3)[9]++;
    p->core->ready++;
    path(8).live++;
    path(8).calls++;
    CHECK(chroprof_check(p) == NULL);
    path(0).exec++;
    CHECK(chroprof_check(p) != NULL);
}

/* >>open: a block that is damaged in one place is refused */

static void fill_the_slots(const chroprof *p)
{
    uint32_t k;
    for (k = 0; k < p->slots; k++)
        if (p->futures[k].id == 0)
            p->futures[k].id = 1000 + k;
}

static void fill_the_edges(const chroprof *p)
{
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint32_t k;
    for (k = 0; k < p->core->tables[CHROPROF_TABLE_EDGES].rows; k++)
        edges[k].site = 4;
}

#define table(name) p->core->tables[CHROPROF_TABLE_##name]

#define DAMAGES(X)                                                                                 \
    X(table(FUTURES).capacity = 0)                                                                 \
    X(table(STRINGS).capacity = (1u << 28) + 1)                                                    \
    X(table(DEPTH).capacity = 65001)                                                               \
    X(table(WINDOWS).capacity = 65001)                                                             \
    X((table(SITES).capacity = 1u << 28, table(WINDOWS).capacity = 65000))                         \
    X(p->core->block_bytes += 64)                                                                  \
    X(table(PATHS).offset += 64)                                                                   \
    X(table(PATHS).bytes++)                                                                        \
    X(table(PATHS).rows++)                                                                         \
    X(p->core->tables[CHROPROF__HEADS].capacity++)                                                 \
    X(p->core->order = 0x01020305)                                                                 \
    X(used(FUTURES) = capacity(FUTURES) + 1u)                                                      \
    X(used(SITES) = capacity(SITES) + 1u)                                                          \
    X(used(PATHS) = capacity(PATHS) + 1u)                                                          \
    X(used(EDGES) = capacity(EDGES) + 1u)                                                          \
    X(used(STALLS) = capacity(STALLS) + 1u)                                                        \
    X(used(STRINGS) = CHROPROF__OWN_STRINGS - 1)                                                   \
    X(used(STRINGS) = table(STRINGS).bytes + 1)                                                    \
    X(p->core->factor = 0)                                                                         \
    X(p->core->last = CHROPROF__END_OF_TIME)                                                       \
    X(p->core->window = capacity(WINDOWS))                                                         \
    X(p->core->window_ticks = 0)                                                                   \
    X(p->core->window = 4)                                                                         \
    X(p->core->window |= 63u << 16)                                                                \
    X(p->core->depth = capacity(DEPTH) + 1)                                                        \
    X(p->core->floor = 6)                                                                          \
    X(p->core->account = 9)                                                                        \
    X((p->core->hidden = 1, p->core->hidden_since = p->core->last + 1))                            \
    X(p->core->name[CHROPROF__NAME_BYTES - 1] = 'x')                                               \
    X(p->core->host[CHROPROF__NAME_BYTES - 1] = 'x')                                               \
    X(p->core->program[CHROPROF__NAME_BYTES - 1] = 'x')                                            \
    X(path(0).site = 1)                                                                            \
    X(path(1).parent = 3)                                                                          \
    X(path(2).level = 1)                                                                           \
    X(path(1).histogram = 1)                                                                       \
    X(path(1).next = 3)                                                                            \
    X(path(7).site = 2)                                                                            \
    X(path(7).site = 8)                                                                            \
    X(path(4).parent = 4)                                                                          \
    X(path(4).parent = 1)                                                                          \
    X(path(4).parent = 2)                                                                          \
    X(path(4).level = 3)                                                                           \
    X(path(4).histogram = table(HISTOGRAMS).rows)                                                  \
    X(path(4).window = 1u << 16)                                                                   \
    X(path(4).window = 4)                                                                          \
    X(path(0).next = 2)                                                                            \
    X(path(0).next = 9)                                                                            \
    X(close_the_preorder(p))                                                                       \
    X(skip_first_path(p))                                                                          \
    X(((char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS))[used(STRINGS) - 1] = 'x')          \
    X(site_of(p, 3)->name++)                                                                       \
    X(site_of(p, 3)->name = (uint32_t)used(STRINGS))                                               \
    X(site_of(p, 3)->file++)                                                                       \
    X(site_of(p, 3)->first_path = 9)                                                               \
    X(cells_of(p, 3)[0] = 1)                                                                       \
    X(path(8).same_site = 8)                                                                       \
    X(path(8).same_site = 4)                                                                       \
    X(path(8).same_site = 0)                                                                       \
    X(frame(0).id = 1)                                                                             \
    X(frame(0).path = 3)                                                                           \
    X(frame(0).kind = CHROPROF__ENTER_FRAME)                                                       \
    X(frame(5).path = 9)                                                                           \
    X(frame(4).same = 4)                                                                           \
    X(frame(5).same = 1)                                                                           \
    X(frame(4).slot = p->slots)                                                                    \
    X(frame(4).slot = frame(1).slot)                                                               \
    X(frame(4).same = 1)                                                                           \
    X(fill_the_slots(p))                                                                           \
    X(slot(4)->id = 123456)                                                                        \
    X(slot(4)->path = 9)                                                                           \
    X(slot(4)->frame = 6)                                                                          \
    X(slot(4)->frame = 2)                                                                          \
    X(slot(2)->frame = 0)                                                                          \
    X(slot(3)->state = CHROPROF_COMPLETED)                                                         \
    X(used(FUTURES)--)                                                                             \
    X(fill_the_edges(p))                                                                           \
    X(any_edge(p)->path = 8)                                                                       \
    X(any_edge(p)->target = 9)                                                                     \
    X(any_edge(p)->target = 2)                                                                     \
    X(used(EDGES)--)                                                                               \
    X(chroprof__stall_rows(p->core)->slice_count = CHROPROF_STALL_SLICES + 1)                      \
    X((chroprof__stall_rows(p->core)->slice_count = 1,                                             \
       chroprof__stall_rows(p->core)->slices[0].path = 9))

static bool damage(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    DAMAGES(DO)
#undef DO
    return false;
}

TEST(open_refuses_each_damage)
{
    chroprof *p = scene();
    chroprof view;
    size_t size = (size_t)p->core->block_bytes;
    int k;
    CHECK_EQ(chroprof_open(&view, p->core, size), CHROPROF_OK);
    for (k = 0; damage(scene(), k); k++)
        harness_equal(__FILE__, k, "chroprof_open of damage number (the line)",
                      chroprof_open(&view, p->core, size), CHROPROF_ERR_CORRUPT);
    CHECK(k > 80);
    CHECK(!view.view && view.core == NULL);
}

/* Levels beyond the number of sites: more than any chain without a site twice can have. */
TEST(open_refuses_a_chain_that_is_too_long)
{
    chroprof_site site = { "s", "f.c", 0 };
    chroprof *p = fresh(NULL);
    chroprof view;
    uint32_t k;
    for (k = 1; k <= 9; k++) {
        site.line = k;
        at(p, k, ENTER, 0, &site);
    }
    CHECK_EQ(chroprof_open(&view, p->core, (size_t)p->core->block_bytes), CHROPROF_OK);
    used(SITES) = 1;
    for (k = 3; k <= 11; k++)
        path(k).site = CHROPROF__FIRST_SITE;
    CHECK_EQ(chroprof_open(&view, p->core, (size_t)p->core->block_bytes), CHROPROF_ERR_CORRUPT);
}

TEST(open_looks_for_the_start)
{
    static uint64_t words[16];
    char *bytes = (char *)words;
    const uint64_t magic = CHROPROF__MAGIC, swapped = UINT64_C(0x43485250524F4631);
    chroprof view;
    memcpy(bytes + 3, &magic, 8);
    CHECK_EQ(chroprof_open(&view, words, 64), CHROPROF_ERR_ALIGNMENT);
    memcpy(bytes + 16, &swapped, 8);
    CHECK_EQ(chroprof_open(&view, words, 64), CHROPROF_ERR_ALIGNMENT);
    words[0] = words[1] = 0;
    CHECK_EQ(chroprof_open(&view, words, 64), CHROPROF_ERR_BYTE_ORDER);
    CHECK_EQ(chroprof_open(&view, words, 23), CHROPROF_ERR_FORMAT);
    CHECK_EQ(chroprof_open(&view, words, 24), CHROPROF_ERR_BYTE_ORDER);
}

/* >>snapshot: what was cut short and damaged on top of it is mended, or refused */

static chroprof *torn_scene(void)
{
    chroprof *p = scene();
    p->core->seq++;
    return p;
}

static chroprof_result copy_of(const chroprof *p, chroprof *view)
{
    static union { uint64_t word; unsigned char bytes[HARNESS_MEMORY]; } copy;
    size_t size = (size_t)p->core->block_bytes;
    chroprof_result result = chroprof_snapshot(p->core, size, copy.bytes, sizeof copy);
    memset(view, 0, sizeof *view);
    if (result == CHROPROF_OK)
        CHECK_EQ(chroprof_open(view, copy.bytes, sizeof copy), CHROPROF_OK);
    return result;
}

static void break_last_path(const chroprof *p)
{
    path(8).exec = 0;
    path(8).site = 0;
}

/* One good edge in every row. */
static void repeat_an_edge(const chroprof *p)
{
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint32_t k;
    for (k = 0; k < p->core->tables[CHROPROF_TABLE_EDGES].rows; k++) {
        edges[k].path = 0;
        edges[k].site = path(3).site;
        edges[k].target = 3;
    }
}

/* Futures in every slot whose ids all have the same home. */
static void collide(const chroprof *p)
{
    uint64_t id = 0;
    uint32_t k;
    for (k = 0; k < p->slots; k++) {
        do {
            id++;
        } while (chroprof__hash_index(id, p->slots) != 5);
        p->futures[k].id = id;
        p->futures[k].path = 3;
        p->futures[k].state = CHROPROF_PENDING;
        p->futures[k].frame = 0;
    }
}

#define MENDS(X)                                                                                   \
    X(site_of(p, 3)->name = 7)                                                                     \
    X(site_of(p, 3)->file = 7)                                                                     \
    X(((char *)chroprof__rows(p->core, CHROPROF_TABLE_STRINGS))[used(STRINGS) - 1] = 'x')          \
    X(site_of(p, 3)->first_path = 77)                                                              \
    X(cells_of(p, 3)[0] = 9)                                                                       \
    X(path(0).site = 9)                                                                            \
    X(path(4).next = path(4).level = path(4).histogram = 99)                                       \
    X(path(4).same_site = 99)                                                                      \
    X(break_last_path(p))                                                                          \
    X(path(4).mark = path(4).exec + 100)                                                           \
    X(path(4).window = 9u << 16)                                                                   \
    X(path(4).window = 9)                                                                          \
    X(path(4).calls += 7)                                                                          \
    X(path(4).live += 1)                                                                           \
    X(path(4).live -= 1)                                                                           \
    X(path(3).blame += 9)                                                                          \
    X(path(3).blame -= 9)                                                                          \
    X(path(3).wall += UINT64_C(1) << 63)                                                           \
    X(frame(2).kind = CHROPROF__BARRIER)                                                           \
    X(frame(3).path = 3)                                                                           \
    X(frame(4).path = 77)                                                                          \
    X(frame(4).path = 1)                                                                           \
    X(frame(4).id = 0)                                                                             \
    X(frame(4).kind = 0)                                                                           \
    X(frame(4).pushed = p->core->last + 9)                                                         \
    X(frame(4).pushed = 149)                                                                       \
    X(frame(4).start = 0)                                                                          \
    X(frame(4).start = p->core->last + 9)                                                          \
    X(frame(4).id = 77)                                                                            \
    X(frame(5).id = 77)                                                                            \
    X((p->core->hidden = 1, p->core->hidden_since = p->core->last + 9))                            \
    X((p->core->hidden = 1, p->core->hidden_since = p->core->last - 1))                            \
    X(p->core->floor = 2)                                                                          \
    X(p->core->level = 9)                                                                          \
    X(p->core->account = CHROPROF__IDLE)                                                           \
    X(p->core->account = 77)                                                                       \
    X(p->core->ready = 7)                                                                          \
    X(p->core->event_account = 77)                                                                 \
    X((p->core->event_account = 77, p->core->event_now = p->core->epoch + 151))                    \
    X((p->core->event_account = 77, path(0).exec += 5))                                            \
    X((p->core->event_id = 0, path(4).live--, path(4).completed++))                                \
    X((p->core->event_id = 999, path(8).live--, path(8).completed++))                              \
    X((p->core->event_id = 4, path(3).live--, path(3).completed++))                                \
    X((p->core->event_id = 4, path(5).live--, path(5).completed++))                                \
    X(p->core->event_now = UINT64_MAX)                                                             \
    X(p->core->event_now = CHROPROF__END_OF_TIME + p->core->epoch)                                 \
    X(p->core->event_now = p->core->epoch + p->core->last + p->core->max_step_ticks + 1)           \
    X((p->core->event_account = 1,                                                                 \
       p->core->event_now = p->core->epoch + p->core->last + p->core->max_step_ticks + 1))         \
    X((p->core->started = 0, p->core->event_now = p->core->epoch + p->core->last + 1))             \
    X((p->core->seq--, p->core->edits++, p->core->event_now = p->core->epoch + 151))               \
    X((path(0).exec++, p->core->event_now = p->core->epoch + 151))                                 \
    X(p->core->window = 99)                                                                        \
    X(slot(4)->frame = 60)                                                                         \
    X(slot(4)->path = 77)                                                                          \
    X(slot(4)->path = 0)                                                                           \
    X(slot(4)->state = 99)                                                                         \
    X(slot(4)->since = p->core->last + 9)                                                          \
    X(slot(4)->id = 123456)                                                                        \
    X(slot(4)->id = 3)                                                                             \
    X(slot(3)->state = CHROPROF_RUNNING)                                                           \
    X((slot(3)->state = CHROPROF_RUNNING, p->core->hidden = 1,                                     \
       p->core->hidden_since = p->core->last))                                                     \
    X(slot(1)->path = 4)                                                                           \
    X(fill_the_slots(p))                                                                           \
    X(any_edge(p)->target = 77)                                                                    \
    X(any_edge(p)->path = 77)                                                                      \
    X(any_edge(p)->path = 8)                                                                       \
    X(fill_the_edges(p))                                                                           \
    X(repeat_an_edge(p))                                                                           \
    X(collide(p))                                                                                  \
    X(cells_of(p, 3)[1] += 1000)                                                                   \
    X(cells_of(p, 0)[1] = 0)                                                                       \
    X(first_count(p, 3)[9] += 3)                                                                   \
    X(first_count(p, 3)[0] += 3)                                                                   \
    X(first_count(p, 3)[9] = 0)                                                                    \
    X(chroprof__stall_rows(p->core)->slice_count = 99)                                             \
    X((chroprof__stall_rows(p->core)->slice_count = 1,                                             \
       chroprof__stall_rows(p->core)->slices[0].path = 99))

static bool mendable(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    MENDS(DO)
#undef DO
    return false;
}

/* Whatever it was, the copy opens and both laws hold. */
TEST(snapshot_mends_each_damage)
{
    chroprof view;
    chroprof_totals t;
    int k;
    CHECK_EQ(copy_of(torn_scene(), &view), CHROPROF_OK);
    for (k = 0; mendable(torn_scene(), k); k++) {
        chroprof *p = torn_scene();
        (void)mendable(p, k);
        harness_equal(__FILE__, k, "chroprof_snapshot of damage number (the line)",
                      copy_of(p, &view), CHROPROF_OK);
        chroprof_read_totals(&view, &t);
        harness_equal(__FILE__, k, "elapsed", t.elapsed_ns, t.busy_ns + t.idle_ns + t.loop_ns);
        harness_equal(__FILE__, k, "blame", t.blame_ticks, t.delay_ticks);
    }
    CHECK(k > 60);
}

#define REFUSALS(X)                                                                                \
    X(path(4).site = 0)                                                                            \
    X(path(4).site = 77)                                                                           \
    X(path(4).parent = 5)                                                                          \
    X(path(4).parent = 1)                                                                          \
    X(path(4).parent = 2)                                                                          \
    X(path(8).site = 0)                                                                            \
    X(path(0).exec = CHROPROF__END_OF_TIME)                                                        \
    X(p->core->window_ticks = 0)                                                                   \
    X(p->core->window = 63u << 16)                                                                 \
    X(p->core->depth = capacity(DEPTH) + 1)                                                        \
    X(used(SITES) = capacity(SITES) + 1u)                                                          \
    X(table(PATHS).offset++)                                                                       \
    X(p->core->factor = 0)

static bool hopeless(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    REFUSALS(DO)
#undef DO
    return false;
}

TEST(snapshot_refuses_what_no_event_leaves_behind)
{
    chroprof view;
    int k;
    for (k = 0; hopeless(torn_scene(), k); k++) {
        chroprof *p = torn_scene();
        (void)hopeless(p, k);
        harness_equal(__FILE__, k, "chroprof_snapshot of damage number (the line)",
                      copy_of(p, &view), CHROPROF_ERR_CORRUPT);
    }
    CHECK(k > 10);
}

/* An event that was cut short in the middle of a reset is reset to the end. */
TEST(snapshot_ends_a_reset)
{
    chroprof *p = scene();
    chroprof view;
    p->core->event_state = CHROPROF__RESETTING;
    p->core->edits++;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(totals_of(&view).elapsed_ticks, 0);
    CHECK_EQ(totals_of(&view).events, 0);
    CHECK_EQ(totals_of(&view).live, 6);
    laws(&view);
}

/* >>arithmetic */

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;

static uint64_t some_number(uint64_t *state)
{
    return random_next(state) >> random_below(state, 64);
}

TEST(scale_is_the_exact_floor)
{
    uint64_t state;
    int i;
    random_seed(41);
    state = harness()->seed;
    for (i = 0; i < 200000; i++) {
        uint64_t value = some_number(&state), factor = some_number(&state);
        wide exact = (wide)value * factor >> 32;
        if (exact >> 64 == 0)
            CHECK_EQ(chroprof__scale(value, factor), (uint64_t)exact);
    }
    CHECK_EQ(chroprof__scale(UINT64_MAX, UINT64_C(1) << 32), UINT64_MAX);
    CHECK_EQ(chroprof__scale(UINT64_C(1) << 62, (UINT64_C(1) << 32) - 1), (UINT64_C(1) << 62) -
             (UINT64_C(1) << 30));
}

TEST(unscale_is_the_exact_floor_or_saturates)
{
    uint64_t state;
    int i;
    random_seed(42);
    state = harness()->seed;
    for (i = 0; i < 200000; i++) {
        uint64_t value = some_number(&state), factor = some_number(&state) >> 1 | 1;
        wide exact = ((wide)value << 32) / factor;
        uint64_t want = value / factor >> 31 ? UINT64_MAX >> 1 : (uint64_t)exact;
        CHECK_EQ(chroprof__unscale(value, factor), want);
    }
    CHECK_EQ(chroprof__unscale(UINT64_MAX, 1), UINT64_MAX >> 1);
}
#else
TEST(scale_is_the_exact_floor) { SKIP("needs __int128"); }
TEST(unscale_is_the_exact_floor_or_saturates) { SKIP("needs __int128"); }
#endif

TEST(buckets_are_in_order_and_within_a_sixteenth)
{
    uint64_t state, value;
    uint32_t k;
    random_seed(43);
    state = harness()->seed;
    for (k = 0; k < 100000; k++) {
        value = random_next(&state) >> random_below(&state, 64);
        uint32_t bucket = chroprof__bucket(value);
        uint64_t middle = chroprof__bucket_value(bucket);
        CHECK(bucket < CHROPROF__BUCKETS);
        CHECK(bucket <= chroprof__bucket(value + (value != UINT64_MAX)));
        if (value >> 45 == 0)
            CHECK((value > middle ? value - middle : middle - value) <= value / 16 + 2);
        if (value >= 32 && value >> 45 == 0)
            CHECK((value > middle ? value - middle : middle - value) * 16 <= value);
    }
    for (k = 0; k < CHROPROF__BUCKETS - 1; k++)
        CHECK_EQ(chroprof__bucket(chroprof__bucket_value(k)), k);
    CHECK_EQ(chroprof__bucket((UINT64_C(1) << 45) - 1), CHROPROF__BUCKETS - 2);
    CHECK_EQ(chroprof__bucket(UINT64_C(1) << 45), CHROPROF__BUCKETS - 1);
    CHECK_EQ(chroprof__bucket(0), 0);
    CHECK_EQ(chroprof__bucket(31), 7);
    CHECK_EQ(chroprof__bucket(32), 8);
}

/* Addresses, counters and strides: the busiest of n buckets has few keys. */
TEST(hashes_are_spread)
{
    static const uint64_t strides[] = { 1, 8, 16, 64, 288, 4096, 65536, UINT64_C(1) << 32 };
    static uint32_t count[1000];
    size_t s;
    uint32_t k, most;
    for (s = 0; s < sizeof strides / sizeof *strides; s++) {
        memset(count, 0, sizeof count);
        most = 0;
        for (k = 0; k < 1000; k++) {
            uint32_t at = chroprof__hash_index(0x7f0000001000u + k * strides[s], 1000);
            CHECK(at < 1000);
            most = ++count[at] > most ? count[at] : most;
        }
        CHECK(most <= 8);
    }
    CHECK_EQ(chroprof__hash_index(UINT64_MAX, 1), 0);
}

TEST(small_helpers)
{
    uint64_t maximum = 5;
    char text[4];
    CHECK_EQ(chroprof__minus(5, 3), 2);
    CHECK_EQ(chroprof__minus(3, 5), 0);
    CHECK_EQ(chroprof__or(0, 7), 7);
    CHECK_EQ(chroprof__or(3, 7), 3);
    chroprof__raise(&maximum, 4);
    CHECK_EQ(maximum, 5);
    chroprof__raise(&maximum, 6);
    CHECK_EQ(maximum, 6);
    memset(text, 'x', sizeof text);
    chroprof__copy_text(text, sizeof text, "abcdef");
    CHECK_STR(text, "abc");
    chroprof__copy_text(text, sizeof text, "a");
    CHECK(memcmp(text, "a\0\0", 4) == 0);
    chroprof__copy_text(text, sizeof text, NULL);
    CHECK(memcmp(text, "\0\0\0", 4) == 0);
    CHECK_EQ(chroprof__aligned(0), 0);
    CHECK_EQ(chroprof__aligned(1), 64);
    CHECK_EQ(chroprof__aligned(64), 64);
    CHECK_EQ(chroprof__aligned(65), 128);
    CHECK_EQ(chroprof__log2(1), 0);
    CHECK_EQ(chroprof__log2(UINT64_MAX), 63);
    CHECK_EQ(chroprof__ratio(1, 3, 4), 0);
    CHECK_EQ(chroprof__ratio(3, 4, 4), 3);
    CHECK_EQ(chroprof__ratio(5, 8, 4), 8);
    CHECK_EQ(chroprof__ratio(0, 8, 0), 0);
    CHECK_EQ(chroprof__ratio(UINT64_MAX, 1000, UINT64_MAX), 1000);
    CHECK_EQ(chroprof__ratio(UINT64_MAX / 2, 1000, UINT64_MAX), 499);
    CHECK_EQ(chroprof__round(14, 10), 1);
    CHECK_EQ(chroprof__round(15, 10), 2);
    CHECK_EQ(chroprof__round(7, 1), 7);
    CHECK_EQ(chroprof__part(10, 0, 4) + chroprof__part(10, 1, 4) + chroprof__part(10, 2, 4) +
             chroprof__part(10, 3, 4), 10);
}

/* Cut between characters, never inside one. */
TEST(strings_are_cut_between_characters)
{
    CHECK_EQ(chroprof__whole_characters("abc", 2), 2);
    CHECK_EQ(chroprof__whole_characters("a\xC3\xA4z", 2), 1);
    CHECK_EQ(chroprof__whole_characters("a\xC3\xA4z", 3), 3);
    CHECK_EQ(chroprof__whole_characters("\xE2\x82\xACz", 2), 0);
    CHECK_EQ(chroprof__whole_characters("\x80\x80\x80z", 2), 0);
}

/* Another site whose hash is the same: the contents decide, but for names that were cut. */
TEST(equal_hashes_are_not_equal_sites)
{
    const chroprof *p = scene();
    chroprof__site *row = site_of(p, 3);
    CHECK(chroprof__same_site(p->core, row, row->hash, "accept", "server.c", 10));
    CHECK(!chroprof__same_site(p->core, row, row->hash + 1, "accept", "server.c", 10));
    CHECK(!chroprof__same_site(p->core, row, row->hash, "accept", "server.c", 11));
    CHECK(!chroprof__same_site(p->core, row, row->hash, "accepx", "server.c", 10));
    CHECK(!chroprof__same_site(p->core, row, row->hash, "accept", "server.h", 10));
    row->cut = 1;
    CHECK(chroprof__same_site(p->core, row, row->hash, "accepx", "server.h", 10));
}

/* A block of a terabyte: every capacity stays within its limit, and it fits. */
TEST(huge_blocks_are_shared_out)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t size;
    for (size = CHROPROF_MEMORY_MIN; size < UINT64_C(1) << 44; size += size / 7 + 1) {
        memset(capacity, 0, sizeof capacity);
        CHECK(chroprof__share_out(capacity, size));
        CHECK(chroprof__within_limits(capacity));
        CHECK(chroprof__layout(capacity, tables) <= size);
    }
    CHECK_EQ(capacity[CHROPROF_TABLE_FUTURES], 1u << 28);
}

TEST(tables_too_large_to_count_have_no_size)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_sites = 1u << 28;
    o.max_windows = 65000;
    CHECK_EQ(chroprof_memory_size(&o), 0);
    CHECK_EQ(chroprof_init(fresh(NULL), harness_memory(), HARNESS_MEMORY, &o), CHROPROF_ERR_MEMORY);
}

#if CHROPROF__HAS_COUNTER
/* Readings that make no sense leave the rate alone. */
TEST(calibration_of_clocks_that_jumped)
{
    chroprof *p = fresh(NULL);
    chroprof__core *c = p->core;
    uint64_t factor = c->factor, counter, ns;
    chroprof__read_both(&counter, &ns);
    c->calibrated = 0;
    c->calibrate_counter = counter + (UINT64_C(1) << 40);       /* it went back */
    c->calibrate_ns = ns - 100000000;
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 0);
    c->calibrate_counter = counter - 1000000;
    c->calibrate_ns = ns + (UINT64_C(1) << 40);
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 0);
    CHECK_EQ(c->factor, factor);
    c->calibrate_ns = ns - (UINT64_C(1) << 40);                 /* 18 minutes, 1,000,000 ticks */
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 1);
    CHECK(c->factor > UINT64_C(1) << 40);
    c->calibrated = 0;
    c->calibrate_counter = counter - (UINT64_C(1) << 42);       /* 4 ticks a ns, for 18 minutes */
    c->calibrate_ns = ns - (UINT64_C(1) << 40);
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 1);
    CHECK_IN(c->factor, (UINT64_C(1) << 30) - (1 << 24), (UINT64_C(1) << 30) + (1 << 24));
    c->calibrate_counter = counter - 4000;                      /* 50 ms */
    c->calibrate_ns = ns - 50000000;
    c->calibrated = 0;
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 0);
}
#else
TEST(calibration_of_clocks_that_jumped) { SKIP("no counter here"); }
#endif

/* The width of the windows is fixed once the first one may be full. */
TEST(the_rate_comes_too_late_for_the_windows)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.window_ns = 1000;
    p = fresh(&o);
    at(p, 0, TICK, 0, NULL);
    at(p, 600, TICK, 0, NULL);
    chroprof__set_factor(p->core, UINT64_C(2) << 32);           /* now 500 ticks are 1000 ns */
    CHECK_EQ(p->core->window_ticks, 1000);
    chroprof__set_factor(p->core, UINT64_C(1) << 31);           /* now 2000 are */
    CHECK_EQ(p->core->window_ticks, 2000);
    CHECK_EQ(p->core->window_end, 2000);
    laws(p);
}

static const test_case tests[] = {
    CASE(check_names_each_broken_invariant),
    CASE(check_of_a_skewed_copy),
    CASE(open_refuses_each_damage),
    CASE(open_refuses_a_chain_that_is_too_long),
    CASE(open_looks_for_the_start),
    CASE(snapshot_mends_each_damage),
    CASE(snapshot_refuses_what_no_event_leaves_behind),
    CASE(snapshot_ends_a_reset),
    CASE(scale_is_the_exact_floor),
    CASE(unscale_is_the_exact_floor_or_saturates),
    CASE(buckets_are_in_order_and_within_a_sixteenth),
    CASE(hashes_are_spread),
    CASE(small_helpers),
    CASE(strings_are_cut_between_characters),
    CASE(equal_hashes_are_not_equal_sites),
    CASE(huge_blocks_are_shared_out),
    CASE(tables_too_large_to_count_have_no_size),
    CASE(calibration_of_clocks_that_jumped),
    CASE(the_rate_comes_too_late_for_the_windows),
};

TEST_MAIN(tests)
