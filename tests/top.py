"""chroprof top on terminals of several sizes, through pipes, and while its program dies.

    python3 tests/top.py COMMAND WATCHED DIRECTORY     (tests/top.sh builds and calls it)

Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if anything failed."""
import json
import os
import re
import signal
import subprocess
import sys
import time

from wcwidth import wcswidth

from terminal import Terminal

COMMAND, WATCHED, DIRECTORY = sys.argv[1:4]
SIZES = [(80, 24), (120, 40), (40, 10), (200, 60), (20, 4), (7, 1)]
counts = {"passed": 0, "failed": 0}
programs = []


def check(name, holds, why=""):
    counts["passed" if holds else "failed"] += 1
    print(f"ok {name}" if holds else f"FAIL {name}: {why!r}", flush=True)


def dumped(path):
    """The profile in a file as it is now, and what the command says."""
    done = subprocess.run([COMMAND, "dump", path, "-f", "json"], capture_output=True, timeout=60)
    return json.loads(done.stdout or "null"), done.stderr.decode()


def start(what, name, begun=lambda profile: slices(profile, "serve") > 1):
    """A watched program and its file, once its profile is so far: the first callback is over."""
    path = os.path.join(DIRECTORY, name)
    now = time.time_ns()
    program = subprocess.Popen([WATCHED, path, what])
    programs.append(program)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        profile, said = dumped(path)
        if profile and (what == "clients" or profile["totals"]["start_unix_ns"] >= now) and begun(profile):
            return program, path        # of this program, not of one before it
        time.sleep(0.02)
    raise TimeoutError(f"{what} does not get so far: {said}")


def site(profile, name):
    return next((row for row in profile["sites"] if row["name"] == name), None)


def slices(profile, name):
    return site(profile, name)["slices"] if site(profile, name) else 0


