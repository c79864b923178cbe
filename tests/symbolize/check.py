"""check.py BEFORE AFTER [KIND]: what chroprof symbolize made of the program's profile.

KIND: lines (default: every place has its functions and lines, inlined calls included), functions
(of a library's exported function at least its name, of others that or its place in the file), none (nothing
changed).
"""
import json
import os
import re
import sys

ADDED = ("function", "file", "line", "inlined")
before = json.load(open(sys.argv[1], encoding="utf-8"))
after = json.load(open(sys.argv[2], encoding="utf-8"))
kind = sys.argv[3] if len(sys.argv) > 3 else "lines"


def chain(row):
    """FUNCTION:LINE of a row, the innermost first."""
    calls = [row] + row["inlined"] if "function" in row else []
    return ["%s:%d" % (call["function"], call["line"]) for call in calls]


def check_lines(row):
    found = chain(row)
    if not row["expected"]:
        assert not found, row
    elif row["expected"] == ["qsort:0"]:
        # where code is at fixed addresses, its address is that of a jump in the program
        assert row["module"] == 0 or row["function"].endswith("qsort"), row
    elif not row["return"]:  # where a function begins: its head or its brace
        assert found[0] in ("exported:%s" % row["expected"][0].split(":")[1],
                            "exported:%d" % (int(row["expected"][0].split(":")[1]) + 1)), found
    else:
        assert found == row["expected"], (found, row["expected"])
        sources = ("program.c", "library.c", "places.cc")
        assert os.path.basename(row["file"]) in sources and row["file"][0] == "/", row
        assert all(os.path.basename(call["file"]) in sources for call in row["inlined"]), row


def check_functions(row):
    wanted = row["expected"][-1].split(":")[0] if row["expected"] else None
    if wanted in ("library_exported", "library_entry", "qsort"):
        assert "function" in row, row
    place = re.match(r"(?:program|libplaces\.so)\+0x([0-9a-f]+)$", row.get("function", ""))
    if place:  # where the function begins
        assert 0 <= row["address"] - int(place[1], 16) < 4096, row
        assert row["line"] == 0 and row["inlined"] == [], row
    elif "function" in row and wanted != "qsort":
        assert row["function"] == wanted and row["line"] == 0 and row["inlined"] == [], row


native = [row for row in after["stacks"] if row["kind"] == "native"]
assert len(native) >= 11, len(native)
for row in native:
    if kind == "lines":
        check_lines(row)
    elif kind == "functions":
        check_functions(row)
    else:
        assert not chain(row), row
stripped = [{key: value for key, value in row.items() if key not in ADDED}
            for row in after["stacks"]]
after["stacks"] = stripped
assert before == after, "something else changed"
assert list(before) == list(after), "the order changed"
