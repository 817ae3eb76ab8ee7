# SPDX-License-Identifier: Apache-2.0
"""Shows the structs of the library: each member with its value.

It is done here, since pprint cannot show a class whose __repr__ is in C++.
"""

from bulkhead import _core


def _shown(record):
    members = ", ".join(f"{name}={getattr(record, name)!r}" for name in record.__match_args__)
    return f"{type(record).__name__}({members})"


for _class in vars(_core).values():
    if hasattr(_class, "__match_args__"):
        _class.__repr__ = _shown
del _class
