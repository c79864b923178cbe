"""on_compress takes most of the run, but nothing of the second that is asked for after its end; the
page gives every format at once; idle is what a replaced wait has measured."""
import http.client
import json
import re
import sys
import time
import urllib.error
import urllib.request

import common

FORMATS = {"text": "text/plain", "json": "application/json", "folded": "text/plain",
           "prometheus": "text/plain; version=0.0.4", "pprof": "application/octet-stream"}


def get(port, query):
    """Status, content type and body of the page."""
    url = f"http://127.0.0.1:{port}/debug/chroprof{query}"
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read()
    except urllib.error.HTTPError as error:
        return error.code, None, b""


def port_of(stderr):
    """The port that the server says it listens to."""
    for _ in range(6000):
        with open(stderr, encoding="utf-8") as file:
            found = re.search(r"^port: (\d+)$", file.read(), re.M)
        if found:
            return int(found.group(1))
        time.sleep(0.01)
    raise AssertionError("the server does not tell its port")


def formats(port):
    """Every format of the run so far, and none that does not exist."""
    pages = {name: get(port, f"?format={name}") for name in FORMATS}
    for name, (status, kind, body) in pages.items():
        assert status == 200 and body and kind.startswith(FORMATS[name]), (name, status, kind)
    assert b"on_compress" in pages["text"][2]
    assert re.search(rb"(?m)^loop;on_compress \d+$", pages["folded"][2])
    json.loads(pages["json"][2])
    assert get(port, "?format=none")[0] == 404 and get(port, "?seconds=x")[0] == 404
    assert get(port, "")[2].startswith(b"event loop"), "the text, if nothing is asked for"


def calls(profile, name):
    """How often the site of this name was called, 0 if it is not there."""
    return sum(row["calls"] for row in profile["sites"] if row["name"] == name)


def until_compressed(port, count):
    """Waits for the count-th call of on_compress."""
    while calls(json.loads(get(port, "?format=json")[2]), "on_compress") < count:
        time.sleep(0.02)


def ask(port, query):
    """A connection that has asked, and when it began to."""
    connection, start = http.client.HTTPConnection("127.0.0.1", port, timeout=60), time.monotonic()
    connection.request("GET", f"/debug/chroprof{query}")
    return connection, start


def refused(port, start):
    """Who asks for a second while another waits for his, since start."""
    status = get(port, "?seconds=1")[0]
    assert status == 503 or time.monotonic() - start > 1, f"{status}: one such question at a time"


def seconds(port):
    """A second without on_compress, which has ended; the page answers others meanwhile."""
    first, start = ask(port, "?seconds=1&format=json")
    refused(port, start)
    assert get(port, "?format=prometheus")[0] == 200, "a scrape does not wait for it"
    reply = first.getresponse()
    assert reply.status == 200, reply.status
    last, took_ns = json.loads(reply.read()), (time.monotonic() - start) * 1e9
    common.laws(last)
    assert common.anomalies(last) == {}
    elapsed = last["totals"]["elapsed_ns"]
    assert 0.5e9 <= elapsed <= 1.01 * took_ns, "libevent's timers count from its callback's begin"
    assert calls(last, "on_compress") == 0
    assert 1 <= calls(last, "on_refresh") <= elapsed / 20e6 + 2


def gone(port):
    """A client that goes away while it waits: nothing happens, and when its second is over the
    next may ask (libevent 2.1 does not notice before)."""
    connection, start = ask(port, "?seconds=1")
    refused(port, start)
    connection.close()
    time.sleep(1.1)


def meanwhile(stderr):
    """What is asked while the server runs."""
    port = port_of(stderr)
    gone(port)
    until_compressed(port, 1)
    formats(port)
    until_compressed(port, 40)
    time.sleep(0.1)
    seconds(port)


def check(profile):
    """What holds of every run."""
    common.laws(profile)
    assert common.anomalies(profile) == {}
    assert common.site(profile, "on_compress")["calls"] == 40


alone = common.load(sys.argv[1])
check(alone)
# Ten times the work of on_refresh. Not so of the measured run: there the page is asked for as often
# as the machine is fast, and takes more than any callback.
assert common.first_by(alone, "exec_ns") == "on_compress"
measured = common.idle_measured(sys.argv[1], meanwhile)
check(measured)
assert common.site(measured, "chroprof page")["calls"] > len(FORMATS)
