#!/usr/bin/env python3
"""Reads a memory trace of valgrind's lackey and counts what each public call does.

counts.py SYMBOLS ROW < TRACE

For each call of a chroprof_ function from outside: instructions, loads, stores, and the different
cache lines it touches (and writes) beside the C stack. Printed are medians.
"""
import re
import statistics
import sys

LINE = re.compile(r"^(I | L| S| M) +([0-9a-f]+),(\d+)")
TAIL = 600          # only the last so many calls: what fills the scene is left out


def read_symbols(path):
    functions, own = {}, []
    for row in open(path):
        part = row.split()
        if len(part) == 4 and part[2] in "tT":
            start, size, name = int(part[0], 16), int(part[1], 16), part[3]
            if name.startswith("chroprof_"):
                own.append((start, start + size))
                if not name.startswith("chroprof__"):
                    functions[start] = name
    return functions, own


class Call:
    def __init__(self):
        self.instructions = self.loads = self.stores = 0
        self.lines, self.written = set(), set()

    def touch(self, kind, address, size):
        self.loads += kind in (" L", " M")
        self.stores += kind in (" S", " M")
        for line in range(address >> 6, (address + size - 1 >> 6) + 1):
            self.lines.add(line)
            if kind != " L":
                self.written.add(line)


class Inside(dict):
    """Whether an instruction is one of ours, by address; remembered, for loops come back to it."""

    def __init__(self, own):
        super().__init__()
        self.own = own

    def __missing__(self, address):
        self[address] = any(low <= address < high for low, high in self.own)
        return self[address]


def trace(functions, own):
    """All calls in order. A call lasts until an instruction outside of every chroprof function."""
    calls, now, inside = [], None, Inside(own)
    for text in sys.stdin:
        match = LINE.match(text)
        if not match:
            continue
        kind, address, size = match.group(1), int(match.group(2), 16), int(match.group(3))
        if kind == "I ":
            here = inside[address]
            if here and now is None and address in functions:
                now = Call()
                calls.append((functions[address], now))
            elif not here:
                now = None
            if now:
                now.instructions += 1
        elif now and address < 0x1ff0000000:      # valgrind's main stack lies above
            now.touch(kind, address, size)
    return calls


def main():
    functions, own = read_symbols(sys.argv[1])
    by_name = {}
    for name, call in trace(functions, own)[-TAIL:]:
        by_name.setdefault(name[len("chroprof_"):], []).append(call)
    for name, calls in by_name.items():
        if len(calls) < TAIL / 20:
            continue
        row = [statistics.median(getattr(c, f) for c in calls)
               for f in ("instructions", "loads", "stores")]
        row += [statistics.median(len(getattr(c, f)) for c in calls) for f in ("lines", "written")]
        print("%-32s %-22s %8d %8d %8d %7d  %7d" % (sys.argv[2], name, *row))


main()
