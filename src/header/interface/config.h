/* interface/config.h */
#pragma once

/* >>config
 * Define these before the first include, and alike in every file. Those marked "implementation"
 * matter only in the file with CHROPROF_IMPLEMENTATION.
 *
 *   CHROPROF_API                linkage of the public functions; default extern. "static" makes the
 *                               header private to one file (with CHROPROF_IMPLEMENTATION there).
 *                               A shared library with its own copy keeps it private by this, or by
 *                               -fvisibility=hidden if several of its files use it. Then the
 *                               program and other libraries may have copies of other versions; each
 *                               profile belongs to the copy that began it. Without either, the
 *                               dynamic linker mixes them: the library may call the program's
 *                               functions with structs of another size.
 *   CHROPROF_DISABLE            every instrumentation call becomes nothing; its arguments are not
 *                               evaluated.
 *   CHROPROF_NO_STDIO           no <stdio.h>, chroprof_dump and chroprof_map; chroprof_write stays.
 *                               With CHROPROF_NO_CLOCK and no operating system the header then
 *                               calls memcpy, memmove, memset, memcmp, strlen, strcmp, strncmp,
 *                               strchr, strrchr and strcspn, and nothing else.
 *   CHROPROF_NO_TEXT _JSON _FOLDED _PROMETHEUS _PPROF
 *                               (implementation) leaves that format out; it then returns -1.
 *   CHROPROF_NO_COPIES          no chroprof_open, _snapshot, _difference and _merge: saves some 18
 *                               KiB in programs that read only their own profile.
 *   CHROPROF_NO_FINDINGS        no chroprof_findings, and none in the reports: saves some 15 KiB of
 *                               code on a small target.
 *   CHROPROF_WAIT_CALLS         chroprof_leave_for_idle and _enter_from_idle, for loops whose code
 *                               from one wait to the next is one call: 2 KiB more.
 *   CHROPROF_NO_CLOCK           (implementation) no clock of our own: options.clock must be set.
 *   CHROPROF_NO_TSC             (implementation) read the monotonic clock, never a cycle counter.
 *   CHROPROF_NO_MMAP            no chroprof_map, _fork_child and _unmap; they need POSIX and
 *                               <stdio.h>.
 *   CHROPROF_NO_SAMPLER         no chroprof_sampler_start, _stop and _stack, and no room for
 *                               samples unless max_samples asks for it; chroprof_sample stays.
 *   CHROPROF_ITIMER             (implementation) the sampler by setitimer, for 64-bit Unix systems
 *                               whose timers belong to the process: macOS and others. Costs the
 *                               only writable global of this header, 96 bytes, because any thread
 *                               may run the handler.
 *   CHROPROF_ASSERT(x)          (implementation) checks our own invariants only; default nothing.
 *   CHROPROF_STRICT             (implementation) gcc and clang warn about this header as about your
 *                               code. Without it, it counts as a system header.
 */
#ifndef CHROPROF_API
#define CHROPROF_API extern
#endif
#ifndef CHROPROF_NO_STDIO
#include <stdio.h>
#endif

#if defined(__GNUC__)
#define CHROPROF__ATTRIBUTES(list) __attribute__(list)
#else
#define CHROPROF__ATTRIBUTES(list)
#endif
