/* tests/inside_samples.h - part of test_inside.c: samples with native frames of known addresses,
 * put where the sampler's handler would have left them, so that all that reads them can be compared
 * exactly; what a handler does between any two instructions; modules that no linker would load.
 *
 * The sampled stacks end in: 1 the task accept, 2 code of the module below it, 3 code of no module
 * below that, 4 the task timer (path 8) below 1, 5 idle. */
#ifndef INSIDE_SAMPLES_H
#define INSIDE_SAMPLES_H

enum { LIBRARY = 0x10000, OUTSIDE = 0x90000 };

static chroprof__sampler *sampler(const chroprof *p)
{
    return chroprof__sampler_of(p->core);
}

static chroprof__node *node(const chroprof *p, uint32_t k)
{
    return chroprof__nodes(p->core) + k;
}

static chroprof__entry entry_of(uint64_t weight, uint64_t cpu_ns)
{
    chroprof__entry e;
    memset(&e, 0, sizeof e);
    e.weight = weight;
    e.cpu_ns = cpu_ns;
    return e;
}

static void absorb(chroprof *p, chroprof__entry *e)
{
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, sampler(p), e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
    laws(p);
}

static void add_library(const chroprof *p)
{
    chroprof__table *table = &p->core->tables[CHROPROF__MODULES];
    chroprof__module *row = chroprof__modules(p->core) + table->used;
    memset(row, 0, sizeof *row);
    row->low = LIBRARY;
    row->high = LIBRARY + 0x1000;
    row->base = LIBRARY - 0x100;
    memcpy(row->build_id, "c0ffee", 7);
    memcpy(row->path, "/usr/lib/libslow.so", 20);
    table->peak = ++table->used;
}

/* What stands on top of the task accept; 0: nothing. The last is the innermost. */
static void sample_of(chroprof *p, uint64_t weight, uint64_t cpu_ns, uint64_t outer, uint64_t inner)
{
    chroprof__entry e = entry_of(weight, cpu_ns);
    if (inner)
        e.items[e.count++] = inner;
    if (outer)
        e.items[e.count++] = outer;
    e.items[e.count++] = chroprof__item(CHROPROF__TASK, 3);
    absorb(p, &e);
}

static void sample_the_scene(chroprof *p)
{
    const uint64_t code = chroprof__item(CHROPROF__RETURN, LIBRARY + 0x20);
    const uint64_t wild = chroprof__item(CHROPROF__PC, OUTSIDE);
    const uint64_t timer = chroprof__item(CHROPROF__TASK, 8);
    chroprof__entry idle = entry_of(1, 0);
    add_library(p);
    sample_of(p, 1, 10, 0, 0);
    sample_of(p, 3, 20, code, 0);
    sample_of(p, 2, 30, code, wild);
    sample_of(p, 5, 40, timer, 0);
    idle.state = CHROPROF_SAMPLE_IDLE;
    idle.items[idle.count++] = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_IDLE);
    absorb(p, &idle);
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 5);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].used, 5);
    CHECK_EQ(sampler(p)->samples, 12);
}

static chroprof *sampled_scene(void)
{
    chroprof *p = scene();
    sample_the_scene(p);
    return p;
}

/* >>reading stacks */

TEST(stacks_are_read_as_they_were_taken)
{
    chroprof *p = sampled_scene();
    chroprof_stack_frame f[4];
    memset(f, 0x5a, sizeof f);
    CHECK_EQ(chroprof_stack(p, 3, f, 4), 3);
    CHECK_EQ(f[0].kind, CHROPROF_FRAME_NATIVE);
    CHECK_EQ(f[0].address, OUTSIDE);
    CHECK(!f[0].is_return && *f[0].name == '\0' && *f[0].module == '\0' && *f[0].build_id == '\0');
    CHECK_EQ(f[1].kind, CHROPROF_FRAME_NATIVE);
    CHECK_EQ(f[1].address, 0x120);
    CHECK(f[1].is_return);
    CHECK_STR(f[1].name, "");
    CHECK_STR(f[1].module, "/usr/lib/libslow.so");
    CHECK_STR(f[1].build_id, "c0ffee");
    CHECK_EQ(f[2].kind, CHROPROF_FRAME_TASK);
    CHECK_EQ(f[2].path, 3);
    CHECK_STR(f[2].name, "accept");
    CHECK_EQ(chroprof_stack(p, 5, f, 4), 1);
    CHECK_EQ(f[0].kind, CHROPROF_FRAME_MARKER);
    CHECK_STR(f[0].name, "(idle)");
}

TEST(lists_of_samples_take_what_there_is_room_for)
{
    chroprof *p = sampled_scene();
    chroprof_stack_frame f[2];
    chroprof_sample_row rows[2];
    chroprof_wall walls[1];
    memset(f, 0, sizeof f);
    memset(rows, 0, sizeof rows);
    CHECK_EQ(chroprof_stack(p, 3, f, 1), 3);
    CHECK(f[0].module != NULL && f[1].module == NULL);
    CHECK_EQ(chroprof_stack(p, 3, NULL, 5), 3);
    CHECK_EQ(chroprof_stack(p, 6, f, 2), 0);
    CHECK_EQ(chroprof_stack(NULL, 1, f, 2), 0);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, rows, 1), 5);
    CHECK(rows[0].weight == 1 && rows[1].weight == 0);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, NULL, 5), 5);
    chroprof__walls(p->core)[3].weight[0] = 1;
    chroprof__walls(p->core)[4].weight[2] = 2;
    CHECK_EQ(chroprof_walls(p, NULL, 5), 2);
    CHECK_EQ(chroprof_walls(p, walls, 1), 2);
    CHECK_EQ(walls[0].path, 3);
    CHECK_EQ(chroprof_walls(NULL, walls, 1), 0);
    memset(p, 0, sizeof *p);
    CHECK_EQ(chroprof_walls(p, walls, 1), 0);
    CHECK_EQ(chroprof_stack(p, 0, f, 2), 0);
}

/* Names are those of the process that runs; and a view of it knows that nobody samples. */
TEST(a_view_of_samples)
{
    chroprof *p = sampled_scene();
    chroprof_sampler_totals t;
    chroprof_stack_frame f[3];
    chroprof view;
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK_EQ(chroprof_stack(&view, 3, f, 3), 3);
    CHECK_STR(f[1].module, "/usr/lib/libslow.so");
    CHECK_STR(f[1].name, "");
    CHECK_EQ(chroprof_samples(&view, 0, UINT64_MAX, NULL, 0), 5);
    chroprof_read_sampler(&view, &t);
    CHECK(!t.running);
    sampler(&view)->running = 1;
    chroprof_read_sampler(&view, &t);
    CHECK(t.running);
    sampler(p)->running = 1;                /* left behind by a process that is gone */
    chroprof_read_sampler(p, &t);
    CHECK(!t.running);
    memset(p, 0, sizeof *p);
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.samples, 0);
}

