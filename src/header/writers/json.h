/* writers/json.h */
#pragma once
#include "../interface/version.h"
#include "../interface/kinds.h"
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
 * Owns the schema. Figures go by the lists in >>figures, in their order; the rest by lists of
 * fields, which have the place of each: the order of fields in a struct is free. Relies on the
 * public reads; called by >>formats. */

#define CHROPROF_JSON_VERSION 3

/* The figures of a list that a public struct has. */
static void chroprof__json_figures(chroprof__out *o, const chroprof__figure *list, size_t count,
                                   const char *name, bool of_rank, const void *row)
{
    for (size_t k = 0; k < count; k++) {
        uint16_t at = of_rank ? list[k].rank : list[k].at;
        if (at != CHROPROF__NOT_THERE)
            chroprof__put_value(o, name, chroprof__field(row, at));
        name = chroprof__nth_text(name, 3);
    }
}

/* Where in the code a site is. */
#define CHROPROF__JSON_PLACE(F, type) F(type, name, "$") F(type, file, "$") F(type, line, ".")

#define CHROPROF__JSON_OPTIONS(F)                                                                  \
    F(chroprof_options, window_ns, "") F(chroprof_options, stall_ns, "")                           \
    F(chroprof_options, max_step_ns, "")

static void chroprof__json_head(chroprof__out *o, const chroprof *p, const chroprof_origin *origin)
{
    const uint64_t version = CHROPROF_JSON_VERSION, cost_ps = chroprof__event_cost_ps(p);
    const char *why_off = chroprof_why_off(p);
    chroprof_options of;
    chroprof_read_options(p, &of);
    chroprof__put_value(o, "{\nchroprof \nversion'" CHROPROF_VERSION "'", &version);
    chroprof__put_value(o, "\nname$", &origin->name);
    chroprof__put_value(o, "\nprogram$", &origin->program);
    CHROPROF__PUT_FIELDS(o, "\noptions{", CHROPROF__JSON_OPTIONS, "}", &of);
    chroprof__put_value(o, "\nevent_cost_ps", &cost_ps);
    chroprof__put_value(o, "\nwhy_off$", &why_off);
}

#define CHROPROF__JSON_STATES(F)                                                                   \
    F(chroprof_totals, provisional, "?") F(chroprof_totals, enabled, "?")                          \
    F(chroprof_totals, idle, "?") F(chroprof_totals, depth, ".")                                   \
    F(chroprof_totals, living, "?") F(chroprof_totals, estimated, "?")

static void chroprof__json_totals(chroprof__out *o, const chroprof *p)
{
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    chroprof__put_value(o, "\ntotals{", NULL);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__loop_figures), chroprof__loop_words, false,
                           &t);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_STATES, "}", &t);
}

#define CHROPROF__JSON_WAIT(F)                                                                     \
    F(chroprof_task_wait, site, ".") F(chroprof_task_wait, count, "")                              \
    F(chroprof_task_wait, total_ns, "") F(chroprof_task_wait, longest_ns, "")                      \
    F(chroprof_task_wait, call, "$") F(chroprof_task_wait, within, "$")                            \
    CHROPROF__JSON_PLACE(F, chroprof_task_wait) F(chroprof_task_wait, estimated, "?")

static void chroprof__json_waits(chroprof__out *o, const chroprof *p)
{
    chroprof_task_wait rows[CHROPROF__WAITED];
    size_t count = chroprof_task_waits(p, rows, CHROPROF__WAITED);
    const char *awake = chroprof_awake_by(p);
    chroprof__put_value(o, "\nawake_by$", &awake);
    chroprof__put_value(o, "\ntask_waits[", NULL);
    for (const chroprof_task_wait *w = rows; w < rows + count; w++)
        CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_WAIT, "}", w);
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_FINDING(F)                                                                  \
    F(chroprof_finding, site, ".") F(chroprof_finding, share_ppm, ".")                             \
    F(chroprof_finding, value_ns, "") F(chroprof_finding, at_ns, "")

