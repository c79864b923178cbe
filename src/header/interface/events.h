/* interface/events.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>api events None of these can fail; unexpected sequences are counted (chroprof_anomalies). Cost:
 * a clock read and a small constant of work. While the profile is off they do nothing. */
#ifndef CHROPROF_DISABLE

/* A handle for a site whose name is made at run time. The strings are copied. The same contents
 * give the same handle, which is valid as long as the block. file may be NULL. Returns NULL if name
 * is NULL, and the handle of "(other)" if the table is full. Cost: hashes the strings. */
CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line);

/* A future is created. Its parent is the path on top of the running stack. If the id is still live,
 * that future is abandoned first. If max_futures is reached, the future that has been in its state
 * the longest gives up its record (chroprof_rank.dropped); this takes about 1 us more. */
CHROPROF_API void chroprof_pending(chroprof *p, uint64_t id, const chroprof_site *site);

/* The future could run from now on: its delay begins. If it runs just now, this is remembered until
 * it pauses. Optional. */
CHROPROF_API void chroprof_ready(chroprof *p, uint64_t id);

/* A future is ready, reported late: it could run since `when` (in clock ticks of chroprof_now, when
 * <= now), but at the earliest since it paused or was created. The ring tells what was on top since
 * then; what it no longer holds is blamed on the loop. It leaves two steps: how late,
 * and the ready. */
CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when);

/* The code of the future begins to execute, on top of whatever runs. */
CHROPROF_API void chroprof_running(chroprof *p, uint64_t id);

/* The future gives the loop back. Frames above it are unwound and counted as anomalies. */
CHROPROF_API void chroprof_paused(chroprof *p, uint64_t id);

/* Pauses the innermost running future above the barrier and runs id (0: nothing), with one clock
 * read. Cost: looks at each call of chroprof_enter above that future. */
CHROPROF_API void chroprof_switch(chroprof *p, uint64_t id);

/* The future finished. If it is on top, this pauses it too. Its record is freed at once. */
CHROPROF_API void chroprof_completed(chroprof *p, uint64_t id);
/* As chroprof_completed, with an error. */
CHROPROF_API void chroprof_failed(chroprof *p, uint64_t id);
/* As chroprof_completed, because somebody asked for it. */
CHROPROF_API void chroprof_cancelled(chroprof *p, uint64_t id);

/* A future that is created already finished; finish is COMPLETED, FAILED or CANCELLED. */
CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish);

/* A callback or a plain call begins: an anonymous future is created and runs. */
CHROPROF_API void chroprof_enter(chroprof *p, const chroprof_site *site);

/* The call ends: pops an enter-frame on top, never a future. */
CHROPROF_API void chroprof_leave(chroprof *p);

/* Leaves the enter-frame on top, if there is one, and enters site, with one clock read. For loops
 * that call one callback after the other; leave the last one. */
CHROPROF_API void chroprof_next(chroprof *p, const chroprof_site *site);

/* A nested loop begins: a barrier. Above it, what is created outside any future is a root, and time
 * outside any future is loop. */
CHROPROF_API void chroprof_loop_enter(chroprof *p);

/* The nested loop ends. Frames above the innermost barrier are unwound and counted as anomalies. */
CHROPROF_API void chroprof_loop_leave(chroprof *p);

/* The loop is about to wait. Frames above the innermost barrier are unwound and counted as
 * anomalies. */
CHROPROF_API void chroprof_idle_enter(chroprof *p);

/* The wait has ended. Any other event but tick ends it too. */
CHROPROF_API void chroprof_idle_leave(chroprof *p);

#ifdef CHROPROF_WAIT_CALLS
/* Leaves the enter-frame on top and begins to wait; ends the wait and enters site: with one clock
 * read each. For loops whose code from one wait to the next is one call. */
CHROPROF_API void chroprof_leave_for_idle(chroprof *p);
CHROPROF_API void chroprof_enter_from_idle(chroprof *p, const chroprof_site *site);
#endif

/* Brings the figures up to now; nothing else happens. */
CHROPROF_API void chroprof_tick(chroprof *p);

/* The loop was over then (as chroprof_now, but not before the last event; 0: now): what follows
 * outside of tasks is the program's exit (totals.exit_ns), neither an iteration nor a stall. A task
 * under way stays one, and may be a stall. Reset does not undo it. */
