/* tests/test_traces.c - recorded streams of real programs, replayed against the reference model.
 *
 * cc -std=c99 -Itests tests/test_traces.c chroprof.o (an object with the implementation)
 * Run from the top of the repository, or name the folder in TRACES=. Needs xz.
 * The laws of the totals after every event, all laws and chroprof_check often, every figure now and
 * then and at the end; exec of each site to the nanosecond. Every step of the ring is the event that
 * was sent, and the exec of all paths can be rebuilt from the steps. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "model.c"
#include "event_text.h"

enum { LAWS_EVERY = 64, FULL_EVERY = 20011, MEMORY = 1 << 20 };
enum { STEPS_EVERY = 50, MOST_STEPS = 1 << 14, MOST_PATHS = 600 };

typedef struct replay {
    chroprof p;
    model m;
    chroprof_site **sites; /* stb_ds; one handle for each content seen */
    unsigned long lines;
    event_text sent[STEPS_EVERY];
    uint64_t from, exec[MOST_PATHS]; /* when the steps were looked at last; what paths had then */
} replay;

static char *duplicate(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);

    CHECK(copy != NULL);
    return strcpy(copy, text);
}

static const chroprof_site *handle_of(replay *r, const event_text *e)
{
    chroprof_site *site;
    size_t i;

    for (i = 0; i < arrlenu(r->sites); i++)
        if (r->sites[i]->line == e->line && strcmp(r->sites[i]->name, e->name) == 0 &&
            strcmp(r->sites[i]->file, e->file) == 0)
            return r->sites[i];
    site = (chroprof_site *)malloc(sizeof *site);
    CHECK(site != NULL);
    site->name = duplicate(e->name);
    site->file = duplicate(e->file);
    site->line = e->line;
    arrput(r->sites, site);
    return site;
}

static void hold_now(replay *r, bool everything)
{
    int wrong = model_laws_of_totals(&r->p, stdout);

    if (everything || r->lines % LAWS_EVERY == 0)
        wrong += model_laws(&r->p, stdout) + model_compare_totals(&r->m, &r->p, stdout);
    if (everything || r->lines % FULL_EVERY == 0)
        wrong += model_compare(&r->m, &r->p, stdout);
    if (wrong)
        harness_fail(__FILE__, __LINE__, "%d differences after line %lu", wrong, r->lines);
}

/* What each path, loop, idle and untracked have. */
static void read_exec(const chroprof *p, uint64_t exec[MOST_PATHS])
{
    static chroprof_path paths[MOST_PATHS];
    size_t count = chroprof_paths(p, paths, MOST_PATHS), k;
    chroprof_totals t = totals_of(p);

    CHECK(count <= MOST_PATHS);
    memset(exec, 0, MOST_PATHS * sizeof *exec);
    exec[0] = t.uninstrumented_ns;
    exec[1] = t.idle_ns;
    exec[2] = t.untracked_ns;
    for (k = 0; k < count; k++) {
        CHECK(paths[k].id < MOST_PATHS);
        exec[paths[k].id] = paths[k].exec_ns;
    }
}

/* The steps since the last look are the lines since then, and each path has what it had and what the
 * steps say. */
static void hold_steps(replay *r)
{
    static chroprof_step steps[MOST_STEPS];
    size_t count = chroprof_timeline(&r->p, r->from, UINT64_MAX, steps, MOST_STEPS), k;
    uint64_t now[MOST_PATHS], at = r->from;

    CHECK(count >= STEPS_EVERY && count <= MOST_STEPS);
    for (k = 0; k < STEPS_EVERY; k++) {
        CHECK_EQ(steps[count - STEPS_EVERY + k].state, r->sent[k].state);
        CHECK_EQ(steps[count - STEPS_EVERY + k].id, r->sent[k].id);
    }
    for (k = 0; k < count; k++) {
        CHECK(steps[k].path < MOST_PATHS);
        r->exec[steps[k].path] += steps[k].at_ns - at;
        at = steps[k].at_ns;
    }
    read_exec(&r->p, now);
    for (k = 0; k < MOST_PATHS; k++)
        CHECK_EQ(r->exec[k], now[k]);
    r->from = at;
}

static void replay_line(replay *r, const char *line)
{
    event_text e;
    const chroprof_site *site;
    int kind = event_text_parse(line, &e);

    r->lines++;
    if (kind < 0)
        harness_fail(__FILE__, __LINE__, "line %lu is no event: %s", r->lines, line);
    if (kind == 0)
        return;
    site = handle_of(r, &e);
    chroprof_event(&r->p, e.state, e.id, site, e.time);
    model_event(&r->m, e.state, e.id, site, e.time);
    hold_now(r, false);
    r->sent[(r->lines - 1) % STEPS_EVERY] = e;
    if (r->lines % STEPS_EVERY == 0)
        hold_steps(r);
}

