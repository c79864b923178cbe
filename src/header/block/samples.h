/* block/samples.h: what becomes of a timer signal: rows, hits of stalls, draws */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/modules.h"
#include "../block/stacks.h"

/* ---- rows */

/* Takes the oldest row's place, or a free one. */
static chroprof__sample_span *chroprof__new_row(chroprof__core *c, chroprof__sampler *s)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SAMPLES];
    chroprof__sample_span *row = chroprof__sample_rows(c) + s->rows.head;
    if (table->used == table->capacity) {
        s->rows.dropped += row->weight;
        s->rows.dropped_cpu_ns += row->cpu_ns;
    }
    memset(row, 0, sizeof(*row));
    s->rows.head = s->rows.head + 1 < table->capacity ? s->rows.head + 1 : 0;
    if (table->used < table->capacity)
        table->peak = ++table->used;
    return row;
}

/* A sample with the stack of the row before it and no CPU time extends that row. */
static void chroprof__add_row(chroprof__core *c, chroprof__sampler *s, uint64_t t, uint32_t stack,
                              const chroprof__entry *e)
{
    uint64_t before = s->rows.head > 0 ? s->rows.head - 1 : chroprof__sample_capacity(c) - 1;
    bool any = c->tables[CHROPROF_TABLE_SAMPLES].used > 0;
    chroprof__sample_span *row = chroprof__sample_rows(c) + before;
    if (!any || row->stack != stack || row->state != e->state || e->cpu_ns != 0) {
        row = chroprof__new_row(c, s);
        row->time = t;
        row->stack = stack;
        row->state = e->state;
    }
    row->weight += e->weight;
    row->cpu_ns += e->cpu_ns;
    row->duration = t - row->time;
    s->rows.samples += e->weight;
    s->rows.latest = t;
    chroprof__nodes(c)[stack].weight += e->weight;
    chroprof__nodes(c)[stack].cpu_ns += e->cpu_ns;
}

/* ---- stalls: where the callbacks and the iteration under way were met */

/* Which of the places a sample counts for: its own, else a free one, else another line of the same
 * function call, else the least one's (Metwally and others, space saving, 2005), whose weight is
 * told of neither. */
static uint32_t chroprof__hit_place(const chroprof__node *nodes, chroprof__hits *h, uint32_t stack)
{
    uint32_t least = 0, sibling = UINT32_MAX;
    for (uint32_t k = 0; k < h->count; k++) {
        if (h->stack[k] == stack)
            return k;
        if (nodes[h->stack[k]].parent == nodes[stack].parent &&
            chroprof__item_kind(nodes[stack].item) != CHROPROF__TASK)
            sibling = k;
        least = h->weight[k] < h->weight[least] ? k : least;
    }
    if (h->count < CHROPROF_STALL_SAMPLES)
        least = h->count++;
    else if (sibling != UINT32_MAX)
        return sibling;
    h->stack[least] = stack;
    h->over[least] = h->weight[least];
    h->cpu[least] = 0;
    return least;
}

/* Of the time since the sample before it only what lies in the callback or iteration counts. */
static void chroprof__add_hit(const chroprof__core *c, chroprof__hits *h, uint32_t owner,
                              uint64_t inside, uint32_t stack, const chroprof__entry *e)
{
    uint64_t wall = chroprof__scale(inside, c->time.factor);
    wall = e->wall_ns < wall ? e->wall_ns : wall;
    uint64_t cpu = e->cpu_ns < wall ? e->cpu_ns : wall;
    if (h->owner != owner) {
        memset(h, 0, sizeof(*h));
        h->owner = owner;
    }
    uint32_t k = chroprof__hit_place(chroprof__nodes(c), h, stack);
    h->weight[k] += (uint32_t)e->weight;
    h->cpu[k] += cpu;
    h->sampled += e->weight;
    h->cpu_ns += cpu;
    h->waiting_ns += wall - cpu;
}

/* The hits of the callback under way; those of the iteration stand behind all of these. */
static uint32_t chroprof__callback_place(const chroprof__core *c)
{
    return c->barriers < CHROPROF__NESTED_LOOPS ? c->barriers : CHROPROF__NESTED_LOOPS - 1;
}

