"""thumbnail holds the loop and makes the clients wait that are due together with it."""
import re
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
assert common.first_by(profile, "exec_ns") == "thumbnail"
assert common.first_by(profile, "blame_ns") == "thumbnail"
assert common.first_by(profile, "delay_ns") == "client"
common.idle_close(profile, sys.argv[2])

thumbnail, client = common.site(profile, "thumbnail"), common.site(profile, "client")
assert thumbnail["file"] == "tasks.lua" and thumbnail["line"] == 3, "the Lua function's own place"
assert thumbnail["slices"] == 41, "one up to its first wait, 40 after a wait"
assert client["calls"] == client["completed"] == 5 and client["slices"] == 5 * 41
# Five clients wait while a thumbnail is made, so its blame is near five times its exec.
assert thumbnail["blame_ns"] > 2 * thumbnail["exec_ns"]

job = common.path(profile, "server", "job")
assert job["calls"] == 8, "what the server spawns stands below it"
assert (job["completed"], job["failed"]) == (7, 1), "one job raises an error"
assert sum(site["live"] for site in profile["sites"]) == 0, "all have finished"
with open(sys.argv[2], encoding="utf-8") as file:
    assert re.search(r"^tasks.lua:8: attempt to", file.read(), re.M), "the error is told, too"