def ns(text):
    """A time as it is shown: 30.1ms."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|ms|s)", text).groups()
    return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]


def near(shown, exact):
    """Whether a time was shown as it is, to three digits."""
    return abs(ns(shown) - exact) <= 0.005 * exact


def stalls_of(text):
    """The stalls of the culprit that were shown, as long as it sleeps in each tenth callback."""
    found = re.findall(r":\d\d +(\S+) (?:callback|iteration)  slow_query", text)
    return [length for length in map(ns, found) if length > 29.9e6]


def stop(program):
    program.kill()
    program.wait()


def bare(raw):
    """What was written, without the sequences that the command uses itself."""
    return re.sub(rb"\x1b\[(\?(1049|25|7)[hl]|[HJK]|2J|[0-9;]*m)", b"", raw)


def check_frames(name, terminal, columns, rows):
    """Every line that was written is at most as wide as the terminal, and none is one too many."""
    check(f"{name}_drawn", terminal.until(lambda _: len(frames_of(terminal)) > 1), terminal.raw)
    frames = frames_of(terminal)
    widest = max((wcswidth(line.decode("utf-8", "replace").strip("\r"))
                  for frame in frames for line in bare(frame).split(b"\n")), default=0)
    tallest = max((frame.count(b"\n") + 1 for frame in frames), default=0)
    check(f"{name}_width", 0 < widest <= columns, (widest, terminal.text()))
    erased = [line for frame in frames for line in frame.split(b"\n")
              if line.rstrip(b"\r").endswith(b"\x1b[K") and len(bare(line).strip()) > 0]
    check(f"{name}_keeps_its_last_column", not erased, erased[:1])
    check(f"{name}_height", 0 < tallest <= rows, tallest)


def frames_of(terminal):
    """What was drawn since it was cleared last, the frame that is under way included."""
    return terminal.raw[max(terminal.raw.rfind(b"\x1b[2J"), 0):].split(b"\x1b[H")[1:]


def culprit_first(lines):
    first = [line for line in lines if line.startswith(("slow_", "serve"))]
    return first and first[0].startswith("slow_")


def test_sizes():
    program, path = start("serve", "sizes")
    for columns, rows in SIZES:
        name = f"size_{columns}x{rows}"
        terminal = Terminal([COMMAND, "top", path, "-d", "0.3"], columns, rows)
        if rows >= 4:
            check(f"{name}_culprit", terminal.until("slow_query"[:columns // 3]), terminal.text())
        if rows >= 10:
            check(f"{name}_culprit_first", terminal.until(culprit_first), terminal.text())
            check(f"{name}_load", terminal.until("busy"), terminal.text())
        if rows >= 20:
            check(f"{name}_stalls", terminal.until(lambda _: stalls_of(terminal.text())),
                  terminal.text())
            totals = dumped(path)[0]["totals"]
            longest = 1.005 * max(totals["callback_max_ns"], totals["iteration_max_ns"])
            check(f"{name}_stalls_length", all(length <= longest for length in
                                               stalls_of(terminal.text())), terminal.text())
        check_frames(name, terminal, columns, rows)
        terminal.keys("q")
        check(f"{name}_ends", terminal.end() == 0 and terminal.restored(), terminal.raw[-60:])
        terminal.close()
    stop(program)


def test_resize():
    program, path = start("serve", "resize")
    terminal = Terminal([COMMAND, "top", path, "-d", "0.3"], 120, 40)
    terminal.until("slow_query")
    for columns, rows in [(50, 12), (180, 50), (30, 6)]:
        terminal.raw = b""
        terminal.resize(columns, rows)
        check(f"resize_{columns}x{rows}", terminal.until(
            lambda _: b"\x1b[2J" in terminal.raw and len(frames_of(terminal)) > 1 and
            "slow_query"[:columns // 3] in terminal.text()), terminal.text())
        check_frames(f"resize_{columns}x{rows}", terminal, columns, rows)
    terminal.close()
    stop(program)


def ranked(terminal):
    return [line.split()[0] for line in terminal.lines()
            if re.match(r"(slow_query|serve|handler_\d\d) +<?\d", line)]


def test_keys():
    program, path = start("serve", "keys")
    terminal = Terminal([COMMAND, "top", path, "-d", "0.3"], 100, 20)
    check("keys_start", terminal.until("every 0.3s"), terminal.text())
    check("keys_by_exec", terminal.until(
        lambda _: ranked(terminal)[:2] == ["slow_query", "serve"]), terminal.text())
    terminal.keys("n")
    check("keys_by_name", terminal.until(lambda _: ranked(terminal)[:1] == ["handler_00"]),
          terminal.text())
    for _ in range(3):
        terminal.keys("\x1b[B" * 10)
        terminal.pump(0.5)
    check("keys_down", terminal.until(lambda _: "handler_29" in ranked(terminal) and
                                      "handler_00" not in ranked(terminal)), terminal.text())
    terminal.keys("\r")
    check("keys_detail", terminal.until("handlers.c:30") and terminal.until("called or created by") and
          terminal.until("0 live futures"), terminal.text())
    terminal.keys("\x1b")
    check("keys_back", terminal.until("42 of 42"), terminal.text())
    terminal.keys("\x1b[H")
    check("keys_home", terminal.until(lambda _: ranked(terminal)[:1] == ["handler_00"]),
          terminal.text())
    for key, title in [("x", "CHILDREN"), ("m", "MAX"), ("c", "CALLS/S"), ("l", "LIVE"),
                       ("s", "SLICES/S"), ("v", "AVERAGE"), ("p", "P99"), ("b", "BLAME"),
                       ("d", "DELAY"), ("u", "CPU"), ("o", "OFF CPU"), ("5", "LAT P50"),
                       ("9", "LAT P99"), ("0", "LAT MAX"), ("e", "EXEC")]:
        terminal.keys(key)
        check(f"keys_{key}", terminal.until(title), terminal.text())
    terminal.keys("m")
    check("keys_by_max", terminal.until(lambda _: ranked(terminal)[:1] == ["slow_query"]),
          terminal.text())
    terminal.keys("\x1b[H\r")
    check("keys_detail_of_stalls", terminal.until("stalls that it had a part in") and
          terminal.until(" iteration  slow_query"), terminal.text())
    terminal.keys("\x1b")
    terminal.until("42 of 42")
    terminal.keys("/handler_3\r")
    check("keys_filter", terminal.until("10 of 42") and len(ranked(terminal)) <= 10,
          terminal.text())
    terminal.keys("\x1b")
    check("keys_filter_off", terminal.until("42 of 42"), terminal.text())
    terminal.keys("/zzz\x7f\x7f\x7fslow")
    check("keys_filter_typed", terminal.until("/slow_") and terminal.until("1 of 42"),
          terminal.text())
    terminal.keys("\x1b")
    terminal.keys(" ")
    check("keys_pause", terminal.until("PAUSED"), terminal.text())
    terminal.until(lambda _: len(set(map(len, frames_of(terminal)[-2:]))) == 1)   # it is whole
    before = terminal.text()
    terminal.pump(1.2)
    check("keys_pause_stands_still", terminal.text() == before, terminal.text())
    terminal.keys(" ")
    check("keys_goes_on", terminal.until(lambda l: "PAUSED" not in terminal.text()),
          terminal.text())
    terminal.keys("a")
    check("keys_all", terminal.until("since its start"), terminal.text())
    terminal.keys("a+")
    check("keys_longer", terminal.until("every 0.6s"), terminal.text())
    terminal.keys("?")
    check("keys_help", terminal.until("pause or continue"), terminal.text())
    terminal.keys("?q")
    check("keys_quit", terminal.end() == 0 and terminal.restored(), terminal.raw[-60:])
    terminal.close()
    stop(program)


def test_clients():
    """The page of a site: what clients saw, as whatif has it, its creator, its live futures, its stalls."""
    program, path = start("clients", "clients", lambda profile: slices(profile, "query") == 1500)
    program.wait()
    told = json.loads(subprocess.run([COMMAND, "whatif", path, "--json"], capture_output=True,
                                     timeout=60).stdout)["before"]["sites"][0]
    terminal = Terminal([COMMAND, "top", path, "-d", "0.3"], 100, 30)
    check("clients_ended", terminal.until("ended    waiting for the next one") and "--:--" not in terminal.text(),
          terminal.text())
    terminal.keys("n\x1b[H\r")
    check("clients_seen", terminal.until("as clients saw it, in the last "), terminal.text())
    seen = re.search(r"latency p50 (\S+), p99 (\S+); hidden by the poll (\S+) on average",
                     terminal.text())
    check("clients_figures", seen and near(seen[1], told["latency_p50_ns"]) and
          abs(ns(seen[2]) / told["latency_p99_ns"] - 1) < 0.1 and
          abs(ns(seen[3]) / told["hidden_ns"] - 1) < 0.2, (told, terminal.text()))
    check("clients_stall", terminal.until("stalls that it had a part in") and
          re.search(r"^ *[\d.]+ms +25\.\dms (callback|iteration)  query 100%", terminal.text(), re.M),
          terminal.text())
    terminal.keys("\x1b")
    terminal.until("2 of 2")
    terminal.keys("\x1b[B\r")
    check("clients_future", terminal.until("1 live future") and terminal.until("pending  for ") and
          "id 77" in terminal.text(), terminal.text())
    check("clients_creator", "query > serve" in terminal.text(), terminal.text())
    terminal.close()


STUCK_TIME = re.compile(r"stuck_in_lock .* ([\d.]+[nµm]?s)$")
SLOW_TIME = re.compile(r"slow_query .* ([\d.]+[nµm]?s)$")


def test_hang():
    program, path = start("hang", "hang")
    terminal = Terminal([COMMAND, "top", str(program.pid)], 80, 24)
    check("hang_shown", terminal.until("HANGS    stuck_in_lock"), terminal.text())
    check("hang_stack", terminal.until(
        lambda _: re.search(r"stuck_in_lock \S+  on serve", terminal.text())), terminal.text())
    check("hang_path", terminal.until("path     serve > stuck_in_lock"), terminal.text())
    check("hang_ranks", terminal.until(lambda lines: any(
        re.match(r"stuck_in_lock +(100\.0|9\d\.\d)%", line) for line in lines)), terminal.text())
    check("hang_max_is_of_the_whole_slice", terminal.until(lambda lines: any(
        ns(found[1]) >= 2.5e9 for found in map(STUCK_TIME.match, lines) if found)), terminal.text())
    # the longest slice of an interval is that of the interval
    check("hang_others_idle", terminal.until(lambda lines: any(
        re.match(r"slow_query .* 0$", line) for line in lines)), terminal.text())
    terminal.keys("am")
    longest = site(dumped(path)[0], "slow_query")["slice_max_ns"]
    check("hang_all_again", longest >= 30e6 and terminal.until(lambda lines: any(
        near(found[1], longest) for found in map(SLOW_TIME.match, lines) if found)),
          (longest, terminal.text()))
    terminal.keys("ae")
    program.send_signal(signal.SIGKILL)
    program.wait()
    check("killed_shown", terminal.until("DIED") and terminal.until("stuck_in_lock"),
          terminal.text())
    again, _ = start("serve", "hang")
    check("restart_shown", terminal.until("a new program"), terminal.text())
    check("restart_followed", terminal.until(f"process {again.pid}") and terminal.until(
        lambda _: "slow_query" in terminal.text() and "stuck" not in terminal.text()),
          terminal.text())
    os.unlink(path)
    check("gone_shown", terminal.until("no such file any more"), terminal.text())
    terminal.keys("\x03")
    check("interrupted", terminal.end() == -signal.SIGINT and terminal.restored(),
          (terminal.process.returncode, terminal.raw[-60:]))
    terminal.close()
    stop(again)


def test_end():
    program, path = start("end", "end")
    terminal = Terminal([COMMAND, "top", path], 80, 24)
    check("end_shown", terminal.until("ended    at "), terminal.text())
    check("end_status", program.wait() == 0)
    check("end_ranks_stay", terminal.until("slow_query"), terminal.text())
    terminal.close()
    late = Terminal([COMMAND, "top", path], 80, 24)
    check("ended_before", late.until("since its start") and late.until("slow_query"),
          late.text())
    late.close()


def table_of(text):
    """The rows of plain output, by name; cells by title. No two words stand side by side."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.lower().startswith("site "))
    titles = re.split(r" {2,}", lines[at].strip().lower())
    assert titles[:3] == ["site", "at", "exec"], titles
    rows = [re.sub(r"[\u2580-\u259f]+", "", line).split() for line in lines[at + 1:]]
    return {row[0]: dict(zip(titles[2:], row[len(row) - len(titles) + 2:])) for row in rows
            if len(row) >= len(titles) - 1}


