/* chroprof.h 0.1.0 - which tasks occupy an event loop and make the others wait - MIT-0 OR Unlicense

 chroprof tells any single-threaded event loop, at any moment and in production, which tasks have
 occupied it, which made the others wait, and where in the code. One header, no dependency, no
 allocation.

 CONTENTS

   Quick start             Threads, signals, fork
   What it does not do     Profiles in files
   Concepts                Errors and drops
   Memory                  Output formats
   Configuration           JSON, schema version 1
   Time source             Cost per call
   The sampler             Limits

   Sections are found by searching for >>name: >>version >>config >>types >>api >>macros >>loops
   >>coroutines, then the implementation: >>platform >>util >>block >>layout >>tables >>histogram
   >>windows >>clock >>samples >>bill >>stalls >>stack >>events >>gate >>straight >>reading >>check
   >>open >>public >>snapshot >>difference >>merge >>map >>sampler >>output, one section a format.

QUICK START

   #define CHROPROF_IMPLEMENTATION                   in one file
   #include "chroprof.h"

   static chroprof prof;
   static unsigned char memory[1 << 20];             all that will ever be used
   CHROPROF_SITE(site_read, "on_readable");

   chroprof_init(&prof, memory, sizeof(memory), NULL);
   ...
   chroprof_idle_enter(&prof);                       around the wait of the loop
   n = epoll_wait(...);
   chroprof_idle_leave(&prof);
   chroprof_enter(&prof, &site_read);                around each callback
   on_readable(connection);
   chroprof_leave(&prof);
   ...
   chroprof_dump(&prof, CHROPROF_TEXT, stderr);      whenever you like

 In C++, gcc and clang CHROPROF_SCOPE(&prof, "on_readable"); as the first line of a callback is its
 site, enter and leave in one. CHROPROF_EPOLL_IDLE(&prof); brackets the wait of libraries that have
 no hook there, CHROPROF_GLIB and CHROPROF_LIBEV use the hooks of theirs, CHROPROF_EVHTTP(&prof,
 memory) makes a debug page: see >>loops.

 A task that is created in one callback and goes on in others is a future with an id: pending,
 running, paused, ..., completed. Give ready as well where the loop knows it: only then delay and
 blame are known.

WHAT IT DOES NOT DO

 It profiles one loop of one thread; several loops have a profile each. It follows only what the
 program tells it. What the kernel hides, a socket that is readable but was not polled yet, is
 waiting, not delay. Time in which the system ran something else instead of this thread counts for
 the task it interrupted.

CONCEPTS

 future      an asynchronous task or operation, named by a 64-bit id, often its address; 0 is no id
 site        where futures of one kind come from: name, file, line; equal content is one site
 state       pending: created; ready: could run; running: its code executes; paused: gave the loop
             back
 finish      completed, failed or cancelled; abandoned: a new future of the same id replaced it
 exec time   occupancy of the loop: the time a future was on TOP of the running stack
 slice       one stay in running; its length is the exec time in it
 turn        an outermost stay, from the stack empty (or a barrier) to empty again
 pass        from the end of one idle to the start of the next
 parent      the path on top of the running stack when a future was created; it never changes
 path        root > ... > site: a node of the tree of creations. A site stands at most once on a
             path: where it would stand again the path folds back to the earlier node, so recursion
             and a timer that renews itself take constant room and are counted once
 wall        creation to finish, or to now while live; waiting = wall - exec - delay
 delay       time that a future was ready and not running; blame of a site: delay of all ready
             futures while it was on top, that is, what it cost the others
 idle, loop  the loop waits in the operating system; time that is neither a future's nor idle
 untracked   time that a full table or an unknown id would lose
 stall       a turn or pass longer than stall_ns, kept with its biggest slices
 stillborn   a future that is created already finished

 Each event bills the interval since the last one to ONE place: the path on top of the stack, or
 idle, or loop, or untracked. So two laws hold at every moment, to the tick, and chroprof_check
 compares them:
   elapsed = exec of all paths + untracked + idle + loop
   sum of blame over sites, untracked, loop and idle = sum of delay over futures
 A future that never finishes counts like any other; a finished one is forgotten at once.

MEMORY

 One block, yours, of any alignment: static, heap, shared or mapped. chroprof_memory_size(options)
 is always enough for those options; CHROPROF_MEMORY_MIN is the least. Capacities left at 0 share
 out the block. Links inside are offsets and strings are copied in, so the block does not care
 where it lies. Each capacity's cost stands at its field in chroprof_options. A live future takes
 64 bytes; a run of any length takes no more than a short one. As a guide: 64 KiB do for a small
 server, 1 MiB for thousands of futures.

 Stack, KiB at most: events 1, init 2, reads 2, snapshot 2, open 2, check 2, difference 2, merge 6,
 map 22, text 19, JSON 13, folded 3, Prometheus 28, pprof 3, Firefox 36. Compiled without
 optimisation, events 5, init 4, folded and pprof 4. With CHROPROF_NO_STDIO Prometheus 5.

CONFIGURATION

 Macros: see >>config. Options: see chroprof_options; zero means the default everywhere.

TIME SOURCE

 The invariant cycle counter on x86-64 and arm64, else the monotonic clock of the system;
 options.clock takes another one (in ns), chroprof_clock_manual none: then only chroprof_event
 moves time, and replays are exact. The counter's rate is measured against the monotonic clock
 over the first 90 ms, without waiting for it, and fixed from then on; chroprof_totals.provisional
 tells of earlier readings, tick_error_ppb the error's bound. Every figure is floored on its own,
 so none ever decreases, and sums are sums of what is shown. A clock that goes back passes no
 time; a step beyond max_step_ns is untracked; both are counted.

THREADS, SIGNALS, FORK

 All events of one profile, and every call that takes a chroprof * without const, come from one
 thread, and not from signal handlers. Reads may only run while that thread is not inside a call.
 Different profiles are independent; there is no global state, but with CHROPROF_ITIMER. The
 sampler's handler is the one exception to the rule of signals, and chroprof_sample another. After
 fork the child must not use the parent's profile if the block is shared memory, but for
 chroprof_map; a private copy may go on in both.

THE SAMPLER

 Events say which task; the sampler says which line of it. A timer interrupts the loop's thread,
 and the handler walks the native stack.

   chroprof_sampler_start(&prof, NULL);              in the thread of the loop; NULL: every 19 ms
   ...
   chroprof_sampler_stop(&prof);                     before block, handle or thread go

 Linux on 64 bits: a timer of that thread. On other 64-bit Unix systems define CHROPROF_ITIMER:
 the process's timer, so one profile at a time (in each of the two modes), and a tick may interrupt
 any thread, which passes it on. CPU takes SIGPROF and goes by the time of all threads: where
 others work while the loop sleeps it may see EINTR as well. WALL takes SIGALRM and the timer of
 alarm(). Whoever sends these signals meanwhile makes a tick. exec keeps such a timer, and its next
 tick kills the new program: stop before it (a forked child has none). Functions have names there
 (those of the dynamic linker), but no module. Registers are read on Linux and macOS, on x86-64 and
 arm64; else a sample names tasks only, and the functions that options.unwind tells. Elsewhere
 CHROPROF_ERR_SAMPLER, and chroprof_sample takes samples by hand.
 Two clocks to go by. CPU, the default: ticks come as the thread burns CPU time, so a loop that
 sleeps is never interrupted; not faster than the kernel's own tick, 1 to 10 ms. WALL: ticks come
 all the time, for stalls that wait (a lock, a disk, a name server), and each tick draws up to 8
 live futures at random, which shows where futures spend their lives (chroprof_walls). In WALL mode
 the system calls of the host see EINTR where SA_RESTART does not restart them: epoll_wait, poll,
 select, nanosleep. A loop that takes EINTR for an error wants CPU.
 Each sample is one stack, woven of two: functions of the slice, under the task that executes them,
 under the functions that began it, and so on out to main. Where a function ran before the task
 began is known by its frame record, so compile with -fno-omit-frame-pointer; without, the innermost
 function is still right, and "(frames missing)" stands where the walk ended. On arm64 gcc also
 needs -mno-omit-leaf-frame-pointer, or the caller of a function that calls none is left out. It
 stays within the stack of the thread, or of a fiber told by chroprof_sampler_stack, and never
 faults; options.unwind replaces it, but is not woven: its addresses do not tell where on the stack
 they were, so all of them stand under the innermost task, "(frames missing)" between. Functions are
 kept as module, offset and build id. The reports name those that the dynamic linker knows (link
 with -rdynamic to have yours); chroprof symbolize adds all others, with inlined calls, file and
 line.
 A sample with the stack of the row before it and no CPU time since extends that row, so an hour of
 idle is one row. The table keeps the newest rows; the weights of the stacks are never lost. A tick
 waits in a ring for the next event; in a long slice neighbours in the ring are merged, so that
 their weights still cover all of it. Samples inside this header are counted as such.
 Stalls keep the four places where most of their ticks fell, and how much of them was CPU time and
 how much waiting or preemption. The handler measures its own CPU time; over the budget (1 %) the
 period doubles, and halves again when there is room. What the kernel takes to deliver a signal is
 not in it: some 24 us a tick beside 10 us of the handler's own, on a virtual machine (AMD EPYC, two
 cores) with 12 other programs at work; build/bench sampler tells yours.
 One signal a profile, the first real-time signal that has no handler and that the thread does not
 block: its disposition is as before after the stop. The handler allocates nothing, locks nothing,
 keeps errno and runs on the alternate stack if the thread has one. Samples of a profile with a
 clock of its own have the time of the event after them. A forked child has no timer: there
 chroprof_sampler_start begins anew.

PROFILES IN FILES

 chroprof_map puts the block into a file. Others read it while the program runs, hangs, or after it
 was killed: chroprof_snapshot copies it, chroprof_open shows the copy to every read and output.

   chroprof_snapshot(live, size, memory, size);      the mapped file, or shared memory
   chroprof_open(&view, memory, size);
   chroprof_dump(&view, CHROPROF_TEXT, stdout);

 A copy of a quiet program is exact, and has the sampler's ticks since its last event: where a
 program hangs. Of a busy one each row is whole in itself, elapsed is their
 sum, both laws hold, and totals.skew_ns and skew_events tell how far rows are apart; only counts
 of different tables (live futures and their records, slices and percentiles) may then differ. If
 the program stopped inside an event, what that had half done is finished or undone, and
 totals.doubt_ns and doubt_events name it: the wall, delay and blame of its own path may then be
 off. Blocks of 32-bit programs open on 64-bit ones and the reverse; those of the other byte order
 are refused. The file must not be cut shorter while somebody has it mapped: that is SIGBUS for
 both.

 chroprof_difference takes an older snapshot away from a newer one, or from the running profile:
 what happened in the last N seconds. chroprof_merge adds profiles up in one of their own: many
 loops, processes or machines as one. What was live in them is counted there, but has no record.

ERRORS AND DROPS

 chroprof_init returns a code whose text names the knob to turn. Events never fail: what is out of
 order is counted by kind (chroprof_anomalies), what does not fit is counted by table
 (chroprof_tables, with a capacity that would have done), and its time is billed as follows.
 Futures: untracked, still a call. Sites: "(other)". Paths, edges: the parent's path, or untracked
 for a root. Depth: untracked until the hidden frames are gone. Strings: cut, marked with "...".
 Histograms: no percentiles for that site. The reports show anomalies and full tables whenever
 there are any. Calls on a NULL or zeroed profile do nothing.

OUTPUT FORMATS

 CHROPROF_TEXT         for people
 CHROPROF_JSON         everything (below)
 CHROPROF_FOLDED       flame graphs: self time in microseconds, each line floored
 CHROPROF_PROMETHEUS   a scrape: text exposition 0.0.4
 CHROPROF_PPROF        profile.proto, uncompressed: go tool pprof, continuous profilers, speedscope
 CHROPROF_FIREFOX      the Firefox Profiler's processed profile, version 60: the timeline of the
                       samples, else one made from windows and up to 64 stalls at their own time;
                       the exact tree; waiting. Markers: stalls, among them the passes that stalled

 A format that was left out by its macro answers -1, with errno EINVAL from chroprof_dump.
 chroprof_dump flushes the stream, so a full disk is noticed; a dump to a terminal takes its width,
 else COLUMNS or 80, and has colours unless NO_COLOR is set or TERM is "dumb".

JSON, SCHEMA VERSION 1

 One object. UTF-8, whatever the names were: each byte that is not UTF-8 becomes U+FFFD. All
 numbers are integers of up to 64 bits (ids and ticks need a reader that keeps them), times are
 ns, flags are true or false, no value is ever null. One row a line. Later versions may add keys;
 the number under "chroprof" changes only if a key goes or means something else. Keys, in this
 order:

 chroprof        1, the version of this schema
 version         of the header that wrote it, "0.1.0"
 name            of the profile, "" if it has none
 options         {window_ns, stall_ns, max_step_ns}: what was in force; the capacities are in tables
 event_cost_ps   measured cost of one event in picoseconds; 0: not known
 totals          every field of chroprof_totals. The whole loop:
   elapsed_ns = busy_ns + idle_ns + loop_ns; busy_ns = exec_ns of all sites + untracked_ns
   delay_ns, blame_ns, idle_blame_ns, loop_blame_ns, untracked_blame_ns
   events, anomalies, live (futures), stalls (all, kept or not), dropped (over all tables)
   passes, pass_p50_ns, pass_p99_ns, pass_max_ns, turns, turn_p50_ns, turn_p99_ns, turn_max_ns
   elapsed_ticks, delay_ticks, blame_ticks (the last two are equal)
   start_unix_ns (calendar time of profile time 0; 0: not known), tick_error_ppb
   skew_ns, skew_events (of a snapshot: what went on while it was copied)
   doubt_ns, doubt_events (of a snapshot: the event in which the program stopped)
   provisional (the clock is not calibrated yet), enabled, idle, depth (frames on the stack)
 sites           a list, one row a site that was used, by id; every field of chroprof_rank:
   id, name, file, line
   exec_ns, children_ns, with_children_ns = exec_ns + children_ns
   exec_max_ns (largest future), slice_max_ns, slice_p50_ns, slice_p90_ns, slice_p99_ns,
   slice_p999_ns (0 unless has_percentiles), slices (stays in running begun)
   wall_ns, waiting_ns = wall_ns - exec_ns - delay_ns, delay_ns, delay_p99_ns, blame_ns
   calls = completed + failed + cancelled + abandoned + live; stillborn apart
   has_percentiles (false: max_histograms was too low for this site)
   windows (a list: exec_ns in each of the windows below; its sum is exec_ns)
 paths           a list in preorder, each parent right before its subtree; fields of chroprof_path:
   id (above 2), parent (id of the parent path, 0: a root), site (id of its site), name, file, line
   exec_ns (of this path alone: the sum over all paths is busy_ns - untracked_ns),
   with_children_ns (exec_ns of it and of all paths below), exec_max_ns, slice_max_ns, slices,
   wall_ns, waiting_ns, delay_ns, blame_ns, calls, completed, failed, cancelled, abandoned, live,
   stillborn
 stalls          a list, oldest first: the longest and the most recent ones
   kind ("turn" or "pass"), start_ns (profile time), length_ns, events (inside it)
   slices (a list, biggest first: id of the future, 0 for an enter-frame; exec_ns; path, 2 for
   untracked; name, file, line of its site)
   samples (a list, most first: stack, weight, cpu_ns), sampled (sum of their weights), cpu_ns,
   waiting_ns (of the whole stall, as far as ticks tell)
 windows         a list that covers the whole run, oldest first
   start_ns, end_ns (profile time), busy_ns, idle_ns, loop_ns, untracked_ns (a part of busy_ns)
 futures         a list of the live futures, then the enter-frames on the stack
   id (0: an enter-frame), path (2: untracked), state ("pending", "ready", "running", "paused"),
   since_ns (profile time at which that state began), exec_ns (so far), name, file, line
 tables          a list, one row a table of the block
   name, option (the field of chroprof_options for it), capacity, used, peak,
   dropped (how often something did not fit), advice (a capacity that would have been enough so
   far; 0: it was), bytes
 anomalies       a list, one row a kind, zero counts included
   kind (the constant without CHROPROF_ANOMALY_, in lower case), count, text
 sampler         running, mode ("cpu", "wall", "none": it never ran), and of
   chroprof_sampler_totals period_ns, first_period_ns, budget_ppm, ticks, samples, rows, inside,
   lost, dropped, cost_ns, draws, misses
 modules         a list: id, path, build_id (hexadecimal, "" if not known), base (load bias)
 stacks          a list, the tree of sampled frames, each parent before its children
   id (above 0), parent (id, 0: a root), kind ("task", "native", "marker"), path (of a task, else
   0), module (id, -1: not known), address (minus the base of its module), return (a return
   address: look up address - 1), name (of the site; what the dynamic linker knows; the text of a
   marker), weight and cpu_ns of the samples that end in this frame; symbolize adds function, file,
   line, inlined
 samples         a list of rows, oldest first: at_ns, duration_ns, weight, cpu_ns, stack (id; 0: its
   frames did not fit), state ("busy", "idle", "loop")
 wall            a list: path (2: those beyond the table), state ("running", "ready", "paused"),
   weight, duration_ns

COST PER CALL

 A clock read and some 100 to 210 instructions, most of which run while the next clock read is
 under way: bench/README.md has the figures. Off: one branch. CHROPROF_DISABLE: nothing. Worst
 case: the event that ends a window after a doubling adds up max_windows cells of a site; the
 first event of a site copies its strings. An event that unwinds frames does so one by one, each
 of which an earlier event pushed.

LIMITS

 max_depth and max_windows 65000, other capacities 2^28. Profile time 2^62 ticks. Percentiles are
 within 1/16 from 2^5 to 2^45 ticks. The biggest slices of a turn are kept apart in three nested
 loops; deeper ones share. The wall, delay and blame of a path are sums over futures and begin again
 at 2^64 ticks: 20,000 futures live at once reach that in four days of a 2.6 GHz counter. In pprof,
 whose values are signed, they end at 2^63 - 1 ns. The events of a stalled turn are counted modulo
 2^31; all other counts have 64 bits.

*/
#ifndef CHROPROF_H
#define CHROPROF_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* >>version */
#define CHROPROF_VERSION_MAJOR 0
#define CHROPROF_VERSION_MINOR 1
#define CHROPROF_VERSION_PATCH 0
#define CHROPROF_VERSION "0.1.0"

/* >>config
 * Define before the first include, in every file alike unless the line says "implementation".
 *
 *   CHROPROF_API                linkage of the public functions; default extern. "static" makes the
 *                               header private to one file (with CHROPROF_IMPLEMENTATION there).
 *   CHROPROF_DISABLE            every instrumentation call becomes nothing, arguments unevaluated.
 *   CHROPROF_NO_STDIO           no <stdio.h>, no chroprof_dump and chroprof_map; chroprof_write
 *                               remains.
 *   CHROPROF_NO_TEXT _JSON _FOLDED _PROMETHEUS _PPROF _FIREFOX
 *                               (implementation) leave that format out; it then answers -1.
 *   CHROPROF_NO_CLOCK           (implementation) no clock of our own: options.clock must be given.
 *   CHROPROF_NO_TSC             (implementation) read the monotonic clock, never a cycle counter.
 *   CHROPROF_NO_MMAP            no chroprof_map, _fork_child and _unmap; they need POSIX and
 *                               <stdio.h>.
 *   CHROPROF_COROUTINES         C++20: chroprof_promise, a base for promise types; includes
 *                               <coroutine>. See >>coroutines.
 *   CHROPROF_NO_SAMPLER         no chroprof_sampler_start, _stop and _stack, and no room for
 *                               samples unless max_samples asks for it; chroprof_sample remains.
 *   CHROPROF_ITIMER             (implementation) the sampler by setitimer, for 64-bit Unix systems
 *                               without a timer of one thread: macOS and others. Costs the only
 *                               writable global of this header, 96 bytes: a handler that any thread
 *                               may run has nothing else to go by.
 *   CHROPROF_ASSERT(x)          (implementation) our own invariants only; default nothing.
 */
#ifndef CHROPROF_API
#define CHROPROF_API extern
#endif
#ifndef CHROPROF_NO_STDIO
#include <stdio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>types */

/* What an event says. The first seven are states of a future; the numbers are part of the
 * contract. */
typedef enum chroprof_state {
    CHROPROF_PENDING,      /* created, not started; needs a site */
    CHROPROF_READY,        /* could run, waits for the loop */
    CHROPROF_RUNNING,      /* its code executes now */
    CHROPROF_PAUSED,       /* gave the loop back, not finished */
    CHROPROF_COMPLETED,    /* finished with a result */
    CHROPROF_FAILED,       /* finished with an error */
    CHROPROF_CANCELLED,    /* finished because somebody asked for it */
    CHROPROF_IDLE_ENTER,   /* the loop is about to block in the operating system */
    CHROPROF_IDLE_LEAVE,   /* it is back */
    CHROPROF_LOOP_ENTER,   /* a nested loop begins: a barrier on the running stack */
    CHROPROF_LOOP_LEAVE,   /* it ends */
    CHROPROF_ENTER,        /* an anonymous future, created and running; needs a site */
    CHROPROF_LEAVE,        /* it is completed */
    CHROPROF_TICK,         /* time passes, nothing else */
    CHROPROF_SWITCH        /* pause what runs, run this id (0: nothing) */
} chroprof_state;

/* Result codes. One list gives the names and the texts. */
#define CHROPROF_RESULTS(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(ERR_ARGUMENT, "a NULL profile or NULL memory was given: pass a chroprof and a block")        \
    X(ERR_MEMORY, "the block is too small: give at least chroprof_memory_size(options) bytes, or " \
                  "lower the max_ options")                                                        \
    X(ERR_LIMIT, "an option is beyond its limit: max_depth and max_windows end at 65000, the "     \
                 "others at 2^28")                                                                 \
    X(ERR_CLOCK, "no clock: CHROPROF_NO_CLOCK is defined, so set options.clock")                   \
    X(ERR_ALIGNMENT, "the block to open must start at an address divisible by 8: copy it there")   \
    X(ERR_FORMAT, "not a chroprof block: no magic number in its first 64 bytes")                   \
    X(ERR_VERSION, "the block was written by another version of the layout")                       \
    X(ERR_BYTE_ORDER, "the block was written by a machine of the other byte order")                \
    X(ERR_TRUNCATED, "the block is shorter than it says")                                          \
    X(ERR_CORRUPT, "the block breaks an invariant: chroprof_check of the writer would say which")  \
    X(ERR_BUSY, "the block is being written just now: take a chroprof_snapshot instead")           \
    X(ERR_FILE, "the file could not be made or mapped: errno says why")                            \
    X(ERR_OWNED, "a program that still runs owns this file: give another path")                    \
    X(ERR_DIFFERENT, "not two states of one profile, the newer first: give two snapshots of the "  \
                     "same program")                                                               \
    X(ERR_RESET, "the profile was reset between the two: the newer one alone is what happened "    \
                 "since")                                                                          \
    X(ERR_TARGET, "profiles are merged into one of their own, without live futures: init it with " \
                  "options.clock = chroprof_clock_manual")                                         \
    X(ERR_TIME, "the sum of the times is beyond 2^62 ns: merge fewer profiles into one")           \
    X(ERR_SAMPLER, "no sampler here: it needs 64-bit Linux, or another 64-bit Unix and "           \
                   "CHROPROF_ITIMER; POSIX.1-2008 (_POSIX_C_SOURCE); and no CHROPROF_NO_SAMPLER. " \
                   "chroprof_sample works everywhere")                                             \
    X(ERR_SAMPLER_MEMORY, "the block has no room for samples: set max_samples, or give a larger "  \
                          "block")                                                                 \
    X(ERR_SAMPLER_RUNNING, "the sampler of this profile runs already: chroprof_sampler_stop first")\
    X(ERR_SAMPLER_SIGNAL, "no real-time signal is free, or the given one has a handler or is "     \
                          "blocked: set signal to one that nobody uses (with CHROPROF_ITIMER "     \
                          "only SIGPROF will do, in the wall mode SIGALRM)")                       \
    X(ERR_SAMPLER_TIMER, "the system refused a timer: errno says why; RLIMIT_SIGPENDING limits "   \
                         "them. EBUSY: the one of the process is in use (CHROPROF_ITIMER)")

typedef enum chroprof_result {
#define CHROPROF_RESULT_NAME(name, text) CHROPROF_##name,
    CHROPROF_RESULTS(CHROPROF_RESULT_NAME)
#undef CHROPROF_RESULT_NAME
    CHROPROF_RESULT_COUNT
} chroprof_result;

/* What the host did that was not in order. Counted by kind, never fatal. One list: name, text. */
#define CHROPROF_ANOMALIES(X)                                                                      \
    X(UNKNOWN_READY, "ready of an unknown id, ignored")                                            \
    X(UNKNOWN_RUNNING, "running of an unknown id without a site, its time is untracked")           \
    X(UNKNOWN_PAUSED, "paused of an unknown id, ignored")                                          \
    X(UNKNOWN_FINISH, "finish of an unknown id, ignored")                                          \
    X(ADOPTED, "running of an unknown id with a site, adopted as a root")                          \
    X(NOT_RUNNING, "paused of a future that is not on the stack, ignored")                         \
    X(LOST_PAUSE, "running of the future already on top, a new slice begins")                      \
    X(BURIED_FINISH, "finish in the middle of the running stack, its frame stays")                 \
    X(UNWOUND_BY_PAUSE, "a frame was unwound by a pause below it")                                 \
    X(UNWOUND_BY_SWITCH, "an enter-frame was unwound by a switch below it")                        \
    X(UNWOUND_BY_IDLE, "a frame was still on the stack when idle began")                           \
    X(UNWOUND_BY_LOOP, "a frame was still above the barrier when a nested loop ended")             \
    X(BARRIER_CROSSED, "a pause below a barrier unwound the nested loop")                          \
    X(LEAVE_WITHOUT_ENTER, "leave without an enter-frame on top, ignored")                         \
    X(LOOP_LEAVE_WITHOUT_ENTER, "loop_leave without a barrier, ignored")                           \
    X(IDLE_LEAVE_WITHOUT_ENTER, "idle_leave while not idle, ignored")                              \
    X(TIME_BACK, "the clock went back, or on by decades: no time passed")                          \
    X(LONG_STEP, "a step above max_step_ns outside idle, untracked")                               \
    X(READY_AHEAD, "ready_since later than now, taken as now")                                     \
    X(ID_ZERO, "id 0, no effect")                                                                  \
    X(SITE_NULL, "no site where one is needed")                                                    \
    X(BAD_STATE, "a state that does not exist, ignored")                                           \
    X(EVENT_IN_CALLBACK, "an event from inside on_stall, ignored")

typedef enum chroprof_anomaly_kind {
#define CHROPROF_ANOMALY_NAME(name, text) CHROPROF_ANOMALY_##name,
    CHROPROF_ANOMALIES(CHROPROF_ANOMALY_NAME)
#undef CHROPROF_ANOMALY_NAME
    CHROPROF_ANOMALY_COUNT
} chroprof_anomaly_kind;

/* The tables of the block. One list: name, the option that sets its capacity. */
#define CHROPROF_TABLES(X)                                                                         \
    X(FUTURES, "futures", "max_futures")                                                           \
    X(SITES, "sites", "max_sites")                                                                 \
    X(PATHS, "paths", "max_paths")                                                                 \
    X(EDGES, "edges", "max_edges")                                                                 \
    X(DEPTH, "depth", "max_depth")                                                                 \
    X(HISTOGRAMS, "histograms", "max_histograms")                                                  \
    X(SAMPLES, "samples", "max_samples")                                                           \
    X(WINDOWS, "windows", "max_windows")                                                           \
    X(STALLS, "stalls", "max_stalls")                                                              \
    X(STRINGS, "strings", "string_bytes")

typedef enum chroprof_table_kind {
#define CHROPROF_TABLE_NAME(name, text, option) CHROPROF_TABLE_##name,
    CHROPROF_TABLES(CHROPROF_TABLE_NAME)
#undef CHROPROF_TABLE_NAME
    CHROPROF_TABLE_COUNT
} chroprof_table_kind;

/* Output formats of chroprof_dump and chroprof_write. */
typedef enum chroprof_format {
    CHROPROF_TEXT,         /* for people */
    CHROPROF_JSON,         /* everything, documented in the manual */
    CHROPROF_FOLDED,       /* self time in microseconds, for flame graphs */
    CHROPROF_PROMETHEUS,   /* text exposition 0.0.4 */
    CHROPROF_PPROF,        /* profile.proto, uncompressed */
    CHROPROF_FIREFOX       /* processed profile, version 60 */
} chroprof_format;

/* What chroprof_ranks sorts by, largest first; ties by exec time, then site name, file, line. */
typedef enum chroprof_order {
    CHROPROF_BY_EXEC,
    CHROPROF_BY_WITH_CHILDREN,
    CHROPROF_BY_SLICE_MAX,
    CHROPROF_BY_BLAME,
    CHROPROF_BY_DELAY,
    CHROPROF_BY_CALLS
} chroprof_order;

/* Where futures of one kind come from. Two sites of the same content are one. The content (strings
 * included) must not change while a profile that saw it lives; it is copied at first sight. */
typedef struct chroprof_site {
    const char *name;      /* UTF-8, NUL-terminated */
    const char *file;      /* may be NULL */
    uint32_t line;
} chroprof_site;

#define CHROPROF_STALL_SLICES 4
#define CHROPROF_STALL_SAMPLES 4

/* Samples that the sampler took inside a turn or a pass, at one place. */
typedef struct chroprof_stall_sample {
    uint32_t stack;        /* see chroprof_stack; where places are too many, that of a neighbour */
    uint32_t weight;       /* samples */
    uint64_t cpu_ns;       /* thread CPU time since the sample before each */
} chroprof_stall_sample;

/* One of the biggest slices of a turn or a pass. */
typedef struct chroprof_stall_slice {
    uint64_t id;           /* future, 0 for an enter-frame */
    uint64_t exec_ns;      /* length of the slice: time on top */
    uint32_t path;         /* id of the path, see chroprof_paths; 2 is untracked */
    const char *name, *file; uint32_t line;   /* the site of the path */
} chroprof_stall_slice;

typedef enum chroprof_stall_kind { CHROPROF_STALL_TURN, CHROPROF_STALL_PASS } chroprof_stall_kind;

/* A turn or a pass longer than stall_ns. */
typedef struct chroprof_stall {
    chroprof_stall_kind kind;
    uint64_t start_ns;     /* profile time */
    uint64_t length_ns;    /* of a turn: without idle and what ran above a barrier */
    uint64_t events;       /* events inside */
    uint32_t slice_count;  /* how many of slices[] are filled, biggest first */
    chroprof_stall_slice slices[CHROPROF_STALL_SLICES];
    /* what the sampler saw of it; all 0 if it was off */
    uint64_t sampled;      /* samples inside; samples[] add up to it, but in a merged profile */
    uint64_t cpu_ns;       /* thread CPU time in it, as far as ticks tell */
    uint64_t waiting_ns;   /* the thread waited or was preempted; both may miss the first period */
    uint32_t sample_count; /* how many of samples[] are filled, most first */
    chroprof_stall_sample samples[CHROPROF_STALL_SAMPLES];
} chroprof_stall;

/* Options of chroprof_init. NULL or zeroed: defaults. What chroprof_init made of them:
 * chroprof_tables and the JSON. Capacities that are 0 share out the block. */
typedef struct chroprof_options {
    uint32_t max_futures;      /* live futures; 64 bytes each */
    uint32_t max_sites;        /* about 170 bytes each, and 8 a window */
    uint32_t max_paths;        /* 192 bytes each */
    uint32_t max_edges;        /* (path, site) pairs remembered; 32 bytes each */
    uint32_t max_depth;        /* frames of the running stack, barriers included; 64 bytes each */
    uint32_t max_histograms;   /* sites with percentiles, first come; 5.2 KiB each */
    uint32_t max_samples;      /* rows of the sampler; some 350 bytes each, stacks included */
    uint32_t max_windows;      /* time windows; 8 bytes a site each */
    uint32_t max_stalls;       /* half longest, half most recent; 232 bytes each */
    uint32_t string_bytes;     /* names and files, each with its NUL */
    uint64_t window_ns;        /* first width of a window; 0: 100 ms */
    uint64_t stall_ns;         /* a turn or pass longer than this is a stall; 0: 20 ms */
    uint64_t max_step_ns;      /* a longer step outside idle is untracked; 0: 1 hour */
    uint64_t (*clock)(void *user);   /* ns; NULL: our own; chroprof_clock_manual: see there */
    void *clock_user;
    /* A turn or pass ended that was a stall. May read and dump, not send events; must
     * return; its time is loop. */
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    const char *name;          /* of the profile, copied (63 bytes); NULL: "" */
} chroprof_options;

/* One site's figures, times in ns, as of the last event; live futures and the slice under way
 * are included. Strings live in the block. */
typedef struct chroprof_rank {
    const char *name, *file; uint32_t line;
    uint64_t exec_ns, children_ns, with_children_ns;   /* with_children = exec + children */
    uint64_t exec_max_ns;      /* largest exec time of a single future */
    uint64_t slice_max_ns, slice_p50_ns, slice_p90_ns, slice_p99_ns, slice_p999_ns;
    uint64_t slices;           /* stays in running begun */
    uint64_t wall_ns, waiting_ns, delay_ns, delay_p99_ns, blame_ns;
    uint64_t calls;            /* completed + failed + cancelled + abandoned + live */
    uint64_t completed, failed, cancelled, abandoned, live, stillborn;
    uint32_t id;               /* of the site in this profile, for chroprof_site_windows */
    bool has_percentiles;      /* false: max_histograms was too low for this site */
} chroprof_rank;

/* One path's own figures (children apart, but for with_children_ns). */
typedef struct chroprof_path {
    uint32_t id;               /* above 2, stable for the life of the profile */
    uint32_t parent;           /* id of the parent path, 0: a root */
    uint32_t site;             /* id of its site, as in chroprof_rank */
    const char *name, *file; uint32_t line;   /* of its site */
    uint64_t exec_ns, with_children_ns, exec_max_ns, slice_max_ns, slices;
    uint64_t wall_ns, waiting_ns, delay_ns, blame_ns;
    uint64_t calls, completed, failed, cancelled, abandoned, live, stillborn;
} chroprof_path;

/* One live future. */
typedef struct chroprof_future {
    uint64_t id;               /* 0: an enter-frame */
    uint32_t path;             /* id of its path; 2: untracked */
    chroprof_state state;      /* PENDING, READY, RUNNING or PAUSED */
    uint64_t since_ns;         /* profile time at which it came into this state */
    uint64_t exec_ns;          /* its own exec time so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_future;

/* The whole loop. elapsed = busy + idle + loop; busy = sum of the sites' exec + untracked. */
typedef struct chroprof_totals {
    uint64_t elapsed_ns, busy_ns, idle_ns, loop_ns, untracked_ns;
    uint64_t delay_ns, blame_ns;   /* equal in ticks */
    uint64_t events, anomalies, live;
    uint64_t passes, pass_p50_ns, pass_p99_ns, pass_max_ns;
    uint64_t turns, turn_p50_ns, turn_p99_ns, turn_max_ns;
    uint64_t stalls;           /* turns and passes longer than stall_ns, all of them */
    uint64_t idle_blame_ns, loop_blame_ns, untracked_blame_ns;
    uint64_t dropped;          /* sum over the tables */
    uint64_t elapsed_ticks, delay_ticks, blame_ticks;
    uint64_t start_unix_ns;    /* calendar time of profile time 0; 0: unknown */
    uint64_t tick_error_ppb;   /* bound of the tick factor's error, parts in 10^9 */
    bool provisional;          /* the clock is not calibrated yet: times may still change scale */
    bool enabled;
    bool idle;                 /* the loop was idle at the last event */
    uint32_t depth;            /* frames on the running stack, hidden ones included */
    uint64_t skew_ns, skew_events;     /* of a snapshot: what went on meanwhile; 0: exact */
    uint64_t doubt_ns, doubt_events;   /* of a snapshot: the event in which the program stopped */
} chroprof_totals;

/* One time window. Widths double when the table is full, so the windows always cover the run. */
typedef struct chroprof_window {
    uint64_t start_ns, end_ns;     /* profile time; the last one ends at the last event */
    uint64_t busy_ns, idle_ns, loop_ns, untracked_ns;   /* untracked is part of busy */
} chroprof_window;

/* One table of the block. */
typedef struct chroprof_table {
    chroprof_table_kind kind;
    const char *name, *option;     /* option: the field of chroprof_options for it */
    uint64_t capacity, used, peak;
    uint64_t dropped;              /* how often something did not fit */
    uint64_t advice;               /* a capacity that would have been enough so far; 0: it was */
    uint64_t bytes;
} chroprof_table;

/* One kind of anomaly and how often it was seen. */
typedef struct chroprof_anomaly {
    chroprof_anomaly_kind kind;
    const char *text;
    uint64_t count;
} chroprof_anomaly;

/* One frame of the running stack. */
typedef struct chroprof_frame {
    uint64_t id;               /* of the future; 0: an enter-frame, or a barrier */
    uint32_t path;             /* 2: untracked */
    bool barrier;              /* a nested loop begins here */
    uint64_t since_ns;         /* profile time at which it came onto the stack */
    uint64_t slice_ns;         /* exec time of this stay so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_frame;

/* What ran when a sample was taken. */
typedef enum chroprof_sample_state {
    CHROPROF_SAMPLE_BUSY,      /* a future or an enter-frame */
    CHROPROF_SAMPLE_IDLE,
    CHROPROF_SAMPLE_LOOP
} chroprof_sample_state;

/* A row of samples: one sample, or several of one stack in a row with no CPU time in between. */
typedef struct chroprof_sample_row {
    uint64_t at_ns;            /* profile time of the first one */
    uint64_t duration_ns;      /* to the last one */
    uint64_t weight;           /* how many */
    uint64_t cpu_ns;           /* thread CPU time since the sample before */
    uint32_t stack;            /* see chroprof_stack; 0: none */
    chroprof_sample_state state;
} chroprof_sample_row;

typedef enum chroprof_frame_kind {
    CHROPROF_FRAME_TASK,       /* a frame of the running stack */
    CHROPROF_FRAME_NATIVE,     /* a function */
    CHROPROF_FRAME_MARKER      /* what is not known, in words */
} chroprof_frame_kind;

/* One frame of a sampled stack. */
typedef struct chroprof_stack_frame {
    chroprof_frame_kind kind;
    const char *name;          /* task: its site; native: what dladdr knows, or ""; marker: text */
    uint32_t path;             /* task: id of its path; 2: untracked */
    bool is_return;            /* native: a return address: look up address - 1 */
    uint64_t address;          /* native: minus the module's load bias; module "": absolute */
    const char *module;        /* native: path of the program or library, "" if not known */
    const char *build_id;      /* native: hexadecimal, "" if not known */
} chroprof_stack_frame;

/* Of one path: how often its live futures were met in which state by the draws of the wall mode,
 * and the time that futures were met again with no event in between. */
typedef struct chroprof_wall {
    uint32_t path;                                 /* 2: those beyond 4 x max_samples */
    uint64_t running, ready, paused;               /* weight; paused: pending ones, and those that
                                                      run but have others on top, included */
    uint64_t running_ns, ready_ns, paused_ns;
} chroprof_wall;

/* Which clock the sampler's timer goes by. */
typedef enum chroprof_sampler_mode {
    CHROPROF_SAMPLER_CPU,      /* of the thread's CPU time: never interrupts a loop that sleeps */
    CHROPROF_SAMPLER_WALL      /* all the time: sees waits too, and draws live futures */
} chroprof_sampler_mode;

/* Options of chroprof_sampler_start. NULL or zeroed: the defaults. */
typedef struct chroprof_sampler_options {
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* 0: 19 ms, in step with nothing; at least 100 us is taken */
    bool jitter;               /* each period at random from half to one and a half */
    uint32_t budget_ppm;       /* of the loop's time for the handler; 0: 10000, which is 1 % */
    int signal;                /* 0: the first real-time one not handled or blocked; by
                                  CHROPROF_ITIMER SIGPROF, in the wall mode SIGALRM */
    /* Walks the native stack instead of the frame pointers: fills in return addresses, innermost
     * (the interrupted instruction) first, returns how many. All of them are put under the
     * innermost task. Called in the signal handler, on any processor. */
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *addresses, uint32_t capacity);
    void *unwind_user;
} chroprof_sampler_options;

/* The sampler and what it cost. */
typedef struct chroprof_sampler_totals {
    bool running;
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* in force */
    uint64_t first_period_ns;  /* asked for */
    uint64_t budget_ppm;
    uint64_t ticks;            /* periods that went by, late ones included */
    uint64_t samples;          /* total weight taken = weights of all rows + dropped */
    uint64_t rows;
    uint64_t inside;           /* of samples: landed inside the profiler */
    uint64_t lost;             /* ticks without a sample: the ring was full inside an event */
    uint64_t dropped;          /* weight of rows that fell out of the table */
    uint64_t cost_ns;          /* thread CPU time of the handler */
    uint64_t draws, misses;    /* of the wall mode: futures met, empty slots met */
} chroprof_sampler_totals;

/* Whose profile it is. */
typedef struct chroprof_origin {
    uint64_t pid;              /* 0: not known */
    const char *name, *host;   /* of the profile, of the machine; "" if not known */
    uint64_t end_ns;           /* profile time of the last event */
    uint64_t end_unix_ns;      /* calendar time of it; 0: not known */
    bool mapped;               /* by chroprof_map */
    bool ended;                /* by chroprof_unmap */
    bool alive;                /* mapped, and that program still runs, or nobody here can tell */
} chroprof_origin;

/* The handle: small, transparent, caller-owned. A zeroed one is valid: every call does nothing.
 * It holds addresses resolved from the block and this process's hooks. */
typedef struct chroprof {
    struct chroprof__core *core;
    struct chroprof__future *futures;
    struct chroprof__frame *frames;
    struct chroprof__path *paths;
    uint64_t (*clock)(void *user);
    void *clock_user;
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    uint32_t slots;        /* rows of the futures */
    bool on;               /* events are taken, the short way */
    bool detour;           /* events go the long way: the sampler runs, or inside on_stall */
    bool taking;           /* events are taken, on either way */
    bool sampling;         /* the sampler runs */
    bool in_callback;      /* on_stall is being called */
    bool stall_due;        /* the event under way ended a stall */
    bool view;             /* a block that nobody writes */
    bool sampler_ignored;  /* the sampler's signal was ignored before */
    void *mapped;          /* by chroprof_map */
    size_t mapped_bytes;
    uint64_t sampler_pid;  /* the process whose timer it is */
    int sampler_signal;    /* 0: none */
    int sampler_timer;
} chroprof;

/* Takes bytes of output. Non-zero stops the writing. */
typedef int (*chroprof_writer)(void *user, const void *bytes, size_t count);

/* >>api life Unless a line says otherwise a call is for the one thread that sends this profile's
 * events, is not for signal handlers, and does nothing on a NULL or zeroed profile. */

/* Starts a profile in memory[0..size). The block may have any alignment and stays the caller's;
 * nothing else is ever allocated. options NULL: defaults. On any error *p is zeroed (so that every
 * call on it does nothing) and the reason is returned. Cost: writes the block once, some
 * microseconds beyond. */
CHROPROF_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                           const chroprof_options *options);

/* Bytes that are always enough for these options; capacities that are 0 count with their defaults.
 * NULL: all defaults. 0 if an option is beyond its limit. A block of fewer bytes is refused if
 * every capacity is given, else it is shared out, down to CHROPROF_MEMORY_MIN. Any thread. */
CHROPROF_API size_t chroprof_memory_size(const chroprof_options *options);

/* The smallest block that chroprof_init takes (with zeroed capacities), in bytes. */
#define CHROPROF_MEMORY_MIN 7168

/* Opens a block that nobody writes, for reading: a copy, a file, the memory of a program that has
 * ended. It is not trusted: every size, offset, index, string and link is checked, and no bytes in
 * it can make this or a later read fail. size may be larger than the block. On success *view takes
 * every read and every output of this interface, and ignores events; the block must stay as it is
 * while the view is in use and is never written to. On any error *view is zeroed and the reason is
 * returned: CHROPROF_ERR_BUSY if a program changes the block or died while it did, which
 * chroprof_snapshot mends. Cost: reads the block once. Any thread. */
CHROPROF_API chroprof_result chroprof_open(chroprof *view, const void *block, size_t size);

/* Copies the block of a running, hung or killed program into memory, as a block that opens. Every
 * row is whole in itself. Where nothing went on meanwhile (idle, hung) the copy is exact; else
 * elapsed is the sum of the rows as they were copied, both laws hold, and totals.skew_ns and
 * skew_events say by how much rows may differ in time. If the program stopped inside an event, that
 * one is finished or undone, and totals.doubt_events and doubt_ns name it. memory needs the size of
 * the live block and may have any alignment; it holds nothing of use after an error. The live block
 * is not trusted, but its memory must stay readable: a mapped file that is cut shorter kills the
 * reader by SIGBUS, as ever. Cost: reads what is in use of the block up to three times. Any thread,
 * any process; the writer pays nothing. */
CHROPROF_API chroprof_result chroprof_snapshot(const void *live_block, size_t live_size,
                                               void *memory, size_t size);

/* Writes into memory a block that opens: what happened between two states of one profile, each a
 * snapshot of it that was opened or, for the newer, the running profile as of its last event. It is
 * as if the profile had been reset at the older state. Time 0 is there; calls are those that ended
 * since and those that are live; sums, percentiles, windows, stalls, anomalies and drops are those
 * of the time between, and samples those taken in it. What ended in it but began before counts in
 * percentiles and stalls as a whole. Maxima can't be told apart: a maximum that did not grow is
 * what the percentiles' buckets allow, at most 1/8 too much, or, without percentiles, as of the
 * newer state; never more than the exec in between. The peaks of tables are those of the newer
 * state. Both laws hold. memory needs the size of the newer block and may have any alignment, or be
 * the very memory of the newer one if that is a snapshot; it holds nothing of use after an error.
 * CHROPROF_ERR_DIFFERENT: not two states of one profile; CHROPROF_ERR_RESET: it was reset in
 * between. Cost: copies the block once, reads both once. Any thread that may read both. */
CHROPROF_API chroprof_result chroprof_difference(const chroprof *newer, const chroprof *older,
                                                 void *memory, size_t size);

/* Adds all figures of another profile, a view or one that runs, to those of p: sites of equal
 * content are one, paths go by their chains of sites, percentiles by their buckets. p is for that
 * alone: made with options.clock = chroprof_clock_manual, without live futures and frames. Every
 * figure is added as it is shown, in ns, so sums do not hang on the order; where blame and delay
 * were floored to different sums the loop makes up for it (some ns), and both laws hold. The time
 * of the other profile follows the time that p already has: windows and stalls tell of one after
 * the other. What is live stays live, as counts; slices under way count as they are now. Maxima and
 * tick_error_ppb are the largest, skew, doubt, anomalies and drops add up. Percentiles are within
 * 1/8 if the ticks of the other were not ns; a site that had none in one of the profiles has none.
 * What does not fit in p is billed as of events (ERRORS AND DROPS), a chain beyond 512 sites to its
 * 512th path; where paths did not fit, their sites and those billed instead lack percentiles, and
 * windows in which their time may be late. Samples are merged: stacks by their frames, functions by
 * module and offset (so addresses may move; names come from chroprof symbolize), the rows after
 * those that are there, ticks since the other's last event at the end of its time. Without
 * max_samples in p they count as dropped from that table.
 * CHROPROF_ERR_TARGET, CHROPROF_ERR_TIME: nothing was changed. Cost: paths x depth of the other,
 * and the windows of both. The thread of p that may read the other; not from on_stall. */
CHROPROF_API chroprof_result chroprof_merge(chroprof *p, const chroprof *other);

#if (defined(__unix__) || defined(__APPLE__)) && !defined(CHROPROF_NO_MMAP) \
    && !defined(CHROPROF_NO_STDIO)
/* Starts a profile in a new file, which others can read while it runs and after it was killed. The
 * file appears at path whole. size 0: chroprof_memory_size(options). A file that a running program
 * owns is refused (CHROPROF_ERR_OWNED); one whose program ended is kept as PATH.prev; any other
 * file is refused (CHROPROF_ERR_FORMAT). CHROPROF_ERR_FILE and errno: the system refused; all of
 * the file is reserved, so a full disk is noticed here and not later. On any error *p is zeroed and
 * no file is left. After fork the child's profile is off and no longer the file: this costs each
 * clock read a call, and the handle must not move. (Linux. Elsewhere the child must not use the
 * profile.) Needs hard links. As chroprof_init otherwise. */
CHROPROF_API chroprof_result chroprof_map(chroprof *p, const char *path, size_t size,
                                          const chroprof_options *options);

/* In a forked child: begins a profile of its own with the options, clock and callbacks of the
 * parent's, in the file at path as chroprof_map does, or, path NULL, in memory that chroprof_unmap
 * frees. On an error *p is zeroed. Does nothing on a profile that chroprof_map did not start. */
CHROPROF_API chroprof_result chroprof_fork_child(chroprof *p, const char *path);

/* Brings the profile up to now, says in the file that it ended well, and lets it go; the file
 * stays. *p is zeroed. Does nothing on a profile that chroprof_map did not start. */
CHROPROF_API void chroprof_unmap(chroprof *p);
#endif

/* What a result code means, naming the knob to turn. A static string, never NULL. Any thread. */
CHROPROF_API const char *chroprof_result_text(chroprof_result r);

/* Figures, profile time and windows to zero, as of the last event; sites, paths, live futures and
 * the running stack stay known. Cost: walks the whole block. Not from on_stall. */
CHROPROF_API void chroprof_reset(chroprof *p);

/* Off: brings the profile up to now, empties the running stack, ends idle; events cost one branch.
 * On again: off-time is no profile time, no future is ready, known futures stay known. A call that
 * changes nothing costs nothing. Cost: walks the live futures. Not from on_stall. */
CHROPROF_API void chroprof_set_enabled(chroprof *p, bool on);

/* A clock for options.clock that never moves: time is the now of chroprof_event, 1 tick = 1 ns. */
CHROPROF_API uint64_t chroprof_clock_manual(void *user);

/* >>api events None of them can fail; what is out of order is counted (chroprof_anomalies). Cost: a
 * clock read and a small constant of work. They do nothing while the profile is off. */
#ifndef CHROPROF_DISABLE

/* A handle for a site whose name is made at run time. The strings are copied; same content, same
 * handle, valid as long as the block. file may be NULL. NULL name: NULL. Full table: the handle of
 * "(other)". Cost: hashes the strings. */
CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line);

/* A future is created. Its parent is the path on top of the running stack. An id that is still live
 * is abandoned first. */
CHROPROF_API void chroprof_pending(chroprof *p, uint64_t id, const chroprof_site *site);

/* It could run from now on: its delay begins. While it runs: remembered until it pauses.
 * Optional. */
CHROPROF_API void chroprof_ready(chroprof *p, uint64_t id);

/* The same, known late: it could run since `when` (clock ticks as of chroprof_now, when <= now).
 * Clamped to the time at which it paused or was created. */
CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when);

/* Its code begins to execute, on top of whatever runs. */
CHROPROF_API void chroprof_running(chroprof *p, uint64_t id);

/* It gives the loop back. Frames above it are unwound, counted. */
CHROPROF_API void chroprof_paused(chroprof *p, uint64_t id);

/* Pauses the innermost running future above the barrier and runs id (0: nothing); one clock
 * read. */
CHROPROF_API void chroprof_switch(chroprof *p, uint64_t id);

/* It finished; if it is on top this pauses it too. Its record is freed at once. */
CHROPROF_API void chroprof_completed(chroprof *p, uint64_t id);
/* As chroprof_completed, with an error. */
CHROPROF_API void chroprof_failed(chroprof *p, uint64_t id);
/* As chroprof_completed, because somebody asked for it. */
CHROPROF_API void chroprof_cancelled(chroprof *p, uint64_t id);

/* A future that is created already finished; finish is COMPLETED, FAILED or CANCELLED. */
CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish);

/* A callback or a plain call begins: an anonymous future, created and running. */
CHROPROF_API void chroprof_enter(chroprof *p, const chroprof_site *site);

/* It ends: pops an enter-frame on top, never a future. */
CHROPROF_API void chroprof_leave(chroprof *p);

/* A nested loop begins: a barrier. Above it, what is created outside any future is a root, and time
 * outside any future is loop. */
CHROPROF_API void chroprof_loop_enter(chroprof *p);

/* It ends; frames above the innermost barrier are unwound, counted. */
CHROPROF_API void chroprof_loop_leave(chroprof *p);

/* The loop is about to block. Frames above the innermost barrier are unwound, counted. */
CHROPROF_API void chroprof_idle_enter(chroprof *p);

/* It is back. Any event but tick ends the idle too. */
CHROPROF_API void chroprof_idle_leave(chroprof *p);

/* Time passes, nothing else: brings the figures up to now. */
CHROPROF_API void chroprof_tick(chroprof *p);

#if defined(__linux__) && __STDC_HOSTED__
#define CHROPROF__EPOLL 1
/* epoll_pwait(2), its struct epoll_event and sigset_t unseen, with idle around it: for
 * CHROPROF_EPOLL_IDLE, or instead of three lines of a loop. No cancellation point of pthreads. */
CHROPROF_API int chroprof_epoll_pwait(chroprof *p, int fd, void *events, int size, int ms,
                                      const void *mask);
#endif

/* The gate that all of these go through, with an explicit time in the unit of chroprof_now, so that
 * streams can be replayed. site may be NULL; with RUNNING it adopts an unknown id, with a finish of
 * an unknown id (or id 0) it is a stillborn. Any values are safe. */
CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now);

/* One sample of what runs now, by hand: from a timer of yours, or an interrupt on the processor
 * that runs the loop. now as for chroprof_event; cpu_delta_ns: CPU time since the sample before.
 * The stack is that of the tasks alone. Taken at once; one that interrupts a call of this header
 * waits in the ring for the next event and counts as inside. Does nothing without max_samples.
 * Cost: depth. */
CHROPROF_API void chroprof_sample(chroprof *p, uint64_t now, uint64_t cpu_delta_ns);

#endif /* CHROPROF_DISABLE */

/* The time now in clock ticks: of the cycle counter or ns; under the manual clock the time of the
 * last event; 0 for a view. Any thread that may call the clock. */
CHROPROF_API uint64_t chroprof_now(const chroprof *p);

/* >>api reading Reads are pure: they show the profile as of its last event and change nothing, so
 * several agree with each other. They work on a view too, and may be called from on_stall. Each
 * list call fills at most capacity rows of out (NULL with capacity 0 asks for the number) and
 * returns how many there are. */

/* Sites, largest first. A site that nothing used is not listed. Cost: sites + paths x depth, and a
 * sort. */
CHROPROF_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                   chroprof_order by);

/* Paths, in preorder: each parent right before its subtree. Cost: paths x depth. */
CHROPROF_API size_t chroprof_paths(const chroprof *p, chroprof_path *out, size_t capacity);

/* Live futures, in no order, then the enter-frames on the stack. Cost: max_futures. */
CHROPROF_API size_t chroprof_futures(const chroprof *p, chroprof_future *out, size_t capacity);

/* Time windows, oldest first. Cost: (windows / 64 + 1) x (paths + sites x max_windows). */
CHROPROF_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity);

/* Exec time of one site (chroprof_rank.id) in each window, in the order of chroprof_windows; their
 * sum is the site's exec, each flooring what was not floored before. An unknown id: 0 rows.
 * Cost: (windows / 64 + 1) x (paths of the site + max_windows). */
CHROPROF_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                          size_t capacity);

/* Stalls that were kept, oldest first: the longest and the most recent. Cost: stalls squared. */
CHROPROF_API size_t chroprof_stalls(const chroprof *p, chroprof_stall *out, size_t capacity);

/* The running stack as of the last event, from its top down, barriers included; of a program that
 * hangs: what it hangs in. Hidden frames are not there. */
CHROPROF_API size_t chroprof_frames(const chroprof *p, chroprof_frame *out, size_t capacity);

/* Which program, where and until when; all zero and "" for a NULL or zeroed profile. Cost: asks the
 * system about the process if the profile is in a file. */
CHROPROF_API void chroprof_read_origin(const chroprof *p, chroprof_origin *out);

/* Capacity, use and drops of every table: CHROPROF_TABLE_COUNT rows. */
CHROPROF_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity);

/* Every kind of anomaly, zero counts included: CHROPROF_ANOMALY_COUNT rows. */
CHROPROF_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out, size_t capacity);

/* The whole loop's figures; all zero for a NULL or zeroed profile. Cost: paths. */
CHROPROF_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out);

/* Walks every table and compares both conservation laws. NULL: all holds; else a static text that
 * names the first broken invariant (a bug in chroprof.h, or a block somebody wrote into). Cost: the
 * block. */
CHROPROF_API const char *chroprof_check(const chroprof *p);

/* >>api sampler */

/* Rows of samples in profile time [from_ns, to_ns), oldest first. Of a row that lies in it in part
 * the part is listed, with round(weight x part / duration); one that is left without weight is
 * not. A row of duration 0 counts whole. CPU time counts where a row begins. 0 and UINT64_MAX: all.
 * Cost: max_samples. */
CHROPROF_API size_t chroprof_samples(const chroprof *p, uint64_t from_ns, uint64_t to_ns,
                                     chroprof_sample_row *out, size_t capacity);

/* The frames of a sampled stack, innermost first: functions of the slice, the task, what it was
 * called by. Names of functions are asked of the system when the profile is this process's own.
 * Strings live as long as the block and the modules. An unknown stack: 0 frames. Cost: its
 * depth. */
CHROPROF_API size_t chroprof_stack(const chroprof *p, uint32_t stack, chroprof_stack_frame *out,
                                   size_t capacity);

/* What the wall mode met, one row a path that it met. Cost: max_paths. */
CHROPROF_API size_t chroprof_walls(const chroprof *p, chroprof_wall *out, size_t capacity);

/* The sampler's settings and counts; all zero for a NULL or zeroed profile. */
CHROPROF_API void chroprof_read_sampler(const chroprof *p, chroprof_sampler_totals *out);

#ifndef CHROPROF_NO_SAMPLER
/* Starts a timer that interrupts the calling thread, which must be the loop's, and samples what it
 * does. options NULL: defaults. On any error nothing has changed: CHROPROF_ERR_SAMPLER where there
 * is none, _MEMORY, _RUNNING, _SIGNAL, _TIMER; each text names the knob. The handle and
 * the block must stay where they are until chroprof_sampler_stop. Not from on_stall. Cost: some
 * 100 us here, some us a tick, and an event is some 15 ns slower while the sampler runs. */
CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options);

/* Ends it and gives the signal back. The samples stay. Before the block, the handle or the thread
 * goes; in a forked child it only forgets the parent's timer. Not from on_stall. */
CHROPROF_API void chroprof_sampler_stop(chroprof *p);

/* The thread goes on to execute on the stack [low, low + bytes), a fiber's; NULL and 0: on its own
 * again. Without it stacks of fibers end at their innermost function. Cost: two stores. */
CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes);
#endif

/* >>api output */

/* Writes the profile in pieces of at most some KiB; ticks a live profile first (not in on_stall).
 * Returns 0, or -1 when the writer stopped or the format was left out. Never allocates. */
CHROPROF_API int chroprof_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                void *user);

#ifndef CHROPROF_NO_STDIO
/* The same into a stream; colour and width of the text report follow the terminal, if it is one.
 * Returns 0, or -1 with errno set; out NULL: EINVAL. */
CHROPROF_API int chroprof_dump(chroprof *p, chroprof_format format, FILE *out);
#endif

/* What a debug page is asked for. */
typedef struct chroprof_query {
    chroprof_format format;    /* text if the query names none */
    uint32_t seconds;          /* to look at from now on; 0: the run so far */
    const char *content_type;  /* what HTTP calls the format; a static string */
} chroprof_query;

/* Reads the part of an URL after "?", such as "format=json&seconds=5": format is text, json,
 * folded, prometheus, pprof or firefox, seconds at most 86400. Other keys are passed over; NULL is
 * empty. False: no such format, or no such number; *out is as if that key were not there. Any
 * thread. */
CHROPROF_API bool chroprof_parse_query(const char *query, chroprof_query *out);

/* How the text report looks. Zeroed: 80 columns, UTF-8, no colour, 20 sites, by exec. */
typedef struct chroprof_text_options {
    uint32_t columns;          /* 60 to 200 */
    uint32_t top;              /* rows of the ranked table, at most 40 */
    chroprof_order by;
    bool ascii;                /* plain ASCII bars */
    bool color;                /* ANSI colours */
} chroprof_text_options;

/* The text report with a look of its own; as chroprof_write otherwise. options NULL: zeroed. */
CHROPROF_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                     chroprof_writer write, void *user);

/* What the Prometheus text shows. Zeroed: every site. */
typedef struct chroprof_prometheus_options {
    uint32_t top;              /* series a metric, at most 100; the rest is "(other)"; 0: all */
    chroprof_order by;         /* whose live futures and slice lengths these are; see below */
} chroprof_prometheus_options;

/* The Prometheus text with a limit of series; as chroprof_write otherwise. options NULL: zeroed.
 * With a limit each counter shows the sites that lead in that very counter, so that "(other)" never
 * falls either; the gauge of live futures and the slice lengths have no order of their own and go
 * by `by`. Of the slice lengths there is no "(other)". A label id is added to a site whose other
 * labels cannot tell it from every other one: a cut name, bytes that are not UTF-8. */
CHROPROF_API int chroprof_write_prometheus(chroprof *p, const chroprof_prometheus_options *options,
                                           chroprof_writer write, void *user);

#ifdef __cplusplus
}
#endif

/* >>macros */

/* Defines a site of this source line: CHROPROF_SITE(site_accept, "accept"); */
#ifndef CHROPROF_DISABLE
#define CHROPROF_SITE(variable, name) \
    static const chroprof_site variable = { name, __FILE__, (uint32_t)__LINE__ }
#else
#if defined(__GNUC__)                   /* for wrappers that take a site; nothing is emitted */
#define CHROPROF_SITE(variable, name)                                    \
    static const chroprof_site variable __attribute__((unused)) = {      \
        name, __FILE__, (uint32_t)__LINE__                               \
    }
#else
#define CHROPROF_SITE(variable, name) \
    static const chroprof_site variable = { name, __FILE__, (uint32_t)__LINE__ }
#endif
#define chroprof_site_make(p, name, file, line) ((const chroprof_site *)0)
#define chroprof_pending(p, id, site) ((void)0)
#define chroprof_ready(p, id) ((void)0)
#define chroprof_ready_since(p, id, when) ((void)0)
#define chroprof_running(p, id) ((void)0)
#define chroprof_paused(p, id) ((void)0)
#define chroprof_switch(p, id) ((void)0)
#define chroprof_completed(p, id) ((void)0)
#define chroprof_failed(p, id) ((void)0)
#define chroprof_cancelled(p, id) ((void)0)
#define chroprof_stillborn(p, site, finish) ((void)0)
#define chroprof_enter(p, site) ((void)0)
#define chroprof_leave(p) ((void)0)
#define chroprof_loop_enter(p) ((void)0)
#define chroprof_loop_leave(p) ((void)0)
#define chroprof_idle_enter(p) ((void)0)
#define chroprof_idle_leave(p) ((void)0)
#define chroprof_tick(p) ((void)0)
#define chroprof_event(p, state, id, site, now) ((void)0)
#define chroprof_sample(p, now, cpu_delta_ns) ((void)0)
#endif

#ifdef __cplusplus
/* Enter here, leave at the end of the block, exceptions included: chroprof_scope s(&prof,
 * &site); */
class chroprof_scope {
public:
#ifndef CHROPROF_DISABLE
    chroprof_scope(chroprof *p, const chroprof_site *site) : profile(p) { chroprof_enter(p, site); }
    ~chroprof_scope() { chroprof_leave(profile); }
private:
    chroprof *profile;
#else
    template <class A, class B> chroprof_scope(const A &, const B &) {}
    ~chroprof_scope() {}
private:
#endif
    chroprof_scope(const chroprof_scope &);
    chroprof_scope &operator=(const chroprof_scope &);
};
#endif

#define CHROPROF__JOIN_(a, b) a##b
#define CHROPROF__JOIN(a, b) CHROPROF__JOIN_(a, b)

/* One line at the top of a callback: a site of this line, entered here and left at the end of the
 * block, early returns included: CHROPROF_SCOPE(&prof, "on_readable"); In C++, and in C where the
 * compiler has __attribute__((cleanup)): gcc, clang and kin. Elsewhere it is not defined; use
 * chroprof_enter and chroprof_leave there. Once a line. */
#if defined(CHROPROF_DISABLE)
#define CHROPROF_SCOPE(p, name) ((void)0)
#elif defined(__cplusplus)
#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    const chroprof_scope CHROPROF__JOIN(chroprof__scope_, __LINE__)(                               \
        p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#elif defined(__GNUC__)
static inline __attribute__((unused)) void chroprof__scope_end(chroprof *const *p)
{
    chroprof_leave(*p);
}

static inline __attribute__((unused)) chroprof *chroprof__scope_begin(chroprof *p,
                                                                      const chroprof_site *site)
{
    chroprof_enter(p, site);
    return p;
}

#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    chroprof *const CHROPROF__JOIN(chroprof__scope_, __LINE__)                                     \
        __attribute__((cleanup(chroprof__scope_end), unused)) =                                    \
            chroprof__scope_begin(p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#endif

#ifdef __cplusplus
#define CHROPROF__C extern "C"
#define CHROPROF__NOEXCEPT noexcept
#else
#define CHROPROF__C
#define CHROPROF__NOEXCEPT
#endif
#if defined(__GNUC__)                       /* libraries must see it, -fvisibility=hidden or not */
#define CHROPROF__VISIBLE CHROPROF__C __attribute__((visibility("default")))
#else
#define CHROPROF__VISIBLE CHROPROF__C
#endif

/* >>loops: helpers for libraries, each of them nothing until it is used. The names of the library
 * stand in macros, so nothing of it is needed before.
 *
 * For a library that waits in epoll_wait(2) or epoll_pwait(2) and has no hook there, such as libuv
 * and libevent 2.1: defines both in your program, outside any function, so that the library calls
 * these, which are idle and go on to the system: CHROPROF_EPOLL_IDLE(&prof); Needs sigset_t before
 * it: of <sys/epoll.h>, <signal.h> or the library's header. p is evaluated at each wait, by the
 * thread that waits: where other threads wait as well it must be NULL in those (a thread-local
 * pointer). They are no cancellation points of pthreads. In the program itself, not in a library
 * that it loads: libraries look there first. Linux; elsewhere nothing, so that waiting is loop. */
#ifdef CHROPROF__EPOLL
#define CHROPROF_EPOLL_IDLE(p)                                                                     \
    struct epoll_event;                                                                            \
    CHROPROF__VISIBLE int epoll_pwait(int fd, struct epoll_event *events, int size, int ms,        \
                                      const sigset_t *mask);                                       \
    CHROPROF__VISIBLE int epoll_wait(int fd, struct epoll_event *events, int size, int ms);        \
    int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)    \
    {                                                                                              \
        return chroprof_epoll_pwait((p), fd, events, size, ms, mask);                              \
    }                                                                                              \
    int epoll_wait(int fd, struct epoll_event *events, int size, int ms)                           \
    {                                                                                              \
        return chroprof_epoll_pwait((p), fd, events, size, ms, NULL);                              \
    }                                                                                              \
    struct chroprof__semicolon
#else
#define CHROPROF_EPOLL_IDLE(p) struct chroprof__semicolon
#endif

/* For GLib: CHROPROF_GLIB(&prof); outside any function, after <glib.h>, defines
 *
 *   static void chroprof_glib(GMainContext *context);   NULL: the default one
 *
 * Call it once, before any loop runs. From then on the context's wait is idle, a callback that
 * iterates the context may be called again in there, and each dispatch of a timeout, an idle, an
 * I/O channel, a child, a signal or a descriptor is entered by its source's name
 * (g_source_set_name), or one without by its callback, "unnamed chroprof__glib_wait+1234"; which
 * that is tells gdb -batch -ex "info symbol chroprof__glib_wait+1234" PROGRAM. For this, functions
 * of yours stand before those in GLib's own tables (g_timeout_funcs and kin, and copies made of
 * them from then on), so the sources of libraries are seen as well. Sources with other tables
 * (those of sockets, GDBus and GDK) are loop: begin their dispatch by CHROPROF_SCOPE. p is
 * evaluated at each wait and dispatch of that context, in the thread that runs it. Loops of other
 * contexts go on as before. One context a file, which the program keeps to its end: another one at
 * its address would be taken for it. Cost: 1400 instructions a wait and dispatch, 1300 more for a
 * source without a name. */
#ifndef CHROPROF_DISABLE
#define CHROPROF_GLIB(p)                                                                           \
    static GMainContext *chroprof__glib_context;                                                   \
    static gint (*chroprof__glib_poll)(GPollFD *fds, guint count, gint ms);                        \
    static gint chroprof__glib_wait(GPollFD *fds, guint count, gint ms)                            \
    {                                                                                              \
        chroprof *const profile = (p);                                                             \
        gint ready;                                                                                \
        chroprof_loop_enter(profile);                                                              \
        chroprof_idle_enter(profile);                                                              \
        ready = chroprof__glib_poll(fds, count, ms);                                               \
        chroprof_loop_leave(profile);                                                              \
        return ready;                                                                              \
    }                                                                                              \
    /* Whether it has no name, or the one that GLib gives to all of a kind. */                     \
    static int chroprof__glib_says_nothing(const char *name)                                       \
    {                                                                                              \
        return name == NULL || g_strcmp0(name, "GIdleSource") == 0 ||                              \
               g_strcmp0(name, "GChildWatchSource") == 0 || g_str_has_prefix(name, "GIOChannel");  \
    }                                                                                              \
    static chroprof *chroprof__glib_enter(GSource *source, GSourceFunc call)                       \
    {                                                                                              \
        const int ours = g_source_get_context(source) == chroprof__glib_context;                   \
        chroprof *const profile = ours ? (p) : NULL;                                               \
        const char *name = ours ? g_source_get_name(source) : "";                                  \
        char own[64];                                                                              \
        if (chroprof__glib_says_nothing(name)) {                                                   \
            g_snprintf(own, sizeof(own), "%s chroprof__glib_wait%+ld", name ? name : "unnamed",    \
                       (long)((intptr_t)call - (intptr_t)&chroprof__glib_wait));                   \
            name = own;                                                                            \
        }                                                                                          \
        chroprof_enter(profile, chroprof_site_make(profile, name, NULL, 0));                       \
        return profile;                                                                            \
    }                                                                                              \
    CHROPROF__GLIB_KINDS(CHROPROF__GLIB_DISPATCH)                                                  \
    static void chroprof_glib(GMainContext *context)                                               \
    {                                                                                              \
        if (chroprof__glib_context != NULL)                                                        \
            return;                                                                                \
        chroprof__glib_context = context != NULL ? context : g_main_context_default();             \
        chroprof__glib_poll = g_main_context_get_poll_func(context);                               \
        g_main_context_set_poll_func(context, chroprof__glib_wait);                                \
        CHROPROF__GLIB_KINDS(CHROPROF__GLIB_HOOK)                                                  \
    }                                                                                              \
    struct chroprof__semicolon
#define CHROPROF__GLIB_DISPATCH(kind)                                                              \
    static gboolean (*chroprof__glib_##kind)(GSource *, GSourceFunc, gpointer);                    \
    static gboolean chroprof__glib_on_##kind(GSource *source, GSourceFunc call, gpointer data)     \
    {                                                                                              \
        chroprof *const profile = chroprof__glib_enter(source, call);                              \
        const gboolean stays = chroprof__glib_##kind(source, call, data);                          \
        chroprof_leave(profile);                                                                   \
        return stays;                                                                              \
    }
#define CHROPROF__GLIB_HOOK(kind)                                                                  \
    chroprof__glib_##kind = g_##kind##_funcs.dispatch;                                             \
    g_##kind##_funcs.dispatch = chroprof__glib_on_##kind;
#if defined(__unix__) || defined(__APPLE__)
#define CHROPROF__GLIB_KINDS(X)                                                                    \
    X(idle) X(timeout) X(io_watch) X(child_watch) X(unix_signal) X(unix_fd_source)
#else
#define CHROPROF__GLIB_KINDS(X) X(idle) X(timeout) X(io_watch) X(child_watch)
#endif
#else
#define CHROPROF_GLIB(p)                                                                           \
    static void chroprof_glib(GMainContext *context) { (void)context; }                            \
    struct chroprof__semicolon
#endif

/* For libev (4.25 or newer, with EV_MULTIPLICITY): CHROPROF_LIBEV(&prof); outside any function,
 * after <ev.h>, defines
 *
 *   static void chroprof_libev(struct ev_loop *loop);
 *   static uint64_t chroprof_libev_due;
 *
 * Call the function once: from then on the wait of that loop is idle, and chroprof_libev_due is the
 * time at which its batch of events began. Whatever runs in a batch was due by then, so this is
 * what to give to chroprof_ready_since. Takes the loop's release, acquire and invoke-pending hooks.
 * p is evaluated at each wait and batch, in the thread that runs the loop. One loop a file. */
#ifndef CHROPROF_DISABLE
#define CHROPROF_LIBEV(p)                                                                          \
    static uint64_t chroprof_libev_due;                                                            \
    static void chroprof__libev_release(struct ev_loop *loop) CHROPROF__NOEXCEPT                   \
    {                                                                                              \
        (void)loop;                                                                                \
        chroprof_idle_enter(p);                                                                    \
    }                                                                                              \
    static void chroprof__libev_acquire(struct ev_loop *loop) CHROPROF__NOEXCEPT                   \
    {                                                                                              \
        (void)loop;                                                                                \
        chroprof_idle_leave(p);                                                                    \
    }                                                                                              \
    static void chroprof__libev_batch(struct ev_loop *loop)                                        \
    {                                                                                              \
        chroprof_libev_due = chroprof_now(p);                                                      \
        ev_invoke_pending(loop);                                                                   \
    }                                                                                              \
    static void chroprof_libev(struct ev_loop *loop)                                               \
    {                                                                                              \
        ev_set_loop_release_cb(loop, chroprof__libev_release, chroprof__libev_acquire);            \
        ev_set_invoke_pending_cb(loop, chroprof__libev_batch);                                     \
    }                                                                                              \
    struct chroprof__semicolon
#else
#define CHROPROF_LIBEV(p)                                                                          \
    static void chroprof_libev(struct ev_loop *loop) { (void)loop; }                               \
    struct chroprof__semicolon
#endif

/* For libevent's HTTP server (2.1 or newer): CHROPROF_EVHTTP(&prof, memory); outside any function,
 * after <event2/buffer.h>, <event2/event.h> and <event2/http.h>, defines a page; memory is the
 * array that the profile was begun in:
 *
 *   static void chroprof_evhttp(struct evhttp_request *request, void *unused);
 *
 *   evhttp_set_cb(server, "/debug/chroprof", chroprof_evhttp, NULL);
 *
 * GET /debug/chroprof?format=FORMAT&seconds=N: the run so far or, N > 0, the next N seconds; the
 * loop goes on meanwhile. 404 where chroprof_parse_query says false, 503 while another one waits
 * for its seconds (to their end, even if its client has gone: libevent 2.1 does not notice), 500 if
 * memory is not the profile's or the profile was reset in them. Takes twice the size of memory
 * again, allocates as evhttp does, takes the close callback of a connection that waits, and writing
 * is the site "chroprof page". The server must run in the thread of the profile. It is no page for
 * strangers. */
#define CHROPROF_EVHTTP(p, memory)                                                                 \
    /* Does not compile where memory is a pointer, whose size is not that of the profile. */       \
    typedef char chroprof__memory_is_no_array[sizeof(memory) > sizeof(void *) ? 1 : -1];           \
    static unsigned char chroprof__evhttp_before[sizeof(memory)];                                  \
    static unsigned char chroprof__evhttp_between[sizeof(memory)];                                 \
    static struct {                                                                                \
        struct evhttp_request *request; /* that waits for its seconds */                           \
        struct event *over;                                                                        \
        chroprof_query query;                                                                      \
    } chroprof__evhttp;                                                                            \
    static int chroprof__evhttp_put(void *to, const void *bytes, size_t count)                     \
    {                                                                                              \
        return evbuffer_add((struct evbuffer *)to, bytes, count);                                  \
    }                                                                                              \
    static void chroprof__evhttp_answer(struct evhttp_request *request, chroprof *profile,         \
                                        chroprof_query query)                                      \
    {                                                                                              \
        struct evbuffer *const out = evhttp_request_get_output_buffer(request);                    \
        struct evkeyvalq *const headers = evhttp_request_get_output_headers(request);              \
        CHROPROF_SITE(site, "chroprof page");                                                      \
        chroprof_enter(p, &site);                                                                  \
        evhttp_add_header(headers, "Content-Type", query.content_type);                            \
        if (chroprof_write(profile, query.format, chroprof__evhttp_put, out) == 0)                 \
            evhttp_send_reply(request, HTTP_OK, NULL, NULL);                                       \
        else                                                                                       \
            evhttp_send_error(request, HTTP_INTERNAL, NULL);                                       \
        chroprof_leave(p);                                                                         \
    }                                                                                              \
    /* Nobody waits any more. */                                                                   \
    static void chroprof__evhttp_gone(struct evhttp_connection *connection, void *unused)          \
    {                                                                                              \
        (void)unused;                                                                              \
        evhttp_connection_set_closecb(connection, NULL, NULL);                                     \
        event_free(chroprof__evhttp.over);                                                         \
        chroprof__evhttp.request = NULL;                                                           \
    }                                                                                              \
    static void chroprof__evhttp_over(evutil_socket_t fd, short what, void *unused)                \
    {                                                                                              \
        struct evhttp_request *const request = chroprof__evhttp.request;                           \
        unsigned char *const before = chroprof__evhttp_before;                                     \
        unsigned char *const between = chroprof__evhttp_between;                                   \
        chroprof view;                                                                             \
        chroprof_result result = chroprof_open(&view, before, sizeof(memory));                     \
        (void)fd, (void)what;                                                                      \
        if (result == CHROPROF_OK)                                                                 \
            result = chroprof_difference((p), &view, between, sizeof(memory));                     \
        if (result == CHROPROF_OK)                                                                 \
            result = chroprof_open(&view, between, sizeof(memory));                                \
        chroprof__evhttp_gone(evhttp_request_get_connection(request), unused);                     \
        if (result == CHROPROF_OK)                                                                 \
            chroprof__evhttp_answer(request, &view, chroprof__evhttp.query);                       \
        else                                                                                       \
            evhttp_send_error(request, HTTP_INTERNAL, chroprof_result_text(result));               \
    }                                                                                              \
    static void chroprof__evhttp_wait(struct evhttp_request *request, chroprof_query query)        \
    {                                                                                              \
        struct evhttp_connection *const connection = evhttp_request_get_connection(request);       \
        struct event_base *const base = evhttp_connection_get_base(connection);                    \
        struct event *const over = evtimer_new(base, chroprof__evhttp_over, NULL);                 \
        const chroprof_result result =                                                             \
            chroprof_snapshot((memory), sizeof(memory), chroprof__evhttp_before, sizeof(memory));  \
        struct timeval after;                                                                      \
        after.tv_sec = (time_t)query.seconds;                                                      \
        after.tv_usec = 0;                                                                         \
        if (result != CHROPROF_OK || over == NULL || evtimer_add(over, &after) != 0) {             \
            if (over != NULL)                                                                      \
                event_free(over);                                                                  \
            evhttp_send_error(request, HTTP_INTERNAL, chroprof_result_text(result));               \
            return;                                                                                \
        }                                                                                          \
        chroprof__evhttp.query = query;                                                            \
        chroprof__evhttp.request = request;                                                        \
        chroprof__evhttp.over = over;                                                              \
        evhttp_connection_set_closecb(connection, chroprof__evhttp_gone, NULL);                    \
    }                                                                                              \
    static void chroprof_evhttp(struct evhttp_request *request, void *unused)                      \
    {                                                                                              \
        const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(request);               \
        chroprof_query query;                                                                      \
        (void)unused;                                                                              \
        if (!chroprof_parse_query(evhttp_uri_get_query(uri), &query))                              \
            evhttp_send_error(request, HTTP_NOTFOUND, NULL);                                       \
        else if (query.seconds == 0)                                                               \
            chroprof__evhttp_answer(request, (p), query);                                          \
        else if (chroprof__evhttp.request == NULL)                                                 \
            chroprof__evhttp_wait(request, query);                                                 \
        else                                                                                       \
            evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);                                    \
    }                                                                                              \
    struct chroprof__semicolon

/* For the sampler, where libraries keep no frame pointers, as those of most distributions:
 * CHROPROF_LIBUNWIND(); outside any function, after <libunwind.h> (with UNW_LOCAL_ONLY defined
 * before it), defines a function for chroprof_sampler_options.unwind that goes by their tables:
 *
 *   static uint32_t chroprof_libunwind(void *user, void *ucontext, uintptr_t *addresses,
 *                                      uint32_t capacity);
 *
 * libunwind 1.3 or newer, on Linux; it may be called in a signal handler. A walk costs more than
 * one by frame pointers; the sampler's budget counts it. */
#define CHROPROF_LIBUNWIND()                                                                       \
    static uint32_t chroprof_libunwind(void *user, void *ucontext, uintptr_t *addresses,           \
                                       uint32_t capacity)                                          \
    {                                                                                              \
        unw_context_t *const context = (unw_context_t *)ucontext;                                  \
        unw_cursor_t cursor;                                                                       \
        unw_word_t address;                                                                        \
        uint32_t count = 0;                                                                        \
        int more = unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) == 0;                  \
        (void)user;                                                                                \
        for (; more > 0 && count < capacity; more = unw_step(&cursor)) {                           \
            unw_get_reg(&cursor, UNW_REG_IP, &address);                                            \
            addresses[count++] = (uintptr_t)address;                                               \
        }                                                                                          \
        return count;                                                                              \
    }                                                                                              \
    struct chroprof__semicolon

/* >>coroutines of C++20, if CHROPROF_COROUTINES is defined: each is a future below the one that
 * called it. A base for your promise_type, which brings initial_suspend and await_transform:
 *
 *   struct promise_type : chroprof_promise<promise_type, &prof> { ... };
 *
 * Profile: a chroprof *, or a function that returns one. Initial: std::suspend_never for coroutines
 * that start at once. The site is the coroutine's function; the id, for chroprof_ready, is the
 * address of its handle. A coroutine that is destroyed without finish() was cancelled. In a class
 * template say this->finish(...). Not seen: co_yield, unless yield_value returns pause(awaiter). */
#if defined(CHROPROF_COROUTINES) && defined(CHROPROF_DISABLE)
#include <coroutine>
template <class Promise, auto Profile, class Initial = std::suspend_always>
struct chroprof_promise {
    Initial initial_suspend() { return {}; }
    template <class Awaiter> Awaiter pause(Awaiter awaiter) { return awaiter; }
    void finish(chroprof_state) noexcept {}
};
#elif defined(CHROPROF_COROUTINES)
#include <coroutine>
#include <type_traits>
template <class Promise, auto Profile, class Initial = std::suspend_always>
class chroprof_promise {
    uint64_t id = 0;

    static chroprof *profile() noexcept
    {
        if constexpr (requires { Profile(); })
            return Profile();
        else
            return Profile;
    }

    /* Pauses it. An await_suspend that throws has not suspended: it runs on with the exception. */
    struct going {
        uint64_t id;                        /* 0: it was not running, or it has gone */
        explicit going(uint64_t from) : id(from)
        {
            if (id)
                chroprof_paused(profile(), id);
        }
        ~going()
        {
            if (id)
                chroprof_running(profile(), id);
        }
        going(const going &) = delete;
        going &operator=(const going &) = delete;
    };

    template <class Awaiter> struct awaiting {
        Awaiter awaiter;                    /* a value, or a reference to what outlives it */
        uint64_t id;
        bool away;                          /* it is not running, so it has to be when it is back */

        bool await_ready() { return awaiter.await_ready(); }
        auto await_suspend(std::coroutine_handle<Promise> handle)
        {
            going leave(away ? 0 : id);
            away = true;                    /* beyond the next call this may be gone */
            if constexpr (std::is_void_v<decltype(awaiter.await_suspend(handle))>) {
                awaiter.await_suspend(handle);
                leave.id = 0;
            } else {
                auto where = awaiter.await_suspend(handle);
                leave.id = 0;
                return where;
            }
        }
        decltype(auto) await_resume()
        {
            if (away)
                chroprof_running(profile(), id);
            return awaiter.await_resume();
        }
    };

public:
    /* Creates the future; the default arguments are those of the coroutine. */
    auto initial_suspend(const char *name = __builtin_FUNCTION(),
                         const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        Promise &promise = static_cast<Promise &>(*this);
        id = reinterpret_cast<uintptr_t>(
            std::coroutine_handle<Promise>::from_promise(promise).address());
        chroprof_pending(profile(), id, chroprof_site_make(profile(), name, file, line));
        return awaiting<Initial>{ {}, id, true };
    }

    /* What co_await suspends on: paused while it is away. An awaiter need not be movable. */
    template <class A> auto await_transform(A &&a)
    {
        if constexpr (requires { static_cast<A &&>(a).operator co_await(); })
            return awaiting<decltype(static_cast<A &&>(a).operator co_await())>{
                static_cast<A &&>(a).operator co_await(), id, false };
        else if constexpr (requires { operator co_await(static_cast<A &&>(a)); })
            return awaiting<decltype(operator co_await(static_cast<A &&>(a)))>{
                operator co_await(static_cast<A &&>(a)), id, false };
        else
            return awaiting<A &&>{ static_cast<A &&>(a), id, false };
    }

    /* The same for an awaiter that is handed over: yield_value may return it. */
    template <class Awaiter> auto pause(Awaiter awaiter)
    {
        return awaiting<Awaiter>{ static_cast<Awaiter &&>(awaiter), id, false };
    }

    /* Completed, failed or cancelled: in return_void or final_suspend, and in unhandled_exception.
     * What is said first holds. */
    void finish(chroprof_state how) noexcept
    {
        if (id)
            chroprof_event(profile(), how, id, nullptr, chroprof_now(profile()));
        id = 0;
    }

    chroprof_promise() = default;
    chroprof_promise(const chroprof_promise &) = delete;
    chroprof_promise &operator=(const chroprof_promise &) = delete;
    ~chroprof_promise() { finish(CHROPROF_CANCELLED); }
};
#endif

/* A reader of the interface may stop here. */
#endif /* CHROPROF_H */

#if defined(CHROPROF_IMPLEMENTATION) && !defined(CHROPROF_IMPLEMENTATION_DONE)
#define CHROPROF_IMPLEMENTATION_DONE

/* >>platform: what differs between compilers, systems and processors, and nothing else. */

#include <string.h>
#ifndef CHROPROF_NO_CLOCK
#include <time.h>
#if defined(_WIN32)
#include <windows.h>
#elif !defined(CLOCK_MONOTONIC)
#error "chroprof: clock_gettime is hidden. Define _POSIX_C_SOURCE=200809L before all includes \
(or compile as gnu99), or define CHROPROF_NO_CLOCK and give options.clock."
#endif
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#ifndef CHROPROF_NO_STDIO
#include <errno.h>
#include <stdlib.h>
/* Asking a stream for its terminal needs more than standard C; a strict build does without. */
#if (defined(__unix__) || defined(__APPLE__)) \
    && (!defined(__STRICT_ANSI__) || defined(_POSIX_C_SOURCE) || defined(_GNU_SOURCE))
#define CHROPROF__TERMINAL 1
#include <sys/ioctl.h>
#include <unistd.h>
#endif
#endif

/* Mapped files need POSIX, the guard against forks Linux; both what a strict build hides. */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(CHROPROF_NO_MMAP) \
    && !defined(CHROPROF_NO_STDIO) && (!defined(__STRICT_ANSI__) \
    || defined(_POSIX_C_SOURCE) || defined(_GNU_SOURCE))
#define CHROPROF__MAPS 1
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE < 200112L
#error "chroprof: mapped files need a newer POSIX. Define _POSIX_C_SOURCE=200809L before all \
includes, or define CHROPROF_NO_MMAP."
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/file.h>                       /* flock, which others have in fcntl.h */
#endif
#ifdef O_CLOEXEC
#define CHROPROF__CLOEXEC O_CLOEXEC
#else
#define CHROPROF__CLOEXEC 0                 /* POSIX before 2008 */
#endif
#if defined(MADV_WIPEONFORK) && defined(MAP_ANONYMOUS)
#define CHROPROF__FORKS 1
#endif
#endif

/* The sampler: on 64-bit Linux by a timer of one thread, whose system calls it makes by itself;
 * elsewhere, if asked to, by one of the process. */
#if defined(__linux__) && !defined(CHROPROF_ITIMER)
#define CHROPROF__THREAD_TIMER 1
#else
#define CHROPROF__THREAD_TIMER 0
#endif
#if (defined(__linux__) || ((defined(__unix__) || defined(__APPLE__)) && \
    defined(CHROPROF_ITIMER))) && defined(__LP64__) && defined(__GNUC__) && \
    !defined(CHROPROF_NO_SAMPLER) && !defined(CHROPROF_NO_CLOCK) && \
    (!defined(__STRICT_ANSI__) || defined(_GNU_SOURCE) || \
    (defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200809L))
#define CHROPROF__SAMPLES 1
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#ifndef SA_RESTART
#error "chroprof: the sampler needs SA_RESTART, which is hidden. Define _POSIX_C_SOURCE=200809L \
before all includes, or define CHROPROF_NO_SAMPLER."
#endif
#if defined(__linux__)
#include <elf.h>
#include <ucontext.h>
#endif
#if !CHROPROF__THREAD_TIMER
#include <sched.h>
#include <sys/time.h>
#endif
#include <unistd.h>
#else
#define CHROPROF__SAMPLES 0
#endif

/* syscall(2), which a strict build hides. */
#if defined(CHROPROF__EPOLL) || (CHROPROF__SAMPLES && CHROPROF__THREAD_TIMER)
#include <sys/syscall.h>
extern long chroprof__system(long number, ...) __asm__("syscall");
#endif

#if defined(__GNUC__)
#define CHROPROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define CHROPROF__RARELY(x) __builtin_expect(!!(x), 0)
#define CHROPROF__INLINE static inline __attribute__((always_inline, unused))
#define CHROPROF__COLD static __attribute__((noinline, cold, unused))
#define CHROPROF__COLD_API CHROPROF_API __attribute__((cold))
#define CHROPROF__NOINLINE static __attribute__((noinline, unused))
#define CHROPROF__UNUSED __attribute__((unused))
#define CHROPROF__PREFETCH(address) __builtin_prefetch(address)
/* The compiler reads memory again from here on: where registers are short that is cheaper than to
 * keep what it holds of it on the stack. */
#define CHROPROF__READ_AGAIN() __asm__ __volatile__("" ::: "memory")
/* What a function of the system is called in object files. */
#define CHROPROF__QUOTED(prefix) #prefix
#define CHROPROF__LABEL_OF(prefix, name) CHROPROF__QUOTED(prefix) name
#define CHROPROF__LABEL(name) CHROPROF__LABEL_OF(__USER_LABEL_PREFIX__, name)
#else
#define CHROPROF__LIKELY(x) (x)
#define CHROPROF__RARELY(x) (x)
#define CHROPROF__INLINE static inline
#define CHROPROF__COLD static
#define CHROPROF__COLD_API CHROPROF_API
#define CHROPROF__NOINLINE static
#define CHROPROF__UNUSED
#define CHROPROF__PREFETCH(address) ((void)(address))
#define CHROPROF__READ_AGAIN() ((void)0)
#endif

/* What only looks is compiled for size, but for copies of running programs: at -O2 a fifth less
 * code from gcc, a third from clang, and clang is done in half the time. A dump takes 10 to 25 %
 * longer, from clang 20 to 50 %. gcc hands "cold" down to what only cold functions call, clang
 * wants to be told of each. */
#ifdef __clang__
#define CHROPROF__COLD_BEGIN \
    _Pragma("clang attribute push(__attribute__((cold)), apply_to = function)")
#define CHROPROF__COLD_END _Pragma("clang attribute pop")
#else
#define CHROPROF__COLD_BEGIN
#define CHROPROF__COLD_END
#endif

/* Stores before it are seen before stores after it, by a signal handler, a reader of the mapped
 * block in another process, and whoever opens the block after a crash. */
#if defined(__x86_64__) || defined(__i386__)
#define CHROPROF__STORE_FENCE() __asm__ __volatile__("" ::: "memory")
#elif defined(__GNUC__) && defined(__ATOMIC_RELEASE)
#define CHROPROF__STORE_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#elif defined(_MSC_VER)
#define CHROPROF__STORE_FENCE() MemoryBarrier()
#else
#define CHROPROF__STORE_FENCE() ((void)0)
#endif

/* Loads before it are done before loads after it: for who reads a block that others write. */
#if defined(__GNUC__) && defined(__ATOMIC_ACQUIRE) && !defined(__x86_64__) && !defined(__i386__)
#define CHROPROF__LOAD_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#else
#define CHROPROF__LOAD_FENCE() CHROPROF__STORE_FENCE()
#endif

/* A word of a block, whatever lies there. */
#if defined(__GNUC__)
typedef uint64_t __attribute__((may_alias)) chroprof__word;
#else
typedef uint64_t chroprof__word;
#endif

#ifndef CHROPROF_ASSERT
#define CHROPROF_ASSERT(x) ((void)0)
#endif

#if !defined(CHROPROF_NO_CLOCK) && !defined(CHROPROF_NO_TSC) && defined(__GNUC__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#define CHROPROF__HAS_COUNTER 1
#else
#define CHROPROF__HAS_COUNTER 0
#endif

#if CHROPROF__HAS_COUNTER && defined(__x86_64__)
CHROPROF__INLINE uint64_t chroprof__counter(void)
{
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* CPUID leaf 0x80000007, EDX bit 8: the counter's rate does not follow the core's frequency
 * (AMD64 Architecture Programmer's Manual, volume 3, appendix E). */
static bool chroprof__counter_is_invariant(void)
{
    uint32_t a = 0x80000000u, b, c, d;
    __asm__ __volatile__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    if (a < 0x80000007u)                    /* never: a processor older than that */
        return false;
    a = 0x80000007u;
    __asm__ __volatile__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return (d >> 8 & 1) != 0;
}

static uint64_t chroprof__counter_hz(void)
{
    return 0;                               /* unknown: calibrate */
}
#elif CHROPROF__HAS_COUNTER
CHROPROF__INLINE uint64_t chroprof__counter(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static bool chroprof__counter_is_invariant(void)
{
    return true;                            /* by architecture: Arm ARM, the Generic Timer */
}

static uint64_t chroprof__counter_hz(void)
{
    uint64_t hz;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
#endif

#ifndef CHROPROF_NO_CLOCK
#if defined(_WIN32)
static uint64_t chroprof__monotonic_ns(void *user)
{
    LARGE_INTEGER count, hz;
    (void)user;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&hz);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)hz.QuadPart;
    return c / f * 1000000000u + c % f * 1000000000u / f;
}

static uint64_t chroprof__calendar_ns(void)
{
    FILETIME t;
    GetSystemTimeAsFileTime(&t);            /* 100 ns since 1601 */
    return (((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000u) * 100u;
}
#else
static uint64_t chroprof__posix_ns(clockid_t which)
{
    struct timespec t;
    if (clock_gettime(which, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t chroprof__monotonic_ns(void *user)
{
    (void)user;
    return chroprof__posix_ns(CLOCK_MONOTONIC);
}

static uint64_t chroprof__calendar_ns(void)
{
    return chroprof__posix_ns(CLOCK_REALTIME);
}
#endif
#endif

/* >>util */

/* An index below n that any 64-bit key is spread over evenly: multiplicative hashing (Knuth, TAOCP
 * 3, 6.4) of counters and addresses, with the shift against strides that a lone multiplication
 * lines up (stride 288 took 37 probes on average, now 1.4); the second multiplication replaces a
 * modulo (Lemire, "Fast random integer generation in an interval", 2019), so n need be no power of
 * two. */
CHROPROF__INLINE uint32_t chroprof__hash_index(uint64_t key, uint32_t n)
{
    uint64_t h = (key ^ key >> 5) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(((h >> 32) * n) >> 32);
}

static uint64_t chroprof__minus(uint64_t a, uint64_t b)      /* never below 0 */
{
    return a > b ? a - b : 0;
}

static uint64_t chroprof__or(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

CHROPROF__INLINE void chroprof__raise(uint64_t *maximum, uint64_t value)
{
    if (value > *maximum)
        *maximum = value;
}

/* floor(value * factor / 2^32). */
CHROPROF__INLINE uint64_t chroprof__scale(uint64_t value, uint64_t factor)
{
    uint64_t whole = factor >> 32, part = factor & UINT32_MAX;
    return value * whole + (value >> 32) * part + ((value & UINT32_MAX) * part >> 32);
}

/* floor(value * 2^32 / factor), saturating. */
static uint64_t chroprof__unscale(uint64_t value, uint64_t factor)
{
    uint64_t quotient = value / factor, rest = value % factor;
    if (quotient >> 31)
        return UINT64_MAX >> 1;
    for (int bit = 0; bit < 32; bit++) {
        rest <<= 1;
        quotient = quotient << 1 | (rest >= factor);
        rest -= rest >= factor ? factor : 0;
    }
    return quotient;
}

CHROPROF__INLINE uint32_t chroprof__log2(uint64_t value)     /* value > 0 */
{
#if defined(__GNUC__)
    return 63u ^ (uint32_t)__builtin_clzll(value);
#else
    uint32_t result = 0;
    for (; value > 1; value >>= 1, result++) {}
    return result;
#endif
}

static void chroprof__copy_text(char *to, size_t size, const char *from)
{
    size_t n = 0;
    if (from)
        for (; from[n] && n + 1 < size; n++)
            to[n] = from[n];
    memset(to + n, 0, size - n);
}

/* >>block: everything that lies in the caller's memory. Fixed-width fields, offsets and indices
 * only. */

#define CHROPROF__MAGIC UINT64_C(0x31464F5250524843)     /* "CHRPROF1" in memory, little-endian */
#define CHROPROF__LAYOUT 2u
#define CHROPROF__ALIGN 64u

/* Rows 0 to 2 of the paths and of the sites are these; users' paths begin at 3, sites at 4. */
enum {
    CHROPROF__LOOP = 0, CHROPROF__IDLE = 1, CHROPROF__UNTRACKED = 2, CHROPROF__FIRST_PATH = 3,
    CHROPROF__OTHER = 3, CHROPROF__FIRST_SITE = 4,
    CHROPROF__OWN_STRINGS = 39 /* bytes of "", "..." and the names of these four */
};

/* A live future, or an id that only has frames left (GONE). 32 bytes: two a cache line. */
typedef struct chroprof__future {
    uint64_t id;               /* 0: the slot is empty */
    uint64_t since;            /* of the state */
    uint64_t exec;             /* slices that ended */
    uint32_t path;
    uint16_t frame;            /* the topmost frame of this id, 0: none */
    uint8_t state;             /* chroprof_state, or CHROPROF__GONE */
    uint8_t flags;
} chroprof__future;

enum { CHROPROF__GONE = 255 };
enum { CHROPROF__RESETTING = 255 };    /* an event_state: a reset is under way */
enum { CHROPROF__REMEMBERED = 1, CHROPROF__STARTED = 2 };   /* ready while running; ready again */

/* A frame of the running stack. Number 0 is a barrier that is always there: the loop itself. */
typedef struct chroprof__frame {
    uint64_t id;               /* 0: an enter-frame or a barrier */
    uint64_t pushed;
    uint64_t start;            /* moved on by what was on top of it: t - start = the slice */
    uint64_t excluded;         /* of a base frame: time that is not of its turn */
    uint64_t carried;          /* of an orphan: exec of its future when it lost its record */
    uint32_t path;
    uint32_t slot;             /* index of its id's slot; of a barrier: the floor below it */
    uint32_t same;             /* the next deeper frame of the same id, 0: none */
    uint32_t future;           /* the innermost frame with an id above the barrier, 0: none */
    uint32_t event;            /* seq when it was pushed, modulo 2^32 */
    uint32_t kind;
} chroprof__frame;

enum {
    CHROPROF__FUTURE_FRAME = 1, CHROPROF__ENTER_FRAME = 2, CHROPROF__BARRIER = 4,
    CHROPROF__ORPHAN = 8,      /* its future has finished or was abandoned */
    CHROPROF__NEWEST = 16,     /* the topmost orphan frame of its future */
    CHROPROF__OLDEST = 32,     /* the deepest one */
    CHROPROF__UNKNOWN = 64     /* of an id that was never known: its time is untracked */
};

/* A node of the performance tree. The first line is all that a slice touches. */
typedef struct chroprof__path {
    uint64_t exec;
    uint64_t slices;           /* that ended */
    uint64_t slice_max;
    uint64_t blame;
    uint64_t exec_max;
    uint64_t mark;             /* exec that the windows already hold */
    uint32_t window;           /* tag of the window that exec - mark belongs to */
    uint32_t histogram;        /* row, 0: none */
    uint32_t site;
    uint32_t ready;            /* futures ready just now */
    /* second line: the life of futures; wall and delay are kept as sums of ends minus beginnings */
    uint64_t wall;             /* + live * now */
    uint64_t delay;            /* + ready * now */
    uint64_t calls, completed, failed, cancelled, abandoned, stillborn;
    /* third line: the tree */
    uint64_t live;
    uint32_t parent;
    uint32_t next;             /* preorder successor, 0: the end */
    uint32_t same_site;        /* next path of the same site, 0: the end */
    uint32_t level;            /* distance from the root */
    uint64_t delay_max;
    uint64_t merged_live;      /* live in the profiles that were merged in; part of calls */
    uint64_t reserved[3];
} chroprof__path;

typedef struct chroprof__site {
    uint64_t handle[3];        /* a chroprof_site of this process, for chroprof_site_make */
    uint64_t hash;             /* of the full content */
    uint32_t name, file;       /* offsets in the strings */
    uint32_t line;
    uint32_t first_path;
    uint32_t next;             /* in its bucket by content */
    uint32_t next_file;        /* in its bucket by file; only the first site of a file is in one */
    uint32_t cut;              /* a string did not fit */
    uint32_t blurred;          /* by a merge: some of its slices are in no histogram */
} chroprof__site;

/* Where a chroprof_site was seen in this process: a cache before the comparison of contents. */
enum { CHROPROF__ALIAS_PLACES = 4 };   /* of an address, in a table that is at most half full */
typedef struct chroprof__alias {
    uint64_t address, name, file;
    uint32_t line;
    uint32_t site;             /* 0: empty */
} chroprof__alias;

/* (path, site) -> path: a creation or a fold that was seen before. */
typedef struct chroprof__edge {
    uint32_t path, site;       /* site 0: empty */
    uint32_t target;
    uint32_t reserved;
} chroprof__edge;

/* Log-linear: 8 buckets an octave (Gil Tene's HdrHistogram, with 3 bits), so the middle of a bucket
 * is within 1/16 of all it holds. */
enum { CHROPROF__BUCKETS = 40 * 8 + 8 + 1 };
typedef struct chroprof__histogram {
    uint64_t min;              /* the maximum is kept with the figures it belongs to */
    uint64_t count[CHROPROF__BUCKETS];
} chroprof__histogram;

/* Of a site: its slices and its delays. Row 0 is the loop's: its turns and its passes. */
typedef struct chroprof__histograms {
    chroprof__histogram slice;
    chroprof__histogram delay;
} chroprof__histograms;

typedef struct chroprof__slice {
    uint64_t exec;
    uint64_t id;
    uint32_t path;
    uint32_t reserved;
} chroprof__slice;

/* Samples inside one turn or pass. */
typedef struct chroprof__hits {
    uint32_t owner;            /* which one: the event of its base frame, or that began the pass */
    uint32_t count;
    uint32_t stack[CHROPROF_STALL_SAMPLES];
    uint32_t weight[CHROPROF_STALL_SAMPLES];
    uint64_t cpu[CHROPROF_STALL_SAMPLES];
    uint64_t sampled, cpu_ns, waiting_ns;
} chroprof__hits;

typedef struct chroprof__stall {
    uint64_t serial;           /* from 1; 0: the row is empty */
    uint64_t start, length;
    uint64_t events;
    uint32_t kind;
    uint32_t slice_count;
    chroprof__slice slices[CHROPROF_STALL_SLICES];
    chroprof__hits hits;
} chroprof__stall;

/* The biggest slices of a turn or pass under way. A slice no longer than floor has no chance. */
typedef struct chroprof__biggest {
    uint64_t floor;
    uint32_t count;
    uint32_t owner;            /* of a turn: the event of its base frame */
    chroprof__slice slices[CHROPROF_STALL_SLICES];
} chroprof__biggest;

/* One interval that was billed; it began where the one before it ended. */
typedef struct chroprof__interval {
    uint64_t end;
    uint64_t account;
} chroprof__interval;

enum { CHROPROF__INTERVALS = 64, CHROPROF__LEVELS = 4, CHROPROF__NAME_BYTES = 64 };
/* What an event keeps back for the histograms; a slice without one has row 0. */
enum { CHROPROF__HELD_SLICE = 1, CHROPROF__HELD_TURN = 2, CHROPROF__HELD_DELAY = 4 };

/* Tables beyond those that are public. */
enum {
    CHROPROF__ALIASES = CHROPROF_TABLE_COUNT,
    CHROPROF__HEADS,           /* buckets of the sites: by content, then by file */
    CHROPROF__STACKS,          /* these four are there if there are samples */
    CHROPROF__MODULES,
    CHROPROF__WALLS,
    CHROPROF__SAMPLER,
    CHROPROF__TABLES
};

typedef struct chroprof__sample {
    uint64_t time, duration;
    uint64_t weight;
    uint64_t cpu_ns;
    uint32_t stack;            /* node, 0: none */
    uint32_t state;            /* chroprof_sample_state */
} chroprof__sample;

/* What a node of the stacks and an entry of the ring hold: a kind above 56 bits of value. */
enum { CHROPROF__PC, CHROPROF__RETURN, CHROPROF__TASK, CHROPROF__MARK };
enum {
    CHROPROF__MARK_INSIDE = 1, CHROPROF__MARK_CUT, CHROPROF__MARK_STACK, CHROPROF__MARK_DEEP,
    CHROPROF__MARK_IDLE, CHROPROF__MARK_LOOP, CHROPROF__MARKS
};

/* A node of the tree of sampled stacks, which only grows. Number 0 is the stack that has no frames;
 * it also takes what a full table would lose. */
typedef struct chroprof__node {
    uint64_t item;
    uint64_t weight, cpu_ns;   /* of the samples that end here */
    uint32_t parent;           /* a lower number */
    uint32_t next;             /* in its bucket */
    uint32_t head;             /* of the bucket of this number */
    uint32_t module;           /* row + 1; 0: not known */
} chroprof__node;

enum { CHROPROF__MODULE_PATH = 184, CHROPROF__BUILD_ID = 48 };
typedef struct chroprof__module {
    uint64_t low, high;        /* addresses */
    uint64_t base;             /* load bias */
    char build_id[CHROPROF__BUILD_ID];
    char path[CHROPROF__MODULE_PATH];
} chroprof__module;

/* Of a path: weight and ticks of its futures that were met running, ready, paused. */
typedef struct chroprof__wall {
    uint64_t weight[3];
    uint64_t ticks[3];
} chroprof__wall;

/* Whom a frame of the running stack was begun by: three native frames, as hashes. */
typedef struct chroprof__note {
    uint32_t event;            /* of the frame, so that an old note is not taken for its */
    uint32_t keys[3];
} chroprof__note;

/* A tick that waits for the next event. */
enum { CHROPROF__ITEMS = 56, CHROPROF__NOTED_TASKS = 16, CHROPROF__DRAWS = 8 };
typedef struct chroprof__entry {
    uint64_t stamp;            /* of the clock; 0: not known */
    uint64_t last;             /* of the last tick that this one stands for */
    uint64_t weight;
    uint64_t cpu_ns;
    uint64_t wall_ns;          /* since the tick before; 0: since the sample before */
    uint64_t draws;            /* ticks that ask for a draw of futures */
    uint32_t count;
    uint32_t state;
    uint64_t reserved;
    uint64_t items[CHROPROF__ITEMS];       /* the innermost first */
} chroprof__entry;

/* A future that was drawn: which event was the last one then, and when. */
typedef struct chroprof__drawn {
    uint64_t id, seq, time;
} chroprof__drawn;

enum { CHROPROF__HITS = 5 };   /* of the turns of LEVELS nested loops and of the pass */

/* The sampler's state. The notes follow it, then the ring of entries. */
typedef struct chroprof__sampler {
    /* changed by the loop's own calls */
    uint64_t samples, inside, dropped;
    uint64_t dropped_cpu_ns;
    uint64_t head;             /* row of the next sample */
    uint64_t latest;           /* end of the newest row */
    uint64_t draws, misses;
    uint64_t random;
    uint64_t module_at;        /* profile time before which the modules are not read again */
    uint64_t taken;            /* entries that were drained */
    uint64_t low, high;        /* the thread's stack */
    uint64_t fiber_low, fiber_high;
    /* changed by the handler */
    uint64_t put;              /* entries that were made */
    uint64_t ticks, lost, cost_ns;
    uint64_t cpu, stamp;       /* at the end of the tick before */
    uint64_t idle_cpu;         /* too little to begin a row while the loop slept */
    uint64_t window_ticks, window_cost;    /* since the budget was last looked at */
    uint64_t period_ns;
    /* settings */
    uint64_t first_period_ns, budget_ppm, mode, jitter;
    uint64_t armed;            /* the value of the timer's signal; 0: there is none */
    uint64_t pid, timer, running, counter;
    uint64_t unwind, unwind_user;          /* of this process */
    chroprof__drawn drawn[CHROPROF__DRAWS];
    chroprof__hits hits[CHROPROF__HITS];
} chroprof__sampler;

typedef struct chroprof__table {
    uint64_t offset;           /* from the core */
    uint64_t bytes;
    uint64_t used, peak;
    uint64_t dropped;
    uint64_t wanted;           /* depth: most hidden frames; strings: bytes cut off; sites, paths,
                                  edges: a bitmap of what was dropped, to tell how many differed */
    uint32_t capacity;         /* what the option says */
    uint32_t rows;             /* what that takes */
} chroprof__table;

/* The start of the block. Each comment opens a cache line. */
typedef struct chroprof__core {
    /* what it is */
    uint64_t magic;
    uint32_t layout;
    uint32_t order;            /* 0x01020304 as the writer has it */
    uint64_t block_bytes;
    uint32_t core_bytes;
    uint32_t pointer_bytes;
    uint64_t pid, boot_ns;     /* calendar time of the monotonic clock's 0 */
    uint64_t start_unix_ns;    /* calendar time of profile time 0 */
    uint64_t start_clock;
    /* the event in progress: seq is odd inside an event, and two events further after it */
    uint64_t seq;
    uint64_t event_id;
    uint64_t event_now;
    uint32_t event_state;
    uint32_t event_account;    /* whom its interval is billed to */
    uint64_t seq_base;         /* seq at the last reset */
    uint64_t edits;            /* odd while something is changed outside an event */
    uint64_t window_phase;     /* of a difference: ticks of window 0 that lie before time 0 */
    uint64_t merged_events;    /* of the profiles that were merged in */
    /* what an event touches */
    uint64_t epoch;            /* clock - epoch = profile time */
    uint64_t last;             /* profile time of the last event = elapsed */
    uint64_t horizon;          /* at or beyond it the slow way is taken */
    uint32_t account;          /* path on top, or loop, idle, untracked */
    uint32_t depth;
    uint32_t floor;            /* the innermost barrier, 0: none */
    uint32_t level;            /* barriers on the stack */
    uint64_t ready;            /* futures ready just now */
    uint32_t window;           /* tag: level << 16 | index */
    uint32_t held;             /* what the next event adds to the histograms */
    uint64_t held_slice;
    /* more of it */
    uint64_t held_turn;
    uint64_t held_delay;
    uint32_t held_slice_row, held_delay_row;
    uint64_t stall_ticks;
    uint64_t turns, turn_max;
    uint64_t hidden_since;
    uint32_t hidden;           /* frames beyond max_depth */
    uint32_t foreign;          /* addresses of other processes were merged in */
    /* rare */
    uint64_t window_end, window_ticks;     /* the current width */
    uint64_t max_step_ticks;
    uint64_t passes, pass_max;
    uint64_t stalls;
    uint64_t started;          /* the epoch is known */
    uint64_t pass_active, pass_start;
    uint64_t pass_event;       /* the number of the event that began it */
    uint64_t ever_dropped;     /* a future did not fit, once */
    uint64_t enabled;
    /* time */
    uint64_t factor;           /* ns a tick, 32 bits of fraction */
    uint64_t calibrated;
    uint64_t calibrate_at;     /* profile time */
    uint64_t calibrate_counter, calibrate_ns;
    uint64_t error_ppb;
    uint64_t manual;
    uint64_t window_ns, stall_ns, max_step_ns;
    /* who */
    char name[CHROPROF__NAME_BYTES];
    char host[CHROPROF__NAME_BYTES];
    char program[CHROPROF__NAME_BYTES];
    /* of a mapped file */
    uint64_t owner_start;      /* when its process began, 0: not known */
    uint64_t in_file;          /* by chroprof_map */
    uint64_t ended;            /* it was unmapped */
    /* of a copy */
    uint64_t skew_ticks, skew_events;      /* that went on meanwhile */
    uint64_t doubt_ticks, doubt_events;    /* of the event that was cut short */
    uint64_t anomalies[32];
    chroprof__table tables[CHROPROF__TABLES];
    chroprof__biggest pass;
    chroprof__biggest turn[CHROPROF__LEVELS];
    chroprof__stall due[2];    /* stalls that the event under way ended: a turn, a pass */
    chroprof__interval intervals[CHROPROF__INTERVALS];
} chroprof__core;

#define CHROPROF__STATIC_ASSERT(name, condition) \
    typedef char chroprof__assert_##name[(condition) ? 1 : -1] CHROPROF__UNUSED
CHROPROF__STATIC_ASSERT(future, sizeof(chroprof__future) == 32);
CHROPROF__STATIC_ASSERT(frame, sizeof(chroprof__frame) == 64);
CHROPROF__STATIC_ASSERT(path, sizeof(chroprof__path) == 192);
CHROPROF__STATIC_ASSERT(path_line, offsetof(chroprof__path, wall) == 64);
CHROPROF__STATIC_ASSERT(path_tree, offsetof(chroprof__path, live) == 128);
CHROPROF__STATIC_ASSERT(site, sizeof(chroprof__site) == 64);
CHROPROF__STATIC_ASSERT(alias, sizeof(chroprof__alias) == 32);
CHROPROF__STATIC_ASSERT(edge, sizeof(chroprof__edge) == 16);
CHROPROF__STATIC_ASSERT(histograms, sizeof(chroprof__histograms) == 2 * 8 * (1 + 329));
CHROPROF__STATIC_ASSERT(hits, sizeof(chroprof__hits) == 32 + 16 * CHROPROF_STALL_SAMPLES);
CHROPROF__STATIC_ASSERT(stall, sizeof(chroprof__stall) ==
                               40 + 24 * CHROPROF_STALL_SLICES + sizeof(chroprof__hits));
CHROPROF__STATIC_ASSERT(sample, sizeof(chroprof__sample) == 40);
CHROPROF__STATIC_ASSERT(node, sizeof(chroprof__node) == 40);
CHROPROF__STATIC_ASSERT(module, sizeof(chroprof__module) == 256);
CHROPROF__STATIC_ASSERT(wall, sizeof(chroprof__wall) == 48);
CHROPROF__STATIC_ASSERT(note, sizeof(chroprof__note) == 16);
CHROPROF__STATIC_ASSERT(entry, sizeof(chroprof__entry) == 64 + 8 * CHROPROF__ITEMS);
CHROPROF__STATIC_ASSERT(sampler, sizeof(chroprof__sampler) == 36 * 8 + 24 * CHROPROF__DRAWS +
                                 sizeof(chroprof__hits) * CHROPROF__HITS);
CHROPROF__STATIC_ASSERT(core, sizeof(chroprof__core) == 3880);
CHROPROF__STATIC_ASSERT(event_line, offsetof(chroprof__core, seq) == 64);
CHROPROF__STATIC_ASSERT(hot_line, offsetof(chroprof__core, epoch) == 128);
CHROPROF__STATIC_ASSERT(warm_line, offsetof(chroprof__core, held_turn) == 192);
CHROPROF__STATIC_ASSERT(anomalies, CHROPROF_ANOMALY_COUNT <= 32);
CHROPROF__STATIC_ASSERT(handle, sizeof(chroprof_site) <= 24);

CHROPROF__INLINE void *chroprof__rows(const chroprof__core *c, uint32_t table)
{
    return (char *)(uintptr_t)c + c->tables[table].offset;
}

CHROPROF__INLINE chroprof__site *chroprof__sites(const chroprof__core *c)
{
    return (chroprof__site *)chroprof__rows(c, CHROPROF_TABLE_SITES);
}

CHROPROF__INLINE chroprof__histograms *chroprof__histogram_rows(const chroprof__core *c)
{
    return (chroprof__histograms *)chroprof__rows(c, CHROPROF_TABLE_HISTOGRAMS);
}

CHROPROF__INLINE chroprof__stall *chroprof__stall_rows(const chroprof__core *c)
{
    return (chroprof__stall *)chroprof__rows(c, CHROPROF_TABLE_STALLS);
}

CHROPROF__INLINE chroprof__sample *chroprof__sample_rows(const chroprof__core *c)
{
    return (chroprof__sample *)chroprof__rows(c, CHROPROF_TABLE_SAMPLES);
}

CHROPROF__INLINE chroprof__node *chroprof__nodes(const chroprof__core *c)
{
    return (chroprof__node *)chroprof__rows(c, CHROPROF__STACKS);
}

CHROPROF__INLINE chroprof__module *chroprof__modules(const chroprof__core *c)
{
    return (chroprof__module *)chroprof__rows(c, CHROPROF__MODULES);
}

CHROPROF__INLINE chroprof__wall *chroprof__walls(const chroprof__core *c)
{
    return (chroprof__wall *)chroprof__rows(c, CHROPROF__WALLS);
}

/* NULL: there are no samples. */
CHROPROF__INLINE chroprof__sampler *chroprof__sampler_of(const chroprof__core *c)
{
    return c->tables[CHROPROF__SAMPLER].rows
        ? (chroprof__sampler *)chroprof__rows(c, CHROPROF__SAMPLER) : NULL;
}

CHROPROF__INLINE const char *chroprof__string(const chroprof__core *c, uint32_t offset)
{
    return (const char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + offset;
}

/* >>layout: from options to capacities, from capacities to offsets. */

#ifdef CHROPROF_NO_SAMPLER
enum { CHROPROF__SAMPLE_SHARE = 0, CHROPROF__DEFAULT_SAMPLES = 0 };
#else
enum { CHROPROF__SAMPLE_SHARE = 80, CHROPROF__DEFAULT_SAMPLES = 128 };
#endif

static const uint32_t chroprof__default_capacity[CHROPROF_TABLE_COUNT] = {
    1024, 64, 256, 512, 64, 32, CHROPROF__DEFAULT_SAMPLES, 120, 32, 4096
};

/* Of a block that is shared out: how many thousandths each table gets, and what it can't use more
 * of. */
static const uint32_t chroprof__share[CHROPROF_TABLE_COUNT] = {
    320 - CHROPROF__SAMPLE_SHARE, 30, 200, 60, 20, 200, CHROPROF__SAMPLE_SHARE, 120, 15, 35
};
static const uint32_t chroprof__share_limit[CHROPROF_TABLE_COUNT] = {
    1u << 28, 1u << 20, 1u << 24, 1u << 25, 1024, 4096, 4096, 240, 64, 1u << 24
};

static const uint32_t chroprof__row_bytes[CHROPROF__TABLES] = {
    sizeof(chroprof__future), sizeof(chroprof__site), sizeof(chroprof__path),
    sizeof(chroprof__edge), sizeof(chroprof__frame), sizeof(chroprof__histograms),
    sizeof(chroprof__sample), 8, sizeof(chroprof__stall), 1, sizeof(chroprof__alias), 4,
    sizeof(chroprof__node), sizeof(chroprof__module), sizeof(chroprof__wall), CHROPROF__ALIGN
};

static void chroprof__capacities(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    capacity[CHROPROF_TABLE_FUTURES] = o->max_futures;
    capacity[CHROPROF_TABLE_SITES] = o->max_sites;
    capacity[CHROPROF_TABLE_PATHS] = o->max_paths;
    capacity[CHROPROF_TABLE_EDGES] = o->max_edges;
    capacity[CHROPROF_TABLE_DEPTH] = o->max_depth;
    capacity[CHROPROF_TABLE_HISTOGRAMS] = o->max_histograms;
    capacity[CHROPROF_TABLE_SAMPLES] = o->max_samples;
    capacity[CHROPROF_TABLE_WINDOWS] = o->max_windows;
    capacity[CHROPROF_TABLE_STALLS] = o->max_stalls;
    capacity[CHROPROF_TABLE_STRINGS] = o->string_bytes;
}

static bool chroprof__within_limits(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        bool narrow = k == CHROPROF_TABLE_DEPTH || k == CHROPROF_TABLE_WINDOWS;
        if (capacity[k] > (narrow ? 65000u : 1u << 28))
            return false;
    }
    return true;
}

static uint64_t chroprof__aligned(uint64_t bytes)
{
    return (bytes + CHROPROF__ALIGN - 1) / CHROPROF__ALIGN * CHROPROF__ALIGN;
}

static uint64_t chroprof__between(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* How many ticks may wait for the next event. */
static uint64_t chroprof__entry_count(uint64_t samples)
{
    return chroprof__between(samples / 4, 2, 32);
}

static uint64_t chroprof__note_bytes(uint64_t depth)
{
    return chroprof__aligned((depth + 1) * sizeof(chroprof__note));
}

/* Rows of the tables that belong to the samples. */
static uint64_t chroprof__sample_table_rows(uint32_t table,
                                            const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t samples = capacity[CHROPROF_TABLE_SAMPLES];
    if (samples == 0)
        return 0;
    switch (table) {
    case CHROPROF__STACKS: return 4 * samples + 1;
    case CHROPROF__MODULES: return chroprof__between(samples / 4, 2, 32);
    case CHROPROF__WALLS: return CHROPROF__FIRST_PATH +
                                 chroprof__between(capacity[CHROPROF_TABLE_PATHS], 0, 4 * samples);
    default: return (chroprof__aligned(sizeof(chroprof__sampler)) +
                     chroprof__note_bytes(capacity[CHROPROF_TABLE_DEPTH]) +
                     chroprof__entry_count(samples) * sizeof(chroprof__entry)) / CHROPROF__ALIGN;
    }
}

/* Rows that a table takes for these capacities. The futures' slots are half empty, leave room for
 * ids that only have frames, and never fill up, so a probe always ends. */
static uint64_t chroprof__table_rows(uint32_t table, const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t n = table < CHROPROF_TABLE_COUNT ? capacity[table] : 0;
    uint64_t sites = (uint64_t)capacity[CHROPROF_TABLE_SITES] + CHROPROF__FIRST_SITE;
    switch (table) {
    case CHROPROF_TABLE_FUTURES: return 2 * n + capacity[CHROPROF_TABLE_DEPTH] + 2;
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return n + CHROPROF__FIRST_PATH;
    case CHROPROF_TABLE_EDGES: return 2 * n + 2;
    case CHROPROF_TABLE_DEPTH: return n + 1;
    case CHROPROF_TABLE_HISTOGRAMS: return n ? n + 1 : 0;
    case CHROPROF_TABLE_WINDOWS: return (n + 1) * sites;
    case CHROPROF_TABLE_STRINGS: return n + CHROPROF__OWN_STRINGS;
    case CHROPROF__ALIASES: return 2 * sites;
    case CHROPROF__HEADS: return 2 * sites;
    default: return table < CHROPROF_TABLE_COUNT ? n : chroprof__sample_table_rows(table, capacity);
    }
}

/* Fills in the tables' places; returns the bytes of the block, UINT64_MAX if a row number
 * overflows. */
static uint64_t chroprof__layout(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                 chroprof__table tables[CHROPROF__TABLES])
{
    uint64_t at = chroprof__aligned(sizeof(chroprof__core));
    for (uint32_t k = 0; k < CHROPROF__TABLES; k++) {
        uint64_t rows = chroprof__table_rows(k, capacity);
        if (rows > UINT32_MAX)
            return UINT64_MAX;
        tables[k].offset = at;
        tables[k].bytes = rows * chroprof__row_bytes[k];
        tables[k].rows = (uint32_t)rows;
        tables[k].capacity = k < CHROPROF_TABLE_COUNT ? capacity[k] : (uint32_t)rows;
        at += chroprof__aligned(tables[k].bytes);
    }
    return at;
}

/* Bytes of all tables. */
static uint64_t chroprof__sum_bytes(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < CHROPROF__TABLES; k++)
        bytes += chroprof__table_rows(k, capacity) * chroprof__row_bytes[k];
    return bytes;
}

/* What one more row of a table costs. */
static uint64_t chroprof__unit_bytes(uint32_t table, const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint32_t more[CHROPROF_TABLE_COUNT];
    memcpy(more, capacity, sizeof(more));
    more[table]++;
    return chroprof__sum_bytes(more) - chroprof__sum_bytes(capacity);
}

/* What even a small block should hold of each, before the rest is shared out. */
static const uint32_t chroprof__first_need[CHROPROF_TABLE_COUNT] = {
    8, 8, 12, 16, 8, 0, 0, 4, 2, 160
};

/* What so many samples take, all tables of theirs. */
static uint64_t chroprof__sample_bytes(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                       uint32_t samples)
{
    uint32_t more[CHROPROF_TABLE_COUNT];
    memcpy(more, capacity, sizeof(more));
    more[CHROPROF_TABLE_SAMPLES] = samples;
    uint64_t with = chroprof__sum_bytes(more);
    more[CHROPROF_TABLE_SAMPLES] = 0;
    return with - chroprof__sum_bytes(more);
}

/* Fewer samples than these are no use. */
enum { CHROPROF__FEW_SAMPLES = 16 };

/* How many samples so many bytes hold. */
static uint32_t chroprof__samples_in(const uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t bytes)
{
    uint32_t samples = chroprof__share_limit[CHROPROF_TABLE_SAMPLES];
    while (samples > 0 && chroprof__sample_bytes(capacity, samples) > bytes)
        samples -= (samples + 7) / 8;
    return samples;
}

/* Raises the open capacities to that, or to as many sixteenths of it as fit. */
static void chroprof__meet_need(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table tables[CHROPROF__TABLES];
    for (uint32_t part = 16; part > 0; part--) {
        uint32_t more[CHROPROF_TABLE_COUNT];
        for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
            uint32_t need = chroprof__first_need[k] * part / 16;
            more[k] = open[k] && need > capacity[k] ? need : capacity[k];
        }
        if (chroprof__layout(more, tables) > size)
            continue;
        memcpy(capacity, more, sizeof(more));
        return;
    }
}

/* Gives each open capacity its share of the bytes that are left. */
static void chroprof__share_rest(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                 const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table tables[CHROPROF__TABLES];
    uint64_t least = chroprof__layout(capacity, tables) + CHROPROF__TABLES * CHROPROF__ALIGN;
    uint64_t budget = size > least ? size - least : 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        if (k == CHROPROF_TABLE_SAMPLES)
            continue;
        bool rows = k == CHROPROF_TABLE_HISTOGRAMS;
        uint64_t unit = rows ? sizeof(chroprof__histograms) : chroprof__unit_bytes(k, capacity);
        uint64_t more = budget / 1000 * chroprof__share[k] / unit;
        if (rows && more > 0)
            more--;                         /* the loop's own row */
        uint64_t room = chroprof__minus(chroprof__share_limit[k], capacity[k]);
        if (open[k])
            capacity[k] += (uint32_t)(more < room ? more : room);
    }
    uint64_t bytes = budget / 1000 * CHROPROF__SAMPLE_SHARE;
    uint32_t samples = chroprof__samples_in(capacity, bytes);
    if (open[CHROPROF_TABLE_SAMPLES] && samples > capacity[CHROPROF_TABLE_SAMPLES])
        capacity[CHROPROF_TABLE_SAMPLES] = samples;    /* last: it hangs on paths and depth */
}

/* Shares a block out over the capacities that are 0; what their limits leave over goes to the
 * futures. False: the block is too small. */
static bool chroprof__share_out(uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table tables[CHROPROF__TABLES];
    bool open[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        open[k] = capacity[k] == 0;
        if (open[k] && k != CHROPROF_TABLE_HISTOGRAMS && k != CHROPROF_TABLE_SAMPLES)
            capacity[k] = 1;
    }
    chroprof__meet_need(capacity, open, size);
    if (open[CHROPROF_TABLE_SAMPLES] && CHROPROF__SAMPLE_SHARE > 0 &&
        chroprof__sample_bytes(capacity, CHROPROF__FEW_SAMPLES) <= size / 8)
        capacity[CHROPROF_TABLE_SAMPLES] = CHROPROF__FEW_SAMPLES;
    chroprof__share_rest(capacity, open, size);
    uint64_t left = chroprof__minus(size, chroprof__layout(capacity, tables) + CHROPROF__ALIGN);
    uint64_t more = left / (2 * sizeof(chroprof__future));
    uint64_t room = chroprof__minus(chroprof__share_limit[CHROPROF_TABLE_FUTURES],
                                    capacity[CHROPROF_TABLE_FUTURES]);
    if (open[CHROPROF_TABLE_FUTURES])
        capacity[CHROPROF_TABLE_FUTURES] += (uint32_t)(more < room ? more : room);
    return chroprof__layout(capacity, tables) <= size;
}

/* >>tables: strings, sites, futures, edges and paths. */

CHROPROF__INLINE void chroprof__count(chroprof__core *c, chroprof_anomaly_kind kind)
{
    c->anomalies[kind]++;
}

/* Something with this key did not fit. */
static void chroprof__lose(chroprof__table *table, uint64_t key)
{
    table->dropped++;
    table->wanted |= UINT64_C(1) << chroprof__hash_index(key ^ key >> 32, 64);
}

static uint64_t chroprof__hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);    /* FNV-1a */
    return (hash ^ 0xFF) * UINT64_C(0x100000001B3);
}

/* The most bytes of text, no more than room, that do not end inside a UTF-8 sequence. */
static size_t chroprof__whole_characters(const char *text, size_t room)
{
    while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80)
        room--;
    return room;
}

/* Copies a string in; one that does not fit is cut and ends in "...". Offset 0 is "", 1 is
 * "...". */
static uint32_t chroprof__add_string(chroprof__core *c, const char *text, bool *cut)
{
    chroprof__table *table = &c->tables[CHROPROF_TABLE_STRINGS];
    size_t length = strlen(text), room = (size_t)(table->bytes - table->used);
    char *to = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + table->used;
    if (length == 0)
        return 0;
    *cut = length + 1 > room;
    if (*cut) {
        table->dropped++;
        table->wanted += length + 1;
        if (room < 5)
            return 1;
        length = chroprof__whole_characters(text, room - 4);
        memcpy(to + length, "...", 4);
    }
    memcpy(to, text, length);
    uint32_t offset = (uint32_t)table->used;
    table->used += *cut ? length + 4 : length + 1;
    table->peak = table->used;
    to[length] = *cut ? '.' : '\0';
    return offset;
}

/* The offset of a file name, shared by the sites of one file. */
static uint32_t chroprof__add_file(chroprof__core *c, chroprof__site *site, const char *file)
{
    chroprof__site *sites = chroprof__sites(c);
    uint32_t *heads = (uint32_t *)chroprof__rows(c, CHROPROF__HEADS);
    uint32_t half = c->tables[CHROPROF__HEADS].rows / 2;
    uint32_t *head = heads + half + chroprof__hash_index(chroprof__hash_text(0, file), half);
    bool cut = false;
    for (uint32_t k = *head; k; k = sites[k].next_file)
        if (strcmp(chroprof__string(c, sites[k].file), file) == 0)
            return sites[k].file;
    uint32_t offset = chroprof__add_string(c, file, &cut);
    site->cut |= cut;
    site->next_file = *head;
    *head = (uint32_t)(site - sites);
    return offset;
}

static bool chroprof__same_site(const chroprof__core *c, const chroprof__site *row, uint64_t hash,
                                const char *name, const char *file, uint32_t line)
{
    if (row->hash != hash || row->line != line)
        return false;
    return row->cut || (strcmp(chroprof__string(c, row->name), name) == 0 &&
                        strcmp(chroprof__string(c, row->file), file) == 0);
}

/* Makes row number k of the sites; the caller has checked that there is room. */
static void chroprof__new_site(chroprof__core *c, uint32_t k, uint64_t hash, const char *name,
                               const char *file, uint32_t line)
{
    chroprof__site *row = chroprof__sites(c) + k;
    uint32_t *heads = (uint32_t *)chroprof__rows(c, CHROPROF__HEADS);
    uint32_t *head = heads + chroprof__hash_index(hash, c->tables[CHROPROF__HEADS].rows / 2);
    bool cut = false;
    memset(row, 0, sizeof(*row));
    row->hash = hash;
    row->line = line;
    row->name = chroprof__add_string(c, name, &cut);
    row->cut = cut;
    row->file = chroprof__add_file(c, row, file);
    row->next = *head;
    *head = k;
    chroprof_site handle;
    memset(&handle, 0, sizeof(handle));     /* its padding too: the block may be a file */
    handle.name = chroprof__string(c, row->name);
    handle.file = chroprof__string(c, row->file);
    handle.line = line;
    memcpy(row->handle, &handle, sizeof(handle));
}

/* The row of a site by its content, new if need be; "(other)" when the table is full. */
CHROPROF__COLD uint32_t chroprof__intern_site(chroprof__core *c, const char *name, const char *file,
                                              uint32_t line)
{
    chroprof__site *sites = chroprof__sites(c);
    chroprof__table *table = &c->tables[CHROPROF_TABLE_SITES];
    uint64_t hash = chroprof__hash_text(chroprof__hash_text(line, name), file);
    uint32_t *heads = (uint32_t *)chroprof__rows(c, CHROPROF__HEADS);
    uint32_t k = heads[chroprof__hash_index(hash, c->tables[CHROPROF__HEADS].rows / 2)];
    for (; k; k = sites[k].next)
        if (chroprof__same_site(c, sites + k, hash, name, file, line))
            return k;
    if (table->used == table->capacity) {
        chroprof__lose(table, hash);
        return CHROPROF__OTHER;
    }
    table->used++;
    table->peak = table->used;
    k = (uint32_t)table->used + CHROPROF__FIRST_SITE - 1;
    chroprof__new_site(c, k, hash, name, file, line);
    return k;
}

CHROPROF__INLINE bool chroprof__is_alias(const chroprof__alias *a, const chroprof_site *site)
{
    return a->address == (uint64_t)(uintptr_t)site && a->name == (uint64_t)(uintptr_t)site->name &&
           a->file == (uint64_t)(uintptr_t)site->file && a->line == site->line;
}

/* The row of a site that was seen before, at one of the few places of its address; 0: none. */
CHROPROF__INLINE uint32_t chroprof__known_site(const chroprof__core *c, const chroprof_site *site)
{
    const chroprof__alias *aliases = (const chroprof__alias *)chroprof__rows(c, CHROPROF__ALIASES);
    uint32_t rows = c->tables[CHROPROF__ALIASES].rows;
    uint32_t k = chroprof__hash_index((uintptr_t)site, rows);
    if (CHROPROF__LIKELY(chroprof__is_alias(aliases + k, site)))
        return aliases[k].site;
    for (uint32_t places = 1; places < CHROPROF__ALIAS_PLACES; places++) {
        k = k + 1 < rows ? k + 1 : 0;
        if (chroprof__is_alias(aliases + k, site))
            return aliases[k].site;
    }
    return 0;
}

/* Where a site is to be remembered: over what its address meant before, in an empty place, or over
 * what has the first one. */
static chroprof__alias *chroprof__alias_place(const chroprof__core *c, const chroprof_site *site)
{
    chroprof__alias *aliases = (chroprof__alias *)chroprof__rows(c, CHROPROF__ALIASES);
    uint32_t rows = c->tables[CHROPROF__ALIASES].rows;
    uint32_t home = chroprof__hash_index((uintptr_t)site, rows), k = home;
    for (uint32_t places = 0; places < CHROPROF__ALIAS_PLACES; places++) {
        if (aliases[k].site == 0 || aliases[k].address == (uint64_t)(uintptr_t)site)
            return aliases + k;
        k = k + 1 < rows ? k + 1 : 0;
    }
    return aliases + home;
}

/* The same for one that was not; remembered from now on. */
CHROPROF__COLD uint32_t chroprof__site_miss(chroprof__core *c, const chroprof_site *site)
{
    static const char unnamed[] = "(unnamed)";
    uint32_t k = chroprof__intern_site(c, site->name ? site->name : unnamed,
                                       site->file ? site->file : "", site->line);
    if (k == CHROPROF__OTHER)
        return k;                           /* not remembered, so that each miss is counted */
    chroprof__alias *alias = chroprof__alias_place(c, site);
    alias->address = (uint64_t)(uintptr_t)site;
    alias->name = (uint64_t)(uintptr_t)site->name;
    alias->file = (uint64_t)(uintptr_t)site->file;
    alias->line = site->line;
    alias->site = k;
    return k;
}

CHROPROF__INLINE uint32_t chroprof__site_index(chroprof__core *c, const chroprof_site *site)
{
    uint32_t k = chroprof__known_site(c, site);
    return CHROPROF__LIKELY(k) ? k : chroprof__site_miss(c, site);
}

/* The slot where the search for an id begins. */
CHROPROF__INLINE chroprof__future *chroprof__home(const chroprof *p, uint64_t id)
{
    return p->futures + chroprof__hash_index(id, p->slots);
}

CHROPROF__INLINE chroprof__future *chroprof__next_slot(const chroprof *p, chroprof__future *slot)
{
    return slot + 1 < p->futures + p->slots ? slot + 1 : p->futures;
}

/* The slot of an id, or the empty slot where it would be. */
CHROPROF__INLINE chroprof__future *chroprof__find_from(const chroprof *p, uint64_t id,
                                                       chroprof__future *home)
{
    chroprof__future *slot = home;
    if (CHROPROF__LIKELY(slot->id == id))
        return slot;
    while (slot->id != id && slot->id != 0)
        slot = chroprof__next_slot(p, slot);
    return slot;
}

CHROPROF__INLINE chroprof__future *chroprof__find(const chroprof *p, uint64_t id)
{
    return chroprof__find_from(p, id, chroprof__home(p, id));
}

/* Tells the frames of a slot where it lies. */
static void chroprof__moved(const chroprof *p, uint32_t slot)
{
    for (uint32_t k = p->futures[slot].frame; k; k = p->frames[k].same)
        p->frames[k].slot = slot;
}

/* Frees a slot; later ones of its cluster move back, so that no tombstone is left (Knuth, TAOCP 3,
 * 6.4, algorithm R). */
CHROPROF__INLINE void chroprof__free_slot(const chroprof *p, chroprof__future *slot)
{
    uint32_t rows = p->core->tables[CHROPROF_TABLE_FUTURES].rows;
    uint32_t hole = (uint32_t)(slot - p->futures), k = hole;
    for (;;) {
        k = k + 1 < rows ? k + 1 : 0;
        if (CHROPROF__LIKELY(p->futures[k].id == 0))
            break;
        uint32_t home = chroprof__hash_index(p->futures[k].id, rows);
        uint32_t from_home = k >= home ? k - home : k + rows - home;
        uint32_t from_hole = k >= hole ? k - hole : k + rows - hole;
        if (from_home < from_hole)
            continue;
        p->futures[hole] = p->futures[k];
        chroprof__moved(p, hole);
        hole = k;
    }
    memset(p->futures + hole, 0, sizeof(chroprof__future));
}

CHROPROF__INLINE chroprof__edge *chroprof__find_edge(const chroprof__core *c, uint32_t path,
                                                     uint32_t site)
{
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(c, CHROPROF_TABLE_EDGES);
    uint32_t rows = c->tables[CHROPROF_TABLE_EDGES].rows;
    uint32_t k = chroprof__hash_index((uint64_t)path << 32 ^ site, rows);
    while (edges[k].site != 0 && (edges[k].site != site || edges[k].path != path))
        k = k + 1 < rows ? k + 1 : 0;
    return edges + k;
}

/* Puts path number k into the tree, right after its parent in preorder. */
static void chroprof__link_path(chroprof *p, uint32_t k, uint32_t parent, uint32_t site)
{
    const chroprof__core *c = p->core;
    chroprof__path *row = p->paths + k;
    row->level = p->paths[parent].level + 1;
    row->histogram = 0;
    if (site >= CHROPROF__FIRST_SITE && !chroprof__sites(c)[site].blurred &&
        site - CHROPROF__FIRST_SITE < c->tables[CHROPROF_TABLE_HISTOGRAMS].capacity)
        row->histogram = site - CHROPROF__FIRST_SITE + 1;
    row->same_site = chroprof__sites(c)[site].first_path;
    chroprof__sites(c)[site].first_path = k;
    row->next = p->paths[parent].next;
    p->paths[parent].next = k;
}

static void chroprof__new_path(chroprof *p, uint32_t k, uint32_t parent, uint32_t site)
{
    chroprof__core *c = p->core;
    chroprof__path *row = p->paths + k;
    memset(row, 0, sizeof(*row));
    row->site = site;
    row->parent = parent;
    row->window = c->window;
    chroprof__link_path(p, k, parent, site);
}

/* The ancestor of a path, itself included, that has this site; 0: none. */
static uint32_t chroprof__fold(const chroprof *p, uint32_t path, uint32_t site)
{
    while (path != CHROPROF__LOOP && p->paths[path].site != site)
        path = p->paths[path].parent;
    return path;
}

CHROPROF__COLD uint32_t chroprof__edge_miss(chroprof *p, uint32_t parent, uint32_t site,
                                            chroprof__edge *edge)
{
    chroprof__table *edges = &p->core->tables[CHROPROF_TABLE_EDGES];
    chroprof__table *paths = &p->core->tables[CHROPROF_TABLE_PATHS];
    uint32_t without = parent == CHROPROF__LOOP ? (uint32_t)CHROPROF__UNTRACKED : parent;
    if (edges->used == edges->capacity) {
        chroprof__lose(edges, (uint64_t)parent << 32 | site);
        return without;
    }
    uint32_t target = chroprof__fold(p, parent, site);
    if (target == CHROPROF__LOOP) {
        if (paths->used == paths->capacity) {
            chroprof__lose(paths, (uint64_t)parent << 32 | site);
            return without;
        }
        target = CHROPROF__FIRST_PATH + (uint32_t)paths->used;
        chroprof__new_path(p, target, parent, site);
        paths->peak = ++paths->used;
    }
    edge->target = target;
    edge->path = parent;
    edge->site = site;
    edges->peak = ++edges->used;
    return target;
}

/* The path of a future of this site created under parent (LOOP: a root). */
CHROPROF__INLINE uint32_t chroprof__child(chroprof *p, uint32_t parent, uint32_t site)
{
    chroprof__edge *edge = chroprof__find_edge(p->core, parent, site);
    if (CHROPROF__LIKELY(edge->site != 0))
        return edge->target;
    return chroprof__edge_miss(p, parent, site, edge);
}

/* >>histogram */

CHROPROF__INLINE uint32_t chroprof__bucket(uint64_t ticks)
{
    const uint64_t end = UINT64_C(1) << 45;
    uint64_t value = ticks < end ? ticks : end;
    uint32_t octave = chroprof__log2(value | 32) - 5;
    return octave * 8 + (uint32_t)(value >> (octave + 2));
}

static uint64_t chroprof__bucket_width(uint32_t bucket)
{
    return UINT64_C(1) << ((bucket < 8 ? 0 : bucket / 8 - 1) + 2);
}

/* The least that goes into a bucket. */
static uint64_t chroprof__bucket_floor(uint32_t bucket)
{
    uint32_t octave = bucket < 8 ? 0 : bucket / 8 - 1;
    return (uint64_t)(bucket - octave * 8) * chroprof__bucket_width(bucket);
}

/* The middle of a bucket. */
static uint64_t chroprof__bucket_value(uint32_t bucket)
{
    return chroprof__bucket_floor(bucket) + chroprof__bucket_width(bucket) / 2;
}

CHROPROF__INLINE void chroprof__histogram_add(chroprof__histogram *h, uint32_t bucket,
                                              uint64_t ticks)
{
    h->count[bucket]++;
    if (CHROPROF__RARELY(ticks < h->min))
        h->min = ticks;
}

static void chroprof__histogram_clear(chroprof__histogram *h)
{
    memset(h, 0, sizeof(*h));
    h->min = UINT64_MAX;
}

/* Adds what the event before kept back. The length of a slice hangs on the clock value just read;
 * one event later it does not, and its bucket is found while the next clock read is under way. */
CHROPROF__INLINE void chroprof__add_held(chroprof__core *c)
{
    chroprof__histograms *rows = chroprof__histogram_rows(c);
    uint64_t slice = c->held_slice, turn = c->held_turn, delay = c->held_delay;
    uint32_t held = c->held, bucket = chroprof__bucket(slice);
    c->held = 0;
    if (CHROPROF__LIKELY(held & CHROPROF__HELD_SLICE && c->held_slice_row))
        chroprof__histogram_add(&rows[c->held_slice_row].slice, bucket, slice);
    if (held & CHROPROF__HELD_TURN && CHROPROF__LIKELY(c->tables[CHROPROF_TABLE_HISTOGRAMS].rows)) {
        if (turn != slice)                  /* most turns are one slice */
            bucket = chroprof__bucket(turn);
        chroprof__histogram_add(&rows[0].slice, bucket, turn);
    }
    if (CHROPROF__RARELY(held & CHROPROF__HELD_DELAY))
        chroprof__histogram_add(&rows[c->held_delay_row].delay, chroprof__bucket(delay), delay);
}

/* The same where one event ends several. */
CHROPROF__COLD void chroprof__add_held_outlined(chroprof__core *c)
{
    chroprof__add_held(c);
}

/* >>windows: exec per site and window. A path's exec beyond its mark belongs to the window of its
 * tag and is put into its cell when the path is next billed in another window. */

CHROPROF__INLINE uint64_t *chroprof__cells(const chroprof__core *c, uint32_t site)
{
    uint64_t *cells = (uint64_t *)chroprof__rows(c, CHROPROF_TABLE_WINDOWS);
    return cells + (uint64_t)site * (c->tables[CHROPROF_TABLE_WINDOWS].capacity + 1u);
}

CHROPROF__INLINE uint32_t chroprof__tag_level(uint32_t tag)
{
    return tag >> 16;
}

/* The index that a tag's window has at the present level. */
CHROPROF__INLINE uint32_t chroprof__tag_index(const chroprof__core *c, uint32_t tag)
{
    uint32_t shift = chroprof__tag_level(c->window) - chroprof__tag_level(tag);
    return shift < 16 ? (tag & 0xFFFF) >> shift : 0;
}

/* Brings a site's cells to the present level. Cells[0] is their level. Each site does that when it
 * is next touched, so no event merges more than one or two rows. */
static void chroprof__merge_cells(const chroprof__core *c, uint64_t *cells)
{
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    cells[0] = chroprof__tag_level(c->window);
    for (uint32_t k = 0; k < capacity && shift; k++) {
        uint64_t exec = cells[1 + k];
        cells[1 + k] = 0;
        cells[1 + (shift < 16 ? k >> shift : 0)] += exec;
    }
}

CHROPROF__COLD void chroprof__close_window(chroprof__core *c, chroprof__path *row)
{
    uint64_t *cells = chroprof__cells(c, row->site);
    if (cells[0] != chroprof__tag_level(c->window))
        chroprof__merge_cells(c, cells);
    cells[1 + chroprof__tag_index(c, row->window)] += row->exec - row->mark;
    row->mark = row->exec;
    row->window = c->window;
}

/* Doubles the width until profile time t has a window. */
static void chroprof__widen_windows(chroprof__core *c, uint64_t t)
{
    uint32_t level = chroprof__tag_level(c->window), index = c->window & 0xFFFF;
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    while (c->window_ticks >> 62 == 0 && t / c->window_ticks >= capacity) {
        c->window_ticks *= 2;
        index /= 2;
        level++;
    }
    c->window = level << 16 | index;
    c->window_end = (index + 1) * c->window_ticks;
}

/* >>clock */

/* Beyond this no profile time passes, so that sums of two times never overflow. */
#define CHROPROF__END_OF_TIME (UINT64_C(1) << 62)

/* When the next event has to take the slow way at the latest. */
static void chroprof__set_horizon(chroprof__core *c)
{
    uint64_t step = c->last + c->max_step_ticks;    /* both below 2^63 */
    uint64_t horizon = c->window_end < step ? c->window_end : step;
    if (horizon > CHROPROF__END_OF_TIME)
        horizon = CHROPROF__END_OF_TIME;
    if (!c->calibrated && c->calibrate_at < horizon)
        horizon = c->calibrate_at;
    c->horizon = horizon > c->last ? horizon : c->last + 1;
    if (c->account == CHROPROF__IDLE || c->hidden)
        c->horizon = c->last;               /* the event after an idle ends it, on the slow way */
}

/* Options in ns become ticks. The width of the windows can only change before the first one is
 * full. */
static void chroprof__set_factor(chroprof__core *c, uint64_t factor)
{
    c->factor = factor;
    c->stall_ticks = chroprof__unscale(c->stall_ns, factor);
    c->max_step_ticks = chroprof__unscale(c->max_step_ns, factor);
    uint64_t width = chroprof__or(chroprof__unscale(c->window_ns, factor), 1);
    if (c->window == 0 && c->last < width)
        c->window_ticks = c->window_end = width;
}

#if CHROPROF__HAS_COUNTER
/* One reading of both clocks; of several tries the one that took least. Returns its ticks. */
static uint64_t chroprof__read_both(uint64_t *counter, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int k = 0; k < 4; k++) {
        uint64_t before = chroprof__counter(), now_ns = chroprof__monotonic_ns(NULL);
        uint64_t width = chroprof__counter() - before;
        if (width >= best)
            continue;
        best = width;
        *counter = before + width / 2;
        *ns = now_ns;
    }
    return best;
}

/* The factor from the readings at init and now: better the later, fixed once and for all after 100
 * ms. */
static void chroprof__calibrate(chroprof__core *c)
{
    uint64_t counter = 0, ns = 0, spread = chroprof__read_both(&counter, &ns);
    uint64_t ticks = counter - c->calibrate_counter, passed = ns - c->calibrate_ns;
    uint64_t error_ppb = 2 * spread * 1000000u / (ticks / 1000u + 1) + 1;
    bool late = passed >= 89000000u;        /* before the first window of 100 ms ends */
    if (passed >> 62 || ticks >> 62)
        return;
    while (passed >> 32) {                  /* keep 32 bits for the fraction */
        passed >>= 1;
        ticks >>= 1;
    }
    if (ticks == 0 || (passed << 32) / ticks == 0)
        return;
    c->error_ppb = error_ppb;
    c->calibrated = late;
    chroprof__set_factor(c, (passed << 32) / ticks);
}

static void chroprof__start_counter(chroprof__core *c)
{
    uint64_t hz = chroprof__counter_hz(), ns;
    uint32_t tries = 0;                     /* a clock that stands still must not hang us */
    chroprof__read_both(&c->calibrate_counter, &c->calibrate_ns);
    if (hz) {                               /* never: an x86 counter does not tell its rate */
        chroprof__set_factor(c, (UINT64_C(1000000000) << 32) / hz);
        c->calibrated = 1;
        return;
    }
    do {                                    /* 20 us give a first factor good to some thousandths */
        ns = chroprof__monotonic_ns(NULL);
    } while (ns - c->calibrate_ns < 20000 && ++tries < 100000);
    c->calibrate_at = 0;
    c->calibrated = 0;
    chroprof__set_factor(c, UINT64_C(1) << 32);
    chroprof__calibrate(c);
    c->calibrate_at = chroprof__unscale(90000000u, c->factor) + 1;
}
#endif

CHROPROF__INLINE uint64_t chroprof__read_clock(const chroprof *p)
{
#if CHROPROF__HAS_COUNTER
    if (CHROPROF__LIKELY(p->clock == NULL))
        return chroprof__counter();
#endif
    if (p->clock == chroprof_clock_manual)
        return p->core->epoch + p->core->last;
    return p->clock(p->clock_user);
}

/* >>samples: where the loop was caught. Ticks wait in a ring until the next event takes the slow
 * way; only then, in the loop's own code, do they become rows. Nothing moves between a tick and the
 * event that ends its interval, so what they say of the stack holds for both. */

/* What another hand (a handler, an interrupt) may change or read at any instruction. */
CHROPROF__INLINE uint64_t chroprof__peek64(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

CHROPROF__INLINE void chroprof__poke64(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
}

CHROPROF__INLINE uint64_t chroprof__item(uint32_t kind, uint64_t value)
{
    return (uint64_t)kind << 56 | (value & (UINT64_MAX >> 8));
}

CHROPROF__INLINE uint32_t chroprof__item_kind(uint64_t item)
{
    return (uint32_t)(item >> 56);
}

CHROPROF__INLINE uint64_t chroprof__item_value(uint64_t item)
{
    return item & (UINT64_MAX >> 8);
}

static bool chroprof__is_code(uint64_t item)
{
    return chroprof__item_kind(item) <= CHROPROF__RETURN;
}

static uint32_t chroprof__sample_capacity(const chroprof__core *c)
{
    return c->tables[CHROPROF_TABLE_SAMPLES].capacity;
}

static chroprof__note *chroprof__notes(chroprof__sampler *s)
{
    return (chroprof__note *)(void *)((char *)s + chroprof__aligned(sizeof(*s)));
}

/* Entry number k of the ring. */
static chroprof__entry *chroprof__ring(const chroprof__core *c, chroprof__sampler *s, uint64_t k)
{
    uint64_t notes = chroprof__note_bytes(c->tables[CHROPROF_TABLE_DEPTH].capacity);
    char *first = (char *)s + chroprof__aligned(sizeof(*s)) + notes;
    uint64_t row = k % chroprof__entry_count(chroprof__sample_capacity(c));
    return (chroprof__entry *)(void *)(first + row * sizeof(chroprof__entry));
}

static uint64_t chroprof__random(chroprof__sampler *s)
{
    uint64_t z = s->random + UINT64_C(0x9E3779B97F4A7C15);    /* splitmix64 (Steele and others) */
    s->random = z;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Is an event or an edit under way, so that nothing but the ring may be touched? */
CHROPROF__INLINE bool chroprof__is_busy(const chroprof__core *c)
{
    return ((chroprof__peek64(&c->seq) | chroprof__peek64(&c->edits)) & 1) != 0;
}

/* ---- modules: which file an address is of */

#if CHROPROF__SAMPLES && defined(__linux__)
/* As the dynamic linker hands them out. Names of our own, so that no feature macro is needed, and
 * weak: a program without a linker has none. */
typedef struct chroprof__object {
    uint64_t base;
    const char *name;
    const Elf64_Phdr *headers;
    uint16_t count;
} chroprof__object;

extern int chroprof__each_object(int (*visit)(chroprof__object *o, size_t size, void *user),
                                 void *user) __asm__("dl_iterate_phdr") __attribute__((weak));

/* The bytes of a note in memory that is mapped, as hexadecimal digits. */
static void chroprof__build_id(const chroprof__object *o, const Elf64_Phdr *header,
                               char out[CHROPROF__BUILD_ID])
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)(uintptr_t)(o->base + header->p_vaddr);
    uint64_t left = header->p_memsz;
    Elf64_Nhdr note;
    while (left >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        uint64_t name = (note.n_namesz + 3u) / 4u * 4u, size = note.n_descsz;
        uint64_t whole = sizeof(note) + name + (size + 3) / 4 * 4;
        if (whole > left)
            return;
        const unsigned char *id = at + sizeof(note) + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) {
            for (uint64_t k = 0; k < size && 2 * k + 2 < CHROPROF__BUILD_ID; k++) {
                out[2 * k] = hex[id[k] >> 4];
                out[2 * k + 1] = hex[id[k] & 15];
            }
            return;
        }
        at += whole;
        left -= whole;
    }
}

/* Does this part of a file lie in one that is in memory? Tools that cut files up leave notes that
 * are not. */
static bool chroprof__is_loaded(const chroprof__object *o, const Elf64_Phdr *part)
{
    for (uint32_t k = 0; k < o->count; k++) {
        const Elf64_Phdr *header = o->headers + k;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_R) &&
            part->p_vaddr >= header->p_vaddr && part->p_memsz <= header->p_memsz &&
            part->p_vaddr - header->p_vaddr <= header->p_memsz - part->p_memsz)
            return true;
    }
    return false;
}

/* The path; of a long one the end. The program itself has no name here. */
static void chroprof__module_path(const char *name, char out[CHROPROF__MODULE_PATH])
{
    char own[1024];
    if (*name == '\0') {
        ssize_t count = readlink("/proc/self/exe", own, sizeof(own) - 1);
        own[count > 0 ? count : 0] = '\0';
        name = own;
    }
    size_t length = strlen(name);
    if (length < CHROPROF__MODULE_PATH) {
        memcpy(out, name, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, name + length - (CHROPROF__MODULE_PATH - 4), CHROPROF__MODULE_PATH - 3);
}

static bool chroprof__read_object(const chroprof__object *o, chroprof__module *m)
{
    memset(m, 0, sizeof(*m));
    m->low = UINT64_MAX;
    m->base = o->base;
    for (uint32_t k = 0; k < o->count; k++) {
        const Elf64_Phdr *header = o->headers + k;
        uint64_t low = o->base + header->p_vaddr;
        if (header->p_type == PT_NOTE && m->build_id[0] == '\0' && chroprof__is_loaded(o, header))
            chroprof__build_id(o, header, m->build_id);
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        m->low = low < m->low ? low : m->low;
        m->high = low + header->p_memsz > m->high ? low + header->p_memsz : m->high;
    }
    chroprof__module_path(o->name, m->path);
    return m->low < m->high;
}

static int chroprof__add_object(chroprof__object *o, size_t size, void *user)
{
    chroprof__core *c = (chroprof__core *)user;
    chroprof__table *table = &c->tables[CHROPROF__MODULES];
    chroprof__module *rows = chroprof__modules(c), m;
    if (size < sizeof(*o) || table->used == table->rows || !chroprof__read_object(o, &m))
        return 0;
    for (uint64_t k = 0; k < table->used; k++)
        if (rows[k].low == m.low && rows[k].high == m.high && strcmp(rows[k].path, m.path) == 0)
            return 0;
    rows[table->used] = m;
    CHROPROF__STORE_FENCE();
    table->peak = ++table->used;
    return 0;
}

/* At most once a second: a thread of code without a file must not make each sample dear. */
static bool chroprof__load_modules(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!chroprof__each_object)             /* never: a C library without it */
        return false;
    if (!chroprof__peek64(&s->running) || c->last < s->module_at)
        return false;
    s->module_at = c->last + chroprof__unscale(1000000000u, c->factor);
    chroprof__each_object(chroprof__add_object, c);
    return true;
}
#else
static bool chroprof__load_modules(chroprof__core *c)
{
    (void)c;
    return false;
}
#endif

/* Row + 1 of the module of an address, the newest first; 0: none. */
static uint32_t chroprof__find_module(const chroprof__core *c, uint64_t address)
{
    const chroprof__module *rows = chroprof__modules(c);
    uint32_t k = (uint32_t)c->tables[CHROPROF__MODULES].used;
    while (k > 0 && (address < rows[k - 1].low || address >= rows[k - 1].high))
        k--;
    return k;
}

static uint32_t chroprof__module_of(chroprof__core *c, uint64_t item)
{
    uint32_t k = chroprof__is_code(item) ? chroprof__find_module(c, chroprof__item_value(item)) : 0;
    if (k == 0 && chroprof__is_code(item) && chroprof__load_modules(c))
        k = chroprof__find_module(c, chroprof__item_value(item));
    return k;
}

/* ---- stacks */

static bool chroprof__good_item(const chroprof *p, uint64_t item)
{
    uint64_t value = chroprof__item_value(item);
    switch (chroprof__item_kind(item)) {
    case CHROPROF__PC:
    case CHROPROF__RETURN: return true;
    case CHROPROF__TASK: return value >= CHROPROF__UNTRACKED &&
                                value < CHROPROF__FIRST_PATH +
                                        p->core->tables[CHROPROF_TABLE_PATHS].used;
    case CHROPROF__MARK: return value > 0 && value < CHROPROF__MARKS;
    default: return false;
    }
}

static uint64_t chroprof__node_key(uint32_t parent, uint64_t item)
{
    return item ^ (uint64_t)parent * UINT64_C(0xD6E8FEB86659FD93);
}

/* The node of an item below parent; 0: there is none. */
static uint32_t chroprof__find_node(const chroprof__core *c, uint32_t parent, uint64_t item)
{
    const chroprof__node *nodes = chroprof__nodes(c);
    uint64_t key = chroprof__node_key(parent, item);
    uint32_t k = nodes[chroprof__hash_index(key, c->tables[CHROPROF__STACKS].rows)].head;
    while (k && (nodes[k].item != item || nodes[k].parent != parent))
        k = nodes[k].next;
    return k;
}

/* The same, made if need be; UINT32_MAX: the table is full. A node is whole before it is counted,
 * so the tree is good whenever somebody looks. */
static uint32_t chroprof__intern_node(chroprof__core *c, uint32_t parent, uint64_t item)
{
    chroprof__table *table = &c->tables[CHROPROF__STACKS];
    chroprof__node *nodes = chroprof__nodes(c);
    uint64_t key = chroprof__node_key(parent, item);
    chroprof__node *bucket = nodes + chroprof__hash_index(key, table->rows);
    uint32_t known = chroprof__find_node(c, parent, item);
    if (known)
        return known;
    if (table->used + 1 >= table->rows) {
        chroprof__lose(&c->tables[CHROPROF_TABLE_SAMPLES], key);
        return UINT32_MAX;
    }
    chroprof__node *node = nodes + table->used + 1;
    node->item = item;
    node->weight = node->cpu_ns = 0;
    node->parent = parent;
    node->next = bucket->head;
    node->module = chroprof__module_of(c, item);
    CHROPROF__STORE_FENCE();
    table->peak = ++table->used;
    CHROPROF__STORE_FENCE();
    bucket->head = (uint32_t)table->used;
    return bucket->head;
}

/* The node of a whole stack, or of what of it fits. */
static uint32_t chroprof__intern_stack(const chroprof *p, const chroprof__entry *e)
{
    uint32_t node = 0, count = e->count < CHROPROF__ITEMS ? e->count : (uint32_t)CHROPROF__ITEMS;
    while (count > 0) {
        uint64_t item = e->items[--count];
        uint32_t child = chroprof__good_item(p, item) ? chroprof__intern_node(p->core, node, item)
                                                      : UINT32_MAX;
        if (child == UINT32_MAX)
            break;
        node = child;
    }
    return node;
}

/* ---- rows */

/* Takes the oldest row's place, or a free one. */
static chroprof__sample *chroprof__new_row(chroprof__core *c, chroprof__sampler *s)
{
    chroprof__table *table = &c->tables[CHROPROF_TABLE_SAMPLES];
    chroprof__sample *row = chroprof__sample_rows(c) + s->head;
    if (table->used == table->capacity) {
        s->dropped += row->weight;
        s->dropped_cpu_ns += row->cpu_ns;
    }
    memset(row, 0, sizeof(*row));
    s->head = s->head + 1 < table->capacity ? s->head + 1 : 0;
    if (table->used < table->capacity)
        table->peak = ++table->used;
    return row;
}

static chroprof__sample *chroprof__newest_row(const chroprof__core *c, const chroprof__sampler *s)
{
    uint64_t before = s->head > 0 ? s->head - 1 : chroprof__sample_capacity(c) - 1;
    bool any = c->tables[CHROPROF_TABLE_SAMPLES].used > 0;
    return any ? chroprof__sample_rows(c) + before : NULL;
}

/* A sample with the stack of the row before it and no CPU time extends that row. */
static void chroprof__add_row(chroprof__core *c, chroprof__sampler *s, uint64_t t, uint32_t stack,
                              const chroprof__entry *e)
{
    chroprof__sample *row = chroprof__newest_row(c, s);
    if (!row || row->stack != stack || row->state != e->state || e->cpu_ns != 0) {
        row = chroprof__new_row(c, s);
        row->time = t;
        row->stack = stack;
        row->state = e->state;
    }
    row->weight += e->weight;
    row->cpu_ns += e->cpu_ns;
    row->duration = t - row->time;
    s->samples += e->weight;
    s->latest = t;
    chroprof__nodes(c)[stack].weight += e->weight;
    chroprof__nodes(c)[stack].cpu_ns += e->cpu_ns;
}

/* ---- stalls: where the turns and the pass under way were met */

/* Which of the places a sample counts for: its own, else a free one, else another line of the same
 * function call, else the least one's (Metwally and others, space saving, 2005). */
static uint32_t chroprof__hit_place(const chroprof__node *nodes, chroprof__hits *h, uint32_t stack)
{
    uint32_t least = 0, sibling = UINT32_MAX;
    for (uint32_t k = 0; k < h->count; k++) {
        if (h->stack[k] == stack)
            return k;
        if (nodes[h->stack[k]].parent == nodes[stack].parent)
            sibling = k;
        least = h->weight[k] < h->weight[least] ? k : least;
    }
    if (h->count < CHROPROF_STALL_SAMPLES)
        least = h->count++;
    else if (sibling != UINT32_MAX)
        return sibling;
    h->stack[least] = stack;
    return least;
}

/* Of the time since the tick before it only what lies in the turn or pass counts. */
static void chroprof__add_hit(const chroprof__core *c, chroprof__hits *h, uint32_t owner,
                              uint64_t inside, uint32_t stack, const chroprof__entry *e)
{
    if (h->owner != owner) {
        memset(h, 0, sizeof(*h));
        h->owner = owner;
    }
    uint64_t wall = chroprof__scale(inside, c->factor);
    wall = e->wall_ns < wall ? e->wall_ns : wall;
    uint64_t cpu = e->cpu_ns < wall ? e->cpu_ns : wall;
    uint32_t k = chroprof__hit_place(chroprof__nodes(c), h, stack);
    h->weight[k] += (uint32_t)e->weight;
    h->cpu[k] += cpu;
    h->sampled += e->weight;
    h->cpu_ns += cpu;
    h->waiting_ns += wall - cpu;
}

static void chroprof__add_hits(const chroprof *p, chroprof__sampler *s, uint64_t t, uint32_t stack,
                               const chroprof__entry *e)
{
    const chroprof__core *c = p->core;
    const chroprof__frame *base = p->frames + c->floor + 1;
    uint32_t level = c->level < CHROPROF__LEVELS ? c->level : CHROPROF__LEVELS - 1;
    if (c->account == CHROPROF__IDLE)
        return;
    if (c->depth > c->floor)
        chroprof__add_hit(c, s->hits + level, base->event, chroprof__minus(t, base->pushed), stack,
                          e);
    if (c->pass_active)
        chroprof__add_hit(c, s->hits + CHROPROF__LEVELS, (uint32_t)c->pass_event,
                          chroprof__minus(t, c->pass_start), stack, e);
}

#if CHROPROF__SAMPLES
static uint64_t chroprof__thread_cpu_ns(void)
{
    return chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What no tick has told of a stall: from the last one to its end. */
static void chroprof__add_last_part(const chroprof *p, const chroprof__sampler *s,
                                    chroprof__stall *stall)
{
    chroprof__hits *h = &stall->hits;
    uint64_t whole = chroprof__scale(stall->length, p->core->factor);
    uint64_t wall = chroprof__minus(whole, h->cpu_ns + h->waiting_ns);
    uint64_t stamp = chroprof__peek64(&s->stamp), before = chroprof__peek64(&s->cpu);
    uint64_t passed = chroprof__minus(chroprof__monotonic_ns(NULL), stamp);
    uint64_t cpu = chroprof__minus(chroprof__thread_cpu_ns(), before);
    if (!p->sampling || chroprof__peek64(&s->stamp) != stamp)
        return;
    wall = passed < wall ? passed : wall;
    cpu = cpu < wall ? cpu : wall;
    h->cpu_ns += cpu;
    h->waiting_ns += wall - cpu;
}
#else
static void chroprof__add_last_part(const chroprof *p, const chroprof__sampler *s,
                                    chroprof__stall *stall)
{
    (void)p;
    (void)s;
    (void)stall;
}
#endif

/* What was seen of a turn or pass that has ended and was a stall. */
static void chroprof__take_hits(const chroprof *p, const chroprof__biggest *b,
                                chroprof__stall *stall)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    bool pass = stall->kind == CHROPROF_STALL_PASS;
    if (!s)
        return;
    const chroprof__hits *h = s->hits + CHROPROF__LEVELS;
    if (!pass)
        h = s->hits + (b - c->turn);
    if (h->owner == (pass ? (uint32_t)c->pass_event : b->owner))
        stall->hits = *h;
    chroprof__add_last_part(p, s, stall);
}

/* ---- draws of live futures */

static uint32_t chroprof__drawn_state(const chroprof *p, const chroprof__future *slot)
{
    bool top = p->frames[p->core->depth].id == slot->id && p->core->hidden == 0;
    if (slot->state == CHROPROF_READY)
        return 1;
    return slot->state == CHROPROF_RUNNING && top ? 0 : 2;
}

/* Met again with no event in between: it has been like that all the time. */
static uint64_t chroprof__drawn_since(chroprof__sampler *s, uint64_t id, uint64_t seq, uint64_t t)
{
    uint32_t k = 0;
    while (k + 1 < CHROPROF__DRAWS && s->drawn[k].id != id)
        k++;
    chroprof__drawn last = s->drawn[k];
    memmove(s->drawn + 1, s->drawn, k * sizeof(last));
    s->drawn[0].id = id;
    s->drawn[0].seq = seq;
    s->drawn[0].time = t;
    return last.id == id && last.seq == seq ? t - last.time : 0;
}

/* The younger ones of very many paths share the row of untracked. */
static chroprof__wall *chroprof__wall_of(const chroprof__core *c, uint32_t path)
{
    bool own = path < c->tables[CHROPROF__WALLS].rows;
    return chroprof__walls(c) + (own ? path : (uint32_t)CHROPROF__UNTRACKED);
}

/* Uniform over the live futures: each slot is as likely. */
static void chroprof__draw(const chroprof *p, chroprof__sampler *s, uint64_t t, uint64_t weight)
{
    const chroprof__core *c = p->core;
    uint32_t wanted = CHROPROF__DRAWS;
    for (uint32_t probes = 0; probes < 64 && wanted > 0; probes++) {
        uint64_t slot = (chroprof__random(s) >> 32) * p->slots >> 32;
        const chroprof__future *f = p->futures + slot;
        if (f->id == 0 || f->state == CHROPROF__GONE) {
            s->misses++;
            continue;
        }
        chroprof__wall *row = chroprof__wall_of(c, f->path);
        uint32_t state = chroprof__drawn_state(p, f);
        row->weight[state] += weight;
        row->ticks[state] += chroprof__drawn_since(s, f->id, c->seq, t);
        s->draws += weight;
        wanted--;
    }
}

/* Of many ticks in a row some draw for the others. */
static void chroprof__draw_all(const chroprof *p, chroprof__sampler *s, uint64_t t, uint64_t ticks)
{
    uint64_t rounds = ticks < 8 ? ticks : 8;
    for (uint64_t k = 0; k < rounds; k++)
        chroprof__draw(p, s, t, ticks / rounds + (k < ticks % rounds));
}

/* ---- from the ring to the tables */

/* Profile time of a sample: not before the one before, and not after most. */
static uint64_t chroprof__sample_time(const chroprof__core *c, const chroprof__sampler *s,
                                      uint64_t stamp, uint64_t most)
{
    uint64_t t = stamp ? stamp - c->epoch : c->last;
    if (t >= CHROPROF__END_OF_TIME)
        t = stamp < c->epoch ? 0 : c->last;
    t = t < most ? t : most;
    return t > s->latest ? t : s->latest;
}

static void chroprof__absorb(const chroprof *p, chroprof__sampler *s, chroprof__entry *e,
                             uint64_t most)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__sample_time(c, s, e->stamp, most);
    if (e->wall_ns == 0)
        e->wall_ns = chroprof__scale(t - s->latest, c->factor);
    uint32_t stack = chroprof__intern_stack(p, e);
    if (e->count > 0 && e->items[0] == chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE))
        s->inside += e->weight;
    chroprof__add_row(c, s, t, stack, e);
    t = chroprof__sample_time(c, s, e->last, most);
    chroprof__add_hits(p, s, t, stack, e);
    chroprof__draw_all(p, s, t, e->draws);
}

CHROPROF__COLD void chroprof__drain_all(chroprof *p, chroprof__sampler *s)
{
    chroprof__core *c = p->core;
    while (chroprof__peek64(&s->put) - s->taken != 0) {
        CHROPROF__LOAD_FENCE();
        chroprof__absorb(p, s, chroprof__ring(c, s, s->taken), c->last);
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->taken, s->taken + 1);
    }
}

/* Takes in what waits; part of the slow way of an event. */
static void chroprof__drain(chroprof *p)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (s && chroprof__peek64(&s->put) != s->taken)
        chroprof__drain_all(p, s);
}

/* Makes the next event take the slow way if something waits. Between events only. */
static void chroprof__wake_drain(chroprof__core *c)
{
    const chroprof__sampler *s = chroprof__sampler_of(c);
    if (s && chroprof__peek64(&s->put) != s->taken)
        chroprof__poke64(&c->horizon, c->last);
}

/* ---- from a tick to the ring. This may run in a signal handler, at any instruction of anything
 * above. */

/* Makes one of two neighbours stand for both, each as often as it weighs. */
static void chroprof__merge_entries(chroprof__sampler *s, chroprof__entry *a,
                                    const chroprof__entry *b)
{
    chroprof__entry sum = *a;
    sum.weight += b->weight;
    sum.cpu_ns += b->cpu_ns;
    sum.wall_ns += b->wall_ns;
    sum.draws += b->draws;
    sum.last = b->last;
    if (chroprof__random(s) % sum.weight >= a->weight) {
        sum.stamp = b->stamp;
        sum.count = b->count;
        sum.state = b->state;
        memcpy(sum.items, b->items, sizeof(sum.items));
    }
    *a = sum;
}

/* The ring is full and nobody takes from it, which is a long slice: the two neighbours that weigh
 * least become one, so that what is left covers all of it, evenly. */
static void chroprof__thin(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t end = s->put - 1, best = s->taken, least = UINT64_MAX;
    for (uint64_t k = s->taken; k < end; k++) {
        uint64_t weight = chroprof__ring(c, s, k)->weight + chroprof__ring(c, s, k + 1)->weight;
        best = weight < least ? k : best;
        least = weight < least ? weight : least;
    }
    chroprof__merge_entries(s, chroprof__ring(c, s, best), chroprof__ring(c, s, best + 1));
    for (uint64_t k = best + 1; k < end; k++)
        *chroprof__ring(c, s, k) = *chroprof__ring(c, s, k + 1);
    chroprof__poke64(&s->put, end);
}

/* An empty entry; NULL: no room, inside an event. */
static chroprof__entry *chroprof__begin_entry(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    if (s->put - chroprof__peek64(&s->taken) >= rows) {
        if (chroprof__is_busy(c))
            return NULL;
        chroprof__thin(c, s);
    }
    chroprof__entry *e = chroprof__ring(c, s, s->put);
    memset(e, 0, offsetof(chroprof__entry, items));
    return e;
}

static void chroprof__put_item(chroprof__entry *e, uint32_t kind, uint64_t value)
{
    if (e->count < CHROPROF__ITEMS)
        e->items[e->count++] = chroprof__item(kind, value);
}

/* The frames of the running stack above depth `down`, the innermost first. */
static void chroprof__put_tasks(const chroprof__core *c, chroprof__entry *e, uint32_t *depth,
                                uint32_t down)
{
    const chroprof__frame *frames = (const chroprof__frame *)chroprof__rows(c,
                                                                    CHROPROF_TABLE_DEPTH);
    for (; *depth > down; --*depth) {
        if (c->depth - *depth >= CHROPROF__NOTED_TASKS) {
            chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_DEEP);
            *depth = 0;
            return;
        }
        if (frames[*depth].kind != CHROPROF__BARRIER)
            chroprof__put_item(e, CHROPROF__TASK, frames[*depth].path);
    }
}

static uint32_t chroprof__sample_state_of(const chroprof__core *c)
{
    if (c->account == CHROPROF__IDLE)
        return CHROPROF_SAMPLE_IDLE;
    if (c->account == CHROPROF__LOOP)
        return CHROPROF_SAMPLE_LOOP;
    return CHROPROF_SAMPLE_BUSY;
}

/* The stack of a sample without native frames. */
static void chroprof__put_running(const chroprof__core *c, chroprof__entry *e)
{
    uint32_t depth = c->depth;
    e->state = chroprof__sample_state_of(c);
    if (chroprof__is_busy(c)) {
        e->state = CHROPROF_SAMPLE_LOOP;
        chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_INSIDE);
        return;
    }
    if (c->hidden)
        chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
    if (e->state != CHROPROF_SAMPLE_BUSY)
        chroprof__put_item(e, CHROPROF__MARK, e->state == CHROPROF_SAMPLE_IDLE
                                                  ? CHROPROF__MARK_IDLE : CHROPROF__MARK_LOOP);
    chroprof__put_tasks(c, e, &depth, 0);
}

/* >>bill: the one place where time goes. */

/* Opens an event: its line is written before anything changes, so that a reader of a killed program
 * knows what was under way. What the event before kept back is added. */
CHROPROF__INLINE void chroprof__open_event(chroprof__core *c, chroprof_state state, uint64_t id,
                                           uint64_t now)
{
    c->event_state = (uint32_t)state;
    c->event_id = id;
    c->event_now = now;
    c->event_account = c->account;
    CHROPROF__STORE_FENCE();
    c->seq++;
    CHROPROF__STORE_FENCE();
    if (c->held)
        chroprof__add_held(c);
}

CHROPROF__INLINE void chroprof__end_event(chroprof__core *c)
{
    CHROPROF__STORE_FENCE();
    c->seq++;
}

/* To a path that was billed in this window before. */
CHROPROF__INLINE void chroprof__bill_inside(const chroprof__core *c, chroprof__path *row,
                                            uint64_t dt)
{
    row->exec += dt;
    row->blame += dt * c->ready;
}

CHROPROF__INLINE void chroprof__bill(chroprof__core *c, chroprof__path *row, uint64_t dt)
{
    if (CHROPROF__RARELY(row->window != c->window))
        chroprof__close_window(c, row);
    chroprof__bill_inside(c, row, dt);
}

/* Bills up to t across the borders of windows. */
static void chroprof__bill_across(chroprof *p, uint32_t account, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__widen_windows(c, t);
    while (t >= c->window_end) {            /* the end of the window that last is in */
        chroprof__bill(c, p->paths + account, c->window_end - c->last);
        c->last = c->window_end;
        c->window++;
        c->window_end += c->window_ticks;
    }
    chroprof__bill(c, p->paths + account, t - c->last);
    c->last = t;
}

/* The profile begins at the first event where nothing else says when. */
static void chroprof__start_at(chroprof__core *c, uint64_t now)
{
    c->start_clock = now;
    c->epoch = now - c->last;
    CHROPROF__STORE_FENCE();
    c->started = 1;
}

/* Any event but tick ends an idle; the pass that it began is still without slices. */
static void chroprof__end_idle(chroprof__core *c)
{
    c->account = CHROPROF__LOOP;
    c->pass_active = 1;
    c->pass_start = c->last;
    c->pass_event = c->seq / 2;
    c->pass.floor = 0;
    c->pass.count = 0;
}

/* The slow way of an interval: the clock went back, the step is too long, a window ends, the clock
 * wants calibration. Returns the account billed. */
CHROPROF__COLD uint32_t chroprof__advance_slow(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    uint64_t t = now - c->epoch, dt = t - c->last;
    uint32_t account = c->account;
    if (dt >> 63 || t >= CHROPROF__END_OF_TIME) {
        chroprof__count(c, CHROPROF_ANOMALY_TIME_BACK);
        c->epoch = now - c->last;
        t = c->last;
    } else if (dt > c->max_step_ticks && account != CHROPROF__IDLE) {
        chroprof__count(c, CHROPROF_ANOMALY_LONG_STEP);
        account = CHROPROF__UNTRACKED;
        if (c->depth && !c->hidden)
            p->frames[c->depth].start += dt;
    }
    chroprof__bill_across(p, account, t);
    chroprof__drain(p);
#if CHROPROF__HAS_COUNTER
    if (!c->calibrated && t >= c->calibrate_at)
        chroprof__calibrate(c);
#endif
    if (c->account == CHROPROF__IDLE && c->event_state != CHROPROF_TICK)
        chroprof__end_idle(c);
    chroprof__set_horizon(c);
    return account;
}

/* Into the ring of the last intervals. */
CHROPROF__INLINE void chroprof__note_interval(chroprof__core *c, uint64_t t, uint32_t account)
{
    chroprof__interval *interval = &c->intervals[(c->seq >> 1) % CHROPROF__INTERVALS];
    interval->end = t;
    interval->account = account;
}

/* Closes the interval since the last event; returns profile time. */
CHROPROF__INLINE uint64_t chroprof__advance(chroprof *p, chroprof__core *c, uint64_t now)
{
    uint64_t t = now - c->epoch, dt = t - c->last;
    uint32_t account = c->account;
    if (CHROPROF__LIKELY(dt < c->horizon - c->last)) {
        chroprof__bill(c, p->paths + account, dt);
        c->last = t;
    } else {
        account = chroprof__advance_slow(p, now);
        t = c->last;
    }
    chroprof__note_interval(c, t, account);
    return t;
}

/* What the ring of intervals holds of [from, c->last) is blamed on those who were on top; what it
 * does not reach is the loop's. */
static void chroprof__blame_past(chroprof *p, uint64_t from)
{
    chroprof__core *c = p->core;
    uint64_t end = c->last, newest = c->seq >> 1;
    for (uint64_t k = 0; k < CHROPROF__INTERVALS - 1 && end > from; k++) {
        const chroprof__interval *interval = &c->intervals[(newest - k) % CHROPROF__INTERVALS];
        uint64_t begin = c->intervals[(newest - k - 1) % CHROPROF__INTERVALS].end;
        uint64_t start = begin > from ? begin : from;
        if (start < end)
            p->paths[interval->account].blame += end - start;
        end = start < end ? start : end;
    }
    if (end > from)
        p->paths[CHROPROF__LOOP].blame += end - from;
}

/* >>stalls */

static void chroprof__note_slice(chroprof__biggest *b, uint64_t exec, uint64_t id, uint32_t path)
{
    uint32_t k = b->count < CHROPROF_STALL_SLICES ? b->count++ : CHROPROF_STALL_SLICES - 1;
    for (; k > 0 && b->slices[k - 1].exec < exec; k--)
        b->slices[k] = b->slices[k - 1];
    b->slices[k].exec = exec;
    b->slices[k].id = id;
    b->slices[k].path = path;
    if (b->count == CHROPROF_STALL_SLICES)
        b->floor = b->slices[CHROPROF_STALL_SLICES - 1].exec;
}

static void chroprof__clear_biggest(chroprof__biggest *b, uint32_t owner)
{
    b->floor = 0;
    b->count = 0;
    b->owner = owner;
}

/* The biggest slices of the turn that this base frame began; nested loops deeper than LEVELS
 * share. */
static chroprof__biggest *chroprof__turn(chroprof__core *c, const chroprof__frame *base)
{
    chroprof__biggest *b = &c->turn[c->level < CHROPROF__LEVELS ? c->level : CHROPROF__LEVELS - 1];
    if (b->owner != base->event)
        chroprof__clear_biggest(b, base->event);
    return b;
}

/* The first half of the rows is a heap of the longest, the shortest of them at its root; the rest
 * is a ring of the most recent. */
static void chroprof__keep_longest(chroprof__stall *heap, uint32_t rows,
                                   const chroprof__stall *stall)
{
    uint32_t k = 0;
    if (heap[0].length >= stall->length)
        return;
    for (;;) {
        uint32_t child = 2 * k + 1;
        if (child + 1 < rows && heap[child + 1].length < heap[child].length)
            child++;
        if (child >= rows || heap[child].length >= stall->length)
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = *stall;
}

CHROPROF__COLD void chroprof__stalled(chroprof *p, chroprof_stall_kind kind, uint64_t start,
                                      uint64_t length, uint64_t events, const chroprof__biggest *b)
{
    chroprof__core *c = p->core;
    chroprof__table *table = &c->tables[CHROPROF_TABLE_STALLS];
    chroprof__stall *rows = chroprof__stall_rows(c);
    chroprof__stall *stall = &c->due[kind];
    uint32_t longest = (table->capacity + 1) / 2, recent = table->capacity - longest;
    memset(stall, 0, sizeof(*stall));
    stall->serial = ++c->stalls;
    stall->start = start;
    stall->length = length;
    stall->events = events;
    stall->kind = kind;
    stall->slice_count = b->count;
    memcpy(stall->slices, b->slices, sizeof(stall->slices));
    chroprof__take_hits(p, b, stall);
    chroprof__keep_longest(rows, longest, stall);
    if (recent)
        rows[longest + (c->stalls - 1) % recent] = *stall;
    table->used = c->stalls < table->capacity ? c->stalls : table->capacity;
    table->peak = table->used;
    p->stall_due = p->on_stall != NULL;
}

/* >>stack: frames come and go, slices and turns end. */

/* The account of a frame: its path, or loop for a barrier. */
CHROPROF__INLINE void chroprof__set_account(const chroprof *p, chroprof__core *c)
{
    c->account = p->frames[c->depth].path;
}

/* A frame beyond max_depth: only counted, and time is untracked until the last of them is gone. */
CHROPROF__COLD void chroprof__hide(chroprof__core *c, uint64_t t)
{
    chroprof__table *table = &c->tables[CHROPROF_TABLE_DEPTH];
    table->dropped++;
    if (c->hidden++ == 0)
        c->hidden_since = t;
    table->wanted = c->hidden > table->wanted ? c->hidden : table->wanted;
    c->account = CHROPROF__UNTRACKED;
    c->horizon = t;                 /* until they are gone no event takes the straight way */
}

CHROPROF__COLD void chroprof__unhide(chroprof *p, uint32_t frames, uint64_t t)
{
    chroprof__core *c = p->core;
    c->hidden -= frames;
    if (c->hidden)
        return;
    p->frames[c->depth].start += t - c->hidden_since;
    chroprof__set_account(p, c);
}

/* A stay begins in the top frame. */
CHROPROF__INLINE void chroprof__begin_stay(chroprof__core *c, chroprof__frame *frame, uint32_t path,
                                           uint64_t t)
{
    frame->pushed = frame->start = t;
    frame->excluded = 0;
    frame->path = path;
    frame->event = (uint32_t)c->seq;
    c->account = path;
}

/* Puts a frame on the stack; the caller has checked that there is room. */
CHROPROF__INLINE chroprof__frame *chroprof__push(chroprof *p, chroprof__core *c, uint32_t path,
                                                 uint32_t kind, uint64_t t)
{
    chroprof__frame *frame = p->frames + ++c->depth;
    frame->kind = kind;
    chroprof__begin_stay(c, frame, path, t);
    return frame;
}

CHROPROF__INLINE bool chroprof__no_room(const chroprof__core *c)
{
    return c->depth == c->tables[CHROPROF_TABLE_DEPTH].capacity;
}

/* A future became ready at profile time `at`, not later than now. */
CHROPROF__INLINE void chroprof__begin_ready(chroprof *p, chroprof__future *slot, uint64_t at)
{
    chroprof__path *row = p->paths + slot->path;
    p->core->ready++;
    row->ready++;
    row->delay -= at;
    slot->since = at;
    slot->flags = slot->state == CHROPROF_PENDING ? 0 : CHROPROF__STARTED;
    slot->state = CHROPROF_READY;
}

/* A delay ends, the first of this event. */
CHROPROF__INLINE void chroprof__end_first_ready(chroprof *p, chroprof__core *c,
                                                const chroprof__future *slot, uint64_t t)
{
    chroprof__path *row = p->paths + slot->path;
    c->ready--;
    row->ready--;
    row->delay += t;
    chroprof__raise(&row->delay_max, t - slot->since);
    if (row->histogram == 0)
        return;
    c->held |= CHROPROF__HELD_DELAY;
    c->held_delay = t - slot->since;
    c->held_delay_row = row->histogram;
}

static void chroprof__end_ready(chroprof *p, const chroprof__future *slot, uint64_t t)
{
    if (p->core->held & CHROPROF__HELD_DELAY)
        chroprof__add_held_outlined(p->core);
    chroprof__end_first_ready(p, p->core, slot, t);
}

/* A slice has been measured. */
CHROPROF__INLINE void chroprof__end_slice(chroprof__core *c, chroprof__path *row, uint64_t slice,
                                          uint64_t exec)
{
    row->slices++;
    chroprof__raise(&row->slice_max, slice);
    /* Futures that grow alike take turns at being the largest: a branch is a coin toss. */
    row->exec_max = exec > row->exec_max ? exec : row->exec_max;
    c->held_slice = slice;
    c->held_slice_row = row->histogram;
}

CHROPROF__INLINE void chroprof__come_to_rest(chroprof__future *slot, uint64_t t)
{
    slot->state = CHROPROF_PAUSED;
    slot->since = t;
}

/* The last frame of a live future is gone. */
CHROPROF__INLINE void chroprof__rest(chroprof *p, chroprof__future *slot, uint64_t t)
{
    if (CHROPROF__RARELY(slot->flags & CHROPROF__REMEMBERED)) {
        slot->flags = 0;
        chroprof__begin_ready(p, slot, t);
        return;
    }
    chroprof__come_to_rest(slot, t);
}

/* An orphan's time still belongs to the future that lost its record: it is handed down its
 * frames. */
CHROPROF__COLD uint64_t chroprof__orphan_exec(chroprof *p, const chroprof__frame *frame,
                                              uint64_t slice)
{
    uint64_t exec = frame->carried + slice;
    if (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        p->frames[frame->same].carried += exec;
        p->frames[frame->same].kind |= CHROPROF__NEWEST;
    }
    return exec;
}

/* What popping a frame with an id does to its future's slot. Returns the exec of the future so
 * far. */
CHROPROF__INLINE uint64_t chroprof__leave_slot(chroprof *p, const chroprof__frame *frame,
                                               uint64_t slice, uint64_t t)
{
    chroprof__future *slot = p->futures + frame->slot;
    slot->frame = (uint16_t)frame->same;
    if (CHROPROF__RARELY(frame->kind & CHROPROF__ORPHAN)) {
        uint64_t exec = chroprof__orphan_exec(p, frame, slice);
        if (slot->frame == 0 && slot->state == CHROPROF__GONE)
            chroprof__free_slot(p, slot);
        return exec;
    }
    slot->exec += slice;
    if (slot->frame == 0 || p->frames[slot->frame].kind & CHROPROF__ORPHAN)
        chroprof__rest(p, slot, t);
    return slot->exec;
}

CHROPROF__COLD void chroprof__turn_stalled(chroprof *p, const chroprof__frame *base, uint64_t slice,
                                           uint64_t length)
{
    chroprof__core *c = p->core;
    chroprof__biggest *b = chroprof__turn(c, base);
    uint32_t events = ((uint32_t)c->seq - base->event) / 2;
    if (slice > b->floor)
        chroprof__note_slice(b, slice, base->id, base->path);
    chroprof__stalled(p, CHROPROF_STALL_TURN, base->pushed, length, events, b);
}

/* A slice inside a turn. */
static void chroprof__note_in_turn(chroprof *p, uint64_t slice, const chroprof__frame *frame)
{
    chroprof__biggest *b = chroprof__turn(p->core, p->frames + p->core->floor + 1);
    if (slice > b->floor)
        chroprof__note_slice(b, slice, frame->id, frame->path);
}

/* The nested loop's time is not of the slice and the turn below it. */
CHROPROF__COLD void chroprof__pop_barrier(chroprof *p, const chroprof__frame *barrier, uint64_t t)
{
    chroprof__core *c = p->core;
    c->floor = barrier->slot;
    c->level--;
    c->depth--;
    if (c->depth > c->floor)
        p->frames[c->floor + 1].excluded += t - barrier->pushed;
    p->frames[c->depth].start += t - barrier->pushed;
    chroprof__set_account(p, c);
}

/* Of a slice that was begun before the pass only what lies in it counts. */
CHROPROF__COLD void chroprof__note_in_pass(chroprof__core *c, uint64_t slice,
                                           const chroprof__frame *frame, uint64_t t)
{
    uint64_t inside = slice < t - c->pass_start ? slice : t - c->pass_start;
    if (inside > c->pass.floor)
        chroprof__note_slice(&c->pass, inside, frame->id, frame->path);
}

/* An enter-frame's call is completed with it. */
CHROPROF__INLINE void chroprof__end_call(chroprof__path *row, uint64_t t)
{
    row->live--;
    row->wall += t;
    row->completed++;
}

/* How long the stay of a frame was; of a base frame, the length of its turn. */
CHROPROF__INLINE uint64_t chroprof__stay_length(const chroprof__frame *frame, uint64_t t)
{
    return t - frame->pushed - frame->excluded;
}

/* What the end of a stay means to the turn: at its base it ends, else the frame below goes on. */
CHROPROF__INLINE void chroprof__end_length(chroprof__core *c, chroprof__frame *frame, bool base,
                                           uint64_t length)
{
    if (base) {
        c->turns++;
        chroprof__raise(&c->turn_max, length);
        c->held_turn = length;
        c->held = CHROPROF__HELD_SLICE | CHROPROF__HELD_TURN;
    } else {
        frame[-1].start += length;
        c->held = CHROPROF__HELD_SLICE;
    }
}

/* The stay of the top frame, which is no barrier, ends; row is that of its path. */
static void chroprof__end_stay(chroprof *p, chroprof__frame *frame, chroprof__path *row, uint64_t t)
{
    chroprof__core *c = p->core;
    uint64_t slice = t - frame->start, exec = slice, length = chroprof__stay_length(frame, t);
    bool base = c->depth == c->floor + 1;
    if (c->held)
        chroprof__add_held_outlined(c);
    if (frame->kind != CHROPROF__ENTER_FRAME)
        exec = chroprof__leave_slot(p, frame, slice, t);
    else
        chroprof__end_call(row, t);
    chroprof__end_slice(c, row, slice, exec);
    if (slice > c->pass.floor)
        chroprof__note_in_pass(c, slice, frame, t);
    if (!base)
        chroprof__note_in_turn(p, slice, frame);
    else if (length > c->stall_ticks)
        chroprof__turn_stalled(p, frame, slice, length);
    chroprof__end_length(c, frame, base, length);
}

/* Takes the topmost visible frame, which is no barrier, off the stack. */
static void chroprof__pop(chroprof *p, chroprof__core *c, chroprof__path *row, uint64_t t)
{
    chroprof__end_stay(p, p->frames + c->depth, row, t);
    c->depth--;
    chroprof__set_account(p, c);
}

/* The same for any frame. */
CHROPROF__COLD void chroprof__pop_any(chroprof *p, chroprof__core *c, uint64_t t)
{
    const chroprof__frame *frame = p->frames + c->depth;
    if (frame->kind == CHROPROF__BARRIER)
        chroprof__pop_barrier(p, frame, t);
    else
        chroprof__pop(p, c, p->paths + frame->path, t);
}

/* Takes frames off until depth is reached, hidden ones first; each is counted as kind. */
CHROPROF__COLD void chroprof__unwind(chroprof *p, uint32_t depth, chroprof_anomaly_kind kind,
                                     uint64_t t)
{
    chroprof__core *c = p->core;
    if (c->hidden) {
        c->anomalies[kind] += c->hidden;
        chroprof__unhide(p, c->hidden, t);
    }
    while (c->depth > depth) {
        bool barrier = p->frames[c->depth].kind == CHROPROF__BARRIER;
        chroprof__count(c, barrier ? CHROPROF_ANOMALY_BARRIER_CROSSED : kind);
        chroprof__pop_any(p, c, t);
    }
}

/* >>events: one function a kind of event, whatever it meets. Each gets profile time t, with the
 * interval up to it billed. */

/* The parent of what is created now. */
CHROPROF__INLINE uint32_t chroprof__parent(const chroprof__core *c)
{
    return c->account < CHROPROF__FIRST_PATH ? (uint32_t)CHROPROF__LOOP : c->account;
}

/* A future's record is about to go while it has frames: they lose it. */
static void chroprof__orphan_frames(chroprof *p, const chroprof__future *slot)
{
    uint32_t k = slot->frame, last = 0;
    if (k == 0 || p->frames[k].kind & CHROPROF__ORPHAN)
        return;
    p->frames[k].kind |= CHROPROF__NEWEST;
    for (; k && !(p->frames[k].kind & CHROPROF__ORPHAN); k = p->frames[k].same) {
        p->frames[k].carried = last ? 0 : slot->exec;
        p->frames[k].kind |= CHROPROF__ORPHAN;
        last = k;
    }
    p->frames[last].kind |= CHROPROF__OLDEST;
}

/* A live future's life ends; its slot stays only as long as it has frames. */
CHROPROF__INLINE void chroprof__end_life(chroprof *p, chroprof__core *c, chroprof__future *slot,
                                         uint64_t t)
{
    chroprof__path *row = p->paths + slot->path;
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    row->live--;
    row->wall += t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__LIKELY(slot->frame == 0)) {
        chroprof__free_slot(p, slot);
        return;
    }
    chroprof__orphan_frames(p, slot);
    slot->state = CHROPROF__GONE;
    slot->flags = 0;
}

/* A call begins on a path. */
CHROPROF__INLINE void chroprof__begin_call(chroprof__path *row, uint64_t t)
{
    row->calls++;
    row->live++;
    row->wall -= t;
}

/* A future's life begins in this slot. */
CHROPROF__INLINE void chroprof__begin_life(chroprof__path *row, chroprof__table *table,
                                           chroprof__future *slot, uint64_t id, uint64_t t)
{
    chroprof__begin_call(row, t);
    if (++table->used > table->peak)
        table->peak = table->used;
    slot->id = id;
    slot->since = t;
    slot->exec = 0;
    slot->state = CHROPROF_PENDING;
    slot->flags = 0;
}

/* A new live future on a path. NULL: the table is full, it is a call that nobody sees again. */
CHROPROF__INLINE chroprof__future *chroprof__create(chroprof *p, chroprof__core *c, uint64_t id,
                                                    uint32_t path, uint64_t t)
{
    chroprof__path *row = p->paths + path;
    chroprof__table *table = &c->tables[CHROPROF_TABLE_FUTURES];
    chroprof__future *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id == id && slot->state != CHROPROF__GONE)) {
        p->paths[slot->path].abandoned++;
        chroprof__end_life(p, c, slot, t);
        slot = chroprof__find(p, id);
    }
    if (CHROPROF__RARELY(table->used == table->capacity)) {
        table->dropped++;
        c->ever_dropped = 1;
        row->calls++;
        row->abandoned++;
        return NULL;
    }
    chroprof__begin_life(row, table, slot, id, t);
    slot->path = path;
    return slot;
}

static void chroprof__on_pending(chroprof *p, chroprof__core *c, uint64_t id,
                                 const chroprof_site *site, uint64_t t)
{
    static const chroprof_site unnamed = { NULL, NULL, 0 };
    if (CHROPROF__RARELY(site == NULL))
        chroprof__count(c, CHROPROF_ANOMALY_SITE_NULL);
    uint32_t k = chroprof__site_index(c, site ? site : &unnamed);
    chroprof__create(p, c, id, chroprof__child(p, chroprof__parent(c), k), t);
}

static void chroprof__on_ready(chroprof *p, chroprof__core *c, uint64_t id, uint64_t at)
{
    chroprof__future *slot = chroprof__find(p, id);
    if (slot->id != id || slot->state == CHROPROF__GONE) {
        chroprof__count(c, CHROPROF_ANOMALY_UNKNOWN_READY);
    } else if (slot->state == CHROPROF_RUNNING) {
        slot->flags |= CHROPROF__REMEMBERED;
    } else if (slot->state != CHROPROF_READY) {
        chroprof__begin_ready(p, slot, at > slot->since ? at : slot->since);
        if (CHROPROF__RARELY(slot->since < c->last))
            chroprof__blame_past(p, slot->since);
    }
}

/* The top frame is one of this slot's id from now on. */
CHROPROF__INLINE void chroprof__bind_frame(const chroprof *p, chroprof__frame *frame,
                                           uint32_t depth, uint64_t id, chroprof__future *slot)
{
    frame->id = id;
    frame->slot = (uint32_t)(slot - p->futures);
    frame->same = slot->frame;
    slot->frame = (uint16_t)depth;
}

/* A future that waited is running from now on; the event has ended no delay yet. */
CHROPROF__INLINE void chroprof__start_running(chroprof *p, chroprof__core *c,
                                              chroprof__future *slot, uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_first_ready(p, c, slot, t);
    slot->state = CHROPROF_RUNNING;
    slot->since = t;
}

/* A live future that has no frame of its own on top is running from now on. */
CHROPROF__INLINE void chroprof__set_running(chroprof *p, chroprof__future *slot, uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    if (CHROPROF__LIKELY(slot->state != CHROPROF_RUNNING))
        slot->since = t;
    slot->state = CHROPROF_RUNNING;
}

CHROPROF__INLINE void chroprof__run(chroprof *p, chroprof__core *c, chroprof__future *slot,
                                    uint64_t id, uint64_t t)
{
    chroprof__set_running(p, slot, t);
    if (CHROPROF__RARELY(chroprof__no_room(c))) {
        chroprof__hide(c, t);
        return;
    }
    chroprof__frame *frame = chroprof__push(p, c, slot->path, CHROPROF__FUTURE_FRAME, t);
    chroprof__bind_frame(p, frame, c->depth, id, slot);
    frame->future = c->depth;
}

/* Attached to a program under way: with a site the future is adopted, without it only has a
 * frame. */
CHROPROF__COLD void chroprof__run_unknown(chroprof *p, uint64_t id, const chroprof_site *site,
                                          uint64_t t)
{
    chroprof__core *c = p->core;
    if (site) {
        chroprof__count(c, CHROPROF_ANOMALY_ADOPTED);
        uint32_t k = chroprof__site_index(c, site);
        chroprof__future *adopted = chroprof__create(p, c, id, chroprof__child(p, 0, k), t);
        if (adopted) {
            chroprof__run(p, c, adopted, id, t);
            return;
        }
    } else {
        chroprof__count(c, CHROPROF_ANOMALY_UNKNOWN_RUNNING);
    }
    const chroprof__frame *top = p->frames + c->depth;
    if (!c->hidden && top->id == id && top->kind & CHROPROF__UNKNOWN) {
        chroprof__count(c, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    if (chroprof__no_room(c)) {
        chroprof__hide(c, t);
        return;
    }
    chroprof__future *slot = chroprof__find(p, id);
    slot->id = id;
    slot->state = CHROPROF__GONE;
    uint32_t kind = CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN | CHROPROF__NEWEST |
                    CHROPROF__OLDEST | CHROPROF__UNKNOWN;
    chroprof__frame *frame = chroprof__push(p, c, CHROPROF__UNTRACKED, kind, t);
    chroprof__bind_frame(p, frame, c->depth, id, slot);
    frame->future = c->depth;
    frame->carried = 0;
}

/* Is the topmost frame one of this id? */
CHROPROF__INLINE bool chroprof__on_top(const chroprof *p, const chroprof__core *c, uint64_t id)
{
    return p->frames[c->depth].id == id && c->hidden == 0;
}

CHROPROF__INLINE void chroprof__on_running(chroprof *p, chroprof__core *c, uint64_t id,
                                           const chroprof_site *site, uint64_t t)
{
    chroprof__future *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__run_unknown(p, id, site, t);
        return;
    }
    if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING) && chroprof__on_top(p, c, id) &&
        !(p->frames[c->depth].kind & CHROPROF__ORPHAN)) {
        chroprof__count(c, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    chroprof__run(p, c, slot, id, t);
}

/* A pause of what is not on top. */
CHROPROF__COLD void chroprof__pause_buried(chroprof *p, uint64_t id, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future *slot = chroprof__find(p, id);
    if (slot->id != id) {
        chroprof__count(c, CHROPROF_ANOMALY_UNKNOWN_PAUSED);
    } else if (slot->frame) {
        chroprof__unwind(p, slot->frame, CHROPROF_ANOMALY_UNWOUND_BY_PAUSE, t);
        chroprof__pop_any(p, c, t);
    } else if (slot->state == CHROPROF_RUNNING) {
        if (c->hidden)
            chroprof__unhide(p, 1, t);
        chroprof__rest(p, slot, t);
    } else {
        chroprof__count(c, CHROPROF_ANOMALY_NOT_RUNNING);
    }
}

CHROPROF__INLINE void chroprof__on_paused(chroprof *p, chroprof__core *c, uint64_t id, uint64_t t)
{
    if (CHROPROF__LIKELY(chroprof__on_top(p, c, id)))
        chroprof__pop(p, c, p->paths + c->account, t);
    else
        chroprof__pause_buried(p, id, t);
}

static void chroprof__on_stillborn(chroprof *p, const chroprof_site *site)
{
    uint32_t k = chroprof__site_index(p->core, site);
    p->paths[chroprof__child(p, chroprof__parent(p->core), k)].stillborn++;
}

/* A finish of an id that is no live future. */
CHROPROF__COLD void chroprof__finish_unknown(chroprof *p, uint64_t id, const chroprof_site *site)
{
    if (site && !(id && p->core->ever_dropped))
        chroprof__on_stillborn(p, site);
    else
        chroprof__count(p->core, id ? CHROPROF_ANOMALY_UNKNOWN_FINISH : CHROPROF_ANOMALY_ID_ZERO);
}

CHROPROF__INLINE void chroprof__count_finish(chroprof__path *row, chroprof_state state)
{
    if (state == CHROPROF_COMPLETED)
        row->completed++;
    else if (state == CHROPROF_FAILED)
        row->failed++;
    else
        row->cancelled++;
}

/* A finish of a running future that was not on top. */
CHROPROF__COLD void chroprof__finish_buried(chroprof *p, const chroprof__future *slot, uint64_t t)
{
    if (slot->frame)
        chroprof__count(p->core, CHROPROF_ANOMALY_BURIED_FINISH);
    else if (p->core->hidden)
        chroprof__unhide(p, 1, t);
}

/* A finish while a frame of this id is on top that is not its live future's. That frame is another
 * one's, unless there is no such future: then it is what runs, and its code is over. */
CHROPROF__COLD void chroprof__finish_on_orphan(chroprof *p, chroprof_state state, uint64_t id,
                                               const chroprof_site *site, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future *slot = chroprof__find(p, id);
    if (slot->state == CHROPROF__GONE) {
        chroprof__pop_any(p, c, t);
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (slot->state == CHROPROF_RUNNING)
        chroprof__finish_buried(p, slot, t);
    chroprof__count_finish(p->paths + slot->path, state);
    chroprof__end_life(p, c, slot, t);
}

CHROPROF__INLINE void chroprof__on_finish(chroprof *p, chroprof__core *c, chroprof_state state,
                                          uint64_t id, const chroprof_site *site, uint64_t t)
{
    const chroprof__frame *top = p->frames + c->depth;
    bool on_top = chroprof__on_top(p, c, id);
    if (CHROPROF__RARELY(on_top && top->kind & CHROPROF__ORPHAN)) {
        chroprof__finish_on_orphan(p, state, id, site, t);
        return;
    }
    chroprof__future *slot = on_top ? p->futures + top->slot : chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (CHROPROF__LIKELY(on_top))
        chroprof__pop(p, c, p->paths + c->account, t);
    else if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING))
        chroprof__finish_buried(p, slot, t);
    chroprof__count_finish(p->paths + slot->path, state);
    chroprof__end_life(p, c, slot, t);
}

/* Pauses the innermost future above the barrier, unwinding enter-frames above it, and runs id. */
static void chroprof__on_switch(chroprof *p, chroprof__core *c, uint64_t id, uint64_t t)
{
    uint32_t future = p->frames[c->depth].future;
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (future) {
        chroprof__unwind(p, future, CHROPROF_ANOMALY_UNWOUND_BY_SWITCH, t);
        chroprof__pop_any(p, c, t);
    }
    if (id)
        chroprof__on_running(p, c, id, NULL, t);
}

/* An enter-frame: it has no id, and the futures below it remain what they are. */
CHROPROF__INLINE void chroprof__push_call(chroprof *p, chroprof__core *c, uint32_t path, uint64_t t)
{
    uint32_t future = p->frames[c->depth].future;
    chroprof__frame *frame = chroprof__push(p, c, path, CHROPROF__ENTER_FRAME, t);
    frame->id = 0;
    frame->same = 0;
    frame->future = future;
}

CHROPROF__INLINE void chroprof__on_enter(chroprof *p, chroprof__core *c, const chroprof_site *site,
                                         uint64_t t)
{
    if (CHROPROF__RARELY(site == NULL)) {
        chroprof__count(c, CHROPROF_ANOMALY_SITE_NULL);
        return;
    }
    if (CHROPROF__RARELY(chroprof__no_room(c))) {
        chroprof__hide(c, t);
        return;
    }
    uint32_t path = chroprof__child(p, chroprof__parent(c), chroprof__site_index(c, site));
    chroprof__begin_call(p->paths + path, t);
    chroprof__push_call(p, c, path, t);
}

CHROPROF__INLINE void chroprof__on_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (CHROPROF__RARELY(c->hidden))
        chroprof__unhide(p, 1, t);
    else if (CHROPROF__LIKELY(p->frames[c->depth].kind == CHROPROF__ENTER_FRAME))
        chroprof__pop(p, c, p->paths + c->account, t);
    else
        chroprof__count(c, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER);
}

static void chroprof__on_loop_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (chroprof__no_room(c)) {
        chroprof__hide(c, t);
        return;
    }
    uint32_t outer = c->floor;
    chroprof__frame *frame = chroprof__push(p, c, CHROPROF__LOOP, CHROPROF__BARRIER, t);
    frame->id = 0;
    frame->same = 0;
    frame->future = 0;
    frame->slot = outer;
    c->floor = c->depth;
    c->level++;
}

static void chroprof__on_loop_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (c->floor) {
        chroprof__unwind(p, c->floor, CHROPROF_ANOMALY_UNWOUND_BY_LOOP, t);
        chroprof__pop_any(p, c, t);
    } else {
        chroprof__count(c, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER);
    }
}

/* The pass ends that the last end of an idle began. */
static void chroprof__end_pass(chroprof *p, chroprof__core *c, uint64_t t)
{
    uint64_t length = t - c->pass_start;
    c->passes++;
    chroprof__raise(&c->pass_max, length);
    if (c->tables[CHROPROF_TABLE_HISTOGRAMS].rows)
        chroprof__histogram_add(&chroprof__histogram_rows(c)[0].delay, chroprof__bucket(length),
                                length);
    if (length > c->stall_ticks)
        chroprof__stalled(p, CHROPROF_STALL_PASS, c->pass_start, length, c->seq / 2 - c->pass_event,
                          &c->pass);
}

static void chroprof__on_idle_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    chroprof__unwind(p, c->floor, CHROPROF_ANOMALY_UNWOUND_BY_IDLE, t);
    if (c->pass_active)
        chroprof__end_pass(p, c, t);
    c->account = CHROPROF__IDLE;
    c->horizon = t;                 /* the next event takes the slow way, which ends the idle */
}

/* The slow way has ended the idle already, if there was one: then the pass under way began just
 * now. */
static void chroprof__on_idle_leave(chroprof__core *c)
{
    if (!c->pass_active || c->pass_event != c->seq / 2)
        chroprof__count(c, CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER);
}

/* >>gate: what every event goes through. */

CHROPROF__INLINE void chroprof__dispatch(chroprof *p, chroprof__core *c, chroprof_state state,
                                         uint64_t id, const chroprof_site *site, uint64_t t)
{
    switch (state) {
    case CHROPROF_PENDING: chroprof__on_pending(p, c, id, site, t); break;
    case CHROPROF_READY: chroprof__on_ready(p, c, id, t); break;
    case CHROPROF_RUNNING: chroprof__on_running(p, c, id, site, t); break;
    case CHROPROF_PAUSED: chroprof__on_paused(p, c, id, t); break;
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: chroprof__on_finish(p, c, state, id, site, t); break;
    case CHROPROF_IDLE_ENTER: chroprof__on_idle_enter(p, c, t); break;
    case CHROPROF_IDLE_LEAVE: chroprof__on_idle_leave(c); break;
    case CHROPROF_LOOP_ENTER: chroprof__on_loop_enter(p, c, t); break;
    case CHROPROF_LOOP_LEAVE: chroprof__on_loop_leave(p, c, t); break;
    case CHROPROF_ENTER: chroprof__on_enter(p, c, site, t); break;
    case CHROPROF_LEAVE: chroprof__on_leave(p, c, t); break;
    case CHROPROF_TICK: break;
    case CHROPROF_SWITCH: chroprof__on_switch(p, c, id, t); break;
    default: chroprof__count(c, CHROPROF_ANOMALY_BAD_STATE); break;
    }
}

/* The states that mean a future: id 0 is none. A finish without an id can be a stillborn. */
CHROPROF__INLINE bool chroprof__needs_id(chroprof_state state)
{
    return state <= CHROPROF_CANCELLED;
}

CHROPROF__COLD void chroprof__without_id(chroprof *p, chroprof_state state,
                                         const chroprof_site *site)
{
    if (state >= CHROPROF_COMPLETED)
        chroprof__finish_unknown(p, 0, site);
    else
        chroprof__count(p->core, CHROPROF_ANOMALY_ID_ZERO);
}

/* Begins an event. Returns profile time, with the interval billed. */
CHROPROF__INLINE uint64_t chroprof__begin_event(chroprof *p, chroprof__core *c,
                                                chroprof_state state, uint64_t id, uint64_t now)
{
    chroprof__open_event(c, state, id, now);
    return chroprof__advance(p, c, now);
}

CHROPROF__COLD void chroprof__call_on_stall(chroprof *p);

/* Around what changes the block outside an event. */
static void chroprof__begin_edit(chroprof__core *c)
{
    c->edits++;
    CHROPROF__STORE_FENCE();
}

static void chroprof__end_edit(chroprof__core *c)
{
    CHROPROF__STORE_FENCE();
    c->edits++;
}

/* The general way of an event that has been opened: whatever it meets. */
CHROPROF__NOINLINE void chroprof__general(chroprof *p, chroprof_state state, uint64_t id,
                                          const chroprof_site *site, uint64_t now)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__advance(p, c, now);
    if (chroprof__needs_id(state) && id == 0)
        chroprof__without_id(p, state, site);
    else
        chroprof__dispatch(p, c, state, id, site, t);
    chroprof__end_event(c);
    if (p->stall_due)
        chroprof__call_on_stall(p);
}

/* >>straight: the common way of the common events, and the gate. Whatever is rare is asked for at
 * once, before anything changes, and goes the general way. What is left calls nothing but at its
 * very end, so little is saved and nothing is loaded twice. Bought (gcc 12, instructions, the clock
 * read included): slice 314 -> 274, switch 229 -> 210, whole life 896 -> 773, enter and leave
 * 319 -> 293. Both ways are made of the same parts. */

/* What is known of an event that has been opened, before anything changes. */
typedef struct chroprof__moment {
    chroprof__path *row;       /* of the account, which the interval is billed to */
    uint64_t t, dt;
    uint32_t account, depth;
    bool plain;                /* no window ends, no idle, no hidden frame, no clock to tend */
} chroprof__moment;

CHROPROF__INLINE chroprof__moment chroprof__look(const chroprof *p, const chroprof__core *c,
                                                 uint64_t now)
{
    chroprof__moment m;
    m.account = c->account;
    m.depth = c->depth;
    m.row = p->paths + m.account;
    m.t = now - c->epoch;
    m.dt = m.t - c->last;
    m.plain = m.dt < c->horizon - c->last && m.row->window == c->window;
    return m;
}

/* Bills the interval of a plain event. */
CHROPROF__INLINE void chroprof__bill_plain(chroprof__core *c, const chroprof__moment *m)
{
    chroprof__bill_inside(c, m->row, m->dt);
    c->last = m->t;
    chroprof__note_interval(c, m->t, m->account);
}

/* Is this the slot of a live future that does not run? An empty one has id 0. */
CHROPROF__INLINE bool chroprof__waits(const chroprof__future *slot, uint64_t id)
{
    return slot->id == id && id != 0 && slot->state != CHROPROF_RUNNING &&
           slot->state != CHROPROF__GONE;
}

/* Is the top frame the only one of a live future of this id, and nothing to be remembered? */
CHROPROF__INLINE bool chroprof__runs_plain(const chroprof__frame *top, const chroprof__future *slot,
                                           uint64_t id)
{
    return top->id == id && top->kind == CHROPROF__FUTURE_FRAME && top->same == 0 &&
           !(slot->flags & CHROPROF__REMEMBERED);
}

/* Does a list of biggest slices take the slice of this frame? */
CHROPROF__INLINE bool chroprof__is_notable(const chroprof *p, const chroprof__core *c, bool base,
                                           uint64_t slice)
{
    if (CHROPROF__RARELY(slice > c->pass.floor))
        return true;
    if (base)
        return false;
    const chroprof__biggest *b = c->turn;
    b += c->level < CHROPROF__LEVELS ? c->level : CHROPROF__LEVELS - 1u;
    return b->owner != p->frames[c->floor + 1].event || slice > b->floor;
}

/* Puts the slice of a frame that has been popped into the lists, and ends the event. */
CHROPROF__NOINLINE void chroprof__note_and_end(chroprof *p, const chroprof__frame *frame,
                                               uint64_t slice)
{
    chroprof__core *c = p->core;
    if (slice > c->pass.floor)
        chroprof__note_in_pass(c, slice, frame, c->last);
    if (c->depth > c->floor)
        chroprof__note_in_turn(p, slice, frame);
    chroprof__end_event(c);
}

/* The stay of the top frame ends, and it is popped. Returns whether a list takes the slice. */
CHROPROF__INLINE bool chroprof__pop_plain(chroprof *p, chroprof__core *c, const chroprof__moment *m,
                                          uint64_t slice, uint64_t exec, uint64_t length)
{
    chroprof__frame *frame = p->frames + m->depth;
    bool base = m->depth == c->floor + 1;
    chroprof__end_slice(c, m->row, slice, exec);
    chroprof__end_length(c, frame, base, length);
    c->depth = m->depth - 1;
    c->account = frame[-1].path;
    return chroprof__is_notable(p, c, base, slice);
}

CHROPROF__NOINLINE void chroprof__pending(chroprof *p, uint64_t id, const chroprof_site *site,
                                          chroprof__future *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_PENDING, id, now);
    chroprof__table *table = &c->tables[CHROPROF_TABLE_FUTURES];
    uint32_t k = CHROPROF__LIKELY(site) ? chroprof__known_site(c, site) : 0;
    const chroprof__edge *edge = chroprof__find_edge(c, chroprof__parent(c), k);
    chroprof__future *slot = chroprof__find_from(p, id, home);
    const chroprof__moment m = chroprof__look(p, c, now);
    if (CHROPROF__RARELY(!m.plain || id == 0 || slot->id != 0 || edge->site == 0 ||
                         table->used == table->capacity)) {
        chroprof__general(p, CHROPROF_PENDING, id, site, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    chroprof__begin_life(p->paths + edge->target, table, slot, id, m.t);
    slot->path = edge->target;
    chroprof__end_event(c);
}

CHROPROF__NOINLINE void chroprof__running(chroprof *p, uint64_t id, const chroprof_site *site,
                                          chroprof__future *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_RUNNING, id, now);
    chroprof__future *slot = chroprof__find_from(p, id, home);
    const chroprof__moment m = chroprof__look(p, c, now);
    if (CHROPROF__RARELY(!m.plain || !chroprof__waits(slot, id) || chroprof__no_room(c))) {
        chroprof__general(p, CHROPROF_RUNNING, id, site, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    chroprof__start_running(p, c, slot, m.t);
    chroprof__frame *frame = p->frames + m.depth + 1;
    c->depth = m.depth + 1;
    frame->kind = CHROPROF__FUTURE_FRAME;
    frame->future = m.depth + 1;
    chroprof__begin_stay(c, frame, slot->path, m.t);
    chroprof__bind_frame(p, frame, m.depth + 1, id, slot);
    chroprof__end_event(c);
}

CHROPROF__NOINLINE void chroprof__paused(chroprof *p, uint64_t id, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_PAUSED, id, now);
    const chroprof__moment m = chroprof__look(p, c, now);
    chroprof__frame *frame = p->frames + m.depth;
    chroprof__future *slot = p->futures + frame->slot;
    uint64_t slice = m.t - frame->start, length = chroprof__stay_length(frame, m.t);
    if (CHROPROF__RARELY(!m.plain || !chroprof__runs_plain(frame, slot, id) ||
                         length > c->stall_ticks)) {
        chroprof__general(p, CHROPROF_PAUSED, id, NULL, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    slot->frame = 0;
    slot->exec += slice;
    chroprof__come_to_rest(slot, m.t);
    if (CHROPROF__RARELY(chroprof__pop_plain(p, c, &m, slice, slot->exec, length)))
        chroprof__note_and_end(p, frame, slice);
    else
        chroprof__end_event(c);
}

/* From a future on top to one that waits: the frame just changes hands. */
CHROPROF__NOINLINE void chroprof__switched(chroprof *p, uint64_t id, chroprof__future *home,
                                           uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_SWITCH, id, now);
    chroprof__future *slot = chroprof__find_from(p, id, home);
    const chroprof__moment m = chroprof__look(p, c, now);
    chroprof__frame *frame = p->frames + m.depth;
    chroprof__future *old = p->futures + frame->slot;
    uint64_t slice = m.t - frame->start, length = chroprof__stay_length(frame, m.t);
    bool base = m.depth == c->floor + 1;
    if (CHROPROF__RARELY(!m.plain || !chroprof__runs_plain(frame, old, frame->id) ||
                         !chroprof__waits(slot, id) || length > c->stall_ticks ||
                         chroprof__is_notable(p, c, base, slice))) {
        chroprof__general(p, CHROPROF_SWITCH, id, NULL, now);
        return;
    }
    CHROPROF__READ_AGAIN();
    chroprof__bill_plain(c, &m);
    old->frame = 0;
    old->exec += slice;
    chroprof__come_to_rest(old, m.t);
    chroprof__end_slice(c, m.row, slice, old->exec);
    chroprof__end_length(c, frame, base, length);
    chroprof__start_running(p, c, slot, m.t);
    chroprof__begin_stay(c, frame, slot->path, m.t);
    chroprof__bind_frame(p, frame, m.depth, id, slot);
    chroprof__end_event(c);
}

/* What is left to do for a future that finished on top. */
CHROPROF__NOINLINE void chroprof__free_and_end(chroprof *p, const chroprof__frame *frame,
                                               uint64_t slice, bool notable)
{
    chroprof__free_slot(p, p->futures + frame->slot);
    if (notable)
        chroprof__note_and_end(p, frame, slice);
    else
        chroprof__end_event(p->core);
}

/* A finish of the future on top. */
CHROPROF__NOINLINE void chroprof__finished(chroprof *p, chroprof_state state, uint64_t id,
                                           const chroprof_site *site, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, state, id, now);
    const chroprof__moment m = chroprof__look(p, c, now);
    chroprof__frame *frame = p->frames + m.depth;
    chroprof__future *slot = p->futures + frame->slot;
    uint64_t slice = m.t - frame->start, length = chroprof__stay_length(frame, m.t);
    if (CHROPROF__RARELY(!m.plain || !chroprof__runs_plain(frame, slot, id) ||
                         length > c->stall_ticks)) {
        chroprof__general(p, state, id, site, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    slot->frame = 0;
    bool notable = chroprof__pop_plain(p, c, &m, slice, slot->exec + slice, length);
    chroprof__count_finish(m.row, state);
    m.row->live--;
    m.row->wall += m.t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__RARELY(notable) || chroprof__next_slot(p, slot)->id != 0) {
        chroprof__free_and_end(p, frame, slice, notable);
        return;
    }
    memset(slot, 0, sizeof(*slot));
    chroprof__end_event(c);
}

CHROPROF__NOINLINE void chroprof__entered(chroprof *p, const chroprof_site *site, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_ENTER, 0, now);
    uint32_t k = CHROPROF__LIKELY(site) ? chroprof__known_site(c, site) : 0;
    const chroprof__edge *edge = chroprof__find_edge(c, chroprof__parent(c), k);
    const chroprof__moment m = chroprof__look(p, c, now);
    if (CHROPROF__RARELY(!m.plain || edge->site == 0 || chroprof__no_room(c))) {
        chroprof__general(p, CHROPROF_ENTER, 0, site, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    chroprof__begin_call(p->paths + edge->target, m.t);
    chroprof__push_call(p, c, edge->target, m.t);
    chroprof__end_event(c);
}

CHROPROF__NOINLINE void chroprof__left(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__open_event(c, CHROPROF_LEAVE, 0, now);
    const chroprof__moment m = chroprof__look(p, c, now);
    chroprof__frame *frame = p->frames + m.depth;
    uint64_t slice = m.t - frame->start, length = chroprof__stay_length(frame, m.t);
    if (CHROPROF__RARELY(!m.plain || frame->kind != CHROPROF__ENTER_FRAME ||
                         length > c->stall_ticks)) {
        chroprof__general(p, CHROPROF_LEAVE, 0, NULL, now);
        return;
    }
    chroprof__bill_plain(c, &m);
    chroprof__end_call(m.row, m.t);
    if (CHROPROF__RARELY(chroprof__pop_plain(p, c, &m, slice, slice, length)))
        chroprof__note_and_end(p, frame, slice);
    else
        chroprof__end_event(c);
}

/* The kinds that only have the general way. */
CHROPROF__NOINLINE void chroprof__rare(chroprof *p, chroprof_state state, uint64_t id,
                                       const chroprof_site *site, uint64_t now)
{
    chroprof__open_event(p->core, state, id, now);
    chroprof__general(p, state, id, site, now);
}

/* The gate itself. home: where the search for the id begins. */
CHROPROF__INLINE void chroprof__gate(chroprof *p, chroprof_state state, uint64_t id,
                                     const chroprof_site *site, chroprof__future *home,
                                     uint64_t now)
{
    switch (state) {
    case CHROPROF_PENDING: chroprof__pending(p, id, site, home, now); break;
    case CHROPROF_RUNNING: chroprof__running(p, id, site, home, now); break;
    case CHROPROF_PAUSED: chroprof__paused(p, id, now); break;
    case CHROPROF_SWITCH: chroprof__switched(p, id, home, now); break;
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: chroprof__finished(p, state, id, site, now); break;
    case CHROPROF_ENTER: chroprof__entered(p, site, now); break;
    case CHROPROF_LEAVE: chroprof__left(p, now); break;
    default: chroprof__rare(p, state, id, site, now); break;
    }
}

/* >>reading: everything from here on only looks, as of the last event. */

CHROPROF__COLD_BEGIN

CHROPROF__INLINE uint64_t chroprof__ns(const chroprof__core *c, uint64_t ticks)
{
    return chroprof__scale(ticks, c->factor);
}

static uint32_t chroprof__path_count(const chroprof *p)
{
    return CHROPROF__FIRST_PATH + (uint32_t)p->core->tables[CHROPROF_TABLE_PATHS].used;
}

static uint32_t chroprof__site_count(const chroprof *p)
{
    return CHROPROF__FIRST_SITE + (uint32_t)p->core->tables[CHROPROF_TABLE_SITES].used;
}

static bool chroprof__site_used(const chroprof *p, uint32_t site)
{
    return site >= CHROPROF__OTHER && chroprof__sites(p->core)[site].first_path != 0;
}

CHROPROF__UNUSED static uint32_t chroprof__path_next(const chroprof *p, uint32_t path)
{
    return p->paths[path].next;
}

CHROPROF__UNUSED static const char *chroprof__name(const chroprof *p)
{
    return p->core->name;
}

/* Ticks of the slice under way that frame k has so far. */
static uint64_t chroprof__frame_slice(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    uint64_t end = c->hidden ? c->hidden_since : c->last;
    if (k < c->depth)
        end = p->frames[k + 1].pushed;
    return end - p->frames[k].start;
}

/* Exec of the future whose newest frame is k, slices under way included. */
static uint64_t chroprof__frame_exec(const chroprof *p, uint32_t k)
{
    const chroprof__frame *frame = p->frames + k;
    uint64_t exec = chroprof__frame_slice(p, k);
    if (frame->id == 0)
        return exec;
    bool orphan = (frame->kind & CHROPROF__ORPHAN) != 0;
    exec += orphan ? frame->carried : p->futures[frame->slot].exec;
    while (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        k = frame->same;
        frame = p->frames + k;
        if (!orphan && frame->kind & CHROPROF__ORPHAN)
            break;
        exec += chroprof__frame_slice(p, k) + (orphan ? frame->carried : 0);
    }
    return exec;
}

/* The newest frame of its future? Only that one tells the future's exec. */
static bool chroprof__is_newest(const chroprof *p, uint32_t k)
{
    const chroprof__frame *frame = p->frames + k;
    if (frame->id == 0)
        return frame->kind == CHROPROF__ENTER_FRAME;
    if (frame->kind & CHROPROF__ORPHAN)
        return (frame->kind & CHROPROF__NEWEST) != 0;
    return p->futures[frame->slot].frame == k;
}

/* What a path's slices are with the stays under way: how many, the longest, the largest exec. */
static void chroprof__read_slices(const chroprof *p, uint32_t path, uint64_t *count,
                                  uint64_t *slice, uint64_t *exec)
{
    *count = p->paths[path].slices;
    *slice = p->paths[path].slice_max;
    *exec = p->paths[path].exec_max;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        if (p->frames[k].path != path || p->frames[k].kind == CHROPROF__BARRIER)
            continue;
        uint64_t now = chroprof__frame_slice(p, k);
        uint64_t all = chroprof__is_newest(p, k) ? chroprof__frame_exec(p, k) : 0;
        ++*count;
        *slice = now > *slice ? now : *slice;
        *exec = all > *exec ? all : *exec;
    }
    if (*exec > p->paths[path].exec)        /* in a copy of several moments, in a difference */
        *exec = p->paths[path].exec;
}

/* Exec of everything below a path: its subtree follows it in preorder. */
static uint64_t chroprof__children_ns(const chroprof *p, uint32_t path)
{
    uint64_t ns = 0;
    uint32_t level = p->paths[path].level;
    for (uint32_t k = p->paths[path].next; k && p->paths[k].level > level; k = p->paths[k].next)
        ns += chroprof__ns(p->core, p->paths[k].exec);
    return ns;
}

static uint64_t chroprof__wall_ns(const chroprof *p, const chroprof__path *row)
{
    return chroprof__ns(p->core, row->wall + row->live * p->core->last);
}

static uint64_t chroprof__delay_ticks(const chroprof *p, const chroprof__path *row)
{
    return row->delay + row->ready * p->core->last;
}

static void chroprof__read_site_name(const chroprof *p, uint32_t site, const char **name,
                                     const char **file, uint32_t *line)
{
    const chroprof__site *row = chroprof__sites(p->core) + site;
    *name = chroprof__string(p->core, row->name);
    *file = chroprof__string(p->core, row->file);
    *line = row->line;
}

static void chroprof__read_path(const chroprof *p, uint32_t path, chroprof_path *out)
{
    const chroprof__path *row = p->paths + path;
    uint64_t slices, slice_max, exec_max;
    chroprof__read_slices(p, path, &slices, &slice_max, &exec_max);
    memset(out, 0, sizeof(*out));
    out->id = path;
    out->parent = row->parent;
    out->site = row->site;
    chroprof__read_site_name(p, row->site, &out->name, &out->file, &out->line);
    out->exec_ns = chroprof__ns(p->core, row->exec);
    out->with_children_ns = out->exec_ns + chroprof__children_ns(p, path);
    out->exec_max_ns = chroprof__ns(p->core, exec_max);
    out->slice_max_ns = chroprof__ns(p->core, slice_max);
    out->slices = slices;
    out->wall_ns = chroprof__wall_ns(p, row);
    out->delay_ns = chroprof__ns(p->core, chroprof__delay_ticks(p, row));
    out->waiting_ns = chroprof__minus(out->wall_ns, out->exec_ns + out->delay_ns);
    out->blame_ns = chroprof__ns(p->core, row->blame);
    out->calls = row->calls;
    out->completed = row->completed;
    out->failed = row->failed;
    out->cancelled = row->cancelled;
    out->abandoned = row->abandoned;
    out->live = row->live + row->merged_live;
    out->stillborn = row->stillborn;
}

/* The value below which permille of the entries lie (nearest rank); max is the largest of them,
 * held an entry not yet added, 0 times or once. */
static uint64_t chroprof__percentile(const chroprof__histogram *h, uint64_t max, uint64_t permille,
                                     bool held, uint64_t held_ticks)
{
    uint64_t total = held, seen = 0;
    uint64_t min = held && held_ticks < h->min ? held_ticks : h->min;
    uint32_t held_bucket = held ? chroprof__bucket(held_ticks) : (uint32_t)CHROPROF__BUCKETS, k = 0;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++)
        total += h->count[b];
    if (total == 0)
        return 0;
    uint64_t rank = total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
    for (;; k++) {                          /* the last bucket makes seen the total */
        seen += h->count[k] + (k == held_bucket);
        if (seen >= rank)
            break;
    }
    uint64_t value = chroprof__bucket_value(k);
    if (k == CHROPROF__BUCKETS - 1)
        value = max;
    return value < min ? min : value > max ? max : value;
}

static uint64_t chroprof__slice_percentile_ns(const chroprof *p, uint32_t row, uint64_t max,
                                              uint64_t permille)
{
    const chroprof__core *c = p->core;
    bool held = c->held & CHROPROF__HELD_SLICE && c->held_slice_row == row;
    const chroprof__histogram *h = &chroprof__histogram_rows(c)[row].slice;
    return chroprof__ns(c, chroprof__percentile(h, max, permille, held, c->held_slice));
}

static uint64_t chroprof__delay_percentile_ns(const chroprof *p, uint32_t row, uint64_t max,
                                              uint64_t permille)
{
    const chroprof__core *c = p->core;
    bool held = c->held & CHROPROF__HELD_DELAY && c->held_delay_row == row;
    const chroprof__histogram *h = &chroprof__histogram_rows(c)[row].delay;
    return chroprof__ns(c, chroprof__percentile(h, max, permille, held, c->held_delay));
}

/* Row 0 is the loop's own: 0 where there are no histograms at all. */
static uint64_t chroprof__turn_percentile_ns(const chroprof *p, uint64_t permille)
{
    const chroprof__core *c = p->core;
    if (c->tables[CHROPROF_TABLE_HISTOGRAMS].rows == 0)
        return 0;
    return chroprof__ns(c, chroprof__percentile(&chroprof__histogram_rows(c)[0].slice, c->turn_max,
                                                permille, (c->held & CHROPROF__HELD_TURN) != 0,
                                                c->held_turn));
}

static uint64_t chroprof__pass_percentile_ns(const chroprof *p, uint64_t permille)
{
    const chroprof__core *c = p->core;
    if (c->tables[CHROPROF_TABLE_HISTOGRAMS].rows == 0)
        return 0;
    return chroprof__ns(c, chroprof__percentile(&chroprof__histogram_rows(c)[0].delay, c->pass_max,
                                                permille, false, 0));
}

/* Adds one path's figures to its site's. */
static void chroprof__add_path(chroprof_rank *out, const chroprof_path *path)
{
    out->exec_ns += path->exec_ns;
    out->with_children_ns += path->with_children_ns;
    if (path->exec_max_ns > out->exec_max_ns)
        out->exec_max_ns = path->exec_max_ns;
    if (path->slice_max_ns > out->slice_max_ns)
        out->slice_max_ns = path->slice_max_ns;
    out->slices += path->slices;
    out->wall_ns += path->wall_ns;
    out->delay_ns += path->delay_ns;
    out->blame_ns += path->blame_ns;
    out->calls += path->calls;
    out->completed += path->completed;
    out->failed += path->failed;
    out->cancelled += path->cancelled;
    out->abandoned += path->abandoned;
    out->live += path->live;
    out->stillborn += path->stillborn;
}

static void chroprof__read_percentiles(const chroprof *p, uint32_t first, chroprof_rank *out)
{
    uint32_t row = p->paths[first].histogram;
    uint64_t slice = 0, delay = 0;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        slice = p->paths[k].slice_max > slice ? p->paths[k].slice_max : slice;
        delay = p->paths[k].delay_max > delay ? p->paths[k].delay_max : delay;
    }
    out->has_percentiles = true;
    out->slice_p50_ns = chroprof__slice_percentile_ns(p, row, slice, 500);
    out->slice_p90_ns = chroprof__slice_percentile_ns(p, row, slice, 900);
    out->slice_p99_ns = chroprof__slice_percentile_ns(p, row, slice, 990);
    out->slice_p999_ns = chroprof__slice_percentile_ns(p, row, slice, 999);
    out->delay_p99_ns = chroprof__delay_percentile_ns(p, row, delay, 990);
}

static void chroprof__read_site(const chroprof *p, uint32_t site, chroprof_rank *out)
{
    chroprof_path path;
    uint32_t k = chroprof__sites(p->core)[site].first_path;
    memset(out, 0, sizeof(*out));
    chroprof__read_site_name(p, site, &out->name, &out->file, &out->line);
    out->id = site;
    if (p->paths[k].histogram)
        chroprof__read_percentiles(p, k, out);
    for (; k; k = p->paths[k].same_site) {
        chroprof__read_path(p, k, &path);
        chroprof__add_path(out, &path);
    }
    out->children_ns = out->with_children_ns - out->exec_ns;
    out->waiting_ns = chroprof__minus(out->wall_ns, out->exec_ns + out->delay_ns);
}

static uint64_t chroprof__order_key(const chroprof_rank *rank, chroprof_order by)
{
    switch (by) {
    case CHROPROF_BY_WITH_CHILDREN: return rank->with_children_ns;
    case CHROPROF_BY_SLICE_MAX: return rank->slice_max_ns;
    case CHROPROF_BY_BLAME: return rank->blame_ns;
    case CHROPROF_BY_DELAY: return rank->delay_ns;
    case CHROPROF_BY_CALLS: return rank->calls;
    case CHROPROF_BY_EXEC:
    default: return rank->exec_ns;
    }
}

/* Does a come before b? A total order: no two sites have the same content, but for cut names. */
static bool chroprof__before(const chroprof_rank *a, const chroprof_rank *b, chroprof_order by)
{
    uint64_t key_a = chroprof__order_key(a, by), key_b = chroprof__order_key(b, by);
    int name = strcmp(a->name, b->name), file = strcmp(a->file, b->file);
    if (key_a != key_b)
        return key_a > key_b;
    if (a->exec_ns != b->exec_ns)
        return a->exec_ns > b->exec_ns;
    if (name != 0)
        return name < 0;
    if (file != 0)
        return file < 0;
    return a->line != b->line ? a->line < b->line : a->id < b->id;
}

/* Lets the row at k sink in a heap that has the last in order at its root. */
static void chroprof__sift(chroprof_rank *heap, size_t count, size_t k, chroprof_order by)
{
    chroprof_rank row = heap[k];
    for (;;) {
        size_t child = 2 * k + 1;
        if (child + 1 < count && chroprof__before(heap + child, heap + child + 1, by))
            child++;
        if (child >= count || !chroprof__before(&row, heap + child, by))
            break;
        heap[k] = heap[child];
        k = child;
    }
    heap[k] = row;
}

/* The sites that come first, in a heap. Returns how many sites there are. */
static size_t chroprof__collect(const chroprof *p, chroprof_rank *out, size_t capacity,
                                chroprof_order by)
{
    size_t count = 0;
    for (uint32_t site = CHROPROF__OTHER; site < chroprof__site_count(p); site++) {
        chroprof_rank rank;
        if (!chroprof__site_used(p, site))
            continue;
        count++;
        if (capacity == 0)
            continue;
        chroprof__read_site(p, site, &rank);
        if (count <= capacity)
            out[count - 1] = rank;
        if (count == capacity)
            for (size_t k = capacity / 2; k-- > 0;)
                chroprof__sift(out, capacity, k, by);
        if (count > capacity && chroprof__before(&rank, out, by)) {
            out[0] = rank;
            chroprof__sift(out, capacity, 0, by);
        }
    }
    return count;
}

CHROPROF__COLD_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                         chroprof_order by)
{
    if (!p || !p->core)
        return 0;
    size_t count = chroprof__collect(p, out, out ? capacity : 0, by);
    size_t rows = out ? count < capacity ? count : capacity : 0;
    if (rows < capacity)
        for (size_t k = rows / 2; k-- > 0;)
            chroprof__sift(out, rows, k, by);
    for (size_t end = rows; end > 1; end--) {       /* heapsort (Williams 1964) */
        chroprof_rank last = out[0];
        out[0] = out[end - 1];
        out[end - 1] = last;
        chroprof__sift(out, end - 1, 0, by);
    }
    return count;
}

CHROPROF__COLD_API size_t chroprof_paths(const chroprof *p, chroprof_path *out, size_t capacity)
{
    size_t count = 0;
    if (!p || !p->core)
        return 0;
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next, count++)
        if (out && count < capacity)
            chroprof__read_path(p, k, out + count);
    return count;
}

/* The next live future at or after a cursor that starts at 0: the slots, then the enter-frames. */
static bool chroprof__read_future(const chroprof *p, uint32_t *cursor, chroprof_future *out)
{
    const chroprof__core *c = p->core;
    uint32_t rows = c->tables[CHROPROF_TABLE_FUTURES].rows;
    memset(out, 0, sizeof(*out));
    for (; *cursor < rows + c->depth; ++*cursor) {
        uint32_t k = *cursor < rows ? 0 : *cursor - rows + 1;
        const chroprof__future *slot = p->futures + (*cursor < rows ? *cursor : 0);
        const chroprof__frame *frame = p->frames + k;
        if (*cursor < rows ? slot->id == 0 || slot->state == CHROPROF__GONE
                           : frame->kind != CHROPROF__ENTER_FRAME)
            continue;
        bool in_slot = *cursor < rows, on_stack = !in_slot;
        if (in_slot && slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN)) {
            k = slot->frame;
            on_stack = true;
        }
        out->id = in_slot ? slot->id : 0;
        out->path = in_slot ? slot->path : frame->path;
        out->state = in_slot ? (chroprof_state)slot->state : CHROPROF_RUNNING;
        out->since_ns = chroprof__ns(c, in_slot ? slot->since : frame->pushed);
        out->exec_ns = chroprof__ns(c, on_stack ? chroprof__frame_exec(p, k) : slot->exec);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &out->file, &out->line);
        ++*cursor;
        return true;
    }
    return false;
}

CHROPROF__COLD_API size_t chroprof_futures(const chroprof *p, chroprof_future *out, size_t capacity)
{
    size_t count = 0;
    uint32_t cursor = 0;
    chroprof_future future;
    if (!p || !p->core)
        return 0;
    for (; chroprof__read_future(p, &cursor, &future); count++)
        if (out && count < capacity)
            out[count] = future;
    return count;
}

static void chroprof__read_frame(const chroprof *p, uint32_t k, chroprof_frame *out)
{
    const chroprof__frame *frame = p->frames + k;
    memset(out, 0, sizeof(*out));
    out->id = frame->id;
    out->path = frame->path;
    out->barrier = frame->kind == CHROPROF__BARRIER;
    out->since_ns = chroprof__ns(p->core, frame->pushed);
    out->slice_ns = out->barrier ? 0 : chroprof__ns(p->core, chroprof__frame_slice(p, k));
    chroprof__read_site_name(p, p->paths[frame->path].site, &out->name, &out->file, &out->line);
}

CHROPROF__COLD_API size_t chroprof_frames(const chroprof *p, chroprof_frame *out, size_t capacity)
{
    if (!p || !p->core)
        return 0;
    uint32_t depth = p->core->depth;
    for (uint32_t k = 0; out && k < depth && k < capacity; k++)
        chroprof__read_frame(p, depth - k, out + k);
    return depth;
}

static uint32_t chroprof__window_count(const chroprof *p)
{
    return (p->core->window & 0xFFFF) + 1;
}

/* Ticks that the paths of a site, or loop, idle, untracked, still hold back from the windows. */
static uint64_t chroprof__unclosed(const chroprof *p, uint32_t site)
{
    uint64_t ticks = 0;
    if (site < CHROPROF__OTHER)
        return p->paths[site].exec - p->paths[site].mark;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        ticks += p->paths[k].exec - p->paths[k].mark;
    return ticks;
}

/* Ticks of a site in all windows. */
static uint64_t chroprof__exec_in_windows(const chroprof *p, uint32_t site)
{
    const uint64_t *cells = chroprof__cells(p->core, site);
    uint64_t ticks = chroprof__unclosed(p, site);
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_WINDOWS].capacity; k++)
        ticks += cells[1 + k];
    return ticks;
}

/* Windows are read in spans of so many, each with one walk over a site's cells and paths. */
enum { CHROPROF__SPAN = 64 };

typedef struct chroprof__span {
    uint32_t first;
    uint64_t before;                /* in all windows before the first */
    uint64_t ns[CHROPROF__SPAN];    /* ticks while they are gathered */
} chroprof__span;

static void chroprof__span_add(chroprof__span *s, uint64_t window, uint64_t ticks)
{
    if (window < s->first)
        s->before += ticks;
    else if (window - s->first < CHROPROF__SPAN)
        s->ns[window - s->first] += ticks;
}

static void chroprof__span_cells(const chroprof *p, uint32_t site, chroprof__span *s)
{
    const uint64_t *cells = chroprof__cells(p->core, site);
    uint32_t shift = chroprof__tag_level(p->core->window) - (uint32_t)cells[0];
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_WINDOWS].capacity; k++)
        if (cells[1 + k])
            chroprof__span_add(s, shift < 16 ? k >> shift : 0, cells[1 + k]);
}

/* What a path still holds back from its window; returns the exec that is shown for it. */
static uint64_t chroprof__span_path(const chroprof *p, uint32_t path, chroprof__span *s)
{
    const chroprof__path *row = p->paths + path;
    chroprof__span_add(s, chroprof__tag_index(p->core, row->window), row->exec - row->mark);
    return chroprof__ns(p->core, row->exec);
}

static uint64_t chroprof__span_paths(const chroprof *p, uint32_t site, chroprof__span *s)
{
    uint64_t exec_ns = 0;
    if (site < CHROPROF__OTHER)
        return chroprof__span_path(p, site, s);
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        exec_ns += chroprof__span_path(p, k, s);
    return exec_ns;
}

/* Ticks to ns by flooring the running sum, so that nothing is lost from one to the next; and never
 * beyond what all of them have, which was floored in smaller parts. */
static uint64_t chroprof__running_ns(const chroprof__core *c, uint64_t ticks, uint64_t most)
{
    uint64_t ns = chroprof__ns(c, ticks);
    return ns < most ? ns : most;
}

/* Exec of a site, or loop, idle, untracked, in the windows from first on; the sum over all windows
 * is the exec that is shown. */
static void chroprof__read_span(const chroprof *p, uint32_t site, uint32_t first, chroprof__span *s)
{
    memset(s, 0, sizeof(*s));
    s->first = first;
    chroprof__span_cells(p, site, s);
    uint64_t most = chroprof__span_paths(p, site, s);
    uint64_t ticks = s->before, shown = chroprof__running_ns(p->core, ticks, most);
    for (uint32_t k = 0; k < CHROPROF__SPAN; k++) {
        ticks += s->ns[k];
        s->ns[k] = chroprof__running_ns(p->core, ticks, most) - shown;
        shown += s->ns[k];
    }
}

/* Profile time at which a window begins. */
static uint64_t chroprof__window_start(const chroprof__core *c, uint64_t index)
{
    return index ? index * c->window_ticks - c->window_phase : 0;
}

static void chroprof__read_borders(const chroprof *p, uint32_t index, chroprof_window *out)
{
    const chroprof__core *c = p->core;
    memset(out, 0, sizeof(*out));
    out->start_ns = chroprof__ns(c, chroprof__window_start(c, index));
    bool under_way = index == (c->window & 0xFFFF);
    out->end_ns = chroprof__ns(c, under_way ? c->last : chroprof__window_start(c, index + 1u));
}

static void chroprof__add_to_window(chroprof_window *w, uint32_t site, uint64_t ns)
{
    uint64_t *to = site == CHROPROF__IDLE ? &w->idle_ns : &w->busy_ns;
    to = site == CHROPROF__LOOP ? &w->loop_ns : to;
    *to += ns;
    if (site == CHROPROF__UNTRACKED)
        w->untracked_ns += ns;
}

/* At most CHROPROF__SPAN windows from first on. */
static void chroprof__read_windows(const chroprof *p, uint32_t first, uint32_t count,
                                   chroprof_window *out)
{
    chroprof__span s;
    for (uint32_t k = 0; k < count; k++)
        chroprof__read_borders(p, first + k, out + k);
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        if (site >= CHROPROF__OTHER && !chroprof__site_used(p, site))
            continue;
        chroprof__read_span(p, site, first, &s);
        for (uint32_t k = 0; k < count; k++)
            chroprof__add_to_window(out + k, site, s.ns[k]);
    }
}

/* How many of count rows lie in the span that begins at first. */
static uint32_t chroprof__span_count(uint64_t first, uint64_t count)
{
    return count - first < CHROPROF__SPAN ? (uint32_t)(count - first) : (uint32_t)CHROPROF__SPAN;
}

CHROPROF__COLD_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity)
{
    if (!p || !p->core)
        return 0;
    uint32_t count = chroprof__window_count(p);
    uint32_t rows = !out ? 0 : capacity < count ? (uint32_t)capacity : count;
    for (uint32_t k = 0; k < rows; k += CHROPROF__SPAN)
        chroprof__read_windows(p, k, chroprof__span_count(k, rows), out + k);
    return count;
}

CHROPROF__COLD_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                                size_t capacity)
{
    if (!p || !p->core || site >= chroprof__site_count(p))
        return 0;
    chroprof__span s;
    uint32_t count = chroprof__window_count(p);
    uint32_t rows = !exec_ns ? 0 : capacity < count ? (uint32_t)capacity : count;
    for (uint32_t k = 0; k < rows; k += CHROPROF__SPAN) {
        chroprof__read_span(p, site, k, &s);
        memcpy(exec_ns + k, s.ns, chroprof__span_count(k, rows) * sizeof(*exec_ns));
    }
    return count;
}

/* The first stall after a serial number; NULL: none. Many lie in both halves of the table. */
static const chroprof__stall *chroprof__next_stall(const chroprof *p, uint64_t serial)
{
    const chroprof__core *c = p->core;
    const chroprof__stall *next = NULL, *rows = chroprof__stall_rows(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (rows[k].serial > serial && (!next || rows[k].serial < next->serial))
            next = rows + k;
    return next;
}

/* The places that the sampler met, most first. */
static void chroprof__read_hits(const chroprof__hits *h, chroprof_stall *out)
{
    out->sampled = h->sampled;
    out->cpu_ns = h->cpu_ns;
    out->waiting_ns = h->waiting_ns;
    for (uint32_t k = 0; k < h->count; k++) {
        uint32_t at = out->sample_count++;
        for (; at > 0 && out->samples[at - 1].weight < h->weight[k]; at--)
            out->samples[at] = out->samples[at - 1];
        out->samples[at].stack = h->stack[k];
        out->samples[at].weight = h->weight[k];
        out->samples[at].cpu_ns = h->cpu[k];
    }
}

static void chroprof__read_stall_row(const chroprof *p, const chroprof__stall *row,
                                     chroprof_stall *out)
{
    memset(out, 0, sizeof(*out));
    out->kind = row->kind == CHROPROF_STALL_PASS ? CHROPROF_STALL_PASS : CHROPROF_STALL_TURN;
    out->start_ns = chroprof__ns(p->core, row->start);
    out->length_ns = chroprof__ns(p->core, row->length);
    out->events = row->events;
    out->slice_count = row->slice_count;
    chroprof__read_hits(&row->hits, out);
    for (uint32_t k = 0; k < row->slice_count; k++) {
        chroprof_stall_slice *slice = out->slices + k;
        slice->id = row->slices[k].id;
        slice->exec_ns = chroprof__ns(p->core, row->slices[k].exec);
        slice->path = row->slices[k].path;
        chroprof__read_site_name(p, p->paths[slice->path].site, &slice->name, &slice->file,
                                 &slice->line);
    }
}

CHROPROF__COLD_API size_t chroprof_stalls(const chroprof *p, chroprof_stall *out, size_t capacity)
{
    size_t count = 0;
    if (!p || !p->core)
        return 0;
    const chroprof__stall *row = chroprof__next_stall(p, 0);
    for (; row; row = chroprof__next_stall(p, row->serial), count++)
        if (out && count < capacity)
            chroprof__read_stall_row(p, row, out + count);
    return count;
}

/* Row number k of the samples, from the oldest. */
static const chroprof__sample *chroprof__sample_row(const chroprof *p, uint64_t k)
{
    const chroprof__table *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t first = chroprof__sampler_of(p->core)->head + table->capacity - table->used;
    return chroprof__sample_rows(p->core) + (first + k) % table->capacity;
}

static void chroprof__read_sample(const chroprof *p, uint64_t k, chroprof_sample_row *out)
{
    const chroprof__sample *row = chroprof__sample_row(p, k);
    out->at_ns = chroprof__ns(p->core, row->time);
    out->duration_ns = chroprof__ns(p->core, row->time + row->duration) - out->at_ns;
    out->weight = row->weight;
    out->cpu_ns = row->cpu_ns;
    out->stack = row->stack;
    out->state = (chroprof_sample_state)row->state;
}

/* round(weight * part / whole), part <= whole. */
static uint64_t chroprof__weigh(uint64_t weight, uint64_t part, uint64_t whole)
{
    for (; whole >> 31; whole >>= 1)
        part >>= 1;
    return weight / whole * part + (weight % whole * part + whole / 2) / whole;
}

/* What of a row lies in [from, to). */
static bool chroprof__select_sample(chroprof_sample_row *row, uint64_t from, uint64_t to)
{
    uint64_t start = row->at_ns, end = start + row->duration_ns;
    if (start == end)
        return start >= from && start < to;
    uint64_t low = start > from ? start : from, high = end < to ? end : to;
    if (low >= high)
        return false;
    row->weight = chroprof__weigh(row->weight, high - low, end - start);
    row->cpu_ns = start < from ? 0 : row->cpu_ns;
    row->at_ns = low;
    row->duration_ns = high - low;
    return row->weight > 0;
}

CHROPROF__COLD_API size_t chroprof_samples(const chroprof *p, uint64_t from_ns, uint64_t to_ns,
                                           chroprof_sample_row *out, size_t capacity)
{
    chroprof_sample_row row;
    size_t count = 0;
    if (!p || !p->core)
        return 0;
    for (uint64_t k = 0; k < p->core->tables[CHROPROF_TABLE_SAMPLES].used; k++) {
        chroprof__read_sample(p, k, &row);
        if (!chroprof__select_sample(&row, from_ns, to_ns))
            continue;
        if (out && count < capacity)
            out[count] = row;
        count++;
    }
    return count;
}

static const char *chroprof__mark_text(uint64_t mark)
{
    switch (mark) {
    case CHROPROF__MARK_INSIDE: return "(inside chroprof)";
    case CHROPROF__MARK_CUT: return "(frames missing)";
    case CHROPROF__MARK_STACK: return "(unknown stack)";
    case CHROPROF__MARK_DEEP: return "(deeper frames)";
    case CHROPROF__MARK_IDLE: return "(idle)";
    default: return "(loop)";               /* MARK_LOOP: there is no other in a stack */
    }
}

#if CHROPROF__SAMPLES
/* As dladdr fills it in; weak, for programs that are not linked to it. */
typedef struct chroprof__symbol {
    const char *file;
    void *base;
    const char *name;
    void *address;
} chroprof__symbol;

extern int chroprof__find_symbol(const void *address, chroprof__symbol *out)
    __asm__(CHROPROF__LABEL("dladdr")) __attribute__((weak));

/* What the dynamic linker calls the function at an address of this process. */
static const char *chroprof__function(const chroprof *p, uint64_t address)
{
    chroprof__symbol symbol;
    symbol.name = NULL;
    if (!chroprof__find_symbol)             /* never: a program without a dynamic linker */
        return "";
    if (p->view || p->core->foreign ||
        !chroprof__find_symbol((const void *)(uintptr_t)address, &symbol))
        return "";
    return symbol.name ? symbol.name : "";
}
#else
static const char *chroprof__function(const chroprof *p, uint64_t address)
{
    (void)p;
    (void)address;
    return "";
}
#endif

/* A native frame: where it is in its file, and its name. */
static void chroprof__read_code(const chroprof *p, const chroprof__node *node,
                                chroprof_stack_frame *out)
{
    uint64_t address = chroprof__item_value(node->item);
    out->kind = CHROPROF_FRAME_NATIVE;
    out->is_return = chroprof__item_kind(node->item) == CHROPROF__RETURN;
    out->address = address;
    out->name = chroprof__function(p, address - out->is_return);
    if (node->module) {
        const chroprof__module *m = chroprof__modules(p->core) + (node->module - 1);
        out->address -= m->base;
        out->module = m->path;
        out->build_id = m->build_id;
    }
}

static void chroprof__read_node(const chroprof *p, uint32_t k, chroprof_stack_frame *out)
{
    const chroprof__node *node = chroprof__nodes(p->core) + k;
    const char *file;
    uint32_t line;
    memset(out, 0, sizeof(*out));
    out->module = out->build_id = "";
    if (chroprof__is_code(node->item)) {
        chroprof__read_code(p, node, out);
    } else if (chroprof__item_kind(node->item) == CHROPROF__TASK) {
        out->kind = CHROPROF_FRAME_TASK;
        out->path = (uint32_t)chroprof__item_value(node->item);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &file, &line);
    } else {
        out->kind = CHROPROF_FRAME_MARKER;
        out->name = chroprof__mark_text(chroprof__item_value(node->item));
    }
}

CHROPROF__COLD_API size_t chroprof_stack(const chroprof *p, uint32_t stack,
                                         chroprof_stack_frame *out, size_t capacity)
{
    size_t count = 0;
    if (!p || !p->core || stack > p->core->tables[CHROPROF__STACKS].used)
        return 0;
    for (; stack; stack = chroprof__nodes(p->core)[stack].parent, count++)
        if (out && count < capacity)
            chroprof__read_node(p, stack, out + count);
    return count;
}

/* Rows that paths have in the wall profile. */
static uint32_t chroprof__wall_count(const chroprof *p)
{
    uint32_t rows = p->core->tables[CHROPROF__WALLS].rows, paths = chroprof__path_count(p);
    return rows < paths ? rows : paths;
}

static bool chroprof__read_wall(const chroprof *p, uint32_t path, chroprof_wall *out)
{
    const chroprof__wall *row = chroprof__walls(p->core) + path;
    out->path = path;
    out->running = row->weight[0];
    out->ready = row->weight[1];
    out->paused = row->weight[2];
    out->running_ns = chroprof__ns(p->core, row->ticks[0]);
    out->ready_ns = chroprof__ns(p->core, row->ticks[1]);
    out->paused_ns = chroprof__ns(p->core, row->ticks[2]);
    return (out->running | out->ready | out->paused) != 0;
}

CHROPROF__COLD_API size_t chroprof_walls(const chroprof *p, chroprof_wall *out, size_t capacity)
{
    chroprof_wall row;
    size_t count = 0;
    if (!p || !p->core)
        return 0;
    for (uint32_t path = CHROPROF__UNTRACKED; path < chroprof__wall_count(p); path++) {
        if (!chroprof__read_wall(p, path, &row))
            continue;
        if (out && count < capacity)
            out[count] = row;
        count++;
    }
    return count;
}

/* Does the timer run? A forked child has none, whatever the block says. */
static bool chroprof__sampler_runs(const chroprof *p, const chroprof__sampler *s)
{
#if CHROPROF__SAMPLES
    return s->running && (p->view || (p->sampling && p->sampler_pid == (uint64_t)getpid()));
#else
    return s->running && p->view;
#endif
}

CHROPROF__COLD_API void chroprof_read_sampler(const chroprof *p, chroprof_sampler_totals *out)
{
    memset(out, 0, sizeof(*out));
    const chroprof__sampler *s = p && p->core ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    out->running = chroprof__sampler_runs(p, s);
    out->mode = s->mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    out->period_ns = chroprof__peek64(&s->period_ns);
    out->first_period_ns = s->first_period_ns;
    out->budget_ppm = s->budget_ppm;
    out->ticks = chroprof__peek64(&s->ticks);
    out->samples = s->samples;
    out->rows = p->core->tables[CHROPROF_TABLE_SAMPLES].used;
    out->inside = s->inside;
    out->lost = chroprof__peek64(&s->lost);
    out->dropped = s->dropped;
    out->cost_ns = chroprof__peek64(&s->cost_ns);
    out->draws = s->draws;
    out->misses = s->misses;
}

/* How many different keys left this bitmap behind, by linear counting (Whang and others, 1990) with
 * half as many again for safety; never more than were dropped. */
static uint64_t chroprof__distinct(const chroprof__table *table)
{
    uint64_t keys = 2, open = 64;
    for (uint64_t bits = table->wanted; bits && open > 1; bits &= bits - 1, open--)
        keys += 96 / open + 1;
    return open == 1 || keys > table->dropped ? table->dropped : keys;
}

/* A capacity that would have done. */
static uint64_t chroprof__advice(const chroprof *p, uint32_t kind)
{
    const chroprof__table *table = &p->core->tables[kind];
    switch (kind) {
    case CHROPROF_TABLE_FUTURES: return table->capacity + table->dropped;
    case CHROPROF_TABLE_HISTOGRAMS: return p->core->tables[CHROPROF_TABLE_SITES].used;
    case CHROPROF_TABLE_DEPTH:
    case CHROPROF_TABLE_STRINGS: return table->capacity + table->wanted;
    default: return table->capacity + chroprof__distinct(table);
    }
}

/* Use, peak and drops of the tables that do not count them themselves. */
static void chroprof__read_use(const chroprof *p, chroprof_table *out)
{
    const chroprof__core *c = p->core;
    uint64_t sites = c->tables[CHROPROF_TABLE_SITES].used;
    switch (out->kind) {
    case CHROPROF_TABLE_DEPTH:
        out->used = c->depth;
        while (out->peak < out->capacity && p->frames[out->peak + 1].kind != 0)
            out->peak++;                    /* a frame once used keeps its kind */
        break;
    case CHROPROF_TABLE_HISTOGRAMS:
        out->used = out->peak = sites < out->capacity ? sites : out->capacity;
        out->dropped = sites - out->used;
        break;
    case CHROPROF_TABLE_STRINGS:
        out->used -= CHROPROF__OWN_STRINGS;
        out->peak = out->used;
        break;
    case CHROPROF_TABLE_WINDOWS:
        out->used = chroprof__window_count(p);
        out->peak = c->window >> 16 ? out->capacity : out->used;
        break;
    default: break;
    }
}

/* Names are looked up by a switch: a table of pointers would be data that the loader has to
 * write. */
static void chroprof__name_table(uint32_t kind, const char **name, const char **option)
{
    *name = *option = "";
    switch (kind) {
#define CHROPROF__TABLE_TEXT(id, text, field) \
    case CHROPROF_TABLE_##id: *name = text; *option = field; break;
        CHROPROF_TABLES(CHROPROF__TABLE_TEXT)
#undef CHROPROF__TABLE_TEXT
    }
}

CHROPROF__COLD_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity)
{
    if (!p || !p->core)
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_TABLE_COUNT && k < capacity; k++) {
        const chroprof__table *table = &p->core->tables[k];
        out[k].kind = (chroprof_table_kind)k;
        chroprof__name_table(k, &out[k].name, &out[k].option);
        out[k].capacity = table->capacity;
        out[k].used = table->used;
        out[k].peak = table->peak;
        out[k].dropped = table->dropped;
        out[k].bytes = table->bytes;
        chroprof__read_use(p, out + k);
        out[k].advice = out[k].dropped ? chroprof__advice(p, k) : 0;
    }
    return CHROPROF_TABLE_COUNT;
}

static const char *chroprof__anomaly_text(uint32_t kind)
{
    const char *found = "";
    switch (kind) {
#define CHROPROF__ANOMALY_TEXT(name, text) case CHROPROF_ANOMALY_##name: found = text; break;
        CHROPROF_ANOMALIES(CHROPROF__ANOMALY_TEXT)
#undef CHROPROF__ANOMALY_TEXT
    }
    return found;
}

CHROPROF__COLD_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out,
                                             size_t capacity)
{
    if (!p || !p->core)
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_ANOMALY_COUNT && k < capacity; k++) {
        out[k].kind = (chroprof_anomaly_kind)k;
        out[k].text = chroprof__anomaly_text(k);
        out[k].count = p->core->anomalies[k];
    }
    return CHROPROF_ANOMALY_COUNT;
}

/* The sums over all paths. */
static void chroprof__sum_paths(const chroprof *p, chroprof_totals *out)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path *row = p->paths + k;
        if (k >= CHROPROF__UNTRACKED)
            out->busy_ns += chroprof__ns(p->core, row->exec);
        out->live += row->live + row->merged_live;
        out->delay_ticks += chroprof__delay_ticks(p, row);
        out->delay_ns += chroprof__ns(p->core, chroprof__delay_ticks(p, row));
        out->blame_ticks += row->blame;
        out->blame_ns += chroprof__ns(p->core, row->blame);
    }
}

static void chroprof__sum_counts(const chroprof *p, chroprof_totals *out)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        out->anomalies += p->core->anomalies[k];
    size_t count = chroprof_tables(p, tables, CHROPROF_TABLE_COUNT);
    for (size_t k = 0; k < count; k++)
        out->dropped += tables[k].dropped;
}

CHROPROF__COLD_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out)
{
    memset(out, 0, sizeof(*out));
    if (!p || !p->core)
        return;
    const chroprof__core *c = p->core;
    chroprof__sum_paths(p, out);
    chroprof__sum_counts(p, out);
    out->untracked_ns = chroprof__ns(c, p->paths[CHROPROF__UNTRACKED].exec);
    out->idle_ns = chroprof__ns(c, p->paths[CHROPROF__IDLE].exec);
    out->loop_ns = chroprof__ns(c, p->paths[CHROPROF__LOOP].exec);
    out->elapsed_ns = out->busy_ns + out->idle_ns + out->loop_ns;
    out->idle_blame_ns = chroprof__ns(c, p->paths[CHROPROF__IDLE].blame);
    out->loop_blame_ns = chroprof__ns(c, p->paths[CHROPROF__LOOP].blame);
    out->untracked_blame_ns = chroprof__ns(c, p->paths[CHROPROF__UNTRACKED].blame);
    out->events = (c->seq - c->seq_base) / 2 + c->merged_events;
    out->passes = c->passes;
    out->pass_p50_ns = chroprof__pass_percentile_ns(p, 500);
    out->pass_p99_ns = chroprof__pass_percentile_ns(p, 990);
    out->pass_max_ns = chroprof__ns(c, c->pass_max);
    out->turns = c->turns;
    out->turn_p50_ns = chroprof__turn_percentile_ns(p, 500);
    out->turn_p99_ns = chroprof__turn_percentile_ns(p, 990);
    out->turn_max_ns = chroprof__ns(c, c->turn_max);
    out->stalls = c->stalls;
    out->elapsed_ticks = c->last;
    out->start_unix_ns = c->start_unix_ns;
    out->tick_error_ppb = c->error_ppb;
    out->provisional = !c->calibrated;
    out->enabled = c->enabled != 0;
    out->idle = c->account == CHROPROF__IDLE;
    out->depth = c->depth + c->hidden;
    out->skew_ns = chroprof__ns(c, c->skew_ticks);
    out->skew_events = c->skew_events;
    out->doubt_ns = chroprof__ns(c, c->doubt_ticks);
    out->doubt_events = c->doubt_events;
}

/* >>check: every invariant of the block, each with a name. */

static const char *chroprof__check_sums(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t exec = 0, blame = 0, delay = 0, ready = 0, live = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path *row = p->paths + k;
        exec += row->exec;
        blame += row->blame;
        delay += chroprof__delay_ticks(p, row);
        ready += row->ready;
        live += row->live;
        uint64_t finished = row->completed + row->failed + row->cancelled;
        if (row->calls != finished + row->abandoned + row->live + row->merged_live)
            return "calls = completed + failed + cancelled + abandoned + live on every path";
    }
    for (uint32_t k = 1; k <= c->depth; k++)
        live -= p->frames[k].kind == CHROPROF__ENTER_FRAME;
    if (exec != c->last)
        return "elapsed = the sum of all paths' exec + untracked + idle + loop";
    if (blame != delay)
        return "the sum of blame = the sum of delay";
    if (c->skew_events)
        return NULL;                        /* rows of different moments */
    if (ready != c->ready)
        return "the paths' ready futures add up";
    if (live != c->tables[CHROPROF_TABLE_FUTURES].used)
        return "the paths' live futures add up";
    return NULL;
}

static const char *chroprof__check_paths(const chroprof *p)
{
    uint32_t count = chroprof__path_count(p), seen = CHROPROF__FIRST_PATH, level = 0;
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next, seen++) {
        const chroprof__path *row = p->paths + k;
        if (k < CHROPROF__FIRST_PATH || k >= count || seen >= count)
            return "the preorder of the paths stays in the table and has no cycle";
        if (row->parent >= k || row->parent == CHROPROF__IDLE || row->parent == CHROPROF__UNTRACKED)
            return "a path is younger than its parent";
        if (row->level != p->paths[row->parent].level + 1 || row->level > level + 1)
            return "a path stands one level below its parent, in preorder";
        if (row->site < CHROPROF__OTHER || row->site >= chroprof__site_count(p))
            return "a path has a site";
        if (chroprof__fold(p, row->parent, row->site) != CHROPROF__LOOP)
            return "a site stands at most once on a path";
        level = row->level;
    }
    return seen == count ? NULL : "every path is in the preorder once";
}

static const char *chroprof__check_future(const chroprof *p, const chroprof__future *slot)
{
    const chroprof__core *c = p->core;
    if (chroprof__find(p, slot->id) != slot)
        return "every future is found by its id";
    if (slot->path >= chroprof__path_count(p))
        return "every future has a path";
    if (slot->frame > c->depth || (slot->frame && p->frames[slot->frame].id != slot->id))
        return "a future's topmost frame is one of its id";
    if (slot->state == CHROPROF__GONE)
        return slot->frame ? NULL : "a finished future keeps its slot only for its frames";
    if (slot->state > CHROPROF_PAUSED)
        return "a live future is pending, ready, running or paused";
    bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
    if (own && slot->state != CHROPROF_RUNNING)
        return "a future with a frame is running";
    return slot->since <= c->last ? NULL : "no future is in a state since later than now";
}

static const char *chroprof__check_futures(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t live = 0, ready = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_FUTURES].rows; k++) {
        const chroprof__future *slot = p->futures + k;
        const char *broken = slot->id ? chroprof__check_future(p, slot) : NULL;
        if (broken)
            return broken;
        live += slot->id != 0 && slot->state != CHROPROF__GONE;
        ready += slot->id != 0 && slot->state == CHROPROF_READY;
    }
    const chroprof__table *table = &c->tables[CHROPROF_TABLE_FUTURES];
    if (live != table->used || live > table->capacity)
        return "the count of live futures is that of their slots";
    if (ready != c->ready && c->skew_events == 0)
        return "the count of ready futures is that of their slots";
    return NULL;
}

static const char *chroprof__check_frame(const chroprof *p, uint32_t k)
{
    const chroprof__frame *frame = p->frames + k;
    if (frame->pushed > p->core->last || frame->start < frame->pushed)
        return "a frame was pushed before now and its slice began not before that";
    if (chroprof__frame_slice(p, k) > p->core->last - frame->pushed)
        return "a slice is no longer than its stay";
    if (frame->path >= chroprof__path_count(p))
        return "every frame has a path";
    if (frame->id == 0)
        return NULL;
    if (frame->slot >= p->core->tables[CHROPROF_TABLE_FUTURES].rows ||
        p->futures[frame->slot].id != frame->id)
        return "a frame knows the slot of its id";
    if (frame->same >= k || (frame->same && p->frames[frame->same].id != frame->id))
        return "the next frame of the same id is deeper";
    return frame->future == k ? NULL : "a future's frame is the innermost future's";
}

static const char *chroprof__check_stack(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t floor = 0, level = 0;
    for (uint32_t k = 1; k <= c->depth; k++) {
        const char *broken = chroprof__check_frame(p, k);
        if (broken)
            return broken;
        if (p->frames[k].kind != CHROPROF__BARRIER)
            continue;
        if (p->frames[k].slot != floor)
            return "a barrier knows the one below it";
        floor = k;
        level++;
    }
    if (floor != c->floor || level != c->level)
        return "the innermost barrier is the floor";
    uint32_t top = p->frames[c->depth].path;
    if (c->hidden ? c->account != CHROPROF__UNTRACKED
                  : c->account != top && !(c->account == CHROPROF__IDLE && c->depth == c->floor))
        return "time goes to what is on top";
    return NULL;
}

static const char *chroprof__check_edges(const chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__edge *edges = (const chroprof__edge *)chroprof__rows(c, CHROPROF_TABLE_EDGES);
    uint64_t used = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_EDGES].rows; k++) {
        if (edges[k].site == 0)
            continue;
        used++;
        if (edges[k].path >= chroprof__path_count(p) || edges[k].target >= chroprof__path_count(p))
            return "an edge joins two paths";
        if (p->paths[edges[k].target].site != edges[k].site)
            return "an edge leads to a path of its site";
        if (chroprof__find_edge(c, edges[k].path, edges[k].site) != edges + k)
            return "every edge is found by its path and site";
    }
    if (used != c->tables[CHROPROF_TABLE_EDGES].used)
        return "the count of edges is that of their rows";
    return NULL;
}

static uint64_t chroprof__histogram_total(const chroprof__histogram *h)
{
    uint64_t total = 0;
    for (uint32_t k = 0; k < CHROPROF__BUCKETS; k++)
        total += h->count[k];
    return total;
}

static uint64_t chroprof__slices_ended(const chroprof *p, uint32_t site)
{
    uint64_t slices = 0;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        slices += p->paths[k].slices;
    return slices;
}

static const char *chroprof__check_site(const chroprof *p, uint32_t site)
{
    const chroprof__core *c = p->core;
    const chroprof__site *row = chroprof__sites(c) + site;
    uint64_t strings = c->tables[CHROPROF_TABLE_STRINGS].used, exec = 0;
    if (row->name >= strings || row->file >= strings)
        return "a site's strings lie in the table";
    for (uint32_t k = row->first_path; k; k = p->paths[k].same_site) {
        if (p->paths[k].site != site || (p->paths[k].same_site >= k))
            return "the paths of a site are linked, younger to older";
        exec += p->paths[k].exec;
    }
    if (exec != chroprof__exec_in_windows(p, site))
        return "the windows of a site hold its exec";
    uint32_t h = row->first_path ? p->paths[row->first_path].histogram : 0;
    uint64_t held = c->held & CHROPROF__HELD_SLICE && c->held_slice_row == h;
    if (h && c->skew_events == 0 &&
        chroprof__histogram_total(&chroprof__histogram_rows(c)[h].slice) + held !=
            chroprof__slices_ended(p, site))
        return "a site's histogram has an entry for each slice that ended";
    return NULL;
}

static const char *chroprof__check_sites(const chroprof *p)
{
    for (uint32_t site = CHROPROF__OTHER; site < chroprof__site_count(p); site++) {
        const char *broken = chroprof__check_site(p, site);
        if (broken)
            return broken;
    }
    for (uint32_t k = 0; k < CHROPROF__OTHER; k++)
        if (p->paths[k].exec != chroprof__exec_in_windows(p, k))
            return "the windows hold loop, idle and untracked";
    return NULL;
}

static const char *chroprof__check_stacks(const chroprof *p, uint64_t *weight, uint64_t *cpu)
{
    const chroprof__core *c = p->core;
    const chroprof__node *nodes = chroprof__nodes(c);
    *weight = nodes[0].weight;
    *cpu = nodes[0].cpu_ns;
    for (uint32_t k = 1; k <= c->tables[CHROPROF__STACKS].used; k++) {
        if (nodes[k].parent >= k || nodes[k].next >= k)
            return "a sampled stack is younger than its parent";
        if (!chroprof__good_item(p, nodes[k].item))
            return "a sampled frame is a task, a function or a marker";
        if (nodes[k].module > c->tables[CHROPROF__MODULES].used)
            return "a sampled function is of a module";
        *weight += nodes[k].weight;
        *cpu += nodes[k].cpu_ns;
    }
    return NULL;
}

static const char *chroprof__check_samples(const chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t weight = 0, cpu = 0, end = 0;
    const char *broken = s ? chroprof__check_stacks(p, &weight, &cpu) : NULL;
    if (!s || broken)
        return broken;
    if (weight != s->samples)
        return "the weights of the stacks add up to the samples taken";
    weight -= s->dropped;
    cpu -= s->dropped_cpu_ns;
    for (uint64_t k = 0; k < c->tables[CHROPROF_TABLE_SAMPLES].used; k++) {
        const chroprof__sample *row = chroprof__sample_row(p, k);
        if (row->time < end || row->weight == 0)
            return "samples stand in the order of time, and weigh something";
        end = row->time + row->duration;
        weight -= row->weight;
        cpu -= row->cpu_ns;
    }
    if (weight != 0 || cpu != 0)
        return "the rows of samples and what was dropped add up to the samples taken";
    return end <= s->latest ? NULL : "the newest sample is the latest";
}

CHROPROF__COLD_API const char *chroprof_check(const chroprof *p)
{
    const char *broken = NULL;
    if (!p || !p->core)
        return NULL;
    if (p->core->magic != CHROPROF__MAGIC || p->core->seq % 2 != 0)
        return "the block begins with the magic number and no event is under way";
    broken = chroprof__check_sums(p);
    broken = broken ? broken : chroprof__check_paths(p);
    broken = broken ? broken : chroprof__check_futures(p);
    broken = broken ? broken : chroprof__check_stack(p);
    broken = broken ? broken : chroprof__check_edges(p);
    broken = broken ? broken : chroprof__check_sites(p);
    return broken ? broken : chroprof__check_samples(p);
}

/* Are events taken? The long way while the sampler runs, so that only then they cost more, and
 * inside on_stall, where they are counted. Neither is what off means: two tests, side by side. */
static void chroprof__set_taking(chroprof *p, bool taking)
{
    p->taking = taking;
    p->on = taking && !p->sampling;
    p->detour = p->in_callback || (taking && p->sampling);
}

/* Makes the handle point into a block. */
static void chroprof__attach(chroprof *p, chroprof__core *c)
{
    p->core = c;
    p->slots = c->tables[CHROPROF_TABLE_FUTURES].rows;
    p->futures = (chroprof__future *)chroprof__rows(c, CHROPROF_TABLE_FUTURES);
    p->frames = (chroprof__frame *)chroprof__rows(c, CHROPROF_TABLE_DEPTH);
    p->paths = (chroprof__path *)chroprof__rows(c, CHROPROF_TABLE_PATHS);
}

CHROPROF__COLD_END

/* >>open: a block from outside. Nothing in it is believed. What is checked here, each table once
 * and in linear time, is all that the reads rely on: where every table lies, every index, and that
 * every walk ends. What no read relies on, the two laws among it, is left to chroprof_check. */

static bool chroprof__open_capacities(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (capacity[k] == 0 && k != CHROPROF_TABLE_HISTOGRAMS && k != CHROPROF_TABLE_SAMPLES)
            return false;
    return chroprof__within_limits(capacity);
}

/* Do the tables lie where a block of these capacities has them? */
static bool chroprof__open_layout(const chroprof__core *c)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = c->tables[k].capacity;
    if (!chroprof__open_capacities(capacity))
        return false;
    if (chroprof__layout(capacity, tables) != c->block_bytes)
        return false;
    for (uint32_t k = 0; k < CHROPROF__TABLES; k++) {
        const chroprof__table *table = &c->tables[k];
        if (table->offset != tables[k].offset || table->bytes != tables[k].bytes)
            return false;
        if (table->rows != tables[k].rows || table->capacity != tables[k].capacity)
            return false;
    }
    return c->block_bytes != UINT64_MAX;
}

/* What the start of the core says, if size bytes of it are there. */
static chroprof_result chroprof__open_header(const chroprof__core *c, uint64_t size)
{
    if (size < offsetof(chroprof__core, pid))
        return CHROPROF_ERR_TRUNCATED;
    if (c->order == 0x04030201u)
        return CHROPROF_ERR_BYTE_ORDER;
    if (c->layout != CHROPROF__LAYOUT || c->core_bytes != sizeof(*c))
        return CHROPROF_ERR_VERSION;
    if (size < sizeof(*c))
        return CHROPROF_ERR_TRUNCATED;
    if (c->order != 0x01020304u || !chroprof__open_layout(c))
        return CHROPROF_ERR_CORRUPT;
    return size < c->block_bytes ? CHROPROF_ERR_TRUNCATED : CHROPROF_OK;
}

/* The core begins at a multiple of 64 of the memory it was made in, which may since have been
 * copied to anywhere: it is looked for. */
static chroprof_result chroprof__open_seek(const void *block, uint64_t size, uint64_t *at)
{
    chroprof_result result = CHROPROF_ERR_FORMAT;
    uint64_t word, swapped = UINT64_C(0x43485250524F4631);
    for (*at = 0; *at < CHROPROF__ALIGN && size >= sizeof(word) + *at; ++*at) {
        memcpy(&word, (const char *)block + *at, sizeof(word));
        if (word == CHROPROF__MAGIC && ((uintptr_t)block + *at) % 8 == 0)
            return CHROPROF_OK;
        if (word == CHROPROF__MAGIC)
            result = CHROPROF_ERR_ALIGNMENT;
        if (word == swapped && result == CHROPROF_ERR_FORMAT)
            result = CHROPROF_ERR_BYTE_ORDER;
    }
    return result;
}

static bool chroprof__open_uses(const chroprof__core *c)
{
    static const uint32_t counted[] = {
        CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_SITES, CHROPROF_TABLE_PATHS, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_STALLS, CHROPROF_TABLE_SAMPLES, CHROPROF__MODULES
    };
    for (uint32_t k = 0; k < sizeof(counted) / sizeof(*counted); k++)
        if (c->tables[counted[k]].used > c->tables[counted[k]].capacity)
            return false;
    const chroprof__table *stacks = &c->tables[CHROPROF__STACKS];
    if (stacks->used >= (stacks->rows ? stacks->rows : 1))
        return false;
    uint64_t strings = c->tables[CHROPROF_TABLE_STRINGS].used;
    return strings >= CHROPROF__OWN_STRINGS && strings <= c->tables[CHROPROF_TABLE_STRINGS].bytes;
}

/* The fields of the core that reads divide by, index with, or take for text. */
static bool chroprof__open_core(const chroprof__core *c)
{
    uint32_t index = c->window & 0xFFFF;
    if (!chroprof__open_uses(c) || c->factor == 0 || c->last >= CHROPROF__END_OF_TIME)
        return false;
    if (index >= c->tables[CHROPROF_TABLE_WINDOWS].capacity || c->window_ticks == 0)
        return false;
    if (c->window_phase >= c->window_ticks || c->window_phase >= CHROPROF__END_OF_TIME)
        return false;
    if (index > (c->last + c->window_phase) / c->window_ticks ||
        chroprof__tag_level(c->window) > 62)
        return false;
    if (c->depth > c->tables[CHROPROF_TABLE_DEPTH].capacity || c->floor > c->depth)
        return false;
    if (c->account >= CHROPROF__FIRST_PATH + c->tables[CHROPROF_TABLE_PATHS].used)
        return false;
    if (c->hidden && c->hidden_since > c->last)
        return false;
    return c->name[CHROPROF__NAME_BYTES - 1] == '\0' && c->host[CHROPROF__NAME_BYTES - 1] == '\0' &&
           c->program[CHROPROF__NAME_BYTES - 1] == '\0';
}

/* A string begins behind the NUL of the one before; the last NUL ends them all. */
static bool chroprof__open_string(const chroprof__core *c, uint32_t offset)
{
    if (offset >= c->tables[CHROPROF_TABLE_STRINGS].used)
        return false;
    return offset == 0 || chroprof__string(c, offset)[-1] == '\0';
}

static bool chroprof__open_site(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    const chroprof__site *site = chroprof__sites(c) + k;
    if (!chroprof__open_string(c, site->name) || !chroprof__open_string(c, site->file))
        return false;
    if (site->first_path >= chroprof__path_count(p))
        return false;
    return chroprof__cells(c, k)[0] <= chroprof__tag_level(c->window);
}

static bool chroprof__open_sites(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t end = (uint32_t)c->tables[CHROPROF_TABLE_STRINGS].used - 1, linked = 0;
    if (*chroprof__string(c, end) != '\0')
        return false;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        uint32_t k = chroprof__sites(c)[site].first_path, before = UINT32_MAX;
        if (!chroprof__open_site(p, site))
            return false;
        for (; k; before = k, k = p->paths[k].same_site, linked++)
            if (k >= before || p->paths[k].site != site)
                return false;               /* each path is in one chain, so all take linear time */
    }
    return linked == chroprof__path_count(p) - CHROPROF__FIRST_PATH;
}

/* No path is ahead of the present window. */
static bool chroprof__open_tag(const chroprof__core *c, const chroprof__path *row)
{
    return chroprof__tag_level(row->window) <= chroprof__tag_level(c->window) &&
           chroprof__tag_index(c, row->window) <= (c->window & 0xFFFF);
}

/* Loop, idle and untracked are no part of the tree. */
static bool chroprof__open_own_path(const chroprof *p, uint32_t k)
{
    const chroprof__path *row = p->paths + k;
    return row->site == k && row->parent == 0 && row->level == 0 && row->histogram == 0 &&
           (k == CHROPROF__LOOP || row->next == 0) && chroprof__open_tag(p->core, row);
}

static bool chroprof__open_path(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    const chroprof__path *row = p->paths + k;
    if (row->site < CHROPROF__OTHER || row->site >= chroprof__site_count(p))
        return false;
    if (row->parent >= k || row->parent == CHROPROF__IDLE || row->parent == CHROPROF__UNTRACKED)
        return false;
    if (row->level != p->paths[row->parent].level + 1 || row->level > chroprof__site_count(p))
        return false;
    if (row->histogram && row->histogram >= c->tables[CHROPROF_TABLE_HISTOGRAMS].rows)
        return false;
    return chroprof__open_tag(c, row);
}

static bool chroprof__open_paths(const chroprof *p)
{
    uint32_t count = chroprof__path_count(p), seen = CHROPROF__FIRST_PATH;
    for (uint32_t k = 0; k < count; k++)
        if (k < CHROPROF__FIRST_PATH ? !chroprof__open_own_path(p, k) : !chroprof__open_path(p, k))
            return false;
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next) {
        if (k < CHROPROF__FIRST_PATH || k >= count || seen++ == count)
            return false;                   /* a walk with a cycle would never end */
    }
    return seen == count;
}

static bool chroprof__open_frame(const chroprof *p, uint32_t k)
{
    const chroprof__frame *frame = p->frames + k;
    if (frame->path >= chroprof__path_count(p) || frame->same >= k)
        return false;
    if (frame->id == 0)
        return frame->same == 0;
    return frame->slot < p->slots && p->futures[frame->slot].id == frame->id &&
           (frame->same == 0 || p->frames[frame->same].slot == frame->slot);
}

static bool chroprof__open_frames(const chroprof *p)
{
    const chroprof__frame *base = p->frames;
    if (base->id != 0 || base->path != CHROPROF__LOOP || base->kind != CHROPROF__BARRIER)
        return false;
    for (uint32_t k = 1; k <= p->core->depth; k++)
        if (!chroprof__open_frame(p, k))
            return false;
    return true;
}

/* A frame is the topmost one of at most one slot, so the chains of all take linear time. */
static bool chroprof__open_future(const chroprof *p, uint32_t k)
{
    const chroprof__future *slot = p->futures + k;
    if (slot->path >= chroprof__path_count(p) || slot->frame > p->core->depth)
        return false;
    if (slot->frame && (p->frames[slot->frame].slot != k || p->frames[slot->frame].id != slot->id))
        return false;
    return slot->state == CHROPROF__GONE ? slot->frame != 0 : slot->state <= CHROPROF_PAUSED;
}

/* Is a row, the run-th since the last empty one, found from its home by steps over full rows? */
static bool chroprof__open_found(uint32_t k, uint32_t home, uint32_t rows, uint32_t run)
{
    return (k >= home ? k - home : k + rows - home) < run;
}

static bool chroprof__open_futures(const chroprof *p)
{
    uint32_t rows = p->slots, start = 0, run = 0;
    uint64_t live = 0;
    while (start < rows && p->futures[start].id != 0)
        start++;
    if (start == rows)
        return false;                       /* a search would never end */
    for (uint32_t n = 0, k = start; n < rows; n++, k = k + 1 < rows ? k + 1 : 0) {
        uint64_t id = p->futures[k].id;
        run = id ? run + 1 : 0;
        if (id == 0)
            continue;
        if (!chroprof__open_found(k, chroprof__hash_index(id, rows), rows, run))
            return false;
        if (!chroprof__open_future(p, k))
            return false;
        live += p->futures[k].state != CHROPROF__GONE;
    }
    return live == p->core->tables[CHROPROF_TABLE_FUTURES].used;
}

static bool chroprof__open_edge(const chroprof *p, const chroprof__edge *edge)
{
    uint32_t count = chroprof__path_count(p);
    if (edge->path >= count || edge->target >= count)
        return false;
    return p->paths[edge->target].site == edge->site;
}

static bool chroprof__open_edges(const chroprof *p)
{
    const chroprof__table *table = &p->core->tables[CHROPROF_TABLE_EDGES];
    const chroprof__edge *edges =
        (const chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint32_t rows = table->rows, start = 0, run = 0;
    uint64_t used = 0;
    while (start < rows && edges[start].site != 0)
        start++;
    if (start == rows)
        return false;
    for (uint32_t n = 0, k = start; n < rows; n++, k = k + 1 < rows ? k + 1 : 0) {
        uint64_t key = (uint64_t)edges[k].path << 32 ^ edges[k].site;
        run = edges[k].site ? run + 1 : 0;
        if (run == 0)
            continue;
        if (!chroprof__open_found(k, chroprof__hash_index(key, rows), rows, run))
            return false;
        if (!chroprof__open_edge(p, edges + k))
            return false;
        used++;
    }
    return used == table->used;
}

static bool chroprof__open_hits(const chroprof *p, const chroprof__hits *h)
{
    if (h->count > CHROPROF_STALL_SAMPLES)
        return false;
    for (uint32_t k = 0; k < h->count; k++)
        if (h->stack[k] > p->core->tables[CHROPROF__STACKS].used)
            return false;
    return true;
}

static bool chroprof__open_stalls(const chroprof *p)
{
    const chroprof__stall *rows =
        (const chroprof__stall *)chroprof__rows(p->core, CHROPROF_TABLE_STALLS);
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_STALLS].rows; k++) {
        if (rows[k].slice_count > CHROPROF_STALL_SLICES || !chroprof__open_hits(p, &rows[k].hits))
            return false;
        for (uint32_t i = 0; i < rows[k].slice_count; i++)
            if (rows[k].slices[i].path >= chroprof__path_count(p))
                return false;
    }
    return true;
}

static bool chroprof__open_sample(const chroprof *p, uint32_t k)
{
    const chroprof__sample *row = chroprof__sample_rows(p->core) + k;
    return row->stack <= p->core->tables[CHROPROF__STACKS].used &&
           row->time < CHROPROF__END_OF_TIME && row->duration < CHROPROF__END_OF_TIME &&
           row->state <= CHROPROF_SAMPLE_LOOP;
}

static bool chroprof__open_node(const chroprof *p, uint32_t k)
{
    const chroprof__node *node = chroprof__nodes(p->core) + k;
    return node->parent < k && chroprof__good_item(p, node->item) &&
           node->module <= p->core->tables[CHROPROF__MODULES].used;
}

static bool chroprof__open_module(const chroprof *p, uint32_t k)
{
    const chroprof__module *row = chroprof__modules(p->core) + k;
    return row->build_id[CHROPROF__BUILD_ID - 1] == '\0' &&
           row->path[CHROPROF__MODULE_PATH - 1] == '\0';
}

/* Rows that are not in use have never been, so all can be looked at. */
static bool chroprof__open_samples(const chroprof *p)
{
    const chroprof__core *c = p->core;
    if (!chroprof__sampler_of(c))
        return true;
    if (chroprof__sampler_of(c)->head >= chroprof__sample_capacity(c))
        return false;
    for (uint32_t k = 0; k < chroprof__sample_capacity(c); k++)
        if (!chroprof__open_sample(p, k))
            return false;
    for (uint32_t k = 1; k <= c->tables[CHROPROF__STACKS].used; k++)
        if (!chroprof__open_node(p, k))
            return false;
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++)
        if (!chroprof__open_module(p, k))
            return false;
    return true;
}

/* Everything behind the header. */
static bool chroprof__open_tables(const chroprof *p)
{
    return chroprof__open_core(p->core) && chroprof__open_paths(p) && chroprof__open_sites(p) &&
           chroprof__open_frames(p) && chroprof__open_futures(p) && chroprof__open_edges(p) &&
           chroprof__open_stalls(p) && chroprof__open_samples(p);
}

CHROPROF_API chroprof_result chroprof_open(chroprof *view, const void *block, size_t size)
{
    uint64_t at;
    if (!view)
        return CHROPROF_ERR_ARGUMENT;
    memset(view, 0, sizeof(*view));
    if (!block)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__open_seek(block, size, &at);
    if (result != CHROPROF_OK)
        return result;
    chroprof__core *c = (chroprof__core *)((uintptr_t)block + (uintptr_t)at);
    result = chroprof__open_header(c, size - at);
    if (result == CHROPROF_OK && (c->seq | c->edits) % 2 != 0)
        result = CHROPROF_ERR_BUSY;
    if (result != CHROPROF_OK)
        return result;
    chroprof__attach(view, c);
    view->view = true;
    if (chroprof__open_tables(view))
        return CHROPROF_OK;
    memset(view, 0, sizeof(*view));
    return CHROPROF_ERR_CORRUPT;
}

/* >>public: life and events. */

#ifdef CHROPROF__FORKS
/* Of a mapped profile. The first page holds this; the second is wiped by the system in a forked
 * child. */
typedef struct chroprof__guard {
    chroprof *p;
    uint64_t (*clock)(void *user);
    void *clock_user;
    volatile unsigned char *parent;
} chroprof__guard;

static uint64_t chroprof__guarded_clock(void *user);
static void chroprof__leave_parent(chroprof *p);

CHROPROF__INLINE void chroprof__watch_guard(const chroprof__guard *guard)
{
    if (CHROPROF__LIKELY(*guard->parent != 0))
        return;
    *guard->parent = 1;
    chroprof__leave_parent(guard->p);
}

/* NULL: none. */
static chroprof__guard *chroprof__guard_of(const chroprof *p)
{
    return p->clock == chroprof__guarded_clock ? (chroprof__guard *)p->clock_user : NULL;
}
#endif

/* Before a change that no clock read precedes: here a forked child leaves the parent's file. */
static void chroprof__watch_fork(const chroprof *p)
{
#ifdef CHROPROF__FORKS
    const chroprof__guard *guard = chroprof__guard_of(p);
    if (guard)
        chroprof__watch_guard(guard);
#else
    (void)p;
#endif
}

/* Is it a clock of our own that tells the time? */
CHROPROF__UNUSED static bool chroprof__own_clock(const chroprof *p)
{
    uint64_t (*clock)(void *user) = p->clock;
#ifdef CHROPROF__FORKS
    const chroprof__guard *guard = chroprof__guard_of(p);
    clock = guard ? guard->clock : clock;
#endif
#ifndef CHROPROF_NO_CLOCK
    if (clock == chroprof__monotonic_ns)
        return true;
#endif
    return clock == NULL;
}

CHROPROF__COLD_API const char *chroprof_result_text(chroprof_result r)
{
    switch ((int)r) {
#define CHROPROF__RESULT_TEXT(name, text) case CHROPROF_##name: return text;
        CHROPROF_RESULTS(CHROPROF__RESULT_TEXT)
#undef CHROPROF__RESULT_TEXT
    default: return "not a result code of this version";
    }
}

CHROPROF_API uint64_t chroprof_clock_manual(void *user)
{
    (void)user;
    return 0;
}

CHROPROF__COLD_API size_t chroprof_memory_size(const chroprof_options *options)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table tables[CHROPROF__TABLES];
    chroprof_options defaults;
    memset(&defaults, 0, sizeof(defaults));
    chroprof__capacities(options ? options : &defaults, capacity);
    if (!chroprof__within_limits(capacity))
        return 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = capacity[k] ? capacity[k] : chroprof__default_capacity[k];
    uint64_t bytes = chroprof__layout(capacity, tables);
    if (bytes >= SIZE_MAX - CHROPROF__ALIGN)
        return 0;
    return (size_t)(bytes + CHROPROF__ALIGN - 1);
}

/* The capacities for a block of this size; false: too small. */
static bool chroprof__resolve(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT],
                              uint64_t size)
{
    chroprof__table tables[CHROPROF__TABLES];
    bool all = true;
    chroprof__capacities(o, capacity);
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        all = all && (capacity[k] != 0 || k == CHROPROF_TABLE_SAMPLES);
    if (size < CHROPROF_MEMORY_MIN)
        return false;
    size -= CHROPROF__ALIGN - 1;
    if (!all)
        return chroprof__share_out(capacity, size);
    bool open = capacity[CHROPROF_TABLE_SAMPLES] == 0;
    if (open)
        capacity[CHROPROF_TABLE_SAMPLES] = CHROPROF__DEFAULT_SAMPLES;
    if (open && chroprof__layout(capacity, tables) > size)
        capacity[CHROPROF_TABLE_SAMPLES] = 0;
    return chroprof__layout(capacity, tables) <= size;
}

static void chroprof__describe_process(chroprof__core *c, const char *name)
{
    chroprof__copy_text(c->name, sizeof(c->name), name);
    c->pointer_bytes = (uint32_t)sizeof(void *);
#ifndef CHROPROF_NO_CLOCK
    c->start_unix_ns = chroprof__calendar_ns();
    c->boot_ns = c->start_unix_ns - chroprof__monotonic_ns(NULL);
#endif
#if (defined(__unix__) || defined(__APPLE__)) && defined(_POSIX_VERSION)
    c->pid = (uint64_t)getpid();
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L
    if (gethostname(c->host, sizeof(c->host) - 1) != 0)
        c->host[0] = '\0';
#endif
#endif
}

/* The rows that are there from the start: loop, idle, untracked and "(other)". */
static void chroprof__first_rows(chroprof *p)
{
    static const char names[][12] = { "(loop)", "(idle)", "(untracked)", "(other)" };
    chroprof__core *c = p->core;
    chroprof__histograms *rows = chroprof__histogram_rows(c);
    memcpy((char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + 1, "...", 4);
    c->tables[CHROPROF_TABLE_STRINGS].used = 5;
    for (uint32_t k = 0; k < CHROPROF__FIRST_SITE; k++)
        chroprof__new_site(c, k, k, names[k], "", 0);
    CHROPROF_ASSERT(c->tables[CHROPROF_TABLE_STRINGS].used == CHROPROF__OWN_STRINGS);
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        p->paths[k].site = k;
    p->frames[0].kind = CHROPROF__BARRIER;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++) {
        chroprof__histogram_clear(&rows[k].slice);
        chroprof__histogram_clear(&rows[k].delay);
    }
}

/* Chooses the clock and fixes, or begins to measure, its rate. */
static chroprof_result chroprof__start_clock(chroprof *p, const chroprof_options *o)
{
    chroprof__core *c = p->core;
    c->window_ns = chroprof__or(o->window_ns, 100000000u);
    c->stall_ns = chroprof__or(o->stall_ns, 20000000u);
    c->max_step_ns = chroprof__or(o->max_step_ns, UINT64_C(3600000000000));
    p->clock = o->clock;
    p->clock_user = o->clock_user;
    c->manual = o->clock == chroprof_clock_manual;
    c->calibrated = 1;
    chroprof__set_factor(c, UINT64_C(1) << 32);
#ifndef CHROPROF_NO_CLOCK
#if CHROPROF__HAS_COUNTER
    /* never: a processor whose counter is not invariant */
    if (!p->clock && chroprof__counter_is_invariant())
        chroprof__start_counter(c);
    else
#endif
    if (!p->clock)
        p->clock = chroprof__monotonic_ns;
#else
    if (!p->clock)
        return CHROPROF_ERR_CLOCK;
#endif
    if (c->manual)
        c->start_unix_ns = 0;               /* nobody knows when that was */
    else
        chroprof__start_at(c, chroprof__read_clock(p));
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                                 const chroprof_options *options)
{
    chroprof_options o;
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    memset(&o, 0, sizeof(o));
    if (!p)
        return CHROPROF_ERR_ARGUMENT;
    memset(p, 0, sizeof(*p));
    if (!memory)
        return CHROPROF_ERR_ARGUMENT;
    if (options)
        o = *options;
    chroprof__capacities(&o, capacity);
    if (!chroprof__within_limits(capacity))
        return CHROPROF_ERR_LIMIT;
    if (!chroprof__resolve(&o, capacity, size))
        return CHROPROF_ERR_MEMORY;
    uintptr_t skip = (CHROPROF__ALIGN - (uintptr_t)memory % CHROPROF__ALIGN) % CHROPROF__ALIGN;
    chroprof__core *c = (chroprof__core *)(void *)((char *)memory + skip);
    memset(memory, 0, skip + sizeof(*c));   /* no older start lies before ours */
    uint64_t bytes = chroprof__layout(capacity, c->tables);
    memset((char *)c + sizeof(*c), 0, (size_t)bytes - sizeof(*c));
    c->layout = CHROPROF__LAYOUT;
    c->order = 0x01020304u;
    c->block_bytes = bytes;
    c->core_bytes = (uint32_t)sizeof(*c);
    chroprof__describe_process(c, o.name);
    chroprof__attach(p, c);
    chroprof__first_rows(p);
    p->on_stall = o.on_stall;
    p->on_stall_user = o.on_stall_user;
    chroprof_result result = chroprof__start_clock(p, &o);
    if (result != CHROPROF_OK) {
        memset(p, 0, sizeof(*p));
        return result;
    }
    CHROPROF__STORE_FENCE();
    c->magic = CHROPROF__MAGIC;             /* last: from here on it is a block */
    c->enabled = 1;
    chroprof__set_taking(p, true);
    return CHROPROF_OK;
}

CHROPROF_API uint64_t chroprof_now(const chroprof *p)
{
    return p && p->core && !p->view ? chroprof__read_clock(p) : 0;
}

/* What was spent in on_stall is loop, whoever is on top by now, and not part of slice or turn. */
static void chroprof__bill_callback(chroprof *p)
{
    chroprof__core *c = p->core;
    uint32_t account = c->account;
    uint64_t before = c->last, start = p->frames[c->depth].start, limit = c->max_step_ticks;
    c->max_step_ticks = UINT64_MAX >> 1;    /* however long it took, it was the loop's */
    chroprof__begin_edit(c);
    c->account = CHROPROF__LOOP;
    uint64_t t = chroprof__begin_event(p, c, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = account;
    c->max_step_ticks = limit;
    chroprof__set_horizon(c);
    if (c->depth)                           /* a stall ends by a pop, so no frame is hidden */
        p->frames[c->depth].start = start + (t - before);
    if (c->depth > c->floor)
        p->frames[c->floor + 1].excluded += t - before;
    chroprof__end_event(c);
    chroprof__end_edit(c);
}

/* Tells the host of the stalls that the event just ended. */
CHROPROF__COLD void chroprof__call_on_stall(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof_stall stall;
    p->stall_due = false;
    p->in_callback = true;
    chroprof__set_taking(p, false);
    for (int k = 0; k < 2; k++) {
        if (c->due[k].serial == 0)
            continue;
        chroprof__read_stall_row(p, &c->due[k], &stall);
        c->due[k].serial = 0;
        p->on_stall(p->on_stall_user, &stall);
        if (!p->in_callback)                /* it made a new profile of the handle */
            return;
    }
    p->in_callback = false;
    chroprof__set_taking(p, true);
    if (!c->manual)
        chroprof__bill_callback(p);
}

/* An event while the profile is off, or from inside on_stall. */
CHROPROF__COLD void chroprof__refuse(const chroprof *p)
{
    if (p && p->in_callback)
        chroprof__count(p->core, CHROPROF_ANOMALY_EVENT_IN_CALLBACK);
}

/* Does the profile take events the short way? The test is all that a call costs while it is off. */
CHROPROF__INLINE bool chroprof__is_on(const chroprof *p)
{
    return CHROPROF__LIKELY(p && p->on);
}

/* Does it take them at all? */
CHROPROF__INLINE bool chroprof__takes(const chroprof *p)
{
    if (CHROPROF__LIKELY(p && p->taking))
        return true;
    chroprof__refuse(p);
    return false;
}

/* An event of now, where the clock is a function. */
CHROPROF__NOINLINE void chroprof__clocked_event(chroprof *p, chroprof_state state, uint64_t id,
                                                const chroprof_site *site)
{
    chroprof__gate(p, state, id, site, chroprof__home(p, id), chroprof__read_clock(p));
}

/* An event of now. The slot is fetched before the clock is read: with a million futures it comes
 * from main memory, and the read hides a part of the way. */
CHROPROF__INLINE void chroprof__live_event(chroprof *p, chroprof_state state, uint64_t id,
                                           const chroprof_site *site)
{
#if CHROPROF__HAS_COUNTER
    chroprof__future *home = chroprof__home(p, id);
    if (CHROPROF__LIKELY(p->clock == NULL)) {
        if (state == CHROPROF_PENDING || state == CHROPROF_RUNNING || state == CHROPROF_SWITCH)
            CHROPROF__PREFETCH(home);
        chroprof__gate(p, state, id, site, home, chroprof__counter());
        return;
    }
#endif
    chroprof__clocked_event(p, state, id, site);
}

/* ---- while the sampler runs: events that begin a stay also note who they came from */

#if CHROPROF__SAMPLES
/* A word of the stack, which no sanitizer knows to be one. */
#ifdef __clang__
__attribute__((no_sanitize("memory")))
#endif
__attribute__((noinline, unused, no_sanitize_address, no_sanitize_thread))
static uintptr_t chroprof__stack_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

/* What tells one call of a function from all others. */
CHROPROF__INLINE uint32_t chroprof__frame_key(uintptr_t frame, uintptr_t back)
{
    return (uint32_t)((frame ^ (uint64_t)back * UINT64_C(0x9E3779B97F4A7C15)) >> 8) | 1;
}

/* The end of the stack that an address is on; 0: not known. */
CHROPROF__INLINE uintptr_t chroprof__stack_end(const chroprof__sampler *s, uintptr_t address)
{
    if (address >= s->fiber_low && address < s->fiber_high)
        return (uintptr_t)s->fiber_high;
    return address >= s->low && address < s->high ? (uintptr_t)s->high : 0;
}

/* Can a frame record lie here? */
CHROPROF__INLINE bool chroprof__is_record(uintptr_t frame, uintptr_t above, uintptr_t end)
{
    return frame > above && end >= 16 && frame <= end - 16 && frame % sizeof(frame) == 0;
}

/* The top frame was begun by this event: by the functions whose records these are, from the given
 * one on. That may be anything, so only what lies between here and the end of the stack is read:
 * below, inside the bounds of the stack, there may be guard pages. */
static void chroprof__note_caller(chroprof *p, uintptr_t frame)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t event = p->frames[c->depth].event;
    const void *own = __builtin_frame_address(0);
    uintptr_t above = (uintptr_t)own, end = chroprof__stack_end(s, above);
    if (event != (uint32_t)(c->seq - 1))
        return;
    chroprof__note *note = chroprof__notes(s) + c->depth;
    memset(note, 0, sizeof(*note));
    note->event = event;
    for (int k = 0; k < 3 && end && chroprof__is_record(frame, above, end); k++) {
        note->keys[k] = chroprof__frame_key(frame, chroprof__stack_word(frame + sizeof(frame)));
        above = frame;
        frame = chroprof__stack_word(frame);
    }
}

/* The record of the function that called this one. Not later: the place of this one's own record is
 * free as soon as it has jumped elsewhere. */
#define CHROPROF__CALLER() (*(const volatile uintptr_t *)__builtin_frame_address(0))
#if defined(__clang__)
#if __has_feature(memory_sanitizer)         /* takes what a call has pushed for not written */
#undef CHROPROF__CALLER
#define CHROPROF__CALLER() chroprof__stack_word((uintptr_t)__builtin_frame_address(0))
#endif
#endif
#endif

/* An event that is not taken the short way: while the profile is off, or the sampler runs. */
CHROPROF__COLD void chroprof__long_event(chroprof *p, chroprof_state state, uint64_t id,
                                         const chroprof_site *site)
{
    if (!chroprof__takes(p))
        return;
    chroprof__clocked_event(p, state, id, site);
#if CHROPROF__SAMPLES
    if (p->sampling)
        chroprof__note_caller(p, CHROPROF__CALLER());
#endif
}

/* The same; while the profile is off this is no call. */
CHROPROF__INLINE void chroprof__other_event(chroprof *p, chroprof_state state, uint64_t id,
                                            const chroprof_site *site)
{
    if (p && p->detour)
        chroprof__long_event(p, state, id, site);
}

/* An event of now of a kind that only has the general way. */
CHROPROF__NOINLINE void chroprof__any_live_event(chroprof *p, chroprof_state state, uint64_t id,
                                                 const chroprof_site *site)
{
    if (chroprof__takes(p))
        chroprof__rare(p, state, id, site, chroprof__read_clock(p));
}

#ifndef CHROPROF_DISABLE

CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now)
{
    if (!chroprof__takes(p))
        return;
    if (CHROPROF__RARELY(p->mapped != NULL)) {
        chroprof__watch_fork(p);
        if (!p->taking)
            return;
    }
    if (CHROPROF__RARELY(!p->core->started))
        chroprof__start_at(p->core, now);   /* under the manual clock only this tells the time */
    chroprof__gate(p, state, id, site, chroprof__home(p, id), now);
#if CHROPROF__SAMPLES
    if (p->sampling)
        chroprof__note_caller(p, CHROPROF__CALLER());
#endif
}

CHROPROF_API void chroprof_sample(chroprof *p, uint64_t now, uint64_t cpu_delta_ns)
{
    chroprof__entry by_hand, *e = &by_hand;
    chroprof__sampler *s = p && p->taking ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    bool busy = chroprof__is_busy(p->core);
    if (!busy && !p->core->started)
        chroprof__start_at(p->core, now);
    memset(&by_hand, 0, sizeof(by_hand));
    if (busy)
        e = chroprof__begin_entry(p->core, s);
    if (!e) {
        s->lost++;
        return;
    }
    e->stamp = e->last = now;
    e->weight = 1;
    e->cpu_ns = cpu_delta_ns;
    chroprof__put_running(p->core, e);
    CHROPROF__STORE_FENCE();
    if (busy) {
        chroprof__poke64(&s->put, s->put + 1);
        return;
    }
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
}

CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line)
{
    if (!p || !p->core || p->view || !name)
        return NULL;
    chroprof__watch_fork(p);
    chroprof__begin_edit(p->core);
    uint32_t k = chroprof__intern_site(p->core, name, file ? file : "", line);
    chroprof__end_edit(p->core);
    return (const chroprof_site *)(const void *)chroprof__sites(p->core)[k].handle;
}

CHROPROF_API void chroprof_pending(chroprof *p, uint64_t id, const chroprof_site *site)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_PENDING, id, site);
    else
        chroprof__other_event(p, CHROPROF_PENDING, id, site);
}

CHROPROF_API void chroprof_ready(chroprof *p, uint64_t id)
{
    chroprof__any_live_event(p, CHROPROF_READY, id, NULL);
}

CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when)
{
    if (!chroprof__takes(p))
        return;
    chroprof__core *c = p->core;
    uint64_t now = chroprof__read_clock(p);
    uint64_t t = chroprof__begin_event(p, c, CHROPROF_READY, id, now), ago = now - when;
    if (ago >> 63) {
        chroprof__count(c, CHROPROF_ANOMALY_READY_AHEAD);
        ago = 0;
    }
    if (id == 0)
        chroprof__count(c, CHROPROF_ANOMALY_ID_ZERO);
    else
        chroprof__on_ready(p, c, id, chroprof__minus(t, ago));
    chroprof__end_event(c);
}

CHROPROF_API void chroprof_running(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_RUNNING, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_RUNNING, id, NULL);
}

CHROPROF_API void chroprof_paused(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_PAUSED, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_PAUSED, id, NULL);
}

CHROPROF_API void chroprof_switch(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_SWITCH, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_SWITCH, id, NULL);
}

CHROPROF_API void chroprof_completed(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_COMPLETED, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_COMPLETED, id, NULL);
}

CHROPROF_API void chroprof_failed(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_FAILED, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_FAILED, id, NULL);
}

CHROPROF_API void chroprof_cancelled(chroprof *p, uint64_t id)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_CANCELLED, id, NULL);
    else
        chroprof__other_event(p, CHROPROF_CANCELLED, id, NULL);
}

CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish)
{
    if (!chroprof__takes(p))
        return;
    bool good = finish >= CHROPROF_COMPLETED && finish <= CHROPROF_CANCELLED;
    chroprof_state state = good ? finish : CHROPROF_COMPLETED;
    chroprof__begin_event(p, p->core, state, 0, chroprof__read_clock(p));
    if (!site)
        chroprof__count(p->core, CHROPROF_ANOMALY_SITE_NULL);
    if (!good)
        chroprof__count(p->core, CHROPROF_ANOMALY_BAD_STATE);
    if (good && site)
        chroprof__on_stillborn(p, site);
    chroprof__end_event(p->core);
}

CHROPROF_API void chroprof_enter(chroprof *p, const chroprof_site *site)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_ENTER, 0, site);
    else
        chroprof__other_event(p, CHROPROF_ENTER, 0, site);
}

CHROPROF_API void chroprof_leave(chroprof *p)
{
    if (chroprof__is_on(p))
        chroprof__live_event(p, CHROPROF_LEAVE, 0, NULL);
    else
        chroprof__other_event(p, CHROPROF_LEAVE, 0, NULL);
}

CHROPROF_API void chroprof_loop_enter(chroprof *p)
{
    chroprof__long_event(p, CHROPROF_LOOP_ENTER, 0, NULL);
}

CHROPROF_API void chroprof_loop_leave(chroprof *p)
{
    chroprof__any_live_event(p, CHROPROF_LOOP_LEAVE, 0, NULL);
}

CHROPROF_API void chroprof_idle_enter(chroprof *p)
{
    chroprof__any_live_event(p, CHROPROF_IDLE_ENTER, 0, NULL);
}

CHROPROF_API void chroprof_idle_leave(chroprof *p)
{
    chroprof__any_live_event(p, CHROPROF_IDLE_LEAVE, 0, NULL);
}

CHROPROF_API void chroprof_tick(chroprof *p)
{
    chroprof__any_live_event(p, CHROPROF_TICK, 0, NULL);
}

#ifdef CHROPROF__EPOLL
#if defined(__mips__)
#define CHROPROF__MASK_BYTES 16             /* of the kernel's signal set */
#else
#define CHROPROF__MASK_BYTES 8
#endif
CHROPROF_API int chroprof_epoll_pwait(chroprof *p, int fd, void *events, int size, int ms,
                                      const void *mask)
{
    int count;
    chroprof_idle_enter(p);
    count = (int)chroprof__system(SYS_epoll_pwait, fd, events, size, ms, mask,
                                  (long)CHROPROF__MASK_BYTES);
    chroprof_idle_leave(p);
    return count;
}
#endif

#endif /* CHROPROF_DISABLE */

/* A future is neither ready nor, with a frame that was hidden, running any more. */
static void chroprof__calm_future(chroprof *p, chroprof__future *slot, uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    else if (slot->state != CHROPROF_RUNNING)
        return;
    bool ran = slot->state == CHROPROF_RUNNING || slot->flags & CHROPROF__STARTED;
    slot->state = ran ? CHROPROF_PAUSED : CHROPROF_PENDING;
    slot->flags = 0;
    slot->since = t;
}

static void chroprof__switch_off(chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__begin_event(p, c, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = c->account == CHROPROF__IDLE ? (uint32_t)CHROPROF__LOOP : c->account;
    if (c->hidden)
        chroprof__unhide(p, c->hidden, t);
    while (c->depth)
        chroprof__pop_any(p, c, t);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_FUTURES].rows; k++) {
        if (p->futures[k].id != 0)
            chroprof__calm_future(p, p->futures + k, t);
    }
    c->pass_active = 0;
    c->enabled = 0;
    chroprof__end_event(c);
    if (p->stall_due)
        chroprof__call_on_stall(p);
    chroprof__set_taking(p, false);
}

CHROPROF_API void chroprof_set_enabled(chroprof *p, bool on)
{
    if (!p || !p->core || p->view || p->in_callback || p->taking == on)
        return;
    if (!on) {
        chroprof__switch_off(p);
        return;
    }
    chroprof__watch_fork(p);
    chroprof__begin_edit(p->core);
    p->core->enabled = 1;
    chroprof__set_taking(p, true);
    if (p->core->manual) {                  /* the next event says when */
        p->core->started = 0;
        p->core->horizon = p->core->last;
    } else {
        chroprof__start_at(p->core, chroprof__read_clock(p));
    }
    chroprof__end_edit(p->core);
}

/* A path's figures begin anew; its place in the tree stays. Futures and frames are counted in
 * later. */
static void chroprof__reset_path(chroprof__path *row)
{
    chroprof__path fresh;
    memset(&fresh, 0, sizeof(fresh));
    fresh.histogram = row->histogram;
    fresh.site = row->site;
    fresh.parent = row->parent;
    fresh.next = row->next;
    fresh.same_site = row->same_site;
    fresh.level = row->level;
    *row = fresh;
}

static void chroprof__reset_futures(chroprof *p)
{
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_FUTURES].rows; k++) {
        chroprof__future *slot = p->futures + k;
        slot->since = 0;
        slot->exec = 0;
        if (slot->id == 0 || slot->state == CHROPROF__GONE)
            continue;
        p->paths[slot->path].calls++;
        p->paths[slot->path].live++;
        p->paths[slot->path].ready += slot->state == CHROPROF_READY;
    }
}

/* The note of a frame stays that of the frame. */
static void chroprof__keep_note(const chroprof__core *c, uint32_t frame, uint32_t event)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    const chroprof__frame *frames =
        (const chroprof__frame *)chroprof__rows(c, CHROPROF_TABLE_DEPTH);
    if (s && chroprof__notes(s)[frame].event == frames[frame].event)
        chroprof__notes(s)[frame].event = event;
}

static void chroprof__reset_frames(chroprof *p)
{
    uint32_t capacity = p->core->tables[CHROPROF_TABLE_DEPTH].capacity;
    for (uint32_t k = p->core->depth + 1; k <= capacity; k++)
        p->frames[k].kind = 0;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        chroprof__frame *frame = p->frames + k;
        frame->pushed = frame->start = frame->excluded = frame->carried = 0;
        chroprof__keep_note(p->core, k, (uint32_t)p->core->seq);
        frame->event = (uint32_t)p->core->seq;
        if (frame->kind == CHROPROF__BARRIER)
            continue;
        p->paths[frame->path].calls += frame->kind == CHROPROF__ENTER_FRAME;
        p->paths[frame->path].live += frame->kind == CHROPROF__ENTER_FRAME;
    }
}

static void chroprof__reset_tables(chroprof__core *c)
{
    chroprof__histograms *rows = chroprof__histogram_rows(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++) {
        chroprof__histogram_clear(&rows[k].slice);
        chroprof__histogram_clear(&rows[k].delay);
    }
    size_t windows = (size_t)c->tables[CHROPROF_TABLE_WINDOWS].bytes;
    size_t stalls = (size_t)c->tables[CHROPROF_TABLE_STALLS].bytes;
    memset(chroprof__rows(c, CHROPROF_TABLE_WINDOWS), 0, windows);
    memset(chroprof__rows(c, CHROPROF_TABLE_STALLS), 0, stalls);
    c->tables[CHROPROF_TABLE_STALLS].used = 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        c->tables[k].peak = c->tables[k].used;
        c->tables[k].dropped = 0;
        c->tables[k].wanted = 0;
    }
}

/* Samples, stacks and counts go; settings, notes and modules stay. */
static void chroprof__reset_samples(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!s)
        return;
    memset(chroprof__nodes(c), 0, (size_t)c->tables[CHROPROF__STACKS].bytes);
    memset(chroprof__sample_rows(c), 0, (size_t)c->tables[CHROPROF_TABLE_SAMPLES].bytes);
    memset(chroprof__walls(c), 0, (size_t)c->tables[CHROPROF__WALLS].bytes);
    c->tables[CHROPROF__STACKS].used = c->tables[CHROPROF_TABLE_SAMPLES].used = 0;
    s->samples = s->inside = s->dropped = s->dropped_cpu_ns = s->head = s->latest = 0;
    s->draws = s->misses = s->module_at = 0;
    memset(s->drawn, 0, sizeof(s->drawn));
    memset(s->hits, 0, sizeof(s->hits));
    chroprof__poke64(&s->taken, s->put);
    s->ticks = s->lost = s->cost_ns = 0;
}

/* Profile time 0 is now. */
static void chroprof__reset_core(chroprof__core *c)
{
    c->epoch += c->last;
    c->calibrate_at = c->calibrate_at > c->last ? c->calibrate_at - c->last : 1;
    c->start_clock = c->epoch;
    c->start_unix_ns += c->manual ? 0 : chroprof__ns(c, c->last);
    c->last = 0;
    c->window = 0;
    c->held = 0;
    c->turns = c->turn_max = c->passes = c->pass_max = c->stalls = 0;
    c->hidden_since = 0;
    c->seq_base = c->seq;
    c->merged_events = 0;
    memset(c->anomalies, 0, sizeof(c->anomalies));
    memset(c->intervals, 0, sizeof(c->intervals));
    c->pass_start = 0;
    c->pass_event = c->seq / 2 - 1;         /* not the next event's */
    chroprof__clear_biggest(&c->pass, 0);
    for (int k = 0; k < CHROPROF__LEVELS; k++)
        chroprof__clear_biggest(&c->turn[k], 0);
    chroprof__set_factor(c, c->factor);
    c->horizon = 0;
}

/* What was half reset can be reset again. */
static void chroprof__reset_all(chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__reset_path(p->paths + k);
    chroprof__reset_futures(p);
    chroprof__reset_frames(p);
    chroprof__reset_samples(p->core);
    chroprof__reset_tables(p->core);
    p->core->seq += 2;
    chroprof__reset_core(p->core);
}

CHROPROF__COLD_API void chroprof_reset(chroprof *p)
{
    if (!p || !p->core || p->view || p->in_callback)
        return;
    chroprof__watch_fork(p);
    p->core->event_state = CHROPROF__RESETTING;
    CHROPROF__STORE_FENCE();
    chroprof__begin_edit(p->core);
    chroprof__reset_all(p);
    chroprof__end_edit(p->core);
}

/* >>snapshot: a copy of a block that somebody may be writing, or died over. First the copy, then
 * what is mended of it where it is not of one moment between two events. */

enum {
    CHROPROF__SPINS = 1 << 16,     /* looks at an odd sequence word before it counts as stuck */
    CHROPROF__PIECE = 1 << 16,     /* bytes copied at once */
    CHROPROF__ROW_TRIES = 64,
    CHROPROF__COPY_TRIES = 3
};

typedef struct chroprof__copy {
    const chroprof__core *from;    /* live: read by chroprof__load alone */
    chroprof__core *to;
    uint64_t seq, edits;           /* before the part under way */
    uint64_t tries;                /* left for rows that do not hold still */
    bool stuck;                    /* inside an event or an edit that does not go on */
} chroprof__copy;

CHROPROF__INLINE uint64_t chroprof__load(const void *word)
{
    return *(const volatile chroprof__word *)word;
}

static void chroprof__copy_words(chroprof__copy *s, uint64_t offset, uint64_t bytes)
{
    const char *from = (const char *)s->from + offset;
    char *to = (char *)s->to + offset;
    for (uint64_t k = 0; k < bytes; k += 8) {
        uint64_t word = chroprof__load(from + k);
        memcpy(to + k, &word, sizeof(word));
    }
}

/* Waits for the end of an event that is under way, unless it has none. */
static void chroprof__await(chroprof__copy *s)
{
    uint32_t spins = 0;
    bool odd;
    do {
        s->seq = chroprof__load(&s->from->seq);
        s->edits = chroprof__load(&s->from->edits);
        odd = (s->seq | s->edits) % 2 != 0;
    } while (odd && !s->stuck && ++spins < CHROPROF__SPINS);
    s->stuck = odd;
    CHROPROF__LOAD_FENCE();
}

/* Was what has been copied since of one moment? */
static bool chroprof__held_still(const chroprof__copy *s)
{
    CHROPROF__LOAD_FENCE();
    return chroprof__load(&s->from->seq) == s->seq && chroprof__load(&s->from->edits) == s->edits;
}

/* Copies rows so that each is of one moment between two events: pieces that do not hold still are
 * halved, down to a row. stamp: notes in the rows, which are paths, when that was. */
static void chroprof__copy_rows(chroprof__copy *s, uint32_t table, uint64_t first, uint64_t count,
                                uint64_t row, bool stamp)
{
    uint64_t at = s->to->tables[table].offset + first * row, left = count * row;
    uint64_t piece = CHROPROF__PIECE / row * row, tries = 0;
    while (left) {
        piece = piece < row ? row : piece < left ? piece : left;
        chroprof__await(s);
        chroprof__copy_words(s, at, piece);
        uint64_t now = chroprof__load(&s->from->last);
        bool still = chroprof__held_still(s), one = piece == row;
        if (!still && !(one && (tries++ == CHROPROF__ROW_TRIES || s->tries == 0))) {
            s->tries -= one;
            piece = piece / 2 / row * row;
            continue;
        }
        for (uint64_t k = 0; stamp && k < piece; k += row)
            ((chroprof__path *)(void *)((char *)s->to + at + k))->reserved[0] = now;
        at += piece;
        left -= piece;
        piece = 2 * piece < CHROPROF__PIECE ? 2 * piece : piece;
        tries = 0;
    }
}

/* The core and the running stack belong together: both of one moment, if that comes. */
static chroprof_result chroprof__copy_core(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes)
{
    for (uint32_t tries = 0; tries < CHROPROF__ROW_TRIES; tries++) {
        chroprof__await(s);
        chroprof__copy_words(s, 0, sizeof(chroprof__core));
        if (!chroprof__held_still(s) && tries + 1 < CHROPROF__ROW_TRIES)
            continue;
        chroprof_result result = chroprof__open_header(s->to, live_bytes);
        if (result != CHROPROF_OK)
            return result;
        const chroprof__table *frames = &s->to->tables[CHROPROF_TABLE_DEPTH];
        if (s->to->depth > frames->capacity || !chroprof__open_uses(s->to))
            return CHROPROF_ERR_CORRUPT;
        if (bytes < s->to->block_bytes)
            return CHROPROF_ERR_MEMORY;
        chroprof__copy_words(s, frames->offset, (s->to->depth + 1u) * sizeof(chroprof__frame));
        if (chroprof__held_still(s))
            break;
    }
    return CHROPROF_OK;
}

/* The sampler's own row changes at any time: each word is whole. Of the ticks that wait none is of
 * two moments, unless one comes at each try. */
static void chroprof__copy_sampler(chroprof__copy *s)
{
    const chroprof__table *table = &s->to->tables[CHROPROF__SAMPLER];
    const chroprof__sampler *from =
        (const chroprof__sampler *)(const void *)((const char *)s->from + table->offset);
    const chroprof__sampler *to = chroprof__sampler_of(s->to);
    uint32_t tries = 0;
    do {
        chroprof__copy_rows(s, CHROPROF__SAMPLER, 0, table->rows, CHROPROF__ALIGN, false);
        CHROPROF__LOAD_FENCE();
    } while ((chroprof__load(&from->ticks) != to->ticks || chroprof__load(&from->put) != to->put) &&
             ++tries < CHROPROF__ROW_TRIES);
}

/* What the samples refer to comes after them, so that it is there. */
static void chroprof__copy_samples(chroprof__copy *s)
{
    const chroprof__table *tables = s->to->tables;
    if (tables[CHROPROF__SAMPLER].rows == 0)
        return;
    chroprof__copy_sampler(s);
    chroprof__copy_rows(s, CHROPROF_TABLE_SAMPLES, 0, tables[CHROPROF_TABLE_SAMPLES].rows,
                        sizeof(chroprof__sample), false);
    chroprof__copy_rows(s, CHROPROF__STACKS, 0, tables[CHROPROF__STACKS].rows,
                        sizeof(chroprof__node), false);
    chroprof__copy_rows(s, CHROPROF__MODULES, 0, tables[CHROPROF__MODULES].rows,
                        sizeof(chroprof__module), false);
    chroprof__copy_rows(s, CHROPROF__WALLS, 0, tables[CHROPROF__WALLS].rows,
                        sizeof(chroprof__wall), false);
}

/* Copies what is in use. The paths come last, so that no other table is ahead of them. */
static void chroprof__copy_tables(chroprof__copy *s)
{
    const chroprof__table *tables = s->to->tables;
    uint64_t depth = s->to->depth + 1u, paths = tables[CHROPROF_TABLE_PATHS].used;
    uint64_t sites = tables[CHROPROF_TABLE_SITES].used, cells;
    uint64_t rows = tables[CHROPROF_TABLE_HISTOGRAMS].rows;
    cells = (tables[CHROPROF_TABLE_WINDOWS].capacity + 1u) * (uint64_t)sizeof(uint64_t);
    uint64_t strings = (tables[CHROPROF_TABLE_STRINGS].used + 7) / 8;
    chroprof__copy_rows(s, CHROPROF_TABLE_STRINGS, 0, strings, 8, false);
    chroprof__copy_rows(s, CHROPROF_TABLE_SITES, 0, sites + CHROPROF__FIRST_SITE,
                        sizeof(chroprof__site), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_DEPTH, depth, tables[CHROPROF_TABLE_DEPTH].rows - depth,
                        sizeof(chroprof__frame), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_STALLS, 0, tables[CHROPROF_TABLE_STALLS].rows,
                        sizeof(chroprof__stall), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_FUTURES, 0, tables[CHROPROF_TABLE_FUTURES].rows,
                        sizeof(chroprof__future), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_EDGES, 0, tables[CHROPROF_TABLE_EDGES].rows,
                        sizeof(chroprof__edge), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_HISTOGRAMS, 0, rows < sites + 1 ? rows : sites + 1,
                        sizeof(chroprof__histograms), false);
    chroprof__copy_rows(s, CHROPROF_TABLE_WINDOWS, 0, sites + CHROPROF__FIRST_SITE, cells, false);
    chroprof__copy_samples(s);
    chroprof__copy_rows(s, CHROPROF_TABLE_PATHS, 0, paths + CHROPROF__FIRST_PATH,
                        sizeof(chroprof__path), true);
}

/* What is known of the moment, or the moments, of a copy. */
typedef struct chroprof__mending {
    bool torn;                 /* an event or an edit was cut short */
    bool moved;                /* something changed meanwhile */
    bool skewed;               /* events went on meanwhile */
    uint32_t culprit;          /* path whose figures that event was changing, 0: not known */
    uint64_t ready;            /* futures ready before it */
} chroprof__mending;

static void chroprof__mend_sites(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__site *sites = chroprof__sites(c);
    char *strings = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS);
    strings[c->tables[CHROPROF_TABLE_STRINGS].used - 1] = '\0';
    for (uint32_t k = 0; k < chroprof__site_count(p); k++) {
        uint64_t *cells = chroprof__cells(c, k);
        sites[k].first_path = 0;
        if (!chroprof__open_string(c, sites[k].name))
            sites[k].name = 0;
        if (!chroprof__open_string(c, sites[k].file))
            sites[k].file = 0;
        if (cells[0] > chroprof__tag_level(c->window))
            cells[0] = chroprof__tag_level(c->window);
    }
}

/* Parents and sites never change once a path is there: all other links are made anew from them. */
static bool chroprof__mend_tree(chroprof *p)
{
    chroprof__table *table = &p->core->tables[CHROPROF_TABLE_PATHS];
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++) {
        p->paths[k].site = k;
        p->paths[k].next = p->paths[k].parent = p->paths[k].level = p->paths[k].histogram = 0;
    }
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(p); k++) {
        const chroprof__path *row = p->paths + k;
        bool good = row->site >= CHROPROF__OTHER && row->site < chroprof__site_count(p) &&
                    row->parent < k && row->parent != CHROPROF__IDLE &&
                    row->parent != CHROPROF__UNTRACKED;
        if (good)
            chroprof__link_path(p, k, row->parent, row->site);
        else if (k + 1 == chroprof__path_count(p) && row->exec == 0)
            table->used--;                  /* it was just being made */
        else
            return false;
    }
    return true;
}

static uint64_t chroprof__sum_exec(const chroprof *p)
{
    uint64_t exec = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        exec += p->paths[k].exec;
    return exec;
}

/* The interval of an event that was cut short before it billed it. */
static void chroprof__finish_interval(chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t t = c->event_now - c->epoch, before = c->last;
    uint32_t account = c->event_account;
    bool good = t > before && t < CHROPROF__END_OF_TIME && account < chroprof__path_count(p) &&
                (t - before <= c->max_step_ticks || account == CHROPROF__IDLE);
    if (good && c->started && c->seq % 2 != 0 && chroprof__sum_exec(p) == before)
        p->paths[account].exec += t - before;
}

/* Elapsed is the sum of what was billed. */
static bool chroprof__mend_time(chroprof *p, const chroprof__mending *m)
{
    chroprof__core *c = p->core;
    if (m->torn && !m->skewed)
        chroprof__finish_interval(p);
    c->last = chroprof__sum_exec(p);
    if (c->last >= CHROPROF__END_OF_TIME || c->window_ticks == 0)
        return false;
    if (chroprof__tag_level(c->window) > 62)
        return false;
    for (uint32_t k = 0; m->skewed && k < chroprof__path_count(p); k++) {
        chroprof__path *row = p->paths + k;
        row->wall += row->live * (row->reserved[0] - c->last);
        row->delay += row->ready * (row->reserved[0] - c->last);
    }
    if (m->torn && c->seq % 2 != 0) {
        uint64_t end = c->intervals[((c->seq >> 1) - 1) % CHROPROF__INTERVALS].end;
        c->doubt_events = 1;
        c->doubt_ticks = chroprof__minus(c->last, end);
    }
    return true;
}

static bool chroprof__good_frame(const chroprof *p, const chroprof__frame *frame)
{
    bool plain = frame->kind == CHROPROF__BARRIER || frame->kind == CHROPROF__ENTER_FRAME;
    if (frame->path >= chroprof__path_count(p) || frame->pushed > p->core->last)
        return false;
    if (frame->kind == CHROPROF__BARRIER ? frame->path != CHROPROF__LOOP
                                         : frame->path < CHROPROF__UNTRACKED)
        return false;
    return plain ? frame->id == 0 : frame->id != 0 && frame->kind & CHROPROF__FUTURE_FRAME;
}

/* Cuts the stack above the first frame that can't be; finds the barriers anew. */
static void chroprof__mend_stack(chroprof *p)
{
    chroprof__core *c = p->core;
    uint32_t k = 1;
    memset(p->frames, 0, sizeof(*p->frames));
    p->frames[0].kind = CHROPROF__BARRIER;
    c->floor = c->level = 0;
    for (; k <= c->depth && chroprof__good_frame(p, p->frames + k); k++) {
        if (p->frames[k].kind != CHROPROF__BARRIER)
            continue;
        p->frames[k].slot = c->floor;
        p->frames[k].same = 0;
        c->floor = k;
        c->level++;
    }
    c->depth = k - 1;
    if (c->hidden && c->hidden_since > c->last)
        c->hidden_since = c->last;
}

/* A slice can't have begun after its end. */
static void chroprof__mend_slices(chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t end = c->hidden ? c->hidden_since : c->last;
    for (uint32_t k = c->depth; k > 0; k--) {
        chroprof__frame *frame = p->frames + k;
        if (frame->pushed > end)
            frame->pushed = end;
        if (frame->start > end)
            frame->start = end;
        if (frame->start < frame->pushed)
            frame->start = frame->pushed;
        end = frame->pushed;
    }
}

/* Puts the futures of a copied table where a search finds them, each id once; those that only had
 * frames come back with these. Steps are limited, whatever the ids. */
static void chroprof__mend_slots(chroprof *p)
{
    chroprof__table *table = &p->core->tables[CHROPROF_TABLE_FUTURES];
    uint64_t steps = 64 * (uint64_t)p->slots;
    uint32_t start = 0;
    table->used = 0;
    while (start + 1 < p->slots && p->futures[start].id != 0)
        start++;
    for (uint32_t n = 0, k = start; n < p->slots; n++, k = k + 1 < p->slots ? k + 1 : 0) {
        chroprof__future slot = p->futures[k];
        memset(p->futures + k, 0, sizeof(slot));
        if (slot.id == 0 || slot.path < CHROPROF__UNTRACKED || slot.path >= chroprof__path_count(p))
            continue;
        if (slot.state > CHROPROF_PAUSED || table->used == table->capacity)
            continue;
        uint32_t at = chroprof__hash_index(slot.id, p->slots);
        while (p->futures[at].id != 0 && p->futures[at].id != slot.id && steps > 0) {
            at = at + 1 < p->slots ? at + 1 : 0;
            steps--;
        }
        if (p->futures[at].id != 0)
            continue;
        slot.frame = 0;
        slot.since = slot.since < p->core->last ? slot.since : p->core->last;
        p->futures[at] = slot;
        table->used++;
    }
}

/* Ties a frame to the slot of its id. */
static void chroprof__mend_frame(chroprof *p, uint32_t k)
{
    chroprof__frame *frame = p->frames + k;
    chroprof__future *slot = chroprof__find(p, frame->id);
    if (slot->id == 0) {
        slot->id = frame->id;
        slot->path = frame->path;
        slot->state = CHROPROF__GONE;
    }
    bool own = slot->state != CHROPROF__GONE && slot->path == frame->path;
    if (!(frame->kind & CHROPROF__ORPHAN) && !own) {
        frame->kind |= CHROPROF__ORPHAN | CHROPROF__NEWEST | CHROPROF__OLDEST;
        frame->carried = 0;
    }
    frame->slot = (uint32_t)(slot - p->futures);
    frame->same = slot->frame;
    frame->future = k;
    slot->frame = (uint16_t)k;
}

static void chroprof__mend_futures(chroprof *p)
{
    uint32_t inner = 0;
    for (uint32_t passes = 0; passes < 3; passes++)
        chroprof__mend_slots(p);            /* a hole that one leaves is filled by the next */
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        chroprof__frame *frame = p->frames + k;
        inner = frame->kind == CHROPROF__BARRIER ? 0 : frame->id ? k : inner;
        frame->same = 0;
        frame->future = inner;
        if (frame->id)
            chroprof__mend_frame(p, k);
    }
    for (uint32_t k = 0; k < p->slots; k++) {
        chroprof__future *slot = p->futures + k;
        bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
        if (slot->id == 0 || slot->state == CHROPROF__GONE)
            continue;
        if (own)
            slot->state = CHROPROF_RUNNING;
        else if (slot->state == CHROPROF_RUNNING && p->core->hidden == 0)
            slot->state = CHROPROF_PAUSED;
    }
}

/* As chroprof__mend_slots. */
static void chroprof__mend_edges(chroprof *p)
{
    chroprof__table *table = &p->core->tables[CHROPROF_TABLE_EDGES];
    chroprof__edge *edges = (chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint64_t steps = 64 * (uint64_t)table->rows;
    uint32_t rows = table->rows, start = 0;
    table->used = 0;
    while (start + 1 < rows && edges[start].site != 0)
        start++;
    for (uint32_t n = 0, k = start; n < rows; n++, k = k + 1 < rows ? k + 1 : 0) {
        chroprof__edge edge = edges[k];
        memset(edges + k, 0, sizeof(edge));
        if (edge.site == 0 || !chroprof__open_edge(p, &edge) || table->used == table->capacity)
            continue;
        uint32_t at = chroprof__hash_index((uint64_t)edge.path << 32 ^ edge.site, rows);
        while (edges[at].site != 0 && steps > 0) {
            at = at + 1 < rows ? at + 1 : 0;
            steps--;
        }
        if (edges[at].site != 0)
            continue;
        edges[at] = edge;
        table->used++;
    }
}

/* Counts each path's futures: live in reserved[1], ready in reserved[2]. */
static void chroprof__recount(chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        p->paths[k].reserved[1] = p->paths[k].reserved[2] = 0;
    for (uint32_t k = 0; k < p->slots; k++) {
        const chroprof__future *slot = p->futures + k;
        if (slot->id == 0 || slot->state == CHROPROF__GONE)
            continue;
        p->paths[slot->path].reserved[1]++;
        p->paths[slot->path].reserved[2] += slot->state == CHROPROF_READY;
    }
    for (uint32_t k = 1; k <= p->core->depth; k++)
        if (p->frames[k].kind == CHROPROF__ENTER_FRAME)
            p->paths[p->frames[k].path].reserved[1]++;
}

/* Calls add up, and none can have lasted longer than the profile. */
static void chroprof__mend_calls(chroprof__path *row, uint64_t last)
{
    const uint64_t turns[] = { 0, last, 0 - last };
    row->calls = row->completed + row->failed + row->cancelled + row->abandoned + row->live +
                 row->merged_live;
    for (uint32_t k = 0; k < 3; k++) {
        uint64_t wall = row->wall + row->live * last + turns[k];
        if (row->calls ? wall / row->calls > last : wall != 0)
            continue;
        row->wall += turns[k];
        return;
    }
    row->wall = 0 - row->live * last;
}

/* The call that the event ended on this path is still there: it ends. */
static void chroprof__drop_call(chroprof *p, uint32_t path)
{
    chroprof__core *c = p->core;
    chroprof__future *slot = chroprof__find(p, c->event_id);
    if (c->event_id && slot->id && slot->state != CHROPROF__GONE && slot->path == path) {
        c->tables[CHROPROF_TABLE_FUTURES].used--;
        chroprof__orphan_frames(p, slot);
        slot->state = CHROPROF__GONE;
        slot->flags = 0;
        if (slot->frame == 0)
            chroprof__free_slot(p, slot);
    } else if (p->frames[c->depth].kind == CHROPROF__ENTER_FRAME &&
               p->frames[c->depth].path == path) {
        c->depth--;
    }
}

/* The event had changed these counts in part. A finish that is counted is finished, a call that is
 * only half begun is not; futures and counts then agree (all calls are added up later). */
static void chroprof__mend_call(chroprof *p, uint32_t path)
{
    chroprof__path *row = p->paths + path;
    uint64_t last = p->core->last, there = row->reserved[1];
    uint64_t ended = row->completed + row->failed + row->cancelled + row->abandoned +
                     row->merged_live;
    if (ended + row->live == row->calls + 1) {
        row->live--;
        row->wall += last;
    } else if (ended + row->live + 1 == row->calls && there > row->live) {
        row->live++;
        row->wall -= last;
    }
    if (there > row->live)
        chroprof__drop_call(p, path);
    row->wall += there < row->live ? (row->live - there) * last : 0;
    row->live = there < row->live ? there : row->live;
}

/* Counts are made those of the futures that are there. */
static void chroprof__mend_counts(chroprof *p, chroprof__mending *m)
{
    const chroprof__future *slot = chroprof__find(p, p->core->event_id);
    uint32_t own = p->core->event_id && slot->id ? slot->path : 0;
    chroprof__recount(p);
    for (uint32_t k = CHROPROF__UNTRACKED; k < chroprof__path_count(p); k++)
        chroprof__mend_call(p, k);
    chroprof__recount(p);
    for (uint32_t k = CHROPROF__UNTRACKED; k < chroprof__path_count(p); k++) {
        chroprof__path *row = p->paths + k;
        if (row->live != row->reserved[1] || row->ready != row->reserved[2])
            m->culprit = k;
        row->live = row->reserved[1];
        row->ready = (uint32_t)row->reserved[2];
    }
    m->culprit = m->culprit ? m->culprit : own;
}

/* Delay that blame lacks, as a number of 64 bits that wraps around. */
static uint64_t chroprof__unblamed(const chroprof *p)
{
    uint64_t ticks = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        ticks += chroprof__delay_ticks(p, p->paths + k) - p->paths[k].blame;
    return ticks;
}

/* The second law: what either side lacks is the loop's. */
static void chroprof__blame_loop(chroprof *p)
{
    uint64_t lack = chroprof__unblamed(p);
    if (lack >> 63)
        p->paths[CHROPROF__LOOP].delay += 0 - lack;
    else
        p->paths[CHROPROF__LOOP].blame += lack;
}

/* The second law. The event's own interval was not blamed on anybody yet; or the delay of its
 * future was changed in part; what is left over goes to the loop. */
static void chroprof__mend_blame(chroprof *p, const chroprof__mending *m)
{
    chroprof__core *c = p->core;
    uint64_t lack = chroprof__unblamed(p);
    chroprof__path *culprit = p->paths + m->culprit;
    if (m->torn && lack && lack == c->doubt_ticks * m->ready &&
        c->event_account < chroprof__path_count(p))
        p->paths[c->event_account].blame += lack;
    else if (m->torn && m->culprit && !((chroprof__delay_ticks(p, culprit) - lack) >> 62))
        culprit->delay -= lack;
    chroprof__blame_loop(p);
}

/* The window that the last event is in, and no path's tag beyond it. */
static void chroprof__mend_tags(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__widen_windows(c, c->last);
    c->window = (c->window & 0xFFFF0000u) | (uint32_t)(c->last / c->window_ticks);
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        chroprof__path *row = p->paths + k;
        if (chroprof__tag_level(row->window) > chroprof__tag_level(c->window) ||
            chroprof__tag_index(c, row->window) > (c->window & 0xFFFF))
            row->window = c->window;
        if (row->mark > row->exec)
            row->mark = row->exec;
    }
}

/* The cells of a site hold what its paths have put there. What they lack goes to the present
 * window, what they have too much comes off the latest ones. */
static void chroprof__mend_cells(chroprof *p, uint32_t site, uint64_t want)
{
    chroprof__core *c = p->core;
    uint64_t *cells = chroprof__cells(c, site), have = 0;
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    chroprof__merge_cells(c, cells);
    for (uint32_t k = 0; k < capacity; k++)
        have += cells[1 + k];
    if (have < want)
        cells[1 + (c->window & 0xFFFF)] += want - have;
    for (uint32_t k = capacity; k > 0 && have > want; k--) {
        uint64_t take = cells[k] < have - want ? cells[k] : have - want;
        cells[k] -= take;
        have -= take;
    }
}

/* The cells of all sites. */
static void chroprof__mend_windows(chroprof *p)
{
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        uint64_t want = site < CHROPROF__OTHER ? p->paths[site].mark : 0;
        for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
            want += p->paths[k].mark;
        chroprof__mend_cells(p, site, want);
    }
}

/* An entry for each slice that ended. */
static void chroprof__mend_histogram(chroprof *p, uint32_t site)
{
    chroprof__core *c = p->core;
    uint32_t first = chroprof__sites(c)[site].first_path, row = p->paths[first].histogram;
    if (first == 0 || row == 0)
        return;
    chroprof__histogram *h = &chroprof__histogram_rows(c)[row].slice;
    uint64_t have = chroprof__histogram_total(h), want = chroprof__slices_ended(p, site);
    uint64_t held = c->held & CHROPROF__HELD_SLICE && c->held_slice_row == row;
    want = chroprof__minus(want, held);
    if (have < want)
        h->count[chroprof__bucket(c->held_slice)] += want - have;
    if (have < want && c->held_slice < h->min)
        h->min = c->held_slice;
    for (uint32_t b = CHROPROF__BUCKETS; b > 0 && have > want; b--) {
        uint64_t take = h->count[b - 1] < have - want ? h->count[b - 1] : have - want;
        h->count[b - 1] -= take;
        have -= take;
    }
}

static void chroprof__mend_hits(const chroprof *p, chroprof__hits *h)
{
    if (!chroprof__open_hits(p, h))
        h->count = 0;
}

static void chroprof__mend_stalls(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__stall *rows = (chroprof__stall *)chroprof__rows(c, CHROPROF_TABLE_STALLS);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++) {
        chroprof__mend_hits(p, &rows[k].hits);
        if (rows[k].slice_count > CHROPROF_STALL_SLICES)
            rows[k].slice_count = CHROPROF_STALL_SLICES;
        for (uint32_t i = 0; i < rows[k].slice_count; i++)
            if (rows[k].slices[i].path >= chroprof__path_count(p))
                rows[k].slices[i].path = CHROPROF__UNTRACKED;
    }
}

/* Buckets are made anew; a node that was just being made goes. */
static bool chroprof__mend_stacks(const chroprof *p)
{
    chroprof__table *table = &p->core->tables[CHROPROF__STACKS];
    chroprof__node *nodes = chroprof__nodes(p->core);
    for (uint32_t k = 0; k < table->rows; k++)
        nodes[k].head = 0;
    for (uint32_t k = 1; k <= table->used; k++) {
        uint64_t key = chroprof__node_key(nodes[k].parent, nodes[k].item);
        chroprof__node *bucket = nodes + chroprof__hash_index(key, table->rows);
        if (!chroprof__open_node(p, k))
            return false;
        nodes[k].next = bucket->head;
        bucket->head = k;
    }
    return true;
}

/* The rows that fit together, from the newest back; what they lack was dropped. */
static void chroprof__mend_rows(const chroprof *p, chroprof__sampler *s)
{
    chroprof__table *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t weight = 0, cpu = 0, good = 0, begin = UINT64_MAX;
    for (; good < table->used; good++) {
        const chroprof__sample *row = chroprof__sample_row(p, table->used - 1 - good);
        if (row->weight == 0 || row->time + row->duration > begin)
            break;
        begin = row->time;
        weight += row->weight;
        cpu += row->cpu_ns;
        s->latest = good == 0 ? row->time + row->duration : s->latest;
    }
    table->used = good;
    chroprof__node *nodes = chroprof__nodes(p->core);
    uint64_t taken = 0, taken_cpu = 0;
    for (uint32_t k = 0; k <= p->core->tables[CHROPROF__STACKS].used; k++) {
        taken += nodes[k].weight;
        taken_cpu += nodes[k].cpu_ns;
    }
    nodes[0].weight += chroprof__minus(weight, taken);
    nodes[0].cpu_ns += chroprof__minus(cpu, taken_cpu);
    s->samples = taken > weight ? taken : weight;
    s->dropped = s->samples - weight;
    s->dropped_cpu_ns = chroprof__minus(taken_cpu, cpu);
}

/* Samples of several moments, or in the middle of one. If the parts do not fit, there are none. */
static void chroprof__mend_samples(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!s)
        return;
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++) {
        chroprof__module *row = chroprof__modules(c) + k;
        row->build_id[CHROPROF__BUILD_ID - 1] = row->path[CHROPROF__MODULE_PATH - 1] = '\0';
    }
    bool good = s->head < chroprof__sample_capacity(c) && chroprof__mend_stacks(p);
    chroprof__sample *rows = chroprof__sample_rows(c);
    for (uint32_t k = 0; good && k < chroprof__sample_capacity(c); k++)
        if (!chroprof__open_sample(p, k))
            memset(rows + k, 0, sizeof(*rows));
    if (good)
        chroprof__mend_rows(p, s);
    else
        chroprof__reset_samples(c);
}

/* Time goes to what is on top. */
static void chroprof__mend_account(chroprof *p)
{
    chroprof__core *c = p->core;
    if (c->hidden)
        c->account = CHROPROF__UNTRACKED;
    else if (c->account != CHROPROF__IDLE || c->depth != c->floor)
        chroprof__set_account(p, c);
}

/* Makes a copy of several moments, or of the middle of an event, one that opens and whose laws
 * hold. False: no event can have left that behind. */
static bool chroprof__mend(chroprof *p, chroprof__mending *m)
{
    chroprof__core *c = p->core;
    m->ready = c->ready;
    chroprof__mend_sites(p);
    if (!chroprof__mend_tree(p) || !chroprof__mend_time(p, m))
        return false;
    chroprof__mend_stack(p);
    chroprof__mend_slices(p);
    chroprof__mend_futures(p);
    for (uint32_t passes = 0; passes < 3; passes++)
        chroprof__mend_edges(p);
    if (m->torn && !m->skewed)
        chroprof__mend_counts(p, m);
    chroprof__mend_account(p);
    for (uint32_t k = CHROPROF__UNTRACKED; k < chroprof__path_count(p); k++)
        chroprof__mend_calls(p->paths + k, c->last);
    c->ready = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        c->ready += p->paths[k].ready;
    chroprof__mend_blame(p, m);
    chroprof__mend_tags(p);
    chroprof__mend_windows(p);
    if (m->skewed)
        c->held = 0;
    for (uint32_t site = CHROPROF__OTHER; !m->skewed && site < chroprof__site_count(p); site++)
        chroprof__mend_histogram(p, site);
    chroprof__mend_samples(p);
    chroprof__mend_stalls(p);
    return true;
}

/* Copies the block; leaves in *m what that met. */
static chroprof_result chroprof__copy_block(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes,
                                            chroprof__mending *m)
{
    for (uint32_t tries = 0; tries < CHROPROF__COPY_TRIES; tries++) {
        if (bytes < sizeof(chroprof__core))
            return CHROPROF_ERR_MEMORY;
        chroprof_result result = chroprof__copy_core(s, live_bytes, bytes);
        if (result != CHROPROF_OK)
            return result;
        chroprof__core *c = s->to;
        uint64_t seq = s->seq, edits = s->edits, frames = (c->depth + 1u) * sizeof(chroprof__frame);
        uint64_t kept = c->tables[CHROPROF_TABLE_DEPTH].offset;
        memset((char *)c + sizeof(*c), 0, (size_t)(kept - sizeof(*c)));
        memset((char *)c + kept + frames, 0, (size_t)(c->block_bytes - kept - frames));
        s->tries = CHROPROF__PIECE;
        chroprof__copy_tables(s);
        uint64_t events = chroprof__load(&s->from->seq) - seq;
        m->torn = (seq | edits) % 2 != 0;
        m->skewed = events != 0;
        m->moved = m->skewed || chroprof__load(&s->from->edits) != edits;
        c->skew_events = events / 2 + events % 2;
        c->skew_ticks = chroprof__minus(chroprof__load(&s->from->last), c->last);
        if (!m->moved)
            break;
    }
    return CHROPROF_OK;
}

/* Where the copy begins: on a line of the cache if there is room, as chroprof_init has it. What
 * lies before it looks like no start. */
static chroprof__core *chroprof__place(void *memory, uint64_t size, uint64_t bytes, uint64_t *room)
{
    uint64_t skip = (0 - (uint64_t)(uintptr_t)memory) % CHROPROF__ALIGN;
    if (skip + bytes > size)
        skip = (0 - (uint64_t)(uintptr_t)memory) % 8;
    *room = chroprof__minus(size, skip);
    memset(memory, 0, (size_t)(size - *room));
    return (chroprof__core *)((uintptr_t)memory + (uintptr_t)skip);
}

static bool chroprof__is_entry(const chroprof__entry *e)
{
    return e->weight > 0 && e->weight >> 40 == 0 && e->state <= CHROPROF_SAMPLE_LOOP;
}

/* Ticks since the last event: what the next one would take in. It never comes if the program hangs,
 * and then these show where. The tables have been looked at, but what events alone use. */
static void chroprof__drain_copy(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    uint64_t waiting = s ? s->put - s->taken : 0, running = s ? s->running : 0;
    if (waiting == 0 || waiting > rows)
        return;
    (void)chroprof__mend_stacks(p);         /* their buckets; the nodes are good */
    for (uint32_t k = 0; k < CHROPROF__HITS; k++)
        chroprof__mend_hits(p, s->hits + k);
    s->running = 0;                         /* modules: of that program, not of this one */
    for (; s->taken != s->put; s->taken++) {
        chroprof__entry *e = chroprof__ring(c, s, s->taken);
        if (chroprof__is_entry(e))
            chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    }
    s->running = running;
}

/* The copy is finished: rows as chroprof_open expects them, no event under way. */
static bool chroprof__seal(chroprof__core *c, chroprof__mending *m)
{
    chroprof p;
    bool resetting = m->torn && c->edits % 2 != 0 && c->event_state == CHROPROF__RESETTING;
    memset(&p, 0, sizeof(p));
    chroprof__attach(&p, c);
    if ((m->torn || m->moved) && !chroprof__mend(&p, m))
        return false;
    c->seq += c->seq % 2;
    c->edits += c->edits % 2;
    if (resetting)
        chroprof__reset_all(&p);
    for (uint32_t k = 0; k < chroprof__path_count(&p); k++)
        memset(p.paths[k].reserved, 0, sizeof(p.paths[k].reserved));
    if (!chroprof__open_tables(&p))
        return false;
    if (!m->torn && !m->moved)
        chroprof__drain_copy(&p);
    return chroprof__open_samples(&p);
}

CHROPROF_API chroprof_result chroprof_snapshot(const void *live_block, size_t live_size,
                                               void *memory, size_t size)
{
    chroprof__copy s;
    chroprof__mending m;
    uint64_t at, bytes, room;
    if (!live_block || !memory)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__open_seek(live_block, live_size, &at);
    if (result != CHROPROF_OK)
        return result;
    if (live_size - at < sizeof(chroprof__core))
        return CHROPROF_ERR_TRUNCATED;
    memset(&s, 0, sizeof(s));
    memset(&m, 0, sizeof(m));
    s.from = (const chroprof__core *)((uintptr_t)live_block + (uintptr_t)at);
    bytes = chroprof__load(&s.from->block_bytes);
    bytes = bytes < live_size - at ? bytes : live_size - at;
    s.to = chroprof__place(memory, size, bytes, &room);
    result = chroprof__copy_block(&s, live_size - at, room, &m);
    if (result != CHROPROF_OK)
        return result;
    return chroprof__seal(s.to, &m) ? CHROPROF_OK : CHROPROF_ERR_CORRUPT;
}

CHROPROF__COLD_BEGIN

/* >>difference: a copy of the newer state, from which the older one is taken away. */

typedef struct chroprof__since {
    chroprof to;               /* becomes the difference */
    const chroprof *from;      /* the older state */
    uint64_t begin;            /* its last event, the new time 0 */
} chroprof__since;

/* False: it fell, so the one state never became the other. */
static bool chroprof__take(uint64_t *figure, uint64_t earlier)
{
    bool good = *figure >= earlier;
    *figure -= earlier;
    return good;
}

static void chroprof__shift(uint64_t *time, uint64_t begin)
{
    *time = chroprof__minus(*time, begin);
}

/* Of one chroprof_init? */
static bool chroprof__same_init(const chroprof__core *a, const chroprof__core *b)
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (a->tables[k].capacity != b->tables[k].capacity)
            return false;
    return a->pid == b->pid && a->boot_ns == b->boot_ns && a->owner_start == b->owner_start &&
           a->pointer_bytes == b->pointer_bytes && a->manual == b->manual &&
           memcmp(a->host, b->host, sizeof(a->host)) == 0 &&
           memcmp(a->name, b->name, sizeof(a->name)) == 0;
}

/* Can the older state have become the newer? Sites and paths never change once they are there. */
static bool chroprof__can_follow(const chroprof *newer, const chroprof *older)
{
    const chroprof__core *a = newer->core, *b = older->core;
    if (a->last < b->last || a->seq < b->seq || a->start_unix_ns != b->start_unix_ns)
        return false;
    if (chroprof__site_count(newer) < chroprof__site_count(older) ||
        chroprof__path_count(newer) < chroprof__path_count(older))
        return false;
    if (chroprof__tag_level(a->window) < chroprof__tag_level(b->window))
        return false;
    for (uint32_t k = 0; k < chroprof__site_count(older); k++)
        if (chroprof__sites(a)[k].hash != chroprof__sites(b)[k].hash)
            return false;
    for (uint32_t k = 0; k < chroprof__path_count(older); k++)
        if (newer->paths[k].site != older->paths[k].site ||
            newer->paths[k].parent != older->paths[k].parent)
            return false;
    return true;
}

/* One path's sums; calls follow from them. Wall and delay are kept as ends minus beginnings: those
 * of futures that live on are moved to the new time 0. */
static bool chroprof__path_since(chroprof__path *row, const chroprof__path *old, uint64_t begin)
{
    bool good = chroprof__take(&row->exec, old->exec);
    good &= chroprof__take(&row->slices, old->slices);
    good &= chroprof__take(&row->completed, old->completed);
    good &= chroprof__take(&row->failed, old->failed);
    good &= chroprof__take(&row->cancelled, old->cancelled);
    good &= chroprof__take(&row->abandoned, old->abandoned);
    good &= chroprof__take(&row->stillborn, old->stillborn);
    row->wall += (row->live - old->live) * begin - old->wall;
    row->delay += ((uint64_t)row->ready - old->ready) * begin - old->delay;
    row->blame -= old->blame;
    return good;
}

/* Copies of several moments were made lawful by giving the loop blame or delay, of which the newer
 * one may have less. Both sides of the law then gain the same. */
static void chroprof__lift_blame(chroprof *p, chroprof__path *row)
{
    uint64_t delay = 0 - chroprof__delay_ticks(p, row), blame = 0 - row->blame;
    if (delay != 0 && delay >> 63 == 0) {
        row->delay += delay;
        p->paths[CHROPROF__LOOP].blame += delay;
    }
    if (blame != 0 && blame >> 63 == 0) {
        row->blame += blame;
        p->paths[CHROPROF__LOOP].delay += blame;
    }
}

static bool chroprof__paths_since(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__path none;
    uint32_t count = chroprof__path_count(p), before = chroprof__path_count(s->from);
    bool good = true;
    memset(&none, 0, sizeof(none));
    for (uint32_t k = 0; k < count; k++)
        good &= chroprof__path_since(p->paths + k, k < before ? s->from->paths + k : &none,
                                     s->begin);
    good = good && chroprof__sum_exec(p) == p->core->last - s->begin;
    p->core->last -= s->begin;
    for (uint32_t k = count; k > 0; k--) {
        if (k > CHROPROF__UNTRACKED)
            chroprof__mend_calls(p->paths + k - 1, p->core->last);
        chroprof__lift_blame(p, p->paths + k - 1);
    }
    return good;
}

/* What an event kept back is of no use where no event follows; what can't be is forgotten. */
static void chroprof__settle_held(chroprof__core *c)
{
    uint32_t rows = c->tables[CHROPROF_TABLE_HISTOGRAMS].rows;
    if (c->held_slice_row >= rows)
        c->held &= ~(uint32_t)CHROPROF__HELD_SLICE;
    if (c->held_delay_row >= rows)
        c->held &= ~(uint32_t)CHROPROF__HELD_DELAY;
    chroprof__add_held_outlined(c);
}

static void chroprof__histogram_drop(chroprof__histogram *h, uint64_t ticks)
{
    uint64_t *count = &h->count[chroprof__bucket(ticks)];
    *count -= *count != 0;
}

/* What the older state had kept back counts as of before. */
static void chroprof__drop_held(chroprof__histograms *rows, uint32_t count,
                                const chroprof__core *older)
{
    uint32_t slice = older->held_slice_row, delay = older->held_delay_row;
    if (older->held & CHROPROF__HELD_SLICE && slice && slice < count)
        chroprof__histogram_drop(&rows[slice].slice, older->held_slice);
    if (older->held & CHROPROF__HELD_TURN && count)
        chroprof__histogram_drop(&rows[0].slice, older->held_turn);
    if (older->held & CHROPROF__HELD_DELAY && delay < count)
        chroprof__histogram_drop(&rows[delay].delay, older->held_delay);
}

/* The most that an entry can be; empty: 0. */
static uint64_t chroprof__histogram_most(const chroprof__histogram *h)
{
    if (h->count[CHROPROF__BUCKETS - 1])
        return UINT64_MAX;
    for (uint32_t b = CHROPROF__BUCKETS - 1; b > 0; b--)
        if (h->count[b - 1])
            return chroprof__bucket_floor(b) - 1;
    return 0;
}

static void chroprof__histogram_since(chroprof__histogram *h, const chroprof__histogram *old)
{
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++)
        h->count[b] = chroprof__minus(h->count[b], old->count[b]);
}

static void chroprof__histograms_since(chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    chroprof__histograms *rows = chroprof__histogram_rows(c);
    const chroprof__histograms *old = chroprof__histogram_rows(s->from->core);
    uint32_t count = c->tables[CHROPROF_TABLE_HISTOGRAMS].rows;
    chroprof__settle_held(c);
    for (uint32_t k = 0; k < count; k++) {
        chroprof__histogram_since(&rows[k].slice, &old[k].slice);
        chroprof__histogram_since(&rows[k].delay, &old[k].delay);
    }
    chroprof__drop_held(rows, count, s->from->core);
    uint32_t sites = c->skew_events ? 0 : chroprof__site_count(&s->to);
    for (uint32_t site = CHROPROF__OTHER; site < sites; site++)
        chroprof__mend_histogram(&s->to, site);
}

/* A maximum that grew is of the time between; one that did not is at most `most`. */
static uint64_t chroprof__maximum_since(uint64_t now, uint64_t before, uint64_t most,
                                        uint64_t limit)
{
    uint64_t value = now > before || now < most ? now : most;
    return value < limit ? value : limit;
}

static void chroprof__path_maxima_since(const chroprof__since *s, uint32_t k)
{
    const chroprof__histograms *rows = chroprof__histogram_rows(s->to.core);
    chroprof__path *row = s->to.paths + k;
    bool known = k < chroprof__path_count(s->from);
    uint64_t slice = UINT64_MAX, delay = UINT64_MAX;
    if (row->histogram) {
        slice = chroprof__histogram_most(&rows[row->histogram].slice);
        delay = chroprof__histogram_most(&rows[row->histogram].delay);
    }
    if (row->slices == 0)
        slice = 0;
    row->slice_max = chroprof__maximum_since(row->slice_max,
                                             known ? s->from->paths[k].slice_max : 0, slice,
                                             row->exec);
    row->delay_max = chroprof__maximum_since(row->delay_max,
                                             known ? s->from->paths[k].delay_max : 0, delay,
                                             UINT64_MAX);
    if (row->exec_max > row->exec)
        row->exec_max = row->exec;
}

static void chroprof__maxima_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    const chroprof__core *old = s->from->core;
    const chroprof__histograms *rows = chroprof__histogram_rows(c);
    bool known = c->tables[CHROPROF_TABLE_HISTOGRAMS].rows != 0;
    uint64_t turn = known ? chroprof__histogram_most(&rows[0].slice) : UINT64_MAX;
    uint64_t pass = known ? chroprof__histogram_most(&rows[0].delay) : UINT64_MAX;
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(&s->to); k++)
        chroprof__path_maxima_since(s, k);
    c->turn_max = chroprof__maximum_since(c->turn_max, old->turn_max, c->turns ? turn : 0,
                                          c->last);
    c->pass_max = chroprof__maximum_since(c->pass_max, old->pass_max, c->passes ? pass : 0,
                                          c->last);
}

/* Puts all exec into the cells, at the present level. */
static void chroprof__close_windows(const chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__close_window(p->core, p->paths + k);
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        chroprof__merge_cells(p->core, chroprof__cells(p->core, site));
}

/* Takes the older cells, and what its paths had not put there yet, off the cells of a site. */
static void chroprof__cells_since(const chroprof__since *s, uint32_t site)
{
    const chroprof__core *c = s->to.core, *old = s->from->core;
    uint64_t *cells = chroprof__cells(c, site);
    const uint64_t *before = chroprof__cells(old, site);
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)before[0];
    uint32_t k = site < CHROPROF__OTHER ? site : chroprof__sites(old)[site].first_path;
    bool more = site < CHROPROF__OTHER || k != 0;
    for (uint32_t i = 0; i < c->tables[CHROPROF_TABLE_WINDOWS].capacity; i++)
        cells[1 + (shift < 16 ? i >> shift : 0)] -= before[1 + i];
    for (; more; more = site >= CHROPROF__OTHER && k != 0) {
        const chroprof__path *row = s->from->paths + k;
        cells[1 + chroprof__tag_index(c, row->window)] -= row->exec - row->mark;
        k = row->same_site;
    }
}

/* Windows begin with the one that time 0 lies in. Of copies of several moments a cell may be less
 * than it was: chroprof__mend_cells makes up for that. */
static void chroprof__move_cells(chroprof__core *c, uint64_t *cells, uint32_t first)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    for (uint32_t k = 0; k < capacity; k++) {
        uint64_t exec = cells[1 + k] >> 63 ? 0 : cells[1 + k];
        cells[1 + k] = 0;
        cells[1 + (k > first ? k - first : 0)] += exec;
    }
}

static void chroprof__windows_since(const chroprof__since *s)
{
    const chroprof *p = &s->to;
    chroprof__core *c = p->core;
    uint32_t index = c->window & 0xFFFF;
    uint64_t first = s->begin / c->window_ticks;
    first = first < index ? first : index;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        if (site < chroprof__site_count(s->from))
            chroprof__cells_since(s, site);
        chroprof__move_cells(c, chroprof__cells(c, site), (uint32_t)first);
    }
    c->window_phase = s->begin - first * c->window_ticks;
    c->window -= (uint32_t)first;
}

/* The marks of the paths, and the cells that hold them, once the paths are those of the
 * difference. */
static void chroprof__marks_since(chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        p->paths[k].mark = p->paths[k].exec;
        p->paths[k].window = p->core->window;
    }
    chroprof__mend_windows(p);
}

/* Is frame k still the stay that it was in the older state? */
static bool chroprof__same_stay(const chroprof__since *s, uint32_t k)
{
    const chroprof__frame *a = s->to.frames + k, *b = s->from->frames + k;
    return k <= s->to.core->depth && k <= s->from->core->depth && a->event == b->event &&
           a->id == b->id && a->path == b->path;
}

/* What the exec of a future that was live in the older state holds of it: all of the slices that
 * were under way then, but for those that still are. */
static uint64_t chroprof__exec_before(const chroprof__since *s, const chroprof__future *old)
{
    uint64_t exec = old->exec;
    const chroprof__frame *frames = s->from->frames;
    for (uint32_t k = old->frame; k && !(frames[k].kind & CHROPROF__ORPHAN); k = frames[k].same)
        exec += chroprof__same_stay(s, k) ? 0 : chroprof__frame_slice(s->from, k);
    return exec;
}

/* An id that was finished and used again on the same path, for longer, counts as one. */
static void chroprof__futures_since(const chroprof__since *s)
{
    for (uint32_t k = 0; k < s->to.slots; k++) {
        chroprof__future *slot = s->to.futures + k;
        if (slot->id == 0)
            continue;
        const chroprof__future *old = chroprof__find(s->from, slot->id);
        bool same = old->id != 0 && old->state != CHROPROF__GONE && old->path == slot->path;
        uint64_t before = same ? chroprof__exec_before(s, old) : 0;
        slot->exec -= before <= slot->exec ? before : 0;
        chroprof__shift(&slot->since, s->begin);
    }
}

/* A stay that was there before begins at time 0, and its slice is what came since. The frames
 * above it are still as they were. */
static void chroprof__stay_since(const chroprof__since *s, uint32_t k, uint64_t end)
{
    chroprof__frame *frame = s->to.frames + k;
    const chroprof__frame *old = s->from->frames + k;
    uint64_t slice = end - frame->start;
    if (chroprof__same_stay(s, k)) {
        slice = chroprof__minus(slice, chroprof__frame_slice(s->from, k));
        frame->excluded = chroprof__minus(frame->excluded, old->excluded);
        frame->carried = chroprof__minus(frame->carried, old->carried);
    }
    chroprof__shift(&end, s->begin);
    chroprof__shift(&frame->pushed, s->begin);
    frame->start = end - (slice < end ? slice : end);
    if (frame->start < frame->pushed)
        frame->start = frame->pushed;
}

static void chroprof__frames_since(const chroprof__since *s, uint64_t last)
{
    chroprof__core *c = s->to.core;
    uint64_t end = c->hidden ? c->hidden_since : last;
    for (uint32_t k = c->depth; k > 0; k--) {
        uint64_t pushed = s->to.frames[k].pushed;
        chroprof__stay_since(s, k, end);
        end = pushed;
    }
    chroprof__shift(&c->hidden_since, s->begin);
}

static void chroprof__stalls_since(chroprof__core *c, uint64_t before, uint64_t begin)
{
    chroprof__table *table = &c->tables[CHROPROF_TABLE_STALLS];
    chroprof__stall *rows = chroprof__stall_rows(c);
    for (uint32_t k = 0; k < table->rows; k++) {
        chroprof__shift(&rows[k].start, begin);
        chroprof__shift(&rows[k].serial, before);
        if (rows[k].serial == 0)
            memset(rows + k, 0, sizeof(*rows));
    }
    table->used = table->peak = c->stalls < table->capacity ? c->stalls : table->capacity;
}
/* Our number of a node of the older state. Both grew from the same tree, but for what ticks brought
 * that waited in the older one; a stack of those that has not come back since is 0. */
static uint32_t chroprof__node_since(const chroprof__core *c, const chroprof__core *old, uint32_t k)
{
    const chroprof__node *was = chroprof__nodes(old), *nodes = chroprof__nodes(c);
    uint64_t chain[2 * CHROPROF__ITEMS];
    uint32_t count = 0, node = 0;
    bool same = true;
    for (uint32_t n = k; n && count < 2 * CHROPROF__ITEMS; n = was[n].parent) {
        same = same && nodes[n].item == was[n].item && nodes[n].parent == was[n].parent;
        chain[count++] = was[n].item;
    }
    if (same)
        return k;
    do {
        node = chroprof__find_node(c, node, chain[--count]);
    } while (node && count);
    return node;
}

/* Takes away what is there; what was not adds to left. */
static void chroprof__take_part(uint64_t *figure, uint64_t part, uint64_t *left)
{
    uint64_t there = part < *figure ? part : *figure;
    *figure -= there;
    *left += part - there;
}

/* Weights of the stacks and of the draws. */
static void chroprof__weights_since(chroprof__core *c, const chroprof__core *old)
{
    chroprof__node *nodes = chroprof__nodes(c);
    const chroprof__node *was = chroprof__nodes(old);
    chroprof__wall *walls = chroprof__walls(c);
    const chroprof__wall *met = chroprof__walls(old);
    uint64_t weight = 0, cpu_ns = 0;        /* of stacks that did not come back, from others */
    for (uint32_t k = 0; k <= old->tables[CHROPROF__STACKS].used; k++) {
        chroprof__node *node = nodes + chroprof__node_since(c, old, k);
        chroprof__take_part(&node->weight, was[k].weight, &weight);
        chroprof__take_part(&node->cpu_ns, was[k].cpu_ns, &cpu_ns);
    }
    for (uint64_t k = c->tables[CHROPROF__STACKS].used + 1; k > 0 && (weight | cpu_ns) != 0; k--) {
        uint64_t weight_left = 0, cpu_left = 0;
        chroprof__take_part(&nodes[k - 1].weight, weight, &weight_left);
        chroprof__take_part(&nodes[k - 1].cpu_ns, cpu_ns, &cpu_left);
        weight = weight_left;
        cpu_ns = cpu_left;
    }
    for (uint64_t k = 0; k < c->tables[CHROPROF__WALLS].rows; k++) {
        for (uint32_t state = 0; state < 3; state++) {
            chroprof__shift(&walls[k].weight[state], met[k].weight[state]);
            chroprof__shift(&walls[k].ticks[state], met[k].ticks[state]);
        }
    }
}

/* The newest rows, as many as were taken since; of the row that was extended what came since. */
static void chroprof__rows_since(const chroprof *p, uint64_t begin)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__sample *rows = chroprof__sample_rows(c);
    uint64_t used = c->tables[CHROPROF_TABLE_SAMPLES].used, left = s->samples;
    for (uint64_t n = used; n > 0; n--) {
        chroprof__sample *row = rows + (chroprof__sample_row(p, n - 1) - rows);
        uint64_t cut = row->time < begin ? begin - row->time : 0;
        row->cpu_ns = row->weight > left ? 0 : row->cpu_ns;
        row->weight = row->weight < left ? row->weight : left;
        row->duration = chroprof__minus(row->duration, cut);
        chroprof__shift(&row->time, begin);
        left -= row->weight;
    }
    chroprof__shift(&s->latest, begin);
}

static void chroprof__samples_since(const chroprof *p, const chroprof__core *old, uint64_t begin)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    const chroprof__sampler *was = chroprof__sampler_of(old);
    if (!s)
        return;
    (void)chroprof__mend_stacks(p);         /* what is broken is refused in the end */
    chroprof__weights_since(p->core, old);
    chroprof__shift(&s->samples, was->samples);
    chroprof__shift(&s->inside, was->inside);
    chroprof__shift(&s->draws, was->draws);
    chroprof__shift(&s->misses, was->misses);
    chroprof__shift(&s->ticks, was->ticks);
    chroprof__shift(&s->lost, was->lost);
    chroprof__shift(&s->cost_ns, was->cost_ns);
    chroprof__rows_since(p, begin);
    chroprof__mend_rows(p, s);
}

static bool chroprof__counts_since(chroprof__core *c, const chroprof__core *old)
{
    bool good = chroprof__take(&c->merged_events, old->merged_events);
    good &= chroprof__take(&c->turns, old->turns);
    good &= chroprof__take(&c->passes, old->passes);
    good &= chroprof__take(&c->stalls, old->stalls);
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        good &= chroprof__take(&c->anomalies[k], old->anomalies[k]);
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        good &= chroprof__take(&c->tables[k].dropped, old->tables[k].dropped);
    chroprof__shift(&c->tables[CHROPROF_TABLE_STRINGS].wanted,
                    old->tables[CHROPROF_TABLE_STRINGS].wanted);
    c->seq_base += old->seq - old->seq_base;
    c->skew_ticks += old->skew_ticks;
    c->skew_events += old->skew_events;
    c->doubt_ticks += old->doubt_ticks;
    c->doubt_events += old->doubt_events;
    return good;
}

/* Time 0 is the older state's last event. What only events need is forgotten. */
static void chroprof__core_since(chroprof__core *c, uint64_t begin)
{
    c->epoch += begin;
    c->start_clock += begin;
    c->start_unix_ns += c->start_unix_ns ? chroprof__ns(c, begin) : 0;
    chroprof__shift(&c->pass_start, begin);
    chroprof__shift(&c->calibrate_at, begin);
    c->horizon = 0;
    chroprof__clear_biggest(&c->pass, 0);
    for (uint32_t k = 0; k < CHROPROF__LEVELS; k++)
        chroprof__clear_biggest(&c->turn[k], 0);
    memset(c->due, 0, sizeof(c->due));
    memset(c->intervals, 0, sizeof(c->intervals));
}

/* Takes the older state away from the copy of the newer one. False: that can't be. */
static bool chroprof__subtract(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__core *c = p->core;
    uint64_t last = c->last, stalls = s->from->core->stalls;
    s->begin = s->from->core->last;
    chroprof__close_windows(p);
    chroprof__windows_since(s);
    if (!chroprof__counts_since(c, s->from->core) || !chroprof__paths_since(s))
        return false;
    chroprof__marks_since(p);
    chroprof__histograms_since(s);
    chroprof__maxima_since(s);
    chroprof__futures_since(s);
    chroprof__frames_since(s, last);
    chroprof__stalls_since(c, stalls, s->begin);
    chroprof__samples_since(p, s->from->core, s->begin);
    chroprof__core_since(c, s->begin);
    return chroprof__open_tables(p);
}

CHROPROF__COLD_API chroprof_result chroprof_difference(const chroprof *newer, const chroprof *older,
                                                       void *memory, size_t size)
{
    chroprof__since s;
    uint64_t room;
    if (!newer || !older || !memory || !newer->core || !older->core)
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__same_init(newer->core, older->core))
        return CHROPROF_ERR_DIFFERENT;
    if (newer->core->seq_base != older->core->seq_base)
        return CHROPROF_ERR_RESET;
    if (!chroprof__can_follow(newer, older))
        return CHROPROF_ERR_DIFFERENT;
    uint64_t bytes = newer->core->block_bytes;
    chroprof__core *c = chroprof__place(memory, size, bytes, &room);
    if (room < bytes)
        return CHROPROF_ERR_MEMORY;
    if (c == newer->core && !newer->view)
        return CHROPROF_ERR_ARGUMENT;       /* the running profile itself */
    memmove(c, newer->core, (size_t)bytes);
    memset(&s, 0, sizeof(s));
    chroprof__attach(&s.to, c);
    s.from = older;
    return chroprof__subtract(&s) ? CHROPROF_OK : CHROPROF_ERR_DIFFERENT;
}

/* >>merge: the figures of another profile, in ns, on top of those that are there. */

enum { CHROPROF__CHAIN = 512, CHROPROF__KNOWN_SITES = 256 };

typedef struct chroprof__merging {
    chroprof *to;
    const chroprof *from;
    uint64_t begin, elapsed;       /* where the other's time begins in ours, how long it is; ns */
    uint64_t stalls;               /* of ours, before */
    uint32_t site[CHROPROF__KNOWN_SITES], known[CHROPROF__KNOWN_SITES];    /* ours, theirs + 1 */
    uint32_t chain[CHROPROF__CHAIN];
} chroprof__merging;

/* Our number of their site; their strings are looked at once, if there are not too many sites. */
static uint32_t chroprof__merge_site(chroprof__merging *m, uint32_t site)
{
    uint32_t k = site % CHROPROF__KNOWN_SITES, line;
    const char *name, *file;
    if (site <= CHROPROF__OTHER)
        return site;
    if (m->known[k] == site + 1)
        return m->site[k];
    chroprof__read_site_name(m->from, site, &name, &file, &line);
    m->known[k] = site + 1;
    m->site[k] = chroprof__intern_site(m->to->core, name, file, line);
    return m->site[k];
}

/* Our path for one of theirs, by its chain; new if need be and there is room. */
static uint32_t chroprof__merge_target(chroprof__merging *m, uint32_t path)
{
    const chroprof__path *rows = m->from->paths;
    uint32_t count = 0, target = CHROPROF__LOOP;
    if (path < CHROPROF__FIRST_PATH)
        return path;
    while (rows[path].level > CHROPROF__CHAIN)
        path = rows[path].parent;
    for (; path != CHROPROF__LOOP; path = rows[path].parent)    /* as often as its level says */
        m->chain[count++] = path;
    while (count > 0) {
        uint32_t site = chroprof__merge_site(m, rows[m->chain[--count]].site);
        target = chroprof__child(m->to, target < CHROPROF__FIRST_PATH ? 0 : target, site);
    }
    return target;
}

/* A site whose slices are not all in its histogram has no percentiles. */
static void chroprof__blur(chroprof *p, uint32_t site)
{
    chroprof__sites(p->core)[site].blurred = 1;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        p->paths[k].histogram = 0;
}

static void chroprof__merge_life(chroprof__path *to, const chroprof__path *from)
{
    to->completed += from->completed;
    to->failed += from->failed;
    to->cancelled += from->cancelled;
    to->abandoned += from->abandoned;
    to->stillborn += from->stillborn;
    to->merged_live += from->live + from->merged_live;
    to->calls = to->completed + to->failed + to->cancelled + to->abandoned + to->merged_live;
}

/* Each figure is what chroprof_paths shows of it. */
static void chroprof__merge_path(chroprof__merging *m, uint32_t path)
{
    const chroprof *p = m->from;
    const chroprof__path *from = p->paths + path;
    uint32_t target = chroprof__merge_target(m, path);
    chroprof__path *to = m->to->paths + target;
    uint64_t slices, slice_max, exec_max;
    chroprof__read_slices(p, path, &slices, &slice_max, &exec_max);
    to->exec += chroprof__ns(p->core, from->exec);
    to->wall += chroprof__wall_ns(p, from);
    to->delay += chroprof__ns(p->core, chroprof__delay_ticks(p, from));
    to->blame += chroprof__ns(p->core, from->blame);
    to->slices += slices;
    chroprof__raise(&to->slice_max, chroprof__ns(p->core, slice_max));
    chroprof__raise(&to->exec_max, chroprof__ns(p->core, exec_max));
    chroprof__raise(&to->delay_max, chroprof__ns(p->core, from->delay_max));
    chroprof__merge_life(to, from);
    uint32_t site = chroprof__merge_site(m, from->site);
    if (to->site == site)
        return;
    chroprof__blur(m->to, site);            /* it did not fit */
    chroprof__blur(m->to, to->site);
}

/* Ticks of one of their windows into our cells, in proportion where that spans several. */
static void chroprof__merge_span(chroprof__core *c, uint64_t *cells, uint64_t start, uint64_t end,
                                 uint64_t exec)
{
    uint64_t k = start / c->window_ticks, done = 0;
    for (; (k + 1) * c->window_ticks < end; k++) {
        uint64_t part = (k + 1) * c->window_ticks - start;
        part = chroprof__scale(exec, chroprof__unscale(part, end - start));
        cells[1 + k] += part - done;
        done = part;
    }
    cells[1 + k] += exec - done;
}

/* Where their window lies in our time. */
static void chroprof__merge_window(const chroprof__merging *m, uint64_t *cells, uint32_t window,
                                   uint64_t ticks)
{
    const chroprof__core *c = m->from->core;
    bool last = window >= (c->window & 0xFFFF);
    uint64_t start = chroprof__ns(c, chroprof__window_start(c, window));
    uint64_t end = last ? m->elapsed : chroprof__ns(c, chroprof__window_start(c, window + 1u));
    end = end < m->elapsed ? end : m->elapsed;
    start = start < end ? start : end;
    if (ticks)
        chroprof__merge_span(m->to->core, cells, m->begin + start, m->begin + end,
                             chroprof__ns(c, ticks));
}

/* One site's windows: its cells, and what its paths still hold back from them. */
static void chroprof__merge_cells_of(chroprof__merging *m, uint32_t site)
{
    const chroprof__core *c = m->from->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint64_t *own = chroprof__cells(m->to->core, chroprof__merge_site(m, site));
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint32_t k = site < CHROPROF__OTHER ? site : chroprof__sites(c)[site].first_path;
    bool more = site < CHROPROF__OTHER || k != 0;
    chroprof__merge_cells(m->to->core, own);        /* a new site */
    for (uint32_t i = 0; more && i < c->tables[CHROPROF_TABLE_WINDOWS].capacity; i++)
        chroprof__merge_window(m, own, shift < 16 ? i >> shift : 0, cells[1 + i]);
    for (; more; more = site >= CHROPROF__OTHER && k != 0) {
        const chroprof__path *row = m->from->paths + k;
        chroprof__merge_window(m, own, chroprof__tag_index(c, row->window), row->exec - row->mark);
        k = row->same_site;
    }
}

/* Buckets of ticks become buckets of ns; max is their largest entry, in ticks. */
static void chroprof__merge_histogram(const chroprof__core *c, chroprof__histogram *to,
                                      const chroprof__histogram *from, uint64_t max)
{
    bool same = c->factor == UINT64_C(1) << 32;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++) {
        uint64_t value = b + 1 < CHROPROF__BUCKETS ? chroprof__bucket_value(b) : max;
        if (from->count[b])
            to->count[same ? b : chroprof__bucket(chroprof__ns(c, value))] += from->count[b];
    }
    uint64_t min = from->min == UINT64_MAX ? from->min : chroprof__ns(c, from->min);
    if (min < to->min)
        to->min = min;
}

static void chroprof__merge_entry(const chroprof__core *c, chroprof__histogram *to, uint64_t ticks)
{
    uint64_t ns = chroprof__ns(c, ticks);
    chroprof__histogram_add(to, chroprof__bucket(ns), ns);
}

/* Our histograms of a site of theirs; NULL: it has none, or theirs would not be enough. */
static chroprof__histograms *chroprof__merge_row(chroprof__merging *m, uint32_t site)
{
    const chroprof__core *c = m->from->core;
    uint32_t theirs = chroprof__sites(c)[site].first_path;
    uint32_t own = chroprof__merge_site(m, site);
    uint32_t path = chroprof__sites(m->to->core)[own].first_path;
    if (theirs == 0 || path == 0 || m->to->paths[path].histogram == 0)
        return NULL;
    if (m->from->paths[theirs].histogram)
        return chroprof__histogram_rows(m->to->core) + m->to->paths[path].histogram;
    chroprof__blur(m->to, own);
    return NULL;
}

static void chroprof__merge_percentiles(chroprof__merging *m, uint32_t site)
{
    const chroprof *p = m->from;
    chroprof__histograms *own = chroprof__merge_row(m, site);
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    uint64_t slice = 0, delay = 0;
    if (!own)
        return;
    const chroprof__histograms *row =
        chroprof__histogram_rows(p->core) + p->paths[first].histogram;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        chroprof__raise(&slice, p->paths[k].slice_max);
        chroprof__raise(&delay, p->paths[k].delay_max);
    }
    chroprof__merge_histogram(p->core, &own->slice, &row->slice, slice);
    chroprof__merge_histogram(p->core, &own->delay, &row->delay, delay);
}

/* Slices under way, and what the last event kept back. */
static void chroprof__merge_loose_entries(chroprof__merging *m)
{
    const chroprof__core *c = m->from->core;
    uint32_t slice = c->held & CHROPROF__HELD_SLICE ? c->held_slice_row : 0;
    uint32_t delay = c->held & CHROPROF__HELD_DELAY ? c->held_delay_row : 0;
    for (uint32_t site = CHROPROF__FIRST_SITE; site < chroprof__site_count(m->from); site++) {
        uint32_t first = chroprof__sites(c)[site].first_path;
        uint32_t row = first ? m->from->paths[first].histogram : 0;
        if (row == 0 || (row != slice && row != delay))
            continue;
        chroprof__histograms *own = chroprof__merge_row(m, site);
        if (own && row == slice)
            chroprof__merge_entry(c, &own->slice, c->held_slice);
        if (own && row == delay)
            chroprof__merge_entry(c, &own->delay, c->held_delay);
    }
    for (uint32_t k = 1; k <= c->depth; k++) {
        const chroprof__frame *frame = m->from->frames + k;
        uint32_t site = m->from->paths[frame->path].site;
        chroprof__histograms *own = site < CHROPROF__OTHER || frame->kind == CHROPROF__BARRIER
                                        ? NULL : chroprof__merge_row(m, site);
        if (own)
            chroprof__merge_entry(c, &own->slice, chroprof__frame_slice(m->from, k));
    }
}

/* Turns and passes. */
static void chroprof__merge_loop(chroprof__merging *m)
{
    chroprof__core *to = m->to->core;
    const chroprof__core *c = m->from->core;
    chroprof__histograms *own = chroprof__histogram_rows(to);
    to->turns += c->turns;
    to->passes += c->passes;
    chroprof__raise(&to->turn_max, chroprof__ns(c, c->turn_max));
    chroprof__raise(&to->pass_max, chroprof__ns(c, c->pass_max));
    if (to->tables[CHROPROF_TABLE_HISTOGRAMS].rows == 0 ||
        c->tables[CHROPROF_TABLE_HISTOGRAMS].rows == 0)
        return;
    const chroprof__histograms *row = chroprof__histogram_rows(c);
    chroprof__merge_histogram(c, &own->slice, &row->slice, c->turn_max);
    chroprof__merge_histogram(c, &own->delay, &row->delay, c->pass_max);
    if (c->held & CHROPROF__HELD_TURN)
        chroprof__merge_entry(c, &own->slice, c->held_turn);
}

/* Our row of their module, + 1; 0: there is no room. It stays where it is if nothing of ours is
 * there, else it goes behind all others. */
static uint32_t chroprof__merge_module(chroprof__merging *m, const chroprof__module *theirs)
{
    chroprof__core *c = m->to->core;
    chroprof__table *table = &c->tables[CHROPROF__MODULES];
    chroprof__module *rows = chroprof__modules(c);
    uint64_t size = theirs->high - theirs->low, low = theirs->low, end = 0;
    for (uint32_t k = 0; k < table->used; k++) {
        const chroprof__module *row = rows + k;
        if (row->high - row->low == size && row->low - row->base == theirs->low - theirs->base &&
            strcmp(row->build_id, theirs->build_id) == 0 && strcmp(row->path, theirs->path) == 0)
            return k + 1;
        if (row->low < theirs->high && theirs->low < row->high)
            low = UINT64_MAX;
        end = row->high > end ? row->high : end;
    }
    low = low == UINT64_MAX ? chroprof__aligned(end) : low;
    if (table->used == table->rows || size >> 48 != 0 || low >> 48 != 0)
        return 0;
    rows[table->used] = *theirs;
    rows[table->used].low = low;
    rows[table->used].high = low + size;
    rows[table->used].base = low - (theirs->low - theirs->base);
    table->peak = ++table->used;
    return (uint32_t)table->used;
}

/* One of their frames below a node of ours; UINT32_MAX: there is no room. */
static uint32_t chroprof__merge_node(chroprof__merging *m, uint32_t parent,
                                     const chroprof__node *theirs)
{
    chroprof__core *c = m->to->core;
    uint64_t item = theirs->item, used = c->tables[CHROPROF__STACKS].used;
    uint32_t module = 0;
    if (chroprof__item_kind(item) == CHROPROF__TASK) {
        uint32_t path = chroprof__merge_target(m, (uint32_t)chroprof__item_value(item));
        item = chroprof__item(CHROPROF__TASK, path);
    } else if (theirs->module != 0) {
        const chroprof__module *row = chroprof__modules(m->from->core) + (theirs->module - 1);
        module = chroprof__merge_module(m, row);
        uint64_t moved = module ? chroprof__modules(c)[module - 1].low - row->low : 0;
        item = chroprof__item(chroprof__item_kind(item), chroprof__item_value(item) + moved);
    }
    uint32_t node = chroprof__intern_node(c, parent, item);
    if (c->tables[CHROPROF__STACKS].used > used)
        chroprof__nodes(c)[node].module = module;
    return node;
}

/* Our number of their stack, or of what of it fits. */
static uint32_t chroprof__merge_stack(chroprof__merging *m, uint32_t stack)
{
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    uint32_t chain[2 * CHROPROF__ITEMS], count = 0, node = 0;
    for (uint32_t k = stack; k && count < 2 * CHROPROF__ITEMS; k = theirs[k].parent)
        chain[count++] = k;
    while (count > 0) {
        uint32_t child = chroprof__merge_node(m, node, theirs + chain[--count]);
        if (child == UINT32_MAX)
            break;
        node = child;
    }
    return node;
}

/* After what we have, in the order of time whatever theirs is, and within the time that they add:
 * ticks since their last event stand at its end. */
static void chroprof__merge_sample(chroprof__merging *m, const chroprof__sample *row)
{
    const chroprof__core *c = m->from->core;
    chroprof__sampler *s = chroprof__sampler_of(m->to->core);
    uint64_t start = chroprof__ns(c, row->time), end = chroprof__ns(c, row->time + row->duration);
    if (row->weight == 0)
        return;
    uint32_t stack = chroprof__merge_stack(m, row->stack);
    chroprof__sample *own = chroprof__new_row(m->to->core, s);
    start = m->begin + (start < m->elapsed ? start : m->elapsed);
    end = m->begin + (end < m->elapsed ? end : m->elapsed);
    *own = *row;
    own->time = start > s->latest ? start : s->latest;
    own->duration = chroprof__minus(end, own->time);
    own->stack = stack;
    s->latest = own->time + own->duration;
}

static void chroprof__merge_walls(chroprof__merging *m)
{
    for (uint32_t path = CHROPROF__UNTRACKED; path < chroprof__wall_count(m->from); path++) {
        const chroprof__wall *row = chroprof__walls(m->from->core) + path;
        if ((row->weight[0] | row->weight[1] | row->weight[2]) == 0)
            continue;
        chroprof__wall *own = chroprof__wall_of(m->to->core, chroprof__merge_target(m, path));
        for (uint32_t state = 0; state < 3; state++) {
            own->weight[state] += row->weight[state];
            own->ticks[state] += chroprof__ns(m->from->core, row->ticks[state]);
        }
    }
}

/* Counts add up; the settings are those of the first that has any. */
static void chroprof__merge_sampler(chroprof__sampler *to, const chroprof__sampler *from)
{
    to->inside += from->inside;
    to->ticks += from->ticks;
    to->lost += from->lost;
    to->cost_ns += from->cost_ns;
    to->draws += from->draws;
    to->misses += from->misses;
    if (to->first_period_ns != 0)
        return;
    to->mode = from->mode;
    to->period_ns = from->period_ns;
    to->first_period_ns = from->first_period_ns;
    to->budget_ppm = from->budget_ppm;
}

static void chroprof__merge_samples(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__sampler *from = chroprof__sampler_of(m->from->core);
    chroprof__sampler *to = chroprof__sampler_of(c);
    if (from && !to)
        c->tables[CHROPROF_TABLE_SAMPLES].dropped += from->samples;
    if (!from || !to)
        return;
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    for (uint32_t k = 0; k <= m->from->core->tables[CHROPROF__STACKS].used; k++) {
        if ((theirs[k].weight | theirs[k].cpu_ns) == 0)
            continue;
        chroprof__node *own = chroprof__nodes(c) + chroprof__merge_stack(m, k);
        own->weight += theirs[k].weight;
        own->cpu_ns += theirs[k].cpu_ns;
    }
    for (uint64_t k = 0; k < m->from->core->tables[CHROPROF_TABLE_SAMPLES].used; k++)
        chroprof__merge_sample(m, chroprof__sample_row(m->from, k));
    c->foreign |= m->from->view || m->from->core->foreign;
    chroprof__merge_walls(m);
    chroprof__merge_sampler(to, from);
    chroprof__mend_rows(m->to, to);
}

static void chroprof__merge_stall(chroprof__merging *m, const chroprof__stall *row)
{
    chroprof__core *c = m->to->core;
    chroprof__table *table = &c->tables[CHROPROF_TABLE_STALLS];
    chroprof__stall *rows = chroprof__stall_rows(c), stall = *row;
    uint32_t longest = (table->capacity + 1) / 2, recent = table->capacity - longest;
    uint64_t serial = row->serial < m->from->core->stalls ? row->serial : m->from->core->stalls;
    stall.serial = m->stalls + serial;
    stall.start = m->begin + chroprof__ns(m->from->core, row->start);
    stall.length = chroprof__ns(m->from->core, row->length);
    if (!chroprof__sampler_of(c))
        stall.hits.count = 0;
    for (uint32_t k = 0; k < stall.hits.count; k++)
        stall.hits.stack[k] = chroprof__merge_stack(m, stall.hits.stack[k]);
    for (uint32_t k = 0; k < stall.slice_count; k++) {
        stall.slices[k].exec = chroprof__ns(m->from->core, stall.slices[k].exec);
        stall.slices[k].path = chroprof__merge_target(m, stall.slices[k].path);
    }
    if (stall.serial == 0)
        return;
    chroprof__keep_longest(rows, longest, &stall);
    if (recent)
        rows[longest + (stall.serial - 1) % recent] = stall;
}

static void chroprof__merge_stalls(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    chroprof__table *table = &c->tables[CHROPROF_TABLE_STALLS];
    const chroprof__stall *row = chroprof__next_stall(m->from, 0);
    m->stalls = c->stalls;
    for (; row; row = chroprof__next_stall(m->from, row->serial))
        chroprof__merge_stall(m, row);
    c->stalls += m->from->core->stalls;
    table->used = table->peak = c->stalls < table->capacity ? c->stalls : table->capacity;
}

static void chroprof__merge_drops(chroprof__core *to, const chroprof__core *c)
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        chroprof__table *table = &to->tables[k];
        const chroprof__table *theirs = &c->tables[k];
        table->dropped += theirs->dropped;
        if (k == CHROPROF_TABLE_DEPTH)
            chroprof__raise(&table->wanted, theirs->wanted);
        else if (k == CHROPROF_TABLE_STRINGS)
            table->wanted += theirs->wanted;
        else
            table->wanted |= theirs->wanted;
    }
}

static void chroprof__merge_counts(chroprof__core *to, const chroprof__core *c)
{
    to->merged_events += (c->seq - c->seq_base) / 2 + c->merged_events;
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        to->anomalies[k] += c->anomalies[k];
    chroprof__raise(&to->error_ppb, c->error_ppb);
    to->skew_ticks += chroprof__ns(c, c->skew_ticks);
    to->skew_events += c->skew_events;
    to->doubt_ticks += chroprof__ns(c, c->doubt_ticks);
    to->doubt_events += c->doubt_events;
    to->ever_dropped |= c->ever_dropped;
    chroprof__merge_drops(to, c);
}

/* Our time, and the window that it is in, go on by theirs. All our exec is in the cells then. */
static void chroprof__merge_time(const chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    uint64_t end = m->begin + m->elapsed;
    chroprof__widen_windows(c, end);
    uint64_t index = end / c->window_ticks;
    c->window = (c->window & 0xFFFF0000u) | (uint32_t)index;
    c->window_end = (index + 1) * c->window_ticks;
    chroprof__close_windows(m->to);
    c->epoch -= m->elapsed;
    c->last = end;
    c->pass_start += m->elapsed;
    memset(c->intervals, 0, sizeof(c->intervals));
}

static void chroprof__merge_all(chroprof__merging *m)
{
    chroprof *p = m->to;
    chroprof__merge_time(m);
    for (uint32_t k = 0; k < chroprof__path_count(m->from); k++)
        chroprof__merge_path(m, k);
    for (uint32_t site = 0; site < chroprof__site_count(m->from); site++) {
        chroprof__merge_cells_of(m, site);
        if (site >= CHROPROF__FIRST_SITE)
            chroprof__merge_percentiles(m, site);
    }
    chroprof__merge_loose_entries(m);
    chroprof__merge_loop(m);
    chroprof__merge_stalls(m);
    chroprof__merge_samples(m);
    chroprof__merge_counts(p->core, m->from->core);
    chroprof__marks_since(p);
    chroprof__blame_loop(p);
    chroprof__set_horizon(p->core);
}

/* ns of all paths; false: too many. */
static bool chroprof__merge_length(const chroprof *p, uint64_t limit, uint64_t *ns)
{
    *ns = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        uint64_t exec = chroprof__ns(p->core, p->paths[k].exec);
        if (exec >= limit - *ns)
            return false;
        *ns += exec;
    }
    return true;
}

CHROPROF__COLD_API chroprof_result chroprof_merge(chroprof *p, const chroprof *other)
{
    chroprof__merging m;
    if (!p || !other || !p->core || !other->core || p->core == other->core)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__watch_fork(p);
    const chroprof__core *c = p->core;
    if (p->view || p->in_callback || !c->manual || c->depth ||
        c->tables[CHROPROF_TABLE_FUTURES].used)
        return CHROPROF_ERR_TARGET;
    memset(&m, 0, sizeof(m));
    m.to = p;
    m.from = other;
    m.begin = c->last;
    if (!chroprof__merge_length(other, CHROPROF__END_OF_TIME - c->last, &m.elapsed))
        return CHROPROF_ERR_TIME;
    chroprof__begin_edit(p->core);
    chroprof__merge_all(&m);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}

/* >>output: what the formats share. */

/* Ticks a live profile, so that a dump shows it as of now. */
CHROPROF__UNUSED static void chroprof__tick_live(chroprof *p)
{
    if (p->taking)
        chroprof__wake_drain(p->core);
    if (!p->taking || p->core->manual)      /* no time passes by itself */
        return;
    chroprof__any_live_event(p, CHROPROF_TICK, 0, NULL);
#if CHROPROF__HAS_COUNTER
    chroprof__begin_edit(p->core);
    if (!p->core->calibrated)
        chroprof__calibrate(p->core);
    chroprof__end_edit(p->core);
#endif
}

#ifndef CHROPROF_NO_CLOCK
/* Events of a slice on a small profile of its own; the least of several rounds, in ticks. */
static uint64_t chroprof__time_slices(chroprof *scratch, uint32_t slices)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < 5; round++) {
        uint64_t before = chroprof__read_clock(scratch);
        for (uint32_t k = 0; k < slices; k++) {
            chroprof__live_event(scratch, CHROPROF_RUNNING, 1, NULL);
            chroprof__live_event(scratch, CHROPROF_PAUSED, 1, NULL);
        }
        uint64_t ticks = chroprof__read_clock(scratch) - before;
        best = ticks < best ? ticks : best;
    }
    return best;
}
#endif

/* What an event costs here, clock read included, measured now with warm caches, in picoseconds; 0:
 * the clock is not ours. */
CHROPROF__COLD uint64_t chroprof__event_cost_ps(const chroprof *p)
{
#ifndef CHROPROF_NO_CLOCK
    chroprof_site site;
    uint64_t memory[CHROPROF_MEMORY_MIN / 8];
    const uint32_t slices = 64;
    chroprof scratch;
    if (p->view || !chroprof__own_clock(p))
        return 0;
    /* never: the memory is CHROPROF_MEMORY_MIN */
    if (chroprof_init(&scratch, memory, sizeof(memory), NULL) != CHROPROF_OK)
        return 0;
    scratch.clock = p->clock;               /* a guard against forks is part of the cost */
    scratch.clock_user = p->clock_user;
    site.name = "cost";
    site.file = "";
    site.line = 0;
    chroprof__any_live_event(&scratch, CHROPROF_PENDING, 1, &site);
    uint64_t ticks = chroprof__time_slices(&scratch, slices);
    return chroprof__scale(ticks * 1000u, p->core->factor) / (2u * slices);
#else
    (void)p;
    return 0;
#endif
}

/* >>map: the block as a file. It is made under another name and then linked to its own, so that no
 * one ever sees half of it, and no one's file is taken away. */

#ifdef CHROPROF__MAPS
enum { CHROPROF__PATH_BYTES = 4096 };

/* path, suffix and, if it is not 0, a number. False: too long. */
static bool chroprof__join(char out[CHROPROF__PATH_BYTES], const char *path, const char *suffix,
                           uint64_t number)
{
    char digits[20];
    size_t length = strlen(path), more = strlen(suffix), count = 0;
    if (length + more + sizeof(digits) + 1 > CHROPROF__PATH_BYTES)
        return false;
    for (uint64_t rest = number; rest; rest /= 10)
        digits[count++] = (char)('0' + (int)(rest % 10));
    memmove(out, path, length);             /* it may be there already */
    memcpy(out + length, suffix, more);
    for (size_t k = 0; k < count; k++)
        out[length + more + k] = digits[count - 1 - k];
    out[length + more + count] = '\0';
    return true;
}

/* When a process began, in the system's own count; 0: it is not known here. */
static uint64_t chroprof__process_start(uint64_t pid)
{
    char path[CHROPROF__PATH_BYTES], text[1024];
    (void)chroprof__join(path, "", "/proc/", pid);      /* short enough */
    (void)chroprof__join(path, path, "/stat", 0);
    int file = open(path, O_RDONLY | CHROPROF__CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    const char *at = strrchr(text, ')');    /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t start = 0;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        start = start * 10 + (uint64_t)(*at - '0');
    return start;
}

/* Does the program that made this block still run? On another machine nobody can tell: yes. */
static bool chroprof__owner_lives(const chroprof__core *c)
{
    chroprof__core here;
    memset(&here, 0, sizeof(here));
    if (c->ended || c->pid == 0)
        return false;
    chroprof__describe_process(&here, NULL);
    if (strncmp(c->host, here.host, sizeof(here.host)) != 0)
        return true;
    if (c->pid > INT32_MAX || (kill((pid_t)c->pid, 0) != 0 && errno == ESRCH))
        return false;
    uint64_t start = chroprof__process_start(c->pid);
    return start == 0 || c->owner_start == 0 || start == c->owner_start;
}

/* Who owns this file? OK: nobody any more. */
static chroprof_result chroprof__judge_file(int file)
{
    chroprof__core core;
    ssize_t count = read(file, &core, sizeof(core));
    if (count < 0)
        return CHROPROF_ERR_FILE;
    if (count != (ssize_t)sizeof(core) || core.magic != CHROPROF__MAGIC)
        return CHROPROF_ERR_FORMAT;         /* somebody else's: not to be touched */
    if (core.layout != CHROPROF__LAYOUT || core.core_bytes != sizeof(core))
        return CHROPROF_ERR_VERSION;
    return chroprof__owner_lives(&core) ? CHROPROF_ERR_OWNED : CHROPROF_OK;
}

/* A file that was taken away meanwhile is in nobody's way. */
static chroprof_result chroprof__unless_gone(void)
{
    return errno == ENOENT ? CHROPROF_OK : CHROPROF_ERR_FILE;
}

/* False: another program has the lock. It ends with the file's close. Where there is none (NFS
 * wants a right to write; strict builds outside of Linux hide flock), a program may move what
 * another has made in the same moment: that goes on in PATH.prev. */
static bool chroprof__lock_file(int file)
{
#if defined(LOCK_EX) && !defined(__sun)
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
#else
    (void)file;                             /* hidden, or not there */
    return true;
#endif
}

/* Moves a dead program's open file to PATH.prev, if it is still the one at path: who holds its lock
 * is the only one to move it. */
static chroprof_result chroprof__move_file(int file, const char *path)
{
    char prev[CHROPROF__PATH_BYTES];
    struct stat judged, there;
    if (!chroprof__lock_file(file))
        return CHROPROF_ERR_OWNED;          /* another program was faster */
    (void)chroprof__join(prev, path, ".prev", 0);       /* no longer than that of the new file */
    if (fstat(file, &judged) != 0)
        return CHROPROF_ERR_FILE;
    if (stat(path, &there) != 0)
        return chroprof__unless_gone();
    if (there.st_ino != judged.st_ino || there.st_dev != judged.st_dev)
        return CHROPROF_OK;                 /* gone, and another one is there */
    (void)unlink(prev);                     /* if they are one file, rename would do nothing */
    return rename(path, prev) == 0 ? CHROPROF_OK : chroprof__unless_gone();
}

/* Takes the file of a dead program out of the way. */
static chroprof_result chroprof__set_aside(const char *path)
{
    /* a pipe must not hold us */
    int file = open(path, O_RDONLY | CHROPROF__CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return chroprof__unless_gone();
    chroprof_result result = chroprof__judge_file(file);
    if (result == CHROPROF_OK)
        result = chroprof__move_file(file, path);
    close(file);
    return result;
}

/* Gives a finished file its name. */
static chroprof_result chroprof__publish(const char *made, const char *path)
{
    for (int tries = 0; tries < 8; tries++) {
        if (link(made, path) == 0)
            return CHROPROF_OK;
        if (errno != EEXIST)
            return CHROPROF_ERR_FILE;
        chroprof_result result = chroprof__set_aside(path);
        if (result != CHROPROF_OK)
            return result;
    }
    return CHROPROF_ERR_OWNED;
}

/* Room on the disk for all of a new file; 0, or an errno. */
static int chroprof__reserve(int file, size_t size)
{
#if defined(__APPLE__) || defined(__OpenBSD__)
    static const char zeros[4096] = { 0 };
    for (size_t at = 0; at < size; at += sizeof(zeros)) {
        size_t part = size - at < sizeof(zeros) ? size - at : sizeof(zeros);
        errno = ENOSPC;                     /* of a write that was cut short */
        if (pwrite(file, zeros, part, (off_t)at) != (ssize_t)part)
            return errno;
    }
    return 0;
#else
    return posix_fallocate(file, 0, (off_t)size);
#endif
}

/* A new file of that size, all of it on the disk, mapped; NULL and errno. */
static void *chroprof__new_mapping(const char *made, size_t size)
{
    int file = open(made, O_RDWR | O_CREAT | O_EXCL | CHROPROF__CLOEXEC, 0644);
    if (file < 0)
        return NULL;
    int error = chroprof__reserve(file, size);
    void *memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        error = memory == MAP_FAILED ? errno : 0;
    }
    close(file);
    if (memory == MAP_FAILED) {
        unlink(made);
        memory = NULL;
    }
    errno = error;
    return memory;
}

/* The same under a name of its own, which goes to made. A process of our number may have been
 * killed in here; its file then has the shorter name. */
static void *chroprof__make_file(char made[CHROPROF__PATH_BYTES], const char *path, size_t size)
{
    uint64_t pid = (uint64_t)getpid();
    if (!chroprof__join(made, path, ".new.", pid))
        return NULL;
    void *memory = chroprof__new_mapping(made, size);
    if (memory || errno != EEXIST)
        return memory;
    /* there was room for a number of any length */
    (void)chroprof__join(made, path, ".new.", chroprof__process_start(pid) << 24 ^ pid);
    return chroprof__new_mapping(made, size);
}

/* Maps the same file by its own name, which is what others see in the list of mappings. */
static void chroprof__map_by_name(void *memory, size_t size, const char *made, const char *path)
{
    struct stat by_made, by_path;
    int file = open(path, O_RDWR | CHROPROF__CLOEXEC);
    if (file < 0)
        return;
    if (stat(made, &by_made) == 0 && fstat(file, &by_path) == 0 &&
        by_made.st_ino == by_path.st_ino && by_made.st_dev == by_path.st_dev)
        (void)mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
}

/* Memory of our own in place of the file. */
static bool chroprof__leave_file(void *memory, size_t size)
{
#ifdef MAP_ANONYMOUS
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return mmap(memory, size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
#else
    (void)memory, (void)size;               /* there a child must not use the profile */
    return true;
#endif
}

#ifdef CHROPROF__FORKS
static void chroprof__options_of(const chroprof *p, chroprof_options *o);

/* Where the parent's file was, the child gets memory of its own, and its profile is off. Without
 * memory for a copy it is an empty one: the event under way still needs a block. */
static void chroprof__leave_parent(chroprof *p)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    size_t size = p->mapped_bytes;
    chroprof_options o;
    chroprof empty;
    p->sampling = false;
    chroprof__set_taking(p, false);
    chroprof__options_of(p, &o);
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    bool good = copy != MAP_FAILED && chroprof_snapshot(p->mapped, size, copy, size) == CHROPROF_OK;
    if (!chroprof__leave_file(p->mapped, size))
        _exit(127);                         /* there is no way on that spares the parent */
    if (good) {
        memcpy(p->mapped, copy, size);
    } else {
        if (chroprof_init(&empty, p->mapped, size, &o) != CHROPROF_OK)     /* they are damaged */
            (void)chroprof_init(&empty, p->mapped, size, NULL);
        chroprof__attach(p, empty.core);
    }
    if (copy != MAP_FAILED)
        munmap(copy, size);
}

/* Stands before the clock of a mapped profile: each event reads the clock before it writes. */
static uint64_t chroprof__guarded_clock(void *user)
{
    const chroprof__guard *guard = (const chroprof__guard *)user;
    chroprof__watch_guard(guard);
#if CHROPROF__HAS_COUNTER
    if (CHROPROF__LIKELY(guard->clock == NULL))
        return chroprof__counter();
#endif
    if (guard->clock == chroprof_clock_manual)
        return guard->p->core->epoch + guard->p->core->last;
    return guard->clock(guard->clock_user);
}

static void chroprof__set_guard(chroprof *p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    chroprof__guard *guard = (chroprof__guard *)pages;
    guard->parent = (volatile unsigned char *)pages + page;
    *guard->parent = 1;
    if (madvise((char *)pages + page, page, MADV_WIPEONFORK) != 0) {
        munmap(pages, 2 * page);
        return;
    }
    guard->p = p;
    guard->clock = p->clock;
    guard->clock_user = p->clock_user;
    p->clock = chroprof__guarded_clock;
    p->clock_user = guard;
}

static void chroprof__drop_guard(chroprof *p)
{
    chroprof__guard *guard = chroprof__guard_of(p);
    if (guard)
        munmap(guard, 2 * (size_t)sysconf(_SC_PAGESIZE));
}

/* The clock that stands behind the guard; our own: NULL. */
static void chroprof__clock_of(const chroprof *p, chroprof_options *o)
{
    const chroprof__guard *guard = chroprof__guard_of(p);
    o->clock = guard ? guard->clock : p->clock;
    o->clock_user = guard ? guard->clock_user : p->clock_user;
#ifndef CHROPROF_NO_CLOCK
    if (o->clock == chroprof__monotonic_ns)
        o->clock = NULL;
#endif
}
#else
static void chroprof__set_guard(chroprof *p)
{
    (void)p;
}

static void chroprof__drop_guard(chroprof *p)
{
    (void)p;
}

static void chroprof__clock_of(const chroprof *p, chroprof_options *o)
{
    o->clock = p->clock;
    o->clock_user = p->clock_user;
}
#endif

/* The profile has its block in this mapping; if it could not be made there, neither is left. */
static chroprof_result chroprof__keep_mapping(chroprof *p, void *memory, size_t size,
                                              chroprof_result result)
{
    if (result != CHROPROF_OK) {
        munmap(memory, size);
        memset(p, 0, sizeof(*p));
        return result;
    }
    p->mapped = memory;
    p->mapped_bytes = size;
    chroprof__set_guard(p);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_map(chroprof *p, const char *path, size_t size,
                                                const chroprof_options *options)
{
    char made[CHROPROF__PATH_BYTES];
    if (!p)
        return CHROPROF_ERR_ARGUMENT;
    memset(p, 0, sizeof(*p));
    if (!path)
        return CHROPROF_ERR_ARGUMENT;
    size = size ? size : chroprof_memory_size(options);
    if (size == 0)
        return CHROPROF_ERR_LIMIT;
    void *memory = chroprof__make_file(made, path, size);
    if (!memory)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof_init(p, memory, size, options);
    if (result == CHROPROF_OK) {
        p->core->owner_start = chroprof__process_start(p->core->pid);
        p->core->in_file = 1;
        result = chroprof__publish(made, path);
    }
    if (result == CHROPROF_OK)
        chroprof__map_by_name(memory, size, made, path);
    unlink(made);
    return chroprof__keep_mapping(p, memory, size, result);
}

/* What a profile was made with. */
static void chroprof__options_of(const chroprof *p, chroprof_options *o)
{
    const chroprof__core *c = p->core;
    memset(o, 0, sizeof(*o));
    o->max_futures = c->tables[CHROPROF_TABLE_FUTURES].capacity;
    o->max_sites = c->tables[CHROPROF_TABLE_SITES].capacity;
    o->max_paths = c->tables[CHROPROF_TABLE_PATHS].capacity;
    o->max_edges = c->tables[CHROPROF_TABLE_EDGES].capacity;
    o->max_depth = c->tables[CHROPROF_TABLE_DEPTH].capacity;
    o->max_histograms = c->tables[CHROPROF_TABLE_HISTOGRAMS].capacity;
    o->max_samples = c->tables[CHROPROF_TABLE_SAMPLES].capacity;
    o->max_windows = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    o->max_stalls = c->tables[CHROPROF_TABLE_STALLS].capacity;
    o->string_bytes = c->tables[CHROPROF_TABLE_STRINGS].capacity;
    o->window_ns = c->window_ns;
    o->stall_ns = c->stall_ns;
    o->max_step_ns = c->max_step_ns;
    o->on_stall = p->on_stall;
    o->on_stall_user = p->on_stall_user;
    chroprof__clock_of(p, o);
}

CHROPROF__COLD_API chroprof_result chroprof_fork_child(chroprof *p, const char *path)
{
    chroprof_options o;
    char name[CHROPROF__NAME_BYTES];
    if (!p || !p->mapped)
        return CHROPROF_OK;
    chroprof__watch_fork(p);
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    void *memory = p->mapped;
    size_t size = p->mapped_bytes;
    chroprof__options_of(p, &o);
    memcpy(name, p->core->name, sizeof(name));
    o.name = name;
    chroprof__drop_guard(p);
    if (path) {
        munmap(memory, size);
        return chroprof_map(p, path, size, &o);
    }
    chroprof_result result = CHROPROF_ERR_FILE;
    if (chroprof__leave_file(memory, size))         /* where no guard has done so */
        result = chroprof_init(p, memory, size, &o);
    return chroprof__keep_mapping(p, memory, size, result);
}

CHROPROF__COLD_API void chroprof_unmap(chroprof *p)
{
    if (!p || !p->mapped || p->in_callback)
        return;
    chroprof__watch_fork(p);
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    chroprof__tick_live(p);
    p->core->ended = 1;
    chroprof__drop_guard(p);
    munmap(p->mapped, p->mapped_bytes);
    memset(p, 0, sizeof(*p));
}
#else
static bool chroprof__owner_lives(const chroprof__core *c)
{
    return c->ended == 0;
}
#endif /* CHROPROF__MAPS */

CHROPROF__COLD_END

/* >>sampler: the timer, its signal and its handler. The handler touches the ring and the counts
 * that are its own, calls nothing but clock_gettime and the system calls of the timer, and knows
 * its profile by the value that the timer carries, so there is nothing global; but for timers of
 * the process, which carry none. */

#if CHROPROF__SAMPLES
enum {
#ifdef SA_ONSTACK
    CHROPROF__ON_STACK = SA_ONSTACK,
#else
    CHROPROF__ON_STACK = 0x08000000,
#endif
    CHROPROF__BUDGET_TICKS = 8
};

#if CHROPROF__THREAD_TIMER
enum { CHROPROF__THREAD_SIGNAL = 4 };      /* SIGEV_THREAD_ID */

/* As the kernel takes them. */
typedef struct chroprof__timer_event {
    uint64_t value;
    int32_t signal, notify, thread;
    int32_t rest[11];
} chroprof__timer_event;

typedef struct chroprof__timer_value {
    int64_t interval_s, interval_ns;
    int64_t first_s, first_ns;
} chroprof__timer_value;

static int chroprof__set_timer(uint64_t timer, uint64_t first_ns, uint64_t interval_ns)
{
    chroprof__timer_value value;
    value.interval_s = (int64_t)(interval_ns / 1000000000u);
    value.interval_ns = (int64_t)(interval_ns % 1000000000u);
    value.first_s = (int64_t)(first_ns / 1000000000u);
    value.first_ns = (int64_t)(first_ns % 1000000000u);
    return (int)chroprof__system(SYS_timer_settime, (long)timer, 0L, &value, NULL);
}
#else
/* A timer of the process, and whose its ticks are. It may interrupt any thread, which passes the
 * tick on to the loop's. */
typedef struct chroprof__process_timer {
    const chroprof *owner;
    chroprof__core *core;      /* NULL: the ticks are nobody's */
    pthread_t thread;          /* of the loop */
    long pid;                  /* of the owner's process; 0: the timer is free */
    long passing;              /* threads that are about to pass a tick on */
    bool ignored;              /* the signal, before */
} chroprof__process_timer;

static chroprof__process_timer chroprof__process_timers[2];

/* Which one has this signal. */
static chroprof__process_timer *chroprof__timer_of(int number)
{
    return chroprof__process_timers + (number == SIGPROF);
}

static int chroprof__set_timer(uint64_t number, uint64_t first_ns, uint64_t interval_ns)
{
    struct itimerval value;
    memset(&value, 0, sizeof(value));
    value.it_interval.tv_sec += (long)(interval_ns / 1000000000u);
    value.it_interval.tv_usec += (int)(interval_ns % 1000000000u / 1000u);
    value.it_value.tv_sec += (long)(first_ns / 1000000000u);
    value.it_value.tv_usec += (int)(first_ns % 1000000000u / 1000u);
    return setitimer(number == SIGPROF ? ITIMER_PROF : ITIMER_REAL, &value, NULL);
}
#endif

/* From half a period to one and a half, a period in the mean. */
static uint64_t chroprof__jittered(chroprof__sampler *s)
{
    return s->period_ns / 2 + chroprof__random(s) % s->period_ns;
}

/* The next tick, where each has a time of its own. */
static void chroprof__arm(chroprof__sampler *s)
{
    if (s->jitter)
        (void)chroprof__set_timer(s->timer, chroprof__jittered(s), 0);
    else
        (void)chroprof__set_timer(s->timer, s->period_ns, s->period_ns);
}

/* ---- in the handler */

/* Registers of the interrupted code. */
typedef struct chroprof__registers {
    uintptr_t code, stack, frame;
} chroprof__registers;

#if defined(__APPLE__)
static bool chroprof__read_registers(void *context, chroprof__registers *r)
{
    const ucontext_t *u = (const ucontext_t *)context;
#if defined(__x86_64__)
    r->code = (uintptr_t)u->uc_mcontext->__ss.__rip;
    r->stack = (uintptr_t)u->uc_mcontext->__ss.__rsp;
    r->frame = (uintptr_t)u->uc_mcontext->__ss.__rbp;
    return true;
#elif defined(__aarch64__) && defined(__darwin_arm_thread_state64_get_pc)
    r->code = (uintptr_t)__darwin_arm_thread_state64_get_pc(u->uc_mcontext->__ss);
    r->stack = (uintptr_t)__darwin_arm_thread_state64_get_sp(u->uc_mcontext->__ss);
    r->frame = (uintptr_t)__darwin_arm_thread_state64_get_fp(u->uc_mcontext->__ss);
    return true;
#else
    (void)u;
    (void)r;
    return false;
#endif
}
#elif defined(__linux__)
/* By their places in the kernel's frame: the names of these fields hide behind feature macros. */
static bool chroprof__read_registers(void *context, chroprof__registers *r)
{
#if defined(__x86_64__)
    static const uint8_t place[3] = { 16, 15, 10 };            /* rip, rsp, rbp */
#elif defined(__aarch64__)
    static const uint8_t place[3] = { 33, 32, 30 };            /* pc, sp, x29, behind an address */
#else
    static const uint8_t place[3] = { 0, 0, 0 };
#endif
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    memcpy(&r->code, at + 8 * place[0], sizeof(r->code));
    memcpy(&r->stack, at + 8 * place[1], sizeof(r->stack));
    memcpy(&r->frame, at + 8 * place[2], sizeof(r->frame));
    return place[0] != 0;
}
#else
static bool chroprof__read_registers(void *context, chroprof__registers *r)
{
    (void)context;
    (void)r;
    return false;                           /* samples name tasks, and what options.unwind tells */
}
#endif

/* A walk of the native stack; depth: frames of the running stack that have no place in it yet. */
typedef struct chroprof__walk {
    chroprof__core *c;
    chroprof__sampler *s;
    chroprof__entry *e;
    uint32_t depth;
} chroprof__walk;

/* Addresses without what a processor or a tool hides above them. */
static uint64_t chroprof__code_address(uintptr_t address)
{
    return (uint64_t)address & (UINT64_MAX >> 16);
}

/* How many more native frames there is room for: tasks come first. */
static bool chroprof__has_room(const chroprof__walk *w)
{
    uint32_t tasks = w->depth < CHROPROF__NOTED_TASKS ? w->depth : (uint32_t)CHROPROF__NOTED_TASKS;
    return w->e->count + tasks + 3 < CHROPROF__ITEMS;
}

/* The outermost task of those near the top that the call with this key began; 0: none. Code of that
 * call was there before the task: it stands outside. */
static uint32_t chroprof__task_begun_by(const chroprof__walk *w, uint32_t key)
{
    const chroprof__frame *frames =
        (const chroprof__frame *)chroprof__rows(w->c, CHROPROF_TABLE_DEPTH);
    const chroprof__note *notes = chroprof__notes(w->s);
    uint32_t found = 0;
    for (uint32_t k = w->depth, tries = 8; k > 0 && tries > 0; k--, tries--) {
        const chroprof__note *n = notes + k;
        bool own = n->event == frames[k].event;
        if (own && (n->keys[0] == key || n->keys[1] == key || n->keys[2] == key))
            found = k;
    }
    return found;
}

/* Follows the frame records. A return address is put down once it is known whether the function it
 * leads to was there before the task. */
static void chroprof__walk_records(chroprof__walk *w, uintptr_t frame, uintptr_t stack)
{
    uintptr_t end = chroprof__stack_end(w->s, stack), above = stack - 1, back = 0;
    bool fiber = stack >= w->s->fiber_low && stack < w->s->fiber_high;
    uint32_t mark = end ? CHROPROF__MARK_CUT : CHROPROF__MARK_STACK;
    while (end && chroprof__is_record(frame, above, end)) {
        uintptr_t next = chroprof__stack_word(frame);
        uintptr_t caller = chroprof__stack_word(frame + sizeof(frame));
        uint32_t task = chroprof__task_begun_by(w, chroprof__frame_key(frame, caller));
        if (task)
            chroprof__put_tasks(w->c, w->e, &w->depth, task - 1);
        if (back)
            chroprof__put_item(w->e, CHROPROF__RETURN, chroprof__code_address(back));
        back = caller;
        above = frame;
        frame = next;
        if (chroprof__has_room(w))
            continue;
        mark = CHROPROF__MARK_DEEP;
        break;
    }
    if (back)
        chroprof__put_item(w->e, CHROPROF__RETURN, chroprof__code_address(back));
    if (mark == CHROPROF__MARK_DEEP || mark == CHROPROF__MARK_STACK || (w->depth > 0 && !fiber))
        chroprof__put_item(w->e, CHROPROF__MARK, mark);
}

/* The walk of the user, who knows the frames but not who began which task. */
static void chroprof__walk_by_user(chroprof__walk *w, void *context)
{
    uintptr_t addresses[CHROPROF__ITEMS];
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *out, uint32_t capacity);
    uintptr_t function = (uintptr_t)w->s->unwind;
    memcpy(&unwind, &function, sizeof(unwind));
    uint32_t count = unwind((void *)(uintptr_t)w->s->unwind_user, context, addresses,
                            CHROPROF__ITEMS);
    for (uint32_t k = 0; k < count && chroprof__has_room(w); k++)    /* less than ITEMS in all */
        chroprof__put_item(w->e, k == 0 ? CHROPROF__PC : CHROPROF__RETURN,
                           chroprof__code_address(addresses[k]));
    if (w->depth > 0)
        chroprof__put_item(w->e, CHROPROF__MARK, CHROPROF__MARK_CUT);
}

/* The native stack and the running stack as one: functions of the slice, its task, the functions
 * that began it, and so on out. */
static void chroprof__weave(chroprof__core *c, chroprof__sampler *s, chroprof__entry *e,
                            void *context)
{
    chroprof__registers r;
    chroprof__walk w;
    memset(&r, 0, sizeof(r));
    if (chroprof__is_busy(c) ||
        (!s->unwind && !chroprof__read_registers(context, &r))) { /* never: all are read here */
        chroprof__put_running(c, e);
        return;
    }
    w.c = c;
    w.s = s;
    w.e = e;
    w.depth = c->depth;
    e->state = chroprof__sample_state_of(c);
    if (s->unwind) {
        chroprof__walk_by_user(&w, context);
    } else {
        chroprof__put_item(e, CHROPROF__PC, chroprof__code_address(r.code));
        if (c->hidden)
            chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
        chroprof__walk_records(&w, r.frame, r.stack);
    }
    chroprof__put_tasks(c, e, &w.depth, 0);
}

/* Thread CPU time since the tick before, without the handler's. While the loop sleeps what a tick
 * and an interrupted wait cost begins no row of its own: it is kept for the next one. */
static uint64_t chroprof__cpu_of_tick(chroprof__sampler *s, uint64_t cpu, uint32_t state)
{
    uint64_t delta = chroprof__minus(cpu, s->cpu) + s->idle_cpu;
    bool noise = state == CHROPROF_SAMPLE_IDLE && delta < s->period_ns / 16;
    s->idle_cpu = noise ? delta : 0;
    return noise ? 0 : delta;
}

/* Doubles the period when the ticks cost more than they may, halves it again when there is room. */
static void chroprof__keep_budget(chroprof__sampler *s)
{
    uint64_t period = s->period_ns, allowed = period / 1000u * s->window_ticks * s->budget_ppm;
    uint64_t cost = s->window_cost * 1000u;
    if (s->window_ticks < CHROPROF__BUDGET_TICKS)
        return;
    if (cost > allowed && period >> 40 == 0)
        period *= 2;
    else if (cost < allowed / 3 && period > s->first_period_ns)
        period /= 2;
    s->window_ticks = s->window_cost = 0;
    if (period == s->period_ns)
        return;
    chroprof__poke64(&s->period_ns, period);
    if (!s->jitter)
        chroprof__arm(s);
}

static void chroprof__take_tick(chroprof__core *c, chroprof__sampler *s, uint64_t weight,
                                void *context)
{
    uint64_t cpu = chroprof__thread_cpu_ns(), now = chroprof__monotonic_ns(NULL);
    chroprof__entry *e = c->enabled ? chroprof__begin_entry(c, s) : NULL;
    s->ticks += weight;
    s->window_ticks += weight;
    if (e) {
        chroprof__weave(c, s, e, context);
        e->weight = weight;
        e->cpu_ns = chroprof__cpu_of_tick(s, cpu, e->state);
        e->wall_ns = chroprof__or(chroprof__minus(now, s->stamp), 1);
        e->draws = s->mode == CHROPROF_SAMPLER_WALL && !chroprof__is_busy(c) ? weight : 0;
#if CHROPROF__HAS_COUNTER
        if (s->counter == 1)
            e->stamp = chroprof__counter();
#endif
        if (s->counter == 2)
            e->stamp = now;
        e->last = e->stamp;
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->put, s->put + 1);
        if (!chroprof__is_busy(c))
            chroprof__poke64(&c->horizon, c->last);    /* the next event takes the slow way */
    } else {
        s->lost += c->enabled ? weight : 0;
    }
    if (s->jitter)
        chroprof__arm(s);
    s->stamp = now;
    s->cpu = chroprof__thread_cpu_ns();
    s->cost_ns += chroprof__minus(s->cpu, cpu);
    s->window_cost += chroprof__minus(s->cpu, cpu);
    chroprof__keep_budget(s);
}

#if CHROPROF__THREAD_TIMER
/* The profile a signal is of; NULL: it is none of ours. The low bits of its value are a number of
 * this start, so that a timer that a lost profile left behind is not taken for ours. */
static chroprof__core *chroprof__ticked(const siginfo_t *info)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != SI_TIMER || value < 4096)
        return NULL;
    chroprof__core *c = (chroprof__core *)(value - value % CHROPROF__ALIGN);
    chroprof__sampler *s = c->magic == CHROPROF__MAGIC ? chroprof__sampler_of(c) : NULL;
    return s && s->armed == (uint64_t)value ? c : NULL;
}

static void chroprof__on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    chroprof__core *c = chroprof__ticked(info);
    (void)number;
    if (c) {
        uint64_t late = info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0;
        chroprof__take_tick(c, chroprof__sampler_of(c), 1 + late, context);
    }
    errno = error;
}
#else
/* A timer of the process goes by the CPU time of all threads, so it also ticks while the loop
 * sleeps. Asked in any thread. */
static bool chroprof__is_tick_of_others(const chroprof__core *c)
{
    return chroprof__sampler_of(c)->mode == CHROPROF_SAMPLER_CPU &&
           *(const volatile uint32_t *)&c->account == CHROPROF__IDLE && !chroprof__is_busy(c);
}

/* Does somebody still want ticks here? Not if the profile was begun anew without a stop. */
static bool chroprof__is_ticking(const chroprof__core *c)
{
    const chroprof__sampler *s = c->magic == CHROPROF__MAGIC ? chroprof__sampler_of(c) : NULL;
    return s && chroprof__peek64(&s->armed) != 0;
}

/* What a thread does with a tick that is not the loop's. */
static void chroprof__pass_on(const chroprof__core *c, pthread_t thread, int number)
{
    if (chroprof__sampler_of(c)->jitter || !chroprof__is_tick_of_others(c))
        (void)pthread_kill(thread, number);
}

static void chroprof__take_process_tick(chroprof__core *c, void *context)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!chroprof__is_tick_of_others(c))
        chroprof__take_tick(c, s, 1, context);
    else if (s->jitter)
        chroprof__arm(s);
}

static void chroprof__on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    chroprof__process_timer *t = chroprof__timer_of(number);
    (void)info;
    (void)__atomic_add_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    chroprof__core *c = __atomic_load_n(&t->core, __ATOMIC_SEQ_CST);
    bool own = c && __atomic_load_n(&t->pid, __ATOMIC_SEQ_CST) == (long)getpid() &&
               chroprof__is_ticking(c);
    bool here = own && pthread_equal(t->thread, pthread_self());
    if (own && !here)
        chroprof__pass_on(c, t->thread, number);
    (void)__atomic_sub_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    if (here)
        chroprof__take_process_tick(c, context);
    errno = error;
}
#endif

/* ---- start and stop */

static bool chroprof__is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == chroprof__on_signal;
}

static bool chroprof__has_no_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 &&
           (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/* Whoever blocks a signal waits for it by other means (signalfd, sigwaitinfo), and would get our
 * ticks. */
static bool chroprof__is_blocked(int number)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    return sigismember(&blocked, number) == 1;
}

/* Makes a signal ours if it has no handler. One signal a profile: it can be given back without a
 * count of who else uses it. */
static bool chroprof__claim_signal(chroprof *p, int number)
{
    struct sigaction ours, before;
    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = chroprof__on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | CHROPROF__ON_STACK;
#if CHROPROF__THREAD_TIMER
    sigemptyset(&ours.sa_mask);
#else
    sigfillset(&ours.sa_mask);              /* nothing jumps out while a tick is passed on */
#endif
    if (sigaction(number, NULL, &before) != 0 || !chroprof__has_no_handler(&before) ||
        chroprof__is_blocked(number) || sigaction(number, &ours, &before) != 0)
        return false;
    if (!chroprof__has_no_handler(&before)) {           /* never: another thread was faster */
        (void)sigaction(number, &before, NULL);
        return false;
    }
    p->sampler_ignored = before.sa_handler == SIG_IGN;
    return true;
}

/* Nothing that is still on its way arrives any more. A handler that the host has set meanwhile
 * stays. */
static void chroprof__return_signal(int number, bool ignored)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    (void)sigaction(number, NULL, &action);
    if (!chroprof__is_ours(&action))
        return;
    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    (void)sigaction(number, &action, NULL);
    action.sa_handler = SIG_DFL;
    if (!ignored)
        (void)sigaction(number, &action, NULL);
}

#if defined(__APPLE__)
extern void *chroprof__stack_top(pthread_t thread)
    __asm__(CHROPROF__LABEL("pthread_get_stackaddr_np"));
extern size_t chroprof__stack_size(pthread_t thread)
    __asm__(CHROPROF__LABEL("pthread_get_stacksize_np"));

static void chroprof__find_stack(chroprof__sampler *s)
{
    s->fiber_low = s->fiber_high = 0;
    s->high = (uint64_t)(uintptr_t)chroprof__stack_top(pthread_self());
    s->low = s->high - chroprof__stack_size(pthread_self());
}
#else
extern int chroprof__thread_attributes(pthread_t thread, pthread_attr_t *out)
    __asm__("pthread_getattr_np") __attribute__((weak));

static void chroprof__find_stack(chroprof__sampler *s)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    s->low = s->high = s->fiber_low = s->fiber_high = 0;
    if (!chroprof__thread_attributes)       /* never: a C library without it */
        return;
    if (chroprof__thread_attributes(pthread_self(), &attributes) != 0)    /* never: no memory */
        return;
    (void)pthread_attr_getstack(&attributes, &low, &size);
    s->low = (uint64_t)(uintptr_t)low;
    s->high = s->low + size;
    pthread_attr_destroy(&attributes);
}
#endif

/* Which clock tells the time of a sample: 1 the counter, 2 the monotonic clock, 0 one of the
 * host's, which a handler must not ask: then a sample has the time of the event behind it. */
static uint64_t chroprof__sample_clock(const chroprof *p)
{
    chroprof_options o;
    o.clock = p->clock == chroprof__monotonic_ns ? NULL : p->clock;
#ifdef CHROPROF__MAPS
    chroprof__clock_of(p, &o);
#endif
    if (o.clock && o.clock != chroprof__monotonic_ns)
        return 0;
#if CHROPROF__HAS_COUNTER
    /* never: a processor whose counter is not invariant */
    return chroprof__counter_is_invariant() ? 1 : 2;
#else
    return 2;
#endif
}

static void chroprof__set_up_sampler(chroprof *p, chroprof__sampler *s,
                                     const chroprof_sampler_options *o)
{
    uintptr_t unwind = 0;
    memcpy(&unwind, &o->unwind, sizeof(unwind));
    s->mode = o->mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    s->first_period_ns = chroprof__or(o->period_ns, 19000000u);
    if (s->first_period_ns < 100000)
        s->first_period_ns = 100000;
    s->period_ns = s->first_period_ns;
    s->budget_ppm = chroprof__or(o->budget_ppm, 10000);
    s->jitter = o->jitter;
    s->unwind = unwind;
    s->unwind_user = (uint64_t)(uintptr_t)o->unwind_user;
    s->window_ticks = s->window_cost = s->idle_cpu = 0;
    s->counter = chroprof__sample_clock(p);
    s->stamp = chroprof__monotonic_ns(NULL);
    s->cpu = chroprof__thread_cpu_ns();
    s->random ^= s->stamp;
    s->pid = (uint64_t)getpid();
    memset(chroprof__notes(s), 0,
           (size_t)chroprof__note_bytes(p->core->tables[CHROPROF_TABLE_DEPTH].capacity));
    chroprof__find_stack(s);
}

#if CHROPROF__THREAD_TIMER
/* One for each profile: nothing to take hold of. What a lost one left behind ticks for nobody. */
static void chroprof__end_lost_timers(const chroprof *p)
{
    (void)p;
}

static bool chroprof__hold_timer(const chroprof *p, const chroprof_sampler_options *o)
{
    (void)p;
    (void)o;
    return true;
}

static int chroprof__find_signal(chroprof *p, const chroprof_sampler_options *o)
{
    if (o->signal)
        return chroprof__claim_signal(p, o->signal) ? o->signal : 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (chroprof__claim_signal(p, number))
            return number;
    return 0;
}

/* Makes the timer; its number, or -1 and errno. */
static int chroprof__make_timer(chroprof *p, chroprof__sampler *s, int number)
{
    chroprof__timer_event event;
    int timer = -1;
    s->armed = (uint64_t)(uintptr_t)p->core + chroprof__random(s) % CHROPROF__ALIGN;
    memset(&event, 0, sizeof(event));
    event.value = s->armed;
    event.signal = number;
    event.notify = CHROPROF__THREAD_SIGNAL;
    event.thread = (int32_t)chroprof__system(SYS_gettid);
    long clock = s->mode == CHROPROF_SAMPLER_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    return chroprof__system(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

static void chroprof__end_timer(const chroprof *p)
{
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        (void)chroprof__system(SYS_timer_delete, (long)p->sampler_timer);
    chroprof__return_signal(p->sampler_signal, p->sampler_ignored);
}
#else
static int chroprof__signal_of(const chroprof_sampler_options *o)
{
    return o->mode == CHROPROF_SAMPLER_WALL ? SIGALRM : SIGPROF;
}

static void chroprof__free_timer(chroprof__process_timer *t)
{
    __atomic_store_n(&t->owner, (const chroprof *)NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->pid, 0, __ATOMIC_SEQ_CST);
}

/* Takes hold of the process's timer. A forked child takes its parent's over, which does not tick
 * there; its signal is given back first. False: somebody uses it. */
static bool chroprof__hold_timer(const chroprof *p, const chroprof_sampler_options *o)
{
    int number = chroprof__signal_of(o);
    chroprof__process_timer *t = chroprof__timer_of(number);
    struct itimerval now;
    long held = __atomic_load_n(&t->pid, __ATOMIC_SEQ_CST), own = (long)getpid();
    errno = EBUSY;
    if (held == own ||
        !__atomic_compare_exchange_n(&t->pid, &held, own, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return false;
    __atomic_store_n(&t->owner, p, __ATOMIC_SEQ_CST);
    t->core = NULL;
    if (held) {
        t->passing = 0;                     /* whoever did is not in this process */
        chroprof__return_signal(number, t->ignored);
    }
    memset(&now, 0, sizeof(now));
    (void)getitimer(number == SIGPROF ? ITIMER_PROF : ITIMER_REAL, &now);
    if (now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0)
        return true;
    chroprof__free_timer(t);
    errno = EBUSY;
    return false;
}

/* If it is not to be had the timer is free again. */
static int chroprof__find_signal(chroprof *p, const chroprof_sampler_options *o)
{
    int number = chroprof__signal_of(o);
    if ((o->signal == 0 || o->signal == number) && chroprof__claim_signal(p, number))
        return number;
    chroprof__free_timer(chroprof__timer_of(number));
    return 0;
}

static int chroprof__make_timer(chroprof *p, chroprof__sampler *s, int number)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    t->thread = pthread_self();
    t->ignored = p->sampler_ignored;
    s->armed = 1;
    __atomic_store_n(&t->core, p->core, __ATOMIC_SEQ_CST);
    return number;
}

/* No thread passes a tick on any more: it would come when the signal is no longer ours. False: one
 * has not got any further for a second. */
static bool chroprof__await_passing(chroprof__process_timer *t)
{
    uint64_t end = chroprof__monotonic_ns(NULL) + 1000000000u;
    while (__atomic_load_n(&t->passing, __ATOMIC_SEQ_CST) > 0) {
        if (chroprof__monotonic_ns(NULL) > end)
            return false;
        (void)sched_yield();
    }
    return true;
}

static void chroprof__end_timer(chroprof *p)
{
    chroprof__process_timer *t = chroprof__timer_of(p->sampler_signal);
    if (__atomic_load_n(&t->owner, __ATOMIC_SEQ_CST) != p)    /* a forked child's: taken over */
        return;
    if (t->pid != (long)getpid()) {
        t->passing = 0;
    } else {
        (void)chroprof__set_timer((uint64_t)p->sampler_signal, 0, 0);
        __atomic_store_n(&t->core, (chroprof__core *)NULL, __ATOMIC_SEQ_CST);
        p->sampler_ignored |= !chroprof__await_passing(t);
    }
    chroprof__return_signal(p->sampler_signal, p->sampler_ignored);
    chroprof__free_timer(t);
}

/* Of a profile that was begun anew without a stop. */
static void chroprof__end_lost_timers(chroprof *p)
{
    static const int numbers[2] = { SIGPROF, SIGALRM };
    for (uint32_t k = 0; k < 2; k++) {
        const chroprof__process_timer *t = chroprof__timer_of(numbers[k]);
        if (__atomic_load_n(&t->owner, __ATOMIC_SEQ_CST) != p)
            continue;
        p->sampler_signal = numbers[k];
        p->sampler_ignored = t->ignored;
        chroprof__end_timer(p);
        p->sampler_signal = 0;
    }
}
#endif

/* From here on it ticks. */
static void chroprof__begin_ticks(chroprof *p, chroprof__sampler *s)
{
    s->running = 1;
    s->module_at = 0;
    (void)chroprof__load_modules(p->core);
    chroprof__end_edit(p->core);
    chroprof__set_taking(p, p->taking);
    chroprof__arm(s);
}

/* Nothing has changed. */
static chroprof_result chroprof__no_timer(const chroprof *p, chroprof__sampler *s, int number)
{
    int error = errno;
    s->armed = 0;
    chroprof__end_edit(p->core);
    chroprof__return_signal(number, p->sampler_ignored);
    errno = error;
    return CHROPROF_ERR_SAMPLER_TIMER;
}

CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof(o));
    if (!p || !p->core || p->view || p->in_callback)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__watch_fork(p);
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (!s)
        return CHROPROF_ERR_SAMPLER_MEMORY;
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        return CHROPROF_ERR_SAMPLER_RUNNING;
    chroprof_sampler_stop(p);               /* the parent's, in a forked child */
    chroprof__end_lost_timers(p);
    if (options)
        o = *options;
    if (!chroprof__hold_timer(p, &o))
        return CHROPROF_ERR_SAMPLER_TIMER;
    int number = chroprof__find_signal(p, &o);
    if (number == 0)
        return CHROPROF_ERR_SAMPLER_SIGNAL;
    chroprof__begin_edit(p->core);
    chroprof__set_up_sampler(p, s, &o);
    p->sampler_timer = chroprof__make_timer(p, s, number);
    s->timer = (uint64_t)(uint32_t)p->sampler_timer;
    if (p->sampler_timer < 0)
        return chroprof__no_timer(p, s, number);
    p->sampler_signal = number;
    p->sampler_pid = s->pid;
    p->sampling = true;
    chroprof__begin_ticks(p, s);
    return CHROPROF_OK;
}

CHROPROF_API void chroprof_sampler_stop(chroprof *p)
{
    if (!p || p->sampler_signal == 0 || p->in_callback)
        return;
    chroprof__watch_fork(p);
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    chroprof__end_timer(p);
    p->sampler_signal = 0;
    if (!p->sampling)                       /* the child of a mapped one has the signal only */
        return;
    chroprof__begin_edit(p->core);
    s->armed = 0;
    s->running = 0;
    s->fiber_low = s->fiber_high = 0;
    p->sampling = false;
    chroprof__set_taking(p, p->taking);
    chroprof__end_edit(p->core);
    chroprof__wake_drain(p->core);
}

CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    if (!p || !p->sampling)
        return;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    chroprof__poke64(&s->fiber_high, 0);    /* at no moment do the two belong to different stacks */
    chroprof__poke64(&s->fiber_low, (uint64_t)(uintptr_t)low);
    chroprof__poke64(&s->fiber_high, (uint64_t)(uintptr_t)low + bytes);
}
#elif !defined(CHROPROF_NO_SAMPLER)
CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options)
{
    (void)options;
    return p && p->core && !p->view ? CHROPROF_ERR_SAMPLER : CHROPROF_ERR_ARGUMENT;
}

CHROPROF_API void chroprof_sampler_stop(chroprof *p)
{
    (void)p;
}

CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    (void)p;
    (void)low;
    (void)bytes;
}
#endif

CHROPROF__COLD_BEGIN

CHROPROF__COLD_API void chroprof_read_origin(const chroprof *p, chroprof_origin *out)
{
    memset(out, 0, sizeof(*out));
    out->name = out->host = "";
    if (!p || !p->core)
        return;
    const chroprof__core *c = p->core;
    out->pid = c->pid;
    out->name = c->name;
    out->host = c->host;
    out->end_ns = chroprof__ns(c, c->last);
    out->end_unix_ns = c->start_unix_ns ? c->start_unix_ns + out->end_ns : 0;
    out->mapped = c->in_file != 0;
    out->ended = c->ended != 0;
    out->alive = out->mapped && chroprof__owner_lives(c);
}

#if !defined(CHROPROF_NO_TEXT) || !defined(CHROPROF_NO_JSON) || !defined(CHROPROF_NO_FOLDED) || \
    !defined(CHROPROF_NO_PROMETHEUS) || !defined(CHROPROF_NO_PPROF) || !defined(CHROPROF_NO_FIREFOX)
#define CHROPROF__ANY_FORMAT 1
#endif

#ifdef CHROPROF__ANY_FORMAT
/* >>output
 * Everything that is written goes through one small buffer on the stack and one sticky error flag,
 * so the formats need no checks of their own. Numbers are made from integers by hand: no locale. */

#define CHROPROF__OUT_BYTES 1024

typedef struct chroprof__out {
    chroprof_writer write;
    void *user;
    const chroprof_text_options *look;   /* of the text report, may be NULL */
    size_t used;
    bool failed;
    char bytes[CHROPROF__OUT_BYTES];
} chroprof__out;

static void chroprof__flush(chroprof__out *o)
{
    if (o->used > 0 && !o->failed)
        o->failed = o->write(o->user, o->bytes, o->used) != 0;
    o->used = 0;
}

static void chroprof__put_bytes(chroprof__out *o, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t room = CHROPROF__OUT_BYTES - o->used;
        size_t part = count < room ? count : room;
        memcpy(o->bytes + o->used, bytes, part);
        o->used += part;
        bytes += part;
        count -= part;
        if (o->used == CHROPROF__OUT_BYTES)
            chroprof__flush(o);
    }
}

static void chroprof__put_byte(chroprof__out *o, char byte)
{
    o->bytes[o->used++] = byte;
    if (o->used == CHROPROF__OUT_BYTES)
        chroprof__flush(o);
}

CHROPROF__UNUSED static void chroprof__put_text(chroprof__out *o, const char *text)
{
    chroprof__put_bytes(o, text, strlen(text));
}

/* Decimal digits of value, which end before `end`; returns where they begin, at most 20 before. Two
 * at a time: each division waits for the one before it. */
CHROPROF__UNUSED static char *chroprof__digits_before(uint64_t value, char *end)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    while (value >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value < 10) {
        *--end = (char)('0' + (int)value);
        return end;
    }
    end -= 2;
    memcpy(end, pairs + 2 * value, 2);
    return end;
}

/* Decimal digits of value; out has room for 20. */
CHROPROF__UNUSED static size_t chroprof__digits(uint64_t value, char *out)
{
    char digits[20];
    const char *first = chroprof__digits_before(value, digits + sizeof(digits));
    size_t count = (size_t)(digits + sizeof(digits) - first);
    memcpy(out, first, count);
    return count;
}

/* A full buffer is flushed at once, so one byte is always free. */
CHROPROF__UNUSED static void chroprof__put_u64(chroprof__out *o, uint64_t value)
{
    char digits[20];
    if (o->used + sizeof(digits) < CHROPROF__OUT_BYTES)
        o->used += chroprof__digits(value, o->bytes + o->used);
    else
        chroprof__put_bytes(o, digits, chroprof__digits(value, digits));
}

#define CHROPROF__NO_CODE 0xFFFDu   /* what stands for a byte that is not UTF-8 */

static uint32_t chroprof__code_tail(uint32_t lead)
{
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    return lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
}

static bool chroprof__code_fits(uint32_t code, uint32_t tail)
{
    static const uint32_t least[4] = { 0, 0x80, 0x800, 0x10000 };
    return code >= least[tail] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

/* Takes one code point off a NUL-terminated text not at its end; a wrong byte counts alone. */
static uint32_t chroprof__next_code(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t tail = chroprof__code_tail(s[0]);
    uint32_t code = tail == 0 ? s[0] : s[0] & (0x3Fu >> tail);
    uint32_t i;
    *text += 1;
    if (code < 0x80 && tail == 0)
        return code;
    for (i = 1; i <= tail; i++) {
        if ((s[i] & 0xC0u) != 0x80u)
            return CHROPROF__NO_CODE;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (tail == 0 || !chroprof__code_fits(code, tail))
        return CHROPROF__NO_CODE;
    *text += tail;
    return code;
}

/* UTF-8 of a code point; out has room for 4. */
static size_t chroprof__encode(uint32_t code, char *out)
{
    size_t tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint32_t marks[4] = { 0, 0xC0, 0xE0, 0xF0 };
    size_t i;
    for (i = tail; i > 0; i--) {
        out[i] = (char)(unsigned char)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    out[0] = (char)(unsigned char)(marks[tail] | code);
    return tail + 1;
}

static void chroprof__put_code(chroprof__out *o, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        chroprof__put_byte(o, (char)code);
        return;
    }
    chroprof__put_bytes(o, bytes, chroprof__encode(code, bytes));
}

#if !defined(CHROPROF_NO_JSON) || !defined(CHROPROF_NO_FIREFOX)
static void chroprof__put_json_code(chroprof__out *o, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";
    if (code < 0x20) {
        chroprof__put_text(o, "\\u00");
        chroprof__put_byte(o, hex[code >> 4]);
        chroprof__put_byte(o, hex[code & 15u]);
        return;
    }
    if (code == '"' || code == '\\')
        chroprof__put_byte(o, '\\');
    chroprof__put_code(o, code);
}

static void chroprof__put_json_text(chroprof__out *o, const char *text)
{
    chroprof__put_byte(o, '"');
    while (*text != 0)
        chroprof__put_json_code(o, chroprof__next_code(&text));
    chroprof__put_byte(o, '"');
}
#endif
#endif

#if !defined(CHROPROF_NO_TEXT) || !defined(CHROPROF_NO_JSON) || !defined(CHROPROF_NO_FIREFOX)
/* The next stall in the order of time; serial is 0 to begin with. */
static bool chroprof__read_stall(const chroprof *p, uint64_t *serial, chroprof_stall *out)
{
    const chroprof__stall *row = chroprof__next_stall(p, *serial);
    if (row == NULL)
        return false;
    *serial = row->serial;
    chroprof__read_stall_row(p, row, out);
    return true;
}

#endif

#ifndef CHROPROF_NO_TEXT
/* >>text
 * A page is written line by line. It knows the column it is at, keeps blanks back until something
 * follows them, and cuts whatever would pass its width. Names are untrusted: nothing in them
 * reaches a terminal but printable characters. */

typedef struct chroprof__page {
    chroprof__out *out;
    const chroprof *p;
    chroprof_totals totals;
    uint32_t columns, column, blanks;
    uint32_t top;
    chroprof_order by;
    bool ascii, color;
} chroprof__page;

/* a * b / c for a <= c, without overflow; beyond 2^31 the ratio a / c is taken to 31 bits. */
static uint64_t chroprof__ratio(uint64_t a, uint64_t b, uint64_t c)
{
    while (c >> 31) {
        a >>= 1;
        c >>= 1;
    }
    if (c == 0)
        return 0;
    if (a > c)
        a = c;
    return b / c * a + b % c * a / c;
}

static void chroprof__glyph(chroprof__page *g, uint32_t code, char ascii)
{
    if (g->column + g->blanks >= g->columns)
        return;
    for (; g->blanks > 0; g->blanks--, g->column++)
        chroprof__put_byte(g->out, ' ');
    if (g->ascii)
        chroprof__put_byte(g->out, ascii);
    else
        chroprof__put_code(g->out, code);
    g->column++;
}

static void chroprof__show(chroprof__page *g, const char *ascii_text)
{
    for (; *ascii_text != 0; ascii_text++) {
        if (*ascii_text == ' ')
            g->blanks++;
        else
            chroprof__glyph(g, (unsigned char)*ascii_text, *ascii_text);
    }
}

static void chroprof__blank_to(chroprof__page *g, uint32_t column)
{
    if (column > g->column)
        g->blanks = column - g->column;
}

static void chroprof__newline(chroprof__page *g)
{
    chroprof__put_byte(g->out, '\n');
    g->column = 0;
    g->blanks = 0;
}

#define CHROPROF__PLAIN "0"
#define CHROPROF__BOLD "1"
#define CHROPROF__DIM "2"
#define CHROPROF__WARM "33"
#define CHROPROF__HOT "1;31"

static void chroprof__style(chroprof__page *g, const char *code)
{
    if (!g->color)
        return;
    chroprof__put_text(g->out, "\033[");
    chroprof__put_text(g->out, code);
    chroprof__put_byte(g->out, 'm');
}

static void chroprof__show_styled(chroprof__page *g, const char *code, const char *ascii_text)
{
    chroprof__style(g, code);
    chroprof__show(g, ascii_text);
    chroprof__style(g, CHROPROF__PLAIN);
}

/* A number with its unit, made before it is known how far to the right it stands. */
typedef struct chroprof__cell {
    uint32_t count;
    uint32_t codes[31];
} chroprof__cell;

static void chroprof__cell_byte(chroprof__cell *c, uint32_t code)
{
    if (c->count < 31)
        c->codes[c->count++] = code;
}

static void chroprof__cell_text(chroprof__cell *c, const char *text)
{
    while (*text != 0)
        chroprof__cell_byte(c, chroprof__next_code(&text));
}

/* value / 10^decimals, with at least min_digits digits in all. */
static void chroprof__cell_fixed(chroprof__cell *c, uint64_t value, uint32_t decimals,
                                 uint32_t min_digits)
{
    char digits[20];
    uint32_t count = (uint32_t)chroprof__digits(value, digits);
    uint32_t zeros = count < min_digits ? min_digits - count : 0;
    uint32_t i;
    for (i = 0; i < zeros + count; i++) {
        if (decimals > 0 && i == zeros + count - decimals)
            chroprof__cell_byte(c, '.');
        chroprof__cell_byte(c, i < zeros ? '0' : (unsigned char)digits[i - zeros]);
    }
}

/* How a time looks: the first row in which it has at most 3 digits. \xC2\xB5: the micro sign. */
typedef struct chroprof__unit {
    uint64_t step_ns;
    uint32_t decimals;
    char name[6];
} chroprof__unit;

#define CHROPROF__UNIT_COUNT 17

static const chroprof__unit chroprof__units[CHROPROF__UNIT_COUNT] = {
    { 1, 0, "ns" },
    { 10, 2, "\xC2\xB5s" },
    { 100, 1, "\xC2\xB5s" },
    { 1000, 0, "\xC2\xB5s" },
    { 10000, 2, "ms" },
    { 100000, 1, "ms" },
    { 1000000, 0, "ms" },
    { 10000000, 2, "s" },
    { 100000000, 1, "s" },
    { 600000000, 2, "min" },
    { 6000000000u, 1, "min" },
    { 36000000000u, 2, "h" },
    { 360000000000u, 1, "h" },
    { 864000000000u, 2, "d" },
    { 8640000000000u, 1, "d" },
    { 86400000000000u, 0, "d" },
    { 31556952000000000u, 0, "y" }
};

static uint64_t chroprof__round(uint64_t value, uint64_t step)
{
    return value / step + (value % step >= step - step / 2 ? 1 : 0);
}

static void chroprof__cell_time(chroprof__cell *c, uint64_t ns)
{
    uint32_t i = 0;
    const chroprof__unit *u = chroprof__units;
    while (chroprof__round(ns, u->step_ns) >= 1000)         /* 2^64 ns are 584 years */
        u = &chroprof__units[++i];
    chroprof__cell_fixed(c, chroprof__round(ns, u->step_ns), u->decimals, u->decimals + 1);
    if (ns > 0)
        chroprof__cell_text(c, u->name);
}

/* Exact below 100,000, else 3 digits and k, M, G, T, P, E. */
static void chroprof__cell_count(chroprof__cell *c, uint64_t value)
{
    static const char prefixes[] = "kMGTPE";
    uint64_t step = 1000;
    uint32_t prefix = 0;
    uint64_t digits;
    uint32_t decimals = 2;
    if (value < 100000) {
        chroprof__cell_fixed(c, value, 0, 1);
        return;
    }
    for (; value / step >= 1000; prefix++)                  /* 2^64 are 18 E */
        step *= 1000;
    digits = chroprof__round(value, step / 100);
    for (; digits >= 1000 && decimals > 0; decimals--)
        digits = chroprof__round(value, step / (decimals == 2 ? 10 : 1));
    chroprof__cell_fixed(c, digits, decimals, decimals + 1);
    chroprof__cell_byte(c, (unsigned char)prefixes[prefix]);
}

/* part of whole in percent; what is there but would look like zero is shown as less than a unit. */
static void chroprof__cell_share(chroprof__cell *c, uint64_t part, uint64_t whole,
                                 uint32_t decimals)
{
    uint64_t unit = decimals == 0 ? 100 : decimals == 1 ? 1000 : 10000;
    uint64_t value = chroprof__ratio(part, unit * 2, whole);
    value = value / 2 + value % 2;
    if (value == 0 && part > 0) {
        chroprof__cell_byte(c, '<');
        value = 1;
    }
    chroprof__cell_fixed(c, value, decimals, decimals + 1);
    chroprof__cell_byte(c, '%');
}

/* A moment of profile time, [h:]mm:ss.mmm. */
static void chroprof__cell_moment(chroprof__cell *c, uint64_t ns)
{
    uint64_t ms = ns / 1000000;
    if (ms >= 3600000) {
        chroprof__cell_fixed(c, ms / 3600000, 0, 1);
        chroprof__cell_byte(c, ':');
    }
    chroprof__cell_fixed(c, ms / 60000 % 60, 0, 2);
    chroprof__cell_byte(c, ':');
    chroprof__cell_fixed(c, ms % 60000, 3, 5);
}

/* Calendar date and time, UTC, by counting days from a first of March. */
static void chroprof__cell_date(chroprof__cell *c, uint64_t unix_ns)
{
    uint64_t seconds = unix_ns / 1000000000u;
    uint64_t days = seconds / 86400 + 719468;
    uint64_t era = days / 146097;
    uint64_t day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t month;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    chroprof__cell_fixed(c, year + era * 400 + (month >= 10 ? 1 : 0), 0, 4);
    chroprof__cell_byte(c, '-');
    chroprof__cell_fixed(c, month < 10 ? month + 3 : month - 9, 0, 2);
    chroprof__cell_byte(c, '-');
    chroprof__cell_fixed(c, day - (153 * month + 2) / 5 + 1, 0, 2);
    chroprof__cell_byte(c, ' ');
    chroprof__cell_fixed(c, seconds / 3600 % 24, 0, 2);
    chroprof__cell_byte(c, ':');
    chroprof__cell_fixed(c, seconds / 60 % 60, 0, 2);
    chroprof__cell_text(c, " UTC");
}

static void chroprof__show_cell(chroprof__page *g, const chroprof__cell *c, uint32_t width)
{
    uint32_t i;
    if (c->count < width)
        g->blanks += width - c->count;
    for (i = 0; i < c->count; i++) {
        if (c->codes[i] == ' ')
            g->blanks++;
        else
            chroprof__glyph(g, c->codes[i], c->codes[i] < 0x80 ? (char)c->codes[i] : 'u');
    }
}

/* Each of these is right-aligned in width columns; 0: as wide as it is. */
static void chroprof__show_time(chroprof__page *g, uint64_t ns, uint32_t width)
{
    chroprof__cell c;
    c.count = 0;
    chroprof__cell_time(&c, ns);
    chroprof__show_cell(g, &c, width);
}

static void chroprof__show_count(chroprof__page *g, uint64_t value, uint32_t width)
{
    chroprof__cell c;
    c.count = 0;
    chroprof__cell_count(&c, value);
    chroprof__show_cell(g, &c, width);
}

static void chroprof__show_share(chroprof__page *g, uint64_t part, uint64_t whole, uint32_t width)
{
    chroprof__cell c;
    c.count = 0;
    chroprof__cell_share(&c, part, whole, 1);
    chroprof__show_cell(g, &c, width);
}

static void chroprof__show_right(chroprof__page *g, const char *text, uint32_t width)
{
    chroprof__cell c;
    c.count = 0;
    chroprof__cell_text(&c, text);
    chroprof__show_cell(g, &c, width);
}

/* Code points that steer a terminal or its direction of writing, and those without a width. */
static bool chroprof__steers(uint32_t code)
{
    return (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0xFEFF
        || (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E)
        || (code >= 0x2060 && code <= 0x206F) || (code >= 0xFFF9 && code <= 0xFFFC)
        || code >= 0xE0000;
}

/* One code point of a name in one column; control bytes as their pictures. */
static void chroprof__show_code(chroprof__page *g, uint32_t code)
{
    if (code < 0x20)
        chroprof__glyph(g, 0x2400 + code, '?');
    else if (chroprof__steers(code))
        chroprof__glyph(g, CHROPROF__NO_CODE, '?');
    else if (code == ' ')
        g->blanks++;
    else
        chroprof__glyph(g, code, code < 0x7F ? (char)code : '?');
}

static uint32_t chroprof__width_of(const char *name)
{
    uint32_t count = 0;
    for (; *name != 0 && count < 1000000; count++)
        (void)chroprof__next_code(&name);
    return count;
}

/* Shows a name in at most width columns; a longer one loses its middle. */
static void chroprof__show_name(chroprof__page *g, const char *name, uint32_t width)
{
    const char *shown = *name != 0 ? name : "(empty)";
    uint32_t count = chroprof__width_of(shown);
    uint32_t head = count <= width ? count : width / 2;
    uint32_t tail = count <= width ? count : count - (width - head) + 1;
    uint32_t i;
    for (i = 0; i < count && width > 0; i++) {
        uint32_t code = chroprof__next_code(&shown);
        if (i < head || i >= tail)
            chroprof__show_code(g, code);
        else if (i == head)
            chroprof__glyph(g, 0x2026, '~');
    }
}

static const char *chroprof__base_name(const char *file)
{
    const char *base = file;
    for (; *file != 0; file++)
        if ((*file == '/' || *file == '\\') && file[1] != 0)
            base = file + 1;
    return base;
}

static void chroprof__cell_line(chroprof__cell *c, uint32_t line)
{
    c->count = 0;
    if (line > 0) {
        chroprof__cell_byte(c, ':');
        chroprof__cell_fixed(c, line, 0, 1);
    }
}

/* Columns of "file:line" without folders; 0 if there is no file. */
static uint32_t chroprof__location_width(const char *file, uint32_t line)
{
    chroprof__cell c;
    file = chroprof__base_name(file);
    chroprof__cell_line(&c, line);
    return *file == 0 ? 0 : chroprof__width_of(file) + c.count;
}

/* file:line in at most width columns: with its folders if they fit, else without. */
static void chroprof__show_location(chroprof__page *g, const char *file, uint32_t line,
                                    uint32_t width)
{
    chroprof__cell c;
    if (*file == 0 || width < 6)
        return;
    chroprof__cell_line(&c, line);
    if (c.count + 2 > width)
        c.count = 0;
    if (chroprof__width_of(file) + c.count > width)
        file = chroprof__base_name(file);
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_name(g, file, width - c.count);
    chroprof__show_cell(g, &c, 0);
    chroprof__style(g, CHROPROF__PLAIN);
}

/* A bar of at most width columns in eighths of a column, or of whole ones in ASCII. */
static void chroprof__show_bar(chroprof__page *g, uint64_t part, uint64_t whole, uint32_t width)
{
    uint64_t eighths = chroprof__ratio(part, (uint64_t)width * 8, whole);
    uint32_t end = g->column + g->blanks + width;
    if (g->ascii)
        eighths = (eighths + 4) / 8 * 8;
    if (eighths == 0 && part > 0 && !g->ascii)
        eighths = 1;
    for (; eighths >= 8; eighths -= 8)
        chroprof__glyph(g, 0x2588, '#');
    if (eighths > 0)
        chroprof__glyph(g, 0x2590 - (uint32_t)eighths, '#');
    chroprof__blank_to(g, end);
}

static const char *chroprof__heat(uint64_t part, uint64_t whole)
{
    uint64_t percent = chroprof__ratio(part, 100, whole);
    return percent >= 25 ? CHROPROF__HOT : percent >= 10 ? CHROPROF__WARM : CHROPROF__PLAIN;
}

/* Share and, if bar > 0, its bar, coloured by heat. Takes 7 columns, and bar + 2. */
static void chroprof__show_heat(chroprof__page *g, uint64_t part, uint64_t whole, uint64_t longest,
                                uint32_t bar)
{
    chroprof__style(g, chroprof__heat(part, whole));
    chroprof__show_share(g, part, whole, 7);
    if (bar > 0) {
        g->blanks += 2;
        chroprof__show_bar(g, part, longest, bar);
    }
    chroprof__style(g, CHROPROF__PLAIN);
}

static uint32_t chroprof__bar_width(const chroprof__page *g)
{
    if (g->columns < 72)
        return 0;
    return g->columns < 120 ? 8 : 8 + (g->columns - 120) / 8;
}

static void chroprof__rule(chroprof__page *g)
{
    chroprof__style(g, CHROPROF__DIM);
    while (g->column < g->columns)
        chroprof__glyph(g, 0x2500, '-');
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__heading(chroprof__page *g, const char *title)
{
    chroprof__newline(g);
    chroprof__show_styled(g, CHROPROF__BOLD, title);
    g->blanks += 2;
}

/* >>text summary */

static void chroprof__text_title(chroprof__page *g)
{
    const char *name = chroprof__name(g->p);
    uint32_t version = (uint32_t)strlen("chroprof " CHROPROF_VERSION);
    chroprof__style(g, CHROPROF__BOLD);
    chroprof__show_name(g, *name != 0 ? name : "event loop", g->columns - version - 2);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__blank_to(g, g->columns - version);
    chroprof__show_styled(g, CHROPROF__DIM, "chroprof " CHROPROF_VERSION);
    chroprof__newline(g);
    chroprof__rule(g);
}

static void chroprof__text_part(chroprof__page *g, uint32_t code, char ascii, const char *name,
                                uint64_t ns)
{
    g->blanks += 3;
    chroprof__glyph(g, code, ascii);
    chroprof__show(g, " ");
    chroprof__show(g, name);
    chroprof__show(g, " ");
    chroprof__show_share(g, ns, g->totals.elapsed_ns, 0);
}

/* The parts of the elapsed time, in the order in which the strip below draws them. */
static void chroprof__text_parts(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    chroprof__show(g, "elapsed ");
    chroprof__style(g, CHROPROF__BOLD);
    chroprof__show_time(g, t->elapsed_ns, 0);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__text_part(g, 0x2588, '#', "busy", t->busy_ns);
    chroprof__text_part(g, 0x2592, '=', "loop", t->loop_ns);
    chroprof__text_part(g, 0x2591, '.', "idle", t->idle_ns);
    if (t->untracked_ns > 0) {
        if (g->columns < 80)
            chroprof__newline(g);
        chroprof__show(g, g->columns < 80 ? "untracked " : "   untracked ");
        chroprof__show_share(g, t->untracked_ns, t->elapsed_ns, 0);
    }
    chroprof__newline(g);
}

static void chroprof__text_strip(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    uint64_t width = g->columns;
    uint64_t busy = chroprof__ratio(t->busy_ns, width * 2 + 1, t->elapsed_ns) / 2;
    uint64_t end = chroprof__ratio(t->busy_ns + t->loop_ns, width * 2 + 1, t->elapsed_ns) / 2;
    if (t->elapsed_ns == 0)
        return;
    while (g->column < g->columns) {
        if (g->column < busy)
            chroprof__glyph(g, 0x2588, '#');
        else if (g->column < end)
            chroprof__glyph(g, 0x2592, '=');
        else
            chroprof__glyph(g, 0x2591, '.');
    }
    chroprof__newline(g);
}

static void chroprof__text_label(chroprof__page *g, const char *label, uint64_t count)
{
    chroprof__show(g, label);
    chroprof__blank_to(g, 11);
    chroprof__show_count(g, count, 7);
}

typedef struct chroprof__spread {
    uint64_t count, p50_ns, p99_ns, max_ns;
} chroprof__spread;

static void chroprof__text_spread(chroprof__page *g, const char *label, const chroprof__spread *s)
{
    bool known = g->p->core->tables[CHROPROF_TABLE_HISTOGRAMS].rows != 0;
    chroprof__text_label(g, label, s->count);
    if (s->count > 0 && known) {
        chroprof__show_styled(g, CHROPROF__DIM, "   p50");
        chroprof__show_time(g, s->p50_ns, 8);
        chroprof__show_styled(g, CHROPROF__DIM, "   p99");
        chroprof__show_time(g, s->p99_ns, 8);
    }
    if (s->count > 0) {
        chroprof__show_styled(g, CHROPROF__DIM, "   max");
        chroprof__show_time(g, s->max_ns, 8);
    }
    chroprof__newline(g);
}

static void chroprof__text_spreads(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    chroprof__spread s;
    s.count = t->turns;
    s.p50_ns = t->turn_p50_ns;
    s.p99_ns = t->turn_p99_ns;
    s.max_ns = t->turn_max_ns;
    chroprof__text_spread(g, "turns", &s);
    s.count = t->passes;
    s.p50_ns = t->pass_p50_ns;
    s.p99_ns = t->pass_p99_ns;
    s.max_ns = t->pass_max_ns;
    chroprof__text_spread(g, "passes", &s);
}

static void chroprof__text_futures(chroprof__page *g)
{
    chroprof__text_label(g, "futures", g->totals.live);
    chroprof__show_styled(g, CHROPROF__DIM, "   live");
    if (g->totals.delay_ns > 0) {
        chroprof__show_styled(g, CHROPROF__DIM, ", delay ");
        chroprof__show_time(g, g->totals.delay_ns, 0);
        chroprof__show_styled(g, CHROPROF__DIM,
                              g->columns < 80 ? " in all" : " in all, ready but not running");
    }
    chroprof__newline(g);
}

/* What the profile itself cost: a measured cost an event, times the events. */
static void chroprof__text_cost(chroprof__page *g)
{
    uint64_t events = g->totals.events;
    uint64_t cost_ps = chroprof__event_cost_ps(g->p);
    uint64_t cost_ns = events / 1000 * cost_ps + events % 1000 * cost_ps / 1000;
    chroprof__cell each;
    chroprof__cell share;
    chroprof__text_label(g, "events", events);
    if (cost_ps > 0) {
        each.count = 0;
        share.count = 0;
        chroprof__cell_fixed(&each, chroprof__round(cost_ps, 100), 1, 2);
        chroprof__cell_share(&share, cost_ns, g->totals.elapsed_ns, 2);
        chroprof__show_styled(g, CHROPROF__DIM, "   at ");
        chroprof__show_cell(g, &each, 0);
        chroprof__show(g, "ns ");
        chroprof__show_styled(g, CHROPROF__DIM,
                              g->columns < 80 ? "each: cost " : "each: profiling cost ");
        chroprof__show_time(g, cost_ns, 0);
        chroprof__show(g, ", ");
        chroprof__show_cell(g, &share, 0);
        chroprof__show_styled(g, CHROPROF__DIM, g->columns < 80 ? "" : " of elapsed");
    }
    chroprof__newline(g);
}

/* How far the rows of a snapshot may be apart. */
static void chroprof__text_snapshot(chroprof__page *g)
{
    if (g->totals.skew_events > 0) {
        chroprof__show_styled(g, CHROPROF__WARM, "snapshot");
        chroprof__show(g, "   rows are up to ");
        chroprof__show_time(g, g->totals.skew_ns, 0);
        chroprof__show(g, " and ");
        chroprof__show_count(g, g->totals.skew_events, 0);
        chroprof__show(g, " events apart");
        chroprof__newline(g);
    }
    if (g->totals.doubt_events > 0) {
        chroprof__show_styled(g, CHROPROF__WARM, "cut short");
        chroprof__show(g, "  it stopped inside an event: ");
        chroprof__show_time(g, g->totals.doubt_ns, 0);
        chroprof__show(g, " are in doubt");
        chroprof__newline(g);
    }
}

static void chroprof__text_state(chroprof__page *g)
{
    chroprof__cell date;
    if (g->totals.start_unix_ns > 0) {
        date.count = 0;
        chroprof__cell_date(&date, g->totals.start_unix_ns);
        chroprof__show(g, "started    ");
        chroprof__show_cell(g, &date, 0);
        chroprof__newline(g);
    }
    chroprof__text_snapshot(g);
    if (g->totals.provisional) {
        chroprof__show_styled(g, CHROPROF__WARM, "provisional");
        chroprof__show(g, ": the clock is not calibrated yet");
        chroprof__newline(g);
    }
    if (!g->totals.enabled && !g->p->view) {
        chroprof__show(g, "switched off: no events are taken");
        chroprof__newline(g);
    }
}

static void chroprof__text_summary(chroprof__page *g)
{
    chroprof__text_title(g);
    chroprof__text_parts(g);
    chroprof__text_strip(g);
    chroprof__text_spreads(g);
    chroprof__text_futures(g);
    chroprof__text_cost(g);
    chroprof__text_state(g);
}

/* >>text sites */

#define CHROPROF__TEXT_ROWS 40
#define CHROPROF__NO_ORDER 255

/* A column of the ranked table. It is there from a width on, and wherever it is the order. */
typedef struct chroprof__column {
    char above[8], label[10];
    uint8_t width, from;
    bool time, delay;          /* delay: only where anybody was ever ready */
    uint8_t order;
    uint16_t offset;
} chroprof__column;

#define CHROPROF__COLUMN_COUNT 10
#define CHROPROF__AT(field) (uint16_t)offsetof(chroprof_rank, field)

static const chroprof__column chroprof__rank_columns[CHROPROF__COLUMN_COUNT] = {
    { "", "exec", 8, 60, true, false, CHROPROF_BY_EXEC, CHROPROF__AT(exec_ns) },
    { "with", "children", 9, 120, true, false, CHROPROF_BY_WITH_CHILDREN,
      CHROPROF__AT(with_children_ns) },
    { "slice", "p99", 8, 72, true, false, CHROPROF__NO_ORDER, CHROPROF__AT(slice_p99_ns) },
    { "slice", "max", 8, 60, true, false, CHROPROF_BY_SLICE_MAX, CHROPROF__AT(slice_max_ns) },
    { "", "slices", 7, 120, false, false, CHROPROF__NO_ORDER, CHROPROF__AT(slices) },
    { "", "calls", 7, 130, false, false, CHROPROF_BY_CALLS, CHROPROF__AT(calls) },
    { "", "wall", 8, 120, true, false, CHROPROF__NO_ORDER, CHROPROF__AT(wall_ns) },
    { "", "waiting", 8, 120, true, false, CHROPROF__NO_ORDER, CHROPROF__AT(waiting_ns) },
    { "", "delay", 8, 120, true, true, CHROPROF_BY_DELAY, CHROPROF__AT(delay_ns) },
    { "", "blame", 8, 72, true, true, CHROPROF_BY_BLAME, CHROPROF__AT(blame_ns) }
};

static const char chroprof__order_names[6][14] = {
    "exec", "with children", "slice max", "blame", "delay", "calls"
};

/* The ranked rows and how the columns share the page. */
typedef struct chroprof__ranking {
    uint32_t count, all;
    uint32_t name_width, location_width, numbers_at, bar;
    uint64_t shown_ns, longest_ns;
    chroprof_rank rows[CHROPROF__TEXT_ROWS];
} chroprof__ranking;

static bool chroprof__column_shown(const chroprof__page *g, const chroprof__column *c)
{
    if (c->order == (uint8_t)g->by)
        return true;
    return g->columns >= c->from && (!c->delay || g->totals.delay_ns > 0);
}

static uint32_t chroprof__columns_width(const chroprof__page *g)
{
    uint32_t i;
    uint32_t width = 0;
    for (i = 0; i < CHROPROF__COLUMN_COUNT; i++)
        if (chroprof__column_shown(g, &chroprof__rank_columns[i]))
            width += chroprof__rank_columns[i].width;
    return width;
}

/* Names get what the numbers leave, the place in the source what the names leave. A few very long
 * names are cut for its sake. */
static void chroprof__ranking_layout(const chroprof__page *g, chroprof__ranking *r)
{
    uint32_t name = 11;
    uint32_t location = 0;
    uint32_t cut = 0;
    uint32_t room;
    uint32_t i;
    r->bar = chroprof__bar_width(g);
    r->numbers_at = g->columns - chroprof__columns_width(g) - 7 - (r->bar > 0 ? r->bar + 2 : 0);
    for (i = 0; i < r->count; i++) {
        uint32_t wide = chroprof__width_of(r->rows[i].name);
        uint32_t place = chroprof__location_width(r->rows[i].file, r->rows[i].line);
        name = wide > name ? wide : name;
        location = place > location ? place : location;
        cut += wide + 14 > r->numbers_at ? 1 : 0;
    }
    room = r->numbers_at > name + 2 ? r->numbers_at - name - 2 : 0;
    if (room < location && r->numbers_at >= 34)
        room = location + 22 < r->numbers_at ? location : r->numbers_at - 22;
    if (room < 12 && r->numbers_at >= 28 && (cut * 4 <= r->count || g->columns >= 120))
        room = 12;
    r->location_width = room < location ? room : location;
    if (room < location && room < 12)
        r->location_width = 0;
    r->name_width = r->numbers_at - (r->location_width > 0 ? r->location_width + 2 : 0);
    r->name_width = name < r->name_width ? name : r->name_width;
}

static void chroprof__ranking_read(const chroprof__page *g, chroprof__ranking *r)
{
    uint32_t i;
    r->all = (uint32_t)chroprof_ranks(g->p, r->rows, g->top, g->by);
    r->count = r->all < g->top ? r->all : g->top;
    r->shown_ns = 0;
    r->longest_ns = 0;
    for (i = 0; i < r->count; i++) {
        r->shown_ns += r->rows[i].exec_ns;
        if (r->rows[i].exec_ns > r->longest_ns)
            r->longest_ns = r->rows[i].exec_ns;
    }
    chroprof__ranking_layout(g, r);
}

static void chroprof__rank_header(chroprof__page *g, const chroprof__ranking *r, bool above)
{
    uint32_t i;
    chroprof__style(g, CHROPROF__DIM);
    if (!above)
        chroprof__show(g, "site");
    chroprof__blank_to(g, r->numbers_at);
    chroprof__show_right(g, above ? "of" : "busy", 7);
    if (r->bar > 0)
        g->blanks += r->bar + 2;
    for (i = 0; i < CHROPROF__COLUMN_COUNT; i++) {
        const chroprof__column *c = &chroprof__rank_columns[i];
        if (chroprof__column_shown(g, c))
            chroprof__show_right(g, above ? c->above : c->label, c->width);
    }
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__rank_cell(chroprof__page *g, const chroprof__column *c,
                                const chroprof_rank *row)
{
    uint64_t value;
    memcpy(&value, (const char *)row + c->offset, sizeof value);
    if (c->offset == offsetof(chroprof_rank, slice_p99_ns) && !row->has_percentiles)
        chroprof__show_right(g, "-", c->width);
    else if (c->time)
        chroprof__show_time(g, value, c->width);
    else
        chroprof__show_count(g, value, c->width);
}

static void chroprof__rank_row(chroprof__page *g, const chroprof__ranking *r,
                               const chroprof_rank *row)
{
    uint32_t i;
    chroprof__show_name(g, row->name, r->name_width);
    if (r->location_width > 0) {
        chroprof__blank_to(g, r->name_width + 2);
        chroprof__show_location(g, row->file, row->line, r->location_width);
    }
    chroprof__blank_to(g, r->numbers_at);
    chroprof__show_heat(g, row->exec_ns, g->totals.busy_ns, r->longest_ns, r->bar);
    for (i = 0; i < CHROPROF__COLUMN_COUNT; i++)
        if (chroprof__column_shown(g, &chroprof__rank_columns[i]))
            chroprof__rank_cell(g, &chroprof__rank_columns[i], row);
    chroprof__newline(g);
}

/* What is busy but in none of the rows above: with it they add up to 100 %. */
static void chroprof__rank_rest(chroprof__page *g, const chroprof__ranking *r, uint64_t ns)
{
    chroprof__blank_to(g, r->numbers_at);
    chroprof__show_share(g, ns, g->totals.busy_ns, 7);
    g->blanks += r->bar > 0 ? r->bar + 2 : 0;
    chroprof__show_time(g, ns, 8);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__rank_rests(chroprof__page *g, const chroprof__ranking *r)
{
    uint64_t untracked = g->totals.untracked_ns;
    uint64_t sites = g->totals.busy_ns - untracked;
    if (r->all > r->count) {
        chroprof__style(g, CHROPROF__DIM);
        chroprof__show_count(g, r->all - r->count, 0);
        chroprof__show(g, " more");
        chroprof__rank_rest(g, r, sites > r->shown_ns ? sites - r->shown_ns : 0);
    }
    if (untracked > 0) {
        chroprof__style(g, CHROPROF__DIM);
        chroprof__show(g, "(untracked)");
        chroprof__rank_rest(g, r, untracked);
    }
}

CHROPROF__NOINLINE void chroprof__text_sites(chroprof__page *g)
{
    chroprof__ranking r;
    uint32_t i;
    chroprof__ranking_read(g, &r);
    chroprof__heading(g, "SITES");
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show(g, r.all > 0 ? "by " : "none was used yet");
    if (r.all > 0)
        chroprof__show(g, chroprof__order_names[g->by]);
    if (r.all > 0)
        chroprof__rank_header(g, &r, true);
    else
        chroprof__newline(g);
    if (r.all > 0)
        chroprof__rank_header(g, &r, false);
    chroprof__style(g, CHROPROF__PLAIN);
    for (i = 0; i < r.count; i++)
        chroprof__rank_row(g, &r, &r.rows[i]);
    chroprof__rank_rests(g, &r);
}

/* >>text paths */

#define CHROPROF__TWIGS 24

/* The hottest paths with all their ancestors: a path never has less time with children than one
 * below it, so the largest ones always form a tree. */
typedef struct chroprof__twig {
    uint64_t with_children_ns;
    uint32_t id, parent;
    bool drawn;
} chroprof__twig;

typedef struct chroprof__tree {
    uint32_t count, all;
    uint32_t text_width, bar;
    uint64_t drawn_ns;
    uint32_t more;             /* bit d: another twig follows below the one drawn at depth d - 1 */
    chroprof__twig twigs[CHROPROF__TWIGS];
} chroprof__tree;

/* The smallest one, the last of equals, so that no twig loses its parent. */
static uint32_t chroprof__tree_least(const chroprof__tree *t)
{
    uint32_t least = 0;
    uint32_t i;
    for (i = 1; i < t->count; i++)
        if (t->twigs[i].with_children_ns <= t->twigs[least].with_children_ns)
            least = i;
    return least;
}

static void chroprof__tree_offer(chroprof__tree *t, const chroprof_path *path)
{
    chroprof__twig *twig;
    if (t->count == CHROPROF__TWIGS) {
        uint32_t least = chroprof__tree_least(t);
        if (path->with_children_ns <= t->twigs[least].with_children_ns)
            return;
        t->count--;
        memmove(t->twigs + least, t->twigs + least + 1, (t->count - least) * sizeof *t->twigs);
    }
    twig = &t->twigs[t->count++];
    twig->with_children_ns = path->with_children_ns;
    twig->id = path->id;
    twig->parent = path->parent;
    twig->drawn = false;
}

static void chroprof__tree_read(const chroprof__page *g, chroprof__tree *t)
{
    uint64_t least_ns = g->totals.busy_ns / 100;
    uint32_t id = chroprof__path_next(g->p, 0);
    chroprof_path path;
    t->count = 0;
    t->all = 0;
    t->drawn_ns = 0;
    t->more = 0;
    for (; id != 0; id = chroprof__path_next(g->p, id)) {
        chroprof__read_path(g->p, id, &path);
        t->all++;
        if (path.with_children_ns > 0 && path.with_children_ns >= least_ns)
            chroprof__tree_offer(t, &path);
    }
}

/* The hottest twig below a parent that is not drawn yet; count if there is none. */
static uint32_t chroprof__tree_next(const chroprof__tree *t, uint32_t parent)
{
    uint32_t best = t->count;
    uint32_t i;
    for (i = 0; i < t->count; i++) {
        const chroprof__twig *w = &t->twigs[i];
        if (w->parent != parent || w->drawn)
            continue;
        if (best == t->count || w->with_children_ns > t->twigs[best].with_children_ns)
            best = i;
    }
    return best;
}

static uint32_t chroprof__tree_parent(const chroprof__tree *t, uint32_t id)
{
    uint32_t i = 0;
    while (t->twigs[i].id != id)            /* one that was drawn */
        i++;
    return t->twigs[i].parent;
}

/* The lines that lead to a twig. Of a very deep one the lines nearest the root are left out. */
static void chroprof__tree_lines(chroprof__page *g, const chroprof__tree *t, uint32_t depth)
{
    uint32_t most = (t->text_width - 16) / 3;
    uint32_t d = 1;
    chroprof__style(g, CHROPROF__DIM);
    if (depth > most) {
        d = depth - most + 2;
        chroprof__glyph(g, 0x2026, '~');
        g->blanks += 2;
    }
    for (; d < depth; d++) {
        if (t->more >> d & 1u)
            chroprof__glyph(g, 0x2502, '|');
        g->blanks += t->more >> d & 1u ? 2 : 3;
    }
    if (depth > 0) {
        bool more = (t->more >> depth & 1u) != 0;
        chroprof__glyph(g, more ? 0x251C : 0x2514, more ? '|' : '`');
        chroprof__glyph(g, 0x2500, '-');
        g->blanks++;
    }
    chroprof__style(g, CHROPROF__PLAIN);
}

static void chroprof__tree_figures(chroprof__page *g, const chroprof__tree *t,
                                   const chroprof_path *path)
{
    uint64_t busy = g->totals.busy_ns;
    chroprof__blank_to(g, t->text_width);
    chroprof__show_heat(g, path->with_children_ns, busy, busy, t->bar);
    chroprof__show_time(g, path->with_children_ns, 9);
    chroprof__show_time(g, path->exec_ns, 8);
    if (g->columns >= 72)
        chroprof__show_count(g, path->calls, 7);
    if (g->columns >= 120) {
        chroprof__show_time(g, path->slice_max_ns, 8);
        chroprof__show_time(g, path->waiting_ns, 8);
    }
    chroprof__newline(g);
}

static void chroprof__tree_draw(chroprof__page *g, chroprof__tree *t, uint32_t twig, uint32_t depth)
{
    chroprof_path path;
    uint32_t room;
    t->twigs[twig].drawn = true;
    t->more &= ~(1u << depth);
    if (chroprof__tree_next(t, t->twigs[twig].parent) < t->count)
        t->more |= 1u << depth;
    chroprof__read_path(g->p, t->twigs[twig].id, &path);
    t->drawn_ns += path.exec_ns;
    chroprof__tree_lines(g, t, depth);
    chroprof__show_name(g, path.name, t->text_width - g->column - g->blanks);
    room = t->text_width - g->column - g->blanks;
    if (room >= chroprof__location_width(path.file, path.line) + 2) {
        g->blanks += 2;
        chroprof__show_location(g, path.file, path.line, room - 2);
    }
    chroprof__tree_figures(g, t, &path);
}

static void chroprof__tree_header(chroprof__page *g, const chroprof__tree *t)
{
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show(g, "who created whom");
    chroprof__blank_to(g, t->text_width);
    chroprof__show_right(g, "of busy", 7);
    if (t->bar > 0)
        g->blanks += t->bar + 2;
    chroprof__show_right(g, "with ch.", 9);
    chroprof__show_right(g, "exec", 8);
    if (g->columns >= 72)
        chroprof__show_right(g, "calls", 7);
    if (g->columns >= 120) {
        chroprof__show_right(g, "max", 8);
        chroprof__show_right(g, "waiting", 8);
    }
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__tree_rest(chroprof__page *g, const chroprof__tree *t)
{
    uint64_t tracked = g->totals.busy_ns - g->totals.untracked_ns;
    uint64_t rest = tracked > t->drawn_ns ? tracked - t->drawn_ns : 0;
    if (t->all == t->count)
        return;
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_count(g, t->all - t->count, 0);
    chroprof__show(g, t->all - t->count == 1 ? " more path" : " more paths");
    chroprof__blank_to(g, t->text_width);
    chroprof__show_share(g, rest, g->totals.busy_ns, 7);
    if (t->bar > 0) {
        g->blanks += 2;
        chroprof__show_bar(g, rest, g->totals.busy_ns, t->bar);
    }
    chroprof__show_right(g, "", 9);
    chroprof__show_time(g, rest, 8);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__text_paths(chroprof__page *g)
{
    chroprof__tree t;
    uint32_t parent = 0;
    uint32_t depth = 0;
    chroprof__tree_read(g, &t);
    if (t.count == 0)
        return;
    t.bar = chroprof__bar_width(g);
    t.text_width = g->columns - 24 - (t.bar > 0 ? t.bar + 2 : 0) - (g->columns >= 72 ? 7 : 0)
                 - (g->columns >= 120 ? 16 : 0);
    chroprof__heading(g, "PATHS");
    chroprof__tree_header(g, &t);
    while (depth > 0 || chroprof__tree_next(&t, parent) < t.count) {
        uint32_t twig = chroprof__tree_next(&t, parent);
        if (twig < t.count) {
            chroprof__tree_draw(g, &t, twig, depth++);
            parent = t.twigs[twig].id;
        } else {
            parent = chroprof__tree_parent(&t, parent);
            depth--;
        }
    }
    chroprof__tree_rest(g, &t);
}

/* >>text stalls */

#define CHROPROF__TEXT_STALLS 8

static bool chroprof__same_place(const chroprof_stall_slice *a, const chroprof_stall_slice *b)
{
    return a->line == b->line
        && strcmp(a->name, b->name) == 0
        && strcmp(a->file, b->file) == 0;
}

/* Slices of one site count as one. */
static void chroprof__stall_merge(chroprof_stall *s)
{
    uint32_t kept = 0;
    uint32_t i;
    for (i = 0; i < s->slice_count; i++) {
        uint32_t k = 0;
        while (k < kept && !chroprof__same_place(&s->slices[k], &s->slices[i]))
            k++;
        if (k < kept)
            s->slices[k].exec_ns += s->slices[i].exec_ns;
        else
            s->slices[kept++] = s->slices[i];
    }
    s->slice_count = kept;
}

static void chroprof__stall_piece(chroprof__page *g, const char *name, uint64_t part,
                                  uint64_t whole, bool first)
{
    chroprof__cell share;
    uint32_t used = g->column + g->blanks + (first ? 0 : 2);
    uint32_t room = g->columns > used ? g->columns - used : 0;
    share.count = 0;
    chroprof__cell_share(&share, part, whole, 0);
    if (room < share.count + 9 || (!first && room < chroprof__width_of(name) + share.count + 1))
        return;
    room -= share.count + 1;
    chroprof__show(g, first ? "" : ", ");
    chroprof__show_name(g, name, room < 32 ? room : 32);
    chroprof__show(g, " ");
    chroprof__show_cell(g, &share, 0);
}

static void chroprof__stall_pieces(chroprof__page *g, const chroprof_stall *s)
{
    uint64_t rest = s->length_ns;
    uint32_t i;
    for (i = 0; i < s->slice_count; i++) {
        const chroprof_stall_slice *slice = &s->slices[i];
        const char *name = slice->path == 2 ? "(untracked)" : slice->name;
        chroprof__stall_piece(g, name, slice->exec_ns, s->length_ns, i == 0);
        rest -= slice->exec_ns < rest ? slice->exec_ns : rest;
    }
    if (rest > s->length_ns / 100)
        chroprof__stall_piece(g, "the rest", rest, s->length_ns, s->slice_count == 0);
}

static void chroprof__stall_row(chroprof__page *g, const chroprof_stall *s)
{
    chroprof__cell start;
    start.count = 0;
    chroprof__cell_moment(&start, s->start_ns);
    chroprof__style(g, CHROPROF__BOLD);
    chroprof__show_time(g, s->length_ns, 7);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__show(g, s->kind == CHROPROF_STALL_TURN ? "  turn" : "  pass");
    chroprof__show_cell(g, &start, 13);
    chroprof__show_count(g, s->events, 8);
    g->blanks += 2;
    chroprof__stall_pieces(g, s);
    chroprof__newline(g);
}

/* The functions that have a name, innermost first, as many as fit. */
static void chroprof__stack_names(chroprof__page *g, uint32_t stack)
{
    chroprof_stack_frame f;
    uint32_t shown = 0;
    for (; stack != 0 && shown < 4; stack = chroprof__nodes(g->p->core)[stack].parent) {
        chroprof__read_node(g->p, stack, &f);
        if (f.kind == CHROPROF_FRAME_TASK || *f.name == 0)
            continue;
        chroprof__show(g, shown++ > 0 ? " < " : "");
        if (g->column + g->blanks < g->columns)
            chroprof__show_name(g, f.name, g->columns - g->column - g->blanks);
    }
    if (shown == 0)
        chroprof__show_styled(g, CHROPROF__DIM, "(no function that the dynamic linker knows)");
}

/* Where a stall was met; of a view the command names the functions. */
static void chroprof__stall_places(chroprof__page *g, const chroprof_stall *s)
{
    uint32_t i;
    if (s->cpu_ns + s->waiting_ns > 0) {
        g->blanks += 9;
        chroprof__show_share(g, s->cpu_ns, s->length_ns, 0);
        chroprof__show(g, " CPU, ");
        chroprof__show_share(g, s->waiting_ns, s->length_ns, 0);
        chroprof__show(g, " waiting or preempted");
        chroprof__newline(g);
    }
    for (i = 0; i < s->sample_count && i < 2 && !g->p->view; i++) {
        g->blanks += 9;
        chroprof__show_share(g, s->samples[i].weight, s->sampled, 0);
        chroprof__show(g, " in ");
        chroprof__stack_names(g, s->samples[i].stack);
        chroprof__newline(g);
    }
}

/* The longest stalls that were kept, longest first, each by the serial before it. */
static uint32_t chroprof__stalls_pick(const chroprof__page *g, uint64_t *picked)
{
    uint64_t lengths[CHROPROF__TEXT_STALLS];
    uint64_t serial = 0;
    uint64_t before = 0;
    uint32_t count = 0;
    chroprof_stall stall;
    for (; chroprof__read_stall(g->p, &serial, &stall); before = serial) {
        uint32_t at = count;
        if (count < CHROPROF__TEXT_STALLS)
            count++;
        else if (stall.length_ns <= lengths[--at])
            continue;
        for (; at > 0 && lengths[at - 1] < stall.length_ns; at--) {
            lengths[at] = lengths[at - 1];
            picked[at] = picked[at - 1];
        }
        lengths[at] = stall.length_ns;
        picked[at] = before;
    }
    return count;
}

static void chroprof__text_stalls(chroprof__page *g)
{
    uint64_t picked[CHROPROF__TEXT_STALLS];
    uint32_t count = chroprof__stalls_pick(g, picked);
    chroprof_stall stall;
    uint32_t i;
    if (count == 0)
        return;
    chroprof__heading(g, "STALLS");
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_count(g, g->totals.stalls, 0);
    chroprof__show(g, g->totals.stalls == 1 ? " turn or pass" : " turns and passes");
    chroprof__show(g, " longer than ");
    chroprof__show_time(g, g->p->core->stall_ns, 0);
    chroprof__show(g, g->totals.stalls > count ? ", the longest:" : "");
    chroprof__newline(g);
    chroprof__show(g, " length  kind           at  events  biggest slices");
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
    memset(&stall, 0, sizeof(stall));
    for (i = 0; i < count; i++) {
        (void)chroprof__read_stall(g->p, &picked[i], &stall);
        chroprof__stall_merge(&stall);
        chroprof__stall_row(g, &stall);
        chroprof__stall_places(g, &stall);
    }
}

/* >>text samples */

enum { CHROPROF__CODE_GROUPS = 96, CHROPROF__CODE_ROWS = 12 };

/* A function under a task. Two of one name lie at one address; without a name the module stands
 * for it. */
typedef struct chroprof__code_group {
    uint64_t weight;
    uint32_t task;             /* path, 0: none */
    const char *name;
    bool bare;
} chroprof__code_group;

static void chroprof__code_of(const chroprof *p, uint32_t stack, chroprof__code_group *out)
{
    const chroprof__node *nodes = chroprof__nodes(p->core);
    chroprof_stack_frame f;
    chroprof__read_node(p, stack, &f);
    out->weight = nodes[stack].weight;
    out->bare = f.kind == CHROPROF_FRAME_NATIVE && *f.name == 0;
    out->name = out->bare ? f.module : f.kind == CHROPROF_FRAME_TASK ? "(itself)" : f.name;
    out->task = 0;
    for (; stack != 0 && out->task == 0; stack = nodes[stack].parent)
        if (chroprof__item_kind(nodes[stack].item) == CHROPROF__TASK)
            out->task = (uint32_t)chroprof__item_value(nodes[stack].item);
}

/* The heaviest groups, heaviest first; more than there is room for are left out of the list. */
static uint32_t chroprof__code_groups(const chroprof *p, chroprof__code_group *groups)
{
    chroprof__code_group one;
    uint32_t count = 0;
    uint32_t k;
    uint32_t i;
    for (k = 1; k <= p->core->tables[CHROPROF__STACKS].used; k++) {
        if (chroprof__nodes(p->core)[k].weight == 0)
            continue;
        chroprof__code_of(p, k, &one);
        for (i = 0; i < count && (groups[i].task != one.task || groups[i].name != one.name);)
            i++;
        if (i < count)
            one.weight += groups[i].weight;
        else if (count == CHROPROF__CODE_GROUPS)
            i = count - 1;
        else
            count++;
        for (; i > 0 && groups[i - 1].weight < one.weight; i--)
            groups[i] = groups[i - 1];
        groups[i] = one;
    }
    return count;
}

static void chroprof__code_row(chroprof__page *g, const chroprof__code_group *c, uint64_t whole)
{
    const char *task = "(no task)";
    const char *file;
    uint32_t line;
    uint32_t wide = g->columns / 3;
    if (c->task != 0)
        chroprof__read_site_name(g->p, g->p->paths[c->task].site, &task, &file, &line);
    chroprof__show_share(g, c->weight, whole, 7);
    g->blanks += 2;
    chroprof__show_name(g, task, wide);
    chroprof__blank_to(g, 11 + wide);
    chroprof__show(g, c->bare ? "in " : "");
    const char *name = c->bare && *c->name == 0 ? "(unknown code)" : c->name;
    chroprof__show_name(g, c->bare ? chroprof__base_name(name) : name, g->columns - wide - 16);
    chroprof__newline(g);
}

/* Profile time that the samples cover, of which there are some: beyond the last event where a
 * program hangs. */
static uint64_t chroprof__sampled_ns(const chroprof__page *g)
{
    const chroprof__core *c = g->p->core;
    uint64_t latest = chroprof__ns(c, chroprof__sampler_of(c)->latest);
    return latest > g->totals.elapsed_ns ? latest : g->totals.elapsed_ns;
}

static void chroprof__samples_head(chroprof__page *g, const chroprof_sampler_totals *t)
{
    chroprof__heading(g, "SAMPLES");
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_count(g, t->samples, 0);
    if (t->first_period_ns > 0) {
        chroprof__show(g, ", one in ");
        chroprof__show_time(g, t->period_ns, 0);
        chroprof__show(g, t->mode == CHROPROF_SAMPLER_WALL ? "" : " of CPU time");
        chroprof__show(g, "; cost ");
        chroprof__show_time(g, t->cost_ns, 0);
        chroprof__show(g, ", ");
        chroprof__show_share(g, t->cost_ns, chroprof__sampled_ns(g), 0);
    }
    if (t->inside > 0) {
        chroprof__show(g, "; ");
        chroprof__show_count(g, t->inside, 0);
        chroprof__show(g, " inside chroprof");
    }
    if (t->lost > 0) {
        chroprof__show(g, ", ");
        chroprof__show_count(g, t->lost, 0);
        chroprof__show(g, " lost");
    }
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

/* Functions are named in their own process only: the command has more to name those of a view. */
static void chroprof__text_samples(chroprof__page *g)
{
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    chroprof_sampler_totals t;
    uint32_t count;
    uint32_t i;
    chroprof_read_sampler(g->p, &t);
    if (t.samples == 0)
        return;
    chroprof__samples_head(g, &t);
    if (g->p->view)
        return;
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show(g, "  share  task");
    chroprof__blank_to(g, 11 + g->columns / 3);
    chroprof__show(g, "function");
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
    count = chroprof__code_groups(g->p, groups);
    for (i = 0; i < count && i < CHROPROF__CODE_ROWS; i++)
        chroprof__code_row(g, &groups[i], t.samples);
}

/* >>text time series */

#define CHROPROF__SERIES 6
#define CHROPROF__STRIP 168

/* Row 0 is all that is busy, the others are the sites with the most exec time. */
typedef struct chroprof__series {
    uint32_t rows, width, label_width;
    uint64_t span_ns;
    uint32_t full;             /* what a full block stands for, in thousandths of the time */
    chroprof_rank sites[CHROPROF__SERIES - 1];
    uint64_t cells[CHROPROF__SERIES][CHROPROF__STRIP];
} chroprof__series;

static uint64_t chroprof__series_border(const chroprof__series *s, uint32_t cell)
{
    return chroprof__ratio(cell, s->span_ns, s->width);
}

/* Spreads what a window holds over the columns that it overlaps. */
static void chroprof__series_add(chroprof__series *s, uint32_t row, const chroprof_window *w,
                                 uint64_t value)
{
    uint32_t cell = (uint32_t)chroprof__ratio(w->start_ns, s->width, s->span_ns);
    for (; cell < s->width && value > 0; cell++) {
        uint64_t from = chroprof__series_border(s, cell);
        uint64_t to = chroprof__series_border(s, cell + 1);
        if (from >= w->end_ns)
            break;
        from = from > w->start_ns ? from : w->start_ns;
        to = to < w->end_ns ? to : w->end_ns;
        if (from < to)
            s->cells[row][cell] += chroprof__ratio(to - from, value, w->end_ns - w->start_ns);
    }
}

static uint32_t chroprof__series_level(const chroprof__series *s, uint32_t row, uint32_t cell)
{
    uint64_t length = chroprof__series_border(s, cell + 1) - chroprof__series_border(s, cell);
    return (uint32_t)chroprof__ratio(s->cells[row][cell], 1000, length);
}

static uint32_t chroprof__series_peak(const chroprof__series *s, uint32_t row)
{
    uint32_t peak = 0;
    uint32_t i;
    for (i = 0; i < s->width; i++) {
        uint32_t level = chroprof__series_level(s, row, i);
        peak = level > peak ? level : peak;
    }
    return peak;
}

/* One scale for all rows, so that they compare: the next round share above the highest one. */
static uint32_t chroprof__series_full(uint32_t peak)
{
    static const uint32_t steps[] = { 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000 };
    uint32_t i = 0;
    while (i < 10 && steps[i] < peak)
        i++;
    return steps[i];
}

static void chroprof__series_span(const chroprof__page *g, chroprof__series *s, uint32_t first,
                                  uint32_t count)
{
    chroprof_window w[CHROPROF__SPAN];
    chroprof__span span;
    uint32_t row;
    uint32_t k;
    chroprof__read_windows(g->p, first, count, w);
    for (row = 0; row < s->rows; row++) {
        if (row > 0)
            chroprof__read_span(g->p, s->sites[row - 1].id, first, &span);
        for (k = 0; k < count; k++)
            chroprof__series_add(s, row, &w[k], row == 0 ? w[k].busy_ns : span.ns[k]);
    }
}

static void chroprof__series_read(const chroprof__page *g, chroprof__series *s)
{
    uint32_t count = chroprof__window_count(g->p);
    uint32_t i;
    memset(s->cells, 0, sizeof s->cells);
    s->span_ns = chroprof__ns(g->p->core, g->p->core->last);
    s->rows = (uint32_t)chroprof_ranks(g->p, s->sites, CHROPROF__SERIES - 1, CHROPROF_BY_EXEC) + 1;
    s->rows = s->rows < CHROPROF__SERIES ? s->rows : CHROPROF__SERIES;
    while (s->rows > 1 && s->sites[s->rows - 2].exec_ns == 0)
        s->rows--;
    for (i = 0; i < count && s->span_ns > 0; i += CHROPROF__SPAN)
        chroprof__series_span(g, s, i, chroprof__span_count(i, count));
    s->full = chroprof__series_full(chroprof__series_peak(s, 0));
}

static void chroprof__series_row(chroprof__page *g, const chroprof__series *s, uint32_t row)
{
    static const char marks[] = " .:-=+*#@";
    uint32_t i;
    const char *name = row == 0 ? "all busy" : s->sites[row - 1].name;
    uint64_t ns = row == 0 ? g->totals.busy_ns : s->sites[row - 1].exec_ns;
    chroprof__show_name(g, name, s->label_width);
    chroprof__blank_to(g, s->label_width + 2);
    for (i = 0; i < s->width; i++) {
        uint32_t level = (chroprof__series_level(s, row, i) * 8 + s->full - 1) / s->full;
        if (level == 0)
            g->blanks++;
        else
            chroprof__glyph(g, 0x2580 + (level < 8 ? level : 8), marks[level < 8 ? level : 8]);
    }
    chroprof__blank_to(g, s->label_width + 2 + s->width);
    chroprof__show_share(g, ns, g->totals.elapsed_ns, 7);
    chroprof__show_share(g, chroprof__series_peak(s, row), 1000, 7);
    chroprof__newline(g);
}

static void chroprof__series_axis(chroprof__page *g, const chroprof__series *s)
{
    uint32_t i;
    chroprof__cell middle;
    chroprof__cell end;
    middle.count = 0;
    end.count = 0;
    chroprof__cell_time(&middle, s->span_ns / 2);
    chroprof__cell_time(&end, s->span_ns);
    chroprof__style(g, CHROPROF__DIM);
    chroprof__blank_to(g, s->label_width + 2);
    for (i = 0; i < s->width; i++)
        chroprof__glyph(g, i == 0 ? 0x2514 : i + 1 == s->width ? 0x2518
                           : i == s->width / 2 ? 0x2534 : 0x2500,
                        i == 0 || i + 1 == s->width || i == s->width / 2 ? '+' : '-');
    chroprof__newline(g);
    chroprof__blank_to(g, s->label_width + 2);
    chroprof__show(g, "0");
    chroprof__blank_to(g, s->label_width + 2 + s->width / 2 - middle.count / 2);
    chroprof__show_cell(g, &middle, 0);
    chroprof__blank_to(g, s->label_width + 2 + s->width - end.count);
    chroprof__show_cell(g, &end, 0);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

static void chroprof__series_header(chroprof__page *g, const chroprof__series *s)
{
    chroprof__heading(g, "TIME");
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show(g, "share of the loop; a full block is ");
    chroprof__show_count(g, s->full / 10, 0);
    chroprof__show(g, "%");
    chroprof__blank_to(g, g->columns - 14);
    chroprof__show_right(g, "mean", 7);
    chroprof__show_right(g, "peak", 7);
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__newline(g);
}

CHROPROF__NOINLINE void chroprof__text_series(chroprof__page *g)
{
    chroprof__series s;
    uint32_t i;
    if (chroprof__window_count(g->p) < 2)
        return;
    s.label_width = g->columns < 80 ? 14 : g->columns < 120 ? 18 : 26;
    s.width = g->columns - s.label_width - 2 - 14;
    chroprof__series_read(g, &s);
    if (s.span_ns == 0)
        return;
    chroprof__series_header(g, &s);
    for (i = 0; i < s.rows; i++)
        chroprof__series_row(g, &s, i);
    chroprof__series_axis(g, &s);
}

/* >>text oddities */

static void chroprof__text_anomalies(chroprof__page *g)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t i;
    if (g->totals.anomalies == 0)
        return;
    chroprof__heading(g, "ANOMALIES");
    chroprof__show_styled(g, CHROPROF__DIM, "what the host did that was not in order");
    chroprof__newline(g);
    (void)chroprof_anomalies(g->p, rows, CHROPROF_ANOMALY_COUNT);
    for (i = 0; i < CHROPROF_ANOMALY_COUNT; i++) {
        if (rows[i].count == 0)
            continue;
        chroprof__show_count(g, rows[i].count, 7);
        g->blanks += 2;
        chroprof__show_name(g, rows[i].text, g->columns - 9);
        chroprof__newline(g);
    }
}

static void chroprof__table_row(chroprof__page *g, const chroprof_table *row)
{
    chroprof__cell advice;
    chroprof__show_count(g, row->dropped, 7);
    g->blanks += 2;
    chroprof__show(g, row->name);
    chroprof__blank_to(g, 21);
    chroprof__show_styled(g, CHROPROF__DIM, "at");
    chroprof__show_count(g, row->capacity, 7);
    if (row->advice > 0) {
        advice.count = 0;
        chroprof__cell_fixed(&advice, row->advice, 0, 1);
        chroprof__show(g, ": raise ");
        chroprof__show_styled(g, CHROPROF__BOLD, row->option);
        chroprof__show(g, " to ");
        chroprof__show_cell(g, &advice, 0);
    }
    chroprof__newline(g);
}

static void chroprof__text_tables(chroprof__page *g)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t i;
    if (g->totals.dropped == 0)
        return;
    chroprof__heading(g, "FULL TABLES");
    chroprof__show_styled(g, CHROPROF__DIM, "no time is lost, only detail");
    chroprof__newline(g);
    (void)chroprof_tables(g->p, rows, CHROPROF_TABLE_COUNT);
    for (i = 0; i < CHROPROF_TABLE_COUNT; i++)
        if (rows[i].dropped > 0)
            chroprof__table_row(g, &rows[i]);
}

static void chroprof__page_setup(chroprof__page *g, chroprof__out *o, const chroprof *p)
{
    memset(g, 0, sizeof *g);
    g->out = o;
    g->p = p;
    g->columns = 80;
    g->top = 20;
    g->by = CHROPROF_BY_EXEC;
    chroprof_read_totals(p, &g->totals);
    if (o->look == NULL)
        return;
    if (o->look->columns > 0)
        g->columns = o->look->columns < 60 ? 60 : o->look->columns > 200 ? 200 : o->look->columns;
    if (o->look->top > 0)
        g->top = o->look->top < CHROPROF__TEXT_ROWS ? o->look->top : CHROPROF__TEXT_ROWS;
    if ((unsigned)o->look->by <= (unsigned)CHROPROF_BY_CALLS)
        g->by = o->look->by;
    g->ascii = o->look->ascii;
    g->color = o->look->color;
}

CHROPROF__COLD void chroprof__write_as_text(chroprof__out *o, const chroprof *p)
{
    chroprof__page g;
    chroprof__page_setup(&g, o, p);
    chroprof__text_summary(&g);
    chroprof__text_sites(&g);
    chroprof__text_paths(&g);
    chroprof__text_stalls(&g);
    chroprof__text_samples(&g);
    chroprof__text_series(&g);
    chroprof__text_anomalies(&g);
    chroprof__text_tables(&g);
}
#endif /* CHROPROF_NO_TEXT */

#ifndef CHROPROF_NO_JSON
/* >>json
 * One row a line. Figures are listed by name and offset, so a struct and its JSON stay together.
 * The lists hold no pointers: they are constants in every kind of code. */

#define CHROPROF_JSON_VERSION 1

typedef struct chroprof__json {
    chroprof__out *out;
    const chroprof *p;
    bool comma;                /* something stands before the next key or row */
} chroprof__json;

typedef struct chroprof__figure {
    char name[22];
    uint16_t offset;
} chroprof__figure;

static void chroprof__json_key(chroprof__json *j, const char *name)
{
    chroprof__put_text(j->out, j->comma ? ",\"" : "\"");
    chroprof__put_text(j->out, name);
    chroprof__put_text(j->out, "\":");
    j->comma = true;
}

static void chroprof__json_u64(chroprof__json *j, const char *name, uint64_t value)
{
    chroprof__json_key(j, name);
    chroprof__put_u64(j->out, value);
}

static void chroprof__json_text(chroprof__json *j, const char *name, const char *text)
{
    chroprof__json_key(j, name);
    chroprof__put_json_text(j->out, text);
}

static void chroprof__json_bool(chroprof__json *j, const char *name, bool value)
{
    chroprof__json_key(j, name);
    chroprof__put_text(j->out, value ? "true" : "false");
}

/* Upper case, as in a list of names of the interface, to lower case. */
static void chroprof__json_lower(chroprof__json *j, const char *name, const char *upper)
{
    chroprof__json_key(j, name);
    chroprof__put_byte(j->out, '"');
    for (; *upper != 0; upper++)
        chroprof__put_byte(j->out, (char)(*upper != '_' ? *upper + 32 : '_'));
    chroprof__put_byte(j->out, '"');
}

static void chroprof__json_figures(chroprof__json *j, const void *row,
                                   const chroprof__figure *figures, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)row + figures[i].offset, sizeof value);
        chroprof__json_u64(j, figures[i].name, value);
    }
}

static void chroprof__json_place(chroprof__json *j, const char *name, const char *file,
                                 uint32_t line)
{
    chroprof__json_text(j, "name", name);
    chroprof__json_text(j, "file", file);
    chroprof__json_u64(j, "line", line);
}

/* A top-level key begins a line, and so does each row of its list. */
static void chroprof__json_top(chroprof__json *j, const char *name, const char *opening)
{
    chroprof__put_text(j->out, ",\n");
    j->comma = false;
    chroprof__json_key(j, name);
    chroprof__put_text(j->out, opening);
    j->comma = false;
}

static void chroprof__json_row(chroprof__json *j)
{
    chroprof__put_text(j->out, j->comma ? ",\n{" : "\n{");
    j->comma = false;
}

static void chroprof__json_end(chroprof__json *j, const char *closing)
{
    chroprof__put_text(j->out, closing);
    j->comma = true;
}

#define CHROPROF__FIGURE(type, field) { #field, (uint16_t)offsetof(type, field) }
#define CHROPROF__FIGURES(list) list, sizeof list / sizeof *list

static void chroprof__json_totals(chroprof__json *j)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_totals, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(elapsed_ns), CHROPROF__F(busy_ns), CHROPROF__F(idle_ns), CHROPROF__F(loop_ns),
        CHROPROF__F(untracked_ns), CHROPROF__F(delay_ns), CHROPROF__F(blame_ns),
        CHROPROF__F(events), CHROPROF__F(anomalies), CHROPROF__F(live), CHROPROF__F(passes),
        CHROPROF__F(pass_p50_ns), CHROPROF__F(pass_p99_ns), CHROPROF__F(pass_max_ns),
        CHROPROF__F(turns), CHROPROF__F(turn_p50_ns), CHROPROF__F(turn_p99_ns),
        CHROPROF__F(turn_max_ns), CHROPROF__F(stalls), CHROPROF__F(idle_blame_ns),
        CHROPROF__F(loop_blame_ns), CHROPROF__F(untracked_blame_ns), CHROPROF__F(dropped),
        CHROPROF__F(elapsed_ticks), CHROPROF__F(delay_ticks), CHROPROF__F(blame_ticks),
        CHROPROF__F(start_unix_ns), CHROPROF__F(tick_error_ppb), CHROPROF__F(skew_ns),
        CHROPROF__F(skew_events), CHROPROF__F(doubt_ns), CHROPROF__F(doubt_events)
    };
#undef CHROPROF__F
    chroprof_totals t;
    chroprof_read_totals(j->p, &t);
    chroprof__json_top(j, "totals", "{");
    chroprof__json_figures(j, &t, CHROPROF__FIGURES(figures));
    chroprof__json_bool(j, "provisional", t.provisional);
    chroprof__json_bool(j, "enabled", t.enabled);
    chroprof__json_bool(j, "idle", t.idle);
    chroprof__json_u64(j, "depth", t.depth);
    chroprof__json_end(j, "}");
}

static void chroprof__json_site_windows(chroprof__json *j, uint32_t site)
{
    uint32_t count = chroprof__window_count(j->p);
    chroprof__span s;
    uint32_t i;
    chroprof__json_key(j, "windows");
    for (i = 0; i < count && !j->out->failed; i++) {
        if (i % CHROPROF__SPAN == 0)
            chroprof__read_span(j->p, site, i, &s);
        chroprof__put_byte(j->out, i == 0 ? '[' : ',');
        chroprof__put_u64(j->out, s.ns[i % CHROPROF__SPAN]);
    }
    chroprof__put_byte(j->out, ']');
}

static void chroprof__json_site(chroprof__json *j, uint32_t site)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_rank, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(exec_ns), CHROPROF__F(children_ns), CHROPROF__F(with_children_ns),
        CHROPROF__F(exec_max_ns), CHROPROF__F(slice_max_ns), CHROPROF__F(slice_p50_ns),
        CHROPROF__F(slice_p90_ns), CHROPROF__F(slice_p99_ns), CHROPROF__F(slice_p999_ns),
        CHROPROF__F(slices), CHROPROF__F(wall_ns), CHROPROF__F(waiting_ns), CHROPROF__F(delay_ns),
        CHROPROF__F(delay_p99_ns), CHROPROF__F(blame_ns), CHROPROF__F(calls),
        CHROPROF__F(completed), CHROPROF__F(failed), CHROPROF__F(cancelled),
        CHROPROF__F(abandoned), CHROPROF__F(live), CHROPROF__F(stillborn)
    };
#undef CHROPROF__F
    chroprof_rank r;
    chroprof__read_site(j->p, site, &r);
    chroprof__json_row(j);
    chroprof__json_u64(j, "id", site);
    chroprof__json_place(j, r.name, r.file, r.line);
    chroprof__json_figures(j, &r, CHROPROF__FIGURES(figures));
    chroprof__json_bool(j, "has_percentiles", r.has_percentiles);
    chroprof__json_site_windows(j, site);
    chroprof__json_end(j, "}");
}

static void chroprof__json_sites(chroprof__json *j)
{
    uint32_t count = chroprof__site_count(j->p);
    uint32_t i;
    chroprof__json_top(j, "sites", "[");
    for (i = 0; i < count && !j->out->failed; i++)
        if (chroprof__site_used(j->p, i))
            chroprof__json_site(j, i);
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_path(chroprof__json *j, uint32_t id)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_path, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(exec_ns), CHROPROF__F(with_children_ns), CHROPROF__F(exec_max_ns),
        CHROPROF__F(slice_max_ns), CHROPROF__F(slices), CHROPROF__F(wall_ns),
        CHROPROF__F(waiting_ns), CHROPROF__F(delay_ns), CHROPROF__F(blame_ns), CHROPROF__F(calls),
        CHROPROF__F(completed), CHROPROF__F(failed), CHROPROF__F(cancelled),
        CHROPROF__F(abandoned), CHROPROF__F(live), CHROPROF__F(stillborn)
    };
#undef CHROPROF__F
    chroprof_path path;
    chroprof__read_path(j->p, id, &path);
    chroprof__json_row(j);
    chroprof__json_u64(j, "id", path.id);
    chroprof__json_u64(j, "parent", path.parent);
    chroprof__json_u64(j, "site", path.site);
    chroprof__json_place(j, path.name, path.file, path.line);
    chroprof__json_figures(j, &path, CHROPROF__FIGURES(figures));
    chroprof__json_end(j, "}");
}

static void chroprof__json_paths(chroprof__json *j)
{
    uint32_t id = chroprof__path_next(j->p, 0);
    chroprof__json_top(j, "paths", "[");
    for (; id != 0 && !j->out->failed; id = chroprof__path_next(j->p, id))
        chroprof__json_path(j, id);
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_slice(chroprof__json *j, const chroprof_stall_slice *s)
{
    chroprof__put_text(j->out, j->comma ? ",{" : "{");
    j->comma = false;
    chroprof__json_u64(j, "id", s->id);
    chroprof__json_u64(j, "exec_ns", s->exec_ns);
    chroprof__json_u64(j, "path", s->path);
    chroprof__json_place(j, s->name, s->file, s->line);
    chroprof__json_end(j, "}");
}

static void chroprof__json_hits(chroprof__json *j, const chroprof_stall *s)
{
    uint32_t i;
    chroprof__json_key(j, "samples");
    chroprof__json_end(j, "[");
    j->comma = false;
    for (i = 0; i < s->sample_count; i++) {
        chroprof__put_text(j->out, i == 0 ? "{" : ",{");
        j->comma = false;
        chroprof__json_u64(j, "stack", s->samples[i].stack);
        chroprof__json_u64(j, "weight", s->samples[i].weight);
        chroprof__json_u64(j, "cpu_ns", s->samples[i].cpu_ns);
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "]");
    chroprof__json_u64(j, "sampled", s->sampled);
    chroprof__json_u64(j, "cpu_ns", s->cpu_ns);
    chroprof__json_u64(j, "waiting_ns", s->waiting_ns);
}

static void chroprof__json_stall(chroprof__json *j, const chroprof_stall *s)
{
    uint32_t i;
    chroprof__json_row(j);
    chroprof__json_text(j, "kind", s->kind == CHROPROF_STALL_TURN ? "turn" : "pass");
    chroprof__json_u64(j, "start_ns", s->start_ns);
    chroprof__json_u64(j, "length_ns", s->length_ns);
    chroprof__json_u64(j, "events", s->events);
    chroprof__json_key(j, "slices");
    chroprof__put_byte(j->out, '[');
    j->comma = false;
    for (i = 0; i < s->slice_count; i++)
        chroprof__json_slice(j, &s->slices[i]);
    chroprof__json_end(j, "]");
    chroprof__json_hits(j, s);
    chroprof__json_end(j, "}");
}

static void chroprof__json_stalls(chroprof__json *j)
{
    uint64_t serial = 0;
    chroprof_stall stall;
    chroprof__json_top(j, "stalls", "[");
    while (!j->out->failed && chroprof__read_stall(j->p, &serial, &stall))
        chroprof__json_stall(j, &stall);
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_windows(chroprof__json *j)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_window, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(start_ns), CHROPROF__F(end_ns), CHROPROF__F(busy_ns), CHROPROF__F(idle_ns),
        CHROPROF__F(loop_ns), CHROPROF__F(untracked_ns)
    };
#undef CHROPROF__F
    uint32_t count = chroprof__window_count(j->p);
    chroprof_window w[CHROPROF__SPAN];
    uint32_t i;
    chroprof__json_top(j, "windows", "[");
    for (i = 0; i < count && !j->out->failed; i++) {
        if (i % CHROPROF__SPAN == 0)
            chroprof__read_windows(j->p, i, chroprof__span_count(i, count), w);
        chroprof__json_row(j);
        chroprof__json_figures(j, &w[i % CHROPROF__SPAN], CHROPROF__FIGURES(figures));
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_futures(chroprof__json *j)
{
    static const char states[4][8] = { "pending", "ready", "running", "paused" };
    uint32_t cursor = 0;
    chroprof_future f;
    chroprof__json_top(j, "futures", "[");
    while (!j->out->failed && chroprof__read_future(j->p, &cursor, &f)) {
        chroprof__json_row(j);
        chroprof__json_u64(j, "id", f.id);
        chroprof__json_u64(j, "path", f.path);
        chroprof__json_text(j, "state", states[(unsigned)f.state & 3u]);
        chroprof__json_u64(j, "since_ns", f.since_ns);
        chroprof__json_u64(j, "exec_ns", f.exec_ns);
        chroprof__json_place(j, f.name, f.file, f.line);
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_tables(chroprof__json *j)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_table, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(capacity), CHROPROF__F(used), CHROPROF__F(peak), CHROPROF__F(dropped),
        CHROPROF__F(advice), CHROPROF__F(bytes)
    };
#undef CHROPROF__F
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t i, count = chroprof_tables(j->p, rows, CHROPROF_TABLE_COUNT);
    chroprof__json_top(j, "tables", "[");
    for (i = 0; i < count; i++) {
        chroprof__json_row(j);
        chroprof__json_text(j, "name", rows[i].name);
        chroprof__json_text(j, "option", rows[i].option);
        chroprof__json_figures(j, &rows[i], CHROPROF__FIGURES(figures));
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_anomalies(chroprof__json *j)
{
#define CHROPROF__KIND(name, text) #name,
    static const char kinds[][32] = { CHROPROF_ANOMALIES(CHROPROF__KIND) };
#undef CHROPROF__KIND
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t i, count = chroprof_anomalies(j->p, rows, CHROPROF_ANOMALY_COUNT);
    chroprof__json_top(j, "anomalies", "[");
    for (i = 0; i < count; i++) {
        chroprof__json_row(j);
        chroprof__json_lower(j, "kind", kinds[i]);
        chroprof__json_u64(j, "count", rows[i].count);
        chroprof__json_text(j, "text", rows[i].text);
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_sampler(chroprof__json *j)
{
#define CHROPROF__F(field) CHROPROF__FIGURE(chroprof_sampler_totals, field)
    static const chroprof__figure figures[] = {
        CHROPROF__F(period_ns), CHROPROF__F(first_period_ns), CHROPROF__F(budget_ppm),
        CHROPROF__F(ticks), CHROPROF__F(samples), CHROPROF__F(rows), CHROPROF__F(inside),
        CHROPROF__F(lost), CHROPROF__F(dropped), CHROPROF__F(cost_ns), CHROPROF__F(draws),
        CHROPROF__F(misses)
    };
#undef CHROPROF__F
    chroprof_sampler_totals t;
    chroprof_read_sampler(j->p, &t);
    chroprof__json_top(j, "sampler", "{");
    chroprof__json_bool(j, "running", t.running);
    chroprof__json_text(j, "mode", t.first_period_ns == 0 ? "none"
                                 : t.mode == CHROPROF_SAMPLER_WALL ? "wall" : "cpu");
    chroprof__json_figures(j, &t, CHROPROF__FIGURES(figures));
    chroprof__json_end(j, "}");
}

#undef CHROPROF__FIGURE
#undef CHROPROF__FIGURES

static void chroprof__json_modules(chroprof__json *j)
{
    uint64_t k;
    chroprof__json_top(j, "modules", "[");
    for (k = 0; k < j->p->core->tables[CHROPROF__MODULES].used && !j->out->failed; k++) {
        const chroprof__module *m = chroprof__modules(j->p->core) + k;
        chroprof__json_row(j);
        chroprof__json_u64(j, "id", k);
        chroprof__json_text(j, "path", m->path);
        chroprof__json_text(j, "build_id", m->build_id);
        chroprof__json_u64(j, "base", m->base);
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_node(chroprof__json *j, uint32_t id)
{
    static const char kinds[][8] = { "task", "native", "marker" };
    const chroprof__node *node = chroprof__nodes(j->p->core) + id;
    chroprof_stack_frame f;
    chroprof__read_node(j->p, id, &f);
    chroprof__json_row(j);
    chroprof__json_u64(j, "id", id);
    chroprof__json_u64(j, "parent", node->parent);
    chroprof__json_text(j, "kind", kinds[f.kind]);
    chroprof__json_u64(j, "path", f.path);
    chroprof__json_key(j, "module");
    if (node->module)
        chroprof__put_u64(j->out, node->module - 1);
    else
        chroprof__put_text(j->out, "-1");
    chroprof__json_u64(j, "address", f.address);
    chroprof__json_bool(j, "return", f.is_return);
    chroprof__json_text(j, "name", f.name);
    chroprof__json_u64(j, "weight", node->weight);
    chroprof__json_u64(j, "cpu_ns", node->cpu_ns);
    chroprof__json_end(j, "}");
}

static void chroprof__json_stacks(chroprof__json *j)
{
    uint32_t k;
    chroprof__json_top(j, "stacks", "[");
    for (k = 1; k <= j->p->core->tables[CHROPROF__STACKS].used && !j->out->failed; k++)
        chroprof__json_node(j, k);
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_samples(chroprof__json *j)
{
    static const char states[][8] = { "busy", "idle", "loop" };
    chroprof_sample_row row;
    uint64_t k;
    chroprof__json_top(j, "samples", "[");
    for (k = 0; k < j->p->core->tables[CHROPROF_TABLE_SAMPLES].used && !j->out->failed; k++) {
        chroprof__read_sample(j->p, k, &row);
        chroprof__json_row(j);
        chroprof__json_u64(j, "at_ns", row.at_ns);
        chroprof__json_u64(j, "duration_ns", row.duration_ns);
        chroprof__json_u64(j, "weight", row.weight);
        chroprof__json_u64(j, "cpu_ns", row.cpu_ns);
        chroprof__json_u64(j, "stack", row.stack);
        chroprof__json_text(j, "state", states[row.state]);
        chroprof__json_end(j, "}");
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_wall(chroprof__json *j, uint32_t path, const char *state,
                                uint64_t weight, uint64_t met_ns)
{
    if (weight == 0)
        return;
    chroprof__json_row(j);
    chroprof__json_u64(j, "path", path);
    chroprof__json_text(j, "state", state);
    chroprof__json_u64(j, "weight", weight);
    chroprof__json_u64(j, "duration_ns", met_ns);
    chroprof__json_end(j, "}");
}

static void chroprof__json_walls(chroprof__json *j)
{
    chroprof_wall row;
    uint32_t k, count = chroprof__wall_count(j->p);
    chroprof__json_top(j, "wall", "[");
    for (k = CHROPROF__UNTRACKED; k < count && !j->out->failed; k++) {
        (void)chroprof__read_wall(j->p, k, &row);
        chroprof__json_wall(j, k, "running", row.running, row.running_ns);
        chroprof__json_wall(j, k, "ready", row.ready, row.ready_ns);
        chroprof__json_wall(j, k, "paused", row.paused, row.paused_ns);
    }
    chroprof__json_end(j, "\n]");
}

static void chroprof__json_head(chroprof__json *j)
{
    chroprof__put_text(j->out, "{\n");
    chroprof__json_u64(j, "chroprof", CHROPROF_JSON_VERSION);
    chroprof__put_text(j->out, ",\n");
    j->comma = false;
    chroprof__json_text(j, "version", CHROPROF_VERSION);
    chroprof__json_top(j, "name", "");
    chroprof__put_json_text(j->out, chroprof__name(j->p));
    chroprof__json_top(j, "options", "{");
    chroprof__json_u64(j, "window_ns", j->p->core->window_ns);
    chroprof__json_u64(j, "stall_ns", j->p->core->stall_ns);
    chroprof__json_u64(j, "max_step_ns", j->p->core->max_step_ns);
    chroprof__json_end(j, "}");
    chroprof__json_top(j, "event_cost_ps", "");
    chroprof__put_u64(j->out, chroprof__event_cost_ps(j->p));
}

CHROPROF__COLD void chroprof__write_as_json(chroprof__out *o, const chroprof *p)
{
    chroprof__json j;
    j.out = o;
    j.p = p;
    j.comma = false;
    chroprof__json_head(&j);
    chroprof__json_totals(&j);
    chroprof__json_sites(&j);
    chroprof__json_paths(&j);
    chroprof__json_stalls(&j);
    chroprof__json_windows(&j);
    chroprof__json_futures(&j);
    chroprof__json_tables(&j);
    chroprof__json_anomalies(&j);
    chroprof__json_sampler(&j);
    chroprof__json_modules(&j);
    chroprof__json_stacks(&j);
    chroprof__json_samples(&j);
    chroprof__json_walls(&j);
    chroprof__put_text(o, "\n}\n");
}
#endif /* CHROPROF_NO_JSON */

#ifndef CHROPROF_NO_FOLDED
/* >>folded
 * root;..;leaf INT, self time in microseconds. The format has no escapes, and some readers take
 * two numbers at the end of a line for two profiles: no frame ends in blank and digits. */

static uint32_t chroprof__path_parent(const chroprof *p, uint32_t path)
{
    return p->paths[path].parent;
}

static uint64_t chroprof__path_exec_ns(const chroprof *p, uint32_t path)
{
    return chroprof__ns(p->core, p->paths[path].exec);
}

static const char *chroprof__path_name(const chroprof *p, uint32_t path)
{
    const char *name;
    const char *file;
    uint32_t line;
    chroprof__read_site_name(p, p->paths[path].site, &name, &file, &line);
    return name;
}

/* Where the end of a name begins that holds nothing but blanks, digits and points. */
static const char *chroprof__folded_tail(const char *name)
{
    const char *tail = name;
    for (; *name != 0; name++) {
        unsigned char c = (unsigned char)*name;
        if (c > ' ' && c != 0x7F && c != '.' && (c < '0' || c > '9'))
            tail = name + 1;
    }
    return tail;
}

static void chroprof__folded_frame(chroprof__out *o, const char *name)
{
    const char *tail;
    if (*name == 0)
        name = "(empty)";
    tail = chroprof__folded_tail(name);
    while (*name != 0) {
        bool in_tail = name >= tail;
        uint32_t code = chroprof__next_code(&name);
        if (code <= ' ' || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029)
            chroprof__put_byte(o, in_tail ? '_' : ' ');
        else
            chroprof__put_code(o, code == ';' ? ':' : code);
    }
}

static void chroprof__folded_root(chroprof__out *o, const chroprof *p)
{
    const char *name = chroprof__name(p);
    chroprof__folded_frame(o, *name != 0 ? name : "loop");
}

static void chroprof__folded_value(chroprof__out *o, uint64_t us)
{
    chroprof__put_byte(o, ' ');
    chroprof__put_u64(o, us);
    chroprof__put_byte(o, '\n');
}

#define CHROPROF__CHAIN 64

/* Prints the last count frames of a chain, the one nearest the root first, though links only lead
 * towards the root: the chain is marked in at most 64 places and each part printed the same way.
 * So it takes count x log64(count) steps, and recurses at most 6 deep for any 32-bit count. */
static void chroprof__folded_chain(chroprof__out *o, const chroprof *p, uint32_t path,
                                   uint32_t count)
{
    uint32_t marks[CHROPROF__CHAIN] = { 0 };
    uint32_t step = (count - 1) / CHROPROF__CHAIN + 1;
    uint32_t last = (count - 1) / step;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (i % step == 0)
            marks[i / step] = path;
        path = chroprof__path_parent(p, path);
    }
    for (i = last + 1; i > 0 && !o->failed; i--) {
        if (step == 1) {
            chroprof__put_byte(o, ';');
            chroprof__folded_frame(o, chroprof__path_name(p, marks[i - 1]));
        } else {
            chroprof__folded_chain(o, p, marks[i - 1], i - 1 == last ? count - last * step : step);
        }
    }
}

static uint32_t chroprof__folded_depth(const chroprof *p, uint32_t path)
{
    uint32_t depth = 0;
    for (; path != 0; path = chroprof__path_parent(p, path))
        depth++;
    return depth;
}

static void chroprof__folded_other(chroprof__out *o, const chroprof *p, const char *name,
                                   uint64_t ns)
{
    if (ns < 1000)
        return;
    chroprof__folded_root(o, p);
    chroprof__put_text(o, name);
    chroprof__folded_value(o, ns / 1000);
}

CHROPROF__COLD void chroprof__write_as_folded(chroprof__out *o, const chroprof *p)
{
    uint32_t id = chroprof__path_next(p, 0);
    chroprof_totals t;
    for (; id != 0 && !o->failed; id = chroprof__path_next(p, id)) {
        uint64_t us = chroprof__path_exec_ns(p, id) / 1000;
        if (us == 0)
            continue;
        chroprof__folded_root(o, p);
        chroprof__folded_chain(o, p, id, chroprof__folded_depth(p, id));
        chroprof__folded_value(o, us);
    }
    chroprof_read_totals(p, &t);
    chroprof__folded_other(o, p, ";(loop)", t.loop_ns);
    chroprof__folded_other(o, p, ";(untracked)", t.untracked_ns);
    chroprof__folded_other(o, p, ";(idle)", t.idle_ns);
}
#endif /* CHROPROF_NO_FOLDED */

#if !defined(CHROPROF_NO_PROMETHEUS) || !defined(CHROPROF_NO_FIREFOX)
/* >>picks: decimals, and the sites with the largest of one figure, few enough for the stack. */

/* value / 10^places, all places shown; at most 9. */
static void chroprof__put_fixed(chroprof__out *o, uint64_t value, uint32_t places)
{
    static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
                                       100000000, 1000000000 };
    char digits[32];
    char *end = digits + sizeof(digits);
    char *point = end - places - 1;
    char *first = chroprof__digits_before(value % powers[places], end);
    while (first > point + 1)
        *--first = '0';
    *point = '.';
    first = chroprof__digits_before(value / powers[places], point);
    chroprof__put_bytes(o, first, (size_t)(end - first));
}

typedef struct chroprof__pick {
    uint64_t key;
    uint32_t site;
} chroprof__pick;

/* Puts a site among the limit largest, kept in falling order; of equal ones the older stays. */
static uint32_t chroprof__pick_add(chroprof__pick *picks, uint32_t count, uint32_t limit,
                                   uint64_t key, uint32_t site)
{
    uint32_t k = count < limit ? count : limit - 1;
    if (count == limit && picks[k].key >= key)
        return count;
    for (; k > 0 && picks[k - 1].key < key; k--)
        picks[k] = picks[k - 1];
    picks[k].key = key;
    picks[k].site = site;
    return count < limit ? count + 1 : limit;
}
#endif

#ifndef CHROPROF_NO_PROMETHEUS
/* >>prometheus
 * Text exposition 0.0.4. The lines of a metric stand together, so each metric is a walk over the
 * sites of its own. With a limit of series each metric shows the sites that lead in that very
 * metric: the sum of all but the k largest of several rising figures never falls, whoever changes
 * place, so "(other)" is a true counter as well. One choice for all metrics would not keep that. */

enum { CHROPROF__PROMETHEUS_TOP = 100, CHROPROF__BOUNDS = 14 };

/* Sites whose figures are gathered at once, on the stack; a firmware has little of it. */
#ifdef CHROPROF_NO_STDIO
enum { CHROPROF__GATHERED = 64 };
#else
enum { CHROPROF__GATHERED = 1024 };
#endif

/* CHROPROF__KEY is the one of those before it that the options order by. */
enum {
    CHROPROF__EXEC, CHROPROF__WITH_CHILDREN, CHROPROF__WALL, CHROPROF__DELAY, CHROPROF__BLAME,
    CHROPROF__COMPLETED, CHROPROF__FAILED, CHROPROF__CANCELLED, CHROPROF__ABANDONED,
    CHROPROF__STILLBORN, CHROPROF__LIVE, CHROPROF__CALLS, CHROPROF__SLICE_MAX, CHROPROF__KEY
};

/* What is shown: sites up to the last that is among the first in order. */
typedef struct chroprof__prometheus {
    chroprof__out *out;
    const chroprof *p;
    uint32_t top;              /* 0: all sites */
    uint32_t key;              /* what CHROPROF__KEY is */
    chroprof__pick last;
} chroprof__prometheus;

/* One figure of the sites from first on. */
typedef struct chroprof__gathered {
    uint32_t first;
    uint64_t value[CHROPROF__GATHERED];
} chroprof__gathered;

static uint64_t chroprof__path_figure(const chroprof *p, uint32_t path, uint32_t figure)
{
    const chroprof__path *row = p->paths + path;
    switch (figure) {
    case CHROPROF__EXEC:
    case CHROPROF__WITH_CHILDREN: return chroprof__ns(p->core, row->exec);
    case CHROPROF__WALL: return chroprof__wall_ns(p, row);
    case CHROPROF__DELAY: return chroprof__ns(p->core, chroprof__delay_ticks(p, row));
    case CHROPROF__BLAME: return chroprof__ns(p->core, row->blame);
    case CHROPROF__COMPLETED: return row->completed;
    case CHROPROF__FAILED: return row->failed;
    case CHROPROF__CANCELLED: return row->cancelled;
    case CHROPROF__ABANDONED: return row->abandoned;
    case CHROPROF__STILLBORN: return row->stillborn;
    case CHROPROF__CALLS: return row->calls;
    case CHROPROF__SLICE_MAX: return chroprof__ns(p->core, row->slice_max);
    default: return row->live + row->merged_live;
    }
}

static uint32_t chroprof__order_figure(chroprof_order by)
{
    switch (by) {
    case CHROPROF_BY_WITH_CHILDREN: return CHROPROF__WITH_CHILDREN;
    case CHROPROF_BY_SLICE_MAX: return CHROPROF__SLICE_MAX;
    case CHROPROF_BY_BLAME: return CHROPROF__BLAME;
    case CHROPROF_BY_DELAY: return CHROPROF__DELAY;
    case CHROPROF_BY_CALLS: return CHROPROF__CALLS;
    case CHROPROF_BY_EXEC:
    default: return CHROPROF__EXEC;
    }
}

/* Adds a path's figure to its site, or to each site on the way up from it. */
static void chroprof__gather_path(const chroprof *p, uint32_t path, uint32_t figure,
                                  chroprof__gathered *all)
{
    uint64_t value = chroprof__path_figure(p, path, figure);
    do {
        uint32_t slot = p->paths[path].site - all->first;
        if (slot < CHROPROF__GATHERED) {
            if (figure != CHROPROF__SLICE_MAX)
                all->value[slot] += value;
            else if (all->value[slot] < value)
                all->value[slot] = value;
        }
        path = p->paths[path].parent;
    } while (figure == CHROPROF__WITH_CHILDREN && path != 0);
}

/* Slices under way may be the longest. */
static void chroprof__gather_frames(const chroprof *p, chroprof__gathered *all)
{
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        uint32_t path = p->frames[k].path, slot = p->paths[path].site - all->first;
        uint64_t slice = chroprof__ns(p->core, chroprof__frame_slice(p, k));
        if (p->frames[k].kind != CHROPROF__BARRIER && path >= CHROPROF__FIRST_PATH &&
            slot < CHROPROF__GATHERED && all->value[slot] < slice)
            all->value[slot] = slice;
    }
}

/* One figure of many sites in one walk over the rows as they lie in memory: with 100,000 paths the
 * way along each site's chain is a cache miss a path. */
static void chroprof__gather(const chroprof__prometheus *m, uint32_t figure, uint32_t first,
                             chroprof__gathered *all)
{
    uint32_t path;
    uint32_t end = chroprof__path_count(m->p);
    if (figure == CHROPROF__KEY)
        figure = m->key;
    memset(all->value, 0, sizeof all->value);
    all->first = first;
    for (path = CHROPROF__FIRST_PATH; path < end; path++)
        chroprof__gather_path(m->p, path, figure, all);
    if (figure == CHROPROF__SLICE_MAX)
        chroprof__gather_frames(m->p, all);
}

/* The end of the sites that are gathered together with this first one. */
static uint32_t chroprof__gathered_end(const chroprof *p, uint32_t first)
{
    uint32_t end = chroprof__site_count(p);
    return end - first > CHROPROF__GATHERED ? first + CHROPROF__GATHERED : end;
}

/* Finds who leads in a figure. The site "(other)" of a full table is never among them. Not inlined,
 * like the next two of this size: their tables would add up on the stack. */
CHROPROF__NOINLINE void chroprof__prometheus_pick(chroprof__prometheus *m, uint32_t figure)
{
    chroprof__pick picks[CHROPROF__PROMETHEUS_TOP];
    chroprof__gathered keys;
    uint32_t count = 0;
    uint32_t first;
    uint32_t site;
    uint32_t end = chroprof__site_count(m->p);
    if (m->top == 0)
        return;
    for (first = CHROPROF__FIRST_SITE; first < end; first += CHROPROF__GATHERED) {
        chroprof__gather(m, figure, first, &keys);
        for (site = first; site < chroprof__gathered_end(m->p, first); site++)
            if (chroprof__site_used(m->p, site))
                count = chroprof__pick_add(picks, count, m->top, keys.value[site - first], site);
    }
    m->last.key = 0;
    m->last.site = end;
    if (count == m->top)
        m->last = picks[count - 1];
}

static bool chroprof__prometheus_picked(const chroprof__prometheus *m, uint32_t site, uint64_t key)
{
    if (m->top == 0)
        return true;
    return site != CHROPROF__OTHER &&
           (key > m->last.key || (key == m->last.key && site <= m->last.site));
}

static void chroprof__put_label(chroprof__out *o, const char *name, const char *text)
{
    chroprof__put_text(o, name);
    chroprof__put_text(o, "=\"");
    while (*text != 0) {
        uint32_t code = chroprof__next_code(&text);
        if (code == '\n')
            chroprof__put_text(o, "\\n");
        if (code == '"' || code == '\\')
            chroprof__put_byte(o, '\\');
        if (code != '\n')
            chroprof__put_code(o, code);
    }
    chroprof__put_byte(o, '"');
}

static bool chroprof__is_utf8(const char *text)
{
    while (*text != 0) {
        const char *from = text;
        if (chroprof__next_code(&text) == CHROPROF__NO_CODE && text - from != 3)
            return false;
    }
    return true;
}

/* Do the labels tell it from every other site? Not a cut name, nor one with bytes that are shown
 * as U+FFFD, nor a user's "(other)". It hangs on the site alone, so a series never changes its
 * labels because of what comes later. */
static bool chroprof__prometheus_plain(const chroprof *p, uint32_t site, const char *name,
                                       const char *file)
{
    if (chroprof__sites(p->core)[site].cut || !chroprof__is_utf8(name) || !chroprof__is_utf8(file))
        return false;
    return site == CHROPROF__OTHER || strcmp(name, "(other)") != 0 || *file != 0;
}

static void chroprof__prometheus_site(const chroprof__prometheus *m, uint32_t site)
{
    const char *name;
    const char *file;
    uint32_t line;
    chroprof__read_site_name(m->p, site, &name, &file, &line);
    chroprof__put_label(m->out, "{name", name);
    chroprof__put_label(m->out, ",file", file);
    chroprof__put_text(m->out, ",line=\"");
    chroprof__put_u64(m->out, line);
    chroprof__put_byte(m->out, '"');
    if (chroprof__prometheus_plain(m->p, site, name, file))
        return;
    chroprof__put_text(m->out, ",id=\"");
    chroprof__put_u64(m->out, site);
    chroprof__put_byte(m->out, '"');
}

static void chroprof__prometheus_value(chroprof__out *o, uint64_t value, bool seconds)
{
    chroprof__put_byte(o, ' ');
    if (seconds)
        chroprof__put_fixed(o, value, 9);
    else
        chroprof__put_u64(o, value);
    chroprof__put_byte(o, '\n');
}

static void chroprof__prometheus_name(chroprof__out *o, const char *name)
{
    chroprof__put_text(o, "chroprof_");
    chroprof__put_text(o, name);
}

static void chroprof__prometheus_head(chroprof__out *o, const char *name, const char *help,
                                      const char *type)
{
    chroprof__put_text(o, "# HELP ");
    chroprof__prometheus_name(o, name);
    chroprof__put_byte(o, ' ');
    chroprof__put_text(o, help);
    chroprof__put_text(o, "\n# TYPE ");
    chroprof__prometheus_name(o, name);
    chroprof__put_byte(o, ' ');
    chroprof__put_text(o, type);
    chroprof__put_byte(o, '\n');
}

typedef struct chroprof__site_metric {
    char name[28];
    char result[10];           /* of the calls; "" elsewhere */
    uint8_t figure;
    uint8_t order;             /* the figure that a limit of series goes by */
} chroprof__site_metric;

static void chroprof__prometheus_row(const chroprof__prometheus *m,
                                     const chroprof__site_metric *row, uint32_t site,
                                     uint64_t value)
{
    chroprof__prometheus_name(m->out, row->name);
    chroprof__prometheus_site(m, site);
    if (row->result[0] != 0)
        chroprof__put_label(m->out, ",result", row->result);
    chroprof__put_byte(m->out, '}');
    chroprof__prometheus_value(m->out, value, row->figure <= CHROPROF__BLAME);
}

/* The sites from first on; returns the sum of those that are not shown. */
CHROPROF__NOINLINE uint64_t chroprof__prometheus_some(const chroprof__prometheus *m,
                                                      const chroprof__site_metric *row,
                                                      uint32_t first)
{
    chroprof__gathered values;
    chroprof__gathered keys;
    const chroprof__gathered *by = &values;
    uint64_t rest = 0;
    uint32_t site;
    chroprof__gather(m, row->figure, first, &values);
    if (row->order != row->figure && m->top != 0) {
        chroprof__gather(m, row->order, first, &keys);
        by = &keys;
    }
    for (site = first; site < chroprof__gathered_end(m->p, first) && !m->out->failed; site++) {
        if (!chroprof__site_used(m->p, site))
            continue;
        if (chroprof__prometheus_picked(m, site, by->value[site - first]))
            chroprof__prometheus_row(m, row, site, values.value[site - first]);
        else
            rest += values.value[site - first];
    }
    return rest;
}

static void chroprof__prometheus_rows(chroprof__prometheus *m, const chroprof__site_metric *row)
{
    uint64_t rest = 0;
    chroprof__prometheus_pick(m, row->order);
    for (uint32_t first = CHROPROF__OTHER; first < chroprof__site_count(m->p) && !m->out->failed;
         first += CHROPROF__GATHERED)
        rest += chroprof__prometheus_some(m, row, first);
    if (m->top != 0)
        chroprof__prometheus_row(m, row, CHROPROF__OTHER, rest);
}

static void chroprof__prometheus_calls(chroprof__prometheus *m)
{
    static const chroprof__site_metric rows[] = {
        { "calls_total", "completed", CHROPROF__COMPLETED, CHROPROF__COMPLETED },
        { "calls_total", "failed", CHROPROF__FAILED, CHROPROF__FAILED },
        { "calls_total", "cancelled", CHROPROF__CANCELLED, CHROPROF__CANCELLED },
        { "calls_total", "abandoned", CHROPROF__ABANDONED, CHROPROF__ABANDONED }
    };
    uint32_t i;
    chroprof__prometheus_head(m->out, "calls_total", "Futures that ended, by result.", "counter");
    for (i = 0; i < 4; i++)
        chroprof__prometheus_rows(m, &rows[i]);
}

static void chroprof__prometheus_figures(chroprof__prometheus *m)
{
    static const chroprof__site_metric rows[] = {
        { "exec_seconds_total", "", CHROPROF__EXEC, CHROPROF__EXEC },
        { "with_children_seconds_total", "", CHROPROF__WITH_CHILDREN, CHROPROF__WITH_CHILDREN },
        { "wall_seconds_total", "", CHROPROF__WALL, CHROPROF__WALL },
        { "delay_seconds_total", "", CHROPROF__DELAY, CHROPROF__DELAY },
        { "blame_seconds_total", "", CHROPROF__BLAME, CHROPROF__BLAME },
        { "stillborn_total", "", CHROPROF__STILLBORN, CHROPROF__STILLBORN },
        { "live_futures", "", CHROPROF__LIVE, CHROPROF__KEY }
    };
    static const char help[][72] = {
        "Time that futures of a site occupied the event loop.",
        "The same with everything below them in the tree of creations.",
        "Time from creation to finish of futures, or to now while they live.",
        "Time that futures were ready and did not run.",
        "Delay of all ready futures while this site occupied the loop.",
        "Futures that were created already finished.",
        "Futures that were created and have not ended."
    };
    uint32_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        chroprof__prometheus_head(m->out, rows[i].name, help[i],
                                  rows[i].figure == CHROPROF__LIVE ? "gauge" : "counter");
        chroprof__prometheus_rows(m, &rows[i]);
    }
}

static void chroprof__prometheus_bucket(const chroprof__prometheus *m, uint32_t site,
                                        const char *suffix, const char *bound)
{
    chroprof__prometheus_name(m->out, "slice_duration_seconds");
    chroprof__put_text(m->out, suffix);
    chroprof__prometheus_site(m, site);
    if (*bound != 0)
        chroprof__put_label(m->out, ",le", bound);
    chroprof__put_byte(m->out, '}');
}

/* Slices in the buckets whose middle is no more than a bound; *next is the first not counted. */
static uint64_t chroprof__slices_until(const chroprof *p, uint32_t row, uint64_t bound_ns,
                                       uint32_t *next)
{
    const chroprof__core *c = p->core;
    const chroprof__histogram *h = &chroprof__histogram_rows(c)[row].slice;
    bool held = (c->held & CHROPROF__HELD_SLICE) != 0 && c->held_slice_row == row;
    uint64_t count = 0;
    for (; *next < CHROPROF__BUCKETS; ++*next) {
        if (chroprof__ns(c, chroprof__bucket_value(*next)) > bound_ns)
            break;
        count += h->count[*next] + (held && chroprof__bucket(c->held_slice) == *next);
    }
    return count;
}

static void chroprof__prometheus_histogram(const chroprof__prometheus *m, uint32_t site,
                                           uint64_t exec_ns)
{
    static const char names[CHROPROF__BOUNDS][9] = {
        "0.000001", "0.00001", "0.0001", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025",
        "0.05", "0.1", "0.25", "1", "10"
    };
    static const uint32_t bounds_us[CHROPROF__BOUNDS] = {
        1, 10, 100, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000, 10000000
    };
    uint32_t row = m->p->paths[chroprof__sites(m->p->core)[site].first_path].histogram;
    uint64_t count = 0;
    uint32_t next = 0;
    uint32_t i;
    for (i = 0; i < CHROPROF__BOUNDS; i++) {
        count += chroprof__slices_until(m->p, row, (uint64_t)bounds_us[i] * 1000, &next);
        chroprof__prometheus_bucket(m, site, "_bucket", names[i]);
        chroprof__prometheus_value(m->out, count, false);
    }
    count += chroprof__slices_until(m->p, row, UINT64_MAX, &next);
    chroprof__prometheus_bucket(m, site, "_bucket", "+Inf");
    chroprof__prometheus_value(m->out, count, false);
    chroprof__prometheus_bucket(m, site, "_sum", "");
    chroprof__prometheus_value(m->out, exec_ns, true);
    chroprof__prometheus_bucket(m, site, "_count", "");
    chroprof__prometheus_value(m->out, count, false);
}

static bool chroprof__has_histogram(const chroprof *p, uint32_t site)
{
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    return first != 0 && p->paths[first].histogram != 0;
}

/* A site without a histogram has no row here, and the others than the first ones are not summed:
 * their buckets would fall when a site joins the first. */
CHROPROF__NOINLINE void chroprof__prometheus_histograms(chroprof__prometheus *m)
{
    chroprof__gathered exec;
    chroprof__gathered keys;
    const chroprof__gathered *by = m->top == 0 || m->key == CHROPROF__EXEC ? &exec : &keys;
    uint32_t first = 0;
    uint32_t site;
    chroprof__prometheus_head(m->out, "slice_duration_seconds",
                              "Length of the slices that ended; its sum has the one under way.",
                              "histogram");
    chroprof__prometheus_pick(m, CHROPROF__KEY);
    for (site = CHROPROF__OTHER; site < chroprof__site_count(m->p) && !m->out->failed; site++) {
        if (site == CHROPROF__OTHER || site - first == CHROPROF__GATHERED) {
            first = site;
            chroprof__gather(m, CHROPROF__EXEC, first, &exec);
            if (by == &keys)
                chroprof__gather(m, CHROPROF__KEY, first, &keys);
        }
        if (chroprof__has_histogram(m->p, site) &&
            chroprof__prometheus_picked(m, site, by->value[site - first]))
            chroprof__prometheus_histogram(m, site, exec.value[site - first]);
    }
}

typedef struct chroprof__total_metric {
    char name[32];
    char help[72];
    uint16_t offset;
} chroprof__total_metric;

static void chroprof__prometheus_totals(const chroprof__prometheus *m)
{
#define CHROPROF__T(field) (uint16_t)offsetof(chroprof_totals, field)
    static const chroprof__total_metric rows[] = {
        { "elapsed_seconds_total", "Profile time: busy, idle and loop.", CHROPROF__T(elapsed_ns) },
        { "busy_seconds_total", "Time of futures, untracked included.", CHROPROF__T(busy_ns) },
        { "idle_seconds_total", "Time blocked in the operating system.", CHROPROF__T(idle_ns) },
        { "loop_seconds_total", "Time neither of futures nor idle.", CHROPROF__T(loop_ns) },
        { "untracked_seconds_total", "Time of futures that are not known, part of busy.",
          CHROPROF__T(untracked_ns) },
        { "idle_blame_seconds_total", "Delay of ready futures while idle.",
          CHROPROF__T(idle_blame_ns) },
        { "loop_blame_seconds_total", "Delay of ready futures in time of the loop's own.",
          CHROPROF__T(loop_blame_ns) },
        { "untracked_blame_seconds_total", "Delay of ready futures in untracked time.",
          CHROPROF__T(untracked_blame_ns) },
        { "events_total", "Events taken.", CHROPROF__T(events) },
        { "passes_total", "Passes of the loop, from one idle to the next.", CHROPROF__T(passes) },
        { "turns_total", "Outermost stays on the running stack.", CHROPROF__T(turns) },
        { "stalls_total", "Turns and passes that were too long.", CHROPROF__T(stalls) }
    };
#undef CHROPROF__T
    chroprof_totals t;
    uint32_t i;
    chroprof_read_totals(m->p, &t);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&t + rows[i].offset, sizeof value);
        chroprof__prometheus_head(m->out, rows[i].name, rows[i].help, "counter");
        chroprof__prometheus_name(m->out, rows[i].name);
        chroprof__prometheus_value(m->out, value, i < 8);
    }
}

static void chroprof__prometheus_anomalies(const chroprof__prometheus *m)
{
#define CHROPROF__KIND(name, text) #name,
    static const char kinds[][32] = { CHROPROF_ANOMALIES(CHROPROF__KIND) };
#undef CHROPROF__KIND
    uint32_t i;
    const char *c;
    chroprof__prometheus_head(m->out, "anomalies_total", "What the host did that was not in order.",
                              "counter");
    for (i = 0; i < CHROPROF_ANOMALY_COUNT; i++) {
        chroprof__put_text(m->out, "chroprof_anomalies_total{kind=\"");
        for (c = kinds[i]; *c != 0; c++)
            chroprof__put_byte(m->out, (char)(*c != '_' ? *c + 32 : '_'));
        chroprof__put_text(m->out, "\"}");
        chroprof__prometheus_value(m->out, m->p->core->anomalies[i], false);
    }
}

static void chroprof__prometheus_table(const chroprof__prometheus *m, const char *name,
                                       const char *help, const char *type)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    size_t i, count = chroprof_tables(m->p, tables, CHROPROF_TABLE_COUNT);
    chroprof__prometheus_head(m->out, name, help, type);
    for (i = 0; i < count; i++) {
        bool drops = strcmp(type, "counter") == 0;
        chroprof__prometheus_name(m->out, name);
        chroprof__put_label(m->out, "{table", tables[i].name);
        chroprof__put_byte(m->out, '}');
        chroprof__prometheus_value(m->out, drops ? tables[i].dropped
                                   : strcmp(name, "table_used") == 0 ? tables[i].used
                                   : tables[i].capacity, false);
    }
}

static void chroprof__prometheus_tables(const chroprof__prometheus *m)
{
    chroprof__prometheus_table(m, "table_capacity", "Rows that a table has.", "gauge");
    chroprof__prometheus_table(m, "table_used", "Rows in use.", "gauge");
    chroprof__prometheus_table(m, "table_dropped_total", "How often something did not fit.",
                               "counter");
}

static void chroprof__prometheus_info(const chroprof__prometheus *m)
{
    chroprof__prometheus_head(m->out, "info", "The profile.", "gauge");
    chroprof__put_label(m->out, "chroprof_info{profile", chroprof__name(m->p));
    chroprof__put_label(m->out, ",version", CHROPROF_VERSION);
    chroprof__put_text(m->out, "} 1\n");
    if (m->p->core->start_unix_ns == 0)
        return;
    chroprof__prometheus_head(m->out, "start_time_seconds", "Calendar time of profile time 0.",
                              "gauge");
    chroprof__prometheus_name(m->out, "start_time_seconds");
    chroprof__prometheus_value(m->out, m->p->core->start_unix_ns, true);
}

static void chroprof__prometheus_all(chroprof__prometheus *m)
{
    chroprof__prometheus_info(m);
    chroprof__prometheus_totals(m);
    chroprof__prometheus_figures(m);
    chroprof__prometheus_calls(m);
    chroprof__prometheus_histograms(m);
    chroprof__prometheus_anomalies(m);
    chroprof__prometheus_tables(m);
}

CHROPROF__COLD void chroprof__write_as_prometheus(chroprof__out *o, const chroprof *p)
{
    chroprof__prometheus m;
    memset(&m, 0, sizeof m);
    m.out = o;
    m.p = p;
    chroprof__prometheus_all(&m);
}

CHROPROF__COLD_API int chroprof_write_prometheus(chroprof *p,
                                                 const chroprof_prometheus_options *options,
                                                 chroprof_writer write, void *user)
{
    chroprof__out o;
    chroprof__prometheus m;
    if (p == NULL || p->core == NULL || write == NULL)
        return -1;
    chroprof__tick_live(p);
    memset(&o, 0, sizeof o);
    o.write = write;
    o.user = user;
    memset(&m, 0, sizeof m);
    m.out = &o;
    m.p = p;
    if (options != NULL) {
        m.top = options->top;
        if (m.top > CHROPROF__PROMETHEUS_TOP)
            m.top = CHROPROF__PROMETHEUS_TOP;
        m.key = chroprof__order_figure(options->by);
    }
    chroprof__prometheus_all(&m);
    chroprof__flush(&o);
    return o.failed ? -1 : 0;
}
#else
CHROPROF__COLD_API int chroprof_write_prometheus(chroprof *p,
                                                 const chroprof_prometheus_options *options,
                                                 chroprof_writer write, void *user)
{
    (void)p;
    (void)options;
    (void)write;
    (void)user;
    return -1;
}
#endif /* CHROPROF_NO_PROMETHEUS */

#ifndef CHROPROF_NO_PPROF
/* >>pprof
 * profile.proto. A message is preceded by its length, which is worked out beforehand. Strings are
 * named by their place: the fixed ones, then the name and the file of each site. One function and
 * one location stand for a site, one sample for a path; loop, idle and untracked are paths. */

enum { CHROPROF__TYPES = 5 };

/* Places in the table of strings; the first ones are in the order of chroprof__pprof_strings. */
enum {
    CHROPROF__STRING_COUNT = 2, CHROPROF__STRING_EXEC = 3, CHROPROF__STRING_NS = 4,
    CHROPROF__STRING_STATE = 8, CHROPROF__STRING_IDLE = 9, CHROPROF__STRING_PROFILE = 10,
    CHROPROF__STRING_COMMENT = 11, CHROPROF__STRING_NAME = 12, CHROPROF__STRING_PROGRAM = 13,
    CHROPROF__STRING_SITES = 14
};

static uint32_t chroprof__varint_size(uint64_t value)
{
    return chroprof__log2(value | 1) / 7 + 1;
}

static void chroprof__put_varint(chroprof__out *o, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        chroprof__put_byte(o, (char)(unsigned char)(value | 0x80));
    chroprof__put_byte(o, (char)(unsigned char)value);
}

/* Fields are below 16, so a key is one byte. */
static void chroprof__proto_number(chroprof__out *o, uint32_t field, uint64_t value)
{
    chroprof__put_byte(o, (char)(field << 3));
    chroprof__put_varint(o, value);
}

static uint64_t chroprof__proto_number_size(uint64_t value)
{
    return 1u + chroprof__varint_size(value);
}

static void chroprof__proto_bytes(chroprof__out *o, uint32_t field, uint64_t size)
{
    chroprof__put_byte(o, (char)(field << 3 | 2));
    chroprof__put_varint(o, size);
}

static void chroprof__proto_text(chroprof__out *o, uint32_t field, const char *text)
{
    uint64_t size = 0;
    char bytes[4];
    for (const char *from = text; *from != 0;)
        size += chroprof__encode(chroprof__next_code(&from), bytes);
    chroprof__proto_bytes(o, field, size);
    while (*text != 0)
        chroprof__put_code(o, chroprof__next_code(&text));
}

static void chroprof__pprof_types(chroprof__out *o)
{
    static const unsigned char types[CHROPROF__TYPES][2] = {
        { 1, CHROPROF__STRING_COUNT }, { CHROPROF__STRING_EXEC, CHROPROF__STRING_NS },
        { 5, CHROPROF__STRING_NS }, { 6, CHROPROF__STRING_NS }, { 7, CHROPROF__STRING_NS }
    };
    uint32_t i;
    for (i = 0; i < CHROPROF__TYPES; i++) {
        chroprof__proto_bytes(o, 1, 4);
        chroprof__proto_number(o, 1, types[i][0]);
        chroprof__proto_number(o, 2, types[i][1]);
    }
    chroprof__proto_bytes(o, 11, 4);
    chroprof__proto_number(o, 1, CHROPROF__STRING_EXEC);
    chroprof__proto_number(o, 2, CHROPROF__STRING_NS);
    chroprof__proto_number(o, 12, 1);
}

/* Loop, idle and untracked have exec and blame, as in all formats: futures that no path could hold
 * are no call there. Values are signed: where many futures wait for days their wall is cut. */
static void chroprof__pprof_values(const chroprof *p, uint32_t path, uint64_t *values)
{
    const chroprof__path *row = p->paths + path;
    bool site = path >= CHROPROF__FIRST_PATH;
    values[0] = site ? row->calls : 0;
    values[1] = chroprof__ns(p->core, row->exec);
    values[2] = site ? chroprof__wall_ns(p, row) : 0;
    values[3] = site ? chroprof__ns(p->core, chroprof__delay_ticks(p, row)) : 0;
    values[4] = chroprof__ns(p->core, row->blame);
    for (uint32_t k = 0; k < CHROPROF__TYPES; k++)
        if (values[k] >> 63)
            values[k] = UINT64_MAX >> 1;
}

/* Location ids are site ids plus 1, the leaf first. */
static uint64_t chroprof__pprof_chain_size(const chroprof *p, uint32_t path)
{
    uint64_t size = 0;
    do {
        size += chroprof__varint_size((uint64_t)p->paths[path].site + 1);
        path = p->paths[path].parent;
    } while (path != 0);
    return size;
}

static void chroprof__pprof_chain(chroprof__out *o, const chroprof *p, uint32_t path, uint64_t size)
{
    chroprof__proto_bytes(o, 1, size);
    do {
        chroprof__put_varint(o, (uint64_t)p->paths[path].site + 1);
        path = p->paths[path].parent;
    } while (path != 0);
}

static void chroprof__pprof_label(chroprof__out *o, uint32_t key, uint32_t text)
{
    chroprof__proto_bytes(o, 3, 4);
    chroprof__proto_number(o, 1, key);
    chroprof__proto_number(o, 2, text);
}

static void chroprof__pprof_sample(chroprof__out *o, const chroprof *p, uint32_t path)
{
    uint64_t values[CHROPROF__TYPES];
    uint64_t chain = chroprof__pprof_chain_size(p, path);
    uint64_t any = 0;
    uint32_t size = 0;
    uint32_t i;
    uint32_t labels = (*chroprof__name(p) != 0 ? 1u : 0u) + (path == CHROPROF__IDLE ? 1u : 0u);
    chroprof__pprof_values(p, path, values);
    for (i = 0; i < CHROPROF__TYPES; i++) {
        size += chroprof__varint_size(values[i]);
        any |= values[i];
    }
    if (any == 0)
        return;
    chroprof__proto_bytes(o, 2,
                          1u + chroprof__varint_size(chain) + chain + 2u + size + 6u * labels);
    chroprof__pprof_chain(o, p, path, chain);
    chroprof__proto_bytes(o, 2, size);
    for (i = 0; i < CHROPROF__TYPES; i++)
        chroprof__put_varint(o, values[i]);
    if (path == CHROPROF__IDLE)
        chroprof__pprof_label(o, CHROPROF__STRING_STATE, CHROPROF__STRING_IDLE);
    if (*chroprof__name(p) != 0)
        chroprof__pprof_label(o, CHROPROF__STRING_PROFILE, CHROPROF__STRING_NAME);
}

static void chroprof__pprof_location(chroprof__out *o, uint32_t site, uint32_t line)
{
    uint64_t id = (uint64_t)site + 1;
    uint64_t inner = chroprof__proto_number_size(id) + chroprof__proto_number_size(line);
    chroprof__proto_bytes(o, 4, chroprof__proto_number_size(id) + 2u + 2u + inner);
    chroprof__proto_number(o, 1, id);
    chroprof__proto_number(o, 2, 1);
    chroprof__proto_bytes(o, 4, inner);
    chroprof__proto_number(o, 1, id);
    chroprof__proto_number(o, 2, line);
}

static void chroprof__pprof_function(chroprof__out *o, uint32_t site, uint32_t line)
{
    uint64_t id = (uint64_t)site + 1;
    uint64_t name = CHROPROF__STRING_SITES + 2 * (uint64_t)site;
    chroprof__proto_bytes(o, 5, chroprof__proto_number_size(id) +
                          2 * chroprof__proto_number_size(name) +
                          chroprof__proto_number_size(name + 1) +
                          chroprof__proto_number_size(line));
    chroprof__proto_number(o, 1, id);
    chroprof__proto_number(o, 2, name);
    chroprof__proto_number(o, 3, name);
    chroprof__proto_number(o, 4, name + 1);
    chroprof__proto_number(o, 5, line);
}

static void chroprof__pprof_strings(chroprof__out *o, const chroprof *p)
{
    static const char fixed[][24] = {
        "", "calls", "count", "exec", "nanoseconds", "wall", "delay", "blame", "state", "idle",
        "profile"
    };
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t i;
    for (i = 0; i < CHROPROF__STRING_COMMENT; i++)
        chroprof__proto_text(o, 6, fixed[i]);
    chroprof__proto_text(o, 6, "chroprof " CHROPROF_VERSION);
    chroprof__proto_text(o, 6, chroprof__name(p));
    chroprof__proto_text(o, 6, p->core->program);
    for (i = 0; i < chroprof__site_count(p) && !o->failed; i++) {
        chroprof__read_site_name(p, i, &name, &file, &line);
        chroprof__proto_text(o, 6, name);
        chroprof__proto_text(o, 6, file);
    }
}

static void chroprof__pprof_sites(chroprof__out *o, const chroprof *p)
{
    uint32_t i;
    for (i = 0; i < chroprof__site_count(p) && !o->failed; i++) {
        uint32_t line = chroprof__sites(p->core)[i].line;
        chroprof__pprof_location(o, i, line);
        chroprof__pprof_function(o, i, line);
    }
}

CHROPROF__COLD void chroprof__write_as_pprof(chroprof__out *o, const chroprof *p)
{
    chroprof_totals t;
    uint32_t i;
    chroprof_read_totals(p, &t);
    chroprof__pprof_types(o);
    for (i = 0; i < chroprof__path_count(p) && !o->failed; i++)
        chroprof__pprof_sample(o, p, i);
    chroprof__proto_bytes(o, 3, 6);
    chroprof__proto_number(o, 1, 1);
    chroprof__proto_number(o, 5, CHROPROF__STRING_PROGRAM);
    chroprof__proto_number(o, 7, 1);
    chroprof__pprof_sites(o, p);
    chroprof__pprof_strings(o, p);
    chroprof__proto_number(o, 9, t.start_unix_ns);
    chroprof__proto_number(o, 10, t.elapsed_ns);
    chroprof__proto_number(o, 13, CHROPROF__STRING_COMMENT);
    chroprof__proto_number(o, 14, CHROPROF__STRING_EXEC);
}
#endif /* CHROPROF_NO_PPROF */

#ifndef CHROPROF_NO_FIREFOX
/* >>firefox
 * Processed profile, version 60: tables of columns, each column a walk of its own. What lies in a
 * column follows from its number alone: stack k is path k, frame, function and source k are site
 * k, strings are the fixed ones and then the name and the file of each site. Behind the paths come
 * the stacks of the timeline of windows, which knows sites only, and those of the samples: one a
 * node of the woven tree, and where the loop was ever met idle one more, with "(idle)" below it.
 * Behind the sites come the frames that are no site's, and then one a node. */

enum {
    CHROPROF__FIREFOX_SITES = 8, CHROPROF__FIREFOX_FILES = 8, CHROPROF__FIREFOX_BINS = 240,
    CHROPROF__FIREFOX_CHUNKS = 1000, CHROPROF__FIREFOX_STALLS = 64, CHROPROF__FIREFOX_CODES = 512,
    /* rows of the timeline: the first sites, all others, then untracked, loop and idle */
    CHROPROF__FIREFOX_ROWS = CHROPROF__FIREFOX_SITES + 4
};

enum {
    CHROPROF__CATEGORY_IDLE, CHROPROF__CATEGORY_OTHER, CHROPROF__CATEGORY_LOOP,
    CHROPROF__CATEGORY_UNTRACKED, CHROPROF__CATEGORY_FILES
};

enum {
    CHROPROF__THREAD_TIME, CHROPROF__THREAD_TREE, CHROPROF__THREAD_WAITING, CHROPROF__THREAD_DRAWN
};

/* Places of the fixed strings. */
enum {
    CHROPROF__WORD_REST, CHROPROF__WORD_GAP, CHROPROF__WORD_LOST, CHROPROF__WORD_TURN,
    CHROPROF__WORD_PASS, CHROPROF__WORD_USE, CHROPROF__WORD_PROGRAM, CHROPROF__WORD_SITES
};

/* Frames that are no site's, after those of the sites: all other sites, nothing was sampled, and a
 * sample whose stack did not fit. Their words are the first ones, in this order. */
enum {
    CHROPROF__PLACE_REST, CHROPROF__PLACE_GAP, CHROPROF__PLACE_LOST, CHROPROF__PLACES
};

/* A stall in the timeline of windows: when it was, and what the rows of its biggest slices took. */
typedef struct chroprof__piece {
    uint64_t start, end;
    uint32_t count;
    uint32_t rows[CHROPROF_STALL_SLICES];
    uint64_t ns[CHROPROF_STALL_SLICES];
} chroprof__piece;

/* Which node a function was first met at. */
typedef struct chroprof__codes {
    uint64_t keys[CHROPROF__FIREFOX_CODES];
    uint32_t nodes[CHROPROF__FIREFOX_CODES];
} chroprof__codes;

typedef struct chroprof__firefox {
    chroprof__out *out;
    const chroprof *p;
    uint32_t paths, sites;
    uint32_t top_count, file_count;
    uint32_t rows;             /* of the timeline */
    uint32_t group, bins;      /* windows a bin, bins */
    uint32_t chunks;           /* parts that a bin is shown in */
    uint32_t modules, nodes, twins;      /* of the samples; twins: nodes or 0 */
    uint32_t first_node;       /* stack of the first node */
    uint32_t piece_count;
    uint64_t samples, stalls;  /* rows */
    uint64_t end_ns;           /* of the timeline of samples */
    chroprof_sampler_totals sampler;
    chroprof__codes *codes;
    chroprof__pick top[CHROPROF__FIREFOX_SITES];
    uint32_t files[CHROPROF__FIREFOX_FILES];
    uint64_t ns[CHROPROF__FIREFOX_ROWS][CHROPROF__FIREFOX_BINS];
    chroprof__piece pieces[CHROPROF__FIREFOX_STALLS];    /* in order of time, none overlap */
} chroprof__firefox;

/* Writes item k of a column. */
typedef void (*chroprof__item_writer)(const chroprof__firefox *f, uint32_t k);

static void chroprof__put_ms(chroprof__out *o, uint64_t ns)
{
    chroprof__put_fixed(o, ns, 6);
}

/* ,"name":[item, item..] */
static void chroprof__firefox_column(const chroprof__firefox *f, const char *name, uint32_t count,
                                     chroprof__item_writer write)
{
    uint32_t k;
    chroprof__put_text(f->out, ",\"");
    chroprof__put_text(f->out, name);
    chroprof__put_text(f->out, "\":[");
    for (k = 0; k < count && !f->out->failed; k++) {
        if (k != 0)
            chroprof__put_byte(f->out, ',');
        write(f, k);
    }
    chroprof__put_byte(f->out, ']');
}

/* A column of one item over and over. */
static void chroprof__firefox_fill(const chroprof__firefox *f, const char *name, uint64_t count,
                                   const char *item)
{
    size_t length = strlen(item);
    uint64_t k;
    chroprof__put_text(f->out, ",\"");
    chroprof__put_text(f->out, name);
    chroprof__put_text(f->out, "\":[");
    for (k = 0; k < count && !f->out->failed; k++) {
        if (k != 0)
            chroprof__put_byte(f->out, ',');
        chroprof__put_bytes(f->out, item, length);
    }
    chroprof__put_byte(f->out, ']');
}

/* ---- what is shown: the first sites, the files that have a colour, the time series */

static void chroprof__firefox_pick(chroprof__firefox *f)
{
    uint32_t site;
    for (site = CHROPROF__OTHER; site < f->sites; site++) {
        uint64_t exec = 0;
        uint32_t k = chroprof__sites(f->p->core)[site].first_path;
        for (; k != 0; k = f->p->paths[k].same_site)
            exec += chroprof__ns(f->p->core, f->p->paths[k].exec);
        if (exec > 0)
            f->top_count = chroprof__pick_add(f->top, f->top_count, CHROPROF__FIREFOX_SITES, exec,
                                              site);
    }
}

static uint32_t chroprof__firefox_category(const chroprof__firefox *f, uint32_t site)
{
    uint32_t k;
    if (site == CHROPROF__IDLE || site == f->sites + CHROPROF__PLACE_GAP)
        return CHROPROF__CATEGORY_IDLE;
    if (site >= f->sites)
        return CHROPROF__CATEGORY_OTHER;
    if (site < CHROPROF__OTHER)
        return site == CHROPROF__LOOP ? CHROPROF__CATEGORY_LOOP : CHROPROF__CATEGORY_UNTRACKED;
    for (k = 0; k < f->file_count; k++)
        if (f->files[k] == chroprof__sites(f->p->core)[site].file)
            return CHROPROF__CATEGORY_FILES + k;
    return CHROPROF__CATEGORY_OTHER;
}

/* The viewer knows its idle category by the name, so no file may have it. */
static void chroprof__firefox_add_file(chroprof__firefox *f, uint32_t site)
{
    uint32_t file = chroprof__sites(f->p->core)[site].file;
    const char *text = chroprof__string(f->p->core, file);
    if (*text != 0 && strcmp(text, "Idle") != 0 &&
        chroprof__firefox_category(f, site) == CHROPROF__CATEGORY_OTHER)
        f->files[f->file_count++] = file;
}

/* The files of the first sites get their colours first. */
static void chroprof__firefox_files(chroprof__firefox *f)
{
    uint32_t k;
    for (k = 0; k < f->top_count; k++)
        chroprof__firefox_add_file(f, f->top[k].site);
    for (k = CHROPROF__OTHER; k < f->sites && f->file_count < CHROPROF__FIREFOX_FILES; k++)
        if (chroprof__site_used(f->p, k))
            chroprof__firefox_add_file(f, k);
}

static void chroprof__firefox_add_exec(chroprof__firefox *f, uint32_t row, uint32_t window,
                                       uint64_t ticks)
{
    f->ns[row][window / f->group < f->bins ? window / f->group : f->bins - 1] += ticks;
}

/* Ticks that a site has in each bin: its cells, and what its paths still hold back from them. */
static void chroprof__firefox_read_row(chroprof__firefox *f, uint32_t row, uint32_t site)
{
    const chroprof__core *c = f->p->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint32_t k;
    for (k = 0; k < c->tables[CHROPROF_TABLE_WINDOWS].capacity; k++)
        if (cells[1 + k] != 0)
            chroprof__firefox_add_exec(f, row, shift < 16 ? k >> shift : 0, cells[1 + k]);
    k = site < CHROPROF__OTHER ? site : chroprof__sites(c)[site].first_path;
    do {
        const chroprof__path *path = f->p->paths + k;
        chroprof__firefox_add_exec(f, row, chroprof__tag_index(c, path->window),
                                   path->exec - path->mark);
        k = site < CHROPROF__OTHER ? 0 : path->same_site;
    } while (k != 0);
}

static uint64_t chroprof__firefox_border(const chroprof__firefox *f, uint32_t bin)
{
    const chroprof__core *c = f->p->core;
    return bin < f->bins ? chroprof__window_start(c, (uint64_t)bin * f->group) : c->last;
}

/* All other sites have what is left of each bin. */
static void chroprof__firefox_read_rest(chroprof__firefox *f)
{
    for (uint32_t bin = 0; bin < f->bins; bin++) {
        uint64_t rest = chroprof__firefox_border(f, bin + 1) - chroprof__firefox_border(f, bin);
        for (uint32_t row = 0; row < f->rows; row++)
            rest = chroprof__minus(rest, row == f->top_count ? 0 : f->ns[row][bin]);
        f->ns[f->top_count][bin] = rest;
    }
}

static uint32_t chroprof__firefox_row_site(const chroprof__firefox *f, uint32_t row)
{
    static const uint32_t last[3] = { CHROPROF__UNTRACKED, CHROPROF__LOOP, CHROPROF__IDLE };
    if (row < f->top_count)
        return f->top[row].site;
    return row == f->top_count ? f->sites : last[(row - f->top_count - 1) % 3];
}

/* What the reads show for a row of the timeline; all of them add up to the profile time. */
static uint64_t chroprof__firefox_exec(const chroprof__firefox *f, uint32_t row)
{
    chroprof_totals t;
    uint32_t k;
    if (row < f->top_count)
        return f->top[row].key;
    if (row > f->top_count)
        return chroprof__ns(f->p->core, f->p->paths[chroprof__firefox_row_site(f, row)].exec);
    chroprof_read_totals(f->p, &t);
    for (k = 0; k < f->top_count; k++)
        t.busy_ns -= f->top[k].key;
    return t.busy_ns - t.untracked_ns;
}

static void chroprof__firefox_convert(chroprof__firefox *f, uint32_t row)
{
    uint64_t most = chroprof__firefox_exec(f, row);
    uint64_t ticks = 0, ns = 0;
    for (uint32_t bin = 0; bin < f->bins; bin++) {
        ticks += f->ns[row][bin];
        f->ns[row][bin] = chroprof__running_ns(f->p->core, ticks, most) - ns;
        ns += f->ns[row][bin];
    }
}

/* The row of the timeline that the time of a path is in. */
static uint32_t chroprof__firefox_row_of(const chroprof__firefox *f, uint32_t path)
{
    uint32_t site = f->p->paths[path].site;
    uint32_t row;
    for (row = 0; row < f->rows; row++)
        if (chroprof__firefox_row_site(f, row) == site)
            return row;
    return f->top_count;
}

static void chroprof__read_piece(const chroprof__firefox *f, const chroprof_stall *stall,
                                 chroprof__piece *out)
{
    uint32_t k;
    out->start = stall->start_ns;
    out->end = stall->start_ns + stall->length_ns;
    out->count = stall->slice_count;
    for (k = 0; k < stall->slice_count; k++) {
        out->rows[k] = chroprof__firefox_row_of(f, stall->slices[k].path);
        out->ns[k] = stall->slices[k].exec_ns;
    }
}

static uint32_t chroprof__shortest_piece(const chroprof__firefox *f)
{
    uint32_t k, least = 0;
    for (k = 1; k < f->piece_count; k++)
        if (f->pieces[k].end - f->pieces[k].start < f->pieces[least].end - f->pieces[least].start)
            least = k;
    return least;
}

/* Makes room for a piece of this length by what is shorter; false: it is the shortest itself. */
static bool chroprof__piece_fits(chroprof__firefox *f, uint64_t length)
{
    uint32_t k = chroprof__shortest_piece(f);
    if (f->piece_count < CHROPROF__FIREFOX_STALLS)
        return true;
    if (f->pieces[k].end - f->pieces[k].start >= length)
        return false;
    f->piece_count--;
    memmove(f->pieces + k, f->pieces + k + 1, (f->piece_count - k) * sizeof *f->pieces);
    return true;
}

/* Of pieces that overlap the one that came first stays. */
static void chroprof__add_piece(chroprof__firefox *f, const chroprof__piece *piece)
{
    uint32_t k = f->piece_count;
    while (k > 0 && f->pieces[k - 1].start >= piece->end)
        k--;
    if (piece->start >= piece->end || (k > 0 && f->pieces[k - 1].end > piece->start))
        return;
    if (!chroprof__piece_fits(f, piece->end - piece->start))
        return;
    k = f->piece_count++;
    for (; k > 0 && f->pieces[k - 1].start >= piece->end; k--)
        f->pieces[k] = f->pieces[k - 1];
    f->pieces[k] = *piece;
}

/* A turn tells more than the pass around it. */
static void chroprof__firefox_pieces(chroprof__firefox *f, chroprof_stall_kind kind)
{
    uint64_t serial = 0;
    chroprof_stall stall;
    chroprof__piece piece;
    while (chroprof__read_stall(f->p, &serial, &stall)) {
        if (stall.kind != kind)
            continue;
        chroprof__read_piece(f, &stall, &piece);
        chroprof__add_piece(f, &piece);
    }
}

/* What there is of samples. Those by hand may be later than the last event. */
static void chroprof__firefox_sampled(chroprof__firefox *f)
{
    const chroprof__core *c = f->p->core;
    chroprof_sample_row row;
    uint64_t k;
    chroprof_read_sampler(f->p, &f->sampler);
    f->samples = c->tables[CHROPROF_TABLE_SAMPLES].used;
    if (f->samples > 0) {
        f->nodes = (uint32_t)c->tables[CHROPROF__STACKS].used;
        f->modules = (uint32_t)c->tables[CHROPROF__MODULES].used;
    }
    f->end_ns = chroprof__ns(c, c->last);
    for (k = 0; k < f->samples; k++) {
        chroprof__read_sample(f->p, k, &row);
        if (row.state == CHROPROF_SAMPLE_IDLE)
            f->twins = f->nodes;
        if (row.at_ns + row.duration_ns > f->end_ns)
            f->end_ns = row.at_ns + row.duration_ns;
    }
    f->first_node = f->paths + f->top_count + CHROPROF__PLACES;
}

static void chroprof__firefox_read(chroprof__firefox *f, chroprof__codes *codes, chroprof__out *o,
                                   const chroprof *p)
{
    uint32_t windows = chroprof__window_count(p);
    const chroprof__stall *stall;
    uint32_t row;
    memset(f, 0, sizeof *f);
    f->out = o;
    f->p = p;
    f->codes = codes;
    f->paths = chroprof__path_count(p);
    f->sites = chroprof__site_count(p);
    f->group = (windows - 1) / CHROPROF__FIREFOX_BINS + 1;
    f->bins = (windows - 1) / f->group + 1;
    f->chunks = CHROPROF__FIREFOX_CHUNKS / f->bins;
    chroprof__firefox_pick(f);
    chroprof__firefox_files(f);
    f->rows = f->top_count + 4;
    for (row = 0; row < f->rows; row++)
        if (row != f->top_count)
            chroprof__firefox_read_row(f, row, chroprof__firefox_row_site(f, row));
    chroprof__firefox_read_rest(f);
    for (row = 0; row < f->rows; row++)
        chroprof__firefox_convert(f, row);
    for (stall = chroprof__next_stall(p, 0); stall != NULL; f->stalls++)
        stall = chroprof__next_stall(p, stall->serial);
    chroprof__firefox_sampled(f);
    chroprof__firefox_pieces(f, CHROPROF_STALL_TURN);
    chroprof__firefox_pieces(f, CHROPROF_STALL_PASS);
}

/* ---- meta */

static void chroprof__firefox_categories(const chroprof__firefox *f)
{
    static const char colors[CHROPROF__FIREFOX_FILES][10] = {
        "blue", "orange", "green", "purple", "yellow", "magenta", "lightblue", "brown"
    };
    uint32_t k;
    chroprof__put_text(f->out,
        "\"categories\":["
        "{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Loop\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]},\n"
        "{\"name\":\"Untracked\",\"color\":\"lightred\",\"subcategories\":[\"Other\"]}");
    for (k = 0; k < f->file_count; k++) {
        chroprof__put_text(f->out, ",\n{\"name\":");
        chroprof__put_json_text(f->out, chroprof__string(f->p->core, f->files[k]));
        chroprof__put_text(f->out, ",\"color\":\"");
        chroprof__put_text(f->out, colors[k]);
        chroprof__put_text(f->out, "\",\"subcategories\":[\"Other\"]}");
    }
    chroprof__put_byte(f->out, ']');
}

/* The lines of the graph: the first sites, all others, untracked, loop. */
static uint32_t chroprof__firefox_lines(const chroprof__firefox *f)
{
    return f->rows - 1;
}

static const char *chroprof__firefox_site_name(const chroprof__firefox *f, uint32_t site)
{
    if (site >= f->sites)
        return "(all other sites)";
    return chroprof__string(f->p->core, chroprof__sites(f->p->core)[site].name);
}

static void chroprof__firefox_key(const chroprof__firefox *f, uint32_t row)
{
    chroprof__put_text(f->out, "\"s");
    chroprof__put_u64(f->out, row);
    chroprof__put_byte(f->out, '"');
}

static void chroprof__firefox_graph_schema(const chroprof__firefox *f)
{
    static const char colors[CHROPROF__FIREFOX_ROWS][8] = {
        "blue", "orange", "green", "purple", "red", "teal", "magenta", "yellow", "grey", "ink",
        "ink", "ink"
    };
    uint32_t row;
    chroprof__put_text(f->out, ",\n{\"name\":\"Use\",\"tooltipLabel\":\"Share of the loop\","
                               "\"tableLabel\":\"Share of the loop\","
                               "\"display\":[\"marker-table\"],\"fields\":[");
    for (row = 0; row < chroprof__firefox_lines(f); row++) {
        chroprof__put_text(f->out, row == 0 ? "{\"key\":" : ",{\"key\":");
        chroprof__firefox_key(f, row);
        chroprof__put_text(f->out, ",\"label\":");
        chroprof__put_json_text(f->out, chroprof__firefox_site_name(f,
                                                             chroprof__firefox_row_site(f, row)));
        chroprof__put_text(f->out, ",\"format\":\"percentage\"}");
    }
    chroprof__put_text(f->out, "],\"graphs\":[");
    for (row = 0; row < chroprof__firefox_lines(f); row++) {
        chroprof__put_text(f->out, row == 0 ? "{\"key\":" : ",{\"key\":");
        chroprof__firefox_key(f, row);
        chroprof__put_text(f->out, ",\"type\":\"line\",\"color\":\"");
        chroprof__put_text(f->out, colors[row < f->top_count ? row
                                          : CHROPROF__FIREFOX_SITES + row - f->top_count]);
        chroprof__put_text(f->out, "\"}");
    }
    chroprof__put_text(f->out, "]}");
}

static void chroprof__firefox_schema(const chroprof__firefox *f)
{
    chroprof__put_text(f->out,
        ",\n\"markerSchema\":[{\"name\":\"Stall\","
        "\"tooltipLabel\":\"Stall in {marker.data.handler}\","
        "\"tableLabel\":\"{marker.data.handler}: {marker.data.dur}\","
        "\"chartLabel\":\"{marker.data.handler}\","
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":["
        "{\"key\":\"handler\",\"label\":\"Site of the biggest slice\",\"format\":\"string\"},"
        "{\"key\":\"slice\",\"label\":\"Its length\",\"format\":\"duration\"},"
        "{\"key\":\"dur\",\"label\":\"Length of the stall\",\"format\":\"duration\"},"
        "{\"key\":\"events\",\"label\":\"Events\",\"format\":\"integer\"}]}");
    chroprof__firefox_graph_schema(f);
    chroprof__put_byte(f->out, ']');
}

static const char *chroprof__firefox_program(const chroprof *p)
{
    if (*chroprof__name(p) != 0)
        return chroprof__name(p);
    return p->core->program[0] != 0 ? p->core->program : "chroprof";
}

/* The last one is there if futures were drawn. */
static uint32_t chroprof__firefox_threads(const chroprof__firefox *f)
{
    return f->sampler.draws > 0 ? CHROPROF__THREAD_DRAWN + 1 : CHROPROF__THREAD_DRAWN;
}

/* Between samples; the viewer shows nothing of a profile without one. */
static uint64_t chroprof__firefox_interval(const chroprof__firefox *f)
{
    bool timed = f->samples > 0 && f->sampler.period_ns > 0;
    return timed ? f->sampler.period_ns : 1000000;
}

static void chroprof__firefox_meta(const chroprof__firefox *f)
{
    chroprof__put_text(f->out, "{\"meta\":{\"interval\":");
    chroprof__put_ms(f->out, chroprof__firefox_interval(f));
    chroprof__put_text(f->out, ",\"startTime\":");
    chroprof__put_ms(f->out, f->p->core->start_unix_ns);
    chroprof__put_text(f->out, ",\"processType\":0,\"product\":");
    chroprof__put_json_text(f->out, chroprof__firefox_program(f->p));
    chroprof__put_text(f->out,
        ",\"importedFrom\":\"chroprof\",\"stackwalk\":0,\"version\":24,"
        "\"preprocessedProfileVersion\":60,\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,"
        "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n");
    chroprof__firefox_categories(f);
    chroprof__firefox_schema(f);
    chroprof__put_text(f->out, ",\n\"initialVisibleThreads\":[0,1,2");
    chroprof__put_text(f->out, chroprof__firefox_threads(f) > CHROPROF__THREAD_DRAWN ? ",3" : "");
    chroprof__put_text(f->out, "],\"initialSelectedThreads\":[0],"
                               "\"keepProfileThreadOrder\":true},\n"
                               "\"libs\":[],\n\"threads\":[");
}

/* ---- samples: one walk a column */

enum {
    CHROPROF__STACK, CHROPROF__TIME, CHROPROF__WEIGHT, CHROPROF__CPU, CHROPROF__LENGTH
};

/* A column that grows. Where nothing was sampled time is the sum of all weights so far. */
typedef struct chroprof__samples {
    const chroprof__firefox *f;
    uint32_t column;
    uint64_t count;
    uint64_t time;
} chroprof__samples;

static void chroprof__sample_cell(chroprof__samples *s, uint32_t stack, uint64_t weight)
{
    chroprof__out *o = s->f->out;
    if (s->count > 0 && s->column != CHROPROF__LENGTH)
        chroprof__put_byte(o, ',');
    if (s->column == CHROPROF__STACK)
        chroprof__put_u64(o, stack);
    else if (s->column == CHROPROF__TIME)
        chroprof__put_ms(o, s->time);
    else if (s->column == CHROPROF__WEIGHT)
        chroprof__put_ms(o, weight);
    s->time += weight;
    s->count++;
}

/* A cell of samples that were counted, at a time of their own. */
static void chroprof__row_cell(chroprof__samples *s, uint32_t stack, uint64_t time, uint64_t weight,
                               uint64_t cpu_ns)
{
    chroprof__out *o = s->f->out;
    if (s->count++ > 0 && s->column != CHROPROF__LENGTH)
        chroprof__put_byte(o, ',');
    switch (s->column) {
    case CHROPROF__STACK: chroprof__put_u64(o, stack); break;
    case CHROPROF__TIME: chroprof__put_ms(o, time); break;
    case CHROPROF__WEIGHT: chroprof__put_u64(o, weight); break;
    case CHROPROF__CPU: chroprof__put_u64(o, cpu_ns); break;
    default: break;
    }
}

static uint64_t chroprof__firefox_measure(const chroprof *p, uint32_t path, bool waiting)
{
    const chroprof__path *row = p->paths + path;
    uint64_t exec = chroprof__ns(p->core, row->exec);
    if (!waiting)
        return exec;
    uint64_t delay = chroprof__ns(p->core, chroprof__delay_ticks(p, row));
    return chroprof__minus(chroprof__wall_ns(p, row), exec + delay);
}

static void chroprof__sample_path(chroprof__samples *s, uint32_t path, bool waiting)
{
    uint64_t weight = chroprof__firefox_measure(s->f->p, path, waiting);
    if (weight > 0)
        chroprof__sample_cell(s, path, weight);
}

/* Asks for what is read of the path after this one, while this one is written. */
static void chroprof__fetch_path(const chroprof__path *row)
{
#if defined(__GNUC__)
    __builtin_prefetch(&row->exec);
    __builtin_prefetch(&row->next);
#else
    (void)row;
#endif
}

/* In preorder, so that a stack chart shows the tree itself; counted in the order of the rows, which
 * is faster. */
static void chroprof__samples_of_tree(chroprof__samples *s)
{
    const chroprof__path *paths = s->f->p->paths;
    uint32_t k;
    if (s->column == CHROPROF__LENGTH)
        for (k = CHROPROF__FIRST_PATH; k < s->f->paths; k++)
            chroprof__sample_path(s, k, false);
    else
        for (k = paths[0].next; k != 0 && !s->f->out->failed; k = paths[k].next) {
            chroprof__fetch_path(paths + paths[k].next);
            chroprof__sample_path(s, k, false);
        }
    chroprof__sample_path(s, CHROPROF__UNTRACKED, false);
    chroprof__sample_path(s, CHROPROF__LOOP, false);
    chroprof__sample_path(s, CHROPROF__IDLE, false);
}

static void chroprof__samples_of_waiting(chroprof__samples *s)
{
    uint32_t k;
    for (k = CHROPROF__FIRST_PATH; k < s->f->paths && !s->f->out->failed; k++)
        chroprof__sample_path(s, k, true);
}

/* One after the other: how often futures of a path were met paused, as the sampler drew them. */
static void chroprof__samples_of_draws(chroprof__samples *s)
{
    chroprof_wall row;
    uint32_t k;
    for (k = CHROPROF__UNTRACKED; k < chroprof__wall_count(s->f->p) && !s->f->out->failed; k++)
        if (chroprof__read_wall(s->f->p, k, &row) && row.paused > 0) {
            chroprof__row_cell(s, k, s->time, row.paused, 0);
            s->time += s->f->sampler.period_ns;
        }
}

/* Part number k of n equal parts of a value; all of them add up to it. */
static uint64_t chroprof__part(uint64_t value, uint64_t k, uint64_t n)
{
    uint64_t until = value / n * (k + 1) + value % n * (k + 1) / n;
    return until - (value / n * k + value % n * k / n);
}

/* ---- the timeline of windows. Each bin is in two kinds of stretches: the stalls, at their own
 * time, and what is left of the bin, spread evenly over the rest of it. */

typedef struct chroprof__bin {
    uint64_t start, end;
    uint64_t part;                         /* longest cell */
    uint64_t left[CHROPROF__FIREFOX_ROWS]; /* not in stalls */
} chroprof__bin;

static uint64_t chroprof__bin_sum(const chroprof__firefox *f, const uint64_t *rows)
{
    uint64_t sum = 0;
    uint32_t row;
    for (row = 0; row < f->rows; row++)
        sum += rows[row];
    return sum;
}

static void chroprof__begin_bin(const chroprof__firefox *f, uint32_t bin, uint64_t start,
                                chroprof__bin *b)
{
    uint32_t row;
    for (row = 0; row < f->rows; row++)
        b->left[row] = f->ns[row][bin];
    b->start = start;
    b->end = start + chroprof__bin_sum(f, b->left);
    b->part = (b->end - b->start) / f->chunks + 1;
}

/* What a stall has in a bin, by row: its biggest slices, and for the rest of it whatever there is
 * but idle. Never more than is left, which becomes less by it. */
static uint64_t chroprof__take_piece(const chroprof__firefox *f, const chroprof__piece *piece,
                                     chroprof__bin *b, uint64_t *take)
{
    uint64_t low = piece->start > b->start ? piece->start : b->start;
    uint64_t high = piece->end < b->end ? piece->end : b->end;
    uint64_t room = chroprof__minus(high, low);
    uint64_t want, busy = 0;
    uint32_t k;
    memset(take, 0, CHROPROF__FIREFOX_ROWS * sizeof *take);
    for (k = 0; k < piece->count && room > 0; k++) {
        uint32_t row = piece->rows[k];
        want = chroprof__weigh(piece->ns[k], high - low, piece->end - piece->start);
        want = want < room ? want : room;
        want = want < b->left[row] ? want : b->left[row];
        take[row] += want;
        b->left[row] -= want;
        room -= want;
    }
    for (k = 0; k + 1 < f->rows; k++)
        busy += b->left[k];
    room = room < busy ? room : busy;
    for (k = 0; k + 1 < f->rows && room > 0; k++) {
        want = chroprof__weigh(b->left[k], room, busy);
        take[k] += want;
        b->left[k] -= want;
    }
    return chroprof__bin_sum(f, take);
}

/* From one place of a mix of this length to another, in cells that look alike: a selected range
 * counts in proportion to its length. */
static void chroprof__put_mix(chroprof__samples *s, const uint64_t *rows, uint64_t from,
                              uint64_t to, uint64_t length, uint64_t part)
{
    uint64_t n = (to - from) / part + 1, low = from, high;
    uint64_t k;
    uint32_t row;
    n = n < s->f->chunks ? n : s->f->chunks;            /* more only where a damaged bin wraps */
    for (k = 0; k < n && length > 0; k++, low = high) {
        high = low + chroprof__part(to - from, k, n);
        for (row = 0; row < s->f->rows; row++) {
            uint64_t weight = chroprof__weigh(rows[row], high, length) -
                              chroprof__weigh(rows[row], low, length);
            uint32_t site = chroprof__firefox_row_site(s->f, row);
            if (weight > 0)
                chroprof__sample_cell(s, site < CHROPROF__OTHER ? site : s->f->paths + row, weight);
        }
    }
}

/* Once more, now that it is known what is left; in a gap no more than the gaps before have not. */
static void chroprof__put_bin(chroprof__samples *s, uint32_t bin, const chroprof__bin *rest,
                              uint32_t first)
{
    const chroprof__firefox *f = s->f;
    uint64_t take[CHROPROF__FIREFOX_ROWS];
    uint64_t length = chroprof__bin_sum(f, rest->left), used = 0;
    chroprof__bin b;
    chroprof__begin_bin(f, bin, rest->start, &b);
    for (; first < f->piece_count && f->pieces[first].start < b.end; first++) {
        uint64_t gap = used + chroprof__minus(f->pieces[first].start, s->time);
        uint64_t taken = chroprof__take_piece(f, f->pieces + first, &b, take);
        gap = gap < length ? gap : length;
        chroprof__put_mix(s, rest->left, used, gap, length, b.part);
        chroprof__put_mix(s, take, 0, taken, taken, b.part);
        used = gap;
    }
    chroprof__put_mix(s, rest->left, used, length, length, b.part);
}

static void chroprof__samples_of_time(chroprof__samples *s)
{
    const chroprof__firefox *f = s->f;
    uint64_t take[CHROPROF__FIREFOX_ROWS];
    uint32_t bin, first = 0, k;
    chroprof__bin rest;
    for (bin = 0; bin < f->bins && !f->out->failed; bin++) {
        chroprof__begin_bin(f, bin, s->time, &rest);
        while (first < f->piece_count && f->pieces[first].end <= rest.start)
            first++;
        for (k = first; k < f->piece_count && f->pieces[k].start < rest.end; k++)
            (void)chroprof__take_piece(f, f->pieces + k, &rest, take);
        chroprof__put_bin(s, bin, &rest, first);
    }
}

/* ---- the timeline of samples */

static uint32_t chroprof__place_stack(const chroprof__firefox *f, uint32_t place)
{
    return f->first_node - CHROPROF__PLACES + place;
}

static uint32_t chroprof__row_stack(const chroprof__firefox *f, const chroprof_sample_row *row)
{
    bool idle = row->state == CHROPROF_SAMPLE_IDLE;
    if (row->stack == 0 || row->stack > f->nodes)
        return idle ? (uint32_t)CHROPROF__IDLE : chroprof__place_stack(f, CHROPROF__PLACE_LOST);
    if (chroprof__nodes(f->p->core)[row->stack].item ==
        chroprof__item(CHROPROF__MARK, CHROPROF__MARK_IDLE))
        idle = false;                       /* says so itself */
    return f->first_node + row->stack - 1 + (idle ? f->nodes : 0);
}

/* A row, in parts if it is long: the viewer counts a sample where it begins and knows no length. */
static void chroprof__put_row(chroprof__samples *s, const chroprof_sample_row *row, uint64_t start,
                              uint64_t end)
{
    uint64_t n = (end - start) / (s->f->end_ns / CHROPROF__FIREFOX_CHUNKS + 1) + 1;
    uint32_t stack = chroprof__row_stack(s->f, row);
    uint64_t k, at = start;
    n = n < row->weight ? n : chroprof__or(row->weight, 1);
    for (k = 0; k < n; k++) {
        chroprof__row_cell(s, stack, at, chroprof__part(row->weight, k, n),
                           k == 0 ? row->cpu_ns : 0);
        at += chroprof__part(end - start, k, n);
    }
}

/* In the stack chart a box lasts to the next sample: where the timer had nothing to count, which is
 * where the thread slept, it must end. */
static void chroprof__put_gap(chroprof__samples *s, uint64_t next)
{
    uint64_t period = s->f->sampler.period_ns;
    uint32_t place = chroprof__place_stack(s->f, CHROPROF__PLACE_GAP);
    if (period > 0 && chroprof__minus(next, s->time) > 2 * period)
        chroprof__row_cell(s, place, s->count > 0 ? s->time + period : 0, 0, 0);
}

/* Times never go back, whatever a block says. */
static void chroprof__samples_of_rows(chroprof__samples *s)
{
    const chroprof__firefox *f = s->f;
    chroprof_sample_row row;
    uint64_t k;
    for (k = 0; k < f->samples && !f->out->failed; k++) {
        chroprof__read_sample(f->p, k, &row);
        uint64_t start = row.at_ns > s->time ? row.at_ns : s->time;
        uint64_t end = row.at_ns + row.duration_ns;
        end = end > start ? end : start;
        chroprof__put_gap(s, start);
        chroprof__put_row(s, &row, start, end);
        s->time = end;
    }
    chroprof__put_gap(s, f->end_ns);
    s->time = f->end_ns;
}

/* Are the weights of this thread numbers of samples? */
static bool chroprof__counts_samples(const chroprof__firefox *f, uint32_t thread)
{
    return thread == CHROPROF__THREAD_DRAWN || (thread == CHROPROF__THREAD_TIME && f->samples > 0);
}

/* The last sample has no weight: in a stack chart it ends the box before it. */
static uint64_t chroprof__firefox_samples(const chroprof__firefox *f, uint32_t thread,
                                          uint32_t column)
{
    chroprof__samples s;
    s.f = f;
    s.column = column;
    s.count = 0;
    s.time = 0;
    if (thread == CHROPROF__THREAD_TREE)
        chroprof__samples_of_tree(&s);
    else if (thread == CHROPROF__THREAD_WAITING)
        chroprof__samples_of_waiting(&s);
    else if (thread == CHROPROF__THREAD_DRAWN)
        chroprof__samples_of_draws(&s);
    else if (f->samples > 0)
        chroprof__samples_of_rows(&s);
    else
        chroprof__samples_of_time(&s);
    if (chroprof__counts_samples(f, thread))
        chroprof__row_cell(&s, CHROPROF__IDLE, s.time, 0, 0);
    else
        chroprof__sample_cell(&s, CHROPROF__IDLE, 0);
    return s.count;
}

static void chroprof__firefox_sample_table(const chroprof__firefox *f, uint32_t thread)
{
    bool counted = chroprof__counts_samples(f, thread);
    chroprof__put_text(f->out, "\"samples\":{\"length\":");
    chroprof__put_u64(f->out, chroprof__firefox_samples(f, thread, CHROPROF__LENGTH));
    chroprof__put_text(f->out, ",\"stack\":[");
    (void)chroprof__firefox_samples(f, thread, CHROPROF__STACK);
    chroprof__put_text(f->out, "],\"time\":[");
    (void)chroprof__firefox_samples(f, thread, CHROPROF__TIME);
    chroprof__put_text(f->out, "],\"weight\":[");
    (void)chroprof__firefox_samples(f, thread, CHROPROF__WEIGHT);
    if (counted && thread == CHROPROF__THREAD_TIME) {
        chroprof__put_text(f->out, "],\"threadCPUDelta\":[");
        (void)chroprof__firefox_samples(f, thread, CHROPROF__CPU);
    }
    chroprof__put_text(f->out, "],\"weightType\":\"");
    chroprof__put_text(f->out, counted ? "samples" : "tracing-ms");
    chroprof__put_text(f->out, "\"},\n");
}

/* ---- markers: the stalls, then the shares of the loop in each bin */

enum {
    CHROPROF__MARK_NAME, CHROPROF__MARK_START, CHROPROF__MARK_END, CHROPROF__MARK_PHASE,
    CHROPROF__MARK_CATEGORY, CHROPROF__MARK_DATA, CHROPROF__MARK_COLUMNS
};

/* The code where most of its samples fell, else the path of its biggest slice. */
static uint32_t chroprof__firefox_cause(const chroprof__firefox *f, const chroprof_stall *stall)
{
    uint32_t node = stall->sample_count > 0 ? stall->samples[0].stack : 0;
    if (node != 0 && node <= f->nodes)
        return f->first_node + node - 1;
    return stall->slice_count > 0 ? stall->slices[0].path : (uint32_t)CHROPROF__LOOP;
}

static void chroprof__firefox_stall_data(const chroprof__firefox *f, const chroprof_stall *stall)
{
    const chroprof_stall_slice *slice = stall->slices;
    chroprof__put_text(f->out, "{\"type\":\"Stall\",\"handler\":");
    chroprof__put_json_text(f->out, stall->slice_count > 0 ? slice->name : "(loop)");
    chroprof__put_text(f->out, ",\"slice\":");
    chroprof__put_ms(f->out, stall->slice_count > 0 ? slice->exec_ns : 0);
    chroprof__put_text(f->out, ",\"dur\":");
    chroprof__put_ms(f->out, stall->length_ns);
    chroprof__put_text(f->out, ",\"events\":");
    chroprof__put_u64(f->out, stall->events);
    chroprof__put_text(f->out, ",\"cause\":{\"stack\":");
    chroprof__put_u64(f->out, chroprof__firefox_cause(f, stall));
    chroprof__put_text(f->out, ",\"time\":");
    chroprof__put_ms(f->out, stall->start_ns);
    chroprof__put_text(f->out, ",\"tid\":1}}");
}

static void chroprof__firefox_stall(const chroprof__firefox *f, const chroprof_stall *stall,
                                    uint32_t column)
{
    bool pass = stall->kind == CHROPROF_STALL_PASS;
    uint32_t path = stall->slice_count > 0 ? stall->slices[0].path : (uint32_t)CHROPROF__LOOP;
    switch (column) {
    case CHROPROF__MARK_NAME:
        chroprof__put_u64(f->out, pass ? CHROPROF__WORD_PASS : CHROPROF__WORD_TURN);
        break;
    case CHROPROF__MARK_START: chroprof__put_ms(f->out, stall->start_ns); break;
    case CHROPROF__MARK_END: chroprof__put_ms(f->out, stall->start_ns + stall->length_ns); break;
    case CHROPROF__MARK_PHASE: chroprof__put_byte(f->out, '1'); break;
    case CHROPROF__MARK_CATEGORY:
        chroprof__put_u64(f->out, chroprof__firefox_category(f, f->p->paths[path].site));
        break;
    default: chroprof__firefox_stall_data(f, stall); break;
    }
}

/* value / whole as 0.dddddd, value <= whole. */
static void chroprof__put_share(chroprof__out *o, uint64_t value, uint64_t whole)
{
    while (whole >> 40) {
        whole >>= 1;
        value >>= 1;
    }
    chroprof__put_fixed(o, whole > 0 ? value * 1000000u / whole : 0, 6);
}

static void chroprof__firefox_use_data(const chroprof__firefox *f, uint32_t bin)
{
    uint64_t whole = 0;
    uint32_t row;
    for (row = 0; row < f->rows; row++)
        whole += f->ns[row][bin];
    chroprof__put_text(f->out, "{\"type\":\"Use\"");
    for (row = 0; row < chroprof__firefox_lines(f); row++) {
        chroprof__put_byte(f->out, ',');
        chroprof__firefox_key(f, row);
        chroprof__put_byte(f->out, ':');
        chroprof__put_share(f->out, f->ns[row][bin], whole);
    }
    chroprof__put_byte(f->out, '}');
}

static void chroprof__firefox_use(const chroprof__firefox *f, uint32_t bin, uint32_t column)
{
    const chroprof__core *c = f->p->core;
    switch (column) {
    case CHROPROF__MARK_NAME: chroprof__put_u64(f->out, CHROPROF__WORD_USE); break;
    case CHROPROF__MARK_START:
        chroprof__put_ms(f->out, chroprof__ns(c, chroprof__firefox_border(f, bin)));
        break;
    case CHROPROF__MARK_END:
        chroprof__put_ms(f->out, chroprof__ns(c, chroprof__firefox_border(f, bin + 1)));
        break;
    case CHROPROF__MARK_PHASE:
    case CHROPROF__MARK_CATEGORY: chroprof__put_byte(f->out, '1'); break;
    default: chroprof__firefox_use_data(f, bin); break;
    }
}

static void chroprof__firefox_marker_column(const chroprof__firefox *f, uint32_t column)
{
    uint64_t serial = 0;
    chroprof_stall stall;
    uint32_t bin;
    while (!f->out->failed && chroprof__read_stall(f->p, &serial, &stall)) {
        chroprof__firefox_stall(f, &stall, column);
        chroprof__put_byte(f->out, ',');
    }
    for (bin = 0; bin < f->bins && !f->out->failed; bin++) {
        if (bin != 0)
            chroprof__put_byte(f->out, ',');
        chroprof__firefox_use(f, bin, column);
    }
}

static void chroprof__firefox_markers(const chroprof__firefox *f, bool empty)
{
    static const char names[CHROPROF__MARK_COLUMNS][10] = {
        "name", "startTime", "endTime", "phase", "category", "data"
    };
    uint32_t column;
    chroprof__put_text(f->out, "\"markers\":{\"length\":");
    chroprof__put_u64(f->out, empty ? 0 : f->stalls + f->bins);
    for (column = 0; column < CHROPROF__MARK_COLUMNS; column++) {
        chroprof__put_text(f->out, ",\"");
        chroprof__put_text(f->out, names[column]);
        chroprof__put_text(f->out, "\":[");
        if (!empty)
            chroprof__firefox_marker_column(f, column);
        chroprof__put_byte(f->out, ']');
    }
    chroprof__put_text(f->out, "}}");
}

static const char *chroprof__firefox_thread_name(const chroprof__firefox *f, uint32_t thread)
{
    switch (thread) {
    case CHROPROF__THREAD_TREE: return "Exact tree of exec time (no order of time)";
    case CHROPROF__THREAD_WAITING: return "Waiting: wall of paused futures";
    case CHROPROF__THREAD_DRAWN: return "Waiting: paused futures that the sampler met";
    default: break;
    }
    if (f->samples == 0)
        return "Timeline, made from stalls and windows (no sampler)";
    if (f->sampler.first_period_ns == 0)
        return "Timeline of samples";
    return f->sampler.mode == CHROPROF_SAMPLER_WALL ? "Timeline of samples (wall clock)"
                                                    : "Timeline of samples (CPU time)";
}

static void chroprof__firefox_thread(const chroprof__firefox *f, uint32_t thread)
{
    chroprof__put_text(f->out, thread == 0 ? "\n{\"name\":\"" : ",\n{\"name\":\"");
    chroprof__put_text(f->out, chroprof__firefox_thread_name(f, thread));
    chroprof__put_text(f->out, "\",\"isMainThread\":");
    chroprof__put_text(f->out, thread == 0 ? "true" : "false");
    chroprof__put_text(f->out, ",\"processType\":\"default\",\"processName\":");
    chroprof__put_json_text(f->out, chroprof__firefox_program(f->p));
    chroprof__put_text(f->out, ",\"processStartupTime\":0,\"processShutdownTime\":null,"
                               "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
                               "\"pid\":\"");
    chroprof__put_u64(f->out, f->p->core->pid);
    chroprof__put_text(f->out, "\",\"tid\":");
    chroprof__put_u64(f->out, (uint64_t)thread + 1);
    chroprof__put_text(f->out, ",\"showMarkersInTimeline\":true,\n");
    chroprof__firefox_sample_table(f, thread);
    chroprof__firefox_markers(f, thread != CHROPROF__THREAD_TIME);
}

/* ---- shared tables */

/* Frames, and functions, before those of the nodes. */
static uint32_t chroprof__firefox_places(const chroprof__firefox *f)
{
    return f->sites + CHROPROF__PLACES;
}

static void chroprof__item_stack_frame(const chroprof__firefox *f, uint32_t k)
{
    uint32_t frame;
    if (k < f->paths)
        frame = f->p->paths[k].site;
    else if (k < f->paths + f->top_count)
        frame = chroprof__firefox_row_site(f, k - f->paths);
    else if (k < f->first_node)
        frame = f->sites + k - f->paths - f->top_count;
    else if (k < f->first_node + f->nodes)
        frame = chroprof__firefox_places(f) + k - f->first_node;
    else
        frame = CHROPROF__IDLE;
    chroprof__put_u64(f->out, frame);
}

static void chroprof__item_prefix(const chroprof__firefox *f, uint32_t k)
{
    uint32_t last = f->first_node + f->nodes;
    uint32_t above = 0;
    if (k < f->paths)
        above = f->p->paths[k].parent;
    else if (k >= last)
        above = k - f->nodes;
    else if (k >= f->first_node && chroprof__nodes(f->p->core)[k - f->first_node + 1].parent != 0)
        above = f->first_node + chroprof__nodes(f->p->core)[k - f->first_node + 1].parent - 1;
    if (above != 0)
        chroprof__put_u64(f->out, above);
    else
        chroprof__put_text(f->out, "null");
}

/* Of the frame of a node: its site; f->sites for code and what is not known. */
static uint32_t chroprof__node_site(const chroprof__firefox *f, uint32_t node)
{
    uint64_t item = chroprof__nodes(f->p->core)[node].item;
    if (chroprof__item_kind(item) == CHROPROF__TASK)
        return f->p->paths[chroprof__item_value(item)].site;
    if (item == chroprof__item(CHROPROF__MARK, CHROPROF__MARK_IDLE))
        return CHROPROF__IDLE;
    return item == chroprof__item(CHROPROF__MARK, CHROPROF__MARK_LOOP) ? (uint32_t)CHROPROF__LOOP
                                                                      : f->sites;
}

/* The site of frame k, f->sites and more if it has none. */
static uint32_t chroprof__frame_site(const chroprof__firefox *f, uint32_t k)
{
    uint32_t places = chroprof__firefox_places(f);
    return k < places ? k : chroprof__node_site(f, k - places + 1);
}

/* Code has the category of the task above it, which null stands for. */
static bool chroprof__has_category(const chroprof__firefox *f, uint32_t k)
{
    return k < chroprof__firefox_places(f) || chroprof__frame_site(f, k) < f->sites;
}

static void chroprof__item_category(const chroprof__firefox *f, uint32_t k)
{
    if (chroprof__has_category(f, k))
        chroprof__put_u64(f->out, chroprof__firefox_category(f, chroprof__frame_site(f, k)));
    else
        chroprof__put_text(f->out, "null");
}

static void chroprof__item_subcategory(const chroprof__firefox *f, uint32_t k)
{
    chroprof__put_text(f->out, chroprof__has_category(f, k) ? "0" : "null");
}

static void chroprof__item_line(const chroprof__firefox *f, uint32_t k)
{
    uint32_t site = chroprof__frame_site(f, k);
    uint32_t line = site < f->sites ? chroprof__sites(f->p->core)[site].line : 0;
    if (line != 0)
        chroprof__put_u64(f->out, line);
    else
        chroprof__put_text(f->out, "null");
}

/* The node that a key was first met with, which is this one if it is new. What shares its place in
 * the table is forgotten: then a function has one row more. */
static uint32_t chroprof__codes_find(chroprof__codes *codes, uint64_t key, uint32_t node)
{
    uint32_t k = chroprof__hash_index(key, CHROPROF__FIREFOX_CODES);
    if (codes->nodes[k] == 0 || codes->keys[k] != key) {
        codes->keys[k] = key;
        codes->nodes[k] = node;
    }
    return codes->nodes[k];
}

/* Functions are told apart by their names, of which the linker has one copy each, those without by
 * their address; most addresses are seen many times, and looking for a name is dear. Asked for all
 * nodes in their order, from the first. */
static uint32_t chroprof__code_node(const chroprof__firefox *f, uint32_t node)
{
    uint64_t item = chroprof__nodes(f->p->core)[node].item;
    chroprof_stack_frame frame;
    if (node == 1)
        memset(f->codes, 0, sizeof *f->codes);
    uint32_t first = chroprof__codes_find(f->codes, item, node);
    if (first != node || !chroprof__is_code(item))
        return first;
    chroprof__read_node(f->p, node, &frame);
    if (*frame.name == 0)
        return first;
    first = chroprof__codes_find(f->codes, (uint64_t)(uintptr_t)frame.name | UINT64_C(1) << 63,
                                 node);
    f->codes->nodes[chroprof__hash_index(item, CHROPROF__FIREFOX_CODES)] = first;
    return first;
}

static void chroprof__item_function(const chroprof__firefox *f, uint32_t k)
{
    uint32_t places = chroprof__firefox_places(f), function = k;
    if (k >= places) {
        uint32_t first = chroprof__code_node(f, k - places + 1);
        uint32_t site = chroprof__frame_site(f, k);
        function = site < f->sites ? site : places + first - 1;
    }
    chroprof__put_u64(f->out, function);
}

static void chroprof__item_name(const chroprof__firefox *f, uint32_t k)
{
    uint64_t places = chroprof__firefox_places(f);
    uint64_t first = CHROPROF__WORD_SITES + 2 * (uint64_t)f->sites + f->modules;
    if (k < f->sites)
        chroprof__put_u64(f->out, CHROPROF__WORD_SITES + 2 * (uint64_t)k);
    else
        chroprof__put_u64(f->out, k < places ? k - f->sites : first + k - places);
}

/* The library that a function is of; 0 is the program itself. */
static void chroprof__item_resource(const chroprof__firefox *f, uint32_t k)
{
    uint32_t places = chroprof__firefox_places(f);
    chroprof__put_u64(f->out, k < places ? 0 : chroprof__nodes(f->p->core)[k - places + 1].module);
}

static void chroprof__item_module(const chroprof__firefox *f, uint32_t k)
{
    chroprof__put_u64(f->out, k == 0 ? (uint64_t)CHROPROF__WORD_PROGRAM
                              : CHROPROF__WORD_SITES + 2 * (uint64_t)f->sites + k - 1);
}

static void chroprof__item_file(const chroprof__firefox *f, uint32_t k)
{
    chroprof__put_u64(f->out, CHROPROF__WORD_SITES + 2 * (uint64_t)k + 1);
}

static void chroprof__item_source(const chroprof__firefox *f, uint32_t k)
{
    if (k < f->sites && chroprof__sites(f->p->core)[k].file != 0)
        chroprof__put_u64(f->out, k);
    else
        chroprof__put_text(f->out, "null");
}

static void chroprof__firefox_table(const chroprof__firefox *f, const char *name, uint64_t length)
{
    chroprof__put_text(f->out, ",\n\"");
    chroprof__put_text(f->out, name);
    chroprof__put_text(f->out, "\":{\"length\":");
    chroprof__put_u64(f->out, length);
}

/* Of code that the linker has no name for the address, as a debugger wants it. */
static void chroprof__put_code_name(const chroprof__firefox *f, uint32_t node)
{
    static const char hex[] = "0123456789abcdef";
    chroprof_stack_frame frame;
    uint32_t digits = 1;
    chroprof__read_node(f->p, node, &frame);
    if (frame.kind != CHROPROF_FRAME_NATIVE || *frame.name != 0) {
        chroprof__put_json_text(f->out, frame.name);
        return;
    }
    while (digits < 16 && frame.address >> (4 * digits) != 0)
        digits++;
    chroprof__put_text(f->out, "\"0x");
    while (digits-- > 0)
        chroprof__put_byte(f->out, hex[frame.address >> (4 * digits) & 15u]);
    chroprof__put_byte(f->out, '"');
}

/* The path of each module, then of each node the name, once a function. */
static void chroprof__firefox_code_strings(const chroprof__firefox *f)
{
    uint32_t k;
    for (k = 0; k < f->modules && !f->out->failed; k++) {
        chroprof__put_byte(f->out, ',');
        chroprof__put_json_text(f->out, chroprof__modules(f->p->core)[k].path);
    }
    for (k = 1; k <= f->nodes && !f->out->failed; k++) {
        chroprof__put_byte(f->out, ',');
        if (chroprof__code_node(f, k) == k)
            chroprof__put_code_name(f, k);
        else
            chroprof__put_text(f->out, "\"\"");
    }
}

static void chroprof__firefox_strings(const chroprof__firefox *f)
{
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t k;
    chroprof__put_text(f->out, "\"shared\":{\"stringArray\":[\"(all other sites)\","
                               "\"(no samples)\",\"(frames missing)\",\"Stall: turn\","
                               "\"Stall: pass\",\"Share of the loop\",");
    chroprof__put_json_text(f->out, chroprof__firefox_program(f->p));
    for (k = 0; k < f->sites && !f->out->failed; k++) {
        chroprof__read_site_name(f->p, k, &name, &file, &line);
        chroprof__put_byte(f->out, ',');
        chroprof__put_json_text(f->out, name);
        chroprof__put_byte(f->out, ',');
        chroprof__put_json_text(f->out, file);
    }
    chroprof__firefox_code_strings(f);
    chroprof__put_byte(f->out, ']');
}

static void chroprof__firefox_stacks(const chroprof__firefox *f)
{
    uint32_t stacks = f->first_node + f->nodes + f->twins;
    chroprof__firefox_table(f, "stackTable", stacks);
    chroprof__firefox_column(f, "frame", stacks, chroprof__item_stack_frame);
    chroprof__firefox_column(f, "prefix", stacks, chroprof__item_prefix);
}

static void chroprof__firefox_frames(const chroprof__firefox *f)
{
    uint32_t frames = chroprof__firefox_places(f) + f->nodes;
    chroprof__put_byte(f->out, '}');
    chroprof__firefox_table(f, "frameTable", frames);
    chroprof__firefox_fill(f, "address", frames, "-1");
    chroprof__firefox_fill(f, "inlineDepth", frames, "0");
    chroprof__firefox_column(f, "category", frames, chroprof__item_category);
    chroprof__firefox_column(f, "subcategory", frames, chroprof__item_subcategory);
    chroprof__firefox_column(f, "func", frames, chroprof__item_function);
    chroprof__firefox_fill(f, "nativeSymbol", frames, "null");
    chroprof__firefox_fill(f, "innerWindowID", frames, "null");
    chroprof__firefox_column(f, "line", frames, chroprof__item_line);
    chroprof__firefox_fill(f, "column", frames, "null");
}

static void chroprof__firefox_functions(const chroprof__firefox *f)
{
    uint32_t functions = chroprof__firefox_places(f) + f->nodes;
    chroprof__put_byte(f->out, '}');
    chroprof__firefox_table(f, "funcTable", functions);
    chroprof__firefox_column(f, "name", functions, chroprof__item_name);
    chroprof__firefox_fill(f, "isJS", functions, "false");
    chroprof__firefox_fill(f, "relevantForJS", functions, "false");
    chroprof__firefox_column(f, "resource", functions, chroprof__item_resource);
    chroprof__firefox_column(f, "source", functions, chroprof__item_source);
    chroprof__firefox_column(f, "lineNumber", functions, chroprof__item_line);
    chroprof__firefox_fill(f, "columnNumber", functions, "null");
}

static void chroprof__firefox_rest(const chroprof__firefox *f)
{
    uint32_t resources = 1 + f->modules;
    chroprof__put_byte(f->out, '}');
    chroprof__firefox_table(f, "resourceTable", resources);
    chroprof__firefox_fill(f, "lib", resources, "null");
    chroprof__firefox_column(f, "name", resources, chroprof__item_module);
    chroprof__firefox_fill(f, "host", resources, "null");
    chroprof__firefox_fill(f, "type", resources, "1");
    chroprof__put_text(f->out, "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
                               "\"name\":[],\"functionSize\":[]}");
    chroprof__firefox_table(f, "sources", f->sites);
    chroprof__firefox_fill(f, "id", f->sites, "null");
    chroprof__firefox_column(f, "filename", f->sites, chroprof__item_file);
    chroprof__put_text(f->out, "}}}\n");
}

CHROPROF__COLD void chroprof__write_as_firefox(chroprof__out *o, const chroprof *p)
{
    chroprof__firefox f;
    chroprof__codes codes;
    uint32_t thread;
    chroprof__firefox_read(&f, &codes, o, p);
    chroprof__firefox_meta(&f);
    for (thread = 0; thread < chroprof__firefox_threads(&f) && !o->failed; thread++)
        chroprof__firefox_thread(&f, thread);
    chroprof__put_text(o, "],\n\"counters\":[],\n");
    chroprof__firefox_strings(&f);
    chroprof__firefox_stacks(&f);
    chroprof__firefox_frames(&f);
    chroprof__firefox_functions(&f);
    chroprof__firefox_rest(&f);
}
#endif /* CHROPROF_NO_FIREFOX */

/* >>formats */

#ifdef CHROPROF__ANY_FORMAT
typedef void (*chroprof__format)(chroprof__out *o, const chroprof *p);

/* The one place where a format is bound to its section; NULL: left out. */
static chroprof__format chroprof__format_of(chroprof_format format)
{
#ifndef CHROPROF_NO_TEXT
    if (format == CHROPROF_TEXT)
        return chroprof__write_as_text;
#endif
#ifndef CHROPROF_NO_JSON
    if (format == CHROPROF_JSON)
        return chroprof__write_as_json;
#endif
#ifndef CHROPROF_NO_FOLDED
    if (format == CHROPROF_FOLDED)
        return chroprof__write_as_folded;
#endif
#ifndef CHROPROF_NO_PROMETHEUS
    if (format == CHROPROF_PROMETHEUS)
        return chroprof__write_as_prometheus;
#endif
#ifndef CHROPROF_NO_PPROF
    if (format == CHROPROF_PPROF)
        return chroprof__write_as_pprof;
#endif
#ifndef CHROPROF_NO_FIREFOX
    if (format == CHROPROF_FIREFOX)
        return chroprof__write_as_firefox;
#endif
    return NULL;
}

static int chroprof__emit(chroprof *p, chroprof_format format, const chroprof_text_options *look,
                          chroprof_writer write, void *user)
{
    chroprof__format emit = chroprof__format_of(format);
    chroprof__out o;
    if (p == NULL || p->core == NULL || write == NULL || emit == NULL)
        return -1;
    chroprof__tick_live(p);
    o.write = write;
    o.user = user;
    o.look = look;
    o.used = 0;
    o.failed = false;
    emit(&o, p);
    chroprof__flush(&o);
    return o.failed ? -1 : 0;
}
#else
static int chroprof__emit(chroprof *p, chroprof_format format, const chroprof_text_options *look,
                          chroprof_writer write, void *user)
{
    (void)p;
    (void)format;
    (void)look;
    (void)write;
    (void)user;
    return -1;
}
#endif

CHROPROF__COLD_API int chroprof_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                      void *user)
{
    return chroprof__emit(p, format, NULL, write, user);
}

CHROPROF__COLD_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                           chroprof_writer write, void *user)
{
    return chroprof__emit(p, CHROPROF_TEXT, options, write, user);
}

static const char chroprof__format_names[][12] = {
    "text", "json", "folded", "prometheus", "pprof", "firefox"
};

static const char *chroprof__content_type(chroprof_format format)
{
    if (format == CHROPROF_JSON || format == CHROPROF_FIREFOX)
        return "application/json";
    if (format == CHROPROF_PROMETHEUS)
        return "text/plain; version=0.0.4; charset=utf-8";
    return format == CHROPROF_PPROF ? "application/octet-stream" : "text/plain; charset=utf-8";
}

/* The rest of a pair after this key and "=", NULL for another key. */
static const char *chroprof__value_of(const char *pair, const char *key)
{
    size_t length = strlen(key);
    return strncmp(pair, key, length) == 0 && pair[length] == '=' ? pair + length + 1 : NULL;
}

static bool chroprof__parse_format(const char *value, size_t length, chroprof_query *out)
{
    for (size_t i = 0; i < sizeof(chroprof__format_names) / sizeof(*chroprof__format_names); i++) {
        const char *name = chroprof__format_names[i];
        if (strlen(name) == length && memcmp(value, name, length) == 0) {
            out->format = (chroprof_format)i;
            return true;
        }
    }
    return false;
}

static bool chroprof__parse_seconds(const char *value, size_t length, chroprof_query *out)
{
    uint32_t seconds = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || seconds > 86400)
            return false;
        seconds = seconds * 10 + (uint32_t)(value[i] - '0');
    }
    if (length == 0 || seconds > 86400)
        return false;
    out->seconds = seconds;
    return true;
}

static bool chroprof__parse_pair(const char *pair, const char *end, chroprof_query *out)
{
    const char *format = chroprof__value_of(pair, "format");
    const char *seconds = chroprof__value_of(pair, "seconds");
    if (format != NULL)
        return chroprof__parse_format(format, (size_t)(end - format), out);
    return seconds == NULL || chroprof__parse_seconds(seconds, (size_t)(end - seconds), out);
}

CHROPROF__COLD_API bool chroprof_parse_query(const char *query, chroprof_query *out)
{
    const char *pair = query != NULL ? query : "";
    bool good = true;
    memset(out, 0, sizeof *out);
    while (*pair != 0) {
        const char *end = pair;
        while (*end != 0 && *end != '&')
            end++;
        good = chroprof__parse_pair(pair, end, out) && good;
        pair = *end != 0 ? end + 1 : end;
    }
    out->content_type = chroprof__content_type(out->format);
    return good;
}

#ifndef CHROPROF_NO_STDIO
#ifdef CHROPROF__TERMINAL
static bool chroprof__terminal(FILE *out, uint32_t *columns)
{
    int number = fileno(out);
    if (number < 0 || !isatty(number))
        return false;
#ifdef TIOCGWINSZ
    {
        struct winsize size;
        if (ioctl(number, TIOCGWINSZ, &size) == 0)
            *columns = size.ws_col;
    }
#endif
    return true;
}
#else
static bool chroprof__terminal(FILE *out, uint32_t *columns)
{
    (void)out;
    (void)columns;
    return false;
}
#endif

static bool chroprof__wants_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return (no_color == NULL || *no_color == 0) && (term == NULL || strcmp(term, "dumb") != 0);
}

static uint32_t chroprof__env_columns(void)
{
    const char *text = getenv("COLUMNS");
    uint32_t columns = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && columns < 10000; text++)
        columns = columns * 10 + (uint32_t)(*text - '0');
    return columns;
}

static int chroprof__write_stream(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) != count;
}

CHROPROF__COLD_API int chroprof_dump(chroprof *p, chroprof_format format, FILE *out)
{
    chroprof_text_options look;
    int before = errno;
    if (out == NULL) {
        errno = EINVAL;
        return -1;
    }
    memset(&look, 0, sizeof look);
    look.color = chroprof__terminal(out, &look.columns) && chroprof__wants_color();
    if (look.columns == 0)
        look.columns = chroprof__env_columns();
    errno = 0;
    if (chroprof__emit(p, format, &look, chroprof__write_stream, out) == 0 && fflush(out) == 0) {
        errno = before;
        return 0;
    }
    if (errno == 0)
        errno = ferror(out) ? EIO : EINVAL;
    return -1;
}
#endif /* CHROPROF_NO_STDIO */

CHROPROF__COLD_END
#endif /* CHROPROF_IMPLEMENTATION */

/*
LICENCE

chroprof is available under two licences; choose whichever you prefer.

Alternative A - MIT No Attribution (MIT-0)

Copyright (c) 2026 The chroprof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of
this software and associated documentation files (the "Software"), to deal in
the Software without restriction, including without limitation the rights to
use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
of the Software, and to permit persons to whom the Software is furnished to do
so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

Alternative B - The Unlicense (https://unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
software, either in source code form or as a compiled binary, for any purpose,
commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this
software dedicate any and all copyright interest in the software to the public
domain. We make this dedication for the benefit of the public at large and to
the detriment of our heirs and successors. We intend this dedication to be an
overt act of relinquishment in perpetuity of all present and future rights to
this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
