/* tests/harness.h - the tests' own tools: cases, checks, a profile whose clock is moved by hand.
 *
 * A test file has TEST(name) { ... } bodies, a table of them and TEST_MAIN(table). The compiler
 * warns of a body that is not in the table. Each program prints "ok NAME", "FAIL NAME: why" or
 * "skip NAME: why" for each case, ends with "N passed, N failed, N skipped", and exits with 1 if
 * anything failed. Arguments are parts of names: only cases that contain one of them run; "=name"
 * is a whole name, "-name" one that is left out. --list only prints the names.
 * SEED=n in the environment replays a random test; EXCEPT=words, with commas in between, skips
 * cases that contain one; ROUNDS=n lets random tests run n times as long, SHARE=n the nth part, as
 * the last lines then say; PROFILES=folder keeps the profile that a case ends with, and those for
 * which it calls harness_keep, in every format, as PROGRAM.CASE (tests/formats.sh).
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "../chroprof.h"
#include "every_format.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define HARNESS_PRINTF(f, a) __attribute__((format(printf, f, a), noreturn))
#else
#define HARNESS_PRINTF(f, a)
#endif

/* >>cases */

typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

#define TEST(name) static void test_##name(void)
#define CASE(name)                                                                                 \
    {                                                                                              \
#name, test_##name                                                                         \
    }
#define TEST_MAIN(table)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return harness_main(argc, argv, table, sizeof table / sizeof table[0]);                    \
    }

typedef struct harness_state {
    jmp_buf out;
    const char *program;
    const char *name;
    const char *event; /* what the last at() did, for the message */
    uint64_t seed;
    int tries; /* that are left if this one fails */
    bool keeps;
    unsigned long kept; /* how often this case had a profile to keep */
    unsigned long passed, failed, skipped;
} harness_state;

/* How often a case is tried that fails; above 1 only where a busy machine decides with. */
#ifndef HARNESS_TRIES
#define HARNESS_TRIES 1
#endif

static inline harness_state *harness(void)
{
    static harness_state state;
    return &state;
}

HARNESS_PRINTF(3, 4)
static inline void harness_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    printf("%s %s: %s:%d: ", harness()->tries > 0 ? "again" : "FAIL", harness()->name, file, line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    if (harness()->event != NULL)
        printf(" (after %s)", harness()->event);
    if (harness()->seed != 0)
        printf(" (SEED=%" PRIu64 ")", harness()->seed);
    printf("\n");
    longjmp(harness()->out, 1);
}

