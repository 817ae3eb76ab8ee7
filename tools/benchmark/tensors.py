#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes into torch tensors on request, for tools/bench --python.

    tensors.py bulkhead CLIP DIRECTORY    DIRECTORY holds the package bulkhead
    tensors.py pyav|opencv CLIP

Prints the version of the library, then answers each line of input with a line,
SECONDS FRAMES WRONG:

    sequential              opens the clip and makes a tensor [3, H, W] of every
                            frame
    random 7,3,...          opens the clip and makes tensors of these frames
    clips COUNT 7,3,...     opens the clip and makes a tensor [COUNT, 3, H, W] of
                            the frames from each of these on
    loader COUNT 7,3,...    the same by a DataLoader with two workers that stay; each
                            item opens the clip

The tensors are uint8 in the order red, green, blue. With `check ` before it, a
request is answered with the number of pictures that differ from a
sequential pass's, else with 0 for it. Decodes with one thread. Exits with 3 if a
library is not installed.
"""

import os
import sys
import time

# Python's isolated mode leaves out the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from peers import OpenCv, PyAv, digest

try:
    import torch
    import torch.utils.data
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(3)

PROCESSORS = sorted(os.sched_getaffinity(0))


class Bulkhead:
    def __init__(self, clip, directory):
        sys.path.insert(0, directory)
        import bulkhead.decoders

        self.version = "Bulkhead in Python"
        self.decoder_of = lambda: bulkhead.decoders.VideoDecoder(clip)
        self.place_worker = None

    def open(self):
        self.decoder = self.decoder_of()

    def before_fork(self):
        pass

    def tensors(self):
        return iter(self.decoder)

    def tensor_at(self, index):
        return self.decoder[index]

    def clip_at(self, index, count):
        return self.decoder.get_frames_at(range(index, index + count)).data


class Pictures:
    """Makes tensors of the arrays that a library of peers.py gives."""

    def __init__(self, library, place_worker=None):
        self.library = library
        self.version = library.version
        self.open = library.open
        self.place_worker = place_worker

    def before_fork(self):
        pass

    def tensor(self, picture):
        return torch.from_numpy(picture).permute(2, 0, 1)

    def tensors(self):
        return map(self.tensor, self.library.frames())

    def tensor_at(self, index):
        return self.tensor(next(self.library.frames_from(index)))

    def clip_at(self, index, count):
        pictures = self.library.frames_from(index)
        return torch.stack([self.tensor(next(pictures)) for _ in range(count)])


class BluePictures(Pictures):
    """Pictures in OpenCV's order of channels."""

    def before_fork(self):
        # The threads of a capture do not survive the fork. A worker of the DataLoader that
        # closed the capture would wait for them for ever.
        self.library.capture = None

    def tensor(self, picture):
        import cv2

        return super().tensor(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))


def on_one_processor(worker):
    os.sched_setaffinity(0, {PROCESSORS[worker % len(PROCESSORS)]})


def made(kind, clip, *directory):
    if kind == "bulkhead":
        return Bulkhead(clip, *directory)
    if kind == "pyav":
        return Pictures(PyAv(clip))
    return BluePictures(OpenCv(clip), on_one_processor)


class Clips:
    """The data set of the DataLoader: each item opens the file and decodes a clip."""

    def __init__(self, decoder, places, count):
        self.decoder, self.places, self.count = decoder, places, count

    def __len__(self):
        return len(self.places)

    def __getitem__(self, item):
        self.decoder.open()
        return item, self.decoder.clip_at(self.places[item], self.count)


class Requests:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reference = None
        self.loaders = {}

    def sequential(self, check):
        self.decoder.open()
        digests, frames = [], 0
        for tensor in self.decoder.tensors():
            frames += 1
            if check:
                digests.append(self.digest(tensor))
        if check:
            self.reference = digests
        return frames, []

    def random(self, _, places):
        self.decoder.open()
        tensors = [self.decoder.tensor_at(place) for place in places]
        return len(tensors), zip(places, tensors)

    def clips(self, _, count, places):
        self.decoder.open()
        clips = [self.decoder.clip_at(place, count) for place in places]
        return count * len(clips), self.frames_of(places, clips)

    def loader(self, _, count, places):
        key = (count, *places)
        if key not in self.loaders:
            self.loaders[key] = torch.utils.data.DataLoader(
                Clips(self.decoder, places, count),
                batch_size=4,
                num_workers=2,
                persistent_workers=True,
                worker_init_fn=self.decoder.place_worker,
            )
        self.decoder.before_fork()
        items, clips = [], []
        for numbers, batch in self.loaders[key]:
            items += [places[number] for number in numbers]
            clips += batch
        return count * len(clips), self.frames_of(items, clips)

    @staticmethod
    def frames_of(places, clips):
        for place, clip in zip(places, clips):
            yield from enumerate(clip, place)

    @staticmethod
    def digest(tensor):
        return digest(tensor.permute(1, 2, 0).contiguous().numpy())

    def answer(self, line):
        words = line.split()
        check = words[0] == "check"
        numbers = [
            [int(number) for number in word.split(",")] for word in words[check + 1 :]
        ]
        if len(numbers) == 2:
            numbers[0] = numbers[0][0]
        start = time.perf_counter()
        frames, pictures = getattr(self, words[check])(check, *numbers)
        took = time.perf_counter() - start
        wrong = 0
        if check:
            wrong = sum(
                self.digest(tensor) != self.reference[place]
                for place, tensor in pictures
            )
        return f"{took} {frames} {wrong}"


def main():
    try:
        torch.set_num_threads(1)
        requests = Requests(made(*sys.argv[1:]))
    except (ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 3
    print(requests.decoder.version, flush=True)
    for line in sys.stdin:
        print(requests.answer(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
