/* tests/compile/api_0_2_0.c - what 0.2.0 adds, used as api_0_1_0.c uses 0.1.0. Its release freezes
 * this file. Exit status 0, or the number of a line modulo 255. */
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

static uint64_t memory[1 << 15], older[1 << 15], newer[1 << 15], result[1 << 15];
static uint64_t used;
static chroprof prof;

CHROPROF_SITE(site, "work");
#if defined(__linux__)
CHROPROF_EPOLL_IDLE(&prof);
#endif

static void u64(const uint64_t *field)
{
    used += *field & 1;
}
static void u32(const uint32_t *field)
{
    used += *field & 1;
}
static void flag(const bool *field)
{
    used += *field ? 1 : 0;
}
static void text(const char *const *field)
{
    used += (*field)[0] != '\0';
}

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
    EXPECT(step[1].path > 2 && step[1].depth == 1);
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
    EXPECT(CHROPROF_SAMPLE_IDLE == 1 && CHROPROF_SAMPLE_LOOP == 2);
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
    EXPECT(chroprof_modules(&prof, &module, 1) == 0);
    used += sizeof module.path + sizeof module.build_id + sizeof module.base;
    EXPECT(chroprof_windows_from(&prof, 0, &window, 1) == 1 && window.busy_ns == 100);
    EXPECT(chroprof_site_windows_from(&prof, id, 0, &exec, 1) == 1 && exec == 100);
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
    EXPECT(chroprof_epoll_pwait(&prof, poller, &event, 1, 2, NULL) == 0);
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
    chroprof_query q;
#if defined(__linux__)
    EXPECT(chroprof_file_owner("/dev/null") == CHROPROF_ERR_FORMAT);
#endif
    EXPECT(chroprof_parse_query("format=json&seconds=5", &q));
    EXPECT(q.format == CHROPROF_JSON && q.seconds == 5 && q.content_type[0] == 'a');
    EXPECT(strcmp(chroprof_version(), CHROPROF_VERSION) == 0);
    EXPECT(chroprof_sizeof("chroprof_rank") == sizeof(chroprof_rank));
    return 0;
}

int main(void)
{
    int wrong;
    if ((wrong = start()) != 0 || (wrong = read_samples()) != 0 || (wrong = walk()) != 0 ||
        (wrong = read_parts()) != 0 || (wrong = between_snapshots()) != 0 ||
        (wrong = wait_for_real()) != 0 || (wrong = sample_for_real()) != 0)
        return wrong;
    return ask();
}
