/* standins.h - the frames of callbacks, and the functions that stand in for them */

#ifndef PRELOAD_STANDINS_H
#define PRELOAD_STANDINS_H

#include "run.h"
#include "next.h"
#include "seats.h"
#include "futures.h"
#include "profiles.h"
#include "loops.h"

/* >>callbacks: what libraries of event loops call has a frame of its own, under its name. Beside
 * this library chroprof run loads a small one for each of them that the program links, which stands
 * in front of the functions that take callbacks, and hands on a stand-in made here.
 *
 * There is one stand-in a function, not one a registration. It gets what the function would get,
 * knows which one to call, and lives as long as the process. So nothing is allocated or freed, and
 * whatever the program does with its events, there is nothing to go stale. */

typedef uintptr_t word;

#define STANDINS 512           /* a power of two */
#define NAME_BYTES 128

typedef enum watched_kind { NO_FUTURES, REQUESTS, EVENTS } watched_kind;

typedef struct watched_function {
    callback *function;        /* atomic; NULL: this row is free */
    uint32_t named;            /* atomic; 1: the fields below can be read */
    uint8_t futures;           /* atomic: what kind its futures are, watched_kind */
    bool inner;                /* the library's own, which is left alone */
    uint64_t module;           /* number_of() */
    chroprof_site site;
    char name[NAME_BYTES];
} watched_function;

static watched_function functions[HAS_STANDINS ? STANDINS : 1];

/* Whether something may be told of the callback now, in the profile of this thread. */
static inline __attribute__((__always_inline__)) bool may_tell(const seat *s,
                                                               const watched_function *w)
{
    return s != NULL && (s->state == 0 || (!s->busy && !s->waits && !s->exits)) &&
           is_seat_awake(s) && __atomic_load_n(&w->named, __ATOMIC_ACQUIRE) != 0;
}

/* Whether it may have a frame. */
static inline __attribute__((__always_inline__)) bool may_begin(const watched_function *w,
                                                                uintptr_t stack)
{
    seat *s = own;
    int error = errno;
    if (!may_tell(s, w)) {
        return false;
    }
    s->busy = true;
    drop_frames(s, stack);
    s->busy = false;
    errno = error;
    return s->depth < CALLBACK_DEPTH;
}

#if HAS_STANDINS
typedef word any_callback(word, word, word, word, word);

/* The arguments by which a callback finds its future; of a file libevent passes 32 bits. */
static uintptr_t first_of(const watched_function *w, word a)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) == EVENTS ? (uintptr_t)(int)a : a;
}

static uintptr_t third_of(const watched_function *w, word c)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) == EVENTS ? c : 0;
}

static bool has_futures(const watched_function *w)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) != NO_FUTURES;
}

/* >>early futures: those of the main thread from before its first wait, where its profile begins.
 * That knows of them from when they began. */

#define EARLY 256

typedef struct early_future {
    watched_function *function;
    loop_future told;
    future_step step;
    uint64_t at;
} early_future;

static early_future early_futures[EARLY];
static uint32_t early_count;   /* only the main thread changes it, before its profile begins */

static early_future *find_early(const watched_function *w, const loop_future *told)
{
    for (uint32_t k = 0; k < early_count; k++) {
        early_future *e = &early_futures[k];
        if (e->function == w && (told->of != NULL ? e->told.of == told->of
                                 : e->told.first == told->first && e->told.third == told->third)) {
            return e;
        }
    }
    return NULL;
}

static void drop_early(early_future *e)
{
    memmove(e, e + 1, (size_t)(&early_futures[--early_count] - e) * sizeof *e);
}

static void note_early_future(watched_function *w, future_step step, const loop_future *told)
{
    early_future *e;
    if (!is_awake() || waits > 0 || getpid() != (pid_t)syscall(SYS_gettid) ||
        __atomic_load_n(&w->named, __ATOMIC_ACQUIRE) == 0) {
        return;
    }
    e = find_early(w, told);
    if (step == FUTURE_REFUSED || step == FUTURE_OVER) {
        if (e != NULL) {
            drop_early(e);
        }
    } else if (e == NULL && early_count < EARLY) {
        e = &early_futures[early_count++];
        e->function = w;
        e->told = *told;
        e->step = step;
        e->at = chroprof_now(NULL);
    }
}

