#!/bin/sh
# Programs in Python under chroprof attach and run: the woven stack is what Python itself says, and the
# first lines name the program's own functions.
#   sh tests/run_python.sh [COMMAND]      default build/chroprof; chroprof_run.so lies beside it
#   SAMPLES=N                             stacks to compare, default 50

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
parts=
for part in attach_python attach_scan attach_stop attach_unwind attach_proc elf elf_ranges demangle made_names buffer \
    message foreign terminal values; do parts="$parts src/command/$part.c"; done
# shellcheck disable=SC2086               # words
if ! pkg-config --exists libdw 2>/dev/null; then skip stacks "needs libdw"
elif ! $CC -O1 -g -DCHROPROF_LIBDW -o "$scratch/observer" tests/python_stacks.c $parts \
    $(pkg-config --cflags --libs libdw) 2>"$scratch/log"; then
    fail stacks "$(head -n 1 "$scratch/log")"
else
    timeout 600 $python tests/python_recursion.py "$scratch/observer" "${SAMPLES:-50}" \
        >"$scratch/log" 2>&1
    status=$?
    if [ $status = 0 ]; then ok stacks
    elif [ $status = 77 ]; then skip stacks "$(head -n 1 "$scratch/log")"
    else fail stacks "status $status: $(head -n 6 "$scratch/log" | tr '\n' '|')"; fi
fi

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
    says attach_database "database (app.py:[0-9]*) blocked .* in count_rows (app.py:[0-9]*) > sqlite3_step"
    attached garbage
    says attach_garbage "garbage (app.py:[0-9]*)"
    attached callback
    says attach_callback "on_timer (app.py:[0-9]*) blocked .* in match_words (app.py:[0-9]*) > fullmatch"
fi
finish