static void chroprof__json_findings(chroprof__out *o, const chroprof *p)
{
    chroprof__put_value(o, "\nfindings[", NULL);
#ifndef CHROPROF_NO_FINDINGS
#define CHROPROF__FINDING_WORD(name) #name ","
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (const chroprof_finding *f = rows; f < rows + count; f++) {
        const char *text = f->text;
        chroprof__put_value(o, "\n{kind(" CHROPROF_FINDINGS(CHROPROF__FINDING_WORD) ")", &f->kind);
        chroprof__put_value(o, "text$", &text);
        CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_FINDING, "}", f);
    }
#undef CHROPROF__FINDING_WORD
#else
    (void)p;
#endif
    chroprof__put_value(o, "\n]", NULL);
}

/* Windows are read in spans of this many, which share one look at the site. */
enum { CHROPROF__JSON_SPAN = 64 };

#define CHROPROF__JSON_SITE(F) CHROPROF__JSON_PLACE(F, chroprof_rank)
#define CHROPROF__JSON_RANK(F) F(chroprof_rank, id, ".") F(chroprof_rank, has_percentiles, "?")

static void chroprof__json_site(chroprof__out *o, const chroprof *p, const chroprof_rank *r)
{
    chroprof_windows_cursor cursor;
    uint64_t ns[CHROPROF__JSON_SPAN];
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SITE, "", r);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, true,
                           r);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_RANK, "windows[", r);
    while (!o->failed && (left = chroprof_next_site_windows(p, r->id, &cursor, ns,
                                                            CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            chroprof__put_value(o, "%", ns + k);
    chroprof__put_value(o, "]}", NULL);
}

#define CHROPROF__JSON_PATH(F)                                                                     \
    F(chroprof_path, id, ".") F(chroprof_path, parent, ".") F(chroprof_path, site, ".")            \
    CHROPROF__JSON_PLACE(F, chroprof_path)

static void chroprof__json_path(chroprof__out *o, const chroprof_path *row)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_PATH, "", row);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, false,
                           row);
    chroprof__put_value(o, "}", NULL);
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

/* In place of a path: so many steps before this one are left out. */
#define CHROPROF__JSON_LEFT_OUT (UINT64_C(1) << 32)

static void chroprof__json_step(chroprof__json_packer *k, const chroprof_step *s)
{
    uint64_t less = s->id - k->id;
    const chroprof_state state = s->state > CHROPROF_NEXT ? CHROPROF_TICK : s->state;
    chroprof__json_pack(k, (uint64_t)state + (s->id ? 16 : 0) + 32 * (uint64_t)s->depth);
    chroprof__json_pack(k, chroprof__minus(s->at_ns, k->at_ns));
    chroprof__json_pack(k, s->left_out ? CHROPROF__JSON_LEFT_OUT + s->left_out : s->path);
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
    chroprof__put_value(k->out, "\"}", NULL);
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

#define CHROPROF__JSON_SHARE(F)                                                                    \
    F(chroprof_stall_share, site, ".") F(chroprof_stall_share, exec_ns, "")                        \
    F(chroprof_stall_share, slices, "") F(chroprof_stall_share, slice_max_ns, "")                  \
    CHROPROF__JSON_PLACE(F, chroprof_stall_share)
#define CHROPROF__JSON_SAMPLED(F)                                                                  \
    F(chroprof_stall_sample, stack, ".") F(chroprof_stall_sample, weight, ".")                     \
    F(chroprof_stall_sample, cpu_ns, "")
#define CHROPROF__JSON_STALL(F)                                                                    \
    F(chroprof_stall, kind, "(callback,iteration)") F(chroprof_stall, start_ns, "")                \
    F(chroprof_stall, length_ns, "") F(chroprof_stall, events, "")
#define CHROPROF__JSON_STALL_CODE(F)                                                               \
    F(chroprof_stall, rest_ns, "") F(chroprof_stall, sampled, "") F(chroprof_stall, cpu_ns, "")    \
    F(chroprof_stall, waiting_ns, "")
#define CHROPROF__JSON_STALL_STEPS(F)                                                              \
    F(chroprof_stall, first_steps, ".") F(chroprof_stall, left_out, "")

static void chroprof__json_stall(chroprof__out *o, const chroprof *p, const chroprof_stall *s)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_STALL, "shares[", s);
    for (const chroprof_stall_share *x = s->shares; x < s->shares + s->share_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_SHARE, "}", x);
    CHROPROF__PUT_FIELDS(o, "]", CHROPROF__JSON_STALL_CODE, "samples[", s);
    for (const chroprof_stall_sample *x = s->samples; x < s->samples + s->sample_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_SAMPLED, "}", x);
    chroprof__put_value(o, "]number", &s->number);
    chroprof__put_value(o, "steps.", &s->step_count);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_STALL_STEPS, "data\"", s);
    chroprof__json_incident(o, p, s);
}

