/* interface/life.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>api life Unless a line says otherwise, only the one thread that sends this profile's events may
 * make a call, and no signal handler may. On a NULL or zeroed profile a call does nothing. */

/* Starts a profile in memory[0..size). The block may have any alignment and stays the caller's;
 * nothing else is ever allocated. options NULL: defaults. On an error it returns the reason, and
 * every call on p does nothing; chroprof_why_off and the reports of p tell the reason too. Cost:
 * writes the block once, plus some microseconds. */
CHROPROF_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                           const chroprof_options *options);

/* Bytes that are always enough for these options; a capacity of 0 counts with its default. NULL:
 * all defaults. Returns 0 if an option is beyond its limit. If every capacity is given,
 * chroprof_init refuses a block of fewer bytes. Otherwise it sizes the others to fit, down to
 * CHROPROF_MEMORY_MIN. Any thread. */
CHROPROF_API size_t chroprof_memory_size(const chroprof_options *options);

/* The smallest block that chroprof_init accepts (if all capacities are 0), in bytes: a whole number
 * of words. */
#define CHROPROF_MEMORY_MIN 9280

#ifndef CHROPROF_NO_COPIES
/* Opens a block that nobody writes, for reading: a copy, a file, the memory of a program that has
 * ended. The block is not trusted: every size, offset, index, string and link is checked. No bytes
 * in it can make this or a later read fail. size may be larger than the block. On success *view
 * works with every read and every output of this interface, and ignores events. The block is never
 * written to, and must stay as it is while the view is in use. On an error *view is as after a
 * failed chroprof_init. CHROPROF_ERR_BUSY: a program is writing the block, or died while it did;
 * use chroprof_snapshot then. Cost: reads the block once. Any thread. */
CHROPROF_API chroprof_result chroprof_open(chroprof *view, const void *block, size_t size);

/* Copies the block of a running, hung or killed program into memory, as a block that opens. The
 * copy of a living program ends now, and what is on top is charged up to now. The copy of a program
 * that has ended ends at its last event. totals.living says which; see PROFILES IN FILES. A copy is
 * exact if the program did nothing meanwhile. Otherwise each row is consistent, elapsed is the sum
 * of the rows, both laws hold, and totals.skew_ns and skew_events report the maximum skew. If the
 * program stopped inside an event, totals.doubt_events and doubt_ns name it. memory needs the size
 * of the live block and may have any alignment; after an error it holds nothing of use. The live
 * block is not trusted, but its memory must stay readable: if a mapped file is truncated, SIGBUS
 * kills the reader. Cost: reads the used part of the block up to three times, and asks the system
 * about the process. Any thread, any process; the writer pays nothing. */
CHROPROF_API chroprof_result chroprof_snapshot(const void *live_block, size_t live_size,
                                               void *memory, size_t size);

/* A snapshot of a program whose end you have just seen, as its parent does: unless it closed its
 * profile, what was on top is charged up to now, and totals.living is true. */
CHROPROF_API chroprof_result chroprof_snapshot_ended(const void *block, size_t block_size,
                                                     void *memory, size_t size);

/* Writes into memory a block that opens, with what happened between two states of one profile, as
 * if it had been reset at the older state. Each state is an opened snapshot; the newer may also be
 * the running profile as of its last event. Time 0 is the older state. calls are those that ended
 * since and those that are live. Sums, percentiles, windows, stalls, anomalies, drops and samples
 * are those of the time between. What ended in it but began before counts in percentiles and stalls
 * as a whole.
 * Windows are as many as there is room for if the ring still holds all events in between; else they
 * are as wide as the newer's. Maxima: one that grew is exact. One that did not grow is taken from
 * the percentiles' buckets, at most 1/8 too large. Without percentiles it is that of the newer
 * state. It is never more than the exec in between. The peaks of tables are those of the newer
 * state. Both laws hold.
 * memory needs the size of the newer block and may have any alignment. If the newer is a snapshot,
 * memory may be its own. After an error it holds nothing of use. CHROPROF_ERR_DIFFERENT: not two
 * states of one profile; CHROPROF_ERR_RESET: it was reset in between. Cost: copies the block once,
 * reads both once. Any thread that may read both. */
CHROPROF_API chroprof_result chroprof_difference(const chroprof *newer, const chroprof *older,
                                                 void *memory, size_t size);

/* Adds all figures of another profile, a view or one that runs, to those of p. Sites with equal
 * contents become one; paths are matched by their chains of sites, percentiles by their buckets. p
 * must serve only for merging: init it with options.clock = chroprof_clock_manual, without live
 * futures and frames. Figures are added as shown, in ns, so the order does not change the sums. If
 * blame and delay were rounded to different sums, the loop takes the difference (some ns), and both
 * laws hold.
 * The time of the other profile is appended to the time that p already has, so windows and stalls
 * follow each other. What is live stays live, as counts; slices under way count as they are now.
 * Maxima and tick_error_ppb are the largest; skew, doubt, anomalies and drops add up. Percentiles
 * are within 1/8 if the ticks of the other were not ns. A site that had none in one of the profiles
 * has none.
 * What does not fit in p is charged as in ERRORS AND DROPS. If paths did not fit, their sites and
 * those charged instead have no percentiles, and their time may be in later windows.
 * Samples are merged: stacks by their frames, functions by module and offset. So addresses may
 * move; names come from chroprof symbolize. The other's rows follow those that are there, and its
 * samples since its last event stand at the end of its time. Without max_samples in p they count as
 * dropped from that table.
 * CHROPROF_ERR_TARGET, CHROPROF_ERR_TIME: nothing was changed. Cost: paths x depth of the other,
 * and the windows of both. The thread of p, if it may read the other; not from on_stall. */
