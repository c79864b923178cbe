#!/bin/sh
# chroprof run and real programs from Debian's packages.
#   sh tests/programs.sh [COMMAND [NAME...]]       default build/chroprof, and all of them
# Installs what is missing with apt-get, if this is root or sudo asks for no password.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.
#
# Each program below runs twice, without chroprof and with it, and must print and answer the same.
# With it, the cause that was planted must be the first or second finding, and its function the
# one that the sampler saw in the stall. Debian's programs are stripped: where a program exports
# its functions they have names, else only the file that they are in is known. For their names,
# install the packages with debug information (redis-server-dbgsym and so on, from the archive
# debian-debug), or ask a debuginfod server.
#
#   program              what is planted                          where the stall must be
#   redis_keys           KEYS * on many keys                      keysCommand, or what it calls; the
#                                                                 functions that called it, up to
#                                                                 the loop: by tables
#   redis_eval           EVAL of a long loop                      below lua_pcall, by tables
#   lighttpd             the list of a folder of 50,000 files     mod_dirlisting, or what it calls
#   memcached            one get of 200,000 keys                  memcached, or what it calls
#   tmux                 a search in a history of 200,000 lines   tmux, or what it calls
#   neovim               a long loop in Lua, in a timer           libluajit
#   neovim_requests      requests of libuv, one after the other   (their number and latency)
#   glib                 a D-Bus service that makes a checksum    libglib
#   node                 a busy handler of HTTP requests          busyHandler
#   asyncio              time.sleep in a coroutine                clock_nanosleep
#   curl                 nobody reads its output                  write
#   transmission         adding a torrent of 50,000 files         transmission-daemon, or what it calls
#   plain                some sixty programs of a Debian system   (only the comparison)
#   attach_...           chroprof attach, from outside            see programs_attach.sh

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac
[ $# = 0 ] || shift
chosen=$*
server='' helper=''

# What a test started: its own processes only.
end_all() {
    for one in $server $helper; do kill -KILL "$one"; done 2>/dev/null
    server='' helper=''
}
clean() {
    end_all
    [ ! -s "$scratch/pid" ] || rm -f "/tmp/perf-$(cat "$scratch/pid").map"
    rm -rf "$scratch"
}
trap clean EXIT

if [ "$(uname)" != Linux ]; then
    skip programs "needs Linux"
    finish
fi
unset LANGUAGE NO_COLOR
LC_ALL=C.UTF-8 COLUMNS=200             # no sentence is broken where a test looks
export LC_ALL COLUMNS
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

# >>packages: PROGRAM PACKAGE

python=/usr/bin/python3                # Debian's, not one that somebody built
programs="redis-server redis-server
redis-cli redis-tools
lighttpd lighttpd
memcached memcached
tmux tmux
nvim neovim
node nodejs
$python python3
curl curl
transmission-daemon transmission-daemon
dbus-daemon dbus
nginx nginx-light
musl-gcc musl-tools
go golang-go
gdbus libglib2.0-bin
gdb gdb"

has() { command -v "$1" >/dev/null 2>&1; }
has_gi() { $python -c 'from gi.repository import Gio' 2>/dev/null; }

# of_chosen PROGRAM: a test that is wanted needs it, by its line below; plain compares whatever there is
of_chosen() {
    case " ${chosen:-plain} " in *" plain "*) return 0 ;; esac
    for one in $chosen; do
        case " $(sed -n "s/^    needs $one \(.*\) || return$/\1/p" tests/programs.sh \
            tests/programs_attach.sh) " in
        *" $1 "*) return 0 ;;
        *' $python '*) [ "$1" != "$python" ] || return 0 ;;
        esac
    done
    return 1
}

missing=$(echo "$programs" | while read -r program package; do
    has "$program" || ! of_chosen "$program" || echo "$package"
done)
has_gi || ! of_chosen gdbus || missing="$missing python3-gi"
if [ -n "$missing" ] && has apt-get; then
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    if $root true 2>/dev/null; then
        echo "installing:" $missing
        export DEBIAN_FRONTEND=noninteractive
        mkdir -p build
        {
            $root apt-get -q update
            for package in $missing; do
                $root apt-get -q -y install --no-install-recommends "$package"
            done
        } >build/programs.log 2>&1 </dev/null
    fi