#define CHROPROF__JSON_BLAME(F)                                                                    \
    F(chroprof_slow_blame, site, ".") F(chroprof_slow_blame, delay_ns, "")                         \
    CHROPROF__JSON_PLACE(F, chroprof_slow_blame)
#define CHROPROF__JSON_SLOW(F)                                                                     \
    F(chroprof_slow, id, "") F(chroprof_slow, site, ".") F(chroprof_slow, path, ".")               \
    CHROPROF__JSON_PLACE(F, chroprof_slow)                                                         \
    F(chroprof_slow, finish, "(,,,,completed,failed,cancelled)") F(chroprof_slow, of_run, "?")     \
    F(chroprof_slow, at_ns, "") F(chroprof_slow, latency_ns, "") F(chroprof_slow, exec_ns, "")     \
    F(chroprof_slow, children_ns, "") F(chroprof_slow, delay_ns, "")                               \
    F(chroprof_slow, waiting_ns, "") F(chroprof_slow, unseen_ns, "")

static void chroprof__json_slow(chroprof__out *o, const chroprof_slow *s)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SLOW, "blames[", s);
    for (const chroprof_slow_blame *x = s->blames; x < s->blames + s->blame_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_BLAME, "}", x);
    chroprof__put_value(o, "]}", NULL);
}

#define CHROPROF__JSON_WINDOW(F)                                                                   \
    F(chroprof_window, start_ns, "") F(chroprof_window, end_ns, "")                                \
    F(chroprof_window, busy_ns, "") F(chroprof_window, idle_ns, "")                                \
    F(chroprof_window, uninstrumented_ns, "") F(chroprof_window, untracked_ns, "")

