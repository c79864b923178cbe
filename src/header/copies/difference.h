/* copies/difference.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"
#include "../block/tables.h"
#include "../block/windows.h"
#include "../block/stacks.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../event/open.h"
#include "../event/stalls.h"
#include "../event/slow.h"
#include "../event/stack.h"
#include "../event/events.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/windows.h"
#include "../reading/samples.h"
#include "../reading/validate.h"
#include "../public/reset.h"
#include "../copies/snapshot.h"

/* >>difference: what happened between two states of one profile: a copy of the newer one, from
 * which the older one is taken away. Owns that copy. Relies on >>figures for what is subtracted, on
 * >>reading for both states as they are shown, on >>snapshot to place the copy and to set right
 * what copies of several moments lack, and on >>validate, which refuses what can't be. Called by
 * users alone; in each name _since is "since the older state". */

typedef struct chroprof__since {
    chroprof to;               /* becomes the difference */
    const chroprof *from;      /* the older state */
    uint64_t begin;            /* its last event, the new time 0 */
} chroprof__since;

/* Of one chroprof_init? */
static bool chroprof__same_init(const chroprof__core *a, const chroprof__core *b)
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (a->tables[k].capacity != b->tables[k].capacity)
            return false;
    return a->process.pid == b->process.pid && a->process.boot_ns == b->process.boot_ns &&
           a->file.owner_start == b->file.owner_start &&
           a->form.pointer_bytes == b->form.pointer_bytes && a->time.manual == b->time.manual &&
           memcmp(a->who.host, b->who.host, sizeof(a->who.host)) == 0 &&
           memcmp(a->who.name, b->who.name, sizeof(a->who.name)) == 0;
}

/* Can the older state have become the newer? Sites and paths never change once they are there. */
static bool chroprof__can_follow(const chroprof *newer, const chroprof *older)
{
    const chroprof__core *a = newer->core, *b = older->core;
    bool back = a->last < b->last ||
                chroprof__tag_level(a->window) < chroprof__tag_level(b->window);
    if ((back && !b->copy.living) || a->seq < b->seq ||
        a->process.start_unix_ns != b->process.start_unix_ns ||
        chroprof__sum_exec(newer) - chroprof__sum_exec(older) != a->last - b->last ||
        chroprof__site_count(newer) < chroprof__site_count(older) ||
        chroprof__path_count(newer) < chroprof__path_count(older))
        return false;
    for (uint32_t k = 0; k < chroprof__site_count(older); k++)
        if (chroprof__sites(a)[k].hash != chroprof__sites(b)[k].hash)
            return false;
    for (uint32_t k = 0; k < chroprof__path_count(older); k++)
        if (newer->paths[k].site != older->paths[k].site ||
            newer->paths[k].parent != older->paths[k].parent)
            return false;
    return true;
}

/* Figures of the paths. Lifetime and delay are ends minus beginnings, in the new time: what lived,
 * or was ready, at its begin did so from there on. False: one fell that can't. */
static bool chroprof__paths_since(const chroprof__since *s)
{
    chroprof__path_row none;
    bool good = true;
    memset(&none, 0, sizeof(none));
    for (uint32_t k = 0; k < chroprof__path_count(&s->to); k++) {
        chroprof__path_row *row = s->to.paths + k;
        const chroprof__path_row *old =
            k < chroprof__path_count(s->from) ? s->from->paths + k : &none;
        uint64_t lifetime = row->lifetime + row->live * s->begin - old->lifetime -
                            old->live * s->begin;
        uint64_t delay = row->delay + row->ready * s->begin - old->delay - old->ready * s->begin;
        good = good && (row->exec >= old->exec || s->from->core->copy.living);
        good = chroprof__subtract_figures(CHROPROF__ALL(chroprof__path_figures), old, row) && good;
        row->lifetime = lifetime;
        row->delay = delay;
    }
    return good;
}

/* Takes older entries away, NULL: there are none. Returns the most that one of the others can be;
 * none: 0. */
