# SPDX-License-Identifier: Apache-2.0
"""Shared files through Python are, bit for bit, what the command decodes: every frame as
bytes, channels first; a batch of the first as floats, channels last; and sound. That the
pictures and samples of all files are ffmpeg's is tested by tests/media."""

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

# The frames that are decoded to floats.
_FLOATS = 8

# One for each way in which Python and the command may part: a cover beside the video,
# damage, a picture that is turned, of an odd size, of 12 bits, a cover alone, several
# tracks of sound, six channels, one, and no sample.
_FILES = (
    "auto-editor__h264-png.mp4",
    "decord__corrupted.mp4",
    "torchcodec__nasa_13013_rotated.mp4",
    "media__bear-vp9-odd-dimensions.webm",
    "torchcodec__testsrc2_444_12bit_hevc.mp4",
    "media__bear_with_picture.flac",
    "mediabunny__multiple-aac-tracks.mp4",
    "flac-test-files__41_-_6_channels_5.1_.flac",
    "media__bbb_1ch_8kHz_aac_lc.aac",
    "small__wav.wav",
)
_WITH_VIDEO = 6
_WITH_SOUND = 6


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
        """Compares the files; returns how many of them gave something to compare."""
        directory = support.shared("media")
        decoded = 0
        for name in _FILES:
            with self.subTest(name):
                path = os.path.join(directory, name)
                common = [path, "--device", self.device, "--on-corrupt", "skip", "-o", "-"]
                there = cli_hash("decode", *common, *arguments)
                self.assertEqual(hash_here(path), there)
                decoded += there is not None
        return decoded

    def test_video_in_bytes_channels_first(self):
        decoded = self.compare(
            lambda path: bytes_hash(path, self.device), ["--format", "rawvideo"]
        )
        self.assertEqual(decoded, _WITH_VIDEO)

    def test_video_in_floats_channels_last(self):
        decoded = self.compare(
            lambda path: floats_hash(path, self.device),
            ["--format", "rawvideo", "--dtype", "float32", "--frames", f"0:{_FLOATS}"],
        )
        self.assertEqual(decoded, _WITH_VIDEO)

    def test_sound(self):
        decoded = self.compare(
            lambda path: sound_hash(path, self.device), ["--audio", "--format", "f32le"]
        )
        self.assertEqual(decoded, _WITH_SOUND)


if __name__ == "__main__":
    support.main()
