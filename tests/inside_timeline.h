/* tests/inside_timeline.h - part of test_inside.c: the Firefox writer function by function: what is
 * shown of many windows, files and stalls, and how bins and stalls become cells, worked out by
 * hand; what lies behind the end of each table is made to look like a row. */
#ifndef INSIDE_TIMELINE_H
#define INSIDE_TIMELINE_H

/* A writer's state that can be changed, and what lies behind its last member. */
typedef struct guarded_firefox {
    chroprof__firefox f;
    unsigned char behind[30000];
} guarded_firefox;

static chroprof__firefox *blank_firefox(const chroprof *p)
{
    static guarded_firefox g;
    size_t k;
    memset(&g, 0, sizeof g);
    for (k = 0; k < sizeof g.behind; k++)
        g.behind[k] = (unsigned char)(k * k / 7);
    g.f.p = p;
    g.f.out = out_of_bytes();
    return &g.f;
}

static bool nothing_is_behind(const chroprof__firefox *f)
{
    const unsigned char *behind = (const unsigned char *)(const void *)(f + 1);
    size_t k;
    for (k = 0; k < 20000; k++)
        if (behind[k] != (unsigned char)(k * k / 7))
            return false;
    return true;
}

/* As the writer would have it. */
static chroprof__firefox *read_firefox(const chroprof *p)
{
    static chroprof__codes codes;
    chroprof__firefox *f = blank_firefox(p);
    chroprof__firefox_read(f, &codes, f->out, p);
    return f;
}

/* >>bins */

TEST(windows_are_put_into_bins)
{
    static const struct { uint32_t windows, group, bins, chunks; } rows[] = {
        { 1, 1, 1, 1000 }, { 2, 1, 2, 500 }, { 3, 1, 3, 333 }, { 239, 1, 239, 4 },
        { 240, 1, 240, 4 }, { 241, 2, 121, 8 }, { 242, 2, 121, 8 }, { 243, 2, 122, 8 },
        { 480, 2, 240, 4 }, { 481, 3, 161, 6 }, { 720, 3, 240, 4 }, { 721, 4, 181, 5 }
    };
    chroprof *p = scene();
    size_t k;
    uint32_t bin;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        const chroprof__firefox *f;
        p->core->window = rows[k].windows - 1;
        p->paths[CHROPROF__UNTRACKED].exec = 5;
        f = read_firefox(p);
        CHECK_EQ(f->group, rows[k].group);
        CHECK_EQ(f->bins, rows[k].bins);
        CHECK_EQ(f->chunks, rows[k].chunks);
        CHECK_EQ(f->rows, 8);               /* four sites, and four more */
        for (bin = 0; bin < f->bins; bin++)
            CHECK_EQ(f->ns[8][bin], 0);
    }
    harness_keep_none();
}

/* Groups of three; what lies beyond the last bin is in it. */
TEST(windows_of_a_group_share_a_bin)
{
    static const uint32_t bins[] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3 };
    chroprof__firefox *f = blank_firefox(NULL);
    uint64_t want[6];
    uint32_t k, bin;
    f->group = 3;
    f->bins = 4;
    memset(want, 0, sizeof want);
    for (k = 0; k < sizeof bins / sizeof *bins; k++) {
        chroprof__firefox_add_exec(f, 2, k, 1 + 10 * k);
        want[bins[k]] += 1 + 10 * k;
        for (bin = 0; bin < 6; bin++)
            CHECK_EQ(f->ns[2][bin], want[bin]);
    }
}

/* Cells of windows that are coarser by now; the paths' own rest; a site's neighbour has cells as
 * well. */
static void check_row(uint32_t shift, uint32_t site, uint32_t path)
{
    static uint64_t want[CHROPROF__FIREFOX_BINS];
    chroprof *p = scene();
    chroprof__core *c = p->core;
    chroprof__firefox *f = blank_firefox(p);
    uint32_t k, capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    uint64_t *cells = chroprof__cells(c, site);
    memset(want, 0, sizeof want);
    c->window = 20u << 16 | 239;
    cells[0] = 20 - shift;
    for (k = 0; k < capacity; k++) {
        cells[1 + k] = k % 3 == 0 ? 0 : k % 3 == 1 ? 1 : 100 + k;
        want[shift < 16 ? k >> shift : 0] += cells[1 + k];
    }
    cells[1 + capacity] = 1u << 20;
    f->group = 1;
    f->bins = 240;
    p->paths[path].window = 20u << 16 | 7;
    p->paths[path].exec = 1000000;
    p->paths[path].mark = 1000;
    want[7] += 999000;
    if (p->paths[path].same_site != 0) {
        p->paths[p->paths[path].same_site].window = 20u << 16 | 9;
        p->paths[p->paths[path].same_site].exec = 3000000;
        p->paths[p->paths[path].same_site].mark = 3000;
        want[9] += 2997000;
    }
    chroprof__firefox_read_row(f, 1, site);
    for (k = 0; k < f->bins; k++)
        CHECK_EQ(f->ns[1][k], want[k]);
    harness_keep_none();
}

TEST(cells_are_read_into_bins)
{
    static const uint32_t shifts[] = { 0, 1, 2, 3, 15, 16, 17, 20 };
    chroprof *p = scene();
    uint32_t first = site_of(p, 3)->first_path, twice = site_of(p, 7)->first_path;
    size_t k;
    CHECK_EQ(first, 3);
    CHECK(p->paths[twice].same_site != 0);
    CHECK_IN(p->core->tables[CHROPROF_TABLE_WINDOWS].capacity, 10, CHROPROF__FIREFOX_BINS);
    for (k = 0; k < sizeof shifts / sizeof *shifts; k++) {
        check_row(shifts[k], p->paths[3].site, 3);
        check_row(shifts[k], p->paths[7].site, twice);
        check_row(shifts[k], CHROPROF__IDLE, CHROPROF__IDLE);
        check_row(shifts[k], CHROPROF__UNTRACKED, CHROPROF__UNTRACKED);
    }
}

/* Of the site of all that found no place the paths are read like those of others. */
TEST(cells_of_other_sites_are_read)
{
    chroprof_options o;
    chroprof *p;
    chroprof__firefox *f;
    memset(&o, 0, sizeof o);
    o.max_sites = 1;
    o.window_ns = 1000;
    p = fresh(&o);
    at(p, 0, ENTER, 0, &A);
    at(p, 100, ENTER, 0, &B);
    at(p, 150, LEAVE, 0, NULL);
    at(p, 390, LEAVE, 0, NULL);
    at(p, 390, ENTER, 0, &B);
    at(p, 397, LEAVE, 0, NULL);
    f = read_firefox(p);
    CHECK_EQ(f->top_count, 2);
    CHECK_EQ(f->top[1].site, CHROPROF__OTHER);
    CHECK_EQ(f->ns[0][0], 340);
    CHECK_EQ(f->ns[1][0], 57);
    CHECK_EQ(f->ns[2][0], 0);
    memset(f->ns, 0, sizeof f->ns);
    chroprof__firefox_read_row(f, 1, CHROPROF__OTHER);
    CHECK_EQ(f->ns[1][0], 57);
}

