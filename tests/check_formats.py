#!/usr/bin/env python3
"""check_formats.py FOLDER: for each NAME.json there, does NAME.firefox, .pprof, .prometheus and
.folded hold the same profile? Prints "ok NAME" or "FAIL NAME: why", then the counts."""
import contextlib
import glob
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_firefox
import check_pprof
import check_prometheus

# Made by chroprof_merge, or of loops within loops, which a busy machine or chance makes stall.
SPREAD = ("loop_glib", "loop_libev", "loop_libuv", "loop_threads", "test_merge.", "test_capacity.",
          "test_random.")


def check_folded(path, report):
    """Each line is floored to microseconds."""
    got = sum(int(line.rsplit(b" ", 1)[1]) for line in open(path, "rb"))
    totals = report["totals"]
    want = sum(row["exec_ns"] // 1000 for row in report["paths"])
    want += sum(totals[name + "_ns"] // 1000 for name in ("loop", "idle", "untracked"))
    if got != want:
        sys.exit("check_folded: %d us, not %d" % (got, want))


def check(stem):
    report = stem + ".json"
    for name, module in (("firefox", check_firefox), ("pprof", check_pprof),
                         ("prometheus", check_prometheus)):
        sys.argv = [name, "%s.%s" % (stem, name), report]
        if name == "firefox" and os.path.basename(stem).startswith(SPREAD):
            sys.argv.append("--spread")
        with contextlib.redirect_stdout(io.StringIO()):
            module.main()
    with open(report, encoding="utf-8") as file:
        check_folded(stem + ".folded", json.load(file))


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
    print("%d passed, %d failed, 0 skipped" % (len(stems) - failed, failed))
    sys.exit(failed > 0 or not stems)


if __name__ == "__main__":
    main()
