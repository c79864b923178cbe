/* tests/compile/api_0_3_0.c - a program written for chroprof.h 0.3.0. It uses each public function,
 * type, field and constant of that release, in C99 and in C++11. Its release freezes this file:
 * then it must compile and run with every later one, and what breaks it is mended in the header.
 * Exit status 0, or the number of a line modulo 255. */
#define _GNU_SOURCE 1
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#if defined(__linux__)
#include <sys/epoll.h>
#include <unistd.h>
#endif

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 255 + 1;                                                             \
    } while (0)

CHROPROF_SITE(site_accept, "accept");
static const chroprof_site site_reply = { "reply", "server.c", 20 };

static uint64_t memory[1 << 15], copy[1 << 15];
static uint64_t time_ns;
static unsigned stalls_seen;
static uint64_t used;

/* A field must have this type and be there; what it says is for other tests. */
static void u64(const uint64_t *field) { used += *field & 1; }
static void u32(const uint32_t *field) { used += *field & 1; }
static void flag(const bool *field) { used += *field ? 1 : 0; }
static void text(const char *const *field) { used += (*field)[0] != '\0'; }
static uint64_t clock_ns(void *user) { return *(uint64_t *)user; }

static void on_stall(void *user, const chroprof_stall *stall)
{
    const chroprof_stall_share *share = &stall->shares[CHROPROF_STALL_SHARES - 1];
    chroprof_stall_kind kind = stall->kind;
    ++*(unsigned *)user;
    used += kind == CHROPROF_STALL_CALLBACK || kind == CHROPROF_STALL_ITERATION;
    u64(&stall->start_ns), u64(&stall->length_ns), u64(&stall->events), u32(&stall->share_count);
    if (stall->share_count == 0)
        return;
    share = &stall->shares[0];
    u64(&share->exec_ns), u32(&share->site);
    text(&share->name), text(&share->file), u32(&share->line);
}

static int count_bytes(void *user, const void *bytes, size_t count)
{
    used += bytes != NULL;
    *(size_t *)user += count;
    return 0;
}

static chroprof_options all_options(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_futures = 16;
    o.max_sites = o.max_paths = o.max_edges = o.max_depth = 16;
    o.max_histograms = o.max_windows = o.max_stalls = 4;
    o.max_samples = 0;
    o.string_bytes = 500;
    o.window_ns = 1000;
    o.stall_ns = 500;
    o.max_step_ns = 1000000000;
    o.clock = clock_ns;
    o.clock_user = &time_ns;
    o.on_stall = on_stall;
    o.on_stall_user = &stalls_seen;
    o.name = "api";
    return o;
}

static int life(chroprof *p)
{
    static const chroprof_site *made;
    chroprof_options o = all_options();
    size_t size = chroprof_memory_size(&o);
    EXPECT(size >= CHROPROF_MEMORY_MIN && size <= sizeof memory);
    EXPECT(chroprof_init(NULL, memory, sizeof memory, &o) == CHROPROF_ERR_ARGUMENT);
    EXPECT(chroprof_result_text(CHROPROF_ERR_MEMORY)[0] != '\0');
    EXPECT(chroprof_init(p, memory, sizeof memory, &o) == CHROPROF_OK);
    made = chroprof_site_make(p, "made", "made.c", 7);
    EXPECT(made != NULL && made->line == 7 && made->name[0] == 'm' && made->file[0] == 'm');
    chroprof_idle_enter(p), time_ns += 100, chroprof_idle_leave(p);
    chroprof_pending(p, 1, &site_accept), chroprof_ready(p, 1), time_ns += 10;
    chroprof_running(p, 1), time_ns += 100;
    chroprof_pending(p, 2, &site_reply), chroprof_ready_since(p, 2, chroprof_now(p));
    chroprof_enter(p, made), time_ns += 900, chroprof_leave(p);
    chroprof_switch(p, 2), time_ns += 50, chroprof_paused(p, 2);
    chroprof_completed(p, 2), chroprof_failed(p, 99), chroprof_cancelled(p, 98);
    chroprof_stillborn(p, &site_reply, CHROPROF_COMPLETED);
    chroprof_loop_enter(p), time_ns += 5, chroprof_loop_leave(p);
    chroprof_tick(p);
    return 0;
}

