#!/bin/sh
# chroprof record: what it keeps of a running program is replayed, and gives the program's figures.
#   sh tests/record_command.sh [COMMAND]        default build/chroprof
# Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
trap 'exec 3>&-; : >"$scratch/go"; kill $recorder 2>/dev/null; wait; rm -rf "$scratch"' EXIT
recorder=

# run ARGUMENTS...: standard output and error into files, the exit code into $code
run() { "$command" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?; }

# expect NAME CODE [TEXT]: the last run's exit code, and a text that its output or messages hold
expect() {
    if [ "$code" != "$2" ]; then
        fail "$1" "exit code $code, expected $2: $(head -n 1 "$scratch/err")"
    elif [ -n "${3-}" ] && ! grep -qF -e "$3" "$scratch/out" "$scratch/err"; then
        fail "$1" "'$3' not found in: $(head -n 3 "$scratch/err" "$scratch/out" | tr '\n' '|')"
    else
        ok "$1"
    fi
}

# until TEXT FILE: waits for a line
until_line() {
    tries=0
    while ! grep -q "$1" "$2" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || { fail "waits_for_$1" "not in $2 after 60 s"; finish; }
        sleep 0.05
    done
}

$CC -O1 -o "$scratch/recorded" tests/recorded.c "$implementation" 2>"$scratch/err" ||
    { fail builds "$(head -n 1 "$scratch/err")"; finish; }

# record_one EVENTS RING: a program's whole life in rec.events, what it said itself in own.json
record_one() {
    rm -f "$scratch"/p.chroprof* "$scratch/go" "$scratch/said" "$scratch/err"   # waited for below
    mkfifo "$scratch/hold" 2>/dev/null
    "$scratch/recorded" "$scratch/p.chroprof" "$1" "$2" "$scratch/go" \
        <"$scratch/hold" >"$scratch/said" &
    exec 3>"$scratch/hold"
    until_line ready "$scratch/said"
    "$command" record "$scratch/p.chroprof" --for 600 -o "$scratch/rec.events" \
        2>"$scratch/err" >"$scratch/out" &
    recorder=$!
    until_line recording "$scratch/err"
    : >"$scratch/go"
    until_line done "$scratch/said"
    kill -"${3:-INT}" $recorder
    wait $recorder; code=$?
    "$command" dump "$scratch/p.chroprof" -f json -o "$scratch/own.json" 2>"$scratch/err2"
    exec 3>&-
    wait
}

# a ring that holds all of them: nothing can be lost, however busy the machine is
record_one 20000 32768
expect records 0 "events in"
if grep -q overwritten "$scratch/err"; then
    fail loses_nothing "$(grep overwritten "$scratch/err")"
else ok loses_nothing; fi
cp "$scratch/rec.events" "$scratch/own.events"
record_one 2000 32768 TERM
expect records_until_terminated 0 "events in"
if grep -q ' tick 0$' "$scratch/rec.events"; then ok writes_when_terminated; else
    fail writes_when_terminated "$(tail -n 1 "$scratch/rec.events")"; fi
record_one 20000 32768
cp "$scratch/rec.events" "$scratch/own.events"
run replay --strict --stall 1s -f json -o "$scratch/replayed.json" "$scratch/rec.events"
expect replays 0
python3 - "$scratch/own.json" "$scratch/replayed.json" >"$scratch/told" 2>&1 <<'END'
import json
import sys

TOTALS = "elapsed_ns busy_ns idle_ns uninstrumented_ns untracked_ns delay_ns blame_ns live anomalies".split()
FIGURES = ("exec_ns with_children_ns slices slice_max_ns blame_ns delay_ns waiting_ns lifetime_ns calls live "
           "completed").split()

def figures(name):
    with open(name, encoding="utf-8") as file:
        profile = json.load(file)
    rows = {row["id"]: row for row in profile["paths"]}
    def chain(row):
        above = chain(rows[row["parent"]]) if row["parent"] in rows else ()
        return above + ((row["name"], row["file"], row["line"]),)
    paths = {chain(row): {key: row[key] for key in FIGURES} for row in rows.values()}
    born = sum(row["stillborn"] for row in rows.values())
    return {"stillborn": born, **{key: profile["totals"][key] for key in TOTALS}}, paths