static void chroprof__json_windows(chroprof__out *o, const chroprof *p)
{
    chroprof_window rows[CHROPROF__JSON_SPAN];
    chroprof_windows_cursor cursor;
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    chroprof__put_value(o, "\nwindows[", NULL);
    while (!o->failed &&
           (left = chroprof_next_windows(p, &cursor, rows, CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_WINDOW, "}", rows + k);
    chroprof__put_value(o, "\n]", NULL);
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
    const uint64_t count = steps, ready = chroprof__count_ready(p);
    const uint64_t back_ns = steps ? chroprof__minus(end_ns, step.at_ns) : 0;
    chroprof__put_value(o, "\ntimeline{steps", &count);
    chroprof__put_value(o, "reaches_back_ns", &back_ns);
    chroprof__put_value(o, "ready", &ready);
    chroprof__put_value(o, "first", &cursor);
    chroprof__put_value(o, "data\"", NULL);
    for (size_t i = 0; !o->failed && chroprof_next_step(p, &cursor, &step); i++)
        if (i >= older)
            chroprof__json_step(&k, &step);
    step = chroprof__step_now(p, &totals);
    if (steps > 0)
        chroprof__json_step(&k, &step);
    chroprof__json_packed(&k);
}

#define CHROPROF__JSON_TABLE(F)                                                                    \
    F(chroprof_table, name, "$") F(chroprof_table, option, "$") F(chroprof_table, capacity, "")    \
    F(chroprof_table, used, "") F(chroprof_table, peak, "") F(chroprof_table, dropped, "")         \
    F(chroprof_table, advice, "") F(chroprof_table, bytes, "")

static void chroprof__json_tables(chroprof__out *o, const chroprof *p)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(p, rows, CHROPROF_TABLE_COUNT);
    chroprof__put_value(o, "\ntables[", NULL);
    for (size_t k = 0; k < count; k++)
        CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_TABLE, "}", rows + k);
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_MET(F)                                                                      \
    F(chroprof_anomaly_place, at_ns, "") F(chroprof_anomaly_place, id, "")                         \
    F(chroprof_anomaly_place, path, ".") F(chroprof_anomaly_place, top, ".")                       \
    CHROPROF__JSON_PLACE(F, chroprof_anomaly_place)
#define CHROPROF__JSON_ANOMALY(F)                                                                  \
    F(chroprof_anomaly, kind, "(" CHROPROF__ANOMALY_WORDS ")") F(chroprof_anomaly, text, "$")      \
    F(chroprof_anomaly, cure, "$") F(chroprof_anomaly, count, "")

static void chroprof__json_anomaly(chroprof__out *o, const chroprof_anomaly *row)
{
    const chroprof_anomaly_place *met[] = { &row->first, &row->last };
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_ANOMALY, "places[", row);
    for (uint32_t k = 0; k < 2 && row->placed; k++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_MET, "}", met[k]);
    chroprof__put_value(o, "]}", NULL);
}

static void chroprof__json_sampler(chroprof__out *o, const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_read_sampler(p, &t);
    chroprof__put_value(o, "\nsampler{running?", &t.running);
    chroprof__put_value(o, t.first_period_ns ? "mode(cpu,wall)" : "mode'none'", &t.mode);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__sampler_figures), chroprof__sampler_words,
                           false, &t);
    chroprof__put_value(o, "}", NULL);
}

#define CHROPROF__JSON_MODULE(F)                                                                   \
    F(chroprof_module, path, "$") F(chroprof_module, build_id, "$") F(chroprof_module, base, "")

static void chroprof__json_modules(chroprof__out *o, const chroprof *p)
{
    chroprof_module rows[CHROPROF__MOST_MODULES];
    uint64_t count = chroprof_modules(p, rows, CHROPROF__MOST_MODULES);
    chroprof__put_value(o, "\nmodules[", NULL);
    for (uint64_t k = 0; k < count; k++) {
        chroprof__put_value(o, "\n{id", &k);
        CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_MODULE, "}", rows + k);
    }
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_STACK(F)                                                                    \
    F(chroprof_stack_row, id, ".") F(chroprof_stack_row, parent, ".")                              \
    F(chroprof_stack_row, module, "-") F(chroprof_stack_row, weight, "")                           \
    F(chroprof_stack_row, cpu_ns, "")
#define CHROPROF__JSON_FRAME(F)                                                                    \
    F(chroprof_stack_frame, kind, "(task,native,marker)") F(chroprof_stack_frame, name, "$")       \
    F(chroprof_stack_frame, path, ".")

static void chroprof__json_stack(chroprof__out *o, const chroprof_stack_row *row)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_STACK, "", row);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_FRAME, "", &row->frame);
    chroprof__put_value(o, "return?", &row->frame.is_return);
    chroprof__put_value(o, "address}", &row->frame.address);
}

/* The states in which the draws met futures. */
#define CHROPROF__JSON_MET_IN(F)                                                                   \
    F(chroprof_wall, running, running_ns) F(chroprof_wall, ready, ready_ns)                        \
    F(chroprof_wall, paused, paused_ns)