/* What a tick may leave in the ring is not trusted to the letter: it lies in shared memory. */
TEST(items_without_sense_end_a_stack)
{
    const uint64_t bad[] = {
        chroprof__item(CHROPROF__TASK, CHROPROF__UNTRACKED - 1), chroprof__item(CHROPROF__TASK, 9),
        chroprof__item(CHROPROF__MARK, 0), chroprof__item(CHROPROF__MARK, CHROPROF__MARKS),
        chroprof__item(4, 3), UINT64_MAX
    };
    chroprof *p = sampled_scene();
    chroprof__entry e = entry_of(1, 1);
    size_t k;
    for (k = 0; k < sizeof bad / sizeof *bad; k++)
        sample_of(p, 1, 1, bad[k], chroprof__item(CHROPROF__PC, OUTSIDE));
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 5);
    CHECK_EQ(node(p, 1)->weight, 1 + 6);    /* the task, which stands outside what is bad */
    for (k = 0; k < CHROPROF__ITEMS; k++)
        e.items[k] = chroprof__item(CHROPROF__PC, OUTSIDE + k);
    e.count = 1000;
    absorb(p, &e);
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 5 + CHROPROF__ITEMS);
}

/* >>taking samples */

TEST(a_sample_starts_the_profile)
{
    chroprof *p = fresh(NULL);
    chroprof_sample_row row;
    chroprof_sample(p, 500, 7);
    chroprof_sample(p, 530, 7);
    at(p, 600, TICK, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 100);
    CHECK_EQ(chroprof_samples(p, 0, UINT64_MAX, &row, 1), 2);
    CHECK_EQ(row.at_ns, 0);
    CHECK_EQ(row.state, CHROPROF_SAMPLE_LOOP);
}

TEST(a_sample_below_hidden_frames)
{
    chroprof_options o;
    chroprof_stack_frame f[4];
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_depth = 1;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    chroprof_sample(p, 15, 1);
    at(p, 20, LEAVE, 0, NULL);
    chroprof_sample(p, 25, 1);
    CHECK_EQ(chroprof_stack(p, 2, f, 4), 2);
    CHECK_EQ(f[0].path, CHROPROF__UNTRACKED);
    CHECK_EQ(f[1].path, 3);
    CHECK_EQ(node(p, 1)->weight, 1);
    CHECK_EQ(node(p, 2)->weight, 1);
}

/* From an interrupt in the middle of an event: it waits in the ring for the next one, and what the
 * ring has no room for is lost, and said so. */
TEST(samples_inside_an_event_wait)
{
    chroprof *p = scene();
    uint64_t room = chroprof__entry_count(chroprof__sample_capacity(p->core)), k;
    chroprof_sampler_totals t;
    p->core->seq++;
    for (k = 0; k < room + 3; k++)
        chroprof_sample(p, 151, 1);
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.samples, 0);
    CHECK_EQ(t.lost, 3);
    p->core->seq--;
    p->core->horizon = p->core->last;       /* as the end of the event would have had it */
    at(p, 160, TICK, 0, NULL);
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.samples, room);
    CHECK_EQ(t.inside, room);
    CHECK_EQ(t.lost, 3);
    CHECK_EQ(sampler(p)->put, sampler(p)->taken);
}

/* A full ring between events: the lightest neighbours become one, and no weight goes. */
TEST(neighbours_in_the_ring_are_merged)
{
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    uint64_t room = chroprof__entry_count(chroprof__sample_capacity(p->core)), k, weight = 0;
    for (k = 0; k < 3 * room; k++) {
        chroprof__entry *e = chroprof__begin_entry(p->core, s);
        CHECK(e != NULL);
        e->weight = k % 7 + 1;
        e->cpu_ns = 10;
        e->wall_ns = 20;
        e->stamp = e->last = p->core->epoch + 150;
        e->items[e->count++] = chroprof__item(CHROPROF__TASK, 3);
        weight += k % 7 + 1;
        s->put++;
        CHECK(s->put - s->taken <= room);
    }
    p->core->horizon = p->core->last;
    at(p, 160, TICK, 0, NULL);
    CHECK_EQ(s->samples, weight);
    CHECK_EQ(node(p, 1)->weight, weight);
    CHECK_EQ(node(p, 1)->cpu_ns, 10 * 3 * room);
}

/* Which two: wherever in the ring they are, and the others stay as they were. */
TEST(the_lightest_neighbours_become_one)
{
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    uint64_t room = chroprof__entry_count(chroprof__sample_capacity(p->core)), k;
    s->put = s->taken = room + 1;
    for (k = 0; k < room; k++) {
        chroprof__entry *e = chroprof__begin_entry(p->core, s);
        e->weight = k == 3 || k == 4 ? 1 : 100 + k;
        s->put++;
    }
    CHECK(chroprof__begin_entry(p->core, s) != NULL);
    CHECK_EQ(s->put - s->taken, room - 1);
    for (k = 0; k < room - 1; k++)
        CHECK_EQ(chroprof__ring(p->core, s, s->taken + k)->weight,
                 k == 3 ? 2 : 100 + k + (k > 3));
}

/* A note says who began a frame; a reset gives frames new numbers. */
TEST(notes_of_frames_outlive_a_reset)
{
    chroprof *p = scene();
    chroprof__note *notes = chroprof__notes(sampler(p));
    notes[3].event = frame(3).event;
    notes[4].event = frame(4).event + 1;
    notes[3].keys[1] = 77;
    chroprof_reset(p);
    CHECK(notes[3].event == frame(3).event && notes[3].keys[1] == 77);
    CHECK(notes[4].event != frame(4).event);
}

/* What a draw of a live future says of it. */
TEST(drawn_futures_are_where_they_are)
{
    chroprof_options o;
    chroprof *p = scene();
    CHECK_EQ(chroprof__drawn_state(p, slot(4)), 1);
    CHECK_EQ(chroprof__drawn_state(p, slot(3)), 2);
    CHECK_EQ(chroprof__drawn_state(p, slot(1)), 2);         /* below a frame without an id */
    at(p, 151, LEAVE, 0, NULL);
    CHECK_EQ(chroprof__drawn_state(p, slot(1)), 0);
    p->core->hidden = 1;
    CHECK_EQ(chroprof__drawn_state(p, slot(1)), 2);
    memset(&o, 0, sizeof o);
    o.max_paths = 50;
    o.max_samples = 2;
    p = fresh(&o);
    CHECK(chroprof__wall_of(p->core, 10) == chroprof__walls(p->core) + 10);
    CHECK(chroprof__wall_of(p->core, 11) == chroprof__walls(p->core) + CHROPROF__UNTRACKED);
}

/* So many live futures that each tick meets as many as it wants; of many ticks in a row some draw
 * for the others. */
TEST(draws_are_as_many_as_ticks)
{
    static const uint64_t ticks[] = { 1, 7, 8, 11, 100 };
    chroprof_options o;
    chroprof *p;
    uint64_t id, before;
    size_t k;
    memset(&o, 0, sizeof o);
    o.max_futures = 1000;
    p = fresh(&o);
    for (id = 1; id <= 1000; id++)
        chroprof_event(p, CHROPROF_PENDING, id, NULL, 0);
    for (k = 0; k < sizeof ticks / sizeof *ticks; k++) {
        before = sampler(p)->draws;
        chroprof__draw_all(p, sampler(p), 10, ticks[k]);
        CHECK_EQ(sampler(p)->draws - before, ticks[k] * CHROPROF__DRAWS);
    }
}

