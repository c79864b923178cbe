"""index holds the loop; each message's source ends in its own slice, its address comes again."""
import re
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
assert common.first_by(profile, "exec_ns") == "index"
common.idle_close(profile, sys.argv[2])

sites = {site["name"]: site for site in profile["sites"]}
assert set(sites) == {"client", "request", "reply", "index"}
assert sites["index"]["slices"] > 15 and sites["index"]["slice_p50_ns"] > 11e6, "12 ms each"
assert sites["index"]["live"] == sites["client"]["live"] == 1, "timers stay"
assert sites["client"]["slices"] == 300
for name in ("request", "reply"):
    row = common.path(profile, "client", name)
    assert row["calls"] == 300, "the parent of each connection is the timer that made it"
    assert row["completed"] == 300, "each said that it was finished, the last one too"
    assert row["slices"] == 300, "one slice each"
with open(sys.argv[2], encoding="utf-8") as file:
    again = int(re.search(r"^used again: (\d+)$", file.read(), re.M).group(1))
assert again > 100, "the allocator gave the address of the source before again"
