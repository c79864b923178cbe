/* tests/inside_formats.h - part of test_inside.c: the formats of other programs, byte for byte
 * against writers of our own that are as plain as they can be: each works out of the public reads
 * what a page must be. No two figures of a scene are alike, so that none stands for another. */
#ifndef INSIDE_FORMATS_H
#define INSIDE_FORMATS_H

/* >>pieces of pages */

static harness_output *bytes_out(void)
{
    static harness_output output;
    return &output;
}

/* An output into bytes_out, which is empty. */
static chroprof__out *out_of_bytes(void)
{
    static chroprof__out out;
    memset(&out, 0, sizeof out);
    memset(bytes_out()->bytes, 0, 64);
    bytes_out()->used = 0;
    out.write = harness_collect;
    out.user = bytes_out();
    return &out;
}

static const char *bytes_of(chroprof__out *out)
{
    chroprof__flush(out);
    return bytes_out()->bytes;
}

TEST(decimals_have_all_their_places)
{
    static const struct { uint64_t value; uint32_t places; const char *text; } rows[] = {
        { 0, 1, "0.0" }, { 9, 1, "0.9" }, { 10, 1, "1.0" }, { 12, 1, "1.2" }, { 109, 2, "1.09" },
        { 99, 2, "0.99" }, { 100, 2, "1.00" }, { 999, 3, "0.999" }, { 1000, 3, "1.000" },
        { 10234, 4, "1.0234" }, { 9999, 4, "0.9999" }, { 99999, 5, "0.99999" },
        { 100000, 5, "1.00000" }, { 0, 6, "0.000000" }, { 1, 6, "0.000001" },
        { 999999, 6, "0.999999" }, { 1000000, 6, "1.000000" }, { 1234567, 6, "1.234567" },
        { 9999999, 7, "0.9999999" }, { 10000000, 7, "1.0000000" }, { 99999999, 8, "0.99999999" },
        { 100000000, 8, "1.00000000" }, { 999999999, 9, "0.999999999" },
        { 1000000000, 9, "1.000000000" }, { 20000000003, 9, "20.000000003" },
        { UINT64_MAX, 9, "18446744073.709551615" }, { UINT64_MAX, 1, "1844674407370955161.5" },
        { UINT64_MAX, 6, "18446744073709.551615" },
        { UINT64_C(9876543210987654321), 3, "9876543210987654.321" }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof__out *out = out_of_bytes();
        chroprof__put_fixed(out, rows[k].value, rows[k].places);
        CHECK_STR(bytes_of(out), rows[k].text);
    }
}

/* The largest, in falling order; of equal ones the older. Whatever comes, in any order, it is what
 * is left of all of them when they are sorted. */
TEST(the_largest_are_picked)
{
    enum { MOST = 8 };
    static const uint64_t keys[] = { 5, 9, 5, 0, 7, 9, 5, 0, 9, 1, 8, 5 };
    uint32_t limit, n, k, i;
    for (limit = 1; limit <= MOST; limit++) {
        chroprof__pick picks[MOST + 1];
        uint32_t count = 0;
        memset(picks, 0x5a, sizeof picks);
        for (n = 0; n < sizeof keys / sizeof *keys; n++) {
            count = chroprof__pick_add(picks, count, limit, keys[n], n);
            CHECK_EQ(count, n + 1 < limit ? n + 1 : limit);
            for (k = 0; k <= n; k++) {
                uint32_t place = 0;
                for (i = 0; i <= n; i++)
                    place += keys[i] > keys[k] || (keys[i] == keys[k] && i < k);
                if (place < count) {
                    CHECK_EQ(picks[place].key, keys[k]);
                    CHECK_EQ(picks[place].site, k);
                }
            }
            CHECK_EQ(picks[limit].key, UINT64_C(0x5a5a5a5a5a5a5a5a));
        }
    }
}

/* >>Prometheus */

/* A text that is put together; the limit of a page is that of harness_output. */
typedef struct page { size_t used; char bytes[2 << 20]; } page;

static page *our_page(void)
{
    static page all;
    return &all;
}

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void say(const char *format, ...)
{
    page *all = our_page();
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(all->bytes + all->used, sizeof all->bytes - all->used, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < sizeof all->bytes - all->used);
    all->used += (size_t)length;
}

static int page_collect(void *user, const void *bytes, size_t count)
{
    page *all = (page *)user;
    if (count > sizeof all->bytes - 1 - all->used)
        return 1;
    memcpy(all->bytes + all->used, bytes, count);
    all->used += count;
    all->bytes[all->used] = '\0';
    return 0;
}

/* The first line that differs is told. */
static void same_page(int line, const page *got)
{
    const page *want = our_page();
    size_t i = 0, start = 0;
    for (; i < want->used && i < got->used && got->bytes[i] == want->bytes[i]; i++)
        start = got->bytes[i] == '\n' ? i + 1 : start;
    if (i < want->used || i < got->used)
        harness_fail(__FILE__, line, "\"%.*s\", not \"%.*s\"",
                     (int)strcspn(got->bytes + start, "\n"), got->bytes + start,
                     (int)strcspn(want->bytes + start, "\n"), want->bytes + start);
}

enum { MANY_SITES = CHROPROF__GATHERED + 40 };

typedef struct metric {
    const char *name, *result;
    bool seconds;
    uint64_t (*of)(const chroprof_rank *r);
    uint64_t (*by)(const chroprof_rank *r);    /* NULL: as the options say */
    const char *help, *type;                   /* NULL: of the metric before it */
} metric;

#define FIGURE(name) \
    static uint64_t figure_##name(const chroprof_rank *r) { return r->name; }
FIGURE(exec_ns)
FIGURE(with_children_ns)
FIGURE(wall_ns)
FIGURE(delay_ns)
FIGURE(blame_ns)
FIGURE(stillborn)
FIGURE(live)
FIGURE(completed)
FIGURE(failed)
FIGURE(cancelled)
FIGURE(abandoned)
FIGURE(calls)
FIGURE(slice_max_ns)
#undef FIGURE

