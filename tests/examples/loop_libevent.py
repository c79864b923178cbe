"""on_compress takes the time; the page gives every format; idle is what a replaced wait measured."""
import json
import re
import sys

import common

FORMATS = ("text", "json", "folded", "prometheus", "pprof", "firefox", "none")


def answers(path):
    """What the page answered: a dictionary of format to (status, body)."""
    with open(path, "rb") as file:
        rest = file.read()
    found = {}
    while rest:
        head = re.match(rb"answer: /debug/chroprof\?format=(\w+) (\d+) (\d+)\n", rest)
        assert head, f"no answer begins with {rest[:60]!r}"
        end = head.end() + int(head.group(3))
        found[head.group(1).decode()] = int(head.group(2)), rest[head.end():end]
        rest = rest[end:]
    return found


def written(name):
    """Whether this chroprof.h writes the format: its implementation names the constant."""
    with open("chroprof.h", encoding="utf-8") as file:
        implementation = file.read().partition("#if defined(CHROPROF_IMPLEMENTATION)")[2]
    assert implementation, "the implementation's guard was not found"
    return re.search(rf"\bCHROPROF_{name.upper()}\b", implementation) is not None


profile = common.load(sys.argv[1])
for run in profile, common.idle_measured(sys.argv[1]):
    common.laws(run)
    assert common.anomalies(run) == {}
    assert common.first_by(run, "exec_ns") == "on_compress"
    assert common.site(run, "on_page")["calls"] == len(FORMATS)

pages = answers(sys.argv[2])
assert tuple(pages) == FORMATS
for name in FORMATS:
    status, body = pages[name]
    assert (status, body != b"") == ((200, True) if written(name) else (404, False)), name
assert b"on_compress" in pages["text"][1]
assert max(json.loads(pages["json"][1])["sites"], key=lambda row: row["exec_ns"])["name"] \
    == "on_compress"
assert re.search(rb"(?m)^loop;on_compress \d+$", pages["folded"][1])
if written("firefox"):
    json.loads(pages["firefox"][1])
