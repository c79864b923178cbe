/* writers/json.h */
#pragma once
#include "../interface/version.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../reading/figures.h"
#include "../public/now.h"
#include "../writers/output.h"

#ifndef CHROPROF_NO_JSON
/* >>json: everything, one row a line.
 * Owns the schema. Figures go by the lists in >>figures, in their order; the rest is spelled out as
 * chroprof__put_json takes it. Relies on the public reads; called by >>formats. */

#define CHROPROF_JSON_VERSION 3

/* The figures of a list that a public struct has. */
static void chroprof__json_figures(chroprof__out *o, const chroprof__figure *list, size_t count,
                                   const char *name, bool of_rank, const void *row)
{
    for (size_t k = 0; k < count; k++) {
        uint16_t at = of_rank ? list[k].rank : list[k].at;
        if (at != CHROPROF__NOT_THERE)
            chroprof__put_json(o, name, chroprof__field(row, at));
        name = chroprof__nth_text(name, 3);
    }
}

static void chroprof__json_head(chroprof__out *o, const chroprof *p, const chroprof_origin *origin)
{
    const uint64_t version = CHROPROF_JSON_VERSION, cost_ps = chroprof__event_cost_ps(p);
    const char *why_off = chroprof_why_off(p);
    chroprof_options of;
    chroprof_read_options(p, &of);
    chroprof__put_json(o, "{\nchroprof \nversion'" CHROPROF_VERSION "'", &version);
    chroprof__put_json(o, "\nname$", &origin->name);
    chroprof__put_json(o, "\nprogram$", &origin->program);
    chroprof__put_json(o, "\noptions{window_ns stall_ns max_step_ns}", &of.window_ns);
    chroprof__put_json(o, "\nevent_cost_ps", &cost_ps);
    chroprof__put_json(o, "\nwhy_off$", &why_off);
}

static void chroprof__json_totals(chroprof__out *o, const chroprof *p)
{
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    chroprof__put_json(o, "\ntotals{", NULL);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__loop_figures), chroprof__loop_words, false,
                           &t);
    chroprof__put_json(o, "provisional? enabled? idle?", &t.provisional);
    chroprof__put_json(o, "depth.", &t.depth);
    chroprof__put_json(o, "living? estimated?}", &t.living);
}

static void chroprof__json_waits(chroprof__out *o, const chroprof *p)
{
    chroprof_task_wait rows[CHROPROF__WAITED];
    size_t count = chroprof_task_waits(p, rows, CHROPROF__WAITED);
    const char *awake = chroprof_awake_by(p);
    chroprof__put_json(o, "\nawake_by$", &awake);
    chroprof__put_json(o, "\ntask_waits[", NULL);
    for (const chroprof_task_wait *w = rows; w < rows + count; w++)
        chroprof__put_json(o, "\n{site. count total_ns longest_ns call$ within$ name$ file$ "
                           "line.}", w);
    chroprof__put_json(o, "\n]", NULL);
}

static void chroprof__json_findings(chroprof__out *o, const chroprof *p)
{
    chroprof__put_json(o, "\nfindings[", NULL);
#ifndef CHROPROF_NO_FINDINGS
#define CHROPROF__FINDING_WORD(name) #name ","
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (const chroprof_finding *f = rows; f < rows + count; f++) {
        const char *text = f->text;
        chroprof__put_json(o, "\n{kind(" CHROPROF_FINDINGS(CHROPROF__FINDING_WORD) ")", f);
        chroprof__put_json(o, "text$", &text);
        chroprof__put_json(o, "site. share_ppm. value_ns at_ns}", &f->site);
    }
#undef CHROPROF__FINDING_WORD
#else
    (void)p;
#endif
    chroprof__put_json(o, "\n]", NULL);
}

/* Windows are read in spans of this many, which share one look at the site. */
enum { CHROPROF__JSON_SPAN = 64 };