fi

# needs NAME PROGRAM...: whether the test is wanted and can be run
needs() {
    name=$1
    case " ${chosen:-$name} " in *" $name "*) ;; *) return 1 ;; esac
    shift
    for program in "$@"; do
        has "$program" || { skip "$name" "needs $program"; return 1; }
    done
}

# >>with and without

# waits_for COMMAND...: until it succeeds; false after a minute
waits_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || return 1
        sleep 0.1
    done
}

free_port() {
    $python -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# starts WAY PROGRAM...: in the background, its output in WAY.out and WAY.err, and the report of
# chroprof, which runs it if the way is "run", in report. $options are those of chroprof run.
starts() {
    way=$1
    shift
    set -- sh -c 'exec >"$0.out" 2>"$0.err" && exec "$@"' "$scratch/$way" "$@"
    [ "$way" = plain ] || set -- "$command" run $options "$@"
    (cd "$scratch" && exec "$@") >"$scratch/report" 2>&1 </dev/null &
    server=$!
}

ends() {
    wait "$server"
    echo "$?" >"$scratch/$way.status"
    server=
}

# is_late: a busy machine may hold the program up elsewhere for longer than the planted cause ($planted:
# what names it in the stall, or by $planted_in) does, or give the sampler few ticks; then it runs again,
# at most twice
is_late() { [ -n "${planted-}" ] && ! ${planted_in:-stalled_code} | grep -qE "$planted"; }

# both NAME TALK PROGRAM...: TALK is a function that waits for the program, talks to it, and makes
# it end. What it prints must be the same with chroprof and without, and so must the exit status;
# the program's own output as well, unless $compared leaves it out because there are times in it.
both() {
    talk=$2
    name=$1
    shift 2
    for way in plain run run run; do
        [ ! -e "$scratch/run.status" ] || [ "$way" = plain ] || ! is_late || break
        rm -f "$scratch/$way".*
        [ "$way" = run ] || rm -f "$scratch"/run.*
        starts $way "$@"
        $talk >"$scratch/$way.talk" 2>&1
        if waits_for has_ended; then ends; else
            fail "${name}_ends" "it still runs"
            end_all
        fi
    done
    for part in talk status ${compared-out err}; do
        if cmp -s "$scratch/plain.$part" "$scratch/run.$part"; then ok "${name}_$part"; else
            fail "${name}_$part" \
                "$(diff "$scratch/plain.$part" "$scratch/run.$part" | head -n 4 | tr '\n' '|')"
        fi
    done
}

# A child that has ended stays until the shell has waited for it.
has_ended() {
    ! kill -0 "$server" 2>/dev/null ||
        [ "$(sed 's/.*) //; s/ .*//' "/proc/$server/stat" 2>/dev/null)" = Z ]
}

stops() { kill -TERM "$server"; }

# The first two findings of the busiest loop, a line each, and the code of its longest stall
findings() {
    awk '/^• / { count++ } /^ *$/ || /^──/ || /^[^• ]/ { if (seen) exit }
        /^• / { seen = 1 } count > 2 { exit } seen' "$scratch/report"
}
stalled_code() {
    awk '/^STALLS  the longest that were sampled/ { inside = 1; next }
        inside && /iteration at|callback at/ { stalls++ } inside && (/^ *$/ || stalls > 1) { exit }
        inside' "$scratch/report"
}

# shows NAME FUNCTIONS: the planted cause is found, in one of these functions or files; and nothing
# that seems to be out of order, or to leak
shows() {
    case $(findings) in
    *"The loop was blocked for"* | *"ms stall at"* | *"s stall at"*) ok "$1_finding" ;;
    *) fail "$1_finding" "not in: $(head -n 6 "$scratch/report" | tr '\n' '|')" ;;
    esac
    if stalled_code | grep -qE "$2"; then ok "$1_function"; else
        fail "$1_function" "not $2 in: $(stalled_code | head -n 5 | tr '\n' '|')"
    fi
    odd=$(grep -e ANOMALIES -e "did not finish" "$scratch/report")
    if [ -z "$odd" ]; then ok "$1_order"; else fail "$1_order" "$odd"; fi
}

