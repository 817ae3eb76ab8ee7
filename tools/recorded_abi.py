#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records the ABIs of Bulkhead as text, which clang makes from the headers.

Usage: tools/recorded_abi.py symbols > core/libbulkhead.symbols
       tools/recorded_abi.py layouts > core/libbulkhead.layouts
       tools/recorded_abi.py backend > backends/sdk/bulkhead_backend.layouts

symbols  the functions that libbulkhead.so has to export: those that the headers in
         core/include/bulkhead declare and do not define, without those that only
         the library can call (private ones, and those with a parameter of an
         incomplete type)
layouts  what these headers compile into programs: bases, virtual functions and data
         members of each type in their order, and the values of enumerators
backend  the same of bulkhead_backend.h

`tools/lint` compares the files with the headers, so that no ABI changes unnoticed.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "core" / "include"
BACKEND_HEADER = ROOT / "backends" / "sdk" / "bulkhead_backend.h"
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
PREAMBLES = {
    "symbols": """#
# The functions that libbulkhead.so exports. Everything else in it is hidden.
# Made by tools/recorded_abi.py.

""",
    "layouts": """#
# The types that programs share with libbulkhead.so. A change here is a change of
# the ABI: see core/include/STABILITY.md. Made by tools/recorded_abi.py.
""",
    "backend": """#
# The types that backends share with the process that loads them. A change here is
# a change of the ABI: see backends/sdk. Made by tools/recorded_abi.py.
""",
}
FUNCTIONS = {
    "CXXConstructorDecl",
    "CXXConversionDecl",
    "CXXDestructorDecl",
    "CXXMethodDecl",
    "FunctionDecl",
}
# Templates are defined in headers.
TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl"}


def dump(language, name_filter, source):
    # The filter keeps the dump from being 500 MB of the standard library.
    return subprocess.run(
        ["clang", *language, f"-I{HEADERS}", "-fsyntax-only", "-Xclang",
         "-ast-dump=json", "-Xclang", f"-ast-dump-filter={name_filter}", "-"],
        input=source, stdout=subprocess.PIPE, text=True, check=True).stdout


def dump_headers():
    includes = "".join(
        f'#include "{header.relative_to(HEADERS)}"\n'
        for header in sorted(HEADERS.glob("bulkhead/*.h")))
    return dump(["-x", "c++", "-std=c++20"], "bulkhead::", includes)


def dump_backend_header(name_filter):
    return dump(["-x", "c", "-std=c11"], name_filter,
                f'#include "{BACKEND_HEADER}"\n')


def constant_lines():
    """Yields the constants of bulkhead_backend.h that belong to no type."""
    macros = subprocess.run(
        ["clang", "-E", "-dM", BACKEND_HEADER], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()
    yield ""
    yield from sorted(
        macro for macro in macros if macro.startswith("#define BULKHEAD_"))
    yield ""
    yield "enumerators"
    yield from enumerators({"inner": parse(dump_backend_header("BULKHEAD_"))})


def parse(text):
    """Yields the JSON documents of which the dump consists."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        node, end = decoder.raw_decode(text, at)
        yield node
        at = text.find("{", end)


def is_defined(function):
    return (
        function.get("inline")
        or function.get("isImplicit")
        or function.get("explicitlyDefaulted")
        or function.get("explicitlyDeleted")
        or any(part.get("kind") == "CompoundStmt"
               for part in function.get("inner", [])))


def collect(node, symbols):
    kind = node.get("kind")
    if kind in TEMPLATES:
        return
    if kind in FUNCTIONS and "mangledName" in node and not is_defined(node):
        symbols.add(node["mangledName"])
    for part in node.get("inner", []):
        collect(part, symbols)


def find_private(node, symbols):
    """Collects private methods, which a dump also shows on their own."""
    access = "private" if node.get("tagUsed") == "class" else "public"
    for part in node.get("inner", []):
        if part.get("kind") == "AccessSpecDecl":
            access = part["access"]
        elif node.get("kind") == "CXXRecordDecl" and access == "private":
            symbols.add(part.get("mangledName"))
        find_private(part, symbols)


def symbol_lines():
    symbols, private = set(), set()
    for node in parse(dump_headers()):
        collect(node, symbols)
        find_private(node, private)
    names = sorted(symbols - private)
    readable = subprocess.run(
        ["c++filt"], input="\n".join(names), stdout=subprocess.PIPE,
        text=True, check=True).stdout.splitlines()
    # Functions with a parameter of an incomplete type can be called by the library only.
    for declaration, name in sorted(zip(readable, names)):
        if not re.search(r"\bbulkhead::[a-z_]+::", declaration):
            yield f"{name}  # {declaration}"


def constant_value(node):
    """Returns the value that clang computed for an expression below `node`."""
    if "value" in node:
        return int(node["value"])
    values = (constant_value(part) for part in node.get("inner", []))
    return next((value for value in values if value is not None), None)


def enumerators(enum):
    value = -1
    for part in enum.get("inner", []):
        if part["kind"] != "EnumConstantDecl":
            continue
        given = constant_value(part)
        value = value + 1 if given is None else given
        yield f"  {part['name']} = {value}"


def record_types(node, scope, types):
    """Adds to `types` each type that `node` declares, by name, with the lines that describe
    it."""
    kind, parts = node.get("kind"), node.get("inner", [])
    name = scope + node.get("name", "")
    if kind == "EnumDecl" and "name" in node:
        base = node.get("fixedUnderlyingType", {}).get("qualType", "")
        types[f"enum {name}" + (f" : {base}" if base else "")] = list(
            enumerators(node))
    elif kind in ("TypeAliasDecl", "TypedefDecl"):
        types[f"type {name}"] = [f"  = {node['type']['qualType']}"]
    elif kind in ("CXXRecordDecl", "RecordDecl") and "name" in node:
        if not node.get("completeDefinition"):
            return
        lines = [f"  : {base['type']['qualType']}"
                 for base in node.get("bases", [])]
        for part in parts:
            written = part.get("type", {}).get("qualType", "")
            if part.get("kind") == "FieldDecl":
                lines.append(f"  {part.get('name', '')}: {written}")
            elif part.get("virtual"):
                lines.append(f"  virtual {part['name']}: {written}")
            else:
                record_types(part, name + "::", types)
        types[f"{node['tagUsed']} {name}"] = lines
    elif kind == "ClassTemplateDecl":
        for part in parts:
            if part.get("kind") == "CXXRecordDecl":
                record_types(part, scope, types)


def layout_lines(text):
    types = {}
    for node in parse(text):
        record_types(node, "", types)
    for name in sorted(types):
        yield ""
        yield name
        yield from types[name]


def main():
    makers = {
        "symbols": symbol_lines,
        "layouts": lambda: layout_lines(dump_headers()),
        "backend": lambda: itertools.chain(
            constant_lines(), layout_lines(dump_backend_header("bulkhead_"))),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    sys.stdout.write(LICENCE + PREAMBLES[sys.argv[1]])
    for line in makers[sys.argv[1]]():
        print(line)


if __name__ == "__main__":
    main()
