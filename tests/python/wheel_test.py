# SPDX-License-Identifier: Apache-2.0
"""The wheel that tools/package makes, installed as the README says into a clean venv
of Debian's Python, where nothing of the repository is found."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
import zipfile

import support
from support import clip, reference

DECODE = """
import hashlib, sys
from bulkhead.decoders import VideoDecoder
decoder = VideoDecoder(sys.argv[1], device=sys.argv[2], dimension_order="NHWC")
for frame in decoder:
    print(hashlib.md5(frame).hexdigest())
print({"numpy", "torch"} & set(sys.modules))
"""
LIST = "import bulkhead\nprint(*sorted({device.backend for device in bulkhead.devices()}))"


def readme_commands():
    """Returns the commands of the README's section on Python."""
    with open("README.md", encoding="utf-8") as page:
        section = page.read().split("\n## In Python\n")[1].split("\n## ")[0]
    return re.findall(r"^\$ (.*)$", section, re.M)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = pathlib.Path(support.clip_directory()) / "installed"
        for name in ("home", "run"):
            (work / name).mkdir(parents=True, mode=0o700)
        # Everything is found from the place of the package, not by a variable.
        cls.environment = {
            "BULKHEAD_STATE_DIR": str(work / "state"),
            "HOME": str(work / "home"),
            "PATH": f"{work}/venv/bin:/usr/bin:/bin",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INDEX": "1",
            "XDG_RUNTIME_DIR": str(work / "run"),
        }
        cls.work = work
        (work / "tools").symlink_to(pathlib.Path(os.environ["BULKHEAD_TEST_PACKAGE"]).resolve().parent)
        cls.call("/usr/bin/python3", "-m", "venv", "venv")
        making, installing = readme_commands()
        cls.making = making
        cls.shell(making)
        cls.shell(installing)
        (cls.wheel,) = (work / "dist").iterdir()
        (cls.site,) = (work / "venv/lib").glob("python3*/site-packages")

    @classmethod
    def call(cls, *command, check=True, **environment):
        done = subprocess.run(
            command,
            cwd=cls.work,
            env={**cls.environment, **environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{command} exited with {done.returncode}: {done.stderr}")
        return done

    @classmethod
    def shell(cls, command):
        archive = os.path.realpath(os.environ["BULKHEAD_TEST_PREFIX_TAR"])
        return cls.call("bash", "-c", command, BULKHEAD_PREFIX_TAR=archive)

    def python(self, script, *arguments, **environment):
        return self.call("python", "-c", script, *arguments, **environment).stdout.splitlines()

    def decode(self, device):
        """Checks the frames, which are ffmpeg's, also where Python has neither
        numpy nor torch."""
        frames = [hashlib.md5(frame).hexdigest() for frame in reference(clip())]
        self.assertEqual(self.python(DECODE, clip(), device), [*frames, "set()"])

    def test_decodes_as_ffmpeg_does(self):
        self.assertEqual(self.python(LIST), ["cpu openreg"])
        self.decode("cpu")
        self.decode("openreg:1")

    def test_a_backend_that_pip_installs_is_used_at_once(self):
        self.call("pip", "install", os.path.realpath(os.environ["BULKHEAD_TEST_BACKEND"]))
        try:
            self.assertEqual(self.python(LIST), ["cpu cvendor openreg"])
            self.decode("cvendor")
            told = self.call("python", "-m", "bulkhead", "backends").stdout
            self.assertIn("cvendor", told)
        finally:
            self.call("pip", "uninstall", "--yes", "cvendor")
        self.assertEqual(self.python(LIST), ["cpu openreg"])

    def test_its_module_is_the_command(self):
        direct = str(self.site / "bulkhead/bulkhead")
        garbage = str(self.work / "garbage.mp4")
        pathlib.Path(garbage).write_bytes(b"no media" * 100)
        for arguments, status in {
            ("--version",): 0,
            ("probe", clip()): 0,
            ("no-command",): 2,
            ("probe", "missing.mp4"): 2,
            ("decode", garbage): 3,
        }.items():
            wanted = self.call(direct, *arguments, check=False)
            self.assertEqual(wanted.returncode, status, wanted.stderr)
            for command in (["python", "-m", "bulkhead"], ["bulkhead"]):
                with self.subTest(command=command, arguments=arguments):
                    done = self.call(*command, *arguments, check=False)
                    self.assertEqual(
                        (done.returncode, done.stdout, done.stderr),
                        (wanted.returncode, wanted.stdout, wanted.stderr),
                    )

    def test_its_module_takes_signals_as_the_command_does(self):
        def ends(command):
            """Returns which signals the running command ignores, as Python does some,
            and how it ends for want of a reader, for ^C and for SIGTERM."""
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
                running = subprocess.Popen(
                    [*command, "decode", clip(), "--format", "rawvideo"],
                    env=self.environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                with running:
                    running.stdout.read(1)  # More than a pipe holds is to come.
                    with open(f"/proc/{running.pid}/status", encoding="ascii") as status:
                        yield re.search(r"^SigIgn:\t(.*)$", status.read(), re.M)[1]
                    if number == signal.SIGPIPE:
                        running.stdout.close()
                    else:
                        running.send_signal(number)
                        running.stdout.read()
                    yield running.wait(), running.stderr.read()

        wanted = list(ends([f"{self.site}/bulkhead/bulkhead"]))
        self.assertEqual(list(ends([f"{self.work}/venv/bin/python", "-m", "bulkhead"])), wanted)
        self.assertEqual([end[0] for end in wanted[3::2]], [-signal.SIGINT, -signal.SIGTERM])

    def test_the_same_input_makes_the_same_bytes(self):
        self.shell("umask 077; TZ=Asia/Tokyo tools/package wheel --out again")
        again = self.work / "again" / self.wheel.name
        self.assertEqual(again.read_bytes(), self.wheel.read_bytes())
        self.assertEqual(list(again.parent.iterdir()), [again])

    def test_says_what_it_is(self):
        version = self.call("bulkhead", "--version").stdout.split()[1]
        tag = "cp{0.major}{0.minor}".format(sys.version_info)
        self.assertEqual(self.wheel.name, f"bulkhead-{version}-{tag}-{tag}-linux_x86_64.whl")
        told = self.python(
            "import importlib.metadata as m, bulkhead\n"
            "told = m.metadata('bulkhead')\n"
            "print(told['Version'], bulkhead.__version__, *told.get_all('Provides-Extra'))\n"
            "print(*told.get_all('Requires-External'))"
        )
        self.assertEqual(told[0], f"{version} {version} numpy torch")
        self.assertRegex(told[1], r"\blibavcodec\d+ .*\blibcapnp-\S+ .*\blibmd0 ")
        for name in ("py.typed", "_core.pyi"):
            self.assertTrue((self.site / "bulkhead" / name).exists(), name)

    def test_its_record_is_true(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            (record,) = [n for n in names if n.endswith("bulkhead-0.1.0.dist-info/RECORD")]
            lines = [line.split(",") for line in wheel.read(record).decode().splitlines()]
            self.assertEqual([line[0] for line in lines], names)
            self.assertEqual(lines.pop(), [record, "", ""])
            for name, digest, size in lines:
                content = wheel.read(name)
                sha = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
                self.assertEqual((digest, size), ("sha256=" + sha.rstrip("="), str(len(content))))

    def copy_that_needs(self, file, library, other):
        """Returns a copy of the installed package whose file is linked with a library
        that is nowhere, in place of one that is there."""
        copy = self.work / other
        for name in ("bulkhead", self.wheel.name.split("-cp")[0] + ".dist-info"):
            shutil.copytree(self.site / name, copy / name)
        path = copy / "bulkhead" / file
        content = path.read_bytes()
        self.assertIn(library.encode(), content)
        path.write_bytes(content.replace(library.encode(), other.encode()))
        return str(copy)

    def test_a_media_library_that_is_missing_is_named_with_its_package(self):
        (needed,) = self.python(
            "import importlib.metadata as m\n"
            "for name in m.metadata('bulkhead').get_all('Requires-External'):\n"
            "    if name.startswith('libavcodec'): print(name.removeprefix('libavcodec'))"
        )
        copy = self.copy_that_needs(
            "libexec/bulkhead-worker", f"libavcodec.so.{needed}", "libavcodec.so.98"
        )
        done = self.call("python", "-c", DECODE, clip(), "cpu", check=False, PYTHONPATH=copy)
        self.assertIn("bulkhead.BackendUnavailableError", done.stderr)
        self.assertIn(
            "libavcodec.so.98: cannot open shared object file: No such file or directory",
            done.stderr,
        )
        self.assertIn("Debian has libavcodec.so.98 in the package libavcodec98.", done.stderr)

    def test_a_library_that_importing_needs_is_named_with_the_packages(self):
        copy = self.copy_that_needs("_core.so", "libmd.so.0", "libmd.so.9")
        done = self.call("python", "-c", "import bulkhead", check=False, PYTHONPATH=copy)
        self.assertRegex(
            done.stderr,
            r"ImportError: libmd.so.9: cannot open .*; apt-get install libavcodec\d+ .*libmd0 ",
        )
        self.assertNotIn("During handling", done.stderr)

    def run_examples(self, page):
        place = self.work / page.replace("/", "-")
        place.mkdir()
        shutil.copy(clip(), place / "clip.mp4")
        script = place / "examples.py"
        script.write_text("\n".join(support.examples(page)), encoding="utf-8")
        # With Debian's numpy and torch.
        self.call(
            "bash", "-c", f"cd {place.name} && exec python examples.py",
            PYTHONPATH="/usr/lib/python3/dist-packages",
        )  # fmt: skip

    def test_examples_of_the_readme_and_the_package(self):
        self.run_examples("README.md")
        self.run_examples("core/python/README.md")

    @support.needs_torch
    @support.needs_semaphores
    def test_examples_of_from_torchcodec(self):
        self.run_examples("core/python/from_torchcodec.md")


if __name__ == "__main__":
    support.main()