HARNESS_PRINTF(1, 2)
static inline void harness_skip(const char *format, ...)
{
    va_list arguments;
    printf("skip %s: ", harness()->name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    longjmp(harness()->out, 2);
}

static inline bool harness_excepted(const char *name)
{
    const char *words = getenv("EXCEPT");
    char word[80];
    size_t count;
    for (; words != NULL && *words != '\0'; words += count + (words[count] == ',')) {
        count = strcspn(words, ",");
        snprintf(word, sizeof word, "%.*s", (int)count, words);
        if (count > 0 && strstr(name, word) != NULL)
            return true;
    }
    return false;
}

/* The one profile of the fixture. */
static inline chroprof *harness_profile(void)
{
    static chroprof profile;
    return &profile;
}

/* A profile with a running clock whose last state is to be kept as well; it is switched off for
 * that, so that it stands still. */
static inline chroprof **harness_live(void)
{
    static chroprof *live;
    return &live;
}

static inline bool harness_stands_still(const chroprof *p)
{
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    return !t.enabled || chroprof_now(p) == chroprof_now(p);
}

/* What a loop makes many of: the 1st, 4th, 16th.. is written. */
static inline bool harness_counts(unsigned long number)
{
    while (number % 4 == 0)
        number /= 4;
    return number == 1;
}

/* Only if it stands still: the formats are to agree. */
static inline void harness_keep(chroprof *p)
{
    const char *folder = getenv("PROFILES");
    char name[200];
    int used;
    if (folder == NULL || !harness()->keeps || p->core == NULL || !harness_stands_still(p) ||
        !harness_counts(++harness()->kept))
        return;
    used = snprintf(name, sizeof name, "%s.%s", harness()->program, harness()->name);
    if (harness()->kept > 1)
        snprintf(name + used, sizeof name - (size_t)used, ".%lu", harness()->kept);
    if (!every_format(p, folder, name))
        harness_fail(__FILE__, __LINE__, "cannot write every format to %s", folder);
}

/* Is it to be tried again? */
static inline bool harness_try(const test_case *test)
{
    int how;
    harness()->tries--;
    memset(harness_profile(), 0, sizeof(chroprof));
    *harness_live() = NULL;
    harness()->name = test->name;
    harness()->event = NULL;
    harness()->seed = 0;
    harness()->keeps = true;
    harness()->kept = 0;
    how = setjmp(harness()->out);
    if (how == 0) {
        if (harness_excepted(test->name))
            harness_skip("left out by EXCEPT");
        test->run();
        if (*harness_live() != NULL)
            chroprof_set_enabled(*harness_live(), false);
        harness_keep(*harness_live() != NULL ? *harness_live() : harness_profile());
        printf("ok %s\n", test->name);
        harness()->passed++;
    } else if (how == 1) {
        harness()->failed += harness()->tries == 0;
    } else {
        harness()->skipped++;
    }
    fflush(stdout);
    return how == 1 && harness()->tries > 0;
}

static inline void harness_run(const test_case *test)
{
    harness()->tries = HARNESS_TRIES;
    while (harness_try(test)) {}
}

/* A number above 0 of the environment; 1 if it is not there. */
static inline unsigned long harness_number(const char *name)
{
    const char *given = getenv(name);
    unsigned long n = given != NULL ? strtoul(given, NULL, 10) : 1;
    return n ? n : 1;
}

static inline unsigned long rounds(void)
{
    return harness_number("ROUNDS");
}

/* How often a loop of count random or heavy steps goes round, as ROUNDS and SHARE want it. */
static inline unsigned long share(unsigned long count)
{
    unsigned long n = count * rounds() / harness_number("SHARE");
    return n ? n : 1;
}

static inline bool harness_wanted(const char *name, int argc, char **argv)
{
    bool wanted = true, chosen = false;
    int i;
    for (i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && strcmp(name, argv[i] + 1) == 0)
            return false;
        wanted = wanted && argv[i][0] == '-';
        chosen = chosen || (argv[i][0] == '=' ? strcmp(name, argv[i] + 1) == 0
                                              : strstr(name, argv[i]) != NULL);
    }
    return wanted || chosen;
}

static inline int harness_list(const test_case *tests, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        printf("%s\n", tests[i].name);
    return 0;
}

/* For cases that end with what no events make. */
static inline void harness_keep_none(void)
{
    harness()->keeps = false;
}

/* Without its folder. */
static inline const char *harness_program(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    return slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "test";
}

static inline int harness_main(int argc, char **argv, const test_case *tests, size_t count)
{
    size_t i;
    harness()->program = harness_program(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return harness_list(tests, count);
    for (i = 0; i < count; i++)
        if (harness_wanted(tests[i].name, argc, argv))
            harness_run(&tests[i]);
    if (harness_number("SHARE") != 1)
        printf("# random and heavy loops: one part in %lu of their rounds\n",
               harness_number("SHARE"));
    printf("%lu passed, %lu failed, %lu skipped\n", harness()->passed, harness()->failed,
           harness()->skipped);
    return harness()->failed != 0;
}

/* >>checks: the first that does not hold ends its case */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            harness_fail(__FILE__, __LINE__, "%s", #condition);                                    \
    } while (0)

#define CHECK_EQ(got, want)                                                                        \
    harness_equal(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))

/* lowest <= got <= highest */
#define CHECK_IN(got, lowest, highest)                                                             \
    harness_within(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(lowest),                  \
                   (uint64_t)(highest))

