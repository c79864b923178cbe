/* tests/test_inside.c - what no public call can bring about: each invariant broken on purpose,
 * blocks damaged in one place, the arithmetic at the ends of its range. Has an implementation of
 * its own, whose private parts it sees. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if !defined(_WIN32)
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

/* What the system's clock says: the truth, or this many seconds, going back with each reading. And
 * what a handler does meanwhile: it counts. */
typedef struct pretence { time_t seconds; int back; uint64_t *count; } pretence;

static pretence *pretend(void)
{
    static pretence p;
    return &p;
}

static int read_pretence(struct timespec *t)
{
    t->tv_sec = pretend()->seconds -= pretend()->back;
    t->tv_nsec = 0;
    if (pretend()->count)
        ++*pretend()->count;
    return 0;
}

/* A handler that counts just before something is copied to this place. */
typedef struct interruption {
    const void *place;
    uint64_t *count;
    uint32_t times;
    uint64_t more;             /* than 1 that it counts */
} interruption;

static interruption *interrupt_copies(void)
{
    static interruption i;
    return &i;
}

static void about_to_copy(uintptr_t to)
{
    interruption *i = interrupt_copies();
    if (i->times != 0 && (uintptr_t)i->place == to) {
        i->times--;
        *i->count += 1 + i->more;
    }
}

#define clock_gettime(which, t)                                                                    \
    (pretend()->seconds != 0 ? read_pretence(t) : clock_gettime(which, t))
#undef memcpy                               /* a macro with some C libraries */
#define memcpy(to, from, size) (about_to_copy((uintptr_t)(to)), memcpy(to, from, size))

/* What is fetched early. */
#if defined(__GNUC__)
#define CAN_COUNT_FETCHES 1
static unsigned *fetched(void)
{
    static unsigned count;
    return &count;
}

static const void **last_fetched(void)
{
    static const void *address;
    return &address;
}

#define __builtin_prefetch(address) (void)(*last_fetched() = (address), ++*fetched())
#endif

#define CHROPROF_IMPLEMENTATION
#include "harness.h"
#include "golden.h"

static const chroprof_site A = { "accept", "server.c", 10 };
static const chroprof_site B = { "reply", "server.c", 20 };
static const chroprof_site C = { "query", "db.c", 7 };
static const chroprof_site D = { "timer", "timer.c", 5 };

/* >>scene: the paths accept (3), accept;reply (4), accept;query (5), accept;query;timer (6), timer
 * (7), accept;timer (8). The stack: 2 (orphan), 1, a barrier, 1, an enter-frame. Ready: 4. */

static chroprof *scene_of(uint32_t rows)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.window_ns = 50;
    o.stall_ns = 60;
    o.max_futures = o.max_edges = rows;
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

static chroprof *scene(void)
{
    return scene_of(600);
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
    X((p->core->window_ticks = UINT64_MAX, p->core->window_phase = CHROPROF__END_OF_TIME))         \
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
    harness_keep_none();
}

/* A width of one tick can be doubled 62 times. */
TEST(open_knows_the_last_level_of_windows)
{
    chroprof *p = scene();
    chroprof view;
    p->core->window = 62u << 16;
    CHECK_EQ(chroprof_open(&view, p->core, (size_t)p->core->block_bytes), CHROPROF_OK);
    p->core->window = 63u << 16;
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
    X((p->core->event_id = 2, path(5).live--, path(5).completed++))                                \
    X((p->core->event_id = 1, path(3).live--, path(3).completed++))                                \
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

/* What a killed event had half done is the time since the event before it, billed or not. */
TEST(the_doubt_is_the_interval_under_way)
{
    chroprof_totals t;
    chroprof view;
    int billed;
    for (billed = 0; billed < 2; billed++) {
        chroprof *p = torn_scene();
        p->core->event_now = p->core->epoch + 163;
        p->core->event_account = p->core->account;
        if (billed)
            path(8).exec += 13;
        CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
        chroprof_read_totals(&view, &t);
        CHECK_EQ(t.elapsed_ns, 163);
        CHECK_EQ(t.doubt_events, 1);
        CHECK_EQ(t.doubt_ns, 13);
    }
}

/* Small tables that a damage has filled beyond their capacity. */
TEST(snapshot_keeps_no_more_than_the_capacity)
{
    chroprof_totals t;
    chroprof view;
    chroprof *p = scene_of(20);
    uint32_t k;
    p->core->seq++;
    repeat_an_edge(p);
    for (k = 0; k + 1 < p->slots; k++) {
        p->futures[k].id = 1000 + k;
        p->futures[k].path = 3;
        p->futures[k].state = CHROPROF_PENDING;
    }
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    chroprof_read_totals(&view, &t);
    CHECK_EQ(t.live, 20 + 1);                      /* and an enter-frame */
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
    CHECK_EQ(table_of(&view, CHROPROF_TABLE_EDGES).used, 20);
}

/* A difference of what are not two states of one profile. */
#define STRANGERS(X)                                                                               \
    X(p->core->tables[CHROPROF_TABLE_STALLS].capacity++)                                           \
    X(p->core->last += 1000)                                                                       \
    X(p->core->seq += 2000)                                                                        \
    X(p->core->start_unix_ns++)                                                                    \
    X(used(SITES)++)                                                                               \
    X(used(PATHS)++)                                                                               \
    X(path(7).site = path(3).site)                                                                 \
    X(path(0).site = 1)                                                                            \
    X(path(0).parent = 3)                                                                          \
    X(path(7).parent = 3)                                                                          \
    X(p->core->window |= 1u << 16)                                                                 \
    X(p->core->pid++)                                                                              \
    X(p->core->boot_ns++)                                                                          \
    X(p->core->owner_start++)                                                                      \
    X(p->core->pointer_bytes ^= 12)                                                                \
    X(p->core->manual ^= 1)                                                                        \
    X(p->core->host[0]++)                                                                          \
    X(p->core->name[0]++)

static bool strange(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    STRANGERS(DO)
#undef DO
    return false;
}

TEST(difference_refuses_strangers)
{
    static union { uint64_t word; unsigned char bytes[HARNESS_MEMORY]; } memory;
    chroprof older;
    int k;
    CHECK_EQ(copy_of(scene(), &older), CHROPROF_OK);
    for (k = 0; strange(&older, k); k++) {
        chroprof *p = scene();
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        CHECK_EQ(chroprof_difference(p, &older, memory.bytes, sizeof memory), CHROPROF_OK);
        CHECK(strange(&older, k));
        harness_equal(__FILE__, k, "chroprof_difference of stranger number (the line)",
                      chroprof_difference(p, &older, memory.bytes, sizeof memory),
                      CHROPROF_ERR_DIFFERENT);
        CHECK_EQ(copy_of(scene(), &older), CHROPROF_OK);
    }
    CHECK_EQ(k, 18);
}

/* An older state whose details do not fit: the difference opens all the same, and is a sum. */
#define ODD_STATES(X)                                                                              \
    X(frame(2).path = 4)                                                                           \
    X(frame(2).id = 77)                                                                            \
    X(frame(2).event++)                                                                            \
    X((p->core->held = CHROPROF__HELD_SLICE, p->core->held_slice_row = 1u << 20))                  \
    X((p->core->held = CHROPROF__HELD_SLICE, p->core->held_slice_row = 0))                         \
    X((p->core->held = CHROPROF__HELD_DELAY, p->core->held_delay_row = 1u << 20))

static bool odd_state(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    ODD_STATES(DO)
#undef DO
    return false;
}

static void check_difference(const chroprof *newer, const chroprof *older, uint64_t elapsed)
{
    static union { uint64_t word; unsigned char bytes[HARNESS_MEMORY]; } memory;
    chroprof view;
    chroprof_totals t;
    CHECK_EQ(chroprof_difference(newer, older, memory.bytes, sizeof memory), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, memory.bytes, sizeof memory), CHROPROF_OK);
    chroprof_read_totals(&view, &t);
    CHECK_EQ(t.elapsed_ns, elapsed);
    CHECK_EQ(t.elapsed_ns, t.busy_ns + t.idle_ns + t.loop_ns);
    CHECK_EQ(t.blame_ticks, t.delay_ticks);
}

