# SPDX-License-Identifier: Apache-2.0
"""Says as JSON what importlib.metadata reads from generated files and trees.

importlib_oracle.py DIRECTORY: with DIRECTORY/cases.json = {"files": [PREFIX],
"trees": [[PATH ENTRY]]}. PREFIX is what stands before "entry_points.txt"; a
path entry that ends with ".zip" is made here from the folder without that.
"""

import importlib.metadata
import json
import os
import pathlib
import sys
import unicodedata
import zipfile

STARTS = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"}
PARTS = STARTS | {"Mn", "Mc", "Nd", "Pc"}


def is_identifier(text):
    return (
        text != ""
        and (text[0] == "_" or unicodedata.category(text[0]) in STARTS)
        and all(unicodedata.category(c) in PARTS for c in text)
    )


def describe(entry):
    answer = {"group": entry.group, "name": entry.name, "value": entry.value}
    try:
        module, attr, extras = entry.module, entry.attr, entry.extras
    except (AttributeError, AssertionError, ValueError):
        return answer
    parts = module.split(".") + (attr.split(".") if attr is not None else [])
    answer["module"] = module
    answer["attr"] = attr or ""
    # In Python 3.10 these are match objects, not strings.
    answer["extras"] = [e if isinstance(e, str) else e.group() for e in extras]
    answer["identifiers"] = all(map(is_identifier, parts))
    return answer


class Prefix:
    """As good as a folder to PathDistribution, and quicker to make."""

    def __init__(self, prefix):
        self.prefix = prefix

    def joinpath(self, name):
        return pathlib.Path(self.prefix + name)


def read_file(prefix):
    distribution = importlib.metadata.PathDistribution(Prefix(prefix))
    try:
        return [describe(entry) for entry in distribution.entry_points]
    except Exception as error:
        return type(error).__name__


def make_zip(path):
    folder = pathlib.Path(path[: -len(".zip")])
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.rglob("*"):
            archive.write(file, file.relative_to(folder))


def read_tree(path):
    for entry in path:
        if entry.endswith(".zip") and not os.path.exists(entry):
            make_zip(entry)
    seen = set()
    answer = []
    try:
        for distribution in importlib.metadata.distributions(path=path):
            # Does what entry_points() does, for a path other than sys.path.
            name = distribution._normalized_name
            if name in seen:
                continue
            seen.add(name)
            answer.append(
                {
                    "folder": str(distribution._path),
                    "version": distribution.metadata.get("Version"),
                    "entries": [describe(e) for e in distribution.entry_points],
                }
            )
    except Exception as error:
        return type(error).__name__
    return answer


def flags(c):
    character = chr(c)
    if unicodedata.category(character) in ("Cn", "Cs"):
        return "-"
    return str(
        character.isspace()
        + 2 * character.isidentifier()
        + 4 * ("a" + character).isidentifier()
    )


def main():
    os.chdir(sys.argv[1])
    with open("cases.json", encoding="utf-8") as file:
        cases = json.load(file)
    answer = {
        "version": list(sys.version_info[:2]),
        "files": [read_file(prefix) for prefix in cases["files"]],
        "trees": [read_tree(path) for path in cases["trees"]],
    }
    if "characters" in cases:
        answer["characters"] = "".join(map(flags, range(sys.maxunicode + 1)))
    json.dump(answer, sys.stdout)


main()
