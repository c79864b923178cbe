"""What chroprof whatif predicts, against servers that are really changed.

    make bench-whatif                           11 minutes, and up to 20 if runs are repeated
    python3 bench/whatif.py COMMAND SERVER [DEMO [TIMES [SECONDS [PART...]]]]

Each line is a figure: what was predicted, what was true, how far apart they are, how far they may be.
The truth is the clock of clients, who stamp what they send: the middle of three runs, each with the
same requests at the same instants, and the range of the three behind it. The prediction is the middle
of what the three runs without the change give. A run from which other programs took much is repeated,
up to twice as many runs, and the calmest count; ALONE=1, for root, lets nothing else onto the two
processors meanwhile (kernel.sched_rt_runtime_us has to be -1 for it). A client's clock has the system's
way to a loop that waits in it, which no loop can see: it is measured in the run without the change, and
told by --wake. Parts (all, if none is named):

open     a poll server (bench/whatif.c) with open arrivals at 50, 70, 85 and 95 % load: what its
         clients see, and what they would see with its heavy handler at half
closed   the same with 1, 16 and 64 clients that wait for their answers, with pauses and without
full     the load at which it is full, against the one at which its clients' p99 explodes
costs    twenty of it with two or three planted costs: is what --all names first the one whose
         removal brings most? Each is really removed
redis    redis-server under chroprof run, clients that wait for a script and pause; half a script, with
         the factor that callbacks then took. They are the code after a wait, so the load is low: two
         requests seldom come together
demo     the demonstration with its fault, and fixed: latency of fetch_page

DEMO -: without it. TIMES above 1: the server sleeps in place of work, and all takes so many times as
long. On a machine that has other work that is the only way to measure at all, and still a doubtful one.
A refusal is told with its reason: it is no figure, and not counted as wrong."""

import json
import os
import random
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

LOADS = (50, 70, 85, 95)
CLIENTS = (1, 16, 64)          # those with pauses would ask for 80 % of the server
OPEN, HIDDEN, CLOSED, FULL = 15, 10, 20, 10    # percent
PROGRAMS = 20
ALONE = 'ALONE' in os.environ
RUNS, TRIES = 3, 6
LOST = 2e6                     # ns that others may take at a time
EXPLODED = 0.02                # of the seconds: where p99 is above, it grows as long as the server runs


class Table:
    def __init__(self):
        self.good = self.bad = self.refused = 0
        print('| case | figure | predicted | true | deviation | at most | |')
        print('|---|---|---|---|---|---|---|')

    def row(self, case, figure, predicted, true, most, unit='us'):
        """Lists of runs, in ns, printed in us; other units as they are."""
        scale = 1000 if unit == 'us' else 1
        digits = 0 if unit == 'us' else 2
        middle = [statistics.median(values) for values in (predicted, true)]
        off = 100 * (middle[0] / middle[1] - 1) if middle[1] > 0 else float('inf')
        passed = abs(off) <= most
        self.good += passed
        self.bad += not passed
        words = [f'{statistics.median(values) / scale:.{digits}f} {unit}' +
                 (f' ({min(values) / scale:.{digits}f} to {max(values) / scale:.{digits}f})'
                  if len(values) > 1 else '') for values in (predicted, true)]
        print(f'| {case} | {figure} | {words[0]} | {words[1]} | {off:+.1f} % | {most} % | '
              f'{"pass" if passed else "FAIL"} |', flush=True)

    def refuse(self, case, reason):
        self.refused += 1
        print(f'| {case} | refused: {reason} | | | | | |', flush=True)

    def judge(self, case, figure, passed):
        self.good += passed
        self.bad += not passed
        print(f'| {case} | {figure} | | | | | {"pass" if passed else "FAIL"} |', flush=True)

    def end(self):
        print(f'\n{self.good} pass, {self.bad} fail, {self.refused} refused')


