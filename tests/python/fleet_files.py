# SPDX-License-Identifier: Apache-2.0
"""The files of tests that decode many of them, and what libav makes of one in this process.

Import it after `support`.
"""

import csv
import hashlib
import os
import pathlib
import random
import subprocess

from cluster import make_inputs

LARGE_PIXELS = 30e6  # A fifth of the sample files has more, and five sixths of all pixels.


def shared_files():
    """Returns the good files of BULKHEAD_SHARED, each with the number of its frames, the
    large ones of these, and the hostile files."""
    root = pathlib.Path(os.environ["BULKHEAD_SHARED"])
    with open(root / "media/MANIFEST.tsv", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["decode_video"] == "ok"
        ]
    good = {root / "media" / row["file"]: int(row["decode_video_frames"]) for row in rows}
    large = {
        root / "media" / row["file"]
        for row in rows
        if int(row["decode_video_frames"]) * int(row["width"]) * int(row["height"]) > LARGE_PIXELS
    }
    hostile = [path for path in (root / "hostile").iterdir() if path.suffix not in (".tsv", ".md")]
    return good, large, sorted(hostile)


def made_files(directory):
    """Returns clips, each with the number of its frames, none of them large, and clips with
    damage inside and a missing end."""
    clips = [path for path in make_inputs(directory) if path.name.startswith("clip")]
    good = {path: (number % 3 + 1) * 24 for number, path in enumerate(clips, 1)}
    hostile = []
    chance = random.Random(7)
    for number, path in enumerate(clips):
        content = bytearray(path.read_bytes())
        for _ in range(1 << number):
            content[chance.randrange(len(content))] = chance.randrange(256)
        hostile.append(directory / f"hostile{number}.mp4")
        hostile[-1].write_bytes(content[: len(content) - number * 100])
    return good, set(), hostile


def is_damaged_for_ffmpeg(path):
    """Returns whether ffmpeg decodes a file and yet calls frames of it corrupt. They are an
    error of the file to decode_files()."""
    done = subprocess.run(
        ["ffmpeg", "-v", "warning", "-i", path, "-map", "0:v:0", "-f", "null", "-"],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True,
    )  # fmt: skip
    return b"corrupt decoded frame" in done.stderr


def frames_by_libav(path):
    """Decodes a file in this process, as decode_files() has workers of Bulkhead do, and
    returns the number of its frames; None if the file is damaged."""
    import av

    frames = 0
    try:
        # No playlist may have it open what it names.
        with open(path, "rb") as file, av.open(
            file, options={"protocol_whitelist": "pipe"}
        ) as container:
            container.streams.video[0].thread_count = 1
            for frame in container.decode(video=0):
                hashlib.md5(frame.to_ndarray(format="rgb24")).digest()
                frames += 1
    except (av.AVError, IndexError, ValueError, OSError):
        return None
    return frames
