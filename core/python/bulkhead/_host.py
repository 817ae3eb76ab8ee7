# SPDX-License-Identifier: Apache-2.0
"""The Host: the supervisor that a process starts, and the one it uses by default."""

import os
import sys
import threading
from typing import Any, List, Optional

from bulkhead import _core
from bulkhead._allowed import AllowedMedia
from bulkhead._errors import InvalidArgumentError, NotFoundError
from bulkhead._sources import Source

# Counts the forks that led to this process: what the library made before the
# last one belongs to the parent.
generation = 0
_default = None
_lock = threading.RLock()  # Held while a Host starts.


class Host:
    """A supervisor of this process and its backends.

    `bulkhead.Host(default_device="openreg:1", limits={"streams": 10})` takes the
    members of HostOptions in C++. `limits` and `deadlines` (in seconds) are
    dictionaries, `allowed` is `bulkhead.AllowedMedia`, `sandbox_floor` is "full"
    or "reduced".

    Decoders that name no Host share one, which the first of them starts. In a
    forked child a Host starts anew when it is first used. It pickles as its
    options.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._made = None
        self._generation = -1
        _options(options)  # Wrong names are told here.
        self.core()

    def core(self):
        """Returns the Host of the library in this process."""
        with _lock:
            if self._generation != generation:
                self._made = _core.Host(_options(self._options))
                self._generation = generation
            return self._made

    def prewarm(self, device: Any) -> None:
        """Starts the backend of the device, so that its first stream does not wait."""
        self.core().prewarm(str(device))

    def probe(
        self,
        source: Any,
        *,
        device: Any = None,
        scan: bool = False,
        allowed: Optional[AllowedMedia] = None,
    ) -> _core.ContainerMetadata:
        """Returns the metadata of a file and of every stream, of any kind.

        With `scan`, the worker reads every packet too.
        """
        device = "" if device is None else str(device)
        media = _core.AllowedMedia() if allowed is None else allowed.core()
        read = Source(source)
        return self.core().probe(read.core(), device, scan, media)

    def backends(self) -> List[_core.BackendInfo]:
        """Returns every backend, also those that are disabled or have failed."""
        return self.core().backends().backends

    def diagnostics(self) -> List[_core.Diagnostic]:
        """Returns what is wrong with what was found on the plugin path."""
        return self.core().backends().diagnostics

    def searched_places(self) -> List[_core.SearchedPlace]:
        """Returns the plugin path, and what was found in each directory."""
        return self.core().backends().places

    def devices(self) -> List[_core.DeviceInfo]:
        """Returns every device of every backend, usable or not, and why."""
        return self.core().devices()

    def sandbox(self) -> _core.SandboxReport:
        """Returns the sandbox in force, and what this machine lacks of it."""
        return self.core().sandbox()

    def load_backend(self, what: Any) -> List[_core.DeviceInfo]:
        """Loads the backend at a path, or of an entry point of importlib.metadata.

        Returns its devices. A backend that is loaded already stays as it is.
        """
        if hasattr(what, "group"):
            return self.core().load_backend(_core_entry_point(what))
        return self.core().load_backend(os.fspath(what))

    def restart(self, backend: str) -> None:
        """Starts the backend afresh when it is next needed, and forgets its failures."""
        self.core().restart(backend)

    def reload(self, backend: str) -> None:
        """Checks the files that are installed now, and lets them serve new sessions."""
        self.core().reload(backend)

    def disable(self, backend: str) -> None:
        """Makes the devices of the backend fail until it is enabled."""
        self.core().disable(backend)

    def enable(self, backend: str) -> None:
        """Undoes disable()."""
        self.core().enable(backend)

    @property
    def supervisor_pid(self) -> int:
        """The pid of bulkheadd, for operators and tests."""
        return self.core().supervisor_pid

    def __reduce__(self):
        return (_remade, (self._options,))

    def __repr__(self):
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"bulkhead.Host({options})"


def _remade(options):
    return Host(**options)


def default_host():
    """Returns the Host that decoders of this process share."""
    global _default
    with _lock:
        if _default is None:
            _default = Host()
        return _default


def metadata_path():
    """Returns the directories of sys.path, as the library takes them."""
    directories = (os.path.abspath(entry) for entry in sys.path)
    return [entry for entry in dict.fromkeys(directories) if os.path.isdir(entry)]


def _core_entry_point(wanted):
    for entry in _core.find_entry_points(metadata_path()):
        if (entry.name, entry.value, entry.group) == (
            wanted.name,
            wanted.value,
            wanted.group,
        ):
            return entry
    raise NotFoundError(f"sys.path has no entry point {wanted}")


def site_packages():
    """Returns the directories of sys.path in which pip installs packages."""
    return [
        directory
        for directory in dict.fromkeys(sys.path)
        if os.path.isabs(directory)
        and os.path.basename(directory) in ("site-packages", "dist-packages")
    ]


def plugin_last_path():
    """Returns what HostOptions::plugin_last_path is if the caller says nothing.

    BULKHEAD_PATH says where to search and nowhere else.
    """
    return [] if "BULKHEAD_PATH" in os.environ else site_packages()


def set_members(target, members, what):
    """Sets members of a struct of options; a wrong name is the caller's mistake."""
    for name, value in members.items():
        if not hasattr(target, name):
            names = ", ".join(sorted(n for n in dir(target) if not n.startswith("_")))
            raise InvalidArgumentError(f"{what} has no {name!r}, only {names}")
        try:
            setattr(target, name, value)
        except TypeError:
            raise TypeError(f"{name} of {what} cannot be {value!r}") from None


def _options(given):
    given = dict(given)
    options = _core.HostOptions()
    limits = given.pop("limits", {})
    deadlines = {
        name: float(seconds) for name, seconds in given.pop("deadlines", {}).items()
    }
    if "sandbox_floor" in given:
        given["sandbox_floor"] = member(
            _core.SandboxTier, "sandbox_floor", given["sandbox_floor"]
        )
    if given.get("allowed") is not None:
        given["allowed"] = given["allowed"].core()
    given.setdefault("plugin_last_path", plugin_last_path())
    set_members(options, given, "Host")
    chosen = _core.Limits()
    set_members(chosen, limits, "limits")
    options.limits = chosen
    chosen = _core.Deadlines()
    set_members(chosen, deadlines, "deadlines")
    options.deadlines = chosen
    return options


def member(enum, argument, name):
    """Returns the member of an enumeration that the caller named."""
    found = enum.__members__.get(name) if isinstance(name, str) else None
    if found is None:
        names = ", ".join(repr(known) for known in enum.__members__)
        raise InvalidArgumentError(f"{argument} is {name!r}; it can be {names}")
    return found


def _after_fork_in_child():
    global generation, _default, _lock
    generation += 1
    _default = None
    _lock = threading.RLock()  # Another thread may have held the old one.


os.register_at_fork(after_in_child=_after_fork_in_child)
