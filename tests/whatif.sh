#!/bin/sh
# chroprof whatif on streams whose truth is known, where it must refuse, and its options.
#   sh tests/whatif.sh [COMMAND]       default build/chroprof; STREAMS=24 of 1,000
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.
# The streams have times of their own, so no machine and no load changes a figure.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
STREAMS=${STREAMS:-24}
case $command in /*) ;; *) command=$PWD/$command ;; esac

# run ARGUMENTS...: standard output and error into files, the exit code into $code
run() { "$command" whatif "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?; }

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

# at_most NAME VALUE MOST, at_least NAME VALUE LEAST
at_most() { if [ "$2" -le "$3" ]; then ok "$1"; else fail "$1" "$2, at most $3"; fi; }
at_least() { if [ "$2" -ge "$3" ]; then ok "$1"; else fail "$1" "$2, at least $3"; fi; }

# --- truth: median error of p99 at most 5 %, 95 % of the cases inside the range (fewer cases, where
# one more or less is several percent: 87 %)
if ! $CC -O1 -std=c99 -Wall -Wextra -Werror -o "$scratch/streams" tests/whatif_streams.c -lm \
    2>"$scratch/log"; then
    fail streams "$(head -n 1 "$scratch/log")"
else
    set -- $("$scratch/streams" "$command" "$scratch" 200 "$STREAMS")
    at_least cases "${2:-0}" $((STREAMS * 98 / 100))
    at_most median_error_of_p99 "${6:-1000}" 50
    at_least inside_the_range "${8:-0}" "$([ "$STREAMS" -ge 200 ] && echo 950 || echo 870)"
    at_most median_error_of_hidden_delay "${10:-1000}" 50
    at_most open_taken_for_closed "${12:-1000}" $((STREAMS / 100))
fi
# --- twenty programs with two or three planted costs: --all names that first whose removal brings most
if ! $CC -O1 -std=c99 -Wall -Wextra -Werror -o "$scratch/gains" tests/whatif_gains.c -lm \
    2>"$scratch/log"; then
    fail gains "$(head -n 1 "$scratch/log")"
else
    set -- $("$scratch/gains" "$command" "$scratch" 20)
    at_least first_of_all_brings_most "${4:-0}" 20
    at_most share_alone_would_not_do "${6:-20}" 18
fi
# --- 1 to 64 clients that wait for their answers: most predictions are within 20 % of what they see
if ! $CC -O1 -std=c99 -Wall -Wextra -Werror -o "$scratch/closed" tests/whatif_closed.c -lm \
    2>"$scratch/log"; then
    fail closed "$(head -n 1 "$scratch/log")"
else
    set -- $("$scratch/closed" "$command" "$scratch" 24)
    at_least closed_within_20_percent "${6:-0}" 17
    at_most closed_wrong "${8:-24}" 3
    at_most closed_taken_for_open "${10:-24}" 4
fi
good=$scratch/good.events      # requests of the parts A and B that arrive at random
"$scratch/streams" "$command" "$scratch" 6 1 >"$scratch/log"
mv "$scratch/whatif.events" "$good"

"$scratch/streams" "$command" "$scratch" 206 1 >"$scratch/log"
mv "$scratch/whatif.events" "$scratch/uneven.events"
"$scratch/streams" "$command" "$scratch" 204 1 >"$scratch/log"
mv "$scratch/whatif.events" "$scratch/even.events"

# loop COUNT WORK WAIT [GAP [BUSY]]: so many requests of WORK ns, each after a wait of WAIT ns, behind
# GAP ns of uninstrumented time; every third finds the loop busy, or every BUSY
loop() {
    awk -v count="$1" -v work="$2" -v wait="$3" -v gap="${4:-0}" -v busy="${5:-3}" 'BEGIN {
        printf "0 idle_enter 0\n"
        for (i = 1; i <= count; i++) {
            t += i % busy ? wait : 1500
            if (i % busy) t += (i * 7919) % 997 * (wait > 1000)
            printf "%d idle_leave 0\n", t
            t += gap
            printf "%d pending %d request a.c 1\n%d ready %d\n", t, i, t, i
            printf "%d running %d\n%d enter 0 work a.c 2\n", t, i, t
            t += work + (i * 104729) % 991 * 20
            printf "%d leave 0\n%d completed %d\n%d idle_enter 0\n", t, t, i, t
        } }'
}

# --- where the program tells since when each request was ready, nothing is estimated. The truth comes
# with the stream: hidden (mean), p50, p99
awk -v truth="$scratch/late.truth" 'BEGIN {
    srand(7); count = 3000
    for (i = 1; i <= count; i++) came[i] = at += int(-60000 * log(1 - rand()))
    printf "0 idle_enter 0\n"
    for (i = 1; i <= count;) {
        t = came[i] > t ? came[i] + 3000 : t + 1500
        printf "%d idle_leave 0\n", t
        for (k = i; k <= count && came[k] <= t; k++) {
            printf "%d pending %d request a.c 1\n%d ready_since %d %d\n", t, k, t, k, came[k]
            hidden += t - came[k]
        }
        for (; i < k; i++) {
            printf "%d running %d\n%d enter 0 work a.c 2\n", t, i, t
            t += 10000 + int(60000 * rand() * rand())
            printf "%d leave 0\n%d completed %d\n", t, t, i
            print t - came[i] | "sort -n >" truth
        }
        printf "%d idle_enter 0\n", t
    }
    print int(hidden / count) >(truth ".hidden")
    close("sort -n >" truth) }' >"$scratch/late.events"
# value SITE_KEY: of the first site before the change
value() { sed -n '/"before"/,/"after"/s/.*"'"$1"'": \([0-9]*\).*/\1/p' "$scratch/out" | head -n 1; }
run "$scratch/late.events" --json; expect told_since 0 '"deviation_ppm": 0,'
for pair in "latency_p50_ns $(sed -n 1500p "$scratch/late.truth")" \
    "latency_p99_ns $(sed -n 2970p "$scratch/late.truth")" \
    "hidden_ns $(cat "$scratch/late.truth.hidden")"; do
    got=$(value "${pair% *}")
    at_most "told_since_${pair% *}" "$((100 * ${got:-0}))" "$((101 * ${pair#* }))"
    at_least "told_since_${pair% *}_too" "$((100 * ${got:-0}))" "$((99 * ${pair#* }))"
