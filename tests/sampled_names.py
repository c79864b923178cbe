#!/usr/bin/env python3
"""sampled_names.py PROFILE TOP: does go tool pprof -top (in samples) name sampled code as the profile
does, which chroprof symbolize wrote, and count as many samples for each function?
"""
import json
import re
import sys

profile = json.load(open(sys.argv[1], encoding="utf-8"))
idle = {row["stack"] for row in profile["samples"] if row["state"] == "idle"}
expected, told = {}, {}
for stack in profile["stacks"]:
    # code without a file, as that of the vDSO, keeps the name that the profile itself has
    name = stack.get("function") or stack["name"]
    if stack["kind"] == "native" and name and stack["id"] not in idle:
        expected[name] = expected.get(name, 0) + stack["weight"]
for line in open(sys.argv[2], encoding="utf-8"):
    row = re.match(r"\s*(\d+)\s+\S+%\s+\S+%\s+(\d+)\s+\S+%\s+(.*)", line)
    if row:
        name = re.sub(r" \(inline\)$", "", row[3])
        told[name] = told.get(name, 0) + int(row[1])
expected = {name: count for name, count in expected.items() if count > 0}
assert expected, "no sampled code"
for name, count in expected.items():
    assert told.get(name, 0) == count, (name, count, "shown", told.get(name, 0))
sites = {site["name"] for site in profile["sites"]}
strange = [name for name, count in told.items() if count and name not in expected and
           name not in sites and not name.startswith(("[", "(", "<unknown>", "stack not"))]
assert not strange, ("names of nobody", strange)
