# SPDX-License-Identifier: Apache-2.0
"""The results of decoders: Frame, NativeFrame, FrameBatch and AudioSamples."""

import collections.abc
import dataclasses
from typing import Any, Optional

from bulkhead import _core, _pictures
from bulkhead._arguments import NUMBER, checked


class _Fields:
    """Iterates over the values of a dataclass, so that it can be unpacked."""

    def __iter__(self) -> collections.abc.Iterator[Any]:
        for field in dataclasses.fields(self):
            yield getattr(self, field.name)


def _shape(times):
    """Returns the shape of an array, a list of floats, or a float."""
    if isinstance(times, list):
        return (len(times),)
    return tuple(getattr(times, "shape", ()))


def _shape_of_data(data):
    if not hasattr(data, "shape"):
        raise TypeError(f"data is {type(data).__name__}; it can be a tensor or an array")
    return tuple(data.shape)


def _one_line(result):
    """Returns a repr() with the shape of the data instead of its numbers."""
    parts = [f"data={type(result.data).__name__} of {tuple(result.data.shape)}"]
    for field in dataclasses.fields(result)[1:]:
        parts.append(f"{field.name}={getattr(result, field.name)!r}")
    return f"{type(result).__name__}({', '.join(parts)})"


def _planes_in_one_line(frame):
    """Returns a repr() with the format and the shapes of the planes."""
    shapes = ", ".join(str(tuple(plane.shape)) for plane in frame.data)
    return (
        f"NativeFrame({frame.pixel_format} of {frame.width}x{frame.height}, planes "
        f"[{shapes}], pts_seconds={frame.pts_seconds!r})"
    )


@dataclasses.dataclass(repr=False, eq=False)
class Frame(_Fields):
    """One picture and its time.

    `data` is [3, H, W] or [H, W, 3], depending on the decoder's dimension_order.
    """

    data: Any
    pts_seconds: float
    duration_seconds: float

    def __post_init__(self) -> None:
        if len(_shape_of_data(self.data)) != 3:
            raise ValueError(f"data must have 3 dimensions, not {self.data.shape}")
        self.pts_seconds = checked("pts_seconds", self.pts_seconds, NUMBER)
        self.duration_seconds = checked("duration_seconds", self.duration_seconds, NUMBER)

    __repr__ = _one_line

    def _repr_png_(self) -> Optional[bytes]:
        """Returns the picture, for notebooks."""
        return _pictures.picture(self.data)


@dataclasses.dataclass(repr=False, eq=False)
class NativeFrame(Frame):
    """The planes of one picture as the decoder made them, and their time.

    `planes` and `data` are both a list with an array for each plane: [H, W] of
    uint8, uint16, uint32 or float32, or [H, W, N] for a plane with N interleaved
    samples (N = 2 for the chroma of nv12). Numbers have the byte order of the
    machine, even for a format whose name ends in "be". The colours are code points
    of ITU-T H.273. color_range is 1 for limited and 2 for full, chroma_location is
    a number of FFmpeg's; both are 0 if unspecified. field_order is "progressive",
    "top_first" or "bottom_first".
    """

    pixel_format: str
    width: int
    height: int
    color_primaries: int
    color_transfer: int
    color_space: int
    color_range: int
    chroma_location: int
    field_order: str

    def __post_init__(self) -> None:
        pass

    @property
    def planes(self) -> list[Any]:
        return list(self.data)

    def __iter__(self) -> collections.abc.Iterator[Any]:
        return iter((self.data, self.pts_seconds, self.duration_seconds))

    __repr__ = _planes_in_one_line

    def _repr_png_(self) -> Optional[bytes]:
        return None


@dataclasses.dataclass(repr=False, eq=False)
class FrameBatch:
    """Several pictures of one size and their times.

    `data` is [N, 3, H, W] or [N, H, W, 3]; clips have one more dimension in front.
    `pts_seconds` and `duration_seconds` are float64 and have the dimensions of
    `data` before the last three.
    """

    data: Any
    pts_seconds: Any
    duration_seconds: Any

    def __post_init__(self) -> None:
        shape = _shape_of_data(self.data)
        if len(shape) < 3:
            raise ValueError(f"data must have 3 dimensions or more, not {shape}")
        for name in ("pts_seconds", "duration_seconds"):
            found = _shape(getattr(self, name))
            if found != shape[:-3]:
                raise ValueError(
                    f"{name} is of {found}, and the first dimensions of data are {shape[:-3]}"
                )

    def __iter__(self) -> collections.abc.Iterator["FrameBatch"]:
        """Yields a FrameBatch for each index of the first dimension."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> "FrameBatch":
        """Returns one picture or several, with their times."""
        if isinstance(self.data, _core.Array) and not isinstance(key, int):
            raise RuntimeError(f"without torch and numpy, a batch has no [{key!r}], only [int]")
        return FrameBatch(
            self.data[key], self.pts_seconds[key], self.duration_seconds[key]
        )

    def __len__(self) -> int:
        return int(self.data.shape[0])

    __repr__ = _one_line

    def _repr_png_(self) -> Optional[bytes]:
        """Returns the pictures as a contact sheet, for notebooks."""
        return _pictures.contact_sheet(self.data)


@dataclasses.dataclass(repr=False, eq=False)
class AudioSamples(_Fields):
    """Consecutive samples: float32 in [-1, 1], [channels, samples]."""

    data: Any
    pts_seconds: float
    duration_seconds: float
    sample_rate: int

    def __post_init__(self) -> None:
        if len(_shape_of_data(self.data)) != 2:
            raise ValueError(f"data must have 2 dimensions, not {self.data.shape}")
        self.pts_seconds = checked("pts_seconds", self.pts_seconds, NUMBER)
        self.duration_seconds = checked("duration_seconds", self.duration_seconds, NUMBER)
        self.sample_rate = int(checked("sample_rate", self.sample_rate, NUMBER))

    __repr__ = _one_line
