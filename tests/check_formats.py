#!/usr/bin/env python3
"""check_formats.py FOLDER: for each NAME.json there, does NAME.firefox, .pprof, .prometheus and
.folded hold the same profile? And is a figure that is off by one refused? Prints "ok NAME" or
"FAIL NAME: why", then the counts."""
import contextlib
import glob
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_firefox
import check_pprof
import check_prometheus

# Made by chroprof_merge, or of loops within loops, which a busy machine or chance makes stall.
SPREAD = ("loop_glib", "loop_libev", "loop_libuv", "loop_threads", "test_merge.", "test_capacity.",
          "test_random.")


def check_folded(path, report, code):
    """Each line is floored to microseconds. code: with functions, and time off the CPU."""
    got = sum(int(line.rsplit(b" ", 1)[1]) for line in open(path, "rb"))
    totals = report["totals"]
    want = sum(row["exec_ns"] // 1000 for row in report["paths"])
    want += sum(totals[name + "_ns"] // 1000 for name in ("uninstrumented", "idle", "untracked"))
    if got != want:
        sys.exit("check_folded: %d us, not %d" % (got, want))
    off = sum(int(line.rsplit(b" ", 1)[1]) for line in open(path, "rb") if b";(off CPU) " in line)
    want = sum(check_pprof.off_cpu(report, 1000).values()) if code else 0
    if off != want:
        sys.exit("check_folded: %d us off CPU, not %d" % (off, want))


SPOILED = ["s0", "s1", "share", "dur", "events", "symbolicated", "length"]


def refuses(stem, key):
    """Is NAME.firefox refused once the first number of a key is another?"""
    with open(stem + ".firefox", encoding="utf-8") as file:
        text = file.read()
    found = re.search(r'"%s":(\d[\d.]*|true|false)' % key, text)
    if found is None:
        return False
    old = found.group(1)
    new = {"true": "false", "false": "true"}.get(old) or old[:-1] + str((int(old[-1]) + 1) % 10)
    with open(stem + ".spoiled", "w", encoding="utf-8") as file:
        file.write(text[:found.start(1)] + new + text[found.end(1):])
    sys.argv = ["firefox", stem + ".spoiled", stem + ".json"]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check_firefox.main()
    except SystemExit:
        return True
    return False


def check_refusals(stems):
    """Each key is looked at in one profile at least."""
    left = set(SPOILED)
    for stem in stems:
        left -= {key for key in sorted(left) if refuses(stem, key)}
    if left:
        sys.exit("no checker looks at " + " ".join(sorted(left)))


def check(stem):
    report = stem + ".json"
    for name, module in (("firefox", check_firefox), ("pprof", check_pprof),
                         ("prometheus", check_prometheus)):
        sys.argv = [name, "%s.%s" % (stem, name), report]
        if name == "firefox" and os.path.basename(stem).startswith(SPREAD):
            sys.argv.append("--spread")
        with contextlib.redirect_stdout(io.StringIO()):
            module.main()
    sys.argv = ["pprof", stem + ".code.pprof", report, "--code"]
    with contextlib.redirect_stdout(io.StringIO()):
        check_pprof.main()
    with open(report, encoding="utf-8") as file:
        doc = json.load(file)
    check_folded(stem + ".folded", doc, False)
    check_folded(stem + ".code.folded", doc, True)


def main():
    failed = 0
    stems = sorted(path[:-len(".json")] for path in glob.glob(sys.argv[1] + "/*.json"))
    for stem in stems:
        try:
            check(stem)
            print("ok", os.path.basename(stem))
        except (SystemExit, OSError, ValueError, KeyError, TypeError) as wrong:
            failed += 1
            print("FAIL %s: %s" % (os.path.basename(stem), wrong))
    try:
        check_refusals([stem for stem in stems if not os.path.basename(stem).startswith(SPREAD)][:50])
        print("ok wrong_figures_are_refused")
    except SystemExit as wrong:
        failed += 1
        print("FAIL wrong_figures_are_refused: %s" % wrong)
    stems.append("wrong_figures_are_refused")
    print("%d passed, %d failed, 0 skipped" % (len(stems) - failed, failed))
    sys.exit(failed > 0 or len(stems) == 1)


if __name__ == "__main__":
    main()
