# SPDX-License-Identifier: Apache-2.0
"""A cluster of dask with two real worker processes, and directories of batches.

Import it after `support`. In a worker, dask imports the test's main module once more;
so that module must start nothing but below `if __name__ == "__main__"`.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import support
import bulkhead
from support import clip_directory, ffmpeg

SOUND = 6  # The clips that make_inputs() makes and that are not damaged.
_CLI = support.cli_program()  # A test may change the working directory.


def local_cluster(**options):
    """Starts a cluster of two processes with a thread each."""
    import dask
    from distributed import LocalCluster

    # So long after each death, dask gives the process up if it is not back, or has just
    # died again: later than any test ends.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "24h"})
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=tempfile.mkdtemp(dir=clip_directory()),
        **options,
    )


class ClusterCase(unittest.TestCase):
    """Tests on one cluster, each with a directory of its own."""

    @classmethod
    def setUpClass(cls):
        from distributed import Client

        cls.cluster = cls.enterClassContext(local_cluster(**cls.options()))
        cls.client = cls.enterClassContext(Client(cls.cluster))

    @classmethod
    def options(cls):
        """Returns the options of the cluster."""
        return {}

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(dir=clip_directory()))
        # A backend's process has a user of its own, which must reach the files.
        self.root.chmod(0o755)

    def worker_pids(self):
        return list(self.client.run(os.getpid).values())

    def batch(self, inputs, out, *options):
        """Runs `bulkhead batch` and returns its summary."""
        command = [_CLI, "batch", "--json", *map(str, inputs), "-o", str(out), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout)


def make_inputs(directory):
    """Makes clips of different lengths, one with noise inside, one that is no media, and
    the name of one that does not exist."""
    directory.mkdir()
    inputs = []
    for number in range(1, SOUND + 1):
        inputs.append(directory / f"clip{number}.mp4")
        # Rows of 160 pixels have padding after them in Bulkhead's memory, of 192 none.
        size, seconds = ("160x120", "192x120")[number % 2], number % 3 + 1
        ffmpeg(
            "-f", "lavfi", "-i", f"testsrc=size={size}:rate=24:duration={seconds}",
            "-pix_fmt", "yuv420p", str(inputs[-1]),
        )  # fmt: skip
    damaged = bytearray(inputs[0].read_bytes())
    begin, end = len(damaged) // 2, len(damaged) * 3 // 4
    damaged[begin:end] = b"\xa5" * (end - begin)
    inputs.append(directory / "damaged.mp4")
    inputs[-1].write_bytes(damaged)
    inputs.append(directory / "garbage.mp4")
    inputs[-1].write_bytes(b"no media at all")
    return [*inputs, directory / "missing.mp4"]


def lines_of(out):
    """Returns the records of the manifest."""
    text = (pathlib.Path(out) / "manifest.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def tree_of(root):
    """Returns the contents of each file below `root`, with the number of workers that
    died set to zero."""
    root = pathlib.Path(root)
    return {
        str(path.relative_to(root)): re.sub(rb'"restarts":[0-9]+', b"", path.read_bytes())
        for path in root.rglob("*")
        if path.is_file()
    }


def records_of(out):
    """Returns the records of the inputs that are done, also where some are not."""
    paths = (pathlib.Path(out) / ".batch/manifest").glob("*.json")
    return [json.loads(path.read_text()) for path in paths]


def records_in(out):
    """Returns how many inputs have a record by now."""
    manifest = pathlib.Path(out) / ".batch/manifest"
    return len(list(manifest.glob("*.json"))) if manifest.exists() else 0


def decoding_pids(cluster):
    """Returns the pids of the processes in which Bulkhead decodes files for a cluster now.
    Other tests of this user, which are there too, are not to be harmed."""
    nannies = [nanny.process for nanny in list(cluster.workers.values())]
    applications = {process.pid for process in nannies if process is not None}
    return [
        session.worker_pid
        for host in bulkhead.running(0).hosts
        if host.pid in applications
        for backend in host.backends
        for session in backend.sessions
        if session.worker_pid  # 0: it waits for another one.
    ]


def wait_until(condition):
    end = time.monotonic() + 120
    # bound: the pause between two looks.
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come to pass")
        time.sleep(0.001)


def hashes_by_ffmpeg(path):
    """Returns the hashes of the frames as ffmpeg's own framemd5 has them."""
    text = ffmpeg(
        "-threads", "1", "-i", str(path), "-map", "0:v:0", "-fps_mode", "passthrough",
        "-pix_fmt", "rgb24", "-f", "framemd5", "-",
    )  # fmt: skip
    return hashes_in(text.decode())


def hashes_in(framemd5):
    """Returns the size and the hash of each frame."""
    lines = (line for line in framemd5.splitlines() if not line.startswith("#"))
    return [tuple(field.strip() for field in line.split(",")[4:6]) for line in lines]


class ChaosInstallation:
    """The backend that fails as it is told to (tests/chaos), in a directory of its own."""

    def __init__(self, faults=""):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=clip_directory()))
        shutil.copytree(support.chaos_distribution(), self.path, dirs_exist_ok=True)
        for entry in (self.path, *self.path.rglob("*")):
            entry.chmod(0o755)
        (record,) = self.path.glob("*.dist-info/RECORD")
        with record.open("a") as file:
            file.write("bulkhead_chaos/faults,,\n")
        self.set_faults(faults)

    def set_faults(self, faults):
        """Replaces the script, for backends that start from now on."""
        path = self.path / "bulkhead_chaos/faults"
        path.write_text(faults)
        path.chmod(0o644)

    def host_options(self, **options):
        return {"plugin_path": [str(self.path)], "autoload": True, **options}
