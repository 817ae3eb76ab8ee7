# SPDX-License-Identifier: Apache-2.0
"""Transforms that the worker applies to each frame, with the names of
torchcodec.transforms. Sizes are (height, width), in pixels."""

import abc
import collections.abc
import dataclasses
import operator
import random
from typing import Any, Optional, Tuple

from bulkhead import _arrays, _core
from bulkhead._errors import InvalidArgumentError

__all__ = ["CenterCrop", "DecoderTransform", "RandomCrop", "Resize"]


class DecoderTransform(abc.ABC):
    """A transform for the argument `transforms` of a VideoDecoder.

    Its parameters, such as the place of a random crop, are settled once, when the
    decoder is made. They stay the same for all frames, for a worker that replaces
    another, in a forked child, and after pickling.
    """

    needs_size = True  # False if settle() does not use the size of the pictures.

    @abc.abstractmethod
    def settle(self, height: Optional[int], width: Optional[int]) -> Tuple[Any, ...]:
        """Returns ("resize", height, width) or ("crop", top, left, height, width) for
        pictures of this size. The size is None if no transform of the decoder needs it."""


@dataclasses.dataclass
class Resize(DecoderTransform):
    """Scales the picture to (height, width), bilinearly and antialiased."""

    size: collections.abc.Sequence[int]

    needs_size = False

    def __post_init__(self) -> None:
        self.size = _pair(self)

    def settle(self, height: Optional[int], width: Optional[int]) -> Tuple[Any, ...]:
        return ("resize", *self.size)


@dataclasses.dataclass
class CenterCrop(DecoderTransform):
    """Cuts out the middle. Half a pixel is rounded to an even number, as torchvision
    does."""

    size: collections.abc.Sequence[int]

    def __post_init__(self) -> None:
        self.size = _pair(self)

    def settle(self, height: Optional[int], width: Optional[int]) -> Tuple[Any, ...]:
        down, right = _room(self, height, width)
        return ("crop", round(down / 2), round(right / 2), *self.size)


@dataclasses.dataclass
class RandomCrop(DecoderTransform):
    """Cuts out a rectangle at a random place. The place is drawn when a decoder is made,
    from torch's generator (torch.manual_seed), or from `random` without torch."""

    size: collections.abc.Sequence[int]

    def __post_init__(self) -> None:
        self.size = _pair(self)

    def settle(self, height: Optional[int], width: Optional[int]) -> Tuple[Any, ...]:
        down, right = _room(self, height, width)
        return ("crop", _draw(down), _draw(right), *self.size)


def settled(transforms, height, width):
    """Returns the results of settle() of all transforms, each for the size of pictures
    that the one before leaves."""
    steps = []
    for transform in transforms:
        steps.append(transform.settle(height, width))
        height, width = steps[-1][-2:]
    return steps


def to_core(step):
    """Returns a settled transform as a struct of the library."""
    what, *numbers = step
    return (_core.Resize if what == "resize" else _core.Crop)(*numbers)


def _pair(transform):
    size = transform.size
    if not isinstance(size, collections.abc.Sequence) or len(size) != 2:
        raise InvalidArgumentError(
            f"the size of {type(transform).__name__} is {size!r}; it is (height, width)"
        )
    try:
        height, width = map(operator.index, size)
    except TypeError:
        height = width = 0
    if not (0 < height < 2**31 and 0 < width < 2**31):
        raise InvalidArgumentError(
            f"the size of {type(transform).__name__} is {size!r}; both are from 1 to {2**31 - 1}"
        )
    return height, width


def _room(crop, height, width):
    down, right = height - crop.size[0], width - crop.size[1]
    if down < 0 or right < 0:
        raise InvalidArgumentError(
            f"{type(crop).__name__} cuts {crop.size[0]}x{crop.size[1]} (height x width) "
            f"out of pictures of {height}x{width}"
        )
    return down, right


def _draw(most):
    torch = _arrays.torch()
    if torch is None:
        return random.randint(0, most)
    return int(torch.randint(0, most + 1, ()))
