/* tests/compile/api_next.c - what was added since the last release, used as api_0_1_0.c uses that
 * release. A release renames this file to its own version and freezes it, and begins another. Exit
 * status 0, or the number of a line modulo 255. */
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

static void u64(const uint64_t *field) { used += *field & 1; }
static void u32(const uint32_t *field) { used += *field & 1; }
static void flag(const bool *field) { used += *field ? 1 : 0; }
static void text(const char *const *field) { used += (*field)[0] != '\0'; }

static void work(chroprof *p)
{
#if defined(__cplusplus) || defined(__GNUC__)
    CHROPROF_SCOPE(p, "scope");
    used++;
#else
    chroprof_enter(p, &site), chroprof_leave(p);
#endif
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
    chroprof old_view, new_view, difference, sum;
    chroprof_options o;
    chroprof_totals t;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    EXPECT(chroprof_snapshot(memory, sizeof memory, older, sizeof older) == CHROPROF_OK);
    chroprof_event(&prof, CHROPROF_ENTER, 0, &site, 200);
    chroprof_event(&prof, CHROPROF_LEAVE, 0, NULL, 250);
    EXPECT(chroprof_snapshot(memory, sizeof memory, newer, sizeof newer) == CHROPROF_OK);
    EXPECT(chroprof_open(&old_view, older, sizeof older) == CHROPROF_OK);
    EXPECT(chroprof_open(&new_view, newer, sizeof newer) == CHROPROF_OK);
    EXPECT(chroprof_difference(&new_view, &old_view, result, sizeof result) == CHROPROF_OK);
    EXPECT(chroprof_open(&difference, result, sizeof result) == CHROPROF_OK);
    chroprof_read_totals(&difference, &t);
    EXPECT(t.elapsed_ns == 140 && t.busy_ns == 50);
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
static int wait_for_real(void) { return 0; }
static int sample_for_real(void) { work(&prof); return 0; }
#endif

static int ask(void)
{
    chroprof_query q;
    EXPECT(chroprof_parse_query("format=json&seconds=5", &q));
    EXPECT(q.format == CHROPROF_JSON && q.seconds == 5 && q.content_type[0] == 'a');
    return 0;
}

int main(void)
{
    int wrong;
    if ((wrong = start()) != 0 || (wrong = read_samples()) != 0 ||
        (wrong = between_snapshots()) != 0 || (wrong = wait_for_real()) != 0 ||
        (wrong = sample_for_real()) != 0)
        return wrong;
    return ask();
}
