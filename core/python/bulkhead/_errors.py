# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package: one class for each code of the library.

Every one is an Error, and so a RuntimeError. Those for which scripts written for
torchcodec have an `except IndexError` or `except ValueError` are that as well.
A class is defined by what the caller should do next.
"""

from typing import Optional

from bulkhead import _core


class Error(RuntimeError):
    """A call failed. The message says what failed, on what, and what to do next.

    `exit_report` tells how the worker ended, if that is why the call failed.
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

# The place where callers find them.
for _class in (Error, *_CLASSES.values()):
    _class.__module__ = "bulkhead"
del _class


def from_status(code, message, exit_report):
    """Makes the exception of a status of the library; the binding calls this."""
    error = _CLASSES.get(code, InternalError)(message)
    error.exit_report = exit_report
    return error
