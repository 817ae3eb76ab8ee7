# SPDX-License-Identifier: Apache-2.0
"""Reports the results of a batch on stderr: a line of progress while it runs, a line for
each failure, and a summary. The texts are the engine's, as those of `bulkhead batch`."""

import dataclasses
import json
import sys
import time
from typing import Any, Dict, List, Optional

from bulkhead import _core
from bulkhead._batch_decode import Loss, Result
from bulkhead._batch_recipe import Item

_REDRAW_SECONDS = 0.1
_NEXT_LINE_SECONDS = 1.0
_TRIED_AGAIN = "; the same call tries them again"
# A carriage return, and the sequence that erases to the end of the line.
_START_OF_LINE = "\r\x1b[K"


@dataclasses.dataclass
class Summary:
    """The result of a batch. str() is for people, json() for programs, with the names of
    `bulkhead batch --json`.

    Attributes:
        files: The number of files in the batch.
        results: The number of files with a record: an output, or an error of the file.
        from_earlier_runs: The number of records that earlier runs have written.
        failed, damaged, noted: The numbers of records with an error, with damage and no
            error, and with nothing but notes.
        restarts: How often a worker of Bulkhead was replaced in this run.
        frames, seconds: The number of frames that this run has decoded, and its time.
        failures: input, sha256, code and message of each file that failed, and
            whether it failed in an earlier run. Of several files with the same contents
            that kill workers, only one is listed.
        poison: The hashes of the contents in `failures` that kill workers.
        copies_of_poison: The number of further files with such contents.
        lost: input, code and message of each file without a result.
    """

    files: int
    results: int = 0
    from_earlier_runs: int = 0
    failed: int = 0
    damaged: int = 0
    noted: int = 0
    restarts: int = 0
    frames: int = 0
    seconds: float = 0.0
    failures: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    poison: List[str] = dataclasses.field(default_factory=list)
    copies_of_poison: int = 0
    lost: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    _text: str = dataclasses.field(default="", repr=False, compare=False)

    def json(self) -> str:
        """Returns all attributes as one JSON object."""
        facts = dataclasses.asdict(self)
        del facts["_text"]
        return json.dumps(facts, indent=2)

    def frames_per_second(self) -> float:
        return self.frames / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        return self._text


class Report:
    """Counts results, and shows them on stderr.

    Args:
        files: The number of files in the batch.
        progress: True shows progress, False shows nothing at all, None shows
            progress on terminals.
    """

    def __init__(self, files: int, progress: Optional[bool]) -> None:
        self._counted = _core.BatchSummary(files)
        self._on_terminal = sys.stderr.isatty()
        self._quiet = progress is False
        self._shown = self._on_terminal if progress is None else progress
        self._drawn = time.monotonic()

    def count_earlier(self, record: str) -> None:
        """Counts a record of an earlier run."""
        self._counted.count_earlier(record)

    def count_result(self, result: Result) -> None:
        """Counts a record of this run. Shows its error, unless an error of the same contents
        was shown before."""
        failure = self._counted.count_result(result.record, result.copy_of_poison)
        if failure:
            self._say(failure)
        self._draw()

    def count_loss(self, item: Item, loss: Loss) -> None:
        """Counts and shows an input that has no result."""
        self._counted.count_loss(item, loss.code, loss.message)
        self._say(loss.message)
        self._draw()

    def finish(self, ended: bool) -> Summary:
        """Ends the line of progress, shows the summary and returns it. `ended` is True if an
        error that is not a file's has ended the call."""
        if self._shown and self._on_terminal:
            sys.stderr.write(_START_OF_LINE)
        elif self._shown:
            self._draw(now=True)
        of_missing = ": an error has ended the call" if ended else _TRIED_AGAIN
        text = "\n".join(map(_printable, self._counted.lines(of_missing)))
        if not self._quiet:
            sys.stderr.write(f"{text}\n")
        return Summary(**json.loads(self._counted.facts()), _text=text)

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        if self._shown and self._on_terminal:
            sys.stderr.write(_START_OF_LINE)
        sys.stderr.write(f"bulkhead: {_printable(line)}\n")

    def _draw(self, now: bool = False) -> None:
        time_now = time.monotonic()
        pause = _REDRAW_SECONDS if self._on_terminal else _NEXT_LINE_SECONDS
        if not self._shown or (not now and time_now - self._drawn < pause):
            return
        self._drawn = time_now
        line = self._counted.progress_line()
        sys.stderr.write(f"{_START_OF_LINE}{line}" if self._on_terminal else f"{line}\n")
        sys.stderr.flush()


def _printable(line: str) -> str:
    # A name or a message could contain control sequences of the terminal.
    return "".join(c if c.isprintable() else "?" for c in line)
