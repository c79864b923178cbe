"""What chroprof run costs redis-server: CPU time a request, with it and without.

    make bench-run                              needs redis-server and redis-benchmark
    python3 bench/run.py COMMAND [CLIENTS [SERVERS [BURSTS]]]

Two servers wait side by side, and bursts of GET without pipelining go to them in turn. The time is
the scheduler's count of the server's main thread, user and system. Servers are started afresh now
and then, as each lies in memory its own way. Medians of all bursts, and of the pairs' ratios.

On a busy machine those ratios say little, so the same is also summed up from parts that can be
measured there: what one wait costs more (bench/waits.c: instructions by callgrind, and CPU time, the
least of many batches), how many waits a request takes (the server's own profile), and what the
sampler says that it took."""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

REQUESTS = 20000


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Server:
    """redis-server behind the words of `prefix`."""

    def __init__(self, prefix):
        self.port = str(free_port())
        words = prefix + ['redis-server', '--port', self.port, '--save', '', '--appendonly', 'no']
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.ask('ping') != 'PONG\n':
            time.sleep(0.05)
        facts = dict(line.split(':', 1) for line in self.ask('info', 'server').splitlines()
                     if ':' in line)
        self.count = pathlib.Path('/proc', facts['process_id'].strip(), 'schedstat')

    def ask(self, *words):
        return subprocess.run(['redis-cli', '-p', self.port, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout

    def burst(self, clients):
        """Microseconds a request."""
        before = int(self.count.read_text().split()[0])
        subprocess.run(['redis-benchmark', '-p', self.port, '-t', 'get', '-n', str(REQUESTS), '-c',
                        clients, '-q'], stdout=subprocess.DEVNULL, check=True)
        return (int(self.count.read_text().split()[0]) - before) / REQUESTS / 1000

    def cpu_ns(self):
        return int(self.count.read_text().split()[0])

    def end(self):
        self.ask('shutdown', 'nosave')
        self.process.wait()


# >>parts

def build_waits(folder):
    program = os.path.join(folder, 'waits')
    source = pathlib.Path(__file__).with_name('waits.c')
    subprocess.run(['cc', '-O2', '-o', program, source], check=True)
    return program


def instructions(words, folder):
    """Of the process that prints its pid; None: nobody can count here."""
    log = os.path.join(folder, 'log.%p')
    counter = ['valgrind', '--tool=callgrind', '--trace-children=yes', '--log-file=' + log,
               '--callgrind-out-file=/dev/null']
    try:
        out = subprocess.run(counter + words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True).stdout
        lines = pathlib.Path(folder, 'log.' + out.split()[0]).read_text().splitlines()
    except (OSError, IndexError):
        return None
    return next((int(line.split(':')[1]) for line in lines if 'Collected' in line), None)


def added_instructions(prefix, program, folder):
    """That a wait takes more: by the difference of two counts of waits, with and without."""
    few, many = 20000, 60000
    found = [instructions(words + [program, str(count)], folder)
             for words in ([], prefix) for count in (few, many)]
    if None in found:
        return None
    return ((found[3] - found[2]) - (found[1] - found[0])) / (many - few)


def added_ns(prefix, program):
    """The least of many batches each."""
    def least(words):
        out = subprocess.run(words + [program, '200000'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True).stdout
        return float(out.split()[1])
    rounds = [(least([]), least(prefix)) for _ in range(9)]
    plain, watched = (min(column) for column in zip(*rounds))
    return plain, watched - plain


def tell_parts(command, profiles, cpu_ns, requests, plain_us):
    with tempfile.TemporaryDirectory() as folder:
        program = build_waits(folder)
        count = added_instructions([command, 'run'], program, folder)
        wait_ns, more_ns = added_ns([command, 'run'], program)
    iterations = sum(profile['totals']['iterations'] for profile in profiles)
    sampler = sum(profile['sampler']['cost_ns'] for profile in profiles) / cpu_ns
    share = iterations / requests * more_ns / (plain_us * 1000)
    print('  a wait takes %.0f ns, with it %.0f ns more (%s instructions); %.2f waits a request; '
          'sampler %.2f %%: %.2f %% in all' %
          (wait_ns, more_ns, '?' if count is None else '%.0f' % count, iterations / requests,
           sampler * 100, (share + sampler) * 100))


def read_profile(command, name):
    return json.loads(subprocess.run([command, 'dump', '--format', 'json', name], check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def main():
    command, clients = sys.argv[1], (sys.argv[2:3] or ['50'])[0]
    servers, bursts = (int(n) for n in (sys.argv[3:5] + ['6', '20'][len(sys.argv[3:5]):]))
    plain, watched, profiles, cpu_ns = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, 'kept')
        for _ in range(servers):
            pair = Server([]), Server([command, 'run', '-o', kept])
            for i in range(bursts):
                for k in (0, 1) if i % 2 else (1, 0):
                    (plain, watched)[k].append(pair[k].burst(clients))
            cpu_ns += pair[1].cpu_ns()
            for server in pair:
                server.end()
            profiles.append(read_profile(command, kept))
    ratios = [b / a for a, b in zip(plain, watched)]
    low, middle, high = statistics.quantiles(ratios)
    print('%s clients: %.2f us of CPU time a request without, %.2f with; ratio %.3f (%.3f to %.3f)' %
          (clients, statistics.median(plain), statistics.median(watched), middle, low, high))
    tell_parts(command, profiles, cpu_ns, REQUESTS * len(watched), statistics.median(plain))


main()