static const metric metrics[] = {
    { "exec_seconds_total", "", true, figure_exec_ns, figure_exec_ns,
      "Time that futures of a site occupied the event loop.", "counter" },
    { "with_children_seconds_total", "", true, figure_with_children_ns, figure_with_children_ns,
      "The same with everything below them in the tree of creations.", "counter" },
    { "wall_seconds_total", "", true, figure_wall_ns, figure_wall_ns,
      "Time from creation to finish of futures, or to now while they live.", "counter" },
    { "delay_seconds_total", "", true, figure_delay_ns, figure_delay_ns,
      "Time that futures were ready and did not run.", "counter" },
    { "blame_seconds_total", "", true, figure_blame_ns, figure_blame_ns,
      "Delay of all ready futures while this site occupied the loop.", "counter" },
    { "stillborn_total", "", false, figure_stillborn, figure_stillborn,
      "Futures that were created already finished.", "counter" },
    { "live_futures", "", false, figure_live, NULL,
      "Futures that were created and have not ended.", "gauge" },
    { "calls_total", ",result=\"completed\"", false, figure_completed, figure_completed,
      "Futures that ended, by result.", "counter" },
    { "calls_total", ",result=\"failed\"", false, figure_failed, figure_failed, NULL, NULL },
    { "calls_total", ",result=\"cancelled\"", false, figure_cancelled, figure_cancelled, NULL,
      NULL },
    { "calls_total", ",result=\"abandoned\"", false, figure_abandoned, figure_abandoned, NULL,
      NULL }
};

/* The sites by id, and which of them are shown. */
typedef struct sites_shown {
    size_t count;
    uint32_t top;
    uint64_t (*by)(const chroprof_rank *r);
    chroprof_rank rows[MANY_SITES];
    bool shown[MANY_SITES];
} sites_shown;

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const chroprof_rank *)a)->id, y = ((const chroprof_rank *)b)->id;
    return (x > y) - (x < y);
}

/* Those that fewer than `top` are ahead of; not "(other)", which is the rest. */
static void choose(sites_shown *s, uint64_t (*by)(const chroprof_rank *r))
{
    uint32_t round, most;
    size_t k;
    for (k = 0; k < s->count; k++)
        s->shown[k] = s->top == 0;
    for (round = 0; round < s->top; round++) {
        most = UINT32_MAX;
        for (k = 0; k < s->count; k++)
            if (s->rows[k].id > 3 && !s->shown[k] &&
                (most == UINT32_MAX || by(s->rows + k) > by(s->rows + most)))
                most = (uint32_t)k;
        if (most != UINT32_MAX)
            s->shown[most] = true;
    }
}

static void say_labels(const chroprof_rank *r)
{
    say("{name=\"%s\",file=\"%s\",line=\"%" PRIu32 "\"", r->name, r->file, r->line);
}

