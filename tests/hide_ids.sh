#!/bin/sh
# --hide-ids: of futures with ids that are easily known again none is told, in any format.
#   sh tests/hide_ids.sh [COMMAND]        default build/chroprof
# Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
program=
trap 'exec 3>&-; [ -z "$program" ] || kill $program 2>/dev/null; wait; rm -rf "$scratch"' EXIT

ids="0xc0ffee11deadbeef 0xfeedface8badf00d 0x0123456789abcdef 0xdecafbaddecafbad 0x7f3a5c001e2d4b60"

$CC -O1 -o "$scratch/hidden" tests/hidden.c "$implementation" 2>"$scratch/err" ||
    { fail builds "$(head -n 1 "$scratch/err")"; finish; }

# What a file tells of the ids: as text, in bytes, in the steps of JSON. Prints their number.
cat >"$scratch/told.py" <<'END'
import base64
import re
import sys
ids = [int(word, 16) for word in sys.argv[2:]]
data = open(sys.argv[1], "rb").read()

def numbers(packed):
    value = shift = 0
    for byte in base64.b64decode(packed):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0

def steps(packed):
    each, last = numbers(packed), 0
    for head in each:
        next(each), next(each)
        if head & 16:
            less = next(each)
            last = (last + (less >> 1 ^ -(less & 1))) % 2**64
            yield last

told, small = 0, 0
for i in ids:
    words = [b"%d" % i, b"%x" % i, b"%X" % i, i.to_bytes(8, "little"), i.to_bytes(8, "big")]
    told += any(word in data for word in words)
for packed in re.findall(rb'"data":"([A-Za-z0-9+/=]*)"', data):
    met = set(steps(packed))
    told += len(met & set(ids))
    small += any(0 < i < 100 for i in met)
print(told, small)
END

# holds NAME COMMAND...: with the ids something tells them or (by WANT=0) nothing, without nothing
holds() {
    name=$1
    shift
    rm -f "$scratch/plain" "$scratch/shut"
    "$command" "$@" -o "$scratch/plain" >"$scratch/err" 2>&1 || fail "$name" "$(head -n 1 "$scratch/err")"
    "$command" "$@" --hide-ids -o "$scratch/shut" >"$scratch/err" 2>&1 ||
        fail "$name" "$(head -n 1 "$scratch/err")"
    plain=$(python3 "$scratch/told.py" "$scratch/plain" $ids | cut -d' ' -f1)
    shut=$(python3 "$scratch/told.py" "$scratch/shut" $ids)
    case $plain in
    0) [ "${WANT:-1}" = 0 ] || fail "$name" "the ids are not there to be hidden" ;;
    esac
    if [ ! -s "$scratch/shut" ]; then fail "$name" "nothing was written"
    elif [ "${shut% *}" != 0 ]; then fail "$name" "$shut ids are told"
    else ok "$name"; fi
}

mkfifo "$scratch/hold"
"$scratch/hidden" "$scratch/p.chroprof" $ids <"$scratch/hold" >"$scratch/said" 2>"$scratch/err" &
program=$!
exec 3>"$scratch/hold"
tries=0
while ! grep -q ready "$scratch/said"; do
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || { fail starts "$(head -n 1 "$scratch/err")"; finish; }
    sleep 0.05
done
WANT=1 holds of_a_process dump $program -f json
WANT=1 holds recorded record "$scratch/p.chroprof" --for 0.2
exec 3>&-
wait $program
program=

WANT=1 holds text dump "$scratch/p.chroprof" -f text
WANT=1 holds json dump "$scratch/p.chroprof" -f json
for format in folded prometheus pprof firefox; do
    WANT=0 holds "$format" dump "$scratch/p.chroprof" -f "$format"
done
WANT=1 holds trace dump "$scratch/p.chroprof" -f trace
WANT=1 holds trace_command trace "$scratch/p.chroprof"
WANT=0 holds trace_by_windows trace "$scratch/p.chroprof" --windows
WANT=1 holds page report "$scratch/p.chroprof"
WANT=1 holds two_on_a_page report "$scratch/p.chroprof" "$scratch/p.chroprof"
WANT=1 holds merged merge "$scratch/p.chroprof" "$scratch/p.chroprof"
WANT=1 holds merged_json merge "$scratch/p.chroprof" -f json

# the same number for the same id: live, in the ring, and among the slow ones
"$command" dump "$scratch/p.chroprof" --hide-ids -f json -o "$scratch/shut" 2>"$scratch/err"
if python3 - "$scratch/shut" >"$scratch/told" <<'END'
import json
import sys
doc = json.load(open(sys.argv[1]))
known = {row["id"] for row in doc["slowest"]} | {row["id"] for row in doc["futures"] if row["id"]}
assert known and all(0 < i <= 5 for i in known), known
END
then ok small_numbers; else fail small_numbers "$(cat "$scratch/told")"; fi

# JSON has its ids already
"$command" report "$scratch/shut" --hide-ids -o "$scratch/plain" >"$scratch/err" 2>&1
code=$?
if [ "$code" = 1 ] && grep -q "give --hide-ids to the dump" "$scratch/err"; then ok not_of_json
else fail not_of_json "exit code $code: $(head -n 1 "$scratch/err")"; fi
finish
