#!/bin/sh
# Pushes what a program does to a continuous profiling server, one profile per interval, in the
# format pprof: POST URL/ingest?name=..&from=..&until=..&format=pprof (Pyroscope's interface).
#   push.sh FILE URL NAME [SECONDS [TIMES]]     default: 10 seconds, forever
# NAME may hold labels, as in 'server{zone=eu}'. Needs curl and gzip. CHROPROF: the command.

file=${1:?the profile of a program} url=${2:?the URL of a server} name=${3:?a name to push as}
seconds=${4:-10} times=${5:--1}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# what the figures of a profile are called there
cat >"$scratch/types.json" <<'END'
{"exec": {"units": "nanoseconds", "display-name": "exec", "aggregation": "sum"},
 "delay": {"units": "nanoseconds", "display-name": "delay", "aggregation": "sum"},
 "blame": {"units": "nanoseconds", "display-name": "blame", "aggregation": "sum"},
 "calls": {"units": "count", "display-name": "calls", "aggregation": "sum"}}
END

encoded=$(printf '%s' "$name" | od -An -v -tx1 | tr -d '\n' | tr ' ' '%')
while [ "$times" -ne 0 ]; do
    times=$((times - 1))
    from=$(date +%s)
    if ! "${CHROPROF:-chroprof}" dump "$file" --for "$seconds" -f pprof -o "$scratch/pprof" \
        2>"$scratch/log"; then
        tail -n 1 "$scratch/log" >&2
        sleep "$seconds"                    # it may be starting again
        continue
    fi
    gzip -n -f "$scratch/pprof"
    curl -fsS -m 30 -o "$scratch/answer" -F "profile=@$scratch/pprof.gz" \
        -F "sample_type_config=@$scratch/types.json;type=application/json" \
        "$url/ingest?name=$encoded&from=$from&until=$(date +%s)&format=pprof"
done
