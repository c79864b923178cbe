# tests/programs_attach.sh - chroprof attach and real programs: read by programs.sh, which says how.
#
# Each program runs twice, alone and with chroprof attach, which begins while it runs and goes on
# until its end. What it prints and answers, its exit status and the number of its own errors are
# the same. The cause that was planted is in the first or second line of the report.
#
#   attach_redis_eval    EVAL of long loops                       lua_pcall, or what it calls
#   attach_redis_keys    KEYS on many keys                        keysCommand, or what it calls
#   attach_nginx         a regular expression that backtracks     pcre2_match
#   attach_musl          a static program: a client in a callback that waits for its answer
#   attach_libuv         a callback of libuv that does not come back
#   attach_node          a busy handler in JavaScript; without its map, how to get names
#   attach_agrees        run and attach tell the same of it as it knows itself
#   attach_go            a function that computes, by CPU time; no idle, no stalls, and why

# beside NAME TALK PROGRAM...: like both, with an observer
beside() {
    name=$1 talk=$2
    shift 2
    for way in plain attach; do
        rm -f "$scratch/$way".*
        (cd "$scratch" && exec sh -c 'exec >"$0.out" 2>"$0.err" && exec "$@"' "$scratch/$way" "$@") \
            </dev/null &
        server=$! pid=$!
        [ $way = plain ] || observe
        $talk >"$scratch/$way.talk" 2>&1
        if waits_for has_ended; then ends; else
            fail "${name}_ends" "it still runs"
            end_all
        fi
        [ $way = plain ] || observed
        rm -f "/tmp/perf-$pid.map"
    done
    for part in out err; do wc -l <"$scratch/plain.$part" >"$scratch/plain.$part.lines"
        wc -l <"$scratch/attach.$part" >"$scratch/attach.$part.lines"; done
    for part in talk status out.lines err.lines ${compared-out}; do
        if cmp -s "$scratch/plain.$part" "$scratch/attach.$part"; then ok "${name}_$part"; else
            fail "${name}_$part" \
                "$(diff "$scratch/plain.$part" "$scratch/attach.$part" | head -n 4 | tr '\n' '|')"
        fi
    done
}

# Returns when the observer has begun: it keeps files of the program's threads open.
begun() {
    ! kill -0 "$observer" 2>/dev/null ||
        ls -l "/proc/$observer/fd" 2>/dev/null | grep -q "/proc/$server/task"
}
observe() {
    waits_for serves
    "$command" attach $options "$server" >"$scratch/report" 2>&1 &
    observer=$!
    helper="$helper $observer"
    waits_for begun
}
observed() {
    wait "$observer"
    status=$?
    helper=
    if [ $status = 0 ]; then ok "${name}_attached"; else
        fail "${name}_attached" "status $status: $(head -n 3 "$scratch/report" | tr '\n' '|')"; fi
}

# The observer can't be had where the system forbids it.
may_attach() {
    sleep 60 &
    victim=$!
    if "$command" attach --for 2s $victim >"$scratch/log" 2>&1; then may=0; else may=1; fi
    kill $victim
    wait $victim 2>/dev/null
    return $may
}
watchable() {
    [ -n "$watched" ] || { if may_attach; then watched=yes; else watched=no; fi; }
    [ $watched = yes ] || { skip "$1" "$(head -n 1 "$scratch/log")"; return 1; }
}
watched=

# blames NAME PATTERN: in the first two lines
blames() {
    if grep '^•' "$scratch/report" | head -n 2 | grep -qE "$2"; then ok "$1_cause"; else
        fail "$1_cause" "not $2 in: $(grep '^•' "$scratch/report" | head -n 4 | tr '\n' '|')"; fi
}

attach_redis_talk() {
    waits_for serves
    for round in 1 2 3 4; do
        case $name in
        *keys) redis-cli -p "$port" KEYS '*1*2*3*' | sort | cksum ;;
        *) redis-cli -p "$port" EVAL 'local x = 0 for i = 1, 20000000 do x = x + i end return x' 0 ;;
        esac
    done
    redis-cli -p "$port" INFO stats | grep -E '^(rejected_connections|keyspace_hits)'
    redis-cli -p "$port" SHUTDOWN NOSAVE
}

