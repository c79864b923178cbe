/* futures.h - requests and events that wait until their callback runs */

#ifndef PRELOAD_FUTURES_H
#define PRELOAD_FUTURES_H

#include "run.h"
#include "next.h"
#include "seats.h"

/* >>futures: requests of libuv and events of libevent, from the call that lets them wait until
 * their callback has run. A thread has a table of those that it created. A callback finds its own by the
 * arguments that it gets, and the thread sends all of their events. What ends in another thread, or
 * where the callback may have no frame, is marked, and its own thread tells so at its next wait.
 *
 * Callbacks without a row have a frame as all others: what began before the profile, or found the
 * table full, is no future. */

#if HAS_STANDINS
#define FUTURES 4000           /* of a thread: its profile has room for as many */
#define CHAIN_BITS 12

typedef struct watched_future {
    const void *function;      /* the row of its callback, */
    uintptr_t first, third;    /* and the arguments of that: as in loop_future */
    const void *of;
    const void *base;
    uint64_t id;
    uint64_t left;             /* the id once it has ended elsewhere; atomic */
    uint16_t next;             /* of its chain or of the free rows, plus 1; 0: none */
    bool stays, status;
    bool running;              /* only what stays: else the row is free by then */
    bool ran;
} watched_future;

typedef struct future_table {
    watched_future rows[FUTURES];
    uint16_t chains[1 << CHAIN_BITS];      /* their newest rows, plus 1 */
    uint16_t used;             /* rows from the first one on that ever had a future */
    uint16_t free;             /* of these, plus 1 */
    uint64_t made;
} future_table;

static uint32_t future_counts[BOARD_THREADS];      /* atomic: whether a look is worth it */

static future_table *table_of(const seat *s)
{
    return s->futures;
}

static void clear_futures(const seat *s)
{
    future_table *t = table_of(s);
    __atomic_store_n(&future_counts[s->number], 0, __ATOMIC_RELEASE);
    if (t->used > 0) {
        memset(t->chains, 0, sizeof t->chains);
    }
    t->used = t->free = 0;
}

static uint16_t *chain_of(future_table *t, uintptr_t first, uintptr_t third)
{
    uint64_t mixed = ((uint64_t)first + 31 * (uint64_t)third) * UINT64_C(0x9E3779B97F4A7C15);
    return &t->chains[mixed >> (64 - CHAIN_BITS)];
}

/* Of those that wait with this callback and these arguments, the oldest. */
static watched_future *find_waiting(future_table *t, const void *function, uintptr_t first,
                                    uintptr_t third)
{
    watched_future *found = NULL;
    for (uint16_t at = *chain_of(t, first, third); at != 0; at = t->rows[at - 1].next) {
        watched_future *f = &t->rows[at - 1];
        if (f->function == function && f->first == first && f->third == third && !f->running) {
            found = f;
        }
    }
    return found;
}

static watched_future *find_event(future_table *t, const loop_future *wanted)
{
    for (uint16_t at = *chain_of(t, wanted->first, wanted->third); at != 0;
         at = t->rows[at - 1].next) {
        if (wanted->of != NULL && t->rows[at - 1].of == wanted->of) {
            return &t->rows[at - 1];
        }
    }
    return NULL;
}

/* The address, and which one at it: addresses come again. */
static uint64_t make_id(future_table *t, const void *of)
{
    t->made++;
    return of == NULL ? t->made << 1 | 1
                      : ((uint64_t)(uintptr_t)of & ((UINT64_C(1) << 48) - 2)) | t->made << 48;
}

/* NULL: there are too many. */
static watched_future *add_future(const seat *s, const void *function, const loop_future *wanted)
{
    future_table *t = table_of(s);
    uint16_t *chain = chain_of(t, wanted->first, wanted->third);
    uint16_t at = t->free;
    watched_future *f;
    if (at == 0 && t->used == FUTURES) {
        return NULL;
    }
    at = at != 0 ? at : ++t->used;
    f = &t->rows[at - 1];
    t->free = at == t->free ? f->next : t->free;
    f->function = function;
    f->first = wanted->first;
    f->third = wanted->third;
    f->of = wanted->of;
    f->base = wanted->base;
    f->stays = wanted->stays;
    f->status = wanted->status;
    f->running = f->ran = false;
    f->next = *chain;
    __atomic_store_n(&f->left, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&f->id, make_id(t, wanted->of), __ATOMIC_RELEASE);
    *chain = at;
    (void)__atomic_fetch_add(&future_counts[s->number], 1, __ATOMIC_RELEASE);
    return f;
}

static void remove_future(const seat *s, watched_future *f)
{
    future_table *t = table_of(s);
    const uint16_t row = (uint16_t)(f - t->rows + 1);
    uint16_t *at = chain_of(t, f->first, f->third);
    while (*at != 0 && *at != row) {
        at = &t->rows[*at - 1].next;
    }
    *at = f->next;
    __atomic_store_n(&f->id, 0, __ATOMIC_RELEASE);
    f->next = t->free;
    t->free = row;
    (void)__atomic_fetch_sub(&future_counts[s->number], 1, __ATOMIC_RELEASE);
}

static void finish_future(seat *s, uint64_t id, chroprof_state end)
{
    if (end == CHROPROF_COMPLETED) {
        chroprof_completed(&s->profile, id);
    } else if (end == CHROPROF_FAILED) {
        chroprof_failed(&s->profile, id);
    } else {
        chroprof_cancelled(&s->profile, id);
    }
}

