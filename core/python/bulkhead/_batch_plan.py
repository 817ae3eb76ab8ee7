# SPDX-License-Identifier: Apache-2.0
"""Which inputs a batch has, and where the output of each goes.

The same as in the command (tools/cli/batch/batch_plan.h): a plan depends on the list of
inputs alone, so that whoever goes on with a directory finds the same names in it.
"""

import collections.abc
import dataclasses
import os
from typing import Any, Dict, List, Optional

from bulkhead._errors import InvalidArgumentError

RECORDS = ".batch"  # Below the output directory; no output has a name below it.


@dataclasses.dataclass(frozen=True)
class Item:
    """One input of a batch."""

    input: str  # The path, as the user gave it.
    output: str  # The path below the output directory.


def plan(
    inputs: collections.abc.Iterable[Any], relative_to: Optional[Any], suffix: str
) -> List[Item]:
    """Sorts the inputs by their bytes, takes each once, and names the outputs.

    "clip.mp4" and the suffix "png" give "clip.mp4.png". With `relative_to`, the
    directories between it and the input are kept.
    """
    if isinstance(inputs, (str, bytes, os.PathLike)):
        raise TypeError(f"files is {inputs!r}; it can be a list of paths")
    items = []
    for given in sorted({os.fsdecode(path) for path in inputs}, key=os.fsencode):
        name = os.path.basename(given)
        if name == "" or given == "-":
            raise InvalidArgumentError(f'"{given}" is not the name of a file')
        below = name if relative_to is None else _below(os.fsdecode(relative_to), given)
        items.append(Item(given, f"{below}.{suffix}"))
    _require_distinct(items)
    return items


def _below(root: str, path: str) -> str:
    """Returns the path of an input below the directory `root`."""
    if os.path.isabs(root) != os.path.isabs(path):
        root, path = os.path.abspath(root), os.path.abspath(path)
    below = os.path.relpath(os.path.normpath(path), os.path.normpath(root))
    if below == os.curdir or below.split(os.sep)[0] == os.pardir:
        raise InvalidArgumentError(
            f"{path} is not below {root}; name with relative_to a directory that all "
            "files are in"
        )
    return below


def _require_distinct(items: List[Item]) -> None:
    """Raises unless no output is another, inside of another, or among the records."""
    item_of: Dict[str, Item] = {}
    for item in items:
        other = item_of.setdefault(item.output, item)
        if other is not item:
            raise _collision(other, item)
    for item in items:
        outer = os.path.dirname(item.output)
        while outer:
            if outer in item_of:
                raise _collision(item_of[outer], item)
            outer = os.path.dirname(outer)
        if item.output.startswith(RECORDS + "/"):
            raise InvalidArgumentError(
                f"{item.input} would go to {item.output}, where the records of the "
                "batch are; choose another relative_to"
            )


def _collision(one: Item, other: Item) -> InvalidArgumentError:
    if os.path.abspath(one.input) == os.path.abspath(other.input):
        return InvalidArgumentError(
            f"{one.input} and {other.input} are two names of one file; leave out one"
        )
    return InvalidArgumentError(
        f"{one.input} and {other.input} would both go to {one.output}; set them apart "
        "by relative_to, which keeps the directories below it"
    )
