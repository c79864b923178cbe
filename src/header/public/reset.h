/* public/reset.h: off, on, and from the start again */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../event/step.h"
#include "../event/tally.h"
#include "../event/open.h"
#include "../event/stack.h"
#include "../event/events.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../public/on_stall.h"

/* A future is neither ready nor, with a frame that was hidden, running any more. */
static void chroprof__calm_future(chroprof *p, chroprof__future_row *slot, uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    else if (slot->state != CHROPROF_RUNNING)
        return;
    bool ran = slot->state == CHROPROF_RUNNING || slot->flags & CHROPROF__STARTED;
    slot->state = ran ? CHROPROF_PAUSED : CHROPROF_PENDING;
    slot->flags = 0;
    slot->since = t;
}

static void chroprof__switch_off(chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__begin_event(p, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = c->account == CHROPROF__IDLE ? (uint32_t)CHROPROF__LOOP : c->account;
    if (c->hidden)
        chroprof__unhide(p, c->hidden, t);
    while (c->depth)
        chroprof__pop_any(p, c, t);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_FUTURES].rows; k++) {
        if (p->futures[k].id != 0)
            chroprof__calm_future(p, p->futures + k, t);
    }
    chroprof__no_iteration(c);
    c->enabled = 0;
    chroprof__ring_at(p, c, c->seq >> 1)->id = chroprof__off_mark(c->seq >> 1);
    chroprof__close_event(c);
    if (p->stalls_due)
        chroprof__call_on_stall(p);
    chroprof__set_taking(p, false);
}

CHROPROF__COLD_API void chroprof_set_enabled(chroprof *p, bool on)
{
    if (!chroprof__has_block(p) || p->view || p->in_hook ||
        chroprof__is_taking(p) == on)
        return;
    if (!on) {
        chroprof__switch_off(p);
        return;
    }
    chroprof__begin_edit(p->core);
    p->core->enabled = 1;
    chroprof__set_taking(p, true);
    if (p->core->time.manual) {                  /* the next event says when */
        p->core->started = 0;
        p->core->time_limit = p->core->last;
    } else {
        chroprof__start_at(p->core, chroprof__read_clock(p));
    }
    chroprof__end_edit(p->core);
}

/* A path's figures begin anew; its place in the tree stays. Futures and frames are counted in
 * later. */
static void chroprof__reset_path(chroprof__path_row *row)
{
    chroprof__path_row fresh;
    memset(&fresh, 0, sizeof(fresh));
    fresh.histogram = row->histogram;
    fresh.counts = row->counts;
    fresh.site = row->site;
    fresh.parent = row->parent;
    fresh.next = row->next;
    fresh.same_site = row->same_site;
    fresh.generation = row->generation;
    *row = fresh;
}

static void chroprof__restart_futures(const chroprof *p)
{
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        slot->since = slot->created = 0;
        slot->exec = 0;
    }
}

static void chroprof__reset_futures(chroprof *p)
{
    p->core->ready = 0;                     /* as it was, but after a reset that was cut short */
    for (uint32_t k = 0; k < p->rows; k++) {
        const chroprof__future_row *slot = p->futures + k;
        uint32_t ready = slot->state == CHROPROF_READY;
        if (slot->id == 0 || slot->state == CHROPROF__GONE)
            continue;
        p->paths[slot->path].live++;
        p->paths[slot->path].ready += ready;
        p->core->ready += ready;
    }
}

static void chroprof__reset_frames(chroprof *p)
{
    uint32_t capacity = p->core->tables[CHROPROF_TABLE_DEPTH].capacity;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    for (uint32_t k = p->core->depth + 1; k <= capacity; k++)
        p->frames[k].kind = 0;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        chroprof__frame_row *frame = p->frames + k;
        frame->pushed = frame->start = frame->excluded = frame->carried = 0;
        if (s && chroprof__notes(s)[k].event == frame->event)       /* its note stays its own */
            chroprof__notes(s)[k].event = (uint32_t)p->core->seq;
        frame->event = (uint32_t)p->core->seq;
    }
}

static void chroprof__empty(chroprof__core *c, uint32_t table)
{
    memset(chroprof__rows(c, table), 0, (size_t)c->tables[table].bytes);
    c->tables[table].used = 0;
}

