"""chroprof serve over HTTP: what it shows, what it refuses, and who can't hold it up.

    python3 tests/serve.py COMMAND WATCHED DIRECTORY     (tests/serve.sh builds and calls it)

Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if anything failed."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

COMMAND, WATCHED, DIRECTORY = sys.argv[1:4]
PATIENCE = 60                      # seconds for what takes a moment on a quiet machine
counts = {"passed": 0, "failed": 0}
programs = []


def check(name, holds, why=""):
    counts["passed" if holds else "failed"] += 1
    print(f"ok {name}" if holds else f"FAIL {name}: {why!r}", flush=True)


def until(holds):
    """What holds() returns as soon as it is true, at last whatever it returns."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = holds()
        if value:
            return value
        time.sleep(0.05)
    return holds()


def program(*words, **more):
    process = subprocess.Popen(words, **more)
    programs.append(process)
    return process


class Server:
    """A chroprof serve, and what it said at first."""

    def __init__(self, *operands, port="0", **more):
        self.process = program(COMMAND, "serve", *operands, "--port", port,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.said = self.process.stdout.readline().decode()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", self.said)
        self.port = int(found[1]) if found else 0

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, request, ends=False):
        """The status and the rest of the answer to these bytes, behind which nothing comes if it ends."""
        with self.connect() as client:
            client.sendall(request)
            if ends:
                client.shutdown(socket.SHUT_WR)
            answer = b""
            while True:
                try:
                    more = client.recv(1 << 16)
                except ConnectionResetError:
                    more = b""
                if not more:
                    break
                answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        words = head.split(b"\r\n")
        status = int(words[0].split()[1]) if words[0].startswith(b"HTTP/") else 0
        headers = dict(word.decode().lower().split(": ", 1) for word in words[1:])
        return status, headers, body

    def get(self, path, host="127.0.0.1:1", method="GET", more="", ends=False):
        host = f"Host: {host}\r\n" if host else ""
        request = f"{method} {path} HTTP/1.1\r\n{host}{more}Connection: close\r\n\r\n"
        return self.raw(request.encode(), ends)

    def profiles(self):
        return json.loads(self.get("/profiles.json")[2])["profiles"]

    def row(self, name):
        return next((row for row in self.profiles() if row["file"].endswith(name)), {})

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def joined_page(name):
    return subprocess.run(["sh", "src/page/join.sh", name], stdout=subprocess.PIPE,
                          check=True).stdout


SCRIPT = re.compile(r"\n<script>\n(.*?\n)</script>\n", re.S)


def parted(page, name):
    """A page as serve sends it: its script is a file."""
    page = page.decode().replace("script-src 'unsafe-inline'", "script-src 'self'", 1)
    return SCRIPT.sub(f'\n<script src="/{name}.js"></script>\n', page, 1)


def has_script(server, page, name):
    status, headers, text = server.get(f"/{name}.js")
    return (status, headers.get("content-type"), text.decode()) == (
        200, "text/javascript; charset=utf-8", SCRIPT.search(joined_page(page).decode())[1])


def watched(name, what, called=WATCHED):
    """A program that has a profile there."""
    path = os.path.join(DIRECTORY, name)
    started = program(called, path, what)
    until(lambda: os.path.exists(path))
    return started, path


def dumped(path):
    """The profile as chroprof report puts it into a page."""
    page = subprocess.run([COMMAND, "report", path], capture_output=True, timeout=PATIENCE,
                          check=True).stdout.decode()
    return re.search(r'data-source="[^"]*">(.*?)</script>', page, re.S)[1]