def test_columns():
    program, path = start("sampled", "columns")
    program.wait()
    profile = dumped(path)[0]
    table = table_of(plain(path, "-n", "1", "-w", "200", "-r", "60").stdout.decode())
    culprit, query = site(profile, "slow_query"), site(profile, "query")
    cpu, off, share = (float(table["slow_query"][key][:-1]) for key in ("cpu", "off cpu", "exec"))
    check("columns_cpu", abs(cpu / 100 * profile["totals"]["elapsed_ns"] - culprit["cpu_ns"]) <=
          0.001 * profile["totals"]["elapsed_ns"], (culprit, table))
    check("columns_add_up", abs(cpu + off - share) < 0.16, table)
    check("columns_no_samples", table["serve"]["cpu"] == table["serve"]["off cpu"] == "-", table)
    for key in ("p50", "p99", "max"):
        check(f"columns_latency_{key}", near(table["query"]["lat " + key],
                                             query[f"latency_{key}_ns"]), (query, table))
    check("columns_no_latency", table["serve"]["lat p50"] == "-", table)
    text = plain(path, "-n", "1", "-w", "80").stdout.decode()
    check("columns_at_80", " cpu " in text and "lat p99" in text and
          max(map(len, text.split("\n"))) <= 80, text)
    program, path = start("serve", "no_columns")
    text = plain(path, "-n", "1", "-d", "0.1", "-w", "200").stdout.decode()
    check("columns_nothing", "cpu" not in text and "lat p" not in text, text)
    stop(program)


