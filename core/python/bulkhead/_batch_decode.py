# SPDX-License-Identifier: Apache-2.0
"""Decodes one input of a batch, and writes its output and its record.

The engine of `bulkhead batch` (core/application/batch) does it, except for what is
Python's: calls of the user's function, contact sheets and probes.

An attempt ends in one of three ways. An error of the file is its result: it gets a
record and is not tried again. A failure of the backend, or an exceeded deadline or limit,
is a loss: the engine raises it, and the caller may try again. A disk that takes no
output, or a machine without a sandbox, would fail every input: that is raised too, and
ends the batch.
"""

import dataclasses
import json
import math
import os
from typing import Any, Callable, Dict, List, Optional, Union

from bulkhead import _core, _pictures
from bulkhead._batch_recipe import FRAME_FORMATS, Item, Recipe
from bulkhead._errors import Error, InvalidArgumentError
from bulkhead._host import Host
from bulkhead._video import VideoDecoder


@dataclasses.dataclass(frozen=True)
class Result:
    """The record of an input, a line of JSON. `copy_of_poison` is True if the error of an
    input with the same contents was reported before."""

    record: str
    copy_of_poison: bool = False


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

    `makers` is HostPlugin.makers. Raises an error of which _core.is_loss() is true,
    SandboxUnavailableError, or OSError if the directory takes no output.
    """
    path = recipe.path_of(item)
    batch = recipe.batch()
    # An earlier attempt may have written the record, and died before it returned it.
    found = batch.find(item, path)
    if found is not None:
        return Result(found)
    has_frames = recipe.what in FRAME_FORMATS
    attempt = batch.begin(item, path, recipe.suffix, makers, has_frames)
    try:
        verdict = attempt.known or _decode(recipe, host, device, path, attempt)
    except _FunctionFailed as failure:
        return Loss("kInvalidArgument", f"{_core.record_text(item.input)}: {failure}")
    if verdict.record is None:
        return Loss(verdict.code, verdict.message)
    return Result(verdict.record, verdict.copy_of_poison)


def _decode(
    recipe: Recipe, host: Host, device: str, path: str, attempt: _core.BatchAttempt
) -> _core.BatchVerdict:
    if recipe.what in FRAME_FORMATS:
        chosen = (recipe.frames or "", recipe.at or "")
        options = recipe.video_options(device)
        return attempt.decode_video(host.core(), options, recipe.format, *chosen)
    if recipe.what == "wav":
        return attempt.decode_audio(host.core(), recipe.audio_options(device), recipe.format)
    decoders: Dict[Any, Callable[..., None]] = {"sheet": _decode_sheet, "probe": _probe}
    outcome = _Outcome()
    try:
        decoders.get(recipe.what, _call)(recipe, host, device, path, attempt.output, outcome)
    except Error as error:
        _fail(outcome, error)
    failure = outcome.error
    code, message = ("", "") if failure is None else (failure.code, str(failure))
    return attempt.finish(
        code,
        message,
        outcome.frames,
        outcome.frame_count,
        outcome.frame_count_from_header,
        outcome.damage,
        outcome.restarts,
    )


def _fail(outcome: _Outcome, error: Error) -> None:
    # A traceback refers to the outcome and to the stream. This would be a cycle, which
    # keeps the stream's memory and worker until Python's collector runs.
    outcome.error = error.with_traceback(None)


def _decode_sheet(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> None:
    source = _core.Source.from_path(os.fsencode(path))
    stream = host.core().open_video(source, recipe.video_options(device))
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
    outcome.damage = stream.damage()
    outcome.restarts = stream.recovery().restarts


def _probe(
    recipe: Recipe, host: Host, device: str, path: str, output: str, outcome: _Outcome
) -> None:
    found = host.probe(path, device=device)
    _write(output, _json(_members(found)))


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
) -> None:
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


def _json(value: Any) -> bytes:
    # allow_nan=False: json.dumps() would write NaN and infinities, which JSON has not.
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
