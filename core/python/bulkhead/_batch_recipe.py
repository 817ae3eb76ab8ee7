# SPDX-License-Identifier: Apache-2.0
"""The plan of a batch (its inputs and outputs) and its recipe (the work on each input)."""

import collections.abc
import dataclasses
import json
import os
import typing
from typing import Any, Callable, Dict, List, Optional, Union

from bulkhead import _core
from bulkhead._arguments import BOOLEAN, COUNT, DEVICE, TEXT, Kind, checked
from bulkhead._errors import InvalidArgumentError
from bulkhead._host import member

# The formats, each with the suffix of its outputs' names.
SUFFIXES = {
    "framemd5": "framemd5",
    "png": "png",
    "npy": "npy",
    "wav": "wav",
    "sheet": "sheet.png",
    "probe": "probe.json",
}
FRAME_FORMATS = ("framemd5", "png", "npy")
# The options that only some formats have, with these formats.
_ONLY_OF = {
    "frames": FRAME_FORMATS,
    "at": FRAME_FORMATS,
    "sample_rate": ("wav",),
    "channels": ("wav",),
}


def _kind(what: str, fits: Callable[[str], bool]) -> Kind:
    """Returns the Kind of the texts that `fits` accepts, which are not converted."""

    def convert(text: str) -> str:
        if not fits(text):
            raise ValueError
        return text

    return what, convert


_FRAMES = _kind("a slice A:B:S, as of bulkhead batch --frames", _core.is_slice)
_AT = _kind("indices I,J,..., as of bulkhead batch --at", _core.is_list_of_indices)


class Item(typing.NamedTuple):
    """One input of a batch."""

    input: str  # The path, as the user gave it.
    output: str  # The path below the output directory.


def plan(
    inputs: collections.abc.Iterable[Any], relative_to: Optional[Any], suffix: str
) -> List[Item]:
    """Sorts the inputs by their bytes, drops duplicates, and names the outputs."""
    if isinstance(inputs, (str, bytes, os.PathLike)):
        raise TypeError(f"files is {inputs!r}; it can be a list of paths")
    root = "" if relative_to is None else os.fsdecode(relative_to) or os.curdir
    given = [os.fsdecode(path) for path in inputs]
    return [Item(*pair) for pair in _core.plan_outputs(given, root, suffix)]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The work on each input. Options that `bulkhead batch` has too have the same names
    and defaults here.

    Attributes:
        what: A key of SUFFIXES, or a function that takes a VideoDecoder.
        directory: The output directory, absolute.
        base: The directory for relative paths of inputs, absolute.
    """

    what: Union[str, Callable[[Any], Any]]
    directory: str
    base: str
    device: str = "cpu"
    on_corrupt: str = "error"
    frames: Optional[str] = None
    at: Optional[str] = None
    stream: Optional[int] = None
    sample_rate: Optional[int] = None
    channels: Optional[int] = None
    best_stream: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if not callable(self.what) and self.what not in SUFFIXES:
            raise InvalidArgumentError(
                f"what is {self.what!r}; it can be {', '.join(map(repr, SUFFIXES))}, or a "
                "function of a decoder"
            )
        if callable(self.what) and not getattr(self.what, "__name__", "").isidentifier():
            raise InvalidArgumentError(
                f"what is {self.what!r}, which has no name of its own; the name of the "
                "function is that of its outputs: define it with def"
            )
        checked("devices", self.device, DEVICE)
        member(_core.OnCorrupt, "on_corrupt", self.on_corrupt)
        for name, kind in {"stream": COUNT, "sample_rate": COUNT, "channels": COUNT}.items():
            checked(name, getattr(self, name), kind, none=True)
        checked("threads", self.threads, COUNT)
        checked("best_stream", self.best_stream, BOOLEAN)
        for name, kind in {"frames": _FRAMES, "at": _AT}.items():
            if checked(name, getattr(self, name), TEXT, none=True) is not None:
                checked(name, getattr(self, name), kind)
        self._require_fitting()

    def _require_fitting(self) -> None:
        if self.frames is not None and self.at is not None:
            raise InvalidArgumentError("frames and at exclude each other; leave out one")
        for name, formats in _ONLY_OF.items():
            if getattr(self, name) is not None and self.what not in formats:
                raise InvalidArgumentError(
                    f"{name} is of {', '.join(formats)}, not of {self.format}; leave it out"
                )

    @property
    def format(self) -> str:
        return self.what if isinstance(self.what, str) else self.what.__name__

    @property
    def suffix(self) -> str:
        return SUFFIXES.get(self.what, "") if isinstance(self.what, str) else self.format

    def path_of(self, item: Item) -> str:
        """Returns the absolute path of an input, for processes with another working
        directory."""
        return os.path.join(self.base, item.input)

    def batch(self) -> _core.Batch:
        """Opens the output directory. Deleting the object removes unfinished outputs."""
        return _core.Batch(self.directory, json.dumps(self.options()))

    def options(self) -> Dict[str, Any]:
        """Returns the options for records: those that change an output, if the user gave
        them, with the user's values and in the order of the command's records."""
        found: Dict[str, Any] = {
            "format": self.format,
            "device": self.device,
            "on_corrupt": self.on_corrupt,
        }
        for name in ("frames", "at", "stream", "sample_rate", "channels"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        if self.best_stream:
            found["best_stream"] = True
        if self.what == "wav":
            found["audio"] = True
        if self.threads != 1:
            found["threads"] = self.threads
        return found

    def video_options(self, device: str) -> _core.VideoOptions:
        options = _core.VideoOptions()
        options.threads = self.threads
        self._set_common(options, device)
        return options

    def audio_options(self, device: str) -> _core.AudioOptions:
        options = _core.AudioOptions()
        options.sample_rate = self.sample_rate
        options.num_channels = self.channels
        self._set_common(options, device)
        return options

    def _set_common(self, options: Any, device: str) -> None:
        choice = _core.StreamChoice
        options.device = device
        options.stream_index = self.stream
        options.stream_choice = choice.best if self.best_stream else choice.first
        options.on_corrupt = member(_core.OnCorrupt, "on_corrupt", self.on_corrupt)