def test_signals():
    program, path = start("serve", "signals")
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
        terminal = Terminal([COMMAND, "top", path], 80, 24)
        terminal.until("slow_query")
        terminal.process.send_signal(number)
        check(f"signal_{number.name}", terminal.end() == -number and terminal.restored(),
              (terminal.process.returncode, terminal.raw[-60:]))
        terminal.close()
    terminal = Terminal([COMMAND, "top", path], 80, 24)
    terminal.until("slow_query")
    terminal.process.send_signal(signal.SIGTSTP)
    check("stopped", terminal.until(lambda _: os.waitid(
        os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)))
    check("stopped_gives_back", terminal.until(lambda _: terminal.restored()), terminal.raw[-60:])
    terminal.raw = b""
    terminal.screen.reset()
    terminal.process.send_signal(signal.SIGCONT)
    check("continued", terminal.until("slow_query") and b"\x1b[?1049h" in terminal.raw,
          terminal.text())
    terminal.keys("q")
    check("continued_ends", terminal.end() == 0 and terminal.restored(), terminal.raw[-60:])
    terminal.close()
    stop(program)


def test_hostile():
    program, path = start("hostile", "hostile")
    terminal = Terminal([COMMAND, "top", path, "-d", "0.3"], 100, 30)
    check("hostile_name", terminal.until(r"\x1b]0;owned\x07\x1b[2J\x1b[31mred"), terminal.text())
    check("hostile_wide_name", terminal.until(
        lambda _: "接続を処理する" in terminal.text().replace(" ", "")), terminal.text())
    check_frames("hostile", terminal, 100, 30)
    rest = bare(terminal.raw)
    check("hostile_bytes", not re.search(rb"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]", rest), rest[:200])
    check("hostile_direction", "\u202e".encode() not in rest)
    terminal.close()
    for columns in [10, 23, 24, 25, 31]:
        terminal = Terminal([COMMAND, "top", path, "-d", "0.1"], columns, 12)
        terminal.until(lambda _: len(frames_of(terminal)) > 3)
        check_frames(f"hostile_{columns}", terminal, columns, 12)
        terminal.close()
    for name, settings in [("no_color", {"NO_COLOR": "1"}), ("dumb", {"TERM": "dumb"})]:
        terminal = Terminal([COMMAND, "top", path, "-d", "0.3", "-n", "2"], 80, 24, settings)
        status = terminal.end()
        check(f"{name}_plain", status == 0 and not re.search(rb"\x1b\[[0-9;]*m", terminal.raw),
              (status, terminal.raw[:300]))
        if name == "dumb":
            check("dumb_lines", b"\x1b" not in terminal.raw and b"busy" in terminal.raw,
                  terminal.raw[:300])
        terminal.close()
    stop(program)


