# SPDX-License-Identifier: Apache-2.0
"""The records of a batch: one line of JSON for each input, byte for byte as the command
writes them (tools/cli/batch/batch_record.h).

A record does not tell when, where and by which process it was written.
"""

import dataclasses
import hashlib
import json
import os
import stat
from typing import Any, Dict, List, Optional

from bulkhead import _core
from bulkhead._batch_directory import BatchDirectory
from bulkhead._batch_plan import RECORDS, Item
from bulkhead._errors import BadInputError, Error

Record = Dict[str, Any]

_REQUIRED = ("input", "bytes", "modified_ns", "sha256", "options", "output", "error", "damage")
_PIECE_BYTES = 1 << 20
_RECORD_SUFFIX = ".json"
_MOST_NAME_BYTES = 255  # NAME_MAX

# Pairs the advice of the library with the same advice in words of the command, which
# are those of the manifest.
_ADVICE = (
    (
        "read on after it, or set on_corrupt to skip, nearest or show (--on-corrupt skip)",
        "--on-corrupt skip, nearest or show goes on",
    ),
    (
        "ask for ranges beside them, or set on_corrupt to skip (--on-corrupt skip) for "
        "silence there",
        "--on-corrupt skip makes silence there, --times asks for what is beside them",
    ),
)


@dataclasses.dataclass(frozen=True)
class Stamp:
    """The size and time of a file, by which a run sees without reading the file whether
    its contents may be others than before. Both are None where no regular file is."""

    bytes: Optional[int]
    modified_ns: Optional[int]


@dataclasses.dataclass
class Outcome:
    """What became of one input in the hands of a decoder."""

    error: Optional[Error] = None
    output_bytes: Optional[int] = None
    frames: Optional[int] = None
    frame_count: Optional[int] = None
    frame_count_from_header: Optional[int] = None
    damage: List[Any] = dataclasses.field(default_factory=list)
    restarts: int = 0