class Bench:
    def __init__(self, command, server, folder, times, seconds):
        self.command, self.server, self.folder = command, server, folder
        self.times, self.seconds, self.number = times, seconds, 0

    def serve(self, load, factor=1, seconds=None, clients=0, costs=None, changed=1):
        """The truth, and the profile."""
        self.number += 1
        profile = os.path.join(self.folder, f'{self.number}.profile')
        words = [self.server, profile, load, factor, seconds or self.seconds, self.times, clients]
        words += [costs, changed] if costs else []
        got = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True, check=True)
        fields = got.stdout.split()
        return dict(zip(fields[0::2], (float(f) for f in fields[1::2]))), profile

    def serve_calmly(self, *words, runs=RUNS, tries=TRIES, **named):
        """The calmest runs of the same: truths and profiles."""
        found = []
        while len(found) < tries and sum(truth['lost'] <= LOST for truth, _ in found) < runs:
            found.append(self.serve(*words, **named))
        found.sort(key=lambda run: run[0]['lost'])
        for _, profile in found[runs:]:
            os.remove(profile)
        return found[:runs]

    def ask(self, profile, *words):
        got = subprocess.run([self.command, 'whatif', profile, '--json', *words],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return json.loads(got.stdout)


def site(figures, name):
    for row in figures['sites']:
        if row['name'] == name:
            return row
    return None


def compare(table, case, answers, name, truths, most, hidden=None):
    """answers: of runs; truths: runs before and after the change."""
    fits = [answer for answer in answers if answer['fits']]
    if not fits:
        table.refuse(case, answers[0]['reason'])
        return
    case = f"{case}, {'/'.join(sorted({answer['model'] for answer in fits}))}"
    case += f', {len(answers) - len(fits)} refused' if len(fits) < len(answers) else ''
    for which, key, runs in zip(('now', 'changed'), ('before', 'after'), truths):
        rows = [site(answer[key], name) for answer in fits]
        for figure in ('p50', 'p99'):
            table.row(case, f'{figure} {which}', [row[f'latency_{figure}_ns'] for row in rows],
                      [truth[figure] for truth in runs], most)
        if hidden:
            table.row(case, f'hidden {which}', [row['hidden_ns'] for row in rows],
                      [truth['hidden'] for truth in runs], hidden)


def pair(bench, load, clients):
    """As it is and with its heavy handler at half; what is predicted from the first."""
    answers, truths = [], []
    for truth, profile in bench.serve_calmly(load, clients=clients):
        answers.append(bench.ask(profile, '--site', 'heavy', '--factor', '0.5', '--wake',
                                 f"{truth['wake']:.0f}ns"))
        truths.append(truth)
        os.remove(profile)
    changed = bench.serve_calmly(load, 0.5, clients=clients)
    for _, profile in changed:
        os.remove(profile)
    return answers, (truths, [truth for truth, _ in changed])


def measured_capacity(bench):
    """What the loop itself costs takes a part of the server: its load at 100 % of the work is more."""
    _, profile = bench.serve(50, seconds=min(2 * bench.times, bench.seconds))
    answer = bench.ask(profile)
    os.remove(profile)
    full = 0.5 * answer['before']['saturates_at_ppm'] / 1e6 if answer['fits'] else 1
    return min(1, max(0.8, full))


def open_arrivals(bench, table):
    capacity = measured_capacity(bench)
    for load in LOADS:
        answers, truths = pair(bench, load * capacity, 0)
        compare(table, f'open, {load} % load', answers, 'request', truths, OPEN, HIDDEN)


def closed_loops(bench, table):
    for load, words in ((80, 'with pauses'), (0, 'without')):
        for clients in CLIENTS:
            answers, truths = pair(bench, load, clients)
            compare(table, f'{clients} clients {words}', answers, 'request', truths, CLOSED)


def full_load(bench, table):
    """Predicted at 70 % load. True: between the last load whose p99 stays and the first whose p99 grows
    with the run."""
    _, profile = bench.serve(70)
    answer = bench.ask(profile)
    os.remove(profile)
    if not answer['fits']:
        table.refuse('full', answer['reason'])
        return
    last = 70
    for load in range(76, 131, 4):
        truth, profile = bench.serve(load)
        os.remove(profile)
        if truth['p99'] > EXPLODED * bench.seconds * 1e9:
            table.row('full', 'load', [0.7 * answer['before']['saturates_at_ppm'] / 1e6],
                      [(load + last) / 200], FULL, 'of the work')
            return
        last = load
    table.judge('full', 'p99 exploded at no load up to 130 %', False)


def planted(number):
    """Costs of a program: two or three, of which the largest share is not always what delays most."""
    chance = random.Random(number)
    rows = [(chance.uniform(20e3, 60e3), 1), (chance.uniform(200e3, 500e3), chance.uniform(6, 15)),
            (chance.uniform(600e3, 1500e3), chance.uniform(30, 80))]
    return rows if chance.random() < 0.6 else rows[:2]


def planted_costs(bench, table):
    names, first, shares = ('light', 'heavy', 'third'), 0, 0
    seconds = min(1.5 * bench.times, bench.seconds)
    asked = 0
    for number in range(PROGRAMS):
        costs = planted(number)
        words = ','.join(f'{ns:.0f}/{one_in:.2f}' for ns, one_in in costs)
        (before, profile), = bench.serve_calmly(70, seconds=seconds, costs=words, runs=1, tries=3)
        answer = bench.ask(profile, '--all', '--factor', '0')
        os.remove(profile)
        truths = []
        for changed in range(len(costs)):
            (truth, profile), = bench.serve_calmly(70, 0, seconds, costs=words, changed=changed, runs=1,
                                                   tries=3)
            os.remove(profile)
            truths.append(1 - truth['p99'] / before['p99'])
        if not answer['fits'] or not answer['sites']:
            table.refuse(f'costs {number}', answer['reason'])
            continue
        asked += 1
        best = max(truths) - 0.03              # what differs by less is equally right
        share = max(range(len(costs)), key=lambda k: costs[k][0] / costs[k][1])
        named = names.index(answer['sites'][0]['name'])
        if truths[named] < best:
            brings = ', '.join(f'{name} {100 * truth:.0f} %' for name, truth in zip(names, truths))
            print(f'| costs {number} | {names[named]} is named first; p99 falls without {brings} | | | | '
                  '| |', flush=True)
        first += truths[named] >= best
        shares += truths[share] >= best
    table.judge('planted costs', f'--all names first what brings most in {first} of {asked} programs; the '
                f'largest share would in {shares}', 0 < asked == first)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def connect(port):
    s = socket.create_connection(('127.0.0.1', port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def ask_redis(port, count, seconds, pause, rounds):
    """Clients that wait for a script and pause at random, the same in each run. Latencies in ns."""
    poll, clients = selectors.DefaultSelector(), [connect(port) for _ in range(count)]
    chances = [random.Random(k) for k in range(count)]
    script = 'EVAL "local s=0 for i=1,%d do s=s+i end return s" 0\r\n'
    for k, s in enumerate(clients):
        poll.register(s, selectors.EVENT_READ, k)
    now, found, sent = time.perf_counter(), [], [0.0] * count
    due, end = [now + chance.expovariate(1 / pause) for chance in chances], now + seconds
    while (now := time.perf_counter()) < end:
        for k, s in enumerate(clients):
            if due[k] <= now:
                words = script % (rounds * (5 if chances[k].random() < 0.1 else 1))
                sent[k], due[k] = time.perf_counter(), end + 1
                s.send(words.encode())
        for key, _ in poll.select(max(0, min(min(due), end) - time.perf_counter())):
            key.fileobj.recv(4096)
            now = time.perf_counter()
            found.append((now - sent[key.data]) * 1e9)
            due[key.data] = now + chances[key.data].expovariate(1 / pause)
    for s in clients:
        s.close()
    return found


def ping_redis(port, seconds):
    """What a request takes that costs the server next to nothing."""
    found, end = [], time.perf_counter() + seconds
    with connect(port) as s:
        while (sent := time.perf_counter()) < end:
            s.send(b'PING\r\n')
            s.recv(100)
            found.append((time.perf_counter() - sent) * 1e9)
            time.sleep(0.005)
    return found


def record(bench, pid, seconds, events, ask, *words):
    """What clients saw, and the site of the server meanwhile, whose events are recorded."""
    recorder = subprocess.Popen([bench.command, 'record', pid, '--for', str(seconds + 2), '-o', events],
                                stderr=subprocess.DEVNULL)
    time.sleep(1)
    if ALONE:                      # no prompter than the server
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(everywhere)})
    seen = sorted(ask(*words))
    if ALONE:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, everywhere)
    recorder.wait()
    got = subprocess.run([bench.command, 'replay', events, '--format', 'json'], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return seen, max(json.loads(got.stdout)['sites'], key=lambda row: row['slices'])


def one_redis(bench, name, rounds, seconds):
    """Truth and events. wake: the way there and back, which a ping shows without its callback."""
    port, events = free_port(), os.path.join(bench.folder, name)
    first = ['chrt', '-f', '10', 'taskset', '-c', str(min(os.sched_getaffinity(0)))] if ALONE else []
    server = subprocess.Popen([*first, bench.command, 'run', '-o', events + '.profile', 'redis-server',
                               '--port', str(port), '--save', '', '--appendonly', 'no', '--hz', '1',
                               '--dynamic-hz', 'no'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid = None
    for _ in range(400):
        try:
            with connect(port) as s:
                s.send(b'INFO server\r\n')
                lines = s.recv(65536).decode().split()
                pid = [w[11:] for w in lines if w.startswith('process_id:')][0]
                break
        except (OSError, IndexError):
            time.sleep(0.05)
    pings, idle = record(bench, pid, 2, events + '.pings', ping_redis, port, 2)
    seen, busy = record(bench, pid, seconds, events, ask_redis, port, 8, seconds, 0.08, rounds)
    with connect(port) as s:
        s.send(b'SHUTDOWN NOSAVE\r\n')
        s.recv(100)
    server.wait()
    return {'p50': seen[len(seen) // 2], 'p99': seen[len(seen) * 99 // 100], 'site': busy['name'],
            'mean': busy['exec_ns'] / busy['slices'],
            'wake': max(0, pings[len(pings) // 2] - idle['slice_p50_ns'])}, events


def redis(bench, table):
    """Half a script is not half of a callback, which reads, answers and so on: the factor is what the
    callbacks took with it, on average, of what they took without."""
    if not shutil.which('redis-server'):
        print('| redis | needs redis-server | | | | | |')
        return
    before = [one_redis(bench, f'whole{k}', 200000, 10) for k in range(RUNS)]
    after = [one_redis(bench, f'half{k}', 100000, 10)[0] for k in range(RUNS)]
    answers = []
    for (truth, events), changed in zip(before, after):
        factor = changed['mean'] / truth['mean']
        print(f"| redis | callbacks took {factor:.3f} of the time with half a script; the way there and "
              f"back {truth['wake'] / 1000:.0f} us | | | | | |")
        answers.append(bench.ask(events, '--site', truth['site'], '--factor', f'{factor:.4f}', '--wake',
                                 f"{truth['wake']:.0f}ns"))
    compare(table, 'redis, 8 clients', answers, before[0][0]['site'],
            ([truth for truth, _ in before], after), CLOSED)


def demonstration(bench, table, demo):
    """Of the faulty one with its handler made free, and of the fixed one, which both measure alike."""
    files = []
    for words in ((), ('fixed',)):
        subprocess.run([os.path.abspath(demo), '7', *words], cwd=bench.folder,
                       stdout=subprocess.DEVNULL, check=True)
        files.append(os.path.join(bench.folder, f'demo{len(files)}.json'))
        os.rename(os.path.join(bench.folder, 'demo.json'), files[-1])
    changed = bench.ask(files[0], '--site', 'task_handler', '--factor', '0', '--site', 'find_task',
                        '--factor', '0')
    fixed = bench.ask(files[1])
    for answer in (changed, fixed):
        if not answer['fits']:
            table.refuse('demonstration', answer['reason'])
            return
    rows = [site(f, 'fetch_page') for f in (changed['after'], fixed['before'])]
    for key in ('latency_p50_ns', 'latency_p99_ns'):
        table.row('demonstration, fixed', f'{key[8:11]} of fetch_page', [rows[0][key]], [rows[1][key]],
                  OPEN)


def main():
    command, server = (os.path.abspath(word) for word in sys.argv[1:3])
    demo = sys.argv[3] if len(sys.argv) > 3 else '-'
    times = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 5
    parts = sys.argv[6:]
    with tempfile.TemporaryDirectory() as folder:
        bench, table = Bench(command, server, folder, times, seconds), Table()
        for name, part in (('open', open_arrivals), ('closed', closed_loops), ('full', full_load),
                           ('costs', planted_costs), ('redis', redis)):
            if not parts or name in parts:
                part(bench, table)
        if demo != '-' and (not parts or 'demo' in parts):
            demonstration(bench, table, demo)
        table.end()


main()
