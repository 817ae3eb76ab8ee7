# SPDX-License-Identifier: Apache-2.0
"""The Python package and processes: workers that die, threads, signals, forks, pickles
and torch's DataLoader."""

import concurrent.futures
import gc
import io
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import support
import bulkhead
from bulkhead import _core
from bulkhead.decoders import AudioDecoder, VideoDecoder
from support import clip, on_each_device, pixels, reference


@on_each_device
class Deaths(unittest.TestCase):
    def test_of_workers_change_no_frame(self):
        decoder = VideoDecoder(clip(), device=self.device)
        seen = []
        for number, data in enumerate(decoder):
            if number % 40 == 10:
                os.kill(decoder.worker_pid, signal.SIGKILL)
            seen.append(pixels(data))
        self.assertEqual(seen, reference(clip()))
        self.assertEqual(decoder.recovery.restarts, 3)
        self.assertIn("signal 9", decoder.recovery.last_cause)

    def test_of_workers_change_no_sample(self):
        whole = pixels(AudioDecoder(clip(), device=self.device).get_all_samples().data, "CN")
        decoder = AudioDecoder(clip(), device=self.device)
        first = decoder.get_samples_played_in_range(0, 2)
        os.kill(decoder.worker_pid, signal.SIGKILL)
        rest = decoder.get_samples_played_in_range(2)
        self.assertEqual(pixels(first.data, "CN") + pixels(rest.data, "CN"), whole)
        self.assertEqual(decoder.recovery.restarts, 1)

    def test_of_zygotes_change_no_frame(self):
        host = bulkhead.Host()
        decoder = VideoDecoder(clip(), device=self.device, host=host)

        def zygote():
            (pid,) = (
                backend.zygote_pid
                for backend in host.backends()
                if self.device.startswith(backend.name)
            )
            return pid

        seen = []
        for number, data in enumerate(decoder):
            if number in (10, 70):
                self.assertGreater(zygote(), 0)
                os.kill(zygote(), signal.SIGKILL)
                # Until bulkheadd knows of its end, the session can go on in the worker
                # that the zygote cloned ahead, and nobody needs another zygote.
                while zygote() != 0:
                    pass
                os.kill(decoder.worker_pid, signal.SIGKILL)
            seen.append(pixels(data))
        self.assertEqual(seen, reference(clip()))
        self.assertGreaterEqual(decoder.recovery.restarts, 2)

    def test_of_bulkheadd_changes_no_frame(self):
        host = bulkhead.Host()
        decoder = VideoDecoder(clip(), device=self.device, host=host)
        loop = iter(decoder)
        seen = [pixels(next(loop)) for _ in range(10)]
        os.kill(host.supervisor_pid, signal.SIGKILL)
        seen += [pixels(data) for data in loop]
        self.assertEqual(seen, reference(clip()))


