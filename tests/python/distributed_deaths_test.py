# SPDX-License-Identifier: Apache-2.0
"""decode_files() where processes are killed and files kill: everything comes in, and
nothing twice."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

import support
import bulkhead
from cluster import (
    SOUND,
    ChaosInstallation,
    ClusterCase,
    decoding_pids,
    lines_of,
    make_inputs,
    records_in,
    tree_of,
    wait_until,
)
from support import clip, ffmpeg

if support.has_dask():
    import dask
    import distributed
    from bulkhead.distributed import decode_files

COPIES = 30

# A program of its own, which decodes the files that its arguments name.
PROGRAM = """
import sys
import distributed
from bulkhead.distributed import decode_files

if __name__ == "__main__":
    out, *files = sys.argv[1:]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    options["local_directory"] = "."
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        decode_files(client, files, "framemd5", out)
"""


def ending(decoder):
    os._exit(3)


def leaving(decoder):
    sys.exit("it leaves")


def interrupting(decoder):
    raise KeyboardInterrupt


def supervisors_of(pids):
    """Returns the pids of bulkheadd that serve these processes."""
    wanted = set(pids)
    return {host.supervisor_pid for host in bulkhead.running(0).hosts if host.pid in wanted}


class Errors:
    """A plugin that counts the tasks of a worker that raise."""

    def setup(self, worker):
        self.count = 0

    def transition(self, key, start, finish, **others):
        self.count += finish == "error"


def errors_of_worker(dask_worker):
    return dask_worker.plugins["errors"].count


@support.needs_dask
class Deaths(ClusterCase):
    def copies(self):
        """Returns links to clips, enough of them that a run takes a while."""
        made = make_inputs(self.root / "media")[:SOUND]
        for number in range(COPIES):
            made.append(self.root / "media" / f"copy{number}.mp4")
            os.link(made[number % SOUND], made[-1])
        return made

    def test_of_a_worker_lose_nothing(self):
        inputs = self.copies()
        before = self.worker_pids()
        killed = {}

        def kill():
            wait_until(lambda: records_in(self.root / "out") >= 3)
            killed["supervisors"] = supervisors_of(before[:1])
            os.kill(before[0], signal.SIGKILL)
            killed["records"] = records_in(self.root / "out")

        killer = threading.Thread(target=kill)
        killer.start()
        summary = decode_files(self.client, inputs, "framemd5", self.root / "out")
        killer.join()
        self.assertLess(killed["records"], len(inputs), "the run was over too early")
        self.assertEqual((summary.results, summary.failed, summary.lost), (len(inputs), 0, []))
        self.assertEqual(len(lines_of(self.root / "out")), len(inputs))
        self.assertEqual(len(killed["supervisors"]), 1)
        for pid in killed["supervisors"]:
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
        self.batch(inputs, self.root / "command")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))
        # Another process has taken its place, with a Host of its own.
        self.client.wait_for_workers(2)
        self.assertNotIn(before[0], self.worker_pids())
        again = decode_files(self.client, inputs, "framemd5", self.root / "again")
        self.assertEqual(again.results, len(inputs))

    def test_of_the_run_leave_whole_outputs(self):
        inputs = self.copies()
        out = self.root / "out"
        script = self.root / "program.py"
        script.write_text(PROGRAM)
        command = ["/usr/bin/python3", str(script), str(out), *map(str, inputs)]
        interrupted = 0
        for _ in range(3):
            most = records_in(out)
            with subprocess.Popen(command, start_new_session=True, cwd=self.root) as program:
                wait_until(lambda: records_in(out) > most or program.poll() is not None)
                os.killpg(program.pid, signal.SIGKILL)
            interrupted += records_in(out) < len(inputs)
        self.assertGreater(interrupted, 0, "the runs were over before they were killed")
        whole = records_in(out)
        summary = decode_files(self.client, inputs, "framemd5", out)
        self.assertGreaterEqual(summary.from_earlier_runs, min(whole, 1))
        self.assertEqual(summary.results, len(inputs))
        self.batch(inputs, self.root / "command")
        self.assertEqual(tree_of(out), tree_of(self.root / "command"))
        self.assertEqual(os.listdir(out / ".batch/unfinished"), [])

    def test_of_backends_change_no_frame(self):
        inputs = self.copies()
        done = threading.Event()

        def kill():
            # A worker of Bulkhead each time that another file is done.
            seen = 0
            while not done.is_set():
                wait_until(lambda: done.is_set() or records_in(self.root / "out") > seen)
                seen = records_in(self.root / "out")
                for pid in decoding_pids(self.cluster):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        summary = decode_files(self.client, inputs, "framemd5", self.root / "out")
        done.set()
        killer.join()
        self.assertEqual((summary.results, summary.failed), (len(inputs), 0))
        self.assertGreater(summary.restarts, 0)
        self.batch(inputs, self.root / "command")
        self.assertEqual(tree_of(self.root / "out"), tree_of(self.root / "command"))


@support.needs_dask
class Functions(ClusterCase):
    def setUp(self):
        super().setUp()
        self.inputs = []
        for name in ("a.mp4", "b.mp4", "c.mp4"):
            self.inputs.append(self.root / name)
            shutil.copyfile(clip(), self.inputs[-1])

    def test_that_leave_are_errors_of_their_files(self):
        before = sorted(self.worker_pids())
        for function, told in ((leaving, "SystemExit: it leaves"), (interrupting, "Keyboard")):
            out = self.root / function.__name__
            summary = decode_files(self.client, self.inputs, function, out)
            self.assertEqual((summary.results, summary.failed, summary.lost), (3, 3, []))
            for path, line in zip(self.inputs, lines_of(out), strict=True):
                error = line["error"]
                self.assertEqual(error["code"], "kInvalidArgument")
                self.assertIn(f"{path}: {function.__name__}() raised {told}", error["message"])
        self.assertEqual(sorted(self.worker_pids()), before)


@support.needs_dask
class FunctionsThatEndTheirProcess(ClusterCase):
    """On a cluster of its own, since dask gives up workers that die while they start."""

    def decode(self, count, worker_timeout):
        inputs = [self.root / f"{number}.mp4" for number in range(count)]
        for path in inputs:
            os.link(clip(), path)
        return decode_files(
            self.client, inputs, ending, self.root / "out", worker_timeout=worker_timeout
        )

    def test_lose_their_files(self):
        try:
            lost = self.decode(2, 20).lost
            self.assertEqual([one["code"] for one in lost], ["kBackendLost"] * 2)
            told = [one["message"] for one in lost]
        except bulkhead.BackendUnavailableError as error:
            told = [str(error)]  # Both processes died while they started.
        for message in told:
            self.assertIn("ending()", message)
        self.assertEqual(records_in(self.root / "out"), 0)

    def test_which_leaves_no_process_end_the_call(self):
        # A process that is being started again is no worker yet, and would become one.
        self.cluster.scale(0)
        wait_until(lambda: not self.cluster.workers)
        wait_until(lambda: not self.client.scheduler_info()["workers"])
        with self.assertRaisesRegex(
            bulkhead.BackendUnavailableError, r"for 0 s \(worker_timeout\).*ending\(\)"
        ):
            self.decode(1, 0)


def names_of_hosts(cluster):
    """Returns the names under which workers of the cluster are given Hosts."""
    # Another thread changes the dictionary.
    return {name for name in list(cluster.scheduler.worker_plugins) if "bulkhead" in name}


def set_others(pids, dask_worker):
    dask_worker.others = [pid for pid in pids if pid != os.getpid()]


def stopping_the_others(decoder):
    for pid in distributed.get_worker().others:
        os.kill(pid, signal.SIGSTOP)


@support.needs_dask
class WorkersThatDoNotAnswer(ClusterCase):
    """On a cluster of its own, with a short patience of dask's."""

    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(dask.config.set({"distributed.comm.timeouts.connect": "1s"}))
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.client.wait_for_workers(2)

    def stop(self, pid):
        def go_on():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(go_on)

    def decode(self, what="framemd5"):
        return decode_files(self.client, [clip()], what, self.root / "out")

    def test_at_the_beginning_are_an_error_that_says_so(self):
        pid = self.worker_pids()[0]
        self.stop(pid)
        with self.assertRaisesRegex(bulkhead.BackendUnavailableError, "does not answer"):
            self.decode()
        self.assertEqual(names_of_hosts(self.cluster), set())
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(self.decode().results, 1)

    def test_and_die_at_the_beginning_delay_it(self):
        pid = self.worker_pids()[0]
        self.stop(pid)
        names = set()

        def asked_twice():
            names.update(names_of_hosts(self.cluster))
            return len(names) > 1

        def kill():
            wait_until(asked_twice)
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        self.assertEqual(self.decode().results, 1)
        killer.join()

    def test_at_the_end_change_no_result(self):
        pids = self.worker_pids()
        self.client.run(set_others, pids)
        for pid in pids:
            self.addCleanup(os.kill, pid, signal.SIGCONT)
        self.assertEqual(self.decode(stopping_the_others).results, 1)
        self.assertEqual(names_of_hosts(self.cluster), set())


