# SPDX-License-Identifier: Apache-2.0
"""output_format="native": the planes that the decoder makes, beside ffmpeg's."""

import os
import signal
import struct
import unittest

import numpy

import support
import bulkhead
from bulkhead.decoders import VideoDecoder
from bulkhead.transforms import Resize
from support import clip, clip_directory, ffmpeg, on_each_device


def made(name, *encoding):
    path = os.path.join(clip_directory(), name)
    if not os.path.exists(path):
        ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=35x22:rate=25", "-frames:v", "5",
            *encoding, path,
        )  # fmt: skip
    return path


def raw_video(path):
    return ffmpeg(
        "-noautorotate", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
        "-f", "rawvideo", "-",
    )  # fmt: skip


def packed(plane):
    if hasattr(plane, "numpy"):
        plane = plane.numpy()
    return plane.tobytes()


def shapes(frame):
    return [tuple(plane.shape) for plane in frame.planes]


@on_each_device
class NativeFrames(unittest.TestCase):
    def open(self, path=None, **options):
        return VideoDecoder(
            path or clip(), device=self.device, output_format="native", **options
        )

    def assert_raw_video(self, path):
        with self.open(path) as decoder:
            planes = [plane for frame in decoder.frames() for plane in frame.planes]
            self.assertEqual(
                support.Pixels(b"".join(map(packed, planes))),
                support.Pixels(raw_video(path)),
            )

    def test_are_the_raw_video_of_ffmpeg(self):
        self.assert_raw_video(clip())

    def test_tell_what_they_are(self):
        frame = self.open().get_frame_at(-1)
        self.assertIsInstance(frame, bulkhead.NativeFrame)
        self.assertIsInstance(frame, bulkhead.Frame)
        self.assertEqual(shapes(frame), [(240, 320), (120, 160), (120, 160)])
        self.assertEqual(frame.pixel_format, "yuv420p")
        self.assertEqual((frame.width, frame.height), (320, 240))
        self.assertEqual(frame.field_order, "progressive")
        self.assertEqual(frame.color_primaries, 2)
        self.assertEqual(frame.chroma_location, 1)
        self.assertIn("yuv420p of 320x240, planes [(240, 320), ", repr(frame))
        data, pts_seconds, duration_seconds = frame
        self.assertIs(data, frame.data)
        self.assertAlmostEqual(pts_seconds + duration_seconds, 4.8)

    def test_of_other_formats(self):
        for name, encoding, expected in (
            ("nv12.nut", ("-c:v", "rawvideo", "-pix_fmt", "nv12"),
             ["uint8", (22, 35), (11, 18, 2)]),
            ("gray.mkv", ("-c:v", "ffv1", "-pix_fmt", "gray"), ["uint8", (22, 35)]),
            ("ten.mkv", ("-c:v", "ffv1", "-pix_fmt", "yuv422p10le"),
             ["uint16", (22, 35), (22, 18), (22, 18)]),
            ("alpha.mkv", ("-c:v", "ffv1", "-pix_fmt", "yuva444p"), ["uint8"] + [(22, 35)] * 4),
            ("rgb.mkv", ("-c:v", "png", "-pix_fmt", "rgb24"), ["uint8", (22, 35, 3)]),
            ("pal.mkv", ("-c:v", "png", "-pix_fmt", "pal8"), ["uint8", (22, 35), (1, 256, 4)]),
        ):  # fmt: skip
            with self.subTest(name):
                path = made(name, *encoding)
                frame = next(self.open(path).frames())
                self.assertEqual([str(frame.planes[0].dtype)] + shapes(frame), expected)
                self.assert_raw_video(path)

    def test_numbers_are_in_the_order_of_the_machine(self):
        path = made("big.mkv", "-c:v", "png", "-pix_fmt", "gray16be")
        frame = next(self.open(path).frames())
        self.assertEqual(frame.pixel_format, "gray16be")
        raw = raw_video(path)[: 2 * 35 * 22]
        self.assertEqual(int(frame.planes[0][1][2]), int.from_bytes(raw[74:76], "big"))

    def test_iteration_and_indexing_give_planes(self):
        decoder = self.open()
        first = next(iter(decoder))
        self.assertEqual([tuple(plane.shape) for plane in first][0], (240, 320))
        self.assertEqual([packed(plane) for plane in decoder[0]], [packed(plane) for plane in first])
        at = decoder.get_frame_played_at(1.0)
        self.assertEqual(packed(at.planes[0]), packed(decoder[25][0]))

    def test_of_ten_bits_are_there_by_index(self):
        """Also with a torch that has no uint16."""
        path = made("ten.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv422p10le")
        decoder = self.open(path)
        expected = [list(map(packed, frame.planes)) for frame in decoder.frames()]
        for planes in (
            decoder[2],
            decoder.get_frame_at(2).planes,
            decoder.get_frame_played_at(2 / 25).planes,
            list(decoder)[2],
        ):
            self.assertEqual(list(map(packed, planes)), expected[2])
            self.assertEqual(str(planes[0].dtype).removeprefix("torch."), "uint16")
            planes[0][0][0] = 7

    def test_can_be_turned_upright(self):
        """As the package's README.md does it, beside what ffmpeg makes of it."""
        with open(clip(), "rb") as file:
            upright = file.read()
        at = upright.index(b"tkhd") + 44
        for name, a, b, c, d in (
            ("left_and_right", -1, 0, 0, 1), ("top_and_bottom", 1, 0, 0, -1),
            ("transposed", 0, 1, 1, 0), ("antitransposed", 0, -1, -1, 0),
            ("clockwise", 0, 1, -1, 0), ("counterclockwise", 0, -1, 1, 0),
            ("half", -1, 0, 0, -1),
        ):  # fmt: skip
            with self.subTest(name):
                matrix = struct.pack(">5i", *(n << 16 for n in (a, b, 0, c, d)))
                path = os.path.join(clip_directory(), f"{name}.mp4")
                with open(path, "wb") as file:
                    file.write(upright[:at] + matrix + upright[at + len(matrix) :])
                decoder = self.open(path)
                m = decoder.metadata
                planes = [
                    numpy.rot90(numpy.flipud(p) if m.vertical_flip else p, int(m.rotation or 0) // 90)
                    for p in next(decoder.frames()).planes
                ]
                self.assertEqual(
                    support.Pixels(b"".join(map(packed, planes))),
                    support.Pixels(ffmpeg("-i", path, "-frames:v", "1", "-f", "rawvideo", "-")),
                )

    def test_go_on_after_the_death_of_the_worker(self):
        decoder = self.open()
        seen = []
        for index, frame in enumerate(decoder.frames()):
            if index == 30:
                os.kill(decoder.worker_pid, signal.SIGKILL)
            seen += [packed(plane) for plane in frame.planes]
        self.assertEqual(support.Pixels(b"".join(seen)), support.Pixels(raw_video(clip())))
        self.assertEqual(decoder.recovery.restarts, 1)

    def test_are_writable_and_owned(self):
        decoder = self.open()
        frame = decoder.get_frame_at(3)
        frame.planes[0][0][0] = 7
        self.assertEqual(int(frame.planes[0][0][0]), 7)

    def test_refuse_what_is_for_rgb(self):
        with self.assertRaisesRegex(
            bulkhead.InvalidArgumentError, 'without transforms.*output_format="rgb"'
        ):
            self.open(transforms=[Resize((8, 9))])
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "output_dtype"):
            self.open(output_dtype="float32")
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "'rgb', 'native'"):
            VideoDecoder(clip(), output_format="yuv")
        decoder = self.open()
        for call in (
            lambda: decoder.get_frames_at([0, 1]),
            lambda: decoder[0:2],
            lambda: decoder.get_frames_played_in_range(0, 1),
            lambda: decoder.get_all_frames(),
        ):
            with self.assertRaisesRegex(
                bulkhead.InvalidArgumentError, 'a batch is.*output_format="rgb"'
            ):
                call()
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "leases are of RGB"):
            decoder.get_frame_at(0, lease=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
