"""index makes the others wait, thumbnails wait; ids come back at once from the allocator."""
import re
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
common.idle_close(profile, sys.argv[2])
assert common.first_by(profile, "blame_ns") == "index"
assert common.first_by(profile, "exec_ns") == "index"
assert common.first_by(profile, "delay_ns") == "thumbnail"

index, thumbnail = common.site(profile, "index"), common.site(profile, "thumbnail")
assert (index["calls"], index["completed"], index["abandoned"]) == (50, 50, 0)
assert (thumbnail["calls"], thumbnail["completed"], thumbnail["abandoned"]) == (150, 150, 0)
assert profile["totals"]["live"] == 0
assert thumbnail["waiting_ns"] >= 150 * 1500000, "the time in the worker is waiting, not delay"
with open(sys.argv[2], encoding="utf-8") as file:
    reused = int(re.search(r"^ids reused at once: (\d+)$", file.read(), re.M).group(1))
assert reused > 0, "the allocator gave no id a second time: the workload has lost its point"
