# SPDX-License-Identifier: Apache-2.0
"""Makes PNGs of frames for notebooks: one as a picture, several as a contact sheet.

The size of a PNG is bounded for frames of any size and number. Needs neither torch nor
numpy nor PIL.
"""

import ctypes
import math
import struct

from bulkhead import _arrays, _core

_LONGEST_SIDE = 800  # Of a single picture, in pixels.
_LONGEST_SIDE_OF_TILE = 160
_MOST_TILES = 64
_GAP = 2  # Pixels between tiles.


def picture(data):
    """Returns a picture [3, H, W] or [H, W, 3] of bytes or floats as a PNG; None if the
    data is something else or empty."""
    rows = _rows(data, tuple(data.shape), _LONGEST_SIDE)
    return _png(rows) if rows else None


def contact_sheet(data):
    """Returns pictures [..., 3, H, W] or [..., H, W, 3] as one PNG. Returns None where
    picture() does.

    If there are too many, the sheet shows some of them, evenly spread.
    """
    shape = tuple(data.shape)
    if 0 in shape:
        return None
    return sheet(math.prod(shape[:-3]), _flattened(data, shape), shape[-3:])


def tiles(count):
    """Returns the indices of the pictures that a contact sheet of `count` shows."""
    shown = min(count, _MOST_TILES)
    return [tile * count // shown for tile in range(shown)]


def sheet(count, pictures, shape):
    """Returns a contact sheet of `count` pictures as a PNG. Returns None where picture()
    does. Calls pictures(index) for each of tiles(count), so that only one picture is in
    memory at a time."""
    small = [_rows(pictures(place), shape, _LONGEST_SIDE_OF_TILE) for place in tiles(count)]
    if not small or not small[0]:
        return None
    columns = math.ceil(math.sqrt(len(small)))
    blank = [b"\xff" * len(row) for row in small[0]]
    gap = b"\xff" * (3 * _GAP)
    rows = []
    for first in range(0, len(small), columns):
        line = small[first : first + columns]
        line += [blank] * (columns - len(line))
        rows += [gap.join(parts) for parts in zip(*line)]
        rows += [b"\xff" * len(rows[0])] * _GAP
    return _png(rows[:-_GAP])


def _flattened(data, shape):
    """Returns a function that returns the picture at an index."""
    if hasattr(data, "reshape"):
        return data.reshape(-1, *shape[-3:]).__getitem__
    # Memory for memoryview() is packed.
    numbers = _numbers(data)
    size = math.prod(shape[-3:])
    return lambda place: numbers[place * size : (place + 1) * size]


def _rows(data, shape, longest):
    """Returns the rows of a picture as bytes: red, green, blue of one pixel after another.

    Leaves out rows and columns of a picture with a side longer than `longest`.
    """
    first = shape[0] == 3
    if not first and shape[2] != 3:
        return None
    height, width = shape[1:] if first else shape[:2]
    numbers = _numbers(data)
    if numbers is None:
        return None
    step = max(1, math.ceil(max(height, width) / longest))
    apart = 1 if first else 3  # The distance between two pixels, in numbers.
    rows = []
    for y in range(0, height, step):
        row = bytearray(3 * math.ceil(width / step))
        for channel in range(3):
            at = (channel * height + y) * width if first else 3 * y * width + channel
            row[channel::3] = _bytes(numbers[at : at + apart * width : apart * step])
        rows.append(row)
    return rows


def _numbers(data):
    """Returns a flat memoryview of bytes or floats; None for other types of numbers."""
    if isinstance(data, memoryview):
        return data
    form = {"uint8": "B", "float32": "f"}.get(_arrays.dtype_name(data.dtype))
    if form is None or 0 in data.shape:
        return None
    if hasattr(data, "data_ptr"):
        if data.is_meta or str(data.layout) != "torch.strided":
            return None
        packed = data.detach().cpu().contiguous()
        size = packed.numel() * struct.calcsize(form)
        return memoryview(ctypes.string_at(packed.data_ptr(), size)).cast(form)
    view = memoryview(data)
    if not view.c_contiguous:
        view = memoryview(view.tobytes())
    return view.cast("B").cast(form)


def _bytes(numbers):
    """Returns floats from 0 to 1 as bytes from 0 to 255, and bytes unchanged."""
    if numbers.format == "B":
        return numbers.tobytes()
    # max(0.0, NaN) is 0.0.
    return bytes(int(255 * min(1.0, max(0.0, number)) + 0.5) for number in numbers.tolist())


def _png(rows):
    """Returns a PNG. Each row has the bytes red, green, blue of its pixels."""
    return _core.encode_png(len(rows[0]) // 3, b"".join(rows))