TEST(difference_of_states_that_do_not_fit)
{
    chroprof older;
    chroprof *p = scene();
    int k;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    at(p, 200, LEAVE, 0, NULL);
    check_difference(p, &older, 50);
    for (k = 0; k == 0 || odd_state(&older, k - 1); k++) {
        p = scene();
        CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
        (void)odd_state(&older, k);
        at(p, 200, LEAVE, 0, NULL);
        check_difference(p, &older, 50);
    }
    CHECK_EQ(k, 7);
}

/* The older state's windows were more than 2^16 times as short. */
TEST(difference_after_windows_have_grown)
{
    chroprof older;
    chroprof *p = scene();
    uint32_t site = path(0).site;
    CHECK_EQ(copy_of(p, &older), CHROPROF_OK);
    at(p, 200, IDLE_ENTER, 0, NULL);
    at(p, UINT64_C(1) << 40, IDLE_LEAVE, 0, NULL);
    CHECK(p->core->window >> 16 > 16);
    CHECK_EQ(site, 0);
    check_difference(p, &older, (UINT64_C(1) << 40) - 150);
}

/* The least block has no histograms: neither side has what the other would add or take away. */
TEST(states_without_histograms)
{
    static uint64_t least[CHROPROF_MEMORY_MIN / 8 + 8], target[CHROPROF_MEMORY_MIN / 8 + 8];
    static uint64_t copy[CHROPROF_MEMORY_MIN / 8 + 8];
    chroprof_options o;
    chroprof p, older, sum;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&p, least, sizeof least, &o), CHROPROF_OK);
    CHECK_EQ(table_of(&p, CHROPROF_TABLE_HISTOGRAMS).capacity, 0);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, 10);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 20);
    p.core->held |= CHROPROF__HELD_TURN;
    CHECK_EQ(chroprof_snapshot(least, sizeof least, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&older, copy, sizeof copy), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_TICK, 0, NULL, 50);
    check_difference(&p, &older, 30);
    CHECK_EQ(chroprof_init(&sum, target, sizeof target, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, scene()), CHROPROF_OK);
    CHECK_EQ(totals_of(&sum).elapsed_ns, 40 + 150);
    laws(&sum);
    CHECK_EQ(chroprof_merge(fresh(NULL), &p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&older, &p), CHROPROF_ERR_TARGET);
}

/* Sums of damaged views: a barrier with a path of its own, a stall before the first. */
TEST(merge_of_views_that_do_not_fit)
{
    static uint64_t memory[8192];
    chroprof_options o;
    chroprof view, sum;
    CHECK_EQ(copy_of(scene(), &view), CHROPROF_OK);
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    CHECK(view.frames[3].kind == CHROPROF__BARRIER);
    view.frames[3].path = 4;
    chroprof__stall_rows(view.core)->serial = 5;
    view.core->stalls = 0;
    CHECK_EQ(chroprof_merge(&sum, &view), CHROPROF_OK);
    CHECK_EQ(totals_of(&sum).elapsed_ns, 150);
    CHECK_EQ(totals_of(&sum).stalls, 0);
    laws(&sum);
}

#define REFUSALS(X)                                                                                \
    X(path(4).site = 0)                                                                            \
    X(path(4).site = 77)                                                                           \
    X(path(4).parent = 5)                                                                          \
    X(path(4).parent = 1)                                                                          \
    X(path(4).parent = 2)                                                                          \
    X(path(7).site = 0)                                                                            \
    X(path(8).site = 0)                                                                            \
    X(path(0).exec = CHROPROF__END_OF_TIME - 109)                                                  \
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

#include "inside_samples.h"
#include "inside_mends.h"
#include "inside_firefox.h"

/* >>snapshot of a block that changes between any two pages that the copy reads */

#if !defined(_WIN32)
enum { STAGE = 48 << 10 };

typedef struct stage {
    unsigned char *read;       /* one page of it can be read at a time */
    chroprof p;                /* writes the same memory elsewhere */
    unsigned faults, every;    /* of how many faults one changes something */
    uint64_t seq, edits;       /* by so much */
    uint64_t scratch[STAGE / 8];
} stage;

static stage *the_stage(void)
{
    static stage s;
    return &s;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    stage *s = the_stage();
    unsigned char *at = (unsigned char *)info->si_addr;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)number;
    (void)context;
    if (at < s->read || at >= s->read + STAGE)
        _exit(99);
    if (s->faults++ % s->every == s->every - 1) {
        s->p.core->seq += s->seq;
        s->p.core->edits += s->edits;
    }
    mprotect(s->read, STAGE, PROT_NONE);
    mprotect(s->read + (size_t)(at - s->read) / page * page, page, PROT_READ);
}

static void set_stage(struct sigaction *old)
{
    stage *s = the_stage();
    struct sigaction action;
    chroprof_options o;
    FILE *file = tmpfile();
    void *write;
    memset(s, 0, sizeof *s);
    memset(&o, 0, sizeof o);
    memset(&action, 0, sizeof action);
    CHECK(file != NULL);
    CHECK_EQ(ftruncate(fileno(file), STAGE), 0);
    write = mmap(NULL, STAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    s->read = (unsigned char *)mmap(NULL, STAGE, PROT_NONE, MAP_SHARED, fileno(file), 0);
    CHECK(write != MAP_FAILED && s->read != MAP_FAILED);
    fclose(file);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&s->p, write, STAGE, &o), CHROPROF_OK);
    at(&s->p, 0, PENDING, 1, &A);
    at(&s->p, 10, READY, 1, NULL);
    at(&s->p, 20, ENTER, 0, &B);
    at(&s->p, 90, TICK, 0, NULL);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, old);
}

static void copy_the_stage(unsigned every, uint64_t seq, uint64_t edits)
{
    static union { uint64_t word; unsigned char bytes[STAGE]; } copy;
    stage *s = the_stage();
    chroprof_result result;
    chroprof view;
    mprotect(s->read, STAGE, PROT_NONE);
    s->faults = 0;
    s->every = every;
    s->seq = seq;
    s->edits = edits;
    result = chroprof_snapshot(s->read, STAGE, copy.bytes, STAGE);
    CHECK_EQ(result, CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy.bytes, STAGE), CHROPROF_OK);
    CHECK_EQ(totals_of(&view).blame_ticks, totals_of(&view).delay_ticks);
    CHECK_EQ(totals_of(&view).elapsed_ns, 90);
}

TEST(snapshot_while_sites_are_made)
{
    struct sigaction old;
    unsigned every, step = (unsigned)harness_number("SHARE");
    set_stage(&old);
    for (every = 1; every < 60; every += step)
        copy_the_stage(every, 0, 2);
    sigaction(SIGSEGV, &old, NULL);
}

/* Stuck inside an event at first, and inside a later one at the end. */
TEST(snapshot_of_a_writer_that_was_stuck)
{
    struct sigaction old;
    unsigned every, step = (unsigned)harness_number("SHARE");
    set_stage(&old);
    for (every = 1; every < 60; every += step) {
        the_stage()->p.core->seq |= 1;
        copy_the_stage(every, every % 3 + 1, 0);
    }
    sigaction(SIGSEGV, &old, NULL);
}

/* Rows that never hold still are taken as they are once all tries are used up. */
TEST(snapshot_gives_up_in_the_end)
{
    stage *s = the_stage();
    struct sigaction old;
    chroprof__copy c;
    uint32_t table = CHROPROF_TABLE_FUTURES;
    set_stage(&old);
    memset(&c, 0, sizeof c);
    c.from = (const chroprof__core *)(void *)s->read;
    c.to = (chroprof__core *)(void *)s->scratch;
    memcpy(c.to, s->p.core, sizeof *c.to);
    s->every = 1;
    s->seq = 2;
    chroprof__copy_rows(&c, table, 0, s->p.slots, sizeof(chroprof__future), false);
    sigaction(SIGSEGV, &old, NULL);
    CHECK(memcmp((char *)c.to + c.to->tables[table].offset, s->p.futures,
                 s->p.slots * sizeof(chroprof__future)) == 0);
    CHECK(s->faults > 2 * s->p.slots);
}
#else
TEST(snapshot_while_sites_are_made) { SKIP("needs mprotect"); }
TEST(snapshot_of_a_writer_that_was_stuck) { SKIP("needs mprotect"); }
TEST(snapshot_gives_up_in_the_end) { SKIP("needs mprotect"); }
#endif

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

