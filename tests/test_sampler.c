/* tests/test_sampler.c - samples: by hand under the manual clock, where every figure is known, and
 * by the timer, where the work is known. What the timer sees hangs on a machine that may be busy
 * with other things: bounds are those of the statistics, and where physics has a say a case is
 * tried again, but never without an end.
 */
#define _DEFAULT_SOURCE 1 /* sigaltstack */
#define HARNESS_TRIES 3

#include "harness.h"

#ifdef TEST_FRAMES
#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/syscall.h>
#endif
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#endif

enum { MS = 1000000, ROWS = 4096, FRAMES = 64 };

#define CUT "(frames cut: table full)"

static const chroprof_site on1 = { "on#1", "s.c", 1 };
static const chroprof_site off1 = { "off#1", "s.c", 2 };
static const chroprof_site on2 = { "on#2", "s.c", 3 };
static const chroprof_site off2 = { "off#2", "s.c", 4 };

static const chroprof_sample_row *samples_of(const chroprof *p, uint64_t from, uint64_t to,
                                             size_t *count)
{
    static chroprof_sample_row rows[ROWS];
    *count = chroprof_samples(p, from, to, rows, ROWS);
    CHECK(*count <= ROWS);
    return rows;
}

static uint64_t weight_between(const chroprof *p, uint64_t from, uint64_t to)
{
    size_t count, i;
    uint64_t weight = 0;
    const chroprof_sample_row *rows = samples_of(p, from, to, &count);
    for (i = 0; i < count; i++)
        weight += rows[i].weight;
    return weight;
}

static chroprof_sampler_totals sampler_of(const chroprof *p)
{
    chroprof_sampler_totals t;
    memset(&t, 0x5a, sizeof t);
    chroprof_read_sampler(p, &t);
    return t;
}

/* The names of a stack, innermost first: "leaf<[task]<main". */
static const char *names_of(const chroprof *p, uint32_t stack)
{
    static char text[4096];
    chroprof_stack_frame frames[FRAMES];
    size_t count = chroprof_stack(p, stack, frames, FRAMES), used = 0, i;
    text[0] = '\0';
    for (i = 0; i < count && i < FRAMES && used < sizeof text; i++) {
        bool task = frames[i].kind == CHROPROF_FRAME_TASK;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s", i > 0 ? "<" : "",
                                 task ? "[" : "", frames[i].name, task ? "]" : "");
    }
    return text;
}

/* >>by hand */

/* A sample at ms (in tenths) while this site is all that runs. */
static void caught(chroprof *p, const chroprof_site *site, uint64_t tenths, uint64_t cpu_ns)
{
    uint64_t t = tenths * MS / 10;
    chroprof_event(p, CHROPROF_ENTER, 0, site, t);
    chroprof_sample(p, t, cpu_ns);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t);
    laws(p);
}

static chroprof *worked_example(void)
{
    chroprof *p = fresh(NULL);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 0);
    caught(p, &on1, 1000, 500);
    caught(p, &off1, 1014, 100);
    caught(p, &off1, 1028, 0);
    caught(p, &off1, 1042, 0);
    caught(p, &off1, 1056, 0);
    caught(p, &on2, 1070, 700);
    caught(p, &off2, 1084, 600);
    caught(p, &off2, 1098, 0);
    caught(p, &off2, 1112, 0);
    caught(p, &off2, 1126, 100);
    caught(p, &off2, 1140, 0);
    return p;
}

TEST(the_worked_example)
{
    static const struct {
        uint64_t at, weight, duration, cpu;
        const char *stack;
    } want[] = {
        { 1000, 1, 0, 500, "[on#1]" },   { 1014, 4, 42, 100, "[off#1]" },
        { 1070, 1, 0, 700, "[on#2]" },   { 1084, 3, 28, 600, "[off#2]" },
        { 1126, 2, 14, 100, "[off#2]" },
    };
    chroprof *p = worked_example();
    size_t count, i;
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 5);
    for (i = 0; i < 5; i++) {
        CHECK_EQ(rows[i].at_ns, want[i].at * MS / 10);
        CHECK_EQ(rows[i].weight, want[i].weight);
        CHECK_EQ(rows[i].duration_ns, want[i].duration * MS / 10);
        CHECK_EQ(rows[i].cpu_ns, want[i].cpu);
        CHECK_EQ(rows[i].state, CHROPROF_SAMPLE_BUSY);
        CHECK_STR(names_of(p, rows[i].stack), want[i].stack);
    }
    CHECK_EQ(rows[3].stack, rows[4].stack);
    CHECK_EQ(sampler_of(p).samples, 11);
    CHECK_EQ(sampler_of(p).rows, 5);
    orderly(p);
}

