/* reading/figures.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"

/* >>figures: what is known of a path, of the loop and of the sampler, one line a figure. All reads
 * and writers go by these lists, and so do differences and merges. To add a figure of a path, add a
 * field to chroprof__path_row, one each to chroprof_path and chroprof_rank, and a line here; set it
 * where the event happens, on the slow and on the fast path. Figures are counts and lengths
 * of time: a moment is of another time 0 in a difference and in a merge, which move it by hand, as
 * they do lifetime and delay. Uses >>block alone. */

CHROPROF__COLD_BEGIN

enum { CHROPROF__TICKS, CHROPROF__COUNT };         /* in the block; the public structs have ns */
enum {
    CHROPROF__SUM,             /* adds up; a difference takes the older one away */
    CHROPROF__MAX,             /* the largest one counts */
    CHROPROF__PRESENT,         /* adds up; a difference has it as it is now */
    CHROPROF__FIRST,           /* a merge keeps it; 0 gives way to the other's */
    CHROPROF__OWN              /* of this very profile: no merge or difference touches it */
};
enum { CHROPROF__NOT_THERE = 0xFFFF };

typedef struct chroprof__figure {
    uint16_t row;              /* offset in the block's row; NOT_THERE: the read works it out */
    uint16_t at;               /* offset in chroprof_path, chroprof_totals, .._sampler_totals */
    uint16_t rank;             /* of a path's figure: offset in chroprof_rank */
    uint8_t unit, kind;
} chroprof__figure;

#define CHROPROF__OF(type, field) (uint16_t)offsetof(type, field)
#define CHROPROF__UNSEEN(type, field, unit, kind)                                                  \
    { CHROPROF__OF(type, field), CHROPROF__NOT_THERE, CHROPROF__NOT_THERE, CHROPROF__##unit,       \
      CHROPROF__##kind },
#define CHROPROF__PATH_FIGURE(name, field, unit, kind, metric, help)                               \
    { CHROPROF__OF(chroprof__path_row, field), CHROPROF__OF(chroprof_path, name),                  \
      CHROPROF__OF(chroprof_rank, name), CHROPROF__##unit, CHROPROF__##kind },
#define CHROPROF__PATH_READ(name, metric, help)                                                    \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_path, name), CHROPROF__OF(chroprof_rank, name),   \
      CHROPROF__COUNT, CHROPROF__SUM },
#define CHROPROF__RANK_ONLY(name)                                                                  \
    { CHROPROF__NOT_THERE, CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_rank, name),                 \
      CHROPROF__COUNT, CHROPROF__OWN },

/* Of a path, as chroprof__path_now has its row; added up over its paths, of a site. READ: the read
 * works it out of one path, and over paths it adds up. UNSEEN: the row alone has it. */
