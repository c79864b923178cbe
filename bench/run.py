"""What chroprof run costs redis-server: CPU time a request, with it and without.

    make bench-run                              needs redis-server and redis-benchmark
    python3 bench/run.py COMMAND [CLIENTS [SERVERS [BURSTS]]]

Two servers wait side by side, and bursts of GET without pipelining go to them in turn. The time is
the scheduler's count of the server's main thread, user and system. Servers are started afresh now
and then, as each lies in memory its own way. Medians of all bursts, and of the pairs' ratios."""

import pathlib
import socket
import statistics
import subprocess
import sys
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

    def end(self):
        self.ask('shutdown', 'nosave')
        self.process.wait()


def main():
    command, clients = sys.argv[1], (sys.argv[2:3] or ['50'])[0]
    servers, bursts = (int(n) for n in (sys.argv[3:5] + ['6', '20'][len(sys.argv[3:5]):]))
    plain, watched = [], []
    for _ in range(servers):
        pair = Server([]), Server([command, 'run'])
        for i in range(bursts):
            for k in (0, 1) if i % 2 else (1, 0):
                (plain, watched)[k].append(pair[k].burst(clients))
        for server in pair:
            server.end()
    ratios = [b / a for a, b in zip(plain, watched)]
    low, middle, high = statistics.quantiles(ratios)
    print('%s clients: %.2f us of CPU time a request without, %.2f with; ratio %.3f (%.3f to %.3f)' %
          (clients, statistics.median(plain), statistics.median(watched), middle, low, high))


main()
