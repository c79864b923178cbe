#!/usr/bin/env python3
"""Does the suite notice a wrong chroprof.h? Changes one token at a time and runs the test programs.

    python3 tests/mutate.py [N=200] [SEED=1] [FULL=1] [FROM=line] [TO=line] [LEAST=95] [SLOW=4]
                            [SHOW=1] [ONLY=file] [MINUTES=30]

Mutants are made on the token stream of the implementation: operators, constants, conditions; FULL=1
takes all of them, else a random sample of N. A mutant is not counted that does not compile, or
whose machine code is that of the original (code of another system, or the same to gcc -O2). tcc
compiles in milliseconds what it can see, clang the rest; what no case of tcc's notices is shown to
the cases that only clang has, and what nobody noticed to all cases under the sanitizers. A case
that fails, crashes or takes ten times the CPU time that it takes with the header as it is has
killed the mutant, if it does not pass when it is tried again alone. The cases that kill most in
little time come first, those that take longer than SLOW seconds or so, with SHARE=10, are left out;
so are those that never call the function that is changed (clang's -finstrument-functions tells,
once, with the header as it is).
Mutants that nobody can tell from the original are listed with the reason in tests/mutants.txt.
Prints the survivors with their change; fails if less than LEAST percent were killed. SHOW=1 only
prints the mutants. ONLY=file takes those of a list like the survivors'. The order is random, so
what has been tried when the MINUTES are over is a sample as well.
"""
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

from places import place

HEADER = 'chroprof.h'
EXCUSES = 'tests/mutants.txt'
FOLDER = os.path.abspath(os.environ.get('B', 'build') + '/mutation')
STANDARD = ['-std=c99', '-D_POSIX_C_SOURCE=200809L']
SANITIZE = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']
COMPILERS = {'tcc': ['tcc'], 'clang': ['clang'], 'sanitizers': ['clang', *SANITIZE]}
LINKERS = {'tcc': ['cc'], 'clang': ['cc'], 'sanitizers': ['clang', *SANITIZE]}
PATIENCE = {'sanitizers': 4}    # times as slow a case may be
WAITS = 5                       # wall clock for CPU time that a silent program may take
# as in the Makefile
FRAMES = ['-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-rdynamic', '-DTEST_FRAMES']
EXTRA = {('clang', 'sampler'): FRAMES}
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
TYPE = re.compile(r'chroprof(_\w+)?|\w+_t|char|int|void|FILE')    # before a * that is no product
NAMES = {'true': ['false'], 'false': ['true'], 'break': ['continue'], 'continue': ['break']}


TRACE = '''
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
static unsigned char *called;
__attribute__((constructor)) static void begin(void)
{
    int file = open(getenv("CALLED"), O_RDWR);
    if (file >= 0)
        called = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}
__attribute__((visibility("hidden"))) void __cyg_profile_func_enter(void *function, void *from)
{
    size_t at = (size_t)((const char *)function - __ehdr_start);
    if (called && at < SIZE)
        called[at] = (from, 1);
}
__attribute__((visibility("hidden"))) void __cyg_profile_func_exit(void *function, void *from)
{
    (void)function, (void)from;
}
'''
TRACE_SIZE = 8 << 20


class Mutant:
    def __init__(self, start, end, text, line):
        self.start, self.end, self.text, self.line = start, end, text, line


def arguments():
    values = {'N': 200, 'SEED': 1, 'FULL': 0, 'FROM': 0, 'TO': 10 ** 9, 'LEAST': 95.0, 'SHOW': 0,
              'SLOW': 4.0, 'ONLY': '', 'MINUTES': 10 ** 9}
    for argument in sys.argv[1:]:
        name, _, value = argument.partition('=')
        if name not in values or not value:
            sys.exit(__doc__)
        values[name] = type(values[name])(value)
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
    if text == '*' and TYPE.fullmatch(before[1]):
        return []
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


