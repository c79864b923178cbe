/* tests/inside_firefox.h - part of test_inside.c: how the Firefox writer shows samples by hand,
 * cell by cell. In the scene the stacks are 0 to 8 the paths, 9 to 12 the rows of the timeline of
 * windows, 13 all other sites, 14 no samples, 15 frames missing, from 16 the sampled stacks, and
 * where a row is idle all of those once more. */
#ifndef INSIDE_FIREFOX_H
#define INSIDE_FIREFOX_H

/* What a column of a table holds; the text lives until the next call. */
static const char *column_of(const char *text, const char *table, const char *name)
{
    static char cells[1 << 16];
    char key[40];
    size_t length;
    const char *start = strstr(text, table);
    CHECK(start != NULL);
    snprintf(key, sizeof key, "\"%s\":[", name);
    start = strstr(start, key);
    CHECK(start != NULL);
    start += strlen(key);
    length = strcspn(start, "]");
    CHECK(length < sizeof cells);
    memcpy(cells, start, length);
    cells[length] = '\0';
    return cells;
}

/* Of the first thread, which is the timeline. */
static const char *timeline(chroprof *p, const char *name)
{
    return column_of(written(p, CHROPROF_FIREFOX)->bytes, "\"threads\":[", name);
}

static const char *firefox_of(chroprof *p)
{
    return written(p, CHROPROF_FIREFOX)->bytes;
}

static uint64_t slot_of_code(uint64_t item)
{
    return chroprof__hash_index(item, CHROPROF__FIREFOX_CODES);
}

/* A row of 4 samples in 10 ns, while the timer ticks each 20 ns: it has a cell a sample, of which
 * the first has the CPU time; before and behind it nothing was sampled for more than two ticks. */
TEST(the_timeline_has_parts_and_gaps)
{
    const uint64_t code = chroprof__item(CHROPROF__RETURN, LIBRARY + 0x20);
    chroprof *p = scene();
    sample_of(p, 1, 7, code, 0);
    at(p, 160, TICK, 0, NULL);
    sample_of(p, 3, 0, code, 0);
    CHECK_EQ(p->core->tables[CHROPROF_TABLE_SAMPLES].used, 1);
    CHECK_STR(timeline(p, "stack"), "17,17,17,17,1");       /* no timer, no gaps */
    sampler(p)->period_ns = 20;
    at(p, 200, TICK, 0, NULL);              /* not longer than two ticks */
    CHECK_STR(timeline(p, "stack"), "14,17,17,17,17,1");
    at(p, 1000, TICK, 0, NULL);
    CHECK_STR(timeline(p, "stack"), "14,17,17,17,17,14,1");
    CHECK_STR(timeline(p, "time"),
              "0.000000,0.000150,0.000152,0.000155,0.000157,0.000180,0.001000");
    CHECK_STR(timeline(p, "weight"), "0,1,1,1,1,0,0");
    CHECK_STR(timeline(p, "threadCPUDelta"), "0,7,0,0,0,0,0");
}

/* Code that was met while the loop was idle ends in a frame that says so; of what did not fit there
 * is only whether it was idle. */
TEST(the_timeline_knows_who_was_idle)
{
    chroprof *p = sampled_scene();
    chroprof__entry waits = entry_of(1, 1), lost = entry_of(1, 2), away = entry_of(1, 3);
    waits.state = away.state = CHROPROF_SAMPLE_IDLE;
    waits.items[waits.count++] = chroprof__item(CHROPROF__RETURN, LIBRARY + 0x20);
    waits.items[waits.count++] = chroprof__item(CHROPROF__TASK, 3);
    absorb(p, &waits);
    absorb(p, &lost);
    absorb(p, &away);
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 5);
    CHECK_STR(timeline(p, "stack"), "16,17,18,19,20,22,15,1,1");
    CHECK_STR(timeline(p, "threadCPUDelta"), "10,20,30,40,0,1,2,3,0");
    CHECK_STR(column_of(firefox_of(p), "\"stackTable\"", "prefix"),
              "null,null,null,null,3,3,5,null,3,null,null,null,null,null,null,null,"
              "null,16,17,16,null,16,17,18,19,20");
    CHECK_STR(column_of(firefox_of(p), "\"stackTable\"", "frame"),
              "0,1,2,4,5,6,7,7,7,4,7,5,6,8,9,10,11,12,13,14,15,1,1,1,1,1");
    chroprof__sample_rows(p->core)->stack = 6;      /* another process wrote into the block */
    CHECK_STR(timeline(p, "stack"), "15,17,18,19,20,22,15,1,1");
    chroprof__sample_rows(p->core)->stack = UINT32_MAX;
    CHECK_STR(timeline(p, "stack"), "15,17,18,19,20,22,15,1,1");
    harness_keep_none();
}

