#!/usr/bin/env python3
"""Is chroprof.h a house one can walk through? Prints "N passed, N failed, N skipped".

    python3 tests/sections.py [chroprof.h]      B: the folder that is built in
    python3 tests/sections.py --arrows [FILE]   also shows which section uses which
    python3 tests/sections.py --tree            draws the parts, and what each includes
    python3 tests/sections.py --includes        first makes each part include what it uses

chroprof.h is made of parts, in src/header; a folder there is a storey. The rules of parts:
- storey: a part includes what is in its storey or a lower one, and stands before it in all.h, so
  that no includes go round in a circle;
- includes: a part includes each part whose names it uses, and no other;
- large: no part has more than 700 lines, no other file in src more than 1,000;
- private: no file outside of src/header uses a private name of the header or looks into the block
  of a handle, but for tests of the inside;
- unused: an example or the command calls each public function: one that nobody has a use for goes;
- map: the map in CONTRIBUTING.md shows the storeys as they are. In its ways, a function is in the
  part that is named, and the part of the one around it calls it.

A section begins at its anchor, /* >>name, at the start of a line. The rules:
- up: a section uses what stands in it or before it, no function or macro of a later section; only the
  interface, which declares all of them, names public functions anywhere;
- early: no private function is called before it is defined, so that callees stand before callers;
  but for the interface, whose macros call some;
- writer: writers use the public interface, sections of writers and plain ones: none that knows the
  block, and not the block itself;
- twice: a private name has one definition, or two in branches of one #if;
- alike: no private name differs from a public one by an underscore alone;
- columns, blanks: lines of at most 100 columns, without tabs and blanks at their end;
- long: functions of at most 50 lines.
Exceptions stand below, each with the way it could go. One that is no longer needed is a failure, so
that the list only gets shorter.
"""
import fnmatch
import glob
import os
import re
import sys

from places import place

# (rule, what, as of the shell's *): why it stands, and how it could go
EXCEPTIONS = {
    ('writer', '* -> now: *'): 'a tick and the cost of an event become public reads',
}

# Who may name what is private: tests of the inside, which are built with it, as fuzzers are.
INSIDE = ('tests/proof/*', 'tests/test_bare.c', 'tests/test_faults.c', 'tests/test_map.c',
          'tests/test_processor.c', 'tests/test_suspend.c')
USERS = ('src/command', 'src/run', 'examples')
OUTSIDE = ('src/command', 'src/run', 'examples', 'bench', 'tests')

WRITERS = ('output', 'text', 'json', 'folded', 'picks', 'prometheus', 'pprof', 'formats')
INTERFACE = ('manual', 'version', 'config', 'types', 'api', 'macros', 'loops')
PLAIN = INTERFACE + ('platform', 'util', 'words', 'columns', 'figures')
NAME = re.compile(r'\b(?:chroprof|CHROPROF)\w+')
WORD = re.compile(r'\b(?:chroprof|CHROPROF)\w*')
PRIVATE = re.compile(r'(?:chroprof|CHROPROF)__')
COLUMNS, FUNCTION_LINES = 100, 50
STOREYS = ('interface', 'base', 'block', 'event', 'sampler', 'reading', 'public', 'copies',
           'writers')
PARTS = 'src/header'
PART_LINES, FILE_LINES = 700, 1000


def blanked(text):
    """The code alone: comments and strings become blanks, so that every place stays the same."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0])
    return re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', blank, text,
                  flags=re.DOTALL)


def sections_of(text):
    """The section of each line, and the sections in order; what comes before the first is the manual."""
    order, of_line = ['manual'], []
    for line in text.split('\n'):
        anchor = re.match(r'/\* >>([a-z0-9]+(?: [a-z0-9]+)*)', line)
        if anchor:
            order.append(anchor[1] + (' again' if anchor[1] in order else ''))
        of_line.append(order[-1])
    return of_line, order


def conditions_of(code):
    """For each line the branches of #if it stands in, as (number of the #if, branch)."""
    stack, result, number = [], [], 0
    for line in code.split('\n'):
        directive = re.match(r'\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b', line)
        word = directive[1] if directive else ''
        if word.startswith('if'):
            number += 1
            stack.append((number, 0))
        elif word in ('elif', 'else'):
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
        elif word == 'endif':
            stack.pop()
        result.append(tuple(stack))
    return result