@support.needs_dask
class Faults(ClusterCase):
    """With a backend that fails as it is told to (tests/chaos/fault.h)."""

    @classmethod
    def options(cls):
        return {"resources": {"chaos": 1}}

    def decode(self, inputs, host_options, **options):
        return decode_files(
            self.client,
            inputs,
            "framemd5",
            self.root / "out",
            devices="chaos",
            host_options=host_options,
            **options,
        )

    def tries(self):
        """Returns how many tasks have raised an error since Errors was registered."""
        return sum(self.client.run(errors_of_worker).values())

    def test_that_a_file_causes_are_found_and_named_once(self):
        # The first second of a clip is without the picture on which workers die.
        chaos = ChaosInstallation("at=picture:25600 do=segfault")
        sound = self.root / "sound.mp4"
        ffmpeg("-t", "1", "-i", clip(), "-c", "copy", str(sound))
        inputs = [sound]
        for name in ("a.mp4", "b.mp4", "c.mp4", "d.mp4"):
            inputs.append(self.root / name)
            shutil.copyfile(clip(), inputs[-1])
        summary = self.decode(inputs[:-1], chaos.host_options())
        self.assertEqual((summary.results, summary.failed), (4, 3))
        self.assertEqual(len(summary.poison), 1)
        self.assertEqual([one["code"] for one in summary.failures], ["kPoisonedInput"])
        self.assertEqual((summary.copies_of_poison, summary.lost), (2, []))
        restarts = [line["restarts"] for line in lines_of(self.root / "out")[:3]]
        # The third one is begun when the first is known.
        self.assertEqual((min(restarts), sum(restarts)), (0, summary.restarts))
        self.assertGreater(summary.restarts, 0)
        # Workers would live now, but no contents are tried again, nor named.
        chaos.set_faults("")
        later = self.decode(inputs, chaos.host_options())
        self.assertEqual((later.from_earlier_runs, later.failed), (4, 4))
        self.assertEqual((later.poison, later.copies_of_poison), (summary.poison, 3))
        self.assertEqual([one["from_earlier_run"] for one in later.failures], [True])
        self.assertEqual(later.restarts, 0)
        for line in lines_of(self.root / "out")[:4]:
            self.assertEqual(line["error"]["code"], "kPoisonedInput")
            self.assertEqual(line["sha256"], summary.poison[0])
            self.assertIn(line["input"], line["error"]["message"])
        again = self.decode(inputs, chaos.host_options())
        self.assertEqual(again.from_earlier_runs, len(inputs))

    def test_of_the_backend_are_tried_again_and_then_left_to_the_next_run(self):
        self.client.register_worker_plugin(Errors(), name="errors")
        chaos = ChaosInstallation("at=picture:0 do=hang")
        options = chaos.host_options(
            deadlines={"open": 2, "frame": 2},  # bound: the only worker hangs
            limits={"kills_per_position": 1},
        )
        lost = self.decode([clip()], options)
        self.assertEqual((lost.results, lost.failed), (0, 0))
        self.assertEqual([one["code"] for one in lost.lost], ["kDeadlineExceeded"])
        self.assertEqual(lines_of(self.root / "out"), [])
        self.assertEqual(self.tries(), 3)
        self.decode([clip()], options, retries=0)
        self.assertEqual(self.tries(), 4)
        chaos.set_faults("")
        self.assertEqual(self.decode([clip()], chaos.host_options()).results, 1)
        self.assertEqual(len(lines_of(self.root / "out")), 1)


if __name__ == "__main__":
    support.main()
