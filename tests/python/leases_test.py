# SPDX-License-Identifier: Apache-2.0
"""Leases: frames that are read where the worker wrote them, and that no write of a
view changes for anybody else."""

import copy
import ctypes
import gc
import io
import itertools
import os
import pickle
import random
import signal
import sys
import threading
import unittest

import support
import bulkhead
from bulkhead import _core
from bulkhead.decoders import VideoDecoder
from support import clip, on_each_device, reference


def seen(lease):
    """Returns the bytes of a lease of [H, W, 3]."""
    return support.Pixels(memoryview(lease).tobytes())


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class VersionedTensor(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class ManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


READ_ONLY, IS_COPIED = 1, 2

# What a consumer of the buffer protocol asks for (PyBUF_STRIDES and so on).
STRIDES, C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x18, 0x38, 0x58, 0x98


def take(lease, flags):
    """Takes the buffer as a consumer in C does, and gives it back."""
    view = ctypes.create_string_buffer(256)  # A Py_buffer has 80 bytes.
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(lease), view, flags)
    ctypes.pythonapi.PyBuffer_Release(view)


def inside(capsule):
    """Returns the struct that a capsule of DLPack points to."""
    kinds = {b"dltensor_versioned": VersionedTensor, b"dltensor": ManagedTensor}
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for name, kind in kinds.items():
        if api.PyCapsule_IsValid(ctypes.py_object(capsule), ctypes.c_char_p(name)):
            return kind.from_address(api.PyCapsule_GetPointer(capsule, name))
    raise AssertionError(f"{capsule} is no capsule of DLPack")


def pixels_of(tensor):
    """Returns the bytes of a Tensor of uint8 [H, W, 3], read through its pointers."""
    height, width, channels = tensor.shape[0:3]
    row, pixel, channel = tensor.strides[0:3]
    assert (channels, pixel, channel) == (3, 3, 1)
    rows = (ctypes.string_at(tensor.data + y * row, width * 3) for y in range(height))
    return support.Pixels(b"".join(rows))