/* Its callback will not come any more, or runs for the last time: then that tells when it ends. */
static void drop_future(seat *s, watched_future *f)
{
    const uint64_t id = f->id;
    const bool running = f->running;
    const bool ran = f->ran;
    remove_future(s, f);
    if (!running) {
        finish_future(s, id, ran ? CHROPROF_COMPLETED : CHROPROF_CANCELLED);
    }
}

/* The future that a callback is, from the arguments that it gets: its id. 0: none is known. What
 * does not stay has ended for its library, which may use its address again. */
static __attribute__((__noinline__)) uint64_t begin_future(const seat *s, callback_frame *frame,
                                                           const void *function, uintptr_t first,
                                                           int status, uintptr_t third)
{
    future_table *t = table_of(s);
    watched_future *f = find_waiting(t, function, first, third);
    uint64_t id = f != NULL ? f->id : 0;
    frame->end = CHROPROF_COMPLETED;
    if (f == NULL) {
        return 0;
    }
    if (f->status && status < 0) {
        frame->end = status == -ECANCELED ? CHROPROF_CANCELLED : CHROPROF_FAILED;
    }
    frame->row = (uint16_t)(f - t->rows);
    if (f->stays) {
        f->running = true;
    } else {
        remove_future(s, f);
    }
    return id;
}

/* Its callback is over: it waits again, or has finished. */
static __attribute__((__noinline__)) void end_future(seat *s, const callback_frame *frame,
                                                     chroprof_state end)
{
    watched_future *f = &table_of(s)->rows[frame->row];
    bool known = f->id == frame->id;
    if (known && __atomic_load_n(&f->left, __ATOMIC_ACQUIRE) != f->id) {
        f->running = false;
        f->ran = true;
        chroprof_paused(&s->profile, frame->id);
        return;
    }
    if (known) {
        remove_future(s, f);
    }
    finish_future(s, frame->id, end);
}

/* From any thread, while the table's own one may change it: the fields are those of the id if it is
 * the same before and after. */
static bool mark_if(watched_future *f, const loop_future *ended, const void *function)
{
    uint64_t id = __atomic_load_n(&f->id, __ATOMIC_ACQUIRE);
    bool same = ended->of != NULL ? f->of == ended->of
                : ended->base != NULL ? f->base == ended->base
                : f->function == function && f->first == ended->first && f->third == ended->third;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!same || id == 0 || __atomic_load_n(&f->id, __ATOMIC_RELAXED) != id) {
        return false;
    }
    __atomic_store_n(&f->left, id, __ATOMIC_RELEASE);
    return true;
}

/* In its chain, which may change meanwhile: what is overlooked then only ends later. */
static bool mark_in_chain(future_table *t, const loop_future *ended, const void *function)
{
    uint16_t at = __atomic_load_n(chain_of(t, ended->first, ended->third), __ATOMIC_RELAXED);
    for (size_t steps = 0; at != 0 && steps < FUTURES; steps++) {
        if (mark_if(&t->rows[at - 1], ended, function)) {
            return true;
        }
        at = __atomic_load_n(&t->rows[at - 1].next, __ATOMIC_RELAXED);
    }
    return false;
}

static bool mark_base(future_table *t, const loop_future *ended)
{
    bool any = false;
    for (size_t i = 0; i < FUTURES && i < __atomic_load_n(&t->used, __ATOMIC_RELAXED); i++) {
        any = mark_if(&t->rows[i], ended, NULL) || any;
    }
    return any;
}

/* What has ended in tables of others, one future or all of a base: of `but` it is known. */
static __attribute__((__noinline__)) void mark_futures(const loop_future *ended,
                                                       const void *function, const seat *but)
{
    seat *s;
    for (size_t i = 0; (s = seat_at(i)) != NULL; i++) {
        if (__atomic_load_n(&future_counts[i], __ATOMIC_ACQUIRE) > 0 && s != but &&
            (ended->of == NULL && ended->base != NULL
             ? mark_base(s->futures, ended)
             : mark_in_chain(s->futures, ended, function))) {
            note(&s->left);
        }
    }
}

/* Before a wait: the thread has time, and whatever it creates later is not meant. */
static __attribute__((__noinline__)) void drop_left_futures(seat *s)
{
    future_table *t = table_of(s);
    s->left_seen = __atomic_load_n(&s->left, __ATOMIC_ACQUIRE);
    for (size_t k = 0; k < t->used; k++) {
        watched_future *f = &t->rows[k];
        if (f->id != 0 && !f->running && __atomic_load_n(&f->left, __ATOMIC_ACQUIRE) == f->id) {
            drop_future(s, f);
        }
    }
}
#else
typedef struct future_table {
    char unused;
} future_table;

static void clear_futures(const seat *s)
{
    (void)s;
}

static void end_future(seat *s, const callback_frame *frame, chroprof_state end)
{
    (void)s;
    (void)frame;
    (void)end;
}

static void drop_left_futures(seat *s)
{
    s->left_seen = s->left;
}
#endif

/* The innermost callback is over. */
static inline __attribute__((__always_inline__)) void end_frame(seat *s, bool left)
{
    const callback_frame *frame = &s->callbacks[s->depth - 1];
    s->depth--;
    if (frame->id == 0) {
        chroprof_leave(&s->profile);
    } else {
        end_future(s, frame, left ? CHROPROF_CANCELLED : (chroprof_state)frame->end);
    }
}

#endif