done
"$command" replay "$scratch/late.events" -f json -o "$scratch/late.json"
cp "$scratch/out" "$scratch/late.answer"
run "$scratch/late.json" --json
if cmp -s "$scratch/out" "$scratch/late.answer"; then ok told_since_in_json; else
    fail told_since_in_json "another answer than of the stream"; fi

# --- the way from a sender to a loop that waits is told, and is a part of what clients saw
loop 1000 20000 40000 0 9999 >"$scratch/waits.events"
run "$scratch/waits.events" --json; before=$(value latency_p50_ns)
run "$scratch/waits.events" --wake 5us --json; expect wake 0 '"fits": true'
if [ "$(value latency_p50_ns)" = $((${before:-0} + 5000)) ] && [ "$(value hidden_ns)" = 5000 ]; then
    ok wake_is_hidden_delay
else
    fail wake_is_hidden_delay "p50 $before, with --wake 5us $(value latency_p50_ns), hidden $(value hidden_ns)"
fi

# --- refusals, each with its reason
run "$good"; expect answer 0 "latency p99 (estimate)"
run "$scratch/uneven.events" --columns 200; expect capacity 0 "times the load, give or take 0."
run "$scratch/even.events" --columns 200; expect capacity_of_even_arrivals 0 "too even, or too few"
loop 60 20000 40000 >"$scratch/short.events"
run "$scratch/short.events"; expect too_few_steps 3 "too few steps"
loop 1000 20000 40000 30000 >"$scratch/bare.events"
run "$scratch/bare.events"; expect uninstrumented 3 "uninstrumented"
loop 1000 20000 40000 >"$scratch/ends.events"      # what the program does behind its loop is no cost of it
end=$(tail -n 1 "$scratch/ends.events" | cut -d ' ' -f 1)
printf '%d idle_leave 0\n%d enter 0 sort a.c 3\n' $((end + 9)) $((end + end)) >>"$scratch/ends.events"
run "$scratch/ends.events"; expect uninstrumented_behind_the_loop 0 "latency p99 (estimate)"
sed 's/ enter 0 request s.c 1$/ enter 0 code\\safter\\sepoll_wait \\e 0/' "$good" >"$scratch/whole.events"
run "$scratch/whole.events"; expect whole_iterations 3 "all that a poll found is one callback"
loop 1000 200000 1 >"$scratch/full.events"
run "$scratch/full.events"; expect never_idle 3 "never idle"
grep -v idle "$scratch/good.events" >"$scratch/no_waits.events"
run "$scratch/no_waits.events"; expect no_waits 3 "no loop iteration"
loop 3000 60000 20000 0 9999 >"$scratch/asks.events"     # one client, who waits for its answers
run "$scratch/asks.events" --columns 200; expect one_client 0 "Model: closed (as of 1 client,"
run "$scratch/short.events" --json; expect refusal_in_json 3 '"fits": false'
head -c 100 /dev/zero >"$scratch/zeros"
run "$scratch/zeros"; expect no_profile 1
run "$scratch/missing"; expect no_file 1

