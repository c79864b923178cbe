/* interface/reading.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>api reading Reads show the profile as of its last event and change nothing, so several of them
 * agree with each other. They work on a view too, and may be called from on_stall. Each list call
 * fills at most capacity rows of out and returns how many there are. To ask for that number, pass
 * NULL and capacity 0. */

/* Sites, largest first, without those that nothing used. Cost: sites + paths x depth, and a
 * sort. */
CHROPROF_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                   chroprof_order by);

/* Paths, in preorder: each parent right before its subtree. Cost: paths x depth. */
CHROPROF_API size_t chroprof_paths(const chroprof *p, chroprof_path *out, size_t capacity);

/* One site by its id. Returns false if there is none; *out is then zeroed, with "" for strings.
 * Cost: the paths of the site, each x depth. */
CHROPROF_API bool chroprof_read_rank(const chroprof *p, uint32_t site, chroprof_rank *out);

/* One path by its number, as chroprof_read_rank has a site. Cost: the paths below it, each x
 * depth. */
CHROPROF_API bool chroprof_read_path(const chroprof *p, uint32_t path, chroprof_path *out);

/* One path without those below, so with_children_ns is exec_ns. Paths are numbered from 3 on
 * without gaps. Cost: the depth of the running stack. */
CHROPROF_API bool chroprof_read_path_alone(const chroprof *p, uint32_t path, chroprof_path *out);

/* The name of a path. *parent becomes its parent (0: it is a root), *site its site; both pointers
 * may be NULL. For walks up the tree. Returns "" and sets 0 if this is no path of a site. Cost:
 * constant. */
CHROPROF_API const char *chroprof_path_name(const chroprof *p, uint32_t path, uint32_t *parent,
                                            uint32_t *site);

/* How many slices of a site are no longer than each of the bounds, which must rise. UINT64_MAX: all
 * that ended. The counts are what percentiles are made of, and as exact. Returns false if the site
 * has no percentiles, or got them after its first slice. Cost: a look at 600 counts. */
CHROPROF_API bool chroprof_slice_counts(const chroprof *p, uint32_t site,
                                        const uint64_t *bounds_ns, size_t count,
                                        uint64_t *slices);

/* The cursors below give the rows of a list one after the other, for callers without room for all
 * of them. Begin with *cursor = 0; each call moves it on. False: there is no further row, and *out
 * is not to be used. If the profile takes events meanwhile, each row is as of its call. This one
 * gives sites by their ids. Cost: the paths of the site x depth. */
CHROPROF_API bool chroprof_next_rank(const chroprof *p, uint64_t *cursor, chroprof_rank *out);

/* Sites that were used, by their ids: only name, file and line. Cost: max_paths at most. */
CHROPROF_API bool chroprof_next_site(const chroprof *p, uint64_t *cursor, chroprof_site_row *out);

/* Paths, in preorder. Cost: the paths below, each x depth. */
CHROPROF_API bool chroprof_next_path(const chroprof *p, uint64_t *cursor, chroprof_path *out);

/* Live futures, then the enter-frames on the stack. Cost: the free slots it passes, and depth. */
CHROPROF_API bool chroprof_next_future(const chroprof *p, uint64_t *cursor, chroprof_future *out);

/* Stalls that were kept, the oldest first. Cost: the table of stalls. */
CHROPROF_API bool chroprof_next_stall(const chroprof *p, uint64_t *cursor, chroprof_stall *out);

/* What happened in a stall, by its number: its steps, oldest first, in the form of
 * chroprof_timeline. They outlive the ring. Up to eight steps come before the stall began, then the
 * step that began it. All steps up to its end follow, or the first and the last of them and those
 * around its longest intervals. They are at most CHROPROF_INCIDENT_STEPS; left_out of a step tells
 * how many are missing before it, left_out of the stall how many in all. The steps of
 * max_incidents stalls are kept. Returns how many there are; at most `capacity` are written, the
 * first ones. Cost: max_incidents. */
CHROPROF_API size_t chroprof_incident(const chroprof *p, uint64_t stall, chroprof_step *out,
                                      size_t capacity);

/* The slowest futures, as chroprof_slowest lists them. Cost: constant, plus the groups without
 * rows. */
CHROPROF_API bool chroprof_next_slowest(const chroprof *p, uint64_t *cursor, chroprof_slow *out);

/* Events in the ring, the oldest first. Cost: constant. */
CHROPROF_API bool chroprof_next_step(const chroprof *p, uint64_t *cursor, chroprof_step *out);

/* Samples in their ring, the oldest first. Cost: constant. */
CHROPROF_API bool chroprof_next_sample(const chroprof *p, uint64_t *cursor,
                                       chroprof_sample_row *out);

/* The tree of sampled stacks, one node per row: its innermost function, its weight and its parent.
 * Cost: constant; the name is looked up in its module. */
CHROPROF_API bool chroprof_next_stack(const chroprof *p, uint64_t *cursor, chroprof_stack_row *out);

/* What the draws of WALL mode met, one row per path. Cost: the paths it passes. */
CHROPROF_API bool chroprof_next_wall(const chroprof *p, uint64_t *cursor, chroprof_wall *out);

/* Live futures, in no order, then the enter-frames on the stack. Cost: max_futures. */
CHROPROF_API size_t chroprof_futures(const chroprof *p, chroprof_future *out, size_t capacity);

/* Time windows, oldest first. Cost: paths + sites x max_windows. */
CHROPROF_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity);

/* Windows, beginning with number first. The sums of all busy, idle and other times are
 * those of chroprof_totals: what one window loses by rounding, a later one gains. */
CHROPROF_API size_t chroprof_windows_from(const chroprof *p, uint32_t first, chroprof_window *out,
                                          size_t capacity);