def functions_of(source):
    """{line: name} for the lines of the functions' bodies."""
    found, lines, name = {}, source.split('\n'), None
    for number, line in enumerate(lines, 1):
        if line == '{':
            first = number - 2
            while lines[first][:1].isspace():
                first -= 1
            name = re.search(r'\b(chroprof_\w+)\)?\(', ' '.join(lines[first:number - 1])).group(1)
        if name is not None:
            found[number] = name
        if line.startswith('}'):
            name = None
    return found


def apply(source, mutant):
    return source[:mutant.start] + mutant.text + source[mutant.end:]


def limits():
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 20, 200 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start(command, output, **variables):
    """A process in a group of its own, so that all of it can be ended."""
    environment = dict(os.environ, SCRATCH=FOLDER + '/scratch', B=os.environ.get('B', 'build'),
                       SHARE='10', **variables)
    return subprocess.Popen(command, preexec_fn=limits, env=environment, stdin=subprocess.DEVNULL,
                            stdout=output, stderr=subprocess.DEVNULL)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.wait()


def cpu_seconds(group):
    """CPU time of the living processes of a group, with that of their ended children."""
    ticks = 0
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{entry}/stat') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf('SC_CLK_TCK')


def lines_in_time(process, seconds):
    """Lines of its output; None and no more once it has been silent for too long: for that many
    seconds of CPU time, as the machine may be busy, or WAITS times as many in which it may wait."""
    pending = b''
    silent_since, used = time.monotonic(), None
    while True:
        if not select.select([process.stdout], [], [], 0.5)[0]:
            used = cpu_seconds(process.pid) if used is None else used
            if cpu_seconds(process.pid) - used > seconds or \
                    time.monotonic() - silent_since > WAITS * seconds:
                yield None
                return
            continue
        read = os.read(process.stdout.fileno(), 65536)
        if not read:
            return
        silent_since, used = time.monotonic(), None
        *whole, pending = (pending + read).split(b'\n')
        yield from (line.decode('utf-8', 'replace') for line in whole)


class Group:
    """Cases of one program that run together; the groups that kill most in little time go first."""

    def __init__(self, program, cases, seconds, new):
        self.program, self.cases, self.seconds, self.kills = program, cases, seconds, 0
        self.longest, self.new = seconds, new

    def add(self, case, seconds):
        self.cases.append(case)
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    def power(self):
        return (self.kills + 0.5) / (self.seconds + 0.05)

    def name(self):
        return self.program + (' ' + self.cases[0] if len(self.cases) == 1 else '')


class Calls:
    """Which functions of the header a case calls."""

    def __init__(self, names, own):
        self.folder = FOLDER + '/calls'
        os.makedirs(self.folder)
        with open(self.folder + '/trace.c', 'w') as file:
            file.write(TRACE)
        self.must(['cc', '-w', '-O1', '-fPIC', f'-DSIZE={TRACE_SIZE}', '-c', '-o',
                   self.folder + '/trace.o', self.folder + '/trace.c'])
        self.clang('-fPIC', '-shared', '-o', self.folder + '/libimpl.so',
                   FOLDER + '/tests/compile/impl.c')
        self.symbols, self.of_case = {}, {}
        for name in names:
            extra = EXTRA.get(('clang', name), [])
            if name in own:
                self.clang(*extra, '-o', self.program(name), f'{FOLDER}/tests/test_{name}.c')
            else:
                self.must(['cc', *STANDARD, '-w', '-O1', '-pthread', *extra, '-o',
                           self.program(name), f'{FOLDER}/tests/test_{name}.c',
                           self.folder + '/libimpl.so', '-Wl,-rpath,' + self.folder])
            self.symbols[name] = self.addresses(
                self.program(name) if name in own else self.folder + '/libimpl.so')
        self.seen = set()

    def program(self, name):
        return f'{self.folder}/test_{name}'

    @staticmethod
    def must(command):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f'mutate: {" ".join(command)}\n{result.stderr}')

    def clang(self, *arguments):
        self.must(['clang', *STANDARD, '-O0', '-w', '-pthread', '-finstrument-functions',
                   self.folder + '/trace.o', *arguments])

    @staticmethod
    def addresses(path):
        """[(address, name)] of the functions of the header."""
        text = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
        return [(int(at, 16), name) for at, name in
                re.findall(r'^([0-9a-f]+) [tT] (chroprof_\w+)$', text, re.M)]

    def of(self, program, case):
        """The names, found once; None if the case does not pass while it is watched."""
        if (program, case) not in self.of_case:
            called = self.watch(program, case)
            self.of_case[program, case] = called
            self.seen |= called or set()
        return self.of_case[program, case]

    def watch(self, program, case):
        path = self.folder + '/called'
        with open(path, 'wb') as file:
            file.truncate(TRACE_SIZE)
        process = start([self.program(program), '=' + case], subprocess.PIPE, CALLED=path)
        passed = False
        for line in lines_in_time(process, 60):
            passed = passed or (line or '').startswith(('ok ', 'skip '))
        passed = end(process) == 0 and passed
        process.stdout.close()
        with open(path, 'rb') as file:
            bytes_called = file.read()
        return {name for at, name in self.symbols[program] if bytes_called[at]} if passed else None

    def may_call(self, program, case, function):
        """False: changing the function changes nothing for the case."""
        called = self.of(program, case)
        return called is None or function not in self.seen or function in called