def stamp_of(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return Stamp(None, None)
    if not stat.S_ISREG(found.st_mode):
        return Stamp(None, None)
    return Stamp(found.st_size, found.st_mtime_ns)


def sha256_of(path: str) -> Optional[str]:
    """Returns the hash of a regular file in hexadecimal, or None if it cannot be read."""
    digest = hashlib.sha256()
    try:
        # Without O_NONBLOCK a FIFO that took the place of the file would block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            while piece := file.read(_PIECE_BYTES):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()


def text_of(path: str) -> str:
    """Returns a path as records have it: a byte that is not UTF-8, and a backslash, is
    \\xHH. So each path has a text of its own, and whoever puts the byte HH back for each
    \\xHH has the path."""
    return os.fsencode(path).replace(b"\\", b"\\x5c").decode("utf-8", "backslashreplace")


def shown(path: str) -> str:
    """Returns a path as messages of the library have it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def makers_of(backends: List[_core.BackendInfo], device: str) -> Optional[Record]:
    """Returns the versions of Bulkhead and of the backend that has the device, and the
    tier of the sandbox in which the backend runs; None if there is no such device."""
    for backend in backends:
        name = device.removeprefix(backend.name + "/")
        for info in backend.devices:
            # The name of a backend is its first device.
            if info.name == name or info.name.startswith(name + ":"):
                return {
                    "versions": {
                        "bulkhead": _core.version,
                        "backend": f"{backend.distribution} {backend.version}",
                        "device": info.description,
                    },
                    "sandbox_tier": backend.tier,
                }
    return None


def name_error(item: Item, suffix: str) -> Optional[BadInputError]:
    """Returns an error if the name of the item's output, which ends in `suffix`, or of
    its record has more bytes than a name can have."""
    size = _name_bytes(item)
    if size <= _MOST_NAME_BYTES:
        return None
    added = f".{suffix}{_RECORD_SUFFIX}"
    return BadInputError(
        f"{text_of(item.input)}: its name is too long: with {added}, which its record adds, "
        f"it has {size} bytes, and a name can have {_MOST_NAME_BYTES}; rename the file, to "
        f"{_MOST_NAME_BYTES - len(os.fsencode(added))} bytes at most"
    )


def make_record(
    item: Item,
    path: str,
    stamp: Stamp,
    sha256: Optional[str],
    options: Record,
    makers: Record,
    outcome: Outcome,
) -> Record:
    """Returns the record of an input that was decoded, or failed for a reason of its
    own. `path` is what the input is called in the outcome."""
    error = None
    if outcome.error is not None:
        message = _in_words_of_the_command(str(outcome.error))
        error = {
            "code": outcome.error.code,
            "message": message.replace(shown(path), text_of(item.input)),
        }
    return {
        "input": text_of(item.input),
        "bytes": stamp.bytes,
        "modified_ns": stamp.modified_ns,
        "sha256": sha256,
        "options": options,
        **makers,
        "output": text_of(item.output) if error is None else None,
        "output_bytes": outcome.output_bytes,
        "error": error,
        "frames": outcome.frames,
        "frame_count": outcome.frame_count,
        "frame_count_from_header": outcome.frame_count_from_header,
        "damage": [_facts_of(damage) for damage in outcome.damage],
        "restarts": outcome.restarts,
        "failover": None,
    }


class Records:
    """The records of one output directory."""

    def __init__(self, directory: BatchDirectory, options: Record) -> None:
        self._directory = directory
        self._options = options

    def find(self, item: Item, stamp: Stamp) -> Optional[Record]:
        """Returns the record that holds if the input has the same size and time of
        modification, the options are the same, and the output is there, of the size that
        the record has; those of older releases have none. An input that could not be
        read has no record: it is tried again."""
        record = self._read(_record_of(item))
        if record is None or stamp.bytes is None or record["sha256"] is None:
            return None
        wanted = {
            "input": text_of(item.input),
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "options": self._options,
        }
        if any(record[key] != value for key, value in wanted.items()):
            return None
        if record["output"] is not None:
            size = self._directory.size_of(item.output)
            if size is None or record.get("output_bytes") not in (None, size):
                return None
        return record

    def remove(self, item: Item) -> None:
        self._directory.remove(_record_of(item))

    def write(self, item: Item, record: Record) -> None:
        self._directory.write("record", _record_of(item), _line(record))

    def find_poison(self, item: Item, stamp: Stamp, sha256: str) -> Optional[Record]:
        """Returns a record for an input whose contents another input had that killed
        workers with the same options; None if there was none."""
        record = self._read(_poison_of(sha256))
        if record is None or not self._is_poison(record):
            return None
        error = record["error"]
        message = error["message"].replace(record["input"], text_of(item.input))
        return {
            **record,
            "input": text_of(item.input),
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "error": {**error, "message": message},
            "restarts": 0,  # It was not decoded.
        }

    def write_poison(self, record: Record) -> None:
        """Tells all processes of the batch of such an input."""
        name = _poison_of(record["sha256"])
        # What was poison with other options says nothing of these.
        known = self._read(name)
        if known is not None and known["options"] != self._options:
            self._directory.remove(name)
        self._directory.write_new("poison", name, _line(record))

    def poison(self) -> List[str]:
        """Returns the hashes of the contents that have killed workers so far."""
        found = (self._read(name) for name in self._directory.poison())
        return [record["sha256"] for record in found if record and self._is_poison(record)]

    def _is_poison(self, record: Record) -> bool:
        error = record["error"]
        return (
            record["options"] == self._options
            and error is not None
            and error["code"] == "kPoisonedInput"
        )

    def _read(self, relative: str) -> Optional[Record]:
        try:
            record = json.loads(self._directory.read(relative) or "")
        except ValueError:
            return None
        return record if _is_sound(record) else None


def _is_sound(record: Any) -> bool:
    """Returns True if a record has what is read of records, of the kinds that it is read
    as. Whoever shares the directory may have written it."""
    if not isinstance(record, dict) or any(key not in record for key in _REQUIRED):
        return False
    error, damage = record["error"], record["damage"]
    return (
        isinstance(record["input"], str)
        and isinstance(record["sha256"], (str, type(None)))
        and (
            error is None
            or isinstance(error, dict)
            and isinstance(error.get("code"), str)
            and isinstance(error.get("message"), str)
        )
        and isinstance(damage, list)
        and all(isinstance(found, dict) for found in damage)
    )


def _name_bytes(item: Item) -> int:
    return len(os.fsencode(os.path.basename(item.output) + _RECORD_SUFFIX))


def _record_of(item: Item) -> str:
    name = item.output
    if _name_bytes(item) > _MOST_NAME_BYTES:
        # No output has a name below .batch.
        name = f"{RECORDS}/{hashlib.sha256(os.fsencode(item.output)).hexdigest()}"
    return f"{RECORDS}/manifest/{name}{_RECORD_SUFFIX}"


def _poison_of(sha256: str) -> str:
    return f"{RECORDS}/poison/{sha256}.json"


def _line(record: Record) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def _in_words_of_the_command(message: str) -> str:
    for library, command in _ADVICE:
        message = message.replace(library, command)
    return message


# The members of damage of frames and of samples, in the order in which records have them.
_FRAMES = (
    "kind",
    "sign",
    "frames",
    "first_frame",
    "last_frame",
    "begin_seconds",
    "end_seconds",
    "first_byte",
    "last_byte",
    "backend_says",
    "not_in_index",
)
_SAMPLES = (
    "kind",
    "sign",
    "samples",
    "first_sample",
    "begin_seconds",
    "end_seconds",
    "first_byte",
    "last_byte",
    "backend_says",
    "estimated",
)


def _facts_of(damage: Any) -> Record:
    names = _SAMPLES if isinstance(damage, _core.DamagedSamples) else _FRAMES
    facts = {name: getattr(damage, name) for name in names}
    facts["backend_says"] = facts["backend_says"] or None
    return facts
