# SPDX-License-Identifier: Apache-2.0
"""Rows of tests/semantics that Python shows and that decoders_test, sources_test,
samplers_test and transforms_test do not have, with the names and errors of Python."""

import array
import fractions
import math
import os
import signal
import unittest

import support
import bulkhead
from bulkhead.decoders import AudioDecoder, VideoDecoder
from bulkhead.transforms import CenterCrop, Resize
from support import clip, on_each_device, pixels, reference


def made(name, *arguments):
    """Returns the path of a file that ffmpeg makes, once."""
    path = f"{support.clip_directory()}/{name}"
    if not os.path.exists(path):
        support.ffmpeg(*arguments, path)
    return path


def generated(name, source, *arguments):
    return made(name, "-f", "lavfi", "-i", source, *arguments)


class Row(unittest.TestCase):
    def video(self, path=None, **options):
        return self.on_device(VideoDecoder(path or clip(), device=self.device, **options))

    def audio(self, path, **options):
        return self.on_device(AudioDecoder(path, device=self.device, **options))

    def on_device(self, decoder):
        # Not from `metadata`, which makes the index.
        self.assertRegex(decoder._opened().metadata().device, "^" + self.device)
        return decoder

    def expect_refused(self, refusals):
        """Each refusal is (class of the exception, function, arguments)."""
        for error, call, *arguments in refusals:
            with self.subTest(call=call.__name__, arguments=arguments):
                with self.assertRaises(error):
                    call(*arguments)


@on_each_device
class Opening(Row):
    def test_threads_change_no_frame(self):
        for threads in (0, 3, 64):
            decoder = self.video(num_ffmpeg_threads=threads)
            self.assertEqual(pixels(decoder[61]), reference(clip())[61])
        with self.assertRaisesRegex(ValueError, "threads"):
            self.video(num_ffmpeg_threads=1000)

    def test_an_approximate_index_finds_the_same_frames(self):
        decoder = self.video(seek_mode="approximate")
        self.assertEqual(len(decoder), 120)
        for index in (0, 77, -1, 30):
            self.assertEqual(pixels(decoder[index]), reference(clip())[index])
        with self.assertRaises(ValueError):
            decoder._get_key_frame_indices()

    def test_a_decoder_outlives_its_file(self):
        path = made("gone.mp4", "-i", clip(), "-c", "copy")
        decoder = self.video(path)
        os.remove(path)
        self.assertEqual(len(decoder), 120)
        self.assertEqual(pixels(decoder[100]), reference(clip())[100])

    def test_kinds_of_streams(self):
        sound = generated("sound.flac", "sine=duration=1")
        silent = generated("silent.mkv", "testsrc2=size=64x48:duration=1", "-c:v", "ffv1")
        with self.assertRaises(bulkhead.NotFoundError):
            self.video(sound)
        with self.assertRaises(bulkhead.NotFoundError):
            self.audio(silent)
        with self.assertRaisesRegex(ValueError, "video streams: 0"):
            self.video(stream_index=1)
        with self.assertRaisesRegex(ValueError, "audio streams: 1"):
            self.audio(clip(), stream_index=0)


