"""What chroprof whatif predicts, against servers that are really changed.

    make bench-whatif                           some minutes on a machine on which nothing else runs
    python3 bench/whatif.py COMMAND SERVER [DEMO [TIMES [SECONDS]]]

A poll server with open arrivals (bench/whatif.c) at 50, 70, 85 and 95 % load, once as it is and once
with its heavy handler at half. Its clients stamp what they send: that is the truth. From the profile
of the first run comes what clients saw, and what they would see; beside it what they saw in both.
The same with 1, 16 and 64 clients that wait for their answers, pause and ask again.
Then the demonstration, with its fault and without: latency of fetch_page.

TIMES above 1: the server sleeps in place of work, and all takes so many times as long. On a machine
that has other work that is the only way to measure at all, and still a doubtful one."""

import json
import os
import subprocess
import sys
import tempfile

LOADS = (50, 70, 85, 95)
CLIENTS = (1, 16, 64)          # that wait for their answers, and would ask for 80 % of the server


def serve(server, folder, load, factor, seconds, times, clients):
    """The process, which prints the truth, and its profile."""
    profile = os.path.join(folder, f'{load}-{factor}-{clients}')
    words = [server, profile, str(load), str(factor), str(seconds), str(times), str(clients)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True), profile


def truth(process):
    words = process.communicate()[0].split()
    return dict(zip(words[0::2], (float(w) for w in words[1::2])))


def ask(command, profile, *words):
    got = subprocess.run([command, 'whatif', profile, '--json', *words], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    return json.loads(got.stdout)


def site(figures, name):
    for row in figures['sites']:
        if row['name'] == name:
            return row
    return None


def cell(predicted, true):
    """In us, with the error."""
    return f'{predicted / 1000:.0f} / {true / 1000:.0f} ({100 * (predicted / true - 1):+.0f} %)'


def line(name, answer, before, after):
    if not answer['fits']:
        return f"| {name} | refused: {answer['reason']} |"
    cells = []
    for figures, real in ((answer['before'], before), (answer['after'], after)):
        row = site(figures, 'request')
        cells += [cell(row['latency_p50_ns'], real['p50']), cell(row['latency_p99_ns'], real['p99'])]
        if real is before:
            cells.append(cell(row['hidden_ns'], real['hidden']))
    return f"| {name} ({before['busy']:.0f} % busy, {answer['model']}) | " + ' | '.join(cells) + ' |'


def servers(command, server, folder, seconds, times):
    print('| load | p50 now, predicted / true, us | p99 now | hidden now | p50 changed | p99 changed |')
    print('|---|---|---|---|---|---|')
    for load, clients in [(load, 0) for load in LOADS] + [(80, count) for count in CLIENTS]:
        pair = []
        for factor in (1, 0.5):
            process, profile = serve(server, folder, load, factor, seconds, times, clients)
            pair.append((process, profile))
            if times <= 1:
                process.wait()
        before, after = (truth(process) for process, _ in pair)
        answer = ask(command, pair[0][1], '--site', 'heavy', '--factor', '0.5')
        print(line(f'{clients} clients' if clients else f'{load} %', answer, before, after),
              flush=True)


def demonstration(command, demo, folder):
    """Latency of fetch_page: of the faulty one with its handler made free, and of the fixed one."""
    files = []
    for words in ((), ('fixed',)):
        subprocess.run([os.path.abspath(demo), '7', *words], cwd=folder, stdout=subprocess.DEVNULL,
                       check=True)
        files.append(os.path.join(folder, f'demo{len(files)}.json'))
        os.rename(os.path.join(folder, 'demo.json'), files[-1])
    changed = ask(command, files[0], '--site', 'task_handler', '--factor', '0', '--site', 'find_task',
                  '--factor', '0')
    fixed = ask(command, files[1])
    if not (changed['fits'] and fixed['fits']):
        print('demonstration: refused:', changed['reason'], fixed['reason'])
        return
    rows = [site(f, 'fetch_page') for f in (changed['before'], changed['after'], fixed['before'])]
    for key in ('latency_p50_ns', 'latency_p99_ns', 'delay_p99_ns'):
        print(f'demonstration, {key}: {rows[0][key]} now, fixed: '
              f'{cell(rows[1][key], rows[2][key])} us, predicted / true')


def main():
    command, server = sys.argv[1:3]
    times = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 5
    with tempfile.TemporaryDirectory() as folder:
        servers(command, os.path.abspath(server), folder, seconds, times)
        if len(sys.argv) > 3 and sys.argv[3] != '-':
            demonstration(command, sys.argv[3], folder)


main()
