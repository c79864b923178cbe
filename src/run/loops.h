/* loops.h - whose wait it is: the loop's own, one inside a callback, or not decided yet */

#ifndef PRELOAD_LOOPS_H
#define PRELOAD_LOOPS_H

#include "run.h"
#include "seats.h"
#include "futures.h"

/* >>loops. Idle is the loop's own wait; a wait inside a callback is that task, blocked. Three things
 * tell them apart: the frames of callbacks, the functions that are known to run a loop, and how deep
 * the stack is. A loop waits at the same depth, and what it calls waits further in. Each call of a
 * wait is walked once for its depth.
 *
 * Where no function is known, a wait further in is kept back until it is decided: a callback's, if
 * the loop further out goes on; else the loop itself, once it has been enough of them. A loop inside
 * a callback is kept back too: until another callback runs in it, it is the outer one that waits. */

#define LOOP_DEPTH 8           /* loops inside each other; inner ones are the last one's */
#define WALKED_CALLS 200
#define WAIT_PLACES 16         /* a power of two */
#define KEPT_BACK 128          /* waits */
#define LOOP_MOVES 32          /* waits further in, before they are a loop: */
#define LOOP_MOVES_TIMES 2     /* so many times as many as the outer one made, but */
#define LOOP_MOVES_MOST KEPT_BACK
#define LOOP_RETURNS 4096      /* the same where the outer one has once gone on */
#define PLACE_CALLS 24
#define NAME_OF_CALL 24
#define BUSY_GAP_NS 50000      /* code between two waits that did something */

/* What a wait is for. In an epoll: its file. */
enum {
    OF_FILES = -1,
    OF_WORK = INT_MIN          /* that other threads give */
};

typedef struct wait_place {
    uintptr_t stack, back;     /* of the call; 0: free */
    uint32_t frames;           /* on the stack there; 0: not known */
    bool between;              /* waited since the loop further out did */
    bool returned;             /* and that one has gone on, once */
    bool blocking;             /* accept: so is its file; a wait for work: it is the thread's own */
    int file;                  /* of accept that was asked */
    uint32_t times, taken;     /* a wait for work: how often, and as the thread's own */
    int what;                  /* is waited for there: OF_... */
    bool named;                /* the name has been looked for, */
    char within[NAME_OF_CALL]; /* of the function whose wait it is: what the loop called; "": none */
    uint32_t calls[PLACE_CALLS];           /* what the outermost functions go on at, that first */
} wait_place;

typedef struct loop_frame {
    uintptr_t stack;           /* of the function that runs it; of the thread: UINTPTR_MAX */
    uint32_t depth;            /* callbacks under way when it began */
    bool known;                /* that function runs a loop */
    bool nested;               /* what began it is a task, */
    bool open;                 /* and the profile knows of the loop inside */
    uint32_t deeper;           /* waits further in since the last at its place, */
    uint32_t moves_at;         /* and how many of them are a loop */
    bool moved;                /* so it came to its place */
    wait_place place;          /* where it waits */
} loop_frame;

typedef struct kept_wait {
    uint64_t begin, end;
    char within[NAME_OF_CALL]; /* as of its place */
} kept_wait;

typedef struct thread_loops {
    loop_frame frames[LOOP_DEPTH];
    uint32_t count;            /* but the thread's own */
    uint32_t beyond;           /* that found no room */
    uint32_t kept_count, busy_gaps;
    kept_wait kept[KEPT_BACK];
    const chroprof_site *site; /* of what is kept back, */
    bool alike;                /* all of it by the call where the loop waits */
    wait_place places[WAIT_PLACES];
} thread_loops;

/* Loop functions that began before the thread had a profile. */
typedef struct early_loops {
    uintptr_t stack[LOOP_DEPTH];
    uint32_t count;
} early_loops;

static __thread early_loops early __attribute__((__tls_model__("initial-exec")));

static inline thread_loops *loops_of(const seat *s)
{
    return s->loops;
}

static inline loop_frame *innermost_loop(thread_loops *l)
{
    return &l->frames[l->count];
}

/* >>epolls in which several threads wait */

#define NOTED_EPOLLS 256       /* those with lower numbers */
#define SEVERAL_THREADS 1      /* the address of none */

static uintptr_t waiters[NOTED_EPOLLS];    /* a thread by its `early`; 0: none so far; atomic */

