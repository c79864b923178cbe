/* callbacks.h - what chroprof_run.c and the libraries for event loops, which are loaded with it,
 * need from each other. */

#ifndef PRELOAD_CALLBACKS_H
#define PRELOAD_CALLBACKS_H

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "board.h"

#define EXPORT __attribute__((__visibility__("default")))

typedef void callback(void);   /* a function of any kind: nobody calls it by this type */

/* In chroprof_run.c. Weak, as the linker does not see it beside the other libraries.
 *
 * What to register in place of a function, which is called with the same arguments: it calls the
 * function, inside a frame of its name. The function itself where that can't be. Cheap. */
EXPORT callback *chroprof_run_standin(callback *function) __attribute__((__weak__));

/* The other way round, for a program that asks what it has registered. */
EXPORT callback *chroprof_run_function(callback *standin) __attribute__((__weak__));

/* What waits until its callback is called: a request of libuv, an event of libevent. */
typedef struct loop_future {
    callback *standin;         /* of the callback, */
    uintptr_t first;           /* which gets this as its first argument; */
    uintptr_t third;           /* events: and this as the third */
    const void *of;            /* its address; NULL: nobody takes it back */
    const void *base;          /* events: whose loop calls; requests: NULL */
    bool stays;                /* waits again when the callback has run */
    bool status;               /* the second argument is below 0 if it has failed */
} loop_future;

typedef enum future_step {
    FUTURE_WAITS,              /* created, or once more what it was */
    FUTURE_READY,              /* its callback will be called at once; created if it did not wait */
    FUTURE_REFUSED,            /* the call that should have made it wait has failed */
    FUTURE_OVER                /* its callback will not be called */
} future_step;

/* Tells of one, in the thread that does it. Nothing happens in a thread without a profile, nor if
 * the callback belongs to the library itself. */
EXPORT void chroprof_run_future(future_step step, const loop_future *told)
    __attribute__((__weak__));

/* A loop of libevent runs in this thread, or its base is freed. */
EXPORT void chroprof_run_base(const void *base, bool runs) __attribute__((__weak__));

/* A function that runs a loop begins in this thread, or returns: its frame. */
EXPORT void chroprof_run_loop(bool begins, const void *frame) __attribute__((__weak__));

static inline callback *standin_of(callback *function)
{
    return chroprof_run_standin != NULL ? chroprof_run_standin(function) : function;
}

static inline callback *function_of(callback *standin)
{
    return chroprof_run_function != NULL ? chroprof_run_function(standin) : standin;
}

/* >>the function that the program meant. It is looked for once, before main: what the program was
 * started with stays, and later the loader's lock might be held by a thread that waits for this
 * one. A function that comes later, with a library that the program loads itself, may go again: it
 * is looked for at every call. */

typedef struct known_function {
    const char *name;
    void *found;               /* NULL: not yet, or not there */
} known_function;

static __attribute__((__unused__)) void find_known(known_function *known)
{
    void *found = dlsym(RTLD_NEXT, known->name);
    if (found == NULL) {
        (void)dlerror();                    /* the program did not ask */
    }
    __atomic_store_n(&known->found, found, __ATOMIC_RELEASE);
}

/* NULL also for a function of this library: a handle of the program finds those first. */
static __attribute__((__unused__)) void *not_ours(void *found)
{
    Dl_info ours, its;
    return found != NULL && dladdr((const void *)not_ours, &ours) != 0 &&
           dladdr(found, &its) != 0 && its.dli_fbase != ours.dli_fbase
           ? found : NULL;
}

static __attribute__((__unused__)) void *find_in(const char *file, const char *name)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle != NULL ? not_ours(dlsym(handle, name)) : NULL;
    if (handle != NULL) {
        (void)dlclose(handle);              /* the caller holds it */
    }
    return found;
}

#define LOOP_LIBRARIES 8       /* that are loaded at a time */

typedef struct loop_libraries {
    char files[LOOP_LIBRARIES][512];
    size_t count;
} loop_libraries;

