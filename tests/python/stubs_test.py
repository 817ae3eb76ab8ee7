# SPDX-License-Identifier: Apache-2.0
"""The types that the package declares are those that it has (mypy's stubtest), and
users of mypy are told of mistakes."""

import contextlib
import io
import os
import unittest

import support
from mypy import api, stubtest


class Stubs(unittest.TestCase):
    def setUp(self):
        # For modules, mypy looks nowhere else.
        os.environ["MYPYPATH"] = os.environ["PYTHONPATH"]
        os.chdir(support.clip_directory())  # mypy keeps a cache where it runs.

    def test_are_what_the_package_has(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            result = stubtest.test_stubs(stubtest.parse_options(["bulkhead"]))
        self.assertEqual(result, 0, output.getvalue())

    def test_tell_of_mistakes(self):
        with open("script.py", "w", encoding="utf-8") as script:
            script.write(
                "from bulkhead import Frame, devices\n"
                "from bulkhead.decoders import VideoDecoder\n"
                "decoder = VideoDecoder('clip.mp4', device='openreg:1')\n"
                "frame: Frame = decoder.get_frame_at(0)\n"
                "names: list[str] = [device.name for device in devices()]\n"
                "rate: float = decoder.metadata.average_fps or 25.0\n"
                "decoder.get_frame_at('first')\n"
                "VideoDecoder('clip.mp4', seek_mode='fast')\n"
                "decoder.get_frames()\n"
            )
        output, errors, status = api.run(["script.py"])
        lines = [line.split(":")[1] for line in output.splitlines() if ": error:" in line]
        self.assertEqual((errors, status, lines), ("", 1, ["7", "8", "9"]), output)


if __name__ == "__main__":
    support.main()