class Suite:
    """The test programs with one compiler, and what their cases take with the header as it is."""

    def __init__(self, compiler, names, slow, known):
        """known: the (program, case) that another compiler has; all others are new."""
        self.compiler, self.names, self.known = compiler, names, known
        self.built = set()
        self.groups = []
        self.once = []              # cases that failed, but not a second time
        self.own = {n for n in names if self.has_implementation(n)}
        self.object = self.implementation()
        if self.object is None:
            sys.exit(f'mutate: {HEADER} does not compile with {compiler}')
        for name in names:
            if name not in self.own:
                self.must([*LINKERS[compiler], *STANDARD, '-w', '-O1', '-pthread',
                           *EXTRA.get((compiler, name), []),
                           '-o', self.program(name), f'{FOLDER}/tests/test_{name}.c',
                           self.library(), '-Wl,-rpath,' + os.path.dirname(self.library())])
        for name in names:
            self.measure(name, slow)
        print(f'{compiler}: {sum(len(g.cases) for g in self.groups)} cases in {len(self.groups)} '
              f'groups, {sum(g.seconds for g in self.groups):.0f} seconds', flush=True)

    @staticmethod
    def has_implementation(name):
        with open(f'tests/test_{name}.c') as file:
            return re.search(r'^#define CHROPROF_IMPLEMENTATION', file.read(), re.M) is not None

    def library(self):
        return f'{FOLDER}/{self.compiler}/libimpl.so'

    def program(self, name):
        return f'{FOLDER}/{self.compiler}/test_{name}'

    @staticmethod
    def must(command):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f'mutate: {" ".join(command)}\n{result.stderr}')

    def compile(self, source, *more):
        command = [*COMPILERS[self.compiler], *STANDARD, '-O0', '-w', *more,
                   f'{FOLDER}/tests/{source}']
        return subprocess.run(command, capture_output=True).returncode == 0

    def implementation(self):
        """Builds the library. The bytes of its code; None: it does not compile."""
        os.makedirs(os.path.dirname(self.library()), exist_ok=True)
        if not self.compile('compile/impl.c', '-fPIC', '-shared', '-o', self.library()):
            return None
        with open(self.library(), 'rb') as file:
            return file.read()

    def build(self, name):
        """True: the program is there, with the header that lies in FOLDER."""
        if name not in self.own or name in self.built:
            return True
        part = self.program(name) + '.o'
        self.built.add(name)
        return self.compile(f'test_{name}.c', '-c', '-o', part) and subprocess.run(
            [*LINKERS[self.compiler], '-pthread', '-o', self.program(name), part],
            capture_output=True).returncode == 0

    def measure(self, name, slow):
        """Sorts the cases of a program into groups. What fails as it is kills nothing."""
        if not self.build(name):
            sys.exit(f'mutate: test_{name} does not build with {self.compiler}')
        left = subprocess.run([self.program(name), '--list'], capture_output=True, text=True,
                              check=True).stdout.split()
        quick = {new: Group(name, [], 0, new) for new in (False, True)}
        while left:
            left = self.measure_some(name, left, slow, quick)
        self.groups += [group for group in quick.values() if group.cases]

    def measure_some(self, name, cases, slow, quick):
        """Runs the cases up to the first that takes too long. Returns those behind it."""
        process = start([self.program(name)] + ['=' + case for case in cases], subprocess.PIPE)
        last, at, late = time.monotonic(), 0, False
        for line in lines_in_time(process, 2 * slow):
            if line is None:
                line = f'FAIL {cases[at]}: takes too long'
            how, _, case = line.partition(' ')
            if how == 'FAIL':
                print(f'not used: test_{name} ({self.compiler}): {line}', flush=True)
            if how not in ('FAIL', 'ok', 'skip'):
                continue
            took = time.monotonic() - last
            new = (name, case) not in self.known
            if how == 'ok' and took > 0.2:
                self.groups.append(Group(name, [case], took, new))
            elif how == 'ok':
                quick[new].add(case, took)
            last, at = time.monotonic(), at + 1
            late = line.endswith(': takes too long')
        end(process)
        process.stdout.close()
        if at < len(cases) and not late:
            print(f'not used: test_{name} ({self.compiler}): {cases[at]} ends the program')
            return cases[at + 1:]
        return cases[at:]

    def run(self, group, cases):
        """(which of the cases fails first, crashes or takes too long; None: they pass, too long)"""
        process = start([self.program(group.program)] + ['=' + case for case in cases],
                        subprocess.PIPE)
        at, bad, line = 0, False, ''
        for line in lines_in_time(process, 2 + 10 * group.longest):
            bad = line is None or line.startswith('FAIL ')
            if bad:
                break
            at += line.startswith(('ok ', 'skip '))
        bad = bad or process.wait() != 0
        end(process)
        process.stdout.close()
        return min(at, len(cases) - 1) if bad else None, bad and line is None

    def fails(self, group, cases):
        """A case takes too long, fails twice (the second time alone), or does not build."""
        if not self.build(group.program):
            return True
        while cases:
            at, long = self.run(group, cases)
            if at is None:
                return False
            if long or self.run(group, cases[at:at + 1])[0] is not None:
                return True
            self.once.append(f'test_{group.program} {cases[at]} ({self.compiler})')
            cases = cases[at + 1:]
        return False

    def cases(self):
        return {(group.program, case) for group in self.groups for case in group.cases}

    def killer(self, only_new, calls, function):
        """The group that notices the header in FOLDER, its library being built; None: nobody."""
        self.built.clear()
        for group in sorted(self.groups, key=Group.power, reverse=True):
            if only_new and not group.new:
                continue
            cases = [case for case in group.cases
                     if function is None or calls.may_call(group.program, case, function)]
            if cases and self.fails(group, cases):
                group.kills += 1
                return group.name()
        return None


