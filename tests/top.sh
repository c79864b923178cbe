#!/bin/sh
# chroprof top, as a user at a terminal sees it (tests/top.py has the cases).
#   sh tests/top.sh [COMMAND [CASES...]]      default build/chroprof
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
command=${1:-build/chroprof}
[ $# -eq 0 ] || shift
case $command in /*) ;; *) command=$PWD/$command ;; esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# the python that the system's packages are for may not be the first one
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import pyte' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "skip top: needs python3 with pyte (package python3-pyte)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if ! "$python" -c 'import os; os.openpty()' 2>/dev/null; then
    echo "skip top: no pseudo-terminals here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if ! $CC -O1 -Wall -Wextra -o "$scratch/watched" tests/watched.c 2>"$scratch/log"; then
    echo "FAIL watched: $(head -n 1 "$scratch/log")"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
"$python" -B tests/top.py "$command" "$scratch/watched" "$scratch" "$@"