CHROPROF_API void chroprof_exiting(chroprof *p, uint64_t since);

/* The task on top has just waited, in a call of this name, since then (as chroprof_now): a client
 * that is not asynchronous, a lock, a child. The time stays the task's; findings name the call.
 * within: the function that called it, NULL: not known. Not an event. Outside of a task it does
 * nothing. 8 kinds are kept, those with most time. */
CHROPROF_API void chroprof_waited(chroprof *p, const char *call, const char *within,
                                  uint64_t since);

/* A wait inside a task of a program that somebody else watches: adds site, call, within, count,
 * total_ns and longest_ns of the row, which reports then call estimates. Also on a view, whose
 * block the caller may write. CHROPROF_ERR_ARGUMENT: no such site, no call, a count of 0, or more
 * than 2^62 ns. */
CHROPROF_API chroprof_result chroprof_add_wait(chroprof *p, const chroprof_task_wait *seen);

/* The code that held the loop where a site only tells which wait came before, as symbols tell:
 * findings of these kinds name it. kind: OCCUPIES, of the whole run (at_ns 0), STALL or HANGS, of
 * what began at at_ns. ppm: how much of that it took. Copied, up to 63 bytes. Also on a view, whose
 * block the caller may write. CHROPROF_ERR_ARGUMENT: another kind, no code, ppm above 1000000. */
CHROPROF_API chroprof_result chroprof_name_held(chroprof *p, chroprof_finding_kind kind,
                                                uint64_t at_ns, uint32_t ppm, const char *code);

/* What makes waits return at once, if the program knows it, such as "fd 7, a pipe: EPOLLHUP"; the
 * finding SPINS says so. Copied, up to 95 bytes. */
CHROPROF_API void chroprof_kept_awake(chroprof *p, const char *by);

#if defined(__linux__) && __STDC_HOSTED__
#define CHROPROF__EPOLL 1
/* epoll_pwait(2) with idle around it, for CHROPROF_EPOLL_IDLE alone. */
CHROPROF_API int chroprof__epoll_pwait(chroprof *p, int fd, void *events, int size, int ms,
                                      const void *mask);
#endif

/* All of these calls go through this one. Its time is explicit, in the unit of chroprof_now, so
 * that streams can be replayed. site may be NULL. With RUNNING a site adopts an unknown id; with a
 * finish of an unknown id (or id 0) it makes a stillborn. Any values are safe. */
CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now);

/* One sample of what runs now, by hand: from a timer of yours, or an interrupt on the processor
 * that runs the loop. now is as for chroprof_event; cpu_delta_ns is the CPU time since the sample
 * before. Its stack has only tasks. It is taken at once; if it interrupts a call of this header, it
 * waits in the ring for the next event and counts as inside. Does nothing without max_samples.
 * Cost: depth. */
CHROPROF_API void chroprof_sample(chroprof *p, uint64_t now, uint64_t cpu_delta_ns);

/* A sample with a native stack that somebody else took: an observer, a port, a JIT. addresses:
 * innermost first; the first one is that of the instruction, the others are return addresses. A 0
 * stands for the tasks that run: what comes after it called them; without one they are outermost.
 * Of more than some 50 the middle is left out, and says so. Which modules they are of: see
 * chroprof_add_module. CHROPROF_ERR_BUSY: it interrupted a call of this header, and is counted as
 * lost; _SAMPLER_MEMORY: no max_samples; _ARGUMENT. Cost: depth. */
CHROPROF_API chroprof_result chroprof_sample_stack(chroprof *p, uint64_t now,
                                                   uint64_t cpu_delta_ns,
                                                   const uint64_t *addresses, size_t count);

#endif /* CHROPROF_DISABLE */

/* The time now in clock ticks: of the cycle counter, or ns. With the manual clock: the time of the
 * last event. NULL: by the built-in clock, for chroprof_began. 0 for a view. Any thread that may
 * call the clock. */
CHROPROF_API uint64_t chroprof_now(const chroprof *p);

/* The time of the last event in clock ticks: chroprof_event takes none before it. 0: no profile. */
CHROPROF_API uint64_t chroprof_last_event(const chroprof *p);

/* A length of time from clock ticks into ns, as the reads tell it; until the clock is calibrated
 * provisionally. Any thread. */
CHROPROF_API uint64_t chroprof_to_ns(const chroprof *p, uint64_t ticks);
