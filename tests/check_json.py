#!/usr/bin/env python3
"""check_json.py [--rounded] FILE [NAMES]: is this a complete and consistent JSON report?

Reads it as strictly as Python can (UTF-8, no double keys, no fractions, no NaN) and checks every
sum that the words of the interface promise. NAMES is a file of site names, one a line as hex bytes:
each of them must be there as written, and no others. --rounded: the clock's ticks are no ns, so the
length of a window and the sum of what is in it are rounded apart. Prints the first thing that is
wrong."""
import base64
import json
import re
import sys

TOP = ("chroprof", "totals", "sites", "paths", "stalls", "slowest", "windows", "timeline", "tables", "anomalies")
SITE = ("name file line exec_ns children_ns with_children_ns exec_max_ns slice_max_ns slice_p50_ns "
        "slice_p90_ns slice_p99_ns slice_p999_ns slice_typical_ns slice_min_ns slice_p1_ns "
        "slices lifetime_ns waiting_ns delay_ns delay_p99_ns found hidden_total_ns blame_ns calls completed failed cancelled abandoned live stillborn dropped measured "
        "latency_p50_ns latency_p99_ns latency_max_ns id has_percentiles")
PATH = ("id parent site name file line exec_ns with_children_ns exec_max_ns slice_max_ns slices "
        "lifetime_ns waiting_ns delay_ns found hidden_total_ns blame_ns calls completed failed cancelled abandoned live "
        "stillborn dropped")
TOTALS = ("elapsed_ns busy_ns idle_ns uninstrumented_ns start_ns exit_ns at_once at_once_ns cpu_clock_ns asleep_ns hidden_ns hidden_p99_ns untracked_ns delay_ns blame_ns events anomalies live "
          "iterations iteration_p50_ns iteration_p99_ns iteration_max_ns callbacks callback_p50_ns callback_p99_ns callback_max_ns "
          "stalls idle_blame_ns uninstrumented_blame_ns untracked_blame_ns dropped elapsed_ticks delay_ticks "
          "blame_ticks start_unix_ns tick_error_ppb skew_ns skew_events doubt_ns doubt_events "
          "provisional living estimated enabled idle depth")
TABLES = ("futures", "sites", "paths", "edges", "depth", "histograms", "samples", "windows",
          "stalls", "strings", "stacks", "events", "slow", "incidents")


TICK = 13          # CHROPROF_TICK