def closing(code, at, pair):
    """The place behind the bracket that closes the one at this place."""
    depth = 0
    for k in range(at, len(code)):
        depth += (code[k] == pair[0]) - (code[k] == pair[1])
        if depth == 0:
            return k + 1
    return len(code)


class Header:
    def __init__(self, text):
        self.text = text
        self.code = blanked(text)
        self.section, self.order = sections_of(text)
        self.conditions = conditions_of(self.code)
        self.functions, self.macros, self.declared, self.lengths = {}, {}, {}, []
        self.find_functions()
        self.find_macros()

    def line(self, at):
        return self.code.count('\n', 0, at)

    def find_functions(self):
        head = re.compile(r'^(?!#|\s|typedef\b|return\b|struct \w+ \{|enum\b)[^=;{}#()]*?'
                          r'\b(chroprof\w+)\(', re.MULTILINE)
        at = 0
        while match := head.search(self.code, at):
            end = closing(self.code, match.end() - 1, '()')
            while attribute := re.compile(r'\s*(?!\{)[\w]+(?=[\s({;])\(?').match(self.code, end):
                end = attribute.end()
                if self.code[end - 1] == '(':
                    end = closing(self.code, end - 1, '()')
            rest = re.compile(r'\s*([{;])').match(self.code, end)
            at = end
            if not rest:
                continue
            first = self.line(match.start(1))
            found = self.functions if rest[1] == '{' else self.declared
            found.setdefault(match[1], []).append(first)
            if rest[1] == '{':
                at = closing(self.code, rest.start(1), '{}')
                self.lengths.append((self.line(at - 1) - first + 1, match[1], first))

    def find_macros(self):
        for match in re.finditer(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', self.code, re.MULTILINE):
            self.macros.setdefault(match[1], []).append(self.line(match.start()))

    def places(self):
        """name -> lines where it is defined; stand-ins of CHROPROF_DISABLE are no definitions."""
        places = {name: list(lines) for name, lines in self.functions.items()}
        for name, lines in self.macros.items():
            if name not in places:
                places[name] = list(lines)
        return places

    def uses(self):
        """(name, line) of each word of ours in the code."""
        for number, line in enumerate(self.code.split('\n')):
            for match in NAME.finditer(line):
                yield match[0], number


def family(section):
    return section.split(' ')[0]


def arrows(header):
    """(from section, to section) -> {name: first line}: uses of what stands in another section."""
    places, found = header.places(), {}
    for name, line in header.uses():
        here = header.section[line]
        if name not in places or any(header.section[k] == here for k in places[name]):
            continue
        there = header.section[min(places[name])]
        if line in header.declared.get(name, ()):
            continue
        found.setdefault((here, there), {}).setdefault(name, line)
    return found


def ups(header):
    rank = {section: k for k, section in enumerate(header.order)}
    for (here, there), names in arrows(header).items():
        if rank[there] <= rank[here] or family(here) in INTERFACE:
            continue
        for name, line in names.items():
            yield 'up', f'{here} -> {there}: {name}', line


def called_early(header):
    """What is declared only to give it attributes is defined before it is used; macros of the
    interface call what the interface declares for them."""
    for name, line in header.uses():
        if PRIVATE.match(name) and name in header.functions and name in header.declared and \
                family(header.section[line]) not in INTERFACE and \
                min(header.declared[name]) < line < min(header.functions[name]):
            yield 'early', name, line


def writers_that_know(header):
    for (here, there), names in arrows(header).items():
        if family(here) in WRITERS and family(there) not in WRITERS + PLAIN:
            for name, line in names.items():
                if PRIVATE.match(name):
                    yield 'writer', f'{here} -> {there}: {name}', line
    told = set()
    for match in re.finditer(r'->core\b', header.code):
        line = header.line(match.start())
        if family(header.section[line]) in WRITERS and header.section[line] not in told:
            told.add(header.section[line])
            yield 'writer', f'{header.section[line]} -> the block: ->core', line


def exclude_each_other(header, one, other):
    a, b = dict(header.conditions[one]), dict(header.conditions[other])
    return any(k in b and b[k] != branch for k, branch in a.items())


def twice(header):
    for section in header.order:
        if section.endswith(' again'):
            yield 'twice', f'the section {section[:-6]}', header.section.index(section)
    for table in header.functions, header.macros:
        for name, lines in table.items():
            if not PRIVATE.match(name):
                continue
            if any(not exclude_each_other(header, a, b) for a in lines for b in lines if a < b):
                yield 'twice', name, lines[-1]


def alike(header):
    public = {name for name, _ in header.uses() if not PRIVATE.match(name)}
    seen = set()
    for name, line in header.uses():
        if PRIVATE.fullmatch(name):         # a piece that ## joins
            continue
        if PRIVATE.match(name) and name not in seen and name.replace('__', '_', 1) in public:
            seen.add(name)
            yield 'alike', name, line


def untidy(header):
    for number, line in enumerate(header.text.split('\n')):
        if len(line) > COLUMNS:
            yield 'columns', f'{len(line)} columns', number
        if '\t' in line or line != line.rstrip():
            yield 'blanks', 'a tab, or a blank at the end', number
    for length, name, line in header.lengths:
        if length > FUNCTION_LINES:
            yield 'long', f'{name} has {length} lines', line


class Parts:
    """The parts in the order of all.h: what they include, define and use."""

    def __init__(self):
        self.order = re.findall(r'^#include "(.*)"', read(f'{PARTS}/all.h'), re.MULTILINE)
        for part in self.order:
            if not os.path.exists(f'{PARTS}/{part}') or part.split('/')[0] not in STOREYS:
                sys.exit(f'FAIL parts: {PARTS}/all.h: {part} is no file in a storey')
        self.text = {part: read(f'{PARTS}/{part}') for part in self.order}
        self.includes = {part: re.findall(r'^#include "\.\./(.*)"', text, re.MULTILINE)
                         for part, text in self.text.items()}
        self.body = {part: blanked(text).split('\n') for part, text in self.text.items()}
        for part, text in self.text.items():        # the paragraph before it is no code
            head = text.split('\n').index('')
            self.body[part][:head] = [''] * head
        self.owner = self.owners()

    def owners(self):
        """name -> the part that defines or first declares it; what users define has none."""
        defined, asked, owner = {}, set(), {}
        define = re.compile(r'\s*#\s*define\s+(\w+)')
        for part in self.order:
            for line in self.body[part]:
                if match := define.match(line):
                    defined.setdefault(match[1], part)
                elif re.match(r'\s*#\s*(?:if|ifdef|ifndef|elif)\b', line):
                    asked.update(WORD.findall(line))
        for part in self.order:             # a struct is of the part that says what is in it
            for name in re.findall(r'^typedef struct (chroprof__\w+) \{',
                                   '\n'.join(self.body[part]), re.MULTILINE):
                owner[name] = part
        for part in self.order:             # constants that a list makes: X(NAME, ..
            code = '\n'.join(self.body[part])
            for prefix in set(re.findall(r'\b(CHROPROF\w*_)##', code)):
                for word in re.findall(r'\bX\((\w+)', code):
                    owner.setdefault(prefix + word, part)
        for part in self.order:
            for line in self.body[part]:
                for name in WORD.findall(line):
                    if name.startswith('CHROPROF') and name in defined:
                        owner[name] = defined[name]
                    elif name not in asked:
                        owner.setdefault(name, part)
        return owner

    def uses(self, part):
        """other part -> the first line, from 0, that uses a name of it, and the name."""
        found = {}
        for number, line in enumerate(self.body[part]):
            for name in WORD.findall(line):
                other = self.owner.get(name, part)
                if self.order.index(other) < self.order.index(part):
                    found.setdefault(other, (number, name))
        return found


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def storey_of(part):
    return STOREYS.index(part.split('/')[0])


def wrong_storeys(parts):
    for part in parts.order:
        for other in parts.includes[part]:
            if other not in parts.order or storey_of(other) > storey_of(part) or \
                    parts.order.index(other) >= parts.order.index(part):
                yield 'storey', f'{part} -> {other}', f'{PARTS}/{part}:1'


def wrong_includes(parts):
    for part in parts.order:
        uses = parts.uses(part)
        for other, (number, name) in uses.items():
            if other not in parts.includes[part]:
                yield 'includes', f'{name} is of {other}', f'{PARTS}/{part}:{number + 1}'
        for other in parts.includes[part]:
            if other not in uses:
                yield 'includes', f'{other} is not used', f'{PARTS}/{part}:1'


def too_large(parts):
    for path in glob.glob('src/**/*.*', recursive=True):
        lines = read(path).count('\n')
        if lines > (PART_LINES if path.startswith(PARTS) else FILE_LINES):
            yield 'large', f'{lines} lines', f'{path}:{lines}'
    for path in glob.glob(f'{PARTS}/*/*'):
        if os.path.relpath(path, PARTS) not in parts.order:
            yield 'large', 'a part that all.h does not include', f'{path}:1'


def wrong_forms(parts):
    """Includes stand at the head of a part, in the one form that join takes out."""
    for part in parts.order:
        head = True
        for number, line in enumerate(read(f'{PARTS}/{part}').split('\n'), 1):
            head = head and line != ''
            code = head or '#' in parts.body[part][number - 1]      # no example in a comment
            if code and re.match(r'\s*#\s*include\s*"', line) and \
                    not (head and re.match(r'#include "\.\./\w+/\w+\.h"$', line)):
                yield 'includes', 'not as #include "../storey/part.h" at the head', \
                    f'{PARTS}/{part}:{number}'


def private_outside(parts):
    """Names of its own that a file begins in the same way, as adapters do, are not the header's."""
    ours = {name for part in parts.order for line in parts.body[part]
            for name in WORD.findall(line) if PRIVATE.match(name)}
    for path in sorted(path for folder in OUTSIDE
                       for path in glob.glob(f'{folder}/**/*.*', recursive=True)):
        if not re.search(r'\.(?:[ch]|cc|cpp|nim)$', path) or \
                any(fnmatch.fnmatchcase(path, inside) for inside in INSIDE):
            continue
        told = set()
        for number, line in enumerate(blanked(read(path)).split('\n')):
            if re.search(r'(?:\.|->)core\s*->', line):
                yield 'private', f'{path}: core->', f'{path}:{number + 1}'
            for name in WORD.findall(line):
                if name in ours and name not in told:
                    told.add(name)
                    yield 'private', f'{path}: {name}', f'{path}:{number + 1}'


def unused(parts):
    """In an example the call may stand in another language, so names count wherever they are."""
    used = set()
    for path in sorted(path for folder in USERS
                       for path in glob.glob(f'{folder}/**/*.*', recursive=True)):
        if re.search(r'\.(?:[ch]|cc|cpp|nim|py)$', path):
            text = read(path)
            used.update(WORD.findall(text if path.endswith(('.nim', '.py')) else blanked(text)))
    for part in parts.order:
        code = '\n'.join(parts.body[part]) if storey_of(part) == 0 else ''
        for match in re.finditer(r'\bCHROPROF_API\b[^;()]*?\b(chroprof_\w+)\(', blanked(code)):
            if match[1] not in used and not PRIVATE.match(match[1]):
                yield 'unused', match[1], f'{PARTS}/{part}:{1 + code.count(chr(10), 0, match.start())}'


def wrong_map(_):
    text = read('CONTRIBUTING.md')
    shown = [name for name in re.findall(r'^    ([a-z]+)/ ', text, re.MULTILINE)
             if name in STOREYS]
    if shown != list(reversed(STOREYS)):
        yield 'map', f'storeys from the top: {" ".join(reversed(STOREYS))}', 'CONTRIBUTING.md:1'
    for name in sorted(set(re.findall(r'\b((?:src|tests)/[\w/]+\.\w+)', text))):
        if not os.path.exists(name):
            yield 'map', f'there is no {name}', 'CONTRIBUTING.md:1'
    for part in sorted(set(re.findall(r'\b((?:' + '|'.join(STOREYS) + r')/\w+\.h)\b', text))):
        if not os.path.exists(f'{PARTS}/{part}'):
            yield 'map', f'there is no {PARTS}/{part}', 'CONTRIBUTING.md:1'


def wrong_ways(parts):
    line = re.compile(r'^    ( *)(chroprof\w+) +(\w+/\w+\.h)', re.MULTILINE)
    around = []
    for match in line.finditer(read('CONTRIBUTING.md')):
        depth, name, part = len(match[1]) // 2, match[2], match[3]
        code = '\n'.join(parts.body.get(part, []))
        defined = re.search(r'^(?:CHROPROF|static)[^;{}]*\b' + name + r'\b', code, re.MULTILINE)
        outer = '\n'.join(parts.body[around[depth - 1]]) if depth > 0 else name
        calls = re.search(r'\b' + name + r'\b', outer)
        del around[depth:]
        around.append(part)
        if not defined or not calls:
            yield 'map', f'{name} is not in {part}, or not called', 'CONTRIBUTING.md:1'


def draw(parts):
    for k, storey in reversed(list(enumerate(STOREYS))):
        mine = [part for part in parts.order if storey_of(part) == k]
        lines = sum(parts.text[part].count('\n') for part in mine)
        print(f'{storey}: {len(mine)} parts, {lines} lines')
        for part in mine:
            print(f'    {part} -> {" ".join(parts.includes[part])}')


def mend_includes(parts):
    for part in parts.order:
        head, body = parts.text[part].split('\n\n', 1)
        lines = [line for line in head.split('\n') if not line.startswith('#include "')]
        lines += [f'#include "../{other}"' for other in sorted(parts.uses(part),
                                                               key=parts.order.index)]
        with open(f'{PARTS}/{part}', 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n\n' + body)


PART_RULES = (wrong_storeys, wrong_forms, wrong_includes, too_large, private_outside, unused,
              wrong_map, wrong_ways)
RULES = (ups, called_early, writers_that_know, twice, alike, untidy)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    path = arguments[0] if arguments else 'chroprof.h'
    with open(path, encoding='utf-8') as file:
        header = Header(file.read())
    if '--arrows' in sys.argv:
        for (here, there), names in arrows(header).items():
            print(f'{here} -> {there}: {" ".join(names)}')
    parts = Parts() if path == 'chroprof.h' else None
    if '--includes' in sys.argv:
        mend_includes(parts)
        parts = Parts()
    if '--tree' in sys.argv:
        draw(parts)
    needed, passed, failed = set(), 0, 0
    for rule in PART_RULES if parts is not None else ():
        broken = []
        for kind, what, where in rule(parts):
            mine = [e for e in EXCEPTIONS if e[0] == kind and fnmatch.fnmatchcase(what, e[1])]
            needed.update(mine)
            if not mine:
                broken.append((kind, what, where))
        for kind, what, where in broken:
            print(f'FAIL {kind}: {where}: {what}')
        failed += len(broken)
        passed += not broken
    for rule in RULES:
        broken = []
        for kind, what, line in rule(header):
            mine = [e for e in EXCEPTIONS if e[0] == kind and fnmatch.fnmatchcase(what, e[1])]
            needed.update(mine)
            if not mine:
                broken.append((kind, what, line))
        for kind, what, line in broken:
            where = place(line + 1) if parts is not None else f'{path}:{line + 1}'
            print(f'FAIL {kind}: {where}: {what}')
        failed += len(broken)
        passed += not broken
    for what in EXCEPTIONS:
        if what not in needed:
            print(f'FAIL exception that is no longer needed: {what}')
            failed += 1
    print(f'{passed} passed, {failed} failed, 0 skipped')
    sys.exit(failed > 0)


main()
