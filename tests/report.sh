#!/bin/sh
# chroprof report and chroprof trace without a browser: what goes into the files, what is refused.
#   sh tests/report.sh [COMMAND]      default build/chroprof
# QUICK=1: of the traces with most events the ring has only the end.
# Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if anything failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

command=${1:-build/chroprof}
if [ ! -x "$command" ]; then
    fail command "$command does not exist: make chroprof"
    finish
fi

run() { "$command" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?; }
# only_its_end STREAM: QUICK leaves out the ring that holds all of it, where that is thousands of events
only_its_end() { [ "${QUICK-}" = 1 ] && [ "$(wc -c <"$1")" -gt 20000 ]; }
expect() {
    if [ "$code" != "$2" ]; then
        fail "$1" "exit code $code, expected $2: $(head -n 1 "$scratch/err")"
    elif [ -n "${3-}" ] && ! grep -qF -e "$3" "$scratch/err" "$scratch/out"; then
        fail "$1" "'$3' not found in: $(head -n 2 "$scratch/err")"
    else
        ok "$1"
    fi
}
. tests/running.sh
# same_profile NAME PAGE JSON: the page holds that JSON
same_profile() {
    if python3 tests/check_page.py "$2" "$3" 2>"$scratch/log"; then ok "$1"; else
        fail "$1" "$(tail -n 1 "$scratch/log")"; fi
}
# refuse NAME TEXT WHERE: a profile that is none, and what the message says behind its name
refuse() {
    printf '%s' "$2" >"$scratch/bad.json"
    for tool in report trace; do
        run $tool "$scratch/bad.json"
        expect "${tool}_refuses_$1" 1 "bad.json:$3"
    done
}

# a stream whose names try to end the script, and two sites of one name
hostile='</script><script>boom()</script>'
cat >"$scratch/hostile.events" <<END
1000 pending 1 $hostile a<b>.c 1
1100 ready 1
1200 running 1
2200 pending 18446744073709551615 <!--<script> "quoted".c 2
2300 running 18446744073709551615
5300 paused 18446744073709551615
5400 completed 1
5500 pending 3 twin one.c 3
5600 running 3
5700 completed 3
5800 pending 4 twin two.c 4
5900 running 4
6100 completed 4
6200 pending 5 __proto__ __proto__ 5
6300 running 5
6600 completed 5
END
run replay "$scratch/hostile.events" --stall 500ns --name "$hostile" -f json -o "$scratch/h.json"
expect replay_of_hostile_names 0

# --- the page
run report "$scratch/h.json" -o "$scratch/h.html"; expect report_writes_a_page 0
sh src/page/join.sh report >"$scratch/page.html"
before=$(grep -o '</script' "$scratch/page.html" | wc -l)
after=$(grep -o '</script' "$scratch/h.html" | wc -l)
if [ "$after" = $((before + 1)) ]; then ok names_never_end_the_script; else
    fail names_never_end_the_script "$after ends of scripts, expected $((before + 1))"
fi
if grep -q 'boom' "$scratch/h.html" && ! grep -q '<script>boom' "$scratch/h.html" &&
    ! grep -q '"name":"<' "$scratch/h.html"; then ok names_are_escaped; else
    fail names_are_escaped "$(grep -n 'boom' "$scratch/h.html" | head -n 1 | cut -c 1-80)"
fi
if grep -q '"id":18446744073709551615' "$scratch/h.html"; then ok ids_keep_their_digits; else
    fail ids_keep_their_digits "18446744073709551615 not found"
fi
size=$(wc -c <"$scratch/page.html")
if [ "$size" -lt 256000 ]; then ok page_is_small; else fail page_is_small "$size bytes"; fi
if grep -nE '(src|href)="?(https?:)?//|url\(|innerHTML|document\.write|eval\(' \
    "$scratch/page.html" >"$scratch/found"; then
    fail page_fetches_and_injects_nothing "$(head -n 1 "$scratch/found")"
else
    ok page_fetches_and_injects_nothing
