/* tests/inside_pages.h - part of test_inside.c: what the formats share, and parts of the text
 * report whose figures are given, each another number, at the bounds of what is shown. */
#ifndef INSIDE_PAGES_H
#define INSIDE_PAGES_H

/* >>what an event costs */

/* A clock with another pace in each round of so many readings. */
typedef struct paces { uint64_t now, reads, in_a_round; } paces;

static uint64_t read_paces(void *user)
{
    static const uint64_t pace[] = { 5, 4, 7, 6, 3, 1 };
    paces *c = (paces *)user;
    uint64_t round = c->reads++ / c->in_a_round;
    c->now += pace[round < 5 ? round : 5];
    return c->now;
}

/* Ten slices are twenty events and a reading before and behind them. */
TEST(the_cost_is_that_of_the_fastest_of_five_rounds)
{
    static paces clock;
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    memset(&clock, 0, sizeof clock);
    clock.in_a_round = 1000;
    o.clock = read_paces;
    o.clock_user = &clock;
    p = fresh(&o);
    chroprof_pending(p, 1, &A);
    clock.reads = 0;
    clock.in_a_round = 22;
    CHECK_EQ(chroprof__time_slices(p, 10), 21 * 3);
    CHECK_EQ(clock.reads, 5 * 22);
    CHECK_EQ(rank_of(p, "accept").slices, 50);
    CHECK_EQ(rank_of(p, "accept").calls, 1);
    CHECK_EQ(totals_of(p).events, 101);
    orderly(p);
}

/* A second for each reading: 64 slices are 129 of them for 128 events. */
static chroprof *a_second_an_event(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof__monotonic_ns;
    return fresh(&o);
}

static uint64_t pretended_cost(const chroprof *p)
{
    uint64_t cost;
    pretend()->seconds = 1000000;
    pretend()->back = -1;
    cost = chroprof__event_cost_ps(p);
    pretend()->seconds = 0;
    pretend()->back = 0;
    return cost;
}

TEST(the_cost_of_an_event_in_picoseconds)
{
    chroprof *p = a_second_an_event();
    CHECK_EQ(pretended_cost(p), UINT64_C(129000000000000) / 128);
    p->view = true;
    CHECK_EQ(pretended_cost(p), 0);
    p->view = false;
    CHECK_EQ(pretended_cost(fresh(NULL)), 0);       /* the clock is moved by hand */
}

static chroprof_totals *the_totals(void)
{
    static chroprof_totals t;
    return &t;
}

static void draw_the_cost(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    pretend()->seconds = 1000000;
    pretend()->back = -1;
    chroprof__text_cost(g);
    pretend()->seconds = 0;
    pretend()->back = 0;
}

static void check_cost(uint32_t columns, uint64_t events, uint64_t elapsed_ns, const char *text)
{
    chroprof_totals *t = the_totals();
    memset(t, 0, sizeof *t);
    t->events = events;
    t->elapsed_ns = elapsed_ns;
    CHECK_STR(page_text(draw_the_cost, columns), text);
}

/* 1.0078125 s for each; thousands and the rest of them. Half of the ps is rounded up. */
TEST(the_cost_of_all_events)
{
    const uint64_t each = 1007812500;
    (void)a_second_an_event();
    check_cost(80, 594, 8 * 594 * each,
               "events         594   at 1007812500.0ns each: profiling cost 9.98min, 12.50% of "
               "e\n");
    check_cost(100, 1000, 3 * 1000 * each,
               "events        1000   at 1007812500.0ns each: profiling cost 16.8min, 33.33% of "
               "elapsed\n");
    check_cost(79, 2001, 7 * 2001 * each,
               "events        2001   at 1007812500.0ns each: cost 33.6min, 14.29%\n");
    check_cost(79, 594000, 9 * 594000 * each,
               "events        594k   at 1007812500.0ns each: cost 6.93d, 11.11%\n");
    (void)fresh(NULL);
    check_cost(80, 7, 1, "events           7\n");
}

/* >>figures and their places */

static const uint32_t many_columns = 200;

/* a * b / c; from 2^31 on a and c lose bits, as many as c has too many. */
TEST(ratios_are_exact_below_2_to_the_31)
{
    const uint64_t top = UINT64_C(1) << 31;
    uint64_t state = 11;
    int k;
    for (k = 0; k < 2000; k++) {
        uint64_t c = 1 + random_below(&state, top - 1), a = random_below(&state, c + 1);
        uint64_t b = random_next(&state) >> 31;
        CHECK_EQ(chroprof__ratio(a, b, c), a * b / c);
        CHECK_EQ(chroprof__ratio(c + a, b, c), b);              /* no more than all of it */
    }
    CHECK_EQ(chroprof__ratio(5, 7, 0), 0);
    CHECK_EQ(chroprof__ratio(0, 7, 9), 0);
    CHECK_EQ(chroprof__ratio(top - 2, UINT64_MAX, top - 1),
             UINT64_MAX - UINT64_MAX / (top - 1) - 1);         /* rounded down */
    CHECK_EQ(chroprof__ratio(3, top, top), 2);                  /* of 3 and 2^31: 1 and 2^30 */
    CHECK_EQ(chroprof__ratio(3, top - 1, top - 1), 3);
    CHECK_EQ(chroprof__ratio(UINT64_C(3) << 61, 1000, UINT64_MAX), 375);
    CHECK_EQ(chroprof__ratio(UINT64_C(7) << 40, 4096, UINT64_C(8) << 40), 3584);
}

/* What has been written, in pieces that end anywhere in the buffer of 1024 bytes. */
TEST(numbers_at_the_end_of_the_buffer)
{
    static const uint64_t values[] = { 0, 9, 10, 99, 100, 101, 12345, 4294967296,
                                       UINT64_C(9999999999999999999), UINT64_MAX };
    static harness_output got;
    static chroprof__out o;
    static char want[1100];
    size_t used, v;
    for (used = 990; used < 1024; used++)
        for (v = 0; v < sizeof values / sizeof *values; v++) {
            memset(&o, 0, sizeof o);
            o.write = harness_collect;
            o.user = &got;
            got.used = 0;
            memset(want, 'x', used);
            snprintf(want + used, 100, "%" PRIu64 "-%s", values[v], "0123456789012345678901234");
            memset(o.bytes, 'x', used);
            o.used = used;
            chroprof__put_u64(&o, values[v]);
            CHECK(o.used < 1024);
            chroprof__put_byte(&o, '-');
            CHECK(o.used < 1024);
            chroprof__put_text(&o, "0123456789012345678901234");
            CHECK(o.used < 1024);
            chroprof__flush(&o);
            CHECK_STR(got.bytes, want);
            CHECK_EQ(o.used, 0);
        }
}

static int count_calls(void *user, const void *bytes, size_t count)
{
    unsigned *calls = (unsigned *)user;
    (void)bytes;
    CHECK(count > 0 && count <= 1024);
    return ++*calls == 2;
}

/* Nothing is written behind an error, and nothing of no length. */
TEST(a_writer_that_has_failed_is_left_alone)
{
    static chroprof__out o;
    static char text[5000];
    unsigned calls = 0;
    memset(&o, 0, sizeof o);
    o.write = count_calls;
    o.user = &calls;
    chroprof__flush(&o);
    CHECK_EQ(calls, 0);
    chroprof__put_bytes(&o, text, 1024);
    CHECK_EQ(calls, 1);
    CHECK(!o.failed);
    chroprof__put_bytes(&o, text, sizeof text);
    CHECK_EQ(calls, 2);
    CHECK(o.failed);
    CHECK_EQ(o.used, 5000 - 4 * 1024);
    chroprof__flush(&o);
    CHECK_EQ(calls, 2);
    CHECK_EQ(o.used, 0);
}

/* Bytes of a text in JSON: quoted, and blanks as they are. */
TEST(bytes_of_json)
{
    static harness_output got;
    static chroprof__out o;
    memset(&o, 0, sizeof o);
    o.write = harness_collect;
    o.user = &got;
    got.used = 0;
    chroprof__put_json_text(&o, "a b\x1f\x01\t\n\"\\/\x7f\xc2\x80\xe2\x82\xac\xff!");
    chroprof__flush(&o);
    CHECK_STR(got.bytes, "\"a b\\u001f\\u0001\\u0009\\u000a\\\"\\\\/\x7f\xc2\x80\xe2\x82\xac"
                         "\xef\xbf\xbd!\"");
}

typedef struct bar_row { uint32_t part, whole, width; const char *plain, *ascii; } bar_row;

static const bar_row **the_bar(void)
{
    static const bar_row *row;
    return &row;
}

static void draw_a_bar(chroprof__page *g)
{
    const bar_row *row = *the_bar();
    g->blanks = 2;
    chroprof__show_bar(g, row->part, row->whole, row->width);
    chroprof__show(g, "|");
}

static void draw_an_ascii_bar(chroprof__page *g)
{
    g->ascii = true;
    draw_a_bar(g);
}

