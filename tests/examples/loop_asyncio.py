"""thumbnail holds the loop and makes the clients wait that are due together with it."""
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}, common.anomalies(profile)
assert common.first_by(profile, "exec_ns") == "thumbnail"
assert common.first_by(profile, "blame_ns") == "thumbnail"
assert common.first_by(profile, "delay_ns") == "client"
common.idle_close(profile, sys.argv[2])

thumbnail, client = common.site(profile, "thumbnail"), common.site(profile, "client")
assert thumbnail["file"].endswith("loop_asyncio.py") and thumbnail["line"] > 10
assert thumbnail["slices"] == 21, "one up to its first wait, 20 after a wait"
assert thumbnail["blame_ns"] > thumbnail["exec_ns"], "five clients wait while one is made"
assert client["calls"] == client["completed"] == 5
assert common.path(profile, "main", "client", "query")["completed"] == 5, "who asked first"
assert common.path(profile, "main", "query")["failed"] == 1, "one query raises an error"
assert common.site(profile, "hanging")["cancelled"] == 1, "its time is over"
assert common.site(profile, "cache hit")["stillborn"] >= 60, "those need no future"
assert sum(site["live"] for site in profile["sites"]) == 0, "all have finished"