fi
run report "$scratch/h.json" "$scratch/h.json" -o "$scratch/two.html"; expect report_of_two 0
if [ "$(grep -c 'class="chroprof-profile"' "$scratch/two.html")" = 2 ]; then ok two_are_held; else
    fail two_are_held "$(grep -c 'class="chroprof-profile"' "$scratch/two.html") found"
fi
if "$command" report - <"$scratch/h.json" 2>/dev/null | grep -q 'class="chroprof-profile"'; then
    ok report_by_pipe; else fail report_by_pipe "no profile in standard output"; fi
cp "$scratch/h.json" "$scratch/a\"><b>.json"
run report "$scratch/a\"><b>.json" -o "$scratch/name.html"
if grep -q 'data-source="a&#34;&#62;&#60;b&#62;.json"' "$scratch/name.html"; then
    ok file_names_are_escaped; else fail file_names_are_escaped "data-source is not as expected"; fi
run report "$scratch/h.json" --page "$scratch/page.html" -o "$scratch/same.html"
if cmp -s "$scratch/h.html" "$scratch/same.html"; then ok page_is_the_one_in_src; else
    fail page_is_the_one_in_src "the command holds another page"; fi
run report "$scratch/h.json" --page Makefile -o "$scratch/x"; expect page_without_mark 1 "no line"

# --- live futures: of many only those that are longest in their state
awk 'BEGIN { for (i = 1; i <= 5000; i++) print i * 10, "pending", i, "many", "m.c", 1 }' \
    >"$scratch/many.events"
run replay "$scratch/many.events" -f json -o "$scratch/many.json"
run report "$scratch/many.json" -o "$scratch/many.html"; expect report_of_many_futures 0
kept=$(grep -c '"state":"pending"' "$scratch/many.html")
if [ "$kept" = 300 ] && grep -q '{"id":1,' "$scratch/many.html" &&
    grep -q '{"id":300,' "$scratch/many.html" && ! grep -q '{"id":301,' "$scratch/many.html"; then
    ok oldest_futures_kept; else fail oldest_futures_kept "$kept rows"; fi

# --- the trace
cat >"$scratch/check.py" <<'END'
import bisect, decimal, json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
trace = json.load(open(sys.argv[2], encoding="utf-8"), parse_float=decimal.Decimal)
names, open_now, sums, last = {}, None, {}, 0
for site in profile["sites"]:
    names.setdefault(site["name"], []).append(site)
for event in trace["traceEvents"]:
    if event.get("tid") == 2:
        continue
    if event["ph"] in "BE":
        at = int(event["ts"] * 1000)
        assert at >= last, "time goes back"
        last = at
    if event["ph"] == "B":
        assert open_now is None
        open_now = (event["name"], at)
    if event["ph"] == "E":
        assert open_now[0] == event["name"]
        sums[event["name"]] = sums.get(event["name"], 0) + at - open_now[1]
        open_now = None
assert open_now is None
for name, sites in names.items():
    for site in sites:
        label = name if len(sites) == 1 else "%s (%s:%d)" % (name, site["file"], site["line"])
        assert sums.pop(label, 0) == site["exec_ns"], label
totals = profile["totals"]
for state in "untracked", "uninstrumented", "idle":
    assert sums.pop("(%s)" % state, 0) == totals[state + "_ns"], state
assert not sums, sums
begins = [e for e in trace["traceEvents"] if e["ph"] == "b"]
ends = [e for e in trace["traceEvents"] if e["ph"] == "e"]
shares = sum(len(s["shares"]) for s in profile["stalls"])
assert len(begins) == len(ends) == len(profile["stalls"]) + shares
for stall, event in zip(profile["stalls"], [e for e in begins if e["name"].startswith("stall, ")]):
    assert int(event["ts"] * 1000) == stall["start_ns"]
counters = [e for e in trace["traceEvents"] if e["ph"] == "C"]
assert len(counters) == 2 * len(profile["windows"])
assert all(0 <= value <= 100 for e in counters for value in e["args"].values())

# samples: slices nest, and at the moment of each sample its own calls are under way
calls, states = [], []
for event in trace["traceEvents"]:
    if event.get("tid") != 2 or event["ph"] not in "BE":
        continue
    at = int(event["ts"] * 1000)
    assert not states or at >= states[-1][0], "samples go back"
    if event["ph"] == "B":
        calls.append(event["name"])
    else:
        assert calls.pop() == event["name"]
    if states and states[-1][0] == at:
        states.pop()
    states.append((at, tuple(calls)))
