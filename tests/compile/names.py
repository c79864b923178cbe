#!/usr/bin/env python3
"""Prints the names that a file declares for others, one a line: types, tags, constants, functions,
variables, templates, namespaces.

    clang -Xclang -ast-dump=json -fsyntax-only FILE | python3 names.py
"""
import json
import sys

# in C a tag or a constant within a struct is known outside; in C++ it is a member
OPEN = {'TranslationUnitDecl', 'LinkageSpecDecl', 'EnumDecl', 'RecordDecl'}


def names(node):
    """The names in the scope of the file below this node."""
    for child in node.get('inner', []):
        kind = child.get('kind', '')
        if kind.endswith('Decl') and kind not in ('FieldDecl', 'IndirectFieldDecl'):
            if 'name' in child:
                yield child['name']
            if kind in OPEN and not child.get('scopedEnumTag'):
                yield from names(child)


print('\n'.join(sorted(set(names(json.load(sys.stdin))))))