/* Eighths, rounded down, but what is there shows; whole ones are rounded. */
TEST(bars_of_eighths)
{
#define E1 "\xe2\x96\x8f"
#define E2 "\xe2\x96\x8e"
#define E3 "\xe2\x96\x8d"
#define E4 "\xe2\x96\x8c"
#define E7 "\xe2\x96\x89"
#define E8 "\xe2\x96\x88"
    static const bar_row rows[] = {
        { 0, 100, 4, "      |", "      |" }, { 1, 100, 4, "  " E1 "   |", "      |" },
        { 3, 100, 4, "  " E1 "   |", "      |" }, { 63, 1000, 4, "  " E2 "   |", "      |" },
        { 124, 1000, 4, "  " E3 "   |", "      |" }, { 125, 1000, 4, "  " E4 "   |", "  #   |" },
        { 249, 1000, 4, "  " E7 "   |", "  #   |" }, { 250, 1000, 4, "  " E8 "   |", "  #   |" },
        { 374, 1000, 4, "  " E8 E3 "  |", "  #   |" },
        { 375, 1000, 4, "  " E8 E4 "  |", "  ##  |" },
        { 999, 1000, 4, "  " E8 E8 E8 E7 "|", "  ####|" },
        { 1000, 1000, 4, "  " E8 E8 E8 E8 "|", "  ####|" },
        { 5, 0, 4, "  " E1 "   |", "      |" },
        { 1, 2, 1, "  " E4 "|", "  #|" },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        *the_bar() = &rows[k];
        CHECK_STR(page_text(draw_a_bar, many_columns), rows[k].plain);
        CHECK_STR(page_text(draw_an_ascii_bar, many_columns), rows[k].ascii);
    }
#undef E1
#undef E2
#undef E3
#undef E4
#undef E7
#undef E8
}

