# SPDX-License-Identifier: Apache-2.0
"""Functions for operators, which do what the commands of `bulkhead` do.

Functions about backends use the Host that decoders of this process share; every Host
has methods of the same names. The other functions are about all applications of this
user.
"""

import collections.abc
import os
from typing import Any, List, Optional, Union

from bulkhead import _core
from bulkhead._allowed import AllowedMedia
from bulkhead._arguments import COUNT, PATH, SECONDS, checked
from bulkhead._errors import BackendLostError
from bulkhead._host import default_host, metadata_path

_PAUSE = 1.0  # The longest wait in seconds before Python can handle signals.


def backends() -> List[_core.BackendInfo]:
    """Returns every backend, also those that are disabled or have failed."""
    return default_host().backends()


def devices() -> List[_core.DeviceInfo]:
    """Returns every device of every backend, usable or not, and why."""
    return default_host().devices()


def sandbox() -> _core.SandboxReport:
    """Returns the sandbox in force, and what this machine lacks of it."""
    return default_host().sandbox()


def diagnostics() -> List[_core.Diagnostic]:
    """Returns remarks about items on the plugin path that are wrong."""
    return default_host().diagnostics()


def searched_places() -> List[_core.SearchedPlace]:
    """Returns the plugin path, and what was found in each directory."""
    return default_host().searched_places()


def probe(
    source: Any,
    *,
    device: Any = None,
    scan: bool = False,
    allowed: Optional[AllowedMedia] = None,
) -> _core.ContainerMetadata:
    """Returns the metadata of a file and of every stream, of any kind."""
    return default_host().probe(source, device=device, scan=scan, allowed=allowed)


def load_backend(what: Any) -> List[_core.DeviceInfo]:
    """Loads a backend from a path or an entry point, and returns its devices."""
    return default_host().load_backend(what)


def restart(backend: str) -> None:
    """Forgets the failures of the backend, and starts it anew at its next use."""
    default_host().restart(backend)


def reload(backend: str) -> None:
    """Checks the backend's files as installed now, and uses them for new sessions."""
    default_host().reload(backend)


def disable(backend: str) -> None:
    """Makes the devices of the backend fail until enable() is called, also in later
    programs of this user."""
    default_host().disable(backend)


def enable(backend: str) -> None:
    """Undoes disable()."""
    default_host().enable(backend)


def entry_points(**query: Any) -> Any:
    """Returns the entry points on sys.path as importlib.metadata.EntryPoints. The library
    reads them.

    `entry_points(group="bulkhead.backends")` selects as importlib.metadata does. A
    file that cannot be read is left out without an error. `dist` is not set.
    """
    from importlib import metadata  # It takes longer than the rest of the package.

    found = _core.find_entry_points(metadata_path())
    return metadata.EntryPoints(
        metadata.EntryPoint(entry.name, entry.value, entry.group)
        for entry in found
    ).select(**query)


def events(pid: Union[int, str, None] = None) -> List[_core.Event]:
    """Returns the stored events of this application, of the application `pid`, or of all
    applications if pid="all", in order of time."""
    return _core.recent_events(_chosen(pid))


def follow_events(pid: Union[int, str, None] = None) -> collections.abc.Iterator[_core.Event]:
    """Yields the stored events, and then new events as they happen, until the last
    bulkheadd ends. `pid` is as for events()."""
    return _followed(_chosen(pid))


def _followed(pid):
    follower = _core.EventFollower(pid)
    while True:
        try:
            found = follower.next(_PAUSE)
        except BackendLostError:
            return
        yield from found


def _chosen(pid):
    """Returns the pid of one application, or None for all."""
    if isinstance(pid, str) and pid == "all":
        return None
    pid = checked("pid", pid, ("a pid, 'all'", COUNT[1]), none=True)
    return os.getpid() if pid is None else pid


def crashes(state_directory: Union[str, os.PathLike, None] = None) -> List[_core.Crash]:
    """Returns the records of crashes, the latest last. None is the state directory that
    a Host uses by default."""
    return _core.read_crashes(checked("state_directory", state_directory, PATH, none=True))


def clear_crashes(state_directory: Union[str, os.PathLike, None] = None) -> None:
    """Removes the records of crashes. Their numbers are not used again."""
    _core.clear_crashes(checked("state_directory", state_directory, PATH, none=True))


def running(window: float = 0.5) -> _core.RunningHosts:
    """Returns the applications with their backends and sessions, as `bulkhead ps` does.

    Takes `window` seconds, in which the frames of each session are counted for its
    rate; with 0 no session has a rate.
    """
    return _core.find_running_hosts(checked("window", window, SECONDS))