/* Windows of 100 ticks in pairs; the last bin ends with the last event. Rows: two sites, all
 * others, untracked, loop, idle. Where others have more than there is nothing is left. */
TEST(all_others_have_the_rest_of_a_bin)
{
    chroprof *p = scene();
    chroprof__firefox *f = blank_firefox(p);
    uint32_t row, bin;
    p->core->window_ticks = 100;
    p->core->last = 550;
    f->group = 2;
    f->bins = 3;
    f->top_count = 2;
    f->rows = 6;
    CHECK_EQ(chroprof__firefox_border(f, 0), 0);
    CHECK_EQ(chroprof__firefox_border(f, 1), 200);
    CHECK_EQ(chroprof__firefox_border(f, 2), 400);
    CHECK_EQ(chroprof__firefox_border(f, 3), 550);
    for (row = 0; row < 8; row++)
        for (bin = 0; bin < 5; bin++)
            f->ns[row][bin] = row < 6 && bin < 3 ? 1 + row + 10 * bin : 777;
    f->ns[5][1] = 500;
    chroprof__firefox_read_rest(f);
    CHECK_EQ(f->ns[2][0], 200 - 1 - 2 - 4 - 5 - 6);
    CHECK_EQ(f->ns[2][1], 0);
    CHECK_EQ(f->ns[2][2], 150 - 21 - 22 - 24 - 25 - 26);
    CHECK_EQ(f->ns[2][3], 777);
    CHECK_EQ(f->ns[1][2], 22);
    harness_keep_none();
}

/* Three ticks are 4 ns; the last row never has more than the reads show, here 150. */
TEST(ticks_of_bins_become_ns)
{
    chroprof *p = scene();
    chroprof__firefox *f = blank_firefox(p);
    p->core->factor = (UINT64_C(4) << 32) / 3 + 1;
    f->bins = 4;
    f->top_count = 1;
    f->rows = 5;
    f->top[0].key = 150;
    f->ns[0][0] = 10;
    f->ns[0][1] = 10;
    f->ns[0][2] = 70;
    f->ns[0][3] = 40;
    f->ns[0][4] = 99;
    chroprof__firefox_convert(f, 0);
    CHECK_EQ(f->ns[0][0], 13);              /* 13.3 */
    CHECK_EQ(f->ns[0][1], 26 - 13);         /* 26.7 */
    CHECK_EQ(f->ns[0][2], 120 - 26);
    CHECK_EQ(f->ns[0][3], 150 - 120);       /* not 173 */
    CHECK_EQ(f->ns[0][4], 99);
    harness_keep_none();
}

TEST(rows_are_of_sites)
{
    chroprof *p = scene();
    chroprof__firefox *f = blank_firefox(p);
    uint32_t k;
    f->sites = 50;
    f->top_count = 2;
    f->rows = 6;
    f->top[0].site = p->paths[5].site;
    f->top[1].site = p->paths[3].site;
    for (k = 0; k < 6; k++) {
        const uint32_t sites[] = { p->paths[5].site, p->paths[3].site, 50, CHROPROF__UNTRACKED,
                                   CHROPROF__LOOP, CHROPROF__IDLE };
        CHECK_EQ(chroprof__firefox_row_site(f, k), sites[k]);
    }
    CHECK_EQ(chroprof__firefox_row_of(f, 5), 0);
    CHECK_EQ(chroprof__firefox_row_of(f, 3), 1);
    CHECK_EQ(chroprof__firefox_row_of(f, 4), 2);
    CHECK_EQ(chroprof__firefox_row_of(f, CHROPROF__UNTRACKED), 3);
    CHECK_EQ(chroprof__firefox_row_of(f, CHROPROF__LOOP), 4);
    CHECK_EQ(chroprof__firefox_row_of(f, CHROPROF__IDLE), 5);
}

/* >>files and sites */

/* The first sites have three files; then those of the others in the order of the sites, until there
 * are eight. A site that nobody used is passed over. */
TEST(eight_files_have_a_colour)
{
    static const char *const files[] = { "a", "b", "c", "c", "b", "a", "d", "a", "d", "u", "e", "f",
                                         "g", "h", "i" };
    static const char *const colours[] = { "blue", "orange", "green", "purple", "yellow", "magenta",
                                           "lightblue", "brown" };
    static const char *const wanted[] = { "d", "a", "b", "c", "e", "f", "g", "h" };
    static const uint64_t exec[] = { 500, 450, 440, 430, 420, 410, 400, 390, 900, 0, 5, 4, 3, 2,
                                     1 };
    chroprof *p = fresh(NULL);
    const chroprof__firefox *f;
    char names[15][4], want[80];
    uint64_t now = 0;
    uint32_t k;
    for (k = 0; k < 15; k++) {
        chroprof_site site;
        snprintf(names[k], sizeof names[k], "n%u", (unsigned)k);
        site.name = names[k];
        site.file = files[k];
        site.line = 1;
        if (exec[k] == 0) {
            CHECK(chroprof_site_make(p, site.name, site.file, 1) != NULL);
            continue;
        }
        at(p, now, ENTER, 0, &site);
        at(p, now += exec[k], LEAVE, 0, NULL);
    }
    f = read_firefox(p);
    CHECK_EQ(f->file_count, 8);
    CHECK_EQ(f->top_count, 8);
    CHECK_EQ(f->top[0].site, 4 + 8);
    CHECK_EQ(f->top[7].site, 4 + 6);
    for (k = 0; k < 8; k++) {
        CHECK_STR(chroprof__string(p->core, f->files[k]), wanted[k]);
        snprintf(want, sizeof want, "{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":",
                 wanted[k], colours[k]);
        CHECK(strstr(firefox_of(p), want) != NULL);
    }
    CHECK(strstr(firefox_of(p), "{\"name\":\"i\"") == NULL);
    CHECK(strstr(firefox_of(p), "{\"name\":\"u\"") == NULL);
}

