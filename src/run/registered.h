/* registered.h - the rows of functions that were registered, and what is told of their futures */

#ifndef PRELOAD_REGISTERED_H
#define PRELOAD_REGISTERED_H

#include "run.h"
#include "next.h"
#include "seats.h"
#include "futures.h"
#include "standins.h"
#include "modules.h"

#if HAS_STANDINS
/* Whether a row is that function's. At its address there may be another one, after dlclose. */
static bool is_row_of(const watched_function *w, callback *function)
{
    module m;
    return __atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == function &&
           (__atomic_load_n(&w->named, __ATOMIC_ACQUIRE) == 0 || w->module == 0 ||
            (loaded_later((uintptr_t)function, &m) && number_of(&m) == w->module));
}

/* The row of a function, or the free one that it may have; NULL: there are too many. */
static watched_function *row_of_function(callback *function)
{
    size_t at = (size_t)(((uintptr_t)function * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    for (size_t tries = 0; tries < STANDINS; tries++, at++) {
        watched_function *w = &functions[at % STANDINS];
        if (__atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == NULL || is_row_of(w, function)) {
            return w;
        }
    }
    return NULL;
}

/* A row is taken at the first registration. Code that the program made itself gets none: it comes
 * and goes, and nobody knows its name. */
static watched_function *take_row(callback *function)
{
    watched_function *w = row_of_function(function);
    const module *stays;
    callback *nobody = NULL;
    module m;
    if (w == NULL || __atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == function) {
        return w;
    }
    stays = started_with((uintptr_t)function);
    if (stays == NULL && !loaded_later((uintptr_t)function, &m)) {
        return NULL;
    }
    if (!__atomic_compare_exchange_n(&w->function, &nobody, function, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        return take_row(function);          /* another thread was faster */
    }
    w->module = stays != NULL ? 0 : number_of(&m);
    name_function(w, stays != NULL ? stays : &m);
    __atomic_store_n(&w->named, 1, __ATOMIC_RELEASE);
    return w;
}

/* As far as the thread that registers it first has found out. */
static bool is_inner(const watched_function *w)
{
    return __atomic_load_n(&w->named, __ATOMIC_ACQUIRE) != 0 && w->inner;
}

EXPORT callback *chroprof_run_standin(callback *function)
{
    const watched_function *w;
    int error = errno;
    if (function == NULL || !(is_awake() || wake_child()) || is_standin(function)) {
        return function;
    }
    w = take_row(function);
    errno = error;
    return w == NULL || is_inner(w) ? function : (callback *)standins[w - functions];
}

/* NULL: it is none. */
static watched_function *function_behind(callback *standin)
{
    uint16_t place = is_standin(standin) ? *place_of_standin((uintptr_t)standin) : 0;
    return place != 0 ? &functions[place - 1] : NULL;
}

EXPORT callback *chroprof_run_function(callback *standin)
{
    const watched_function *w = function_behind(standin);
    return w != NULL ? w->function : standin;
}

/* The bases of libevent whose loops this thread has run. Another thread's events are none of its
 * futures. */
#define LOOP_BASES 4

static __thread const void *bases[LOOP_BASES] __attribute__((__tls_model__("initial-exec")));
static __thread uint32_t bases_next __attribute__((__tls_model__("initial-exec")));

static const void **place_of_base(const void *base)
{
    for (size_t i = 0; i < LOOP_BASES; i++) {
        if (bases[i] == base) {
            return &bases[i];
        }
    }
    return NULL;
}

static void drop_base(seat *s, const void *base)
{
    future_table *t = table_of(s);
    for (size_t k = 0; k < t->used; k++) {
        if (t->rows[k].id != 0 && t->rows[k].base == base) {
            drop_future(s, &t->rows[k]);
        }
    }
}

EXPORT void chroprof_run_base(const void *base, bool runs)
{
    const void **place = base != NULL ? place_of_base(base) : NULL;
    seat *s = own;
    loop_future ended;
    int error = errno;
    if (base == NULL || (runs && place != NULL)) {
        return;
    }
    if (runs) {
        bases[bases_next++ % LOOP_BASES] = base;
        return;
    }
    if (place != NULL) {
        *place = NULL;
    }
    if (s != NULL && !s->busy && !s->waits && is_awake() && s->generation == generation) {
        s->busy = true;
        drop_base(s, base);
        s->busy = false;
    }
    memset(&ended, 0, sizeof ended);
    ended.base = base;
    mark_futures(&ended, NULL, NULL);
    errno = error;
}

/* The row of a future that is told of; a new one, and what had its name before is over. */
static watched_future *renew_future(seat *s, const watched_function *w, const loop_future *told,
                                    uint64_t at)
{
    watched_future *f = find_event(table_of(s), told);
    if (f != NULL && f->function == w && told->base != NULL) {
        return f;                           /* it waits already */
    }
    if (f != NULL) {
        drop_future(s, f);
    }
    f = add_future(s, w, told);
    if (f != NULL) {
        tell_future_at(s, CHROPROF_PENDING, f->id, &w->site, at);
    }
    return f;
}

/* What is made ready without having waited stays only if it comes to wait later. */
static void begin_waiting(seat *s, watched_function *w, future_step step, const loop_future *told,
                          uint64_t at)
{
    watched_future *f;
    bool known;
    const uint8_t kind = told->base != NULL ? EVENTS : REQUESTS;
    uint8_t before = NO_FUTURES;
    if ((told->base != NULL && place_of_base(told->base) == NULL) ||
        (!__atomic_compare_exchange_n(&w->futures, &before, kind, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED) && before != kind)) {
        return;
    }
    known = find_event(table_of(s), told) != NULL;
    f = renew_future(s, w, told, at);
    if (f != NULL) {
        f->stays = step == FUTURE_READY ? known && f->stays : told->stays;
    }
    if (f != NULL && step == FUTURE_READY) {
        tell_future_at(s, CHROPROF_READY, f->id, NULL, at);
    }
}

static void end_waiting(seat *s, const watched_function *w, future_step step,
                        const loop_future *told)
{
    watched_future *f = find_event(table_of(s), told);
    uint64_t id = f != NULL ? f->id : 0;
    if (f == NULL) {
        mark_futures(told, w, s);
    } else if (step == FUTURE_REFUSED && !f->running) {
        remove_future(s, f);
        chroprof_failed(&s->profile, id);
    } else {
        drop_future(s, f);
    }
}

static void tell_early_futures(seat *s)
{
    for (uint32_t k = 0; k < early_count; k++) {
        const early_future *e = &early_futures[k];
        begin_waiting(s, e->function, e->step, &e->told, e->at);
    }
    early_count = 0;
}

EXPORT void chroprof_run_future(future_step step, const loop_future *told)
{
    watched_function *w = function_behind(told->standin);
    seat *s = own;
    int error = errno;
    bool ends = step == FUTURE_REFUSED || step == FUTURE_OVER;
    if (w == NULL) {
        return;
    }
    if (!may_tell(s, w)) {
        if (s == NULL) {
            note_early_future(w, step, told);
        }
        if (ends && has_futures(w)) {
            mark_futures(told, w, NULL);
        }
        errno = error;
        return;
    }
    s->busy = true;
    if (!ends) {
        begin_waiting(s, w, step, told, chroprof_now(&s->profile));
    } else if (has_futures(w)) {
        end_waiting(s, w, step, told);
    }
    s->busy = false;
    errno = error;
}

/* Before the first registration. */
static void begin_standins(void)
{
    char path[sizeof folder + 16];
    struct stat facts;
    const board_symbols *found = MAP_FAILED;
    int file;
    find_standins();
    find_modules();
    (void)snprintf(path, sizeof path, "%s/" BOARD_SYMBOLS, folder);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &facts) == 0 && (size_t)facts.st_size >= sizeof *found) {
        found = (const board_symbols *)mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE,
                                            file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    if (found != MAP_FAILED && stat("/proc/self/exe", &facts) == 0 &&
        found->device == (uint64_t)facts.st_dev && found->inode == (uint64_t)facts.st_ino) {
        symbols = found;
    }
}
#else
EXPORT callback *chroprof_run_standin(callback *function)
{
    return function;
}

EXPORT callback *chroprof_run_function(callback *standin)
{
    return standin;
}

EXPORT void chroprof_run_base(const void *base, bool runs)
{
    (void)base;
    (void)runs;
}

EXPORT void chroprof_run_future(future_step step, const loop_future *told)
{
    (void)step;
    (void)told;
}

static void begin_standins(void)
{
}

static void tell_early_futures(seat *s)
{
    (void)s;
}
#endif

#endif
