"""Two profiles in one file: resize in the back is first of both loops; both add up on their own."""
import json
import sys

import common


def check(profiles):
    """What holds of every run, of both profiles in its file."""
    assert [profile["chroprof"] for profile in profiles] == [1, 1]
    assert [profile["name"] for profile in profiles] == ["front", "back"]
    for profile in profiles:
        common.laws(profile)
        assert common.anomalies(profile) == {}
        assert profile["totals"]["untracked_ns"] == 0
        assert profile["totals"]["delay_ns"] == 0, "nobody tells what is ready"
    front, back = profiles
    both = {"sites": front["sites"] + back["sites"]}
    assert common.first_by(both, "exec_ns") == "resize", "of both loops"
    assert common.site(back, "resize")["slice_max_ns"] >= 15_000_000, "16 ms of processor time"
    assert common.site(back, "resize")["exec_ns"] > 0.6 * back["totals"]["busy_ns"]
    assert (common.site(back, "resize")["slices"], common.site(back, "store")["slices"]) == (12, 84)
    assert common.site(front, "answer")["slices"] == 96, "an answer for each request"
    assert common.site(front, "answer")["calls"] == 2, "one future for each kind of request"
    # request, barrier, request, barrier, answer: the same future twice on the stack.
    depth = {row["name"]: row["peak"] for row in front["tables"]}["depth"]
    assert depth == 5, f"the running stack of the front was {depth} deep"


with open(sys.argv[1], encoding="utf-8") as file:
    check(json.load(file))
measured, *waited_ns = common.run_measured(sys.argv[1])
check(measured)
for row, ns in zip(measured, waited_ns):
    common.near(f"idle of {row['name']}", row["totals"]["idle_ns"], ns, 0.05 * ns)
