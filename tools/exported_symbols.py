#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the functions that libbulkhead.so has to export.

They are the functions that the headers in core/include/bulkhead declare and do
not define, as clang sees them, without those that only the library can call:
private ones, and those with a parameter of an incomplete type. Prints one line for
each, the name that the linker knows and a comment with the declaration, as
core/libbulkhead.symbols has them. `tools/lint` compares the two.

Usage: tools/exported_symbols.py > core/libbulkhead.symbols
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "core" / "include"
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
PREAMBLE = """#
# The functions that libbulkhead.so exports. Everything else in it is hidden.
# Made by tools/exported_symbols.py.

"""
FUNCTIONS = {
    "CXXConstructorDecl",
    "CXXConversionDecl",
    "CXXDestructorDecl",
    "CXXMethodDecl",
    "FunctionDecl",
}
# Templates are defined in headers.
TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl"}


def dump_declarations():
    includes = "".join(
        f'#include "{header.relative_to(HEADERS)}"\n'
        for header in sorted(HEADERS.glob("bulkhead/*.h")))
    # The filter keeps the dump from being 500 MB of the standard library.
    return subprocess.run(
        ["clang++", "-std=c++20", f"-I{HEADERS}", "-x", "c++", "-fsyntax-only",
         "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=bulkhead::",
         "-"],
        input=includes, stdout=subprocess.PIPE, text=True, check=True).stdout


def parse(dump):
    """Yields the JSON documents of which the dump consists."""
    decoder = json.JSONDecoder()
    at = dump.find("{")
    while at >= 0:
        node, end = decoder.raw_decode(dump, at)
        yield node
        at = dump.find("{", end)


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


def main():
    symbols, private = set(), set()
    for node in parse(dump_declarations()):
        collect(node, symbols)
        find_private(node, private)
    names = sorted(symbols - private)
    readable = subprocess.run(
        ["c++filt"], input="\n".join(names), stdout=subprocess.PIPE,
        text=True, check=True).stdout.splitlines()
    # Only the library itself can call what takes its incomplete types.
    pairs = sorted((declaration, name)
                   for declaration, name in zip(readable, names)
                   if "bulkhead::session::" not in declaration)
    sys.stdout.write(LICENCE + PREAMBLE)
    for declaration, name in pairs:
        print(f"{name}  # {declaration}")


if __name__ == "__main__":
    main()