static uint64_t chroprof__histogram_since(const chroprof__since *s, chroprof__histogram *h,
                                          const chroprof__histogram *old)
{
    chroprof__slices *counts = chroprof__counts_of(&s->to, h);
    uint64_t most = 0;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++) {
        uint64_t *place = chroprof__bucket_place(&s->to, h, b);
        uint64_t before = old ? chroprof__bucket_count(s->from, old, b) : 0;
        uint64_t count = chroprof__minus(chroprof__bucket_count(&s->to, h, b), before);
        uint16_t few = counts && count <= UINT16_MAX ? (uint16_t)count : 0;
        if (counts)
            counts->few[b] = few;
        if (place)
            *place = count - few;
        if (count)
            most = b + 1 < CHROPROF__BUCKETS ? chroprof__bucket_begin(b + 1) - 1 : UINT64_MAX;
    }
    return most;
}

/* Histograms that changed their site meanwhile hold nothing older. A maximum is at most what they
 * hold, so one of before gives way, if they hold all since. */
static void chroprof__histograms_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    c->tables[CHROPROF__RANGE_TABLE].wanted = 0; /* of a copy the list of free ones is not known */
    chroprof__pay(&s->to);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++) {
        chroprof__histograms *row = s->to.histograms + k;
        const chroprof__histograms *old = s->from->histograms + k;
        uint32_t site = s->to.paths[row->path].site;
        bool same = row->life == old->life;
        if (same)
            row->missed = chroprof__minus(row->missed, old->missed);
        else if (site < chroprof__site_count(s->from))
            row->missed = chroprof__minus(row->missed, chroprof__slices_ended(s->from, site));
        uint64_t slice = chroprof__histogram_since(s, &row->slice, same ? &old->slice : NULL);
        uint64_t delay = chroprof__histogram_since(s, &row->delay, same ? &old->delay : NULL);
        chroprof__lower(&row->latency_max,
                        chroprof__histogram_since(s, &row->latency, same ? &old->latency : NULL));
        uint32_t path = row->path && !row->missed ? chroprof__sites(c)[site].first_path : 0;
        for (; path; path = s->to.paths[path].same_site) {
            chroprof__lower(&s->to.paths[path].slice_max, slice);
            chroprof__lower(&s->to.paths[path].delay_max, delay);
        }
    }
}

/* Takes older callbacks and iterations away. Without percentiles their maxima stay. */
static void chroprof__lengths_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    const chroprof__core *old = s->from->core;
    if (!s->to.percentiles)
        return;
    uint64_t callback = chroprof__histogram_since(s, &c->lengths.callback, &old->lengths.callback);
    uint64_t iteration =
        chroprof__histogram_since(s, &c->lengths.iteration, &old->lengths.iteration);
    chroprof__lower(&c->loop.callback_max, c->loop.callbacks ? UINT64_MAX : callback);
    chroprof__lower(&c->loop.iteration_max, c->loop.iterations ? UINT64_MAX : iteration);
}

/* No maximum is larger than what it is one of. */
static void chroprof__maxima_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(&s->to); k++) {
        chroprof__path_row *row = s->to.paths + k;
        chroprof__lower(&row->exec_max, row->exec);
        chroprof__lower(&row->slice_max, row->entered       ? row->exec
                                         : row->activations ? row->exec_max : 0);
    }
    chroprof__lower(&c->loop.callback_max, c->loop.callbacks || s->to.percentiles ? c->last : 0);
    chroprof__lower(&c->loop.iteration_max, c->loop.iterations || s->to.percentiles ? c->last : 0);
}

/* Puts all exec into the cells, at the present level. */
static void chroprof__close_windows(const chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__close_window(p->core, p->paths + k);
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        chroprof__merge_cells(p->core, chroprof__cells(p->core, site));
}

/* Takes the older exec off the cells, and lets windows begin with the one that time 0 lies in. Of
 * copies of several moments a cell may be less than it was: chroprof__mend_windows makes up for
 * that. */
