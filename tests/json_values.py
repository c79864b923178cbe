#!/usr/bin/env python3
"""json_values.py [SEED...]: is each value of the JSON what the read of that name says?

For the header as it is, and for each seed with the fields of the public structs in another order:
writes functions that say each field of a struct by its name, builds tests/json_values.c with them,
and compares what it says with its JSON. A field that is not in the JSON, or a key that is no field,
is in the lists below. A writer that goes by the order of fields would show one for the other.
Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if one failed. CC chooses the
compiler, SCRATCH a folder."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

STRUCTS = """totals sampler_totals options origin rank path future sample_row wall window table
    finding task_wait module stall stall_share stall_sample slow slow_blame anomaly anomaly_place
    stack_row stack_frame""".split()
FIXED = {"options"}         # a caller may fill it field by field in order
# key in the JSON -> field, where they differ; fields that are not shown, or are lists there
RENAMED = {"stall": {"step_count": "steps"}, "stack_frame": {"is_return": "return"}}
HIDDEN = {"totals": {"in_iteration"}, "path": {"entered"}, "table": {"kind"},
          "origin": {"pid", "host", "end_ns", "end_unix_ns", "mapped", "ended", "alive", "estimated"},
          "stall": {"share_count", "shares", "sample_count", "samples"},
          "slow": {"blame_count", "blames"}, "module": {"start", "end"},
          "anomaly": {"placed", "first", "last"}, "stack_row": {"frame"},
          "stack_frame": {"build_id", "module"}, "options": None, "wall": None}
EXTRA = {"rank": {"windows"}, "stall": {"shares", "samples", "data"}, "slow": {"blames"},
         "anomaly": {"places"}, "module": {"id"}, "sampler_totals": set()}
WORDS = {"chroprof_state": "pending ready running paused completed failed cancelled".split(),
         "chroprof_stall_kind": ["callback", "iteration"],
         "chroprof_sample_state": ["busy", "idle", "uninstrumented"],
         "chroprof_frame_kind": ["task", "native", "marker"],
         "chroprof_sampler_mode": ["cpu", "wall"]}


class Wrong(Exception):
    pass


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def body_of(header, name):
    found = re.search(r"typedef struct chroprof_%s \{\n(.*?)\n\} chroprof_%s;" % (name, name),
                      header, re.S)
    if not found:
        raise Wrong("no struct chroprof_" + name)
    return found


def declarations(body):
    """[(type, declarator)], one for each field."""
    found = []
    for text in without_comments(body).split(";"):
        text = " ".join(text.split())
        if not text:
            continue
        if "(*" in text or text.startswith("void "):
            found.append((None, text))
            continue
        kind, names = re.match(r"(const char \*|\w+) ?(.*)$", text).groups()
        found += [(kind, name.strip().lstrip("*")) for name in names.split(",")]
    return found


def shuffled(header, seed):
    order = random.Random(seed)
    for name in STRUCTS:
        if name in FIXED:
            continue
        found = body_of(header, name)
        fields = declarations(found.group(1))
        order.shuffle(fields)
        lines = ["    %s %s;" % (kind or "", what) for kind, what in fields]
        header = header[:found.start(1)] + "\n".join(lines) + header[found.end(1):]
    return header


def says(header):
    """Functions in C that say each field of a struct."""
    text = ["#include <stdio.h>"]
    for name in STRUCTS:
        text += ["static void say_chroprof_%s(const char *place, const chroprof_%s *row)" % (name, name),
                 "{"]
        for kind, field in declarations(body_of(header, name).group(1)):
            if kind is None or "[" in field and kind != "char" or field in (HIDDEN.get(name) or ()):
                continue
            field = field.split("[")[0]
            form = {"const char *": "$%s", "char": "$%s", "bool": "?%d"}.get(kind, "%llu")
            cast = "(unsigned long long)" if form == "%llu" else ""
            if kind not in ("const char *", "char", "bool", "uint32_t", "uint64_t"):
                form = kind + ":%llu"
            text.append('    (void)printf("%%s\\t%s\\t%s\\t%s\\n", place, %srow->%s);'
                        % (name, field, form, cast, field))
        text += ["    (void)place, (void)row;", "}"]
    return "\n".join(text) + "\n"


def listed(header, name):
    """The words of an enum that an X list has."""
    found = re.search(r"#define %s\(X\)(.*?)\n\n" % name, header, re.S).group(1)
    return [word.lower() for word in re.findall(r"X\((\w+)", found)]


def value_of(said, words):
    kind, _, number = said.rpartition(":") if said.startswith("chroprof_") else ("", "", said)
    if kind:
        known = words[kind]
        return known[int(number)] if int(number) < len(known) else None
    if said[0] == "$":
        return said[1:]
    return said == "?1" if said[0] == "?" else int(said)


def row_at(doc, place):
    for step in filter(None, place.split("/")):
        doc = doc[int(step)] if isinstance(doc, list) else doc[step]
    return doc


def compare_wall(doc, said):
    rows = [(r["path"], r["state"], r["weight"], r["duration_ns"]) for r in doc["wall"]]
    told = []
    for row in said:
        for state in ("running", "ready", "paused"):
            if row[state]:
                told.append((row["path"], state, row[state], row[state + "_ns"]))
    if rows != told:
        raise Wrong("wall %s, not %s" % (rows, told))


def compare(doc, lines, words):
    """How many values agree."""
    seen, walls, agreed = {}, [], 0
    for line in lines:
        place, name, field, said = line.split("\t")
        value = value_of(said, words)
        if name == "wall":
            if field == declarations_of_wall[0]:
                walls.append({})
            walls[-1][field] = value
            continue
        key = RENAMED.get(name, {}).get(field, field)
        row = row_at(doc, place)
        if HIDDEN.get(name, ()) is None and key not in row:
            continue
        if key not in row:
            raise Wrong("%s has no %s" % (place, key))
        if name == "sampler_totals" and key == "mode" and row[key] == "none":
            value = "none"
        if name == "stack_row" and key == "module":
            value -= 1                      # a row + 1 there, 0: none
        if row[key] != value:
            raise Wrong("%s %s is %r, the read says %r" % (place, key, row[key], value))
        seen.setdefault((place, name), set()).add(key)
        agreed += 1
    compare_wall(doc, walls)
    names = {}
    for (place, name), keys in seen.items():
        names.setdefault(place, [set(), set()])
        names[place][0] |= keys
        names[place][1] |= EXTRA.get(name, set())
    for place, (keys, extra) in names.items():
        more = set(row_at(doc, place)) - keys - extra
        if place and more:
            raise Wrong("%s: no read says %s" % (place, ", ".join(sorted(more))))
    return agreed


def run(command, what):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Wrong("%s: %s" % (what, (done.stderr or "exit %d" % done.returncode)[:300]))
    return done.stdout


def case(header, seed, scratch, words):
    global declarations_of_wall
    folder = os.path.join(scratch, str(seed))
    os.makedirs(folder, exist_ok=True)
    if seed:
        header = shuffled(header, seed)
    declarations_of_wall = [name for _, name in declarations(body_of(header, "wall").group(1))]
    for name, text in (("chroprof.h", header), ("says.h", says(header))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    here = os.path.dirname(os.path.abspath(__file__))
    program, out = os.path.join(folder, "values"), os.path.join(folder, "json")
    run(os.environ.get("CC", "cc").split() + ["-w", "-I" + folder, "-o", program,
        os.path.join(here, "json_values.c"), "-ldl"], "compiler")
    lines = run([program, out], "program").splitlines()
    with open(out) as file:
        doc = json.load(file)
    for place in "sites paths stalls slowest futures task_waits findings samples stacks modules".split():
        if not doc[place]:
            raise Wrong("no row in " + place)
    return compare(doc, lines, words)


def main(seeds):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "chroprof.h")) as file:
        header = file.read()
    words = dict(WORDS, chroprof_finding_kind=listed(header, "CHROPROF_FINDINGS"),
                 chroprof_anomaly_kind=listed(header, "CHROPROF_ANOMALIES"))
    failed = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as scratch:
        for seed in [0] + seeds:
            name = "json_values_in_order_%d" % seed if seed else "json_values"
            try:
                count = case(header, seed, scratch, words)
                print("ok %s: %d values" % (name, count))
            except (Wrong, KeyError, IndexError) as error:
                failed += 1
                print("FAIL %s: %s" % (name, error))
    print("%d passed, %d failed, 0 skipped" % (len(seeds) + 1 - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or [1, 2]))
