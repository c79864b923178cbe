"""on_line takes the time; idle is what a poll(2) put in front of the real one has measured."""
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
#include <stdlib.h>
#include <time.h>
static long long idle;
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    long long start = now();
    int result = real(fds, count, timeout);
    idle += now() - start;
    return result;
}
__attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }
__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "independent idle: %lld\n", idle);
}
"""


def measured(program, folder):
    """Runs the program again with the measuring poll; its profile and the file with the measure."""
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
    assert common.first_by(profile, "exec_ns") == "on_line"
    assert common.first_by(profile, "slice_max_ns") == "on_line"
    assert common.site(profile, "on_line")["calls"] == 10, "nine lines and the end of the file"
    assert common.site(profile, "on_timer")["calls"] > 10


check(common.load(sys.argv[1]))
with tempfile.TemporaryDirectory() as scratch:
    again, stderr = measured(os.path.abspath(sys.argv[1][:-len(".json")]), scratch)
    check(again)
    common.idle_close(again, stderr)
