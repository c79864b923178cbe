## chroprof_chronos.nim - profiles Chronos, by chroprof.h and the hooks of Chronos. Copy it and
## chroprof.h into one folder, and compile your program with -d:chronosProfiling. Three lines:
##
##     import chroprof_chronos
##     startProfile("server.chroprof")     # in the thread of the loop, before it runs
##     ...
##     reportProfile()                     # at the end; or addExitProc(reportProfile)
##
## `chroprof top server.chroprof` shows the file meanwhile, `chroprof report` makes a page of it.
## startProfile() without a file keeps the profile in memory.
##
## What you get: each async proc and every other future, named by the place that creates it, with
## exec, lifetime, parent, result, and those born finished. An async proc is ready from the moment
## at which what it awaits has finished: delay and blame rest on that. The wait of the dispatcher is
## idle. Callbacks of Chronos that are no futures (of transports, timers, callSoon) are
## uninstrumented time. The sampler shows the code inside a task. For whole stacks compile with
## --passC:-fno-omit-frame-pointer, for files and lines with --debugger:native. The command shows
## symbols of Nim as module.proc.
##
## Versions: a Chronos with profiling hooks. Those are two branches of Codex's fork of it:
## feature/profiler-v4 (4.0: onBaseFutureEvent and onAsyncFutureEvent) and feature/profiler (3.2; up
## to December 2023 its hooks were onFutureEvent and onFutureExecEvent). Chronos' own releases, up
## to 4.4.0, have no hooks. With them, or without -d:chronosProfiling, a program compiles, nothing
## is profiled, and reportProfile says why. Nim 1.6 and 2.0, refc and orc. A hook that is set
## already, such as that of Chronos' own profiler, is called as before.
##
## An event allocates nothing, raises nothing and is gcsafe. Each thread may profile its own loop. A
## thread that ends before the program does calls stopProfile() first.
##
## waitFor inside an async proc: when it waits, a nested loop begins, whose time is not the proc's.
## Chronos has no hook where waitFor ends, so the next pause or end of that proc ends the loop.
## Until then what the proc does is uninstrumented, and what it creates has no parent. This is
## exact:
##
##     nestedLoop: waitFor something()
##
## Limits: idle and loops without nestedLoop are seen where Chronos waits in epoll (Linux, without
## -d:chronosEventEngine=poll) and the program itself contains this module, not a library that it
## loads. Elsewhere waits are uninstrumented. If an async proc waits in an epoll descriptor of its
## own, this is its exec time. Futures that are dropped unfinished stay live until max_futures is
## reached. Not for 64-bit big-endian machines.
##
## Users of Chronos' own profiler graph five metrics. chronosMetrics() returns them with the labels
## of that profiler (proc, file, line) and in nanoseconds. The same from the format PrometheusAll,
## in seconds and with the label name instead of proc:
##
##     chronos_exec_time_total                  chroprof_exec_seconds_total
##     chronos_exec_time_with_children_total    chroprof_with_children_seconds_total
##     chronos_wall_time_total                  chroprof_lifetime_seconds_total
##     chronos_call_count_total                 sum without (result) (chroprof_calls_total{
##                                                result=~"completed|failed|cancelled"})
##     chronos_single_exec_time_max             only in chronosMetrics()
##
## That profiler counts a future when it and its children have ended. Here exec and lifetime include
## those that live, so an endless loop shows. A proc that calls itself counts once in its time with
## children.
##
## License: as chroprof.h.

{.warning[UnusedImport]: off.}          # where Chronos has no hooks

import std/os
import chronos/[futures, srcloc]

const here = currentSourcePath().parentDir()
{.passC: "-I" & quoteShell(here) & " -I" & quoteShell(here.parentDir().parentDir()).}

type
  ProfileFormat* {.pure.} = enum
    Text, Json, Folded, Prometheus, Pprof, PrometheusAll = 7

  ProfileOptions* {.importc: "chroprof_options", header: "chroprof.h", bycopy.} = object
    ## See chroprof_options in chroprof.h; 0: the default.
    max_futures*, max_sites*, max_paths*, max_edges*, max_depth*, max_histograms*: uint32
    max_samples*, max_windows*, max_stalls*, string_bytes*, max_stack_frames*: uint32
    max_events*, max_slow*, max_incidents*: uint32
    window_ns*, stall_ns*, max_step_ns*: uint64
    clock*: proc (user: pointer): uint64 {.cdecl, gcsafe, raises: [].}
    name*: cstring

