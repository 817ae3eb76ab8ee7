# SPDX-License-Identifier: Apache-2.0
"""Decodes video and audio in sandboxed processes, so that no backend and no file can
crash the interpreter.

    from bulkhead.decoders import VideoDecoder

Importing starts nothing and needs neither torch nor numpy. The first decoder starts
the supervisor of this process (bulkhead.Host).
"""

from bulkhead import _missing

try:
    from bulkhead import _core
except ImportError as _error:
    raise _missing.explained(_error) from None

from bulkhead import _records  # noqa: F401 (adds __repr__ to the classes of _core)
from bulkhead._allowed import AllowedMedia
from bulkhead._core import Lease
from bulkhead._errors import (
    BackendLostError,
    BackendMisbehavedError,
    BackendUnavailableError,
    BadInputError,
    CancelledError,
    DeadlineExceededError,
    Error,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PoisonedInputError,
    ResourceExhaustedError,
    SandboxUnavailableError,
    UnsupportedError,
)
from bulkhead._frame import AudioSamples, Frame, FrameBatch, NativeFrame
from bulkhead._host import Host
from bulkhead._operators import (
    backends,
    clear_crashes,
    crashes,
    devices,
    diagnostics,
    disable,
    enable,
    entry_points,
    events,
    follow_events,
    load_backend,
    probe,
    reload,
    restart,
    running,
    sandbox,
    searched_places,
)

__version__ = _core.version

__all__ = [
    "AllowedMedia",
    "AudioSamples",
    "BackendLostError",
    "BackendMisbehavedError",
    "BackendUnavailableError",
    "BadInputError",
    "CancelledError",
    "DeadlineExceededError",
    "Error",
    "Frame",
    "FrameBatch",
    "Host",
    "InternalError",
    "InvalidArgumentError",
    "Lease",
    "NativeFrame",
    "NotFoundError",
    "OutOfRangeError",
    "PoisonedInputError",
    "ResourceExhaustedError",
    "SandboxUnavailableError",
    "UnsupportedError",
    "__version__",
    "backends",
    "clear_crashes",
    "crashes",
    "devices",
    "diagnostics",
    "disable",
    "enable",
    "entry_points",
    "events",
    "follow_events",
    "load_backend",
    "probe",
    "reload",
    "restart",
    "running",
    "sandbox",
    "searched_places",
]