/* The rows behind the tables have a file of their own and a lot of time. */
TEST(nothing_is_read_behind_the_last_row)
{
    chroprof *p = scene();
    chroprof__path *path = p->paths + chroprof__path_count(p);
    chroprof__site *site = chroprof__sites(p->core) + chroprof__site_count(p);
    static char before[1 << 16];
    const chroprof__firefox *f;
    uint32_t k;
    path[-1].exec = 1;                      /* the least that is a weight */
    p->paths[CHROPROF__UNTRACKED].exec = 1;
    snprintf(before, sizeof before, "%s", firefox_of(p));
    *path = path[-1];
    path->site = path->parent = 4;
    path->exec = path->wall = path->calls = 1000000;
    *site = site[-1];
    site->first_path = chroprof__path_count(p);
    site->file = site->name + 1;
    site->line = 99;
    CHECK_STR(firefox_of(p), before);
    f = read_firefox(p);
    CHECK_EQ(f->top_count, 4);
    CHECK_EQ(f->file_count, 3);
    site->file = f->files[0];
    CHECK_EQ(chroprof__firefox_category(f, f->sites), CHROPROF__CATEGORY_OTHER);
    CHECK_EQ(chroprof__firefox_category(f, f->sites + 1), CHROPROF__CATEGORY_IDLE);
    CHECK_EQ(chroprof__firefox_category(f, f->sites + 2), CHROPROF__CATEGORY_OTHER);
    CHECK_EQ(chroprof__firefox_category(f, CHROPROF__LOOP), CHROPROF__CATEGORY_LOOP);
    CHECK_EQ(chroprof__firefox_category(f, CHROPROF__IDLE), CHROPROF__CATEGORY_IDLE);
    CHECK_EQ(chroprof__firefox_category(f, CHROPROF__UNTRACKED), CHROPROF__CATEGORY_UNTRACKED);
    CHECK_EQ(chroprof__firefox_category(f, CHROPROF__OTHER), CHROPROF__CATEGORY_OTHER);
    for (k = 0; k < 3; k++)
        CHECK_EQ(chroprof__firefox_category(f, f->top[k == 2 ? 3 : k].site),
                 CHROPROF__CATEGORY_FILES +
                 (uint32_t)(chroprof__sites(p->core)[f->top[k == 2 ? 3 : k].site].file ==
                            f->files[1]) +
                 2 * (uint32_t)(chroprof__sites(p->core)[f->top[k == 2 ? 3 : k].site].file ==
                                f->files[2]));
    harness_keep_none();
}

/* >>stalls */

static chroprof__piece piece_of(uint64_t start, uint64_t end)
{
    chroprof__piece piece;
    memset(&piece, 0, sizeof piece);
    piece.start = start;
    piece.end = end;
    piece.count = 1;
    piece.ns[0] = 7 * start + end;
    return piece;
}

/* The same in a plain way: no piece is empty or overlaps another; of 64 the shortest gives way to a
 * longer one. */
static uint32_t plain_add(chroprof__piece *all, uint32_t count, const chroprof__piece *new_one)
{
    uint32_t k, least = 0;
    if (new_one->start >= new_one->end)
        return count;
    for (k = 0; k < count; k++)
        if (all[k].start < new_one->end && new_one->start < all[k].end)
            return count;
    if (count == 64) {
        for (k = 1; k < 64; k++)
            if (all[k].end - all[k].start < all[least].end - all[least].start)
                least = k;
        if (all[least].end - all[least].start >= new_one->end - new_one->start)
            return count;
        for (k = least; k < 63; k++)
            all[k] = all[k + 1];
        count--;
    }
    for (k = count; k > 0 && all[k - 1].start > new_one->start; k--)
        all[k] = all[k - 1];
    all[k] = *new_one;
    return count + 1;
}

TEST(pieces_are_in_order_and_apart)
{
    static chroprof__piece all[65];
    chroprof__firefox *f = blank_firefox(NULL);
    uint32_t count = 0, round, k;
    uint64_t seed = 5;
    for (round = 0; round < 900; round++) {
        uint64_t start = random_below(&seed, 400) * 10, length = random_below(&seed, 4) * 10;
        chroprof__piece piece = piece_of(start, start + length + random_below(&seed, 9));
        if (round % 5 == 0)
            piece.end = piece.start + 10 * random_below(&seed, 3);
        count = plain_add(all, count, &piece);
        chroprof__add_piece(f, &piece);
        CHECK_EQ(f->piece_count, count);
        for (k = 0; k < count; k++) {
            CHECK_EQ(f->pieces[k].start, all[k].start);
            CHECK_EQ(f->pieces[k].end, all[k].end);
            CHECK_EQ(f->pieces[k].ns[0], all[k].ns[0]);
        }
        CHECK(nothing_is_behind(f));
    }
    CHECK_EQ(count, 64);
}

TEST(a_piece_has_the_slices_of_its_stall)
{
    chroprof *p = scene();
    chroprof__firefox *f = blank_firefox(p);
    chroprof__piece piece;
    chroprof_stall stall;
    uint32_t count, k;
    f->sites = 50;
    f->top_count = 1;
    f->rows = 5;
    f->top[0].site = p->paths[5].site;
    memset(&stall, 0, sizeof stall);
    stall.start_ns = 1000;
    stall.length_ns = 234;
    for (k = 0; k < CHROPROF_STALL_SLICES; k++) {
        stall.slices[k].path = k % 2 == 0 ? 5 : 4;
        stall.slices[k].exec_ns = 10 + k;
    }
    for (count = 0; count <= CHROPROF_STALL_SLICES; count++) {
        memset(&piece, 0, sizeof piece);
        stall.slice_count = count;
        chroprof__read_piece(f, &stall, &piece);
        CHECK_EQ(piece.start, 1000);
        CHECK_EQ(piece.end, 1234);
        CHECK_EQ(piece.count, count);
        for (k = 0; k < CHROPROF_STALL_SLICES; k++) {
            CHECK_EQ(piece.rows[k], k < count ? k % 2 : 0);
            CHECK_EQ(piece.ns[k], k < count ? 10 + k : 0);
        }
    }
}

/* A turn within a pass that was too long as well; a pass of short turns; a turn alone. */
TEST(turns_tell_more_than_passes)
{
    chroprof_options o;
    chroprof *p;
    const chroprof__firefox *f;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.stall_ns = 100;
    p = fresh(&o);
    at(p, 0, IDLE_ENTER, 0, NULL);
    at(p, 1000, IDLE_LEAVE, 0, NULL);
    at(p, 1010, ENTER, 0, &A);
    at(p, 1150, LEAVE, 0, NULL);
    at(p, 1160, IDLE_ENTER, 0, NULL);
    at(p, 2000, IDLE_LEAVE, 0, NULL);
    for (k = 0; k < 3; k++) {
        at(p, 2000 + 50 * k, ENTER, 0, &A);
        at(p, 2040 + 50 * k, LEAVE, 0, NULL);
    }
    at(p, 2150, IDLE_ENTER, 0, NULL);
    CHECK_EQ(chroprof_stalls(p, NULL, 0), 3);
    f = read_firefox(p);
    CHECK_EQ(f->stalls, 3);
    CHECK_EQ(f->piece_count, 2);
    CHECK_EQ(f->pieces[0].start, 1010);
    CHECK_EQ(f->pieces[0].end, 1150);
    CHECK_EQ(f->pieces[1].start, 2000);
    CHECK_EQ(f->pieces[1].end, 2150);
}