static void chroprof__windows_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    uint32_t index = c->window & 0xFFFF, level = s->from->core->window & 0xFFFF0000u;
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    uint64_t first = s->begin / c->windows.ticks;
    first = first < index ? first : index;
    for (uint32_t site = 0; site < chroprof__site_count(&s->to); site++) {
        uint64_t *cells = chroprof__cells(c, site);
        chroprof__part part = { 0, 0, 0, 0 };
        while (site < chroprof__site_count(s->from) && chroprof__next_part(s->from, site, &part))
            cells[1 + chroprof__tag_index(c, level | part.window)] -= part.ticks;
        for (uint32_t k = 0; k < capacity; k++) {
            uint64_t exec = cells[1 + k] >> 63 ? 0 : cells[1 + k];
            cells[1 + k] = 0;
            cells[1 + (k > first ? k - first : 0)] += exec;
        }
    }
    c->made.window_phase = s->begin - first * c->windows.ticks;
    c->window -= (uint32_t)first;
}

/* The marks of the paths, and the cells that hold them, once the paths are those of the
 * difference. */
static void chroprof__marks_since(chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        p->paths[k].mark = p->paths[k].exec;
        p->paths[k].window = p->core->window;
    }
    chroprof__mend_windows(p);
}

/* Is frame k still the activation that it was in the older state? */
static bool chroprof__same_activation(const chroprof__since *s, uint32_t k)
{
    const chroprof__frame_row *a = s->to.frames + k, *b = s->from->frames + k;
    return k <= s->to.core->depth && k <= s->from->core->depth && a->event == b->event &&
           a->id == b->id && a->path == b->path;
}

/* Of a future that was there before, exec is what came since: without all of the slices that were
 * under way then, but for those that still are. */
static void chroprof__futures_since(const chroprof__since *s)
{
    const chroprof__frame_row *frames = s->from->frames;
    for (uint32_t n = 0; n < s->to.rows; n++) {
        chroprof__future_row *slot = s->to.futures + n;
        if (slot->id == 0)
            continue;
        chroprof__settle(&s->to, slot, slot->since);
        const chroprof__future_row *old = chroprof__find(s->from, slot->id);
        if (old->id != 0 && old->state != CHROPROF__GONE && old->path == slot->path &&
            old->created == slot->created) {
            uint64_t exec = old->exec;
            for (uint32_t k = old->frame; k && !(frames[k].kind & CHROPROF__ORPHAN);
                 k = frames[k].same)
                exec += chroprof__same_activation(s, k) ? 0 : chroprof__frame_slice(s->from, k);
            chroprof__shift(&slot->exec, exec);
        }
        chroprof__shift(&slot->since, s->begin);
        chroprof__shift(&slot->created, s->begin);
    }
}

/* An activation that was there before begins at time 0, and its slice is what came since. What one
 * that has ended lasted before is no lifetime of its path's; of one whose future has finished
 * since, the slice before is. */
static void chroprof__frames_since(const chroprof__since *s)
{
    const chroprof__frame_row *old = s->from->frames;
    for (uint32_t k = 1; k <= s->from->core->depth; k++) {
        chroprof__frame_row *frame = s->to.frames + k;
        if (chroprof__same_activation(s, k)) {
            frame->start += chroprof__frame_slice(s->from, k);
            chroprof__shift(&frame->excluded, old[k].excluded);
            chroprof__shift(&frame->carried, old[k].carried);
            if (chroprof__lasts(frame) && !chroprof__lasts(old + k))
                s->to.paths[frame->path].lifetime += chroprof__frame_slice(s->from, k);
        } else if ((old[k].kind & CHROPROF__BARRIER) == 0) {
            s->to.paths[old[k].path].lifetime -= chroprof__activation_lifetime(s->from, k);
        }
    }
    for (uint32_t k = 1; k <= s->to.core->depth; k++) {
        chroprof__shift(&s->to.frames[k].pushed, s->begin);
        chroprof__shift(&s->to.frames[k].start, s->begin);
    }
    chroprof__shift(&s->to.core->hidden_since, s->begin);
}

