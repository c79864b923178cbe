"""autosave holds the loop; a dialog iterates the loop and is dispatched once more in there."""
import re
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
assert common.first_by(profile, "exec_ns") == "autosave"
common.idle_close(profile, sys.argv[2])
autosave = common.site(profile, "autosave")
assert autosave["slice_p50_ns"] > 11e6, "each save works for 12 ms"

sites = {site["name"]: site for site in profile["sites"]}
assert set(sites) == {"client", "request", "reply", "autosave", "dialog"}
with open(sys.argv[2], encoding="utf-8") as file:
    dispatched = int(re.search(r"^dispatched: (\d+)$", file.read(), re.M).group(1))
common.same("calls = what dispatch() counted", sum(s["calls"] for s in sites.values()), dispatched)
common.same("nothing is left running", sum(s["live"] for s in sites.values()), 0)
# Each message removes its source inside the source's own dispatch, so its memory is used again.
assert sites["client"]["calls"] - 2 <= sites["reply"]["calls"] <= sites["client"]["calls"] > 100

# The nested loop: what it dispatches stands below the dialog, the dialog itself folds into one path.
dialog = common.path(profile, "dialog")
assert dialog["calls"] > 3 and common.path(profile, "dialog", "client")["calls"] > 10
assert not [path for path in profile["paths"] if path["name"] == "dialog" and path["parent"] != 0]
assert dialog["exec_ns"] < 0.5 * dialog["wall_ns"], "the dialog mostly waits"
