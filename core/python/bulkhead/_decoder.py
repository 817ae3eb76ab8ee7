# SPDX-License-Identifier: Apache-2.0
"""What decoders of video and of audio have in common."""

import threading
from typing import Any, List, TypeVar

from bulkhead import _core, _host
from bulkhead._sources import Source

_Self = TypeVar("_Self", bound="Decoder")


class Decoder:
    """An open stream that can be opened again, in a forked child or after pickling,
    from its source and its options.

    Any thread may call it; calls come one after another.
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
        """Leaves the stream to be opened when it is first used."""
        self._stream = None
        self._generation = None
        self._locks = {}

    def _open(self):
        host = self._host or _host.default_host()
        self._stream = self._open_stream(host.core(), self._source.core())
        self._generation = _host.generation

    def _open_stream(self, host, source):
        """Opens the stream that the options name, or else FFmpeg's best."""
        stream = self._open_with(host, source, self._core_options())
        # Where the stream is opened again, it is the same.
        self._options["stream_index"] = stream.metadata().stream_index
        self.stream_index = self._options["stream_index"]
        self._reset()
        return stream

    def _core_options(self):
        """Returns the options as the library takes them."""
        raise NotImplementedError

    def _open_with(self, host, source, options):
        raise NotImplementedError

    def _reset(self):
        """Forgets what is true of one open stream only."""

    def _opened(self):
        """Returns the stream of the library in this process."""
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
        """Returns the lock of what threads may only do one after the other."""
        # A thread of the parent may have held the parent's when this child was forked.
        return self._locks.setdefault(_host.generation, threading.RLock())

    def _named(self):
        return self._source.name or "bytes"

    def close(self) -> None:
        """Ends the worker and frees what the stream holds. Frames stay valid."""
        self._closed = True
        self._stream = None
        self._source.close()

    def cancel(self) -> None:
        """Ends the call that another thread is in, or else the next, with
        CancelledError. The decoder stays usable."""
        self._opened().cancel()

    @property
    def damage(self) -> List[Any]:
        """The damage that any call has found so far, and the notes; complete after a whole
        pass. `kind` is "damage" or "note"; a note stands for no frame and fails no call.
        `sign` is what showed it, such as "rejected" (core/application/damage.md)."""
        return self._opened().damage()

    @property
    def recovery(self) -> _core.RecoveryStats:
        """The workers that were lost, and why."""
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