@on_each_device
class Selection(Row):
    def test_each_frame_is_played_at_its_own_time(self):
        decoder = self.video()
        batch = decoder.get_all_frames()
        times = [float(time) for time in batch.pts_seconds]
        self.assertEqual(pixels(decoder.get_frames_played_at(times).data), pixels(batch.data))
        for time in (times[1], times[-1], times[60]):
            self.assertEqual(decoder.get_frame_played_at(time).pts_seconds, time)

    def test_a_stream_that_begins_late_has_no_frame_before(self):
        path = generated(
            "late.ts", "testsrc2=size=64x48:rate=24:duration=2", "-c:v", "mpeg2video"
        )
        decoder = self.video(path)
        begin = decoder.get_frame_at(0).pts_seconds
        self.assertGreater(begin, 1)
        self.assertEqual(decoder.metadata.begin_stream_seconds, begin)
        with self.assertRaises(IndexError):
            decoder.get_frame_played_at(0)
        self.assertEqual(decoder.get_frame_played_at(begin).pts_seconds, begin)
        self.assertEqual(len(decoder.get_all_frames()), 48)
        self.assertEqual(len(decoder.get_all_frames(fps=12.0)), 24)

    def test_another_rate_repeats_frames_or_leaves_them_out(self):
        decoder = self.video()
        for (start, stop, fps), numbers in {
            (1, 1.1, 50.0): [25, 25, 26, 26, 27],
            (0, 1, 5.0): [0, 5, 10, 15, 20],
            (0, 0.1, 4.0): [],
            (0, 0.15, 4.0): [0],
            (4.7, 4.8, None): [117, 118, 119],
            (0.05, 0.1201, None): [1, 2, 3],
            (0.05, 0.12, None): [1, 2],
        }.items():
            batch = decoder.get_frames_played_in_range(start, stop, fps)
            self.assertEqual(
                pixels(batch.data), b"".join(reference(clip())[i] for i in numbers)
            )

    def test_what_has_no_meaning_is_refused(self):
        decoder = self.video()
        played_at, in_range = decoder.get_frame_played_at, decoder.get_frames_played_in_range
        self.expect_refused(
            (
                (ValueError, played_at, math.nan),
                (IndexError, played_at, 4.8),
                (IndexError, in_range, -1, 1),
                (IndexError, in_range, 1, 5),
                (ValueError, in_range, 2, 1),
                (ValueError, decoder.get_all_frames, -25.0),
                (ValueError, decoder.get_all_frames, math.nan),
                (bulkhead.ResourceExhaustedError, decoder.get_all_frames, 1e12),
            )
        )

    def test_key_frames(self):
        self.assertEqual(self.video()._get_key_frame_indices(), [0, 24, 48, 72, 96])

    def test_a_loop_goes_on_behind_a_damaged_frame(self):
        path = os.path.join(support.clip_directory(), "damaged.mp4")
        with open(clip(), "rb") as source, open(path, "wb") as damaged:
            data = bytearray(source.read())
            middle = len(data) // 2
            data[middle : middle + 3000] = bytes(3000)
            damaged.write(data)
        sound = [f.pts_seconds for f in self.video(path, on_corrupt="skip").frames()]
        self.assertLess(len(sound), len(reference(clip())))
        frames, times, errors = self.video(path).frames(), [], 0
        while True:
            try:
                times.append(next(frames).pts_seconds)
            except bulkhead.BadInputError as error:
                self.assertIn("read on after it", str(error))
                errors += 1
            except StopIteration:
                break
        self.assertEqual(times, sound)
        self.assertEqual(errors, len(reference(clip())) - len(sound))

    def test_frames_without_timestamps_are_found_by_index(self):
        path = made("raw.h264", "-i", clip(), "-c:v", "copy", "-an", "-bsf:v", "h264_mp4toannexb")
        decoder = self.video(path)
        self.assertEqual(pixels(decoder[77]), reference(clip())[77])
        with self.assertRaises(bulkhead.BadInputError):
            decoder.get_frame_played_at(1)


@on_each_device
class Output(Row):
    def deep(self, path):
        """Returns the floats of the first frame as ffmpeg has them in 16 bits."""
        raw = support.ffmpeg(
            "-i", path, "-map", "0:v", "-frames:v", "1", "-f", "rawvideo",
            "-pix_fmt", "rgb48le", "-",
        )  # fmt: skip
        scale = array.array("f", [65535])[0]
        return array.array("f", (n / scale for n in array.array("H", raw))).tobytes()

    def test_floats_are_the_16_bit_numbers_of_ffmpeg(self):
        decoder = self.video(output_dtype="float32")
        self.assertEqual(pixels(decoder[0]), self.deep(clip()))
        self.assertEqual(pixels(decoder.get_frames_at([0]).data), self.deep(clip()))

    def test_the_type_is_chosen_by_the_depth(self):
        path = generated(
            "deep.mkv", "testsrc2=size=64x48:duration=0.2",
            "-c:v", "ffv1", "-pix_fmt", "yuv420p10le",
        )  # fmt: skip
        data = self.video(path, output_dtype="auto")[0]
        self.assertIn("float32", str(data.dtype))
        self.assertEqual(pixels(data), self.deep(path))

    def test_transforms_come_after_rotation(self):
        path = made("rotated.mp4", "-i", clip(), "-c", "copy", "-metadata:s:v:0", "rotate=90")
        upright = self.video(path)
        metadata = upright.metadata
        self.assertEqual((metadata.width, metadata.height), (240, 320))
        self.assertIn(metadata.rotation, (90, 270))
        middle = self.video(path, transforms=[CenterCrop((320, 100))])
        self.assertEqual(pixels(middle[7]), pixels(upright[7][:, :, 70:170]))
        with self.assertRaises(ValueError):
            self.video(path, transforms=[CenterCrop((240, 320))])

    def test_frames_are_the_same_with_a_new_worker(self):
        options = {"transforms": [Resize((101, 77)), CenterCrop((50, 50))]}
        batch = self.video(**options).get_all_frames()
        self.assertEqual(tuple(batch.data.shape), (120, 3, 50, 50))
        whole = [pixels(data) for data in batch.data]
        decoder = self.video(**options)
        seen = []
        for data in decoder:
            seen.append(pixels(data))
            if len(seen) == 40:
                os.kill(decoder.worker_pid, signal.SIGKILL)
        self.assertEqual(seen, whole)
        self.assertEqual(decoder.recovery.restarts, 1)

    def test_sizes_keep_to_the_limit(self):
        with self.assertRaisesRegex(bulkhead.ResourceExhaustedError, "frame_pixels"):
            self.video(transforms=[Resize((100_000, 100_000))])