test_attach_redis_eval() {
    needs attach_redis_eval redis-server redis-cli || return
    watchable attach_redis_eval || return
    port=$(free_port) compared=
    serves() { redis_answers; }
    beside attach_redis_eval attach_redis_talk redis-server --port "$port" --save ''
    blames attach_redis_eval 'lua'
}

test_attach_redis_keys() {
    needs attach_redis_keys redis-server redis-cli || return
    watchable attach_redis_keys || return
    port=$(free_port) compared=
    serves() { redis_answers; }
    starts plain redis-server --port "$port" --save '' --enable-debug-command local
    waits_for redis_answers
    redis-cli -p "$port" DEBUG POPULATE 500000 >"$scratch/log"
    redis-cli -p "$port" SAVE >"$scratch/log"
    redis-cli -p "$port" SHUTDOWN NOSAVE
    ends
    serves() { redis_answers; }
    beside attach_redis_keys attach_redis_talk redis-server --port "$port" --save ''
    blames attach_redis_keys 'keysCommand|stringmatch'
    rm -f "$scratch/dump.rdb"
}

nginx_talk() {
    waits_for serves
    for round in 1 2 3 4; do
        curl -s -o "$scratch/body" -w '%{http_code}\n' "http://127.0.0.1:$port/$(printf 'a%.0s' 1 2 3 4 5 6 \
            7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)b"
    done
    curl -s "http://127.0.0.1:$port/small"
    kill -QUIT "$server"
}

test_attach_nginx() {
    needs attach_nginx nginx curl || return
    watchable attach_nginx || return
    port=$(free_port) compared=
    mkdir -p "$scratch/www" "$scratch/nginx"
    chmod 755 "$scratch" "$scratch/www"
    echo small >"$scratch/www/small"
    cat >"$scratch/nginx.conf" <<END
daemon off;
master_process off;
pid $scratch/nginx/pid;
error_log $scratch/nginx/error.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $scratch/nginx/a;
    proxy_temp_path $scratch/nginx/b;
    fastcgi_temp_path $scratch/nginx/c;
    uwsgi_temp_path $scratch/nginx/d;
    scgi_temp_path $scratch/nginx/e;
    server {
        listen 127.0.0.1:$port;
        root $scratch/www;
        location ~ "^/(a+)+\$" { return 204; }
    }
}
END
    serves() { curl -sf -o /dev/null "http://127.0.0.1:$port/small"; }
    beside attach_nginx nginx_talk nginx -p "$scratch/nginx" -c "$scratch/nginx.conf" -e stderr
    blames attach_nginx 'pcre'
}

attach_ends() {
    waits_for serves
    sleep 2
    stops
}

test_attach_musl() {
    needs attach_musl musl-gcc || return
    watchable attach_musl || return
    musl-gcc -static -O1 -g -o "$scratch/musl" tests/attached.c -pthread 2>"$scratch/log" ||
        { skip attach_musl "$(head -n 1 "$scratch/log")"; return; }
    serves() { grep -q ready "$scratch/$way.out"; }
    beside attach_musl attach_ends "$scratch/musl" login 60
    blames attach_musl 'on_login.* waiting in poll'
}

test_attach_libuv() {
    needs attach_libuv cc || return
    watchable attach_libuv || return
    cc -O1 -g -o "$scratch/uv" tests/attached_uv.c -luv 2>"$scratch/log" ||
        { skip attach_libuv "$(head -n 1 "$scratch/log")"; return; }
    serves() { grep -q ready "$scratch/$way.out"; }
    beside attach_libuv attach_ends "$scratch/uv" hang 60
    blames attach_libuv 'parse_header'
    beside attach_libuv_client attach_ends "$scratch/uv" sync 60
    blames attach_libuv_client 'on_request.* waiting in poll, in ask_server'
}