def test_truncated():
    program, path = start("end", "whole")
    program.wait()
    whole = open(path, "rb").read()
    cut = os.path.join(DIRECTORY, "cut")
    with open(cut, "wb") as out:
        out.write(whole)
    terminal = Terminal([COMMAND, "top", cut, "-d", "0.05"], 80, 24)
    check("truncated_before", terminal.until("slow_query"), terminal.text())
    for _ in range(40):
        os.truncate(cut, 5000)
        terminal.pump(0.04)
        with open(cut, "r+b") as out:
            out.write(whole)
        terminal.pump(0.02)
    os.truncate(cut, 5000)
    check("truncated_shown", terminal.until("unread   this is only the beginning of a"), terminal.text())
    check("truncated_stays", "slow_query" in terminal.text(), terminal.text())
    with open(cut, "r+b") as out:
        out.write(whole)
    check("truncated_again", terminal.until("ended    at"), terminal.text())
    terminal.keys("q")
    check("truncated_ends", terminal.end() == 0 and terminal.restored(), terminal.raw[-60:])
    terminal.close()


def plain(*words):
    return subprocess.run([COMMAND, "top", *words], capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def test_plain():
    program, path = start("serve", "plain")
    done = plain(path, "-n", "3", "-d", "0.3")
    text = done.stdout.decode()
    check("plain_status", done.returncode == 0 and done.stderr == b"", done)
    check("plain_blocks", text.count("every 0.3s") == 3, text)
    check("plain_escapes", "\x1b" not in text, text)
    check("plain_culprit", re.search(r"SITE|EXEC", text) and
          all("slow_query" in block for block in text.split("\n\n")[:3]), text)
    check("plain_width", max(map(len, text.split("\n"))) <= 80, text)
    text = plain(path, "-n", "1", "-d", "0.1", "--ascii", "-w", "50", "--rows", "3").stdout
    check("plain_ascii", all(byte < 127 for byte in text) and
          max(map(len, text.split(b"\n"))) <= 50, text)
    pipe = subprocess.Popen([COMMAND, "top", path, "-d", "0.1"], stdout=subprocess.PIPE)
    pipe.stdout.readline()
    pipe.stdout.close()
    check("plain_broken_pipe", pipe.wait(timeout=60) == -signal.SIGPIPE, pipe.returncode)
    pipe = subprocess.Popen([COMMAND, "top", path, "-d", "0.1"], stdout=subprocess.PIPE)
    pipe.stdout.readline()
    stop(program)
    seen = b""
    while b"DIED" not in seen:
        seen += pipe.stdout.read1()
    check("plain_killed", True)
    pipe.send_signal(signal.SIGTERM)
    check("plain_terminated", pipe.wait(timeout=60) == -signal.SIGTERM, pipe.returncode)
    done = plain(path, "-n", "1")
    check("plain_dead", b"DIED" in done.stdout and b"slow_query" in done.stdout, done)


def test_plain_goes_on():
    begun = time.monotonic()
    program, path = start("serve", "goes_on")
    # stalls of a late profile time: so late that the next program gets there within it
    patience = 3e9 + 4e9 * (time.monotonic() - begun)
    while (elapsed := dumped(path)[0]["totals"]["elapsed_ns"]) < patience:
        time.sleep(0.2)
    pipe = subprocess.Popen([COMMAND, "top", path, "-d", "2"], stdout=subprocess.PIPE)
    pipe.stdout.readline()
    pipe.send_signal(signal.SIGWINCH)
    pipe.send_signal(signal.SIGCONT)
    stop(program)
    again, _ = start("serve", "goes_on", lambda profile: any(
        stall["shares"][0]["name"] == "slow_query" for stall in profile["stalls"]))
    stalls = [stall["start_ns"] for stall in dumped(path)[0]["stalls"]]
    check("plain_restart_is_younger", min(stalls) < elapsed, (stalls, elapsed))
    stop(again)
    seen = b""
    while b"DIED" not in seen.partition(b"process %d" % again.pid)[2]:
        seen += pipe.stdout.read1()
    pipe.kill()
    seen += pipe.stdout.read()
    pipe.wait()
    check("plain_resized", b"\x1b" not in seen, seen[:300])
    seen = seen.partition(b"process %d" % again.pid)[2]
    lengths = [stall["length_ns"] for stall in dumped(path)[0]["stalls"]]
    shown = re.findall(r":\d\d +(\S+) (?:callback|iteration)  slow_query", seen.decode())
    check("plain_restart_stalls", shown and all(any(near(text, length) for length in lengths)
                                                for text in shown), (lengths, seen[-600:]))


def test_errors():
    for name, words, status, text in [
            ("missing", ["/nonexistent/file"], 1, b"No such file"),
            ("no_profile", [__file__], 1, b"this is not a profile"),
            ("no_process", ["999999999"], 1, b"no file with this name"),
            ("no_operand", [], 2, b"missing argument"),
            ("bad_delay", ["x", "-d", "0"], 2, b"expected a number of seconds"),
            ("bad_order", ["x", "--by", "size"], 2, b"expected exec"),
            ("bad_count", ["x", "-n", "0"], 2, b"expected a number")]:
        done = plain(*words)
        check(f"error_{name}", done.returncode == status and text in done.stderr, done)


def main():
    try:
        for name, test in list(globals().items()):
            if name.startswith("test_") and name[5:].startswith(tuple(sys.argv[4:]) or ""):
                test()
    finally:
        for program in programs:
            if program.poll() is None:
                stop(program)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return counts["failed"] > 0


sys.exit(main())