/* Each constant has the number it had. */
static int numbers(void)
{
    EXPECT(CHROPROF_PENDING == 0 && CHROPROF_READY == 1 && CHROPROF_RUNNING == 2);
    EXPECT(CHROPROF_PAUSED == 3 && CHROPROF_COMPLETED == 4 && CHROPROF_FAILED == 5);
    EXPECT(CHROPROF_CANCELLED == 6 && CHROPROF_IDLE_ENTER == 7 && CHROPROF_IDLE_LEAVE == 8);
    EXPECT(CHROPROF_LOOP_ENTER == 9 && CHROPROF_LOOP_LEAVE == 10 && CHROPROF_ENTER == 11);
    EXPECT(CHROPROF_LEAVE == 12 && CHROPROF_TICK == 13 && CHROPROF_SWITCH == 14);
    EXPECT(CHROPROF_OK == 0 && CHROPROF_ERR_LIMIT == 3 && CHROPROF_ERR_CLOCK == 4);
    EXPECT(CHROPROF_ERR_ALIGNMENT == 5 && CHROPROF_ERR_FORMAT == 6 && CHROPROF_ERR_VERSION == 7);
    EXPECT(CHROPROF_ERR_BYTE_ORDER == 8 && CHROPROF_ERR_TRUNCATED == 9);
    EXPECT(CHROPROF_ERR_CORRUPT == 10 && CHROPROF_ERR_BUSY == 11 && CHROPROF_ERR_FILE == 12);
    EXPECT(CHROPROF_ERR_OWNED == 13 && CHROPROF_RESULT_COUNT > 13);
    EXPECT(CHROPROF_TEXT == 0 && CHROPROF_JSON == 1 && CHROPROF_FOLDED == 2);
    EXPECT(CHROPROF_PROMETHEUS == 3 && CHROPROF_PPROF == 4);
    EXPECT(CHROPROF_BY_EXEC == 0 && CHROPROF_BY_WITH_CHILDREN == 1 && CHROPROF_BY_SLICE_MAX == 2);
    EXPECT(CHROPROF_BY_BLAME == 3 && CHROPROF_BY_DELAY == 4 && CHROPROF_BY_CALLS == 5);
    EXPECT(CHROPROF_TABLE_FUTURES == 0 && CHROPROF_TABLE_STRINGS == 9 && CHROPROF_TABLE_DEPTH == 4);
    EXPECT(CHROPROF_ANOMALY_UNKNOWN_READY == 0 && CHROPROF_ANOMALY_EVENT_IN_HOOK == 22);
    EXPECT(CHROPROF_VERSION_MAJOR >= 0 && CHROPROF_VERSION_MINOR >= 1);
    EXPECT(CHROPROF_VERSION_PATCH >= 0 && sizeof CHROPROF_VERSION >= 6);
    return 0;
}

static int read_ranks(const chroprof *p)
{
    chroprof_rank r[8];
    EXPECT(chroprof_ranks(p, r, 8, CHROPROF_BY_EXEC) == 3);
    text(&r->name), text(&r->file), u32(&r->line);
    u64(&r->exec_ns), u64(&r->children_ns), u64(&r->with_children_ns), u64(&r->exec_max_ns);
    u64(&r->slice_max_ns), u64(&r->slice_p50_ns), u64(&r->slice_p90_ns), u64(&r->slice_p99_ns);
    u64(&r->slice_p999_ns), u64(&r->slices), u64(&r->lifetime_ns), u64(&r->waiting_ns);
    u64(&r->delay_ns), u64(&r->delay_p99_ns), u64(&r->found), u64(&r->hidden_total_ns), u64(&r->blame_ns), u64(&r->calls);
    u64(&r->completed), u64(&r->failed), u64(&r->cancelled), u64(&r->abandoned), u64(&r->live);
    u64(&r->stillborn), u32(&r->id), flag(&r->has_percentiles);
    EXPECT(r[0].exec_ns == 900 && r[0].name[0] == 'm');
    return 0;
}