static void chroprof__json_site(chroprof__out *o, const chroprof *p, const chroprof_rank *r)
{
    chroprof_windows_cursor cursor;
    uint64_t ns[CHROPROF__JSON_SPAN];
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    chroprof__put_json(o, "\n{name$ file$ line.", r);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, true,
                           r);
    chroprof__put_json(o, "id. has_percentiles? windows[", &r->id);
    while (!o->failed && (left = chroprof_next_site_windows(p, r->id, &cursor, ns,
                                                            CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            chroprof__put_json(o, "%", ns + k);
    chroprof__put_json(o, "]}", NULL);
}

static void chroprof__json_path(chroprof__out *o, const chroprof_path *row)
{
    chroprof__put_json(o, "\n{id. parent. site. name$ file$ line.", row);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, false,
                           row);
    chroprof__put_json(o, "}", NULL);
}

typedef struct chroprof__json_packer {
    chroprof__out *out;
    uint32_t bits, count;      /* bytes that are not written yet, and how many */
    uint64_t at_ns, id;        /* of the step before */
} chroprof__json_packer;

static void chroprof__json_base64(chroprof__json_packer *k, uint32_t characters)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < 4; i++)
        chroprof__put_byte(k->out, i < characters ? digits[k->bits >> (18 - 6 * i) & 63] : '=');
    k->bits = k->count = 0;
}

static void chroprof__json_pack(chroprof__json_packer *k, uint64_t value)
{
    bool more;
    do {
        more = value > 127;
        k->bits |= ((uint32_t)(value & 127) | (more ? 128u : 0u)) << (16 - 8 * k->count);
        if (++k->count == 3)
            chroprof__json_base64(k, 4);
        value >>= 7;
    } while (more);
}

static void chroprof__json_step(chroprof__json_packer *k, const chroprof_step *s)
{
    uint64_t less = s->id - k->id;
    const chroprof_state state = s->state > CHROPROF_NEXT ? CHROPROF_TICK : s->state;
    chroprof__json_pack(k, (uint64_t)state + (s->id ? 16 : 0) + 32 * (uint64_t)s->depth);
    chroprof__json_pack(k, chroprof__minus(s->at_ns, k->at_ns));
    chroprof__json_pack(k, s->path);
    if (s->id != 0) {
        chroprof__json_pack(k, less >> 63 ? ~(less << 1) : less << 1);
        k->id = s->id;
    }
    k->at_ns = s->at_ns;
}

/* Ends a text of packed steps and what it is in. */
static void chroprof__json_packed(chroprof__json_packer *k)
{
    if (k->count > 0)
        chroprof__json_base64(k, k->count + 1);
    chroprof__put_json(k->out, "\"}", NULL);
}

/* What happened in a stall, as the timeline has it. */
CHROPROF__NOINLINE void chroprof__json_incident(chroprof__out *o, const chroprof *p,
                                                const chroprof_stall *s)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t count = chroprof_incident(p, s->number, steps, CHROPROF_INCIDENT_STEPS);
    chroprof__json_packer k = { o, 0, 0, 0, 0 };
    for (size_t i = 0; i < count; i++)
        chroprof__json_step(&k, steps + i);
    chroprof__json_packed(&k);
}

static void chroprof__json_stall(chroprof__out *o, const chroprof *p, const chroprof_stall *s)
{
    chroprof__put_json(o, "\n{kind(callback,iteration)start_ns length_ns events shares[", s);
    for (const chroprof_stall_share *x = s->shares; x < s->shares + s->share_count; x++)
        chroprof__put_json(o, "{site. exec_ns slices slice_max_ns name$ file$ line.}", x);
    chroprof__put_json(o, "]rest_ns sampled cpu_ns waiting_ns samples[", &s->rest_ns);
    for (const chroprof_stall_sample *x = s->samples; x < s->samples + s->sample_count; x++)
        chroprof__put_json(o, "{stack. weight. cpu_ns}", x);
    chroprof__put_json(o, "]number steps. first_steps. left_out data\"", &s->number);
    chroprof__json_incident(o, p, s);
}

static void chroprof__json_slow(chroprof__out *o, const chroprof_slow *s)
{
    chroprof__put_json(o, "\n{id site. path. name$ file$ line. finish(,,,,completed,failed,"
                       "cancelled)of_run? at_ns latency_ns exec_ns children_ns delay_ns waiting_ns "
                       "unseen_ns blames[", s);
    for (const chroprof_slow_blame *x = s->blames; x < s->blames + s->blame_count; x++)
        chroprof__put_json(o, "{site. delay_ns name$ file$ line.}", x);
    chroprof__put_json(o, "]}", NULL);
}

