# SPDX-License-Identifier: Apache-2.0
"""What a decoder of the Python package can decode, and what it refuses."""

import array
import gc
import io
import mmap
import os
import pathlib
import pickle
import shutil
import signal
import unittest
import weakref

import support
from bulkhead import AllowedMedia, BadInputError, Host, NotFoundError, UnsupportedError
from bulkhead.decoders import AudioDecoder, VideoDecoder
from support import clip, on_each_device, pixels, reference


def contents(path):
    return pathlib.Path(path).read_bytes()


class ShortReads(io.BytesIO):
    """Returns a few bytes at a time, as a socket does."""

    def read(self, size=-1):
        return super().read(min(size, 5000))


class Failing(ShortReads):
    """Raises in its tenth read, and then works."""

    reads = 0

    def read(self, size=-1):
        self.reads += 1
        if self.reads == 10:
            raise ConnectionResetError("the object store is gone")
        return super().read(size)


@on_each_device
class Sources(unittest.TestCase):
    def expect(self, source):
        with VideoDecoder(source, device=self.device) as decoder:
            self.assertEqual(len(decoder), 120)
            self.assertEqual(pixels(decoder[50]), reference(clip())[50])
        samples = AudioDecoder(source, device=self.device).get_all_samples()
        self.assertGreater(samples.data.shape[1], 4.7 * 44100)

    def test_paths(self):
        self.expect(clip())
        self.expect(pathlib.Path(clip()))

    def test_bytes_leave_no_descriptor_behind(self):
        data = contents(clip())
        host = Host()
        VideoDecoder(data, device=self.device, host=host).close()
        before = support.open_descriptors()
        decoders = [VideoDecoder(data, device=self.device, host=host) for _ in range(5)]
        decoders.append(AudioDecoder(bytearray(data), device=self.device, host=host))
        self.assertGreater(support.open_descriptors(), before)
        for decoder in decoders:
            decoder.close()
        self.assertEqual(support.open_descriptors(), before)
        self.assertIn("of bytes, closed", repr(decoders[0]))
        self.assertEqual(support.open_descriptors(), before)

    def test_names_that_are_no_utf8(self):
        name = os.fsencode(support.clip_directory()) + b"/\xff\xfe " + self.device.encode()
        shutil.copy(clip(), name)

        class Named:
            def __fspath__(self):
                return name

        for source in (os.fsdecode(name), pathlib.Path(os.fsdecode(name)), Named()):
            self.expect(source)
        decoder = VideoDecoder(source, device=self.device)
        again = pickle.loads(pickle.dumps(decoder))
        self.assertEqual(pixels(again[50]), reference(clip())[50])
        self.assertIn(r"\xff\xfe", repr(decoder))
        with self.assertRaisesRegex(IndexError, r"\\xff\\xfe .*the stream has 120"):
            decoder[120]

    def test_memory(self):
        data = contents(clip())
        self.expect(data)
        self.expect(bytearray(data))
        self.expect(memoryview(data))
        self.expect(array.array("B", data))
        with open(clip(), "rb") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                self.expect(memoryview(mapped)[:])
                self.expect(mapped)

    def test_arrays_and_tensors(self):
        import numpy

        data = numpy.frombuffer(contents(clip()), dtype=numpy.uint8)
        self.expect(data)
        with self.assertRaises(ValueError):
            VideoDecoder(data.reshape(1, -1), device=self.device)
        with self.assertRaises(ValueError):
            VideoDecoder(data.astype(numpy.float32), device=self.device)
        with self.assertRaises(ValueError):
            VideoDecoder(data[::2], device=self.device)

    @support.needs_torch
    def test_tensors(self):
        import torch

        self.expect(torch.frombuffer(bytearray(contents(clip())), dtype=torch.uint8))

    def test_the_decoder_owns_the_bytes(self):
        data = bytearray(contents(clip()))
        decoder = VideoDecoder(data, device=self.device)
        data[:] = bytes(len(data))
        self.assertEqual(pixels(decoder[50]), reference(clip())[50])
        again = pickle.loads(pickle.dumps(decoder))
        self.assertEqual(pixels(again[50]), reference(clip())[50])

    def test_file_like_objects(self):
        with open(clip(), "rb") as file:
            self.expect(file)
        with open(clip(), "rb", buffering=0) as file:
            self.expect(file)
        self.expect(io.BytesIO(contents(clip())))
        self.expect(ShortReads(contents(clip())))

    def test_sound_of_every_kind_from_a_reader(self):
        kinds = {
            "opus.ogg": "libopus", "vorbis.ogg": "libvorbis", "flac.ogg": "flac", "a.mp3": "libmp3lame",
            "a.flac": "flac", "a.aac": "aac", "a.m4a": "aac", "a.ac3": "ac3", "a.wav": "pcm_s16le",
            "a.wv": "wavpack", "a.mka": "libopus", "a.ts": "mp2", "a.flv": "aac", "a.avi": "libmp3lame",
            "a.tta": "tta", "a.wma": "wmav2", "a.caf": "alac", "a.mpg": "mp2",
        }  # fmt: skip
        for name, codec in kinds.items():
            path = support.clip_directory() + "/" + name
            support.ffmpeg(
                "-f", "lavfi", "-i", "aevalsrc=random(0)-0.5:s=48000:d=12", "-c:a", codec, path
            )
            expected = AudioDecoder(path, device=self.device).get_all_samples()
            for reader in (io.BytesIO, ShortReads):
                with self.subTest(name, reader=reader):
                    got = AudioDecoder(reader(contents(path)), device=self.device)
                    self.assertEqual(
                        pixels(got.get_all_samples().data, "CN"), pixels(expected.data, "CN")
                    )

    def test_a_reader_whose_memory_has_strides(self):
        class Backwards(io.BytesIO):
            def read(self, size=-1):
                return memoryview(super().read(size)[::-1])[::-1]

        self.expect(Backwards(contents(clip())))

    def test_a_reader_that_refers_to_its_decoder(self):
        source = ShortReads(contents(clip()))
        source.decoder = VideoDecoder(source, device=self.device)
        gone = weakref.ref(source)
        del source
        gc.collect()
        self.assertIsNone(gone())

    def test_an_exception_of_a_reader_is_the_callers(self):
        failing = Failing(contents(clip()))
        with self.assertRaisesRegex(ConnectionResetError, "object store"):
            decoder = VideoDecoder(failing, device=self.device)
            list(decoder)
        with VideoDecoder(failing, device=self.device) as decoder:  # It works now.
            self.assertEqual(len(list(decoder)), 120)


