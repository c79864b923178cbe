#!/usr/bin/env python3
"""Checks a Prometheus text against the exposition format 0.0.4 and against the JSON of the same
profile: check_prometheus.py TEXT JSON [--all] [--top K] [--after OLDER_TEXT]

--all: every series, as prometheus-all has them.
--top K: the text was written with a limit of K series a metric.
--after: no counter, bucket or sum may be below its value in the older text.
The profile must stand still between the two files (events may differ by the ticks of the dumps).
"""
import argparse
import json
import re
import sys
from decimal import Decimal

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
VALUE = re.compile(r"[0-9]+(\.[0-9]+)?\Z")
ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}
SITE_METRICS = {
    "chroprof_exec_seconds_total": "exec_ns",
    "chroprof_delay_seconds_total": "delay_ns",
    "chroprof_blame_seconds_total": "blame_ns",
    "chroprof_live_futures": "live",
}
RESULTS = ("completed", "failed", "cancelled")
BOUNDS = ("0.001", "0.01", "0.1", "+Inf")
# what --all adds
MORE_METRICS = {
    "chroprof_with_children_seconds_total": "with_children_ns",
    "chroprof_lifetime_seconds_total": "lifetime_ns",
    "chroprof_stillborn_total": "stillborn",
    "chroprof_found_total": "found",
    "chroprof_hidden_seconds_total": "hidden_total_ns",
}
MORE_RESULTS = ("abandoned", "dropped")
MORE_FAMILIES = {"chroprof_sampled_cpu_seconds_total", "chroprof_samples_total",
                 "chroprof_latency_seconds", "chroprof_table_capacity", "chroprof_table_used"}
TOTALS = {
    "chroprof_elapsed_seconds_total": "elapsed_ns",
    "chroprof_busy_seconds_total": "busy_ns",
    "chroprof_idle_seconds_total": "idle_ns",
    "chroprof_uninstrumented_seconds_total": "uninstrumented_ns",
    "chroprof_start_seconds_total": "start_ns",
    "chroprof_exit_seconds_total": "exit_ns",
    "chroprof_waits_at_once_total": "at_once",
    "chroprof_at_once_seconds_total": "at_once_ns",
    "chroprof_untracked_seconds_total": "untracked_ns",
    "chroprof_idle_blame_seconds_total": "idle_blame_ns",
    "chroprof_uninstrumented_blame_seconds_total": "uninstrumented_blame_ns",
    "chroprof_untracked_blame_seconds_total": "untracked_blame_ns",
    "chroprof_iterations_total": "iterations",
    "chroprof_callbacks_total": "callbacks",
    "chroprof_stalls_total": "stalls",
}


def need(condition, *what):
    if not condition:
        sys.exit("check_prometheus: " + " ".join(str(w) for w in what))


def read_labels(line, at):
    """Labels from the brace at line[at]; returns them and the place behind the closing brace."""
    labels = []
    at += 1
    while line[at] != "}":
        match = LABEL.match(line, at)
        need(match, "no label name:", line)
        at = match.end()
        need(line[at:at + 2] == '="', "no value of a label:", line)
        at += 2
        text = ""
        while line[at] != '"':
            if line[at] == "\\":
                at += 1
                need(line[at] in ESCAPES, "unknown escape:", line)
                text += ESCAPES[line[at]]
            else:
                text += line[at]
            at += 1
        at += 1
        need(match.group() not in dict(labels), "a label twice:", line)
        labels.append((match.group(), text))
        if line[at] == ",":
            at += 1
        else:
            need(line[at] == "}", "no end of the labels:", line)
    return tuple(labels), at + 1


def read_sample(line):
    match = NAME.match(line)
    need(match, "no metric name:", line)
    at = match.end()
    labels = ()
    if line[at] == "{":
        labels, at = read_labels(line, at)
    need(line[at] == " " and VALUE.match(line[at + 1:]), "no plain decimal value:", line)
    return match.group(), labels, Decimal(line[at + 1:])


