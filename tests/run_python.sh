#!/bin/sh
# Programs in Python under chroprof attach and run: the woven stack is what Python itself says, and the
# first lines name the program's own functions.
#   sh tests/run_python.sh [COMMAND]      default build/chroprof; chroprof_run.so lies beside it
#   SAMPLES=N                             stacks to compare, default 50; beyond that all of it

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
program=
trap 'kill $program 2>/dev/null; rm -rf "$scratch"' EXIT
COLUMNS=200
export COLUMNS

python=/usr/bin/python3.11
[ -x $python ] || python=$(python3.11 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ "$(uname -sm)" != "Linux x86_64" ] || [ -z "$python" ]; then
    skip run_python "needs Linux on x86-64, and CPython 3.11"
    finish
fi

# --- where things lie
include=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
if [ ! -r "$include/internal/pycore_frame.h" ]; then skip offsets "needs libpython3.11-dev"; else
    if $CC -I"$include" -o "$scratch/offsets" tests/python_offsets.c 2>"$scratch/log" &&
        "$scratch/offsets" >>"$scratch/log"; then ok offsets; else
        fail offsets "$(head -n 2 "$scratch/log" | tr '\n' '|')"; fi
fi

# --- the woven stack, at random places of a program that calls itself in every way
# compared NAME OBSERVER
compared() {
    timeout 600 $python tests/python_recursion.py "$2" "${SAMPLES:-50}" >"$scratch/log" 2>&1
    status=$?
    if [ $status = 0 ]; then ok "$1"
    elif [ $status = 77 ]; then skip "$1" "$(head -n 1 "$scratch/log")"
    else fail "$1" "status $status: $(head -n 6 "$scratch/log" | tr '\n' '|')"; fi
}