/* A product of 128 bits, bit by bit. */
typedef struct wide_pair { uint64_t high, low; } wide_pair;

static wide_pair product(uint64_t a, uint64_t b)
{
    wide_pair sum = { 0, 0 };
    int bit;
    for (bit = 63; bit >= 0; bit--) {
        sum.high += sum.high + (sum.low >> 63);
        sum.low += sum.low;
        if ((b >> bit & 1) != 0) {
            sum.low += a;
            sum.high += sum.low < a;
        }
    }
    return sum;
}

static bool no_more(wide_pair a, wide_pair b)
{
    return a.high != b.high ? a.high < b.high : a.low <= b.low;
}

/* The same for compilers without wide numbers. */
TEST(scaling_is_exact_bit_by_bit)
{
    static const uint64_t values[] = {
        0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(1) << 32, UINT64_C(0x100000001),
        UINT64_C(0x1ffffffff), UINT64_C(0x200000000), UINT64_C(0x123456789abcdef0),
        UINT64_C(1) << 62, UINT64_MAX >> 1, UINT64_MAX - 1, UINT64_MAX
    };
    enum { COUNT = sizeof values / sizeof *values };
    uint64_t seed = 44;
    uint32_t k;
    for (k = 0; k < COUNT * COUNT + 1000; k++) {
        bool given = k < COUNT * COUNT;
        uint64_t value = given ? values[k / COUNT] : random_next(&seed) >> random_below(&seed, 64);
        uint64_t factor = given ? values[k % COUNT] : random_next(&seed) >> random_below(&seed, 64);
        wide_pair exact = product(value, factor), shifted = product(value, UINT64_C(1) << 32);
        uint64_t q;
        if (exact.high >> 32 == 0)
            CHECK_EQ(chroprof__scale(value, factor), exact.high << 32 | exact.low >> 32);
        if (factor == 0 || factor >> 63 != 0)
            continue;
        q = chroprof__unscale(value, factor);
        if (value / factor >= UINT64_C(1) << 31) {
            CHECK_EQ(q, UINT64_MAX >> 1);
        } else {
            CHECK(no_more(product(q, factor), shifted));
            CHECK(!no_more(product(q + 1, factor), shifted));
        }
    }
    CHECK_EQ(chroprof__unscale(UINT64_C(0x7fffffff), 1), UINT64_C(0x7fffffff) << 32);
    CHECK_EQ(chroprof__unscale(UINT64_C(0x80000000), 1), UINT64_MAX >> 1);
    CHECK_EQ(chroprof__unscale(UINT64_C(3) << 31, 3), UINT64_MAX >> 1);
    CHECK_EQ(chroprof__unscale((UINT64_C(3) << 31) - 1, 3), UINT64_C(0x7fffffffaaaaaaaa));
    CHECK_EQ(chroprof__scale(10, (UINT64_C(5) << 32) / 2), 25);
    CHECK_EQ(chroprof__unscale(25, (UINT64_C(5) << 32) / 2), 10);
}

/* A block is a file that other builds read: its numbers are part of the layout, which has a number
 * of its own. */
TEST(the_numbers_in_a_block_stay_what_they_are)
{
    static const uint32_t numbers[][2] = {
        { CHROPROF__LAYOUT, 2 }, { CHROPROF__ALIGN, 64 }, { CHROPROF__LOOP, 0 },
        { CHROPROF__IDLE, 1 }, { CHROPROF__UNTRACKED, 2 }, { CHROPROF__FIRST_PATH, 3 },
        { CHROPROF__OTHER, 3 }, { CHROPROF__FIRST_SITE, 4 }, { CHROPROF__OWN_STRINGS, 39 },
        { CHROPROF__GONE, 255 }, { CHROPROF__RESETTING, 255 }, { CHROPROF__REMEMBERED, 1 },
        { CHROPROF__STARTED, 2 }, { CHROPROF__FUTURE_FRAME, 1 }, { CHROPROF__ENTER_FRAME, 2 },
        { CHROPROF__BARRIER, 4 }, { CHROPROF__ORPHAN, 8 }, { CHROPROF__NEWEST, 16 },
        { CHROPROF__OLDEST, 32 }, { CHROPROF__UNKNOWN, 64 }, { CHROPROF__ALIAS_PLACES, 4 },
        { CHROPROF__BUCKETS, 329 }, { CHROPROF__INTERVALS, 64 }, { CHROPROF__LEVELS, 4 },
        { CHROPROF__NAME_BYTES, 64 }, { CHROPROF__HELD_SLICE, 1 }, { CHROPROF__HELD_TURN, 2 },
        { CHROPROF__HELD_DELAY, 4 }, { CHROPROF__PC, 0 }, { CHROPROF__RETURN, 1 },
        { CHROPROF__TASK, 2 }, { CHROPROF__MARK, 3 }, { CHROPROF__MARK_INSIDE, 1 },
        { CHROPROF__MARK_CUT, 2 }, { CHROPROF__MARK_STACK, 3 }, { CHROPROF__MARK_DEEP, 4 },
        { CHROPROF__MARK_IDLE, 5 }, { CHROPROF__MARK_LOOP, 6 }, { CHROPROF__MODULE_PATH, 184 },
        { CHROPROF__BUILD_ID, 48 }, { CHROPROF__ITEMS, 56 }, { CHROPROF__NOTED_TASKS, 16 },
        { CHROPROF__DRAWS, 8 }, { CHROPROF__HITS, 5 }
    };
    const char *magic = "1FORPRHC";         /* the first byte of CHRPROF1 is the lowest */
    uint64_t number = 0;
    size_t k;
    for (k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (numbers[k][0] != numbers[k][1])
            harness_fail(__FILE__, __LINE__, "number %lu is %" PRIu32 ", not %" PRIu32,
                         (unsigned long)k, numbers[k][0], numbers[k][1]);
    for (; *magic != '\0'; magic++)
        number = number << 8 | (unsigned char)*magic;
    CHECK_EQ(CHROPROF__MAGIC, number);
}

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
    char text[4], whole[9];
    uint32_t k;
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
    memset(whole, 'x', sizeof whole);
    chroprof__copy_text(whole, 4, "abc");
    CHECK(memcmp(whole, "abc\0xxxxx", 9) == 0);
    chroprof__copy_text(whole, 8, "ab");
    CHECK(memcmp(whole, "ab\0\0\0\0\0\0x", 9) == 0);
    CHECK_EQ(chroprof__aligned(0), 0);
    CHECK_EQ(chroprof__aligned(1), 64);
    CHECK_EQ(chroprof__aligned(64), 64);
    CHECK_EQ(chroprof__aligned(65), 128);
    CHECK_EQ(chroprof__log2(1), 0);
    CHECK_EQ(chroprof__log2(UINT64_MAX), 63);
    for (k = 1; k < 64; k++) {
        CHECK_EQ(chroprof__log2(UINT64_C(1) << k), k);
        CHECK_EQ(chroprof__log2((UINT64_C(1) << k) - 1), k - 1);
    }
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

/* Fills out with sites whose addresses have one place of the table; all differ by their line. */
static void sites_of_one_place(const chroprof *p, chroprof_site *pool, chroprof_site **out,
                               size_t count)
{
    uint32_t rows = p->core->tables[CHROPROF__ALIASES].rows;
    uint32_t home = chroprof__hash_index((uintptr_t)pool, rows);
    size_t found = 0, k;
    for (k = 0; found < count; k++)
        if (chroprof__hash_index((uintptr_t)(pool + k), rows) == home) {
            pool[k].name = "n";
            pool[k].line = (uint32_t)k;
            out[found++] = pool + k;
        }
}

/* A name is all that it takes. */
TEST(sites_are_made_of_names)
{
    chroprof *p = fresh(NULL);
    const chroprof_site *site;
    CHECK(chroprof_site_make(p, NULL, "made.c", 1) == NULL);
    CHECK_EQ(used(SITES), 0);
    site = chroprof_site_make(p, "made", NULL, 7);
    CHECK(site != NULL && site == chroprof_site_make(p, "made", "", 7));
    CHECK_EQ(used(SITES), 1);
    at(p, 0, ENTER, 0, site);
    at(p, 10, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "made").exec_ns, 10);
}