/* Its callback runs before that. */
static __attribute__((__noinline__)) void run_early_future(const watched_function *w, word a, word c)
{
    for (uint32_t k = 0; waits == 0 && k < early_count; k++) {
        early_future *e = &early_futures[k];
        const bool event = e->told.base != NULL;
        if (e->function == w && e->told.first == (event ? (uintptr_t)(int)a : a) &&
            e->told.third == (event ? c : 0) && getpid() == (pid_t)syscall(SYS_gettid)) {
            if (!e->told.stays) {
                drop_early(e);
            }
            return;
        }
    }
}

/* A callback that runs where its future is not known, or may have no frame. A request is known by
 * its address to all threads; an event whose arguments are alike may be another one in each. */
static __attribute__((__noinline__)) void lose_future(const watched_function *w, word a, word c,
                                                      bool here)
{
    seat *s = own;
    watched_future *f;
    loop_future ended;
    memset(&ended, 0, sizeof ended);
    ended.first = first_of(w, a);
    ended.third = third_of(w, c);
    if (__atomic_load_n(&w->futures, __ATOMIC_RELAXED) == REQUESTS) {
        mark_futures(&ended, w, here ? NULL : s);
    } else if (here && s != NULL && s->generation == generation) {
        f = find_waiting(table_of(s), w, ended.first, ended.third);
        if (f != NULL && !f->stays) {
            __atomic_store_n(&f->left, f->id, __ATOMIC_RELEASE);
            note(&s->left);
        }
    }
}

/* As a wait does, in the frame of the function that calls. */
static inline __attribute__((__always_inline__)) void
begin_callback(seat *s, const watched_function *w, uintptr_t stack, word a, word b, word c)
{
    int error = errno;
    callback_frame *frame = &s->callbacks[s->depth];
    s->busy = true;
    callback_begins(s);
    frame->stack = stack;
    frame->id = 0;
    if (has_futures(w)) {
        frame->id = begin_future(s, frame, w, first_of(w, a), (int)b, third_of(w, c));
        if (frame->id == 0) {
            lose_future(w, a, c, false);
        }
    }
    if (frame->id != 0) {
        chroprof_running(&s->profile, frame->id);
    } else {
        chroprof_enter(&s->profile, &w->site);
    }
    s->depth++;
    s->busy = false;
    errno = error;
}

/* Nothing, where the callback has forked, or has ended the profile. left: by an exception. */
static inline __attribute__((__always_inline__)) void end_callback(seat *s, uintptr_t stack,
                                                                   bool left)
{
    int error = errno;
    if (s == NULL || s != own || (s->state != 0 && (s->busy || s->waits)) || !is_seat_awake(s)) {
        return;
    }
    s->busy = true;
    drop_frames(s, stack - 1);
    if (s->depth > 0 && s->callbacks[s->depth - 1].stack == stack) {
        end_frame(s, left);
    }
    s->jumped = false;                      /* who called it runs */
    s->busy = false;
    errno = error;
}

/* A callback ends also when an exception leaves it, or the end of its thread. Whoever unwinds the
 * stack then asks this function about each of our frames, the innermost first. A clean-up in C would
 * ask for the library of the compiler, which the program may not have. */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define CALLS_WHEN_LEFT                                                                            \
    __asm__ volatile(".cfi_personality 0x1b, chroprof_run_callback_left");
#define UNWIND_CLEANS_UP 2     /* of the interface that all unwinders of these processors have */
#define UNWIND_GOES_ON 8

__attribute__((__visibility__("hidden"), __used__))
int chroprof_run_callback_left(int version, int actions, uint64_t kind, void *what, void *where);

