# SPDX-License-Identifier: Apache-2.0
"""The base class of the decoders of video and audio."""

import threading
from typing import Any, List, TypeVar

from bulkhead import _core, _host
from bulkhead._sources import Source

_Self = TypeVar("_Self", bound="Decoder")


class Decoder:
    """An open stream. In a forked child, and after pickling, it is opened again from its
    source and its options.

    Any thread may call it; one call runs at a time.
    """

    stream_index: int

    def __init__(self, source, options, host):
        self._source = Source(source)
        self._options = options
        self._host = host
        self._closed = False
        self._forget_stream()
        self._open()

    def _forget_stream(self):
        """Sets the state of a decoder whose stream is opened at its first use."""
        self._stream = None
        self._generation = None
        self._locks = {}

    def _open(self):
        host = self._host or _host.default_host()
        self._stream = self._open_stream(host.core(), self._source.core())
        self._generation = _host.generation

    def _open_stream(self, host, source):
        """Opens the stream that the options name, or FFmpeg's best if they name none."""
        stream = self._open_with(host, source, self._core_options())
        # Makes sure that the same stream is opened next time.
        self._options["stream_index"] = stream.metadata().stream_index
        self.stream_index = self._options["stream_index"]
        self._reset()
        return stream

    def _core_options(self):
        """Returns the options as a struct of the library."""
        raise NotImplementedError

    def _open_with(self, host, source, options):
        raise NotImplementedError

    def _reset(self):
        """Forgets the position in the stream that was open before."""

    def _opened(self):
        """Returns the library's stream, which is opened if this process has none yet."""
        if self._closed:
            raise ValueError(f"the {type(self).__name__} of {self._named()} is closed")
        if self._generation != _host.generation:
            self._source.require_reopenable(
                "the decoder was made before a fork and cannot go on in the child"
            )
            with self._turn():
                if self._generation != _host.generation:
                    self._stream = None
                    self._open()
        return self._stream

    def _turn(self):
        """Returns the lock for steps that one thread at a time may do."""
        # A child has a new lock: a thread of the parent may have held the old one when
        # the child was forked.
        return self._locks.setdefault(_host.generation, threading.RLock())

    def _named(self):
        return self._source.name or "bytes"

    def close(self) -> None:
        """Ends the worker and frees the memory of the stream. Frames stay valid."""
        self._closed = True
        self._stream = None
        self._source.close()

    def cancel(self) -> None:
        """Ends the call that is running on another thread with CancelledError; if there
        is none, the next call. The decoder stays usable."""
        self._opened().cancel()

    @property
    def damage(self) -> List[Any]:
        """The damage and the notes that calls have found so far; complete after a whole
        pass. `kind` is "damage" or "note"; a note takes no frame and fails no call.
        `sign` is how it was found, such as "rejected" (core/application/damage.md)."""
        return self._opened().damage()

    @property
    def recovery(self) -> _core.RecoveryStats:
        """How many workers were lost and replaced, and why."""
        return self._opened().recovery()

    @property
    def worker_pid(self) -> int:
        """The pid of the worker, 0 if there is none now. For operators and tests."""
        return self._opened().worker_pid()

    def __enter__(self: _Self) -> _Self:
        self._opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getstate__(self):
        self._source.require_reopenable("the decoder cannot be pickled")
        unpickled = ("_stream", "_generation", "_locks", "_next")
        return {
            name: value for name, value in self.__dict__.items() if name not in unpickled
        }

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._forget_stream()

    def __repr__(self):
        state = "closed" if self._closed else f"stream {self.stream_index}"
        return f"<{type(self).__name__} of {self._named()}, {state}>"