/* As many as there are places; one more goes over the first. */
TEST(addresses_of_one_place_are_remembered)
{
    static chroprof_site pool[4096];
    chroprof_options options = { 0 };
    chroprof_site *sites[CHROPROF__ALIAS_PLACES + 1];
    uint32_t k, rows[CHROPROF__ALIAS_PLACES + 1];
    chroprof *p;
    options.max_sites = 8;
    p = fresh(&options);
    sites_of_one_place(p, pool, sites, CHROPROF__ALIAS_PLACES + 1);
    for (k = 0; k < CHROPROF__ALIAS_PLACES; k++)
        rows[k] = chroprof__site_miss(p->core, sites[k]);
    for (k = 0; k < CHROPROF__ALIAS_PLACES; k++)
        CHECK_EQ(chroprof__known_site(p->core, sites[k]), rows[k]);
    CHECK_EQ(chroprof__known_site(p->core, sites[k]), 0);
    rows[k] = chroprof__site_miss(p->core, sites[k]);
    CHECK_EQ(chroprof__known_site(p->core, sites[k]), rows[k]);
    CHECK_EQ(chroprof__known_site(p->core, sites[0]), 0);
    CHECK_EQ(chroprof__known_site(p->core, sites[1]), rows[1]);
}

static uint64_t read_the_hand(void *user)
{
    return *(const uint64_t *)user;
}

static void take_a_while(void *user, const chroprof_stall *stall)
{
    *(uint64_t *)user += stall->length_ns;
}

/* What on_stall takes is excluded from the turn under way; a loop that begins has none. */
TEST(a_slow_on_stall_without_a_turn)
{
    chroprof_options o = { 0 };
    static uint64_t now;               /* the profile is kept when the case has ended */
    chroprof *p;
    now = 5;
    o.stall_ns = 100;
    o.clock = read_the_hand;
    o.on_stall = take_a_while;
    o.clock_user = o.on_stall_user = &now;
    p = fresh(&o);
    at(p, now, LOOP_ENTER, 0, NULL);
    at(p, now, IDLE_ENTER, 0, NULL);
    at(p, now, IDLE_LEAVE, 0, NULL);
    at(p, now += 300, IDLE_ENTER, 0, NULL);
    CHECK_EQ(now, 605);
    CHECK_EQ(p->core->depth, p->core->floor);
    CHECK_EQ(p->frames[p->core->floor + 1].excluded, 0);
    CHECK_EQ(totals_of(p).loop_ns, 600);
}

/* Only the general way looks whether a stall is due. */
static void goes_straight(chroprof *p, chroprof_state state, uint64_t id, const chroprof_site *site,
                          uint64_t now, bool straight)
{
    p->stall_due = true;
    chroprof_event(p, state, id, site, now);
    laws(p);
    if (p->stall_due != straight)
        harness_fail(__FILE__, __LINE__, "state %d at %d goes the %s way", (int)state, (int)now,
                     straight ? "general" : "straight");
    p->stall_due = false;
}

/* What is common costs little: it does not go the way of what is rare. */
TEST(common_events_go_straight)
{
    static const chroprof_site site = { "site", "file.c", 1 };
    chroprof *p = fresh(NULL);
    uint64_t t = 0;
    goes_straight(p, CHROPROF_PENDING, 1, &site, 0, false);      /* all is new */
    goes_straight(p, CHROPROF_ENTER, 0, &site, ++t, true);
    goes_straight(p, CHROPROF_LEAVE, 0, NULL, ++t, true);
    goes_straight(p, CHROPROF_PENDING, 2, &site, ++t, true);
    goes_straight(p, CHROPROF_PENDING, 3, &site, ++t, true);
    goes_straight(p, CHROPROF_RUNNING, 1, NULL, ++t, true);
    goes_straight(p, CHROPROF_SWITCH, 2, NULL, t, true);         /* no slice to be noted */
    CHECK_EQ(totals_of(p).turns, 2);
    goes_straight(p, CHROPROF_PAUSED, 2, NULL, ++t, true);
    goes_straight(p, CHROPROF_RUNNING, 2, NULL, ++t, true);
    goes_straight(p, CHROPROF_COMPLETED, 2, NULL, ++t, true);
    goes_straight(p, CHROPROF_RUNNING, 3, NULL, ++t, true);
    goes_straight(p, CHROPROF_FAILED, 3, NULL, ++t, true);
    goes_straight(p, CHROPROF_RUNNING, 1, NULL, ++t, true);
    goes_straight(p, CHROPROF_CANCELLED, 1, NULL, ++t, true);
    goes_straight(p, CHROPROF_READY, 1, NULL, ++t, false);
    CHECK_EQ(rank_of(p, "site").calls, 4);
    CHECK_EQ(totals_of(p).turns, 6);
}

/* A block of a terabyte: every capacity stays within its limit, and it fits. */
TEST(huge_blocks_are_shared_out)
{
    static const uint32_t most[CHROPROF_TABLE_COUNT] = {
        1u << 28, 1u << 20, 1u << 24, 1u << 25, 1024, 4096, 4096, 240, 64, 1u << 24
    };
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t size;
    uint32_t k;
    for (size = CHROPROF_MEMORY_MIN; size < UINT64_C(1) << 44; size += size / 7 + 1) {
        memset(capacity, 0, sizeof capacity);
        CHECK(chroprof__share_out(capacity, size));
        CHECK(chroprof__within_limits(capacity));
        CHECK(chroprof__layout(capacity, tables) <= size);
    }
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++)      /* nobody can use more */
        CHECK_EQ(capacity[k], most[k]);
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
    uint64_t factor = c->factor, counter = 0, ns = 0;
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
    factor = c->factor;
    c->calibrated = 0;
    c->calibrate_counter = counter;                             /* hardly a tick in 73 years */
    c->calibrate_ns = ns - (UINT64_C(1) << 61);
    chroprof__calibrate(c);
    c->calibrate_counter = counter - (UINT64_C(1) << 61);       /* hardly a ns in 2^61 ticks */
    c->calibrate_ns = ns;
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 0);
    CHECK_EQ(c->factor, factor);
    c->calibrate_counter = counter - 4000;                      /* 50 ms */
    c->calibrate_ns = ns - 50000000;
    c->calibrated = 0;
    chroprof__calibrate(c);
    CHECK_EQ(c->calibrated, 0);
}
#else
TEST(calibration_of_clocks_that_jumped) { SKIP("no counter here"); }
#endif

/* Init comes back, the profile works, whatever the system's clock says meanwhile. */
TEST(init_under_a_clock_that_stands_or_goes_back)
{
    static chroprof p;
    int back;
    for (back = 0; back < 2; back++) {
        pretend()->seconds = 1000000;
        pretend()->back = back;
        CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
        chroprof_enter(&p, &A);
        chroprof_leave(&p);
        chroprof_tick(&p);
        CHECK(chroprof_check(&p) == NULL);
        CHECK_EQ(rank_of(&p, "accept").slices, 1);
        memset(pretend(), 0, sizeof *pretend());
    }
}

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

/* >>text: cells, code points and places, each as it looks */

static const char *cell_text(const chroprof__cell *c)
{
    static char text[200];
    size_t used = 0;
    uint32_t k;
    for (k = 0; k < c->count; k++)
        used += chroprof__encode(c->codes[k], text + used);
    text[used] = '\0';
    return text;
}

