/* callbacks.h - what the libraries for event loops and chroprof_run.c, which is loaded with them,
 * need of each other. */

#ifndef PRELOAD_CALLBACKS_H
#define PRELOAD_CALLBACKS_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((__visibility__("default")))

typedef void callback(void);   /* a function of any kind: nobody calls it by this type */

/* In chroprof_run.c. Weak, as the linker does not see it beside the other libraries.
 *
 * What to register in place of a function, which is called with the same arguments: it calls the
 * function, inside a frame of its name. The function itself where that can't be. Cheap. */
EXPORT callback *chroprof_run_standin(callback *function) __attribute__((__weak__));

/* The other way round, for a program that asks what it has registered. */
EXPORT callback *chroprof_run_function(callback *standin) __attribute__((__weak__));

static inline callback *standin_of(callback *function)
{
    return chroprof_run_standin != NULL ? chroprof_run_standin(function) : function;
}

static inline callback *function_of(callback *standin)
{
    return chroprof_run_function != NULL ? chroprof_run_function(standin) : standin;
}

/* The function that the program meant: of the libraries behind this one; else of those that only
 * the caller's library sees, as after dlopen. */
static __attribute__((__unused__)) callback *next_function(void **known, const char *name,
                                                           const void *caller)
{
    callback *function;
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    Dl_info facts;
    void *handle = NULL;
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    if (found == NULL && dladdr(caller, &facts) != 0) {
        handle = dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    if (handle != NULL) {
        found = dlsym(handle, name);
        (void)dlclose(handle);              /* the caller holds it */
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

/* A function of a library that takes callbacks, and what it returns if it is nowhere. */
#define STAND_BEFORE(result, name, parameters, arguments, nowhere)                                 \
    EXPORT result name parameters;                                                                 \
    EXPORT result name parameters                                                                  \
    {                                                                                              \
        static void *known;                                                                        \
        typedef result(*type) parameters;                                                          \
        type next = (type)next_function(&known, #name, __builtin_return_address(0));               \
        return next != NULL ? next arguments : nowhere;                                            \
    }

#define STAND_BEFORE_VOID(name, parameters, arguments)                                             \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        static void *known;                                                                        \
        typedef void (*type) parameters;                                                           \
        type next = (type)next_function(&known, #name, __builtin_return_address(0));               \
        if (next != NULL) {                                                                        \
            next arguments;                                                                        \
        }                                                                                          \
    }

#define OURS(function) standin_of(function)

#endif