static int read_totals(const chroprof *p)
{
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    EXPECT(t.elapsed_ns == t.busy_ns + t.idle_ns + t.uninstrumented_ns);
    EXPECT(t.elapsed_ns == time_ns - 1);
    EXPECT(t.delay_ticks == t.blame_ticks && t.stalls > 0 && stalls_seen == t.stalls);
    u64(&t.untracked_ns), u64(&t.delay_ns), u64(&t.blame_ns), u64(&t.events), u64(&t.anomalies);
    u64(&t.live), u64(&t.iterations), u64(&t.iteration_p50_ns), u64(&t.iteration_p99_ns);
    u64(&t.iteration_max_ns);
    u64(&t.callbacks), u64(&t.callback_p50_ns), u64(&t.callback_p99_ns), u64(&t.callback_max_ns);
    u64(&t.idle_blame_ns), u64(&t.uninstrumented_blame_ns), u64(&t.untracked_blame_ns);
    u64(&t.dropped);
    u64(&t.elapsed_ticks), u64(&t.start_unix_ns), u64(&t.tick_error_ppb), flag(&t.provisional);
    flag(&t.estimated), flag(&t.enabled), flag(&t.idle), u32(&t.depth), u64(&t.skew_ns), u64(&t.skew_events);
    u64(&t.doubt_ns), u64(&t.doubt_events);
    return 0;
}

static int read_tree(const chroprof *p)
{
    chroprof_path path[8];
    chroprof_future f[4];
    chroprof_frame frame[4];
    EXPECT(chroprof_paths(p, path, 8) >= 3 && chroprof_futures(p, f, 4) == 1);
    u32(&path->id), u32(&path->parent), u32(&path->site), text(&path->name), text(&path->file);
    u32(&path->line), u64(&path->exec_ns), u64(&path->with_children_ns), u64(&path->exec_max_ns);
    u64(&path->slice_max_ns), u64(&path->slices), u64(&path->lifetime_ns), u64(&path->waiting_ns);
    u64(&path->delay_ns), u64(&path->blame_ns), u64(&path->calls), u64(&path->completed);
    u64(&path->failed), u64(&path->cancelled), u64(&path->abandoned), u64(&path->live);
    u64(&path->stillborn);
    EXPECT(f->id == 1 && f->state == CHROPROF_PAUSED);
    u32(&f->path), u64(&f->since_ns), u64(&f->exec_ns), text(&f->name), text(&f->file);
    u32(&f->line);
    memset(frame, 0, sizeof frame);
    EXPECT(chroprof_frames(p, frame, 4) == 0);
    u64(&frame->id), u32(&frame->path), flag(&frame->barrier), u64(&frame->since_ns);
    u64(&frame->slice_ns), u32(&frame->line);
    used += frame->name == frame->file;
    return 0;
}

