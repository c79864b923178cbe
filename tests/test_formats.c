/* tests/test_formats.c - the formats of other programs: each file that is written here is read back
 * by a checker of its format (tests/check_*.py), which compares all its sums with the JSON.
 *
 * Run from the top of the repository; files go to SCRATCH or build/. Needs python3. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <limits.h>
#include <time.h>

static const chroprof_site site_server = { "server", "src/server.c", 10 };
static const chroprof_site site_request = { "request", "src/server.c", 20 };
static const chroprof_site site_query = { "query", "src/db.c", 30 };
static const chroprof_site site_timer = { "timer", NULL, 0 };

static void need_python(void)
{
    if (system("python3 -c 'pass' >/dev/null 2>&1") != 0)
        SKIP("no python3");
}

static void save(chroprof *p, chroprof_format format, const char *name)
{
    FILE *out = fopen(scratch(name), "wb");
    CHECK(out != NULL);
    CHECK_EQ(chroprof_dump(p, format, out), 0);
    CHECK_EQ(fclose(out), 0);
}

#define run_checker(...) harness_checker(__FILE__, __LINE__, __VA_ARGS__)

/* Runs tests/check_NAME.py FILE JSON EXTRA. */
static void harness_checker(const char *file, int line, const char *name, const char *of,
                            const char *extra)
{
    char command[8192];
    char output[4096];
    snprintf(output, sizeof output, "%s", scratch(of));
    snprintf(command, sizeof command, "python3 tests/check_%s.py %s %s %s >/dev/null", name, output,
             scratch("formats.json"), extra);
    fflush(stdout);
    if (system(command) != 0)
        harness_fail(file, line, "%s", command);
}

/* Writes all formats of a profile that stands still and has each one checked. */
static void check_formats(chroprof *p)
{
    CHECK(chroprof_check(p) == NULL);
    save(p, CHROPROF_PROMETHEUS, "formats.prom");
    save(p, CHROPROF_PROMETHEUS_ALL, "formats_all.prom");
    save(p, CHROPROF_PPROF, "formats.pb");
    save(p, CHROPROF_JSON, "formats.json");
    run_checker("prometheus", "formats.prom", "");
    run_checker("prometheus", "formats_all.prom", "--all");
    run_checker("pprof", "formats.pb", "");
}

/* >>profiles */

/* Requests that create queries, a server that never ends, delays, failures, idle, stalls. */
static uint64_t serve(chroprof *p, uint64_t now, uint64_t rounds)
{
    uint64_t k;
    for (k = 0; k < rounds; k++) {
        uint64_t id = 100 + 2 * k;
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 3000000 + k);
        chroprof_event(p, CHROPROF_RUNNING, 1, NULL, now += 1000);
        chroprof_event(p, CHROPROF_PENDING, id, &site_request, now += 500);
        chroprof_event(p, CHROPROF_READY, id, NULL, now);
        chroprof_event(p, CHROPROF_PAUSED, 1, NULL, now += 20000 * (k % 7));
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, now += 70);
        chroprof_event(p, CHROPROF_PENDING, id + 1, &site_query, now += 5);
        chroprof_event(p, CHROPROF_RUNNING, id + 1, NULL, now);
        chroprof_event(p, k % 5 ? CHROPROF_COMPLETED : CHROPROF_FAILED, id + 1, NULL,
                       now += k % 10 == 9 ? 31000007 : 100001);
        chroprof_event(p, k % 3 ? CHROPROF_COMPLETED : CHROPROF_PAUSED, id, NULL, now += 12);
        chroprof_event(p, CHROPROF_ENTER, 0, &site_timer, now += 9);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 1001);
        if (k % 11 == 0)
            chroprof_event(p, CHROPROF_CANCELLED, 0, &site_timer, now);
    }
    return now;
}

/* windows of 1 ms, or 0: the default */
static chroprof *served_in(uint32_t windows, uint64_t rounds)
{
    chroprof_options options;
    chroprof *p;
    memset(&options, 0, sizeof options);
    options.name = "a \"profile\"\\";
    options.max_windows = windows;
    options.window_ns = windows != 0 ? 1000000 : 0;
    p = fresh(&options);
    chroprof_event(p, CHROPROF_PENDING, 1, &site_server, 17);
    (void)serve(p, 17, rounds);
    return p;
}

static chroprof *served(uint64_t rounds)
{
    return served_in(0, rounds);
}

TEST(a_server)
{
    need_python();
    check_formats(served(100));
}

TEST(merged_windows)
{
    need_python();
    check_formats(served(9000));
}

