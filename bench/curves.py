#!/usr/bin/env python3
"""Draws what bench_scale prints: bench_scale | bench/curves.py > curves.svg

One panel a table that grows: an operation on a random row (blue) beside two clock reads and one
random load from a table of that size (grey), both in ns, both axes logarithmic.
"""
import math
import sys
from html import escape

WIDTH, HEIGHT, LEFT, TOP, PANEL = 880, 230, 56, 30, 255
STYLE = """<style>
text { font: 11px system-ui, sans-serif; fill: #24292f }
.own { fill: none; stroke: #4c8eda; stroke-width: 2 }
.floor { fill: none; stroke: #8c959f; stroke-width: 2 }
.grid { stroke: #d0d7de; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #3d444d } }
</style>"""


def read(lines):
    """[(title, [(size, ns, floor ns)])]"""
    panels = []
    for line in lines:
        part = line.split()
        if ": " in line and not part[0].isdigit():
            panels.append((line.strip(), []))
        elif len(part) == 5 and part[0].isdigit():
            panels[-1][1].append((int(part[0]), float(part[2]), float(part[3])))
    return panels


def draw_panel(left, title, rows):
    low, high = 1, 3.2                         # powers of ten of ns
    last = max(math.log10(r[0]) for r in rows)

    def x(size):
        return left + (math.log10(size) - 1) / (last - 1) * (PANEL - 50)

    def y(ns):
        return TOP + (high - math.log10(ns)) / (high - low) * (HEIGHT - TOP - 40)

    def line(kind, column):
        points = " ".join("%.1f,%.1f" % (x(r[0]), y(r[column])) for r in rows)
        return '<polyline class="%s" points="%s"/>' % (kind, points)

    name, operation = title.split(": ", 1)
    parts = ['<text x="%d" y="12">%s</text>' % (left - 20, escape(operation))]
    for ns in (10, 100, 1000):
        parts.append('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>'
                     % (left, left + PANEL - 50, y(ns), y(ns)))
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%d</text>'
                     % (left - 5, y(ns) + 4, ns))
    for power in range(1, round(last) + 1, 2):
        parts.append('<text x="%.1f" y="%d" text-anchor="middle">10^%d</text>'
                     % (x(10 ** power), HEIGHT - 22, power))
    parts.append('<text x="%d" y="%d" text-anchor="middle">%s</text>'
                 % (left + (PANEL - 50) // 2, HEIGHT - 6, escape(name.lower())))
    return parts + [line("floor", 2), line("own", 1)]


def main():
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
             % (WIDTH, HEIGHT, WIDTH, HEIGHT), STYLE]
    for k, (title, rows) in enumerate(read(sys.stdin)):
        parts += draw_panel(LEFT + k * (PANEL + 20), title, rows)
    print("\n".join(parts + ["</svg>"]))


main()