TEST(heat_begins_at_a_tenth_and_at_a_quarter)
{
    static const struct { uint64_t part; const char *style; } rows[] = {
        { 0, "0" }, { 99, "0" }, { 100, "33" }, { 249, "33" }, { 250, "1;31" }, { 1000, "1;31" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_STR(chroprof__heat(rows[k].part, 1000), rows[k].style);
}

TEST(bars_grow_with_the_page)
{
    static const struct { uint32_t columns, bar; } rows[] = {
        { 60, 0 }, { 71, 0 }, { 72, 8 }, { 119, 8 }, { 120, 8 }, { 127, 8 }, { 128, 9 }, { 135, 9 },
        { 136, 10 }, { 200, 18 }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__page g;
        memset(&g, 0, sizeof g);
        g.columns = rows[k].columns;
        CHECK_EQ(chroprof__bar_width(&g), rows[k].bar);
    }
}

/* In percent, rounded to the nearest; what is there is not nothing. */
TEST(shares_of_each_precision)
{
    static const struct { uint64_t part, whole; const char *text[3]; } rows[] = {
        { 0, 1000, { "0%", "0.0%", "0.00%" } }, { 1, 1000000, { "<1%", "<0.1%", "<0.01%" } },
        { 49, 1000000, { "<1%", "<0.1%", "<0.01%" } }, { 50, 1000000, { "<1%", "<0.1%", "0.01%" } },
        { 149, 1000000, { "<1%", "<0.1%", "0.01%" } },
        { 499, 1000000, { "<1%", "<0.1%", "0.05%" } },
        { 500, 1000000, { "<1%", "0.1%", "0.05%" } }, { 4999, 1000000, { "<1%", "0.5%", "0.50%" } },
        { 5000, 1000000, { "1%", "0.5%", "0.50%" } }, { 15000, 1000000, { "2%", "1.5%", "1.50%" } },
        { 14999, 1000000, { "1%", "1.5%", "1.50%" } }, { 1, 3, { "33%", "33.3%", "33.33%" } },
        { 2, 3, { "67%", "66.7%", "66.67%" } }, { 999500, 1000000, { "100%", "100.0%", "99.95%" } },
        { 7, 7, { "100%", "100.0%", "100.00%" } }, { 9, 7, { "100%", "100.0%", "100.00%" } },
        { 7, 0, { "<1%", "<0.1%", "<0.01%" } }, { 0, 0, { "0%", "0.0%", "0.00%" } },
    };
    size_t k;
    uint32_t d;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        for (d = 0; d < 3; d++) {
            chroprof__cell c;
            c.count = 0;
            chroprof__cell_share(&c, rows[k].part, rows[k].whole, d);
            CHECK_STR(cell_text(&c), rows[k].text[d]);
        }
}

/* Exact to five digits, then three of them, rounded, in thousands of thousands. */
TEST(counts_at_the_bounds_of_their_units)
{
    static const struct { uint64_t count; const char *text; } rows[] = {
        { 0, "0" }, { 9, "9" }, { 99999, "99999" }, { 100000, "100k" }, { 100499, "100k" },
        { 100500, "101k" }, { 999499, "999k" }, { 999500, "1000k" }, { 999999, "1000k" },
        { 1000000, "1.00M" }, { 1004999, "1.00M" }, { 1005000, "1.01M" }, { 9994999, "9.99M" },
        { 9995000, "10.0M" }, { 10049999, "10.0M" }, { 10050000, "10.1M" }, { 99949999, "99.9M" },
        { 99950000, "100M" }, { 100499999, "100M" }, { 100500000, "101M" },
        { 999499999, "999M" }, { UINT64_C(1000000000), "1.00G" },
        { UINT64_C(2340000000000), "2.34T" }, { UINT64_C(56700000000000000), "56.7P" },
        { UINT64_C(1000000000000000000), "1.00E" }, { UINT64_MAX, "18.4E" },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__cell c;
        c.count = 0;
        chroprof__cell_count(&c, rows[k].count);
        CHECK_STR(cell_text(&c), rows[k].text);
    }
}

static const char **the_path(void)
{
    static const char *path;
    return &path;
}

static void draw_a_place(chroprof__page *g)
{
    chroprof__show_location(g, *the_path(), 123, 14);
    chroprof__show(g, "|");
}

/* Folders go if they do not fit; what ends in a slash keeps its last folder. */
TEST(files_without_their_folders)
{
    static const struct { const char *file, *base, *shown; uint32_t width; } rows[] = {
        { "a.c", "a.c", "a.c:123|", 7 }, { "/a.c", "a.c", "/a.c:123|", 7 },
        { "dir/a.c", "a.c", "dir/a.c:123|", 7 }, { "dir\\sub\\abc.c", "abc.c", "abc.c:123|", 9 },
        { "some/file.c", "file.c", "file.c:123|", 10 },
        { "som/file.c", "file.c", "som/file.c:123|", 10 },
        { "dir/sub/", "sub/", "dir/sub/:123|", 8 }, { "/", "/", "/:123|", 5 },
        { "a\\", "a\\", "a\\:123|", 6 }, { "", "", "|", 0 },
        { "a/1234567890.c", "1234567890.c", "12345\xe2\x80\xa6" "90.c:123|", 16 },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        CHECK_STR(chroprof__base_name(rows[k].file), rows[k].base);
        CHECK_EQ(chroprof__location_width(rows[k].file, 123), rows[k].width);
        *the_path() = rows[k].file;
        CHECK_STR(page_text(draw_a_place, many_columns), rows[k].shown);
    }
    CHECK_EQ(chroprof__location_width("a.c", 0), 3);
    CHECK_EQ(chroprof__location_width("a.c", 7), 5);
}

/* Blanks wait until something follows them, and nothing passes the last column. */
static void draw_blanks(chroprof__page *g)
{
    chroprof__show(g, " ab ");
    CHECK_EQ(g->column, 3);
    CHECK_EQ(g->blanks, 1);
    chroprof__blank_to(g, 3);
    CHECK_EQ(g->blanks, 1);
    chroprof__blank_to(g, 4);
    CHECK_EQ(g->blanks, 1);
    chroprof__blank_to(g, 6);
    CHECK_EQ(g->blanks, 3);
    chroprof__show(g, "cdefghi");
    CHECK_EQ(g->column, 10);
    chroprof__newline(g);
    CHECK_EQ(g->column + g->blanks, 0);
    chroprof__show(g, "         jk");
    chroprof__newline(g);
    chroprof__show(g, "          m  ");
    chroprof__newline(g);
}

TEST(lines_end_at_the_last_column)
{
    CHECK_STR(page_text(draw_blanks, 10), " ab   cdef\n         j\n\n");
}

static void draw_codes(chroprof__page *g)
{
    static const uint32_t codes[] = { 0, 1, 0x1f, ' ', 'a', 0x7e, 0x7f, 0x9f, 0xa0, 0xe4, 0x20ac,
                                      0x202e, 0x1f600, 0xe0001 };
    size_t k;
    for (k = 0; k < sizeof codes / sizeof *codes; k++)
        chroprof__show_code(g, codes[k]);
}

static void draw_ascii_codes(chroprof__page *g)
{
    g->ascii = true;
    draw_codes(g);
}

/* Control bytes have pictures; what steers a terminal is replaced. */
TEST(characters_of_names)
{
    CHECK_STR(page_text(draw_codes, many_columns),
              "\xe2\x90\x80\xe2\x90\x81\xe2\x90\x9f a~\xef\xbf\xbd\xef\xbf\xbd\xc2\xa0\xc3\xa4"
              "\xe2\x82\xac\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd");
    CHECK_STR(page_text(draw_ascii_codes, many_columns), "??? a~????????");
}

/* >>summary */

static void draw_the_strip(chroprof__page *g)
{
    g->totals = *the_totals();
    g->ascii = true;
    chroprof__text_strip(g);
}

static void check_strip(uint64_t busy, uint64_t loop, uint64_t elapsed, size_t hashes,
                        size_t equals)
{
    chroprof_totals *t = the_totals();
    char want[100];
    memset(t, 0, sizeof *t);
    t->busy_ns = busy;
    t->loop_ns = loop;
    t->elapsed_ns = elapsed;
    memset(want, '.', 60);
    memset(want, '#', hashes);
    memset(want + hashes, '=', equals);
    memcpy(want + 60, "\n", 2);
    CHECK_STR(page_text(draw_the_strip, 60), want);
}

/* 60 columns and a half for the rounding: the nth begins at n / 60.5 of the time. */
TEST(the_strip_is_rounded)
{
    check_strip(0, 0, 1000, 0, 0);
    check_strip(16, 0, 1000, 0, 0);
    check_strip(17, 0, 1000, 1, 0);
    check_strip(492, 0, 1000, 29, 0);
    check_strip(495, 0, 1000, 29, 0);
    check_strip(496, 0, 1000, 30, 0);
    check_strip(991, 0, 1000, 59, 0);
    check_strip(992, 0, 1000, 60, 0);
    check_strip(1000, 0, 1000, 60, 0);
    check_strip(0, 496, 1000, 0, 30);
    check_strip(100, 395, 1000, 6, 23);
    check_strip(100, 396, 1000, 6, 24);
    check_strip(500, 500, 1000, 30, 30);
    the_totals()->elapsed_ns = 0;
    CHECK_STR(page_text(draw_the_strip, 60), "");
}

static void draw_the_snapshot(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    chroprof__text_state(g);
}

/* Each line is there when there is something to tell. */
TEST(the_state_is_told_line_by_line)
{
    chroprof_totals *t = the_totals();
    chroprof *p = fresh(NULL);
    memset(t, 0, sizeof *t);
    t->enabled = true;
    CHECK_STR(page_text(draw_the_snapshot, 80), "");
    t->skew_events = 1;
    t->skew_ns = 7;
    CHECK_STR(page_text(draw_the_snapshot, 80),
              "snapshot   rows are up to 7ns and 1 events apart\n");
    t->skew_events = 0;
    t->doubt_events = 1;
    t->doubt_ns = 8000;
    CHECK_STR(page_text(draw_the_snapshot, 80),
              "cut short  it stopped inside an event: 8.00\xc2\xb5s are in doubt\n");
    t->doubt_events = 0;
    t->provisional = true;
    CHECK_STR(page_text(draw_the_snapshot, 80), "provisional: the clock is not calibrated yet\n");
    t->provisional = false;
    t->start_unix_ns = 1;
    CHECK_STR(page_text(draw_the_snapshot, 80), "started    1970-01-01 00:00 UTC\n");
    t->start_unix_ns = 0;
    t->enabled = false;
    CHECK_STR(page_text(draw_the_snapshot, 80), "switched off: no events are taken\n");
    p->view = true;
    CHECK_STR(page_text(draw_the_snapshot, 80), "");
    p->view = false;
}

static void draw_the_spreads(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    chroprof__text_spreads(g);
    chroprof__text_futures(g);
}

/* Each figure in its place; without histograms there are no percentiles. */
TEST(turns_passes_and_futures)
{
    chroprof_totals *t = the_totals();
    chroprof *p = fresh(NULL);
    memset(t, 0, sizeof *t);
    t->turns = 1;
    t->turn_p50_ns = 22;
    t->turn_p99_ns = 333;
    t->turn_max_ns = 4444;
    t->passes = 55555;
    t->pass_p50_ns = 666666;
    t->pass_p99_ns = 7777777;
    t->pass_max_ns = 88888888;
    t->live = 99;
    CHECK_STR(page_text(draw_the_spreads, 80),
              "turns            1   p50    22ns   p99   333ns   max  4.44\xc2\xb5s\n"
              "passes       55555   p50   667\xc2\xb5s   p99  7.78ms   max  88.9ms\n"
              "futures         99   live\n");
    t->turns = 0;
    t->delay_ns = 1;
    CHECK_STR(page_text(draw_the_spreads, 79),
              "turns            0\n"
              "passes       55555   p50   667\xc2\xb5s   p99  7.78ms   max  88.9ms\n"
              "futures         99   live, delay 1ns in all\n");
    p->core->tables[CHROPROF_TABLE_HISTOGRAMS].rows = 0;
    CHECK_STR(page_text(draw_the_spreads, 80),
              "turns            0\n"
              "passes       55555   max  88.9ms\n"
              "futures         99   live, delay 1ns in all, ready but not running\n");
}

/* >>what a page is made with */

TEST(looks_of_a_page)
{
    static const struct { uint32_t columns, top, want_columns, want_top; } rows[] = {
        { 0, 0, 80, 20 }, { 1, 1, 60, 1 }, { 59, 2, 60, 2 }, { 60, 39, 60, 39 }, { 61, 40, 61, 40 },
        { 199, 41, 199, 40 }, { 200, 400, 200, 40 }, { 201, 20, 200, 20 },
        { UINT32_MAX, UINT32_MAX, 200, 40 },
    };
    static chroprof__out o;
    chroprof_text_options look;
    chroprof__page g;
    chroprof *p = fresh(NULL);
    size_t k;
    int by;
    memset(&o, 0, sizeof o);
    chroprof__page_setup(&g, &o, p);
    CHECK(g.columns == 80 && g.top == 20 && g.by == CHROPROF_BY_EXEC && !g.ascii && !g.color);
    o.look = &look;
    memset(&look, 0, sizeof look);
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        look.columns = rows[k].columns;
        look.top = rows[k].top;
        chroprof__page_setup(&g, &o, p);
        CHECK_EQ(g.columns, rows[k].want_columns);
        CHECK_EQ(g.top, rows[k].want_top);
        CHECK(g.out == &o && g.p == p && g.column == 0 && g.blanks == 0);
    }
    for (by = -1; by <= 7; by++) {
        look.by = (chroprof_order)made_up(by);
        chroprof__page_setup(&g, &o, p);
        CHECK_EQ(g.by, by >= 0 && by <= 5 ? by : 0);
    }
    look.ascii = true;
    chroprof__page_setup(&g, &o, p);
    CHECK(g.ascii && !g.color);
    look.ascii = false;
    look.color = true;
    chroprof__page_setup(&g, &o, p);
    CHECK(!g.ascii && g.color);
}

/* >>titles, tables, samples */

static void draw_the_title(chroprof__page *g)
{
    g->p = harness_profile();
    chroprof__text_title(g);
}

/* The name gets what the version leaves, but for two columns. */
TEST(long_names_stand_before_the_version)
{
    const char *version = "chroprof " CHROPROF_VERSION;
    chroprof_options o;
    char name[64], want[400];
    uint32_t room = 60 - (uint32_t)strlen(version) - 2, k;
    size_t used;
    memset(&o, 0, sizeof o);
    o.name = name;
    for (k = 0; k < 2; k++) {
        memset(name, 'm', sizeof name);
        name[room + k] = '\0';
        (void)fresh(&o);
        used = (size_t)snprintf(want, sizeof want, "%.*s%s%.*s  %s\n", (int)(k ? room / 2 : room),
                                name, k ? "\xe2\x80\xa6" : "",
                                (int)(k ? room - room / 2 - 1 : 0), name, version);
        CHECK(strncmp(page_text(draw_the_title, 60), want, used) == 0);
    }
}

static void draw_the_tables(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    chroprof__text_tables(g);
}

static chroprof_table *the_row(void)
{
    static chroprof_table row;
    return &row;
}

static void draw_a_row(chroprof__page *g)
{
    chroprof__table_row(g, the_row());
}

TEST(rows_of_full_tables)
{
    chroprof_table *row = the_row();
    chroprof *p = fresh(NULL);
    memset(the_totals(), 0, sizeof *the_totals());
    CHECK_STR(page_text(draw_the_tables, 80), "");
    the_totals()->dropped = 1;
    table(STALLS).dropped = 1;
    CHECK(strstr(page_text(draw_the_tables, 80), "      1  stalls      at") != NULL);
    CHECK(strstr(page_text(draw_the_tables, 80), "futures") == NULL);
    table(STALLS).dropped = 0;
    row->name = "futures";
    row->option = "max_futures";
    row->dropped = 1;
    row->capacity = 23456;
    row->advice = 0;
    CHECK_STR(page_text(draw_a_row, 80), "      1  futures     at  23456\n");
    row->dropped = 654321;
    row->advice = 1;
    CHECK_STR(page_text(draw_a_row, 80),
              "   654k  futures     at  23456: raise max_futures to 1\n");
    row->advice = 4294967295u;
    CHECK_STR(page_text(draw_a_row, 80),
              "   654k  futures     at  23456: raise max_futures to 4294967295\n");
}

static chroprof_sampler_totals *the_samples(void)
{
    static chroprof_sampler_totals t;
    return &t;
}

static void draw_the_samples_head(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    chroprof__samples_head(g, the_samples());
}

/* The cost is a share of the time that they cover, beyond the last event if the program hangs. */
TEST(what_is_said_of_the_samples)
{
    chroprof_sampler_totals *t = the_samples();
    chroprof__page g;
    chroprof *p = fresh(NULL);
    memset(t, 0, sizeof *t);
    memset(&g, 0, sizeof g);
    memset(the_totals(), 0, sizeof *the_totals());
    t->samples = 1;
    CHECK_STR(page_text(draw_the_samples_head, 80), "\nSAMPLES  1\n");
    t->lost = 1;
    CHECK_STR(page_text(draw_the_samples_head, 80), "\nSAMPLES  1, 1 lost\n");
    t->inside = 1;
    CHECK_STR(page_text(draw_the_samples_head, 80), "\nSAMPLES  1; 1 inside chroprof, 1 lost\n");
    t->samples = 222;
    t->inside = t->lost = 0;
    t->first_period_ns = 1;
    t->period_ns = 3333;
    t->cost_ns = 444;
    t->mode = CHROPROF_SAMPLER_CPU;
    the_totals()->elapsed_ns = 5000;
    sampler(p)->latest = 4999;
    CHECK_STR(page_text(draw_the_samples_head, 80),
              "\nSAMPLES  222, one in 3.33\xc2\xb5s of CPU time; cost 444ns, 8.9%\n");
    t->mode = CHROPROF_SAMPLER_WALL;
    sampler(p)->latest = 50000;
    CHECK_STR(page_text(draw_the_samples_head, 80),
              "\nSAMPLES  222, one in 3.33\xc2\xb5s; cost 444ns, 0.9%\n");
    g.p = p;
    g.totals.elapsed_ns = 49999;
    CHECK_EQ(chroprof__sampled_ns(&g), 50000);
    g.totals.elapsed_ns = 50001;
    CHECK_EQ(chroprof__sampled_ns(&g), 50001);
}

/* Of one task and one name they are one; the heaviest first, of equals the first that was met. */
TEST(groups_of_code_are_in_order)
{
    static const struct { uint64_t weight, code; } met[] = {
        { 5, LIBRARY + 0x20 }, { 2, 0 }, { 9, OUTSIDE }, { 3, LIBRARY + 0x40 }, { 1, LIBRARY + 1 },
    };
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    chroprof *p = scene();
    size_t k;
    add_library(p);
    for (k = 0; k < sizeof met / sizeof *met; k++)
        sample_of(p, met[k].weight, 0, 0,
                  met[k].code ? chroprof__item(CHROPROF__PC, met[k].code) : 0);
    CHECK_EQ(chroprof__code_groups(p, groups), 3);
    CHECK(groups[0].weight == 9 && groups[0].bare && *groups[0].name == '\0');
    CHECK(groups[1].weight == 9 && groups[1].bare);
    CHECK_STR(groups[1].name, "/usr/lib/libslow.so");
    CHECK(groups[2].weight == 2 && !groups[2].bare && groups[2].task == 3);
    CHECK_STR(groups[2].name, "(itself)");
    sample_of(p, 1, 0, 0, chroprof__item(CHROPROF__PC, LIBRARY + 2));
    CHECK_EQ(chroprof__code_groups(p, groups), 3);
    CHECK(groups[0].weight == 10 && *groups[0].name != '\0');
}

static void draw_the_names(chroprof__page *g)
{
    g->p = harness_profile();
    chroprof__show(g, "1234567890");
    chroprof__stack_names(g, (uint32_t)*the_path()[0]);
}

/* The stack of five markers, a task and a marker; the numbers of its nodes begin at 1. */
TEST(names_of_a_stack)
{
    static const uint32_t marks[] = { CHROPROF__MARK_CUT, CHROPROF__MARK_DEEP, CHROPROF__MARK_CUT,
                                      CHROPROF__MARK_STACK };
    static const char *const names[] = { "(frames missing)", "(deeper frames)", "(frames missing)",
                                         "(unknown stack)" };
    chroprof__entry e = entry_of(1, 0);
    chroprof *p = scene();
    char leaf[2] = { 0, 0 }, want[200];
    uint32_t k;
    for (k = 0; k < 4; k++)
        e.items[e.count++] = chroprof__item(CHROPROF__MARK, marks[k]);
    e.items[e.count++] = chroprof__item(CHROPROF__TASK, 3);
    e.items[e.count++] = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_CUT);
    absorb(p, &e);
    harness_keep_none();
    for (k = 1; node(p, k)->weight == 0; k++) {}
    CHECK_EQ(k, 6);
    *the_path() = leaf;
    leaf[0] = 6;
    snprintf(want, sizeof want, "1234567890%s < %s < %s < %s", names[0], names[1], names[2],
             names[3]);
    CHECK_STR(page_text(draw_the_names, many_columns), want);
    leaf[0] = 5;
    snprintf(want, sizeof want, "1234567890%s < %s < %s < %s", names[1], names[2], names[3],
             names[0]);
    CHECK_STR(page_text(draw_the_names, many_columns), want);
    leaf[0] = 3;
    CHECK_STR(page_text(draw_the_names, many_columns),
              "1234567890(unknown stack) < (frames missing)");
    leaf[0] = 2;                            /* the task, and what is outside of it */
    CHECK_STR(page_text(draw_the_names, many_columns), "1234567890(frames missing)");
    CHECK_STR(page_text(draw_the_names, 11), "1234567890\xe2\x80\xa6");
    CHECK_STR(page_text(draw_the_names, 10), "1234567890");
    leaf[0] = 0;
    CHECK_STR(page_text(draw_the_names, 80),
              "1234567890(no function that the dynamic linker knows)");
}

