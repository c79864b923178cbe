/* unwind.h - the stack of interrupted code, found in a signal handler by the tables that compilers
 * leave for exceptions (.eh_frame). Distributions build their libraries with these, and without
 * frame pointers.
 *
 * Why not libunwind: its walk takes locks (its own and the dynamic linker's, in dl_iterate_phdr),
 * allocates memory, and opens a pipe to try addresses. In a signal handler that can deadlock: the
 * tick interrupts malloc, and another thread calls malloc while it holds the linker's lock. So the
 * tables are read here: nothing to install, no lock, no memory, no system call, and 3 KiB of the
 * stack. */

#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "python_walk.h"

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define UNWIND_TABLES 1
#else
#define UNWIND_TABLES 0
#endif

enum { UNWIND_PLACES = 4, UNWIND_KEYS = 64 };

/* Functions that are on the stack while a place of the program waits: the outermost first. */
typedef struct unwind_place {
    uintptr_t frame, back;     /* of the call of the wait: its frame record, its return address */
    uint32_t count;
    uint32_t keys[UNWIND_KEYS];
    python_noted noted;
} unwind_place;

/* Of a thread. Nothing outside of its stack is taken for a stack. */
typedef struct unwind_thread {
    uintptr_t low, high;       /* 0: not known yet, or walks are not wanted */
    bool fresh;                /* it has not waited yet where there is room on the stack */
    const unwind_place *volatile waited;
    volatile uintptr_t settled;            /* the frame of a wait that needs no look; 0: none */
    python_room *python;       /* NULL: no functions in Python are to be found */
    unwind_place places[UNWIND_PLACES];
} unwind_thread;

/* Finds the libraries that are there now and copies their tables. Before main, or as soon as
 * possible; not in a handler. */
void unwind_find_libraries(void);

/* From now on no system call is made to find any more. */
void unwind_seal(void);

/* Takes note of the stack of the calling thread. Not in a handler: the C library may open a file
 * for it. False if no walks are possible here. */
bool unwind_begin(unwind_thread *thread);

/* The thread waits: in a function with this frame record (which it must have), called from back.
 * Functions that are on the stack now were there before what is done next. Walks the stack when the
 * place is new, else it costs little: nothing has to be asked as long as settled is this frame. */
void unwind_wait(unwind_thread *thread, uintptr_t frame, uintptr_t back);

/* The functions on the stack, from the one that back is in outwards: how many, and an address in
 * each, as far as there is room. The first three as above. 0: not known. It walks the stack each
 * time. */
uint32_t unwind_calls(const unwind_thread *thread, uintptr_t frame, uintptr_t back,
                      uintptr_t *addresses, uint32_t capacity);

/* For chroprof_sampler_options.unwind, with an unwind_thread for the user. */
uint32_t unwind_walk(void *thread, void *ucontext, uintptr_t *addresses, uint32_t capacity);

#endif