class Chaos(unittest.TestCase):
    """A backend that fails as it is told to (tests/chaos/fault.h)."""

    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(support.clip_directory()) / "chaos"
        shutil.copytree(support.chaos_distribution(), path)
        for entry in (path, *path.rglob("*")):
            entry.chmod(0o755)
        cls.path = str(path)

    def host(self, seconds):
        deadlines = dict.fromkeys(("frame", "open", "seek", "scan"), seconds)
        return bulkhead.Host(plugin_path=[self.path], autoload=True, deadlines=deadlines)

    def open(self, faults, seconds):
        """Opens the clip with deadlines of so many seconds, on a Host of its own, so
        that nothing is known of earlier faults."""
        options = {"faults": faults}
        return VideoDecoder(
            clip(), device="chaos", host=self.host(seconds), backend_options=options
        )

    def test_faults_are_exceptions(self):
        for deed, error in {
            "segfault": bulkhead.PoisonedInputError,
            "exit:0": bulkhead.PoisonedInputError,
            "hang": bulkhead.DeadlineExceededError,
            "narrow": bulkhead.BackendMisbehavedError,
            "huge": bulkhead.ResourceExhaustedError,
        }.items():
            with self.subTest(deed):
                seen = []
                with self.assertRaises(error) as caught:
                    # Frame 50 is at 25600 ticks of 1/12800 s.
                    seconds = 3 if deed == "hang" else 60
                    for data in self.open(f"at=picture:25600 do={deed}", seconds):
                        seen.append(pixels(data))
                self.assertIsInstance(caught.exception, RuntimeError)
                self.assertEqual(seen, reference(clip())[: len(seen)])
                self.assertGreater(len(seen), 40)
                if error is bulkhead.PoisonedInputError:
                    self.assertEqual(caught.exception.exit_report.backend, "chaos")

    def test_a_thousand_failures_leave_nothing(self):
        with open(clip(), "rb") as file:
            data = file.read()
        # bound: some hang. The others need a hundredth of it.
        deadlines = dict.fromkeys(("frame", "open", "seek", "scan"), 3)
        host = bulkhead.Host(
            plugin_path=[self.path],
            autoload=True,
            deadlines=deadlines,
            limits={"failures_per_backend": 10_000},  # No quarantine.
        )

        def fail(deed, error, times, others=False):
            for number in range(times):
                # Each of `others` is another file, so that none is refused unseen.
                source = data + f"{deed} {number}".encode() if others else data
                with self.assertRaises(error):
                    decoder = VideoDecoder(
                        source, device="chaos", host=host, backend_options={"faults": deed}
                    )
                    for _ in decoder:
                        pass
            return times

        def fail_in_all_ways(refused, met):
            return (
                fail("at=open do=segfault", bulkhead.PoisonedInputError, met, others=True)
                + fail("at=open do=segfault", bulkhead.PoisonedInputError, refused)
                + fail("at=open do=hang", bulkhead.DeadlineExceededError, refused)
                + fail("at=open do=null", bulkhead.BackendMisbehavedError, met)
                + fail("at=picture:1024 do=narrow", bulkhead.BackendMisbehavedError, met)
            )

        fail_in_all_ways(refused=2, met=2)
        gc.collect()
        descriptors, memory = support.open_descriptors(), support.memory_kib()
        self.assertEqual(fail_in_all_ways(refused=470, met=20), 1000)
        gc.collect()
        self.assertEqual(support.open_descriptors(), descriptors)
        self.assertLess(support.memory_kib() - memory, 2048)
        self.assertEqual(pixels(VideoDecoder(clip())[7]), reference(clip())[7])

    def test_a_decoder_has_the_descriptor_of_its_media(self):
        with open(clip(), "rb") as file:
            data = file.read()
        # The Host that all decoders share connects to bulkheadd.
        VideoDecoder(clip()).get_frame_at(0)
        gc.collect()
        before = support.open_descriptors()
        decoders = [VideoDecoder(clip()) for _ in range(20)]
        leases = [decoder.get_frame_at(0, lease=True) for decoder in decoders]
        self.assertEqual(support.open_descriptors(), before + 20)
        del leases, decoders
        gc.collect()
        self.assertEqual(support.open_descriptors(), before)
        # Bytes have one as well, of the memory that the worker reads.
        decoder = VideoDecoder(data)
        self.assertEqual(pixels(decoder[7]), reference(clip())[7])
        self.assertEqual(support.open_descriptors(), before + 1)

    def test_interrupt_ends_a_waiting_call(self):
        decoder = self.open("at=packet:30 do=hang lives=1", seconds=600)

        def interrupt():
            # The worker reads ahead: it may hang before anybody waits for it.
            support.await_hang(decoder._host.supervisor_pid)
            support.await_wait(threading.main_thread().native_id)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        before = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        seen = []
        with self.assertRaises(KeyboardInterrupt):
            for data in decoder:
                seen.append(pixels(data))
        thread.join()
        self.assertLess(len(seen), 120)
        self.assertEqual(signal.getsignal(signal.SIGINT), before)
        # It is usable, and no other call is cancelled.
        self.assertEqual([pixels(data) for data in decoder], reference(clip()))
        self.assertEqual(decoder.recovery.restarts, 0)

    def test_interrupt_ends_an_attempt_of_a_batch(self):
        host = self.host(seconds=600)
        options = _core.VideoOptions()
        options.device = "chaos"
        options.backend_options = [("faults", "at=packet:30 do=hang")]
        root = os.path.join(support.clip_directory(), "interrupted")
        batch = _core.Batch(root, "{}")
        attempt = batch.begin((clip(), "clip"), clip(), "framemd5", "{}", True)

        def interrupt():
            support.await_hang(host.supervisor_pid)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            attempt.decode_video(host.core(), options, "framemd5", "", "")
        thread.join()
        self.assertEqual(os.listdir(root), [".batch"])
        self.assertIsNone(batch.find((clip(), "clip"), clip()))

    def test_interrupts_in_quick_succession_end_their_calls_only(self):
        decoder = VideoDecoder(clip())
        begin = threading.Semaphore(0)

        def interrupt():
            for pair in range(100):
                begin.acquire()
                for _ in range(2):
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                    for _ in range(100 * (pair % 10)):
                        pass

        thread = threading.Thread(target=interrupt)
        thread.start()
        interrupted = 0
        for number in range(100):
            try:
                begin.release()
                for index in (90, 10, 60):
                    pixels(decoder[index])
            except KeyboardInterrupt:
                interrupted += 1
            try:
                self.assertEqual(pixels(decoder[number]), reference(clip())[number])
            except KeyboardInterrupt:  # The second one.
                interrupted += 1
        thread.join()
        self.assertGreater(interrupted, 50)

    def test_interrupt_ends_a_call_of_the_host(self):
        host = bulkhead.Host()
        supervisor = host.supervisor_pid
        host.devices()

        def interrupt():
            support.await_wait(threading.main_thread().native_id)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        for call in (host.devices, host.sandbox, lambda: host.prewarm("cpu")):
            os.kill(supervisor, signal.SIGSTOP)
            thread = threading.Thread(target=interrupt)
            thread.start()
            with self.assertRaises(KeyboardInterrupt):
                call()
            thread.join()
            os.kill(supervisor, signal.SIGCONT)
            # A call that waits on replaces a bulkheadd that does not answer.
            self.assertEqual(host.supervisor_pid, supervisor)
        self.assertGreater(len(host.devices()), 0)

    def test_a_handler_that_raises_nothing_ends_no_call(self):
        decoder = self.open("at=packet:30 do=hang lives=1", seconds=600)
        told = []
        before = signal.signal(signal.SIGINT, lambda *_: told.append(1))
        self.addCleanup(signal.signal, signal.SIGINT, before)

        def interrupt():
            # The worker reads ahead: it may hang before anybody waits for it.
            support.await_hang(decoder._host.supervisor_pid)
            support.await_wait(threading.main_thread().native_id)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.assertEqual([pixels(data) for data in decoder], reference(clip()))
        thread.join()
        self.assertEqual(told, [1])

    def test_cancel_on_another_thread(self):
        decoder = self.open("at=packet:30 do=hang lives=1", seconds=600)

        def cancel():
            # In a call that waits for the worker: one that ends a call which has its
            # frame leaves the worker as it is, which then holds the next pass.
            support.await_hang(decoder._host.supervisor_pid)
            support.await_wait(threading.main_thread().native_id)
            decoder.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with self.assertRaises(bulkhead.CancelledError):
            list(decoder)
        thread.join()
        self.assertEqual([pixels(data) for data in decoder], reference(clip()))

    def test_other_threads_run_while_a_call_waits(self):
        decoder = self.open("at=packet:30 do=hang lives=1", seconds=600)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(list, decoder)
            support.await_hang(decoder._host.supervisor_pid)
            other = VideoDecoder(clip())
            self.assertEqual(pixels(other[7]), reference(clip())[7])
            decoder.cancel()
            self.assertIsInstance(waiting.exception(), bulkhead.CancelledError)