TEST(times_have_three_digits)
{
#define MICRO "\xC2\xB5s"
    static const struct { uint64_t ns; const char *text; } rows[] = {
        { 0, "0" }, { 1, "1ns" }, { 999, "999ns" }, { 1000, "1.00" MICRO }, { 1005, "1.01" MICRO },
        { 1004, "1.00" MICRO }, { 9994, "9.99" MICRO }, { 9995, "10.0" MICRO },
        { 99949, "99.9" MICRO }, { 99950, "100" MICRO }, { 999499, "999" MICRO },
        { 999500, "1.00ms" }, { 9995000, "10.0ms" }, { 99950000, "100ms" }, { 999500000, "1.00s" },
        { 12345678901, "12.3s" }, { 99949999999, "99.9s" }, { 100000000000, "1.67min" },
        { 5997000000000, "1.67h" }, { 600000000000, "10.0min" }, { 86400000000000, "24.0h" },
        { 359640000000000, "99.9h" },
        { 360000000000000, "4.17d" },
        { 864000000000000, "10.0d" }, { 8640000000000000, "100d" }, { 315569520000000000, "10y" },
        { UINT64_MAX, "585y" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__cell c;
        c.count = 0;
        chroprof__cell_time(&c, rows[k].ns);
        CHECK_STR(cell_text(&c), rows[k].text);
    }
#undef MICRO
}

TEST(counts_have_three_digits_when_they_are_large)
{
    static const struct { uint64_t count; const char *text; } rows[] = {
        { 0, "0" }, { 7, "7" }, { 99999, "99999" }, { 100000, "100k" }, { 123456, "123k" },
        { 999499, "999k" }, { 999600, "1000k" }, { 1000000, "1.00M" }, { 1234567, "1.23M" },
        { 12345678, "12.3M" }, { 123456789012, "123G" }, { 1234567890123456, "1.23P" },
        { UINT64_MAX, "18.4E" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__cell c;
        c.count = 0;
        chroprof__cell_count(&c, rows[k].count);
        CHECK_STR(cell_text(&c), rows[k].text);
    }
}

TEST(shares_and_moments_and_dates)
{
    static const struct { uint64_t part, whole; uint32_t decimals; const char *text; } rows[] = {
        { 0, 7, 1, "0.0%" }, { 1, 1000000, 1, "<0.1%" }, { 1, 3, 0, "33%" }, { 1, 3, 1, "33.3%" },
        { 1, 3, 2, "33.33%" }, { 2, 3, 1, "66.7%" }, { 3, 3, 1, "100.0%" }, { 5, 0, 1, "<0.1%" },
        { UINT64_MAX / 4, UINT64_MAX, 0, "25%" }
    };
    chroprof__cell c;
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        c.count = 0;
        chroprof__cell_share(&c, rows[k].part, rows[k].whole, rows[k].decimals);
        CHECK_STR(cell_text(&c), rows[k].text);
    }
    c.count = 0;
    chroprof__cell_moment(&c, 61001999999);
    CHECK_STR(cell_text(&c), "01:01.001");
    c.count = 0;
    chroprof__cell_moment(&c, UINT64_C(3600000000000) * 25 + 59999999999);
    CHECK_STR(cell_text(&c), "25:00:59.999");
    c.count = 0;
    chroprof__cell_text(&c, "a text of more than thirty-one characters");
    CHECK_STR(cell_text(&c), "a text of more than thirty-one ");
}

/* Against gmtime, over 400 years of days; to 2038 where its seconds have 32 bits. */
TEST(dates_are_those_of_the_calendar)
{
    uint64_t seconds;
    for (seconds = 0; seconds < UINT64_C(12622780800); seconds += 86399) {
        char want[40];
        time_t when = (time_t)seconds;
        const struct tm *t = gmtime(&when);
        chroprof__cell c;
        if (when < 0 || (uint64_t)when != seconds)
            break;
        c.count = 0;
        chroprof__cell_date(&c, seconds * 1000000000u);
        strftime(want, sizeof want, "%Y-%m-%d %H:%M UTC", t);
        CHECK_STR(cell_text(&c), want);
    }
    CHECK(seconds > 0x7fffffff - 86400);
}

TEST(code_points_that_steer_a_terminal)
{
    static const uint32_t steering[] = {
        0x7F, 0x80, 0x9F, 0xAD, 0x61C, 0x200B, 0x200F, 0x2028, 0x202E, 0x2060, 0x206F, 0xFEFF,
        0xFFF9, 0xFFFC, 0xE0000, 0x10FFFF
    };
    static const uint32_t plain[] = {
        0x20, 0x7E, 0xA0, 0xAC, 0xAE, 0x61B, 0x61D, 0x200A, 0x2010, 0x2027, 0x202F, 0x205F, 0x2070,
        0xFEFE, 0xFF00, 0xFFF8, 0xFFFD, 0xDFFFF
    };
    size_t k;
    for (k = 0; k < sizeof steering / sizeof *steering; k++)
        CHECK(chroprof__steers(steering[k]));
    for (k = 0; k < sizeof plain / sizeof *plain; k++)
        CHECK(!chroprof__steers(plain[k]));
}

/* Each code point and back; each wrong sequence is one U+FFFD a byte. */
TEST(utf8_there_and_back)
{
    static const char *const wrong[] = {
        "\xC0\xAF", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\x80", "\xFF", "\xC3",
        "\xE2\x82", "\xC3z"
    };
    uint32_t code;
    char bytes[5];
    const char *at;
    size_t k;
    for (code = 1; code < 0x110000; code++) {
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        bytes[chroprof__encode(code, bytes)] = '\0';
        at = bytes;
        CHECK_EQ(chroprof__next_code(&at), code);
        CHECK_EQ(*at, 0);
    }
    for (k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        at = wrong[k];
        CHECK_EQ(chroprof__next_code(&at), CHROPROF__NO_CODE);
        CHECK_EQ(at - wrong[k], 1);
    }
}

static const char *page_text(void (*draw)(chroprof__page *g), uint32_t columns)
{
    static harness_output output;
    static chroprof__out out;
    chroprof__page g;
    memset(&g, 0, sizeof g);
    memset(&out, 0, sizeof out);
    output.used = 0;
    output.bytes[0] = '\0';
    out.write = harness_collect;
    out.user = &output;
    g.out = &out;
    g.columns = columns;
    draw(&g);
    chroprof__flush(&out);
    return output.bytes;
}

static void draw_places(chroprof__page *g)
{
    chroprof__show_location(g, "dir/file.c", UINT32_MAX, 12);
    chroprof__show(g, "|");
    chroprof__show_location(g, "dir/file.c", UINT32_MAX, 5);
    chroprof__show(g, "|");
    chroprof__show_location(g, "dir/file.c", 7, 8);
    chroprof__show(g, "|");
    chroprof__show_location(g, "dir/file.c", 7, 12);
    chroprof__show(g, "|");
    chroprof__show_location(g, "", 7, 12);
    chroprof__show(g, "|");
    chroprof__show_name(g, "a name", 0);
    chroprof__show(g, "|");
    chroprof__show_name(g, "abcdefgh", 5);
}

TEST(places_in_little_room)
{
    CHECK_STR(page_text(draw_places, 100),
              "dir/file.c||file.c:7|dir/file.c:7|||ab\xE2\x80\xA6gh");
    CHECK_STR(page_text(draw_places, 9), "dir/file.");
}

TEST(widths_end_at_a_million)
{
    char *name = (char *)malloc(1000100);
    CHECK(name != NULL);
    memset(name, 'n', 1000099);
    name[1000099] = '\0';
    CHECK_EQ(chroprof__width_of(name), 1000000);
    name[999999] = '\0';
    CHECK_EQ(chroprof__width_of(name), 999999);
    free(name);
}

#include "inside_text.h"

/* >>views of blocks whose figures make no sense: they are shown, and nothing breaks */

TEST(figures_without_sense_are_shown)
{
    chroprof_path path;
    chroprof *p = scene();
    int f;
    frame(3).path = 5;                             /* a barrier on a user's path: no slice of it */
    chroprof__read_path(p, 5, &path);
    CHECK_EQ(path.slices, 1);
    p->core->factor = 1;                           /* all times become 0 */
    cells_of(p, CHROPROF__IDLE)[40] = 5;           /* beyond the present window */
    memcpy(p->core->program, "prog", 5);
    p->core->name[0] = '\0';
    table(FUTURES).dropped = 0 - (uint64_t)capacity(FUTURES);
    for (f = 0; f < 6; f++)
        CHECK(written(p, (chroprof_format)f)->used > 50 || f == CHROPROF_FOLDED);
    CHECK(strstr(written(p, CHROPROF_FIREFOX)->bytes, "\"product\":\"prog\"") != NULL);
}

TEST(the_manual_clock_stands_at_zero)
{
    CHECK_EQ(chroprof_clock_manual(NULL), 0);
}

/* >>counters beyond 2^32 */

TEST(counters_go_on_beyond_32_bits)
{
    const uint64_t many = UINT32_MAX;
    chroprof_options o;
    chroprof_rank r;
    chroprof *p;
    memset(&o, 0, sizeof o);
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 100, LEAVE, 0, NULL);
    at(p, 200, IDLE_ENTER, 0, NULL);
    at(p, 200, IDLE_LEAVE, 0, NULL);
    path(3).completed = path(3).slices = path(3).failed = path(3).cancelled = many;
    path(3).abandoned = path(3).stillborn = many;
    path(3).calls = 4 * many;
    first_count(p, 3)[chroprof__bucket(100)] = many;
    p->core->turns = p->core->passes = many;
    chroprof__histogram_rows(p->core)[0].slice.count[chroprof__bucket(100)] = many;
    p->core->seq = p->core->seq_base + 2 * many;
    p->core->anomalies[CHROPROF_ANOMALY_ID_ZERO] = many;
    at(p, 200, ENTER, 0, &A);
    at(p, 310, LEAVE, 0, NULL);
    at(p, 310, PENDING, 1, &A);
    at(p, 310, FAILED, 1, NULL);
    at(p, 310, PENDING, 2, &A);
    at(p, 310, CANCELLED, 2, NULL);
    at(p, 310, PENDING, 3, &A);
    at(p, 310, PENDING, 3, &A);
    at(p, 310, COMPLETED, 3, NULL);
    at(p, 310, COMPLETED, 4, &A);
    at(p, 315, IDLE_ENTER, 0, NULL);
    at(p, 320, READY, 0, NULL);
    r = rank_of(p, "accept");
    CHECK_EQ(r.calls, 4 * many + 5);
    CHECK_EQ(r.completed, many + 2);
    CHECK_EQ(r.failed, many + 1);
    CHECK_EQ(r.cancelled, many + 1);
    CHECK_EQ(r.abandoned, many + 1);
    CHECK_EQ(r.stillborn, many + 1);
    CHECK_EQ(r.slices, many + 1);
    CHECK_IN(r.slice_p50_ns, 94, 106);
    CHECK_EQ(totals_of(p).turns, many + 1);
    CHECK_EQ(totals_of(p).passes, many + 1);
    CHECK_EQ(totals_of(p).events, many + 12);
    CHECK_EQ(totals_of(p).anomalies, many + 1);
    laws(p);
}

