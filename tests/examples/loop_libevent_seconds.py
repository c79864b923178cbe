"""on_early takes most of the run, but nothing of the second asked about: on_late does."""
import re
import sys

import common

profile = common.load(sys.argv[1])
common.laws(profile)
assert common.anomalies(profile) == {}
assert common.first_by(profile, "exec_ns") == "on_early"

with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
took = {name: float(ms) for ms, name in re.findall(r"^ *([0-9.]+) ms  (\w+)$", text, re.M)}
assert set(took) == {"on_early", "on_late"}, text
assert took["on_early"] == 0
late = common.site(profile, "on_late")
assert 0 < took["on_late"] <= late["exec_ns"] / 1e6 + 0.001
assert took["on_late"] > 0.8 * late["exec_ns"] / 1e6, "nearly all of on_late lies in that second"
calls = int(re.search(r"^answer after (\d+) calls$", text, re.M).group(1))
assert calls >= 60, "the loop stood still while the question was open"
