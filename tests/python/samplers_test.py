# SPDX-License-Identifier: Apache-2.0
"""bulkhead.samplers: which frames they take, by their pictures."""

import math
import unittest

import support
from bulkhead.decoders import VideoDecoder
from bulkhead.samplers import (
    clips_at_random_indices,
    clips_at_random_timestamps,
    clips_at_regular_indices,
    clips_at_regular_timestamps,
)
from support import clip, on_each_device, pixels, reference


def numbers(batch):
    """Returns the numbers of the frames of each clip, by their times, and checks that
    they have the pictures of these numbers."""
    found = [[round(float(time) * 25) for time in clip] for clip in batch.pts_seconds]
    wanted = b"".join(reference(clip())[number] for row in found for number in row)
    assert pixels(batch.data) == wanted
    return found


@on_each_device
class Samplers(unittest.TestCase):
    def setUp(self):
        self.decoder = VideoDecoder(clip(), device=self.device)

    def test_regular_indices(self):
        batch = clips_at_regular_indices(
            self.decoder, num_clips=3, num_frames_per_clip=4, num_indices_between_frames=2
        )
        self.assertEqual(tuple(batch.data.shape), (3, 4, 3, 240, 320))
        self.assertEqual(
            numbers(batch), [[0, 2, 4, 6], [56, 58, 60, 62], [113, 115, 117, 119]]
        )
        batch = clips_at_regular_indices(
            self.decoder, num_clips=4, sampling_range_start=-3, sampling_range_end=-1
        )
        self.assertEqual(numbers(batch), [[117], [117], [117], [118]])
        # What torch.linspace() of torch 2 returns. The exact place of number 19 is 21.
        batch = clips_at_regular_indices(self.decoder, num_clips=39, sampling_range_end=43)
        self.assertEqual(numbers(batch)[18:21], [[19], [20], [22]])
        batch = clips_at_regular_indices(self.decoder, num_clips=1, sampling_range_end=43)
        self.assertEqual(numbers(batch), [[0]])

    def test_random_indices(self):
        batch = clips_at_random_indices(
            self.decoder, num_clips=40, sampling_range_start=10, sampling_range_end=14
        )
        self.assertEqual({row[0] for row in numbers(batch)}, {10, 11, 12, 13})

    def test_policies(self):
        def last(policy):
            return numbers(
                clips_at_random_indices(
                    self.decoder,
                    num_frames_per_clip=4,
                    sampling_range_start=118,
                    sampling_range_end=119,
                    policy=policy,
                )
            )

        self.assertEqual(last("repeat_last"), [[118, 119, 119, 119]])
        self.assertEqual(last("wrap"), [[118, 119, 118, 119]])
        for policy in ("error", "other"):
            with self.assertRaises(ValueError):
                last(policy)

    def test_regular_timestamps(self):
        batch = clips_at_regular_timestamps(
            self.decoder, seconds_between_clip_starts=1.6, num_frames_per_clip=2
        )
        self.assertEqual(numbers(batch), [[0, 1], [40, 41], [80, 81]])
        batch = clips_at_regular_timestamps(
            self.decoder,
            seconds_between_clip_starts=1,
            num_frames_per_clip=3,
            seconds_between_frames=0.4,
            sampling_range_start=4.2,
            sampling_range_end=99,
            policy="wrap",
        )
        self.assertEqual(numbers(batch), [[105, 115, 105]])

    def test_random_timestamps(self):
        batch = clips_at_random_timestamps(
            self.decoder, num_clips=60, sampling_range_start=1, sampling_range_end=1.16
        )
        self.assertEqual({row[0] for row in numbers(batch)}, {25, 26, 27, 28})

    @support.needs_torch
    def test_random_places_are_drawn_from_torchs_generator(self):
        import torch

        torch.manual_seed(3)
        wanted = torch.randint(5, 50, (6,)).tolist()
        times = (0.0 + torch.rand(6).double() * 4.8).tolist()
        torch.manual_seed(3)
        indices = clips_at_random_indices(
            self.decoder, num_clips=6, sampling_range_start=5, sampling_range_end=50
        )
        self.assertEqual(numbers(indices), [[number] for number in wanted])
        timed = clips_at_random_timestamps(self.decoder, num_clips=6)
        self.assertEqual(numbers(timed), [[math.floor(time * 25)] for time in times])

    def test_refusals(self):
        for wrong in (
            {"num_clips": 0},
            {"num_frames_per_clip": 0},
            {"num_indices_between_frames": 0},
            {"sampling_range_start": 120},
            {"sampling_range_start": -121},
            {"sampling_range_start": 5, "sampling_range_end": 5},
            {"sampling_range_start": 119, "num_frames_per_clip": 4},
        ):
            with self.subTest(wrong), self.assertRaises(ValueError):
                clips_at_regular_indices(self.decoder, **wrong)
        for wrong in (
            {"num_clips": 0},
            {"seconds_between_frames": 0},
            {"sampling_range_start": -1},
            {"sampling_range_start": 4.8},
            {"sampling_range_start": 2, "sampling_range_end": 2},
        ):
            with self.subTest(wrong), self.assertRaises(ValueError):
                clips_at_random_timestamps(self.decoder, **wrong)
        with self.assertRaises(ValueError):
            clips_at_regular_timestamps(self.decoder, seconds_between_clip_starts=0)


if __name__ == "__main__":
    support.main()
