#!/bin/sh
# Makes chroprof.h of its parts in src/header, in the order of src/header/all.h.
#   sh src/join.sh              writes chroprof.h
#   sh src/join.sh --check      is it what they give? If not, names the part to edit
#   sh src/join.sh --where LINE the part and the line that a line of chroprof.h comes from
#   sh src/join.sh --map        the same of all its lines, one a line
#   sh src/join.sh --lines      how many lines of chroprof.h each part gives
# A part is joined without its first paragraph, which includes what it relies on, and without lines
# that end in a comment "part alone". Before that the bytes of the smallest block are written into
# the interface, as a compiler tells them; the implementation does not compile with others.
cd "$(dirname "$0")/.." || exit 1

# What is joined; places=1: where each line comes from instead.
join() {
    awk -v places="${1:-}" '
    function show(path, number, line) {
        if (places) print path ":" number
        else print line
    }
    function refuse(place, why) {
        print "join: " place ": " why >"/dev/stderr"
        exit bad = 1
    }
    function join_part(path,    number, inside, line, got) {
        for (number = 1; (got = (getline line <path)) > 0; number++) {
            if (line ~ /\r$/) refuse(path ":" number, "ends in a carriage return; save it with LF")
            if (inside && line !~ /\/\* part alone \*\/$/) show(path, number, line)
            if (line == "") inside = 1
        }
        close(path)
        if (got < 0) refuse(FILENAME ":" FNR, "cannot read " path)
        if (!inside) refuse(path ":" number, "no empty line behind what it includes")
    }
    /\r$/ { refuse(FILENAME ":" FNR, "ends in a carriage return; save it with LF") }
    !body { body = $0 == ""; next }
    /^#include "/ { split($0, word, "\""); join_part("src/header/" word[2]); next }
    { show(FILENAME, FNR, $0) }
    END { if (!bad && !body) refuse("src/header/all.h", "cannot be read, or has no empty line") }
    ' src/header/all.h
}

# Writes CHROPROF_MEMORY_MIN. Without a compiler, or if the part has errors, it stays as it is.
write_least() {
    life=src/header/interface/life.h
    cat >"$made.c" <<EOF
#define CHROPROF_IMPLEMENTATION
#include "$PWD/src/header/block/layout.h"
int main(void) { return printf("%lu", (unsigned long)CHROPROF__LEAST_BYTES) < 0; }
EOF
    ${CC:-cc} -w -o "$made.exe" "$made.c" 2>/dev/null && least=$("$made.exe") || return 0
    sed "s/^\(#define CHROPROF_MEMORY_MIN\) .*/\1 $least/" "$life" >"$made"
    cmp -s "$made" "$life" || cat "$made" >"$life"
}

made=$(mktemp) || exit 1
trap 'rm -f "$made" "$made.map" "$made.c" "$made.exe"' EXIT
case ${1:-} in
'')
    write_least
    join >"$made" || exit 1
    cmp -s "$made" chroprof.h || cat "$made" >chroprof.h ;;
--check)
    join >"$made" || exit 1
    cmp -s "$made" chroprof.h && exit 0
    join 1 >"$made.map"
    line=$(awk 'FNR == NR { made[FNR] = $0; next } !(FNR in made) || made[FNR] != $0 { exit }
                END { print FNR }' "$made" chroprof.h)
    place=$(sed -n "${line}p" "$made.map")
    [ -s chroprof.h ] || { echo "chroprof.h is missing or empty: sh src/join.sh"; exit 1; }
    echo "chroprof.h:$line: not what its parts give; edit ${place:-src/header/all.h}, then sh src/join.sh"
    exit 1 ;;
--where)
    join 1 >"$made" || exit 1
    place=$(awk -v n="${2:-}" 'FNR == n' "$made")
    [ -n "$place" ] || { echo "join: chroprof.h has lines 1 to $(wc -l <"$made")" >&2; exit 2; }
    echo "$place" ;;
--map) join 1 ;;
--lines) join 1 | sed 's/:.*//' | uniq -c ;;
*) sed -n '2,10s/^# //p' src/join.sh >&2; exit 2 ;;
esac
