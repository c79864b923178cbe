#!/usr/bin/env python3
"""What big profiles cost the command: CPU time (user and system) and peak memory.

    python3 bench/big.py CHROPROF BIG [ROUNDS]      BIG: bench/big.c, built

100,000 paths in a block of 44 MB with 20,000 live futures: as text, as a page, as JSON, checked; and
1,000 profiles of 1 MB with 141 paths each, merged. Medians of the rounds.
"""
import os
import statistics
import subprocess
import sys
import tempfile

MERGED = 1000


def spent(command):
    """CPU seconds and peak MiB of the command."""
    with open(os.devnull, "w") as nothing:
        child = subprocess.Popen(command, stdout=nothing, stderr=nothing)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit("big.py: %s: exit code %d" % (" ".join(command), child.returncode))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    chroprof, big = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 5
    with tempfile.TemporaryDirectory() as folder:
        block, names = folder + "/big.chroprof", folder + "/names"
        print(subprocess.run([big, block, "100000", "44", "20000"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout, end="")
        with open(names, "w") as list_of_names:
            for k in range(MERGED):
                one = "%s/%d.chroprof" % (folder, k)
                subprocess.run([big, one, "100", "1", "50"], check=True, stdout=subprocess.DEVNULL)
                print(one, file=list_of_names)
        print("%-28s %9s %9s" % ("command", "CPU s", "peak MiB"))
        for name, words in (
                ("dump", ["dump", block]),
                ("dump --format json", ["dump", "--format", "json", block]),
                ("check", ["check", block]),
                ("report -o", ["report", block, "-o", folder + "/page.html"]),
                ("merge of 1,000", ["merge", "@" + names, "-o", folder + "/all.chroprof"])):
            figures = [spent([chroprof] + words) for _ in range(rounds)]
            print("%-28s %9.2f %9.0f" % (name, statistics.median(f[0] for f in figures),
                                         statistics.median(f[1] for f in figures)), flush=True)
        print("page: %.1f MB" % (os.path.getsize(folder + "/page.html") / 1e6))


main()