const hooks =
  when declared(onBaseFutureEvent): 2
  elif declared(onFutureExecEvent): 1
  else: 0

{.emit: """/*INCLUDESECTION*/
#include <signal.h>
#include <stdlib.h>
#define CHROPROF_IMPLEMENTATION
#include "chroprof.h"
""".}

{.emit: """/*TYPESECTION*/
#define CHROPROF__CHRONOS_LOOPS 32      /* nested ones that can be open */
#if defined(__GNUC__)
#define CHROPROF__CHRONOS_FRAME __builtin_frame_address(0)
#define CHROPROF__CHRONOS_APART __attribute__((__noinline__))
#else
#define CHROPROF__CHRONOS_FRAME NULL
#define CHROPROF__CHRONOS_APART
#endif

/* A nested loop. Its waits are told from those of others by where on the stack they are: a loop
 * inside this one waits further down, and a wait further up means that this one has ended. */
typedef struct chroprof__chronos_loop {
    const char *first;          /* where it waited first; NULL: the program says when it ends */
    const char *last;
    uint64_t waiter;            /* the future that waits in it */
    uint32_t depth;             /* of the running stack, with its barrier */
} chroprof__chronos_loop;

static NIM_THREADVAR chroprof chroprof__chronos;
static NIM_THREADVAR struct {
    void *memory;
    chroprof_result result;
    bool on;
    int fd;                     /* that the dispatcher waits in; -1: not known yet */
    uint32_t count;             /* of nested loops, those without room in the table included */
    const char *base;           /* where the outermost loop waited last */
    chroprof__chronos_loop loops[CHROPROF__CHRONOS_LOOPS];
} chroprof__loops;

static chroprof__chronos_loop *chroprof__chronos_innermost(void)
{
    uint32_t n = chroprof__loops.count;
    return n > 0 && n <= CHROPROF__CHRONOS_LOOPS ? &chroprof__loops.loops[n - 1] : NULL;
}

static uint32_t chroprof__chronos_depth(void)
{
    chroprof_totals totals;
    chroprof_read_totals(&chroprof__chronos, &totals);
    return totals.depth;
}

/* The innermost of the futures that run. */
static uint64_t chroprof__chronos_runs(void)
{
    chroprof_future future;
    uint64_t cursor = 0, id = 0, since = 0;
    while (chroprof_next_future(&chroprof__chronos, &cursor, &future))
        if (future.state == CHROPROF_RUNNING && future.id != 0 && future.since_ns >= since) {
            since = future.since_ns;
            id = future.id;
        }
    return id;
}

static void chroprof__chronos_enter(const char *at)
{
    uint64_t waiter = at != NULL ? chroprof__chronos_runs() : 0;
    chroprof__chronos_loop *loop;
    chroprof_loop_enter(&chroprof__chronos);
    chroprof__loops.count++;
    loop = chroprof__chronos_innermost();
    if (loop != NULL) {
        loop->first = loop->last = at;
        loop->waiter = waiter;
        loop->depth = chroprof__chronos_depth();
    }
}

static void chroprof__chronos_leave(void)
{
    chroprof_loop_leave(&chroprof__chronos);
    chroprof__loops.count--;
}

/* Loops that the program did not announce and that wait no more. */
static void chroprof__chronos_leave_below(const char *at)
{
    const chroprof__chronos_loop *loop = chroprof__chronos_innermost();
    for (; loop != NULL && loop->first != NULL && at > loop->first;
         loop = chroprof__chronos_innermost())
        chroprof__chronos_leave();
}

/* A wait where none was before. False: it is that of a future, on a descriptor of its own. */
static bool chroprof__chronos_new_wait(int fd, const char *at)
{
    chroprof__chronos_loop *loop = chroprof__chronos_innermost();
    bool runs = chroprof__chronos_depth() > (loop != NULL ? loop->depth : 0);
    if (runs && chroprof__loops.fd != -1 && chroprof__loops.fd != fd)
        return false;
    chroprof__loops.fd = fd;
    if (runs && chroprof__loops.count < CHROPROF__CHRONOS_LOOPS)
        chroprof__chronos_enter(at);
    else if (loop != NULL)
        loop->last = at;
    else if (chroprof__loops.count == 0)
        chroprof__loops.base = at;
    return true;
}

/* The profile that a wait of this thread is idle in; NULL: none. */
static CHROPROF__CHRONOS_APART chroprof *chroprof__chronos_waits(int fd)
{
    const char *at = (const char *)CHROPROF__CHRONOS_FRAME;
    const chroprof__chronos_loop *loop;
    if (!chroprof__loops.on)
        return NULL;
    if (fd == chroprof__loops.fd)
        chroprof__chronos_leave_below(at);
    loop = chroprof__chronos_innermost();
    if (fd == chroprof__loops.fd && at == (loop != NULL ? loop->last : chroprof__loops.base))
        return &chroprof__chronos;
    return chroprof__chronos_new_wait(fd, at) ? &chroprof__chronos : NULL;
}

/* A future that waited in a loop goes on, or has ended: so has the loop. */
static void chroprof__chronos_back(uint64_t id)
{
    const chroprof__chronos_loop *loop = chroprof__chronos_innermost();
    if (loop != NULL && loop->waiter == id && loop->first != NULL)
        chroprof__chronos_leave();
}
""".}

