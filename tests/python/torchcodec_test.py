# SPDX-License-Identifier: Apache-2.0
"""Each public name of torchcodec's decoders, samplers and transforms is here with the
same signature, or in the table of differences of core/python/README.md, of which each
row has a test."""

import dataclasses
import importlib
import inspect
import json
import re
import types
import unittest

import support
import bulkhead
from bulkhead.decoders import AudioDecoder, VideoDecoder, WavDecoder
from bulkhead.samplers import clips_at_random_timestamps
from bulkhead.transforms import Resize
from support import clip, pixels, reference

# The signatures of torchcodec 0.17, in Python's syntax, without annotations.
SIGNATURES = {
    "decoders": """
        VideoDecoder(source, *, stream_index=None, dimension_order="NCHW",
            num_ffmpeg_threads=1, device=None, seek_mode="exact", transforms=None,
            output_dtype=torch.uint8, custom_frame_mappings=None)
        VideoDecoder.__getitem__(self, key)
        VideoDecoder.__len__(self)
        VideoDecoder.get_all_frames(self, fps=None)
        VideoDecoder.get_frame_at(self, index)
        VideoDecoder.get_frame_played_at(self, seconds)
        VideoDecoder.get_frames_at(self, indices)
        VideoDecoder.get_frames_in_range(self, start, stop, step=1)
        VideoDecoder.get_frames_played_at(self, seconds)
        VideoDecoder.get_frames_played_in_range(self, start_seconds, stop_seconds, fps=None)
        SimpleVideoDecoder(source, *, stream_index=None, dimension_order="NCHW",
            num_ffmpeg_threads=1, device=None, seek_mode="exact", transforms=None,
            output_dtype=torch.uint8, custom_frame_mappings=None)
        AudioDecoder(source, *, stream_index=None, sample_rate=None, num_channels=None,
            output_dtype=torch.float32)
        AudioDecoder.get_all_samples(self)
        AudioDecoder.get_samples_played_in_range(self, start_seconds=0.0, stop_seconds=None)
        WavDecoder(source)
        WavDecoder.get_all_samples(self)
        WavDecoder.get_samples_played_in_range(self, start_seconds=0.0, stop_seconds=None)
        CpuFallbackStatus()
        set_cuda_backend(backend)
        set_nvdec_cache_capacity(capacity)
        get_nvdec_cache_capacity()
        decode_image(source)
        decode_jpeg(source)
        decode_png(source)
        decode_webp(source)
        decode_gif(source)
        decode_avif(source)
        decode_heic(source)
    """,
    "samplers": """
        clips_at_random_indices(decoder, *, num_clips=1, num_frames_per_clip=1,
            num_indices_between_frames=1, sampling_range_start=0,
            sampling_range_end=None, policy="repeat_last")
        clips_at_regular_indices(decoder, *, num_clips=1, num_frames_per_clip=1,
            num_indices_between_frames=1, sampling_range_start=0,
            sampling_range_end=None, policy="repeat_last")
        clips_at_random_timestamps(decoder, *, num_clips=1, num_frames_per_clip=1,
            seconds_between_frames=None, sampling_range_start=None,
            sampling_range_end=None, policy="repeat_last")
        clips_at_regular_timestamps(decoder, *, seconds_between_clip_starts,
            num_frames_per_clip=1, seconds_between_frames=None,
            sampling_range_start=None, sampling_range_end=None, policy="repeat_last")
    """,
    "transforms": """
        DecoderTransform()
        Resize(size)
        CenterCrop(size)
        RandomCrop(size)
    """,
    "": """
        Frame(data, pts_seconds, duration_seconds)
        FrameBatch(data, pts_seconds, duration_seconds)
        AudioSamples(data, pts_seconds, duration_seconds, sample_rate)
        cmake_prefix_path()
        core_library_path()
        ffmpeg_major_version()
    """,
}

# The attributes of instances.
STREAM = """duration_seconds_from_header begin_stream_seconds_from_header bit_rate codec
    stream_index duration_seconds begin_stream_seconds"""
