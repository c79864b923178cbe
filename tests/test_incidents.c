/* tests/test_incidents.c - what happened in the stalls that are kept, against a list of all steps;
 * and reports in which ids are hidden.
 *
 * Run from the top of the repository. Needs xz for the recorded streams. SEED=n replays one seed,
 * ROUNDS=n asks for more, SHARE=n for fewer. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "event_text.h"

#if defined(__linux__) || defined(__APPLE__)
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static const chroprof_site sites[] = { { "accept", "server.c", 10 },
                                       { "reply", "server.c", 20 },
                                       { "query", "db.c", 7 },
                                       { "timer", "timer.c", 5 } };

enum { KEPT = CHROPROF_INCIDENT_STEPS, BEFORE = 8, FIRST = 32, LAST = 16, SIZE = 256 << 10 };

typedef union block {
    uint64_t word;
    unsigned char bytes[SIZE];
} block;

/* >>following: every step is noted as it comes, and which of them ended a stall */

typedef struct ended {
    uint64_t length, events;
    size_t end; /* after the step that ended it */
    bool iteration;
} ended;

typedef struct follow {
    chroprof *p;
    uint64_t random, now, cursor;
    size_t ring; /* steps that it holds inside an event */
    chroprof_step *steps;
    size_t count, room;
    ended *stalls; /* by number - 1 */
    size_t newest, stall_room;
} follow;

static follow *following(const chroprof_options *options, uint64_t seed)
{
    static follow f;
    chroprof_options o;
    free(f.steps);
    free(f.stalls);
    memset(&f, 0, sizeof f);
    f.p = fresh(options);
    chroprof_read_options(f.p, &o);
    f.ring = o.max_events;
    f.random = seed;
    return &f;
}

static void *grown(void *rows, size_t *room, size_t need, size_t size)
{
    size_t more = *room;
    while (more < need)
        more = more ? 2 * more : 256;
    if (more == *room)
        return rows;
    rows = realloc(rows, more * size);
    CHECK(rows != NULL);
    memset((char *)rows + *room * size, 0, (more - *room) * size);
    *room = more;
    return rows;
}

static void note_steps(follow *f)
{
    chroprof_step step;
    while (chroprof_next_step(f->p, &f->cursor, &step)) {
        f->steps = (chroprof_step *)grown(f->steps, &f->room, f->count + 1, sizeof *f->steps);
        f->steps[f->count++] = step;
    }
}

/* A stall is new, or an iteration took the place of the callback that was most of it. */
static void note_stalls(follow *f)
{
    uint64_t cursor = 0;
    chroprof_stall s;
    while (chroprof_next_stall(f->p, &cursor, &s)) {
        ended *e;
        CHECK(s.number > 0 && s.number == cursor);
        f->stalls = (ended *)grown(f->stalls, &f->stall_room, (size_t)s.number, sizeof *f->stalls);
        e = &f->stalls[s.number - 1];
        f->newest = s.number > f->newest ? (size_t)s.number : f->newest;
        if (e->length == s.length_ns && e->iteration == (s.kind == CHROPROF_STALL_ITERATION))
            continue;
        e->length = s.length_ns;
        e->iteration = s.kind == CHROPROF_STALL_ITERATION;
        e->events = s.events;
        e->end = f->count;
    }
}

static void note(follow *f)
{
    note_steps(f);
    note_stalls(f);
}