#define CHROPROF__PATH_LIST(FIGURE, READ, RANK_ONLY, UNSEEN)                                       \
    FIGURE(exec_ns, exec, TICKS, SUM, "exec_seconds_total",                                        \
           "Time that futures of a site occupied the event loop.")                                 \
    RANK_ONLY(children_ns)                                                                         \
    READ(with_children_ns, "with_children_seconds_total",                                          \
         "The same with everything below them in the tree of creations.")                          \
    FIGURE(exec_max_ns, exec_max, TICKS, MAX, "", "")                                              \
    FIGURE(slice_max_ns, slice_max, TICKS, MAX, "", "")                                            \
    RANK_ONLY(slice_p50_ns) RANK_ONLY(slice_p90_ns) RANK_ONLY(slice_p99_ns)                        \
    RANK_ONLY(slice_p999_ns) RANK_ONLY(slice_typical_ns) RANK_ONLY(slice_min_ns)                   \
    RANK_ONLY(slice_p1_ns) RANK_ONLY(measured)                                                     \
    RANK_ONLY(latency_p50_ns) RANK_ONLY(latency_p99_ns) RANK_ONLY(latency_max_ns)                  \
    READ(slices, "", "")                                                                           \
    UNSEEN(chroprof__path_row, entered, COUNT, SUM)                                                \
    UNSEEN(chroprof__path_row, activations, COUNT, SUM)                                            \
    FIGURE(lifetime_ns, lifetime, TICKS, SUM, "lifetime_seconds_total",                            \
           "Time from creation to finish of futures, or to now while they live.")                  \
    READ(waiting_ns, "", "")                                                                       \
    FIGURE(delay_ns, delay, TICKS, SUM, "delay_seconds_total",                                     \
           "Time that futures were ready and did not run.")                                        \
    UNSEEN(chroprof__path_row, delay_max, TICKS, MAX)                                              \
    RANK_ONLY(delay_p99_ns)                                                                        \
    FIGURE(found, found, COUNT, SUM, "found_total",                                                \
           "What polls of the loop brought for a site.")                                           \
    FIGURE(hidden_total_ns, hidden, TICKS, SUM, "hidden_seconds_total",                            \
           "Estimate: time for which that had waited unseen for the poll.")                        \
    FIGURE(blame_ns, blame, TICKS, SUM, "blame_seconds_total",                                     \
           "Delay of all ready futures while this site occupied the loop.")                        \
    READ(calls, "", "")                                                                            \
    FIGURE(completed, completed, COUNT, SUM, "calls_total", "Futures that ended, by result.")      \
    FIGURE(failed, failed, COUNT, SUM, "calls_total", "")                                          \
    FIGURE(cancelled, cancelled, COUNT, SUM, "calls_total", "")                                    \
    FIGURE(abandoned, abandoned, COUNT, SUM, "calls_total", "")                                    \
    FIGURE(dropped, dropped, COUNT, SUM, "calls_total", "")                                        \
    FIGURE(live, merged_live, COUNT, PRESENT, "live_futures",                                      \
           "Futures that were created and have not ended.")                                        \
    FIGURE(stillborn, stillborn, COUNT, SUM, "stillborn_total",                                    \
           "Futures that were created already finished.")                                          \
    READ(cpu_ns, "sampled_cpu_seconds_total",                                                      \
         "CPU time that the sampler met in slices of a site.")                                     \
    READ(samples, "samples_total", "Samples in slices of a site.")

static const chroprof__figure chroprof__path_figures[] = {
    CHROPROF__PATH_LIST(CHROPROF__PATH_FIGURE, CHROPROF__PATH_READ, CHROPROF__RANK_ONLY,
                        CHROPROF__UNSEEN)
};

#define CHROPROF__LOOP_FIGURE(name, field, unit, kind, metric, help)                               \
    { CHROPROF__OF(chroprof__core, field), CHROPROF__OF(chroprof_totals, name),                    \
      CHROPROF__NOT_THERE, CHROPROF__##unit, CHROPROF__##kind },
#define CHROPROF__LOOP_READ(name, metric, help)                                                    \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_totals, name), CHROPROF__NOT_THERE,               \
      CHROPROF__COUNT, CHROPROF__OWN },

