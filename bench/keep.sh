#!/bin/sh
# Runs one part of the bench, shows what it says, and keeps it for bench/tables.py.
#   bench/keep.sh NAME COMMAND...      build/bench_kept/NAME.txt; its first line tells what was run on
# What fails leaves what was kept before.
here=$(cd "$(dirname "$0")" && pwd)
kept=${B:-build}/bench_kept
name=$1
shift
mkdir -p "$kept" || exit 1

# date | commit ("+": changed since) | compiler | machine
stamp() {
    commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo 'no commit')
    git -C "$here" diff --quiet HEAD -- ../chroprof.h . 2>/dev/null || commit="$commit+"
    compiler=gcc
    ${CC:-cc} --version 2>/dev/null | grep -q clang && compiler=clang
    compiler="$compiler $(${CC:-cc} -dumpfullversion -dumpversion 2>/dev/null | head -n 1) -O2"
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
    echo "$(date -u +%Y-%m-%d) | $commit | $compiler | ${model:-$(uname -m)}, $(uname -s)"
}

part=$kept/$name.part
stamp >"$part"
{ "$@"; echo $? >"$kept/$name.status"; } | tee -a "$part"
status=$(cat "$kept/$name.status")
rm -f "$kept/$name.status"
if [ "$status" = 0 ]; then
    mv "$part" "$kept/$name.txt"
    [ ! -e "$kept/$name.json.part" ] || mv "$kept/$name.json.part" "$kept/$name.json"
fi
exit "$status"