TEST(a_part_of_a_row_counts_in_part)
{
    chroprof *p = worked_example();
    size_t count;
    const chroprof_sample_row *rows = samples_of(p, 1020 * MS / 10, 1040 * MS / 10, &count);
    CHECK_EQ(count, 1); /* 4 x 2.0 / 4.2 = 1.905 */
    CHECK_EQ(rows[0].weight, 2);
    CHECK_EQ(rows[0].at_ns, 1020 * MS / 10);
    CHECK_EQ(rows[0].duration_ns, 20 * MS / 10);
    CHECK_EQ(rows[0].cpu_ns, 0); /* that belongs to where the row begins */
    CHECK_EQ(weight_between(p, 1014 * MS / 10, 1020 * MS / 10), 1); /* 0.571 */
    CHECK_EQ(weight_between(p, 1014 * MS / 10, 1019 * MS / 10), 0); /* 0.476: not listed */
    CHECK_EQ(chroprof_samples(p, 1014 * MS / 10, 1019 * MS / 10, NULL, 0), 0);
    CHECK_EQ(weight_between(p, 1000 * MS / 10, 1000 * MS / 10 + 1), 1); /* duration 0: whole */
    CHECK_EQ(weight_between(p, 1000 * MS / 10 + 1, 1014 * MS / 10), 0);
    CHECK_EQ(weight_between(p, 999 * MS / 10, 1000 * MS / 10), 0); /* the end is outside */
    CHECK_EQ(weight_between(p, 0, 1056 * MS / 10), 5);
    CHECK_EQ(weight_between(p, 1084 * MS / 10, 1140 * MS / 10), 5);
    CHECK_EQ(weight_between(p, 1140 * MS / 10, UINT64_MAX), 0);
}

TEST(a_selection_of_huge_rows_does_not_overflow)
{
    chroprof *p = fresh(NULL);
    const uint64_t year = UINT64_C(31556952000000000);
    uint64_t k;
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 0);
    for (k = 0; k <= 100; k++)
        chroprof_sample(p, k * year, 0);
    CHECK_EQ(weight_between(p, 0, UINT64_MAX), 101);
    CHECK_EQ(weight_between(p, 0, 51 * year), 52); /* 51.51 */
    CHECK_EQ(weight_between(p, 10 * year, 20 * year), 10);
    CHECK(chroprof_check(p) == NULL);
}

TEST(an_hour_of_idle_is_one_row)
{
    chroprof *p = fresh(NULL);
    uint64_t ticks = 0, t;
    size_t count;
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 0);
    for (t = 0; t < UINT64_C(3600000000000); t += 19 * MS, ticks++) {
        if (ticks % 1000 == 0) { /* the loop wakes up now and then, for nothing */
            chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t);
            chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t);
        }
        chroprof_sample(p, t, 0);
    }
    CHECK_EQ(sampler_of(p).rows, 1);
    CHECK_EQ(samples_of(p, 0, UINT64_MAX, &count)->weight, ticks);
    CHECK_EQ(samples_of(p, 0, UINT64_MAX, &count)->state, CHROPROF_SAMPLE_IDLE);
    CHECK_STR(names_of(p, samples_of(p, 0, UINT64_MAX, &count)->stack), "(idle)");
    laws(p);
}

TEST(nested_tasks_idle_and_loop)
{
    chroprof *p = fresh(NULL);
    size_t count;
    chroprof_event(p, CHROPROF_PENDING, 7, &on1, 0);
    chroprof_sample(p, 1, 10);
    at(p, 10, RUNNING, 7, NULL);
    at(p, 20, LOOP_ENTER, 0, NULL);
    chroprof_sample(p, 21, 10);
    at(p, 30, ENTER, 0, &off1);
    at(p, 40, RUNNING, 99, NULL); /* unknown: untracked */
    chroprof_sample(p, 41, 10);
    at(p, 50, PAUSED, 99, NULL);
    chroprof_sample(p, 51, 10);
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 4);
    CHECK_STR(names_of(p, rows[0].stack), "(uninstrumented)");
    CHECK_EQ(rows[0].state, CHROPROF_SAMPLE_UNINSTRUMENTED);
    CHECK_STR(names_of(p, rows[1].stack), "(uninstrumented)<[on#1]");
    CHECK_STR(names_of(p, rows[2].stack), "[(untracked)]<[off#1]<[on#1]");
    CHECK_STR(names_of(p, rows[3].stack), "[off#1]<[on#1]");
    CHECK_EQ(chroprof_stack(p, rows[2].stack, NULL, 0), 3);
    CHECK_EQ(chroprof_stack(p, 1000, NULL, 0), 0);
}