# --- a profile whose ring has the last steps alone, and one without: it says so, and what windows tell
loop 20000 20000 40000 >"$scratch/long.events"
"$command" replay "$scratch/long.events" --set max_events=16384 -f json -o "$scratch/long.json"
run "$scratch/long.json" --columns 200; expect last_steps 0 "older steps are gone"
"$command" replay "$scratch/long.events" --set max_events=64 -f json -o "$scratch/last.json"
run "$scratch/last.json" --columns 200; expect last_steps_too_few 3 "too few steps"
run "$scratch/last.json" --columns 200; expect capacity_of_windows 3 "times the load, give or take 0."
run "$scratch/last.json" --json; expect capacity_of_windows_in_json 3 '"from": "windows"'
sed 's/"timeline": *{[^}]*}/"timelime":{}/' "$scratch/last.json" >"$scratch/none.json"
run "$scratch/none.json"; expect no_steps 3 "it has no steps"

# --- options
run "$good" --site B --factor 0.5 --load 1.2 --split 5us --order shortest
expect several_changes 0 "B takes 0.5 times as long, callbacks are cut after 0.005 ms"
run "$good" --site B@s.c:3 --factor 0 --latency-of 3ms --columns 200; expect moved 0 "3 ms later"
sed 's/ s\.c 3$/ a@s.c 3/' "$good" >"$scratch/at.events"
run "$scratch/at.events" --site B@a@s.c:3 --factor 0.5; expect at_in_a_file 0 "B@a@s.c:3 takes 0.5"
run "$scratch/at.events" --site B@s.c:3 --factor 0.5; expect at_of_another_file 2 "no site"
run "$good" --split 1ns; expect split_into_crumbs 3 "more than 10 million"
run "$good" --order priority:B; expect priority 0 "order priority:B"
run "$good" --site requst --factor 1; expect unknown_site 2 "did you mean request?"
run "$good" --site B; expect no_factor 2 "expected --factor F"
run "$good" --factor 1; expect no_site 2 "expected --site NAME"
run "$good" --all --columns 100; expect all_sites 0 "p99 of request "
run "$good" --all --factor 0 --json; expect all_sites_in_json 0 '"factor_ppm": 0, "sites"'
run "$good" --all --site B --factor 1; expect all_and_one 2 "one site at a time"
run "$scratch/short.events" --all; expect all_refused 3 "too few steps"
run "$good" --load 99; expect overload 0 "more would come than the loop can take"
for bad in --factor=x --load=0 --load=x --split=5 --order=random --order=priority --top=0 --columns=9 \
    --placements=3; do
    run "$good" "$bad"; expect "bad_value$bad" 2 "expected"
done
run "$good" --ascii --columns 60; cp "$scratch/out" "$scratch/narrow"
if awk 'length > 60 { exit 1 }' "$scratch/narrow"; then ok columns; else
    fail columns "$(awk 'length > 60' "$scratch/narrow" | head -n 1)"
fi
run "$good"; cp "$scratch/out" "$scratch/first"
run "$good"
if cmp -s "$scratch/first" "$scratch/out"; then ok same_each_time; else
    fail same_each_time "$(diff "$scratch/first" "$scratch/out" | head -n 2 | tr '\n' '|')"
fi
run --help; expect help 0 "exit codes"
if awk 'length > 80 { exit 1 }' "$scratch/out"; then ok help_fits_80_columns; else
    fail help_fits_80_columns "$(awk 'length > 80' "$scratch/out" | head -n 1)"
fi

# --- reports of a profile have what clients saw, and what the sites of its findings would bring
"$command" replay "$good" --columns 100 >"$scratch/out" 2>"$scratch/err"; code=$?
expect report_of_clients 0 "CLIENTS  latency as they saw it"
expect report_of_gain 0 "With A half as long: p99 of request "
"$command" replay "$scratch/short.events" >"$scratch/short.text" 2>&1
if grep -q CLIENTS "$scratch/short.text"; then fail report_says_no_more_than_it_knows "it has CLIENTS"
else ok report_says_no_more_than_it_knows; fi