/* >>paths */

static void offer(chroprof__tree *t, uint32_t id, uint64_t with_children_ns)
{
    chroprof_path path;
    memset(&path, 0, sizeof path);
    path.id = id;
    path.parent = id / 2;
    path.with_children_ns = with_children_ns;
    chroprof__tree_offer(t, &path);
}

/* The full tree loses the smallest, of equals the last, and takes nothing that is no larger. */
TEST(the_tree_keeps_the_largest_paths)
{
    static chroprof__tree t;
    uint32_t k;
    memset(&t, 0, sizeof t);
    CHECK_EQ(CHROPROF__TWIGS, 24);
    for (k = 0; k < 24; k++) {
        t.twigs[k].drawn = true;
        offer(&t, 100 + k, k == 5 || k == 9 ? 7 : 50 + k);
        CHECK_EQ(t.count, k + 1);
        CHECK(!t.twigs[k].drawn);
    }
    CHECK_EQ(chroprof__tree_least(&t), 9);
    offer(&t, 200, 7);
    CHECK_EQ(t.twigs[23].id, 123);
    offer(&t, 201, 8);                      /* goes to the end, for the one at 9 */
    CHECK_EQ(t.count, 24);
    for (k = 0; k < 23; k++) {
        uint32_t was = k < 9 ? k : k + 1;
        CHECK_EQ(t.twigs[k].id, 100 + was);
        CHECK_EQ(t.twigs[k].parent, (100 + was) / 2);
        CHECK_EQ(t.twigs[k].with_children_ns, was == 5 ? 7 : 50 + was);
    }
    CHECK_EQ(t.twigs[23].id, 201);
    CHECK_EQ(t.twigs[23].with_children_ns, 8);
    CHECK_EQ(chroprof__tree_least(&t), 5);
    t.count = 1;
    CHECK_EQ(chroprof__tree_least(&t), 0);
}

/* The hottest below a parent that is not drawn, of equals the first; the count: none. */
TEST(the_next_path_is_the_hottest)
{
    static const struct { uint32_t parent; uint64_t ns; } twigs[] = {
        { 0, 10 }, { 7, 99 }, { 0, 30 }, { 0, 30 }, { 0, 20 }, { 7, 5 }
    };
    static const uint32_t order[] = { 2, 3, 4, 0, 6 };
    static chroprof__tree t;
    uint32_t k;
    memset(&t, 0, sizeof t);
    t.count = 6;
    for (k = 0; k < 6; k++) {
        t.twigs[k].id = 50 + k;
        t.twigs[k].parent = twigs[k].parent;
        t.twigs[k].with_children_ns = twigs[k].ns;
    }
    for (k = 0; k < 5; k++) {
        uint32_t next = chroprof__tree_next(&t, 0);
        CHECK_EQ(next, order[k]);
        t.twigs[next].drawn = true;
    }
    CHECK_EQ(chroprof__tree_next(&t, 7), 1);
    t.twigs[1].drawn = true;
    CHECK_EQ(chroprof__tree_next(&t, 7), 5);
    CHECK_EQ(chroprof__tree_next(&t, 8), 6);
    CHECK_EQ(chroprof__tree_parent(&t, 50), 0);
    CHECK_EQ(chroprof__tree_parent(&t, 51), 7);
    CHECK_EQ(chroprof__tree_parent(&t, 55), 7);
}

