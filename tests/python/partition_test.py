# SPDX-License-Identifier: Apache-2.0
"""decode_files() on two machines of which one is cut off: nothing is lost, and nothing
comes twice. The machines are network namespaces that share the file system, as two
nodes share storage; the cable between them is unplugged while both decode."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import support
from cluster import SOUND, lines_of, make_inputs, records_in, tree_of, wait_until
from support import clip_directory

if support.has_dask():
    import dask
    import distributed
    from bulkhead.distributed import decode_files

COPIES = 60
OURS, THEIRS = "10.99.0.1", "10.99.0.2"
# A machine that has not been heard of for so long is given up.
SILENCE = "20s"


def run(*command):
    subprocess.run(command, check=True)


@contextlib.contextmanager
def other_machine():
    """Makes a second network, with a cable to this test's, which has one of its own.
    Gives the command that runs a program in the other one."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root can make networks")
    # It holds its network until its input ends.
    there = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    there.stdout.readline()
    inside = ["nsenter", f"--net=/proc/{there.pid}/ns/net"]
    run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable",
        "netns", str(there.pid))  # fmt: skip
    for prefix, address in ([], OURS), (inside, THEIRS):
        run(*prefix, "ip", "address", "add", f"{address}/24", "dev", "cable")
        run(*prefix, "ip", "link", "set", "lo", "up")
        run(*prefix, "ip", "link", "set", "cable", "up")
    try:
        yield inside
    finally:
        there.communicate()


@contextlib.contextmanager
def worker_of_dask(inside, address):
    """Runs a worker of dask in the other network."""
    command = [
        sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads=1",
        "--no-nanny", "--no-dashboard", "--local-directory",
        tempfile.mkdtemp(dir=clip_directory()),
    ]  # fmt: skip
    worker = subprocess.Popen([*inside, *command])
    try:
        yield
    finally:
        worker.kill()
        worker.wait()


@support.needs_dask
class Partition(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(dir=clip_directory()))
        # A backend's process has a user of its own, which must reach the files.
        self.root.chmod(0o755)
        self.inside = self.enterContext(other_machine())
        self.enterContext(dask.config.set({"distributed.scheduler.worker-ttl": SILENCE}))
        self.cluster = self.enterContext(
            distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=1,
                host=OURS,
                dashboard_address=None,
                local_directory=tempfile.mkdtemp(dir=clip_directory()),
            )
        )
        self.client = self.enterContext(distributed.Client(self.cluster))
        self.enterContext(worker_of_dask(self.inside, self.cluster.scheduler_address))
        self.client.wait_for_workers(2)

    def test_loses_nothing_and_repeats_nothing(self):
        inputs = make_inputs(self.root / "media")[:SOUND]
        for number in range(COPIES):
            inputs.append(self.root / "media" / f"copy{number}.mp4")
            os.link(inputs[number % SOUND], inputs[-1])
        out = self.root / "out"

        workers = self.cluster.scheduler.workers
        [theirs] = [worker for worker in workers.values() if f"//{THEIRS}:" in worker.address]
        at_the_cut = []

        def cut():
            # Both have begun.
            wait_until(lambda: records_in(out) >= 6 and theirs.processing)
            at_the_cut.extend([len(theirs.processing), records_in(out)])
            run("ip", "link", "set", "cable", "down")

        cutter = threading.Thread(target=cut)
        cutter.start()
        summary = decode_files(self.client, inputs, "framemd5", out)
        cutter.join()
        self.assertLess(at_the_cut[1], len(inputs))
        self.assertNotIn(theirs.address, workers)
        self.assertEqual(summary.lost, [])
        self.assertEqual(summary.results, len(inputs))
        self.assertEqual(summary.failed, 0)
        lines = [line["input"] for line in lines_of(out)]
        self.assertEqual(sorted(lines), sorted(map(str, inputs)))

        command = [support.cli_program(), "--quiet", "batch", *map(str, inputs), "-o"]
        run(*command, str(self.root / "command"))
        self.assertEqual(tree_of(out), tree_of(self.root / "command"))
        again = decode_files(self.client, inputs, "framemd5", out)
        self.assertEqual((again.frames, again.from_earlier_runs), (0, len(inputs)))
        print(
            f"partition: {len(inputs)} files; the other machine was cut off with "
            f"{at_the_cut[0]} of them, after {at_the_cut[1]} results: all in, none twice",
            flush=True,
        )


if __name__ == "__main__":
    support.main()
