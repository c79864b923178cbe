/* reading/totals.h: options, the use of the tables, anomalies and sums */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/histogram.h"
#include "../event/step.h"
#include "../event/anomalies.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/ranks.h"
#include "../reading/windows.h"

/* Of a forked child's handle too: what its parent's profile was made with. */
static void chroprof__options_of(const chroprof *p, chroprof_options *out)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = p->core->tables[k].capacity;
    memcpy(out, capacity, sizeof(capacity));        /* in the order of the tables */
    out->window_ns = p->core->set.window_ns;
    out->stall_ns = p->core->set.stall_ns;
    out->max_step_ns = p->core->set.max_step_ns;
    out->on_stall = p->on_stall;
    out->on_stall_user = p->on_stall_user;
    out->name = p->core->who.name;
}

CHROPROF__COLD_API void chroprof_read_options(const chroprof *p, chroprof_options *out)
{
    memset(out, 0, sizeof(*out));
    if (chroprof__can_read(p))
        chroprof__options_of(p, out);
}

/* How many different keys left this bitmap behind, by linear counting (Whang and others, 1990) with
 * half as many again for safety; never more than were dropped. */
static uint64_t chroprof__distinct(const chroprof__table_row *table)
{
    uint64_t keys = 2, open = 64;
    for (uint64_t bits = table->wanted; bits && open > 1; bits &= bits - 1, open--)
        keys += 96 / open + 1;
    return open == 1 || keys > table->dropped ? table->dropped : keys;
}

/* A capacity that would have done. Of the tree, what was dropped would have had children, which
 * were taken for those of its parent, so twice as much is asked for as was seen. How many different
 * frames of stacks were lost: about the lowest bit that none of them left, 1.3 times; three times
 * that for safety. */
static uint64_t chroprof__advice(const chroprof *p, uint32_t kind)
{
    const chroprof__table_row *table = &p->core->tables[kind];
    uint64_t more = chroprof__distinct(table), rarest = ~table->wanted & (table->wanted + 1);
    switch (kind) {
    case CHROPROF_TABLE_FUTURES:
    case CHROPROF_TABLE_HISTOGRAMS: return table->capacity + table->dropped;
    case CHROPROF_TABLE_PATHS:
    case CHROPROF_TABLE_EDGES:
        return chroprof__between(2 * (table->capacity + more), 0, UINT64_C(1) << 28);
    case CHROPROF_TABLE_DEPTH:
    case CHROPROF_TABLE_STRINGS: return table->capacity + table->wanted;
    case CHROPROF_TABLE_STACKS:
        more = rarest >> 48 ? UINT64_MAX : 4 * rarest + 1;
        chroprof__lower(&more, table->dropped);
        break;
    default: break;
    }
    return table->capacity + more;
}

/* Use, peak and drops of the tables that do not count them themselves. */
static void chroprof__read_use(const chroprof *p, chroprof_table *out)
{
    const chroprof__core *c = p->core;
    switch (out->kind) {
    case CHROPROF_TABLE_EVENTS:
        out->used = chroprof__ring_reach(c).end - chroprof__ring_reach(c).first;
        out->peak = out->used;
        break;
    case CHROPROF_TABLE_DEPTH:
        out->used = c->depth;
        while (out->peak < out->capacity && p->frames[out->peak + 1].kind != 0)
            out->peak++;                    /* a frame once used keeps its kind */
        break;
    case CHROPROF_TABLE_STRINGS:
        out->used -= CHROPROF__OWN_STRINGS;
        out->peak = out->used;
        break;
    case CHROPROF_TABLE_WINDOWS:
        out->used = chroprof__window_count(p);
        out->peak = c->window >> 16 ? out->capacity : out->used;
        break;
    default: break;
    }
}

CHROPROF__COLD_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity)
{
    /* no pointers: those would be data that the loader has to write */
#define CHROPROF__TABLE_NAMES(id, text, field) { text, field },
    static const char names[][2][20] = { CHROPROF_TABLES(CHROPROF__TABLE_NAMES) };
#undef CHROPROF__TABLE_NAMES
    if (!chroprof__can_read(p))
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_TABLE_COUNT && k < capacity; k++) {
        const chroprof__table_row *table = &p->core->tables[k];
        out[k].kind = (chroprof_table_kind)k;
        out[k].name = names[k][0];
        out[k].option = names[k][1];
        out[k].capacity = table->capacity;
        out[k].used = table->used;
        out[k].peak = table->peak;
        out[k].dropped = table->dropped;
        out[k].bytes = table->bytes;
        chroprof__read_use(p, out + k);
        out[k].advice = out[k].dropped ? chroprof__advice(p, k) : 0;
    }
    return CHROPROF_TABLE_COUNT;
}

