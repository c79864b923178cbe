"""resolve blocks the loop below the one session that calls it; the other sessions wait for it."""
import re
import sys

import common

ROUNDS = 50

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
common.idle_close(profile, sys.argv[2])
assert common.first_by(profile, "exec_ns") == "resolve"
assert common.first_by(profile, "blame_ns") == "resolve"
assert common.first_by(profile, "delay_ns") == "session"

# The parent is the coroutine that made it, and control goes to it and back without the loop.
resolve, session = common.path(profile, "session", "resolve"), common.path(profile, "session")
assert resolve["calls"] == ROUNDS - 1, "not in the round that starts it"
with open(sys.argv[2], encoding="utf-8") as file:
    errors = int(re.search(r"^errors: (\d+)$", file.read(), re.M).group(1))
assert (resolve["completed"], resolve["failed"]) == (ROUNDS - 1 - errors, errors) and errors == 7
assert resolve["slices"] == resolve["calls"], "it never pauses"
assert session["calls"] == session["live"] == 4
assert session["slices"] == 4 * ROUNDS + resolve["calls"], "once a round, and after each resolve"
assert resolve["exec_ns"] >= 6e6 * resolve["calls"], "it blocks for 6 ms"
assert session["exec_ns"] < 0.1 * session["with_children_ns"]

# Three sessions are ready each time, and only they: resolve itself is never ready without running.
assert resolve["delay_ns"] == 0
common.near("blame is three times the blocking", resolve["blame_ns"], 3 * resolve["exec_ns"],
            resolve["exec_ns"] * 0.01 + resolve["calls"] * 1e4)