class Refusals(unittest.TestCase):
    def test_objects_that_are_no_source(self):
        for source in (5, None, object(), [1, 2]):
            with self.assertRaisesRegex(TypeError, "Unknown source type"):
                VideoDecoder(source)
        with open(clip(), encoding="latin-1") as text:
            with self.assertRaisesRegex(TypeError, "binary"):
                VideoDecoder(text)

        class Unseekable:
            def read(self, size):
                return b""

        with self.assertRaisesRegex(TypeError, "seek"):
            VideoDecoder(Unseekable())

    def test_readers_that_break_the_protocol(self):
        class Text(io.BytesIO):
            def read(self, size=-1):
                return "text"

        class TooMuch(io.BytesIO):
            def read(self, size=-1):
                return super().read(size) + b"!"

        with self.assertRaisesRegex(TypeError, "not bytes"):
            VideoDecoder(Text(contents(clip())))
        with self.assertRaisesRegex(RuntimeError, "returned .* bytes"):
            VideoDecoder(TooMuch(contents(clip())))

    def test_a_reader_that_uses_its_decoder(self):
        class Greedy(ShortReads):
            decoder = None

            def read(self, size=-1):
                if self.decoder is not None:
                    self.decoder[0]
                return super().read(size)

        source = Greedy(contents(clip()))
        source.decoder = VideoDecoder(source)
        # Whatever was read by then, the next worker asks for it again.
        os.kill(source.decoder.worker_pid, signal.SIGKILL)
        with self.assertRaisesRegex(RuntimeError, "called the decoder that it serves"):
            list(source.decoder)

    def test_files(self):
        with self.assertRaisesRegex(RuntimeError, "No such file"):
            VideoDecoder("/no/such/file.mp4")
        with self.assertRaisesRegex(NotFoundError, r"\\xff"):
            VideoDecoder("/no/such/file\udcff.mp4")
        for path in (clip() + "\0.mp4", pathlib.Path(clip() + "\0")):
            with self.assertRaisesRegex(ValueError, "clip.mp4.*embedded null byte"):
                VideoDecoder(path)
        with self.assertRaises(NotFoundError):
            VideoDecoder("https://example.com/clip.mp4")
        with self.assertRaises(BadInputError):
            VideoDecoder(b"these are no media, whatever else they may be" * 100)
        with self.assertRaises(RuntimeError):
            VideoDecoder(b"")

    def test_streams(self):
        with self.assertRaises(ValueError):
            VideoDecoder(clip(), stream_index=1)  # It is sound.
        with self.assertRaises(ValueError):
            VideoDecoder(clip(), stream_index=7)
        self.assertEqual(VideoDecoder(clip(), stream_index=0).stream_index, 0)

    def test_devices(self):
        with self.assertRaisesRegex(RuntimeError, 'no device "cuda"'):
            VideoDecoder(clip(), device="cuda")

    def test_arguments(self):
        for wrong in (
            {"seek_mode": "fast"},
            {"on_corrupt": "ignore"},
            {"num_ffmpeg_threads": None},
            {"custom_frame_mappings": "{}"},
            {"custom_frame_mappings": '{"frames": []}', "seek_mode": "approximate"},
        ):
            with self.subTest(wrong), self.assertRaises(ValueError):
                VideoDecoder(clip(), **wrong)
        with self.assertRaises(TypeError):
            VideoDecoder(clip(), 0)
        with self.assertRaisesRegex(ValueError, "Host has no 'devices'"):
            Host(devices=1)

    def test_allowed_media(self):
        only = AllowedMedia(codecs=["vp9", "opus"])
        with self.assertRaises(UnsupportedError):
            VideoDecoder(clip(), allowed=only)
        self.assertEqual(len(VideoDecoder(clip(), allowed=AllowedMedia.web())), 120)


class BestStream(unittest.TestCase):
    def test_is_that_of_ffmpeg(self):
        path = support.clip_directory() + "/two.mkv"
        support.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10:duration=1",
            "-i", clip(), "-map", "0:v", "-map", "1:v", "-c:v", "libx264", path,
        )  # fmt: skip
        decoder = VideoDecoder(path)
        self.assertEqual(decoder.stream_index, 1)
        self.assertEqual(tuple(decoder[0].shape), (3, 240, 320))
        self.assertEqual(tuple(VideoDecoder(path, stream_index=0)[0].shape), (3, 120, 160))


class FrameMappings(unittest.TestCase):
    def test_replace_the_scan(self):
        json = support.run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_frames",
            "-of", "json", clip(),
        )  # fmt: skip
        for mappings in (json, json.decode(), io.BytesIO(json)):
            decoder = VideoDecoder(clip(), custom_frame_mappings=mappings)
            self.assertEqual(len(decoder), 120)
            self.assertEqual(pixels(decoder[77]), reference(clip())[77])


if __name__ == "__main__":
    support.main()