static size_t above(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t without(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

/* Marks which of the steps [from, end) are kept where so many fit: the last ones, and those
 * that begin or end the longest intervals, each of which is looked for anew. */
static void mark_kept(const follow *f, bool *kept, size_t from, size_t end, size_t room, bool known)
{
    size_t last = end - LAST, left, k, count = 0;
    bool *taken = (bool *)calloc(end - from + 1, sizeof *taken);
    CHECK(taken != NULL);
    for (left = (room - LAST) / 2; left > 0; left--) {
        uint64_t most = 0;
        size_t best = 0;
        for (k = above(known ? from : from + 1, without(last, 8192)); k <= last; k++) {
            uint64_t length = f->steps[k].at_ns - f->steps[k - 1].at_ns;
            if (!taken[k - from] && (best == 0 || length > most)) {
                most = length;
                best = k;
            }
        }
        if (best == 0)
            break;
        taken[best - from] = true;
        kept[best - from] = true;
        if (best > from)
            kept[best - 1 - from] = true;
    }
    for (k = from; k < end; k++) {
        kept[k - from] = kept[k - from] || k >= last;
        count += kept[k - from];
    }
    for (k = last; k-- > from && count < room;) {
        count += !kept[k - from];
        kept[k - from] = true;
    }
    free(taken);
}

/* A step that is kept, and the time before it. */
static void hold_step(const chroprof_step *got, const chroprof_step *want, size_t missing)
{
    CHECK_EQ(got->at_ns, want->at_ns);
    CHECK_EQ(got->id, want->id);
    CHECK_EQ(got->state, want->state);
    CHECK_EQ(got->left_out, missing);
    CHECK_EQ(got->path, missing ? 2 : want->path);
    CHECK_EQ(got->depth, want->depth);
}

/* The steps of a stall are of those that were in the ring when it ended, and the first ones of an
 * iteration in any case. Those that are kept and those left out are all. */
static void hold_stall(const follow *f, const chroprof *p, const chroprof_stall *s)
{
    chroprof_step got[KEPT];
    const ended *e = &f->stalls[s->number - 1];
    size_t count = chroprof_incident(p, s->number, got, KEPT), k, at = 0, gaps = 0, before;
    size_t begin = without(e->end, (size_t)e->events + 1), reach = without(e->end, f->ring);
    size_t lead = e->iteration || s->first_steps ? FIRST : 0, from;
    bool *kept;
    CHECK_EQ(s->step_count, count);
    if (count == 0)
        return;
    if (reach <= begin) {
        begin = above(without(begin, BEFORE), reach);
        lead = e->end - begin < LAST ? e->end - begin : (size_t)LAST;
    }
    from = above(begin + lead, reach);
    kept = (bool *)calloc(e->end - begin + 1, sizeof *kept);
    CHECK(kept != NULL);
    if (e->end - from > KEPT - lead)
        mark_kept(f, kept + (from - begin), from, e->end, KEPT - lead, reach < from);
    else
        memset(kept + (from - begin), true, e->end - from);
    memset(kept, true, lead);
    for (k = before = begin; k < e->end; k++) {
        if (!kept[k - begin])
            continue;
        CHECK(at < count);
        if (k > before && gaps == 0)
            CHECK_EQ(s->first_steps, at);
        gaps += k - before;
        hold_step(&got[at++], &f->steps[k], k - before);
        before = k + 1;
    }
    free(kept);
    CHECK_EQ(at, count);
    CHECK_EQ(s->left_out, gaps);
    CHECK_EQ(count + s->left_out, e->end - begin);
    CHECK(gaps > 0 || s->first_steps == count);
}

static void hold_all(const follow *f, const chroprof *p)
{
    uint64_t cursor = 0;
    chroprof_stall s;
    while (chroprof_next_stall(p, &cursor, &s))
        hold_stall(f, p, &s);
}

static int longer(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (y > x) - (y < x);
}

/* Half of the rows have the longest, the others the most recent ones. */
static void hold_which(const follow *f, const chroprof *p)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    uint64_t *lengths = (uint64_t *)malloc((f->newest + 1) * sizeof *lengths);
    size_t longest, recent, k, kept = 0;
    CHECK(lengths != NULL);
    (void)chroprof_tables(p, tables, CHROPROF_TABLE_COUNT);
    longest = (size_t)(tables[CHROPROF_TABLE_INCIDENTS].capacity + 1) / 2;
    recent = (size_t)tables[CHROPROF_TABLE_INCIDENTS].capacity - longest;
    CHECK_EQ(tables[CHROPROF_TABLE_INCIDENTS].dropped, 0);
    for (k = 0; k < f->newest; k++)
        lengths[k] = f->stalls[k].length;
    qsort(lengths, f->newest, sizeof *lengths, longer);
    for (k = 0; k < f->newest; k++) {
        bool wanted = f->newest - k <= recent || f->newest <= longest ||
                      f->stalls[k].length > lengths[longest];
        bool has = chroprof_incident(p, k + 1, NULL, 0) > 0;
        CHECK(has || !wanted);
        kept += has;
    }
    CHECK(kept <= longest + recent);
    free(lengths);
}

static chroprof_options options_of(uint32_t events, uint32_t incidents)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_events = events;
    o.max_stalls = 16;
    o.max_incidents = incidents;
    o.max_paths = 100;
    o.max_edges = 200;
    o.max_futures = 32;
    o.stall_ns = 3000;
    return o;
}

/* >>streams */

static void replay_line(follow *f, const char *line)
{
    event_text e;
    int kind = event_text_parse(line, &e);
    CHECK(kind >= 0);
    if (kind > 0) {
        chroprof_event(f->p, e.state, e.id, chroprof_site_make(f->p, e.name, e.file, e.line),
                       e.time);
        note(f);
        if (f->count % 1009 == 0)
            hold_all(f, f->p);
    }
}

