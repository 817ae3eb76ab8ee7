# SPDX-License-Identifier: Apache-2.0
"""Counts the results of a batch and tells of them: a line of progress while it runs, a
line for each failure, and a summary, all on stderr as the command has them."""

import dataclasses
import json
import sys
import time
from typing import Any, Dict, List, Optional, Set

from bulkhead._batch_decode import Loss
from bulkhead._batch_plan import Item
from bulkhead._batch_records import Record, text_of

_REDRAW_SECONDS = 0.1
_NEXT_LINE_SECONDS = 1.0
_TRIED_AGAIN = "; the same call tries them again"
_SHOWN_FAILURES = 10  # Of earlier runs.
# A carriage return, and the sequence that erases to the end of the line.
_START_OF_LINE = "\r\x1b[K"


@dataclasses.dataclass
class Summary:
    """How a batch ended. str() is for people, json() for programs: `bulkhead batch
    --json` has the same names.

    Attributes:
        files: How many the batch has.
        results: How many of them have a record: an output, or an error of their own.
        from_earlier_runs: How many of those records were there already.
        failed, damaged, noted: How many records have an error, damage without an error,
            or notes alone.
        restarts: How often a worker of Bulkhead was replaced in this run.
        frames, seconds: What this run has decoded, and how long it took.
        failures: input, sha256, code and message of each file that failed, and
            whether it did so in an earlier run; of files with the same contents that
            kill workers, one.
        poison: The hashes of the contents of `failures` that kill workers.
        copies_of_poison: How many more files have such contents.
        lost: input, code and message of each file that has no result.
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

    def json(self) -> str:
        """Returns all of it as one object of JSON."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    def frames_per_second(self) -> float:
        return self.frames / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        lines = [
            f"{self.results} of {self.files} files have results, {self.from_earlier_runs} of "
            f"them from earlier runs; {self.frames} frames in {self.seconds:.2f} s, "
            f"{self.frames_per_second():.0f} frames/s"
        ]
        if self.failed:
            copies = f", {self.copies_of_poison} of them copies of a file that kills workers"
            lines.append(f"{self.failed} failed{copies if self.copies_of_poison else ''}")
            earlier = [one["message"] for one in self.failures if one["from_earlier_run"]]
            lines += [f"in an earlier run: {text}" for text in earlier[:_SHOWN_FAILURES]]
            more = len(earlier) - _SHOWN_FAILURES
            if more > 0:
                lines.append(f"and {more} more in earlier runs: see manifest.jsonl")
        if self.damaged:
            lines.append(f"{self.damaged} decoded with damage")
        if self.noted:
            lines.append(f"{self.noted} decoded with notes alone")
        if self.restarts:
            lines.append(f"workers were replaced {self.restarts} times")
        if self.results < self.files:
            missing = self.files - self.results
            lines.append(f"{missing} have no result{_TRIED_AGAIN}")
        return "\n".join(map(_printable, lines))


class Report:
    """Counts into a Summary, and shows it on stderr.

    Args:
        files: How many the batch has.
        poison: The contents that earlier runs have named.
        progress: True shows progress, False shows nothing at all, None shows
            progress on terminals.
    """

    def __init__(self, files: int, poison: List[str], progress: Optional[bool]) -> None:
        self.summary = Summary(files)
        self._named: Set[str] = set(poison)
        self._on_terminal = sys.stderr.isatty()
        self._quiet = progress is False
        self._shown = self._on_terminal if progress is None else progress
        self._start = self._drawn = time.monotonic()

    def count_earlier(self, record: Record) -> None:
        """Counts a record of an earlier run."""
        self.summary.from_earlier_runs += 1
        self._count(record)
        if record["error"] is None:
            return
        if _is_poison(record) and record["sha256"] in self.summary.poison:
            self.summary.copies_of_poison += 1
        else:
            self._add_failure(record, earlier=True)

    def count_result(self, record: Record) -> None:
        """Counts a record of this run, and names its failure unless a file of the same
        contents was named that kills workers."""
        summary = self.summary
        self._count(record)
        summary.restarts += record["restarts"]
        if _is_poison(record) and record["sha256"] in self._named:
            # Its record is that of the first, whose frames are counted.
            summary.copies_of_poison += 1
            return self._draw()
        summary.frames += record["frames"] or 0
        if record["error"] is not None:
            self._add_failure(record, earlier=False)
            self._say(record["error"]["message"])
        self._draw()

    def count_loss(self, item: Item, loss: Loss) -> None:
        """Counts an input that has no result."""
        self.summary.lost.append(
            {"input": text_of(item.input), "code": loss.code, "message": loss.message}
        )
        self._say(loss.message)
        self._draw()

    def finish(self, ended: bool) -> Summary:
        """Ends the progress, shows the summary and returns it. `ended`: an error of no
        file has ended the call, and is raised by the caller."""
        self.summary.seconds = time.monotonic() - self._start
        if self._shown and self._on_terminal:
            sys.stderr.write(_START_OF_LINE)
        elif self._shown:
            self._draw(now=True)
        if not self._quiet:
            text = str(self.summary)
            if ended:
                text = text.replace(_TRIED_AGAIN, ": an error has ended the call")
            sys.stderr.write(f"{text}\n")
        return self.summary

    def _count(self, record: Record) -> None:
        self.summary.results += 1
        if record["error"] is not None:
            self.summary.failed += 1
        elif any(found.get("kind") != "note" for found in record["damage"]):
            self.summary.damaged += 1  # Older releases wrote no kind, and no notes.
        elif record["damage"]:
            self.summary.noted += 1

    def _add_failure(self, record: Record, earlier: bool) -> None:
        sha256 = record["sha256"]
        told = {"input": record["input"], "sha256": sha256, **record["error"]}
        self.summary.failures.append({**told, "from_earlier_run": earlier})
        if _is_poison(record):
            self.summary.poison.append(sha256)
            self._named.add(sha256)

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
        self.summary.seconds = time_now - self._start
        summary = self.summary
        line = (
            f"{summary.results}/{summary.files} files, "
            f"{summary.frames_per_second():.0f} frames/s, {summary.failed} failed, "
            f"{len(summary.lost)} lost"
        )
        sys.stderr.write(f"{_START_OF_LINE}{line}" if self._on_terminal else f"{line}\n")
        sys.stderr.flush()


def _is_poison(record: Record) -> bool:
    return record["error"] is not None and record["error"]["code"] == "kPoisonedInput"


def _printable(line: str) -> str:
    # A name or a message must not speak to the terminal.
    return "".join(c if c.isprintable() else "?" for c in line)
