# SPDX-License-Identifier: Apache-2.0
"""torch's DataLoader over a folder of 200 short clips, of which 20 are hostile, while
workers of Bulkhead are killed."""

import os
import pathlib
import random
import shutil
import signal
import unittest

import support
import bulkhead
from bulkhead.decoders import VideoDecoder
from support import ffmpeg, pixels, reference

CLIPS = 200
FRAMES = 5
HOSTILE = range(7, CLIPS, 10)  # 20 of them.
WIDTH, HEIGHT = 96, 64
KILLED = 100  # The worker of this clip is killed while it is read.


def make_clips(folder):
    """Makes the clips, all good, by one ffmpeg, and returns their frames' pixels: a
    clip of all of them is cut at its keyframes."""
    whole = str(folder / "whole.mp4")
    ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=size={WIDTH}x{HEIGHT}:rate=25:duration={CLIPS * FRAMES / 25}",
        "-c:v", "libx264", "-preset", "veryfast", "-g", str(FRAMES), "-keyint_min", str(FRAMES),
        "-sc_threshold", "0", "-bf", "2", "-pix_fmt", "yuv420p", whole,
    )  # fmt: skip
    ffmpeg(
        "-i", whole, "-c", "copy", "-f", "segment", "-segment_time", str(FRAMES / 25),
        "-reset_timestamps", "1", str(folder / "%03d.mp4"),
    )  # fmt: skip
    frames = reference(whole, WIDTH, HEIGHT)
    os.remove(whole)
    return [frames[at : at + FRAMES] for at in range(0, len(frames), FRAMES)]


def spoil(paths):
    """Makes 15 clips hostile, each in one of four ways, and 5 more of what others made
    to break decoders, or in the same ways where that is not there."""
    chance = random.Random(16)
    shared = os.environ.get("BULKHEAD_SHARED") or "../shared"
    crashers = sorted(pathlib.Path(shared).glob("hostile/AFL__*"))
    for number, path in enumerate(paths):
        if number >= 15 and crashers:
            shutil.copyfile(crashers[number % len(crashers)], path)
            continue
        good = path.read_bytes()
        ways = (
            good[: len(good) // 2],  # The index, at the end, is lost.
            chance.randbytes(len(good)),
            b"",
            good.replace(b"avcC", b"avc\xff"),  # No decoder can begin.
        )
        path.write_bytes(ways[number % len(ways)])


class Folder:
    """A data set of clips: (index, frames or None, deaths of workers or the error)."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        try:
            with VideoDecoder(self.paths[index]) as decoder:
                if index == KILLED:
                    decoder[0]
                    os.kill(decoder.worker_pid, signal.SIGKILL)
                data = decoder.get_all_frames().data
                return index, data, decoder.recovery.restarts
        except bulkhead.Error as error:
            return index, None, f"{type(error).__name__}: {error}"


def as_they_are(items):
    return items


@support.needs_torch
@support.needs_semaphores
class Training(unittest.TestCase):
    def test_every_good_clip_is_the_reference(self):
        from torch.utils.data import DataLoader

        folder = pathlib.Path(support.clip_directory()) / "clips"
        folder.mkdir()
        wanted = make_clips(folder)
        paths = sorted(folder.iterdir())
        self.assertEqual((len(paths), len(wanted)), (CLIPS, CLIPS))
        spoil([paths[index] for index in HOSTILE])
        loader = DataLoader(
            Folder(paths),
            batch_size=8,
            num_workers=4,
            collate_fn=as_they_are,
        )
        seen = {index: (data, told) for batch in loader for index, data, told in batch}
        self.assertEqual(list(seen), list(range(CLIPS)))
        for index, (data, told) in seen.items():
            if index in HOSTILE[:15]:
                self.assertIsNone(data, paths[index])
            elif index not in HOSTILE:
                self.assertIsNotNone(data, told)
                self.assertEqual([pixels(frame) for frame in data], wanted[index], index)
                self.assertEqual(told, 1 if index == KILLED else 0)


if __name__ == "__main__":
    support.main()