#define CHECK_STR(got, want) harness_same(__FILE__, __LINE__, #got, got, want)

#define SKIP(...) harness_skip(__VA_ARGS__)

/* What a start of the sampler returned: the case ends as skipped where the system grants no timers,
 * and no other error is hidden. errno must still be that of the start. */
#define STARTED(result) harness_started(__FILE__, __LINE__, result)

static inline void harness_equal(const char *file, int line, const char *what, uint64_t got,
                                 uint64_t want)
{
    if (got != want)
        harness_fail(file, line, "%s is %" PRIu64 ", not %" PRIu64, what, got, want);
}

static inline void harness_within(const char *file, int line, const char *what, uint64_t got,
                                  uint64_t lowest, uint64_t highest)
{
    if (got < lowest || got > highest)
        harness_fail(file, line, "%s is %" PRIu64 ", not %" PRIu64 " to %" PRIu64, what, got,
                     lowest, highest);
}

static inline void harness_same(const char *file, int line, const char *what, const char *got,
                                const char *want)
{
    if (got == NULL || strcmp(got, want) != 0)
        harness_fail(file, line, "%s is \"%s\", not \"%s\"", what, got == NULL ? "(NULL)" : got,
                     want);
}

/* Did the system refuse a timer that was asked for in a proper way? It refuses one that is in use
 * or described wrongly as well, and that would be a fault of ours. */
static inline bool harness_no_timer(chroprof_result result)
{
    return result == CHROPROF_ERR_SAMPLER_TIMER && errno != EBUSY && errno != EINVAL &&
           errno != EFAULT;
}

static inline void harness_started(const char *file, int line, chroprof_result result)
{
    if (harness_no_timer(result))
        harness_skip("no timers here: %s", strerror(errno));
    harness_equal(file, line, "chroprof_sampler_start", (uint64_t)result, CHROPROF_OK);
}

/* >>random: the same numbers on every machine */

static inline void random_seed(uint64_t standard)
{
    const char *given = getenv("SEED");
    harness()->seed = given != NULL ? strtoull(given, NULL, 10) : standard;
    if (harness()->seed == 0)
        harness()->seed = standard;
}

/* splitmix64, state kept by the caller */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return random_next(state) % bound;
}

/* For values that are not in their enumeration: a constant one is a warning in C++. */
static inline int made_up(int number)
{
    return number;
}

/* >>reading */

enum { HARNESS_ROWS = 4096 };

static inline chroprof_totals totals_of(const chroprof *p)
{
    chroprof_totals totals;
    memset(&totals, 0x5a, sizeof totals);
    chroprof_read_totals(p, &totals);
    return totals;
}

