# SPDX-License-Identifier: Apache-2.0
"""The output directory of a batch, which many processes on many machines may share.

Its layout is that of the command (tools/cli/batch/batch_directory.h), so that either
can go on with what the other has begun. Whatever is killed when, a name in it holds a
whole output or none: everything is written below .batch/unfinished/OWNER, put on the
disk, and renamed.

OWNER names the machine, the boot, the namespace of pids, the pid and the time at which
the process started. So the next process on the same machine knows which owners are gone
and removes what they left. What processes of other machines left is removed after a week.
"""

import collections.abc
import contextlib
import errno
import fcntl
import hashlib
import io
import json
import os
import shutil
import socket
import stat
import threading
import time
from typing import Any, List, Optional, Tuple

from bulkhead._batch_plan import RECORDS

_UNFINISHED = RECORDS + "/unfinished"
_MANIFEST = RECORDS + "/manifest"
_POISON = RECORDS + "/poison"
_JOINED = "manifest.jsonl"
_FORGOTTEN_SECONDS = 7 * 24 * 3600
_MOST_RECORD_BYTES = 16 << 20


class BatchDirectory:
    """One thread's view of the directory; a context, at whose end what the thread has
    not finished is removed.

    All relative paths are below the directory. A disk that takes no output raises
    OSError.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        thread = threading.get_ident()
        self._owner = f"{socket.gethostname()}-{thread}.{_pid_space()}.{os.getpid()}"
        self._owner += "." + _start_of(os.getpid())

    def __enter__(self) -> "BatchDirectory":
        for made in (self.unfinished(""), self._at(_MANIFEST), self._at(_POISON)):
            os.makedirs(made, exist_ok=True)
        self._remove_leftovers()
        return self

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self.unfinished(""), ignore_errors=True)

    def unfinished(self, name: str) -> str:
        """Returns the path of something to write, which is not among the outputs."""
        return os.path.join(self._path, _UNFINISHED, self._owner, name)

    def publish(self, name: str, relative: str) -> None:
        """Gives what was written to unfinished(name) its name, in place of what had
        that name."""
        written, to = self.unfinished(name), self._at(relative)
        _sync_all(written)
        parent = os.path.dirname(to)
        os.makedirs(parent, exist_ok=True)
        # A directory is not replaced by a rename, so an old one is put aside.
        old = self.unfinished(name + ".old")
        if os.path.isdir(to):
            os.rename(to, old)
        os.rename(written, to)
        shutil.rmtree(old, ignore_errors=True)
        _sync(parent)

    def write(self, name: str, relative: str, text: str) -> None:
        """Publishes a small file."""
        with open(self.unfinished(name), "w", encoding="utf-8") as file:
            file.write(text)
        self.publish(name, relative)

    def write_new(self, name: str, relative: str, text: str) -> None:
        """Publishes a small file unless there is one of that name already."""
        written = self.unfinished(name)
        with open(written, "w", encoding="utf-8") as file:
            file.write(text)
        _sync(written)
        with contextlib.suppress(FileExistsError):
            os.link(written, self._at(relative))
        os.unlink(written)

    def read(self, relative: str) -> Optional[str]:
        """Returns the text of a file, or None if it is not there, or is no record:
        others may write to the directory."""
        try:
            # Without O_NONBLOCK a FIFO would block.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(self._at(relative), flags), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                text = file.read(_MOST_RECORD_BYTES + 1)
                return text.decode() if len(text) <= _MOST_RECORD_BYTES else None
        except (OSError, ValueError):
            return None

    def size_of(self, relative: str) -> Optional[int]:
        """Returns the bytes of a file, or of all files in a directory; None if there is
        neither."""
        path = self._at(relative)
        try:
            if not os.path.isdir(path):
                return os.stat(path).st_size
            with os.scandir(path) as entries:
                return sum(entry.stat().st_size for entry in entries)
        except OSError:
            return None

    def remove(self, relative: str) -> None:
        """Removes a file or a whole directory, if it is there."""
        path = self._at(relative)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def poison(self) -> collections.abc.Iterator[str]:
        """Yields the records of inputs that kill workers, each a path for read()."""
        for name in os.listdir(self._at(_POISON)):
            yield f"{_POISON}/{name}"

    def join(self) -> None:
        """Rewrites manifest.jsonl: the lines of all records, sorted by the input.

        One process at a time does so, so that no record is missing which was written
        before the call.
        """
        with self._lock() as lock:
            # A file system without locks leaves the rename, which is whole too, but
            # may be of a process that has looked a moment earlier.
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            lines: List[Tuple[bytes, str]] = []
            for root, _, names in os.walk(self._at(_MANIFEST)):
                for name in names:
                    line = self.read(os.path.join(root, name)) or ""
                    record = _parsed(line)
                    if isinstance(record, dict) and "input" in record:
                        text = json.dumps(record["input"], ensure_ascii=False)
                        lines.append((text.encode(), line))
            self.write(_JOINED, _JOINED, "".join(line for _, line in sorted(lines)))

    def _lock(self) -> io.BufferedWriter:
        """Opens the lock. Whoever may open it can hold it: those who can write the
        results."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        lock = open(os.open(self._at(RECORDS + "/lock"), flags, 0o200), "wb")
        mode = os.stat(self._at(RECORDS)).st_mode
        # Fails where another user has made the file, and set its mode.
        with contextlib.suppress(OSError):
            os.fchmod(lock.fileno(), 0o200 | (mode & (stat.S_IWGRP | stat.S_IWOTH)))
        return lock

    def _at(self, relative: str) -> str:
        return os.path.join(self._path, relative)

    def _remove_leftovers(self) -> None:
        # An entry that another process removes meanwhile is no error.
        for owner in os.listdir(self._at(_UNFINISHED)):
            left = self._at(os.path.join(_UNFINISHED, owner))
            try:
                old = time.time() - os.stat(left).st_mtime > _FORGOTTEN_SECONDS
            except OSError:
                continue
            if old or _is_gone(owner):
                shutil.rmtree(left, ignore_errors=True)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _pid_space() -> str:
    """Names the boot and the namespace in which a pid means this process: a container
    may have the host name of another."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        names = file.read() + os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(names.encode()).hexdigest()[:12]


def _start_of(pid: int) -> str:
    """Returns when the process started, in the kernel's clock ticks; "" if there is no
    such process or it cannot be known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the program may contain spaces and parentheses.
            # The fields after them begin with the third; the start is the 22nd.
            return file.read().rpartition(b")")[2].split()[22 - 3].decode()
    except OSError:
        return ""


def _is_gone(owner: str) -> bool:
    """Returns True if `owner` was a process of this boot and namespace, and is no more."""
    words = owner.split(".")
    if len(words) < 4 or words[-3] != _pid_space() or not words[-2].isdigit():
        return False
    pid = int(words[-2])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # It is a process of another user.
    return _start_of(pid) not in ("", words[-1])


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot sync a directory.
        if error.errno not in (errno.EINVAL, errno.EROFS):
            raise
    finally:
        os.close(descriptor)


def _sync_all(path: str) -> None:
    if os.path.isdir(path):
        for name in os.listdir(path):
            _sync(os.path.join(path, name))
    _sync(path)