static void note_waiter(int epoll)
{
    const uintptr_t me = (uintptr_t)&early;
    uintptr_t before = 0;
    if (epoll >= 0 && epoll < NOTED_EPOLLS &&
        !__atomic_compare_exchange_n(&waiters[epoll], &before, me, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) && before != me) {
        __atomic_store_n(&waiters[epoll], SEVERAL_THREADS, __ATOMIC_RELAXED);
    }
}

/* Before, the number may have been another one's. */
static void begin_epoll(int epoll)
{
    if (epoll >= 0 && epoll < NOTED_EPOLLS) {
        __atomic_store_n(&waiters[epoll], 0, __ATOMIC_RELAXED);
    }
}

static bool is_shared(int epoll)
{
    return epoll >= 0 && epoll < NOTED_EPOLLS &&
           __atomic_load_n(&waiters[epoll], __ATOMIC_RELAXED) == SEVERAL_THREADS;
}

/* >>loops inside each other */

static bool push_loop(thread_loops *l, uintptr_t stack, uint32_t depth, bool known)
{
    const loop_frame *outer = innermost_loop(l);
    loop_frame *f = innermost_loop(l) + 1;
    if (l->count + 1 == LOOP_DEPTH) {
        return false;
    }
    memset(f, 0, sizeof *f);
    f->stack = stack;
    f->depth = depth;
    f->known = known;
    f->nested = depth > 0 || (l->count > 0 && outer->place.stack != 0) || !known ||
                outer->nested;
    l->count++;
    return true;
}

/* No time goes back: what was told meanwhile stays where it is. */
static inline void tell_future_at(seat *s, chroprof_state state, uint64_t id,
                                  const chroprof_site *site, uint64_t at)
{
    uint64_t last = chroprof_last_event(&s->profile);
    chroprof_event(&s->profile, state, id, site, at > last ? at : last);
}

static void tell_at(seat *s, chroprof_state state, const chroprof_site *site, uint64_t at)
{
    tell_future_at(s, state, 0, site, at);
}

static void forget_kept(thread_loops *l)
{
    l->kept_count = l->busy_gaps = 0;
    l->alike = true;
}

/* A loop inside that runs code of its own between its waits, most times, has callbacks of its own,
 * whose names nobody knows. */
static bool kept_runs_code(const thread_loops *l)
{
    return l->alike && l->kept_count > 1 && l->busy_gaps >= l->kept_count / 2;
}

/* What was kept back is idle. */
static __attribute__((__noinline__)) void tell_kept(seat *s, bool nested)
{
    thread_loops *l = loops_of(s);
    for (uint32_t k = 0; k < l->kept_count; k++) {
        if (!nested && s->slice) {
            tell_at(s, CHROPROF_LEAVE, NULL, l->kept[k].begin);
        }
        tell_at(s, CHROPROF_IDLE_ENTER, NULL, l->kept[k].begin);
        tell_at(s, CHROPROF_IDLE_LEAVE, NULL, l->kept[k].end);
        if (!nested) {
            tell_at(s, CHROPROF_ENTER, l->site, l->kept[k].end);
            s->slice = true;
        }
    }
    forget_kept(l);
}

/* Another callback runs in a loop that a callback began: it is a loop of its own. */
static __attribute__((__noinline__)) void open_loop(seat *s)
{
    thread_loops *l = loops_of(s);
    uint64_t begin = l->kept_count > 0 ? l->kept[0].begin : chroprof_now(&s->profile);
    for (uint32_t k = 1; k <= l->count; k++) {
        loop_frame *f = &l->frames[k];
        if (f->nested && !f->open) {
            tell_at(s, CHROPROF_LOOP_ENTER, NULL, begin);
            f->open = true;
        }
    }
    tell_kept(s, true);
}

/* It is called by the innermost loop: that decides what was kept back. */
static inline void callback_begins(seat *s)
{
    thread_loops *l = loops_of(s);
    const loop_frame *f = innermost_loop(l);
    s->returned = 0;
    if (f->nested && !f->open && s->depth == f->depth) {
        open_loop(s);
    } else if (l->kept_count > 0 && !f->nested) {
        tell_kept(s, false);
    }
}

/* The first of what was kept back were waits of the task that runs now. */
static void tell_first_waits(seat *s, uint32_t count)
{
    const thread_loops *l = loops_of(s);
    const uint64_t now = chroprof_now(&s->profile);
    for (uint32_t k = 0; k < count; k++) {
        chroprof_waited(&s->profile, l->site->name + sizeof "code after",
                        s->depth > 0 ? NULL : l->kept[k].within,
                        now - (l->kept[k].end - l->kept[k].begin));
        s->task_until = l->kept[k].end;
    }
}