/* >>outputs */

static const char *text_of(chroprof *p)
{
    return written(p, CHROPROF_TEXT)->bytes;
}

/* The scene goes on for 10 ms, in a process that is the same everywhere. */
static chroprof *long_scene(void)
{
    chroprof *p = sampled_scene();
    chroprof__core *c = p->core;
    c->start_unix_ns = UINT64_C(1700000000123456789);
    c->pid = 4321;
    memset(c->host, 0, sizeof c->host);
    memset(c->program, 0, sizeof c->program);
    memcpy(c->host, "here", 4);
    memcpy(c->program, "server", 6);
    at(p, 1000000, IDLE_ENTER, 0, NULL);
    at(p, 3000000, IDLE_LEAVE, 0, NULL);
    at(p, 3100000, ENTER, 0, &C);
    sample_of(p, 4, 3000000, chroprof__item(CHROPROF__RETURN, LIBRARY + 0x20), 0);
    at(p, 9700000, LEAVE, 0, NULL);
    at(p, 9800000, RUNNING, 4, NULL);
    at(p, 9900000, CANCELLED, 4, NULL);
    at(p, 9900000, PAUSED, 999, NULL);
    at(p, 9900000, IDLE_ENTER, 0, NULL);
    at(p, 10000000, TICK, 0, NULL);
    return p;
}

TEST(each_format_of_a_sampled_scene)
{
    static const char *const names[] = { "sampled.txt", "sampled.json", "sampled.folded",
                                         "sampled.prom", "sampled.pprof", "sampled.firefox.json" };
    static const chroprof_format formats[] = { CHROPROF_TEXT, CHROPROF_JSON, CHROPROF_FOLDED,
                                               CHROPROF_PROMETHEUS, CHROPROF_PPROF,
                                               CHROPROF_FIREFOX };
    chroprof *p = long_scene();
    size_t k;
    for (k = 0; k < 6; k++) {
        const harness_output *out = written(p, formats[k]);
        golden(names[k], out->bytes, out->used);
    }
}

TEST(the_text_shows_code_without_a_name)
{
    chroprof *p = sampled_scene();
    chroprof view;
    const char *text = text_of(p);
    CHECK(strstr(text, "in libslow.so") != NULL);
    CHECK(strstr(text, "in (unknown code)") != NULL);
    CHECK(strstr(text, "(itself)") != NULL);
    CHECK(strstr(text, "(no task)") != NULL && strstr(text, "(idle)") != NULL);
    CHECK(strstr(text, "one in") == NULL && strstr(text, "lost") == NULL);
    sampler(p)->first_period_ns = sampler(p)->period_ns = 19000000;
    CHECK(strstr(text_of(p), ", one in 19.0ms of CPU time; cost") != NULL);
    sampler(p)->mode = CHROPROF_SAMPLER_WALL;
    sampler(p)->inside = 2;
    sampler(p)->lost = 4;
    CHECK(strstr(text_of(p), ", one in 19.0ms; cost") != NULL);
    CHECK(strstr(text_of(p), "; 2 inside chroprof, 4 lost") != NULL);
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    CHECK(strstr(text_of(&view), "; 2 inside chroprof, 4 lost") != NULL);
    CHECK(strstr(text_of(&view), "libslow") == NULL);
}

/* More functions than are told apart: the heaviest are shown, in order. */
TEST(the_text_shows_the_heaviest_functions)
{
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    char names[120][8];
    chroprof_site site = { names[0], "f", 1 };
    chroprof *p = fresh(NULL);
    uint32_t k, count;
    for (k = 0; k < 120; k++) {
        snprintf(names[k], sizeof names[k], "t%u", (unsigned)k);
        site.name = names[k];
        at(p, 10 + k, ENTER, 0, &site);
        chroprof_sample(p, 10 + k, 1);
        if (k % 3 == 0)
            chroprof_sample(p, 10 + k, 1);
        at(p, 10 + k, LEAVE, 0, NULL);
    }
    for (k = 0; k < 5; k++) {
        at(p, 200 + k, ENTER, 0, &site);
        chroprof_sample(p, 200 + k, 1);
        at(p, 200 + k, LEAVE, 0, NULL);
    }
    count = chroprof__code_groups(p, groups);
    CHECK_EQ(count, CHROPROF__CODE_GROUPS);
    CHECK_EQ(groups[0].weight, 6);
    CHECK_EQ(groups[0].task, 3 + 119);
    for (k = 1; k < count; k++)
        CHECK(groups[k].weight <= groups[k - 1].weight);
    CHECK(strstr(text_of(p), "t119") != NULL);
    node(p, 1)->weight = 0;                 /* a node that only leads to others is no group */
    CHECK_EQ(chroprof__code_groups(p, groups), CHROPROF__CODE_GROUPS);
}

/* Nested loops deeper than LEVELS share what is kept of the last level. */
TEST(stalls_of_deep_loops_have_samples)
{
    chroprof_stall stalls[8];
    chroprof_options o;
    chroprof *p;
    size_t n;
    int k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 10;
    p = fresh(&o);
    for (k = 0; k <= CHROPROF__LEVELS + 1; k++) {
        at(p, (uint64_t)k, ENTER, 0, &A);
        at(p, (uint64_t)k, LOOP_ENTER, 0, NULL);
    }
    at(p, 20, ENTER, 0, &B);
    chroprof_sample(p, 25, 1);
    at(p, 40, LEAVE, 0, NULL);
    n = chroprof_stalls(p, stalls, 8);
    CHECK_EQ(n, 1);
    CHECK(stalls[0].kind == CHROPROF_STALL_TURN && stalls[0].start_ns == 20);
    CHECK_EQ(stalls[0].sample_count, 1);
    for (k = 0; k < CHROPROF__LEVELS; k++)
        CHECK_EQ(sampler(p)->hits[k].count, k == CHROPROF__LEVELS - 1);
}

/* A stall's stack has names as far as the linker knows them and the line has room. */
TEST(the_text_shows_where_a_stall_was_met)
{
    chroprof *p = scene();
    chroprof__entry e = entry_of(4, 0);
    chroprof__entry dark = entry_of(2, 0);
    chroprof_text_options look;
    static harness_output out;
    uint32_t k;
    sample_the_scene(p);
    for (k = 1; k < CHROPROF__MARKS; k++)
        e.items[e.count++] = chroprof__item(CHROPROF__MARK, k);
    dark.items[dark.count++] = chroprof__item(CHROPROF__PC, OUTSIDE);
    absorb(p, &e);
    absorb(p, &dark);
    at(p, 160, LEAVE, 0, NULL);
    at(p, 170, LOOP_LEAVE, 0, NULL);
    at(p, 171, PAUSED, 1, NULL);
    at(p, 172, PAUSED, 2, NULL);
    at(p, 500, IDLE_ENTER, 0, NULL);
    CHECK(totals_of(p).stalls > 0);
    memset(&look, 0, sizeof look);
    memset(&out, 0, sizeof out);
    look.columns = 200;
    CHECK_EQ(chroprof_write_text(p, &look, harness_collect, &out), 0);
    harness_keep_none();                /* no stack is all marks */
    CHECK(strstr(out.bytes, " in (inside chroprof) < (frames missing) < (unknown stack) < (deeper "
                            "frames)\n") != NULL);
    memset(&out, 0, sizeof out);
    look.columns = 60;
    CHECK_EQ(chroprof_write_text(p, &look, harness_collect, &out), 0);
    CHECK(strstr(out.bytes, " in (inside chroprof) < (frames missing)") != NULL);
    CHECK(strstr(out.bytes, "(deeper frames)") == NULL);
}

