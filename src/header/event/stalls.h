/* event/stalls.h: callbacks and iterations that took too long */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/samples.h"
#include "../event/step.h"
#include "../event/tally.h"

/* >>stalls */

static void chroprof__keep_share(chroprof__stall_row *stall, const chroprof__stall_part *share)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF_STALL_SHARES, chroprof__stall_part, exec);
    if (share->exec > 0 || share->slices > 0)
        stall->share_count = chroprof__keep_largest(&by, stall->shares, stall->share_count, share);
}

/* Adds what the paths of a site took of a tally: once, with the first of them that is met. */
static void chroprof__share_site(const chroprof *p, chroprof__stall_row *stall,
                                 const chroprof__tally *y, uint32_t path)
{
    chroprof__stall_part share;
    memset(&share, 0, sizeof(share));
    share.site = p->paths[path].site;
    bool known = true;
    uint32_t k = path;
    if (path >= CHROPROF__FIRST_PATH)
        k = chroprof__sites(p->core)[share.site].first_path;
    for (; k; k = p->paths[k].same_site) {
        const chroprof__sum *sum = &p->paths[k].sum[y->which];
        if (p->paths[k].tally[y->which] != y->number)
            continue;
        share.exec += sum->exec;
        share.slices += sum->slices;
        known = known && sum->slices != CHROPROF__UNKNOWN_SLICES;
        chroprof__raise(&share.slice_max, sum->slice_max < sum->exec ? sum->slice_max : sum->exec);
        p->paths[k].tally[y->which] = 0;
    }
    if (!known)
        share.slices = share.slice_max = 0;
    chroprof__keep_share(stall, &share);
}

/* What each site took of the stall. */
static void chroprof__share_tally(const chroprof *p, chroprof__stall_row *stall,
                                  const chroprof__tally *y)
{
    const chroprof__path_row *loop = p->paths + CHROPROF__LOOP;
    chroprof__stall_part share;
    memset(&share, 0, sizeof(share));
    if (loop->tally[y->which] == y->number)
        share.exec = loop->sum[y->which].exec;
    chroprof__keep_share(stall, &share);
    for (uint32_t k = y->first_path; k; k = p->paths[k].sum_next[y->which])
        if (p->paths[k].tally[y->which] == y->number)
            chroprof__share_site(p, stall, y, k);
}

static void chroprof__share_iteration(const chroprof *p, chroprof__stall_row *stall)
{
    chroprof__core *c = p->core;
    chroprof__tally y;
    if (c->stall.tally.next <= c->iteration.event + 1)
        chroprof__begin_tally(p, &c->stall.tally, CHROPROF__OF_ITERATION, c->iteration.event + 1,
                              c->iteration.start);
    chroprof__tally_rows(p, &c->stall.tally, (c->seq + 1) >> 1, c->depth);
    y = c->stall.tally;
    chroprof__end_tally(p, &y);             /* below a barrier: the part inside counts */
    chroprof__share_tally(p, stall, &y);
}

/* The first row in reach that is surely not above a barrier of this callback; the end: there is
 * none. */
static uint64_t chroprof__surely_of_callback(const chroprof *p, chroprof__reach r,
                                         const chroprof__frame_row *base)
{
    uint64_t n = r.first;
    while (n < r.end && chroprof__ring_at(p, p->core, n)->depth > base - p->frames)
        n++;
    return n;
}

/* What each site took of the callback that ends, as far as the ring reaches. What ran above a
 * barrier is not of the callback. */
static void chroprof__share_callback(const chroprof *p, chroprof__stall_row *stall,
                                 const chroprof__frame_row *base)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t first = r.end - stall->events;
    chroprof__tally y;
    chroprof__begin_tally(p, &y, CHROPROF__OF_CALLBACK, first, base->pushed);
    y.base = (uint32_t)(base - p->frames) - 1;
    if (first <= r.first) {                 /* it began before the ring does, or before a reset */
        bool parted = first < r.first ? (base->kind & CHROPROF__PARTED) != 0
                                      : c->ring.barrier > y.base;
        uint64_t n = parted ? chroprof__surely_of_callback(p, r, base) : r.first;
        y.next = n == r.first && first < r.first ? n + 1 : n;
        y.time = y.next > r.first ? chroprof__ring_at(p, c, y.next - 1)->time : base->pushed;
    }
    chroprof__tally_rows(p, &y, r.end, y.base);
    chroprof__end_tally(p, &y);
    chroprof__share_tally(p, stall, &y);
}

/* Lets a stall sink from place k of a heap that has the shortest at its root. */
static void chroprof__sink_stall(chroprof__stall_row *heap, uint32_t rows, uint32_t k,
                                 const chroprof__stall_row *stall)
{
    for (;;) {
        uint32_t child = 2 * k + 1;
        if (child + 1 < rows && heap[child + 1].length < heap[child].length)
            child++;
        if (child >= rows || heap[child].length >= stall->length)
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = *stall;
}

/* The first half of the rows is a heap of the longest; the rest is a ring of the most recent. */
static void chroprof__keep_stall(chroprof__core *c, const chroprof__stall_row *stall)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_STALLS].capacity;
    uint32_t longest = (capacity + 1) / 2, recent = capacity - longest;
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    if (rows[0].length < stall->length)
        chroprof__sink_stall(rows, longest, 0, stall);
    if (recent)
        rows[longest + (stall->serial - 1) % recent] = *stall;
}