static void tell_waits(seat *s)
{
    tell_first_waits(s, loops_of(s)->kept_count);
}

static void pop_loop(seat *s)
{
    thread_loops *l = loops_of(s);
    if (innermost_loop(l)->open) {
        chroprof_loop_leave(&s->profile);
    } else if (innermost_loop(l)->nested && l->kept_count > 0) {
        tell_waits(s);
    }
    forget_kept(l);
    s->plain_back = 0;
    l->count--;
}

/* Callbacks and loops that were called at this place of the stack or further in, and are no more:
 * they have returned, or were left by a jump or an exception. The innermost first. */
static inline __attribute__((__always_inline__)) void drop_frames(seat *s, uintptr_t stack)
{
    thread_loops *l = loops_of(s);
    for (;;) {
        uintptr_t loop = l->count > 0 ? innermost_loop(l)->stack : UINTPTR_MAX;
        uintptr_t call = s->depth > 0 ? s->callbacks[s->depth - 1].stack : UINTPTR_MAX;
        if (call <= stack && call < loop && s->depth > 0) {
            end_frame(s, true);
        } else if (loop <= stack && l->count > 0) {
            pop_loop(s);
        } else {
            return;
        }
    }
}

/* A new profile begins inside the loops that run already. */
static void begin_loops(seat *s, uintptr_t stack)
{
    thread_loops *l = loops_of(s);
    memset(l, 0, sizeof *l);
    l->alike = true;
    l->frames[0].stack = UINTPTR_MAX;
    for (uint32_t k = 0; k < early.count && k < LOOP_DEPTH; k++) {
        if (early.stack[k] > stack) {
            (void)push_loop(l, early.stack[k], 0, true);
        }
    }
}

static void note_early(bool begins, uintptr_t stack)
{
    while (early.count > 0 && early.stack[early.count - 1] <= stack) {
        early.count--;
    }
    if (begins && early.count < LOOP_DEPTH) {
        early.stack[early.count++] = stack;
    }
}

/* A function that runs a loop begins or returns. */
EXPORT void chroprof_run_loop(bool begins, const void *frame)
{
    seat *s = own;
    const uintptr_t stack = (uintptr_t)frame;
    const int error = errno;
    note_early(begins, stack);
    if (s != NULL && !s->busy && !s->waits && !s->exits && is_awake() && s->generation == generation) {
        s->busy = true;
        drop_frames(s, begins && s->jumped ? UINTPTR_MAX : stack);
        s->jumped = s->jumped && !begins;
        s->plain_back = 0;
        s->returned = 0;
        if (begins) {
            (void)push_loop(loops_of(s), stack, s->depth, true);
        } else if (loops_of(s)->count == 0 && s->depth == 0) {
            s->returned = chroprof_now(&s->profile);
        }
        s->busy = false;
    }
    errno = error;
}

/* >>places: where waits are called */

/* In modules.h: the function of the program in which code lies. */
static void name_of_code(uintptr_t code, char *name);

/* Of a wait that was long and ends now: the function in Python, if it is in one. */
static inline void name_in_python(const seat *s, char *within, uint64_t since)
{
    if (s->unwind.python != NULL &&
        chroprof_to_ns(&s->profile, chroprof_now(&s->profile) - since) > 1000000) {
        (void)python_within(s->unwind.python, within, NAME_OF_CALL);
    }
}

static __attribute__((__noinline__)) void look_at_place(const seat *s, wait_place *place,
                                                        uintptr_t stack, uintptr_t back)
{
    uintptr_t addresses[WALKED_CALLS];
    memset(place, 0, sizeof *place);
    place->stack = stack;
    place->back = back;
    place->file = -1;
    place->what = OF_FILES;
    place->frames = unwind_calls(&s->unwind, stack, back, addresses, WALKED_CALLS);
    for (uint32_t k = 0; k < place->frames && k < PLACE_CALLS && place->frames <= WALKED_CALLS; k++) {
        place->calls[k] = (uint32_t)addresses[place->frames - 1 - k];
    }
}

/* The function that the loop called, on the way to a wait further in: the one inside of the last that
 * both have on the stack, and that is elsewhere by now. */