static inline const chroprof_rank *find_rank(const chroprof *p, const char *name)
{
    static chroprof_rank rows[HARNESS_ROWS];
    size_t count = chroprof_ranks(p, rows, HARNESS_ROWS, CHROPROF_BY_EXEC);
    size_t i;
    for (i = 0; i < count && i < HARNESS_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

#define rank_of(p, name) harness_rank(__FILE__, __LINE__, p, name)

static inline chroprof_rank harness_rank(const char *file, int line, const chroprof *p,
                                         const char *name)
{
    const chroprof_rank *found = find_rank(p, name);
    if (found == NULL)
        harness_fail(file, line, "no site \"%s\" in chroprof_ranks", name);
    return *found;
}

/* Writes "root;..;leaf" of rows[i] to text. Parents come before children in chroprof_paths. */
static inline void harness_chain(const chroprof_path *rows, size_t i, char *text, size_t size)
{
    size_t chain[64];
    size_t depth = 0;
    size_t used = 0;
    for (chain[depth++] = i; rows[i].parent != 0 && depth < 64; chain[depth++] = i) {
        uint32_t parent = rows[i].parent;
        while (i > 0 && rows[i].id != parent)
            i--;
    }
    text[0] = '\0';
    while (depth-- > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used != 0 ? ";" : "",
                                 rows[chain[depth]].name);
}

/* The path with this chain of site names, e.g. "a;b"; NULL if there is none. */
static inline const chroprof_path *find_path(const chroprof *p, const char *chain)
{
    static chroprof_path rows[HARNESS_ROWS];
    char text[1024];
    size_t count = chroprof_paths(p, rows, HARNESS_ROWS);
    size_t i;
    for (i = 0; i < count && i < HARNESS_ROWS; i++) {
        harness_chain(rows, i, text, sizeof text);
        if (strcmp(text, chain) == 0)
            return &rows[i];
    }
    return NULL;
}

#define path_of(p, chain) harness_path(__FILE__, __LINE__, p, chain)

static inline chroprof_path harness_path(const char *file, int line, const chroprof *p,
                                         const char *chain)
{
    const chroprof_path *found = find_path(p, chain);
    if (found == NULL)
        harness_fail(file, line, "no path \"%s\" in chroprof_paths", chain);
    return *found;
}

static inline const chroprof_future *find_future(const chroprof *p, uint64_t id)
{
    static chroprof_future rows[HARNESS_ROWS];
    size_t count = chroprof_futures(p, rows, HARNESS_ROWS);
    size_t i;
    for (i = 0; i < count && i < HARNESS_ROWS; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

#define future_of(p, id) harness_future(__FILE__, __LINE__, p, id)

static inline chroprof_future harness_future(const char *file, int line, const chroprof *p,
                                             uint64_t id)
{
    const chroprof_future *found = find_future(p, id);
    if (found == NULL)
        harness_fail(file, line, "no future %" PRIu64 " in chroprof_futures", id);
    return *found;
}

static inline uint64_t anomalies_of(const chroprof *p, chroprof_anomaly_kind kind)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t count = chroprof_anomalies(p, rows, CHROPROF_ANOMALY_COUNT);
    return (size_t)kind < count ? rows[kind].count : UINT64_MAX;
}

static inline chroprof_table table_of(const chroprof *p, chroprof_table_kind kind)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    memset(rows, 0, sizeof rows);
    chroprof_tables(p, rows, CHROPROF_TABLE_COUNT);
    return rows[kind];
}

/* >>laws */

/* busy is the exec of all sites and untracked; the calls of each site add up; so does blame */
static inline void harness_rank_sums(const char *file, int line, const chroprof *p,
                                     const chroprof_totals *t)
{
    static chroprof_rank rows[HARNESS_ROWS];
    size_t count = chroprof_ranks(p, rows, HARNESS_ROWS, CHROPROF_BY_CALLS);
    uint64_t exec = t->untracked_ns;
    uint64_t blame = t->untracked_blame_ns + t->uninstrumented_blame_ns + t->idle_blame_ns;
    uint64_t delay = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        const chroprof_rank *r = &rows[i];
        exec += r->exec_ns;
        blame += r->blame_ns;
        delay += r->delay_ns;
        harness_equal(file, line, "with_children_ns", r->with_children_ns,
                      r->exec_ns + r->children_ns);
        harness_equal(file, line, "calls", r->calls,
                      r->completed + r->failed + r->cancelled + r->abandoned + r->dropped +
                          r->live);
    }
    harness_equal(file, line, "busy_ns", t->busy_ns, exec);
    harness_equal(file, line, "blame_ns", t->blame_ns, blame);
    CHECK(delay <= t->delay_ns);
}

/* What no event may break; read through public calls only. */
static inline void harness_laws(const char *file, int line, const chroprof *p)
{
    const char *broken = chroprof_check(p);
    chroprof_totals t = totals_of(p);
    if (broken != NULL)
        harness_fail(file, line, "chroprof_check: %s", broken);
    harness_equal(file, line, "elapsed_ns", t.elapsed_ns,
                  t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    harness_equal(file, line, "blame_ns", t.blame_ns, t.delay_ns);
    harness_equal(file, line, "blame_ticks", t.blame_ticks, t.delay_ticks);
    harness_rank_sums(file, line, p, &t);
}

#define laws(p) harness_laws(__FILE__, __LINE__, p)

/* >>fixture: a profile under the manual clock, 1 tick = 1 ns */

enum { HARNESS_MEMORY = 4 << 20 };

static inline void *harness_memory(void)
{
    static union {
        uint64_t word;
        unsigned char bytes[HARNESS_MEMORY];
    } block;
    return block.bytes;
}

#define fresh(options) harness_fresh(__FILE__, __LINE__, options)

/* Starts the one profile of the fixture anew. options NULL: defaults. */
static inline chroprof *harness_fresh(const char *file, int line, const chroprof_options *options)
{
    chroprof *profile = harness_profile();
    chroprof_options all;
    chroprof_result result;
    memset(&all, 0, sizeof all);
    if (options != NULL)
        all = *options;
    if (all.clock == NULL)
        all.clock = chroprof_clock_manual;
    result = chroprof_init(profile, harness_memory(), HARNESS_MEMORY, &all);
    if (result != CHROPROF_OK)
        harness_fail(file, line, "chroprof_init: %s", chroprof_result_text(result));
    return profile;
}

/* One event through the gate, then the laws: at(p, 10, RUNNING, 1, NULL). */
#define at(p, time, state, id, site)                                                               \
    harness_at(__FILE__, __LINE__, p, CHROPROF_##state, #state " " #id, id, site, time)

static inline void harness_at(const char *file, int line, chroprof *p, chroprof_state state,
                              const char *event, uint64_t id, const chroprof_site *site,
                              uint64_t now)
{
    harness()->event = event;
    chroprof_event(p, state, id, site, now);
    harness_laws(file, line, p);
    harness()->event = NULL;
}

/* Exactly count of this kind were seen, and none of any other. */
#define only(p, kind, count) harness_only(__FILE__, __LINE__, p, CHROPROF_ANOMALY_##kind, count)
#define orderly(p) harness_only(__FILE__, __LINE__, p, CHROPROF_ANOMALY_COUNT, 0)
/* This many of one kind, whatever else there was. */
#define CHECK_ANOMALY(p, kind, count) CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_##kind), count)

static inline void harness_only(const char *file, int line, const chroprof *p,
                                chroprof_anomaly_kind kind, uint64_t count)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t i;
    harness_equal(file, line, "rows of chroprof_anomalies",
                  chroprof_anomalies(p, rows, CHROPROF_ANOMALY_COUNT), CHROPROF_ANOMALY_COUNT);
    for (i = 0; i < CHROPROF_ANOMALY_COUNT; i++) {
        harness_equal(file, line, "kind", rows[i].kind, i);
        harness_equal(file, line, rows[i].text, rows[i].count, i == (size_t)kind ? count : 0);
    }
    harness_equal(file, line, "totals.anomalies", totals_of(p).anomalies, count);
}

/* >>output: what chroprof_write said, NUL-terminated; the text lives until the next call */

typedef struct harness_output {
    size_t used;
    char bytes[1 << 20];
} harness_output;

static inline int harness_collect(void *user, const void *bytes, size_t count)
{
    harness_output *output = (harness_output *)user;
    if (count > sizeof output->bytes - 1 - output->used)
        return 1;
    memcpy(output->bytes + output->used, bytes, count);
    output->used += count;
    output->bytes[output->used] = '\0';
    return 0;
}

static inline const harness_output *written(chroprof *p, chroprof_format format)
{
    static harness_output output;
    output.used = 0;
    output.bytes[0] = '\0';
    CHECK_EQ(chroprof_write(p, format, harness_collect, &output), 0);
    return &output;
}

/* Where a test may leave files. */
static inline const char *scratch(const char *name)
{
    static char path[256];
    const char *folder = getenv("SCRATCH");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "build", name);
    return path;
}

#endif