# called NAME PATTERN: the callback that held the loop is a task with a name, or with its place in
# the program's file, as Debian's programs are stripped
called() {
    if stalled_code | grep -qE "$2.*:"; then ok "$1_callback"; else
        fail "$1_callback" "not $2 in: $(stalled_code | head -n 5 | tr '\n' '|')"
    fi
}

# >>programs

# The keys lie in a file from the start, as making them would be a stall of its own.
redis_answers() { redis-cli -p "$port" ping | grep -qx PONG; }
redis_talk() {
    waits_for redis_answers
    case $name in
    redis_keys) redis-cli -p "$port" KEYS '*' | sort | cksum ;;
    *) redis-cli -p "$port" EVAL 'local x = 0 for i = 1, 40000000 do x = x + i end return x' 0 ;;
    esac
    redis-cli -p "$port" INFO stats | grep -E '^(rejected_connections|keyspace_hits)'
    redis-cli -p "$port" SHUTDOWN NOSAVE
}

test_redis_keys() {
    needs redis_keys redis-server redis-cli || return
    port=$(free_port) keys=1000000 compared=
    starts plain redis-server --port "$port" --save '' --enable-debug-command local
    waits_for redis_answers
    redis-cli -p "$port" DEBUG POPULATE "$keys" >"$scratch/log"
    redis-cli -p "$port" SAVE >"$scratch/log"
    redis-cli -p "$port" SHUTDOWN NOSAVE
    ends
    options="-o $scratch/kept"
    planted='keysCommand|dict[A-Z]|stringmatch|addReply'
    both redis_keys redis_talk redis-server --port "$port" --save ''
    options=
    shows redis_keys "$planted"
    "$command" dump --format folded "$scratch/kept" >"$scratch/folded" 2>"$scratch/log"
    case $(uname -m) in
    x86_64 | aarch64)
        if grep -q 'readQueryFromClient;.*call;keysCommand' "$scratch/folded"; then
            ok redis_keys_callers
        else
            fail redis_keys_callers "$(grep -m 2 after "$scratch/folded" | tr '\n' '|')"
        fi ;;
    esac
}

test_redis_eval() {
    needs redis_eval redis-server redis-cli || return
    port=$(free_port) compared=
    rm -f "$scratch/dump.rdb"
    both redis_eval redis_talk redis-server --port "$port" --save ''
    case $(uname -m) in
    x86_64 | aarch64) shows redis_eval 'lua_pcall' ;;
    *) shows redis_eval 'redis-' ;;    # the file, which has two names: redis-check-rdb
    esac
}

# No connection of the server's port, but the one that listens and those that wait for nothing.
are_closed() {
    awk -v "port=:$(printf '%04X' "$port")\$" \
        '$2 ~ port && $4 != "0A" && $4 != "06" { open = 1 } END { exit open }' /proc/net/tcp
}

# Its exit status tells whether there were connections left.
lighttpd_talk() {
    waits_for curl -sf "http://127.0.0.1:$port/small"
    curl -s "http://127.0.0.1:$port/many/" | cksum
    curl -s "http://127.0.0.1:$port/missing" | cksum
    waits_for are_closed
    stops
}

test_lighttpd() {
    needs lighttpd lighttpd curl || return
    port=$(free_port) compared=
    mkdir -p "$scratch/www/many"
    echo small >"$scratch/www/small"
    (cd "$scratch/www/many" && seq 1 50000 | xargs touch -d 2020-01-01)
    cat >"$scratch/lighttpd.conf" <<END
server.document-root = "$scratch/www"
server.upload-dirs = ( "$scratch" )
server.bind = "127.0.0.1"
server.port = $port
server.modules = ( "mod_dirlisting" )
dir-listing.activate = "enable"
END
    planted='dirlisting|stat|pwrite|chunkqueue|readdir'
    both lighttpd lighttpd_talk lighttpd -D -f "$scratch/lighttpd.conf"
    shows lighttpd "$planted"
}