(own, own_paths), (made, made_paths) = map(figures, sys.argv[1:])
assert own == made, (own, made)
assert own["elapsed_ns"] > 0 and own["delay_ns"] > 0 and own["idle_ns"] > 0 and len(own_paths) > 20
assert own["stillborn"] > 0
used = {chain: row for chain, row in own_paths.items() if any(row.values())}
for chain, row in used.items():
    assert made_paths.get(chain) == row, (chain, row, made_paths.get(chain))
assert sum(row["exec_ns"] for row in used.values()) == own["busy_ns"]
print(len(used), "paths are equal")
END
if [ $? = 0 ] && grep -q 'paths are equal' "$scratch/told"; then ok gives_the_programs_own_figures
else fail gives_the_programs_own_figures "$(tail -n 1 "$scratch/told" | cut -c1-300)"; fi

# ready_since leaves two steps
count_events() { awk '!/^#/ { n += 1 + ($2 == "ready_since") } END { print n + 0 }' "$1"; }

# --- a ring too small: what is lost is counted, its places are marked, and nothing is lost twice
record_one 20000 64
expect records_with_losses 0
read -r events sent <<END
$(count_events "$scratch/rec.events") $(count_events "$scratch/own.events")
END
lost=$(sed -n 's/^# \([0-9]*\) events were lost here$/\1/p' "$scratch/rec.events" |
    awk '{ sum += $1 } END { print sum + 0 }')
if [ "$lost" -gt 0 ] && grep -q "$lost more were overwritten" "$scratch/err"; then ok losses_are_counted
else fail losses_are_counted "$lost marked; $(tail -n 1 "$scratch/err")"; fi
# both begin with the same state and end in a tick: the program's random events are the same
if [ "$((events + lost))" = "$sent" ]; then ok every_event_is_kept_or_counted
else fail every_event_is_kept_or_counted "$events and $lost, of $sent"; fi
run replay "$scratch/rec.events"; expect a_stream_with_losses_replays 0

# --- after a quiet time, a million events a second: a look comes before the ring is full
if ! $CC -O1 -shared -fPIC -o "$scratch/paced.so" tests/paced.c 2>"$scratch/err"; then
    fail builds_paced "$(head -n 1 "$scratch/err")"
else
    # paced NAME ENVIRONMENT...: all that was sent is in the stream
    paced() {
        name=$1
        shift
        rm -f "$scratch/p.chroprof"
        env "$@" PACED="$scratch/p.chroprof" LD_PRELOAD="$scratch/paced.so" "$command" record \
            "$scratch/p.chroprof" --for 600 -o "$scratch/burst.events" 2>"$scratch/err" >"$scratch/out"
        code=$?
        sent=$("$command" dump "$scratch/p.chroprof" -f json 2>"$scratch/err2" |
            sed -n 's/.*"calls":\([0-9]*\).*/\1/p' | head -n 1)
        got=$(grep -c 'enter 0 task' "$scratch/burst.events")
        if [ "$code" = 0 ] && [ "$got" -ge 100000 ] && [ "$got" = "$sent" ]; then ok "$name"; else
            fail "$name" "$got of $sent calls, exit code $code; $(tail -n 1 "$scratch/err")"; fi
    }
    paced a_burst_is_whole
    paced what_it_sent_last_is_there PACED_ENDS=1
fi

# --- a program in the middle of its work: what lives when the stream begins and ends is known, and
# the time of each event is that of the program's own ring
rm -f "$scratch/p.chroprof" "$scratch/said"
"$scratch/recorded" "$scratch/p.chroprof" 0 262144 - busy <"$scratch/hold" >"$scratch/said" &
exec 3>"$scratch/hold"
until_line ready "$scratch/said"
for k in 1 2 3 4 5 6; do
    run record "$scratch/p.chroprof" --for 0.1 -o "$scratch/rec.$k.events"
    [ "$code" = 0 ] && ! grep -q overwritten "$scratch/err" || rm -f "$scratch/rec.$k.events"