static void chroprof__reset_tables(const chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++)
        chroprof__histograms_clear(p, p->histograms + k);
    chroprof__lengths_clear(p);
    chroprof__empty(c, CHROPROF_TABLE_WINDOWS);
    chroprof__empty(c, CHROPROF_TABLE_STALLS);
    chroprof__empty(c, CHROPROF_TABLE_SLOW);
    chroprof__empty(c, CHROPROF_TABLE_INCIDENTS);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_SITES].rows; k++) {
        chroprof__sites(c)[k].slow = 0;
        chroprof__sites(c)[k].slow_limit = 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF__SHORTCUTS].rows; k++)
        p->shortcuts[k].window = 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        c->tables[k].peak = c->tables[k].used;
        c->tables[k].dropped = 0;
        c->tables[k].wanted = 0;
    }
}

/* Samples, stacks and counts go; settings, notes and modules stay. */
static void chroprof__reset_samples(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!s)
        return;
    chroprof__empty(c, CHROPROF_TABLE_STACKS);
    chroprof__empty(c, CHROPROF_TABLE_SAMPLES);
    chroprof__empty(c, CHROPROF__WALLS);
    s->rows.samples = s->rows.inside = s->rows.dropped = s->rows.dropped_cpu_ns = 0;
    s->rows.head = s->rows.latest = 0;
    s->draw.draws = s->draw.misses = 0;
    s->wait.idle_from = s->wait.start = s->handler.interrupted = 0;
    s->drawn.seq = s->look.at = 0;
    s->look.last = UINT64_MAX;
    chroprof__date_callers(c);
    memset(s->hits, 0, sizeof(s->hits));
    chroprof__poke64(&s->taken, s->handler.put);
    s->handler.ticks = s->handler.lost = s->handler.cost_ns = 0;
}

/* Profile time 0 is now. */
static void chroprof__reset_core(chroprof__core *c)
{
    c->epoch += c->last;
    c->time.calibrate_at = c->time.calibrate_at > c->last ? c->time.calibrate_at - c->last : 1;
    c->process.start_clock = c->epoch;
    c->process.start_unix_ns = c->time.manual ? c->process.start_unix_ns : c->resetting;
    c->last = c->aged_at = 0;
    c->window = 0;
    memset(&c->stall.tally, 0, sizeof(c->stall.tally));
    c->loop.callbacks = c->loop.callback_max = c->loop.iterations = 0;
    c->loop.iteration_max = c->loop.stalls = 0;
    c->loop.cpu_clock_ns = c->loop.at_once = c->loop.at_once_ticks = 0;
    c->phase.start_ticks = c->phase.exit_ticks = 0;
    memset(c->told.waited, 0, sizeof(c->told.waited));
    memset(c->told.held, 0, sizeof(c->told.held));
    c->hidden_since = 0;
    c->seq_base = c->seq;
    c->made.merged_events = 0;
    memset(c->anomalies.counts, 0, sizeof(c->anomalies.counts));
    memset(c->anomalies.placed, 0, sizeof(c->anomalies.placed));
    c->tables[CHROPROF__PLACES].used = 0;
    c->ring.first = c->seq >> 1;
    c->ring.begin = 0;
    c->ring.barrier = c->barrier;
    c->loop.slow_due = 0;
    c->iteration.start = c->loop.iteration_active ? 0 : CHROPROF__NO_ITERATION;
    c->loop.iteration_callback = c->iteration.hidden = 0;
    c->iteration.event = c->ring.first - 1;  /* not the next event's */
    chroprof__set_factor(c, c->time.factor);
    c->time_limit = c->iteration.idle_limit = 0;
}

/* What was half reset can be reset again. */
static void chroprof__reset_all(chroprof *p)
{
    for (uint32_t k = 0; k < p->rows; k++)
        if (p->futures[k].id != 0)
            chroprof__settle(p, p->futures + k, p->core->last);
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__reset_path(p->paths + k);
    chroprof__restart_futures(p);
    chroprof__reset_futures(p);
    chroprof__reset_frames(p);
    chroprof__reset_samples(p->core);
    chroprof__reset_tables(p);
    for (uint32_t k = 0; k < chroprof__site_count(p); k++)
        chroprof__sites(p->core)[k].blurred = 0;
    p->core->seq += 2;
    chroprof__reset_core(p->core);
}

CHROPROF__COLD_API void chroprof_reset(chroprof *p)
{
    if (!chroprof__has_block(p) || p->view || p->in_hook)
        return;
    chroprof__core *c = p->core;
    c->resetting = chroprof__or(c->process.start_unix_ns + chroprof__ns(c, c->last), 1);
    CHROPROF__STORE_FENCE();
    chroprof__begin_edit(c);
    chroprof__reset_all(p);
    chroprof__aim(p, c);
    chroprof__end_edit(c);
    c->resetting = 0;
}