int chroprof_run_callback_left(int version, int actions, uint64_t kind, void *what, void *where)
{
    seat *s = own;
    (void)version;
    (void)kind;
    (void)what;
    (void)where;
    if ((actions & UNWIND_CLEANS_UP) != 0 && s != NULL && s->depth > 0) {
        end_callback(s, s->callbacks[s->depth - 1].stack, true);
    }
    return UNWIND_GOES_ON;
}
#else
#define CALLS_WHEN_LEFT
#endif

static __attribute__((__noinline__)) word call_in_frame(word a, word b, word c, word d, word e,
                                                        const watched_function *w)
{
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    seat *s = own;
    word result;
    CALLS_WHEN_LEFT
    begin_callback(s, w, stack, a, b, c);
    result = ((any_callback *)w->function)(a, b, c, d, e);
    end_callback(s, stack, false);
    return result;
}

static __attribute__((__noinline__)) word call_function(word a, word b, word c, word d, word e,
                                                        size_t index)
{
    const watched_function *w = &functions[index];
    if (may_begin(w, (uintptr_t)__builtin_frame_address(0))) {
        return call_in_frame(a, b, c, d, e, w);
    }
    if (has_futures(w)) {
        lose_future(w, a, c, true);
    }
    if (own == NULL && early_count > 0) {
        run_early_future(w, a, c);
    }
    return ((any_callback *)w->function)(a, b, c, d, e);
}

/* 512 functions, with their numbers in hexadecimal. */
#define STANDIN(n)                                                                                 \
    static word standin_##n(word a, word b, word c, word d, word e)                                \
    {                                                                                              \
        return call_function(a, b, c, d, e, 0x##n);                                                \
    }
#define SIXTEEN(what, n)                                                                           \
    what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)        \
    what(n##8) what(n##9) what(n##a) what(n##b) what(n##c) what(n##d) what(n##e) what(n##f)
#define SIXTEEN_TIMES(what, n)                                                                     \
    SIXTEEN(what, n##0) SIXTEEN(what, n##1) SIXTEEN(what, n##2) SIXTEEN(what, n##3)                \
    SIXTEEN(what, n##4) SIXTEEN(what, n##5) SIXTEEN(what, n##6) SIXTEEN(what, n##7)                \
    SIXTEEN(what, n##8) SIXTEEN(what, n##9) SIXTEEN(what, n##a) SIXTEEN(what, n##b)                \
    SIXTEEN(what, n##c) SIXTEEN(what, n##d) SIXTEEN(what, n##e) SIXTEEN(what, n##f)
#define STANDIN_NAME(n) standin_##n,

SIXTEEN_TIMES(STANDIN, 0)
SIXTEEN_TIMES(STANDIN, 1)

static any_callback *const standins[STANDINS] = {
    SIXTEEN_TIMES(STANDIN_NAME, 0) SIXTEEN_TIMES(STANDIN_NAME, 1)
};

/* Where they lie: no program's function is among them. */
static uintptr_t standins_low = UINTPTR_MAX;
static uintptr_t standins_high;
static uint16_t standin_places[2 * STANDINS];       /* by address; plus 1 */

static uint16_t *place_of_standin(uintptr_t address)
{
    size_t at = (size_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    while (standin_places[at % (2 * STANDINS)] != 0 &&
           (uintptr_t)standins[standin_places[at % (2 * STANDINS)] - 1] != address) {
        at++;
    }
    return &standin_places[at % (2 * STANDINS)];
}

static void find_standins(void)
{
    for (size_t i = 0; i < STANDINS; i++) {
        uintptr_t at = (uintptr_t)standins[i];
        standins_low = at < standins_low ? at : standins_low;
        standins_high = at > standins_high ? at : standins_high;
        *place_of_standin(at) = (uint16_t)(i + 1);
    }
}

static bool is_standin(callback *function)
{
    return (uintptr_t)function >= standins_low && (uintptr_t)function <= standins_high;
}
#endif

#endif
