"""on_line takes the time; idle is what a poll(2) put in front of the real one has measured."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    assert common.first_by(profile, "exec_ns") == "on_line"
    line, timer = common.site(profile, "on_line"), common.site(profile, "on_timer")
    assert line["slice_p50_ns"] > 10 * timer["slice_p50_ns"], "fifty times the work"
    assert line["calls"] == 10, "nine lines and the end of the file"
    assert timer["calls"] > 10


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