class Wrong(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def pairs(items):
    names = [name for name, _ in items]
    check(len(names) == len(set(names)), "a key twice:", names)
    return dict(items)


def no_number(text):
    raise Wrong("not an integer: " + text)


def read(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    return json.loads(text, object_pairs_hook=pairs, parse_float=no_number,
                      parse_constant=no_number)


def check_fields(what, row, fields):
    missing = [f for f in fields.split() if f not in row]
    check(not missing, what, "without", missing)
    negative = [f for f, v in row.items() if isinstance(v, int) and not 0 <= v < 1 << 64]
    check(not negative, what, "out of range:", negative)


def check_calls(what, row):
    ends = (row["completed"] + row["failed"] + row["cancelled"] + row["abandoned"]
            + row["dropped"])
    check(row["calls"] == ends + row["live"], what, row["name"], "calls")
    check(row["slice_max_ns"] <= row["exec_ns"], what, row["name"], "slice_max")
    check(row["exec_max_ns"] <= row["exec_ns"], what, row["name"], "exec_max")


def check_totals(doc):
    t = doc["totals"]
    check_fields("totals", t, TOTALS)
    check(t["elapsed_ns"] == t["busy_ns"] + t["idle_ns"] + t["uninstrumented_ns"], "elapsed", t)
    check(t["delay_ticks"] == t["blame_ticks"], "blame", t)
    sites = sum(s["exec_ns"] for s in doc["sites"])
    check(t["busy_ns"] == sites + t["untracked_ns"], "busy", t["busy_ns"], sites)
    blame = sum(s["blame_ns"] for s in doc["sites"])
    blame += t["idle_blame_ns"] + t["uninstrumented_blame_ns"] + t["untracked_blame_ns"]
    check(t["blame_ns"] == blame, "sum of blame", t["blame_ns"], blame)
    for kind in ("iteration", "callback"):
        check(t[kind + "_p50_ns"] <= t[kind + "_p99_ns"] <= t[kind + "_max_ns"], kind, t)


def check_sites(doc):
    for s in doc["sites"]:
        check_fields("site", s, SITE)
        check_calls("site", s)
        check(s["with_children_ns"] == s["exec_ns"] + s["children_ns"], s["name"], "with children")
        p = [s["slice_p%d_ns" % n] for n in (50, 90, 99, 999)] + [s["slice_max_ns"]]
        check(p == sorted(p), s["name"], "percentiles", p)
    ids = [s["id"] for s in doc["sites"]]
    check(len(ids) == len(set(ids)), "a site twice")


def check_path_tree(paths):
    below = {p["id"]: p["exec_ns"] for p in paths}
    seen = {0}
    for p in paths:
        check_fields("path", p, PATH)
        check_calls("path", p)
        check(p["parent"] in seen, "path", p["id"], "before its parent")
        check(p["id"] not in seen and p["id"] > 2, "path id", p["id"])
        seen.add(p["id"])
    for p in reversed(paths):
        check(p["with_children_ns"] == below[p["id"]], "path", p["id"], "with children")
        if p["parent"]:
            below[p["parent"]] += p["with_children_ns"]


def check_paths(doc):
    paths = doc["paths"]
    check_path_tree(paths)
    for s in doc["sites"]:
        own = [p for p in paths if p["site"] == s["id"]]
        for field in ("exec_ns", "slices", "calls", "live", "stillborn", "lifetime_ns", "blame_ns"):
            check(s[field] == sum(p[field] for p in own), s["name"], field, "of its paths")
        check(all(p["name"] == s["name"] for p in own), s["name"], "name of its paths")
    of_sites = {s["id"] for s in doc["sites"]}
    check(all(p["site"] in of_sites for p in paths), "a path of a site that is not listed")


def check_incident(doc, stall):
    steps = steps_of(stall)
    check(len(steps) == stall["steps"] <= 64, "steps of a stall", stall["steps"])
    check(stall["first_steps"] <= stall["steps"], "first steps of a stall", stall)
    known = {p["id"] for p in doc["paths"]} | {0, 1, 2}
    gaps = [(k, step[3] - 2**32) for k, step in enumerate(steps) if step[3] > 2**32]
    check(all(step[3] in known or step[3] > 2**32 for step in steps), "path of a step of a stall")
    check(sum(n for k, n in gaps) == stall["left_out"], "steps left out of a stall", stall["left_out"])
    check(stall["first_steps"] == (gaps[0][0] if gaps else stall["steps"]), "where the first are left out")
    if steps and stall["kind"] == "iteration" and not stall["left_out"]:
        check(steps[-1][0] >= stall["start_ns"] + stall["length_ns"], "a stall ends with its last step", stall)


def check_stalls(doc):
    check(len(doc["stalls"]) <= doc["totals"]["stalls"], "more stalls than there were")
    for s in doc["stalls"]:
        check(s["kind"] in ("callback", "iteration"), "stall kind", s["kind"])
        check(len(s["shares"]) <= 6, "shares of a stall")
        lengths = [x["exec_ns"] for x in s["shares"]]
        check(sum(lengths) + s["rest_ns"] == s["length_ns"], "shares do not add up", s)
        check(lengths == sorted(lengths, reverse=True), "shares of a stall not in order", s)
        sites = [x["site"] for x in s["shares"]]
        check(len(sites) == len(set(sites)), "a site with two shares", s)
        for x in s["shares"]:
            check(x["slice_max_ns"] <= x["exec_ns"], "slice_max of a share", x)
        check_incident(doc, s)
    starts = [s["start_ns"] + 0 for s in doc["stalls"]]
    check(all(isinstance(x, int) for x in starts), "start of a stall")


def check_slowest(doc):
    sites = {s["id"]: s for s in doc["sites"]}
    before = None
    for s in doc["slowest"]:
        parts = ("exec_ns", "children_ns", "delay_ns", "waiting_ns", "unseen_ns")
        check(sum(s[part] for part in parts) == s["latency_ns"], "parts of a slow future", s)
        check(all(s[part] >= 0 for part in parts), "a part below 0", s)
        check(s["site"] in sites, "a slow future of no site", s)
        check(s["finish"] in ("completed", "failed", "cancelled"), "finish", s)
        blames = [x["delay_ns"] for x in s["blames"]]
        check(len(blames) <= 3 and sum(blames) <= s["delay_ns"], "blames of a slow future", s)
        check(blames == sorted(blames, reverse=True), "blames not in order", s)
        if before and before["site"] == s["site"]:
            check(s["latency_ns"] <= before["latency_ns"], "slow futures not in order", s)
        before = s


def check_windows(doc, rounded):
    now = 0
    slack = len(doc["paths"]) + 4 if rounded else 0
    for w in doc["windows"]:
        check(w["start_ns"] == now, "a gap between windows at", now)
        now = w["end_ns"]
        wrong = w["busy_ns"] + w["idle_ns"] + w["uninstrumented_ns"] - (now - w["start_ns"])
        check(abs(wrong) <= slack, "window", w)
    t = doc["totals"]
    check(abs(now - t["elapsed_ns"]) <= slack, "windows end at", now)
    for field in ("busy_ns", "idle_ns", "uninstrumented_ns", "untracked_ns"):
        check(sum(w[field] for w in doc["windows"]) == t[field], "windows:", field)
    for s in doc["sites"]:
        check(len(s["windows"]) == len(doc["windows"]), s["name"], "windows")
        check(sum(s["windows"]) == s["exec_ns"], s["name"], "sum of windows")


def steps_of(timeline):
    """The steps as (at_ns, state, depth, path, id); the last one is a tick of now."""
    numbers, value, shift = [], 0, 0
    for byte in base64.b64decode(timeline["data"], validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    steps, at, last, each = [], 0, 0, iter(numbers)
    for head in each:
        at, path, step_id = at + next(each), next(each), 0
        if head & 16:
            less = next(each)
            step_id = last = (last + (less >> 1 ^ -(less & 1))) % 2**64
        steps.append((at, head & 15, head >> 5, path, step_id))
    return steps


def check_steps(doc):
    timeline, t = doc["timeline"], doc["totals"]
    steps = steps_of(timeline)
    check(len(steps) == (min(timeline["steps"], 100000) + 1 if timeline["steps"] else 0), "steps")
    ready = sum(f["state"] == "ready" for f in doc["futures"])
    check(timeline["ready"] == ready, "ready futures", timeline["ready"])
    if not steps:
        return
    # ticks that are no ns: elapsed is a sum of floored parts
    exact = t["elapsed_ticks"] == t["elapsed_ns"]
    late = steps[-1][0] - t["elapsed_ns"]
    check(steps[-1][1] == TICK and 0 <= late <= (0 if exact else len(doc["paths"]) + 4), "the last step", steps[-1])
    known = {p["id"] for p in doc["paths"]} | {0, 1, 2}
    billed = {path: 0 for path in known}
    for before, step in zip([(0, 0, 0, 0, 0)] + steps, steps):
        check(step[3] in known, "path of the step", step)
        billed[step[3]] += step[0] - before[0]
    if len(steps) != t["events"] + 1:
        return
    # the ring has all: each path was billed its exec
    slack = 0 if exact else len(steps)
    for p in doc["paths"]:
        check(abs(billed[p["id"]] - p["exec_ns"]) <= slack, "steps of path", p["id"], billed[p["id"]])


def check_tables(doc):
    rows = doc["tables"]
    ring = [r for r in rows if r["name"] == "events"][0]
    check(doc["timeline"]["steps"] == ring["used"], "steps of the timeline", doc["timeline"], ring)
    check(doc["timeline"]["reaches_back_ns"] <= doc["totals"]["elapsed_ns"], "timeline", doc["timeline"])
    check_steps(doc)
    check(tuple(r["name"] for r in rows) == TABLES, "tables:", [r["name"] for r in rows])
    for r in rows:
        check(r["used"] <= r["peak"] <= r["capacity"], "table", r)
        check((r["advice"] > r["capacity"]) == (r["dropped"] > 0), "advice of", r)
    check(sum(r["dropped"] for r in rows) == doc["totals"]["dropped"], "sum of dropped")
    seen = sum(a["count"] for a in doc["anomalies"])
    check(seen == doc["totals"]["anomalies"], "sum of anomalies", seen)
    paths = {p["id"] for p in doc["paths"]} | {0, 1, 2}
    for a in doc["anomalies"]:
        check(len(a["places"]) in ((0, 2) if a["count"] else (0,)), "places of", a)
        for place in a["places"]:
            check(place["path"] in paths and place["top"] in paths, "path of", a)
            check(place["at_ns"] <= doc["totals"]["elapsed_ns"], "time of", a)


def bare(text):
    """What stands for bytes that are no UTF-8 may be one sign or several."""
    return re.sub("\ufffd+", "\ufffd", text)


def check_names(doc, path):
    with open(path, encoding="ascii") as file:
        wanted = [bytes.fromhex(line.strip()).decode("utf-8", "replace") for line in file]
    wanted = sorted(map(bare, wanted))
    got = sorted(bare(s["name"]) for s in doc["sites"])
    check(len(got) == len(wanted), len(got), "names, not", len(wanted))
    for g, w in zip(got, wanted):
        check(g == w, "name", ascii(g)[:200], "not", ascii(w)[:200])


def main():
    rounded = sys.argv[1] == "--rounded"
    operands = sys.argv[2 if rounded else 1:]
    doc = read(operands[0])
    missing = [key for key in TOP if key not in doc]
    check(not missing, "no", missing)
    check(doc["chroprof"] == 3, "schema version", doc["chroprof"])
    for part in (check_totals, check_sites, check_paths, check_stalls, check_slowest, check_tables):
        part(doc)
    check_windows(doc, rounded)
    if len(operands) > 1:
        check_names(doc, operands[1])


try:
    main()
except (Wrong, UnicodeDecodeError, ValueError, KeyError, TypeError) as wrong:
    print("%s: %s" % (type(wrong).__name__, wrong))
    sys.exit(1)