/* More than any picture has columns. */
TEST(more_windows_than_are_drawn)
{
    need_python();
    check_formats(served_in(1000, 100));
    CHECK_IN(chroprof_windows(harness_profile(), NULL, 0), 481, 1000);
}

TEST(nothing_happened)
{
    need_python();
    check_formats(fresh(NULL));
}

TEST(one_tick)
{
    chroprof *p = fresh(NULL);
    need_python();
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 5);
    chroprof_event(p, CHROPROF_ENTER, 0, &site_timer, 6);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 7);
    check_formats(p);
}

/* A lifetime beyond 2^63 ns, which pprof has no number for: three futures of 109 years. */
TEST(more_wall_than_is_signed)
{
    chroprof *p = fresh(NULL);
    uint64_t id;
    need_python();
    for (id = 1; id <= 3; id++)
        at(p, 0, PENDING, id, &site_request);
    at(p, UINT64_C(3) << 60, TICK, 0, NULL);
    CHECK_EQ(rank_of(p, "request").lifetime_ns, UINT64_C(9) << 60);
    check_formats(p);
}

TEST(hostile_names)
{
    static const char *const names[] = { "</script><img onerror=alert(1)>",
                                         "a\"b\\c\nd\te\r",
                                         "\x01\x1f\x7f",
                                         "",
                                         "Idle",
                                         "(other)",
                                         "\xff",
                                         "\xfe",
                                         "\xef\xbf\xbd",
                                         "\xed\xa0\x80",
                                         "cut \xe2\x82",
                                         "\xe2\x82\xac \xf0\x9f\x90\x8c",
                                         "{marker.data.x}",
                                         "__proto__",
                                         "le=\"1\"} 7",
                                         "# TYPE x counter",
                                         "\xe2\x80\xa8",
                                         "a;b 17" };
    chroprof *p = fresh(NULL);
    uint64_t now = 0;
    uint32_t k;
    const uint32_t count = sizeof names / sizeof *names;
    need_python();
    for (k = 0; k < 3 * count; k++) {
        chroprof_site site;
        site.name = names[k % count];
        site.file = k < count ? "" : names[(k * 7 + 1) % count];
        site.line = k / count * 1000000007u;
        chroprof_event(p, CHROPROF_ENTER, 0, chroprof_site_make(p, site.name, site.file, site.line),
                       now += 11);
        if (k % 4 == 3)
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 30000000);
    }
    check_formats(p);
}

/* Names are cut, sites are "(other)", paths are their parents', histograms are missing. */
TEST(full_tables)
{
    chroprof_options options;
    chroprof *p;
    uint64_t now = 0;
    uint32_t k;
    need_python();
    memset(&options, 0, sizeof options);
    options.max_sites = 20;
    options.max_paths = 30;
    options.max_histograms = 5;
    options.max_futures = 9;
    options.string_bytes = 100;
    options.max_stalls = 2;
    p = fresh(&options);
    for (k = 0; k < 200; k++) {
        char name[40];
        snprintf(name, sizeof name, "a rather long name %u", k % 40);
        chroprof_event(p, CHROPROF_PENDING, k + 1, chroprof_site_make(p, name, "file", 1),
                       now += 5);
        chroprof_event(p, CHROPROF_RUNNING, k + 1, NULL, now += 5);
        if (k % 3 == 2)
            chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now += 21000000);
    }
    check_formats(p);
    CHECK(totals_of(p).dropped > 0);
}

/* Long and short ones in any order. */
TEST(many_stalls)
{
    chroprof_options options;
    chroprof *p;
    uint64_t k;
    need_python();
    memset(&options, 0, sizeof options);
    options.max_stalls = 600;
    options.stall_ns = 1000;
    options.window_ns = 100000000;
    p = fresh(&options);
    at(p, 0, IDLE_ENTER, 0, NULL);
    for (k = 0; k < 150; k++) {
        at(p, 1000000 * k + 500000, IDLE_LEAVE, 0, NULL);
        at(p, 1000000 * k + 500000, ENTER, 0, &site_timer);
        at(p, 1000000 * k + 550000 + 1000 * (k * 37 % 150), LEAVE, 0, NULL);
        at(p, 1000000 * k + 550000 + 1000 * (k * 37 % 150), IDLE_ENTER, 0, NULL);
    }
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 150); /* the callback is all of the iteration */
    check_formats(p);
}

/* >>a big tree: 100,000 paths */

enum { BIG = 100000, BIG_MEMORY = 96 << 20 };

