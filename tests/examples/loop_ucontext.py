"""thumbnail never yields; idle is what a poll(2) put in front of the real one has measured."""
import sys

import common


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    for measure in ("exec_ns", "blame_ns"):
        assert common.first_by(profile, measure) == "thumbnail", f"by {measure}"
    thumbnail, page, client = (
        common.site(profile, name) for name in ("thumbnail", "page", "client"))
    assert thumbnail["exec_ns"] > 0.6 * profile["totals"]["busy_ns"]
    assert (thumbnail["completed"], page["completed"], client["completed"]) == (32, 224, 4)
    assert thumbnail["slices"] == 32 and page["slices"] == 224, "they run through in one activation"
    # An activation to begin with, then for each page one after the tick and one after its rendering.
    assert client["slices"] == 4 * (1 + 2 * 64)
    assert all(row["abandoned"] == 0 for row in profile["sites"]), "reused too early"
    used = {row["name"]: row for row in profile["tables"]}["futures"]
    assert used["peak"] <= 8, "at most four clients with a page each: ids are reused"
    assert common.path(profile, "client", "thumbnail")["calls"] == 32


check(common.load(sys.argv[1]))
check(common.idle_measured(sys.argv[1]))
