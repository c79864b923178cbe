"""audit makes the others wait, reindex occupies the loop: blame and exec name different sites."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    assert common.first_by(profile, "blame_ns") == "audit", "who makes the others wait"
    assert common.first_by(profile, "exec_ns") == "reindex", "who occupies the loop"
    audit, reindex, page, reply, tick = (
        common.site(profile, name) for name in ("audit", "reindex", "page", "reply", "tick"))
    assert audit["blame_ns"] > 10 * reindex["blame_ns"], "reindex runs while nobody waits"
    assert page["delay_ns"] > 0.5 * profile["totals"]["delay_ns"], "it is the pages that wait"
    # Eight pages are ready through the whole of each audit.
    assert audit["blame_ns"] > 7.9 * audit["exec_ns"]
    assert profile["totals"]["untracked_ns"] == 0

    # 50 crowds of an audit and eight pages, one of them bad; 50 lonely ones, the last not served.
    assert (audit["completed"], page["completed"], page["failed"]) == (50, 350, 50)
    assert (reindex["completed"], reindex["live"]) == (49, 1)
    assert (reply["completed"], reply["live"]) == (499, 1), "a reply runs when its request is done"
    assert (tick["calls"], tick["slices"], tick["cancelled"]) == (1, 100, 1)
    assert all(row["abandoned"] == 0 for row in profile["sites"]), "ids are reused after the finish"
    for name in ("audit", "page", "reindex", "reply"):
        assert common.path(profile, "tick", name)["calls"] == common.site(profile, name)["calls"]


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
