"""on_request takes the time, inside the nested loop too; idle is what libuv itself has measured."""
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
common.idle_close(profile, sys.argv[2])
assert common.first_by(profile, "exec_ns") == "on_request"

requests, sends, dialogs = (common.site(profile, name)
                            for name in ("on_request", "on_send", "on_dialog"))
# On a late machine the timer is due again in each of the two rounds of timers that end the loops.
assert 75 <= sends["calls"] <= 78, sends["calls"]
assert requests["calls"] >= 70, "a datagram on loopback that was not received"
assert all(path["parent"] == 0 for path in profile["paths"]), "a nested loop has no parent"
# One timer ticks 11 times in 75 * 20 ms; a tick out of three waits for the other two above it.
assert dialogs["calls"] >= 6
# on_dialog, barrier, on_dialog, barrier: the same task twice on the stack.
depth = {row["name"]: row["peak"] for row in profile["tables"]}["depth"]
assert depth == 4, f"the running stack was {depth} deep"
assert dialogs["lifetime_ns"] > 10 * dialogs["exec_ns"], "a dialog's wait is not its own exec time"
assert dialogs["lifetime_ns"] > 0.4 * profile["totals"]["elapsed_ns"]