TEST(the_json_has_modules_and_walls)
{
    chroprof *p = sampled_scene();
    const char *text;
    chroprof__walls(p->core)[3].weight[0] = 1;
    chroprof__walls(p->core)[3].ticks[0] = 11;
    chroprof__walls(p->core)[4].weight[1] = 2;
    chroprof__walls(p->core)[4].weight[2] = 3;
    sampler(p)->mode = CHROPROF_SAMPLER_WALL;
    text = written(p, CHROPROF_JSON)->bytes;
    CHECK(strstr(text, "\"mode\":\"none\"") != NULL);
    CHECK(strstr(text, "{\"id\":0,\"path\":\"/usr/lib/libslow.so\",\"build_id\":\"c0ffee\"") != 0);
    CHECK(strstr(text, "{\"path\":3,\"state\":\"running\",\"weight\":1,\"duration_ns\":11}") != 0);
    CHECK(strstr(text, "{\"path\":4,\"state\":\"ready\",\"weight\":2,\"duration_ns\":0}") != 0);
    CHECK(strstr(text, "{\"path\":4,\"state\":\"paused\",\"weight\":3,\"duration_ns\":0}") != 0);
    CHECK(strstr(text, "{\"path\":3,\"state\":\"ready\"") == 0);
    sampler(p)->first_period_ns = 5;
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"mode\":\"wall\"") != NULL);
    sampler(p)->mode = CHROPROF_SAMPLER_CPU;
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"mode\":\"cpu\"") != NULL);
}

typedef struct refusal { unsigned long calls, until; } refusal;

static int refuse_late(void *user, const void *bytes, size_t count)
{
    refusal *r = (refusal *)user;
    (void)bytes;
    (void)count;
    return r->calls++ == r->until;
}

/* A writer that fails at any piece, the lists of samples included, is not called again. */
TEST(writers_that_fail_among_samples)
{
    chroprof *p = scene();
    refusal r = { 0, 0 };
    int result = -1;
    uint64_t k;
    for (k = 0; k < 300; k++) {
        sample_of(p, 1, 1, chroprof__item(CHROPROF__PC, OUTSIDE + k), 0);
        if (k < 20)
            add_library(p);
    }
    for (r.until = 0; result != 0; r.until++) {
        r.calls = 0;
        result = chroprof_write(p, CHROPROF_JSON, refuse_late, &r);
        CHECK_EQ(r.calls, r.until + (result != 0));
    }
    CHECK(r.until > 10);
}

/* >>damage: what open refuses, and what a snapshot makes of it */

#define SAMPLE_DAMAGES(X)                                                                          \
    X(node(p, 3)->parent = 3)                                                                      \
    X(node(p, 3)->item = UINT64_MAX)                                                               \
    X(node(p, 3)->module = 2)                                                                      \
    X(chroprof__modules(p->core)->build_id[CHROPROF__BUILD_ID - 1] = 'x')                          \
    X(chroprof__modules(p->core)->path[CHROPROF__MODULE_PATH - 1] = 'x')                           \
    X(sampler(p)->head = capacity(SAMPLES))                                                        \
    X(chroprof__sample_rows(p->core)->stack = 6)                                                   \
    X(chroprof__sample_rows(p->core)->time = CHROPROF__END_OF_TIME)                                \
    X(chroprof__sample_rows(p->core)->duration = CHROPROF__END_OF_TIME)                            \
    X(chroprof__sample_rows(p->core)->state = CHROPROF_SAMPLE_LOOP + 1)                            \
    X(chroprof__stall_rows(p->core)->hits.count = CHROPROF_STALL_SAMPLES + 1)                      \
    X((chroprof__stall_rows(p->core)->hits.count = 1,                                              \
       chroprof__stall_rows(p->core)->hits.stack[0] = 6))

static bool damage_samples(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    SAMPLE_DAMAGES(DO)
#undef DO
    return false;
}

TEST(open_refuses_damaged_samples)
{
    chroprof *p = sampled_scene();
    chroprof view;
    size_t size = (size_t)p->core->block_bytes;
    int k;
    CHECK_EQ(chroprof_open(&view, p->core, size), CHROPROF_OK);
    for (k = 0; damage_samples(sampled_scene(), k); k++)
        harness_equal(__FILE__, k, "chroprof_open of damage number (the line)",
                      chroprof_open(&view, p->core, size), CHROPROF_ERR_CORRUPT);
    CHECK_EQ(k, 12);
}

/* Opens, whatever it was; of samples what fits together is left. */
TEST(snapshot_mends_damaged_samples)
{
    chroprof view;
    int k;
    for (k = 0; damage_samples(sampled_scene(), k); k++) {
        chroprof *p = sampled_scene();
        p->core->seq++;
        (void)damage_samples(p, k);
        harness_equal(__FILE__, k, "chroprof_snapshot of damage number (the line)",
                      copy_of(p, &view), CHROPROF_OK);
        CHECK(chroprof_check(&view) == NULL);
        CHECK_EQ(chroprof_samples(&view, 0, UINT64_MAX, NULL, 0) > 0, k > 2 && k != 5);
    }
    CHECK_EQ(k, 12);
}

#define SAMPLE_BREACHES(X)                                                                         \
    X("a sampled stack is younger than its parent", node(p, 3)->parent = 3)                        \
    X("a sampled stack is younger than its parent", node(p, 3)->next = 3)                          \
    X("a sampled frame is a task, a function or a marker", node(p, 3)->item = UINT64_MAX)          \
    X("a sampled function is of a module", node(p, 3)->module = 2)                                 \
    X("the weights of the stacks add up to the samples taken", node(p, 3)->weight++)               \
    X("samples stand in the order of time, and weigh something",                                   \
      chroprof__sample_rows(p->core)[1].weight = 0)                                                \
    X("samples stand in the order of time, and weigh something",                                   \
      chroprof__sample_rows(p->core)[1].time = 0)                                                  \
    X("the rows of samples and what was dropped add up to the samples taken",                      \
      chroprof__sample_rows(p->core)[1].weight++)                                                  \
    X("the rows of samples and what was dropped add up to the samples taken",                      \
      chroprof__sample_rows(p->core)[1].cpu_ns++)                                                  \
    X("the newest sample is the latest", sampler(p)->latest--)

static const char *breach_of_samples(const chroprof *p, int which)
{
    int k = 0;
#define BREAK(text, poke)                                                                          \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return text;                                                                               \
    }
    SAMPLE_BREACHES(BREAK)