memcached_talk() {
    $python - "$port" <<'END'
import socket, sys, time
for attempt in range(600):
    try:
        talk = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except OSError:
        time.sleep(0.1)
file = talk.makefile("rwb")
for i in range(1000):
    file.write(b"set k%d 0 0 1 noreply\r\nx\r\n" % i)
file.write(b"get " + b" ".join(b"k%d" % (i % 1000) for i in range(200000)) + b"\r\n")
file.flush()
count = 0
while file.readline() not in (b"END\r\n", b""):
    count += 1
print(count)
END
    stops
}

test_memcached() {
    needs memcached memcached || return
    port=$(free_port)
    set -- memcached -l 127.0.0.1 -p "$port" -U 0
    [ "$(id -u)" != 0 ] || set -- "$@" -u "$(id -un)"
    planted='memcached|alloc|strlen|sendmsg'
    both memcached memcached_talk "$@"
    shows memcached "$planted"
    called memcached 'memcached\+0x[0-9a-f]+'
}

in_tmux() { tmux -L "$socket" "$@"; }
tmux_shows() { in_tmux capture-pane -p | grep -q "$1"; }
tmux_talk() {
    waits_for in_tmux set -g history-limit 300000
    in_tmux new-session -d -x 80 -y 24 'seq 1 200000; echo all; exec cat'
    waits_for tmux_shows all
    in_tmux copy-mode \; send-keys -X search-backward 'nothing like this'
    in_tmux display -p '#{history_size} #{pane_in_mode}'
    in_tmux send-keys -X search-backward 12345
    in_tmux display -p '#{copy_cursor_line}'
    in_tmux kill-server
}

test_tmux() {
    needs tmux tmux || return
    socket=chroprof-$$
    TMUX_TMPDIR=$scratch
    export TMUX_TMPDIR
    planted='tmux'
    both tmux tmux_talk tmux -D -L "$socket" -f /dev/null
    shows tmux "$planted"
}

nothing() { :; }

# The interpreter of LuaJIT, as code that it compiles has no names.
test_neovim() {
    needs neovim nvim || return
    cat >"$scratch/slow.lua" <<'END'
jit.off()
vim.defer_fn(function()
    local x = 0
    for i = 1, 30000000 do x = x + i % 7 end
    print(x)
    vim.cmd("cquit 5")
end, 50)
END
    planted='luajit'
    both neovim nothing nvim --headless -u NONE -i NONE -c "luafile $scratch/slow.lua"
    shows neovim "$planted"
}

# Two hundred requests, each made by the callback of the one before: they are futures, which wait
# and finish. Their callback is that of a library between neovim and libuv.
test_neovim_requests() {
    needs neovim_requests nvim || return
    cat >"$scratch/requests.lua" <<'END'
local uv = vim.loop
local count = 0
local function again(err, facts)
    count = count + 1
    if count < 200 then
        uv.fs_stat("/etc/passwd", again)
    else
        vim.schedule(function() print(count) vim.cmd("cquit 6") end)
    end
end
vim.defer_fn(function() uv.fs_stat("/etc/passwd", again) end, 50)
END
    both neovim_requests nothing nvim --headless -u NONE -i NONE -c "luafile $scratch/requests.lua"
    latency=$(sed -n '/^LATENCY/,/^ *$/p' "$scratch/report")
    if echo "$latency" | grep -q 'luv.* 200 '; then ok neovim_requests_latency; else
        fail neovim_requests_latency "$(echo "$latency" | tr '\n' '|')"; fi
    odd=$(grep -e ANOMALIES -e "did not finish" "$scratch/report")
    if [ -z "$odd" ]; then ok neovim_requests_order; else fail neovim_requests_order "$odd"; fi
}

glib_calls() {
    gdbus call --session --dest test.Chroprof --object-path /test --method "test.Chroprof.$1"
}
glib_talk() {
    waits_for glib_calls Quick
    glib_calls Checksum
    glib_calls Quick
    glib_calls Missing 2>&1
    glib_calls End
}

