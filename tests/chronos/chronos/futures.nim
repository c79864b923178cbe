## A stand-in for Chronos' module of this name: the types and hooks that chroprof_chronos.nim looks
## at, and a loop that is told what to do. -d:olderHooks: those of the older branch; without
## -d:chronosProfiling: none, as in Chronos' releases.

import ./srcloc
export srcloc

type
  LocationKind* {.pure.} = enum Create, Finish
  FutureState* {.pure.} = enum Pending, Completed, Cancelled, Failed
  CallbackFunc* = proc (arg: pointer) {.gcsafe, raises: [].}
  InternalAsyncCallback* = object
    function*: CallbackFunc
    udata*: pointer
  InternalFutureBase* = object of RootObj
    internalLocation*: array[LocationKind, ptr SrcLoc]
    internalCallbacks*: seq[InternalAsyncCallback]
    internalChild*: FutureBase
    internalState*: FutureState
    internalId*: uint
  FutureBase* = ref object of InternalFutureBase

var currentID* {.threadvar.}: uint

when defined(chronosProfiling):
  when defined(olderHooks):
    type FutureExecutionState* {.pure.} = enum Running, Paused
    var onFutureEvent* {.threadvar.}: proc (fut: FutureBase, state: FutureState) {.
      nimcall, gcsafe, raises: [].}
    var onFutureExecEvent* {.threadvar.}: proc (fut: FutureBase, state: FutureExecutionState) {.
      nimcall, gcsafe, raises: [].}
  else:
    type AsyncFutureState* {.pure.} = enum Running, Paused
    var onBaseFutureEvent* {.threadvar.}: proc (fut: FutureBase, state: FutureState) {.
      nimcall, gcsafe, raises: [].}
    var onAsyncFutureEvent* {.threadvar.}: proc (fut: FutureBase, state: AsyncFutureState) {.
      nimcall, gcsafe, raises: [].}

proc tellBase(fut: FutureBase, state: FutureState) {.gcsafe, raises: [].} =
  when defined(chronosProfiling):
    let hook = when defined(olderHooks): onFutureEvent else: onBaseFutureEvent
    if not isNil(hook):
      hook(fut, state)

proc newFutureAt*(place: ptr SrcLoc, state = FutureState.Pending): FutureBase =
  ## A future that is pending, or born finished.
  inc currentID
  result = FutureBase(internalState: state, internalId: currentID)
  result.internalLocation[LocationKind.Create] = place
  if state != FutureState.Pending:
    result.internalLocation[LocationKind.Finish] = place
  tellBase(result, state)

proc runs*(fut: FutureBase) {.gcsafe, raises: [].} =
  when defined(chronosProfiling):
    let hook = when defined(olderHooks): onFutureExecEvent else: onAsyncFutureEvent
    if not isNil(hook):
      when defined(olderHooks): hook(fut, FutureExecutionState.Running)
      else: hook(fut, AsyncFutureState.Running)

proc continues(arg: pointer) {.gcsafe, raises: [].} =
  runs(cast[FutureBase](arg))

proc pauses*(fut: FutureBase, awaits: FutureBase = nil) =
  ## Chronos leaves its callback first.
  fut.internalChild = awaits
  if not isNil(awaits):
    awaits.internalCallbacks.add(InternalAsyncCallback(function: continues,
                                                       udata: cast[pointer](fut)))
  when defined(chronosProfiling):
    let hook = when defined(olderHooks): onFutureExecEvent else: onAsyncFutureEvent
    if not isNil(hook):
      when defined(olderHooks): hook(fut, FutureExecutionState.Paused)
      else: hook(fut, AsyncFutureState.Paused)

var finishedHere = SrcLoc(procedure: "finish", file: "futures.nim", line: 1)

proc finishes*(fut: FutureBase, state = FutureState.Completed) =
  fut.internalLocation[LocationKind.Finish] = addr finishedHere
  fut.internalState = state
  tellBase(fut, state)
  fut.internalCallbacks.setLen(0)
