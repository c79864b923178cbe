"""Requests made at random against chroprof serve: good ones, broken ones, many in one connection, cut
short, of clients that leave before they have an answer.

    python3 tests/fuzz_serve.py COMMAND FOLDER COUNT [SEED]     (tests/serve.sh calls it)

FOLDER has profiles. Prints "ok NAME" or "FAIL NAME: why"; exit 1 if anything failed. With a command
built with sanitizers (SANITIZED=1 sh tests/serve.sh) it finds what they find."""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile

COMMAND, FOLDER, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
PATIENCE = 60
METHODS = [b"GET"] * 6 + [b"HEAD", b"POST", b"PUT", b"OPTIONS", b"get", b"", b"G" * 40, b"\0", b"GET\t"]
VERSIONS = [b"HTTP/1.1"] * 6 + [b"HTTP/1.0", b"HTTP/9.9", b"HTTP/", b"", b"HTTP/1.1 x", b"HTTP/-1.1"]
HOSTS = [b"localhost"] * 4 + [b"127.0.0.1:80", b"[::1]:1", b"[::1", b"localhost:", b"localhost:x", b"",
                             b"evil.example", b"localhost\0", b"\xff", b"l" * 3000, b" localhost "]
FIELDS = [b"Connection: close", b"Connection: keep-alive", b"Content-Length: 0", b"Content-Length: -1",
          b"Content-Length: 99999999999999999999", b"Content-Length: 5", b"Transfer-Encoding: chunked",
          b"Expect: 100-continue", b"If-None-Match: \"0\"", b"If-None-Match:", b"Range: bytes=0-1",
          b"Sec-Fetch-Site: cross-site", b"Sec-Fetch-Site: same-origin", b": x", b"x", b" folded",
          b"X: " + b"y" * 500, b"Upgrade: websocket", b"Accept-Encoding: gzip", b"Host: again", b"\0: \0"]


def paths(keys):
    known = [f"/{key}{end}".encode() for key in keys for end in ("", ".json", ".jso", "0", ".json?x#y")]
    return known * 2 + [
        b"/", b"/profiles.json", b"/list.js", b"/report.js", b"/../etc/passwd", b"/%2e%2e/%00", b"//x/y", b"?", b"#",
        b"*", b"/0123456789abcdef.json", b"/" + b"f" * 16, b"/" + b"f" * 17, b"/" + b"x" * 9000, b"http://evil/",
        b"http://localhost/profiles.json", b"http://[::1/", b"/\xff\xfe", b"/ /", b"", b"/%", b"/;", b"mailto:x",
        b"/profiles.json?" + b"a=b&" * 200]


def request(r, all_paths):
    lines = [b" ".join((r.choice(METHODS), r.choice(all_paths), r.choice(VERSIONS)))]
    if r.random() < 0.9:
        lines.append(b"Host: " + r.choice(HOSTS))
    lines += r.sample(FIELDS, r.choice((0, 0, 1, 1, 2, 4)))
    text = r.choice((b"\r\n",) * 8 + (b"\n", b"\r")).join(lines) + b"\r\n\r\n"
    text += r.choice((b"",) * 6 + (b"hello", b"5\r\nhello\r\n0\r\n\r\n", b"\0" * 50))
    if r.random() < 0.2:
        broken = bytearray(text)
        for _ in range(r.randint(1, 4)):
            at = r.randrange(len(broken))
            broken[at:at + r.choice((0, 1, 1, 3))] = r.choice((b"", b"\0", b"\r\n", bytes([r.randrange(256)])))
        text = bytes(broken) or b"\n"
    return text


def hold(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def ask(port, text):
    """All that comes for a request that says that it is the last one."""
    with hold(port) as client:
        client.sendall(text)
        answer = b""
        while True:
            more = client.recv(1 << 16)
            if not more:
                return answer
            answer += more


def good(port, path):
    head, _, body = ask(port, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                        ).partition(b"\r\n\r\n")
    return body if head.startswith(b"HTTP/1.1 200 ") else b""


def one_client(r, port, all_paths):
    """A connection of some requests. Returns how many there were."""
    count = r.choice((1, 1, 1, 2, 5))
    bytes_ = b"".join(request(r, all_paths) for _ in range(count))
    client = hold(port)
    try:
        cut = r.randrange(len(bytes_) + 1)
        client.sendall(bytes_[:cut])
        if r.random() < 0.9:
            client.sendall(bytes_[cut:])
        if r.random() < 0.3:
            client.shutdown(socket.SHUT_WR)
        client.settimeout(r.choice((0.0, 0.0, 0.001, 0.02)))
        client.recv(r.choice((1, 100, 1 << 16)))
    except OSError:
        pass
    if r.random() < 0.3:                    # ends as a program does that is killed
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    return count


def main():
    r = random.Random(SEED)
    errors = tempfile.TemporaryFile()
    server = subprocess.Popen([COMMAND, "serve", FOLDER, "--port", "0"], stdout=subprocess.PIPE, stderr=errors)
    port = int(server.stdout.readline().decode().strip().rstrip("/").rsplit(":", 1)[1])
    rows = json.loads(good(port, b"/profiles.json"))["profiles"]
    all_paths = paths([row["key"] for row in rows])
    done, failed, next_look = 0, "", 0
    while done < COUNT and not failed:
        done += one_client(r, port, all_paths)
        if done >= next_look:
            next_look = done + 500
            if server.poll() is not None or b"<table>" not in good(port, b"/"):
                failed = f"after {done} requests of seed {SEED}: exit {server.poll()}"
    last = b"" if failed else good(port, b"/profiles.json")
    if not failed and len(json.loads(last or b'{"profiles":[]}')["profiles"]) != len(rows):
        failed = "the list is another one"
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
    code = server.wait(PATIENCE)
    errors.seek(0)
    said = errors.read().decode(errors="replace")
    if code != 0 or "Sanitizer" in said or "runtime error" in said:
        failed = failed or f"exit {code}: {said[:2000]}"
    print(f"FAIL requests: {failed}" if failed else f"ok requests ({done})")
    return bool(failed)


sys.exit(main())