test_glib() {
    needs glib dbus-daemon gdbus || return
    has_gi || { skip glib "needs python3-gi"; return; }
    DBUS_SESSION_BUS_ADDRESS=unix:path=$scratch/bus
    export DBUS_SESSION_BUS_ADDRESS
    dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" \
        >"$scratch/log" 2>&1 &
    helper=$!
    cat >"$scratch/service.py" <<'END'
from gi.repository import Gio, GLib
node = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="test.Chroprof">
<method name="Quick"><arg type="s" direction="out"/></method>
<method name="Checksum"><arg type="s" direction="out"/></method>
<method name="End"><arg type="s" direction="out"/></method>
</interface></node>""")
data = bytes(40000000)
loop = GLib.MainLoop()
def called(connection, sender, path, interface, method, words, invocation):
    answer = "yes"
    if method == "Checksum":
        answer = GLib.compute_checksum_for_data(GLib.ChecksumType.SHA256, data)
    invocation.return_value(GLib.Variant("(s)", (answer,)))
    if method == "End":
        connection.flush_sync()
        loop.quit()
def have_bus(connection, name):
    connection.register_object("/test", node.interfaces[0], called, None, None)
Gio.bus_own_name(Gio.BusType.SESSION, "test.Chroprof", 0, have_bus, None, None)
loop.run()
print("ended")
END
    planted='libglib|g_checksum|sha256'
    both glib glib_talk $python "$scratch/service.py"
    shows glib "$planted"
    end_all
}

node_talk() {
    waits_for grep -q ready "$scratch/$way.out"
    curl -s "http://127.0.0.1:$port/"
    curl -s "http://127.0.0.1:$port/end"
    sed -n 's/^pid //p' "$scratch/$way.err" >"$scratch/pid"
    [ "$way" = run ] || rm -f "/tmp/perf-$(cat "$scratch/pid").map"
}

# isolate-*.log lies in the folder in which it runs, which is ours.
test_node() {
    needs node node curl || return
    port=$(free_port) compared=out
    cat >"$scratch/busy.js" <<END
const http = require("http");
function busyHandler(n) {
    let x = 0;
    for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003;
    return x;
}
const server = http.createServer((request, response) => {
    const end = request.url == "/end";
    response.setHeader("Connection", "close");
    response.end(end ? "end\n" : busyHandler(40000000) + "\n");
    if (end) server.close();
});
console.error("pid " + process.pid);
server.listen($port, "127.0.0.1", () => console.log("ready"));
END
    planted='busyHandler'
    both node node_talk node --perf-basic-prof "$scratch/busy.js"
    shows node "$planted"
    rm -f "/tmp/perf-$(cat "$scratch/pid").map" "$scratch/pid"
}

# By the clock: the call that blocks uses no CPU time.
test_asyncio() {
    needs asyncio $python || return
    cat >"$scratch/block.py" <<'END'
import asyncio, sys, time
async def handler():
    await asyncio.sleep(0.01)
    time.sleep(0.3)
    await asyncio.sleep(0.01)
    print("done")
    sys.exit(9)
asyncio.run(handler())
END
    options=--wall
    planted='nanosleep'
    both asyncio nothing $python "$scratch/block.py"
    options=
    shows asyncio "$planted"
}

# The reader pauses after its first byte, so that the pipe is full and curl blocks in write.
curl_talk() { $python "$scratch/reader.py" "$scratch/pipe"; }

test_curl() {
    needs curl curl || return
    port=$(free_port)
    mkdir -p "$scratch/www"
    head -c 3000000 /dev/zero >"$scratch/www/big"
    $python -m http.server -b 127.0.0.1 -d "$scratch/www" "$port" >"$scratch/log" 2>&1 &
    helper=$!
    waits_for curl -sf "http://127.0.0.1:$port/" || { fail curl "no server"; return; }
    cat >"$scratch/reader.py" <<'END'
import os, sys, time, zlib
pipe = os.open(sys.argv[1], os.O_RDONLY)
data = os.read(pipe, 1)
time.sleep(0.3)
while True:
    more = os.read(pipe, 65536)
    if not more:
        break
    data += more
print(len(data), zlib.crc32(data))
END
    mkfifo "$scratch/pipe"
    options=--wall
    planted='write' planted_in=findings
    both curl curl_talk curl -sS -o "$scratch/pipe" "http://127.0.0.1:$port/big"
    # after its last poll it may have to write all the rest, or poll once more
    case $(findings | tr '\n' ' ') in
    *"after the last wait"*write* | *"stall at"*write*) ok curl_cause ;;
    *) fail curl_cause "$(findings | tr '\n' '|')" ;;
    esac
    planted=
    both curl_fails nothing curl -sS "http://127.0.0.1:$port/missing" -f
    options=
    end_all
}
transmission_talk() {
    $python - "$port" "$scratch/many.torrent" <<'END'
import base64, json, sys, time, urllib.error, urllib.request
def call(session, method, arguments):
    body = json.dumps({"method": method, "arguments": arguments}).encode()
    request = urllib.request.Request("http://127.0.0.1:%s/transmission/rpc" % sys.argv[1], body,
                                     {"X-Transmission-Session-Id": session})
    return json.load(urllib.request.urlopen(request))
session = ""
for attempt in range(600):
    try:
        call(session, "session-get", {})
        break
    except urllib.error.HTTPError as error:
        session = error.headers["X-Transmission-Session-Id"]
    except OSError:
        time.sleep(0.1)
meta = base64.b64encode(open(sys.argv[2], "rb").read()).decode()
answer = call(session, "torrent-add", {"metainfo": meta, "paused": True})
print(answer["result"], answer["arguments"]["torrent-added"]["name"])
answer = call(session, "torrent-get", {"fields": ["files"]})
print(len(answer["arguments"]["torrents"][0]["files"]))
call(session, "torrent-remove", {"ids": []})
END
    stops
    waits_for has_ended
    rm -rf "$scratch/transmission/torrents" "$scratch/transmission/resume"
}

test_transmission() {
    needs transmission transmission-daemon || return
    port=$(free_port) compared=
    mkdir -p "$scratch/transmission/files"
    cat >"$scratch/settings.json" <<END
{ "rpc-port": $port, "rpc-bind-address": "127.0.0.1", "rpc-whitelist-enabled": false,
  "peer-port": $(free_port), "dht-enabled": false, "lpd-enabled": false, "utp-enabled": false,
  "pex-enabled": false, "port-forwarding-enabled": false,
  "download-dir": "$scratch/transmission/files" }
END
    cp "$scratch/settings.json" "$scratch/transmission/settings.json"
    $python - "$scratch/many.torrent" <<'END'
import sys
def text(value):
    return b"%d:" % len(value) + value
count = 50000
files = b"".join(b"d6:lengthi1e4:pathl" + text(b"f%d" % i) + b"ee" for i in range(count))
pieces = text(b"x" * (20 * ((count + 16383) // 16384)))
info = b"d5:filesl" + files + b"e4:name4:many12:piece lengthi16384e6:pieces" + pieces + b"e"
open(sys.argv[1], "wb").write(b"d4:info" + info + b"e")
END
    planted='transmission|alloc|stat'
    both transmission transmission_talk transmission-daemon -f -g "$scratch/transmission" --paused
    shows transmission "$planted"
    called transmission 'transmission-daemon\+0x[0-9a-f]+'
}

# >>plain programs: what they print and return, a line each; those that are not there are left out

plain_programs() {
    cat <<'END'
ls -la --full-time /etc
cat /etc/passwd
head -n 3 /etc/group
tail -n 3 /etc/group
wc /etc/passwd /etc/missing
sort -r /etc/passwd
uniq -c /etc/group
cut -d: -f1 /etc/passwd
tr a-z A-Z < /etc/passwd
tac /etc/passwd
nl /etc/passwd
od -c /etc/hostname
base64 /etc/passwd
md5sum /etc/passwd /etc/group
sha256sum /bin/sh
cksum /bin/sh
expr 6 '*' 7
seq 1 5 100
factor 1234567890
date -u -d @0
printenv PATH
env -i A=1 env
test -e /etc/missing
basename /usr/bin/env .x
realpath /usr/bin/../bin
readlink -f /proc/self/root
stat -c '%n %s %U' /etc/passwd
find /etc -maxdepth 1 -name 'p*'
xargs -n 2 echo < /etc/hostname
grep -n root /etc/passwd
sed -n 1,3p /etc/passwd
awk -F: '{ print $3 }' /etc/passwd
diff /etc/passwd /etc/group
cmp /etc/passwd /etc/group
comm /etc/hostname /etc/hostname
paste /etc/hostname /etc/hostname
fold -w 20 /etc/passwd
tar cf - /etc/hostname
gzip -nc /etc/passwd
xz -c /etc/passwd
bzip2 -c /etc/passwd
perl -e 'select(undef, undef, undef, 0.05) for 1 .. 5; print "done\n"; exit 4'
python3 -c 'import select; [select.select([], [], [], 0.05) for i in range(5)]; print(1); exit(5)'
bash -c 'sleep 0.1 & wait; echo $LD_PRELOAD $!x | tr -d 0-9; kill -TERM $$'
dash -c 'trap "echo got; exit 3" USR1; kill -USR1 $$'
make -f /dev/null nothing
gcc -E -x c /dev/null
as --version
ld -o /dev/null /dev/null
nm -D /bin/ls
objdump -f /bin/ls
readelf -h /bin/ls
strings -n 8 /bin/ls
gdb -q -batch -ex 'print 6 * 7'
gdb -q -batch -ex run -ex 'print $_exitcode' --args /bin/echo hello
file /bin/ls
git --version
openssl dgst -sha256 /etc/passwd
ssh -V
ssh -o BatchMode=yes -o ConnectTimeout=2 -p 1 127.0.0.1 true
dpkg -L bash
dpkg-query -W bash
apt-cache show bash
getent passwd root
id
uname -a
timeout 0.2 sleep 5
timeout -s KILL 0.2 sleep 5
nice -n 3 nice
nohup true
stdbuf -oL env
setsid -w sh -c 'exit 6'
script -qec 'echo hello; exit 7' /dev/null
flock /dev/null true
strace -qq -e trace=none sh -c 'exit 8'
tee /dev/null < /etc/passwd
dd if=/etc/passwd bs=16 count=2 status=none
du -b /etc/passwd
sleep 0.2
locale
iconv -f utf-8 -t utf-16 /etc/passwd
curl --version
curl -s http://127.0.0.1:1/
less /etc/passwd
man -w ls
hexdump -C /etc/hostname
getopt -o ab: -- -a -b 1 x
ps -o comm= -p 1
mkdir /etc/passwd
rm /etc/missing
tput -T xterm cup 3 4
infocmp -1 xterm
END
}

test_plain() {
    needs plain || return
    plain_programs >"$scratch/list"
    count=0
    while read -r line; do
        has "${line%% *}" || continue
        count=$((count + 1))
        name=plain_$(printf '%s\n' "$line" | tr -cs 'a-zA-Z0-9\n' _ | cut -c 1-24)
        printf 'exec %s\n' "$line" >"$scratch/one"
        timeout 20 sh -c 'exec 2>"$1"; . "$0"' "$scratch/one" "$scratch/plain.err" \
            >"$scratch/plain.out" 2>"$scratch/log" </dev/null
        echo "$?" >"$scratch/plain.status"
        timeout 20 "$command" run sh -c 'exec 2>"$1"; . "$0"' "$scratch/one" "$scratch/run.err" \
            >"$scratch/run.out" 2>"$scratch/report" </dev/null
        echo "$?" >"$scratch/run.status"
        sed -i 's/(process [0-9]*)/(process)/' "$scratch/plain.out" "$scratch/run.out"   # gdb
        why=
        for part in out err status; do
            cmp -s "$scratch/plain.$part" "$scratch/run.$part" || why="$why $part:
$(diff -a "$scratch/plain.$part" "$scratch/run.$part" | head -n 3)"
        done
        if [ -z "$why" ]; then ok "$name"; else fail "$name" "$(printf '%s' "$why" | tr '\n' '|')"; fi
    done <"$scratch/list"
    if [ "$count" -ge 60 ]; then ok plain_count; else skip plain_count "$count programs are here"; fi
}

options=''
. tests/programs_attach.sh
for one in redis_keys redis_eval lighttpd memcached tmux neovim neovim_requests glib node asyncio curl transmission \
    attach_redis_eval attach_redis_keys attach_nginx attach_musl attach_libuv attach_go \
    attach_node attach_agrees plain; do
    unset compared planted planted_in
    test_$one
    end_all
done
finish