#undef BREAK
    return NULL;
}

TEST(check_names_each_broken_invariant_of_samples)
{
    const char *text = "";
    int k;
    for (k = 0; text != NULL; k++) {
        chroprof *p = sampled_scene();
        text = breach_of_samples(p, k);
        harness()->event = text;
        if (text != NULL)
            CHECK_STR(chroprof_check(p), text);
    }
    harness()->event = NULL;
    CHECK_EQ(k, 11);
}

/* >>modules, as the dynamic linker hands them out */

#if CHROPROF__SAMPLES
typedef struct image {
    chroprof__object object;
    Elf64_Phdr headers[4];
    unsigned char notes[256];
    char name[400];
} image;

/* A file at `low` with one executable segment. */
static image *image_at(uint64_t low, const char *name)
{
    static image i;
    memset(&i, 0, sizeof i);
    snprintf(i.name, sizeof i.name, "%s", name);
    i.object.base = low;
    i.object.name = i.name;
    i.object.headers = i.headers;
    i.object.count = 2;
    i.headers[0].p_type = PT_LOAD;
    i.headers[0].p_flags = PF_R;
    i.headers[0].p_memsz = 0x999999;
    i.headers[1].p_type = PT_LOAD;
    i.headers[1].p_flags = PF_R | PF_X;
    i.headers[1].p_vaddr = 0x1000;
    i.headers[1].p_memsz = 0x500;
    return &i;
}

static chroprof__module *last_module(const chroprof *p)
{
    return chroprof__modules(p->core) + p->core->tables[CHROPROF__MODULES].used - 1;
}

static uint64_t modules_with(chroprof *p, image *i)
{
    CHECK_EQ(chroprof__add_object(&i->object, sizeof i->object, p->core), 0);
    return p->core->tables[CHROPROF__MODULES].used;
}

TEST(modules_are_the_executable_parts_of_files)
{
    chroprof *p = scene();
    image *i = image_at(0x40000, "/lib/one.so");
    CHECK_EQ(modules_with(p, i), 1);
    CHECK_EQ(last_module(p)->low, 0x41000);
    CHECK_EQ(last_module(p)->high, 0x41500);
    CHECK_EQ(last_module(p)->base, 0x40000);
    CHECK_STR(last_module(p)->path, "/lib/one.so");
    CHECK_EQ(modules_with(p, i), 1);        /* once */
    CHECK_EQ(modules_with(p, image_at(0x40000, "/lib/two.so")), 2);
    i = image_at(0x40000, "/lib/two.so");
    i->headers[1].p_memsz = 0x600;
    CHECK_EQ(modules_with(p, i), 3);
    i = image_at(0x40000, "/lib/two.so");   /* two parts, the higher one first */
    i->object.count = 4;
    i->headers[2] = i->headers[3] = i->headers[1];
    i->headers[2].p_vaddr = 0x800;
    i->headers[3].p_vaddr = 0x900;
    CHECK_EQ(modules_with(p, i), 4);
    CHECK_EQ(last_module(p)->low, 0x40800);
    CHECK_EQ(last_module(p)->high, 0x41500);
    i = image_at(0x50000, "/lib/data.so");
    i->object.count = 1;
    CHECK_EQ(modules_with(p, i), 4);        /* nothing in it is executable */
    i->object.count = 2;
    CHECK_EQ(chroprof__add_object(&i->object, sizeof i->object - 1, p->core), 0);
    CHECK_EQ(p->core->tables[CHROPROF__MODULES].used, 4);
}

TEST(a_full_table_of_modules)
{
    chroprof *p = scene();
    uint32_t rows = p->core->tables[CHROPROF__MODULES].rows, k;
    for (k = 0; k < rows + 3; k++)
        CHECK_EQ(modules_with(p, image_at(0x10000 * (k + 1), "/lib/x.so")),
                 k < rows ? k + 1 : rows);
    laws(p);
}

/* Code of a file that was loaded after the start is looked up when it is first met. */
TEST(modules_are_read_again)
{
    chroprof *p = scene();
    uint64_t (*clock)(void *) = chroprof__monotonic_ns;
    uintptr_t code;
    if (!chroprof__each_object)
        SKIP("linked statically, without a list of modules");
    memcpy(&code, &clock, sizeof code);
    sample_of(p, 1, 1, chroprof__item(CHROPROF__PC, code), 0);
    CHECK_EQ(node(p, 2)->module, 0);        /* nobody samples: it may be another program's */
    p = scene();
    sampler(p)->running = 1;
    sample_of(p, 1, 1, chroprof__item(CHROPROF__PC, code), 0);
    CHECK(node(p, 2)->module != 0);
    CHECK(strstr(chroprof__modules(p->core)[node(p, 2)->module - 1].path, "inside") != NULL);
    CHECK(sampler(p)->module_at > p->core->last);
}

TEST(long_paths_of_modules_keep_their_end)
{
    char name[300];
    chroprof *p = scene();
    memset(name, 'd', sizeof name);
    memcpy(name + sizeof name - 8, "/end.so", 8);
    CHECK_EQ(modules_with(p, image_at(0x40000, name)), 1);
    CHECK_EQ(strlen(last_module(p)->path), CHROPROF__MODULE_PATH - 1);
    CHECK(memcmp(last_module(p)->path, "...ddd", 6) == 0);
    CHECK_STR(last_module(p)->path + CHROPROF__MODULE_PATH - 8, "/end.so");
    CHECK_EQ(modules_with(p, image_at(0x60000, name + sizeof name - CHROPROF__MODULE_PATH)), 2);
    CHECK_STR(last_module(p)->path, name + sizeof name - CHROPROF__MODULE_PATH);
    CHECK_EQ(modules_with(p, image_at(0x80000, name + sizeof name - CHROPROF__MODULE_PATH - 1)), 3);
    CHECK(memcmp(last_module(p)->path, "...ddd", 6) == 0);
    CHECK_EQ(modules_with(p, image_at(0xA0000, "")), 4);    /* the program itself */
    CHECK(strstr(last_module(p)->path, "inside") != NULL);
}

/* A note of `size` bytes behind what is there, its name of 4, in a part that is in memory. */
static void add_note(image *i, uint32_t type, uint32_t name, uint32_t size)
{
    Elf64_Phdr *header = &i->headers[0];
    Elf64_Nhdr note;
    unsigned char *at;
    if (header->p_type != PT_NOTE)
        memset(header, 0, sizeof *header);
    header->p_type = PT_NOTE;
    header->p_vaddr = (uint64_t)(uintptr_t)i->notes - i->object.base;
    i->object.count = 4;
    i->headers[3] = *header;
    i->headers[3].p_type = PT_LOAD;
    i->headers[3].p_flags = PF_R;
    i->headers[3].p_memsz = sizeof i->notes;
    at = i->notes + header->p_memsz;
    note.n_namesz = name;
    note.n_descsz = size;
    note.n_type = type;
    memcpy(at, &note, sizeof note);
    memset(at + sizeof note + (name + 3) / 4 * 4, 0xAB, size);
    header->p_memsz += sizeof note + (name + 3) / 4 * 4 + (size + 3) / 4 * 4;
}

