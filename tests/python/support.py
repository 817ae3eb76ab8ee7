# SPDX-License-Identifier: Apache-2.0
"""What every test in Python needs: the built package, programs and clips.

Import it before `bulkhead`: it puts the package that Bazel built on sys.path. Tests
lie outside of core/python, whose sources, without _core, would come first otherwise.
"""

import ctypes
import fcntl
import functools
import hashlib
import importlib.util
import multiprocessing
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

DEVICES = ("cpu", "openreg:1")

_CLONE_NEWNET = 0x40000000
_HELD_THREADS = 40  # kHeldThreads of tests/chaos/hold.h
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def _real_path(variable, suffix):
    """Returns the real path of the word in the variable that ends in the suffix.

    Runfiles are symbolic links, and discovery refuses links that lead elsewhere.
    """
    for word in os.environ.get(variable, "").split():
        if word.endswith(suffix):
            return os.path.realpath(word)
    return None


def _use_built_files():
    libexec = _real_path("BULKHEAD_TEST_LIBEXEC", "/bulkheadd")
    os.environ["BULKHEAD_LIBEXEC_DIR"] = os.path.dirname(libexec)
    site = os.path.dirname(os.path.realpath(os.environ["BULKHEAD_TEST_PYTHON"]))
    sys.path.insert(0, site)
    os.environ["PYTHONPATH"] = site  # For the programs that a test starts.


def _enter_own_world():
    """Leaves the reach of operators' commands of other tests, where allowed."""
    # A process that a test has spawned imports this too, and is in the test's world.
    if multiprocessing.current_process().name != "MainProcess":
        return
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        print(f"this test has no network namespace of its own: {reason}", file=sys.stderr)
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _hide_modules():
    """Makes modules look as if they were not installed."""
    for name in os.environ.get("BULKHEAD_TEST_HIDES", "").split():
        sys.modules[name] = None


_use_built_files()
_enter_own_world()
_hide_modules()

needs_torch = unittest.skipIf(
    importlib.util.find_spec("torch") is None,
    "torch is not there: hidden, or to be installed by tools/setup --torch",
)


def has(module):
    return importlib.util.find_spec(module) is not None


def has_dask():
    return has("distributed")


def _why_no_semaphore():
    """Returns why Python makes no semaphore, which it keeps in /dev/shm, or None."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        return f"Python's multiprocessing makes no semaphore in /dev/shm: {error.strerror}"
    return None


# For processes of multiprocessing, a DataLoader with workers, a cluster of dask.
_NO_SEMAPHORE = _why_no_semaphore()
needs_semaphores = unittest.skipIf(_NO_SEMAPHORE is not None, _NO_SEMAPHORE)


def needs_dask(case):
    """Skips a test that starts a cluster where that is not possible."""
    installed = unittest.skipUnless(
        has_dask(), "python3-distributed is not there; tools/setup --fleet installs it"
    )
    return installed(needs_semaphores(case))


def on_each_device(case):
    """Makes a test case for each device, in place of the class: CaseOnCpu, ..."""
    module = sys.modules[case.__module__]
    for device in DEVICES:
        name = f"{case.__name__}On{device.split(':')[0].capitalize()}"
        members = {"device": device, "__module__": case.__module__}
        setattr(module, name, type(name, (case,), members))


def cli_program():
    """Returns the path of the command `bulkhead`."""
    return _real_path("BULKHEAD_TEST_CLI", "/bulkhead")


def shared(name):
    """Returns the path of a shared file, or skips the test if it is not there."""
    root = os.environ.get("BULKHEAD_SHARED") or "../shared"
    path = os.path.join(root, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{path} is not there; set BULKHEAD_SHARED")
    return path


@functools.cache
def clip_directory():
    return tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))


def run(program, *arguments):
    """Runs a program of FFmpeg's and returns its stdout; skips the test without it."""
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"there is no {program} on this machine")
    return subprocess.run(
        [program, *arguments], check=True, stdout=subprocess.PIPE
    ).stdout


def ffmpeg(*arguments):
    return run("ffmpeg", "-v", "error", "-nostdin", "-y", *arguments)