static void chroprof__json_windows(chroprof__out *o, const chroprof *p)
{
    chroprof_window rows[CHROPROF__JSON_SPAN];
    chroprof_windows_cursor cursor;
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    chroprof__put_json(o, "\nwindows[", NULL);
    while (!o->failed &&
           (left = chroprof_next_windows(p, &cursor, rows, CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            chroprof__put_json(o, "\n{start_ns end_ns busy_ns idle_ns "
                               "uninstrumented_ns untracked_ns}",
                               rows + k);
    chroprof__put_json(o, "\n]", NULL);
}

enum { CHROPROF__JSON_STEPS = 100000 };     /* what a page draws without a stutter */

static void chroprof__json_timeline(chroprof__out *o, const chroprof *p, uint64_t end_ns)
{
    uint64_t cursor = 0;
    chroprof_step step;
    chroprof_totals totals;
    size_t steps = chroprof_timeline(p, 0, UINT64_MAX, NULL, 0);
    size_t older = steps > CHROPROF__JSON_STEPS ? steps - CHROPROF__JSON_STEPS : 0;
    chroprof__json_packer k = { o, 0, 0, 0, 0 };
    chroprof_read_totals(p, &totals);
    cursor = chroprof_next_step(p, &cursor, &step) ? cursor - 1 : 0;
    const uint64_t values[] = { steps, steps ? chroprof__minus(end_ns, step.at_ns) : 0,
                                chroprof__count_ready(p), cursor };
    chroprof__put_json(o, "\ntimeline{steps reaches_back_ns ready first data\"", values);
    for (size_t i = 0; !o->failed && chroprof_next_step(p, &cursor, &step); i++)
        if (i >= older)
            chroprof__json_step(&k, &step);
    step = chroprof__step_now(p, &totals);
    if (steps > 0)
        chroprof__json_step(&k, &step);
    chroprof__json_packed(&k);
}

static void chroprof__json_tables(chroprof__out *o, const chroprof *p)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(p, rows, CHROPROF_TABLE_COUNT);
    chroprof__put_json(o, "\ntables[", NULL);
    for (size_t k = 0; k < count; k++)
        chroprof__put_json(o, "\n{name$ option$ capacity used peak dropped advice bytes}",
                           &rows[k].name);
    chroprof__put_json(o, "\n]", NULL);
}

static void chroprof__json_anomaly(chroprof__out *o, const chroprof_anomaly *row)
{
    const chroprof_anomaly_place *places[] = { &row->first, &row->last };
    chroprof__put_json(o, "\n{kind(" CHROPROF__ANOMALY_WORDS ")text$ cure$ count places[", row);
    for (uint32_t k = 0; k < 2 && row->placed; k++)
        chroprof__put_json(o, "{at_ns id path. top. name$ file$ line.}", places[k]);
    chroprof__put_json(o, "]}", NULL);
}

static void chroprof__json_sampler(chroprof__out *o, const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_read_sampler(p, &t);
    chroprof__put_json(o, t.first_period_ns ? "\nsampler{running? mode(cpu,wall)"
                                            : "\nsampler{running? mode'none'", &t.running);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__sampler_figures), chroprof__sampler_words,
                           false, &t);
    chroprof__put_json(o, "}", NULL);
}

static void chroprof__json_modules(chroprof__out *o, const chroprof *p)
{
    chroprof_module rows[CHROPROF__MOST_MODULES];
    uint64_t count = chroprof_modules(p, rows, CHROPROF__MOST_MODULES);
    chroprof__put_json(o, "\nmodules[", NULL);
    for (uint64_t k = 0; k < count; k++) {
        chroprof__put_json(o, "\n{id", &k);
        chroprof__put_json(o, "path$ build_id$ base}", rows + k);
    }
    chroprof__put_json(o, "\n]", NULL);
}

static void chroprof__json_stack(chroprof__out *o, const chroprof_stack_row *row)
{
    chroprof__put_json(o, "\n{id. parent. module- weight cpu_ns", row);
    chroprof__put_json(o, "kind(task,native,marker)name$ path. return? address}", &row->frame);
}

