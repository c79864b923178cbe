"""linear.py COMMAND FOLDER: eight times as much of anything takes about eight times the work.

Measured in CPU time of the command, the least of some runs, and judged with a wide margin: what
compares everything with everything takes 64 times the work, and 30 times is the limit.
Prints "ok NAME" or "FAIL NAME: why".
"""
import base64
import json
import os
import resource
import subprocess
import sys

command, folder = sys.argv[1:]
path = os.path.join(folder, "linear.json")


def profile(**parts):
    whole = {"chroprof": 2, "name": "linear", "sites": [], "stalls": [], "windows": [],
             "futures": [], "totals": {}, "paths": [], "modules": [], "stacks": [], "samples": [],
             "sampler": {"period_ns": 1000, "cost_ns": 1, "mode": "cpu"}}
    whole.update(parts)
    return whole


def site(i, windows):
    return {"name": "site %d" % i, "file": "linear.c", "line": i, "exec_ns": i, "windows": windows}


def native(i, parent, module):
    return {"id": i + 1, "parent": parent, "kind": "native", "module": module, "address": 4096,
            "return": False, "name": "", "weight": 1}


def number(value):
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + number(value >> 7) if value > 127 else low


def ring(n):
    """Each path has one step, all within fewer ns before now than there are paths."""
    step = bytes([13 | 1 << 5, 0])          # a tick at depth 1, 0 ns after the one before
    data = b"".join(step + number(i + 3) for i in range(n)) + bytes([13, 0, 0])
    return profile(
        totals={"events": n, "live": 0},
        paths=[{"id": i + 3, "parent": 0, "name": "path", "file": "linear.c", "line": i}
               for i in range(n)],
        timeline={"steps": n, "data": base64.b64encode(data).decode()})


def cpu_time(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([command] + words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, (words, done.stderr[-500:])
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def least(make, count, words, enough=0.0):
    """Of three runs, or of those up to the first that took less than is enough."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(make(count), out)
    took = cpu_time(words + [path])
    for _ in range(2):
        if took >= enough:
            took = min(took, cpu_time(words + [path]))
    return took


cases = (
    ("trace_of_many_sites", ["trace"], 5000,
     lambda n: profile(sites=[site(i, []) for i in range(n)])),
    ("trace_of_windows_without_sites", ["trace"], 4000,
     lambda n: profile(sites=[site(i, []) for i in range(n)], windows=[{} for _ in range(n)])),
    ("trace_of_deep_stacks", ["trace"], 4000,
     lambda n: profile(stacks=[native(i, i, 0) for i in range(n)],
                       samples=[{"at_ns": i * 1000, "stack": n} for i in range(n)])),
    ("folded_of_deep_paths", ["dump", "-f", "folded"], 2000,
     lambda n: profile(paths=[{"id": i + 3, "parent": i + 2 if i else 0, "name": "path",
                               "file": "linear.c", "line": 1, "exec_ns": 5000}
                              for i in range(n)])),
    ("trace_of_many_paths", ["trace"], 4000, ring),
    ("symbolize_many_modules", ["symbolize"], 5000,
     lambda n: profile(modules=[{"id": i, "path": "[none]", "build_id": ""} for i in range(n)],
                       stacks=[native(i, 0, i) for i in range(n)])),
    ("text_of_many_modules", ["symbolize", "-f", "text"], 5000,
     lambda n: profile(modules=[{"id": i, "path": "[none]", "build_id": ""} for i in range(n)],
                       stacks=[native(i, 0, i) for i in range(n)])),
    ("text_of_deep_stacks", ["symbolize", "-f", "text"], 5000,
     lambda n: profile(stacks=[native(i, i, 0) for i in range(n)])),
)
for name, words, count, make in cases:
    few = least(make, count, words)
    limit = 30 * max(few, 0.01)
    many = least(make, 8 * count, words, limit)
    if many < limit:
        print("ok linear_" + name, flush=True)
    else:
        print("FAIL linear_%s: %.3f s for %d, %.3f s for %d" %
              (name, few, count, many, 8 * count), flush=True)
