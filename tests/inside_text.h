/* tests/inside_text.h - part of test_inside.c: the text report at the bounds of its choices: units,
 * columns, scales. */
#ifndef INSIDE_TEXT_H
#define INSIDE_TEXT_H

static const char *time_text(uint64_t ns)
{
    chroprof__cell c;
    c.count = 0;
    chroprof__cell_time(&c, ns);
    return cell_text(&c);
}

/* 999.4999 steps are three digits, and 999.5 are the next unit's. */
TEST(units_of_time_end_where_four_digits_begin)
{
#define MICRO "\xC2\xB5s"
    static const struct { uint64_t step; const char *last, *next; } units[] = {
        { 1, "999ns", "1.00" MICRO }, { 10, "9.99" MICRO, "10.0" MICRO },
        { 100, "99.9" MICRO, "100" MICRO }, { 1000, "999" MICRO, "1.00ms" },
        { 10000, "9.99ms", "10.0ms" }, { 100000, "99.9ms", "100ms" },
        { 1000000, "999ms", "1.00s" }, { 10000000, "9.99s", "10.0s" },
        { 100000000, "99.9s", "1.67min" }, { 600000000, "9.99min", "10.0min" },
        { UINT64_C(6000000000), "99.9min", "1.67h" }, { UINT64_C(36000000000), "9.99h", "10.0h" },
        { UINT64_C(360000000000), "99.9h", "4.16d" }, { UINT64_C(864000000000), "9.99d", "10.0d" },
        { UINT64_C(8640000000000), "99.9d", "100d" }, { UINT64_C(86400000000000), "999d", "3y" },
    };
    const uint64_t year = UINT64_C(31556952000000000);
    size_t k;
    for (k = 0; k < sizeof units / sizeof *units; k++) {
        uint64_t next = 1000 * units[k].step - units[k].step / 2;
        CHECK_STR(time_text(next - 1), units[k].last);
        CHECK_STR(time_text(next), units[k].next);
    }
    for (k = 3; k < 584; k += 83) {
        char text[8];
        snprintf(text, sizeof text, "%uy", (unsigned)k);
        CHECK_STR(time_text(k * year + year / 2 - 1), text);
        snprintf(text, sizeof text, "%uy", (unsigned)k + 1);
        CHECK_STR(time_text(k * year + year / 2), text);
    }
#undef MICRO
}