static int read_tables(const chroprof *p)
{
    chroprof_table t[CHROPROF_TABLE_COUNT];
    chroprof_anomaly a[CHROPROF_ANOMALY_COUNT];
    chroprof_window w[4];
    chroprof_stall stall[4];
    chroprof_origin o;
    uint64_t exec[4];
    chroprof_anomaly_kind unknown = CHROPROF_ANOMALY_UNKNOWN_FINISH;
    EXPECT(chroprof_tables(p, t, CHROPROF_TABLE_COUNT) == CHROPROF_TABLE_COUNT);
    EXPECT(t[1].kind == CHROPROF_TABLE_SITES);
    text(&t->name), text(&t->option), u64(&t->capacity), u64(&t->used), u64(&t->peak);
    u64(&t->dropped), u64(&t->advice), u64(&t->bytes);
    EXPECT(chroprof_anomalies(p, a, CHROPROF_ANOMALY_COUNT) == CHROPROF_ANOMALY_COUNT);
    EXPECT(a[unknown].kind == unknown && a[unknown].count == 2 && a[unknown].text[0] != '\0');
    EXPECT(chroprof_windows(p, w, 4) >= 1 && chroprof_site_windows(p, 4, exec, 4) >= 1);
    u64(&w->start_ns), u64(&w->end_ns), u64(&w->busy_ns), u64(&w->idle_ns);
    u64(&w->uninstrumented_ns);
    u64(&w->untracked_ns);
    EXPECT(chroprof_stalls(p, stall, 4) >= 1);
    chroprof_read_origin(p, &o);
    u64(&o.pid), text(&o.name), u64(&o.end_ns), u64(&o.end_unix_ns), flag(&o.mapped);
    flag(&o.ended), flag(&o.alive), flag(&o.estimated);
    used += o.host != NULL;
    EXPECT(chroprof_check(p) == NULL);
    return 0;
}

static int write_all(chroprof *p)
{
    chroprof_writer writer = count_bytes;
    chroprof_text_options text_options = { 80, 5, CHROPROF_BY_CALLS, true, false };
    chroprof_prometheus_options prometheus_options = { 3, CHROPROF_BY_DELAY };
    int format;
    size_t bytes = 0;
    FILE *out = tmpfile();
    for (format = CHROPROF_TEXT; format <= CHROPROF_PPROF; format++) {
        EXPECT(chroprof_write(p, (chroprof_format)format, writer, &bytes) == 0 && bytes > 0);
        EXPECT(out == NULL || chroprof_dump(p, (chroprof_format)format, out) == 0);
    }
    EXPECT(chroprof_write_text(p, &text_options, writer, &bytes) == 0);
    EXPECT(chroprof_write_prometheus(p, &prometheus_options, writer, &bytes) == 0);
    if (out != NULL)
        fclose(out);
    return 0;
}

static int open_a_copy(chroprof *p)
{
    chroprof view;
    EXPECT(chroprof_snapshot(memory, sizeof memory, copy, sizeof copy) == CHROPROF_OK);
    EXPECT(chroprof_open(&view, copy, sizeof copy) == CHROPROF_OK);
    EXPECT(chroprof_check(&view) == NULL);
    chroprof_set_enabled(p, false), chroprof_set_enabled(p, true);
    chroprof_reset(p);
    return 0;
}

#if defined(__linux__)
static int map_a_file(void)
{
    const char *folder = getenv("SCRATCH");
    char path[512] = "api.chroprof";
    chroprof p;
    if (folder != NULL)
        snprintf(path, sizeof path, "%s/api.chroprof", folder);
    remove(path);
    EXPECT(chroprof_map(&p, path, 0, NULL) == CHROPROF_OK);
    if (used == UINT64_MAX)                 /* never: a child only calls it */
        chroprof_fork_child(&p, NULL);
    chroprof_unmap(&p);
    remove(path);
    return 0;
}
#else
static int map_a_file(void) { return 0; }
#endif

static int replay(void)
{
    static uint64_t block[CHROPROF_MEMORY_MIN / 8];
    chroprof p;
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    EXPECT(chroprof_init(&p, block, sizeof block, &o) == CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &site_reply, 10);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 30);
    EXPECT(chroprof_now(&p) == 30);
    return 0;
}

#ifdef __cplusplus
static void scope(chroprof *p) { chroprof_scope guard(p, &site_accept); }
#else
static void scope(chroprof *p) { chroprof_enter(p, &site_accept), chroprof_leave(p); }
#endif

/* ---- samples, copies, cursors and waits */

static uint64_t older[1 << 15], newer[1 << 15], result[1 << 15];
static chroprof prof;

