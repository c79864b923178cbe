/* interface/manual.h */
#pragma once

/* chroprof.h 0.3.0 - what blocks an event loop, and whom it delays - MIT-0 OR Unlicense

 chroprof finds what blocks a single-threaded event loop, whom it delays, and the line of code, at
 any moment and in production. One header, no dependency, no allocation.

 CONTENTS

   Quick start             The sampler
   What it does not do     Profiles in files
   Concepts                Bindings
   What counts when        Errors and drops
   The ring                Output formats
   Memory                  JSON, schema version 3
   Configuration           Cost per call
   Time source             Limits
   Threads, signals, fork

   To find code, search for >>name. Declarations: >>version >>config >>types >>api >>macros
   >>loops. Implementation: >>platform >>util >>block >>layout >>histogram >>tables >>windows
   >>clock >>samples >>event >>stalls >>slow >>stack >>events >>fast >>figures >>reading
   >>validate >>public >>owner >>snapshot >>difference >>merge >>sampler >>now >>map >>words
   >>findings >>output, then one section per format.

QUICK START

   #define CHROPROF_IMPLEMENTATION                   in one file
   #include "chroprof.h"

   static chroprof prof;
   static unsigned char memory[1 << 20];             all the memory it ever uses
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

 In C++, and in C with gcc or clang, CHROPROF_SCOPE(&prof, "on_readable"); as the first line of a
 callback replaces site, enter and leave. If a library does the waiting, write
 CHROPROF_EPOLL_IDLE(&prof); outside all functions: its waits then count as idle. See >>loops.

 A task that spans several callbacks is a future with an id: pending, running, paused, ...,
 completed. If the loop knows when a task is ready, report ready too: delay and blame need it.

 Adapters are small headers that are installed beside this one. Each begins with its manual.
 chroprof_glib.h, chroprof_libev.h and chroprof_coroutines.h (C++20) report events for you.
 chroprof_evhttp.h adds a debug page to libevent's HTTP server. chroprof_libunwind.h walks stacks
 of code that was built without frame pointers.

WHAT IT DOES NOT DO

 It profiles one loop of one thread; give each loop its own profile. It follows only what the
 program tells it. The task of a readable socket counts as waiting, not as delayed, until the loop
 polls and reports it ready: until then, only the kernel knows that there is data. Time in which the
 thread was preempted counts for the task that was running.

CONCEPTS

 event       a call that reports what the loop or a future does, such as chroprof_running
 future      an asynchronous task or operation, with a 64-bit id, often its address. A callback
             between enter and leave is a future too, but has no id of its own: its id reads 0
 site        where futures of one kind come from: name, file and line in the code. Two sites with
             the same contents are one
 state       pending: created; ready: could run; running: its code executes; paused: gave the loop
             back
 finish      completed, failed or cancelled; abandoned: a new future of the same id replaced it;
             dropped: its record was given up, because the table of futures was full
 stack       the running futures, nested, one frame each: the innermost is on top
 exec time   occupancy of the loop: the time a future was on top of the stack
 activation  the time from when a future, or a call, comes on the stack until it leaves it
 slice       one activation of a future, less the time of what ran nested on top of it
 callback    what the loop calls: an activation on an empty stack, until it is empty again, with all
             that runs nested in it. Exception: if a callback runs an event loop itself and reports
             it by chroprof_loop_enter, what that inner loop calls are callbacks of their own, and
             their time is not part of the outer one
 iteration   one trip of the loop: from the end of one idle to the start of the next
 path        a node of the tree of who created whom. Its name is the sites from the root to it:
             root > ... > site. If a site is already on the way from the root, its earlier node is
             used. So recursion and a timer that renews itself take no new nodes
 parent      the path of the frame on top of the stack when a future was created; it never changes
 lifetime    a future's time from creation to finish; while it is live, to now. That of those that
             finished is their latency
 delay       time that a future was ready but not running
 hidden delay
             how long data waits until the loop polls. No event tells it. totals.hidden_ns and
             hidden_p99_ns are estimates for data that comes at random moments, from the lengths of
             iterations: the clock of a future starts after the poll. They are part of no other
             figure. rank.hidden_total_ns / rank.found is the mean of a site, at most twice that:
             half of the time since the poll before, if the poll did not wait. chroprof whatif
             estimates it from steps, per kind of future
 waiting     the rest of a future's lifetime: lifetime - exec - delay
 blame       what a site cost the others: the delay of all ready futures while it was on top
 idle        the loop waits in the operating system
 uninstrumented
             no future runs, and the loop is not idle
 untracked   time that cannot be charged to a path: a table was full, the running id was unknown, or
             no event came for more than an hour (max_step_ns) although the loop was not idle
 stall       an iteration or a callback longer than stall_ns, kept with the time of each site in
             it. If one callback is most of a long iteration, the two are one stall
 step        an event as the ring keeps it. The ring is the buffer of the most recent events
 stillborn   a future whose first event is its finish

 The time between two events is charged to exactly one place: the path on top of the stack, idle,
 uninstrumented, or untracked. So two laws hold exactly, at every moment; chroprof_check verifies
 them:
   elapsed = exec of all paths + untracked + idle + uninstrumented
   sum of blame over sites, untracked, uninstrumented and idle = sum of delay over futures
 A future that never finishes counts like any other. A finished one is forgotten at once; its
 figures stay.

WHAT COUNTS WHEN

 under way     Sums, slices, slice_max_ns and exec_max_ns include the slice under way. Percentiles,
               callbacks, iterations and their maxima count only what has ended.
 reset         A slice, callback, iteration or delay that is under way counts from the reset on.
 difference    Between two snapshots, a slice that was under way at the older one counts as one
               slice. Its exec time counts from that snapshot on; percentiles have its full length.
 waiting       waiting_ns is 0 if exec and delay exceed the lifetime, as happens in some snapshots.
 unknown id    chroprof_running with an unknown id and no site pushes a frame whose time is
               untracked. A pause of that id pops it, and so does a finish if the frame is on top.
               The finish counts as UNKNOWN_FINISH or, if it names a site, as a stillborn.
 own finish    A task that ends in its own slice, such as a client that closes its connection, calls
               chroprof_completed, _failed or _cancelled just before it frees its memory. It calls
               nothing after that: the finish also ends the slice. Code that calls chroprof_paused
               after each task it ran must skip tasks that have finished. A pause of a finished task
               counts as UNKNOWN_PAUSED.
 reused id     paused applies to the topmost frame of that id, even if it is an abandoned future's.
               A finish applies to the newest future of that id. Once that one has finished, one
               more finish pops the frame of an older, abandoned future, if that frame is on top.
 "(other)"     This site stands for all that found no room (max_sites). It has no percentiles.
 latency       latency_p50_ns, latency_p99_ns and latency_max_ns cover futures that completed,
               failed or were cancelled: from chroprof_pending to that call.
 small blocks  In a block without room for histograms, sites, callbacks and iterations have no
               percentiles.
 off           chroprof_set_enabled(p, false) ends the callback under way and counts it, but forgets
               the iteration under way. The next iteration begins when an idle ends.
 manual clock  Profile time 0 is the time of the first chroprof_event. A call without a time, such
               as chroprof_enter, takes that of the last one, or 0 before the first.
 wrapping      A clock may wrap only at 64 bits. Extend a narrower one, or each wrap counts as a
               clock that went back.
 switch        CHROPROF_SWITCH ignores its site: if the id is unknown, the time is untracked.
 sites         An ignored event does not add its site. A site from chroprof_site_make that was never
               used, or whose paths found no room, takes a row of max_sites but is not listed.

THE RING

 The ring keeps the last max_events events, one step each: when, which future, what happened, and
 what the time before it was charged to. chroprof_timeline reads the steps, oldest first: exactly
 what ran when, at which depth. A chroprof_tick is a step like any other. Events inside the
 callback on_stall are ignored.

   size_t n = chroprof_timeline(&prof, 0, UINT64_MAX, NULL, 0);      how many there are
   n = chroprof_timeline(&prof, now - 1000000, now, steps, 64);      the last millisecond

 Step k closes the interval from the step before it to its own at_ns. That interval belongs to
 steps[k].path. So the steps of any stretch, added up by path, equal what the profile gained in it.

 The ring also answers two questions about the past. Who held up a task whose `ready` is reported
 late? chroprof_ready_since(p, id, when) blames what was on top from `when` on. Time that the ring
 no longer holds is blamed on uninstrumented time; time before a reset does not count. Which
 sites took the time of a stalled callback? What the ring no longer holds of it counts in rest_ns.
 For an iteration these shares are exact, however many events it had. The events of a stall include
 the one that ended it, but not the one that began it.

 What happened in a stall outlives the ring. When a stall ends, its steps are copied to a table of
 their own: all of them, or the first, the last, and those around its longest intervals.
 chroprof_incident reads them for max_incidents stalls, half of them the longest, half the most
 recent.

   while (chroprof_next_stall(&prof, &cursor, &stall))
       n = chroprof_incident(&prof, stall.number, steps, CHROPROF_INCIDENT_STEPS);

 Ids are often addresses, or numbers with a meaning elsewhere. For a report that others will read,
 chroprof_show_ids replaces them by other numbers; the command does so with --hide-ids.

MEMORY

 One block of memory, which you own, of any alignment: static, heap, shared or mapped.
 chroprof_memory_size(options) is always enough for those options; CHROPROF_MEMORY_MIN is the least.
 A capacity of 0 is sized automatically. The block does not care where it lies: links in it are
 offsets, and strings are copied into it. chroprof_options says what each capacity costs. A live
 future takes 60 bytes, a step of the ring 24. Memory does not depend on the length of the run. As a
 guide: 64 KiB are enough for a small server, 1 MiB for thousands of futures.

 Stack in KiB, at most: events 2, init 7, reads 2, snapshot 6, open 2, check 2, difference 2,
 merge 7, map 8, text 24, JSON 17, folded 5, Prometheus 22, pprof 4. Compiled without
 optimization: events 14, folded, map and pprof 12, JSON 22. With CHROPROF_NO_STDIO: Prometheus 5.

CONFIGURATION

 Macros: see >>config. Options: see chroprof_options; zero means the default everywhere.

TIME SOURCE

 The default is the invariant cycle counter on x86-64 and arm64, and the system's monotonic clock
 elsewhere. options.clock takes a clock of your own (in ns). With chroprof_clock_manual only
 chroprof_event moves time, so replays are exact.
 The counter's rate is measured against the monotonic clock over the first 90 ms, without waiting
 for it, and then fixed. Figures read before that are provisional (chroprof_totals.provisional). If
 the machine is suspended or paused in these 90 ms, they begin again. tick_error_ppb is the bound of
 the rate's error. It contains the 500 ppm by which the system may slew its clock. Every 10 s the
 two clocks are compared, and the bound grows if they drifted further apart.
 Each figure is rounded down on its own, so none ever decreases, and a sum is the sum of the figures
 shown. If the clock goes back, no time passes. A step longer than max_step_ns is untracked. Both
 are counted as anomalies.

THREADS, SIGNALS, FORK

 All events of a profile come from one thread, and never from a signal handler. So does every call
 that takes a chroprof * without const. Read a profile only while that thread is not inside a call.
 You may hand a profile over to another thread while no task runs, with a lock or a join between;
 stop its sampler first.
 Events from another thread while tasks of the first are on the stack count as the anomaly THREAD
 (on systems with threads). Only some events are checked, so its count is a lower bound.
 Profiles are independent of each other. There is no global state, except with CHROPROF_ITIMER. Two
 things may run in a signal handler: the sampler's own handler, and chroprof_sample.
 After fork the child may go on with its own copy of a private block. If the block is shared memory,
 the child must not use the parent's profile. chroprof_map takes care of that on Linux.

THE SAMPLER

 Events say which task; the sampler says which line of it. A timer interrupts the loop's thread, and
 the handler walks the native stack.

   chroprof_sampler_start(&prof, NULL);              in the thread of the loop; NULL: every 19 ms
   ...
   chroprof_sampler_stop(&prof);                     before the block, handle or thread goes

 On 64-bit Linux the sampler has a timer of that thread. On other 64-bit Unix systems define
 CHROPROF_ITIMER, which uses the process's timer. Then only one profile at a time can be sampled in
 each of the two modes. Its signal may interrupt any thread, which passes it on. CPU mode takes
 SIGPROF and goes by the CPU time of all threads; WALL mode takes SIGALRM and the timer of alarm().
 If anything else sends this signal, it counts as the timer's. This timer survives exec, and its
 next signal kills the new program, so stop the sampler before exec. (A forked child has no timer.)
 Functions have names there, as the dynamic linker knows them, but no module.
 Registers are read on Linux and macOS, on x86-64 and arm64. Elsewhere a sample has only tasks, and
 the functions that options.unwind finds. Where there is no timer, chroprof_sampler_start returns
 CHROPROF_ERR_SAMPLER, and chroprof_sample takes samples by hand.
 There are two modes. CPU is the default: samples come as the thread uses CPU time, at most as often
 as the kernel's own tick (1 to 10 ms). A loop that sleeps is never interrupted. WALL: samples come
 while callbacks run or block, so it shows stalls on a lock, a disk or a name server. Idle needs no
 timer: it is sampled when it ends, by its length. Each WALL sample also draws 8 live futures, or
 all if there are fewer, each equally likely. That shows where futures spend their lives
 (chroprof_walls). One draw looks at 8,192 slots of their table at most.
 In WALL mode chroprof_idle_enter stops the timer if a sample is due before the wait is expected to
 end. It expects up to twice the longest recent wait. So a fast loop makes few of these system
 calls, and fewer than 1 % of waits meet a signal. So do other waits (in a callback, or without
 chroprof_idle_enter). A poll, ppoll, select, nanosleep or clock_nanosleep that a sample interrupts
 goes on inside the handler, and so does an epoll_wait without a timeout: it is as long as without
 the sampler. A filter of system calls (seccomp) has to allow restart_syscall for that, as it has
 to for any of these waits that SIGSTOP and SIGCONT may meet. This is for Linux on x86-64, where
 the code of the C library says which system call it is, as that of glibc 2.36 does. Elsewhere they
 end with EINTR; so do waits of other kinds, if SA_RESTART does not restart them, and everywhere an
 epoll_wait with a timeout: the kernel does not keep how much of it is left, and the handler does
 not know when it began.
 chroprof_sampler_totals.interrupted and the text count these, on Linux on x86-64 and arm64.
 Continue such a wait yourself, as chroprof run does, or use CPU mode.
 In CPU mode Linux looks at the timer only when the tick of its scheduler (every 1 to 10 ms) finds
 the thread running. On a crowded processor that may not happen for hundreds of ms of CPU time. If
 an event finds a sample more than 20 ms and two periods overdue, all that were due by then count as
 lost (not with options.steady). WALL mode is not affected.
 Periods are random, from half to one and a half of period_ns. So a loop cannot fall in step with
 them, and sampled shares are right within statistical error. Each period costs one call of
 timer_settime. With options.steady all periods are equal, and the timer is set only at the start.
 Each sample joins tasks and functions in one stack. The functions of a slice stand under its task,
 the task stands under the functions that began it, and so on out to main. Frame records tell which
 functions ran before the task began, so compile with -fno-omit-frame-pointer. Without it the
 innermost function is still right, and "(frames missing)" marks where the walk ended. On arm64 gcc
 also needs -mno-omit-leaf-frame-pointer, or the caller of a function that calls nothing is left
 out.
 The walk stays within the stack of the thread, or of the fiber given by chroprof_sampler_stack, and
 never faults. options.unwind replaces it. If options.unwind does not tell where on the stack its
 functions were, they all stand under the innermost task, with "(frames missing)" between.
 Functions are kept as module, offset and build id. The reports name the functions that the dynamic
 linker knows; link with -rdynamic so that it knows yours. chroprof symbolize names all others, with
 inlined calls, file and line. A sample that may be of an unloaded library or of its successor has
 no function name.
 A sample with the stack of the row before it, and no CPU time since, extends that row, so an hour
 of idle is one row. The table keeps the newest rows; the weights of the stacks are never lost. If
 the table of stacks is full, the lightest innermost frames make room for new ones. Their samples
 then end in "(frames cut: table full)" below the frames that stay, and the report says which
 max_stack_frames would have been enough. Stacks of kept stalls are never cut. A sample waits in a
 ring for the next event. In a long slice neighbors in the ring are merged, so their weights still
 cover all of it. Samples inside this header are counted as such.
 A stall keeps the four places where most of its samples fell. It also keeps how much of it was CPU
 time, and how much waiting or preemption: events read the thread's CPU clock once per millisecond.
 The handler measures its own CPU time. If that exceeds the budget (1 %), the period doubles; it
 halves again when there is room. The time that the kernel takes to deliver a signal is not in it.
 On a virtual machine (AMD EPYC, two cores) with 12 other programs at work, that was some 24 us per
 signal, beside 10 us of the handler. build/bench sampler measures yours.
 Each profile takes one signal: the first real-time signal that has no handler and that the thread
 does not block. After the stop its disposition is as before. The handler allocates nothing, locks
 nothing and keeps errno. If the profile has a clock of its own, a sample has the time of the event
 after it. A forked child has no timer; chroprof_sampler_start begins anew there.
 A sample needs stack: first the kernel's frame (1.4 KiB with AVX2, 3.4 with AVX-512, up to 11 with
 AMX), then 1 KiB for the handler, at -O0 too. options.unwind needs its own on top. If it finds
 less than 4 KiB below the kernel's frame (16 with options.unwind), it takes no sample. It counts as
 lost and needs 400 bytes. The sampler knows this for the thread's own stack, for fibers given by
 chroprof_sampler_stack, and for alternate stacks. If the thread has too little stack at the start,
 you get CHROPROF_ERR_SAMPLER_STACK.
 The handler runs on the stack of the code it interrupts. If the thread has an alternate stack
 (sigaltstack) of at least 32 KiB at the start, it runs there: use that if your fibers have small
 stacks. The kernel kills a program whose alternate stack cannot hold a frame. So give a crash
 handler room for two frames and 512 bytes. On x86 8 KiB are enough, or 32 KiB if the program asks
 for AMX; elsewhere 16 KiB. If its stack is there at the start and smaller, you get
 CHROPROF_ERR_SAMPLER_STACK. If it is set up later, block the sampler's signal in the handler's
 sa_mask (sigfillset does).
 A seccomp filter must allow what the sampler calls: in the handler clock_gettime, rt_sigreturn and
 timer_settime (not with options.steady). Events, too, call getpid and, without options.steady,
 timer_settime: in WALL mode, and in CPU mode when samples are overdue. In WALL mode the handler
 also calls rt_sigprocmask, restart_syscall and what it continues. With CHROPROF_ITIMER it is
 setitimer instead, plus getpid and tgkill. The event after a dlopen by a relative path calls
 readlink.

PROFILES IN FILES

 chroprof_map puts the block into a file. Others can read it while the program runs, while it hangs,
 and after it was killed. chroprof_snapshot copies it; chroprof_open shows the copy to every read
 and output.

   chroprof_snapshot(live, size, memory, size);      the mapped file, or shared memory
   chroprof_open(&view, memory, size);
   chroprof_dump(&view, CHROPROF_TEXT, stdout);

 A snapshot of a living program ends when it is taken. What is on top is charged up to then, so you
 see a hang while it lasts, and where the sampler caught it. A program is alive while it runs, is
 stopped, or hangs. A snapshot of a program that has ended ends at its last event; totals.living
 says which. A snapshot also ends at the last event if that was less than 20 ms ago, or if the
 program is inside an event. The same holds if the reader cannot read the program's clock (manual
 and custom clocks) or cannot see its process (another machine or container). A parent that has
 just seen its child end calls chroprof_snapshot_ended, which goes on to now.

 A snapshot of a quiet program is exact. In a snapshot of a busy program each row is consistent,
 elapsed is the sum of the rows, and both laws hold. totals.skew_ns and skew_events report the
 maximum skew between its rows. Then only counts of different tables may differ: live futures and
 their records, slices and percentiles. If the program stopped inside an event, that event is torn:
 totals.doubt_ns and doubt_events tell it. Counts may be off by one then, and lifetime, delay and
 blame of its path may be off too.

 A 64-bit program can open the block of a 32-bit one, and the reverse. A block of the other byte
 order is refused. Do not truncate the file while somebody has it mapped: both would get SIGBUS.

 On Linux a program holds a lock on its file. The lock ends with the program, at exec, and at
 chroprof_unmap; a forked child does not have it. So containers that share a volume see which files
 are in use, and a file that was left behind never blocks its path. A program that may only read the
 file can't take the lock. On other systems, and on file systems without locks, the host's name and
 the process's number and start decide. A file of another host then counts as owned.

 chroprof_difference subtracts an older snapshot from a newer one, or from the running profile: what
 happened in the last N seconds. chroprof_merge adds profiles up in one: many loops, processes or
 machines. Futures that were live in them are counted there, but have no record.

BINDINGS

 A binding for another language calls the header as a shared library. `make libchroprof` builds it
 from the line #include "chroprof.h" with -shared -fPIC -DCHROPROF_IMPLEMENTATION. Two examples are
 tested: examples/adapters/chroprof_asyncio.py for Python, and examples/loop_lua.c, a C program that
 hosts Lua code.

 layout        First compare chroprof_version with the version you know. For every struct that you
               use, compare chroprof_sizeof("chroprof_rank") with the size of your own declaration.
               If one differs, refuse to go on. The handle needs no declaration: give it
               chroprof_sizeof("chroprof") bytes, zeroed. Enums are ints, and the numbers of states
               and formats never change; a bool is one byte.
 events        chroprof_event(p, state, id, site, chroprof_now(p)) takes every event. The calls for
               single events do the same and read the clock themselves. All are functions, also
               those that C programs call through a macro (chroprof_write, chroprof_dump).
 ids           64 bits, not 0. Use a counter. Use an address only if the collector moves no object,
               and you send the finish before the address is used again.
 strings       NUL-terminated UTF-8. chroprof_site_make copies them, so they may be temporary. It
               also hashes them, so keep the handle that it returns, one for each piece of code.
 attach late   If a task is older than the profile, send running with a site, by chroprof_event. The
               task is adopted as a root and counts as the anomaly ADOPTED. The site is ignored if
               the id is known, so a binding need not know which tasks are. Events of unknown ids
               without a site are ignored and counted; the time of running is then untracked.
 born finished A future that is finished when it is created needs one call, chroprof_stillborn, and
               no id. A task that runs to its end at once is pending, running and completed.
 finish        A result is completed, an exception failed, a cancellation cancelled. All three also
               end the slice, so send paused only if the task goes on later.
 collector     Keep the block and the handle where it moves and frees nothing. A collection in the
               loop's thread may be a task of its own, between chroprof_enter and chroprof_leave. A
               finalizer must send no event, because it may run in another thread or inside an
               event. Let it put the id on a list, and send cancelled for each id before the loop
               waits. Otherwise the future stays live, as a leak does.
 locks         Do not release the interpreter's lock around an event, because getting it back takes
               longer than the event. In Python use ctypes.PyDLL, not CDLL.

ERRORS AND DROPS

 chroprof_init returns a code whose text names the option to change. If you do not check it, the
 text report and the JSON of that profile say it too (chroprof_why_off). Events never fail.
 Unexpected sequences of calls are counted by kind (chroprof_anomalies). Each kind keeps where it
 was met first and last: profile time, id and task. What does not fit is counted by table
 (chroprof_tables), with a capacity that would have been enough. Its time is charged as follows.
 Futures: the future that has been in its state the longest, and does not run, gives up its record
 and counts as dropped. Its later events are of an unknown id. So futures that a program forgets
 can't hide new ones. The search compares 64 futures; in a larger table the oldest of these goes. If
 all of them run, the new future is dropped.
 Sites: the site "(other)". Paths and edges: the parent's path, or untracked for a root. Depth:
 untracked until the hidden frames are gone. Strings: cut, and marked with "...".
 A name or file of more than 1,000 bytes is cut in the same way.
 Histograms: a site without them has no percentiles. Once it has taken twice as much time as the
 least site that has them, it takes them over. chroprof_rank.measured tells how many slices they
 rest on.
 The reports show anomalies and full tables whenever there are any.
 Calls on a NULL or zeroed profile do nothing. Neither do calls on a handle that was never set, such
 as a chroprof on the stack: its word `gate` is not one of ours, and chroprof_why_off says so. If
 that memory still holds an old handle that was valid, nobody can tell.

OUTPUT FORMATS

 CHROPROF_TEXT         for people
 CHROPROF_JSON         everything (below)
 CHROPROF_FOLDED       flame graphs: self time in microseconds, each line floored
 CHROPROF_PROMETHEUS   a scrape: text exposition 0.0.4. The loop, and 13 series per site: exec,
                       delay, blame, calls by result, live futures, slice lengths by decades
 CHROPROF_PROMETHEUS_ALL   every series, some 30 per site: also with_children, lifetime, samples,
                       latency, finer slice lengths, use of the tables
 CHROPROF_PPROF        profile.proto, uncompressed: go tool pprof, continuous profilers, speedscope

 The command writes two more formats. chroprof trace IN: the ring as Chrome trace events, for
 Perfetto, chrome://tracing and speedscope. chroprof dump IN -f firefox: the Firefox Profiler's. IN
 is a file, a running program or this JSON.

 A format that was left out by its macro returns -1; chroprof_dump then sets errno to EINVAL.
 chroprof_dump flushes the stream, so it notices a full disk. The text report is as wide as the
 terminal, else COLUMNS, else 80. On a terminal it has colors, unless NO_COLOR is set or TERM is
 "dumb".

JSON, SCHEMA VERSION 3

 One object, in UTF-8: each byte of a name that is not UTF-8 becomes U+FFFD. All numbers are
 integers of up to 64 bits; use a reader that keeps all bits of ids and ticks. Times are in ns,
 flags are true or false, and no value is ever null. Each row is one line. Later versions may add
 keys. The number under "chroprof" changes only if a key goes or changes its meaning. In version 1,
 of chroprof 0.1.0, a stall listed its biggest slices instead of shares and rest_ns.

 If a struct is named below, the keys are its fields, and >>types says what they mean. Kinds, states
 and finishes are the names of their constants without the common prefix, in lower case. All keys,
 in this order:

 chroprof        3, the version of this schema
 version         of the header that wrote it, "0.3.0"
 name            of the profile, "" if it has none
 program         its file without folders, "" if not known
 options         {window_ns, stall_ns, max_step_ns}: those in force; the capacities are in tables
 event_cost_ps   measured cost of one event in picoseconds; 0: not known
 why_off         why no events are taken (chroprof_why_off), "" if they are
 totals          chroprof_totals, without in_iteration
 findings        a list of chroprof_finding, the most important first
 sites           a list of chroprof_rank, by id, without those that nothing used. windows: a list of
                 the exec_ns in each of the windows below, whose sum is exec_ns
 paths           a list of chroprof_path in preorder, each parent right before its subtree, without
                 entered. The sum of exec_ns over all paths is busy_ns - untracked_ns
 stalls          a list of chroprof_stall, the oldest first: the longest and the most recent ones.
                 shares and samples are lists, so they have no counts. steps is step_count; data has
                 the steps in the form of timeline.data, without its last tick
 slowest         a list of chroprof_slow by site, the slowest first; blames is a list
 windows         a list of chroprof_window, the oldest first, that covers the whole run
 futures         a list of chroprof_future: the live futures, then the enter-frames on the stack
 timeline        the ring: steps (how many it holds), reaches_back_ns (from now to the oldest one),
                 ready (futures that are ready now), first (number of the oldest one; a reset does
                 not restart it), data (the steps in base64, oldest first, some 6 characters per
                 step; of more than 100,000 steps the newest). data is a list of numbers, 7 bits per
                 byte, the low bits first; the top bit is set in all bytes of a number but its last.
                 After the last step comes a tick of now. Each step has:
                   state (one that does not exist is a tick), + 16 if it has an id, + 32 x depth
                   ns since the step before (of the first step: at_ns)
                   path; of a stall's also 2^32 + n: n steps before this one are left out
                   if it has an id: d = id - the id before it (at first 0), as 2 x d if d >= 0, else
                   -2 x d - 1
 tables          a list of chroprof_table, one row per table of the block, without kind
 anomalies       a list of chroprof_anomaly, one row per kind, zero counts included. places: a list
                 of first and last, empty if they are not known
 sampler         chroprof_sampler_totals; mode is also "none": it never ran
 modules         a list of chroprof_module; id: its number, from 0 on
 stacks          a list of chroprof_stack_row, each parent before its children, and of its frame
                 kind, path, module (an id; -1: not known), address, return (is_return) and name.
                 chroprof symbolize adds function, file, line, inlined
 samples         a list of chroprof_sample_row, the oldest first
 wall            a list of chroprof_wall, one row per state that was met: path, state ("running",
                 "ready", "paused"), weight, duration_ns

COST PER CALL

 An event costs a clock read and, in a server's loop, 75 instructions on average. An end of idle
 takes 41, a beginning or an end of a slice 90, a finish that also ends a slice 345. bench/README.md
 has the figures. A profile that is off costs one branch, and with CHROPROF_DISABLE nothing.
 The worst cases: the event that ends a window after a doubling adds up max_windows cells of a site.
 The first event of a site copies its strings. An event that unwinds frames does so one by one; an
 earlier event pushed each of them. A finish that is one of the slowest of its site looks at up to
 8192 steps of the ring twice. Over a run that is at most one step per event, and 8192. Once per
 minute one event looks at the slow futures of all sites. An event that ends a stall copies up to 64
 steps, at most twice; if the stall had more it looks at up to 8192 steps of the ring for the
 longest intervals.

LIMITS

 A path has at most 512 sites: what is created below the last of them is a root of the tree.
 max_depth, max_windows and max_incidents are at most 65000, other capacities 2^28. Profile time
 ends at 2^62 ticks. Percentiles are within 1/16 from 2^5 to 2^45 ticks. The slices of a share are
 known in the outermost 20 frames: of a site that ran in deeper ones, a share has 0 slices.
 The lifetime, delay and blame of a path are sums over futures and begin again at 2^64 ticks. With
 a 2.6 GHz counter, 20,000 live futures reach that in four days. In pprof, whose values are signed,
 they end at 2^63 - 1 ns. The events of a stalled callback are counted modulo 2^31; all other counts
 have 64 bits. The time of the day of a moment is that of the start and profile time: after
 chroprof_set_enabled(p, false) it is too early by the time that the profile was off.

*/
