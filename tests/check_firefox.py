#!/usr/bin/env python3
"""Checks a processed profile of the Firefox Profiler, version 60: the rules of the format, and the
sums against the JSON of the same profile: check_firefox.py PROFILE JSON

Weights are compared to the nanosecond.
"""
import argparse
import itertools
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
    need(meta["symbolicated"] is True and meta["usesOnlyOneStackType"] is True, "flags")
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
        keys = [f["key"] for f in schema["fields"]]
        need(len(set(keys)) == len(keys), "a key twice in", schema["name"])
        for field in schema["fields"]:
            need(set(field) == {"key", "label", "format"} and field["format"] in FORMATS, field)
        for graph in schema.get("graphs", []):
            need(graph["key"] in keys and graph["color"] in GRAPH_COLORS, graph)
            need(graph["type"] in ("line", "bar", "line-filled"), graph)
        schemas[schema["name"]] = set(keys)
    return schemas


def check_shared(shared, categories):
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
    need(all(a == -1 for a in frames["address"]), "address")
    for table, column in ((frames, "line"), (frames, "column"), (funcs, "lineNumber"),
                          (funcs, "columnNumber")):
        need(all(v is None or type(v) is int and v > 0 for v in table[column]), column)
    check_indices("funcTable", funcs, "name", len(strings))
    check_indices("funcTable", funcs, "resource", shared["resourceTable"]["length"])
    check_indices("funcTable", funcs, "source", shared["sources"]["length"], null=True)
    need(all(type(v) is bool for v in funcs["isJS"] + funcs["relevantForJS"]), "isJS")
    check_indices("resourceTable", shared["resourceTable"], "name", len(strings))
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
    for thread in profile["threads"]:
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
            for n in ("idle", "loop", "untracked")}


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
    got = weights(names, samples)
    need(sum(got.values()) == report["totals"]["elapsed_ns"], "the timeline's sum",
         sum(got.values()), "is not", report["totals"]["elapsed_ns"])
    end = to_ns(samples["time"][-1])
    need(end == report["totals"]["elapsed_ns"], "the timeline ends at", end)
    want, places = Counter(outside(report)), Counter(outside(report).keys())
    for site in report["sites"]:
        place = ((site["name"], site["file"], site["line"]),)
        want[place] += site["exec_ns"]
        places[place] += 1
    rest = (("(all other sites)", "", 0),)
    for chain, ns in got.items():
        if chain == rest and places[rest] == 0:
            continue                        # the sum above holds it
        if places[chain] == 1:
            need(ns == want[chain], "the timeline has", ns, "of", chain, "not", want[chain])
        else:                               # one of them may be among the rest
            need(ns <= want[chain], "the timeline has", ns, "of", chain, "beyond", want[chain])
    if rest not in got:
        same("the timeline of", got, want)


def place_of(path):
    return (path["name"], path["file"], path["line"])


def chains_of_paths(report):
    chains = {2: (("(untracked)", "", 0),)}
    for path in report["paths"]:
        chains[path["id"]] = chains.get(path["parent"], ()) + (place_of(path),)
    return chains


def chains_of_stacks(report):
    """Of each sampled stack: code without a name is its address."""
    places = {path["id"]: place_of(path) for path in report["paths"]}
    places[2] = ("(untracked)", "", 0)
    chains = {0: ()}
    for node in report["stacks"]:
        place = (node["name"], "", 0)
        if node["kind"] == "task":
            place = places[node["path"]]
        elif node["kind"] == "native" and not node["name"]:
            place = ("0x%x" % node["address"], "", 0)
        chains[node["id"]] = chains[node["parent"]] + (place,)
    return chains


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
            need(names.module(parts and cells[k - 1][0]) == modules[node["module"]], "module", node)
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


TOP, BINS, STALLS, MILLION = 8, 240, 64, 10 ** 6


def rounding(report):
    """What the sum of a bin may be off by, in ns: nothing if a tick is a nanosecond."""
    totals = report["totals"]
    return 0 if totals["elapsed_ticks"] == totals["elapsed_ns"] else len(report["paths"]) + 4


def apart(report, spread):
    """By how much the length of a window and what is in it may differ besides: in a snapshot of a
    busy program each row is whole, not the window; in a merged profile each site's part is floored
    where a window spans two."""
    return report["totals"]["skew_ns"] + (200 if spread else 0)


def bins_of(series, group):
    return [sum(series[k:k + group]) for k in range(0, len(series), group)]


