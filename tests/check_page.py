#!/usr/bin/env python3
"""Is the profile that a report page holds that of a JSON? Its long lists are columns.

    tests/check_page.py PAGE.html PROFILE.json
"""
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
held = json.loads(re.search('<script type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])
sites = {site["id"]: site for site in held["sites"]}
for name in ("paths", "stacks", "samples"):
    if isinstance(held.get(name), dict):
        keys, values = held[name]["keys"], held[name]["values"]
        assert len(values) % len(keys) == 0
        held[name] = [{key: value for key, value in zip(keys, values[k:k + len(keys)])
                       if value is not None} for k in range(0, len(values), len(keys))]
        if name == "paths":
            assert "name" not in keys
            for row in held[name]:
                row.update((key, sites[row["site"]][key]) for key in ("name", "file", "line"))
    else:
        assert not held.get(name), f"the {name} are no columns"
profile = json.load(open(sys.argv[2], encoding="utf-8"))
for each in (held, profile):
    each.pop("clients", None)       # a page has more of it, for its sliders
assert held == profile, "the page holds another profile"