class Threads(unittest.TestCase):
    def test_one_decoder_on_many_threads(self):
        decoder = VideoDecoder(clip())
        numbers = [i * 37 % 120 for i in range(200)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            seen = list(pool.map(lambda i: pixels(decoder[i]), numbers))
        self.assertEqual(seen, [reference(clip())[i] for i in numbers])

    def test_loops_on_two_threads(self):
        # Each check and step of a loop is one: the other may not rewind between them.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        self.addCleanup(sys.setswitchinterval, interval)
        decoder = VideoDecoder(clip())
        for _ in range(5):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                loops = [
                    pool.submit(lambda: [pixels(data) for data in decoder]) for _ in range(2)
                ]
            for loop in loops:
                self.assertEqual(loop.result(), reference(clip()))

    def test_the_first_use_after_pickling(self):
        pickled = pickle.dumps(VideoDecoder(clip()))
        for _ in range(5):
            decoder = pickle.loads(pickled)
            begin = threading.Barrier(4)

            def first(number):
                begin.wait()
                return pixels(decoder[number])

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                self.assertEqual(list(pool.map(first, range(4))), reference(clip())[:4])

    def test_daemons_may_be_in_a_call_when_python_ends(self):
        script = """
import sys, threading
from bulkhead.decoders import VideoDecoder
begun = threading.Semaphore(0)
def decode():
    while True:
        with VideoDecoder(sys.argv[1]) as decoder:
            for frame in decoder.frames():
                begun.release()
            decoder.get_frame_at(7, lease=True)
for _ in range(3):
    threading.Thread(target=decode, daemon=True).start()
for _ in range(40):
    begun.acquire()
"""
        for _ in range(5):
            ended = subprocess.run(
                [sys.executable, "-c", script, clip()], stderr=subprocess.PIPE, text=True
            )
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))


