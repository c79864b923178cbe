/* chroprof_libunwind.h - lets the sampler of chroprof.h walk stacks by libunwind. Libraries of most
 * distributions keep no frame pointers, so without it a sample inside such a library shows the task
 * and the innermost function only. Needs Linux and libunwind 1.3 or newer. Include it in one file of
 * the program, after chroprof.h, and say:
 *
 *     chroprof_sampler_options options;
 *     memset(&options, 0, sizeof options);
 *     options.unwind = chroprof_libunwind;
 *     chroprof_sampler_start(&prof, &options);
 *
 * It runs inside the sampler's signal handler. A walk costs more than one by frame pointers; the
 * sampler's budget counts it. Where another file of yours includes <libunwind.h> before this one, it
 * must define UNW_LOCAL_ONLY, too.
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_LIBUNWIND_H
#define CHROPROF_LIBUNWIND_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#ifndef UNW_LOCAL_ONLY
#define UNW_LOCAL_ONLY
#endif
#include <libunwind.h>
#ifndef CHROPROF_H
#include "chroprof.h"
#endif

/* Writes the addresses of the stack in ucontext, the innermost first; returns how many. */
static uint32_t chroprof_libunwind(void *user, void *ucontext, uintptr_t *addresses,
                                   uint32_t capacity)
{
    unw_context_t *const context = (unw_context_t *)ucontext;
    unw_cursor_t cursor;
    unw_word_t address;
    uint32_t count = 0;
    int more = unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) == 0;
    (void)user;
    for (; more > 0 && count < capacity; more = unw_step(&cursor)) {
        unw_get_reg(&cursor, UNW_REG_IP, &address);
        addresses[count++] = (uintptr_t)address;
    }
    return count;
}

#endif
