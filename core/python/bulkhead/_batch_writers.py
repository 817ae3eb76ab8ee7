# SPDX-License-Identifier: Apache-2.0
"""Writers of the formats of a batch, which take frames or samples as they are decoded.
They need neither torch nor numpy."""

import array
import hashlib
import os
import struct
from typing import Any, List, Optional, Tuple

from bulkhead import _core, _pictures

_NO_TIMESTAMP = -(2**63)  # AV_NOPTS_VALUE, which FFmpeg prints as a plain number.
_UNKNOWN_LENGTH = 0xFFFFFFFF


def _pieces(rows: _core.FrameRows, whole: bool) -> List[memoryview]:
    """Returns the rows of a picture; with `whole`, one piece if there is no padding between
    rows. The worker can still write to the memory, so each byte may be read only once."""
    view = memoryview(rows)  # type: ignore[arg-type]
    if whole and rows.stride == rows.row_bytes:
        return [view]
    return [view[at : at + rows.row_bytes] for at in range(0, len(view), rows.stride)]


class FrameMd5:
    """Writes hashes as FFmpeg's muxer framemd5 does, byte for byte as the command does."""

    def __init__(self, metadata: _core.VideoMetadata, path: str) -> None:
        self._file = open(path, "w", encoding="ascii")
        base, aspect = metadata.time_base, metadata.sample_aspect_ratio
        known = aspect.denominator != 0
        self._file.write(
            "#format: frame checksums\n#version: 2\n#hash: MD5\n#software: bulkhead\n"
            f"#tb 0: {base.numerator}/{base.denominator}\n"
            "#media_type 0: video\n#codec_id 0: rawvideo\n"
            f"#dimensions 0: {metadata.width}x{metadata.height}\n"
            f"#sar 0: {aspect.numerator if known else 0}/{aspect.denominator if known else 1}\n"
            "#stream#, dts,        pts, duration,     size, hash\n"
        )

    def write(self, picture: _core.Picture, number: int) -> None:
        digest, size = hashlib.md5(), 0
        for piece in _pieces(picture.rows(), whole=True):
            digest.update(piece)
            size += len(piece)
        pts = _NO_TIMESTAMP if picture.pts is None else picture.pts
        times = f"{pts:>10}, {pts:>10}, {picture.duration:>8}"
        self._file.write(f"0, {times}, {size:>8}, {digest.hexdigest()}\n")

    def close(self) -> None:
        self._file.close()


class Pngs:
    """Writes a directory of PNGs that are numbered by frame index."""

    def __init__(self, metadata: _core.VideoMetadata, path: str) -> None:
        self._path = path
        os.mkdir(path)

    def write(self, picture: _core.Picture, number: int) -> None:
        png = _pictures.png(_pieces(picture.rows(), whole=False))
        with open(os.path.join(self._path, f"{number:06}.png"), "wb") as file:
            file.write(png)

    def close(self) -> None:
        pass


class Npy:
    """Writes one array [N, H, W, 3] of uint8, for numpy.load(). Only one frame at a time is
    in memory."""

    # The bytes for the header, enough for the longest; numpy uses multiples of 64.
    _HEADER = 128

    def __init__(self, metadata: _core.VideoMetadata, path: str) -> None:
        self._file = open(path, "wb")
        self._file.write(bytes(self._HEADER))
        self._shape: Tuple[int, ...] = (metadata.upright_height, metadata.upright_width, 3)
        self._count = 0

    def write(self, picture: _core.Picture, number: int) -> None:
        self._shape = (picture.height, picture.width, 3)
        self._count += 1
        for piece in _pieces(picture.rows(), whole=True):
            self._file.write(piece)

    def close(self) -> None:
        shape = (self._count, *self._shape)
        text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
        before = b"\x93NUMPY\x01\x00" + struct.pack("<H", self._HEADER - 10)
        padded = text.encode().ljust(self._HEADER - len(before) - 1)
        self._file.seek(0)
        self._file.write(before + padded + b"\n")
        self._file.close()


class Wav:
    """Writes a WAV file of 32-bit floats, byte for byte as the command does."""

    _FLOAT = 3
    _HEADER = 44

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb")
        self._format: Optional[Tuple[int, int]] = None  # Channels and rate.
        self._bytes = 0

    def write(self, sound: _core.Sound) -> None:
        samples = sound.array()
        channels, count = samples.shape
        if self._format is None:
            self._format = (channels, sound.sample_rate)
            self._file.write(self._header(_UNKNOWN_LENGTH, _UNKNOWN_LENGTH))
        floats = memoryview(samples).cast("B").cast("f")  # type: ignore[arg-type]
        together = array.array("f", bytes(4 * channels * count))
        for channel in range(channels):
            one = floats[channel * count : (channel + 1) * count]
            together[channel::channels] = array.array("f", one.tobytes())
        self._bytes += 4 * len(together)
        self._file.write(together.tobytes())

    def close(self) -> None:
        riff = self._HEADER - 8 + self._bytes
        if self._format is not None and riff + 8 <= _UNKNOWN_LENGTH:
            self._file.seek(0)
            self._file.write(self._header(riff, self._bytes))
        self._file.close()

    def _header(self, riff: int, data: int) -> bytes:
        assert self._format is not None
        channels, rate = self._format
        align = 4 * channels
        form = (16, self._FLOAT, channels, rate, rate * align, align, 32)
        return (
            struct.pack("<4sI4s", b"RIFF", riff, b"WAVE")
            + struct.pack("<4sIHHIIHH", b"fmt ", *form)
            + struct.pack("<4sI", b"data", data)
        )


FRAME_WRITERS: Any = {"framemd5": FrameMd5, "png": Pngs, "npy": Npy}