#if CHROPROF__SAMPLES && defined(__linux__)
static const char *build_id_of(const unsigned char *bytes, uint64_t vaddr, uint64_t loaded,
                               uint32_t flags, char out[CHROPROF__BUILD_ID])
{
    chroprof__object o;
    chroprof__module m;
    Elf64_Phdr headers[2];
    memset(headers, 0, sizeof headers);
    memset(&o, 0, sizeof o);
    headers[0].p_type = PT_NOTE;
    headers[0].p_vaddr = vaddr;
    headers[0].p_memsz = 20;
    headers[1].p_type = PT_LOAD;
    headers[1].p_flags = flags;
    headers[1].p_vaddr = 64;
    headers[1].p_memsz = loaded;
    o.base = (uint64_t)(uintptr_t)bytes;
    o.name = "/a/library";
    o.headers = headers;
    o.count = 2;
    CHECK(chroprof__read_object(&o, &m) == ((flags & PF_X) != 0));
    memcpy(out, m.build_id, CHROPROF__BUILD_ID);
    return out;
}

/* Notes are read where a loaded part has them, and nowhere else. */
TEST(a_note_that_is_not_in_memory)
{
    static const uint32_t lengths_and_type[3] = { 4, 4, 3 };        /* in the byte order we have */
    unsigned char note[20] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'G', 'N', 'U', 0,
                               0xc0, 0xff, 0xee, 0x01 };
    char out[CHROPROF__BUILD_ID];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = NULL;
    CHECK_EQ(posix_memalign(&map, page, 2 * page), 0);
    unsigned char *bytes = (unsigned char *)map;
    memcpy(note, lengths_and_type, sizeof lengths_and_type);
    memset(bytes, 0, 2 * page);
    memcpy(bytes + 80, note, sizeof note);
    memcpy(bytes + page - 20, note, sizeof note);
    CHECK_EQ(mprotect(bytes + page, page, PROT_NONE), 0);
    CHECK_STR(build_id_of(bytes, 80, 100, PF_R | PF_X, out), "c0ffee01");
    CHECK_STR(build_id_of(bytes, page - 20, page - 64, PF_R | PF_X, out), "c0ffee01");
    CHECK_STR(build_id_of(bytes, page - 20, page - 65, PF_R | PF_X, out), "");
    CHECK_STR(build_id_of(bytes, page - 19, page - 64, PF_R | PF_X, out), "");
    CHECK_STR(build_id_of(bytes, 80, 100, PF_X, out), "");
    CHECK_STR(build_id_of(bytes, 80, 10, PF_R, out), "");
    CHECK_STR(build_id_of(bytes, 60, 100, PF_R | PF_X, out), "");
    CHECK_STR(build_id_of(bytes, UINT64_MAX - 9, 100, PF_R | PF_X, out), "");
    CHECK_EQ(mprotect(bytes + page, page, PROT_READ | PROT_WRITE), 0);
    free(map);
}
#else
TEST(a_note_that_is_not_in_memory)
{
    SKIP("modules are read on 64-bit Linux");
}
#endif

/* One sample of one function, in a process that has this file there. */
static chroprof *caught_in(const char *path, uint64_t low)
{
    chroprof_options o;
    chroprof__entry e;
    memset(&o, 0, sizeof o);
    memset(&e, 0, sizeof e);
    o.max_samples = 16;
    chroprof *p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    chroprof__module *m = chroprof__modules(p->core);
    m->low = low;
    m->high = low + 0x2000;
    m->base = low - 0x800;
    memcpy(m->path, path, strlen(path) + 1);
    p->core->tables[CHROPROF__MODULES].used = p->core->tables[CHROPROF__MODULES].peak = 1;
    e.weight = e.last = e.stamp = 1;
    e.count = 3;
    e.items[0] = chroprof__item(CHROPROF__PC, low + 0x800);
    e.items[1] = chroprof__item(CHROPROF__RETURN, 77);      /* of no file */
    e.items[2] = chroprof__item(CHROPROF__TASK, p->core->account);
    chroprof__absorb(p, chroprof__sampler_of(p->core), &e, 1);
    at(p, 10, LEAVE, 0, NULL);
    return p;
}

TEST(files_of_several_processes_at_one_place)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    static const struct { const char *path; uint64_t low; } seen[] = {
        { "/a", 0x1000 }, { "/b", 0x2000 }, { "/a", 0x700000 }, { "/b", 0x1000 }, { "/a", 0x1000 },
    };
    chroprof sum;
    chroprof_options o;
    chroprof_sample_row rows[8];
    chroprof_stack_frame frames[4];
    size_t k;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    for (k = 0; k < 5; k++)
        CHECK_EQ(chroprof_merge(&sum, caught_in(seen[k].path, seen[k].low)), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(sum.core->tables[CHROPROF__MODULES].used, 2);
    CHECK_EQ(chroprof_samples(&sum, 0, UINT64_MAX, rows, 8), 5);
    for (k = 0; k < 5; k++) {
        CHECK_EQ(chroprof_stack(&sum, rows[k].stack, frames, 4), 3);
        CHECK_EQ(frames[0].address, 0x1000);
        CHECK_STR(frames[0].module, seen[k].path);
        CHECK_EQ(frames[1].address, 77);
        CHECK_STR(frames[1].module, "");
        CHECK_STR(frames[2].name, "accept");
    }
    CHECK_EQ(rows[0].stack, rows[2].stack);
    CHECK_EQ(rows[0].stack, rows[4].stack);
    CHECK_EQ(rows[1].stack, rows[3].stack);
    CHECK(rows[0].stack != rows[1].stack);
}

/* A program that hung leaves ticks behind its last event, a damaged one any time: what is merged
 * next keeps its own, and the sum still opens. */