ATTRIBUTES = {
    "VideoDecoder": "metadata stream_index cpu_fallback",
    "AudioDecoder": "metadata stream_index",
    "WavDecoder": "metadata stream_index",
    "VideoStreamMetadata": f"""{STREAM} begin_stream_seconds_from_content
        end_stream_seconds_from_content width height num_frames_from_header
        num_frames_from_content average_fps_from_header pixel_aspect_ratio rotation
        color_primaries color_space color_transfer_characteristic pixel_format
        end_stream_seconds num_frames average_fps""",
    "AudioStreamMetadata": f"{STREAM} sample_rate num_channels sample_format",
}


def rows():
    """Returns the first cells of the table of differences."""
    with open("core/python/README.md", encoding="utf-8") as file:
        section = file.read().partition("## Differences from torchcodec")[2]
    cells = re.findall(r"^\| (.*?) \|", section, re.M)
    return [cell for cell in cells if cell != "what" and not cell.startswith("-")]


def signatures():
    """Yields what SIGNATURES has: (module, name, parameters as of inspect)."""
    torch = types.SimpleNamespace(uint8="uint8", float32="float32")
    for module, text in SIGNATURES.items():
        for name, parameters in re.findall(r"^\s+([\w.]+)\((.*?)\)$", text, re.M | re.S):
            line = " ".join(parameters.split())
            function = eval(f"lambda {line}: 0", {"torch": torch})
            yield module, name, inspect.signature(function).parameters


class Names(unittest.TestCase):
    def setUp(self):
        self.told = set(re.findall(r"`(\w+)`", " ".join(rows())))

    def test_have_the_same_signatures_or_are_told(self):
        for module, name, wanted in signatures():
            with self.subTest(name):
                thing = importlib.import_module(f"bulkhead.{module}".rstrip("."))
                for part in name.split("."):
                    thing = getattr(thing, part, None)
                if thing is None:
                    self.assertIn(name, self.told)
                    continue
                found = inspect.signature(thing).parameters
                same = {parameter: found.get(parameter) for parameter in wanted}
                for parameter in wanted:
                    self.assertIn(parameter, found)
                    ours, theirs = same[parameter], wanted[parameter]
                    self.assertEqual(ours.kind, theirs.kind, parameter)
                    self.assertEqual(ours.default, theirs.default, parameter)
                    if parameter == "output_dtype":  # A string in both tables, and told.
                        self.assertIn(parameter, self.told)
                order = [p for p in found.values() if p.kind is not p.KEYWORD_ONLY]
                self.assertEqual(
                    [p.name for p in order],
                    [p.name for p in wanted.values() if p.kind is not p.KEYWORD_ONLY],
                )
                for parameter in set(found) - set(wanted):
                    self.assertIs(found[parameter].kind, inspect.Parameter.KEYWORD_ONLY)
                    self.assertIsNot(found[parameter].default, inspect.Parameter.empty)

    def test_have_the_same_attributes_or_are_told(self):
        video, audio = VideoDecoder(clip()), AudioDecoder(clip())
        wav = WavDecoder(sound())
        made = {
            "VideoDecoder": video,
            "AudioDecoder": audio,
            "WavDecoder": wav,
            "VideoStreamMetadata": video.metadata,
            "AudioStreamMetadata": audio.metadata,
        }
        for name, attributes in ATTRIBUTES.items():
            self.assertEqual(type(made[name]).__name__, name)
            for attribute in attributes.split():
                with self.subTest(name, attribute=attribute):
                    self.assertTrue(
                        hasattr(made[name], attribute) or attribute in self.told
                    )

    def test_are_told_only_if_they_differ(self):
        there = {name for _, name, _ in signatures()}
        for name in self.told & there - {"Resize", "WavDecoder"}:
            self.assertFalse(hasattr(bulkhead.decoders, name), name)
        self.assertFalse(hasattr(VideoDecoder(clip()), "cpu_fallback"))


def sound():
    path = support.clip_directory() + "/sound.wav"
    support.ffmpeg("-i", clip(), "-map", "0:a", "-c:a", "pcm_s16le", path)
    return path


