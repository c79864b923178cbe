/* event/tally.h: what paths took of a callback or an iteration */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../event/step.h"

/* When the interval of event n began. */
static uint64_t chroprof__interval_begin(const chroprof *p, chroprof__reach r, uint64_t n)
{
    const chroprof__ring_row *row = chroprof__ring_at(p, p->core, n);
    if (n > r.first)
        return chroprof__ring_at(p, p->core, n - 1)->time;
    return n == p->core->ring.first ? p->core->ring.begin : row->time;
}

/* ---- what paths took of a stretch of the ring */

/* The sum of a path in a tally, new if need be. */
static chroprof__sum *chroprof__sum_of(const chroprof *p, chroprof__tally *y, uint32_t path)
{
    chroprof__path_row *row = p->paths + path;
    chroprof__sum *sum = &row->sum[y->which];
    if (row->tally[y->which] == y->number)
        return sum;
    memset(sum, 0, sizeof(*sum));
    row->tally[y->which] = y->number;
    if (path == CHROPROF__LOOP)             /* which is looked at anyway */
        return sum;
    row->sum_next[y->which] = y->first_path;
    y->first_path = path;
    return sum;
}

/* The place of the slices at a depth; CHROPROF__TALLY_DEPTHS: none. */
static uint32_t chroprof__tally_place(const chroprof__tally *y, uint32_t depth)
{
    uint32_t k = depth > y->base ? depth - y->base - 1 : (uint32_t)CHROPROF__TALLY_DEPTHS;
    return k < CHROPROF__TALLY_DEPTHS ? k : (uint32_t)CHROPROF__TALLY_DEPTHS;
}

/* The slices of the frames above depth `after`, up to `depth`, have ended. */
static void chroprof__end_tallied(const chroprof *p, chroprof__tally *y, uint32_t depth,
                                  uint32_t after)
{
    uint32_t deepest = y->base + CHROPROF__TALLY_DEPTHS;
    for (uint32_t d = depth < deepest ? depth : deepest; d > after && d > y->base; d--) {
        uint32_t k = chroprof__tally_place(y, d);
        if (y->path[k] == 0)
            continue;
        chroprof__sum *sum = chroprof__sum_of(p, y, y->path[k]);
        sum->slices += sum->slices != CHROPROF__UNKNOWN_SLICES;
        chroprof__raise(&sum->slice_max, y->slice[k]);
        y->slice[k] = y->path[k] = 0;
    }
}

/* How deep the stack was at least while an event lasted that took frames off: one that puts a frame
 * there does so last. */
static uint32_t chroprof__least_depth(const chroprof__ring_row *row, uint32_t after)
{
    bool named = row->state == CHROPROF_SWITCH || row->state == CHROPROF_RUNNING;
    bool pushes = row->state == CHROPROF_NEXT || (named && row->id != 0);
    return pushes && after > 0 ? after - 1 : after;
}

/* Slices end with their frames. Loop and untracked have none; of what runs too deep it is not
 * known. */
static void chroprof__tally_row(const chroprof *p, chroprof__tally *y,
                                const chroprof__ring_row *row, uint32_t least)
{
    uint32_t k = chroprof__tally_place(y, row->depth);
    uint64_t dt = row->time - y->time;
    chroprof__sum *sum = chroprof__sum_of(p, y, row->path);
    sum->exec += dt;
    if (row->path >= CHROPROF__FIRST_PATH && k == CHROPROF__TALLY_DEPTHS) {
        sum->slices = CHROPROF__UNKNOWN_SLICES;
    } else if (row->path >= CHROPROF__FIRST_PATH) {
        y->path[k] = row->path;
        y->slice[k] += dt;
    }
    if (least < row->depth)
        chroprof__end_tallied(p, y, row->depth, least);
}

/* Adds the rows up to, not including, event `end`; after is the depth of the stack then. */
static void chroprof__tally_rows(const chroprof *p, chroprof__tally *y, uint64_t end,
                                 uint32_t after)
{
    for (; y->next < end; y->next++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, y->next);
        uint32_t then = y->next + 1 < end ? chroprof__ring_at(p, p->core, y->next + 1)->depth
                                          : after;
        uint32_t least = chroprof__least_depth(row, then);
        if (row->depth <= y->fence)
            y->fence = UINT32_MAX;
        if (y->fence == UINT32_MAX)
            chroprof__tally_row(p, y, row, least);
        else if (least < y->fence)          /* what the nested loop ran in was unwound, too */
            chroprof__end_tallied(p, y, y->fence, least);
        if (y->which == CHROPROF__OF_CALLBACK && y->fence == UINT32_MAX &&
            row->state == CHROPROF_LOOP_ENTER && then > row->depth)
            y->fence = row->depth;
        y->time = row->time;
    }
}

/* What is under way has ended, too. */
static void chroprof__end_tally(const chroprof *p, chroprof__tally *y)
{
    chroprof__end_tallied(p, y, UINT32_MAX, y->base);
}

/* Numbers of tallies begin again: no sum is marked with one any more. */
static void chroprof__forget_tallies(const chroprof *p)
{
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_PATHS].used; k++)
        p->paths[k].tally[0] = p->paths[k].tally[1] = 0;
}

