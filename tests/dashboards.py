"""The dashboard and the rules of a fleet: what they ask for is what the command writes by default.

    python3 tests/dashboards.py FOLDER PROMETHEUS EXPRESSIONS     (tests/dashboards.sh calls it)

Writes every expression of the dashboard to EXPRESSIONS, as rules, so that promtool can parse them.
Prints "ok NAME" or "FAIL NAME: why" each, at last "done"."""
import json
import os
import re
import sys

FOLDER, PROMETHEUS, EXPRESSIONS = sys.argv[1:4]
# labels that a scrape, textfile.sh or a rule adds
ADDED = {"job", "instance", "process"}
WORDS = {"by", "on", "and", "or", "unless", "offset", "group_left", "ignoring", "sum", "avg",
         "rate", "increase", "topk", "scalar", "histogram_quantile", "count", "min_over_time",
         "max_over_time"}
TYPES = {"timeseries", "stat", "row", "table"}


def check(name, holds, why=""):
    print(f"ok {name}" if holds else f"FAIL {name}: {why!r}", flush=True)


def read_series():
    """{name: {label: values}} of a scrape."""
    series = {}
    with open(PROMETHEUS, encoding="utf-8") as text:
        for line in text:
            if not line.startswith("#"):
                name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
                known = series.setdefault(name, {})
                for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""):
                    known.setdefault(label, set()).add(value)
    return series


def read_rules():
    """[(name of a record or an alert, its expression)], without a library for YAML."""
    with open(os.path.join(FOLDER, "rules.yml"), encoding="utf-8") as text:
        rules = re.findall(r"- (?:record|alert): (\S+)\n(.*?)(?=\n *- |\Z)", text.read(), re.S)
    found = []
    for name, body in rules:
        body = re.sub(r"^ *#.*", "", body, flags=re.M)
        expression = re.search(r"expr: (.*?)(?=\n *(?:for|labels|annotations):|\Z)", body, re.S)[1]
        found.append((name, " ".join(expression.replace(">\n", "", 1).split())))
    return found


def wrong_in(expression, series, recorded):
    """What of an expression is not there; nothing if all is."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    bare = re.sub(r"\[[^]]*\]|\b\d\w*", "", bare)
    known = {label for labels in series.values() for label in labels} | ADDED | {"le"}
    labels = re.sub(r"\{[^}]*\}", "", bare)
    for group in re.findall(r"\b(?:by|on|ignoring|group_left) \(([^)]*)\)", labels):
        for label in re.findall(r"\w+", group):
            if label not in known:
                return f"the label {label}"
    labels = re.sub(r"\b(?:by|on|ignoring|group_left) \([^)]*\)", "", labels)
    for name in re.findall(r"[A-Za-z_][\w:]*", labels):
        if name not in WORDS and name not in series and name not in recorded:
            return name
    for name, matchers in re.findall(r"(\w+)\{([^}]*)\}", expression):
        for label, how, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', matchers):
            if label in ADDED:
                continue
            values = series.get(name, {}).get(label, set())
            wanted = value.split("|") if how == "=~" else [value]
            if not set(wanted) <= values:
                return f"{name} with {label} {value}"
    return None


def check_rules(series):
    rules = read_rules()
    recorded = {name for name, _ in rules if ":" in name}
    check("rules_found", len(recorded) >= 4 and len(rules) - len(recorded) >= 8, rules)
    for name, expression in rules:
        wrong = wrong_in(expression, series, recorded)
        check(f"rule_{name}", wrong is None, wrong)
    with open(os.path.join(FOLDER, "rules_test.yml"), encoding="utf-8") as text:
        tests = text.read()
    for name, _ in rules:
        check(f"tested_{name}", name in tests)
    used = set(re.findall(r"series: (\w+)\{", tests))
    check("tests_use_what_is_there", used <= series.keys(), used - series.keys())
    return recorded


def check_panel(panel, variables):
    """What is wrong with a panel; nothing if all is as Grafana wants it."""
    place = panel["gridPos"]
    if panel["type"] not in TYPES or not panel["title"]:
        return "type or title"
    if place["x"] + place["w"] > 24 or min(place["w"], place["h"]) < 1:
        return "place"
    if panel["type"] == "row":
        return None
    if len(panel["description"]) < 20:
        return "description"
    ids = [target["refId"] for target in panel["targets"]]
    if not ids or len(ids) != len(set(ids)):
        return "refId"
    for at in [panel, *panel["targets"]]:
        if at["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
            return "datasource"
    for variable in re.findall(r"\$(\w+)", " ".join(t["expr"] for t in panel["targets"])):
        if variable not in variables and variable != "__rate_interval":
            return f"the variable {variable}"
    return None


def overlaps(panels):
    cells = set()
    for panel in panels:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if (x, y) in cells:
                    return panel["title"]
                cells.add((x, y))
    return None


def check_dashboard(series, recorded):
    with open(os.path.join(FOLDER, "dashboard.json"), encoding="utf-8") as text:
        board = json.load(text)
    variables = {variable["name"]: variable for variable in board["templating"]["list"]}
    panels = board["panels"]
    check("dashboard", board["uid"] == "chroprof" and board["schemaVersion"] >= 36 and
          board["title"] and "id" not in board and "__inputs" not in board)
    check("dashboard_ids", len({panel["id"] for panel in panels}) == len(panels))
    check("dashboard_places", overlaps(panels) is None, overlaps(panels))
    expressions = []
    for panel in panels:
        wrong = check_panel(panel, variables)
        for target in panel.get("targets", ()):
            expressions.append(target["expr"])
            wrong = wrong or wrong_in(target["expr"], series, recorded)
        check(f"panel_{panel['title'].replace(' ', '_')}", wrong is None, wrong)
    for name, variable in variables.items():
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)",
                                         variable["query"]["query"]).groups()
            check(f"variable_{name}", metric in series and label in ADDED, variable["query"])
    with open(EXPRESSIONS, "w", encoding="utf-8") as out:
        out.write("groups:\n- name: dashboard\n  rules:\n")
        for number, expression in enumerate(expressions):
            expression = expression.replace("$__rate_interval", "5m")
            expression = re.sub(r"\$\w+", ".*", expression)
            out.write(f"  - record: expression_{number}\n    expr: {json.dumps(expression)}\n")
    # every series of the default is looked at somewhere, or says what a graph needs to be believed
    asked = " ".join(expressions) + " ".join(expression for _, expression in read_rules())
    unused = {name for name in series if re.sub("_(bucket|sum|count)$", "", name) not in asked}
    check("default_is_used", unused <= {
        "chroprof_info", "chroprof_idle_seconds_total", "chroprof_untracked_seconds_total",
        "chroprof_idle_blame_seconds_total", "chroprof_uninstrumented_blame_seconds_total",
        "chroprof_untracked_blame_seconds_total", "chroprof_events_total", "chroprof_callbacks_total",
        "chroprof_start_seconds_total", "chroprof_exit_seconds_total",
        "chroprof_waits_at_once_total", "chroprof_at_once_seconds_total",
        "chroprof_hidden_delay_mean_seconds", "chroprof_hidden_delay_p99_seconds",
        "chroprof_start_time_seconds"}, unused)


def main():
    series = read_series()
    check_dashboard(series, check_rules(series))
    print("done")


main()
