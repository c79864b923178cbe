#!/bin/sh
# A slice by chroprof and by what one would take instead from a distribution, in turn, in one run.
#   bench/peers.sh [SLICES] [ROUNDS]     (make bench-peers)
# What is not installed is named and left out: libstb-dev, liblttng-ust-dev with lttng-tools,
# uftrace, linux-perf (Debian's names). Tracers write into a temporary folder, which goes away.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
slices=${1:-1000000} rounds=${2:-7}
cc=${CC:-cc}
out=$(mktemp -d)
session=chroprof_peers_$$
started=0
has() { command -v "$1" >/dev/null 2>&1; }
compiles() { echo "#include <$1>" | $cc -x c -fsyntax-only - 2>/dev/null; }

finish() {
    lttng destroy "$session" >/dev/null 2>&1 || true
    [ "$started" = 0 ] || kill "$started" 2>/dev/null || true
    rm -rf "$out"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

flags="" libraries="" modes="nothing reads chroprof"
if compiles stb/stb_ds.h; then
    flags="$flags -DWITH_STB" modes="$modes stb_ds"
else
    echo "skipped: stb_ds (libstb-dev)"
fi
modes="$modes recorder"
if compiles lttng/tracepoint.h; then
    flags="$flags -DWITH_LTTNG" libraries="-llttng-ust -ldl" modes="$modes lttng_off"
    if has lttng && has lttng-sessiond; then modes="$modes lttng"; fi
else
    echo "skipped: LTTng-UST (liblttng-ust-dev, lttng-tools)"
fi
if has uftrace; then modes="$modes uftrace"; else echo "skipped: uftrace (uftrace)"; fi
if has perf && perf record -q -o "$out/try" -e cpu-clock true >/dev/null 2>&1; then
    modes="$modes perf"
else
    echo "skipped: perf (linux-perf, or not allowed here)"
fi

# shellcheck disable=SC2086
$cc -std=gnu99 -O2 $flags -I"$here" "$here/peers.c" "$here/impl.c" -o "$out/peers" $libraries
# shellcheck disable=SC2086
$cc -std=gnu99 -O2 -pg $flags -I"$here" "$here/peers.c" "$here/impl.c" -o "$out/peers_pg" $libraries

case " $modes " in *" lttng "*)
    if ! pgrep -x lttng-sessiond >/dev/null 2>&1; then
        lttng-sessiond --no-kernel >"$out/sessiond.log" 2>&1 &
        started=$!
        sleep 2
    fi ;;
esac

bytes() { du -sb "$1" 2>/dev/null | cut -f 1; }

# with_bytes LINE FOLDER: the line's first figure, and the folder's bytes a slice
with_bytes() {
    echo "$1 $(bytes "$2")" | awk -v n="$slices" '{ printf "%s %.1f\n", $1, $3 / n }'
}

run_lttng() {
    rm -rf "$out/trace"
    lttng create "$session" --output="$out/trace" >/dev/null 2>&1
    lttng enable-channel -u -s "$session" --subbuf-size=4M --num-subbuf=8 c >/dev/null 2>&1
    lttng enable-event -u -s "$session" -c c 'peers:*' >/dev/null 2>&1
    lttng start "$session" >/dev/null 2>&1
    line=$("$out/peers" lttng "$slices")
    lttng stop "$session" >/dev/null 2>&1
    lttng destroy "$session" >/dev/null 2>&1
    with_bytes "$line" "$out/trace"
}

run_mode() {
    case $1 in
    lttng_off) "$out/peers" lttng "$slices" ;;
    lttng) run_lttng ;;
    uftrace)
        rm -rf "$out/uftrace"
        line=$(uftrace record --no-pager -F traced_slice -d "$out/uftrace" "$out/peers_pg" \
            function "$slices" 2>/dev/null | tail -n 1)
        with_bytes "$line" "$out/uftrace" ;;
    perf)
        rm -f "$out/perf.data"
        line=$(perf record -q -F 997 -g -e cpu-clock -o "$out/perf.data" "$out/peers" function \
            "$slices" 2>/dev/null)
        with_bytes "$line" "$out/perf.data" ;;
    *) "$out/peers" "$1" "$slices" ;;
    esac
}

round=0
while [ $round -lt "$rounds" ]; do
    for mode in $modes; do
        # a tracer that fails, or loses its output, has no figures
        echo "$mode $(run_mode "$mode" || echo failed)"
    done
    round=$((round + 1))
done >"$out/rounds"

median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
printf '\n%-26s %12s %16s %22s\n' "a slice by" "ns" "bytes a slice" "GB/h at 100,000/s"
for mode in $modes; do
    ns=$(awk -v m="$mode" '$1 == m && NF == 3 { print $2 }' "$out/rounds" | median)
    size=$(awk -v m="$mode" '$1 == m && NF == 3 { print $3 }' "$out/rounds" | median)
    if [ -z "$ns" ]; then echo "skipped: $mode (it failed here)"; continue; fi
    awk -v m="$mode" -v ns="$ns" -v b="$size" 'BEGIN {
        name["nothing"] = "nothing"; name["reads"] = "two bare clock reads"
        name["stb_ds"] = "stb_ds map, by hand"; name["recorder"] = "recorder of every event"
        name["lttng_off"] = "LTTng-UST, no session"; name["lttng"] = "LTTng-UST, recording"
        name["uftrace"] = "uftrace, one function"; name["perf"] = "perf, 997 samples/s"
        printf "%-26s %12.1f %16.1f %22.1f\n", m in name ? name[m] : m, ns, b,
               b * 100000 * 3600 / 1e9 }'
done
