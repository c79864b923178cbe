"""What the example tests share: reading a profile's JSON and checking its laws.

A test is called as  NAME.py JSON STDERRFILE  and fails by an AssertionError (a message, code 1).
"""
import json
import os
import re
import subprocess
import tempfile


def load(path):
    """The profile in a JSON file; fails if it is not of the schema that the tests know."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    assert profile.get("chroprof") == 3, f"{path}: not a chroprof profile of schema 3"
    return profile


def laws(profile):
    """Both conservation laws, and what follows from them for sites, paths and calls."""
    totals, sites, paths = profile["totals"], profile["sites"], profile["paths"]
    same("elapsed = busy + idle + loop", totals["elapsed_ns"],
         totals["busy_ns"] + totals["idle_ns"] + totals["uninstrumented_ns"])
    same("busy = exec of all sites + untracked", totals["busy_ns"],
         sum(site["exec_ns"] for site in sites) + totals["untracked_ns"])
    same("exec of all sites = exec of all paths", sum(site["exec_ns"] for site in sites),
         sum(path["exec_ns"] for path in paths))
    same("blame = delay, in ticks", totals["blame_ticks"], totals["delay_ticks"])
    near("blame = delay, in ns", totals["blame_ns"], totals["delay_ns"], len(paths) + 3)
    near("blame = sum of its parts", totals["blame_ns"],
         sum(site["blame_ns"] for site in sites) + totals["idle_blame_ns"]
         + totals["uninstrumented_blame_ns"] + totals["untracked_blame_ns"], len(paths) + 3)
    same("anomalies = sum of their kinds", totals["anomalies"],
         sum(row["count"] for row in profile["anomalies"]))
    for row in sites + paths:
        same(f"calls of {row['name']!r} = finished + abandoned + dropped + live", row["calls"],
             row["completed"] + row["failed"] + row["cancelled"] + row["abandoned"]
             + row["dropped"] + row["live"])


def first_by(profile, key):
    """The name of the site with the largest `key`; there must be one, and it must be above 0."""
    assert profile["sites"], "the profile has no sites"
    best = max(profile["sites"], key=lambda site: site[key])
    assert best[key] > 0, f"no site has any {key}"
    return best["name"]


def anomalies(profile):
    """The kinds of anomaly that were seen, with their counts."""
    return {row["kind"]: row["count"] for row in profile["anomalies"] if row["count"] > 0}


def idle_agrees(profile, measured, cpu, preempted):
    """The profile's idle lies within 5 % of what was measured inside of it. If the program lost the
    processor more than twice, what others took of it may lie between the two: all that was
    neither measured nor CPU time."""
    idle = profile["totals"]["idle_ns"]
    taken = max(profile["totals"]["elapsed_ns"] - measured - cpu, 0) if preempted > 2 else 0
    told = f"idle: {idle}, measured {measured}, taken {taken}, preempted {preempted} times"
    assert measured > 0, "the measure saw no idle"
    assert 0.95 * measured <= idle <= 1.05 * measured + taken, told


def idle_close(profile, stderr_path):
    """Its idle agrees with the line `independent idle: NS` of stderr; beside that lies what
    timed.py wrote."""
    with open(stderr_path, encoding="utf-8", errors="replace") as file:
        found = re.findall(r"^independent idle: (\d+)$", file.read(), re.M)
    assert len(found) == 1, f"{len(found)} lines `independent idle: NS` in {stderr_path}, not one"
    with open(os.path.splitext(stderr_path)[0] + ".times", encoding="ascii") as file:
        idle_agrees(profile, int(found[0]), *map(int, file.read().split()))


def site(profile, name):
    """The one site of this name."""
    found = [row for row in profile["sites"] if row["name"] == name]
    assert len(found) == 1, f"{len(found)} sites are called {name!r}, not one"
    return found[0]


def path(profile, *names):
    """The one path whose chain of site names from the root is `names`."""
    chains, found = {}, []
    for row in profile["paths"]:
        chains[row["id"]] = chains.get(row["parent"], ()) + (row["name"],)
        if chains[row["id"]] == names:
            found.append(row)
    assert len(found) == 1, f"{len(found)} paths {' > '.join(names)}, not one"
    return found[0]


def same(what, left, right):
    """Two figures are equal."""
    assert left == right, f"{what}: {left} is not {right}"


def near(what, left, right, slack):
    """Two figures are at most `slack` apart."""
    assert abs(left - right) <= slack, f"{what}: {left} and {right} are more than {slack} apart"


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long long waited[2];   /* of the first thread, of the others */
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void add(long long ns) { waited[gettid() != getpid()] += ns; }
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    long long start = now();
    int result = real(fds, count, timeout);
    add(now() - start);
    return result;
}
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    int (*real)(int, struct epoll_event *, int, int) = dlsym(RTLD_NEXT, "epoll_wait");
    long long start = now();
    int result = real(fd, events, count, timeout);
    add(now() - start);
    return result;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *) =
        dlsym(RTLD_NEXT, "clock_nanosleep");
    long long start = now();
    int result = real(clock, flags, time, left);
    add(now() - start);
    return result;
}
long syscall(long number, ...)
{
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall"), a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    long long start = now();
    long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_epoll_pwait)
        add(now() - start);
    return result;
}
__attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }
__attribute__((destructor)) static void end(void)
{
    struct timespec cpu;
    struct rusage used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    getrusage(RUSAGE_SELF, &used);
    fprintf(stderr, "measured idle: %lld %lld, cpu %lld, preempted %ld\n", waited[0], waited[1],
            cpu.tv_sec * 1000000000LL + cpu.tv_nsec, used.ru_nivcsw);
}
"""


def run_measured(path, meanwhile=None):
    """Runs the example of this JSON again, its poll(2), epoll_wait(2), clock_nanosleep(2) and
    syscall(2) replaced by ones that measure: what it wrote as JSON, ns of the first thread, ns of
    the others, ns of CPU time, how often it lost the processor. While it runs, meanwhile(its
    stderr, a path) is called."""
    program = os.path.abspath(path[:-len(".json")])
    with tempfile.TemporaryDirectory() as folder:
        shim, again, err = (os.path.join(folder, name) for name in ("shim.so", "json", "err"))
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim, "-ldl"],
                       input=SHIM.encode(), check=True)
        with open(err, "wb") as file:
            run = subprocess.Popen([program, "--json", again], stdout=subprocess.DEVNULL,
                                   stderr=file, env=dict(os.environ, LD_PRELOAD=shim))
        try:
            if meanwhile:
                meanwhile(err)
            status = run.wait(timeout=120)
        finally:
            run.kill()
        with open(err, encoding="utf-8", errors="replace") as file:
            text = file.read()
        assert status == 0, f"it ended with {status}: {text}"
        found = re.findall(r"^measured idle: (\d+) (\d+), cpu (\d+), preempted (\d+)$", text, re.M)
        assert len(found) == 1, text
        with open(again, encoding="utf-8") as file:
            return json.load(file), *map(int, found[0])


def idle_measured(path, meanwhile=None):
    """The profile of such a run, of a program whose loop is in its first thread; its idle agrees
    with the measure."""
    profile, measured, _, cpu, preempted = run_measured(path, meanwhile)
    idle_agrees(profile, measured, cpu, preempted)
    return profile
