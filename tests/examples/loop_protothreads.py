"""flash makes the others miss their time, and the profile that shows it fits into 8 KiB."""
import os
import re
import subprocess
import sys
import tempfile

import common

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
static long long waited;
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *) =
        dlsym(RTLD_NEXT, "clock_nanosleep");
    long long begin = now();
    int result = real(clock, flags, time, left);
    waited += now() - begin;
    return result;
}
__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "independent idle: %lld\n", waited);
}
"""


def again(program, folder):
    """Another run of the program, with a wait that measures: its profile, and the measure."""
    shim, json, err = (os.path.join(folder, name) for name in ("shim.so", "json", "err"))
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim, "-ldl"],
                   input=SHIM.encode(), check=True)
    with open(err, "wb") as file:
        subprocess.run([program, "--json", json], stdout=subprocess.DEVNULL, stderr=file,
                       env=dict(os.environ, LD_PRELOAD=shim), timeout=30, check=True)
    return common.load(json), err


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    totals = profile["totals"]
    assert totals["untracked_ns"] == 0
    assert totals["delay_ns"] == totals["delay_ticks"], "a tick of the board's clock is 1 ns"
    control, display, flash = (
        common.site(profile, name) for name in ("control", "display", "flash"))
    assert common.first_by(profile, "blame_ns") == "flash", "who makes the others late"
    assert flash["slice_max_ns"] >= 60_000_000, "the erasure is one slice"
    # While a sector is erased, display (2 ms) and control (5 ms) come due and wait from then on.
    assert flash["blame_ns"] > 5 * (58_000_000 + 55_000_000)
    # 1.6 s of 2 ms, 5 ms and (290 + 10) ms; what is due at the very end may not run any more.
    assert 700 <= display["slices"] <= 801 and 280 <= control["slices"] <= 321
    assert flash["slices"] == 11, "to begin with, and twice a sector"
    assert {row["live"] for row in profile["sites"]} == {1}, "they run for ever"
    assert not any(row["has_percentiles"] for row in profile["sites"])
    tables = {row["name"]: row for row in profile["tables"]}
    assert sum(row["bytes"] for row in tables.values()) < 8192
    full = [name for name, row in tables.items() if row["dropped"] > 0]
    assert full in ([], ["histograms"]), full


check(common.load(sys.argv[1]))
program = os.path.abspath(sys.argv[1][:-len(".json")])
with tempfile.TemporaryDirectory() as scratch:
    measured, stderr = again(program, scratch)
    check(measured)
    common.idle_close(measured, stderr)
listing = subprocess.run(["nm", "-u", program], stdout=subprocess.PIPE, check=True, text=True)
found = re.findall(r"\w*(?:printf|puts|fwrite|fopen|malloc)\w*", listing.stdout)
assert found == [], f"neither stdio nor heap: {found}"