static void replay(const char *name, uint32_t events)
{
    chroprof_options o = options_of(events, 8);
    follow *f;
    char line[2048];
    FILE *in;
    o.stall_ns = 50000;
    f = following(&o, 1);
    if (system("xz --version >/dev/null 2>&1") != 0)
        SKIP("no xz to unpack %s.events.xz", name);
    snprintf(line, sizeof line, "xz -dc %s/%s.events.xz",
             getenv("TRACES") ? getenv("TRACES") : "tests/traces", name);
    in = popen(line, "r");
    CHECK(in != NULL);
    while (fgets(line, sizeof line, in))
        replay_line(f, line);
    CHECK_EQ(pclose(in), 0);
    hold_all(f, f->p);
    hold_which(f, f->p);
    laws(f->p);
}

TEST(recorded_streams)
{
    static const char *const names[] = { "accept_forever",
                                         "attach_late",
                                         "cancel_parent_from_child",
                                         "echo50",
                                         "mixed_stillborn",
                                         "nested_poll",
                                         "outlive",
                                         "prodcons",
                                         "recursion",
                                         "tasklist",
                                         "web" };
    size_t k;
    for (k = 0; k < sizeof names / sizeof *names; k++) {
        replay(names[k], 64);
        replay(names[k], 1024);
    }
}

/* Any event at all; rare: how seldom the loop is idle, so that iterations are long. */
static void random_event(follow *f, uint64_t rare)
{
    chroprof_state state = (chroprof_state)random_below(&f->random, CHROPROF_NEXT + 1);
    uint64_t id = random_below(&f->random, 9);
    bool ends = state >= CHROPROF_IDLE_ENTER && state <= CHROPROF_LOOP_LEAVE;
    if (ends && random_below(&f->random, rare) > 0)
        state = CHROPROF_TICK;
    f->now += random_below(&f->random, 3) * random_below(&f->random, 500);
    chroprof_event(f->p, state, id, &sites[random_below(&f->random, 4)], f->now);
    note(f);
}

static void random_stream(uint64_t seed, uint64_t rare, uint32_t ring, uint32_t incidents)
{
    chroprof_options o = options_of(ring, incidents);
    follow *f = following(&o, seed);
    unsigned k;
    for (k = 0; k < 3000; k++) {
        random_event(f, rare);
        if (k % 61 == 0)
            hold_all(f, f->p);
        if (k % 997 == 996) {
            chroprof_set_enabled(f->p, false);
            note(f);
            chroprof_set_enabled(f->p, true);
            note(f);
        }
        if (k % 1301 == 1300) {
            chroprof_reset(f->p);
            f->count = f->newest = 0;
            memset(f->stalls, 0, f->stall_room * sizeof *f->stalls);
        }
    }
    hold_all(f, f->p);
    hold_which(f, f->p);
    laws(f->p);
}

TEST(random_streams)
{
    uint64_t round;
    random_seed(1);
    for (round = 0; round < share(60); round++) {
        uint64_t seed = harness()->seed + round;
        random_stream(seed, 1 + round % 3 * (3 + round % 40), 64u << round % 3,
                      1 + (uint32_t)round % 7);
    }
}

/* >>by hand */

/* An iteration of one handler that calls `calls` others. */
static void long_iteration(chroprof *p, uint64_t begin, unsigned calls, uint64_t each)
{
    unsigned k;
    at(p, begin, IDLE_LEAVE, 0, NULL);
    for (k = 0; k < calls; k++) {
        at(p, begin + 10 + k * each, ENTER, 0, &sites[k % 2]);
        at(p, begin + 10 + (k + 1) * each, LEAVE, 0, NULL);
    }
    at(p, begin + 20 + calls * each, IDLE_ENTER, 0, NULL);
}

TEST(all_steps_of_a_short_stall)
{
    chroprof_options o = options_of(64, 2);
    chroprof *p = fresh(&o);
    chroprof_step steps[KEPT], ring[KEPT];
    chroprof_stall s;
    size_t count, k;
    at(p, 0, IDLE_ENTER, 0, NULL);
    long_iteration(p, 1000, 3, 2000);
    count = chroprof_timeline(p, 0, UINT64_MAX, ring, KEPT);
    CHECK_EQ(chroprof_stalls(p, &s, 1), 1);
    CHECK_EQ(s.number, 1);
    CHECK_EQ(s.left_out, 0);
    CHECK_EQ(s.first_steps, s.step_count);
    CHECK_EQ(chroprof_incident(p, 1, steps, KEPT), count);
    for (k = 0; k < count; k++)
        CHECK(steps[k].at_ns == ring[k].at_ns && steps[k].id == ring[k].id &&
              steps[k].state == ring[k].state && steps[k].path == ring[k].path &&
              steps[k].depth == ring[k].depth);
    CHECK_EQ(chroprof_incident(p, 1, steps, 2), count);
    CHECK_EQ(chroprof_incident(p, 0, steps, KEPT), 0);
    CHECK_EQ(chroprof_incident(p, 2, steps, KEPT), 0);
    CHECK_EQ(chroprof_incident(NULL, 1, steps, KEPT), 0);
    chroprof_reset(p);
    CHECK_EQ(chroprof_incident(p, 1, steps, KEPT), 0);
    orderly(p);
}