#define CHROPROF__JSON_WEIGHT(type, count, ns) (uint16_t)offsetof(type, count),
#define CHROPROF__JSON_TIME(type, count, ns) (uint16_t)offsetof(type, ns),

static void chroprof__json_wall(chroprof__out *o, const chroprof_wall *row)
{
    static const uint16_t weights[] = { CHROPROF__JSON_MET_IN(CHROPROF__JSON_WEIGHT) };
    static const uint16_t times[] = { CHROPROF__JSON_MET_IN(CHROPROF__JSON_TIME) };
    for (uint32_t k = 0; k < 3; k++) {
        const chroprof_state state = (chroprof_state)k;
        if (*chroprof__field(row, weights[k]) == 0)
            continue;
        chroprof__put_value(o, "\n{path.", &row->path);
        chroprof__put_value(o, "state(running,ready,paused)", &state);
        chroprof__put_value(o, "weight", chroprof__field(row, weights[k]));
        chroprof__put_value(o, "duration_ns}", chroprof__field(row, times[k]));
    }
}

#define CHROPROF__JSON_FUTURE(F)                                                                   \
    F(chroprof_future, id, "") F(chroprof_future, path, ".")                                       \
    F(chroprof_future, state, "(pending,ready,running,paused)") F(chroprof_future, since_ns, "")   \
    F(chroprof_future, exec_ns, "") CHROPROF__JSON_PLACE(F, chroprof_future)
#define CHROPROF__JSON_SAMPLE(F)                                                                   \
    F(chroprof_sample_row, at_ns, "") F(chroprof_sample_row, duration_ns, "")                      \
    F(chroprof_sample_row, weight, "") F(chroprof_sample_row, cpu_ns, "")                          \
    F(chroprof_sample_row, stack, ".")                                                             \
    F(chroprof_sample_row, state, "(busy,idle,uninstrumented)")

/* A list at the top level, one row a line. Not inlined: the rows would add up on the stack. */
#define CHROPROF__JSON_LIST(name, row_type, more, put)                                             \
    CHROPROF__NOINLINE void chroprof__list_##name(chroprof__out *o, const chroprof *p)             \
    {                                                                                              \
        uint64_t cursor = 0;                                                                       \
        row_type row;                                                                              \
        chroprof__put_value(o, "\n" #name "[", NULL);                                             \
        while (!o->failed && more)                                                                 \
            put;                                                                                   \
        chroprof__put_value(o, "\n]", NULL);                                                       \
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
                    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_FUTURE, "}", &row))
CHROPROF__JSON_LIST(anomalies, chroprof_anomaly,
                    chroprof_read_anomaly(p, (chroprof_anomaly_kind)cursor++, &row),
                    chroprof__json_anomaly(o, &row))
CHROPROF__JSON_LIST(stacks, chroprof_stack_row, chroprof_next_stack(p, &cursor, &row),
                    chroprof__json_stack(o, &row))
CHROPROF__JSON_LIST(samples, chroprof_sample_row, chroprof_next_sample(p, &cursor, &row),
                    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SAMPLE, "}", &row))
CHROPROF__JSON_LIST(wall, chroprof_wall, chroprof_next_wall(p, &cursor, &row),
                    chroprof__json_wall(o, &row))
#undef CHROPROF__JSON_LIST

CHROPROF__COLD_API void chroprof__as_json(chroprof__out *o, const chroprof *p)
{
    chroprof_origin origin;
    if (o->absent) {
        const uint64_t version = CHROPROF_JSON_VERSION;
        const char *why_off = chroprof_why_off(p);
        chroprof__put_value(o, "{\nchroprof", &version);
        chroprof__put_value(o, "why_off$", &why_off);
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
CHROPROF__LEFT_OUT(chroprof__as_json)
#endif /* CHROPROF_NO_JSON */