/* Of the loop, in the core. */
#define CHROPROF__LOOP_LIST(FIGURE, READ, UNSEEN)                                                  \
    READ(elapsed_ns, "elapsed_seconds_total", "Profile time: busy, idle, uninstrumented.")         \
    READ(busy_ns, "busy_seconds_total", "Time of futures, untracked included.")                    \
    READ(idle_ns, "idle_seconds_total", "Time blocked in the operating system.")                   \
    READ(uninstrumented_ns, "uninstrumented_seconds_total", "Time neither of futures nor idle.")   \
    FIGURE(start_ns, phase.start_ticks, TICKS, SUM, "start_seconds_total",                         \
           "Time before the first wait ended, part of uninstrumented.")                            \
    FIGURE(exit_ns, phase.exit_ticks, TICKS, SUM, "exit_seconds_total",                            \
           "Time after the loop was over, part of uninstrumented.")                                \
    READ(untracked_ns, "untracked_seconds_total",                                                  \
         "Time of futures that are not known, part of busy.")                                      \
    READ(delay_ns, "", "") READ(blame_ns, "", "")                                                  \
    READ(events, "events_total", "Events taken.")                                                  \
    UNSEEN(chroprof__core, made.merged_events, COUNT, SUM)                                         \
    READ(anomalies, "", "") READ(live, "", "")                                                     \
    FIGURE(iterations, loop.iterations, COUNT, SUM, "iterations_total",                            \
           "Iterations of the loop, from one idle to the next.")                                   \
    READ(iteration_p50_ns, "", "") READ(iteration_p99_ns, "", "")                                  \
    FIGURE(iteration_max_ns, loop.iteration_max, TICKS, MAX, "", "")                               \
    FIGURE(callbacks, loop.callbacks, COUNT, SUM, "callbacks_total",                               \
           "Outermost activations on the running stack.")                                          \
    READ(callback_p50_ns, "", "") READ(callback_p99_ns, "", "")                                    \
    FIGURE(callback_max_ns, loop.callback_max, TICKS, MAX, "", "")                                 \
    FIGURE(stalls, loop.stalls, COUNT, SUM, "stalls_total",                                        \
           "Callbacks and iterations that were too long.")                                         \
    READ(idle_blame_ns, "idle_blame_seconds_total", "Delay of ready futures while idle.")          \
    READ(uninstrumented_blame_ns, "uninstrumented_blame_seconds_total",                            \
         "Delay of ready futures in time of the loop's own.")                                      \
    READ(untracked_blame_ns, "untracked_blame_seconds_total",                                      \
         "Delay of ready futures in untracked time.")                                              \
    FIGURE(at_once, loop.at_once, COUNT, SUM, "waits_at_once_total",                               \
           "Waits of the loop that returned at once.")                                             \
    FIGURE(at_once_ns, loop.at_once_ticks, TICKS, SUM, "at_once_seconds_total",                    \
           "Time in waits that returned at once, part of idle.")                                   \
    FIGURE(cpu_clock_ns, loop.cpu_clock_ns, COUNT, OWN, "", "")                                    \
    READ(asleep_ns, "", "") READ(hidden_ns, "", "") READ(hidden_p99_ns, "", "")                    \
    READ(dropped, "", "")                                                                          \
    FIGURE(elapsed_ticks, last, COUNT, OWN, "", "")                                                \
    READ(delay_ticks, "", "") READ(blame_ticks, "", "")                                            \
    FIGURE(start_unix_ns, process.start_unix_ns, COUNT, OWN, "", "")                               \
    FIGURE(tick_error_ppb, time.error_ppb, COUNT, MAX, "", "")                                     \
    FIGURE(skew_ns, copy.skew_ticks, TICKS, PRESENT, "", "")                                       \
    FIGURE(skew_events, copy.skew_events, COUNT, PRESENT, "", "")                                  \
    FIGURE(doubt_ns, copy.torn_ticks, TICKS, PRESENT, "", "")                                      \
    FIGURE(doubt_events, copy.torn_events, COUNT, PRESENT, "", "")

static const chroprof__figure chroprof__loop_figures[] = {
    CHROPROF__LOOP_LIST(CHROPROF__LOOP_FIGURE, CHROPROF__LOOP_READ, CHROPROF__UNSEEN)
};

#define CHROPROF__SAMPLER_FIGURE(name, field, kind)                                                \
    { CHROPROF__OF(chroprof__sampler, field), CHROPROF__OF(chroprof_sampler_totals, name),         \
      CHROPROF__NOT_THERE, CHROPROF__COUNT, CHROPROF__##kind },
#define CHROPROF__SAMPLER_READ(name)                                                               \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_sampler_totals, name), CHROPROF__NOT_THERE,       \
      CHROPROF__COUNT, CHROPROF__OWN },
#define CHROPROF__SAMPLER_LIST(FIGURE, READ)                                                       \
    FIGURE(period_ns, handler.period_ns, FIRST) FIGURE(first_period_ns, set.first_period_ns, FIRST)\
    FIGURE(budget_ppm, set.budget_ppm, FIRST) FIGURE(ticks, handler.ticks, SUM)                    \
    FIGURE(samples, rows.samples, SUM) READ(rows) FIGURE(inside, rows.inside, SUM)                 \
    FIGURE(lost, handler.lost, SUM) FIGURE(dropped, rows.dropped, OWN)                             \
    FIGURE(cost_ns, handler.cost_ns, SUM) FIGURE(draws, draw.draws, SUM)                           \
    FIGURE(misses, draw.misses, SUM) FIGURE(interrupted, handler.interrupted, SUM)

static const chroprof__figure chroprof__sampler_figures[] = {
    CHROPROF__SAMPLER_LIST(CHROPROF__SAMPLER_FIGURE, CHROPROF__SAMPLER_READ)
};

