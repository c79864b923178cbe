#!/bin/sh
# chroprof top, as a user at a terminal sees it (tests/top.py has the cases).
#   sh tests/top.sh [COMMAND [CASES...]]      default build/chroprof
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
[ $# -eq 0 ] || shift
case $command in /*) ;; *) command=$PWD/$command ;; esac

# the python that the system's packages are for may not be the first one
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import pyte' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    skip top "needs python3 with pyte (package python3-pyte)"
    finish
fi
if ! "$python" -c 'import os; os.openpty()' 2>/dev/null; then
    skip top "no pseudo-terminals here"
    finish
fi
if ! $CC -O1 -Wall -Wextra -o "$scratch/watched" tests/watched.c "$implementation" 2>"$scratch/log"; then
    fail watched "$(head -n 1 "$scratch/log")"
    finish
fi
"$python" -B tests/top.py "$command" "$scratch/watched" "$scratch" "$@"
