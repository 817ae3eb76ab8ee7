# SPDX-License-Identifier: Apache-2.0
"""decode_files() on a cluster of dask with two real processes: what it leaves is what
ffmpeg and `bulkhead batch` make of the same files."""

import contextlib
import gc
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import unittest

import support
import bulkhead
from bulkhead import _core
from bulkhead.decoders import VideoDecoder
from cluster import (
    SOUND,
    ClusterCase,
    hashes_by_ffmpeg,
    hashes_in,
    lines_of,
    make_inputs,
    tree_of,
    wait_until,
)
from support import clip, reference, run_python

if support.has_dask():
    from bulkhead.distributed import decode_files, device_counts


def brightness(decoder):
    return {"frames": len(decoder), "mean": float(decoder[0].mean(dtype=float))}


def first_frame(decoder):
    return support.pixels(decoder[0])[:]


def failing(decoder):
    raise KeyError("a mistake in the function")


def not_a_number(decoder):
    return {"mean": float("nan")}


def a_set(decoder):
    return {len(decoder)}


class Import(unittest.TestCase):
    def test_of_the_package_does_not_import_dask(self):
        loaded = run_python(
            "import sys, bulkhead, bulkhead.decoders\n"
            "print({'dask', 'distributed'} & set(sys.modules))"
        )
        self.assertEqual(loaded, "set()")

    def test_without_dask_names_the_package_to_install(self):
        told = run_python(
            "import sys; sys.modules['distributed'] = None\n"
            "try:\n    import bulkhead.distributed\n"
            "except ImportError as error:\n    print(error)"
        )
        self.assertIn("apt-get install python3-distributed", told)


class InterpreterLock(unittest.TestCase):
    """The engine leaves Python's lock to other threads while it works on the disk."""

    def assert_lets_others_run(self, call):
        # No thread has to give the lock up of itself.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(600)
        go = threading.Lock()
        ran = []

        def run():
            with go:
                ran.append(True)

        with go:
            other = threading.Thread(target=run)
            other.start()
        call()
        ran_meanwhile = bool(ran)
        other.join()
        self.assertTrue(ran_meanwhile)

    def test_is_free_while_outputs_are_planned(self):
        inputs = [f"media/{number}.mp4" for number in range(100_000)]
        self.assert_lets_others_run(lambda: _core.plan_outputs(inputs, "media", "png"))

    def test_is_free_while_a_file_is_decoded(self):
        host = bulkhead.Host().core()
        with tempfile.TemporaryDirectory() as root:
            batch = _core.Batch(root, "{}")
            attempt = batch.begin((clip(), "clip"), clip(), "framemd5", "{}", True)
            options = (_core.VideoOptions(), "framemd5", "", "")
            self.assert_lets_others_run(lambda: attempt.decode_video(host, *options))
            self.assertIn("clip", os.listdir(root))

    def test_is_free_while_what_is_not_finished_is_removed(self):
        with tempfile.TemporaryDirectory() as root:
            batch = _core.Batch(root, "{}")
            last = [batch.begin(("a.mp4", "a.mp4.png"), "a.mp4", "png", "{}", True)]
            output = last[0].output
            os.mkdir(output)
            for number in range(10_000):
                open(os.path.join(output, f"{number}.png"), "w").close()
            del batch
            self.assert_lets_others_run(last.clear)
            self.assertFalse(os.path.exists(output))


