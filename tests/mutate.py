#!/usr/bin/env python3
"""Does the suite notice a wrong chroprof.h? Changes one token at a time and runs the test programs.

    python3 tests/mutate.py [N=200] [SEED=1] [FULL=1] [FROM=line] [TO=line] [LEAST=95] [SHOW=1]

Mutants are made on the token stream of the implementation: operators, constants, conditions; FULL=1
takes all of them, else a random sample of N. A mutant whose object file is that of the original
(code of another system, or the same after compilation) is not counted, nor one that does not
compile. tcc compiles in milliseconds what it can see, cc the rest. A program that fails, crashes or
takes ten times as long as with the header as it is has killed the mutant. Those that can't be told
from the original by anybody are listed with the reason in tests/mutants.txt. Prints the survivors
with their change; fails if less than LEAST percent were killed. SHOW=1 only prints the mutants.
"""
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

HEADER = 'chroprof.h'
EXCUSES = 'tests/mutants.txt'
FOLDER = os.path.abspath(os.environ.get('B', 'build') + '/mutation')
STANDARD = ['-std=c99', '-D_POSIX_C_SOURCE=200809L']
# those that kill much in little time come first
ORDER = ['inside', 'words', 'events', 'guard', 'faults', 'open', 'chronos', 'output', 'map',
         'random', 'bare', 'capacity', 'formats', 'snapshot', 'clock', 'traces', 'threads']
TOKEN = re.compile(r'''
    (?P<comment>/\*.*?\*/|//[^\n]*) | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*') | (?P<number>\.?\d(?:[\w.]|[eE][+-])*)
  | (?P<name>[A-Za-z_]\w*) | (?P<space>\s+)
  | (?P<operator>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    ''', re.VERBOSE | re.DOTALL | re.MULTILINE)
SWAPS = {
    '<': ['<=', '>='], '>': ['>=', '<='], '<=': ['<', '>'], '>=': ['>', '<'], '==': ['!='],
    '!=': ['=='], '&&': ['||'], '||': ['&&'], '++': ['--'], '--': ['++'], '+=': ['-='],
    '-=': ['+='], '<<': ['>>'], '>>': ['<<'], '|=': ['&='], '/': ['*'], '%': ['/'], '|': ['&'],
    '<<=': ['>>='], '>>=': ['<<='], '*=': ['/='], '/=': ['*='], '^': ['|'], '!': [''],
}
BINARY = {'+': ['-'], '-': ['+'], '*': ['/'], '&': ['|']}     # only between two operands
NAMES = {'true': ['false'], 'false': ['true'], 'break': ['continue'], 'continue': ['break']}


class Mutant:
    def __init__(self, start, end, text, line):
        self.start, self.end, self.text, self.line = start, end, text, line


def arguments():
    values = {'N': 200, 'SEED': 1, 'FULL': 0, 'FROM': 0, 'TO': 10 ** 9, 'LEAST': 95, 'SHOW': 0}
    for argument in sys.argv[1:]:
        name, _, value = argument.partition('=')
        if name not in values or not value:
            sys.exit(__doc__)
        values[name] = float(value) if name == 'LEAST' else int(value)
    return values


def other_numbers(text):
    """The number plus 1, and 0 (0: only 1), in the same form."""
    match = re.fullmatch(r'(0[xX][0-9a-fA-F]+|0|[1-9]\d*)([uUlL]*)', text)
    if not match:
        return []
    value = int(match.group(1), 0)
    others = [value + 1] + ([0] if value > 1 else [])
    if value == 1:
        others = [0, 2]
    form = '{:#x}{}' if text[:2].lower() == '0x' else '{}{}'
    return [form.format(other, match.group(2)) for other in others]


def is_operand_end(token):
    kind, text = token
    return kind in ('number', 'string') or text in (')', ']') or \
        (kind == 'name' and text not in ('return', 'case', 'sizeof'))


def closing(tokens, k):
    """The index of the parenthesis that closes the one at k."""
    depth = 0
    for i in range(k, len(tokens)):
        depth += {'(': 1, ')': -1}.get(tokens[i][1], 0)
        if depth == 0:
            return i
    return None


