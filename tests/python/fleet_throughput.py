# SPDX-License-Identifier: Apache-2.0
"""Measures decode_files() beside libav in the same workers of dask, in turns. It asserts
that both saw the same number of frames, and prints how many times the work of libav was
done in the same time: 1 if Bulkhead costs nothing.

libav does less: it makes RGB and its MD5, and neither hashes the input nor writes an
output and a record. Left out are files that kill it and those that ffmpeg calls damaged.
"""

import functools
import multiprocessing
import os
import pathlib
import shutil
import statistics
import time

import support
from cluster import ClusterCase
from fleet_files import frames_by_libav, is_damaged_for_ffmpeg, made_files, shared_files

if support.has_dask():
    from bulkhead.distributed import decode_files

ROUNDS = int(os.environ.get("THROUGHPUT_ROUNDS", "5"))
# So many names for each of the small files: a round takes as long as one of all files.
NAMES = 6


def is_fatal_to_libav(path):
    """Returns whether libav kills the process in which it decodes a file."""
    process = multiprocessing.get_context("spawn").Process(target=frames_by_libav, args=(path,))
    process.start()
    process.join()
    return process.exitcode != 0


@support.needs_dask
class Throughput(ClusterCase):
    def setUp(self):
        super().setUp()
        if os.environ.get("BULKHEAD_SHARED"):
            good, self.large, _ = shared_files()
        else:
            good, self.large, _ = made_files(self.root / "made")
        self.good = [
            path
            for path in sorted(good)
            if not is_damaged_for_ffmpeg(path) and not is_fatal_to_libav(path)
        ]

    def test_on_all_files(self):
        self.measure("all files", self.good)

    def test_on_small_files(self):
        small = [path for path in self.good if path not in self.large]
        self.measure("small files", NAMES * small)

    def measure(self, what, paths):
        inputs = self.root / "in"
        inputs.mkdir()
        links = []
        for number, path in enumerate(paths):
            links.append(inputs / f"{number:06}-{path.name}")
            links[-1].symlink_to(path)
        sides = [
            functools.partial(self.frames_by_bulkhead, links),
            functools.partial(self.frames_by_libav, links),
        ]
        ratios = []
        # The first round starts what each process starts once, and counts for neither.
        for turn in range(ROUNDS + 1):
            seconds, frames = {}, {}
            for side in sides if turn % 2 else sides[::-1]:
                begin = time.monotonic()
                frames[side] = side()
                seconds[side] = time.monotonic() - begin
            bulkhead, libav = (seconds[side] for side in sides)
            self.assertEqual(*(frames[side] for side in sides))
            print(
                f"throughput: {what}, round {turn}: {len(links)} files, {frames[sides[0]]} frames, "
                f"Bulkhead {bulkhead:.2f} s, libav {libav:.2f} s, {libav / bulkhead:.3f}",
                flush=True,
            )
            if turn > 0:
                ratios.append(libav / bulkhead)
        print(f"throughput: {what}: median {statistics.median(ratios):.3f}", flush=True)

    def frames_by_bulkhead(self, links):
        out = self.root / "out"
        summary = decode_files(self.client, links, "framemd5", out, progress=False)
        self.assertEqual((summary.failed, summary.lost), (0, []))
        shutil.rmtree(out)
        return summary.frames

    def frames_by_libav(self, links):
        futures = self.client.map(frames_by_libav, list(map(str, links)), pure=False)
        return sum(self.client.gather(futures))


if __name__ == "__main__":
    support.main()