assert not calls
modules = {row["id"]: row["path"].split("/")[-1] for row in profile.get("modules", [])}
stacks = {stack["id"]: stack for stack in profile.get("stacks", [])}
def chain(stack):
    above = chain(stacks[stack["parent"]]) if stack["parent"] else ()
    inner = [stack.get("function", stack["name"]) or "[%s]" % modules[stack["module"]]]
    inner += [call["function"] for call in stack.get("inlined", [])]
    return above + tuple(reversed(inner))
at = [state[0] for state in states]
for row in profile.get("samples", []):
    under_way = states[bisect.bisect_right(at, row["at_ns"]) - 1][1]
    assert under_way == (() if row["state"] == "idle" else chain(stacks[row["stack"]])), row
assert not stacks or len(states) > 10
END
check_trace() {
    run trace "$2" --windows -o "$scratch/trace.json"
    if [ "$code" != 0 ]; then
        fail "$1" "exit code $code: $(head -n 1 "$scratch/err")"
    elif python3 "$scratch/check.py" "$2" "$scratch/trace.json" >"$scratch/log" 2>&1; then
        ok "$1"
    else
        fail "$1" "$(tail -n 1 "$scratch/log")"
    fi
}
if command -v python3 >/dev/null 2>&1; then
    check_trace trace_sums_hostile "$scratch/h.json"
    for stream in tests/traces/*.events.xz; do
        name=$(basename "$stream" .events.xz)
        "$command" replay "$stream" --stall 50us -f json -o "$scratch/$name.json" 2>/dev/null
        check_trace "trace_sums_$name" "$scratch/$name.json"
    done
    python3 tests/sampled.py "$scratch/web.json" "$scratch/sampled.json"
    check_trace trace_of_samples "$scratch/sampled.json"
    cat >"$scratch/code.py" <<'END'
import json, re, sys
profile, found, tasks, task = json.load(open(sys.argv[1], encoding="utf-8")), {}, {}, None
stacks = {row["id"]: row for row in profile["stacks"]}
idle = {row["stack"] for row in profile["samples"] if row["state"] == "idle"}
for row in stacks.values():
    if row["id"] in idle or row["weight"] == 0:
        continue
    up = row
    while up and up["kind"] != "task":
        up = stacks.get(up["parent"])
    leaf = row.get("function") or "[libc.so.6]"
    key = (up["name"] if up else "(no task)", leaf)
    found[key] = found.get(key, 0) + row["weight"]
    tasks[key[0]] = tasks.get(key[0], 0) + row["weight"]
total, checked = sum(tasks.values()), 0
text = open(sys.argv[2], encoding="utf-8").read().split("STALLS")
assert "CODE  %d samples" % total in text[0], text[0][:60]
for line in filter(None, text[0].splitlines()[2:]):
    share, rest = re.match(r" *<?([0-9.]+)%  (.*)", line).groups()
    if rest.startswith("  "):
        leaf = re.sub(r"  (called at )?\S*:\d+$", "", rest.strip()).split(" > ")[-1]
        if leaf == "__memcpy_avx512":      # the caller's, not the C library's
            assert re.search(r"^\w+ > \w+  called at server\.c:", rest.strip()), line
            checked_libc = True
        expected = found[(task, leaf)]
    else:
        task, expected = rest, tasks[rest]
    assert abs(float(share) - 100 * expected / total) <= 0.051, (line, expected)
    checked += 1
assert checked >= 5 and checked_libc, checked
longest = max(stall["length_ns"] for stall in profile["stalls"])
first = re.search(r"^ *([0-9.]+)(ms|us|µs)", text[1].split("\n", 1)[1]).groups()
assert abs(float(first[0]) * {"ms": 1e6}.get(first[1], 1e3) - longest) < 0.006 * longest, first
END
    run symbolize --format text "$scratch/sampled.json"
    if [ "$code" = 0 ] && python3 "$scratch/code.py" "$scratch/sampled.json" "$scratch/out" \
        >"$scratch/log" 2>&1; then ok code_as_text; else
        fail code_as_text "$(tail -n 1 "$scratch/log")"; fi
    # of one task most was off CPU: what the samples by CPU time leave stands in a frame of its own
    cat >"$scratch/off.py" <<'END'
import json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
worst = max((n for n in profile["stacks"] if n["kind"] == "native" and n["weight"] > 9),
            key=lambda n: n["weight"] * (n["id"] not in {s["stack"] for s in profile["samples"]
                                                         if s["state"] == "idle"}))
for row in [worst] + [n for n in profile["stacks"] if n["parent"] == worst["parent"]]:
    row["cpu_ns"] //= 50
profile["sampler"]["mode"] = sys.argv[3]
json.dump(profile, open(sys.argv[2], "w", encoding="utf-8"), ensure_ascii=False)
END
    for mode in cpu wall; do
        python3 "$scratch/off.py" "$scratch/sampled.json" "$scratch/off.json" $mode
        run dump "$scratch/off.json" -f folded -o "$scratch/off.folded"
        run dump "$scratch/off.json" -f pprof -o "$scratch/off.pprof"
        found=$(grep -c ';(off CPU) [0-9]*$' "$scratch/off.folded")
        if ! python3 tests/check_pprof.py "$scratch/off.pprof" "$scratch/off.json" --code \
            >"$scratch/log" 2>&1 || ! (cd tests && python3 -c 'import check_formats, json, sys
check_formats.check_folded(sys.argv[1], json.load(open(sys.argv[2])), True)' \
                "$scratch/off.folded" "$scratch/off.json") >"$scratch/log" 2>&1; then
            fail "time_off_cpu_by_$mode" "$(tail -n 1 "$scratch/log")"
        elif [ $mode = cpu ] && [ "$found" = 0 ] || [ $mode = wall ] && [ "$found" != 0 ]; then
            fail "time_off_cpu_by_$mode" "$found stacks end in (off CPU)"
        else
            ok "time_off_cpu_by_$mode"
        fi
    done
    # one sample is no share; our own functions are told as such, whoever found their names
    cat >"$scratch/few.py" <<'END'
import json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
idle = {s["stack"] for s in profile["samples"] if s["state"] == "idle"}
ours = next(n for n in profile["stacks"] if n["weight"] > 0 and n["id"] not in idle and n.get("function"))
for row in profile["stacks"]:
    row["weight"] = int(row is ours)
ours.update(function="chroprof__open_row", file="/usr/include/chroprof.h", inlined=[])
json.dump(profile, open(sys.argv[2], "w", encoding="utf-8"), ensure_ascii=False)
END
    python3 "$scratch/few.py" "$scratch/sampled.json" "$scratch/few.json"
    run symbolize --format text "$scratch/few.json"; expect one_sample 0 "CODE  1 sample, one every"
    sed '/^STALLS/,$d' "$scratch/out" >"$scratch/few"
    if [ "$(grep -c '^  1 of 1  ' "$scratch/few")" = 2 ] && ! grep -q '100\|chroprof__' "$scratch/few" &&
        grep -q '(inside chroprof)$' "$scratch/few"; then ok one_sample_of_ours; else
        fail one_sample_of_ours "$(tail -n 1 "$scratch/few")"; fi
    run symbolize --format text "$scratch/h.json"; expect no_code_to_show 0 "has no samples"
    python3 tests/sampled.py "$scratch/h.json" "$scratch/sampled.json" "$hostile\"\\"
    check_trace trace_of_hostile_samples "$scratch/sampled.json"
    run symbolize --format text "$scratch/sampled.json"; expect code_of_hostile_samples 0 "CODE"
    if python3 tests/confused.py "$command" "$scratch/sampled.json" "$scratch" 37 >"$scratch/log" 2>&1
    then ok values_of_other_types; else
        fail values_of_other_types "$(head -n 2 "$scratch/log" | cut -c 1-300)"; fi
    python3 - "$scratch/h.json" "$scratch/raw.json" <<'END'
import json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
profile["sites"][0]["name"] = "r\udcffw" + "x" * 5000
text = json.dumps(profile, ensure_ascii=False).encode("utf-8", "surrogateescape")
open(sys.argv[2], "wb").write(text)
END
    run report "$scratch/raw.json" -o "$scratch/raw.html"
    expect bytes_that_are_not_utf8 0 "1 bytes are not UTF-8"
    expect texts_that_are_long 0 "1 texts of more than 1,000 bytes are cut"
    if iconv -f UTF-8 -t UTF-8 "$scratch/raw.html" >"$scratch/log" 2>&1 &&
        grep -q 'r?wx' "$scratch/raw.html" && ! grep -q 'x\{1001\}' "$scratch/raw.html"; then
        ok pages_are_utf8; else fail pages_are_utf8 "$(tail -n 1 "$scratch/log" | cut -c 1-100)"; fi
    run report "$scratch/sampled.json" -o "$scratch/sampled.html"; expect report_of_samples 0
    same_profile page_of_samples "$scratch/sampled.html" "$scratch/sampled.json"
    if ! command -v node >/dev/null 2>&1; then
        skip page_reads_columns "needs node (package nodejs)"
    elif node tests/columns.js "$scratch/sampled.html" "$scratch/sampled.json" 2>"$scratch/log"; then
        ok page_reads_columns; else
        fail page_reads_columns "$(grep -m 1 ^Error "$scratch/log")"; fi
    if [ "$(grep -o '</script' "$scratch/sampled.html" | wc -l)" = $((before + 1)) ]; then
        ok functions_never_end_the_script; else
        fail functions_never_end_the_script "a function does"; fi
else
    skip trace_sums "needs python3"
fi

# --- profiles in files: as their own JSON, by whatever way they come
cat >"$scratch/mapped.c" <<'END'
#define _DEFAULT_SOURCE
#include <unistd.h>
#include "chroprof.h"
CHROPROF_SITE(site_outer, "outer");
CHROPROF_SITE(site_inner, "never_returns");
int main(int argc, char **argv)
{
    static chroprof p;
    chroprof_options options = { 0 };
    options.clock = chroprof_clock_manual;
    options.name = "mapped";
    if (chroprof_map(&p, argv[1], 1 << 17, &options) != CHROPROF_OK)
        return 1;
    char mode = argc > 2 ? argv[2][0] : ' ';
    if (mode == 'r') {
        chroprof_event(&p, CHROPROF_PENDING, 1, &site_outer, 200);
        chroprof_event(&p, CHROPROF_PENDING, 2, &site_outer, 300);
        chroprof_reset(&p);
        chroprof_event(&p, CHROPROF_COMPLETED, 1, NULL, 500);
    }
    chroprof_event(&p, CHROPROF_ENTER, 0, &site_outer, 1000);
    chroprof_event(&p, CHROPROF_ENTER, 0, &site_inner, 4000);
    if (mode == 'h')
        pause();
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 9000);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 11000);
    chroprof_unmap(&p);
    return 0;
}
END
if ${CC:-cc} -I. -o "$scratch/mapped" "$scratch/mapped.c" "$implementation" 2>"$scratch/log"; then
    block=$scratch/ended.chroprof
    "$scratch/mapped" "$block"
    run dump "$block" --format json -o "$scratch/ended.json"
    run report "$block" -o "$scratch/ended.html"; expect report_of_a_file 0 "ended normally"
    same_profile page_of_a_file "$scratch/ended.html" "$scratch/ended.json"
    gzip -c "$block" >"$scratch/packed.gz"
    run report "$scratch/packed.gz" -o "$scratch/packed.html"
    same_profile page_of_a_packed_file "$scratch/packed.html" "$scratch/ended.json"
    "$command" report - <"$block" >"$scratch/piped.html" 2>"$scratch/err"
    same_profile page_of_a_piped_file "$scratch/piped.html" "$scratch/ended.json"
    run report "$block" "$scratch/ended.json" -o "$scratch/two.html"; expect file_and_json 0
    run trace "$scratch/ended.json" --windows -o "$scratch/one.json"
    run trace "$block" --windows -o "$scratch/two.json"; expect trace_of_a_file_by_windows 0
    if cmp -s "$scratch/one.json" "$scratch/two.json"; then ok trace_of_a_file_is_the_same; else
        fail trace_of_a_file_is_the_same "it differs from the trace of its JSON"; fi
    run trace "$block" -o "$scratch/steps.json"; expect trace_of_a_file 0
    if python3 tests/check_trace.py "$scratch/steps.json" >"$scratch/log" 2>&1; then
        ok trace_of_the_steps; else fail trace_of_the_steps "$(tail -n 1 "$scratch/log")"; fi
    for in in "$block" "$scratch/ended.json"; do
        [ "$in" != "$block" ] || cp "$scratch/steps.json" "$scratch/one.json"
        [ "$in" = "$block" ] || run trace "$in" -o "$scratch/one.json"
        run dump "$in" --format trace -o "$scratch/two.json"; expect "dump_trace_${in##*.}" 0
        if cmp -s "$scratch/one.json" "$scratch/two.json"; then ok "dump_trace_same_${in##*.}"; else
            fail "dump_trace_same_${in##*.}" "chroprof trace writes another one"; fi
    done
    run dump "$block" --format traces; expect dump_names_its_formats 2 "firefox or trace"
    run dump "$block" --for 0.1 --format trace -o "$scratch/two.json"
    expect dump_trace_of_an_interval 0
    if python3 -m json.tool "$scratch/two.json" >/dev/null; then ok trace_of_an_interval; else
        fail trace_of_an_interval "no JSON"; fi
    "$scratch/mapped" "$scratch/hung.chroprof" hang &
    hung=$!
    until_running "$hung"
    run report "$hung" -o "$scratch/hung.html"; expect report_of_a_process 0 "running never_returns"
    run trace "$scratch/hung.chroprof" -o "$scratch/x"; expect trace_of_a_hung_one 0 "$hung runs"
    kill -9 "$hung"; wait "$hung" 2>/dev/null
    run report "$scratch/hung.chroprof" -o "$scratch/x"
    expect report_of_a_killed_one 0 "$hung ended without closing its profile"
    head -c 5000 "$block" >"$scratch/short.chroprof"
    for tool in report trace; do
        run $tool "$scratch/short.chroprof"; expect "${tool}_refuses_a_cut_file" 1 "only the beginning"
        "$command" $tool - <"$scratch/short.chroprof" >"$scratch/out" 2>"$scratch/err"; code=$?
        expect "${tool}_refuses_a_cut_pipe" 1 "only the beginning"
        run $tool 999999999; expect "${tool}_without_the_process" 1 "no file with this name"
    done
else
    fail mapped_builds "$(head -n 1 "$scratch/log")"
fi

# --- a profile of each schema, of the same events: 1 of 0.1.0, whose stalls list their biggest slices
# (two of slow_query, 3 and 2 us long, and one of render), 2 of 0.2.0, and 3
for schema in 1 2 3; do
    old=tests/golden/schema_$schema.json
    for format in text folded pprof firefox trace; do
        case $format in
        text) run symbolize --format text $old ;;
        trace) run trace $old -o "$scratch/old.$format"
            [ $schema -gt 1 ] || grep -q "no steps of the ring" "$scratch/err" ||
                code="$code, and no word of the windows" ;;
        *) run dump $old -f $format -o "$scratch/old.$format" ;;
        esac
        expect "schema_${schema}_as_$format" 0
    done
    case $(grep -c '"name":"slow_query"' "$scratch/old.trace") in
    0) fail schema_${schema}_stalls_in_the_trace "no slice of slow_query" ;;
    *) ok schema_${schema}_stalls_in_the_trace ;;
    esac
    for other in 1 2 3; do
        run diff $old tests/golden/schema_$other.json
        expect "schema_${schema}_against_$other" 0 "slow_query  db.c:10"
    done
    run report $old -o "$scratch/old.html"; expect schema_${schema}_as_a_page 0
    if grep -q version "$scratch/err"; then fail schema_${schema}_is_known "$(cat "$scratch/err")"
    else ok schema_${schema}_is_known; fi
    if ! command -v node >/dev/null 2>&1; then
        skip page_reads_schema_$schema "needs node (package nodejs)"
    else
        shares=$(node tests/columns.js "$scratch/old.html" $old shares 2>"$scratch/log")
        wanted='slow_query 2 slices 5000 ns, longest 3000; render 1 slices 2500 ns, longest 2500'
        case $shares in
        "$wanted" | "$wanted; (uninstrumented) 0 slices 700 ns, longest 0")
            ok page_reads_schema_$schema ;;
        *) fail page_reads_schema_$schema "$shares $(grep -m 1 Error "$scratch/log")" ;;
        esac
    fi
done

# --- the trace of JSON is that of its profile, byte by byte: of a ring that holds all and of one that
# holds the end, of a program that was killed, of one that lived before its profile was reset, and
# with samples, which have a track as by windows
same_trace() {
    run trace "$2" -o "$scratch/json.trace"
    if [ "$code" != 0 ]; then fail "$1" "exit code $code: $(head -n 1 "$scratch/err")"
    elif cmp -s "$3" "$scratch/json.trace"; then ok "$1"; else
        fail "$1" "$(diff "$3" "$scratch/json.trace" | head -n 2 | tail -n 1)"; fi
}
for stream in "$scratch/hostile.events" tests/traces/*.events.xz; do
    for room in "-m 64K" "--set max_events=65536"; do
        case $room in *events*) ! only_its_end "$stream" || continue ;; esac
        name=trace_of_the_json_of_$(basename "${stream%.xz}" .events)_in_${room#*[ =]}
        run replay "$stream" $room --stall 50us -f json -o "$scratch/steps.json"
        run replay "$stream" $room --stall 50us -f trace -o "$scratch/steps.trace"
        same_trace "$name" "$scratch/steps.json" "$scratch/steps.trace"
    done
done
if [ -e "$scratch/hung.chroprof" ]; then
    "$scratch/mapped" "$scratch/reset.chroprof" reset
    for block in "$block" "$scratch/hung.chroprof" "$scratch/reset.chroprof"; do
        run dump "$block" -f json -o "$scratch/steps.json"
        run trace "$block" -o "$scratch/steps.trace"
        same_trace "trace_of_the_json_of_$(basename "$block" .chroprof)" "$scratch/steps.json" \
            "$scratch/steps.trace"
    done
fi
if [ -e "$scratch/sampled.json" ]; then
    run trace "$scratch/sampled.json" --windows -o "$scratch/two.json"
    run trace "$scratch/sampled.json" -o "$scratch/one.json"
    grep '"tid":2' "$scratch/two.json" >"$scratch/two"
    grep '"tid":2' "$scratch/one.json" >"$scratch/one"
    if [ -s "$scratch/one" ] && cmp -s "$scratch/one" "$scratch/two"; then
        ok samples_beside_the_ring; else fail samples_beside_the_ring "not those by windows"; fi
fi

# --- a timeline that is damaged is refused, and the message names its place
run replay tests/traces/nested_poll.events.xz -f json -o "$scratch/good.json"
line=$(grep -n '^"timeline"' "$scratch/good.json" | cut -d : -f 1)
# damage NAME SED MESSAGE: what happens if that is done to the line of the timeline
damage() {
    sed "${4-$line}$2" "$scratch/good.json" >"$scratch/bad.json"
    if cmp -s "$scratch/good.json" "$scratch/bad.json"; then fail "damage_$1" "nothing is damaged"; fi
    run trace "$scratch/bad.json"; expect "timeline_refuses_$1" 1 "$3"
}
data() { echo "s|\"data\":\"[^\"]*|\"data\":\"$1|"; }
at=bad.json:$line:
damage base64 's/"data":"./&!/' "expected steps in base64"
damage a_cut 's/....""*}/"}/' "expected steps that are not cut short"
damage a_cut_step 's/....................""*}/"}/' "$at"
damage no_steps 's/"data":"[^"]*/"data":"/' "expected as many steps as the ring has"
damage a_number 's/"data":"[^"]*/"data":7,"was":"/' "expected a text in quotes"
damage more_steps 's/"steps":/&1/' "expected as many steps as the ring has"
damage the_first_step 's/"first":0/"first":9000000000000000000/' "expected as many steps as the ring has"
damage fewer_steps 's/"steps":20/"steps":2/' "expected as many steps as the ring has"
damage the_end_of_time "$(data DP///////////wEADAEA)" "expected steps whose depth and time can be"
damage depth "$(data rPp+AAA=)" "expected steps whose depth and time can be"
damage 65_bits "$(data DP///////////wIA)" "expected steps that are not cut short"
damage no_end "$(data DP///w==)" "expected steps that are not cut short"
damage a_path '/"parent":0,/s/"id":3,/"id":99,/' "steps whose paths are in the list" ""
damage a_parent '/"parent":3,/s/"id":4,/"id":2,/' "$at" ""
damage paths 's/"paths":\[/"paths":7,"was":[/' "expected a list" ""
damage totals 's/"totals":/"total":/' "bad.json" ""