def tokens_of(source, begin, end):
    """[(kind, text, offset)] without comments, blanks and directives."""
    found = []
    for match in TOKEN.finditer(source, begin, end):
        if match.lastgroup not in ('comment', 'directive', 'space'):
            found.append((match.lastgroup, match.group(), match.start()))
    return found


def changes(tokens, k):
    """What may stand in the place of token k."""
    kind, text, _ = tokens[k]
    before = tokens[k - 1][:2] if k else ('', '')
    if kind == 'number':
        return other_numbers(text)
    if kind == 'name':
        return NAMES.get(text, [])
    if text in BINARY and is_operand_end(before) and tokens[k + 1][1] not in (')', ',', '='):
        return BINARY[text]
    return SWAPS.get(text, [])


def mutants_of(source, begin, end):
    tokens = tokens_of(source, begin, end)
    lines = [0]
    for match in re.finditer('\n', source):
        lines.append(match.end())
    found = []
    line = 0
    for k, (kind, text, offset) in enumerate(tokens):
        while line < len(lines) and lines[line] <= offset:
            line += 1
        if 'STATIC_ASSERT' in source[lines[line - 1]:offset] or \
                'kill(' in source[lines[line - 1]:lines[line]]:
            continue
        for other in changes(tokens, k):
            found.append(Mutant(offset, offset + len(text), other, line))
        if text in ('if', 'while') and tokens[k + 1][1] == '(':
            last = tokens[closing(tokens, k + 1)][2]
            first = tokens[k + 1][2] + 1
            found.append(Mutant(first, last, f'!({source[first:last]})', line))
    return found


def apply(source, mutant):
    return source[:mutant.start] + mutant.text + source[mutant.end:]


def limits():
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 20, 200 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, seconds):
    """Exit status of a command in a group of its own, all of which ends with it; 124: too slow."""
    environment = dict(os.environ, SCRATCH=FOLDER + '/scratch', B=os.environ.get('B', 'build'))
    with subprocess.Popen(command, preexec_fn=limits, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = 124
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return status


class Bench:
    """The test programs, and what they take with the header as it is."""

    def __init__(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER + '/tests/compile')
        os.makedirs(FOLDER + '/scratch')
        for name in os.listdir('tests'):
            if os.path.isfile('tests/' + name):
                shutil.copy('tests/' + name, f'{FOLDER}/tests/{name}')
        shutil.copy('tests/compile/impl.c', FOLDER + '/tests/compile/impl.c')
        names = {name[5:-2] for name in os.listdir('tests') if re.fullmatch(r'test_\w+\.c', name)}
        self.names = [n for n in ORDER if n in names] + sorted(names - set(ORDER))
        self.own = {n for n in self.names if self.has_implementation(n)}
        self.seconds = {}
        shutil.copy(HEADER, FOLDER)
        for name in self.names:
            if name not in self.own:
                self.must(['cc', *STANDARD, '-O1', '-pthread', '-c', '-o', self.path(name + '.o'),
                           f'{FOLDER}/tests/test_{name}.c'])
        self.objects = {compiler: self.object_by(compiler) for compiler in ('tcc', 'cc')}
        for name in list(self.names):
            self.measure('tcc', name)

    @staticmethod
    def has_implementation(name):
        with open(f'tests/test_{name}.c') as file:
            return re.search(r'^#define CHROPROF_IMPLEMENTATION', file.read(), re.M) is not None

    @staticmethod
    def path(name):
        return f'{FOLDER}/{name}'

    def must(self, command):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f'mutate: {" ".join(command)}\n{result.stderr}')

    def compile(self, compiler, output, source, *more):
        command = [compiler, *STANDARD, '-O0', '-w', '-o', self.path(output), *more,
                   f'{FOLDER}/tests/{source}']
        return subprocess.run(command, capture_output=True).returncode == 0

    def object_by(self, compiler):
        """The bytes of the implementation's object file; None: it does not compile."""
        if not self.compile(compiler, 'impl.o', 'compile/impl.c', '-c'):
            return None
        with open(self.path('impl.o'), 'rb') as file:
            return file.read()

    def build(self, compiler, name):
        """The program with the header that lies in FOLDER, whose object is impl.o."""
        target = self.path('test_' + name)
        if name in self.own:
            if not self.compile(compiler, name + '_own.o', f'test_{name}.c', '-c'):
                return False
            parts = [self.path(name + '_own.o')]
        else:
            parts = [self.path(name + '.o'), self.path('impl.o')]
        command = ['cc', '-pthread', '-o', target, *parts]
        return subprocess.run(command, capture_output=True).returncode == 0

    def measure(self, compiler, name):
        if not self.build(compiler, name):
            sys.exit(f'mutate: test_{name} does not build with {compiler}')
        started = time.monotonic()
        status = run([self.path('test_' + name)], 600)
        if status != 0:
            print(f'skip test_{name} ({compiler}): fails as it is, exit status {status}')
            self.names.remove(name)
        took = time.monotonic() - started
        self.seconds[name] = max(took, self.seconds.get(name, 0))

    def killer(self, text):
        """The name of the program that kills; None: nobody; '': not compiled or the same code."""
        with open(self.path(HEADER), 'w') as file:
            file.write(text)
        compiler = 'tcc'
        made = self.object_by(compiler)
        if made == self.objects[compiler] or made is None:
            compiler = 'cc'
            made = self.object_by(compiler)
            if made is None or made == self.objects[compiler]:
                return ''
        for name in self.names:
            if not self.build(compiler, name):
                return 'compile ' + name
            if run([self.path('test_' + name)], 10 * self.seconds[name] + 5) != 0:
                return name
        return None