class Differences(unittest.TestCase):
    """One test for each row of the table, named in ROWS by its first cell."""

    def test_each_row_has_a_test(self):
        self.assertEqual(sorted(rows()), sorted(self.ROWS))
        for name in self.ROWS.values():
            self.assertTrue(callable(getattr(self, name)), name)

    ROWS = {
        "URLs": "test_urls",
        'the scan of `seek_mode="exact"`': "test_scan",
        "`device=None`": "test_device",
        "`transforms`": "test_transforms",
        "`Resize`": "test_resize",
        "random times of samplers": "test_random_times",
        "`WavDecoder`": "test_wav",
        "`decode_image` and `decode_jpeg`, `decode_png`, `decode_webp`, `decode_gif`, "
        "`decode_avif`, `decode_heic`; encoders": "test_images_and_encoders",
        "`cpu_fallback`, `CpuFallbackStatus`, `set_cuda_backend`, "
        "`set_nvdec_cache_capacity`, `get_nvdec_cache_capacity`": "test_fallback",
        "`cmake_prefix_path`, `core_library_path`, `ffmpeg_major_version`": "test_paths",
        "`output_dtype`": "test_dtype",
        "a list of floats as indices": "test_floats",
        "an object with `read()` and no `seek()`": "test_no_seek",
        "a source in memory with several dimensions": "test_dimensions",
        "a time between two frames": "test_between",
        "`get_all_frames()`": "test_all_frames",
        "damaged frames": "test_damage",
        "`metadata.average_fps_from_header`": "test_average_fps",
        "colours, codecs, sizes in `metadata`": "test_metadata",
    }

    def test_urls(self):
        with self.assertRaises(bulkhead.NotFoundError):
            VideoDecoder("https://example.com/clip.mp4")

    def test_scan(self):
        decoder = VideoDecoder(clip())

        def counted():
            return decoder._opened().metadata().frame_count_from_content

        for data in decoder:
            self.assertIsNone(counted())
        self.assertEqual(len(decoder), 120)
        self.assertEqual(counted(), 120)

    def test_device(self):
        host = bulkhead.Host(default_device="openreg:1")
        self.assertEqual(VideoDecoder(clip(), host=host).metadata.device, "openreg:1")
        self.assertEqual(VideoDecoder(clip()).metadata.device, "cpu:0")

    def test_transforms(self):
        decoder = VideoDecoder(clip(), device="openreg:1", transforms=[Resize((8, 9))])
        self.assertEqual(tuple(decoder[0].shape), (3, 8, 9))
        foreign = types.SimpleNamespace(size=(8, 9))
        with self.assertRaises(ValueError):
            VideoDecoder(clip(), transforms=[foreign])

    def test_resize(self):
        def scaled(flags):
            return support.ffmpeg(
                "-i", clip(), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24",
                "-vf", f"format=rgb24,scale=160:120:flags={flags}", "-",
            )  # fmt: skip

        full = "bilinear+full_chroma_int+full_chroma_inp+accurate_rnd"
        ours = pixels(VideoDecoder(clip(), transforms=[Resize((120, 160))])[0])
        self.assertEqual(ours, scaled(full))
        self.assertNotEqual(ours, scaled("bilinear"))

    def test_random_times(self):
        asked = []

        class Long:
            """Frames at times that no float32 has."""

            metadata = types.SimpleNamespace(
                begin_stream_seconds=1e6, end_stream_seconds=1e6 + 9, average_fps=25.0
            )

            def get_frames_played_at(self, times):
                asked.extend(times)
                return VideoDecoder(clip()).get_frames_at([0] * len(times))

        clips_at_random_timestamps(Long(), num_clips=20)
        self.assertEqual(len(asked), 20)
        # Values of float32 are 1/16 s apart here.
        self.assertGreater(sum(time * 16 % 1 != 0 for time in asked), 15)

    def test_wav(self):
        samples = WavDecoder(sound(), device="openreg:1").get_all_samples()
        self.assertEqual(samples.sample_rate, 44100)
        path = support.clip_directory() + "/silent.wav"
        support.ffmpeg("-i", sound(), "-t", "0", "-c", "copy", path)
        self.assertEqual(tuple(WavDecoder(path).get_all_samples().data.shape), (1, 0))

    def test_images_and_encoders(self):
        names = [name for name in dir(bulkhead.decoders) if name.startswith("decode_")]
        self.assertEqual(names, [])
        self.assertIsNone(importlib.util.find_spec("bulkhead.encoders"))

    def test_fallback(self):
        self.assertFalse(hasattr(VideoDecoder(clip()), "cpu_fallback"))
        with self.assertRaises(bulkhead.NotFoundError):
            VideoDecoder(clip(), device="cuda")

    def test_paths(self):
        self.assertFalse(hasattr(bulkhead, "core_library_path"))

    def test_dtype(self):
        import numpy

        default = inspect.signature(VideoDecoder).parameters["output_dtype"].default
        self.assertEqual(default, "uint8")
        for dtype in (numpy.float32, "float32"):
            self.assertIn("float32", str(VideoDecoder(clip(), output_dtype=dtype)[0].dtype))

    def test_floats(self):
        import numpy

        with self.assertRaises(TypeError):
            VideoDecoder(clip()).get_frames_at([0.0, 1.0])
        cast = VideoDecoder(clip()).get_frames_at(numpy.array([0.0, 1.9]))
        self.assertEqual(pixels(cast.data), b"".join(reference(clip())[:2]))

    def test_no_seek(self):
        with self.assertRaises(TypeError):
            VideoDecoder(types.SimpleNamespace(read=lambda size: b""))

    def test_dimensions(self):
        import numpy

        with self.assertRaises(ValueError):
            VideoDecoder(numpy.zeros((2, 2), numpy.uint8))

    def test_between(self):
        frames = [
            {"pts": 512 * i, "duration": 256, "key_frame": int(i % 24 == 0)}
            for i in range(120)
        ]
        decoder = VideoDecoder(clip(), custom_frame_mappings=json.dumps({"frames": frames}))
        # Frame 7 is from 0.28 s, and by its duration until 0.3 s.
        frame = decoder.get_frame_played_at(0.31)
        self.assertEqual(pixels(frame.data), reference(clip())[7])

    def test_all_frames(self):
        path = support.clip_directory() + "/fast.mkv"
        # A tick of Matroska's is 1 ms: three frames share each.
        support.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=3000:duration=0.01",
            "-c:v", "ffv1", "-fps_mode", "passthrough", path,
        )  # fmt: skip
        decoder = VideoDecoder(path)
        self.assertEqual(len(decoder), 30)
        self.assertEqual(
            pixels(decoder.get_all_frames().data), b"".join(reference(path, 64, 48))
        )

    def test_damage(self):
        path = support.clip_directory() + "/damaged.mp4"
        with open(clip(), "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2 : len(data) // 2 + 4000] = bytes(4000)
        with open(path, "wb") as file:
            file.write(data)
        with self.assertRaises(bulkhead.BadInputError):
            list(VideoDecoder(path))
        decoder = VideoDecoder(path, on_corrupt="skip")
        left = len(list(decoder))
        self.assertTrue(60 < left < 120, left)
        kinds = {found.kind for found in decoder.damage}
        self.assertIn("damage", kinds)
        self.assertLessEqual(kinds, {"damage", "note"})
        self.assertTrue(all(found.sign for found in decoder.damage))

    def test_average_fps(self):
        path = support.clip_directory() + "/variable.mp4"
        support.ffmpeg("-i", clip(), "-vf", "select=not(mod(n\\,5))+lt(n\\,40)",
                       "-an", "-fps_mode", "vfr", path)  # fmt: skip
        told = support.run(
            "ffprobe", "-v", "error", "-select_streams", "v", "-of", "csv=p=0",
            "-show_entries", "stream=r_frame_rate,avg_frame_rate", path,
        )  # fmt: skip
        guess, average = (eval(rate) for rate in told.decode().strip().split(","))
        self.assertNotAlmostEqual(guess, average)
        metadata = VideoDecoder(path).metadata
        self.assertAlmostEqual(metadata.average_fps_from_header, average)

    def test_metadata(self):
        path = support.clip_directory() + "/claims.mp4"
        support.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.2", "-c:v", "libx264",
            "-pix_fmt", "yuv420p", "-x264-params", "colormatrix=bt2020nc", path,
        )  # fmt: skip
        metadata = VideoDecoder(path).metadata
        self.assertEqual(metadata.color_space, "bt2020nc")
        self.assertEqual((metadata.codec, metadata.width), ("h264", 64))


if __name__ == "__main__":
    support.main()
