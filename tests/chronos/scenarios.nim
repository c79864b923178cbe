## The scenarios of tests/test_chronos.c, told by the hooks of the stand-in for Chronos to
## chroprof_chronos.nim. The figures are those of that file. Time moves by at() alone.

import std/strutils
import chronos/futures
import chroprof_chronos

type
  Rank {.importc: "chroprof_rank", header: "chroprof.h".} = object
    name, file: cstring
    line: uint32
    exec_ns, children_ns, with_children_ns, exec_max_ns, slice_max_ns, slices: uint64
    lifetime_ns, waiting_ns, delay_ns, blame_ns: uint64
    calls, completed, failed, cancelled, abandoned, live, stillborn: uint64
  Path {.importc: "chroprof_path", header: "chroprof.h".} = object
    id, parent: uint32
    name: cstring
    exec_ns, calls, completed, stillborn: uint64
  Totals {.importc: "chroprof_totals", header: "chroprof.h".} = object
    elapsed_ns, busy_ns, idle_ns, uninstrumented_ns, untracked_ns: uint64
    anomalies, live, iterations: uint64
    depth: uint32

{.push importc, header: "chroprof.h".}
proc chroprof_event(p: pointer, state: cint, id: uint64, site: pointer, now: uint64)
proc chroprof_next_rank(p: pointer, cursor: ptr uint64, rank: ptr Rank): bool
proc chroprof_next_path(p: pointer, cursor: ptr uint64, path: ptr Path): bool
proc chroprof_read_totals(p: pointer, totals: ptr Totals)
proc chroprof_check(p: pointer): cstring
proc chroprof_clock_manual(user: pointer): uint64 {.cdecl, gcsafe, raises: [].}
{.pop.}

const TICK = 13

var
  parentAt = SrcLoc(procedure: "parent", file: "app.nim", line: 10)
  childAt = SrcLoc(procedure: "child", file: "app.nim", line: 20)
  grandchildAt = SrcLoc(procedure: "grandchild", file: "app.nim", line: 30)
  timerAt = SrcLoc(procedure: "timer", file: "asyncloop.nim", line: 40)
  loopAt = SrcLoc(procedure: "accept", file: "server.nim", line: 50)
  namelessAt = SrcLoc(procedure: "", file: "odd \"name\".nim", line: 60)
  passed, failed = 0
  wrong: seq[string]

template check(condition: untyped) =
  if not condition:
    wrong.add "line " & $instantiationInfo().line & ": " & astToStr(condition)

template equal(what, expected: untyped) =
  let found = what
  if found != typeof(found)(expected):
    wrong.add "line " & $instantiationInfo().line & ": " & astToStr(what) & " is " & $found &
              ", not " & $expected

proc fresh() =
  currentID = 0
  let why = startProfile(options = ProfileOptions(clock: chroprof_clock_manual, max_depth: 300),
                         size = 1 shl 20, sample = false)
  check($why == "")

proc at(now: int) =
  chroprof_event(profileHandle(), TICK, 0, nil, uint64(now))

proc begin(now: int, place: var SrcLoc): FutureBase =
  ## An async proc is called: created and running, nested in whatever runs.
  at(now)
  result = newFutureAt(addr place)
  result.runs()

proc runs(fut: FutureBase, now: int) =
  at(now)
  fut.runs()

proc pauses(fut: FutureBase, now: int, awaits: FutureBase = nil) =
  at(now)
  fut.pauses(awaits)

proc finishes(fut: FutureBase, now: int, state = FutureState.Completed) =
  at(now)
  fut.finishes(state)

proc rank(name: string): Rank =
  var cursor: uint64
  while chroprof_next_rank(profileHandle(), addr cursor, addr result):
    if $result.name == name:
      return
  wrong.add "no row " & name

proc path(name: string): Path =
  ## By its chain of names, as "parent;child".
  var
    cursor: uint64
    chains: seq[(uint32, string)]
  while chroprof_next_path(profileHandle(), addr cursor, addr result):
    var chain = $result.name
    for (id, above) in chains:
      if id == result.parent:
        chain = above & ";" & chain
    if chain == name:
      return
    chains.add (result.id, chain)
  wrong.add "no path " & name

proc totals(): Totals =
  chroprof_read_totals(profileHandle(), addr result)

proc figures(name: string, exec, children, calls: int) =
  let row = rank(name)
  equal row.exec_ns, exec
  equal row.children_ns, children
  equal row.calls, calls

proc orderly(anomalies = 0) =
  equal totals().anomalies, anomalies
  equal cstring(chroprof_check(profileHandle())).isNil, true