def shows(folder):
    """The list, and the page and the figures of each kind of profile."""
    running, path = watched("folder/running.chroprof", "serve")
    stopped, gone = watched("folder/ended.chroprof", "end")
    stopped.wait(PATIENCE)
    subprocess.run([COMMAND, "dump", gone, "-f", "json", "-o", f"{folder}/stored.json"],
                   capture_output=True, timeout=PATIENCE, check=True)
    with open(f"{folder}/notes.txt", "w") as notes:
        notes.write("no profile")
    with open(f"{folder}/broken.chroprof", "wb") as broken:
        with open(gone, "rb") as whole:
            broken.write(whole.read(5000))
    with open(f"{folder}/torn.json", "w") as torn:
        torn.write('{"chroprof":2,')
    os.symlink(gone, f"{folder}/outside.chroprof")
    os.symlink("ended.chroprof", f"{folder}/link.chroprof")
    os.symlink("/etc/passwd", f"{folder}/link.txt")
    os.symlink(os.path.abspath(WATCHED), os.path.join(DIRECTORY, "redis-like"))
    hung, _ = watched("folder/hung.chroprof", "hang", os.path.join(DIRECTORY, "redis-like"))
    os.mkdir(f"{folder}/deeper")
    os.mkfifo(f"{folder}/pipe.chroprof")
    shutil.copy(gone, f"{folder}/deeper/below.chroprof")
    shutil.copy(gone, f"{folder}/.hidden.chroprof")
    server = Server(folder)
    check("address", server.port > 0, server.said)
    until(lambda: server.row("running.chroprof").get("state") == "runs")
    rows = {os.path.basename(row["file"]): row for row in server.profiles()}
    check("list", sorted(rows) == ["broken.chroprof", "ended.chroprof", "hung.chroprof",
                                   "link.chroprof", "outside.chroprof", "running.chroprof",
                                   "stored.json", "torn.json"], sorted(rows))
    check("a_link_inside_is_followed", rows["link.chroprof"].get("state") == "ended", rows)
    check("a_link_outside_is_left_out", "not followed" in rows["outside.chroprof"]["problem"] and
          "state" not in rows["outside.chroprof"], rows)
    check("a_link_outside_is_not_read", server.get("/" + rows["outside.chroprof"]["key"] +
          ".json")[0] == 503)
    check("a_hang", until(lambda: server.row("hung.chroprof").get("state") == "hangs"),
          server.row("hung.chroprof"))
    check("a_hang_is_the_longest_stall", server.row("hung.chroprof")["stall_ns"] >= 1000000000,
          server.row("hung.chroprof"))
    check("the_name_it_was_started_by", (server.row("hung.chroprof").get("own"),
          "own" in server.row("running.chroprof")) == ("redis-like", False),
          server.row("hung.chroprof"))
    last = server.row("running.chroprof")
    check("the_last_seconds", 0 <= last.get("busy_10s_ppm", -1) <= 1000000 and
          0 <= last.get("busy_60s_ppm", -1) <= 1000000 and last["stall_ns"] >= 0, last)
    hung.kill()
    check("a_killed_one_died", until(lambda: server.row("hung.chroprof").get("state") == "died"),
          server.row("hung.chroprof"))
    row = rows["running.chroprof"]
    check("list_of_a_running_one", (row["pid"], row["state"], row["program"]) ==
          (running.pid, "runs", "watched") and row["finding"] != "", row)
    check("list_of_an_ended_one", rows["ended.chroprof"]["state"] == "ended", rows)
    check("list_of_json", rows["stored.json"]["state"] == "stored", rows)
    torn = rows["torn.json"]
    check("list_of_torn_json", "cut short" in torn.get("problem", "") and "state" not in torn and
          "/proc/" not in torn["problem"], torn)
    check("list_of_torn_json_again", server.row("torn.json") == torn, server.row("torn.json"))
    check("list_of_a_broken_one", "beginning of a profile" in rows["broken.chroprof"]["problem"], rows)

    status, headers, page = server.get("/")
    check("list_page", (status, page.decode()) == (200, parted(joined_page("serve"), "list")), status)
    check("list_script", has_script(server, "serve", "list"))
    check("headers", headers["x-frame-options"] == "deny" and headers["cache-control"] ==
          "no-store" and headers["x-content-type-options"] == "nosniff" and
          "access-control-allow-origin" not in headers, headers)
    key = rows["ended.chroprof"]["key"]
    page = server.get(f"/{key}")[2].decode()
    expected = parted(joined_page("report"), "report").replace(
        "script-src 'self'", "script-src 'self'; connect-src 'self'", 1).replace(
        "<!-- chroprof:profiles -->", '<template id="live"></template>', 1)
    check("report_page", page == expected, page[:80])
    check("report_script", has_script(server, "report", "report"))
    check("no_script_inside", page.count("<script") == 1 and "unsafe-inline'" not in
          page.split("script-src")[1].split(";")[0], page.count("<script"))
    status, headers, text = server.get(f"/{key}.json")
    check("figures", status == 200 and text.decode() == dumped(gone), text[:80])
    check("figures_of_an_ended_one", headers["x-chroprof-state"] == "ended", headers)
    tag = headers["etag"]
    status, _, text = server.get(f"/{key}.json", more=f"If-None-Match: {tag}\r\n")
    check("nothing_new", (status, text) == (304, b""), status)
    status, _, text = server.get(f"/{rows['stored.json']['key']}.json")
    check("figures_of_json", status == 200 and json.loads(text)["sites"] != [], status)
    status, _, text = server.get(f"/{rows['broken.chroprof']['key']}.json")
    check("figures_of_a_broken_one", status == 503 and text.startswith(b"this is only the beginning"), text)

    key = row["key"]
    def elapsed():
        return json.loads(server.get(f"/{key}.json")[2])["totals"]["elapsed_ns"]
    before = elapsed()
    check("figures_move", until(lambda: elapsed() > before > 0), before)
    running.kill()
    running.wait()
    check("state_of_a_dead_one", server.get(f"/{key}.json")[1]["x-chroprof-state"] == "died")
    died = until(lambda: server.row("running.chroprof").get("state") == "died")
    check("list_of_a_dead_one", died, server.profiles())
    os.remove(path)
    check("page_of_a_removed_one", server.get(f"/{key}")[0] == 404)
    check("figures_of_a_removed_one", server.get(f"/{key}.json")[0] == 404)
    shutil.copy(gone, f"{folder}/later.chroprof")
    check("list_of_a_later_one", until(lambda: server.row("later.chroprof")), server.profiles())
    return server, gone


