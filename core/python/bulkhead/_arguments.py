# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of callers. An error names the argument, its value, and the
values that it can have: a TypeError for a value of a wrong type, else an
InvalidArgumentError.

A Kind describes the values that an argument can have: a text for error messages, and a
function that converts a value for the library or raises TypeError or ValueError.
"""

import collections.abc
import math
import operator
import os
import reprlib
from typing import Any, Callable, Tuple

from bulkhead._errors import InvalidArgumentError

Kind = Tuple[str, Callable[[Any], Any]]

_YEAR = 365 * 24 * 3600

_shown = reprlib.Repr()  # A bounded repr().
_shown.maxstring = 300
_shown.maxother = 100


def checked(name, value, kind, none=False):
    """Returns the value as the kind converts it. None is allowed if `none` is True."""
    if none and value is None:
        return None
    what, convert = kind
    what += " or None" if none else ""
    try:
        return convert(value)
    except TypeError:
        of = "" if value is None else f" of {type(value).__name__}"
        raise TypeError(f"{name} is {_shown.repr(value)}{of}; it can be {what}") from None
    except (ValueError, OverflowError) as error:
        why = f": {error}" if str(error) else ""
        raise InvalidArgumentError(
            f"{name} is {_shown.repr(value)}{why}; it can be {what}"
        ) from None


def instance_of(cls):
    """Returns the Kind of the instances of a class, which are not converted."""

    def convert(value):
        if not isinstance(value, cls):
            raise TypeError
        return value

    return f"bulkhead.{cls.__name__}", convert


def _within(least, most):
    def convert(value):
        number = operator.index(value)
        if not least <= number <= most:
            raise ValueError
        return number

    return convert


def _number(value):
    if isinstance(value, (str, bytes, bytearray)):  # float() parses them.
        raise TypeError
    return float(value)


def _times(values):
    if hasattr(values, "tolist"):  # A tensor or an array.
        values = values.tolist()
    try:
        return [_number(value) for value in values]
    except TypeError:
        raise ValueError from None  # As in torchcodec.


def _seconds(value):
    seconds = _number(value)
    if not 0 <= seconds <= _YEAR:  # True for a NaN, too.
        raise ValueError
    return seconds


def _text(value):
    if not isinstance(value, str):
        raise TypeError
    return value


def _path(value):
    path = os.fsencode(value)
    if b"\0" in path:
        raise ValueError("embedded null byte")
    return path


def _device(value):
    if hasattr(value, "type") and hasattr(value, "index"):  # A torch.device.
        value = f"{value.type}" if value.index is None else f"{value.type}:{value.index}"
    return _text(value)


def _each(convert):
    def converted(values):
        if isinstance(values, (str, bytes)) or not isinstance(
            values, collections.abc.Collection
        ):
            raise TypeError
        return [convert(value) for value in values]

    return converted


INTEGER: Kind = ("a whole number", operator.index)
COUNT: Kind = (f"a whole number from 0 to {2**31 - 1}", _within(0, 2**31 - 1))
LIMIT: Kind = ("a whole number of at least 0", _within(0, math.inf))
NUMBER: Kind = ("a number", _number)
TIMES: Kind = ("a list or tensor of numbers", _times)
SECONDS: Kind = (f"a number of seconds from 0 to {_YEAR} (a year)", _seconds)
BOOLEAN: Kind = ("True or False", instance_of(bool)[1])
TEXT: Kind = ("a str", _text)
TEXTS: Kind = ("a list of str", _each(_text))
PATH: Kind = ("a path", _path)
PATHS: Kind = ("a list of paths", _each(_path))
DEVICE: Kind = ("the name of a device, such as 'cpu' or 'openreg:1'", _device)