def lines_of(report, labels, group, shown):
    """What each line of the graph shows, bin by bin, from the JSON's windows: the sites with the
    most exec time (of sites with one name the one that is shown), all others, untracked, loop."""
    def column(field):
        return bins_of([window[field] for window in report["windows"]], group)
    sites = sorted((s for s in report["sites"] if s["exec_ns"] > 0), key=lambda s: -s["exec_ns"])
    lines, rest = [], column("busy_ns")
    need(labels[min(len(sites), TOP):] == ["(all other sites)", "(untracked)", "(loop)"], labels)
    most = [site["exec_ns"] for site in sites[:TOP]]
    for label, ns in zip(labels, most):
        fit = [s for s in sites if s["name"] == label and s["exec_ns"] == ns]
        need(fit, "no site", label, "has", ns)
        site = max(fit, key=lambda s: (place_of(s),) in shown)
        sites.remove(site)
        lines.append((place_of(site), bins_of(site["windows"], group)))
    lost = column("untracked_ns")
    for _, line in lines + [(None, lost)]:
        rest = [a - b for a, b in zip(rest, line)]
    return lines + [(("(all other sites)", "", 0), rest), (("(untracked)", "", 0), lost),
                    (("(loop)", "", 0), column("loop_ns")), (IDLE, column("idle_ns"))]


def check_borders(markers, use, report, group):
    starts = [window["start_ns"] for window in report["windows"]][::group]
    ends = starts[1:] + [report["windows"][-1]["end_ns"]]
    need(len(use) == len(starts) <= BINS, "bins:", len(use), "not", len(starts))
    for k, start, end in zip(use, starts, ends):
        need(to_ns(markers["startTime"][k]) == start, "start of bin", k, "is not", start)
        need(to_ns(markers["endTime"][k]) == end, "end of bin", k, "is not", end)


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


def check_use(markers, schema, report, shown, spread):
    """The graph of shares, which has no line for idle. Returns lines and bins."""
    use = [k for k in range(markers["length"]) if markers["data"][k]["type"] == "Use"]
    labels = [field["label"] for field in schema["fields"]]
    keys = ["s%d" % row for row in range(len(labels))]
    need([field["key"] for field in schema["fields"]] == keys, "keys", schema["fields"])
    need([graph["key"] for graph in schema["graphs"]] == keys, "graphs", schema["graphs"])
    group, slack = (len(report["windows"]) - 1) // BINS + 1, rounding(report)
    check_borders(markers, use, report, group)
    lines = lines_of(report, labels, group, shown)
    bins = list(zip(*(line for _, line in lines)))      # idle is the last of each
    shares = []
    for k in use:
        need(set(markers["data"][k]) == {"type", *keys}, "lines of bin", k, markers["data"][k])
        shares.append([to_ns(markers["data"][k][key]) for key in keys])     # millionths
    for number, row in enumerate(shares):
        check_bin("bin %d" % number, row, bins[number][:-1], bins[number][-1],
                  slack + apart(report, spread))
    lengths = [to_ns(markers["endTime"][k]) - to_ns(markers["startTime"][k]) for k in use]
    totals = report["totals"]
    want = sorted((site["exec_ns"] for site in report["sites"]), reverse=True)[:len(labels) - 3]
    want += [totals["busy_ns"] - totals["untracked_ns"] - sum(want), totals["untracked_ns"],
             totals["loop_ns"]]
    for label, column, ns in zip(labels, zip(*shares), want):
        check_line("the graph of " + label, column, lengths, ns, slack + apart(report, spread))
    return [place for place, _ in lines], bins


def check_stall_figures(markers, k, stall, words):
    data, slices = markers["data"][k], stall["slices"]
    need(words[markers["name"][k]] == "Stall: " + stall["kind"], "kind of stall", k)
    need(to_ns(markers["startTime"][k]) == stall["start_ns"], "start of stall", k)
    need(to_ns(markers["endTime"][k]) == stall["start_ns"] + stall["length_ns"], "end of stall", k)
    need(to_ns(data["dur"]) == stall["length_ns"], "length of stall", k)
    need(to_ns(data["cause"]["time"]) == stall["start_ns"], "time of the cause of stall", k)
    need(data["events"] == stall["events"], "events of stall", k, data["events"], "are not",
         stall["events"])
    need(data["handler"] == (slices[0]["name"] if slices else "(loop)"), "handler of stall", k)
    slice_ns = slices[0]["exec_ns"] if slices else 0
    need(to_ns(data["slice"]) == slice_ns, "slice of stall", k, data["slice"], "is not", slice_ns)


def check_stalls(names, markers, report):
    got = [k for k in range(markers["length"]) if markers["data"][k]["type"] == "Stall"]
    need(len(got) == len(report["stalls"]), "stalls:", len(got))
    chains, sampled = chains_of_paths(report), {}
    if report.get("samples"):
        sampled = chains_of_stacks(report)
    for k, stall in zip(got, report["stalls"]):
        data = markers["data"][k]
        check_stall_figures(markers, k, stall, names.shared["stringArray"])
        hits = [row["stack"] for row in stall["samples"]]
        want = chains[stall["slices"][0]["path"]] if stall["slices"] else (("(loop)", "", 0),)
        if hits and hits[0] in sampled and hits[0] > 0:
            want = sampled[hits[0]]
        need(names.chain(data["cause"]["stack"]) == want, "stack of stall", k)