template scenario(name, body: untyped) =
  proc name() =
    fresh()
    body
    stopProfile()
  wrong = @[]
  name()
  if wrong.len == 0:
    inc passed
  else:
    inc failed
    for one in wrong:
      echo "FAIL ", astToStr(name), ": ", one

# ---- what Chronos' own profiler promises

scenario a_simple_procedure:
  let f = begin(0, parentAt)
  f.finishes 100
  figures "parent", 100, 0, 1
  equal rank("parent").exec_max_ns, 100
  equal rank("parent").completed, 1
  equal rank("parent").line, 10
  equal $rank("parent").file, "app.nim"
  orderly()

scenario a_child_that_does_not_block:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  child.finishes 60
  f.finishes 75
  figures "parent", 25, 50, 1
  figures "child", 50, 0, 1
  equal rank("parent").with_children_ns, 75
  equal path("parent;child").exec_ns, 50
  equal totals().uninstrumented_ns, 0
  orderly()

scenario a_child_that_blocks:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  at 15
  let timer = newFutureAt(addr timerAt)
  child.pauses 20, timer
  f.pauses 30, child
  timer.finishes 500
  child.runs 510
  child.finishes 550
  f.runs 560
  f.finishes 565
  figures "parent", 25, 50, 1
  figures "child", 50, 0, 1
  figures "timer", 0, 0, 1
  equal rank("child").lifetime_ns, 540
  equal rank("child").waiting_ns, 490 - 10
  equal rank("child").delay_ns, 10            # from the end of the timer on
  equal rank("parent").delay_ns, 10
  equal rank("timer").lifetime_ns, 485
  equal path("parent;child;timer").completed, 1
  equal totals().uninstrumented_ns, 490
  orderly()

scenario several_pauses:
  let f = begin(0, parentAt)
  for t in countup(0, 900, 100):
    f.pauses t + 30
    f.runs t + 100
  f.finishes 1005
  figures "parent", 305, 0, 1
  equal rank("parent").slices, 11
  equal rank("parent").slice_max_ns, 30
  equal rank("parent").exec_max_ns, 305
  equal rank("parent").waiting_ns, 700
  orderly()

scenario a_child_that_raises:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  child.finishes 20, FutureState.Failed
  f.finishes 30, FutureState.Failed
  figures "parent", 20, 10, 1
  figures "child", 10, 0, 1
  equal rank("child").failed, 1
  equal rank("parent").failed, 1
  equal rank("parent").completed, 0
  orderly()

scenario a_cancelled_child:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  child.pauses 20
  child.runs 30
  child.finishes 37, FutureState.Cancelled
  f.finishes 40
  figures "parent", 23, 17, 1
  figures "child", 17, 0, 1
  equal rank("child").cancelled, 1
  orderly()

scenario a_parent_cancelled_by_its_child:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  f.finishes 20, FutureState.Cancelled
  child.finishes 30
  f.pauses 50
  figures "parent", 30, 20, 1
  equal rank("parent").cancelled, 1
  equal rank("parent").lifetime_ns, 40
  orderly 1

scenario a_child_that_finishes_after_its_parent:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  child.pauses 20
  f.finishes 30
  equal totals().live, 1
  child.runs 100
  let grandchild = begin(110, grandchildAt)
  grandchild.finishes 120
  child.finishes 140
  figures "parent", 20, 50, 1
  figures "child", 40, 10, 1
  equal path("parent;child;grandchild").exec_ns, 10
  equal totals().live, 0
  orderly()

scenario nested_children:
  let f = begin(0, parentAt)
  let child = begin(10, childAt)
  let first = begin(20, grandchildAt)
  first.finishes 50
  let second = begin(60, grandchildAt)
  second.finishes 65
  child.finishes 70
  f.finishes 80
  figures "parent", 20, 60, 1
  figures "child", 25, 35, 1
  figures "grandchild", 35, 0, 2
  equal rank("grandchild").exec_max_ns, 30
  orderly()

scenario a_finally_block_that_pauses:
  let f = begin(0, parentAt)
  f.pauses 10
  f.runs 50
  let child = begin(55, childAt)
  child.pauses 60
  f.pauses 65
  child.runs 90
  child.finishes 93
  f.runs 95
  f.finishes 99, FutureState.Cancelled
  figures "parent", 10 + 10 + 4, 8, 1
  equal rank("parent").cancelled, 1
  equal rank("parent").slices, 3
  equal rank("child").completed, 1
  orderly()

scenario call_count_and_largest_future:
  var t = 0
  for id in 1 .. 50:
    let f = begin(t, childAt)
    t += (if id == 17: 900 else: id)
    f.finishes t
  figures "child", 50 * 51 div 2 - 17 + 900, 0, 50
  equal rank("child").exec_max_ns, 900
  equal rank("child").completed, 50
  orderly()