@on_each_device
class Leases(unittest.TestCase):
    def decoder(self, **options):
        return VideoDecoder(clip(), device=self.device, dimension_order="NHWC", **options)

    def test_are_the_frames(self):
        decoder = self.decoder()
        frames = [seen(frame.data) for frame in decoder.frames(lease=True)]
        self.assertEqual(frames, reference(clip()))
        self.assertEqual(seen(decoder.get_frame_at(-1, lease=True).data), reference(clip())[119])
        frame = decoder.get_frame_played_at(2.0, lease=True)
        self.assertEqual(seen(frame.data), reference(clip())[50])
        self.assertEqual((frame.pts_seconds, frame.data.shape), (2.0, (240, 320, 3)))
        self.assertIsInstance(frame.data, bulkhead.Lease)

    def test_are_read_only(self):
        lease = self.decoder().get_frame_at(7, lease=True).data
        view = memoryview(lease)
        self.assertTrue(view.readonly)
        with self.assertRaises(TypeError):
            view[0, 0, 0] = 1
        with self.assertRaises(TypeError):
            ctypes.c_char.from_buffer(lease)
        with self.assertRaises(TypeError):
            io.BytesIO(b"any").readinto(lease)
        self.assertEqual(seen(lease), reference(clip())[7])

    def test_are_not_taken_for_packed(self):
        packed = self.decoder().get_frame_at(7, lease=True).data
        odd = VideoDecoder(
            clip(size="330x242", name="odd.mp4"), device=self.device, dimension_order="NHWC"
        )
        padded = odd.get_frame_at(7, lease=True).data
        take(packed, STRIDES)
        take(packed, C_CONTIGUOUS)
        take(packed, ANY_CONTIGUOUS)
        take(padded, STRIDES)
        for lease, flags in (
            (packed, F_CONTIGUOUS),
            (padded, C_CONTIGUOUS),
            (padded, F_CONTIGUOUS),
            (padded, ANY_CONTIGUOUS),
        ):
            with self.assertRaisesRegex(BufferError, "padded"):
                take(lease, flags)

    def test_have_the_order_and_the_type_of_the_decoder(self):
        import numpy

        options = {"device": self.device, "output_dtype": "float32"}
        decoder = VideoDecoder(clip(size="330x242", name="odd.mp4"), **options)
        lease = decoder.get_frame_at(7, lease=True).data
        array = numpy.asarray(lease)
        self.assertEqual((array.shape, lease.dtype), ((3, 242, 330), "float32"))
        self.assertTrue((array == numpy.asarray(decoder[7])).all())
        self.assertEqual(array.ctypes.data, numpy.asarray(lease).ctypes.data)
        with self.assertRaises(ValueError):
            array[0, 0, 0] = 1
        with self.assertRaises(ValueError):
            array.flags.writeable = True

    def test_tell_dlpack_that_they_are_read_only(self):
        lease = self.decoder().get_frame_at(7, lease=True).data
        self.assertEqual(lease.__dlpack_device__(), (1, 0))
        for asked in ({}, {"copy": False}, {"dl_device": (1, 0)}):
            capsule = lease.__dlpack__(max_version=(1, 1), **asked)
            managed = inside(capsule)
            self.assertEqual((managed.major, managed.flags), (1, READ_ONLY))
            tensor = managed.tensor
            self.assertEqual((tensor.device_type, tensor.device_id), (1, 0))
            self.assertEqual((tensor.code, tensor.bits, tensor.lanes), (1, 8, 1))
            self.assertEqual(tensor.data, address(lease))
            self.assertEqual(pixels_of(tensor), reference(clip())[7])

    def test_give_a_copy_to_who_cannot_be_told(self):
        lease = self.decoder().get_frame_at(7, lease=True).data
        for asked in ({}, {"max_version": (0, 8)}, {"copy": True}, {"stream": None}):
            capsule = lease.__dlpack__(**asked)
            self.assertNotEqual(inside(capsule).tensor.data, address(lease))
            self.assertEqual(pixels_of(inside(capsule).tensor), reference(clip())[7])
        capsule = lease.__dlpack__(max_version=(1, 0), copy=True)
        self.assertEqual(inside(capsule).flags, IS_COPIED)
        self.assertNotEqual(inside(capsule).tensor.data, address(lease))
        for asked in ({"copy": False}, {"stream": 1}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                lease.__dlpack__(**asked)

    @support.needs_torch
    def test_are_copied_for_torch(self):
        import torch

        lease = self.decoder().get_frame_at(7, lease=True).data
        tensor = torch.from_dlpack(lease)
        self.assertEqual(support.pixels(tensor, "NHWC"), reference(clip())[7])
        tensor[:] = 0
        self.assertEqual(seen(lease), reference(clip())[7])
        for make in (torch.asarray, lambda data: torch.frombuffer(data, dtype=torch.uint8)):
            with self.assertRaises(RuntimeError):
                make(lease)

    def test_cannot_be_pickled(self):
        frame = self.decoder().get_frame_at(7, lease=True)
        for call in (copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, r"numpy.array\(lease\)"):
                call(frame)

    def test_occupy_slots(self):
        decoder = self.decoder()
        loop = decoder.frames(lease=True)
        held = []
        with self.assertRaisesRegex(
            bulkhead.ResourceExhaustedError,
            "holds all 8 frames of this session; drop some, copy the pixels.*limit frame_slots",
        ):
            for frame in loop:
                held.append(frame)
        self.assertEqual(len(held), 8)
        with self.assertRaises(bulkhead.ResourceExhaustedError):
            decoder[50]
        del frame
        view = memoryview(held.pop().data)  # It keeps the slot.
        capsule = held.pop().data.__dlpack__(max_version=(1, 0))
        with self.assertRaises(bulkhead.ResourceExhaustedError):
            decoder[50]
        self.assertEqual([seen(frame.data) for frame in held], reference(clip())[:6])
        del capsule
        self.assertEqual(support.pixels(decoder[50], "NHWC"), reference(clip())[50])
        self.assertEqual(support.Pixels(view.tobytes()), reference(clip())[7])
        view.release()
        # What the message says: copies of the pixels hold no slot.
        self.assertEqual(
            [bytes(frame.data) for frame in decoder.frames(lease=True)], reference(clip())
        )
        host = bulkhead.Host(limits={"frame_slots": 20})
        frames = self.decoder(host=host).frames(lease=True)
        self.assertEqual(
            [seen(frame.data) for frame in list(itertools.islice(frames, 20))],
            reference(clip())[:20],
        )
        held.clear()
        # The loop goes on with the frame that was due.
        self.assertEqual([seen(frame.data) for frame in loop], reference(clip())[8:])

    def test_outlive_everything(self):
        host = bulkhead.Host()
        decoder = self.decoder(host=host)
        loop = decoder.frames(lease=True)
        leases = [frame.data for frame in itertools.islice(loop, 4)]
        os.kill(decoder.worker_pid, signal.SIGKILL)
        # The next worker writes into the other slots.
        self.assertEqual([seen(frame.data) for frame in loop], reference(clip())[4:])
        for pid in (*support.descendants(host.supervisor_pid), host.supervisor_pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended with one that was killed before.
        self.assertEqual(support.pixels(decoder[60], "NHWC"), reference(clip())[60])
        decoder.close()
        del decoder, loop, host
        gc.collect()
        views = [memoryview(lease) for lease in leases]
        self.assertEqual([seen(lease) for lease in leases], reference(clip())[:4])
        del leases
        self.assertEqual(
            [support.Pixels(view.tobytes()) for view in views], reference(clip())[:4]
        )


def overwrite(lease):
    """Fills the pixels with 77 through each tensor of torch, which has no read-only
    ones and warns instead. Returns the number of the ways that take such rows."""
    import numpy
    import torch

    tensors = [torch.from_numpy(numpy.asarray(lease))]
    if memoryview(lease).c_contiguous:
        dtype = getattr(torch, lease.dtype)
        tensors.append(torch.frombuffer(memoryview(lease), dtype=dtype))
    for tensor in tensors:
        tensor[:] = 0
        assert not numpy.asarray(lease).any()
        tensor[:] = 77
        assert (numpy.asarray(lease) == 77).all()
    return len(tensors)


@on_each_device
class Writes(unittest.TestCase):
    """Writes of consumers that ignore that a lease is read-only."""

    def check_stay_in_their_lease(self, path, dtype, ways):
        options = {"dimension_order": "NHWC", "output_dtype": dtype}
        sound = [support.pixels(data, "NHWC") for data in VideoDecoder(path, **options)]
        decoder = VideoDecoder(path, device=self.device, **options)
        written = decoder.get_frame_at(40, lease=True).data
        same = decoder.get_frame_at(40, lease=True).data
        self.assertEqual(overwrite(written), ways)
        self.assertEqual(seen(same), sound[40])
        # Every slot is used several times, and decoding goes on meanwhile.
        for index, frame in enumerate(decoder.frames(lease=True)):
            self.assertEqual(seen(frame.data), sound[index])
            overwrite(frame.data)
        # The decoder itself refers to no picture that was overwritten.
        for index in (41, 40, 119):
            self.assertEqual(support.pixels(decoder[index], "NHWC"), sound[index])
        owned = decoder.get_frames_at(range(0, 120, 7)).data
        self.assertEqual([support.pixels(data, "NHWC") for data in owned], sound[::7])
        self.assertEqual(seen(same), sound[40])
        self.assertEqual(set(itertools.chain(*memoryview(written).tolist()[0])), {77})
        self.assertEqual(decoder.recovery.restarts, 0)

    @support.needs_torch
    def test_stay_in_their_lease(self):
        packed, padded = clip(), clip("padded.mp4", size="330x242")
        for dtype in ("uint8", "float32"):
            with self.subTest(dtype=dtype):
                self.check_stay_in_their_lease(packed, dtype, ways=2)
                self.check_stay_in_their_lease(padded, dtype, ways=1)

    @support.needs_torch
    def test_outlive_everything(self):
        import numpy
        import torch

        decoder = VideoDecoder(clip(), device=self.device, dimension_order="NHWC")
        tensor = torch.from_numpy(numpy.asarray(decoder.get_frame_at(7, lease=True).data))
        os.kill(decoder.worker_pid, signal.SIGKILL)
        decoder.close()
        del decoder
        gc.collect()
        self.assertEqual(support.pixels(tensor, "NHWC"), reference(clip())[7])
        tensor[0] = 1
        self.assertTrue((tensor[0] == 1).all())
        self.assertEqual(support.pixels(tensor[1:], "NHWC"), reference(clip())[7][960:])


class Forks(unittest.TestCase):
    def test_leave_the_child_its_pixels(self):
        decoder = VideoDecoder(clip(), dimension_order="NHWC")
        lease = decoder.get_frame_at(7, lease=True).data
        view = memoryview(decoder.get_frame_at(8, lease=True).data)
        waits, go_on = os.pipe()
        child = os.fork()
        if child == 0:
            sound = False
            try:
                os.read(waits, 1)
                sound = (
                    seen(lease) == reference(clip())[7]
                    and view.tobytes() == reference(clip())[8]
                    and support.pixels(decoder[9], "NHWC") == reference(clip())[9]
                )
            finally:
                os._exit(0 if sound else 1)
        # The parent gives the slots back, and its worker writes all of them.
        view.release()
        del lease, view
        for index, frame in enumerate(decoder.frames(lease=True)):
            self.assertEqual(seen(frame.data), reference(clip())[index])
        os.write(go_on, b"x")
        status = os.waitpid(child, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        os.close(waits)
        os.close(go_on)


def address(lease):
    import numpy

    return numpy.asarray(lease).ctypes.data


class Pictures(unittest.TestCase):
    def test_give_their_pixels_once(self):
        source = _core.Source.from_path(os.fsencode(clip()))
        stream = bulkhead.Host().core().open_video(source, _core.VideoOptions())
        picture = stream.next(True)
        lease = picture.lease(False)
        with self.assertRaisesRegex(RuntimeError, "were taken"):
            picture.lease(False)
        del lease
        with self.assertRaisesRegex(RuntimeError, "another form"):
            stream.next(False).lease(False)


class Threads(unittest.TestCase):
    """Leases that are taken on four threads and dropped in any order, on any of them."""

    def setUp(self):
        self.path = clip("small.mp4", size="64x48")
        self.expected = reference(self.path, 64, 48)
        self.wrong = []

    def run_threads(self, leases):
        lock = threading.Lock()
        held = []  # Of all threads.

        def take(seed):
            order = random.Random(seed)
            # Eight slots, of which this thread needs one, and all have at most six.
            decoder = VideoDecoder(self.path, dimension_order="NHWC")
            taken = 0
            while taken < leases // 4:
                for index, frame in enumerate(decoder.frames(lease=True)):
                    taken += 1
                    made = (frame.data, memoryview(frame.data), self.capsule(frame.data))
                    with lock:
                        held.append((index, order.choice(made)))
                        order.shuffle(held)
                        index, one = held.pop() if len(held) > 6 else (index, frame.data)
                    if index % 16 == 0 and self.bytes_of(one) != self.expected[index]:
                        self.wrong.append(index)
                    del frame, made, one

        threads = [threading.Thread(target=take, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @staticmethod
    def capsule(lease):
        return lease.__dlpack__(max_version=(1, 0))

    @staticmethod
    def bytes_of(one):
        if isinstance(one, (bulkhead.Lease, memoryview)):
            return memoryview(one).tobytes()
        return pixels_of(inside(one).tensor)

    def test_ten_thousand_leave_nothing(self):
        self.run_threads(400)
        gc.collect()
        descriptors, memory = support.open_descriptors(), support.memory_kib()
        self.run_threads(10_000)
        gc.collect()
        self.assertEqual(self.wrong, [])
        # A connection to bulkheadd for each thread, if all were in calls at once.
        self.assertLessEqual(support.open_descriptors() - descriptors, 4)
        self.assertLess(support.memory_kib() - memory, 1024)
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.assertNotIn("bulkhead-frames", maps.read())


if __name__ == "__main__":
    support.main()