/* The iteration that ends is the same stall as this callback, which is most of it: it takes its
 * place. */
static void chroprof__replace_stall(chroprof__core *c, const chroprof__stall_row *stall)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_STALLS].capacity, longest = (capacity + 1) / 2;
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    uint32_t k = 0;
    while (k < longest && rows[k].serial != stall->serial)
        k++;
    if (k < longest)
        chroprof__sink_stall(rows, longest, k, stall);
    else if (rows[0].length < stall->length)
        chroprof__sink_stall(rows, longest, 0, stall);
    for (k = longest; k < capacity; k++)
        if (rows[k].serial == stall->serial)
            rows[k] = *stall;
}

/* Rows in use of the tables that have something of each stall, after so many. */
static void chroprof__set_stalls(chroprof__core *c, uint64_t stalls)
{
    static const uint32_t tables[] = { CHROPROF_TABLE_STALLS, CHROPROF_TABLE_INCIDENTS };
    for (uint32_t k = 0; k < 2; k++) {
        chroprof__table_row *table = &c->tables[tables[k]];
        table->used = table->peak = stalls < table->capacity ? stalls : table->capacity;
    }
}

static void chroprof__count_stall(chroprof *p)
{
    chroprof__set_stalls(p->core, ++p->core->loop.stalls);
    if (p->on_stall && p->stalls_due < UINT16_MAX)
        p->stalls_due++;
}

/* Where the steps of a stall go among those of the longest ones, or of the most recent ones; NULL:
 * it is none of these. */
static chroprof__incident_row *chroprof__incident_place(const chroprof__core *c,
                                                        const chroprof__stall_row *stall,
                                                        bool recent)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_INCIDENTS].capacity, longest = (capacity + 1) / 2;
    chroprof__incident_row *row = chroprof__incidents(c) + 1, *end = row + longest, *least = row;
    if (recent && capacity > longest) {
        row = end + (stall->serial - 1) % (capacity - longest);
        return row->serial <= stall->serial ? row : NULL;
    }
    for (; !recent && row < end; row++) {
        if (row->serial == stall->serial)
            return row;
        least = row->length < least->length ? row : least;
    }
    return !recent && longest && least->length < stall->length ? least : NULL;
}

/* An interval, by the step that ends it. */
typedef struct chroprof__long_step {
    uint64_t length, n;
} chroprof__long_step;

/* The longest intervals that end at one of the steps [n, end), in the order of time; of two that
 * are as long the earlier one. Returns how many. */
static uint32_t chroprof__long_steps(const chroprof *p, uint64_t n, uint64_t end,
                                     chroprof__long_step *out, uint32_t most)
{
    uint32_t count = 0, least = 0;
    for (uint64_t from = 0, to; n < end; n++, from = to) {
        from = from ? from : chroprof__ring_at(p, p->core, n - 1)->time;
        to = chroprof__ring_at(p, p->core, n)->time;
        if (count == most && to - from <= out[least].length)
            continue;
        if (count == most)
            memmove(out + least, out + least + 1, (--count - least) * sizeof(*out));
        out[count].length = to - from;
        out[count++].n = n;
        least = 0;
        for (uint32_t k = 1; k < count; k++)
            least = out[k].length <= out[least].length ? k : least;
    }
    return count;
}

/* Which of the steps [from, end) begin or end one of the longest intervals up to `end`. */
static uint32_t chroprof__middle_steps(const chroprof *p, uint64_t from, uint64_t end,
                                       uint64_t *out, uint32_t most)
{
    chroprof__long_step found[CHROPROF_INCIDENT_STEPS / 2];
    uint64_t n = chroprof__ring_reach(p->core).first < from ? from : from + 1;
    uint64_t begin = chroprof__minus(end, CHROPROF__STEPS_ASKED);
    uint32_t rows = 0;
    uint32_t count = chroprof__long_steps(p, n > begin ? n : begin, end + 1, found, most);
    for (uint32_t k = 0; k < count; k++)
        for (uint64_t row = found[k].n - 1; row <= found[k].n; row++)
            if (row >= from && row < end && (rows == 0 || row > out[rows - 1]))
                out[rows++] = row;
    return rows;
}

/* Copies a step of the ring. Those from *next on that come before it are left out. */
static void chroprof__put_step(const chroprof *p, chroprof__incident_row *row, uint64_t n,
                               uint64_t *next)
{
    chroprof__ring_row *step = row->steps + row->count;
    uint64_t missing = n - *next;
    *step = *chroprof__ring_at(p, p->core, n);
    step->spare = missing > 0;
    if (missing > 0) {
        step->path = missing < UINT32_MAX ? (uint32_t)missing : UINT32_MAX;
        row->first = row->left_out ? row->first : row->count;
        row->left_out += missing;
    }
    row->count++;
    *next = n + 1;
}

