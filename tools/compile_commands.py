#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes compile_commands.json for clangd and clang-tidy.

Asks Bazel how it would compile everything. Paths stay as Bazel gives them,
relative to the workspace: the bazel-out link there makes them resolve, once
`tools/test` or `bazel build //...` has made the generated headers.
"""

import argparse
import json
import pathlib
import subprocess

# gcc knows it, clang's tools refuse it.
REFUSED = {"-fno-canonical-system-headers"}


def compile_commands(root, targets):
    query = subprocess.run(
        ["bazel", "aquery", f"mnemonic(CppCompile, {targets})",
         "--output=jsonproto", "--include_artifacts=false",
         "--ui_event_filters=-info", "--noshow_progress"],
        cwd=root, check=True, stdout=subprocess.PIPE)
    for action in json.loads(query.stdout).get("actions", []):
        arguments = [a for a in action["arguments"] if a not in REFUSED]
        yield {
            "directory": str(root),
            "file": arguments[arguments.index("-c") + 1],
            "arguments": arguments,
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
