"""What examples/adapters/chroprof_asyncio.py promises, and which libraries it refuses.

    CHROPROF_LIBRARY=... python3 tests/bindings.py DIRECTORY     (tests/bindings.sh calls it)

Prints "ok NAME" or "FAIL NAME: why" each, at last "done"."""
import asyncio
import ctypes
import gc
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/adapters"))
import chroprof_asyncio as binding

DIRECTORY, LIBRARY = sys.argv[1], os.environ["CHROPROF_LIBRARY"]


def check(name, holds, why=""):
    print(f"ok binding_{name}" if holds else f"FAIL binding_{name}: {why!r}", flush=True)


def refused(name, word):
    path = os.path.join(DIRECTORY, name)
    try:
        binding.Profile(path)
        check(f"refuses_{name}", False, "it was taken")
    except (binding.Mismatch, OSError) as error:
        check(f"refuses_{name}", word in str(error), str(error))


def sites(profile):
    found = json.loads(profile.text(binding.JSON))
    return {site["name"]: site for site in found["sites"]}, {
        row["kind"]: row["count"] for row in found["anomalies"] if row["count"]}


def sizes():
    """What ctypes says of its structs is what the compiler says, and no other name is known."""
    library = binding.load(LIBRARY)
    for name, struct in binding.STRUCTS.items():
        size = library.chroprof_sizeof(name.encode())
        check(f"size_of_{name}", size == ctypes.sizeof(struct), size)
    for name in b"", b"chroprof_", b"chroprof_rank ", b"Chroprof", None:
        check(f"size_of_{name}", library.chroprof_sizeof(name) == 0)


async def walk(turns):
    for _ in range(turns):
        await asyncio.sleep(0)


def attaches_late():
    """Tasks that are older than the profile are adopted at their next step, others are not."""
    loop = binding.Loop()
    asyncio.set_event_loop(loop)
    old = loop.create_task(walk(10), name="old")
    loop.run_until_complete(walk(2))
    loop.profile = profile = binding.Profile(LIBRARY)
    loop.run_until_complete(walk(3))
    loop.run_until_complete(old)
    found, anomalies = sites(profile)
    check("attaches_late", found["walk"]["calls"] == found["walk"]["completed"] == 2 and
          found["walk"]["live"] == 0 and anomalies == {"adopted": 1}, (found, anomalies))
    # a profile that is switched off hears nothing more
    loop.profile = None
    loop.run_until_complete(walk(3))
    check("switched_off", sites(profile)[0]["walk"]["calls"] == 2)
    profile.close()
    loop.close()


def finishes():
    """Each way to end, and the ranks as rows of a struct."""
    profile = binding.Profile(LIBRARY, name="ends")

    async def fine():
        return 1

    async def fails():
        raise ValueError

    async def main():
        loop = asyncio.get_running_loop()
        await asyncio.gather(fine(), fails(), return_exceptions=True)
        task = loop.create_task(asyncio.sleep(100))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    binding.run(main(), profile)
    rows = {row.name.decode().rpartition(".")[2]: row for row in profile.rows()}
    check("finishes", (rows["fine"].completed, rows["fails"].failed, rows["sleep"].cancelled) ==
          (1, 1, 1), list(rows))
    found, anomalies = sites(profile)
    fields = "line", "slices", "calls", "completed", "failed", "cancelled", "live", "id"
    for name in "fine", "fails", "sleep":                  # times are not final in the first 90 ms
        row = rows[name]
        differ = [field for field in fields
                  if getattr(row, field) != found[row.name.decode()][field]]
        check(f"rows_{name}", row.exec_ns > 0 and differ == [], differ)
    check("no_anomalies", anomalies == {}, anomalies)
    profile.close()


def collects():
    """A task that nobody holds ends as cancelled; the collector's work is a task of its own."""
    profile = binding.Profile(LIBRARY)
    loop = binding.Loop(profile)
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(lambda *_: None)

    async def forgotten():
        await loop.create_future()

    async def main():
        for _ in range(5):
            loop.create_task(forgotten())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        before = sites(profile)[0]["collects.<locals>.forgotten"]["live"]
        for collect in gc.collect, lambda: thread(gc.collect):
            collect()
        await asyncio.sleep(0.01)
        return before

    before = loop.run_until_complete(main())
    found, anomalies = sites(profile)
    gone = found["collects.<locals>.forgotten"]
    check("finalizers", (before, gone["live"], gone["cancelled"]) == (5, 0, 5), (before, gone))
    check("collector", found["(garbage collection)"]["calls"] >= 1 and anomalies == {},
          (found.keys(), anomalies))
    profile.close()
    loop.close()


def thread(work):
    other = threading.Thread(target=work)
    other.start()
    other.join()


def strings():
    """Names of any kind, temporary ones, and equal ones."""
    profile = binding.Profile(LIBRARY)
    made = [profile.site_make(bytes(f"site {n % 3}", "ascii"), b"f.py", 1) for n in range(9)]
    check("equal_sites", len(set(made)) == 3 and made[:3] == made[3:6] == made[6:])
    for name in "ünïcode ✓", "a" * 5000, "\udcff", "":
        site = profile.site(name, "", 0)
        profile.stillborn(site, binding.COMPLETED)
    found, anomalies = sites(profile)
    check("strings", "ünïcode ✓" in found and
          len(set(found) - {"(garbage collection)"}) == 4 and anomalies == {}, found.keys())
    profile.close()


def files():
    """A profile in a file, which another process can read."""
    path = os.path.join(DIRECTORY, "python.chroprof")
    profile = binding.Profile(LIBRARY, file=path)
    binding.run(walk(3), profile)
    profile.close()
    with open(path, "rb") as block:
        check("file", b"CHRPROF1" in block.read(128))
    try:
        binding.Profile(LIBRARY, file=DIRECTORY)
        check("file_refused", False, "it was taken")
    except OSError as error:
        check("file_refused", str(error) != "", str(error))


refused("larger.so", "chroprof_rank has")
refused("newer.so", "is chroprof 99.")
refused("older.so", "before 0.3.0")
refused("missing.so", "missing.so")
sizes()
attaches_late()
finishes()
collects()
strings()
files()
print("done")