TEST(build_ids_stand_among_notes)
{
    chroprof *p = scene();
    image *i = image_at(0x40000, "/lib/a.so");
    add_note(i, 1, 4, 5);
    add_note(i, NT_GNU_BUILD_ID, 3, 4);
    add_note(i, NT_GNU_BUILD_ID, 4, 3);
    add_note(i, NT_GNU_BUILD_ID, 4, 8);
    (void)modules_with(p, i);
    CHECK_STR(last_module(p)->build_id, "ababab");
    i = image_at(0x41000, "/lib/b.so");     /* as long as there is room for */
    add_note(i, NT_GNU_BUILD_ID, 4, 64);
    (void)modules_with(p, i);
    CHECK_EQ(strlen(last_module(p)->build_id), (CHROPROF__BUILD_ID - 1) / 2 * 2);
    i = image_at(0x42000, "/lib/c.so");     /* cut short */
    add_note(i, NT_GNU_BUILD_ID, 4, 8);
    i->headers[0].p_memsz -= 1;
    (void)modules_with(p, i);
    CHECK_STR(last_module(p)->build_id, "");
    i = image_at(0x43000, "/lib/d.so");     /* the second of two */
    add_note(i, NT_GNU_BUILD_ID, 4, 2);
    i->headers[2] = i->headers[0];
    i->headers[2].p_memsz = 0;
    (void)modules_with(p, i);
    CHECK_STR(last_module(p)->build_id, "abab");
    i = image_at(0x44000, "/lib/e.so");     /* a note that is not in memory */
    add_note(i, NT_GNU_BUILD_ID, 4, 2);
    i->headers[3].p_memsz = 3;
    (void)modules_with(p, i);
    CHECK_STR(last_module(p)->build_id, "");
}

/* >>ticks: what the handler does, called by hand */

/* A stack of three calls: frame records at 2, 6 and 10, each with where it returns to. */
static void stack_of_three(chroprof__sampler *s, uintptr_t *words, size_t count)
{
    memset(words, 0, count * sizeof *words);
    words[2] = (uintptr_t)&words[6];
    words[3] = LIBRARY + 1;
    words[6] = (uintptr_t)&words[10];
    words[7] = LIBRARY + 2;
    words[11] = LIBRARY + 3;
    s->low = (uintptr_t)words;
    s->high = (uintptr_t)(words + count);
}

/* The items, and 0 behind the last. */
static void expect_items(const chroprof__entry *e, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                         uint64_t f)
{
    const uint64_t items[] = { a, b, c, d, f };
    uint32_t k;
    for (k = 0; k < 5 && items[k] != 0; k++)
        CHECK_EQ(e->items[k], items[k]);
    CHECK_EQ(e->count, k);
}

static chroprof__entry walked(const chroprof *p, uint32_t depth, uintptr_t *words)
{
    chroprof__entry e = entry_of(1, 0);
    chroprof__walk w;
    w.c = p->core;
    w.s = sampler(p);
    w.e = &e;
    w.depth = depth;
    chroprof__walk_records(&w, (uintptr_t)&words[2], (uintptr_t)&words[1]);
    return e;
}

TEST(a_walk_follows_the_records)
{
    const uint64_t first = chroprof__item(CHROPROF__RETURN, LIBRARY + 1);
    const uint64_t second = chroprof__item(CHROPROF__RETURN, LIBRARY + 2);
    const uint64_t third = chroprof__item(CHROPROF__RETURN, LIBRARY + 3);
    const uint64_t cut = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_CUT);
    const uint64_t timer = chroprof__item(CHROPROF__TASK, 8);
    const uint64_t unknown = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_STACK);
    uintptr_t words[16];
    chroprof *p = scene();
    chroprof__sampler *s = sampler(p);
    chroprof__note *note = chroprof__notes(s) + 5;
    chroprof__entry e;
    stack_of_three(s, words, 16);
    e = walked(p, 0, words);
    expect_items(&e, first, second, third, 0, 0);
    e = walked(p, 5, words);                /* nobody began these tasks */
    expect_items(&e, first, second, third, cut, 0);
    note->event = frame(5).event;           /* the second call began the innermost task */
    note->keys[2] = chroprof__frame_key((uintptr_t)&words[6], LIBRARY + 2);
    e = walked(p, 5, words);
    expect_items(&e, timer, first, second, third, cut);
    note->event++;                          /* an old note */
    e = walked(p, 5, words);
    expect_items(&e, first, second, third, cut, 0);
    s->high = (uintptr_t)&words[7];         /* the stack ends in the middle of a record */
    e = walked(p, 0, words);
    expect_items(&e, first, 0, 0, 0, 0);
    s->high = (uintptr_t)&words[8];
    e = walked(p, 0, words);
    expect_items(&e, first, second, 0, 0, 0);
    s->high = (uintptr_t)&words[16];
    words[2] = (uintptr_t)&words[6] + 1;    /* records are aligned, and lie above each other */
    e = walked(p, 0, words);
    expect_items(&e, first, 0, 0, 0, 0);
    words[2] = (uintptr_t)&words[2];
    e = walked(p, 0, words);
    expect_items(&e, first, 0, 0, 0, 0);
    s->high = s->low;
    e = walked(p, 0, words);
    expect_items(&e, unknown, 0, 0, 0, 0);
    s->fiber_low = (uintptr_t)words;        /* of a fiber: who began its tasks stands elsewhere */
    s->fiber_high = (uintptr_t)(words + 16);
    e = walked(p, 5, words);
    expect_items(&e, first, 0, 0, 0, 0);
    s->fiber_low = s->fiber_high;
    e = walked(p, 5, words);
    expect_items(&e, unknown, 0, 0, 0, 0);
}

/* Bounds of a stack that nobody can have. */
TEST(a_walk_below_the_first_record)
{
    uintptr_t words[16];
    chroprof *p = scene();
    chroprof__entry e = entry_of(1, 0);
    chroprof__walk w;
    stack_of_three(sampler(p), words, 16);
    sampler(p)->fiber_high = 8;
    w.c = p->core;
    w.s = sampler(p);
    w.e = &e;
    w.depth = 0;
    chroprof__walk_records(&w, (uintptr_t)&words[2], 4);
    CHECK_EQ(e.count, 0);
}

TEST(a_walk_of_a_deep_stack_ends)
{
    const uint64_t deep = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_DEEP);
    uintptr_t words[400];
    chroprof *p = scene();
    chroprof__entry e;
    size_t k;
    stack_of_three(sampler(p), words, 400);
    for (k = 2; k + 2 < 400; k += 2) {
        words[k] = (uintptr_t)&words[k + 2];
        words[k + 1] = OUTSIDE + k;
    }
    e = walked(p, 0, words);
    CHECK_IN(e.count, CHROPROF__ITEMS - 3, CHROPROF__ITEMS - 1);
    CHECK_EQ(e.items[e.count - 1], deep);
    e = walked(p, 5, words);                /* and leaves room for the tasks */
    CHECK_IN(e.count, CHROPROF__ITEMS - 8, CHROPROF__ITEMS - 6);
    CHECK_EQ(e.items[e.count - 1], deep);
}

