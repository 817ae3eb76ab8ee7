# SPDX-License-Identifier: Apache-2.0
"""Leases, and what becomes of them when the process forks."""

import os
import weakref

from bulkhead import _core

# Those that are held, also by a view alone: it refers to its lease.
_held: weakref.WeakValueDictionary[int, _core.Lease] = weakref.WeakValueDictionary()


def take(picture, channels_first):
    """Returns the Lease of a picture."""
    lease = picture.lease(channels_first)
    _held[id(lease)] = lease
    return lease


def _refuse_to_pickle(lease):
    raise TypeError(
        "a Lease is memory of one process and cannot be copied or pickled; copy its "
        "pixels, numpy.array(lease) or bytes(lease)"
    )


setattr(_core.Lease, "__reduce__", _refuse_to_pickle)


def _before_fork():
    # The child has the mappings, but a slot that the parent gives back is written
    # again.
    for reference in _held.valuerefs():
        lease = reference()
        if lease is not None:
            lease._own_pages()


os.register_at_fork(before=_before_fork)
