#!/bin/sh
# What `chroprof record` costs the program that it follows: CPU time of the server shape (shape.c) an
# event, alone, with record running beside it, and alone again, in turn; medians of the rounds. How
# far the two medians alone are apart is the noise that a difference has to be above.
#   bench/record.sh SHAPE COMMAND [ROUNDS]
shape=$1 command=$2 rounds=${3:-15}
scratch=$(mktemp -d) || exit 1
recorder=
trap 'exec 3>&-; kill $recorder 2>/dev/null; wait; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# until_line TEXT FILE
until_line() {
    tries=0
    while ! grep -q "$1" "$2" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || { echo "record.sh: no $1 within 60 s" >&2; exit 1; }
        sleep 0.05
    done
}

# one WITH ITERATIONS STEPS RING: ns an event
one() {
    rm -f "$scratch"/*
    mkfifo "$scratch/hold"
    "$shape" file "$scratch/p.chroprof" "$2" "$3" "$4" <"$scratch/hold" >"$scratch/said" &
    exec 3>"$scratch/hold"
    until_line ready "$scratch/said"
    if [ "$1" = with ]; then
        "$command" record "$scratch/p.chroprof" --for 600 -o /dev/null 2>"$scratch/told" &
        recorder=$!
        until_line recording "$scratch/told"
    fi
    echo go >&3
    exec 3>&-
    wait
    recorder=
    sed -n 2p "$scratch/said"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# row NAME ITERATIONS STEPS RING
row() {
    : >"$scratch.alone"; : >"$scratch.with"; : >"$scratch.again"
    lost=0 read=0
    for round in $(seq "$rounds"); do
        one alone "$2" "$3" "$4" >>"$scratch.alone"
        one with "$2" "$3" "$4" >>"$scratch.with"
        lost=$((lost + $(sed -n 's/.*: \([0-9]*\) more were overwritten.*/\1/p' "$scratch/told" | grep . || echo 0)))
        read=$((read + $(sed -n 's/.*: \([0-9]*\) events in.*/\1/p' "$scratch/told" | grep . || echo 0)))
        one alone "$2" "$3" "$4" >>"$scratch.again"
    done
    awk -v name="$1" -v alone="$(median <"$scratch.alone")" -v with="$(median <"$scratch.with")" \
        -v again="$(median <"$scratch.again")" -v lost="$lost" -v all=$((lost + read)) 'BEGIN {
        printf "%-34s alone %6.2f ns an event, with record %6.2f, alone again %6.2f: %+.2f %%, noise %.2f %%; ",
               name, alone, with, again, 100 * (2 * with / (alone + again) - 1),
               100 * (alone > again ? alone / again - 1 : again / alone - 1)
        printf "%.2f %% of %d events overwritten unread\n", all ? 100 * lost / all : 0, all }'
    rm -f "$scratch.alone" "$scratch.with" "$scratch.again"
}

row "1 million events/s, ring of 8192" 50000 2200 8192
row "1 million events/s, ring of 65536" 50000 2200 65536
row "as fast as it can, ring of 8192" 400000 0 8192
