#!/bin/sh
# examples/fleet/dashboard.json and rules.yml against what the command writes by default: each
# series and label that they use is there, each expression parses, the alerts fire when they should.
#   sh tests/dashboards.sh [COMMAND]      default build/chroprof
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-${B:-build}/chroprof}

if ! command -v python3 >/dev/null 2>&1; then
    skip dashboards "needs python3"
    finish
fi
# a server whose requests complete, fail and wait for each other, at a time of the calendar
cat >"$scratch/server.events" <<'END_OF_EVENTS'
1000 pending 1 request server.c 10
1100 pending 2 query server.c 20
1200 ready 1
1300 running 2
9300 failed 2
9400 running 1
9900 completed 1
10000 idle_enter 0
12000 idle_leave 0
12100 tick 0
END_OF_EVENTS
for format in prometheus prometheus-all json; do
    if ! "$command" replay "$scratch/server.events" -f $format -o "$scratch/$format" \
        2>"$scratch/log"; then
        fail "replay_$format" "$(head -n 1 "$scratch/log")"
    fi
done
for more in '' -all; do
    if python3 tests/check_prometheus.py "$scratch/prometheus$more" "$scratch/json" \
        ${more:+--all} >"$scratch/log" 2>&1; then ok "series$more"; else
        fail "series$more" "$(tail -n 1 "$scratch/log")"; fi
done
# whatever is in the default is in the other, with the same labels and values
if grep -v '^#' "$scratch/prometheus" | sort >"$scratch/few" &&
    grep -v '^#' "$scratch/prometheus-all" | sort >"$scratch/many" &&
    [ -z "$(comm -23 "$scratch/few" "$scratch/many" | grep -v chroprof_events_total)" ]; then
    ok default_is_a_part; else
    fail default_is_a_part "$(comm -23 "$scratch/few" "$scratch/many" | head -n 2)"; fi

counts=$(python3 tests/dashboards.py examples/fleet "$scratch/prometheus" "$scratch/expressions.yml" \
    2>"$scratch/err")
echo "$counts" | grep '^ok\|^FAIL'
passed=$((passed + $(echo "$counts" | grep -c '^ok')))
failed=$((failed + $(echo "$counts" | grep -c '^FAIL')))
[ "$(echo "$counts" | tail -n 1)" = done ] || fail dashboards "$(tail -n 1 "$scratch/err")"

if command -v promtool >/dev/null 2>&1; then
    if promtool check rules "$scratch/expressions.yml" >"$scratch/log" 2>&1; then
        ok expressions; else fail expressions "$(grep -m 1 -i error "$scratch/log")"; fi
    if promtool check rules --lint=all --lint-fatal examples/fleet/rules.yml >"$scratch/log" 2>&1
    then ok rules_lint; else fail rules_lint "$(head -n 3 "$scratch/log")"; fi
    if (cd examples/fleet && promtool test rules rules_test.yml) >"$scratch/log" 2>&1; then
        ok alerts; else fail alerts "$(tr -s ' \n' ' ' <"$scratch/log" | cut -c 1-600)"; fi
    if promtool check metrics <"$scratch/prometheus" >"$scratch/log" 2>&1; then ok metrics_lint
    else fail metrics_lint "$(head -n 1 "$scratch/log")"; fi
else
    for name in expressions rules_lint alerts metrics_lint; do
        skip "$name" "needs promtool (package prometheus)"
    done
fi
finish
