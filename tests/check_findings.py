"""check_findings.py [PROFILE.json ...]: no finding contradicts the JSON that it stands in. Without
operands the profiles come one after another from standard input. The rules are those of the manual,
not of the code: each sentence is read back, and each figure in it is asked of the other keys.
Prints how many findings of each kind there were; the first contradiction ends it."""
import collections
import json
import re
import sys

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12, "d": 8.64e13,
         "y": 31556952e9, "task-seconds": 1e9, "k task-seconds": 1e12, "M task-seconds": 1e15}
TIME = r"(?P<%s>[0-9.]+ (?:ns|µs|ms|s|min|h|d|y)\b)"
SHARE = r"(?P<%s><?[0-9.]+%%)"
COUNT = r"(?P<%s>[0-9]+(?:\.[0-9]+)?[kMGT]?)"
MOMENT = r"(?P<%s>(?:[0-9]+:)?[0-9]+:[0-9]+\.[0-9]{3})"
SITE = r"(?P<%s>.+)"


def pattern(text):
    """A sentence with {T:name} and so on as an expression."""
    kinds = {"T": TIME, "P": SHARE, "C": COUNT, "M": MOMENT, "S": SITE}
    parts = re.split(r"(\{[TPCMS]:\w+\})", text)
    return re.compile("".join(kinds[p[1]] % p[3:-1] if p[:1] == "{" else re.escape(p)
                              for p in parts))


def half_digit(number):
    return 0.5 / 10 ** (len(number.split(".")[1]) if "." in number else 0) * 1.0001


def time_is(text, ns):
    number, unit = text.split(" ", 1)
    unit = UNITS[unit]
    assert abs(float(number) * unit - ns) <= half_digit(number) * unit + 1, (text, ns)


def share_is(text, part, whole):
    exact = 100 * part / whole if whole else 0
    if text[0] == "<":
        assert 0 < exact < float(text[1:-1]), (text, exact)
    else:
        assert abs(float(text[:-1]) - exact) <= half_digit(text[:-1]) + 1e-4, (text, exact)


def count_is(text, count):
    prefix = text[-1] if text[-1] in "kMGT" else ""
    number, unit = text.rstrip("kMGT"), 1000 ** " kMGT".index(prefix or " ")
    assert abs(float(number) * unit - count) <= (half_digit(number) * unit if prefix else 0), \
        (text, count)


def moment_is(text, ns):
    ms = 0
    for part in text.split(":"):
        ms = ms * 60 + float(part) * 1000
    assert round(ms) == ns // 1000000, (text, ns)


def label(site):
    if not site["file"]:
        return site["name"]
    return "%s (%s:%d)" % (site["name"], site["file"].split("/")[-1], site["line"])


