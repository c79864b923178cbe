"""Every reader of JSON, given a profile in which one value is of another type than it should be.

    python3 tests/confused.py COMMAND PROFILE.json SCRATCH [ONE_OF]

Each place of the profile (one row of each list) takes each wrong value; with ONE_OF only one value in
so many, others each time it is a different number. A reader may refuse it in words, or go on: it must
not die, and what it writes is UTF-8. Prints "ok NAME" or "FAIL NAME: why"; exit 1 if one failed."""
import copy
import json
import os
import subprocess
import sys

command, source, scratch = sys.argv[1:4]
one_of = int(sys.argv[4]) if len(sys.argv) > 4 else 1
WRONG = [{}, {"toString": 1}, [], [[]], [{}], [7], "", "x", "\ud800", 0, 7, -1, 1.5, 2**64 - 1, 2**64, 1e308,
         True, None, "A" * 5000]
READERS = [["report"], ["trace"], ["trace", "--windows"], ["dump", "-f", "folded"], ["dump", "-f", "pprof"],
           ["dump", "-f", "firefox"], ["symbolize", "--format", "text"], ["symbolize"], ["diff", source]]


def places(value, path=()):
    """The ways to each value: of a list the first item alone."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))


def put(value, path, wrong):
    if not path:
        return wrong
    value = copy.copy(value)
    value[path[0]] = put(value[path[0]], path[1:], wrong)
    return value


def ask(reader, path, wrong, out):
    """What is wrong with how the reader takes it, or None."""
    words = [command, reader[0], path] + reader[1:]
    if reader[0] == "diff":
        words = [command, "diff", source, path]
    got = subprocess.run(words + ([] if reader[0] == "diff" else ["-o", out]), stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    if got.returncode not in ((0, 1, 2) if reader[0] == "diff" else (0, 1)):
        return f"{reader} ended with {got.returncode}: {got.stderr[-300:]!r}"
    if got.returncode == 1 and not got.stderr and reader[0] != "diff":
        return f"{reader} refused it without a word"
    got.stderr.decode(), got.stdout.decode()
    if got.returncode == 0 and os.path.exists(out) and reader[-1] != "pprof":
        with open(out, encoding="utf-8") as file:
            text = file.read()
        if reader[0] == "trace" or reader[-1] == "firefox":
            json.loads(text)
    return None


with open(source, encoding="utf-8") as file:
    profile = json.load(file)
for rows in profile.values():
    if isinstance(rows, list):
        del rows[12:]
asked = failed = 0
bad, out = os.path.join(scratch, "confused.json"), os.path.join(scratch, "confused.out")
number = 0
for place in places(profile):
    for k, wrong in enumerate(WRONG):
        number += 1
        if number % one_of:
            continue
        with open(bad, "w", encoding="utf-8") as file:
            json.dump(put(profile, place, wrong), file)
        for r, reader in enumerate(READERS):
            if one_of > 1 and (number // one_of + r) % 3:
                continue
            if os.path.exists(out):
                os.remove(out)
            try:
                why = ask(reader, bad, wrong, out)
            except (UnicodeDecodeError, ValueError, subprocess.TimeoutExpired) as error:
                why = f"{reader}: {error!r}"[:300]
            asked += 1
            if why:
                failed += 1
                print(f"FAIL {'.'.join(map(str, place))} as {wrong!r}: {why}"[:500], flush=True)
print(f"{'FAIL' if failed else 'ok'} confused_types: {asked} readings, {failed} of them wrong")
sys.exit(failed > 0)
