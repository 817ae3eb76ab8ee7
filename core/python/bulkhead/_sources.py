# SPDX-License-Identifier: Apache-2.0
"""The source of a decoder: a path, bytes, a tensor, or a file-like object with read()
and seek()."""

import io
import os
import weakref

from bulkhead import _core
from bulkhead._arguments import PATH, checked


class Source:
    """A source of media that can be opened again in another process, unless it is a
    file-like object.

    Bytes are kept for that, and the contents of other buffers are copied to bytes. The
    library has a copy of the bytes in shared memory, with a descriptor, until close().
    """

    def __init__(self, given):
        self._reads = False
        if isinstance(given, (str, os.PathLike)):
            # A process that forks or unpickles the source may change its working
            # directory.
            path = _absolute(checked("source", given, PATH))
            self._given = os.fsdecode(path)
            self._core = _core.Source.from_path(path)
        elif isinstance(given, bytes):
            self._given = given
            self._core = None
        elif isinstance(given, io.TextIOBase):
            raise TypeError(
                f"{given!r} is a text file, not bytes; did you mean to open it for "
                "binary reading, open(path, 'rb')?"
            )
        elif callable(getattr(given, "read", None)):
            if not callable(getattr(given, "seek", None)):
                raise TypeError(
                    f"{type(given).__name__} has read() and no seek(); a source needs both"
                )
            self._reads = True
            self._given = given
            self._core = _core.Source.from_reader(
                _weakly(self._read), _weakly(self._seek), ""
            )
        else:
            self._given = _bytes_of(given)
            self._core = None

    def core(self):
        """Returns the source of the library."""
        if self._core is None:
            self._core = _core.Source.from_memory(self._given, "")
        return self._core

    def close(self):
        """Frees the library's copy of the bytes. core() makes a new one."""
        if isinstance(self._given, bytes):
            self._core = None

    @property
    def name(self):
        """The name of the source for people; "" for bytes, which have none."""
        return "" if self._core is None else self._core.name

    def _read(self, size):
        file = self._given
        data = file.read(size)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"{type(file).__name__}.read() returned {type(data).__name__}, not bytes"
            )
        if isinstance(data, memoryview) and not data.c_contiguous:
            data = data.tobytes()
        if memoryview(data).nbytes > size:
            raise RuntimeError(
                f"{type(file).__name__}.read({size}) returned {memoryview(data).nbytes} bytes"
            )
        return data

    def _seek(self, offset, whence):
        file = self._given
        position = file.seek(offset, whence)
        # The seek() of an mmap returns None.
        return file.tell() if position is None and hasattr(file, "tell") else position

    def require_reopenable(self, why):
        """Raises RuntimeError if only this process can read the source."""
        if self._reads:
            raise RuntimeError(
                f"{why}: its source is {type(self._given).__name__}, a file-like "
                "object, whose position two processes cannot share. Give the decoder "
                "a path or bytes, or make it in the process that uses it."
            )

    def __reduce__(self):
        self.require_reopenable("the decoder cannot be pickled")
        return (Source, (self._given,))


def _absolute(path):
    try:
        return os.path.abspath(path)
    except FileNotFoundError:  # The working directory was removed.
        return path


def _weakly(method):
    """Returns a function that calls the method, with a weak reference to its object.

    The decoder keeps the source alive. If the library did so too, a file object that
    refers to its decoder would never be freed, since Python's garbage collector does not
    see the library's references.
    """
    weak = weakref.WeakMethod(method)
    return lambda *arguments: weak()(*arguments)


def _bytes_of(given):
    # A tensor of torch has no buffer; its numpy array has one.
    if type(given).__module__.split(".")[0] == "torch" and hasattr(given, "numpy"):
        given = given.detach().cpu().numpy()
    try:
        view = memoryview(given)
    except TypeError:
        raise TypeError(
            f"Unknown source type {type(given).__name__}: a source is a path, bytes, "
            "a tensor or array of uint8, or an object with read() and seek()"
        ) from None
    if view.ndim != 1 or view.itemsize != 1 or not view.contiguous:
        raise ValueError(
            f"a source in memory is contiguous bytes in one dimension, not {view.ndim} "
            f"dimensions of {view.itemsize} bytes an element"
        )
    return bytes(view)
