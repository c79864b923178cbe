"""sampled.py PROFILE OUT [HOSTILE]: a profile as a sampler and chroprof symbolize would leave it,
made from one without samples. What each site took in each window becomes samples of functions that bear
its name, some inlined, some without symbols. HOSTILE is put into every name that may hold anything.
"""
import json
import sys

profile = json.load(open(sys.argv[1], encoding="utf-8"))
PERIOD = max(1, profile["totals"]["elapsed_ns"] // 3000)
hostile = sys.argv[3] if len(sys.argv) > 3 else ""
stacks, samples = [], []


def node(parent, kind, **more):
    row = {"id": len(stacks) + 1, "parent": parent, "kind": kind, "path": 0, "module": -1,
           "address": 0, "return": True, "name": hostile, "weight": 0, "cpu_ns": 0}
    row.update(more)
    stacks.append(row)
    return row


def native(parent, function, line, inlined=()):
    return node(parent, "native", module=0, address=4096 + 16 * len(stacks),
                function=function + hostile, file="/src/server/server.c" + hostile, line=line,
                inlined=[{"function": name + hostile, "file": "/src/server/server.c" + hostile,
                          "line": at} for name, at in inlined])


main = native(0, "main", 516)
loop = native(main["id"], "run_ready", 371, [("serve", 398)])
idle = native(main["id"], "wait_for_events", 333, [("serve", 395)])
wait = node(idle["id"], "native", module=1, address=1052432, name="poll")
best = {}
for path in profile["paths"]:
    if path["exec_ns"] > best.get(path["site"], {"exec_ns": -1})["exec_ns"]:
        best[path["site"]] = path
paths = {path["id"]: path for path in profile["paths"]}
tasks = {}


def task(path):
    if path["id"] not in tasks:
        above = task(paths[path["parent"]])["id"] if path["parent"] else loop["id"]
        tasks[path["id"]] = node(above, "task", path=path["id"], name=path["name"])
    return tasks[path["id"]]


def code_of(site):
    """Leaves, which of five samples fall into each."""
    top = task(best[site["id"]])["id"]
    caller = native(top, "handle_" + site["name"], site["line"] + 4)
    hot = native(caller["id"], site["name"], site["line"] + 2)
    warm = native(caller["id"], site["name"], site["line"] + 3, [("step_inlined", 88)])
    bare = node(caller["id"], "native", module=1, address=260000, name="")
    copy = node(hot["id"], "native", module=1, address=270000, function="__memcpy_avx512",
                file="/src/glibc/memcpy.S", line=70, inlined=[])
    return [hot, hot, copy, warm, bare]


def take(at, stack, state, weight=1, duration=0, cpu=PERIOD):
    if state == "idle" and samples and samples[-1]["stack"] == stack["id"]:
        row = samples[-1]
        row["weight"] += weight
        row["duration_ns"] = at - row["at_ns"]
    else:
        samples.append({"at_ns": at, "duration_ns": duration, "weight": weight, "cpu_ns": cpu,
                        "stack": stack["id"], "state": state})
    stack["weight"] += weight
    stack["cpu_ns"] += cpu


leaves = {site["id"]: code_of(site) for site in profile["sites"] if site["id"] in best}
spare = dict.fromkeys(leaves, 0)
turn = 0
marker = node(main["id"], "marker", name="stack not walked" + hostile)
for i, window in enumerate(profile["windows"]):
    at = window["start_ns"]
    for site in profile["sites"]:
        if site["id"] not in leaves:
            continue
        spare[site["id"]] += site["windows"][i]
        while spare[site["id"]] >= PERIOD:
            spare[site["id"]] -= PERIOD
            take(at, leaves[site["id"]][turn % 5], "busy")
            at += PERIOD
            turn += 1
    if window["idle_ns"] > 0:
        take(at, wait, "idle", max(1, window["idle_ns"] // PERIOD), 0, 0)
take(profile["totals"]["elapsed_ns"] - 1, marker, "uninstrumented")
for stall in profile["stalls"]:
    of = leaves.get(stall["shares"][0]["site"]) if stall["shares"] else None
    weight = max(1, stall["length_ns"] // PERIOD)
    stall["samples"] = [{"stack": of[0]["id"], "weight": weight, "cpu_ns": weight * PERIOD},
                        {"stack": of[4]["id"], "weight": 1, "cpu_ns": 0}] if of else []
    stall["sampled"] = sum(row["weight"] for row in stall["samples"])
    stall["cpu_ns"] = stall["length_ns"] * 9 // 10
    stall["waiting_ns"] = stall["length_ns"] - stall["cpu_ns"]
taken = sum(row["weight"] for row in samples)
profile.update({
    "sampler": {"running": False, "mode": "cpu", "period_ns": PERIOD, "first_period_ns": PERIOD,
                "budget_ppm": 10000, "ticks": taken, "samples": taken, "rows": len(samples),
                "inside": 2, "lost": 0, "dropped": 0, "cost_ns": taken * 1500, "misses": 0,
                "interrupted": 0},
    "modules": [{"id": 0, "path": "/src/server/server" + hostile, "build_id": "", "base": 0},
                {"id": 1, "path": "/lib/libc.so.6" + hostile, "build_id": "", "base": 0}],
    "stacks": stacks, "samples": samples, "wall": []})
json.dump(profile, open(sys.argv[2], "w", encoding="utf-8"), ensure_ascii=False)
