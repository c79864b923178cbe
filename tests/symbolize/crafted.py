"""crafted.py FOLDER COMMAND...: files that ask for endless work end at once, with any answer.

Each file lies in FOLDER as a module of a small profile. Read as they ask to be read, they would
keep a machine busy for hours, so the limit here is far from what any machine needs.
"""
import json
import os
import struct
import subprocess
import sys

folder, commands = sys.argv[1], sys.argv[2:]
KIB, MIB = 1 << 10, 1 << 20
EMPTY_NOTE = struct.pack("<III", 0, 0, 1)


def header(sections=0, each=64, segments=0):
    """A file of 64 bits; the section headers follow, or the program headers."""
    return struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\177ELF", 2, 1, 1, 0, 3, 62, 1, 0,
                       64 if segments else 0, 0 if segments else 64, 0, 64, 56, segments, each,
                       sections, 0)


def section(kind, offset, size, link=0):
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 4, 24)


def segment(offset, size):
    return struct.pack("<IIQQQQQQ", 4, 4, offset, 0, 0, size, size, 4)


def symbol(name, address, size):
    return struct.pack("<IBBHQQ", name, 2, 0, 1, address, size)


notes = EMPTY_NOTE * (MIB // 12)
many = 65535
behind = 64 + 64 * many
crafted = {
    # one header for all sections
    "notes_again": (header(many, 0) + section(7, 128, len(notes)) + notes, 0),
    "symbols_again": (header(many, 0) + section(2, 128, 63 * MIB), 64 * MIB),
    # many headers for one piece of the file
    "notes_shared": (header(many) + section(7, behind, len(notes)) * many + notes, 0),
    "symbols_shared": (header(many) + section(2, behind, 60 * MIB) * many, 64 * MIB),
    "names_shared": (header(many) + section(3, behind, 60 * MIB) +
                     section(2, behind, 24, 0) * (many - 1), 64 * MIB),
    "segments_shared": (header(segments=many) + segment(64 + 56 * many, len(notes)) * many + notes,
                        0),
    # more sections than the file's header can count
    "notes_counted": (header(0) + section(0, 0, 1 << 17) +
                      section(7, 64 + (64 << 17), len(notes)) * ((1 << 17) - 1) + notes, 0),
    "sections_without_end": (header(0) + section(0, 0, 1 << 62), MIB),
    # a table larger than any memory
    "symbols_huge": (header(1) + section(2, 128, 1 << 60), MIB),
    # one name as long as the file, for each address
    "name_long": (header(2) + section(2, 192, 24, 1) + section(3, 216, 8 * MIB) +
                  symbol(0, 0, 1 << 40) + b"x" * 8 * MIB, 0),
}
for name, (begin, size) in crafted.items():
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(begin)
        out.truncate(max(size, len(begin)))
    rows = [{"id": i + 1, "parent": 0, "kind": "native", "module": 0, "address": 4096 + 16 * i,
             "return": False} for i in range(2000)]
    profile = {"chroprof": 2, "name": "crafted", "sites": [], "stalls": [], "windows": [],
               "futures": [], "sampler": {}, "samples": [],
               "modules": [{"id": 0, "path": path, "build_id": ""}], "stacks": rows}
    with open(path + ".json", "w", encoding="utf-8") as out:
        json.dump(profile, out)
    for command in commands:
        try:
            done = subprocess.run([command, "symbolize", path + ".json"], capture_output=True,
                                  timeout=100)
        except subprocess.TimeoutExpired:
            sys.exit("%s: %s had no end" % (os.path.basename(command), name))
        assert done.returncode == 0, (command, name, done.stderr[-2000:])
        assert len(json.loads(done.stdout)["stacks"]) == 2000, (command, name)
        assert len(done.stdout) < 64 * MIB, (command, name, len(done.stdout))
    os.unlink(path)
