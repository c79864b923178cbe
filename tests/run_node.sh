#!/bin/sh
# chroprof run of node: the first line names the program's own functions in JavaScript, and node is
# left as it was found.
#   sh tests/run_node.sh [COMMAND]        default build/chroprof; chroprof_run.so lies beside it

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac

# --- what a line of a map says
if $CC -std=gnu99 -Wall -Wextra -Werror -o "$scratch/entries" tests/made_names.c 2>"$scratch/log" &&
    "$scratch/entries" >"$scratch/out"; then ok entries; else
    fail entries "$(cat "$scratch/log" "$scratch/out" 2>/dev/null | head -n 3 | tr '\n' ' ')"; fi

if [ "$(uname)" != Linux ] || ! command -v node >/dev/null 2>&1; then
    skip run_node "needs Linux and node"
    finish
fi
oldest=$(printf '12\n%s\n' "$(node -p 'parseInt(process.versions.node)')" | sort -n | head -n 1)
if [ "$oldest" != 12 ]; then
    skip run_node "node 12 and later tell the names"
    finish
fi

# starved: the kernel gave the sampler less than half of its ticks, as the report says
starved() {
    grep -a '^SAMPLES ' "$scratch/err" | tr -d , |
        awk '{ came += $2; lost += $3 } END { exit lost <= came }'
}

# profiled PROGRAM...: the report at 200 columns; again where the kernel gave too few samples
profiled() {
    for again in 1 2 3; do
        COLUMNS=200 "$command" run "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
        starved || break
    done
}

# says NAME PATTERN: the lines before the report have it
says() {
    first=$(sed -n '/^[^•[:space:]].*chroprof [0-9]/q;p' "$scratch/err" | tr -s '\n ' ' ')
    # shellcheck disable=SC2254           # a pattern
    case $first in $2) ok "$1" ;;
    *) if starved; then skip "$1" "the kernel gave too few samples"; else fail "$1" "$first"; fi ;;
    esac
}

# CPU time of the thread, so that a busy machine makes it no smaller
cat >"$scratch/busy.js" <<'JS'
const spend = ms => {
    const used = () => { const t = process.cpuUsage(); return (t.user + t.system) / 1000; };
    for (const end = used() + ms; used() < end;);
};
class Store {
    save() { spend(400); }
}
const store = new Store();
// the second timer ends a wait, however long node took to start
setTimeout(() => setTimeout(() => { store.save(); setTimeout(() => {}, 20); }, 20), 1);
console.log(process.pid, process.execArgv.length, process.argv.length);
JS
profiled node "$scratch/busy.js"
says method "*save busy.js:6*"
pid=$(cut -d ' ' -f 1 "$scratch/out")
if grep -qx "$pid 0 2" "$scratch/out"; then ok arguments; else
    fail arguments "$(cat "$scratch/out")"; fi
if [ -n "$pid" ] && [ ! -e "/tmp/perf-$pid.map" ]; then ok map_gone; else
    fail map_gone "/tmp/perf-$pid.map is there"; fi
{ echo '#!/usr/bin/env node'; cat "$scratch/busy.js"; } >"$scratch/script"
chmod +x "$scratch/script"
profiled "$scratch/script"
says script "*save script:7*"

# a chain of callbacks that never lets the loop poll again
cat >"$scratch/ticks.js" <<'JS'
let left = 0;
function chain() {
    if (process.cpuUsage().user < left) process.nextTick(chain);
}
function begin() {
    left = process.cpuUsage().user + 600000;
    chain();
    setTimeout(() => {}, 20);
}
setTimeout(() => setTimeout(begin, 20), 1);
JS
profiled node "$scratch/ticks.js"
says next_tick "*chain ticks.js:2*"

# as it is: without the option, without its names, with how to get them
profiled --native node "$scratch/busy.js"
if grep -q -e "--perf-basic-prof" "$scratch/err"; then ok told_how; else
    fail told_how "$(head -n 3 "$scratch/err" | tr '\n' ' ')"; fi
NODE_OPTIONS=--perf-basic-prof profiled node "$scratch/busy.js"
pid=$(cut -d ' ' -f 1 "$scratch/out")
if [ -e "/tmp/perf-$pid.map" ]; then ok own_map_stays; else fail own_map_stays "it is gone"; fi
rm -f "/tmp/perf-$pid.map"
# another program of that name is not asked for its version
mkdir "$scratch/bin"
cat >"$scratch/other.c" <<'C'
#include <stdio.h>
int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        if (words[i][0] == '-')
            fclose(fopen("asked", "w"));
    return 0;
}
C
if ${CC:-cc} -o "$scratch/bin/node" "$scratch/other.c" 2>"$scratch/log"; then
    (cd "$scratch" && "$command" run bin/node here >out 2>err </dev/null)
    if [ -e "$scratch/asked" ]; then fail other_node "it was asked"; else ok other_node; fi
else skip other_node "no compiler"; fi

"$command" run -o "$scratch/kept" node "$scratch/busy.js" >"$scratch/out" 2>"$scratch/err"
pid=$(cut -d ' ' -f 1 "$scratch/out")
"$command" symbolize "$scratch/kept" -o "$scratch/kept.json" 2>/dev/null
if grep -q '"function":"save","file":"[^"]*busy.js","line":6,.*"language":"javascript"' \
    "$scratch/kept.json"; then ok kept_names; else
    fail kept_names "$(grep -o '"function":"[a-z]*","file":"[^"]*js"' "$scratch/kept.json" |
        head -n 3 | tr '\n' ' ')"; fi
rm -f "/tmp/perf-$pid.map"
finish
