# SPDX-License-Identifier: Apache-2.0
"""autoscale=False: frames of a stream that changes its size, beside ffmpeg's."""

import os
import signal
import unittest

import support
import bulkhead
from bulkhead.decoders import VideoDecoder
from bulkhead.samplers import clips_at_regular_indices
from bulkhead.transforms import Resize
from support import clip_directory, ffmpeg, on_each_device

PARTS = (("yuvj420p", 64, 48), ("yuvj420p", 130, 98), ("yuvj422p", 34, 22))
FRAMES_OF_PART = 4
SECOND, THIRD = FRAMES_OF_PART, 2 * FRAMES_OF_PART


def part(number):
    """Returns the path of one part, a stream of JPEG pictures."""
    pixel_format, width, height = PARTS[number]
    path = os.path.join(clip_directory(), f"part{number}.mjpeg")
    if not os.path.exists(path):
        ffmpeg(
            "-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=25",
            "-frames:v", str(FRAMES_OF_PART), "-pix_fmt", pixel_format, path,
        )  # fmt: skip
    return path


def changing():
    """Returns the path of the clip of all parts."""
    path = os.path.join(clip_directory(), "changing.avi")
    if not os.path.exists(path):
        parts = "|".join(part(number) for number in range(len(PARTS)))
        ffmpeg("-r", "25", "-i", f"concat:{parts}", "-c", "copy", path)
    return path


def packed(array):
    if hasattr(array, "numpy"):
        array = array.numpy()
    return array.tobytes()


def expected(native):
    """Returns the bytes of each frame: those that ffmpeg makes of the parts, one by one."""
    frames = []
    for number in range(len(PARTS)):
        form = () if native else ("-pix_fmt", "rgb24")
        raw = ffmpeg("-i", part(number), *form, "-f", "rawvideo", "-")
        size = len(raw) // FRAMES_OF_PART
        frames += [raw[i * size : (i + 1) * size] for i in range(FRAMES_OF_PART)]
    return frames


@on_each_device
class ChangingSize(unittest.TestCase):
    def open(self, **options):
        return VideoDecoder(
            changing(), device=self.device, dimension_order="NHWC", autoscale=False, **options
        )

    def assert_is(self, data, index, frames):
        _, width, height = PARTS[index // FRAMES_OF_PART]
        self.assertEqual(tuple(data.shape), (height, width, 3))
        self.assertEqual(support.Pixels(packed(data)), support.Pixels(frames[index]))

    def test_each_frame_has_a_shape_of_its_own(self):
        frames = expected(native=False)
        decoder = self.open()
        self.assertEqual((decoder.metadata.height, decoder.metadata.width), (48, 64))
        count = 0
        for index, data in enumerate(decoder):
            self.assert_is(data, index, frames)
            count += 1
        self.assertEqual(count, len(frames))
        for index in (THIRD, SECOND - 1, SECOND, 0, THIRD + 3):
            self.assert_is(decoder[index], index, frames)
            self.assert_is(decoder.get_frame_at(index).data, index, frames)
        self.assert_is(decoder.get_frame_played_at(SECOND / 25 + 0.001).data, SECOND, frames)

    def test_leases_have_shapes_of_their_own(self):
        frames = expected(native=False)
        held = {}
        for index, frame in enumerate(self.open().frames(lease=True)):
            if index % FRAMES_OF_PART == FRAMES_OF_PART - 1:
                held[index] = frame.data
        for index, lease in held.items():
            _, width, height = PARTS[index // FRAMES_OF_PART]
            self.assertEqual(tuple(lease.shape), (height, width, 3))
            self.assertEqual(
                support.Pixels(memoryview(lease).tobytes()), support.Pixels(frames[index])
            )

    def test_native_frames_tell_format_and_size(self):
        frames = expected(native=True)
        decoder = self.open(output_format="native")
        for index, frame in enumerate(decoder.frames()):
            self.assertEqual(
                (frame.pixel_format, frame.width, frame.height), PARTS[index // FRAMES_OF_PART]
            )
            planes = b"".join(map(packed, frame.planes))
            self.assertEqual(support.Pixels(planes), support.Pixels(frames[index]))
        self.assertEqual(decoder.get_frame_at(THIRD).pixel_format, "yuvj422p")
        self.assertEqual(decoder.get_frame_at(0).pixel_format, "yuvj420p")

    def test_goes_on_after_the_death_of_the_worker(self):
        frames = expected(native=False)
        for at in (SECOND - 1, SECOND, SECOND + 1):
            decoder = self.open()
            for index in range(len(frames)):
                if index == at:
                    os.kill(decoder.worker_pid, signal.SIGKILL)
                self.assert_is(decoder[index], index, frames)
            self.assertEqual(decoder.recovery.restarts, 1)

    def test_a_batch_is_of_one_shape(self):
        frames = expected(native=False)
        decoder = self.open()
        batch = decoder.get_frames_at([2, 0])
        self.assert_is(batch.data[0], 2, frames)
        self.assert_is(batch.data[1], 0, frames)
        for call in (
            lambda: decoder.get_frames_at([0, SECOND]),
            lambda: decoder.get_frames_at([SECOND, SECOND + 1]),
            lambda: decoder[SECOND - 1 : SECOND + 1],
            lambda: decoder.get_frames_in_range(0, THIRD),
            lambda: decoder.get_frames_played_at([0.0, SECOND / 25 + 0.001]),
            lambda: decoder.get_frames_played_in_range(0, 0.4),
            lambda: decoder.get_all_frames(),
            lambda: clips_at_regular_indices(decoder, num_clips=3),
        ):
            with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "autoscale"):
                call()

    def test_transforms_are_refused(self):
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "autoscale"):
            self.open(transforms=[Resize((8, 9))])
        with self.assertRaisesRegex(TypeError, "autoscale"):
            VideoDecoder(changing(), autoscale="no")

    def test_frames_are_scaled_by_default(self):
        shapes = {tuple(data.shape) for data in VideoDecoder(changing(), device=self.device)}
        self.assertEqual(shapes, {(3, 48, 64)})


if __name__ == "__main__":
    unittest.main(verbosity=2)
