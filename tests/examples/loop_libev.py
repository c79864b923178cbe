"""parser makes the others wait; idle is what a replaced epoll_wait(2) measured."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    # The one planted: the timer is completed in its own slice, so the pause after it finds nothing.
    assert common.anomalies(profile) == {"unknown_paused": 1}
    assert common.first_by(profile, "blame_ns") == "parser"
    assert common.first_by(profile, "exec_ns") == "parser"
    assert common.first_by(profile, "delay_ns") == "reader"

    parser, reader, tick = (common.site(profile, name) for name in ("parser", "reader", "tick"))
    assert (tick["calls"], tick["completed"], tick["live"]) == (1, 1, 0)
    assert tick["slices"] == 75, "ticks above a tick are slices of the same future"
    assert (parser["live"], reader["live"]) == (1, 3)
    # The three readers wait for the parser; half of that leaves room for a busy machine.
    assert reader["delay_ns"] > 1.5 * parser["exec_ns"]
    assert parser["blame_ns"] > 0.5 * profile["totals"]["blame_ns"]


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