static void chroprof__add_hits(const chroprof *p, chroprof__sampler *s, uint64_t t, uint32_t stack,
                               const chroprof__entry *e)
{
    const chroprof__core *c = p->core;
    const chroprof__frame_row *base = p->frames + c->barrier + 1;
    if (c->account == CHROPROF__IDLE)
        return;
    if (c->depth > c->barrier)
        chroprof__add_hit(c, s->hits + chroprof__callback_place(c), base->event,
                          chroprof__minus(t, base->pushed), stack, e);
    if (c->loop.iteration_active)
        chroprof__add_hit(c, s->hits + CHROPROF__NESTED_LOOPS, (uint32_t)c->iteration.event,
                          chroprof__minus(t, c->iteration.start), stack, e);
}

#if CHROPROF__SAMPLES
/* Was this moment of profile time more than 1 ms ago? The thread's CPU time of now is not that of
 * then. A clock of the program's own is not asked. */
static bool chroprof__is_past(const chroprof__core *c, uint64_t t)
{
    uint64_t now = chroprof__clock_here(c);
    uint64_t slack = chroprof__unscale(1000000, c->time.factor);
    return now != 0 && chroprof__minus(now, c->epoch + t) > slack;
}

/* The thread's CPU time when a callback or an iteration began, by the last look before that: what
 * was not idle since that look counts as CPU time. False: there was none. */
static bool chroprof__cpu_at(const chroprof *p, uint32_t place, uint32_t owner, uint64_t start,
                             uint64_t *ns)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t busy = chroprof__minus(start, p->paths[CHROPROF__IDLE].exec);
    bool noted = s->begun[place].event == owner;
    *ns = noted ? s->begun[place].cpu_ns
                : s->look.cpu_ns + chroprof__scale(chroprof__minus(busy, s->look.cpu_busy),
                                                    c->time.factor);
    return noted || start >= s->look.last;
}
#endif

/* While the timer runs the CPU time of a stall is known from the thread's clock when it began and
 * ended; of samples by hand only as far as they tell. owner: the event that began it. */
static void chroprof__take_hits(const chroprof *p, chroprof__stall_row *stall, uint32_t owner)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    bool callback = stall->kind == CHROPROF_STALL_CALLBACK;
    uint32_t k = callback ? chroprof__callback_place(c) : (uint32_t)CHROPROF__NESTED_LOOPS;
    if (!s)
        return;
    if (s->hits[k].owner == owner)
        stall->hits = s->hits[k];
#if CHROPROF__SAMPLES
    uint64_t length = chroprof__scale(stall->length, c->time.factor), begun_ns, cpu;
    if (!p->sampling || chroprof__is_past(c, stall->start + stall->length) ||
        !chroprof__cpu_at(p, k, owner, stall->start, &begun_ns))
        return;
    cpu = chroprof__minus(chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID), begun_ns);
    stall->hits.cpu_ns = cpu < length ? cpu : length;
    stall->hits.waiting_ns = length - stall->hits.cpu_ns;
#endif
}

/* ---- draws of live futures */

static uint32_t chroprof__drawn_state(const chroprof *p, const chroprof__future_row *slot)
{
    bool top = p->frames[p->core->depth].id == slot->id && p->core->hidden == 0;
    if (slot->state == CHROPROF_READY)
        return 1;
    return slot->state == CHROPROF_RUNNING && top ? 0 : 2;
}

/* The younger ones of very many paths share the row of untracked. */
static chroprof__wall_row *chroprof__wall_of(const chroprof__core *c, uint32_t path)
{
    bool own = path < c->tables[CHROPROF__WALLS].rows;
    return chroprof__wall_rows(c) + (own ? path : (uint32_t)CHROPROF__UNTRACKED);
}

/* Signals draw 8 live futures each, of fewer all, as they were in [from, t). They look at
 * the slots in which as many are to be expected, but not far; each one that is met stands for so
 * many more that 8 a timer signal is the mean. The next draw goes on from there, so each has its
 * turn. */