# --- the contract of --json; a factor of 1 changes nothing; JSON of a profile and its block agree
"$command" replay "$good" -f json -o "$scratch/good.json"
"$command" dump "$scratch/good.json" -f json >"$scratch/again.json"
if cmp -s "$scratch/good.json" "$scratch/again.json"; then ok json_of_json; else
    fail json_of_json "another one"
fi
run "$good" --site B --factor 1 --json; cp "$scratch/out" "$scratch/stream.json"
run "$scratch/good.json" --site B --factor 1 --json
if ! command -v python3 >/dev/null 2>&1; then skip json "needs python3"; else
    if python3 - "$scratch/stream.json" "$scratch/out" "$scratch/good.json" \
        >"$scratch/log" 2>&1 <<'END2'; then ok json
import json, sys
a, b, profile = (json.load(open(name)) for name in sys.argv[1:4])
assert a == b, "stream and JSON differ"
assert list(a) == ["chroprof_whatif", "fits", "deviation_ppm", "model", "reason", "before", "after",
                   "low", "high", "capacity", "covers_ns", "of_ns"], list(a)
assert list(a["capacity"]) == ["from", "full_at_ppm", "error_ppm", "slot_ns", "reason"]
assert 0 < a["covers_ns"] <= a["of_ns"]
assert a["chroprof_whatif"] == 1 and a["fits"] is True and a["model"] in ("open", "closed")
assert a["before"] == a["after"]
loop = ["utilization_ppm", "iteration_p50_ns", "iteration_p99_ns", "iteration_max_ns", "stalls",
        "finished_per_s", "saturates_at_ppm", "sites"]
site = ["name", "file", "line", "count", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns",
        "delay_p99_ns", "hidden_ns"]
for part in ("before", "after", "low", "high"):
    assert list(a[part]) == loop, list(a[part])
    assert [s["name"] for s in a[part]["sites"]] == ["request"]
    assert list(a[part]["sites"][0]) == site
for key in loop[:-1]:
    assert a["low"][key] <= a["after"][key] <= a["high"][key], key
for key in site[3:]:
    low, after, high = (a[part]["sites"][0][key] for part in ("low", "after", "high"))
    assert low <= after <= high, key
clients = profile["clients"]
assert clients["estimate"] is True and clients["model"] == a["model"]
kind = clients["kinds"][0]
for key in ("count", "latency_p50_ns", "latency_p99_ns"):
    assert a["low"]["sites"][0][key] <= kind[key] <= a["high"]["sites"][0][key], key
assert 0 < kind["hidden_ns"] < kind["latency_p99_ns"] and kind["measured_p99_ns"] > 0
assert [(g["name"], g["finding"]) for g in clients["gains"]] == [("A", "occupies")]
assert clients["gains"][0]["full_after_ppm"] > clients["full_ppm"]
END2
    else fail json "$(tail -n 1 "$scratch/log")"; fi
fi

# --- the page of report has the command's own numbers for its sliders
head -n 12000 "$good" >"$scratch/part.events"
"$command" report "$scratch/part.events" -o "$scratch/page.html" 2>"$scratch/err"; code=$?
expect page 0
run "$scratch/part.events" --site B --factor 0.5 --load 1.25 --placements 24 --json
if ! command -v python3 >/dev/null 2>&1; then skip page_has_the_same "needs python3"; else
    if python3 - "$scratch/page.html" "$scratch/out" >"$scratch/log" 2>&1 <<'END2'; then
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
c = json.loads(re.search('<script type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])["clients"]
asked = json.load(open(sys.argv[2], encoding="utf-8"))
site = [row["name"] for row in c["changed"]].index("B") + 1
sites, factors = len(c["changed"]), {row["factor_ppm"] for row in c["answers"]}
assert len(c["answers"]) == 4 + 16 * sites and factors == {0, 250000, 500000, 750000, 1000000}
answer, = (row for row in c["answers"] if (row["site"], row["factor_ppm"], row["load_ppm"]) ==
           (site, 500000, 1250000))
assert answer["utilization_ppm"] == asked["after"]["utilization_ppm"]
for key in ("latency_p50_ns", "latency_p99_ns"):
    assert c["kinds"][0][key] == asked["before"]["sites"][0][key], key
    assert answer["kinds"][0][key] == asked["after"]["sites"][0][key], key
    assert answer["kinds"][0]["low_" + key] == asked["low"]["sites"][0][key], key
    assert answer["kinds"][0]["high_" + key] == asked["high"]["sites"][0][key], key
END2
        ok page_has_the_same
    else fail page_has_the_same "$(tail -n 1 "$scratch/log")"; fi
fi
finish
