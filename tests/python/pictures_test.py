# SPDX-License-Identifier: Apache-2.0
"""Notebooks show a Frame as a picture and a FrameBatch as a contact sheet (_repr_png_)."""

import hashlib
import struct
import subprocess
import unittest

import support
from bulkhead import Frame, FrameBatch
from bulkhead.decoders import VideoDecoder
from support import clip, reference, run_python


def size_of(png):
    """Returns (width, height), from the header."""
    return struct.unpack(">II", png[16:24])


def decoded(png):
    """Returns the pixels of a PNG as ffmpeg decodes them: bytes of RGB24."""
    command = "ffmpeg -v error -f image2pipe -c:v png -i - -f rawvideo -pix_fmt rgb24 -"
    shown = subprocess.run(command.split(), input=png, check=True, stdout=subprocess.PIPE)
    return support.Pixels(shown.stdout)


def halved(picture):
    """Returns the rows of every other row and column of a picture of 320x240."""
    rows = []
    for y in range(0, 240, 2):
        row = bytearray(160 * 3)
        for channel in range(3):
            row[channel::3] = picture[960 * y + channel : 960 * (y + 1) : 6]
        rows.append(bytes(row))
    return rows


class Pictures(unittest.TestCase):
    def test_a_frame_shows_its_pixels(self):
        for order in ("NCHW", "NHWC"):
            for lease in (False, True):
                decoder = VideoDecoder(clip(), dimension_order=order)
                png = decoder.get_frame_at(7, lease=lease)._repr_png_()
                self.assertEqual(size_of(png), (320, 240))
                self.assertEqual(decoded(png), reference(clip())[7])

    def test_floats_are_rounded(self):
        decoder = VideoDecoder(clip(), output_dtype="float32")
        shown = decoded(decoder.get_frame_at(7)._repr_png_())
        for ours, theirs in zip(shown[::997], reference(clip())[7][::997]):
            self.assertAlmostEqual(ours, theirs, delta=5)  # By way of 16 bits there.
        self.assertEqual(len(shown), len(reference(clip())[7]))

    def test_a_batch_is_a_contact_sheet(self):
        batch = VideoDecoder(clip()).get_frames_at([3, 50, 99])
        gap, blank = b"\xff" * 6, b"\xff" * 480
        tiles = [halved(reference(clip())[i]) for i in (3, 50, 99)] + [[blank] * 120]
        rows = [a + gap + b for a, b in zip(*tiles[:2])]
        rows += [b"\xff" * 966] * 2
        rows += [a + gap + b for a, b in zip(*tiles[2:])]
        png = batch._repr_png_()
        self.assertEqual(size_of(png), (322, 242))
        self.assertEqual(decoded(png), support.Pixels(b"".join(rows)))
        one = decoded(batch[1:2]._repr_png_())
        self.assertEqual(one, support.Pixels(b"".join(tiles[1])))

    def test_clips_are_shown_in_order(self):
        batch = VideoDecoder(clip()).get_frames_at([3, 50, 99, 7])
        clips = FrameBatch(
            batch.data.reshape(2, 2, 3, 240, 320),
            batch.pts_seconds.reshape(2, 2),
            batch.duration_seconds.reshape(2, 2),
        )
        self.assertEqual(decoded(clips._repr_png_()), decoded(batch._repr_png_()))

    def test_sheets_and_pictures_are_bounded(self):
        batch = VideoDecoder(clip()).get_all_frames()
        png = batch._repr_png_()  # 64 of 120 frames.
        self.assertEqual(size_of(png), (8 * 160 + 7 * 2, 8 * 120 + 7 * 2))
        shown = decoded(png)
        self.assertEqual(shown[:480], halved(reference(clip())[0])[0])
        last = shown[-480:]
        self.assertEqual(last, halved(reference(clip())[63 * 120 // 64])[-1])
        import numpy

        large = Frame(numpy.zeros((3, 3000, 5000), numpy.uint8), 0, 0)
        self.assertEqual(size_of(large._repr_png_()), (715, 429))

    def test_what_is_no_picture_is_not_shown(self):
        import numpy

        self.assertIsNone(Frame(numpy.zeros((4, 8, 8), numpy.uint8), 0, 0)._repr_png_())
        self.assertIsNone(Frame(numpy.zeros((3, 8, 8), numpy.int64), 0, 0)._repr_png_())
        self.assertIsNone(Frame(numpy.zeros((3, 0, 8), numpy.uint8), 0, 0)._repr_png_())
        self.assertIsNone(VideoDecoder(clip()).get_frames_at([])._repr_png_())
        flat = FrameBatch(numpy.zeros((2, 3, 0, 8), numpy.uint8), [0.0, 1.0], [1.0, 1.0])
        self.assertIsNone(flat._repr_png_())

    @support.needs_torch
    def test_tensors_without_memory_are_not_shown(self):
        import torch

        picture = torch.zeros(3, 8, 8)
        for data in (picture.to("meta"), picture.to_sparse()):
            self.assertIsNone(Frame(data, 0, 0)._repr_png_())

    def test_neither_torch_nor_numpy_is_needed(self):
        output = run_python(
            """
import hashlib, sys
sys.modules["torch"] = sys.modules["numpy"] = sys.modules["PIL"] = None
from bulkhead.decoders import VideoDecoder
decoder = VideoDecoder(sys.argv[1], dimension_order="NHWC")
for shown in (decoder.get_frame_at(7), decoder.get_frames_at([3, 50, 99])):
    print(hashlib.md5(shown._repr_png_()).hexdigest())
""",
            clip(),
        ).splitlines()
        decoder = VideoDecoder(clip())
        shown = (decoder.get_frame_at(7), decoder.get_frames_at([3, 50, 99]))
        self.assertEqual(
            output, [hashlib.md5(one._repr_png_()).hexdigest() for one in shown]
        )


if __name__ == "__main__":
    support.main()