/* The ring has forgotten the first steps of the iteration when it ends. */
TEST(first_and_last_steps_of_a_long_stall)
{
    chroprof_options o = options_of(64, 2);
    chroprof *p = fresh(&o);
    chroprof_step steps[KEPT];
    chroprof_stall s;
    at(p, 0, IDLE_ENTER, 0, NULL);
    long_iteration(p, 1000, 500, 10);
    CHECK_EQ(chroprof_stalls(p, &s, 1), 1);
    CHECK_EQ(s.events, 1001);
    CHECK_EQ(chroprof_incident(p, s.number, steps, KEPT), KEPT);
    CHECK_EQ(s.first_steps, FIRST);
    CHECK_EQ(s.left_out, 1002 - KEPT);
    CHECK_EQ(steps[0].at_ns, 1000);
    CHECK_EQ(steps[0].state, CHROPROF_IDLE_LEAVE);
    CHECK_EQ(steps[FIRST - 1].at_ns, 1000 + 10 + 16 * 10 - 10 + 0);
    CHECK_EQ(steps[KEPT - 1].state, CHROPROF_IDLE_ENTER);
    orderly(p);
}

/* Steps of hundreds that are short around one that is the stall: it is kept, where it was. */
static void one_long_slice(unsigned before, unsigned after)
{
    chroprof_options o = options_of(2048, 2);
    chroprof *p = fresh(&o);
    chroprof_step steps[KEPT];
    chroprof_stall s;
    uint64_t now = 1000, told = 0, left = 0, cursor = 0;
    size_t count, k, found = 0;
    unsigned i;
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, now, IDLE_LEAVE, 0, NULL);
    for (i = 0; i <= before + after; i++) {
        at(p, now += 5, ENTER, 0, &sites[i == before ? 2 : i % 2]);
        at(p, now += i == before ? 7530 : 20 + i % 7, LEAVE, 0, NULL);
    }
    at(p, now += 5, IDLE_ENTER, 0, NULL);
    while (chroprof_next_stall(p, &cursor, &s)) {}
    CHECK_EQ(s.kind, CHROPROF_STALL_ITERATION);
    count = chroprof_incident(p, s.number, steps, KEPT);
    CHECK(count <= KEPT && count == s.step_count);
    for (k = 0; k < count; k++) {
        uint64_t ns = steps[k].at_ns - (k > 0 ? steps[k - 1].at_ns : s.start_ns);
        left += steps[k].left_out;
        told += steps[k].at_ns > s.start_ns ? ns : 0;
        if (ns == 7530 && steps[k].left_out == 0) {
            CHECK_STR(chroprof_path_name(p, steps[k].path, NULL, NULL), "query");
            CHECK_EQ(steps[k - 1].state, CHROPROF_ENTER);
            CHECK_EQ(steps[k].state, CHROPROF_LEAVE);
            found++;
        }
    }
    CHECK_EQ(found, 1);
    CHECK_EQ(told, s.length_ns);
    CHECK_EQ(left, s.left_out);
    orderly(p);
}

TEST(the_longest_slice_is_kept)
{
    unsigned k;
    for (k = 0; k <= 60; k += (unsigned)harness_number("SHARE"))
        one_long_slice(k, 60);
    one_long_slice(400, 3);
    one_long_slice(3, 400);
    one_long_slice(300, 300);
}

TEST(a_block_without_room_for_steps)
{
    static block memory;
    chroprof_options o;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_stall s;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.stall_ns = 100;
    CHECK_EQ(chroprof_init(&p, memory.bytes, 16 << 10, &o), CHROPROF_OK);
    at(&p, 0, IDLE_ENTER, 0, NULL);
    long_iteration(&p, 1000, 300, 10);
    CHECK_EQ(chroprof_stalls(&p, &s, 1), 1);
    CHECK_EQ(s.step_count, 0);
    CHECK_EQ(s.first_steps, 0);
    CHECK_EQ(chroprof_incident(&p, s.number, NULL, 0), 0);
    (void)chroprof_tables(&p, tables, CHROPROF_TABLE_COUNT);
    CHECK_EQ(tables[CHROPROF_TABLE_INCIDENTS].capacity, 0);
    laws(&p);
}

static size_t told(size_t more)
{
    static size_t count;
    return count += more;
}

