# SPDX-License-Identifier: Apache-2.0
"""The types that the package declares are those that it has (mypy's stubtest), and
users of mypy are told of mistakes."""

import contextlib
import inspect
import io
import os
import unittest

import support
import bulkhead
from bulkhead import decoders, samplers, transforms
from mypy import api, stubtest

if support.has_dask():
    from bulkhead import distributed

# What the package calls is not what is checked, and may be not installed.
CONFIGURATION = """
[mypy]
[mypy-distributed.*]
follow_imports = skip
ignore_missing_imports = True
"""

OPERATORS = ("__init__", "__iter__", "__len__", "__getitem__", "__enter__", "__exit__")


def functions(thing):
    """Yields a function, or a class's that the package defines for its users."""
    if inspect.isfunction(thing):
        yield thing
    elif inspect.isclass(thing) and not issubclass(thing, Exception):
        for name in dir(thing):
            member = inspect.getattr_static(thing, name)
            member = getattr(member, "fget", getattr(member, "__func__", member))
            if not name.startswith("_") or name in OPERATORS:
                # What another package's class brings is not ours.
                if inspect.isfunction(member) and member.__module__.startswith("bulkhead"):
                    yield member


class Stubs(unittest.TestCase):
    def setUp(self):
        # For modules, mypy looks nowhere else.
        os.environ["MYPYPATH"] = os.environ["PYTHONPATH"]
        os.chdir(support.clip_directory())  # mypy keeps a cache where it runs.

    def test_are_what_the_package_has(self):
        support.write_files(".", {"mypy.ini": CONFIGURATION, "absent": "bulkhead.distributed\n"})
        options = ["bulkhead", "--mypy-config-file", "mypy.ini"]
        if not support.has_dask():
            options += ["--allowlist", "absent"]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            result = stubtest.test_stubs(stubtest.parse_options(options))
        self.assertEqual(result, 0, output.getvalue())

    def test_tell_of_mistakes(self):
        with open("script.py", "w", encoding="utf-8") as script:
            script.write(
                "from bulkhead import AllowedMedia, Frame, devices\n"
                "from bulkhead.decoders import VideoDecoder\n"
                "from bulkhead.transforms import Resize\n"
                "decoder = VideoDecoder('clip.mp4', device='openreg:1')\n"
                "frame: Frame = decoder.get_frame_at(0)\n"
                "names: list[str] = [device.name for device in devices()]\n"
                "rate: float = decoder.metadata.average_fps or 25.0\n"
                "decoder.get_frame_at('first')\n"
                "VideoDecoder('clip.mp4', seek_mode='fast')\n"
                "decoder.get_frames()\n"
                "web = AllowedMedia.web()\n"
                "for one in decoder.get_frames_at([0]):\n"
                "    print(len(one), Resize((8, 9)).settle(1, 2), web)\n"
            )
        output, errors, status = api.run(["--strict", "--follow-imports=silent", "script.py"])
        lines = [line.split(":")[1] for line in output.splitlines() if ": error:" in line]
        self.assertEqual((errors, status, lines), ("", 1, ["8", "9", "10"]), output)

    def test_of_what_is_public_lack_nothing(self):
        modules = [bulkhead, decoders, samplers, transforms]
        if support.has_dask():
            modules.append(distributed)
        for module in modules:
            for name in module.__all__:
                for function in functions(getattr(module, name)):
                    with self.subTest(module=module.__name__, function=function.__qualname__):
                        signature = inspect.signature(function)
                        self.assertIsNot(signature.return_annotation, signature.empty)
                        for parameter in list(signature.parameters.values()):
                            if parameter.name not in ("self", "cls"):
                                self.assertIsNot(parameter.annotation, parameter.empty)


if __name__ == "__main__":
    support.main()