/* Are the registers of this processor read? Elsewhere samples name the tasks only. */
static bool knows_registers(void)
{
    chroprof__registers r;
    ucontext_t nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    return chroprof__read_registers(&nowhere, &r);
}

/* The interrupted code was nowhere that we know. */
TEST(ticks_by_hand)
{
    chroprof_options o;
    chroprof_sampler_totals t;
    ucontext_t nowhere;
    chroprof *p;
    chroprof__sampler *s;
    memset(&nowhere, 0, sizeof nowhere);
    memset(&o, 0, sizeof o);
    o.max_depth = 1;
    p = fresh(&o);
    s = sampler(p);
    s->period_ns = s->first_period_ns = 1000000;
    s->budget_ppm = 1000000;
    at(p, 0, ENTER, 0, &A);
    at(p, 10, ENTER, 0, &B);
    s->counter = 2;
    chroprof__take_tick(p->core, s, 3, &nowhere);
    CHECK(s->put == 1 && chroprof__ring(p->core, s, 0)->stamp != 0);
    s->counter = 0;
    chroprof__take_tick(p->core, s, 2, &nowhere);
    CHECK(s->put == 2 && chroprof__ring(p->core, s, 1)->stamp == 0);
    p->core->enabled = 0;                   /* no profile time, no samples */
    chroprof__take_tick(p->core, s, 1, &nowhere);
    p->core->enabled = 1;
    CHECK_EQ(s->put, 2);
    at(p, 20, TICK, 0, NULL);
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.ticks, 6);
    CHECK_EQ(t.samples, 5);
    CHECK_EQ(t.lost, 0);
    CHECK_EQ(chroprof__item_kind(node(p, 1)->item), CHROPROF__TASK);
    CHECK_EQ(chroprof__item_value(node(p, 1)->item), 3);
    if (!knows_registers()) {
        CHECK_EQ(chroprof__item_kind(node(p, 2)->item), CHROPROF__TASK);
        CHECK_EQ(chroprof__item_value(node(p, 2)->item), CHROPROF__UNTRACKED);
        return;
    }
    CHECK_EQ(chroprof__item_value(node(p, 2)->item), CHROPROF__MARK_STACK);
    CHECK_EQ(chroprof__item_value(node(p, 3)->item), CHROPROF__UNTRACKED);
    CHECK_EQ(chroprof__item_kind(node(p, 4)->item), CHROPROF__PC);
}

static uint32_t a_thousand_frames(void *user, void *context, uintptr_t *out, uint32_t capacity)
{
    uint32_t k;
    (void)context;
    CHECK_EQ(capacity, CHROPROF__ITEMS);
    for (k = 0; k < capacity; k++)
        out[k] = OUTSIDE + k;
    return *(const uint32_t *)user;
}

/* A walk of the user's that says anything. */
TEST(walks_of_the_user_are_cut)
{
    uint32_t (*unwind)(void *, void *, uintptr_t *, uint32_t) = a_thousand_frames;
    const uint64_t outer = chroprof__item(CHROPROF__TASK, 3);
    const uint64_t cut = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_CUT);
    static uint32_t says;
    static ucontext_t nowhere;
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof__entry e = entry_of(1, 0);
    uintptr_t function;
    memcpy(&function, &unwind, sizeof function);
    s->unwind = function;
    s->unwind_user = (uintptr_t)&says;
    says = 2;
    chroprof__weave(p->core, s, &e, &nowhere);
    CHECK_EQ(e.count, 2);
    CHECK_EQ(e.items[1], chroprof__item(CHROPROF__RETURN, OUTSIDE + 1));
    at(p, 0, ENTER, 0, &A);
    says = 1000;
    e = entry_of(1, 0);
    chroprof__weave(p->core, s, &e, &nowhere);
    CHECK_IN(e.count, CHROPROF__ITEMS - 4, CHROPROF__ITEMS);
    CHECK_EQ(e.items[0], chroprof__item(CHROPROF__PC, OUTSIDE));
    CHECK_EQ(e.items[e.count - 2], cut);
    CHECK_EQ(e.items[e.count - 1], outer);
    e.count = CHROPROF__ITEMS;
    chroprof__put_item(&e, CHROPROF__PC, OUTSIDE);      /* nothing goes behind the last */
    CHECK_EQ(e.count, CHROPROF__ITEMS);
}

/* Signals that are not of our timer: sent by hand, without a profile, of an old start. */
TEST(signals_of_others_are_no_ticks)
{
    chroprof *p = scene();
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (char *)p->core + 5;
    CHECK(chroprof__ticked(&info) == NULL);
    sampler(p)->armed = (uintptr_t)p->core + 5;
    CHECK(chroprof__ticked(&info) == p->core);
    info.si_value.sival_ptr = (char *)p->core + 6;
    CHECK(chroprof__ticked(&info) == NULL);
    info.si_value.sival_ptr = (char *)p->core + 5;
    info.si_code = SI_USER;
    CHECK(chroprof__ticked(&info) == NULL);
    info.si_code = SI_TIMER;
    p->core->magic++;
    CHECK(chroprof__ticked(&info) == NULL);
    info.si_value.sival_ptr = NULL;
    CHECK(chroprof__ticked(&info) == NULL);
}

static void host_handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

/* Our signal, sent by hand, is no tick; a handler that the host puts in its place stays. */
TEST(a_signal_that_the_host_sends_and_takes)
{
    chroprof_sampler_options o;
    struct sigaction theirs, now;
    chroprof *p = fresh(NULL);
    uint64_t before;
    memset(&o, 0, sizeof o);
    o.period_ns = UINT64_C(1000000000000);
    STARTED(chroprof_sampler_start(p, &o));
    before = sampler(p)->ticks;
    CHECK_EQ(raise(p->sampler_signal), 0);
    CHECK_EQ(sampler(p)->ticks, before);
    memset(&theirs, 0, sizeof theirs);
    sigemptyset(&theirs.sa_mask);
    theirs.sa_sigaction = host_handler;
    theirs.sa_flags = SA_SIGINFO;
    CHECK_EQ(sigaction(p->sampler_signal, &theirs, NULL), 0);
    o.signal = p->sampler_signal;
    chroprof_sampler_stop(p);
    CHECK_EQ(sigaction(o.signal, NULL, &now), 0);
    CHECK(now.sa_sigaction == host_handler);
    theirs.sa_flags = 0;
    theirs.sa_handler = SIG_DFL;
    CHECK_EQ(sigaction(o.signal, &theirs, NULL), 0);
}

/* A handler must not ask the host's clock. */
TEST(clocks_that_a_tick_may_read)
{
    chroprof_options o;
    chroprof *p = fresh(NULL);
    CHECK_EQ(chroprof__sample_clock(p), 0);
    memset(&o, 0, sizeof o);
    o.clock = chroprof__monotonic_ns;
    p = fresh(&o);
    CHECK_IN(chroprof__sample_clock(p), 1, 2);
}