/* The rows of samples are gone, which a snapshot may leave so, and with them the sampled stacks
 * that a stall knows: its cause is the task. */
TEST(a_stall_outlives_its_samples)
{
    chroprof *p = long_scene();
    CHECK(strstr(firefox_of(p), "\"cause\":{\"stack\":18,\"time\":3.100000") != NULL);
    p->core->tables[CHROPROF_TABLE_SAMPLES].used = 0;
    CHECK(strstr(firefox_of(p), "\"cause\":{\"stack\":9,\"time\":3.100000") != NULL);
    CHECK(strstr(firefox_of(p), "\"cause\":{\"stack\":18,") == NULL);
    harness_keep_none();
}

TEST(the_timeline_says_what_its_clock_was)
{
    chroprof *p = sampled_scene();
    CHECK(strstr(firefox_of(p), "\"Timeline of samples\"") != NULL);
    sampler(p)->first_period_ns = 19000000;
    sampler(p)->mode = CHROPROF_SAMPLER_CPU;
    CHECK(strstr(firefox_of(p), "\"Timeline of samples (CPU time)\"") != NULL);
    sampler(p)->mode = CHROPROF_SAMPLER_WALL;
    CHECK(strstr(firefox_of(p), "\"Timeline of samples (wall clock)\"") != NULL);
}

/* Code without a name is its address, in its file if that is known. It has one function, unless
 * other code had its place in the table of functions in between. */
TEST(code_without_a_name_is_an_address)
{
    const uint64_t code = chroprof__item(CHROPROF__PC, OUTSIDE);
    const uint64_t caller = chroprof__item(CHROPROF__RETURN, LIBRARY + 0x20);
    uint64_t other = code + 1;
    char want[80];
    chroprof *p = scene();
    while (slot_of_code(other) != slot_of_code(code))
        other++;
    CHECK(slot_of_code(caller) != slot_of_code(code));
    add_library(p);
    sample_of(p, 1, 1, code, 0);            /* 2 */
    sample_of(p, 1, 1, caller, code);       /* 3, 4 */
    sample_of(p, 1, 1, other, 0);           /* 5 */
    sample_of(p, 1, 1, caller, other);      /* 6 */
    sample_of(p, 1, 1, other, code);        /* 7 */
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 7);
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "func"),
              "0,1,2,3,4,5,6,7,8,9,10,4,12,13,12,15,15,17");
    snprintf(want, sizeof want,
             ",\"accept\",\"0x90000\",\"0x120\",\"\",\"0x%lx\",\"\",\"0x90000\"]",
             (unsigned long)chroprof__item_value(other));
    CHECK(strstr(firefox_of(p), want) != NULL);
    chroprof__modules(p->core)->base = LIBRARY + 0x21;      /* above it: a file that lies */
    CHECK(strstr(firefox_of(p), ",\"0xffffffffffffffff\",\"\",") != NULL);
    harness_keep_none();
}

/* An address behind `start` that is in the function `name`, and has a place of its own in the table
 * of functions; 0: there is none. */
static uint64_t code_apart(const chroprof *p, uint64_t start, const char *name, uint64_t other)
{
    uint64_t key = (uint64_t)(uintptr_t)name | UINT64_C(1) << 63;
    uint64_t k;
    for (k = start + 1; k < start + 9; k++) {
        uint64_t item = chroprof__item(CHROPROF__RETURN, k);
        if (chroprof__function(p, k - 1) == name && slot_of_code(item) != slot_of_code(key) &&
            slot_of_code(item) != slot_of_code(other))
            return item;
    }
    return 0;
}

/* Code whose place in the table of functions is that of a name. */
static uint64_t code_in_place_of(const char *name)
{
    uint64_t key = (uint64_t)(uintptr_t)name | UINT64_C(1) << 63;
    uint64_t item = chroprof__item(CHROPROF__PC, OUTSIDE);
    while (slot_of_code(item) != slot_of_code(key))
        item++;
    return item;
}

/* Two addresses in one function of the C library, met below each other; and the first one once more
 * when the name is forgotten. */