when hooks > 0:
  {.emit: """
CHROPROF_EPOLL_IDLE(chroprof__chronos_waits(fd));
""".}

{.emit: """
/* Where a future comes from: a SrcLoc is laid out as a chroprof_site, see the checks in Nim. */
static const chroprof_site *chroprof__chronos_site(const void *location)
{
    const chroprof_site *site = (const chroprof_site *)location;
    if (site == NULL || (site->name != NULL && *site->name != '\0'))
        return site;
    return chroprof_site_make(&chroprof__chronos, "(unnamed)", site->file, site->line);
}

static void chroprof__chronos_pending(uint64_t id, const void *location)
{
    chroprof_pending(&chroprof__chronos, id, chroprof__chronos_site(location));
}

static void chroprof__chronos_running(uint64_t id, const void *location)
{
    chroprof *p = &chroprof__chronos;
    chroprof_event(p, CHROPROF_RUNNING, id, chroprof__chronos_site(location), chroprof_now(p));
}

static void chroprof__chronos_paused(uint64_t id)
{
    if (chroprof__loops.count != 0)
        chroprof__chronos_back(id);
    chroprof_paused(&chroprof__chronos, id);
}

static void chroprof__chronos_finished(uint64_t id, int state)
{
    chroprof *p = &chroprof__chronos;
    if (chroprof__loops.count != 0)
        chroprof__chronos_back(id);
    if (state == 0)
        chroprof_completed(p, id);
    else if (state == 1)
        chroprof_failed(p, id);
    else
        chroprof_cancelled(p, id);
}

static void chroprof__chronos_stillborn(const void *location, int state)
{
    chroprof_stillborn(&chroprof__chronos, chroprof__chronos_site(location),
                       state == 0   ? CHROPROF_COMPLETED
                       : state == 1 ? CHROPROF_FAILED
                                    : CHROPROF_CANCELLED);
}

static void chroprof__chronos_ready(uint64_t id)
{
    chroprof_ready(&chroprof__chronos, id);
}

static void chroprof__chronos_nested(void)
{
    if (chroprof__loops.on)
        chroprof__chronos_enter(NULL);
}

/* Also of the loops inside it that have not been seen to end. */
static void chroprof__chronos_nested_end(void)
{
    const chroprof__chronos_loop *loop = chroprof__chronos_innermost();
    for (; loop != NULL && loop->first != NULL; loop = chroprof__chronos_innermost())
        chroprof__chronos_leave();
    if (chroprof__loops.count > 0)
        chroprof__chronos_leave();
}

static void chroprof__chronos_stop(void)
{
    if (!chroprof__loops.on)
        return;
    chroprof__loops.on = false;
    chroprof_sampler_stop(&chroprof__chronos);
    chroprof_tick(&chroprof__chronos);
    if (chroprof__loops.memory == NULL)
        chroprof_unmap(&chroprof__chronos);
    else
        chroprof_set_enabled(&chroprof__chronos, false);
}

static const char *chroprof__chronos_start(const char *file, size_t size,
                                           const chroprof_options *options, bool sample)
{
    chroprof *p = &chroprof__chronos;
    chroprof_result result = CHROPROF_OK;
    chroprof__chronos_stop();
    free(chroprof__loops.memory);
    memset(&chroprof__loops, 0, sizeof chroprof__loops);
    chroprof__loops.fd = -1;
    if (*file != '\0') {
        result = chroprof_map(p, file, size, options);
    } else {
        chroprof__loops.memory = malloc(size);
        result = chroprof_init(p, chroprof__loops.memory, size, options);
    }
    chroprof__loops.result = result;
    chroprof__loops.on = result == CHROPROF_OK;
    if (result == CHROPROF_OK && sample)
        result = chroprof_sampler_start(p, NULL);
    return result == CHROPROF_OK ? "" : chroprof_result_text(result);
}

static chroprof *chroprof__chronos_handle(void)
{
    return &chroprof__chronos;
}

static int chroprof__chronos_write(int format, chroprof_writer write, void *user)
{
    return (chroprof_write)(&chroprof__chronos, (chroprof_format)format, write, user);
}

static int chroprof__chronos_dump(int format, void *file)
{
    return (chroprof_dump)(&chroprof__chronos, (chroprof_format)format, (FILE *)file);
}

/* ---- the metrics of Chronos' own profiler */

static void chroprof__chronos_label(chroprof_writer write, void *user, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            (void)write(user, "\\", 1);
        (void)write(user, *text == '\n' ? " " : text, 1);
    }
}

static void chroprof__chronos_text(chroprof_writer write, void *user, const char *text)
{
    (void)write(user, text, strlen(text));
}

static uint64_t chroprof__chronos_figure(const chroprof_rank *rank, int k)
{
    switch (k) {
    case 0: return rank->exec_ns;
    case 1: return rank->with_children_ns;
    case 2: return rank->lifetime_ns;
    case 3: return rank->completed + rank->failed + rank->cancelled;
    default: return rank->exec_max_ns;
    }
}

static void chroprof__chronos_metric(const chroprof_rank *ranks, size_t count, int k,
                                     chroprof_writer write, void *user)
{
    static const char names[5][40] = {
        "chronos_exec_time_total", "chronos_exec_time_with_children_total",
        "chronos_wall_time_total", "chronos_call_count_total", "chronos_single_exec_time_max"
    };
    char text[64];
    size_t i;
    chroprof__chronos_text(write, user, "# TYPE ");
    chroprof__chronos_text(write, user, names[k]);
    chroprof__chronos_text(write, user, " gauge\n");
    for (i = 0; i < count; i++) {
        chroprof__chronos_text(write, user, names[k]);
        chroprof__chronos_text(write, user, "{proc=\"");
        chroprof__chronos_label(write, user, ranks[i].name);
        chroprof__chronos_text(write, user, "\",file=\"");
        chroprof__chronos_label(write, user, ranks[i].file);
        (void)snprintf(text, sizeof text, "\",line=\"%lu\"} %llu\n", (unsigned long)ranks[i].line,
                       (unsigned long long)chroprof__chronos_figure(&ranks[i], k));
        chroprof__chronos_text(write, user, text);
    }
}

static void chroprof__chronos_metrics(size_t most, chroprof_writer write, void *user)
{
    chroprof *p = &chroprof__chronos;
    size_t there, count;
    chroprof_rank *ranks;
    int k;
    chroprof_tick(p);
    there = chroprof_ranks(p, NULL, 0, CHROPROF_BY_WITH_CHILDREN);
    count = there < most ? there : most;
    ranks = (chroprof_rank *)malloc((count + 1) * sizeof *ranks);
    if (ranks == NULL)
        return;
    (void)chroprof_ranks(p, ranks, count, CHROPROF_BY_WITH_CHILDREN);
    while (count > 0 && ranks[count - 1].with_children_ns == 0)
        count--;                        /* as there: without those that never ran */
    for (k = 0; k < 5; k++)
        chroprof__chronos_metric(ranks, count, k, write, user);
    free(ranks);
}
""".}

