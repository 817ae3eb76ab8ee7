# SPDX-License-Identifier: Apache-2.0
"""What the decoders of bulkhead.decoders return, beside what ffmpeg decodes.

The rows of tests/semantics, in Python: names, defaults and classes of exceptions are
torchcodec's.
"""

import math
import pickle
import struct
import unittest
import wave

import support
from bulkhead import Frame, FrameBatch, UnsupportedError
from bulkhead.decoders import AudioDecoder, VideoDecoder, WavDecoder
from support import clip, on_each_device, pixels, reference


@on_each_device
class Selection(unittest.TestCase):
    def decoder(self, **options):
        return VideoDecoder(clip(), device=self.device, **options)

    def expect(self, batch, numbers):
        self.assertIsInstance(batch, FrameBatch)
        self.assertEqual(pixels(batch.data), b"".join(reference(clip())[i] for i in numbers))
        self.assertEqual(
            [round(float(time) * 25) for time in batch.pts_seconds],
            [i % 120 for i in numbers],
        )
        for duration in batch.duration_seconds:
            self.assertAlmostEqual(float(duration), 0.04)

    def test_every_frame_is_that_of_ffmpeg(self):
        decoder = self.decoder()
        self.assertEqual([pixels(data) for data in decoder], reference(clip()))

    def test_len_and_indices(self):
        decoder = self.decoder()
        self.assertEqual(len(decoder), 120)
        for i in (0, 77, 3, 119, -1, -120):
            self.assertEqual(pixels(decoder[i]), reference(clip())[i])
        for i in (120, -121, 1 << 40):
            with self.assertRaises(IndexError):
                decoder[i]
        with self.assertRaises(TypeError):
            decoder["0"]
        with self.assertRaises(TypeError):
            decoder[0.0]

    def test_slices(self):
        decoder = self.decoder()
        for key in (slice(2, 9), slice(-3, None), slice(0, 120, 50), slice(118, 500)):
            data = decoder[key]
            wanted = reference(clip())[key]
            self.assertEqual(pixels(data), b"".join(wanted))
            self.assertEqual(tuple(data.shape), (len(wanted), 3, 240, 320))
        self.assertEqual(tuple(decoder[5:5].shape), (0, 3, 240, 320))
        self.assertEqual(tuple(decoder[500:].shape), (0, 3, 240, 320))
        with self.assertRaises(RuntimeError):
            decoder[9:2:-1]

    def test_get_frame_at(self):
        decoder = self.decoder()
        frame = decoder.get_frame_at(50)
        self.assertIsInstance(frame, Frame)
        data, pts_seconds, duration_seconds = frame
        self.assertEqual(pixels(data), reference(clip())[50])
        self.assertEqual(pts_seconds, 2.0)
        self.assertAlmostEqual(duration_seconds, 0.04)
        with self.assertRaises(IndexError):
            decoder.get_frame_at(120)

    def test_get_frames_at_keeps_the_order_of_the_request(self):
        decoder = self.decoder()
        self.expect(decoder.get_frames_at([99, 0, 0, -1]), [99, 0, 0, 119])
        self.assertEqual(len(decoder.get_frames_at([])), 0)
        with self.assertRaises(IndexError):
            decoder.get_frames_at([0, 120])
        with self.assertRaises(TypeError):
            decoder.get_frames_at([0.5])

    def test_get_frames_in_range(self):
        decoder = self.decoder()
        self.expect(decoder.get_frames_in_range(10, 14), range(10, 14))
        self.expect(decoder.get_frames_in_range(-4, 500, 2), (116, 118))
        self.expect(decoder.get_frames_in_range(start=118, stop=None), (118, 119))
        self.assertEqual(len(decoder.get_frames_in_range(9, 2)), 0)
        for step in (0, -1):
            with self.assertRaises(RuntimeError):
                decoder.get_frames_in_range(0, 9, step)

    def test_time(self):
        decoder = self.decoder()
        self.assertEqual(decoder.get_frame_played_at(2.0).pts_seconds, 2.0)
        self.assertEqual(
            pixels(decoder.get_frame_played_at(seconds=2.039).data),
            reference(clip())[50],
        )
        self.expect(decoder.get_frames_played_at([4.79, 0.0, 0.01]), (119, 0, 0))
        for seconds in (-0.1, 4.8, 99):
            with self.assertRaises(IndexError):
                decoder.get_frame_played_at(seconds)
            with self.assertRaises(RuntimeError):
                decoder.get_frames_played_at([0, seconds])
        with self.assertRaises(ValueError):
            decoder.get_frames_played_at(["now"])

    def test_ranges_of_time(self):
        decoder = self.decoder()
        self.expect(decoder.get_frames_played_in_range(1, 1.2), range(25, 30))
        self.assertEqual(len(decoder.get_frames_played_in_range(1, 1)), 0)
        for start, stop in ((2, 1), (-1, 1), (0, 5), (4.8, 4.8), (math.nan, 1)):
            with self.assertRaises(ValueError):
                decoder.get_frames_played_in_range(start, stop)
        batch = decoder.get_frames_played_in_range(
            start_seconds=1, stop_seconds=2, fps=10
        )
        self.assertEqual(
            [round(float(time), 6) for time in batch.pts_seconds],
            [round(1 + i / 10, 6) for i in range(10)],
        )
        self.assertEqual({round(float(d), 6) for d in batch.duration_seconds}, {0.1})
        self.assertEqual(
            pixels(batch.data),
            b"".join(reference(clip())[25 + i * 25 // 10] for i in range(10)),
        )
        with self.assertRaises(RuntimeError):
            decoder.get_frames_played_in_range(1, 2, fps=0)

    def test_all_frames(self):
        decoder = self.decoder()
        self.expect(decoder.get_all_frames(), range(120))
        self.assertEqual(len(decoder.get_all_frames(fps=5)), 24)

    def test_loops_may_be_nested(self):
        decoder = self.decoder()
        outer, inner = iter(decoder), iter(decoder)
        seen = [next(outer), next(outer), next(inner), next(outer), next(inner)]
        self.assertEqual(
            [pixels(data) for data in seen],
            [reference(clip())[i] for i in (0, 1, 0, 2, 1)],
        )
        self.assertEqual(len(list(outer)), 117)
        self.assertEqual(len(list(inner)), 118)

    def test_native_frames(self):
        decoder = self.decoder(dimension_order="NHWC")
        frames = list(decoder.frames())
        self.assertEqual(
            [support.Pixels(memoryview(frame.data)) for frame in frames], reference(clip())
        )
        self.assertEqual(frames[3].pts_seconds, 0.12)


class Output(unittest.TestCase):
    def test_orders_are_views_of_the_same_memory(self):
        first = VideoDecoder(clip())[7]
        last = VideoDecoder(clip(), dimension_order="NHWC")[7]
        self.assertEqual(tuple(first.shape), (3, 240, 320))
        self.assertEqual(tuple(last.shape), (240, 320, 3))
        self.assertEqual(pixels(first), pixels(last, "NHWC"))
        with self.assertRaises(ValueError):
            VideoDecoder(clip(), dimension_order="CHW")

    def test_floats(self):
        numbers = VideoDecoder(clip(), output_dtype="float32", dimension_order="NHWC")[7]
        self.assertIn("float32", str(numbers.dtype))
        floats = struct.unpack(f"{320 * 240 * 3}f", pixels(numbers, "NHWC"))
        for value, byte in zip(floats[::997], reference(clip())[7][::997]):
            self.assertAlmostEqual(value, byte / 255, delta=0.02)
        automatic = VideoDecoder(clip(), output_dtype="auto")[7]
        self.assertIn("uint8", str(automatic.dtype))
        with self.assertRaises(ValueError):
            VideoDecoder(clip(), output_dtype="float16")

    def test_results_are_owned_and_writable(self):
        decoder = VideoDecoder(clip())
        kept = decoder[7]
        batch = decoder.get_frames_at([7])
        kept[:] = 0
        batch.data[:] = 0
        self.assertEqual(pixels(decoder[7]), reference(clip())[7])
        decoder.close()
        self.assertEqual(set(pixels(kept)), {0})
        many = [data for data in VideoDecoder(clip())]  # More than there are slots.
        self.assertEqual([pixels(data) for data in many], reference(clip()))

    def test_batches_unpack_and_index(self):
        batch = VideoDecoder(clip()).get_frames_at([3, 4, 5])
        self.assertEqual(len(batch), 3)
        self.assertEqual(pixels(batch[1].data), reference(clip())[4])
        self.assertEqual(float(batch[-1].pts_seconds), 0.2)
        self.assertEqual(len(batch[1:]), 2)
        self.assertEqual([float(one.pts_seconds) for one in batch], [0.12, 0.16, 0.2])
        with self.assertRaises(ValueError):
            FrameBatch(batch.data, batch.pts_seconds[:2], batch.duration_seconds)
        with self.assertRaises(ValueError):
            Frame(batch.data, 0, 0)
        self.assertIn("(3, 3, 240, 320)", repr(batch))


@on_each_device
class Metadata(unittest.TestCase):
    def test_video(self):
        metadata = VideoDecoder(clip(), device=self.device).metadata
        self.assertEqual(metadata.num_frames, 120)
        self.assertEqual(metadata.num_frames_from_content, 120)
        self.assertEqual(metadata.num_frames_from_header, 120)
        self.assertEqual((metadata.width, metadata.height), (320, 240))
        self.assertEqual(metadata.codec, "h264")
        self.assertEqual(metadata.pixel_format, "yuv420p")
        self.assertAlmostEqual(metadata.average_fps, 25)
        self.assertAlmostEqual(metadata.begin_stream_seconds, 0)
        self.assertAlmostEqual(metadata.end_stream_seconds, 4.8)
        self.assertAlmostEqual(metadata.duration_seconds, 4.8)
        self.assertEqual(metadata.pixel_aspect_ratio, 1)
        self.assertIsNone(metadata.rotation)
        self.assertEqual(metadata.device.split(":")[0], self.device.split(":")[0])
        self.assertIn("\n  num_frames: 120", str(metadata))

    def test_without_a_scan(self):
        metadata = VideoDecoder(clip(), seek_mode="approximate").metadata
        self.assertIsNone(metadata.num_frames_from_content)
        self.assertEqual(metadata.num_frames, 120)

    def test_audio(self):
        metadata = AudioDecoder(clip()).metadata
        self.assertEqual(metadata.sample_rate, 44100)
        self.assertEqual(metadata.num_channels, 1)
        self.assertEqual(metadata.sample_format, "fltp")
        self.assertEqual(metadata.codec, "aac")
        self.assertEqual(metadata.stream_index, 1)


@on_each_device
class Audio(unittest.TestCase):
    def reference(self, *options):
        return support.ffmpeg(
            "-i", clip(), "-map", "0:a:0", *options, "-f", "f32le", "-"
        )  # fmt: skip

    def test_all_samples(self):
        samples = AudioDecoder(clip(), device=self.device).get_all_samples()
        self.assertEqual(pixels(samples.data, "CN"), self.reference())
        self.assertEqual(samples.data.shape[0], 1)
        self.assertEqual(samples.sample_rate, 44100)
        self.assertEqual(samples.pts_seconds, 0)
        self.assertAlmostEqual(
            samples.duration_seconds, samples.data.shape[1] / 44100
        )

    def test_ranges(self):
        whole = self.reference()
        decoder = AudioDecoder(clip(), device=self.device)
        part = decoder.get_samples_played_in_range(1, 2)
        self.assertEqual(pixels(part.data, "CN"), whole[44100 * 4 : 88200 * 4])
        self.assertEqual(part.pts_seconds, 1)
        rest = decoder.get_samples_played_in_range(start_seconds=4)
        self.assertEqual(pixels(rest.data, "CN"), whole[4 * 44100 * 4 :])
        self.assertEqual(tuple(decoder.get_samples_played_in_range(1, 1).data.shape), (1, 0))
        with self.assertRaises(ValueError):
            decoder.get_samples_played_in_range(2, 1)
        with self.assertRaises(RuntimeError):
            decoder.get_samples_played_in_range(99, 100)

    def test_rate_and_channels(self):
        decoder = AudioDecoder(clip(), sample_rate=16000, num_channels=2)
        samples = decoder.get_all_samples()
        self.assertEqual(samples.data.shape[0], 2)
        self.assertEqual(samples.sample_rate, 16000)
        self.assertAlmostEqual(samples.data.shape[1] / 16000, 4.8, delta=0.1)
        for options in ({"sample_rate": -1}, {"num_channels": 0}):
            with self.assertRaises(RuntimeError):
                AudioDecoder(clip(), **options)


@on_each_device
class Wav(unittest.TestCase):
    def file(self, codec, container="wav", duration="1"):
        path = f"{support.clip_directory()}/{codec}.{container}"
        support.ffmpeg("-i", clip(), "-map", "0:a", "-t", duration, "-c:a", codec, path)
        return path

    def test_each_sample_is_that_of_the_file(self):
        for codec in ("pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"):
            path = self.file(codec)
            wanted = support.ffmpeg("-i", path, "-f", "f32le", "-")
            with open(path, "rb") as file:
                sources = (path, file.read())
            for source in sources:
                decoder = WavDecoder(source, device=self.device)
                self.assertEqual(pixels(decoder.get_all_samples().data, "CN"), wanted)
                part = decoder.get_samples_played_in_range(0.25, 0.5)
                self.assertEqual(pixels(part.data, "CN"), wanted[44100:88200])
                self.assertEqual((part.pts_seconds, part.sample_rate), (0.25, 44100))
            self.assertIn(decoder.metadata.device.split(":")[0], self.device)
            again = pickle.loads(pickle.dumps(decoder))
            self.assertEqual(pixels(again.get_all_samples().data, "CN"), wanted)

    def test_integers_are_scaled(self):
        path = support.clip_directory() + "/numbers.wav"
        numbers = [0, 1, -1, 32767, -32768, 12345]
        with wave.open(path, "wb") as file:
            file.setparams((2, 2, 8000, 0, "NONE", ""))
            file.writeframes(struct.pack("<6h", *numbers))
        samples = WavDecoder(path, device=self.device).get_all_samples()
        self.assertEqual(tuple(samples.data.shape), (2, 3))
        wanted = [number / 32768 for number in numbers]
        self.assertEqual(samples.data.tolist(), [wanted[0::2], wanted[1::2]])

    def test_other_sound_is_refused(self):
        for codec, container in (("pcm_mulaw", "wav"), ("flac", "flac"), ("pcm_s16le", "mov")):
            with self.assertRaises(UnsupportedError):
                WavDecoder(self.file(codec, container), device=self.device)
        for data in (b"", b"RIFF", b"RIFF\x24\0\0\0WAVE", b"no sound"):
            with self.assertRaises(RuntimeError):
                WavDecoder(data, device=self.device)


if __name__ == "__main__":
    support.main()
