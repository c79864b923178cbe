#!/usr/bin/env python3
"""check_trace.py TRACE [STEPS [SUMS]]: is a Chrome trace of the ring sound? Every begin has its end, no
track goes back in time, and what runs when is what the steps say, to the nanosecond. STEPS, written
by tests/test_trace.c: "LIVE ANOMALIES DROPPED EVENTS", then a line for each step of the ring: "AT
DEPTH NAME". SUMS, if there is such a file: a line for each path that took time, "PATH NS"."""
import decimal
import json
import os
import sys

WORDS = ("(uninstrumented)", "(idle)", "(untracked)")
STATES = ("created", "ready", "running", "waiting")


def check(condition, *why):
    if not condition:
        sys.exit("check_trace: " + " ".join(str(part) for part in why))


def nanoseconds(event):
    ns = event["ts"] * 1000
    check(ns == int(ns), "half a nanosecond", event)
    return int(ns)


def loop_intervals(events):
    """(begin, end, what is on top, how many tasks are open, the path on top) of each interval that
    is not empty."""
    stack, result, last = [], [], None
    for event in events:
        now = nanoseconds(event)
        check(last is None or now >= last, "the loop goes back in time", event)
        if stack and now > last:
            tasks = [name for name, _ in stack if name not in WORDS[:2]]
            result.append((last, now, stack[-1][0], len(tasks), stack[-1][1]))
        check(stack or last is None or now == last, "nothing for a while before", event)
        if event["ph"] == "B":
            stack.append((event["name"], event["path"]))
        else:
            check(stack and stack.pop()[0] == event["name"], "an end without its begin", event)
        last = now
    check(not stack, "begun but not ended", stack)
    return result


def check_sums(path, intervals):
    """What each path took is what the profile says."""
    sums = {}
    for begin, end, _, _, on_top in intervals:
        sums[on_top] = sums.get(on_top, 0) + end - begin
    with open(path, encoding="utf-8") as file:
        want = dict(map(int, line.split()) for line in file)
    for on_top in want.keys() | sums.keys():
        check(sums.get(on_top, 0) == want.get(on_top, 0), "path", on_top, "took",
              sums.get(on_top, 0), "not", want.get(on_top, 0))


def check_futures(events):
    """Each track is one future, and what it does lies inside, end to end."""
    tracks = {}
    for event in events:
        tracks.setdefault((event["pid"], event["id"]), []).append(event)
    check(len({track[1] for track in tracks}) == len(tracks), "a number that two tracks have")
    for key, track in tracks.items():
        stack, last = [], -1
        for event in track:
            now = nanoseconds(event)
            check(now >= last, "a track goes back in time", event)
            last = now
            if event["ph"] == "b":
                check(len(stack) < 2, "too deep", event)
                check(len(stack) == 0 or event["name"] in STATES, "no state", event)
                stack.append(event["name"])
            elif event["ph"] == "e":
                check(stack and stack.pop() == event["name"], "an end without its begin", event)
            else:
                check(event["ph"] == "n" and len(stack) == 1, "what is this", event)
        check(not stack, "begun but not ended", key)
        check(track[-1]["name"] == track[0]["name"] and track[-1]["ph"] == "e", "two futures", key)
    return tracks


def check_arrows(events):
    begun = [event for event in events if event["ph"] == "s"]
    ended = {event["id"]: event for event in events if event["ph"] == "f"}
    check(len(begun) == len(ended), "arrows without an end")
    for event in begun:
        check(nanoseconds(event) <= nanoseconds(ended[event["id"]]), "an arrow goes back", event)


def check_counters(events, live):
    last = {}
    for event in events:
        now = nanoseconds(event)
        check(now >= last.get(event["name"], (-1, 0))[0], "a counter goes back in time", event)
        last[event["name"]] = now, event["args"]["count"]
    check(live is None or last.get("live futures", (0, live))[1] == live, "live", last, live)


def joined(intervals):
    """Neighbours with the same name as one."""
    result = []
    for begin, end, name in intervals:
        if result and result[-1][2] == name and result[-1][1] == begin:
            result[-1] = (result[-1][0], end, name)
        elif end > begin:
            result.append((begin, end, name))
    return result


def check_steps(path, intervals):
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")[:-1]
    live, anomalies, dropped, steps = (int(word) for word in lines[0].split())
    want, depths, last = [], {}, 0 if steps == len(lines) - 1 else None
    for line in lines[1:]:
        at, depth, name = line.split(" ", 2)
        at = int(at)
        if last is not None:
            want.append((last, at, name))
            if at > last:
                depths[at] = int(depth)
        last = at
    got = joined([interval[:3] for interval in intervals])
    for mine, other in zip(got, joined(want)):
        check(mine == other, "drawn as", mine, "not", other)
    check(len(got) == len(joined(want)), "intervals:", len(got), "not", len(joined(want)))
    if steps == len(lines) - 1 and anomalies == 0 and dropped == 0:
        for _, end, _, count, _ in intervals:
            check(end not in depths or count == min(depths[end], 64), "frames drawn", count, "not",
                  depths[end], "at", end)
    return live if anomalies == 0 and dropped == 0 else None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        doc = json.load(file, parse_float=decimal.Decimal)
    kinds = {}
    for event in doc["traceEvents"]:
        kinds.setdefault(event["ph"], []).append(event)
    check(set(kinds) <= set("BEbenCisfM"), "unknown events", set(kinds))
    loop = [event for event in doc["traceEvents"] if event["ph"] in "BE" and event["tid"] == 1]
    check(all(event["pid"] == 1 for event in loop), "the loop is process 1")
    intervals = loop_intervals(loop)
    live = check_steps(sys.argv[2], intervals) if len(sys.argv) > 2 else None
    if len(sys.argv) > 3 and os.path.exists(sys.argv[3]):
        check_sums(sys.argv[3], intervals)
    futures = [event for event in doc["traceEvents"] if event["ph"] in "ben"]
    check_futures(futures)
    named = {event["pid"] for event in kinds["M"] if event["name"] == "process_name"}
    check({event["pid"] for event in futures} | {1} == named, "processes without a name", named)
    check_arrows(kinds.get("s", []) + kinds.get("f", []))
    check_counters(kinds.get("C", []), live)
    for event in kinds.get("i", []):
        check(event["name"] != "sample" or str(event["sf"]) in doc["stackFrames"], "stack", event)
    print("%d events hold" % len(doc["traceEvents"]))


if __name__ == "__main__":
    main()
