# SPDX-License-Identifier: Apache-2.0
"""Gives the structs of the library a repr() with all members, and lets them be copied
and pickled.

The repr() is not in C++, because pprint cannot show a class whose __repr__ is. A copy
is not made by the library, because some members cannot be converted back. It is an
object of a derived class, whose attributes have the values of the original's.
"""

import functools

from bulkhead import _core


def _shown(record):
    members = ", ".join(f"{name}={getattr(record, name)!r}" for name in record.__match_args__)
    return f"{_class_of(record).__name__}({members})"


def _class_of(record):
    return getattr(record, "_copy_of", type(record))


@functools.cache
def _copies(cls):
    """Returns the class for copies of a struct, derived from its class, whose instances
    have the members as attributes of their own."""
    members = dict.fromkeys(cls.__match_args__)
    return type(cls.__name__, (cls,), {**members, "_copy_of": cls, "__module__": cls.__module__})


def _copied(cls, values):
    record = cls.__new__(_copies(cls))
    vars(record).update(zip(cls.__match_args__, values))
    return record


def _reduced(record, protocol):
    return _copied, (
        _class_of(record),
        tuple(getattr(record, name) for name in record.__match_args__),
    )


for _class in vars(_core).values():
    if hasattr(_class, "__match_args__"):
        _class.__repr__ = _shown
        _class.__reduce_ex__ = _reduced
del _class