static void chroprof__draw(const chroprof *p, chroprof__sampler *s, uint64_t from, uint64_t t,
                           uint64_t ticks)
{
    const uint64_t live = p->core->tables[CHROPROF_TABLE_FUTURES].used, rows = p->rows;
    uint64_t each = live < CHROPROF__DRAWS ? live : (uint64_t)CHROPROF__DRAWS;
    uint64_t rounds = ticks < 4 ? ticks : 4, reach = rounds * CHROPROF__STRETCH;
    if (each == 0 || ticks == 0)
        return;
    uint64_t enough = (rounds * each * rows + live - 1) / live;
    reach = reach < enough ? reach : enough;
    reach = reach < rows ? reach : rows;
    uint64_t total = each * rows * (ticks < UINT32_MAX ? ticks : UINT32_MAX), parts = reach * live;
    uint64_t whole = total / parts, rest = total % parts;
    from = s->drawn.seq == p->core->seq ? s->drawn.at : from;
    for (uint64_t n = 0; n < reach; n++) {
        const chroprof__future_row *f = p->futures + s->drawn.cursor % rows;
        uint64_t weight = whole + (chroprof__random(s) % parts < rest);
        s->drawn.cursor = s->drawn.cursor + 1 < rows ? s->drawn.cursor + 1 : 0;
        if (f->id == 0 || f->state == CHROPROF__GONE) {
            s->draw.misses++;
            continue;
        }
        chroprof__wall_row *row = chroprof__wall_of(p->core, f->path);
        uint32_t state = chroprof__drawn_state(p, f);
        row->weight[state] += weight;
        row->ticks[state] += t - from;
        s->draw.draws += weight;
    }
    s->drawn.seq = p->core->seq;
    s->drawn.at = t;
}

/* ---- from the ring to the tables */

/* Profile time of a sample: not before the one before, and not after most. */
static uint64_t chroprof__sample_time(const chroprof__core *c, const chroprof__sampler *s,
                                      uint64_t stamp, uint64_t most)
{
    uint64_t t = stamp ? stamp - c->epoch : c->last;
    if (t >= CHROPROF__END_OF_TIME)
        t = stamp < c->epoch ? 0 : c->last;
    t = t < most ? t : most;
    return t > s->rows.latest ? t : s->rows.latest;
}

/* A sample of a task that runs is its path's, which is the innermost one of the stack. */
static void chroprof__count_sample(const chroprof__core *c, uint32_t stack,
                                   const chroprof__entry *e)
{
    const chroprof__node *nodes = chroprof__nodes(c);
    while (stack && chroprof__item_kind(nodes[stack].item) != CHROPROF__TASK)
        stack = nodes[stack].parent;
    if (stack == 0 || e->state != CHROPROF_SAMPLE_BUSY)
        return;
    chroprof__wall_row *row =
        chroprof__wall_of(c, (uint32_t)chroprof__item_value(nodes[stack].item));
    row->samples += e->weight;
    row->cpu_ns += e->cpu_ns;
}

/* A program may tell late that it was idle. Was it when this sample was taken, before the iteration
 * under way? */
static bool chroprof__was_idle(const chroprof__core *c, const chroprof__entry *e)
{
    return e->state != CHROPROF_SAMPLE_IDLE && e->stamp != 0 && c->loop.iteration_active &&
           chroprof__minus(e->last, c->epoch) < c->iteration.start && e->count > 0 &&
           e->items[0] != chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE);
}

static void chroprof__absorb(const chroprof *p, chroprof__sampler *s, chroprof__entry *e,
                             uint64_t most)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__sample_time(c, s, e->stamp, most);
    if (chroprof__was_idle(c, e)) {
        if (p->follows_idle)
            return;                         /* that idle has its own samples */
        e->state = CHROPROF_SAMPLE_IDLE;
        e->items[0] = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_IDLE);
        e->count = 1;
    }
    if (e->wall_ns == 0)
        e->wall_ns = chroprof__scale(t - s->rows.latest, c->time.factor);
    uint32_t stack = chroprof__intern_stack(p, e);
    if (e->count > 0 && e->items[0] == chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE))
        s->rows.inside += e->weight;
    chroprof__add_row(c, s, t, stack, e);
    chroprof__count_sample(c, stack, e);
    t = chroprof__sample_time(c, s, e->last, most);
    chroprof__add_hits(p, s, t, stack, e);
    chroprof__draw(p, s, t, t, e->draws);
}

/* Is it of after the event under way, whose time the program gave? */
static bool chroprof__is_later(const chroprof__core *c, const chroprof__entry *e)
{
    uint64_t t = e->stamp - c->epoch;
    return e->stamp != 0 && t > c->last && t < CHROPROF__END_OF_TIME;
}

CHROPROF__COLD void chroprof__drain_all(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__look_at_modules(c);
    while (chroprof__peek64(&s->handler.put) - s->taken != 0) {
        CHROPROF__LOAD_FENCE();
        if (chroprof__is_later(c, chroprof__ring(c, s->taken)))
            return;                         /* the next event takes it in */
        chroprof__absorb(p, s, chroprof__ring(c, s->taken), c->last);
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->taken, s->taken + 1);
    }
}

/* The event under way is to read the thread's CPU clock, the next one in a millisecond. */
static void chroprof__plan_look(const chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    s->look.at = c->last + chroprof__unscale(1000000, c->time.factor);
    s->look.due = 1;
}

