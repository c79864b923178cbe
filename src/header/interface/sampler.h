/* interface/sampler.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>api sampler */

/* Rows of samples in profile time [from_ns, to_ns), oldest first; 0 and UINT64_MAX: all. If only a
 * part of a row lies in it, that part is listed, with round(weight x part / duration), unless this
 * is 0. A row of duration 0 counts whole. CPU time counts where a row begins. Cost: max_samples. */
CHROPROF_API size_t chroprof_samples(const chroprof *p, uint64_t from_ns, uint64_t to_ns,
                                     chroprof_sample_row *out, size_t capacity);

/* The frames of a sampled stack, innermost first: the functions of the slice, their task, and what
 * called it. Names of functions come from the system if the profile belongs to this process.
 * Strings live as long as the block and the modules. An unknown stack: 0 frames. The numbers of
 * stacks, also those in rows and stalls, may change at the next event. Cost: its depth. */
CHROPROF_API size_t chroprof_stack(const chroprof *p, uint32_t stack, chroprof_stack_frame *out,
                                   size_t capacity);

/* The program and the libraries that were loaded when samples came, at most 64. Libraries that are
 * gone and in no stack make room for others. Code of what finds no room has no module. */
CHROPROF_API size_t chroprof_modules(const chroprof *p, chroprof_module *out, size_t capacity);

/* From now on addresses in [module->start, module->end) are of this module, instead of what lay
 * there: for stacks of other programs (chroprof_sample_stack) and for generated code. Modules of
 * this program are found by its sampler. Texts are copied; build_id may be NULL. The same
 * module again changes nothing. Rows count against the 64 above. CHROPROF_ERR_LIMIT: they are all
 * taken; _SAMPLER_MEMORY: no max_samples; _ARGUMENT: NULL, or an empty range. */
CHROPROF_API chroprof_result chroprof_add_module(chroprof *p, const chroprof_module *module);

/* What the draws of WALL mode met, one row per path. Cost: max_paths. */
CHROPROF_API size_t chroprof_walls(const chroprof *p, chroprof_wall *out, size_t capacity);

/* The sampler's settings and counts; all zero for a NULL or zeroed profile. */
CHROPROF_API void chroprof_read_sampler(const chroprof *p, chroprof_sampler_totals *out);

#ifndef CHROPROF_NO_SAMPLER
/* Starts a timer that interrupts the calling thread, which must be the loop's, and samples what it
 * does. options NULL: defaults. On an error nothing has changed. CHROPROF_ERR_SAMPLER: there is no
 * sampler here; _MEMORY, _RUNNING, _SIGNAL, _TIMER, _STACK: their texts name what to change. The
 * handle and the block must stay where they are until chroprof_sampler_stop. Not from on_stall.
 * Cost: some 100 us here, some us per sample, and some 5 instructions per event while the sampler
 * runs; some 15 ns per switch, next and loop_enter, in WALL mode per idle event, and per event of
 * a profile with a clock of its own, or of an implementation that was compiled without -O. */
CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options);

/* Stops the sampler and gives the signal back; the samples stay. Call it before the block, the
 * handle or the thread goes. In a forked child it only forgets the parent's timer. Not from
 * on_stall. */
CHROPROF_API void chroprof_sampler_stop(chroprof *p);

/* Ends the timer from another thread than the loop's: for one who wants its signal. Samples come no
 * more. The signal stays as it is until chroprof_sampler_stop, which the loop's thread still has to
 * call; it leaves a handler that is not the sampler's alone. */
CHROPROF_API void chroprof_sampler_halt(chroprof *p);

/* Tells how many of the waits that samples cut short went on unnoticed: totals.interrupted is
 * without them. */
CHROPROF_API void chroprof_sampler_went_on(chroprof *p, uint64_t waits);

/* From now on the thread executes on the stack [low, low + bytes) of a fiber; NULL and 0: on its
 * own again. Without this call stacks of fibers end at their innermost function. Cost: three
 * stores, and each task that begins on such a stack takes the slow path. */
CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes);
#endif