def check_bins(names, samples, places, bins, slack):
    """Whatever the order inside a bin, each line has there what the windows say."""
    borders = list(itertools.accumulate(sum(parts) for parts in bins))
    got, want, k = [Counter() for _ in bins], [Counter() for _ in bins], 0
    for stack, at, weight in zip(samples["stack"], samples["time"], samples["weight"]):
        while k + 1 < len(bins) and to_ns(at) + slack >= borders[k]:
            k += 1
        got[k][names.chain(stack)] += to_ns(weight)
    for number, parts in enumerate(bins):
        for place, ns in zip(places, parts):
            want[number][(place,)] += ns
        for chain in set(got[number]) | set(want[number]):
            ns = got[number][chain]
            need(abs(ns - want[number][chain]) <= 2 * slack, "bin", number, "has", ns, "of", chain,
                 "not", want[number][chain])


def span_of(stall):
    return stall["start_ns"], stall["start_ns"] + stall["length_ns"]


def common(a, b):
    """The length that two spans share."""
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def has_room(stall, stalls):
    """Of stalls that overlap one is shown, and of those the longest STALLS: is it surely one?"""
    end, count = 0, 0
    for other in sorted(stalls, key=lambda s: span_of(s)[1]):
        if other is not stall and other["length_ns"] >= stall["length_ns"] and \
                other["start_ns"] >= end and common(span_of(stall), span_of(other)) == 0:
            end, count = span_of(other)[1], count + 1
    return count < STALLS


def name_of_biggest(stall):
    biggest = stall["slices"][0]
    return biggest["name"] if biggest["path"] != 2 else "(untracked)"


def held_by_windows(stall, stalls, places, bins):
    """How much of it the bins have room for, whatever the other stalls take there."""
    held, start, name = 0, 0, name_of_biggest(stall)
    for parts in bins:
        span = (start, start + sum(parts))
        start = span[1]
        taken = sum(common(span, span_of(s)) for s in stalls
                    if common(span_of(s), span_of(stall)) == 0)
        ns = sum(part for place, part in zip(places, parts)
                 if place[0] in (name, "(all other sites)"))
        held += min(common(span, span_of(stall)), max(0, ns - taken))
    return held


def check_stall_places(names, samples, report, held, near):
    """In a timeline of windows a stall that is one slice lies where it was, to some ns."""
    turns = [s for s in report["stalls"] if s["kind"] == "turn"]
    cells = [(to_ns(at), to_ns(weight), names.chain(stack)[0][0]) for stack, at, weight
             in zip(samples["stack"], samples["time"], samples["weight"])]
    for stall in turns:
        start, end = span_of(stall)
        if any(t is not stall and common(span_of(t), (start, end)) > 0 for t in turns):
            continue
        if not has_room(stall, report["stalls"]):
            continue
        if not stall["slices"] or stall["slices"][0]["exec_ns"] < 0.99 * stall["length_ns"]:
            continue
        inside = sum(weight for at, weight, shown in cells if start - near <= at < end and
                     shown in (name_of_biggest(stall), "(all other sites)"))
        least = 0.98 * (held(stall) if held else stall["length_ns"]) - near
        need(inside >= least, "the stall at", start, "has", inside, "of", stall["length_ns"])


def check_sums(profile, report, spread):
    names = Names(profile["shared"])
    names.fill()
    line, tree, waiting = profile["threads"][:3]
    sampled = bool(report.get("samples"))
    need(("windows" in line["name"]) != sampled, "the name", line["name"])
    schema = [s for s in profile["meta"]["markerSchema"] if s["name"] == "Use"]
    need(len(schema) == 1, "graphs of shares:", len(schema))
    places, bins = check_use(line["markers"], schema[0], report,
                             {names.chain(stack) for stack in line["samples"]["stack"]}, spread)
    if sampled:
        check_sample_rows(names, profile, line["samples"], report)
    else:
        check_time_line(names, line["samples"], report)
        check_bins(names, line["samples"], places, bins, rounding(report))
        unsure = spread or report["totals"]["skew_events"] + report["totals"]["doubt_events"] > 0
        check_stall_places(names, line["samples"], report, unsure and
                           (lambda s: held_by_windows(s, report["stalls"], places, bins)),
                           50 + (max(map(sum, bins)) >> 29))     # parts of a bin, in 31 bits
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
                           help="stalls may be spread over more than their length: by "
                           "chroprof_merge, whose windows know them in proportion only, or by a "
                           "nested loop inside them, which does not count")
    given = arguments.parse_args()
    with open(given.profile, encoding="utf-8") as file:
        profile = json.load(file, parse_float=Decimal, object_pairs_hook=no_twins)
    report = json.load(open(given.json, encoding="utf-8"))
    need(list(profile) == ["meta", "libs", "threads", "counters", "shared"], "keys", list(profile))
    check_meta(profile["meta"])
    schemas = check_schemas(profile["meta"])
    check_shared(profile["shared"], profile["meta"]["categories"])
    check_threads(profile, schemas)
    start = report["totals"]["start_unix_ns"]
    need(to_ns(Decimal(profile["meta"]["startTime"])) == start, "startTime")
    check_sums(profile, report, given.spread)
    print("ok: %s" % ", ".join("%d %s" % (t["samples"]["length"], t["name"])
                               for t in profile["threads"]))


if __name__ == "__main__":
    main()
