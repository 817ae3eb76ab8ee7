# SPDX-License-Identifier: Apache-2.0
"""Every shared file through Python is, bit for bit, what the command decodes: every frame
as bytes, channels first; a batch of the first as floats, channels last; and sound."""

import concurrent.futures
import glob
import hashlib
import os
import subprocess
import unittest

import support
import bulkhead
import numpy
from bulkhead import Error
from bulkhead.decoders import AudioDecoder, VideoDecoder
from support import pixels

# Each is one file on one device; more would wait for memory and processors.
_AT_ONCE = 2
# The frames that are decoded to floats, which takes three times as long.
_FLOATS = 8


# On another device than cpu, one file of so many: tests/media compares the frames of
# the devices, and the package treats all devices alike.
_EVERY = 4


def media(device):
    directory = support.shared("media")
    paths = [
        path
        for path in sorted(glob.glob(os.path.join(directory, "*")))
        if not path.endswith((".framemd5", ".tsv", ".md"))
    ]
    return paths if device == "cpu" else paths[::_EVERY]


def cli_hash(*arguments):
    """Returns the hash of what the command writes, or None if it fails."""
    process = subprocess.Popen(
        [support.cli_program(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    digest = hashlib.md5()
    while data := process.stdout.read(1 << 20):
        digest.update(data)
    process.stdout.close()
    return digest.hexdigest() if process.wait() == 0 else None


def bytes_hash(path, device):
    digest = hashlib.md5()
    try:
        stream = first_stream(path, "video")
        options = {"stream_index": stream, "device": device, "on_corrupt": "skip"}
        for frame in VideoDecoder(path, **options).frames():
            digest.update(support.moved(frame.data))  # The same memory, in rows.
    except Error:
        return None
    return digest.hexdigest()


def floats_hash(path, device):
    try:
        batch = VideoDecoder(
            path,
            stream_index=first_stream(path, "video"),
            device=device,
            on_corrupt="skip",
            output_dtype="float32",
            dimension_order="NHWC",
        ).get_frames_in_range(0, _FLOATS)
    except Error:
        return None
    return hashlib.md5(pixels(batch.data, "NHWC")).hexdigest()


def first_stream(path, kind):
    """Returns the stream that the command decodes: the first one, not the best."""
    for stream in bulkhead.probe(path).streams:
        if stream.kind == kind and not stream.is_cover:
            return stream.index
    return None


def sound_hash(path, device):
    try:
        decoder = AudioDecoder(
            path, stream_index=first_stream(path, "audio"), device=device, on_corrupt="skip"
        )
        data = decoder.get_all_samples().data
    except Error:
        return None
    # The command writes sample after sample, each of every channel.
    return hashlib.md5(numpy.ascontiguousarray(numpy.asarray(data).T)).hexdigest()


@support.on_each_device
class SharedMedia(unittest.TestCase):
    def compare(self, hash_here, arguments):
        """Compares the files; returns the share of them that gave something to
        compare."""

        def both(path):
            common = [path, "--device", self.device, "--on-corrupt", "skip", "-o", "-"]
            return path, hash_here(path), cli_hash("decode", *common, *arguments)

        paths = media(self.device)
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
            results = list(pool.map(both, paths))
        decoded = 0
        for path, here, there in results:
            with self.subTest(os.path.basename(path)):
                self.assertEqual(here, there)
                decoded += there is not None
        return decoded / len(paths)

    def test_video_in_bytes_channels_first(self):
        share = self.compare(
            lambda path: bytes_hash(path, self.device), ["--format", "rawvideo"]
        )
        self.assertGreater(share, 0.4)

    def test_video_in_floats_channels_last(self):
        share = self.compare(
            lambda path: floats_hash(path, self.device),
            ["--format", "rawvideo", "--dtype", "float32", "--frames", f"0:{_FLOATS}"],
        )
        self.assertGreater(share, 0.4)

    def test_sound(self):
        share = self.compare(
            lambda path: sound_hash(path, self.device), ["--audio", "--format", "f32le"]
        )
        self.assertGreater(share, 0.25)


if __name__ == "__main__":
    support.main()
