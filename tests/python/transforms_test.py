# SPDX-License-Identifier: Apache-2.0
"""bulkhead.transforms: what the worker applies, beside the command and plain slices."""

import pickle
import subprocess
import unittest

import support
from bulkhead.decoders import VideoDecoder
from bulkhead.transforms import CenterCrop, RandomCrop, Resize
from support import clip, on_each_device, pixels, reference


def cli(*arguments):
    return subprocess.run(
        [support.cli_program(), "decode", clip(), "--format", "rawvideo", "-o", "-", *arguments],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout


def cut(picture, top, left, height, width, row=320):
    """Cuts a rectangle out of a picture of 320 pixels a row."""
    rows = (picture[3 * row * y :][3 * left : 3 * (left + width)] for y in range(top, top + height))
    return b"".join(rows)


def place(decoder):
    """Returns where a crop of 100x160 of frame 7 is: the only place that fits."""
    seen = pixels(decoder[7])
    picture = reference(clip())[7]
    first = seen[: 3 * 160]
    at = picture.find(first)
    while at >= 0:
        top, left = at // 3 // 320, at // 3 % 320
        if at % 3 == 0 and top + 100 <= 240 and left + 160 <= 320:
            if cut(picture, top, left, 100, 160) == seen:
                return top, left
        at = picture.find(first, at + 1)
    return None


@on_each_device
class Transforms(unittest.TestCase):
    def open(self, *transforms):
        return VideoDecoder(clip(), device=self.device, transforms=transforms)

    def test_sizes_of_numpy(self):
        import numpy

        decoder = self.open(CenterCrop((numpy.int64(8), 9)))
        self.assertEqual(tuple(decoder[7].shape), (3, 8, 9))

    def test_resize(self):
        decoder = self.open(Resize((120, 200)))
        self.assertEqual(tuple(decoder[7].shape), (3, 120, 200))
        self.assertEqual(pixels(decoder[7]), cli("--resize", "200x120", "--at", "7"))
        self.assertEqual((decoder.metadata.height, decoder.metadata.width), (240, 320))

    def test_center_crop_rounds_half_to_even(self):
        for height, top in ((237, 2), (235, 2), (239, 0), (238, 1), (240, 0)):
            decoder = self.open(CenterCrop([height, 100]))
            self.assertEqual(
                pixels(decoder[7]), cut(reference(clip())[7], top, 110, height, 100)
            )

    def test_in_order(self):
        decoder = self.open(Resize((120, 200)), CenterCrop((100, 100)))
        wanted = cli("--resize", "200x120", "--crop", "100x100+50+10", "--at", "7")
        self.assertEqual(pixels(decoder[7]), wanted)
        with self.assertRaises(ValueError):
            self.open(CenterCrop((100, 100)), CenterCrop((120, 100)))

    def test_random_crop_is_drawn_once(self):
        decoder = self.open(RandomCrop((100, 160)))
        found = place(decoder)
        self.assertIsNotNone(found)
        self.assertEqual(
            pixels(decoder[50]), cut(reference(clip())[50], *found, 100, 160)
        )
        self.assertEqual(place(pickle.loads(pickle.dumps(decoder))), found)
        places = {place(self.open(RandomCrop((100, 160)))) for _ in range(8)}
        self.assertGreater(len(places), 4)
        self.assertNotIn(None, places)

    @support.needs_torch
    def test_random_crop_is_drawn_from_torchs_generator(self):
        import torch

        torch.manual_seed(5)
        wanted = (int(torch.randint(0, 141, ())), int(torch.randint(0, 161, ())))
        torch.manual_seed(5)
        self.assertEqual(place(self.open(RandomCrop((100, 160)))), wanted)

    def test_refusals(self):
        for wrong in ((0, 5), (5,), 5, (5, 5, 5), (1.5, 2), (2**40, 5)):
            with self.subTest(wrong), self.assertRaises(ValueError):
                Resize(wrong)
        for crop in (CenterCrop((241, 10)), RandomCrop((10, 321))):
            with self.assertRaises(ValueError):
                self.open(crop)
        with self.assertRaises(ValueError):
            self.open("resize, 10, 10")
        with self.assertRaises(ValueError):
            VideoDecoder(
                clip(), device=self.device, stream_index=1, transforms=[CenterCrop((1, 1))]
            )


if __name__ == "__main__":
    support.main()