TEST(a_function_with_a_name_is_there_once)
{
    void (*sort)(void *, size_t, size_t, int (*)(const void *, const void *)) = qsort;
    chroprof *p = scene();
    uintptr_t start;
    uint64_t one, two, other;
    const char *name;
    char want[300];
    memcpy(&start, &sort, sizeof start);
    name = chroprof__function(p, start);
    one = code_apart(p, start, name, 0);
    two = one != 0 ? code_apart(p, chroprof__item_value(one), name, one) : 0;
    if (*name == '\0' || two == 0)
        SKIP("the dynamic linker has no name for qsort");
    other = code_in_place_of(name);
    sample_of(p, 1, 1, one, 0);             /* 2 */
    sample_of(p, 1, 1, two, one);           /* 3, 4 */
    sample_of(p, 1, 1, one, two);           /* 5 */
    sample_of(p, 1, 1, other, one);         /* 6, 7 */
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 7);
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "func"),
              "0,1,2,3,4,5,6,7,8,9,10,4,12,12,12,12,16,12");
    snprintf(want, sizeof want, ",\"accept\",\"%s\",\"\",\"\",\"\",\"0x%lx\",\"\"]", name,
             (unsigned long)chroprof__item_value(other));
    CHECK(strstr(firefox_of(p), want) != NULL);
}

/* >>the timeline of windows */

static uint64_t next_number(const char **cells)
{
    uint64_t value = 0;
    for (; **cells != ',' && **cells != '\0'; ++*cells)
        value = **cells == '.' ? value : 10 * value + (uint64_t)(**cells - '0');
    *cells += **cells == ',';
    return value;
}

/* A turn in a pass; a damaged one, which has no length, does not keep the pass from its place. */
TEST(a_stall_without_a_length_hides_no_other)
{
    static char stacks[1 << 16];
    chroprof_options o;
    chroprof *p;
    chroprof__stall *rows;
    const char *stack = stacks, *time;
    uint32_t k, busy = 0;
    memset(&o, 0, sizeof o);
    o.window_ns = 20000000;
    o.stall_ns = 100000;
    p = fresh(&o);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 1000000, IDLE_LEAVE, 0, NULL);
    at(p, 1200000, ENTER, 0, &A);
    at(p, 1600000, LEAVE, 0, NULL);
    at(p, 2000000, IDLE_ENTER, 0, NULL);
    at(p, 10000000, TICK, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 2);
    rows = chroprof__stall_rows(p->core);
    for (k = 0; k < p->core->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (rows[k].kind == CHROPROF_STALL_TURN)
            rows[k].length = 0;
    snprintf(stacks, sizeof stacks, "%s", timeline(p, "stack"));
    time = timeline(p, "time");
    while (*stack != '\0') {
        uint64_t start = next_number(&time);
        if (next_number(&stack) == CHROPROF__IDLE)
            continue;
        CHECK_IN(start, 1000000, 1999999);
        busy++;
    }
    CHECK(busy > 0);
    harness_keep_none();
}

TEST(of_equal_pieces_the_first_goes)
{
    static chroprof__firefox f;
    uint32_t k;
    for (k = 0; k < 4; k++)
        f.pieces[k].end = k == 1 || k == 3 ? 3 : 5;
    f.piece_count = 4;
    CHECK_EQ(chroprof__shortest_piece(&f), 1);
    f.pieces[0].end = 3;
    CHECK_EQ(chroprof__shortest_piece(&f), 0);
}

/* >>writers that fail */

/* Once it has failed no more is read, and it is not called again: in the paths of modules, and in
 * the rows of draws. */
TEST(writers_that_fail_in_the_timeline)
{
    static chroprof__firefox f;
    static chroprof__codes codes;
    static chroprof__out out;
    chroprof__samples s;
    chroprof *p = sampled_scene();
    refusal r = { 0, 0 };
    int result = -1;
    uint32_t k;
    for (k = 0; k < 20; k++) {
        add_library(p);
        memset(chroprof__modules(p->core)[k].path, 'm', CHROPROF__MODULE_PATH - 1);
    }
    for (k = 3; k < 9; k++)
        chroprof__walls(p->core)[k].weight[2] = 1;
    sampler(p)->draws = 6;
    for (r.until = 0; result != 0; r.until++) {
        r.calls = 0;
        result = chroprof_write(p, CHROPROF_FIREFOX, refuse_late, &r);
        CHECK_EQ(r.calls, r.until + (result != 0));
    }
    CHECK(r.until > 10);
    memset(&s, 0, sizeof s);
    s.f = &f;
    chroprof__firefox_read(&f, &codes, &out, p);
    s.column = CHROPROF__LENGTH;
    chroprof__samples_of_draws(&s);
    CHECK_EQ(s.count, 6);
    out.failed = true;
    chroprof__samples_of_draws(&s);
    CHECK_EQ(s.count, 6);
}

#endif