TEST(more_frames_than_fit)
{
    chroprof *p = fresh(NULL);
    size_t count, i;
    chroprof_stack_frame frames[FRAMES];
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 0);
    for (i = 0; i < 40; i++)
        chroprof_event(p, CHROPROF_ENTER, 0, i % 2 ? &on1 : &off1, i);
    chroprof_sample(p, 50, 1);
    count = chroprof_stack(p, samples_of(p, 0, UINT64_MAX, &count)->stack, frames, FRAMES);
    CHECK_EQ(count, 17);
    CHECK_EQ(frames[0].kind, CHROPROF_FRAME_TASK);
    CHECK_EQ(frames[16].kind, CHROPROF_FRAME_MARKER);
    CHECK_STR(frames[16].name, "(deeper frames)");
}

TEST(the_newest_rows_are_kept)
{
    chroprof_options o = { 0 };
    size_t count, k;
    o.max_samples = 8;
    chroprof *p = fresh(&o);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 0);
    for (k = 1; k <= 100; k++) {
        chroprof_sample(p, k * 10, k);
        chroprof_sample(p, k * 10 + 5, 0);
        laws(p);
    }
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 8);
    for (k = 0; k < 8; k++)
        CHECK_EQ(rows[k].cpu_ns, 93 + k);
    CHECK_EQ(sampler_of(p).samples, 200);
    CHECK_EQ(sampler_of(p).dropped, 200 - 16);
}

/* A sample 1 us into the call of a site of this name below on#1, which both begin here. */
static void caught_below(chroprof *p, const char *name, uint64_t us)
{
    chroprof_event(p, CHROPROF_ENTER, 0, &on1, us * 1000);
    chroprof_event(p, CHROPROF_ENTER, 0, chroprof_site_make(p, name, NULL, 0), us * 1000);
    chroprof_sample(p, us * 1000 + 1000, 5);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, us * 1000 + 1000);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, us * 1000 + 1000);
}

static const char *numbered(const char *word, unsigned k)
{
    static char name[16];
    snprintf(name, sizeof name, "%s%u", word, k);
    return name;
}

/* The weight of the samples that end in a frame of this name, by the JSON's stacks. */
static uint64_t weight_of(chroprof *p, const char *name)
{
    static const char key[] = "\"weight\":";
    char want[64];
    uint64_t weight = 0;
    const char *text = written(p, CHROPROF_JSON)->bytes;
    snprintf(want, sizeof want, "\"name\":\"%s\"", name);
    const char *at = strstr(text, "\n\"stacks\":"), *end = strstr(text, "\n\"samples\":");
    CHECK(at != NULL && end != NULL);
    for (; (at = strstr(at, want)) != NULL && at < end; at++) {
        const char *row = at;
        while (*row != '\n')
            row--;
        CHECK(strstr(row, key) != NULL);
        weight += strtoull(strstr(row, key) + strlen(key), NULL, 10);
    }
    return weight;
}

/* One profile in which each stack but the culprit's is met once. */
static chroprof *flood(chroprof_options *o, unsigned stacks)
{
    unsigned k;
    o->max_sites = o->max_paths = 1600;
    o->max_edges = 4000;
    o->string_bytes = 16000;
    chroprof *p = fresh(o);
    for (k = 0; k < stacks; k++) {
        caught_below(p, numbered("s", k), 20 * k + 1);
        if (k >= stacks / 2)
            caught_below(p, "the_culprit", 20 * k + 10);
        laws(p);
    }
    return p;
}