class Bench:
    """A copy of the tests, beside which the header is changed."""

    def __init__(self, slow):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER + '/scratch')
        shutil.copytree('tests', FOLDER + '/tests')
        shutil.copy(HEADER, FOLDER)
        found = sorted(re.findall(r'test_(\w+)\.c', ' '.join(os.listdir('tests'))))
        self.names = [n for n in found if not self.unusable(n)]
        self.slow = slow
        self.optimized = self.optimize()
        self.suites = {}
        for compiler in COMPILERS:
            self.suite(compiler)
        self.calls = Calls(self.names, self.suite('clang').own)
        for program, case in sorted(set().union(*(s.cases() for s in self.suites.values()))):
            self.calls.of(program, case)

    @staticmethod
    def unusable(name):
        command = ['cc', '-E', *STANDARD, f'tests/test_{name}.c']
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            print(f'not used: test_{name}: {result.stderr.splitlines()[0]}')
        return result.returncode != 0

    def suite(self, compiler):
        if compiler not in self.suites:
            known = {case for suite in self.suites.values() for case in suite.cases()}
            if compiler == 'sanitizers':
                known = set()
            self.suites[compiler] = Suite(compiler, self.names,
                                          self.slow * PATIENCE.get(compiler, 1), known)
        return self.suites[compiler]

    @staticmethod
    def optimize():
        """The code that an optimizer makes of the header in FOLDER."""
        target = FOLDER + '/optimized.o'
        subprocess.run(['cc', *STANDARD, '-O2', '-w', '-c', '-o', target,
                        FOLDER + '/tests/compile/impl.c'], check=True, capture_output=True)
        with open(target, 'rb') as file:
            return file.read()

    def killer(self, text, function):
        """The name of what kills; None: nobody; '': not compiled or the same code. function: the
        one that is changed; None: none, or not known."""
        with open(f'{FOLDER}/{HEADER}', 'w') as file:
            file.write(text)
        tried = False
        for compiler in COMPILERS:
            suite = self.suite(compiler)
            made = suite.implementation()
            if made is None or made == suite.object:
                continue
            name = suite.killer(tried, self.calls, function)
            if name is not None:
                return name
            tried = True
        return None if tried and self.optimize() != self.optimized else ''