# --- the timeline of the page draws the spans of the trace, of a ring that holds all and of one that
# holds the end
for trace in tests/traces/*.events.xz; do
    for size in 64K 64M; do
        [ $size = 64K ] || ! only_its_end "$trace" || continue
        name=page_draws_the_trace_of_$(basename "$trace" .events.xz)_in_$size
        run replay "$trace" -m $size -f json -o "$scratch/steps.json"
        run replay "$trace" -m $size -f trace -o "$scratch/steps.trace"
        if ! command -v node >/dev/null 2>&1; then
            skip "$name" "needs node (package nodejs)"
        elif node tests/steps.js "$scratch/page.html" "$scratch/steps.json" "$scratch/steps.trace" \
            >"$scratch/log" 2>&1; then ok "$name"; else
            fail "$name" "$(grep -m 1 Error "$scratch/log")"; fi
    done
done

# --- what is refused, by line and column
refuse empty '' " the input is empty"
refuse text 'hello' " this is not a profile"
refuse cut '{"chroprof":2,
"sites":[' 2:10
refuse version '{"chroprof":4}' " this was written by another version"
refuse other_json '{"a":[1,2.5e3,-1,true,null,"\u00e9\n"]}' "1:1: "
refuse number '{"chroprof":-1}' "1:13: "
refuse escape '{"chroprof":2,
"name":"\x"}' 2:10
refuse control "$(printf '{"name":"a\tb"}')" "1:11: "
refuse comma '{"chroprof":2 "sites":[]}' "1:15: "
refuse surplus '{"chroprof":2,"name":"","sites":[],"stalls":[],"windows":[],"futures":[]} x' "1:75: "
refuse brackets "$(awk 'BEGIN { for (i = 0; i < 70; i++) printf "[" }' | sed 's/^/{"a":/')" "1:69: "
printf '{"chroprof":2,"name":"","sites":{},"stalls":1,"windows":[],"futures":1}' \
    >"$scratch/bad.json"
run report "$scratch/bad.json"; expect report_refuses_types 1 "bad.json:1:70: expected a list"
run trace "$scratch/bad.json"; expect trace_refuses_types 1 "bad.json:1:33: expected a list"
if [ "$(wc -l <"$scratch/err")" = 1 ]; then ok one_message; else
    fail one_message "$(wc -l <"$scratch/err") lines"; fi
for part in '"stacks":[7]' '"stacks":[{"id":1,"name":7}]' '"samples":[{"at_ns":-1}]' \
    '"samples":{}' '"sampler":[]' '"stacks":[{"id":1,"inlined":[7]}],"samples":[{"stack":1}]'; do
    printf '{"chroprof":2,"name":"","sites":[],"stalls":[],"windows":[],"futures":[],%s%s}' \
        '"sampler":{},"modules":[],"stacks":[],"samples":[],' "$part" >"$scratch/bad.json"
    run trace "$scratch/bad.json"; expect "trace_refuses_$part" 1 "bad.json:1:"
done
run report "$scratch/absent.json"; expect absent_file 1 "absent.json"
run trace "$scratch/h.json" -o "$scratch/no/such/folder"; expect bad_output 1 "No such file"
run report; expect report_usage 2 "missing argument"
run trace a b; expect trace_usage 2 "unexpected argument b"
finish
