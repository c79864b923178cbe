#!/bin/sh
# The recipes of examples/fleet as they stand, but for addresses and times: three servers (the
# demonstration, two of them with its fault) whose profiles lie in files, node_exporter, Prometheus
# with the rules, and a receiver of pushed profiles that reads them by go tool pprof.
#   sh tests/fleet.sh       B=build: the folder of chroprof and demo; works in $B/fleet
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.

cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1"
case $B in /*) ;; *) B=$PWD/$B ;; esac
recipes=$PWD/examples/fleet
tests=$PWD/tests
work=$B/fleet
. tests/counts.sh
has() { command -v "$1" >/dev/null 2>&1; }
started=
trap 'for process in $started; do kill "$process" 2>/dev/null; done; wait; rm -rf "$scratch"' EXIT

rm -rf "$work"
mkdir -p "$work/profiles" "$work/metrics"
cd "$work" || exit 1
CHROPROF=$B/chroprof
export CHROPROF

# background LOG COMMAND...
background() {
    log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null &
    started="$started $!"
}

# --- the rules, against figures worked out by hand
if has promtool; then
    if promtool check config --syntax-only "$recipes/prometheus.yml" >log 2>&1; then
        ok prometheus_config
    else
        fail prometheus_config "$(head -n 3 log)"
    fi
    if promtool check rules --lint=all --lint-fatal "$recipes/rules.yml" >log 2>&1; then
        ok rules_lint
    else
        fail rules_lint "$(head -n 3 log)"
    fi
    if (cd "$recipes" && promtool test rules rules_test.yml) >log 2>&1; then ok rules; else
        fail rules "$(head -n 20 log)"; fi
else
    skip rules "needs promtool (package prometheus)"
fi

# --- three servers: they outlive the busiest machine, and leave time to what asks them, but not all
# of it to others: their fault grows with the requests that they serve
mkdir -p run1 run2 run3
# server RUN WORDS...
server() {
    cd "$1" || exit 1
    shift
    exec nice -n 5 "$B/demo" 1800 "$@"
}
start_servers() {
    (server run1 "$work/profiles/server-1.chroprof") >log1 2>&1 &
    one=$!
    (server run2 "$work/profiles/server-2.chroprof") >log2 2>&1 &
    two=$!
    (server run3 fixed "$work/profiles/server-3.chroprof") >log3 2>&1 &
    three=$!
    started="$started $one $two $three"
}
start_servers
echo "0 idle_enter 0" | "$CHROPROF" replay - -f json -o "$work/none.json"
: >profiles/no-profile.chroprof

# --- without any server: three running programs as one profile
merged() {
    "$CHROPROF" merge profiles/server-[123].chroprof -o all.chroprof >log 2>&1 &&
        "$CHROPROF" dump all.chroprof -f json -o all.json 2>>log &&
        "$CHROPROF" diff none.json all.chroprof >merged.diff 2>>log &&
        grep -q '^task_handler' merged.diff
}
for i in $(seq 1 60); do
    sleep 1
    ! merged || break
done
if merged; then ok merged; else fail merged "$(head -n 3 log)"; fi

# --- push: two intervals of one second
python=python3
has python3 || python=
if [ -z "$python" ] || ! has curl || ! has go; then
    skip push "needs python3, curl and go (packages curl, golang-go)"
else
    background receiver.log "$python" "$tests/receiver.py" "$work/pushed" 19093
    for i in $(seq 1 240); do grep -qs ready receiver.log && break; sleep 0.5; done
    sleep 2
    if timeout 300 sh "$recipes/push.sh" profiles/server-1.chroprof http://127.0.0.1:19093 \
        'demo{zone=eu west}' 1 2 >push.log 2>&1 && [ ! -s push.log ]; then ok push; else
        fail push "$(head -n 3 push.log)"; fi
    cat >expect.py <<'END'
import json, re, subprocess, sys
for number in (1, 2):
    query = json.load(open(f"pushed/{number}.json"))
    assert query["name"] == ["demo{zone=eu west}"] and query["format"] == ["pprof"], query
    length = int(query["until"][0]) - int(query["from"][0])
    assert 1 <= length <= 600, query        # a second, and what a busy machine takes beside it
    types = json.load(open(f"pushed/{number}.sample_type_config"))
    top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=exec", "-unit=ms",
                          f"pushed/{number}.profile"], capture_output=True, text=True, check=True)
    raw = subprocess.run(["go", "tool", "pprof", "-raw", f"pushed/{number}.profile"],
                         capture_output=True, text=True, check=True).stdout
    named = {kind.split("/")[0]: kind.split("/")[1].split("[")[0]
             for kind in re.search(r"^(calls/count.*)$", raw, re.M).group(1).split()}
    assert all(named[kind] == types[kind]["units"] for kind in types), (types, named)
    total = float(re.search(r"of ([0-9.]+)ms total", top.stdout).group(1))
    assert 0 < total <= 1000 * length + 1500, (total, length)   # the interval, not the run
    sites = [line.split()[-1] for line in top.stdout.splitlines() if line.endswith("task_handler")]
    assert sites == ["task_handler"], top.stdout
END
    if "$python" expect.py >log 2>&1; then ok pushed_profiles; else
        fail pushed_profiles "$(tail -n 1 log)"; fi
    if timeout 300 sh "$recipes/push.sh" profiles/missing http://127.0.0.1:19093 x 1 1 \
        >push.log 2>&1; grep -q 'No such file' push.log; then ok push_says_why; else
        fail push_says_why "$(head -n 3 push.log)"; fi
fi

# --- Prometheus, by way of node_exporter; rates over 20 seconds instead of 5 minutes
textfile() { sh "$recipes/textfile.sh" "$work/profiles" "$work/metrics"; }
textfile
for name in server-1 server-2 server-3; do
    if [ -s "metrics/chroprof-$name.prom" ]; then ok "textfile_$name"; else
        fail "textfile_$name" "is not there"; fi
done
if [ -z "$(ls metrics | grep -v 'chroprof-server-[123].prom')" ]; then ok textfile_others; else
    fail textfile_others "$(ls -a metrics)"; fi
exporter=
for candidate in prometheus-node-exporter node_exporter; do
    if has "$candidate"; then exporter=$candidate; fi
done
# asked QUERY: the values that Prometheus answers
asked() { promtool query instant http://127.0.0.1:19091 "$1" 2>>query.log; }
if [ -z "$exporter" ] || ! has prometheus; then
    skip fleet "needs prometheus and node_exporter (packages prometheus, prometheus-node-exporter)"
    finish
fi
sed 's/\[5m\]/[20s]/g' "$recipes/rules.yml" >rules.yml
sed -e 's/15s/1s/' -e 's/10.0.0.1:9100", "10.0.0.2:9100/127.0.0.1:19092/' \
    -e '/job_name: web/,/^$/d' "$recipes/prometheus.yml" >prometheus.yml
background exporter.log "$exporter" --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory="$work/metrics" --web.listen-address=127.0.0.1:19092
background prometheus.log prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
    --web.listen-address=127.0.0.1:19091
for i in $(seq 1 120); do
    grep -qs 'ready to receive' prometheus.log && break
    sleep 1
done
# anew: their fault grows, until one slice of it lasts longer than a rate looks back
kill "$one" "$two" "$three"
wait "$one" "$two" "$three" 2>/dev/null
start_servers
# ask: what the rules make of the servers now
ask() {
    first=$(asked 'topk(1, job_site:chroprof_exec:share5m)')
    share=$(echo "$first" | sed 's/.*=> \([0-9.e-]*\) .*/\1/')
    busy=$(asked 'job:chroprof_busy:share5m > 0')
    slices=$(asked 'job_site:chroprof_slice_seconds:p99_5m{name="task_handler"} > 0')
    blame=$(asked 'job_site:chroprof_blame:waiting5m{name="task_handler"} > 0')
    processes=$(asked 'count(count by (process) (chroprof_exec_seconds_total))')
}
is_first() { case $1 in *'name="task_handler"'*) ;; *) false ;; esac; }
is_a_share() { awk -v x="$1" 'BEGIN { exit !(x > 0.1 && x <= 1) }'; }
is_a_figure() { case $1 in *'=> 0'*|*'=> '[1-9]*) ;; *) false ;; esac; }
are_three() { case $1 in *'=> 3 '*) ;; *) false ;; esac; }
# The timer of the recipe runs by itself, as there. A round of questions may take seconds on a busy
# machine, and what they find must not hang on that; a rate needs two values of each in 20 seconds.
(while :; do textfile; sleep 1; done) &
timer=$!
started="$started $timer"
for i in $(seq 1 150); do
    sleep 1
    ask
    is_first "$first" && is_a_share "$share" && is_a_figure "$busy" && is_a_figure "$slices" &&
        is_a_figure "$blame" && are_three "$processes" && break