/* The ring tells of what came since. */
static void chroprof__ring_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    uint64_t first = s->from->core->seq >> 1;
    c->ring.first = c->ring.first > first ? c->ring.first : first;
    c->ring.begin = 0;
    chroprof__reach r = chroprof__ring_reach(c);
    for (uint64_t n = r.first; n < r.end; n++)
        chroprof__shift(&chroprof__ring_at(&s->to, c, n)->time, s->begin);
}

/* Puts an interval that was billed to a path into the cells of its site. */
static void chroprof__put_interval(const chroprof *p, uint32_t path, uint64_t from, uint64_t to)
{
    const chroprof__core *c = p->core;
    if (path >= chroprof__path_count(p) || to > c->last)
        return;
    uint64_t *cells = chroprof__cells(c, p->paths[path].site);
    while (from < to) {
        uint64_t k = (from + c->made.window_phase) / c->windows.ticks;
        uint64_t border = (k + 1) * c->windows.ticks - c->made.window_phase;
        uint64_t end = border < to ? border : to;
        cells[1 + k] += end - from;
        from = end;
    }
}

/* Windows that have become wide before time 0 give way to narrow ones, as many as there is room
 * for, if the ring holds all events since. Their borders are a part of the old ones, so that both
 * add up when they meet again in a merge. */
static void chroprof__narrow_windows(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity, narrow = c->windows.ticks;
    uint32_t levels = chroprof__tag_level(c->window);
    for (; levels > 0 && narrow > 1; levels--, narrow /= 2)
        if ((c->last + s->begin % (narrow / 2)) / (narrow / 2) >= capacity)
            break;
    if (narrow == c->windows.ticks || r.first != s->from->core->seq >> 1)
        return;
    chroprof__empty(c, CHROPROF_TABLE_WINDOWS);
    c->windows.ticks = narrow;
    c->made.window_phase = s->begin % narrow;
    c->window = (uint32_t)((c->last + c->made.window_phase) / narrow);
    c->windows.end = (c->window + 1u) * narrow - c->made.window_phase;
    uint64_t from = 0;
    for (uint64_t n = r.first; n < r.end; n++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, c, n);
        chroprof__put_interval(p, row->path, from, row->time);
        from = row->time;
    }
    chroprof__put_interval(p, c->account, from, c->last);
    chroprof__marks_since(p);
}

/* The stalls that ended since, and their steps: those that came before are apart. */
static void chroprof__stalls_since(chroprof__core *c, uint64_t before, uint64_t begin)
{
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    for (uint32_t n = 1; n < c->tables[CHROPROF_TABLE_INCIDENTS].rows; n++) {
        chroprof__incident_row *row = chroprof__incidents(c) + n;
        uint32_t count = 0;
        chroprof__shift(&row->serial, before);
        for (uint32_t k = 0; row->serial && k < row->count; k++)
            if (row->steps[k].time >= begin) {
                row->steps[count] = row->steps[k];
                row->steps[count++].time -= begin;
            }
        row->count = count;
        row->left_out = 0;
        for (uint32_t k = count; row->serial && k > 0; k--)
            if (row->steps[k - 1].spare) {
                row->left_out += row->steps[k - 1].path;
                row->first = k - 1;
            }
        row->first = row->left_out ? row->first : 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++) {
        chroprof__shift(&rows[k].start, begin);
        chroprof__shift(&rows[k].serial, before);
        if (rows[k].serial == 0)
            memset(rows + k, 0, sizeof(*rows));
    }
    chroprof__set_stalls(c, c->loop.stalls);
}

/* The slow futures that finished since; their latency is as it was. */
static void chroprof__slow_since(chroprof__core *c, uint64_t begin)
{
    chroprof__slow_group *group = chroprof__slow_groups(c);
    for (uint64_t k = c->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++) {
        uint32_t count = group->count;
        group->count = 0;
        for (uint32_t i = 0; i < count; i++)
            if (group->rows[i].at > begin) {
                group->rows[group->count] = group->rows[i];
                group->rows[group->count++].at -= begin;
            }
    }
}

static void chroprof__take_node(chroprof__node *node, uint64_t *weight, uint64_t *cpu_ns)
{
    *weight -= chroprof__part_of(&node->weight, *weight);
    *cpu_ns -= chroprof__part_of(&node->cpu_ns, *cpu_ns);
}