/* Too little CPU time to begin a row while the loop sleeps is kept for the next tick. */
TEST(cpu_time_of_a_sleeping_loop_is_kept)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    s->period_ns = 16000;
    s->cpu = 5000;
    CHECK_EQ(chroprof__cpu_of_tick(s, 5999, CHROPROF_SAMPLE_IDLE), 0);
    CHECK_EQ(s->idle_cpu, 999);
    CHECK_EQ(chroprof__cpu_of_tick(s, 5001, CHROPROF_SAMPLE_IDLE), 1000);
    CHECK_EQ(s->idle_cpu, 0);
    CHECK_EQ(chroprof__cpu_of_tick(s, 5999, CHROPROF_SAMPLE_BUSY), 999);
    CHECK_EQ(chroprof__cpu_of_tick(s, 4000, CHROPROF_SAMPLE_BUSY), 0);
}

static uint64_t period_after(chroprof__sampler *s, uint64_t ticks, uint64_t cost)
{
    s->window_ticks = ticks;
    s->window_cost = cost;
    chroprof__keep_budget(s);
    return s->period_ns;
}

/* 64 ticks of 1 ms may cost 640 us at 1 %. */
TEST(the_period_keeps_to_the_budget)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    const uint64_t many = CHROPROF__BUDGET_TICKS;
    const uint64_t allowed = many * 10000;  /* ns, of ticks of 1 ms */
    s->jitter = 1;                          /* no timer is set */
    s->period_ns = s->first_period_ns = 1000000;
    s->budget_ppm = 10000;
    CHECK_EQ(period_after(s, many - 1, 9 * allowed), 1000000);
    CHECK_EQ(s->window_ticks, many - 1);
    CHECK_EQ(period_after(s, many, allowed), 1000000);
    CHECK_EQ(s->window_ticks, 0);
    CHECK_EQ(s->window_cost, 0);
    CHECK_EQ(period_after(s, many, allowed + 1), 2000000);
    CHECK_EQ(period_after(s, many, 2 * allowed / 3 + 1), 2000000);
    CHECK_EQ(period_after(s, many, 2 * allowed / 3), 1000000);
    CHECK_EQ(period_after(s, many, 0), 1000000);
    s->period_ns = UINT64_C(1) << 40;
    s->first_period_ns = UINT64_C(1) << 40;
    s->budget_ppm = 0;
    CHECK_EQ(period_after(s, many, 1), UINT64_C(1) << 40);
}

/* >>starts that fail leave nothing behind */

static void on_any_signal(int number) { (void)number; }

TEST(all_real_time_signals_are_taken)
{
    struct sigaction ours;
    chroprof_sampler_options o;
    chroprof *p = fresh(NULL);
    int number;
    memset(&ours, 0, sizeof ours);
    memset(&o, 0, sizeof o);
    sigemptyset(&ours.sa_mask);
    ours.sa_handler = on_any_signal;
    for (number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)sigaction(number, &ours, NULL);       /* what valgrind keeps for itself fails */
    CHECK_EQ(chroprof_sampler_start(p, NULL), CHROPROF_ERR_SAMPLER_SIGNAL);
    o.signal = 9999;
    CHECK_EQ(chroprof_sampler_start(p, &o), CHROPROF_ERR_SAMPLER_SIGNAL);
    ours.sa_handler = SIG_DFL;
    for (number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)sigaction(number, &ours, NULL);
    CHECK(sampler(p)->armed == 0 && sampler(p)->running == 0);
    laws(p);
}

TEST(jittered_periods)
{
    chroprof__sampler *s = sampler(fresh(NULL));
    uint64_t least = UINT64_MAX, most = 0, sum = 0, one;
    int k;
    s->period_ns = 19000000;
    for (k = 0; k < 10000; k++, sum += one) {
        one = chroprof__jittered(s);
        least = one < least ? one : least;
        most = one > most ? one : most;
    }
    CHECK_IN(least, 9500000, 9600000);
    CHECK_IN(most, 28400000, 28499999);
    CHECK_IN(sum / 10000, 18700000, 19300000);    /* 5 standard errors */
}

#if CHROPROF__THREAD_TIMER
/* The next tick of a timer, and those after it. */
static chroprof__timer_value timer_of(chroprof *p, bool jitter)
{
    chroprof__timer_value value;
    chroprof_sampler_options o;
    memset(&o, 0, sizeof o);
    memset(&value, 0, sizeof value);        /* what the kernel writes no sanitizer sees */
    o.period_ns = 100 * UINT64_C(1000000000);
    o.jitter = jitter;
    STARTED(chroprof_sampler_start(p, &o));
    CHECK_EQ(chroprof__system(SYS_timer_gettime, (long)sampler(p)->timer, (long)&value, 0L, NULL),
             0);
    chroprof_sampler_stop(p);
    return value;
}

TEST(with_jitter_each_tick_is_asked_for)
{
    chroprof *p = fresh(NULL);
    chroprof__timer_value steady = timer_of(p, false), one = timer_of(p, true), other;
    CHECK_EQ(steady.interval_s, 100);
    CHECK_IN(steady.first_s, 90, 100);
    CHECK_EQ(one.interval_s + one.interval_ns, 0);
    CHECK_IN(one.first_s, 40, 150);
    other = timer_of(p, true);
    CHECK(one.first_s != other.first_s || one.first_ns / 1000000 != other.first_ns / 1000000);
}
#endif

#if defined(RLIMIT_SIGPENDING)
/* Why no timer is to be had, asked of the system itself; 0: one is. */
static int refusal_of_timers(void)
{
#if CHROPROF__THREAD_TIMER
    int timer;
    if (chroprof__system(SYS_timer_create, (long)CLOCK_MONOTONIC, NULL, &timer) != 0)
        return errno;
    (void)chroprof__system(SYS_timer_delete, (long)timer);
#endif
    return 0;
}

/* The system has no timer left for this user. */
TEST(no_timer_is_left)
{
    struct rlimit before, none;
    chroprof *p = fresh(NULL);
    chroprof_result result;
    struct sigaction action;
    int refused, number;
    CHECK_EQ(getrlimit(RLIMIT_SIGPENDING, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    refused = refusal_of_timers();
    errno = 0;
    result = chroprof_sampler_start(p, NULL);
    number = errno;
    CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &before), 0);
    if (refused == 0) {
        chroprof_sampler_stop(p);
        SKIP("this system has timers without a limit");
    }
    CHECK_EQ(result, CHROPROF_ERR_SAMPLER_TIMER);
    CHECK_EQ(number, refused);              /* EAGAIN, or what a filter of system calls says */
    CHECK(sampler(p)->armed == 0 && sampler(p)->running == 0);
    CHECK_EQ(sigaction(SIGRTMIN, NULL, &action), 0);
    CHECK((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL);
    laws(p);
}
#endif

TEST(a_period_too_short_is_lengthened)
{
    chroprof_sampler_options o;
    chroprof_sampler_totals t;
    chroprof *p = fresh(NULL);
    memset(&o, 0, sizeof o);
    o.period_ns = 1;
    STARTED(chroprof_sampler_start(p, &o));
    chroprof_sampler_stop(p);
    chroprof_read_sampler(p, &t);
    CHECK_EQ(t.first_period_ns, 100000);
}
#endif

#endif