done
# holds NAME CHECK ANSWER
holds() { if "$2" "$3"; then ok "$1"; else fail "$1" "'$3' in round $i"; fi; }
holds fleet_rank is_first "$first"
holds fleet_share is_a_share "$share"
holds fleet_job:chroprof_busy:share5m is_a_figure "$busy"
holds fleet_job_site:chroprof_slice_seconds:p99_5m is_a_figure "$slices"
holds fleet_job_site:chroprof_blame:waiting5m is_a_figure "$blame"
holds fleet_processes are_three "$processes"
# each panel of the dashboard shows something, but those of what should not happen
if [ -n "$python" ]; then
    "$python" - "$recipes/dashboard.json" >panels <<'END'
import json, re, sys
for panel in json.load(open(sys.argv[1], encoding="utf-8"))["panels"]:
    for target in panel.get("targets", ()):
        if not target["expr"].endswith("> 0"):
            expression = target["expr"].replace("$__rate_interval", "20s")
            print(panel["title"].replace(" ", "_"), re.sub(r"\$\w+", ".*", expression))
END
    while read -r title expression; do
        for i in $(seq 1 30); do
            answer=$(asked "$expression")
            [ -z "$answer" ] || break
            sleep 1
        done
        holds "panel_$title" is_a_figure "$answer"
    done <panels
fi
kill "$timer"
wait "$timer" 2>/dev/null
kill -9 "$two"
textfile
if [ ! -e metrics/chroprof-server-2.prom ] && [ -e metrics/chroprof-server-1.prom ]; then
    ok textfile_of_a_dead_one
else
    fail textfile_of_a_dead_one "$(ls metrics)"
fi
finish