test_attach_go() {
    needs attach_go go || return
    watchable attach_go || return
    mkdir -p "$scratch/go"
    cat >"$scratch/go/server.go" <<'END'
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func handleRequest(out chan<- int) { out <- fib(30) }

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	out := make(chan int)
	sum := 0
	fmt.Println("ready")
	for {
		select {
		case <-end:
			fmt.Println("ended", sum > 0)
			os.Exit(7)
		default:
			go handleRequest(out)
			sum += <-out
			time.Sleep(2 * time.Millisecond)
		}
	}
}
END
    (cd "$scratch/go" && HOME=$scratch GOCACHE=$scratch/go/cache GO111MODULE=off GOFLAGS= \
        go build -o "$scratch/go/server" server.go) >"$scratch/log" 2>&1 ||
        { skip attach_go "$(head -n 1 "$scratch/log")"; return; }
    serves() { grep -q ready "$scratch/$way.out"; }
    beside attach_go attach_ends "$scratch/go/server"
    blames attach_go 'main.(fib|handleRequest)'
    if grep -q 'no idle time and no stalls are told: goroutines move' "$scratch/report"; then
        ok attach_go_why
    else fail attach_go_why "$(head -n 5 "$scratch/report" | tr '\n' '|')"; fi
}

# agrees WAY: idle and the three functions are what the program measured, within five standard errors
# of so many samples. run takes them by the clock, too: on a busy machine CPU time is another thing.
agrees() {
    "$command" dump --format folded "$scratch/$1.profile" >"$scratch/folded" 2>"$scratch/log"
    "$command" dump --format json "$scratch/$1.profile" >"$scratch/json" 2>>"$scratch/log"
    why=$(awk -v spent="$(grep ^spent "$scratch/$1.out")" -v samples="$(
        sed -n 's/.*"samples":\([0-9][0-9]*\),"rows".*/\1/p' "$scratch/json" | head -n 1)" '
        function differs(what, part, whole, truth, all, n,     p, q, error) {
            p = part / whole; q = truth / all
            error = sqrt((q * (1 - q) + 1 / n) / n)
            if (p - q > 5 * error || q - p > 5 * error)
                printf "%s is %.3f, should be %.3f (5 x %.3f); ", what, p, q, error
        }
        { us = $NF; total += us }
        /\(idle\)/ { idle += us; next }
        /work_most/ { most += us; next }
        /work_some/ { some += us; next }
        /work_little/ { little += us; next }
        END {
            split(spent, s, " ")
            if (samples < 20 || total == 0) { print "too few samples: " samples; exit }
            work = s[3] + s[4] + s[5]
            differs("idle", idle, total, s[2], s[2] + work, samples)
            known = most + some + little
            if (known < (total - idle) * 0.5) printf "only %d of %d us have a function; ", known, total - idle
            n = samples * work / (s[2] + work)
            differs("work_most", most, known, s[3], work, n)
            differs("work_some", some, known, s[4], work, n)
            differs("work_little", little, known, s[5], work, n)
        }' "$scratch/folded")
    if [ -z "$why" ]; then ok "attach_agrees_$1"; else fail "attach_agrees_$1" "$why"; fi
}

test_attach_agrees() {
    needs attach_agrees cc || return
    watchable attach_agrees || return
    cc -O1 -g -fno-omit-frame-pointer -o "$scratch/shares" tests/attached.c -pthread \
        2>"$scratch/log" || { skip attach_agrees "$(head -n 1 "$scratch/log")"; return; }
    "$command" run --wall -o "$scratch/run.profile" "$scratch/shares" shares 4 >"$scratch/run.out" \
        2>"$scratch/report"
    way=attach name=attach_agrees options="-o $scratch/attach.profile"
    serves() { grep -q ready "$scratch/$way.out"; }
    "$scratch/shares" shares 4 >"$scratch/attach.out" 2>"$scratch/attach.err" &
    server=$!
    observe
    ends
    observed
    options=
    agrees run
    agrees attach
}

test_attach_node() {
    needs attach_node node || return
    watchable attach_node || return
    cat >"$scratch/busy.js" <<'END'
function busyHandler(n) {
    let x = 0;
    for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003;
    return x;
}
function onTick() {
    busyHandler(20000000);
    setTimeout(onTick, 20);
}
process.on("SIGTERM", () => { console.log("ended"); process.exit(7); });
onTick();
console.log("ready");
END
    serves() { grep -q ready "$scratch/$way.out"; }
    beside attach_node attach_ends node --perf-basic-prof --interpreted-frames-native-stack \
        "$scratch/busy.js"
    blames attach_node 'busyHandler'
    beside attach_node_unnamed attach_ends node "$scratch/busy.js"
    if grep -q 'JavaScript have no names; node writes them' "$scratch/report"; then
        ok attach_node_map
    else fail attach_node_map "$(head -n 3 "$scratch/report" | tr '\n' '|')"; fi
}