/* A hundredth of what is busy is enough, and nothing is not. */
TEST(the_tree_has_what_is_a_hundredth)
{
    static chroprof__tree t;
    chroprof__page g;
    chroprof *p = fresh(NULL);
    memset(&g, 0, sizeof g);
    g.p = p;
    at(p, 0, ENTER, 0, &A);
    at(p, 980, LEAVE, 0, NULL);
    at(p, 980, ENTER, 0, &B);
    at(p, 990, LEAVE, 0, NULL);
    at(p, 990, ENTER, 0, &C);
    at(p, 999, LEAVE, 0, NULL);
    at(p, 999, PENDING, 1, &D);
    g.totals.busy_ns = 1099;
    t.drawn_ns = t.more = 77;
    chroprof__tree_read(&g, &t);
    CHECK_EQ(t.count, 2);
    CHECK_EQ(t.all, 4);
    CHECK_EQ(t.drawn_ns + t.more, 0);
    g.totals.busy_ns = 1100;
    chroprof__tree_read(&g, &t);
    CHECK_EQ(t.count, 1);
    g.totals.busy_ns = 99;                  /* a hundredth is nothing */
    chroprof__tree_read(&g, &t);
    CHECK_EQ(t.count, 3);
}

/* >>stalls */

/* The eight longest, longest first, of equals the first. */
TEST(the_longest_stalls_are_listed)
{
    static const uint64_t lengths[] = { 50, 30, 50, 20, 60, 30, 70, 20, 80, 20, 50, 90, 30, 31 };
    static const uint32_t order[] = { 11, 8, 6, 4, 0, 2, 10, 13 };
    uint64_t picked[CHROPROF__TEXT_STALLS];
    chroprof__page g;
    chroprof_options o;
    chroprof *p;
    uint64_t now = 0, starts[14];
    uint32_t k;
    memset(&g, 0, sizeof g);
    memset(&o, 0, sizeof o);
    o.stall_ns = 10;
    g.p = p = fresh(&o);
    CHECK_EQ(chroprof__stalls_pick(&g, picked), 0);
    at(p, 0, TICK, 0, NULL);
    for (k = 0; k < 14; k++) {
        starts[k] = now + 1;
        at(p, now + 1, ENTER, 0, &A);
        at(p, now += 1 + lengths[k], LEAVE, 0, NULL);
        CHECK_EQ(chroprof__stalls_pick(&g, picked), k < 8 ? k + 1 : 8);
    }
    for (k = 0; k < 8; k++) {
        chroprof_stall stall;
        CHECK(chroprof__read_stall(p, &picked[k], &stall));
        CHECK_EQ(stall.length_ns, lengths[order[k]]);
        CHECK_EQ(stall.start_ns, starts[order[k]]);
    }
}

/* >>the time series */

static const char *series_of(chroprof *p, uint32_t columns, bool ascii)
{
    static harness_output output;
    chroprof_text_options look;
    const char *from;
    char *end;
    memset(&look, 0, sizeof look);
    look.columns = columns;
    look.ascii = ascii;
    output.used = 0;
    CHECK_EQ(chroprof_write_text(p, &look, harness_collect, &output), 0);
    from = strstr(output.bytes, "\nTIME ");
    CHECK(from != NULL);
    end = strstr(output.bytes + (from - output.bytes) + 1, "\n\n");
    if (end != NULL)
        end[1] = '\0';
    return from + 1;
}

/* Seven sites, one after the other: five have a row, and all of them are in the first. */
TEST(the_busiest_sites_have_a_row)
{
    static const char *const names[] = { "s1", "s2", "s3", "s4", "s5", "s6", "s7" };
    const uint64_t second = 1000000000;
    chroprof_site site = { "", "f.c", 1 };
    chroprof_options o;
    chroprof *p;
    uint64_t now = 0;
    size_t k;
    memset(&o, 0, sizeof o);
    o.window_ns = second;
    p = fresh(&o);
    for (k = 0; k < 7; k++) {
        site.name = names[k];
        at(p, now, ENTER, 0, &site);
        at(p, now += (k + 1) * second, LEAVE, 0, NULL);
    }
    at(p, now, IDLE_ENTER, 0, NULL);
    at(p, now += 2 * second, IDLE_LEAVE, 0, NULL);
    CHECK_STR(series_of(p, 60, true),
              "TIME  share of the loop; a full block is 100%    mean   peak\n"
              "all busy        @@@@@@@@@@@@@@@@@@@@@@@@@@@@    93.3% 100.0%\n"
              "s7                                   @@@@@@@    23.3% 100.0%\n"
              "s6                             @@@@@@           20.0% 100.0%\n"
              "s5                        @@@@@                 16.7% 100.0%\n"
              "s4                    @@@@                      13.3% 100.0%\n"
              "s3                 @@@                          10.0% 100.0%\n"
              "                +--------------+-------------+\n"
              "                0            15.0s       30.0s\n");
}

/* Sites without a row change nothing in the first one. */
TEST(a_little_of_many_sites)
{
    static const char *const names[] = { "s1", "s2", "s3", "s4", "s5", "s6", "s7" };
    const uint64_t second = 1000000000;
    chroprof_site site = { "", "f.c", 1 };
    chroprof_options o;
    const char *text;
    chroprof *p;
    uint64_t k;
    memset(&o, 0, sizeof o);
    o.window_ns = second;
    p = fresh(&o);
    for (k = 0; k < 30; k++) {
        site.name = names[k % 7];
        at(p, k * second, ENTER, 0, &site);
        at(p, k * second + second / 10, LEAVE, 0, NULL);
    }
    at(p, 30 * second, TICK, 0, NULL);
    text = series_of(p, 60, true);
    CHECK(strstr(text, "a full block is 10% ") != NULL);
    CHECK(strstr(text, "\nall busy        @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@  10.0%  10.0%\n") != NULL);
    CHECK(strstr(text, "\ns1              @      @      @      @      @    1.7%  10.0%\n") != NULL);
}

TEST(a_series_of_idle_time)
{
    chroprof *p = fresh(NULL);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, UINT64_C(30000000000), IDLE_LEAVE, 0, NULL);
    CHECK_EQ(chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC), 0);
    CHECK_STR(series_of(p, 61, true),
              "TIME  share of the loop; a full block is 1%       mean   peak\n"
              "all busy                                          0.0%   0.0%\n"
              "                +--------------+--------------+\n"
              "                0            15.0s        30.0s\n");
}

/* Two windows are a series, and one is none. */
TEST(a_series_has_two_windows)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 100000000 - 1, TICK, 0, NULL);
    CHECK(strstr(written(p, CHROPROF_TEXT)->bytes, "\nTIME") == NULL);
    CHECK_EQ(chroprof__window_count(p), 1);
    at(p, 100000001, TICK, 0, NULL);
    CHECK_EQ(chroprof__window_count(p), 2);
    CHECK(strstr(written(p, CHROPROF_TEXT)->bytes, "\nTIME") != NULL);
}

static chroprof__series *the_series(void)
{
    static chroprof__series s;
    return &s;
}

static void draw_levels(chroprof__page *g)
{
    g->totals.busy_ns = 1;
    g->totals.elapsed_ns = 4;
    chroprof__series_row(g, the_series(), 0);
}

static void draw_ascii_levels(chroprof__page *g)
{
    g->ascii = true;
    draw_levels(g);
}

/* Eighths of a full block, rounded up. */
TEST(levels_of_a_row)
{
    static const uint32_t levels[] = { 0, 1, 125, 126, 250, 251, 375, 376, 500, 501, 625, 626, 750,
                                       751, 875, 876, 999 };
    chroprof__series *s = the_series();
    uint32_t k;
    memset(s, 0, sizeof *s);
    s->rows = 1;
    s->width = 17;
    s->label_width = 9;
    s->span_ns = 17000;
    s->full = 1000;
    for (k = 0; k < 17; k++)
        s->cells[0][k] = levels[k];
    CHECK_EQ(chroprof__series_peak(s, 0), 999);
    CHECK_EQ(chroprof__series_level(s, 0, 3), 126);
    CHECK_STR(page_text(draw_ascii_levels, 80),
              "all busy    ..::--==++**##@@  25.0%  99.9%\n");
#define L(k) "\xe2\x96" k
    CHECK_STR(page_text(draw_levels, 80),
              "all busy    " L("\x81") L("\x81") L("\x82") L("\x82") L("\x83") L("\x83") L("\x84")
              L("\x84") L("\x85") L("\x85") L("\x86") L("\x86") L("\x87") L("\x87") L("\x88")
              L("\x88") "  25.0%  99.9%\n");
#undef L
    s->full = 500;                          /* what is more than a full block is one */
    CHECK_STR(page_text(draw_ascii_levels, 80),
              "all busy    .:-=+*#@@@@@@@@@  25.0%  99.9%\n");
}