@functools.cache
def clip(name="clip.mp4", size="320x240"):
    """Makes a clip of 120 frames of H.264 at 25 frames/s with B-frames, a keyframe
    every 24, and mono sound."""
    path = os.path.join(clip_directory(), name)
    ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25:duration=4.8",
        "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=4.8",
        "-c:v", "libx264", "-preset", "fast", "-g", "24", "-bf", "3",
        "-pix_fmt", "yuv420p", "-c:a", "aac", path,
    )  # fmt: skip
    return path


def open_descriptors():
    """Returns how many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def memory_kib(name="RssAnon"):
    """Returns a line of /proc/self/status that counts KiB of this process."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise AssertionError(f"/proc/self/status has no {name}")


class Pixels(bytes):
    """Shows a hash: unittest would compare two lists of pictures byte by byte."""

    def __repr__(self):
        return f"<{len(self)} bytes, {hashlib.md5(self).hexdigest()}>"


@functools.cache
def reference(path, width=320, height=240):
    """Returns the frames as ffmpeg decodes them: bytes of RGB24."""
    raw = ffmpeg(
        "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
    )  # fmt: skip
    assert raw
    size = width * height * 3
    return [Pixels(raw[at : at + size]) for at in range(0, len(raw), size)]


def pixels(data, order="NCHW"):
    """Returns the bytes of a frame or a batch, rows packed, whatever holds it."""
    if order == "NCHW":
        data = data.movedim(-3, -1) if hasattr(data, "movedim") else moved(data)
    if hasattr(data, "numpy"):
        data = data.contiguous().numpy()
    return Pixels(data.tobytes())


def moved(data):
    """Returns a numpy array with its channels last."""
    import numpy

    return numpy.moveaxis(data, -3, -1)


def run_python(script, *arguments, **options):
    """Runs a script in another interpreter and returns its stdout, stripped."""
    return subprocess.run(
        ["/usr/bin/python3", "-c", script, *arguments],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        **options,
    ).stdout.strip()


def examples(page):
    """Returns the examples in Python of a page, which follow one another."""
    with open(page, encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)


def chaos_distribution():
    """Returns the directory of the backend that fails as it is told to."""
    record = _real_path("BULKHEAD_TEST_CHAOS", ".dist-info/RECORD")
    return os.path.dirname(os.path.dirname(record))


def await_hang(root):
    """Waits until a process below `root` is held by a fault `hang` of chaos, and none of
    its threads still converts a frame that the application would get."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for pid in descendants(root):
            states = _states_of_threads(pid)
            if len(states) >= _HELD_THREADS and set(states) == {"S"}:
                return
        time.sleep(0.001)  # bound: the pause between two looks
    raise AssertionError("no worker hangs")


def _states_of_threads(pid):
    """Returns the state of each thread of a process; S: it sleeps."""
    states = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as file:
                fields = dict(line.split(":", 1) for line in file)
                states.append(fields["State"].split()[0])
    except OSError:
        return []  # It has ended.
    return states


def await_wait(thread):
    """Waits until the thread of this process, by its native id, is in a call of the
    library that waits: for several words of memory, or for descriptors, as a thread
    that waits for Python does not."""
    # futex_waitv, poll, epoll_wait, pselect6, ppoll, epoll_pwait
    waits = ("449 ", "7 ", "232 ", "270 ", "271 ", "281 ")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with open(f"/proc/self/task/{thread}/syscall", encoding="ascii") as file:
            if file.read().startswith(waits):
                return
        time.sleep(0.001)  # bound: the pause between two looks
    raise AssertionError("the thread does not wait in a call")


def descendants(root):
    """Returns the pids of the processes below `root`."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found = []
    waiting = [root]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def write_files(directory, files):
    """Writes files, given by their paths below the directory and their texts."""
    for path, text in files.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    """Runs the tests of the main module: those that the arguments name if there are
    any, and that --test_filter names if there is one."""
    arguments = [sys.argv[0], "-v", *sys.argv[1:]]
    chosen = os.environ.get("TESTBRIDGE_TEST_ONLY")
    if chosen:
        arguments += ["-k", chosen]
    unittest.main(argv=arguments)