/* Copies the steps of a stall from the ring that come after the first ones: if there are too many,
 * those around its longest intervals and the last ones. */
static void chroprof__copy_rest(const chroprof *p, chroprof__incident_row *row, uint64_t next)
{
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t from = next > r.first ? next : r.first, last = from;
    uint64_t rows[CHROPROF_INCIDENT_STEPS];
    uint32_t middle = 0, room = CHROPROF_INCIDENT_STEPS - row->count;
    if (r.end - from > room) {
        last = r.end - CHROPROF__LAST_STEPS;
        middle = chroprof__middle_steps(p, from, last, rows, (room - CHROPROF__LAST_STEPS) / 2);
    }
    for (; last > from && middle + r.end - last < room; last--)
        if (middle > 0 && rows[middle - 1] == last - 1)
            middle--;
    for (uint32_t k = 0; k < middle; k++)
        chroprof__put_step(p, row, rows[k], &next);
    for (; last < r.end; last++)
        chroprof__put_step(p, row, last, &next);
}

/* Copies the steps of a stall, with some before it. */
static void chroprof__copy_steps(const chroprof *p, chroprof__incident_row *row,
                                 const chroprof__stall_row *stall)
{
    const chroprof__core *c = p->core;
    const chroprof__incident_row *stage = chroprof__incidents(c);
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t begin = r.end - 1 - stall->events, n = begin < c->ring.first ? c->ring.first : begin;
    uint64_t lead = stage->serial == begin ? stage->count : 0;
    bool whole = r.first <= n;
    if (whole) {
        n = chroprof__between(chroprof__minus(n, CHROPROF__STEPS_BEFORE), r.first, n);
        lead = chroprof__between(r.end - n, 0, CHROPROF__LAST_STEPS);
    }
    row->length = stall->length;
    row->left_out = row->first = row->count = 0;
    for (uint64_t k = 0; k < lead; k++) {
        row->steps[k] = whole ? *chroprof__ring_at(p, c, n + k) : stage->steps[k];
        row->steps[row->count++].spare = 0;
    }
    chroprof__copy_rest(p, row, n + lead);
}

/* Keeps the steps of a stall that ends, if it is one of those that are kept. */
static void chroprof__keep_steps(const chroprof *p, const chroprof__stall_row *stall)
{
    const chroprof__incident_row *same = NULL;
    for (uint32_t recent = 0; recent < 2; recent++) {
        chroprof__incident_row *row = chroprof__incident_place(p->core, stall, recent != 0);
        if (!row)
            continue;
        row->serial = 0;                    /* who is killed in here leaves no steps behind */
        CHROPROF__STORE_FENCE();
        if (same)
            memcpy((char *)row + sizeof(row->serial), (const char *)same + sizeof(same->serial),
                   sizeof(*row) - sizeof(row->serial));
        else
            chroprof__copy_steps(p, row, stall);
        CHROPROF__STORE_FENCE();
        row->serial = stall->serial;
        same = row;
    }
}

static chroprof__stall_row *chroprof__new_stall(chroprof__core *c, chroprof_stall_kind kind,
                                                uint64_t start, uint64_t length, uint64_t events)
{
    chroprof__stall_row *stall = &c->stall.due[kind];
    memset(stall, 0, sizeof(*stall));
    stall->kind = kind;
    stall->start = start;
    stall->length = length;
    stall->events = events;
    return stall;
}

/* The activation of a base frame ends that was a stall. */
CHROPROF__COLD void chroprof__callback_stalled(chroprof *p, const chroprof__frame_row *base,
                                           uint64_t length)
{
    chroprof__core *c = p->core;
    uint32_t events = ((uint32_t)c->seq - base->event) / 2;
    chroprof__stall_row *stall =
        chroprof__new_stall(c, CHROPROF_STALL_CALLBACK, base->pushed, length, events);
    chroprof__count_stall(p);
    stall->serial = c->loop.stalls;
    chroprof__share_callback(p, stall, base);
    chroprof__take_hits(p, stall, base->event);
    chroprof__keep_stall(c, stall);
    chroprof__keep_steps(p, stall);
    if (base->pushed >= c->iteration.start && length >= c->loop.iteration_callback) {
        c->loop.iteration_callback = length;
        c->loop.iteration_callback_serial = stall->serial;
    }
}

CHROPROF__COLD void chroprof__iteration_stalled(chroprof *p, uint64_t length)
{
    chroprof__core *c = p->core;
    bool same = c->loop.iteration_callback > length / 2;
    chroprof__stall_row *stall = chroprof__new_stall(c, CHROPROF_STALL_ITERATION,
    c->iteration.start, length,
                                                     (c->seq >> 1) - c->iteration.event);
    if (!same)
        chroprof__count_stall(p);
    stall->serial = same ? c->loop.iteration_callback_serial : c->loop.stalls;
    chroprof__share_iteration(p, stall);
    chroprof__take_hits(p, stall, (uint32_t)c->iteration.event);
    if (same)
        chroprof__replace_stall(c, stall);
    else
        chroprof__keep_stall(c, stall);
    chroprof__keep_steps(p, stall);
}