static void chroprof__json_wall(chroprof__out *o, const chroprof_wall *row)
{
    const uint64_t weights[] = { row->running, row->ready, row->paused };
    const uint64_t ns[] = { row->running_ns, row->ready_ns, row->paused_ns };
    for (uint32_t k = 0; k < 3; k++) {
        const struct {
            uint64_t path;
            chroprof_state state;
            uint64_t weight, duration_ns;
        } met = { row->path, (chroprof_state)k, weights[k], ns[k] };
        if (met.weight > 0)
            chroprof__put_json(o, "\n{path state(running,ready,paused)weight duration_ns}", &met);
    }
}

/* A list at the top level, one row a line. Not inlined: the rows would add up on the stack. */
#define CHROPROF__JSON_LIST(name, row_type, more, put)                                             \
    CHROPROF__NOINLINE void chroprof__list_##name(chroprof__out *o, const chroprof *p)             \
    {                                                                                              \
        uint64_t cursor = 0;                                                                       \
        row_type row;                                                                              \
        chroprof__put_json(o, "\n" #name "[", NULL);                                               \
        while (!o->failed && more)                                                                 \
            put;                                                                                   \
        chroprof__put_json(o, "\n]", NULL);                                                        \
    }
CHROPROF__JSON_LIST(sites, chroprof_rank, chroprof_next_rank(p, &cursor, &row),
                    chroprof__json_site(o, p, &row))
CHROPROF__JSON_LIST(paths, chroprof_path, chroprof_next_path(p, &cursor, &row),
                    chroprof__json_path(o, &row))
CHROPROF__JSON_LIST(stalls, chroprof_stall, chroprof_next_stall(p, &cursor, &row),
                    chroprof__json_stall(o, p, &row))
CHROPROF__JSON_LIST(slowest, chroprof_slow, chroprof_next_slowest(p, &cursor, &row),
                    chroprof__json_slow(o, &row))
CHROPROF__JSON_LIST(futures, chroprof_future, chroprof_next_future(p, &cursor, &row),
                    chroprof__put_json(o, "\n{id path. state(pending,ready,running,paused)since_ns "
                                       "exec_ns name$ file$ line.}", &row))
CHROPROF__JSON_LIST(anomalies, chroprof_anomaly,
                    chroprof_read_anomaly(p, (chroprof_anomaly_kind)cursor++, &row),
                    chroprof__json_anomaly(o, &row))
CHROPROF__JSON_LIST(stacks, chroprof_stack_row, chroprof_next_stack(p, &cursor, &row),
                    chroprof__json_stack(o, &row))
CHROPROF__JSON_LIST(samples, chroprof_sample_row, chroprof_next_sample(p, &cursor, &row),
                    chroprof__put_json(o, "\n{at_ns duration_ns weight cpu_ns stack. "
                                       "state(busy,idle,uninstrumented)}", &row))
CHROPROF__JSON_LIST(wall, chroprof_wall, chroprof_next_wall(p, &cursor, &row),
                    chroprof__json_wall(o, &row))
#undef CHROPROF__JSON_LIST

CHROPROF__COLD_API void chroprof_as_json(chroprof__out *o, const chroprof *p)
{
    chroprof_origin origin;
    if (o->absent) {
        const struct {
            uint64_t version;
            const char *why_off;
        } values = { CHROPROF_JSON_VERSION, chroprof_why_off(p) };
        chroprof__put_json(o, "{\nchroprof why_off$", &values);
        chroprof__put_text(o, "\n}\n");
        return;
    }
    chroprof_read_origin(p, &origin);
    chroprof__json_head(o, p, &origin);
    chroprof__json_totals(o, p);
    chroprof__json_findings(o, p);
    chroprof__json_waits(o, p);
    chroprof__list_sites(o, p);
    chroprof__list_paths(o, p);
    chroprof__list_stalls(o, p);
    chroprof__list_slowest(o, p);
    chroprof__json_windows(o, p);
    chroprof__list_futures(o, p);
    chroprof__json_timeline(o, p, origin.end_ns);
    chroprof__json_tables(o, p);
    chroprof__list_anomalies(o, p);
    chroprof__json_sampler(o, p);
    chroprof__json_modules(o, p);
    chroprof__list_stacks(o, p);
    chroprof__list_samples(o, p);
    chroprof__list_wall(o, p);
    chroprof__put_text(o, "\n}\n");
}
#else
CHROPROF__LEFT_OUT(chroprof_as_json)
#endif /* CHROPROF_NO_JSON */
