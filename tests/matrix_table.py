#!/usr/bin/env python3
"""Writes what tests/matrix.sh, tests/sizes.sh and tests/record.sh left between the markers of a file.

    python3 tests/matrix_table.py [build]       the folder with matrix.tsv, checks.tsv, sizes.tsv
    python3 tests/matrix_table.py --print       to standard output instead

tests/README.md gets a row a group of cells and one a check, then one a cell, and the sizes of code. Each names the
commit that was run. Cells that were not run say so.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = ['group', 'cell', 'passed', 'failed', 'skipped', 'seconds', 'header', 'note', 'commit']
GROUPS = {
    'gcc 12': '-O0 to -O3, -Os, LTO; C99 to C2x, C++11 to C++20, strict and gnu',
    'clang 14': 'the same',
    'clang 22': 'the same, the newest clang of Debian 12',
    'others': 'tcc; musl',
    'little-endian': '32-bit x86; arm, arm64, riscv64 (qemu)',
    'big-endian': 's390x, powerpc (qemu)',
    'Windows (wine)': 'mingw-w64, C99 and gnu17',
    'bare metal (qemu)': 'Cortex-M3 with newlib and without a libc, Cortex-M0 in 16 KiB',
    'sanitizers': 'MSan, TSan, ASan, UBSan with integer checks, valgrind, at -O0 to -O3',
}
CHECKS = {
    'test': 'plain and with ASan and UBSan, the command, examples',
    'test-rest': 'the slow cases, more sanitizers, every way to compile, formats',
    'viewers': 'browser, speedscope, pprof, Prometheus',
    'programs': 'programs of Debian under chroprof run',
    'analyze': "gcc's and clang's analyzers, clang-tidy, cppcheck",
    'proof': 'CBMC: events, tables, windows, arithmetic, text, opening',
    'coverage': '',
    'mutation': '',
    'soak': '',
}
FUZZERS = {'fuzz_events': 'libFuzzer', 'fuzz_open': 'libFuzzer, any block', 'fuzz_rows': 'libFuzzer, plausible damage', 'fuzz_afl': 'AFL++'}
TARGETS = {'viewers': 'test-viewers', 'programs': 'test-programs'}
NEVER_RUN = ('Cannot be run here: macOS (no machine), MSVC (no compiler), real hardware but x86-64: '
             'emulators show neither weak memory order nor true timing.')


def rows_of(path):
    """The rows of a table of tab-separated values; none if it was not made."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    return [line.split('\t') for line in lines if line]


