# SPDX-License-Identifier: Apache-2.0
"""Thousands of files, hostile ones among them, on a cluster of dask whose workers are
killed and whose backends crash.

The run is short unless FLEET_FILES says how many files there are, FLEET_KILL_SECONDS how
often a worker of dask is killed, and FLEET_CRASH_FILES after how many files a backend
crashes, as `tools/endure fleet` does. The long run does the same work with libav in the
workers themselves too. The files are from BULKHEAD_SHARED, under names of their own,
or else clips that this test makes and damages. It prints what it measured.
"""

import contextlib
import functools
import itertools
import os
import pathlib
import signal
import subprocess
import threading
import time

import support
from cluster import (
    ClusterCase,
    decoding_pids,
    hashes_by_ffmpeg,
    hashes_in,
    lines_of,
    records_in,
    records_of,
)
from fleet_files import frames_by_libav, is_damaged_for_ffmpeg, made_files, shared_files

if support.has_dask():
    import distributed
    from bulkhead.distributed import decode_files

FILES = int(os.environ.get("FLEET_FILES", "40"))
# The short run kills by files that are done: by the clock, a slow machine would lose a
# file that takes longer than three kills.
KILL_SECONDS = float(os.environ.get("FLEET_KILL_SECONDS", "0"))
KILL_FILES = 12
CRASH_FILES = int(os.environ.get("FLEET_CRASH_FILES", "10"))
LOOK_SECONDS = FILES / 10000  # Counting what is done takes longer, the more there is.
HOSTILE = max(6, round(0.03 * FILES))
KINDS = 12  # Different good files in the short run.
LARGE_ROUNDS = 10  # Rounds of the good files of which one has the large ones.
# A hostile file may take so long, and none of the good ones does.
DEADLINES = {"open": 20, "scan": 20, "seek": 20, "frame": 20}
LONELY_SECONDS = 60
LIBAV_SECONDS = 0.15  # A file, before libav in the workers is stopped.
SCARCE_MEMORY = "3GiB"  # For a worker of dask: some hostile files want all there is.


def rounds(kinds, large):
    """Yields the kinds again and again, the large ones each LARGE_ROUNDS rounds."""
    for number in itertools.count():
        for kind in kinds:
            if kind not in large or number % LARGE_ROUNDS == 0:
                yield kind


class Harm:
    """Kills a worker of dask each KILL_SECONDS, or else each KILL_FILES files, and crashes
    a process that decodes each CRASH_FILES files, until the context ends."""

    def __init__(self, cluster, done, crash):
        self._cluster = cluster
        self._done = done  # Returns how many files are done.
        self._crash = crash  # Crashes one such process; returns whether it did.
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=one) for one in (self._kill, self._crash_all)]
        self.kills = self.crashes = 0

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _kill(self):
        due = KILL_FILES
        while not self._stop.wait(KILL_SECONDS or LOOK_SECONDS):
            if KILL_SECONDS or self._done() >= due:
                killed = signal_one(self._cluster, signal.SIGKILL, self.kills)
                self.kills += killed
                due += KILL_FILES * killed

    def _crash_all(self):
        due = CRASH_FILES
        while not self._stop.wait(LOOK_SECONDS):
            if self._done() >= due and self._crash():
                self.crashes += 1
                due += CRASH_FILES


def signal_one(cluster, number, turn):
    """Sends a signal to one of the workers of dask in turn; returns whether it did.

    Dask replaces a worker that dies, but gives up one that dies while it starts. So all
    have to be there.
    """
    processes = [nanny.process for nanny in list(cluster.workers.values())]
    if not processes or any(
        process is None or process.status is not distributed.Status.running
        for process in processes
    ):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(processes[turn % len(processes)].pid, number)
        return True
    return False


def crash_a_session(cluster):
    """Crashes a process in which Bulkhead decodes a file for the cluster."""
    for pid in decoding_pids(cluster):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSEGV)
            return True
    return False