type
  Piece = proc (user, bytes: pointer, count: csize_t): cint {.cdecl, gcsafe, raises: [].}

{.push nodecl, gcsafe, raises: [].}
proc tellStart(file: cstring, size: csize_t, options: ptr ProfileOptions,
               sample: bool): cstring {.importc: "chroprof__chronos_start".}
proc tellStop() {.importc: "chroprof__chronos_stop".}
proc tellPending(id: uint64, where: pointer) {.importc: "chroprof__chronos_pending".}
proc tellRunning(id: uint64, where: pointer) {.importc: "chroprof__chronos_running".}
proc tellPaused(id: uint64) {.importc: "chroprof__chronos_paused".}
proc tellFinished(id: uint64, state: cint) {.importc: "chroprof__chronos_finished".}
proc tellStillborn(where: pointer, state: cint) {.importc: "chroprof__chronos_stillborn".}
proc tellReady(id: uint64) {.importc: "chroprof__chronos_ready".}
proc tellNested() {.importc: "chroprof__chronos_nested".}
proc tellNestedEnd() {.importc: "chroprof__chronos_nested_end".}
proc writeFormat(format: cint, write: Piece, user: pointer): cint {.
  importc: "chroprof__chronos_write".}
proc dumpFormat(format: cint, file: File): cint {.importc: "chroprof__chronos_dump".}
proc writeMetrics(most: csize_t, write: Piece, user: pointer) {.
  importc: "chroprof__chronos_metrics".}