done
# a file's name that would forge a line of the stream, and steer a terminal
odd=$(printf 'p\302\2332J\n9 enter 0 forged f 1')
ln "$scratch/p.chroprof" "$scratch/$odd"
run record "$scratch/$odd" --for 0.01 -o "$scratch/odd.events"
if [ "$code" = 0 ] && ! grep -q '^9 enter 0 forged' "$scratch/odd.events" &&
    sed 1q "$scratch/odd.events" | grep -qF '/p\u009b2J\x0a9 enter 0 forged f 1'
then ok a_name_forges_no_line; else fail a_name_forges_no_line "$(head -n 2 "$scratch/odd.events" "$scratch/err")"; fi
exec 3>&-
wait
run trace "$scratch/p.chroprof" -o "$scratch/own.trace"
for k in 1 2 3 4 5 6; do
    name=of_the_middle_$k
    if [ ! -e "$scratch/rec.$k.events" ]; then
        skipped=$((skipped + 1)); echo "skip $name: the machine is too busy, events were lost"
        continue
    fi
    run replay --strict -f json -o "$scratch/rec.json" "$scratch/rec.$k.events"
    if python3 - "$scratch/rec.json" "$scratch/rec.$k.events" "$scratch/own.trace" \
        >"$scratch/told" 2>&1 <<'END'
import json
import re
import sys
doc = json.load(open(sys.argv[1]))
assert doc["totals"]["anomalies"] == 0, [row for row in doc["anomalies"] if row["count"]]
assert sum(row["abandoned"] for row in doc["sites"]) == 0
assert not any(row["name"] == "(unknown)" for row in doc["sites"])
idle = {int(us) * 1000 + int(ns) for us, ns in re.findall(
    r'"ph":"B","pid":1,"tid":1,"ts":(\d+)\.(\d+),"name":"\(idle', open(sys.argv[3]).read())}
begin, end = min(idle), max(idle)
lines = open(sys.argv[2]).read().split(" reset 0\n")[1].splitlines()
told = [int(line.split()[0]) for line in lines if " idle_enter " in line]
assert told, "never idle"
other = [at for at in told if begin < at < end and at not in idle]
assert not other, other
END
    then ok "$name"; else fail "$name" "$(tail -n 1 "$scratch/told" | cut -c1-300)"; fi
done

# --- what takes a stream
run trace "$scratch/own.events" -o "$scratch/own.trace"; expect trace_takes_a_stream 0
run replay "$scratch/own.events" -f trace; expect replay_traces 0
if cmp -s "$scratch/out" "$scratch/own.trace"; then ok both_traces_are_the_same
else fail both_traces_are_the_same "they differ"; fi
run replay "$scratch/own.events" -f trace --set max_events=64; expect a_ring_of_64 0
if [ "$(grep -c . "$scratch/out")" -lt 1000 ]; then ok only_the_end_is_traced
else fail only_the_end_is_traced "$(grep -c . "$scratch/out") lines"; fi
run report "$scratch/own.events"; expect report_takes_a_stream 0 'data-source="own.events"'
run diff "$scratch/own.events" "$scratch/rec.events"; expect diff_takes_streams 0
sed 's/^\([0-9]* [a-z_]*\) \([1-9][0-9]*\)/\1 7777700\2/' "$scratch/own.events" >"$scratch/wild.events"
for what in "trace" "replay -f trace" "replay -f json" "replay" "report"; do
    # shellcheck disable=SC2086 # a command and its options are several words
    run $what --hide-ids "$scratch/wild.events"
    if [ "$code" = 0 ] && ! grep -q -e 77777 -e 0x2e5bd "$scratch/out"; then ok "hides_ids_of_$what"
    else fail "hides_ids_of_$what" "exit code $code: $(grep -c 77777 "$scratch/out") lines tell them"; fi
done
run trace "$scratch/wild.events"; expect ids_to_hide 0 0x2e5bd

# --- what can't be recorded
run record "$scratch/p.chroprof" --for 1; expect the_dead_have_no_events 1 "no program writes to it"
run record "$scratch/nothing"; expect no_such_file 1 "nothing"
run record "$scratch/own.json"; expect json_is_no_block 1
run record - --for 1; expect standard_input_cannot_be_followed 1
run record "$scratch/p.chroprof" --for x; expect how_long 2 "seconds"
finish