TEST(new_stacks_find_room_in_a_full_table)
{
    chroprof_options o = { 0 };
    size_t count, i;
    o.max_samples = 16;
    chroprof *p = flood(&o, 400);
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 16);
    for (i = 0; i < count; i += 2) { /* right, or it says that it is cut */
        const char *names = names_of(p, rows[i].stack);
        const char *want = numbered("[s", 392 + (unsigned)i / 2);
        CHECK(strncmp(names, want, strlen(want)) == 0 || strstr(names, CUT) == names);
        CHECK(strstr(names, "<[on#1]") != NULL);
        CHECK_STR(names_of(p, rows[i + 1].stack), "[the_culprit]<[on#1]");
    }
    CHECK_EQ(sampler_of(p).samples, 600);
    CHECK_EQ(weight_of(p, "the_culprit"), 200);
    CHECK(weight_of(p, CUT) > 0);
    CHECK(weight_of(p, CUT) < 400);
}

TEST(the_table_of_stacks_is_among_the_full_ones)
{
    chroprof_options o = { 0 };
    o.max_samples = 16;
    o.max_stack_frames = 100;
    chroprof *p = flood(&o, 150);
    chroprof_table table = table_of(p, CHROPROF_TABLE_STACKS);
    CHECK_EQ(table.capacity, 100);
    CHECK_STR(table.name, "stacks");
    CHECK_STR(table.option, "max_stack_frames");
    CHECK(table.used <= 100);
    CHECK(table.dropped > 0);
    CHECK(table.advice >= 152);
    CHECK(table.advice <= 100 + table.dropped);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_SAMPLES).dropped, 0);
    CHECK(strstr(written(p, CHROPROF_TEXT)->bytes, "raise max_stack_frames to") != NULL);
    o.max_stack_frames = (uint32_t)table.advice;
    p = flood(&o, 150);
    CHECK_EQ(table_of(p, CHROPROF_TABLE_STACKS).dropped, 0);
    CHECK_EQ(weight_of(p, CUT), 0);
}

TEST(stacks_of_kept_stalls_stay)
{
    chroprof_options o = { 0 };
    chroprof_stall kept[4];
    unsigned k;
    o.max_samples = 16;
    o.max_stalls = 4;
    chroprof *p = flood(&o, 10);
    chroprof_event(p, CHROPROF_ENTER, 0, &off1, MS);
    caught_below(p, "the_stall", 1010);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 50 * MS);
    for (k = 0; k < 1000; k++)
        caught_below(p, numbered("s", k), 51000 + 10 * k);
    laws(p);
    CHECK_EQ(chroprof_stalls(p, kept, 4), 1);
    CHECK_EQ(kept[0].sampled, 1);
    CHECK_STR(names_of(p, kept[0].samples[0].stack), "[the_stall]<[on#1]<[off#1]");
    CHECK(table_of(p, CHROPROF_TABLE_STACKS).dropped > 0);
}

/* Stalls whose stacks fill the table: others are cut, and say so. */
TEST(a_table_full_of_stacks_that_have_to_stay)
{
    chroprof_options o = { 0 };
    size_t count;
    unsigned k;
    o.max_samples = o.max_stalls = 8;
    o.max_stack_frames = 8;
    chroprof *p = fresh(&o);
    for (k = 0; k < 8; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &off1, k * 60 * MS);
        caught_below(p, numbered("s", k), k * 60000 + 10);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, k * 60 * MS + 50 * MS);
        laws(p);
    }
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 8);
    CHECK_STR(names_of(p, rows[0].stack), "[s0]<[on#1]<[off#1]");
    CHECK(strstr(names_of(p, rows[7].stack), CUT) != NULL);
}

/* Samples in nested calls of 15 of 40 sites. */
static void caught_deep(chroprof *p, unsigned k, uint64_t ns, unsigned samples)
{
    unsigned n;
    for (n = 0; n < 15; n++)
        chroprof_event(p, CHROPROF_ENTER, 0,
                       chroprof_site_make(p, numbered("s", (k * 7 + n * n) % 40), NULL, 0), ns);
    for (n = 0; n < samples; n++)
        chroprof_sample(p, ns + n + 1, 1);
    for (n = 0; n < 15; n++)
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, ns + 10);
}

/* A stack is longer than what can give way for it: its first frames, which nothing weighs yet, must
 * not give way to its last ones again and again. */