CHROPROF_API chroprof_result chroprof_merge(chroprof *p, const chroprof *other);
#endif

#if (defined(__unix__) || defined(__APPLE__)) && !defined(CHROPROF_NO_MMAP) \
    && !defined(CHROPROF_NO_STDIO)
/* Starts a profile in a new file, which others can read while the program runs and after it was
 * killed. The file appears at path whole. size 0: chroprof_memory_size(options). If a running
 * program owns the file at path: CHROPROF_ERR_OWNED. If its program ended, or another version of
 * chroprof wrote it and nobody holds its lock, the file is kept as PATH.prev and replaces an older
 * one; if anything else is there: CHROPROF_ERR_PREVIOUS. If the file at path is no profile:
 * CHROPROF_ERR_FORMAT. If the system refused: CHROPROF_ERR_FILE and errno. The whole file is
 * reserved, so you notice a full disk or a limit on file sizes (RLIMIT_FSIZE) here, not later. On
 * an error no file is left, and p is as after a failed chroprof_init. After fork the child's handle
 * is like a zeroed one until it calls chroprof_fork_child, at no cost to events. (Linux. Elsewhere
 * the child must not use the profile.) Needs hard links. Takes 8 KiB of stack, as do the calls
 * below; what they need beside it they map for themselves. Otherwise as chroprof_init. */
CHROPROF_API chroprof_result chroprof_map(chroprof *p, const char *path, size_t size,
                                          const chroprof_options *options);

/* In a forked child: begins a profile of its own with the parent's options, clock and callbacks. It
 * is in the file at path, as by chroprof_map, or, if path is NULL, in memory that chroprof_unmap
 * frees. If a program owns that file, as a daemon's parent may, this waits up to a second for it to
 * end. On an error p is as after a failed chroprof_init. Does nothing on a profile that
 * chroprof_map did not start. */
CHROPROF_API chroprof_result chroprof_fork_child(chroprof *p, const char *path);

/* Brings the profile up to now, notes in the file that the program ended it, and closes the file,
 * which stays. *p is zeroed. Does nothing on a profile that chroprof_map did not start. */
CHROPROF_API void chroprof_unmap(chroprof *p);

/* Who owns the file at path? CHROPROF_ERR_OWNED: a running program has its profile there.
 * CHROPROF_OK: it is the profile of a program that ended. CHROPROF_ERR_FORMAT or
 * CHROPROF_ERR_VERSION: it is no profile of this version. CHROPROF_ERR_FILE and errno: there is no
 * file, or it can't be read. Needs only permission to read, and changes nothing. Any thread. */
CHROPROF_API chroprof_result chroprof_file_owner(const char *path);
#endif

/* What a result code means, and which option to change. A static string, never NULL. Any thread. */
CHROPROF_API const char *chroprof_result_text(chroprof_result r);

/* CHROPROF_VERSION of the copy that is called, which may be in a library. Any thread. */
CHROPROF_API const char *chroprof_version(void);

/* sizeof the public struct of that name, such as "chroprof_rank", in the copy that is called; 0:
 * there is none. For bindings: see BINDINGS. Any thread. */
CHROPROF_API size_t chroprof_sizeof(const char *name);

/* Why p takes no events and what to do, as a static text; "" if it takes them. The texts tell a
 * failed chroprof_init or chroprof_map (of a file with its errno) from a missing one, a zeroed
 * handle from one that was never set, and a profile that is switched off. The text report and the
 * JSON say the same. Never NULL. Any thread that may read p. */
CHROPROF_API const char *chroprof_why_off(const chroprof *p);

/* Sets figures, profile time and windows to zero, as of the last event. Sites, paths, live futures
 * and the running stack stay. Cost: walks the whole block. Not from on_stall. */
CHROPROF_API void chroprof_reset(chroprof *p);

/* Off: brings the profile up to now, empties the running stack and ends idle; events then cost one
 * branch. On again: the time in between is not profile time, and no future is ready, but known
 * futures stay known. A call that changes nothing costs nothing. Cost: walks the live futures. Not
 * from on_stall. */
CHROPROF_API void chroprof_set_enabled(chroprof *p, bool on);

/* Whose profile this is, if not that of the program that writes it: of an observer, a replay, a
 * gateway. Takes pid, name, host, program (NULL: stays as it is), end_unix_ns (calendar time of
 * the last event so far, or of the beginning; 0: stays as it is) and estimated, which the totals,
 * the reports and whatever is merged from it then say; the other fields are for reading. host NULL:
 * this machine. */
CHROPROF_API void chroprof_set_origin(chroprof *p, const chroprof_origin *origin);

/* The profile began earlier, when chroprof_now(NULL) was this: the time since then is its own, as
 * the program's start. For code that runs before there is memory for a profile. Call it right after
 * chroprof_init or chroprof_map, before the first event, with the built-in clock. False: nothing
 * has changed; the same if that was max_step_ns ago or more. */
CHROPROF_API bool chroprof_began(chroprof *p, uint64_t when);

/* CPU time of the loop's thread since the profile began, by its clock (totals.cpu_clock_ns): reads
 * know from it how much of the idle was no sleep. Tell it again now and then. */
CHROPROF_API void chroprof_set_cpu_clock(chroprof *p, uint64_t ns);

/* A clock for options.clock that never moves by itself: time is the `now` of chroprof_event, 1 tick
 * = 1 ns. */
CHROPROF_API uint64_t chroprof_clock_manual(void *user);
