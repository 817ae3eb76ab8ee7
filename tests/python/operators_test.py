# SPDX-License-Identifier: Apache-2.0
"""Discovery from Python, and what operators ask: the same as the command's."""

import copy
import functools
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import unittest

import support
import bulkhead
from bulkhead.decoders import VideoDecoder
from support import clip, pixels, reference


def install_chaos(name):
    """Installs the chaos backend in a directory of that name, and returns its path."""
    path = pathlib.Path(support.clip_directory()) / name
    shutil.copytree(support.chaos_distribution(), path)
    for entry in (path, *path.rglob("*")):
        entry.chmod(0o755)
    return str(path)


def cli(*arguments):
    return subprocess.run(
        [support.cli_program(), *arguments], check=True, stdout=subprocess.PIPE
    ).stdout


class Backends(unittest.TestCase):
    def test_backends_and_devices(self):
        for device in ("cpu", "openreg"):
            bulkhead.Host().prewarm(device)
        here = {backend.name: backend for backend in bulkhead.backends()}
        there = {b["name"]: b for b in json.loads(cli("backends", "--json"))["backends"]}
        self.assertEqual(here.keys(), there.keys())
        for name, backend in here.items():
            self.assertEqual(backend.distribution, there[name]["distribution"])
            self.assertEqual(backend.version, there[name]["version"])
        VideoDecoder(clip(), device="openreg")
        devices = {device.name: device for device in bulkhead.devices()}
        self.assertIn("openreg:1", devices)
        self.assertEqual(devices["openreg:1"].state, "ready")
        self.assertIn("name='openreg:1'", repr(devices["openreg:1"]))
        # Debian's packages for Python are in the older format.
        for diagnostic in bulkhead.diagnostics():
            self.assertEqual(diagnostic.severity, "note", diagnostic)
        self.assertIn(bulkhead.sandbox().tier, ("full", "reduced"))

    def test_commands(self):
        host = bulkhead.Host()
        decoder = VideoDecoder(clip(), device="openreg", host=host)
        self.assertEqual(pixels(decoder[7]), reference(clip())[7])
        (backend,) = (b for b in host.backends() if b.name == "openreg")
        host.restart("openreg")
        VideoDecoder(clip(), device="openreg", host=host)
        (restarted,) = (b for b in host.backends() if b.name == "openreg")
        self.assertNotEqual(restarted.zygote_pid, backend.zygote_pid)
        host.disable("openreg")
        with self.assertRaises(bulkhead.BackendUnavailableError):
            VideoDecoder(clip(), device="openreg", host=host)
        host.enable("openreg")
        VideoDecoder(clip(), device="openreg", host=host)
        host.reload("openreg")
        with self.assertRaisesRegex(bulkhead.NotFoundError, "cpu, openreg"):
            host.restart("acme")

    def test_probe(self):
        container = bulkhead.probe(clip())
        self.assertEqual([stream.kind for stream in container.streams], ["video", "audio"])
        self.assertEqual(container.best_video_stream, 0)
        self.assertIsNone(container.streams[0].frame_count_from_content)
        scanned = bulkhead.probe(clip(), scan=True)
        self.assertEqual(scanned.streams[0].frame_count_from_content, 120)


class Discovery(unittest.TestCase):
    def test_site_packages_are_on_the_plugin_path(self):
        path = install_chaos("site-packages")
        script = """
import sys
sys.path += sys.argv[2:]
import bulkhead
from bulkhead.decoders import VideoDecoder
print([place.path for place in bulkhead.searched_places()])
print(len(VideoDecoder(sys.argv[1], device="chaos")))
"""
        places, count = support.run_python(script, clip(), path).splitlines()
        self.assertIn(path, places)
        self.assertEqual(count, "120")
        # A directory of scripts is none, and BULKHEAD_PATH says where to search.
        for environment, directory in (
            ({}, os.path.dirname(path)),
            ({"BULKHEAD_PATH": "/nowhere"}, path),
        ):
            with self.assertRaises(subprocess.CalledProcessError) as caught:
                support.run_python(
                    script,
                    clip(),
                    directory,
                    env={**os.environ, **environment},
                    stderr=subprocess.PIPE,
                )
            self.assertIn('no device "chaos"', caught.exception.stderr)

    def test_explicit_loading(self):
        path = install_chaos("elsewhere")
        host = bulkhead.Host(autoload=False)
        self.assertEqual(host.load_backend(path)[0].backend, "chaos")
        self.assertEqual(len(VideoDecoder(clip(), device="chaos", host=host)), 120)
        sys.path.append(path)
        self.addCleanup(sys.path.remove, path)
        (entry,) = bulkhead.entry_points(group="bulkhead.backends", name="chaos")
        host = bulkhead.Host(autoload=False)
        self.assertEqual(host.load_backend(entry)[0].backend, "chaos")
        with self.assertRaises(bulkhead.NotFoundError):
            host.load_backend("/no/such/place")

    def test_entry_points_are_those_of_importlib(self):
        path = support.clip_directory() + "/tree"
        support.write_files(
            path,
            {
                "torch-2.5.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n",
                "torch-2.5.1.dist-info/entry_points.txt": "[console_scripts]\n"
                "torchrun = torch.distributed.run:main\n"
                "[torchrun.logs_specs]\n"
                "default = torch.distributed.elastic:DefaultLogsSpecs [extra]\n",
            },
        )
        sys.path.append(path)
        self.addCleanup(sys.path.remove, path)
        # A .egg-info is older than entry points of backends, and is not read.
        theirs = [
            entry
            for distribution in importlib.metadata.distributions()
            if distribution._path.suffix == ".dist-info"
            for entry in distribution.entry_points
        ]
        ours = bulkhead.entry_points()
        self.assertEqual(
            sorted((e.group, e.name, e.value) for e in ours),
            sorted((e.group, e.name, e.value) for e in theirs),
        )
        self.assertGreaterEqual(len(ours), 2)
        for group in {entry.group for entry in theirs}:
            self.assertEqual(
                set(bulkhead.entry_points(group=group)),
                {entry for entry in theirs if entry.group == group},
            )
        # A link that leads out of the directory is none.
        os.rename(path + "/torch-2.5.1.dist-info", path + "-elsewhere")
        os.symlink("../tree-elsewhere", path + "/torch-2.5.1.dist-info")
        self.assertFalse(bulkhead.entry_points(name="torchrun"))
        self.assertTrue(importlib.metadata.entry_points(name="torchrun"))
        os.remove(path + "/torch-2.5.1.dist-info")
        os.rename(path + "-elsewhere", path + "/torch-2.5.1.dist-info")
        (torchrun,) = bulkhead.entry_points(name="torchrun")
        self.assertEqual(torchrun.module, "torch.distributed.run")
        self.assertEqual(torchrun.attr, "main")


    def test_entry_points_of_strange_places(self):
        strange = support.clip_directory() + "/\udcff\udcfe"
        support.write_files(
            strange,
            {
                "acme-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1\n",
                "acme-1.dist-info/entry_points.txt": "[acme.group]\none = acme:one\n",
            },
        )
        script = """
import os, sys
sys.path += ["", sys.argv[1], 5]
os.mkdir("removed"); os.chdir("removed"); os.rmdir("../removed")
import bulkhead
print([entry.value for entry in bulkhead.entry_points(group="acme.group")])
print(sys.argv[1] in [place.path for place in bulkhead.Host(plugin_path=sys.argv[1:]).searched_places()])
"""
        output = support.run_python(script, strange, cwd=support.clip_directory())
        self.assertEqual(output.splitlines(), ["['acme:one']", "True"])