static void say_value(bool seconds, uint64_t value)
{
    if (seconds)
        say(" %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000, value % 1000000000);
    else
        say(" %" PRIu64 "\n", value);
}

static void say_head(const char *name, const char *help, const char *type)
{
    say("# HELP chroprof_%s %s\n# TYPE chroprof_%s %s\n", name, help, name, type);
}

static void say_metric(sites_shown *s, const metric *m)
{
    uint64_t rest = 0;
    size_t k;
    if (m->help != NULL)
        say_head(m->name, m->help, m->type);
    choose(s, m->by != NULL ? m->by : s->by);
    for (k = 0; k < s->count; k++) {
        if (!s->shown[k]) {
            rest += m->of(s->rows + k);
            continue;
        }
        say("chroprof_%s", m->name);
        say_labels(s->rows + k);
        say("%s}", m->result);
        say_value(m->seconds, m->of(s->rows + k));
    }
    if (s->top == 0)
        return;
    say("chroprof_%s{name=\"(other)\",file=\"\",line=\"0\"%s}", m->name, m->result);
    say_value(m->seconds, rest);
}

static void say_total(const char *name, bool seconds, uint64_t value, const char *help)
{
    say_head(name, help, "counter");
    say("chroprof_%s", name);
    say_value(seconds, value);
}

static void say_totals(const chroprof *p)
{
    chroprof_totals t = totals_of(p);
    say_total("elapsed_seconds_total", true, t.elapsed_ns, "Profile time: busy, idle and loop.");
    say_total("busy_seconds_total", true, t.busy_ns, "Time of futures, untracked included.");
    say_total("idle_seconds_total", true, t.idle_ns, "Time blocked in the operating system.");
    say_total("loop_seconds_total", true, t.loop_ns, "Time neither of futures nor idle.");
    say_total("untracked_seconds_total", true, t.untracked_ns,
              "Time of futures that are not known, part of busy.");
    say_total("idle_blame_seconds_total", true, t.idle_blame_ns,
              "Delay of ready futures while idle.");
    say_total("loop_blame_seconds_total", true, t.loop_blame_ns,
              "Delay of ready futures in time of the loop's own.");
    say_total("untracked_blame_seconds_total", true, t.untracked_blame_ns,
              "Delay of ready futures in untracked time.");
    say_total("events_total", false, t.events, "Events taken.");
    say_total("passes_total", false, t.passes, "Passes of the loop, from one idle to the next.");
    say_total("turns_total", false, t.turns, "Outermost stays on the running stack.");
    say_total("stalls_total", false, t.stalls, "Turns and passes that were too long.");
}

/* Slices whose bucket has its middle at no more than this; one that an event keeps back counts. */
static uint64_t slices_until(const chroprof *p, const chroprof_rank *r, uint64_t ns)
{
    const chroprof__core *c = p->core;
    uint32_t row = p->paths[chroprof__sites(c)[r->id].first_path].histogram, k;
    uint64_t count = 0;
    for (k = 0; k < CHROPROF__BUCKETS; k++)
        if (chroprof__ns(c, chroprof__bucket_value(k)) <= ns) {
            count += chroprof__histogram_rows(c)[row].slice.count[k];
            if ((c->held & CHROPROF__HELD_SLICE) != 0 && c->held_slice_row == row &&
                chroprof__bucket(c->held_slice) == k)
                count++;
        }
    return count;
}

static void say_histogram(const chroprof *p, const chroprof_rank *r)
{
    static const struct { const char *text; uint64_t ns; } bounds[] = {
        { "0.000001", 1000 }, { "0.00001", 10000 }, { "0.0001", 100000 }, { "0.0005", 500000 },
        { "0.001", 1000000 }, { "0.0025", 2500000 }, { "0.005", 5000000 }, { "0.01", 10000000 },
        { "0.025", 25000000 }, { "0.05", 50000000 }, { "0.1", 100000000 },
        { "0.25", 250000000 }, { "1", 1000000000 }, { "10", 10000000000 }, { "+Inf", UINT64_MAX }
    };
    size_t k;
    for (k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        say("chroprof_slice_duration_seconds_bucket");
        say_labels(r);
        say(",le=\"%s\"} %" PRIu64 "\n", bounds[k].text, slices_until(p, r, bounds[k].ns));
    }
    say("chroprof_slice_duration_seconds_sum");
    say_labels(r);
    say("}");
    say_value(true, r->exec_ns);
    say("chroprof_slice_duration_seconds_count");
    say_labels(r);
    say("} %" PRIu64 "\n", slices_until(p, r, UINT64_MAX));
}

static void say_histograms(const chroprof *p, sites_shown *s)
{
    size_t k;
    say_head("slice_duration_seconds",
             "Length of the slices that ended; its sum has the one under way.", "histogram");
    choose(s, s->by);
    for (k = 0; k < s->count; k++)
        if (s->shown[k] && s->rows[k].has_percentiles)
            say_histogram(p, s->rows + k);
}

static void say_anomalies(const chroprof *p)
{
    static const char *const kinds[] = {
        "unknown_ready", "unknown_running", "unknown_paused", "unknown_finish", "adopted",
        "not_running", "lost_pause", "buried_finish", "unwound_by_pause", "unwound_by_switch",
        "unwound_by_idle", "unwound_by_loop", "barrier_crossed", "leave_without_enter",
        "loop_leave_without_enter", "idle_leave_without_enter", "time_back", "long_step",
        "ready_ahead", "id_zero", "site_null", "bad_state", "event_in_callback"
    };
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t k;
    CHECK_EQ(sizeof kinds / sizeof *kinds, CHROPROF_ANOMALY_COUNT);
    CHECK_EQ(chroprof_anomalies(p, rows, CHROPROF_ANOMALY_COUNT), CHROPROF_ANOMALY_COUNT);
    say_head("anomalies_total", "What the host did that was not in order.", "counter");
    for (k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        say("chroprof_anomalies_total{kind=\"%s\"} %" PRIu64 "\n", kinds[k], rows[k].count);
}

static void say_tables(const chroprof *p)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t k, count = chroprof_tables(p, rows, CHROPROF_TABLE_COUNT);
    CHECK_EQ(count, CHROPROF_TABLE_COUNT);
    say_head("table_capacity", "Rows that a table has.", "gauge");
    for (k = 0; k < count; k++)
        say("chroprof_table_capacity{table=\"%s\"} %" PRIu64 "\n", rows[k].name,
            (uint64_t)rows[k].capacity);
    say_head("table_used", "Rows in use.", "gauge");
    for (k = 0; k < count; k++)
        say("chroprof_table_used{table=\"%s\"} %" PRIu64 "\n", rows[k].name,
            (uint64_t)rows[k].used);
    say_head("table_dropped_total", "How often something did not fit.", "counter");
    for (k = 0; k < count; k++)
        say("chroprof_table_dropped_total{table=\"%s\"} %" PRIu64 "\n", rows[k].name,
            (uint64_t)rows[k].dropped);
}

/* The page that a profile must have; its name needs no care. */
static void say_exposition(const chroprof *p, sites_shown *s)
{
    size_t k;
    our_page()->used = 0;
    s->count = chroprof_ranks(p, s->rows, MANY_SITES, CHROPROF_BY_EXEC);
    CHECK(s->count <= MANY_SITES);
    qsort(s->rows, s->count, sizeof *s->rows, by_id);
    say_head("info", "The profile.", "gauge");
    say("chroprof_info{profile=\"%s\",version=\"" CHROPROF_VERSION "\"} 1\n", p->core->name);
    if (totals_of(p).start_unix_ns != 0) {
        say_head("start_time_seconds", "Calendar time of profile time 0.", "gauge");
        say("chroprof_start_time_seconds");
        say_value(true, totals_of(p).start_unix_ns);
    }
    say_totals(p);
    for (k = 0; k < sizeof metrics / sizeof *metrics; k++)
        say_metric(s, metrics + k);
    say_histograms(p, s);
    say_anomalies(p);
    say_tables(p);
}

#define exposed(p, top, by) exposed_at(__LINE__, p, top, by)

static void exposed_at(int line, chroprof *p, uint32_t top, chroprof_order by)
{
    static uint64_t (*const figures[])(const chroprof_rank *r) = {
        figure_exec_ns, figure_with_children_ns, figure_slice_max_ns, figure_blame_ns,
        figure_delay_ns, figure_calls
    };
    static sites_shown shown;
    static page got;
    chroprof_prometheus_options options;
    memset(&options, 0, sizeof options);
    options.top = top;
    options.by = by;
    shown.top = top < 100 ? top : 100;
    shown.by = figures[by];
    say_exposition(p, &shown);
    got.used = 0;
    CHECK_EQ(chroprof_write_prometheus(p, &options, page_collect, &got), 0);
    same_page(line, &got);
    if (top != 0)
        return;
    got.used = 0;
    CHECK_EQ(chroprof_write(p, CHROPROF_PROMETHEUS, page_collect, &got), 0);
    same_page(line, &got);
    got.used = 0;
    CHECK_EQ(chroprof_write_prometheus(p, NULL, page_collect, &got), 0);
    same_page(line, &got);
}

/* Another number each time, with this many digits or so; the same ones in each case. */
static uint64_t *another_state(void)
{
    static uint64_t state;
    return &state;
}

static uint64_t another(uint64_t digits)
{
    return random_below(another_state(), digits) + digits / 3 + 1;
}

/* No two sites have their order from the same figure. */
static void fill_paths(const chroprof *p)
{
    uint32_t k, count = chroprof__path_count(p);
    for (k = 0; k < count; k++) {
        chroprof__path *row = p->paths + k;
        row->exec = another(3000000000);
        row->blame = another(500000000000);
        row->slice_max = another(90000000);
        if (k < CHROPROF__FIRST_PATH)
            continue;
        row->completed = another(70000);
        row->failed = another(9000);
        row->cancelled = another(800);
        row->abandoned = another(300000);
        row->stillborn = another(5000000);
        row->merged_live = another(50);
        row->calls = row->completed + row->failed + row->cancelled + row->abandoned + row->live +
                     row->merged_live;
        row->wall = another(8000000000000) - row->live * p->core->last;
        row->delay = another(40000000000) - row->ready * p->core->last;
    }
}

static void fill_totals(chroprof__core *c)
{
    uint32_t k;
    c->last = 900000000000;
    c->passes = 1001;
    c->turns = 2002;
    c->stalls = 3003;
    c->start_unix_ns = UINT64_C(1700000000123456789);
    for (k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        c->anomalies[k] = 100 + k;
    for (k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        c->tables[k].dropped = 9000 + k;
        c->tables[k].used = 500 + k;
    }
}

static void fill_histograms(const chroprof *p)
{
    uint32_t k, i;
    for (k = CHROPROF__FIRST_PATH; k < chroprof__path_count(p); k++)
        for (i = 0; i < CHROPROF__BUCKETS && p->paths[k].histogram != 0; i++)
            chroprof__histogram_rows(p->core)[p->paths[k].histogram].slice.count[i] = another(1000);
}

/* Slices under way may be longer than any that ended. The barrier's would be, by far. */
static void fill_frames(const chroprof *p)
{
    uint32_t k;
    for (k = 0; k <= p->core->depth; k++) {
        chroprof__frame *row = p->frames + k;
        uint64_t end = k < p->core->depth ? row[1].pushed : p->core->last;
        row->start = end - another(90000000);
        if ((row->kind & CHROPROF__BARRIER) != 0)
            row->start = end - UINT64_C(1000000000000);
    }
}

/* What lies behind the last row of paths and of sites looks like rows, and is none. */
static void spoil_the_rows_behind(const chroprof *p)
{
    chroprof__path *path = p->paths + chroprof__path_count(p);
    chroprof__site *site = chroprof__sites(p->core) + chroprof__site_count(p);
    *path = path[-1];
    *site = site[-1];
    CHECK(site->first_path != 0);
}

TEST(the_exposition_has_every_figure)
{
    chroprof *p = scene();
    uint32_t top, by;
    *another_state() = 11;
    CHECK_EQ(p->core->depth, 5);
    for (top = 0; top < 9; top++)           /* some sites have nothing of a figure */
        exposed(p, top, CHROPROF_BY_EXEC);
    fill_paths(p);
    fill_histograms(p);
    spoil_the_rows_behind(p);
    for (by = 0; by < 6; by++)
        for (top = 0; top < 6; top++)
            exposed(p, top, (chroprof_order)by);
    for (top = 0; top < 30; top++) {        /* any order of the sites */
        fill_paths(p);
        fill_frames(p);
        exposed(p, 1 + top % 2, top % 3 != 0 ? CHROPROF_BY_SLICE_MAX : (chroprof_order)(top % 6));
    }
    harness_keep_none();
}

/* Sites that no path has, as a table may keep them, are not shown. */
TEST(the_exposition_leaves_out_unused_sites)
{
    chroprof *p = scene();
    CHECK(chroprof_site_make(p, "never used", "", 0) != NULL);
    exposed(p, 0, CHROPROF_BY_EXEC);
    exposed(p, 6, CHROPROF_BY_EXEC);
    CHECK(strstr(our_page()->bytes, "never used") == NULL);
}

/* Two sites, of which the second is that of all that found no place. */
TEST(the_exposition_of_a_full_table)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.max_sites = 1;
    p = fresh(&o);
    at(p, 10, ENTER, 0, &A);
    at(p, 2000000, ENTER, 0, &B);
    at(p, 2000500, ENTER, 0, &C);
    at(p, 2000507, LEAVE, 0, NULL);
    at(p, 2000511, LEAVE, 0, NULL);
    CHECK_EQ(rank_of(p, "(other)").exec_ns, 511);
    CHECK(!rank_of(p, "(other)").has_percentiles);
    exposed(p, 0, CHROPROF_BY_EXEC);
    p->paths[4].histogram = 1;              /* has none, as a rule */
    CHECK(rank_of(p, "(other)").has_percentiles);
    exposed(p, 0, CHROPROF_BY_EXEC);
    exposed(p, 1, CHROPROF_BY_CALLS);
    exposed(p, 2, CHROPROF_BY_CALLS);
    harness_keep_none();
}

TEST(the_exposition_has_every_total)
{
    chroprof *p = scene();
    chroprof__table sites = p->core->tables[CHROPROF_TABLE_SITES];
    chroprof__table paths = p->core->tables[CHROPROF_TABLE_PATHS];
    *another_state() = 11;
    fill_paths(p);
    fill_totals(p->core);
    p->core->tables[CHROPROF_TABLE_SITES].used = sites.used;
    p->core->tables[CHROPROF_TABLE_PATHS].used = paths.used;
    memcpy(p->core->name, "loop 7", 7);
    exposed(p, 0, CHROPROF_BY_EXEC);
    exposed(p, 2, CHROPROF_BY_BLAME);
    p->core->start_unix_ns = 0;
    exposed(p, 0, CHROPROF_BY_EXEC);
    harness_keep_none();
}

/* A tick is as long as it takes that the middle of some bucket is this many ns, or up to slack more
 * where the fraction of a tick is too coarse for it. */
static void have_a_middle_at(chroprof__core *c, uint64_t ns, uint64_t slack)
{
    uint64_t middle = chroprof__bucket_value(chroprof__bucket(ns) - 1);
    c->factor = (ns / middle << 32) + (ns % middle << 32) / middle + 1;
    CHECK_IN(chroprof__ns(c, middle), ns, ns + slack);
}

/* A middle that is a bound is below it, one that is 1 ns more is not. */
TEST(slices_at_a_bound_are_below_it)
{
    static const uint64_t bounds_us[] = { 1, 10, 100, 500, 1000, 2500, 5000, 10000, 25000, 50000,
                                          100000, 250000, 1000000, 10000000 };
    chroprof *p = scene();
    size_t k;
    *another_state() = 11;
    fill_histograms(p);
    for (k = 0; k < sizeof bounds_us / sizeof *bounds_us; k++) {
        have_a_middle_at(p->core, 1000 * bounds_us[k], 0);
        exposed(p, 1, CHROPROF_BY_EXEC);
        have_a_middle_at(p->core, 1000 * bounds_us[k] + 1, 1);
        exposed(p, 1, CHROPROF_BY_EXEC);
    }
    harness_keep_none();
}

/* What an event keeps back is counted with its own row only. */
TEST(slices_that_are_held_back_are_counted)
{
    chroprof *p = scene();
    chroprof__core *c = p->core;
    uint32_t path;
    *another_state() = 11;
    fill_histograms(p);
    c->held |= CHROPROF__HELD_SLICE;
    for (path = CHROPROF__FIRST_PATH; path < chroprof__path_count(p); path++) {
        c->held_slice_row = p->paths[path].histogram;
        c->held_slice = another(40000);
        exposed(p, 0, CHROPROF_BY_EXEC);
        c->held_slice = 3;
        exposed(p, 0, CHROPROF_BY_EXEC);
    }
    c->held &= ~(uint32_t)CHROPROF__HELD_SLICE;
    exposed(p, 0, CHROPROF_BY_EXEC);
    harness_keep_none();
}

/* Sites are gathered by the thousand, from the one of all others on or from the next one: one less
 * than fits, just as many, and one more. The table of sites is full in the end, and "(other)" is
 * used. All of the last ones have a histogram, which they share. */
TEST(the_exposition_of_many_sites)
{
    static char names[MANY_SITES][8];
    chroprof_site site = { NULL, "f", 7 };
    chroprof_options o;
    chroprof *p;
    uint32_t k;
    *another_state() = 11;
    memset(&o, 0, sizeof o);
    o.max_sites = CHROPROF__GATHERED + 1;
    o.max_paths = o.max_edges = MANY_SITES;
    o.max_histograms = 3;
    o.max_windows = o.max_samples = 1;
    p = fresh(&o);
    for (k = 0; k < CHROPROF__GATHERED + 3; k++) {
        snprintf(names[k], sizeof names[k], "n%u", (unsigned)k);
        site.name = names[k];
        chroprof_event(p, CHROPROF_ENTER, 0, &site, 10 * k);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10 * k + 9);
        p->paths[chroprof__path_count(p) - 1].histogram = 1;
        CHECK_EQ(chroprof__gathered_end(p, 4), chroprof__site_count(p) < 4 + CHROPROF__GATHERED
                                               ? chroprof__site_count(p) : 4 + CHROPROF__GATHERED);
        if (k + 3 < CHROPROF__GATHERED)
            continue;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, 10 * k + 9);
        fill_paths(p);
        fill_frames(p);
        exposed(p, 2, CHROPROF_BY_SLICE_MAX);
        p->paths[chroprof__path_count(p) - 1].exec += UINT64_C(4000000000);
        exposed(p, 1, CHROPROF_BY_EXEC);
        p->frames[1].start = p->core->last;
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10 * k + 9);
    }
    for (k = 3; k < chroprof__path_count(p); k++)
        p->paths[k].histogram = k % 100 == 0 || k > CHROPROF__GATHERED - 3;
    exposed(p, 0, CHROPROF_BY_EXEC);
    harness_keep_none();
}