def excuses():
    """{(line as it is, line as changed)}: mutants that nobody can tell from the original."""
    found = set()
    if os.path.exists(EXCUSES):
        with open(EXCUSES) as file:
            lines = [line.rstrip('\n') for line in file if not line.startswith('#')]
        for k, line in enumerate(lines):
            if line.startswith('- ') and lines[k + 1].startswith('+ '):
                found.add((line[2:].strip(), lines[k + 1][2:].strip()))
    return found


def changed_line(source, mutant):
    """The line of the change, before and after."""
    first = source.rfind('\n', 0, mutant.start) + 1
    last = source.find('\n', mutant.end)
    return (source[first:last].strip(),
            (source[first:mutant.start] + mutant.text + source[mutant.end:last]).strip())


def main():
    chosen = arguments()
    with open(HEADER) as file:
        source = file.read()
    begin = source.index('#define CHROPROF_IMPLEMENTATION_DONE')
    end = source.index('#endif /* CHROPROF_IMPLEMENTATION */')
    mutants = [m for m in mutants_of(source, begin, end)
               if chosen['FROM'] <= m.line <= chosen['TO']]
    print(f'{len(mutants)} mutants of {HEADER}')
    if not chosen['FULL'] and chosen['N'] < len(mutants):
        mutants = random.Random(chosen['SEED']).sample(mutants, chosen['N'])
        print(f'a sample of {len(mutants)} of them, SEED={chosen["SEED"]}')
    mutants.sort(key=lambda m: m.start)
    if chosen['SHOW']:
        for mutant in mutants:
            print(f'{mutant.line}: {" => ".join(changed_line(source, mutant))}')
        return
    bench, known, kills = Bench(), excuses(), {}
    survivors, equal, same = [], 0, 0
    for number, mutant in enumerate(mutants, 1):
        change = changed_line(source, mutant)
        if change in known:
            equal += 1
            continue
        name = bench.killer(apply(source, mutant))
        if name == '':
            same += 1
        elif name is None:
            survivors.append((mutant.line, change))
            print(f'survived {HEADER}:{mutant.line} ({number} of {len(mutants)})\n'
                  f'- {change[0]}\n+ {change[1]}', flush=True)
        else:
            kills[name] = kills.get(name, 0) + 1
    killed = sum(kills.values())
    share = 100.0 * killed / (killed + len(survivors)) if killed + len(survivors) else 100.0
    order = sorted(kills, key=lambda name: -kills[name])
    print('killed by: ' + ', '.join(f'{name} {kills[name]}' for name in order))
    print(f'{killed} killed, {len(survivors)} survived, {equal} equivalent (tests/mutants.txt), '
          f'{same} not compiled or the same code: {share:.1f} % (at least {chosen["LEAST"]:g} %)')
    sys.exit(share < chosen['LEAST'])


main()
