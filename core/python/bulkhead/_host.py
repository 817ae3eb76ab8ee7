# SPDX-License-Identifier: Apache-2.0
"""The Host, which starts a supervisor, and the Host that decoders use by default."""

import os
import sys
import threading
from typing import Any, Dict, List, Optional

from bulkhead import _core
from bulkhead._allowed import ALLOWED, AllowedMedia
from bulkhead._arguments import (
    BOOLEAN,
    DEVICE,
    LIMIT,
    PATH,
    PATHS,
    SECONDS,
    TEXT,
    TEXTS,
    Kind,
    checked,
    instance_of,
)
from bulkhead._errors import InvalidArgumentError, NotFoundError
from bulkhead._sources import Source

# The number of forks from the first process to this one. An object of the library
# that was made at a smaller number belongs to a parent process.
generation = 0
_default = None
_lock = threading.RLock()  # Held while a Host starts.


class Host:
    """A supervisor of this process and its backends.

    `bulkhead.Host(default_device="openreg:1", limits={"streams": 10})` has the
    options of HostOptions in C++; None is the default of each. `limits` and
    `deadlines` (in seconds) are dictionaries, `allowed` is `bulkhead.AllowedMedia`,
    `sandbox_floor` is "full" or "reduced", and a directory is a str or a path.

    Decoders without a `host` share one Host, which the first of them starts. In a
    forked child, a Host starts a supervisor of its own at its first use. Only the
    options of a Host are pickled.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._made: Any = None
        self._generation = -1
        _options(options)  # Raises an error for wrong options.
        self.core()

    def core(self) -> _core.Host:
        """Returns the library's Host, which is made if this process has none yet."""
        with _lock:
            if self._generation != generation:
                self._made = _core.Host(_options(self._options))
                self._generation = generation
            return self._made

    def prewarm(self, device: Any) -> None:
        """Starts the backend of the device, so that its first stream does not wait."""
        self.core().prewarm(checked("device", device, DEVICE))

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
        media = checked("allowed", allowed, ALLOWED, none=True) or AllowedMedia()
        read = Source(source)  # A local, since the library does not keep it alive.
        return self.core().probe(
            read.core(),
            checked("device", device, DEVICE, none=True) or "",
            checked("scan", scan, BOOLEAN),
            media.core(),
        )

    def backends(self) -> List[_core.BackendInfo]:
        """Returns every backend, also those that are disabled or have failed."""
        return self.core().backends().backends

    def diagnostics(self) -> List[_core.Diagnostic]:
        """Returns remarks about items on the plugin path that are wrong."""
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

        Returns its devices. Does nothing else if the backend is loaded already.
        """
        # A pathlib.Path has `group` too, a method.
        if isinstance(getattr(what, "group", None), str):
            return self.core().load_backend(_core_entry_point(what))
        return self.core().load_backend(checked("what", what, _BACKEND))

    def restart(self, backend: str) -> None:
        """Forgets the failures of the backend, and starts it anew at its next use."""
        self.core().restart(checked("backend", backend, TEXT))

    def reload(self, backend: str) -> None:
        """Checks the backend's files as installed now, and uses them for new sessions."""
        self.core().reload(checked("backend", backend, TEXT))

    def disable(self, backend: str) -> None:
        """Makes the devices of the backend fail until enable() is called, also in later
        programs with this state directory."""
        self.core().disable(checked("backend", backend, TEXT))

    def enable(self, backend: str) -> None:
        """Undoes disable()."""
        self.core().enable(checked("backend", backend, TEXT))

    @property
    def supervisor_pid(self) -> int:
        """The pid of bulkheadd, for operators and tests."""
        return self.core().supervisor_pid

    def __reduce__(self) -> Any:
        return (_remade, (self._options,))

    def __repr__(self) -> str:
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
    """Returns the directories of sys.path as absolute bytes, each once."""
    directories = []
    for entry in sys.path:
        try:
            directories.append(os.fsencode(os.path.abspath(entry)))
        except (OSError, TypeError):
            continue  # The current directory was removed, or `entry` is no path.
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
        if isinstance(directory, str)
        and os.path.isabs(directory)
        and os.path.basename(directory) in ("site-packages", "dist-packages")
    ]