/* No more than 100 are told apart. */
TEST(the_exposition_has_a_hundred_sites_at_most)
{
    static char names[102][8];
    chroprof_site site = { NULL, "f", 7 };
    chroprof *p = fresh(NULL);
    uint32_t k;
    *another_state() = 11;
    for (k = 0; k < 102; k++) {
        snprintf(names[k], sizeof names[k], "n%u", (unsigned)k);
        site.name = names[k];
        chroprof_event(p, CHROPROF_ENTER, 0, &site, 10 * k);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10 * k + 9);
        if (k < 97)
            continue;
        fill_paths(p);
        exposed(p, 99, CHROPROF_BY_EXEC);
        exposed(p, 100, CHROPROF_BY_CALLS);
        exposed(p, 101, CHROPROF_BY_EXEC);
    }
    harness_keep_none();
}

static const char *label_of(const char *text)
{
    chroprof__out *out = out_of_bytes();
    chroprof__put_label(out, ",x", text);
    return bytes_of(out);
}

TEST(labels_are_escaped)
{
    CHECK_STR(label_of(""), ",x=\"\"");
    CHECK_STR(label_of("a b{}=,#\t\r'"), ",x=\"a b{}=,#\t\r'\"");
    CHECK_STR(label_of("\n"), ",x=\"\\n\"");
    CHECK_STR(label_of("1\"2\\3\n4"), ",x=\"1\\\"2\\\\3\\n4\"");
    CHECK_STR(label_of("\xff" "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c\xe2\x82"),
              ",x=\"\xef\xbf\xbd" "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c"
              "\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* U+FFFD itself is a character like others. */
TEST(which_texts_are_utf8)
{
    static const struct { const char *text; bool good; } rows[] = {
        { "", true }, { "abc", true }, { "\xc3\xa4", true }, { "\xef\xbf\xbd", true },
        { "a\xef\xbf\xbd" "b", true }, { "\xff", false }, { "ab\xff", false },
        { "\xe2\x82", false },
        { "\xef\xbf\xbd\xff", false }, { "\xed\xa0\x80", false }, { "\xe2\x82\xac", true },
        { "\xf0\x9f\x90\x8c", true }, { "\xc3", false }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_EQ(chroprof__is_utf8(rows[k].text), rows[k].good);
}

/* The id is there where a name does not tell who it is, and nowhere else. */
TEST(awkward_sites_have_an_id)
{
    static const chroprof_site sites[] = {
        { "(other)", "", 1 }, { "(other)", "f", 2 }, { "(others)", "", 3 }, { "n\xff", "f", 4 },
        { "n", "f\xff", 5 }, { "q\"", "\\", 6 }, { "abc", "", 7 }
    };
    static const char *const lines[] = {
        "{name=\"(other)\",file=\"\",line=\"1\",id=\"4\"} 0.000000010\n",
        "{name=\"(other)\",file=\"f\",line=\"2\"} 0.000000011\n",
        "{name=\"(others)\",file=\"\",line=\"3\"} 0.000000012\n",
        "{name=\"n\xef\xbf\xbd\",file=\"f\",line=\"4\",id=\"7\"} 0.000000013\n",
        "{name=\"n\",file=\"f\xef\xbf\xbd\",line=\"5\",id=\"8\"} 0.000000014\n",
        "{name=\"q\\\"\",file=\"\\\\\",line=\"6\"} 0.000000015\n",
        "{name=\"abc\",file=\"\",line=\"7\",id=\"10\"} 0.000000016\n"
    };
    chroprof *p = fresh(NULL);
    char want[100];
    uint32_t k;
    for (k = 0; k < 7; k++) {
        at(p, 100 * k, ENTER, 0, &sites[k]);
        at(p, 100 * k + 10 + k, LEAVE, 0, NULL);
    }
    chroprof__sites(p->core)[10].cut = 1;
    for (k = 0; k < 7; k++) {
        snprintf(want, sizeof want, "\nchroprof_exec_seconds_total%s", lines[k]);
        if (strstr(written(p, CHROPROF_PROMETHEUS)->bytes, want) == NULL)
            harness_fail(__FILE__, __LINE__, "no %s", lines[k]);
    }
    harness_keep_none();
}

/* >>pprof */

/* A message of profile.proto, which is put together from the inside. */
typedef struct message { size_t size; unsigned char bytes[40000]; } message;

static void add_varint(message *m, uint64_t value)
{
    CHECK(m->size + 10 < sizeof m->bytes);
    while (value > 127) {
        m->bytes[m->size++] = (unsigned char)(128 + value % 128);
        value /= 128;
    }
    m->bytes[m->size++] = (unsigned char)value;
}

static void add_number(message *m, uint32_t field, uint64_t value)
{
    add_varint(m, 8 * field);
    add_varint(m, value);
}

static void add_bytes(message *m, uint32_t field, const void *bytes, size_t size)
{
    add_varint(m, 8 * field + 2);
    add_varint(m, size);
    CHECK(m->size + size < sizeof m->bytes);
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void add_text(message *m, const char *text)
{
    add_bytes(m, 6, text, strlen(text));
}

static void add_pair(message *m, uint32_t field, uint64_t one, uint64_t two)
{
    message pair;
    pair.size = 0;
    add_number(&pair, 1, one);
    add_number(&pair, 2, two);
    add_bytes(m, field, pair.bytes, pair.size);
}

/* A sample of what row has; 0: nothing. The strings have these places: "state" is 8, "idle" 9,
 * "profile" 10 and its name 12. */
static void add_sample(message *m, const chroprof *p, uint32_t path, const uint64_t *values)
{
    message sample, part;
    uint32_t k;
    sample.size = part.size = 0;
    for (k = 0; k < 5 && values[k] == 0; k++) {}
    if (k == 5)
        return;
    for (k = path; k != 0 || k == path; k = p->paths[k].parent) {
        add_varint(&part, (uint64_t)p->paths[k].site + 1);
        if (k == 0)
            break;
    }
    add_bytes(&sample, 1, part.bytes, part.size);
    part.size = 0;
    for (k = 0; k < 5; k++)
        add_varint(&part, values[k] > INT64_MAX ? INT64_MAX : values[k]);
    add_bytes(&sample, 2, part.bytes, part.size);
    if (path == 1)
        add_pair(&sample, 3, 8, 9);
    if (*p->core->name != '\0')
        add_pair(&sample, 3, 10, 12);
    add_bytes(m, 2, sample.bytes, sample.size);
}

/* Path 0 is the loop, 1 idle, 2 untracked; the others are in the order of their ids. */
static void add_samples(message *m, const chroprof *p)
{
    static chroprof_path rows[300];
    chroprof_totals t = totals_of(p);
    uint64_t values[3][5];
    size_t count = chroprof_paths(p, rows, 300), k;
    uint32_t id;
    memset(values, 0, sizeof values);
    values[0][1] = t.loop_ns;
    values[0][4] = t.loop_blame_ns;
    values[1][1] = t.idle_ns;
    values[1][4] = t.idle_blame_ns;
    values[2][1] = t.untracked_ns;
    values[2][4] = t.untracked_blame_ns;
    CHECK(count <= 300);
    for (id = 0; id < 3; id++)
        add_sample(m, p, id, values[id]);
    for (id = 3; id < 3 + count; id++)
        for (k = 0; k < count; k++)
            if (rows[k].id == id) {
                uint64_t of[5];
                of[0] = rows[k].calls;
                of[1] = rows[k].exec_ns;
                of[2] = rows[k].wall_ns;
                of[3] = rows[k].delay_ns;
                of[4] = rows[k].blame_ns;
                add_sample(m, p, id, of);
            }
}

static void add_site(message *m, uint32_t site, uint32_t line)
{
    message at, in;
    at.size = in.size = 0;
    add_number(&in, 1, site + 1);
    add_number(&in, 2, line);
    add_number(&at, 1, site + 1);
    add_number(&at, 2, 1);
    add_bytes(&at, 4, in.bytes, in.size);
    add_bytes(m, 4, at.bytes, at.size);
    in.size = 0;
    add_number(&in, 1, site + 1);
    add_number(&in, 2, 14 + 2 * (uint64_t)site);
    add_number(&in, 3, 14 + 2 * (uint64_t)site);
    add_number(&in, 4, 14 + 2 * (uint64_t)site + 1);
    add_number(&in, 5, line);
    add_bytes(m, 5, in.bytes, in.size);
}

typedef struct known_site { const char *name, *file; uint32_t line; } known_site;

static void add_strings(message *m, const chroprof *p, const known_site *sites, uint32_t count)
{
    static const char *const fixed[] = {
        "", "calls", "count", "exec", "nanoseconds", "wall", "delay", "blame", "state", "idle",
        "profile"
    };
    uint32_t k;
    for (k = 0; k < 11; k++)
        add_text(m, fixed[k]);
    add_text(m, "chroprof " CHROPROF_VERSION);
    add_text(m, p->core->name);
    add_text(m, p->core->program);
    for (k = 0; k < count; k++) {
        add_text(m, sites[k].name);
        add_text(m, sites[k].file);
    }
}

/* sites: all there are, from 0. */
static void same_pprof(chroprof *p, const known_site *sites, uint32_t count)
{
    static message m;
    message mapping;
    const harness_output *got = written(p, CHROPROF_PPROF);
    uint32_t k;
    m.size = mapping.size = 0;
    add_pair(&m, 1, 1, 2);                  /* calls, count */
    add_pair(&m, 1, 3, 4);                  /* exec, wall, delay, blame in nanoseconds */
    add_pair(&m, 1, 5, 4);
    add_pair(&m, 1, 6, 4);
    add_pair(&m, 1, 7, 4);
    add_pair(&m, 11, 3, 4);
    add_number(&m, 12, 1);
    add_samples(&m, p);
    add_number(&mapping, 1, 1);
    add_number(&mapping, 5, 13);
    add_number(&mapping, 7, 1);
    add_bytes(&m, 3, mapping.bytes, mapping.size);
    for (k = 0; k < count; k++)
        add_site(&m, k, sites[k].line);
    add_strings(&m, p, sites, count);
    add_number(&m, 9, totals_of(p).start_unix_ns);
    add_number(&m, 10, totals_of(p).elapsed_ns);
    add_number(&m, 13, 11);
    add_number(&m, 14, 3);
    for (k = 0; k < m.size && k < got->used && m.bytes[k] == (unsigned char)got->bytes[k]; k++) {}
    CHECK_EQ(k, m.size);
    CHECK_EQ(got->used, m.size);
}

/* Lines and ids, and the places of strings, around the ends of one and two bytes. */
TEST(pprof_has_every_field)
{
    enum { SITES = 136 };
    static const uint32_t lines[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX };
    static char names[SITES][8];
    known_site known[SITES];
    chroprof *p = fresh(NULL);
    uint32_t k;
    *another_state() = 11;
    for (k = 0; k < SITES; k++) {
        chroprof_site site;
        snprintf(names[k], sizeof names[k], "n%u", (unsigned)k);
        known[k].name = site.name = names[k];
        known[k].file = site.file = k % 3 == 0 ? "" : k % 3 == 1 ? "one" : "other";
        known[k].line = site.line = lines[k % 7];
        if (k > 3)
            chroprof_event(p, CHROPROF_ENTER, 0, &site, 10 * k);
        if (k > 3 && k % 40 != 0)
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 10 * k + 9);
    }
    known[0].name = "(loop)";
    known[1].name = "(idle)";
    known[2].name = "(untracked)";
    known[3].name = "(other)";
    for (k = 0; k < 4; k++) {
        known[k].file = "";
        known[k].line = 0;
    }
    same_pprof(p, known, SITES);
    fill_paths(p);
    fill_totals(p->core);
    p->core->tables[CHROPROF_TABLE_SITES].used = SITES - 4;
    p->core->tables[CHROPROF_TABLE_PATHS].used = SITES - 4;
    memcpy(p->core->program, "server", 7);
    same_pprof(p, known, SITES);
    memcpy(p->core->name, "loop 7", 7);
    same_pprof(p, known, SITES);
    p->paths[3].wall = UINT64_MAX >> 1;
    p->paths[4].wall = (UINT64_MAX >> 1) + 1;
    p->paths[5].wall = (UINT64_MAX >> 1) - 1;
    p->paths[6].wall = UINT64_MAX;
    p->paths[7].calls = UINT64_C(1) << 63;
    p->paths[8].calls = (UINT64_C(1) << 63) - 1;
    p->paths[9].blame = p->paths[10].delay = p->paths[11].exec = UINT64_MAX - 1;
    spoil_the_rows_behind(p);
    same_pprof(p, known, SITES);
    harness_keep_none();
}

/* One value alone makes a sample; without any there is none. */
TEST(pprof_leaves_out_what_is_nothing)
{
    static const known_site known[] = {
        { "(loop)", "", 0 }, { "(idle)", "", 0 }, { "(untracked)", "", 0 }, { "(other)", "", 0 },
        { "accept", "server.c", 10 }, { "reply", "server.c", 20 }, { "query", "db.c", 7 },
        { "timer", "timer.c", 5 }, { "\xef\xbf\xbd" "a", "\xc3\xa4", 3 }
    };
    chroprof *p = scene();
    chroprof__path *row;
    uint32_t k;
    CHECK(chroprof_site_make(p, "\xff" "a", "\xc3\xa4", 3) != NULL);
    same_pprof(p, known, 9);
    for (k = 0; k < chroprof__path_count(p); k++) {
        row = p->paths + k;
        row->exec = row->blame = row->calls = 0;
        row->live = row->ready = 0;
        row->wall = row->delay = 0;
    }
    same_pprof(p, known, 9);
    p->paths[3].calls = 1;
    p->paths[4].exec = 1;
    p->paths[5].wall = 1;
    p->paths[6].delay = 1;
    p->paths[7].blame = 1;
    same_pprof(p, known, 9);
    p->paths[CHROPROF__IDLE].calls = p->paths[CHROPROF__IDLE].wall = 5;
    p->paths[CHROPROF__UNTRACKED].delay = 6;
    same_pprof(p, known, 9);
    harness_keep_none();
}

static void varint_is(uint64_t value, const char *bytes, size_t size)
{
    chroprof__out *out = out_of_bytes();
    chroprof__put_varint(out, value);
    CHECK(memcmp(bytes_of(out), bytes, size) == 0);
    CHECK_EQ(bytes_out()->used, size);
    CHECK_EQ(chroprof__varint_size(value), size);
}

TEST(varints_have_seven_bits_a_byte)
{
    varint_is(0, "\0", 1);
    varint_is(1, "\1", 1);
    varint_is(127, "\x7f", 1);
    varint_is(128, "\x80\1", 2);
    varint_is(300, "\xac\2", 2);
    varint_is(16383, "\xff\x7f", 2);
    varint_is(16384, "\x80\x80\1", 3);
    varint_is(UINT64_C(1) << 63, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 10);
    varint_is((UINT64_C(1) << 63) - 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
    varint_is(UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10);
}

/* >>dumps */

TEST(writes_that_fail_are_told)
{
    chroprof *p = scene();
    chroprof none;
    refusal r = { 0, 0 };
    memset(&none, 0, sizeof none);
    CHECK_EQ(chroprof_write(p, CHROPROF_TEXT, refuse_late, &r), -1);
    CHECK_EQ(chroprof_write(NULL, CHROPROF_TEXT, refuse_late, &r), -1);
    CHECK_EQ(chroprof_write(&none, CHROPROF_TEXT, refuse_late, &r), -1);
    CHECK_EQ(chroprof_write(p, CHROPROF_TEXT, NULL, &r), -1);
    CHECK_EQ(r.calls, 1);
    CHECK_EQ(chroprof_write_prometheus(p, NULL, NULL, &r), -1);
    CHECK_EQ(chroprof_write_prometheus(NULL, NULL, refuse_late, &r), -1);
    CHECK_EQ(chroprof_write_prometheus(&none, NULL, refuse_late, &r), -1);
    CHECK_EQ(r.calls, 1);
    CHECK_EQ(chroprof_dump(p, CHROPROF_TEXT, NULL), -1);
    CHECK_EQ(errno, EINVAL);
}

TEST(seconds_of_a_query_end_with_a_day)
{
    static const struct { const char *query; bool good; uint32_t seconds; } rows[] = {
        { "seconds=9", true, 9 }, { "seconds=0", true, 0 }, { "seconds=1909", true, 1909 },
        { "seconds=86399", true, 86399 }, { "seconds=86400", true, 86400 },
        { "seconds=086400", true, 86400 }, { "seconds=86401", false, 0 },
        { "seconds=864000", false, 0 }, { "seconds=", false, 0 }, { "seconds=/1", false, 0 },
        { "seconds=1:", false, 0 }, { "seconds=4294967297", false, 0 }
    };
    chroprof_query query;
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        memset(&query, 0x5a, sizeof query);
        CHECK_EQ(chroprof_parse_query(rows[k].query, &query), rows[k].good);
        CHECK_EQ(query.seconds, rows[k].seconds);
    }
}

#if !defined(_WIN32)
/* NULL: not set. */
static void set_variable(const char *name, const char *value)
{
    CHECK_EQ(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

TEST(columns_of_the_environment)
{
    static const struct { const char *text; uint32_t columns; } rows[] = {
        { NULL, 0 }, { "", 0 }, { "0", 0 }, { "7", 7 }, { "80", 80 }, { "109", 109 },
        { "97x4", 97 }, { "x97", 0 }, { "-5", 0 }, { "/5", 0 }, { ":5", 0 }, { "9999", 9999 },
        { "99999", 99999 }, { "10000", 10000 }, { "100005", 10000 }, { "0012", 12 }
    };
    chroprof_text_options look;
    static harness_output page_63;
    static char dumped[100000];
    FILE *file = tmpfile();
    size_t k, used;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        set_variable("COLUMNS", rows[k].text);
        CHECK_EQ(chroprof__env_columns(), rows[k].columns);
    }
    if (file == NULL)
        SKIP("no temporary files");
    memset(&look, 0, sizeof look);
    look.columns = 63;
    page_63.used = 0;
    CHECK_EQ(chroprof_write_text(scene(), &look, harness_collect, &page_63), 0);
    set_variable("COLUMNS", "63");
    CHECK_EQ(chroprof_dump(harness_profile(), CHROPROF_TEXT, file), 0);
    set_variable("COLUMNS", NULL);
    rewind(file);
    used = fread(dumped, 1, sizeof dumped, file);
    fclose(file);
    CHECK_EQ(used, page_63.used);
    CHECK(memcmp(dumped, page_63.bytes, used) == 0);
}

TEST(colours_of_the_environment)
{
    static const struct { const char *no_color, *term; bool color; } rows[] = {
        { NULL, NULL, true }, { "", NULL, true }, { "1", NULL, false }, { "\1", NULL, false },
        { NULL, "dumb", false }, { "", "dumb", false }, { NULL, "dumber", true },
        { NULL, "xterm", true }, { NULL, "", true }, { "1", "xterm", false },
        { "0", "dumb", false }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        set_variable("NO_COLOR", rows[k].no_color);
        set_variable("TERM", rows[k].term);
        CHECK_EQ(chroprof__wants_color(), rows[k].color);
    }
    set_variable("NO_COLOR", NULL);
    set_variable("TERM", NULL);
}
#else
TEST(columns_of_the_environment) { SKIP("needs setenv"); }
TEST(colours_of_the_environment) { SKIP("needs setenv"); }
#endif

#define FORMAT_CASES                                                                               \
    CASE(decimals_have_all_their_places), CASE(the_largest_are_picked),                            \
    CASE(the_exposition_has_every_figure), CASE(the_exposition_leaves_out_unused_sites),           \
    CASE(the_exposition_of_a_full_table), CASE(the_exposition_has_every_total),                    \
    CASE(slices_at_a_bound_are_below_it), CASE(slices_that_are_held_back_are_counted),             \
    CASE(the_exposition_of_many_sites), CASE(the_exposition_has_a_hundred_sites_at_most),          \
    CASE(labels_are_escaped), CASE(which_texts_are_utf8), CASE(awkward_sites_have_an_id),          \
    CASE(pprof_has_every_field), CASE(pprof_leaves_out_what_is_nothing),                           \
    CASE(varints_have_seven_bits_a_byte), CASE(writes_that_fail_are_told),                         \
    CASE(seconds_of_a_query_end_with_a_day), CASE(columns_of_the_environment),                     \
    CASE(colours_of_the_environment)

#endif