/* >>samples */

static void sample_row(const chroprof *p, uint32_t k, uint64_t at_ns, uint64_t length,
                       uint32_t state)
{
    chroprof__sample *row = chroprof__sample_rows(p->core) + k;
    row->time = at_ns;
    row->duration = length;
    row->state = state;
}

/* The end is that of the last event or of a later sample, any of them. */
TEST(samples_may_end_late)
{
    chroprof *p = sampled_scene();
    uint32_t k, i;
    CHECK_EQ(read_firefox(p)->samples, 5);
    for (k = 0; k <= 5; k++) {
        for (i = 0; i < 6; i++)             /* the sixth is none */
            sample_row(p, i, i == 5 ? 900 : 100, 10, i == 5 ? CHROPROF_SAMPLE_IDLE
                                                            : CHROPROF_SAMPLE_BUSY);
        CHECK_EQ(read_firefox(p)->end_ns, 150);
        CHECK_EQ(read_firefox(p)->twins, 0);
        if (k == 5)
            break;
        sample_row(p, k, 130, 21, CHROPROF_SAMPLE_IDLE);
        CHECK_EQ(read_firefox(p)->end_ns, 151);
        CHECK_EQ(read_firefox(p)->twins, 5);
        sample_row(p, k, 170, 0, CHROPROF_SAMPLE_BUSY);
        CHECK_EQ(read_firefox(p)->end_ns, 170);
    }
    harness_keep_none();
}

/* The cells that a call makes, in this column. */
static const char *cells_of_row(const chroprof__firefox *f, uint32_t column, uint64_t weight,
                                uint64_t length)
{
    chroprof_sample_row row;
    chroprof__samples s;
    chroprof__out *out = out_of_bytes();
    chroprof__firefox copy;
    memcpy(&copy, f, sizeof copy);
    copy.out = out;
    memset(&row, 0, sizeof row);
    memset(&s, 0, sizeof s);
    row.weight = weight;
    row.cpu_ns = 55;
    row.at_ns = 300;
    row.duration_ns = length;
    s.f = &copy;
    s.column = column;
    chroprof__put_row(&s, &row, 300, 300 + length);
    return bytes_of(out);
}

static uint32_t commas(const char *text)
{
    uint32_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

/* Parts are a thousandth of the whole timeline, or a sample each if those are fewer. */
TEST(long_samples_are_shown_in_parts)
{
    static const struct { uint64_t end, length, weight; uint32_t parts; } rows[] = {
        { 999, 10, 100, 11 }, { 1000, 10, 100, 6 }, { 1999, 10, 100, 6 }, { 5000, 60, 100, 11 },
        { 5000, 60, 3, 3 }, { 5000, 60, 11, 11 }, { 5000, 60, 12, 11 }, { 5000, 60, 10, 10 },
        { 5000, 60, 1, 1 }, { 5000, 60, 0, 1 }, { 5000, 0, 9, 1 }, { 5000, 5, 9, 1 },
        { 5000, 6, 9, 2 }
    };
    chroprof__firefox *f = blank_firefox(scene());
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        f->end_ns = rows[k].end;
        CHECK_EQ(commas(cells_of_row(f, CHROPROF__WEIGHT, rows[k].weight, rows[k].length)) + 1,
                 rows[k].parts);
    }
    f->end_ns = 5000;
    CHECK_STR(cells_of_row(f, CHROPROF__WEIGHT, 100, 12), "33,33,34");
    CHECK_STR(cells_of_row(f, CHROPROF__TIME, 100, 12), "0.000300,0.000304,0.000308");
    CHECK_STR(cells_of_row(f, CHROPROF__CPU, 100, 12), "55,0,0");
    CHECK_STR(cells_of_row(f, CHROPROF__WEIGHT, 0, 12), "0");
}

TEST(gaps_are_longer_than_two_ticks)
{
    static const struct { uint64_t period, time, count, next; const char *text; } rows[] = {
        { 0, 5, 1, 500, "" }, { 10, 100, 1, 120, "" }, { 10, 100, 1, 121, ",0.000110" },
        { 10, 100, 1, 125, ",0.000110" }, { 10, 100, 2, 150, ",0.000110" }, { 10, 0, 0, 20, "" },
        { 10, 0, 0, 21, "0.000000" }, { 10, 100, 0, 121, "0.000000" }, { 10, 100, 1, 90, "" },
        { 1, 100, 1, 102, "" }, { 1, 100, 1, 103, ",0.000101" }
    };
    chroprof__firefox *f = blank_firefox(scene());
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__samples s;
        f->out = out_of_bytes();
        memset(&s, 0, sizeof s);
        s.f = f;
        s.column = CHROPROF__TIME;
        f->sampler.period_ns = rows[k].period;
        s.time = rows[k].time;
        s.count = rows[k].count;
        chroprof__put_gap(&s, rows[k].next);
        CHECK_STR(bytes_of(f->out), rows[k].text);
    }
}

/* How often futures were met paused; one after the other, a tick each. */
TEST(draws_are_shown_where_futures_paused)
{
    chroprof *p = sampled_scene();
    chroprof__wall *walls = chroprof__walls(p->core);
    sampler(p)->period_ns = 1500;
    walls[3].weight[0] = 5;                 /* met, but not paused */
    walls[4].weight[2] = 1;
    walls[6].weight[2] = 7;
    walls[8].weight[1] = 9;
    walls[chroprof__wall_count(p)].weight[2] = 11;
    CHECK(strstr(firefox_of(p), "\"initialVisibleThreads\":[0,1,2],") != NULL);
    CHECK(strstr(firefox_of(p), "that the sampler met") == NULL);
    CHECK(strstr(firefox_of(p), "\"interval\":0.001500,") != NULL);
    sampler(p)->draws = 1;
    CHECK(strstr(firefox_of(p), "\"initialVisibleThreads\":[0,1,2,3],") != NULL);
    CHECK(strstr(firefox_of(p), "\"Waiting: paused futures that the sampler met\"") != NULL);
    CHECK(strstr(firefox_of(p), "\"tid\":4,") != NULL);
    CHECK(strstr(firefox_of(p), "\"tid\":5,") == NULL);
    CHECK(strstr(firefox_of(p), "\"samples\":{\"length\":3,\"stack\":[4,6,1],"
                                "\"time\":[0.000000,0.001500,0.003000],\"weight\":[1,7,0],"
                                "\"weightType\":\"samples\"},") != NULL);
    harness_keep_none();
}

