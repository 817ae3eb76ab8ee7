# SPDX-License-Identifier: Apache-2.0
"""What importing the Python package does to a process, and what it needs."""

import os
import unittest

import support
from support import clip, reference, run_python


class Import(unittest.TestCase):
    def test_starts_nothing_and_imports_no_arrays(self):
        self.assertEqual(
            run_python(
                """
import os, sys, threading
before = set(os.listdir("/proc/self/fd"))
import bulkhead, bulkhead.decoders
print({"torch", "numpy"} & set(sys.modules), threading.active_count(),
      set(os.listdir("/proc/self/fd")) - before,
      open("/proc/self/task/%d/children" % os.getpid()).read())
"""
            ).split(),
            ["set()", "1", "set()"],
        )

    def test_needs_neither_torch_nor_numpy(self):
        output = run_python(
            """
import hashlib, sys
sys.modules["torch"] = sys.modules["numpy"] = None
from bulkhead.decoders import AudioDecoder, VideoDecoder
from bulkhead.samplers import clips_at_random_indices
decoder = VideoDecoder(sys.argv[1], dimension_order="NHWC")
frame = decoder[7]
print(frame.shape, hashlib.md5(frame).hexdigest())
batch = decoder.get_frames_at([6, 7])
print(len(batch), batch.pts_seconds, batch.data.shape)
for one in (batch[1], batch[-1], list(batch)[1]):
    print(one.pts_seconds, one.data.shape, hashlib.md5(one.data).hexdigest())
for refused in (lambda: batch[:1], lambda: clips_at_random_indices(decoder)):
    try:
        refused()
    except RuntimeError as error:
        print(error)
view = memoryview(frame)
view.cast("B")[0] = 1
print(view.readonly, next(decoder.frames()).pts_seconds)
print(AudioDecoder(sys.argv[1]).get_samples_played_in_range(0, 1).data.shape)
try:
    VideoDecoder(sys.argv[1])[0]
except RuntimeError as error:
    print(error)
""",
            clip(),
        ).splitlines()
        md5 = __import__("hashlib").md5(reference(clip())[7]).hexdigest()
        self.assertEqual(output[0], f"(240, 320, 3) {md5}")
        self.assertEqual(output[1], "2 [0.24, 0.28] (2, 240, 320, 3)")
        self.assertEqual(output[2:5], 3 * [f"0.28 (240, 320, 3) {md5}"])
        self.assertIn("without torch and numpy", output[5])
        self.assertIn("clips need torch or numpy", output[6])
        self.assertEqual(output[7], "False 0.0")
        self.assertEqual(output[8], "(1, 44100)")
        self.assertIn("dimension_order='NHWC'", output[9])

    def test_a_directory_named_torch_is_not_torch(self):
        for name in ("torch", "numpy"):
            os.makedirs(support.clip_directory() + "/named/" + name)
        output = run_python(
            """
import sys
sys.path[:] = [path for path in sys.path if "dist-packages" not in path]
sys.path.append(sys.argv[2])
import numpy, torch
from bulkhead.decoders import VideoDecoder
print(torch.__path__, type(VideoDecoder(sys.argv[1], dimension_order="NHWC")[0]).__name__)
""",
            clip(),
            support.clip_directory() + "/named",
        )
        self.assertIn("/named/torch", output)
        self.assertTrue(output.endswith(" Array"), output)

    def test_a_torch_that_cannot_be_imported_is_told(self):
        path = support.clip_directory() + "/broken"
        support.write_files(path, {"torch/__init__.py": "raise OSError('no libcudart')"})
        output = run_python(
            """
import sys
sys.path.insert(0, sys.argv[2])
from bulkhead.decoders import VideoDecoder
decoder = VideoDecoder(sys.argv[1])
print(type(next(decoder.frames()).data).__name__)
try:
    decoder[0]
except OSError as error:
    print(error)
""",
            clip(),
            path,
        )
        self.assertEqual(output.splitlines(), ["ndarray", "no libcudart"])

    def test_native_frames_do_not_import_torch(self):
        self.assertEqual(
            run_python(
                """
import sys
from bulkhead.decoders import VideoDecoder
frame = next(VideoDecoder(sys.argv[1]).frames())
print(type(frame.data).__name__, "torch" in sys.modules)
""",
                clip(),
            ),
            "ndarray False",
        )

    def test_a_broken_plugin_is_nobodys_problem(self):
        # As after `pip install` of something that is broken in each way.
        site = support.clip_directory() + "/site-packages"
        support.write_files(
            site,
            {
                "acme-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n",
                "acme-1.0.dist-info/entry_points.txt": "[bulkhead.backends]\nacme = acme:f\n",
                "acme.so": "this is no shared object",
                "noise-1.0.dist-info/entry_points.txt": "[bulkhead.backends\n\x00 = = =",
            },
        )
        output = run_python(
            """
import sys
sys.path.append(sys.argv[2])
import bulkhead
from bulkhead.decoders import VideoDecoder
print(len(VideoDecoder(sys.argv[1])))
try:
    VideoDecoder(sys.argv[1], device="acme")
except bulkhead.BackendUnavailableError as error:
    print(error)
""",
            clip(),
            site,
        ).splitlines()
        self.assertEqual(output[0], "120")
        self.assertIn("acme", output[1])
        self.assertIn("BULKHEAD_DEVICE_BACKEND_AUTOLOAD=0", output[1])

    def test_a_package_takes_no_name_from_another_backend(self):
        site = support.clip_directory() + "/site-packages"
        support.write_files(
            site,
            {
                "acme-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n",
                "acme-1.0.dist-info/entry_points.txt": "[bulkhead.backends]\ncpu = acme:f\n",
                "acme.so": "this is no shared object",
                "bulkhead_cpu-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: bulkhead-cpu\nVersion: 9.9\n",
            },
        )
        script = """
import sys
sys.path.insert(0, sys.argv[2])
from bulkhead.decoders import VideoDecoder
print(len(VideoDecoder(sys.argv[1])), len(VideoDecoder(sys.argv[1], device="cpu")))
"""
        self.assertEqual(run_python(script, clip(), site), "120 120")


if __name__ == "__main__":
    support.main()