static void chroprof__read_place(const chroprof *p, const chroprof__met *row,
                                 chroprof_anomaly_place *out)
{
    uint32_t path = row->path ? row->path : row->top;
    out->at_ns = chroprof__ns(p->core, row->at);
    out->id = chroprof__shown_id(p, row->id);
    out->path = row->path;
    out->top = row->top;
    chroprof__read_site_name(p, p->paths[path].site, &out->name, &out->file, &out->line);
}

CHROPROF__COLD_API bool chroprof_read_anomaly(const chroprof *p, chroprof_anomaly_kind kind,
                                              chroprof_anomaly *out)
{
#define CHROPROF__TEXTS(name, text, cure) text "\0" cure "\0"
    static const char texts[] = CHROPROF_ANOMALIES(CHROPROF__TEXTS);
#undef CHROPROF__TEXTS
    memset(out, 0, sizeof(*out));
    out->text = out->cure = "";
    out->first.name = out->first.file = out->last.name = out->last.file = "";
    if (!chroprof__can_read(p) || (unsigned)kind >= (unsigned)CHROPROF_ANOMALY_COUNT)
        return false;
    const chroprof__places *row = chroprof__places_of(p->core, (uint32_t)kind);
    out->kind = kind;
    out->count = p->core->anomalies.counts[kind];
    out->text = chroprof__nth_text(texts, 2 * (uint32_t)kind);
    out->cure = chroprof__nth_text(out->text, 1);
    out->placed = row && out->count > 0;
    if (!out->placed)
        return true;
    chroprof__read_place(p, &row->first, &out->first);
    chroprof__read_place(p, &row->last, &out->last);
    return true;
}

/* CHROPROF__HELD: of findings of this kind nobody names the code. */
static uint32_t chroprof__held_place(chroprof_finding_kind kind)
{
    return kind == CHROPROF_FINDING_OCCUPIES ? 0
           : kind == CHROPROF_FINDING_STALL ? 1
           : kind == CHROPROF_FINDING_HANGS ? 2 : CHROPROF__HELD;
}

/* Which row has most time of those that are not in the list yet; NULL: all are. */
static const chroprof__waited_row *chroprof__next_waited(const chroprof *p, uint32_t *taken)
{
    const chroprof__waited_row *most = NULL;
    uint32_t place = 0;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        const chroprof__waited_row *row = p->core->told.waited + k;
        if (row->count == 0 || *taken >> k & 1 || (most && row->ticks <= most->ticks))
            continue;
        most = row;
        place = k;
    }
    *taken |= most ? UINT32_C(1) << place : 0;
    return most;
}

CHROPROF__COLD_API size_t chroprof_task_waits(const chroprof *p, chroprof_task_wait *out,
                                              size_t capacity)
{
    const chroprof__waited_row *row;
    uint32_t taken = 0;
    size_t count = 0;
    if (!chroprof__can_read(p))
        return 0;
    for (; (row = chroprof__next_waited(p, &taken)) != NULL; count++) {
        if (!out || count >= capacity)
            continue;
        out[count].site = row->site;
        out[count].count = row->count;
        out[count].total_ns = chroprof__ns(p->core, row->ticks);
        out[count].longest_ns = chroprof__ns(p->core, row->longest);
        out[count].call = row->call;
        out[count].within = row->within;
        out[count].estimated = row->estimated != 0;
        chroprof__read_site_name(p, row->site, &out[count].name, &out[count].file,
                                 &out[count].line);
    }
    return count;
}

CHROPROF__COLD_API const char *chroprof_held_by(const chroprof *p, chroprof_finding_kind kind,
                                                uint64_t at_ns, uint32_t *ppm)
{
    uint32_t place = chroprof__held_place(kind);
    *ppm = 0;
    if (!chroprof__can_read(p) || place == CHROPROF__HELD ||
        p->core->told.held[place].at_ns != at_ns)
        return "";
    *ppm = p->core->told.held[place].ppm;
    return p->core->told.held[place].code;
}

CHROPROF__COLD_API const char *chroprof_awake_by(const chroprof *p)
{
    return chroprof__can_read(p) ? p->core->told.awake : "";
}

CHROPROF__COLD_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out,
                                             size_t capacity)
{
    if (!chroprof__can_read(p))
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_ANOMALY_COUNT && k < capacity; k++)
        (void)chroprof_read_anomaly(p, (chroprof_anomaly_kind)k, out + k);
    return CHROPROF_ANOMALY_COUNT;
}