def family_of(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name[:-len(suffix)]
        if name.endswith(suffix) and types.get(base) == "histogram":
            return base
    return name


def read_text(path):
    """{(name, sorted labels): value} and {family: type}."""
    data = open(path, "rb").read().decode("utf-8")
    need(data.endswith("\n"), "no newline at the end")
    types, helped, series, current = {}, set(), {}, None
    for line in data.split("\n")[:-1]:
        if line.startswith("# Taken from outside: "):
            continue
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            if word == "HELP":
                need(name not in helped and rest, "a second or empty HELP of", name)
                helped.add(name)
            else:
                need(word == "TYPE" and name in helped and name not in types, "bad line:", line)
                need(rest in ("counter", "gauge", "histogram", "summary"), "bad type:", line)
                need((rest == "counter") == name.endswith("_total"), "name against type:", line)
                types[name] = rest
                current = name
            continue
        name, labels, value = read_sample(line)
        need(family_of(name, types) == current, name, "is not under its own TYPE")
        key = (name, tuple(sorted(labels)))
        need(key not in series, "a series twice:", line)
        series[key] = value
    need(set(types) == helped, "HELP without TYPE")
    return series, types


def check_histograms(series, types):
    for family in (f for f in types if types[f] == "histogram"):
        rows = {}
        for (name, labels), value in series.items():
            if name == family + "_bucket":
                rest = tuple(l for l in labels if l[0] != "le")
                rows.setdefault(rest, []).append((Decimal(dict(labels)["le"].replace(
                    "+Inf", "Infinity")), value))
        for labels, buckets in rows.items():
            bounds = [b for b, _ in buckets]
            counts = [c for _, c in buckets]
            need(bounds == sorted(set(bounds)) and bounds[-1].is_infinite(), "bounds of", labels)
            need(counts == sorted(counts), "buckets are not cumulative:", labels)
            need(series.get((family + "_count", labels)) == counts[-1], "count of", labels)
            need((family + "_sum", labels) in series, "no sum of", labels)
        for name in ("_sum", "_count"):
            need(sum(1 for n, _ in series if n == family + name) == len(rows), family, name)


def as_integer(name, value):
    if "seconds" in name:
        value *= 10 ** 9
    need(value == int(value), name, "is finer than a nanosecond")
    return int(value)


def place(labels):
    labels = dict(labels)
    return labels["name"], labels["file"], int(labels["line"]), labels.get("id")


def site_of(where, sites):
    name, file, line, number = where
    found = [s for s in sites if (s["name"], s["file"], s["line"]) == (name, file, line)
             and (number is None or s["id"] == int(number))]
    return found


def check_series(series, types, everything):
    """Which series there are: those that people graph, or all."""
    more = MORE_FAMILIES | set(MORE_METRICS)
    need(types.keys() & more == (more if everything else set()), "metrics:", sorted(types))
    results = {dict(labels).get("result") for name, labels in series
               if name == "chroprof_calls_total"}
    need(results <= set(RESULTS + (MORE_RESULTS if everything else ())), "results:", results)
    bounds = {dict(labels)["le"] for name, labels in series if name.endswith("_bucket")}
    need(not bounds or (len(bounds) == 15 and bounds > set(BOUNDS) if everything
                        else bounds == set(BOUNDS)), "bounds:", bounds)


def check_sites(series, report, top, everything):
    by_place = {}
    for site in report["sites"]:
        by_place.setdefault((site["name"], site["file"], site["line"]), []).append(site)
    metrics = {**SITE_METRICS, **(MORE_METRICS if everything else {})}
    checks = [(m, None, f) for m, f in metrics.items()]
    results = RESULTS + (MORE_RESULTS if everything else ())
    checks += [("chroprof_calls_total", r, r) for r in results]
    for metric, result, field in checks:
        total, rest = 0, 0
        shown = set()
        for (name, labels), value in series.items():
            if name != metric or dict(labels).get("result") != result:
                continue
            value = as_integer(name, value)
            total += value
            where = place(labels)
            if top and where == ("(other)", "", 0, None):
                rest = value
                continue
            found = site_of(where, by_place.get(where[:3], []))
            if where[3] is None and len(found) > 1:     # the others carry an id
                found = [s for s in found if not any(
                    n == metric and dict(l).get("id") == str(s["id"]) for n, l in series)]
            need(len(found) == 1, metric, where, "fits", len(found), "sites")
            need(value == found[0][field], metric, where, value, "is not", found[0][field])
            shown.add(found[0]["id"])
        want = sum(s[field] for s in report["sites"])
        need(total == want, metric, result, "sums to", total, "not", want)
        if top:
            need(len(shown) <= top, metric, "has more than", top, "series")
            need(rest == sum(s[field] for s in report["sites"] if s["id"] not in shown),
                 metric, "(other)")
            hidden = [s[field] for s in report["sites"] if s["id"] not in shown and s["id"] > 3]
            least = min((s[field] for s in report["sites"] if s["id"] in shown), default=0)
            need(field == "live" or not hidden or max(hidden) <= least, metric, "not the largest")
        else:
            need(len(shown) == len(report["sites"]), metric, "misses sites")


def check_slices(series, report, top):
    metric = "chroprof_slice_duration_seconds"
    # a snapshot of a busy program: counts of different tables may differ
    slack = report["totals"]["skew_events"] + report["totals"]["doubt_events"]
    # whose percentiles rest on all its slices; those on the stack have not ended
    ids = [s for s in report["sites"] if s["has_percentiles"] and
           s["measured"] + report["totals"]["depth"] + slack >= s["slices"]]
    least = sum(s["has_percentiles"] and s["measured"] == s["slices"] for s in report["sites"])
    counts = [(l, v) for (n, l), v in series.items() if n == metric + "_count"]
    if not top:
        need(least <= len(counts) <= len(ids), "histograms:", len(counts), "not", least, len(ids))
    for labels, count in counts:
        total = as_integer(metric + "_sum", series[(metric + "_sum", labels)])
        found = [s for s in site_of(place(labels), ids) if s["exec_ns"] == total]
        need(found, "no site has the sum of", labels)
        need(any(-slack <= s["slices"] - count <= report["totals"]["depth"] + slack for s in found),
             "slices of", labels, count)


def check_latency(series, report, top):
    metric = "chroprof_latency_seconds"
    fields = {"0.5": "latency_p50_ns", "0.99": "latency_p99_ns", "1": "latency_max_ns"}
    finished = [s for s in report["sites"] if s["latency_max_ns"] > 0]
    rows = [(dict(labels), value) for (name, labels), value in series.items() if name == metric]
    need(top or len(rows) == 3 * len(finished), metric, "has", len(rows), "rows")
    need(not top or len(rows) <= 3 * top, metric, "has more than", top, "sites")
    for labels, value in rows:
        field = fields.get(labels["quantile"])
        need(any(as_integer(metric, value) == s[field] for s in site_of(place(labels), finished)),
             metric, labels, value)


def check_rest(series, report, everything):
    for metric, field in TOTALS.items():
        value = as_integer(metric, series[(metric, ())])
        need(value == report["totals"][field], metric, value, "is not", report["totals"][field])
    events = int(series[("chroprof_events_total", ())])
    need(abs(events - report["totals"]["events"]) <= 4, "events:", events)
    for row in report["anomalies"]:
        key = ("chroprof_anomalies_total", (("kind", row["kind"]),))
        need(series.get(key) == row["count"], "anomaly", row)
    for row in report["tables"]:
        more = (("capacity", "capacity"), ("used", "used")) if everything else ()
        for metric, field in (("dropped_total", "dropped"), *more):
            key = ("chroprof_table_" + metric, (("table", row["name"]),))
            ticks = 4 if row["name"] == "events" and metric == "used" else 0   # one a dump
            need(abs(series.get(key, -9) - row[field]) <= ticks, "table", metric, row)


def check_after(series, older, types):
    falls = [k for k in series if k in older and series[k] < older[k]
             and types.get(family_of(k[0], types)) not in ("gauge", "summary")]
    need(not falls, "fell:", falls[:3])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("text")
    arguments.add_argument("json")
    arguments.add_argument("--top", type=int, default=0)
    arguments.add_argument("--after")
    arguments.add_argument("--all", action="store_true")
    given = arguments.parse_args()
    series, types = read_text(given.text)
    report = json.load(open(given.json, encoding="utf-8"))
    check_series(series, types, given.all)
    check_histograms(series, types)
    check_sites(series, report, given.top, given.all)
    check_slices(series, report, given.top)
    if given.all:
        check_latency(series, report, given.top)
    check_rest(series, report, given.all)
    if given.after:
        check_after(series, read_text(given.after)[0], types)
    print("ok: %d series of %d metrics" % (len(series), len(types)))


if __name__ == "__main__":
    main()
