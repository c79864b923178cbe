"""flash makes the others miss their time, and the profile that shows it fits into 11 KiB."""
import os
import re
import subprocess
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    totals = profile["totals"]
    assert totals["untracked_ns"] == 0
    assert totals["delay_ns"] == totals["delay_ticks"], "a tick of the board's clock is 1 ns"
    control, display, flash = (
        common.site(profile, name) for name in ("control", "display", "flash"))
    # of a slice: a machine that is late at others' 1,120 slices adds to the blame of these
    worst = max((control, display, flash), key=lambda row: row["blame_ns"] / row["slices"])
    assert worst is flash, "who makes the others late"
    assert flash["slice_max_ns"] >= 60_000_000, "the erasure is one slice"
    # While a sector is erased, display (2 ms) and control (5 ms) come due and wait from then on.
    assert flash["blame_ns"] > 5 * (58_000_000 + 55_000_000)
    # 1.6 s of 2 ms, 5 ms and (290 + 10) ms: what is due runs, however late the machine lets it.
    common.same("slices", [row["slices"] for row in (display, control, flash)], [800, 320, 11])
    assert {row["live"] for row in profile["sites"]} == {1}, "they run for ever"
    assert not any(row["has_percentiles"] for row in profile["sites"])
    tables = {row["name"]: row for row in profile["tables"]}
    assert sum(row["bytes"] for row in tables.values()) < 11264
    full = [name for name, row in tables.items() if row["dropped"] > 0]
    assert full in ([], ["histograms"]), full


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
program = os.path.abspath(sys.argv[1][:-len(".json")])
listing = subprocess.run(["nm", "-u", program], stdout=subprocess.PIPE, check=True, text=True)
found = re.findall(r"\w*(?:printf|puts|fwrite|fopen|malloc)\w*", listing.stdout)
assert found == [], f"neither stdio nor heap: {found}"
