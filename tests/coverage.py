#!/usr/bin/env python3
"""Which lines and branches of chroprof.h did the tests take? Reads what llvm-cov export wrote.

    python3 tests/coverage.py EXPORT.json chroprof.h LEAST_LINES LEAST_BRANCHES

A branch is one side of one condition (each operand of && and || counts), or one case of a switch.
Copies of a function, one a translation unit, count together. A line that carries a comment
"never: why" (or stands below one) excuses one side of its branches, with "never 2: why" two, and
the lines right behind it that were not run; each is listed with its reason, and one that excuses
other than it says is a failure. The last
line is "N passed, N failed, N skipped"; less than LEAST percent is a failure.
"""
import json
import re
import sys

from places import place as part_of

MARK = re.compile(r'/\* never( \d+)?: (.*?) \*/')


def usage():
    sys.exit(__doc__)


def read_export(name, header):
    """The functions of the header, and the line segments of the header."""
    with open(name) as file:
        data = json.load(file)['data'][0]
    functions = [f for f in data['functions'] if f['filenames'][0].endswith('/' + header)]
    segments = [f['segments'] for f in data['files'] if f['filename'].endswith('/' + header)]
    if not functions or not segments:
        sys.exit(f'coverage: nothing of {header} in {name}')
    return functions, segments[0]


def count_lines(segments):
    """line -> times run, for each line with code: as llvm-cov counts them."""
    counts = {}
    wrapped = None
    by_line = {}
    for segment in segments:
        by_line.setdefault(segment[0], []).append(segment)
    for line in range(1, segments[-1][0] + 1):
        own = by_line.get(line, [])
        entries = [s for s in own if s[3] and s[4] and not s[5]]
        mapped = bool(entries) or (wrapped is not None and wrapped[3])
        starts_skipped = own and not own[0][3] and own[0][4]
        if mapped and not starts_skipped:
            times = [s[2] for s in entries]
            if wrapped is not None and wrapped[3] and not (wrapped[5] and entries):
                times.append(wrapped[2])
            counts[line] = max(times)
        if own:
            wrapped = own[-1]
    return counts


def is_own(function, branch, header):
    """Not of a macro that a test program put in the place of a call."""
    return function['filenames'][branch[6]].endswith('/' + header)


def place(function, branch):
    """Where a branch stands in the header, through the macros it came from."""
    spots = [(branch[0], branch[1])]
    file_id = branch[6]
    while file_id != 0:
        for region in function['regions']:
            if region[7] == 1 and region[6] == file_id:
                spots.append((region[0], region[1]))
                file_id = region[5]
                break
        else:
            break
    return tuple(reversed(spots))


def count_branches(functions, header):
    """(place, which of the same place) -> [times true, times false]"""
    sides = {}
    for function in functions:
        seen = {}
        for branch in function['branches']:
            if not is_own(function, branch, header):
                continue
            spot = place(function, branch)
            number = seen[spot] = seen.get(spot, 0) + 1
            side = sides.setdefault((spot, number), [0, 0])
            side[0] += branch[4]
            side[1] += branch[5]
    return sides


def starts_with(source, spot, words):
    line, column = spot[0]
    return re.match(r'(' + words + r')\b', source[line - 1][column - 1:]) is not None


def missed_branches(source, sides):
    """A list of (line, column, what), and how many sides there are. A case can only be taken."""
    missed = []
    total = 0
    for (spot, number), (true, false) in sorted(sides.items()):
        line, column = spot[0]
        if source[spot[0][0] - 1][:spot[0][1] - 1].endswith('switch ('):
            continue                        # a default that is not written down
        case = starts_with(source, spot, 'case|default')
        total += 1 if case else 2
        name = f'operand {number}' if len(spot) > 1 else 'condition'
        if case and true == 0:
            missed.append((line, column, 'case never taken'))
        if not case and true == 0:
            missed.append((line, column, f'{name} never true'))
        if not case and false == 0:
            missed.append((line, column, f'{name} never false'))
    return missed, total


def excuse(source, lines, branches):
    """Takes out what marks excuse. Returns the lines and branches left, marks used, marks wrong."""
    used, wrong = [], []
    lines, branches = set(lines), list(branches)
    for number, text in enumerate(source, 1):
        mark = MARK.search(text)
        if not mark:
            continue
        number += text.lstrip().startswith('/*')
        mine = [b for b in branches if b[0] == number]
        behind = number
        while behind in lines or behind == number:
            lines.discard(behind)
            behind += 1
        sides = int(mark.group(1) or 1)
        if len(mine) == sides or (not mine and not mark.group(1) and behind > number + 1):
            branches = [b for b in branches if b[0] != number]
            used.append((number, mark.group(2)))
        else:
            wrong.append((number, f'excuses {len(mine)} sides, not {sides}: {mark.group(2)}'))
    return sorted(lines), branches, used, wrong


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def verdict(what, missed, total, least):
    """One line of the result; a failure if less than least percent were run."""
    share = percent(total - missed, total)
    good = share >= least
    print(f'{"ok" if good else "FAIL"} {what}: {total - missed} of {total}, {share:.2f} % '
          f'(at least {least:g} %)')
    return good


def main():
    if len(sys.argv) != 5:
        usage()
    export, header = sys.argv[1:3]
    least_lines, least_branches = map(float, sys.argv[3:5])
    with open(header) as file:
        source = file.read().split('\n')
    functions, segments = read_export(export, header)
    counts = count_lines(segments)
    sides = count_branches(functions, header)
    branches, branch_total = missed_branches(source, sides)
    lines = [line for line, times in counts.items()
             if times == 0 and not source[line - 1].startswith('#')]
    lines, branches, used, wrong = excuse(source, lines, branches)
    for line in lines:
        print(f'{part_of(line)}: not run: {source[line - 1].strip()}')
    for line, column, what in branches:
        print(f'{part_of(line)}:{column}: {what}: {source[line - 1].strip()}')
    for line, why in used:
        print(f'excused {part_of(line)}: {why}')
    for line, why in wrong:
        print(f'FAIL {part_of(line)}: this mark {why}')
    good = [verdict('lines', len(lines), len(counts), least_lines),
            verdict('branches', len(branches), branch_total, least_branches)]
    failed = good.count(False) + len(wrong)
    print(f'{good.count(True)} passed, {failed} failed, 0 skipped')
    sys.exit(failed > 0)


main()
