## A program that keeps its lines although its Chronos has no hooks.

import chronos/futures
import chroprof_chronos

var place = SrcLoc(procedure: "proc", file: "unhooked.nim", line: 1)
echo startProfile()
newFutureAt(addr place).finishes()
nestedLoop: reportProfile(stdout)
stopProfile()