TEST(stacks_that_are_long_for_their_table)
{
    chroprof_options o = { 0 };
    unsigned k, frames;
    for (frames = 1; frames <= 80; frames++) {
        o.max_samples = 6;
        o.max_stack_frames = frames;
        chroprof *p = fresh(&o);
        chroprof_event(p, CHROPROF_ENTER, 0, &off1, 0);
        caught_deep(p, 1, MS, 1);
        caught_deep(p, 2, 2 * MS, 1);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 50 * MS); /* a stall: these two stay */
        for (k = 0; k < 40; k++)
            caught_deep(p, k, (60 + k) * MS, k % 7);
        laws(p);
        CHECK_EQ(sampler_of(p).samples, 2 + 5 * 21 + 0 + 1 + 2 + 3 + 4);
        CHECK(table_of(p, CHROPROF_TABLE_STACKS).dropped > 0);
    }
}

TEST(one_mebibyte_holds_2000_frames)
{
    static unsigned char memory[1 << 20];
    chroprof p;
    CHECK_EQ(chroprof_init(&p, memory, sizeof memory, NULL), CHROPROF_OK);
    CHECK(table_of(&p, CHROPROF_TABLE_STACKS).capacity >= 2000);
}

TEST(a_difference_of_stacks_that_gave_way)
{
    static uint64_t before[HARNESS_MEMORY / 8], since[HARNESS_MEMORY / 8];
    chroprof_options o = { 0 };
    chroprof older, view;
    unsigned k;
    o.max_samples = 16;
    chroprof *p = flood(&o, 300);
    uint64_t culprit = weight_of(p, "the_culprit");
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, before, sizeof before),
             CHROPROF_OK);
    CHECK_EQ(chroprof_open(&older, before, sizeof before), CHROPROF_OK);
    CHECK_EQ(weight_of(&older, "the_culprit"), culprit);
    for (k = 0; k < 300; k++)
        caught_below(p, k % 3 == 0 ? "another" : numbered("t", k), 10000 + 10 * k);
    CHECK_EQ(chroprof_difference(p, &older, since, sizeof since), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, since, sizeof since), CHROPROF_OK);
    laws(&view);
    CHECK_EQ(sampler_of(&view).samples, 300);
    CHECK_EQ(weight_of(&view, "another"), 100);
    CHECK_EQ(weight_of(&view, "the_culprit"), 0);
}

TEST(nothing_where_there_is_nothing_to_sample)
{
    chroprof_options o = { 0 };
    chroprof zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    chroprof_sample(NULL, 1, 1);
    chroprof_sample(&zeroed, 1, 1);
    CHECK_EQ(chroprof_samples(NULL, 0, UINT64_MAX, NULL, 0), 0);
    CHECK_EQ(chroprof_samples(&zeroed, 0, UINT64_MAX, NULL, 0), 0);
    CHECK_EQ(chroprof_stack(NULL, 1, NULL, 0), 0);
    CHECK_EQ(chroprof_walls(&zeroed, NULL, 0), 0);
    CHECK_EQ(sampler_of(NULL).samples, 0);
    chroprof *p = fresh(&o);
    at(p, 1, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    chroprof_sample(p, 5, 1);
    CHECK_EQ(sampler_of(p).samples, 0);
    chroprof_set_enabled(p, true);
    at(p, 9, TICK, 0, NULL);
    chroprof_sample(p, 10, 1);
    CHECK_EQ(sampler_of(p).samples, 1);
}

TEST(reset_forgets_samples)
{
    chroprof *p = worked_example();
    chroprof_reset(p);
    laws(p);
    CHECK_EQ(sampler_of(p).samples, 0);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, NULL, 0), 0);
    caught(p, &on1, 2000, 1);
    CHECK_EQ(sampler_of(p).samples, 1);
}

TEST(time_that_goes_back_stays)
{
    chroprof *p = fresh(NULL);
    size_t count;
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 1000);
    chroprof_sample(p, 2000, 1);
    chroprof_sample(p, 500, 1); /* before the profile began */
    chroprof_sample(p, 1500, 1);
    chroprof_sample(p, UINT64_MAX, 1);
    const chroprof_sample_row *rows = samples_of(p, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 4);
    CHECK_EQ(rows[0].at_ns, 1000);
    CHECK_EQ(rows[1].at_ns, 1000);
    CHECK_EQ(rows[2].at_ns, 1000);
    CHECK(chroprof_check(p) == NULL);
}