@support.needs_dask
class Files(ClusterCase):
    @classmethod
    def options(cls):
        return {"resources": device_counts()}

    def decode(self, files, what, out="out", **options):
        return decode_files(self.client, files, what, self.root / out, **options)

    def test_are_what_ffmpeg_and_the_command_make_of_them(self):
        inputs = make_inputs(self.root / "media")
        summary = self.decode(inputs, "framemd5")
        self.assertEqual((summary.files, summary.results), (len(inputs), len(inputs)))
        self.assertEqual((summary.failed, summary.lost), (3, []))
        codes = [line["error"] and line["error"]["code"] for line in lines_of(self.root / "out")]
        self.assertEqual(codes, [None] * SOUND + ["kBadInput", "kBadInput", "kNotFound"])
        for path in inputs[:SOUND]:
            text = (self.root / "out" / f"{path.name}.framemd5").read_text()
            self.assertEqual(hashes_in(text), hashes_by_ffmpeg(path))
        self.batch(inputs, self.root / "command")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_that_are_there_are_not_decoded_again(self):
        inputs = make_inputs(self.root / "media")
        self.decode(inputs, "framemd5")
        tree = tree_of(self.root / "out")
        readable = len(inputs) - 1  # One that is missing is looked for again.
        again = self.decode(inputs, "framemd5")
        self.assertEqual((again.from_earlier_runs, again.frames), (readable, 0))
        self.assertEqual(tree_of(self.root / "out"), tree)
        self.assertEqual((again.failed, len(again.failures)), (3, 3))
        for one, name in zip(again.failures, ("damaged", "garbage", "missing"), strict=True):
            self.assertIn(name, one["input"])
            self.assertEqual(one["from_earlier_run"], name != "missing")
            told = f"in an earlier run: {one['message']}" in str(again)
            self.assertEqual(told, one["from_earlier_run"])
        there = self.batch(inputs, self.root / "out")["failures"]
        self.assertEqual(there, again.failures)
        (self.root / "out/clip1.mp4.framemd5").unlink()
        os.utime(inputs[1])
        os.truncate(self.root / "out/clip3.mp4.framemd5", 100)
        third = self.decode(inputs, "framemd5")
        self.assertEqual(third.from_earlier_runs, readable - 3)
        for decode in (self.batch, lambda *both: self.decode(inputs, "framemd5")):
            os.truncate(self.root / "out/clip3.mp4.framemd5", 0)
            decode(inputs, self.root / "out")
            self.assertGreater((self.root / "out/clip3.mp4.framemd5").stat().st_size, 0)
        # Records of older releases have no size.
        record = self.root / "out/.batch/manifest/clip3.mp4.framemd5.json"
        record.write_text(re.sub(r'"output_bytes":[0-9]+,', "", record.read_text()))
        self.assertEqual(self.decode(inputs, "framemd5").from_earlier_runs, readable)
        self.assertEqual(self.batch(inputs, self.root / "out")["from_earlier_runs"], readable)
        skipping = self.decode(inputs, "framemd5", on_corrupt="skip")
        self.assertEqual((skipping.from_earlier_runs, skipping.damaged), (0, 1))

    def test_begun_by_the_command_are_finished_here_and_the_other_way_round(self):
        inputs = make_inputs(self.root / "media")
        one, other = inputs[::2], inputs
        self.batch(one, self.root / "a")
        self.assertEqual(self.decode(other, "framemd5", "a").from_earlier_runs, len(one) - 1)
        self.decode(one, "framemd5", "b")
        self.assertEqual(self.batch(other, self.root / "b")["from_earlier_runs"], len(one) - 1)
        self.assertEqual(tree_of(self.root / "a"), tree_of(self.root / "b"))

    def test_on_devices_of_a_backend(self):
        inputs = make_inputs(self.root / "media")[:SOUND]
        self.decode(inputs, "framemd5", devices="openreg")
        self.batch(inputs, self.root / "command", "--device", "openreg")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))
        self.decode(inputs[:1], "framemd5", "one", devices="openreg:1")
        (line,) = lines_of(self.root / "one")
        self.assertEqual(line["options"]["device"], "openreg:1")

    def test_as_pictures(self):
        self.decode([clip()], "png", at="0,-1")
        self.batch([clip()], self.root / "command", "--format", "png", "--at", "0,-1")
        for number in (0, 119):
            name = f"clip.mp4.png/{number:06}.png"
            picture = VideoDecoder(self.root / "out" / name)[0]
            self.assertEqual(support.pixels(picture), reference(clip())[number])
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_as_arrays(self):
        import numpy

        self.decode([clip()], "npy", frames="-30::7")
        batch = numpy.load(self.root / "out/clip.mp4.npy")
        self.assertEqual(batch.shape, (5, 240, 320, 3))
        for frame, expected in zip(batch, reference(clip())[-30::7]):
            self.assertEqual(support.pixels(frame, "NHWC"), expected)

    def test_as_sound(self):
        # One has several requests' worth of sound, and one has none.
        long = self.root / "long.mp4"
        support.ffmpeg("-f", "lavfi", "-i", "sine=duration=20", "-ac", "2", str(long))
        inputs = [clip(), long, *make_inputs(self.root / "media")[:1]]
        self.decode(inputs, "wav", channels=2)
        self.batch(inputs, self.root / "command", "--audio", "--channels", "2")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_as_contact_sheets(self):
        self.assertEqual(self.decode([clip()], "sheet").frames, 64)
        path = self.root / "out/clip.mp4.sheet.png"
        with VideoDecoder(path) as sheet:
            self.assertEqual(sheet.metadata.width, 8 * 160 + 7 * 2)

    def test_as_probes(self):
        self.decode([clip()], "probe")
        here = json.loads((self.root / "out/clip.mp4.probe.json").read_text())
        command = [support.cli_program(), "probe", "--json", clip()]
        there = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        del there["file"]
        for one, other in zip(here["streams"], there.pop("streams"), strict=True):
            self.assertEqual({key: one[key] for key in other}, other)
        self.assertEqual({key: here[key] for key in there}, there)

    def test_by_a_function(self):
        inputs = make_inputs(self.root / "media")
        summary = self.decode(inputs, brightness)
        self.assertEqual((summary.results, summary.failed), (len(inputs), 2))
        found = json.loads((self.root / "out/clip3.mp4.brightness").read_text())
        self.assertEqual(found["frames"], 24)
        self.decode([clip()], first_frame, "bytes")
        written = (self.root / "bytes/clip.mp4.first_frame").read_bytes()
        self.assertEqual(support.Pixels(written), reference(clip())[0])
        # What the function does wrong is no result of any file.
        wrong = self.decode([clip()], failing, "wrong")
        self.assertEqual((wrong.results, wrong.lost[0]["code"]), (0, "kInvalidArgument"))
        self.assertIn("a mistake in the function", wrong.lost[0]["message"])
        self.assertEqual(lines_of(self.root / "wrong"), [])
        for function in (not_a_number, a_set):
            none = self.decode([clip()], function, "none")
            self.assertEqual((none.results, none.lost[0]["code"]), (0, "kInvalidArgument"))
            self.assertIn(f"{function.__name__}() returned what JSON", none.lost[0]["message"])
            self.assertFalse((self.root / f"none/clip.mp4.{function.__name__}").exists())

    def test_keep_their_directories(self):
        inputs = make_inputs(self.root / "media")[:2]
        other = self.root / "media/other"
        other.mkdir()
        inputs.append(other / "clip1.mp4")
        os.link(inputs[0], inputs[-1])
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "relative_to"):
            self.decode(inputs, "framemd5")
        self.decode(inputs, "framemd5", relative_to=self.root / "media")
        self.batch(inputs, self.root / "command", "--relative-to", str(self.root / "media"))
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_with_names_that_are_too_long_are_errors_of_their_own(self):
        media = self.root / "media"
        media.mkdir()
        # A record adds ".framemd5.json".
        fitting, longer, longest = (media / ("n" * count) for count in (241, 242, 255))
        for path in (fitting, longer, longest):
            os.link(clip(), path)
        for _ in range(2):
            summary = self.decode([fitting, longer, longest], "framemd5")
            self.assertEqual((summary.results, summary.failed, summary.lost), (3, 2, []))
        ok, one, other = lines_of(self.root / "out")
        self.assertEqual((ok["input"], ok["error"]), (str(fitting), None))
        for line, path, size in ((one, longer, 256), (other, longest, 269)):
            self.assertEqual((line["input"], line["error"]["code"]), (str(path), "kBadInput"))
            for told in (f"it has {size} bytes", "a name can have 255", "to 241 bytes at most"):
                self.assertIn(told, line["error"]["message"])
        self.batch([fitting, longer, longest], self.root / "command")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_whose_names_are_no_text_can_be_told_apart(self):
        media = os.fsencode(self.root / "media")
        os.mkdir(media)
        names = [b"a\xff.mp4", b"a\xfe.mp4", b"a\\xff.mp4", b"\xe2\x82.mp4", "é€.mp4".encode()]
        inputs = [os.path.join(media, name) for name in sorted(names)]
        for path in inputs:
            os.link(clip(), path)
        inputs.append(os.path.join(media, b"none\xff.mp4"))
        self.decode(inputs, "framemd5")
        lines = lines_of(self.root / "out")
        for key in ("input", "output"):
            texts = [line[key] for line in lines if line[key]]
            self.assertEqual(len(texts), len(set(texts)))
        read = [
            re.sub(
                rb"\\x(..)",
                lambda found: bytes.fromhex(found[1].decode()),
                line["input"].encode(),
            )
            for line in lines
        ]
        self.assertEqual(sorted(read), sorted(inputs))
        (missing,) = (line for line in lines if line["error"])
        self.assertIn("none\\xff.mp4", missing["error"]["message"])
        again = self.decode(inputs, "framemd5")
        self.assertEqual(again.from_earlier_runs, len(names))
        self.batch(map(os.fsdecode, inputs), self.root / "command")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))

    def test_are_named_as_the_caller_names_them(self):
        make_inputs(self.root / "media")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.root)
        inputs = ["media/clip1.mp4", "media/damaged.mp4", "media/missing.mp4"]
        self.decode(inputs, "framemd5")
        self.batch(inputs, "command")
        self.assertEqual(tree_of("out"), tree_of("command"))

    def test_with_errors_leave_nothing_behind_in_the_processes(self):
        # A cycle would keep it until the collector runs, which may be hours later.
        self.client.run(gc.disable)
        self.addCleanup(self.client.run, gc.enable)
        inputs = make_inputs(self.root / "media")
        self.assertEqual(self.decode(inputs, "framemd5").failed, 3)
        self.await_nothing_held()
        # A disk that takes no more; the memory of frames is below the limit.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (3 << 20, hard))
        self.addCleanup(
            self.client.run, resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard)
        )
        with self.assertRaisesRegex(OSError, "File too large"):
            self.decode(inputs, "npy", out="arrays")
        self.await_nothing_held()

    def await_nothing_held(self):
        """Waits until no process of dask has memory of frames, an unfinished output, or a
        bulkheadd."""

        def held():
            import os
            import psutil

            links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
            found = [os.readlink(link) for link in links if os.path.lexists(link)]
            found += [part.path for part in psutil.Process().memory_maps(grouped=False)]
            found += [child.name() for child in psutil.Process().children()]
            names = ("bulkhead-frames", "unfinished", "bulkheadd")
            return [one for one in found if any(name in one for name in names)]

        wait_until(lambda: not any(self.client.run(held).values()))

    def test_are_not_touched_by_mistakes_of_the_call(self):
        for mistake, told in {
            ("what", "gif"): "'framemd5'",
            ("frames", "3"): "A:B:S",
            ("on_corrupt", "hide"): "'skip'",
            ("sample_rate", 8000): "wav",
            ("devices", "nonesuch"): "resources=",
        }.items():
            options = {"what": "framemd5", **dict([mistake])}
            with self.subTest(mistake), self.assertRaisesRegex(
                bulkhead.InvalidArgumentError, told
            ):
                self.decode([clip()], **options)
            self.assertFalse((self.root / "out").exists())
        plugins = list(self.cluster.scheduler.worker_plugins)
        with contextlib.redirect_stderr(io.StringIO()) as told:
            with self.assertRaisesRegex(bulkhead.NotFoundError, "openreg:7"):
                self.decode([clip()], "framemd5", devices="openreg:7")
        self.assertIn("1 have no result: an error has ended the call\n", told.getvalue())
        # A worker that starts later would fail as these have.
        self.assertEqual(set(plugins), set(self.cluster.scheduler.worker_plugins))
        same = [os.path.join(self.root, "x.mp4"), os.path.join(self.root, ".", "x.mp4")]
        with self.assertRaisesRegex(bulkhead.InvalidArgumentError, "two names of one file"):
            self.decode(same, "framemd5")
        self.assertEqual(tree_of(self.root / "out"), {})


if __name__ == "__main__":
    support.main()
