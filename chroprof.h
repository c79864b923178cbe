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
#ifndef CHROPROF_H
#define CHROPROF_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* >>version */
#define CHROPROF_VERSION_MAJOR 0
#define CHROPROF_VERSION_MINOR 3
#define CHROPROF_VERSION_PATCH 0
#define CHROPROF_VERSION "0.3.0"
#define CHROPROF_VERSION_DATE "2026-11-28"   /* of the release, or of what leads to it */

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

#ifdef __cplusplus
extern "C" {
#endif

/* >>types: first the words of the interface, each a number, then the structs. */

/* What an event says. Seven are states of a future. The numbers are part of the contract. */
typedef enum chroprof_state {
    CHROPROF_PENDING,      /* created, not started; needs a site */
    CHROPROF_READY,        /* could run, waits for the loop */
    CHROPROF_RUNNING,      /* its code executes now */
    CHROPROF_PAUSED,       /* gave the loop back, not finished */
    CHROPROF_COMPLETED,    /* finished with a result */
    CHROPROF_FAILED,       /* finished with an error */
    CHROPROF_CANCELLED,    /* finished because somebody asked for it */
    CHROPROF_IDLE_ENTER,   /* the loop is about to wait in the operating system */
    CHROPROF_IDLE_LEAVE,   /* the wait has ended */
    CHROPROF_LOOP_ENTER,   /* a nested loop begins: a barrier on the running stack */
    CHROPROF_LOOP_LEAVE,   /* the nested loop ends */
    CHROPROF_ENTER,        /* an anonymous future, created and running; needs a site */
    CHROPROF_LEAVE,        /* the anonymous future completes */
    CHROPROF_TICK,         /* time passes, nothing else */
    CHROPROF_SWITCH,       /* pauses what runs, runs this id (0: nothing) */
    CHROPROF_NEXT,         /* leaves the enter-frame on top, enters another */
    CHROPROF_SINCE = 126   /* in steps alone: the ready right after it was late by id, in ns */
} chroprof_state;

/* Result codes, each with its name and text. */
#define CHROPROF_RESULTS(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(ERR_ARGUMENT, "a NULL profile or NULL memory was given: pass a chroprof and a block")        \
    X(ERR_MEMORY, "the block is too small: give at least chroprof_memory_size(options) bytes, or " \
                  "lower the max_ options")                                                        \
    X(ERR_LIMIT, "an option is beyond its limit: max_depth and max_windows end at 65000, the "     \
                 "others at 2^28")                                                                 \
    X(ERR_CLOCK, "no clock: CHROPROF_NO_CLOCK is defined, so set options.clock")                   \
    X(ERR_ALIGNMENT, "the block to open must start at an address divisible by 8: copy it there")   \
    X(ERR_FORMAT, "not a chroprof block: no magic number in its first 128 bytes")                  \
    X(ERR_VERSION, "the block has the layout of another version: write JSON with the command of "  \
                   "that version, this one's reads it")                                            \
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
                         "them. EBUSY: the one of the process is in use (CHROPROF_ITIMER)")        \
    X(ERR_SAMPLER_STACK, "this thread has too little stack left for a sample: give it 64 KiB, or " \
                         "an alternate stack of 32 KiB (sigaltstack) before "                      \
                         "chroprof_sampler_start")                                                 \
    X(ERR_PREVIOUS, "PATH.prev is not the profile of a program that ended, so it stays: move it "  \
                    "away or give another path")

typedef enum chroprof_result {
#define CHROPROF_RESULT_NAME(name, text) CHROPROF_##name,
    CHROPROF_RESULTS(CHROPROF_RESULT_NAME)
#undef CHROPROF_RESULT_NAME
    CHROPROF_RESULT_COUNT
} chroprof_result;

/* Unexpected sequences of calls. They are counted by kind and are never fatal. For each: name, what
 * happened, the likely cause and cure. */
#define CHROPROF_ANOMALIES(X)                                                                      \
    X(UNKNOWN_READY, "ready of an unknown id, ignored",                                            \
      "Call chroprof_pending before chroprof_ready. After the finish call neither.")               \
    X(UNKNOWN_RUNNING, "running of an unknown id without a site, its time is untracked",           \
      "Call chroprof_pending where the task is created. Other causes: it had finished, or "        \
      "max_futures is too low.")                                                                   \
    X(UNKNOWN_PAUSED, "paused of an unknown id, ignored",                                          \
      "A finish ends the slice: call no chroprof_paused after it.")                                \
    X(UNKNOWN_FINISH, "finish of an unknown id, ignored",                                          \
      "Report each finish once, and chroprof_pending before it.")                                  \
    X(ADOPTED, "running of an unknown id with a site, adopted as a root",                          \
      "Normal for tasks older than the profile. For others call chroprof_pending where they "      \
      "are created.")                                                                              \
    X(NOT_RUNNING, "paused of a future that is not on the stack, ignored",                         \
      "Its slice had ended. Pause a task once, with the id that chroprof_running had.")            \
    X(LOST_PAUSE, "running of the future already on top, a new slice begins",                      \
      "Call chroprof_paused wherever the task returns to the loop, early returns included.")       \
    X(BURIED_FINISH, "finish in the middle of the running stack, its frame stays",                 \
      "Pause or leave what runs on top of a task before the task finishes.")                       \
    X(UNWOUND_BY_PAUSE, "a frame was unwound by a pause below it",                                 \
      "A chroprof_paused or chroprof_leave is missing: look for early returns and exceptions.")    \
    X(UNWOUND_BY_SWITCH, "an enter-frame was unwound by a switch below it",                        \
      "Call chroprof_leave before chroprof_switch.")                                               \
    X(UNWOUND_BY_IDLE, "a frame was still on the stack when idle began",                           \
      "A chroprof_paused or chroprof_leave is missing. If a nested loop waits there, call "        \
      "chroprof_loop_enter around it.")                                                            \
    X(UNWOUND_BY_LOOP, "a frame was still above the barrier when a nested loop ended",             \
      "A chroprof_paused or chroprof_leave is missing inside the nested loop.")                    \
    X(BARRIER_CROSSED, "a pause below a barrier unwound the nested loop",                          \
      "Call chroprof_loop_leave before the task that runs the nested loop pauses.")                \
    X(LEAVE_WITHOUT_ENTER, "leave without an enter-frame on top, ignored",                         \
      "Call chroprof_leave once for each chroprof_enter. A task ends with chroprof_paused or a "   \
      "finish.")                                                                                   \
    X(LOOP_LEAVE_WITHOUT_ENTER, "loop_leave without a barrier, ignored",                           \
      "Call chroprof_loop_leave once for each chroprof_loop_enter.")                               \
    X(IDLE_LEAVE_WITHOUT_ENTER, "idle_leave while not idle, ignored",                              \
      "Call chroprof_idle_enter before the wait. Any event but tick ends the wait early.")         \
    X(TIME_BACK, "the clock went back, or on by decades: no time passed",                          \
      "Use a clock that never goes back, such as CLOCK_MONOTONIC.")                                \
    X(LONG_STEP, "a step above max_step_ns outside idle, untracked",                               \
      "The program was stopped or suspended. If it did run that long, raise max_step_ns.")         \
    X(READY_AHEAD, "ready_since later than now, taken as now",                                     \
      "Give the time in clock ticks, as chroprof_now returns it.")                                 \
    X(ID_ZERO, "id 0, no effect",                                                                  \
      "Zero means no id: use an address, or a counter that begins at 1.")                          \
    X(SITE_NULL, "no site where one is needed",                                                    \
      "Pass a CHROPROF_SITE to chroprof_pending and chroprof_enter.")                              \
    X(BAD_STATE, "a state that does not exist, ignored",                                           \
      "Pass chroprof_event a constant of chroprof_state.")                                         \
    X(EVENT_IN_HOOK, "an event from inside on_stall, ignored",                                 \
      "on_stall may read and dump. Report events after it has returned.")                          \
    X(THREAD, "an event from another thread than the one whose tasks were on the stack",           \
      "Send all events from the thread that runs the loop. Hand a profile over only while no "     \
      "task runs.")

typedef enum chroprof_anomaly_kind {
#define CHROPROF_ANOMALY_NAME(name, text, cure) CHROPROF_ANOMALY_##name,
    CHROPROF_ANOMALIES(CHROPROF_ANOMALY_NAME)
#undef CHROPROF_ANOMALY_NAME
    CHROPROF_ANOMALY_COUNT
} chroprof_anomaly_kind;

/* The tables of the block, each with its name and the option that sets its capacity. */
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
    X(STRINGS, "strings", "string_bytes")                                                          \
    X(STACKS, "stacks", "max_stack_frames")                                                        \
    X(EVENTS, "events", "max_events")                                                              \
    X(SLOW, "slow", "max_slow")                                                                    \
    X(INCIDENTS, "incidents", "max_incidents")

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
    CHROPROF_PPROF,        /* profile.proto, uncompressed. 5 was CHROPROF_FIREFOX in 0.1.0, 6 was
                              CHROPROF_TRACE in 0.2.0: the command writes these */
    CHROPROF_PROMETHEUS_ALL = 7 /* every series; CHROPROF_PROMETHEUS has those that people graph */
} chroprof_format;

/* What chroprof_ranks sorts by, largest first. Ties go by exec time, then by site name, file and
 * line. */
typedef enum chroprof_order {
    CHROPROF_BY_EXEC,
    CHROPROF_BY_WITH_CHILDREN,
    CHROPROF_BY_SLICE_MAX,
    CHROPROF_BY_BLAME,
    CHROPROF_BY_DELAY,
    CHROPROF_BY_CALLS
} chroprof_order;

/* Where futures of one kind come from. Two sites with the same contents are one. The contents
 * (strings included) are copied at first sight, but must not change while a profile that saw them
 * lives. */
typedef struct chroprof_site {
    const char *name;      /* UTF-8, NUL-terminated */
    const char *file;      /* may be NULL */
    uint32_t line;
} chroprof_site;

#define CHROPROF_STALL_SHARES 6
#define CHROPROF_STALL_SAMPLES 4
#define CHROPROF_INCIDENT_STEPS 64

/* Samples that the sampler took inside a callback or an iteration, at one place. */
typedef struct chroprof_stall_sample {
    uint32_t stack;        /* see chroprof_stack; if there are too many places, a neighbor's */
    uint32_t weight;       /* samples that were surely there */
    uint64_t cpu_ns;       /* their thread CPU time, each since the sample before */
} chroprof_stall_sample;

/* What one site took of a callback or an iteration. */
typedef struct chroprof_stall_share {
    uint32_t site;         /* as chroprof_rank.id; 0: uninstrumented; 2: untracked */
    uint64_t exec_ns;      /* total */
    uint64_t slices;       /* how many exec_ns is of; 0: loop, or not known */
    uint64_t slice_max_ns; /* of the largest one, the part inside the stall; as slices */
    const char *name, *file; uint32_t line;
} chroprof_stall_share;

typedef enum chroprof_stall_kind {
    CHROPROF_STALL_CALLBACK,
    CHROPROF_STALL_ITERATION
} chroprof_stall_kind;

/* An iteration longer than stall_ns, or a callback that is not most of such an iteration. */
typedef struct chroprof_stall {
    chroprof_stall_kind kind;
    uint64_t start_ns;     /* profile time */
    uint64_t length_ns;    /* of a callback: without idle and what ran above a barrier */
    uint64_t events;       /* after the one that began it, up to and with the one that ended it */
    uint32_t share_count;  /* how many of shares[] are filled, the largest first */
    chroprof_stall_share shares[CHROPROF_STALL_SHARES];
    uint64_t rest_ns;      /* other sites; of a callback also what the ring no longer holds */
    /* what the sampler saw of the stall; all 0 if it was off */
    uint64_t sampled;      /* samples inside; samples[] has at most as many: the rest was at other
                              places */
    uint64_t cpu_ns;       /* thread CPU time in it, within 1 ms; with chroprof_sample what
                              that was told */
    uint64_t waiting_ns;   /* the rest: the thread waited, or was preempted */
    uint32_t sample_count; /* how many of samples[] are filled, most first */
    chroprof_stall_sample samples[CHROPROF_STALL_SAMPLES];
    uint64_t number;       /* for chroprof_incident, from 1; of a callback and its iteration one */
    uint32_t step_count;   /* steps that were kept; 0: none */
    uint32_t first_steps;  /* how many of them come before the first one left out */
    uint64_t left_out;     /* steps that did not fit, or that the ring no longer held */
} chroprof_stall;

#define CHROPROF_SLOW_BLAMES 3

/* Whom a slow future waited for while it was ready. */
typedef struct chroprof_slow_blame {
    uint32_t site;         /* as chroprof_rank.id; 0: uninstrumented; 1: idle; 2:
                              untracked */
    uint64_t delay_ns;     /* how long the site was on top during that time */
    const char *name, *file; uint32_t line;
} chroprof_slow_blame;

/* One of the slowest finished futures of its site, and where its latency went: exec_ns +
 * children_ns + delay_ns + waiting_ns + unseen_ns = latency_ns. These cover what the ring still
 * held at the finish, up to 8192 steps. Of the time before that its own exec is known, and, if it
 * was in one state since then, that state. */
typedef struct chroprof_slow {
    uint64_t id;
    uint32_t site, path;   /* as chroprof_rank.id and chroprof_path.id */
    const char *name, *file; uint32_t line;   /* of the site */
    chroprof_state finish; /* CHROPROF_COMPLETED, CHROPROF_FAILED or CHROPROF_CANCELLED */
    bool of_run;           /* one of the slowest of the run; false: of the last minutes */
    uint64_t at_ns;        /* profile time of the finish */
    uint64_t latency_ns;   /* from created to finished */
    uint64_t exec_ns;      /* its own, exact */
    uint64_t children_ns;  /* what ran on top of it */
    uint64_t delay_ns;     /* ready, and not on the stack; from the call of ready_since on */
    uint64_t waiting_ns;   /* neither */
    uint64_t unseen_ns;    /* before the ring begins, or more than 8192 steps before the finish
                              (fewer right after other slow ones); without its own exec */
    uint32_t blame_count;  /* how many of blames[] are filled, the largest first */
    chroprof_slow_blame blames[CHROPROF_SLOW_BLAMES]; /* of delay_ns, as far as the ring
                              reaches; others took the rest */
} chroprof_slow;

/* Options of chroprof_init. NULL or zeroed: defaults. A capacity of 0 is sized automatically.
 * chroprof_read_options, chroprof_tables and the JSON tell the values in force. */
typedef struct chroprof_options {
    uint32_t max_futures;      /* live futures; 60 bytes each. If there are more, the one that
                                  has been in its state the longest gives up its record */
    uint32_t max_sites;        /* about 170 bytes each, and 8 per window */
    uint32_t max_paths;        /* 256 bytes each */
    uint32_t max_edges;        /* (path, site) pairs remembered; up to 96 bytes each */
    uint32_t max_depth;        /* frames of the running stack, barriers included; 64 bytes each */
    uint32_t max_histograms;   /* sites with percentiles; 1.4 KiB each. If there are more sites, a
                                  path with twice the exec time of the least one takes over its
                                  histograms, and they begin anew */
    uint32_t max_samples;      /* rows of the sampler; some 300 bytes each */
    uint32_t max_windows;      /* time windows; each 8 bytes per site */
    uint32_t max_stalls;       /* half the longest, half the most recent; 330 bytes each */
    uint32_t string_bytes;     /* names and files, each with its NUL */
    uint32_t max_stack_frames; /* different frames of sampled stacks; 40 bytes each; 0: to match
                                  max_samples, some 2,000 in a block of 1 MiB. In a full table
                                  the lightest innermost frames make room */
    uint32_t max_events;       /* steps of the ring; 24 bytes each. Rounded up to a power of two, at
                                  least 64. All but one of them can be read */
    uint32_t max_slow;         /* sites whose slowest futures are kept; 904 bytes each. 0 means none
                                  in a block of less than some 40 KiB */
    uint32_t max_incidents;    /* stalls whose steps are kept, half the longest, half the most
                                  recent; 1.6 KiB each. The end of a stall looks at half of them. 0
                                  means none in a block of less than some 180 KiB */
    uint64_t window_ns;        /* first width of a window; 0: 100 ms */
    uint64_t stall_ns;         /* a callback or iteration longer than this is a stall; 0: 20 ms */
    uint64_t max_step_ns;      /* a longer step outside idle is untracked; 0: 1 hour */
    uint64_t (*clock)(void *user);   /* in ns; NULL: our own; or chroprof_clock_manual */
    void *clock_user;
    /* Called when a stall (callback or iteration) has ended. It may read and dump, but not send
     * events. It must return; its time is uninstrumented. If one event ends several (nested loops,
     * a callback and its iteration), it gets them in the order they ended, those that fit in their
     * table. */
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *on_stall_user;
    const char *name;          /* of the profile, copied (63 bytes); NULL: "" */
} chroprof_options;

/* One site's figures, in ns, as of the last event. Live futures and the slice under way are
 * included. Strings live in the block. */
typedef struct chroprof_rank {
    const char *name, *file; uint32_t line;
    uint64_t exec_ns, children_ns, with_children_ns;   /* with_children = exec + children */
    uint64_t exec_max_ns;      /* largest exec time of a single future */
    uint64_t slice_max_ns, slice_p50_ns, slice_p90_ns, slice_p99_ns, slice_p999_ns;
    uint64_t slices;           /* that have begun */
    uint64_t lifetime_ns, waiting_ns, delay_ns, delay_p99_ns, blame_ns;
    uint64_t found, hidden_total_ns;   /* what polls brought: slices, calls, and futures told ready
                                  or finished, outside of tasks; and an estimate of how long all
                                  that had waited for the poll, at most twice as long: half of the
                                  time since the poll before, of a future as far as it rested. No
                                  wait is hidden that ended a wait of the loop, or that ready_since
                                  tells. Part of no other figure */
    uint64_t calls;            /* completed + failed + cancelled + abandoned + dropped + live */
    uint64_t completed, failed, cancelled, abandoned, live, stillborn;
    uint64_t dropped;          /* gave up their records to a full table, see max_futures */
    /* Latency: the lifetime of futures that completed, failed or were cancelled. 0 without
     * percentiles, and of plain calls (enter), whose lifetime is their activation. */
    uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
    uint64_t measured;         /* slices that the percentiles rest on; fewer than have ended if the
                                  site got its histograms late */
    uint64_t slice_typical_ns; /* mean of the shortest three quarters of slices, which interruptions
                                  do not lengthen, so that two runs can be compared. Within 1/16,
                                  mostly within 1/50; 0 without percentiles */
    uint64_t slice_min_ns, slice_p1_ns;   /* the shortest slice (in a difference, of the later
                                  profile), and 1 % are no longer than the other. If the two are
                                  close, they are the work itself, whatever else the machine did */
    uint64_t cpu_ns, samples;  /* of the sampler, in the site's slices. Paths with an id above
                                  4 x max_samples + 2 add none */
    uint32_t id;               /* of the site in this profile, for chroprof_site_windows */
    bool has_percentiles;      /* false: max_histograms was too low for this site */
} chroprof_rank;

/* One path's own figures; only with_children_ns includes its children. */
typedef struct chroprof_path {
    uint32_t id;               /* above 2, stable for the life of the profile */
    uint32_t parent;           /* id of the parent path, 0: a root. Below 512 sites one begins */
    uint32_t site;             /* id of its site, as in chroprof_rank */
    const char *name, *file; uint32_t line;   /* of its site */
    uint64_t exec_ns, with_children_ns, exec_max_ns, slice_max_ns, slices;
    uint64_t lifetime_ns, waiting_ns, delay_ns, blame_ns;
    uint64_t found, hidden_total_ns;   /* see chroprof_rank */
    uint64_t calls, completed, failed, cancelled, abandoned, live, stillborn, dropped;
    uint64_t entered;          /* of calls, those by chroprof_enter that have ended */
    uint64_t cpu_ns, samples;  /* of the sampler, in its slices; see chroprof_rank */
} chroprof_path;

/* One live future. */
typedef struct chroprof_future {
    uint64_t id;               /* 0: an enter-frame */
    uint32_t path;             /* id of its path; 2: untracked */
    chroprof_state state;      /* PENDING, READY, RUNNING or PAUSED */
    uint64_t since_ns;         /* profile time at which this state began */
    uint64_t exec_ns;          /* its own exec time so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_future;

/* The whole loop. elapsed = busy + idle + uninstrumented; busy = untracked + the exec of all
 * sites. */
typedef struct chroprof_totals {
    uint64_t elapsed_ns, busy_ns, idle_ns, uninstrumented_ns, untracked_ns;
    uint64_t start_ns;         /* uninstrumented before the first idle ended; 0 until then */
    uint64_t exit_ns;          /* uninstrumented since chroprof_exiting */
    uint64_t at_once, at_once_ns;  /* waits that returned at once, in less than 10 us, and the part
                                  of idle_ns that they took: there the loop did not sleep */
    uint64_t cpu_clock_ns;     /* of chroprof_set_cpu_clock, as chroprof run tells it; 0: not known.
                                  Idle beyond elapsed_ns - this was no sleep */
    uint64_t asleep_ns;        /* what reports call idle: idle_ns without waits that returned at
                                  once, if those took 1 % of elapsed_ns, and no more than
                                  cpu_clock_ns leaves */
    uint64_t hidden_ns, hidden_p99_ns;  /* estimate: how long data that comes at a random moment
                                  waits for the poll, on average and at most in 99 of 100 cases;
                                  part of no delay; 0 without percentiles */
    uint64_t delay_ns, blame_ns;   /* equal in ticks */
    uint64_t events, anomalies, live;
    uint64_t iterations, iteration_p50_ns, iteration_p99_ns, iteration_max_ns;
    uint64_t callbacks, callback_p50_ns, callback_p99_ns, callback_max_ns;
    uint64_t stalls;           /* all callbacks and iterations longer than stall_ns, kept or not */
    uint64_t idle_blame_ns, uninstrumented_blame_ns, untracked_blame_ns;
    uint64_t dropped;          /* sum over the tables */
    uint64_t elapsed_ticks, delay_ticks, blame_ticks;
    uint64_t start_unix_ns;    /* calendar time of profile time 0; 0: unknown */
    uint64_t tick_error_ppb;   /* bound of the clock rate's error, parts per 10^9 */
    bool provisional;          /* the clock is not calibrated yet: times may still change scale */
    bool enabled;
    bool idle;                 /* the loop was idle at the last event */
    bool in_iteration;         /* an iteration is under way: an idle was reported and has ended */
    uint32_t depth;            /* frames on the running stack, hidden ones included */
    uint64_t skew_ns, skew_events;     /* of a snapshot: maximum skew of its rows; 0: exact */
    uint64_t doubt_ns, doubt_events;   /* of a snapshot: the torn event, where it stopped */
    bool living;               /* of a snapshot: the program was alive, and the figures go up
                                  to that moment; false: they end at the last event */
    bool estimated;            /* somebody watched the program from outside: all times of it are
                                  estimates from samples. See chroprof_set_origin */
} chroprof_totals;

/* One time window. Widths double when the table is full, so the windows always cover the run. */
typedef struct chroprof_window {
    uint64_t start_ns, end_ns;     /* profile time; the last window ends at the last event */
    uint64_t busy_ns, idle_ns, uninstrumented_ns, untracked_ns;  /* untracked is part of busy */
} chroprof_window;

/* How far chroprof_next_windows or chroprof_next_site_windows has come; 0 before the first. */
typedef struct chroprof_windows_cursor {
    uint32_t next;             /* number of the next window */
    bool begun;
    uint64_t ticks[4], shown[4], most[4];  /* theirs */
} chroprof_windows_cursor;

/* One table of the block. */
typedef struct chroprof_table {
    chroprof_table_kind kind;
    const char *name, *option;     /* option: the field of chroprof_options for it */
    uint64_t capacity, used, peak;
    uint64_t dropped;              /* how often something did not fit */
    uint64_t advice;               /* a capacity that would have been enough so far, for paths and
                                      edges an estimate; 0: this one was enough */
    uint64_t bytes;
} chroprof_table;

/* Where an anomaly was met. */
typedef struct chroprof_anomaly_place {
    uint64_t at_ns;            /* profile time */
    uint64_t id;               /* of the event, or of the frame that was unwound; 0: none */
    uint32_t path;             /* of the future or call it is about, above 2; 0: not known */
    uint32_t top;              /* path on top of the running stack when the event came: above 2,
                                  or 0 uninstrumented, 1 idle, 2 untracked */
    const char *name, *file; uint32_t line;   /* of the site of path, or of top if that is 0 */
} chroprof_anomaly_place;

/* One kind of anomaly, how often and where it was seen. */
typedef struct chroprof_anomaly {
    chroprof_anomaly_kind kind;
    const char *text;              /* what happened */
    const char *cure;              /* its likely cause and what to do */
    uint64_t count;
    bool placed;                   /* first and last are known: count is above 0, and this kind is
                                      one of the first max_paths / 4 + 1 met */
    chroprof_anomaly_place first, last;    /* zero and "" if not known. In a difference first is
                                      last if the older state had met this kind */
} chroprof_anomaly;

/* One frame of the running stack. */
typedef struct chroprof_frame {
    uint64_t id;               /* of the future; 0: an enter-frame, or a barrier */
    uint32_t path;             /* 2: untracked */
    bool barrier;              /* a nested loop begins here */
    uint64_t since_ns;         /* profile time at which it was pushed */
    uint64_t slice_ns;         /* exec time of this slice so far */
    const char *name, *file; uint32_t line;   /* of its site */
} chroprof_frame;

/* One row of the ring: an event, as it happened. */
typedef struct chroprof_step {
    uint64_t at_ns;            /* profile time of the event */
    uint64_t id;               /* 0: none */
    chroprof_state state;      /* what the event said */
    uint32_t path;             /* to which the time before it was charged: above 2 a path, 0
                                  uninstrumented, 1 idle, 2 untracked */
    uint32_t depth;            /* frames of the running stack when it came, without hidden ones */
    uint32_t left_out;         /* of a stall's: steps missing before it; path is 2 then */
} chroprof_step;

/* What ran when a sample was taken. */
typedef enum chroprof_sample_state {
    CHROPROF_SAMPLE_BUSY,      /* a future or an enter-frame */
    CHROPROF_SAMPLE_IDLE,
    CHROPROF_SAMPLE_UNINSTRUMENTED
} chroprof_sample_state;

/* One sample, or several samples in a row with the same stack and no CPU time in between. */
typedef struct chroprof_sample_row {
    uint64_t at_ns;            /* profile time of the first one */
    uint64_t duration_ns;      /* to the last one */
    uint64_t weight;           /* how many samples */
    uint64_t cpu_ns;           /* thread CPU time since the sample before */
    uint32_t stack;            /* see chroprof_stack, until the next event; 0: none */
    chroprof_sample_state state;
} chroprof_sample_row;

/* The name and place of a site. */
typedef struct chroprof_site_row {
    uint32_t id;               /* as chroprof_rank.id */
    const char *name, *file; uint32_t line;
    bool cut;                  /* name or file is cut: too long, or no room */
} chroprof_site_row;

/* One module whose functions were sampled: the program or a library. */
typedef struct chroprof_module {
    const char *path;
    const char *build_id;      /* hexadecimal, "" if not known */
    uint64_t base;             /* load bias: an address minus this is its place in the file */
    uint64_t start, end;       /* its code lies in [start, end) */
} chroprof_module;

typedef enum chroprof_frame_kind {
    CHROPROF_FRAME_TASK,       /* a frame of the running stack */
    CHROPROF_FRAME_NATIVE,     /* a function */
    CHROPROF_FRAME_MARKER      /* says in words what is not known */
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

/* One node of the tree of sampled stacks: a frame, and the stack around it. */
typedef struct chroprof_stack_row {
    uint32_t id;               /* as chroprof_sample_row.stack, until the next event */
    uint32_t parent;           /* the stack around the frame, a lower id; 0: none */
    uint32_t module;           /* native: row of chroprof_modules + 1; 0: not known */
    uint64_t weight, cpu_ns;   /* of the samples that end here, dropped ones included */
    chroprof_stack_frame frame;
} chroprof_stack_row;

/* One path as the draws of WALL mode saw it: how often its live futures were met in each state, and
 * the time between two meetings of a future with no event in between. */
typedef struct chroprof_wall {
    uint32_t path;                                 /* 2: those beyond 4 x max_samples */
    uint64_t running, ready, paused;               /* weight; paused includes pending futures, and
                                                      running ones that have others on top */
    uint64_t running_ns, ready_ns, paused_ns;
} chroprof_wall;

/* Waits inside the tasks of a site, as chroprof_waited told: its exec has this time. */
typedef struct chroprof_task_wait {
    uint32_t site;             /* as chroprof_rank.id */
    uint64_t count, total_ns, longest_ns;
    const char *call;          /* in which it waited */
    const char *within;        /* the function that called that; "": not known */
    const char *name, *file; uint32_t line;   /* of the site */
    bool estimated;            /* somebody saw it from outside (chroprof_add_wait) */
} chroprof_task_wait;

/* What a finding is about. The JSON has these names in lower case. */
#define CHROPROF_FINDINGS(X)                                                                       \
    X(OCCUPIES)            /* one site takes much of the run */                                    \
    X(RISING)              /* a site takes more and more of the loop */                            \
    X(UNINSTRUMENTED)      /* time in which the program ran and no task was named */               \
    X(NO_IDLE)             /* the loop never says that it waits */                                 \
    X(STALL)      /* the longest callback or iteration above stall_ns */                           \
    X(DELAYS)              /* ready tasks waited, most of it for one site */                       \
    X(HANGS)               /* the loop is in a task and not back, or its program died in it */     \
    X(LEAKS)               /* futures are created, but do not finish */                            \
    X(PREEMPTED)           /* a site is on the loop without using the processor */                 \
    X(COST)                /* profiling itself takes a visible part of the time */                 \
    X(FULL)                /* a table of the block is full */                                      \
    X(ORDER)               /* unexpected sequences of calls: see chroprof_anomalies */             \
    X(FINE)                /* nothing stands out, or it is too early to say */                     \
    X(SPINS)               /* waits return at once, and little is done between them */             \
    X(QUEUES)              /* futures wait long for something outside of the loop */               \
    X(SATURATES)           /* how much more load the loop takes */                                 \
    X(STUTTERS)            /* what holds the loop for less than stall_ns, often */

typedef enum chroprof_finding_kind {
#define CHROPROF_FINDING_NAME(name) CHROPROF_FINDING_##name,
    CHROPROF_FINDINGS(CHROPROF_FINDING_NAME)
#undef CHROPROF_FINDING_NAME
    CHROPROF_FINDING_COUNT
} chroprof_finding_kind;

/* One sentence about the profile that a person can act on, with the figures it rests on. */
typedef struct chroprof_finding {
    chroprof_finding_kind kind;
    uint32_t site;             /* as chroprof_rank.id; 0: none, or uninstrumented */
    uint32_t share_ppm;        /* its share of elapsed_ns, parts per million; 0: none. RISING:
                                  of the last quarter. STALL: of that one stall */
    uint64_t value_ns;         /* the figure it rests on; 0: none */
    uint64_t at_ns;            /* profile time at which it happened or began; 0: none */
    char text[240];            /* what was found, then what to do. UTF-8 without control characters,
                                  names shortened to fit, NUL-terminated, no newline */
} chroprof_finding;

/* Which clock the sampler's timer goes by. */
typedef enum chroprof_sampler_mode {
    CHROPROF_SAMPLER_CPU,      /* the thread's CPU time: never interrupts a loop that sleeps */
    CHROPROF_SAMPLER_WALL      /* all time: sees callbacks that block, and draws live futures */
} chroprof_sampler_mode;

/* Options of chroprof_sampler_start. NULL or zeroed: the defaults. */
typedef struct chroprof_sampler_options {
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* mean period; 0: 19 ms; the least is 100 us */
    bool jitter;               /* no effect: periods are random unless steady */
    uint32_t budget_ppm;       /* the handler's share of the loop's time; 0: 10000, which is 1 % */
    int signal;                /* 0: the first real-time signal that is not handled or blocked; with
                                  CHROPROF_ITIMER SIGPROF, in WALL mode SIGALRM */
    /* Replaces the walk by frame pointers: fills in return addresses, innermost (the interrupted
     * instruction) first, and returns how many. All of them stand under the innermost task, unless
     * it also tells where they were. For that, addresses[capacity + k] is where the frame record of
     * the function of addresses[k] lies. Without a record it is another place in its frame. 1 means
     * that this function and those further out were called before all tasks; 0 means not known. A
     * last address of 0 then says that the walk reached the end of the stack. Called in the signal
     * handler, on any processor. */
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *addresses, uint32_t capacity);
    void *unwind_user;
    /* All periods are equal, with no timer call after the start: for programs whose seccomp filter
     * allows none. A loop in step with the period is then sampled wrongly, and WALL mode interrupts
     * waits. */
    bool steady;
} chroprof_sampler_options;

/* The sampler and what it cost. */
typedef struct chroprof_sampler_totals {
    bool running;
    chroprof_sampler_mode mode;
    uint64_t period_ns;        /* in force */
    uint64_t first_period_ns;  /* asked for */
    uint64_t budget_ppm;
    uint64_t ticks;            /* of the timer: periods (of first_period_ns) that it ran */
    uint64_t samples;          /* total weight = weights of all rows + dropped; in WALL mode with
                                  idle time, which needs no timer */
    uint64_t rows;
    uint64_t inside;           /* of samples, those inside the profiler */
    uint64_t lost;             /* periods without a sample: the ring was full inside an event, the
                                  stack had no room, or in CPU mode the kernel gave none in time
                                  (a blocked signal, a crowded processor) */
    uint64_t dropped;          /* weight of rows that fell out of the table */
    uint64_t cost_ns;          /* thread CPU time of the handler */
    uint64_t draws, misses;    /* in WALL mode: futures met, empty slots met */
    uint64_t interrupted;      /* waits that a sample cut short (EINTR): after idle_enter; on Linux
                                  on x86-64 and arm64 all others, too */
} chroprof_sampler_totals;

/* Whose profile it is. */
typedef struct chroprof_origin {
    uint64_t pid;              /* 0: not known */
    const char *name, *host;   /* of the profile, of the machine; "" if not known */
    uint64_t end_ns;           /* profile time of the last event */
    uint64_t end_unix_ns;      /* calendar time of it; 0: not known */
    bool mapped;               /* by chroprof_map */
    bool ended;                /* by chroprof_unmap */
    bool alive;                /* mapped, and by its process number the program still runs, or it
                                * can't be told here. chroprof_file_owner knows it in any case */
    const char *program;       /* its file without folders; "" if not known */
    bool estimated;            /* as totals.estimated */
} chroprof_origin;

/* The handle: small, transparent, owned by the caller. A zeroed one is valid: every call does
 * nothing. It holds addresses in the block, and the hooks of this process. */
typedef struct chroprof {
    struct chroprof__core *core;               /* from here to shortcuts: one cache line */
    uint32_t gate;         /* by which events come in; 0: zeroed, else a word of ours */
    uint32_t rows;         /* of the futures */
    uint32_t max_depth;    /* as resolved */
    uint32_t shortcut_mask;                    /* of bytes */
    struct chroprof__future_row *futures;
    struct chroprof__frame_row *frames;
    struct chroprof__path_row *paths;
    struct chroprof__range *ranges;            /* of the histograms */
    struct chroprof__shortcut *shortcuts;
    struct chroprof__ring_row *ring;
    struct chroprof__histograms *histograms;
    uint64_t (*clock)(void *user);
    void (*on_stall)(void *user, const chroprof_stall *stall);
    void *clock_user, *on_stall_user;
    void (*tell)(struct chroprof *p);          /* calls it for what the last event ended */
    bool percentiles, in_hook;                 /* there are histograms; on_stall is being called */
    uint16_t stalls_due;   /* that the event under way ended and on_stall is to hear of */
    bool view;             /* a block that nobody writes */
    bool sampling, sampler_ignored;            /* the sampler runs; its signal was ignored before */
    void *mapped;          /* by chroprof_map */
    size_t mapped_bytes;
    uint64_t sampler_pid;  /* the process whose timer it is */
    int sampler_signal, sampler_timer;         /* 0: none */
    void *hold;            /* by chroprof_map: what keeps its file ours */
    uint32_t idle_gate, pass_gate;             /* of idle events; of those that pass a frame on */
    /* of samples, so that a program without any links none of their code */
    void (*drain)(struct chroprof *p);         /* takes in those that wait */
    void (*follow)(struct chroprof *p, uintptr_t frame, uint64_t base);     /* after an event */
    bool asks, follows_idle;                   /* who begins a task, and what idle times are */
    uint32_t callers, caller_mask; /* bytes from the core to those who begin tasks, 0: too far */
    uint64_t (*show_id)(void *user, uint64_t id);
    void *show_id_user;
    chroprof_result refused; int refused_errno;    /* why there is no profile, chroprof_why_off */
    int poller, other_poller, other_polls;     /* by CHROPROF_EPOLL_IDLE: descriptors plus 1 */
} chroprof;

/* Takes bytes of output. Non-zero stops the writing. */
typedef int (*chroprof_writer)(void *user, const void *bytes, size_t count);

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

/* >>api output */

/* Writes the profile in pieces of at most some KiB, and first brings a live profile up to now (not
 * in on_stall). Returns 0, or -1 if the writer stopped it, the format was left out, or there is no
 * profile. Without a profile the text is one line that says why, and JSON an object with only
 * why_off. Never allocates. If format is a constant, an optimized program links only that format:
 * compile with -ffunction-sections and link with -Wl,--gc-sections. (chroprof_write), in
 * parentheses, is the function and links all. */
CHROPROF_API int chroprof_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                void *user);

#ifndef CHROPROF_NO_STDIO
/* Writes a report into a stream. Color and width of the text report follow the terminal, if it is
 * one. Returns 0, or -1 with errno set; EINVAL if out is NULL. */
CHROPROF_API int chroprof_dump(chroprof *p, chroprof_format format, FILE *out);
#endif

struct chroprof__out;
typedef void chroprof__writes(struct chroprof__out *o, const chroprof *p);

/* What these two choose from: each format is a function of its own, and nothing else refers to it.
 * Only for their macros. */
CHROPROF_API chroprof__writes chroprof__as_text, chroprof__as_json, chroprof__as_folded,
    chroprof__as_prometheus, chroprof__as_prometheus_all, chroprof__as_pprof, chroprof__as_none;

/* chroprof_write with the function that was chosen. */
CHROPROF_API int chroprof__write_by(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                    void *user);

static inline CHROPROF__ATTRIBUTES((__always_inline__, __unused__))
chroprof__writes *chroprof__writes_of(chroprof_format chroprof__chosen)
{
    switch (chroprof__chosen) {
    case CHROPROF_TEXT: return chroprof__as_text;
    case CHROPROF_JSON: return chroprof__as_json;
    case CHROPROF_FOLDED: return chroprof__as_folded;
    case CHROPROF_PROMETHEUS: return chroprof__as_prometheus;
    case CHROPROF_PPROF: return chroprof__as_pprof;
    case CHROPROF_PROMETHEUS_ALL: return chroprof__as_prometheus_all;
    }
    return chroprof__as_none;
}
#define chroprof_write(p, format, write, user) \
    chroprof__write_by(p, chroprof__writes_of(format), write, user)

#ifndef CHROPROF_NO_STDIO
/* chroprof_dump with the function that was chosen. */
CHROPROF_API int chroprof__dump_by(chroprof *p, chroprof__writes *as, FILE *out);
#define chroprof_dump(p, format, out) chroprof__dump_by(p, chroprof__writes_of(format), out)
#endif

/* How the text report looks. Zeroed: 80 columns, UTF-8, no color, 20 sites, by exec. */
typedef struct chroprof_text_options {
    uint32_t width;            /* 60 to 200 columns */
    uint32_t top;              /* rows of the ranked table, at most 40 */
    chroprof_order by;
    bool ascii;                /* plain ASCII bars */
    bool color;                /* ANSI colors */
} chroprof_text_options;

/* The text report with options; NULL: zeroed. Otherwise as chroprof_write. */
CHROPROF_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                     chroprof_writer write, void *user);

/* What the Prometheus text shows, of the series of CHROPROF_PROMETHEUS. Zeroed: every site. */
typedef struct chroprof_prometheus_options {
    uint32_t top;              /* series per metric, at most 100; the rest is "(other)"; 0: all */
    chroprof_order by;         /* whose live futures, slice lengths and latency; see below */
} chroprof_prometheus_options;

/* The Prometheus text with a limit on the series; options NULL: zeroed. Otherwise as
 * chroprof_write. With a limit, each counter shows the sites that lead in that very counter, so
 * that "(other)" never falls either. Live futures, slice lengths and latency go by `by`; the latter
 * two have no "(other)". A site gets a label `id` if its other labels cannot tell it from all
 * others: a cut name, or bytes that are not UTF-8. */
CHROPROF_API int chroprof_write_prometheus(chroprof *p, const chroprof_prometheus_options *options,
                                           chroprof_writer write, void *user);

/* The structs of this interface, which chroprof_sizeof knows. */
#define CHROPROF_STRUCTS(X)                                                                        \
    X(chroprof) X(chroprof_anomaly) X(chroprof_anomaly_place) X(chroprof_finding) X(chroprof_frame)\
    X(chroprof_future) X(chroprof_module) X(chroprof_options) X(chroprof_origin) X(chroprof_path)  \
    X(chroprof_prometheus_options) X(chroprof_rank) X(chroprof_sample_row)                         \
    X(chroprof_sampler_options) X(chroprof_sampler_totals) X(chroprof_site) X(chroprof_site_row)   \
    X(chroprof_slow) X(chroprof_slow_blame) X(chroprof_stack_frame) X(chroprof_stack_row)          \
    X(chroprof_stall) X(chroprof_stall_sample) X(chroprof_stall_share) X(chroprof_step)            \
    X(chroprof_table) X(chroprof_task_wait) X(chroprof_text_options) X(chroprof_totals)            \
    X(chroprof_wall) X(chroprof_window) X(chroprof_windows_cursor)

#ifdef __cplusplus
}
#endif

/* >>macros */

#ifdef __cplusplus
#define CHROPROF__C extern "C"
#define CHROPROF__CONST constexpr const
#else
#define CHROPROF__C
#define CHROPROF__CONST const
#endif

/* Defines a site of this source line: CHROPROF_SITE(site_accept, "accept"); The name is a constant
 * for all futures of this line. For names made at run time use chroprof_site_make. */
#define CHROPROF_SITE(variable, name)                                       \
    static CHROPROF__CONST chroprof_site variable CHROPROF__SITE_UNUSED = { \
        name, __FILE__, __LINE__                                            \
    }
#ifndef CHROPROF_DISABLE
#define CHROPROF__SITE_UNUSED
#else                                   /* for wrappers that take a site; nothing is emitted */
#define CHROPROF__SITE_UNUSED CHROPROF__ATTRIBUTES((__unused__))
#ifdef __cplusplus
#define chroprof_site_make(p, name, file, line) (static_cast<const chroprof_site *>(nullptr))
#else
#define chroprof_site_make(p, name, file, line) ((const chroprof_site *)0)
#endif
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
#define chroprof_next(p, site) ((void)0)
#define chroprof_loop_enter(p) ((void)0)
#define chroprof_loop_leave(p) ((void)0)
#define chroprof_idle_enter(p) ((void)0)
#define chroprof_idle_leave(p) ((void)0)
#ifdef CHROPROF_WAIT_CALLS
#define chroprof_leave_for_idle(p) ((void)0)
#define chroprof_enter_from_idle(p, site) ((void)0)
#endif
#define chroprof_tick(p) ((void)0)
#define chroprof_exiting(p, since) ((void)0)
#define chroprof_waited(p, call, within, since) ((void)0)
#define chroprof_add_wait(p, seen) (CHROPROF_OK)
#define chroprof_name_held(p, kind, at_ns, ppm, code) (CHROPROF_OK)
#define chroprof_kept_awake(p, by) ((void)0)
#define chroprof_event(p, state, id, site, now) ((void)0)
#define chroprof_sample(p, now, cpu_delta_ns) ((void)0)
#define chroprof_sample_stack(p, now, cpu_delta_ns, addresses, count) (CHROPROF_OK)
#endif

#ifdef __cplusplus
/* A symbol of the class could be that of another copy. */
#define CHROPROF__SCOPE_CALL inline CHROPROF__ATTRIBUTES((__always_inline__))

/* Enters here and leaves at the end of the block, also by an exception:
 *     chroprof_scope s(&prof, &site); */
class chroprof_scope {
public:
#ifndef CHROPROF_DISABLE
    CHROPROF__SCOPE_CALL chroprof_scope(chroprof *chroprof__p, const chroprof_site *chroprof__where)
        : profile(chroprof__p)
    {
        chroprof_enter(chroprof__p, chroprof__where);
    }
    CHROPROF__SCOPE_CALL ~chroprof_scope() { chroprof_leave(profile); }
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

/* One line at the top of a callback: CHROPROF_SCOPE(&prof, "on_readable"); It enters a site of this
 * line and leaves it at the end of the block, also by an early return. In C++, and in C compilers
 * with __attribute__((cleanup)), such as gcc and clang. Elsewhere it is not defined: use
 * chroprof_enter and chroprof_leave. At most one per line. */
#if defined(CHROPROF_DISABLE)
#define CHROPROF_SCOPE(p, name) ((void)0)
#elif defined(__cplusplus)
#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    const chroprof_scope CHROPROF__JOIN(chroprof__scope_, __LINE__)(                               \
        p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#elif defined(__GNUC__)
static inline __attribute__((__unused__)) void chroprof__scope_end(chroprof *const *chroprof__p)
{
    chroprof_leave(*chroprof__p);
}

static inline __attribute__((__unused__)) chroprof *chroprof__scope_begin(
    chroprof *chroprof__p, const chroprof_site *chroprof__where)
{
    chroprof_enter(chroprof__p, chroprof__where);
    return chroprof__p;
}

#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    chroprof *const CHROPROF__JOIN(chroprof__scope_, __LINE__)                                     \
        __attribute__((__cleanup__(chroprof__scope_end), __unused__)) =                            \
            chroprof__scope_begin(p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#endif

/* Libraries must see it, -fvisibility=hidden or not. */
#define CHROPROF__VISIBLE CHROPROF__C CHROPROF__ATTRIBUTES((__visibility__("default")))

/* Names in the helpers may be those of the program around them. */
#if defined(__GNUC__)
#define CHROPROF__QUIET_BEGIN \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
    _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")
#define CHROPROF__QUIET_END _Pragma("GCC diagnostic pop")
#else
#define CHROPROF__QUIET_BEGIN
#define CHROPROF__QUIET_END
#endif

/* >>loops: for a library that waits in epoll_wait(2) or epoll_pwait(2) and has no hook there, such
 * as libuv and libevent 2.1. CHROPROF_EPOLL_IDLE(&prof); outside any function defines both calls in
 * your program. The library then calls these, which report idle and call the system. sigset_t must
 * be declared before it, by <sys/epoll.h>, <signal.h> or the library's header. Each wait evaluates
 * p in the thread that waits. If other threads wait too, p must be NULL in them (use a thread-local
 * pointer). These calls are no cancellation points of pthreads. Put it in the program itself, not
 * in a library that it loads: libraries look in the program first. A wait inside a task, in another
 * descriptor than the loop's, is that task's (chroprof_waited); after 16 in one descriptor and none
 * in the loop's, that is the loop's. Linux only; elsewhere it does nothing, and the wait counts as
 * uninstrumented. */
#ifdef CHROPROF__EPOLL
#define CHROPROF_EPOLL_IDLE(p)                                                                     \
    CHROPROF__QUIET_BEGIN                                                                          \
    struct epoll_event;                                                                            \
    CHROPROF__VISIBLE int epoll_pwait(int fd, struct epoll_event *events, int size, int ms,        \
                                      const sigset_t *mask);                                       \
    CHROPROF__VISIBLE int epoll_wait(int fd, struct epoll_event *events, int size, int ms);        \
    int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)    \
    {                                                                                              \
        return chroprof__epoll_pwait((p), fd, events, size, ms, mask);                             \
    }                                                                                              \
    int epoll_wait(int fd, struct epoll_event *events, int size, int ms)                           \
    {                                                                                              \
        return chroprof__epoll_pwait((p), fd, events, size, ms, NULL);                             \
    }                                                                                              \
    CHROPROF__QUIET_END                                                                            \
    struct chroprof__semicolon
#else
#define CHROPROF_EPOLL_IDLE(p) struct chroprof__semicolon
#endif

/* A reader of the interface may stop here. */
#endif /* CHROPROF_H */

#if defined(CHROPROF_IMPLEMENTATION) && !defined(CHROPROF_IMPLEMENTATION_DONE)
#define CHROPROF_IMPLEMENTATION_DONE

/* From here on the compiler keeps to itself what it holds of our style: the program around has its
 * own. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

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
/* The terminal of a stream, and mapped files: more than standard C, which a strict build hides. */
#if (defined(__unix__) || defined(__APPLE__)) \
    && (!defined(__STRICT_ANSI__) || defined(_POSIX_C_SOURCE) || defined(_GNU_SOURCE))
#define CHROPROF__TERMINAL 1
#include <sys/ioctl.h>
#ifndef CHROPROF_NO_MMAP
#define CHROPROF__MAPS 1
#endif
#endif
#endif

#ifdef CHROPROF__MAPS
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE < 200112L
#error "chroprof: mapped files need a newer POSIX. Define _POSIX_C_SOURCE=200809L before all \
includes, or define CHROPROF_NO_MMAP."
#endif
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#ifdef O_CLOEXEC
#define CHROPROF__CLOEXEC O_CLOEXEC
#else
#define CHROPROF__CLOEXEC 0                 /* POSIX before 2008 */
#endif
#if defined(MADV_WIPEONFORK) && defined(MAP_ANONYMOUS)
#define CHROPROF__FORKS 1
#endif
/* A file's owner is known by a lock. Who asks has its system calls by number too. */
#if defined(__linux__) && (defined(__GNUC__) || defined(__TINYC__))
#define CHROPROF__HOLDS 1
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
#include <ucontext.h>
#endif
#if !CHROPROF__THREAD_TIMER
#include <sched.h>
#include <sys/time.h>
#endif
#else
#define CHROPROF__SAMPLES 0
#endif

/* syscall(2), which a strict build hides. */
#if defined(CHROPROF__EPOLL) || defined(CHROPROF__HOLDS) || \
    (CHROPROF__SAMPLES && CHROPROF__THREAD_TIMER)
#include <sys/syscall.h>
extern long chroprof__system(long number, ...) __asm__("syscall");
#endif

#if defined(__GNUC__)
#define CHROPROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define CHROPROF__RARELY(x) __builtin_expect(!!(x), 0)
#define CHROPROF__INLINE static inline __attribute__((__always_inline__, __unused__))
#define CHROPROF__COLD static __attribute__((__noinline__, __cold__, __unused__))
#define CHROPROF__COLD_API CHROPROF_API __attribute__((__cold__))
#define CHROPROF__NOINLINE static __attribute__((__noinline__, __unused__))
#define CHROPROF__UNUSED __attribute__((__unused__))
#define CHROPROF__PREFETCH(address) __builtin_prefetch(address)
/* The compiler reads memory again from here on. */
#define CHROPROF__READ_AGAIN() __asm__ __volatile__("" ::: "memory")
/* The compiler keeps it once, not as what it was made from as well. */
#define CHROPROF__ONE_WORD(x) __asm__("" : "+r"(x))
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
#define CHROPROF__ONE_WORD(x) ((void)0)
#endif

/* What is not an event is compiled for size: at -O2 a quarter less code from gcc, a third from
 * clang, and clang is done in half the time. A dump takes 10 to 25 % longer, from clang 20 to 50 %.
 * gcc hands "cold" down to what only cold functions call, clang wants to be told of each. */
#ifdef __clang__
#define CHROPROF__COLD_BEGIN \
    _Pragma("clang attribute push(__attribute__((__cold__)), apply_to = function)")
#define CHROPROF__COLD_END _Pragma("clang attribute pop")
#else
#define CHROPROF__COLD_BEGIN
#define CHROPROF__COLD_END
#endif

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(_MSC_VER)
#define CHROPROF__LITTLE 1
#else
#define CHROPROF__LITTLE 0
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
typedef uint64_t __attribute__((__may_alias__)) chroprof__word;
#else
typedef uint64_t chroprof__word;
#endif

#ifndef CHROPROF_ASSERT
#define CHROPROF_ASSERT(x) ((void)0)
#endif

/* What tells this thread from all others that live: each has an errno of its own. 0: not known, as
 * on a bare machine. */
CHROPROF__NOINLINE uint64_t chroprof__thread(void)
{
#if defined(errno) && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
    return (uint64_t)(uintptr_t)&errno;
#else
    return 0;
#endif
}

#if !defined(CHROPROF_NO_CLOCK) && !defined(CHROPROF_NO_TSC) && defined(__GNUC__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#define CHROPROF__HAS_COUNTER 1
#else
#define CHROPROF__HAS_COUNTER 0
#endif

/* Does the fast path tell by the stack who begins a task? */
#if CHROPROF__SAMPLES && CHROPROF__HAS_COUNTER && defined(__OPTIMIZE__)
#define CHROPROF__KNOWS_CALLERS 1
#else
#define CHROPROF__KNOWS_CALLERS 0
#endif

#if CHROPROF__HAS_COUNTER && defined(__x86_64__)
CHROPROF__INLINE uint64_t chroprof__counter(void)
{
    uint64_t ticks;                         /* rdtsc clears the upper halves of both */
    __asm__ __volatile__("rdtsc\n\tshlq $32, %%rdx\n\torq %%rdx, %%rax" : "=a"(ticks) : :
                         "rdx", "cc");
    return ticks;
}

/* What the processor says of itself. Tests let it be another one. */
#ifndef CHROPROF__CPUID
#define CHROPROF__CPUID(a, b, c, d)                                                                \
    __asm__ __volatile__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d))
#endif

/* CPUID leaf 0x80000007, EDX bit 8: the counter's rate does not follow the core's frequency
 * (AMD64 Architecture Programmer's Manual, volume 3, appendix E). */
static bool chroprof__counter_is_invariant(void)
{
    uint32_t a = 0x80000000u, b, c, d;
    CHROPROF__CPUID(a, b, c, d);
    if (a < 0x80000007u)                    /* a processor older than that */
        return false;
    a = 0x80000007u;
    CHROPROF__CPUID(a, b, c, d);
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
CHROPROF__NOINLINE uint64_t chroprof__posix_ns(clockid_t which)
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

#ifdef CHROPROF__MAPS
/* What the system says of a process; all 0: nothing. */
typedef struct chroprof__process {
    char state;
    bool exiting;              /* its first thread runs no code of the program any more */
    uint64_t threads;
    uint64_t start;            /* in the system's own count */
} chroprof__process;

CHROPROF__COLD chroprof__process chroprof__process_of(uint64_t pid)
{
    char path[32], text[1024];
    enum { EXITING = 4 };                   /* of the kernel's flags */
    chroprof__process out = { 0, false, 0, 0 };
    (void)snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
    int file = open(path, O_RDONLY | CHROPROF__CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    const char *at = strrchr(text, ')');    /* the name before it may hold anything */
    for (int field = 3; at && (at = strchr(at + 1, ' ')) != NULL; field++) {
        if (field == 3)
            out.state = at[1];
        if (field == 9)
            out.exiting = (strtoull(at, NULL, 10) & EXITING) != 0;
        if (field == 20)
            out.threads = strtoull(at, NULL, 10);
        if (field == 22)
            out.start = strtoull(at, NULL, 10);
    }
    return out;
}
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

/* What another hand (a handler, an interrupt) may change or read at any instruction. */
CHROPROF__INLINE uint64_t chroprof__peek64(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

CHROPROF__INLINE void chroprof__poke64(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
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

static void chroprof__lower(uint64_t *figure, uint64_t most)
{
    if (*figure > most)
        *figure = most;
}

/* floor(value * factor / 2^32). */
CHROPROF__INLINE uint64_t chroprof__scale(uint64_t value, uint64_t factor)
{
    uint64_t whole = factor >> 32, part = factor & UINT32_MAX;
    return value * whole + (value >> 32) * part + ((value & UINT32_MAX) * part >> 32);
}

/* floor(value * 2^32 / factor), saturating. Cold: with it all that takes ticks in is made small,
 * also where an idle ends while the sampler runs. */
CHROPROF__COLD uint64_t chroprof__unscale(uint64_t value, uint64_t factor)
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

/* Text n of those that stand one after the other. */
CHROPROF__COLD const char *chroprof__nth_text(const char *texts, uint32_t n)
{
    for (; n > 0; n--)
        texts += strlen(texts) + 1;
    return texts;
}

/* The figure at an offset of a row or a public struct. */
static uint64_t *chroprof__field(const void *row, uint16_t offset)
{
    return (uint64_t *)((uintptr_t)row + offset);
}

/* How the largest of some rows are kept: how many, the bytes of one, and where the figure lies. */
typedef struct chroprof__largest {
    uint32_t most;
    uint16_t size, figure;
} chroprof__largest;
#define CHROPROF__LARGEST(most, type, figure)                                                      \
    { most, (uint16_t)sizeof(type), (uint16_t)offsetof(type, figure) }

/* Puts a row among the largest, which stand in falling order of their figure; of equal ones the
 * older stays before. Returns how many there are. */
CHROPROF__COLD uint32_t chroprof__keep_largest(const chroprof__largest *how, void *rows,
                                               uint32_t count, const void *row)
{
    char *first = (char *)rows;
    const size_t size = how->size;
    uint64_t value = *chroprof__field(row, how->figure);
    uint32_t k = count;
    while (k > 0 && *chroprof__field(first + (k - 1) * size, how->figure) < value)
        k--;
    if (k == how->most)
        return count;
    count += count < how->most;
    memmove(first + (k + 1) * size, first + k * size, (count - 1 - k) * size);
    memcpy(first + k * size, row, size);
    return count;
}

/* The root, rounded down. */
CHROPROF__UNUSED static uint64_t chroprof__root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

/* round(weight * part / whole), part <= whole. */
static uint64_t chroprof__weigh(uint64_t weight, uint64_t part, uint64_t whole)
{
    for (; whole >> 31; whole >>= 1)
        part >>= 1;
    return weight / whole * part + (weight % whole * part + whole / 2) / whole;
}

/* >>block: everything that lies in the caller's memory. Fixed-width fields, offsets and indices
 * only. */

#define CHROPROF__MAGIC UINT64_C(0x31464F5250524843)     /* "CHRPROF1" in memory, little-endian */
#define CHROPROF__LAYOUT 16u             /* one more with each change of what lies in the block */
#define CHROPROF__ALIGN 64u

/* Rows 0 to 2 of the paths and of the sites are these; users' paths begin at 3, sites at 4. */
enum {
    CHROPROF__LOOP = 0, CHROPROF__IDLE = 1, CHROPROF__UNTRACKED = 2, CHROPROF__FIRST_PATH = 3,
    CHROPROF__OTHER = 3, CHROPROF__FIRST_SITE = 4,
    CHROPROF__OWN_STRINGS = 49 /* bytes of "", "..." and the names of these four */
};

/* A live future, or an id that only has frames left (GONE). */
typedef struct chroprof__future_row {
    uint64_t id;               /* 0: the slot is empty */
    uint64_t since;            /* of the state */
    uint64_t exec;             /* slices that ended */
    uint32_t path;
    uint16_t frame;            /* the topmost frame of this id, 0: none */
    uint8_t state;             /* chroprof_state, or CHROPROF__GONE */
    uint8_t flags;
    uint64_t created;
} chroprof__future_row;

enum { CHROPROF__GONE = 255 };
enum {
    CHROPROF__REMEMBERED = 1, CHROPROF__STARTED = 2     /* ready while running; ready again */
};

/* A frame of the running stack. Number 0 is a barrier that is always there: the loop itself. */
typedef struct chroprof__frame_row {
    uint64_t id;               /* 0: an enter-frame or a barrier */
    uint64_t pushed;
    uint64_t start;            /* moved on by what was on top of it: t - start = the slice */
    uint64_t excluded;         /* of a parted frame: time that is not of its callback */
    uint64_t carried;          /* of an orphan: exec of its future when it lost its record */
    uint32_t path;
    uint32_t depth;            /* its number */
    uint32_t slot;             /* words up to its id's slot; of a barrier: the one below it */
    uint16_t same;             /* the next deeper frame of the same id, 0: none */
    uint16_t spare;
    uint32_t event;            /* seq when it was pushed, modulo 2^32 */
    uint32_t kind;
} chroprof__frame_row;

enum {
    CHROPROF__FUTURE_FRAME = 1, CHROPROF__ENTER_FRAME = 2, CHROPROF__BARRIER = 4,
    CHROPROF__ORPHAN = 8,      /* its future has finished or was abandoned */
    CHROPROF__NEWEST = 16,     /* the topmost orphan frame of its future */
    CHROPROF__OLDEST = 32,     /* the deepest one */
    CHROPROF__UNKNOWN = 64,    /* of an id that was never known: its time is untracked */
    CHROPROF__PARTED = 128,    /* a base frame: time was left out of its callback */
    CHROPROF__AGED = 256,      /* what lies below it was last billed in an earlier window */
    CHROPROF__TENDED = 512     /* of a future that has deeper frames, or became ready meanwhile */
};

/* What a path took of a callback or an iteration that is added up from the ring. */
typedef struct chroprof__sum {
    uint64_t exec, slices, slice_max;
} chroprof__sum;
#define CHROPROF__UNKNOWN_SLICES UINT64_MAX     /* some ran deeper than a tally knows */

enum { CHROPROF__OF_ITERATION, CHROPROF__OF_CALLBACK };

/* Most sites on a path: what walks along one takes so many steps. */
enum { CHROPROF__CHAIN = 512 };

/* A node of the performance tree. The first line is what most events touch. */
typedef struct chroprof__path_row {
    uint64_t exec;
    uint64_t entered;          /* calls of enter-frames that ended: slices, and completed */
    uint64_t blame;
    uint64_t activations;      /* slices of futures that ended, each from its push to its pop */
    uint64_t slice_max;
    uint64_t exec_max;         /* of a future; of an enter-frame the slice is all */
    uint64_t lifetime;         /* + live * now */
    uint32_t counts;           /* words from the core up to its site's; UINT64_MAX there: none */
    uint32_t window;           /* tag of the window that exec - mark belongs to */
    /* second line: the life of futures; lifetime and delay are kept as sums of ends minus
     * beginnings */
    uint64_t delay;            /* + ready * now */
    uint32_t live;             /* futures */
    uint32_t ready;            /* futures ready just now */
    uint64_t completed, failed, cancelled, abandoned;
    uint64_t found, hidden;    /* what polls brought, and the most that it can have waited before */
    /* third line: the tree */
    uint32_t site;
    uint32_t parent;
    uint32_t next;             /* preorder successor, 0: the end */
    uint32_t same_site;        /* next path of the same site, 0: the end */
    uint32_t generation;       /* distance from the root, at most CHROPROF__CHAIN */
    uint32_t sum_next[2];      /* next path of the tally, 0: the end */
    uint32_t histogram;        /* row of its site's, 0: none */
    uint64_t stillborn;
    uint64_t delay_max;
    uint64_t merged_live;      /* live in the profiles that were merged in */
    uint64_t dropped;          /* gave up their record to a full table */
    /* fourth line */
    chroprof__sum sum[2];
    uint32_t tally[2];         /* that the sums belong to, 0: none */
    uint64_t mark;             /* exec that the windows already hold */
} chroprof__path_row;

typedef struct chroprof__site_entry {
    uint64_t handle[3];        /* a chroprof_site of this process, for chroprof_site_make */
    uint64_t hash;             /* of the full content */
    uint32_t name, file;       /* offsets in the strings */
    uint32_t line;
    uint32_t first_path;
    uint32_t next;             /* in its bucket by content */
    uint32_t next_file;        /* in its bucket by file; only the first site of a file is in one */
    uint8_t cut;               /* a string did not fit */
    uint8_t blurred;           /* by a merge: some of its slices are in no histogram */
    uint16_t spare;
    uint32_t slow;             /* its group of slow futures + 1, 0: none */
    uint64_t slow_limit;       /* a future is looked at from this lifetime on */
} chroprof__site_entry;

/* Where a chroprof_site of this process leads from a path: what its content and the edges say,
 * remembered by its address. */
typedef struct chroprof__shortcut {
    uint64_t address, content; /* 0: the place is empty; its address is none that a site has */
    uint32_t window;           /* in which the target is, as far as is known here */
    uint32_t path;
    uint32_t target;
    uint32_t caller;           /* bytes from the core to the callers of the target */
} chroprof__shortcut;
enum { CHROPROF__NOWHERE = 1 };

/* (path, site) -> path: a creation or a fold that was seen before. */
typedef struct chroprof__edge {
    uint32_t path, site;       /* site 0: empty */
    uint32_t target;
    uint32_t reserved;
} chroprof__edge;

/* Log-linear: each power-of-two range, range for short, has 8 buckets (Gil Tene's HdrHistogram,
 * with 3 bits), so the middle of a bucket is within 1/16 of all it holds. A range has a row once
 * something falls into it. */
enum { CHROPROF__BUCKETS = 40 * 8 + 8 + 1, CHROPROF__RANGES = 42 };
enum { CHROPROF__OF_NOBODY = 0, CHROPROF__OF_SITES = 1 };
typedef struct chroprof__histogram {
    uint64_t min;              /* the maximum is kept with the figures it belongs to */
    uint16_t range[CHROPROF__RANGES + 2];      /* row of each, 0: it is empty */
} chroprof__histogram;

typedef struct chroprof__range {
    uint64_t count[8];
} chroprof__range;

/* Of a site: its slices, its delays, and the latency of its futures. Row 0 takes what is of sites
 * without one, so that nobody has to ask. */
typedef struct chroprof__histograms {
    chroprof__histogram slice;
    chroprof__histogram delay;
    chroprof__histogram latency;
    uint64_t latency_max;
    uint64_t missed;           /* slices that ended before the site had these */
    uint32_t path;             /* the site's, by whose exec it has them; 0: nobody's */
    uint32_t life;             /* how often they were given up */
} chroprof__histograms;

/* Of a site: its slices by bucket, as far as they are not in the ranges, and the shortest. */
typedef struct chroprof__slices {
    uint64_t min;
    uint16_t few[CHROPROF__RANGES * 8];
} chroprof__slices;

/* What a site took of a stall. */
typedef struct chroprof__stall_part {
    uint64_t exec, slices, slice_max;
    uint32_t site, spare;
} chroprof__stall_part;

/* Adds up what paths took of a stretch of the ring, row by row, in order. */
enum { CHROPROF__TALLY_DEPTHS = 20 };
typedef struct chroprof__tally {
    uint64_t next;             /* event whose row is next */
    uint64_t time;             /* of the event before it */
    uint32_t which;            /* CHROPROF__OF_ITERATION or CHROPROF__OF_CALLBACK */
    uint32_t first_path;       /* that has a sum, 0: none but loop */
    uint32_t base;             /* depth below it */
    uint32_t fence;           /* depth above which a nested loop runs, which is not of a callback */
    uint32_t number;           /* that its sums are marked with, not 0 */
    uint32_t spare;
    uint64_t slice[CHROPROF__TALLY_DEPTHS];    /* under way, by depth; no deeper ones */
    uint32_t path[CHROPROF__TALLY_DEPTHS];     /* whose slices these are, 0: none */
} chroprof__tally;

/* One event, as it happened. It is written before the event changes anything else. */
typedef struct chroprof__ring_row {
    uint64_t time;
    uint64_t id;
    uint32_t path;             /* that the interval up to it was billed to */
    uint16_t depth;            /* of the stack before it */
    uint8_t state;             /* CHROPROF__PUSHED_NONE may stand in it; UINT8_MAX: none that is */
    uint8_t spare;             /* of a stall's: path is how many before it are left out */
} chroprof__ring_row;

/* In the state of a row: the event says that something runs, but no frame was put on the stack. */
enum { CHROPROF__PUSHED_NONE = 0x80 };

/* Samples inside one callback or iteration. */
typedef struct chroprof__hits {
    uint32_t owner;        /* which one: the event of its base frame, or that began the iteration */
    uint32_t count;
    uint32_t stack[CHROPROF_STALL_SAMPLES];
    uint32_t weight[CHROPROF_STALL_SAMPLES];
    uint32_t over[CHROPROF_STALL_SAMPLES];      /* of the weight: what may be of other stacks */
    uint64_t cpu[CHROPROF_STALL_SAMPLES];
    uint64_t sampled, cpu_ns, waiting_ns;
} chroprof__hits;

typedef struct chroprof__stall_row {
    uint64_t serial;           /* from 1; 0: the row is empty */
    uint64_t start, length;
    uint64_t events;
    uint32_t kind;
    uint32_t share_count;
    chroprof__stall_part shares[CHROPROF_STALL_SHARES];
    chroprof__hits hits;
} chroprof__stall_row;

/* The steps of a stall. Row 0 has the first ones of the iteration under way if the ring lost them;
 * its serial is the event that began that iteration. */
enum {
    CHROPROF__STEPS_BEFORE = 8,
    CHROPROF__FIRST_STEPS = 32,
    CHROPROF__LAST_STEPS = 16,
    CHROPROF__STEPS_ASKED = 8192            /* among so many are the longest ones searched */
};
typedef struct chroprof__incident_row {
    uint64_t serial, length;   /* of the stall; serial 0: the row is empty */
    uint64_t left_out;         /* steps between those that are kept */
    uint32_t count, first;     /* first: those before the first ones that are left out */
    chroprof__ring_row steps[CHROPROF_INCIDENT_STEPS];
} chroprof__incident_row;

/* A future that finished, and where its lifetime went; what is in no part it waited. */
typedef struct chroprof__slow_part {
    uint64_t delay;
    uint32_t site, spare;
} chroprof__slow_part;

typedef struct chroprof__slow_entry {
    uint64_t id;
    uint64_t at, latency;
    uint64_t exec, children, delay, unseen;
    uint32_t path;
    uint32_t state;            /* the finish */
    chroprof__slow_part blames[CHROPROF_SLOW_BLAMES];    /* the largest first; 0: none */
} chroprof__slow_entry;

/* The slowest futures of a site. The first half is of the run, the rest of the last minutes,
 * because it goes when it is old. */
enum { CHROPROF__SLOW_OF_RUN = 4, CHROPROF__SLOW_ROWS = 8 };
typedef struct chroprof__slow_group {
    uint32_t site;
    uint32_t count;
    chroprof__slow_entry rows[CHROPROF__SLOW_ROWS];
} chroprof__slow_group;

enum { CHROPROF__NESTED_LOOPS = 4, CHROPROF__NAME_BYTES = 64, CHROPROF__FEWEST_EVENTS = 64 };

/* Waits of one site inside its tasks, by one call. Count 0: the row is free. */
enum {
    CHROPROF__AWAKE_BYTES = 96, CHROPROF__WAITED = 8, CHROPROF__CALL_BYTES = 16,
    CHROPROF__WITHIN_BYTES = 48
};
typedef struct chroprof__waited_row {
    uint64_t count, ticks, longest;
    uint32_t site, estimated;
    char call[CHROPROF__CALL_BYTES];
    char within[CHROPROF__WITHIN_BYTES];   /* the function that calls it; "": not known */
} chroprof__waited_row;

/* Who held the loop, for one kind of finding. Empty code: nobody knows. */
enum { CHROPROF__HELD = 3, CHROPROF__CODE_BYTES = 64 };
typedef struct chroprof__held_row {
    uint64_t at_ns;
    uint32_t ppm, spare;
    char code[CHROPROF__CODE_BYTES];
} chroprof__held_row;

/* Tables beyond those that are public. */
enum {
    CHROPROF__SHORTCUTS = CHROPROF_TABLE_COUNT,
    CHROPROF__HEADS,           /* buckets of the sites: by content, then by file */
    CHROPROF__RANGE_TABLE,     /* of the histograms */
    CHROPROF__COUNTS,
    CHROPROF__PLACES,          /* of the anomalies, as kinds come */
    CHROPROF__MODULES,         /* these three, and the stacks, are there if there are samples */
    CHROPROF__WALLS,
    CHROPROF__SAMPLER,
    CHROPROF__ALL_TABLES
};

typedef struct chroprof__sample_span {
    uint64_t time, duration;
    uint64_t weight;
    uint64_t cpu_ns;
    uint32_t stack;            /* node, 0: none */
    uint32_t state;            /* chroprof_sample_state */
} chroprof__sample_span;

/* What a node of the stacks and an entry of the ring hold: a kind above 56 bits of value. */
enum { CHROPROF__PC, CHROPROF__RETURN, CHROPROF__TASK, CHROPROF__MARK };
enum {
    CHROPROF__MARK_INSIDE = 1, CHROPROF__MARK_CUT, CHROPROF__MARK_STACK, CHROPROF__MARK_DEEP,
    CHROPROF__MARK_IDLE, CHROPROF__MARK_LOOP, CHROPROF__MARK_FULL, CHROPROF__MARKS
};

/* A node of the tree of sampled stacks. Number 0 is the stack that has no frames. Below a frame a
 * MARK_FULL stands for stacks that went on, and had to give way to others. */
typedef struct chroprof__node {
    uint64_t item;
    uint64_t weight, cpu_ns;   /* of the samples that end here */
    uint32_t parent;           /* a lower number */
    uint32_t next;             /* in its bucket */
    uint32_t head;             /* of the bucket of this number */
    uint32_t heir;             /* while room is made */
} chroprof__node;

enum { CHROPROF__MODULE_PATH = 184, CHROPROF__BUILD_ID = 48 };
enum { CHROPROF__MOST_MODULES = 64 };  /* the sampler has a bit for each */

typedef struct chroprof__module_row {
    uint64_t low, high;        /* addresses */
    uint64_t base;             /* load bias */
    char build_id[CHROPROF__BUILD_ID];
    char path[CHROPROF__MODULE_PATH];
} chroprof__module_row;

/* What the sampler saw of a path: weight and ticks of its futures that were met running, ready,
 * paused; samples in its slices and their CPU time. */
typedef struct chroprof__wall_row {
    uint64_t weight[3];
    uint64_t ticks[3];
    uint64_t samples, cpu_ns;
} chroprof__wall_row;

/* Whom a frame of the running stack was begun by: three native frames, as hashes. */
typedef struct chroprof__note {
    uint32_t event;            /* of the frame, so that an old note is not taken for its */
    uint32_t keys[3];
} chroprof__note;

/* Whom a path was begun by last: most begin at one place, and then two words of the stack
 * say so. Frames that were pushed since then have this note. */
typedef struct chroprof__caller {
    uint64_t base;             /* the stack pointer; 0: nobody is known again by this */
    uint64_t at[2], product;   /* where return addresses stood, or one; what they were */
    uint64_t since;            /* profile time */
    uint32_t path;             /* 0: none */
    uint32_t keys[3];
    uint64_t one;
} chroprof__caller;

/* What an event without a stack pointer to compare says to chroprof__follow_event. */
enum { CHROPROF__BEGINS_SLOWLY, CHROPROF__BEGINS_NONE };

/* A sample that waits for the next event. */
enum { CHROPROF__ITEMS = 56, CHROPROF__NOTED_TASKS = 16, CHROPROF__DRAWS = 8 };
enum { CHROPROF__STRETCH = 2048 };         /* slots that a sample looks at for a draw */
typedef struct chroprof__entry {
    uint64_t stamp;            /* of the clock; 0: not known */
    uint64_t last;             /* of the last signal that this one stands for */
    uint64_t weight;
    uint64_t cpu_ns;
    uint64_t wall_ns;          /* since the signal before; 0: since the sample before */
    uint64_t draws;            /* signals that ask for a draw of futures */
    uint32_t count;
    uint32_t state;
    uint64_t reserved;
    uint64_t items[CHROPROF__ITEMS];       /* the innermost first */
} chroprof__entry;

/* A callback or iteration that began while the sampler ran: the thread's CPU time then. */
typedef struct chroprof__begun {
    uint64_t event, cpu_ns;    /* modulo 2^32 */
} chroprof__begun;

#define CHROPROF__NO_ITERATION (UINT64_C(1) << 62)

enum { CHROPROF__HITS = 5 };   /* of the callbacks of LEVELS nested loops and of the iteration */

/* The sampler's state. The notes follow it, then the callers, then the ring of entries. */
typedef struct chroprof__sampler {
    /* changed by the loop's own calls */
    struct {
        uint64_t samples, inside, dropped;
        uint64_t dropped_cpu_ns;
        uint64_t head;             /* row of the next sample */
        uint64_t latest;           /* end of the newest row */
    } rows;
    struct {
        uint64_t draws, misses;
        uint64_t random;
    } draw;
    struct {
        uint64_t loads, unloads;   /* of modules, when they were last looked at */
        uint64_t loaded;           /* a bit for each row of the modules that is in memory */
        uint64_t possible;         /* those that addresses of samples being taken in may be of */
        uint64_t added;            /* those that somebody named, and no survey finds */
    } modules;
    struct {
        uint64_t cursor;           /* slot of the next draw */
        uint64_t seq, at;          /* after which event the last one was, and when */
    } drawn;
    uint64_t first_event;      /* of the run of the timer */
    struct {
        uint64_t at;               /* profile time from which the next event reads the CPU clock */
        uint64_t due;              /* the event under way does */
        uint64_t last;             /* when it was read last; UINT64_MAX: never */
        uint64_t cpu_ns, cpu_busy; /* CPU time then, and time that was not idle */
    } look;
    uint64_t noting;           /* who begins the top frame is about to be noted */
    struct {
        uint64_t resting;          /* the wait under way is known */
        uint64_t start;            /* when it began */
        uint64_t idle_from, idle_ns; /* idle that was sampled; not yet */
        uint64_t most;             /* ns of the longest wait of late */
    } wait;
    uint64_t renumberings;     /* how often stacks were renumbered, twice; odd while they are */
    uint64_t patience;         /* frames that are turned away before room is looked for again */
    uint64_t taken;            /* entries that were drained */
    struct {
        uint64_t low, high;        /* the thread's stack */
        uint64_t fiber_low, fiber_high;
    } stack;
    /* changed by the handler, and by events that give up overdue samples */
    struct {
        uint64_t put;              /* entries that were made */
        uint64_t ticks, lost, cost_ns;
        uint64_t cpu, stamp;       /* at the end of the signal before */
        uint64_t deadline;         /* of the next one, on the clock that the mode goes by */
        uint64_t stopped;          /* the timer, until the loop has slept */
        uint64_t interrupted;
        uint64_t pending;          /* steady: periods of which no sample was taken yet */
        uint64_t window_weight, window_cost; /* since the budget was last looked at */
        uint64_t period_ns;
    } handler;
    /* settings */
    struct {
        uint64_t first_period_ns, budget_ppm, mode, steady;
    } set;
    struct {
        uint64_t armed;            /* the value of the timer's signal; 0: there is none */
        uint64_t pid, number, running;
    } timer;
    struct {
        uint64_t vain, patient;    /* looks for the module of an address, one after the other, that
                                      found none; addresses until the next look */
    } search;
    struct {
        uint64_t walk, user;       /* of this process */
    } unwind;
    chroprof__begun begun[CHROPROF__HITS];
    chroprof__hits hits[CHROPROF__HITS];
} chroprof__sampler;

typedef struct chroprof__table_row {
    uint64_t offset;           /* from the core */
    uint64_t bytes;
    uint64_t used, peak;
    uint64_t dropped;
    uint64_t wanted;           /* depth: most hidden frames; strings: bytes cut off; sites, paths,
                                  edges: a bitmap of what was dropped, to tell how many differed */
    uint32_t capacity;         /* what the option says */
    uint32_t rows;             /* what that takes */
} chroprof__table_row;

/* Where an anomaly was met. */
typedef struct chroprof__met {
    uint64_t at;               /* profile time */
    uint64_t id;               /* 0: none */
    uint32_t path;             /* of the future or call that it is about; 0: not known */
    uint32_t top;              /* on top of the stack when the event came */
} chroprof__met;

typedef struct chroprof__places {
    chroprof__met first, last;
} chroprof__places;

enum { CHROPROF__KINDS = 24 };

/* Clocks that are the same in all programs of a machine. */
enum {
    CHROPROF__CLOCK_OWN, CHROPROF__CLOCK_MONOTONIC, CHROPROF__CLOCK_TSC, CHROPROF__CLOCK_CNTVCT
};
#ifdef __x86_64__
#define CHROPROF__CLOCK_COUNTER CHROPROF__CLOCK_TSC
#else
#define CHROPROF__CLOCK_COUNTER CHROPROF__CLOCK_CNTVCT
#endif

/* What lies right before the core, for its program alone: no reader of the block looks here. In a
 * profile of chroprof_map this is a page that the system wipes in a forked child. */
typedef struct chroprof__front {
    uint64_t row_limit;        /* from this next_row on the slow path is taken; 0: wiped */
    uint64_t thread, looked;   /* who sent the event that was looked at last, and its seq; or 0 */
    uint64_t watch;            /* seq at which the last watch of the threads began, or 0 */
    uint64_t spare[4];
} chroprof__front;

enum { CHROPROF__MOST_SKIPPED = 127 };     /* bytes of the block before the core */

/* The start of the block. What stands alone in it is of the hot path, whose first cache line begins
 * at seq, or one fact of the whole profile; what belongs together is a struct. */
typedef struct chroprof__core {
    /* what it is */
    struct {
        uint64_t magic;
        uint32_t layout;
        uint32_t order;            /* 0x01020304 as the writer has it */
        uint64_t block_bytes;
        uint32_t core_bytes;
        uint32_t pointer_bytes;
    } form;
    struct {
        uint64_t pid, boot_ns;     /* calendar time of the monotonic clock's 0 */
        uint64_t start_unix_ns;    /* calendar time of profile time 0 */
        uint64_t start_clock;
    } process;
    /* what every event touches */
    uint64_t seq;              /* twice the number of events; inside one it is odd */
    uint64_t epoch;            /* clock - epoch = profile time */
    uint64_t last;             /* profile time of the last event = elapsed */
    uint64_t time_limit;       /* at or beyond it the slow path is taken */
    uint64_t ready;            /* futures ready just now */
    uint64_t next_row;         /* where the next event's row of the ring lies, from here */
    uint32_t window;           /* tag: level << 16 | index */
    uint32_t account;          /* path on top, or loop, idle, untracked */
    uint32_t depth;
    uint32_t barrier;          /* the innermost barrier, 0: none */
    /* what most touch */
    struct {
        uint64_t limit;            /* a longer callback is the longest, or a stall */
        uint64_t min;     /* a shorter one is the shortest; UINT64_MAX without percentiles */
    } callback;
    struct {
        uint64_t slice;   /* the count that the last slice goes to, in 16 bits from the core */
        uint32_t callback, iteration; /* of these, in 64 bits from the ranges */
    } deferred;
    struct {
        uint64_t start;            /* NO_ITERATION: none began */
        uint64_t limit;            /* as callback.limit */
        uint64_t min;              /* as callback.min */
        uint64_t idle_limit;       /* of idle_leave, what time_limit is of other events */
        uint64_t event;            /* the number of the event that began the one under way */
        uint64_t hidden;           /* time since the poll before, if this one did not wait */
    } iteration;
    struct {
        uint64_t counts;           /* UINT64_MAX: counts of paths that have none */
        uint64_t count;            /* what is deferred for nobody */
    } nobody;
    struct {
        uint64_t callbacks, iterations; /* those that are in no histogram */
        uint64_t slow_due;         /* profile time from which old slow futures are looked for */
        uint64_t iteration_active;
        uint64_t iteration_callback; /* its longest callback that was a stall, 0: none */
        uint64_t iteration_callback_serial; /* that stall */
        uint64_t callback_max, iteration_max;
        uint64_t stalls;
        uint64_t at_once, at_once_ticks; /* waits shorter than the limit, and their time */
        uint64_t at_once_limit;
        uint64_t cpu_clock_ns;     /* CPU time of the loop's thread, by its clock; 0: not known */
    } loop;
    /* start and exit */
    struct {
        uint32_t begun, exits;     /* an idle has ended, once; the loop is over */
        uint64_t start_ticks, exit_ticks; /* parts of the loop's own time */
    } phase;
    /* rare */
    uint32_t barriers;         /* barriers on the stack */
    uint32_t hidden;           /* frames beyond max_depth */
    uint32_t ring_mask;        /* 2 x (rows of the ring - 1): seq counts each event twice */
    uint32_t estimated;        /* the figures are */
    uint64_t hidden_since;     /* profile time at which the first of the hidden frames came */
    struct {
        uint64_t first;            /* number of the first event that the ring may tell of */
        uint64_t begin;            /* profile time at which its interval began */
        uint64_t barrier;          /* the innermost barrier then */
    } ring;
    uint64_t seq_base;         /* seq at the last reset */
    uint64_t edits;            /* odd while something is changed outside an event */
    struct {
        uint64_t window_phase;     /* of a difference: ticks of window 0 that lie before time 0 */
        uint64_t merged_events;    /* of the profiles that were merged in */
    } made;
    uint64_t stall_ticks;      /* set.stall_ns in ticks */
    struct {
        uint64_t end, ticks;       /* the current width */
    } windows;
    uint64_t aged_at;          /* profile time of the last chroprof__age */
    uint64_t max_step_ticks;   /* set.max_step_ns in ticks */
    uint32_t clock;            /* where a reader can read it, CHROPROF__CLOCK_ */
    uint32_t foreign;          /* addresses of other processes were merged in */
    uint64_t started;          /* the epoch is known */
    uint32_t ever_dropped;     /* a future did not fit, once */
    uint32_t slow_looked;      /* rows of the ring that were looked at for slow futures */
    uint64_t enabled;
    uint64_t resetting;        /* the edit under way is a reset: the calendar time of it; or 0 */
    /* time */
    struct {
        uint64_t factor;           /* ns a tick, 32 bits of fraction */
        uint64_t calibrated;
        uint64_t calibrate_at;     /* profile time */
        uint64_t calibrate_counter, calibrate_ns;
        uint64_t error_ppb;
        uint64_t manual;
    } time;
    struct {
        uint64_t window_ns, stall_ns, max_step_ns;
    } set;
    /* who */
    struct {
        char name[CHROPROF__NAME_BYTES];
        char host[CHROPROF__NAME_BYTES];
        char program[CHROPROF__NAME_BYTES];
    } who;
    struct {
        char awake[CHROPROF__AWAKE_BYTES]; /* what makes waits return at once; "": not known */
        chroprof__waited_row waited[CHROPROF__WAITED]; /* waits inside tasks */
        chroprof__held_row held[CHROPROF__HELD]; /* of OCCUPIES, STALL, HANGS */
    } told;
    /* of a mapped file */
    struct {
        uint64_t owner_start;      /* when its process began, 0: not known */
        uint64_t in_file;          /* by chroprof_map; 2: its owner holds the lock */
        uint64_t ended;            /* it was unmapped */
    } file;
    /* of a copy */
    struct {
        uint64_t skew_ticks, skew_events; /* that went on meanwhile */
        uint64_t torn_ticks, torn_events; /* of the event that was cut short */
        uint64_t living;           /* the program lived, and time goes to when it was made */
    } copy;
    struct {
        chroprof__histogram callback, iteration; /* min: of the groups of that name */
    } lengths;
    struct {
        uint64_t counts[CHROPROF__KINDS];
        uint8_t placed[CHROPROF__KINDS]; /* 1 + the row of a kind's places; 0: none */
    } anomalies;
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    struct {
        chroprof__tally tally;     /* of the iteration, once the ring can't hold all of it */
        uint64_t tallies;          /* how many there were: each has a number */
        chroprof__stall_row due[2]; /* the last callback, and the iteration, that an event ended as
                                     * stalls */
    } stall;
} chroprof__core;

/* Where the first table begins: the ranges', so that counts of callbacks and iterations lie at
 * fixed distances from the core. */
#define CHROPROF__LINES(bytes) \
    (((bytes) + CHROPROF__ALIGN - 1) / CHROPROF__ALIGN * CHROPROF__ALIGN)
#define CHROPROF__CORE_BYTES CHROPROF__LINES(sizeof(chroprof__core))

#define CHROPROF__STATIC_ASSERT(name, condition) \
    typedef char chroprof__assert_##name[(condition) ? 1 : -1] CHROPROF__UNUSED
CHROPROF__STATIC_ASSERT(front, sizeof(chroprof__front) + CHROPROF__ALIGN - 1 ==
                               CHROPROF__MOST_SKIPPED);
CHROPROF__STATIC_ASSERT(future, sizeof(chroprof__future_row) == 40);
CHROPROF__STATIC_ASSERT(frame, sizeof(chroprof__frame_row) == 64);
CHROPROF__STATIC_ASSERT(path, sizeof(chroprof__path_row) == 4 * CHROPROF__ALIGN);
CHROPROF__STATIC_ASSERT(path_line, offsetof(chroprof__path_row, delay) == 64);
CHROPROF__STATIC_ASSERT(path_tree, offsetof(chroprof__path_row, site) == 128);
CHROPROF__STATIC_ASSERT(site, sizeof(chroprof__site_entry) == 72);
CHROPROF__STATIC_ASSERT(shortcut, sizeof(chroprof__shortcut) == 32);
CHROPROF__STATIC_ASSERT(ring_row, sizeof(chroprof__ring_row) == 24);
CHROPROF__STATIC_ASSERT(row_depth, offsetof(chroprof__ring_row, depth) ==
                                   offsetof(chroprof__ring_row, path) + 4);
CHROPROF__STATIC_ASSERT(core_depth, offsetof(chroprof__core, depth) ==
                                    offsetof(chroprof__core, account) + 4);
CHROPROF__STATIC_ASSERT(edge, sizeof(chroprof__edge) == 16);
CHROPROF__STATIC_ASSERT(histograms, sizeof(chroprof__histograms) == 3 * 96 + 24);
CHROPROF__STATIC_ASSERT(counts, sizeof(chroprof__slices) == 680);
CHROPROF__STATIC_ASSERT(ranges, CHROPROF__BUCKETS <= 8 * CHROPROF__RANGES);
CHROPROF__STATIC_ASSERT(hits, sizeof(chroprof__hits) == 32 + 20 * CHROPROF_STALL_SAMPLES);
CHROPROF__STATIC_ASSERT(stall, sizeof(chroprof__stall_row) ==
                               40 + 32 * CHROPROF_STALL_SHARES + sizeof(chroprof__hits));
CHROPROF__STATIC_ASSERT(slow_group, sizeof(chroprof__slow_group) == 904);
CHROPROF__STATIC_ASSERT(incident, sizeof(chroprof__incident_row) ==
                                  32 + 24 * CHROPROF_INCIDENT_STEPS);
CHROPROF__STATIC_ASSERT(sample, sizeof(chroprof__sample_span) == 40);
CHROPROF__STATIC_ASSERT(node, sizeof(chroprof__node) == 40);
CHROPROF__STATIC_ASSERT(module, sizeof(chroprof__module_row) == 256);
CHROPROF__STATIC_ASSERT(wall, sizeof(chroprof__wall_row) == 64);
CHROPROF__STATIC_ASSERT(note, sizeof(chroprof__note) == 16);
CHROPROF__STATIC_ASSERT(caller, sizeof(chroprof__caller) == 64);
CHROPROF__STATIC_ASSERT(entry, sizeof(chroprof__entry) == 64 + 8 * CHROPROF__ITEMS);
CHROPROF__STATIC_ASSERT(sampler, sizeof(chroprof__sampler) == 61 * 8 + 16 * CHROPROF__HITS +
                                 sizeof(chroprof__hits) * CHROPROF__HITS);
CHROPROF__STATIC_ASSERT(hot_line, offsetof(chroprof__core, seq) == 64);
CHROPROF__STATIC_ASSERT(warm_line, offsetof(chroprof__core, callback.limit) == 128);
CHROPROF__STATIC_ASSERT(core, sizeof(chroprof__core) % 8 == 0);
CHROPROF__STATIC_ASSERT(places, sizeof(chroprof__places) == 48);
CHROPROF__STATIC_ASSERT(anomalies, CHROPROF_ANOMALY_COUNT <= (int)CHROPROF__KINDS);
CHROPROF__STATIC_ASSERT(handle, sizeof(chroprof_site) <= 24);

/* Of a profile that takes events: copies have nothing before their core. */
CHROPROF__INLINE chroprof__front *chroprof__front_of(chroprof__core *c)
{
    return (chroprof__front *)(void *)c - 1;
}

CHROPROF__INLINE void *chroprof__rows(const chroprof__core *c, uint32_t table)
{
    return (char *)(uintptr_t)c + c->tables[table].offset;
}

/* What gives the rows of a table. */
#define CHROPROF__ROWS_OF(name, type, table)                                                       \
    CHROPROF__INLINE type *name(const chroprof__core *c)                                           \
    {                                                                                              \
        return (type *)chroprof__rows(c, table);                                                   \
    }
CHROPROF__ROWS_OF(chroprof__sites, chroprof__site_entry, CHROPROF_TABLE_SITES)
CHROPROF__ROWS_OF(chroprof__edges, chroprof__edge, CHROPROF_TABLE_EDGES)
CHROPROF__ROWS_OF(chroprof__frame_rows, chroprof__frame_row, CHROPROF_TABLE_DEPTH)
CHROPROF__ROWS_OF(chroprof__histogram_rows, chroprof__histograms, CHROPROF_TABLE_HISTOGRAMS)
CHROPROF__ROWS_OF(chroprof__range_rows, chroprof__range, CHROPROF__RANGE_TABLE)
CHROPROF__ROWS_OF(chroprof__stall_rows, chroprof__stall_row, CHROPROF_TABLE_STALLS)
CHROPROF__ROWS_OF(chroprof__slow_groups, chroprof__slow_group, CHROPROF_TABLE_SLOW)
CHROPROF__ROWS_OF(chroprof__incidents, chroprof__incident_row, CHROPROF_TABLE_INCIDENTS)
CHROPROF__ROWS_OF(chroprof__sample_rows, chroprof__sample_span, CHROPROF_TABLE_SAMPLES)
CHROPROF__ROWS_OF(chroprof__nodes, chroprof__node, CHROPROF_TABLE_STACKS)
CHROPROF__ROWS_OF(chroprof__module_rows, chroprof__module_row, CHROPROF__MODULES)
CHROPROF__ROWS_OF(chroprof__wall_rows, chroprof__wall_row, CHROPROF__WALLS)
CHROPROF__ROWS_OF(chroprof__heads, uint32_t, CHROPROF__HEADS)
#undef CHROPROF__ROWS_OF

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

/* The gate by which events come in, and the check word of a handle: each call compares it with what
 * it needs, so what was never set is told from a handle before anything in it is believed, and at
 * no cost. The side gate is for a clock that is a function, for the sampler, and for on_stall,
 * inside which events are counted. The open one is an operand of a compare on processors with
 * few. */
enum {
    CHROPROF__OPEN_GATE = 0xA5C000,
    CHROPROF__SIDE_GATE,
    CHROPROF__NO_GATE,         /* off, or a view, or the forked child of a mapped one */
    CHROPROF__GATES_END,
    CHROPROF__IDLE_GATES = 16, /* more: of idle events; of those that pass a frame on */
    CHROPROF__PASS_GATES = 32
};

/* Was it set, to whatever? */
CHROPROF__INLINE bool chroprof__is_set(const chroprof *p)
{
    return p && p->gate >= CHROPROF__OPEN_GATE && p->gate < CHROPROF__GATES_END;
}

/* Does a forked child have it, of a mapped profile? Its front is wiped. */
CHROPROF__INLINE bool chroprof__is_wiped(const chroprof *p)
{
    return p->mapped && chroprof__front_of(p->core)->row_limit == 0;
}

/* Is there a block, for reading? */
CHROPROF__NOINLINE bool chroprof__can_read(const chroprof *p)
{
    return chroprof__is_set(p) && p->core && !chroprof__is_wiped(p);
}

/* Are events taken, by either gate? */
CHROPROF__INLINE bool chroprof__is_taking(const chroprof *p)
{
    return p->gate == CHROPROF__OPEN_GATE || (p->gate == CHROPROF__SIDE_GATE && !p->in_hook);
}

/* While the sampler runs it asks who begins a task, and in WALL mode it follows the idle times. */
CHROPROF__COLD void chroprof__set_taking(chroprof *p, bool taking)
{
    bool knows = CHROPROF__KNOWS_CALLERS && p->callers != 0;
    bool quick = CHROPROF__HAS_COUNTER && !p->clock && (!p->sampling || knows);
    bool wall = p->sampling && p->follows_idle;
    p->gate = CHROPROF__NO_GATE;
    if (taking && quick)
        p->gate = CHROPROF__OPEN_GATE;
    else if (taking || p->in_hook)
        p->gate = CHROPROF__SIDE_GATE;
    bool open = p->gate == CHROPROF__OPEN_GATE;
    p->idle_gate = CHROPROF__IDLE_GATES + p->gate + (open && wall);     /* side is next to open */
    p->pass_gate = CHROPROF__PASS_GATES + p->gate + (open && p->sampling);
    p->asks = open && p->sampling;
}

static uint64_t chroprof__aligned(uint64_t bytes)
{
    return CHROPROF__LINES(bytes);
}

static uint64_t chroprof__note_bytes(uint64_t depth)
{
    return chroprof__aligned((depth + 1) * sizeof(chroprof__note));
}

/* Rows of callers: a power of two, so that a path's is found by its number. */
static uint64_t chroprof__caller_rows_of(uint64_t paths)
{
    uint64_t rows = 8;
    while (rows < 64 && 4 * rows < paths)
        rows *= 2;
    return rows;
}

static uint64_t chroprof__caller_bytes(const chroprof__core *c)
{
    return chroprof__caller_rows_of(c->tables[CHROPROF_TABLE_PATHS].capacity) *
           sizeof(chroprof__caller);
}

/* Bytes from the core: behind the sampler's state and the notes. */
static uint64_t chroprof__callers_at(const chroprof__core *c)
{
    uint64_t depth = c->tables[CHROPROF_TABLE_DEPTH].capacity;
    return c->tables[CHROPROF__SAMPLER].offset + chroprof__aligned(sizeof(chroprof__sampler)) +
           chroprof__note_bytes(depth);
}

/* Makes the handle point into a block. */
CHROPROF__COLD void chroprof__attach(chroprof *p, chroprof__core *c)
{
    p->core = c;
    p->gate = CHROPROF__NO_GATE;
    p->idle_gate = p->pass_gate = 0;
    p->asks = false;
    p->rows = c->tables[CHROPROF_TABLE_FUTURES].rows;
    p->futures = (chroprof__future_row *)chroprof__rows(c, CHROPROF_TABLE_FUTURES);
    p->frames = chroprof__frame_rows(c);
    p->paths = (chroprof__path_row *)chroprof__rows(c, CHROPROF_TABLE_PATHS);
    p->ring = (chroprof__ring_row *)chroprof__rows(c, CHROPROF_TABLE_EVENTS);
    p->shortcuts = (chroprof__shortcut *)chroprof__rows(c, CHROPROF__SHORTCUTS);
    p->histograms = chroprof__histogram_rows(c);
    p->ranges = chroprof__range_rows(c);
    p->max_depth = c->tables[CHROPROF_TABLE_DEPTH].capacity;
    p->shortcut_mask =
        (c->tables[CHROPROF__SHORTCUTS].rows - 1) * (uint32_t)sizeof(chroprof__shortcut);
    p->caller_mask = (uint32_t)(chroprof__caller_bytes(c) - sizeof(chroprof__caller));
    p->callers = chroprof__callers_at(c) >> 31 ? 0 : (uint32_t)chroprof__callers_at(c);
    p->percentiles = c->tables[CHROPROF_TABLE_HISTOGRAMS].capacity != 0;
}

/* The handle keeps why there is no profile, for those who did not look at the result. */
static chroprof_result chroprof__keep_result(chroprof *p, chroprof_result result)
{
    if (p && result != CHROPROF_OK) {
        memset(p, 0, sizeof(*p));
        p->refused = result;
#ifdef CHROPROF__MAPS
        p->refused_errno = result == CHROPROF_ERR_FILE ? errno : 0;
#endif
    }
    return result;
}

/* A forked child has no block of a mapped profile: from here on the handle is as a zeroed one,
 * until chroprof_fork_child. */
static bool chroprof__in_child(chroprof *p)
{
    if (!chroprof__is_wiped(p))
        return false;
    p->core = NULL;
    p->gate = CHROPROF__NO_GATE;
    p->idle_gate = p->pass_gate = 0;
    p->asks = false;
    p->sampling = p->in_hook = false;
    return true;
}

/* Is there a block that is ours? */
static bool chroprof__has_block(chroprof *p)
{
    return chroprof__is_set(p) && p->core && !chroprof__in_child(p);
}

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

/* >>layout: from options to capacities, from capacities to offsets. */

#ifdef CHROPROF_NO_SAMPLER
enum { CHROPROF__SAMPLE_SHARE = 0, CHROPROF__DEFAULT_SAMPLES = 0 };
#else
enum { CHROPROF__SAMPLE_SHARE = 132, CHROPROF__DEFAULT_SAMPLES = 128 };
#endif

/* How many rows a table gets that the options say nothing of. */
typedef struct chroprof__ration {
    uint32_t usual;            /* if the block may be as large as it likes */
    uint32_t need;             /* what even a small block should hold, before the rest is shared */
    uint32_t share, limit;     /* thousandths of the rest; what the table can't use more of */
    bool may_be_0;             /* a block can do without */
} chroprof__ration;

static const chroprof__ration chroprof__rations[CHROPROF_TABLE_COUNT] = {
    { 1024, 8, 306 - CHROPROF__SAMPLE_SHARE, 1u << 28, false },                 /* FUTURES */
    { 64, 8, 25, 1u << 20, false },                                             /* SITES */
    { 256, 12, 91, 1u << 24, false },                                           /* PATHS */
    { 512, 16, 41, 1u << 25, false },                                           /* EDGES */
    { 64, 8, 20, 1024, false },                                                 /* DEPTH */
    { 32, 0, 174, 4096, true },                                                 /* HISTOGRAMS */
    { CHROPROF__DEFAULT_SAMPLES, 0, CHROPROF__SAMPLE_SHARE, 4096, true },       /* SAMPLES */
    { 120, 4, 65, 240, false },                                                 /* WINDOWS */
    { 32, 2, 15, 64, false },                                                   /* STALLS */
    { 4096, 160, 20, 1u << 24, false },                                         /* STRINGS */
    { 0, 0, 0, 0, true },                                                       /* STACKS */
    { 1024, CHROPROF__FEWEST_EVENTS, 200, 1u << 20, false },                    /* EVENTS */
    { 16, 0, 25, 256, true },                                                   /* SLOW */
    { 16, 0, 18, 64, true }                                                     /* INCIDENTS */
};

static const uint32_t chroprof__row_bytes[CHROPROF__ALL_TABLES] = {
    sizeof(chroprof__future_row), sizeof(chroprof__site_entry), sizeof(chroprof__path_row),
    sizeof(chroprof__edge), sizeof(chroprof__frame_row), sizeof(chroprof__histograms),
    sizeof(chroprof__sample_span), 8, sizeof(chroprof__stall_row), 1,
    sizeof(chroprof__node), sizeof(chroprof__ring_row), sizeof(chroprof__slow_group),
    sizeof(chroprof__incident_row), sizeof(chroprof__shortcut), 4, sizeof(chroprof__range),
    sizeof(chroprof__slices), sizeof(chroprof__places),
    sizeof(chroprof__module_row), sizeof(chroprof__wall_row), CHROPROF__ALIGN
};

/* The least power of two that is not below n. */
static uint64_t chroprof__power_above(uint64_t n)
{
    uint64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

CHROPROF__COLD uint64_t chroprof__between(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Rows of a ring of at least n; more than the limit stays beyond it. */
static uint32_t chroprof__ring_rows(uint32_t n)
{
    uint64_t rows = chroprof__between(n, CHROPROF__FEWEST_EVENTS, (1u << 28) + 1u);
    return (uint32_t)chroprof__power_above(rows);
}

/* What the options say, which are in the order of the tables. */
CHROPROF__STATIC_ASSERT(options, offsetof(chroprof_options, max_futures) == 0 &&
                                 offsetof(chroprof_options, max_incidents) ==
                                     4 * CHROPROF_TABLE_INCIDENTS &&
                                 (int)CHROPROF_TABLE_INCIDENTS + 1 == (int)CHROPROF_TABLE_COUNT);

static void chroprof__capacities(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    memcpy(capacity, o, CHROPROF_TABLE_COUNT * sizeof(*capacity));
    if (o->max_events)
        capacity[CHROPROF_TABLE_EVENTS] = chroprof__ring_rows(o->max_events);
}

CHROPROF__COLD bool chroprof__within_limits(const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        bool narrow = k == CHROPROF_TABLE_DEPTH || k == CHROPROF_TABLE_WINDOWS ||
                      k == CHROPROF_TABLE_INCIDENTS;
        if (capacity[k] > (narrow ? 65000u : 1u << 28))
            return false;
    }
    return true;
}

/* How many ticks may wait for the next event. */
static uint64_t chroprof__entry_count(uint64_t samples)
{
    return chroprof__between(samples / 5, 2, 32);
}

/* Rows of ranges: one for what is of nobody, all that callbacks and iterations can take, and on
 * average some for the delays and latencies of a site and for slices that are not few. Their
 * numbers have 16 bits. */
enum {
    CHROPROF__CALLBACK_RANGES = 2, CHROPROF__ITERATION_RANGES = 2 + CHROPROF__RANGES,
    CHROPROF__FIRST_RANGE = 2 + 2 * CHROPROF__RANGES, CHROPROF__SITE_RANGES = 11
};

/* Rows that a table takes for these capacities. A third of the futures' slots is empty; they leave
 * room for ids that only have frames, and never fill up, so a probe always ends. Without samples
 * there are none of their tables. */
CHROPROF__COLD uint64_t chroprof__table_rows(uint32_t table,
                                             const uint32_t capacity[CHROPROF_TABLE_COUNT])
{
    uint64_t n = table < CHROPROF_TABLE_COUNT ? capacity[table] : 0;
    uint64_t sites = (uint64_t)capacity[CHROPROF_TABLE_SITES] + CHROPROF__FIRST_SITE;
    uint64_t samples = capacity[CHROPROF_TABLE_SAMPLES];
    if (samples == 0 && (table == CHROPROF_TABLE_STACKS || table >= CHROPROF__MODULES))
        return 0;
    switch (table) {
    case CHROPROF_TABLE_FUTURES: return n + n / 2 + capacity[CHROPROF_TABLE_DEPTH] + 2;
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return n + CHROPROF__FIRST_PATH;
    case CHROPROF_TABLE_EDGES: return 2 * n + 2;
    case CHROPROF_TABLE_DEPTH: return n + 1;
    case CHROPROF_TABLE_HISTOGRAMS: return n ? n + CHROPROF__OF_SITES : 1;
    case CHROPROF_TABLE_WINDOWS: return (n + 1) * sites;
    case CHROPROF_TABLE_STRINGS: return n + CHROPROF__OWN_STRINGS;
    case CHROPROF__SHORTCUTS:               /* their bytes are counted in 32 bits */
        n = capacity[CHROPROF_TABLE_EDGES];
        return chroprof__power_above(n < 1u << 26 ? n + 1u : 1u << 26);
    case CHROPROF__HEADS: return 2 * sites;
    case CHROPROF__RANGE_TABLE:
        n = capacity[CHROPROF_TABLE_HISTOGRAMS];
        return n ? chroprof__between(CHROPROF__FIRST_RANGE + CHROPROF__SITE_RANGES * n, 0,
                                     UINT16_MAX) : 2;
    case CHROPROF__COUNTS: return capacity[CHROPROF_TABLE_HISTOGRAMS];
    case CHROPROF__PLACES: return chroprof__between(capacity[CHROPROF_TABLE_PATHS] / 4 + 1, 1,
                                                    CHROPROF__KINDS);
    case CHROPROF_TABLE_STACKS: return n + 1;
    case CHROPROF_TABLE_INCIDENTS: return n ? n + 1 : 0;
    case CHROPROF__MODULES: return chroprof__between(samples / 4, 2, CHROPROF__MOST_MODULES);
    case CHROPROF__WALLS: return CHROPROF__FIRST_PATH +
                                 chroprof__between(capacity[CHROPROF_TABLE_PATHS], 0, 4 * samples);
    case CHROPROF__SAMPLER: return (chroprof__aligned(sizeof(chroprof__sampler)) +
                                    chroprof__note_bytes(capacity[CHROPROF_TABLE_DEPTH]) +
                                    chroprof__caller_rows_of(capacity[CHROPROF_TABLE_PATHS]) *
                                        sizeof(chroprof__caller) +
                                    chroprof__entry_count(samples) * sizeof(chroprof__entry)) /
                                   CHROPROF__ALIGN;
    default: return n;
    }
}

/* The smallest block: what chroprof__table_rows says of the least capacities, without histograms,
 * samples, slow futures and incidents. It is a whole number of cache lines, so of words too.
 * src/join.sh writes it into the interface as CHROPROF_MEMORY_MIN. */
#define CHROPROF__TAKES(rows, type) CHROPROF__LINES((rows) * sizeof(type))
enum { CHROPROF__LEAST_SITES = 1 + CHROPROF__FIRST_SITE };
#define CHROPROF__LEAST_BYTES                                                                      \
    CHROPROF__LINES(                                                                               \
        CHROPROF__CORE_BYTES + CHROPROF__MOST_SKIPPED + CHROPROF__TAKES(2, chroprof__range) +      \
        CHROPROF__TAKES(1, chroprof__places) + CHROPROF__TAKES(4, chroprof__future_row) +          \
        CHROPROF__TAKES(CHROPROF__LEAST_SITES, chroprof__site_entry) +                             \
        CHROPROF__TAKES(1 + CHROPROF__FIRST_PATH, chroprof__path_row) +                            \
        CHROPROF__TAKES(4, chroprof__edge) + CHROPROF__TAKES(2, chroprof__frame_row) +             \
        CHROPROF__TAKES(1, chroprof__histograms) +                                                 \
        CHROPROF__TAKES(2 * CHROPROF__LEAST_SITES, uint64_t) /* windows */ +                       \
        CHROPROF__TAKES(1, chroprof__stall_row) +                                                  \
        CHROPROF__TAKES(1 + CHROPROF__OWN_STRINGS, char) +                                         \
        CHROPROF__TAKES(CHROPROF__FEWEST_EVENTS, chroprof__ring_row) +                             \
        CHROPROF__TAKES(2, chroprof__shortcut) +                                                   \
        CHROPROF__TAKES(2 * CHROPROF__LEAST_SITES, uint32_t) /* heads */)

/* Fills in the tables' places; returns the bytes of the block, UINT64_MAX if a row number
 * overflows. */
CHROPROF__COLD uint64_t chroprof__layout(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                         chroprof__table_row tables[CHROPROF__ALL_TABLES])
{
    uint64_t at = CHROPROF__CORE_BYTES;
    for (uint32_t n = 0; n < CHROPROF__ALL_TABLES; n++) {
        uint32_t k = (n + CHROPROF__RANGE_TABLE) % CHROPROF__ALL_TABLES;
        uint64_t rows = chroprof__table_rows(k, capacity);
        uint64_t bytes = rows * chroprof__row_bytes[k];
        if (rows > UINT32_MAX || (k == CHROPROF__COUNTS && (at + bytes) >> 35))
            return UINT64_MAX;              /* paths tell the way to counts in words, by 32 bits */
        tables[k].offset = at;
        tables[k].bytes = bytes;
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
    for (uint32_t k = 0; k < CHROPROF__ALL_TABLES; k++)
        bytes += chroprof__table_rows(k, capacity) * chroprof__row_bytes[k];
    return bytes;
}

/* Bytes of all tables with another capacity of one of them. */
static uint64_t chroprof__bytes_with(const uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t table,
                                     uint32_t other)
{
    uint32_t changed[CHROPROF_TABLE_COUNT];
    memcpy(changed, capacity, sizeof(changed));
    changed[table] = other;
    return chroprof__sum_bytes(changed);
}

/* Raises a capacity by what so many bytes hold, up to its limit. Shortcuts come with an edge, up to
 * two, and places of anomalies with every fourth path. The first row may cost more than others. */
static void chroprof__grow(uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t table, uint64_t bytes)
{
    uint32_t own = capacity[table], base = own ? own : 1;
    uint64_t room = chroprof__minus(chroprof__rations[table].limit, own);
    uint64_t least = chroprof__bytes_with(capacity, table, base);
    uint64_t row = (chroprof__bytes_with(capacity, table, base + 4) - least) / 4;
    if (table == CHROPROF_TABLE_EDGES)
        row = 2 * sizeof(chroprof__edge) + 2 * sizeof(chroprof__shortcut);
    if (own == 0)
        bytes = chroprof__minus(bytes, least - row - chroprof__sum_bytes(capacity));
    uint64_t more = bytes / row;
    capacity[table] += (uint32_t)(more < room ? more : room);
}

/* Fewer samples than these are no use. */
enum { CHROPROF__FEW_SAMPLES = 16, CHROPROF__SOME_SAMPLES = 128 };

/* Sets how many samples there are, and the frames of their stacks if the options say nothing of
 * those. Without samples there are none. */
static void chroprof__set_samples(uint32_t capacity[CHROPROF_TABLE_COUNT], uint32_t samples,
                                  bool open_stacks)
{
    uint32_t few = samples < CHROPROF__FEW_SAMPLES ? samples : (uint32_t)CHROPROF__FEW_SAMPLES;
    uint32_t some = samples < CHROPROF__SOME_SAMPLES ? samples : (uint32_t)CHROPROF__SOME_SAMPLES;
    capacity[CHROPROF_TABLE_SAMPLES] = samples;
    if (open_stacks || samples == 0)
        capacity[CHROPROF_TABLE_STACKS] = 8 * few + 18 * (some - few) + 4 * (samples - some);
}

/* What so many samples take, all tables of theirs. */
static uint64_t chroprof__sample_bytes(const uint32_t capacity[CHROPROF_TABLE_COUNT],
                                       uint32_t samples, bool open_stacks)
{
    uint32_t more[CHROPROF_TABLE_COUNT];
    memcpy(more, capacity, sizeof(more));
    chroprof__set_samples(more, samples, open_stacks);
    return chroprof__sum_bytes(more) - chroprof__bytes_with(more, CHROPROF_TABLE_SAMPLES, 0);
}

/* How many samples so many bytes hold. */
static uint32_t chroprof__samples_in(const uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t bytes,
                                     bool open_stacks)
{
    uint32_t samples = chroprof__rations[CHROPROF_TABLE_SAMPLES].limit;
    while (samples > 0 && chroprof__sample_bytes(capacity, samples, open_stacks) > bytes)
        samples -= (samples + 31) / 32;
    return samples;
}

/* Raises the open capacities to that, or to as many sixteenths of it as fit. */
static void chroprof__meet_need(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    for (uint32_t part = 16; part > 0; part--) {
        uint32_t more[CHROPROF_TABLE_COUNT];
        for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
            uint32_t need = chroprof__rations[k].need * part / 16;
            more[k] = open[k] && need > capacity[k] ? need : capacity[k];
        }
        if (chroprof__layout(more, tables) <= size) {
            memcpy(capacity, more, sizeof(more));
            return;
        }
    }
}

/* Gives each open capacity its share of the bytes that are left. */
static void chroprof__share_rest(uint32_t capacity[CHROPROF_TABLE_COUNT],
                                 const bool open[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    uint64_t least = chroprof__layout(capacity, tables) + CHROPROF__ALL_TABLES * CHROPROF__ALIGN;
    uint64_t budget = size > least ? size - least : 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (open[k] && k != CHROPROF_TABLE_SAMPLES && k != CHROPROF_TABLE_STACKS)
            chroprof__grow(capacity, k, budget / 1000 * chroprof__rations[k].share);
    if (open[CHROPROF_TABLE_EVENTS])        /* down to a power of two */
        capacity[CHROPROF_TABLE_EVENTS] =
            chroprof__ring_rows(capacity[CHROPROF_TABLE_EVENTS] / 2 + 1);
    uint64_t bytes = budget / 1000 * CHROPROF__SAMPLE_SHARE;
    bool stacks = open[CHROPROF_TABLE_STACKS];
    uint32_t samples = chroprof__samples_in(capacity, bytes, stacks);
    if (open[CHROPROF_TABLE_SAMPLES] && samples > capacity[CHROPROF_TABLE_SAMPLES])
        chroprof__set_samples(capacity, samples, stacks);    /* last: it hangs on paths and depth */
}

/* Shares a block out over the capacities that are 0; what their limits leave over goes to the
 * futures. False: the block is too small. */
static bool chroprof__share_out(uint32_t capacity[CHROPROF_TABLE_COUNT], uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    bool open[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        open[k] = capacity[k] == 0;
        if (open[k] && !chroprof__rations[k].may_be_0)
            capacity[k] = k == CHROPROF_TABLE_EVENTS ? CHROPROF__FEWEST_EVENTS : 1;
    }
    bool stacks = open[CHROPROF_TABLE_STACKS];
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES], stacks);
    chroprof__meet_need(capacity, open, size);
    if (open[CHROPROF_TABLE_SAMPLES] && CHROPROF__SAMPLE_SHARE > 0 &&
        chroprof__sample_bytes(capacity, CHROPROF__FEW_SAMPLES, stacks) <= size / 5)
        chroprof__set_samples(capacity, CHROPROF__FEW_SAMPLES, stacks);
    chroprof__share_rest(capacity, open, size);
    uint64_t odd = sizeof(chroprof__future_row) + CHROPROF__ALIGN; /* halves and ends round up */
    uint64_t left = chroprof__minus(size, chroprof__layout(capacity, tables) + odd);
    if (open[CHROPROF_TABLE_FUTURES])
        chroprof__grow(capacity, CHROPROF_TABLE_FUTURES, left);
    return chroprof__layout(capacity, tables) <= size;
}

/* >>histogram: how slices, delays and latencies are spread. Owns the rows of the histograms and
 * their ranges. The event adds, reading asks for percentiles. Sites come to histograms as they come
 * to paths; later ones must have taken more of the loop than those they displace. */

#define CHROPROF__LAST_BUCKET (UINT64_C(1) << 45)     /* all from there on are in one */

CHROPROF__INLINE uint64_t chroprof__bucket_below_last(uint64_t ticks)
{
    uint64_t eighths = ticks * 8;
    CHROPROF__ONE_WORD(eighths);            /* so that no copy of ticks is shifted as well */
    uint32_t exponent = chroprof__log2(ticks | 32);
    return (uint32_t)(eighths >> exponent) + exponent * 8 - 40;
}

/* What is counted of a length: no more than the histograms hold. */
CHROPROF__INLINE uint64_t chroprof__countable(uint64_t ticks)
{
    return ticks < CHROPROF__LAST_BUCKET ? ticks : CHROPROF__LAST_BUCKET;
}

CHROPROF__INLINE uint32_t chroprof__bucket(uint64_t ticks)
{
    return (uint32_t)chroprof__bucket_below_last(chroprof__countable(ticks));
}

/* The least that goes into a bucket. */
static uint64_t chroprof__bucket_begin(uint32_t bucket)
{
    uint32_t range = bucket < 8 ? 0 : bucket / 8 - 1;
    return (uint64_t)(bucket - range * 8) << (range + 2);
}

/* The middle of a bucket. */
static uint64_t chroprof__bucket_value(uint32_t bucket)
{
    return (chroprof__bucket_begin(bucket) + chroprof__bucket_begin(bucket + 1)) / 2;
}

/* The count of a bucket, NULL: its range has no row. */
static uint64_t *chroprof__bucket_place(const chroprof *p, const chroprof__histogram *h,
                                        uint32_t bucket)
{
    uint32_t range = h->range[bucket / 8];
    return range ? &p->ranges[range].count[bucket % 8] : NULL;
}

/* The counts of a row of histograms; NULL: it has none. */
static chroprof__slices *chroprof__counts_at(const chroprof *p, size_t row)
{
    chroprof__slices *rows = (chroprof__slices *)chroprof__rows(p->core, CHROPROF__COUNTS);
    return row >= CHROPROF__OF_SITES ? rows + (row - CHROPROF__OF_SITES) : NULL;
}

static void chroprof__set_histogram(const chroprof *p, chroprof__path_row *path, uint32_t row)
{
    const void *counts = row ? (const void *)chroprof__counts_at(p, row)
                             : (const void *)&p->core->nobody.counts;
    path->histogram = row;
    path->counts = (uint32_t)((uint64_t)((const char *)counts - (const char *)p->core) / 8);
}

/* Is it the loop's own: of its callbacks, or of its iterations? */
static bool chroprof__is_own(const chroprof *p, const chroprof__histogram *h)
{
    return h == &p->core->lengths.callback || h == &p->core->lengths.iteration;
}

/* The counts of a histogram of slices, as far as they are not in ranges; NULL: all are. */
static chroprof__slices *chroprof__counts_of(const chroprof *p, const chroprof__histogram *h)
{
    size_t at = (size_t)((const char *)h - (const char *)p->histograms);
    size_t row = at / sizeof(chroprof__histograms);
    if (chroprof__is_own(p, h))
        return NULL;
    return h == &p->histograms[row].slice ? chroprof__counts_at(p, row) : NULL;
}

static uint64_t *chroprof__least_of(const chroprof *p, const chroprof__histogram *h)
{
    chroprof__slices *counts = chroprof__counts_of(p, h);
    if (chroprof__is_own(p, h))
        return h == &p->core->lengths.callback ? &p->core->callback.min : &p->core->iteration.min;
    return counts ? &counts->min : &((chroprof__histogram *)(uintptr_t)h)->min;
}

/* ---- a count that is deferred. The address of a count comes from the time of the event that adds
 * to it, and AMD's processors begin no time-stamp read before they know the addresses of all older
 * stores: 1.46 clock reads an event then, 1.12 without. So the last slice, callback and iteration
 * that ended are only noted, where the address is always the same. They are added with the next
 * ones. Only this part knows: what ends is given to chroprof__defer_slice and
 * chroprof__defer_length, and chroprof__bucket_count has everything. */

#define CHROPROF__FEW_FROM (offsetof(chroprof__slices, few) / sizeof(uint16_t))
#define CHROPROF__DEFERRED_FOR_NOBODY (offsetof(chroprof__core, nobody.count) / sizeof(uint16_t))

static void chroprof__defer_nothing(chroprof__core *c)
{
    c->deferred.slice = CHROPROF__DEFERRED_FOR_NOBODY;
    c->deferred.callback = c->deferred.iteration = 0;
}

/* Where in their table a count of slices lies; UINT64_MAX: it is none. deferred: in 16 bits from
 * the core on. */
CHROPROF__COLD uint64_t chroprof__few_number(const chroprof__core *c, uint64_t deferred)
{
    uint64_t at = deferred * sizeof(uint16_t) - c->tables[CHROPROF__COUNTS].offset;
    bool few = at % sizeof(chroprof__slices) >= offsetof(chroprof__slices, few);
    return at < c->tables[CHROPROF__COUNTS].bytes && few ? at : UINT64_MAX;
}

/* Is it a count that what is deferred would be added to? */
static bool chroprof__can_defer(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t ranges = 8 * c->tables[CHROPROF__RANGE_TABLE].rows;
    bool nobody = c->deferred.slice == CHROPROF__DEFERRED_FOR_NOBODY;
    return (nobody || chroprof__few_number(c, c->deferred.slice) != UINT64_MAX) &&
           c->deferred.callback < ranges && c->deferred.iteration < ranges;
}

static uint64_t chroprof__bucket_count(const chroprof *p, const chroprof__histogram *h,
                                       uint32_t bucket)
{
    const chroprof__core *c = p->core;
    const uint64_t *place = chroprof__bucket_place(p, h, bucket), *first = &p->ranges->count[0];
    const chroprof__slices *slices = chroprof__counts_of(p, h);
    const uint16_t *deferred = (const uint16_t *)(const void *)c + c->deferred.slice;
    uint64_t count = 0;
    if (place)
        count += *place + (uint32_t)(place == first + c->deferred.callback) +
                 (uint32_t)(place == first + c->deferred.iteration);
    if (slices)
        count += slices->few[bucket] + (uint32_t)(slices->few + bucket == deferred);
    return count;
}

static uint64_t chroprof__histogram_total(const chroprof *p, const chroprof__histogram *h)
{
    uint64_t total = 0;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++)
        total += chroprof__bucket_count(p, h, b);
    return total;
}

/* Range number k of all that a row's three histograms can have. */
enum { CHROPROF__ROW_RANGES = 3 * CHROPROF__RANGES };
CHROPROF__COLD uint16_t *chroprof__range_at(chroprof__histograms *row, uint32_t k)
{
    chroprof__histogram *three[] = { &row->slice, &row->delay, &row->latency };
    return three[k / CHROPROF__RANGES]->range + k % CHROPROF__RANGES;
}

static void chroprof__histograms_clear(const chroprof *p, chroprof__histograms *row)
{
    chroprof__slices *counts = chroprof__counts_at(p, (size_t)(row - p->histograms));
    uint64_t deferred = chroprof__few_number(p->core, p->core->deferred.slice);
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++)
        if (*chroprof__range_at(row, k))
            memset(p->ranges + *chroprof__range_at(row, k), 0, sizeof(chroprof__range));
    *chroprof__least_of(p, &row->slice) = *chroprof__least_of(p, &row->delay) = UINT64_MAX;
    row->latency.min = UINT64_MAX;
    if (counts)
        memset(counts->few, 0, sizeof(counts->few));
    if (deferred / sizeof(chroprof__slices) == (uint64_t)(row - p->histograms) - CHROPROF__OF_SITES)
        p->core->deferred.slice = CHROPROF__DEFERRED_FOR_NOBODY;
    row->latency_max = row->missed = 0;
}

/* Empties the histograms of callbacks and iterations. */
static void chroprof__lengths_clear(const chroprof *p)
{
    chroprof__core *c = p->core;
    if (p->percentiles)
        memset(p->ranges + CHROPROF__CALLBACK_RANGES, 0,
               2 * CHROPROF__RANGES * sizeof(chroprof__range));
    c->callback.min = c->iteration.min = UINT64_MAX;
    c->deferred.callback = c->deferred.iteration = 0;
}

/* Slices of a site that ended. */
static uint64_t chroprof__slices_ended(const chroprof *p, uint32_t site)
{
    uint64_t slices = 0;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        slices += p->paths[k].entered + p->paths[k].activations;
    return slices;
}

static void chroprof__set_histograms(const chroprof *p, uint32_t site, uint32_t row)
{
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        chroprof__set_histogram(p, p->paths + k, row);
}

/* Ranges without an owner are in a list by their first counts. */
static void chroprof__free_ranges(const chroprof *p, chroprof__histograms *row)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF__RANGE_TABLE];
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++) {
        uint16_t *range = chroprof__range_at(row, k);
        if (*range == 0)
            continue;
        p->ranges[*range].count[0] = table->wanted;
        table->wanted = *range;
        *range = 0;
    }
}

/* A number of an empty range; 0: all are taken. */
static uint16_t chroprof__new_range(const chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF__RANGE_TABLE];
    uint64_t k = table->wanted;
    if (k) {
        table->wanted = p->ranges[k].count[0];
        p->ranges[k].count[0] = 0;
    } else if (table->used < table->rows) {
        k = table->used++;
    }
    return (uint16_t)k;
}

/* A site has no histograms from now on; they wait for another. */
static void chroprof__give_up_histograms(const chroprof *p, uint32_t row)
{
    chroprof__histograms *h = p->histograms + row;
    if (h->path)
        chroprof__set_histograms(p, p->paths[h->path].site, 0);
    chroprof__histograms_clear(p, h);
    chroprof__free_ranges(p, h);
    h->path = 0;
    h->life++;
}

/* For the first path of a site, number k: its row; 0: there is none left. */
static uint32_t chroprof__histogram_for(const chroprof *p, uint32_t k, uint32_t site)
{
    const chroprof__site_entry *row = chroprof__sites(p->core) + site;
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_HISTOGRAMS];
    if (row->first_path)
        return p->paths[row->first_path].histogram;
    if (site < CHROPROF__FIRST_SITE || row->blurred)
        return 0;
    if (table->used == table->capacity) {
        table->dropped++;
        return 0;
    }
    uint32_t number = (uint32_t)table->used + CHROPROF__OF_SITES;
    table->peak = ++table->used;
    p->histograms[number].path = k;
    return number;
}

static bool chroprof__has_ranges(chroprof__histograms *row)
{
    uint32_t k = 0;
    while (k < CHROPROF__ROW_RANGES && *chroprof__range_at(row, k) == 0)
        k++;
    return k < CHROPROF__ROW_RANGES;
}

/* The histograms whose path took least, if it is less than that; 0: none. Those without an owner
 * count if they are free for the taking. giving: only those that have ranges to give. */
static uint32_t chroprof__least_histograms(const chroprof *p, uint64_t exec, bool giving)
{
    uint32_t best = 0, used = (uint32_t)p->core->tables[CHROPROF_TABLE_HISTOGRAMS].used;
    for (uint32_t k = CHROPROF__OF_SITES; k < CHROPROF__OF_SITES + used; k++) {
        uint32_t owner = p->histograms[k].path;
        uint64_t own = owner ? p->paths[owner].exec : 0;
        if (giving && !chroprof__has_ranges(p->histograms + k))
            continue;
        best = own < exec ? k : best;
        exec = own < exec ? own : exec;
    }
    return best;
}

/* A path without histograms gets those whose path took least, if that is less than half as much. */
CHROPROF__COLD void chroprof__claim_histograms(const chroprof *p, const chroprof__path_row *path)
{
    uint32_t row = chroprof__least_histograms(p, path->exec / 2, false);
    const chroprof__site_entry *site = chroprof__sites(p->core) + path->site;
    if (row == 0 || path->site < CHROPROF__FIRST_SITE || site->blurred)
        return;
    chroprof__give_up_histograms(p, row);
    p->histograms[row].path = (uint32_t)(path - p->paths);
    p->histograms[row].missed = chroprof__slices_ended(p, path->site);
    chroprof__set_histograms(p, path->site, row);
}

/* No range is left for an entry of these histograms: the site gives its own up that took least.
 * Can they go on? */
static bool chroprof__make_ranges(const chroprof *p, uint32_t row)
{
    uint64_t exec = p->paths[p->histograms[row].path].exec;
    uint32_t least = chroprof__least_histograms(p, exec, true);
    p->core->tables[CHROPROF_TABLE_HISTOGRAMS].dropped++;
    chroprof__give_up_histograms(p, least ? least : row);
    return least != 0;
}

/* Adds so many entries to a bucket. False: its range could not be had, and the site has no
 * histograms any more. The loop's own have all of theirs from the start. */
CHROPROF__COLD bool chroprof__histogram_put(const chroprof *p, chroprof__histogram *h,
                                            uint32_t bucket, uint64_t entries)
{
    size_t row = (size_t)((char *)h - (char *)p->histograms) / sizeof(chroprof__histograms);
    uint16_t *range = &h->range[bucket / 8];
    chroprof__slices *counts = chroprof__counts_of(p, h);
    if (counts && entries <= UINT16_MAX && counts->few[bucket] + entries <= UINT16_MAX) {
        counts->few[bucket] = (uint16_t)(counts->few[bucket] + entries);
        return true;
    }
    while (*range == 0) {
        *range = chroprof__new_range(p);
        if (*range == 0 && !chroprof__make_ranges(p, (uint32_t)row))
            return false;
    }
    *chroprof__bucket_place(p, h, bucket) += entries;
    return true;
}

/* A count of slices in 16 bits began anew: 2^16 are no longer few. deferred: which, in 16 bits from
 * the core on; if it is none there is nothing to do. */
CHROPROF__COLD void chroprof__carry(const chroprof *p, uint64_t deferred)
{
    uint64_t at = chroprof__few_number(p->core, deferred);
    uint64_t row = at / sizeof(chroprof__slices) + CHROPROF__OF_SITES;
    uint64_t few = at % sizeof(chroprof__slices) - offsetof(chroprof__slices, few);
    if (at != UINT64_MAX)
        chroprof__histogram_put(p, &p->histograms[row].slice, (uint32_t)few / 2, UINT64_C(1) << 16);
}

/* Adds what is deferred. */
CHROPROF__UNUSED static void chroprof__pay(const chroprof *p)
{
    chroprof__core *c = p->core;
    uint64_t *counts = &p->ranges[0].count[0], slice = c->deferred.slice;
    bool many = ++((uint16_t *)(void *)c)[slice] == 0;
    ++counts[c->deferred.callback];
    ++counts[c->deferred.iteration];
    chroprof__defer_nothing(c);
    if (many)
        chroprof__carry(p, slice);
}

/* Where an entry will be counted. */
typedef struct chroprof__spot {
    chroprof__histogram *h;
    uint64_t *count;
} chroprof__spot;

/* False: the range has no row yet. */
CHROPROF__INLINE bool chroprof__find_spot(const chroprof *p, chroprof__histogram *h,
                                          uint32_t bucket, chroprof__spot *spot)
{
    uint32_t range = h->range[bucket / 8];
    spot->h = h;
    spot->count = &p->ranges[range].count[bucket % 8];
    return range != 0;
}

CHROPROF__INLINE void chroprof__add_there(const chroprof__spot *spot, uint64_t ticks)
{
    ++*spot->count;
    if (CHROPROF__RARELY(ticks < spot->h->min))
        spot->h->min = ticks;
}

static void chroprof__histogram_add(const chroprof *p, chroprof__histogram *h, uint64_t ticks)
{
    uint64_t *least = chroprof__least_of(p, h);
    if (chroprof__histogram_put(p, h, chroprof__bucket(ticks), 1) && ticks < *least)
        *least = ticks;
}

/* Is a slice shorter than all of its site's before? One of a site without counts always is. */
CHROPROF__INLINE bool chroprof__is_shortest(const chroprof__core *c, const chroprof__path_row *row,
                                            uint64_t slice)
{
    return slice < ((const uint64_t *)c)[row->counts];
}

/* A slice that is the shortest of its site is counted at once. */
CHROPROF__COLD void chroprof__count_shortest(const chroprof *p, const chroprof__path_row *row,
                                             uint64_t slice)
{
    if (row->histogram)
        chroprof__histogram_add(p, &p->histograms[row->histogram].slice, slice);
}

/* Any other is deferred, and what was deferred is added. It is surely below the last bucket.
 * False: a count has become too large for its 16 bits, and chroprof__carry has to have it. */
CHROPROF__INLINE bool chroprof__defer_slice(chroprof__core *c, const chroprof__path_row *row,
                                            uint64_t slice, uint64_t *full)
{
    uint64_t before = *full = c->deferred.slice;
    c->deferred.slice = chroprof__bucket_below_last(slice) + CHROPROF__FEW_FROM +
                        4 * (uint64_t)row->counts;
    return CHROPROF__LIKELY(++((uint16_t *)(void *)c)[before] != 0);
}

/* What is deferred of callbacks, or of iterations. */
typedef struct chroprof__own_lengths {
    uint64_t *count, *least;   /* count: of those that are in no histogram */
    uint32_t *deferred;
    uint32_t first;            /* of its ranges */
} chroprof__own_lengths;

/* Defers the count of one of them, and adds what was deferred. Without percentiles they are only
 * counted. countable: the ticks, as chroprof__countable has them. */
CHROPROF__INLINE void chroprof__defer_length(const chroprof *p, chroprof__core *c,
                                             chroprof__own_lengths own, uint64_t ticks,
                                             uint64_t countable)
{
    uint64_t *counts = (uint64_t *)(void *)((char *)c + CHROPROF__CORE_BYTES);
    if (CHROPROF__RARELY(ticks < *own.least)) {
        *own.least = p->percentiles ? ticks : UINT64_MAX;
        *own.count += !p->percentiles;
        if (!p->percentiles)
            return;
    }
    uint64_t before = *own.deferred;
    *own.deferred = (uint32_t)(8 * own.first + chroprof__bucket_below_last(countable));
    counts[before]++;
}

CHROPROF__INLINE void chroprof__count_callback(const chroprof *p, chroprof__core *c,
                                               uint64_t ticks, uint64_t countable)
{
    chroprof__own_lengths own = { &c->loop.callbacks, &c->callback.min, &c->deferred.callback,
                                  CHROPROF__CALLBACK_RANGES };
    chroprof__defer_length(p, c, own, ticks, countable);
}

CHROPROF__INLINE void chroprof__count_iteration(const chroprof *p, chroprof__core *c,
                                                uint64_t ticks, uint64_t countable)
{
    chroprof__own_lengths own = { &c->loop.iterations, &c->iteration.min, &c->deferred.iteration,
                                  CHROPROF__ITERATION_RANGES };
    chroprof__defer_length(p, c, own, ticks, countable);
}

/* The loop's own have all of their ranges from the start, in a row. */
static void chroprof__place_lengths(const chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t k = 0; p->percentiles && k < CHROPROF__RANGES; k++) {
        c->lengths.callback.range[k] = (uint16_t)(CHROPROF__CALLBACK_RANGES + k);
        c->lengths.iteration.range[k] = (uint16_t)(CHROPROF__ITERATION_RANGES + k);
    }
}

/* Empty histograms without owners but for the loop's own. */
static void chroprof__start_histograms(const chroprof *p)
{
    chroprof__core *c = p->core;
    c->nobody.counts = UINT64_MAX;
    chroprof__defer_nothing(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++)
        chroprof__histograms_clear(p, p->histograms + k);
    chroprof__lengths_clear(p);
    for (uint32_t k = 0; k < CHROPROF__ROW_RANGES; k++)
        *chroprof__range_at(p->histograms + CHROPROF__OF_NOBODY, k) = 1;
    chroprof__place_lengths(p);
    c->tables[CHROPROF__RANGE_TABLE].used =
        p->percentiles ? (uint32_t)CHROPROF__FIRST_RANGE : (uint32_t)CHROPROF__CALLBACK_RANGES;
}

/* >>tables: strings, sites, futures, edges and paths. */

/* Something with this key did not fit. */
static void chroprof__lose(chroprof__table_row *table, uint64_t key)
{
    table->dropped++;
    table->wanted |= UINT64_C(1) << chroprof__hash_index(key ^ key >> 32, 64);
}

CHROPROF__COLD uint64_t chroprof__hash_text(uint64_t hash, const char *text)
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

/* A report says a name again for each future that is live, so one name must not cost much. */
enum { CHROPROF__LONGEST_TEXT = 1000 };

/* Copies a string of a site in; one that is longer, or does not fit, is cut and ends in "...".
 * Offset 0 is "", 1 is "...". */
static uint32_t chroprof__add_string(chroprof__core *c, chroprof__site_entry *site,
                                     const char *text)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STRINGS];
    size_t length = strlen(text), room = (size_t)(table->bytes - table->used);
    char *to = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + table->used;
    if (length == 0)
        return 0;
    bool cut = length > CHROPROF__LONGEST_TEXT;
    length = cut ? (size_t)CHROPROF__LONGEST_TEXT : length;
    if (length + 1 > room) {
        cut = true;
        table->dropped++;
        table->wanted += length + 1;
    }
    if (cut) {
        site->cut = 1;
        if (room < 5)
            return 1;
        room = room <= length ? room : length + 1;
        length = chroprof__whole_characters(text, room - 4);
        memcpy(to + length, "...", 4);
    }
    memcpy(to, text, length);
    uint32_t offset = (uint32_t)table->used;
    table->used += cut ? length + 4 : length + 1;
    table->peak = table->used;
    to[length] = cut ? '.' : '\0';
    return offset;
}

/* The bucket of the sites with this hash; that of the files stands half the table behind. */
static uint32_t *chroprof__site_head(const chroprof__core *c, uint64_t hash)
{
    return chroprof__heads(c) + chroprof__hash_index(hash, c->tables[CHROPROF__HEADS].rows / 2);
}

/* The offset of a file name, shared by the sites of one file. */
static uint32_t chroprof__add_file(chroprof__core *c, chroprof__site_entry *site, const char *file)
{
    chroprof__site_entry *sites = chroprof__sites(c);
    uint32_t half = c->tables[CHROPROF__HEADS].rows / 2;
    uint32_t *head = chroprof__site_head(c, chroprof__hash_text(0, file)) + half;
    for (uint32_t k = *head; k; k = sites[k].next_file)
        if (strcmp(chroprof__string(c, sites[k].file), file) == 0)
            return sites[k].file;
    site->next_file = *head;
    *head = (uint32_t)(site - sites);
    return chroprof__add_string(c, site, file);
}

static bool chroprof__same_site(const chroprof__core *c, const chroprof__site_entry *row,
                                uint64_t hash, const char *name, const char *file, uint32_t line)
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
    chroprof__site_entry *row = chroprof__sites(c) + k;
    uint32_t *head = chroprof__site_head(c, hash);
    memset(row, 0, sizeof(*row));
    row->hash = hash;
    row->line = line;
    row->name = chroprof__add_string(c, row, name);
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

/* What a site is called: flame graphs add up by name, so none has that of a row of our own. */
static const char *chroprof__site_called(const char *name)
{
    static const char own[][2][24] = {
        { "(uninstrumented)", "site (uninstrumented)" }, { "(idle)", "site (idle)" },
        { "(untracked)", "site (untracked)" }
    };
    if (*name == '(')
        for (uint32_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            if (strcmp(name, own[k][0]) == 0)
                return own[k][1];
    return name;
}

/* The row of a site by its content, new if need be; "(other)" when the table is full. */
CHROPROF__COLD uint32_t chroprof__intern_site(chroprof__core *c, const char *given,
                                              const char *file, uint32_t line)
{
    const char *name = chroprof__site_called(given);
    chroprof__site_entry *sites = chroprof__sites(c);
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SITES];
    uint64_t hash = chroprof__hash_text(chroprof__hash_text(line, name), file);
    uint32_t k = *chroprof__site_head(c, hash);
    for (; k; k = sites[k].next)
        if (chroprof__same_site(c, sites + k, hash, name, file, line))
            return k;
    if (table->used == table->capacity) {
        chroprof__lose(table, hash);
        return CHROPROF__OTHER;
    }
    k = CHROPROF__FIRST_SITE + (uint32_t)table->used;
    table->peak = ++table->used;
    chroprof__new_site(c, k, hash, name, file, line);
    return k;
}

/* What a site says: pointers that differ make words that differ, but by a chance of one in 2^32. */
CHROPROF__INLINE uint64_t chroprof__content(const chroprof_site *site)
{
    return (uint64_t)(uintptr_t)site->name + (uint64_t)(uintptr_t)site->file * 0x1E3779B1u +
           site->line * 0x9E3779B1u;
}

/* The first place of a path and the address of a site. Static sites lie next to each other. */
CHROPROF__INLINE chroprof__shortcut *chroprof__shortcut_home(const chroprof *p, uint64_t path,
                                                             const chroprof_site *site)
{
    uint64_t at = ((uint64_t)(uintptr_t)site * 4 + path * 0x1E3779B1u) & p->shortcut_mask;
    return (chroprof__shortcut *)(void *)((char *)p->shortcuts + at);
}

CHROPROF__INLINE chroprof__shortcut *chroprof__other_place(const chroprof *p,
                                                           chroprof__shortcut *s)
{
    return p->shortcuts + ((s - p->shortcuts) ^ 1);
}

CHROPROF__INLINE bool chroprof__is_shortcut(const chroprof__shortcut *s, uint32_t path,
                                            const chroprof_site *site)
{
    return s->address == (uint64_t)(uintptr_t)site && s->path == path &&
           s->content == chroprof__content(site);
}

/* The words of a window and of a path next to it. */
CHROPROF__INLINE uint64_t chroprof__pair(const uint32_t *words)
{
    uint64_t pair;
    memcpy(&pair, words, sizeof(pair));
    return pair;
}

/* Is this where it is remembered which path a future of this site has, with that path on top and in
 * that window? */
CHROPROF__INLINE bool chroprof__is_known(const chroprof__shortcut *s, const uint32_t *top,
                                         const chroprof_site *site)
{
    return s->address == (uint64_t)(uintptr_t)site &&
           chroprof__pair(&s->window) == chroprof__pair(top) &&
           s->content == chroprof__content(site);
}

/* The place of two where that is remembered; NULL: none. */
CHROPROF__INLINE const chroprof__shortcut *chroprof__remembered(const chroprof *p,
                                                                const uint32_t *top,
                                                                const chroprof_site *site)
{
    chroprof__shortcut *s = chroprof__shortcut_home(p, top[1], site);
    if (CHROPROF__LIKELY(chroprof__is_known(s, top, site)))
        return s;
    s = chroprof__other_place(p, s);
    return chroprof__is_known(s, top, site) ? s : NULL;
}

/* Bytes from the core to the callers of a path. */
CHROPROF__INLINE uint32_t chroprof__caller_at(const chroprof *p, uint32_t path)
{
    return ((uint32_t)(path * sizeof(chroprof__caller)) & p->caller_mask) + p->callers;
}

/* Remembered in an empty place of two, over what its address meant before, or over what has the
 * first. */
static void chroprof__keep_shortcut(const chroprof *p, uint32_t path, const chroprof_site *site,
                                    uint32_t target)
{
    chroprof__shortcut *s = chroprof__shortcut_home(p, path, site);
    chroprof__shortcut *other = chroprof__other_place(p, s);
    bool same = other->address == (uint64_t)(uintptr_t)site && other->path == path;
    if (same || (s->target != 0 && other->target == 0))
        s = other;
    s->address = (uint64_t)(uintptr_t)site;
    s->content = chroprof__content(site);
    s->window = p->core->window;
    s->path = path;
    s->target = target;
    s->caller = chroprof__caller_at(p, target);
}

/* The slot where the search for an id begins. */
CHROPROF__INLINE chroprof__future_row *chroprof__home(const chroprof *p, uint64_t id)
{
    return p->futures + chroprof__hash_index(id, p->rows);
}

CHROPROF__INLINE chroprof__future_row *chroprof__next_slot(const chroprof *p,
                                                           chroprof__future_row *slot)
{
    return slot + 1 < p->futures + p->rows ? slot + 1 : p->futures;
}

/* The slot of an id, or the empty slot where it would be. */
CHROPROF__INLINE chroprof__future_row *chroprof__find_from(const chroprof *p, uint64_t id,
                                                           chroprof__future_row *home)
{
    chroprof__future_row *slot = home;
    if (CHROPROF__LIKELY(slot->id == id))
        return slot;
    while (slot->id != id && slot->id != 0)
        slot = chroprof__next_slot(p, slot);
    return slot;
}

CHROPROF__NOINLINE chroprof__future_row *chroprof__find(const chroprof *p, uint64_t id)
{
    return chroprof__find_from(p, id, chroprof__home(p, id));
}

/* Tells the frames of a slot where it lies. */
static void chroprof__moved(const chroprof *p, uint32_t slot)
{
    for (uint32_t k = p->futures[slot].frame; k; k = p->frames[k].same)
        p->frames[k].slot = slot * (uint32_t)(sizeof(chroprof__future_row) / 8);
}

/* Of a frame with an id. */
CHROPROF__INLINE chroprof__future_row *chroprof__slot_of(const chroprof *p,
                                                         const chroprof__frame_row *frame)
{
    return (chroprof__future_row *)(void *)((uint64_t *)(void *)p->futures + frame->slot);
}

CHROPROF__INLINE uint32_t chroprof__words_to(const chroprof *p, const chroprof__future_row *slot)
{
    return (uint32_t)((uint64_t)((const char *)slot - (const char *)p->futures) / 8);
}

/* Frees a slot; later ones of its cluster move back, so that no tombstone is left (Knuth, TAOCP 3,
 * 6.4, algorithm R). */
CHROPROF__NOINLINE void chroprof__free_slot(const chroprof *p, chroprof__future_row *slot)
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
    memset(p->futures + hole, 0, sizeof(chroprof__future_row));
}

CHROPROF__NOINLINE chroprof__edge *chroprof__find_edge(const chroprof__core *c, uint32_t path,
                                                       uint32_t site)
{
    chroprof__edge *edges = chroprof__edges(c);
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
    chroprof__path_row *row = p->paths + k;
    row->generation = p->paths[parent].generation + 1;
    row->same_site = chroprof__sites(c)[site].first_path;
    chroprof__sites(c)[site].first_path = k;
    row->next = p->paths[parent].next;
    p->paths[parent].next = k;
}

static void chroprof__new_path(chroprof *p, uint32_t k, uint32_t parent, uint32_t site)
{
    chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + k;
    memset(row, 0, sizeof(*row));
    row->site = site;
    row->parent = parent;
    row->window = c->window;
    chroprof__set_histogram(p, row, chroprof__histogram_for(p, k, site));
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
    chroprof__table_row *edges = &p->core->tables[CHROPROF_TABLE_EDGES];
    chroprof__table_row *paths = &p->core->tables[CHROPROF_TABLE_PATHS];
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

/* The path of a future of this site created under parent (LOOP: a root). What would be deeper than
 * a chain may be is a root: who walks up or down the tree does so in bounded steps. */
static uint32_t chroprof__child(chroprof *p, uint32_t parent, uint32_t site)
{
    chroprof__edge *edge = chroprof__find_edge(p->core, parent, site);
    if (CHROPROF__LIKELY(edge->site != 0))
        return edge->target;
    if (p->paths[parent].generation == CHROPROF__CHAIN)
        return chroprof__child(p, CHROPROF__LOOP, site);
    return chroprof__edge_miss(p, parent, site, edge);
}

/* >>windows: exec per site and window. A path's exec beyond its mark belongs to the window of its
 * tag and is put into its cell when the path is next billed in another window. */

CHROPROF__COLD uint64_t *chroprof__cells(const chroprof__core *c, uint32_t site)
{
    uint64_t *cells = (uint64_t *)chroprof__rows(c, CHROPROF_TABLE_WINDOWS);
    return cells + (uint64_t)site * (c->tables[CHROPROF_TABLE_WINDOWS].capacity + 1u);
}

CHROPROF__INLINE uint32_t chroprof__tag_level(uint32_t tag)
{
    return tag >> 16;
}

/* The index that a tag's window has at the present level. */
CHROPROF__COLD uint32_t chroprof__tag_index(const chroprof__core *c, uint32_t tag)
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

CHROPROF__COLD void chroprof__close_window(chroprof__core *c, chroprof__path_row *row)
{
    uint64_t *cells = chroprof__cells(c, row->site);
    if (cells[0] != chroprof__tag_level(c->window))
        chroprof__merge_cells(c, cells);
    cells[1 + chroprof__tag_index(c, row->window)] += row->exec - row->mark;
    row->mark = row->exec;
    row->window = c->window;
}

/* Before it comes on top: what is on top is of the present window. */
CHROPROF__INLINE void chroprof__freshen(chroprof__core *c, chroprof__path_row *row)
{
    if (CHROPROF__RARELY(row->window != c->window))
        chroprof__close_window(c, row);
}

/* Of a path of this process, with an account on top: the path of a future of this site, fresh. What
 * did not fit is not remembered, so that each miss is counted. */
static uint32_t chroprof__child_of(chroprof *p, uint32_t account, const chroprof_site *site)
{
    chroprof__core *c = p->core;
    chroprof__shortcut *s = chroprof__shortcut_home(p, account, site);
    if (!chroprof__is_shortcut(s, account, site))
        s = chroprof__other_place(p, s);
    if (chroprof__is_shortcut(s, account, site)) {
        chroprof__freshen(c, p->paths + s->target);
        s->window = c->window;
        return s->target;
    }
    uint32_t parent = account < CHROPROF__FIRST_PATH ? (uint32_t)CHROPROF__LOOP : account;
    uint32_t k = chroprof__intern_site(c, site->name ? site->name : "(unnamed)",
                                       site->file ? site->file : "", site->line);
    uint32_t target = chroprof__child(p, parent, k);
    chroprof__freshen(c, p->paths + target);
    if (k != CHROPROF__OTHER && chroprof__find_edge(c, parent, k)->site)
        chroprof__keep_shortcut(p, account, site, target);
    return target;
}

/* Doubles the width until profile time t has a window. */
CHROPROF__COLD void chroprof__widen_windows(chroprof__core *c, uint64_t t)
{
    uint32_t level = chroprof__tag_level(c->window), index = c->window & 0xFFFF;
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    while (c->windows.ticks >> 62 == 0 && t / c->windows.ticks >= capacity) {
        c->windows.ticks *= 2;
        index /= 2;
        level++;
    }
    c->window = level << 16 | index;
    c->windows.end = (index + 1) * c->windows.ticks;
}

/* The present window is the one that profile time t is in, wherever it was. */
CHROPROF__COLD void chroprof__move_window(chroprof__core *c, uint64_t t)
{
    chroprof__widen_windows(c, t);
    uint64_t index = t / c->windows.ticks;
    c->window = (c->window & 0xFFFF0000u) | (uint32_t)index;
    c->windows.end = (index + 1) * c->windows.ticks;
}

/* >>clock */

/* Beyond this no profile time passes, so that sums of two times never overflow. */
#define CHROPROF__END_OF_TIME (UINT64_C(1) << 62)

/* A wait that is shorter returned at once: one that sleeps takes a switch there and back. */
#define CHROPROF__AT_ONCE_NS UINT64_C(10000)

/* The next event takes the slow path. */
static void chroprof__wake(chroprof__core *c)
{
    chroprof__poke64(&c->time_limit, c->last);
    chroprof__poke64(&c->iteration.idle_limit, c->last);
}

/* When the sampler, if it runs, reads the thread's CPU clock next. */
static uint64_t chroprof__sampler_limit(const chroprof__core *c)
{
    const chroprof__sampler *s = chroprof__sampler_of(c);
    return s && s->timer.running ? s->look.at : UINT64_MAX;
}

static bool chroprof__samples_wait(const chroprof__core *c)
{
    const chroprof__sampler *s = chroprof__sampler_of(c);
    return s && chroprof__peek64(&s->handler.put) != s->taken;
}

/* When the next event has to take the slow path at the latest. Whatever wants the next event there
 * sets the time limit to now. */
static void chroprof__set_time_limit(chroprof__core *c)
{
    uint64_t step = c->last + c->max_step_ticks;    /* both below 2^63 */
    uint64_t time_limit = c->windows.end < step ? c->windows.end : step;
    chroprof__lower(&time_limit, CHROPROF__END_OF_TIME);
    chroprof__lower(&time_limit, c->aged_at + CHROPROF__LAST_BUCKET / 2);
    chroprof__lower(&time_limit, c->loop.slow_due);
    chroprof__lower(&time_limit, chroprof__sampler_limit(c));
    if (!c->time.calibrated)
        chroprof__lower(&time_limit, c->time.calibrate_at);
    c->iteration.idle_limit = time_limit > c->last ? time_limit : c->last + 1;
    c->time_limit = c->iteration.idle_limit;
    if (!c->loop.iteration_active && c->account == CHROPROF__IDLE)
        c->iteration.idle_limit = c->last;
    if (c->account == CHROPROF__IDLE || c->hidden)
        c->time_limit = c->last;            /* any event takes the slow path, but idle_leave */
    CHROPROF__STORE_FENCE();                /* a signal may come here, and wants the same */
    if (c->phase.exits || chroprof__samples_wait(c))
        chroprof__wake(c);
}

/* Beyond this a callback or an iteration is looked at: it is the longest so far, or a stall. */
CHROPROF__INLINE uint64_t chroprof__length_limit(const chroprof__core *c, uint64_t longest)
{
    uint64_t limit = longest < c->stall_ticks ? longest : c->stall_ticks;
    return limit < CHROPROF__LAST_BUCKET ? limit : CHROPROF__LAST_BUCKET - 1;
}

/* Options in ns become ticks. The width of the windows can only change before the first one is
 * full. */
static void chroprof__set_factor(chroprof__core *c, uint64_t factor)
{
    c->time.factor = factor;
    c->stall_ticks = chroprof__unscale(c->set.stall_ns, factor);
    c->callback.limit = chroprof__length_limit(c, c->loop.callback_max);
    c->iteration.limit = chroprof__length_limit(c, c->loop.iteration_max);
    c->loop.at_once_limit = chroprof__unscale(CHROPROF__AT_ONCE_NS, factor);
    c->max_step_ticks = chroprof__unscale(c->set.max_step_ns, factor);
    uint64_t width = chroprof__or(chroprof__unscale(c->set.window_ns, factor), 1);
    if (c->window == 0 && c->last < width)
        c->windows.ticks = c->windows.end = width;
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

/* What the kernel may slew the monotonic clock by, to bring it back in step with the world. */
#define CHROPROF__SLEW_PPB 500000u
#define CHROPROF__LATER_NS UINT64_C(10000000000)

/* ns a tick, in 1/2^32, between a reading before and one now. 0: these tell nothing. */
typedef struct chroprof__rate {
    uint64_t counter, ns;      /* the reading now */
    uint64_t passed;
    uint64_t factor, error_ppb;
} chroprof__rate;

static chroprof__rate chroprof__rate_since(uint64_t counter, uint64_t ns)
{
    chroprof__rate r = { 0, 0, 0, 0, 0 };
    uint64_t spread = chroprof__read_both(&r.counter, &r.ns);
    uint64_t ticks = r.counter - counter, passed = r.ns - ns;
    r.passed = passed;
    r.error_ppb = 2 * spread * 1000000u / (ticks / 1000u + 1) + 1 + CHROPROF__SLEW_PPB;
    if (passed >> 62 || ticks >> 62)
        return r;
    while (passed >> 32) {                  /* keep 32 bits for the fraction */
        passed >>= 1;
        ticks >>= 1;
    }
    r.factor = ticks ? (passed << 32) / ticks : 0;
    return r;
}

/* In 20 us: good to some thousandths. */
static chroprof__rate chroprof__rate_of_now(void)
{
    uint64_t counter = 0, ns = 0;
    uint32_t tries = 0;                     /* a clock that stands still must not hang us */
    chroprof__read_both(&counter, &ns);
    while (chroprof__monotonic_ns(NULL) - ns < 20000 && ++tries < 100000) {}
    return chroprof__rate_since(counter, ns);
}

/* How far two factors are apart. */
static uint64_t chroprof__apart_ppb(uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, gap = a < b ? b - a : a - b;
    if (low == 0 || gap >= low)
        return 1000000000u;
    while (gap >> 33) {
        gap >>= 1;
        low >>= 1;
    }
    return gap * 1000000000u / low;
}

/* From this reading on, for as long as that. */
static void chroprof__look_from(chroprof__core *c, const chroprof__rate *r, uint64_t ns)
{
    c->time.calibrate_counter = r->counter;
    c->time.calibrate_ns = r->ns;
    c->time.calibrate_at = c->last + chroprof__unscale(ns, c->time.factor) + 1;
}

static void chroprof__take_rate(chroprof__core *c, const chroprof__rate *r)
{
    c->time.error_ppb = r->error_ppb;
    chroprof__set_factor(c, r->factor);
}

/* Looks at both clocks. The factor comes from the readings at init and 90 ms later, before the
 * first window ends; the system may have slept in them, then they begin anew. From then on it is
 * fixed, and each later look only widens the bound of its error. */
static void chroprof__calibrate(chroprof__core *c)
{
    chroprof__rate r = chroprof__rate_since(c->time.calibrate_counter, c->time.calibrate_ns);
    if (r.factor == 0)
        return;
    uint64_t apart = chroprof__apart_ppb(r.factor, c->time.factor);
    chroprof__rate now;
    bool unsure = apart > c->time.error_ppb + r.error_ppb;
    if (unsure)
        now = chroprof__rate_of_now();
    /* a short look agrees with a long one, unless the system slept and one clock stood still */
    if (unsure && now.factor && chroprof__apart_ppb(r.factor, now.factor) >
                                   r.error_ppb + now.error_ppb + 2000000u) {
        if (!c->time.calibrated)
            chroprof__take_rate(c, &now);
        chroprof__look_from(c, &now, c->time.calibrated ? CHROPROF__LATER_NS : 90000000u);
    } else if (c->time.calibrated) {
        if (apart > c->time.error_ppb)
            c->time.error_ppb = apart + r.error_ppb;
        chroprof__look_from(c, &r, CHROPROF__LATER_NS);
    } else {
        chroprof__take_rate(c, &r);
        c->time.calibrated = r.passed >= 89000000u;
        if (c->time.calibrated)
            chroprof__look_from(c, &r, CHROPROF__LATER_NS);
    }
}

static void chroprof__start_counter(chroprof__core *c)
{
    uint64_t hz = chroprof__counter_hz();
    if (hz) {                               /* never: an x86 counter does not tell its rate */
        chroprof__set_factor(c, (UINT64_C(1000000000) << 32) / hz);
        return;
    }
    chroprof__rate r = chroprof__rate_of_now();
    c->time.calibrated = 0;
    if (r.factor)
        chroprof__take_rate(c, &r);
    chroprof__look_from(c, &r, 90000000u);
}
#endif

CHROPROF_API uint64_t chroprof_clock_manual(void *user)
{
    (void)user;
    return 0;
}

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

/* Our own clock, as a profile that begins now would read it; 0: there is none. */
static uint64_t chroprof__own_clock_now(void)
{
#if CHROPROF__HAS_COUNTER
    if (chroprof__counter_is_invariant())
        return chroprof__counter();
#endif
#ifndef CHROPROF_NO_CLOCK
    return chroprof__monotonic_ns(NULL);
#else
    return 0;
#endif
}

/* The clock of the block, read here; 0: it can't be. */
CHROPROF__UNUSED static uint64_t chroprof__clock_here(const chroprof__core *c)
{
    (void)c;                                /* without a clock of our own there is none */
#if CHROPROF__HAS_COUNTER
    if (c->clock == CHROPROF__CLOCK_COUNTER)
        return chroprof__counter();
#endif
#ifndef CHROPROF_NO_CLOCK
    if (c->clock == CHROPROF__CLOCK_MONOTONIC)
        return chroprof__monotonic_ns(NULL);
#endif
    return 0;
}

/* >>samples: where the loop was caught.
 * Owns the tables of samples, stacks, modules and walls, the ring in which signals wait, and the
 * hits of callbacks and iterations under way. A timer signal waits until the next event takes the
 * slow path; only then, in the loop's own code, it becomes a row. Nothing moves between a timer
 * signal and the event that ends its interval, so what they say of the stack holds for both. Relies
 * on >>block and >>clock, and on the running stack and the futures as they are. Called by each
 * event of the slow path, by whatever ends a stall, by chroprof_sample and the handler of
 * >>sampler, and by copies and merges for what they do to stacks. */

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

static chroprof__caller *chroprof__callers(const chroprof__core *c)
{
    return (chroprof__caller *)(void *)((char *)(uintptr_t)c + chroprof__callers_at(c));
}

/* Profile time begins anew: all frames are of now. */
static void chroprof__date_callers(const chroprof__core *c)
{
    char *rows = (char *)chroprof__callers(c);
    uint64_t bytes = chroprof__caller_bytes(c);
    for (uint64_t at = 0; at < bytes; at += sizeof(chroprof__caller))
        ((chroprof__caller *)(void *)(rows + at))->since = 0;
}

/* Entry number k of the ring. */
CHROPROF__NOINLINE chroprof__entry *chroprof__ring(const chroprof__core *c, uint64_t k)
{
    char *first = (char *)chroprof__callers(c) +
                  chroprof__caller_bytes(c);
    uint64_t row = k % chroprof__entry_count(chroprof__sample_capacity(c));
    return (chroprof__entry *)(void *)(first + row * sizeof(chroprof__entry));
}

CHROPROF__NOINLINE uint64_t chroprof__random(chroprof__sampler *s)
{
    uint64_t z = s->draw.random + UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 (Steele and others) */
    s->draw.random = z;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Is an event or an edit under way, so that nothing but the ring may be touched? */
CHROPROF__INLINE bool chroprof__is_busy(const chroprof__core *c)
{
    return ((chroprof__peek64(&c->seq) | chroprof__peek64(&c->edits)) & 1) != 0;
}

#if CHROPROF__SAMPLES
/* A word of the stack, which no sanitizer knows to be one. */
#ifdef __clang__
__attribute__((__no_sanitize__("memory")))
#endif
__attribute__((__noinline__, __unused__, __no_sanitize_address__, __no_sanitize_thread__))
static uintptr_t chroprof__stack_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}
#endif

/* ---- what a node holds: of code the module too, so that what lies at one address at different
 * times is not taken for the same */

enum { CHROPROF__ADDRESS_BITS = 48 };

static uint64_t chroprof__code_item(uint32_t kind, uint64_t address, uint32_t module)
{
    uint64_t value = address & (UINT64_MAX >> (64 - CHROPROF__ADDRESS_BITS));
    return chroprof__item(kind, value | (uint64_t)module << CHROPROF__ADDRESS_BITS);
}

/* An address, without what a processor or a tool hides above it. */
static uint64_t chroprof__item_address(uint64_t item)
{
    return item & (UINT64_MAX >> (64 - CHROPROF__ADDRESS_BITS));
}

static uint32_t chroprof__item_module(uint64_t item)
{
    return chroprof__is_code(item) ? (uint32_t)(item >> CHROPROF__ADDRESS_BITS & 0xFF) : 0;
}

/* ---- modules: which file an address is of */

/* Row + 1 of the module that alone may be at an address; 0: not known. */
static uint32_t chroprof__find_module(const chroprof__core *c, uint64_t address)
{
    const chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t possible = chroprof__sampler_of(c)->modules.possible;
    uint32_t found = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++) {
        if ((possible >> k & 1) == 0 || address < rows[k].low || address >= rows[k].high)
            continue;
        if (found)
            return 0;
        found = k + 1;
    }
    return found;
}

#if CHROPROF__SAMPLES && defined(__linux__)
/* A program header and a note's head as ELF-64 lays them out; the names of <elf.h> collide with
 * those of libev. */
typedef struct chroprof__segment {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_bytes, bytes, alignment;
} chroprof__segment;

typedef struct chroprof__elf_note {
    uint32_t name_bytes, bytes, type;
} chroprof__elf_note;

enum { CHROPROF__LOADED = 1, CHROPROF__NOTES = 4 };             /* types of segments */
enum { CHROPROF__EXECUTABLE = 1, CHROPROF__READABLE = 4 };      /* flags of segments */
enum { CHROPROF__NOTE_BUILD_ID = 3 };

/* As the dynamic linker hands them out. Names of our own, so that no feature macro is needed, and
 * weak: a program without a linker has none. */
typedef struct chroprof__object {
    uint64_t base;
    const char *name;
    const chroprof__segment *headers;
    uint16_t count;
    uint64_t loads, unloads;   /* so far, of all objects */
} chroprof__object;

extern int chroprof__each_object(int (*visit)(chroprof__object *o, size_t size, void *user),
                                 void *user) __asm__("dl_iterate_phdr") __attribute__((__weak__));

/* The bytes of a note in memory that is mapped, as hexadecimal digits. */
static void chroprof__build_id(const chroprof__object *o, const chroprof__segment *header,
                               char out[CHROPROF__BUILD_ID])
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)(uintptr_t)(o->base + header->address);
    uint64_t left = header->bytes;
    chroprof__elf_note note;
    while (left >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        uint64_t name = (note.name_bytes + 3u) / 4u * 4u, size = note.bytes;
        uint64_t whole = sizeof(note) + name + (size + 3) / 4 * 4;
        if (whole > left)
            return;
        const unsigned char *id = at + sizeof(note) + name;
        if (note.type == CHROPROF__NOTE_BUILD_ID && note.name_bytes == 4) {
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
static bool chroprof__is_loaded(const chroprof__object *o, const chroprof__segment *part)
{
    for (uint32_t k = 0; k < o->count; k++) {
        const chroprof__segment *header = o->headers + k;
        if (header->type == CHROPROF__LOADED && (header->flags & CHROPROF__READABLE) &&
            part->address >= header->address && part->bytes <= header->bytes &&
            part->address - header->address <= header->bytes - part->bytes)
            return true;
    }
    return false;
}

/* A walk over the objects that are loaded now. */
typedef struct chroprof__survey {
    chroprof__core *c;
    uint64_t loaded, before;   /* bits of the rows that are, and that were at the last one */
    uint64_t named;            /* of those, and of the ones that stacks have; 0: not known */
    uint64_t loads, unloads;   /* since the last one, of all objects */
    bool sought;               /* for an address that is in no row */
    uint32_t count, place[CHROPROF__MOST_MODULES];     /* of objects; the row's among them */
} chroprof__survey;

/* Does a timer signal that waits have an address in this range? */
static bool chroprof__is_met(const chroprof__core *c, uint64_t low, uint64_t high)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t end = chroprof__peek64(&s->handler.put);
    for (uint64_t k = s->taken; k - end != 0; k++) {
        const chroprof__entry *e = chroprof__ring(c, k);
        for (uint32_t i = 0; i < e->count && i < CHROPROF__ITEMS; i++)
            if (chroprof__is_code(e->items[i]) && chroprof__item_address(e->items[i]) >= low &&
                chroprof__item_address(e->items[i]) < high)
                return true;
    }
    return false;
}

/* Has this row the object of this name, if the place is the same? The program has no name and
 * never goes. */
static bool chroprof__is_kept(const chroprof__survey *survey, uint32_t k, const char *name)
{
    const char *path = chroprof__module_rows(survey->c)[k].path;
    size_t length = strlen(path), most = strlen(name);
    bool stayed = survey->unloads == 0 && (survey->before >> k & 1);
    return most == 0 || (stayed && *name != '/' && most < length &&
                         strcmp(path + length - most, name) == 0);
}

/* The path; of a long one the end. The program itself has no name here, and what was opened by a
 * relative path has that. */
static void chroprof__module_path(const char *name, char out[CHROPROF__MODULE_PATH])
{
    char path[1024];
    if (*name == '\0' || (*name != '/' && strchr(name, '/'))) {
        const char *link = *name ? "/proc/self/cwd" : "/proc/self/exe";
        ssize_t count = readlink(link, path, sizeof(path) - 1);
        size_t used = count > 0 ? (size_t)count : 0, more = strlen(name);
        path[used] = '/';
        if (used > 0 && more > 0 && used + 1 + more < sizeof(path))
            memcpy(path + used + 1, name, more + 1);
        else
            path[used] = '\0';
        name = used > 0 || more == 0 ? path : name;
    }
    size_t length = strlen(name), most = CHROPROF__MODULE_PATH - 1;
    if (length <= most) {
        memcpy(out, name, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, name + length - (most - 3), most - 2);
}

static bool chroprof__read_object(const chroprof__object *o, chroprof__module_row *m)
{
    memset(m, 0, sizeof(*m));
    m->low = UINT64_MAX;
    m->base = o->base;
    for (uint32_t k = 0; k < o->count; k++) {
        const chroprof__segment *header = o->headers + k;
        uint64_t low = o->base + header->address;
        if (header->type == CHROPROF__NOTES && m->build_id[0] == '\0' &&
            chroprof__is_loaded(o, header))
            chroprof__build_id(o, header, m->build_id);
        if (header->type != CHROPROF__LOADED || !(header->flags & CHROPROF__EXECUTABLE))
            continue;
        m->low = low < m->low ? low : m->low;
        m->high = low + header->bytes > m->high ? low + header->bytes : m->high;
    }
    return m->low < m->high;
}

/* Have they the same place and build? */
static bool chroprof__same_place(const chroprof__module_row *a, const chroprof__module_row *b)
{
    return a->low == b->low && a->high == b->high && a->base == b->base &&
           strcmp(a->build_id, b->build_id) == 0;
}

/* Bits of the rows that must stay: the program's, and those that stacks or waiting signals have. */
static uint64_t chroprof__named_modules(const chroprof__survey *survey)
{
    const chroprof__core *c = survey->c;
    const chroprof__node *nodes = chroprof__nodes(c);
    const chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t named = 1 | chroprof__sampler_of(c)->modules.added;
    for (uint32_t k = 1; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        uint32_t module = chroprof__item_module(nodes[k].item);
        named |= module ? UINT64_C(1) << (module - 1) : 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++)
        if ((named >> k & 1) == 0 && chroprof__is_met(c, rows[k].low, rows[k].high))
            named |= UINT64_C(1) << k;
    return named;
}

/* A row for it: a free one, or that of a module which is in no stack and gone, or if a timer signal
 * met this one, in no stack; else as many as there are. */
static uint32_t chroprof__new_module(chroprof__survey *survey, const chroprof__module_row *m)
{
    chroprof__table_row *table = &survey->c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(survey->c);
    uint32_t k = (uint32_t)table->used;
    if (k == table->rows) {
        bool met = chroprof__is_met(survey->c, m->low, m->high);
        if (survey->named == 0)
            survey->named = chroprof__named_modules(survey);
        uint64_t taken = survey->named | (met ? 0 : survey->before | survey->loaded);
        for (k = 0; k < table->rows && (taken >> k & 1);)
            k++;
        survey->named |= k < table->rows ? UINT64_C(1) << k : 0;
    }
    if (k == table->rows)
        return k;
    rows[k] = *m;
    CHROPROF__STORE_FENCE();
    table->used += k == table->used;
    table->peak = table->used;
    return k;
}

/* The row that it has, or a new one. One that has stayed is not looked up again: a sandbox may
 * allow no readlink. */
static uint32_t chroprof__row_of_module(chroprof__survey *survey, const char *name,
                                        chroprof__module_row *m)
{
    const chroprof__module_row *rows = chroprof__module_rows(survey->c);
    uint32_t used = (uint32_t)survey->c->tables[CHROPROF__MODULES].used;
    for (uint32_t k = 0; k < used; k++)
        if (chroprof__same_place(rows + k, m) && chroprof__is_kept(survey, k, name))
            return k;
    chroprof__module_path(name, m->path);
    for (uint32_t k = 0; k < used; k++)
        if (chroprof__same_place(rows + k, m) && strcmp(rows[k].path, m->path) == 0)
            return k;
    return chroprof__new_module(survey, m);
}

/* The counts are the same in all objects: the first one ends the walk if none has come or gone. */
CHROPROF__COLD int chroprof__add_object(chroprof__object *o, size_t size, void *user)
{
    chroprof__survey *survey = (chroprof__survey *)user;
    const chroprof__sampler *s = chroprof__sampler_of(survey->c);
    chroprof__module_row m;
    if (size < sizeof(*o))
        return 0;
    survey->loads = o->loads - s->modules.loads;
    survey->unloads = o->unloads - s->modules.unloads;
    if ((survey->loads | survey->unloads) == 0 && !survey->sought)
        return 1;
    uint32_t place = survey->count++;
    if (!chroprof__read_object(o, &m))
        return 0;
    uint32_t k = chroprof__row_of_module(survey, o->name, &m);
    if (k == survey->c->tables[CHROPROF__MODULES].rows)
        return 0;
    survey->place[k] = place;
    survey->loaded |= UINT64_C(1) << k;
    return 0;
}

/* Of those that are loaded now, the ones that were so all the time. Loading puts objects behind all
 * others, so these stand before as many as were loaded meanwhile. */
static uint64_t chroprof__surely_stayed(const chroprof__survey *survey)
{
    uint64_t stayed = 0, both = survey->before & survey->loaded;
    for (uint32_t k = 0; k < CHROPROF__MOST_MODULES; k++)
        if ((both >> k & 1) && survey->place[k] + survey->loads < survey->count)
            stayed |= UINT64_C(1) << k;
    return stayed;
}

/* Is there a timer signal with an address that is in no row? Code that a program generated never
 * is: it is looked for less and less often. */
static bool chroprof__seeks_module(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t end = chroprof__peek64(&s->handler.put);
    bool missed = false;
    for (uint64_t k = s->taken; k - end != 0 && !missed; k++) {
        const chroprof__entry *e = chroprof__ring(c, k);
        for (uint32_t i = 0; i < e->count && i < CHROPROF__ITEMS && !missed; i++)
            missed = chroprof__is_code(e->items[i]) &&
                     !chroprof__find_module(c, chroprof__item_address(e->items[i]));
    }
    if (!missed || s->search.patient > 0) {
        s->search.patient -= missed;
        return false;
    }
    return true;
}

/* Looks at the modules if one has come or gone, or a timer signal was in one that has no row yet.
 * Signals that waited meanwhile may be of those before and of those now. If one came and went
 * unseen they are only of those that surely stayed. */
CHROPROF__COLD void chroprof__look_at_modules(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__survey survey;
    if (!chroprof__each_object ||           /* never: no such C library */
        !chroprof__peek64(&s->timer.running))
        return;
    memset(&survey, 0, sizeof(survey));
    survey.c = c;
    survey.before = s->modules.loaded;
    s->modules.possible = s->modules.loaded | s->modules.added;
    survey.sought = chroprof__seeks_module(c);
    if (chroprof__each_object(chroprof__add_object, &survey) != 0)
        return;
    uint64_t gone = (uint64_t)__builtin_popcountll(survey.before & ~survey.loaded);
    s->modules.possible = survey.unloads == gone ? survey.before | survey.loaded
                                         : chroprof__surely_stayed(&survey);
    s->modules.possible |= s->modules.added;
    bool more = (survey.loaded & ~survey.before) != 0;
    s->search.vain = more || !survey.sought ? 0 : s->search.vain + (s->search.vain < 10);
    s->search.patient = s->search.vain ? UINT64_C(1) << s->search.vain : 0;
    s->modules.loaded = survey.loaded;
    s->modules.loads += survey.loads;
    s->modules.unloads += survey.unloads;
}
#else
CHROPROF__COLD void chroprof__look_at_modules(chroprof__core *c)
{
    (void)c;
}
#endif

/* ---- stacks */

#define CHROPROF__FULL_ITEM ((uint64_t)CHROPROF__MARK << 56 | CHROPROF__MARK_FULL)

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

static bool chroprof__good_node(const chroprof *p, uint32_t k)
{
    const chroprof__node *node = chroprof__nodes(p->core) + k;
    return node->parent < k && chroprof__good_item(p, node->item) &&
           chroprof__item_module(node->item) <= p->core->tables[CHROPROF__MODULES].used;
}

/* The node whose head is the bucket of an item below parent. */
static chroprof__node *chroprof__node_bucket(const chroprof__core *c, uint32_t parent,
                                             uint64_t item)
{
    uint64_t key = item ^ (uint64_t)parent * UINT64_C(0xD6E8FEB86659FD93);
    return chroprof__nodes(c) + chroprof__hash_index(key, c->tables[CHROPROF_TABLE_STACKS].rows);
}

/* The node of an item below parent; 0: there is none. */
static uint32_t chroprof__find_node(const chroprof__core *c, uint32_t parent, uint64_t item)
{
    const chroprof__node *nodes = chroprof__nodes(c);
    uint32_t k = chroprof__node_bucket(c, parent, item)->head;
    while (k && (nodes[k].item != item || nodes[k].parent != parent))
        k = nodes[k].next;
    return k;
}

/* Finds a node, or makes it; UINT32_MAX: the table is full. A node is whole before it is counted,
 * so the tree is good whenever somebody looks. The last row is for a marker. */
static uint32_t chroprof__intern_node(chroprof__core *c, uint32_t parent, uint64_t item)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *bucket = chroprof__node_bucket(c, parent, item);
    uint32_t known = chroprof__find_node(c, parent, item);
    if (known)
        return known;
    if (table->used + 1 + (item != CHROPROF__FULL_ITEM) >= table->rows)
        return UINT32_MAX;
    chroprof__node *node = chroprof__nodes(c) + table->used + 1;
    node->item = item;
    node->weight = node->cpu_ns = 0;
    node->parent = parent;
    node->next = bucket->head;
    CHROPROF__STORE_FENCE();
    table->peak = ++table->used;
    CHROPROF__STORE_FENCE();
    bucket->head = (uint32_t)table->used;
    return bucket->head;
}

/* The marker of what was cut below this node, or below the innermost one around it that has one;
 * else the root's, for which there is always room. */
static uint32_t chroprof__cut_at(chroprof__core *c, uint32_t node)
{
    while (node && !chroprof__find_node(c, node, CHROPROF__FULL_ITEM))
        node = chroprof__nodes(c)[node].parent;
    uint32_t marker = chroprof__intern_node(c, node, CHROPROF__FULL_ITEM);
    return marker == UINT32_MAX ? 0 : marker;
}

/* A frame is not kept. How many different ones they are is told by the rarest pattern of bits
 * among them (Flajolet and Martin, 1985). */
static void chroprof__lose_frame(chroprof__core *c, uint64_t parent_item, uint64_t item)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    uint64_t hash = (item ^ parent_item << 17 ^ parent_item >> 13) * UINT64_C(0xD6E8FEB86659FD93);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) | UINT64_C(1) << 62;
    table->dropped++;
    table->wanted |= hash & (0 - hash);
}

/* ---- room for new stacks: what is below a frame and weighs least becomes one marker, until a
 * quarter of the table is free. So the work is spread over as many new frames. Stacks of stalls
 * stay. While that goes on three links of a node mean something else. */

#define CHROPROF__HEAVY UINT32_MAX          /* weight of what has to stay */

/* The weight of a node and of all below it. */
static uint32_t *chroprof__whole_weight(chroprof__node *node)
{
    return &node->next;
}

/* Of a node that stays the child that is a marker, or will be; 0: none. A marker's is itself. */
static uint32_t *chroprof__marker_of(chroprof__node *node)
{
    return &node->head;
}

/* The stacks of stalls, and of callbacks and iterations that may become some, one after the other;
 * NULL: there are no more. */
static chroprof__hits *chroprof__hits_at(chroprof__core *c, uint32_t k)
{
    uint32_t stalls = c->tables[CHROPROF_TABLE_STALLS].rows;
    if (k < stalls)
        return &chroprof__stall_rows(c)[k].hits;
    if (k < stalls + 2)
        return &c->stall.due[k - stalls].hits;
    k -= stalls + 2;
    return k < CHROPROF__HITS ? chroprof__sampler_of(c)->hits + k : NULL;
}

/* Range 0 is weight 0, range k from 2^(k - 1) on; heavy ones are in 32. */
static uint32_t chroprof__range_of(uint32_t weight)
{
    return weight ? chroprof__log2(weight) + 1 : 0;
}

/* Adds up the weights, in which a parent is never below its children. Returns the range up to
 * which so many nodes might be had. */
static uint32_t chroprof__weigh_nodes(chroprof__core *c, bool tasks_stay, uint64_t goal)
{
    chroprof__node *nodes = chroprof__nodes(c);
    uint32_t used = (uint32_t)c->tables[CHROPROF_TABLE_STACKS].used, range = 0, count[33];
    memset(count, 0, sizeof(count));
    for (uint32_t k = 0; k <= used; k++) {
        bool task = chroprof__item_kind(nodes[k].item) == CHROPROF__TASK;
        bool heavy = nodes[k].weight >= CHROPROF__HEAVY || (task && tasks_stay);
        *chroprof__whole_weight(nodes + k) = heavy ? CHROPROF__HEAVY : (uint32_t)nodes[k].weight;
    }
    const chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t n = 1; h; h = chroprof__hits_at(c, n++))
        for (uint32_t k = 0; k < h->count; k++)
            *chroprof__whole_weight(nodes + h->stack[k]) = CHROPROF__HEAVY;
    for (uint32_t k = used; k > 0; k--) {
        uint32_t weight = *chroprof__whole_weight(nodes + k);
        uint32_t *above = chroprof__whole_weight(nodes + nodes[k].parent);
        *above = weight < CHROPROF__HEAVY - *above ? *above + weight : CHROPROF__HEAVY;
        count[chroprof__range_of(weight)]++;
    }
    for (uint64_t sum = count[0]; sum < goal && range < 31; sum += count[range])
        range++;
    return range;
}

/* Chooses who gives way: all that weigh less than this range, and of it the oldest, until the goal
 * is met. heir becomes the node that has the weight from now on, of one that stays itself. Returns
 * how many are freed. */
static uint64_t chroprof__choose_heirs(chroprof__core *c, uint32_t range, uint64_t goal)
{
    chroprof__node *nodes = chroprof__nodes(c);
    uint64_t freed = 0;
    *chroprof__marker_of(nodes) = nodes[0].heir = 0;
    for (uint32_t k = 1; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        chroprof__node *node = nodes + k, *parent = nodes + node->parent;
        uint32_t own = chroprof__range_of(*chroprof__whole_weight(node));
        uint32_t marker = *chroprof__marker_of(parent);
        bool cut = own < range || (own == range && freed < goal);
        node->heir = k;
        *chroprof__marker_of(node) = 0;
        if (parent->heir != node->parent || (marker && marker == node->parent))
            node->heir = parent->heir;
        else if (!cut && node->item != CHROPROF__FULL_ITEM)
            continue;
        else if (marker)
            node->heir = marker;
        else
            *chroprof__marker_of(parent) = *chroprof__marker_of(node) = k;
        freed += node->heir != k;
    }
    return freed;
}

/* Weights go to the heirs, and markers say that they are some. Children first: what is lost is told
 * by the frame above it. */
static void chroprof__give_way(chroprof__core *c)
{
    chroprof__node *nodes = chroprof__nodes(c);
    for (uint32_t k = (uint32_t)c->tables[CHROPROF_TABLE_STACKS].used; k > 0; k--) {
        chroprof__node *node = nodes + k;
        bool cut = node->heir != k || *chroprof__marker_of(node) == k;
        if (cut && node->item != CHROPROF__FULL_ITEM) {
            chroprof__lose_frame(c, nodes[node->parent].item, node->item);
            node->item = CHROPROF__FULL_ITEM;
        }
        if (node->heir == k)
            continue;
        nodes[node->heir].weight += node->weight;
        nodes[node->heir].cpu_ns += node->cpu_ns;
    }
}

/* Buckets are made anew; false: a node can't be. */
CHROPROF__COLD bool chroprof__link_nodes(const chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *nodes = chroprof__nodes(p->core);
    for (uint32_t k = 0; k < table->rows; k++)
        nodes[k].head = 0;
    for (uint32_t k = 1; k <= table->used; k++) {
        chroprof__node *bucket = chroprof__node_bucket(p->core, nodes[k].parent, nodes[k].item);
        if (!chroprof__good_node(p, k))
            return false;
        nodes[k].next = bucket->head;
        bucket->head = k;
    }
    return true;
}

/* Moves nodes up to where there are free ones, and whoever refers to them. A parent stays below its
 * children. */
static void chroprof__close_up(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *nodes = chroprof__nodes(c);
    chroprof__sample_span *rows = chroprof__sample_rows(c);
    uint32_t used = (uint32_t)table->used, count = 0;
    nodes[0].head = 0;
    for (uint32_t k = 1; k <= used; k++) {          /* head: the new number; an heir comes first */
        nodes[k].head = nodes[k].heir == k ? ++count : nodes[nodes[k].heir].head;
        nodes[k].parent = nodes[nodes[k].parent].head;
    }
    for (uint32_t k = 0; k < chroprof__sample_capacity(c); k++)
        rows[k].stack = nodes[rows[k].stack].head;
    chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t n = 1; h; h = chroprof__hits_at(c, n++))
        for (uint32_t k = 0; k < h->count; k++)
            h->stack[k] = nodes[h->stack[k]].head;
    for (uint32_t k = 1; k <= used; k++)
        if (nodes[k].heir == k)
            nodes[nodes[k].head] = nodes[k];
    table->used = count;
    (void)chroprof__link_nodes(p);
}

/* False: there is none to be had, or that was so not long ago. Whose samples it were is given up
 * last. */
static bool chroprof__make_stack_room(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t goal = c->tables[CHROPROF_TABLE_STACKS].used / 4 + 1, freed = 0;
    if (s->patience > 0) {
        s->patience--;
        return false;
    }
    chroprof__poke64(&s->renumberings, s->renumberings + 1);
    CHROPROF__STORE_FENCE();
    for (int tasks_stay = 1; tasks_stay >= 0 && freed < goal; tasks_stay--) {
        uint32_t range = chroprof__weigh_nodes(c, tasks_stay != 0, goal);
        for (freed = 0; range < 32 && freed < goal; range++)
            freed = chroprof__choose_heirs(c, range, goal);
    }
    chroprof__give_way(c);
    chroprof__close_up(p);
    CHROPROF__STORE_FENCE();
    chroprof__poke64(&s->renumberings, s->renumberings + 1);
    s->patience = chroprof__minus(goal, freed);
    return freed > 0;
}

/* The node of a stack whose innermost frame comes first. What there is no room for is cut: in a
 * small table the first frames of a deep stack may be what gives way to the others, again and
 * again. */
static uint32_t chroprof__intern_items(const chroprof *p, const uint64_t *items, uint32_t count)
{
    chroprof__core *c = p->core;
    uint32_t node = 0, left = count, renumberings = 0;
    while (left > 0) {
        uint32_t child = chroprof__intern_node(c, node, items[left - 1]);
        if (child != UINT32_MAX) {
            node = child;
            left--;
        } else if (renumberings++ < 8 && chroprof__make_stack_room(p)) {
            node = 0;                       /* what was there may have moved */
            left = count;
        } else {
            for (; left > 0; left--)
                chroprof__lose_frame(c, chroprof__nodes(c)[node].item, items[left - 1]);
            return chroprof__cut_at(c, node);
        }
    }
    return node;
}

/* The node of what of a timer signal's stack makes sense. */
static uint32_t chroprof__intern_stack(const chroprof *p, chroprof__entry *e)
{
    uint32_t end = e->count < CHROPROF__ITEMS ? e->count : (uint32_t)CHROPROF__ITEMS, first = end;
    while (first > 0 && chroprof__good_item(p, e->items[first - 1])) {
        uint64_t *item = e->items + --first, address = chroprof__item_address(*item);
        if (chroprof__is_code(*item))
            *item = chroprof__code_item(chroprof__item_kind(*item), address,
                                        chroprof__find_module(p->core, address));
    }
    return chroprof__intern_items(p, e->items + first, end - first);
}

/* ---- rows */

/* Takes the oldest row's place, or a free one. */
static chroprof__sample_span *chroprof__new_row(chroprof__core *c, chroprof__sampler *s)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SAMPLES];
    chroprof__sample_span *row = chroprof__sample_rows(c) + s->rows.head;
    if (table->used == table->capacity) {
        s->rows.dropped += row->weight;
        s->rows.dropped_cpu_ns += row->cpu_ns;
    }
    memset(row, 0, sizeof(*row));
    s->rows.head = s->rows.head + 1 < table->capacity ? s->rows.head + 1 : 0;
    if (table->used < table->capacity)
        table->peak = ++table->used;
    return row;
}

/* A sample with the stack of the row before it and no CPU time extends that row. */
static void chroprof__add_row(chroprof__core *c, chroprof__sampler *s, uint64_t t, uint32_t stack,
                              const chroprof__entry *e)
{
    uint64_t before = s->rows.head > 0 ? s->rows.head - 1 : chroprof__sample_capacity(c) - 1;
    bool any = c->tables[CHROPROF_TABLE_SAMPLES].used > 0;
    chroprof__sample_span *row = chroprof__sample_rows(c) + before;
    if (!any || row->stack != stack || row->state != e->state || e->cpu_ns != 0) {
        row = chroprof__new_row(c, s);
        row->time = t;
        row->stack = stack;
        row->state = e->state;
    }
    row->weight += e->weight;
    row->cpu_ns += e->cpu_ns;
    row->duration = t - row->time;
    s->rows.samples += e->weight;
    s->rows.latest = t;
    chroprof__nodes(c)[stack].weight += e->weight;
    chroprof__nodes(c)[stack].cpu_ns += e->cpu_ns;
}

/* ---- stalls: where the callbacks and the iteration under way were met */

/* Which of the places a sample counts for: its own, else a free one, else another line of the same
 * function call, else the least one's (Metwally and others, space saving, 2005), whose weight is
 * told of neither. */
static uint32_t chroprof__hit_place(const chroprof__node *nodes, chroprof__hits *h, uint32_t stack)
{
    uint32_t least = 0, sibling = UINT32_MAX;
    for (uint32_t k = 0; k < h->count; k++) {
        if (h->stack[k] == stack)
            return k;
        if (nodes[h->stack[k]].parent == nodes[stack].parent &&
            chroprof__item_kind(nodes[stack].item) != CHROPROF__TASK)
            sibling = k;
        least = h->weight[k] < h->weight[least] ? k : least;
    }
    if (h->count < CHROPROF_STALL_SAMPLES)
        least = h->count++;
    else if (sibling != UINT32_MAX)
        return sibling;
    h->stack[least] = stack;
    h->over[least] = h->weight[least];
    h->cpu[least] = 0;
    return least;
}

/* Of the time since the sample before it only what lies in the callback or iteration counts. */
static void chroprof__add_hit(const chroprof__core *c, chroprof__hits *h, uint32_t owner,
                              uint64_t inside, uint32_t stack, const chroprof__entry *e)
{
    uint64_t wall = chroprof__scale(inside, c->time.factor);
    wall = e->wall_ns < wall ? e->wall_ns : wall;
    uint64_t cpu = e->cpu_ns < wall ? e->cpu_ns : wall;
    if (h->owner != owner) {
        memset(h, 0, sizeof(*h));
        h->owner = owner;
    }
    uint32_t k = chroprof__hit_place(chroprof__nodes(c), h, stack);
    h->weight[k] += (uint32_t)e->weight;
    h->cpu[k] += cpu;
    h->sampled += e->weight;
    h->cpu_ns += cpu;
    h->waiting_ns += wall - cpu;
}

/* The hits of the callback under way; those of the iteration stand behind all of these. */
static uint32_t chroprof__callback_place(const chroprof__core *c)
{
    return c->barriers < CHROPROF__NESTED_LOOPS ? c->barriers : CHROPROF__NESTED_LOOPS - 1;
}

static void chroprof__add_hits(const chroprof *p, chroprof__sampler *s, uint64_t t, uint32_t stack,
                               const chroprof__entry *e)
{
    const chroprof__core *c = p->core;
    const chroprof__frame_row *base = p->frames + c->barrier + 1;
    if (c->account == CHROPROF__IDLE)
        return;
    if (c->depth > c->barrier)
        chroprof__add_hit(c, s->hits + chroprof__callback_place(c), base->event,
                          chroprof__minus(t, base->pushed), stack, e);
    if (c->loop.iteration_active)
        chroprof__add_hit(c, s->hits + CHROPROF__NESTED_LOOPS, (uint32_t)c->iteration.event,
                          chroprof__minus(t, c->iteration.start), stack, e);
}

#if CHROPROF__SAMPLES
/* Was this moment of profile time more than 1 ms ago? The thread's CPU time of now is not that of
 * then. A clock of the program's own is not asked. */
static bool chroprof__is_past(const chroprof__core *c, uint64_t t)
{
    uint64_t now = chroprof__clock_here(c);
    uint64_t slack = chroprof__unscale(1000000, c->time.factor);
    return now != 0 && chroprof__minus(now, c->epoch + t) > slack;
}

/* The thread's CPU time when a callback or an iteration began, by the last look before that: what
 * was not idle since that look counts as CPU time. False: there was none. */
static bool chroprof__cpu_at(const chroprof *p, uint32_t place, uint32_t owner, uint64_t start,
                             uint64_t *ns)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t busy = chroprof__minus(start, p->paths[CHROPROF__IDLE].exec);
    bool noted = s->begun[place].event == owner;
    *ns = noted ? s->begun[place].cpu_ns
                : s->look.cpu_ns + chroprof__scale(chroprof__minus(busy, s->look.cpu_busy),
                                                    c->time.factor);
    return noted || start >= s->look.last;
}
#endif

/* While the timer runs the CPU time of a stall is known from the thread's clock when it began and
 * ended; of samples by hand only as far as they tell. owner: the event that began it. */
static void chroprof__take_hits(const chroprof *p, chroprof__stall_row *stall, uint32_t owner)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    bool callback = stall->kind == CHROPROF_STALL_CALLBACK;
    uint32_t k = callback ? chroprof__callback_place(c) : (uint32_t)CHROPROF__NESTED_LOOPS;
    if (!s)
        return;
    if (s->hits[k].owner == owner)
        stall->hits = s->hits[k];
#if CHROPROF__SAMPLES
    uint64_t length = chroprof__scale(stall->length, c->time.factor), begun_ns, cpu;
    if (!p->sampling || chroprof__is_past(c, stall->start + stall->length) ||
        !chroprof__cpu_at(p, k, owner, stall->start, &begun_ns))
        return;
    cpu = chroprof__minus(chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID), begun_ns);
    stall->hits.cpu_ns = cpu < length ? cpu : length;
    stall->hits.waiting_ns = length - stall->hits.cpu_ns;
#endif
}

/* ---- draws of live futures */

static uint32_t chroprof__drawn_state(const chroprof *p, const chroprof__future_row *slot)
{
    bool top = p->frames[p->core->depth].id == slot->id && p->core->hidden == 0;
    if (slot->state == CHROPROF_READY)
        return 1;
    return slot->state == CHROPROF_RUNNING && top ? 0 : 2;
}

/* The younger ones of very many paths share the row of untracked. */
static chroprof__wall_row *chroprof__wall_of(const chroprof__core *c, uint32_t path)
{
    bool own = path < c->tables[CHROPROF__WALLS].rows;
    return chroprof__wall_rows(c) + (own ? path : (uint32_t)CHROPROF__UNTRACKED);
}

/* Signals draw 8 live futures each, of fewer all, as they were in [from, t). They look at
 * the slots in which as many are to be expected, but not far; each one that is met stands for so
 * many more that 8 a timer signal is the mean. The next draw goes on from there, so each has its
 * turn. */
static void chroprof__draw(const chroprof *p, chroprof__sampler *s, uint64_t from, uint64_t t,
                           uint64_t ticks)
{
    const uint64_t live = p->core->tables[CHROPROF_TABLE_FUTURES].used, rows = p->rows;
    uint64_t each = live < CHROPROF__DRAWS ? live : (uint64_t)CHROPROF__DRAWS;
    uint64_t rounds = ticks < 4 ? ticks : 4, reach = rounds * CHROPROF__STRETCH;
    if (each == 0 || ticks == 0)
        return;
    uint64_t enough = (rounds * each * rows + live - 1) / live;
    reach = reach < enough ? reach : enough;
    reach = reach < rows ? reach : rows;
    uint64_t total = each * rows * (ticks < UINT32_MAX ? ticks : UINT32_MAX), parts = reach * live;
    uint64_t whole = total / parts, rest = total % parts;
    from = s->drawn.seq == p->core->seq ? s->drawn.at : from;
    for (uint64_t n = 0; n < reach; n++) {
        const chroprof__future_row *f = p->futures + s->drawn.cursor % rows;
        uint64_t weight = whole + (chroprof__random(s) % parts < rest);
        s->drawn.cursor = s->drawn.cursor + 1 < rows ? s->drawn.cursor + 1 : 0;
        if (f->id == 0 || f->state == CHROPROF__GONE) {
            s->draw.misses++;
            continue;
        }
        chroprof__wall_row *row = chroprof__wall_of(p->core, f->path);
        uint32_t state = chroprof__drawn_state(p, f);
        row->weight[state] += weight;
        row->ticks[state] += t - from;
        s->draw.draws += weight;
    }
    s->drawn.seq = p->core->seq;
    s->drawn.at = t;
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
    return t > s->rows.latest ? t : s->rows.latest;
}

/* A sample of a task that runs is its path's, which is the innermost one of the stack. */
static void chroprof__count_sample(const chroprof__core *c, uint32_t stack,
                                   const chroprof__entry *e)
{
    const chroprof__node *nodes = chroprof__nodes(c);
    while (stack && chroprof__item_kind(nodes[stack].item) != CHROPROF__TASK)
        stack = nodes[stack].parent;
    if (stack == 0 || e->state != CHROPROF_SAMPLE_BUSY)
        return;
    chroprof__wall_row *row =
        chroprof__wall_of(c, (uint32_t)chroprof__item_value(nodes[stack].item));
    row->samples += e->weight;
    row->cpu_ns += e->cpu_ns;
}

/* A program may tell late that it was idle. Was it when this sample was taken, before the iteration
 * under way? */
static bool chroprof__was_idle(const chroprof__core *c, const chroprof__entry *e)
{
    return e->state != CHROPROF_SAMPLE_IDLE && e->stamp != 0 && c->loop.iteration_active &&
           chroprof__minus(e->last, c->epoch) < c->iteration.start && e->count > 0 &&
           e->items[0] != chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE);
}

static void chroprof__absorb(const chroprof *p, chroprof__sampler *s, chroprof__entry *e,
                             uint64_t most)
{
    chroprof__core *c = p->core;
    uint64_t t = chroprof__sample_time(c, s, e->stamp, most);
    if (chroprof__was_idle(c, e)) {
        if (p->follows_idle)
            return;                         /* that idle has its own samples */
        e->state = CHROPROF_SAMPLE_IDLE;
        e->items[0] = chroprof__item(CHROPROF__MARK, CHROPROF__MARK_IDLE);
        e->count = 1;
    }
    if (e->wall_ns == 0)
        e->wall_ns = chroprof__scale(t - s->rows.latest, c->time.factor);
    uint32_t stack = chroprof__intern_stack(p, e);
    if (e->count > 0 && e->items[0] == chroprof__item(CHROPROF__MARK, CHROPROF__MARK_INSIDE))
        s->rows.inside += e->weight;
    chroprof__add_row(c, s, t, stack, e);
    chroprof__count_sample(c, stack, e);
    t = chroprof__sample_time(c, s, e->last, most);
    chroprof__add_hits(p, s, t, stack, e);
    chroprof__draw(p, s, t, t, e->draws);
}

/* Is it of after the event under way, whose time the program gave? */
static bool chroprof__is_later(const chroprof__core *c, const chroprof__entry *e)
{
    uint64_t t = e->stamp - c->epoch;
    return e->stamp != 0 && t > c->last && t < CHROPROF__END_OF_TIME;
}

CHROPROF__COLD void chroprof__drain_all(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__look_at_modules(c);
    while (chroprof__peek64(&s->handler.put) - s->taken != 0) {
        CHROPROF__LOAD_FENCE();
        if (chroprof__is_later(c, chroprof__ring(c, s->taken)))
            return;                         /* the next event takes it in */
        chroprof__absorb(p, s, chroprof__ring(c, s->taken), c->last);
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->taken, s->taken + 1);
    }
}

/* The event under way is to read the thread's CPU clock, the next one in a millisecond. */
static void chroprof__plan_look(const chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    s->look.at = c->last + chroprof__unscale(1000000, c->time.factor);
    s->look.due = 1;
}

/* Takes in what waits; part of the slow path. Whoever lets a sample wait sets drain. */
static void chroprof__drain(chroprof *p)
{
    if (p->drain && chroprof__samples_wait(p->core))
        p->drain(p);
}

/* Makes the next event take the slow path if something waits. Between events only. */
static void chroprof__wake_drain(chroprof__core *c)
{
    if (chroprof__samples_wait(c))
        chroprof__wake(c);
}

/* ---- from a timer signal to the ring. This may run in a signal handler, at any instruction of
 * anything above. */

/* Makes one of two neighbours stand for both, each as often as it weighs. */
static void chroprof__merge_entries(chroprof__sampler *s, chroprof__entry *a,
                                    const chroprof__entry *b)
{
    uint64_t weight = a->weight + b->weight;
    chroprof__entry sum = chroprof__random(s) % weight < a->weight ? *a : *b;
    sum.weight = weight;
    sum.cpu_ns = a->cpu_ns + b->cpu_ns;
    sum.wall_ns = a->wall_ns + b->wall_ns;
    sum.draws = a->draws + b->draws;
    sum.last = b->last;
    *a = sum;
}

/* The ring is full and nobody takes from it, which is a long slice: the two neighbours that weigh
 * least become one, so that what is left covers all of it, evenly. */
static void chroprof__thin(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t end = s->handler.put - 1, best = s->taken, least = UINT64_MAX;
    for (uint64_t k = s->taken; k < end; k++) {
        uint64_t weight = chroprof__ring(c, k)->weight + chroprof__ring(c, k + 1)->weight;
        best = weight < least ? k : best;
        least = weight < least ? weight : least;
    }
    chroprof__merge_entries(s, chroprof__ring(c, best), chroprof__ring(c, best + 1));
    for (uint64_t k = best + 1; k < end; k++)
        *chroprof__ring(c, k) = *chroprof__ring(c, k + 1);
    chroprof__poke64(&s->handler.put, end);
}

/* An empty entry; NULL: no room, inside an event. */
static chroprof__entry *chroprof__begin_entry(const chroprof__core *c, chroprof__sampler *s)
{
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    if (s->handler.put - chroprof__peek64(&s->taken) >= rows) {
        if (chroprof__is_busy(c))
            return NULL;
        chroprof__thin(c, s);
    }
    chroprof__entry *e = chroprof__ring(c, s->handler.put);
    memset(e, 0, offsetof(chroprof__entry, items));
    return e;
}

CHROPROF__NOINLINE void chroprof__put_item(chroprof__entry *e, uint32_t kind, uint64_t value)
{
    if (e->count < CHROPROF__ITEMS)
        e->items[e->count++] = chroprof__item(kind, value);
}

/* The frames of the running stack from depth on, the innermost first, down to the one above `down`.
 * Returns how many are left below them. */
static uint32_t chroprof__put_tasks(const chroprof__core *c, chroprof__entry *e, uint32_t depth,
                                    uint32_t down)
{
    const chroprof__frame_row *frames = chroprof__frame_rows(c);
    for (; depth > down; depth--) {
        if (c->depth - depth >= CHROPROF__NOTED_TASKS) {
            chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_DEEP);
            return 0;
        }
        if ((frames[depth].kind & CHROPROF__BARRIER) == 0)
            chroprof__put_item(e, CHROPROF__TASK, frames[depth].path);
    }
    return depth;
}

static uint32_t chroprof__sample_state_of(const chroprof__core *c)
{
    if (c->account == CHROPROF__IDLE)
        return CHROPROF_SAMPLE_IDLE;
    if (c->account == CHROPROF__LOOP)
        return CHROPROF_SAMPLE_UNINSTRUMENTED;
    return CHROPROF_SAMPLE_BUSY;
}

/* The stack of a sample without native frames. */
static void chroprof__put_running(const chroprof__core *c, chroprof__entry *e)
{
    e->state = chroprof__sample_state_of(c);
    if (chroprof__is_busy(c)) {
        e->state = CHROPROF_SAMPLE_UNINSTRUMENTED;
        chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_INSIDE);
        return;
    }
    if (c->hidden)
        chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
    if (e->state != CHROPROF_SAMPLE_BUSY)
        chroprof__put_item(e, CHROPROF__MARK, e->state == CHROPROF_SAMPLE_IDLE
                                                  ? CHROPROF__MARK_IDLE : CHROPROF__MARK_LOOP);
    (void)chroprof__put_tasks(c, e, c->depth, 0);
}

/* >>event: what every event does. It leaves a row in the ring, then bills the interval up to it to
 * what was on top. */

/* What an event knows before it changes anything. */
typedef struct chroprof__moment {
    uint64_t t, dt;
    uint64_t next_row, account;
    uint32_t depth;
} chroprof__moment;

/* Looks at the clock value of an event. False: the clock went back, or profile time is at or beyond
 * the time limit (chroprof__set_time_limit tells why it may be). Then the event takes the slow
 * path. */
CHROPROF__INLINE bool chroprof__look_at_time(const chroprof__core *c, uint64_t now,
                                             const uint64_t *time_limit, chroprof__moment *m)
{
    m->t = now - c->epoch;
    m->dt = m->t - c->last;
    if (CHROPROF__RARELY(m->dt > m->t))
        return false;
    CHROPROF__READ_AGAIN();                 /* else gcc keeps that for later */
    m->account = c->account;
    return CHROPROF__LIKELY(m->t < *time_limit);
}

/* Looks at the ring. False: it begins anew, or rows of this iteration would be overwritten, or this
 * is a forked child. Then the event takes the slow path. */
CHROPROF__INLINE bool chroprof__look_at_ring(chroprof__core *c, chroprof__moment *m)
{
    m->next_row = c->next_row;
    m->depth = c->depth;
    return CHROPROF__LIKELY(m->next_row < chroprof__front_of(c)->row_limit);
}

CHROPROF__INLINE bool chroprof__look(chroprof__core *c, uint64_t now, chroprof__moment *m)
{
    return chroprof__look_at_time(c, now, &c->time_limit, m) && chroprof__look_at_ring(c, m);
}

/* The clock value again, so that no fast path has to keep it. */
CHROPROF__INLINE uint64_t chroprof__now_of(const chroprof__core *c, const chroprof__moment *m)
{
    return m->t + *(const volatile uint64_t *)&c->epoch;
}

/* The row of the ring that event number n has, or had. */
CHROPROF__INLINE chroprof__ring_row *chroprof__ring_of(const chroprof *p, const chroprof__core *c,
                                                       uint64_t seq)
{
    return (chroprof__ring_row *)(void *)((char *)p->ring +
                                          (seq & c->ring_mask) * (sizeof(*p->ring) / 2));
}

CHROPROF__INLINE chroprof__ring_row *chroprof__ring_at(const chroprof *p, const chroprof__core *c,
                                                       uint64_t n)
{
    return chroprof__ring_of(p, c, n << 1);
}

/* Do events of this state name a future? The rows of others keep an id that was there before. */
CHROPROF__INLINE bool chroprof__names_id(chroprof_state state)
{
    return state <= CHROPROF_CANCELLED || state == CHROPROF_SWITCH || state > CHROPROF_NEXT;
}

/* What the event of a row said. */
CHROPROF__INLINE chroprof_state chroprof__row_state(const chroprof__ring_row *row)
{
    uint32_t state = row->state;
    return (chroprof_state)(state == UINT8_MAX ? state : state & ~(uint32_t)CHROPROF__PUSHED_NONE);
}

CHROPROF__INLINE uint64_t chroprof__row_id(const chroprof__ring_row *row)
{
    return chroprof__names_id(chroprof__row_state(row)) ? row->id : 0;
}

/* The event under way says that something runs, but puts no frame on the stack. */
static void chroprof__push_none(const chroprof *p)
{
    chroprof__ring_of(p, p->core, p->core->seq)->state |= CHROPROF__PUSHED_NONE;
}

/* The row comes before all changes, so that a reader of a killed program knows what was under way.
 * While the event lasts seq is odd, and seq / 2 is its number. top: where the path on top and the
 * depth lie side by side, to be copied at once: in the core or in the top frame. NULL: the event
 * needs both for itself, and m has them. */
CHROPROF__INLINE void chroprof__open_row(chroprof__core *c, const chroprof__moment *m,
                                         const uint32_t *top, chroprof_state state, uint64_t id)
{
    uint64_t at = m->next_row;
#define CHROPROF__ROW ((chroprof__ring_row *)(void *)((char *)c + at))
    CHROPROF__ROW->time = m->t;
    CHROPROF__ONE_WORD(at);                 /* so that each store adds by itself: no other does */
    if (chroprof__names_id(state))
        CHROPROF__ROW->id = id;
    CHROPROF__ONE_WORD(at);
    if (top && CHROPROF__LITTLE) {          /* 32 bits of the depth, half of which is overwritten */
        memcpy((char *)c + at + offsetof(chroprof__ring_row, path), top, 8);
    } else {
        CHROPROF__ROW->path = (uint32_t)m->account;
        CHROPROF__ONE_WORD(at);
        CHROPROF__ROW->depth = (uint16_t)m->depth;
    }
    CHROPROF__ONE_WORD(at);
    CHROPROF__ROW->state = (uint8_t)((uint32_t)state < UINT8_MAX ? (uint32_t)state : UINT8_MAX);
#undef CHROPROF__ROW
    CHROPROF__STORE_FENCE();
    c->seq++;
    CHROPROF__STORE_FENCE();
}

CHROPROF__INLINE void chroprof__close_event(chroprof__core *c)
{
    CHROPROF__STORE_FENCE();
    c->seq++;
}

CHROPROF__INLINE void chroprof__bill(const chroprof__core *c, chroprof__path_row *row, uint64_t dt)
{
    row->exec += dt;
    row->blame += dt * c->ready;
}

/* The interval that a plain event closes is billed to the path on top. */
CHROPROF__INLINE void chroprof__bill_plain(chroprof__core *c, const chroprof__moment *m,
                                           chroprof__path_row *row)
{
    c->next_row += sizeof(chroprof__ring_row);
    chroprof__bill(c, row, m->dt);
    c->last = m->t;
}

/* Opens a plain event: its row, and the bill. top: as above. Returns the path that the interval was
 * billed to. */
CHROPROF__INLINE chroprof__path_row *chroprof__open_under(const chroprof *p, chroprof__core *c,
                                                          const chroprof__moment *m,
                                                          const uint32_t *top,
                                                          chroprof_state state, uint64_t id)
{
    chroprof__open_row(c, m, top, state, id);
    chroprof__path_row *row = p->paths + m->account;
    chroprof__bill_plain(c, m, row);
    return row;
}

CHROPROF__INLINE void chroprof__open_event(const chroprof *p, chroprof__core *c,
                                           const chroprof__moment *m, chroprof_state state,
                                           uint64_t id)
{
    chroprof__open_under(p, c, m, NULL, state, id);
}

/* A window has ended, or what might be a long time: what is on top, and what any event may bring
 * there, are of the present window. Frames on the stack are not; they are looked at on their way
 * down. So no frame that the fast paths take off has been there longer than half of what the
 * histograms hold. */
static void chroprof__age(const chroprof *p, chroprof__core *c)
{
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        chroprof__freshen(c, p->paths + k);
    chroprof__freshen(c, p->paths + c->account);
    if (c->depth)
        p->frames[c->depth].kind |= CHROPROF__AGED;
    c->aged_at = c->last;
}

/* Bills up to t across the borders of windows. */
static void chroprof__bill_across(chroprof *p, uint32_t account, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + account;
    chroprof__widen_windows(c, t);
    if (row->window != c->window)
        chroprof__close_window(c, row);
    while (t >= c->windows.end) {            /* the end of the window that last is in */
        chroprof__bill(c, row, c->windows.end - c->last);
        c->last = c->windows.end;
        c->window++;
        c->windows.end += c->windows.ticks;
        chroprof__close_window(c, row);
    }
    chroprof__bill(c, row, t - c->last);
    c->last = t;
}

/* The profile begins at the first event where nothing else says when. */
static void chroprof__start_at(chroprof__core *c, uint64_t now)
{
    c->process.start_clock = now;
    c->epoch = now - c->last;
    CHROPROF__STORE_FENCE();
    c->started = 1;
}

/* The event after which the profile was off names no id; in its row stands this. */
static uint64_t chroprof__off_mark(uint64_t n)
{
    return n ^ UINT64_C(0x9E3779B97F4A7C15);
}

static bool chroprof__is_off(const chroprof__ring_row *row, uint64_t n)
{
    return row->state == CHROPROF_TICK && row->id == chroprof__off_mark(n);
}

/* Numbers of the events whose rows are there: from first up to, not including, end. The row of an
 * event under way counts. Between two events the oldest row does not: the next event may be writing
 * over it already, which nobody sees from outside. */
typedef struct chroprof__reach {
    uint64_t first, end;
} chroprof__reach;

static chroprof__reach chroprof__ring_reach(const chroprof__core *c)
{
    chroprof__reach r;
    r.end = (c->seq + 1) >> 1;
    r.first = chroprof__minus(c->seq >> 1, c->ring_mask / 2);
    r.first = c->ring.first > r.first ? c->ring.first : r.first;
    return r;
}

/* ---- anomalies */

/* NULL: none are kept of this kind. */
static chroprof__places *chroprof__places_of(const chroprof__core *c, uint32_t kind)
{
    chroprof__places *rows = (chroprof__places *)chroprof__rows(c, CHROPROF__PLACES);
    return c->anomalies.placed[kind] ? rows + (c->anomalies.placed[kind] - 1) : NULL;
}

static void chroprof__meet(chroprof__core *c, uint32_t kind, const chroprof__places *met)
{
    chroprof__table_row *table = &c->tables[CHROPROF__PLACES];
    chroprof__places *row = chroprof__places_of(c, kind);
    if (row) {
        row->last = met->last;
    } else if (table->used < table->rows) {
        row = (chroprof__places *)chroprof__rows(c, CHROPROF__PLACES) + table->used++;
        *row = *met;
        CHROPROF__STORE_FENCE();            /* a place that is named is there */
        c->anomalies.placed[kind] = (uint8_t)table->used;
    }
}

CHROPROF__COLD void chroprof__count_at(chroprof__core *c, chroprof_anomaly_kind kind,
                                       uint64_t count, chroprof__met place)
{
    chroprof__places met = { place, place };
    c->anomalies.counts[kind] += count;
    chroprof__meet(c, (uint32_t)kind, &met);
}

/* The path of a future that has ended, from the last steps: what comes after the one that ran it is
 * its slice. 0: not known. */
enum { CHROPROF__STEPS_BACK = 64 };
static uint32_t chroprof__path_before(const chroprof *p, uint64_t id)
{
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t oldest = chroprof__minus(r.end, CHROPROF__STEPS_BACK);
    uint32_t after = CHROPROF__LOOP;
    for (uint64_t n = r.end; n > r.first && n > oldest; n--) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, n - 1);
        chroprof_state state = chroprof__row_state(row);
        bool runs = state == CHROPROF_RUNNING || state == CHROPROF_SWITCH;
        if (row->id == id && runs && after >= CHROPROF__FIRST_PATH)
            return after;
        after = row->path;
    }
    return CHROPROF__LOOP;
}

/* The path of the future that an event names; 0: not known. */
static uint32_t chroprof__path_named(const chroprof *p, uint64_t id)
{
    if (id == 0)
        return CHROPROF__LOOP;
    const chroprof__future_row *slot = chroprof__find(p, id);
    bool live = slot->id == id && slot->state != CHROPROF__GONE;
    return live ? slot->path : chroprof__path_before(p, id);
}

/* The event under way is out of order: its row says who it names and what was on top. */
CHROPROF__COLD void chroprof__count(const chroprof *p, chroprof_anomaly_kind kind)
{
    chroprof__core *c = p->core;
    const chroprof__ring_row *row = chroprof__ring_of(p, c, c->seq);
    uint64_t id = chroprof__row_id(row);
    chroprof__met place = { row->time, id, chroprof__path_named(p, id), row->path };
    chroprof__count_at(c, kind, 1, place);
}

/* When the interval of event n began. */
static uint64_t chroprof__interval_begin(const chroprof *p, chroprof__reach r, uint64_t n)
{
    const chroprof__ring_row *row = chroprof__ring_at(p, p->core, n);
    if (n > r.first)
        return chroprof__ring_at(p, p->core, n - 1)->time;
    return n == p->core->ring.first ? p->core->ring.begin : row->time;
}

/* ---- what paths took of a stretch of the ring */

/* The sum of a path in a tally, new if need be. */
static chroprof__sum *chroprof__sum_of(const chroprof *p, chroprof__tally *y, uint32_t path)
{
    chroprof__path_row *row = p->paths + path;
    chroprof__sum *sum = &row->sum[y->which];
    if (row->tally[y->which] == y->number)
        return sum;
    memset(sum, 0, sizeof(*sum));
    row->tally[y->which] = y->number;
    if (path == CHROPROF__LOOP)             /* which is looked at anyway */
        return sum;
    row->sum_next[y->which] = y->first_path;
    y->first_path = path;
    return sum;
}

/* The place of the slices at a depth; CHROPROF__TALLY_DEPTHS: none. */
static uint32_t chroprof__tally_place(const chroprof__tally *y, uint32_t depth)
{
    uint32_t k = depth > y->base ? depth - y->base - 1 : (uint32_t)CHROPROF__TALLY_DEPTHS;
    return k < CHROPROF__TALLY_DEPTHS ? k : (uint32_t)CHROPROF__TALLY_DEPTHS;
}

/* The slices of the frames above depth `after`, up to `depth`, have ended. */
static void chroprof__end_tallied(const chroprof *p, chroprof__tally *y, uint32_t depth,
                                  uint32_t after)
{
    uint32_t deepest = y->base + CHROPROF__TALLY_DEPTHS;
    for (uint32_t d = depth < deepest ? depth : deepest; d > after && d > y->base; d--) {
        uint32_t k = chroprof__tally_place(y, d);
        if (y->path[k] == 0)
            continue;
        chroprof__sum *sum = chroprof__sum_of(p, y, y->path[k]);
        sum->slices += sum->slices != CHROPROF__UNKNOWN_SLICES;
        chroprof__raise(&sum->slice_max, y->slice[k]);
        y->slice[k] = y->path[k] = 0;
    }
}

/* How deep the stack was at least while an event lasted that took frames off: one that puts a frame
 * there does so last. */
static uint32_t chroprof__least_depth(const chroprof__ring_row *row, uint32_t after)
{
    bool named = row->state == CHROPROF_SWITCH || row->state == CHROPROF_RUNNING;
    bool pushes = row->state == CHROPROF_NEXT || (named && row->id != 0);
    return pushes && after > 0 ? after - 1 : after;
}

/* Slices end with their frames. Loop and untracked have none; of what runs too deep it is not
 * known. */
static void chroprof__tally_row(const chroprof *p, chroprof__tally *y,
                                const chroprof__ring_row *row, uint32_t least)
{
    uint32_t k = chroprof__tally_place(y, row->depth);
    uint64_t dt = row->time - y->time;
    chroprof__sum *sum = chroprof__sum_of(p, y, row->path);
    sum->exec += dt;
    if (row->path >= CHROPROF__FIRST_PATH && k == CHROPROF__TALLY_DEPTHS) {
        sum->slices = CHROPROF__UNKNOWN_SLICES;
    } else if (row->path >= CHROPROF__FIRST_PATH) {
        y->path[k] = row->path;
        y->slice[k] += dt;
    }
    if (least < row->depth)
        chroprof__end_tallied(p, y, row->depth, least);
}

/* Adds the rows up to, not including, event `end`; after is the depth of the stack then. */
static void chroprof__tally_rows(const chroprof *p, chroprof__tally *y, uint64_t end,
                                 uint32_t after)
{
    for (; y->next < end; y->next++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, y->next);
        uint32_t then = y->next + 1 < end ? chroprof__ring_at(p, p->core, y->next + 1)->depth
                                          : after;
        uint32_t least = chroprof__least_depth(row, then);
        if (row->depth <= y->fence)
            y->fence = UINT32_MAX;
        if (y->fence == UINT32_MAX)
            chroprof__tally_row(p, y, row, least);
        else if (least < y->fence)          /* what the nested loop ran in was unwound, too */
            chroprof__end_tallied(p, y, y->fence, least);
        if (y->which == CHROPROF__OF_CALLBACK && y->fence == UINT32_MAX &&
            row->state == CHROPROF_LOOP_ENTER && then > row->depth)
            y->fence = row->depth;
        y->time = row->time;
    }
}

/* What is under way has ended, too. */
static void chroprof__end_tally(const chroprof *p, chroprof__tally *y)
{
    chroprof__end_tallied(p, y, UINT32_MAX, y->base);
}

/* Numbers of tallies begin again: no sum is marked with one any more. */
static void chroprof__forget_tallies(const chroprof *p)
{
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_PATHS].used; k++)
        p->paths[k].tally[0] = p->paths[k].tally[1] = 0;
}

static void chroprof__begin_tally(const chroprof *p, chroprof__tally *y, uint32_t which,
                                  uint64_t next, uint64_t time)
{
    chroprof__core *c = p->core;
    memset(y, 0, sizeof(*y));
    if (++c->stall.tallies > UINT32_MAX) {
        chroprof__forget_tallies(p);
        c->stall.tallies = 1;
    }
    y->number = (uint32_t)c->stall.tallies;
    y->which = which;
    y->next = next;
    y->time = time;
    y->fence = UINT32_MAX;
}

/* Keeps the first steps of the iteration under way, of which the ring is full. */
static void chroprof__stage_steps(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t n = c->iteration.event < c->ring.first ? c->ring.first : c->iteration.event;
    chroprof__incident_row *row = chroprof__incidents(c);
    if (c->tables[CHROPROF_TABLE_INCIDENTS].capacity == 0)
        return;
    row->serial = c->iteration.event;
    for (row->count = 0; row->count < CHROPROF__FIRST_STEPS; n++)
        row->steps[row->count++] = *chroprof__ring_at(p, c, n);
}

/* Before rows of the iteration under way are overwritten they are added up, some at once, so that
 * what each path took of an iteration is known however many events it has. */
enum { CHROPROF__SPILLED_ROWS = CHROPROF__FEWEST_EVENTS / 2 };

/* Events that may come before rows of this iteration would be overwritten that are not added up
 * yet. */
static uint64_t chroprof__until_spill(const chroprof__core *c)
{
    uint64_t kept = c->stall.tally.next > c->iteration.event ? c->stall.tally.next - 1
                                                             : c->iteration.event;
    bool under_way = c->loop.iteration_active && c->account != CHROPROF__IDLE;
    return under_way ? chroprof__minus(kept + c->ring_mask / 2 + 1, (c->seq + 1) >> 1) : UINT32_MAX;
}

CHROPROF__COLD void chroprof__spill(chroprof *p)
{
    chroprof__core *c = p->core;
    if (c->stall.tally.next <= c->iteration.event + 1) {
        chroprof__begin_tally(p, &c->stall.tally, CHROPROF__OF_ITERATION, c->iteration.event + 1,
                              c->iteration.start);
        chroprof__stage_steps(p);
    }
    uint64_t end = c->stall.tally.next + CHROPROF__SPILLED_ROWS;
    CHROPROF_ASSERT(end <= c->seq >> 1);
    chroprof__tally_rows(p, &c->stall.tally, end, chroprof__ring_at(p, c, end)->depth);
}

/* Where the row of the event after this one lies, and up to where the ring goes on from there. */
static void chroprof__aim(const chroprof *p, chroprof__core *c)
{
    uint64_t next = (uint64_t)((char *)chroprof__ring_of(p, c, c->seq + c->seq % 2) - (char *)c);
    uint64_t end = c->tables[CHROPROF_TABLE_EVENTS].offset +
                   (c->ring_mask / 2 + UINT64_C(1)) * sizeof(chroprof__ring_row);
    uint64_t spill = next + chroprof__until_spill(c) * sizeof(chroprof__ring_row);
    c->next_row = next;
    chroprof__front_of(c)->row_limit = spill < end ? spill : end;
}

/* From now on no iteration is under way; a poll that comes is the first. */
static void chroprof__no_iteration(chroprof__core *c)
{
    c->loop.iteration_active = c->loop.iteration_callback = 0;
    c->iteration.hidden = 0;
    c->iteration.start = CHROPROF__NO_ITERATION;
}

/* A wait ends that took so long since the event before, an iteration begins. The fast path does
 * this when the one before has been one. No branch: how long a wait takes is no habit. Two sums
 * side by side would become one of vectors, which takes longer. */
CHROPROF__INLINE void chroprof__begin_iteration(chroprof__core *c, uint64_t ticks)
{
    uint64_t at_once = 0 - (uint64_t)(ticks < c->loop.at_once_limit);    /* 0 or all bits */
    CHROPROF__ONE_WORD(at_once);
    c->loop.at_once -= at_once;
    CHROPROF__READ_AGAIN();
    c->loop.at_once_ticks += at_once & ticks;
    c->account = CHROPROF__LOOP;
    c->iteration.event = c->seq >> 1;
    CHROPROF__READ_AGAIN();
    at_once &= c->last - c->iteration.start;
    c->iteration.start = c->last;
    c->iteration.hidden = at_once;
}

/* The row of these waits; a new one takes the place of what has least. */
static chroprof__waited_row *chroprof__row_of_wait(chroprof__core *c, uint32_t site,
                                                   const char *call, const char *within)
{
    chroprof__waited_row *least = c->told.waited;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        chroprof__waited_row *row = c->told.waited + k;
        if (row->count && row->site == site &&
            strncmp(row->call, call, CHROPROF__CALL_BYTES - 1) == 0 &&
            strncmp(row->within, within, CHROPROF__WITHIN_BYTES - 1) == 0)
            return row;
        least = row->ticks < least->ticks || row->count == 0 ? row : least;
    }
    memset(least, 0, sizeof(*least));
    least->site = site;
    chroprof__copy_text(least->call, sizeof(least->call), call);
    chroprof__copy_text(least->within, sizeof(least->within), within);
    return least;
}

/* ---- slow futures that are old give way; the walk is one look at each group a minute */

#define CHROPROF__SLOW_CALLBACK_NS UINT64_C(60000000000)
enum { CHROPROF__SLOW_CALLBACKS = 5 };     /* minutes that make "the last minutes" */

static void chroprof__set_slow_limit(chroprof__core *c, const chroprof__slow_group *group)
{
    bool full = group->count == CHROPROF__SLOW_ROWS;
    chroprof__sites(c)[group->site].slow_limit =
        full ? group->rows[group->count - 1].latency + 1 : 0;
}

static uint64_t chroprof__slow_minute(const chroprof__core *c)
{
    return chroprof__or(chroprof__unscale(CHROPROF__SLOW_CALLBACK_NS, c->time.factor), 1);
}

/* When the last minutes began. */
static uint64_t chroprof__slow_oldest(const chroprof__core *c)
{
    return chroprof__minus(c->last, CHROPROF__SLOW_CALLBACKS * chroprof__slow_minute(c));
}

/* The older ones leave, from row `first` on. */
static void chroprof__forget_rows(const chroprof__core *c, chroprof__slow_group *group,
                                  uint32_t first)
{
    uint64_t oldest = chroprof__slow_oldest(c);
    uint32_t kept = first;
    for (uint32_t i = kept; i < group->count; i++)
        if (group->rows[i].at >= oldest)
            group->rows[kept++] = group->rows[i];
    group->count = group->count < kept ? group->count : kept;
}

/* Makes room for a future that finished with this latency: if it is one of the slowest of the run,
 * the last of these is so no more. */
static void chroprof__let_go(const chroprof__core *c, chroprof__slow_group *group,
                             uint64_t latency)
{
    uint32_t last = CHROPROF__SLOW_OF_RUN - 1;
    bool pushed = group->count > last && group->rows[last].latency < latency;
    chroprof__forget_rows(c, group, pushed ? last : last + 1);
}

CHROPROF__COLD void chroprof__forget_slow(chroprof__core *c)
{
    chroprof__slow_group *group = chroprof__slow_groups(c);
    for (uint64_t k = c->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++) {
        chroprof__forget_rows(c, group, CHROPROF__SLOW_OF_RUN);
        chroprof__set_slow_limit(c, group);
    }
    c->loop.slow_due = c->last + chroprof__slow_minute(c);
}

/* What an interval is that is not plain: time that went back does not pass, a step that is too long
 * is untracked. */
typedef struct chroprof__oddity {
    bool back, leap;
} chroprof__oddity;

static chroprof__oddity chroprof__look_again(const chroprof__core *c, chroprof__moment *m)
{
    chroprof__oddity odd = { m->dt >> 63 || m->t >= CHROPROF__END_OF_TIME, false };
    if (odd.back) {
        m->t = c->last;
        m->dt = 0;
    }
    m->depth = c->depth;
    m->account = c->account;
    odd.leap = m->dt > c->max_step_ticks && m->account != CHROPROF__IDLE;
    if (odd.leap)
        m->account = CHROPROF__UNTRACKED;
    return odd;
}

/* Opens any event. Any but tick ends an idle. */
CHROPROF__COLD void chroprof__open_slow(chroprof *p, chroprof__moment *m, chroprof_state state,
                                        uint64_t id, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__oddity odd = chroprof__look_again(c, m);
    chroprof__met place = { m->t, id, CHROPROF__LOOP, c->account };
    chroprof__aim(p, c);
    if (chroprof__until_spill(c) == 0)
        chroprof__spill(p);
    m->next_row = c->next_row;
    chroprof__open_row(c, m, NULL, state, id);
    if (odd.back) {
        chroprof__count_at(c, CHROPROF_ANOMALY_TIME_BACK, 1, place);
        c->epoch = now - c->last;
    }
    if (odd.leap) {
        chroprof__count_at(c, CHROPROF_ANOMALY_LONG_STEP, 1, place);
        if (c->depth && !c->hidden)
            p->frames[c->depth].start += m->dt;
    }
    chroprof__bill_across(p, (uint32_t)m->account, m->t);
#if CHROPROF__HAS_COUNTER
    if (m->t >= c->time.calibrate_at)
        chroprof__calibrate(c);
#endif
    if (m->t >= c->iteration.idle_limit)
        chroprof__age(p, c);
    if (c->phase.exits && m->account == CHROPROF__LOOP)
        c->phase.exit_ticks += m->dt;
    if (c->account == CHROPROF__IDLE && state != CHROPROF_TICK) {
        if (!c->phase.begun)
            c->phase.start_ticks = p->paths[CHROPROF__LOOP].exec;
        c->phase.begun = 1;
        chroprof__begin_iteration(c, m->dt);
        c->iteration.hidden *= c->loop.iteration_active;    /* 0: it was the first poll */
        c->loop.iteration_active = 1;
    }
    if (m->t >= c->loop.slow_due)
        chroprof__forget_slow(c);
    if (m->t >= chroprof__sampler_limit(c))
        chroprof__plan_look(c);
    chroprof__set_time_limit(c);
    chroprof__aim(p, c);
}

/* Opens an event on the slow path. Returns profile time, with the interval billed. */
static uint64_t chroprof__begin_event(chroprof *p, chroprof_state state, uint64_t id, uint64_t now)
{
    chroprof__moment m;
    if (chroprof__look(p->core, now, &m))
        chroprof__open_event(p, p->core, &m, state, id);
    else
        chroprof__open_slow(p, &m, state, id, now);
    chroprof__drain(p);
    return p->core->last;
}

/* What the ring holds of [from, c->last) is blamed on those who were on top; what it does not reach
 * is the loop's. */
static void chroprof__blame_past(chroprof *p, uint64_t from)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t end = c->last;
    for (uint64_t n = r.end; n > r.first && end > from; n--) {
        uint64_t begin = chroprof__interval_begin(p, r, n - 1);
        uint64_t start = begin > from ? begin : from;
        if (start < end)
            p->paths[chroprof__ring_at(p, c, n - 1)->path].blame += end - start;
        end = start < end ? start : end;
    }
    if (end > from)
        p->paths[CHROPROF__LOOP].blame += end - from;
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

/* >>stalls */

static void chroprof__keep_share(chroprof__stall_row *stall, const chroprof__stall_part *share)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF_STALL_SHARES, chroprof__stall_part, exec);
    if (share->exec > 0 || share->slices > 0)
        stall->share_count = chroprof__keep_largest(&by, stall->shares, stall->share_count, share);
}

/* Adds what the paths of a site took of a tally: once, with the first of them that is met. */
static void chroprof__share_site(const chroprof *p, chroprof__stall_row *stall,
                                 const chroprof__tally *y, uint32_t path)
{
    chroprof__stall_part share;
    memset(&share, 0, sizeof(share));
    share.site = p->paths[path].site;
    bool known = true;
    uint32_t k = path;
    if (path >= CHROPROF__FIRST_PATH)
        k = chroprof__sites(p->core)[share.site].first_path;
    for (; k; k = p->paths[k].same_site) {
        const chroprof__sum *sum = &p->paths[k].sum[y->which];
        if (p->paths[k].tally[y->which] != y->number)
            continue;
        share.exec += sum->exec;
        share.slices += sum->slices;
        known = known && sum->slices != CHROPROF__UNKNOWN_SLICES;
        chroprof__raise(&share.slice_max, sum->slice_max < sum->exec ? sum->slice_max : sum->exec);
        p->paths[k].tally[y->which] = 0;
    }
    if (!known)
        share.slices = share.slice_max = 0;
    chroprof__keep_share(stall, &share);
}

/* What each site took of the stall. */
static void chroprof__share_tally(const chroprof *p, chroprof__stall_row *stall,
                                  const chroprof__tally *y)
{
    const chroprof__path_row *loop = p->paths + CHROPROF__LOOP;
    chroprof__stall_part share;
    memset(&share, 0, sizeof(share));
    if (loop->tally[y->which] == y->number)
        share.exec = loop->sum[y->which].exec;
    chroprof__keep_share(stall, &share);
    for (uint32_t k = y->first_path; k; k = p->paths[k].sum_next[y->which])
        if (p->paths[k].tally[y->which] == y->number)
            chroprof__share_site(p, stall, y, k);
}

static void chroprof__share_iteration(const chroprof *p, chroprof__stall_row *stall)
{
    chroprof__core *c = p->core;
    chroprof__tally y;
    if (c->stall.tally.next <= c->iteration.event + 1)
        chroprof__begin_tally(p, &c->stall.tally, CHROPROF__OF_ITERATION, c->iteration.event + 1,
                              c->iteration.start);
    chroprof__tally_rows(p, &c->stall.tally, (c->seq + 1) >> 1, c->depth);
    y = c->stall.tally;
    chroprof__end_tally(p, &y);             /* below a barrier: the part inside counts */
    chroprof__share_tally(p, stall, &y);
}

/* The first row in reach that is surely not above a barrier of this callback; the end: there is
 * none. */
static uint64_t chroprof__surely_of_callback(const chroprof *p, chroprof__reach r,
                                         const chroprof__frame_row *base)
{
    uint64_t n = r.first;
    while (n < r.end && chroprof__ring_at(p, p->core, n)->depth > base - p->frames)
        n++;
    return n;
}

/* What each site took of the callback that ends, as far as the ring reaches. What ran above a
 * barrier is not of the callback. */
static void chroprof__share_callback(const chroprof *p, chroprof__stall_row *stall,
                                 const chroprof__frame_row *base)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t first = r.end - stall->events;
    chroprof__tally y;
    chroprof__begin_tally(p, &y, CHROPROF__OF_CALLBACK, first, base->pushed);
    y.base = (uint32_t)(base - p->frames) - 1;
    if (first <= r.first) {                 /* it began before the ring does, or before a reset */
        bool parted = first < r.first ? (base->kind & CHROPROF__PARTED) != 0
                                      : c->ring.barrier > y.base;
        uint64_t n = parted ? chroprof__surely_of_callback(p, r, base) : r.first;
        y.next = n == r.first && first < r.first ? n + 1 : n;
        y.time = y.next > r.first ? chroprof__ring_at(p, c, y.next - 1)->time : base->pushed;
    }
    chroprof__tally_rows(p, &y, r.end, y.base);
    chroprof__end_tally(p, &y);
    chroprof__share_tally(p, stall, &y);
}

/* Lets a stall sink from place k of a heap that has the shortest at its root. */
static void chroprof__sink_stall(chroprof__stall_row *heap, uint32_t rows, uint32_t k,
                                 const chroprof__stall_row *stall)
{
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

/* The first half of the rows is a heap of the longest; the rest is a ring of the most recent. */
static void chroprof__keep_stall(chroprof__core *c, const chroprof__stall_row *stall)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_STALLS].capacity;
    uint32_t longest = (capacity + 1) / 2, recent = capacity - longest;
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    if (rows[0].length < stall->length)
        chroprof__sink_stall(rows, longest, 0, stall);
    if (recent)
        rows[longest + (stall->serial - 1) % recent] = *stall;
}

/* The iteration that ends is the same stall as this callback, which is most of it: it takes its
 * place. */
static void chroprof__replace_stall(chroprof__core *c, const chroprof__stall_row *stall)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_STALLS].capacity, longest = (capacity + 1) / 2;
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    uint32_t k = 0;
    while (k < longest && rows[k].serial != stall->serial)
        k++;
    if (k < longest)
        chroprof__sink_stall(rows, longest, k, stall);
    else if (rows[0].length < stall->length)
        chroprof__sink_stall(rows, longest, 0, stall);
    for (k = longest; k < capacity; k++)
        if (rows[k].serial == stall->serial)
            rows[k] = *stall;
}

/* Rows in use of the tables that have something of each stall, after so many. */
static void chroprof__set_stalls(chroprof__core *c, uint64_t stalls)
{
    static const uint32_t tables[] = { CHROPROF_TABLE_STALLS, CHROPROF_TABLE_INCIDENTS };
    for (uint32_t k = 0; k < 2; k++) {
        chroprof__table_row *table = &c->tables[tables[k]];
        table->used = table->peak = stalls < table->capacity ? stalls : table->capacity;
    }
}

static void chroprof__count_stall(chroprof *p)
{
    chroprof__set_stalls(p->core, ++p->core->loop.stalls);
    if (p->on_stall && p->stalls_due < UINT16_MAX)
        p->stalls_due++;
}

/* Where the steps of a stall go among those of the longest ones, or of the most recent ones; NULL:
 * it is none of these. */
static chroprof__incident_row *chroprof__incident_place(const chroprof__core *c,
                                                        const chroprof__stall_row *stall,
                                                        bool recent)
{
    uint32_t capacity = c->tables[CHROPROF_TABLE_INCIDENTS].capacity, longest = (capacity + 1) / 2;
    chroprof__incident_row *row = chroprof__incidents(c) + 1, *end = row + longest, *least = row;
    if (recent && capacity > longest) {
        row = end + (stall->serial - 1) % (capacity - longest);
        return row->serial <= stall->serial ? row : NULL;
    }
    for (; !recent && row < end; row++) {
        if (row->serial == stall->serial)
            return row;
        least = row->length < least->length ? row : least;
    }
    return !recent && longest && least->length < stall->length ? least : NULL;
}

/* An interval, by the step that ends it. */
typedef struct chroprof__long_step {
    uint64_t length, n;
} chroprof__long_step;

/* The longest intervals that end at one of the steps [n, end), in the order of time; of two that
 * are as long the earlier one. Returns how many. */
static uint32_t chroprof__long_steps(const chroprof *p, uint64_t n, uint64_t end,
                                     chroprof__long_step *out, uint32_t most)
{
    uint32_t count = 0, least = 0;
    for (uint64_t from = 0, to; n < end; n++, from = to) {
        from = from ? from : chroprof__ring_at(p, p->core, n - 1)->time;
        to = chroprof__ring_at(p, p->core, n)->time;
        if (count == most && to - from <= out[least].length)
            continue;
        if (count == most)
            memmove(out + least, out + least + 1, (--count - least) * sizeof(*out));
        out[count].length = to - from;
        out[count++].n = n;
        least = 0;
        for (uint32_t k = 1; k < count; k++)
            least = out[k].length <= out[least].length ? k : least;
    }
    return count;
}

/* Which of the steps [from, end) begin or end one of the longest intervals up to `end`. */
static uint32_t chroprof__middle_steps(const chroprof *p, uint64_t from, uint64_t end,
                                       uint64_t *out, uint32_t most)
{
    chroprof__long_step found[CHROPROF_INCIDENT_STEPS / 2];
    uint64_t n = chroprof__ring_reach(p->core).first < from ? from : from + 1;
    uint64_t begin = chroprof__minus(end, CHROPROF__STEPS_ASKED);
    uint32_t rows = 0;
    uint32_t count = chroprof__long_steps(p, n > begin ? n : begin, end + 1, found, most);
    for (uint32_t k = 0; k < count; k++)
        for (uint64_t row = found[k].n - 1; row <= found[k].n; row++)
            if (row >= from && row < end && (rows == 0 || row > out[rows - 1]))
                out[rows++] = row;
    return rows;
}

/* Copies a step of the ring. Those from *next on that come before it are left out. */
static void chroprof__put_step(const chroprof *p, chroprof__incident_row *row, uint64_t n,
                               uint64_t *next)
{
    chroprof__ring_row *step = row->steps + row->count;
    uint64_t missing = n - *next;
    *step = *chroprof__ring_at(p, p->core, n);
    step->spare = missing > 0;
    if (missing > 0) {
        step->path = missing < UINT32_MAX ? (uint32_t)missing : UINT32_MAX;
        row->first = row->left_out ? row->first : row->count;
        row->left_out += missing;
    }
    row->count++;
    *next = n + 1;
}

/* Copies the steps of a stall from the ring that come after the first ones: if there are too many,
 * those around its longest intervals and the last ones. */
static void chroprof__copy_rest(const chroprof *p, chroprof__incident_row *row, uint64_t next)
{
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t from = next > r.first ? next : r.first, last = from;
    uint64_t rows[CHROPROF_INCIDENT_STEPS];
    uint32_t middle = 0, room = CHROPROF_INCIDENT_STEPS - row->count;
    if (r.end - from > room) {
        last = r.end - CHROPROF__LAST_STEPS;
        middle = chroprof__middle_steps(p, from, last, rows, (room - CHROPROF__LAST_STEPS) / 2);
    }
    for (; last > from && middle + r.end - last < room; last--)
        if (middle > 0 && rows[middle - 1] == last - 1)
            middle--;
    for (uint32_t k = 0; k < middle; k++)
        chroprof__put_step(p, row, rows[k], &next);
    for (; last < r.end; last++)
        chroprof__put_step(p, row, last, &next);
}

/* Copies the steps of a stall, with some before it. */
static void chroprof__copy_steps(const chroprof *p, chroprof__incident_row *row,
                                 const chroprof__stall_row *stall)
{
    const chroprof__core *c = p->core;
    const chroprof__incident_row *stage = chroprof__incidents(c);
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t begin = r.end - 1 - stall->events, n = begin < c->ring.first ? c->ring.first : begin;
    uint64_t lead = stage->serial == begin ? stage->count : 0;
    bool whole = r.first <= n;
    if (whole) {
        n = chroprof__between(chroprof__minus(n, CHROPROF__STEPS_BEFORE), r.first, n);
        lead = chroprof__between(r.end - n, 0, CHROPROF__LAST_STEPS);
    }
    row->length = stall->length;
    row->left_out = row->first = row->count = 0;
    for (uint64_t k = 0; k < lead; k++) {
        row->steps[k] = whole ? *chroprof__ring_at(p, c, n + k) : stage->steps[k];
        row->steps[row->count++].spare = 0;
    }
    chroprof__copy_rest(p, row, n + lead);
}

/* Keeps the steps of a stall that ends, if it is one of those that are kept. */
static void chroprof__keep_steps(const chroprof *p, const chroprof__stall_row *stall)
{
    const chroprof__incident_row *same = NULL;
    for (uint32_t recent = 0; recent < 2; recent++) {
        chroprof__incident_row *row = chroprof__incident_place(p->core, stall, recent != 0);
        if (!row)
            continue;
        row->serial = 0;                    /* who is killed in here leaves no steps behind */
        CHROPROF__STORE_FENCE();
        if (same)
            memcpy((char *)row + sizeof(row->serial), (const char *)same + sizeof(same->serial),
                   sizeof(*row) - sizeof(row->serial));
        else
            chroprof__copy_steps(p, row, stall);
        CHROPROF__STORE_FENCE();
        row->serial = stall->serial;
        same = row;
    }
}

static chroprof__stall_row *chroprof__new_stall(chroprof__core *c, chroprof_stall_kind kind,
                                                uint64_t start, uint64_t length, uint64_t events)
{
    chroprof__stall_row *stall = &c->stall.due[kind];
    memset(stall, 0, sizeof(*stall));
    stall->kind = kind;
    stall->start = start;
    stall->length = length;
    stall->events = events;
    return stall;
}

/* The activation of a base frame ends that was a stall. */
CHROPROF__COLD void chroprof__callback_stalled(chroprof *p, const chroprof__frame_row *base,
                                           uint64_t length)
{
    chroprof__core *c = p->core;
    uint32_t events = ((uint32_t)c->seq - base->event) / 2;
    chroprof__stall_row *stall =
        chroprof__new_stall(c, CHROPROF_STALL_CALLBACK, base->pushed, length, events);
    chroprof__count_stall(p);
    stall->serial = c->loop.stalls;
    chroprof__share_callback(p, stall, base);
    chroprof__take_hits(p, stall, base->event);
    chroprof__keep_stall(c, stall);
    chroprof__keep_steps(p, stall);
    if (base->pushed >= c->iteration.start && length >= c->loop.iteration_callback) {
        c->loop.iteration_callback = length;
        c->loop.iteration_callback_serial = stall->serial;
    }
}

CHROPROF__COLD void chroprof__iteration_stalled(chroprof *p, uint64_t length)
{
    chroprof__core *c = p->core;
    bool same = c->loop.iteration_callback > length / 2;
    chroprof__stall_row *stall = chroprof__new_stall(c, CHROPROF_STALL_ITERATION,
    c->iteration.start, length,
                                                     (c->seq >> 1) - c->iteration.event);
    if (!same)
        chroprof__count_stall(p);
    stall->serial = same ? c->loop.iteration_callback_serial : c->loop.stalls;
    chroprof__share_iteration(p, stall);
    chroprof__take_hits(p, stall, (uint32_t)c->iteration.event);
    if (same)
        chroprof__replace_stall(c, stall);
    else
        chroprof__keep_stall(c, stall);
    chroprof__keep_steps(p, stall);
}

/* >>slow: the slowest finished futures of each site, and where their time went. Owns that table.
 * Relies on the ring, and on the sums of >>stalls. A finish compares its lifetime with the limit of
 * the site, and calls the rest of this section if it is one of the slowest. */

/* The rows of the ring that may be looked at now: on average one an event, so that a loop in which
 * each future is slower than the last one is not slowed down further. */
#define CHROPROF__SLOW_LOOKS UINT32_C(8192)
static uint64_t chroprof__slow_looks(chroprof__core *c)
{
    uint32_t event = (uint32_t)(c->seq >> 1), ahead = c->slow_looked - event;
    if (ahead > 2 * CHROPROF__SLOW_LOOKS) {
        c->slow_looked = event;
        ahead = 0;
    }
    return ahead < CHROPROF__SLOW_LOOKS ? CHROPROF__SLOW_LOOKS - ahead : 0;
}

/* A future on its way through the ring. */
typedef struct chroprof__way {
    uint64_t id, created;
    uint32_t path;
    uint32_t depth;            /* of its deepest frame, while it is on the stack */
    bool stacked, ready, again;            /* again: it is ready when it leaves the stack */
    uint64_t time;             /* that the rows so far have told of */
    uint64_t on, own, delay;   /* ticks on the stack, on top, ready */
} chroprof__way;

/* Was no future of this path ever ready before it ran? */
static bool chroprof__is_undelayed(const chroprof__path_row *row)
{
    return row->delay == 0 && row->delay_max == 0 && row->ready == 0;
}

/* The oldest row that tells in which state the future is; the end: none does. Rows after one before
 * which it was surely not on the stack do, and all if the ring reaches back to its creation. */
static uint64_t chroprof__way_begin(chroprof *p, chroprof__reach r, const chroprof__way *w)
{
    bool waits = chroprof__is_undelayed(p->paths + w->path);
    uint64_t first = r.end, sure = r.end, looks = chroprof__slow_looks(p->core), n = r.end - 1;
    for (bool born = false; n > r.first && looks > 0 && !born; looks--) {
        const chroprof__ring_row *row = chroprof__ring_at(p, p->core, --n);
        chroprof_state state = chroprof__row_state(row);
        bool own = row->id == w->id;
        bool begins = own && state == CHROPROF_PENDING && row->time >= w->created;
        bool older = own && state >= CHROPROF_COMPLETED && state <= CHROPROF_CANCELLED;
        born = begins || older || row->time < w->created;
        if (begins || (own && !born && (state == CHROPROF_READY || state == CHROPROF_RUNNING ||
                                        state == CHROPROF_SWITCH)))
            first = n;
        if (born || row->depth == 0 || (row->depth == 1 && row->path != w->path))
            sure = waits && !born ? n : first;
    }
    p->core->slow_looked += (uint32_t)(r.end - n);
    return sure;
}

/* What an event did to the future; after: how deep the stack was then. */
static void chroprof__way_callback(chroprof__way *w, const chroprof__ring_row *row, uint32_t after)
{
    chroprof_state state = chroprof__row_state(row);
    bool own = row->id == w->id;
    bool runs = own && (state == CHROPROF_RUNNING || state == CHROPROF_SWITCH);
    bool handed = state == CHROPROF_SWITCH && row->id != 0 && after == w->depth;
    if (w->stacked && !runs && (after < w->depth || handed)) {
        w->stacked = false;
        w->ready = w->again;
        w->again = false;
    }
    if (runs) {
        bool deeper = w->stacked && w->depth < after;
        w->again = deeper && w->again;      /* else its only frame gave way to a new one */
        w->depth = deeper ? w->depth : after;
        w->stacked = true;
        w->ready = false;
    } else if (own && state == CHROPROF_READY) {
        w->again = w->stacked;
        w->ready = !w->stacked;
    }
}

static void chroprof__way_iteration(const chroprof *p, chroprof__way *w, chroprof__tally *y,
                               const chroprof__ring_row *row)
{
    uint64_t dt = row->time - w->time;
    w->time = row->time;
    if (w->stacked) {
        w->on += dt;
        w->own += row->path == w->path ? dt : 0;
    } else if (w->ready) {
        w->delay += dt;
        chroprof__sum_of(p, y, row->path)->exec += dt;
    }
}

/* Ticks of what is left, which becomes less by them. */
static uint64_t chroprof__part_of(uint64_t *rest, uint64_t ticks)
{
    uint64_t part = ticks < *rest ? ticks : *rest;
    *rest -= part;
    return part;
}

/* The sites that were on top most while it was ready. */
static void chroprof__blame_slow(const chroprof *p, const chroprof__tally *y,
                                 chroprof__slow_entry *slow)
{
    chroprof__stall_row taken;
    memset(&taken, 0, sizeof(taken));
    chroprof__share_tally(p, &taken, y);
    uint64_t rest = slow->delay;
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES && k < taken.share_count; k++) {
        slow->blames[k].delay = chroprof__part_of(&rest, taken.shares[k].exec);
        slow->blames[k].site = taken.shares[k].site;
    }
}

/* Follows the future from row n on, to the event under way. */
static void chroprof__follow_way(const chroprof *p, chroprof__way *w, chroprof__tally *y,
                                 uint64_t n, uint64_t end)
{
    const chroprof__core *c = p->core;
    for (; n < end; n++) {
        chroprof__way_iteration(p, w, y, chroprof__ring_at(p, c, n));
        if (chroprof__is_off(chroprof__ring_at(p, c, n), n))
            w->stacked = w->ready = w->again = false;
        else if (n + 1 < end)
            chroprof__way_callback(w, chroprof__ring_at(p, c, n),
                                   chroprof__ring_at(p, c, n + 1)->depth);
    }
}

/* The future has been in one state since long before the ring tells of it. Returns the row from
 * which on the ring tells whom it waited for. */
static uint64_t chroprof__rested(chroprof *p, chroprof__reach r, chroprof__way *w,
                                 const chroprof__future_row *slot)
{
    uint64_t n = r.end, looks = chroprof__slow_looks(p->core);
    w->time = slot->since;
    w->ready = slot->state == CHROPROF_READY;
    if (!w->ready)
        return n;
    for (; n > r.first && looks > 0 && chroprof__ring_at(p, p->core, n - 1)->time > w->time; n--)
        looks--;
    p->core->slow_looked += (uint32_t)(r.end - n);
    uint64_t time = n < r.end ? chroprof__interval_begin(p, r, n) : p->core->last;
    w->delay = chroprof__minus(time, w->time);
    chroprof__raise(&w->time, time);
    return n;
}

/* What the ring tells of a future that finishes with the event under way, and its own record. */
static void chroprof__explain_slow(chroprof *p, chroprof__slow_entry *slow, chroprof__way *w,
                                   const chroprof__future_row *slot)
{
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    chroprof__tally y;
    chroprof__begin_tally(p, &y, CHROPROF__OF_CALLBACK, r.end, slow->at);
    uint64_t n = chroprof__way_begin(p, r, w);
    uint64_t from = n < r.end ? chroprof__ring_at(p, c, n)->time : slow->at;
    bool rests = slot->state == CHROPROF_PENDING || slot->state == CHROPROF_PAUSED ||
                 slot->state == CHROPROF_READY;
    w->time = from;
    if (rests && slot->since < from) {
        from = slot->since;
        n = chroprof__rested(p, r, w, slot);
    }
    chroprof__follow_way(p, w, &y, n, r.end);
    uint64_t rest = slow->latency - slow->exec, own = from == w->created ? slow->exec : w->own;
    slow->delay = chroprof__part_of(&rest, w->delay);
    slow->children = chroprof__part_of(&rest, chroprof__minus(w->on, own));
    slow->unseen = chroprof__part_of(&rest, chroprof__minus(from - w->created,
                                                            chroprof__minus(slow->exec, own)));
    chroprof__blame_slow(p, &y, slow);
}

/* The group of a site, new if need be. NULL: there is no room. */
static chroprof__slow_group *chroprof__slow_group_of(chroprof__core *c, uint32_t number)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SLOW];
    chroprof__site_entry *site = chroprof__sites(c) + number;
    bool none = number < CHROPROF__OTHER;   /* untracked is no site */
    if (site->slow == 0 && (none || table->used == table->capacity)) {
        if (!none && table->capacity && site->slow_limit != UINT64_MAX)
            chroprof__lose(table, number);
        site->slow_limit = UINT64_MAX;
        return NULL;
    }
    if (site->slow == 0) {
        chroprof__slow_groups(c)[table->used].site = number;
        site->slow = (uint32_t)++table->used;
        table->peak = table->used;
    }
    return chroprof__slow_groups(c) + site->slow - 1;
}

/* Puts a future among the slowest of its site. */
static void chroprof__rank_slow(chroprof__core *c, chroprof__slow_group *group,
                                const chroprof__slow_entry *slow)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__SLOW_ROWS, chroprof__slow_entry, latency);
    chroprof__let_go(c, group, slow->latency);
    group->count = chroprof__keep_largest(&by, group->rows, group->count, slow);
    chroprof__set_slow_limit(c, group);
}

/* Own exec of slices that are under way at a finish in the middle of the stack. */
static uint64_t chroprof__open_exec(const chroprof *p, const chroprof__future_row *slot)
{
    uint64_t exec = 0;
    for (uint32_t k = slot->frame; k && !(p->frames[k].kind & CHROPROF__ORPHAN);
         k = p->frames[k].same)
        exec += chroprof__frame_slice(p, k);
    return exec;
}

/* A future finishes that is one of the slowest; exec is all it had. */
CHROPROF__COLD void chroprof__keep_slow(chroprof *p, const chroprof__future_row *slot,
                                        uint64_t exec, chroprof_state state, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__slow_group *group = chroprof__slow_group_of(c, p->paths[slot->path].site);
    chroprof__slow_entry slow;
    chroprof__way way;
    if (!group)
        return;
    memset(&slow, 0, sizeof(slow));
    slow.id = slot->id;
    slow.at = t;
    slow.latency = t - slot->created;
    slow.exec = exec < slow.latency ? exec : slow.latency;
    slow.path = slot->path;
    slow.state = (uint32_t)state;
    memset(&way, 0, sizeof(way));
    way.id = slot->id;
    way.created = slot->created;
    way.path = slot->path;
    chroprof__explain_slow(p, &slow, &way, slot);
    chroprof__rank_slow(c, group, &slow);
}

/* Is the future that finishes now as slow as those that are kept of its site? */
CHROPROF__INLINE bool chroprof__is_slow(const chroprof *p, const chroprof__core *c,
                                        const chroprof__future_row *slot, uint64_t t)
{
    const chroprof__site_entry *site = chroprof__sites(c) + p->paths[slot->path].site;
    return CHROPROF__RARELY(t - slot->created >= site->slow_limit);
}

/* >>stack: frames come and go, slices and callbacks end. */

/* A frame is gone: what is below it, its path, or loop for a barrier, is on top. */
static void chroprof__uncover(const chroprof *p, chroprof__core *c, const chroprof__frame_row *gone)
{
    c->depth = gone->depth - 1;
    c->account = gone[-1].path;
    if ((gone->kind & CHROPROF__AGED) == 0)
        return;
    chroprof__freshen(c, p->paths + c->account);
    if (c->depth)
        p->frames[c->depth].kind |= CHROPROF__AGED;
}

/* Of the tree: a path of a user's, or its root. */
CHROPROF__INLINE uint32_t chroprof__parent_below(uint32_t path)
{
    return path < CHROPROF__FIRST_PATH ? (uint32_t)CHROPROF__LOOP : path;
}

/* A frame beyond max_depth: only counted, and time is untracked until the last of them is gone. */
CHROPROF__COLD void chroprof__hide(const chroprof *p, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_DEPTH];
    table->dropped++;
    if (c->hidden++ == 0)
        c->hidden_since = t;
    table->wanted = c->hidden > table->wanted ? c->hidden : table->wanted;
    c->account = CHROPROF__UNTRACKED;
    c->time_limit = t;              /* until they are gone no event takes the fast path */
    chroprof__push_none(p);
}

CHROPROF__COLD void chroprof__unhide(chroprof *p, uint32_t frames, uint64_t t)
{
    chroprof__core *c = p->core;
    c->hidden -= frames;
    if (c->hidden)
        return;
    p->frames[c->depth].start += t - c->hidden_since;
    c->account = p->frames[c->depth].path;
    chroprof__freshen(c, p->paths + c->account);
}

/* A frame that comes on the stack at profile time t. */
typedef struct chroprof__pushed {
    uint32_t below;            /* depth of the frame under it */
    uint32_t path, kind;
    uint64_t t;
} chroprof__pushed;

/* Puts a frame on the stack above another; the caller has checked that there is room, and that its
 * path is of the present window. */
CHROPROF__INLINE chroprof__frame_row *chroprof__push(chroprof__core *c, chroprof__frame_row *below,
                                                     chroprof__pushed n)
{
    chroprof__frame_row *frame = below + 1;
    c->depth = n.below + 1;
    CHROPROF__READ_AGAIN();                 /* else gcc puts two stores together, at a cost */
    frame->pushed = n.t;
    frame->start = n.t;
    frame->path = n.path;
    frame->kind = n.kind;
    frame->event = (uint32_t)c->seq;
    c->account = n.path;
    return frame;
}

CHROPROF__INLINE bool chroprof__no_room(const chroprof__core *c)
{
    return c->depth == c->tables[CHROPROF_TABLE_DEPTH].capacity;
}

/* Of a future that rests since the last poll: did the loop itself create it? */
static bool chroprof__brought(const chroprof__path_row *row, const chroprof__future_row *slot)
{
    return slot->state == CHROPROF_PENDING && row->parent == CHROPROF__LOOP;
}

/* What the loop begins, tells or ends outside of tasks, the last poll is taken to have found. It
 * had waited no longer than since the poll before, nor than its future rests: half of that on
 * average. A future that came to rest since the poll was not found by it, but one that the loop
 * itself created. */
CHROPROF__INLINE void chroprof__count_found(const chroprof__core *c, chroprof__path_row *row,
                                            const chroprof__future_row *slot)
{
    uint64_t most = c->iteration.start - slot->since;
    if (CHROPROF__RARELY((int64_t)most <= 0)) {
        if (!chroprof__brought(row, slot))
            return;
        most = UINT64_MAX;
    }
    row->found++;
    CHROPROF__READ_AGAIN();                 /* as in chroprof__begin_iteration */
    row->hidden += most < c->iteration.hidden ? most : c->iteration.hidden;
}

/* Does a future that rests come up outside of tasks? */
CHROPROF__INLINE bool chroprof__comes_up(const chroprof__core *c, const chroprof__future_row *slot)
{
    return c->depth == c->barrier && c->hidden == 0 &&
           (slot->state == CHROPROF_PENDING || slot->state == CHROPROF_PAUSED);
}

static void chroprof__may_be_found(const chroprof *p, const chroprof__future_row *slot)
{
    if (chroprof__comes_up(p->core, slot))
        chroprof__count_found(p->core, p->paths + slot->path, slot);
}

/* When it came is told. What is later than its record is its delay. */
static void chroprof__tell_found(const chroprof *p, const chroprof__future_row *slot, uint64_t at)
{
    const chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + slot->path;
    bool rested = slot->since < c->iteration.start;
    if (!chroprof__comes_up(c, slot) || (!rested && !chroprof__brought(row, slot)))
        return;
    row->found++;
    row->hidden += rested ? 0 : 2 * chroprof__minus(c->iteration.start, at);
}

/* A call of the loop has ended. */
CHROPROF__INLINE void chroprof__end_found(const chroprof__core *c, chroprof__path_row *row)
{
    row->found++;
    CHROPROF__READ_AGAIN();
    row->hidden += c->iteration.hidden;
}

/* A future became ready at profile time `at`, not later than now. */
CHROPROF__INLINE void chroprof__begin_ready(chroprof *p, chroprof__future_row *slot, uint64_t at)
{
    chroprof__path_row *row = p->paths + slot->path;
    p->core->ready++;
    row->ready++;
    row->delay -= at;
    slot->since = at;
    slot->flags = slot->state == CHROPROF_PENDING ? 0 : CHROPROF__STARTED;
    slot->state = CHROPROF_READY;
}

CHROPROF__INLINE void chroprof__end_delay(chroprof *p, const chroprof__future_row *slot, uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    p->core->ready--;
    row->ready--;
    row->delay += t;
    chroprof__raise(&row->delay_max, t - slot->since);
}

static void chroprof__end_ready(chroprof *p, const chroprof__future_row *slot, uint64_t t)
{
    uint32_t row = p->paths[slot->path].histogram;
    chroprof__end_delay(p, slot, t);
    chroprof__histogram_add(p, &p->histograms[row].delay, t - slot->since);
}

/* The last frame of a live future is gone. */
CHROPROF__INLINE void chroprof__come_to_rest(chroprof__future_row *slot, uint64_t t)
{
    slot->state = CHROPROF_PAUSED;
    slot->flags = 0;
    slot->since = t;
}

CHROPROF__INLINE void chroprof__rest(chroprof *p, chroprof__future_row *slot, uint64_t t)
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
CHROPROF__COLD uint64_t chroprof__orphan_exec(chroprof *p, const chroprof__frame_row *frame,
                                              uint64_t slice)
{
    uint64_t exec = frame->carried + slice;
    if (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        p->frames[frame->same].carried += exec;
        p->frames[frame->same].kind |= CHROPROF__NEWEST;
    }
    return exec;
}

/* Is it the frame of a future that has finished while its code ran? */
static bool chroprof__lasts(const chroprof__frame_row *frame)
{
    return frame->kind & CHROPROF__ORPHAN && !(frame->kind & CHROPROF__UNKNOWN);
}

/* What popping a frame with an id does to its future's slot. Returns the exec of the future so
 * far. */
static uint64_t chroprof__leave_slot(chroprof *p, const chroprof__frame_row *frame, uint64_t slice,
                                     uint64_t t)
{
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    slot->frame = frame->same;
    if (slot->flags & CHROPROF__REMEMBERED)
        p->frames[slot->frame].kind |= slot->frame ? CHROPROF__TENDED : 0;
    if (CHROPROF__RARELY(frame->kind & CHROPROF__ORPHAN)) {
        uint64_t exec = chroprof__orphan_exec(p, frame, slice);
        p->paths[frame->path].lifetime += chroprof__lasts(frame) ? slice : 0;
        if (slot->frame == 0 && slot->state == CHROPROF__GONE)
            chroprof__free_slot(p, slot);
        return exec;
    }
    slot->exec += slice;
    if (slot->frame == 0 || p->frames[slot->frame].kind & CHROPROF__ORPHAN)
        chroprof__rest(p, slot, t);
    return slot->exec;
}

/* A slice of a future: its exec so far may be the largest. */
CHROPROF__INLINE void chroprof__end_activation(chroprof__path_row *row, uint64_t exec)
{
    row->activations++;
    chroprof__raise(&row->exec_max, exec);
}

/* The call of an enter-frame has ended. */
CHROPROF__INLINE void chroprof__end_call(chroprof__path_row *row, uint64_t length)
{
    row->entered++;
    row->lifetime += length;
}

CHROPROF__COLD void chroprof__long_callback(chroprof *p, const chroprof__frame_row *base,
                                        uint64_t length)
{
    chroprof__core *c = p->core;
    chroprof__raise(&c->loop.callback_max, length);
    c->callback.limit = chroprof__length_limit(c, c->loop.callback_max);
    if (length > c->stall_ticks)
        chroprof__callback_stalled(p, base, length);
}

CHROPROF__COLD void chroprof__long_iteration(chroprof *p, uint64_t length)
{
    chroprof__core *c = p->core;
    chroprof__raise(&c->loop.iteration_max, length);
    c->iteration.limit = chroprof__length_limit(c, c->loop.iteration_max);
    if (length > c->stall_ticks)
        chroprof__iteration_stalled(p, length);
}

/* Time of a nested loop, or of on_stall, is neither of the slice nor of the callback that it is
 * in. */
static void chroprof__leave_out(chroprof *p, uint64_t ticks)
{
    const chroprof__core *c = p->core;
    chroprof__frame_row *base = p->frames + c->barrier + 1;
    if (c->depth <= c->barrier)
        return;
    if (!(base->kind & CHROPROF__PARTED))
        base->excluded = 0;
    base->kind |= CHROPROF__PARTED;
    base->excluded += ticks;
}

CHROPROF__COLD void chroprof__pop_barrier(chroprof *p, const chroprof__frame_row *barrier,
                                          uint64_t t)
{
    chroprof__core *c = p->core;
    c->barrier = barrier->slot;
    c->barriers--;
    chroprof__uncover(p, c, barrier);
    chroprof__leave_out(p, t - barrier->pushed);
    p->frames[c->depth].start += t - barrier->pushed;
}

/* The activation of the top frame, which is no barrier, ends; row is that of its path. Its row in
 * the ring still tells its depth. */
static void chroprof__pop(chroprof *p, chroprof__core *c, chroprof__path_row *row, uint64_t t)
{
    chroprof__frame_row *frame = p->frames + c->depth;
    uint64_t slice = t - frame->start, length = t - frame->pushed;
    bool base = c->depth == c->barrier + 1;
    chroprof__raise(&row->slice_max, slice);
    chroprof__histogram_add(p, &p->histograms[row->histogram].slice, slice);
    if (frame->kind & CHROPROF__ENTER_FRAME) {
        chroprof__end_call(row, length);
        if (base && (frame->pushed >= c->iteration.start || !c->loop.iteration_active))
            chroprof__end_found(c, row);
    } else {
        chroprof__end_activation(row, chroprof__leave_slot(p, frame, slice, t));
    }
    if (CHROPROF__RARELY(row->histogram == 0) && p->percentiles)
        chroprof__claim_histograms(p, row);
    if (base && frame->kind & CHROPROF__PARTED)
        length -= frame->excluded;
    if (base)
        chroprof__count_callback(p, c, length, chroprof__countable(length));
    else
        frame[-1].start += length;
    if (base && length > c->callback.limit)
        chroprof__long_callback(p, frame, length);
    chroprof__uncover(p, c, frame);
}

/* Ends the top frame, whatever it is. */
CHROPROF__COLD void chroprof__pop_any(chroprof *p, chroprof__core *c, uint64_t t)
{
    const chroprof__frame_row *frame = p->frames + c->depth;
    if (frame->kind & CHROPROF__BARRIER)
        chroprof__pop_barrier(p, frame, t);
    else
        chroprof__pop(p, c, p->paths + frame->path, t);
}

/* Takes frames off until depth is reached, hidden ones first; each is counted as kind. */
CHROPROF__COLD void chroprof__unwind(chroprof *p, uint32_t depth, chroprof_anomaly_kind kind,
                                     uint64_t t)
{
    chroprof__core *c = p->core;
    const uint32_t top = c->account;
    if (c->hidden) {
        chroprof__met place = { t, 0, CHROPROF__LOOP, CHROPROF__UNTRACKED };
        chroprof__count_at(c, kind, c->hidden, place);
        chroprof__unhide(p, c->hidden, t);
    }
    while (c->depth > depth) {
        const chroprof__frame_row *frame = p->frames + c->depth;
        chroprof__met place = { t, frame->id, chroprof__parent_below(frame->path), top };
        if (frame->kind & CHROPROF__BARRIER)
            chroprof__count(p, CHROPROF_ANOMALY_BARRIER_CROSSED);
        else
            chroprof__count_at(c, kind, 1, place);
        chroprof__pop_any(p, c, t);
    }
}

/* >>events: one function a kind of event, whatever it meets. Each gets profile time t, with the
 * interval up to it billed. */

/* A future's record is about to go while it has frames: they lose it. Its lifetime goes on as long
 * as its code runs: by the slices of these frames, of which it has what there is by now. */
static void chroprof__orphan_frames(chroprof *p, const chroprof__future_row *slot)
{
    uint32_t k = slot->frame, last = 0;
    if (k == 0 || p->frames[k].kind & CHROPROF__ORPHAN)
        return;
    p->frames[k].kind |= CHROPROF__NEWEST;
    for (; k && !(p->frames[k].kind & CHROPROF__ORPHAN); k = p->frames[k].same) {
        p->frames[k].carried = last ? 0 : slot->exec;
        p->frames[k].kind |= CHROPROF__ORPHAN;
        p->paths[p->frames[k].path].lifetime -= chroprof__frame_slice(p, k);
        last = k;
    }
    p->frames[last].kind |= CHROPROF__OLDEST;
}

/* A live future's life ends; its slot stays only as long as it has frames. */
CHROPROF__INLINE void chroprof__end_life(chroprof *p, chroprof__core *c, chroprof__future_row *slot,
                                         uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    row->live--;
    row->lifetime += t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__LIKELY(slot->frame == 0)) {
        chroprof__free_slot(p, slot);
        return;
    }
    chroprof__orphan_frames(p, slot);
    slot->state = CHROPROF__GONE;
    slot->flags = 0;
}

/* A future's life begins in this slot. */
CHROPROF__INLINE void chroprof__begin_life(chroprof__path_row *row, chroprof__table_row *table,
                                           chroprof__future_row *slot, uint64_t id, uint64_t t)
{
    row->live++;
    row->lifetime -= t;
    if (++table->used > table->peak)
        table->peak = table->used;
    slot->id = id;
    slot->since = t;
    slot->created = t;
    slot->exec = 0;
    slot->state = CHROPROF_PENDING;
    slot->flags = 0;
}

/* How many futures the search for the oldest compares. A third of the slots and as many as
 * max_depth are empty, so it looks at no more slots than it needs for that. */
enum { CHROPROF__COMPARED = 64 };

/* Since when a future that may be dropped is in its state; UINT64_MAX: it may not. */
CHROPROF__INLINE uint64_t chroprof__age_key(const chroprof__future_row *slot)
{
    bool kept = (slot->id == 0) | (slot->state == CHROPROF_RUNNING) |
                (slot->state == CHROPROF__GONE);
    return slot->since | (0 - (uint64_t)kept);
}

/* Of the futures from the place of this id on that do not run, the one that has been longest in its
 * state, of several the one with the lowest id. NULL: all run. */
CHROPROF__COLD chroprof__future_row *chroprof__oldest(const chroprof *p, uint64_t id)
{
    chroprof__future_row *slot = chroprof__home(p, id), *oldest = NULL;
    const chroprof__future_row *end = p->futures + p->rows;
    uint32_t most = 4 * CHROPROF__COMPARED + 2 * p->core->tables[CHROPROF_TABLE_DEPTH].capacity;
    uint32_t left = p->rows < most ? p->rows : most, compared = 0;
    uint64_t best = UINT64_MAX - 1;
    for (; left > 0 && compared < CHROPROF__COMPARED; left--) {
        uint64_t key = chroprof__age_key(slot);
        compared += key != UINT64_MAX;
        if (key <= best && (key < best || !oldest || slot->id < oldest->id)) {
            best = key;
            oldest = slot;
        }
        if (++slot == end)
            slot = p->futures;
    }
    return oldest;
}

/* The table is full: the oldest future makes room for this id. False: there is none. */
CHROPROF__COLD bool chroprof__make_room(chroprof *p, uint64_t id, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *oldest = chroprof__oldest(p, id);
    c->tables[CHROPROF_TABLE_FUTURES].dropped++;
    c->ever_dropped = 1;
    if (!oldest)
        return false;
    p->paths[oldest->path].dropped++;
    chroprof__end_life(p, c, oldest, t);
    return true;
}

/* A new live future on a path. NULL: it is a call that nobody sees again. */
CHROPROF__NOINLINE chroprof__future_row *chroprof__create(chroprof *p, chroprof__core *c,
                                                          uint64_t id, uint32_t path, uint64_t t)
{
    chroprof__path_row *row = p->paths + path;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_FUTURES];
    chroprof__future_row *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id == id && slot->state != CHROPROF__GONE)) {
        p->paths[slot->path].abandoned++;
        chroprof__end_life(p, c, slot, t);
        slot = chroprof__find(p, id);
    }
    if (CHROPROF__RARELY(table->used == table->capacity)) {
        if (!chroprof__make_room(p, id, t)) {
            row->dropped++;
            return NULL;
        }
        slot = chroprof__find(p, id);
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
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    site = site ? site : &unnamed;
    chroprof__create(p, c, id, chroprof__child_of(p, c->account, site), t);
}

/* A future whose frame was hidden runs until that frame is paused. If the hidden frames were
 * unwound meanwhile nobody says so: it rests from the next event on that names it. */
static bool chroprof__lost_its_frame(const chroprof *p, const chroprof__future_row *slot)
{
    const chroprof__core *c = p->core;
    bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
    return slot->state == CHROPROF_RUNNING && !own &&
           (c->hidden == 0 || slot->since < c->hidden_since);
}

static void chroprof__settle(const chroprof *p, chroprof__future_row *slot, uint64_t t)
{
    if (!chroprof__lost_its_frame(p, slot))
        return;
    slot->flags = 0;
    chroprof__come_to_rest(slot, t);
}

static void chroprof__on_ready(chroprof *p, chroprof__core *c, uint64_t id, uint64_t at)
{
    chroprof__future_row *slot = chroprof__find(p, id);
    chroprof__settle(p, slot, c->last);
    if (slot->id != id || slot->state == CHROPROF__GONE) {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_READY);
    } else if (slot->state == CHROPROF_RUNNING) {
        slot->flags |= CHROPROF__REMEMBERED;
        p->frames[slot->frame].kind |= slot->frame ? CHROPROF__TENDED : 0;
    } else if (slot->state != CHROPROF_READY) {
        if (at == c->last)
            chroprof__may_be_found(p, slot);
        else
            chroprof__tell_found(p, slot, at);
        chroprof__begin_ready(p, slot, at > slot->since ? at : slot->since);
        if (CHROPROF__RARELY(slot->since < c->last))
            chroprof__blame_past(p, slot->since);
    }
}

/* The frame is one of this slot's id from now on, and the topmost one. */
CHROPROF__INLINE void chroprof__bind_frame(const chroprof *p, chroprof__frame_row *frame,
                                           chroprof__future_row *slot)
{
    frame->id = slot->id;
    frame->slot = chroprof__words_to(p, slot);
    frame->same = slot->frame;
    if (slot->frame || slot->flags & CHROPROF__REMEMBERED)
        frame->kind |= CHROPROF__TENDED;
    slot->frame = (uint16_t)frame->depth;
}

/* Binds a frame that was pushed plain to a slot without one. */
CHROPROF__INLINE void chroprof__bind_plain(const chroprof *p, chroprof__core *c,
                                           chroprof__frame_row *frame, chroprof__future_row *slot,
                                           uint64_t id)
{
    frame->id = id;
    frame->slot = chroprof__words_to(p, slot);
    frame->same = 0;
    slot->frame = (uint16_t)c->depth;
}

/* A future without a frame is running from now on. */
CHROPROF__INLINE void chroprof__start_running(chroprof *p, chroprof__future_row *slot,
                                              const chroprof__spot *delay, uint64_t t)
{
    if (slot->state == CHROPROF_READY) {
        chroprof__end_delay(p, slot, t);
        chroprof__add_there(delay, t - slot->since);
    }
    slot->state = CHROPROF_RUNNING;
    slot->flags = 0;
    slot->since = t;
}

/* A live future that has no frame of its own on top is running from now on. */
CHROPROF__NOINLINE void chroprof__run(chroprof *p, chroprof__core *c, chroprof__future_row *slot,
                                      uint64_t t)
{
    if (slot->state == CHROPROF_READY)
        chroprof__end_ready(p, slot, t);
    else if (!chroprof__no_room(c))
        chroprof__may_be_found(p, slot);
    if (CHROPROF__LIKELY(slot->state != CHROPROF_RUNNING))
        slot->since = t;
    slot->state = CHROPROF_RUNNING;
    if (CHROPROF__RARELY(chroprof__no_room(c))) {
        chroprof__hide(p, t);
        return;
    }
    chroprof__freshen(c, p->paths + slot->path);
    chroprof__pushed n = { c->depth, slot->path, CHROPROF__FUTURE_FRAME, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    chroprof__bind_frame(p, frame, slot);
}

/* Attached to a program under way: with a site the future is adopted, without it only has a
 * frame. */
CHROPROF__COLD void chroprof__run_unknown(chroprof *p, uint64_t id, const chroprof_site *site,
                                          uint64_t t)
{
    chroprof__core *c = p->core;
    if (site) {
        chroprof__future_row *adopted =
            chroprof__create(p, c, id, chroprof__child_of(p, CHROPROF__LOOP, site), t);
        chroprof__count(p, CHROPROF_ANOMALY_ADOPTED);
        if (adopted) {
            chroprof__run(p, c, adopted, t);
            return;
        }
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_RUNNING);
    }
    const chroprof__frame_row *top = p->frames + c->depth;
    if (!c->hidden && top->id == id && top->kind & CHROPROF__UNKNOWN) {
        chroprof__count(p, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    if (chroprof__no_room(c)) {
        chroprof__hide(p, t);
        return;
    }
    chroprof__future_row *slot = chroprof__find(p, id);
    slot->id = id;
    slot->state = CHROPROF__GONE;
    uint32_t kind = CHROPROF__FUTURE_FRAME | CHROPROF__ORPHAN | CHROPROF__NEWEST |
                    CHROPROF__OLDEST | CHROPROF__UNKNOWN;
    chroprof__pushed n = { c->depth, CHROPROF__UNTRACKED, kind, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    chroprof__bind_frame(p, frame, slot);
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
    chroprof__future_row *slot = chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__run_unknown(p, id, site, t);
        return;
    }
    chroprof__settle(p, slot, t);
    if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING) && chroprof__on_top(p, c, id) &&
        !(p->frames[c->depth].kind & CHROPROF__ORPHAN)) {
        chroprof__count(p, CHROPROF_ANOMALY_LOST_PAUSE);
        chroprof__pop_any(p, c, t);
    }
    chroprof__run(p, c, slot, t);
}

/* A pause of what is not on top. */
CHROPROF__COLD void chroprof__pause_buried(chroprof *p, uint64_t id, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *slot = chroprof__find(p, id);
    chroprof__settle(p, slot, t);
    if (slot->id != id) {
        chroprof__count(p, CHROPROF_ANOMALY_UNKNOWN_PAUSED);
    } else if (slot->frame) {
        chroprof__unwind(p, slot->frame, CHROPROF_ANOMALY_UNWOUND_BY_PAUSE, t);
        chroprof__pop_any(p, c, t);
    } else if (slot->state == CHROPROF_RUNNING) {
        if (c->hidden)
            chroprof__unhide(p, 1, t);
        chroprof__rest(p, slot, t);
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_NOT_RUNNING);
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
    p->paths[chroprof__child_of(p, p->core->account, site)].stillborn++;
}

/* A finish of an id that is no live future. */
CHROPROF__COLD void chroprof__finish_unknown(chroprof *p, uint64_t id, const chroprof_site *site)
{
    if (site && !(id && p->core->ever_dropped))
        chroprof__on_stillborn(p, site);
    else
        chroprof__count(p, id ? CHROPROF_ANOMALY_UNKNOWN_FINISH : CHROPROF_ANOMALY_ID_ZERO);
}

/* A future has finished, and so its latency is known. */
CHROPROF__INLINE void chroprof__count_finish(chroprof *p, const chroprof__future_row *slot,
                                             chroprof_state state, uint64_t t)
{
    chroprof__path_row *row = p->paths + slot->path;
    if (state == CHROPROF_COMPLETED)
        row->completed++;
    else if (state == CHROPROF_FAILED)
        row->failed++;
    else
        row->cancelled++;
    chroprof__raise(&p->histograms[row->histogram].latency_max, t - slot->created);
}

static void chroprof__finish_slot(chroprof *p, const chroprof__future_row *slot,
                                  chroprof_state state, uint64_t t)
{
    uint32_t row = p->paths[slot->path].histogram;
    chroprof__count_finish(p, slot, state, t);
    chroprof__histogram_add(p, &p->histograms[row].latency, t - slot->created);
    if (chroprof__is_slow(p, p->core, slot, t))
        chroprof__keep_slow(p, slot, slot->exec + chroprof__open_exec(p, slot), state, t);
}

/* A finish of a running future that was not on top. */
CHROPROF__COLD void chroprof__finish_buried(chroprof *p, const chroprof__future_row *slot,
                                            uint64_t t)
{
    if (slot->frame)
        chroprof__count(p, CHROPROF_ANOMALY_BURIED_FINISH);
    else if (p->core->hidden)
        chroprof__unhide(p, 1, t);
}

/* A finish while a frame of this id is on top that is not its live future's. That frame is another
 * one's, unless there is no such future: then it is what runs, and its code is over. */
CHROPROF__COLD void chroprof__finish_on_orphan(chroprof *p, chroprof_state state, uint64_t id,
                                               const chroprof_site *site, uint64_t t)
{
    chroprof__core *c = p->core;
    chroprof__future_row *slot = chroprof__find(p, id);
    if (slot->state == CHROPROF__GONE) {
        chroprof__pop_any(p, c, t);
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (slot->state == CHROPROF_RUNNING)
        chroprof__finish_buried(p, slot, t);
    chroprof__finish_slot(p, slot, state, t);
    chroprof__end_life(p, c, slot, t);
}

CHROPROF__INLINE void chroprof__on_finish(chroprof *p, chroprof__core *c, chroprof_state state,
                                          uint64_t id, const chroprof_site *site, uint64_t t)
{
    const chroprof__frame_row *top = p->frames + c->depth;
    bool on_top = chroprof__on_top(p, c, id);
    if (CHROPROF__RARELY(on_top && top->kind & CHROPROF__ORPHAN)) {
        chroprof__finish_on_orphan(p, state, id, site, t);
        return;
    }
    chroprof__future_row *slot = on_top ? chroprof__slot_of(p, top) : chroprof__find(p, id);
    if (CHROPROF__RARELY(slot->id != id || slot->state == CHROPROF__GONE)) {
        chroprof__finish_unknown(p, id, site);
        return;
    }
    if (!on_top)
        chroprof__settle(p, slot, t);
    if (CHROPROF__LIKELY(on_top))
        chroprof__pop(p, c, p->paths + c->account, t);
    else if (CHROPROF__RARELY(slot->state == CHROPROF_RUNNING))
        chroprof__finish_buried(p, slot, t);
    else
        chroprof__may_be_found(p, slot);
    chroprof__finish_slot(p, slot, state, t);
    chroprof__end_life(p, c, slot, t);
}

/* Pauses the innermost future above the barrier, unwinding enter-frames above it, and runs id. */
static void chroprof__on_switch(chroprof *p, chroprof__core *c, uint64_t id, uint64_t t)
{
    uint32_t runner = c->depth;
    while (runner > c->barrier && p->frames[runner].id == 0)
        runner--;
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (runner > c->barrier) {
        chroprof__unwind(p, runner, CHROPROF_ANOMALY_UNWOUND_BY_SWITCH, t);
        chroprof__pop_any(p, c, t);
    }
    if (id)
        chroprof__on_running(p, c, id, NULL, t);
}

/* An enter-frame above depth: it has no id, and the futures below it remain what they are. Its call
 * is counted when it ends; reads find what is under way on the stack. */
CHROPROF__INLINE void chroprof__push_call(chroprof__core *c, chroprof__frame_row *below,
                                          uint32_t depth, uint32_t path, uint64_t t)
{
    chroprof__pushed n = { depth, path, CHROPROF__ENTER_FRAME, t };
    chroprof__push(c, below, n)->id = 0;
}

static void chroprof__on_enter(chroprof *p, chroprof__core *c, const chroprof_site *site,
                               uint64_t t)
{
    if (site == NULL)
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    else if (chroprof__no_room(c))
        chroprof__hide(p, t);
    else
        chroprof__push_call(c, p->frames + c->depth, c->depth,
                            chroprof__child_of(p, c->account, site), t);
}

static void chroprof__on_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (c->hidden)
        chroprof__unhide(p, 1, t);
    else if (p->frames[c->depth].kind & CHROPROF__ENTER_FRAME)
        chroprof__pop(p, c, p->paths + c->account, t);
    else
        chroprof__count(p, CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER);
}

static void chroprof__on_next(chroprof *p, chroprof__core *c, const chroprof_site *site,
                              uint64_t t)
{
    if (c->hidden || p->frames[c->depth].kind & CHROPROF__ENTER_FRAME)
        chroprof__on_leave(p, c, t);
    chroprof__on_enter(p, c, site, t);
    if (site == NULL)
        chroprof__push_none(p);
}

CHROPROF__INLINE void chroprof__push_barrier(const chroprof *p, chroprof__core *c, uint64_t t)
{
    chroprof__pushed n = { c->depth, CHROPROF__LOOP, CHROPROF__BARRIER, t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + c->depth, n);
    frame->id = 0;
    frame->slot = c->barrier;
    c->barrier = c->depth;
    c->barriers++;
}

static void chroprof__on_loop_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (chroprof__no_room(c))
        chroprof__hide(p, t);
    else
        chroprof__push_barrier(p, c, t);
}

static void chroprof__on_loop_leave(chroprof *p, chroprof__core *c, uint64_t t)
{
    if (c->hidden) {
        chroprof__unhide(p, 1, t);
    } else if (c->barrier) {
        chroprof__unwind(p, c->barrier, CHROPROF_ANOMALY_UNWOUND_BY_LOOP, t);
        chroprof__pop_any(p, c, t);
    } else {
        chroprof__count(p, CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER);
    }
}

static void chroprof__on_idle_enter(chroprof *p, chroprof__core *c, uint64_t t)
{
    chroprof__unwind(p, c->barrier, CHROPROF_ANOMALY_UNWOUND_BY_IDLE, t);
    uint64_t length = t - c->iteration.start;
    if (c->loop.iteration_active) {
        chroprof__count_iteration(p, c, length, chroprof__countable(length));
        if (length > c->iteration.limit)
            chroprof__long_iteration(p, length);
        c->loop.iteration_callback = 0;
    }
    c->account = CHROPROF__IDLE;
    chroprof__set_time_limit(c);
}

/* Opening the event has ended the idle already, if there was one: then the iteration under way
 * began with this event. */
static void chroprof__on_idle_leave(const chroprof *p, const chroprof__core *c)
{
    if (!c->loop.iteration_active || c->iteration.event != c->seq >> 1)
        chroprof__count(p, CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER);
}

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
    case CHROPROF_IDLE_LEAVE: chroprof__on_idle_leave(p, c); break;
    case CHROPROF_LOOP_ENTER: chroprof__on_loop_enter(p, c, t); break;
    case CHROPROF_LOOP_LEAVE: chroprof__on_loop_leave(p, c, t); break;
    case CHROPROF_ENTER: chroprof__on_enter(p, c, site, t); break;
    case CHROPROF_LEAVE: chroprof__on_leave(p, c, t); break;
    case CHROPROF_TICK: break;
    case CHROPROF_SWITCH: chroprof__on_switch(p, c, id, t); break;
    case CHROPROF_NEXT: chroprof__on_next(p, c, site, t); break;
    default: chroprof__count(p, CHROPROF_ANOMALY_BAD_STATE); break;
    }
}

/* A state that means a future, and id 0, which is none: a finish can be a stillborn. */
CHROPROF__COLD void chroprof__without_id(chroprof *p, chroprof_state state,
                                         const chroprof_site *site)
{
    if (state >= CHROPROF_COMPLETED)
        chroprof__finish_unknown(p, 0, site);
    else
        chroprof__count(p, CHROPROF_ANOMALY_ID_ZERO);
}

/* ---- who begins a task, while the sampler runs. Most tasks of a path begin at one place, with the
 * same functions around it, at the same depth of the stack. The fast path sees that it is so by the
 * stack pointer and two return addresses. Whoever begins one elsewhere is noted, after the event
 * (chroprof__begin_slowly). No sanitizer looks at these words: they are read by assembly. */
#if CHROPROF__KNOWS_CALLERS
CHROPROF__INLINE uint64_t chroprof__caller_base(void)
{
    uint64_t base;
#ifdef __x86_64__
    __asm__ volatile("mov %%rsp, %0" : "=r"(base));
#else
    __asm__ volatile("mov %0, sp" : "=r"(base));
#endif
    return base;
}

/* Was it the stack pointer of a caller? base: the one to compare with, 0: that of now. */
CHROPROF__INLINE bool chroprof__was_stack(const uint64_t *of, uint64_t base)
{
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    bool same = *of == base;
    if (base == 0)
        __asm__ volatile("cmp %%rsp, %1" : "=@cce"(same) : "m"(*of));
    return same;
#else
    return *of == (base ? base : chroprof__caller_base());
#endif
}

/* at: bytes from the core to a row of callers. */
CHROPROF__INLINE bool chroprof__is_caller(const chroprof__core *c, uint64_t at, uint64_t base)
{
#define CHROPROF__CALLER ((const chroprof__caller *)(const void *)((const char *)c + at))
    if (CHROPROF__RARELY(!chroprof__was_stack(&CHROPROF__CALLER->base, base)))
        return false;
    CHROPROF__ONE_WORD(at);                 /* each load adds by itself */
    uint64_t second = CHROPROF__CALLER->at[1];
    CHROPROF__ONE_WORD(at);
    uint64_t product = CHROPROF__CALLER->at[0];
    CHROPROF__ONE_WORD(at);
#ifdef __x86_64__
    __asm__ volatile("mov (%0), %0\n\timul (%1), %0" : "+r"(product) : "r"(second) : "cc");
#else
    __asm__ volatile("ldr %0, [%0]\n\tldr %1, [%1]\n\tmul %0, %0, %1"
                     : "+r"(product), "+r"(second));
#endif
    return CHROPROF__LIKELY(product == CHROPROF__CALLER->product);
#undef CHROPROF__CALLER
}
#else
CHROPROF__INLINE uint64_t chroprof__caller_base(void)
{
    return 1;
}

CHROPROF__INLINE bool chroprof__is_caller(const chroprof__core *c, uint64_t at, uint64_t base)
{
    (void)c;
    return at != 0 && base == 0;      /* never asked */
}
#endif

/* Is the stack as the row of callers at so many bytes from the core has it? What the moment says
 * of the stack is read again: no fast path has to keep it. */
CHROPROF__INLINE bool chroprof__is_known_caller(const chroprof__core *c, uint32_t at,
                                                uint64_t base, chroprof__moment *m)
{
    if (CHROPROF__RARELY(!chroprof__is_caller(c, at, base)))
        return false;
    CHROPROF__READ_AGAIN();
    m->account = c->account;
    return true;
}

CHROPROF__INLINE bool chroprof__reads_again(void)
{
    CHROPROF__READ_AGAIN();
    return true;
}

/* Who asks has this in line. */
#define CHROPROF__KNOWS_CALLER(p, at, base, m)                                                     \
    (CHROPROF__RARELY(!(p)->asks) ||                                                               \
     (chroprof__reads_again() && chroprof__is_known_caller(c, at, base, m)))

/* >>fast: the fast path of each event, next to nothing but what has to be done. Whatever is rare
 * is asked for at once, before anything changes, and takes the slow path. Both are made of the
 * same parts. */

/* Events come from one thread at a time. The fast paths do not ask which, so a look here that
 * finds another one than before has some of the next events take the slow path too, now and then.
 * Between two looks without an event in between, the thread may change only if the stack is
 * empty. */
enum { CHROPROF__WATCHED_EVENTS = 64, CHROPROF__WATCHES_APART = 1024 };
static void chroprof__look_at_thread(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__front *front = chroprof__front_of(c);
    uint64_t self = chroprof__thread();
    if (self != front->thread && front->thread != 0) {
        if (c->seq - front->looked == 2 && chroprof__ring_of(p, c, c->seq)->depth != 0)
            chroprof__count(p, CHROPROF_ANOMALY_THREAD);
        if (front->watch == 0 || c->seq - front->watch >= 2 * CHROPROF__WATCHES_APART)
            front->watch = c->seq;
    }
    front->thread = self;
    front->looked = c->seq;
    if (front->watch != 0 && c->seq - front->watch < 2 * CHROPROF__WATCHED_EVENTS)
        c->time_limit = c->last;
}

/* The slow path of an event, whatever it meets. */
CHROPROF__NOINLINE void chroprof__slow_path(chroprof *p, chroprof_state state, uint64_t id,
                                            const chroprof_site *site, uint64_t now)
{
    if (chroprof__in_child(p))
        return;
    uint64_t t = chroprof__begin_event(p, state, id, now);
    if (state <= CHROPROF_CANCELLED && id == 0)
        chroprof__without_id(p, state, site);
    else
        chroprof__dispatch(p, p->core, state, id, site, t);
    chroprof__look_at_thread(p);
    chroprof__close_event(p->core);
    if (p->stalls_due)
        p->tell(p);
    if (p->asks)
        p->follow(p, 0, CHROPROF__BEGINS_NONE);
}

/* A task begins in the slow path. The record of the function that sent the event is read first: the
 * place of this one's own is free as soon as it has jumped elsewhere. base: the stack pointer. */
CHROPROF__COLD void chroprof__begin_slowly(chroprof *p, chroprof_state state, uint64_t id,
                                           const chroprof_site *site, uint64_t now, uint64_t base)
{
#if CHROPROF__SAMPLES
    if (p->asks && !chroprof__in_child(p)) {
        const void *own = __builtin_frame_address(0);
        uintptr_t record = chroprof__stack_word((uintptr_t)own);
        chroprof__sampler *s = chroprof__sampler_of(p->core);
        chroprof__poke64(&s->noting, 1);
        p->asks = false;
        chroprof__slow_path(p, state, id, site, now);
        if (p->sampling)
            p->follow(p, record, base);
        p->asks = p->sampling && p->gate == CHROPROF__OPEN_GATE;
        chroprof__poke64(&s->noting, 0);
        return;
    }
#endif
    (void)base;
    chroprof__slow_path(p, state, id, site, now);
}

/* Is this the slot of a live future without a frame? An empty one has id 0. */
CHROPROF__INLINE bool chroprof__waits(const chroprof__future_row *slot, uint64_t id)
{
    return slot->id == id && id != 0 && slot->frame == 0 && slot->state <= CHROPROF_PAUSED &&
           slot->state != CHROPROF_RUNNING;
}

/* Was it paused, and is nothing else known of it? Most that run are. An empty slot was not. */
CHROPROF__INLINE bool chroprof__rests(const chroprof__future_row *slot)
{
    return slot->frame == 0 && slot->state == CHROPROF_PAUSED && slot->flags == 0;
}

/* Was it created, and nothing else? */
CHROPROF__INLINE bool chroprof__is_new(const chroprof__future_row *slot, uint64_t id)
{
    return slot->frame == 0 && slot->state == CHROPROF_PENDING && slot->flags == 0 &&
           slot->id == id && id != 0;
}

/* May this future run, and is there a place for the delay that it has then, if it is ready? */
CHROPROF__INLINE bool chroprof__may_run(const chroprof *p, const chroprof__core *c,
                                        const chroprof__future_row *slot, uint64_t id, uint64_t t,
                                        chroprof__spot *delay)
{
    const chroprof__path_row *path = p->paths + slot->path;
    if (CHROPROF__LIKELY(chroprof__rests(slot)))
        return path->window == c->window;
    return chroprof__waits(slot, id) && path->window == c->window &&
           (slot->state != CHROPROF_READY ||
            chroprof__find_spot(p, &p->histograms[path->histogram].delay,
                                chroprof__bucket(t - slot->since), delay));
}

/* Where there is room for the lifetime of a future that finishes now. False: nowhere. */
CHROPROF__INLINE bool chroprof__latency_spot(const chroprof *p, const chroprof__future_row *slot,
                                           uint64_t t, chroprof__spot *spot)
{
    uint32_t row = p->paths[slot->path].histogram;
    return chroprof__find_spot(p, &p->histograms[row].latency, chroprof__bucket(t - slot->created),
                                spot);
}

CHROPROF__INLINE bool chroprof__is_base(const chroprof__frame_row *frame)
{
    return (frame[-1].kind & CHROPROF__BARRIER) != 0;
}

/* May the activation of the top frame just be added up? A callback is looked at beyond its
 * limit. */
CHROPROF__INLINE bool chroprof__may_end(const chroprof__core *c, const chroprof__frame_row *frame,
                                        uint32_t kind, uint64_t length)
{
    return frame->kind == kind && (!chroprof__is_base(frame) || length <= c->callback.limit);
}

/* The slice of a plain frame ends, and its activation: its callback ends with it, or the frame
 * below goes on. */
CHROPROF__INLINE void chroprof__end_frame(const chroprof *p, chroprof__core *c,
                                          chroprof__path_row *row, chroprof__frame_row *frame,
                                          bool base, uint64_t slice, uint64_t length)
{
    chroprof__raise(&row->slice_max, slice);
    if (base)
        chroprof__count_callback(p, c, length, length);
    else
        frame[-1].start += length;
}

/* The slice and the activation of a plain frame of a future end. Returns the slice. */
CHROPROF__INLINE uint64_t chroprof__end_run(const chroprof *p, chroprof__core *c,
                                            chroprof__path_row *row, chroprof__frame_row *frame,
                                            bool base, uint64_t t)
{
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    uint64_t slice = t - frame->start;
    uint64_t exec = slot->exec + slice;
    slot->exec = exec;
    slot->frame = 0;
    chroprof__come_to_rest(slot, t);
    chroprof__end_activation(row, exec);
    chroprof__end_frame(p, c, row, frame, base, slice, t - frame->pushed);
    return slice;
}

/* The slice and the activation of a plain frame of a call end. Returns the slice. */
CHROPROF__INLINE uint64_t chroprof__end_enter(const chroprof *p, chroprof__core *c,
                                              chroprof__path_row *row, chroprof__frame_row *frame,
                                              bool base, uint64_t t, uint64_t length)
{
    uint64_t slice = t - frame->start;
    chroprof__end_call(row, length);
    chroprof__end_frame(p, c, row, frame, base, slice, length);
    if (base)
        chroprof__end_found(c, row);
    return slice;
}

/* The frame below is on top. */
CHROPROF__INLINE void chroprof__drop_frame(chroprof__core *c, const chroprof__frame_row *frame)
{
    c->account = frame[-1].path;
    c->depth = frame[-1].depth;
}

CHROPROF__COLD void chroprof__count_shortest_and_close(const chroprof *p,
                                                       const chroprof__path_row *row,
                                                       uint64_t slice)
{
    chroprof__count_shortest(p, row, slice);
    chroprof__close_event(p->core);
}

CHROPROF__COLD void chroprof__carry_and_close(const chroprof *p, uint64_t full)
{
    chroprof__carry(p, full);
    chroprof__close_event(p->core);
}

/* Counts a slice and closes the event: calls at the end need no stack of ours. */
CHROPROF__INLINE void chroprof__count_and_close(const chroprof *p, chroprof__core *c,
                                                const chroprof__path_row *row, uint64_t slice)
{
    uint64_t full;
    if (CHROPROF__RARELY(chroprof__is_shortest(c, row, slice)))
        chroprof__count_shortest_and_close(p, row, slice);
    else if (CHROPROF__LIKELY(chroprof__defer_slice(c, row, slice, &full)))
        chroprof__close_event(c);
    else
        chroprof__carry_and_close(p, full);
}

/* Counts a slice in the middle of an event. */
CHROPROF__INLINE void chroprof__count_slice(const chroprof *p, chroprof__core *c,
                                            const chroprof__path_row *row, uint64_t slice)
{
    uint64_t full;
    if (CHROPROF__RARELY(chroprof__is_shortest(c, row, slice)))
        chroprof__count_shortest(p, row, slice);
    else if (CHROPROF__RARELY(!chroprof__defer_slice(c, row, slice, &full)))
        chroprof__carry(p, full);
}

CHROPROF__NOINLINE void chroprof__take_pending(chroprof *p, uint64_t id, const chroprof_site *site,
                                               chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_FUTURES];
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    const chroprof__shortcut *s = chroprof__remembered(p, &c->window, site);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || id == 0 || slot->id != 0 || !s ||
                         table->used == table->capacity)) {
        chroprof__slow_path(p, CHROPROF_PENDING, id, site, chroprof__now_of(c, &m));
        return;
    }
    uint32_t path = s->target;
    chroprof__open_event(p, c, &m, CHROPROF_PENDING, id);
    chroprof__begin_life(p->paths + path, table, slot, id, m.t);
    slot->path = path;
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_ready(chroprof *p, uint64_t id, chroprof__future_row *home,
                                             uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || !chroprof__waits(slot, id) ||
                         slot->state == CHROPROF_READY)) {
        chroprof__slow_path(p, CHROPROF_READY, id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_READY, id);
    if (m.depth == c->barrier)
        chroprof__count_found(c, p->paths + slot->path, slot);
    chroprof__begin_ready(p, slot, m.t);
    chroprof__close_event(c);
}

/* A future that is ready, or whatever else. */
CHROPROF__NOINLINE void chroprof__run_otherwise(chroprof *p, uint64_t id,
                                                const chroprof_site *site,
                                                chroprof__future_row *home, uint64_t now,
                                                uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot delay = { NULL, NULL };
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || m.depth == p->max_depth ||
                         !chroprof__may_run(p, c, slot, id, m.t, &delay) ||
                         !CHROPROF__KNOWS_CALLER(p, chroprof__caller_at(p, slot->path), base,
                                                 &m))) {
        chroprof__begin_slowly(p, CHROPROF_RUNNING, id, site, chroprof__now_of(c, &m), base);
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_RUNNING, id);
    chroprof__may_be_found(p, slot);
    chroprof__start_running(p, slot, &delay, m.t);
    chroprof__pushed n = { m.depth, slot->path, CHROPROF__FUTURE_FRAME, m.t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + m.depth, n);
    chroprof__bind_plain(p, c, frame, slot, id);
    chroprof__close_event(c);
}

CHROPROF__INLINE void chroprof__do_running(chroprof *p, uint64_t id, const chroprof_site *site,
                                           chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (CHROPROF__RARELY(!chroprof__rests(slot) && !chroprof__is_new(slot, id))) {
        chroprof__run_otherwise(p, id, site, slot, now, chroprof__caller_base());
        return;
    }
    chroprof__path_row *row = p->paths + slot->path;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->time_limit, &m) ||
                         row->window != c->window ||
                         !CHROPROF__KNOWS_CALLER(p, chroprof__caller_at(p, slot->path), 0, &m) ||
                         !chroprof__look_at_ring(c, &m) || m.depth == p->max_depth)) {
        chroprof__run_otherwise(p, id, site, slot, chroprof__now_of(c, &m),
                                chroprof__caller_base());
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_RUNNING, id);
    if (CHROPROF__LIKELY(m.depth == c->barrier))
        chroprof__count_found(c, row, slot);
    slot->since = m.t;
    chroprof__pushed n = { m.depth, slot->path, CHROPROF__FUTURE_FRAME, m.t };
    chroprof__frame_row *frame = chroprof__push(c, p->frames + m.depth, n);
    chroprof__bind_plain(p, c, frame, slot, id);
    slot->state = CHROPROF_RUNNING;
    chroprof__close_event(c);
}

/* An event that ends the activation of the top frame, a future's or a call's. */
typedef struct chroprof__ending {
    uint32_t kind;             /* of the frame */
    chroprof_state state;
    uint64_t id;               /* of the frame's future */
} chroprof__ending;

CHROPROF__INLINE void chroprof__end_top(chroprof *p, chroprof__core *c, const chroprof__moment *m,
                                        chroprof__path_row *row, chroprof__frame_row *frame,
                                        chroprof__ending e, bool base, uint64_t length)
{
    chroprof__open_row(c, m, &frame->path, e.state, e.id);
    chroprof__bill_plain(c, m, row);
    uint64_t slice = e.kind == CHROPROF__ENTER_FRAME
                         ? chroprof__end_enter(p, c, row, frame, base, m->t, length)
                         : chroprof__end_run(p, c, row, frame, base, m->t);
    chroprof__drop_frame(c, frame);
    chroprof__count_and_close(p, c, row, slice);
}

/* The top frame must be a plain one of that kind and id. Callbacks and inner activations have
 * functions of their own; a callback beyond its limit is looked at. */
CHROPROF__INLINE void chroprof__do_end(chroprof *p, chroprof__ending e, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    uint64_t length;
    chroprof__frame_row *frame = p->frames + c->depth;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || frame->kind != e.kind ||
                         (e.kind == CHROPROF__FUTURE_FRAME && frame->id != e.id))) {
        chroprof__slow_path(p, e.state, e.id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = p->paths + m.account;
    CHROPROF__ONE_WORD(c);                  /* so that p stays where the slow path wants it */
    if (!chroprof__is_base(frame))
        chroprof__end_top(p, c, &m, row, frame, e, false, m.t - frame->pushed);
    else if (CHROPROF__LIKELY((length = m.t - frame->pushed) <= c->callback.limit))
        chroprof__end_top(p, c, &m, row, frame, e, true, length);
    else
        chroprof__slow_path(p, e.state, e.id, NULL, chroprof__now_of(c, &m));
}

CHROPROF__INLINE void chroprof__do_paused(chroprof *p, uint64_t id, uint64_t now)
{
    chroprof__ending e = { CHROPROF__FUTURE_FRAME, CHROPROF_PAUSED, 0 };
    e.id = id;
    chroprof__do_end(p, e, now);
}

CHROPROF__INLINE void chroprof__do_leave(chroprof *p, uint64_t now)
{
    chroprof__ending e = { CHROPROF__ENTER_FRAME, CHROPROF_LEAVE, 0 };
    chroprof__do_end(p, e, now);
}

/* From a future on top to one that waits: the frame just changes hands. */
CHROPROF__INLINE void chroprof__do_switch(chroprof *p, uint64_t id, chroprof__future_row *home,
                                          uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot delay = { NULL, NULL };
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    chroprof__frame_row *frame = p->frames + c->depth;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) ||
                         !chroprof__may_end(c, frame, CHROPROF__FUTURE_FRAME,
                                            m.t - frame->pushed) ||
                         !chroprof__may_run(p, c, slot, id, m.t, &delay))) {
        chroprof__slow_path(p, CHROPROF_SWITCH, id, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, CHROPROF_SWITCH, id);
    bool base = chroprof__is_base(frame);
    uint64_t slice = chroprof__end_run(p, c, row, frame, base, m.t);
    if (base && slot->state != CHROPROF_READY)
        chroprof__count_found(c, p->paths + slot->path, slot);
    chroprof__start_running(p, slot, &delay, m.t);
    frame->pushed = frame->start = m.t;
    frame->event = (uint32_t)c->seq;
    frame->path = c->account = slot->path;
    frame->id = id;
    frame->slot = chroprof__words_to(p, slot);
    slot->frame = (uint16_t)frame->depth;
    chroprof__count_and_close(p, c, row, slice);
}

/* What is left to do for a future that finished. */
CHROPROF__NOINLINE void chroprof__free_and_close(chroprof *p, chroprof__future_row *slot)
{
    chroprof__free_slot(p, slot);
    chroprof__close_event(p->core);
}

/* A finish of what is not on top: of a future without frames, as timers and sockets are. */
CHROPROF__NOINLINE void chroprof__finish_waiting(chroprof *p, chroprof_state state, uint64_t id,
                                                 const chroprof_site *site,
                                                 chroprof__future_row *home, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot latency;
    chroprof__future_row *slot = chroprof__find_from(p, id, home);
    if (!chroprof__look(c, now, &m) || !chroprof__waits(slot, id) ||
        !chroprof__latency_spot(p, slot, m.t, &latency)) {
        chroprof__slow_path(p, state, id, site, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, state, id);
    chroprof__may_be_found(p, slot);
    chroprof__count_finish(p, slot, state, m.t);
    chroprof__add_there(&latency, m.t - slot->created);
    if (chroprof__is_slow(p, c, slot, m.t))
        chroprof__keep_slow(p, slot, slot->exec, state, m.t);
    chroprof__end_life(p, c, slot, m.t);
    chroprof__close_event(c);
}

/* A finish of the future on top. */
CHROPROF__NOINLINE void chroprof__take_finish(chroprof *p, chroprof_state state, uint64_t id,
                                              const chroprof_site *site, chroprof__future_row *home,
                                              uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__spot latency;
    chroprof__frame_row *frame = p->frames + c->depth;
    chroprof__future_row *slot = chroprof__slot_of(p, frame);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || frame->id != id ||
                         !chroprof__may_end(c, frame, CHROPROF__FUTURE_FRAME,
                                            m.t - frame->pushed) ||
                         !chroprof__latency_spot(p, slot, m.t, &latency))) {
        chroprof__finish_waiting(p, state, id, site, home, chroprof__now_of(c, &m));
        return;
    }
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, state, id);
    uint64_t slice = chroprof__end_run(p, c, row, frame, chroprof__is_base(frame), m.t);
    chroprof__drop_frame(c, frame);
    chroprof__count_finish(p, slot, state, m.t);
    chroprof__add_there(&latency, m.t - slot->created); /* before a count gives ranges away */
    chroprof__count_slice(p, c, row, slice);
    if (chroprof__is_slow(p, c, slot, m.t))
        chroprof__keep_slow(p, slot, slot->exec, state, m.t);
    row->live--;
    row->lifetime += m.t;
    c->tables[CHROPROF_TABLE_FUTURES].used--;
    if (CHROPROF__RARELY(chroprof__next_slot(p, slot)->id != 0)) {
        chroprof__free_and_close(p, slot);
        return;
    }
    memset(slot, 0, sizeof(*slot));
    chroprof__close_event(c);
}

/* A call whose path is remembered in the first or the other of two places. */
CHROPROF__INLINE bool chroprof__enter_by(chroprof *p, const chroprof_site *site, bool first,
                                         chroprof__moment *m, uint64_t now, uint64_t base)
{
    chroprof__core *c = p->core;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->time_limit, m)))
        return false;
    chroprof__shortcut *s = chroprof__shortcut_home(p, m->account, site);
    s = first ? s : chroprof__other_place(p, s);
    if (CHROPROF__RARELY(!chroprof__is_known(s, &c->window, site) ||
                         !CHROPROF__KNOWS_CALLER(p, s->caller, base, m) ||
                         !chroprof__look_at_ring(c, m) || m->depth == p->max_depth))
        return false;
    uint32_t path = s->target;
    chroprof__open_event(p, c, m, CHROPROF_ENTER, 0);
    chroprof__push_call(c, p->frames + m->depth, m->depth, path, m->t);
    chroprof__close_event(c);
    return true;
}

CHROPROF__NOINLINE void chroprof__enter_elsewhere(chroprof *p, const chroprof_site *site,
                                                  uint64_t now, uint64_t base)
{
    chroprof__moment m;
    if (!chroprof__enter_by(p, site, false, &m, now, base))
        chroprof__begin_slowly(p, CHROPROF_ENTER, 0, site, now, base);
}

CHROPROF__INLINE void chroprof__do_enter(chroprof *p, const chroprof_site *site, uint64_t now)
{
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__enter_by(p, site, true, &m, now, 0)))
        chroprof__enter_elsewhere(p, site, chroprof__now_of(p->core, &m),
                                  chroprof__caller_base());
}

/* From one call to the next: the frame just changes hands. */
CHROPROF__NOINLINE void chroprof__take_next(chroprof *p, const chroprof_site *site, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    chroprof__frame_row *frame = p->frames + c->depth;
    const uint32_t top[] = { c->window, frame[c->depth ? -1 : 0].path };
    const chroprof__shortcut *s = chroprof__remembered(p, top, site);
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || !s ||
                         !chroprof__may_end(c, frame, CHROPROF__ENTER_FRAME,
                                            m.t - frame->pushed))) {
        chroprof__slow_path(p, CHROPROF_NEXT, 0, site, now);
        return;
    }
    uint32_t path = s->target;
    chroprof__path_row *row = chroprof__open_under(p, c, &m, &frame->path, CHROPROF_NEXT, 0);
    uint64_t length = m.t - frame->pushed;
    uint64_t slice = chroprof__end_enter(p, c, row, frame, chroprof__is_base(frame), m.t, length);
    chroprof__push_call(c, frame - 1, frame[-1].depth, path, m.t);
    chroprof__count_and_close(p, c, row, slice);
}

CHROPROF__INLINE void chroprof__do_idle_enter(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    uint64_t length;
    bool plain = chroprof__look(c, now, &m);
    length = m.t - c->iteration.start;
    if (CHROPROF__RARELY(!plain || m.depth != c->barrier || length > c->iteration.limit)) {
        chroprof__slow_path(p, CHROPROF_IDLE_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_IDLE_ENTER, 0);
    chroprof__count_iteration(p, c, length, length);
    c->account = CHROPROF__IDLE;
    c->time_limit = m.t;            /* no event but idle_leave takes the fast path */
    chroprof__close_event(c);
}

/* A signal between the load of one limit and the store of the other has its sample wait: at most
 * until that limit, which is at most the sampler's next look at the CPU clock, or idle_leave. */
CHROPROF__INLINE void chroprof__do_idle_leave(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look_at_time(c, now, &c->iteration.idle_limit, &m) ||
                         m.account != CHROPROF__IDLE || !chroprof__look_at_ring(c, &m))) {
        chroprof__slow_path(p, CHROPROF_IDLE_LEAVE, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_under(p, c, &m, &c->account, CHROPROF_IDLE_LEAVE, 0);
    c->time_limit = c->iteration.idle_limit;
    chroprof__begin_iteration(c, m.dt);
    chroprof__close_event(c);
}

#ifdef CHROPROF_WAIT_CALLS
/* The second of two events of one instant has no interval to bill. False: something rare wants the
 * slow path. */
CHROPROF__INLINE bool chroprof__look_at_once(chroprof__core *c, chroprof__moment *m)
{
    m->t = c->last;
    m->dt = 0;
    m->account = c->account;
    return CHROPROF__LIKELY(m->t < c->time_limit) && chroprof__look_at_ring(c, m);
}

CHROPROF__INLINE void chroprof__open_at_once(chroprof__core *c, const chroprof__moment *m,
                                             chroprof_state state)
{
    chroprof__open_row(c, m, NULL, state, 0);
    c->next_row += sizeof(chroprof__ring_row);
}

/* The wait begins as the call on top ends. */
CHROPROF__INLINE void chroprof__do_leave_for_idle(chroprof *p, uint64_t now)
{
    chroprof__do_leave(p, now);
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look_at_once(c, &m);
    uint64_t length = m.t - c->iteration.start;
    if (CHROPROF__RARELY(!plain || m.depth != c->barrier || length > c->iteration.limit)) {
        chroprof__slow_path(p, CHROPROF_IDLE_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_at_once(c, &m, CHROPROF_IDLE_ENTER);
    chroprof__count_iteration(p, c, length, length);
    c->account = CHROPROF__IDLE;
    c->time_limit = m.t;
    chroprof__close_event(c);
}

/* A call begins as the wait ends. */
CHROPROF__INLINE void chroprof__do_enter_from_idle(chroprof *p, const chroprof_site *site,
                                                   uint64_t now)
{
    chroprof__do_idle_leave(p, now);
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look_at_once(c, &m);
    chroprof__shortcut *s = chroprof__shortcut_home(p, m.account, site);
    if (CHROPROF__RARELY(!plain || !chroprof__is_known(s, &c->window, site) ||
                         !CHROPROF__KNOWS_CALLER(p, s->caller, 0, &m) ||
                         m.depth == p->max_depth)) {
        chroprof__enter_elsewhere(p, site, chroprof__now_of(c, &m), chroprof__caller_base());
        return;
    }
    uint32_t path = s->target;
    chroprof__open_at_once(c, &m, CHROPROF_ENTER);
    chroprof__push_call(c, p->frames + m.depth, m.depth, path, m.t);
    chroprof__close_event(c);
}
#endif

CHROPROF__NOINLINE void chroprof__take_loop_enter(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m) || m.depth == p->max_depth)) {
        chroprof__slow_path(p, CHROPROF_LOOP_ENTER, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_LOOP_ENTER, 0);
    chroprof__push_barrier(p, c, m.t);
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_loop_leave(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    bool plain = chroprof__look(c, now, &m);
    if (CHROPROF__RARELY(!plain || m.depth == 0 || m.depth != c->barrier)) {
        chroprof__slow_path(p, CHROPROF_LOOP_LEAVE, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_event(p, c, &m, CHROPROF_LOOP_LEAVE, 0);
    chroprof__pop_barrier(p, p->frames + m.depth, m.t);
    chroprof__close_event(c);
}

CHROPROF__NOINLINE void chroprof__take_tick(chroprof *p, uint64_t now)
{
    chroprof__core *c = p->core;
    chroprof__moment m;
    if (CHROPROF__RARELY(!chroprof__look(c, now, &m))) {
        chroprof__slow_path(p, CHROPROF_TICK, 0, NULL, chroprof__now_of(c, &m));
        return;
    }
    chroprof__open_under(p, c, &m, &c->account, CHROPROF_TICK, 0);
    chroprof__close_event(c);
}

/* One event, as chroprof_event gets it. home: where the search for the id begins. */
static void chroprof__take_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now)
{
    chroprof__future_row *home = chroprof__home(p, id);
    switch (state) {
    case CHROPROF_PENDING: chroprof__take_pending(p, id, site, home, now); break;
    case CHROPROF_READY: chroprof__take_ready(p, id, home, now); break;
    case CHROPROF_RUNNING: chroprof__do_running(p, id, site, home, now); break;
    case CHROPROF_PAUSED: chroprof__do_paused(p, id, now); break;
    case CHROPROF_SWITCH: chroprof__do_switch(p, id, home, now); break;
    case CHROPROF_COMPLETED:
    case CHROPROF_FAILED:
    case CHROPROF_CANCELLED: chroprof__take_finish(p, state, id, site, home, now); break;
    case CHROPROF_ENTER: chroprof__do_enter(p, site, now); break;
    case CHROPROF_LEAVE: chroprof__do_leave(p, now); break;
    case CHROPROF_NEXT: chroprof__take_next(p, site, now); break;
    case CHROPROF_IDLE_ENTER: chroprof__do_idle_enter(p, now); break;
    case CHROPROF_IDLE_LEAVE: chroprof__do_idle_leave(p, now); break;
    case CHROPROF_LOOP_ENTER: chroprof__take_loop_enter(p, now); break;
    case CHROPROF_LOOP_LEAVE: chroprof__take_loop_leave(p, now); break;
    case CHROPROF_TICK: chroprof__take_tick(p, now); break;
    default: chroprof__slow_path(p, state, id, site, now); break;
    }
}

/* >>figures: what is known of a path, of the loop and of the sampler, one line a figure. All reads
 * and writers go by these lists, and so do differences and merges. To add a figure of a path, add a
 * field to chroprof__path_row, one each to chroprof_path and chroprof_rank, and a line here; set it
 * where the event happens, on the slow and on the fast path. Figures are counts and lengths
 * of time: a moment is of another time 0 in a difference and in a merge, which move it by hand, as
 * they do lifetime and delay. Uses >>block alone. */

CHROPROF__COLD_BEGIN

enum { CHROPROF__TICKS, CHROPROF__COUNT };         /* in the block; the public structs have ns */
enum {
    CHROPROF__SUM,             /* adds up; a difference takes the older one away */
    CHROPROF__MAX,             /* the largest one counts */
    CHROPROF__PRESENT,         /* adds up; a difference has it as it is now */
    CHROPROF__FIRST,           /* a merge keeps it; 0 gives way to the other's */
    CHROPROF__OWN              /* of this very profile: no merge or difference touches it */
};
enum { CHROPROF__NOT_THERE = 0xFFFF };

typedef struct chroprof__figure {
    uint16_t row;              /* offset in the block's row; NOT_THERE: the read works it out */
    uint16_t at;               /* offset in chroprof_path, chroprof_totals, .._sampler_totals */
    uint16_t rank;             /* of a path's figure: offset in chroprof_rank */
    uint8_t unit, kind;
} chroprof__figure;

#define CHROPROF__OF(type, field) (uint16_t)offsetof(type, field)
#define CHROPROF__UNSEEN(type, field, unit, kind)                                                  \
    { CHROPROF__OF(type, field), CHROPROF__NOT_THERE, CHROPROF__NOT_THERE, CHROPROF__##unit,       \
      CHROPROF__##kind },
#define CHROPROF__PATH_FIGURE(name, field, unit, kind, metric, help)                               \
    { CHROPROF__OF(chroprof__path_row, field), CHROPROF__OF(chroprof_path, name),                  \
      CHROPROF__OF(chroprof_rank, name), CHROPROF__##unit, CHROPROF__##kind },
#define CHROPROF__PATH_READ(name, metric, help)                                                    \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_path, name), CHROPROF__OF(chroprof_rank, name),   \
      CHROPROF__COUNT, CHROPROF__SUM },
#define CHROPROF__RANK_ONLY(name)                                                                  \
    { CHROPROF__NOT_THERE, CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_rank, name),                 \
      CHROPROF__COUNT, CHROPROF__OWN },

/* Of a path, as chroprof__path_now has its row; added up over its paths, of a site. READ: the read
 * works it out of one path, and over paths it adds up. UNSEEN: the row alone has it. */
#define CHROPROF__PATH_LIST(FIGURE, READ, RANK_ONLY, UNSEEN)                                       \
    FIGURE(exec_ns, exec, TICKS, SUM, "exec_seconds_total",                                        \
           "Time that futures of a site occupied the event loop.")                                 \
    RANK_ONLY(children_ns)                                                                         \
    READ(with_children_ns, "with_children_seconds_total",                                          \
         "The same with everything below them in the tree of creations.")                          \
    FIGURE(exec_max_ns, exec_max, TICKS, MAX, "", "")                                              \
    FIGURE(slice_max_ns, slice_max, TICKS, MAX, "", "")                                            \
    RANK_ONLY(slice_p50_ns) RANK_ONLY(slice_p90_ns) RANK_ONLY(slice_p99_ns)                        \
    RANK_ONLY(slice_p999_ns) RANK_ONLY(slice_typical_ns) RANK_ONLY(slice_min_ns)                   \
    RANK_ONLY(slice_p1_ns) RANK_ONLY(measured)                                                     \
    RANK_ONLY(latency_p50_ns) RANK_ONLY(latency_p99_ns) RANK_ONLY(latency_max_ns)                  \
    READ(slices, "", "")                                                                           \
    UNSEEN(chroprof__path_row, entered, COUNT, SUM)                                                \
    UNSEEN(chroprof__path_row, activations, COUNT, SUM)                                            \
    FIGURE(lifetime_ns, lifetime, TICKS, SUM, "lifetime_seconds_total",                            \
           "Time from creation to finish of futures, or to now while they live.")                  \
    READ(waiting_ns, "", "")                                                                       \
    FIGURE(delay_ns, delay, TICKS, SUM, "delay_seconds_total",                                     \
           "Time that futures were ready and did not run.")                                        \
    UNSEEN(chroprof__path_row, delay_max, TICKS, MAX)                                              \
    RANK_ONLY(delay_p99_ns)                                                                        \
    FIGURE(found, found, COUNT, SUM, "found_total",                                                \
           "What polls of the loop brought for a site.")                                           \
    FIGURE(hidden_total_ns, hidden, TICKS, SUM, "hidden_seconds_total",                            \
           "Estimate: time for which that had waited unseen for the poll.")                        \
    FIGURE(blame_ns, blame, TICKS, SUM, "blame_seconds_total",                                     \
           "Delay of all ready futures while this site occupied the loop.")                        \
    READ(calls, "", "")                                                                            \
    FIGURE(completed, completed, COUNT, SUM, "calls_total", "Futures that ended, by result.")      \
    FIGURE(failed, failed, COUNT, SUM, "calls_total", "")                                          \
    FIGURE(cancelled, cancelled, COUNT, SUM, "calls_total", "")                                    \
    FIGURE(abandoned, abandoned, COUNT, SUM, "calls_total", "")                                    \
    FIGURE(dropped, dropped, COUNT, SUM, "calls_total", "")                                        \
    FIGURE(live, merged_live, COUNT, PRESENT, "live_futures",                                      \
           "Futures that were created and have not ended.")                                        \
    FIGURE(stillborn, stillborn, COUNT, SUM, "stillborn_total",                                    \
           "Futures that were created already finished.")                                          \
    READ(cpu_ns, "sampled_cpu_seconds_total",                                                      \
         "CPU time that the sampler met in slices of a site.")                                     \
    READ(samples, "samples_total", "Samples in slices of a site.")

static const chroprof__figure chroprof__path_figures[] = {
    CHROPROF__PATH_LIST(CHROPROF__PATH_FIGURE, CHROPROF__PATH_READ, CHROPROF__RANK_ONLY,
                        CHROPROF__UNSEEN)
};

#define CHROPROF__LOOP_FIGURE(name, field, unit, kind, metric, help)                               \
    { CHROPROF__OF(chroprof__core, field), CHROPROF__OF(chroprof_totals, name),                    \
      CHROPROF__NOT_THERE, CHROPROF__##unit, CHROPROF__##kind },
#define CHROPROF__LOOP_READ(name, metric, help)                                                    \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_totals, name), CHROPROF__NOT_THERE,               \
      CHROPROF__COUNT, CHROPROF__OWN },

/* Of the loop, in the core. */
#define CHROPROF__LOOP_LIST(FIGURE, READ, UNSEEN)                                                  \
    READ(elapsed_ns, "elapsed_seconds_total", "Profile time: busy, idle, uninstrumented.")         \
    READ(busy_ns, "busy_seconds_total", "Time of futures, untracked included.")                    \
    READ(idle_ns, "idle_seconds_total", "Time blocked in the operating system.")                   \
    READ(uninstrumented_ns, "uninstrumented_seconds_total", "Time neither of futures nor idle.")   \
    FIGURE(start_ns, phase.start_ticks, TICKS, SUM, "start_seconds_total",                         \
           "Time before the first wait ended, part of uninstrumented.")                            \
    FIGURE(exit_ns, phase.exit_ticks, TICKS, SUM, "exit_seconds_total",                            \
           "Time after the loop was over, part of uninstrumented.")                                \
    READ(untracked_ns, "untracked_seconds_total",                                                  \
         "Time of futures that are not known, part of busy.")                                      \
    READ(delay_ns, "", "") READ(blame_ns, "", "")                                                  \
    READ(events, "events_total", "Events taken.")                                                  \
    UNSEEN(chroprof__core, made.merged_events, COUNT, SUM)                                         \
    READ(anomalies, "", "") READ(live, "", "")                                                     \
    FIGURE(iterations, loop.iterations, COUNT, SUM, "iterations_total",                            \
           "Iterations of the loop, from one idle to the next.")                                   \
    READ(iteration_p50_ns, "", "") READ(iteration_p99_ns, "", "")                                  \
    FIGURE(iteration_max_ns, loop.iteration_max, TICKS, MAX, "", "")                               \
    FIGURE(callbacks, loop.callbacks, COUNT, SUM, "callbacks_total",                               \
           "Outermost activations on the running stack.")                                          \
    READ(callback_p50_ns, "", "") READ(callback_p99_ns, "", "")                                    \
    FIGURE(callback_max_ns, loop.callback_max, TICKS, MAX, "", "")                                 \
    FIGURE(stalls, loop.stalls, COUNT, SUM, "stalls_total",                                        \
           "Callbacks and iterations that were too long.")                                         \
    READ(idle_blame_ns, "idle_blame_seconds_total", "Delay of ready futures while idle.")          \
    READ(uninstrumented_blame_ns, "uninstrumented_blame_seconds_total",                            \
         "Delay of ready futures in time of the loop's own.")                                      \
    READ(untracked_blame_ns, "untracked_blame_seconds_total",                                      \
         "Delay of ready futures in untracked time.")                                              \
    FIGURE(at_once, loop.at_once, COUNT, SUM, "waits_at_once_total",                               \
           "Waits of the loop that returned at once.")                                             \
    FIGURE(at_once_ns, loop.at_once_ticks, TICKS, SUM, "at_once_seconds_total",                    \
           "Time in waits that returned at once, part of idle.")                                   \
    FIGURE(cpu_clock_ns, loop.cpu_clock_ns, COUNT, OWN, "", "")                                    \
    READ(asleep_ns, "", "") READ(hidden_ns, "", "") READ(hidden_p99_ns, "", "")                    \
    READ(dropped, "", "")                                                                          \
    FIGURE(elapsed_ticks, last, COUNT, OWN, "", "")                                                \
    READ(delay_ticks, "", "") READ(blame_ticks, "", "")                                            \
    FIGURE(start_unix_ns, process.start_unix_ns, COUNT, OWN, "", "")                               \
    FIGURE(tick_error_ppb, time.error_ppb, COUNT, MAX, "", "")                                     \
    FIGURE(skew_ns, copy.skew_ticks, TICKS, PRESENT, "", "")                                       \
    FIGURE(skew_events, copy.skew_events, COUNT, PRESENT, "", "")                                  \
    FIGURE(doubt_ns, copy.torn_ticks, TICKS, PRESENT, "", "")                                      \
    FIGURE(doubt_events, copy.torn_events, COUNT, PRESENT, "", "")

static const chroprof__figure chroprof__loop_figures[] = {
    CHROPROF__LOOP_LIST(CHROPROF__LOOP_FIGURE, CHROPROF__LOOP_READ, CHROPROF__UNSEEN)
};

#define CHROPROF__SAMPLER_FIGURE(name, field, kind)                                                \
    { CHROPROF__OF(chroprof__sampler, field), CHROPROF__OF(chroprof_sampler_totals, name),         \
      CHROPROF__NOT_THERE, CHROPROF__COUNT, CHROPROF__##kind },
#define CHROPROF__SAMPLER_READ(name)                                                               \
    { CHROPROF__NOT_THERE, CHROPROF__OF(chroprof_sampler_totals, name), CHROPROF__NOT_THERE,       \
      CHROPROF__COUNT, CHROPROF__OWN },
#define CHROPROF__SAMPLER_LIST(FIGURE, READ)                                                       \
    FIGURE(period_ns, handler.period_ns, FIRST) FIGURE(first_period_ns, set.first_period_ns, FIRST)\
    FIGURE(budget_ppm, set.budget_ppm, FIRST) FIGURE(ticks, handler.ticks, SUM)                    \
    FIGURE(samples, rows.samples, SUM) READ(rows) FIGURE(inside, rows.inside, SUM)                 \
    FIGURE(lost, handler.lost, SUM) FIGURE(dropped, rows.dropped, OWN)                             \
    FIGURE(cost_ns, handler.cost_ns, SUM) FIGURE(draws, draw.draws, SUM)                           \
    FIGURE(misses, draw.misses, SUM) FIGURE(interrupted, handler.interrupted, SUM)

static const chroprof__figure chroprof__sampler_figures[] = {
    CHROPROF__SAMPLER_LIST(CHROPROF__SAMPLER_FIGURE, CHROPROF__SAMPLER_READ)
};

#define CHROPROF__DRAWN(name, field, unit)                                                         \
    { CHROPROF__OF(chroprof__wall_row, field), CHROPROF__OF(chroprof_wall, name),                  \
      CHROPROF__NOT_THERE, CHROPROF__##unit, CHROPROF__SUM },

/* Of what the sampler met of a path. */
static const chroprof__figure chroprof__wall_figures[] = {
    CHROPROF__DRAWN(running, weight[0], COUNT) CHROPROF__DRAWN(running_ns, ticks[0], TICKS)
    CHROPROF__DRAWN(ready, weight[1], COUNT) CHROPROF__DRAWN(ready_ns, ticks[1], TICKS)
    CHROPROF__DRAWN(paused, weight[2], COUNT) CHROPROF__DRAWN(paused_ns, ticks[2], TICKS)
    CHROPROF__UNSEEN(chroprof__wall_row, samples, COUNT, SUM)
    CHROPROF__UNSEEN(chroprof__wall_row, cpu_ns, COUNT, SUM)
};

/* A list and how long it is. */
#define CHROPROF__ALL(list) list, sizeof list / sizeof *list

CHROPROF__NOINLINE uint64_t chroprof__ns(const chroprof__core *c, uint64_t ticks)
{
    return chroprof__scale(ticks, c->time.factor);
}

/* Where the figure is in chroprof_rank that sites are ordered by. */
static uint16_t chroprof__order_at(chroprof_order by)
{
    static const uint16_t at[] = {
        CHROPROF__OF(chroprof_rank, exec_ns), CHROPROF__OF(chroprof_rank, with_children_ns),
        CHROPROF__OF(chroprof_rank, slice_max_ns), CHROPROF__OF(chroprof_rank, blame_ns),
        CHROPROF__OF(chroprof_rank, delay_ns), CHROPROF__OF(chroprof_rank, calls)
    };
    return at[(unsigned)by < sizeof at / sizeof *at ? by : CHROPROF_BY_EXEC];
}

#undef CHROPROF__OF

/* What a row says of a figure, as the public structs have it. */
static uint64_t chroprof__shown(const chroprof__core *c, const chroprof__figure *f, const void *row)
{
    uint64_t value = chroprof__peek64(chroprof__field(row, f->row));
    return f->unit == CHROPROF__TICKS ? chroprof__ns(c, value) : value;
}

/* Adds a value to a figure: of several paths to their site's, of several profiles to their sum. */
static void chroprof__add(const chroprof__figure *f, uint64_t *to, uint64_t value)
{
    if (f->kind == CHROPROF__MAX)
        chroprof__raise(to, value);
    else if (f->kind == CHROPROF__FIRST)
        *to = chroprof__or(*to, value);
    else if (f->kind != CHROPROF__OWN)
        *to += value;
}

/* Fills a public struct from a row. */
static void chroprof__read_figures(const chroprof__core *c, const chroprof__figure *list,
                                   size_t count, const void *row, void *out)
{
    for (size_t k = 0; k < count; k++)
        if (list[k].row != CHROPROF__NOT_THERE && list[k].at != CHROPROF__NOT_THERE)
            *chroprof__field(out, list[k].at) = chroprof__shown(c, list + k, row);
}

/* Adds another profile's row, in ns, to one of ours. */
CHROPROF__UNUSED static void chroprof__merge_figures(const chroprof__core *from,
                                                     const chroprof__figure *list,
                                                     size_t count, const void *row, void *to)
{
    for (size_t k = 0; k < count; k++)
        if (list[k].row != CHROPROF__NOT_THERE)
            chroprof__add(list + k, chroprof__field(to, list[k].row),
                          chroprof__shown(from, list + k, row));
}

/* Takes away what was there before; never below 0. */
static void chroprof__shift(uint64_t *figure, uint64_t before)
{
    *figure = chroprof__minus(*figure, before);
}

/* Takes an older row away. Counts never fall: false if one did. Of copies of several moments ticks
 * may be less than they were. */
CHROPROF__UNUSED static bool chroprof__subtract_figures(const chroprof__figure *list, size_t count,
                                                        const void *older, void *row)
{
    bool grown = true;
    for (size_t k = 0; k < count; k++) {
        if (list[k].kind != CHROPROF__SUM || list[k].row == CHROPROF__NOT_THERE)
            continue;
        uint64_t *figure = chroprof__field(row, list[k].row);
        uint64_t before = *chroprof__field(older, list[k].row);
        grown = grown && (*figure >= before || list[k].unit == CHROPROF__TICKS);
        chroprof__shift(figure, before);
    }
    return grown;
}

/* >>reading: the public reads. They change nothing, and show the profile as of its last event, what
 * is under way included: a row of a path is brought there by chroprof__path_now, which differences
 * and merges use as well. Owns nothing. Relies on >>figures and on the tables as events leave them.
 * Called by users and all writers. */

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
    return chroprof__can_read(p) && site >= CHROPROF__OTHER && site < chroprof__site_count(p) &&
           chroprof__sites(p->core)[site].first_path != 0;
}

/* What stands for an id in all that is read. */
static uint64_t chroprof__shown_id(const chroprof *p, uint64_t id)
{
    return id && p->show_id ? p->show_id(p->show_id_user, id) : id;
}

CHROPROF__COLD_API void chroprof_show_ids(chroprof *p, uint64_t (*show)(void *user, uint64_t id),
                                          void *user)
{
    if (!p)
        return;
    p->show_id = show;
    p->show_id_user = user;
}

/* Exec of a future, slices under way included; only its newest frame tells it. */
static uint64_t chroprof__frame_exec(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k;
    uint64_t exec = chroprof__frame_slice(p, k);
    bool orphan = (frame->kind & CHROPROF__ORPHAN) != 0;
    if (frame->id == 0)
        return frame->kind & CHROPROF__ENTER_FRAME ? exec : 0;
    if (orphan ? !(frame->kind & CHROPROF__NEWEST) : chroprof__slot_of(p, frame)->frame != k)
        return 0;
    exec += orphan ? frame->carried : chroprof__slot_of(p, frame)->exec;
    while (frame->same && !(frame->kind & CHROPROF__OLDEST)) {
        k = frame->same;
        frame = p->frames + k;
        if (!orphan && frame->kind & CHROPROF__ORPHAN)
            break;
        exec += chroprof__frame_slice(p, k) + (orphan ? frame->carried : 0);
    }
    return exec;
}

/* What an activation adds to the lifetime of its path while it lasts: an enter-frame its whole
 * activation, a future that has finished while its code ran this slice. */
static uint64_t chroprof__activation_lifetime(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k;
    if (frame->kind & CHROPROF__ENTER_FRAME)
        return p->core->last - frame->pushed;
    return chroprof__lasts(frame) ? chroprof__frame_slice(p, k) : 0;
}

/* A path's row as of the last event: each figure is what it is with all that is under way. Wall and
 * delay, kept as ends minus beginnings, are sums, and merged_live counts all that live. */
static void chroprof__path_now(const chroprof *p, uint32_t path, chroprof__path_row *row)
{
    *row = p->paths[path];
    row->lifetime += row->live * p->core->last;
    row->delay += row->ready * p->core->last;
    row->completed += row->entered;
    row->merged_live += row->live;
    chroprof__raise(&row->exec_max, row->slice_max);    /* of an enter-frame the slice is all */
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        if (p->frames[k].path != path || p->frames[k].kind & CHROPROF__BARRIER)
            continue;
        row->activations++;
        chroprof__raise(&row->slice_max, chroprof__frame_slice(p, k));
        chroprof__raise(&row->exec_max, chroprof__frame_exec(p, k));
        row->lifetime += chroprof__activation_lifetime(p, k);
        row->merged_live += (p->frames[k].kind & CHROPROF__ENTER_FRAME) != 0;
    }
    chroprof__lower(&row->exec_max, row->exec);     /* in a copy of several moments, a difference */
}

static uint64_t chroprof__delay_ticks(const chroprof *p, const chroprof__path_row *row)
{
    return row->delay + row->ready * p->core->last;
}

/* Calls that are over. */
static uint64_t chroprof__ended(const chroprof__path_row *row)
{
    return row->completed + row->failed + row->cancelled + row->abandoned + row->dropped;
}

static void chroprof__read_site_name(const chroprof *p, uint32_t site, const char **name,
                                     const char **file, uint32_t *line)
{
    const chroprof__site_entry *row = chroprof__sites(p->core) + site;
    *name = chroprof__string(p->core, row->name);
    *file = chroprof__string(p->core, row->file);
    *line = row->line;
}

CHROPROF__COLD_API bool chroprof_read_path_alone(const chroprof *p, uint32_t path,
                                                 chroprof_path *out)
{
    chroprof__path_row row;
    memset(out, 0, sizeof(*out));
    out->name = out->file = "";
    if (!chroprof__can_read(p) || path < CHROPROF__FIRST_PATH || path >= chroprof__path_count(p))
        return false;
    chroprof__path_now(p, path, &row);
    chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__path_figures), &row, out);
    out->hidden_total_ns /= 2;              /* half of the most, on average */
    if (p->core->estimated)
        out->found = out->hidden_total_ns = 0;
    out->id = path;
    out->parent = row.parent;
    out->site = row.site;
    chroprof__read_site_name(p, row.site, &out->name, &out->file, &out->line);
    out->with_children_ns = out->exec_ns;
    out->waiting_ns = chroprof__minus(out->lifetime_ns, out->exec_ns + out->delay_ns);
    out->calls = chroprof__ended(&row) + row.merged_live;
    out->entered = row.entered;
    out->slices = row.entered + row.activations;
    if (path < p->core->tables[CHROPROF__WALLS].rows) {
        out->samples = chroprof__wall_rows(p->core)[path].samples;
        out->cpu_ns = chroprof__wall_rows(p->core)[path].cpu_ns;
    }
    return true;
}

CHROPROF__COLD_API bool chroprof_read_path(const chroprof *p, uint32_t path, chroprof_path *out)
{
    if (!chroprof_read_path_alone(p, path, out))
        return false;
    const chroprof__path_row *rows = p->paths;      /* its subtree follows it in preorder */
    for (uint32_t k = rows[path].next; k && rows[k].generation > rows[path].generation;
         k = rows[k].next)
        out->with_children_ns += chroprof__ns(p->core, p->paths[k].exec);
    return true;
}

CHROPROF__COLD_API bool chroprof_next_path(const chroprof *p, uint64_t *cursor, chroprof_path *out)
{
    if (!chroprof__can_read(p) || *cursor >= chroprof__path_count(p) || p->paths[*cursor].next == 0)
        return false;
    *cursor = p->paths[*cursor].next;
    return chroprof_read_path(p, (uint32_t)*cursor, out);
}

CHROPROF__COLD_API const char *chroprof_path_name(const chroprof *p, uint32_t path,
                                                  uint32_t *parent, uint32_t *site)
{
    bool good = chroprof__can_read(p) && path >= CHROPROF__FIRST_PATH &&
                path < chroprof__path_count(p);
    if (parent)
        *parent = good ? p->paths[path].parent : 0;
    if (site)
        *site = good ? p->paths[path].site : 0;
    return good ? chroprof__string(p->core, chroprof__sites(p->core)[p->paths[path].site].name)
                : "";
}

/* The value below which permille of the entries lie (nearest rank), in ns; max is the largest of
 * them, in ticks. */
static uint64_t chroprof__percentile_ns(const chroprof *p, const chroprof__histogram *h,
                                        uint64_t max, uint64_t permille)
{
    uint64_t total = chroprof__histogram_total(p, h);
    uint64_t rank = total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
    uint32_t k = 0;
    if (total == 0)
        return 0;
    for (uint64_t seen = chroprof__bucket_count(p, h, 0); seen < rank;)
        seen += chroprof__bucket_count(p, h, ++k);  /* the last one makes it the total */
    uint64_t value = k < CHROPROF__BUCKETS - 1 ? chroprof__bucket_value(k) : max;
    return chroprof__ns(p->core, chroprof__between(value, *chroprof__least_of(p, h), max));
}

/* The largest slice and delay of a site, in ticks. */
static void chroprof__site_maxima(const chroprof *p, uint32_t first, uint64_t *slice,
                                  uint64_t *delay)
{
    *slice = *delay = 0;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        chroprof__raise(slice, p->paths[k].slice_max);
        chroprof__raise(delay, p->paths[k].delay_max);
    }
}

/* Least and most that sums of slices can be. */
typedef struct chroprof__bounds {
    uint64_t low, high;
} chroprof__bounds;

static void chroprof__add_bounds(chroprof__bounds *b, uint64_t count, uint64_t low, uint64_t high)
{
    b->low += count * low;
    b->high += count * high;
}

/* Exec of a site's slices that are over; 0: not all of these are in its histogram. */
static uint64_t chroprof__measured_ns(const chroprof *p, const chroprof_rank *r)
{
    uint64_t ticks = 0, slices = r->slices;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        const chroprof__frame_row *frame = p->frames + k;
        if (frame->kind & CHROPROF__BARRIER || p->paths[frame->path].site != r->id)
            continue;
        ticks += chroprof__frame_slice(p, k);
        slices--;
    }
    return r->measured == slices ? chroprof__minus(r->exec_ns, chroprof__ns(p->core, ticks)) : 0;
}

/* The middle of what the sum of the shortest can be: by their buckets, and by what the longest
 * leave of the exec. */
static uint64_t chroprof__likely(const chroprof__bounds *shortest, const chroprof__bounds *longest,
                                 uint64_t exec_ns)
{
    uint64_t low = chroprof__minus(exec_ns, longest->high), high = shortest->high;
    chroprof__raise(&low, shortest->low);
    chroprof__lower(&high, chroprof__minus(exec_ns, longest->low));
    if (exec_ns == 0 || low > high) {
        low = shortest->low;
        high = shortest->high;
    }
    return low + (high - low) / 2;
}

/* The mean of the shortest three quarters of a site's slices; most: the longest slice, in ticks. No
 * bucket is wider than an eighth, so the middle of what it can be is no further off than half of
 * that. */
static uint64_t chroprof__typical_ns(const chroprof *p, const chroprof__histogram *h,
                                     const chroprof_rank *r, uint64_t most)
{
    uint64_t kept = r->measured - r->measured / 4, left = kept, least = *chroprof__least_of(p, h);
    chroprof__bounds shortest = { 0, 0 }, longest = { 0, 0 };
    if (kept == 0)
        return 0;
    for (uint32_t k = 0; k < CHROPROF__BUCKETS; k++) {
        uint64_t count = chroprof__bucket_count(p, h, k), inside = count < left ? count : left;
        uint64_t low = chroprof__bucket_begin(k), high = most;
        chroprof__raise(&low, least);
        if (k < CHROPROF__BUCKETS - 1)
            chroprof__lower(&high, chroprof__bucket_begin(k + 1) - 1);
        low = chroprof__ns(p->core, low);
        high = chroprof__ns(p->core, high);
        chroprof__add_bounds(&shortest, inside, low, high);
        chroprof__add_bounds(&longest, count - inside, low, high);
        left -= inside;
    }
    return chroprof__likely(&shortest, &longest, chroprof__measured_ns(p, r)) / kept;
}

/* What a site's histograms tell; its sums are there. */
static void chroprof__read_percentiles(const chroprof *p, uint32_t first, chroprof_rank *out)
{
    const chroprof__histograms *h = p->histograms + p->paths[first].histogram;
    uint64_t slice, delay;
    chroprof__site_maxima(p, first, &slice, &delay);
    out->has_percentiles = true;
    out->measured = chroprof__histogram_total(p, &h->slice);
    if (out->measured)
        out->slice_min_ns = chroprof__ns(p->core, *chroprof__least_of(p, &h->slice));
    out->slice_p1_ns = chroprof__percentile_ns(p, &h->slice, slice, 10);
    out->slice_p50_ns = chroprof__percentile_ns(p, &h->slice, slice, 500);
    out->slice_p90_ns = chroprof__percentile_ns(p, &h->slice, slice, 900);
    out->slice_p99_ns = chroprof__percentile_ns(p, &h->slice, slice, 990);
    out->slice_p999_ns = chroprof__percentile_ns(p, &h->slice, slice, 999);
    out->delay_p99_ns = chroprof__percentile_ns(p, &h->delay, delay, 990);
    out->latency_p50_ns = chroprof__percentile_ns(p, &h->latency, h->latency_max, 500);
    out->latency_p99_ns = chroprof__percentile_ns(p, &h->latency, h->latency_max, 990);
    out->latency_max_ns = chroprof__ns(p->core, h->latency_max);
    out->slice_typical_ns = chroprof__typical_ns(p, &h->slice, out, slice);
}

CHROPROF__COLD_API bool chroprof_read_rank(const chroprof *p, uint32_t site, chroprof_rank *out)
{
    chroprof_path path;
    memset(out, 0, sizeof(*out));
    out->name = out->file = "";
    if (!chroprof__site_used(p, site))
        return false;
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    const chroprof__figure *f = chroprof__path_figures, *end = f + sizeof chroprof__path_figures /
                                                                   sizeof *chroprof__path_figures;
    chroprof__read_site_name(p, site, &out->name, &out->file, &out->line);
    out->id = site;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        (void)chroprof_read_path(p, k, &path);
        for (f = chroprof__path_figures; f < end; f++)
            if (f->at != CHROPROF__NOT_THERE)
                chroprof__add(f, chroprof__field(out, f->rank), *chroprof__field(&path, f->at));
    }
    if (p->paths[first].histogram)
        chroprof__read_percentiles(p, first, out);
    out->children_ns = out->with_children_ns - out->exec_ns;
    out->waiting_ns = chroprof__minus(out->lifetime_ns, out->exec_ns + out->delay_ns);
    return true;
}

CHROPROF__COLD_API bool chroprof_next_site(const chroprof *p, uint64_t *cursor,
                                           chroprof_site_row *out)
{
    uint64_t end = chroprof__can_read(p) ? chroprof__site_count(p) : 0;
    while (*cursor < end) {
        out->id = (uint32_t)(*cursor)++;
        out->cut = chroprof__sites(p->core)[out->id].cut != 0;
        chroprof__read_site_name(p, out->id, &out->name, &out->file, &out->line);
        if (chroprof__site_used(p, out->id))
            return true;
    }
    return false;
}

CHROPROF__COLD_API bool chroprof_slice_counts(const chroprof *p, uint32_t site,
                                              const uint64_t *bounds_ns, size_t count,
                                              uint64_t *slices)
{
    uint64_t sum = 0;
    uint32_t bucket = 0;
    if (!chroprof__site_used(p, site))
        return false;
    uint32_t row = p->paths[chroprof__sites(p->core)[site].first_path].histogram;
    if (row == 0 || p->histograms[row].missed != 0)
        return false;
    for (size_t k = 0; k < count; k++) {
        for (; bucket < CHROPROF__BUCKETS &&
               chroprof__ns(p->core, chroprof__bucket_value(bucket)) <= bounds_ns[k]; bucket++)
            sum += chroprof__bucket_count(p, &p->histograms[row].slice, bucket);
        slices[k] = sum;
    }
    return true;
}

CHROPROF__COLD_API bool chroprof_next_rank(const chroprof *p, uint64_t *cursor, chroprof_rank *out)
{
    chroprof_site_row site;
    return chroprof_next_site(p, cursor, &site) && chroprof_read_rank(p, site.id, out);
}

/* Does a come before b? A total order: no two sites have the same content, but for cut names. */
static bool chroprof__before(const chroprof_rank *a, const chroprof_rank *b, chroprof_order by)
{
    uint16_t at = chroprof__order_at(by);
    uint64_t key_a = *chroprof__field(a, at), key_b = *chroprof__field(b, at);
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

/* Moves the row at k up among those that are so far apart, which are in order. */
static void chroprof__raise_rank(chroprof_rank *rows, size_t k, size_t gap, chroprof_order by)
{
    chroprof_rank row = rows[k];
    for (; k >= gap && chroprof__before(&row, rows + k - gap, by); k -= gap)
        rows[k] = rows[k - gap];
    rows[k] = row;
}

/* Shell's sort (1959), each gap 5/11 of the one before. */
static void chroprof__sort_ranks(chroprof_rank *rows, size_t count, chroprof_order by)
{
    for (size_t gap = count; gap > 1;) {
        gap = gap < 5 ? 1 : gap / 11 * 5 + gap % 11 * 5 / 11;
        for (size_t k = gap; k < count; k++)
            chroprof__raise_rank(rows, k, gap, by);
    }
}

/* Once there is no room for more, those that come first so far are in order. */
CHROPROF__COLD_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                         chroprof_order by)
{
    size_t count = 0, room = out ? capacity : 0;
    uint64_t cursor = 0;
    chroprof_site_row site;
    chroprof_rank rank;
    for (; chroprof_next_site(p, &cursor, &site); count++) {
        if (room == 0)
            continue;
        if (count == room)
            chroprof__sort_ranks(out, room, by);
        (void)chroprof_read_rank(p, site.id, &rank);
        bool place = count < room || chroprof__before(&rank, out + room - 1, by);
        if (place)
            out[count < room ? count : room - 1] = rank;
        if (place && count >= room)
            chroprof__raise_rank(out, room - 1, 1, by);
    }
    chroprof__sort_ranks(out, count <= room ? count : 0, by);
    return count;
}

/* A profile time in ns. Elapsed is a sum of parts that were floored each on their own, and no time
 * that is shown beside it may be later. */
static uint64_t chroprof__moment_ns(const chroprof *p, uint64_t ticks)
{
    uint64_t ns = chroprof__ns(p->core, ticks), elapsed = 0, count = chroprof__path_count(p);
    uint64_t last = chroprof__ns(p->core, p->core->last);
    uint64_t lack = (uint32_t)p->core->time.factor ? count : 0;
    if (ns + lack <= last)
        return ns;                          /* each part lacks less than 1 ns, or nothing */
    for (uint32_t k = 0; k < count; k++)
        elapsed += chroprof__ns(p->core, p->paths[k].exec);
    elapsed = chroprof__between(elapsed, chroprof__minus(last, lack), last);
    return ns < elapsed ? ns : elapsed;     /* in order, even if a forged block adds up to less */
}

/* The cursor counts the slots, then the frames: enter-frames have no slot, so they get one here. */
CHROPROF__COLD_API bool chroprof_next_future(const chroprof *p, uint64_t *cursor,
                                             chroprof_future *out)
{
    uint64_t rows = chroprof__can_read(p) ? p->rows : 0, end = rows ? rows + p->core->depth : 0;
    memset(out, 0, sizeof(*out));
    while (*cursor < end) {
        uint64_t k = (*cursor)++;
        uint32_t frame = k < rows ? p->futures[k].frame : (uint32_t)(k - rows + 1);
        const chroprof__frame_row *activation = p->frames + frame;
        const chroprof__future_row entered = {
            0, activation->pushed, 0, activation->path, (uint16_t)frame, CHROPROF_RUNNING, 0, 0
        };
        const chroprof__future_row *row = k < rows ? p->futures + k : &entered;
        if (k < rows ? row->id == 0 || row->state == CHROPROF__GONE
                     : !(activation->kind & CHROPROF__ENTER_FRAME))
            continue;
        out->id = chroprof__shown_id(p, row->id);
        out->path = row->path;
        out->state = chroprof__lost_its_frame(p, row) ? CHROPROF_PAUSED
                                                      : (chroprof_state)row->state;
        out->since_ns = chroprof__moment_ns(p, row->since);
        out->exec_ns = chroprof__ns(p->core, frame && !(activation->kind & CHROPROF__ORPHAN)
                                                 ? chroprof__frame_exec(p, frame) : row->exec);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &out->file, &out->line);
        return true;
    }
    return false;
}

CHROPROF__COLD_API size_t chroprof_frames(const chroprof *p, chroprof_frame *out, size_t capacity)
{
    uint32_t depth = chroprof__can_read(p) ? p->core->depth : 0;
    for (uint32_t k = depth; out && k > 0 && depth - k < capacity; k--, out++) {
        const chroprof__frame_row *frame = p->frames + k;
        memset(out, 0, sizeof(*out));
        out->id = chroprof__shown_id(p, frame->id);
        out->path = frame->path;
        out->barrier = (frame->kind & CHROPROF__BARRIER) != 0;
        out->since_ns = chroprof__moment_ns(p, frame->pushed);
        out->slice_ns = out->barrier ? 0 : chroprof__ns(p->core, chroprof__frame_slice(p, k));
        chroprof__read_site_name(p, p->paths[frame->path].site, &out->name, &out->file,
                                 &out->line);
    }
    return depth;
}

static uint32_t chroprof__window_count(const chroprof *p)
{
    return (p->core->window & 0xFFFF) + 1;
}

/* A walk over the exec of a site, or loop, idle, untracked, by windows: first what its cells hold,
 * then what each of its paths still holds back. */
typedef struct chroprof__part {
    uint32_t next;             /* cell; beyond the last one the paths are walked */
    uint32_t path;             /* whose exec this is, once they are */
    uint32_t window;
    uint64_t ticks;
} chroprof__part;

static bool chroprof__next_part(const chroprof *p, uint32_t site, chroprof__part *part)
{
    const chroprof__core *c = p->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    while (part->next < capacity) {
        uint32_t k = part->next++;
        part->ticks = cells[1 + k];
        part->window = chroprof__tag_index(c, (uint32_t)cells[0] << 16 | k);
        if (part->ticks)
            return true;
    }
    bool own = site < CHROPROF__OTHER, begun = part->next > capacity;
    if (own && begun)
        return false;
    part->path = begun ? p->paths[part->path].same_site
                       : own ? site : chroprof__sites(c)[site].first_path;
    part->next = capacity + 1;
    part->ticks = p->paths[part->path].exec - p->paths[part->path].mark;
    part->window = chroprof__tag_index(c, p->paths[part->path].window);
    return own || part->path != 0;
}

/* A cursor keeps what has been read so far of those that own a window's time (loop, idle,
 * untracked, all sites together; of one site the first) in ticks. It goes to ns by flooring the
 * running sum, so that nothing is lost from one window to the next; and never beyond what all of
 * them have, which was floored in smaller parts. So the sum over all windows is the exec that is
 * shown. */
enum { CHROPROF__OF_TASKS = 3 };

static uint32_t chroprof__owner_of(uint32_t site)
{
    return site < CHROPROF__OF_TASKS ? site : (uint32_t)CHROPROF__OF_TASKS;
}

/* Which of a site's cells hold windows [first, first + count) at the present level. */
static uint32_t chroprof__first_cell(const chroprof__core *c, const uint64_t *cells, uint64_t first)
{
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint64_t cell = shift < 16 ? first << shift : first ? capacity : 0;
    return (uint32_t)(cell < capacity ? cell : capacity);
}

/* Adds the ticks of a site, or loop, idle, untracked, in so many windows to words that are so far
 * apart. */
static void chroprof__add_site_ticks(const chroprof *p, uint32_t site, uint32_t first,
                                     uint32_t count, uint64_t *ticks, size_t apart)
{
    const chroprof__core *c = p->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint32_t k = chroprof__first_cell(c, cells, first);
    uint32_t end = chroprof__first_cell(c, cells, (uint64_t)first + count);
    for (; k < end; k++)
        ticks[(chroprof__tag_index(c, (uint32_t)cells[0] << 16 | k) - first) * apart] +=
            cells[1 + k];
    for (k = site < CHROPROF__OTHER ? site : chroprof__sites(c)[site].first_path;
         k || site == CHROPROF__LOOP; k = p->paths[k].same_site) {
        uint32_t window = chroprof__tag_index(c, p->paths[k].window);
        if (window >= first && window - first < count)
            ticks[(window - first) * apart] += p->paths[k].exec - p->paths[k].mark;
        if (site < CHROPROF__OTHER)
            break;
    }
}

/* What all windows of a site have, in ns. */
static uint64_t chroprof__most_ns(const chroprof *p, uint32_t site)
{
    if (site < CHROPROF__OTHER)
        return chroprof__ns(p->core, p->paths[site].exec);
    uint64_t most = 0;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        most += chroprof__ns(p->core, p->paths[k].exec);
    return most;
}

/* Ticks of a window become what is shown of it. */
static uint64_t chroprof__shown_ns(const chroprof *p, chroprof_windows_cursor *cursor, uint32_t k,
                                   uint64_t ticks)
{
    cursor->ticks[k] += ticks;
    uint64_t sum = chroprof__between(chroprof__ns(p->core, cursor->ticks[k]), 0, cursor->most[k]);
    uint64_t ns = sum - cursor->shown[k];
    cursor->shown[k] = sum;
    return ns;
}

CHROPROF__COLD_API size_t chroprof_next_site_windows(const chroprof *p, uint32_t site,
                                                     chroprof_windows_cursor *cursor,
                                                     uint64_t *exec_ns, size_t capacity)
{
    uint32_t all = chroprof__can_read(p) && site < chroprof__site_count(p)
        ? chroprof__window_count(p) : 0;
    if (cursor->next >= all)
        return 0;
    uint32_t left = all - cursor->next, count = capacity < left ? (uint32_t)capacity : left;
    if (!cursor->begun)
        cursor->most[0] = chroprof__most_ns(p, site);
    cursor->begun = true;
    if (count)
        memset(exec_ns, 0, count * sizeof(*exec_ns));
    chroprof__add_site_ticks(p, site, cursor->next, count, exec_ns, 1);
    for (uint32_t k = 0; k < count; k++)
        exec_ns[k] = chroprof__shown_ns(p, cursor, 0, exec_ns[k]);
    cursor->next += count;
    return left;
}

/* Profile time at which a window begins. */
static uint64_t chroprof__window_start(const chroprof__core *c, uint64_t index)
{
    return index ? index * c->windows.ticks - c->made.window_phase : 0;
}

enum { CHROPROF__SKIPPED_AT_ONCE = 16 };

static size_t chroprof__at_once(uint32_t count)
{
    return count < CHROPROF__SKIPPED_AT_ONCE ? count : (uint32_t)CHROPROF__SKIPPED_AT_ONCE;
}

static uint64_t chroprof__window_start_ns(const chroprof *p, uint32_t index)
{
    return chroprof__moment_ns(p, chroprof__window_start(p->core, index));
}

/* What all windows have, in ns. */
static void chroprof__begin_windows(const chroprof *p, chroprof_windows_cursor *cursor)
{
    cursor->begun = true;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        cursor->most[chroprof__owner_of(site)] += chroprof__most_ns(p, site);
}

/* From the ticks of a row to what is shown. */
static void chroprof__end_window(const chroprof *p, chroprof_windows_cursor *cursor,
                                 chroprof_window *row)
{
    uint32_t number = cursor->next++;
    bool under_way = number == (p->core->window & 0xFFFF);
    row->uninstrumented_ns =
        chroprof__shown_ns(p, cursor, CHROPROF__LOOP, row->uninstrumented_ns);
    row->idle_ns = chroprof__shown_ns(p, cursor, CHROPROF__IDLE, row->idle_ns);
    row->untracked_ns = chroprof__shown_ns(p, cursor, CHROPROF__UNTRACKED, row->untracked_ns);
    row->busy_ns = chroprof__shown_ns(p, cursor, CHROPROF__OF_TASKS, row->busy_ns) +
                   row->untracked_ns;
    row->start_ns = chroprof__window_start_ns(p, number);
    row->end_ns = under_way ? chroprof__moment_ns(p, p->core->last)
                            : chroprof__window_start_ns(p, number + 1u);
}

CHROPROF__COLD_API size_t chroprof_next_windows(const chroprof *p, chroprof_windows_cursor *cursor,
                                                chroprof_window *out, size_t capacity)
{
    uint32_t all = chroprof__can_read(p) ? chroprof__window_count(p) : 0;
    if (cursor->next >= all)
        return 0;
    uint32_t left = all - cursor->next, rows = capacity < left ? (uint32_t)capacity : left;
    if (!cursor->begun)
        chroprof__begin_windows(p, cursor);
    if (rows)
        memset(out, 0, rows * sizeof(*out));
    for (uint32_t site = 0; rows && site < chroprof__site_count(p); site++) {
        uint64_t *const ticks[] = { &out->uninstrumented_ns, &out->idle_ns, &out->untracked_ns,
                                    &out->busy_ns };
        if (site < CHROPROF__OTHER || chroprof__site_used(p, site))
            chroprof__add_site_ticks(p, site, cursor->next, rows,
                                     ticks[chroprof__owner_of(site)],
                                     sizeof(*out) / sizeof(uint64_t));
    }
    for (uint32_t k = 0; k < rows; k++)
        chroprof__end_window(p, cursor, out + k);
    return left;
}

/* What comes before the first is read as well, for the sums up to there. */
CHROPROF__COLD_API size_t chroprof_windows_from(const chroprof *p, uint32_t first,
                                                chroprof_window *out, size_t capacity)
{
    chroprof_windows_cursor cursor;
    chroprof_window before[CHROPROF__SKIPPED_AT_ONCE];
    if (!chroprof__can_read(p) || first >= chroprof__window_count(p))
        return 0;
    memset(&cursor, 0, sizeof(cursor));
    while (out && capacity && cursor.next < first)
        (void)chroprof_next_windows(p, &cursor, before, chroprof__at_once(first - cursor.next));
    if (out && capacity)
        (void)chroprof_next_windows(p, &cursor, out, capacity);
    return chroprof__window_count(p) - first;
}

CHROPROF__COLD_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity)
{
    return chroprof_windows_from(p, 0, out, capacity);
}

CHROPROF__COLD_API size_t chroprof_site_windows_from(const chroprof *p, uint32_t site,
                                                     uint32_t first, uint64_t *exec_ns,
                                                     size_t capacity)
{
    if (!chroprof__can_read(p) || site >= chroprof__site_count(p) ||
        first >= chroprof__window_count(p))
        return 0;
    chroprof_windows_cursor cursor;
    uint64_t before[CHROPROF__SKIPPED_AT_ONCE];
    memset(&cursor, 0, sizeof(cursor));
    while (exec_ns && capacity && cursor.next < first)
        (void)chroprof_next_site_windows(p, site, &cursor, before,
                                         chroprof__at_once(first - cursor.next));
    if (exec_ns && capacity)
        (void)chroprof_next_site_windows(p, site, &cursor, exec_ns, capacity);
    return chroprof__window_count(p) - first;
}

CHROPROF__COLD_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                                size_t capacity)
{
    return chroprof_site_windows_from(p, site, 0, exec_ns, capacity);
}

/* The first stall after a serial number; NULL: none. Many lie in both halves of the table. */
static const chroprof__stall_row *chroprof__stall_after(const chroprof *p, uint64_t serial)
{
    const chroprof__core *c = p->core;
    const chroprof__stall_row *next = NULL, *rows = chroprof__stall_rows(c);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (rows[k].serial > serial && (!next || rows[k].serial < next->serial))
            next = rows + k;
    return next;
}

/* The places that the sampler met, most first, each with what surely was there. */
static void chroprof__read_hits(const chroprof__hits *h, chroprof_stall *out)
{
    out->sampled = h->sampled;
    out->cpu_ns = h->cpu_ns;
    out->waiting_ns = h->waiting_ns;
    for (uint32_t k = 0; k < h->count; k++) {
        uint32_t at = out->sample_count++, weight = h->weight[k] - h->over[k];
        for (; at > 0 && out->samples[at - 1].weight < weight; at--)
            out->samples[at] = out->samples[at - 1];
        out->samples[at].stack = h->stack[k];
        out->samples[at].weight = weight;
        out->samples[at].cpu_ns = h->cpu[k];
    }
}

/* The steps of a stall; NULL: they are not kept. */
static const chroprof__incident_row *chroprof__incident_of(const chroprof__core *c, uint64_t serial)
{
    const chroprof__incident_row *rows = chroprof__incidents(c);
    for (uint32_t k = c->tables[CHROPROF_TABLE_INCIDENTS].capacity; k > 0 && serial; k--)
        if (rows[k].serial == serial)
            return rows + k;
    return NULL;
}

static void chroprof__read_stall(const chroprof *p, const chroprof__stall_row *row,
                                 chroprof_stall *out)
{
    const chroprof__incident_row *steps = chroprof__incident_of(p->core, row->serial);
    memset(out, 0, sizeof(*out));
    out->kind = row->kind == CHROPROF_STALL_ITERATION ? CHROPROF_STALL_ITERATION
                                                      : CHROPROF_STALL_CALLBACK;
    out->start_ns = chroprof__ns(p->core, row->start);
    out->length_ns = out->rest_ns = chroprof__ns(p->core, row->length);
    out->events = row->events;
    out->share_count = row->share_count;
    out->number = row->serial;
    if (steps) {
        out->step_count = steps->count;
        out->first_steps = steps->left_out ? steps->first : steps->count;
        out->left_out = steps->left_out;
    }
    chroprof__read_hits(&row->hits, out);
    for (uint32_t k = 0; k < row->share_count; k++) {
        chroprof_stall_share *share = out->shares + k;
        share->site = row->shares[k].site;
        share->exec_ns = chroprof__ns(p->core, row->shares[k].exec);
        share->slices = row->shares[k].slices;
        share->slice_max_ns = chroprof__ns(p->core, row->shares[k].slice_max);
        out->rest_ns = chroprof__minus(out->rest_ns, share->exec_ns);
        chroprof__read_site_name(p, share->site, &share->name, &share->file, &share->line);
    }
}

CHROPROF__COLD_API bool chroprof_next_stall(const chroprof *p, uint64_t *cursor,
                                            chroprof_stall *out)
{
    const chroprof__stall_row *row =
        chroprof__can_read(p) ? chroprof__stall_after(p, *cursor) : NULL;
    if (!row)
        return false;
    *cursor = row->serial;
    chroprof__read_stall(p, row, out);
    return true;
}

static void chroprof__read_slow(const chroprof *p, const chroprof__slow_group *group, uint32_t k,
                                chroprof_slow *out)
{
    const chroprof__core *c = p->core;
    const chroprof__slow_entry *row = group->rows + k;
    memset(out, 0, sizeof(*out));
    out->id = chroprof__shown_id(p, row->id);
    out->site = group->site;
    out->path = row->path;
    chroprof__read_site_name(p, group->site, &out->name, &out->file, &out->line);
    out->finish = row->state == CHROPROF_COMPLETED ? CHROPROF_COMPLETED :
                  row->state == CHROPROF_FAILED ? CHROPROF_FAILED : CHROPROF_CANCELLED;
    out->of_run = k < CHROPROF__SLOW_OF_RUN;
    out->at_ns = chroprof__moment_ns(p, row->at);
    out->latency_ns = chroprof__ns(c, row->latency);
    out->exec_ns = chroprof__ns(c, row->exec);
    out->children_ns = chroprof__ns(c, row->children);
    out->delay_ns = chroprof__ns(c, row->delay);
    out->unseen_ns = chroprof__ns(c, row->unseen);
    out->waiting_ns = out->latency_ns - out->exec_ns - out->children_ns - out->delay_ns -
                      out->unseen_ns;
    for (uint32_t i = 0; i < CHROPROF_SLOW_BLAMES && row->blames[i].delay; i++) {
        chroprof_slow_blame *blame = &out->blames[out->blame_count++];
        blame->site = row->blames[i].site;
        blame->delay_ns = chroprof__ns(c, row->blames[i].delay);
        chroprof__read_site_name(p, blame->site, &blame->name, &blame->file, &blame->line);
    }
}

CHROPROF__COLD_API bool chroprof_next_slowest(const chroprof *p, uint64_t *cursor,
                                              chroprof_slow *out)
{
    uint64_t rows = chroprof__can_read(p) ? p->core->tables[CHROPROF_TABLE_SLOW].used : 0;
    for (rows *= CHROPROF__SLOW_ROWS; *cursor < rows;) {
        uint64_t at = (*cursor)++;
        const chroprof__slow_group *group =
            chroprof__slow_groups(p->core) + at / CHROPROF__SLOW_ROWS;
        uint32_t k = (uint32_t)(at % CHROPROF__SLOW_ROWS);
        if (k >= group->count ||
            (k >= CHROPROF__SLOW_OF_RUN && group->rows[k].at < chroprof__slow_oldest(p->core)))
            continue;
        chroprof__read_slow(p, group, k, out);
        return true;
    }
    return false;
}

static void chroprof__read_step(const chroprof *p, const chroprof__ring_row *row,
                                chroprof_step *out)
{
    out->at_ns = chroprof__moment_ns(p, row->time);
    out->state = chroprof__row_state(row);
    out->id = out->state == CHROPROF_SINCE ? chroprof__ns(p->core, row->id)
                                           : chroprof__shown_id(p, chroprof__row_id(row));
    out->path = row->path;
    out->depth = row->depth;
    out->left_out = 0;
}

CHROPROF__COLD_API size_t chroprof_incident(const chroprof *p, uint64_t stall, chroprof_step *out,
                                            size_t capacity)
{
    const chroprof__incident_row *row =
        chroprof__can_read(p) ? chroprof__incident_of(p->core, stall) : NULL;
    for (size_t k = 0; row && out && k < row->count && k < capacity; k++) {
        chroprof__read_step(p, row->steps + k, out + k);
        if (row->steps[k].spare) {
            out[k].left_out = row->steps[k].path;
            out[k].path = CHROPROF__UNTRACKED;
        }
    }
    return row ? row->count : 0;
}

/* The cursor is the number of the next event, so who follows a ring sees what was overwritten. */
CHROPROF__COLD_API bool chroprof_next_step(const chroprof *p, uint64_t *cursor, chroprof_step *out)
{
    if (!chroprof__can_read(p))
        return false;
    chroprof__reach r = chroprof__ring_reach(p->core);
    uint64_t n = *cursor > r.first ? *cursor : r.first;
    if (n >= r.end)
        return false;
    chroprof__read_step(p, chroprof__ring_at(p, p->core, n), out);
    *cursor = n + 1;
    return true;
}

/* Row number k of the samples, from the oldest. */
static const chroprof__sample_span *chroprof__sample_at(const chroprof *p, uint64_t k)
{
    const chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t first = chroprof__sampler_of(p->core)->rows.head + table->capacity - table->used;
    return chroprof__sample_rows(p->core) + (first + k) % table->capacity;
}

CHROPROF__COLD_API bool chroprof_next_sample(const chroprof *p, uint64_t *cursor,
                                             chroprof_sample_row *out)
{
    if (!chroprof__can_read(p) || *cursor >= p->core->tables[CHROPROF_TABLE_SAMPLES].used)
        return false;
    const chroprof__sample_span *row = chroprof__sample_at(p, (*cursor)++);
    out->at_ns = chroprof__ns(p->core, row->time);
    out->duration_ns = chroprof__ns(p->core, row->time + row->duration) - out->at_ns;
    out->weight = row->weight;
    out->cpu_ns = row->cpu_ns;
    out->stack = row->stack;
    out->state = (chroprof_sample_state)row->state;
    return true;
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

#if CHROPROF__SAMPLES
/* As dladdr fills it in; weak, for programs that are not linked to it. */
typedef struct chroprof__symbol {
    const char *file;
    void *base;
    const char *name;
    void *address;
} chroprof__symbol;

extern int chroprof__find_symbol(const void *address, chroprof__symbol *out)
    __asm__(CHROPROF__LABEL("dladdr")) __attribute__((__weak__));

/* What the dynamic linker calls the function at an address of this process. m: the module that was
 * there when it ran, NULL: not known. Of another one there now the names are wrong. */
static const char *chroprof__function(const chroprof *p, const chroprof__module_row *m,
                                      uint64_t address)
{
    chroprof__symbol symbol = { NULL, NULL, NULL, NULL };
    uint64_t looked = chroprof__sampler_of(p->core)->modules.loaded;
    if (!chroprof__find_symbol || p->view || p->core->foreign ||
        !chroprof__find_symbol((const void *)(uintptr_t)address, &symbol))
        return "";
    bool same = m && looked >> (m - chroprof__module_rows(p->core)) & 1 &&
                (m->base == 0 || m->base == (uint64_t)(uintptr_t)symbol.base);
    return symbol.name && (!looked || same) ? symbol.name : "";
}
#else
#define chroprof__function(p, m, address) ""
#endif

/* A native frame: where it is in its file, and its name. Others: a task, or what is not known. */
static void chroprof__read_node(const chroprof *p, uint32_t k, chroprof_stack_frame *out)
{
    static const char marks[CHROPROF__MARKS][26] = {
        "", "(inside chroprof)", "(frames missing)", "(unknown stack)", "(deeper frames)", "(idle)",
        "(uninstrumented)", "(frames cut: table full)"
    };
    uint64_t item = chroprof__nodes(p->core)[k].item;
    uint32_t module = chroprof__item_module(item), line;
    const chroprof__module_row *m = module ? chroprof__module_rows(p->core) + (module - 1) : NULL;
    const char *file;
    memset(out, 0, sizeof(*out));
    out->module = m ? m->path : "";
    out->build_id = m ? m->build_id : "";
    if (chroprof__is_code(item)) {
        out->kind = CHROPROF_FRAME_NATIVE;
        out->is_return = chroprof__item_kind(item) == CHROPROF__RETURN;
        out->address = chroprof__item_address(item) - (m ? m->base : 0);
        out->name = chroprof__function(p, m, chroprof__item_address(item) - out->is_return);
    } else if (chroprof__item_kind(item) == CHROPROF__TASK) {
        out->kind = CHROPROF_FRAME_TASK;
        out->path = (uint32_t)chroprof__item_value(item);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &file, &line);
    } else {
        out->kind = CHROPROF_FRAME_MARKER;
        out->name = marks[chroprof__item_value(item)];
    }
}

CHROPROF__COLD_API size_t chroprof_stack(const chroprof *p, uint32_t stack,
                                         chroprof_stack_frame *out, size_t capacity)
{
    size_t count = 0;
    if (!chroprof__can_read(p) || stack > p->core->tables[CHROPROF_TABLE_STACKS].used)
        return 0;
    for (; stack; stack = chroprof__nodes(p->core)[stack].parent, count++)
        if (out && count < capacity)
            chroprof__read_node(p, stack, out + count);
    return count;
}

CHROPROF__COLD_API bool chroprof_next_stack(const chroprof *p, uint64_t *cursor,
                                            chroprof_stack_row *out)
{
    if (!chroprof__can_read(p) || *cursor >= p->core->tables[CHROPROF_TABLE_STACKS].used)
        return false;
    out->id = (uint32_t)++*cursor;
    const chroprof__node *node = chroprof__nodes(p->core) + out->id;
    out->parent = node->parent;
    out->module = chroprof__item_module(node->item);
    out->weight = node->weight;
    out->cpu_ns = node->cpu_ns;
    chroprof__read_node(p, out->id, &out->frame);
    return true;
}

CHROPROF__COLD_API size_t chroprof_modules(const chroprof *p, chroprof_module *out, size_t capacity)
{
    size_t count = chroprof__can_read(p) ? (size_t)p->core->tables[CHROPROF__MODULES].used : 0;
    for (size_t k = 0; out && k < count && k < capacity; k++) {
        const chroprof__module_row *row = chroprof__module_rows(p->core) + k;
        out[k].path = row->path;
        out[k].build_id = row->build_id;
        out[k].base = row->base;
        out[k].start = row->low;
        out[k].end = row->high;
    }
    return count;
}

/* Rows that paths have in the wall profile. */
static uint32_t chroprof__wall_count(const chroprof *p)
{
    uint32_t rows = p->core->tables[CHROPROF__WALLS].rows, paths = chroprof__path_count(p);
    return rows < paths ? rows : paths;
}

/* The cursor is a path. */
CHROPROF__COLD_API bool chroprof_next_wall(const chroprof *p, uint64_t *cursor, chroprof_wall *out)
{
    uint32_t end = chroprof__can_read(p) ? chroprof__wall_count(p) : 0;
    while (*cursor < end) {
        const chroprof__wall_row *row = chroprof__wall_rows(p->core) + *cursor;
        out->path = (uint32_t)(*cursor)++;
        chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__wall_figures), row, out);
        if ((out->running | out->ready | out->paused) != 0)
            return true;
    }
    return false;
}

/* The lists of what a cursor has, all or those rows that are asked for. */
#define CHROPROF__RANGE uint64_t from_ns, uint64_t to_ns,
#define CHROPROF__LIST(list, range, next, row_type, wanted)                                        \
    CHROPROF__COLD_API size_t list(const chroprof *p, range row_type *out, size_t capacity)        \
    {                                                                                              \
        size_t count = 0;                                                                          \
        uint64_t cursor = 0;                                                                       \
        row_type row;                                                                              \
        while (next(p, &cursor, &row)) {                                                           \
            if (!(wanted))                                                                         \
                continue;                                                                          \
            if (out && count < capacity)                                                           \
                out[count] = row;                                                                  \
            count++;                                                                               \
        }                                                                                          \
        return count;                                                                              \
    }
CHROPROF__LIST(chroprof_paths, , chroprof_next_path, chroprof_path, true)
CHROPROF__LIST(chroprof_futures, , chroprof_next_future, chroprof_future, true)
CHROPROF__LIST(chroprof_stalls, , chroprof_next_stall, chroprof_stall, true)
CHROPROF__LIST(chroprof_slowest, , chroprof_next_slowest, chroprof_slow, true)
CHROPROF__LIST(chroprof_walls, , chroprof_next_wall, chroprof_wall, true)
CHROPROF__LIST(chroprof_timeline, CHROPROF__RANGE, chroprof_next_step, chroprof_step,
               row.at_ns >= from_ns && row.at_ns <= to_ns)
CHROPROF__LIST(chroprof_samples, CHROPROF__RANGE, chroprof_next_sample, chroprof_sample_row,
               chroprof__select_sample(&row, from_ns, to_ns))
#undef CHROPROF__RANGE
#undef CHROPROF__LIST

CHROPROF__COLD_API void chroprof_read_sampler(const chroprof *p, chroprof_sampler_totals *out)
{
    memset(out, 0, sizeof(*out));
    const chroprof__sampler *s = chroprof__can_read(p) ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    out->running = s->timer.running && p->view;
#if CHROPROF__SAMPLES                       /* a forked child has no timer, whatever it says */
    out->running = out->running ||
                   (s->timer.running && p->sampling && p->sampler_pid == (uint64_t)getpid());
#endif
    out->mode = s->set.mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__sampler_figures), s, out);
    out->rows = p->core->tables[CHROPROF_TABLE_SAMPLES].used;
}

/* Of a forked child's handle too: what its parent's profile was made with. */
static void chroprof__options_of(const chroprof *p, chroprof_options *out)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = p->core->tables[k].capacity;
    memcpy(out, capacity, sizeof(capacity));        /* in the order of the tables */
    out->window_ns = p->core->set.window_ns;
    out->stall_ns = p->core->set.stall_ns;
    out->max_step_ns = p->core->set.max_step_ns;
    out->on_stall = p->on_stall;
    out->on_stall_user = p->on_stall_user;
    out->name = p->core->who.name;
}

CHROPROF__COLD_API void chroprof_read_options(const chroprof *p, chroprof_options *out)
{
    memset(out, 0, sizeof(*out));
    if (chroprof__can_read(p))
        chroprof__options_of(p, out);
}

/* How many different keys left this bitmap behind, by linear counting (Whang and others, 1990) with
 * half as many again for safety; never more than were dropped. */
static uint64_t chroprof__distinct(const chroprof__table_row *table)
{
    uint64_t keys = 2, open = 64;
    for (uint64_t bits = table->wanted; bits && open > 1; bits &= bits - 1, open--)
        keys += 96 / open + 1;
    return open == 1 || keys > table->dropped ? table->dropped : keys;
}

/* A capacity that would have done. Of the tree, what was dropped would have had children, which
 * were taken for those of its parent, so twice as much is asked for as was seen. How many different
 * frames of stacks were lost: about the lowest bit that none of them left, 1.3 times; three times
 * that for safety. */
static uint64_t chroprof__advice(const chroprof *p, uint32_t kind)
{
    const chroprof__table_row *table = &p->core->tables[kind];
    uint64_t more = chroprof__distinct(table), rarest = ~table->wanted & (table->wanted + 1);
    switch (kind) {
    case CHROPROF_TABLE_FUTURES:
    case CHROPROF_TABLE_HISTOGRAMS: return table->capacity + table->dropped;
    case CHROPROF_TABLE_PATHS:
    case CHROPROF_TABLE_EDGES:
        return chroprof__between(2 * (table->capacity + more), 0, UINT64_C(1) << 28);
    case CHROPROF_TABLE_DEPTH:
    case CHROPROF_TABLE_STRINGS: return table->capacity + table->wanted;
    case CHROPROF_TABLE_STACKS:
        more = rarest >> 48 ? UINT64_MAX : 4 * rarest + 1;
        chroprof__lower(&more, table->dropped);
        break;
    default: break;
    }
    return table->capacity + more;
}

/* Use, peak and drops of the tables that do not count them themselves. */
static void chroprof__read_use(const chroprof *p, chroprof_table *out)
{
    const chroprof__core *c = p->core;
    switch (out->kind) {
    case CHROPROF_TABLE_EVENTS:
        out->used = chroprof__ring_reach(c).end - chroprof__ring_reach(c).first;
        out->peak = out->used;
        break;
    case CHROPROF_TABLE_DEPTH:
        out->used = c->depth;
        while (out->peak < out->capacity && p->frames[out->peak + 1].kind != 0)
            out->peak++;                    /* a frame once used keeps its kind */
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

CHROPROF__COLD_API size_t chroprof_tables(const chroprof *p, chroprof_table *out, size_t capacity)
{
    /* no pointers: those would be data that the loader has to write */
#define CHROPROF__TABLE_NAMES(id, text, field) { text, field },
    static const char names[][2][20] = { CHROPROF_TABLES(CHROPROF__TABLE_NAMES) };
#undef CHROPROF__TABLE_NAMES
    if (!chroprof__can_read(p))
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_TABLE_COUNT && k < capacity; k++) {
        const chroprof__table_row *table = &p->core->tables[k];
        out[k].kind = (chroprof_table_kind)k;
        out[k].name = names[k][0];
        out[k].option = names[k][1];
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

static void chroprof__read_place(const chroprof *p, const chroprof__met *row,
                                 chroprof_anomaly_place *out)
{
    uint32_t path = row->path ? row->path : row->top;
    out->at_ns = chroprof__ns(p->core, row->at);
    out->id = chroprof__shown_id(p, row->id);
    out->path = row->path;
    out->top = row->top;
    chroprof__read_site_name(p, p->paths[path].site, &out->name, &out->file, &out->line);
}

CHROPROF__COLD_API bool chroprof_read_anomaly(const chroprof *p, chroprof_anomaly_kind kind,
                                              chroprof_anomaly *out)
{
#define CHROPROF__TEXTS(name, text, cure) text "\0" cure "\0"
    static const char texts[] = CHROPROF_ANOMALIES(CHROPROF__TEXTS);
#undef CHROPROF__TEXTS
    memset(out, 0, sizeof(*out));
    out->text = out->cure = "";
    out->first.name = out->first.file = out->last.name = out->last.file = "";
    if (!chroprof__can_read(p) || (unsigned)kind >= (unsigned)CHROPROF_ANOMALY_COUNT)
        return false;
    const chroprof__places *row = chroprof__places_of(p->core, (uint32_t)kind);
    out->kind = kind;
    out->count = p->core->anomalies.counts[kind];
    out->text = chroprof__nth_text(texts, 2 * (uint32_t)kind);
    out->cure = chroprof__nth_text(out->text, 1);
    out->placed = row && out->count > 0;
    if (!out->placed)
        return true;
    chroprof__read_place(p, &row->first, &out->first);
    chroprof__read_place(p, &row->last, &out->last);
    return true;
}

/* CHROPROF__HELD: of findings of this kind nobody names the code. */
static uint32_t chroprof__held_place(chroprof_finding_kind kind)
{
    return kind == CHROPROF_FINDING_OCCUPIES ? 0
           : kind == CHROPROF_FINDING_STALL ? 1
           : kind == CHROPROF_FINDING_HANGS ? 2 : CHROPROF__HELD;
}

/* Which row has most time of those that are not in the list yet; NULL: all are. */
static const chroprof__waited_row *chroprof__next_waited(const chroprof *p, uint32_t *taken)
{
    const chroprof__waited_row *most = NULL;
    uint32_t place = 0;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        const chroprof__waited_row *row = p->core->told.waited + k;
        if (row->count == 0 || *taken >> k & 1 || (most && row->ticks <= most->ticks))
            continue;
        most = row;
        place = k;
    }
    *taken |= most ? UINT32_C(1) << place : 0;
    return most;
}

CHROPROF__COLD_API size_t chroprof_task_waits(const chroprof *p, chroprof_task_wait *out,
                                              size_t capacity)
{
    const chroprof__waited_row *row;
    uint32_t taken = 0;
    size_t count = 0;
    if (!chroprof__can_read(p))
        return 0;
    for (; (row = chroprof__next_waited(p, &taken)) != NULL; count++) {
        if (!out || count >= capacity)
            continue;
        out[count].site = row->site;
        out[count].count = row->count;
        out[count].total_ns = chroprof__ns(p->core, row->ticks);
        out[count].longest_ns = chroprof__ns(p->core, row->longest);
        out[count].call = row->call;
        out[count].within = row->within;
        out[count].estimated = row->estimated != 0;
        chroprof__read_site_name(p, row->site, &out[count].name, &out[count].file,
                                 &out[count].line);
    }
    return count;
}

CHROPROF__COLD_API const char *chroprof_held_by(const chroprof *p, chroprof_finding_kind kind,
                                                uint64_t at_ns, uint32_t *ppm)
{
    uint32_t place = chroprof__held_place(kind);
    *ppm = 0;
    if (!chroprof__can_read(p) || place == CHROPROF__HELD ||
        p->core->told.held[place].at_ns != at_ns)
        return "";
    *ppm = p->core->told.held[place].ppm;
    return p->core->told.held[place].code;
}

CHROPROF__COLD_API const char *chroprof_awake_by(const chroprof *p)
{
    return chroprof__can_read(p) ? p->core->told.awake : "";
}

CHROPROF__COLD_API size_t chroprof_anomalies(const chroprof *p, chroprof_anomaly *out,
                                             size_t capacity)
{
    if (!chroprof__can_read(p))
        return 0;
    for (uint32_t k = 0; out && k < CHROPROF_ANOMALY_COUNT && k < capacity; k++)
        (void)chroprof_read_anomaly(p, (chroprof_anomaly_kind)k, out + k);
    return CHROPROF_ANOMALY_COUNT;
}

/* The sums over all paths, and the times of those that are none. */
static void chroprof__sum_paths(const chroprof *p, chroprof_totals *out)
{
    uint64_t *const exec[] = { &out->uninstrumented_ns, &out->idle_ns, &out->untracked_ns };
    uint64_t *const blame[] = {
        &out->uninstrumented_blame_ns, &out->idle_blame_ns, &out->untracked_blame_ns
    };
    for (uint32_t k = 1; k <= p->core->depth; k++)
        out->live += (p->frames[k].kind & CHROPROF__ENTER_FRAME) != 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path_row *row = p->paths + k;
        uint64_t ns = chroprof__ns(p->core, row->exec), delay = chroprof__delay_ticks(p, row);
        if (k < CHROPROF__FIRST_PATH) {
            *exec[k] = ns;
            *blame[k] = chroprof__ns(p->core, row->blame);
        }
        out->elapsed_ns += ns;
        out->live += row->live + row->merged_live;
        out->delay_ticks += delay;
        out->delay_ns += chroprof__ns(p->core, delay);
        out->blame_ticks += row->blame;
        out->blame_ns += chroprof__ns(p->core, row->blame);
    }
    out->busy_ns = out->elapsed_ns - out->idle_ns - out->uninstrumented_ns;
}

/* Idle in which the loop slept: waits that returned at once are none, nor what its CPU time leaves
 * no room for. */
static uint64_t chroprof__asleep_ns(const chroprof_totals *t)
{
    uint64_t most = chroprof__minus(t->elapsed_ns, t->cpu_clock_ns);
    uint64_t ns = chroprof__minus(t->idle_ns,
                                  t->at_once_ns > t->elapsed_ns / 100 ? t->at_once_ns : 0);
    return t->cpu_clock_ns > 0 && most < ns ? most : ns;
}

/* Of data that comes at a random moment a share comes in iterations of a length that is their share
 * of the time, and waits for the rest of one, half of it on average. What waits longer than some
 * time came in the part of an iteration that is longer ago than that from its end. */
static void chroprof__read_hidden(const chroprof *p, chroprof_totals *out)
{
    const chroprof__histogram *h = &p->core->lengths.iteration;
    uint64_t whole = chroprof__minus(out->elapsed_ns, out->start_ns + out->exit_ns);
    uint64_t longer = 0, length_ns = 0, hundredth = whole / 100;
    for (uint32_t k = CHROPROF__BUCKETS; k-- > 0 && whole > 0;) {
        uint64_t count = chroprof__bucket_count(p, h, k);
        uint64_t ticks = k < CHROPROF__BUCKETS - 1 ? chroprof__bucket_value(k) : UINT64_MAX;
        if (count == 0)
            continue;
        ticks = chroprof__between(ticks, *chroprof__least_of(p, h), p->core->loop.iteration_max);
        uint64_t ns = chroprof__ns(p->core, ticks);
        if (!out->hidden_p99_ns && longer > 0 && length_ns > hundredth + longer * ns)
            out->hidden_p99_ns = (length_ns - hundredth) / longer;
        out->hidden_ns += chroprof__weigh(ns, count * ns, 2 * whole);
        longer += count;
        length_ns += count * ns;
    }
    if (!out->hidden_p99_ns && longer > 0 && length_ns > hundredth)    /* counts of a file wrap */
        out->hidden_p99_ns = (length_ns - hundredth) / longer;
}

CHROPROF__COLD_API void chroprof_read_totals(const chroprof *p, chroprof_totals *out)
{
    memset(out, 0, sizeof(*out));
    if (!chroprof__can_read(p))
        return;
    const chroprof__core *c = p->core;
    chroprof__read_figures(c, CHROPROF__ALL(chroprof__loop_figures), c, out);
    chroprof__sum_paths(p, out);
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        out->anomalies += c->anomalies.counts[k];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        out->dropped += c->tables[k].dropped;
    out->events = (c->seq - c->seq_base) / 2 + c->made.merged_events;
    if (p->percentiles) {
        const chroprof__histogram *callback = &c->lengths.callback;
        const chroprof__histogram *iteration = &c->lengths.iteration;
        out->callbacks += chroprof__histogram_total(p, callback);
        out->iterations += chroprof__histogram_total(p, iteration);
        out->callback_p50_ns = chroprof__percentile_ns(p, callback, c->loop.callback_max, 500);
        out->callback_p99_ns = chroprof__percentile_ns(p, callback, c->loop.callback_max, 990);
        out->iteration_p50_ns = chroprof__percentile_ns(p, iteration, c->loop.iteration_max, 500);
        out->iteration_p99_ns = chroprof__percentile_ns(p, iteration, c->loop.iteration_max, 990);
        chroprof__read_hidden(p, out);
    }
    out->asleep_ns = chroprof__asleep_ns(out);
    out->provisional = !c->time.calibrated;
    out->enabled = c->enabled != 0;
    out->idle = c->account == CHROPROF__IDLE;
    out->in_iteration = c->loop.iteration_active != 0 && c->account != CHROPROF__IDLE;
    out->living = c->copy.living != 0;
    out->estimated = c->estimated != 0;
    out->depth = c->depth + c->hidden;
}

/* >>validate: every invariant of a block, once, with its text. It owns nothing and changes nothing.
 * The first part is what all reads rely on: where each table lies, every index, and that every walk
 * ends. chroprof_open asks it of a block in which nothing is believed, each table once and in
 * linear time. The second part, which no read relies on, adds up across tables. chroprof_check asks
 * both. The repair of a snapshot asks for single rows, and empties those that can't be. */

#define CHROPROF__MUST(condition, text) \
    do { \
        if (!(condition)) \
            return text; \
    } while (0)

/* What another question finds broken. */
#define CHROPROF__ASK(question)                  \
    do {                                         \
        const char *chroprof__broken = question; \
        if (chroprof__broken)                    \
            return chroprof__broken;             \
    } while (0)

/* ---- what all reads rely on */

/* Do the tables lie where a block of these capacities has them? */
CHROPROF__COLD bool chroprof__has_layout(const chroprof__core *c)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        capacity[k] = c->tables[k].capacity;
        if (capacity[k] == 0 && !chroprof__rations[k].may_be_0)
            return false;
    }
    bool good = chroprof__within_limits(capacity) && c->form.block_bytes != UINT64_MAX &&
                chroprof__layout(capacity, tables) == c->form.block_bytes;
    for (uint32_t k = 0; good && k < CHROPROF__ALL_TABLES; k++) {
        const chroprof__table_row *table = &c->tables[k];
        good = table->offset == tables[k].offset && table->bytes == tables[k].bytes &&
               table->rows == tables[k].rows && table->capacity == tables[k].capacity;
    }
    return good;
}

/* What the start of the core says, if size bytes of it are there. */
CHROPROF__COLD chroprof_result chroprof__judge_header(const chroprof__core *c, uint64_t size)
{
    if (size < offsetof(chroprof__core, process.pid))
        return CHROPROF_ERR_TRUNCATED;
    if (c->form.order == 0x04030201u)
        return CHROPROF_ERR_BYTE_ORDER;
    if (c->form.layout != CHROPROF__LAYOUT || c->form.core_bytes != sizeof(*c))
        return CHROPROF_ERR_VERSION;
    if (size < sizeof(*c))
        return CHROPROF_ERR_TRUNCATED;
    if (c->form.order != 0x01020304u || !chroprof__has_layout(c))
        return CHROPROF_ERR_CORRUPT;
    return size < c->form.block_bytes ? CHROPROF_ERR_TRUNCATED : CHROPROF_OK;
}

/* Is no more of any table in use, and of the stack, than there is? */
CHROPROF__COLD const char *chroprof__ask_uses(const chroprof__core *c)
{
    for (uint32_t k = 0; k < CHROPROF__ALL_TABLES; k++) {
        const chroprof__table_row *table = &c->tables[k];
        uint64_t most = k == CHROPROF_TABLE_STRINGS ? table->bytes
                                                    : table->rows ? table->capacity : 0;
        CHROPROF__MUST(table->used <= most, "no more of a table is in use than there is");
    }
    CHROPROF__MUST(c->tables[CHROPROF_TABLE_STRINGS].used >= CHROPROF__OWN_STRINGS,
                    "our own strings are in use");
    CHROPROF__MUST(c->depth <= c->tables[CHROPROF_TABLE_DEPTH].capacity,
                    "the stack is no deeper than max_depth");
    return NULL;
}

/* What the repair of a snapshot divides by and shifts by as well: it is asked before that. */
CHROPROF__COLD const char *chroprof__ask_scales(const chroprof__core *c)
{
    CHROPROF__MUST(c->time.factor != 0 && c->last < CHROPROF__END_OF_TIME,
                    "a tick takes time, and not all of it has passed");
    CHROPROF__MUST(c->windows.ticks != 0 && c->made.window_phase < c->windows.ticks &&
                    c->made.window_phase < CHROPROF__END_OF_TIME,
                    "windows have a width, and time 0 lies in the first one");
    CHROPROF__MUST(chroprof__tag_level(c->window) <= 62, "windows were widened so often at most");
    return NULL;
}

/* The fields of the core that reads divide by, index with, or take for text. */
static const char *chroprof__ask_core(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t index = c->window & 0xFFFF;
    CHROPROF__MUST(c->form.magic == CHROPROF__MAGIC && c->seq % 2 == 0,
                    "the block begins with the magic number and no event is under way");
    CHROPROF__ASK(chroprof__ask_scales(c));
    CHROPROF__MUST(index < c->tables[CHROPROF_TABLE_WINDOWS].capacity &&
                    index <= (c->last + c->made.window_phase) / c->windows.ticks,
                    "the present window is one of the table");
    CHROPROF__MUST(!c->hidden || c->hidden_since <= c->last, "no frame was hidden later than now");
    CHROPROF__MUST(c->account < chroprof__path_count(p), "time goes to a path");
    CHROPROF__MUST(chroprof__can_defer(p), "what is deferred belongs to a count");
    CHROPROF__MUST(c->who.name[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->who.host[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->who.program[CHROPROF__NAME_BYTES - 1] == '\0' &&
                    c->told.awake[CHROPROF__AWAKE_BYTES - 1] == '\0', "names end");
    const chroprof__waited_row *end = c->told.waited + CHROPROF__WAITED;
    for (const chroprof__waited_row *row = c->told.waited; row < end; row++)
        CHROPROF__MUST(row->site < chroprof__site_count(p) &&
                       row->call[CHROPROF__CALL_BYTES - 1] == '\0' &&
                       row->within[CHROPROF__WITHIN_BYTES - 1] == '\0',
                       "waits inside tasks have a site and a call");
    for (const chroprof__held_row *row = c->told.held; row < c->told.held + CHROPROF__HELD; row++)
        CHROPROF__MUST(row->code[CHROPROF__CODE_BYTES - 1] == '\0', "code that held the loop ends");
    return NULL;
}

static const char *chroprof__ask_path(const chroprof *p, uint32_t k)
{
    const chroprof__core *c = p->core;
    const chroprof__path_row *row = p->paths + k;
    CHROPROF__MUST(chroprof__tag_level(row->window) <= chroprof__tag_level(c->window) &&
                    chroprof__tag_index(c, row->window) <= (c->window & 0xFFFF),
                    "no path is ahead of the present window");
    if (k < CHROPROF__FIRST_PATH) {
        CHROPROF__MUST(row->site == k && row->parent == 0 && row->generation == 0 &&
                        row->histogram == 0 && (k == CHROPROF__LOOP || row->next == 0),
                        "loop, idle and untracked are no part of the tree");
        return NULL;
    }
    CHROPROF__MUST(row->site >= CHROPROF__OTHER && row->site < chroprof__site_count(p),
                    "a path has a site");
    CHROPROF__MUST(row->parent < k && row->parent != CHROPROF__IDLE &&
                    row->parent != CHROPROF__UNTRACKED &&
                    row->generation <= (uint32_t)CHROPROF__CHAIN &&
                    row->generation == p->paths[row->parent].generation + 1,
                    "a path is younger than its parent, and one generation below it");
    CHROPROF__MUST(row->histogram < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows,
                    "a path's histogram lies in the table");
    return NULL;
}

static const char *chroprof__ask_histograms(const chroprof *p, uint32_t k)
{
    const chroprof__histograms *row = p->histograms + k;
    uint64_t used = p->core->tables[CHROPROF__RANGE_TABLE].used;
    CHROPROF__MUST(row->path < chroprof__path_count(p), "histograms are of a path's site");
    for (uint32_t i = 0; i < CHROPROF__RANGES; i++)
        CHROPROF__MUST(row->slice.range[i] < used && row->delay.range[i] < used &&
                        row->latency.range[i] < used, "a histogram's ranges lie in the table");
    return NULL;
}

/* Of callbacks and iterations. Without percentiles they have no ranges. */
static const char *chroprof__ask_lengths(const chroprof *p)
{
    const chroprof__core *c = p->core;
    for (uint32_t k = 0; k < CHROPROF__RANGES; k++) {
        uint32_t callback = p->percentiles ? CHROPROF__CALLBACK_RANGES + k : 0;
        uint32_t iteration = p->percentiles ? CHROPROF__ITERATION_RANGES + k : 0;
        CHROPROF__MUST(c->lengths.callback.range[k] == callback &&
                        c->lengths.iteration.range[k] == iteration,
                        "the ranges of callbacks and iterations lie in a row");
    }
    return NULL;
}

static const char *chroprof__ask_paths(const chroprof *p)
{
    uint32_t count = chroprof__path_count(p), seen = CHROPROF__FIRST_PATH, generation = 0;
    for (uint32_t k = 0; k < count; k++)
        CHROPROF__ASK(chroprof__ask_path(p, k));
    for (uint32_t k = p->paths[0].next; k; k = p->paths[k].next) {
        CHROPROF__MUST(k >= CHROPROF__FIRST_PATH && k < count && seen++ < count,
                        "the preorder of the paths stays in the table and has no cycle");
        CHROPROF__MUST(p->paths[k].generation <= generation + 1,
                        "in preorder a path follows its parent");
        generation = p->paths[k].generation;
    }
    CHROPROF__MUST(seen == count, "every path is in the preorder once");
    return NULL;
}

/* A string begins behind the NUL of the one before; the last NUL ends them all. */
static bool chroprof__is_string(const chroprof__core *c, uint32_t offset)
{
    return offset < c->tables[CHROPROF_TABLE_STRINGS].used &&
           (offset == 0 || chroprof__string(c, offset)[-1] == '\0');
}

/* A string of ours, no longer than those that we write. The last NUL has been looked at. */
static bool chroprof__is_text(const chroprof__core *c, uint32_t offset)
{
    size_t left = (size_t)c->tables[CHROPROF_TABLE_STRINGS].used - offset;
    return left <= CHROPROF__LONGEST_TEXT ||
           memchr(chroprof__string(c, offset), 0, CHROPROF__LONGEST_TEXT + 1) != NULL;
}

/* Each path is in one chain, so the walks of all take linear time. */
static const char *chroprof__ask_sites(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t linked = CHROPROF__FIRST_PATH, last = (uint32_t)c->tables[CHROPROF_TABLE_STRINGS].used;
    CHROPROF__MUST(*chroprof__string(c, last - 1) == '\0', "the last string ends");
    for (uint32_t number = 0; number < chroprof__site_count(p); number++) {
        const chroprof__site_entry *site = chroprof__sites(c) + number;
        uint32_t k = site->first_path, before = chroprof__path_count(p);
        CHROPROF__MUST(chroprof__is_string(c, site->name) && chroprof__is_string(c, site->file),
                        "a site's strings lie in the table");
        CHROPROF__MUST(chroprof__is_text(c, site->name) && chroprof__is_text(c, site->file),
                        "a site's strings are no longer than any that was kept");
        CHROPROF__MUST(chroprof__cells(c, number)[0] <= chroprof__tag_level(c->window),
                        "no site is ahead of the width of the windows");
        for (; k; before = k, k = p->paths[k].same_site, linked++)
            CHROPROF__MUST(k < before && p->paths[k].site == number,
                            "the paths of a site are linked, younger to older");
    }
    CHROPROF__MUST(linked == chroprof__path_count(p), "every path is one of its site's");
    return NULL;
}

static const char *chroprof__ask_frame(const chroprof *p, uint32_t k)
{
    const chroprof__frame_row *frame = p->frames + k, *same = p->frames + frame->same;
    CHROPROF__MUST(frame->path < chroprof__path_count(p) && frame->depth == k,
                    "every frame has a path, and knows its number");
    CHROPROF__MUST(frame->pushed <= p->core->last && frame->start >= frame->pushed &&
                    chroprof__frame_slice(p, k) <= p->core->last - frame->pushed,
                    "a frame was pushed before now, and its slice lies in its activation");
    if (frame->id == 0)
        return NULL;
    CHROPROF__MUST(frame->slot % 5 == 0 && frame->slot / 5 < p->rows &&
                    chroprof__slot_of(p, frame)->id == frame->id,
                    "a frame knows the slot of its id");
    CHROPROF__MUST(!frame->same || (frame->same < k && same->id == frame->id &&
                                    same->slot == frame->slot),
                    "the next frame of the same id is deeper");
    return NULL;
}

static const char *chroprof__ask_stack(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t barrier = 0, barriers = 0, top = p->frames[c->depth].path;
    CHROPROF__MUST(p->frames->id == 0 && p->frames->path == CHROPROF__LOOP &&
                    p->frames->depth == 0 &&
                    p->frames->kind == CHROPROF__BARRIER, "the stack stands on the loop");
    for (uint32_t k = 1; k <= c->depth; k++) {
        CHROPROF__ASK(chroprof__ask_frame(p, k));
        if (!(p->frames[k].kind & CHROPROF__BARRIER))
            continue;
        CHROPROF__MUST(p->frames[k].slot == barrier, "a barrier knows the one below it");
        barrier = k;
        barriers++;
    }
    CHROPROF__MUST(barrier == c->barrier && barriers == c->barriers,
                    "the innermost barrier is known");
    CHROPROF__MUST(c->hidden ? c->account == CHROPROF__UNTRACKED : c->account == top ||
                        (c->account == CHROPROF__IDLE && c->depth == c->barrier),
                    "time goes to what is on top");
    return NULL;
}

/* A frame is the topmost one of at most one slot, so the chains of all take linear time. An empty
 * row is zero, here and in all tables. */
static const char *chroprof__ask_future(const chroprof *p, uint32_t k)
{
    const chroprof__future_row *slot = p->futures + k;
    const chroprof__frame_row *frame = p->frames + slot->frame;
    CHROPROF__MUST(slot->path < chroprof__path_count(p), "every future has a path");
    CHROPROF__MUST(!slot->frame || (slot->frame <= p->core->depth && frame->id == slot->id &&
                                     frame->slot == 5 * k),
                    "a future's topmost frame is one of its id");
    if (slot->state == CHROPROF__GONE) {
        CHROPROF__MUST(slot->frame, "a finished future keeps its slot only for its frames");
        return NULL;
    }
    CHROPROF__MUST(slot->frame && !(frame->kind & CHROPROF__ORPHAN)
                       ? slot->state == CHROPROF_RUNNING : slot->state <= CHROPROF_PAUSED,
                    "a live future is pending, ready, running or paused; with a frame running");
    CHROPROF__MUST(slot->since <= p->core->last, "no future is in a state since later than now");
    return NULL;
}

static const char *chroprof__ask_edge(const chroprof *p, uint32_t k)
{
    const chroprof__edge *edge = chroprof__edges(p->core) + k;
    CHROPROF__MUST(edge->path < chroprof__path_count(p) &&
                    edge->target < chroprof__path_count(p) &&
                    p->paths[edge->target].site == edge->site,
                    "an edge leads from a path to one of its site");
    return NULL;
}

/* Tables that are searched. */
static const char *chroprof__ask_counts(const chroprof *p)
{
    const chroprof__table_row *tables = p->core->tables;
    uint64_t live = 0, taken = 0, edges = 0;
    for (uint32_t k = 0; k < p->rows; k++) {
        taken += p->futures[k].id != 0;
        live += p->futures[k].id != 0 && p->futures[k].state != CHROPROF__GONE;
    }
    for (uint32_t k = 0; k < tables[CHROPROF_TABLE_EDGES].rows; k++)
        edges += chroprof__edges(p->core)[k].site != 0;
    CHROPROF__MUST(taken < p->rows, "a search for a future ends");
    CHROPROF__MUST(live == tables[CHROPROF_TABLE_FUTURES].used &&
                    edges == tables[CHROPROF_TABLE_EDGES].used,
                    "the counts of live futures and edges are those of their rows");
    return NULL;
}

static bool chroprof__good_hits(const chroprof *p, const chroprof__hits *h)
{
    uint32_t good = 0;
    while (good < h->count && good < CHROPROF_STALL_SAMPLES &&
           h->stack[good] <= p->core->tables[CHROPROF_TABLE_STACKS].used &&
           h->over[good] <= h->weight[good])
        good++;
    return good == h->count;
}

static const char *chroprof__ask_stall(const chroprof *p, uint32_t k)
{
    const chroprof__stall_row *row = chroprof__stall_rows(p->core) + k;
    CHROPROF__MUST(chroprof__good_hits(p, &row->hits) &&
                    row->share_count <= CHROPROF_STALL_SHARES,
                    "a stall's samples have stacks, and it has so many shares");
    for (uint32_t i = 0; i < row->share_count; i++)
        CHROPROF__MUST(row->shares[i].site < chroprof__site_count(p),
                        "a stall's shares are of sites");
    return NULL;
}

static bool chroprof__good_place(const chroprof *p, const chroprof__met *place)
{
    return place->path < chroprof__path_count(p) && place->top < chroprof__path_count(p) &&
           place->at <= p->core->last;
}

static const char *chroprof__ask_anomaly(const chroprof *p, uint32_t kind)
{
    CHROPROF__MUST(p->core->anomalies.placed[kind] <= p->core->tables[CHROPROF__PLACES].used,
                    "an anomaly's places lie in the table");
    const chroprof__places *row = chroprof__places_of(p->core, kind);
    CHROPROF__MUST(!row || (chroprof__good_place(p, &row->first) &&
                            chroprof__good_place(p, &row->last)),
                    "an anomaly was met on paths, and before now");
    return NULL;
}

static bool chroprof__good_slow(const chroprof *p, const chroprof__slow_entry *row)
{
    uint64_t most = chroprof__unscale(CHROPROF__END_OF_TIME - 1, p->core->time.factor);
    bool fits = row->latency < CHROPROF__END_OF_TIME && row->latency <= most;
    uint64_t rest = fits ? row->latency : 0;
    bool good = fits && row->at <= p->core->last && row->path < chroprof__path_count(p) &&
                row->state >= CHROPROF_COMPLETED && row->state <= CHROPROF_CANCELLED;
    const uint64_t parts[] = { row->exec, row->children, row->delay, row->unseen };
    for (uint32_t k = 0; k < 4; k++)
        good = chroprof__part_of(&rest, parts[k]) == parts[k] && good;
    rest = row->delay;
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES; k++)
        good = good && row->blames[k].site < chroprof__site_count(p) &&
               chroprof__part_of(&rest, row->blames[k].delay) == row->blames[k].delay;
    return good;
}

static const char *chroprof__ask_slow(const chroprof *p, uint32_t k)
{
    const chroprof__slow_group *group = chroprof__slow_groups(p->core) + k;
    CHROPROF__MUST(group->count <= CHROPROF__SLOW_ROWS && group->site < chroprof__site_count(p),
                    "the slow futures of a site are not too many");
    for (uint32_t i = 0; i < group->count; i++) {
        CHROPROF__MUST(chroprof__good_slow(p, group->rows + i),
                        "what is known of a slow future is part of its lifetime");
        CHROPROF__MUST(i == 0 || group->rows[i].latency <= group->rows[i - 1].latency,
                        "the slowest future comes first");
    }
    return NULL;
}

static const char *chroprof__ask_incident(const chroprof *p, uint32_t k)
{
    const chroprof__incident_row *row = chroprof__incidents(p->core) + k;
    uint32_t good = 0;
    for (uint64_t before = 0; good < row->count && good < CHROPROF_INCIDENT_STEPS; good++) {
        const chroprof__ring_row *step = row->steps + good;
        if ((!step->spare && step->path >= chroprof__path_count(p)) || step->time < before ||
            step->time > p->core->last)
            break;
        before = step->time;
    }
    CHROPROF__MUST(k == 0 || row->serial == 0 ||
                    (good == row->count && row->first <= row->count),
                    "the steps of a stall have paths, and stand in the order of time");
    return NULL;
}

/* The rows that the ring tells of are steps that can have been, one after the other. */
static const char *chroprof__ask_ring(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint32_t rows = c->tables[CHROPROF_TABLE_EVENTS].rows;
    CHROPROF__MUST(c->ring_mask == 2 * (rows - 1) && rows == chroprof__ring_rows(rows),
                    "the rows of the ring are a power of two");
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t before = c->ring.begin;
    CHROPROF__MUST(c->ring.first <= r.end, "the ring tells of no event to come");
    for (uint64_t n = r.first; n < r.end; n++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, c, n);
        CHROPROF__MUST(row->path < chroprof__path_count(p) && row->depth <= p->max_depth,
                        "every step has a path, and a depth that the stack can have");
        CHROPROF__MUST(row->time >= before && row->time <= c->last,
                        "steps stand in the order of time");
        before = row->time;
    }
    return NULL;
}

static const char *chroprof__ask_sample(const chroprof *p, uint32_t k)
{
    const chroprof__sample_span *row = chroprof__sample_rows(p->core) + k;
    CHROPROF__MUST(row->stack <= p->core->tables[CHROPROF_TABLE_STACKS].used,
                    "a sample has a stack");
    CHROPROF__MUST(row->time < CHROPROF__END_OF_TIME && row->duration < CHROPROF__END_OF_TIME &&
                    row->state <= CHROPROF_SAMPLE_UNINSTRUMENTED,
                   "a sample was taken at a time, of a state");
    return NULL;
}

static const char *chroprof__ask_node(const chroprof *p, uint32_t k)
{
    CHROPROF__MUST(k == 0 || (chroprof__good_node(p, k) && chroprof__nodes(p->core)[k].next < k),
                    "a sampled frame is younger than the one around it, and is a task, a marker, "
                    "or a function of a module");
    return NULL;
}

static const char *chroprof__ask_module(const chroprof *p, uint32_t k)
{
    const chroprof__module_row *row = chroprof__module_rows(p->core) + k;
    CHROPROF__MUST(row->build_id[CHROPROF__BUILD_ID - 1] == '\0' &&
                    row->path[CHROPROF__MODULE_PATH - 1] == '\0', "what names a module ends");
    return NULL;
}

/* What is wrong with a row of a table; NULL: all is well. */
static const char *chroprof__ask_row(const chroprof *p, uint32_t table, uint32_t k)
{
    switch (table) {
    case CHROPROF_TABLE_HISTOGRAMS: return chroprof__ask_histograms(p, k);
    case CHROPROF_TABLE_FUTURES: return chroprof__ask_future(p, k);
    case CHROPROF_TABLE_EDGES: return chroprof__ask_edge(p, k);
    case CHROPROF_TABLE_STALLS: return chroprof__ask_stall(p, k);
    case CHROPROF_TABLE_SLOW: return chroprof__ask_slow(p, k);
    case CHROPROF_TABLE_INCIDENTS: return chroprof__ask_incident(p, k);
    case CHROPROF_TABLE_SAMPLES: return chroprof__ask_sample(p, k);
    case CHROPROF_TABLE_STACKS: return chroprof__ask_node(p, k);
    default: return chroprof__ask_module(p, k);
    }
}

/* All that reads rely on, behind the header. Of most tables, rows that are not in use have never
 * been, so all can be looked at. */
static const char *chroprof__ask_block(const chroprof *p)
{
    static const uint32_t tables[] = {
        CHROPROF_TABLE_HISTOGRAMS, CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_STALLS, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS,
        CHROPROF_TABLE_SAMPLES, CHROPROF_TABLE_STACKS, CHROPROF__MODULES
    };
    const chroprof__core *c = p->core;
    CHROPROF__ASK(chroprof__ask_uses(c));
    CHROPROF__ASK(chroprof__ask_core(p));
    CHROPROF__ASK(chroprof__ask_paths(p));
    CHROPROF__ASK(chroprof__ask_lengths(p));
    CHROPROF__ASK(chroprof__ask_sites(p));
    CHROPROF__ASK(chroprof__ask_stack(p));
    for (uint32_t n = 0; n < sizeof(tables) / sizeof(*tables); n++) {
        uint64_t rows = c->tables[tables[n]].rows;
        if (tables[n] == CHROPROF_TABLE_STACKS && rows)
            rows = c->tables[tables[n]].used + 1;
        for (uint32_t k = 0; k < rows; k++)
            CHROPROF__ASK(chroprof__ask_row(p, tables[n], k));
    }
    for (uint32_t k = 0; k < CHROPROF__KINDS; k++)
        CHROPROF__ASK(chroprof__ask_anomaly(p, k));
    CHROPROF__MUST(!chroprof__sampler_of(c) ||
                    chroprof__sampler_of(c)->rows.head < chroprof__sample_capacity(c),
                    "the next sample has a row");
    CHROPROF__ASK(chroprof__ask_counts(p));
    return chroprof__ask_ring(p);
}

/* ---- what adds up */

/* Are all rows of one moment between two events? If not, rows of different tables need not agree:
 * only the two laws hold. */
static bool chroprof__is_exact(const chroprof__core *c)
{
    return c->copy.skew_events == 0 && c->copy.torn_events == 0;
}

static const char *chroprof__ask_sums(const chroprof *p)
{
    const chroprof__core *c = p->core;
    uint64_t exec = 0, blame = 0, delay = 0, ready = 0, live = 0, waiting = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        const chroprof__path_row *row = p->paths + k;
        exec += row->exec;
        blame += row->blame;
        delay += chroprof__delay_ticks(p, row);
        ready += row->ready;
        live += row->live;
        CHROPROF__MUST(k < CHROPROF__FIRST_PATH || chroprof__fold(p, row->parent, row->site) == 0,
                        "a site stands at most once on a path");
    }
    for (uint32_t k = 0; k < p->rows; k++)
        waiting += p->futures[k].id != 0 && p->futures[k].state == CHROPROF_READY;
    CHROPROF__MUST(exec == c->last,
                    "elapsed = the sum of all paths' exec + untracked + idle + uninstrumented");
    CHROPROF__MUST(blame == delay, "the sum of blame = the sum of delay");
    if (!chroprof__is_exact(c))
        return NULL;
    CHROPROF__MUST(ready == c->ready && waiting == c->ready,
                    "the ready futures of the paths, and of the slots, add up");
    CHROPROF__MUST(live == c->tables[CHROPROF_TABLE_FUTURES].used,
                    "the paths' live futures add up");
    return NULL;
}

static const char *chroprof__ask_searches(const chroprof *p)
{
    const chroprof__edge *edge = chroprof__edges(p->core);
    const chroprof__edge *end = edge + p->core->tables[CHROPROF_TABLE_EDGES].rows;
    for (uint32_t k = 0; k < p->rows; k++)
        CHROPROF__MUST(!p->futures[k].id || chroprof__find(p, p->futures[k].id) == p->futures + k,
                        "every future is found by its id");
    for (; edge < end; edge++)
        CHROPROF__MUST(!edge->site || chroprof__find_edge(p->core, edge->path, edge->site) == edge,
                        "every edge is found by its path and site");
    return NULL;
}

static const char *chroprof__ask_windows(const chroprof *p, uint32_t site)
{
    uint32_t first = chroprof__sites(p->core)[site].first_path, row = p->paths[first].histogram;
    uint64_t exec = site < CHROPROF__OTHER ? p->paths[site].exec : 0;
    const chroprof__histograms *h = p->histograms + row;
    chroprof__part part;
    memset(&part, 0, sizeof(part));
    for (uint32_t k = first; k; k = p->paths[k].same_site)
        exec += p->paths[k].exec;
    while (chroprof__next_part(p, site, &part))
        exec -= part.ticks;
    CHROPROF__MUST(exec == 0, "the windows of a site hold its exec");
    CHROPROF__MUST(row == 0 || !chroprof__is_exact(p->core) ||
                    h->missed + chroprof__histogram_total(p, &h->slice) ==
                        chroprof__slices_ended(p, site),
                    "a site's histogram has an entry for each slice that ended");
    return NULL;
}

static const char *chroprof__ask_weights(const chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__sampler *s = chroprof__sampler_of(c);
    const chroprof__node *nodes = chroprof__nodes(c);
    uint64_t weight = 0, cpu = 0, end = 0;
    if (!s)
        return NULL;
    for (uint32_t k = 0; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        weight += nodes[k].weight;
        cpu += nodes[k].cpu_ns;
    }
    CHROPROF__MUST(weight == s->rows.samples,
                    "the weights of the stacks add up to the samples taken");
    for (uint64_t k = 0; k < c->tables[CHROPROF_TABLE_SAMPLES].used; k++) {
        const chroprof__sample_span *row = chroprof__sample_at(p, k);
        CHROPROF__MUST(row->time >= end && row->weight > 0,
                        "samples stand in the order of time, and weigh something");
        end = row->time + row->duration;
        weight -= row->weight;
        cpu -= row->cpu_ns;
    }
    CHROPROF__MUST(weight == s->rows.dropped && cpu == s->rows.dropped_cpu_ns,
                    "the rows of samples and what was dropped add up to the samples taken");
    CHROPROF__MUST(end <= s->rows.latest, "the newest sample is the latest");
    return NULL;
}

CHROPROF__COLD_API const char *chroprof_check(const chroprof *p)
{
    if (!chroprof__can_read(p))
        return NULL;
    CHROPROF__ASK(chroprof__ask_block(p));
    CHROPROF__ASK(chroprof__ask_sums(p));
    if (chroprof__is_exact(p->core))
        CHROPROF__ASK(chroprof__ask_searches(p));
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        CHROPROF__ASK(chroprof__ask_windows(p, site));
    return chroprof__ask_weights(p);
}

#undef CHROPROF__MUST
#undef CHROPROF__ASK

/* ---- a block from outside */

#ifndef CHROPROF_NO_COPIES
/* The core begins at a multiple of 64 of the memory it was made in, which may since have been
 * copied to anywhere: it is looked for. */
CHROPROF__COLD chroprof_result chroprof__seek(const void *block, uint64_t size, uint64_t *at)
{
    chroprof_result result = CHROPROF_ERR_FORMAT;
    uint64_t word, swapped = UINT64_C(0x43485250524F4631);
    for (*at = 0; *at <= CHROPROF__MOST_SKIPPED && size >= sizeof(word) + *at; ++*at) {
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

static chroprof_result chroprof__open_block(chroprof *view, const void *block, size_t size)
{
    uint64_t at;
    if (view)
        memset(view, 0, sizeof(*view));
    if (!view || !block)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__seek(block, size, &at);
    chroprof__core *c = (chroprof__core *)((uintptr_t)block + (uintptr_t)at);
    if (result == CHROPROF_OK)
        result = chroprof__judge_header(c, size - at);
    if (result == CHROPROF_OK && (c->seq | c->edits) % 2 != 0)
        result = CHROPROF_ERR_BUSY;
    if (result != CHROPROF_OK)
        return result;
    chroprof__attach(view, c);
    view->view = true;
    return chroprof__ask_block(view) ? CHROPROF_ERR_CORRUPT : CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_open(chroprof *view, const void *block, size_t size)
{
    return chroprof__keep_result(view, chroprof__open_block(view, block, size));
}
#endif

CHROPROF__COLD_END

/* >>public: life and events. */

/* Is it a clock of our own that tells the time? */
CHROPROF__UNUSED static bool chroprof__own_clock(const chroprof *p)
{
#ifndef CHROPROF_NO_CLOCK
    if (p->clock == chroprof__monotonic_ns)
        return true;
#endif
    return p->clock == NULL;
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

CHROPROF__COLD_API const char *chroprof_version(void)
{
    return CHROPROF_VERSION;
}

CHROPROF__COLD_API size_t chroprof_sizeof(const char *name)
{
#define CHROPROF__SIZE(name) { #name, (uint16_t)sizeof(name) },
    static const struct { char name[28]; uint16_t size; } sizes[] = {
        CHROPROF_STRUCTS(CHROPROF__SIZE)
    };
#undef CHROPROF__SIZE
    for (size_t k = 0; name != NULL && k < sizeof sizes / sizeof *sizes; k++)
        if (strcmp(sizes[k].name, name) == 0)
            return sizes[k].size;
    return 0;
}

CHROPROF__COLD_API size_t chroprof_memory_size(const chroprof_options *options)
{
    uint32_t capacity[CHROPROF_TABLE_COUNT];
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    chroprof_options defaults;
    memset(&defaults, 0, sizeof(defaults));
    chroprof__capacities(options ? options : &defaults, capacity);
    if (!chroprof__within_limits(capacity))
        return 0;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        capacity[k] = capacity[k] ? capacity[k] : chroprof__rations[k].usual;
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES],
                          capacity[CHROPROF_TABLE_STACKS] == 0);
    uint64_t bytes = chroprof__layout(capacity, tables);
    if (bytes >= SIZE_MAX - CHROPROF__MOST_SKIPPED)
        return 0;
    return (size_t)(bytes + CHROPROF__MOST_SKIPPED);
}

CHROPROF__STATIC_ASSERT(least, CHROPROF_MEMORY_MIN == CHROPROF__LEAST_BYTES); /* src/join.sh */

/* The capacities for a block of this size; false: too small. */
static bool chroprof__resolve(const chroprof_options *o, uint32_t capacity[CHROPROF_TABLE_COUNT],
                              uint64_t size)
{
    chroprof__table_row tables[CHROPROF__ALL_TABLES];
    bool all = true;
    chroprof__capacities(o, capacity);
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        all = all && (capacity[k] != 0 || k == CHROPROF_TABLE_SAMPLES ||
                      k == CHROPROF_TABLE_STACKS);
    if (size < CHROPROF_MEMORY_MIN)
        return false;
    size -= CHROPROF__MOST_SKIPPED;
    if (!all)
        return chroprof__share_out(capacity, size);
    bool open = capacity[CHROPROF_TABLE_SAMPLES] == 0;
    if (open)
        capacity[CHROPROF_TABLE_SAMPLES] = CHROPROF__DEFAULT_SAMPLES;
    chroprof__set_samples(capacity, capacity[CHROPROF_TABLE_SAMPLES],
                          capacity[CHROPROF_TABLE_STACKS] == 0);
    if (open && chroprof__layout(capacity, tables) > size)
        chroprof__set_samples(capacity, 0, true);
    return chroprof__layout(capacity, tables) <= size;
}

/* The program's file without its folders; "" where the system has no such link. */
CHROPROF__UNUSED static void chroprof__name_program(chroprof__core *c)
{
#if defined(__linux__) && defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L
    char path[1024];
    ssize_t count = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[count > 0 ? count : 0] = '\0';
    const char *slash = strrchr(path, '/');
    chroprof__copy_text(c->who.program, sizeof(c->who.program), slash ? slash + 1 : path);
#else
    (void)c;
#endif
}

/* "": it is not known. */
CHROPROF__UNUSED static void chroprof__name_host(char host[CHROPROF__NAME_BYTES])
{
    memset(host, 0, CHROPROF__NAME_BYTES);
#if (defined(__unix__) || defined(__APPLE__)) && defined(_POSIX_VERSION) && \
    defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200112L
    if (gethostname(host, CHROPROF__NAME_BYTES - 1) != 0)
        host[0] = '\0';
#endif
}

static void chroprof__describe_process(chroprof__core *c, const char *name)
{
    chroprof__copy_text(c->who.name, sizeof(c->who.name), name);
    c->form.pointer_bytes = (uint32_t)sizeof(void *);
#ifndef CHROPROF_NO_CLOCK
    c->process.start_unix_ns = chroprof__calendar_ns();
    c->process.boot_ns = c->process.start_unix_ns - chroprof__monotonic_ns(NULL);
#endif
#if (defined(__unix__) || defined(__APPLE__)) && defined(_POSIX_VERSION)
    c->process.pid = (uint64_t)getpid();
    chroprof__name_program(c);
    chroprof__name_host(c->who.host);
#endif
#ifdef CHROPROF__MAPS
    c->file.owner_start = chroprof__process_of(c->process.pid).start;
#endif
}

/* The rows that are there from the start: loop, idle, untracked and "(other)". */
static void chroprof__first_rows(chroprof *p)
{
    static const char names[][20] = { "(uninstrumented)", "(idle)", "(untracked)", "(other)" };
    chroprof__core *c = p->core;
    memcpy((char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + 1, "...", 4);
    c->tables[CHROPROF_TABLE_STRINGS].used = 5;
    for (uint32_t k = 0; k < CHROPROF__FIRST_SITE; k++)
        chroprof__new_site(c, k, k, names[k], "", 0);
    CHROPROF_ASSERT(c->tables[CHROPROF_TABLE_STRINGS].used == CHROPROF__OWN_STRINGS);
    c->iteration.start = CHROPROF__NO_ITERATION;
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++) {
        p->paths[k].site = k;
        chroprof__set_histogram(p, p->paths + k, 0);
    }
    for (uint32_t k = 0; k <= p->max_depth; k++)
        p->frames[k].depth = k;
    p->frames[0].kind = CHROPROF__BARRIER;
    chroprof__start_histograms(p);
    for (uint32_t k = 0; k < c->tables[CHROPROF__SHORTCUTS].rows; k++)
        p->shortcuts[k].address = CHROPROF__NOWHERE;
}

/* Chooses the clock and fixes, or begins to measure, its rate. */
static chroprof_result chroprof__start_clock(chroprof *p, const chroprof_options *o)
{
    chroprof__core *c = p->core;
    c->set.window_ns = chroprof__or(o->window_ns, 100000000u);
    c->set.stall_ns = chroprof__or(o->stall_ns, 20000000u);
    c->set.max_step_ns = chroprof__or(o->max_step_ns, UINT64_C(3600000000000));
    p->clock = o->clock;
    p->clock_user = o->clock_user;
    c->time.manual = o->clock == chroprof_clock_manual;
    c->time.calibrated = 1;
    c->time.calibrate_at = UINT64_MAX;           /* ns need no factor */
    chroprof__set_factor(c, UINT64_C(1) << 32);
#ifndef CHROPROF_NO_CLOCK
#if CHROPROF__HAS_COUNTER
    if (!p->clock && chroprof__counter_is_invariant()) {
        c->clock = CHROPROF__CLOCK_COUNTER;
        chroprof__start_counter(c);
    } else
#endif
    if (!p->clock) {
        c->clock = CHROPROF__CLOCK_MONOTONIC;
        p->clock = chroprof__monotonic_ns;
    }
#else
    if (!p->clock)
        return CHROPROF_ERR_CLOCK;
#endif
    if (c->time.manual) {                   /* a replay: nobody knows when that was, nor where */
        c->process.start_unix_ns = 0;
        c->who.program[0] = '\0';
    } else {
        chroprof__start_at(c, chroprof__read_clock(p));
    }
    return CHROPROF_OK;
}

/* With the errno, if that is one of those that files have. */
static const char *chroprof__why_refused(const chroprof *p)
{
#ifdef CHROPROF__MAPS
    static const struct { int error; char text[56]; } reasons[] = {
        { ENOENT, "ENOENT: no folder for the file, or a link to nowhere" },
        { ENOTDIR, "ENOTDIR: a part of the file's path is no folder" },
        { EACCES, "EACCES: no right to write into the file's folder" },
        { EROFS, "EROFS: the file's folder is read-only" },
        { ELOOP, "ELOOP: the file is a link that leads to itself" },
        { ENOSPC, "ENOSPC: the disk is too full for the file" },
        { EFBIG, "EFBIG: the file is beyond a limit (ulimit -f)" },
        { EMFILE, "EMFILE: too many open files (ulimit -n)" },
        { ENOMEM, "ENOMEM: too little memory for the file" } };
    for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++)
        if (p->refused == CHROPROF_ERR_FILE && p->refused_errno == reasons[k].error)
            return reasons[k].text;
#endif
    return chroprof_result_text(p->refused);
}

CHROPROF__COLD_API const char *chroprof_why_off(const chroprof *p)
{
    if (!p)
        return "a NULL profile was given: pass the one that chroprof_init started";
    /* a handle without a block is zeroed, but for the reason */
    if (!chroprof__is_set(p) && (p->gate || p->core || p->futures || p->paths || p->ring ||
                                 p->mapped || p->hold))
        return "the handle was never initialized, it holds garbage: zero it or call chroprof_init";
    if (!chroprof__is_set(p))
        return p->refused ? chroprof__why_refused(p)
                          : "not started: call chroprof_init or chroprof_map first";
    if (!p->core || chroprof__is_wiped(p))
        return "a forked child has no profile: call chroprof_fork_child";
    return p->core->enabled ? "" : "switched off: call chroprof_set_enabled(p, true)";
}

/* What was spent in on_stall is loop, whoever is on top by now, and not part of slice or callback.
 * */
static void chroprof__bill_callback(chroprof *p)
{
    chroprof__core *c = p->core;
    uint32_t account = c->account;
    uint64_t before = c->last, start = p->frames[c->depth].start, limit = c->max_step_ticks;
    c->max_step_ticks = UINT64_MAX >> 1;    /* however long it took, it was the loop's */
    chroprof__begin_edit(c);
    c->account = CHROPROF__LOOP;
    uint64_t t = chroprof__begin_event(p, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = account;
    chroprof__freshen(c, p->paths + account);
    c->max_step_ticks = limit;
    chroprof__set_time_limit(c);
    if (c->depth)                           /* a stall ends by a pop, so no frame is hidden */
        p->frames[c->depth].start = start + (t - before);
    chroprof__leave_out(p, t - before);
    chroprof__close_event(c);
    chroprof__end_edit(c);
}

/* A stall of the event under way. An iteration that is the same stall as a callback takes its
 * place. NULL: more ended than the table holds. */
static const chroprof__stall_row *chroprof__stall_due(chroprof__core *c, uint64_t serial)
{
    const chroprof__stall_row *rows = chroprof__stall_rows(c);
    for (int kind = CHROPROF_STALL_ITERATION; kind >= CHROPROF_STALL_CALLBACK; kind--)
        if (c->stall.due[kind].serial == serial)
            return &c->stall.due[kind];
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].capacity; k++)
        if (rows[k].serial == serial)
            return rows + k;
    return NULL;
}

/* Tells the host of the stalls that the event just ended. */
CHROPROF__COLD void chroprof__call_on_stall(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof_stall stall;
    uint64_t last = c->loop.stalls, serial = last - p->stalls_due;
    p->stalls_due = 0;
    p->in_hook = true;
    chroprof__set_taking(p, false);
    while (serial++ < last) {
        const chroprof__stall_row *row = chroprof__stall_due(c, serial);
        if (!row)
            continue;
        chroprof__read_stall(p, row, &stall);
        p->on_stall(p->on_stall_user, &stall);
        /* it made a new profile of the handle, or the program forked in it */
        if (!p->in_hook || chroprof__in_child(p))
            return;
    }
    c->stall.due[CHROPROF_STALL_ITERATION].serial = 0;
    c->stall.due[CHROPROF_STALL_CALLBACK].serial = 0;
    p->in_hook = false;
    chroprof__set_taking(p, true);
    if (!c->time.manual)
        chroprof__bill_callback(p);
}

static chroprof_result chroprof__start(chroprof *p, void *memory, size_t size,
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
    uintptr_t skip = sizeof(chroprof__front) + (0 - (uintptr_t)memory) % CHROPROF__ALIGN;
    chroprof__core *c = (chroprof__core *)(void *)((char *)memory + skip);
    memset(memory, 0, skip + sizeof(*c));   /* no older start lies before ours */
    uint64_t bytes = chroprof__layout(capacity, c->tables);
    memset((char *)c + sizeof(*c), 0, (size_t)bytes - sizeof(*c));
    c->form.layout = CHROPROF__LAYOUT;
    c->form.order = 0x01020304u;
    c->form.block_bytes = bytes;
    c->form.core_bytes = (uint32_t)sizeof(*c);
    chroprof__describe_process(c, o.name);
    c->ring_mask = 2 * (c->tables[CHROPROF_TABLE_EVENTS].rows - 1);
    chroprof__attach(p, c);
    chroprof__aim(p, c);
    chroprof__first_rows(p);
    p->on_stall = o.on_stall;
    p->on_stall_user = o.on_stall_user;
    p->tell = chroprof__call_on_stall;
    chroprof_result result = chroprof__start_clock(p, &o);
    if (result != CHROPROF_OK)
        return result;
    CHROPROF__STORE_FENCE();
    c->form.magic = CHROPROF__MAGIC;             /* last: from here on it is a block */
    c->enabled = 1;
    chroprof__set_taking(p, true);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_init(chroprof *p, void *memory, size_t size,
                                                 const chroprof_options *options)
{
    return chroprof__keep_result(p, chroprof__start(p, memory, size, options));
}

/* The time since then is nobody's; the first event charges it. */
CHROPROF__COLD_API bool chroprof_began(chroprof *p, uint64_t when)
{
    if (!p || !chroprof__is_taking(p) || !chroprof__own_clock(p) || p->core->seq != 0)
        return false;
    chroprof__core *c = p->core;
    uint64_t ticks = c->epoch - when, ns = chroprof__scale(ticks, c->time.factor);
    if (ticks >= CHROPROF__END_OF_TIME || ns >= c->set.max_step_ns)
        return false;
    chroprof__begin_edit(c);
    c->epoch = when;
    c->process.start_clock -= ticks;
    c->process.start_unix_ns = chroprof__minus(c->process.start_unix_ns, ns);
    if (c->time.calibrate_at < CHROPROF__END_OF_TIME)
        c->time.calibrate_at += ticks;
    chroprof__set_time_limit(c);
    chroprof__end_edit(c);
    return true;
}

CHROPROF__COLD_API uint64_t chroprof_to_ns(const chroprof *p, uint64_t ticks)
{
    return chroprof__can_read(p) ? chroprof__scale(ticks, p->core->time.factor) : 0;
}

CHROPROF__COLD_API uint64_t chroprof_last_event(const chroprof *p)
{
    return chroprof__can_read(p) ? p->core->last + p->core->epoch : 0;
}

CHROPROF_API uint64_t chroprof_now(const chroprof *p)
{
    if (!p)
        return chroprof__own_clock_now();
    return chroprof__can_read(p) && !p->view ? chroprof__read_clock(p) : 0;
}

/* An event while the profile is off, or from inside on_stall. */
CHROPROF__COLD void chroprof__refuse(chroprof *p)
{
    if (!chroprof__has_block(p) || !p->in_hook)
        return;
    chroprof__met place = { p->core->last, 0, CHROPROF__LOOP, p->core->account };
    chroprof__count_at(p->core, CHROPROF_ANOMALY_EVENT_IN_HOOK, 1, place);
}

/* Does it take them at all? */
CHROPROF__INLINE bool chroprof__takes(chroprof *p)
{
    if (CHROPROF__LIKELY(p && chroprof__is_taking(p)))
        return !chroprof__in_child(p);
    chroprof__refuse(p);
    return false;
}

/* An event of now, where the clock is a function. */
CHROPROF__NOINLINE void chroprof__clocked_event(chroprof *p, chroprof_state state, uint64_t id,
                                                const chroprof_site *site)
{
    chroprof__take_event(p, state, id, site, chroprof__read_clock(p));
}

#if CHROPROF__SAMPLES
/* What comes after an event while the sampler runs. First the record of the function that called
 * this one is read: the place of this one's own is free as soon as it has jumped elsewhere. It is
 * read as a word of the stack: MSan takes what a call has pushed for not written. */
#define CHROPROF__FOLLOW(p)                                                                      \
    do {                                                                                         \
        if ((p)->sampling) {                                                                     \
            const void *chroprof__own = __builtin_frame_address(0);                              \
            (p)->follow(p, chroprof__stack_word((uintptr_t)chroprof__own),                       \
                        CHROPROF__BEGINS_SLOWLY);                                                \
        }                                                                                        \
    } while (0)
#else
#define CHROPROF__FOLLOW(p) ((void)0)
#endif

/* An event that comes in by the side gate. */
CHROPROF__NOINLINE void chroprof__side_event(chroprof *p, chroprof_state state, uint64_t id,
                                         const chroprof_site *site)
{
    if (!chroprof__takes(p))
        return;
    if (p->sampling && chroprof__samples_wait(p->core))
        chroprof__slow_path(p, state, id, site, chroprof__read_clock(p));
    else
        chroprof__clocked_event(p, state, id, site);
    CHROPROF__FOLLOW(p);
}

/* The clock at the open gate, and where the search for the id begins. The slot is fetched before
 * the clock is read: with a million futures it comes from main memory, and the read hides a part of
 * the way. */
CHROPROF__INLINE uint64_t chroprof__gate_clock(const chroprof *p)
{
#if CHROPROF__HAS_COUNTER
    (void)p;
    return chroprof__counter();
#else
    return chroprof__read_clock(p);
#endif
}

CHROPROF__INLINE chroprof__future_row *chroprof__fetch_home(const chroprof *p, uint64_t id)
{
    chroprof__future_row *home = chroprof__home(p, id);
    CHROPROF__PREFETCH(home);
    return home;
}

#ifndef CHROPROF_DISABLE

CHROPROF_API void chroprof_event(chroprof *p, chroprof_state state, uint64_t id,
                                 const chroprof_site *site, uint64_t now)
{
    if (!chroprof__takes(p))
        return;
    if (CHROPROF__RARELY(!p->core->started))
        chroprof__start_at(p->core, now);   /* under the manual clock only this tells the time */
    chroprof__take_event(p, state, id, site, now);
    CHROPROF__FOLLOW(p);
}

CHROPROF__COLD_API void chroprof_sample(chroprof *p, uint64_t now, uint64_t cpu_delta_ns)
{
    chroprof__entry by_hand, *e = &by_hand;
    bool takes = chroprof__has_block(p) && chroprof__is_taking(p);
    chroprof__sampler *s = takes ? chroprof__sampler_of(p->core) : NULL;
    if (!s)
        return;
    bool busy = chroprof__is_busy(p->core);
    if (!busy && !p->core->started)
        chroprof__start_at(p->core, now);
    memset(&by_hand, 0, sizeof(by_hand));
    if (busy)
        e = chroprof__begin_entry(p->core, s);
    p->drain = chroprof__drain_all;
    if (!e) {
        s->handler.lost++;
        return;
    }
    e->stamp = e->last = now;
    e->weight = 1;
    e->cpu_ns = cpu_delta_ns;
    chroprof__put_running(p->core, e);
    CHROPROF__STORE_FENCE();
    if (busy) {
        chroprof__poke64(&s->handler.put, s->handler.put + 1);
        chroprof__wake(p->core);
        return;
    }
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
}

CHROPROF_API const chroprof_site *chroprof_site_make(chroprof *p, const char *name,
                                                     const char *file, uint32_t line)
{
    if (!chroprof__has_block(p) || p->view || !name)
        return NULL;
    chroprof__begin_edit(p->core);
    uint32_t k = chroprof__intern_site(p->core, name, file ? file : "", line);
    chroprof__end_edit(p->core);
    return (const chroprof_site *)(const void *)chroprof__sites(p->core)[k].handle;
}

CHROPROF_API void chroprof_ready_since(chroprof *p, uint64_t id, uint64_t when)
{
    if (!chroprof__takes(p))
        return;
    chroprof__core *c = p->core;
    uint64_t now = chroprof__read_clock(p);
    uint64_t ago = now - when, late = ago >> 63 || id == 0 ? 0 : ago;
    if (late) {                             /* a step of its own, since a row has no room for it */
        chroprof__begin_event(p, CHROPROF_SINCE, late, now);
        chroprof__close_event(c);
    }
    uint64_t t = chroprof__begin_event(p, CHROPROF_READY, id, now);
    if (ago >> 63)
        chroprof__count(p, CHROPROF_ANOMALY_READY_AHEAD);
    if (id == 0)
        chroprof__count(p, CHROPROF_ANOMALY_ID_ZERO);
    else
        chroprof__on_ready(p, c, id, chroprof__minus(t, late));
    chroprof__close_event(c);
}

CHROPROF__COLD_API void chroprof_exiting(chroprof *p, uint64_t since)
{
    if (!chroprof__takes(p))
        return;
    chroprof__core *c = p->core;
    uint64_t now = chroprof__read_clock(p), last = c->last + c->epoch, ago = now - since;
    if (since == 0 || ago >> 63)
        ago = 0;
    chroprof__begin_event(p, CHROPROF_TICK, 0, ago < now - last ? now - ago : last);
    c->phase.exits = c->phase.begun = 1;
    if (c->depth == 0) {
        chroprof__no_iteration(c);
    }
    chroprof__set_time_limit(c);
    chroprof__close_event(c);
}

CHROPROF__COLD_API void chroprof_waited(chroprof *p, const char *call, const char *within,
                                        uint64_t since)
{
    if (!chroprof__takes(p) || !call || p->core->account < CHROPROF__FIRST_PATH)
        return;
    chroprof__core *c = p->core;
    uint64_t ticks = chroprof__read_clock(p) - since;
    if (ticks >= CHROPROF__END_OF_TIME)
        return;
    chroprof__begin_edit(c);
    chroprof__waited_row *row = chroprof__row_of_wait(c, p->paths[c->account].site, call,
                                                 within ? within : "");
    row->count++;
    row->ticks += ticks;
    chroprof__raise(&row->longest, ticks);
    chroprof__end_edit(c);
}

CHROPROF__COLD_API chroprof_result chroprof_add_wait(chroprof *p, const chroprof_task_wait *seen)
{
    if (!chroprof__has_block(p) || !seen || !seen->call || *seen->call == 0 || seen->site == 0 ||
        seen->count == 0 ||
        seen->site >= chroprof__site_count(p) || seen->total_ns >> 62 || seen->longest_ns >> 62)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__core *c = p->core;
    chroprof__begin_edit(c);
    chroprof__waited_row *row = chroprof__row_of_wait(c, seen->site, seen->call,
                                                      seen->within ? seen->within : "");
    row->estimated = 1;
    row->count += seen->count;
    row->ticks += chroprof__unscale(seen->total_ns, c->time.factor);
    chroprof__raise(&row->longest, chroprof__unscale(seen->longest_ns, c->time.factor));
    chroprof__end_edit(c);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_name_held(chroprof *p, chroprof_finding_kind kind,
                                                      uint64_t at_ns, uint32_t ppm,
                                                      const char *code)
{
    uint32_t place = chroprof__held_place(kind);
    if (!chroprof__has_block(p) || place == CHROPROF__HELD || !code || ppm > 1000000)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__held_row *row = p->core->told.held + place;
    chroprof__begin_edit(p->core);
    row->at_ns = at_ns;
    row->ppm = ppm;
    chroprof__copy_text(row->code, sizeof(row->code), code);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}

CHROPROF__COLD_API void chroprof_kept_awake(chroprof *p, const char *by)
{
    if (!chroprof__takes(p) || !by)
        return;
    chroprof__begin_edit(p->core);
    chroprof__copy_text(p->core->told.awake, sizeof(p->core->told.awake), by);
    chroprof__end_edit(p->core);
}

CHROPROF_API void chroprof_stillborn(chroprof *p, const chroprof_site *site, chroprof_state finish)
{
    if (!chroprof__takes(p))
        return;
    bool good = finish >= CHROPROF_COMPLETED && finish <= CHROPROF_CANCELLED;
    chroprof_state state = good ? finish : CHROPROF_COMPLETED;
    chroprof__begin_event(p, state, 0, chroprof__read_clock(p));
    if (!site)
        chroprof__count(p, CHROPROF_ANOMALY_SITE_NULL);
    if (!good)
        chroprof__count(p, CHROPROF_ANOMALY_BAD_STATE);
    if (good && site)
        chroprof__on_stillborn(p, site);
    chroprof__close_event(p->core);
}

/* A call that sends an event: what it does at the open gate, else any other. While the profile is
 * off that is no call, and one more compare. The word is read again: so it can be an operand of
 * both. */
#define CHROPROF__SENDS_BY(gate, kind, call, parameters, state, id, site, fast)                    \
    CHROPROF_API void call parameters                                                              \
    {                                                                                              \
        if (CHROPROF__LIKELY(p && p->gate == (kind) + (uint32_t)CHROPROF__OPEN_GATE)) {            \
            fast;                                                                                  \
            return;                                                                                \
        }                                                                                          \
        CHROPROF__READ_AGAIN();                                                                    \
        if (p && p->gate == (kind) + (uint32_t)CHROPROF__SIDE_GATE)                                \
            chroprof__side_event(p, state, id, site);                                              \
    }
#define CHROPROF__SENDS(call, parameters, state, id, site, fast)                                   \
    CHROPROF__SENDS_BY(gate, 0u, call, parameters, state, id, site, fast)
#define CHROPROF__PASSES(call, parameters, state, id, site, fast)                                  \
    CHROPROF__SENDS_BY(pass_gate, CHROPROF__PASS_GATES, call, parameters, state, id, site, fast)
#define CHROPROF__IDLES(call, parameters, state, fast)                                             \
    CHROPROF__SENDS_BY(idle_gate, CHROPROF__IDLE_GATES, call, parameters, state, 0, NULL, fast)
CHROPROF__SENDS(chroprof_pending, (chroprof *p, uint64_t id, const chroprof_site *site),
                CHROPROF_PENDING, id, site,
                chroprof__take_pending(p, id, site, chroprof__fetch_home(p, id),
                                       chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_ready, (chroprof *p, uint64_t id), CHROPROF_READY, id, NULL,
                chroprof__take_ready(p, id, chroprof__fetch_home(p, id), chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_running, (chroprof *p, uint64_t id), CHROPROF_RUNNING, id, NULL,
                chroprof__do_running(p, id, NULL, chroprof__fetch_home(p, id),
                                     chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_paused, (chroprof *p, uint64_t id), CHROPROF_PAUSED, id, NULL,
                chroprof__do_paused(p, id, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_switch, (chroprof *p, uint64_t id), CHROPROF_SWITCH, id, NULL,
                 chroprof__do_switch(p, id, chroprof__fetch_home(p, id), chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_completed, (chroprof *p, uint64_t id), CHROPROF_COMPLETED, id, NULL,
                chroprof__take_finish(p, CHROPROF_COMPLETED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_failed, (chroprof *p, uint64_t id), CHROPROF_FAILED, id, NULL,
                chroprof__take_finish(p, CHROPROF_FAILED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_cancelled, (chroprof *p, uint64_t id), CHROPROF_CANCELLED, id, NULL,
                chroprof__take_finish(p, CHROPROF_CANCELLED, id, NULL, chroprof__home(p, id),
                                      chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_enter, (chroprof *p, const chroprof_site *site), CHROPROF_ENTER, 0, site,
                chroprof__do_enter(p, site, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_leave, (chroprof *p), CHROPROF_LEAVE, 0, NULL,
                chroprof__do_leave(p, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_next, (chroprof *p, const chroprof_site *site), CHROPROF_NEXT, 0, site,
                 chroprof__take_next(p, site, chroprof__gate_clock(p)))
CHROPROF__PASSES(chroprof_loop_enter, (chroprof *p), CHROPROF_LOOP_ENTER, 0, NULL,
                 chroprof__take_loop_enter(p, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_loop_leave, (chroprof *p), CHROPROF_LOOP_LEAVE, 0, NULL,
                chroprof__take_loop_leave(p, chroprof__gate_clock(p)))
CHROPROF__IDLES(chroprof_idle_enter, (chroprof *p), CHROPROF_IDLE_ENTER,
                chroprof__do_idle_enter(p, chroprof__gate_clock(p)))
CHROPROF__IDLES(chroprof_idle_leave, (chroprof *p), CHROPROF_IDLE_LEAVE,
                chroprof__do_idle_leave(p, chroprof__gate_clock(p)))
CHROPROF__SENDS(chroprof_tick, (chroprof *p), CHROPROF_TICK, 0, NULL,
                chroprof__take_tick(p, chroprof__gate_clock(p)))

#ifdef CHROPROF_WAIT_CALLS
/* Is the gate of idle events open, and so the one of others? */
CHROPROF__INLINE bool chroprof__is_idle_open(const chroprof *p)
{
    return p && p->idle_gate == CHROPROF__IDLE_GATES + (uint32_t)CHROPROF__OPEN_GATE;
}

CHROPROF_API void chroprof_leave_for_idle(chroprof *p)
{
    if (CHROPROF__LIKELY(chroprof__is_idle_open(p))) {
        chroprof__do_leave_for_idle(p, chroprof__gate_clock(p));
        return;
    }
    chroprof_leave(p);
    chroprof_idle_enter(p);
}

CHROPROF_API void chroprof_enter_from_idle(chroprof *p, const chroprof_site *site)
{
    if (CHROPROF__LIKELY(chroprof__is_idle_open(p))) {
        chroprof__do_enter_from_idle(p, site, chroprof__gate_clock(p));
        return;
    }
    chroprof_idle_leave(p);
    chroprof_enter(p, site);
}
#endif
#undef CHROPROF__SENDS
#undef CHROPROF__PASSES
#undef CHROPROF__IDLES
#undef CHROPROF__SENDS_BY

#ifdef CHROPROF__EPOLL
#if defined(__mips__)
#define CHROPROF__MASK_BYTES 16             /* of the kernel's signal set */
#else
#define CHROPROF__MASK_BYTES 8
#endif
#define CHROPROF__POLLER_MOVES 16           /* waits of a task, before they are the loop's */

/* Whether a task waits there for what its loop does not know: that waits in another descriptor. One
 * in which it waits again and again, and the loop never in between, is the loop's. */
static bool chroprof__task_polls(chroprof *p, int fd, int ms)
{
    if (!chroprof__takes(p))
        return false;
    if (p->core->account < CHROPROF__FIRST_PATH) {
        p->poller = fd + 1;
    } else if (p->poller != 0 && p->poller != fd + 1) {
        if (ms == 0)
            return true;
        if (p->other_poller != fd + 1)
            p->other_polls = 0;
        p->other_poller = fd + 1;
        if (++p->other_polls < CHROPROF__POLLER_MOVES)
            return true;
        p->poller = fd + 1;
    }
    p->other_poller = 0;
    return false;
}

CHROPROF_API int chroprof__epoll_pwait(chroprof *p, int fd, void *events, int size, int ms,
                                      const void *mask)
{
    const bool task = chroprof__task_polls(p, fd, ms);
    const uint64_t since = task ? chroprof__read_clock(p) : 0;
    int count;
    if (!task)
        chroprof_idle_enter(p);
    count = (int)chroprof__system(SYS_epoll_pwait, fd, events, size, ms, mask,
                                  (long)CHROPROF__MASK_BYTES);
    if (!task)
        chroprof_idle_leave(p);
    else if (ms != 0)
        chroprof_waited(p, "epoll_wait", NULL, since);
    return count;
}
#endif

#endif /* CHROPROF_DISABLE */

/* >>outside: profiles that are not written by the program they are of.
 * Owns nothing. Relies on >>samples for stacks and on the rows of modules, and leaves to the
 * sampler's own survey of modules what it finds. Called by observers, by ports to other systems,
 * and by whoever generates code. */

#ifndef CHROPROF_DISABLE
/* Who takes samples by hand; NULL: nobody. A profile begins with its first one, if not before. */
static chroprof__sampler *chroprof__begin_sample(chroprof *p, uint64_t now)
{
    bool takes = chroprof__has_block(p) && chroprof__is_taking(p);
    chroprof__sampler *s = takes ? chroprof__sampler_of(p->core) : NULL;
    if (s && !chroprof__is_busy(p->core) && !p->core->started)
        chroprof__start_at(p->core, now);
    return s;
}

/* Of so many frames which are left out: [*from, *to) in the middle, of what there is no room for
 * with the tasks and three marks. */
static void chroprof__choose_gap(size_t count, size_t tasks, size_t *from, size_t *to)
{
    const size_t most = CHROPROF__NOTED_TASKS;
    size_t room = CHROPROF__ITEMS - 3 - (tasks < most ? tasks : most);
    *from = *to = count;
    if (count > room) {
        *from = room / 2;
        *to = count - (room - room / 2);
    }
}

/* The tasks, where the addresses have a 0. */
static void chroprof__put_place(const chroprof__core *c, chroprof__entry *e, bool *placed)
{
    if (!*placed)
        chroprof__put_running(c, e);
    *placed = true;
}

static void chroprof__put_stack(const chroprof__core *c, chroprof__entry *e,
                                const uint64_t *addresses, size_t count)
{
    size_t from, to;
    bool placed = false;
    chroprof__choose_gap(count, c->depth, &from, &to);
    for (size_t k = 0; k < count; k++) {
        if (addresses[k] == 0)
            chroprof__put_place(c, e, &placed);
        else if (k == from)
            chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_CUT);
        else if (k < from || k >= to)
            chroprof__put_item(e, k == 0 ? CHROPROF__PC : CHROPROF__RETURN, addresses[k]);
    }
    chroprof__put_place(c, e, &placed);
}

CHROPROF__COLD_API chroprof_result chroprof_sample_stack(chroprof *p, uint64_t now,
                                                         uint64_t cpu_delta_ns,
                                                         const uint64_t *addresses, size_t count)
{
    chroprof__entry e;
    if (!chroprof__has_block(p) || p->view || (count > 0 && !addresses))
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__sampler_of(p->core))
        return CHROPROF_ERR_SAMPLER_MEMORY;
    chroprof__sampler *s = chroprof__begin_sample(p, now);
    if (!s)
        return CHROPROF_OK;
    if (chroprof__is_busy(p->core)) {
        s->handler.lost++;
        return CHROPROF_ERR_BUSY;
    }
    memset(&e, 0, sizeof(e));
    e.stamp = e.last = now;
    e.weight = 1;
    e.cpu_ns = cpu_delta_ns;
    e.state = chroprof__sample_state_of(p->core);
    chroprof__put_stack(p->core, &e, addresses, count);
    p->drain = chroprof__drain_all;
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, s, &e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}
#endif /* CHROPROF_DISABLE */

static bool chroprof__is_row_of(const chroprof__module_row *row, const chroprof__module_row *m)
{
    return row->low == m->low && row->high == m->high && row->base == m->base &&
           strcmp(row->path, m->path) == 0 && strcmp(row->build_id, m->build_id) == 0;
}

/* What lies there from now on takes the place of whatever did. Returns its row; as many as there
 * are: there is no room. */
static uint32_t chroprof__place_module(chroprof__core *c, const chroprof__module_row *m)
{
    chroprof__table_row *table = &c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(c);
    uint32_t k = 0, used = (uint32_t)table->used;
    while (k < used && !chroprof__is_row_of(rows + k, m))
        k++;
    if (k == table->rows)
        return k;
    if (k == used) {
        rows[k] = *m;
        CHROPROF__STORE_FENCE();
        table->peak = ++table->used;
    }
    chroprof__sampler *s = chroprof__sampler_of(c);
    for (uint32_t n = 0; n < used; n++)
        if (n != k && rows[n].low < m->high && m->low < rows[n].high)
            s->modules.added &= ~(UINT64_C(1) << n);
    s->modules.added |= UINT64_C(1) << k;
    s->modules.possible = s->modules.loaded | s->modules.added;
    return k;
}

CHROPROF__COLD_API chroprof_result chroprof_add_module(chroprof *p, const chroprof_module *module)
{
    chroprof__module_row m;
    if (!chroprof__has_block(p) || p->view || !module || !module->path ||
        module->start >= module->end)
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__sampler_of(p->core))
        return CHROPROF_ERR_SAMPLER_MEMORY;
    memset(&m, 0, sizeof(m));
    m.low = module->start;
    m.high = module->end;
    m.base = module->base;
    chroprof__copy_text(m.path, sizeof(m.path), module->path);
    chroprof__copy_text(m.build_id, sizeof(m.build_id), module->build_id);
    chroprof__begin_edit(p->core);
    uint32_t k = chroprof__place_module(p->core, &m);
    chroprof__end_edit(p->core);
    return k < p->core->tables[CHROPROF__MODULES].rows ? CHROPROF_OK : CHROPROF_ERR_LIMIT;
}

/* A text that is not given stays. */
static void chroprof__set_text(char *to, size_t size, const char *from)
{
    if (from)
        chroprof__copy_text(to, size, from);
}

CHROPROF__COLD_API void chroprof_set_origin(chroprof *p, const chroprof_origin *origin)
{
    if (!chroprof__has_block(p) || p->view || !origin)
        return;
    chroprof__core *c = p->core;
    chroprof__begin_edit(c);
    chroprof__set_text(c->who.name, sizeof(c->who.name), origin->name);
    chroprof__set_text(c->who.host, sizeof(c->who.host), origin->host);
    chroprof__set_text(c->who.program, sizeof(c->who.program), origin->program);
    if (c->process.pid != origin->pid) {
        c->process.pid = origin->pid;
        c->foreign = 1;                     /* this process knows no names of its code */
        c->file.owner_start = 0;
    }
#ifdef CHROPROF__MAPS
    if (c->file.owner_start == 0 && !origin->host)
        c->file.owner_start = chroprof__process_of(c->process.pid).start;
#endif
    c->estimated = origin->estimated;
    if (origin->end_unix_ns > 0)
        c->process.start_unix_ns = chroprof__minus(origin->end_unix_ns, chroprof__ns(c, c->last));
    chroprof__end_edit(c);
}

CHROPROF__COLD_API void chroprof_set_cpu_clock(chroprof *p, uint64_t ns)
{
    if (!chroprof__has_block(p) || p->view)
        return;
    chroprof__begin_edit(p->core);
    p->core->loop.cpu_clock_ns = ns;
    chroprof__end_edit(p->core);
}

/* A future is neither ready nor, with a frame that was hidden, running any more. */
static void chroprof__calm_future(chroprof *p, chroprof__future_row *slot, uint64_t t)
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
    uint64_t t = chroprof__begin_event(p, CHROPROF_TICK, 0, chroprof__read_clock(p));
    c->account = c->account == CHROPROF__IDLE ? (uint32_t)CHROPROF__LOOP : c->account;
    if (c->hidden)
        chroprof__unhide(p, c->hidden, t);
    while (c->depth)
        chroprof__pop_any(p, c, t);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_FUTURES].rows; k++) {
        if (p->futures[k].id != 0)
            chroprof__calm_future(p, p->futures + k, t);
    }
    chroprof__no_iteration(c);
    c->enabled = 0;
    chroprof__ring_at(p, c, c->seq >> 1)->id = chroprof__off_mark(c->seq >> 1);
    chroprof__close_event(c);
    if (p->stalls_due)
        chroprof__call_on_stall(p);
    chroprof__set_taking(p, false);
}

CHROPROF__COLD_API void chroprof_set_enabled(chroprof *p, bool on)
{
    if (!chroprof__has_block(p) || p->view || p->in_hook ||
        chroprof__is_taking(p) == on)
        return;
    if (!on) {
        chroprof__switch_off(p);
        return;
    }
    chroprof__begin_edit(p->core);
    p->core->enabled = 1;
    chroprof__set_taking(p, true);
    if (p->core->time.manual) {                  /* the next event says when */
        p->core->started = 0;
        p->core->time_limit = p->core->last;
    } else {
        chroprof__start_at(p->core, chroprof__read_clock(p));
    }
    chroprof__end_edit(p->core);
}

/* A path's figures begin anew; its place in the tree stays. Futures and frames are counted in
 * later. */
static void chroprof__reset_path(chroprof__path_row *row)
{
    chroprof__path_row fresh;
    memset(&fresh, 0, sizeof(fresh));
    fresh.histogram = row->histogram;
    fresh.counts = row->counts;
    fresh.site = row->site;
    fresh.parent = row->parent;
    fresh.next = row->next;
    fresh.same_site = row->same_site;
    fresh.generation = row->generation;
    *row = fresh;
}

static void chroprof__restart_futures(const chroprof *p)
{
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        slot->since = slot->created = 0;
        slot->exec = 0;
    }
}

static void chroprof__reset_futures(chroprof *p)
{
    p->core->ready = 0;                     /* as it was, but after a reset that was cut short */
    for (uint32_t k = 0; k < p->rows; k++) {
        const chroprof__future_row *slot = p->futures + k;
        uint32_t ready = slot->state == CHROPROF_READY;
        if (slot->id == 0 || slot->state == CHROPROF__GONE)
            continue;
        p->paths[slot->path].live++;
        p->paths[slot->path].ready += ready;
        p->core->ready += ready;
    }
}

static void chroprof__reset_frames(chroprof *p)
{
    uint32_t capacity = p->core->tables[CHROPROF_TABLE_DEPTH].capacity;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    for (uint32_t k = p->core->depth + 1; k <= capacity; k++)
        p->frames[k].kind = 0;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        chroprof__frame_row *frame = p->frames + k;
        frame->pushed = frame->start = frame->excluded = frame->carried = 0;
        if (s && chroprof__notes(s)[k].event == frame->event)       /* its note stays its own */
            chroprof__notes(s)[k].event = (uint32_t)p->core->seq;
        frame->event = (uint32_t)p->core->seq;
    }
}

static void chroprof__empty(chroprof__core *c, uint32_t table)
{
    memset(chroprof__rows(c, table), 0, (size_t)c->tables[table].bytes);
    c->tables[table].used = 0;
}

static void chroprof__reset_tables(const chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++)
        chroprof__histograms_clear(p, p->histograms + k);
    chroprof__lengths_clear(p);
    chroprof__empty(c, CHROPROF_TABLE_WINDOWS);
    chroprof__empty(c, CHROPROF_TABLE_STALLS);
    chroprof__empty(c, CHROPROF_TABLE_SLOW);
    chroprof__empty(c, CHROPROF_TABLE_INCIDENTS);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_SITES].rows; k++) {
        chroprof__sites(c)[k].slow = 0;
        chroprof__sites(c)[k].slow_limit = 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF__SHORTCUTS].rows; k++)
        p->shortcuts[k].window = 0;
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
    chroprof__empty(c, CHROPROF_TABLE_STACKS);
    chroprof__empty(c, CHROPROF_TABLE_SAMPLES);
    chroprof__empty(c, CHROPROF__WALLS);
    s->rows.samples = s->rows.inside = s->rows.dropped = s->rows.dropped_cpu_ns = 0;
    s->rows.head = s->rows.latest = 0;
    s->draw.draws = s->draw.misses = 0;
    s->wait.idle_from = s->wait.start = s->handler.interrupted = 0;
    s->drawn.seq = s->look.at = 0;
    s->look.last = UINT64_MAX;
    chroprof__date_callers(c);
    memset(s->hits, 0, sizeof(s->hits));
    chroprof__poke64(&s->taken, s->handler.put);
    s->handler.ticks = s->handler.lost = s->handler.cost_ns = 0;
}

/* Profile time 0 is now. */
static void chroprof__reset_core(chroprof__core *c)
{
    c->epoch += c->last;
    c->time.calibrate_at = c->time.calibrate_at > c->last ? c->time.calibrate_at - c->last : 1;
    c->process.start_clock = c->epoch;
    c->process.start_unix_ns = c->time.manual ? c->process.start_unix_ns : c->resetting;
    c->last = c->aged_at = 0;
    c->window = 0;
    memset(&c->stall.tally, 0, sizeof(c->stall.tally));
    c->loop.callbacks = c->loop.callback_max = c->loop.iterations = 0;
    c->loop.iteration_max = c->loop.stalls = 0;
    c->loop.cpu_clock_ns = c->loop.at_once = c->loop.at_once_ticks = 0;
    c->phase.start_ticks = c->phase.exit_ticks = 0;
    memset(c->told.waited, 0, sizeof(c->told.waited));
    memset(c->told.held, 0, sizeof(c->told.held));
    c->hidden_since = 0;
    c->seq_base = c->seq;
    c->made.merged_events = 0;
    memset(c->anomalies.counts, 0, sizeof(c->anomalies.counts));
    memset(c->anomalies.placed, 0, sizeof(c->anomalies.placed));
    c->tables[CHROPROF__PLACES].used = 0;
    c->ring.first = c->seq >> 1;
    c->ring.begin = 0;
    c->ring.barrier = c->barrier;
    c->loop.slow_due = 0;
    c->iteration.start = c->loop.iteration_active ? 0 : CHROPROF__NO_ITERATION;
    c->loop.iteration_callback = c->iteration.hidden = 0;
    c->iteration.event = c->ring.first - 1;  /* not the next event's */
    chroprof__set_factor(c, c->time.factor);
    c->time_limit = c->iteration.idle_limit = 0;
}

/* What was half reset can be reset again. */
static void chroprof__reset_all(chroprof *p)
{
    for (uint32_t k = 0; k < p->rows; k++)
        if (p->futures[k].id != 0)
            chroprof__settle(p, p->futures + k, p->core->last);
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__reset_path(p->paths + k);
    chroprof__restart_futures(p);
    chroprof__reset_futures(p);
    chroprof__reset_frames(p);
    chroprof__reset_samples(p->core);
    chroprof__reset_tables(p);
    for (uint32_t k = 0; k < chroprof__site_count(p); k++)
        chroprof__sites(p->core)[k].blurred = 0;
    p->core->seq += 2;
    chroprof__reset_core(p->core);
}

CHROPROF__COLD_API void chroprof_reset(chroprof *p)
{
    if (!chroprof__has_block(p) || p->view || p->in_hook)
        return;
    chroprof__core *c = p->core;
    c->resetting = chroprof__or(c->process.start_unix_ns + chroprof__ns(c, c->last), 1);
    CHROPROF__STORE_FENCE();
    chroprof__begin_edit(c);
    chroprof__reset_all(p);
    chroprof__aim(p, c);
    chroprof__end_edit(c);
    c->resetting = 0;
}

/* >>owner: the program that made a block: is it there? Owns nothing. Called by >>snapshot, which
 * lets time go on if it is, and by >>map. */

#ifdef CHROPROF__MAPS
/* Has a process ended? Its first thread alone may have. Its memory and locks may take seconds to
 * go. */
static bool chroprof__has_left(const chroprof__process *now)
{
    return (now->state == 'Z' || now->exiting) && now->threads < 2;
}
#endif

/* Where the program is that made this block. Where its number can't be seen, as in another
 * container, only who has the same one and began at the same moment is taken for it. */
enum { CHROPROF__OWNER_GONE, CHROPROF__OWNER_HERE, CHROPROF__OWNER_UNSEEN };
CHROPROF__COLD int chroprof__find_owner(const chroprof__core *c)
{
    if (c->file.ended)
        return CHROPROF__OWNER_GONE;
#ifdef CHROPROF__MAPS
    char host[CHROPROF__NAME_BYTES] = "";
    if (c->process.pid == 0)
        return CHROPROF__OWNER_GONE;
    chroprof__name_host(host);
    chroprof__process now = chroprof__process_of(c->process.pid);
    bool same = now.start != 0 && now.start == c->file.owner_start;
    if (!same && strncmp(c->who.host, host, sizeof(host)) != 0)
        return CHROPROF__OWNER_UNSEEN;
    if (c->process.pid > INT32_MAX || (kill((pid_t)c->process.pid, 0) != 0 && errno == ESRCH) ||
        chroprof__has_left(&now))
        return CHROPROF__OWNER_GONE;
    return same || now.start == 0 || c->file.owner_start == 0 ? CHROPROF__OWNER_HERE
                                                         : CHROPROF__OWNER_GONE;
#else
    return CHROPROF__OWNER_UNSEEN;
#endif
}

#ifndef CHROPROF_NO_COPIES
/* >>snapshot: a copy of a block that somebody may be writing, or died over. First the copy: each
 * row is of one moment. Then the repair, where rows are of several moments or of half an event:
 * links and sums are made anew, rows that can't be are emptied, and both laws hold. Last, if the
 * program lives, time goes on to the present. It relies on >>validate for what can be; difference
 * and merge use parts of the repair. */

CHROPROF__COLD_BEGIN

enum {
    CHROPROF__SPINS = 1 << 16,     /* looks at an odd sequence word before it counts as stuck */
    CHROPROF__ROW_TRIES = 64,
    CHROPROF__ALL_TRIES = 1 << 16, /* of all rows that do not hold still */
    CHROPROF__COPY_TRIES = 3,
    CHROPROF__RECENT_NS = 20000000
};

typedef struct chroprof__copy {
    const chroprof__core *from;    /* live: read by chroprof__load alone */
    chroprof__core *to;
    uint64_t seq, edits;           /* before the part under way */
    uint64_t tries;                /* left for rows that do not hold still */
    bool stuck;                    /* inside an event or an edit that does not go on */
    bool torn;                     /* that was so when the core was copied */
    bool moved;                    /* something changed meanwhile */
} chroprof__copy;

CHROPROF__INLINE uint64_t chroprof__load(const void *word)
{
    return *(const volatile chroprof__word *)word;
}

CHROPROF__COLD void chroprof__copy_words(chroprof__copy *s, uint64_t offset, uint64_t bytes)
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
CHROPROF__COLD bool chroprof__held_still(const chroprof__copy *s)
{
    CHROPROF__LOAD_FENCE();
    return chroprof__load(&s->from->seq) == s->seq && chroprof__load(&s->from->edits) == s->edits;
}

/* The rows of a table that are in use; *bytes: of one. */
static uint64_t chroprof__rows_in_use(const chroprof__core *c, uint32_t table, uint64_t *bytes)
{
    const chroprof__table_row *t = c->tables + table;
    uint64_t sites = c->tables[CHROPROF_TABLE_SITES].used + CHROPROF__FIRST_SITE;
    *bytes = chroprof__row_bytes[table];
    switch (table) {
    case CHROPROF_TABLE_SITES: return sites;
    case CHROPROF_TABLE_PATHS: return t->used + CHROPROF__FIRST_PATH;
    case CHROPROF__RANGE_TABLE: return t->used;
    case CHROPROF_TABLE_WINDOWS:
        *bytes = 8 * (t->capacity + UINT64_C(1));
        return sites;
    case CHROPROF_TABLE_STRINGS:
        *bytes = 8;
        return (t->used + 7) / 8;
    default: return t->rows;
    }
}

/* Copies a table so that each row is of one moment between two events, if that comes. Paths note
 * when it was. */
static void chroprof__copy_table(chroprof__copy *s, uint32_t table)
{
    uint64_t row, rows = chroprof__rows_in_use(s->to, table, &row), now, tries;
    uint64_t at = s->to->tables[table].offset, end = at + rows * row;
    if (table == CHROPROF_TABLE_DEPTH)
        at += (s->to->depth + UINT64_C(1)) * row;       /* what is below came with the core */
    for (; at < end; at += row) {
        tries = s->tries < CHROPROF__ROW_TRIES ? s->tries : (uint64_t)CHROPROF__ROW_TRIES;
        do {
            chroprof__await(s);
            chroprof__copy_words(s, at, row);
            now = chroprof__load(&s->from->last);
        } while (!chroprof__held_still(s) && tries-- > 0 && s->tries-- > 0);
        if (table == CHROPROF_TABLE_PATHS)
            ((chroprof__path_row *)(void *)((char *)s->to + at))->sum[0].exec = now;
    }
}

/* The ring is copied as it goes. What was overwritten meanwhile, and the row that the next event
 * may be writing, is not told of. */
static void chroprof__copy_ring(chroprof__copy *s)
{
    const chroprof__table_row *table = &s->to->tables[CHROPROF_TABLE_EVENTS];
    chroprof__copy_words(s, table->offset, table->bytes);
    CHROPROF__LOAD_FENCE();
    uint64_t newest = chroprof__load(&s->from->seq) >> 1;
    uint64_t first = chroprof__minus(newest + 1, table->rows), end = (s->to->seq + 1) >> 1;
    bool moved = newest != s->to->seq >> 1;
    if (moved && first > s->to->ring.first)
        s->to->ring.first = first < end ? first : end;
}

/* The core and the running stack belong together: both of one moment, if that comes. */
static chroprof_result chroprof__copy_core(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes)
{
    for (uint32_t tries = 0; tries < CHROPROF__ROW_TRIES; tries++) {
        chroprof__await(s);
        chroprof__copy_words(s, 0, sizeof(chroprof__core));
        if (!chroprof__held_still(s) && tries + 1 < CHROPROF__ROW_TRIES)
            continue;
        chroprof_result result = chroprof__judge_header(s->to, live_bytes);
        if (result != CHROPROF_OK)
            return result;
        if (chroprof__ask_uses(s->to) || chroprof__ask_scales(s->to))
            return CHROPROF_ERR_CORRUPT;
        if (bytes < s->to->form.block_bytes)
            return CHROPROF_ERR_MEMORY;
        chroprof__copy_words(s, s->to->tables[CHROPROF_TABLE_DEPTH].offset,
                             (s->to->depth + 1u) * sizeof(chroprof__frame_row));
        if (chroprof__held_still(s))
            break;
    }
    return CHROPROF_OK;
}

/* What samples and stalls refer to comes after them, so that it is there. A timer signal may come
 * at any time, and between two moments in which stacks are renumbered there are many events:
 * neither comes at each try. If stacks were renumbered all the same, nothing is known of them. */
static void chroprof__copy_samples(chroprof__copy *s)
{
    chroprof__table_row *stacks = &s->to->tables[CHROPROF_TABLE_STACKS];
    chroprof__sampler *to = chroprof__sampler_of(s->to);
    const chroprof__sampler *from = (const chroprof__sampler *)(const void *)
        ((const char *)s->from + s->to->tables[CHROPROF__SAMPLER].offset);
    bool steady = false, still = false;
    for (uint32_t tries = 0; tries < CHROPROF__COPY_TRIES && !still; tries++) {
        uint64_t renumberings = to ? chroprof__load(&from->renumberings) : 0;
        chroprof__copy_table(s, CHROPROF_TABLE_STALLS);
        if (!to)
            return;
        chroprof__copy_table(s, CHROPROF__SAMPLER);
        chroprof__copy_table(s, CHROPROF_TABLE_SAMPLES);
        uint64_t used = chroprof__load(&s->from->tables[CHROPROF_TABLE_STACKS].used);
        stacks->used = used < stacks->rows ? used : 0;
        chroprof__copy_table(s, CHROPROF_TABLE_STACKS);
        chroprof__copy_table(s, CHROPROF__MODULES);
        chroprof__copy_table(s, CHROPROF__WALLS);
        CHROPROF__LOAD_FENCE();
        steady = renumberings % 2 == 0 && chroprof__load(&from->renumberings) == renumberings;
        still = steady && chroprof__load(&from->handler.ticks) == to->handler.ticks &&
                chroprof__load(&from->handler.put) == to->handler.put;
    }
    to->renumberings |= !steady;
}

/* Copies the block, what is in use of it. The paths come last, so that no other table is ahead of
 * them. */
static chroprof_result chroprof__copy_block(chroprof__copy *s, uint64_t live_bytes, uint64_t bytes)
{
    static const uint32_t order[] = {
        CHROPROF_TABLE_STRINGS, CHROPROF_TABLE_SITES, CHROPROF_TABLE_DEPTH, CHROPROF_TABLE_FUTURES,
        CHROPROF_TABLE_EDGES, CHROPROF_TABLE_HISTOGRAMS, CHROPROF__RANGE_TABLE, CHROPROF__COUNTS,
        CHROPROF_TABLE_WINDOWS,
        CHROPROF__PLACES, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS
    };
    chroprof__core *c = s->to;
    if (bytes < sizeof(*c))
        return CHROPROF_ERR_MEMORY;
    s->moved = true;
    for (uint32_t tries = 0; tries < CHROPROF__COPY_TRIES && s->moved; tries++) {
        chroprof_result result = chroprof__copy_core(s, live_bytes, bytes);
        if (result != CHROPROF_OK)
            return result;
        uint64_t seq = s->seq, edits = s->edits,
                 frames = (c->depth + 1u) * sizeof(chroprof__frame_row);
        uint64_t kept = c->tables[CHROPROF_TABLE_DEPTH].offset;
        memset((char *)c + sizeof(*c), 0, (size_t)(kept - sizeof(*c)));
        memset((char *)c + kept + frames, 0, (size_t)(c->form.block_bytes - kept - frames));
        s->tries = CHROPROF__ALL_TRIES;
        chroprof__copy_ring(s);
        for (uint32_t k = 0; k < sizeof(order) / sizeof(*order); k++)
            chroprof__copy_table(s, order[k]);
        chroprof__copy_samples(s);
        chroprof__copy_table(s, CHROPROF_TABLE_PATHS);
        uint64_t events = chroprof__load(&s->from->seq) - seq;
        s->torn = (seq | edits) % 2 != 0;
        s->moved = events != 0 || chroprof__load(&s->from->edits) != edits;
        c->copy.skew_events = events / 2 + events % 2;
        c->copy.skew_ticks = chroprof__minus(chroprof__load(&s->from->last), c->last);
    }
    return CHROPROF_OK;
}

/* ---- repair */

/* Parents and sites never change once a path is there: all other links are made anew from them.
 * Ranges, and paths, that were added after the counts were copied are not there. */
static bool chroprof__mend_tree(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_PATHS];
    uint32_t rows = c->tables[CHROPROF_TABLE_HISTOGRAMS].rows;
    for (uint32_t k = 0; k < chroprof__site_count(p); k++) {
        chroprof__site_entry *site = chroprof__sites(c) + k;
        site->first_path = 0;
        site->name = chroprof__is_string(c, site->name) ? site->name : 0;
        site->file = chroprof__is_string(c, site->file) ? site->file : 0;
    }
    for (uint32_t k = 0; k < rows; k++) {
        chroprof__histograms *row = p->histograms + k;
        row->path = row->path < chroprof__path_count(p) ? row->path : 0;
        for (uint32_t i = 0; i < CHROPROF__ROW_RANGES; i++)
            if (*chroprof__range_at(row, i) >= c->tables[CHROPROF__RANGE_TABLE].used)
                *chroprof__range_at(row, i) = 0;
    }
    chroprof__place_lengths(p);
    for (uint32_t k = 0; k < CHROPROF__FIRST_PATH; k++)
        p->paths[k].next = 0;
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        uint32_t owner = row->histogram < rows ? p->histograms[row->histogram].path : 0;
        bool own = owner != 0 && p->paths[owner].site == row->site;
        chroprof__set_histogram(p, row, own ? row->histogram : 0);
        if (row->site >= CHROPROF__OTHER && row->site < chroprof__site_count(p) && row->parent < k)
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

/* Elapsed is the sum of what was billed. Lifetime and delay are brought from the moment of each row
 * to that. An event that was cut short is named, and its row in the ring is not ahead of time. */
static bool chroprof__mend_time(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    uint64_t last = c->last;
    c->last = chroprof__sum_exec(p);
    if (c->copy.skew_events && c->last < last)
        c->ring.first = chroprof__ring_reach(c).end;    /* it was reset meanwhile */
    if (c->last >= CHROPROF__END_OF_TIME)
        return false;
    chroprof__lower(&c->ring.begin, c->last);           /* a merge moves it on before the paths */
    chroprof__reach r = chroprof__ring_reach(c);
    if (r.first < r.end)
        chroprof__lower(&c->ring.begin, chroprof__ring_at(p, c, r.first)->time);
    for (uint32_t k = 0; c->copy.skew_events && k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        row->lifetime += row->live * (row->sum[0].exec - c->last);
        row->delay += row->ready * (row->sum[0].exec - c->last);
    }
    c->copy.torn_events = s->torn;
    if (s->torn && c->seq % 2 != 0) {
        uint64_t n = c->seq >> 1;
        chroprof__lower(&chroprof__ring_at(p, c, n)->time, c->last);
        c->copy.torn_ticks = chroprof__minus(c->last, chroprof__interval_begin(p, r, n));
    }
    return true;
}

static bool chroprof__good_frame(const chroprof *p, const chroprof__frame_row *frame)
{
    bool plain = frame->kind & (CHROPROF__BARRIER | CHROPROF__ENTER_FRAME);
    if (frame->path >= chroprof__path_count(p) || frame->pushed > p->core->last ||
        frame->depth != (uint32_t)(frame - p->frames))
        return false;
    if (frame->kind & CHROPROF__BARRIER ? frame->path != CHROPROF__LOOP
                                         : frame->path < CHROPROF__UNTRACKED)
        return false;
    return plain ? frame->id == 0 : frame->id != 0 && frame->kind & CHROPROF__FUTURE_FRAME;
}

/* Cuts the stack above the first frame that can't be; finds the barriers anew. No slice begins
 * after its end. */
static void chroprof__mend_stack(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__frame_row *frame = p->frames;
    uint32_t k = 1;
    c->barrier = c->barriers = 0;
    for (; k <= c->depth && chroprof__good_frame(p, frame + k); k++) {
        bool barrier = frame[k].kind & CHROPROF__BARRIER;
        frame[k].same = 0;
        if (!barrier)
            continue;
        frame[k].slot = c->barrier;
        c->barrier = k;
        c->barriers++;
    }
    c->depth = k - 1;
    chroprof__lower(&c->hidden_since, c->last);
    uint64_t end = c->hidden ? c->hidden_since : c->last;
    for (k = c->depth; k > 0; k--) {
        chroprof__lower(&frame[k].pushed, end);
        frame[k].start = chroprof__between(frame[k].start, frame[k].pushed, end);
        end = frame[k].pushed;
    }
    if (c->hidden)
        c->account = CHROPROF__UNTRACKED;
    else if (c->account != CHROPROF__IDLE || c->depth != c->barrier)
        c->account = p->frames[c->depth].path;
}

/* Ties a frame to the slot of its id. */
static void chroprof__mend_frame(chroprof *p, uint32_t k)
{
    chroprof__frame_row *frame = p->frames + k;
    chroprof__future_row *slot = chroprof__find(p, frame->id);
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
    frame->slot = chroprof__words_to(p, slot);
    frame->same = slot->frame;
    slot->frame = (uint16_t)k;
}

/* The slots of live futures stay; those that only had frames come back with these. */
static void chroprof__mend_futures(chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_FUTURES];
    table->used = 0;
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        slot->frame = 0;
        chroprof__lower(&slot->since, p->core->last);
        if (slot->id == 0 || chroprof__ask_future(p, k) || table->used == table->capacity)
            memset(slot, 0, sizeof(*slot));
        table->used += slot->id != 0;
    }
    for (uint32_t k = 1; k <= p->core->depth; k++)
        if (p->frames[k].id)
            chroprof__mend_frame(p, k);
    for (uint32_t k = 0; k < p->rows; k++) {
        chroprof__future_row *slot = p->futures + k;
        bool own = slot->frame && !(p->frames[slot->frame].kind & CHROPROF__ORPHAN);
        if (own)
            slot->state = CHROPROF_RUNNING;
        else if (slot->state == CHROPROF_RUNNING && p->core->hidden == 0)
            slot->state = CHROPROF_PAUSED;
    }
}

/* Rows that can't be are emptied. */
static void chroprof__empty_broken(chroprof *p)
{
    static const uint32_t tables[] = {
        CHROPROF_TABLE_EDGES, CHROPROF_TABLE_SAMPLES, CHROPROF_TABLE_SLOW, CHROPROF_TABLE_INCIDENTS
    };
    chroprof__core *c = p->core;
    for (uint32_t n = 0; n < sizeof(tables) / sizeof(*tables); n++) {
        char *row = (char *)chroprof__rows(c, tables[n]);
        for (uint32_t k = 0; k < c->tables[tables[n]].rows; k++) {
            if (chroprof__ask_row(p, tables[n], k))
                memset(row, 0, chroprof__row_bytes[tables[n]]);
            row += chroprof__row_bytes[tables[n]];
        }
    }
    c->tables[CHROPROF_TABLE_EDGES].used = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_EDGES].rows; k++)
        c->tables[CHROPROF_TABLE_EDGES].used += chroprof__edges(c)[k].site != 0;
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++)
        if (chroprof__ask_anomaly(p, k))
            c->anomalies.placed[k] = 0;
    if (!chroprof__can_defer(p))
        chroprof__defer_nothing(c);
}

/* The second law: delay that blame lacks, or the reverse, is the loop's. */
static void chroprof__blame_loop(chroprof *p)
{
    uint64_t lack = 0;                      /* wraps around */
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        lack += chroprof__delay_ticks(p, p->paths + k) - p->paths[k].blame;
    if (lack >> 63)
        p->paths[CHROPROF__LOOP].delay += 0 - lack;
    else
        p->paths[CHROPROF__LOOP].blame += lack;
}

/* How many calls a path had at most; there is one more that has finished and still runs. 0: so many
 * that no program had them. */
static uint64_t chroprof__most_calls(const chroprof__path_row *row)
{
    const uint64_t counts[] = { row->completed, row->failed, row->cancelled, row->abandoned,
                                row->dropped, row->live, row->merged_live, row->entered, 1 };
    uint64_t calls = 0, rest = UINT64_MAX;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        calls += chroprof__part_of(&rest, counts[k]);
    return rest ? calls : 0;
}

/* The window that the last event is in, and no path's tag beyond it. No call can have lasted longer
 * than the profile. False: a count can't be. */
static bool chroprof__mend_paths(chroprof *p)
{
    chroprof__core *c = p->core;
    const uint64_t off[] = { 0, c->last, 0 - c->last };
    chroprof__move_window(c, c->last);
    c->ready = 0;
    for (uint32_t k = 0; k < chroprof__path_count(p); k++) {
        chroprof__path_row *row = p->paths + k;
        uint64_t calls = chroprof__most_calls(row);
        if (calls == 0)
            return false;
        uint64_t lifetime = row->lifetime + row->live * c->last;
        uint32_t tried = 0;                 /* one call more: what has finished and still runs */
        while (tried < 3 && (lifetime + off[tried]) / calls > c->last)
            tried++;
        row->lifetime = tried < 3 ? row->lifetime + off[tried] : 0 - row->live * c->last;
        c->ready += row->ready;
        if (chroprof__tag_level(row->window) > chroprof__tag_level(c->window) ||
            chroprof__tag_index(c, row->window) > (c->window & 0xFFFF))
            row->window = c->window;
        chroprof__lower(&row->mark, row->exec);
    }
    return true;
}

/* The cells of a site hold what its paths have put there. What they lack goes to the present
 * window, what they have too much comes off the latest ones. */
static void chroprof__mend_windows(chroprof *p)
{
    chroprof__core *c = p->core;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        uint64_t *cells = chroprof__cells(c, site);
        uint64_t want = site < CHROPROF__OTHER ? p->paths[site].mark : 0, have = 0;
        uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
        for (uint32_t k = chroprof__sites(c)[site].first_path; k; k = p->paths[k].same_site)
            want += p->paths[k].mark;
        chroprof__lower(cells, chroprof__tag_level(c->window));
        chroprof__merge_cells(c, cells);
        for (uint32_t k = 0; k < capacity; k++)
            have += cells[1 + k];
        if (have < want)
            cells[1 + (c->window & 0xFFFF)] += want - have;
        for (uint32_t k = capacity; k > 0 && have > want; k--)
            have -= chroprof__part_of(cells + k, have - want);
    }
}

/* The rows that fit together, from the newest back; what they lack was dropped. */
static void chroprof__mend_rows(const chroprof *p, chroprof__sampler *s)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t weight = 0, cpu = 0, good = 0, begin = UINT64_MAX;
    for (; good < table->used; good++) {
        const chroprof__sample_span *row = chroprof__sample_at(p, table->used - 1 - good);
        if (row->weight == 0 || row->time + row->duration > begin)
            break;
        begin = row->time;
        weight += row->weight;
        cpu += row->cpu_ns;
        s->rows.latest = good == 0 ? row->time + row->duration : s->rows.latest;
    }
    table->used = good;
    chroprof__node *nodes = chroprof__nodes(p->core);
    uint64_t taken = 0, taken_cpu = 0;
    for (uint32_t k = 0; k <= p->core->tables[CHROPROF_TABLE_STACKS].used; k++) {
        taken += nodes[k].weight;
        taken_cpu += nodes[k].cpu_ns;
    }
    nodes[0].weight += chroprof__minus(weight, taken);
    nodes[0].cpu_ns += chroprof__minus(cpu, taken_cpu);
    s->rows.samples = taken > weight ? taken : weight;
    s->rows.dropped = s->rows.samples - weight;
    s->rows.dropped_cpu_ns = chroprof__minus(taken_cpu, cpu);
}

/* Samples whose parts do not fit, or that were renumbered meanwhile, are none. */
static void chroprof__mend_samples(chroprof *p)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (!s)
        return;
    if (s->renumberings % 2 == 0 && s->rows.head < chroprof__sample_capacity(p->core) &&
        chroprof__link_nodes(p))
        chroprof__mend_rows(p, s);
    else
        chroprof__reset_samples(p->core);
    s->renumberings += s->renumberings % 2;
    for (uint32_t k = 0; k < p->core->tables[CHROPROF_TABLE_STALLS].rows; k++)
        if (!chroprof__good_hits(p, &chroprof__stall_rows(p->core)[k].hits))
            chroprof__stall_rows(p->core)[k].hits.count = 0;
}

/* Makes a copy of several moments, or of the middle of an event, one that opens and whose laws
 * hold. False: no event can have left that behind. */
CHROPROF__COLD bool chroprof__mend(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    char *strings = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS);
    strings[c->tables[CHROPROF_TABLE_STRINGS].used - 1] = '\0';
    if (!chroprof__mend_tree(p) || !chroprof__mend_time(p, s))
        return false;
    chroprof__mend_stack(p);
    chroprof__mend_futures(p);
    chroprof__empty_broken(p);
    if (!chroprof__mend_paths(p))
        return false;
    chroprof__blame_loop(p);
    chroprof__mend_windows(p);
    chroprof__mend_samples(p);
    return true;
}

/* ---- the finished copy */

/* A text that no program of ours can have kept is cut, as a long one is when it comes. */
static void chroprof__cut_text(const chroprof__core *c, uint32_t at)
{
    char *text = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + at;
    if (chroprof__is_string(c, at) && !chroprof__is_text(c, at))
        memcpy(text + chroprof__whole_characters(text, CHROPROF__LONGEST_TEXT - 3), "...", 4);
}

/* Ticks since the last event: what the next one would take in. It never comes if the program hangs,
 * and then these show where. The tables have been looked at, but what events alone use. */
static void chroprof__drain_copy(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t rows = chroprof__entry_count(chroprof__sample_capacity(c));
    uint64_t waiting = s ? s->handler.put - s->taken : 0, running = s ? s->timer.running : 0;
    if (waiting == 0 || waiting > rows)
        return;
    (void)chroprof__link_nodes(p);         /* their buckets; the nodes are good */
    chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t k = 1; h; h = chroprof__hits_at(c, k++))
        if (!chroprof__good_hits(p, h))
            h->count = 0;
    s->timer.running = 0;                         /* modules: of that program, not of this one */
    for (; s->taken != s->handler.put; s->taken++) {
        chroprof__entry *e = chroprof__ring(c, s->taken);
        if (e->weight > 0 && e->weight >> 40 == 0 && e->state <= CHROPROF_SAMPLE_UNINSTRUMENTED)
            chroprof__absorb(p, s, e, CHROPROF__END_OF_TIME - 1);
    }
    s->timer.running = running;
}

/* The copy is finished: rows as chroprof_open expects them, no event under way. A reset that was
 * cut short is made again. So that the repair takes nothing that stays for what can't be, futures
 * and frames begin anew before it. */
CHROPROF__COLD bool chroprof__seal(chroprof *p, const chroprof__copy *s)
{
    chroprof__core *c = p->core;
    bool resetting = s->torn && c->edits % 2 != 0 && c->resetting;
    if (resetting) {
        chroprof__restart_futures(p);
        chroprof__reset_frames(p);
    }
    if ((s->torn || s->moved) && !chroprof__mend(p, s))
        return false;
    c->seq += c->seq % 2;
    c->edits += c->edits % 2;
    if (resetting) {
        chroprof__reset_all(p);
        c->copy.torn_ticks = c->copy.torn_events = 0;
    }
    chroprof__forget_tallies(p);
    for (uint32_t k = 0; k < chroprof__site_count(p); k++) {
        chroprof__cut_text(c, chroprof__sites(c)[k].name);
        chroprof__cut_text(c, chroprof__sites(c)[k].file);
    }
    if (chroprof__ask_block(p))
        return false;
    if (s->torn || s->moved)
        return true;
    chroprof__drain_copy(p);
    return chroprof__ask_block(p) == NULL;
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

/* Of a program that lives, what is on top goes on until now, however long that is: so a hang is
 * seen while it lasts. A last event that was just now is recent enough: who writes may have read
 * the clock for the next one already, and that is earlier than our now. */
static void chroprof__bring_up(chroprof *p, const chroprof__copy *s, bool just_ended)
{
    chroprof__core *c = p->core;
    uint64_t now = chroprof__clock_here(c), t = now - c->epoch;
    bool still = !s->torn && !s->moved && chroprof__held_still(s);
    c->copy.living = now != 0 && c->enabled && c->started &&
                (just_ended ? !c->file.ended : chroprof__find_owner(c) == CHROPROF__OWNER_HERE);
    if (c->copy.living && still && t < CHROPROF__END_OF_TIME && t > c->last &&
        chroprof__ns(c, t - c->last) >= CHROPROF__RECENT_NS)
        chroprof__bill_across(p, c->account, t);
}

static chroprof_result chroprof__copy_of(const void *live_block, size_t live_size, void *memory,
                                         size_t size, bool just_ended)
{
    chroprof p;
    chroprof__copy s;
    uint64_t at, bytes, room;
    if (!live_block || !memory)
        return CHROPROF_ERR_ARGUMENT;
    chroprof_result result = chroprof__seek(live_block, live_size, &at);
    if (result != CHROPROF_OK)
        return result;
    if (live_size - at < sizeof(chroprof__core))
        return CHROPROF_ERR_TRUNCATED;
    memset(&p, 0, sizeof(p));
    memset(&s, 0, sizeof(s));
    s.from = (const chroprof__core *)((uintptr_t)live_block + (uintptr_t)at);
    bytes = chroprof__load(&s.from->form.block_bytes);
    bytes = bytes < live_size - at ? bytes : live_size - at;
    s.to = chroprof__place(memory, size, bytes, &room);
    result = chroprof__copy_block(&s, live_size - at, room);
    if (result != CHROPROF_OK)
        return result;
    chroprof__attach(&p, s.to);
    if (!chroprof__seal(&p, &s))
        return CHROPROF_ERR_CORRUPT;
    chroprof__bring_up(&p, &s, just_ended);
    return CHROPROF_OK;
}

CHROPROF__COLD_API chroprof_result chroprof_snapshot(const void *live_block, size_t live_size,
                                                     void *memory, size_t size)
{
    return chroprof__copy_of(live_block, live_size, memory, size, false);
}

CHROPROF__COLD_API chroprof_result chroprof_snapshot_ended(const void *block, size_t block_size,
                                                           void *memory, size_t size)
{
    return chroprof__copy_of(block, block_size, memory, size, true);
}

/* >>difference: what happened between two states of one profile: a copy of the newer one, from
 * which the older one is taken away. Owns that copy. Relies on >>figures for what is subtracted, on
 * >>reading for both states as they are shown, on >>snapshot to place the copy and to set right
 * what copies of several moments lack, and on >>validate, which refuses what can't be. Called by
 * users alone; in each name _since is "since the older state". */

typedef struct chroprof__since {
    chroprof to;               /* becomes the difference */
    const chroprof *from;      /* the older state */
    uint64_t begin;            /* its last event, the new time 0 */
} chroprof__since;

/* Of one chroprof_init? */
static bool chroprof__same_init(const chroprof__core *a, const chroprof__core *b)
{
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++)
        if (a->tables[k].capacity != b->tables[k].capacity)
            return false;
    return a->process.pid == b->process.pid && a->process.boot_ns == b->process.boot_ns &&
           a->file.owner_start == b->file.owner_start &&
           a->form.pointer_bytes == b->form.pointer_bytes && a->time.manual == b->time.manual &&
           memcmp(a->who.host, b->who.host, sizeof(a->who.host)) == 0 &&
           memcmp(a->who.name, b->who.name, sizeof(a->who.name)) == 0;
}

/* Can the older state have become the newer? Sites and paths never change once they are there. */
static bool chroprof__can_follow(const chroprof *newer, const chroprof *older)
{
    const chroprof__core *a = newer->core, *b = older->core;
    bool back = a->last < b->last ||
                chroprof__tag_level(a->window) < chroprof__tag_level(b->window);
    if ((back && !b->copy.living) || a->seq < b->seq ||
        a->process.start_unix_ns != b->process.start_unix_ns ||
        chroprof__sum_exec(newer) - chroprof__sum_exec(older) != a->last - b->last ||
        chroprof__site_count(newer) < chroprof__site_count(older) ||
        chroprof__path_count(newer) < chroprof__path_count(older))
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

/* Figures of the paths. Lifetime and delay are ends minus beginnings, in the new time: what lived,
 * or was ready, at its begin did so from there on. False: one fell that can't. */
static bool chroprof__paths_since(const chroprof__since *s)
{
    chroprof__path_row none;
    bool good = true;
    memset(&none, 0, sizeof(none));
    for (uint32_t k = 0; k < chroprof__path_count(&s->to); k++) {
        chroprof__path_row *row = s->to.paths + k;
        const chroprof__path_row *old =
            k < chroprof__path_count(s->from) ? s->from->paths + k : &none;
        uint64_t lifetime = row->lifetime + row->live * s->begin - old->lifetime -
                            old->live * s->begin;
        uint64_t delay = row->delay + row->ready * s->begin - old->delay - old->ready * s->begin;
        good = good && (row->exec >= old->exec || s->from->core->copy.living);
        good = chroprof__subtract_figures(CHROPROF__ALL(chroprof__path_figures), old, row) && good;
        row->lifetime = lifetime;
        row->delay = delay;
    }
    return good;
}

/* Takes older entries away, NULL: there are none. Returns the most that one of the others can be;
 * none: 0. */
static uint64_t chroprof__histogram_since(const chroprof__since *s, chroprof__histogram *h,
                                          const chroprof__histogram *old)
{
    chroprof__slices *counts = chroprof__counts_of(&s->to, h);
    uint64_t most = 0;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS; b++) {
        uint64_t *place = chroprof__bucket_place(&s->to, h, b);
        uint64_t before = old ? chroprof__bucket_count(s->from, old, b) : 0;
        uint64_t count = chroprof__minus(chroprof__bucket_count(&s->to, h, b), before);
        uint16_t few = counts && count <= UINT16_MAX ? (uint16_t)count : 0;
        if (counts)
            counts->few[b] = few;
        if (place)
            *place = count - few;
        if (count)
            most = b + 1 < CHROPROF__BUCKETS ? chroprof__bucket_begin(b + 1) - 1 : UINT64_MAX;
    }
    return most;
}

/* Histograms that changed their site meanwhile hold nothing older. A maximum is at most what they
 * hold, so one of before gives way, if they hold all since. */
static void chroprof__histograms_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    c->tables[CHROPROF__RANGE_TABLE].wanted = 0; /* of a copy the list of free ones is not known */
    chroprof__pay(&s->to);
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_HISTOGRAMS].rows; k++) {
        chroprof__histograms *row = s->to.histograms + k;
        const chroprof__histograms *old = s->from->histograms + k;
        uint32_t site = s->to.paths[row->path].site;
        bool same = row->life == old->life;
        if (same)
            row->missed = chroprof__minus(row->missed, old->missed);
        else if (site < chroprof__site_count(s->from))
            row->missed = chroprof__minus(row->missed, chroprof__slices_ended(s->from, site));
        uint64_t slice = chroprof__histogram_since(s, &row->slice, same ? &old->slice : NULL);
        uint64_t delay = chroprof__histogram_since(s, &row->delay, same ? &old->delay : NULL);
        chroprof__lower(&row->latency_max,
                        chroprof__histogram_since(s, &row->latency, same ? &old->latency : NULL));
        uint32_t path = row->path && !row->missed ? chroprof__sites(c)[site].first_path : 0;
        for (; path; path = s->to.paths[path].same_site) {
            chroprof__lower(&s->to.paths[path].slice_max, slice);
            chroprof__lower(&s->to.paths[path].delay_max, delay);
        }
    }
}

/* Takes older callbacks and iterations away. Without percentiles their maxima stay. */
static void chroprof__lengths_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    const chroprof__core *old = s->from->core;
    if (!s->to.percentiles)
        return;
    uint64_t callback = chroprof__histogram_since(s, &c->lengths.callback, &old->lengths.callback);
    uint64_t iteration =
        chroprof__histogram_since(s, &c->lengths.iteration, &old->lengths.iteration);
    chroprof__lower(&c->loop.callback_max, c->loop.callbacks ? UINT64_MAX : callback);
    chroprof__lower(&c->loop.iteration_max, c->loop.iterations ? UINT64_MAX : iteration);
}

/* No maximum is larger than what it is one of. */
static void chroprof__maxima_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    for (uint32_t k = CHROPROF__FIRST_PATH; k < chroprof__path_count(&s->to); k++) {
        chroprof__path_row *row = s->to.paths + k;
        chroprof__lower(&row->exec_max, row->exec);
        chroprof__lower(&row->slice_max, row->entered       ? row->exec
                                         : row->activations ? row->exec_max : 0);
    }
    chroprof__lower(&c->loop.callback_max, c->loop.callbacks || s->to.percentiles ? c->last : 0);
    chroprof__lower(&c->loop.iteration_max, c->loop.iterations || s->to.percentiles ? c->last : 0);
}

/* Puts all exec into the cells, at the present level. */
static void chroprof__close_windows(const chroprof *p)
{
    for (uint32_t k = 0; k < chroprof__path_count(p); k++)
        chroprof__close_window(p->core, p->paths + k);
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        chroprof__merge_cells(p->core, chroprof__cells(p->core, site));
}

/* Takes the older exec off the cells, and lets windows begin with the one that time 0 lies in. Of
 * copies of several moments a cell may be less than it was: chroprof__mend_windows makes up for
 * that. */
static void chroprof__windows_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    uint32_t index = c->window & 0xFFFF, level = s->from->core->window & 0xFFFF0000u;
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    uint64_t first = s->begin / c->windows.ticks;
    first = first < index ? first : index;
    for (uint32_t site = 0; site < chroprof__site_count(&s->to); site++) {
        uint64_t *cells = chroprof__cells(c, site);
        chroprof__part part = { 0, 0, 0, 0 };
        while (site < chroprof__site_count(s->from) && chroprof__next_part(s->from, site, &part))
            cells[1 + chroprof__tag_index(c, level | part.window)] -= part.ticks;
        for (uint32_t k = 0; k < capacity; k++) {
            uint64_t exec = cells[1 + k] >> 63 ? 0 : cells[1 + k];
            cells[1 + k] = 0;
            cells[1 + (k > first ? k - first : 0)] += exec;
        }
    }
    c->made.window_phase = s->begin - first * c->windows.ticks;
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

/* Is frame k still the activation that it was in the older state? */
static bool chroprof__same_activation(const chroprof__since *s, uint32_t k)
{
    const chroprof__frame_row *a = s->to.frames + k, *b = s->from->frames + k;
    return k <= s->to.core->depth && k <= s->from->core->depth && a->event == b->event &&
           a->id == b->id && a->path == b->path;
}

/* Of a future that was there before, exec is what came since: without all of the slices that were
 * under way then, but for those that still are. */
static void chroprof__futures_since(const chroprof__since *s)
{
    const chroprof__frame_row *frames = s->from->frames;
    for (uint32_t n = 0; n < s->to.rows; n++) {
        chroprof__future_row *slot = s->to.futures + n;
        if (slot->id == 0)
            continue;
        chroprof__settle(&s->to, slot, slot->since);
        const chroprof__future_row *old = chroprof__find(s->from, slot->id);
        if (old->id != 0 && old->state != CHROPROF__GONE && old->path == slot->path &&
            old->created == slot->created) {
            uint64_t exec = old->exec;
            for (uint32_t k = old->frame; k && !(frames[k].kind & CHROPROF__ORPHAN);
                 k = frames[k].same)
                exec += chroprof__same_activation(s, k) ? 0 : chroprof__frame_slice(s->from, k);
            chroprof__shift(&slot->exec, exec);
        }
        chroprof__shift(&slot->since, s->begin);
        chroprof__shift(&slot->created, s->begin);
    }
}

/* An activation that was there before begins at time 0, and its slice is what came since. What one
 * that has ended lasted before is no lifetime of its path's; of one whose future has finished
 * since, the slice before is. */
static void chroprof__frames_since(const chroprof__since *s)
{
    const chroprof__frame_row *old = s->from->frames;
    for (uint32_t k = 1; k <= s->from->core->depth; k++) {
        chroprof__frame_row *frame = s->to.frames + k;
        if (chroprof__same_activation(s, k)) {
            frame->start += chroprof__frame_slice(s->from, k);
            chroprof__shift(&frame->excluded, old[k].excluded);
            chroprof__shift(&frame->carried, old[k].carried);
            if (chroprof__lasts(frame) && !chroprof__lasts(old + k))
                s->to.paths[frame->path].lifetime += chroprof__frame_slice(s->from, k);
        } else if ((old[k].kind & CHROPROF__BARRIER) == 0) {
            s->to.paths[old[k].path].lifetime -= chroprof__activation_lifetime(s->from, k);
        }
    }
    for (uint32_t k = 1; k <= s->to.core->depth; k++) {
        chroprof__shift(&s->to.frames[k].pushed, s->begin);
        chroprof__shift(&s->to.frames[k].start, s->begin);
    }
    chroprof__shift(&s->to.core->hidden_since, s->begin);
}

/* The ring tells of what came since. */
static void chroprof__ring_since(const chroprof__since *s)
{
    chroprof__core *c = s->to.core;
    uint64_t first = s->from->core->seq >> 1;
    c->ring.first = c->ring.first > first ? c->ring.first : first;
    c->ring.begin = 0;
    chroprof__reach r = chroprof__ring_reach(c);
    for (uint64_t n = r.first; n < r.end; n++)
        chroprof__shift(&chroprof__ring_at(&s->to, c, n)->time, s->begin);
}

/* Puts an interval that was billed to a path into the cells of its site. */
static void chroprof__put_interval(const chroprof *p, uint32_t path, uint64_t from, uint64_t to)
{
    const chroprof__core *c = p->core;
    if (path >= chroprof__path_count(p) || to > c->last)
        return;
    uint64_t *cells = chroprof__cells(c, p->paths[path].site);
    while (from < to) {
        uint64_t k = (from + c->made.window_phase) / c->windows.ticks;
        uint64_t border = (k + 1) * c->windows.ticks - c->made.window_phase;
        uint64_t end = border < to ? border : to;
        cells[1 + k] += end - from;
        from = end;
    }
}

/* Windows that have become wide before time 0 give way to narrow ones, as many as there is room
 * for, if the ring holds all events since. Their borders are a part of the old ones, so that both
 * add up when they meet again in a merge. */
static void chroprof__narrow_windows(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity, narrow = c->windows.ticks;
    uint32_t levels = chroprof__tag_level(c->window);
    for (; levels > 0 && narrow > 1; levels--, narrow /= 2)
        if ((c->last + s->begin % (narrow / 2)) / (narrow / 2) >= capacity)
            break;
    if (narrow == c->windows.ticks || r.first != s->from->core->seq >> 1)
        return;
    chroprof__empty(c, CHROPROF_TABLE_WINDOWS);
    c->windows.ticks = narrow;
    c->made.window_phase = s->begin % narrow;
    c->window = (uint32_t)((c->last + c->made.window_phase) / narrow);
    c->windows.end = (c->window + 1u) * narrow - c->made.window_phase;
    uint64_t from = 0;
    for (uint64_t n = r.first; n < r.end; n++) {
        const chroprof__ring_row *row = chroprof__ring_at(p, c, n);
        chroprof__put_interval(p, row->path, from, row->time);
        from = row->time;
    }
    chroprof__put_interval(p, c->account, from, c->last);
    chroprof__marks_since(p);
}

/* The stalls that ended since, and their steps: those that came before are apart. */
static void chroprof__stalls_since(chroprof__core *c, uint64_t before, uint64_t begin)
{
    chroprof__stall_row *rows = chroprof__stall_rows(c);
    for (uint32_t n = 1; n < c->tables[CHROPROF_TABLE_INCIDENTS].rows; n++) {
        chroprof__incident_row *row = chroprof__incidents(c) + n;
        uint32_t count = 0;
        chroprof__shift(&row->serial, before);
        for (uint32_t k = 0; row->serial && k < row->count; k++)
            if (row->steps[k].time >= begin) {
                row->steps[count] = row->steps[k];
                row->steps[count++].time -= begin;
            }
        row->count = count;
        row->left_out = 0;
        for (uint32_t k = count; row->serial && k > 0; k--)
            if (row->steps[k - 1].spare) {
                row->left_out += row->steps[k - 1].path;
                row->first = k - 1;
            }
        row->first = row->left_out ? row->first : 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF_TABLE_STALLS].rows; k++) {
        chroprof__shift(&rows[k].start, begin);
        chroprof__shift(&rows[k].serial, before);
        if (rows[k].serial == 0)
            memset(rows + k, 0, sizeof(*rows));
    }
    chroprof__set_stalls(c, c->loop.stalls);
}

/* The slow futures that finished since; their latency is as it was. */
static void chroprof__slow_since(chroprof__core *c, uint64_t begin)
{
    chroprof__slow_group *group = chroprof__slow_groups(c);
    for (uint64_t k = c->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++) {
        uint32_t count = group->count;
        group->count = 0;
        for (uint32_t i = 0; i < count; i++)
            if (group->rows[i].at > begin) {
                group->rows[group->count] = group->rows[i];
                group->rows[group->count++].at -= begin;
            }
    }
}

static void chroprof__take_node(chroprof__node *node, uint64_t *weight, uint64_t *cpu_ns)
{
    *weight -= chroprof__part_of(&node->weight, *weight);
    *cpu_ns -= chroprof__part_of(&node->cpu_ns, *cpu_ns);
}

/* Weights of the stacks and of the draws. The numbers of stacks change: the heir of each is our
 * number of the older state's node of that number, or of the innermost one around it that is still
 * here. Where frames gave way, the weight is taken from the markers that stand for them. */
static void chroprof__weights_since(chroprof__core *c, const chroprof__core *old)
{
    const uint32_t gone = UINT32_C(1) << 31;
    const chroprof__node *was = chroprof__nodes(old);
    chroprof__node *nodes = chroprof__nodes(c);
    uint64_t weight = 0, cpu_ns = 0;        /* of ticks that waited, and came elsewhere */
    for (uint32_t k = 0; k <= old->tables[CHROPROF_TABLE_STACKS].used; k++) {
        uint32_t around = k ? nodes[was[k].parent].heir : 0, found = 0;
        if (k && !(around & gone))
            found = chroprof__find_node(c, around, was[k].item);
        nodes[k].heir = found || k == 0 ? found : around | gone;
        uint64_t weight_left = was[k].weight, cpu_left = was[k].cpu_ns;
        uint32_t at = nodes[k].heir & ~gone;
        if (nodes[k].heir == at)
            chroprof__take_node(nodes + at, &weight_left, &cpu_left);
        for (bool more = true; more && (weight_left | cpu_left) != 0; at = nodes[at].parent) {
            uint32_t marker = chroprof__find_node(c, at, CHROPROF__FULL_ITEM);
            if (marker)
                chroprof__take_node(nodes + marker, &weight_left, &cpu_left);
            more = at != 0;
        }
        weight += weight_left;
        cpu_ns += cpu_left;
    }
    for (uint64_t k = c->tables[CHROPROF_TABLE_STACKS].used + 1; k > 0; k--)
        chroprof__take_node(nodes + k - 1, &weight, &cpu_ns);
    for (uint64_t k = 0; k < c->tables[CHROPROF__WALLS].rows; k++)
        (void)chroprof__subtract_figures(CHROPROF__ALL(chroprof__wall_figures),
                                         chroprof__wall_rows(old) + k, chroprof__wall_rows(c) + k);
}

/* The newest rows, as many as were taken since; of the row that was extended what came since. */
static void chroprof__samples_since(const chroprof *p, const chroprof__core *old, uint64_t begin)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    if (!s)
        return;
    (void)chroprof__link_nodes(p);         /* what is broken is refused in the end */
    chroprof__weights_since(p->core, old);
    (void)chroprof__subtract_figures(CHROPROF__ALL(chroprof__sampler_figures),
                                     chroprof__sampler_of(old), s);
    uint64_t left = s->rows.samples;
    chroprof__sample_span *rows = chroprof__sample_rows(c);
    for (uint64_t n = c->tables[CHROPROF_TABLE_SAMPLES].used; n > 0; n--) {
        chroprof__sample_span *row = rows + (chroprof__sample_at(p, n - 1) - rows);
        row->cpu_ns = row->weight > left ? 0 : row->cpu_ns;
        row->duration = chroprof__minus(row->duration, chroprof__minus(begin, row->time));
        chroprof__lower(&row->weight, left);
        chroprof__shift(&row->time, begin);
        left -= row->weight;
    }
    chroprof__shift(&s->rows.latest, begin);
    chroprof__mend_rows(p, s);
}

/* Where an anomaly was met first since is not known if it had been met before. False: a count
 * fell. */
static bool chroprof__counts_since(chroprof__core *c, const chroprof__core *old)
{
    bool good = chroprof__subtract_figures(CHROPROF__ALL(chroprof__loop_figures), old, c);
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++) {
        chroprof__places *row = chroprof__places_of(c, k);
        good = good && c->anomalies.counts[k] >= old->anomalies.counts[k];
        c->anomalies.counts[k] -= old->anomalies.counts[k];
        if (!row)
            continue;
        row->first = old->anomalies.counts[k] ? row->last : row->first;
        chroprof__shift(&row->first.at, old->last);
        chroprof__shift(&row->last.at, old->last);
    }
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        good = good && c->tables[k].dropped >= old->tables[k].dropped;
        c->tables[k].dropped -= old->tables[k].dropped;
    }
    chroprof__shift(&c->tables[CHROPROF_TABLE_STRINGS].wanted,
                    old->tables[CHROPROF_TABLE_STRINGS].wanted);
    c->loop.cpu_clock_ns = 0;
    memset(c->told.waited, 0, sizeof(c->told.waited));
    memset(c->told.held, 0, sizeof(c->told.held));
    c->seq_base += old->seq - old->seq_base;
    c->copy.skew_ticks += old->copy.skew_ticks;
    c->copy.skew_events += old->copy.skew_events;
    c->copy.torn_ticks += old->copy.torn_ticks;
    c->copy.torn_events += old->copy.torn_events;
    return good;
}

/* Takes the older state away from the copy of the newer one. False: that can't be. */
static bool chroprof__subtract(chroprof__since *s)
{
    chroprof *p = &s->to;
    chroprof__core *c = p->core;
    s->begin = s->from->core->last;
    if (c->last < s->begin)                 /* the program has ended since, or its next event was
                                               older than the reader's now */
        chroprof__bill_across(p, c->account, s->begin);
    chroprof__close_windows(p);
    chroprof__windows_since(s);
    if (!chroprof__counts_since(c, s->from->core) || !chroprof__paths_since(s))
        return false;
    c->last -= s->begin;
    /* the older state of a living program had gone on to the reader's now; if the next event was
     * older than that, what ran after it was billed twice */
    uint64_t twice = chroprof__minus(chroprof__sum_exec(p), c->last);
    for (uint32_t k = 0; k < chroprof__path_count(p) && twice; k++)
        twice -= chroprof__part_of(&p->paths[k].exec, twice);
    chroprof__marks_since(p);
    chroprof__histograms_since(s);
    chroprof__lengths_since(s);
    chroprof__maxima_since(s);
    chroprof__futures_since(s);
    chroprof__frames_since(s);
    chroprof__blame_loop(p);
    chroprof__ring_since(s);
    chroprof__narrow_windows(s);
    chroprof__stalls_since(c, s->from->core->loop.stalls, s->begin);
    chroprof__slow_since(c, s->begin);
    chroprof__samples_since(p, s->from->core, s->begin);
    c->epoch += s->begin;                   /* the new time 0; what only events need is forgotten */
    c->process.start_clock += s->begin;
    c->process.start_unix_ns += c->process.start_unix_ns ? chroprof__ns(c, s->begin) : 0;
    chroprof__shift(&c->iteration.start, s->begin);
    chroprof__shift(&c->time.calibrate_at, s->begin);
    c->time_limit = 0;
    memset(c->stall.due, 0, sizeof(c->stall.due));
    return chroprof__ask_block(p) == NULL;
}

CHROPROF__COLD_API chroprof_result chroprof_difference(const chroprof *newer, const chroprof *older,
                                                       void *memory, size_t size)
{
    chroprof__since s;
    uint64_t room;
    if (!chroprof__can_read(newer) || !chroprof__can_read(older) || !memory)
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__same_init(newer->core, older->core))
        return CHROPROF_ERR_DIFFERENT;
    if (newer->core->seq_base != older->core->seq_base)
        return CHROPROF_ERR_RESET;
    if (!chroprof__can_follow(newer, older))
        return CHROPROF_ERR_DIFFERENT;
    uint64_t bytes = newer->core->form.block_bytes;
    chroprof__core *c = chroprof__place(memory, size, bytes, &room);
    if (room < bytes)
        return CHROPROF_ERR_MEMORY;
    const char *from = (const char *)newer->core, *to = (const char *)c;
    if (!newer->view && to < from + bytes && from < to + bytes)
        return CHROPROF_ERR_ARGUMENT;       /* the running profile itself */
    memmove(c, newer->core, (size_t)bytes);
    memset(&s, 0, sizeof(s));
    chroprof__attach(&s.to, c);
    s.from = older;
    return chroprof__subtract(&s) ? CHROPROF_OK : CHROPROF_ERR_DIFFERENT;
}

/* >>merge: the figures of another profile, in ns, on top of those of one under the manual clock.
 * Owns nothing: it is an edit of that profile. Relies on >>figures for what is added, on >>tables,
 * >>histogram and >>samples to find or make room for the other's names, paths and stacks, and on
 * >>difference for the windows. Called by users alone. */

enum { CHROPROF__KNOWN_SITES = 256 };

typedef struct chroprof__merging {
    chroprof *to;
    const chroprof *from;
    uint64_t begin, elapsed;       /* where the other's time begins in ours, how long it is; ns */
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
    const chroprof__path_row *rows = m->from->paths;
    uint32_t count = 0, target = CHROPROF__LOOP;
    if (path < CHROPROF__FIRST_PATH)
        return path;
    for (; path != CHROPROF__LOOP; path = rows[path].parent) /* as often as its generation says */
        m->chain[count++] = path;
    while (count > 0) {
        uint32_t site = chroprof__merge_site(m, rows[m->chain[--count]].site);
        target = chroprof__child(m->to, target < CHROPROF__FIRST_PATH ? 0 : target, site);
    }
    return target;
}

/* A moment of their time in ours, within the time that they add. */
static uint64_t chroprof__merge_moment(const chroprof__merging *m, uint64_t ticks)
{
    uint64_t ns = chroprof__ns(m->from->core, ticks);
    return m->begin + (ns < m->elapsed ? ns : m->elapsed);
}

/* A site that is merged from one without histograms has none. */
static void chroprof__blur(chroprof *p, uint32_t site)
{
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    chroprof__sites(p->core)[site].blurred = 1;
    if (first && p->paths[first].histogram)
        chroprof__give_up_histograms(p, p->paths[first].histogram);
}

/* Each figure is what chroprof_paths shows of it. */
static void chroprof__merge_path(chroprof__merging *m, uint32_t path)
{
    const chroprof *p = m->from;
    uint32_t target = chroprof__merge_target(m, path);
    chroprof__path_row *to = m->to->paths + target, from;
    chroprof__path_now(p, path, &from);
    from.completed -= from.entered;
    chroprof__merge_figures(p->core, CHROPROF__ALL(chroprof__path_figures), &from, to);
    if (path < chroprof__wall_count(p) && chroprof__sampler_of(m->to->core))
        chroprof__merge_figures(p->core, CHROPROF__ALL(chroprof__wall_figures),
                                chroprof__wall_rows(p->core) + path,
                                chroprof__wall_of(m->to->core, target));
    uint32_t site = chroprof__merge_site(m, from.site);
    if (to->site == site)
        return;
    chroprof__blur(m->to, site);            /* it did not fit */
    chroprof__blur(m->to, to->site);
}

/* Exec of one of their windows into our cells, in proportion where that spans several. */
static void chroprof__merge_window(const chroprof__merging *m, uint64_t *cells, uint32_t window,
                                   uint64_t ticks)
{
    const chroprof__core *c = m->from->core;
    uint64_t exec = chroprof__ns(c, ticks), width = m->to->core->windows.ticks, done = 0;
    uint64_t start = chroprof__merge_moment(m, chroprof__window_start(c, window));
    uint64_t end = m->begin + m->elapsed;
    if (window < (c->window & 0xFFFF))
        end = chroprof__merge_moment(m, chroprof__window_start(c, window + 1u));
    start = start < end ? start : end;
    uint64_t k = start / width;
    for (; (k + 1) * width < end; k++) {
        uint64_t part = (k + 1) * width - start;
        part = chroprof__scale(exec, chroprof__unscale(part, end - start));
        cells[1 + k] += part - done;
        done = part;
    }
    cells[1 + k] += exec - done;
}

/* Buckets of ticks become buckets of ns; max is their largest entry, in ticks. */
static void chroprof__merge_histogram(const chroprof__merging *m, chroprof__histogram *to,
                                      const chroprof__histogram *from, uint64_t max)
{
    const chroprof__core *c = m->from->core;
    bool same = c->time.factor == UINT64_C(1) << 32, room = true;
    for (uint32_t b = 0; b < CHROPROF__BUCKETS && room; b++) {
        uint64_t value = b + 1 < CHROPROF__BUCKETS ? chroprof__bucket_value(b) : max;
        uint64_t count = chroprof__bucket_count(m->from, from, b);
        uint32_t bucket = same ? b : chroprof__bucket(chroprof__ns(c, value));
        room = count == 0 || chroprof__histogram_put(m->to, to, bucket, count);
    }
    uint64_t min = *chroprof__least_of(m->from, from), *least = chroprof__least_of(m->to, to);
    min = min == UINT64_MAX ? min : chroprof__ns(c, min);
    if (room && min < *least)
        *least = min;
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
        return m->to->histograms + m->to->paths[path].histogram;
    chroprof__blur(m->to, own);
    return NULL;
}

static void chroprof__merge_percentiles(chroprof__merging *m, uint32_t site)
{
    const chroprof *p = m->from;
    chroprof__histograms *own = chroprof__merge_row(m, site);
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    uint64_t slice, delay;
    if (!own)
        return;
    const chroprof__histograms *row = p->histograms + p->paths[first].histogram;
    chroprof__site_maxima(p, first, &slice, &delay);
    own->missed += row->missed;
    chroprof__raise(&own->latency_max, chroprof__ns(p->core, row->latency_max));
    chroprof__merge_histogram(m, &own->slice, &row->slice, slice);
    if (own->path)                          /* it may have given its ranges up */
        chroprof__merge_histogram(m, &own->delay, &row->delay, delay);
    if (own->path)
        chroprof__merge_histogram(m, &own->latency, &row->latency, row->latency_max);
}

/* Callbacks and iterations. */
static void chroprof__merge_lengths(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__core *from = m->from->core;
    const chroprof__histogram *callback = &from->lengths.callback;
    const chroprof__histogram *iteration = &from->lengths.iteration;
    if (m->to->percentiles && m->from->percentiles) {
        chroprof__merge_histogram(m, &c->lengths.callback, callback, from->loop.callback_max);
        chroprof__merge_histogram(m, &c->lengths.iteration, iteration, from->loop.iteration_max);
    } else if (m->from->percentiles) {
        c->loop.callbacks += chroprof__histogram_total(m->from, callback);
        c->loop.iterations += chroprof__histogram_total(m->from, iteration);
    }
}

/* Slices under way. */
static void chroprof__merge_open_slices(chroprof__merging *m)
{
    for (uint32_t k = 1; k <= m->from->core->depth; k++) {
        const chroprof__frame_row *frame = m->from->frames + k;
        uint32_t site = m->from->paths[frame->path].site;
        chroprof__histograms *own = site < CHROPROF__OTHER || frame->kind & CHROPROF__BARRIER
                                        ? NULL : chroprof__merge_row(m, site);
        uint64_t slice = chroprof__ns(m->from->core, chroprof__frame_slice(m->from, k));
        if (own)
            chroprof__histogram_add(m->to, &own->slice, slice);
    }
}

/* Our row of their module, + 1; 0: there is no room. It stays where it is if nothing of ours is
 * there, else it goes behind all others. */
static uint32_t chroprof__merge_module(chroprof__merging *m, const chroprof__module_row *theirs)
{
    chroprof__core *c = m->to->core;
    chroprof__table_row *table = &c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t size = theirs->high - theirs->low, low = theirs->low, end = 0;
    for (uint32_t k = 0; k < table->used; k++) {
        const chroprof__module_row *row = rows + k;
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

/* One of their frames as ours. */
CHROPROF__NOINLINE uint64_t chroprof__merge_item(chroprof__merging *m, uint64_t item)
{
    const chroprof__module_row *theirs = chroprof__module_rows(m->from->core);
    uint32_t module = chroprof__item_module(item);
    if (chroprof__item_kind(item) == CHROPROF__TASK) {
        uint32_t path = chroprof__merge_target(m, (uint32_t)chroprof__item_value(item));
        return chroprof__item(CHROPROF__TASK, path);
    }
    if (module == 0)
        return item;
    theirs += module - 1;
    module = chroprof__merge_module(m, theirs);
    uint64_t moved = module ? chroprof__module_rows(m->to->core)[module - 1].low - theirs->low : 0;
    return chroprof__code_item(chroprof__item_kind(item), chroprof__item_address(item) + moved,
                               module);
}

/* Our number of their stack, or of what of it fits. */
static uint32_t chroprof__merge_stack(chroprof__merging *m, uint32_t stack)
{
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    uint64_t items[2 * CHROPROF__ITEMS];
    uint32_t count = 0;
    for (uint32_t k = stack; k && count < 2 * CHROPROF__ITEMS; k = theirs[k].parent)
        items[count++] = chroprof__merge_item(m, theirs[k].item);
    return chroprof__intern_items(m->to, items, count);
}

/* Their stacks of a stall as ours: all of one moment. */
static void chroprof__merge_hits(chroprof__merging *m, const chroprof__hits *theirs,
                                 chroprof__hits *own)
{
    const chroprof__sampler *s = chroprof__sampler_of(m->to->core);
    uint64_t renumberings = 0;
    *own = *theirs;
    if (!s)
        own->count = 0;
    for (uint32_t tries = 0; s && (tries == 0 || s->renumberings != renumberings); tries++) {
        own->count = tries < 3 ? theirs->count : 0;     /* 0: never, new room holds a stall's */
        renumberings = s->renumberings;
        for (uint32_t k = 0; k < own->count; k++)
            own->stack[k] = chroprof__merge_stack(m, theirs->stack[k]);
    }
}

/* After what we have, in the order of time whatever theirs is: ticks since their last event stand
 * at its end. */
static void chroprof__merge_sample(chroprof__merging *m, const chroprof__sample_span *row)
{
    chroprof__sampler *s = chroprof__sampler_of(m->to->core);
    uint64_t start = chroprof__merge_moment(m, row->time);
    if (row->weight == 0)
        return;
    uint32_t stack = chroprof__merge_stack(m, row->stack);
    chroprof__sample_span *own = chroprof__new_row(m->to->core, s);
    *own = *row;
    own->time = start > s->rows.latest ? start : s->rows.latest;
    own->duration = chroprof__minus(chroprof__merge_moment(m, row->time + row->duration),
                                    own->time);
    own->stack = stack;
    s->rows.latest = own->time + own->duration;
}

static void chroprof__merge_samples(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__sampler *from = chroprof__sampler_of(m->from->core);
    chroprof__sampler *to = chroprof__sampler_of(c);
    if (from && !to)
        c->tables[CHROPROF_TABLE_SAMPLES].dropped += from->rows.samples;
    if (!from || !to)
        return;
    const chroprof__node *theirs = chroprof__nodes(m->from->core);
    for (uint32_t k = 0; k <= m->from->core->tables[CHROPROF_TABLE_STACKS].used; k++) {
        if ((theirs[k].weight | theirs[k].cpu_ns) == 0)
            continue;
        chroprof__node *own = chroprof__nodes(c) + chroprof__merge_stack(m, k);
        own->weight += theirs[k].weight;
        own->cpu_ns += theirs[k].cpu_ns;
    }
    for (uint64_t k = 0; k < m->from->core->tables[CHROPROF_TABLE_SAMPLES].used; k++)
        chroprof__merge_sample(m, chroprof__sample_at(m->from, k));
    c->estimated |= m->from->core->estimated;
    c->foreign |= m->from->view || m->from->core->foreign;
    to->set.mode = to->set.first_period_ns ? to->set.mode : from->set.mode;
    chroprof__merge_figures(m->from->core, CHROPROF__ALL(chroprof__sampler_figures), from, to);
    chroprof__mend_rows(m->to, to);
}

/* The steps of their stall, in our time. */
static void chroprof__merge_steps(chroprof__merging *m, uint64_t serial,
                                  const chroprof__stall_row *stall)
{
    const chroprof__incident_row *from = chroprof__incident_of(m->from->core, serial);
    for (uint32_t recent = 0; from && recent < 2; recent++) {
        chroprof__incident_row *row = chroprof__incident_place(m->to->core, stall, recent != 0);
        if (!row)
            continue;
        *row = *from;
        row->serial = stall->serial;
        row->length = stall->length;
        memset(row->steps + row->count, 0,
               (CHROPROF_INCIDENT_STEPS - row->count) * sizeof(*row->steps));
        for (chroprof__ring_row *step = row->steps; step < row->steps + row->count; step++) {
            step->time = chroprof__merge_moment(m, step->time);
            if (!step->spare)
                step->path = chroprof__merge_target(m, step->path);
            if (chroprof__row_state(step) != CHROPROF_SINCE)
                step->id = chroprof__shown_id(m->from, chroprof__row_id(step));
        }
    }
}

static void chroprof__merge_stalls(chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    const chroprof__core *theirs = m->from->core;
    const chroprof__stall_row *row = chroprof__stall_after(m->from, 0);
    for (; row; row = chroprof__stall_after(m->from, row->serial)) {
        chroprof__stall_row stall = *row;
        stall.serial = c->loop.stalls + (row->serial < theirs->loop.stalls ? row->serial
                                                                           : theirs->loop.stalls);
        stall.start = m->begin + chroprof__ns(theirs, row->start);
        stall.length = chroprof__ns(theirs, row->length);
        chroprof__merge_hits(m, &row->hits, &stall.hits);
        for (uint32_t k = 0; k < stall.share_count; k++) {
            chroprof__stall_part *share = stall.shares + k;
            share->exec = chroprof__ns(theirs, share->exec);
            share->slice_max = chroprof__ns(theirs, share->slice_max);
            share->site = chroprof__merge_site(m, share->site);
        }
        if (stall.serial != 0)
            chroprof__keep_stall(c, &stall);
        chroprof__merge_steps(m, row->serial, &stall);
    }
    chroprof__set_stalls(c, c->loop.stalls + theirs->loop.stalls);
}

static void chroprof__merge_slow_row(chroprof__merging *m, uint32_t site, chroprof__slow_entry slow)
{
    const chroprof__core *theirs = m->from->core;
    chroprof__slow_group *group = chroprof__slow_group_of(m->to->core, site);
    if (!group)
        return;
    slow.id = chroprof__shown_id(m->from, slow.id);
    slow.at = chroprof__merge_moment(m, slow.at);
    slow.latency = chroprof__ns(theirs, slow.latency);
    slow.exec = chroprof__ns(theirs, slow.exec);
    slow.children = chroprof__ns(theirs, slow.children);
    slow.delay = chroprof__ns(theirs, slow.delay);
    slow.unseen = chroprof__ns(theirs, slow.unseen);
    slow.path = chroprof__merge_target(m, slow.path);
    for (uint32_t k = 0; k < CHROPROF_SLOW_BLAMES; k++) {
        slow.blames[k].delay = chroprof__ns(theirs, slow.blames[k].delay);
        slow.blames[k].site = chroprof__merge_site(m, slow.blames[k].site);
    }
    chroprof__rank_slow(m->to->core, group, &slow);
}

static void chroprof__merge_place(chroprof__merging *m, chroprof__met *place)
{
    place->at = chroprof__merge_moment(m, place->at);
    place->id = chroprof__shown_id(m->from, place->id);
    place->path = chroprof__merge_target(m, place->path);
    place->top = chroprof__merge_target(m, place->top);
}

static void chroprof__merge_waits(chroprof__merging *m)
{
    const chroprof__core *c = m->from->core;
    for (uint32_t k = 0; k < CHROPROF__WAITED; k++) {
        const chroprof__waited_row *theirs = c->told.waited + k;
        if (theirs->count == 0)
            continue;
        chroprof__waited_row *row = chroprof__row_of_wait(
            m->to->core, chroprof__merge_site(m, theirs->site), theirs->call, theirs->within);
        row->estimated |= theirs->estimated;
        row->count += theirs->count;
        row->ticks += chroprof__ns(c, theirs->ticks);
        chroprof__raise(&row->longest, chroprof__ns(c, theirs->longest));
    }
}

static void chroprof__merge_counts(chroprof__merging *m)
{
    chroprof__core *to = m->to->core;
    const chroprof__core *c = m->from->core;
    chroprof__merge_figures(c, CHROPROF__ALL(chroprof__loop_figures), c, to);
    to->loop.cpu_clock_ns = 0;
    memset(to->told.held, 0, sizeof(to->told.held));
    to->made.merged_events += (c->seq - c->seq_base) / 2;
    for (uint32_t k = 0; k < CHROPROF_ANOMALY_COUNT; k++) {
        const chroprof__places *theirs = chroprof__places_of(c, k);
        to->anomalies.counts[k] += c->anomalies.counts[k];
        if (!theirs || c->anomalies.counts[k] == 0)
            continue;
        chroprof__places met = *theirs;
        chroprof__merge_place(m, &met.first);
        chroprof__merge_place(m, &met.last);
        chroprof__meet(to, k, &met);
    }
    to->ever_dropped |= c->ever_dropped;
    for (uint32_t k = 0; k < CHROPROF_TABLE_COUNT; k++) {
        chroprof__table_row *table = &to->tables[k];
        uint64_t wanted = c->tables[k].wanted;
        table->dropped += c->tables[k].dropped;
        if (k == CHROPROF_TABLE_DEPTH)
            chroprof__raise(&table->wanted, wanted);
        else if (k == CHROPROF_TABLE_STRINGS)
            table->wanted += wanted;
        else
            table->wanted |= wanted;
    }
}

/* Our time, and the window that it is in, go on by theirs. All our exec is in the cells then. */
static void chroprof__merge_time(const chroprof__merging *m)
{
    chroprof__core *c = m->to->core;
    uint64_t end = m->begin + m->elapsed;
    chroprof__move_window(c, end);
    chroprof__close_windows(m->to);
    c->epoch -= m->elapsed;
    c->last = end;
    c->iteration.start += m->elapsed;
    c->ring.first = c->seq >> 1;            /* no time that the ring tells of is the target's */
    c->ring.begin = end;
}

static void chroprof__merge_all(chroprof__merging *m)
{
    chroprof *p = m->to;
    chroprof__merge_time(m);
    for (uint32_t k = 0; k < chroprof__path_count(m->from); k++)
        chroprof__merge_path(m, k);
    for (uint32_t site = 0; site < chroprof__site_count(m->from); site++) {
        uint64_t *own = chroprof__cells(p->core, chroprof__merge_site(m, site));
        chroprof__part part = { 0, 0, 0, 0 };
        chroprof__merge_cells(p->core, own);        /* a new site */
        while (chroprof__next_part(m->from, site, &part))
            chroprof__merge_window(m, own, part.window, part.ticks);
        if (site >= CHROPROF__FIRST_SITE)
            chroprof__merge_percentiles(m, site);
    }
    chroprof__merge_open_slices(m);
    chroprof__merge_lengths(m);
    chroprof__merge_stalls(m);
    const chroprof__slow_group *group = chroprof__slow_groups(m->from->core);
    for (uint64_t k = m->from->core->tables[CHROPROF_TABLE_SLOW].used; k > 0; k--, group++)
        for (uint32_t i = 0; i < group->count; i++)
            chroprof__merge_slow_row(m, chroprof__merge_site(m, group->site), group->rows[i]);
    chroprof__merge_samples(m);
    chroprof__merge_waits(m);
    chroprof__merge_counts(m);
    chroprof__marks_since(p);
    chroprof__blame_loop(p);
    chroprof__set_time_limit(p->core);
}

CHROPROF__COLD_API chroprof_result chroprof_merge(chroprof *p, const chroprof *other)
{
    chroprof__merging m;
    if (!chroprof__has_block(p) || !chroprof__can_read(other) || p->core == other->core)
        return CHROPROF_ERR_ARGUMENT;
    const chroprof__core *c = p->core;
    if (p->view || p->in_hook || !c->time.manual || c->depth ||
        c->tables[CHROPROF_TABLE_FUTURES].used)
        return CHROPROF_ERR_TARGET;
    memset(&m, 0, sizeof(m));
    m.to = p;
    m.from = other;
    m.begin = c->last;
    for (uint32_t k = 0; k < chroprof__path_count(other); k++) {
        uint64_t exec = chroprof__ns(other->core, other->paths[k].exec);
        if (exec >= CHROPROF__END_OF_TIME - c->last - m.elapsed)
            return CHROPROF_ERR_TIME;
        m.elapsed += exec;
    }
    chroprof__begin_edit(p->core);
    chroprof__merge_all(&m);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}

CHROPROF__COLD_END
#endif /* CHROPROF_NO_COPIES */

/* >>sampler: the timer, its signal and its handler.
 * Owns the signal and the timer of a profile, and of the sampler's state what the handler changes:
 * the ring's newest entries, ticks, lost, cost, deadline. Events change the last four, too, when
 * samples are overdue.
 * Relies on >>samples for the ring and for what becomes of it, on >>platform for clocks and system
 * calls. The handler calls nothing but clock_gettime and the system calls of the timer, and knows
 * its profile by the value that the timer carries, so there is nothing global; but for timers of
 * the process, which carry none.
 * Called by the host to start and stop, by the kernel, and by events while the sampler runs: those
 * tell it that the loop is about to sleep. */

#if CHROPROF__SAMPLES
enum {
#ifdef SA_ONSTACK
    CHROPROF__ON_STACK = SA_ONSTACK,
#else
    CHROPROF__ON_STACK = 0x08000000,
#endif
    CHROPROF__BUDGET_PERIODS = 8
};

/* ---- the stack of a timer signal. Bytes: what the handler needs below the kernel's frame, and
 * what it leaves to a walk of the user's; an alternate stack that is big enough for signals and for
 * whoever else runs on it. */
enum {
    CHROPROF__SIGNAL_STACK = 4096, CHROPROF__UNWIND_STACK = 16384, CHROPROF__BIG_STACK = 32768
};

typedef __typeof__(((ucontext_t *)0)->uc_stack) chroprof__stack_of_signals;

extern int chroprof__alternate_stack(const void *set, void *get)
    __asm__(CHROPROF__LABEL("sigaltstack"));

static uint64_t chroprof__stack_need(bool unwinds)
{
    return unwinds ? CHROPROF__UNWIND_STACK : CHROPROF__SIGNAL_STACK;
}

/* What the kernel itself puts on the stack for a signal: 1.4 KiB and more on x86-64, 3.4 with
 * AVX-512, 11 with AMX. 0: not known. */
#if defined(__linux__)
extern unsigned long chroprof__auxiliary(unsigned long type) __asm__("getauxval")
    __attribute__((__weak__));
#endif

static uint64_t chroprof__frame_bytes(void)
{
#if defined(__linux__)
    if (chroprof__auxiliary)
        return chroprof__auxiliary(51);     /* AT_MINSIGSTKSZ */
#endif
    return 0;
}

/* Size of the alternate stack of this thread; 0: it has none. */
static uint64_t chroprof__alternate_bytes(void)
{
    chroprof__stack_of_signals stack;
    memset(&stack, 0, sizeof(stack));
    (void)chroprof__alternate_stack(NULL, &stack);
    return stack.ss_sp ? stack.ss_size : 0;
}

/* SIGSTKSZ as it was before it became a call. */
#if defined(__x86_64__) || defined(__i386__)
enum { CHROPROF__CLASSIC_STACK = 8192 };
#else
enum { CHROPROF__CLASSIC_STACK = 16384 };
#endif

/* Can a crash handler on this thread's alternate stack be interrupted by a timer signal that takes
 * no sample? The classic size will do: a processor with AMX announces a frame of 11 KiB to all, and
 * the kernel writes one only for who asked for AMX. Where none is announced, no less will do. */
static bool chroprof__handlers_have_room(void)
{
    enum { CLASSIC = CHROPROF__CLASSIC_STACK, WITHOUT_SAMPLE = 512 };
    uint64_t bytes = chroprof__alternate_bytes(), frame = chroprof__frame_bytes();
    return bytes == 0 || bytes >= CLASSIC || (frame > 0 && bytes >= 2 * frame + WITHOUT_SAMPLE);
}

/* Has this thread an alternate stack that signals may run on? A small one is its crash handler's
 * alone: a timer signal would kill the program there, or the handler that comes while a timer
 * signal runs. */
static bool chroprof__has_big_stack(void)
{
    return chroprof__alternate_bytes() >= CHROPROF__BIG_STACK;
}

/* The bytes below an address, as far as its stack is known; else many. */
static uint64_t chroprof__stack_left(const chroprof__sampler *s, uintptr_t here)
{
    if (here >= s->stack.fiber_low && here < s->stack.fiber_high)
        return here - s->stack.fiber_low;
    return here >= s->stack.low && here < s->stack.high ? here - s->stack.low : UINT64_MAX;
}

/* Is there room for a timer signal below here? A crash handler on a small stack must live, and so
 * must a fiber near its end: the kernel's frame fitted, but little more might. */
CHROPROF__NOINLINE bool chroprof__has_stack(const chroprof__sampler *s, const void *context)
{
    const chroprof__stack_of_signals *other = &((const ucontext_t *)context)->uc_stack;
    const void *frame = __builtin_frame_address(0);
    uintptr_t here = (uintptr_t)frame, low = (uintptr_t)other->ss_sp;
    uint64_t left = here - low < other->ss_size ? here - low : chroprof__stack_left(s, here);
    return left >= chroprof__stack_need(s->unwind.walk != 0);
}

/* May the sampler start here, where a timer signal could come next? */
static bool chroprof__can_interrupt_here(const chroprof__sampler *s,
                                         const chroprof_sampler_options *o)
{
    const void *frame = __builtin_frame_address(0);
    uint64_t left = chroprof__stack_left(s, (uintptr_t)frame), bytes = chroprof__frame_bytes();
    chroprof__raise(&bytes, 4096);
    return chroprof__has_big_stack() ||
           (left >= bytes + chroprof__stack_need(o->unwind != NULL) &&
            chroprof__handlers_have_room());
}

#if CHROPROF__THREAD_TIMER
enum { CHROPROF__THREAD_SIGNAL = 4 };      /* SIGEV_THREAD_ID */

/* How the kernel takes the event of a timer: struct sigevent. */
typedef struct chroprof__timer_event {
    uint64_t value;
    int32_t signal, notify, thread;
    int32_t rest[11];
} chroprof__timer_event;

/* Arms a timer, or stops it if first_ns is 0. The kernel takes times in s and ns. */
static void chroprof__set_timer(uint64_t timer, uint64_t first_ns, uint64_t interval_ns)
{
    const uint64_t s = 1000000000u;
    const uint64_t value[4] = { interval_ns / s, interval_ns % s, first_ns / s, first_ns % s };
    (void)chroprof__system(SYS_timer_settime, (long)timer, 0L, value, NULL);
}
#else
/* A timer of the process, and whose its signals are. It may interrupt any thread, which passes the
 * signal on to the loop's. */
typedef struct chroprof__process_timer {
    const chroprof *owner;
    chroprof__core *core;      /* NULL: the signals are nobody's */
    pthread_t thread;          /* of the loop */
    long pid;                  /* of the owner's process; 0: the timer is free */
    long passing;              /* threads that are about to pass a timer signal on */
    bool ignored;              /* the signal, before */
} chroprof__process_timer;

static chroprof__process_timer chroprof__process_timers[2];

/* The timer of the process that sends this signal. */
static chroprof__process_timer *chroprof__timer_of(int number)
{
    return chroprof__process_timers + (number == SIGPROF);
}

static void chroprof__set_timer(uint64_t number, uint64_t first_ns, uint64_t interval_ns)
{
    struct itimerval value;
    memset(&value, 0, sizeof(value));
    value.it_interval.tv_sec += (long)(interval_ns / 1000000000u);
    value.it_interval.tv_usec += (int)(interval_ns % 1000000000u / 1000u);
    value.it_value.tv_sec += (long)(first_ns / 1000000000u);
    value.it_value.tv_usec += (int)(first_ns % 1000000000u / 1000u);
    (void)setitimer(number == SIGPROF ? ITIMER_PROF : ITIMER_REAL, &value, NULL);
}
#endif

/* ---- when signals are due. Periods are random, so that no loop is in step with them: each is from
 * half a period to one and a half, on the clock that the mode goes by. */

static uint64_t chroprof__random_period(chroprof__sampler *s)
{
    return s->handler.period_ns / 2 + chroprof__random(s) % s->handler.period_ns;
}

static uint64_t chroprof__mode_ns(const chroprof__sampler *s)
{
    return s->set.mode == CHROPROF_SAMPLER_WALL ? chroprof__monotonic_ns(NULL)
                                            : chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How many signals were due by now, and when the next one is. Late ones count: the kernel may look
 * only every few ms. */
static uint64_t chroprof__count_due(chroprof__sampler *s, uint64_t now)
{
    uint64_t count = chroprof__minus(now, s->handler.deadline) / s->handler.period_ns;
    if (count < 64)
        count = 0;
    s->handler.deadline += count * s->handler.period_ns;
    for (; s->handler.deadline <= now; count++)
        s->handler.deadline += chroprof__random_period(s);
    return count;
}

static void chroprof__arm(const chroprof__sampler *s)
{
    uint64_t left = chroprof__minus(s->handler.deadline, chroprof__mode_ns(s));
    chroprof__set_timer(s->timer.number, left > 1000 ? left : 1000, 0);
}

/* Of how many samples of the first period a timer signal is worth; periods: what the timer says. 0:
 * of none yet, over the budget a steady timer can't be slowed down. A timer of the process goes by
 * all threads, and may be early for this one. */
static uint64_t chroprof__signal_weight(chroprof__sampler *s, uint64_t periods)
{
    uint64_t factor = s->handler.period_ns / s->set.first_period_ns, now;
    if (s->set.steady) {
        uint64_t weight = s->handler.pending + periods;
        s->handler.pending = weight < factor ? weight : 0;
        return weight < factor ? 0 : weight;
    }
    now = chroprof__mode_ns(s);
    s->handler.deadline = s->handler.deadline < now ? s->handler.deadline : now;
    return chroprof__count_due(s, now) * factor;
}

/* ---- the wall mode while the loop sleeps. Idle is known from the events: it is sampled by its
 * length when it ends, and no signal has to wake the loop for it. */

/* Does the loop's thread sleep? Any thread may ask. */
static bool chroprof__is_asleep(const chroprof__core *c)
{
    return *(const volatile uint32_t *)&c->account == CHROPROF__IDLE && !chroprof__is_busy(c);
}

/* Is the timer of this process? A forked child inherits none, but one of its own may have that
 * number. */
static bool chroprof__has_timer(const chroprof__sampler *s)
{
    return chroprof__peek64(&s->timer.armed) != 0 && s->timer.pid == (uint64_t)getpid();
}

/* The loop is about to sleep. A timer signal that falls due before it can be expected back, going
 * by twice the longest of its waits of late, is called off; so a fast loop makes no system call
 * here but for the few waits around a timer signal. */
static void chroprof__begin_wait(chroprof__core *c, chroprof__sampler *s)
{
    s->wait.resting = 1;
    s->wait.start = s->wait.idle_from = c->last;
    if (s->handler.stopped || s->set.steady)
        return;
    uint64_t now = chroprof__monotonic_ns(NULL);
    if (chroprof__minus(s->handler.deadline, now) / 2 > s->wait.most)
        return;
    chroprof__poke64(&s->handler.stopped, 1);
    if (chroprof__has_timer(s))
        chroprof__set_timer(s->timer.number, 0, 0);
    s->handler.cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* Arms the timer again after a wait. Signals that fell due while it was called off are of idle
 * time. */
CHROPROF__COLD void chroprof__go_on(chroprof__sampler *s)
{
    uint64_t now = chroprof__monotonic_ns(NULL);
    (void)chroprof__count_due(s, now);
    chroprof__poke64(&s->handler.stopped, 0);
    chroprof__arm(s);
    s->handler.cost_ns += chroprof__minus(chroprof__monotonic_ns(NULL), now);
}

/* The timer does not fire any more; in a forked child, which does not inherit it, it never did. */
CHROPROF__COLD void chroprof__end_signals(chroprof *p, chroprof__sampler *s)
{
    chroprof__begin_edit(p->core);
    s->timer.armed = s->timer.running = s->handler.stopped = 0;
    p->sampling = false;
    chroprof__set_taking(p, chroprof__is_taking(p));
    chroprof__end_edit(p->core);
}

/* Samples of the idle that ends now, as many as periods fit into it and what was left before. */
CHROPROF__COLD void chroprof__sample_idle(const chroprof *p, chroprof__sampler *s, uint64_t weight)
{
    chroprof__core *c = p->core;
    uint64_t t = c->last, period = s->set.first_period_ns;
    uint64_t last = chroprof__minus(t, chroprof__unscale(s->wait.idle_ns, c->time.factor));
    uint64_t first = chroprof__minus(last, chroprof__unscale((weight - 1) * period,
                                                             c->time.factor));
    chroprof__entry e;
    memset(&e, 0, sizeof(e));
    e.state = CHROPROF_SAMPLE_IDLE;
    chroprof__put_item(&e, CHROPROF__MARK, CHROPROF__MARK_IDLE);
    (void)chroprof__put_tasks(c, &e, c->barrier, 0);
    chroprof__begin_edit(c);
    uint32_t stack = chroprof__intern_stack(p, &e);
    e.weight = 1;
    chroprof__add_row(c, s, first > s->rows.latest ? first : s->rows.latest, stack, &e);
    e.weight = weight - 1;                  /* 0: first is last */
    chroprof__add_row(c, s, last > s->rows.latest ? last : s->rows.latest, stack, &e);
    chroprof__draw(p, s, s->wait.idle_from, t, weight);
    chroprof__end_edit(c);
}

/* Takes in samples of the idle time up to now. */
static void chroprof__take_idle(const chroprof *p, chroprof__sampler *s)
{
    const chroprof__core *c = p->core;
    s->wait.idle_ns += chroprof__scale(chroprof__minus(c->last, s->wait.idle_from), c->time.factor);
    uint64_t weight = s->wait.idle_ns / s->set.first_period_ns;
    s->wait.idle_ns -= weight * s->set.first_period_ns;
    if (weight > 0)
        chroprof__sample_idle(p, s, weight);
    s->wait.idle_from = c->last;
}

static void chroprof__follow_idle(chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    bool idle = c->account == CHROPROF__IDLE;
    if (s->set.mode != CHROPROF_SAMPLER_WALL)
        return;
    if (s->wait.resting)
        chroprof__take_idle(p, s);
    if (idle && !s->wait.resting) {
        chroprof__begin_wait(c, s);
    } else if (!idle && s->wait.resting) {
        s->wait.resting = 0;
        s->wait.most -= s->wait.most / 256;         /* long ones are forgotten bit by bit */
        chroprof__raise(&s->wait.most,
                        chroprof__scale(chroprof__minus(c->last, s->wait.start), c->time.factor));
    }
    if (idle || !chroprof__peek64(&s->handler.stopped))
        return;
    if (chroprof__has_timer(s))
        chroprof__go_on(s);
    else
        chroprof__end_signals(p, s);
}

/* ---- after each event: those that begin an activation also note who they came from */

/* What tells one call of a function from all others. */
CHROPROF__INLINE uint32_t chroprof__frame_key(uintptr_t frame, uintptr_t back)
{
    return (uint32_t)((frame ^ (uint64_t)back * UINT64_C(0x9E3779B97F4A7C15)) >> 8) | 1;
}

/* The end of the stack that an address is on; 0: not known. */
CHROPROF__INLINE uintptr_t chroprof__stack_end(const chroprof__sampler *s, uintptr_t address)
{
    if (address >= s->stack.fiber_low && address < s->stack.fiber_high)
        return (uintptr_t)s->stack.fiber_high;
    return address >= s->stack.low && address < s->stack.high ? (uintptr_t)s->stack.high : 0;
}

/* Can a frame record lie here? */
CHROPROF__INLINE bool chroprof__is_record(uintptr_t frame, uintptr_t above, uintptr_t end)
{
    return frame > above && end >= 16 && frame <= end - 16 && frame % sizeof(frame) == 0;
}

/* The callers that a path was begun by last. */
static chroprof__caller *chroprof__caller_of(const chroprof__core *c, uint32_t path)
{
    uint64_t bytes = chroprof__caller_bytes(c);
    return chroprof__callers(c) + path % (bytes / sizeof(chroprof__caller));
}

/* The callers of frame k; NULL: they are not known. The frame's own note goes first: what its path
 * had may be another one's by now. */
static const uint32_t *chroprof__keys_of(const chroprof__core *c, chroprof__sampler *s, uint32_t k)
{
    const chroprof__frame_row *frame = chroprof__frame_rows(c) + k;
    const chroprof__note *note = chroprof__notes(s) + k;
    const chroprof__caller *caller = chroprof__caller_of(c, frame->path);
    if (note->event == frame->event)
        return note->keys;
    bool known = caller->path == frame->path && caller->since <= frame->pushed;
    return known && !(s->noting && k == c->depth) ? caller->keys : NULL;
}

/* Frames of the running stack keep the callers that are about to give way. */
static void chroprof__keep_callers(const chroprof__core *c, chroprof__sampler *s, uint32_t path)
{
    const chroprof__frame_row *frames = chroprof__frame_rows(c);
    uint32_t tries = CHROPROF__NOTED_TASKS;
    for (uint32_t k = c->depth; k > 0 && tries > 0; k--, tries--) {
        const chroprof__caller *caller = chroprof__caller_of(c, frames[k].path);
        const uint32_t *keys = chroprof__keys_of(c, s, k);
        chroprof__note *note = chroprof__notes(s) + k;
        if (caller != chroprof__caller_of(c, path) || keys != caller->keys)
            continue;
        memcpy(note->keys, keys, sizeof(note->keys));
        CHROPROF__STORE_FENCE();
        note->event = frames[k].event;
    }
}

/* Whether the next frame of this path has these callers is seen by where two of them return to, if
 * there are as many. The stack of a fiber may be gone by then, so that is not looked at. */
static void chroprof__note_path(chroprof *p, const chroprof__note *note, const uintptr_t *at,
                                uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t path = p->frames[c->depth].path;
    chroprof__caller *caller = chroprof__caller_of(c, path);
    bool fiber = base >= s->stack.fiber_low && base < s->stack.fiber_high;
    chroprof__keep_callers(c, s, path);
    chroprof__poke64(&caller->base, 0);
    caller->path = 0;
    CHROPROF__STORE_FENCE();
    caller->one = caller->product = 1;
    for (int k = 0; k < 2; k++) {
        caller->at[k] = at[k] && !fiber ? at[k] : (uint64_t)(uintptr_t)&caller->one;
        caller->product *= chroprof__stack_word((uintptr_t)caller->at[k]);
    }
    caller->since = c->last;
    memcpy(caller->keys, note->keys, sizeof(caller->keys));
    CHROPROF__STORE_FENCE();
    caller->path = path;
    chroprof__poke64(&caller->base, fiber ? 0 : base);
}

/* The top frame was begun by this event: by the functions whose records these are, from the given
 * one on. That may be anything, so only what lies between here and the end of the stack is read:
 * below, inside the bounds of the stack, there may be guard pages. */
static void chroprof__note_caller(chroprof *p, uintptr_t frame, uint64_t base)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint32_t event = p->frames[c->depth].event;
    const void *own = __builtin_frame_address(0);
    uintptr_t above = (uintptr_t)own, end = chroprof__stack_end(s, above), at[3] = { 0, 0, 0 };
    if (event != (uint32_t)(c->seq - 1))
        return;
    chroprof__note *note = chroprof__notes(s) + c->depth;
    memset(note, 0, sizeof(*note));
    for (int k = 0; k < 3 && end && chroprof__is_record(frame, above, end); k++) {
        at[k] = frame + sizeof(frame);
        note->keys[k] = chroprof__frame_key(frame, chroprof__stack_word(at[k]));
        above = frame;
        frame = chroprof__stack_word(frame);
    }
    CHROPROF__STORE_FENCE();
    note->event = event;
    if (base != CHROPROF__BEGINS_SLOWLY)
        chroprof__note_path(p, note, at, base);
}

/* Linux looks at a CPU timer only when a tick of its scheduler finds the thread running, which on a
 * crowded processor may not happen for long. Signals so overdue that no other delay explains it are
 * lost. */
CHROPROF__COLD void chroprof__give_up_signals(chroprof *p, chroprof__sampler *s)
{
    uint64_t overdue = chroprof__minus(s->look.cpu_ns, chroprof__peek64(&s->handler.deadline));
    if (s->set.mode != CHROPROF_SAMPLER_CPU || s->set.steady ||
        overdue < 20000000 + 2 * s->handler.period_ns)
        return;
    if (!chroprof__has_timer(s)) {
        chroprof__end_signals(p, s);
        return;
    }
    chroprof__set_timer(s->timer.number, 0, 0); /* a timer of the thread is silent from here on */
    uint64_t count = chroprof__count_due(s, s->look.cpu_ns) *
                     (s->handler.period_ns / s->set.first_period_ns);
    s->handler.ticks += count;
    s->handler.lost += count;
    s->handler.window_weight += count;              /* they cost nothing */
    chroprof__arm(s);
}

/* A callback or an iteration began before the look that comes now, which found this CPU time. */
static void chroprof__note_begun(chroprof *p, uint32_t place, uint64_t start, chroprof__begun now)
{
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    uint64_t ns;
    if (s->begun[place].event == now.event ||
        !chroprof__cpu_at(p, place, (uint32_t)now.event, start, &ns))
        return;
    chroprof__lower(&now.cpu_ns, ns);
    s->begun[place] = now;
}

/* The callback above a barrier, which is the innermost but `outer`. */
static void chroprof__note_callback(chroprof *p, uint32_t barrier, uint32_t outer, uint64_t cpu_ns)
{
    const chroprof__frame_row *base = p->frames + barrier + 1;
    uint32_t barriers = p->core->barriers - outer;
    uint32_t place = barriers < CHROPROF__NESTED_LOOPS ? barriers : CHROPROF__NESTED_LOOPS - 1;
    chroprof__begun now = { base->event, cpu_ns };
    chroprof__note_begun(p, place, base->pushed, now);
}

/* Looks at the thread's CPU clock, once in a millisecond. What began since the last look has its
 * CPU time by that one. An event that is told late says nothing of the CPU time at its own time. */
static void chroprof__look_at_cpu(chroprof *p)
{
    const chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    s->look.due = 0;
    if (chroprof__is_past(c, c->last))
        return;
    uint64_t cpu_ns = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    if (c->depth > c->barrier && p->frames[c->barrier + 1].pushed < c->last)
        chroprof__note_callback(p, c->barrier, 0, cpu_ns);
    chroprof__begun iteration = { (uint32_t)c->iteration.event, cpu_ns };
    if (c->loop.iteration_active && c->iteration.start < c->last)
        chroprof__note_begun(p, CHROPROF__NESTED_LOOPS, c->iteration.start, iteration);
    s->look.cpu_ns = cpu_ns;
    s->look.cpu_busy = c->last - p->paths[CHROPROF__IDLE].exec;
    s->look.last = c->last;
    chroprof__give_up_signals(p, s);
}

/* A nested loop begins: its idle times must not count for the callback around it. */
static void chroprof__note_outer(chroprof *p)
{
    const chroprof__core *c = p->core;
    const chroprof__frame_row *top = p->frames + c->depth;
    if (top->event == (uint32_t)(c->seq - 1) && top->kind & CHROPROF__BARRIER &&
        c->depth > top->slot + 1)
        chroprof__note_callback(p, top->slot, 1, UINT64_MAX);
}

static void chroprof__follow_event(chroprof *p, uintptr_t frame, uint64_t base)
{
    if (base != CHROPROF__BEGINS_NONE)
        chroprof__note_caller(p, frame, base);
    if (p->core->depth)
        chroprof__note_outer(p);
    if (chroprof__sampler_of(p->core)->look.due)
        chroprof__look_at_cpu(p);
    chroprof__follow_idle(p);
}

/* ---- in the handler */

/* Registers of the interrupted code. */
typedef struct chroprof__registers {
    uintptr_t code, stack, frame;
} chroprof__registers;

/* On Linux by their places in the kernel's frame: the names of these fields hide behind feature
 * macros. False: samples name tasks, and what options.unwind tells. */
static bool chroprof__read_registers(void *context, chroprof__registers *r)
{
#if defined(__APPLE__) && defined(__x86_64__)
    const ucontext_t *u = (const ucontext_t *)context;
    r->code = (uintptr_t)u->uc_mcontext->__ss.__rip;
    r->stack = (uintptr_t)u->uc_mcontext->__ss.__rsp;
    r->frame = (uintptr_t)u->uc_mcontext->__ss.__rbp;
    return true;
#elif defined(__APPLE__) && defined(__aarch64__) && defined(__darwin_arm_thread_state64_get_pc)
    const ucontext_t *u = (const ucontext_t *)context;
    r->code = (uintptr_t)__darwin_arm_thread_state64_get_pc(u->uc_mcontext->__ss);
    r->stack = (uintptr_t)__darwin_arm_thread_state64_get_sp(u->uc_mcontext->__ss);
    r->frame = (uintptr_t)__darwin_arm_thread_state64_get_fp(u->uc_mcontext->__ss);
    return true;
#elif defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#ifdef __x86_64__
    static const uint8_t place[3] = { 16, 15, 10 };            /* rip, rsp, rbp */
#else
    static const uint8_t place[3] = { 33, 32, 30 };            /* pc, sp, x29, behind an address */
#endif
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    memcpy(&r->code, at + 8 * place[0], sizeof(r->code));
    memcpy(&r->stack, at + 8 * place[1], sizeof(r->stack));
    memcpy(&r->frame, at + 8 * place[2], sizeof(r->frame));
    return true;
#else
    (void)context;
    (void)r;
    return false;
#endif
}

/* Is this signal what a system call returns for (EINTR)? Known on Linux, on x86-64 and arm64, by
 * the call's result. On x86-64 rcx still holds the address that it returns to (the SYSCALL
 * instruction: Intel's manual, volume 2). The code itself is not looked at: it may not be
 * readable. */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define CHROPROF__SEES_CALLS 1
static bool chroprof__has_cut(void *context)
{
    const char *at = (const char *)context + offsetof(ucontext_t, uc_mcontext);
    int64_t result;
#ifdef __x86_64__
    uint64_t back, next;                    /* rcx and rip */
    memcpy(&result, at + 8 * 13, sizeof(result));
    memcpy(&back, at + 8 * 14, sizeof(back));
    memcpy(&next, at + 8 * 16, sizeof(next));
    return result == -EINTR && back == next;
#else
    memcpy(&result, at + 8 * 1, sizeof(result));
    return result == -EINTR;
#endif
}
#else
#define CHROPROF__SEES_CALLS 0
#define chroprof__has_cut(context) 0
#endif

/* A wait that this signal would end goes on inside the handler, and its result takes the place of
 * the EINTR that the host would see. Nothing has to be known of how long it was to be: polls and
 * sleeps have left that with the kernel (restart_syscall, which it calls itself after a signal
 * without a handler), the others keep it in their arguments. Which call it is only the code says,
 * where it moves the number into eax before the SYSCALL instruction; others stay cut. The host's
 * own signals end the wait as they would without this one. */
#if CHROPROF__SEES_CALLS && CHROPROF__THREAD_TIMER && defined(__x86_64__)
enum { CHROPROF__WORD_BEHIND_RCX = 16, CHROPROF__PLACE_OF_RESULT = 13 };

/* The number of the call before the address, -1: not known. The kernel reads it first, and refuses
 * what cannot be read (EFAULT), then what is no way to set a mask. */
static long chroprof__call_before(uintptr_t next)
{
    uint8_t code[8];
    uint32_t number;
    (void)chroprof__system(SYS_rt_sigprocmask, 99L, (long)(next - sizeof(code)), 0L, 8L);
    if (errno != EINVAL)
        return -1;
    memcpy(code, (const void *)(next - sizeof(code)), sizeof(code));
    memcpy(&number, code + 2, sizeof(number));
    return code[1] == 0xb8 && code[6] == 0x0f && code[7] == 0x05 ? (long)number : -1;
}

/* The call that goes on with it; -1: there is none. a: its arguments. */
static long chroprof__call_to_go_on(long number, const uint64_t *a)
{
    bool for_ever = (uint32_t)a[3] == UINT32_MAX;
    switch (number) {
    case SYS_poll: case SYS_nanosleep: return SYS_restart_syscall;
    case SYS_clock_nanosleep: return a[1] == 0 ? (long)SYS_restart_syscall : number;
    case SYS_select: case SYS_pselect6: case SYS_ppoll: return number;  /* with the time left */
    case SYS_epoll_wait: case SYS_epoll_pwait: return for_ever ? number : -1;
    default: return -1;
    }
}

/* Does this handler block more than its own signal? Then the host's would not end the wait: who
 * does that continues waits in another way, as chroprof run. */
static bool chroprof__blocks_others(const void *context)
{
    uint64_t before, now = UINT64_MAX, more;
    memcpy(&before, (const char *)context + offsetof(ucontext_t, uc_sigmask), sizeof(before));
    (void)chroprof__system(SYS_rt_sigprocmask, (long)SIG_BLOCK, 0L, (long)(uintptr_t)&now, 8L);
    more = now & ~before;
    return (more & (more - 1)) != 0;
}

static bool chroprof__goes_on(chroprof__sampler *s, void *context)
{
    static const uint8_t places[6] = { 8, 9, 12, 2, 0, 1 };    /* rdi, rsi, rdx, r10, r8, r9 */
    char *at = (char *)context + offsetof(ucontext_t, uc_mcontext);
    uint64_t a[6], next, stopped = s->handler.stopped;
    long number, result;
    if (!chroprof__has_cut(context) || chroprof__blocks_others(context))
        return false;
    for (int k = 0; k < 6; k++)
        memcpy(a + k, at + 8 * places[k], sizeof(a[k]));
    memcpy(&next, at + 8 * CHROPROF__WORD_BEHIND_RCX, sizeof(next));
    number = chroprof__call_to_go_on(chroprof__call_before(next), a);
    if (number < 0)
        return false;
    chroprof__poke64(&s->handler.stopped, !s->set.steady); /* a host's handler may jump out */
    result = chroprof__system(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4],
                              (long)a[5]);
    result = result == -1 ? -(long)errno : result;
    memcpy(at + 8 * CHROPROF__PLACE_OF_RESULT, &result, sizeof(result));
    chroprof__poke64(&s->handler.stopped, stopped);
    return true;
}
#else
#define chroprof__goes_on(s, context) ((void)(context), 0)
#endif

/* A walk of the native stack; depth: frames of the running stack that have no place in it yet. */
typedef struct chroprof__walk {
    chroprof__core *c;
    chroprof__sampler *s;
    chroprof__entry *e;
    uint32_t depth;
} chroprof__walk;

/* How many more native frames there is room for: tasks come first. */
static bool chroprof__has_room(const chroprof__walk *w)
{
    uint32_t tasks = w->depth < CHROPROF__NOTED_TASKS ? w->depth : (uint32_t)CHROPROF__NOTED_TASKS;
    return w->e->count + tasks + 3 < CHROPROF__ITEMS;
}

/* The tasks that this call of a function began, as far as they are near the top, and those inside
 * them. Code of that call was there before the task: it stands outside. */
static void chroprof__put_begun(chroprof__walk *w, uintptr_t frame, uintptr_t back)
{
    uint32_t key = chroprof__frame_key(frame, back), found = 0;
    for (uint32_t k = w->depth, tries = 8; k > 0 && tries > 0; k--, tries--) {
        const uint32_t *keys = chroprof__keys_of(w->c, w->s, k);
        if (keys && (keys[0] == key || keys[1] == key || keys[2] == key))
            found = k;
    }
    if (found)
        w->depth = chroprof__put_tasks(w->c, w->e, w->depth, found - 1);
}

/* Follows the frame records. A return address is put down once it is known whether the function it
 * leads to was there before the task. */
static void chroprof__walk_records(chroprof__walk *w, uintptr_t frame, uintptr_t stack)
{
    uintptr_t end = chroprof__stack_end(w->s, stack), above = stack - 1, back = 0;
    bool fiber = stack >= w->s->stack.fiber_low && stack < w->s->stack.fiber_high;
    uint32_t mark = end ? CHROPROF__MARK_CUT : CHROPROF__MARK_STACK;
    while (end && chroprof__is_record(frame, above, end)) {
        uintptr_t next = chroprof__stack_word(frame);
        uintptr_t caller = chroprof__stack_word(frame + sizeof(frame));
        chroprof__put_begun(w, frame, caller);
        if (back)
            chroprof__put_item(w->e, CHROPROF__RETURN, back);
        back = caller;
        above = frame;
        frame = next;
        if (chroprof__has_room(w))
            continue;
        mark = CHROPROF__MARK_DEEP;
        break;
    }
    if (back)
        chroprof__put_item(w->e, CHROPROF__RETURN, back);
    if (mark != CHROPROF__MARK_CUT || (w->depth > 0 && !fiber))
        chroprof__put_item(w->e, CHROPROF__MARK, mark);
}

/* The walk of the user, who knows the frames, and perhaps where their records lie. */
static void chroprof__walk_by_user(chroprof__walk *w, void *context)
{
    uintptr_t addresses[2 * CHROPROF__ITEMS];
    const uintptr_t *records = addresses + CHROPROF__ITEMS;
    uint32_t (*unwind)(void *user, void *ucontext, uintptr_t *out, uint32_t capacity);
    uintptr_t function = (uintptr_t)w->s->unwind.walk;
    memcpy(&unwind, &function, sizeof(unwind));
    memset(addresses, 0, sizeof(addresses));
    uint32_t count = unwind((void *)(uintptr_t)w->s->unwind.user, context, addresses,
                            CHROPROF__ITEMS), k;
    if (count > CHROPROF__ITEMS)
        count = CHROPROF__ITEMS;
    bool ends = records[0] != 0 && count > 1 && addresses[count - 1] == 0;
    count -= ends;
    for (k = 0; k < count && chroprof__has_room(w); k++) {
        if (records[k] > 1)
            chroprof__put_begun(w, records[k], addresses[k + 1]);
        else if (records[k] == 1)
            w->depth = chroprof__put_tasks(w->c, w->e, w->depth, 0);
        chroprof__put_item(w->e, k == 0 ? CHROPROF__PC : CHROPROF__RETURN, addresses[k]);
    }
    if (w->depth > 0 && (!ends || k < count))
        chroprof__put_item(w->e, CHROPROF__MARK, CHROPROF__MARK_CUT);
}

/* The native stack and the running stack as one: functions of the slice, its task, the functions
 * that began it, and so on out. */
static void chroprof__weave(chroprof__core *c, chroprof__sampler *s, chroprof__entry *e,
                            void *context)
{
    chroprof__registers r = { 0, 0, 0 };
    chroprof__walk w = { c, s, e, c->depth };
    if (chroprof__is_busy(c) ||
        (!s->unwind.walk && !chroprof__read_registers(context, &r))) { /* never */
        chroprof__put_running(c, e);
        return;
    }
    e->state = chroprof__sample_state_of(c);
    if (s->unwind.walk) {
        chroprof__walk_by_user(&w, context);
    } else {
        chroprof__put_item(e, CHROPROF__PC, r.code);
        if (c->hidden)
            chroprof__put_item(e, CHROPROF__TASK, CHROPROF__UNTRACKED);
        chroprof__walk_records(&w, r.frame, r.stack);
    }
    (void)chroprof__put_tasks(c, e, w.depth, 0);
}

/* Doubles the period when the signals cost more than they may, halves it again when there is
 * room. */
static void chroprof__keep_budget(chroprof__sampler *s)
{
    uint64_t period = s->handler.period_ns, first = s->set.first_period_ns;
    uint64_t cost = s->handler.window_cost * 1000u;
    uint64_t allowed = first / 1000u * s->handler.window_weight * s->set.budget_ppm;
    if (s->handler.window_weight < period / first * CHROPROF__BUDGET_PERIODS)
        return;
    if (cost > allowed && period >> 40 == 0)
        period *= 2;
    else if (cost < allowed / 3 && period > s->set.first_period_ns)
        period /= 2;
    s->handler.window_weight = s->handler.window_cost = 0;
    chroprof__poke64(&s->handler.period_ns, period);
}

/* A handler must not ask a clock of the host's: then a sample has the time of the event behind it.
 * Never inlined: until it is known that there is room the handler must need next to no stack. */
CHROPROF__NOINLINE bool chroprof__catch_signal(chroprof__core *c, chroprof__sampler *s,
                                               uint64_t weight, void *context)
{
    uint64_t cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID), now = chroprof__monotonic_ns(NULL);
    chroprof__entry *e = c->enabled ? chroprof__begin_entry(c, s) : NULL;
    s->handler.ticks += weight;
    s->handler.window_weight += weight;
    if (e) {
        chroprof__weave(c, s, e, context);
        e->weight = weight;
        e->cpu_ns = chroprof__minus(cpu, s->handler.cpu);
        e->wall_ns = chroprof__or(chroprof__minus(now, s->handler.stamp), 1);
        e->draws = s->set.mode == CHROPROF_SAMPLER_WALL && !chroprof__is_busy(c) ? weight : 0;
        e->stamp = e->last = chroprof__clock_here(c);
        CHROPROF__STORE_FENCE();
        chroprof__poke64(&s->handler.put, s->handler.put + 1);
        chroprof__wake(c);                  /* inside an event, too: what it sets itself it may */
    } else {
        s->handler.lost += c->enabled ? weight : 0;
    }
    s->handler.stamp = now;
    s->handler.cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    s->handler.cost_ns += chroprof__minus(s->handler.cpu, cpu);
    s->handler.window_cost += chroprof__minus(s->handler.cpu, cpu);
    chroprof__keep_budget(s);
    return e != NULL;
}

/* A timer signal that finds the loop asleep in the wall mode: idle is sampled without it. */
static bool chroprof__is_needless(const chroprof__core *c, chroprof__sampler *s, void *context)
{
    if (s->set.mode != CHROPROF_SAMPLER_WALL || !chroprof__is_asleep(c))
        return false;
    s->handler.stopped = !s->set.steady;
    s->handler.interrupted += !chroprof__goes_on(s, context) && s->wait.resting;
    return true;
}

/* The wait has gone on: the signals that were due in it have the stack of the one before. */
static void chroprof__catch_wait(chroprof__core *c, chroprof__sampler *s)
{
    uint64_t weight = s->set.steady ? 0 : chroprof__signal_weight(s, 0);
    uint64_t now = chroprof__monotonic_ns(NULL), before = s->handler.put - 1;
    if (weight == 0)
        return;
    s->handler.ticks += weight;
    s->handler.window_weight += weight;
    bool waits = c->enabled && s->handler.put != chroprof__peek64(&s->taken);
    chroprof__entry *e = waits ? chroprof__begin_entry(c, s) : NULL;
    if (!e) {
        s->handler.lost += c->enabled ? weight : 0;
        return;
    }
    before = s->handler.put - 1 < before ? s->handler.put - 1 : before; /* two became one */
    *e = *chroprof__ring(c, before);
    e->weight = e->draws = weight;
    e->cpu_ns = 0;
    e->wall_ns = chroprof__or(chroprof__minus(now, s->handler.stamp), 1);
    e->stamp = e->last = chroprof__clock_here(c);
    s->handler.stamp = now;
    CHROPROF__STORE_FENCE();
    chroprof__poke64(&s->handler.put, s->handler.put + 1);
    chroprof__wake(c);
}

/* A timer signal that finds no room on the stack it was delivered on is counted, and that is
 * all. */
static void chroprof__catch(chroprof__core *c, chroprof__sampler *s, uint64_t periods,
                           void *context)
{
    if (chroprof__is_needless(c, s, context))
        return;
    bool cut = chroprof__has_cut(context);
    uint64_t weight = chroprof__signal_weight(s, periods);
    bool room = weight > 0 && chroprof__has_stack(s, context);
    if (room) {
        room = chroprof__catch_signal(c, s, weight, context);
    } else {
        s->handler.ticks += weight;
        s->handler.lost += weight;
    }
    if (cut && s->set.mode == CHROPROF_SAMPLER_WALL && chroprof__goes_on(s, context)) {
        cut = false;
        if (room)
            chroprof__catch_wait(c, s);
    }
    s->handler.interrupted += cut;
    if (weight == 0)
        return;
    if (!s->set.steady)
        chroprof__arm(s);
}

/* Does somebody still want signals of this value here? Not if the profile was begun anew without a
 * stop. */
static bool chroprof__is_armed(const chroprof__core *c, uint64_t value)
{
    const chroprof__sampler *s = c->form.magic == CHROPROF__MAGIC ? chroprof__sampler_of(c) : NULL;
    return s && chroprof__peek64(&s->timer.armed) == value;
}

#if CHROPROF__THREAD_TIMER
/* The profile a signal is of, and the periods it stands for; NULL: it is none of ours. The low bits
 * of its value are a number of this start, so that a timer that a lost profile left behind is not
 * taken for ours. */
static chroprof__core *chroprof__interrupted(int number, const siginfo_t *info, uint64_t *periods)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    (void)number;
    if (info->si_code != SI_TIMER || value < 4096)
        return NULL;
    chroprof__core *c = (chroprof__core *)(value - value % CHROPROF__ALIGN);
    *periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
    return chroprof__is_armed(c, value) ? c : NULL;
}
#else
/* The loop sleeps, and others burn CPU time: the next signal of a timer of the process. In any
 * thread. */
static void chroprof__put_off(chroprof__sampler *s)
{
    if (s->set.steady)
        return;
    if (s->set.mode == CHROPROF_SAMPLER_WALL)
        chroprof__poke64(&s->handler.stopped, 1);
    else
        chroprof__set_timer(s->timer.number, s->handler.period_ns, 0);
}

/* Is this signal of this thread? Others pass it on to the loop's, unless that sleeps. */
static bool chroprof__takes_signal(const chroprof__core *c, pthread_t loop, int number)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    bool here = pthread_equal(loop, pthread_self()) != 0;
    if (chroprof__is_asleep(c) && (!here || s->set.mode == CHROPROF_SAMPLER_CPU)) {
        chroprof__put_off(s);
        return false;
    }
    if (!here)
        (void)pthread_kill(loop, number);
    return here;
}

/* The profile whose timer signal this thread takes; NULL: none. */
static chroprof__core *chroprof__interrupted(int number, const siginfo_t *info, uint64_t *periods)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    (void)info;
    *periods = 1;
    (void)__atomic_add_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    chroprof__core *c = __atomic_load_n(&t->core, __ATOMIC_SEQ_CST);
    bool own = c && __atomic_load_n(&t->pid, __ATOMIC_SEQ_CST) == (long)getpid() &&
               chroprof__is_armed(c, 1) && chroprof__takes_signal(c, t->thread, number);
    (void)__atomic_sub_fetch(&t->passing, 1, __ATOMIC_SEQ_CST);
    return own ? c : NULL;
}
#endif

CHROPROF__COLD void chroprof__on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    uint64_t periods;
    chroprof__core *c = chroprof__interrupted(number, info, &periods);
    if (c)
        chroprof__catch(c, chroprof__sampler_of(c), periods, context);
    errno = error;
}

/* ---- start and stop */

static bool chroprof__has_no_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 &&
           (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/* Whoever blocks a signal waits for it by other means (signalfd, sigwaitinfo), and would get
 * ours. */
static bool chroprof__is_blocked(int number)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    return sigismember(&blocked, number) == 1;
}

/* Makes a signal ours if it has no handler. One signal a profile: it can be given back without a
 * count of who else uses it. */
CHROPROF__COLD bool chroprof__claim_signal(chroprof *p, int number)
{
    struct sigaction ours, before;
    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = chroprof__on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    if (chroprof__has_big_stack())
        ours.sa_flags |= CHROPROF__ON_STACK;
#if CHROPROF__THREAD_TIMER
    sigemptyset(&ours.sa_mask);
#else
    sigfillset(&ours.sa_mask);              /* nothing jumps out while a signal is passed on */
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

/* Gives a signal back: none of ours that is still on its way arrives any more. A handler that the
 * host has set meanwhile stays. */
CHROPROF__COLD void chroprof__return_signal(int number, bool ignored)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    (void)sigaction(number, NULL, &action);
    if ((action.sa_flags & SA_SIGINFO) == 0 || action.sa_sigaction != chroprof__on_signal)
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
    s->stack.fiber_low = s->stack.fiber_high = 0;
    s->stack.high = (uint64_t)(uintptr_t)chroprof__stack_top(pthread_self());
    s->stack.low = s->stack.high - chroprof__stack_size(pthread_self());
}
#else
extern int chroprof__thread_attributes(pthread_t thread, pthread_attr_t *out)
    __asm__("pthread_getattr_np") __attribute__((__weak__));

static void chroprof__find_stack(chroprof__sampler *s)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    s->stack.low = s->stack.high = s->stack.fiber_low = s->stack.fiber_high = 0;
    if (!chroprof__thread_attributes ||     /* never: a C library without it, and no memory */
        chroprof__thread_attributes(pthread_self(), &attributes) != 0)
        return;
    (void)pthread_attr_getstack(&attributes, &low, &size);
    s->stack.low = (uint64_t)(uintptr_t)low;
    s->stack.high = s->stack.low + size;
    pthread_attr_destroy(&attributes);
}
#endif

static void chroprof__set_up_sampler(const chroprof *p, chroprof__sampler *s,
                                     const chroprof_sampler_options *o)
{
    uintptr_t unwind = 0;
    memcpy(&unwind, &o->unwind, sizeof(unwind));
    s->set.mode = o->mode == CHROPROF_SAMPLER_WALL ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    s->set.first_period_ns = chroprof__or(o->period_ns, 19000000u);
    chroprof__raise(&s->set.first_period_ns, 100000);
    s->handler.period_ns = s->set.first_period_ns;
    s->set.budget_ppm = chroprof__or(o->budget_ppm, 10000);
    s->set.steady = o->steady;
    s->unwind.walk = unwind;
    s->unwind.user = (uint64_t)(uintptr_t)o->unwind_user;
    s->handler.window_weight = s->handler.window_cost = s->handler.pending = s->wait.resting = 0;
    s->wait.most = 2 * s->set.first_period_ns;  /* at first none is expected to be short */
    s->handler.stamp = chroprof__monotonic_ns(NULL);
    s->handler.cpu = chroprof__posix_ns(CLOCK_THREAD_CPUTIME_ID);
    s->draw.random ^= s->handler.stamp;
    s->wait.idle_ns = chroprof__random(s) % s->set.first_period_ns;
    s->timer.pid = (uint64_t)getpid();
    s->noting = s->look.due = 0;
    s->look.last = UINT64_MAX;
    memset(chroprof__notes(s), 0,
           (size_t)chroprof__note_bytes(p->core->tables[CHROPROF_TABLE_DEPTH].capacity));
    memset(chroprof__callers(p->core), 0,
           (size_t)chroprof__caller_bytes(p->core));
}

#if CHROPROF__THREAD_TIMER
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
    s->timer.armed = (uint64_t)(uintptr_t)p->core + chroprof__random(s) % CHROPROF__ALIGN;
    memset(&event, 0, sizeof(event));
    event.value = s->timer.armed;
    event.signal = number;
    event.notify = CHROPROF__THREAD_SIGNAL;
    event.thread = (int32_t)chroprof__system(SYS_gettid);
    long clock = s->set.mode == CHROPROF_SAMPLER_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    return chroprof__system(SYS_timer_create, clock, &event, &timer) == 0 ? timer : -1;
}

/* Deletes the timer, once: afterwards its number may be that of another one. */
static void chroprof__silence(const chroprof *p, chroprof__sampler *s)
{
    bool armed = chroprof__peek64(&s->timer.armed) != 0;
    chroprof__poke64(&s->timer.armed, 0);
    if (armed)
        (void)chroprof__system(SYS_timer_delete, (long)p->sampler_timer);
}

static void chroprof__end_timer(const chroprof *p)
{
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        chroprof__silence(p, chroprof__sampler_of(p->core));
    chroprof__return_signal(p->sampler_signal, p->sampler_ignored);
}
#else
static int chroprof__signal_of(const chroprof_sampler_options *o)
{
    return o->mode == CHROPROF_SAMPLER_WALL ? SIGALRM : SIGPROF;
}

/* Stops the timer, also in the middle of events: those find no timer then. */
static void chroprof__silence(const chroprof *p, chroprof__sampler *s)
{
    (void)p;
    chroprof__poke64(&s->timer.armed, 0);
    chroprof__set_timer(s->timer.number, 0, 0);
}

static void chroprof__free_timer(chroprof__process_timer *t)
{
    __atomic_store_n(&t->owner, (const chroprof *)NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->pid, 0, __ATOMIC_SEQ_CST);
}

/* Takes hold of the process's timer. A forked child takes its parent's over, which does not fire
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

/* Claims a signal; if there is none to be had, the process's timer is free again. */
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
    s->timer.armed = 1;
    __atomic_store_n(&t->core, p->core, __ATOMIC_SEQ_CST);
    return number;
}

/* No thread passes a timer signal on any more: it would come when the signal is no longer ours.
 * False: one has not got any further for a second. */
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

static void chroprof__end_timer_of(const chroprof *p, int number)
{
    chroprof__process_timer *t = chroprof__timer_of(number);
    if (__atomic_load_n(&t->owner, __ATOMIC_SEQ_CST) != p)    /* a forked child's: taken over */
        return;
    if (t->pid != (long)getpid()) {
        t->passing = 0;
    } else {
        __atomic_store_n(&t->core, (chroprof__core *)NULL, __ATOMIC_SEQ_CST);
        t->ignored |= !chroprof__await_passing(t);
        chroprof__set_timer((uint64_t)number, 0, 0);        /* none arms it again */
    }
    chroprof__return_signal(number, t->ignored);
    chroprof__free_timer(t);
}

static void chroprof__end_timer(const chroprof *p)
{
    chroprof__end_timer_of(p, p->sampler_signal);
}
#endif

/* Sets the timer off. A steady one is left alone from here on. */
static void chroprof__begin_signals(chroprof *p, chroprof__sampler *s)
{
    s->timer.running = 1;
    s->modules.loads = s->modules.loaded = s->look.at = 0;
    s->first_event = p->core->seq >> 1;
    chroprof__look_at_modules(p->core);
    s->modules.possible = s->modules.loaded;
    chroprof__wake(p->core);
    chroprof__end_edit(p->core);
    chroprof__set_taking(p, chroprof__is_taking(p));
    (void)*(volatile int *)&errno;          /* linked now: in the handler that takes 1 to 3 KiB */
    s->handler.deadline = chroprof__mode_ns(s) + chroprof__random_period(s);
    s->handler.stopped = 0;
    if (s->set.steady)
        chroprof__set_timer(s->timer.number, s->handler.period_ns, s->handler.period_ns);
    else
        chroprof__arm(s);
}

/* There is no timer: takes back what the start has changed so far. */
static chroprof_result chroprof__no_timer(const chroprof *p, chroprof__sampler *s, int number)
{
    int error = errno;
    s->timer.armed = 0;
    chroprof__end_edit(p->core);
    chroprof__return_signal(number, p->sampler_ignored);
    errno = error;
    return CHROPROF_ERR_SAMPLER_TIMER;
}

CHROPROF__COLD_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                          const chroprof_sampler_options *options)
{
    chroprof_sampler_options o;
    memset(&o, 0, sizeof(o));
    if (!chroprof__has_block(p) || p->view || p->in_hook)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    if (!s)
        return CHROPROF_ERR_SAMPLER_MEMORY;
    if (p->sampling && p->sampler_pid == (uint64_t)getpid())
        return CHROPROF_ERR_SAMPLER_RUNNING;
    chroprof_sampler_stop(p);               /* the parent's, in a forked child */
    if (options)
        o = *options;
    chroprof__find_stack(s);
#if !CHROPROF__THREAD_TIMER                 /* else there is one for each profile */
    chroprof__end_timer_of(p, SIGPROF);     /* of a profile that was begun anew without a stop */
    chroprof__end_timer_of(p, SIGALRM);
#endif
    if (!chroprof__can_interrupt_here(s, &o))
        return CHROPROF_ERR_SAMPLER_STACK;
#if !CHROPROF__THREAD_TIMER
    if (!chroprof__hold_timer(p, &o))
        return CHROPROF_ERR_SAMPLER_TIMER;
#endif
    int number = chroprof__find_signal(p, &o);
    if (number == 0)
        return CHROPROF_ERR_SAMPLER_SIGNAL;
    chroprof__begin_edit(p->core);
    chroprof__set_up_sampler(p, s, &o);
    p->sampler_timer = chroprof__make_timer(p, s, number);
    s->timer.number = (uint64_t)(uint32_t)p->sampler_timer;
    if (p->sampler_timer < 0)
        return chroprof__no_timer(p, s, number);
    p->sampler_signal = number;
    p->sampler_pid = s->timer.pid;
    p->drain = chroprof__drain_all;
    p->follow = chroprof__follow_event;
    p->follows_idle = s->set.mode == CHROPROF_SAMPLER_WALL;
    p->sampling = true;
    chroprof__begin_signals(p, s);
    return CHROPROF_OK;
}

CHROPROF__COLD_API void chroprof_sampler_stop(chroprof *p)
{
    if (!chroprof__is_set(p) || p->sampler_signal == 0 || p->in_hook)
        return;
    bool block = chroprof__has_block(p);    /* the child of a mapped one has the signal only */
    chroprof__end_timer(p);
    p->sampler_signal = 0;
    if (!block || !p->sampling)
        return;
    chroprof__end_signals(p, chroprof__sampler_of(p->core));
    chroprof__wake_drain(p->core);
}

CHROPROF__COLD_API void chroprof_sampler_halt(chroprof *p)
{
    if (chroprof__is_set(p) && p->sampling && p->sampler_pid == (uint64_t)getpid())
        chroprof__silence(p, chroprof__sampler_of(p->core));
}

CHROPROF__COLD_API void chroprof_sampler_went_on(chroprof *p, uint64_t waits)
{
    chroprof__sampler *s = chroprof__has_block(p) ? chroprof__sampler_of(p->core) : NULL;
    if (s && !p->view)
        s->handler.interrupted = chroprof__minus(s->handler.interrupted, waits);
}

CHROPROF__COLD_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    if (!chroprof__is_set(p) || !p->sampling)
        return;
    chroprof__sampler *s = chroprof__sampler_of(p->core);
    chroprof__poke64(&s->stack.fiber_high, 0); /* at no moment do the two differ */
    chroprof__poke64(&s->stack.fiber_low, (uint64_t)(uintptr_t)low);
    chroprof__poke64(&s->stack.fiber_high, (uint64_t)(uintptr_t)low + bytes);
}
#elif !defined(CHROPROF_NO_SAMPLER)
CHROPROF_API chroprof_result chroprof_sampler_start(chroprof *p,
                                                    const chroprof_sampler_options *options)
{
    (void)options;
    return chroprof__can_read(p) && !p->view ? CHROPROF_ERR_SAMPLER : CHROPROF_ERR_ARGUMENT;
}

CHROPROF_API void chroprof_sampler_stop(chroprof *p)
{
    (void)p;
}

CHROPROF_API void chroprof_sampler_halt(chroprof *p)
{
    (void)p;
}

CHROPROF_API void chroprof_sampler_went_on(chroprof *p, uint64_t waits)
{
    (void)p;
    (void)waits;
}

CHROPROF_API void chroprof_sampler_stack(chroprof *p, const void *low, size_t bytes)
{
    (void)p;
    (void)low;
    (void)bytes;
}
#endif

CHROPROF__COLD_BEGIN

/* >>now: brings a profile up to now, and tells what an event costs. Owns nothing. Relies on the
 * events and the clock; called by >>map and by >>output. */

/* Ticks a live profile, so that a dump shows it as of now. False: there is none. */
CHROPROF__UNUSED static bool chroprof__tick_live(chroprof *p)
{
    if (!chroprof__has_block(p))
        return false;
    if (chroprof__is_taking(p))
        chroprof__wake_drain(p->core);
    if (!chroprof__is_taking(p) || p->core->time.manual)      /* no time passes by itself */
        return true;
    chroprof__clocked_event(p, CHROPROF_TICK, 0, NULL);
    if (!chroprof__has_block(p))            /* it called on_stall, which forked */
        return false;
#if CHROPROF__HAS_COUNTER
    chroprof__begin_edit(p->core);
    if (!p->core->time.calibrated)
        chroprof__calibrate(p->core);
    chroprof__end_edit(p->core);
#endif
    return true;
}

/* What an event costs here, clock read included, measured now with warm caches, in picoseconds: of
 * a small profile's slices, the least of several rounds. 0: the clock is not ours. */
CHROPROF__COLD uint64_t chroprof__event_cost_ps(const chroprof *p)
{
#ifndef CHROPROF_NO_CLOCK
    const chroprof_site site = { "cost", "", 0 };
    uint64_t memory[(CHROPROF_MEMORY_MIN + 7) / 8];
    const uint32_t slices = 64;
    uint64_t best = UINT64_MAX;
    chroprof scratch;
    if (p->view || !chroprof__own_clock(p))
        return 0;
    /* never: the memory is CHROPROF_MEMORY_MIN */
    if (chroprof_init(&scratch, memory, sizeof(memory), NULL) != CHROPROF_OK)
        return 0;
    scratch.core->time.calibrate_at = UINT64_MAX;        /* not in the middle of this */
    chroprof__clocked_event(&scratch, CHROPROF_PENDING, 1, &site);
    for (int round = 0; round < 5; round++) {
        uint64_t before = chroprof__read_clock(&scratch);
        for (uint32_t k = 0; k < slices; k++) {
            chroprof__clocked_event(&scratch, CHROPROF_RUNNING, 1, NULL);
            chroprof__clocked_event(&scratch, CHROPROF_PAUSED, 1, NULL);
        }
        uint64_t ticks = chroprof__read_clock(&scratch) - before;
        best = ticks < best ? ticks : best;
    }
    return chroprof__scale(best * 1000u, p->core->time.factor) / (2u * slices);
#else
    (void)p;
    return 0;
#endif
}

/* >>map: the block as a file.
 * Owns the file, its lock and the mapping with the front before it. A file is made under another
 * name and then linked to its own, so that no one ever sees half of it, and no one's file is taken
 * away. Relies on >>public to start a profile in the mapping, and on >>owner to find who owns a
 * block. Called by the host alone. */

#ifdef CHROPROF__MAPS
/* The owner of a file holds a write lock on its first byte, from before the file has its name until
 * the program ends, runs exec or lets the profile go. The kernel knows that of every program on
 * every file, whatever its namespace, host name or number is, and forgets it at a boot. Of the
 * three kinds of lock
 * - flock's can be taken by whoever may read the file, who would then block it for its owner;
 * - a process loses those of F_SETLK as soon as it closes any descriptor of the file, of a dump
 *   that it makes of itself, for example;
 * - those of F_OFD_SETLK go with the last reference to the open file. A descriptor would be a poor
 *   one: a forked child has it as well, and daemons close all that they do not know. A page of the
 *   file that is mapped with MADV_DONTFORK is a reference that no child has and that nobody closes.
 * A write lock needs a descriptor for writing, and nobody asks for read locks: who may only read
 * can't pretend. If the system or the file system has no such locks, the process's number and start
 * decide. The second byte's lock is of whoever moves a dead program's file. */
enum { CHROPROF__PATH_BYTES = 4096 };
enum { CHROPROF__LOCK_OWNER, CHROPROF__LOCK_MOVER };
enum { CHROPROF__IN_FILE = 1, CHROPROF__IN_HELD_FILE = 2 };
#ifdef __linux__
enum { CHROPROF__GETLK = 36, CHROPROF__SETLK = 37 };    /* F_OFD_, which a strict build hides */
#else
enum { CHROPROF__GETLK = F_GETLK, CHROPROF__SETLK = F_SETLK };
#endif

/* What is asked of a lock of a file. */
typedef struct chroprof__lock_request {
    int call;                  /* CHROPROF__GETLK or CHROPROF__SETLK */
    int which;                 /* CHROPROF__LOCK_OWNER or CHROPROF__LOCK_MOVER */
    short type;
} chroprof__lock_request;

/* Asks for a lock, or who has one in the way: its type then; -1: there are no such locks. */
static int chroprof__lock(int file, chroprof__lock_request r)
{
    struct flock lock;
    memset(&lock, 0, sizeof(lock));
    lock.l_type = r.type;
    lock.l_whence = SEEK_SET;
    lock.l_start = r.which;
    lock.l_len = 1;
    return fcntl(file, r.call, &lock) == 0 ? lock.l_type : -1;
}

/* F_WRLCK: somebody has it; F_UNLCK: nobody; -1: as above. */
static int chroprof__ask_lock(int file, int which)
{
    chroprof__lock_request r = { CHROPROF__GETLK, 0, F_RDLCK };     /* read locks don't count */
    r.which = which;
    return chroprof__lock(file, r);
}

static bool chroprof__take_lock(int file, int which)
{
    chroprof__lock_request r = { CHROPROF__SETLK, 0, F_WRLCK };
    r.which = which;
    return chroprof__lock(file, r) >= 0;
}

/* Memory for a block, a new file's or no file's, and the page of its front before it: the system
 * wipes that in a forked child where it can. NULL and errno. */
static void *chroprof__new_mapping(int file, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int flags = MAP_PRIVATE, zeros = -1;
#ifdef MAP_ANONYMOUS
    flags |= MAP_ANONYMOUS;
#else
    zeros = open("/dev/zero", O_RDWR | CHROPROF__CLOEXEC);
#endif
    void *all = mmap(NULL, page + size, PROT_READ | PROT_WRITE, flags, zeros, 0);
    if (zeros >= 0)
        close(zeros);
    if (all == MAP_FAILED)
        return NULL;
    char *block = (char *)all + page;
    if (file >= 0 && mmap(block, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
                         MAP_FAILED) {
        int error = errno;
        munmap(all, page + size);
        errno = error;
        return NULL;
    }
#ifdef CHROPROF__FORKS
    (void)madvise(all, page, MADV_WIPEONFORK);
#endif
    return block;
}

static void chroprof__unmap_block(void *block, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)block - page, page + size);
}

/* What a call looks at and writes, in memory of its own: a caller may have a small stack. NULL and
 * errno. */
typedef struct chroprof__map_room {
    chroprof__core core;                    /* of a file that is there */
    char made[CHROPROF__PATH_BYTES], prev[CHROPROF__PATH_BYTES];
} chroprof__map_room;

static chroprof__map_room *chroprof__new_map_room(void)
{
    return (chroprof__map_room *)chroprof__new_mapping(-1, sizeof(chroprof__map_room));
}

static void chroprof__drop_map_room(chroprof__map_room *room)
{
    int error = errno;
    chroprof__unmap_block(room, sizeof(*room));
    errno = error;
}

/* Takes the owner's lock for as long as the page that it returns is mapped. NULL: there is none. */
static void *chroprof__hold_file(const char *made)
{
#ifdef CHROPROF__HOLDS
    enum { DONTFORK = 10 };                 /* a strict build hides it, and madvise */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int file = open(made, O_RDWR | CHROPROF__CLOEXEC);
    void *hold = MAP_FAILED;
    if (file >= 0 && chroprof__take_lock(file, CHROPROF__LOCK_OWNER))
        hold = mmap(NULL, page, PROT_NONE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (hold != MAP_FAILED && chroprof__system(SYS_madvise, hold, page, DONTFORK) == 0)
        return hold;
    if (hold != MAP_FAILED)
        munmap(hold, page);
#endif
    (void)made;
    return NULL;
}

/* A forked child does not have the page: something else may be there. */
static void chroprof__drop_hold(void *hold, uint64_t owner)
{
    if (hold && owner == (uint64_t)getpid())
        munmap(hold, (size_t)sysconf(_SC_PAGESIZE));
}

/* Is there an owner of this file? */
static bool chroprof__is_owned(int file, const chroprof__core *c)
{
    int lock = c->file.ended ? -1 : chroprof__ask_lock(file, CHROPROF__LOCK_OWNER);
    if (lock == F_WRLCK) {                  /* what is killed keeps it until its memory is gone */
        chroprof__process now = chroprof__process_of(c->process.pid);
        return now.start == 0 || now.start != c->file.owner_start || !chroprof__has_left(&now);
    }
    if (lock == F_UNLCK && c->file.in_file == CHROPROF__IN_HELD_FILE)
        return false;
    return chroprof__find_owner(c) != CHROPROF__OWNER_GONE;
}

/* Who owns this file? OK: nobody any more. Of another layout only the lock is known. */
static chroprof_result chroprof__judge_file(int file, chroprof__core *core)
{
    ssize_t count = read(file, core, sizeof(*core));
    if (count < 0)
        return CHROPROF_ERR_FILE;
    if (count != (ssize_t)sizeof(*core) || core->form.magic != CHROPROF__MAGIC)
        return CHROPROF_ERR_FORMAT;         /* somebody else's: not to be touched */
    if (core->form.layout != CHROPROF__LAYOUT || core->form.core_bytes != sizeof(*core))
        return chroprof__ask_lock(file, CHROPROF__LOCK_OWNER) == F_WRLCK ? CHROPROF_ERR_OWNED
                                                                         : CHROPROF_ERR_VERSION;
    return chroprof__is_owned(file, core) ? CHROPROF_ERR_OWNED : CHROPROF_OK;
}

/* For reading; a pipe must not hold us. */
static int chroprof__open_there(const char *path)
{
    return open(path, O_RDONLY | CHROPROF__CLOEXEC | O_NONBLOCK);
}

/* A file that was taken away meanwhile is in nobody's way. A symbolic link that leads nowhere is
 * there all the same. */
static chroprof_result chroprof__unless_gone(const char *path)
{
    struct stat facts;
    int error = errno;
    bool link = error == ENOENT && lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
    errno = error;
    return error == ENOENT && !link ? CHROPROF_OK : CHROPROF_ERR_FILE;
}

static chroprof_result chroprof__owner_of_file(const char *path, chroprof__map_room *room)
{
    int file = chroprof__open_there(path);
    if (file < 0)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__judge_file(file, &room->core);
    int error = errno;
    close(file);
    errno = error;
    return result;
}

CHROPROF__COLD_API chroprof_result chroprof_file_owner(const char *path)
{
    if (!path)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__map_room *room = chroprof__new_map_room();
    if (!room)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__owner_of_file(path, room);
    chroprof__drop_map_room(room);
    return result;
}

/* Is it a profile without an owner? One of another version has none that can be known. */
static bool chroprof__is_left(chroprof_result result)
{
    return result == CHROPROF_OK || result == CHROPROF_ERR_VERSION;
}

/* Makes room for a dead program's file: what is at PATH.prev goes if it is one as well. */
static chroprof_result chroprof__clear_prev(chroprof__map_room *room)
{
    chroprof_result result = chroprof__owner_of_file(room->prev, room);
    if (result == CHROPROF_ERR_FILE)
        result = chroprof__unless_gone(room->prev);
    else if (chroprof__is_left(result))
        (void)unlink(room->prev);           /* if they are one file, rename would do nothing */
    return chroprof__is_left(result) ? CHROPROF_OK : CHROPROF_ERR_PREVIOUS;
}

/* Moves a dead program's file to PATH.prev, if it is still the one at path. */
static chroprof_result chroprof__move_judged(int file, const char *path,
                                             chroprof__map_room *room)
{
    struct stat judged, there;
    (void)snprintf(room->prev, sizeof(room->prev), "%s.prev", path);    /* shorter than made */
    if (fstat(file, &judged) != 0)
        return CHROPROF_ERR_FILE;
    if (stat(path, &there) != 0)
        return chroprof__unless_gone(path);
    if (there.st_ino != judged.st_ino || there.st_dev != judged.st_dev)
        return CHROPROF_OK;                 /* gone, and another one is there */
    chroprof_result result = chroprof__clear_prev(room);
    if (result != CHROPROF_OK)
        return result;
    return rename(path, room->prev) == 0 ? CHROPROF_OK : chroprof__unless_gone(path);
}

/* Who holds the mover's lock is the only one to move it. Where that can't be had (no right to
 * write, no such locks, a reader's lock), a program may move what another has made in the same
 * moment: that goes on in PATH.prev. */
static chroprof_result chroprof__move_file(int file, const char *path,
                                           chroprof__map_room *room)
{
    chroprof_result result = CHROPROF_ERR_OWNED;        /* another program was faster */
    int lock = open(path, O_RDWR | CHROPROF__CLOEXEC | O_NONBLOCK);
    if (lock < 0 || chroprof__take_lock(lock, CHROPROF__LOCK_MOVER) ||
        chroprof__ask_lock(lock, CHROPROF__LOCK_MOVER) != F_WRLCK)
        result = chroprof__move_judged(file, path, room);
    if (lock >= 0)
        close(lock);
    return result;
}

/* Takes the file of a dead program out of the way. */
static chroprof_result chroprof__set_aside(const char *path, chroprof__map_room *room)
{
    int file = chroprof__open_there(path);
    if (file < 0)
        return chroprof__unless_gone(path);
    chroprof_result result = chroprof__judge_file(file, &room->core);
    if (chroprof__is_left(result))
        result = chroprof__move_file(file, path, room);
    close(file);
    return result;
}

/* Gives a finished file its name. */
static chroprof_result chroprof__publish(const char *path, chroprof__map_room *room)
{
    for (int tries = 0; tries < 8; tries++) {
        if (link(room->made, path) == 0)
            return CHROPROF_OK;
        if (errno != EEXIST)
            return CHROPROF_ERR_FILE;
        chroprof_result result = chroprof__set_aside(path, room);
        if (result != CHROPROF_OK)
            return result;
    }
    return CHROPROF_ERR_OWNED;
}

/* Room on the disk for all of a new file; 0, or an errno. */
static int chroprof__reserve(int file, size_t size)
{
    struct rlimit limit;                    /* to pass it would be SIGXFSZ */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > (uint64_t)limit.rlim_cur)
        return EFBIG;
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

static chroprof_result chroprof__init_mapped(chroprof *p, void *block, size_t size,
                                             const chroprof_options *options)
{
    size_t front = sizeof(chroprof__front);
    return chroprof_init(p, (char *)block - front, front + size, options);
}

/* A new file of that size, all of it on the disk, mapped; NULL and errno. Its name, with a number
 * in it, goes to made. */
static void *chroprof__new_file(char made[CHROPROF__PATH_BYTES], const char *path, uint64_t number,
                                size_t size)
{
    void *block = NULL;
    int length = snprintf(made, CHROPROF__PATH_BYTES, "%s.new.%llu", path,
                          (unsigned long long)number);
    errno = ENAMETOOLONG;
    int file = length < CHROPROF__PATH_BYTES
        ? open(made, O_RDWR | O_CREAT | O_EXCL | CHROPROF__CLOEXEC, 0644) : -1;
    if (file < 0)
        return NULL;
    errno = chroprof__reserve(file, size);
    if (errno == 0)
        block = chroprof__new_mapping(file, size);
    int error = errno;
    close(file);
    if (!block)
        unlink(made);
    errno = error;
    return block;
}

/* The number is the process's. One of the same number may have been killed in here: then it is
 * another. */
static void *chroprof__make_file(char made[CHROPROF__PATH_BYTES], const char *path, size_t size)
{
    uint64_t pid = (uint64_t)getpid();
    void *memory = chroprof__new_file(made, path, pid, size);
    if (memory || errno != EEXIST)
        return memory;
    return chroprof__new_file(made, path, chroprof__process_of(pid).start << 24 ^ pid, size);
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

/* The profile has its block in this mapping; if it could not be made there, neither is left. */
static chroprof_result chroprof__keep_mapping(chroprof *p, void *block, size_t size, void *hold,
                                              chroprof_result result)
{
    if (result != CHROPROF_OK) {
        chroprof__drop_hold(hold, (uint64_t)getpid());
        chroprof__unmap_block(block, size);
        return result;
    }
    p->mapped = block;
    p->mapped_bytes = size;
    p->hold = hold;
    return CHROPROF_OK;
}

static chroprof_result chroprof__map_in(chroprof *p, const char *path, size_t size,
                                        const chroprof_options *options, chroprof__map_room *room)
{
    char *made = room->made;
    void *memory = chroprof__make_file(made, path, size);
    if (!memory)
        return CHROPROF_ERR_FILE;
    void *hold = chroprof__hold_file(made);
    chroprof_result result = chroprof__init_mapped(p, memory, size, options);
    if (result == CHROPROF_OK) {
        p->core->file.in_file = hold ? CHROPROF__IN_HELD_FILE : CHROPROF__IN_FILE;
        result = chroprof__publish(path, room);
    }
    if (result == CHROPROF_OK)
        chroprof__map_by_name(memory, size, made, path);
    int error = errno;
    unlink(made);
    result = chroprof__keep_mapping(p, memory, size, hold, result);
    errno = error;
    return result;
}

static chroprof_result chroprof__map_file(chroprof *p, const char *path, size_t size,
                                          const chroprof_options *options)
{
    if (!p || !path)
        return CHROPROF_ERR_ARGUMENT;
    size = size ? size : chroprof_memory_size(options);
    if (size == 0)
        return CHROPROF_ERR_LIMIT;
    chroprof__map_room *room = chroprof__new_map_room();
    if (!room)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__map_in(p, path, size, options, room);
    chroprof__drop_map_room(room);
    return result;
}

CHROPROF__COLD_API chroprof_result chroprof_map(chroprof *p, const char *path, size_t size,
                                                const chroprof_options *options)
{
    return chroprof__keep_result(p, chroprof__map_file(p, path, size, options));
}

CHROPROF__COLD_API chroprof_result chroprof_fork_child(chroprof *p, const char *path)
{
    const struct timespec pause = { 0, 1000000 };
    chroprof_options o;
    char name[CHROPROF__NAME_BYTES];
    if (!chroprof__is_set(p) || !p->mapped)
        return CHROPROF_OK;
    size_t size = p->mapped_bytes;
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    p->core = (chroprof__core *)p->mapped;  /* the parent's: to look at what it was made with */
    memset(&o, 0, sizeof(o));
    chroprof__options_of(p, &o);
    memcpy(name, o.name, sizeof(name));
    o.name = name;
    o.clock = chroprof__own_clock(p) ? NULL : p->clock;
    o.clock_user = p->clock_user;
    chroprof__drop_hold(p->hold, p->core->process.pid);
    chroprof__unmap_block(p->mapped, size);
    memset(p, 0, sizeof(*p));
    if (path) {                             /* a daemon's parent may still be about to end */
        for (int k = 0; k < 1000 && chroprof_file_owner(path) == CHROPROF_ERR_OWNED; k++)
            nanosleep(&pause, NULL);
        return chroprof_map(p, path, size, &o);
    }
    void *block = chroprof__new_mapping(-1, size);
    if (!block)
        return chroprof__keep_result(p, CHROPROF_ERR_FILE);
    return chroprof__keep_mapping(p, block, size, NULL, chroprof__init_mapped(p, block, size, &o));
}

CHROPROF__COLD_API void chroprof_unmap(chroprof *p)
{
    if (!chroprof__is_set(p) || !p->mapped || p->in_hook)
        return;
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    uint64_t owner = ((const chroprof__core *)p->mapped)->process.pid;
    if (chroprof__tick_live(p))
        p->core->file.ended = 1;
    chroprof__drop_hold(p->hold, owner);
    chroprof__unmap_block(p->mapped, p->mapped_bytes);
    memset(p, 0, sizeof(*p));
}
#endif /* CHROPROF__MAPS */

CHROPROF__COLD_API void chroprof_read_origin(const chroprof *p, chroprof_origin *out)
{
    memset(out, 0, sizeof(*out));
    out->name = out->host = out->program = "";
    if (!chroprof__can_read(p))
        return;
    const chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t last = c->last;
    if (c->copy.living)                     /* its last event is before the end of its snapshot */
        last = r.end > r.first ? chroprof__ring_at(p, c, r.end - 1)->time : c->ring.begin;
    out->pid = c->process.pid;
    out->name = c->who.name;
    out->host = c->who.host;
    out->program = c->who.program;
    out->estimated = c->estimated != 0;
    out->end_ns = chroprof__ns(c, last);
    out->end_unix_ns = c->process.start_unix_ns ? c->process.start_unix_ns + out->end_ns : 0;
    out->mapped = c->file.in_file != 0;
    out->ended = c->file.ended != 0;
    out->alive = out->mapped && chroprof__find_owner(c) != CHROPROF__OWNER_GONE;
}

/* >>words: names and figures as people read them, the same in a finding and in the table below it.
 * Owns UTF-8, what of an untrusted name may reach a terminal, and how times, counts and shares
 * look. Called by >>findings and by the formats. */

/* Decimal digits of value, which end before `end`; returns where they begin, at most 20 before. Two
 * at a time: each division waits for the one before it. */
CHROPROF__UNUSED static char *chroprof__digits_before(uint64_t value, char *end)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    const char *const last = end;
    for (; value >= 10; value /= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
    }
    if (value > 0 || end == last)
        *--end = (char)('0' + (int)value);
    return end;
}

#define CHROPROF__NO_CODE 0xFFFDu   /* what stands for a byte that is not UTF-8 */

/* Takes one code point off a NUL-terminated text not at its end; a wrong byte counts alone. */
CHROPROF__UNUSED static uint32_t chroprof__next_code(const char **text)
{
    static const uint32_t least[4] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t tail = *s < 0xC2 || *s > 0xF4 ? 0 : *s < 0xE0 ? 1 : *s < 0xF0 ? 2 : 3;
    uint32_t code = tail == 0 ? *s : *s & (0x3Fu >> tail);
    *text += 1;
    if (tail == 0)
        return code < 0x80 ? code : CHROPROF__NO_CODE;
    for (uint32_t i = 1; i <= tail; i++) {
        if ((s[i] & 0xC0u) != 0x80u)
            return CHROPROF__NO_CODE;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (code < least[tail] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return CHROPROF__NO_CODE;
    *text += tail;
    return code;
}

/* UTF-8 of a code point; out has room for 4. */
CHROPROF__UNUSED static size_t chroprof__encode(uint32_t code, char *out)
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

/* Code points that steer a terminal or its direction of writing, and those without a width. */
CHROPROF__UNUSED static bool chroprof__steers(uint32_t code)
{
    return (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0xFEFF
        || (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E)
        || (code >= 0x2060 && code <= 0x206F) || (code >= 0xFFF9 && code <= 0xFFFC)
        || code >= 0xE0000;
}

CHROPROF__UNUSED static const char *chroprof__base_name(const char *file)
{
    const char *base = file;
    for (; *file != 0; file++)
        if ((*file == '/' || *file == '\\') && file[1] != 0)
            base = file + 1;
    return base;
}

#if !defined(CHROPROF_NO_TEXT) || !defined(CHROPROF_NO_FINDINGS)
static uint64_t chroprof__round(uint64_t value, uint64_t step)
{
    return value / step + (value % step >= step - step / 2 ? 1 : 0);
}

/* round(n * part / whole) for a part of a whole. */
CHROPROF__NOINLINE uint64_t chroprof__portion(uint64_t n, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : chroprof__weigh(n, part < whole ? part : whole, whole);
}

/* A sentence that is being made. What does not fit is cut. */
typedef struct chroprof__phrase {
    size_t used;
    char text[sizeof(((chroprof_finding *)0)->text)];
} chroprof__phrase;

static void chroprof__say_text(chroprof__phrase *s, const char *text)
{
    for (; *text != 0 && s->used + 1 < sizeof s->text; text++)
        s->text[s->used++] = *text;
    s->text[s->used] = 0;
}

/* value / 10^decimals, with at least min_digits digits in all. */
static void chroprof__say_fixed(chroprof__phrase *s, uint64_t value, uint32_t decimals,
                                uint32_t min_digits)
{
    char text[22], *end = text + sizeof(text) - 1;
    memset(text, '0', sizeof(text));
    *end = 0;
    char *first = chroprof__digits_before(value, end);
    first = first < end - min_digits ? first : end - min_digits;
    if (decimals > 0) {                     /* the digits before the point make room for it */
        char *point = end - decimals - 1;
        memmove(first - 1, first, (size_t)(point + 1 - first));
        *point = '.';
        first--;
    }
    chroprof__say_text(s, first);
}

/* How a figure looks: with the most decimals of the first unit in which it has at most 3 digits. */
typedef struct chroprof__unit {
    uint64_t size;
    uint8_t most, least;       /* decimals */
    char name[6];              /* behind a blank, which tables leave out */
} chroprof__unit;

static const chroprof__unit chroprof__times[] = {           /* 2^64 ns are 584 years */
    { 1, 0, 0, " ns" }, { 1000, 2, 0, " \xC2\xB5s" }, { 1000000, 2, 0, " ms" },
    { 1000000000, 2, 1, " s" }, { 60000000000u, 2, 1, " min" }, { 3600000000000u, 2, 1, " h" },
    { 86400000000000u, 2, 0, " d" }, { 31556952000000000u, 0, 0, " y" }
};

static const chroprof__unit chroprof__seconds[] = {
    { 1000000000, 6, 6, "" }, { 1000000000, 3, 0, "" }, { 1000000000000u, 2, 0, "k" },
    { 1000000000000000u, 2, 0, "M" }, { 1000000000000000000u, 0, 0, "G" }
};

static const chroprof__unit chroprof__counts[] = {          /* exact below 100,000 */
    { 1000, 0, 0, "k" }, { 1000000, 2, 0, "M" }, { 1000000000, 2, 0, "G" },
    { 1000000000000u, 2, 0, "T" }, { 1000000000000000u, 2, 0, "P" },
    { 1000000000000000000u, 2, 1, "E" }
};

/* The least step of a unit that shows a value in three digits, and how many decimals that is. */
static uint64_t chroprof__step_of(uint64_t value, const chroprof__unit **unit, uint32_t *decimals)
{
    static const uint32_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
    const chroprof__unit *u = *unit;
    uint32_t places = u->most;
    while (chroprof__round(value, u->size / tens[places]) >= 1000)
        places = places > u->least ? places - 1 : (++u)->most;
    *unit = u;
    *decimals = places;
    return u->size / tens[places];
}

static void chroprof__say_scaled(chroprof__phrase *s, uint64_t value, const chroprof__unit *u,
                                 bool tight)
{
    uint32_t decimals;
    uint64_t step = chroprof__step_of(value, &u, &decimals);
    chroprof__say_fixed(s, chroprof__round(value, step), decimals, decimals + 1);
    if (value > 0 || !tight)
        chroprof__say_text(s, u->name + (tight && u->name[0] == ' ' ? 1 : 0));
}

/* part of whole in percent; what is there but would look like zero is less than a unit. */
static void chroprof__say_share(chroprof__phrase *s, uint64_t part, uint64_t whole,
                                uint32_t decimals)
{
    uint64_t unit = decimals == 0 ? 100 : decimals == 1 ? 1000 : 10000;
    uint64_t value = chroprof__portion(unit, part, whole);
    bool less = value == 0 && part > 0;
    chroprof__say_text(s, less ? "<" : "");
    chroprof__say_fixed(s, less ? 1 : value, decimals, decimals + 1);
    chroprof__say_text(s, "%");
}

/* A moment of profile time, [h:]mm:ss.mmm */
static void chroprof__say_moment(chroprof__phrase *s, uint64_t ns)
{
    uint64_t ms = ns / 1000000;
    if (ms >= 3600000) {
        chroprof__say_fixed(s, ms / 3600000, 0, 1);
        chroprof__say_text(s, ":");
    }
    chroprof__say_fixed(s, ms / 60000 % 60, 0, 2);
    chroprof__say_text(s, ":");
    chroprof__say_fixed(s, ms % 60000, 3, 5);
}

#define CHROPROF__NO_FIGURE UINT64_MAX

/* T: a time; t: the same in a table; k: in seconds; m: a moment; c: a count; d: all its digits; z:
 * two digits at least; f: tenths; w, p, h: a share, with 0, 1 or 2 decimals, of the figure after
 * it. */
static void chroprof__say_figure(chroprof__phrase *s, char how, const uint64_t *figures)
{
    switch (*figures == CHROPROF__NO_FIGURE ? '-' : how == 'c' && *figures < 100000 ? 'd' : how) {
    case '-': chroprof__say_text(s, "-"); break;
    case 'T': chroprof__say_scaled(s, *figures, chroprof__times, false); break;
    case 't': chroprof__say_scaled(s, *figures, chroprof__times, true); break;
    case 'k': chroprof__say_scaled(s, *figures, chroprof__seconds, true); break;
    case 'm': chroprof__say_moment(s, *figures); break;
    case 'c': chroprof__say_scaled(s, *figures, chroprof__counts, true); break;
    case 'z': chroprof__say_fixed(s, *figures, 0, 2); break;
    case 'f': chroprof__say_fixed(s, *figures, 1, 2); break;
    case 'w': chroprof__say_share(s, figures[0], figures[1], 0); break;
    case 'p': chroprof__say_share(s, figures[0], figures[1], 1); break;
    case 'h': chroprof__say_share(s, figures[0], figures[1], 2); break;
    default: chroprof__say_fixed(s, *figures, 0, 1);
    }
}

/* Says a text in which %t and its like stand for the next of the figures, as the letters above;
 * %7t: right-aligned in 7 columns. */
static void chroprof__say(chroprof__phrase *s, const char *text, const uint64_t *figures)
{
    char letter[2] = { 0, 0 };
    chroprof__phrase one;
    for (; *text != 0; text++) {
        letter[0] = *text;
        if (*text != '%') {
            chroprof__say_text(s, letter);
            continue;
        }
        uint32_t width = text[1] >= '0' && text[1] <= '9' ? (uint32_t)(*++text - '0') : 0;
        one.used = 0;
        chroprof__say_figure(&one, *++text, figures);
        figures += strchr("wph", *text) != NULL ? 2 : 1;
        for (const char *at = one.text; *at != 0; at++)     /* each byte a column, but in micro */
            width -= width > 0 && ((unsigned char)*at & 0xC0u) != 0x80u;
        for (; width > 0; width--)
            chroprof__say_text(s, " ");
        chroprof__say_text(s, one.text);
    }
}

/* A phrase that is no more than that. */
CHROPROF__UNUSED static void chroprof__say_only(chroprof__phrase *s, const char *text,
                                                const uint64_t *figures)
{
    s->used = 0;
    s->text[0] = 0;
    chroprof__say(s, text, figures);
}
#endif

#ifndef CHROPROF_NO_FINDINGS
/* >>findings: what stands out, in sentences that a person can act on. Owns the rules of what is
 * worth a sentence and in which order. Relies on the public reads alone, so a view, a difference
 * and a merged profile have findings too. The text report, the JSON and the command show them. */

enum {
    CHROPROF__FINDS_EARLY_MS = 100,    /* a shorter profile is mostly the program's start */
    CHROPROF__FINDS_WINDOWS = 128,     /* RISING looks at so many at most */
    CHROPROF__FINDS_NAME = 40,         /* bytes of a name, so that the whole sentence fits */
    CHROPROF__FINDS_FILE = 28,
    CHROPROF__FINDS_CAUSE = 90,
    CHROPROF__FINDS_FRAMES = 12        /* of a sampled stack, from its innermost */
};

/* Places in the list, the first ones last. What is grave stands further in front. */
enum {
    CHROPROF__PLACE_FULL = 20,
    CHROPROF__PLACE_SATURATES = 27,    /* after FINE, which it may go with */
    CHROPROF__PLACE_FINE = 28,         /* after what makes a loop slow, before what lacks detail */
    CHROPROF__PLACE_ORDER = 29,
    CHROPROF__PLACE_FULL_GRAVE = 29,   /* time is billed to another name, not only detail lost */
    CHROPROF__PLACE_COST = 35,
    CHROPROF__PLACE_BROKEN_OFF = 36,   /* a server may be killed while it is well */
    CHROPROF__PLACE_QUEUES = 38,
    CHROPROF__PLACE_LEAKS = 40,
    CHROPROF__PLACE_STUTTERS = 44,     /* after the stalls */
    CHROPROF__PLACE_STALL = 45,
    CHROPROF__PLACE_DELAYS = 47,
    CHROPROF__PLACE_OCCUPIES = 50, CHROPROF__PLACE_UNINSTRUMENTED = 50,
    CHROPROF__PLACE_RISING = 52,       /* says more than the average that OCCUPIES has */
    CHROPROF__PLACE_PREEMPTED = 53,    /* changes what OCCUPIES means */
    CHROPROF__PLACE_STALL_GRAVE = 60,
    CHROPROF__PLACE_UNINSTRUMENTED_GRAVE = 65,     /* explains the longest stall, too */
    CHROPROF__PLACE_SPINS = 70,        /* nothing else that is said of the loop is true then */
    CHROPROF__PLACE_ORDER_GRAVE = 75,
    CHROPROF__PLACE_NO_IDLE = 80,      /* waits and work can't be told apart */
    CHROPROF__PLACE_HANGS = 90
};

/* One reading of a profile for its findings. */
typedef struct chroprof__inquiry {
    const chroprof *p;
    chroprof_totals totals;
    uint64_t work;                 /* that is not idle */
    chroprof_rank top[2];          /* by exec; zero where there are fewer */
    chroprof_stall stall;          /* the longest one that was kept; length 0: none */
    bool lost;                     /* a full table forgot futures: they are unknown since */
    bool bare;                     /* chroprof run made it: there is no code to be changed */
    bool leaks;                    /* LEAKS tells of a site */
    bool occupies;                 /* OCCUPIES tells of the first site */
    uint32_t hung;                 /* HANGS tells of this site; 0: of none */
    uint64_t stall_ns, max_events;
    chroprof_finding *out;
    size_t capacity, count;
    uint64_t keys[CHROPROF_FINDING_COUNT];     /* of those found, largest first */
    char no_text[1];               /* empty: gcc makes writable data of a pair of literals */
} chroprof__inquiry;

/* What may be a finding, and what is said of it so far. Each function that makes one says what the
 * sentence needs, and why. */
typedef struct chroprof__case {
    chroprof_finding_kind kind;
    uint32_t place;                /* the larger comes first; equal ones by their share */
    uint32_t site, line;
    const char *name, *file;       /* of what the sentence is about */
    uint64_t share, share_of;
    uint64_t value_ns, at_ns;
    chroprof__phrase said;
} chroprof__case;

/* Parts in a million, rounded down; whole 0: none. */
static uint32_t chroprof__ppm(uint64_t part, uint64_t whole)
{
    for (; whole >> 32 || part >> 43; part >>= 1)
        whole >>= 1;
    uint64_t ppm = whole ? part * 1000000 / whole : 0;
    return ppm < UINT32_MAX ? (uint32_t)ppm : UINT32_MAX;
}

/* Is it at least so many parts in a million? */
static bool chroprof__is_part(uint64_t part, uint64_t whole, uint32_t least_ppm)
{
    return chroprof__ppm(part, whole) >= least_ppm;
}

/* A case about so much of the elapsed time. site NULL: about the loop's own. */
static chroprof__case chroprof__case_of(const chroprof__inquiry *q, chroprof_finding_kind kind,
                                        uint32_t place, const chroprof_rank *site, uint64_t ns)
{
    chroprof__case c;
    memset(&c, 0, sizeof(c));               /* what is behind the text is 0 as well */
    c.kind = kind;
    c.place = place;
    c.share = c.value_ns = ns;
    c.share_of = q->totals.elapsed_ns;
    c.name = site ? site->name : "uninstrumented code";
    c.file = site ? site->file : "";
    c.line = site ? site->line : 0;
    c.site = site ? site->id : 0;
    return c;
}

/* What sentences are made of. */

/* One code point of a name, as UTF-8 that no terminal obeys, with a NUL. */
static void chroprof__safe_code(const char **name, char *out)
{
    uint32_t code = chroprof__next_code(name);
    bool safe = code >= 0x20 && code != CHROPROF__NO_CODE && !chroprof__steers(code);
    out[chroprof__encode(safe ? code : '?', out)] = 0;
}

/* A name in at most `most` bytes; a longer one loses its middle. */
static void chroprof__say_name(chroprof__phrase *s, const char *name, uint32_t most)
{
    char code[5];
    const char *at = name;
    size_t bytes = 0, before = 0;
    for (; *at != 0; bytes += strlen(code))
        chroprof__safe_code(&at, code);
    size_t head = bytes <= most ? bytes : (most - 3) / 2, tail = bytes <= most ? bytes
                                                                               : bytes - head;
    for (at = name; *at != 0; before += strlen(code)) {
        chroprof__safe_code(&at, code);
        if (before + strlen(code) <= head || before >= tail)
            chroprof__say_text(s, code);
        else if (before <= head)
            chroprof__say_text(s, "...");
    }
}

/* More of the sentence: figures as chroprof__say says them, */
static void chroprof__tell(chroprof__case *c, const char *text, const uint64_t *figures)
{
    chroprof__say(&c->said, text, figures);
}

/* what to do, where that fits: a sentence that breaks off tells nothing, */
static void chroprof__tell_cure(chroprof__case *c, const char *text)
{
    if (strlen(text) < sizeof(c->said.text) - c->said.used)
        chroprof__tell(c, text, NULL);
}

/* a name, */
static void chroprof__tell_name(chroprof__case *c, const char *name, uint32_t most)
{
    chroprof__say_name(&c->said, name, most);
}

/* and what it is about: name (file:line) */
static void chroprof__tell_site(chroprof__case *c)
{
    const char *base = chroprof__base_name(c->file);
    const uint64_t line[] = { c->line };
    chroprof__tell_name(c, *c->name ? c->name : "(empty)", CHROPROF__FINDS_NAME);
    if (*base == 0)
        return;
    chroprof__tell(c, " (", NULL);
    chroprof__tell_name(c, base, CHROPROF__FINDS_FILE);
    chroprof__tell(c, c->line ? ":%d)" : ")", line);
}

/* A name of the C library or of the kernel's code tells nobody where to look. */
static bool chroprof__is_c_library(const char *module)
{
    static const char begins[][12] = {
        "libc.", "libc-", "libm.", "libm-", "libpthread", "libthr.", "libsystem_", "ld-",
        "linux-vdso"
    };
    const char *base = chroprof__base_name(module);
    size_t k = 0;
    while (k < sizeof(begins) / sizeof(begins[0]) && strncmp(base, begins[k], strlen(begins[k])))
        k++;
    return k < sizeof(begins) / sizeof(begins[0]);
}

/* The innermost function with a name; own: of the program, or else of a library; not own: of the C
 * library, if that is innermost, so that it may wait. "": none is known, as outside of the process
 * that was sampled. */
static const char *chroprof__sampled_function(const chroprof *p, uint32_t stack, bool own)
{
    chroprof_stack_frame frames[CHROPROF__FINDS_FRAMES];
    chroprof_origin origin;
    const char *name = "";
    size_t count = chroprof_stack(p, stack, frames, CHROPROF__FINDS_FRAMES);
    if (count == 0)                         /* the origin asks the system */
        return name;
    chroprof_read_origin(p, &origin);
    for (size_t k = 0; k < count && k < CHROPROF__FINDS_FRAMES; k++) {
        const char *module = frames[k].module;
        bool of_c = chroprof__is_c_library(module);
        if (frames[k].kind != CHROPROF_FRAME_NATIVE || (own && of_c))
            continue;
        if (!own && !of_c)                  /* what the C library was called by does not wait */
            break;
        if (frames[k].name[0] == 0)
            continue;
        bool of_program = strcmp(chroprof__base_name(module), origin.program) == 0;
        name = *name == 0 || of_program ? frames[k].name : name;
        if (!own || of_program)
            break;
    }
    return name;
}

/* Takes the case into the list. */
static void chroprof__report(chroprof__inquiry *q, const chroprof__case *c)
{
    uint32_t share_ppm = chroprof__ppm(c->share, c->share_of);
    uint64_t key = (uint64_t)c->place << 32 | share_ppm;
    size_t k = q->count;
    for (q->count++; k > 0 && q->keys[k - 1] < key; k--) {
        q->keys[k] = q->keys[k - 1];
        if (k < q->capacity)
            q->out[k] = q->out[k - 1];
    }
    q->keys[k] = key;
    if (k >= q->capacity)
        return;
    q->out[k].kind = c->kind;
    q->out[k].site = c->site;
    q->out[k].share_ppm = share_ppm;
    q->out[k].value_ns = c->value_ns;
    q->out[k].at_ns = c->at_ns;
    memcpy(q->out[k].text, c->said.text, sizeof c->said.text);
}

/* Did the live futures of a site come to rest all over the run, as those do that a program forgets?
 * A steady set was last seen either long ago or just now. Where none of the site ever ran, a leak
 * that slows its own program adds less and less. */
static bool chroprof__forgets(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t quarters[4] = { 0, 0, 0, 0 }, cursor = 0, count = 0;
    uint32_t even = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line ||
            f.state == CHROPROF_RUNNING)
            continue;
        quarters[f.since_ns / (q->totals.elapsed_ns / 4 + 1) & 3]++;
        count++;
    }
    for (uint32_t k = 0; k < 4; k++)
        even += quarters[k] > count / (r->slices ? 10 : 32);
    return even == 4;
}

static uint64_t chroprof__unfinished(const chroprof_rank *r)
{
    return r->abandoned + r->dropped + r->live;
}

/* Are most of the live ones at rest for much longer than any took that finished? */
static bool chroprof__outlives(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t cursor = 0, count = 0, old = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line)
            continue;
        old += chroprof__minus(q->totals.elapsed_ns, f.since_ns) / 4 > r->latency_max_ns;
        count++;
    }
    return old > count / 2;
}

/* The oldest ones were dropped. Did those that are left come as all did, and until now? In a burst
 * they come faster, and may be under way. */
static bool chroprof__keeps_coming(const chroprof__inquiry *q, const chroprof_rank *r,
                                   uint64_t count)
{
    uint64_t cursor = 0, oldest_ns = q->totals.elapsed_ns, newest_ns = 0;
    chroprof_future f;
    while (chroprof_next_future(q->p, &cursor, &f)) {
        if (f.name != r->name || f.file != r->file || f.line != r->line)
            continue;
        oldest_ns = f.since_ns < oldest_ns ? f.since_ns : oldest_ns;
        newest_ns = f.since_ns > newest_ns ? f.since_ns : newest_ns;
    }
    return newest_ns >= q->totals.elapsed_ns / 4 * 3 &&
           q->totals.elapsed_ns - oldest_ns >= q->totals.elapsed_ns / count * r->live / 4;
}

/* Futures that were dropped may have finished since: `late` finishes were of nobody. If those are
 * few, most that were dropped leak where others finish soon. Live ones leak if they come all over
 * the run, and stay where others finish soon, or if next to none finishes: 300 are no set of
 * servers and timers. */
static bool chroprof__leaks(const chroprof__inquiry *q, const chroprof_rank *r, uint64_t late)
{
    uint64_t count = chroprof__unfinished(r), finished = chroprof__minus(r->calls, count);
    uint64_t sure = chroprof__minus(count, late < r->dropped ? late : r->dropped);
    bool all = chroprof__ppm(sure, r->calls) >= 900000;
    if (count < 100)
        return false;
    if (r->live <= count / 2)
        return count >= 1000 && chroprof__keeps_coming(q, r, count) &&
               (all || (finished >= 10 && sure >= count / 8 * 7 && chroprof__outlives(q, r)));
    if (!(all && count >= 300) && (finished < 10 || !chroprof__outlives(q, r)))
        return false;
    return chroprof__forgets(q, r);
}

static void chroprof__find_leak(chroprof__inquiry *q)
{
    chroprof_rank worst, one;
    chroprof_anomaly late;
    uint64_t cursor = CHROPROF__FIRST_SITE, others = 0;
    memset(&worst, 0, sizeof(worst));
    (void)chroprof_read_anomaly(q->p, CHROPROF_ANOMALY_UNKNOWN_FINISH, &late);
    while (chroprof_next_rank(q->p, &cursor, &one)) {
        if (!chroprof__leaks(q, &one, late.count))
            continue;
        others += worst.name != NULL;
        worst = chroprof__unfinished(&one) > chroprof__unfinished(&worst) ? one : worst;
    }
    if (worst.name == NULL)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_LEAKS, CHROPROF__PLACE_LEAKS, &worst,
                                         0);
    const uint64_t figures[] = { chroprof__unfinished(&worst), worst.calls };
    chroprof__tell(&c, "%c of %c futures of ", figures);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " did not finish, and more come all the time.", NULL);
    chroprof__tell(&c, others == 0 ? "" : others == 1 ? " One more site is like that."
                                                      : " %c more sites are like that.", &others);
    chroprof__tell(&c, q->bare ? " If they are not to stay, they leak."
                               : " They leak, or nothing reports their end: chroprof_completed, "
                                 "chroprof_failed or chroprof_cancelled.", NULL);
    chroprof__report(q, &c);
    q->leaks = true;
}

/* Did futures of a site that began at different times finish at one, as they do if something that
 * was busy lets them through? Of those that are kept, which are the slowest. */
static bool chroprof__released(const chroprof *p, const chroprof_rank *r)
{
    chroprof_slow s;
    uint64_t cursor = 0, first_ns = UINT64_MAX, last_ns = 0, begun_ns = UINT64_MAX, latest_ns = 0;
    uint32_t count = 0;
    while (chroprof_next_slowest(p, &cursor, &s)) {
        if (s.site != r->id || !s.of_run || s.finish != CHROPROF_COMPLETED)
            continue;
        uint64_t from_ns = chroprof__minus(s.at_ns, s.latency_ns);
        first_ns = s.at_ns < first_ns ? s.at_ns : first_ns;
        last_ns = s.at_ns > last_ns ? s.at_ns : last_ns;
        begun_ns = from_ns < begun_ns ? from_ns : begun_ns;
        latest_ns = from_ns > latest_ns ? from_ns : latest_ns;
        count++;
    }
    return count >= 4 && (last_ns - first_ns) * 4 < latest_ns - begun_ns &&
           latest_ns - begun_ns > r->latency_max_ns / 20;
}

/* Did they come at once and finish one after the other, at one rate? Then latencies are spread
 * evenly from next to nothing to the longest, or in a few steps where some are served at a time:
 * the mean of four is 5/8 of the longest. */
static bool chroprof__served(const chroprof_rank *r, uint64_t finished)
{
    uint64_t mean_ns = r->lifetime_ns / finished, most_ns = r->latency_max_ns;
    return finished >= 16 && r->live <= finished / 4 && r->latency_p50_ns >= most_ns / 5 * 2 &&
           r->latency_p50_ns <= most_ns / 20 * 13 && mean_ns >= most_ns / 5 * 2 &&
           mean_ns <= most_ns / 20 * 13 && r->latency_p99_ns >= most_ns / 10 * 9;
}

/* Did they wait for most of their time, once, and many at once, so that all of them are no timers
 * and no connections? */
static bool chroprof__queues(const chroprof__inquiry *q, const chroprof_rank *r)
{
    uint64_t finished = r->completed + r->failed;
    return finished >= 10 && r->slices <= r->calls && r->waiting_ns / 10 >= r->lifetime_ns / 11 &&
           r->latency_p50_ns >= 100000000 && r->lifetime_ns / 4 >= q->totals.elapsed_ns &&
           (chroprof__released(q->p, r) || chroprof__served(r, finished));
}

/* What a pool or a server that is busy makes wait. */
static void chroprof__find_queue(chroprof__inquiry *q)
{
    chroprof_rank worst, one;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(&worst, 0, sizeof(worst));
    while (chroprof_next_rank(q->p, &cursor, &one))
        if (chroprof__queues(q, &one) && one.latency_max_ns > worst.latency_max_ns)
            worst = one;
    if (worst.name == NULL)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_QUEUES, CHROPROF__PLACE_QUEUES,
                                         &worst, 0);
    const uint64_t figures[] = { worst.latency_max_ns, worst.completed + worst.failed,
                                 worst.lifetime_ns / q->totals.elapsed_ns };
    c.value_ns = worst.latency_max_ns;
    if (c.value_ns < 100000000)             /* a tenth of a second is felt */
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " waits up to %T for something outside of the loop: %c futures, %c at once "
                       "on average. See what makes them wait, such as a pool of threads that is "
                       "full.", figures);
    chroprof__report(q, &c);
}
/* Does a site only tell which wait came before? */
static bool chroprof__is_after_wait(const char *name)
{
    return strncmp(name, "code after ", 11) == 0;
}

/* In place of such a site the code that held the loop, if it took as much of that as this; its
 * part. 0: it is not known. */
static uint32_t chroprof__name_case(const chroprof__inquiry *q, chroprof__case *c, uint64_t at_ns,
                                    uint32_t least_ppm)
{
    uint32_t ppm = 0;
    const char *code = chroprof__is_after_wait(c->name)
                           ? chroprof_held_by(q->p, c->kind, at_ns, &ppm) : "";
    if (*code == 0 || ppm < least_ppm)
        return 0;
    c->name = code;
    c->file = "";
    return ppm;
}

/* The code that held the loop for most of it, where a site only tells which wait came before. NULL:
 * it is not known. */
static const char *chroprof__held_code(const chroprof__inquiry *q, const chroprof__case *c,
                                       uint64_t at_ns)
{
    chroprof__case named = *c;
    return chroprof__name_case(q, &named, at_ns, 500000) ? named.name : NULL;
}

/* What a task waits for, where somebody saw that from outside, and what to do. The calls have these
 * names in chroprof run; "": any other, which is named. */
typedef struct chroprof__wait_words {
    char call[16], fact[44], cure[68];
} chroprof__wait_words;

static const chroprof__wait_words *chroprof__words_of(const chroprof_task_wait *wait)
{
    static const chroprof__wait_words words[] = {
        { "processor", "waits for a processor", " Look for other programs on its processor." },
        { "quota", "is held back by its CPU quota",
          " Raise the quota of its cgroup, or use less CPU time." },
        { "page faults", "waits for pages from a disk",
          " Read such files elsewhere, or give it more memory." },
        { "stopped", "was stopped by a signal", " See who sends it SIGSTOP or debugs it." },
        { "futex", "waits for another thread, or its lock,",
          " See who holds the lock, or do this in a thread." },
        { "gil", "waits for the GIL, Python's lock,",
          " Other threads run Python then: move their work to a process." },
        { "", "waits in ", " Use an asynchronous client, or a thread." }
    };
    size_t k = 0;
    while (words[k].call[0] != 0 && (!wait->estimated || strcmp(words[k].call, wait->call) != 0))
        k++;
    return words + k;
}

static void chroprof__tell_wait(chroprof__case *c, const chroprof_task_wait *wait)
{
    const chroprof__wait_words *words = chroprof__words_of(wait);
    chroprof__tell(c, words->fact, NULL);
    chroprof__tell_name(c, words->call[0] == 0 ? wait->call : "", CHROPROF__FINDS_FILE);
}

/* Not by the code that runs: so its samples tell where it is. */
static bool chroprof__is_call(const chroprof__wait_words *words)
{
    return words->call[0] == 0 || strcmp(words->call, "futex") == 0 ||
           strcmp(words->call, "gil") == 0;
}

/* The wait that a site's tasks were in most. False: none is known. */
static bool chroprof__wait_of(const chroprof__inquiry *q, uint32_t site, chroprof_task_wait *out)
{
    chroprof_task_wait rows[CHROPROF__WAITED];
    size_t count = chroprof_task_waits(q->p, rows, CHROPROF__WAITED);
    for (size_t k = 0; k < count; k++) {
        if (rows[k].site == site) {
            *out = rows[k];
            return true;
        }
    }
    return false;
}

/* The code that held a stall, if it is known. */
static void chroprof__tell_held(const chroprof__inquiry *q, chroprof__case *c)
{
    const char *held = chroprof__held_code(q, c, q->stall.start_ns);
    chroprof__tell(c, held ? ", mostly in " : "", NULL);
    chroprof__tell_name(c, held ? held : "", CHROPROF__FINDS_CAUSE);
}

/* Who took most of the stall was off its processor, though the code went on. */
static void chroprof__tell_stall_off(const chroprof__inquiry *q, chroprof__case *c,
                                     const chroprof_task_wait *wait)
{
    uint64_t exec_ns = q->stall.shares->exec_ns;
    const uint64_t share[] = { exec_ns, q->stall.length_ns };
    uint64_t off_ns[] = { q->stall.waiting_ns > 0 ? q->stall.waiting_ns : wait->longest_ns };
    chroprof__lower(off_ns, exec_ns);
    chroprof__tell(c, ": ", NULL);
    chroprof__tell_site(c);
    chroprof__tell(c, " took %p of it", share);
    chroprof__tell_held(q, c);
    chroprof__tell(c, ". About %T of it were off CPU: it ", off_ns);
    chroprof__tell_wait(c, wait);
    chroprof__tell(c, ".", NULL);
}

/* Was half of what a site took of a stall such a wait, or more? One was as long; or its tasks did
 * too little else in the whole run. row_ns: what they took of that; 0: not known. */
static bool chroprof__is_most_of(const chroprof_task_wait *wait, uint64_t exec_ns, uint64_t row_ns)
{
    return wait->longest_ns >= exec_ns / 2 ||
           (row_ns > 0 && chroprof__minus(row_ns, wait->total_ns) <= exec_ns / 2);
}

/* Did who took most of the stall wait in a call for most of that? Then this is said of it. */
static bool chroprof__tell_stall_wait(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall_share *most = q->stall.shares;
    chroprof_task_wait wait;
    chroprof_rank row;
    uint64_t cursor = 0;
    bool found = false;
    if (most->site == 0 || !chroprof__wait_of(q, most->site, &wait))
        return false;
    while (!found && chroprof_next_rank(q->p, &cursor, &row))
        found = row.id == most->site;
    if (!chroprof__is_most_of(&wait, most->exec_ns, found ? row.exec_ns : 0))
        return false;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    uint64_t of_ns[] = { wait.total_ns, found ? row.exec_ns : wait.total_ns };
    chroprof__lower(of_ns, of_ns[1]);       /* what came after the last wait is no task */
    if (!chroprof__is_call(words)) {
        chroprof__tell_stall_off(q, c, &wait);
    } else {
        bool within = *wait.within != 0;
        c->name = within ? wait.within : c->name;
        c->file = within ? q->no_text : c->file;
        chroprof__tell(c, ": ", NULL);
        chroprof__tell_site(c);
        chroprof__tell(c, " ", NULL);
        chroprof__tell_wait(c, &wait);
        chroprof__tell(c, within && words->call[0] == 0 ? ", for" : " for", NULL);
        chroprof__tell(c, wait.estimated ? " about %T" : " %T", of_ns);
        chroprof__tell(c, within ? " in all." : " of its %T.", of_ns + 1);
    }
    chroprof__tell_cure(c, words->cure);
    return true;
}

/* The work of a tenth of the whole windows, or of more that are as busy, and their time. False: of
 * too few windows. */
static bool chroprof__busiest_tenth(const chroprof__inquiry *q, uint64_t *tenth)
{
    uint32_t count[101];
    uint64_t work_ns[101], width_ns = 0, some = 0, all = chroprof_windows(q->p, NULL, 0);
    chroprof_windows_cursor cursor;
    chroprof_window w;
    memset(count, 0, sizeof(count));
    memset(work_ns, 0, sizeof(work_ns));
    memset(&cursor, 0, sizeof(cursor));
    all -= all > 0;                         /* the last one is not whole */
    for (uint64_t k = 0; k < all && chroprof_next_windows(q->p, &cursor, &w, 1); k++) {
        uint64_t ns = chroprof__minus(w.end_ns - w.start_ns, w.idle_ns);
        width_ns = w.end_ns - w.start_ns;
        count[chroprof__ppm(ns, width_ns) / 10000 % 101]++;
        work_ns[chroprof__ppm(ns, width_ns) / 10000 % 101] += ns;
    }
    tenth[0] = 0;
    for (int k = 100; k >= 0 && some * 10 < all; k--) {
        some += count[k];
        tenth[0] += work_ns[k];
    }
    tenth[1] = some * width_ns;
    return all >= 20;
}

/* At which load would a wait no longer be left? Below 60 % there is room for much more. Where the
 * figures can be trusted, and work comes with load: not of a program that hangs or spins, of its
 * start, or of a few iterations. One that is full at times has no room then, whatever its mean. */
static void chroprof__find_saturation(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    uint64_t apart_ns = t->start_ns + t->exit_ns, work_ns = chroprof__minus(q->work, apart_ns);
    uint64_t run_ns = chroprof__minus(t->elapsed_ns, apart_ns);
    uint64_t figures[] = { run_ns / (work_ns / 10 + 1), work_ns, run_ns, 0, 0, work_ns, run_ns };
    uint64_t *tenth = figures + 3;
    uint32_t ppm = chroprof__ppm(work_ns, run_ns);
    bool uneven;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SATURATES, CHROPROF__PLACE_SATURATES,
                                         NULL, work_ns);
    c.share_of = run_ns;
    if (ppm < 600000 || work_ns < 1000000000 || t->iterations < 100 ||
        (q->count > 0 && q->keys[0] >> 32 >= CHROPROF__PLACE_SPINS))
        return;
    uneven = chroprof__busiest_tenth(q, tenth) &&
             chroprof__is_part(tenth[0], tenth[1], ppm + 50001);
    if (uneven && chroprof__is_part(tenth[0], tenth[1], 950000))
        chroprof__tell(&c, "The loop is full at times: it was busy for %p of its busiest tenth, "
                           "and for %p of the run", tenth);
    else if (figures[0] > 10)
        chroprof__tell(&c, "The loop has room for at most %f times this load: it was busy for %p "
                           "of the run", figures);
    else
        chroprof__tell(&c, "The loop has next to no room for more load: it was busy for %p of the "
                           "run", figures + 1);
    if (uneven && !chroprof__is_part(tenth[0], tenth[1], 950000))
        chroprof__tell(&c, ", and for %p of its busiest tenth", tenth);
    chroprof__tell(&c, ".", NULL);
    chroprof__report(q, &c);
}
/* Does the second one come too close to the first to name that alone? */
static bool chroprof__is_tie(uint64_t first, uint64_t second)
{
    return first == 0 || first / 5 * 4 < second;
}

/* By CPU time there are no samples of what a site waits in, for half of its time or more. One that
 * waits for a processor would run the code that is sampled. */
static bool chroprof__is_unsampled(const chroprof__inquiry *q, const chroprof_rank *r)
{
    chroprof_sampler_totals s;
    chroprof_task_wait wait;
    chroprof_read_sampler(q->p, &s);
    return s.mode == CHROPROF_SAMPLER_CPU && r->cpu_ns < r->exec_ns / 2 &&
           (!chroprof__wait_of(q, r->id, &wait) || chroprof__is_call(chroprof__words_of(&wait)));
}

/* One site that takes much of the run. */
static void chroprof__find_occupant(chroprof__inquiry *q)
{
    const chroprof_rank *r = q->top;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_OCCUPIES, CHROPROF__PLACE_OCCUPIES, r,
                                         r->exec_ns);
    const uint64_t share[] = { r->exec_ns, q->totals.elapsed_ns, r->exec_ns };
    const uint64_t slices[] = { r->slices, r->slice_max_ns };
    chroprof__case held = c;
    /* Below 20 % of the run the loop has room for five times as much; below 25 % of the time that
     * was not idle it is one of many. It must lead the next site by a quarter. */
    if (!chroprof__is_part(r->exec_ns, q->totals.elapsed_ns, 200000) ||
        !chroprof__is_part(r->exec_ns, q->work, 250000) ||
        chroprof__is_tie(r->exec_ns, q->top[1].exec_ns) || r->id == CHROPROF__OTHER)
        return;
    q->occupies = true;
    chroprof__tell_site(&c);
    if (!chroprof__is_unsampled(q, r) && chroprof__name_case(q, &held, 0, 500000)) {
        chroprof__tell(&c, ", mostly in ", NULL);
        chroprof__tell_name(&c, held.name, CHROPROF__FINDS_CAUSE);
        chroprof__tell(&c, ",", NULL);
    }
    chroprof__tell(&c, " occupies the loop most: %p of the run, %T in ", share);
    chroprof__tell(&c, q->totals.estimated ? "all." : r->slices == 1 ? "one slice."
                                                  : "%c slices, the longest %T.", slices);
    chroprof__tell(&c, r->id == q->hung ? "" : " Make it faster, or call it less often.", NULL);
    chroprof__report(q, &c);
}

/* How long some slices or iterations are, how many at least, and whose they are. */
typedef struct chroprof__stutter {
    chroprof_rank site;        /* name NULL: iterations, of several tasks */
    uint64_t each_ns, count;
} chroprof__stutter;

/* Takes the longest of these percentiles that stands for enough of them: a tenth of all is at
 * least as long as p90. */
static void chroprof__take_stutter(const chroprof__inquiry *q, chroprof__stutter *most,
                                   const chroprof_rank *site, uint64_t percentile_ns,
                                   uint64_t count)
{
    uint64_t least_ns = q->stall_ns / (site ? 4 : 2);
    bool often = count / 2 >= q->totals.elapsed_ns / 1000000000 && count >= 10;
    if (percentile_ns < least_ns || percentile_ns < 4000000 || percentile_ns >= q->stall_ns ||
        !often || percentile_ns * count <= most->each_ns * most->count)
        return;
    memset(most, 0, sizeof(*most));
    if (site != NULL)
        most->site = *site;
    most->each_ns = percentile_ns;
    most->count = count;
}

/* Not what OCCUPIES tells already. Twice a second is often, and 5 % of the run is felt. */
static void chroprof__tell_stutters(chroprof__inquiry *q, const chroprof__stutter *most)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_rank *site = most->site.name != NULL ? &most->site : NULL;
    uint64_t all_ns = site ? site->exec_ns : most->each_ns * most->count;
    uint64_t a_second = most->count * 1000 / (t->elapsed_ns / 1000000 + 1);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STUTTERS, CHROPROF__PLACE_STUTTERS,
                                         site, all_ns);
    const uint64_t figures[] = { most->each_ns, a_second, all_ns, t->elapsed_ns };
    c.value_ns = most->each_ns;
    if (!chroprof__is_part(all_ns, t->elapsed_ns, 50000) || a_second < 2 ||
        (site && site->id == q->top[0].id && q->occupies))
        return;
    if (site) {
        chroprof__tell_site(&c);
        chroprof__tell(&c, " holds the loop for about %T or more at least %c times a second, %p of "
                           "the run in all. Split its work, or call it less often.", figures);
    } else {
        chroprof__tell(&c, "The loop does not wait for about %T or more at least %c times a "
                           "second, which is %p of the run. Its tasks together take so long.",
                       figures);
    }
    chroprof__report(q, &c);
}

static void chroprof__find_stutters(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof__stutter most;
    chroprof_rank r;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(&most, 0, sizeof(most));
    while (chroprof_next_rank(q->p, &cursor, &r)) {
        chroprof__take_stutter(q, &most, &r, r.slice_p99_ns, r.measured / 100);
        chroprof__take_stutter(q, &most, &r, r.slice_p90_ns, r.measured / 10);
        chroprof__take_stutter(q, &most, &r, r.slice_p50_ns, r.measured / 2);
    }
    if (most.count == 0) {
        chroprof__take_stutter(q, &most, NULL, t->iteration_p99_ns, t->iterations / 100);
        chroprof__take_stutter(q, &most, NULL, t->iteration_p50_ns, t->iterations / 2);
    }
    if (most.count > 0)
        chroprof__tell_stutters(q, &most);
}

/* How many samples tell of a site's time; 0: not of all of it. In wall mode those that met it, if
 * they weigh as much and its slices are longer than what a sample tells of. Else as many as its
 * time could have had, if none fell out and they reach from begin to end. */
static uint64_t chroprof__sampled(const chroprof__inquiry *q, const chroprof_rank *r)
{
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_sampler_totals s;
    chroprof_sample_row row;
    uint64_t cursor = 0;
    chroprof_read_sampler(q->p, &s);
    (void)chroprof_tables(q->p, tables, CHROPROF_TABLE_COUNT);
    if (tables[CHROPROF_TABLE_PATHS].used > 4 * tables[CHROPROF_TABLE_SAMPLES].capacity)
        return 0;                           /* not all paths have their CPU time */
    if (s.mode == CHROPROF_SAMPLER_WALL)
        return r->samples * s.period_ns >= r->exec_ns / 10 * 9 && r->samples / 4 >= r->slices
                   ? r->samples : 0;
    if (s.samples == 0 || s.dropped > 0 || !chroprof_next_sample(q->p, &cursor, &row))
        return 0;
    uint64_t first_ns = row.at_ns;
    while (chroprof_next_sample(q->p, &cursor, &row)) {}
    if (row.at_ns + row.duration_ns - first_ns < q->totals.elapsed_ns / 10 * 9)
        return 0;
    return r->exec_ns / (s.period_ns ? s.period_ns : q->work / s.samples + 1);
}

/* From so many samples on half of a time is known within 15 points. */
enum { CHROPROF__ENOUGH_SAMPLES = 50 };

/* Did the other tasks get the processor all the time that they held the loop? Not known: too few
 * samples, or neither is clear. */
enum { CHROPROF__OTHERS_UNKNOWN, CHROPROF__OTHERS_KEPT, CHROPROF__OTHERS_LOST };
static int chroprof__others_cpu(const chroprof__inquiry *q, uint32_t site)
{
    chroprof_rank row, all;
    uint64_t cursor = 0;
    memset(&all, 0, sizeof(all));
    while (chroprof_next_rank(q->p, &cursor, &row)) {
        if (row.id == site)
            continue;
        all.exec_ns += row.exec_ns;
        all.cpu_ns += row.cpu_ns;
        all.samples += row.samples;
        all.slices += row.slices;
    }
    if (chroprof__sampled(q, &all) < CHROPROF__ENOUGH_SAMPLES)
        return CHROPROF__OTHERS_UNKNOWN;
    if (all.cpu_ns < all.exec_ns / 2)
        return CHROPROF__OTHERS_LOST;
    return all.cpu_ns >= all.exec_ns / 10 * 9 ? CHROPROF__OTHERS_KEPT : CHROPROF__OTHERS_UNKNOWN;
}

/* From outside, what no sample met is a task as well, and nobody knows its CPU time. */
static bool chroprof__is_unseen(const chroprof__inquiry *q, const chroprof_rank *r)
{
    return q->totals.estimated && r->samples < CHROPROF__ENOUGH_SAMPLES;
}

/* Half of its time without CPU time, and that is 5 % of the run. */
static void chroprof__find_preempted(chroprof__inquiry *q)
{
    static const char cures[][80] = {
        " Look for blocking calls in it, and for other programs on its processor.",
        " Other tasks kept theirs: look for blocking calls in it.",
        " Other tasks lost theirs too: look for other programs on its processor."
    };
    const chroprof_rank *r = q->top;
    const uint64_t figures[] = { r->exec_ns, r->cpu_ns };
    chroprof_task_wait wait;
    uint64_t lost_ns = chroprof__minus(r->exec_ns, r->cpu_ns);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_PREEMPTED, CHROPROF__PLACE_PREEMPTED,
                                         r, lost_ns);
    if (r->exec_ns == 0 || r->id == CHROPROF__OTHER ||
        !chroprof__is_part(lost_ns, q->totals.elapsed_ns, 50000) ||
        !chroprof__is_part(lost_ns, r->exec_ns, 500000) ||
        chroprof__sampled(q, r) < CHROPROF__ENOUGH_SAMPLES || chroprof__is_unseen(q, r))
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " held the loop for %T, but used only %T of CPU time: it ", figures);
    if (chroprof__wait_of(q, r->id, &wait) && wait.total_ns > lost_ns / 2) {
        chroprof__tell_wait(&c, &wait);
        chroprof__tell(&c, wait.estimated ? " for about %T." : " for %T.", &wait.total_ns);
        chroprof__tell_cure(&c, chroprof__words_of(&wait)->cure);
    } else {
        chroprof__tell(&c, "waited or was preempted for the rest.", NULL);
        chroprof__tell(&c, cures[chroprof__others_cpu(q, r->id)], NULL);
    }
    chroprof__report(q, &c);
}

/* How its tasks took so much of a stall, and what helps. */
static void chroprof__tell_stall_site(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall *s = &q->stall;
    const chroprof_stall_share *most = s->shares;
    bool off = s->waiting_ns >= s->length_ns / 2;
    if (most->site == CHROPROF__UNTRACKED) {
        chroprof__tell(c, q->bare ? "." : ". See the unexpected calls and the full tables.", NULL);
    } else if (most->site == 0 && !off) {
        chroprof__tell(c, q->bare ? "." : ". Call chroprof_enter and chroprof_leave around what "
                                          "runs there.", NULL);
    } else if (most->slices >= 10 && most->slice_max_ns < s->length_ns / 4) {
        chroprof__tell(c, " in %c slices. Let the loop poll between them.", &most->slices);
    } else if (off) {                       /* one stall alone: by whom can't be told */
        chroprof__tell(c, ". %T of it were off CPU", &s->waiting_ns);
        chroprof__tell(c, chroprof__others_cpu(q, most->site) == CHROPROF__OTHERS_LOST
                           ? ". Other tasks lost CPU time too: look for other programs on its "
                             "processor."
                           : ": look for blocking calls, and for other programs on its processor.",
                       NULL);
    } else {
        chroprof__tell_held(q, c);
        chroprof__tell(c, ". Split its work into several slices, or move it off the loop.", NULL);
    }
}

/* By who took most of a stall, and how. */
static void chroprof__tell_stall(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall *s = &q->stall;
    const chroprof_stall_share *most = s->shares, *next = s->shares + 1;
    const uint64_t share[] = { most->exec_ns, s->length_ns };
    const uint64_t other[] = { next->exec_ns, s->length_ns };
    bool all = s->kind == CHROPROF_STALL_ITERATION ||      /* the rest is of more sites */
               (s->share_count == CHROPROF_STALL_SHARES && s->events <= q->max_events);
    if (s->share_count == 0 || (most->exec_ns < s->rest_ns && !all)) {
        chroprof__tell(c, q->bare ? ". No callback explains most of it."
                          : s->events > q->max_events
                              ? ". No site explains most of it: raise max_events to know more of "
                                "the next one." : ". No site explains most of it.", NULL);
        return;
    }
    c->name = most->site ? most->name : c->name;
    c->file = most->site ? most->file : c->file;
    c->line = most->line;
    c->site = most->site;
    if (chroprof__tell_stall_wait(q, c))
        return;
    chroprof__tell(c, ": ", NULL);
    chroprof__tell_site(c);
    chroprof__tell(c, " took %p of it", share);
    if (!chroprof__is_tie(most->exec_ns, next->exec_ns)) {
        chroprof__tell_stall_site(q, c);
        return;
    }
    chroprof__tell(c, ", and ", NULL);
    chroprof__tell_name(c, next->site ? next->name : "uninstrumented code", CHROPROF__FINDS_FILE);
    chroprof__tell(c, " %p. Split such work, or move it off the loop.", other);
}

/* stall_ns is the user's own threshold; from 100 ms on people notice. */
static void chroprof__find_stall(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const chroprof_stall *s = &q->stall;
    const uint64_t figures[] = { s->length_ns, s->start_ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_STALL,
                                         s->length_ns >= 100000000 ? CHROPROF__PLACE_STALL_GRAVE
                                                                   : CHROPROF__PLACE_STALL,
                                         NULL, s->length_ns);
    c.at_ns = s->start_ns;
    if (s->length_ns == 0 || t->stalls == 0)
        return;
    chroprof__tell(&c, "The loop was blocked for %T at %m", figures);
    bool longest = s->length_ns >= t->iteration_max_ns && s->length_ns >= t->callback_max_ns;
    if (t->stalls > 1)
        chroprof__tell(&c, longest ? ", the longest of %c stalls"
                                   : ", the longest kept of %c stalls", &t->stalls);
    chroprof__tell_stall(q, &c);
    chroprof__report(q, &c);
}
/* Since when did no event but a tick arrive? False: that is not known. */
static bool chroprof__quiet_since(const chroprof__inquiry *q, uint64_t *at_ns)
{
    chroprof_step step;
    uint64_t cursor = 0, steps = 0;
    bool met = false;
    *at_ns = 0;
    for (; chroprof_next_step(q->p, &cursor, &step); steps++) {
        met = met || step.state != CHROPROF_TICK;
        *at_ns = step.state != CHROPROF_TICK ? step.at_ns : *at_ns;
    }
    return met || steps == q->totals.events;
}

/* What it waits in for most of that. False: that is not known. */
static bool chroprof__tell_hang_wait(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_task_wait wait;
    if (c->site == 0 || !chroprof__wait_of(q, c->site, &wait) || !wait.estimated ||
        wait.longest_ns < c->value_ns / 2)
        return false;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    const uint64_t ns[] = { wait.longest_ns < c->value_ns ? wait.longest_ns : c->value_ns };
    if (!chroprof__is_call(words) && strcmp(wait.call, "stopped") != 0)
        return false;                       /* its samples show the code that would run */
    chroprof__tell(c, " For about %T of it, it ", ns);
    chroprof__tell_wait(c, &wait);
    chroprof__tell(c, ".", NULL);
    chroprof__tell_cure(c, words->cure);
    return true;
}

/* What is known of the code since then: CPU time, and the mode that it was sampled in. */
static void chroprof__tell_hang(const chroprof__inquiry *q, chroprof__case *c)
{
    chroprof_sampler_totals s;
    chroprof_sample_row row;
    uint64_t cursor = 0, cpu_ns = 0;
    if (chroprof__tell_hang_wait(q, c))
        return;
    chroprof_read_sampler(q->p, &s);
    while (chroprof_next_sample(q->p, &cursor, &row))
        cpu_ns += row.at_ns >= c->at_ns ? row.cpu_ns : 0;
    chroprof__lower(&cpu_ns, c->value_ns);
    bool runs = cpu_ns >= 100000000 || cpu_ns > c->value_ns / 8;
    chroprof__tell(c, s.samples == 0 ? " A debugger shows the line, and samples do."
                      : runs ? " It used %T of CPU time: its samples show the line."
                      : s.mode == CHROPROF_SAMPLER_WALL
                          ? " It used %T of CPU time: its samples show where it waits."
                          : " It used %T of CPU time: a debugger, or samples in wall mode, show "
                            "where it is.", &cpu_ns);
}

/* About the task on top, which hangs. */
static void chroprof__case_in_task(chroprof__inquiry *q, chroprof__case *c, uint32_t id)
{
    chroprof_path path;
    c->name = chroprof_read_path(q->p, id, &path) ? path.name : "a task of unknown id";
    c->file = path.file;
    c->line = path.line;
    c->site = q->hung = path.site;
}

/* A task that the last event left running, of a program that is gone and did not close its file. It
 * hung for sure if samples tell of a second; else what is known of the loop comes first. */
static bool chroprof__find_broken_off(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_frame frame;
    chroprof_origin origin;
    uint64_t since_ns;
    if (t->idle || !t->enabled || q->bare || chroprof_frames(q->p, &frame, 1) != t->depth ||
        t->depth == 0 || frame.barrier || !chroprof__quiet_since(q, &since_ns))
        return false;
    chroprof_read_origin(q->p, &origin);    /* it asks the system */
    if (!origin.mapped || origin.ended || origin.alive)
        return false;
    const uint64_t ns[] = { chroprof__minus(t->elapsed_ns, since_ns) };
    bool hung = ns[0] >= 1000000000;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_HANGS,
                                         hung ? CHROPROF__PLACE_HANGS : CHROPROF__PLACE_BROKEN_OFF,
                                         NULL, ns[0]);
    c.at_ns = since_ns;
    chroprof__case_in_task(q, &c, frame.path);
    q->hung = hung ? q->hung : 0;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " was running when the profile broke off: its last event was at %m, and "
                       "the program is gone without closing it, as if killed.", &since_ns);
    chroprof__tell(&c, ns[0] ? " It went on for at least %T."
                             : " How long it went on is not known.", ns);
    chroprof__report(q, &c);
    return true;
}

/* In a task, or below all of them, since then. */
static void chroprof__find_hang(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_frame frame;
    uint64_t since_ns;
    size_t depth = chroprof_frames(q->p, &frame, 1);
    bool in_task = depth > 0 && depth == t->depth && !frame.barrier;
    if (t->idle || !t->enabled || (depth == 0 && t->exit_ns > 0) ||
        (depth == 0 && t->iterations == 0 && !t->in_iteration) ||
        !chroprof__quiet_since(q, &since_ns))
        return;
    uint64_t ns = chroprof__minus(t->elapsed_ns, since_ns);
    /* What is shorter than a second will be a stall. A callback that ended and took half as long
     * tells that this one may end as well. */
    if (ns < 1000000000 || ns / 2 < t->callback_max_ns)
        return;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_HANGS, CHROPROF__PLACE_HANGS, NULL,
                                         ns);
    const uint64_t figures[] = { ns, since_ns };
    c.at_ns = since_ns;
    if (in_task) {
        chroprof__case_in_task(q, &c, frame.path);
        (void)chroprof__name_case(q, &c, since_ns, 900000);
    }
    chroprof__tell(&c, since_ns ? "The loop has been inside " : "The loop was inside ", NULL);
    chroprof__tell_site(&c);
    chroprof__tell(&c, since_ns ? " for %T, since %m, and is not back."
                                : " all these %T, and is not back.", figures);
    chroprof__tell_hang(q, &c);
    chroprof__report(q, &c);
}

/* The stack that most samples of the loop's own time have, by majority vote (Boyer and Moore) and a
 * count of what it has; 0: none has the majority. */
static uint32_t chroprof__loop_stack(const chroprof *p)
{
    chroprof_sample_row row;
    uint64_t cursor = 0, votes = 0, all = 0, its = 0;
    uint32_t stack = 0;
    while (chroprof_next_sample(p, &cursor, &row)) {
        if (row.state != CHROPROF_SAMPLE_UNINSTRUMENTED)
            continue;
        bool same = row.stack == stack, wins = !same && row.weight > votes;
        votes = same ? votes + row.weight : wins ? row.weight - votes : votes - row.weight;
        stack = wins ? row.stack : stack;
        all += row.weight;
    }
    for (cursor = 0; chroprof_next_sample(p, &cursor, &row);)
        its += row.state == CHROPROF_SAMPLE_UNINSTRUMENTED && row.stack == stack ? row.weight : 0;
    return its > all / 2 ? stack : 0;
}

/* Where nobody said that the loop waits, it may be waiting all the time. Below 20 % the loop may be
 * too busy to wait; half a second may be the program's start. No wait has samples of CPU time. */
static void chroprof__find_no_idle(chroprof__inquiry *q, uint64_t ns)
{
    chroprof_sampler_totals sampler;
    chroprof_read_sampler(q->p, &sampler);
    bool sees = sampler.mode == CHROPROF_SAMPLER_WALL;
    uint32_t stack = sees ? chroprof__loop_stack(q->p) : 0;
    const char *function = chroprof__sampled_function(q->p, stack, false);
    const uint64_t figures[] = { ns, q->totals.elapsed_ns, ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_NO_IDLE, CHROPROF__PLACE_NO_IDLE,
                                         NULL, ns);
    if (!chroprof__is_part(ns, q->totals.elapsed_ns, 200000) || ns < 500000000)
        return;
    chroprof__tell(&c, "No idle time is reported: %p of the run (%T) counts as uninstrumented. "
                       "Call chroprof_idle_enter and chroprof_idle_leave around the wait of the "
                       "loop", figures);
    chroprof__tell(&c, *function ? ", in " : "", NULL);
    chroprof__tell_name(&c, function, CHROPROF__FINDS_FILE);
    chroprof__tell(&c, *function ? "." : stack ? ", which the samples show."
                       : ", such as poll. If a library waits in epoll_wait, use "
                         "CHROPROF_EPOLL_IDLE.", NULL);
    chroprof__report(q, &c);
}

static void chroprof__tell_uninstrumented(const chroprof__inquiry *q, chroprof__case *c)
{
    const uint64_t figures[] = { c->share, c->share_of, c->share };
    const char *function = chroprof__sampled_function(q->p, chroprof__loop_stack(q->p), true);
    chroprof__tell(c, "%p of the run (%T) is uninstrumented", figures);
    chroprof__tell(c, *function ? ", mostly in " : "", NULL);
    chroprof__tell_name(c, function, CHROPROF__FINDS_FILE);
    if (c->place == (uint32_t)CHROPROF__PLACE_UNINSTRUMENTED_GRAVE) {
        const uint64_t stall[] = { q->stall.shares[0].exec_ns, q->stall.start_ns };
        c->at_ns = q->stall.start_ns;
        chroprof__tell(c, ", %T of it in the stall at %m", stall);
    }
    chroprof__tell(c, q->bare ? "." : ". Call chroprof_enter and chroprof_leave around the "
                                      "callbacks that have no site.", NULL);
}

/* As a site, but from 10 % on, as it hides what else there is. */
static void chroprof__find_uninstrumented(chroprof__inquiry *q, uint64_t ns, bool idles)
{
    const chroprof_stall *s = &q->stall;
    bool grave = idles && s->share_count > 0 && s->shares[0].site == 0 &&
                 s->shares[0].exec_ns > s->length_ns / 2 && s->shares[0].exec_ns < ns / 2;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_UNINSTRUMENTED,
                                         grave ? CHROPROF__PLACE_UNINSTRUMENTED_GRAVE
                                               : CHROPROF__PLACE_UNINSTRUMENTED, NULL, ns);
    if (!chroprof__is_part(ns, q->totals.elapsed_ns, 100000) ||
        !chroprof__is_part(ns, q->work, 250000))
        return;
    if (idles) {
        chroprof__tell_uninstrumented(q, &c);
    } else {
        chroprof__tell(&c, "No task ran in %T, so nothing is instrumented yet.", &c.share_of);
        chroprof__tell(&c, q->bare ? "" : " Call chroprof_enter and chroprof_leave around "
                                          "callbacks, and chroprof_idle_enter and "
                                          "chroprof_idle_leave around the wait.", NULL);
    }
    chroprof__report(q, &c);
}

static void chroprof__find_loop(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    bool idles = t->idle || t->idle_ns > 0 || t->iterations > 0 || t->in_iteration;
    uint64_t ns = t->uninstrumented_ns - t->start_ns - t->exit_ns;
    if (idles || t->busy_ns == 0)
        chroprof__find_uninstrumented(q, ns, idles);
    else
        chroprof__find_no_idle(q, ns);
}

/* Who had most of the blame for delays: the first site in that, or what is none. It must have
 * caused a quarter of them, and a tenth of a task must have waited on average: with fewer the loop
 * is nowhere near full. */
static void chroprof__find_delays(chroprof__inquiry *q)
{
    static const struct { char name[20], cure[92]; } who[] = {
        { "", " Make its slices shorter, or run it less often." },
        { "uninstrumented code",
          " Call chroprof_enter and chroprof_leave around the callbacks that have no site." },
        { "untracked code", " See the unexpected calls and the full tables." },
        { "idle time",
          " Report ready when a task can run, and chroprof_idle_leave right after the wait." }
    };
    const chroprof_totals *t = &q->totals;
    chroprof_rank top[2];
    uint32_t most = 0;
    memset(top, 0, sizeof(top));
    (void)chroprof_ranks(q->p, top, 2, CHROPROF_BY_BLAME);
    const uint64_t blame[] = { top[0].blame_ns, t->uninstrumented_blame_ns, t->untracked_blame_ns,
                               t->idle_blame_ns };
    uint64_t second = top[1].blame_ns;
    for (uint32_t k = 1; k < 4; k++)
        most = blame[k] > blame[most] ? k : most;
    for (uint32_t k = 0; k < 4; k++)
        second = k != most && blame[k] > second ? blame[k] : second;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_DELAYS, CHROPROF__PLACE_DELAYS,
                                         most ? NULL : top, most ? 0 : top[0].exec_ns);
    const uint64_t figures[] = { blame[most], t->blame_ns };
    c.name = most ? who[most].name : c.name;
    c.value_ns = blame[most];
    if (!chroprof__is_part(blame[most], t->blame_ns, 250000) ||
        !chroprof__is_part(t->delay_ns, t->elapsed_ns, 100000) ||
        chroprof__is_tie(blame[most], second) || c.site == CHROPROF__OTHER)
        return;
    chroprof__tell(&c, "Ready tasks waited %k task-seconds; ", &t->delay_ns);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " caused %p of it.", figures);
    chroprof__tell(&c, q->bare && most ? "" : who[most].cure, NULL);
    chroprof__report(q, &c);
}

/* Four quarters of the last whole windows in which a site ran, and its exec in each. */
typedef struct chroprof__quarters {
    chroprof_rank site;
    uint32_t each;                 /* windows */
    uint64_t ns[4];
} chroprof__quarters;

/* A rise, not a burst or a wave: from quarter to quarter it is more, but for 5 % of the last, and
 * in that it is in most of the windows. What only began late, such as the load of a server, but for
 * 1 % of its peak, has no quarter before it began. */
static bool chroprof__rises(const chroprof *p, uint32_t whole, chroprof__quarters *s)
{
    chroprof_windows_cursor cursor;
    uint64_t ns[CHROPROF__FINDS_WINDOWS];
    uint32_t count = whole < CHROPROF__FINDS_WINDOWS ? whole : (uint32_t)CHROPROF__FINDS_WINDOWS;
    uint32_t idle = 0, most = 0;
    uint64_t peak = 0;
    bool up = true;
    memset(s->ns, 0, sizeof(s->ns));
    memset(&cursor, 0, sizeof(cursor));
    cursor.next = whole - count;            /* what came before is not looked at */
    (void)chroprof_next_site_windows(p, s->site.id, &cursor, ns, count);
    for (uint32_t k = 0; k < count; k++)
        peak = ns[k] > peak ? ns[k] : peak;
    while (idle < count && ns[idle] <= peak / 100)
        idle++;
    s->each = (count - idle) / 4;
    for (uint32_t k = 0; k < 4 * s->each; k++)
        s->ns[k / s->each] += ns[count - 4 * s->each + k];
    for (uint32_t k = count - s->each; k < count; k++)
        most += ns[k] > s->ns[3] / s->each / 2;
    for (uint32_t k = 1; k < 4; k++)
        up = up && s->ns[k - 1] <= s->ns[k] + s->ns[3] / 20;
    return up && most >= s->each - s->each / 4;
}

/* Below 20 % of the last quarter it is no load. In the first quarter it had at most half as much.
 * Of fewer than 4 windows it is a burst. */
static void chroprof__tell_rise(chroprof__inquiry *q, const chroprof__quarters *s,
                                const uint64_t *at_ns)
{
    const uint64_t first_ns = at_ns[1] - at_ns[0], last_ns = at_ns[4] - at_ns[3];
    const uint64_t figures[] = { s->ns[0], first_ns, first_ns, at_ns[0], s->ns[3], last_ns,
                                 last_ns };
    uint32_t ppm = chroprof__ppm(s->ns[3], last_ns), before = chroprof__ppm(s->ns[0], first_ns);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_RISING, CHROPROF__PLACE_RISING,
                                         &s->site, s->ns[3]);
    c.share_of = last_ns;
    c.at_ns = at_ns[3];
    if (ppm < 200000 || !chroprof__is_part(chroprof__minus(ppm, before), ppm, 500000) ||
        s->each < 4)
        return;
    chroprof__tell_site(&c);
    chroprof__tell(&c, " rises from %p (the %T after %m) to %p (the last %T). Look for what grows "
                       "while it runs, such as a list or a queue.", figures);
    chroprof__report(q, &c);
}

/* The windows of a merged profile, which has no steps, are those of several in a row. */
static void chroprof__find_rise(chroprof__inquiry *q)
{
    chroprof__quarters s, steepest;
    chroprof_window w;
    uint64_t cursor = CHROPROF__FIRST_SITE, at_ns[5];
    uint32_t whole = (uint32_t)chroprof_windows(q->p, NULL, 0) - 1;
    memset(&steepest, 0, sizeof steepest);
    if (chroprof_timeline(q->p, 0, UINT64_MAX, NULL, 0) == 0)
        return;
    while (chroprof_next_rank(q->p, &cursor, &s.site))
        if (chroprof__rises(q->p, whole, &s) && s.ns[3] > steepest.ns[3] &&
            s.site.slice_max_ns <= s.ns[3] / 2)     /* one long slice is no trend */
            steepest = s;
    if (steepest.ns[3] == 0)
        return;
    for (uint32_t k = 0; k < 5; k++) {
        chroprof_windows_cursor at;
        memset(&at, 0, sizeof(at));
        at.next = whole - (4 - k) * steepest.each;
        (void)chroprof_next_windows(q->p, &at, &w, 1);
        at_ns[k] = w.start_ns;
    }
    chroprof__tell_rise(q, &steepest, at_ns);
}

/* From 2 % on it disturbs what is measured. */
static void chroprof__find_sampler_cost(chroprof__inquiry *q)
{
    const uint64_t elapsed_ns = q->totals.elapsed_ns;
    chroprof_sampler_totals s;
    chroprof_read_sampler(q->p, &s);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_COST, CHROPROF__PLACE_COST, NULL,
                                         s.cost_ns);
    const uint64_t figures[] = { s.cost_ns, elapsed_ns, s.cost_ns };
    if (!chroprof__is_part(s.cost_ns, elapsed_ns, 20000) || s.cost_ns < 1000000)
        return;
    chroprof__tell(&c, "The sampler took %p of the run (%T), which disturbs what it measures.",
                   figures);
    chroprof__tell(&c, q->bare ? "" : " Raise its period_ns, or lower its budget_ppm.", NULL);
    chroprof__report(q, &c);
}

/* With an event in less than 400 ns of work, the 20 to 60 ns that one takes are a tenth. */
static void chroprof__find_cost(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_rank r;
    if (t->events < 100000 || q->work / t->events >= 400 || q->work < t->elapsed_ns / 5 ||
        chroprof_ranks(q->p, &r, 1, CHROPROF_BY_CALLS) == 0) {
        chroprof__find_sampler_cost(q);
        return;
    }
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_COST, CHROPROF__PLACE_COST, &r,
                                         q->work);
    const uint64_t figures[] = { t->events, q->work };
    if (q->work < 1000000)
        return;
    chroprof__tell(&c, "%c events in %T of work: at 20 to 60 ns each, profiling is a visible part "
                       "of it.", figures);
    chroprof__tell(&c, q->bare ? " " : " Leave out the smallest tasks; ", NULL);
    chroprof__tell_site(&c);
    chroprof__tell(&c, " has most calls, %c.", &r.calls);
    chroprof__report(q, &c);
}

/* The full table that hides most. From the histograms on, no time stands elsewhere. */
static void chroprof__find_full(chroprof__inquiry *q)
{
    static const uint8_t order[] = { CHROPROF_TABLE_SITES, CHROPROF_TABLE_PATHS,
        CHROPROF_TABLE_DEPTH, CHROPROF_TABLE_FUTURES, CHROPROF_TABLE_EDGES,
        CHROPROF_TABLE_HISTOGRAMS, CHROPROF_TABLE_STRINGS, CHROPROF_TABLE_STACKS };
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    size_t k = 0;
    (void)chroprof_tables(q->p, tables, CHROPROF_TABLE_COUNT);
    while (k < sizeof(order) && (tables[order[k]].dropped == 0 || tables[order[k]].advice == 0))
        k++;
    if (k == sizeof(order))
        return;
    const chroprof_table *full = tables + order[k];
    const uint64_t figures[] = { full->capacity, full->dropped };
    bool grave = k < 5;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FULL,
                                         grave ? CHROPROF__PLACE_FULL_GRAVE : CHROPROF__PLACE_FULL,
                                         NULL, 0);
    q->lost = tables[CHROPROF_TABLE_FUTURES].dropped > 0;
    chroprof__tell(&c, full->option, NULL);
    chroprof__tell(&c, " is too small at %d: %c times something did not fit, ", figures);
    chroprof__tell(&c, grave ? "so time stands under other names." : "so detail is missing.", NULL);
    chroprof__tell(&c, q->leaks && order[k] == CHROPROF_TABLE_FUTURES ? " See what leaks first."
                       : q->bare ? " chroprof run has no option for that." : " Set it to %d.",
                   &full->advice);
    chroprof__report(q, &c);
}

/* What helps against most anomalies of a kind: in the order of the kinds, each up to its last. */
static const char *chroprof__anomaly_cure(chroprof_anomaly_kind kind)
{
    static const struct { uint8_t last; char text[88]; } cures[] = {
        { CHROPROF_ANOMALY_ADOPTED,
          "Report chroprof_pending first, and nothing after its finish." },
        { CHROPROF_ANOMALY_UNWOUND_BY_IDLE,
          "Pair running with paused, enter with leave, on early returns too." },
        { CHROPROF_ANOMALY_BARRIER_CROSSED,
          "Pair each chroprof_loop_enter with a chroprof_loop_leave." },
        { CHROPROF_ANOMALY_LEAVE_WITHOUT_ENTER,
          "Pair each enter with one leave, and finish futures by chroprof_completed." },
        { CHROPROF_ANOMALY_LOOP_LEAVE_WITHOUT_ENTER,
          "Pair each chroprof_loop_enter with a chroprof_loop_leave." },
        { CHROPROF_ANOMALY_IDLE_LEAVE_WITHOUT_ENTER,
          "Call chroprof_idle_enter before each wait, and no other event until it is over." },
        { CHROPROF_ANOMALY_LONG_STEP, "Check the clock, or raise max_step_ns." },
        { CHROPROF_ANOMALY_BAD_STATE, "Check the arguments of that event." },
        { CHROPROF_ANOMALY_EVENT_IN_HOOK, "Only read in on_stall." },
        { CHROPROF_ANOMALY_THREAD, "Send all events from the thread that runs the loop." }
    };
    size_t k = 0;
    while (cures[k].last < (unsigned)kind)
        k++;
    return cures[k].text;
}

/* Where the last one was met, in a blank-ended sentence. */
static void chroprof__tell_place(chroprof__case *c, const chroprof_anomaly *most)
{
    const chroprof_anomaly_place *last = &most->last;
    bool task = last->path != 0 || last->top > 2;
    if (!most->placed || (!task && last->id == 0))
        return;
    chroprof__tell(c, last->id != 0 ? "Last with id %d" : "Last", &last->id);
    if (task) {
        chroprof__tell(c, last->id != 0 ? ", in " : " in ", NULL);
        chroprof__tell_name(c, last->name, CHROPROF__FINDS_FILE);
    }
    chroprof__tell(c, ". ", NULL);
}

/* A few come with attaching to a program under way; 0.1 % of the events do not. Grave where much
 * time is untracked for it. Events of other threads: a few of many are seen, and spoil all
 * figures. */
static void chroprof__find_disorder(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof_anomaly most, row;
    (void)chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)0, &most);
    for (int k = 1; chroprof_read_anomaly(q->p, (chroprof_anomaly_kind)k, &row); k++)
        most = row.count > most.count ? row : most;
    bool threads = chroprof_read_anomaly(q->p, CHROPROF_ANOMALY_THREAD, &row) && row.count > 0;
    most = threads ? row : most;
    bool untracked = t->untracked_ns > t->elapsed_ns / 10;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_ORDER,
                                         threads || untracked ? CHROPROF__PLACE_ORDER_GRAVE
                                                              : CHROPROF__PLACE_ORDER,
                                         NULL, t->untracked_ns);
    const uint64_t share[] = { t->untracked_ns, t->elapsed_ns };
    if ((!threads && (most.count < 10 || !chroprof__is_part(most.count, t->events, 1000))) ||
        (q->lost && most.kind <= CHROPROF_ANOMALY_UNKNOWN_FINISH))
        return;
    chroprof__tell(&c, threads ? "At least %c times: " : "%c times: ", &most.count);
    chroprof__say_text(&c.said, most.text);
    chroprof__tell(&c, !threads && untracked ? "; %p of the run is untracked. " : ". ", share);
    chroprof__tell_place(&c, &most);
    chroprof__tell(&c, q->bare ? "" : chroprof__anomaly_cure(most.kind), NULL);
    chroprof__report(q, &c);
}

/* The site that runs in most iterations, by its slices; a name that only says which wait came
 * before is none. */
static bool chroprof__in_most(const chroprof__inquiry *q, chroprof_rank *out)
{
    chroprof_rank row;
    uint64_t cursor = CHROPROF__FIRST_SITE;
    memset(out, 0, sizeof(*out));
    while (chroprof_next_rank(q->p, &cursor, &row))
        if (row.slices > out->slices && !chroprof__is_after_wait(row.name))
            *out = row;
    return out->slices > q->totals.iterations / 2 && out->id != CHROPROF__OTHER;
}

static void chroprof__tell_spin(chroprof__inquiry *q, const char *awake, const uint64_t *figures)
{
    chroprof_rank site;
    bool named = chroprof__in_most(q, &site);
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SPINS, CHROPROF__PLACE_SPINS,
                                         named ? &site : NULL, q->totals.at_once_ns);
    chroprof__tell(&c, "The loop spins: %p of its waits return at once, %c a second", figures);
    if (named) {
        chroprof__tell(&c, ", and ", NULL);
        chroprof__tell_site(&c);
        chroprof__tell(&c, " runs in most of them", NULL);
    }
    chroprof__tell(&c, *awake ? ". Kept awake by "
                              : ". Look for what is always ready, or a timeout of 0", NULL);
    chroprof__tell_name(&c, awake, CHROPROF__FINDS_CAUSE);
    chroprof__tell(&c, ".", NULL);
    chroprof__report(q, &c);
}

/* Waits that return at once, and so little between them that the loop has no work. Who says what
 * keeps it awake has looked at the processor's time as well; else they must be shorter than one
 * that sleeps can be, and leave no time to read and to answer. */
static void chroprof__find_spin(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const char *awake = chroprof_awake_by(q->p);
    uint64_t mean_ns = t->at_once ? t->at_once_ns / t->at_once : 0;
    uint64_t most_ns = *awake ? 10000 : 1500, work_ns = *awake ? mean_ns + 10000 : 500;
    uint64_t few = t->at_once < t->iterations ? t->at_once : t->iterations;
    if (t->iterations == 0 || t->iteration_p50_ns == 0 || mean_ns > most_ns ||
        t->iteration_p50_ns > mean_ns + work_ns || t->elapsed_ns < 1000000)
        return;
    const uint64_t figures[] = { few, t->iterations,
                                 t->at_once * 1000 / (t->elapsed_ns / 1000000) };
    /* 5,000 waits a second, of all those nine in ten. */
    if (figures[2] >= 5000 && chroprof__is_part(few, t->iterations, 900000))
        chroprof__tell_spin(q, awake, figures);
}

/* A profile that is too short to tell more: it is mostly the program's start. */
static void chroprof__find_too_early(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, CHROPROF__PLACE_FINE, NULL, 0);
    chroprof__tell(&c, "It is too early to say: the profile covers %T and has ", &t->elapsed_ns);
    chroprof__tell(&c, t->events == 1 ? "one event." : "%c events.", &t->events);
    chroprof__report(q, &c);
}

/* How much room the loop has, and who takes most of the rest. */
static void chroprof__tell_nothing(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_rank *r = q->top;
    const chroprof_totals *t = &q->totals;
    const uint64_t figures[] = { t->elapsed_ns, t->asleep_ns, t->elapsed_ns };
    const uint64_t first[] = { r->exec_ns, t->elapsed_ns };
    const uint64_t second[] = { r[1].exec_ns, t->elapsed_ns };
    bool next = r[1].exec_ns && chroprof__is_tie(r->exec_ns, r[1].exec_ns);
    chroprof__tell(c, t->asleep_ns < t->elapsed_ns / 5
                          ? "No task stands out in %T, but the loop was idle for only %p of it"
                          : "Nothing stands out in %T: the loop was idle for %p of it", figures);
    if (r->exec_ns) {
        chroprof__tell(c, ", and ", NULL);
        chroprof__tell_site(c);
        chroprof__tell(c, " took the most of all tasks, %p", first);
    }
    chroprof__tell(c, next ? "; the next took %p." : ".", second);
}

/* Nothing makes the loop slow: the list has at most what lacks detail. */
static void chroprof__find_nothing(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    const uint64_t figures[] = { t->elapsed_ns, t->exit_ns };
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_FINE, CHROPROF__PLACE_FINE,
                                         q->top->exec_ns ? q->top : NULL, 0);
    c.site = 0;
    if (q->count > 0 && q->keys[0] >> 32 > CHROPROF__PLACE_FINE)
        return;
    if (t->elapsed_ns < 1000000000 && t->iterations == 0 && t->idle_ns == 0) {
        chroprof__find_too_early(q);
        return;
    }
    if (t->exit_ns >= 100000000)
        chroprof__tell(&c, "Nothing stands out in %T, but after the last wait of the loop the "
                           "program ran for %T more.", figures);
    else
        chroprof__tell_nothing(q, &c);
    chroprof__report(q, &c);
}

/* Under chroprof run the code between waits has names of its own. */
static bool chroprof__is_bare(const chroprof *p)
{
    uint64_t cursor = CHROPROF__FIRST_SITE;
    chroprof_rank r;
    while (chroprof_next_rank(p, &cursor, &r))
        if (*r.file == 0 && chroprof__is_after_wait(r.name))
            return true;
    return false;
}

/* What several kinds look at. */
static void chroprof__begin_inquiry(chroprof__inquiry *q, const chroprof *p)
{
    chroprof_stall stall;
    chroprof_options options;
    uint64_t cursor = 0;
    memset(q, 0, sizeof(*q));
    q->p = p;
    chroprof_read_totals(p, &q->totals);
    q->work = q->totals.busy_ns + q->totals.uninstrumented_ns;
    q->bare = chroprof__is_bare(p);
    chroprof_read_options(p, &options);
    q->stall_ns = options.stall_ns;
    q->max_events = options.max_events;
    q->top[0].name = q->top[0].file = q->no_text;
    (void)chroprof_ranks(p, q->top, 2, CHROPROF_BY_EXEC);
    while (chroprof_next_stall(p, &cursor, &stall))
        q->stall = stall.length_ns > q->stall.length_ns ? stall : q->stall;
}

CHROPROF__COLD_API size_t chroprof_findings(const chroprof *p, chroprof_finding *out,
                                            size_t capacity)
{
    chroprof__inquiry q;
    if (!chroprof__can_read(p))
        return 0;
    chroprof__begin_inquiry(&q, p);
    q.out = out;
    q.capacity = out ? capacity : 0;
    bool broken_off = chroprof__find_broken_off(&q);
    if (q.totals.elapsed_ns / 1000000 < CHROPROF__FINDS_EARLY_MS) {
        if (!broken_off)
            chroprof__find_too_early(&q);
        return q.count;
    }
    if (!broken_off)
        chroprof__find_hang(&q);
    chroprof__find_spin(&q);
    chroprof__find_loop(&q);
    chroprof__find_stall(&q);
    chroprof__find_occupant(&q);
    chroprof__find_stutters(&q);
    chroprof__find_preempted(&q);
    chroprof__find_rise(&q);
    chroprof__find_delays(&q);
    chroprof__find_leak(&q);
    chroprof__find_queue(&q);
    chroprof__find_cost(&q);
    chroprof__find_full(&q);
    chroprof__find_disorder(&q);
    chroprof__find_nothing(&q);
    chroprof__find_saturation(&q);
    return q.count;
}
#endif /* CHROPROF_NO_FINDINGS */

/* >>output
 * Everything that is written goes through one small buffer on the stack and one sticky error flag,
 * so the formats need no checks of their own. Numbers are made from integers by hand: no locale.
 * Nothing here knows a format: a program that calls one links one. */

#define CHROPROF__OUT_BYTES 1024

typedef struct chroprof__out {
    chroprof_writer write;
    void *user;
    const chroprof_text_options *look;             /* of the text report, may be NULL */
    const chroprof_prometheus_options *series;     /* of Prometheus, may be NULL */
    size_t used;
    bool failed;
    bool absent;           /* there is no profile to write */
    bool comma;            /* of JSON: something stands before the next key or row */
    char bytes[CHROPROF__OUT_BYTES];
} chroprof__out;

static void chroprof__flush(chroprof__out *o)
{
    if (o->used > 0 && !o->failed)
        o->failed = o->write(o->user, o->bytes, o->used) != 0;
    o->used = 0;
}

/* 0, or -1 if the writer stopped or there is no profile: then text and JSON say why. */
static int chroprof__put_profile(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                 void *user, const chroprof_text_options *look,
                                 const chroprof_prometheus_options *series)
{
    chroprof__out o;
    if (write == NULL)
        return -1;
    memset(&o, 0, offsetof(chroprof__out, bytes));
    o.write = write;
    o.user = user;
    o.look = look;
    o.series = series;
    o.absent = !chroprof__tick_live(p);
    as(&o, p);
    chroprof__flush(&o);
    return o.failed || o.absent ? -1 : 0;
}

CHROPROF__COLD_API int chroprof__write_by(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                          void *user)
{
    return chroprof__put_profile(p, as, write, user, NULL, NULL);
}

/* A format that was left out fails, and so does a number that is none. */
#define CHROPROF__LEFT_OUT(as)                                            \
    CHROPROF__COLD_API void as(chroprof__out *o, const chroprof *p)       \
    {                                                                     \
        (void)p;                                                          \
        o->failed = true;                                                 \
    }
CHROPROF__LEFT_OUT(chroprof__as_none)

CHROPROF__UNUSED static void chroprof__put_bytes(chroprof__out *o, const char *bytes, size_t count)
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

/* A full buffer is flushed at once, so one byte is always free. */
CHROPROF__UNUSED static void chroprof__put_byte(chroprof__out *o, char byte)
{
    o->bytes[o->used++] = byte;
    if (o->used == CHROPROF__OUT_BYTES)
        chroprof__flush(o);
}

CHROPROF__UNUSED static void chroprof__put_text(chroprof__out *o, const char *text)
{
    chroprof__put_bytes(o, text, strlen(text));
}

CHROPROF__UNUSED static void chroprof__put_u64(chroprof__out *o, uint64_t value)
{
    char digits[20], *end = digits + sizeof(digits);
    const char *first = chroprof__digits_before(value, end);
    chroprof__put_bytes(o, first, (size_t)(end - first));
}

CHROPROF__UNUSED static void chroprof__put_code(chroprof__out *o, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        chroprof__put_byte(o, (char)code);
        return;
    }
    chroprof__put_bytes(o, bytes, chroprof__encode(code, bytes));
}

/* The kth of the words that commas part; names of the interface become lower case. */
CHROPROF__UNUSED static void chroprof__put_word(chroprof__out *o, const char *words, uint64_t k)
{
    while (k > 0 && *words != 0)
        k -= *words++ == ',';
    for (; *words != 0 && *words != ',' && *words != ')'; words++)
        chroprof__put_byte(o, (char)(*words >= 'A' && *words <= 'Z' ? *words + 32 : *words));
}

#define CHROPROF__ANOMALY_WORD(name, text, cure) #name ","
#define CHROPROF__ANOMALY_WORDS CHROPROF_ANOMALIES(CHROPROF__ANOMALY_WORD)

/* What a figure is called, three words: in the public structs and the JSON, "" if it is not shown;
 * its metric in Prometheus, "" if it is not there; what the metric is, "" if a figure before it has
 * the same metric. */
#define CHROPROF__WORDS(name, metric, help) #name "\0" metric "\0" help "\0"
#define CHROPROF__WORDS_ROW(name, field, unit, kind, metric, help)                                 \
    CHROPROF__WORDS(name, metric, help)
#define CHROPROF__WORDS_COUNT(name, field, kind) CHROPROF__WORDS(name, "", "")
#define CHROPROF__WORDS_NAME(name) CHROPROF__WORDS(name, "", "")
#define CHROPROF__WORDS_UNSEEN(type, field, unit, kind) CHROPROF__WORDS(, "", "")

/* The words of a list, in its order; one text, as pointers would be data that a loader has to fill
 * in. */
CHROPROF__UNUSED static const char chroprof__path_words[] =
    CHROPROF__PATH_LIST(CHROPROF__WORDS_ROW, CHROPROF__WORDS, CHROPROF__WORDS_NAME,
                        CHROPROF__WORDS_UNSEEN);
CHROPROF__UNUSED static const char chroprof__loop_words[] =
    CHROPROF__LOOP_LIST(CHROPROF__WORDS_ROW, CHROPROF__WORDS, CHROPROF__WORDS_UNSEEN);
CHROPROF__UNUSED static const char chroprof__sampler_words[] =
    CHROPROF__SAMPLER_LIST(CHROPROF__WORDS_COUNT, CHROPROF__WORDS_NAME);

/* What stands between quotes: in JSON, else in a label of Prometheus. */
CHROPROF__UNUSED static void chroprof__put_quoted(chroprof__out *o, const char *text, bool json)
{
    while (*text != 0) {
        uint32_t code = chroprof__next_code(&text);
        if (json && code < 0x20) {
            chroprof__put_text(o, code < 0x10 ? "\\u000" : "\\u001");
            chroprof__put_byte(o, "0123456789abcdef"[code & 15]);
            continue;
        }
        if (code == '"' || code == '\\' || code == '\n')
            chroprof__put_byte(o, '\\');
        chroprof__put_code(o, code == '\n' ? 'n' : code);
    }
}

/* value / unit with all its places; the unit is a power of 10. */
CHROPROF__UNUSED static void chroprof__put_places(chroprof__out *o, uint64_t value, uint64_t unit)
{
    char digits[20], *end = digits + sizeof(digits);
    char *point = chroprof__digits_before(value % unit + unit, end);
    *point = '.';                           /* where the unit has its 1 */
    chroprof__put_u64(o, value / unit);
    chroprof__put_bytes(o, point, (size_t)(end - point));
}

/* What lies in a field of so many bytes. */
CHROPROF__UNUSED static uint64_t chroprof__load_field(const void *field, size_t size)
{
    uint32_t half;
    uint64_t whole;
    if (size == 1)
        return *(const unsigned char *)field;
    memcpy(&half, field, sizeof half);
    if (size == sizeof half)
        return half;
    memcpy(&whole, field, sizeof whole);
    return whole;
}

/* A field, as a sign says: those of chroprof__put_json, and in Prometheus @ for the text of a label
 * and & for a text that is written as it is. */
CHROPROF__UNUSED static void chroprof__put_field(chroprof__out *o, const char *how,
                                                 const void *field)
{
    bool text = *how == '$' || *how == '@' || *how == '&';
    size_t size = text ? sizeof(char *) : *how == '?' ? sizeof(bool)
                : *how == '(' ? sizeof(chroprof_state)
                : *how == '.' || *how == '-' ? sizeof(uint32_t) : sizeof(uint64_t);
    uint64_t value = chroprof__load_field(field, size);
    bool quoted = *how != 0 && strchr("$(", *how) != NULL;
    if (quoted)
        chroprof__put_byte(o, '"');
    switch (*how) {
    case '$': chroprof__put_quoted(o, (const char *)(uintptr_t)value, true); break;
    case '@': chroprof__put_quoted(o, (const char *)(uintptr_t)value, false); break;
    case '&': chroprof__put_text(o, (const char *)(uintptr_t)value); break;
    case '(': chroprof__put_word(o, how + 1, value); break;
    case '?': chroprof__put_text(o, value ? "true" : "false"); break;
    case '-':
        chroprof__put_text(o, value ? "" : "-");
        chroprof__put_u64(o, value ? value - 1 : 1);
        break;
    default: chroprof__put_u64(o, value);
    }
    if (quoted)
        chroprof__put_byte(o, '"');
}

/* Fields of a struct that are shown, a line each in a list: the struct, the field, its sign. */
#define CHROPROF__KEY(type, field, sign) #field sign " "
#define CHROPROF__PLACE(type, field, sign) (uint16_t)offsetof(type, field),

/* Where a value lies that is in no struct, and words that are side by side. */
CHROPROF__UNUSED static const uint16_t chroprof__in_line[] = {
    0, (uint16_t)sizeof(char *), (uint16_t)(2 * sizeof(char *)), (uint16_t)(3 * sizeof(char *))
};

/* A key and its value, or what begins it; returns where the form goes on. */
CHROPROF__UNUSED static const char *chroprof__put_json_key(chroprof__out *o, const char *key,
                                                           const uint16_t **places,
                                                           const void *row)
{
    const char *end = key;
    while (*end == '_' || (*end >= '0' && *end <= '9') || (*end >= 'A' && *end <= 'Z') ||
           (*end >= 'a' && *end <= 'z'))
        end++;
    if (end > key) {
        chroprof__put_byte(o, '"');
        chroprof__put_bytes(o, key, (size_t)(end - key));
        chroprof__put_text(o, "\":");
    }
    o->comma = *end != '{' && *end != '[' && *end != '"';
    if (!o->comma)
        return end;
    if (*end == '\'') {
        size_t length = strcspn(end + 1, "'");
        chroprof__put_byte(o, '"');
        chroprof__put_bytes(o, end + 1, length);
        chroprof__put_byte(o, '"');
        return end + length + 2;
    }
    chroprof__put_field(o, end, (const char *)row + *(*places)++);
    end += *end == '(' ? strcspn(end, ")") : 0;
    end += *end != 0 && strchr("%.$?-)", *end) != NULL;
    return end + (*end == ' ');
}

/* Writes fields of a struct as JSON. A form has their keys in order, places where they lie, and
 * commas come where they belong. The sign behind a key says what the field is: none or % 64 bits, .
 * or - 32 bits (- one less), ? a truth, $ a text, (a,b) which of these words. A sign without a word
 * is a value without a key. 'A value' may stand in the form; " begins a text that is written by
 * others, and ends it. Brackets and line feeds stand for themselves, and blanks part keys. */
CHROPROF__UNUSED static void chroprof__put_json(chroprof__out *o, const char *form,
                                                const uint16_t *places, const void *row)
{
    while (*form != 0 && !o->failed) {
        char mark = *form;
        bool ends = mark == '}' || mark == ']' || mark == '"';
        bool joins = mark == '\n' && (form[1] == '}' || form[1] == ']');
        if (o->comma && !ends && !joins)
            chroprof__put_byte(o, ',');
        if (!ends && !joins && mark != '{' && mark != '[' && mark != '\n') {
            form = chroprof__put_json_key(o, form, &places, row);
            continue;
        }
        o->comma = ends;
        chroprof__put_byte(o, *form++);
    }
}

/* Brackets, and at most one key, whose value is given. */
CHROPROF__UNUSED static void chroprof__put_value(chroprof__out *o, const char *form,
                                                 const void *value)
{
    chroprof__put_json(o, form, chroprof__in_line, value);
}

/* The fields of a list, between what begins and what ends them. */
#define CHROPROF__PUT_FIELDS(o, begin, list, end, row)                                             \
    do {                                                                                           \
        static const uint16_t places[] = { list(CHROPROF__PLACE) };                                \
        chroprof__put_json(o, begin list(CHROPROF__KEY) end, places, row);                         \
    } while (0)

/* A step of now, which ends the interval that is under way. */
CHROPROF__UNUSED static chroprof_step chroprof__step_now(const chroprof *p,
                                                         const chroprof_totals *totals)
{
    chroprof_frame top;
    chroprof_step now;
    memset(&now, 0, sizeof now);
    now.state = CHROPROF_TICK;
    now.at_ns = totals->elapsed_ns;
    now.depth = (uint32_t)chroprof_frames(p, &top, 1);
    now.path = totals->idle ? (uint32_t)CHROPROF__IDLE
                            : now.depth > 0 ? top.path : (uint32_t)CHROPROF__LOOP;
    return now;
}

/* What a path is called in a report, those of no task included. */
CHROPROF__UNUSED static const char *chroprof__path_word(const chroprof *p, uint32_t path)
{
    static const char words[][20] = { "(uninstrumented)", "(idle)", "(untracked)" };
    return path < CHROPROF__FIRST_PATH ? words[path] : chroprof_path_name(p, path, NULL, NULL);
}

CHROPROF__UNUSED static uint64_t chroprof__count_ready(const chroprof *p)
{
    uint64_t cursor = 0, ready = 0;
    chroprof_future row;
    while (chroprof_next_future(p, &cursor, &row))
        ready += row.state == CHROPROF_READY;
    return ready;
}

#ifndef CHROPROF_NO_TEXT
#ifndef CHROPROF_NO_TEXT
/* >>columns: how many columns of a terminal a character takes, by Unicode 14.
 * Owns the tables. Marks of scripts that are not in them count as one. Called by >>text. */

typedef struct chroprof__code_range {
    uint16_t first, last;
} chroprof__code_range;

/* Marks that stand above, below or inside of the character before them. */
static const chroprof__code_range chroprof__marks[] = {
        { 0x300, 0x36F }, { 0x483, 0x489 }, { 0x591, 0x5BD }, { 0x5BF, 0x5BF }, { 0x5C1, 0x5C2 },
        { 0x5C4, 0x5C5 }, { 0x5C7, 0x5C7 }, { 0x610, 0x61A }, { 0x64B, 0x65F }, { 0x670, 0x670 },
        { 0x6D6, 0x6DC }, { 0x6DF, 0x6E4 }, { 0x6E7, 0x6E8 }, { 0x6EA, 0x6ED }, { 0x711, 0x711 },
        { 0x730, 0x74A }, { 0x7A6, 0x7B0 }, { 0x7EB, 0x7F3 }, { 0x7FD, 0x7FD }, { 0x816, 0x819 },
        { 0x81B, 0x823 }, { 0x825, 0x827 }, { 0x829, 0x82D }, { 0x859, 0x85B }, { 0x898, 0x89F },
        { 0x8CA, 0x8E1 }, { 0x8E3, 0x902 }, { 0x93A, 0x93A }, { 0x93C, 0x93C }, { 0x941, 0x948 },
        { 0x94D, 0x94D }, { 0x951, 0x957 }, { 0x962, 0x963 }, { 0x981, 0x981 }, { 0x9BC, 0x9BC },
        { 0x9C1, 0x9C4 }, { 0x9CD, 0x9CD }, { 0x9E2, 0x9E3 }, { 0x9FE, 0xA02 }, { 0xA3C, 0xA3C },
        { 0xA41, 0xA51 }, { 0xA70, 0xA71 }, { 0xA75, 0xA75 }, { 0xA81, 0xA82 }, { 0xABC, 0xABC },
        { 0xAC1, 0xAC8 }, { 0xACD, 0xACD }, { 0xAE2, 0xAE3 }, { 0xAFA, 0xB01 }, { 0xB3C, 0xB3C },
        { 0xB3F, 0xB3F }, { 0xB41, 0xB44 }, { 0xB4D, 0xB56 }, { 0xB62, 0xB63 }, { 0xB82, 0xB82 },
        { 0xBC0, 0xBC0 }, { 0xBCD, 0xBCD }, { 0xC00, 0xC00 }, { 0xC04, 0xC04 }, { 0xC3C, 0xC3C },
        { 0xC3E, 0xC40 }, { 0xC46, 0xC56 }, { 0xC62, 0xC63 }, { 0xC81, 0xC81 }, { 0xCBC, 0xCBC },
        { 0xCBF, 0xCBF }, { 0xCC6, 0xCC6 }, { 0xCCC, 0xCCD }, { 0xCE2, 0xCE3 }, { 0xD00, 0xD01 },
        { 0xD3B, 0xD3C }, { 0xD41, 0xD44 }, { 0xD4D, 0xD4D }, { 0xD62, 0xD63 }, { 0xD81, 0xD81 },
        { 0xDCA, 0xDCA }, { 0xDD2, 0xDD6 }, { 0xE31, 0xE31 }, { 0xE34, 0xE3A }, { 0xE47, 0xE4E },
        { 0xEB1, 0xEB1 }, { 0xEB4, 0xEBC }, { 0xEC8, 0xECD }, { 0x1160, 0x11FF },
        { 0x1AB0, 0x1ACE }, { 0x1DC0, 0x1DFF }, { 0x20D0, 0x20F0 }, { 0x302A, 0x302D },
        { 0x3099, 0x309A }, { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }
};

/* Characters of two columns: of East Asia, and pictures. */
static const chroprof__code_range chroprof__wide[] = {
        { 0x1100, 0x115F }, { 0x231A, 0x231B }, { 0x2329, 0x232A }, { 0x23E9, 0x23EC },
        { 0x23F0, 0x23F0 }, { 0x23F3, 0x23F3 }, { 0x25FD, 0x25FE }, { 0x2614, 0x2615 },
        { 0x2648, 0x2653 }, { 0x267F, 0x267F }, { 0x2693, 0x2693 }, { 0x26A1, 0x26A1 },
        { 0x26AA, 0x26AB }, { 0x26BD, 0x26BE }, { 0x26C4, 0x26C5 }, { 0x26CE, 0x26CE },
        { 0x26D4, 0x26D4 }, { 0x26EA, 0x26EA }, { 0x26F2, 0x26F3 }, { 0x26F5, 0x26F5 },
        { 0x26FA, 0x26FA }, { 0x26FD, 0x26FD }, { 0x2705, 0x2705 }, { 0x270A, 0x270B },
        { 0x2728, 0x2728 }, { 0x274C, 0x274C }, { 0x274E, 0x274E }, { 0x2753, 0x2755 },
        { 0x2757, 0x2757 }, { 0x2795, 0x2797 }, { 0x27B0, 0x27B0 }, { 0x27BF, 0x27BF },
        { 0x2B1B, 0x2B1C }, { 0x2B50, 0x2B50 }, { 0x2B55, 0x2B55 }, { 0x2E80, 0x3029 },
        { 0x302E, 0x303E }, { 0x3041, 0x3096 }, { 0x309B, 0x3247 }, { 0x3250, 0x4DBF },
        { 0x4E00, 0xA4C6 }, { 0xA960, 0xA97C }, { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAD9 },
        { 0xFE10, 0xFE19 }, { 0xFE30, 0xFE6B }, { 0xFF01, 0xFF60 }, { 0xFFE0, 0xFFE6 }
};

static const uint32_t chroprof__wider[][2] = {
        { 0x16FE0, 0x16FE3 }, { 0x16FF0, 0x1B2FB }, { 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF },
        { 0x1F18E, 0x1F18E }, { 0x1F191, 0x1F19A }, { 0x1F200, 0x1F320 }, { 0x1F32D, 0x1F335 },
        { 0x1F337, 0x1F37C }, { 0x1F37E, 0x1F393 }, { 0x1F3A0, 0x1F3CA }, { 0x1F3CF, 0x1F3D3 },
        { 0x1F3E0, 0x1F3F0 }, { 0x1F3F4, 0x1F3F4 }, { 0x1F3F8, 0x1F43E }, { 0x1F440, 0x1F440 },
        { 0x1F442, 0x1F4FC }, { 0x1F4FF, 0x1F53D }, { 0x1F54B, 0x1F54E }, { 0x1F550, 0x1F567 },
        { 0x1F57A, 0x1F57A }, { 0x1F595, 0x1F596 }, { 0x1F5A4, 0x1F5A4 }, { 0x1F5FB, 0x1F64F },
        { 0x1F680, 0x1F6C5 }, { 0x1F6CC, 0x1F6CC }, { 0x1F6D0, 0x1F6D2 }, { 0x1F6D5, 0x1F6DF },
        { 0x1F6EB, 0x1F6EC }, { 0x1F6F4, 0x1F6FC }, { 0x1F7E0, 0x1F7F0 }, { 0x1F90C, 0x1F93A },
        { 0x1F93C, 0x1F945 }, { 0x1F947, 0x1F9FF }, { 0x1FA70, 0x1FAF6 }, { 0x20000, 0x3FFFD }
};

static bool chroprof__in_ranges(const chroprof__code_range *ranges, size_t count, uint32_t code)
{
    for (size_t k = 0; k < count && code >= ranges[k].first; k++)
        if (code <= ranges[k].last)
            return true;
    return false;
}

/* Columns of a character. One that is shown as another, see chroprof__show_code, takes one. */
static uint32_t chroprof__code_columns(uint32_t code)
{
    if (code < 0x300 || chroprof__steers(code))
        return 1;
    for (size_t k = 0; k < sizeof chroprof__wider / sizeof *chroprof__wider && code > 0xFFFF; k++)
        if (code >= chroprof__wider[k][0] && code <= chroprof__wider[k][1])
            return 2;
    if (chroprof__in_ranges(chroprof__wide, sizeof chroprof__wide / sizeof *chroprof__wide, code))
        return 2;
    return chroprof__in_ranges(chroprof__marks, sizeof chroprof__marks / sizeof *chroprof__marks,
                               code) ? 0 : 1;
}

static uint32_t chroprof__columns_of(const char *text)
{
    uint32_t count = 0;
    while (*text != 0)
        count += chroprof__code_columns(chroprof__next_code(&text));
    return count;
}
#endif /* CHROPROF_NO_TEXT */
/* >>text: the report for people.
 * Owns what it says and how that looks. A page is written line by line: it knows the column it is
 * at, keeps blanks back until something follows them, and cuts what would pass its width. Names are
 * untrusted: nothing in them reaches a terminal but printable characters. Relies on the public
 * reads, >>words and >>output; called by >>formats. */

typedef struct chroprof__page {
    chroprof__out *out;
    const chroprof *p;
    chroprof_totals totals;
    chroprof_options options;
    uint32_t width, column, blanks;
    uint32_t top;
    chroprof_order by;
    bool sampled;              /* CPU time of sites is known */
    uint64_t period_ns;        /* of the sampler, 0: samples by hand */
    bool by_clock;             /* in its wall mode */
    chroprof_text_options look;    /* as asked for; width, top and by above are what is meant */
    bool styled;
} chroprof__page;

/* What a character that is not ASCII looks like in a report that must be. */
static char chroprof__plain(uint32_t code)
{
    static const struct { uint16_t code; char plain; } table[] = {
        { 0xB1, '~' }, { 0xB5, 'u' }, { 0x2026, '~' }, { 0x2500, '-' }, { 0x2504, '.' },
        { 0x2502, '|' }, { 0x2022, '*' }, { 0x251C, '|' }, { 0x2514, '`' }, { 0x2581, '.' },
        { 0x2582, ':' }, { 0x2583, '-' }, { 0x2584, '=' }, { 0x2585, '+' }, { 0x2586, '*' },
        { 0x2587, '%' }, { 0x2588, '#' }, { 0x2591, '.' }, { 0x2592, '=' }
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].code == code)
            return table[k].plain;
    return '?';
}

/* One printable character. */
static void chroprof__glyph(chroprof__page *g, uint32_t code)
{
    uint32_t wide = chroprof__code_columns(code);
    if (g->column + g->blanks + (wide > 0 ? wide : 1) > g->width)
        return;
    for (; g->blanks > 0; g->blanks--, g->column++)
        chroprof__put_byte(g->out, ' ');
    g->column += wide;
    if (!g->look.ascii || code <= 0x7E)
        chroprof__put_code(g->out, code);
    else
        for (; wide > 0; wide--)
            chroprof__put_byte(g->out, chroprof__plain(code));
}

/* Any code point; control bytes as their pictures. */
static void chroprof__show_code(chroprof__page *g, uint32_t code)
{
    if (code == ' ')
        g->blanks++;
    else if (code < 0x20)
        chroprof__glyph(g, 0x2400 + code);
    else
        chroprof__glyph(g, chroprof__steers(code) ? CHROPROF__NO_CODE : code);
}

static void chroprof__show(chroprof__page *g, const char *text)
{
    while (*text != 0)
        chroprof__show_code(g, chroprof__next_code(&text));
}

/* Columns up to the end of the line, but for some. */
static uint32_t chroprof__room(const chroprof__page *g, uint32_t less)
{
    uint32_t used = g->column + g->blanks + less;
    return g->width > used ? g->width - used : 0;
}

static void chroprof__blank_to(chroprof__page *g, uint32_t column)
{
    if (column > g->column)
        g->blanks = column - g->column;
}

/* Marks in what chroprof__print shows: styles, and where a text begins whose words go on in the
 * next line, below that place, if they do not fit. */
#define CHROPROF__PLAIN "\1"
#define CHROPROF__BOLD "\2"
#define CHROPROF__DIM "\3"
#define CHROPROF__WARM "\4"
#define CHROPROF__HOT "\5"
#define CHROPROF__FLOW "\6"

/* Up to the next style or the end of the line. */
static void chroprof__style(chroprof__page *g, const char *style)
{
    static const char codes[][8] = { "", "\033[0m", "\033[1m", "\033[2m", "\033[33m",
                                     "\033[1;31m" };
    if (!g->look.color)
        return;
    chroprof__put_text(g->out, codes[(int)*style]);
    g->styled = *style != *CHROPROF__PLAIN;
}

static void chroprof__newline(chroprof__page *g)
{
    if (g->styled)
        chroprof__style(g, CHROPROF__PLAIN);
    chroprof__put_byte(g->out, '\n');
    g->column = 0;
    g->blanks = 0;
}

/* Shows a line word by word. What does not fit goes on in the next line, at `indent`. Returns what
 * is behind it. */
static const char *chroprof__flow(chroprof__page *g, const char *text, uint32_t indent)
{
    while (*text != 0 && *text != '\n') {
        const char *end = text;
        uint32_t count = 0;
        while (*end != 0 && *end != ' ' && *end != '\n')
            count += chroprof__code_columns(chroprof__next_code(&end));
        if (g->column + g->blanks + count > g->width && g->column > indent) {
            chroprof__put_byte(g->out, '\n');
            g->column = 0;
            g->blanks = indent;
        }
        while (text < end)
            chroprof__show_code(g, chroprof__next_code(&text));
        for (; *text == ' '; text++)
            g->blanks++;
    }
    return text;
}

/* Shows what chroprof__say says, with marks and line feeds in it. */
static void chroprof__print(chroprof__page *g, const char *text, const uint64_t *figures)
{
    chroprof__phrase s;
    const char *at = s.text;
    chroprof__say_only(&s, text, figures);
    while (*at != 0) {
        const char *mark = at;
        uint32_t code = chroprof__next_code(&at);
        if (code == '\n')
            chroprof__newline(g);
        else if (code == (uint32_t)*CHROPROF__FLOW)
            at = chroprof__flow(g, at, g->column + g->blanks);
        else if (code < (uint32_t)*CHROPROF__FLOW)
            chroprof__style(g, mark);
        else
            chroprof__show_code(g, code);
    }
}

/* How a section begins. */
#define CHROPROF__HEADING(title) "\n" CHROPROF__BOLD title CHROPROF__DIM "  " CHROPROF__FLOW

static void chroprof__show_right(chroprof__page *g, const char *text, uint32_t width)
{
    uint32_t count = chroprof__columns_of(text);
    g->blanks += count < width ? width - count : 0;
    chroprof__show(g, text);
}

/* Shows a name in at most width columns; a longer one loses its middle. */
static void chroprof__show_name(chroprof__page *g, const char *name, uint32_t width)
{
    const char *shown = *name != 0 ? name : "(empty)";
    uint32_t count = chroprof__columns_of(shown);
    uint32_t head = count <= width ? count : width / 2;
    uint32_t tail = count <= width ? count : count - (width - head) + 1;
    bool cut = false;
    for (uint32_t at = 0; *shown != 0 && width > 0;) {
        uint32_t code = chroprof__next_code(&shown);
        uint32_t wide = chroprof__code_columns(code);
        if ((at + wide <= head && !cut) || at >= tail)
            chroprof__show_code(g, code);
        else if (!cut)
            chroprof__glyph(g, 0x2026);
        cut = cut || at + wide > head;
        at += wide;
    }
}

/* One of several items of a line, a name (NULL: none) and what is said of it, behind what parts it
 * from the one before. What does not fit begins the next line, at `indent`. */
static void chroprof__show_item(chroprof__page *g, const char *before, uint32_t indent,
                           const char *name, const char *text, const uint64_t *figures)
{
    chroprof__phrase s;
    chroprof__say_only(&s, text, figures);
    uint32_t width = name == NULL ? 0 : *name != 0 ? chroprof__columns_of(name) : 7;
    width = (width < 32 ? width : 32) + chroprof__columns_of(s.text);
    chroprof__show(g, before);
    if (*before != 0 && chroprof__room(g, 1) < width) {
        chroprof__newline(g);
        g->blanks = indent;
    } else if (*before != 0) {
        g->blanks++;
    }
    if (name != NULL)
        chroprof__show_name(g, name, 32);
    chroprof__show(g, s.text);
}

/* Columns of "file:line" without folders; 0 if there is no file. */
static uint32_t chroprof__location_width(const char *file, uint32_t line)
{
    uint32_t width = chroprof__columns_of(chroprof__base_name(file));
    for (uint64_t digits = width > 0 ? (uint64_t)line * 10 : 0; digits > 0; digits /= 10)
        width++;                            /* the colon is one more */
    return width;
}

/* file:line in at most width columns: with its folders if they fit, else without. */
static void chroprof__show_location(chroprof__page *g, const char *file, uint32_t line,
                                    uint32_t width)
{
    const uint64_t figures[] = { line };
    chroprof__phrase s;
    chroprof__say_only(&s, line > 0 ? ":%d" : "", figures);
    uint32_t room = width - (s.used + 4 <= width ? (uint32_t)s.used : 0);
    if (*file == 0)
        return;
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_name(g, chroprof__columns_of(file) > room ? chroprof__base_name(file) : file,
                        room);
    chroprof__show(g, room < width ? s.text : "");
    chroprof__style(g, CHROPROF__PLAIN);
}

/* A name, and its place where there is room for it before a column. */
static void chroprof__show_placed(chroprof__page *g, const char *name, const char *file,
                                  uint32_t line, uint32_t end)
{
    chroprof__show_name(g, name, end - g->column - g->blanks);
    uint32_t room = end - g->column - g->blanks;
    if (room >= chroprof__location_width(file, line) + 2) {
        g->blanks += 2;
        chroprof__show_location(g, file, line, room - 2);
    }
}

/* >>text summary */

static void chroprof__text_rule(chroprof__page *g)
{
    chroprof__style(g, CHROPROF__DIM);
    while (g->column < g->width)
        chroprof__glyph(g, 0x2500);
    chroprof__newline(g);
}

static void chroprof__text_title(chroprof__page *g)
{
    chroprof_origin origin;
    uint32_t version = (uint32_t)strlen("chroprof " CHROPROF_VERSION);
    chroprof_read_origin(g->p, &origin);
    chroprof__style(g, CHROPROF__BOLD);
    chroprof__show_name(g, *origin.name != 0 ? origin.name : "event loop", g->width - version - 2);
    chroprof__blank_to(g, g->width - version);
    chroprof__print(g, CHROPROF__DIM "chroprof " CHROPROF_VERSION "\n", NULL);
    chroprof__text_rule(g);
}

#ifndef CHROPROF_NO_FINDINGS
/* The answer before the figures: what stands out, the most important first. What a site does to the
 * loop is said once, so that it hides nothing else; the rest comes last in the report. */
typedef struct chroprof__sentences {
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    bool first[CHROPROF_FINDING_COUNT];    /* it stands before the figures */
    size_t count, after;                   /* all; and those that come last */
} chroprof__sentences;

static bool chroprof__about_load(const chroprof_finding *f)
{
    return f->kind == CHROPROF_FINDING_OCCUPIES || f->kind == CHROPROF_FINDING_RISING ||
           f->kind == CHROPROF_FINDING_PREEMPTED || f->kind == CHROPROF_FINDING_STUTTERS;
}

/* Did one before it tell of the same site's load? */
static bool chroprof__repeats(const chroprof__sentences *s, size_t of)
{
    size_t k = 0;
    while (k < of && !(chroprof__about_load(s->rows + k) && s->rows[k].site == s->rows[of].site))
        k++;
    return k < of && chroprof__about_load(s->rows + of);
}

static void chroprof__pick_sentences(chroprof__sentences *s, const chroprof *p)
{
    enum { FEW = 4, MOST = 6 };
    size_t shown = 0;
    memset(s, 0, sizeof *s);
    s->count = chroprof_findings(p, s->rows, CHROPROF_FINDING_COUNT);
    for (size_t i = 0; i < s->count && shown < MOST; i++) {
        s->first[i] = !chroprof__repeats(s, i);
        shown += s->first[i];
    }
    for (size_t i = 0; i < s->count && shown < FEW; i++) {
        shown += !s->first[i];
        s->first[i] = true;
    }
    s->after = s->count - shown;
}

static void chroprof__text_sentences(chroprof__page *g, const chroprof__sentences *s, bool first)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->first[i] != first)
            continue;
        chroprof__print(g, i == 0 ? CHROPROF__BOLD "\xE2\x80\xA2 "
                                  : CHROPROF__PLAIN "\xE2\x80\xA2 ", NULL);
        (void)chroprof__flow(g, s->rows[i].text, 2);
        chroprof__newline(g);
    }
}

CHROPROF__NOINLINE void chroprof__text_findings(chroprof__page *g)
{
    chroprof__sentences s;
    chroprof__pick_sentences(&s, g->p);
    chroprof__text_sentences(g, &s, true);
    const uint64_t after = s.after;
    if (after > 0)
        chroprof__print(g, CHROPROF__DIM "  %c more: see MORE FINDINGS below\n", &after);
    chroprof__text_rule(g);
}

CHROPROF__NOINLINE void chroprof__text_more_findings(chroprof__page *g)
{
    chroprof__sentences s;
    chroprof__pick_sentences(&s, g->p);
    if (s.after == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("MORE FINDINGS") "\n", NULL);
    chroprof__text_sentences(g, &s, false);
}
#endif

/* The parts of the elapsed time, which add up to it: their shares, then a strip of them. */
static void chroprof__text_parts(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    uint64_t busy_end = chroprof__portion(g->width, t->busy_ns, t->elapsed_ns);
    uint64_t used_ns = t->busy_ns + t->uninstrumented_ns;
    uint64_t loop_end = chroprof__portion(g->width, used_ns, t->elapsed_ns);
    static const char parts[][24] = {
        "\xE2\x96\x88 busy %p", "\xE2\x96\x92 uninstrumented %p", "\xE2\x96\x91 idle %p",
        "awake in waits %p"
    };
    uint64_t asleep_ns = t->asleep_ns, awake_ns = t->idle_ns - asleep_ns;
    const uint64_t figures[] = { t->busy_ns, t->elapsed_ns, t->uninstrumented_ns, t->elapsed_ns,
                                 asleep_ns, t->elapsed_ns, awake_ns, t->elapsed_ns };
    chroprof__print(g, CHROPROF__BOLD "elapsed %t" CHROPROF__PLAIN, &t->elapsed_ns);
    for (uint32_t k = 0; k < (awake_ns > t->elapsed_ns / 200 ? 4u : 3u); k++)
        chroprof__show_item(g, "  ", 0, NULL, parts[k], figures + 2 * k);
    chroprof__newline(g);
    if (t->elapsed_ns == 0)
        return;
    while (g->column < g->width)
        chroprof__glyph(g, g->column < busy_end ? 0x2588 : g->column < loop_end ? 0x2592 : 0x2591);
    chroprof__newline(g);
}

/* figures: how many there were, then p50, p99 and maximum of their lengths. */
static void chroprof__text_spread(chroprof__page *g, const char *label, uint64_t *figures)
{
    if (g->options.max_histograms == 0)
        figures[1] = figures[2] = CHROPROF__NO_FIGURE;
    chroprof__show(g, label);
    chroprof__print(g, figures[0] > 0 ? "%8c %8t %8t %8t\n" : "%8c\n", figures);
}

/* What the profile itself cost is a measured cost an event, times the events. */
static void chroprof__text_counts(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    uint64_t iterations[] = { t->iterations, t->iteration_p50_ns, t->iteration_p99_ns,
                              t->iteration_max_ns };
    uint64_t callbacks[] = { t->callbacks, t->callback_p50_ns, t->callback_p99_ns,
                             t->callback_max_ns };
    uint64_t cost_ps = chroprof__event_cost_ps(g->p);
    uint64_t cost_ns = t->events / 1000 * cost_ps + t->events % 1000 * cost_ps / 1000;
    const uint64_t at_once[] = { t->at_once, t->at_once_ns };
    const uint64_t events[] = { t->events, chroprof__round(cost_ps, 100), cost_ns, cost_ns,
                                t->elapsed_ns };
    if (!t->estimated) {                    /* nobody counted them */
        chroprof__blank_to(g, 24);
        chroprof__print(g, CHROPROF__DIM "   count      p50      p99      max\n", NULL);
        chroprof__text_spread(g, "loop iterations         ", iterations);
        chroprof__text_spread(g, "callbacks               ", callbacks);
    }
    if (t->hidden_p99_ns >= 1000 && !t->estimated)
        chroprof__print(g, "hidden delay            %8t " CHROPROF__FLOW "on average, p99 %t: an "
                           "estimate of how long data waits for the poll\n", &t->hidden_ns);
    chroprof__print(g, "live futures            %8c\n", &t->live);
    if (t->delay_ns > 0)
        chroprof__print(g, "delay                   %8k " CHROPROF__FLOW
                        "task-seconds: ready, but not running\n", &t->delay_ns);
    if (t->at_once_ns > t->elapsed_ns / 100)
        chroprof__print(g, "waits that return       %8c %8t of idle: at once, without sleep\n",
                        at_once);
    if (t->start_ns >= 1000000)
        chroprof__print(g, "start                            %8t uninstrumented\n", &t->start_ns);
    if (t->exit_ns >= 1000000)
        chroprof__print(g, "exit                             %8t uninstrumented\n", &t->exit_ns);
    chroprof__print(g, cost_ps > 0 ? "events                  %8c " CHROPROF__FLOW
                                     "cost %fns each: %t, %h of elapsed\n"
                                   : "events                  %8c\n", events);
}

/* Year, month, day, hour, minute and second, by counting days from a first of March. */
static void chroprof__calendar(uint64_t unix_ns, uint64_t out[6])
{
    uint64_t minutes = unix_ns / 60000000000u, days = minutes / 1440 + 719468;
    uint64_t day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    uint64_t month = (5 * day + 2) / 153;
    out[0] = year + days / 146097 * 400 + (month >= 10 ? 1 : 0);
    out[1] = month < 10 ? month + 3 : month - 9;
    out[2] = day - (153 * month + 2) / 5 + 1;
    out[3] = minutes / 60 % 24;
    out[4] = minutes % 60;
    out[5] = unix_ns / 1000000000u % 60;
}

/* When it began, and in what state it is if that is not the usual one. */
static void chroprof__text_state(chroprof__page *g)
{
    const chroprof_totals *t = &g->totals;
    const uint64_t skew[] = { t->skew_ns, t->skew_events };
    const char *why = chroprof_why_off(g->p);
    uint64_t date[6];
    chroprof__calendar(t->start_unix_ns, date);
    if (t->start_unix_ns > 0)
        chroprof__print(g, "started %d-%z-%z %z:%z:%z UTC\n", date);
    if (t->estimated)
        chroprof__print(g, CHROPROF__FLOW "taken from outside: all times are estimates from "
                                          "samples\n", NULL);
    if (t->skew_events > 0)
        chroprof__print(g, CHROPROF__WARM CHROPROF__FLOW
                        "snapshot of a busy program: maximum skew %t, %c events\n", skew);
    if (t->doubt_events > 0)
        chroprof__print(g, CHROPROF__WARM CHROPROF__FLOW "the program stopped inside an event: %t "
                        "may be charged to the wrong task\n", &t->doubt_ns);
    if (t->provisional)
        chroprof__print(g, CHROPROF__WARM "provisional: the clock is not calibrated yet\n", NULL);
    if (*why != 0 && !g->p->view) {
        chroprof__print(g, CHROPROF__WARM "no events are taken:\n" CHROPROF__WARM, NULL);
        (void)chroprof__flow(g, why, 0);
        chroprof__newline(g);
    }
}

/* >>text tables: what SITES and PATHS share. Columns are data; rows that are no sites or paths make
 * every column that adds up do so on the page. */

enum { CHROPROF__COLUMNS = 13, CHROPROF__NEVER = 255, CHROPROF__ESTIMATE = 11 };
enum { CHROPROF__ALONE, CHROPROF__ADDS, CHROPROF__OF_DELAY, CHROPROF__SAMPLED };

/* A column is there from a width of the page on, and wherever it is the order. Those of CPU time
 * take their room from others. */
typedef struct chroprof__column {
    char above[6], title[10];
    char figure[4];            /* as chroprof__say takes it, its width included */
    uint8_t from[2];           /* without samples, with them */
    uint8_t kind;              /* ADDS: rows add up; OF_DELAY: and it is there if there was delay;
                                  SAMPLED: a time and, behind it in the row, its error */
    uint16_t offset;           /* in chroprof__shown_site or chroprof_path */
} chroprof__column;

typedef struct chroprof__grid {
    const chroprof__column *fields;
    uint32_t count;
    uint16_t order;            /* the offset of the column that rows go by */
    uint32_t figures_at, bar;  /* columns of the page */
    uint32_t exec, blame;      /* the columns of these; blame: beyond the last for none */
    uint64_t longest_ns;       /* that the longest bar stands for */
    uint64_t rows_left;        /* sites or paths that are not shown */
    uint64_t left[CHROPROF__COLUMNS];      /* their figures */
    uint64_t sum[CHROPROF__COLUMNS];       /* of the rows that are */
} chroprof__grid;

static uint32_t chroprof__column_width(const chroprof__column *c)
{
    uint32_t figure = (uint32_t)(c->figure[1] - '0');
    return c->kind == CHROPROF__SAMPLED ? (uint32_t)CHROPROF__ESTIMATE : figure;
}

/* A time to the place where its error begins, and that error in one digit, or in two up to 14, in
 * 10 columns at most: longer ones are told coarser. */
static void chroprof__show_estimate(chroprof__page *g, const uint64_t *figures)
{
    const chroprof__unit *u = chroprof__times;
    uint32_t decimals, zeros = 0, digits, wide;
    uint64_t step = chroprof__step_of(figures[0], &u, &decimals), error;
    chroprof__phrase s;
    s.used = 0;
    digits = figures[0] / 100 >= u->size ? 3 : figures[0] / 10 >= u->size ? 2 : 1;
    wide = digits + chroprof__columns_of(u->name) + 1;      /* without decimals */
    for (; (error = chroprof__round(figures[1], step)) > 14 ||
           (decimals > 0 && wide + 2 * decimals + 2 > 10); step *= 10)
        if (decimals > 0)
            decimals--;
        else
            zeros++;
    error = error > 0 ? error : 1;
    for (uint32_t k = 0; k < 2; k++) {
        chroprof__say_text(&s, k == 0 ? "" : "\xC2\xB1");
        chroprof__say_fixed(&s, k == 0 ? chroprof__round(figures[0], step) : error, decimals,
                            decimals + 1);
        chroprof__say_text(&s, zeros == 0 ? "" : zeros == 1 ? "0" : "00");
    }
    chroprof__say_text(&s, u->name + 1);
    chroprof__show_right(g, s.text, CHROPROF__ESTIMATE);
}

static void chroprof__grid_figure(chroprof__page *g, const chroprof__column *c, const void *row)
{
    const uint64_t *figures = chroprof__field(row, c->offset);
    if (c->kind != CHROPROF__SAMPLED)
        chroprof__print(g, c->figure, figures);
    else if (*figures == CHROPROF__NO_FIGURE)
        chroprof__show_right(g, "-", CHROPROF__ESTIMATE);
    else
        chroprof__show_estimate(g, figures);
}

static bool chroprof__column_shown(const chroprof__page *g, const chroprof__grid *grid,
                                   const chroprof__column *c)
{
    return c->offset == grid->order || (g->width >= c->from[g->sampled] &&
           (c->kind != CHROPROF__OF_DELAY || g->totals.delay_ns > 0));
}

/* Figures stand at the right end of the page, after a share and its bar. */
static void chroprof__grid_setup(const chroprof__page *g, chroprof__grid *grid,
                                 const chroprof__column *fields, size_t count, uint16_t order,
                                 uint32_t bar_from)
{
    memset(grid, 0, sizeof *grid);
    grid->fields = fields;
    grid->count = (uint32_t)count;
    grid->order = order;
    grid->bar = g->width < bar_from ? 0 : g->width < 120 ? 10 : 10 + (g->width - 120) / 8;
    grid->figures_at = g->width - 7 - grid->bar;
    for (size_t k = 0; k < count; k++)
        if (chroprof__column_shown(g, grid, fields + k))
            grid->figures_at -= chroprof__column_width(fields + k);
}

/* Two lines, each with what stands at its begin. */
static void chroprof__grid_head(chroprof__page *g, const chroprof__grid *grid, const char *first,
                                const char *second)
{
    for (uint32_t line = 0; line < 2; line++) {
        chroprof__style(g, CHROPROF__DIM);
        chroprof__show(g, line == 0 ? first : second);
        chroprof__blank_to(g, grid->figures_at);
        chroprof__show_right(g, line == 0 ? "share" : "of loop", 7);
        g->blanks += grid->bar;
        for (const chroprof__column *c = grid->fields; c < grid->fields + grid->count; c++)
            if (chroprof__column_shown(g, grid, c))
                chroprof__show_right(g, line == 0 ? c->above : c->title,
                                     chroprof__column_width(c));
        chroprof__newline(g);
    }
}

/* What a row adds to the sum of a column. */
static uint64_t chroprof__grid_known(const chroprof__grid *grid, uint32_t k, const void *row)
{
    uint64_t value = *chroprof__field(row, grid->fields[k].offset);
    return value != CHROPROF__NO_FIGURE ? value : 0;
}

/* A site or path that is there, whether it will be shown or not. */
static void chroprof__grid_count(chroprof__grid *grid, const void *row)
{
    for (uint32_t k = 0; k < grid->count; k++)
        grid->left[k] += chroprof__grid_known(grid, k, row);
    grid->rows_left++;
}

/* Two blanks and a bar, in eighths of a column or, in ASCII, in whole ones. */
static void chroprof__grid_bar(chroprof__page *g, const chroprof__grid *grid, uint64_t ns)
{
    uint32_t end = g->column + g->blanks + grid->bar, width = grid->bar > 0 ? grid->bar - 2 : 0;
    uint64_t eighths = chroprof__portion(width * 8u, ns, grid->longest_ns);
    if (width == 0)
        return;
    if (g->look.ascii)
        eighths = (eighths + 4) / 8 * 8;
    else if (eighths == 0 && ns > 0)
        eighths = 1;
    for (g->blanks += 2; eighths >= 8; eighths -= 8)
        chroprof__glyph(g, 0x2588);
    if (eighths > 0)
        chroprof__glyph(g, 0x2590 - (uint32_t)eighths);
    chroprof__blank_to(g, end);
}

/* The figures of a site or path, behind its name: the share of ns first, colored by heat. */
static void chroprof__grid_row(chroprof__page *g, chroprof__grid *grid, uint64_t ns,
                               const void *row)
{
    const uint64_t share[] = { ns, g->totals.elapsed_ns };
    uint64_t heat = chroprof__portion(100, ns, g->totals.elapsed_ns);
    chroprof__blank_to(g, grid->figures_at);
    chroprof__style(g, heat >= 25 ? CHROPROF__HOT : heat >= 10 ? CHROPROF__WARM : CHROPROF__PLAIN);
    chroprof__print(g, "%7p", share);
    chroprof__grid_bar(g, grid, ns);
    chroprof__style(g, CHROPROF__PLAIN);
    for (uint32_t k = 0; k < grid->count; k++) {
        if (chroprof__column_shown(g, grid, grid->fields + k))
            chroprof__grid_figure(g, grid->fields + k, row);
        grid->left[k] -= chroprof__grid_known(grid, k, row);
        grid->sum[k] += chroprof__grid_known(grid, k, row);
    }
    grid->rows_left--;
    chroprof__newline(g);
}

/* A row that is no site or path, and then part of the sum: only what adds up and is not zero. */
static void chroprof__grid_extra(chroprof__page *g, chroprof__grid *grid, const char *label,
                                 const uint64_t *values)
{
    const uint64_t share[] = { values[grid->exec], g->totals.elapsed_ns };
    chroprof__style(g, CHROPROF__DIM);
    chroprof__print(g, label, &grid->rows_left);
    chroprof__blank_to(g, grid->figures_at + (grid->blame < grid->count ? 0 : 7));
    if (grid->blame < grid->count)          /* the shares of sites add up, those of paths do not */
        chroprof__print(g, "%7p", share);
    g->blanks += grid->bar;
    for (uint32_t k = 0; k < grid->count; k++) {
        const chroprof__column *c = grid->fields + k;
        bool shown = chroprof__column_shown(g, grid, c);
        bool adds = c->kind == CHROPROF__ADDS || c->kind == CHROPROF__OF_DELAY;
        if (shown && adds && values[k] > 0)
            chroprof__print(g, c->figure, values + k);
        else
            g->blanks += shown ? chroprof__column_width(c) : 0;
        grid->sum[k] += values[k];
    }
    chroprof__newline(g);
}

static void chroprof__grid_other(chroprof__page *g, chroprof__grid *grid, const char *label,
                                 uint64_t exec_ns, uint64_t blame_ns)
{
    uint64_t values[CHROPROF__COLUMNS + 1];
    memset(values, 0, sizeof values);
    values[grid->exec] = exec_ns;
    values[grid->blame] = blame_ns;
    if (exec_ns > 0 || blame_ns > 0)
        chroprof__grid_extra(g, grid, label, values);
}

/* >>text sites */

enum { CHROPROF__TEXT_ROWS = 40 };

#define CHROPROF__R(field) (uint16_t)offsetof(chroprof_rank, field)

/* A row of SITES: a site as it is shown. */
typedef struct chroprof__shown_site {
    chroprof_rank rank;        /* first, so that columns find its figures */
    uint64_t cpu[2], off_cpu[2];   /* each with its error */
    uint64_t hidden_ns;        /* mean, an estimate */
} chroprof__shown_site;

static const chroprof__column chroprof__site_columns[] = {
    { "", "exec", "%8t", { 60, 60 }, CHROPROF__ADDS, CHROPROF__R(exec_ns) },
    { "", "CPU", "", { CHROPROF__NEVER, 60 }, CHROPROF__SAMPLED,
      (uint16_t)offsetof(chroprof__shown_site, cpu) },
    { "", "off CPU", "", { CHROPROF__NEVER, 72 }, CHROPROF__SAMPLED,
      (uint16_t)offsetof(chroprof__shown_site, off_cpu) },
    { "with", "children", "%9t", { 120, 120 }, CHROPROF__ALONE, CHROPROF__R(with_children_ns) },
    { "slice", "p99", "%8t", { 72, 104 }, CHROPROF__ALONE, CHROPROF__R(slice_p99_ns) },
    { "slice", "max", "%8t", { 60, 60 }, CHROPROF__ALONE, CHROPROF__R(slice_max_ns) },
    { "", "slices", "%7c", { 120, 144 }, CHROPROF__ADDS, CHROPROF__R(slices) },
    { "", "calls", "%7c", { 130, 154 }, CHROPROF__ADDS, CHROPROF__R(calls) },
    { "", "lifetime", "%9t", { 120, 144 }, CHROPROF__ADDS, CHROPROF__R(lifetime_ns) },
    { "", "waiting", "%8t", { 120, 128 }, CHROPROF__ADDS, CHROPROF__R(waiting_ns) },
    { "", "delay", "%8t", { 120, 128 }, CHROPROF__OF_DELAY, CHROPROF__R(delay_ns) },
    { "~mean", "hidden", "%8t", { 140, 164 }, CHROPROF__ALONE,
      (uint16_t)offsetof(chroprof__shown_site, hidden_ns) },
    { "", "blame", "%8t", { 72, 80 }, CHROPROF__OF_DELAY, CHROPROF__R(blame_ns) }
};

/* The ranked sites and how names and places share what the figures leave. */
typedef struct chroprof__ranking {
    chroprof__grid grid;
    uint32_t count;
    uint32_t name_width, location_width;
    chroprof_rank rows[CHROPROF__TEXT_ROWS];
} chroprof__ranking;

/* A part of exec that samples tell, and its error: they are as many as the root of their number
 * allows. What is not more than twice the error is no figure. */
static void chroprof__judge_part(uint64_t *figures, uint64_t part, uint64_t exec, uint64_t samples)
{
    uint64_t root = chroprof__root(samples < UINT32_MAX ? samples << 20 : UINT64_MAX);
    figures[1] = root > 1024 ? chroprof__weigh(exec, 1024, root) : exec;
    figures[0] = part > 2 * figures[1] ? part : CHROPROF__NO_FIGURE;
}

/* Eight samples know a share within a third. They may have met a site more often than they should,
 * but it had no more CPU time than exec. By the clock a sample has the CPU time since the one
 * before, which is the site's own only where its slices are longer than the period. */
static chroprof__shown_site chroprof__judge_site(const chroprof__page *g, const chroprof_rank *rank)
{
    uint64_t samples = g->period_ns > 0 ? rank->exec_ns / g->period_ns : rank->samples;
    bool known = samples >= 8 && (!g->by_clock || samples / 4 >= rank->slices);
    uint64_t off_cpu_ns = chroprof__minus(rank->exec_ns, rank->cpu_ns);
    chroprof__shown_site row;
    row.rank = *rank;
    chroprof__judge_part(row.cpu, rank->exec_ns - off_cpu_ns, rank->exec_ns, known ? samples : 0);
    chroprof__judge_part(row.off_cpu, off_cpu_ns, rank->exec_ns, known ? samples : 0);
    row.hidden_ns = rank->found && g->totals.iterations ? rank->hidden_total_ns / rank->found
                                                        : CHROPROF__NO_FIGURE;
    if (!rank->has_percentiles)
        row.rank.slice_p99_ns = CHROPROF__NO_FIGURE;
    return row;
}

/* A place gets at most two fifths, or what the names leave. */
static void chroprof__ranking_read(const chroprof__page *g, chroprof__ranking *r)
{
    size_t all = chroprof_ranks(g->p, r->rows, g->top, g->by);
    uint64_t cursor = 0;
    chroprof_rank rank;
    chroprof__grid_setup(g, &r->grid, CHROPROF__ALL(chroprof__site_columns),
                         chroprof__order_at(g->by), g->sampled ? 104 : 72);
    r->grid.blame = r->grid.count - 1;
    r->count = all < g->top ? (uint32_t)all : g->top;
    while (chroprof_next_rank(g->p, &cursor, &rank)) {
        const chroprof__shown_site row = chroprof__judge_site(g, &rank);
        chroprof__grid_count(&r->grid, &row);
        chroprof__raise(&r->grid.longest_ns, rank.exec_ns);
    }
    uint32_t room = r->grid.figures_at - 2, name = 16, place = 0;
    for (const chroprof_rank *row = r->rows; row < r->rows + r->count; row++) {
        uint32_t wide = chroprof__columns_of(row->name);
        uint32_t location = chroprof__location_width(row->file, row->line);
        name = wide > name ? wide : name;
        place = location > place ? location : place;
    }
    place = place < room * 2 / 5 ? place : room * 2 / 5;
    r->name_width = name + place < room ? name : room - place;
    r->location_width = place > 5 ? room - r->name_width : 0;
}

static void chroprof__cpu_legend(chroprof__page *g)
{
    static const char every[] = CHROPROF__DIM CHROPROF__FLOW
        "CPU: estimated from a sample every %t; \xC2\xB1: the root of their number; -: too few, or "
        "below twice that.";
    static const char other[] = CHROPROF__DIM CHROPROF__FLOW
        "CPU: estimated from samples; \xC2\xB1: the root of their number; -: too few, or below "
        "twice that.";
    chroprof__print(g, g->period_ns > 0 ? every : other, &g->period_ns);
    if (g->width >= 72)
        (void)chroprof__flow(g, " off CPU: the rest of exec, in which the task waited, was "
                             "preempted or was not sampled.", 0);
    chroprof__newline(g);
}

CHROPROF__NOINLINE void chroprof__text_sites(chroprof__page *g)
{
    static const char orders[6][17] = {
        "by exec", "by with children", "by slice max", "by blame", "by delay", "by calls"
    };
    const chroprof_totals *t = &g->totals;
    chroprof__ranking r;
    chroprof__ranking_read(g, &r);
    chroprof__print(g, CHROPROF__HEADING("SITES"), NULL);
    if (r.count == 0) {
        chroprof__print(g, "none was used yet\n", NULL);
        return;
    }
    chroprof__grid_head(g, &r.grid, orders[g->by], "site");
    for (const chroprof_rank *rank = r.rows; rank < r.rows + r.count; rank++) {
        const chroprof__shown_site row = chroprof__judge_site(g, rank);
        chroprof__show_name(g, rank->name, r.name_width);
        if (r.location_width > 0) {
            chroprof__blank_to(g, r.name_width + 2);
            chroprof__show_location(g, rank->file, rank->line, r.location_width);
        }
        chroprof__grid_row(g, &r.grid, rank->exec_ns, &row);
    }
    if (r.grid.rows_left > 0)
        chroprof__grid_extra(g, &r.grid, r.grid.rows_left == 1 ? "%c more site" : "%c more sites",
                             r.grid.left);
    chroprof__grid_other(g, &r.grid, "(untracked)", t->untracked_ns, t->untracked_blame_ns);
    chroprof__grid_other(g, &r.grid, "(uninstrumented)", t->uninstrumented_ns,
                         t->uninstrumented_blame_ns);
    uint64_t asleep_ns = t->asleep_ns;
    if (t->idle_ns - asleep_ns > t->elapsed_ns / 200)
        chroprof__grid_other(g, &r.grid, "(idle, awake)", t->idle_ns - asleep_ns, 0);
    else
        asleep_ns = t->idle_ns;
    chroprof__grid_other(g, &r.grid, "(idle)", asleep_ns, t->idle_blame_ns);
    chroprof__grid_extra(g, &r.grid, "total", r.grid.sum);
    if (g->sampled)
        chroprof__cpu_legend(g);
}

/* >>text latency */

enum { CHROPROF__TEXT_LATENCIES = 10 };

/* The sites whose finished futures took longest. */
CHROPROF__NOINLINE void chroprof__text_latency(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_LATENCIES, chroprof_rank, latency_p99_ns);
    chroprof_rank rows[CHROPROF__TEXT_LATENCIES], rank;
    uint64_t cursor = 0, left = 0;
    uint32_t count = 0, figures_at = (g->width < 100 ? g->width : 100) - 33;
    while (chroprof_next_rank(g->p, &cursor, &rank)) {
        if (rank.latency_max_ns == 0)
            continue;
        count = chroprof__keep_largest(&by, rows, count, &rank);
        left++;
    }
    if (count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("LATENCY")
                    "of futures that finished, from their creation\n" CHROPROF__DIM "site", NULL);
    chroprof__blank_to(g, figures_at);
    chroprof__print(g, " finished     p50     p99     max\n", NULL);
    for (const chroprof_rank *r = rows; r < rows + count; r++, left--) {
        const uint64_t figures[] = { r->completed + r->failed + r->cancelled, r->latency_p50_ns,
                                     r->latency_p99_ns, r->latency_max_ns };
        chroprof__show_placed(g, r->name, r->file, r->line, figures_at - 1);
        chroprof__blank_to(g, figures_at);
        chroprof__print(g, "%9c%8t%8t%8t\n", figures);
    }
    if (left > 0)
        chroprof__print(g, left == 1 ? CHROPROF__DIM "%c more site with a lower p99\n"
                                     : CHROPROF__DIM "%c more sites with a lower p99\n", &left);
}

#undef CHROPROF__R

/* >>text paths */

enum { CHROPROF__TWIGS = 24 };

#define CHROPROF__P(field) (uint16_t)offsetof(chroprof_path, field)

static const chroprof__column chroprof__path_columns[] = {
    { "with", "children", "%9t", { 60, 60 }, CHROPROF__ALONE, CHROPROF__P(with_children_ns) },
    { "", "exec", "%8t", { 60, 60 }, CHROPROF__ADDS, CHROPROF__P(exec_ns) },
    { "", "calls", "%7c", { 72, 72 }, CHROPROF__ADDS, CHROPROF__P(calls) },
    { "slice", "max", "%8t", { 120, 120 }, CHROPROF__ALONE, CHROPROF__P(slice_max_ns) },
    { "", "waiting", "%8t", { 120, 120 }, CHROPROF__ADDS, CHROPROF__P(waiting_ns) }
};

/* The hottest paths with all their ancestors, the hottest first: a path never has less time with
 * children than one below it and comes before it, so the largest ones always form a tree. */
typedef struct chroprof__tree {
    chroprof__grid grid;
    uint32_t count;
    chroprof_path twigs[CHROPROF__TWIGS];
    bool drawn[CHROPROF__TWIGS];
    uint32_t above[CHROPROF__TWIGS + 1];            /* the paths on the way to the last drawn */
    chroprof_path fullest;                          /* with the most live futures */
} chroprof__tree;

static void chroprof__tree_read(const chroprof__page *g, chroprof__tree *t)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TWIGS, chroprof_path, with_children_ns);
    uint64_t cursor = 0;
    chroprof_path path;
    memset(t, 0, sizeof *t);
    chroprof__grid_setup(g, &t->grid, CHROPROF__ALL(chroprof__path_columns), CHROPROF__NOT_THERE,
                         72);
    t->grid.longest_ns = g->totals.elapsed_ns;
    t->grid.exec = 1;
    t->grid.blame = CHROPROF__COLUMNS;
    while (chroprof_next_path(g->p, &cursor, &path)) {
        chroprof__grid_count(&t->grid, &path);
        if (path.live > t->fullest.live)
            t->fullest = path;
        if (path.with_children_ns > 0 && path.with_children_ns >= g->totals.busy_ns / 100)
            t->count = chroprof__keep_largest(&by, t->twigs, t->count, &path);
    }
}

/* The hottest twig below a parent that is not drawn yet; the count: none. */
static uint32_t chroprof__tree_next(const chroprof__tree *t, uint32_t parent)
{
    uint32_t k = 0;
    while (k < t->count && (t->twigs[k].parent != parent || t->drawn[k]))
        k++;
    return k;
}

#undef CHROPROF__P

/* The lines that lead to a twig, dotted at the end where it was created and not called. Of a very
 * deep one the lines nearest the root are left out. */
static void chroprof__tree_lines(chroprof__page *g, const chroprof__tree *t, uint32_t depth,
                                 bool called)
{
    uint32_t most = (t->grid.figures_at - 16) / 3, d = 1;
    if (depth == 0)
        return;
    chroprof__style(g, CHROPROF__DIM);
    if (depth > most) {
        d = depth - most + 2;
        chroprof__glyph(g, 0x2026);
        g->blanks += 2;
    }
    for (; d < depth; d++) {
        chroprof__show_code(g, chroprof__tree_next(t, t->above[d]) < t->count ? 0x2502 : ' ');
        g->blanks += 2;
    }
    chroprof__glyph(g, chroprof__tree_next(t, t->above[depth]) < t->count ? 0x251C : 0x2514);
    chroprof__glyph(g, called ? 0x2500 : 0x2504);
    g->blanks++;
    chroprof__style(g, CHROPROF__PLAIN);
}

/* Depth first, the hottest first. */
static void chroprof__tree_show(chroprof__page *g, chroprof__tree *t)
{
    uint32_t depth = 0;
    for (;;) {
        uint32_t twig = chroprof__tree_next(t, t->above[depth]);
        if (twig == t->count && depth-- == 0)
            return;
        if (twig == t->count)
            continue;
        const chroprof_path *path = &t->twigs[twig];
        bool called = path->entered > 0 && path->entered * 2 >= path->completed;
        t->drawn[twig] = true;
        chroprof__tree_lines(g, t, depth, called);
        chroprof__show_placed(g, path->name, path->file, path->line, t->grid.figures_at);
        chroprof__grid_row(g, &t->grid, path->with_children_ns, path);
        t->above[++depth] = path->id;
    }
}

/* The path of most live futures, which may leak, has its row, however little time it took. */
static void chroprof__tree_fullest(chroprof__page *g, chroprof__tree *t)
{
    const chroprof_path *path = &t->fullest;
    if (path->live < 8 || path->live * 2 < g->totals.live)
        return;
    for (uint32_t k = 0; k < t->count; k++)
        if (t->twigs[k].id == path->id && t->drawn[k])
            return;
    chroprof__style(g, CHROPROF__DIM);
    if (path->parent > 0)
        chroprof__glyph(g, 0x2026);
    g->blanks += path->parent > 0;
    chroprof__style(g, CHROPROF__PLAIN);
    chroprof__show_placed(g, path->name, path->file, path->line, t->grid.figures_at);
    chroprof__grid_row(g, &t->grid, path->with_children_ns, path);
}

CHROPROF__NOINLINE void chroprof__text_paths(chroprof__page *g)
{
    chroprof__tree t;
    chroprof__tree_read(g, &t);
    if (t.count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("PATHS"), NULL);
    chroprof__grid_head(g, &t.grid, "", "\xE2\x94\x80 called by   \xE2\x94\x84 created by");
    chroprof__tree_show(g, &t);
    chroprof__tree_fullest(g, &t);
    if (t.grid.rows_left > 0)
        chroprof__grid_extra(g, &t.grid, t.grid.rows_left == 1 ? "%c more path" : "%c more paths",
                             t.grid.left);
    chroprof__grid_other(g, &t.grid, "(untracked)", g->totals.untracked_ns, 0);
    chroprof__grid_extra(g, &t.grid, "total: busy", t.grid.sum);
}

/* >>text stalls */

enum { CHROPROF__TEXT_STALLS = 8 };

/* Who took so much of a whole. */
static void chroprof__show_taker(chroprof__page *g, const char *before, uint32_t indent,
                                 uint32_t site, const char *name, uint64_t part_ns,
                                 uint64_t whole_ns)
{
    const uint64_t part[] = { part_ns, whole_ns };
    chroprof__show_item(g, before, indent, site != 0 ? name : "(uninstrumented)", " %w", part);
}

/* Who took how much of a stall; what rounds to nothing is with the others. */
static void chroprof__stall_takers(chroprof__page *g, const chroprof_stall *s)
{
    uint64_t left[] = { s->length_ns, s->length_ns };
    const char *before = "";
    uint32_t indent = g->column + g->blanks;
    for (uint32_t i = 0; i < s->share_count && s->shares[i].exec_ns > s->length_ns / 200; i++) {
        const chroprof_stall_share *x = &s->shares[i];
        chroprof__show_taker(g, before, indent, x->site, x->name, x->exec_ns, s->length_ns);
        left[0] = chroprof__minus(left[0], x->exec_ns);
        before = ",";
    }
    if (left[0] > 0)
        chroprof__show_item(g, before, indent, NULL, "others %w", left);
    chroprof__newline(g);
}

/* The functions that have a name, innermost first, as many as fit; else the module. */
static void chroprof__stack_names(chroprof__page *g, uint32_t stack)
{
    chroprof_stack_frame frames[16];
    size_t count = chroprof_stack(g->p, stack, frames, 16);
    const char *module = "";
    uint32_t shown = 0;
    for (size_t k = 0; k < count && k < 16 && shown < 4; k++) {
        module = *module == 0 ? frames[k].module : module;
        if (frames[k].kind == CHROPROF_FRAME_TASK || *frames[k].name == 0)
            continue;
        chroprof__show(g, shown++ > 0 ? " < " : "");
        chroprof__show_name(g, frames[k].name, chroprof__room(g, 0));
    }
    if (shown == 0) {
        chroprof__show_name(g, *module != 0 ? chroprof__base_name(module) : "unknown code", 24);
        chroprof__show(g, " (chroprof symbolize names the function)");
    }
    chroprof__newline(g);
}

/* What the sampler saw of a stall; of a view the command names the functions. */
static void chroprof__stall_places(chroprof__page *g, const chroprof_stall *s)
{
    const uint64_t unseen = chroprof__minus(s->length_ns, s->cpu_ns + s->waiting_ns);
    const uint64_t parts[] = { s->cpu_ns, s->length_ns, s->waiting_ns, s->length_ns,
                               unseen, s->length_ns };
    if (s->cpu_ns + s->waiting_ns > 0)
        chroprof__print(g, unseen > 0 ? "         " CHROPROF__FLOW
                                        "%p CPU, %p waiting or preempted, %p not sampled\n"
                                      : "         %p CPU, %p waiting or preempted\n", parts);
    for (uint32_t i = 0; i < s->sample_count && i < 2 && !g->p->view; i++) {
        const uint64_t part[] = { s->samples[i].weight, s->sampled };
        chroprof__print(g, "         %p in ", part);
        chroprof__stack_names(g, s->samples[i].stack);
    }
}

/* What ran in a stall, as it is being told. */
typedef struct chroprof__ranked_by {
    chroprof__page *g;
    uint64_t least_ns;         /* what took less is told together with its like */
    bool begun;
    const char *name;          /* of what runs */
    uint64_t ns, slices;       /* of it, in a row */
    uint64_t brief_ns, briefs; /* what was too short to be named */
    uint64_t left_ns, left;    /* steps left out in pieces that are too short */
} chroprof__ranked_by;

static void chroprof__order_item(chroprof__ranked_by *o, const char *name, const char *text,
                                 const uint64_t *figures)
{
    if (!o->begun)
        chroprof__show(o->g, "         in order: ");
    chroprof__show_item(o->g, o->begun ? "," : "", 9, name, text, figures);
    o->begun = true;
}

static void chroprof__order_briefs(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->briefs, o->brief_ns };
    if (o->briefs > 0)
        chroprof__order_item(o, NULL, o->briefs == 1 ? "%c short slice %t" : "%c short slices %t",
                             figures);
    o->briefs = o->brief_ns = 0;
}

/* Something else runs now. */
static void chroprof__order_end(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->slices, o->ns };
    if (o->ns < o->least_ns || o->ns == 0) {
        o->briefs += o->slices;
        o->brief_ns += o->ns;
    } else {
        chroprof__order_briefs(o);
        chroprof__order_item(o, o->name, o->slices > 1 ? " x%c %t" : " %t",
                             figures + (o->slices <= 1));
    }
    o->ns = o->slices = 0;
}

/* The interval between two steps. */
static void chroprof__order_add(chroprof__ranked_by *o, const chroprof_step *from,
                                const chroprof_step *to)
{
    bool begins = from->state == CHROPROF_RUNNING || from->state == CHROPROF_SWITCH ||
                  from->state == CHROPROF_ENTER || from->state == CHROPROF_NEXT;
    const char *name = chroprof__path_word(o->g->p, to->path);
    uint64_t ns = to->at_ns - from->at_ns;
    if (to->path == 0 && ns < o->least_ns)  /* a breath between two tasks */
        return;
    if (name != o->name)
        chroprof__order_end(o);
    o->name = name;
    o->ns += ns;
    o->slices += begins && to->path >= 3;
}

/* Steps are left out here. What is too short to be told here is told in the end. */
static void chroprof__order_gap(chroprof__ranked_by *o, uint64_t steps, uint64_t ns)
{
    const uint64_t figures[] = { steps, ns };
    if (ns < o->least_ns) {
        o->left += steps;
        o->left_ns += ns;
        return;
    }
    chroprof__order_end(o);
    chroprof__order_briefs(o);
    chroprof__order_item(o, NULL, steps == 1 ? "%c step left out (%t)" : "%c steps left out (%t)",
                         figures);
}

static void chroprof__order_done(chroprof__ranked_by *o)
{
    const uint64_t figures[] = { o->left, o->left_ns };
    chroprof__order_end(o);
    chroprof__order_briefs(o);
    if (o->left > 0)
        chroprof__order_item(o, NULL, o->left == 1 ? "%c step left out between them (%t)"
                                                   : "%c steps left out between them (%t)",
                             figures);
    if (o->begun)
        chroprof__newline(o->g);
}

/* What ran, one after the other. */
static void chroprof__stall_order(chroprof__page *g, const chroprof_stall *s)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t count = chroprof_incident(g->p, s->number, steps, CHROPROF_INCIDENT_STEPS);
    chroprof__ranked_by o = { g, s->length_ns / 100, false, NULL, 0, 0, 0, 0, 0, 0 };
    if (s->shares[0].exec_ns >= s->length_ns - 5 * o.least_ns && s->shares[0].slices <= 1)
        return;                             /* one slice, which has been said */
    for (size_t i = 0; i < count; i++) {
        uint64_t from = i > 0 ? steps[i - 1].at_ns : s->start_ns;
        if (steps[i].left_out > 0)
            chroprof__order_gap(&o, steps[i].left_out, steps[i].at_ns - from);
        else if (i > 0 && from >= s->start_ns)
            chroprof__order_add(&o, &steps[i - 1], &steps[i]);
    }
    chroprof__order_done(&o);
}

/* By the calendar, where there is room and it is known. */
static bool chroprof__stall_clock(chroprof__page *g, uint64_t at_ns)
{
    uint64_t date[6];
    if (g->width < 72 || g->totals.start_unix_ns == 0)
        return false;
    chroprof__calendar(g->totals.start_unix_ns + at_ns, date);
    chroprof__print(g, " %z:%z:%z", date + 3);
    return true;
}

/* Does it begin inside the other one, or with it and is a part of it? */
static bool chroprof__begins_in(const chroprof_stall *s, const chroprof_stall *other)
{
    return s->start_ns == other->start_ns ? s->length_ns < other->length_ns
                                          : s->start_ns > other->start_ns;
}

/* Which of them happened in the one: bit k. Its own steps tell, for those of merged profiles only
 * happened at one time. */
static uint32_t chroprof__stalls_inside(const chroprof__page *g, const chroprof_stall *all,
                                        uint32_t count, uint32_t one)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t known = chroprof_incident(g->p, all[one].number, steps, CHROPROF_INCIDENT_STEPS);
    uint32_t inside = 0;
    for (uint32_t k = 0; k < count; k++)
        for (size_t i = 0; i + 1 < known; i++)
            if (steps[i].at_ns == all[k].start_ns && chroprof__begins_in(all + k, all + one))
                inside |= 1u << k;
    return inside;
}

static void chroprof__show_stall(chroprof__page *g, const chroprof_stall *s, bool inside)
{
    const uint64_t row[] = { s->length_ns, s->start_ns, s->events };
    bool callback = s->kind == CHROPROF_STALL_CALLBACK;
    chroprof__print(g, inside ? "%7t" : CHROPROF__BOLD "%7t" CHROPROF__PLAIN, row);
    chroprof__show(g, inside ? " \xE2\x94\x94" : "  ");
    chroprof__show(g, callback ? "callback " : "iteration");
    chroprof__print(g, "  %9m", row + 1);
    if (chroprof__stall_clock(g, s->start_ns))
        chroprof__print(g, "%7c  ", row + 2);
    else
        chroprof__print(g, g->width >= 72 ? "%8c  " : "  ", row + 2);
    chroprof__stall_takers(g, s);
    chroprof__stall_order(g, s);
    chroprof__stall_places(g, s);
}

/* The longest first; those that happened in another one below it, as they came. */
static void chroprof__show_stalls(chroprof__page *g, const chroprof_stall *all, uint32_t count)
{
    uint32_t inside[CHROPROF__TEXT_STALLS], nested = 0;
    for (uint32_t i = 0; i < count; i++)
        nested |= inside[i] = chroprof__stalls_inside(g, all, count, i);
    for (uint32_t k = 0; k < count; k++)    /* what is in one that is in another is in that, too */
        for (uint32_t i = 0; i < count; i++)
            inside[i] |= inside[i] >> k & 1 ? inside[k] : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = i;
        if (nested >> i & 1)
            continue;
        chroprof__show_stall(g, all + i, false);
        for (uint32_t last = i; ; last = next) {
            next = last;
            for (uint32_t k = 0; k < count; k++)
                if (inside[i] >> k & 1 && chroprof__begins_in(all + k, all + last) &&
                    (next == last || chroprof__begins_in(all + next, all + k)))
                    next = k;
            if (next == last)
                break;
            chroprof__show_stall(g, all + next, true);
        }
    }
}

CHROPROF__NOINLINE void chroprof__text_stalls(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_STALLS, chroprof_stall, length_ns);
    chroprof_stall picked[CHROPROF__TEXT_STALLS], stall;
    const uint64_t figures[] = { g->totals.stalls, g->options.stall_ns };
    uint64_t cursor = 0;
    uint32_t count = 0;
    while (chroprof_next_stall(g->p, &cursor, &stall))
        count = chroprof__keep_largest(&by, picked, count, &stall);
    if (count == 0)
        return;
    chroprof__print(g, figures[0] == 1
                    ? CHROPROF__HEADING("STALLS") "%c iteration or callback longer than %t\n"
                    : CHROPROF__HEADING("STALLS") "%c iterations and callbacks longer than %t; the "
                      "longest:\n", figures);
    chroprof__print(g, g->width >= 72 && g->totals.start_unix_ns > 0
                    ? CHROPROF__DIM " length  kind              at      UTC events  taken by\n"
                    : g->width >= 72
                    ? CHROPROF__DIM " length  kind              at  events  taken by\n"
                    : CHROPROF__DIM " length  kind              at  taken by\n", NULL);
    chroprof__show_stalls(g, picked, count);
}

/* >>text slowest */

enum { CHROPROF__TEXT_SLOW = 8, CHROPROF__TEXT_SLOW_OF_SITE = 3 };

/* Who ran while it was ready. */
static void chroprof__slow_blames(chroprof__page *g, const chroprof_slow *s)
{
    chroprof__show(g, "         delayed by ");
    for (const chroprof_slow_blame *x = s->blames; x < s->blames + s->blame_count; x++)
        chroprof__show_taker(g, x > s->blames ? "," : "", 9, x->site, x->name, x->delay_ns,
                             s->latency_ns);
    chroprof__newline(g);
}

static void chroprof__slow_row(chroprof__page *g, const chroprof_slow *s)
{
    const uint64_t all = s->latency_ns;
    const uint64_t parts[] = { s->exec_ns, all, s->children_ns, all, s->delay_ns, all,
                               s->waiting_ns, all, s->unseen_ns, all };
    chroprof__print(g, CHROPROF__BOLD "%7t" CHROPROF__PLAIN, &all);
    chroprof__print(g, g->width >= 72 ? "  %9m" : "", &s->at_ns);
    chroprof__print(g, "  %4w  %5w  %5w  %4w  %6w  ", parts);
    chroprof__show_name(g, s->name, chroprof__room(g, 0));
    chroprof__newline(g);
}

/* Not too many of one site. */
CHROPROF__NOINLINE void chroprof__text_slowest(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_SLOW, chroprof_slow, latency_ns);
    chroprof_slow picked[CHROPROF__TEXT_SLOW], slow;
    uint64_t cursor = 0;
    uint32_t count = 0, site = 0, of_site = 0;
    while (chroprof_next_slowest(g->p, &cursor, &slow)) {
        of_site = slow.site == site ? of_site + 1 : 1;
        site = slow.site;
        if (of_site <= CHROPROF__TEXT_SLOW_OF_SITE)
            count = chroprof__keep_largest(&by, picked, count, &slow);
    }
    if (count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("SLOWEST")
                    "finished futures, and the shares of their latency\n", NULL);
    chroprof__print(g, g->width >= 72
                    ? CHROPROF__DIM "latency         at  exec  above  delay  wait  unseen  site\n"
                    : CHROPROF__DIM "latency  exec  above  delay  wait  unseen  site\n", NULL);
    for (uint32_t i = 0; i < count; i++) {
        chroprof__slow_row(g, &picked[i]);
        if (picked[i].blame_count > 0 && picked[i].delay_ns >= picked[i].latency_ns / 100)
            chroprof__slow_blames(g, &picked[i]);
    }
}

/* >>text samples */

enum { CHROPROF__CODE_GROUPS = 96, CHROPROF__CODE_ROWS = 12, CHROPROF__FEW_TO_SHARE = 5 };

/* A function under a task. Two of one name lie at one address, and so do two names of one site. */
typedef struct chroprof__code_group {
    uint64_t weight;
    const char *task, *name;   /* without a name of its own, a module has code in it */
    const char *in;            /* "in " before a module */
} chroprof__code_group;

static void chroprof__code_of(const chroprof *p, const chroprof_stack_row *row,
                              chroprof__code_group *out)
{
    chroprof_stack_frame frames[CHROPROF__ITEMS + 1];
    size_t count = chroprof_stack(p, row->id, frames, CHROPROF__ITEMS + 1), k = 0;
    bool bare = row->frame.kind == CHROPROF_FRAME_NATIVE && *row->frame.name == 0;
    while (k < count && k < CHROPROF__ITEMS && frames[k].kind != CHROPROF_FRAME_TASK)
        k++;
    out->weight = row->weight;
    out->task = frames[k].kind == CHROPROF_FRAME_TASK && k < count ? frames[k].name : "(no task)";
    out->in = bare ? "in " : "";
    out->name = bare ? row->frame.module : k == 0 ? "(itself)" : row->frame.name;
}

/* The heaviest groups, heaviest first; more than there is room for are left out of the list. */
static uint32_t chroprof__code_groups(const chroprof *p, chroprof__code_group *groups)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__CODE_GROUPS, chroprof__code_group, weight);
    chroprof_stack_row row;
    chroprof__code_group one;
    uint64_t cursor = 0;
    uint32_t count = 0;
    while (chroprof_next_stack(p, &cursor, &row)) {
        uint32_t i = 0;
        if (row.weight == 0)
            continue;
        chroprof__code_of(p, &row, &one);
        while (i < count && (groups[i].task != one.task || groups[i].name != one.name))
            i++;
        one.weight += i < count ? groups[i].weight : 0;
        i -= i == CHROPROF__CODE_GROUPS;    /* the lightest makes room */
        if (i < count)
            memmove(groups + i, groups + i + 1, (--count - i) * sizeof one);
        count = chroprof__keep_largest(&by, groups, count, &one);
    }
    return count;
}

static void chroprof__samples_head(chroprof__page *g, const chroprof_sampler_totals *t)
{
    uint64_t cursor = 0, covered_ns = g->totals.elapsed_ns;
    chroprof_sample_row row;
    while (chroprof_next_sample(g->p, &cursor, &row))       /* beyond it where a program hangs */
        chroprof__raise(&covered_ns, row.at_ns + row.duration_ns);
    const uint64_t figures[] = { t->samples, t->lost, t->period_ns, t->cost_ns, t->cost_ns,
                                 covered_ns };
    chroprof__print(g, t->first_period_ns == 0 ? CHROPROF__HEADING("SAMPLES") "%c, %c lost\n"
                       : t->mode == CHROPROF_SAMPLER_WALL
                           ? CHROPROF__HEADING("SAMPLES") "%c, %c lost; one every %t; cost %t, %p\n"
                           : CHROPROF__HEADING("SAMPLES")
                             "%c, %c lost; one every %t of CPU time; cost %t, %p\n", figures);
    if (t->interrupted > 0)
        chroprof__print(g, CHROPROF__DIM "waits that may have ended early at a tick (EINTR): %c\n",
                        &t->interrupted);
}

/* Functions are named in their own process only: the command has more to name those of a view. */
CHROPROF__NOINLINE void chroprof__text_samples(chroprof__page *g)
{
    chroprof__code_group groups[CHROPROF__CODE_GROUPS];
    chroprof_sampler_totals t;
    chroprof_read_sampler(g->p, &t);
    if (t.samples + t.lost == 0)
        return;
    chroprof__samples_head(g, &t);
    if (g->p->view || t.samples == 0)
        return;
    uint32_t wide = g->width / 3;
    chroprof__print(g, CHROPROF__DIM "  share  task", NULL);
    chroprof__blank_to(g, 11 + wide);
    chroprof__print(g, "function\n", NULL);
    uint32_t count = chroprof__code_groups(g->p, groups);
    uint64_t left[] = { t.samples, t.samples };
    for (uint32_t i = 0; i < count && i < CHROPROF__CODE_ROWS; i++) {
        const chroprof__code_group *c = &groups[i];
        const char *name = *c->in != 0 ? chroprof__base_name(c->name) : c->name;
        const uint64_t share[] = { c->weight, t.samples };
        chroprof__print(g, t.samples < CHROPROF__FEW_TO_SHARE ? " %c of %c" : "%7p", share);
        g->blanks += 2;
        chroprof__show_name(g, c->task, wide);
        chroprof__blank_to(g, 11 + wide);
        chroprof__show(g, c->in);
        chroprof__show_name(g, *name != 0 ? name : "unknown code", g->width - wide - 16);
        chroprof__newline(g);
        left[0] = chroprof__minus(left[0], c->weight);
    }
    if (left[0] > 0)
        chroprof__print(g, CHROPROF__DIM "%7p  others\n", left);
}

/* >>text time series */

enum { CHROPROF__SERIES_SITES = 5, CHROPROF__STRIP = 168, CHROPROF__WINDOWS_AT_ONCE = 64 };

/* A row of the strip: all busy, the sites with the most exec time, other sites, uninstrumented. */
typedef struct chroprof__series_row {
    const char *name;
    uint64_t ns, peak;                      /* peak: of a window, in thousandths, as full */
    uint64_t cells[CHROPROF__STRIP];        /* exec in a column: its parts of windows */
} chroprof__series_row;

typedef struct chroprof__series {
    uint32_t sites, width, label_room;
    uint64_t span_ns, window_ns, least_ns;  /* least_ns: of a window that may be a peak */
    uint64_t full;                          /* what a full block stands for */
    uint32_t ids[CHROPROF__SERIES_SITES];
    uint64_t spans[CHROPROF__STRIP];        /* the time of a column */
    chroprof__series_row rows[CHROPROF__SERIES_SITES + 3];
} chroprof__series;

/* A column takes its own part of a window, as if its time had been spread evenly. */
static void chroprof__series_part(chroprof__series *s, const uint64_t *values, uint64_t k,
                                  uint64_t part, uint64_t whole)
{
    for (uint32_t row = 0; row < s->sites + 3; row++)
        s->rows[row].cells[k] += chroprof__portion(values[row], part, whole);
}

/* Adds a window to the columns that touch it. Its own share is a peak, unless it is a short one, as
 * the last one of a run can be. Places are in columns, with 16 bits behind the point. */
static void chroprof__series_add(chroprof__series *s, const chroprof_window *w,
                                 const uint64_t *values)
{
    uint64_t at = chroprof__portion((uint64_t)s->width << 16, w->start_ns, s->span_ns);
    uint64_t end = chroprof__portion((uint64_t)s->width << 16, w->end_ns, s->span_ns);
    uint64_t begin = at, length = w->end_ns - w->start_ns;
    chroprof__raise(&s->window_ns, length);
    for (uint32_t row = 0; row < s->sites + 3 && length >= s->least_ns; row++)
        chroprof__raise(&s->rows[row].peak, chroprof__portion(1000, values[row], length));
    while (at < end) {
        uint64_t k = at >> 16, next = (k + 1) << 16, to = next < end ? next : end;
        s->spans[k] += chroprof__portion(length, to - at, end - begin);
        chroprof__series_part(s, values, k, to - at, end - begin);
        at = to;
    }
}

static void chroprof__series_windows(const chroprof *p, chroprof__series *s)
{
    chroprof_window w[CHROPROF__WINDOWS_AT_ONCE];
    uint64_t exec[CHROPROF__SERIES_SITES][CHROPROF__WINDOWS_AT_ONCE];
    uint64_t values[CHROPROF__SERIES_SITES + 3];
    chroprof_windows_cursor all, own[CHROPROF__SERIES_SITES];
    size_t count;
    memset(&all, 0, sizeof(all));
    memset(own, 0, sizeof(own));
    while ((count = chroprof_next_windows(p, &all, w, CHROPROF__WINDOWS_AT_ONCE)) > 0) {
        for (uint32_t i = 0; i < s->sites; i++)
            (void)chroprof_next_site_windows(p, s->ids[i], own + i, exec[i],
                                             CHROPROF__WINDOWS_AT_ONCE);
        for (size_t k = 0; k < count && k < CHROPROF__WINDOWS_AT_ONCE; k++) {
            values[0] = values[1 + s->sites] = w[k].busy_ns;
            values[2 + s->sites] = w[k].uninstrumented_ns;
            for (uint32_t i = 0; i < s->sites; i++) {
                values[1 + i] = exec[i][k];
                values[1 + s->sites] = chroprof__minus(values[1 + s->sites], exec[i][k]);
            }
            chroprof__series_add(s, &w[k], values);
        }
    }
}

static void chroprof__series_name(chroprof__series *s, uint32_t row, const char *name, uint64_t ns)
{
    s->rows[row].name = name;
    s->rows[row].ns = ns;
}

static uint64_t chroprof__series_height(const chroprof__series *s, uint32_t row, uint32_t column)
{
    return chroprof__portion(1000, s->rows[row].cells[column], s->spans[column]);
}

/* One scale for all rows, so that they compare: the next round share above the highest one. */
static void chroprof__series_scale(chroprof__series *s)
{
    static const uint16_t steps[] = { 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000 };
    const uint16_t *step = steps;
    for (uint32_t row = 0; row < s->sites + 3; row++) {
        uint64_t most = s->rows[row].peak;
        for (uint32_t k = 0; k < s->width; k++)
            chroprof__raise(&most, chroprof__series_height(s, row, k));
        while (*step < most && *step < 1000)
            step++;
    }
    s->full = *step;
}

static void chroprof__series_read(const chroprof__page *g, chroprof__series *s)
{
    chroprof_rank ranks[CHROPROF__SERIES_SITES];
    size_t all = chroprof_ranks(g->p, ranks, CHROPROF__SERIES_SITES, CHROPROF_BY_EXEC);
    uint64_t others = g->totals.busy_ns;
    memset(s, 0, sizeof *s);
    s->label_room = g->width < 80 ? 14 : g->width < 120 ? 18 : 26;
    s->width = g->width - s->label_room - 2 - 14;
    s->span_ns = g->totals.elapsed_ns;
    s->least_ns = g->options.window_ns / 2;
    for (; s->sites < all && s->sites < CHROPROF__SERIES_SITES && ranks[s->sites].exec_ns > 0;
         s->sites++) {
        const chroprof_rank *rank = &ranks[s->sites];
        s->ids[s->sites] = rank->id;
        chroprof__series_name(s, 1 + s->sites, rank->name, rank->exec_ns);
        others = chroprof__minus(others, rank->exec_ns);
    }
    chroprof__series_name(s, 0, "all busy", g->totals.busy_ns);
    chroprof__series_name(s, 1 + s->sites, "(others)", others);
    chroprof__series_name(s, 2 + s->sites, "(uninstrumented)", g->totals.uninstrumented_ns);
    chroprof__series_windows(g->p, s);
    chroprof__series_scale(s);
}

static void chroprof__series_show(chroprof__page *g, const chroprof__series *s, uint32_t row)
{
    const chroprof__series_row *r = &s->rows[row];
    const uint64_t figures[] = { r->ns, g->totals.elapsed_ns, r->peak, 1000 };
    chroprof__show_name(g, r->name, s->label_room);
    chroprof__blank_to(g, s->label_room + 2);
    for (uint32_t k = 0; k < s->width; k++) {
        uint64_t height = (chroprof__series_height(s, row, k) * 8 + s->full - 1) / s->full;
        chroprof__show_code(g, height == 0 ? ' ' : 0x2580 + (height < 8 ? (uint32_t)height : 8));
    }
    chroprof__blank_to(g, s->label_room + 2 + s->width);
    chroprof__print(g, "%7p%7p\n", figures);
}

/* 0, the middle and the end of the run, on one line. */
static void chroprof__series_axis(chroprof__page *g, const chroprof__series *s)
{
    const uint64_t half = s->span_ns / 2;
    uint32_t begin = s->label_room + 2, end = begin + s->width;
    chroprof__phrase middle, last;
    chroprof__say_only(&middle, "%t", &half);
    chroprof__say_only(&last, "%t", &s->span_ns);
    chroprof__blank_to(g, begin);
    chroprof__print(g, CHROPROF__DIM "0", NULL);
    while (g->column < begin + (s->width - chroprof__columns_of(middle.text)) / 2)
        chroprof__glyph(g, 0x2500);
    chroprof__show(g, middle.text);
    while (g->column < end - chroprof__columns_of(last.text))
        chroprof__glyph(g, 0x2500);
    chroprof__show(g, last.text);
    chroprof__newline(g);
}

/* Why there are no columns. */
static void chroprof__series_none(chroprof__page *g)
{
    chroprof_step oldest;
    uint64_t reach = 0;
    if (chroprof_timeline(g->p, 0, UINT64_MAX, &oldest, 1) > 0)
        reach = chroprof__minus(g->totals.elapsed_ns, oldest.at_ns);
    const uint64_t figures[] = { g->totals.elapsed_ns, g->options.max_events, reach };
    chroprof__print(g, reach > 0
                    ? CHROPROF__HEADING("TIME") "the windows of this run are too wide by now for a "
                      "part of %T, and its last %c events reach back only %T. Raise max_events.\n"
                    : CHROPROF__HEADING("TIME") "the windows of this run are too wide by now for a "
                      "part of %T.\n", figures);
}

CHROPROF__NOINLINE void chroprof__text_series(chroprof__page *g)
{
    chroprof__series s;
    size_t windows = chroprof_windows(g->p, NULL, 0);
    const chroprof_options *of = &g->options;
    /* a short part of a long run, of which the ring has lost some, has few windows that are wide */
    if (windows > 0 && windows < 8 && windows < of->max_windows / 2 && of->window_ns > 0 &&
        windows * 2 <= g->totals.elapsed_ns / of->window_ns) {
        chroprof__series_none(g);
        return;
    }
    if (g->totals.elapsed_ns == 0 || windows < 2)
        return;
    chroprof__series_read(g, &s);
    const uint64_t figures[] = { s.window_ns, s.full, 1000 };
    chroprof__print(g, g->width < 80 ? CHROPROF__HEADING("TIME") "windows of %t; full block: %w"
                       : CHROPROF__HEADING("TIME") "share of the loop in windows of %t; full "
                         "block: %w", figures);
    chroprof__blank_to(g, g->width - 14);
    chroprof__print(g, "   mean   peak\n", NULL);
    for (uint32_t row = 0; row < s.sites + 3; row++)
        if (s.rows[row].ns > 0)
            chroprof__series_show(g, &s, row);
    chroprof__series_axis(g, &s);
}

/* >>text oddities */

/* Where an anomaly was met: of the task itself, or what ran when the event came. */
static void chroprof__text_place(chroprof__page *g, const char *when,
                                 const chroprof_anomaly_place *place)
{
    const uint64_t figures[] = { place->at_ns, place->id };
    const bool task = place->path != 0 || place->top > 2;
    chroprof__print(g, "         " CHROPROF__DIM, NULL);
    chroprof__show(g, when);
    chroprof__print(g, place->id ? "at %t, id %d, " : "at %t, ", figures);
    chroprof__show(g, place->path ? "task " : task ? "inside " : place->top == 0 ?
                   "outside of any task" : place->top == 1 ? "while idle" : "in untracked time");
    if (task)
        chroprof__show_placed(g, place->name, place->file, place->line, g->width);
    chroprof__newline(g);
}

static void chroprof__text_anomalies(chroprof__page *g)
{
    chroprof_anomaly row;
    if (g->totals.anomalies == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("ANOMALIES") "unexpected sequences of calls\n", NULL);
    for (int k = 0; chroprof_read_anomaly(g->p, (chroprof_anomaly_kind)k, &row); k++) {
        if (row.count == 0)
            continue;
        chroprof__print(g, "%7c  ", &row.count);
        (void)chroprof__flow(g, row.text, 9);
        chroprof__newline(g);
        if (row.placed)
            chroprof__text_place(g, row.count > 1 ? "first " : "", &row.first);
        if (row.placed && row.count > 1)
            chroprof__text_place(g, "last ", &row.last);
        chroprof__print(g, "         " CHROPROF__DIM, NULL);
        (void)chroprof__flow(g, row.cure, 9);
        chroprof__newline(g);
    }
}

static void chroprof__text_tables(chroprof__page *g)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    if (g->totals.dropped == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("FULL TABLES")
                    "all time is counted, only detail is missing\n", NULL);
    (void)chroprof_tables(g->p, rows, CHROPROF_TABLE_COUNT);
    for (const chroprof_table *t = rows; t < rows + CHROPROF_TABLE_COUNT; t++) {
        const uint64_t figures[] = { t->dropped, t->capacity, t->advice };
        if (t->dropped == 0)
            continue;
        chroprof__print(g, "%7c dropped, room for %c: ", figures);
        chroprof__show(g, t->name);
        if (t->advice > 0) {
            chroprof__print(g, "; raise " CHROPROF__BOLD, NULL);
            chroprof__show(g, t->option);
            chroprof__print(g, CHROPROF__PLAIN " to %d", figures + 2);
        }
        chroprof__newline(g);
    }
}

static void chroprof__page_setup(chroprof__page *g, chroprof__out *o, const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_rank rank;
    uint64_t cursor = 0;
    memset(g, 0, sizeof *g);
    g->out = o;
    g->p = p;
    chroprof_read_totals(p, &g->totals);
    chroprof_read_options(p, &g->options);
    chroprof_read_sampler(p, &t);
    g->period_ns = t.first_period_ns > 0 ? t.period_ns : 0;
    g->by_clock = t.mode == CHROPROF_SAMPLER_WALL;
    /* samples by hand may come without CPU time */
    while (t.samples > 0 && !g->sampled && chroprof_next_rank(p, &cursor, &rank))
        g->sampled = rank.cpu_ns > 0 || (rank.samples > 0 && g->period_ns > 0);
    if (o->look != NULL)
        g->look = *o->look;
    uint32_t width = g->look.width == 0 ? 80 : g->look.width, top = g->look.top;
    g->width = width < 60 ? 60 : width > 200 ? 200 : width;
    g->top = top == 0 ? 20 : top < CHROPROF__TEXT_ROWS ? top : (uint32_t)CHROPROF__TEXT_ROWS;
    g->by = (unsigned)g->look.by <= (unsigned)CHROPROF_BY_CALLS ? g->look.by : CHROPROF_BY_EXEC;
}

CHROPROF__COLD_API void chroprof__as_text(chroprof__out *o, const chroprof *p)
{
    chroprof__page g;
    if (o->absent) {
        chroprof__put_text(o, "chroprof: no profile: ");
        chroprof__put_text(o, chroprof_why_off(p));
        chroprof__put_byte(o, '\n');
        return;
    }
    chroprof__page_setup(&g, o, p);
    chroprof__text_title(&g);
#ifndef CHROPROF_NO_FINDINGS
    chroprof__text_findings(&g);
#endif
    chroprof__text_parts(&g);
    chroprof__text_counts(&g);
    chroprof__text_state(&g);
    chroprof__text_sites(&g);
    chroprof__text_latency(&g);
    chroprof__text_paths(&g);
    chroprof__text_stalls(&g);
    chroprof__text_slowest(&g);
    chroprof__text_samples(&g);
    chroprof__text_series(&g);
    chroprof__text_anomalies(&g);
    chroprof__text_tables(&g);
#ifndef CHROPROF_NO_FINDINGS
    chroprof__text_more_findings(&g);
#endif
}
#else
CHROPROF__LEFT_OUT(chroprof__as_text)
#endif /* CHROPROF_NO_TEXT */

#ifndef CHROPROF_NO_JSON
/* >>json: everything, one row a line.
 * Owns the schema. Figures go by the lists in >>figures, in their order; the rest by lists of
 * fields, which have the place of each: the order of fields in a struct is free. Relies on the
 * public reads; called by >>formats. */

#define CHROPROF_JSON_VERSION 3

/* The figures of a list that a public struct has. */
static void chroprof__json_figures(chroprof__out *o, const chroprof__figure *list, size_t count,
                                   const char *name, bool of_rank, const void *row)
{
    for (size_t k = 0; k < count; k++) {
        uint16_t at = of_rank ? list[k].rank : list[k].at;
        if (at != CHROPROF__NOT_THERE)
            chroprof__put_value(o, name, chroprof__field(row, at));
        name = chroprof__nth_text(name, 3);
    }
}

/* Where in the code a site is. */
#define CHROPROF__JSON_PLACE(F, type) F(type, name, "$") F(type, file, "$") F(type, line, ".")

#define CHROPROF__JSON_OPTIONS(F)                                                                  \
    F(chroprof_options, window_ns, "") F(chroprof_options, stall_ns, "")                           \
    F(chroprof_options, max_step_ns, "")

static void chroprof__json_head(chroprof__out *o, const chroprof *p, const chroprof_origin *origin)
{
    const uint64_t version = CHROPROF_JSON_VERSION, cost_ps = chroprof__event_cost_ps(p);
    const char *why_off = chroprof_why_off(p);
    chroprof_options of;
    chroprof_read_options(p, &of);
    chroprof__put_value(o, "{\nchroprof \nversion'" CHROPROF_VERSION "'", &version);
    chroprof__put_value(o, "\nname$", &origin->name);
    chroprof__put_value(o, "\nprogram$", &origin->program);
    CHROPROF__PUT_FIELDS(o, "\noptions{", CHROPROF__JSON_OPTIONS, "}", &of);
    chroprof__put_value(o, "\nevent_cost_ps", &cost_ps);
    chroprof__put_value(o, "\nwhy_off$", &why_off);
}

#define CHROPROF__JSON_STATES(F)                                                                   \
    F(chroprof_totals, provisional, "?") F(chroprof_totals, enabled, "?")                          \
    F(chroprof_totals, idle, "?") F(chroprof_totals, depth, ".")                                   \
    F(chroprof_totals, living, "?") F(chroprof_totals, estimated, "?")

static void chroprof__json_totals(chroprof__out *o, const chroprof *p)
{
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    chroprof__put_value(o, "\ntotals{", NULL);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__loop_figures), chroprof__loop_words, false,
                           &t);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_STATES, "}", &t);
}

#define CHROPROF__JSON_WAIT(F)                                                                     \
    F(chroprof_task_wait, site, ".") F(chroprof_task_wait, count, "")                              \
    F(chroprof_task_wait, total_ns, "") F(chroprof_task_wait, longest_ns, "")                      \
    F(chroprof_task_wait, call, "$") F(chroprof_task_wait, within, "$")                            \
    CHROPROF__JSON_PLACE(F, chroprof_task_wait) F(chroprof_task_wait, estimated, "?")

static void chroprof__json_waits(chroprof__out *o, const chroprof *p)
{
    chroprof_task_wait rows[CHROPROF__WAITED];
    size_t count = chroprof_task_waits(p, rows, CHROPROF__WAITED);
    const char *awake = chroprof_awake_by(p);
    chroprof__put_value(o, "\nawake_by$", &awake);
    chroprof__put_value(o, "\ntask_waits[", NULL);
    for (const chroprof_task_wait *w = rows; w < rows + count; w++)
        CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_WAIT, "}", w);
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_FINDING(F)                                                                  \
    F(chroprof_finding, site, ".") F(chroprof_finding, share_ppm, ".")                             \
    F(chroprof_finding, value_ns, "") F(chroprof_finding, at_ns, "")

static void chroprof__json_findings(chroprof__out *o, const chroprof *p)
{
    chroprof__put_value(o, "\nfindings[", NULL);
#ifndef CHROPROF_NO_FINDINGS
#define CHROPROF__FINDING_WORD(name) #name ","
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (const chroprof_finding *f = rows; f < rows + count; f++) {
        const char *text = f->text;
        chroprof__put_value(o, "\n{kind(" CHROPROF_FINDINGS(CHROPROF__FINDING_WORD) ")", &f->kind);
        chroprof__put_value(o, "text$", &text);
        CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_FINDING, "}", f);
    }
#undef CHROPROF__FINDING_WORD
#else
    (void)p;
#endif
    chroprof__put_value(o, "\n]", NULL);
}

/* Windows are read in spans of this many, which share one look at the site. */
enum { CHROPROF__JSON_SPAN = 64 };

#define CHROPROF__JSON_SITE(F) CHROPROF__JSON_PLACE(F, chroprof_rank)
#define CHROPROF__JSON_RANK(F) F(chroprof_rank, id, ".") F(chroprof_rank, has_percentiles, "?")

static void chroprof__json_site(chroprof__out *o, const chroprof *p, const chroprof_rank *r)
{
    chroprof_windows_cursor cursor;
    uint64_t ns[CHROPROF__JSON_SPAN];
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SITE, "", r);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, true,
                           r);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_RANK, "windows[", r);
    while (!o->failed && (left = chroprof_next_site_windows(p, r->id, &cursor, ns,
                                                            CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            chroprof__put_value(o, "%", ns + k);
    chroprof__put_value(o, "]}", NULL);
}

#define CHROPROF__JSON_PATH(F)                                                                     \
    F(chroprof_path, id, ".") F(chroprof_path, parent, ".") F(chroprof_path, site, ".")            \
    CHROPROF__JSON_PLACE(F, chroprof_path)

static void chroprof__json_path(chroprof__out *o, const chroprof_path *row)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_PATH, "", row);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__path_figures), chroprof__path_words, false,
                           row);
    chroprof__put_value(o, "}", NULL);
}

typedef struct chroprof__json_packer {
    chroprof__out *out;
    uint32_t bits, count;      /* bytes that are not written yet, and how many */
    uint64_t at_ns, id;        /* of the step before */
} chroprof__json_packer;

static void chroprof__json_base64(chroprof__json_packer *k, uint32_t characters)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < 4; i++)
        chroprof__put_byte(k->out, i < characters ? digits[k->bits >> (18 - 6 * i) & 63] : '=');
    k->bits = k->count = 0;
}

static void chroprof__json_pack(chroprof__json_packer *k, uint64_t value)
{
    bool more;
    do {
        more = value > 127;
        k->bits |= ((uint32_t)(value & 127) | (more ? 128u : 0u)) << (16 - 8 * k->count);
        if (++k->count == 3)
            chroprof__json_base64(k, 4);
        value >>= 7;
    } while (more);
}

/* In place of a path: so many steps before this one are left out. */
#define CHROPROF__JSON_LEFT_OUT (UINT64_C(1) << 32)

static void chroprof__json_step(chroprof__json_packer *k, const chroprof_step *s)
{
    uint64_t less = s->id - k->id;
    const chroprof_state state = s->state > CHROPROF_NEXT ? CHROPROF_TICK : s->state;
    chroprof__json_pack(k, (uint64_t)state + (s->id ? 16 : 0) + 32 * (uint64_t)s->depth);
    chroprof__json_pack(k, chroprof__minus(s->at_ns, k->at_ns));
    chroprof__json_pack(k, s->left_out ? CHROPROF__JSON_LEFT_OUT + s->left_out : s->path);
    if (s->id != 0) {
        chroprof__json_pack(k, less >> 63 ? ~(less << 1) : less << 1);
        k->id = s->id;
    }
    k->at_ns = s->at_ns;
}

/* Ends a text of packed steps and what it is in. */
static void chroprof__json_packed(chroprof__json_packer *k)
{
    if (k->count > 0)
        chroprof__json_base64(k, k->count + 1);
    chroprof__put_value(k->out, "\"}", NULL);
}

/* What happened in a stall, as the timeline has it. */
CHROPROF__NOINLINE void chroprof__json_incident(chroprof__out *o, const chroprof *p,
                                                const chroprof_stall *s)
{
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    size_t count = chroprof_incident(p, s->number, steps, CHROPROF_INCIDENT_STEPS);
    chroprof__json_packer k = { o, 0, 0, 0, 0 };
    for (size_t i = 0; i < count; i++)
        chroprof__json_step(&k, steps + i);
    chroprof__json_packed(&k);
}

#define CHROPROF__JSON_SHARE(F)                                                                    \
    F(chroprof_stall_share, site, ".") F(chroprof_stall_share, exec_ns, "")                        \
    F(chroprof_stall_share, slices, "") F(chroprof_stall_share, slice_max_ns, "")                  \
    CHROPROF__JSON_PLACE(F, chroprof_stall_share)
#define CHROPROF__JSON_SAMPLED(F)                                                                  \
    F(chroprof_stall_sample, stack, ".") F(chroprof_stall_sample, weight, ".")                     \
    F(chroprof_stall_sample, cpu_ns, "")
#define CHROPROF__JSON_STALL(F)                                                                    \
    F(chroprof_stall, kind, "(callback,iteration)") F(chroprof_stall, start_ns, "")                \
    F(chroprof_stall, length_ns, "") F(chroprof_stall, events, "")
#define CHROPROF__JSON_STALL_CODE(F)                                                               \
    F(chroprof_stall, rest_ns, "") F(chroprof_stall, sampled, "") F(chroprof_stall, cpu_ns, "")    \
    F(chroprof_stall, waiting_ns, "")
#define CHROPROF__JSON_STALL_STEPS(F)                                                              \
    F(chroprof_stall, first_steps, ".") F(chroprof_stall, left_out, "")

static void chroprof__json_stall(chroprof__out *o, const chroprof *p, const chroprof_stall *s)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_STALL, "shares[", s);
    for (const chroprof_stall_share *x = s->shares; x < s->shares + s->share_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_SHARE, "}", x);
    CHROPROF__PUT_FIELDS(o, "]", CHROPROF__JSON_STALL_CODE, "samples[", s);
    for (const chroprof_stall_sample *x = s->samples; x < s->samples + s->sample_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_SAMPLED, "}", x);
    chroprof__put_value(o, "]number", &s->number);
    chroprof__put_value(o, "steps.", &s->step_count);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_STALL_STEPS, "data\"", s);
    chroprof__json_incident(o, p, s);
}

#define CHROPROF__JSON_BLAME(F)                                                                    \
    F(chroprof_slow_blame, site, ".") F(chroprof_slow_blame, delay_ns, "")                         \
    CHROPROF__JSON_PLACE(F, chroprof_slow_blame)
#define CHROPROF__JSON_SLOW(F)                                                                     \
    F(chroprof_slow, id, "") F(chroprof_slow, site, ".") F(chroprof_slow, path, ".")               \
    CHROPROF__JSON_PLACE(F, chroprof_slow)                                                         \
    F(chroprof_slow, finish, "(,,,,completed,failed,cancelled)") F(chroprof_slow, of_run, "?")     \
    F(chroprof_slow, at_ns, "") F(chroprof_slow, latency_ns, "") F(chroprof_slow, exec_ns, "")     \
    F(chroprof_slow, children_ns, "") F(chroprof_slow, delay_ns, "")                               \
    F(chroprof_slow, waiting_ns, "") F(chroprof_slow, unseen_ns, "")

static void chroprof__json_slow(chroprof__out *o, const chroprof_slow *s)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SLOW, "blames[", s);
    for (const chroprof_slow_blame *x = s->blames; x < s->blames + s->blame_count; x++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_BLAME, "}", x);
    chroprof__put_value(o, "]}", NULL);
}

#define CHROPROF__JSON_WINDOW(F)                                                                   \
    F(chroprof_window, start_ns, "") F(chroprof_window, end_ns, "")                                \
    F(chroprof_window, busy_ns, "") F(chroprof_window, idle_ns, "")                                \
    F(chroprof_window, uninstrumented_ns, "") F(chroprof_window, untracked_ns, "")

static void chroprof__json_windows(chroprof__out *o, const chroprof *p)
{
    chroprof_window rows[CHROPROF__JSON_SPAN];
    chroprof_windows_cursor cursor;
    size_t left;
    memset(&cursor, 0, sizeof(cursor));
    chroprof__put_value(o, "\nwindows[", NULL);
    while (!o->failed &&
           (left = chroprof_next_windows(p, &cursor, rows, CHROPROF__JSON_SPAN)) > 0)
        for (size_t k = 0; k < left && k < CHROPROF__JSON_SPAN; k++)
            CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_WINDOW, "}", rows + k);
    chroprof__put_value(o, "\n]", NULL);
}

enum { CHROPROF__JSON_STEPS = 100000 };     /* what a page draws without a stutter */

static void chroprof__json_timeline(chroprof__out *o, const chroprof *p, uint64_t end_ns)
{
    uint64_t cursor = 0;
    chroprof_step step;
    chroprof_totals totals;
    size_t steps = chroprof_timeline(p, 0, UINT64_MAX, NULL, 0);
    size_t older = steps > CHROPROF__JSON_STEPS ? steps - CHROPROF__JSON_STEPS : 0;
    chroprof__json_packer k = { o, 0, 0, 0, 0 };
    chroprof_read_totals(p, &totals);
    cursor = chroprof_next_step(p, &cursor, &step) ? cursor - 1 : 0;
    const uint64_t count = steps, ready = chroprof__count_ready(p);
    const uint64_t back_ns = steps ? chroprof__minus(end_ns, step.at_ns) : 0;
    chroprof__put_value(o, "\ntimeline{steps", &count);
    chroprof__put_value(o, "reaches_back_ns", &back_ns);
    chroprof__put_value(o, "ready", &ready);
    chroprof__put_value(o, "first", &cursor);
    chroprof__put_value(o, "data\"", NULL);
    for (size_t i = 0; !o->failed && chroprof_next_step(p, &cursor, &step); i++)
        if (i >= older)
            chroprof__json_step(&k, &step);
    step = chroprof__step_now(p, &totals);
    if (steps > 0)
        chroprof__json_step(&k, &step);
    chroprof__json_packed(&k);
}

#define CHROPROF__JSON_TABLE(F)                                                                    \
    F(chroprof_table, name, "$") F(chroprof_table, option, "$") F(chroprof_table, capacity, "")    \
    F(chroprof_table, used, "") F(chroprof_table, peak, "") F(chroprof_table, dropped, "")         \
    F(chroprof_table, advice, "") F(chroprof_table, bytes, "")

static void chroprof__json_tables(chroprof__out *o, const chroprof *p)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(p, rows, CHROPROF_TABLE_COUNT);
    chroprof__put_value(o, "\ntables[", NULL);
    for (size_t k = 0; k < count; k++)
        CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_TABLE, "}", rows + k);
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_MET(F)                                                                      \
    F(chroprof_anomaly_place, at_ns, "") F(chroprof_anomaly_place, id, "")                         \
    F(chroprof_anomaly_place, path, ".") F(chroprof_anomaly_place, top, ".")                       \
    CHROPROF__JSON_PLACE(F, chroprof_anomaly_place)
#define CHROPROF__JSON_ANOMALY(F)                                                                  \
    F(chroprof_anomaly, kind, "(" CHROPROF__ANOMALY_WORDS ")") F(chroprof_anomaly, text, "$")      \
    F(chroprof_anomaly, cure, "$") F(chroprof_anomaly, count, "")

static void chroprof__json_anomaly(chroprof__out *o, const chroprof_anomaly *row)
{
    const chroprof_anomaly_place *met[] = { &row->first, &row->last };
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_ANOMALY, "places[", row);
    for (uint32_t k = 0; k < 2 && row->placed; k++)
        CHROPROF__PUT_FIELDS(o, "{", CHROPROF__JSON_MET, "}", met[k]);
    chroprof__put_value(o, "]}", NULL);
}

static void chroprof__json_sampler(chroprof__out *o, const chroprof *p)
{
    chroprof_sampler_totals t;
    chroprof_read_sampler(p, &t);
    chroprof__put_value(o, "\nsampler{running?", &t.running);
    chroprof__put_value(o, t.first_period_ns ? "mode(cpu,wall)" : "mode'none'", &t.mode);
    chroprof__json_figures(o, CHROPROF__ALL(chroprof__sampler_figures), chroprof__sampler_words,
                           false, &t);
    chroprof__put_value(o, "}", NULL);
}

#define CHROPROF__JSON_MODULE(F)                                                                   \
    F(chroprof_module, path, "$") F(chroprof_module, build_id, "$") F(chroprof_module, base, "")

static void chroprof__json_modules(chroprof__out *o, const chroprof *p)
{
    chroprof_module rows[CHROPROF__MOST_MODULES];
    uint64_t count = chroprof_modules(p, rows, CHROPROF__MOST_MODULES);
    chroprof__put_value(o, "\nmodules[", NULL);
    for (uint64_t k = 0; k < count; k++) {
        chroprof__put_value(o, "\n{id", &k);
        CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_MODULE, "}", rows + k);
    }
    chroprof__put_value(o, "\n]", NULL);
}

#define CHROPROF__JSON_STACK(F)                                                                    \
    F(chroprof_stack_row, id, ".") F(chroprof_stack_row, parent, ".")                              \
    F(chroprof_stack_row, module, "-") F(chroprof_stack_row, weight, "")                           \
    F(chroprof_stack_row, cpu_ns, "")
#define CHROPROF__JSON_FRAME(F)                                                                    \
    F(chroprof_stack_frame, kind, "(task,native,marker)") F(chroprof_stack_frame, name, "$")       \
    F(chroprof_stack_frame, path, ".")

static void chroprof__json_stack(chroprof__out *o, const chroprof_stack_row *row)
{
    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_STACK, "", row);
    CHROPROF__PUT_FIELDS(o, "", CHROPROF__JSON_FRAME, "", &row->frame);
    chroprof__put_value(o, "return?", &row->frame.is_return);
    chroprof__put_value(o, "address}", &row->frame.address);
}

/* The states in which the draws met futures. */
#define CHROPROF__JSON_MET_IN(F)                                                                   \
    F(chroprof_wall, running, running_ns) F(chroprof_wall, ready, ready_ns)                        \
    F(chroprof_wall, paused, paused_ns)
#define CHROPROF__JSON_WEIGHT(type, count, ns) (uint16_t)offsetof(type, count),
#define CHROPROF__JSON_TIME(type, count, ns) (uint16_t)offsetof(type, ns),

static void chroprof__json_wall(chroprof__out *o, const chroprof_wall *row)
{
    static const uint16_t weights[] = { CHROPROF__JSON_MET_IN(CHROPROF__JSON_WEIGHT) };
    static const uint16_t times[] = { CHROPROF__JSON_MET_IN(CHROPROF__JSON_TIME) };
    for (uint32_t k = 0; k < 3; k++) {
        const chroprof_state state = (chroprof_state)k;
        if (*chroprof__field(row, weights[k]) == 0)
            continue;
        chroprof__put_value(o, "\n{path.", &row->path);
        chroprof__put_value(o, "state(running,ready,paused)", &state);
        chroprof__put_value(o, "weight", chroprof__field(row, weights[k]));
        chroprof__put_value(o, "duration_ns}", chroprof__field(row, times[k]));
    }
}

#define CHROPROF__JSON_FUTURE(F)                                                                   \
    F(chroprof_future, id, "") F(chroprof_future, path, ".")                                       \
    F(chroprof_future, state, "(pending,ready,running,paused)") F(chroprof_future, since_ns, "")   \
    F(chroprof_future, exec_ns, "") CHROPROF__JSON_PLACE(F, chroprof_future)
#define CHROPROF__JSON_SAMPLE(F)                                                                   \
    F(chroprof_sample_row, at_ns, "") F(chroprof_sample_row, duration_ns, "")                      \
    F(chroprof_sample_row, weight, "") F(chroprof_sample_row, cpu_ns, "")                          \
    F(chroprof_sample_row, stack, ".")                                                             \
    F(chroprof_sample_row, state, "(busy,idle,uninstrumented)")

/* A list at the top level, one row a line. Not inlined: the rows would add up on the stack. */
#define CHROPROF__JSON_LIST(name, row_type, more, put)                                             \
    CHROPROF__NOINLINE void chroprof__list_##name(chroprof__out *o, const chroprof *p)             \
    {                                                                                              \
        uint64_t cursor = 0;                                                                       \
        row_type row;                                                                              \
        chroprof__put_value(o, "\n" #name "[", NULL);                                             \
        while (!o->failed && more)                                                                 \
            put;                                                                                   \
        chroprof__put_value(o, "\n]", NULL);                                                       \
    }
CHROPROF__JSON_LIST(sites, chroprof_rank, chroprof_next_rank(p, &cursor, &row),
                    chroprof__json_site(o, p, &row))
CHROPROF__JSON_LIST(paths, chroprof_path, chroprof_next_path(p, &cursor, &row),
                    chroprof__json_path(o, &row))
CHROPROF__JSON_LIST(stalls, chroprof_stall, chroprof_next_stall(p, &cursor, &row),
                    chroprof__json_stall(o, p, &row))
CHROPROF__JSON_LIST(slowest, chroprof_slow, chroprof_next_slowest(p, &cursor, &row),
                    chroprof__json_slow(o, &row))
CHROPROF__JSON_LIST(futures, chroprof_future, chroprof_next_future(p, &cursor, &row),
                    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_FUTURE, "}", &row))
CHROPROF__JSON_LIST(anomalies, chroprof_anomaly,
                    chroprof_read_anomaly(p, (chroprof_anomaly_kind)cursor++, &row),
                    chroprof__json_anomaly(o, &row))
CHROPROF__JSON_LIST(stacks, chroprof_stack_row, chroprof_next_stack(p, &cursor, &row),
                    chroprof__json_stack(o, &row))
CHROPROF__JSON_LIST(samples, chroprof_sample_row, chroprof_next_sample(p, &cursor, &row),
                    CHROPROF__PUT_FIELDS(o, "\n{", CHROPROF__JSON_SAMPLE, "}", &row))
CHROPROF__JSON_LIST(wall, chroprof_wall, chroprof_next_wall(p, &cursor, &row),
                    chroprof__json_wall(o, &row))
#undef CHROPROF__JSON_LIST

CHROPROF__COLD_API void chroprof__as_json(chroprof__out *o, const chroprof *p)
{
    chroprof_origin origin;
    if (o->absent) {
        const uint64_t version = CHROPROF_JSON_VERSION;
        const char *why_off = chroprof_why_off(p);
        chroprof__put_value(o, "{\nchroprof", &version);
        chroprof__put_value(o, "why_off$", &why_off);
        chroprof__put_text(o, "\n}\n");
        return;
    }
    chroprof_read_origin(p, &origin);
    chroprof__json_head(o, p, &origin);
    chroprof__json_totals(o, p);
    chroprof__json_findings(o, p);
    chroprof__json_waits(o, p);
    chroprof__list_sites(o, p);
    chroprof__list_paths(o, p);
    chroprof__list_stalls(o, p);
    chroprof__list_slowest(o, p);
    chroprof__json_windows(o, p);
    chroprof__list_futures(o, p);
    chroprof__json_timeline(o, p, origin.end_ns);
    chroprof__json_tables(o, p);
    chroprof__list_anomalies(o, p);
    chroprof__json_sampler(o, p);
    chroprof__json_modules(o, p);
    chroprof__list_stacks(o, p);
    chroprof__list_samples(o, p);
    chroprof__list_wall(o, p);
    chroprof__put_text(o, "\n}\n");
}
#else
CHROPROF__LEFT_OUT(chroprof__as_json)
#endif /* CHROPROF_NO_JSON */

#ifndef CHROPROF_NO_FOLDED
/* >>folded: root;..;leaf INT, self time in microseconds.
 * The format has no escapes, and some readers take two numbers at the end of a line for two
 * profiles: no frame ends in blank and digits. Relies on the public reads; called by >>formats. */

CHROPROF__COLD void chroprof__folded_frame(chroprof__out *o, const char *name)
{
    const char *tail;                       /* nothing but blanks, digits and points */
    if (*name == 0)
        name = "(empty)";
    tail = name;
    for (const char *at = name; *at != 0; at++)
        if ((unsigned char)*at > ' ' && strchr("\x7F.0123456789", *at) == NULL)
            tail = at + 1;
    while (*name != 0) {
        bool in_tail = name >= tail;
        uint32_t code = chroprof__next_code(&name);
        if (code <= ' ' || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029)
            chroprof__put_byte(o, in_tail ? '_' : ' ');
        else
            chroprof__put_code(o, code == ';' ? ':' : code);
    }
}

/* The sites of a path, the root first, though links only lead towards it. */
CHROPROF__COLD void chroprof__folded_chain(chroprof__out *o, const chroprof *p, uint32_t path)
{
    uint32_t chain[CHROPROF__CHAIN], count = 0;
    while (path != 0 && count < CHROPROF__CHAIN) {
        chain[count++] = path;
        (void)chroprof_path_name(p, path, &path, NULL);
    }
    while (count > 0 && !o->failed) {
        chroprof__put_byte(o, ';');
        chroprof__folded_frame(o, chroprof_path_name(p, chain[--count], NULL, NULL));
    }
}

/* A line of a path, or, path 0, of what has a name of its own. */
static void chroprof__folded_line(chroprof__out *o, const chroprof *p, const char *root,
                                  uint32_t path, const char *name, uint64_t ns)
{
    if (ns < 1000)
        return;
    chroprof__folded_frame(o, *root != 0 ? root : "loop");
    chroprof__folded_chain(o, p, path);
    chroprof__put_text(o, name);
    chroprof__put_byte(o, ' ');
    chroprof__put_u64(o, ns / 1000);
    chroprof__put_byte(o, '\n');
}

CHROPROF__COLD_API void chroprof__as_folded(chroprof__out *o, const chroprof *p)
{
    uint64_t cursor = 0;
    chroprof_options of;
    chroprof_totals t;
    chroprof_path row;
    if (o->absent)
        return;
    chroprof_read_options(p, &of);
    while (!o->failed && chroprof_next_path(p, &cursor, &row))
        chroprof__folded_line(o, p, of.name, row.id, "", row.exec_ns);
    chroprof_read_totals(p, &t);
    chroprof__folded_line(o, p, of.name, 0, ";(uninstrumented)", t.uninstrumented_ns);
    chroprof__folded_line(o, p, of.name, 0, ";(untracked)", t.untracked_ns);
    chroprof__folded_line(o, p, of.name, 0, ";(idle)", t.idle_ns);
}
#else
CHROPROF__LEFT_OUT(chroprof__as_folded)
#endif /* CHROPROF_NO_FOLDED */

#ifndef CHROPROF_NO_PROMETHEUS
/* >>prometheus: text exposition 0.0.4.
 * Metrics go by the lists in >>figures. The lines of a metric stand together, so each metric is a
 * walk over the sites of its own. With a limit of series each metric shows the sites that lead in
 * that very metric: the sum of all but the k largest of several rising figures never falls, whoever
 * changes place, so "(other)" is a true counter as well. One choice for all metrics would not keep
 * that. Relies on the public reads; called by >>formats. */

enum { CHROPROF__PROMETHEUS_TOP = 100, CHROPROF__BOUNDS = 15 };

/* The figures of a site and, a bit each, the bounds of its slices that people graph. */
static const char chroprof__graphed[][12] = {
    "exec_ns", "delay_ns", "blame_ns", "completed", "failed", "cancelled", "live"
};
enum { CHROPROF__GRAPHED_BOUNDS = 1 << 4 | 1 << 7 | 1 << 10 | 1 << 14 };

/* Sites whose figures are gathered at once, on the stack; a firmware has little of it. */
#ifdef CHROPROF_NO_STDIO
enum { CHROPROF__GATHERED = 64 };
#else
enum { CHROPROF__GATHERED = 1024 };
#endif

typedef struct chroprof__pick {
    uint64_t key;
    uint32_t site;
} chroprof__pick;

typedef struct chroprof__prometheus {
    chroprof__out *out;
    const chroprof *p;
    bool all;                          /* every series, not only what people graph */
    uint32_t top, count;               /* top 0: all sites, else so many of those picked */
    const chroprof__figure *by;        /* the order of live futures, slice lengths and latency */
    chroprof__pick picks[CHROPROF__PROMETHEUS_TOP];
    /* a walk over the sites with one figure of each */
    const chroprof__figure *figure;
    uint64_t cursor, value, rest;      /* rest: of the sites that are not shown */
    chroprof_site_row site;            /* its name is NULL: all that are not shown */
    uint32_t first, end;               /* the sites that are gathered */
    uint64_t values[CHROPROF__GATHERED];
} chroprof__prometheus;

/* The figure of many sites in one walk over the paths as they lie in memory: with 100,000 paths the
 * way along each site's own is a cache miss a path. */
static void chroprof__gather(chroprof__prometheus *m)
{
    const chroprof__figure *f = m->figure;
    bool deep = f->rank == offsetof(chroprof_rank, with_children_ns);
    chroprof_path row;
    m->first = m->site.id;
    m->end = m->first + CHROPROF__GATHERED;
    memset(m->values, 0, sizeof m->values);
    for (uint32_t path = CHROPROF__FIRST_PATH; deep ? chroprof_read_path(m->p, path, &row)
             : chroprof_read_path_alone(m->p, path, &row); path++)
        if (row.site - m->first < CHROPROF__GATHERED)
            chroprof__add(f, m->values + (row.site - m->first), *chroprof__field(&row, f->at));
}

static void chroprof__walk_sites(chroprof__prometheus *m, const chroprof__figure *figure)
{
    m->figure = figure;
    m->cursor = m->rest = 0;
    m->end = 0;
}

static bool chroprof__next_value(chroprof__prometheus *m)
{
    if (m->out->failed || !chroprof_next_site(m->p, &m->cursor, &m->site))
        return false;
    if (m->site.id >= m->end)
        chroprof__gather(m);
    m->value = m->values[m->site.id - m->first];
    return true;
}

/* Finds who leads in a figure, and begins a walk with another. The site "(other)" of a full table
 * is never among them. */
static void chroprof__prometheus_pick(chroprof__prometheus *m, const chroprof__figure *by,
                                      const chroprof__figure *figure)
{
    const chroprof__largest how = CHROPROF__LARGEST(m->top, chroprof__pick, key);
    m->count = 0;
    chroprof__walk_sites(m, by);
    while (m->top > 0 && chroprof__next_value(m)) {
        const chroprof__pick one = { m->value, m->site.id };
        if (one.site != CHROPROF__OTHER)
            m->count = chroprof__keep_largest(&how, m->picks, m->count, &one);
    }
    chroprof__walk_sites(m, figure);
}

/* The next site that is shown. */
static bool chroprof__next_picked(chroprof__prometheus *m)
{
    while (chroprof__next_value(m)) {
        bool picked = m->top == 0;
        for (uint32_t k = 0; k < m->count && !picked; k++)
            picked = m->picks[k].site == m->site.id;
        if (picked)
            return true;
        chroprof__add(m->figure, &m->rest, m->value);
    }
    return false;
}

/* Writes fields as a form says: & is a text, @ that of a label, . a number of 32 bits, all else
 * itself. places: where they lie. */
static void chroprof__put_form(chroprof__out *o, const char *form, const uint16_t *places,
                               const void *row)
{
    for (; *form != 0; form++) {
        if (*form == '&' || *form == '@' || *form == '.')
            chroprof__put_field(o, form, (const char *)row + *places++);
        else
            chroprof__put_byte(o, *form);
    }
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

/* What ends a line: seconds where the figure is a time. */
static void chroprof__prometheus_value(chroprof__out *o, const char *figure, uint64_t value)
{
    size_t length = strlen(figure);
    chroprof__put_byte(o, ' ');
    if (length > 3 && strcmp(figure + length - 3, "_ns") == 0)
        chroprof__put_places(o, value, 1000000000);
    else
        chroprof__put_u64(o, value);
    chroprof__put_byte(o, '\n');
}

/* A metric and what it is: two words. Not inlined: constants beside each other would be data that a
 * loader has to fill in. */
CHROPROF__NOINLINE void chroprof__prometheus_head(chroprof__out *o, const char *metric,
                                                  const char *type)
{
    const char *const words[] = { metric, chroprof__nth_text(metric, 1), metric, type };
    chroprof__put_form(o, "# HELP chroprof_& &\n# TYPE chroprof_& &\n", chroprof__in_line, words);
}

/* The labels of a site. Those that can't tell it from every other site get an id, too: of a cut
 * name, of one with bytes that are shown as U+FFFD, of a user's "(other)". It hangs on the site
 * alone, so a series never changes its labels because of what comes later. */
static void chroprof__prometheus_site(chroprof__out *o, const chroprof_site_row *site)
{
    static const uint16_t places[] = {
        (uint16_t)offsetof(chroprof_site_row, name), (uint16_t)offsetof(chroprof_site_row, file),
        (uint16_t)offsetof(chroprof_site_row, line)
    };
    bool others = strcmp(site->name, "(other)") == 0 && *site->file == 0;
    chroprof__put_form(o, "{name=\"@\",file=\"@\",line=\".\"", places, site);
    if (site->cut || !chroprof__is_utf8(site->name) || !chroprof__is_utf8(site->file) ||
        (others && site->id != CHROPROF__OTHER))
        chroprof__put_form(o, ",id=\".\"", chroprof__in_line, &site->id);
}

/* The value of a site; label "": it has none but the site's. */
static void chroprof__prometheus_line(const chroprof__prometheus *m, const char *metric,
                                      const char *label, const char *text, const char *figure,
                                      uint64_t value)
{
    chroprof__out *o = m->out;
    const char *const words[] = { metric, label, text };
    chroprof__put_form(o, "chroprof_&", chroprof__in_line, words);
    if (m->site.name != NULL)
        chroprof__prometheus_site(o, &m->site);
    else
        chroprof__put_text(o, "{name=\"(other)\",file=\"\",line=\"0\"");
    if (*label != 0)
        chroprof__put_form(o, ",&=\"@\"", chroprof__in_line, words + 1);
    chroprof__put_byte(o, '}');
    chroprof__prometheus_value(o, figure, value);
}

static void chroprof__prometheus_row(const chroprof__prometheus *m, const char *name)
{
    const char *metric = chroprof__nth_text(name, 1);
    const char *label = strcmp(metric, "calls_total") == 0 ? "result" : "";
    chroprof__prometheus_line(m, metric, label, name, name, m->value);
}

/* A gauge has no order of its own. */
static void chroprof__prometheus_sites(chroprof__prometheus *m)
{
    const char *name = chroprof__path_words;
    const chroprof__figure *f = chroprof__path_figures;
    const chroprof__figure *end = f + sizeof chroprof__path_figures / sizeof *f;
    for (; f < end && !m->out->failed; f++, name = chroprof__nth_text(name, 3)) {
        const char *metric = chroprof__nth_text(name, 1);
        bool gauge = f->kind == CHROPROF__PRESENT, shown = m->all;
        for (size_t k = 0; k < sizeof chroprof__graphed / sizeof *chroprof__graphed; k++)
            shown = shown || strcmp(chroprof__graphed[k], name) == 0;
        if (!shown || *metric == 0)
            continue;
        if (*chroprof__nth_text(name, 2) != 0)
            chroprof__prometheus_head(m->out, metric, gauge ? "gauge" : "counter");
        chroprof__prometheus_pick(m, gauge ? m->by : f, f);
        while (chroprof__next_picked(m))
            chroprof__prometheus_row(m, name);
        m->site.name = NULL;
        m->value = m->rest;
        if (m->top != 0)
            chroprof__prometheus_row(m, name);
    }
}

static void chroprof__prometheus_histogram(const chroprof__prometheus *m)
{
    static const char names[CHROPROF__BOUNDS][9] = {
        "0.000001", "0.00001", "0.0001", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025",
        "0.05", "0.1", "0.25", "1", "10", "+Inf"
    };
    static const uint64_t bounds_ns[CHROPROF__BOUNDS] = {
        1000, 10000, 100000, 500000, 1000000, 2500000, 5000000, 10000000, 25000000, 50000000,
        100000000, 250000000, 1000000000, 10000000000u, UINT64_MAX
    };
    uint64_t slices[CHROPROF__BOUNDS];
    if (!chroprof_slice_counts(m->p, m->site.id, bounds_ns, CHROPROF__BOUNDS, slices))
        return;
    for (uint32_t k = 0; k < CHROPROF__BOUNDS; k++)
        if (m->all || (CHROPROF__GRAPHED_BOUNDS >> k & 1) != 0)
            chroprof__prometheus_line(m, "slice_duration_seconds_bucket", "le", names[k], "",
                                      slices[k]);
    chroprof__prometheus_line(m, "slice_duration_seconds_sum", "", "", "exec_ns", m->value);
    chroprof__prometheus_line(m, "slice_duration_seconds_count", "", "", "",
                              slices[CHROPROF__BOUNDS - 1]);
}

/* A site without percentiles has no row here, and the others than the first ones are not summed:
 * their buckets would fall when a site joins the first. */
static void chroprof__prometheus_histograms(chroprof__prometheus *m)
{
    chroprof__prometheus_head(m->out, "slice_duration_seconds\0Length of the slices that ended; "
                              "its sum has the one under way.", "histogram");
    chroprof__prometheus_pick(m, m->by, chroprof__path_figures);  /* the first one is exec_ns */
    while (chroprof__next_picked(m))
        chroprof__prometheus_histogram(m);
}

/* Of the sites that the histograms have shown, where futures have finished. */
static void chroprof__prometheus_latency(chroprof__prometheus *m)
{
    static const char quantiles[3][5] = { "0.5", "0.99", "1" };
    chroprof_rank rank;
    chroprof__prometheus_head(m->out, "latency_seconds\0Futures that finished, from creation; "
                              "since the start of the profile.", "summary");
    chroprof__walk_sites(m, chroprof__path_figures);
    while (chroprof__next_picked(m)) {
        (void)chroprof_read_rank(m->p, m->site.id, &rank);
        const uint64_t values[] = { rank.latency_p50_ns, rank.latency_p99_ns, rank.latency_max_ns };
        for (uint32_t k = 0; k < 3 && rank.latency_max_ns > 0; k++)
            chroprof__prometheus_line(m, "latency_seconds", "quantile", quantiles[k], "lifetime_ns",
                                      values[k]);
    }
}

static void chroprof__prometheus_total(chroprof__out *o, const char *metric, const char *type,
                                       const char *figure, uint64_t value)
{
    chroprof__prometheus_head(o, metric, type);
    chroprof__put_text(o, "chroprof_");
    chroprof__put_text(o, metric);
    chroprof__prometheus_value(o, figure, value);
}

static void chroprof__prometheus_totals(const chroprof__prometheus *m)
{
    chroprof_totals t;
    const char *name = chroprof__loop_words;
    chroprof_read_totals(m->p, &t);
    for (size_t k = 0; k < sizeof chroprof__loop_figures / sizeof *chroprof__loop_figures; k++) {
        const char *metric = chroprof__nth_text(name, 1);
        if (*metric != 0)
            chroprof__prometheus_total(m->out, metric, "counter", name,
                                       *chroprof__field(&t, chroprof__loop_figures[k].at));
        name = chroprof__nth_text(name, 3);
    }
    if (t.estimated)
        chroprof__put_text(m->out, "# Taken from outside: all times are estimates from samples. "
                           "Of n samples, a share differs by up to 0.5/sqrt(n) (standard "
                           "error).\n");
    if (t.hidden_p99_ns > 0 && !t.estimated) {
        chroprof__prometheus_total(m->out, "hidden_delay_mean_seconds\0Estimate: how long data "
                                   "waits until the loop polls, on average.", "gauge",
                                   "hidden_ns", t.hidden_ns);
        chroprof__prometheus_total(m->out, "hidden_delay_p99_seconds\0Estimate: the same, of "
                                   "99 in 100.", "gauge", "hidden_p99_ns", t.hidden_p99_ns);
    }
    if (t.start_unix_ns > 0)
        chroprof__prometheus_total(m->out, "start_time_seconds\0Calendar time of profile time 0.",
                                   "gauge", "start_unix_ns", t.start_unix_ns);
}

static void chroprof__prometheus_anomalies(const chroprof__prometheus *m)
{
    chroprof_anomaly row;
    chroprof__prometheus_head(m->out, "anomalies_total\0Unexpected sequences of calls.", "counter");
    for (int k = 0; chroprof_read_anomaly(m->p, (chroprof_anomaly_kind)k, &row); k++) {
        chroprof__put_text(m->out, "chroprof_anomalies_total{kind=\"");
        chroprof__put_word(m->out, CHROPROF__ANOMALY_WORDS, (uint64_t)row.kind);
        chroprof__put_text(m->out, "\"}");
        chroprof__prometheus_value(m->out, "", row.count);
    }
}

/* One of the counts of all tables. */
static void chroprof__prometheus_tables(const chroprof__prometheus *m, const char *metric,
                                        const char *type, uint16_t at)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(m->p, rows, CHROPROF_TABLE_COUNT);
    chroprof__prometheus_head(m->out, metric, type);
    for (size_t k = 0; k < count; k++) {
        const char *const words[] = { metric, rows[k].name };
        chroprof__put_form(m->out, "chroprof_&{table=\"@\"}", chroprof__in_line, words);
        chroprof__prometheus_value(m->out, "", *chroprof__field(rows + k, at));
    }
}

/* What both formats have. */
static void chroprof__prometheus_write(chroprof__prometheus *m, chroprof__out *o,
                                       const chroprof *p, bool all)
{
    const chroprof_prometheus_options none = { 0, CHROPROF_BY_EXEC };
    const chroprof_prometheus_options *series = o->series != NULL ? o->series : &none;
    chroprof_options of;
    memset(m, 0, sizeof *m);
    m->out = o;
    m->p = p;
    m->all = all;
    m->top = series->top;
    if (m->top > CHROPROF__PROMETHEUS_TOP)
        m->top = CHROPROF__PROMETHEUS_TOP;
    m->by = chroprof__path_figures;
    while (m->by->rank != chroprof__order_at(series->by))
        m->by++;
    chroprof_read_options(p, &of);
    chroprof__prometheus_head(o, "info\0The profile.", "gauge");
    chroprof__put_form(o, "chroprof_info{profile=\"@\",", chroprof__in_line, &of.name);
    chroprof__put_text(o, "version=\"" CHROPROF_VERSION "\"} 1\n");
    chroprof__prometheus_totals(m);
    chroprof__prometheus_sites(m);
    chroprof__prometheus_histograms(m);
    chroprof__prometheus_anomalies(m);
    chroprof__prometheus_tables(m, "table_dropped_total\0How often something did not fit.",
                                "counter", (uint16_t)offsetof(chroprof_table, dropped));
}

CHROPROF__COLD_API void chroprof__as_prometheus(chroprof__out *o, const chroprof *p)
{
    chroprof__prometheus m;
    if (!o->absent)
        chroprof__prometheus_write(&m, o, p, false);
}

CHROPROF__COLD_API void chroprof__as_prometheus_all(chroprof__out *o, const chroprof *p)
{
    chroprof__prometheus m;
    if (o->absent)
        return;
    chroprof__prometheus_write(&m, o, p, true);
    chroprof__prometheus_latency(&m);
    chroprof__prometheus_tables(&m, "table_capacity\0Rows that a table has.", "gauge",
                                (uint16_t)offsetof(chroprof_table, capacity));
    chroprof__prometheus_tables(&m, "table_used\0Rows in use.", "gauge",
                                (uint16_t)offsetof(chroprof_table, used));
}
#else
CHROPROF__LEFT_OUT(chroprof__as_prometheus)
CHROPROF__LEFT_OUT(chroprof__as_prometheus_all)
#endif /* CHROPROF_NO_PROMETHEUS */

#ifndef CHROPROF_NO_PPROF
/* >>pprof: profile.proto.
 * A message is preceded by its length, which is worked out beforehand. Strings are named by their
 * place: the fixed ones, then the name and the file of each site by its id. One function and one
 * location stand for a site, one sample for a path; loop, idle and untracked are sites 0 to 2.
 * Relies on the public reads; called by >>formats. */

enum { CHROPROF__TYPES = 5 };

/* Places in the table of strings, in the order of chroprof__pprof_strings. */
enum {
    CHROPROF__STRING_COUNT = 2, CHROPROF__STRING_EXEC = 3, CHROPROF__STRING_NS = 4,
    CHROPROF__STRING_STATE = 8, CHROPROF__STRING_IDLE = 9, CHROPROF__STRING_COMMENT = 10,
    CHROPROF__STRING_NAME = 11, CHROPROF__STRING_PROGRAM = 12, CHROPROF__STRING_SITES = 13
};

/* The following functions make a message: each puts something at a place and returns where it ends.
 * Fields are below 16, so a key is one byte. */
static char *chroprof__proto_value(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(unsigned char)(value | 0x80);
    *at = (char)value;
    return at + 1;
}

static char *chroprof__proto_number(char *at, uint32_t field, uint64_t value)
{
    *at = (char)(field << 3);
    return chroprof__proto_value(at + 1, value);
}

/* A message of at most 127 bytes has been made: its key and length go before it. */
static char *chroprof__proto_message(char *at, uint32_t field, char *end)
{
    at[-2] = (char)(field << 3 | 2);
    at[-1] = (char)(end - at);
    return end;
}

/* A message of two numbers. */
static char *chroprof__proto_pair(char *at, uint32_t field, uint64_t first, uint64_t second)
{
    char *end = chroprof__proto_number(at + 2, 1, first);
    return chroprof__proto_message(at + 2, field, chroprof__proto_number(end, 2, second));
}

static void chroprof__put_proto(chroprof__out *o, const char *bytes, const char *end)
{
    chroprof__put_bytes(o, bytes, (size_t)(end - bytes));
}

/* Begins what is longer, or not made beforehand. */
static void chroprof__proto_begin(chroprof__out *o, uint32_t field, uint64_t size)
{
    char bytes[11] = { (char)(field << 3 | 2) };
    chroprof__put_proto(o, bytes, chroprof__proto_value(bytes + 1, size));
}

/* Entries of the table of strings: so many words. */
static void chroprof__proto_texts(chroprof__out *o, const char *words, uint32_t count)
{
    char bytes[4];
    for (; count > 0; count--, words++) {
        uint64_t size = 0;
        for (const char *from = words; *from != 0;)
            size += chroprof__encode(chroprof__next_code(&from), bytes);
        chroprof__proto_begin(o, 6, size);
        while (*words != 0)
            chroprof__put_code(o, chroprof__next_code(&words));
    }
}

static void chroprof__pprof_types(chroprof__out *o)
{
    static const unsigned char types[CHROPROF__TYPES][2] = {
        { 1, CHROPROF__STRING_COUNT }, { CHROPROF__STRING_EXEC, CHROPROF__STRING_NS },
        { 5, CHROPROF__STRING_NS }, { 6, CHROPROF__STRING_NS }, { 7, CHROPROF__STRING_NS }
    };
    char bytes[6 * CHROPROF__TYPES + 8], *end = bytes;
    for (uint32_t k = 0; k < CHROPROF__TYPES; k++)
        end = chroprof__proto_pair(end, 1, types[k][0], types[k][1]);
    end = chroprof__proto_pair(end, 11, CHROPROF__STRING_EXEC, CHROPROF__STRING_NS);
    chroprof__put_proto(o, bytes, chroprof__proto_number(end, 12, 1));
}

/* Location ids are site ids plus 1, the leaf first; path 0: that site alone. Without out it only
 * tells the size. */
static uint64_t chroprof__pprof_chain(chroprof__out *o, const chroprof *p, uint32_t path,
                                      uint32_t site)
{
    uint64_t size = 0;
    do {
        char bytes[10];
        if (path != 0)
            (void)chroprof_path_name(p, path, &path, &site);
        const char *end = chroprof__proto_value(bytes, (uint64_t)site + 1);
        size += (uint64_t)(end - bytes);
        if (o != NULL)
            chroprof__put_proto(o, bytes, end);
    } while (path != 0);
    return size;
}

/* A sample of a path, or, path 0, of one of the sites 0 to 2. idle has the one label: the profile's
 * own name is none, as pprof would draw it at every node. Values are signed: where many futures
 * wait for days their lifetime is cut. */
static void chroprof__pprof_sample(chroprof__out *o, const chroprof *p, uint32_t path,
                                   uint32_t site, const uint64_t *values)
{
    char head[11] = { 1 << 3 | 2 }, bytes[10 * CHROPROF__TYPES + 8], *end = bytes + 2;
    uint64_t chain = chroprof__pprof_chain(NULL, p, path, site), any = 0;
    const char *head_end = chroprof__proto_value(head + 1, chain);
    for (uint32_t k = 0; k < CHROPROF__TYPES; k++) {
        end = chroprof__proto_value(end, values[k] >> 63 ? UINT64_MAX >> 1 : values[k]);
        any |= values[k];
    }
    if (any == 0)
        return;
    end = chroprof__proto_message(bytes + 2, 2, end);
    if (path == 0 && site == CHROPROF__IDLE)
        end = chroprof__proto_pair(end, 3, CHROPROF__STRING_STATE, CHROPROF__STRING_IDLE);
    chroprof__proto_begin(o, 2, (uint64_t)(head_end - head) + chain + (uint64_t)(end - bytes));
    chroprof__put_proto(o, head, head_end);
    (void)chroprof__pprof_chain(o, p, path, site);
    chroprof__put_proto(o, bytes, end);
}

/* Loop, idle and untracked have exec and blame, as in all formats: futures that no path could hold
 * are no call there. */
static void chroprof__pprof_samples(chroprof__out *o, const chroprof *p, const chroprof_totals *t)
{
    const uint64_t own[3][CHROPROF__TYPES] = {
        { 0, t->uninstrumented_ns, 0, 0, t->uninstrumented_blame_ns }, { 0, t->idle_ns, 0, 0,
        t->idle_blame_ns }, { 0, t->untracked_ns, 0, 0, t->untracked_blame_ns }
    };
    chroprof_path row;
    for (uint32_t site = 0; site < 3; site++)
        chroprof__pprof_sample(o, p, 0, site, own[site]);
    for (uint32_t path = CHROPROF__FIRST_PATH;
         !o->failed && chroprof_read_path_alone(p, path, &row); path++) {
        const uint64_t values[CHROPROF__TYPES] = { row.calls, row.exec_ns, row.lifetime_ns,
                                                   row.delay_ns, row.blame_ns };
        chroprof__pprof_sample(o, p, path, row.site, values);
    }
}

/* The location of a site, and its function. */
static void chroprof__pprof_site(chroprof__out *o, uint32_t site, uint32_t line)
{
    char bytes[96], *location = bytes + 2, *function, *end;
    uint64_t id = (uint64_t)site + 1, name = CHROPROF__STRING_SITES + 2 * (uint64_t)site;
    end = chroprof__proto_number(chroprof__proto_number(location, 1, id), 2, 1);
    end = chroprof__proto_pair(end, 4, id, line);
    function = chroprof__proto_message(location, 4, end) + 2;
    end = chroprof__proto_number(chroprof__proto_number(function, 1, id), 2, name);
    end = chroprof__proto_number(chroprof__proto_number(end, 3, name), 4, name + 1);
    end = chroprof__proto_number(end, 5, line);
    chroprof__put_proto(o, bytes, chroprof__proto_message(function, 5, end));
}

/* Sites that were never used leave their places empty. */
static void chroprof__pprof_strings(chroprof__out *o, const chroprof *p, const chroprof_origin *of)
{
    uint64_t cursor = 0;
    chroprof_site_row site;
    chroprof__proto_texts(o, "\0calls\0count\0exec\0nanoseconds\0lifetime\0delay\0blame\0state\0"
                          "idle", 10);
    chroprof__proto_texts(o, of->estimated ? "chroprof " CHROPROF_VERSION ": taken from outside, "
                                             "all times are estimates from samples"
                                           : "chroprof " CHROPROF_VERSION, 1);
    chroprof__proto_texts(o, of->name, 1);
    chroprof__proto_texts(o, of->program, 1);
    chroprof__proto_texts(o, "(uninstrumented)\0\0(idle)\0\0(untracked)\0", 6);
    for (uint32_t next = 3; !o->failed && chroprof_next_site(p, &cursor, &site); next++) {
        for (; next < site.id; next++)
            chroprof__proto_texts(o, "\0", 2);
        chroprof__proto_texts(o, *site.name != 0 ? site.name : "(empty)", 1);
        chroprof__proto_texts(o, site.file, 1);
    }
}

CHROPROF__COLD_API void chroprof__as_pprof(chroprof__out *o, const chroprof *p)
{
    uint64_t cursor = 0;
    char bytes[32], *end;
    chroprof_origin of;
    chroprof_site_row site;
    chroprof_totals t;
    if (o->absent)
        return;
    chroprof_read_origin(p, &of);
    chroprof_read_totals(p, &t);
    chroprof__pprof_types(o);
    chroprof__pprof_samples(o, p, &t);
    end = chroprof__proto_number(bytes + 2, 1, 1);
    end = chroprof__proto_number(end, 5, CHROPROF__STRING_PROGRAM);
    end = chroprof__proto_number(end, 7, 1);
    chroprof__put_proto(o, bytes, chroprof__proto_message(bytes + 2, 3, end));
    for (uint32_t k = 0; k < 3; k++)
        chroprof__pprof_site(o, k, 0);
    while (!o->failed && chroprof_next_site(p, &cursor, &site))
        chroprof__pprof_site(o, site.id, site.line);
    chroprof__pprof_strings(o, p, &of);
    end = chroprof__proto_number(bytes, 9, t.start_unix_ns);
    end = chroprof__proto_number(end, 10, t.elapsed_ns);
    end = chroprof__proto_number(end, 13, CHROPROF__STRING_COMMENT);
    if (*of.name != 0)
        end = chroprof__proto_number(end, 13, CHROPROF__STRING_NAME);
    chroprof__put_proto(o, bytes, chroprof__proto_number(end, 14, CHROPROF__STRING_EXEC));
}
#else
CHROPROF__LEFT_OUT(chroprof__as_pprof)
#endif /* CHROPROF_NO_PPROF */


#undef CHROPROF__LEFT_OUT

/* >>formats: the calls that write, a format chosen by its constant. */

CHROPROF__COLD_API int (chroprof_write)(chroprof *p, chroprof_format format, chroprof_writer write,
                                        void *user)
{
    return chroprof_write(p, format, write, user);
}

CHROPROF__COLD_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                           chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof__as_text, write, user, options, NULL);
}

CHROPROF__COLD_API int chroprof_write_prometheus(chroprof *p,
                                                 const chroprof_prometheus_options *options,
                                                 chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof__as_prometheus, write, user, NULL, options);
}

#ifndef CHROPROF_NO_STDIO
static bool chroprof__terminal(FILE *out, uint32_t *width)
{
#ifdef CHROPROF__TERMINAL
    int number = fileno(out);
    if (number < 0 || !isatty(number))
        return false;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(number, TIOCGWINSZ, &size) == 0)
        *width = size.ws_col;
#else
    (void)width;
#endif
    return true;
#else
    (void)out;
    (void)width;
    return false;
#endif
}

static int chroprof__write_stream(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) != count;
}

CHROPROF__COLD_API int chroprof__dump_by(chroprof *p, chroprof__writes *as, FILE *out)
{
    chroprof_text_options look;
    int before = errno;
    if (out == NULL) {
        errno = EINVAL;
        return -1;
    }
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM"), *wide = getenv("COLUMNS");
    bool plain = (no_color && *no_color) || (term && strcmp(term, "dumb") == 0);
    memset(&look, 0, sizeof look);
    look.color = chroprof__terminal(out, &look.width) && !plain;
    unsigned long told = look.width == 0 && wide ? strtoul(wide, NULL, 10) : look.width;
    look.width = told < 1000 ? (uint32_t)told : 1000;
    errno = 0;
    if (chroprof__put_profile(p, as, chroprof__write_stream, out, &look, NULL) == 0 &&
        fflush(out) == 0) {
        errno = before;
        return 0;
    }
    if (errno == 0)
        errno = ferror(out) ? EIO : EINVAL;
    return -1;
}

CHROPROF__COLD_API int (chroprof_dump)(chroprof *p, chroprof_format format, FILE *out)
{
    return chroprof_dump(p, format, out);
}
#endif /* CHROPROF_NO_STDIO */

CHROPROF__COLD_END
#endif /* CHROPROF_IMPLEMENTATION */

/*
LICENSE

chroprof is available under two licenses; choose whichever you prefer.

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