def all_cells():
    """Every cell that there is, in order: (group, cell)."""
    out = subprocess.run(['sh', 'tests/matrix.sh', 'list', 'all'], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [tuple(line.split('|')) for line in out.splitlines()]


def matrix_rows(folder):
    """{(group, cell): row} of the cells that were run or skipped."""
    rows = [dict(zip(COLUMNS, row)) for row in rows_of(folder / 'matrix.tsv')]
    for row in rows:
        row['note'] = '' if row['note'] == '-' else row['note']
    return {(row['group'], row['cell']): row for row in rows}


def is_run(row):
    return row is not None and not row['note'].startswith('skipped')


def group_line(group, cells, rows):
    """One group's row: how many of its cells ran, and the sums over them. Which did not stands in
    the table of the cells."""
    ran = [cell for cell in cells if is_run(rows.get((group, cell)))]
    sums = [sum(int(rows[group, cell][column]) for cell in ran)
            for column in ('passed', 'failed', 'skipped')]
    return (f'| {group} | {GROUPS[group]} | {len(ran)} of {len(cells)} | {sums[0]:,} '
            f'| {sums[1]} | {sums[2]} |')


def check_line(name, what, row):
    """Of a check: its counts, or what it says of itself."""
    if row is None:
        return f'| {name} | {what} | not run | | | |'
    _, commit, day, status, result, *where = row
    failed = '' if status == '0' else f', exit status {status}'
    processor = f', {where[0]}' if where else ''
    at = f'{day}, {commit}{processor}{failed}'
    counts = re.fullmatch(r'(\d+) passed, (\d+) failed, (\d+) skipped', result)
    if counts:
        passed, *others = counts.groups()
        return f'| {name} | {what} | {at} | {int(passed):,} | {others[0]} | {others[1]} |'
    said = re.sub(r'(^|; )(ok|FAIL) ', r'\1', result)
    return f'| {name} | {said} | {at} | | | |'


def fuzz_line(rows):
    """All fuzzers, with ASan and UBSan; what one says of itself is cut to what it ran."""
    said = {name: re.sub(r'^Done (.*) second.s.$', r'\1 s', rows[name][4]) for name in FUZZERS
            if name in rows}
    ran = [f'{FUZZERS[name]}: {text}' for name, text in said.items()]
    at = {f'{rows[name][2]}, {rows[name][1]}' for name in FUZZERS if name in rows}
    bad = [name for name in FUZZERS if name in rows and rows[name][3] != '0']
    failed = f', failed: {" ".join(bad)}' if bad else ''
    return f'| fuzzing | {"; ".join(ran)} | {"; ".join(sorted(at)) or "not run"}{failed} | | | |'


def check_lines(folder):
    rows = {row[0]: row for row in rows_of(folder / 'checks.tsv')}
    return [check_line(f'`make {TARGETS.get(name, name)}`', what, rows.get(name))
            for name, what in CHECKS.items()] + [fuzz_line(rows)]


def summary(rows, cells, checks):
    """One row a group, one a check, then what was run and what can't be."""
    groups = list(dict.fromkeys(group for group, _ in cells))
    lines = ['| built and run with | | cells | cases passed | failed | skipped |',
             '|---|---|---|---|---|---|']
    lines += [group_line(group, [cell for g, cell in cells if g == group], rows)
              for group in groups]
    return lines + checks + ['', f'{state(rows)} {NEVER_RUN}']


def state(rows):
    """Which commits were run, and whether the header is still the one that was."""
    now = subprocess.run('cksum <chroprof.h', shell=True, check=True, stdout=subprocess.PIPE,
                         text=True).stdout.split()[0]
    ran = [row for row in rows.values() if is_run(row)]
    commits = list(dict.fromkeys(row.get('commit', '-') for row in ran))
    older = sum(row['header'] != now for row in ran)
    said = 'Run at commit ' + ', '.join(commits)
    if any(commit.endswith('+') for commit in commits):
        said += ' (+: with changes)'
    return said + (f'; {older} cells had an earlier header.' if older else '.')


def cell_line(group, cell, row):
    if row is None:
        return f'| {group} | {cell} | not run | | | |'
    if not is_run(row):
        return f'| {group} | {cell} | {row["note"]} | | | |'
    note = f' ({row["note"]})' if row['note'] else ''
    return (f'| {group} | {cell}{note} | {row["passed"]} | {row["failed"]} | {row["skipped"]} '
            f'| {row["seconds"]} |')


def details(rows, cells):
    """One row a cell."""
    lines = ['"1 in 10 rounds": of random and heavy loops, and python3 reads no 100,000 paths. "without": '
             'test programs that need what the system or the checker does not have.', '']
    lines += ['| group | cell | passed | failed | skipped | seconds |', '|---|---|---|---|---|---|']
    return lines + [cell_line(group, cell, rows.get((group, cell))) for group, cell in cells]


def sizes(folder):
    """The table of code sizes: option set by processor."""
    rows = rows_of(folder / 'sizes.tsv')
    if not rows:
        return []
    head, *rest = rows
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)] + \
        ['| ' + ' | '.join(row) + ' |' for row in rest]


def suites(folder):
    """What each suite took in the last whole runs, the longest first."""
    lines = ['| suite | of | seconds | CPU seconds | passed | skipped |', '|---|---|---|---|---|---|']
    for tier, goal in (('short', 'make test'), ('rest', 'make test-rest')):
        rows = rows_of(folder / 'test' / f'logs-{tier}' / 'table')
        for name, _, seconds, cpu, passed, _, skipped in sorted(rows, key=lambda row: -int(row[2])):
            lines.append(f'| {name} | {goal} | {seconds} | {cpu} | {passed} | {skipped} |')
    return lines if len(lines) > 2 else []


def put(path, name, lines):
    """Replaces what is between the two markers of that name."""
    begin, end = f'<!-- {name} begins -->', f'<!-- {name} ends -->'
    text = path.read_text()
    if begin not in text or end not in text:
        sys.exit(f'matrix_table: {path} has no markers for "{name}"')
    before, rest = text.split(begin, 1)
    _, after = rest.split(end, 1)
    path.write_text(before + begin + '\n' + '\n'.join(lines) + '\n' + end + after)


def main():
    arguments = [word for word in sys.argv[1:] if word != '--print']
    folder = pathlib.Path(arguments[0] if arguments else 'build')
    rows, cells = matrix_rows(folder), all_cells()
    if not rows and not sizes(folder) and not suites(folder):
        sys.exit(f'matrix_table: {folder}/matrix.tsv is not there: make test-matrix')
    tables = [('tests/README.md', 'matrix', summary(rows, cells, check_lines(folder))),
              ('tests/README.md', 'cells', [state(rows), ''] + details(rows, cells)),
              ('tests/README.md', 'sizes', sizes(folder)),
              ('tests/README.md', 'suites', suites(folder))]
    for path, name, lines in tables:
        if '--print' in sys.argv:
            print('\n'.join(lines), end='\n\n')
        elif lines and (rows or name in ('sizes', 'suites')):
            put(pathlib.Path(path), name, lines)


if __name__ == '__main__':
    main()