built=$(dirname "$command")
ar rc "$scratch/parts.a" "$built"/command/*.o 2>"$scratch/log"     # what it needs is taken
if ! grep -q CHROPROF_LIBDW "$built/flags/LIBDW" 2>/dev/null; then skip stacks_outside "needs libdw"
# shellcheck disable=SC2046               # words
elif ! $CC -O1 -g -o "$scratch/observer" tests/python_stacks.c "$scratch/parts.a" -pthread \
    $(cat "$built/flags/LIBDW" "$built/flags/DEMANGLE" "$built/flags/LIBEVENT") 2>"$scratch/log"; then
    fail stacks_outside "$(head -n 1 "$scratch/log")"
else compared stacks_outside "$scratch/observer"; fi
if $CC -O1 -g -fPIC -shared -fno-omit-frame-pointer -o "$scratch/inside.so" tests/python_inside.c \
    src/run/unwind.c src/run/python_walk.c -pthread -ldl 2>"$scratch/log"; then
    compared stacks_inside "$scratch/inside.so"
else fail stacks_inside "$(head -n 1 "$scratch/log")"; fi

# --- attach
cat >"$scratch/app.py" <<'PY'
import asyncio, gc, re, sqlite3, socket, sys, threading, time, urllib.request

class SlowServer:
    """Answers after 300 ms."""
    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/" % self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client = self.socket.accept()[0]
            client.recv(1000)
            time.sleep(0.3)
            client.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
            client.close()

def get_user(server):
    return urllib.request.urlopen(server.url).read()

async def client():
    get_user(SERVER)

def spend(seconds, what):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        what()

def match_words():
    re.fullmatch(r"(a+)+", "a" * 20 + "b")

async def regular():
    spend(0.3, match_words)

DATABASE = sqlite3.connect(":memory:")

def count_rows():
    DATABASE.execute("with recursive c(x) as (select 1 union all select x + 1 from c "
                     "where x < 200000) select sum(x) from c").fetchone()

async def database():
    spend(0.3, count_rows)

async def garbage():
    keep = [[] for _ in range(200000)]
    for one in keep:
        one.append(keep)
    spend(0.3, gc.collect)

def on_timer(loop):
    spend(0.3, match_words)
    loop.call_later(0.02, on_timer, loop)

async def callback():
    if not hasattr(callback, "begun"):
        callback.begun = True
        on_timer(asyncio.get_running_loop())

async def main(task):
    print("ready", flush=True)
    for _ in range(int(sys.argv[2])):
        await asyncio.sleep(0.05)
        await asyncio.create_task(task())

if __name__ == "__main__":
    SERVER = SlowServer()
    asyncio.run(main(globals()[sys.argv[1]]))
PY
line_of() { grep -n "$1" "$scratch/app.py" | head -n 1 | cut -d : -f 1; }

# attached NAME: begins the program, and watches it until there were stalls enough
attached() {
    : >"$scratch/out"
    $python "$scratch/app.py" "$1" 100000 >"$scratch/out" 2>&1 &
    program=$!
    until grep -q ready "$scratch/out"; do kill -0 $program 2>/dev/null || break; done
    timeout 120 "$command" attach --for 2s -o "$scratch/profile" $program >"$scratch/said" 2>"$scratch/err"
    kill $program 2>/dev/null
    wait $program 2>/dev/null
    program=
}

# says NAME PATTERN: in the findings that come first
says() {
    if grep '^•' "$scratch/err" | head -n 4 | grep -q "$2"; then ok "$1"
    else fail "$1" "$(head -n 4 "$scratch/err" | tr '\n' '|')"; fi
}

attached client
if grep -q "can.t be watched" "$scratch/err"; then
    skip attach "$(head -n 1 "$scratch/err")"
else
    says attach_client "client (app.py:$(line_of "async def client")) blocked .* in get_user (app.py:$(line_of "return urllib")) > urlopen"
    if grep -q "stall at .* in client: get_user  app.py:$(line_of 'return urllib')" "$scratch/err" &&
        grep -q "get_user > urlopen  called at app.py:$(line_of 'return urllib')" "$scratch/err"; then
        ok attach_causes; else fail attach_causes "$(head -n 7 "$scratch/err" | tr '\n' '|')"; fi
    "$command" symbolize "$scratch/profile" -o "$scratch/json" 2>"$scratch/log"
    if grep -q '"function":"get_user","file":"[^"]*app.py","line":[0-9]*,"inlined":\[\],"language":"python"' \
        "$scratch/json" && "$command" check "$scratch/profile" >"$scratch/log" 2>&1; then ok kept_names
    else fail kept_names "$(cat "$scratch/log")"; fi
    for format in folded pprof firefox; do
        "$command" dump --format $format "$scratch/profile" >"$scratch/made" 2>"$scratch/log"
        if grep -aq 'get_user' "$scratch/made"; then ok $format; else fail $format "no get_user"; fi
    done
    "$command" report "$scratch/profile" -o "$scratch/page.html" 2>"$scratch/log"
    if grep -q '"get_user"' "$scratch/page.html"; then ok page; else fail page "no get_user"; fi
    attached database
    says attach_database "count_rows (app.py:[0-9]*) > sqlite3_step"
fi
if [ "${SAMPLES:-50}" -gt 50 ] && ! grep -q "can.t be watched" "$scratch/err"; then
    attached garbage
    says attach_garbage "\(garbage\|spend\) (app.py:[0-9]*)"
    attached callback
    says attach_callback "match_words (app.py:[0-9]*)"
fi
# --- run. Where the kernel gave the sampler less than half of its ticks nobody knows.
starved() {
    grep -a '^SAMPLES ' "$scratch/err" | tr -d , |
        awk '{ came += $2; lost += $3 } END { exit lost <= came }'
}

# profiled PROGRAM...
profiled() {
    for again in 1 2 3; do
        timeout 120 "$command" run "$@" >"$scratch/said" 2>"$scratch/err" </dev/null
        starved || break
    done
}

# tells NAME PATTERN: the lines before the report
tells() {
    first=$(sed -n '/^[^•[:space:]].*chroprof [0-9]/q;p' "$scratch/err" | tr -s '\n ' ' ')
    if printf '%s\n' "$first" | grep -q -e "$2"; then ok "$1"
    elif starved; then skip "$1" "the kernel gave too few samples"
    elif printf '%s\n' "$first" | grep -q 'no processor\|waits for a processor\|CPU quota'; then
        skip "$1" "the machine is busy: $first"
    else fail "$1" "$first"; fi
}

# one thread that does not give up the interpreter's lock, while the loop wants it
cat >"$scratch/gil.py" <<'PY'
import asyncio, re, threading

def grind():
    for i in range(4):
        re.match(r"^(a|aa)+$", "a" * 29 + "b")

async def main():
    await asyncio.sleep(0.1)
    thread = threading.Thread(target=grind)
    thread.start()
    while thread.is_alive():
        await asyncio.sleep(0.01)

asyncio.run(main())
PY
if ! cat /proc/self/syscall >"$scratch/log" 2>&1; then
    skip run_gil "the system does not tell what threads wait for"
else
    for again in 1 2 3; do
        timeout 120 "$command" run -o "$scratch/gil.profile" $python "$scratch/gil.py" \
            >"$scratch/said" 2>"$scratch/err" </dev/null
        "$command" dump --format json "$scratch/gil.profile" >"$scratch/json" 2>"$scratch/log"
        ! grep -q '"call":"gil"' "$scratch/json" || break
    done
    if grep -q '"call":"gil"' "$scratch/json"; then ok run_gil; else
        fail run_gil "$(head -n 6 "$scratch/err" | tr '\n' '|')"; fi
fi

profiled $python "$scratch/app.py" client 2
tells run_client "get_user (app.py:$(line_of 'return urllib')) waits in recv"
profiled -o "$scratch/profile" $python "$scratch/app.py" regular 2
tells run_regular " regular app.py:$(line_of 'spend(0.3, match_words)') most of it in match_words > fullmatch called at app.py:$(line_of re.fullmatch)"
"$command" symbolize "$scratch/profile" -o "$scratch/json" 2>"$scratch/log"
if grep -q '"function":"match_words","file":"[^"]*app.py","line":[0-9]*,.*"language":"python"' \
    "$scratch/json"; then ok run_kept_names; else fail run_kept_names "$(head -n 1 "$scratch/log")"; fi
profiled $python "$scratch/app.py" database 2
tells run_database "count_rows > sqlite3_step called at app.py:$(line_of DATABASE.execute)"
profiled $python "$scratch/app.py" callback 6
tells run_callback " on_timer app.py:"
# a loop in one call of the interpreter's: the functions that it called are told apart from its own
cat >"$scratch/plain" <<PY
#!$python
import os, select, time
def handle():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        pass
def serve():
    poll = select.poll()
    poll.register(os.pipe()[0], select.POLLIN)
    for _ in range(4):
        poll.poll(20)
        handle()
    poll.poll(20)
serve()
PY
chmod +x "$scratch/plain"
profiled "$scratch/plain"
tells run_plain "[n ] handle plain:"
profiled --native $python "$scratch/app.py" regular 2
if grep -q match_words "$scratch/err"; then fail native "$(head -n 2 "$scratch/err")"; else ok native; fi

# loops of others, where they are installed
cat >"$scratch/uv.py" <<'PY'
import asyncio, sys, uvloop
sys.argv[1:] = ["handler", "1"]
import app
async def handler():
    app.spend(0.3, app.match_words)
async def main():
    for _ in range(2):
        await asyncio.sleep(0.05)
        await asyncio.create_task(handler())
    await asyncio.sleep(0.05)
uvloop.install()
asyncio.run(main())
PY
cat >"$scratch/web.py" <<'PY'
import asyncio, sys, urllib.request
from aiohttp import web
import app
async def report(request):
    app.spend(0.3, app.match_words)
    return web.Response(text="done")
async def main():
    site_app = web.Application()
    site_app.router.add_get("/report", report)
    runner = web.AppRunner(site_app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = "http://127.0.0.1:%d/report" % runner.addresses[0][1]
    for _ in range(2):
        await asyncio.get_running_loop().run_in_executor(
            None, lambda: urllib.request.urlopen(url).read())
    await runner.cleanup()
asyncio.run(main())
PY
for module in uvloop aiohttp; do
    if ! $python -c "import $module" 2>/dev/null; then skip $module "is not installed"; continue; fi
    if [ $module = uvloop ]; then file=uv; name=handler; else file=web; name=report; fi
    profiled $python "$scratch/$file.py"
    tells $module "in $name $file.py:"
done

# another version: said once, and the program is as it was
for other in python3.9 python3.10 python3.12 python3.13; do
    other=$($other -c 'import sys; print(sys.executable)' 2>/dev/null) && [ -n "$other" ] || continue
    break
done
if [ -z "$other" ] || [ ! -x "$other" ]; then skip other_version "no other Python is installed"; else
    profiled "$other" "$scratch/app.py" regular 1
    if [ "$(grep -c 'functions in Python have no names: those of CPython 3.11' "$scratch/err")" = 1 ]
    then ok other_version; else fail other_version "$(head -n 3 "$scratch/err" | tr '\n' '|')"; fi
fi
finish