def refuses(server, gone):
    """Other hosts, methods, paths and addresses."""
    key = server.row("ended.chroprof")["key"]
    for name, host in (("other", "evil.example"), ("longer", "127.0.0.1.evil.example"),
                       ("user", "127.0.0.1:80@evil.example"), ("empty", ""),
                       ("port", "localhost:x")):
        for path in "/", "/profiles.json", f"/{key}.json":
            status, _, text = server.get(path, host=host)
            check(f"host_{name}_{len(path)}", status in (400, 403) and b"sites" not in text, status)
    for host in "localhost", "LOCALHOST:9000", "127.0.0.1", "[::1]:80":
        check(f"host_{host}", server.get("/", host=host)[0] == 200)
    status, _, _ = server.get("http://evil.example/", host="127.0.0.1")
    check("absolute_address", status in (400, 403), status)
    for method in "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "NONE":
        status, _, text = server.get("/", method=method, ends=method == "CONNECT")
        check(f"method_{method}", status >= 400 and b"<table>" not in text, status)
    for path, wanted in (("/", 200), ("/profiles.json", 200), (f"/{key}.json", 200), ("/report.js", 200), ("/none", 404)):
        status, head, text = server.get(path, method="HEAD")
        check(f"head_{len(path)}", status == wanted and text == b"", (status, text[:40]))
    odd(server)
    with open(f"{DIRECTORY}/secret.chroprof", "wb") as secret:
        with open(gone, "rb") as whole:
            secret.write(whole.read())
    for number, path in enumerate((
            "/../secret.chroprof", "/%2e%2e/secret.chroprof", "//etc/passwd", "/etc/passwd",
            "/" + gone, "/?file=" + gone, "/ended.chroprof", "/link.chroprof", "/0123456789abcdef",
            "/0123456789abcdef.json", f"/{key}.jso", f"/{key}.json/", f"/{key}0", f"/{key[:15]}",
            "/favicon.ico", "/.", "*")):
        status, _, text = server.get(path)
        listed = path.startswith("/?") and status == 200 and b"<table>" in text
        check(f"path_{number}", status in (400, 403, 404) or listed, (path, status))
    status, _, _ = server.get("/" + "x" * 20000)
    check("long_request", status in (0, 400, 404, 413, 414), status)
    check("no_request", server.raw(b"\r\n\r\n\0\xff\r\n\r\n")[0] in (0, 400))
    if sys.platform == "linux":
        try:
            socket.create_connection(("127.0.0.2", server.port), timeout=PATIENCE).close()
            other = True
        except ConnectionRefusedError:
            other = False
        check("other_address", not other)