/* Takes in what waits; part of the slow path. Whoever lets a sample wait sets drain. */
static void chroprof__drain(chroprof *p)
{
    if (p->drain && chroprof__samples_wait(p->core))
        p->drain(p);
}

/* Makes the next event take the slow path if something waits. Between events only. */
static void chroprof__wake_drain(chroprof__core *c)
{
    if (chroprof__samples_wait(c))
        chroprof__wake(c);
}

/* ---- from a timer signal to the ring. This may run in a signal handler, at any instruction of
 * anything above. */

/* Makes one of two neighbours stand for both, each as often as it weighs. */
static void chroprof__merge_entries(chroprof__sampler *s, chroprof__entry *a,
                                    const chroprof__entry *b)
{
    uint64_t weight = a->weight + b->weight;
    chroprof__entry sum = chroprof__random(s) % weight < a->weight ? *a : *b;
    sum.weight = weight;
    sum.cpu_ns = a->cpu_ns + b->cpu_ns;
    sum.wall_ns = a->wall_ns + b->wall_ns;
    sum.draws = a->draws + b->draws;
    sum.last = b->last;
    *a = sum;
}

/* The ring is full and nobody takes from it, which is a long slice: the two neighbours that weigh
 * least become one, so that what is left covers all of it, evenly. */
static void chroprof__thin(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t end = s->handler.put - 1, best = s->taken, least = UINT64_MAX;
    for (uint64_t k = s->taken; k < end; k++) {
        uint64_t weight = chroprof__ring(c, k)->weight + chroprof__ring(c, k + 1)->weight;
        best = weight < least ? k : best;
        least = weight < least ? weight : least;
    }
    chroprof__merge_entries(s, chroprof__ring(c, best), chroprof__ring(c, best + 1));
    for (uint64_t k = best + 1; k < end; k++)
        *chroprof__ring(c, k) = *chroprof__ring(c, k + 1);
    chroprof__poke64(&s->handler.put, end);
}

/* An empty entry; NULL: no room, inside an event. */
static chroprof__entry *chroprof__begin_entry(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    if (s->handler.put - chroprof__peek64(&s->taken) >= rows) {
        if (chroprof__is_busy(c))
            return NULL;
        chroprof__thin(c, s);
    }
    chroprof__entry *e = chroprof__ring(c, s->handler.put);
    memset(e, 0, offsetof(chroprof__entry, items));
    return e;
}

CHROPROF__NOINLINE void chroprof__put_item(chroprof__entry *e, uint32_t kind, uint64_t value)
{
    if (e->count < CHROPROF__ITEMS)
        e->items[e->count++] = chroprof__item(kind, value);
}

/* The frames of the running stack from depth on, the innermost first, down to the one above `down`.
 * Returns how many are left below them. */
static uint32_t chroprof__put_tasks(const chroprof__core *c, chroprof__entry *e, uint32_t depth,
                                    uint32_t down)
{
    const chroprof__frame_row *frames = chroprof__frame_rows(c);
    for (; depth > down; depth--) {
        if (c->depth - depth >= CHROPROF__NOTED_TASKS) {
            chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_DEEP);
            return 0;
        }
        if ((frames[depth].kind & CHROPROF__BARRIER) == 0)
            chroprof__put_item(e, CHROPROF__TASK, frames[depth].path);
    }
    return depth;
}

static uint32_t chroprof__sample_state_of(const chroprof__core *c)
{
    if (c->account == CHROPROF__IDLE)
        return CHROPROF_SAMPLE_IDLE;
    if (c->account == CHROPROF__LOOP)
        return CHROPROF_SAMPLE_UNINSTRUMENTED;
    return CHROPROF_SAMPLE_BUSY;
}

/* The stack of a sample without native frames. */
static void chroprof__put_running(const chroprof__core *c, chroprof__entry *e)
{
    e->state = chroprof__sample_state_of(c);
    if (chroprof__is_busy(c)) {
        e->state = CHROPROF_SAMPLE_UNINSTRUMENTED;
        chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_INSIDE);
        return;
    }
    if (c->hidden)
        chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
    if (e->state != CHROPROF_SAMPLE_BUSY)
        chroprof__put_item(e, CHROPROF__MARK, e->state == CHROPROF_SAMPLE_IDLE
                                                  ? CHROPROF__MARK_IDLE : CHROPROF__MARK_LOOP);
    (void)chroprof__put_tasks(c, e, c->depth, 0);
}
