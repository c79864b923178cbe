/* reading/paths.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/tables.h"
#include "../event/open.h"
#include "../event/stack.h"
#include "../reading/figures.h"

/* >>reading: the public reads. They change nothing, and show the profile as of its last event, what
 * is under way included: a row of a path is brought there by chroprof__path_now, which differences
 * and merges use as well. Owns nothing. Relies on >>figures and on the tables as events leave them.
 * Called by users and all writers. */

static uint32_t chroprof__path_count(const chroprof *p)
{
    return CHROPROF__FIRST_PATH + (uint32_t)p->core->tables[CHROPROF_TABLE_PATHS].used;
}

static uint32_t chroprof__site_count(const chroprof *p)
{
    return CHROPROF__FIRST_SITE + (uint32_t)p->core->tables[CHROPROF_TABLE_SITES].used;
}

static bool chroprof__site_used(const chroprof *p, uint32_t site)
{
    return chroprof__can_read(p) && site >= CHROPROF__OTHER && site < chroprof__site_count(p) &&
           chroprof__sites(p->core)[site].first_path != 0;
}

/* What stands for an id in all that is read. */
static uint64_t chroprof__shown_id(const chroprof *p, uint64_t id)
{
    return id && p->show_id ? p->show_id(p->show_id_user, id) : id;
}

CHROPROF__COLD_API void chroprof_show_ids(chroprof *p, uint64_t (*show)(void *user, uint64_t id),
                                          void *user)
{
    if (!p)
        return;
    p->show_id = show;
    p->show_id_user = user;
}

/* Exec of a future, slices under way included; only its newest frame tells it. */
static uint64_t chroprof__frame_exec(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k;
    uint64_t exec = chroprof__frame_slice(p, k);
    bool orphan = (frame->kind & CHROPROF__ORPHAN) != 0;
    if (frame->id == 0)
        return frame->kind & CHROPROF__ENTER_FRAME ? exec : 0;
    if (orphan ? !(frame->kind & CHROPROF__NEWEST) : chroprof__slot_of(p, frame)->frame != k)
        return 0;
    exec += orphan ? frame->carried : chroprof__slot_of(p, frame)->exec;
    while (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        k = frame->same;
        frame = p->frames + k;
        if (!orphan && frame->kind & CHROPROF__ORPHAN)
            break;
        exec += chroprof__frame_slice(p, k) + (orphan ? frame->carried : 0);
    }
    return exec;
}

/* What an activation adds to the lifetime of its path while it lasts: an enter-frame its whole
 * activation, a future that has finished while its code ran this slice. */
static uint64_t chroprof__activation_lifetime(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k;
    if (frame->kind & CHROPROF__ENTER_FRAME)
        return p->core->last - frame->pushed;
    return chroprof__lasts(frame) ? chroprof__frame_slice(p, k) : 0;
}

/* A path's row as of the last event: each figure is what it is with all that is under way. Wall and
 * delay, kept as ends minus beginnings, are sums, and merged_live counts all that live. */
static void chroprof__path_now(const chroprof *p, uint32_t path, chroprof__path_row *row)
{
    *row = p->paths[path];
    row->lifetime += row->live * p->core->last;
    row->delay += row->ready * p->core->last;
    row->completed += row->entered;
    row->merged_live += row->live;
    chroprof__raise(&row->exec_max, row->slice_max);    /* of an enter-frame the slice is all */
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        if (p->frames[k].path != path || p->frames[k].kind & CHROPROF__BARRIER)
            continue;
        row->activations++;
        chroprof__raise(&row->slice_max, chroprof__frame_slice(p, k));
        chroprof__raise(&row->exec_max, chroprof__frame_exec(p, k));
        row->lifetime += chroprof__activation_lifetime(p, k);
        row->merged_live += (p->frames[k].kind & CHROPROF__ENTER_FRAME) != 0;
    }
    chroprof__lower(&row->exec_max, row->exec);     /* in a copy of several moments, a difference */
}

static uint64_t chroprof__delay_ticks(const chroprof *p, const chroprof__path_row *row)
{
    return row->delay + row->ready * p->core->last;
}

/* Calls that are over. */
static uint64_t chroprof__ended(const chroprof__path_row *row)
{
    return row->completed + row->failed + row->cancelled + row->abandoned + row->dropped;
}

static void chroprof__read_site_name(const chroprof *p, uint32_t site, const char **name,
                                     const char **file, uint32_t *line)
{
    const chroprof__site_entry *row = chroprof__sites(p->core) + site;
    *name = chroprof__string(p->core, row->name);
    *file = chroprof__string(p->core, row->file);
    *line = row->line;
}

CHROPROF__COLD_API bool chroprof_read_path_alone(const chroprof *p, uint32_t path,
                                                 chroprof_path *out)
{
    chroprof__path_row row;
    memset(out, 0, sizeof(*out));
    out->name = out->file = "";
    if (!chroprof__can_read(p) || path < CHROPROF__FIRST_PATH || path >= chroprof__path_count(p))
        return false;
    chroprof__path_now(p, path, &row);
    chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__path_figures), &row, out);
    out->hidden_total_ns /= 2;              /* half of the most, on average */
    if (p->core->estimated)
        out->found = out->hidden_total_ns = 0;
    out->id = path;
    out->parent = row.parent;
    out->site = row.site;
    chroprof__read_site_name(p, row.site, &out->name, &out->file, &out->line);
    out->with_children_ns = out->exec_ns;
    out->waiting_ns = chroprof__minus(out->lifetime_ns, out->exec_ns + out->delay_ns);
    out->calls = chroprof__ended(&row) + row.merged_live;
    out->entered = row.entered;
    out->slices = row.entered + row.activations;
    if (path < p->core->tables[CHROPROF__WALLS].rows) {
        out->samples = chroprof__wall_rows(p->core)[path].samples;
        out->cpu_ns = chroprof__wall_rows(p->core)[path].cpu_ns;
    }
    return true;
}

CHROPROF__COLD_API bool chroprof_read_path(const chroprof *p, uint32_t path, chroprof_path *out)
{
    if (!chroprof_read_path_alone(p, path, out))
        return false;
    const chroprof__path_row *rows = p->paths;      /* its subtree follows it in preorder */
    for (uint32_t k = rows[path].next; k && rows[k].generation > rows[path].generation;
         k = rows[k].next)
        out->with_children_ns += chroprof__ns(p->core, p->paths[k].exec);
    return true;
}

CHROPROF__COLD_API bool chroprof_next_path(const chroprof *p, uint64_t *cursor, chroprof_path *out)
{
    if (!chroprof__can_read(p) || *cursor >= chroprof__path_count(p) || p->paths[*cursor].next == 0)
        return false;
    *cursor = p->paths[*cursor].next;
    return chroprof_read_path(p, (uint32_t)*cursor, out);
}

CHROPROF__COLD_API const char *chroprof_path_name(const chroprof *p, uint32_t path,
                                                  uint32_t *parent, uint32_t *site)
{
    bool good = chroprof__can_read(p) && path >= CHROPROF__FIRST_PATH &&
                path < chroprof__path_count(p);
    if (parent)
        *parent = good ? p->paths[path].parent : 0;
    if (site)
        *site = good ? p->paths[path].site : 0;
    return good ? chroprof__string(p->core, chroprof__sites(p->core)[p->paths[path].site].name)
                : "";
}