/* >>JSON and folded stacks */

/* Each window of a site and of the whole, more of them than are read at once. */
TEST(windows_in_the_json)
{
    enum { WINDOWS = 150 };
    static char want[WINDOWS * 120];
    const char *json;
    chroprof_options o;
    chroprof *p;
    size_t used;
    uint64_t k;
    memset(&o, 0, sizeof o);
    o.window_ns = 100;
    o.max_windows = 200;
    p = fresh(&o);
    for (k = 0; k < WINDOWS; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &A, 100 * k);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 100 * k + k % 50);
        chroprof_event(p, CHROPROF_ENTER, 0, &B, 100 * k + 60);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 100 * k + 60 + k % 3);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 100 * WINDOWS);
    laws(p);
    json = written(p, CHROPROF_JSON)->bytes;
    used = (size_t)snprintf(want, sizeof want, "\"windows\":[");
    for (k = 0; k < WINDOWS; k++)
        used += (size_t)snprintf(want + used, sizeof want - used, "%s%u", k ? "," : "",
                                 (unsigned)(k % 50));
    CHECK(strstr(json, want) != NULL);
    used = (size_t)snprintf(want, sizeof want, "\"windows\":[");
    for (k = 0; k < WINDOWS; k++)
        used += (size_t)snprintf(want + used, sizeof want - used, "%s%u", k ? "," : "",
                                 (unsigned)(k % 3));
    CHECK(strstr(json, want) != NULL);
    used = (size_t)snprintf(want, sizeof want, "\"windows\":[");
    for (k = 0; k < WINDOWS; k++) {
        unsigned busy = (unsigned)(k % 50 + k % 3);
        used += (size_t)snprintf(want + used, sizeof want - used,
                                 "%s\n{\"start_ns\":%u,\"end_ns\":%u,\"busy_ns\":%u,\"idle_ns\":0,"
                                 "\"loop_ns\":%u,\"untracked_ns\":0}", k ? "," : "",
                                 (unsigned)(100 * k), (unsigned)(100 * k + 100), busy, 100 - busy);
    }
    CHECK(strstr(json, want) != NULL);
}

static const char *folded_frame_of(const char *name)
{
    static harness_output got;
    static chroprof__out o;
    memset(&o, 0, sizeof o);
    o.write = harness_collect;
    o.user = &got;
    got.used = 0;
    chroprof__folded_frame(&o, name);
    chroprof__flush(&o);
    return got.bytes;
}

/* What would end a frame or a line is another character; a tail of numbers is no value. */
TEST(frames_of_folded_stacks)
{
    static const struct { const char *name, *frame; size_t tail; } rows[] = {
        { "", "(empty)", 0 }, { "plain", "plain", 5 }, { "a b", "a b", 3 }, { "a;b", "a:b", 3 },
        { "a 1", "a_1", 1 }, { "a 1 b 2.5", "a 1 b_2.5", 5 }, { "a1", "a1", 1 },
        { " 12", "_12", 0 },
        { "x\n", "x_", 1 }, { "x\ny", "x y", 3 }, { "x\x1fy", "x y", 3 }, { "x\x7fy", "x y", 3 },
        { "x\x7f", "x_", 1 }, { "x!9", "x!9", 2 }, { "x/9", "x/9", 2 }, { "x:9", "x:9", 2 },
        { "x\xc2\x80y", "x y", 4 }, { "x\xc2\x9fy", "x y", 4 }, { "x\xc2\xa0y", "x\xc2\xa0y", 4 },
        { "x\xe2\x80\xa7y", "x\xe2\x80\xa7y", 5 }, { "x\xe2\x80\xa8y", "x y", 5 },
        { "x\xe2\x80\xa9y", "x y", 5 }, { "x\xe2\x80\xaay", "x\xe2\x80\xaay", 5 },
        { "..", "..", 0 }, { ". 0", "._0", 0 },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        CHECK_STR(folded_frame_of(rows[k].name), rows[k].frame);
        CHECK_EQ(chroprof__folded_tail(rows[k].name) - rows[k].name, rows[k].tail);
    }
}

/* The last frames of a chain of 200, however many: 64 at once. */
TEST(chains_of_any_length)
{
    static char names[200][8], want[2000];
    static harness_output got;
    static chroprof__out o;
    chroprof *p = fresh(NULL);
    uint32_t leaf = 0, count, k;
    for (k = 0; k < 200; k++) {
        chroprof_site site;
        snprintf(names[k], sizeof names[k], "n%ux", (unsigned)k);
        site.name = names[k];
        site.file = "f.c";
        site.line = 1;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, k);
        leaf = p->core->account;
    }
    CHECK_EQ(chroprof__folded_depth(p, leaf), 200);
    CHECK_EQ(chroprof__folded_depth(p, 0), 0);
    for (count = 1; count <= 200; count++) {
        size_t used = 0;
        memset(&o, 0, sizeof o);
        o.write = harness_collect;
        o.user = &got;
        got.used = 0;
        for (k = 200 - count; k < 200; k++)
            used += (size_t)snprintf(want + used, sizeof want - used, ";%s", names[k]);
        chroprof__folded_chain(&o, p, leaf, count);
        chroprof__flush(&o);
        CHECK_STR(got.bytes, want);
    }
}

/* Whole microseconds, and no line without one. Of neighbours in the tree the younger is first. */
TEST(folded_values_are_whole_microseconds)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.name = "top 1";
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 999, LEAVE, 0, NULL);
    at(p, 999, ENTER, 0, &B);
    at(p, 1999, LEAVE, 0, NULL);
    at(p, 1999, ENTER, 0, &C);
    at(p, 4998, ENTER, 0, &D);
    at(p, 9997, LEAVE, 0, NULL);
    at(p, 9997, LEAVE, 0, NULL);
    at(p, 10996, IDLE_ENTER, 0, NULL);
    at(p, 11995, IDLE_LEAVE, 0, NULL);
    CHECK_STR(written(p, CHROPROF_FOLDED)->bytes,
              "top_1;query 2\ntop_1;query;timer 4\ntop_1;reply 1\n");
    at(p, 11996, IDLE_ENTER, 0, NULL);
    at(p, 11997, IDLE_LEAVE, 0, NULL);
    at(p, 12997, RUNNING, 77, NULL);
    at(p, 13996, PAUSED, 77, NULL);
    CHECK_STR(written(p, CHROPROF_FOLDED)->bytes,
              "top_1;query 2\ntop_1;query;timer 4\ntop_1;reply 1\ntop_1;(loop) 2\n"
              "top_1;(idle) 1\n");
    at(p, 13996, RUNNING, 77, NULL);
    at(p, 13997, PAUSED, 77, NULL);
    CHECK(strstr(written(p, CHROPROF_FOLDED)->bytes, "\ntop_1;(untracked) 1\n") != NULL);
}

/* >>live profiles */

#if CHROPROF__SAMPLES
/* If ticks wait the next event takes them in; of a profile that is switched off none comes. */
TEST(a_dump_wakes_who_takes_in_ticks)
{
    chroprof *p = fresh(NULL);
    chroprof__sampler *s = sampler(p);
    chroprof__entry *e;
    at(p, 0, ENTER, 0, &A);
    at(p, 7, TICK, 0, NULL);
    p->core->horizon = 1000;
    chroprof__tick_live(p);
    CHECK_EQ(p->core->horizon, 1000);
    e = chroprof__begin_entry(p->core, s);
    e->weight = 3;
    e->count = 1;
    e->items[0] = chroprof__item(CHROPROF__TASK, 3);
    s->put++;
    p->taking = false;
    chroprof__tick_live(p);
    CHECK_EQ(p->core->horizon, 1000);
    p->taking = true;
    chroprof__tick_live(p);
    CHECK_EQ(p->core->horizon, p->core->last);
    at(p, 9, TICK, 0, NULL);
    CHECK_EQ(s->taken, 1);
    CHECK_EQ(s->samples, 3);
}
#endif

#if CHROPROF__HAS_COUNTER
/* Until the rate is final each look brings it nearer. */
TEST(a_dump_calibrates_once_more)
{
    static chroprof p;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    p.core->calibrated = 1;
    p.core->error_ppb = 12345;
    chroprof__tick_live(&p);
    CHECK_EQ(p.core->error_ppb, 12345);
    CHECK_EQ(p.core->event_id, 0);
    CHECK_EQ(totals_of(&p).events, 1);
    p.core->calibrated = 0;
    chroprof__tick_live(&p);
    CHECK(p.core->error_ppb != 12345);
    chroprof_set_enabled(&p, false);
    p.core->error_ppb = 12345;
    chroprof__tick_live(&p);
    CHECK_EQ(p.core->error_ppb, 12345);
}
#endif

