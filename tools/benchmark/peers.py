#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes with another library on request, for tools/bench --peers.

    peers.py pyav|opencv|ffms2 CLIP

Prints the version of the library, then answers each line of input with a line:

    sequential      -> SECONDS FRAMES           opens the clip and decodes every
                       frame
    random 7,3,...  -> OPEN_MS SECONDS WRONG    the time to open the clip and
                       decode the first of these frames, the time for the others,
                       and the number of pictures that differ from those of the
                       sequential pass
    clips 8 100     -> SECONDS FRAMES           opens the clip 100 times, 8 at
                       once in threads, and decodes every frame each time

Pictures have 24 bits per pixel, in the channel order of the library. Decodes with
one thread and reads all bytes of each picture. Exits with 3 if the library is not
installed.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def digest(picture):
    """Returns a digest of all bytes. Pictures with equal digests count as equal."""
    import numpy

    flat = picture.reshape(-1)
    whole = flat.size // 8 * 8
    words = flat[:whole].view(numpy.uint64)
    return int(numpy.add.reduce(words)) ^ int(
        numpy.add.reduce(flat[whole:], dtype=numpy.uint64)
    )


class PyAv:
    def __init__(self, clip):
        import av

        self.version = "PyAV " + av.__version__
        self.clip = clip

    def open(self):
        import av

        self.container = av.open(self.clip)
        self.stream = self.container.streams.video[0]
        self.stream.thread_type = "NONE"
        self.stream.codec_context.thread_count = 1
        self.start = self.stream.start_time or 0
        # PyAV has no index, so that its users compute times from a constant rate.
        self.ticks = 1 / (self.stream.average_rate * self.stream.time_base)

    def frames(self):
        for frame in self.container.decode(self.stream):
            yield frame.to_ndarray(format="rgb24")

    def frames_from(self, index):
        pts = self.start + round(index * self.ticks)
        self.container.seek(pts, stream=self.stream)
        for frame in self.container.decode(self.stream):
            if frame.pts >= pts:
                yield frame.to_ndarray(format="rgb24")


class OpenCv:
    def __init__(self, clip):
        # OpenCV starts a decoder thread for each processor, without an option to change
        # that. With one allowed processor it starts one thread.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import cv2

        self.version = "OpenCV " + cv2.__version__
        self.clip = clip

    def open(self):
        import cv2

        self.position = cv2.CAP_PROP_POS_FRAMES
        self.capture = cv2.VideoCapture(self.clip, cv2.CAP_FFMPEG)

    def frames(self):
        while True:
            found, picture = self.capture.read()
            if not found:
                return
            yield picture

    def frames_from(self, index):
        self.capture.set(self.position, index)
        return self.frames()


class Ffms2:
    def __init__(self, clip):
        import ctypes

        import numpy  # noqa: F401  (fails now if it is missing)

        self.ctypes = ctypes
        self.library = ctypes.CDLL("libffms2.so.5")
        pointer = ctypes.c_void_p
        for name in (
            "CreateIndexer",
            "DoIndexing2",
            "CreateVideoSource",
            "GetFrame",
            "GetVideoProperties",
        ):
            getattr(self.library, "FFMS_" + name).restype = pointer
        version = self.library.FFMS_GetVersion()
        self.version = "FFMS2 %d.%d" % (version >> 24, version >> 16 & 255)
        self.library.FFMS_Init(0, 0)
        self.clip = clip.encode()
        self.source = None

    def check(self, result, failed):
        if result == failed:
            raise RuntimeError("ffms2 failed on " + self.clip.decode())
        return result

    def open(self):
        ctypes, library = self.ctypes, self.library
        pointer = ctypes.c_void_p
        if self.source:
            library.FFMS_DestroyVideoSource(self.source)
        indexer = self.check(library.FFMS_CreateIndexer(self.clip, None), None)
        index = self.check(
            library.FFMS_DoIndexing2(pointer(indexer), 0, None), None
        )
        track = library.FFMS_GetFirstTrackOfType(pointer(index), 0, None)
        self.source = pointer(
            self.check(
                library.FFMS_CreateVideoSource(
                    self.clip, track, pointer(index), 1, 1, None
                ),
                None,
            )
        )
        library.FFMS_DestroyIndex(pointer(index))
        properties = ctypes.cast(
            library.FFMS_GetVideoProperties(self.source),
            ctypes.POINTER(ctypes.c_int),
        )
        self.count = properties[4]
        first = ctypes.cast(
            library.FFMS_GetFrame(self.source, 0, None), ctypes.c_void_p
        ).value
        # In FFMS_Frame, EncodedWidth and EncodedHeight follow 4 planes and 4
        # strides.
        size = ctypes.cast(first + 48, ctypes.POINTER(ctypes.c_int))
        width, height = size[0], size[1]
        formats = (ctypes.c_int * 2)(library.FFMS_GetPixFmt(b"rgb24"), -1)
        library.FFMS_SetOutputFormatV2(
            self.source, formats, width, height, 4, None
        )
        self.width, self.height = width, height

    def picture(self, index):
        import numpy

        ctypes = self.ctypes
        frame = self.check(
            self.library.FFMS_GetFrame(self.source, index, None), None
        )
        data = ctypes.cast(frame, ctypes.POINTER(ctypes.c_void_p))[0]
        stride = ctypes.cast(frame + 32, ctypes.POINTER(ctypes.c_int))[0]
        memory = (ctypes.c_uint8 * (stride * self.height)).from_address(data)
        rows = numpy.frombuffer(memory, numpy.uint8).reshape(
            self.height, stride
        )
        # This is no copy if the rows are packed, as they are at the widths measured here.
        return numpy.ascontiguousarray(rows[:, : 3 * self.width])

    def frames_from(self, index):
        for at in range(index, self.count):
            yield self.picture(at)

    def frames(self):
        return self.frames_from(0)


def decode_clips(kind, clip, at_once, count):
    """Returns the number of frames of all clips."""

    def decode(_):
        decoder = kind(clip)
        decoder.open()
        return len([digest(picture) for picture in decoder.frames()])

    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(decode, range(count)))


def main():
    kinds = {"pyav": PyAv, "opencv": OpenCv, "ffms2": Ffms2}
    try:
        decoder = kinds[sys.argv[1]](sys.argv[2])
    except (ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 3
    print(decoder.version, flush=True)
    straight = None
    for line in sys.stdin:
        words = line.split()
        start = time.perf_counter()
        if words[0] == "clips":
            frames = decode_clips(
                type(decoder), sys.argv[2], int(words[1]), int(words[2])
            )
            print(time.perf_counter() - start, frames, flush=True)
            continue
        decoder.open()
        if words[0] == "sequential":
            straight = [digest(picture) for picture in decoder.frames()]
            took = time.perf_counter() - start
            print(took, len(straight), flush=True)
            continue
        wanted = [int(index) for index in words[1].split(",")]
        # The first frame needs no seek.
        first = decoder.frames_from(wanted[0]) if wanted[0] else decoder.frames()
        got = [digest(next(first))]
        opened = time.perf_counter()
        got += [digest(next(decoder.frames_from(at))) for at in wanted[1:]]
        took = time.perf_counter() - opened
        wrong = sum(
            picture != straight[index]
            for picture, index in zip(got, wanted)
        )
        print((opened - start) * 1e3, took, wrong, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