static __attribute__((__noinline__)) void name_place(const seat *s, const wait_place *loop,
                                                     wait_place *place)
{
    uintptr_t addresses[WALKED_CALLS];
    uint32_t count = unwind_calls(&s->unwind, place->stack, place->back, addresses, WALKED_CALLS);
    uint32_t same = 0;
    place->named = true;
    if (count == 0 || count > WALKED_CALLS || loop->frames > WALKED_CALLS) {
        return;
    }
    while (same < count && same < loop->frames && same < PLACE_CALLS &&
           loop->calls[same] == place->calls[same]) {
        same++;
    }
    if (same + 1 < count && same < loop->frames && same < PLACE_CALLS) {
        name_of_code(addresses[count - 2 - same], place->within);
    }
}

static inline wait_place *place_of(seat *s, uintptr_t stack, uintptr_t back)
{
    wait_place *place = &loops_of(s)->places[(stack / 16 + back) % WAIT_PLACES];
    if (place->stack != stack || place->back != back) {
        look_at_place(s, place, stack, back);
    }
    return place;
}

/* How much further in than b; below 0: further out. Frames count: one may have any size, and a list
 * of files in it makes it another one at each call. */
static int further_in(const wait_place *a, const wait_place *b)
{
    if (a->frames != 0 && b->frames != 0) {
        return (int)a->frames - (int)b->frames;
    }
    return a->back == b->back || a->stack == b->stack ? 0 : a->stack < b->stack ? 1 : -1;
}

/* >>decisions */

typedef enum wait_kind {
    NO_WAIT,                   /* a look at files that takes no time */
    OWN_WAIT,                  /* the loop's */
    TASK_WAIT,                 /* a callback's */
    KEPT_WAIT                  /* one of both: this is decided later */
} wait_kind;

/* The loop goes on further out: what has waited since was called by it, and is that task's wait, but
 * for a loop inside that ran code. */
static __attribute__((__noinline__)) void loop_goes_on(seat *s, loop_frame *f)
{
    thread_loops *l = loops_of(s);
    for (uint32_t k = 0; k < WAIT_PLACES; k++) {
        l->places[k].returned = l->places[k].returned || l->places[k].between;
        l->places[k].between = false;
    }
    f->deeper = 0;
    if (kept_runs_code(l)) {
        tell_kept(s, false);
    }
    tell_waits(s);
    forget_kept(l);
}

/* The loop's own wait, or that of another loop inside it. */
static wait_kind own_kind(const loop_frame *f, bool looks)
{
    return !f->nested || f->open ? OWN_WAIT : looks ? NO_WAIT : KEPT_WAIT;
}

/* The loop calls itself: the same call of a wait, further in. */
static wait_kind inner_kind(seat *s, const wait_place *place, bool looks)
{
    thread_loops *l = loops_of(s);
    if (looks || !push_loop(l, place->stack + 1, s->depth, false)) {
        return NO_WAIT;
    }
    innermost_loop(l)->place = *place;
    return KEPT_WAIT;
}

/* How many waits further in are a loop: a task of one that has long gone round may wait often. */
static __attribute__((__noinline__)) uint32_t moves_of(const seat *s, const wait_place *place)
{
    chroprof_totals t;
    uint64_t most;
    if (place->returned) {
        return LOOP_RETURNS;
    }
    chroprof_read_totals(&s->profile, &t);
    most = t.iterations * LOOP_MOVES_TIMES;
    return most < LOOP_MOVES ? LOOP_MOVES : most < LOOP_MOVES_MOST ? (uint32_t)most
                                                                   : LOOP_MOVES_MOST;
}

static wait_kind deeper_kind(seat *s, loop_frame *f, wait_place *place, bool looks)
{
    if (looks) {
        return NO_WAIT;
    }
    if (f->known || f->nested) {
        return TASK_WAIT;
    }
    place->between = true;
    loops_of(s)->alike = loops_of(s)->alike && place->back == f->place.back;
    if (f->deeper++ == 0 || place->returned) {
        f->moves_at = moves_of(s, place);
    }
    if (f->deeper < f->moves_at) {
        return KEPT_WAIT;
    }
    tell_kept(s, false);
    f->place = *place;                      /* the loop has moved there */
    f->deeper = 0;
    f->moved = true;
    return OWN_WAIT;
}

/* A thread of a pool in which each waits for their files at times, and for work at others, has a loop
 * that does both. An epoll in which no other thread waits may be a job's. */
static bool is_same_loop(const seat *s, const loop_frame *f, int deeper)
{
    return s->depth == f->depth &&
           ((f->place.what == OF_WORK && deeper > 0 && is_shared(s->what)) ||
            (s->what == OF_WORK && deeper <= 0 && is_shared(f->place.what)));
}

