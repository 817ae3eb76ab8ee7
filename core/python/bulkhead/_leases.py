# SPDX-License-Identifier: Apache-2.0
"""Makes leases, and copies their pixels before the process forks."""

import os
import weakref

from bulkhead import _core

# The leases that exist. A view of a lease keeps the lease alive.
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
    # A child inherits the mappings. When the parent gives a slot back, a worker writes
    # to it again, which the child must not see.
    for reference in _held.valuerefs():
        lease = reference()
        if lease is not None:
            lease._own_pages()


os.register_at_fork(before=_before_fork)