static void on_stall(void *user, const chroprof_stall *stall)
{
    const chroprof *p = (const chroprof *)user;
    chroprof_step steps[KEPT], newest;
    uint64_t cursor = 0;
    size_t count = chroprof_incident(p, stall->number, steps, KEPT);
    CHECK(count > 0 && count == stall->step_count);
    while (chroprof_next_step(p, &cursor, &newest)) {}
    CHECK_EQ(steps[count - 1].at_ns, newest.at_ns);
    CHECK_EQ(steps[count - 1].state, newest.state);
    (void)told(1);
}

TEST(on_stall_reads_the_steps)
{
    chroprof_options o = options_of(64, 2);
    chroprof *p;
    o.on_stall = on_stall;
    o.on_stall_user = harness_profile();
    p = fresh(&o);
    at(p, 0, IDLE_ENTER, 0, NULL);
    long_iteration(p, 1000, 2, 4000);
    long_iteration(p, 20000, 400, 10);
    CHECK(told(0) >= 2);
}

/* >>copies */

static void open_copy(const chroprof *p, block *copy, chroprof *view)
{
    CHECK_EQ(chroprof_snapshot(p->core, SIZE, copy->bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(view, copy->bytes, SIZE), CHROPROF_OK);
    CHECK(chroprof_check(view) == NULL);
}

static follow *follow_in(block *memory, const chroprof_options *options, uint64_t seed)
{
    follow *f = following(options, seed);
    CHECK_EQ(chroprof_init(f->p, memory->bytes, SIZE, options), CHROPROF_OK);
    return f;
}

/* What a difference has of a stall: the steps since the older state. */
static void hold_since(const chroprof *newer, const chroprof *d, const chroprof_stall *s,
                       uint64_t before, uint64_t begin)
{
    chroprof_step was[KEPT], is[KEPT];
    size_t count = chroprof_incident(newer, s->number + before, was, KEPT), k, n = 0;
    size_t got = chroprof_incident(d, s->number, is, KEPT);
    uint64_t left = 0;
    for (k = 0; k < count; k++) {
        if (was[k].at_ns < begin)
            continue;
        CHECK(n < got);
        CHECK_EQ(is[n].at_ns, was[k].at_ns - begin);
        CHECK_EQ(is[n].state, was[k].state);
        CHECK_EQ(is[n].left_out, was[k].left_out);
        CHECK(n != s->first_steps || was[k].left_out > 0);
        left += was[k].left_out;
        CHECK_EQ(is[n++].path, was[k].path);
    }
    CHECK_EQ(got, n);
    CHECK_EQ(s->left_out, left);
    CHECK(s->first_steps <= n);
}

TEST(copies_and_differences)
{
    static block live, a, b, c;
    chroprof_options o = options_of(128, 6);
    chroprof older, newer, d;
    chroprof_stall s;
    uint64_t round, k;
    random_seed(2);
    for (round = 0; round < share(60); round++) {
        follow *f = follow_in(&live, &o, harness()->seed + round);
        uint64_t cursor = 0;
        for (k = 0; k < 200 + 31 * round; k++)
            random_event(f, 1 + round % 7);
        open_copy(f->p, &a, &older);
        hold_all(f, &older);
        for (k = 0; k < 5 + 17 * round; k++)
            random_event(f, 1 + round % 7);
        open_copy(f->p, &b, &newer);
        hold_all(f, &newer);
        CHECK_EQ(chroprof_difference(&newer, &older, c.bytes, SIZE), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&d, c.bytes, SIZE), CHROPROF_OK);
        while (chroprof_next_stall(&d, &cursor, &s))
            hold_since(&newer, &d, &s, totals_of(&older).stalls, totals_of(&older).elapsed_ns);
        laws(&d);
    }
}

/* Of each stall that the sum has steps of: those of the part, in its time. */
static size_t hold_merged(const chroprof *sum, const chroprof *part, uint64_t before,
                          uint64_t begin)
{
    chroprof_step was[KEPT], is[KEPT];
    chroprof_stall s;
    uint64_t cursor = 0;
    size_t held = 0, k;
    while (chroprof_next_stall(part, &cursor, &s)) {
        size_t count = chroprof_incident(part, s.number, was, KEPT);
        if (chroprof_incident(sum, s.number + before, is, KEPT) == 0)
            continue;
        CHECK_EQ(chroprof_incident(sum, s.number + before, is, KEPT), count);
        for (k = 0; k < count; k++) {
            CHECK_EQ(is[k].at_ns, was[k].at_ns + begin);
            CHECK_EQ(is[k].id, was[k].id);
            CHECK_EQ(is[k].left_out, was[k].left_out);
            CHECK_STR(chroprof_path_name(sum, is[k].path, NULL, NULL),
                      chroprof_path_name(part, was[k].path, NULL, NULL));
        }
        held += count > 0;
    }
    return held;
}