@support.needs_dask
class FleetCase(ClusterCase):
    @classmethod
    def options(cls):
        return {"memory_limit": SCARCE_MEMORY}

    def setUp(self):
        super().setUp()
        if os.environ.get("BULKHEAD_SHARED"):
            good, large, hostile = shared_files()
        else:
            good, large, hostile = made_files(self.root / "made")
        kinds = sorted(good)
        # Evenly over the names, which begin with the source's.
        if FILES < len(kinds):
            kinds = kinds[:: max(1, len(kinds) // KINDS)]
        # By ffmpeg of this machine: the hashes of RGB depend on its instructions.
        self.sound = {
            path: hashes_by_ffmpeg(path) for path in kinds if not is_damaged_for_ffmpeg(path)
        }
        for path, hashes in self.sound.items():
            self.assertEqual(len(hashes), good[path], path.name)
        self.kind_of = {}
        inputs = self.root / "in"
        inputs.mkdir()
        every = max(2, FILES // HOSTILE)
        sound = rounds(list(self.sound), large)
        for number in range(FILES):
            if number % every == every - 1:
                kind = hostile[number // every % len(hostile)]
            else:
                kind = next(sound)
            link = inputs / f"{number:06}-{kind.name}"
            link.symlink_to(kind)
            self.kind_of[link] = kind
        self.hostile = [link for link, kind in self.kind_of.items() if kind not in self.sound]


class Fleet(FleetCase):
    def decode(self):
        return decode_files(
            self.client,
            list(self.kind_of),
            "framemd5",
            self.root / "out",
            host_options={"deadlines": DEADLINES},
        )

    def test_loses_nothing_and_repeats_nothing(self):
        out = self.root / "out"
        crash = functools.partial(crash_a_session, self.cluster)
        with Harm(self.cluster, lambda: records_in(out), crash) as harm:
            summary = self.decode()
        lost = {pathlib.Path(one["input"]) for one in summary.lost}
        self.assertEqual([link.name for link in lost if link not in self.hostile], [])
        self.assertEqual(summary.results + len(lost), FILES)
        self.assertGreater(harm.kills, 0)
        self.assertGreater(harm.crashes, 0)

        lines = {pathlib.Path(line["input"]): line for line in lines_of(out)}
        self.assertEqual(len(lines), summary.results)
        frames = 0
        for link, kind in self.kind_of.items():
            if kind not in self.sound:
                continue
            self.assertIsNone(lines[link]["error"], link.name)
            text = (out / lines[link]["output"]).read_text()
            self.assertEqual(hashes_in(text), self.sound[kind], link.name)
            frames += lines[link]["frames"]
        # Each poison is named once, whatever its names are.
        self.assertEqual(len(summary.poison), len(set(summary.poison)))
        poisoned = [
            line["sha256"]
            for line in lines.values()
            if line["error"] and line["error"]["code"] == "kPoisonedInput"
        ]
        self.assertEqual(set(poisoned), set(summary.poison))
        self.assertEqual(len(poisoned) - len(set(poisoned)), summary.copies_of_poison)

        # What was lost to a limit is all that another run tries again.
        again = self.decode()
        self.assertEqual(again.from_earlier_runs, summary.results)
        if not lost:
            self.assertEqual(again.frames, 0)
        print(
            f"fleet: Bulkhead: {FILES} files, {len(self.hostile)} of them hostile, in "
            f"{summary.seconds:.1f} s: {FILES / summary.seconds:.1f} files/s, "
            f"{frames / summary.seconds:.0f} good frames/s; {harm.kills} workers of dask "
            f"killed, {harm.crashes} backends crashed, {summary.restarts} restarts; 0 good "
            f"files lost, 0 differ; {len(summary.poison)} poison, {summary.failed} failed, "
            f"{len(lost)} over a limit",
            flush=True,
        )
        self.assert_shards_agree(out)

    def assert_shards_agree(self, out):
        """Has two shards of `bulkhead batch`, at once, do the same work, and compares
        what they leave with `out`."""
        listed = self.root / "list"
        listed.write_text("".join(f"{link}\n" for link in self.kind_of))
        shards = self.root / "shards"
        command = [support.cli_program(), "--quiet"]
        for what, seconds in DEADLINES.items():
            command += ["--limit", f"{what}-ms={seconds * 1000}"]
        command += ["batch", "--files-from", listed, "--jobs", "1", "-o", shards, "--shard"]
        begin = time.monotonic()
        running = [
            subprocess.Popen([*command, f"{shard}/2"], stderr=subprocess.DEVNULL)
            for shard in (1, 2)
        ]
        for process in running:
            # 3: some files have errors. 4: what was lost to a limit is tried by another run.
            self.assertIn(process.wait(), (0, 3, 4))
        seconds = time.monotonic() - begin
        lines, others = (
            {line["input"]: line for line in records_of(directory)} for directory in (out, shards)
        )
        both = lines.keys() & others.keys()
        for link, kind in self.kind_of.items():
            if kind in self.sound:
                self.assertIn(str(link), both)
        for link in both:
            self.assertEqual(facts(lines[link]), facts(others[link]))
            if output := lines[link]["output"]:
                self.assertEqual((out / output).read_bytes(), (shards / output).read_bytes())
        print(
            f"fleet: two shards of bulkhead batch: {FILES / seconds:.1f} files/s; "
            f"{len(both)} lines agree, {len(lines.keys() ^ others.keys())} are in one manifest only",
            flush=True,
        )


def facts(line):
    """Returns what a line says of a file, but for the deaths of processes on the way."""
    kept = {key: value for key, value in line.items() if key != "restarts"}
    if line["error"] and line["error"]["code"] == "kPoisonedInput":
        kept["error"] = line["error"]["code"]  # Its text has the last death.
    return kept


class FleetWithoutBulkhead(FleetCase):
    def test_what_libav_in_the_workers_loses(self):
        # Measures, and expects nothing but an end: no promise is Bulkhead's here.
        results = {}

        def crash():
            return signal_one(self.cluster, signal.SIGSEGV, harm.crashes)

        begin = time.monotonic()
        with Harm(self.cluster, lambda: len(results), crash) as harm:
            futures = self.client.map(frames_by_libav, list(map(str, self.kind_of)), retries=2)
            link_of = dict(zip(futures, self.kind_of))
            done = distributed.as_completed(futures, with_results=True, raise_errors=False)
            # Results that a worker held die with it and are computed again, without an
            # end; Bulkhead is done in less time.
            limit = threading.Timer(60 + LIBAV_SECONDS * FILES, self.client.cancel, [futures])
            limit.start()
            ended = threading.Event()
            watch = threading.Thread(target=self.give_up_without_workers, args=(futures, ended))
            watch.start()
            for future, result in done:
                if future.status != "cancelled":
                    error = result[1] if future.status == "error" else None
                    results[link_of[future]] = (error, result)
            limit.cancel()
            ended.set()
            watch.join()
        seconds = time.monotonic() - begin
        good = [link for link, kind in self.kind_of.items() if kind in self.sound]
        killed = {link for link, (error, _) in results.items() if error is not None}
        lost = [link for link in good if link not in results or link in killed]
        frames = sum(results[link][1] for link in good if link not in lost and results[link][1])
        print(
            f"fleet: libav in the workers of dask: {FILES} files, {len(self.hostile)} of them "
            f"hostile, in {seconds:.1f} s: {len(results) / seconds:.1f} files/s, "
            f"{frames / seconds:.0f} good frames/s; {harm.kills} workers of dask killed, "
            f"{harm.crashes} crashed; {len(lost)} good files lost, "
            f"{FILES - len(results)} not finished, {len(self.client.scheduler_info()['workers'])}"
            " of 2 workers left",
            flush=True,
        )

    def give_up_without_workers(self, futures, ended):
        """Cancels the futures once the cluster has had no worker for LONELY_SECONDS: dask
        gives up a worker that dies while it starts."""
        seen = time.monotonic()
        # bound: the pause between two looks.
        while not ended.wait(1):
            if self.client.scheduler_info()["workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > LONELY_SECONDS:
                self.client.cancel(futures)
                return


if "FLEET_FILES" not in os.environ:  # As in the short run.
    del FleetWithoutBulkhead

if __name__ == "__main__":
    support.main()