static void chroprof__begin_tally(const chroprof *p, chroprof__tally *y, uint32_t which,
                                  uint64_t next, uint64_t time)
{
    chroprof__core *c = p->core;
    memset(y, 0, sizeof(*y));
    if (++c->stall.tallies > UINT32_MAX) {
        chroprof__forget_tallies(p);
        c->stall.tallies = 1;
    }
    y->number = (uint32_t)c->stall.tallies;
    y->which = which;
    y->next = next;
    y->time = time;
    y->fence = UINT32_MAX;
}

/* Keeps the first steps of the iteration under way, of which the ring is full. */
static void chroprof__stage_steps(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t n = c->iteration.event < c->ring.first ? c->ring.first : c->iteration.event;
    chroprof__incident_row *row = chroprof__incidents(c);
    if (c->tables[CHROPROF_TABLE_INCIDENTS].capacity == 0)
        return;
    row->serial = c->iteration.event;
    for (row->count = 0; row->count < CHROPROF__FIRST_STEPS; n++)
        row->steps[row->count++] = *chroprof__ring_at(p, c, n);
}

/* Before rows of the iteration under way are overwritten they are added up, some at once, so that
 * what each path took of an iteration is known however many events it has. */
enum { CHROPROF__SPILLED_ROWS = CHROPROF__FEWEST_EVENTS / 2 };

/* Events that may come before rows of this iteration would be overwritten that are not added up
 * yet. */
static uint64_t chroprof__until_spill(const chroprof__core *c)
{
    uint64_t kept = c->stall.tally.next > c->iteration.event ? c->stall.tally.next - 1
                                                             : c->iteration.event;
    bool under_way = c->loop.iteration_active && c->account != CHROPROF__IDLE;
    return under_way ? chroprof__minus(kept + c->ring_mask / 2 + 1, (c->seq + 1) >> 1) : UINT32_MAX;
}

CHROPROF__COLD void chroprof__spill(chroprof *p)
{
    chroprof__core *c = p->core;
    if (c->stall.tally.next <= c->iteration.event + 1) {
        chroprof__begin_tally(p, &c->stall.tally, CHROPROF__OF_ITERATION, c->iteration.event + 1,
                              c->iteration.start);
        chroprof__stage_steps(p);
    }
    uint64_t end = c->stall.tally.next + CHROPROF__SPILLED_ROWS;
    CHROPROF_ASSERT(end <= c->seq >> 1);
    chroprof__tally_rows(p, &c->stall.tally, end, chroprof__ring_at(p, c, end)->depth);
}

/* Where the row of the event after this one lies, and up to where the ring goes on from there. */
static void chroprof__aim(const chroprof *p, chroprof__core *c)
{
    uint64_t next = (uint64_t)((char *)chroprof__ring_of(p, c, c->seq + c->seq % 2) - (char *)c);
    uint64_t end = c->tables[CHROPROF_TABLE_EVENTS].offset +
                   (c->ring_mask / 2 + UINT64_C(1)) * sizeof(chroprof__ring_row);
    uint64_t spill = next + chroprof__until_spill(c) * sizeof(chroprof__ring_row);
    c->next_row = next;
    chroprof__front_of(c)->row_limit = spill < end ? spill : end;
}

/* From now on no iteration is under way; a poll that comes is the first. */
static void chroprof__no_iteration(chroprof__core *c)
{
    c->loop.iteration_active = c->loop.iteration_callback = 0;
    c->iteration.hidden = 0;
    c->iteration.start = CHROPROF__NO_ITERATION;
}

/* A wait ends that took so long since the event before, an iteration begins. The fast path does
 * this when the one before has been one. No branch: how long a wait takes is no habit. Two sums
 * side by side would become one of vectors, which takes longer. */
CHROPROF__INLINE void chroprof__begin_iteration(chroprof__core *c, uint64_t ticks)
{
    uint64_t at_once = 0 - (uint64_t)(ticks < c->loop.at_once_limit);    /* 0 or all bits */
    CHROPROF__ONE_WORD(at_once);
    c->loop.at_once -= at_once;
    CHROPROF__READ_AGAIN();
    c->loop.at_once_ticks += at_once & ticks;
    c->account = CHROPROF__LOOP;
    c->iteration.event = c->seq >> 1;
    CHROPROF__READ_AGAIN();
    at_once &= c->last - c->iteration.start;
    c->iteration.start = c->last;
    c->iteration.hidden = at_once;
}

/* The row of these waits; a new one takes the place of what has least. */
static chroprof__waited_row *chroprof__row_of_wait(chroprof__core *c, uint32_t site,
                                                   const char *call, const char *within)
{
    chroprof__waited_row *least = c->told.waited;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        chroprof__waited_row *row = c->told.waited + k;
        if (row->count && row->site == site &&
            strncmp(row->call, call, CHROPROF__CALL_BYTES - 1) == 0 &&
            strncmp(row->within, within, CHROPROF__WITHIN_BYTES - 1) == 0)
            return row;
        least = row->ticks < least->ticks || row->count == 0 ? row : least;
    }
    memset(least, 0, sizeof(*least));
    least->site = site;
    chroprof__copy_text(least->call, sizeof(least->call), call);
    chroprof__copy_text(least->within, sizeof(least->within), within);
    return least;
}