TEST(sums)
{
    static block live, a, b, total;
    chroprof_options o = options_of(128, 6);
    chroprof part, other, sum;
    follow *f = follow_in(&live, &o, 7);
    uint64_t k, stalls, elapsed;
    for (k = 0; k < 800; k++)
        random_event(f, 4);
    open_copy(f->p, &a, &part);
    stalls = totals_of(&part).stalls;
    elapsed = totals_of(&part).elapsed_ns;
    CHECK(stalls > 3);
    o.max_incidents = 40;
    o.max_stalls = 40;
    CHECK_EQ(chroprof_init(&other, b.bytes, SIZE, &o), CHROPROF_OK);
    at(&other, 0, ENTER, 0, &sites[0]); /* so that their paths have other numbers */
    at(&other, 100, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_init(&sum, total.bytes, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &other), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, &part), CHROPROF_OK);
    CHECK(hold_merged(&sum, &part, 0, 100) > 3);
    CHECK_EQ(chroprof_merge(&sum, &part), CHROPROF_OK);
    CHECK(hold_merged(&sum, &part, 0, 100) > 3);
    CHECK(hold_merged(&sum, &part, stalls, 100 + elapsed) > 3);
    laws(&sum);
}

#if defined(__linux__) || defined(__APPLE__)
TEST(a_killed_program_leaves_them_behind)
{
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static block copy;
    chroprof_options o = options_of(64, 2);
    chroprof_step steps[KEPT];
    chroprof_stall s;
    chroprof view;
    int status;
    pid_t child;
    CHECK(memory != MAP_FAILED);
    child = fork();
    if (child == 0) {
        chroprof p;
        if (chroprof_init(&p, memory, SIZE, &o) != CHROPROF_OK)
            _exit(1);
        chroprof_event(&p, CHROPROF_IDLE_ENTER, 0, NULL, 0);
        long_iteration(&p, 1000, 500, 10);
        long_iteration(&p, 10000, 2, 10);
        (void)raise(SIGKILL);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(chroprof_snapshot(memory, SIZE, copy.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_stalls(&view, &s, 1), 1);
    CHECK_EQ(chroprof_incident(&view, s.number, steps, KEPT), KEPT);
    CHECK_EQ(steps[0].at_ns, 1000);
    CHECK_EQ(steps[KEPT - 1].state, CHROPROF_IDLE_ENTER);
    CHECK_EQ(munmap(memory, SIZE), 0);
}
#define KILLED_CASES CASE(a_killed_program_leaves_them_behind),
#else
#define KILLED_CASES
#endif

/* Whatever a word of a block says, what opens tells of steps that can have been. */
TEST(forged_steps)
{
    enum { WORDS = (32 << 10) / 8 };
    static uint64_t live[WORDS], forged[WORDS];
    chroprof_options o = options_of(64, 2);
    chroprof p, view;
    chroprof_step steps[KEPT];
    chroprof_stall s;
    size_t k, i, opened = 0;
    o.max_paths = o.max_edges = o.max_futures = 8;
    CHECK_EQ(chroprof_init(&p, live, sizeof live, &o), CHROPROF_OK);
    at(&p, 0, IDLE_ENTER, 0, NULL);
    long_iteration(&p, 1000, 400, 10);
    for (k = 0; k < (size_t)2 * WORDS; k++) {
        uint64_t cursor = 0;
        memcpy(forged, live, sizeof forged);
        forged[k / 2] = k % 2 ? UINT64_MAX : forged[k / 2] + 1000;
        if (chroprof_open(&view, forged, sizeof forged) != CHROPROF_OK)
            continue;
        for (opened++; chroprof_next_stall(&view, &cursor, &s);) {
            size_t count = chroprof_incident(&view, s.number, steps, KEPT);
            CHECK(count <= KEPT);
            for (i = 0; i < count; i++) {
                CHECK(i == 0 || steps[i].at_ns >= steps[i - 1].at_ns);
                CHECK(steps[i].path < 3 || *chroprof_path_name(&view, steps[i].path, NULL, NULL));
            }
        }
    }
    CHECK(opened > 0 && opened < (size_t)2 * WORDS);
}

/* >>ids */

enum { IDS = 6 };
static const uint64_t secret[IDS] = { UINT64_C(0xc0ffee11deadbeef), UINT64_C(0xfeedface8badf00d),
                                      UINT64_C(0x0123456789abcdef), UINT64_C(0xdecafbaddecafbad),
                                      UINT64_C(0x7f3a5c001e2d4b60), UINT64_C(0xabad1dea00c0dedb) };

/* Slow requests, stalls, anomalies, and a future that is still live. */
static void life_of_ids(chroprof *p, const uint64_t *id)
{
    uint64_t now = 0, k;
    at(p, now, IDLE_ENTER, 0, NULL);
    for (k = 0; k < 40; k++) {
        const chroprof_site *site = &sites[k % 3];
        at(p, now += 500, IDLE_LEAVE, 0, NULL);
        at(p, now += 5, PENDING, id[k % 5], site);
        at(p, now += 5, READY, id[k % 5], NULL);
        at(p, now += 200 * k, ENTER, 0, &sites[3]);
        at(p, now += 90, LEAVE, 0, NULL);
        at(p, now += 5, RUNNING, id[k % 5], NULL);
        at(p, now += 100 + k, COMPLETED, id[k % 5], NULL);
        at(p, now += 3, PAUSED, id[k % 4], NULL);
        at(p, now += 7, IDLE_ENTER, 0, NULL);
    }
    at(p, now += 10, PENDING, id[5], &sites[0]);
    at(p, now += 10, RUNNING, id[5], NULL);
    at(p, now += 10000000, TICK, 0, NULL);
}

static uint64_t place_of_id(void *user, uint64_t id)
{
    const uint64_t *ids = (const uint64_t *)user;
    uint64_t k = 0;
    while (k < IDS && ids[k] != id)
        k++;
    CHECK(k < IDS);
    return k + 1;
}

typedef struct text {
    char *bytes;
    size_t used, room;
} text;

static int text_add(void *user, const void *bytes, size_t count)
{
    text *t = (text *)user;
    t->bytes = (char *)grown(t->bytes, &t->room, t->used + count + 1, 1);
    memcpy(t->bytes + t->used, bytes, count);
    t->used += count;
    t->bytes[t->used] = '\0';
    return 0;
}

static text output_of(chroprof *p, chroprof_format format)
{
    text t = { NULL, 0, 0 };
    CHECK_EQ(chroprof_write(p, format, text_add, &t), 0);
    return t;
}

/* Is it there, as a number of any kind? */
static bool tells(const text *t, uint64_t id)
{
    char decimal[32], hex[32], HEX[32];
    size_t k;
    snprintf(decimal, sizeof decimal, "%" PRIu64, id);
    snprintf(hex, sizeof hex, "%" PRIx64, id);
    snprintf(HEX, sizeof HEX, "%" PRIX64, id);
    for (k = 0; k + 8 <= t->used; k++)
        if (memcmp(t->bytes + k, &id, 8) == 0)
            return true;
    return strstr(t->bytes, decimal) || strstr(t->bytes, hex) || strstr(t->bytes, HEX);
}

/* Its output is, byte by byte, that of a program which had the other numbers from the start, the
 * steps in the JSON as well. */
TEST(ids_are_hidden_in_every_format)
{
    static const uint64_t plain[IDS] = { 1, 2, 3, 4, 5, 6 };
    static uint64_t ids[IDS];
    static block memory[2];
    chroprof_options o = options_of(512, 4);
    chroprof hidden, other;
    int format, k;
    memcpy(ids, secret, sizeof ids);
    CHECK_EQ(chroprof_init(&hidden, memory[0].bytes, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_init(&other, memory[1].bytes, SIZE, &o), CHROPROF_OK);
    life_of_ids(&hidden, secret);
    life_of_ids(&other, plain);
    CHECK(totals_of(&hidden).anomalies > 0 && totals_of(&hidden).stalls > 0);
    CHECK(chroprof_slowest(&hidden, NULL, 0) > 0);
    for (format = CHROPROF_TEXT; format <= CHROPROF_PPROF; format++) {
        text open, shut, want;
        chroprof_show_ids(&hidden, NULL, NULL);
        open = output_of(&hidden, (chroprof_format)format);
        chroprof_show_ids(&hidden, place_of_id, ids);
        shut = output_of(&hidden, (chroprof_format)format);
        want = output_of(&other, (chroprof_format)format);
        for (k = 0; k < IDS; k++)
            CHECK(!tells(&shut, secret[k]));
        CHECK(tells(&open, secret[5]) == (format == CHROPROF_JSON));
        CHECK_EQ(shut.used, want.used);
        CHECK(memcmp(shut.bytes, want.bytes, want.used) == 0);
        free(open.bytes);
        free(shut.bytes);
        free(want.bytes);
    }
}

/* What is merged from a handle that hides ids has them hidden for good. */
TEST(ids_are_hidden_in_a_sum)
{
    static uint64_t ids[IDS];
    static block memory[2];
    chroprof_options o = options_of(512, 4);
    chroprof p, sum;
    size_t k, i;
    memcpy(ids, secret, sizeof ids);
    CHECK_EQ(chroprof_init(&p, memory[0].bytes, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_init(&sum, memory[1].bytes, SIZE, &o), CHROPROF_OK);
    life_of_ids(&p, secret);
    chroprof_show_ids(&p, place_of_id, ids);
    CHECK_EQ(chroprof_merge(&sum, &p), CHROPROF_OK);
    CHECK(chroprof_slowest(&sum, NULL, 0) > 0);
    for (k = 0; k + 8 <= SIZE; k++)
        for (i = 0; i < IDS; i++)
            CHECK(memcmp(memory[1].bytes + k, &secret[i], 8) != 0);
    laws(&sum);
}

/* However much of a nested loop the ring has lost: what the shares have and the rest is the length. */
TEST(shares_of_a_callback_around_a_nested_loop)
{
    static const chroprof_site around = { "around", "nested.c", 1 };
    static unsigned char memory[1 << 16];
    int ticks, k;
    for (ticks = 40; ticks < 90; ticks++) {
        chroprof_options o;
        chroprof_stall stall;
        chroprof p;
        uint64_t t = 1000, cursor = 0, sum = 0;
        uint32_t i;
        memset(&o, 0, sizeof o);
        o.clock = chroprof_clock_manual;
        o.max_events = 64;
        o.stall_ns = 50;
        CHECK_EQ(chroprof_init(&p, memory, sizeof memory, &o), CHROPROF_OK);
        chroprof_event(&p, CHROPROF_ENTER, 0, &around, t);
        chroprof_event(&p, CHROPROF_LOOP_ENTER, 0, NULL, t += 100);
        for (k = 0; k < ticks; k++)
            chroprof_event(&p, CHROPROF_TICK, 0, NULL, t += 10);
        chroprof_event(&p, CHROPROF_LOOP_LEAVE, 0, NULL, t += 10);
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, t + 100);
        CHECK(chroprof_next_stall(&p, &cursor, &stall));
        for (i = 0; i < stall.share_count; i++)
            sum += stall.shares[i].exec_ns;
        CHECK_EQ(sum + stall.rest_ns, stall.length_ns);
        CHECK_EQ(stall.length_ns, 200);
    }
}

/* Nothing else happened: the base ends as it began. */
static void stay(chroprof *p, const chroprof_site *site, uint64_t *t, uint64_t length)
{
    chroprof_event(p, CHROPROF_ENTER, 0, site, *t);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, *t += length);
}

static void sleep_of(chroprof *p, uint64_t *t)
{
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, *t);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, *t += 50);
}

