"""Two profiles merged as one: resize, in the back, is first of both loops, and all adds up."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert profile["name"] == "both"
    assert common.anomalies(profile) == {}
    assert profile["totals"]["untracked_ns"] == 0
    assert profile["totals"]["delay_ns"] == 0, "nobody tells what is ready"
    assert common.first_by(profile, "exec_ns") == "resize", "of both loops"
    resize, store, answer = (common.site(profile, name) for name in ("resize", "store", "answer"))
    assert resize["slice_max_ns"] >= 15_000_000, "16 ms of processor time"
    assert resize["exec_ns"] > 0.5 * profile["totals"]["busy_ns"]
    assert (resize["slices"], store["slices"]) == (12, 84), "of the back"
    assert answer["slices"] == 96, "of the front, one for each request"
    assert answer["calls"] == 2, "one future for each kind of request"


check(common.load(sys.argv[1]))
measured, *waited_ns, _, _ = common.run_measured(sys.argv[1])
check(measured)
assert len(waited_ns) == 2, "two loops wait"
common.near("idle of both", measured["totals"]["idle_ns"], sum(waited_ns), 0.05 * sum(waited_ns))