static void grow(chroprof *p, uint32_t sites)
{
    static chroprof_site made[1000];
    static char names[1000][12];
    uint64_t seed = 7;
    uint64_t now = 0;
    uint32_t k;
    for (k = 0; k < sites; k++) {
        snprintf(names[k], sizeof names[k], "site %u", k);
        made[k].name = names[k];
        made[k].file = "src/many.c";
        made[k].line = k + 1;
    }
    while (table_of(p, CHROPROF_TABLE_PATHS).used < BIG) {
        uint64_t depth = 1 + random_below(&seed, 6);
        for (k = 0; k < depth; k++)
            chroprof_event(p, CHROPROF_ENTER, 0, &made[random_below(&seed, sites)],
                           now += random_below(&seed, 3000));
        for (k = 0; k < depth; k++)
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += random_below(&seed, 3000));
    }
}

static int count_bytes(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(uint64_t *)user += count;
    return 0;
}

/* Far below what any machine needs, and far above what work in the square of something takes. */
static void check_cost(chroprof *p)
{
    static const chroprof_format formats[] = { CHROPROF_TEXT,   CHROPROF_JSON,
                                               CHROPROF_FOLDED, CHROPROF_PROMETHEUS,
                                               CHROPROF_PPROF,  CHROPROF_PROMETHEUS_ALL };
    uint32_t k;
    for (k = 0; k < sizeof formats / sizeof *formats; k++) {
        uint64_t bytes = 0;
        clock_t start = clock();
        CHECK_EQ(chroprof_write(p, formats[k], count_bytes, &bytes), 0);
        CHECK(bytes > 1000);
        CHECK_IN((clock() - start) / CLOCKS_PER_SEC, 0, 30);
    }
}

TEST(a_hundred_thousand_paths)
{
    static chroprof big;
    void *memory = malloc(BIG_MEMORY);
    chroprof_options options;
    need_python();
    CHECK(memory != NULL);
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    options.max_paths = BIG;
    options.max_edges = 2 * BIG;
    options.max_sites = 1000;
    options.max_windows = 1000;
    options.window_ns = 500000;
    options.string_bytes = 1 << 16;
    CHECK_EQ(chroprof_init(&big, memory, BIG_MEMORY, &options), CHROPROF_OK);
    grow(&big, 1000);
    CHECK_IN(chroprof_windows(&big, NULL, 0), 500, 1000);
    check_formats(&big);
    check_cost(&big);
    free(memory);
}

/* >>our own clock, whose ticks are no nanoseconds: what is floored in parts still adds up */

static chroprof *copied(const void *block, size_t size)
{
    static chroprof view;
    CHECK_EQ(chroprof_snapshot(block, size, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, harness_memory(), HARNESS_MEMORY), CHROPROF_OK);
    return &view;
}

/* The JSON alone; the lengths of windows are rounded apart from what is in them. */
static void check_own_sums(void)
{
    char command[8192];
    snprintf(command, sizeof command, "python3 tests/check_json.py --rounded %s",
             scratch("formats.json"));
    fflush(stdout);
    CHECK_EQ(system(command), 0);
}

TEST(our_own_clock)
{
    enum { SITES = 12, SIZE = 1 << 20 };
    static const char names[SITES][2] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"
    };
    const chroprof_site *made[SITES];
    static chroprof live;
    void *memory = malloc(SIZE);
    chroprof_options options;
    uint64_t seed = 5;
    uint32_t k;
    need_python();
    CHECK(memory != NULL);
    memset(&options, 0, sizeof options);
    options.window_ns = 1000000;
    CHECK_EQ(chroprof_init(&live, memory, SIZE, &options), CHROPROF_OK);
    for (k = 0; k < SITES; k++)
        made[k] = chroprof_site_make(&live, names[k], "clock.c", k + 1);
    while (totals_of(&live).elapsed_ns < 200000000) {
        for (k = 0; k < 4; k++)
            chroprof_enter(&live, made[random_below(&seed, SITES)]);
        for (k = 0; k < 4; k++)
            chroprof_leave(&live);
    }
    check_formats(copied(memory, SIZE));
    check_own_sums();
    free(memory);
}

/* >>writers that fail */

typedef struct failing {
    unsigned long calls, until;
    size_t largest;
    bool called_again;
} failing;

static int fail_late(void *user, const void *bytes, size_t count)
{
    failing *f = (failing *)user;
    (void)bytes;
    f->called_again = f->called_again || f->calls > f->until;
    f->largest = count > f->largest ? count : f->largest;
    return f->calls++ == f->until;
}