def plugin_last_path():
    """Returns the default of HostOptions::plugin_last_path for Python.

    Returns None if BULKHEAD_PATH is set, because then only its directories are
    searched.
    """
    if "BULKHEAD_PATH" in os.environ:
        return None
    named = os.environ.get("BULKHEAD_LAST_PATH", "").split(os.pathsep)
    return [directory for directory in named if directory] + site_packages()


def _floor(value):
    if value not in ("full", "reduced"):
        raise ValueError
    return _core.SandboxTier.__members__[value]


HOST = instance_of(Host)
_NUMBERS: Kind = ("a dictionary of numbers", dict)
_NAMED_TEXTS: Kind = ("a dictionary of str", dict)

_BACKEND: Kind = ("a path or an entry point of importlib.metadata", PATH[1])

# The kinds of the members of HostOptions, except `limits` and `deadlines`.
_OPTIONS: Dict[str, Kind] = {
    "allowed": ("bulkhead.AllowedMedia", lambda value: ALLOWED[1](value).core()),
    "autoload": BOOLEAN,
    "backends": TEXTS,
    "backends_disable": TEXTS,
    "backends_exec": TEXTS,
    "cgroup": PATH,
    "default_device": DEVICE,
    "eager": BOOLEAN,
    "grants": PATH,
    "libexec_dir": PATH,
    "plugin_add_path": PATHS,
    "plugin_last_path": PATHS,
    "plugin_path": PATHS,
    "require_memory_cgroup": BOOLEAN,
    "sandbox_floor": ("'full' or 'reduced'", _floor),
    "state_directory": PATH,
}


def _set_members(target, members, what, kind_of):
    """Sets members of a struct of options. A member whose value is None is not set."""
    known = [name for name in dir(target) if not name.startswith("_")]
    for name, value in members.items():
        if name not in known:
            raise InvalidArgumentError(f"{what} has no {name!r}, only {', '.join(known)}")
        if value is None:
            continue
        value = checked(f"{name} of {what}", value, kind_of(name))
        try:
            setattr(target, name, value)
        except TypeError:
            raise InvalidArgumentError(f"{name} of {what} is {value}; it is too large") from None
    return target


def _numbers(name, given):
    """Returns the option's dictionary; an empty one if the option is None."""
    return checked(name, given, _NUMBERS, none=True) or {}


def _options(given):
    given = dict(given)
    given.setdefault("plugin_last_path", plugin_last_path())
    limits = _numbers("limits", given.pop("limits", None))
    deadlines = _numbers("deadlines", given.pop("deadlines", None))
    options = _set_members(_core.HostOptions(), given, "Host", _OPTIONS.__getitem__)
    options.limits = _set_members(_core.Limits(), limits, "limits", lambda _: LIMIT)
    options.deadlines = _set_members(
        _core.Deadlines(), deadlines, "deadlines", lambda _: SECONDS
    )
    return options


def stream_options(device, on_failure, allowed, backend_options):
    """Checks the arguments that decoders of video and of audio share."""
    pairs = checked("backend_options", backend_options, _NAMED_TEXTS, none=True) or {}
    return {
        "device": checked("device", device, DEVICE, none=True) or "",
        "on_failure": checked("on_failure", on_failure, DEVICE, none=True) or "",
        "allowed": checked("allowed", allowed, ALLOWED, none=True),
        "backend_options": {
            checked("a key of backend_options", name, TEXT): checked(
                f"backend_options[{name!r}]", value, TEXT
            )
            for name, value in pairs.items()
        },
    }


def member(enum, argument, name):
    """Returns the member of an enumeration that has the name in `argument`."""
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
