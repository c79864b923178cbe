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
    need(all(is_number(w) and w >= 0 for w in samples["weight"]), name, "weight")
    need(samples["length"] > 0 and samples["weight"][-1] == 0, name, "is not closed")
    for delta in samples.get("threadCPUDelta", []):
        need(is_number(delta) and delta >= 0, name, "CPU delta", delta)


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


def check_stalls(names, markers, report):
    got = [k for k in range(markers["length"]) if markers["data"][k]["type"] == "Stall"]
    need(len(got) == len(report["stalls"]), "stalls:", len(got))
    chains = {2: (("(untracked)", "", 0),)}
    for path in report["paths"]:
        frame = (path["name"], path["file"], path["line"])
        chains[path["id"]] = chains.get(path["parent"], ()) + (frame,)
    for k, stall in zip(got, report["stalls"]):
        data = markers["data"][k]
        need(to_ns(markers["startTime"][k]) == stall["start_ns"], "start of stall", k)
        need(to_ns(data["dur"]) == stall["length_ns"], "length of stall", k)
        if stall["slices"]:
            need(data["handler"] == stall["slices"][0]["name"], "handler of stall", k)
            need(names.chain(data["cause"]["stack"]) == chains[stall["slices"][0]["path"]],
                 "stack of stall", k)


def check_sums(profile, report):
    names = Names(profile["shared"])
    names.fill()
    line, tree, waiting = profile["threads"][:3]
    check_time_line(names, line["samples"], report)
    want = paths_of(report, "exec_ns")
    want.update(outside(report))
    got = weights(names, tree["samples"])
    same("exec of", got, want)
    need(sum(got.values()) == report["totals"]["elapsed_ns"], "the tree's sum")
    same("waiting of", weights(names, waiting["samples"]), paths_of(report, "waiting_ns"))
    check_stalls(names, line["markers"], report)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("profile")
    arguments.add_argument("json")
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
    check_sums(profile, report)
    print("ok: %s" % ", ".join("%d %s" % (t["samples"]["length"], t["name"])
                               for t in profile["threads"]))


if __name__ == "__main__":
    main()
