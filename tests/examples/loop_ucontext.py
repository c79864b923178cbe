"""thumbnail never yields; idle is what a poll(2) put in front of the real one has measured."""
import os
import subprocess
import sys
import tempfile

import common

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
static long long waited;
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    long long begin = now();
    int result = real(fds, count, timeout);
    waited += now() - begin;
    return result;
}
__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "independent idle: %lld\n", waited);
}
"""


def again(program, folder):
    """Another run of the program, with a poll(2) that measures: its profile, and the measure."""
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
    for measure in ("exec_ns", "blame_ns"):
        assert common.first_by(profile, measure) == "thumbnail", f"by {measure}"
    thumbnail, page, client = (
        common.site(profile, name) for name in ("thumbnail", "page", "client"))
    assert thumbnail["exec_ns"] > 0.6 * profile["totals"]["busy_ns"]
    assert (thumbnail["completed"], page["completed"], client["completed"]) == (32, 224, 4)
    assert thumbnail["slices"] == 32 and page["slices"] == 224, "they run through in one stay"
    # A stay to begin with, then for each page one after the tick and one after its rendering.
    assert client["slices"] == 4 * (1 + 2 * 64)
    assert all(row["abandoned"] == 0 for row in profile["sites"]), "reused too early"
    used = {row["name"]: row for row in profile["tables"]}["futures"]
    assert used["peak"] <= 8, "at most four clients with a page each: ids are reused"
    assert common.path(profile, "client", "thumbnail")["calls"] == 32


check(common.load(sys.argv[1]))
with tempfile.TemporaryDirectory() as scratch:
    measured, stderr = again(os.path.abspath(sys.argv[1][:-len(".json")]), scratch)
    check(measured)
    common.idle_close(measured, stderr)