/* A writer sees pieces, never bytes: failing at every piece is failing at every byte. */
static void fail_everywhere(chroprof *p, chroprof_format format)
{
    unsigned long pieces;
    failing f;
    memset(&f, 0, sizeof f);
    f.until = ULONG_MAX;
    CHECK_EQ(chroprof_write(p, format, fail_late, &f), 0);
    CHECK_IN(f.largest, 1, 4096);
    pieces = f.calls;
    for (f.until = 0; f.until < pieces; f.until++) {
        f.calls = 0;
        CHECK_EQ(chroprof_write(p, format, fail_late, &f), -1);
        CHECK(!f.called_again);
        CHECK_EQ(f.calls, f.until + 1);
    }
}

TEST(failing_writers)
{
    chroprof *p = served(40);
    fail_everywhere(p, CHROPROF_PROMETHEUS);
    fail_everywhere(p, CHROPROF_PROMETHEUS_ALL);
    fail_everywhere(p, CHROPROF_PPROF);
    CHECK_EQ(chroprof_write_prometheus(NULL, NULL, fail_late, NULL), -1);
    CHECK_EQ(chroprof_write_prometheus(p, NULL, NULL, NULL), -1);
    memset(p, 0, sizeof *p);
    CHECK_EQ(chroprof_write_prometheus(p, NULL, fail_late, NULL), -1);
}

TEST(the_same_bytes_again)
{
    static harness_output first;
    chroprof *p = served(10);
    memcpy(&first, written(p, CHROPROF_PPROF), sizeof first);
    CHECK_EQ(written(p, CHROPROF_PPROF)->used, first.used);
    CHECK(memcmp(written(p, CHROPROF_PPROF)->bytes, first.bytes, first.used) == 0);
}

/* >>a limit of series */

static int write_file(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) != count;
}

static void save_top(chroprof *p, const chroprof_prometheus_options *options, const char *name)
{
    FILE *out = fopen(scratch(name), "wb");
    CHECK(out != NULL);
    CHECK_EQ(chroprof_write_prometheus(p, options, write_file, out), 0);
    CHECK_EQ(fclose(out), 0);
    save(p, CHROPROF_JSON, "formats.json");
}

/* Sites overtake each other at random; no series may fall, "(other)" least of all. */
TEST(first_sites_only)
{
    static chroprof_site made[30];
    static char names[30][12];
    static const char files[2][16] = { "formats.0.prom", "formats.1.prom" };
    chroprof *p = fresh(NULL);
    chroprof_prometheus_options options;
    char extra[4200];
    uint64_t seed = 3;
    uint64_t now = 0;
    uint32_t round;
    uint32_t k;
    need_python();
    memset(&options, 0, sizeof options);
    options.top = 4;
    for (round = 0; round < 12; round++) {
        for (k = 0; k < 300; k++) {
            uint64_t site = random_below(&seed, 2 + 2 * round);
            snprintf(names[site], sizeof names[site], "site %u", (unsigned)site);
            made[site].name = names[site];
            made[site].file = "f";
            chroprof_event(p, CHROPROF_ENTER, 0, &made[site], now += 10);
            chroprof_event(p, CHROPROF_READY, 9, NULL, now);
            chroprof_event(p, CHROPROF_PENDING, 1 + site, &made[site / 2], now += 10);
            chroprof_event(p, CHROPROF_READY, 1 + site, NULL, now);
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL,
                           now += random_below(&seed, (uint64_t)1 << (round + site % 8)));
        }
        options.by = (chroprof_order)(round % 6);
        save_top(p, &options, files[round % 2]);
        snprintf(extra, sizeof extra, "--top 4");
        if (round > 0)
            snprintf(extra, sizeof extra, "--top 4 --after %s", scratch(files[(round + 1) % 2]));
        run_checker("prometheus", files[round % 2], extra);
    }
}

/* The first site by `by` of a profile, as the metric of live futures shows it. */
static const char *first_by(chroprof *p, chroprof_order by)
{
    static harness_output output;
    static char name[32];
    chroprof_prometheus_options options;
    const char *line;
    memset(&output, 0, sizeof output);
    memset(&options, 0, sizeof options);
    options.top = 1;
    options.by = by;
    CHECK_EQ(chroprof_write_prometheus(p, &options, harness_collect, &output), 0);
    line = strstr(output.bytes, "\nchroprof_live_futures{name=\"");
    CHECK(line != NULL);
    CHECK_EQ(sscanf(line, "\nchroprof_live_futures{name=\"%31[^\"]", name), 1);
    return name;
}