CHROPROF_SITE(site, "work");
#if defined(__linux__)
CHROPROF_EPOLL_IDLE(&prof);
#endif

static void work(chroprof *p)
{
#if defined(__cplusplus) || defined(__GNUC__)
    CHROPROF_SCOPE(p, "scope");
    used++;
#else
    chroprof_enter(p, &site), chroprof_leave(p);
#endif
    chroprof_enter(p, &site), chroprof_next(p, &site), chroprof_leave(p);
}

static int start(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_samples = 16;
    EXPECT(chroprof_init(&prof, memory, sizeof memory, &o) == CHROPROF_OK);
    chroprof_event(&prof, CHROPROF_ENTER, 0, &site, 10);
    chroprof_sample(&prof, 20, 5);
    chroprof_event(&prof, CHROPROF_LEAVE, 0, NULL, 110);
    return 0;
}

static int between_snapshots(void)
{
    chroprof_step step[4];
    chroprof old_view, new_view, difference, sum;
    chroprof_options o;
    chroprof_totals t;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    EXPECT(chroprof_snapshot(memory, sizeof memory, older, sizeof older) == CHROPROF_OK);
    chroprof_event(&prof, CHROPROF_ENTER, 0, &site, 200);
    chroprof_event(&prof, CHROPROF_LEAVE, 0, NULL, 250);
    EXPECT(chroprof_snapshot_ended(memory, sizeof memory, newer, sizeof newer) == CHROPROF_OK);
    EXPECT(chroprof_snapshot(memory, sizeof memory, newer, sizeof newer) == CHROPROF_OK);
    EXPECT(chroprof_open(&old_view, older, sizeof older) == CHROPROF_OK);
    EXPECT(chroprof_open(&new_view, newer, sizeof newer) == CHROPROF_OK);
    EXPECT(chroprof_difference(&new_view, &old_view, result, sizeof result) == CHROPROF_OK);
    EXPECT(chroprof_open(&difference, result, sizeof result) == CHROPROF_OK);
    chroprof_read_totals(&difference, &t);
    EXPECT(t.elapsed_ns == 140 && t.busy_ns == 50);
    EXPECT(chroprof_timeline(&difference, 0, UINT64_MAX, step, 4) == 2);
    EXPECT(step[1].at_ns == 140 && step[1].state == CHROPROF_LEAVE && step[1].id == 0);
    EXPECT(step[1].path > 2 && step[1].depth == 1 && step[1].left_out == 0);
    EXPECT(chroprof_init(&sum, result, sizeof result, &o) == CHROPROF_OK);
    EXPECT(chroprof_merge(&sum, &new_view) == CHROPROF_OK);
    return 0;
}

static int read_samples(void)
{
    chroprof_sample_row row[4];
    chroprof_stack_frame frame[8];
    chroprof_wall wall[4];
    chroprof_sampler_totals t;
    chroprof_sampler_mode mode;
    EXPECT(chroprof_samples(&prof, 0, UINT64_MAX, row, 4) == 1 && row[0].weight == 1);
    EXPECT(row[0].state == CHROPROF_SAMPLE_BUSY && row[0].cpu_ns == 5);
    EXPECT(CHROPROF_SAMPLE_IDLE == 1 && CHROPROF_SAMPLE_UNINSTRUMENTED == 2);
    u64(&row->at_ns), u64(&row->duration_ns), u32(&row->stack);
    EXPECT(chroprof_stack(&prof, row[0].stack, frame, 8) == 1);
    EXPECT(frame[0].kind == CHROPROF_FRAME_TASK);
    EXPECT(CHROPROF_FRAME_NATIVE == 1 && CHROPROF_FRAME_MARKER == 2);
    text(&frame->name), u32(&frame->path), flag(&frame->is_return), u64(&frame->address);
    used += frame->module == frame->build_id;
    EXPECT(chroprof_walls(&prof, wall, 4) == 0);
    chroprof_read_sampler(&prof, &t);
    mode = t.mode;
    EXPECT(t.samples == 1 && t.rows == 1 && mode == CHROPROF_SAMPLER_CPU && !t.running);
    u64(&t.period_ns), u64(&t.first_period_ns), u64(&t.budget_ppm), u64(&t.ticks), u64(&t.inside);
    u64(&t.lost), u64(&t.dropped), u64(&t.cost_ns), u64(&t.draws), u64(&t.misses);
    return 0;
}