/* Weights of the stacks and of the draws. The numbers of stacks change: the heir of each is our
 * number of the older state's node of that number, or of the innermost one around it that is still
 * here. Where frames gave way, the weight is taken from the markers that stand for them. */
static void chroprof__weights_since(chroprof__core *c, const chroprof__core *old)
{
    const uint32_t gone = UINT32_C(1) << 31;
    const chroprof__node *was = chroprof__nodes(old);
    chroprof__node *nodes = chroprof__nodes(c);
    uint64_t weight = 0, cpu_ns = 0;        /* of ticks that waited, and came elsewhere */
    for (uint32_t k = 0; k <= old->tables[CHROPROF_TABLE_STACKS].used; k++) {
        uint32_t around = k ? nodes[was[k].parent].heir : 0, found = 0;
        if (k && !(around & gone))
            found = chroprof__find_node(c, around, was[k].item);
        nodes[k].heir = found || k == 0 ? found : around | gone;
        uint64_t weight_left = was[k].weight, cpu_left = was[k].cpu_ns;
        uint32_t at = nodes[k].heir & ~gone;
        if (nodes[k].heir == at)
            chroprof__take_node(nodes + at, &weight_left, &cpu_left);
        for (bool more = true; more && (weight_left | cpu_left) != 0; at = nodes[at].parent) {
            uint32_t marker = chroprof__find_node(c, at, CHROPROF__FULL_ITEM);
            if (marker)
                chroprof__take_node(nodes + marker, &weight_left, &cpu_left);
            more = at != 0;
        }
        weight += weight_left;
        cpu_ns += cpu_left;
    }
    for (uint64_t k = c->tables[CHROPROF_TABLE_STACKS].used + 1; k > 0; k--)
        chroprof__take_node(nodes + k - 1, &weight, &cpu_ns);
    for (uint64_t k = 0; k < c->tables[CHROPROF__WALLS].rows; k++)
        (void)chroprof__subtract_figures(CHROPROF__ALL(chroprof__wall_figures),
                                         chroprof__wall_rows(old) + k, chroprof__wall_rows(c) + k);
}

/* The newest rows, as many as were taken since; of the row that was extended what came since. */
static void chroprof__samples_since(const chroprof *p, const chroprof__core *old, uint64_t begin)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!s)
        return;
    (void)chroprof__link_nodes(p);         /* what is broken is refused in the end */
    chroprof__weights_since(p->core, old);
    (void)chroprof__subtract_figures(CHROPROF__ALL(chroprof__sampler_figures),
                                     chroprof__sampler_of(old), s);
    uint64_t left = s->rows.samples;
    chroprof__sample_span *rows = chroprof__sample_rows(c);
    for (uint64_t n = c->tables[CHROPROF_TABLE_SAMPLES].used; n > 0; n--) {
        chroprof__sample_span *row = rows + (chroprof__sample_at(p, n - 1) - rows);
        row->cpu_ns = row->weight > left ? 0 : row->cpu_ns;
        row->duration = chroprof__minus(row->duration, chroprof__minus(begin, row->time));
        chroprof__lower(&row->weight, left);
        chroprof__shift(&row->time, begin);
        left -= row->weight;
    }
    chroprof__shift(&s->rows.latest, begin);
    chroprof__mend_rows(p, s);
}

/* Where an anomaly was met first since is not known if it had been met before. False: a count
 * fell. */
