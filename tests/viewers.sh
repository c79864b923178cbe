#!/bin/sh
# Opens every output in the program that people read it with: the report page in Chromium (driven as
# a user drives it), trace, pprof and folded files in speedscope, the trace of the ring in the
# importer of chrome://tracing too, pprof in `go tool pprof`, folded stacks in flamegraph.pl,
# Prometheus text in promtool. What is missing is fetched with apt-get and
# npm where that may be done, else skipped.
#   sh tests/viewers.sh        B=build: the folder of chroprof and demo; pictures go to $B/viewers
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.

cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1"
case $B in /*) ;; *) B=$PWD/$B ;; esac
work=$B/viewers
. tests/counts.sh

has() { command -v "$1" >/dev/null 2>&1; }
root=
[ "$(id -u)" = 0 ] || root="sudo -n"
# fetch PROGRAM PACKAGES...: installs them if the program is missing
fetch() {
    program=$1
    shift
    has "$program" || { has apt-get && DEBIAN_FRONTEND=noninteractive $root apt-get -q -y install \
        --no-install-recommends "$@" </dev/null >>"$work/install.log" 2>&1; }
    has "$program"
}

mkdir -p "$work"
for program in chroprof demo; do
    if [ ! -x "$B/$program" ]; then
        fail "$program" "is not built: make test-viewers builds it"
        finish
    fi
done

# --- the profiles: the demonstration with its fault and without, traces, hostile names, a big one
cd "$work" || exit 1
for kind in '' fixed; do
    mkdir -p "demo$kind"
    (cd "demo$kind" && "$B/demo" 5 $kind >text 2>&1) || fail "demo$kind" "exit code $?"
done
chroprof() { "$B/chroprof" "$@"; }
traces=$OLDPWD/tests/traces
chroprof replay "$traces/web.events.xz" --stall 50us -f json -o web.json
# A server whose task handler takes longer with every request, as the demonstration does, but the
# same on every machine: what the tests of the page's figures are about.
awk -f - >server.events <<'END'
function event(kind, id, site, line) {
    printf "%.0f %s %d%s\n", at, kind, id, site == "" ? "" : " " site " server.c " line
}
function enter(site, line, ns) { event("enter", 0, site, line); at += ns; event("leave", 0) }
function create(site, line) { event("pending", ++last, site, line); return last }
function look_up(request) {                         # walks a list that is never cut
    event("running", handler); create("request_timeout", 60); at += 25 * request
    enter("find_task", 70, 10 * request); event("paused", handler)
}
function serve(request, connection) {
    event("running", connection)
    enter("parse_request", 80, 900 + request % 7 * 100)
    event("enter", 0, "cached_page", 90)
    if (request % 5 == 0) enter("render_page", 100, 30000 + request % 11 * 1000)
    event("leave", 0)
    enter("send_response", 110, 24000 + request % 13 * 1500); event("paused", connection)
    look_up(request)
    event("running", connection); enter("log_request", 120, 700); event("paused", connection)
}
BEGIN {
    at = 1000; handler = create("task_handler", 40); accepting = create("accept_loop", 50)
    for (request = 1; request <= 6000; at += 400) {
        event("idle_enter", 0); at += 3000000 - request * 150; event("idle_leave", 0)
        if (request % 200 == 1) {
            event("running", accepting)
            for (i = 0; i < 8; i++) connections[i] = create("connection", 55)
            at += 5000; event("paused", accepting)
        }
        for (i = 0; i < 8; i++) event("ready", connections[i])
        for (i = 0; i < 8; i++) serve(request++, connections[i])
        if (request % 200 == 1)
            for (i = 0; i < 8; i++) event("completed", connections[i])
    }
}
END
chroprof replay server.events --stall 1200us --window 80ms --name server -f json -o server.json
chroprof replay server.events --stall 1s -f json -o calm.json
# the same server at four moments, as a page that is refreshed shows it
lines=$(wc -l <server.events)
for part in 6 7 8 9; do
    head -n $((lines * part / 10)) server.events |
        chroprof replay - --stall 1200us --window 80ms --name server -f json -o live$part.json
done
# A program of 500 sites in 25 files, of which none takes most.
awk -f - >many.events <<'END'
function event(kind, id, site, file, line) {
    printf "%.0f %s %d%s\n", at, kind, id, site == "" ? "" : " " site " " file " " line
}
function work(k, ns) {
    module = k % 25 + 1
    event("enter", 0, modules[module] "_" verbs[k % 10 + 1] "_" int(k / 25),
        "src/" modules[module] (module % 2 ? ".c" : ".cc"), 20 + k)
    at += ns; event("leave", 0)
}
BEGIN {
    split("http dns tls cache auth queue log disk mail search index proxy user chat feed pay geo " \
        "image video stats admin sync lock cron misc", modules, " ")
    split("parse read write open close find store check send update", verbs, " ")
    at = 1000; event("pending", 1, "session", "src/http.c", 12); event("running", 1); at += 900
    event("paused", 1)
    for (pass = 1; pass <= 900; pass++) {
        event("idle_enter", 0); at += 40000 + pass % 9 * 20000; event("idle_leave", 0)
        event("ready", 1)
        for (i = 0; i < 12; i++) {
            k = (pass * 12 + i) * 7 % 500
            work(k, 2000 + (25 - k % 25) ^ 2 * (90 + pass % (k % 25 + 3)) + k)
        }
        event("running", 1); at += 7000; event("paused", 1)
    }
}
END
chroprof replay many.events -m 16M --stall 800us --name many -f json -o many.json
# Busy for 90 % of its time in slices of 100 us, between idle times that are as long: no single one
# is longest. A future is ready for 2 % of the time, once in each iteration.
awk -f - >shares.events <<'END'
function event(kind, id, site, line) {
    printf "%.0f %s %d%s\n", at, kind, id, site == "" ? "" : " " site " shares.c " line
}
BEGIN {
    at = 1000; event("pending", 1, "client", 20)
    for (iteration = 0; iteration < 3000; iteration++) {
        event("idle_enter", 0); at += 100000; event("idle_leave", 0); event("ready", 1)
        event("enter", 0, "accept", 30); at += 20000; event("leave", 0)
        event("running", 1); at += 80000; event("paused", 1)
        for (i = 0; i < 8; i++) {
            event("enter", 0, "work", 40); at += 100000 - 1; event("leave", 0); at++
        }
    }
}
END
chroprof replay shares.events -m 8M --stall 1s -f json -o shares.json
# A program that hangs for 400 ms, of 16 s.
awk 'BEGIN {
    OFMT = "%.0f"; at = 1000; print at, "idle_enter 0"
    for (i = 0; i < 40; i++) {
        at += 400000000; print at, "idle_leave 0"; print at, "enter 0 quick hang.c 7"
        at += i == 20 ? 400000000 : 1000; print at, "leave 0"; print at, "idle_enter 0"
    }
}' | chroprof replay - --stall 10ms --window 100ms -f json -o hang.json
# The server again, of which a site took 2 % more: what diff knows as noise.
python3 -c 'import json
profile = json.load(open("server.json"))
most = max(profile["sites"], key=lambda site: site["exec_ns"])
more = most["exec_ns"] // 50
most["exec_ns"] += more
profile["totals"]["busy_ns"] += more
profile["totals"]["idle_ns"] -= more
json.dump(profile, open("steady.json", "w"))'
name='</script><img\ssrc=x\sonerror=window.pwned=1>'
printf '%s\n' "1000 pending 1 $name <!--<script>.c 1" "1100 running 1" "900000 completed 1" \
    "900100 pending 2 &lt;b&gt;\"'%s \${x} 2" "900200 running 2" "1900000 completed 2" \
    "1900100 pending 3 __proto__ __proto__ 3" "1900200 running 3" "2200200 completed 3" \
    "2200300 pending 4 constructor toString 4" "2200400 running 4" "2400400 completed 4" |
    chroprof replay - --stall 1us --name '</title><script>window.pwned=1</script>' -f json \
        -o hostile.json
awk -v paths=100000 -f - </dev/null >big.json <<'END'
function figures(exec, all) {
    return "\"exec_ns\":" exec ",\"with_children_ns\":" all ",\"exec_max_ns\":1," \
        "\"slice_max_ns\":1,\"slices\":1,\"lifetime_ns\":9,\"waiting_ns\":1,\"delay_ns\":2," \
        "\"blame_ns\":3,\"calls\":1," \
        "\"completed\":1,\"failed\":0,\"cancelled\":0,\"abandoned\":0,\"live\":0,\"stillborn\":0,\"dropped\":0"
}
function place(site) { return "\"name\":\"site_" site "\",\"file\":\"big.c\",\"line\":" site }
BEGIN {
    sites = 400; windows = 100; each = 1000; samples = 300000; stacks = 20000
    printf "{\"chroprof\":1,\"name\":\"big\",\"totals\":{\"elapsed_ns\":%d,\"busy_ns\":%d,", \
        paths * each, paths * each
    printf "\"idle_ns\":0,\"uninstrumented_ns\":0,\"untracked_ns\":0,\"delay_ns\":0,\"events\":1,"
    printf "\"stalls\":0,\"live\":0,\"anomalies\":0}"
    printf ",\n\"sites\":["
    for (s = 0; s < sites; s++) {
        printf "%s\n{\"id\":%d,%s,%s,\"windows\":[", s ? "," : "", s, place(s), \
            figures(paths / sites * each, 0)
        for (w = 0; w < windows; w++) printf "%s%d", w ? "," : "", paths / sites * each / windows
        printf "]}"
    }
    printf "],\n\"paths\":["
    for (i = 1; i <= paths; i++) {
        depth = i % 100
        up = depth == 1 || i == 1 ? 0 : depth > 40 || depth == 0 ? i - depth % 7 - 1 : i - 1
        up = up > 0 && up < i ? up : 0
        printf "%s\n{\"id\":%d,\"parent\":%d,\"site\":%d,%s,%s}", (i > 1 ? "," : ""), i + 2, \
            up ? up + 2 : 0, i % sites, place(i % sites), figures(each, each)
    }
    printf "],\n\"stalls\":[],\n\"windows\":["
    for (w = 0; w < windows; w++) printf "%s{\"start_ns\":%d,\"end_ns\":%d,\"busy_ns\":%d," \
        "\"idle_ns\":0,\"uninstrumented_ns\":0,\"untracked_ns\":0}", w ? "," : "", \
        w * paths * each / windows, (w + 1) * paths * each / windows, paths * each / windows
    printf "],\"futures\":[],\"tables\":[],\"anomalies\":[]"
    printf ",\n\"sampler\":{\"running\":false,\"mode\":\"cpu\",\"period_ns\":333}"
    printf ",\n\"modules\":[],\n\"stacks\":["
    for (i = 1; i <= stacks; i++)                   # under a task its code
        printf "%s\n{\"id\":%d,\"parent\":%d,\"kind\":\"%s\",\"path\":%d,\"module\":-1," \
            "\"address\":%d,\"return\":true,\"name\":\"%s\",\"weight\":%d,\"cpu_ns\":%d}", \
            (i > 1 ? "," : ""), i, i % 4 == 1 ? 0 : i - 1, i % 4 == 1 ? "task" : "native", \
            i % 4 == 1 ? i + 2 : 0, 4096 + i, i % 4 == 1 ? "site_" (i % sites) : "code_" i % 999, \
            i % 4 == 0 ? 4 * samples / stacks : 0, i % 4 == 0 ? 1332 * samples / stacks : 0
    printf "],\n\"samples\":["
    for (i = 0; i < samples; i++)
        printf "%s\n{\"at_ns\":%d,\"duration_ns\":0,\"weight\":1,\"cpu_ns\":333,\"stack\":%d," \
            "\"state\":\"busy\"}", (i > 0 ? "," : ""), i * paths * each / samples, \
            4 + 4 * (i * 7 % (stacks / 4))
    printf "],\n\"wall\":[]}\n"
}
END
for one in demo/demo server calm web hostile big many shares hang; do
    if chroprof report $one.json -o "$(basename $one).html"; then ok "report_$(basename $one)"; else
        fail "report_$(basename $one)" "exit code $?"; fi
done
# one whose tasks main itself began, so that what it calls was inlined into it, or keeps no frame
python3 -c 'import json
profile = json.load(open("server.json"))
path = profile["paths"][0]
row = lambda i, up, kind, name, weight, inlined: {"id": i, "parent": up, "kind": kind, "module": -1,
    "path": path["id"] if kind == "task" else 0, "address": 4096 + i, "return": kind != "task",
    "name": "" if kind == "native" else path["name"], "weight": weight, "cpu_ns": weight * 1000,
    **({"function": name, "file": "woven.c", "line": i, "inlined": [
        {"function": one, "file": "woven.c", "line": 9} for one in inlined]} if kind == "native" else {})}
profile["stacks"] = [row(1, 0, "native", "__libc_start_call_main", 0, []), row(2, 1, "task", "", 0, []),
    row(3, 2, "native", "walk_list", 70, ["run_slice", "main"]), row(4, 2, "native", "lone_write", 30, [])]
profile["samples"] = [{"at_ns": i, "duration_ns": 0, "weight": stack["weight"], "cpu_ns": stack["cpu_ns"],
    "stack": stack["id"], "state": "busy"} for i, stack in enumerate(profile["stacks"][2:])]
profile["modules"], profile["wall"] = [], []
profile["sampler"] = {"running": False, "mode": "cpu", "period_ns": 1000, "first_period_ns": 1000,
    "budget_ppm": 10000, "ticks": 100, "samples": 100, "rows": 2, "inside": 0, "lost": 0, "dropped": 0,
    "cost_ns": 0, "misses": 0, "interrupted": 0}
json.dump(profile, open("woven.json", "w"))'
chroprof report woven.json -o woven.html
# one with samples, as chroprof symbolize leaves it, and its names turned hostile
python3 "$OLDPWD/tests/sampled.py" server.json sampled.json
python3 "$OLDPWD/tests/sampled.py" hostile.json hostile-sampled.json \
    '</script><img src=x onerror=window.pwned=1>'
for one in sampled hostile-sampled; do
    if chroprof report $one.json -o $one.html 2>log; then ok "report_$one"; else
        fail "report_$one" "$(head -n 1 log)"; fi
done
chroprof report demofixed/demo.json demo/demo.json -o compared.html
chroprof report server.json steady.json -o steady.html
chroprof diff server.json steady.json --json >steady-diff.json
chroprof diff demofixed/demo.json demo/demo.json --json >compared-diff.json
chroprof trace demo/demo.json --windows -o demo.trace.json
# the ring of a stream that it holds as a whole
for format in trace json; do
    chroprof replay "$traces/recursion.events.xz" -f $format -o steps.$format
done
mv steps.trace steps.trace.json
size=$(wc -c <demo.html)
if [ "$size" -lt 1200000 ]; then ok page_is_bounded; else fail page_is_bounded "$size bytes"; fi

# --- go tool pprof: the flat sums, read back in nanoseconds
if fetch go golang-go; then
    go tool pprof -top -sample_index=exec -unit=ns -nodecount=10000 \
        -nodefraction=0 demo/demo.pb >pprof.txt 2>&1
    python3 - demo/demo.json pprof.txt <<'END' >log 2>&1
import json, sys
profile, flat = json.load(open(sys.argv[1])), {}
for line in open(sys.argv[2]):
    words = line.split()
    if len(words) == 6 and words[0].endswith("ns"):
        flat[words[5]] = float(words[0][:-2])
for site in profile["sites"]:
    shown = flat.get(site["name"], 0)
    assert abs(shown - site["exec_ns"]) <= 1e-5 * site["exec_ns"] + 1, (site["name"], shown)
assert len(flat) > 5, flat
END
    if [ $? = 0 ]; then ok go_tool_pprof_top; else fail go_tool_pprof_top "$(tail -n 1 log)"; fi
else
    skip go_tool_pprof_top "needs go (package golang-go)"
fi

# sampled code, in samples: each function by the name that chroprof symbolize gives it, although the
# program is there, of which pprof would read names itself; code of the vDSO, which has no file, by
# the name that the profile came with
python3 -c 'import json
profile = json.load(open("sampled.json"))
profile["modules"].append({"id": 2, "path": "linux-vdso.so.1", "build_id": "", "base": 1 << 40})
for row in profile["stacks"]:
    if row.get("function") == "__memcpy_avx512":
        for key in ("function", "file", "line", "inlined"): del row[key]
        row.update(name="clock_gettime", module=2)
json.dump(profile, open("vdso.json", "w"))'
if has go; then
    for one in sampled vdso demo/demo; do
        chroprof symbolize $one.json -o named.json 2>log
        chroprof dump $one.json -f pprof -o "$(basename $one)-code.pb" 2>>log
        go tool pprof -top -sample_index=samples -nodecount=10000 -nodefraction=0 \
            "$(basename $one)-code.pb" >pprof-code.txt 2>>log
        python3 "$OLDPWD/tests/sampled_names.py" named.json pprof-code.txt >log 2>&1
        if [ $? = 0 ]; then ok "go_tool_pprof_code_$(basename $one)"; else
            fail "go_tool_pprof_code_$(basename $one)" "$(tail -n 1 log)"; fi
    done
else
    skip go_tool_pprof_code "needs go (package golang-go)"
fi
chroprof dump sampled.json -f pprof -o sampled-code.pb
chroprof dump sampled.json -f folded -o sampled-code.folded
# where tasks hang: the same in the page, folded stacks, pprof and the text
chroprof symbolize demo/demo.json -o demo-named.json 2>log
chroprof report demo-named.json -o demo-named.html
for one in woven sampled demo-named; do
    chroprof dump $one.json -f folded -o hangs-$one.folded
    chroprof symbolize $one.json --format text >hangs-$one.txt 2>log
    chroprof dump $one.json -f pprof -o hangs-$one.pb
    ! has go || go tool pprof -traces -sample_index=samples hangs-$one.pb >hangs-$one.traces 2>log
done

# --- promtool
if fetch promtool prometheus; then
    if promtool check metrics <demo/demo.prom >log 2>&1; then ok promtool; else
        fail promtool "$(head -n 1 log)"; fi
else
    skip promtool "needs promtool (package prometheus)"
fi

# --- a Prometheus server scrapes the page of the libevent example, and answers a query about it
# scraped NAME: the highest value of the series of that site in 5 seconds, of nanoseconds; a round
# takes longer
scraped() {
    promtool query instant http://127.0.0.1:19090 \
        "max(max_over_time(chroprof_exec_seconds_total{name=\"$1\"}[5s])) * 1e9" 2>>log |
        awk '{ for (i = 1; i <= NF; i++) if ($i == "=>") printf "%.0f\n", $(i + 1) }'
}
prometheus_server() {
    cat >prometheus.yml <<END
scrape_configs:
  - job_name: chroprof
    scrape_interval: 250ms
    scrape_timeout: 250ms
    metrics_path: /debug/chroprof
    params: { format: [prometheus] }
    static_configs: [ { targets: ["127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8082"] } ]
END
    rm -rf prometheus-data prometheus.log
    prometheus --config.file=prometheus.yml --storage.tsdb.path=prometheus-data \
        --web.listen-address=127.0.0.1:19090 >prometheus.log 2>&1 &
    server=$!
    for i in $(seq 1 120); do
        grep -qs 'ready to receive' prometheus.log && break
        sleep 1
    done
    for i in 1 2 3 4 5 6; do
        ./loop_libevent --json libevent.json >/dev/null 2>&1
        most=$(scraped on_compress) other=$(scraped on_refresh)
        [ "${most:-0}" = 0 ] || [ "${other:-0}" = 0 ] || break
    done
    kill "$server"
    wait "$server" 2>/dev/null
    # what was scraped is of a moment before the end; how far before, the machine decides
    if within on_compress "${most:-0}" && within on_refresh "${other:-0}"; then
        ok prometheus_server
    else
        fail prometheus_server "on_compress '$most', on_refresh '$other', in the end $(final)"
    fi
}
# final: the exec time of each site as the program itself wrote it
final() {
    python3 -c 'import json
for site in json.load(open("libevent.json"))["sites"]: print(site["name"], site["exec_ns"])'
}
# within NAME NS: more than nothing, and not more than in the end (a digit is rounded on the way)
within() {
    final | awk -v name="$1" -v ns="$2" '$1 == name { end = $2 }
        END { exit !(ns > 0 && ns <= end * 1.00001 + 1) }'
}
libevent() {
    ${CC:-cc} -O2 -Wno-unused-parameter "$OLDPWD/examples/loop_libevent.c" -o loop_libevent \
        -levent 2>>install.log
}
if ! has prometheus || ! { libevent || { fetch nothing libevent-dev; libevent; }; }; then
    skip prometheus_server "needs prometheus and libevent-dev"
else
    prometheus_server
fi

# --- the recipes for a fleet
fetch promtool prometheus || true
fetch prometheus-node-exporter prometheus-node-exporter || true
fetch curl curl || true
B=$B sh "$OLDPWD/tests/fleet.sh" >fleet.log 2>&1
! add fleet fleet.log || sed '$d' fleet.log

# --- flamegraph.pl
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
[ -e "$flamegraph" ] || fetch nytprofcg libdevel-nytprof-perl
[ -e "$flamegraph" ] || flamegraph=$(command -v flamegraph.pl)
if [ -n "$flamegraph" ]; then
    if perl "$flamegraph" demo/demo.folded >demo.svg 2>log &&
        grep -q 'task_handler' demo.svg; then ok flamegraph_pl; else
        fail flamegraph_pl "$(head -n 1 log)"; fi
else
    skip flamegraph_pl "needs flamegraph.pl (package libdevel-nytprof-perl)"
fi

# --- the importer of chrome://tracing
fetch node nodejs || true
fetch npm npm || true
[ -d node_modules/traceviewer ] || npm install --no-audit --no-fund --prefix . \
    traceviewer@1.0.11 >>install.log 2>&1
if ! has node || [ ! -d node_modules/traceviewer ]; then
    skip catapult "needs node and the npm package traceviewer"
else
    code=0
    for stream in recursion nested_poll outlive mixed_stillborn; do
        for format in trace json; do
            chroprof replay "$traces/$stream.events.xz" -f $format -o catapult.$format
        done
        NODE_PATH=$work/node_modules node "$OLDPWD/tests/catapult.js" catapult.trace catapult.json \
            2>&1 || code=$?
    done >catapult.log
    grep '^ok\|^FAIL' catapult.log
    passed=$((passed + $(grep -c '^ok' catapult.log)))
    failed=$((failed + $(grep -c '^FAIL' catapult.log)))
    [ "$code" = 0 ] || grep -q '^FAIL' catapult.log ||
        fail catapult "ends with $code: $(grep -m 1 Error catapult.log)"
fi

# --- the dashboard for Grafana, which Debian does not have, by the types of its own package
[ -d node_modules/@grafana/schema ] || npm install --no-audit --no-fund --ignore-scripts --prefix . \
    @grafana/schema@10.4.1 typescript@5.4.5 >>install.log 2>&1
if ! has node || [ ! -d node_modules/@grafana/schema ] || [ ! -d node_modules/typescript ]; then
    skip dashboard "needs node and the npm packages @grafana/schema and typescript"
else
    { sed 's/BOARD;$//' "$OLDPWD/tests/dashboard.ts"
      cat "$OLDPWD/examples/fleet/dashboard.json"
      echo ';'; } >dashboard.ts
    if node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --target es2020 \
        --moduleResolution node dashboard.ts >log 2>&1; then ok dashboard; else
        fail dashboard "$(head -n 1 log)"; fi
fi

# --- the browser
chromium=
for candidate in chromium chromium-browser google-chrome; do
    if [ -z "$chromium" ] && has "$candidate"; then chromium=$(command -v "$candidate"); fi
done
if [ -z "$chromium" ] && fetch chromium chromium; then chromium=$(command -v chromium); fi
# version 24 is the last that Debian's Node.js, 18, can load with require
modules() { [ -d node_modules/puppeteer-core ] && [ -d node_modules/speedscope ] &&
    [ -d node_modules/axe-core ]; }
modules || PUPPETEER_SKIP_DOWNLOAD=1 npm install --no-audit --no-fund --prefix . \
    puppeteer-core@24.43.1 speedscope@1.25.0 axe-core@4.10.3 >>install.log 2>&1
if [ -z "$chromium" ] || ! has node || ! modules; then
    skip browser "needs chromium, node and the npm packages puppeteer-core, speedscope and axe-core"
    finish
fi
# --- the live pages of chroprof serve
if ! ${CC:-cc} -O1 -DCHROPROF_IMPLEMENTATION -o watched "$OLDPWD/tests/watched.c" 2>log; then
    fail live "$(head -n 1 log)"
elif chroprof serve none 2>&1 | grep -q 'built without libevent'; then
    skip live "the command was built without libevent (package libevent-dev)"
else
    CHROMIUM=$chromium NODE_PATH=$work/node_modules \
        node "$OLDPWD/tests/live.js" "$B/chroprof" "$work/watched" "$work" >live.log 2>&1
    grep '^ok\|^FAIL' live.log
    passed=$((passed + $(grep -c '^ok' live.log)))
    failed=$((failed + $(grep -c '^FAIL' live.log)))
    grep -q ' passed, ' live.log || fail live "ended without its counts: $(tail -n 1 live.log)"
fi

sh "$OLDPWD/src/page/join.sh" report >page.html
CHROMIUM=$chromium NODE_PATH=$work/node_modules \
    node "$OLDPWD/tests/confused.js" "$PWD/page.html" sampled.json 23 >confused.log 2>&1
if grep -q '^ok ' confused.log; then ok values_of_other_types; else
    fail values_of_other_types "$(head -n 1 confused.log)"; fi
CHROMIUM=$chromium PAGE=$PWD/page.html NODE_PATH=$work/node_modules \
    node "$OLDPWD/tests/viewers.js" "$work" >browser.log 2>&1
if add browser browser.log; then sed '$d' browser.log; else tail -n 20 browser.log; fi
finish