TEST(merged_samples_stay_in_their_time)
{
    static uint64_t memory[HARNESS_MEMORY / 8], copy[HARNESS_MEMORY / 8];
    static const uint64_t times[] = { 1, 5000, CHROPROF__END_OF_TIME - 1, 1 };
    chroprof sum, view;
    chroprof_options o;
    chroprof_sample_row rows[4];
    size_t k;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    for (k = 0; k < 4; k++) {
        chroprof *p = caught_in("/a", 0x1000);
        chroprof__sample_rows(p->core)[0].time = times[k];
        chroprof__sample_rows(p->core)[0].duration = 3;
        CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
        laws(&sum);
    }
    CHECK_EQ(chroprof_samples(&sum, 0, UINT64_MAX, rows, 4), 4);
    for (k = 0; k < 4; k++)
        CHECK_EQ(rows[k].at_ns, 10 * k + (times[k] < 10 ? 1 : 10));
    CHECK_EQ(rows[3].duration_ns, 3);
    CHECK_EQ(chroprof_snapshot(memory, sizeof memory, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
}

/* A snapshot takes them in, so each of their words is made nonsense. */
TEST(ticks_that_wait_may_be_anything)
{
    static uint64_t copy[HARNESS_MEMORY / 8];
    static const uint64_t values[] = { 0, 255, UINT64_C(1) << 56, UINT64_MAX };
    chroprof *p = caught_in("/a", 0x1000), view;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    uint64_t *words = (uint64_t *)(void *)s, k, good = 0;
    uint64_t ring = (uint64_t)((char *)chroprof__ring(p->core, s, 3) - (char *)s) / 8;
    size_t v;
    for (k = 0; k < 3; k++) {
        chroprof__entry *e = chroprof__begin_entry(p->core, s);
        e->weight = e->stamp = e->last = 5 + k;
        e->count = 2;
        e->items[0] = chroprof__item(CHROPROF__PC, 0x1900 + k);
        e->items[1] = chroprof__item(CHROPROF__TASK, CHROPROF__UNTRACKED);
        s->put++;
    }
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    laws(&view);
    CHECK_EQ(chroprof__sampler_of(view.core)->samples, 1 + 5 + 6 + 7);
    for (k = 0; k < ring; k++) {
        uint64_t was = words[k];
        for (v = 0; v < sizeof values / sizeof *values; v++) {
            words[k] = values[v];
            if (chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copy, sizeof copy) !=
                CHROPROF_OK)
                continue;
            CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
            good += chroprof_samples(&view, 0, UINT64_MAX, NULL, 0) > 1;
        }
        words[k] = was;
    }
    CHECK(good > ring);
}

#include "inside_sums.h"
#include "inside_bounds.h"
#include "inside_core.h"
#include "inside_ticks.h"
#include "inside_pages.h"
#include "inside_formats.h"
#include "inside_open.h"
#include "inside_copies.h"
#include "inside_since.h"
#include "inside_life.h"
#include "inside_timeline.h"

/* The one count of 31 bits. */
TEST(events_of_a_stalled_turn_are_modulo_2_to_the_31)
{
    const uint64_t many = (UINT64_C(1) << 31) + 4;
    chroprof_options o;
    chroprof_stall stall;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 50;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    p->core->seq += 2 * many;
    at(p, 100, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, &stall, 1), 1);
    CHECK_EQ(stall.events, 4 + 1);
    CHECK_EQ(stall.length_ns, 100);
    CHECK_EQ(totals_of(p).events, many + 2);
}

