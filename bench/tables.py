#!/usr/bin/env python3
"""Writes what the parts of the bench measured into bench/README.md, between markers,
and draws bench/ratios.svg.

    bench/tables.py [build/bench_kept]      what bench/keep.sh left there
    bench/tables.py FOLDER --print          to standard output instead

It measures nothing. A part that was not run keeps the table it has, and is named.
"""
import json
import pathlib
import re
import sys

import picture

OWN = pathlib.Path("bench/README.md")


FACTS = ("A live future takes %.0f bytes. The sampler takes %.3f %% of CPU time. Switched off: %.2f ns per call (an "
         "empty function: %.2f); under `CHROPROF_DISABLE`, %.0f bytes of code.")


class Missing(Exception):
    """A part that was not run, or not all of it."""


class Kept:
    """What bench/keep.sh left in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        path = self.folder / name
        if not path.exists():
            raise Missing(name)
        return path

    def lines(self, part):
        return self.path(part + ".txt").read_text().splitlines()[1:]

    def blocks(self, part):
        """The rows between empty lines; columns are two spaces or more apart."""
        blocks = [[]]
        for line in self.lines(part):
            if line.strip():
                blocks[-1].append(re.split(r" {2,}", line.strip()))
            else:
                blocks.append([])
        return [block for block in blocks if block]

    def told(self, part):
        """When, of what, with what, on what: below a table."""
        date, commit, compiler, machine = \
            self.path(part + ".txt").read_text().split("\n", 1)[0].split(" | ")
        return "%s, %s; commit %s, %s." % (machine, compiler, commit, date)

    def bench(self):
        try:
            return json.loads(self.path("bench.json").read_text())
        except ValueError as broken:
            raise Missing("bench.json, broken: %s" % broken) from broken


def table(head, rows):
    return ["| %s |" % " | ".join(head), "|" + "---|" * len(head)] + \
        ["| %s |" % " | ".join(str(cell) for cell in row) for row in rows]


def instructions(kept):
    """{(row, call): instructions} of bench/counts.sh"""
    return {(row[0], row[1]): int(row[2]) for row in kept.blocks("counts")[0][1:]
            if len(row) == 7}


def counted(kept, row, calls):
    known = instructions(kept)
    try:
        return sum(known[row, call] for call in calls)
    except KeyError as key:
        raise Missing("counts.txt: %s" % key) from key


def ratio(bench, name):
    for row in bench["rows"]:
        if row["name"] == name:
            mark = "" if row["quiet"] else ", shared core"
            return "%.2f (%.2f to %.2f%s)" % (row["ratio"], row["ratio_p25"], row["ratio_p75"],
                                              mark)
    raise Missing("bench.json: %s" % name)


def of_a_million(kept):
    for row in kept.blocks("scale")[0]:
        if row[:2] == ["FUTURES", "1000000"]:
            return row[2]
    raise Missing("scale.txt: FUTURES 1000000")


def cost(kept):
    """The short table."""
    bench = kept.bench()
    life = ["pending", "running", "running", "paused", "completed"]
    server = ["idle_leave", "running", "paused", "idle_enter"] + 5 * ["enter", "leave"]
    rows = [
        ["an iteration of a server: 14 events of seven kinds", 14, ratio(bench, "an iteration of 14 events"),
         counted(kept, "an iteration of 14 events", server)],
        ["a slice: running, paused", 2, ratio(bench, "slice"),
         counted(kept, "slice", ["running", "paused"])],
        ["a slice by `chroprof_switch`", 1, ratio(bench, "switch"),
         counted(kept, "switch", ["switch"])],
        ["a whole life: pending, running, paused, running, completed", 5, ratio(bench, "life"),
         counted(kept, "life", life)],
        ["`chroprof_enter`, `chroprof_leave`", 2, ratio(bench, "enter/leave"),
         counted(kept, "enter/leave", ["enter", "leave"])],
        ["a slice, a million futures live, at random", "2, and one load of such a table",
         ratio(bench, "slice, 1,000,000 live, random"), of_a_million(kept)]]
    head = ["what", "clock reads in it", "ratio to them (quartiles)", "instructions"]
    facts = FACTS % tuple(bench[key] for key in ("bytes_per_future", "sampler_percent",
                                                 "off_ns_per_call", "empty_ns_per_call",
                                                 "disable_bytes"))
    return [kept.told("bench"), facts, ""] + table(head, rows)


def peers(kept):
    head, *rows = kept.blocks("peers")[-1]
    skipped = [row for row in kept.lines("peers") if row.startswith("skipped")]
    return table(head, [row for row in rows if len(row) == 4]) + [""] + skipped + \
        [kept.told("peers")]


def ratios(kept):
    rows = [[row["group"], row["name"], "%.2f" % row["ns"], row["floor"], "%.2f" % row["floor_ns"],
             ratio({"rows": [row]}, row["name"]),
             "%.2f %s" % (row["target"], "met" if row["met"] else "missed")
             if "target" in row else ""] for row in kept.bench()["rows"]]
    head = ["", "row", "ns", "floor", "ns", "ratio (quartiles)", "target"]
    return table(head, rows) + ["", kept.told("bench")]


def other(kept):
    """What is no ratio to a floor."""
    bench = kept.bench()
    keys = [("a clock read", "floor_1_ns", "%.2f ns"), ("two", "floor_2_ns", "%.2f ns"),
            ("off, a call", "off_ns_per_call", "%.2f ns"),
            ("a call of an empty function", "empty_ns_per_call", "%.2f ns"),
            ("code left under CHROPROF_DISABLE", "disable_bytes", "%.0f bytes"),
            ("a live future", "bytes_per_future", "%.0f bytes"),
            ("sampler at its default rate", "sampler_percent", "%.4f %% of CPU time"),
            ("sampler, a tick by its own account", "tick_own_ns", "%.0f ns"),
            ("sampler, a tick, all that the thread lost", "tick_ns", "%.0f ns"),
            ("a slice while the sampler runs", "sampled_slice_ns", "%.2f ns"),
            ("slowest event, its own time", "worst_lowest_ns", "%.0f ns"),
            ("slowest event, interrupts included", "worst_one_run_ns", "%.0f ns")]
    rows = [[what, form % bench[key]] for what, key, form in keys if key in bench]
    rows += [["with %.0f ns of work: %s; the calls add, two reads or one" %
              (row["work_ns"], row["name"]),
              "%.1f ns, %.1f ns" % (row["calls_add_ns"], row["reads_add_ns"])]
             for row in bench.get("work", [])]
    return table(["", ""], rows) + ["", kept.told("bench")]


def plain(part, block=0):
    """A block as it was printed."""
    def make(kept):
        head, *rows = kept.blocks(part)[block]
        rows = [row for row in rows if len(row) == len(head)]
        return table(head, rows) + ["", kept.told(part)]
    return make


def sizes(kept):
    head, *rows = kept.blocks("compile")[1]
    return table([" ".join(head), "bytes"], rows) + ["", kept.told("compile")]


def loop(kept):
    """A row a kind of server: its name, then medians and quartiles."""
    rows = []
    for row in kept.blocks("loop")[0]:
        if len(row) == 2:
            rows[-1].append(re.sub(r"median (\S+), quartiles (.*)", r"\1 (\2)", row[1]))
        elif "laws:" not in row[0]:
            rows.append(row)
    return table(["CPU ns a request", "without", "with", "added", "ratio"], rows) + \
        ["", kept.told("loop")]


def curves(kept):
    lines = []
    for title, head, *rows in sections(kept):
        lines += [" ".join(title), ""] + table(head, rows) + [""]
    return lines + [kept.told("curves")]


def sections(kept):
    """A block a table that grows: its title, its head, its rows."""
    found = []
    for row in kept.blocks("curves")[0]:
        if row[0][0].isupper():
            found.append([])
        found[-1].append(row)
    return found


def compile_times(kept):
    _, head, *rows = kept.blocks("compile")[0]
    return table(head, [row for row in rows if len(row) == len(head)]) + \
        ["", kept.told("compile")]


TABLES = [(OWN, "cost", cost), (OWN, "ratios", ratios),
          (OWN, "other", other), (OWN, "counts", plain("counts")), (OWN, "scale", plain("scale")),
          (OWN, "compile", compile_times), (OWN, "sizes", sizes),
          (OWN, "peers", peers), (OWN, "loop", loop), (OWN, "curves", curves)]


def put(path, name, lines):
    """Replaces what is between the two markers of that name."""
    begin, end = "<!-- %s begins -->" % name, "<!-- %s ends -->" % name
    text = path.read_text()
    if begin not in text or end not in text:
        sys.exit("tables.py: %s has no markers for \"%s\"" % (path, name))
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    path.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after)


def draw(kept):
    bench = kept.bench()
    if "rows" not in bench or not any(row["group"] == "off" for row in bench["rows"]):
        raise Missing("bench.json: all rows")
    return picture.draw(bench) + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--print"]
    kept = Kept(pathlib.Path(words[0] if words else "build/bench_kept"))
    written = 0
    for path, name, make in TABLES:
        try:
            lines = make(kept)
        except (Missing, KeyError, IndexError) as what:
            print("as it was: %s, %s (not kept: %s)" % (path, name, what), file=sys.stderr)
            continue
        written += 1
        if "--print" in sys.argv:
            print("%s, %s:\n%s\n" % (path, name, "\n".join(lines)))
        else:
            put(path, name, lines)
    try:
        drawn = draw(kept)
        if "--print" not in sys.argv:
            pathlib.Path("bench/ratios.svg").write_text(drawn)
    except (Missing, KeyError) as what:
        print("as it was: bench/ratios.svg (not kept: %s)" % what, file=sys.stderr)
    print("%d tables written" % written, file=sys.stderr)
    sys.exit(written == 0)


if __name__ == "__main__":
    main()