/* What a program knows of its waits and of its end. */
static int tell(void)
{
    static uint64_t block[CHROPROF_MEMORY_MIN / 8];
    chroprof p;
    chroprof_options o;
    chroprof_task_wait wait;
    chroprof_totals t;
    uint32_t ppm;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    EXPECT(chroprof_init(&p, block, sizeof block, &o) == CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &site, 10);
    chroprof_event(&p, CHROPROF_TICK, 0, NULL, 30);
    chroprof_waited(&p, "poll", "ask", 15);
    EXPECT(chroprof_task_waits(&p, &wait, 1) == 1 && wait.count == 1 && wait.total_ns == 15);
    u32(&wait.site), u64(&wait.longest_ns), text(&wait.call), text(&wait.within);
    text(&wait.name), text(&wait.file), u32(&wait.line);
    EXPECT(!wait.estimated);
    wait.call = "read";
    EXPECT(chroprof_add_wait(&p, &wait) == CHROPROF_OK && chroprof_task_waits(&p, &wait, 1) == 2);
    EXPECT(chroprof_name_held(&p, CHROPROF_FINDING_STALL, 7, 800000, "parse (x.c:3)") == CHROPROF_OK);
    EXPECT(strcmp(chroprof_held_by(&p, CHROPROF_FINDING_STALL, 7, &ppm), "parse (x.c:3)") == 0);
    EXPECT(ppm == 800000);
    chroprof_kept_awake(&p, "fd 7, a pipe");
    EXPECT(strcmp(chroprof_awake_by(&p), "fd 7, a pipe") == 0);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 40);
    EXPECT(chroprof_last_event(&p) == 40);
    chroprof_exiting(&p, 40);
    chroprof_event(&p, CHROPROF_TICK, 0, NULL, 60);
    chroprof_read_totals(&p, &t);
    EXPECT(t.exit_ns == 20);
    chroprof_set_cpu_clock(&p, 1);
    u64(&t.start_ns), u64(&t.at_once), u64(&t.at_once_ns), u64(&t.cpu_clock_ns);
    u64(&t.asleep_ns), u64(&t.hidden_ns), u64(&t.hidden_p99_ns);
    flag(&t.estimated);
    return 0;
}

static int walk(void)
{
    chroprof_rank rank;
    chroprof_path path;
    chroprof_future future;
    chroprof_stall stall;
    chroprof_step step;
    chroprof_sample_row sample;
    chroprof_stack_row stack;
    chroprof_wall wall;
    chroprof_site_row row;
    const uint64_t most = UINT64_MAX;
    uint64_t cursor = 0, slices;
    uint32_t parent, number;
    EXPECT(chroprof_next_rank(&prof, &cursor, &rank) && !chroprof_next_rank(&prof, &cursor, &rank));
    EXPECT(chroprof_read_rank(&prof, rank.id, &rank) && rank.calls == 1);
    cursor = 0;
    EXPECT(chroprof_next_path(&prof, &cursor, &path) && chroprof_read_path(&prof, path.id, &path));
    EXPECT(chroprof_path_name(&prof, path.id, &parent, &number) == path.name && parent == 0);
    EXPECT(number == path.site && chroprof_read_path_alone(&prof, path.id, &path));
    cursor = 0;
    EXPECT(chroprof_next_site(&prof, &cursor, &row) && row.id == number);
    EXPECT(chroprof_slice_counts(&prof, number, &most, 1, &slices) == rank.has_percentiles);
    cursor = 0;
    EXPECT(!chroprof_next_future(&prof, &cursor, &future));
    cursor = 0;
    EXPECT(!chroprof_next_stall(&prof, &cursor, &stall));
    cursor = 0;
    EXPECT(chroprof_next_step(&prof, &cursor, &step) && step.state == CHROPROF_ENTER);
    cursor = 0;
    EXPECT(chroprof_next_sample(&prof, &cursor, &sample) && sample.weight == 1);
    cursor = 0;
    EXPECT(chroprof_next_stack(&prof, &cursor, &stack) && stack.id == sample.stack);
    EXPECT(stack.parent == 0 && stack.module == 0 && stack.weight == 1 && stack.cpu_ns == 5);
    EXPECT(stack.frame.kind == CHROPROF_FRAME_TASK);
    cursor = 0;
    EXPECT(!chroprof_next_wall(&prof, &cursor, &wall));
    return 0;
}