static const test_case tests[] = {
    CASE(check_names_each_broken_invariant),
    CASE(check_of_a_skewed_copy),
    CASE(open_refuses_each_damage),
    CASE(open_refuses_a_chain_that_is_too_long),
    CASE(open_knows_the_last_level_of_windows),
    CASE(open_looks_for_the_start),
    CASE(snapshot_mends_each_damage),
    CASE(what_a_snapshot_makes_of_each_damage),
    CASE(what_a_snapshot_makes_of_an_event_cut_short),
    CASE(futures_of_one_home_are_found_in_time),
    CASE(the_doubt_is_the_interval_under_way),
    CASE(snapshot_keeps_no_more_than_the_capacity),
    CASE(difference_refuses_strangers),
    CASE(difference_of_states_that_do_not_fit),
    CASE(difference_after_windows_have_grown),
    CASE(states_without_histograms),
    CASE(merge_of_views_that_do_not_fit),
    CASE(stacks_are_read_as_they_were_taken),
    CASE(lists_of_samples_take_what_there_is_room_for),
    CASE(a_view_of_samples),
    CASE(items_without_sense_end_a_stack),
    CASE(a_sample_starts_the_profile),
    CASE(a_sample_below_hidden_frames),
    CASE(samples_inside_an_event_wait),
    CASE(neighbours_in_the_ring_are_merged),
    CASE(the_lightest_neighbours_become_one),
    CASE(notes_of_frames_outlive_a_reset),
    CASE(drawn_futures_are_where_they_are),
    CASE(draws_are_as_many_as_ticks),
    CASE(each_format_of_a_sampled_scene),
    CASE(the_text_shows_code_without_a_name),
    CASE(the_text_shows_the_heaviest_functions),
    CASE(stalls_of_deep_loops_have_samples),
    CASE(the_text_shows_where_a_stall_was_met),
    CASE(the_json_has_modules_and_walls),
    CASE(writers_that_fail_among_samples),
    CASE(the_timeline_has_parts_and_gaps),
    CASE(the_timeline_knows_who_was_idle),
    CASE(a_stall_outlives_its_samples),
    CASE(the_timeline_says_what_its_clock_was),
    CASE(code_without_a_name_is_an_address),
    CASE(a_function_with_a_name_is_there_once),
    CASE(a_stall_without_a_length_hides_no_other),
    CASE(writers_that_fail_in_the_timeline),
    CASE(open_refuses_damaged_samples),
    CASE(snapshot_mends_damaged_samples),
    CASE(check_names_each_broken_invariant_of_samples),
#if CHROPROF__SAMPLES
    CASE(modules_are_the_executable_parts_of_files),
    CASE(a_full_table_of_modules),
    CASE(modules_are_read_again),
    CASE(long_paths_of_modules_keep_their_end),
    CASE(build_ids_stand_among_notes),
    CASE(a_walk_follows_the_records),
    CASE(a_walk_below_the_first_record),
    CASE(a_walk_of_a_deep_stack_ends),
    CASE(ticks_by_hand),
    CASE(walks_of_the_user_are_cut),
    CASE(signals_of_others_are_no_ticks),
    CASE(a_signal_that_the_host_sends_and_takes),
    CASE(clocks_that_a_tick_may_read),
    CASE(cpu_time_of_a_sleeping_loop_is_kept),
    CASE(the_period_keeps_to_the_budget),
    CASE(all_real_time_signals_are_taken),
    CASE(jittered_periods),
#if CHROPROF__THREAD_TIMER
    CASE(with_jitter_each_tick_is_asked_for),
#endif
#if defined(RLIMIT_SIGPENDING)
    CASE(no_timer_is_left),
#endif
    CASE(a_period_too_short_is_lengthened),
#endif
    CASE(snapshot_refuses_what_no_event_leaves_behind),
    CASE(snapshot_while_sites_are_made),
    CASE(snapshot_of_a_writer_that_was_stuck),
    CASE(snapshot_gives_up_in_the_end),
    CASE(snapshot_ends_a_reset),
    CASE(scale_is_the_exact_floor),
    CASE(unscale_is_the_exact_floor_or_saturates),
    CASE(scaling_is_exact_bit_by_bit),
    CASE(the_numbers_in_a_block_stay_what_they_are),
    CASE(buckets_are_in_order_and_within_a_sixteenth),
    CASE(hashes_are_spread),
    CASE(small_helpers),
    CASE(strings_are_cut_between_characters),
    CASE(equal_hashes_are_not_equal_sites),
    CASE(sites_are_made_of_names),
    CASE(addresses_of_one_place_are_remembered),
    CASE(a_slow_on_stall_without_a_turn),
    CASE(common_events_go_straight),
    CASE(huge_blocks_are_shared_out),
    CASE(tables_too_large_to_count_have_no_size),
    CASE(calibration_of_clocks_that_jumped),
    CASE(init_under_a_clock_that_stands_or_goes_back),
    CASE(the_rate_comes_too_late_for_the_windows),
    CASE(times_have_three_digits),
    CASE(counts_have_three_digits_when_they_are_large),
    CASE(shares_and_moments_and_dates),
    CASE(dates_are_those_of_the_calendar),
    CASE(code_points_that_steer_a_terminal),
    CASE(utf8_there_and_back),
    CASE(places_in_little_room),
    CASE(widths_end_at_a_million),
    CASE(units_of_time_end_where_four_digits_begin),
    CASE(moments_have_hours_when_there_are_some),
    CASE(names_in_any_width),
    CASE(the_ranking_shares_out_its_columns),
    CASE(pieces_of_a_stall_fit_or_are_left_out),
    CASE(the_rest_of_a_stall_is_told),
    CASE(the_scale_of_the_time_series_is_round),
    CASE(windows_are_spread_over_columns),
    CASE(figures_without_sense_are_shown),
    CASE(the_manual_clock_stands_at_zero),
    CASE(counters_go_on_beyond_32_bits),
    CASE(a_note_that_is_not_in_memory),
    CASE(files_of_several_processes_at_one_place),
    CASE(merged_samples_stay_in_their_time),
    CASE(ticks_that_wait_may_be_anything),
    CASE(the_sampler_is_copied_between_ticks),
    CASE(a_copy_takes_in_what_a_ring_can_hold),
    CASE(a_copy_finds_stacks_by_buckets_of_its_own),
    CASE(the_most_that_a_histogram_knows),
    CASE(stacks_of_an_older_state_are_found_again),
    CASE(keys_of_stacks_are_of_the_format),
    CASE(stacks_of_an_older_state_that_are_too_deep),
    CASE(older_weights_beyond_the_newer_ones),
    CASE(difference_refuses_broken_stacks),
    CASE(merged_files_that_are_nearly_the_same),
    CASE(merged_files_do_not_overlap),
    CASE(merged_files_that_find_no_place),
    CASE(merged_code_of_a_file_without_a_row),
    CASE(merged_stacks_are_cut),
    CASE(merged_rows_are_in_order),
    CASE(merged_draws_are_added),
    CASE(merged_stalls_are_the_longest_and_the_last),
    CASE(a_merged_stall_follows_the_live_ones),
    CASE(cells_that_move_to_earlier_windows),
    CASE(windows_show_what_the_site_shows),
    CASE(of_equal_pieces_the_first_goes),
    CASE(sums_with_samples_of_others_are_foreign),
    CASE(merged_stalls_without_a_sampler),
    CASE(merge_refuses_a_target_in_use),
#if CHROPROF__SAMPLES
    CASE(modules_are_read_once_a_second),
    CASE(a_tick_while_a_stall_ends),
    CASE(ticks_that_are_lost_inside_an_event),
#endif
#if CHROPROF__SAMPLES
    CASE(tasks_come_before_native_frames),
    CASE(addresses_lose_what_stands_above_them),
    CASE(calls_know_the_tasks_that_they_began),
    CASE(the_first_record_is_at_the_stack_pointer_or_above),
    CASE(tasks_of_a_fiber_are_not_cut_off),
    CASE(a_deep_walk_uses_its_room),
    CASE(a_deep_walk_of_the_user_uses_its_room),
    CASE(registers_are_where_the_kernel_puts_them),
    CASE(the_period_doubles_up_to_a_limit),
    CASE(little_cpu_time_in_a_sleep_is_kept),
    CASE(a_tick_counts_what_it_took),
    CASE(ticks_without_a_place),
    CASE(no_walk_inside_an_event),
    CASE(settings_of_the_sampler),
    CASE(the_sampler_knows_the_stack_it_is_on),
    CASE(the_clock_of_samples),
    CASE(what_the_handler_asks_of_the_system),
    CASE(handlers_are_known_by_their_flags),
    CASE(signals_are_given_back_as_they_were),
    CASE(a_start_and_a_stop_leave_their_marks),
#if CHROPROF__THREAD_TIMER
    CASE(late_signals_count_as_many),
    CASE(a_tick_asks_for_the_next_one_with_jitter),
    CASE(small_values_are_no_blocks),
    CASE(timers_are_set_to_the_nanosecond),
    CASE(the_first_free_signal_is_taken),
#endif
#endif
    CASE(the_cost_is_that_of_the_fastest_of_five_rounds),
    CASE(the_cost_of_an_event_in_picoseconds),
    CASE(the_cost_of_all_events),
    CASE(ratios_are_exact_below_2_to_the_31),
    CASE(numbers_at_the_end_of_the_buffer),
    CASE(a_writer_that_has_failed_is_left_alone),
    CASE(bytes_of_json),
    CASE(bars_of_eighths),
    CASE(heat_begins_at_a_tenth_and_at_a_quarter),
    CASE(bars_grow_with_the_page),
    CASE(shares_of_each_precision),
    CASE(counts_at_the_bounds_of_their_units),
    CASE(files_without_their_folders),
    CASE(lines_end_at_the_last_column),
    CASE(characters_of_names),
    CASE(the_strip_is_rounded),
    CASE(the_state_is_told_line_by_line),
    CASE(turns_passes_and_futures),
    CASE(looks_of_a_page),
    CASE(long_names_stand_before_the_version),
    CASE(rows_of_full_tables),
    CASE(what_is_said_of_the_samples),
    CASE(groups_of_code_are_in_order),
    CASE(names_of_a_stack),
    CASE(the_tree_keeps_the_largest_paths),
    CASE(the_next_path_is_the_hottest),
    CASE(the_tree_has_what_is_a_hundredth),
    CASE(the_longest_stalls_are_listed),
    CASE(the_busiest_sites_have_a_row),
    CASE(a_series_of_idle_time),
    CASE(a_series_has_two_windows),
    CASE(levels_of_a_row),
    CASE(windows_in_the_json),
    CASE(frames_of_folded_stacks),
    CASE(chains_of_any_length),
    CASE(folded_values_are_whole_microseconds),
#if CHROPROF__SAMPLES
    CASE(a_dump_wakes_who_takes_in_ticks),
#endif
#if CHROPROF__HAS_COUNTER
    CASE(a_dump_calibrates_once_more),
#endif
    CASE(columns_come_with_the_width),
    CASE(names_of_functions_share_the_page),
    CASE(twelve_functions_are_shown),
    CASE(places_without_a_line),
    CASE(a_series_of_sites_that_wait),
    CASE(the_ranking_adds_up_what_it_shows),
    CASE(long_names_in_the_tree),
    CASE(slices_of_one_place),
    CASE(places_of_a_stall),
    CASE(how_many_stalls_there_were),
    CASE(modules_in_the_json),
    CASE(futures_in_the_json),
    CASE(a_little_of_many_sites),
    CASE(the_rest_of_the_paths),
    CASE(slots_are_fetched_before_the_clock_is_read),
    CASE(the_rate_is_final_after_89_milliseconds),
    CASE(the_clocks_are_read_a_few_times),
    CASE(a_reset_moves_the_calibration),
    CASE(capacities_that_just_fit),
    CASE(open_refuses_paths_of_the_loops_own_sites),
    CASE(given_capacities_that_just_fit),
    CASE(options_that_are_zero),
    CASE(addresses_at_the_end_of_the_table_are_remembered),
    CASE(lists_of_tables_and_anomalies_end),
    CASE(lost_keys_have_a_bit_each),
    CASE(windows_of_a_site_are_its_exec),
    CASE(a_reset_is_seen_by_who_copies),
    CASE(hashes_are_part_of_the_layout),
    CASE(short_texts_have_hashes_of_their_own),
    CASE(a_copy_begins_on_a_line_if_it_fits),
    CASE(mending_gives_up_at_once),
    CASE(rows_of_other_moments_are_brought_to_one),
    CASE(a_copy_takes_in_what_can_be_a_tick),
    CASE(a_copy_finds_the_stack_of_a_tick),
    CASE(a_copy_forgets_damaged_hits),
    CASE(what_an_older_state_held_back),
    CASE(a_difference_forgets_what_is_under_way),
    CASE(cells_of_a_difference_begin_anew),
    CASE(the_longest_and_the_latest_stalls_are_kept),
    CASE(merged_draws_stay_with_their_path),
    CASE(merged_profiles_without_histograms_bring_no_entries),
    CASE(slices_under_way_are_gathered),
    CASE(rows_of_the_timeline_are_what_the_reads_show),
    CASE(the_shortest_piece_gives_way),
    CASE(stalls_take_no_idle_time),
    CASE(files_that_are_no_category),
    CASE(a_stall_of_the_loop_has_no_slice),
    CASE(events_of_a_stalled_turn_are_modulo_2_to_the_31),
    CORE_CASES,
    OPEN_CASES,
    COPIES_CASES,
    SINCE_CASES,
    LIFE_CASES,
    FORMAT_CASES,
    TIMELINE_CASES,
};

TEST_MAIN(tests)