TEST(the_interval_is_that_of_the_timer)
{
    chroprof__firefox *f = blank_firefox(scene());
    CHECK_EQ(chroprof__firefox_interval(f), 1000000);
    f->sampler.period_ns = 7;
    CHECK_EQ(chroprof__firefox_interval(f), 1000000);
    f->samples = 1;
    CHECK_EQ(chroprof__firefox_interval(f), 7);
    f->sampler.period_ns = 1;
    CHECK_EQ(chroprof__firefox_interval(f), 1);
    f->sampler.period_ns = 0;
    CHECK_EQ(chroprof__firefox_interval(f), 1000000);
}

TEST(threads_have_names_and_units)
{
    chroprof__firefox *f = blank_firefox(scene());
    CHECK_EQ(chroprof__firefox_threads(f), 3);
    f->sampler.draws = 1;
    CHECK_EQ(chroprof__firefox_threads(f), 4);
    f->sampler.draws = 2;
    CHECK_EQ(chroprof__firefox_threads(f), 4);
    CHECK_STR(chroprof__firefox_thread_name(f, 0),
              "Timeline, made from stalls and windows (no sampler)");
    CHECK(!chroprof__counts_samples(f, 0) && !chroprof__counts_samples(f, 1));
    CHECK(!chroprof__counts_samples(f, 2) && chroprof__counts_samples(f, 3));
    f->samples = 1;
    CHECK_STR(chroprof__firefox_thread_name(f, 0), "Timeline of samples");
    CHECK(chroprof__counts_samples(f, 0) && !chroprof__counts_samples(f, 1));
    CHECK(!chroprof__counts_samples(f, 2) && chroprof__counts_samples(f, 3));
}

TEST(only_counted_samples_have_cpu_time)
{
    chroprof *p = scene();
    CHECK(strstr(firefox_of(p), "\"threadCPUDelta\":[") == NULL);
    sampler(p)->draws = 1;
    CHECK(strstr(firefox_of(p), "\"threadCPUDelta\":[") == NULL);
    sample_of(p, 1, 1, 0, 0);
    CHECK(strstr(firefox_of(p), "\"threadCPUDelta\":[") != NULL);
    harness_keep_none();
}

TEST(the_product_is_the_name_or_the_program)
{
    chroprof *p = scene();
    memset(p->core->program, 0, sizeof p->core->program);
    CHECK_STR(chroprof__firefox_program(p), "chroprof");
    p->core->program[0] = 'x';
    CHECK_STR(chroprof__firefox_program(p), "x");
    p->core->name[0] = 'y';
    CHECK_STR(chroprof__firefox_program(p), "y");
    harness_keep_none();
}

/* >>the exact trees */

/* Columns that grow; each cell begins where the one before it ended. */
typedef struct columns {
    char stack[200], time[400], weight[400];
    uint64_t count, now;
} columns;

static void add_cell(columns *c, uint64_t stack, uint64_t ns)
{
    const char *comma = c->count++ != 0 ? "," : "";
    size_t s = strlen(c->stack), t = strlen(c->time), w = strlen(c->weight);
    snprintf(c->stack + s, sizeof c->stack - s, "%s%" PRIu64, comma, stack);
    snprintf(c->time + t, sizeof c->time - t, "%s%" PRIu64 ".%06" PRIu64, comma, c->now / 1000000,
             c->now % 1000000);
    snprintf(c->weight + w, sizeof c->weight - w, "%s%" PRIu64 ".%06" PRIu64, comma, ns / 1000000,
             ns % 1000000);
    c->now += ns;
}

static void check_columns(const chroprof *p, uint32_t thread, columns *c)
{
    chroprof__firefox *f = read_firefox(p);
    add_cell(c, CHROPROF__IDLE, 0);
    f->out = out_of_bytes();
    CHECK_EQ(chroprof__firefox_samples(f, thread, CHROPROF__LENGTH), c->count);
    CHECK_STR(bytes_of(f->out), "");
    f->out = out_of_bytes();
    CHECK_EQ(chroprof__firefox_samples(f, thread, CHROPROF__STACK), c->count);
    CHECK_STR(bytes_of(f->out), c->stack);
    f->out = out_of_bytes();
    CHECK_EQ(chroprof__firefox_samples(f, thread, CHROPROF__TIME), c->count);
    CHECK_STR(bytes_of(f->out), c->time);
    f->out = out_of_bytes();
    CHECK_EQ(chroprof__firefox_samples(f, thread, CHROPROF__WEIGHT), c->count);
    CHECK_STR(bytes_of(f->out), c->weight);
}

/* The tree in preorder, then untracked, loop and idle; the waits in the order of the paths. What
 * has nothing has no cell, and 1 ns is something. */
TEST(trees_have_a_cell_of_each_path)
{
    static const uint64_t exec[] = { 30000000, 0, 1, 4000001, 1, 700, 0, 20, 50 };
    static const uint64_t waits[] = { 9, 9, 9, 800, 1, 0, 2000000, 7, 60 };
    columns tree, waiting;
    chroprof_path rows[8];
    chroprof *p = scene();
    size_t k;
    memset(&tree, 0, sizeof tree);
    memset(&waiting, 0, sizeof waiting);
    for (k = 0; k < 9; k++) {
        chroprof__path *row = p->paths + k;
        row->exec = exec[k];
        row->delay = 5 - row->ready * p->core->last;
        row->wall = exec[k] + 5 + waits[k] - row->live * p->core->last;
    }
    CHECK_EQ(chroprof_paths(p, rows, 8), 6);
    for (k = 0; k < 6; k++)
        if (exec[rows[k].id] != 0)
            add_cell(&tree, rows[k].id, exec[rows[k].id]);
    add_cell(&tree, CHROPROF__UNTRACKED, 1);
    add_cell(&tree, CHROPROF__LOOP, 30000000);
    check_columns(p, CHROPROF__THREAD_TREE, &tree);
    for (k = 3; k < 9; k++)
        if (waits[k] != 0)
            add_cell(&waiting, k, waits[k]);
    check_columns(p, CHROPROF__THREAD_WAITING, &waiting);
    harness_keep_none();
}

/* >>from bins to cells */

TEST(parts_add_up)
{
    static const uint64_t values[] = { 0, 1, 9, 10, 11, 999, UINT64_MAX / 3, UINT64_MAX - 1,
                                       UINT64_MAX };
    size_t v;
    uint64_t n, k, sum;
    for (v = 0; v < sizeof values / sizeof *values; v++)
        for (n = 1; n < 13; n++) {
            for (sum = k = 0; k < n; k++) {
                uint64_t part = chroprof__part(values[v], k, n);
                CHECK_IN(part, values[v] / n, values[v] / n + (values[v] % n != 0));
                sum += part;
            }
            CHECK_EQ(sum, values[v]);
        }
    CHECK_EQ(chroprof__part(10, 0, 4), 2);
    CHECK_EQ(chroprof__part(10, 1, 4), 3);
    CHECK_EQ(chroprof__part(10, 2, 4), 2);
    CHECK_EQ(chroprof__part(10, 3, 4), 3);
}