class Records(unittest.TestCase):
    def test_events(self):
        host = bulkhead.Host()
        decoder = VideoDecoder(clip(), host=host)
        worker = decoder.worker_pid
        os.kill(worker, signal.SIGKILL)
        self.assertEqual(len(list(decoder)), 120)
        for event in bulkhead.follow_events():
            if event.kind == "worker-ended" and "signal 9" in event.text:
                break
        else:
            self.fail("bulkheadd has ended")
        kinds = [event.kind for event in bulkhead.events()]
        self.assertIn("session-opened", kinds)
        self.assertEqual({event.host_pid for event in bulkhead.events()}, {os.getpid()})
        self.assertGreater(event.time, 1.7e9)
        with self.assertRaises(bulkhead.NotFoundError):
            bulkhead.events(pid=1)

    def test_running(self):
        decoder = VideoDecoder(clip(), host=bulkhead.Host())
        next(iter(decoder))
        sessions = [
            session
            for host in bulkhead.running(window=0).hosts
            if host.pid == os.getpid()
            for backend in host.backends
            for session in backend.sessions
        ]
        self.assertIn(decoder.worker_pid, [session.worker_pid for session in sessions])

    @support.needs_semaphores
    def test_errors_cross_processes(self):
        decode = functools.partial(
            VideoDecoder,
            clip(),
            device="chaos",
            host=bulkhead.Host(plugin_path=[install_chaos("deadly")], autoload=True),
            backend_options={"faults": "at=open do=segfault"},
        )
        with self.assertRaises(bulkhead.Error) as caught:
            decode()
        error = caught.exception
        with multiprocessing.Pool(1) as pool, self.assertRaises(type(error)) as caught:
            pool.apply(decode)
        for same in (caught.exception, copy.copy(error), copy.deepcopy(error)):
            self.assertEqual(type(same), type(error))
            self.assertEqual(same.exit_report.kind, "signaled")
            self.assertEqual(same.exit_report.value, signal.SIGSEGV)
        self.assertEqual(str(same), str(error))

    def test_crashes(self):
        state = support.clip_directory() + "/state"
        self.assertEqual(bulkhead.crashes(state), [])
        path = install_chaos("crashing")
        host = bulkhead.Host(plugin_path=[path], autoload=True, state_directory=state)
        decoder = VideoDecoder(
            clip(),
            device="chaos",
            host=host,
            backend_options={"faults": "at=packet:30 do=segfault lives=1"},
        )
        self.assertEqual([pixels(data) for data in decoder], reference(clip()))
        (crash,) = bulkhead.crashes(state)
        self.assertEqual(crash.backend, "chaos")
        self.assertEqual(crash.input, clip())
        self.assertEqual(crash.end.kind, "signaled")
        self.assertEqual(crash.end.value, signal.SIGSEGV)
        self.assertIn("chaos", crash.summary)
        for same in (pickle.loads(pickle.dumps(crash)), copy.copy(crash), copy.deepcopy(crash)):
            self.assertEqual(repr(same), repr(crash))
            self.assertIsInstance(same, type(crash))
            self.assertEqual(same.end.value, signal.SIGSEGV)
            self.assertEqual(repr(pickle.loads(pickle.dumps(same))), repr(crash))
        bulkhead.clear_crashes(state)
        self.assertEqual(bulkhead.crashes(state), [])


if __name__ == "__main__":
    support.main()
