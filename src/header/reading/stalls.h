/* reading/stalls.h: stalls, the slowest futures, and steps of the ring */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../event/step.h"
#include "../event/ageing.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/futures.h"

/* The first stall after a serial number; NULL: none. Many lie in both halves of the table. */
static const chroprof__stall_row *chroprof__stall_after(const chroprof *p, uint64_t serial)
{
    const chroprof__core *c = p->core;
    const chroprof__stall_row *next = NULL, *rows = chroprof__stall_rows(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (rows[k].serial > serial && (!next || rows[k].serial < next->serial))
            next = rows + k;
    return next;
}

/* The places that the sampler met, most first, each with what surely was there. */
static void chroprof__read_hits(const chroprof__hits *h, chroprof_stall *out)
{
    out->sampled = h->sampled;
    out->cpu_ns = h->cpu_ns;
    out->waiting_ns = h->waiting_ns;
    for (uint32_t k = 0; k < h->count; k++) {
        uint32_t at = out->sample_count++, weight = h->weight[k] - h->over[k];
        for (; at > 0 && out->samples[at - 1].weight < weight; at--)
            out->samples[at] = out->samples[at - 1];
        out->samples[at].stack = h->stack[k];
        out->samples[at].weight = weight;
        out->samples[at].cpu_ns = h->cpu[k];
    }
}

/* The steps of a stall; NULL: they are not kept. */
static const chroprof__incident_row *chroprof__incident_of(const chroprof__core *c, uint64_t serial)
{
    const chroprof__incident_row *rows = chroprof__incidents(c);
    for (uint32_t k = c->tables[CHROPROF_TABLE_INCIDENTS].capacity; k > 0 && serial; k--)
        if (rows[k].serial == serial)
            return rows + k;
    return NULL;
}

static void chroprof__read_stall(const chroprof *p, const chroprof__stall_row *row,
                                 chroprof_stall *out)
{
    const chroprof__incident_row *steps = chroprof__incident_of(p->core, row->serial);
    memset(out, 0, sizeof(*out));
    out->kind = row->kind == CHROPROF_STALL_ITERATION ? CHROPROF_STALL_ITERATION
                                                      : CHROPROF_STALL_CALLBACK;
    out->start_ns = chroprof__ns(p->core, row->start);
    out->length_ns = out->rest_ns = chroprof__ns(p->core, row->length);
    out->events = row->events;
    out->share_count = row->share_count;
    out->number = row->serial;
    if (steps) {
        out->step_count = steps->count;
        out->first_steps = steps->left_out ? steps->first : steps->count;
        out->left_out = steps->left_out;
    }
    chroprof__read_hits(&row->hits, out);
    for (uint32_t k = 0; k < row->share_count; k++) {
        chroprof_stall_share *share = out->shares + k;
        share->site = row->shares[k].site;
        share->exec_ns = chroprof__ns(p->core, row->shares[k].exec);
        share->slices = row->shares[k].slices;
        share->slice_max_ns = chroprof__ns(p->core, row->shares[k].slice_max);
        out->rest_ns = chroprof__minus(out->rest_ns, share->exec_ns);
        chroprof__read_site_name(p, share->site, &share->name, &share->file, &share->line);
    }
}

CHROPROF__COLD_API bool chroprof_next_stall(const chroprof *p, uint64_t *cursor,
                                            chroprof_stall *out)
{
    const chroprof__stall_row *row =
        chroprof__can_read(p) ? chroprof__stall_after(p, *cursor) : NULL;
    if (!row)
        return false;
    *cursor = row->serial;
    chroprof__read_stall(p, row, out);
    return true;
}

static void chroprof__read_slow(const chroprof *p, const chroprof__slow_group *group, uint32_t k,
                                chroprof_slow *out)
{
    const chroprof__core *c = p->core;
    const chroprof__slow_entry *row = group->rows + k;
    memset(out, 0, sizeof(*out));
    out->id = chroprof__shown_id(p, row->id);
    out->site = group->site;
    out->path = row->path;
    chroprof__read_site_name(p, group->site, &out->name, &out->file, &out->line);
    out->finish = row->state == CHROPROF_COMPLETED ? CHROPROF_COMPLETED :
                  row->state == CHROPROF_FAILED ? CHROPROF_FAILED : CHROPROF_CANCELLED;
    out->of_run = k < CHROPROF__SLOW_OF_RUN;
    out->at_ns = chroprof__moment_ns(p, row->at);
    out->latency_ns = chroprof__ns(c, row->latency);
    out->exec_ns = chroprof__ns(c, row->exec);
    out->children_ns = chroprof__ns(c, row->children);
    out->delay_ns = chroprof__ns(c, row->delay);
    out->unseen_ns = chroprof__ns(c, row->unseen);
    out->waiting_ns = out->latency_ns - out->exec_ns - out->children_ns - out->delay_ns -
                      out->unseen_ns;
    for (uint32_t i = 0; i < CHROPROF_SLOW_BLAMES && row->blames[i].delay; i++) {
        chroprof_slow_blame *blame = &out->blames[out->blame_count++];
        blame->site = row->blames[i].site;
        blame->delay_ns = chroprof__ns(c, row->blames[i].delay);
        chroprof__read_site_name(p, blame->site, &blame->name, &blame->file, &blame->line);
    }
}

CHROPROF__COLD_API bool chroprof_next_slowest(const chroprof *p, uint64_t *cursor,
                                              chroprof_slow *out)
{
    uint64_t rows = chroprof__can_read(p) ? p->core->tables[CHROPROF_TABLE_SLOW].used : 0;
    for (rows *= CHROPROF__SLOW_ROWS; *cursor < rows;) {
        uint64_t at = (*cursor)++;
        const chroprof__slow_group *group =
            chroprof__slow_groups(p->core) + at / CHROPROF__SLOW_ROWS;
        uint32_t k = (uint32_t)(at % CHROPROF__SLOW_ROWS);
        if (k >= group->count ||
            (k >= CHROPROF__SLOW_OF_RUN && group->rows[k].at < chroprof__slow_oldest(p->core)))
            continue;
        chroprof__read_slow(p, group, k, out);
        return true;
    }
    return false;
}

static void chroprof__read_step(const chroprof *p, const chroprof__ring_row *row,
                                chroprof_step *out)
{
    out->at_ns = chroprof__moment_ns(p, row->time);
    out->state = chroprof__row_state(row);
    out->id = out->state == CHROPROF_SINCE ? chroprof__ns(p->core, row->id)
                                           : chroprof__shown_id(p, chroprof__row_id(row));
    out->path = row->path;
    out->depth = row->depth;
    out->left_out = 0;
}

CHROPROF__COLD_API size_t chroprof_incident(const chroprof *p, uint64_t stall, chroprof_step *out,
                                            size_t capacity)
{
    const chroprof__incident_row *row =
        chroprof__can_read(p) ? chroprof__incident_of(p->core, stall) : NULL;
    for (size_t k = 0; row && out && k < row->count && k < capacity; k++) {
        chroprof__read_step(p, row->steps + k, out + k);
        if (row->steps[k].spare) {
            out[k].left_out = row->steps[k].path;
            out[k].path = CHROPROF__UNTRACKED;
        }
    }
    return row ? row->count : 0;
}

/* The cursor is the number of the next event, so who follows a ring sees what was overwritten. */
CHROPROF__COLD_API bool chroprof_next_step(const chroprof *p, uint64_t *cursor, chroprof_step *out)
{
    if (!chroprof__can_read(p))
        return false;
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t n = *cursor > r.first ? *cursor : r.first;
    if (n >= r.end)
        return false;
    chroprof__read_step(p, chroprof__ring_at(p, p->core, n), out);
    *cursor = n + 1;
    return true;
}
