"""The stall is one of on_rotate, and its samples lie in zlib, called by compress2."""
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
with open(sys.argv[2], encoding="utf-8") as file:
    assert "no sampler" not in file.read()
assert common.first_by(profile, "exec_ns") == "on_rotate"
common.idle_close(profile, sys.argv[2])

stacks = {stack["id"]: stack for stack in profile["stacks"]}
modules = {module["id"]: module["path"] for module in profile["modules"]}


def chain(stack):
    """The frames of a stack, innermost first."""
    frames = []
    while stack:
        frames.append(stacks[stack])
        stack = stacks[stack]["parent"]
    return frames


def in_library(stack):
    """Whether it is code of zlib or of what that called, called by compress2 under on_rotate."""
    frames = chain(stack)
    names = [frame["name"] for frame in frames]
    tasks = [frame["name"] for frame in frames if frame["kind"] == "task"]
    return tasks[:1] == ["on_rotate"] and "compress2" in names


stall = max(profile["stalls"], key=lambda row: row["length_ns"])
assert stall["shares"][0]["name"] == "on_rotate" and stall["shares"][0]["exec_ns"] > 50000000
weight = sum(row["weight"] for row in stall["samples"])
inside = sum(row["weight"] for row in stall["samples"] if in_library(row["stack"]))
assert weight >= 5, f"{weight} samples of a stall of {stall['length_ns']} ns"
assert inside >= 0.9 * weight, f"{inside} of {weight} samples lie in compress2 under on_rotate"
assert any("libz" in modules[frame["module"]] for row in stall["samples"]
           for frame in chain(row["stack"]) if frame["kind"] == "native" and frame["module"] >= 0)

sampler = profile["sampler"]
spent = stall["cpu_ns"] + stall["waiting_ns"]
assert 0.8 * stall["length_ns"] < spent < 1.2 * stall["length_ns"], (spent, stall["length_ns"])
# By the clock, so a handler that lost the processor counts as dear: what a tick takes is the bench's.
assert 0 < sampler["cost_ns"] < profile["totals"]["elapsed_ns"], "the sampler's cost"