def in_child(call):
    """Forks, and returns what the call returns in the child, or its exception's text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = call()
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with {status}"
    return pickle.loads(data)


@on_each_device
class Forks(unittest.TestCase):
    def test_a_decoder_works_in_child_and_parent(self):
        decoder = VideoDecoder(clip(), device=self.device)
        audio = AudioDecoder(clip(), device=self.device)
        second = pixels(audio.get_samples_played_in_range(1, 2).data, "CN")
        loop = iter(decoder)
        first = [pixels(next(loop)) for _ in range(3)]
        supervisor = bulkhead._host.default_host().supervisor_pid

        def child():
            return (
                [pixels(data) for data in loop],
                pixels(decoder[7]),
                pixels(audio.get_samples_played_in_range(1, 2).data, "CN"),
                bulkhead._host.default_host().supervisor_pid != supervisor,
            )

        rest, seventh, sound, own_host = in_child(child)
        self.assertEqual(first + rest, reference(clip()))
        self.assertEqual(seventh, reference(clip())[7])
        self.assertEqual(sound, second)
        self.assertTrue(own_host)
        # The parent has noticed nothing.
        self.assertEqual(first + [pixels(data) for data in loop], reference(clip()))
        self.assertEqual(decoder.recovery.restarts, 0)
        self.assertEqual(bulkhead._host.default_host().supervisor_pid, supervisor)

    def test_bytes_are_opened_again(self):
        data = pathlib.Path(clip()).read_bytes()
        decoder = VideoDecoder(data, device=self.device)
        self.assertEqual(in_child(lambda: pixels(decoder[7])), reference(clip())[7])

    def test_the_working_directory_may_change(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.dirname(clip()))
        decoder = VideoDecoder(os.path.basename(clip()), device=self.device)
        os.chdir(before)
        self.assertEqual(in_child(lambda: pixels(decoder[7])), reference(clip())[7])
        other = pickle.loads(pickle.dumps(decoder))
        self.assertEqual(pixels(other[7]), reference(clip())[7])

    def test_a_source_that_is_missing_for_a_while(self):
        path = support.clip_directory() + "/moved.mp4"
        shutil.copyfile(clip(), path)
        decoder = pickle.loads(pickle.dumps(VideoDecoder(path, device=self.device)))
        os.rename(path, path + "~")
        for _ in range(2):
            with self.assertRaises(bulkhead.NotFoundError):
                decoder[7]
        os.rename(path + "~", path)
        self.assertEqual(pixels(decoder[7]), reference(clip())[7])

    def test_a_file_like_object_says_why_not(self):
        decoder = VideoDecoder(io.BytesIO(pathlib.Path(clip()).read_bytes()), device=self.device)
        self.assertRegex(in_child(lambda: decoder[7]), "RuntimeError.*before a fork.*BytesIO")
        self.assertEqual(pixels(decoder[7]), reference(clip())[7])

    def test_while_another_thread_decodes(self):
        decoder = VideoDecoder(clip(), device=self.device)
        stop = threading.Event()

        def decode():
            while not stop.is_set():
                list(decoder)

        thread = threading.Thread(target=decode)
        thread.start()
        try:
            for _ in range(5):
                self.assertEqual(in_child(lambda: pixels(decoder[7])), reference(clip())[7])
        finally:
            stop.set()
            thread.join()

    def test_a_child_that_ends_leaves_the_parents_worker_alone(self):
        decoder = VideoDecoder(clip(), device=self.device)
        loop = iter(decoder)
        first = [pixels(next(loop)) for _ in range(3)]
        worker = decoder.worker_pid

        def child():
            nonlocal decoder, loop
            decoder = loop = None
            return True

        self.assertTrue(in_child(child))
        self.assertEqual(first + [pixels(data) for data in loop], reference(clip()))
        self.assertEqual(decoder.worker_pid, worker)


@on_each_device
class Pickles(unittest.TestCase):
    def test_source_and_options(self):
        for source in (clip(), pathlib.Path(clip()).read_bytes()):
            decoder = VideoDecoder(
                source, device=self.device, dimension_order="NHWC", output_dtype="float32"
            )
            other = pickle.loads(pickle.dumps(decoder))
            self.assertEqual(pixels(other[7], "NHWC"), pixels(decoder[7], "NHWC"))
            self.assertEqual(other.stream_index, decoder.stream_index)
            self.assertEqual(other.metadata.device, decoder.metadata.device)
        audio = AudioDecoder(clip(), device=self.device, sample_rate=8000)
        other = pickle.loads(pickle.dumps(audio))
        self.assertEqual(
            pixels(other.get_all_samples().data, "CN"),
            pixels(audio.get_all_samples().data, "CN"),
        )

    def test_a_file_like_object_says_why_not(self):
        decoder = VideoDecoder(io.BytesIO(pathlib.Path(clip()).read_bytes()), device=self.device)
        with self.assertRaisesRegex(RuntimeError, "cannot be pickled.*BytesIO"):
            pickle.dumps(decoder)

    def test_what_a_subclass_adds_and_whether_it_is_closed(self):
        class Labelled(VideoDecoder):
            label = None

        # Pickle finds classes by their name in the module.
        Labelled.__qualname__ = "Labelled"
        globals()["Labelled"] = Labelled
        decoder = Labelled(clip(), device=self.device)
        decoder.label = "seven"
        other = pickle.loads(pickle.dumps(decoder))
        self.assertEqual((other.label, pixels(other[7])), ("seven", reference(clip())[7]))
        decoder.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            pickle.loads(pickle.dumps(decoder))[7]

    def test_a_host_is_its_options(self):
        host = pickle.loads(pickle.dumps(bulkhead.Host(default_device=self.device)))
        self.assertEqual(
            VideoDecoder(clip(), host=host).metadata.device.split(":")[0],
            self.device.split(":")[0],
        )

    def test_closed(self):
        with VideoDecoder(clip(), device=self.device) as decoder:
            frame = decoder[7]
        with self.assertRaisesRegex(ValueError, "closed"):
            decoder[7]
        decoder.close()
        self.assertIn("closed", repr(decoder))
        self.assertEqual(pixels(frame), reference(clip())[7])


class Clips:
    """A data set of one decoder, made in the parent; no base class is needed."""

    def __init__(self, device):
        self.decoder = VideoDecoder(clip(), device=device)
        self.decoder[0]

    def __len__(self):
        return len(self.decoder)

    def __getitem__(self, index):
        return self.decoder[index]


@on_each_device
@support.needs_torch
@support.needs_semaphores
class DataLoaders(unittest.TestCase):
    def expect(self, **options):
        from torch.utils.data import DataLoader

        loader = DataLoader(Clips(self.device), batch_size=8, num_workers=2, **options)
        for _ in range(2):
            seen = [pixels(data) for batch in loader for data in batch]
            self.assertEqual(seen, reference(clip()))

    def test_fork(self):
        self.expect(multiprocessing_context="fork")

    def test_fork_with_workers_that_stay(self):
        self.expect(multiprocessing_context="fork", persistent_workers=True)

    def test_spawn(self):
        self.expect(multiprocessing_context="spawn", persistent_workers=True)


if __name__ == "__main__":
    support.main()