/* The sums over all paths, and the times of those that are none. */
static void chroprof__sum_paths(const chroprof *p, chroprof_totals *out)
{
    uint64_t *const exec[] = { &out->uninstrumented_ns, &out->idle_ns, &out->untracked_ns };
    uint64_t *const blame[] = {
        &out->uninstrumented_blame_ns, &out->idle_blame_ns, &out->untracked_blame_ns
    };
    for (uint32_t k = 1; k <= p->core->depth; k++)
        out->live += (p->frames[k].kind & CHROPROF__ENTER_FRAME) != 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path_row *row = p->paths + k;
        uint64_t ns = chroprof__ns(p->core, row->exec), delay = chroprof__delay_ticks(p, row);
        if (k < CHROPROF__FIRST_PATH) {
            *exec[k] = ns;
            *blame[k] = chroprof__ns(p->core, row->blame);
        }
        out->elapsed_ns += ns;
        out->live += row->live + row->merged_live;
        out->delay_ticks += delay;
        out->delay_ns += chroprof__ns(p->core, delay);
        out->blame_ticks += row->blame;
        out->blame_ns += chroprof__ns(p->core, row->blame);
    }
    out->busy_ns = out->elapsed_ns - out->idle_ns - out->uninstrumented_ns;
}

/* Idle in which the loop slept: waits that returned at once are none, nor what its CPU time leaves
 * no room for. */
static uint64_t chroprof__asleep_ns(const chroprof_totals *t)
{
    uint64_t most = chroprof__minus(t->elapsed_ns, t->cpu_clock_ns);
    uint64_t ns = chroprof__minus(t->idle_ns,
                                  t->at_once_ns > t->elapsed_ns / 100 ? t->at_once_ns : 0);
    return t->cpu_clock_ns > 0 && most < ns ? most : ns;
}

/* Of data that comes at a random moment a share comes in iterations of a length that is their share
 * of the time, and waits for the rest of one, half of it on average. What waits longer than some
 * time came in the part of an iteration that is longer ago than that from its end. */
static void chroprof__read_hidden(const chroprof *p, chroprof_totals *out)
{
    const chroprof__histogram *h = &p->core->lengths.iteration;
    uint64_t whole = chroprof__minus(out->elapsed_ns, out->start_ns + out->exit_ns);
    uint64_t longer = 0, length_ns = 0, hundredth = whole / 100;
    for (uint32_t k = CHROPROF__BUCKETS; k-- > 0 && whole > 0;) {
        uint64_t count = chroprof__bucket_count(p, h, k);
        uint64_t ticks = k < CHROPROF__BUCKETS - 1 ? chroprof__bucket_value(k) : UINT64_MAX;
        if (count == 0)
            continue;
        ticks = chroprof__between(ticks, *chroprof__least_of(p, h), p->core->loop.iteration_max);
        uint64_t ns = chroprof__ns(p->core, ticks);
        if (!out->hidden_p99_ns && longer > 0 && length_ns > hundredth + longer * ns)
            out->hidden_p99_ns = (length_ns - hundredth) / longer;
        out->hidden_ns += chroprof__weigh(ns, count * ns, 2 * whole);
        longer += count;
        length_ns += count * ns;
    }
    if (!out->hidden_p99_ns && longer > 0 && length_ns > hundredth)    /* counts of a file wrap */
        out->hidden_p99_ns = (length_ns - hundredth) / longer;
}

CHROPROF__COLD_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out)
{
    memset(out, 0, sizeof(*out));
    if (!chroprof__can_read(p))
        return;
    const chroprof__core *c = p->core;
    chroprof__read_figures(c, CHROPROF__ALL(chroprof__loop_figures), c, out);
    chroprof__sum_paths(p, out);
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        out->anomalies += c->anomalies.counts[k];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        out->dropped += c->tables[k].dropped;
    out->events = (c->seq - c->seq_base) / 2 + c->made.merged_events;
    if (p->percentiles) {
        const chroprof__histogram *callback = &c->lengths.callback;
        const chroprof__histogram *iteration = &c->lengths.iteration;
        out->callbacks += chroprof__histogram_total(p, callback);
        out->iterations += chroprof__histogram_total(p, iteration);
        out->callback_p50_ns = chroprof__percentile_ns(p, callback, c->loop.callback_max, 500);
        out->callback_p99_ns = chroprof__percentile_ns(p, callback, c->loop.callback_max, 990);
        out->iteration_p50_ns = chroprof__percentile_ns(p, iteration, c->loop.iteration_max, 500);
        out->iteration_p99_ns = chroprof__percentile_ns(p, iteration, c->loop.iteration_max, 990);
        chroprof__read_hidden(p, out);
    }
    out->asleep_ns = chroprof__asleep_ns(out);
    out->provisional = !c->time.calibrated;
    out->enabled = c->enabled != 0;
    out->idle = c->account == CHROPROF__IDLE;
    out->in_iteration = c->loop.iteration_active != 0 && c->account != CHROPROF__IDLE;
    out->living = c->copy.living != 0;
    out->estimated = c->estimated != 0;
    out->depth = c->depth + c->hidden;
}
