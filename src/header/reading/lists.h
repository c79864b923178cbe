/* reading/lists.h: arrays, of what the cursors give */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../reading/figures.h"
#include "../reading/samples.h"

/* The lists of what a cursor has, all or those rows that are asked for. */
#define CHROPROF__RANGE uint64_t from_ns, uint64_t to_ns,
#define CHROPROF__LIST(list, range, next, row_type, wanted)                                        \
    CHROPROF__COLD_API size_t list(const chroprof *p, range row_type *out, size_t capacity)        \
    {                                                                                              \
        size_t count = 0;                                                                          \
        uint64_t cursor = 0;                                                                       \
        row_type row;                                                                              \
        while (next(p, &cursor, &row)) {                                                           \
            if (!(wanted))                                                                         \
                continue;                                                                          \
            if (out && count < capacity)                                                           \
                out[count] = row;                                                                  \
            count++;                                                                               \
        }                                                                                          \
        return count;                                                                              \
    }
CHROPROF__LIST(chroprof_paths, , chroprof_next_path, chroprof_path, true)
CHROPROF__LIST(chroprof_futures, , chroprof_next_future, chroprof_future, true)
CHROPROF__LIST(chroprof_stalls, , chroprof_next_stall, chroprof_stall, true)
CHROPROF__LIST(chroprof_slowest, , chroprof_next_slowest, chroprof_slow, true)
CHROPROF__LIST(chroprof_walls, , chroprof_next_wall, chroprof_wall, true)
CHROPROF__LIST(chroprof_timeline, CHROPROF__RANGE, chroprof_next_step, chroprof_step,
               row.at_ns >= from_ns && row.at_ns <= to_ns)
CHROPROF__LIST(chroprof_samples, CHROPROF__RANGE, chroprof_next_sample, chroprof_sample_row,
               chroprof__select_sample(&row, from_ns, to_ns))
#undef CHROPROF__RANGE
#undef CHROPROF__LIST

CHROPROF__COLD_API void chroprof_read_sampler(const chroprof *p, chroprof_sampler_totals *out)
{
    memset(out, 0, sizeof(*out));
    const chroprof__sampler *s = chroprof__can_read(p) ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    out->running = s->timer.running && p->view;
#if CHROPROF__SAMPLES                       /* a forked child has no timer, whatever it says */
    out->running = out->running ||
                   (s->timer.running && p->sampling && p->sampler_pid == (uint64_t)getpid());
#endif
    out->mode = s->set.mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__sampler_figures), s, out);
    out->rows = p->core->tables[CHROPROF_TABLE_SAMPLES].used;
}
