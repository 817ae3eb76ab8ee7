# SPDX-License-Identifier: Apache-2.0
"""Decodes one input of a batch, and writes its output and its record.

Planning, known results, publishing and records are the engine's, which `bulkhead batch`
uses too (core/application/batch). Decoding is here, because the user's function, arrays
of npy and contact sheets are Python's, and because the command's writers
(tools/cli/writers) are not part of the library that Python can load.

An attempt ends in one of three ways. An error of the file is its result: it gets a
record and is not tried again. A failure of the backend, or an exceeded deadline or limit,
is a loss: it is raised, and the caller may try again. A disk that takes no output, or a
machine without a sandbox, would fail every input: that is raised too, and ends the batch.
"""

import collections.abc
import dataclasses
import itertools
import json
import math
import os
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union

from bulkhead import _core, _pictures
from bulkhead._batch_recipe import Item, Recipe
from bulkhead._batch_writers import FRAME_WRITERS, Wav
from bulkhead._errors import (
    BackendLostError,
    BackendUnavailableError,
    BadInputError,
    DeadlineExceededError,
    Error,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    SandboxUnavailableError,
)
from bulkhead._host import Host
from bulkhead._video import VideoDecoder

LOSSES: Tuple[Type[Error], ...] = (
    BackendLostError,
    BackendUnavailableError,
    DeadlineExceededError,
    ResourceExhaustedError,
)

# The length of one request for samples. It is 25 MB for 8 channels at 96 kHz.
_SECONDS_AT_ONCE = 8


@dataclasses.dataclass(frozen=True)
class Result:
    """The record of an input, a line of JSON. `told_before` is True if the error of an
    input with the same contents was reported before."""

    record: str
    told_before: bool = False


@dataclasses.dataclass(frozen=True)
class Loss:
    """The reason why an input has no result. The next run tries it again."""

    code: str
    message: str


@dataclasses.dataclass
class _Outcome:
    """The outcome of decoding one input. The engine makes its record from it."""

    error: Optional[Error] = None
    frames: Optional[int] = None
    frame_count: Optional[int] = None
    frame_count_from_header: Optional[int] = None
    damage: List[Any] = dataclasses.field(default_factory=list)
    restarts: int = 0


class _FunctionFailed(Exception):
    """The user's function raised an exception that is no Error, or returned an object that
    cannot be written."""


def decode_item(
    recipe: Recipe, item: Item, host: Host, device: str, makers: str
) -> Union[Result, Loss]:
    """Decodes the input, writes its output and its record, and returns the record.

    `makers` is HostPlugin.makers. Raises the errors of LOSSES, SandboxUnavailableError,
    and OSError if the directory takes no output.
    """
    path = recipe.path_of(item)
    batch = recipe.batch()
    # An earlier attempt may have written the record, and died before it returned it.
    found = batch.find(item, path)
    if found is not None:
        return Result(found)
    has_frames = recipe.what in FRAME_WRITERS
    attempt = batch.begin(item, path, recipe.suffix, makers, has_frames)
    verdict = attempt.known
    if verdict is None:
        try:
            outcome = _decode(recipe, host, device, path, attempt.output)
        except _FunctionFailed as failure:
            return Loss("kInvalidArgument", f"{_core.record_text(item.input)}: {failure}")
        error = outcome.error
        if isinstance(error, SandboxUnavailableError):
            raise error
        code, message = ("", "") if error is None else (error.code, str(error))
        verdict = attempt.finish(
            code,
            message,
            outcome.frames,
            outcome.frame_count,
            outcome.frame_count_from_header,
            outcome.damage,
            outcome.restarts,
        )
        if error is not None and verdict.code == error.code and isinstance(error, LOSSES):
            raise error
    if verdict.record is None:
        return Loss(verdict.code, verdict.message)
    return Result(verdict.record, verdict.told_before)


def _decode(recipe: Recipe, host: Host, device: str, path: str, output: str) -> _Outcome:
    decoders: Dict[Any, Callable[..., _Outcome]] = {
        "wav": _decode_sound,
        "sheet": _decode_sheet,
        "probe": _probe,
    }
    decode = decoders.get(recipe.what, _decode_frames)
    if callable(recipe.what):
        decode = _call
    outcome = _Outcome()
    try:
        return decode(recipe, host, device, path, output, outcome)
    except Error as error:
        return _fail(outcome, error)


def _fail(outcome: _Outcome, error: Error) -> _Outcome:
    # A traceback refers to the outcome and to the stream. This would be a cycle, which
    # keeps the stream's memory and worker until Python's collector runs.
    outcome.error = error.with_traceback(None)
    return outcome


def _source_of(path: str) -> _core.Source:
    return _core.Source.from_path(os.fsencode(path))


