#!/bin/sh
# Runs a check, shows what it prints, and keeps what came of it for matrix_table.py.
#   sh tests/record.sh NAME PATTERN COMMAND...
# build/checks.tsv gets one row a NAME: the state of the sources (+: with changes), the day, the exit
# status, and the lines that fit PATTERN (grep), joined; the exit status is the command's.
B=${B:-build}
name=$1 pattern=$2
shift 2
mkdir -p "$B"
kept=$B/check-$name
echo 1 >"$kept.status"          # if it is killed
{ "$@"; echo $? >"$kept.status"; } 2>&1 | tee "$kept.log"
status=$(cat "$kept.status")
result=$(grep -a -e "$pattern" "$kept.log" | tail -n 4 | tr '\t' ' ' |
    awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }')
commit=$(git rev-parse --short HEAD 2>/dev/null || echo -)
[ -z "$(git status --porcelain -- '*.h' '*.c' '*.py' '*.sh' Makefile 2>/dev/null)" ] ||
    commit=$commit+
touch "$B/checks.tsv"
{
    awk -F'\t' -v name="$name" '$1 != name' "$B/checks.tsv"
    printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$commit" "$(date -u +%Y-%m-%d)" "$status" "$result"
} >"$kept.tsv"
mv "$kept.tsv" "$B/checks.tsv"
rm -f "$kept.status"
exit "$status"