#define CHROPROF__DRAWN(name, field, unit)                                                         \
    { CHROPROF__OF(chroprof__wall_row, field), CHROPROF__OF(chroprof_wall, name),                  \
      CHROPROF__NOT_THERE, CHROPROF__##unit, CHROPROF__SUM },

/* Of what the sampler met of a path. */
static const chroprof__figure chroprof__wall_figures[] = {
    CHROPROF__DRAWN(running, weight[0], COUNT) CHROPROF__DRAWN(running_ns, ticks[0], TICKS)
    CHROPROF__DRAWN(ready, weight[1], COUNT) CHROPROF__DRAWN(ready_ns, ticks[1], TICKS)
    CHROPROF__DRAWN(paused, weight[2], COUNT) CHROPROF__DRAWN(paused_ns, ticks[2], TICKS)
    CHROPROF__UNSEEN(chroprof__wall_row, samples, COUNT, SUM)
    CHROPROF__UNSEEN(chroprof__wall_row, cpu_ns, COUNT, SUM)
};

/* A list and how long it is. */
#define CHROPROF__ALL(list) list, sizeof list / sizeof *list

CHROPROF__NOINLINE uint64_t chroprof__ns(const chroprof__core *c, uint64_t ticks)
{
    return chroprof__scale(ticks, c->time.factor);
}

/* Where the figure is in chroprof_rank that sites are ordered by. */
static uint16_t chroprof__order_at(chroprof_order by)
{
    static const uint16_t at[] = {
        CHROPROF__OF(chroprof_rank, exec_ns), CHROPROF__OF(chroprof_rank, with_children_ns),
        CHROPROF__OF(chroprof_rank, slice_max_ns), CHROPROF__OF(chroprof_rank, blame_ns),
        CHROPROF__OF(chroprof_rank, delay_ns), CHROPROF__OF(chroprof_rank, calls)
    };
    return at[(unsigned)by < sizeof at / sizeof *at ? by : CHROPROF_BY_EXEC];
}

#undef CHROPROF__OF

/* What a row says of a figure, as the public structs have it. */
static uint64_t chroprof__shown(const chroprof__core *c, const chroprof__figure *f, const void *row)
{
    uint64_t value = chroprof__peek64(chroprof__field(row, f->row));
    return f->unit == CHROPROF__TICKS ? chroprof__ns(c, value) : value;
}

/* Adds a value to a figure: of several paths to their site's, of several profiles to their sum. */
static void chroprof__add(const chroprof__figure *f, uint64_t *to, uint64_t value)
{
    if (f->kind == CHROPROF__MAX)
        chroprof__raise(to, value);
    else if (f->kind == CHROPROF__FIRST)
        *to = chroprof__or(*to, value);
    else if (f->kind != CHROPROF__OWN)
        *to += value;
}

/* Fills a public struct from a row. */
static void chroprof__read_figures(const chroprof__core *c, const chroprof__figure *list,
                                   size_t count, const void *row, void *out)
{
    for (size_t k = 0; k < count; k++)
        if (list[k].row != CHROPROF__NOT_THERE && list[k].at != CHROPROF__NOT_THERE)
            *chroprof__field(out, list[k].at) = chroprof__shown(c, list + k, row);
}

/* Adds another profile's row, in ns, to one of ours. */
CHROPROF__UNUSED static void chroprof__merge_figures(const chroprof__core *from,
                                                     const chroprof__figure *list,
                                                     size_t count, const void *row, void *to)
{
    for (size_t k = 0; k < count; k++)
        if (list[k].row != CHROPROF__NOT_THERE)
            chroprof__add(list + k, chroprof__field(to, list[k].row),
                          chroprof__shown(from, list + k, row));
}

/* Takes away what was there before; never below 0. */
static void chroprof__shift(uint64_t *figure, uint64_t before)
{
    *figure = chroprof__minus(*figure, before);
}

/* Takes an older row away. Counts never fall: false if one did. Of copies of several moments ticks
 * may be less than they were. */
CHROPROF__UNUSED static bool chroprof__subtract_figures(const chroprof__figure *list, size_t count,
                                                        const void *older, void *row)
{
    bool grown = true;
    for (size_t k = 0; k < count; k++) {
        if (list[k].kind != CHROPROF__SUM || list[k].row == CHROPROF__NOT_THERE)
            continue;
        uint64_t *figure = chroprof__field(row, list[k].row);
        uint64_t before = *chroprof__field(older, list[k].row);
        grown = grown && (*figure >= before || list[k].unit == CHROPROF__TICKS);
        chroprof__shift(figure, before);
    }
    return grown;
}
CHROPROF__COLD_END /* part alone */