static void replay_all(replay *r, const char *name)
{
    const char *folder = getenv("TRACES") ? getenv("TRACES") : "tests/traces";
    char line[2048];
    FILE *in;

    if (getenv("UNPACKED") != NULL) {
        snprintf(line, sizeof line, "%s/%s.events", getenv("UNPACKED"), name);
        in = fopen(line, "r");
    } else {
        snprintf(line, sizeof line, "xz -dc %s/%s.events.xz", folder, name);
        in = popen(line, "r");
    }
    CHECK(in != NULL);
    while (fgets(line, sizeof line, in))
        replay_line(r, line);
    CHECK_EQ(getenv("UNPACKED") != NULL ? fclose(in) : pclose(in), 0);
}

static void free_sites(replay *r)
{
    size_t i;

    for (i = 0; i < arrlenu(r->sites); i++) {
        free((void *)(uintptr_t)r->sites[i]->name);
        free((void *)(uintptr_t)r->sites[i]->file);
        free(r->sites[i]);
    }
    arrfree(r->sites);
}

static chroprof_options trace_options(void)
{
    chroprof_options o;

    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_futures = 512;
    o.max_sites = 64;
    o.max_paths = 512;
    o.max_edges = 1024;
    o.max_depth = 256;
    o.max_histograms = 32;
    o.max_windows = 64;
    o.max_samples = 1;
    o.max_stalls = 8;
    o.max_slow = 64;
    o.string_bytes = 8192;
    o.window_ns = 1000000;
    return o;
}

/* Replays one stream; `events` lines, no anomaly but `count` of one kind, exec adds up to busy. */
static void hold_trace(const char *name, unsigned long lines, chroprof_anomaly_kind kind,
                       uint64_t count)
{
    static unsigned char memory[MEMORY];
    chroprof_options options = trace_options();
    replay r;

    if (getenv("UNPACKED") == NULL && system("xz --version > /dev/null 2>&1") != 0)
        SKIP("no xz to unpack %s.events.xz", name);
    memset(&r, 0, sizeof r);
    CHECK_EQ(chroprof_init(&r.p, memory, sizeof memory, &options), CHROPROF_OK);
    model_init(&r.m, &options, &r.p);
    replay_all(&r, name);
    CHECK_EQ(r.lines, lines);
    hold_now(&r, true);
    CHECK_EQ(totals_of(&r.p).dropped, 0);
    harness_only(__FILE__, __LINE__, &r.p, kind, count);
    harness_keep(&r.p);
    model_free(&r.m);
    free_sites(&r);
}

#define NONE CHROPROF_ANOMALY_COUNT, 0

TEST(accept_forever)
{
    hold_trace("accept_forever", 22990, NONE);
}
TEST(echo50)
{
    hold_trace("echo50", 112473, NONE);
}
TEST(mixed_stillborn)
{
    hold_trace("mixed_stillborn", 4899, NONE);
}
TEST(nested_poll)
{
    hold_trace("nested_poll", 20, NONE);
}
TEST(outlive)
{
    hold_trace("outlive", 1757, NONE);
}
TEST(prodcons)
{
    hold_trace("prodcons", 31387, NONE);
}
TEST(recursion)
{
    hold_trace("recursion", 9262, NONE);
}
TEST(tasklist)
{
    hold_trace("tasklist", 49006, NONE);
}
TEST(web)
{
    hold_trace("web", 54609, NONE);
}

/* Future 1 is cancelled by a child that runs on top of it; its frame stays, and what comes later is
 * created and billed above it. */
TEST(cancel_parent_from_child)
{
    hold_trace("cancel_parent_from_child", 19, CHROPROF_ANOMALY_BURIED_FINISH, 1);
}

/* A finish of an unknown id with a site is a stillborn, its running with a site an adoption. */
TEST(attach_late)
{
    hold_trace("attach_late", 10, CHROPROF_ANOMALY_ADOPTED, 1);
}

static const test_case cases[] = { CASE(accept_forever),
                                   CASE(echo50),
                                   CASE(mixed_stillborn),
                                   CASE(nested_poll),
                                   CASE(outlive),
                                   CASE(prodcons),
                                   CASE(recursion),
                                   CASE(tasklist),
                                   CASE(web),
                                   CASE(cancel_parent_from_child),
                                   CASE(attach_late) };

TEST_MAIN(cases)