static bool chroprof__counts_since(chroprof__core *c, const chroprof__core *old)
{
    bool good = chroprof__subtract_figures(CHROPROF__ALL(chroprof__loop_figures), old, c);
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++) {
        chroprof__places *row = chroprof__places_of(c, k);
        good = good && c->anomalies.counts[k] >= old->anomalies.counts[k];
        c->anomalies.counts[k] -= old->anomalies.counts[k];
        if (!row)
            continue;
        row->first = old->anomalies.counts[k] ? row->last : row->first;
        chroprof__shift(&row->first.at, old->last);
        chroprof__shift(&row->last.at, old->last);
    }
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        good = good && c->tables[k].dropped >= old->tables[k].dropped;
        c->tables[k].dropped -= old->tables[k].dropped;
    }
    chroprof__shift(&c->tables[CHROPROF_TABLE_STRINGS].wanted,
                    old->tables[CHROPROF_TABLE_STRINGS].wanted);
    c->loop.cpu_clock_ns = 0;
    memset(c->told.waited, 0, sizeof(c->told.waited));
    memset(c->told.held, 0, sizeof(c->told.held));
    c->seq_base += old->seq - old->seq_base;
    c->copy.skew_ticks += old->copy.skew_ticks;
    c->copy.skew_events += old->copy.skew_events;
    c->copy.torn_ticks += old->copy.torn_ticks;
    c->copy.torn_events += old->copy.torn_events;
    return good;
}

/* Takes the older state away from the copy of the newer one. False: that can't be. */
static bool chroprof__subtract(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__core *c = p->core;
    s->begin = s->from->core->last;
    if (c->last < s->begin)                 /* the program has ended since, or its next event was
                                               older than the reader's now */
        chroprof__bill_across(p, c->account, s->begin);
    chroprof__close_windows(p);
    chroprof__windows_since(s);
    if (!chroprof__counts_since(c, s->from->core) || !chroprof__paths_since(s))
        return false;
    c->last -= s->begin;
    /* the older state of a living program had gone on to the reader's now; if the next event was
     * older than that, what ran after it was billed twice */
    uint64_t twice = chroprof__minus(chroprof__sum_exec(p), c->last);
    for (uint32_t k = 0; k < chroprof__path_count(p) && twice; k++)
        twice -= chroprof__part_of(&p->paths[k].exec, twice);
    chroprof__marks_since(p);
    chroprof__histograms_since(s);
    chroprof__lengths_since(s);
    chroprof__maxima_since(s);
    chroprof__futures_since(s);
    chroprof__frames_since(s);
    chroprof__blame_loop(p);
    chroprof__ring_since(s);
    chroprof__narrow_windows(s);
    chroprof__stalls_since(c, s->from->core->loop.stalls, s->begin);
    chroprof__slow_since(c, s->begin);
    chroprof__samples_since(p, s->from->core, s->begin);
    c->epoch += s->begin;                   /* the new time 0; what only events need is forgotten */
    c->process.start_clock += s->begin;
    c->process.start_unix_ns += c->process.start_unix_ns ? chroprof__ns(c, s->begin) : 0;
    chroprof__shift(&c->iteration.start, s->begin);
    chroprof__shift(&c->time.calibrate_at, s->begin);
    c->time_limit = 0;
    memset(c->stall.due, 0, sizeof(c->stall.due));
    return chroprof__ask_block(p) == NULL;
}

CHROPROF__COLD_API chroprof_result chroprof_difference(const chroprof *newer, const chroprof *older,
                                                       void *memory, size_t size)
{
    chroprof__since s;
    uint64_t room;
    if (!chroprof__can_read(newer) || !chroprof__can_read(older) || !memory)
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__same_init(newer->core, older->core))
        return CHROPROF_ERR_DIFFERENT;
    if (newer->core->seq_base != older->core->seq_base)
        return CHROPROF_ERR_RESET;
    if (!chroprof__can_follow(newer, older))
        return CHROPROF_ERR_DIFFERENT;
    uint64_t bytes = newer->core->form.block_bytes;
    chroprof__core *c = chroprof__place(memory, size, bytes, &room);
    if (room < bytes)
        return CHROPROF_ERR_MEMORY;
    const char *from = (const char *)newer->core, *to = (const char *)c;
    if (!newer->view && to < from + bytes && from < to + bytes)
        return CHROPROF_ERR_ARGUMENT;       /* the running profile itself */
    memmove(c, newer->core, (size_t)bytes);
    memset(&s, 0, sizeof(s));
    chroprof__attach(&s.to, c);
    s.from = older;
    return chroprof__subtract(&s) ? CHROPROF_OK : CHROPROF_ERR_DIFFERENT;
}