static int read_parts(void)
{
    chroprof_options o;
    chroprof_module module;
    chroprof_windows_cursor windows;
    chroprof_window window;
    chroprof_finding finding;
    chroprof_finding_kind kind;
    uint64_t exec, slow_cursor = 0;
    uint32_t id = 4;
    chroprof_anomaly anomaly;
    chroprof_slow slow;
    memset(&slow, 0, sizeof slow);
    chroprof_read_options(&prof, &o);
    EXPECT(o.max_samples == 16 && o.max_events >= 64 && o.window_ns > 0);
    memset(&module, 0, sizeof module);
    EXPECT(chroprof_modules(&prof, &module, 1) == 0);
    u64(&module.start), u64(&module.end);
    used += sizeof module.path + sizeof module.build_id + sizeof module.base;
    EXPECT(chroprof_windows_from(&prof, 0, &window, 1) == 1 && window.busy_ns == 100);
    EXPECT(chroprof_site_windows_from(&prof, id, 0, &exec, 1) == 1 && exec == 100);
    memset(&windows, 0, sizeof windows);
    EXPECT(chroprof_next_windows(&prof, &windows, &window, 1) == 1 && windows.next == 1);
    memset(&windows, 0, sizeof windows);
    EXPECT(chroprof_next_site_windows(&prof, id, &windows, &exec, 1) == 1 && exec == 100);
    EXPECT(chroprof_why_off(&prof)[0] == '\0');
    EXPECT(chroprof_read_anomaly(&prof, CHROPROF_ANOMALY_UNKNOWN_READY, &anomaly));
    u64(&anomaly.count), u64(&anomaly.first.at_ns), u64(&anomaly.last.id);
    EXPECT(anomaly.placed || anomaly.count == 0);
    if (chroprof_slowest(&prof, &slow, 1) > 0) {
        EXPECT(chroprof_next_slowest(&prof, &slow_cursor, &slow));
    }
    u64(&slow.id), u64(&slow.at_ns), u64(&slow.latency_ns), u64(&slow.exec_ns), u32(&slow.site);
    u64(&slow.children_ns), u64(&slow.delay_ns), u64(&slow.waiting_ns), u64(&slow.unseen_ns);
    EXPECT(chroprof_incident(&prof, 1, NULL, 0) <= CHROPROF_INCIDENT_STEPS);
    chroprof_show_ids(&prof, NULL, NULL);
    EXPECT(chroprof_findings(&prof, &finding, 1) > 0);
    kind = finding.kind;
    EXPECT(kind < CHROPROF_FINDING_COUNT && finding.text[0] != '\0');
    u32(&finding.site), u32(&finding.share_ppm), u64(&finding.value_ns), u64(&finding.at_ns);
    return 0;
}

#if defined(__linux__)
static int wait_for_real(void)
{
    struct epoll_event event;
    chroprof_totals t;
    int poller = epoll_create1(0);
    EXPECT(chroprof_init(&prof, memory, sizeof memory, NULL) == CHROPROF_OK);
    EXPECT(epoll_wait(poller, &event, 1, 2) == 0);
    chroprof_read_totals(&prof, &t);
    EXPECT(t.idle_ns >= 1000000 && close(poller) == 0);
    return 0;
}