proc tellHandle(): pointer {.importc: "chroprof__chronos_handle".}
{.pop.}

when hooks > 0:
  when sizeof(int) == 8 and cpuEndian == bigEndian or offsetof(SrcLoc, procedure) != 0 or
       offsetof(SrcLoc, file) != sizeof(pointer) or offsetof(SrcLoc, line) != 2 * sizeof(pointer):
    {.error: "a SrcLoc of this Chronos is not laid out as a chroprof_site".}

  type
    BaseHook = typeof(when hooks == 2: onBaseFutureEvent else: onFutureEvent)
    AsyncHook = typeof(when hooks == 2: onAsyncFutureEvent else: onFutureExecEvent)
    AsyncState = (when hooks == 2: AsyncFutureState else: FutureExecutionState)

  var
    baseBefore {.threadvar.}: BaseHook      # who else wants to know
    asyncBefore {.threadvar.}: AsyncHook
    goesOn {.threadvar.}: pointer           # the callback of Chronos that continues an async proc

  template idOf(future: pointer): uint64 =
    when declared(currentID): uint64(cast[ptr InternalFutureBase](future).internalId)
    else: uint64(cast[uint](future))

  {.push stackTrace: off, profiler: off, checks: off.}

  proc learnCallback(fut: FutureBase) {.gcsafe, raises: [].} =
    ## A future that pauses has just left its callback with what it awaits.
    let child {.cursor.} = fut.internalChild
    if not isNil(child):
      let count = child.internalCallbacks.len
      if count > 0 and child.internalCallbacks[count - 1].udata == cast[pointer](fut):
        goesOn = rawProc(child.internalCallbacks[count - 1].function)

  proc tellWaiting(fut: FutureBase) {.gcsafe, raises: [].} =
    ## Those that await it could run from now on.
    for i in 0 ..< fut.internalCallbacks.len:
      if rawProc(fut.internalCallbacks[i].function) == goesOn:
        tellReady(idOf(fut.internalCallbacks[i].udata))

  proc onBase(fut: FutureBase, state: FutureState) {.nimcall, gcsafe, raises: [].} =
    let made = fut.internalLocation[LocationKind.Create]
    if state == FutureState.Pending:
      tellPending(idOf(cast[pointer](fut)), made)
    else:
      let result = cint(case state
                        of FutureState.Failed: 1
                        of FutureState.Cancelled: 2
                        else: 0)
      if not isNil(made) and fut.internalLocation[LocationKind.Finish] == made:
        tellStillborn(made, result)
      else:
        tellFinished(idOf(cast[pointer](fut)), result)
        if not isNil(goesOn):
          tellWaiting(fut)
    if not isNil(baseBefore):
      baseBefore(fut, state)

  proc onAsync(fut: FutureBase, state: AsyncState) {.nimcall, gcsafe, raises: [].} =
    if state == AsyncState.Running:
      tellRunning(idOf(cast[pointer](fut)), fut.internalLocation[LocationKind.Create])
    else:
      tellPaused(idOf(cast[pointer](fut)))
      if isNil(goesOn):
        learnCallback(fut)
    if not isNil(asyncBefore):
      asyncBefore(fut, state)

  {.pop.}

  proc hook(base: BaseHook, async: AsyncHook) =
    when hooks == 2:
      onBaseFutureEvent = base
      onAsyncFutureEvent = async
    else:
      onFutureEvent = base
      onFutureExecEvent = async

  proc hookedBase(): BaseHook =
    when hooks == 2: onBaseFutureEvent else: onFutureEvent

  proc hookedAsync(): AsyncHook =
    when hooks == 2: onAsyncFutureEvent else: onFutureExecEvent

