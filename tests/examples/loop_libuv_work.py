"""index makes the others wait, thumbnails wait; previews are cancelled; ids come back at once."""
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
preview = common.site(profile, "preview")
assert (preview["calls"], preview["abandoned"], preview["failed"]) == (50, 0, 0)
assert profile["totals"]["live"] == 0
assert thumbnail["waiting_ns"] >= 150 * 2900000, "the time in the worker is waiting, not delay"
with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
reused, cancelled = (int(re.search(rf"^{what}: (\d+)$", text, re.M).group(1))
                     for what in ("ids reused at once", "cancelled"))
assert reused > 0, "the allocator gave no id a second time: the workload has lost its point"
# Each preview is cancelled a moment after it was queued. A busy machine may let its worker begin in
# that moment, but not all fifty times.
assert cancelled > 0, "uv_cancel came too late for all: the workload has lost its point"
assert (preview["cancelled"], preview["completed"]) == (cancelled, 50 - cancelled)