static int sample_for_real(void)
{
    chroprof_options o;
    chroprof_sampler_options s;
    memset(&o, 0, sizeof o);
    memset(&s, 0, sizeof s);
    o.max_samples = 16;
    EXPECT(chroprof_init(&prof, memory, sizeof memory, &o) == CHROPROF_OK);
    s.mode = CHROPROF_SAMPLER_WALL;
    s.period_ns = 1000000;
    s.jitter = true;
    s.budget_ppm = 10000;
    s.signal = 0;
    s.unwind = NULL;
    s.unwind_user = NULL;
    EXPECT(chroprof_sampler_start(&prof, &s) == CHROPROF_OK);
    chroprof_sampler_stack(&prof, NULL, 0);
    work(&prof);
    chroprof_sampler_went_on(&prof, 1);
    chroprof_sampler_halt(&prof);
    chroprof_sampler_stop(&prof);
    return 0;
}
#else
static int wait_for_real(void)
{
    return 0;
}
static int sample_for_real(void)
{
    work(&prof);
    return 0;
}
#endif

static int ask(void)
{
#if defined(__linux__)
    EXPECT(chroprof_file_owner("/dev/null") == CHROPROF_ERR_FORMAT);
#endif
    EXPECT(strcmp(chroprof_version(), CHROPROF_VERSION) == 0);
    EXPECT(chroprof_sizeof("chroprof_rank") == sizeof(chroprof_rank));
    return 0;
}

static int samples_and_copies(void)
{
    int wrong;
    if ((wrong = start()) != 0 || (wrong = read_samples()) != 0 || (wrong = walk()) != 0 || (wrong = tell()) != 0 ||
        (wrong = read_parts()) != 0 || (wrong = between_snapshots()) != 0 ||
        (wrong = wait_for_real()) != 0 || (wrong = sample_for_real()) != 0)
        return wrong;
    return ask();
}

static int from_outside(void)
{
    static const uint64_t addresses[] = { 0x1010, 0, 0x1020 };
    chroprof_options o;
    chroprof_origin origin;
    chroprof_module module;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    o.max_samples = 16;
    EXPECT(chroprof_init(&prof, memory, sizeof memory, &o) == CHROPROF_OK);
    memset(&module, 0, sizeof module);
    module.path = "/usr/bin/server";
    module.base = module.start = 0x1000;
    module.end = 0x2000;
    EXPECT(chroprof_add_module(&prof, &module) == CHROPROF_OK);
    EXPECT(chroprof_sample_stack(&prof, 500, 5, addresses, 3) == CHROPROF_OK);
    memset(&origin, 0, sizeof origin);
    origin.pid = 17;
    origin.estimated = true;
    chroprof_set_origin(&prof, &origin);
    chroprof_read_origin(&prof, &origin);
    EXPECT(origin.pid == 17 && origin.estimated);
    EXPECT(!chroprof_began(&prof, chroprof_now(NULL)));    /* the clock is not ours */
    EXPECT(chroprof_to_ns(&prof, 17) == 17);
    return 0;
}

int main(void)
{
    chroprof p;
    int wrong;
    time_ns = 1;
    if ((wrong = numbers()) != 0 || (wrong = life(&p)) != 0 || (wrong = read_ranks(&p)) != 0 ||
        (wrong = read_totals(&p)) != 0 || (wrong = read_tree(&p)) != 0 ||
        (wrong = read_tables(&p)) != 0 || (wrong = write_all(&p)) != 0 ||
        (wrong = open_a_copy(&p)) != 0 || (wrong = map_a_file()) != 0 || (wrong = replay()) != 0 ||
        (wrong = samples_and_copies()) != 0 || (wrong = from_outside()) != 0)
        return wrong;
    scope(&p);
    return 0;
}
