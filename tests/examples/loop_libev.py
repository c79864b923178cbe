"""parser makes the others wait; idle is what a replaced epoll_wait(2) measured."""
import re
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    assert common.first_by(profile, "blame_ns") == "parser"
    assert common.first_by(profile, "exec_ns") == "parser"
    assert common.first_by(profile, "delay_ns") == "reader"

    # Every other tick creates a parser and three readers, which free themselves in their only
    # slice, after the next tick.
    parser, reader = (common.path(profile, "tick", name) for name in ("parser", "reader"))
    for row, calls in ((common.site(profile, "tick"), 76), (parser, 38), (reader, 114)):
        assert (row["calls"], row["completed"], row["slices"]) == (calls, calls, calls), row["name"]
    # Three readers wait through the idle time of every other tick; a third of it leaves room. Where
    # ticks are late, on a busy machine, the next one may be due at once.
    totals = profile["totals"]
    on_time = totals["elapsed_ns"] < 1.25 * 76 * 20e6
    assert totals["idle_ns"] > 0, "there was no idle"
    assert reader["waiting_ns"] > (0.5 * totals["idle_ns"] if on_time else 0), \
        "until the next tick they have nothing to do"
    assert totals["idle_blame_ns"] == 0, "due is what a wait has shown, not what waits"
    # The three readers wait for the parser; half of that leaves room for a busy machine.
    assert reader["delay_ns"] > 1.5 * parser["exec_ns"]
    assert parser["blame_ns"] > 0.5 * totals["blame_ns"]
    # tick, barrier, tick: the same task twice on the stack.
    depth = {row["name"]: row["peak"] for row in profile["tables"]}["depth"]
    assert depth == 3, f"the running stack was {depth} deep"


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
with open(sys.argv[2], encoding="utf-8") as file:
    reused = int(re.search(r"^ids reused at once: (\d+)$", file.read(), re.M).group(1))
assert reused > 0, "the allocator gave no id a second time: the workload has lost its point"