TEST(a_view_shows_the_same)
{
    static uint64_t copy[HARNESS_MEMORY / 8];
    static chroprof_sample_row before[ROWS];
    chroprof *p = worked_example(), view;
    size_t count, i;
    memcpy(before, samples_of(p, 0, UINT64_MAX, &count), sizeof before);
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    laws(&view);
    const chroprof_sample_row *after = samples_of(&view, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 5);
    for (i = 0; i < count; i++) {
        CHECK_EQ(after[i].at_ns, before[i].at_ns);
        CHECK_EQ(after[i].weight, before[i].weight);
        CHECK_EQ(after[i].stack, before[i].stack);
    }
    CHECK_STR(names_of(&view, after[1].stack), "[off#1]");
    chroprof_sample(&view, 1, 1);
    CHECK_EQ(sampler_of(&view).samples, 11);
    CHECK_EQ(chroprof_sampler_start(&view, NULL), CHROPROF_ERR_ARGUMENT);
}

static void keep_stall(void *user, const chroprof_stall *stall)
{
    *(chroprof_stall *)user = *stall;
}

TEST(a_stall_shows_where_it_was_met)
{
    chroprof_options o = { 0 };
    chroprof_stall told, kept[4];
    memset(&told, 0, sizeof told);
    o.on_stall = keep_stall;
    o.on_stall_user = &told;
    chroprof *p = fresh(&o);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 0);
    chroprof_sample(p, 5 * MS, 0); /* before: not of the stall */
    chroprof_event(p, CHROPROF_ENTER, 0, &on1, 10 * MS);
    chroprof_sample(p, 20 * MS, 5 * MS);
    chroprof_event(p, CHROPROF_ENTER, 0, &off1, 25 * MS);
    chroprof_sample(p, 30 * MS, 1 * MS);
    chroprof_sample(p, 40 * MS, 1 * MS);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 45 * MS);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 60 * MS);
    CHECK_EQ(told.length_ns, 50 * MS);
    CHECK_EQ(told.sampled, 3);
    CHECK_EQ(told.sample_count, 2);
    CHECK_EQ(told.samples[0].weight, 2);
    CHECK_STR(names_of(p, told.samples[0].stack), "[off#1]<[on#1]");
    CHECK_STR(names_of(p, told.samples[1].stack), "[on#1]");
    CHECK_EQ(told.cpu_ns, 7 * MS); /* of the 30 ms up to the last sample */
    CHECK_EQ(told.waiting_ns, 23 * MS);
    CHECK_EQ(chroprof_stalls(p, kept, 4), 1);
    CHECK_EQ(kept[0].sampled, 3);
    chroprof_event(p, CHROPROF_ENTER, 0, &on1, 100 * MS);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 150 * MS);
    CHECK_EQ(told.sampled, 0); /* nobody looked at this one */
    laws(p);
}

TEST(more_places_in_a_stall_than_it_keeps)
{
    chroprof_options o = { 0 };
    chroprof_stall told;
    uint64_t k, sum = 0;
    o.on_stall = keep_stall;
    o.on_stall_user = &told;
    chroprof *p = fresh(&o);
    char name[16];
    chroprof_event(p, CHROPROF_ENTER, 0, &on1, 0);
    for (k = 0; k < 60; k++) {
        snprintf(name, sizeof name, "s%u", k % 2 ? 0U : (unsigned)k);
        chroprof_event(p, CHROPROF_ENTER, 0, chroprof_site_make(p, name, NULL, 0), k * MS);
        chroprof_sample(p, k * MS, 0);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, k * MS);
    }
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 60 * MS);
    CHECK_EQ(told.sampled, 60);
    CHECK_EQ(told.sample_count, CHROPROF_STALL_SAMPLES);
    for (k = 0; k < told.sample_count; k++)
        sum += told.samples[k].weight;
    CHECK(sum >= 31 + 3 && sum < 60); /* the other places may have had what is left */
    CHECK_EQ(told.samples[0].weight, 31);
    CHECK_STR(names_of(p, told.samples[0].stack), "[s0]<[on#1]");
    CHECK(told.samples[1].weight <= 1); /* each of the others came once */
}

TEST(a_difference_has_what_came_since)
{
    static uint64_t before[HARNESS_MEMORY / 8], after[HARNESS_MEMORY / 8];
    static uint64_t since[HARNESS_MEMORY / 8];
    chroprof *p = worked_example(), older, newer, view;
    size_t count;
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, before, sizeof before),
             CHROPROF_OK);
    caught(p, &off2, 1154, 0); /* extends the last row */
    caught(p, &on1, 1168, 300);
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, after, sizeof after), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&older, before, sizeof before), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&newer, after, sizeof after), CHROPROF_OK);
    CHECK_EQ(chroprof_difference(&newer, &older, since, sizeof since), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, since, sizeof since), CHROPROF_OK);
    laws(&view);
    CHECK_EQ(sampler_of(&view).samples, 2);
    const chroprof_sample_row *rows = samples_of(&view, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 2);
    CHECK_EQ(rows[0].weight, 1);
    CHECK_EQ(rows[0].cpu_ns, 0);
    CHECK_EQ(rows[0].at_ns, 0);
    CHECK_EQ(rows[0].duration_ns, 14 * MS / 10);
    CHECK_EQ(rows[1].at_ns, 28 * MS / 10);
    CHECK_EQ(rows[1].cpu_ns, 300);
}