/* Five rows: one site, all others, untracked, loop, idle; the stacks are 9 and 10, 2, 0 and 1. */
static chroprof__firefox *five_rows(void)
{
    chroprof__firefox *f = blank_firefox(scene());
    f->paths = 9;
    f->sites = 8;
    f->top_count = 1;
    f->top[0].site = 6;
    f->rows = 5;
    f->chunks = 2;
    f->bins = 1;
    return f;
}

TEST(a_bin_begins_with_all_it_has)
{
    static const uint64_t ns[6] = { 60, 5, 0, 7, 40, 1000 };
    chroprof__firefox *f = five_rows();
    chroprof__bin b;
    uint32_t k;
    memset(&b, 0, sizeof b);
    b.left[5] = 3;
    for (k = 0; k < 6; k++)
        f->ns[k][1] = ns[k];
    chroprof__begin_bin(f, 1, 500, &b);
    for (k = 0; k < 5; k++)
        CHECK_EQ(b.left[k], ns[k]);
    CHECK_EQ(b.left[5], 3);
    CHECK_EQ(b.start, 500);
    CHECK_EQ(b.end, 612);
    CHECK_EQ(b.part, 57);
}

/* Of a piece that is 1 ns long there is that one, from its slice or from what is left. */
TEST(pieces_of_one_ns)
{
    chroprof__firefox *f = five_rows();
    chroprof__piece piece = piece_of(110, 111);
    chroprof__bin b;
    uint64_t take[CHROPROF__FIREFOX_ROWS];
    memset(&b, 0, sizeof b);
    b.start = 100;
    b.end = 200;
    b.left[0] = 4;
    b.left[1] = 3;
    b.left[4] = 93;
    piece.count = 2;
    piece.rows[0] = 1;
    piece.ns[0] = 1;
    piece.rows[1] = 0;
    piece.ns[1] = 1;
    CHECK_EQ(chroprof__take_piece(f, &piece, &b, take), 1);
    CHECK(take[0] == 0 && take[1] == 1);
    CHECK(b.left[0] == 4 && b.left[1] == 2 && b.left[4] == 93);
    piece.count = 0;
    CHECK_EQ(chroprof__take_piece(f, &piece, &b, take), 1);
    CHECK(take[0] == 1 && take[1] == 0);    /* two thirds of it */
    CHECK(b.left[0] == 3 && b.left[1] == 2);
    piece.end = 112;
    piece.count = 2;
    CHECK_EQ(chroprof__take_piece(f, &piece, &b, take), 2);
    CHECK(take[0] == 1 && take[1] == 1);
}

/* 40 ns: 10 and 20 by the slices, and of 10 and 20 that are left 3 and 7. */
TEST(each_slice_of_a_piece_is_taken)
{
    chroprof__firefox *f = five_rows();
    chroprof__piece piece = piece_of(110, 150);
    chroprof__bin b;
    uint64_t take[CHROPROF__FIREFOX_ROWS];
    memset(&b, 0, sizeof b);
    b.start = 100;
    b.end = 200;
    b.left[0] = b.left[1] = 30;
    b.left[4] = 40;
    piece.count = 2;
    piece.rows[0] = 1;
    piece.ns[0] = 10;
    piece.rows[1] = 0;
    piece.ns[1] = 20;
    CHECK_EQ(chroprof__take_piece(f, &piece, &b, take), 40);
    CHECK(take[0] == 23 && take[1] == 17 && take[4] == 0);
    CHECK(b.left[0] == 7 && b.left[1] == 13 && b.left[4] == 40);
}

/* What of a column the call makes. */
static const char *mix_of(chroprof__firefox *f, uint32_t column, const uint64_t *rows,
                          uint64_t from, uint64_t to, uint64_t length, uint64_t part)
{
    chroprof__samples s;
    memset(&s, 0, sizeof s);
    f->out = out_of_bytes();
    s.f = f;
    s.column = column;
    chroprof__put_mix(&s, rows, from, to, length, part);
    CHECK_EQ(s.time, to - from);
    return bytes_of(f->out);
}

/* 10 ns in parts of 5 at most, which takes three; in each the rows' shares so far, rounded. */
TEST(a_mix_has_cells_that_look_alike)
{
    static const uint64_t rows[CHROPROF__FIREFOX_ROWS] = { 6, 0, 0, 4, 0, 70 };
    static const uint64_t one[CHROPROF__FIREFOX_ROWS] = { 0, 1, 0, 0, 0 };
    chroprof__firefox *f = five_rows();
    f->chunks = 3;
    CHECK_STR(mix_of(f, CHROPROF__STACK, rows, 0, 10, 10, 5), "9,0,9,0,9,0");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, rows, 0, 10, 10, 5),
              "0.000002,0.000001,0.000002,0.000001,0.000002,0.000002");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, rows, 0, 10, 10, 11), "0.000006,0.000004");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, rows, 5, 10, 10, 6), "0.000003,0.000002");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, rows, 0, 10, 10, 10),
              "0.000003,0.000002,0.000003,0.000002");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, rows, 10, 10, 10, 5), "");
    CHECK_STR(mix_of(f, CHROPROF__STACK, one, 0, 1, 1, 5), "10");
    CHECK_STR(mix_of(f, CHROPROF__WEIGHT, one, 0, 1, 1, 5), "0.000001");
    f->top[0].site = CHROPROF__OTHER;
    CHECK_STR(mix_of(f, CHROPROF__STACK, rows, 0, 10, 10, 11), "9,0");
}

/* Where a damaged block's ticks are more than 2^64 in all, a part may be too small for its bin, and
 * a mix may end before it begins. */
TEST(a_mix_has_no_more_cells_than_chunks)
{
    static const uint64_t rows[CHROPROF__FIREFOX_ROWS] = { 480, UINT64_MAX - 400 };
    chroprof__firefox *f = five_rows();
    chroprof__samples s;
    memset(&s, 0, sizeof s);
    f->out = out_of_bytes();
    f->chunks = 3;
    s.f = f;
    s.column = CHROPROF__STACK;
    chroprof__put_mix(&s, rows, 0, 79, 79, 1);
    CHECK_IN(s.count, 3, 6);                /* of two rows */
    chroprof__put_mix(&s, rows, 1002, 79, 79, 1);
    CHECK_IN(s.count, 6, 12);
}

