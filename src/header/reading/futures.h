/* reading/futures.h: live futures and the running stack */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../event/open.h"
#include "../event/events.h"
#include "../reading/figures.h"
#include "../reading/paths.h"

/* A profile time in ns. Elapsed is a sum of parts that were floored each on their own, and no time
 * that is shown beside it may be later. */
static uint64_t chroprof__moment_ns(const chroprof *p, uint64_t ticks)
{
    uint64_t ns = chroprof__ns(p->core, ticks), elapsed = 0, count = chroprof__path_count(p);
    uint64_t last = chroprof__ns(p->core, p->core->last);
    uint64_t lack = (uint32_t)p->core->time.factor ? count : 0;
    if (ns + lack <= last)
        return ns;                          /* each part lacks less than 1 ns, or nothing */
    for (uint32_t k = 0; k < count; k++)
        elapsed += chroprof__ns(p->core, p->paths[k].exec);
    elapsed = chroprof__between(elapsed, chroprof__minus(last, lack), last);
    return ns < elapsed ? ns : elapsed;     /* in order, even if a forged block adds up to less */
}

/* The cursor counts the slots, then the frames: enter-frames have no slot, so they get one here. */
CHROPROF__COLD_API bool chroprof_next_future(const chroprof *p, uint64_t *cursor,
                                             chroprof_future *out)
{
    uint64_t rows = chroprof__can_read(p) ? p->rows : 0, end = rows ? rows + p->core->depth : 0;
    memset(out, 0, sizeof(*out));
    while (*cursor < end) {
        uint64_t k = (*cursor)++;
        uint32_t frame = k < rows ? p->futures[k].frame : (uint32_t)(k - rows + 1);
        const chroprof__frame_row *activation = p->frames + frame;
        const chroprof__future_row entered = {
            0, activation->pushed, 0, activation->path, (uint16_t)frame, CHROPROF_RUNNING, 0, 0
        };
        const chroprof__future_row *row = k < rows ? p->futures + k : &entered;
        if (k < rows ? row->id == 0 || row->state == CHROPROF__GONE
                     : !(activation->kind & CHROPROF__ENTER_FRAME))
            continue;
        out->id = chroprof__shown_id(p, row->id);
        out->path = row->path;
        out->state = chroprof__lost_its_frame(p, row) ? CHROPROF_PAUSED
                                                      : (chroprof_state)row->state;
        out->since_ns = chroprof__moment_ns(p, row->since);
        out->exec_ns = chroprof__ns(p->core, frame && !(activation->kind & CHROPROF__ORPHAN)
                                                 ? chroprof__frame_exec(p, frame) : row->exec);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &out->file, &out->line);
        return true;
    }
    return false;
}

CHROPROF__COLD_API size_t chroprof_frames(const chroprof *p, chroprof_frame *out, size_t capacity)
{
    uint32_t depth = chroprof__can_read(p) ? p->core->depth : 0;
    for (uint32_t k = depth; out && k > 0 && depth - k < capacity; k--, out++) {
        const chroprof__frame_row *frame = p->frames + k;
        memset(out, 0, sizeof(*out));
        out->id = chroprof__shown_id(p, frame->id);
        out->path = frame->path;
        out->barrier = (frame->kind & CHROPROF__BARRIER) != 0;
        out->since_ns = chroprof__moment_ns(p, frame->pushed);
        out->slice_ns = out->barrier ? 0 : chroprof__ns(p->core, chroprof__frame_slice(p, k));
        chroprof__read_site_name(p, p->paths[frame->path].site, &out->name, &out->file,
                                 &out->line);
    }
    return depth;
}
