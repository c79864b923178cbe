#!/usr/bin/env python3
"""Writes what tests/matrix.sh and tests/sizes.sh measured into tests/README.md, between markers.

    python3 tests/matrix_table.py [build]       the folder with matrix.tsv and sizes.tsv
    python3 tests/matrix_table.py --print       to standard output instead

tests/README.md gets a row a group of cells and one a cell. Cells that were not run say so.
"""
import pathlib
import subprocess
import sys

COLUMNS = ['group', 'cell', 'passed', 'failed', 'skipped', 'seconds', 'header', 'note', 'commit']
NEVER_RUN = [
    ('macOS', 'no machine: the code for it (mapped files, clock) compiles nowhere here'),
    ('MSVC', 'no compiler: Windows is built with mingw-w64 only'),
    ('real hardware but x86-64',
     'the other processors are emulated: qemu shows neither weak memory order nor true timing'),
]


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
    """One group's row: which cells ran, and the sums over them."""
    ran = [cell for cell in cells if is_run(rows.get((group, cell)))]
    sums = [sum(int(rows[group, cell][column]) for cell in ran)
            for column in ('passed', 'failed', 'skipped')]
    what = ', '.join(ran) if ran else 'nothing'
    if len(ran) < len(cells):
        what += f'; not run: {", ".join(cell for cell in cells if cell not in ran)}'
    return f'| {group}: {what} | {len(ran)} of {len(cells)} | {sums[0]:,} | {sums[1]} | {sums[2]} |'


def summary(rows, cells):
    """One row a group."""
    groups = list(dict.fromkeys(group for group, _ in cells))
    lines = ['| built and run with | cells | cases passed | failed | skipped |',
             '|---|---|---|---|---|']
    lines += [group_line(group, [cell for g, cell in cells if g == group], rows)
              for group in groups]
    lines += older(rows)
    lines += [f'| cannot be run here: {what} ({why}) | | | | |' for what, why in NEVER_RUN]
    return lines


def older(rows):
    """A line that owns up to cells that saw an earlier state of the header."""
    now = subprocess.run('cksum <chroprof.h', shell=True, check=True, stdout=subprocess.PIPE,
                         text=True).stdout.split()[0]
    names = [row['cell'] for row in rows.values() if is_run(row) and row['header'] != now]
    return [f'| {len(names)} of these cells ran with an earlier state of the header | | | | |'] \
        if names else []


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
    lines = ['| group | cell | passed | failed | skipped | seconds |', '|---|---|---|---|---|---|']
    return lines + [cell_line(group, cell, rows.get((group, cell))) for group, cell in cells]


def sizes(folder):
    """The table of code sizes: option set by processor."""
    rows = rows_of(folder / 'sizes.tsv')
    if not rows:
        return []
    head, *rest = rows
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)] + \
        ['| ' + ' | '.join(row) + ' |' for row in rest]


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
    if not rows and not sizes(folder):
        sys.exit(f'matrix_table: {folder}/matrix.tsv is not there: make test-matrix')
    tables = [('tests/README.md', 'matrix', summary(rows, cells)),
              ('tests/README.md', 'cells', details(rows, cells)),
              ('tests/README.md', 'sizes', sizes(folder))]
    for path, name, lines in tables:
        if '--print' in sys.argv:
            print('\n'.join(lines), end='\n\n')
        elif lines and (rows or name == 'sizes'):
            put(pathlib.Path(path), name, lines)


if __name__ == '__main__':
    main()