/* Three bins of 100 ns, in two chunks each:
 * the first has 60 of the site and 40 idle.
 * The second has 50 of the site, 10 loop and 40 idle, and two stalls. Of the first, [120, 148), 20
 * are a slice of the site; the other 8 are shared by what is left, 30 and 10: 6 and 2. Of the
 * second stall, [180, 220), with a slice of 20, half is here: 10, and of 14 and 8 that are left 6
 * and 4. So 8, 4 and 40 lie outside: in [100, 120) 3, 2 and 15, and the rest in [148, 180).
 * The third has 30 of the site, 20 of others, 7 untracked and 43 idle. Of the stall 10 are the
 * slice, and of 20, 20 and 7 there are 4, 4 and 1. The other 16, 16, 6 and 43 are two chunks. */
static chroprof__firefox *three_bins(void)
{
    static const uint64_t ns[5][3] = {
        { 60, 50, 30 }, { 0, 0, 20 }, { 0, 0, 7 }, { 0, 10, 0 }, { 40, 40, 43 }
    };
    chroprof__firefox *f = five_rows();
    uint32_t row, bin;
    f->bins = 3;
    for (row = 0; row < 5; row++)
        for (bin = 0; bin < 3; bin++)
            f->ns[row][bin] = ns[row][bin];
    f->ns[0][3] = 90;
    f->ns[5][1] = 80;
    f->piece_count = 2;
    f->pieces[0] = piece_of(120, 148);
    f->pieces[1] = piece_of(180, 220);
    f->pieces[2] = piece_of(240, 260);      /* none */
    f->pieces[0].ns[0] = f->pieces[1].ns[0] = f->pieces[2].ns[0] = 20;
    return f;
}

static const char *time_column(chroprof__firefox *f, uint32_t column)
{
    f->out = out_of_bytes();
    (void)chroprof__firefox_samples(f, CHROPROF__THREAD_TIME, column);
    return bytes_of(f->out);
}

TEST(stalls_are_where_they_were)
{
    chroprof__firefox *f = three_bins();
    CHECK_STR(time_column(f, CHROPROF__STACK),
              "9,1,9,1,"  "9,0,1,"  "9,0,"  "9,0,1,"  "9,0,"  "9,10,2,"  "9,10,2,1,9,10,2,1,"  "1");
    CHECK_STR(time_column(f, CHROPROF__WEIGHT),
              "0.000030,0.000020,0.000030,0.000020,"
              "0.000003,0.000002,0.000015,"
              "0.000026,0.000002,"
              "0.000005,0.000002,0.000025,"
              "0.000016,0.000004,"
              "0.000014,0.000004,0.000001,"
              "0.000008,0.000008,0.000003,0.000021,0.000008,0.000008,0.000003,0.000022,"
              "0.000000");
    CHECK_STR(time_column(f, CHROPROF__TIME),
              "0.000000,0.000030,0.000050,0.000080,"
              "0.000100,0.000103,0.000105,"
              "0.000120,0.000146,"
              "0.000148,0.000153,0.000155,"
              "0.000180,0.000196,"
              "0.000200,0.000214,0.000218,"
              "0.000219,0.000227,0.000235,0.000238,0.000259,0.000267,0.000275,0.000278,"
              "0.000300");
    CHECK_STR(time_column(f, CHROPROF__LENGTH), "");
    CHECK_EQ(chroprof__firefox_samples(f, CHROPROF__THREAD_TIME, CHROPROF__LENGTH), 26);
}

/* Six of the site, five of others in a stall [3, 8), two untracked and two idle; the bin ends at
 * 15, where another stall begins. Before the first there are 1.8, 0.6 and 0.6, rounded one too
 * many: so the stall is shown a ns late, and ends at 9. What is left is one mix up to 15: it is not
 * cut where the second stall would begin. */
TEST(a_stall_at_the_end_of_a_bin)
{
    chroprof__firefox *f = five_rows();
    f->chunks = 1;
    f->bins = 2;
    f->ns[0][0] = 6;
    f->ns[1][0] = 5;
    f->ns[2][0] = f->ns[4][0] = 2;
    f->ns[0][1] = 5;
    f->piece_count = 2;
    f->pieces[0] = piece_of(3, 8);
    f->pieces[1] = piece_of(15, 20);
    f->pieces[0].rows[0] = 1;
    f->pieces[0].ns[0] = f->pieces[1].ns[0] = 5;
    CHECK_STR(time_column(f, CHROPROF__STACK), "9,2,1,10,9,2,1,9,1");
    CHECK_STR(time_column(f, CHROPROF__WEIGHT),
              "0.000002,0.000001,0.000001,0.000005,"
              "0.000004,0.000001,0.000001,0.000005,0.000000");
    CHECK_STR(time_column(f, CHROPROF__TIME),
              "0.000000,0.000002,0.000003,0.000004,"
              "0.000009,0.000013,0.000014,0.000015,0.000020");
}

/* >>markers */

TEST(shares_have_six_places)
{
    static const struct { uint64_t value, whole; const char *text; } rows[] = {
        { 0, 0, "0.000000" }, { 0, 1, "0.000000" }, { 1, 1, "1.000000" }, { 1, 3, "0.333333" },
        { 2, 3, "0.666666" }, { 1, 1000000, "0.000001" }, { 1, 1000001, "0.000000" },
        { UINT64_C(3) << 38, UINT64_C(1) << 40, "0.750000" },
        { UINT64_C(5) << 40, UINT64_C(1) << 43, "0.625000" },
        { UINT64_C(1) << 63, UINT64_MAX, "0.500000" }, { UINT64_MAX, UINT64_MAX, "1.000000" },
        { UINT64_C(3) << 61, UINT64_C(1) << 63, "0.750000" },
        { (UINT64_C(1) << 40) - 1, (UINT64_C(1) << 40) - 1, "1.000000" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__out *out = out_of_bytes();
        chroprof__put_share(out, rows[k].value, rows[k].whole);
        CHECK_STR(bytes_of(out), rows[k].text);
    }
}

TEST(shares_of_a_bin_add_up)
{
    chroprof__firefox *f = three_bins();
    chroprof__firefox_use_data(f, 1);
    CHECK_STR(bytes_of(f->out), "{\"type\":\"Use\",\"s0\":0.500000,\"s1\":0.000000,\"s2\":0.000000,"
                                "\"s3\":0.100000}");
}

static const char *stall_column(const chroprof *p, const chroprof_stall *stall, uint32_t column)
{
    chroprof__firefox *f = read_firefox(p);
    f->out = out_of_bytes();
    chroprof__firefox_stall(f, stall, column);
    return bytes_of(f->out);
}

/* Samples first, then slices, then the loop. What lies behind the counts is nothing. */
TEST(the_cause_of_a_stall)
{
    chroprof *p = sampled_scene();
    chroprof__firefox *f = read_firefox(p);
    chroprof_stall stall;
    uint32_t node;
    memset(&stall, 0, sizeof stall);
    CHECK_EQ(f->nodes, 5);
    stall.slices[0].path = 7;
    stall.slices[0].exec_ns = 4000000;
    stall.slices[0].name = "seven";
    stall.start_ns = 2000000;
    stall.length_ns = 5000000;
    stall.events = 6;
    stall.samples[0].stack = 2;
    CHECK_EQ(chroprof__firefox_cause(f, &stall), CHROPROF__LOOP);
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_CATEGORY), "2");
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_DATA),
              "{\"type\":\"Stall\",\"handler\":\"(loop)\",\"slice\":0.000000,\"dur\":5.000000,"
              "\"events\":6,\"cause\":{\"stack\":0,\"time\":2.000000,\"tid\":1}}");
    stall.slice_count = 1;
    CHECK_EQ(chroprof__firefox_cause(f, &stall), 7);
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_DATA),
              "{\"type\":\"Stall\",\"handler\":\"seven\",\"slice\":4.000000,\"dur\":5.000000,"
              "\"events\":6,\"cause\":{\"stack\":7,\"time\":2.000000,\"tid\":1}}");
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_NAME), "3");
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_START), "2.000000");
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_END), "7.000000");
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_PHASE), "1");
    stall.kind = CHROPROF_STALL_PASS;
    CHECK_STR(stall_column(p, &stall, CHROPROF__MARK_NAME), "4");
    stall.sample_count = 1;
    f = read_firefox(p);
    for (node = 0; node < 8; node++) {
        stall.samples[0].stack = node;
        CHECK_EQ(chroprof__firefox_cause(f, &stall),
                 node >= 1 && node <= 5 ? f->first_node + node - 1 : 7);
    }
}