/* Two processes, whose programs may lie anywhere; here they do so at the same place. */
TEST(samples_are_merged)
{
    static uint64_t copy[HARNESS_MEMORY / 8], memory[HARNESS_MEMORY / 8];
    chroprof *p = worked_example(), view, sum;
    chroprof_options o;
    size_t count, i;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, copy, sizeof copy), CHROPROF_OK);
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    for (i = 1; i <= 3; i++) {
        CHECK_EQ(chroprof_merge(&sum, i == 2 ? &view : p), CHROPROF_OK);
        laws(&sum);
        CHECK_EQ(sampler_of(&sum).samples, 11 * i);
        CHECK_EQ(sampler_of(&sum).rows, 5 * i);
        CHECK_EQ(sampler_of(&sum).dropped, 0);
    }
    const chroprof_sample_row *rows = samples_of(&sum, 0, UINT64_MAX, &count);
    CHECK_EQ(count, 15);
    CHECK_EQ(rows[6].weight, 4);
    CHECK_EQ(rows[6].at_ns, 1140 * MS / 10 + 1014 * MS / 10);
    CHECK_EQ(rows[6].duration_ns, 42 * MS / 10);
    CHECK_EQ(rows[6].cpu_ns, 100);
    CHECK_STR(names_of(&sum, rows[6].stack), "[off#1]");
    CHECK_EQ(rows[6].stack, rows[1].stack);
    CHECK_EQ(weight_between(&sum, 0, UINT64_MAX), 33);
}

TEST(merged_samples_that_find_no_room)
{
    static uint64_t memory[HARNESS_MEMORY / 8];
    chroprof *p = worked_example(), sum;
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_samples = 4;
    CHECK_EQ(chroprof_init(&sum, memory, sizeof memory, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(sampler_of(&sum).samples, 22);
    CHECK_EQ(sampler_of(&sum).rows, 4);
    CHECK_EQ(sampler_of(&sum).dropped, 22 - 10);
    o.max_samples = 0;
    CHECK_EQ(chroprof_init(&sum, memory, CHROPROF_MEMORY_MIN, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&sum, p), CHROPROF_OK);
    laws(&sum);
    CHECK_EQ(sampler_of(&sum).samples, 0);
    CHECK_EQ(table_of(&sum, CHROPROF_TABLE_SAMPLES).dropped, 11);
}

#include "sampler_live.h"

static const test_case cases[] = { CASE(the_worked_example),
                                   CASE(a_part_of_a_row_counts_in_part),
                                   CASE(a_selection_of_huge_rows_does_not_overflow),
                                   CASE(an_hour_of_idle_is_one_row),
                                   CASE(nested_tasks_idle_and_loop),
                                   CASE(more_frames_than_fit),
                                   CASE(the_newest_rows_are_kept),
                                   CASE(new_stacks_find_room_in_a_full_table),
                                   CASE(the_table_of_stacks_is_among_the_full_ones),
                                   CASE(stacks_of_kept_stalls_stay),
                                   CASE(a_table_full_of_stacks_that_have_to_stay),
                                   CASE(stacks_that_are_long_for_their_table),
                                   CASE(one_mebibyte_holds_2000_frames),
                                   CASE(a_difference_of_stacks_that_gave_way),
                                   CASE(nothing_where_there_is_nothing_to_sample),
                                   CASE(reset_forgets_samples),
                                   CASE(time_that_goes_back_stays),
                                   CASE(a_view_shows_the_same),
                                   CASE(a_stall_shows_where_it_was_met),
                                   CASE(more_places_in_a_stall_than_it_keeps),
                                   CASE(a_difference_has_what_came_since),
                                   CASE(samples_are_merged),
                                   CASE(merged_samples_that_find_no_room),
                                   LIVE_CASES };

TEST_MAIN(cases)
