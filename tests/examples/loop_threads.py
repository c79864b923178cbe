"""Two profiles in one file: resize in the back is first of both loops; both add up on their own."""
import json
import os
import re
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
#include <unistd.h>
static long long waited[2];   /* of the first thread, of the other one */
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
    waited[gettid() != getpid()] += now() - begin;
    return result;
}
__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "independent idle: %lld %lld\n", waited[0], waited[1]);
}
"""


def load(path):
    """Both profiles of a file."""
    with open(path, encoding="utf-8") as file:
        profiles = json.load(file)
    assert [profile["chroprof"] for profile in profiles] == [1, 1]
    assert [profile["name"] for profile in profiles] == ["front", "back"]
    return profiles


def again(program, folder):
    """Another run of the program with a poll(2) that measures: its profiles, and two measures."""
    shim, path = os.path.join(folder, "shim.so"), os.path.join(folder, "json")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim, "-ldl"],
                   input=SHIM.encode(), check=True)
    run = subprocess.run([program, "--json", path], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=shim),
                         timeout=30, check=True)
    found = re.findall(rb"^independent idle: (\d+) (\d+)$", run.stderr, re.M)
    assert len(found) == 1, run.stderr
    return load(path), [int(ns) for ns in found[0]]


def check(profiles):
    """What holds of every run."""
    for profile in profiles:
        common.laws(profile)
        assert common.anomalies(profile) == {}
        assert profile["totals"]["untracked_ns"] == 0
        assert profile["totals"]["delay_ns"] == 0, "nobody tells what is ready"
    front, back = profiles
    both = {"sites": front["sites"] + back["sites"]}
    assert common.first_by(both, "exec_ns") == "resize", "of both loops"
    assert common.site(back, "resize")["slice_max_ns"] >= 15_000_000, "16 ms of processor time"
    assert common.site(back, "resize")["exec_ns"] > 0.6 * back["totals"]["busy_ns"]
    assert (common.site(back, "resize")["slices"], common.site(back, "store")["slices"]) == (12, 84)
    assert common.site(front, "answer")["slices"] == 96, "an answer for each request"
    assert common.site(front, "answer")["calls"] == 2, "one future for each kind of request"
    # request, barrier, request, barrier, answer: the same future twice on the stack.
    depth = {row["name"]: row["peak"] for row in front["tables"]}["depth"]
    assert depth == 5, f"the running stack of the front was {depth} deep"


check(load(sys.argv[1]))
with tempfile.TemporaryDirectory() as scratch:
    measured, waited_ns = again(os.path.abspath(sys.argv[1][:-len(".json")]), scratch)
    check(measured)
    for row, ns in zip(measured, waited_ns):
        common.near(f"idle of {row['name']}", row["totals"]["idle_ns"], ns, 0.05 * ns)