/* >>code */

TEST(functions_are_found_by_their_keys)
{
    static chroprof__codes codes;
    uint64_t other = 1;
    memset(&codes, 0, sizeof codes);
    while (chroprof__hash_index(other, 512) != chroprof__hash_index(0, 512))
        other++;
    CHECK_EQ(chroprof__codes_find(&codes, 0, 5), 5);
    CHECK_EQ(chroprof__codes_find(&codes, 0, 7), 5);
    CHECK_EQ(chroprof__codes_find(&codes, other, 8), 8);
    CHECK_EQ(chroprof__codes_find(&codes, 0, 9), 9);
    memset(&codes, 0, sizeof codes);
    CHECK_EQ(chroprof__codes_find(&codes, 77, 1), 1);
    CHECK_EQ(chroprof__codes_find(&codes, 77, 3), 1);
}

/* Code below no task, which calls itself: its first frame has no category, and stands for both. */
TEST(code_that_no_task_called)
{
    const uint64_t one = chroprof__item(CHROPROF__RETURN, OUTSIDE);
    const uint64_t two = chroprof__item(CHROPROF__RETURN, OUTSIDE + 8);
    chroprof *p = scene();
    chroprof__entry e = entry_of(1, 1);
    chroprof__site *site = chroprof__sites(p->core) + chroprof__site_count(p);
    e.items[e.count++] = one;
    e.items[e.count++] = two;
    e.items[e.count++] = one;
    absorb(p, &e);
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 3);
    *site = site[-1];
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "category"),
              "2,0,3,1,4,4,6,5,1,0,1,null,null,null");
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "subcategory"),
              "0,0,0,0,0,0,0,0,0,0,0,null,null,null");
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "line"),
              "null,null,null,null,10,20,7,5,null,null,null,null,null,null");
    CHECK_STR(column_of(firefox_of(p), "\"frameTable\"", "func"),
              "0,1,2,3,4,5,6,7,8,9,10,11,12,11");
    CHECK_STR(column_of(firefox_of(p), "\"stackTable\"", "prefix"),
              "null,null,null,null,3,3,5,null,3,null,null,null,null,null,null,null,null,16,17");
    harness_keep_none();
}

/* As a debugger wants them: as many digits as there are. The first one is in a file. */
TEST(addresses_have_the_digits_they_need)
{
    static const uint64_t addresses[] = { LIBRARY + 0x20, 5, 16, 0xabcdef, 0xfedcba987654 };
    chroprof *p = scene();
    uint32_t k;
    add_library(p);
    for (k = 0; k < 5; k++) {
        chroprof__entry e = entry_of(1, 1);
        e.items[e.count++] = chroprof__item(CHROPROF__PC, addresses[k]);
        absorb(p, &e);
    }
    CHECK_EQ(p->core->tables[CHROPROF__STACKS].used, 5);
    CHECK(strstr(firefox_of(p), ",\"/usr/lib/libslow.so\",\"0x120\",\"0x5\",\"0x10\","
                                "\"0xabcdef\",\"0xfedcba987654\"]") != NULL);
    CHECK_STR(column_of(firefox_of(p), "\"funcTable\"", "resource"),
              "0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0");
}

#define TIMELINE_CASES                                                                             \
    CASE(windows_are_put_into_bins), CASE(windows_of_a_group_share_a_bin),                         \
    CASE(cells_are_read_into_bins), CASE(cells_of_other_sites_are_read),                           \
    CASE(all_others_have_the_rest_of_a_bin), CASE(ticks_of_bins_become_ns),                        \
    CASE(rows_are_of_sites), CASE(eight_files_have_a_colour),                                      \
    CASE(nothing_is_read_behind_the_last_row), CASE(pieces_are_in_order_and_apart),                \
    CASE(a_piece_has_the_slices_of_its_stall), CASE(turns_tell_more_than_passes),                  \
    CASE(samples_may_end_late), CASE(long_samples_are_shown_in_parts),                             \
    CASE(gaps_are_longer_than_two_ticks), CASE(draws_are_shown_where_futures_paused),              \
    CASE(the_interval_is_that_of_the_timer), CASE(threads_have_names_and_units),                   \
    CASE(only_counted_samples_have_cpu_time), CASE(the_product_is_the_name_or_the_program),        \
    CASE(trees_have_a_cell_of_each_path), CASE(parts_add_up), CASE(a_bin_begins_with_all_it_has),  \
    CASE(pieces_of_one_ns), CASE(each_slice_of_a_piece_is_taken),                                  \
    CASE(a_mix_has_cells_that_look_alike), CASE(a_mix_has_no_more_cells_than_chunks),              \
    CASE(stalls_are_where_they_were),                                                              \
    CASE(a_stall_at_the_end_of_a_bin),                                                             \
    CASE(shares_have_six_places), CASE(shares_of_a_bin_add_up), CASE(the_cause_of_a_stall),        \
    CASE(functions_are_found_by_their_keys), CASE(code_that_no_task_called),                       \
    CASE(addresses_have_the_digits_they_need)

#endif