/* >>columns and rows */

/* From which width on a column is there, unless it is the order; the last two only if anybody was
 * ever ready. */
TEST(columns_come_with_the_width)
{
    static const uint32_t from[CHROPROF__COLUMN_COUNT] = { 60, 120, 72, 60, 120, 130, 120, 120, 120,
                                                           72 };
    static const int order[CHROPROF__COLUMN_COUNT] = {
        CHROPROF_BY_EXEC, CHROPROF_BY_WITH_CHILDREN, -1, CHROPROF_BY_SLICE_MAX, -1,
        CHROPROF_BY_CALLS, -1, -1, CHROPROF_BY_DELAY, CHROPROF_BY_BLAME
    };
    chroprof__page g;
    uint32_t k, width = 0;
    int by;
    memset(&g, 0, sizeof g);
    for (k = 0; k < CHROPROF__COLUMN_COUNT; k++)
        for (by = 0; by <= 5; by++) {
            const chroprof__column *c = &chroprof__rank_columns[k];
            g.by = (chroprof_order)made_up(by);
            g.totals.delay_ns = 1;
            g.columns = from[k] - 1;
            CHECK_EQ(chroprof__column_shown(&g, c), order[k] == by);
            g.columns = from[k];
            CHECK(chroprof__column_shown(&g, c));
            g.totals.delay_ns = 0;
            CHECK_EQ(chroprof__column_shown(&g, c), k < 8 || order[k] == by);
        }
    for (k = 0; k < CHROPROF__COLUMN_COUNT; k++)
        width += chroprof__rank_columns[k].width;
    g.totals.delay_ns = 1;
    g.columns = 130;
    CHECK_EQ(chroprof__columns_width(&g), 79);
    CHECK_EQ(width, 79);
    g.by = CHROPROF_BY_EXEC;
    g.columns = 129;
    CHECK_EQ(chroprof__columns_width(&g), 72);
    g.columns = 72;
    CHECK_EQ(chroprof__columns_width(&g), 32);
    g.columns = 60;
    CHECK_EQ(chroprof__columns_width(&g), 16);
}

static void draw_a_code_row(chroprof__page *g)
{
    chroprof__code_group c;
    memset(&c, 0, sizeof c);
    g->p = harness_profile();
    c.weight = 1;
    c.name = *the_path();
    c.bare = **the_path() == '\0' || strchr(*the_path(), '/') != NULL;
    chroprof__code_row(g, &c, 8);
}

/* A third of the page for the task; what is too long loses its middle before the page ends. */
TEST(names_of_functions_share_the_page)
{
    static const struct { const char *name, *row; } rows[] = {
        { "short", "  12.5%  (no task)             short\n" },
        { "", "  12.5%  (no task)             in (unknown code)\n" },
        { "/lib/x.so", "  12.5%  (no task)             in x.so\n" },
        { "abcdefghijklmnopqrstuvwx", "  12.5%  (no task)             abcdefghijklmnopqrstuvwx\n" },
        { "abcdefghijklmnopqrstuvwxy",
          "  12.5%  (no task)             abcdefghijkl\xe2\x80\xa6opqrstuvwxy\n" },
    };
    size_t k;
    (void)fresh(NULL);
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        *the_path() = rows[k].name;
        CHECK_STR(page_text(draw_a_code_row, 60), rows[k].row);
    }
}

/* Twelve functions are shown, and no more than 96 told apart. */
TEST(twelve_functions_are_shown)
{
    char names[100][8];
    chroprof_site site = { names[0], "f", 1 };
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    chroprof *p = fresh(NULL);
    const char *text;
    uint32_t k;
    for (k = 0; k < 100; k++) {
        snprintf(names[k], sizeof names[k], "t%u", (unsigned)k);
        site.name = names[k];
        chroprof_event(p, CHROPROF_ENTER, 0, &site, 10 + k);
        chroprof_sample(p, 10 + k, 1);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10 + k);
        CHECK_EQ(chroprof__code_groups(p, groups), k < 96 ? k + 1 : 96);
    }
    text = strstr(text_of(p), "\nSAMPLES  100\n");
    CHECK(text != NULL);
    text = strstr(text, "function\n");
    CHECK(text != NULL);
    for (k = 0; k < 12; k++) {
        text = strchr(text, '\n') + 1;
        CHECK(strncmp(text, "   1.0%  t", 10) == 0);
    }
    text = strchr(text, '\n') + 1;
    CHECK(*text == '\n' || *text == '\0');
}

static void draw_places_without_a_line(chroprof__page *g)
{
    chroprof__show_location(g, "a.c", 0, 14);
    chroprof__show(g, "|");
    chroprof__show_location(g, "b.c", 7, 6);
    chroprof__show(g, "|");
    chroprof__show_location(g, "b.c", 1234567, 9);
    chroprof__show(g, "|");
    chroprof__show_location(g, "b.c", 1234567, 10);
    chroprof__show(g, "|");
}

/* A number that leaves no two columns for the name is left out. */
TEST(places_without_a_line)
{
    CHECK_STR(page_text(draw_places_without_a_line, 100), "a.c|b.c:7|b.c|b\xe2\x80\xa6:1234567|");
}

/* Sites that have not run have no row. */
TEST(a_series_of_sites_that_wait)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.window_ns = 1000000000;
    p = fresh(&o);
    at(p, 0, PENDING, 1, &A);
    at(p, UINT64_C(15000000000), TICK, 0, NULL);
    at(p, UINT64_C(30000000000), TICK, 0, NULL);
    CHECK(strstr(series_of(p, 60, true), "\naccept") == NULL);
    at(p, UINT64_C(30000000000), ENTER, 0, &B);
    at(p, UINT64_C(60000000000), PENDING, 2, &C);
    CHECK_STR(series_of(p, 60, true),
              "TIME  share of the loop; a full block is 100%    mean   peak\n"
              "all busy                       @@@@@@@@@@@@@@@  50.0% 100.0%\n"
              "reply                          @@@@@@@@@@@@@@@  50.0% 100.0%\n"
              "                +--------------+-------------+\n"
              "                0            30.0s       60.0s\n");
}

/* What the rows have in all, and the longest of them, which need not be the first. */
TEST(the_ranking_adds_up_what_it_shows)
{
    static chroprof__ranking r;
    chroprof__page g;
    chroprof *p = fresh(NULL);
    memset(&g, 0, sizeof g);
    g.p = p;
    g.columns = 80;
    g.by = CHROPROF_BY_CALLS;
    at(p, 0, ENTER, 0, &A);
    at(p, 5, LEAVE, 0, NULL);
    at(p, 5, ENTER, 0, &A);
    at(p, 7, LEAVE, 0, NULL);
    at(p, 7, ENTER, 0, &A);
    at(p, 8, LEAVE, 0, NULL);
    at(p, 8, ENTER, 0, &B);
    at(p, 100, LEAVE, 0, NULL);
    at(p, 100, ENTER, 0, &B);
    at(p, 108, LEAVE, 0, NULL);
    at(p, 108, ENTER, 0, &C);
    at(p, 1108, LEAVE, 0, NULL);
    r.shown_ns = r.longest_ns = 77;
    for (g.top = 1; g.top <= 4; g.top++) {
        chroprof__ranking_read(&g, &r);
        CHECK_EQ(r.all, 3);
        CHECK_EQ(r.count, g.top < 3 ? g.top : 3);
        CHECK_EQ(r.shown_ns, g.top == 1 ? 8 : g.top == 2 ? 108 : 1108);
        CHECK_EQ(r.longest_ns, g.top == 1 ? 8 : g.top == 2 ? 100 : 1000);
    }
}

/* Names get what the lines of the tree leave. */
TEST(long_names_in_the_tree)
{
    static char name[61];
    static const chroprof_site outer = { "outer", "", 0 };
    chroprof_site inner = { name, "", 0 };
    const char *text;
    chroprof *p = fresh(NULL);
    chroprof_text_options look;
    static harness_output out;
    int k;
    for (k = 0; k < 60; k++)
        name[k] = (char)('0' + k);
    at(p, 0, ENTER, 0, &outer);
    at(p, 500, ENTER, 0, &inner);
    at(p, 1000, LEAVE, 0, NULL);
    at(p, 1000, LEAVE, 0, NULL);
    memset(&look, 0, sizeof look);
    memset(&out, 0, sizeof out);
    look.columns = 60;
    CHECK_EQ(chroprof_write_text(p, &look, harness_collect, &out), 0);
    text = strstr(out.bytes, "\nPATHS ");
    CHECK(text != NULL);
    CHECK(strstr(text, "\nouter                                100.0%   1.00\xc2\xb5s   500ns\n"
                       "\xe2\x94\x94\xe2\x94\x80 0123456789:;<=>?\xe2\x80\xa6\\]^_`abcdefghijk"
                       "  50.0%    500ns   500ns\n") != NULL);
}