/* Exec time of one site (chroprof_rank.id) in each window, in the order of chroprof_windows. Their
 * sum is the site's exec: what one window loses by rounding, a later one gains. An unknown id: 0
 * rows. Cost: paths of the site + max_windows. */
CHROPROF_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                          size_t capacity);

/* Windows of a site, beginning with number first. */
CHROPROF_API size_t chroprof_site_windows_from(const chroprof *p, uint32_t site, uint32_t first,
                                               uint64_t *exec_ns, size_t capacity);

/* The next windows, in order, at most `capacity`; the cursor is 0 (memset) before the first.
 * Returns how many are left, those written included; 0 at the end. Whoever reads all windows this
 * way looks at each cell once. A `next` that is set beforehand leaves out the windows before it,
 * and what they lost by rounding. */
CHROPROF_API size_t chroprof_next_windows(const chroprof *p, chroprof_windows_cursor *cursor,
                                          chroprof_window *out, size_t capacity);

/* The next windows of one site, as chroprof_next_windows has them. */
CHROPROF_API size_t chroprof_next_site_windows(const chroprof *p, uint32_t site,
                                               chroprof_windows_cursor *cursor, uint64_t *exec_ns,
                                               size_t capacity);

/* The ring: the last events between the two profile times (UINT64_MAX: up to the last one), oldest
 * first. Each step closes the interval that began with the step before. Returns how many there are;
 * at most `capacity` are written, the oldest. A reset and chroprof_merge forget the steps before
 * them; a difference has those since the older state. Cost: a look at each row. */
CHROPROF_API size_t chroprof_timeline(const chroprof *p, uint64_t from_ns, uint64_t to_ns,
                                      chroprof_step *out, size_t capacity);

/* Stalls that were kept, the longest and the most recent, oldest first. Cost: stalls squared. */
CHROPROF_API size_t chroprof_stalls(const chroprof *p, chroprof_stall *out, size_t capacity);

/* The slowest futures that finished, by site, each site's slowest first. A site has the four
 * slowest of the run, then at most four more that finished in the last five minutes. Futures that
 * were abandoned or dropped, and plain calls (enter), are not in it. Cost: rows. */
CHROPROF_API size_t chroprof_slowest(const chroprof *p, chroprof_slow *out, size_t capacity);

/* From now on all that this handle reads, writes and gives to a merge has show(user, id) instead of
 * each id except 0, for reports that others will read. NULL: the ids themselves. Different ids
 * should give different numbers. If all numbers are 0, the command's trace has no tracks for
 * futures. Cost: that call per id. */
CHROPROF_API void chroprof_show_ids(chroprof *p, uint64_t (*show)(void *user, uint64_t id),
                                    void *user);

/* The running stack as of the last event, top first, with barriers. If a program hangs, this shows
 * where. Hidden frames are not in it. */
CHROPROF_API size_t chroprof_frames(const chroprof *p, chroprof_frame *out, size_t capacity);

/* Which program it was, where, and until when; all zero and "" for a NULL or zeroed profile. Cost:
 * asks the system about the process if the profile is in a file. */
CHROPROF_API void chroprof_read_origin(const chroprof *p, chroprof_origin *out);

/* The options in force: capacities as they are, times, and the hooks of this handle without the
 * clock. All zero for a NULL or zeroed profile. */
CHROPROF_API void chroprof_read_options(const chroprof *p, chroprof_options *out);

/* Capacity, use and drops of every table: CHROPROF_TABLE_COUNT rows. */
CHROPROF_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity);

/* Waits inside tasks, by site and call, those with most time first; 8 at most. Their names are
 * valid until the next event. A merged profile and a difference have none. */
CHROPROF_API size_t chroprof_task_waits(const chroprof *p, chroprof_task_wait *out,
                                        size_t capacity);

/* The code that chroprof_name_held named for this, and its part, in millionths, in *ppm (not
 * NULL); "" and 0: nobody did. Valid until the next chroprof_name_held or reset. */
CHROPROF_API const char *chroprof_held_by(const chroprof *p, chroprof_finding_kind kind,
                                          uint64_t at_ns, uint32_t *ppm);

/* What keeps the loop awake, as chroprof_kept_awake told; "": nobody did. */
CHROPROF_API const char *chroprof_awake_by(const chroprof *p);

/* Every kind of anomaly, zero counts included: CHROPROF_ANOMALY_COUNT rows. */
CHROPROF_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out, size_t capacity);

/* One of these rows. Returns false for a NULL or zeroed profile, and for a kind that does not
 * exist; *out is then all zero and "". */
CHROPROF_API bool chroprof_read_anomaly(const chroprof *p, chroprof_anomaly_kind kind,
                                        chroprof_anomaly *out);

/* The figures of the whole loop; all zero for a NULL or zeroed profile. Cost: paths. */
CHROPROF_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out);

#ifndef CHROPROF_NO_FINDINGS
/* What stands out, most important first: at most one finding per kind, so at most
 * CHROPROF_FINDING_COUNT. There is always at least one: if nothing stands out, FINE says so. Each
 * figure in a text is one that the other reads show; ties and small numbers give no finding. 0 for
 * a NULL or zeroed profile. Cost: as chroprof_ranks, plus the ring, the live futures, the samples
 * and the windows of a few sites. Takes 10 KiB of stack. The thread that may read p; from on_stall
 * too. */
CHROPROF_API size_t chroprof_findings(const chroprof *p, chroprof_finding *out, size_t capacity);
#endif

/* Verifies that the profile is consistent: walks every table and compares both conservation laws.
 * Returns NULL if all holds, else a static text that names the first broken invariant. That is a
 * bug in chroprof.h, or a block that somebody wrote into. Cost: the block. */
CHROPROF_API const char *chroprof_check(const chroprof *p);
