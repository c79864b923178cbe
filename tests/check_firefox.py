#!/usr/bin/env python3
"""Checks a processed profile of the Firefox Profiler, version 60: the rules of the format, and the
sums against the JSON of the same profile: check_firefox.py PROFILE JSON

Weights are compared to the nanosecond.
"""
import argparse
import json
import sys
from collections import Counter
from decimal import Decimal

COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown",
          "magenta", "red", "lightred", "darkgrey", "grey"}
GRAPH_COLORS = {"blue", "green", "grey", "ink", "magenta", "orange", "purple", "red", "teal",
                "yellow"}
FORMATS = {"string", "duration", "milliseconds", "integer", "percentage", "decimal"}
COLUMNS = {
    "stackTable": ["frame", "prefix"],
    "frameTable": ["address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
                   "innerWindowID", "line", "column"],
    "funcTable": ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
                  "columnNumber"],
    "resourceTable": ["lib", "name", "host", "type"],
    "nativeSymbols": ["libIndex", "address", "name", "functionSize"],
    "sources": ["id", "filename"],
}
MARKERS = ["name", "startTime", "endTime", "phase", "category", "data"]
NS = 10 ** 6


def need(condition, *what):
    if not condition:
        sys.exit("check_firefox: " + " ".join(str(w) for w in what))


def no_twins(pairs):
    need(len(dict(pairs)) == len(pairs), "a key twice in", [k for k, _ in pairs][:9])
    return dict(pairs)


def is_index(value, length):
    return type(value) is int and 0 <= value < length


def is_number(value):
    return type(value) in (int, Decimal)


def is_count(value):
    return type(value) is int


def to_ns(ms):
    ns = ms * NS
    need(ns == int(ns), "finer than a nanosecond:", ms)
    return int(ns)


def check_columns(name, table, columns):
    length = table["length"]
    need(set(table) == {"length", *columns}, name, "has the columns", sorted(table))
    for column in columns:
        need(type(table[column]) is list and len(table[column]) == length,
             "%s.%s has %d rows, not %d" % (name, column, len(table[column]), length))


def check_indices(name, table, column, length, null=False):
    for value in table[column]:
        need(value is None and null or is_index(value, length), name, column, value)


