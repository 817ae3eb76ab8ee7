#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes compile_commands.json for clangd and clang-tidy.

Asks Bazel for the compiler command of every source. Paths stay relative to the
workspace, as Bazel prints them. They resolve through the bazel-out link there, after
`tools/test` or `bazel build //...` has generated the headers.
"""

import argparse
import json
import pathlib
import re
import subprocess

# Options of gcc that clang's tools refuse.
REFUSED = {"-fno-canonical-system-headers"}


def sources(root, file):
    """Returns the sources of a compiled file: the file itself or, for a joined test, the
    sources that were joined in it (tools/bazel/unit_test.bzl)."""
    path = root / file
    if not file.endswith("_joined_test.cc") or not path.is_file():
        return [file]
    return re.findall(r'^#line 1 "(.+)"$', path.read_text(), re.MULTILINE)


def compile_commands(root, targets):
    query = subprocess.run(
        ["bazel", "aquery", f"mnemonic(CppCompile, {targets})",
         "--output=jsonproto", "--include_artifacts=false",
         "--ui_event_filters=-info", "--noshow_progress"],
        cwd=root, check=True, stdout=subprocess.PIPE)
    for action in json.loads(query.stdout).get("actions", []):
        arguments = [a for a in action["arguments"] if a not in REFUSED]
        compiled = arguments[arguments.index("-c") + 1]
        for file in sources(root, compiled):
            yield {
                "directory": str(root),
                "file": file,
                "arguments": [file if a == compiled else a for a in arguments],
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="?", default="//...",
                        help="a Bazel target pattern (default: //...)")
    targets = parser.parse_args().targets
    root = pathlib.Path(__file__).resolve().parent.parent
    commands = list(compile_commands(root, targets))
    output = root / "compile_commands.json"
    output.write_text(json.dumps(commands, indent=1) + "\n")
    print(f"{output}: {len(commands)} files")


if __name__ == "__main__":
    main()