scenario stillborn_futures:
  let f = begin(0, parentAt)
  at 5
  discard newFutureAt(addr childAt, FutureState.Completed)
  at 6
  discard newFutureAt(addr childAt, FutureState.Failed)
  f.finishes 10
  equal rank("child").stillborn, 2
  figures "child", 0, 0, 0
  figures "parent", 10, 0, 1
  equal path("parent;child").stillborn, 2
  orderly()

# ---- what it gets wrong

scenario an_endless_loop_ranks_while_it_runs:
  let f = begin(0, loopAt)
  for t in countup(0, 4500, 500):
    at t + 80
    equal rank("accept").exec_ns, t div 500 * 100 + 80
    f.pauses t + 100
    let child = begin(t + 100, childAt)
    child.finishes t + 130
    f.runs t + 500
  figures "accept", 1000, 0, 1
  equal rank("accept").live, 1
  equal rank("accept").exec_max_ns, 1000
  orderly()

scenario recursion_counts_once:
  let f = begin(0, parentAt)
  var children: seq[FutureBase]
  for id in 2 .. 201:
    children.add begin((id - 1) * 10, childAt)
  for k in countdown(199, 0):
    children[k].finishes 2010 + 199 - k
  f.finishes 2300
  figures "child", 2199, 0, 200
  figures "parent", 101, 2199, 1
  equal path("parent;child").calls, 200
  equal rank("child").with_children_ns, 2199
  equal totals().busy_ns, 2300
  orderly()

scenario mutual_recursion_counts_once:
  var all: seq[FutureBase]
  for id in 1 .. 100:
    all.add(if id mod 2 != 0: begin(id * 10, parentAt) else: begin(id * 10, childAt))
  for k in countdown(99, 0):
    all[k].finishes 1010
  equal rank("parent").with_children_ns, 1000
  equal rank("child").with_children_ns, 500
  orderly()

scenario ids_are_reused:
  currentID = 4095
  begin(0, parentAt).pauses 10
  currentID = 4095
  begin(20, childAt).finishes 50
  currentID = 4095
  begin(60, parentAt).finishes 65
  figures "parent", 15, 0, 2
  figures "child", 30, 0, 1
  equal rank("parent").abandoned, 1
  equal rank("parent").completed, 1
  equal totals().live, 0
  orderly()

scenario a_late_attach:
  stopProfile()
  let old = newFutureAt(addr childAt)
  let running = newFutureAt(addr parentAt)
  let next = currentID
  fresh()
  currentID = next
  old.pauses 0
  running.runs 10
  begin(15, childAt).finishes 20
  running.finishes 30
  figures "parent", 15, 5, 1
  figures "child", 5, 0, 1
  orderly 2

scenario a_self_renewing_timer:
  at 0
  var timer = newFutureAt(addr timerAt)
  for k in 0 ..< 100000:
    timer.runs k * 100
    at k * 100 + 3
    let next = newFutureAt(addr timerAt)
    timer.finishes k * 100 + 10
    timer = next
  figures "timer", 10 * 100000, 0, 100001
  equal rank("timer").completed, 100000
  equal totals().live, 1
  orderly()

# ---- what the adapter adds

proc epoll_create1(flags: cint): cint {.importc, header: "<sys/epoll.h>".}
proc epoll_wait(fd: cint, events: pointer, size, ms: cint): cint {.
  importc, header: "<sys/epoll.h>".}

let dispatcher = epoll_create1(0)
let other = epoll_create1(0)

proc poll(fd = dispatcher, ms = 0) {.noinline.} =
  var events: array[4, array[16, byte]]
  discard epoll_wait(fd, addr events, 4, cint(ms))

# The same call from a place further down on the stack, as waitFor in a callback is.
proc deeper(body: proc ()) {.noinline.} =
  var room {.volatile.}: array[4096, byte]
  room[4000] = 1
  body()
  if room[4000] != 1:
    quit "the stack is broken"

scenario the_wait_is_idle:
  poll()
  let f = begin(5, parentAt)
  f.pauses 8
  poll()
  poll()
  f.runs 20
  f.finishes 25
  figures "parent", 8, 0, 1
  equal totals().iterations, 3 - 1
  equal totals().depth, 0
  orderly()

scenario a_wait_takes_its_time:
  stopProfile()
  check($startProfile(sample = false) == "")
  poll(ms = 60)
  check totals().idle_ns >= 30_000_000'u64

scenario a_nested_loop_that_the_program_tells:
  poll()
  let f = begin(0, parentAt)
  at 10
  nestedLoop:
    at 12
    deeper proc () = poll()
    begin(15, childAt).finishes 30
    deeper proc () = poll()
    at 35
  f.finishes 40
  figures "parent", 15, 0, 1
  figures "child", 15, 0, 1
  equal path("child").parent, 0
  equal totals().uninstrumented_ns, 2 + 3 + 5
  orderly()