def changes_in(path):
    """{(line as it is, line as changed)} of a list: a line with "- ", the next with "+ "."""
    found = set()
    if os.path.exists(path):
        with open(path) as file:
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
    if chosen['ONLY']:
        wanted = changes_in(chosen['ONLY'])
        mutants = [m for m in mutants if changed_line(source, m) in wanted]
        print(f'{len(mutants)} of them in {chosen["ONLY"]}')
    elif not chosen['FULL'] and chosen['N'] < len(mutants):
        mutants = random.Random(chosen['SEED']).sample(mutants, chosen['N'])
        print(f'a sample of {len(mutants)} of them, SEED={chosen["SEED"]}')
    random.Random(chosen['SEED']).shuffle(mutants)
    if chosen['SHOW']:
        for mutant in sorted(mutants, key=lambda m: m.start):
            print(f'{mutant.line}: {" => ".join(changed_line(source, mutant))}')
        return
    function_at = functions_of(source)
    bench, known, kills = Bench(chosen['SLOW']), changes_in(EXCUSES), {}
    survivors, equal, same = [], 0, 0
    end = time.monotonic() + 60 * chosen['MINUTES']
    for number, mutant in enumerate(mutants, 1):
        if time.monotonic() > end:
            print(f'{number - 1} of {len(mutants)} tried in {chosen["MINUTES"]} minutes')
            break
        change = changed_line(source, mutant)
        if change in known:
            equal += 1
            continue
        name = bench.killer(apply(source, mutant), function_at.get(mutant.line))
        if name == '':
            same += 1
        elif name is None:
            survivors.append((mutant.line, change))
            print(f'survived {place(mutant.line)} ({number} of {len(mutants)})\n'
                  f'- {change[0]}\n+ {change[1]}', flush=True)
        else:
            kills[name] = kills.get(name, 0) + 1
    killed = sum(kills.values())
    share = 100.0 * killed / (killed + len(survivors)) if killed + len(survivors) else 100.0
    order = sorted(kills, key=lambda name: -kills[name])
    print('killed by: ' + ', '.join(f'{name} {kills[name]}' for name in order))
    once = [case for suite in bench.suites.values() for case in suite.once]
    if once:
        print('failed, but not again alone: ' + ', '.join(once))
    print(f'{killed} killed, {len(survivors)} survived, {equal} equivalent (tests/mutants.txt), '
          f'{same} not compiled or the same code: {share:.1f} % (at least {chosen["LEAST"]:g} %)')
    sys.exit(share < chosen['LEAST'])


main()