static __attribute__((__unused__)) int list_loop_library(struct dl_phdr_info *info, size_t size,
                                                         void *list)
{
    loop_libraries *l = (loop_libraries *)list;
    const char *file = info->dlpi_name != NULL ? info->dlpi_name : "";
    (void)size;
    if (l->count < LOOP_LIBRARIES && strlen(file) < sizeof l->files[0] &&
        is_loop_library(last_part(file))) {
        memcpy(l->files[l->count++], file, strlen(file) + 1);
    }
    return 0;
}

/* Of the libraries behind this one; of those that the caller's library sees; of any that is known to
 * have it. NULL: it is nowhere. */
static __attribute__((__unused__, __noinline__)) void *find_late(const char *name,
                                                                 const void *caller)
{
    loop_libraries others;
    Dl_info facts;
    void *found = not_ours(dlsym(RTLD_NEXT, name));
    if (found == NULL && dladdr(caller, &facts) != 0) {
        found = find_in(facts.dli_fname, name);
    }
    others.count = 0;
    if (found == NULL) {
        (void)dl_iterate_phdr(list_loop_library, &others);
    }
    for (size_t i = 0; found == NULL && i < others.count; i++) {
        found = find_in(others.files[i], name);
    }
    (void)dlerror();
    return found;
}

static __attribute__((__unused__)) callback *next_function(const known_function *known,
                                                           const void *caller)
{
    callback *function;
    void *found = __atomic_load_n(&known->found, __ATOMIC_ACQUIRE);
    if (found == NULL) {
        int error = errno;
        found = find_late(known->name, caller);
        errno = error;
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

/* Before the function that needs it: `known_NAME`, and who fills it. */
#define KNOWN(function)                                                                            \
    static known_function known_##function = { #function, NULL };                                  \
    __attribute__((__constructor__)) static void find_##function(void)                             \
    {                                                                                              \
        find_known(&known_##function);                                                             \
    }

/* A function of a library that takes callbacks, and what it returns if it is nowhere. */
#define STAND_BEFORE(result, name, parameters, arguments, nowhere)                                 \
    KNOWN(name)                                                                                    \
    EXPORT result name parameters;                                                                 \
    EXPORT result name parameters                                                                  \
    {                                                                                              \
        typedef result(*type) parameters;                                                          \
        type next = (type)next_function(&known_##name, __builtin_return_address(0));               \
        return next != NULL ? next arguments : nowhere;                                            \
    }

#define STAND_BEFORE_VOID(name, parameters, arguments)                                             \
    KNOWN(name)                                                                                    \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        typedef void (*type) parameters;                                                           \
        type next = (type)next_function(&known_##name, __builtin_return_address(0));               \
        if (next != NULL) {                                                                        \
            next arguments;                                                                        \
        }                                                                                          \
    }

/* The same with something to say before the call and after it, of `result` and `caller`. */
#define STAND_AROUND(kind, name, parameters, arguments, nowhere, before, after)                    \
    KNOWN(name)                                                                                    \
    EXPORT kind name parameters;                                                                   \
    EXPORT kind name parameters                                                                    \
    {                                                                                              \
        typedef kind(*type) parameters;                                                            \
        const void *caller = __builtin_return_address(0);                                          \
        type next = (type)next_function(&known_##name, caller);                                    \
        kind result = nowhere;                                                                     \
        before;                                                                                    \
        if (next != NULL) {                                                                        \
            result = next arguments;                                                               \
        }                                                                                          \
        after;                                                                                     \
        return result;                                                                             \
    }

/* A function that runs a loop. */
#define STAND_LOOP(kind, name, parameters, arguments, nowhere)                                     \
    STAND_AROUND(kind, name, parameters, arguments, nowhere,                                       \
                 LOOP_IS(true), LOOP_IS(false))

#define LOOP_IS(begins)                                                                            \
    if (chroprof_run_loop != NULL) {                                                               \
        chroprof_run_loop(begins, __builtin_frame_address(0));                                     \
    }

#define OURS(function) standin_of(function)

#endif
