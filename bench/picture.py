#!/usr/bin/env python3
"""Draws the ratios of a bench run: picture.py BENCH.json > bench.svg"""
import json
import sys
from html import escape

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 250, 90, 19, 64
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.head { font-weight: 600 }
.bar { fill: #4c8eda } .over { fill: #d9822b } .floor { fill: #d0d7de }
.target { stroke: #1a7f37; stroke-width: 2 } .one { stroke: #8c959f; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .floor { fill: #3d444d }
}
</style>"""


def bar(y, row, scale):
    x1 = LEFT + min(row["ratio"], 1) * scale
    parts = ['<text x="%d" y="%d" text-anchor="end">%s</text>'
             % (LEFT - 8, y + 12, escape(row["name"])),
             '<rect class="floor" x="%d" y="%d" width="%.1f" height="12"/>'
             % (LEFT, y + 2, x1 - LEFT)]
    if row["ratio"] > 1:
        kind = "over" if row.get("met") is False else "bar"
        parts.append('<rect class="%s" x="%.1f" y="%d" width="%.1f" height="12"/>'
                     % (kind, x1, y + 2, (row["ratio"] - 1) * scale))
    if "target" in row:
        x = LEFT + row["target"] * scale
        parts.append('<line class="target" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>'
                     % (x, x, y, y + 16))
    parts.append('<text x="%d" y="%d" text-anchor="end">%.2f'
                 '<tspan class="small"> x %s</tspan></text>'
                 % (WIDTH - 8, y + 12, row["ratio"], escape(row["floor"])))
    return parts


def draw(data):
    rows = [r for r in data["rows"] if r["group"] != "gate" and r["name"] != "clock_gettime"]
    groups = sorted({r["group"] for r in rows}, key=[r["group"] for r in rows].index)
    scale = (WIDTH - LEFT - RIGHT - 40) / max(2.0, max(r["ratio"] for r in rows))
    y, parts = TOP, []
    for group in groups:
        parts.append('<text class="head" x="%d" y="%d">%s</text>' % (LEFT, y + 12, escape(group)))
        y += ROW
        for row in rows:
            if row["group"] == group:
                parts += bar(y, row, scale)
                y += ROW
        y += ROW // 2
    one = LEFT + scale
    head = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
            % (WIDTH, y + 8, WIDTH, y + 8), STYLE,
            '<text class="head" x="8" y="18">chroprof %s: calls against bare reads of the clock'
            '</text>' % escape(data["version"]),
            '<text class="small" x="8" y="34">%s; %s %s; one read (%s) %.1f ns</text>'
            % (escape(data["machine"]), escape(data["compiler"]), escape(data["flags"]),
               escape(data["clock"]), data["floor_1_ns"]),
            '<text class="small" x="8" y="50">grey: the reads themselves; '
            'blue: what the calls add; green: the target</text>',
            '<line class="one" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>' % (one, one, TOP, y)]
    return "\n".join(head + parts + ["</svg>"])


if __name__ == "__main__":
    print(draw(json.load(open(sys.argv[1]))))
