#!/bin/sh
# Runs a check, shows what it prints, and keeps what came of it for matrix_table.py.
#   sh tests/record.sh NAME PATTERN COMMAND...
# build/checks.tsv gets one row a NAME: the state of the sources (+: with changes), the day, the exit
# status, the lines that fit PATTERN (grep), joined, the processor and the seconds. The exit status is
# the command's. Interrupted, it ends the command and keeps the row of the last run.
B=${B:-build}
name=$1 pattern=$2
shift 2
mkdir -p "$B"
kept=$B/check-$name
began=$(date +%s)
rm -f "$kept.pipe"
mkfifo "$kept.pipe" || exit 1
tee "$kept.log" <"$kept.pipe" &
shown=$!
"$@" >"$kept.pipe" 2>&1 &
child=$!
trap 'trap "" HUP INT TERM; kill -TERM $child 2>/dev/null; wait; rm -f "$kept.pipe"; exit 130' HUP INT TERM
wait $child
status=$?
wait $shown
rm -f "$kept.pipe"
result=$(grep -a -e "$pattern" "$kept.log" | tail -n 4 | tr '\t' ' ' |
    awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }')
commit=$(git rev-parse --short HEAD 2>/dev/null || echo -)
[ -z "$(git status --porcelain -- '*.h' '*.c' '*.py' '*.sh' Makefile 2>/dev/null)" ] ||
    commit=$commit+
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | sort | uniq -c | head -n 1 |
    awk '{ n = $1; $1 = ""; sub(/^ */, ""); print n " x " $0 }')
touch "$B/checks.tsv"
{
    awk -F'\t' -v name="$name" '$1 != name' "$B/checks.tsv"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$commit" "$(date -u +%Y-%m-%d)" "$status" "$result" \
        "${processor:-$(uname -m)}" $(($(date +%s) - began))
} >"$kept.tsv"
mv "$kept.tsv" "$B/checks.tsv"
exit "$status"