/* Hours stand there from the first whole one on. */
TEST(moments_have_hours_when_there_are_some)
{
    static const struct { uint64_t ms; const char *text; } rows[] = {
        { 0, "00:00.000" }, { 59999, "00:59.999" }, { 60000, "01:00.000" },
        { 3599999, "59:59.999" }, { 3600000, "1:00:00.000" }, { 3600001, "1:00:00.001" },
        { 7199999, "1:59:59.999" }, { 7200000, "2:00:00.000" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__cell c;
        c.count = 0;
        chroprof__cell_moment(&c, rows[k].ms * 1000000 + 999999);
        CHECK_STR(cell_text(&c), rows[k].text);
    }
}

static void draw_names(chroprof__page *g)
{
    uint32_t width;
    for (width = 0; width <= 6; width++) {
        chroprof__show_name(g, "abcde", width);
        chroprof__show(g, "|");
    }
    chroprof__show_name(g, "a", 1);
    chroprof__show_name(g, "", 7);
}

/* Of a name that does not fit the middle goes. */
TEST(names_in_any_width)
{
    CHECK_STR(page_text(draw_names, 100),
              "|\xE2\x80\xA6|a\xE2\x80\xA6|a\xE2\x80\xA6" "e|ab\xE2\x80\xA6" "e|abcde|abcde|"
              "a(empty)");
}

/* >>the ranking */

/* Of `count` sites `cut` have long names, the others short ones; the last has a place in the source
 * of that width, the others one of half of it. */
typedef struct layout_row {
    uint32_t columns, delay, count, cut, long_name, short_name, place;
    uint32_t numbers_at, name_width, location_width, bar;
} layout_row;

static void check_layout(const layout_row *want)
{
    static char names[101], files[101];
    static chroprof__ranking r;
    static chroprof__page g;
    uint32_t k;
    memset(names, 'n', 100);
    memset(files, 'f', 100);
    memset(&r, 0, sizeof r);
    memset(&g, 0, sizeof g);
    g.columns = want->columns;
    g.totals.delay_ns = want->delay;
    r.count = want->count;
    for (k = 0; k < r.count; k++) {
        r.rows[k].name = names + 100 - (k < want->cut ? want->long_name : want->short_name);
        r.rows[k].file = files + 100 - (k + 1 == r.count ? want->place : want->place / 2);
    }
    chroprof__ranking_layout(&g, &r);
    CHECK_EQ(r.numbers_at, want->numbers_at);
    CHECK_EQ(r.name_width, want->name_width);
    CHECK_EQ(r.location_width, want->location_width);
    CHECK_EQ(r.bar, want->bar);
}

/* Names come first, then places; a few long names are cut for a place of 12, or all of them where
 * the page is wide. */
TEST(the_ranking_shares_out_its_columns)
{
    static const layout_row rows[] = {
        { 72, 0, 4, 1, 68, 12, 16, 31, 17, 12, 8 },
        { 72, 0, 4, 1, 68, 17, 16, 31, 17, 12, 8 },
        { 72, 0, 4, 1, 68, 18, 16, 31, 31, 0, 8 },
        { 75, 0, 2, 2, 60, 1, 13, 34, 20, 12, 8 },
        { 74, 0, 2, 2, 60, 1, 13, 33, 33, 0, 8 },
        { 77, 1, 8, 1, 60, 5, 16, 28, 14, 12, 8 },
        { 76, 1, 8, 1, 60, 5, 16, 27, 27, 0, 8 },
        { 128, 1, 1, 0, 29, 9, 27, 38, 11, 16, 9 },
        { 81, 1, 2, 2, 31, 6, 1, 32, 31, 0, 8 },
        { 60, 0, 2, 1, 59, 2, 1, 37, 34, 1, 0 },
        { 73, 1, 3, 2, 10, 10, 42, 24, 11, 0, 8 },
        { 140, 1, 9, 6, 68, 11, 0, 42, 42, 0, 10 },
        { 79, 1, 7, 6, 27, 2, 1, 30, 27, 1, 8 },
        { 120, 1, 8, 8, 30, 13, 6, 31, 23, 6, 8 },
        { 121, 0, 2, 0, 51, 10, 35, 48, 11, 35, 8 },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        check_layout(&rows[k]);
}

/* >>stalls: as many pieces as fit, each whole but the first */

typedef struct piece_row {
    const char *name;
    uint32_t blanks, columns;
    bool first;
    const char *text;
} piece_row;

static const piece_row **the_piece(void)
{
    static const piece_row *row;
    return &row;
}

static void draw_a_piece(chroprof__page *g)
{
    const piece_row *row = *the_piece();
    chroprof__show(g, "1234567890");
    g->blanks += row->blanks;
    chroprof__stall_piece(g, row->name, 1, 2, row->first);
}

/* Behind ten columns: a name of at least 8, a blank, the share. */
TEST(pieces_of_a_stall_fit_or_are_left_out)
{
    static const char forty[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    static const piece_row rows[] = {
        { "abcdefgh", 0, 22, true, "1234567890abcdefgh 50%" },
        { "abcdefgh", 0, 21, true, "1234567890" },
        { "a", 0, 22, true, "1234567890a 50%" },
        { "a", 0, 21, true, "1234567890" },
        { "a", 0, 10, true, "1234567890" },
        { "a", 0, 9, true, "123456789" },
        { "abcdefghi", 0, 22, true, "1234567890abcd\xE2\x80\xA6ghi 50%" },
        { "abcdefghi", 0, 23, true, "1234567890abcdefghi 50%" },
        { "abcdefgh", 2, 24, true, "1234567890  abcdefgh 50%" },
        { "abcdefgh", 2, 23, true, "1234567890" },
        { "abcdefgh", 0, 24, false, "1234567890, abcdefgh 50%" },
        { "abcdefgh", 0, 23, false, "1234567890" },
        { "a", 0, 24, false, "1234567890, a 50%" },
        { "a", 0, 23, false, "1234567890" },
        { "abcdefghi", 0, 24, false, "1234567890" },
        { "abcdefghi", 0, 25, false, "1234567890, abcdefghi 50%" },
        { forty, 0, 45, true, "1234567890abcdefghijklmno\xE2\x80\xA6" "z0123456789ABCD 50%" },
        { forty, 0, 46, true, "1234567890abcdefghijklmnop\xE2\x80\xA6" "z0123456789ABCD 50%" },
        { forty, 0, 100, true, "1234567890abcdefghijklmnop\xE2\x80\xA6" "z0123456789ABCD 50%" },
        { forty, 0, 56, false, "1234567890, abcdefghijklmnop\xE2\x80\xA6" "z0123456789ABCD 50%" },
        { forty, 0, 55, false, "1234567890" },
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        *the_piece() = &rows[k];
        CHECK_STR(page_text(draw_a_piece, rows[k].columns), rows[k].text);
    }
}

static chroprof_stall *the_stall(void)
{
    static chroprof_stall stall;
    return &stall;
}

static void draw_the_stall(chroprof__page *g)
{
    chroprof__stall_pieces(g, the_stall());
}

static const char *pieces_of(uint64_t length, uint32_t count, uint64_t first, uint64_t second)
{
    chroprof_stall *s = the_stall();
    memset(s, 0, sizeof *s);
    s->length_ns = length;
    s->slice_count = count;
    s->slices[0].name = "one";
    s->slices[0].path = 3;
    s->slices[0].exec_ns = first;
    s->slices[1].name = "not shown";
    s->slices[1].path = 2;
    s->slices[1].exec_ns = second;
    return page_text(draw_the_stall, 100);
}

/* What is more than a hundredth and in no slice is told. */
TEST(the_rest_of_a_stall_is_told)
{
    CHECK_STR(pieces_of(1000, 1, 990, 0), "one 99%");
    CHECK_STR(pieces_of(1000, 1, 989, 0), "one 99%, the rest 1%");
    CHECK_STR(pieces_of(1000, 2, 600, 400), "one 60%, (untracked) 40%");
    CHECK_STR(pieces_of(1000, 2, 600, 300), "one 60%, (untracked) 30%, the rest 10%");
    CHECK_STR(pieces_of(1000, 2, 600, 500), "one 60%, (untracked) 50%");
    CHECK_STR(pieces_of(1000, 1, 2000, 0), "one 100%");
    CHECK_STR(pieces_of(1000, 0, 0, 0), "the rest 100%");
}

/* >>the time series */

/* The least round share that holds the peak; nothing is more than all. */
TEST(the_scale_of_the_time_series_is_round)
{
    static const uint32_t steps[] = { 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000 };
    size_t k;
    CHECK_EQ(chroprof__series_full(0), 10);
    for (k = 0; k < 11; k++) {
        CHECK_EQ(chroprof__series_full(steps[k]), steps[k]);
        CHECK_EQ(chroprof__series_full(steps[k] + 1), steps[k < 10 ? k + 1 : k]);
    }
    CHECK_EQ(chroprof__series_full(UINT32_MAX), 1000);
}

static chroprof__series *spread(uint32_t width, uint64_t span, uint64_t start, uint64_t end,
                                uint64_t value)
{
    static chroprof__series s;
    chroprof_window w;
    memset(&s, 0, sizeof s);
    memset(&w, 0, sizeof w);
    s.width = width;
    s.span_ns = span;
    w.start_ns = start;
    w.end_ns = end;
    chroprof__series_add(&s, 1, &w, value);
    return &s;
}

static void check_spread(const chroprof__series *s, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    CHECK_EQ(s->cells[1][0], a);
    CHECK_EQ(s->cells[1][1], b);
    CHECK_EQ(s->cells[1][2], c);
    CHECK_EQ(s->cells[1][3], d);
    CHECK_EQ(s->cells[0][0] + s->cells[0][1] + s->cells[2][0] + s->cells[1][4], 0);
}

/* In proportion to what of the window is in each column. */
TEST(windows_are_spread_over_columns)
{
    check_spread(spread(4, 100, 20, 80, 60), 5, 25, 25, 5);
    check_spread(spread(4, 100, 20, 80, 30), 2, 12, 12, 2);
    check_spread(spread(4, 100, 25, 50, 25), 0, 25, 0, 0);
    check_spread(spread(4, 100, 26, 49, 23), 0, 23, 0, 0);
    check_spread(spread(4, 100, 0, 100, 40), 10, 10, 10, 10);
    check_spread(spread(4, 100, 75, 100, 7), 0, 0, 0, 7);
    check_spread(spread(4, 100, 24, 26, 2), 1, 1, 0, 0);
    check_spread(spread(4, 100, 0, 1, 1), 1, 0, 0, 0);
    check_spread(spread(4, 100, 0, 100, 0), 0, 0, 0, 0);
    check_spread(spread(3, 100, 33, 66, 33), 0, 33, 0, 0);
    check_spread(spread(3, 100, 32, 67, 35), 1, 33, 1, 0);
    check_spread(spread(3, 100, 66, 100, 34), 0, 0, 34, 0);
    CHECK_EQ(chroprof__series_level(spread(4, 100, 20, 80, 60), 1, 0), 200);
    CHECK_EQ(chroprof__series_level(spread(4, 100, 20, 80, 60), 1, 1), 1000);
    CHECK_EQ(chroprof__series_peak(spread(4, 100, 70, 80, 10), 1), 200);
    CHECK_EQ(chroprof__series_peak(spread(4, 100, 76, 100, 5), 1), 200);
    CHECK_EQ(chroprof__series_peak(spread(4, 100, 0, 20, 10), 1), 400);
    CHECK_EQ(chroprof__series_peak(spread(4, 100, 0, 20, 10), 0), 0);
}

#endif