static chroprof_stall_slice slice_of(const char *name, const char *file, uint32_t line, uint64_t ns)
{
    chroprof_stall_slice slice;
    memset(&slice, 0, sizeof slice);
    slice.name = name;
    slice.file = file;
    slice.line = line;
    slice.exec_ns = ns;
    return slice;
}

/* Slices of one place are one, where the first of them stands. */
TEST(slices_of_one_place)
{
    chroprof_stall s;
    memset(&s, 0, sizeof s);
    s.slices[0] = slice_of("x", "f", 1, 1);
    s.slices[1] = slice_of("x", "f", 1, 2);
    s.slices[2] = slice_of("y", "f", 1, 4);
    s.slices[3] = slice_of("x", "f", 1, 8);
    s.slice_count = 4;
    chroprof__stall_merge(&s);
    CHECK_EQ(s.slice_count, 2);
    CHECK_EQ(s.slices[0].exec_ns, 11);
    CHECK_EQ(s.slices[1].exec_ns, 4);
    CHECK_STR(s.slices[1].name, "y");
    s.slices[0] = slice_of("x", "f", 1, 1);
    s.slices[1] = slice_of("x", "g", 1, 2);
    s.slices[2] = slice_of("x", "f", 2, 4);
    s.slices[3] = slice_of("x", "g", 1, 8);
    s.slice_count = 4;
    chroprof__stall_merge(&s);
    CHECK_EQ(s.slice_count, 3);
    CHECK_EQ(s.slices[0].exec_ns, 1);
    CHECK_EQ(s.slices[1].exec_ns, 10);
    CHECK_EQ(s.slices[2].exec_ns, 4);
    CHECK_EQ(s.slices[2].line, 2);
    s.slice_count = 0;
    chroprof__stall_merge(&s);
    CHECK_EQ(s.slice_count, 0);
}

static void draw_where_it_was(chroprof__page *g)
{
    g->p = harness_profile();
    chroprof__stall_places(g, the_stall());
}

/* At most two places, and none of a view, whose functions have no names here. */
TEST(places_of_a_stall)
{
#define NOBODY " in (no function that the dynamic linker knows)\n"
    chroprof_stall *s = the_stall();
    chroprof *p = fresh(NULL);
    memset(s, 0, sizeof *s);
    s->length_ns = 1000;
    CHECK_STR(page_text(draw_where_it_was, 80), "");
    s->cpu_ns = 1;
    CHECK_STR(page_text(draw_where_it_was, 80),
              "         0.1% CPU, 0.0% waiting or preempted\n");
    s->cpu_ns = 0;
    s->waiting_ns = 255;
    s->sample_count = 1;
    s->sampled = 8;
    s->samples[0].weight = 4;
    s->samples[1].weight = 3;
    s->samples[2].weight = 1;
    CHECK_STR(page_text(draw_where_it_was, 80),
              "         0.0% CPU, 25.5% waiting or preempted\n         50.0%" NOBODY);
    s->waiting_ns = 0;
    s->sample_count = 3;
    CHECK_STR(page_text(draw_where_it_was, 80), "         50.0%" NOBODY "         37.5%" NOBODY);
    p->view = true;
    CHECK_STR(page_text(draw_where_it_was, 80), "");
    p->view = false;
#undef NOBODY
}

static void draw_the_stalls(chroprof__page *g)
{
    g->p = harness_profile();
    g->totals = *the_totals();
    chroprof__text_stalls(g);
}

/* The list says whether there were more. */
TEST(how_many_stalls_there_were)
{
#define COLUMNS_OF_STALLS " length  kind           at  events  biggest slices\n"
#define THE_TURN "   12ns  turn    00:00.000       1  accept 100%\n"
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    memset(the_totals(), 0, sizeof *the_totals());
    o.stall_ns = 11;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 11, LEAVE, 0, NULL);
    CHECK_STR(page_text(draw_the_stalls, 80), "");
    at(p, 11, ENTER, 0, &A);
    at(p, 23, LEAVE, 0, NULL);
    the_totals()->stalls = 1;
    CHECK_STR(page_text(draw_the_stalls, 80),
              "\nSTALLS  1 turn or pass longer than 11ns\n" COLUMNS_OF_STALLS THE_TURN);
    the_totals()->stalls = 2;
    CHECK_STR(page_text(draw_the_stalls, 80),
              "\nSTALLS  2 turns and passes longer than 11ns, the longest:\n" COLUMNS_OF_STALLS
              THE_TURN);
#undef COLUMNS_OF_STALLS
#undef THE_TURN
}

/* >>lists of the JSON: the first and the last row of each */

TEST(modules_in_the_json)
{
    chroprof *p = scene();
    chroprof__module *rows;
    const char *json;
    uint32_t k;
    add_library(p);
    add_library(p);
    add_library(p);
    rows = chroprof__modules(p->core);
    for (k = 0; k < 3; k++) {
        rows[k].low = 0x10000 + 0x10000 * k;
        rows[k].high = rows[k].low + 0x1000;
        rows[k].base = 1000 + k;
        snprintf(rows[k].path, sizeof rows[k].path, "/lib/%c", (int)('x' + k));
        snprintf(rows[k].build_id, sizeof rows[k].build_id, "%x", 0xa0u + k);
    }
    json = written(p, CHROPROF_JSON)->bytes;
    CHECK(strstr(json, "\"modules\":[\n"
                       "{\"id\":0,\"path\":\"/lib/x\",\"build_id\":\"a0\",\"base\":1000},\n"
                       "{\"id\":1,\"path\":\"/lib/y\",\"build_id\":\"a1\",\"base\":1001},\n"
                       "{\"id\":2,\"path\":\"/lib/z\",\"build_id\":\"a2\",\"base\":1002}\n]"));
    p->core->tables[CHROPROF__MODULES].used = 0;
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"modules\":[\n]") != NULL);
}

/* In the slots of the table, the first and the last of them as well. */
TEST(futures_in_the_json)
{
    chroprof_options o;
    chroprof *p;
    uint64_t id, first = 0, last = 0;
    char want[400];
    const char *json;
    memset(&o, 0, sizeof o);
    o.max_futures = 8;
    p = fresh(&o);
    for (id = 1; first == 0 || last == 0; id++) {
        ptrdiff_t at_slot = slot(id) - p->futures;
        if (at_slot == 0 && first == 0)
            first = id;
        else if (at_slot + 1 == (ptrdiff_t)table(FUTURES).rows)
            last = id;
    }
    at(p, 5, PENDING, first, &A);
    at(p, 6, PENDING, last, &B);
    at(p, 7, RUNNING, last, NULL);
    at(p, 9, PAUSED, last, NULL);
    json = written(p, CHROPROF_JSON)->bytes;
    snprintf(want, sizeof want,
             "\"futures\":[\n{\"id\":%" PRIu64 ",\"path\":3,\"state\":\"pending\",\"since_ns\":0,"
             "\"exec_ns\":0,\"name\":\"accept\",\"file\":\"server.c\",\"line\":10},\n"
             "{\"id\":%" PRIu64 ",\"path\":4,\"state\":\"paused\",\"since_ns\":4,\"exec_ns\":2,"
             "\"name\":\"reply\",\"file\":\"server.c\",\"line\":20}\n]", first, last);
    CHECK(strstr(json, want) != NULL);
}

static chroprof__tree *the_tree(void)
{
    static chroprof__tree t;
    return &t;
}

static void draw_the_rest(chroprof__page *g)
{
    g->totals = *the_totals();
    chroprof__tree_rest(g, the_tree());
}

/* What is busy, tracked and not drawn. */
TEST(the_rest_of_the_paths)
{
    chroprof__tree *t = the_tree();
    memset(t, 0, sizeof *t);
    memset(the_totals(), 0, sizeof *the_totals());
    the_totals()->busy_ns = 800;
    the_totals()->untracked_ns = 300;
    t->text_width = 16;
    t->all = t->count = 2;
    t->drawn_ns = 400;
    CHECK_STR(page_text(draw_the_rest, 80), "");
    t->all = 3;
    CHECK_STR(page_text(draw_the_rest, 80), "1 more path       12.5%            100ns\n");
    t->all = 5;
    t->drawn_ns = 500;
    CHECK_STR(page_text(draw_the_rest, 80), "3 more paths       0.0%                0\n");
    t->drawn_ns = 501;                      /* of a copy whose rows are apart */
    CHECK_STR(page_text(draw_the_rest, 80), "3 more paths       0.0%                0\n");
    t->drawn_ns = 100;
    t->bar = 4;
    CHECK_STR(page_text(draw_the_rest, 80),
              "3 more paths      50.0%  \xe2\x96\x88\xe2\x96\x88              400ns\n");
}

#endif