const noHooks: cstring = "chroprof: this Chronos has no profiling hooks; take a version that has " &
                         "them, and compile with -d:chronosProfiling"

proc stopProfile*() {.gcsafe, raises: [].} =
  ## No more events. A profile in memory can still be read; that in a file stays there.
  when hooks > 0:
    if hookedBase() == onBase:
      hook(baseBefore, asyncBefore)
  tellStop()

proc startProfile*(file = "", options = ProfileOptions(), size = 4 shl 20,
                   sample = true): cstring {.discardable, gcsafe, raises: [].} =
  ## Profiles the loop of this thread, in a file or, "", in memory of `size` bytes. Returns "", or
  ## why there is no profile or no sampler. A profile that this thread has is stopped first.
  when hooks == 0:
    noHooks
  else:
    stopProfile()
    result = tellStart(cstring(file), csize_t(size), unsafeAddr options, sample)
    baseBefore = hookedBase()
    asyncBefore = hookedAsync()
    hook(onBase, onAsync)

proc reportProfile*(output: File, format = ProfileFormat.Text) {.gcsafe, raises: [].} =
  when hooks == 0:
    try: output.writeLine($noHooks)
    except IOError: discard
  else:
    discard dumpFormat(cint(format), output)

proc reportProfile*() {.gcsafe, raises: [].} =
  ## The text, to standard error.
  reportProfile(stderr)

proc addPiece(user, bytes: pointer, count: csize_t): cint {.cdecl, gcsafe, raises: [].} =
  let text = cast[ptr string](user)
  let before = text[].len
  text[].setLen(before + int(count))
  copyMem(addr text[][before], bytes, int(count))

proc profile*(format: ProfileFormat): string {.gcsafe, raises: [].} =
  ## A format as a string, for a page of your server.
  discard writeFormat(cint(format), addPiece, addr result)

proc chronosMetrics*(most = 50): string {.gcsafe, raises: [].} =
  ## The metrics of Chronos' own profiler, of the `most` heaviest procs with what they created.
  writeMetrics(csize_t(most), addPiece, addr result)

proc profileHandle*(): pointer {.gcsafe, raises: [].} =
  ## This thread's chroprof, for other calls of chroprof.h.
  tellHandle()

proc beginNestedLoop*() {.gcsafe, raises: [].} = tellNested()
proc endNestedLoop*() {.gcsafe, raises: [].} = tellNestedEnd()

template nestedLoop*(body: untyped): untyped =
  ## Around a waitFor or poll inside an async proc: what is in it is a loop of its own.
  beginNestedLoop()
  try: body
  finally: endNestedLoop()