/* In a click a loop runs, in which a save stalls: the report has it below the click's. */
TEST(a_stall_inside_a_stall_stands_below_it)
{
    static const chroprof_site click = { "on_click", "nested.c", 1 };
    static const chroprof_site save = { "on_save", "nested.c", 2 };
    chroprof_options o;
    chroprof *p;
    const harness_output *report;
    const char *outer, *inner, *other;
    uint64_t t = 1000;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.stall_ns = 100;
    o.max_incidents = 8;
    p = fresh(&o);
    sleep_of(p, &t);
    stay(p, &save, &t, 800);
    sleep_of(p, &t);
    chroprof_event(p, CHROPROF_ENTER, 0, &click, t);
    chroprof_event(p, CHROPROF_LOOP_ENTER, 0, NULL, t += 3000);
    sleep_of(p, &t);
    stay(p, &save, &t, 500);
    sleep_of(p, &t);
    chroprof_event(p, CHROPROF_LOOP_LEAVE, 0, NULL, t);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += 1000);
    sleep_of(p, &t);
    report = written(p, CHROPROF_TEXT);
    outer = strstr(report->bytes, "  callback ");
    inner = strstr(report->bytes, "  500ns \xE2\x94\x94iteration");
    other = strstr(report->bytes, "  800ns  iteration");
    CHECK(outer && inner && other && outer < inner && inner < other);
}

static const test_case cases[] = { CASE(a_stall_inside_a_stall_stands_below_it),
                                   CASE(shares_of_a_callback_around_a_nested_loop),
                                   CASE(recorded_streams),
                                   CASE(random_streams),
                                   CASE(all_steps_of_a_short_stall),
                                   CASE(first_and_last_steps_of_a_long_stall),
                                   CASE(the_longest_slice_is_kept),
                                   CASE(a_block_without_room_for_steps),
                                   CASE(on_stall_reads_the_steps),
                                   CASE(copies_and_differences),
                                   CASE(sums),
                                   KILLED_CASES CASE(forged_steps),
                                   CASE(ids_are_hidden_in_every_format),
                                   CASE(ids_are_hidden_in_a_sum) };

TEST_MAIN(cases)