static __attribute__((__noinline__)) wait_kind kind_at(seat *s, loop_frame *f, uintptr_t stack,
                                                       uintptr_t back, bool looks)
{
    wait_place *place = place_of(s, stack, back);
    int deeper = f->place.stack != 0 ? further_in(place, &f->place) : -1;
    place->what = s->what;
    if (f->place.stack != 0 && is_same_loop(s, f, deeper)) {
        f->place = s->what >= 0 ? *place : f->place;
        return own_kind(f, looks);
    }
    if (deeper > 0 && !place->named && !looks) {
        name_place(s, &f->place, place);
    }
    memcpy(s->within, place->within, sizeof s->within);
    if (s->depth > f->depth) {
        return deeper > 0 && back == f->place.back ? inner_kind(s, place, looks)
               : looks ? NO_WAIT : TASK_WAIT;
    }
    if (deeper > 0) {
        return deeper_kind(s, f, place, looks);
    }
    if (f->deeper > 0) {
        loop_goes_on(s, f);
    }
    if (f->moved && deeper < 0) {           /* it was none: the one further out goes on */
        place_of(s, f->place.stack, f->place.back)->returned = true;
        f->moved = false;
        place = place_of(s, stack, back);   /* the other one may have had its row */
    }
    f->place = *place;
    return own_kind(f, looks);
}

/* looks: the wait takes no time. */
static inline wait_kind kind_of_wait(seat *s, uintptr_t stack, uintptr_t back, bool looks)
{
    loop_frame *f = innermost_loop(loops_of(s));
    if (s->depth == f->depth && f->place.stack == stack && f->place.back == back &&
        f->deeper == 0) {
        return own_kind(f, looks);
    }
    return kind_at(s, f, stack, back, looks);
}

static void keep_back(seat *s)
{
    thread_loops *l = loops_of(s);
    const uint64_t now = chroprof_now(&s->profile);
    kept_wait *kept;
    if (l->kept_count == KEPT_BACK) {       /* the older half is no idle any more, whatever comes */
        if (l->site != NULL) {
            tell_first_waits(s, KEPT_BACK / 2);
        }
        memmove(l->kept, l->kept + KEPT_BACK / 2, KEPT_BACK / 2 * sizeof l->kept[0]);
        l->kept_count -= KEPT_BACK / 2;
    }
    kept = &l->kept[l->kept_count++];
    kept->begin = kept->end = now;
    memcpy(kept->within, s->within, sizeof kept->within);
    if (l->kept_count > 1 &&
        chroprof_to_ns(&s->profile, now - kept[-1].end) > BUSY_GAP_NS) {
        l->busy_gaps++;
    }
}

static void keep_end(seat *s, const chroprof_site *site)
{
    thread_loops *l = loops_of(s);
    const loop_frame *f = innermost_loop(l);
    if (l->kept_count == 0) {
        return;
    }
    l->site = site;
    name_in_python(s, l->kept[l->kept_count - 1].within, l->kept[l->kept_count - 1].begin);
    l->kept[l->kept_count - 1].end = chroprof_now(&s->profile);
    if (f->nested && !f->known && l->kept_count >= LOOP_MOVES && kept_runs_code(l)) {
        open_loop(s);
    }
}

/* The thread ends: what is not decided is the loop's, unless its like was not. */
static void settle_loops(seat *s)
{
    thread_loops *l = loops_of(s);
    const loop_frame *f = innermost_loop(l);
    bool known = f->nested;
    for (uint32_t k = 0; k < WAIT_PLACES; k++) {
        known = known || (l->places[k].between && l->places[k].returned);
    }
    if (!known || kept_runs_code(l)) {
        tell_kept(s, false);
    }
    tell_waits(s);
    forget_kept(l);
}

/* The loop is over: its thread ends, or the program. A callback under way is one; else what came after
 * the function that ran the loop is the exit, or after the last wait where that is not known. */
static void end_loops(seat *s)
{
    const bool in_callback = s->depth > 0;
    s->exits = true;
    settle_loops(s);
    drop_frames(s, UINTPTR_MAX);
    if (s->waits) {
        chroprof_idle_leave(&s->profile);
        s->waits = false;
    }
    if (s->slice && in_callback) {
        chroprof_leave(&s->profile);
    }
    if (s->slice && !in_callback) {
        tell_at(s, CHROPROF_LEAVE, NULL, s->returned > s->task_until ? s->returned
                                                                     : s->task_until);
    }
    s->slice = false;
    chroprof_exiting(&s->profile, in_callback ? 0 : chroprof_last_event(&s->profile));
}

#endif