/* One site after the other takes the lead in a figure; a slice under way counts as long as it is. */
TEST(who_is_first_by_what)
{
    static const chroprof_site often = { "often", "f", 1 }, once = { "once", "f", 2 },
                               parent = { "parent", "f", 3 };
    chroprof *p = fresh(NULL);
    uint32_t k;
    for (k = 0; k < 3; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &parent, 10);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10);
    }
    chroprof_event(p, CHROPROF_ENTER, 0, &parent, 10);
    chroprof_event(p, CHROPROF_ENTER, 0, &often, 11);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 111);
    chroprof_event(p, CHROPROF_ENTER, 0, &often, 111);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 211);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 212);
    chroprof_event(p, CHROPROF_ENTER, 0, &once, 212);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 311);
    CHECK_STR(first_by(p, CHROPROF_BY_CALLS), "parent");
    CHECK_STR(first_by(p, CHROPROF_BY_EXEC), "often");
    CHECK_STR(first_by(p, CHROPROF_BY_WITH_CHILDREN), "parent");
    CHECK_STR(first_by(p, CHROPROF_BY_SLICE_MAX), "often");
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 313);
    CHECK_STR(first_by(p, CHROPROF_BY_SLICE_MAX), "once");
    CHECK_STR(first_by(p, CHROPROF_BY_EXEC), "often");
    CHECK_STR(first_by(p, (chroprof_order)made_up(77)), "often");
    chroprof_event(p, CHROPROF_LOOP_ENTER, 0, NULL, 313);
    CHECK_STR(first_by(p, CHROPROF_BY_SLICE_MAX), "once");
    chroprof_event(p, CHROPROF_PENDING, 7, &parent, 313);
    chroprof_event(p, CHROPROF_READY, 7, NULL, 313);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 320);
    CHECK_STR(first_by(p, CHROPROF_BY_DELAY), "parent");
    chroprof_event(p, CHROPROF_ENTER, 0, &often, 320);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 330);
    CHECK_STR(first_by(p, CHROPROF_BY_BLAME), "often");
    chroprof_event(p, CHROPROF_RUNNING, 99, NULL, 330);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 1000);
    CHECK_STR(first_by(p, CHROPROF_BY_SLICE_MAX), "once"); /* untracked is no site */
}

/* Sites are gathered by the thousand: a slice under way in the second thousand leads. */
TEST(more_sites_than_are_gathered_at_once)
{
    char names[2100][12];
    chroprof_site made[2100];
    chroprof_options options;
    chroprof *p;
    uint64_t now = 0;
    uint32_t k;
    need_python();
    memset(&options, 0, sizeof options);
    options.max_sites = options.max_paths = options.max_edges = 2100;
    options.max_histograms = 3;
    options.max_windows = options.max_samples = 1;
    options.string_bytes = 40000;
    p = fresh(&options);
    for (k = 0; k < 2100; k++) {
        snprintf(names[k], sizeof names[k], "site %u", k);
        made[k].name = names[k];
        made[k].file = "f";
        made[k].line = 1;
        chroprof_event(p, CHROPROF_ENTER, 0, &made[k], now += 10);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 1 + k);
    }
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SITES).used, 2100);
    CHECK_STR(first_by(p, CHROPROF_BY_EXEC), "site 2099");
    chroprof_event(p, CHROPROF_ENTER, 0, &made[1500], now);
    chroprof_event(p, CHROPROF_ENTER, 0, &made[3], now += 9000);
    CHECK_STR(first_by(p, CHROPROF_BY_SLICE_MAX), "site 1500");
    check_formats(p);
}

/* The checkers are no rubber stamps: a file of another profile does not pass. */
TEST(a_wrong_file_is_refused)
{
    static const char *const checks[] = { "prometheus", "pprof" };
    static const char *const files[] = { "formats.prom", "formats.pb" };
    char command[8192];
    char path[4096];
    uint32_t k;
    need_python();
    check_formats(served(30));
    save(served(31), CHROPROF_JSON, "formats.json");
    for (k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s", scratch(files[k]));
        snprintf(command, sizeof command, "python3 tests/check_%s.py %s %s >/dev/null 2>&1",
                 checks[k], path, scratch("formats.json"));
        CHECK(system(command) != 0);
    }
}

static const test_case cases[] = {
    CASE(a_server),
    CASE(merged_windows),
    CASE(more_windows_than_are_drawn),
    CASE(nothing_happened),
    CASE(one_tick),
    CASE(more_wall_than_is_signed),
    CASE(hostile_names),
    CASE(full_tables),
    CASE(many_stalls),
    CASE(a_hundred_thousand_paths),
    CASE(our_own_clock),
    CASE(failing_writers),
    CASE(the_same_bytes_again),
    CASE(first_sites_only),
    CASE(who_is_first_by_what),
    CASE(more_sites_than_are_gathered_at_once),
    CASE(a_wrong_file_is_refused),
};

TEST_MAIN(cases)
