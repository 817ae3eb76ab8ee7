# SPDX-License-Identifier: Apache-2.0
"""Each argument of each public function is checked: an error names it, and says what it
is and what it can be."""

import inspect
import math
import pathlib
import unittest

import support
import bulkhead
from bulkhead import _core, _host, decoders, samplers, transforms
from bulkhead.decoders import AudioDecoder, VideoDecoder
from support import clip, clip_directory

CLASSES = (
    bulkhead.AllowedMedia,
    bulkhead.AudioSamples,
    bulkhead.Frame,
    bulkhead.FrameBatch,
    bulkhead.Host,
    decoders.AudioDecoder,
    decoders.VideoDecoder,
    decoders.WavDecoder,
    transforms.CenterCrop,
    transforms.RandomCrop,
    transforms.Resize,
)


class Wrong:
    """No argument can be one."""

    def __repr__(self):
        return "Wrong()"


def functions():
    """Yields the public functions and constructors, and methods with an object."""
    for module in (bulkhead, samplers):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield getattr(module, name)
    yield from CLASSES
    for made in (bulkhead.Host(), VideoDecoder(clip()), AudioDecoder(clip())):
        for name, method in inspect.getmembers(made, inspect.ismethod):
            if name == "__getitem__" or not name.startswith("_"):
                yield method


def required(function):
    """Returns arguments with which the function can be called."""
    import numpy

    batch = function is bulkhead.FrameBatch
    dimensions = {bulkhead.AudioSamples: 2, bulkhead.FrameBatch: 4}.get(function, 3)
    known = {
        "backend": "cpu",
        "data": numpy.zeros((1,) * dimensions, numpy.uint8),
        "decoder": VideoDecoder(clip()),
        "device": "cpu",
        "duration_seconds": [1.0] if batch else 1.0,
        "index": 0,
        "indices": [0],
        "key": 0,
        "pts_seconds": [0.0] if batch else 0.0,
        "sample_rate": 8000,
        "seconds": 0.5,
        "seconds_between_clip_starts": 1,
        "size": (8, 9),
        "source": clip(),
        "start": 0,
        "start_seconds": 0,
        "stop": 1,
        "stop_seconds": 1,
        "what": "/no/such/place",
    }
    return {
        parameter.name: known[parameter.name]
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }


class Arguments(unittest.TestCase):
    def expect(self, function, name, value, *told):
        """Calls the function with that value, and expects to be told of it."""
        label = f"{getattr(function, '__qualname__', function)}({name}={value!r})"
        with self.subTest(label):
            with self.assertRaises((TypeError, ValueError)) as caught:
                function(**{**required(function), name: value})
            error = caught.exception
            self.assertTrue(
                type(error) in (TypeError, ValueError, bulkhead.InvalidArgumentError), error
            )
            for words in (name, *told):
                self.assertIn(words, str(error))
            self.assertNotIn("incompatible", str(error))

    def test_of_each_function(self):
        count = 0
        for function in functions():
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    continue  # Of Host, below, and of importlib.metadata.
                if function is bulkhead.FrameBatch and "seconds" in parameter.name:
                    self.expect(function, parameter.name, Wrong(), "dimensions of data")
                    continue
                self.expect(function, parameter.name, Wrong(), "Wrong")
                count += 1
        self.assertGreater(count, 100)

    def test_of_a_host(self):
        members = {name for name in dir(_core.HostOptions()) if not name.startswith("_")}
        self.assertEqual(members, {*_host._OPTIONS, "limits", "deadlines"})
        for name in members:
            self.expect(bulkhead.Host, name, Wrong(), "it can be")
        for name in ("limits", "deadlines"):
            struct = {"limits": _core.Limits, "deadlines": _core.Deadlines}[name]()
            for member in dir(struct):
                if not member.startswith("_"):
                    self.expect(bulkhead.Host, name, {member: Wrong()}, member, "it can be")
        for value in (math.inf, math.nan, -1, 1e300):
            self.expect(bulkhead.Host, "deadlines", {"frame": value}, "frame", "a year")
        for slots in (0, 1):
            self.expect(bulkhead.Host, "limits", {"frame_slots": slots}, "at least 2")
        self.expect(bulkhead.Host, "limits", {"frame_slots": 2**40}, "frame_slots", "too large")
        self.expect(bulkhead.Host, "limits", {"__class__": int}, "has no")

    def test_that_could_be_something_else(self):
        for name, value, told in (
            ("stream_index", "0", "of str; it can be a whole number"),
            ("stream_index", 2**40, "from 0 to"),
            ("stream_index", -1, "from 0 to"),
            ("num_ffmpeg_threads", -1, "from 0 to"),
            ("device", 3, "of int; it can be the name of a device"),
            ("custom_frame_mappings", {"frames": []}, "JSON"),
            ("transforms", transforms.Resize((8, 9)), "a list of"),
            ("allowed", ["mp4"], "bulkhead.AllowedMedia or None"),
            ("host", "x", "bulkhead.Host or None"),
            ("backend_options", {"a": 1}, "['a'] is 1"),
        ):
            self.expect(VideoDecoder, name, value, told)
        self.expect(AudioDecoder, "sample_rate", 16000.0, "a whole number")
        self.expect(bulkhead.AllowedMedia, "containers", "mp4", "a list of str")
        decoder = VideoDecoder(clip())
        self.expect(decoder.get_frames_played_in_range, "fps", "x", "a number or None")
        self.expect(decoder.get_frame_played_at, "seconds", "1", "a number")


class Accepted(unittest.TestCase):
    def test_no_frame_has_a_number_of_more_than_64_bits(self):
        decoder = VideoDecoder(clip())
        for index in (2**63, -(2**63) - 1, 10**30):
            for call in (decoder.__getitem__, decoder.get_frame_at):
                with self.assertRaisesRegex(IndexError, "the stream has 120"):
                    call(index)
            with self.assertRaises(bulkhead.OutOfRangeError):
                decoder.get_frames_at([0, index])

    def test_transforms_of_an_iterator(self):
        made = (transforms.Resize(size) for size in ((8, 9), (6, 7)))
        self.assertEqual(tuple(VideoDecoder(clip(), transforms=made)[0].shape), (3, 6, 7))

    def test_paths_of_a_host(self):
        path = pathlib.Path(clip_directory())
        host = bulkhead.Host(
            plugin_path=[path], plugin_add_path=(path,), state_directory=path / "state",
            limits=None, deadlines=None, allowed=None, sandbox_floor=None,
        )  # fmt: skip
        self.assertIn(str(path), [place.path for place in host.searched_places()])
        with self.assertRaisesRegex(bulkhead.NotFoundError, "there is no backend in"):
            host.load_backend(path)


if __name__ == "__main__":
    support.main()