scenario a_nested_loop_that_the_program_does_not_tell:
  poll()
  let f = begin(0, parentAt)
  at 10
  deeper proc () = poll()
  begin(15, childAt).finishes 30
  deeper proc () = poll()
  at 35                                   # waitFor is over, which nobody says
  f.finishes 40
  figures "parent", 10, 0, 1
  figures "child", 15, 0, 1
  equal path("child").parent, 0
  equal totals().uninstrumented_ns, 5 + 5 + 5
  equal totals().depth, 0
  poll()
  orderly()

scenario nested_loops_end_at_an_outer_wait:
  poll()
  let f = begin(0, parentAt)
  deeper proc () =
    poll()
    let child = begin(10, childAt)
    deeper proc () =
      poll()
      equal totals().depth, 4               # two futures, two barriers
    poll()                                 # of the first: the second is over, its pause was lost
    equal totals().depth, 2
    equal totals().live, 2
    child.runs 30
    child.pauses 35
  f.finishes 40
  equal totals().depth, 0
  figures "parent", 0, 0, 1
  orderly 1

scenario an_exception_out_of_a_nested_loop:
  let f = begin(0, parentAt)
  try:
    nestedLoop:
      poll()
      raise newException(ValueError, "out")
  except ValueError:
    discard
  f.finishes 5
  equal totals().depth, 0
  orderly()

scenario a_descriptor_of_its_own_blocks_the_proc:
  poll()
  let f = begin(0, parentAt)
  deeper proc () = poll(other)
  f.finishes 7
  figures "parent", 7, 0, 1
  equal totals().iterations, 0
  orderly()

scenario who_is_ready_waits_for_whom:
  let f = begin(0, parentAt)
  let child = newFutureAt(addr childAt)
  f.pauses 10, child
  let busy = begin(20, loopAt)
  child.finishes 30
  busy.finishes 90
  f.runs 100
  f.finishes 101
  equal rank("parent").delay_ns, 70
  equal rank("accept").blame_ns, 60
  orderly()

var heard: int

scenario hooks_that_were_there_are_called_and_come_back:
  stopProfile()
  heard = 0
  when defined(olderHooks):
    onFutureEvent = proc (fut: FutureBase, state: FutureState) {.nimcall, gcsafe, raises: [].} =
      {.cast(gcsafe).}: inc heard
  else:
    onBaseFutureEvent = proc (fut: FutureBase, state: FutureState) {.
        nimcall, gcsafe, raises: [].} =
      {.cast(gcsafe).}: inc heard
  fresh()
  begin(0, parentAt).finishes 10
  figures "parent", 10, 0, 1
  equal heard, 2
  stopProfile()
  discard newFutureAt(addr parentAt)
  equal heard, 3
  equal rank("parent").calls, 1
  when defined(olderHooks): onFutureEvent = nil
  else: onBaseFutureEvent = nil
  fresh()

scenario nothing_is_allocated_an_event:
  let f = begin(0, parentAt)
  let child = newFutureAt(addr childAt)
  f.pauses 1, child
  f.runs 2
  let before = getOccupiedMem()
  for k in 0 ..< 10000:
    f.pauses 10 + 2 * k
    f.runs 11 + 2 * k
    discard
  equal getOccupiedMem(), before
  f.finishes 30000
  orderly()

scenario the_metrics_of_the_own_profiler:
  let f = begin(0, parentAt)
  begin(10, childAt).finishes 60
  f.finishes 75
  let odd = begin(80, namelessAt)
  odd.finishes 90
  let text = chronosMetrics()
  check "chronos_exec_time_total{proc=\"parent\",file=\"app.nim\",line=\"10\"} 25\n" in text
  check "chronos_exec_time_with_children_total{proc=\"parent\",file=\"app.nim\"," in text
  check "line=\"10\"} 75\n" in text
  check "chronos_wall_time_total{proc=\"child\",file=\"app.nim\",line=\"20\"} 50\n" in text
  check "chronos_call_count_total{proc=\"child\",file=\"app.nim\",line=\"20\"} 1\n" in text
  check "chronos_single_exec_time_max{proc=\"child\",file=\"app.nim\",line=\"20\"} 50\n" in text
  check "{proc=\"(unnamed)\",file=\"odd \\\"name\\\".nim\",line=\"60\"} 10\n" in text
  equal chronosMetrics(1).count("proc="), 5
  check "chroprof_exec_seconds_total" in profile(ProfileFormat.Prometheus)
  check "\"parent\"" in profile(ProfileFormat.Json)

echo passed, " passed, ", failed, " failed, 0 skipped"
if failed > 0:
  quit 1