class Profile:
    def __init__(self, raw):
        self.raw, self.totals, self.found = raw, raw["totals"], raw["findings"]
        self.elapsed = self.totals["elapsed_ns"]
        self.work = self.totals["busy_ns"] + self.totals["uninstrumented_ns"]
        # start and exit are nobody's; waits that return at once are no rest
        self.loop = self.totals["uninstrumented_ns"] - self.totals["start_ns"] - \
            self.totals["exit_ns"]
        awake = self.totals["at_once_ns"]
        self.asleep = self.totals["idle_ns"] - (awake if awake > self.elapsed // 100 else 0)
        self.sites = sorted(raw["sites"], key=lambda site: -site["exec_ns"])
        self.by_id = {site["id"]: site for site in self.sites}
        self.longest = max(raw["stalls"], key=lambda s: s["length_ns"], default=None)
        self.kinds = [finding["kind"] for finding in self.found]

    def idles(self):
        t = self.totals
        return t["idle"] or t["idle_ns"] > 0 or t["iterations"] > 0

    def read(self, finding, *sentences):
        for sentence in sentences:
            match = pattern(sentence).match(finding["text"])
            if match:
                return match.groupdict()
        raise AssertionError("no such sentence")

    def site_is(self, finding, said):
        site = self.by_id[finding["site"]]
        assert said == label(site), (said, label(site))
        return site

    def share_of(self, finding, part, whole):
        assert abs(finding["share_ppm"] - 1e6 * part / whole) <= 2, (finding["share_ppm"], part)

    def occupies(self, x):
        say = self.read(x, "{S:site} occupies the loop most: {P:share} of the run, {T:time} in "
                        "one slice.", "{S:site} occupies the loop most: {P:share} of the run, "
                        "{T:time} in {C:slices} slices, the longest {T:longest}.")
        site = self.site_is(x, say["site"])
        assert site["exec_ns"] == self.sites[0]["exec_ns"]
        assert all(other is site or other["exec_ns"] * 5 <= site["exec_ns"] * 4 + 25
                   for other in self.sites), "another one has as much"
        assert site["exec_ns"] * 5 >= self.elapsed - 5 and site["exec_ns"] * 4 >= self.work - 4
        self.share_of(x, site["exec_ns"], self.elapsed)
        share_is(say["share"], site["exec_ns"], self.elapsed)
        time_is(say["time"], site["exec_ns"])
        assert (site["slices"] == 1) == ("slices" not in say), site["slices"]
        if "slices" in say:
            count_is(say["slices"], site["slices"])
            time_is(say["longest"], site["slice_max_ns"])

    def rising(self, x):
        say = self.read(x, "{S:site} rises from {P:first} (the {T:first_time} after {M:at}) to "
                        "{P:last} (the last {T:last_time}).")
        site, windows = self.site_is(x, say["site"]), self.raw["windows"]
        ran = [ns > max(site["windows"][-129:-1]) // 100 for ns in site["windows"][-129:-1]]
        whole = (len(ran) - ran.index(True)) // 4 * 4
        windows, exec_ns = windows[-1 - whole:-1], site["windows"][-1 - whole:-1]
        quarter = whole // 4
        length = [sum(w["end_ns"] - w["start_ns"] for w in windows[k * quarter:(k + 1) * quarter])
                  for k in range(4)]
        sums = [sum(exec_ns[k * quarter:(k + 1) * quarter]) for k in range(4)]
        share_is(say["last"], sums[3], length[3])
        share_is(say["first"], sums[0], length[0])
        time_is(say["last_time"], length[3])
        time_is(say["first_time"], length[0])
        moment_is(say["at"], windows[0]["start_ns"])
        assert sums[3] / length[3] >= 1.99 * sums[0] / length[0] and quarter >= 4, sums
        assert all(sums[k] <= sums[k + 1] + sums[3] / 19 for k in range(3)), sums

    def uninstrumented(self, x):
        t = self.totals
        self.share_of(x, self.loop, self.elapsed)
        if x["text"].startswith("No task ran"):
            time_is(self.read(x, "No task ran in {T:time}, so nothing")["time"], self.elapsed)
            assert t["busy_ns"] == 0 and not self.idles(), "there is busy or idle time"
            return
        say = self.read(x, "{P:share} of the run ({T:time}) is uninstrumented")
        share_is(say["share"], self.loop, self.elapsed)
        time_is(say["time"], self.loop)
        assert self.loop * 10 >= self.elapsed - 10
        inside = re.search(", (.*) of it in the stall at ([0-9:.]+[0-9])", x["text"])
        if inside:
            share = self.longest["shares"][0]
            assert share["site"] == 0 and share["exec_ns"] * 2 > self.longest["length_ns"]
            time_is(inside.group(1).split(", ")[-1], share["exec_ns"])
            moment_is(inside.group(2), self.longest["start_ns"])

    def no_idle(self, x):
        say = self.read(x, "No idle time is reported: {P:share} of the run ({T:time}) counts")
        share_is(say["share"], self.loop, self.elapsed)
        time_is(say["time"], self.loop)
        assert not self.idles() and self.totals["busy_ns"] > 0, "there is idle time"
        assert self.loop * 5 >= self.elapsed - 5

    def stall(self, x):
        s, text = self.longest, x["text"]
        say = self.read(x, "The loop was blocked for {T:time} at {M:at}, the longest of {C:count} "
                        "stalls", "The loop was blocked for {T:time} at {M:at}, the longest kept "
                        "of {C:count} stalls", "The loop was blocked for {T:time} at {M:at}")
        most = max(self.totals["iteration_max_ns"], self.totals["callback_max_ns"])
        assert ("longest kept" in text) == ("count" in say and s["length_ns"] < most)
        assert s is not None and x["value_ns"] == s["length_ns"], "not the longest"
        assert any(r["length_ns"] == s["length_ns"] and r["start_ns"] == x["at_ns"]
                   for r in self.raw["stalls"])
        time_is(say["time"], s["length_ns"])
        moment_is(say["at"], x["at_ns"])
        assert ("count" in say) == (self.totals["stalls"] > 1)
        if "count" in say:
            count_is(say["count"], self.totals["stalls"])
        s = next(r for r in self.raw["stalls"] if r["start_ns"] == x["at_ns"] and
                 r["length_ns"] == s["length_ns"])
        if "No site explains" in text:
            assert not s["shares"] or s["rest_ns"] > s["shares"][0]["exec_ns"]
            return
        most = max(s["shares"], key=lambda r: r["exec_ns"])
        names = {0: "uninstrumented code", 2: "(untracked)"}
        name = names.get(most["site"]) or label(most)
        took = re.search(": (.*?) took (<?[0-9.]+%) of it", text)
        assert took.group(1) == name, (took.group(1), name)
        share_is(took.group(2), most["exec_ns"], s["length_ns"])
        off = re.search("([0-9.]+ \\S+) of it were off CPU", text)
        if off:
            time_is(off.group(1), s["waiting_ns"])
        many = re.search("of it in ([0-9.]+[kMGT]?) slices", text)
        if many:
            count_is(many.group(1), most["slices"])
        second = re.search("of it, and (.*) (<?[0-9.]+%)\\. Split", text)
        others = sorted((r["exec_ns"] for r in s["shares"]), reverse=True)[1:]
        assert bool(second) == bool(others and others[0] * 5 > most["exec_ns"] * 4 + 5) or \
            most["exec_ns"] // 5 * 4 == others[0], "a tie is not told, or none is"
        if second:
            share_is(second.group(2), others[0], s["length_ns"])

    def delays(self, x):
        t = self.totals
        say = self.read(x, "Ready tasks waited {C:time} task-seconds; {S:who} caused {P:share} of "
                        "it.", "Ready tasks waited {S:time} task-seconds; {S:who} caused {P:share}")
        blames = {"uninstrumented code": t["uninstrumented_blame_ns"], "idle time": t["idle_blame_ns"],
                  "untracked code": t["untracked_blame_ns"]}
        assert sum(blames.values()) + sum(s["blame_ns"] for s in self.sites) == t["blame_ns"]
        ranked = sorted(list(blames.values()) + [s["blame_ns"] for s in self.sites])[::-1]
        own = self.site_is(x, say["who"])["blame_ns"] if x["site"] else blames[say["who"]]
        assert own == ranked[0] and ranked[1] * 5 <= own * 4 + 25, ranked[:3]
        share_is(say["share"], own, t["blame_ns"])
        number = say["time"].rstrip("kM")
        unit = 1e9 * 1000 ** " kM".index(say["time"][len(number):] or " ")
        assert abs(float(number) * unit - t["delay_ns"]) <= half_digit(number) * unit, say

    def hangs(self, x):
        say = self.read(x, "The loop has been inside {S:what} for {T:time}, since {M:at}, and",
                        "The loop was inside {S:what} all these {T:time}, and is not back.")
        assert ("at" in say) == (x["at_ns"] > 0)
        assert not self.totals["idle"] and self.totals["enabled"]
        assert x["value_ns"] + x["at_ns"] == self.elapsed and x["value_ns"] >= 1e9 - 1e6
        time_is(say["time"], x["value_ns"])
        if x["at_ns"]:
            moment_is(say["at"], x["at_ns"])
        if x["site"]:
            site = self.site_is(x, say["what"])
            assert site["live"] > 0 or site["calls"] > site["completed"] + site["failed"], site
            assert self.totals["depth"] > 0
            assert site["slice_max_ns"] >= x["value_ns"] - 1, "it has no such slice"

    def leaks(self, x):
        say = self.read(x, "{C:left} of {C:calls} futures of {S:site} did not finish, and more")
        site = self.site_is(x, say["site"])
        left = site["abandoned"] + site["dropped"] + site["live"]
        count_is(say["left"], left)
        count_is(say["calls"], site["calls"])
        assert left == site["calls"] - site["completed"] - site["failed"] - site["cancelled"]
        assert left >= 100
        if site["live"] * 2 > left and left * 10 < site["calls"] * 9:
            assert site["latency_max_ns"] * 4 < self.elapsed, "others take as long"

    def queues(self, x):
        say = self.read(x, "{S:site} waits up to {T:most} for something outside of the loop: "
                        "{C:count} futures, {C:each} at once on average.")
        site = self.site_is(x, say["site"])
        time_is(say["most"], site["latency_max_ns"])
        count_is(say["count"], site["completed"] + site["failed"])
        count_is(say["each"], site["lifetime_ns"] // self.elapsed)
        assert site["waiting_ns"] * 10 >= site["lifetime_ns"] * 9

    def stutters(self, x):
        say = self.read(x, "{S:site} holds the loop for about {T:each} or more at least {C:rate} "
                        "times a second, {P:share} of the run in all.",
                        "The loop does not wait for about {T:each} or more at least {C:rate} times "
                        "a second, which is {P:share} of the run.")
        time_is(say["each"], x["value_ns"])
        if say.get("site"):
            site = self.site_is(x, say["site"])
            share_is(say["share"], site["exec_ns"], self.elapsed)
            assert x["value_ns"] <= site["slice_max_ns"]

    def preempted(self, x):
        say = self.read(x, "{S:site} held the loop for {T:time}, but used only {T:cpu} of CPU "
                        "time")
        site = self.site_is(x, say["site"])
        assert site["exec_ns"] == self.sites[0]["exec_ns"]
        assert site["cpu_ns"] * 2 <= site["exec_ns"] + 2
        time_is(say["time"], site["exec_ns"])
        time_is(say["cpu"], site["cpu_ns"])

    def cost(self, x):
        if x["text"].startswith("The sampler"):
            say = self.read(x, "The sampler took {P:share} of the run ({T:time})")
            share_is(say["share"], self.raw["sampler"]["cost_ns"], self.elapsed)
            return
        say = self.read(x, "{C:events} events in {T:work} of work")
        count_is(say["events"], self.totals["events"])
        time_is(say["work"], self.work)

    def full(self, x):
        say = self.read(x, "{S:option} is too small at {C:size}: {C:dropped} times something")
        table = next(t for t in self.raw["tables"] if t["option"] == say["option"])
        count_is(say["size"], table["capacity"])
        count_is(say["dropped"], table["dropped"])
        assert table["dropped"] > 0 and table["advice"] > table["capacity"]
        if x["text"].endswith("See what leaks first."):
            assert any(f["kind"] == "leaks" for f in self.raw["findings"])
            assert table["option"] == "max_futures"
            return
        advice = re.search(r"Set it to ([0-9]+)\.", x["text"]).group(1)
        count_is(advice, table["advice"])

    def order(self, x):
        rows = {row["text"]: row for row in self.raw["anomalies"]}
        say = re.match(r"(?:At least )?([0-9.]+[kMGT]?) times: (.*?)[;.] ", x["text"])
        row = rows[say.group(2)]
        count_is(say.group(1), row["count"])
        assert row["kind"] == "thread" or row["count"] == max(r["count"] for r in rows.values())
        last = re.search("Last (?:with id ([0-9]+))?", x["text"])
        if last and last.group(1):
            assert int(last.group(1)) == row["places"][-1]["id"], row["places"]
        untracked = re.search("; (<?[0-9.]+%) of the run is untracked", x["text"])
        if untracked:
            share_is(untracked.group(1), self.totals["untracked_ns"], self.elapsed)

    def fine(self, x):
        if "too early" in x["text"]:
            say = self.read(x, "It is too early to say: the profile covers {T:time} and has ")
            time_is(say["time"], self.elapsed)
            events = re.search("and has (.*) events?[.]", x["text"]).group(1)
            count_is(events.replace("one", "1"), self.totals["events"])
            assert self.elapsed < 1e9, "a second is not early"
            return
        if "after the last wait" in x["text"]:
            say = self.read(x, "Nothing stands out in {T:time}, but after the last wait of the "
                            "loop the program ran for {T:exit} more.")
            time_is(say["exit"], self.totals["exit_ns"])
            return
        say = self.read(x, "No task stands out in {T:time}, but the loop was idle for only "
                        "{P:idle} of it", "Nothing stands out in {T:time}: the loop was idle for "
                        "{P:idle} of it")
        time_is(say["time"], self.elapsed)
        share_is(say["idle"], self.asleep, self.elapsed)
        assert ("No task" in x["text"]) == (self.asleep < self.elapsed // 5)
        assert self.longest is None, "but there is a stall"
        assert set(self.kinds[:self.kinds.index("fine")]) == set(), self.kinds
        most = re.search(", and (.*) took the most of all tasks, (<?[0-9.]+%)", x["text"])
        assert bool(most) == (bool(self.sites) and self.sites[0]["exec_ns"] > 0)
        if most:
            site = next(s for s in self.sites if label(s) == most.group(1) and
                        s["exec_ns"] == self.sites[0]["exec_ns"])
            share_is(most.group(2), site["exec_ns"], self.elapsed)
        second = re.search("; the next took (<?[0-9.]+%)", x["text"])
        if second:
            share_is(second.group(1), self.sites[1]["exec_ns"], self.elapsed)
        loop = self.loop
        assert loop * 10 < self.elapsed or loop * 4 < self.work or not self.idles(), \
            "much is uninstrumented"

    def spins(self, x):
        t = self.totals
        say = self.read(x, "The loop spins: {P:share} of its waits return at once, {C:rate} a "
                        "second")
        share_is(say["share"], min(t["at_once"], t["iterations"]), t["iterations"])
        assert t["at_once"] * 10 >= t["iterations"] * 9 - 9, "not most of the waits"
        assert t["at_once"] * 1e9 >= 4990 * self.elapsed, "too few"

    def saturates(self, x):
        say = self.read(x, "The loop has room for at most {C:times} times this load: it was busy for "
                        "{P:share} of the run", "The loop has next to no room for more load: it was "
                        "busy for {P:share} of the run", "The loop is full at times: it was busy for {P:tenth} of "
                        "its busiest tenth, and for {P:share} of the run")
        t = self.totals
        all_ns = self.elapsed - t["start_ns"] - t["exit_ns"]
        share_is(say["share"], x["value_ns"], all_ns)
        assert x["value_ns"] <= self.work and t["iterations"] >= 100
        if "tenth" in say:
            assert float(say["tenth"].strip("<%")) >= 94.9, "not full"
        elif say.get("times"):
            assert float(say["times"]) <= all_ns / x["value_ns"] < float(say["times"]) + 0.11
        else:
            assert all_ns < 1.11 * x["value_ns"]

    def check(self):
        assert self.found and len(set(self.kinds)) == len(self.kinds), self.kinds
        assert self.elapsed == self.asleep + self.work
        for finding in self.found:
            text = finding["text"]
            assert text.endswith(".") and len(text.encode()) < 240, text
            try:
                getattr(self, finding["kind"])(finding)
            except (AssertionError, KeyError, StopIteration, AttributeError, IndexError) as error:
                raise SystemExit("%s: %r\n  %s" % (finding["kind"], error, text))


def profiles():
    if len(sys.argv) > 1:
        yield from (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
        return
    text = []
    for line in sys.stdin:                  # a profile ends with a brace of its own
        text.append(line)
        if line == "}\n":
            yield json.loads("".join(text))
            text = []


seen, count = collections.Counter(), 0
for raw in profiles():
    profile = Profile(raw)
    try:
        profile.check()
    except SystemExit as error:
        raise SystemExit("profile %d, %s" % (count, error))
    seen.update(profile.kinds)
    count += 1
print(count, "profiles:", ", ".join("%d %s" % (n, kind) for kind, n in seen.most_common()))