def odd(server):
    """Heads that are no request, or that two readers may understand in two ways."""
    host = b"Host: 127.0.0.1\r\n"
    for name, request in (
            ("no_path", b"GET ? HTTP/1.1\r\n" + host), ("fragment", b"GET # HTTP/1.1\r\n" + host),
            ("two_hosts", b"GET / HTTP/1.1\r\n" + host + b"host: evil.example\r\n"),
            ("nul_in_host", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\0.evil.example\r\n"),
            ("two_lengths", b"GET / HTTP/1.1\r\n" + host +
             b"Content-Length: 0\r\nContent-Length: 5\r\n"),
            ("chunked", b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n"),
            ("cross_site", b"GET / HTTP/1.1\r\n" + host + b"Sec-Fetch-Site: cross-site\r\n")):
        status, _, text = server.raw(request + b"Connection: close\r\n\r\n", name == "chunked")
        check(f"odd_{name}", status in (0, 400, 403) and b"<table>" not in text, (status, text[:80]))
    pieces = [b"GET ", b"HEAD ", b"/", b"?", b"#", b"//", b"*", b"%00", b" HTTP/1.1", b" HTTP/9.9", b"\r\n",
              b"\n", b"\0", b"Host: ", b"localhost", b":", b" ", b"[::1]", b"\xff", b"Content-Length: ",
              b"-1", b"99999999999999999999", b"If-None-Match: ", b"\"", b"x" * 300, b"profiles.json"]
    state, answers = 12345, 0
    for _ in range(400):
        request = b""
        for _ in range(3 + state % 9):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            request += pieces[(state >> 33) % len(pieces)]
        with server.connect() as client:
            client.sendall(request + b"\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            try:
                answers += client.recv(64) != b""
            except ConnectionResetError:
                pass
    check("odd_pieces", answers > 0 and server.get("/")[0] == 200, answers)
    for path in "/", f"/{server.row('ended.chroprof')['key']}":
        policy = re.search(rb'Content-Security-Policy"\s+content="([^"]*)"', server.get(path)[2])
        check(f"policy_{len(path)}", policy and b"base-uri 'none'" in policy[1] and
              b"form-action 'none'" in policy[1], policy)


def drips(server):
    """Clients that never end their heads: somebody else has an answer meanwhile, they have a 408."""
    clients = [server.connect() for _ in range(64)]
    for client in clients:
        client.sendall(b"GET / HTTP/1.1\r\nHost: l")
    check("drip_answer", server.get("/")[0] == 200)
    check("drip_408", until(lambda: any(is_late(client) for client in clients)))
    for client in clients:
        client.close()


def is_late(client):
    """Whether its answer has come, and is that."""
    client.settimeout(0.01)
    try:
        return client.recv(64).startswith(b"HTTP/1.1 408")
    except OSError:
        return False


def holes(server, folder):
    """A file that says it is large costs nothing."""
    with open(f"{DIRECTORY}/sparse.json", "wb") as sparse:
        sparse.write(b"{")
        sparse.truncate(2 << 30)
    shutil.move(f"{DIRECTORY}/sparse.json", f"{folder}/sparse.json")
    row = until(lambda: server.row("sparse.json"))
    check("sparse_refused", row and "larger than" in row.get("problem", ""), row)
    os.remove(f"{folder}/sparse.json")


def many():
    """A folder of more profiles than a list has."""
    folder = os.path.join(DIRECTORY, "many")
    os.mkdir(folder)
    for i in range(1100):
        with open(f"{folder}/{i}.json", "w") as file:
            file.write('{"chroprof":3,"name":"","sites":[],"stalls":[],"windows":[],"futures":[]}')
    server = Server(folder)
    got = json.loads(server.get("/profiles.json")[2])
    check("list_of_many", (len(got["profiles"]), got["count"]) == (1000, 1100), got.get("count"))
    server.end(signal.SIGTERM)


def hurts(gone):
    """Profiles that hang, spin, crash or grow beside a good one: it is listed and shown, they are told."""
    library = os.path.join(DIRECTORY, "hurt.so")
    if not os.path.exists(library):
        return
    folder = os.path.join(DIRECTORY, "hurts")
    os.mkdir(folder)
    for name in "hang.json", "spin.chroprof", "crash.json", "grow.json", "good.chroprof":
        shutil.copy(gone, f"{folder}/{name}")
    for seconds in 1, 5, 25:            # on a busy machine what fails or is good may take longer as well
        server = Server(folder, "--time", str(seconds), "--memory", "300M",
                        env=dict(os.environ, LD_PRELOAD=library))
        rows = {os.path.basename(row["file"]): row for row in server.profiles()}
        late = [row for name, row in rows.items() if name[:4] in ("good", "cras", "grow") and
                "too long" in row.get("problem", "")]
        if not late or seconds == 25:
            break
        server.end(signal.SIGTERM)
    check("hurt_good_is_listed", rows.get("good.chroprof", {}).get("state") == "ended", rows)
    for name, words in (("hang.json", "too long"), ("spin.chroprof", "too long"),
                        ("crash.json", "fails"), ("grow.json", "too much memory")):
        check(f"hurt_{name[:4]}_is_told", words in rows.get(name, {}).get("problem", ""), rows.get(name))
    hanging = server.connect()          # nobody waits for it
    hanging.sendall(f"GET /{rows['hang.json']['key']}.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    for _ in range(5):
        status, _, text = server.get(f"/{rows['good.chroprof']['key']}.json")
        if status == 200:
            break
    check("hurt_good_is_shown", status == 200 and b"sites" in text, status)
    check("hurt_hang_is_refused", b" 503 " in hanging.recv(1 << 16).partition(b"\r\n")[0] + b" ")
    hanging.close()
    check("hurt_list_is_kept", {os.path.basename(row["file"]) for row in server.profiles()} ==
          set(rows), rows)
    server.end(signal.SIGTERM)


def busy(server):
    """The hundredths of a second for which it is on a processor in half a second."""
    def spent():
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])
    before = spent()
    time.sleep(0.5)
    return spent() - before


def is_patient(server):
    """Clients that say nothing, half of it, or don't listen: the next one has its answer."""
    key = server.row("ended.chroprof")["key"]
    ask = f"GET /{key}.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    clients = []
    for number in range(40):
        client = server.connect()
        client.sendall([b"", b"GET / HT", ask * 20][number % 3])
        clients.append(client)
    check("answers_beside_slow_ones", server.get("/")[0] == 200)
    # more than it takes at a time: they wait in the system, and it has no more open than those
    clients += [server.connect() for _ in range(100)]
    time.sleep(0.2)
    held = f"/proc/{server.process.pid}/fd"
    if os.path.isdir(held):
        check("bounded", len(os.listdir(held)) < 90, len(os.listdir(held)))
        check("waits_without_work", until(lambda: busy(server) < 5), busy(server))
    for client in clients:
        client.close()
    check("answers_after_them", server.get("/")[0] == 200)


def rss(process):
    """Bytes of memory that a process has."""
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def shared():
    """Many ask for the same large profile and take it slowly: it is kept once, not for each of them."""
    askers, size = 40, 8 << 20
    folder = os.path.join(DIRECTORY, "large")
    os.mkdir(folder)
    with open(f"{folder}/large.json", "w", encoding="ascii") as file:
        json.dump({"chroprof": 3, "name": "", "stalls": [], "windows": [], "futures": [],
                   "sites": [{"name": f"{i:08}" + 900 * "x", "file": "", "line": 1}
                             for i in range(size // 900)]}, file)
    server = Server(folder)
    key = until(lambda: server.row("large.json").get("key"))
    clients = [server.connect() for _ in range(askers)]
    before = rss(server.process)
    for client in clients:
        client.sendall(f"GET /{key}.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    heads = [client.recv(400) for client in clients]
    grown = rss(server.process) - before
    length = int(re.search(rb"Content-Length: (\d+)", heads[0])[1])
    check("large_is_answered", all(b" 200 OK" in head for head in heads) and length > size, length)
    check("large_is_shared", grown < askers * size // 2, grown)
    for client in clients[1:]:
        client.close()
    got = len(heads[0].partition(b"\r\n\r\n")[2])
    while got < length:
        more = len(clients[0].recv(1 << 20))
        if more == 0:
            break
        got += more
    check("large_is_whole", got == length, (got, length))
    clients[0].close()
    server.end(signal.SIGTERM)


def ends(folder, gone):
    """Signals, a port that is taken, operands that are none, a process."""
    server = Server(folder)
    waiting = server.connect()
    check("ends_by_sigterm", server.end(signal.SIGTERM) == 0, server.process.returncode)
    waiting.close()
    server = Server(gone)
    second = Server(folder, port=str(server.port))
    said = second.process.communicate(timeout=PATIENCE)[1].decode()
    check("port_taken", second.process.returncode == 1 and
          f"port {server.port} is taken; give another by --port" in said, said)
    check("file", [os.path.basename(row["file"]) for row in server.profiles()] ==
          ["ended.chroprof"], server.profiles())
    check("ends_by_sigint", server.end(signal.SIGINT) == 0, server.process.returncode)
    running, _ = watched("process.chroprof", "serve")
    server = Server(str(running.pid))
    check("process", [row["pid"] for row in server.profiles()] == [running.pid], server.said)
    server.end(signal.SIGTERM)
    empty = os.path.join(DIRECTORY, "empty.chroprof")
    with open(empty, "w"):
        pass
    for words, code, text in (
            ([f"{DIRECTORY}/nowhere"], 1, "No such file"), (["-"], 1, "-: "),
            ([], 2, "DIR, FILE or PID"), ([folder, "--port", "70000"], 2, "expected a port"),
            ([str(os.getpid())], 1, "has no profile"),
            ([f"{folder}/notes.txt"], 1, "this is not a profile"),
            ([f"{folder}/torn.json"], 1, "the file ends here"),
            ([f"{folder}/broken.chroprof"], 1, "the beginning of a profile"),
            (["/dev/null"], 1, "must be a plain file"), ([empty], 1, "the input is empty")):
        done = subprocess.run([COMMAND, "serve", *words], capture_output=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL)
        check(f"refuses_{text.replace(' ', '_')}", done.returncode == code and
              text in done.stderr.decode(), done.stderr)


def main():
    folder = os.path.join(DIRECTORY, "folder")
    os.mkdir(folder)
    try:
        server, gone = shows(folder)
        refuses(server, gone)
        drips(server)
        holes(server, folder)
        many()
        hurts(gone)
        is_patient(server)
        if os.path.isdir("/proc/self") and os.environ.get("SANITIZED", "0") != "1":
            shared()
        ends(folder, gone)
        check("ends_when_asked", server.end(signal.SIGTERM) == 0, server.process.returncode)
    finally:
        for started in programs:
            if started.poll() is None:
                started.kill()
                started.wait()
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return counts["failed"] > 0


sys.exit(main())