def _decode_frames(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> _Outcome:
    outcome.frames = 0
    stream = host.core().open_video(_source_of(path), recipe.video_options(device))
    writer = FRAME_WRITERS[recipe.what](stream.metadata(), output)
    damaged = 0
    try:
        for number, picture in _chosen(stream, recipe):
            writer.write(picture, number)
            outcome.frames += 1
            damaged += picture.damaged
    except Error as error:
        _fail(outcome, error)
    finally:
        writer.close()
    _tell(stream, outcome)
    metadata = stream.metadata()
    outcome.frame_count_from_header = metadata.frame_count_from_header
    outcome.frame_count = metadata.frame_count_from_content
    whole = recipe.frames is None and recipe.at is None and outcome.error is None
    if outcome.frame_count is None and whole:
        # `frames` of a note is 0.
        lost = sum(found.frames for found in outcome.damage if not found.not_in_index)
        outcome.frame_count = outcome.frames - damaged + lost
    return outcome


def _chosen(stream: _core.VideoStream, recipe: Recipe) -> collections.abc.Iterator[Tuple[int, Any]]:
    """Yields the pictures that the recipe chooses, each with its index."""
    numbers = recipe.chosen(stream.frame_count)
    if numbers is None:
        while (picture := stream.next(True)) is not None:
            yield picture.index, picture
        return
    count = stream.frame_count()
    # All indices are checked before the first is decoded.
    for number in numbers:
        if not -count <= number < count:
            raise OutOfRangeError(f"there is no frame {number}: the stream has {count} frames")
    for number in numbers:
        number %= count
        try:
            picture = stream.frame_at(number, True)
        except BadInputError:
            if recipe.on_corrupt in ("skip", "show"):
                continue
            raise
        yield number, picture


def _decode_sheet(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> _Outcome:
    stream = host.core().open_video(_source_of(path), recipe.video_options(device))
    try:
        count = stream.frame_count()
        first = stream.frame_at(0, False).array()
        png = _pictures.sheet(
            count, lambda number: stream.frame_at(number, False).array(), first.shape
        )
        outcome.frames = len(_pictures.tiles(count))
    except Error as error:
        _fail(outcome, error)
    else:
        _write(output, png)
    metadata = stream.metadata()
    outcome.frame_count_from_header = metadata.frame_count_from_header
    outcome.frame_count = metadata.frame_count_from_content
    return _tell(stream, outcome)


def _decode_sound(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> _Outcome:
    stream = host.core().open_audio(_source_of(path), recipe.audio_options(device))
    begin = stream.metadata().begin_seconds
    writer = Wav(output)
    try:
        for piece in itertools.count():
            # A product instead of a sum: each stop equals the next start exactly, and
            # rounding errors do not add up.
            start = begin + piece * _SECONDS_AT_ONCE
            stop = begin + (piece + 1) * _SECONDS_AT_ONCE
            try:
                writer.write(stream.samples_played_in_range(start, stop))
            except OutOfRangeError:
                if piece == 0:
                    raise
                break
    except Error as error:
        _fail(outcome, error)
    finally:
        writer.close()
    return _tell(stream, outcome)


def _probe(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> _Outcome:
    found = host.probe(path, device=device)
    _write(output, _json(_members(found)))
    return outcome


def _members(record: Any) -> Any:
    """Returns a struct of the library as dicts, lists and values for JSON."""
    if isinstance(record, list):
        return [_members(one) for one in record]
    if isinstance(record, float) and not math.isfinite(record):
        return None
    if not hasattr(record, "__match_args__"):
        return record
    if isinstance(record, _core.Ratio) and record.denominator == 0:
        return None
    return {name: _members(getattr(record, name)) for name in record.__match_args__}


def _call(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> _Outcome:
    decoder = VideoDecoder(
        path,
        stream_index=recipe.stream,
        num_ffmpeg_threads=recipe.threads,
        device=device,
        on_corrupt=recipe.on_corrupt,  # type: ignore[arg-type]
        host=host,
    )
    with decoder:
        try:
            result = recipe.what(decoder)  # type: ignore[operator]
        except Error as error:
            _fail(outcome, error)
        except Exception as error:
            what = f"{recipe.format}() raised {type(error).__name__}: {error}"
            raise _FunctionFailed(what) from error
        except BaseException as error:
            # SystemExit or KeyboardInterrupt, which would end the worker of dask.
            what = f"{recipe.format}() raised {type(error).__name__}"
            told = f"{what}: {error}" if str(error) else what
            outcome.error = InvalidArgumentError(f"{_shown(path)}: {told}")
        else:
            _write(output, _written(recipe, result))
        outcome.damage = decoder.damage
        outcome.restarts = decoder.recovery.restarts
        return outcome


def _shown(path: str) -> str:
    """Returns a path as it is in messages of the library."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _written(recipe: Recipe, result: Any) -> bytes:
    """Returns the bytes to write for the result of the user's function."""
    if isinstance(result, bytes):
        return result
    try:
        return _json(result)
    except (TypeError, ValueError, RecursionError) as error:
        raise _FunctionFailed(
            f"{recipe.format}() returned what JSON cannot hold: {error}; it can return bytes, "
            "None, or finite numbers, text, lists and dicts of them"
        ) from error


def _tell(stream: Any, outcome: _Outcome) -> _Outcome:
    """Sets the damage of the stream and the number of its lost workers."""
    outcome.damage = stream.damage()
    outcome.restarts = stream.recovery().restarts
    return outcome


def _json(value: Any) -> bytes:
    # allow_nan=False: json.dumps() would write NaN and infinities, which JSON has not.
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
