## Three lines turn the profile on. A proc that is too slow works until it was sampled often enough:
##     sampled FILE
## Ends with status 3, and says why, where there is no sampler.

import std/os
import chronos/futures
import chroprof_chronos

type SamplerTotals {.importc: "chroprof_sampler_totals", header: "chroprof.h".} = object
  samples: uint64

proc chroprof_read_sampler(p: pointer, totals: ptr SamplerTotals) {.
  importc, header: "chroprof.h".}
proc chroprof_tick(p: pointer) {.importc, header: "chroprof.h".}

var
  slowAt = SrcLoc(procedure: "slow", file: "sampled.nim", line: 1)
  quickAt = SrcLoc(procedure: "quick", file: "sampled.nim", line: 2)
  sink = 1'u32

proc tooSlow(rounds: int) {.noinline.} =
  for k in 0 ..< rounds:
    sink = sink * 1664525'u32 + 1013904223'u32      # the line that is sampled

proc enough(): bool =
  var totals: SamplerTotals
  chroprof_tick(profileHandle())
  chroprof_read_sampler(profileHandle(), addr totals)
  totals.samples >= 20

proc main() =
  let slow = newFutureAt(addr slowAt)
  slow.runs()
  for k in 1 .. 20000:                              # some minutes, where no tick ever comes
    tooSlow(5_000_000)
    if enough():
      break
  slow.finishes()
  let quick = newFutureAt(addr quickAt)
  quick.runs()
  quick.finishes()

let why = startProfile(paramStr(1))
if why != "":
  echo why
  quit 3
main()
reportProfile()
stopProfile()
