#!/usr/bin/env python3
"""Checks an uncompressed profile.proto with a reader of its own, and that it holds exactly the
paths of the JSON of the same profile: check_pprof.py PPROF JSON

With --code it is of chroprof dump: each path's exec time is divided among the code that was sampled
in it, each address in its module; what samples by CPU time leave of it is "(off CPU)".
"""
import json
import sys
from collections import Counter

TYPES = [("calls", "count"), ("exec", "nanoseconds"), ("lifetime", "nanoseconds"),
         ("delay", "nanoseconds"), ("blame", "nanoseconds")]
OFF_CPU = ("(off CPU)", "", 0)
FIELDS = ("calls", "exec_ns", "lifetime_ns", "delay_ns", "blame_ns")


def need(condition, *what):
    if not condition:
        sys.exit("check_pprof: " + " ".join(str(w) for w in what))


def read_varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number is cut off")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            need(value < 1 << 64, "a number is too large")
            return value, at


def read_message(data):
    """Yields (field, int or bytes)."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        need(key & 7 in (0, 2) and key >> 3, "wire type", key & 7)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            need(at + value <= len(data), "field", key >> 3, "is longer than its message")
            value, at = bytes(data[at:at + value]), at + value
        yield key >> 3, value


def read_packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(value)
    return values


def one(data, known):
    """A message whose fields are numbers, each at most once."""
    fields = {}
    for field, value in read_message(data):
        need(field in known and field not in fields and isinstance(value, int), "field", field)
        fields[field] = value
    return fields


class Profile:
    def __init__(self, data):
        self.types, self.samples, self.strings, self.single = [], [], [], {}
        self.mappings, self.locations, self.functions, self.comments = {}, {}, {}, []
        for field, value in read_message(data):
            self.take(field, value)
        need(self.strings and self.strings[0] == "", "the first string is not empty")

    def take(self, field, value):
        if field == 1:
            self.types.append(one(value, (1, 2)))
        elif field == 2:
            self.samples.append(value)
        elif field == 3:
            self.add(self.mappings, one(value, (1, 2, 3, 5, 6, 7, 8, 9, 10)))
        elif field == 4:
            self.add_location(value)
        elif field == 5:
            self.add(self.functions, one(value, (1, 2, 3, 4, 5)))
        elif field == 6:
            self.strings.append(value.decode("utf-8"))
        elif field == 13:
            self.comments.append(value)
        else:
            need(field in (9, 10, 11, 12, 14) and field not in self.single, "field", field)
            self.single[field] = one(value, (1, 2)) if field == 11 else value

    @staticmethod
    def add(table, row):
        need(row.get(1, 0) > 0 and row[1] not in table, "id", row)
        table[row[1]] = row

    def add_location(self, data):
        row, lines = {}, []
        for field, value in read_message(data):
            need(field in (1, 2, 3, 4), "field of a location", field)
            if field == 4:
                lines.append(one(value, (1, 2)))
            else:
                row[field] = value
        need(len(lines) == 1 or (3 in row and not lines), "one function a location, or an address")
        row["lines"] = lines
        self.add(self.locations, row)

    def text(self, number):
        need(number < len(self.strings), "string", number)
        return self.strings[number]

    def frames(self, location):
        """From the outside in; code without a name is its address in its module."""
        need(location in self.locations, "location", location)
        row, found = self.locations[location], []
        mapping = self.mappings.get(row.get(2))
        need(mapping, "mapping of location", location)
        if row[2] > 1:
            need(mapping[2] <= row[3] < mapping[3], "address", row, "is not in", mapping)
        for line in row["lines"]:
            function = self.functions.get(line.get(1))
            need(function, "function of location", location)
            found.append((self.text(function.get(2, 0)), self.text(function.get(4, 0)),
                          line.get(2, 0)))
        return found[::-1] or [("0x%x" % (row[3] - mapping.get(2, 0)), "", 0)]

    def sample(self, data):
        """The chain of frames from the root, the values, the labels."""
        chain, values, labels = [], [], {}
        for field, value in read_message(data):
            if field == 1:
                chain += read_packed(value) if isinstance(value, bytes) else [value]
            elif field == 2:
                values += read_packed(value) if isinstance(value, bytes) else [value]
            else:
                need(field == 3, "field of a sample", field)
                label = one(value, (1, 2))
                labels[self.text(label[1])] = self.text(label[2])
        need(chain, "a sample without a stack")
        need(len(values) == len(self.types), "a sample with", len(values), "values")
        need(all(v < 1 << 63 for v in values), "a negative value")
        return tuple(f for l in reversed(chain) for f in self.frames(l)), values, labels


def json_chains(report):
    chains, rows = {}, Counter()
    for path in report["paths"]:
        frame = (path["name"] or "(empty)", path["file"], path["line"])
        chains[path["id"]] = chains.get(path["parent"], ()) + (frame,)
        for field in FIELDS:
            rows[(chains[path["id"]], field)] += min(path[field], (1 << 63) - 1)
    totals = report["totals"]
    for name in ("uninstrumented", "idle", "untracked"):
        frame = (("(" + name + ")", "", 0),)
        rows[(frame, "exec_ns")] += totals[name + "_ns"]
        rows[(frame, "blame_ns")] += totals[name + "_blame_ns"]
    return rows


def check_head(profile, report, code):
    types = [(profile.text(t[1]), profile.text(t[2])) for t in profile.types]
    need(types == TYPES + [("samples", "count")] * code, "sample types", types)
    period = profile.single[11]
    need((profile.text(period[1]), profile.text(period[2])) == TYPES[1], "period type")
    need(profile.text(profile.single[14]) == "exec", "default sample type")
    need(profile.single.get(9, 0) == report["totals"]["start_unix_ns"], "time")
    need(profile.single.get(10, 0) == report["totals"]["elapsed_ns"], "duration")
    need(code or len(profile.mappings) == 1, "mapping")
    need(all(m.get(7) for m in profile.mappings.values()), "a mapping to look for names in")
    need(not code or all(m.get(field) for m in profile.mappings.values() for field in (8, 9, 10)),
         "a mapping without files, lines or inlined functions")
    program = report["program"] or code and (report["name"] or "chroprof") or ""
    need(profile.text(profile.mappings[1][5]) == program, "program",
         profile.text(profile.mappings[1][5]), "is not", program)
    check_mappings(profile, report)
    for mapping in profile.mappings.values():
        profile.text(mapping.get(5, 0))
    for function in profile.functions.values():
        for field in (2, 3, 4):
            profile.text(function.get(field, 0))
    comments = [profile.text(comment) for comment in profile.comments]
    name = [report["name"]] if report["name"] else []
    need(comments[0].startswith("chroprof ") and comments[1:] == name, "comments", comments)


def check_mappings(profile, report):
    modules = {number + 2: m for number, m in enumerate(report.get("modules", []))}
    for number, mapping in profile.mappings.items():
        if number > 1:
            got = (profile.text(mapping[5]), profile.text(mapping[6]), mapping.get(2, 0))
            want = modules[number]
            need(got == (want["path"], want["build_id"], want["base"]), "mapping", got)


def path_of(chain, paths):
    """The path that a chain begins with; (uninstrumented), where that is no path, is one, too."""
    for length in range(len(chain), 0, -1):
        if chain[:length] in paths:
            return chain[:length]
    sys.exit("check_pprof: no path begins %s" % (chain,))


def inside_tasks(ids, stacks):
    """What callers a task has is not shown."""
    rows, wanted = {n["id"]: n for n in stacks}, set()
    for number in ids:
        while number in rows and rows[number]["kind"] != "task":
            wanted.add(number)
            number = rows[number]["parent"]
    return [rows[number] for number in sorted(wanted)]


def cpu_of_paths(report):
    """CPU time that was sampled, by path, "(uninstrumented)" or "(untracked)"."""
    stacks = {n["id"]: n for n in report.get("stacks", [])}
    paths = {path["id"] for path in report["paths"]}
    idle = {r["stack"] for r in report.get("samples", []) if r["state"] == "idle"}
    found = Counter()
    for stack in stacks.values():
        if stack["id"] in idle or stack["weight"] == 0:
            continue
        node, owner = stack, "(uninstrumented)"
        while node is not None and owner == "(uninstrumented)":
            if node["kind"] == "task":
                owner = node["path"] if node["path"] in paths else node["name"]
            elif node["kind"] != "native" and node["name"] == "(idle)":
                owner = None
            node = stacks.get(node["parent"])
        found[owner] += stack["cpu_ns"]
    return found


def off_cpu(report, unit_ns):
    """By path, "(uninstrumented)" or "(untracked)": what is more than a tenth of exec, and no chance."""
    cpu, found = cpu_of_paths(report), {}
    sampler = report.get("sampler", {})
    exec_ns = {path["id"]: path["exec_ns"] for path in report["paths"]}
    exec_ns.update({"(%s)" % name: report["totals"][name + "_ns"] for name in ("uninstrumented", "untracked")})
    for owner, whole in exec_ns.items():
        whole, used = whole // unit_ns, cpu[owner] // unit_ns
        off = whole - used
        chance = 4.0 * (sampler.get("period_ns", 0) // unit_ns) * whole
        if sampler.get("mode") == "cpu" and used > 0 and off > 0 and off > whole / 10 and \
                float(off) * off > chance:
            found[owner] = off
    return found


def check_off_cpu(report, found):
    """found: exec of the frames, by chain of the path."""
    chains, want = {}, Counter()
    for path in report["paths"]:
        frame = (path["name"] or "(empty)", path["file"], path["line"])
        chains[path["id"]] = chains.get(path["parent"], ()) + (frame,)
    for owner, off in off_cpu(report, 1).items():
        want[chains.get(owner, ((owner, "", 0),))] += off
    need(want == found, "off CPU", found, "is not", want)


def check_code(profile, report, weight):
    """The functions that symbolize found are there, and every sample but those of idle."""
    names = {profile.text(f.get(2, 0)) for f in profile.functions.values()}
    stacks = report.get("stacks", [])
    tasks = {path["name"] or "(empty)" for path in report["paths"]}
    need(names <= {f for n in stacks for c in [n] + n.get("inlined", [])
                   for f in (c.get("function"), c.get("name"))} | tasks |
         {"(uninstrumented)", "(idle)", "(untracked)", OFF_CPU[0]}, "functions", sorted(names)[:9])
    need(weight <= sum(n["weight"] for n in stacks), "samples", weight)
    busy = {r["stack"] for r in report.get("samples", []) if r["state"] == "busy"}
    busy -= {r["stack"] for r in report.get("samples", []) if r["state"] == "idle"}
    least = sum(n["weight"] for n in stacks if n["kind"] == "native" and n["id"] in busy)
    need(weight >= least or not stacks, "samples", weight, "are not", least)
    native = [n for n in inside_tasks(busy, stacks) if n["kind"] == "native"]
    lost = {n["function"] for n in native if n.get("function")} - names
    lost = {name for name in lost if not name.startswith("chroprof_")}  # ours are not shown
    need(not lost, "no functions", sorted(lost)[:9])
    modules = {m["id"]: m["path"] for m in report.get("modules", [])}
    mapped = {profile.text(m.get(5, 0)) for number, m in profile.mappings.items() if number > 1}
    lost = {modules[n["module"]] for n in native if n["module"] >= 0} - mapped
    need(not lost, "no mappings of", sorted(lost))


def check_samples(profile, report, code):
    rows, weight, off = Counter(), 0, Counter()
    want = json_chains(report)
    paths = {chain for chain, _ in want}
    for data in profile.samples:
        chain, values, labels = profile.sample(data)
        idle = chain == (("(idle)", "", 0),)
        need((labels.pop("state", None) == "idle") == idle, "label state of", chain)
        need(not labels, "labels of", chain, labels)
        if code:
            weight += values[5]
            leaf, chain = chain[-1], path_of(chain, paths)
            if leaf == OFF_CPU:
                off[chain] += values[1]
        for field, value in zip(FIELDS, values):
            rows[(chain, field)] += value
    for key in set(rows) | set(want):
        need(rows[key] == want[key], key, rows[key], "is not", want[key])
    sums = [sum(v for (_, f), v in rows.items() if f == field) for field in FIELDS]
    need(sums[1] == report["totals"]["elapsed_ns"], "the sum of exec")
    need(sums[4] == report["totals"]["blame_ns"], "the sum of blame")
    if code:
        check_off_cpu(report, off)
        check_code(profile, report, weight)
    return len(profile.samples), sums


def main():
    code = "--code" in sys.argv[3:]
    profile = Profile(open(sys.argv[1], "rb").read())
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    check_head(profile, report, code)
    count, sums = check_samples(profile, report, code)
    print("ok: %d samples, %s" % (count, " ".join("%s %d" % s for s in zip(FIELDS, sums))))


if __name__ == "__main__":
    main()
