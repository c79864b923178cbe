"""autosave holds the loop; a dialog iterates the loop and is dispatched once more in there."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    assert common.first_by(profile, "exec_ns") == "autosave"
    autosave = common.site(profile, "autosave")
    assert autosave["slice_p50_ns"] > 11e6, "each save works for 12 ms"

    sites = {site["name"]: site for site in profile["sites"]}
    # What the other thread dispatches in its own context has no name, and is none of ours.
    assert set(sites) == {"client", "request", "reply", "autosave", "dialog"}
    common.same("nothing is left running", sum(s["live"] for s in sites.values()), 0)
    # Each message removes its source inside the source's own dispatch, so its memory comes again.
    clients = sites["client"]["calls"]
    assert 250 <= clients <= 250 + 60, f"{clients} clients"
    for name in ("request", "reply"):
        assert clients - 2 <= sites[name]["calls"] <= clients, "one of each for a client"

    # What the nested loop dispatches stands beside the dialog, which is dispatched there itself.
    dialog = common.path(profile, "dialog")
    assert dialog["calls"] > 3 and common.path(profile, "client")["calls"] == clients
    assert not [p for p in profile["paths"] if p["parent"] != 0]
    assert dialog["exec_ns"] < 0.5 * dialog["lifetime_ns"], "the dialog mostly waits"


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
