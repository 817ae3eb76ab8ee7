# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package: one class for each code of the library.

Each class stands for one reaction of the caller, which its docstring states. All
derive from Error, a RuntimeError. Where torchcodec raises IndexError or ValueError, the
class derives from that too, for scripts that catch it.
"""

from typing import Optional

from bulkhead import _core


class Error(RuntimeError):
    """A call failed. The message says what failed, on which object, and what to do next.

    `exit_report` says how the worker ended, if the call failed because it ended.
    """

    code: str = "kInternal"
    exit_report: Optional[_core.ExitReport] = None


class InvalidArgumentError(Error, ValueError):
    """Fix the call."""

    code = "kInvalidArgument"


class NotFoundError(Error, ValueError):
    """Name a file, stream, device or backend that exists."""

    code = "kNotFound"


class OutOfRangeError(Error, IndexError, ValueError):
    """Ask for an index or a time that exists."""

    code = "kOutOfRange"


class BadInputError(Error):
    """The file is damaged: repair or skip it."""

    code = "kBadInput"


class PoisonedInputError(Error):
    """The file kills workers: skip it for good."""

    code = "kPoisonedInput"


class UnsupportedError(Error):
    """Choose another backend, or convert the file."""

    code = "kUnsupported"


class BackendUnavailableError(Error):
    """The backend cannot be started: remove the cause that the message states."""

    code = "kBackendUnavailable"


class BackendLostError(Error):
    """The worker died and replay gave up: try again."""

    code = "kBackendLost"


class BackendMisbehavedError(Error):
    """The backend broke the protocol: report it to its vendor."""

    code = "kBackendMisbehaved"


class DeadlineExceededError(Error):
    """The worker was too slow and was killed: allow more time."""

    code = "kDeadlineExceeded"


class ResourceExhaustedError(Error):
    """Raise the limit that the message names, or ask for less."""

    code = "kResourceExhausted"


class SandboxUnavailableError(Error):
    """Fix what `bulkhead doctor` reports, or lower the floor knowingly."""

    code = "kSandboxUnavailable"


class InternalError(Error):
    """A bug in Bulkhead: report it."""

    code = "kInternal"


class CancelledError(Error):
    """cancel() on another thread ended the call."""

    code = "kCancelled"


_CLASSES = {
    cls.code: cls
    for cls in (
        InvalidArgumentError,
        NotFoundError,
        OutOfRangeError,
        BadInputError,
        PoisonedInputError,
        UnsupportedError,
        BackendUnavailableError,
        BackendLostError,
        BackendMisbehavedError,
        DeadlineExceededError,
        ResourceExhaustedError,
        SandboxUnavailableError,
        InternalError,
        CancelledError,
    )
}

# Tracebacks show the classes as members of the package.
for _class in (Error, *_CLASSES.values()):
    _class.__module__ = "bulkhead"
del _class


def from_status(code, message, exit_report):
    """Returns the exception for a Status of the library. The bindings call it."""
    error = _CLASSES.get(code, InternalError)(message)
    error.exit_report = exit_report
    return error