@on_each_device
class Metadata(Row):
    def test_colours_and_aspect_are_as_marked(self):
        path = generated(
            "marked.mp4", "testsrc2=size=64x48:duration=0.2", "-c:v", "libx264",
            "-vf", "setsar=4/3", "-pix_fmt", "yuv420p", "-x264-params",
            "colorprim=bt709:transfer=smpte2084:colormatrix=bt2020nc:fullrange=on",
        )  # fmt: skip
        metadata = self.video(path).metadata
        self.assertEqual(
            (metadata.color_primaries, metadata.color_transfer_characteristic,
             metadata.color_space, metadata.color_range),
            ("bt709", "smpte2084", "bt2020nc", "pc"),
        )  # fmt: skip
        self.assertEqual(metadata.pixel_aspect_ratio, fractions.Fraction(4, 3))
        self.assertIsNone(self.video().metadata.color_primaries)


@on_each_device
class Audio(Row):
    def tone(self):
        """Makes 3 s of stereo that differs in its channels."""
        return generated(
            "tone.flac", "aevalsrc=sin(440*2*PI*t)/2|sin(660*2*PI*t*t)/2:s=44100:d=3",
            "-c:a", "flac", "-sample_fmt", "s16",
        )  # fmt: skip

    def test_ranges(self):
        decoder = self.audio(self.tone())
        whole = decoder.get_all_samples().data
        for (start, stop), (first, last) in {
            (0.5, 0.75): (22050, 33075),
            (-7, 1): (0, 44100),
            (2, 99): (88200, 132300),
            (2.5, None): (110250, 132300),
            (1, 1): (44100, 44100),
            (0.5 / 44100 + 1e-9, 0.1): (1, 4410),
        }.items():
            part = decoder.get_samples_played_in_range(start, stop)
            self.assertEqual(pixels(part.data, "CN"), pixels(whole[:, first:last], "CN"))
            self.assertEqual(part.pts_seconds, max(start, 0))
        self.expect_refused(
            (
                (ValueError, decoder.get_samples_played_in_range, 2, 1),
                (ValueError, decoder.get_samples_played_in_range, math.nan, 1),
                (RuntimeError, decoder.get_samples_played_in_range, 3, 4),
            )
        )
        self.assertEqual(tuple(decoder.get_all_samples().data.shape), (2, 132300))

    def test_a_pre_roll_is_left_out(self):
        decoder = self.audio(clip())
        whole = decoder.get_all_samples().data
        for start in (3.7, 0.3, 2.2):
            first = round(start * 44100)
            part = self.audio(clip()).get_samples_played_in_range(start, start + 0.1)
            self.assertEqual(
                pixels(part.data, "CN"), pixels(whole[:, first : first + 4410], "CN")
            )

    def test_a_stream_that_begins_late_says_when(self):
        path = made("late.mkv", "-itsoffset", "1.5", "-i", self.tone(), "-c", "copy")
        decoder = self.audio(path)
        self.assertAlmostEqual(decoder.metadata.begin_stream_seconds, 1.5, places=2)
        part = decoder.get_samples_played_in_range(0, 2)
        self.assertEqual(part.pts_seconds, decoder.metadata.begin_stream_seconds)
        self.assertAlmostEqual(part.data.shape[1] / 44100, 0.5, places=2)

    def test_channels_and_rates(self):
        mono = self.audio(self.tone(), num_channels=1).get_all_samples().data
        mixed = support.ffmpeg("-i", self.tone(), "-ac", "1", "-f", "f32le", "-")
        self.assertEqual(pixels(mono, "CN"), mixed)
        wide = generated("wide.wav", "aevalsrc=" + "|".join(["sin(t)"] * 16) + ":d=1")
        self.assertEqual(self.audio(wide).get_samples_played_in_range(0, 0.1).data.shape[0], 16)
        half = self.audio(self.tone(), sample_rate=22050).get_all_samples()
        self.assertEqual((tuple(half.data.shape), half.sample_rate), ((2, 66150), 22050))
        self.assertAlmostEqual(half.duration_seconds, 3, places=3)

    def test_more_than_the_limit_is_refused_by_its_name(self):
        host = bulkhead.Host(limits={"session_bytes": 1 << 20})
        with self.assertRaisesRegex(bulkhead.ResourceExhaustedError, "session_bytes"):
            self.audio(self.tone(), host=host).get_all_samples()


if __name__ == "__main__":
    support.main()