def check_meta(meta):
    need(meta["preprocessedProfileVersion"] == 60 and meta["version"] == 24, "version")
    for key in ("interval", "startTime", "processType", "stackwalk"):
        need(is_number(meta[key]), key)
    need(type(meta["product"]) is str and meta["importedFrom"] == "chroprof", "product")
    need(type(meta["symbolicated"]) is bool and meta["usesOnlyOneStackType"] is True, "flags")
    need(meta["sampleUnits"] == {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"}, "units")
    for category in meta["categories"]:
        need(set(category) == {"name", "color", "subcategories"}, "category", category)
        need(category["color"] in COLORS and len(category["subcategories"]) > 0, category)
    names = [c["name"] for c in meta["categories"]]
    need(names.count("Idle") == 1 and "grey" in [c["color"] for c in meta["categories"]], names)


def check_schemas(meta):
    schemas = {}
    for schema in meta["markerSchema"]:
        need(schema["name"] not in schemas, "a schema twice")
        need(schema["tableLabel"] != schema["tooltipLabel"], "a table that repeats its title")
        keys = [f["key"] for f in schema["fields"]]
        need(len(set(keys)) == len(keys), "a key twice in", schema["name"])
        for field in schema["fields"]:
            need(set(field) == {"key", "label", "format"} and field["format"] in FORMATS, field)
        for graph in schema.get("graphs", []):
            need(graph["key"] in keys and graph["color"] in GRAPH_COLORS, graph)
            need(graph["type"] in ("line", "bar", "line-filled"), graph)
        schemas[schema["name"]] = set(keys)
    return schemas


def check_shared(shared, categories, libs):
    strings = shared["stringArray"]
    need(all(type(s) is str for s in strings), "strings")
    for name, columns in COLUMNS.items():
        check_columns(name, shared[name], columns)
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    check_indices("stackTable", stacks, "frame", frames["length"])
    for index, prefix in enumerate(stacks["prefix"]):
        need(prefix is None or is_index(prefix, index), "the prefix of stack", index, prefix)
    check_indices("frameTable", frames, "func", funcs["length"])
    check_indices("frameTable", frames, "category", len(categories), null=True)
    for category, sub in zip(frames["category"], frames["subcategory"]):
        need(sub is None if category is None
             else is_index(sub, len(categories[category]["subcategories"])), "subcategory", sub)
    for address, func in zip(frames["address"], frames["func"]):
        lib = shared["resourceTable"]["lib"][funcs["resource"][func]]
        need(type(address) is int and (address == -1 if lib is None else address >= 0), "address",
             address, "of library", lib)
    need(all(is_index(d, 99) for d in frames["inlineDepth"]), "inlineDepth")
    for table, column in ((frames, "line"), (frames, "column"), (funcs, "lineNumber"),
                          (funcs, "columnNumber")):
        need(all(v is None or type(v) is int and v > 0 for v in table[column]), column)
    check_indices("funcTable", funcs, "name", len(strings))
    check_indices("funcTable", funcs, "resource", shared["resourceTable"]["length"])
    check_indices("funcTable", funcs, "source", shared["sources"]["length"], null=True)
    need(all(type(v) is bool for v in funcs["isJS"] + funcs["relevantForJS"]), "isJS")
    check_indices("resourceTable", shared["resourceTable"], "name", len(strings))
    check_indices("resourceTable", shared["resourceTable"], "lib", len(libs), null=True)
    for function in zip(*(funcs[c] for c in ("name", "resource", "source", "lineNumber"))):
        need(function not in shared.setdefault("seen", set()), "a function twice:", function)
        shared["seen"].add(function)
    check_indices("sources", shared["sources"], "filename", len(strings))


def check_samples(name, samples, stacks):
    columns = ["stack", "time", "weight"]
    columns += ["threadCPUDelta"] if "threadCPUDelta" in samples else []
    rest = {k: v for k, v in samples.items() if k != "weightType"}
    check_columns(name, rest, columns)
    need(samples["weightType"] in ("samples", "tracing-ms"), name, "weightType")
    check_indices(name, samples, "stack", stacks)
    need(all(is_number(t) for t in samples["time"]), name, "time")
    need(all(a <= b for a, b in zip(samples["time"], samples["time"][1:])), name, "goes back")
    number = is_number if samples["weightType"] == "tracing-ms" else is_count
    need(all(number(w) and w >= 0 for w in samples["weight"]), name, "weight")
    need(samples["length"] > 0 and samples["weight"][-1] == 0, name, "is not closed")
    for delta in samples.get("threadCPUDelta", []):
        need(is_count(delta) and delta >= 0, name, "CPU delta", delta)


def check_markers(name, markers, profile, schemas):
    check_columns(name, markers, MARKERS)
    check_indices(name, markers, "name", len(profile["shared"]["stringArray"]))
    check_indices(name, markers, "category", len(profile["meta"]["categories"]))
    for k in range(markers["length"]):
        start, end, phase = (markers[c][k] for c in ("startTime", "endTime", "phase"))
        need(phase in (0, 1) and is_number(start) and is_number(end), name, "marker", k)
        need(phase == 0 or start <= end, name, "marker", k, "ends before it starts")
        data = dict(markers["data"][k])
        keys = schemas.get(data.pop("type"))
        need(keys is not None, name, "a marker without a schema", k)
        cause = data.pop("cause", None)
        need(set(data) <= keys, name, "marker", k, "has keys that are not in its schema")
        if cause is not None:
            need(set(cause) == {"stack", "time", "tid"}, cause)
            need(is_index(cause["stack"], profile["shared"]["stackTable"]["length"]), cause)


def check_threads(profile, schemas):
    tids = set()
    end = profile["threads"][0]["samples"]["time"][-1]
    for thread in profile["threads"]:
        times = thread["samples"]["time"]
        need(0 <= times[0] and times[-1] <= end, thread["name"], "is beyond the run:", times[-1])
        name = thread["name"]
        for key in ("processType", "processName", "pid"):
            need(type(thread[key]) is str, name, key)
        need(type(thread["tid"]) is int and thread["tid"] not in tids, name, "tid")
        tids.add(thread["tid"])
        need(thread["pausedRanges"] == [] and type(thread["isMainThread"]) is bool, name)
        check_samples(name, thread["samples"], profile["shared"]["stackTable"]["length"])
        check_markers(name, thread["markers"], profile, schemas)
    need(sum(t["isMainThread"] for t in profile["threads"]) == 1, "one main thread")
    for key in ("initialVisibleThreads", "initialSelectedThreads"):
        for index in profile["meta"][key]:
            need(is_index(index, len(profile["threads"])), key)


class Names:
    """From the tables to chains of (name, file, line)."""

    def __init__(self, shared):
        self.shared = shared
        self.chains = {}

    def frame(self, index):
        shared = self.shared
        func = shared["frameTable"]["func"][index]
        source = shared["funcTable"]["source"][func]
        file = "" if source is None else shared["stringArray"][
            shared["sources"]["filename"][source]]
        return (shared["stringArray"][shared["funcTable"]["name"][func]], file,
                shared["frameTable"]["line"][index] or 0)

    def chain(self, stack):
        if stack not in self.chains:
            prefix = self.shared["stackTable"]["prefix"][stack]
            head = () if prefix is None else self.chain(prefix)
            self.chains[stack] = head + (self.frame(self.shared["stackTable"]["frame"][stack]),)
        return self.chains[stack]

    def module(self, stack):
        func = self.shared["frameTable"]["func"][self.shared["stackTable"]["frame"][stack]]
        resource = self.shared["funcTable"]["resource"][func]
        return self.shared["stringArray"][self.shared["resourceTable"]["name"][resource]]

    def category(self, stack):
        """Null is that of the frame above."""
        found = None
        while stack is not None and found is None:
            found = self.shared["frameTable"]["category"][self.shared["stackTable"]["frame"][stack]]
            stack = self.shared["stackTable"]["prefix"][stack]
        return found

    def fill(self):
        for stack in range(self.shared["stackTable"]["length"]):
            self.chain(stack)               # prefixes come first, so no recursion goes deep


def weights(names, samples):
    rows = Counter()
    for stack, weight in zip(samples["stack"], samples["weight"]):
        if weight > 0:
            rows[names.chain(stack)] += to_ns(weight)
    return rows


def outside(report):
    return {(("(" + n + ")", "", 0),): report["totals"][n + "_ns"]
            for n in ("idle", "uninstrumented", "untracked")}


def paths_of(report, field):
    chains, rows = {}, Counter()
    for path in report["paths"]:
        frame = (path["name"], path["file"], path["line"])
        chains[path["id"]] = chains.get(path["parent"], ()) + (frame,)
        rows[chains[path["id"]]] += path[field]
    return rows


def same(what, got, want):
    for key in set(got) | set(want):
        need(got.get(key, 0) == want.get(key, 0), what, key, got.get(key, 0), "is not",
             want.get(key, 0))


def check_time_line(names, samples, report):
    end = to_ns(samples["time"][-1])
    need(end == report["totals"]["elapsed_ns"], "the timeline ends at", end)
    want = Counter(outside(report))
    for site in report["sites"]:
        want[(place_of(site),)] += site["exec_ns"]
    same("the timeline of", weights(names, samples), want)


def place_of(path):
    return (path["name"], path["file"], path["line"])


def chains_of_paths(report):
    chains = {2: (("(untracked)", "", 0),)}
    for path in report["paths"]:
        chains[path["id"]] = chains.get(path["parent"], ()) + (place_of(path),)
    return chains


def lookup(node):
    return node["address"] - (1 if node["return"] and node["address"] > 0 else 0)


def calls_of(node):
    """The functions of an address from the outside in; without a name its address."""
    calls = [node] + node.get("inlined", [])
    names = [call.get("function") or call.get("name", "") for call in calls]
    return [(name or "0x%x" % lookup(node), call.get("file", ""), call.get("line", 0))
            for name, call in zip(names, calls)][::-1]


def chains_of_stacks(report):
    places = {path["id"]: place_of(path) for path in report["paths"]}
    places[2] = ("(untracked)", "", 0)
    chains = {0: ()}
    for node in report["stacks"]:
        calls = [(node["name"], "", 0)]
        if node["kind"] == "task":
            calls = [places[node["path"]]]
        elif node["kind"] == "native":
            calls = calls_of(node)
        chains[node["id"]] = chains[node["parent"]] + tuple(calls)
    return chains


def breakpad(build_id):
    """A build id as the viewer's server of symbols wants it."""
    data = bytes.fromhex(build_id)[:16].ljust(16, b"\0")
    guid = data[3::-1] + data[5:3:-1] + data[7:5:-1] + data[8:]
    return guid.hex().upper() + "0" if build_id else ""


def check_libs(profile, report):
    modules = [m for m in report.get("modules", []) if m["path"]]
    need(len(profile["libs"]) == len(modules), "libs:", len(profile["libs"]))
    for lib, module in zip(profile["libs"], modules):
        want = {"arch": "", "name": module["path"].split("/")[-1], "path": module["path"],
                "breakpadId": breakpad(module["build_id"]), "codeId": module["build_id"] or None}
        want.update(debugName=want["name"], debugPath=want["path"])
        need(lib == want, "lib", lib, "is not", want)
    paths = {m["id"] for m in modules}
    nameless = any(node["kind"] == "native" and node["module"] in paths and
                   not (node.get("function") or node["name"]) for node in report.get("stacks", []))
    need(profile["meta"]["symbolicated"] != nameless, "symbolicated is not true")


GAP, IDLE, LOST = ("(no samples)", "", 0), ("(idle)", "", 0), ("(frames missing)", "", 0)


def check_split(what, row, parts):
    """A range that is selected counts what lies in it, to one part."""
    need(sum(weight for _, weight, _ in parts) == row["weight"], what, "weighs", parts[:9])
    need([cpu for _, _, cpu in parts] == [row["cpu_ns"]] + [0] * (len(parts) - 1), what, "CPU")
    need(parts[0][0] == row["at_ns"], what, "begins at", parts[0][0])
    end, before = row["at_ns"] + row["duration_ns"], 0
    if len(parts) == 1:
        return
    most = max(weight for _, weight, _ in parts)
    for at, weight, _ in parts:
        need(row["at_ns"] <= at <= end, what, "has a part at", at)
        want = row["weight"] * (at - row["at_ns"]) / max(1, row["duration_ns"])
        need(abs(before - want) <= most + 1, what, before, "before", at, "not", want)
        before += weight


def check_sample_rows(names, profile, samples, report):
    """Each row of the JSON, split or not, and nothing else."""
    chains, elapsed = chains_of_stacks(report), report["totals"]["elapsed_ns"]
    elapsed = max([elapsed] + [row["at_ns"] + row["duration_ns"] for row in report["samples"]])
    modules = {row["id"]: row["path"] for row in report["modules"]}
    nodes = {node["id"]: node for node in report["stacks"]}
    idle = [c["name"] for c in profile["meta"]["categories"]].index("Idle")
    cells = list(zip(samples["stack"], samples["time"], samples["weight"],
                     samples["threadCPUDelta"]))[:-1]
    k = 0
    for number, row in enumerate(report["samples"]):
        want, parts, left = chains[row["stack"]], [], row["weight"]
        if row["state"] == "idle" and want[-1:] != (IDLE,):
            want += (IDLE,)
        want = want or (LOST,)
        while k < len(cells) and names.chain(cells[k][0]) == (GAP,):
            need(cells[k][2:] == (0, 0), "a gap that weighs", cells[k])
            k += 1
        while left > 0 and k < len(cells):
            stack, at, weight, cpu = cells[k]
            need(names.chain(stack) == want, "row", number, names.chain(stack), "is not", want)
            need((names.category(stack) == idle) == (row["state"] == "idle"), "row", number, "idle")
            parts.append((to_ns(at), weight, cpu))
            left, k = left - weight, k + 1
        need(parts, "no cells of row", number)
        check_split("row %d" % number, row, parts)
        need(len(parts) <= 1 + 1000 * row["duration_ns"] // max(1, elapsed), "parts of", number)
        need(len(parts) >= min(row["weight"], 1 + 900 * row["duration_ns"] // max(1, elapsed)),
             "row", number, "is in", len(parts), "parts")
        node = nodes.get(row["stack"], {"kind": ""})
        if node["kind"] == "native" and row["state"] != "idle" and node["module"] >= 0:
            need(names.module(parts and cells[k - 1][0]) == modules[node["module"]].split("/")[-1],
                 "module", node)
    need(all(names.chain(c[0]) == (GAP,) and c[2:] == (0, 0) for c in cells[k:]), "cells behind")
    # what elapsed adds up is rounded path by path
    need(0 <= to_ns(samples["time"][-1]) - elapsed <= len(report["paths"]) + 4, "the end",
         samples["time"][-1], elapsed)
    need(sum(samples["weight"]) == sum(row["weight"] for row in report["samples"]), "weights")
    need(sum(samples["threadCPUDelta"]) == sum(row["cpu_ns"] for row in report["samples"]), "CPU")


def check_draws(names, samples, report):
    chains, want, got = chains_of_paths(report), Counter(), Counter()
    for row in report["wall"]:
        if row["state"] == "paused":
            want[chains[row["path"]]] += row["weight"]
    for stack, weight in zip(samples["stack"], samples["weight"]):
        got[names.chain(stack)] += weight
    del got[(IDLE,)]                        # closes the columns
    same("draws of", got, want)


TOP, MILLION = 8, 10 ** 6


def rounding(report):
    """What the sum of a bin may be off by, in ns: nothing if a tick is a nanosecond."""
    totals = report["totals"]
    return 0 if totals["elapsed_ticks"] == totals["elapsed_ns"] else len(report["paths"]) + 4


def apart(report, spread):
    """By how much the length of a window and what is in it may differ besides: in a snapshot of a
    busy program each row is whole, not the window; in a merged profile each site's part is floored
    where a window spans two."""
    return report["totals"]["skew_ns"] + (200 if spread else 0)


def lines_of(report, labels, shown):
    """What each line of the graph shows, window by window: the sites with the most exec time (of
    sites with one name the one that is shown), all others, untracked, loop."""
    def column(field):
        return [window[field] for window in report["windows"]]
    sites = sorted((s for s in report["sites"] if s["exec_ns"] > 0), key=lambda s: -s["exec_ns"])
    lines, rest = [], column("busy_ns")
    need(labels[min(len(sites), TOP):] == ["(all other sites)", "(untracked)", "(uninstrumented)"], labels)
    most = [site["exec_ns"] for site in sites[:TOP]]
    for label, ns in zip(labels, most):
        fit = [s for s in sites if s["name"] == label and s["exec_ns"] == ns]
        need(fit, "no site", label, "has", ns)
        site = max(fit, key=lambda s: (place_of(s),) in shown)
        sites.remove(site)
        lines.append(site["windows"])
    lost = column("untracked_ns")
    for line in lines + [lost]:
        rest = [a - b for a, b in zip(rest, line)]
    return lines + [rest, lost, column("uninstrumented_ns"), column("idle_ns")]


def check_share(what, share, ns, whole, slack):
    """Cut to millionths. Times beyond 2^40 are halved before, hence a thousandth of a millionth."""
    cut = ns * MILLION - share * whole
    most = slack * MILLION + whole // 1000
    need(-most <= cut < whole + most or cut == whole == share == 0, what, "is", share,
         "millionths of", whole, "ns, not", ns, "ns")


def check_bin(what, shares, parts, idle, slack):
    """The shares and that of idle are 1."""
    whole = sum(parts) + idle
    for number, (share, ns) in enumerate(zip(shares, parts)):
        check_share("%s, line %d" % (what, number), share, ns, whole, slack)
    busy = sum(shares)
    need(0 <= busy <= MILLION, what, "has shares of", busy)
    if whole > 0:
        wrong = (busy - MILLION) * whole + idle * MILLION
        least = len(shares) * whole + len(shares) * slack * MILLION
        need(-least <= wrong <= slack * MILLION + whole // 1000, what, "is not 1 with idle:", busy,
             idle, whole)


def check_line(what, shares, lengths, ns, slack):
    """Share x bin adds up to the exec time."""
    got = sum(share * length for share, length in zip(shares, lengths))
    wrong = abs(ns * MILLION - got)
    need(wrong <= sum(lengths) + len(lengths) * slack * MILLION, what, "adds up to", got // MILLION,
         "ns, not", ns)


def check_most(what, most, report, number):
    """The site with the most of a window; of equal ones any."""
    window = report["windows"][number]
    highest = max((s["windows"][number] for s in report["sites"]), default=0)
    best = [s["name"] for s in report["sites"] if s["windows"][number] == highest > 0]
    best = best or ["(uninstrumented)" if window["uninstrumented_ns"] > 0 else "(idle)"]
    need(most in best, what, "has", most, "not", best)


def check_use(markers, schema, report, shown, spread):
    """The graph of shares, which has no line for idle."""
    use = [k for k in range(markers["length"]) if markers["data"][k]["type"] == "Use"]
    need(schema["fields"][0]["key"] == "most", "fields", schema["fields"])
    labels = [field["label"] for field in schema["fields"][1:]]
    keys = ["s%d" % row for row in range(len(labels))]
    need([field["key"] for field in schema["fields"][1:]] == keys, "keys", schema["fields"])
    need([graph["key"] for graph in schema["graphs"]] == keys, "graphs", schema["graphs"])
    need(len(use) == len(report["windows"]), "windows:", len(use))
    slack = rounding(report) + apart(report, spread)
    cells = list(zip(*lines_of(report, labels, shown)))         # idle is the last of each
    shares = []
    for number, (k, window) in enumerate(zip(use, report["windows"])):
        data, what = markers["data"][k], "window %d" % number
        need(set(data) == {"type", "most", *keys}, "lines of", what, data)
        need(to_ns(markers["startTime"][k]) == window["start_ns"], "start of", what)
        need(to_ns(markers["endTime"][k]) == window["end_ns"], "end of", what)
        shares.append([to_ns(data[key]) for key in keys])       # millionths
        check_bin(what, shares[-1], cells[number][:-1], cells[number][-1], slack)
        check_most(what, data["most"], report, number)
    lengths = [window["end_ns"] - window["start_ns"] for window in report["windows"]]
    totals = report["totals"]
    want = sorted((site["exec_ns"] for site in report["sites"]), reverse=True)[:len(labels) - 3]
    want += [totals["busy_ns"] - totals["untracked_ns"] - sum(want), totals["untracked_ns"],
             totals["uninstrumented_ns"]]
    for label, column, ns in zip(labels, zip(*shares), want):
        check_line("the graph of " + label, column, lengths, ns, slack)


def check_stall_figures(markers, k, stall, words):
    data, shares = markers["data"][k], stall["shares"]
    need(words[markers["name"][k]] == "Stall: " + stall["kind"], "kind of stall", k)
    need(to_ns(markers["startTime"][k]) == stall["start_ns"], "start of stall", k)
    need(to_ns(markers["endTime"][k]) == stall["start_ns"] + stall["length_ns"], "end of stall", k)
    need(to_ns(data["dur"]) == stall["length_ns"], "length of stall", k)
    need(to_ns(data["cause"]["time"]) == stall["start_ns"], "time of the cause of stall", k)
    need(data["events"] == stall["events"], "events of stall", k, data["events"], "are not",
         stall["events"])
    need(data["handler"] == (shares[0]["name"] if shares and shares[0]["site"] else "(uninstrumented)"), "handler of stall", k)
    share_ns = shares[0]["exec_ns"] if shares else 0
    need(to_ns(data["share"]) == share_ns, "share of stall", k, data["share"], "is not", share_ns)


def chain_of_share(stall):
    """The site that took most of a stall."""
    share = stall["shares"][0] if stall["shares"] else {"site": 0}
    own = {0: (("(uninstrumented)", "", 0),), 2: (("(untracked)", "", 0),)}
    return own[share["site"]] if share["site"] in own else (place_of(share),)


def check_stalls(names, markers, report):
    got = [k for k in range(markers["length"]) if markers["data"][k]["type"] == "Stall"]
    need(len(got) == len(report["stalls"]), "stalls:", len(got))
    sampled = {}
    if report.get("samples"):
        sampled = chains_of_stacks(report)
    for k, stall in zip(got, report["stalls"]):
        data = markers["data"][k]
        check_stall_figures(markers, k, stall, names.shared["stringArray"])
        hits = [row["stack"] for row in stall["samples"]]
        want = chain_of_share(stall)
        if hits and hits[0] in sampled and hits[0] > 0:
            want = sampled[hits[0]]
        need(names.chain(data["cause"]["stack"]) == want, "stack of stall", k)


def check_windows(names, samples, report):
    """Each window has one sample a site that has time in it, and they begin within the run."""
    k, cells = 0, list(zip(samples["stack"], samples["time"], samples["weight"]))[:-1]
    for number, window in enumerate(report["windows"]):
        want = Counter()
        rows = [(place_of(s), s["windows"][number]) for s in report["sites"]]
        rows += [(("(%s)" % n, "", 0), window[n + "_ns"]) for n in ("untracked", "uninstrumented", "idle")]
        rows = [row for row in rows if row[1] > 0]
        for place, ns in rows:
            want[(place,)] += ns
        part = cells[k:k + len(rows)]
        k += len(rows)
        got = weights(names, {"stack": [c[0] for c in part], "weight": [c[2] for c in part]})
        same("window %d of" % number, got, want)
        need(all(to_ns(at) >= min(window["start_ns"], report["totals"]["elapsed_ns"])
                 for _, at, _ in part), "window", number, "begins before", window["start_ns"])
    need(k == len(cells), "samples behind the windows:", len(cells) - k)


def check_sums(profile, report, spread):
    names = Names(profile["shared"])
    names.fill()
    check_libs(profile, report)
    line, tree, waiting = profile["threads"][:3]
    sampled = bool(report.get("samples"))
    need(("windows" in line["name"]) != sampled, "the name", line["name"])
    schema = [s for s in profile["meta"]["markerSchema"] if s["name"] == "Use"]
    need(len(schema) == 1, "graphs of shares:", len(schema))
    check_use(line["markers"], schema[0], report,
              {names.chain(stack) for stack in line["samples"]["stack"]}, spread)
    if sampled:
        check_sample_rows(names, profile, line["samples"], report)
    else:
        check_time_line(names, line["samples"], report)
        check_windows(names, line["samples"], report)
    want = paths_of(report, "exec_ns")
    want.update(outside(report))
    got = weights(names, tree["samples"])
    same("exec of", got, want)
    need(sum(got.values()) == report["totals"]["elapsed_ns"], "the tree's sum")
    same("waiting of", weights(names, waiting["samples"]), paths_of(report, "waiting_ns"))
    draws = report.get("sampler", {"draws": 0})["draws"] > 0
    need(len(profile["threads"]) == 3 + draws, "threads:", len(profile["threads"]))
    if draws:
        check_draws(names, profile["threads"][3]["samples"], report)
    check_stalls(names, line["markers"], report)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("profile")
    arguments.add_argument("json")
    arguments.add_argument("--spread", action="store_true",
                           help="the length of a window and what is in it may differ by some ns: "
                           "in a merged profile each part is floored")
    given = arguments.parse_args()
    with open(given.profile, encoding="utf-8") as file:
        profile = json.load(file, parse_float=Decimal, object_pairs_hook=no_twins)
    report = json.load(open(given.json, encoding="utf-8"))
    need(list(profile) == ["meta", "libs", "threads", "counters", "shared"], "keys", list(profile))
    check_meta(profile["meta"])
    schemas = check_schemas(profile["meta"])
    check_shared(profile["shared"], profile["meta"]["categories"], profile["libs"])
    check_threads(profile, schemas)
    start = report["totals"]["start_unix_ns"]
    need(to_ns(Decimal(profile["meta"]["startTime"])) == start, "startTime")
    check_sums(profile, report, given.spread)
    print("ok: %s" % ", ".join("%d %s" % (t["samples"]["length"], t["name"])
                               for t in profile["threads"]))


if __name__ == "__main__":
    main()
