# SPDX-License-Identifier: Apache-2.0
"""Samplers, with the names of torchcodec.samplers. They take clips of a few frames each
from many places of a stream, to train models.

Each returns a FrameBatch of [clips, frames, ...]. A frame in several clips is decoded
once. Random places are drawn from torch's generator (torch.manual_seed), or from
`random` without torch; times are computed in float64. The sampling range is the range
in which clips begin, without its end. By default it ends where the last whole clip
begins.
"""

import math
import random
from typing import List, Literal, Optional

from bulkhead import _arrays
from bulkhead._arguments import INTEGER, NUMBER, checked
from bulkhead._errors import InvalidArgumentError
from bulkhead._frame import FrameBatch
from bulkhead._video import VideoDecoder

__all__ = [
    "clips_at_random_indices",
    "clips_at_random_timestamps",
    "clips_at_regular_indices",
    "clips_at_regular_timestamps",
]

_POLICIES = ("repeat_last", "wrap", "error")


def clips_at_random_indices(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    num_indices_between_frames: int = 1,
    sampling_range_start: int = 0,
    sampling_range_end: Optional[int] = None,
    policy: Literal["repeat_last", "wrap", "error"] = "repeat_last",
) -> FrameBatch:
    """Returns clips that begin at random frames, each equally likely.

    Args:
        num_indices_between_frames: 1 takes neighbouring frames.
        sampling_range_start, sampling_range_end: Negative indices count from the end.
        policy: The treatment of a clip that reaches beyond the end of the stream:
            "repeat_last" repeats its last frame, "wrap" repeats it from its first
            frame, "error" raises a ValueError.
    """

    def draw(start: int, end: int) -> List[int]:
        torch = _arrays.torch()
        if torch is None:
            return [random.randrange(start, end) for _ in range(num_clips)]
        return torch.randint(start, end, (num_clips,)).tolist()

    return _by_index(
        decoder,
        draw,
        num_clips,
        num_frames_per_clip,
        num_indices_between_frames,
        sampling_range_start,
        sampling_range_end,
        policy,
    )


def clips_at_regular_indices(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    num_indices_between_frames: int = 1,
    sampling_range_start: int = 0,
    sampling_range_end: Optional[int] = None,
    policy: Literal["repeat_last", "wrap", "error"] = "repeat_last",
) -> FrameBatch:
    """Returns clips whose first frames are spread evenly over the range, from its first
    frame to its last. The places equal those of torch.linspace() in torch 2, even if
    torch is not installed. The arguments are as in clips_at_random_indices."""

    def spread(start: int, end: int) -> List[int]:
        # Counts from both ends and in float64, as torch does. Rounding down can thus
        # give the index before the exact one.
        last = end - 1
        step = (last - start) / max(num_clips - 1, 1)
        half = max(num_clips // 2, 1)
        before = [int(start + step * clip) for clip in range(half)]
        after = [int(last - step * gaps) for gaps in reversed(range(num_clips - half))]
        return before + after

    return _by_index(
        decoder,
        spread,
        num_clips,
        num_frames_per_clip,
        num_indices_between_frames,
        sampling_range_start,
        sampling_range_end,
        policy,
    )


def clips_at_random_timestamps(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    seconds_between_frames: Optional[float] = None,
    sampling_range_start: Optional[float] = None,
    sampling_range_end: Optional[float] = None,
    policy: Literal["repeat_last", "wrap", "error"] = "repeat_last",
) -> FrameBatch:
    """Returns clips that begin at random times, each equally likely.

    Args:
        seconds_between_frames: None is 1 / average_fps.
        sampling_range_start: In seconds; None is the beginning of the stream.
        policy: As in clips_at_random_indices.
    """
    _positive(INTEGER, num_clips=num_clips)

    def draw(start: float, end: float) -> List[float]:
        torch = _arrays.torch()
        if torch is None:
            fractions = [random.random() for _ in range(num_clips)]
        else:
            fractions = torch.rand(num_clips).tolist()
        return [start + fraction * (end - start) for fraction in fractions]

    return _by_time(
        decoder,
        draw,
        num_frames_per_clip,
        seconds_between_frames,
        sampling_range_start,
        sampling_range_end,
        policy,
    )


def clips_at_regular_timestamps(
    decoder: VideoDecoder,
    *,
    seconds_between_clip_starts: float,
    num_frames_per_clip: int = 1,
    seconds_between_frames: Optional[float] = None,
    sampling_range_start: Optional[float] = None,
    sampling_range_end: Optional[float] = None,
    policy: Literal["repeat_last", "wrap", "error"] = "repeat_last",
) -> FrameBatch:
    """Returns a clip every `seconds_between_clip_starts`, from the start of the range.
    The other arguments are as in clips_at_random_timestamps."""
    _positive(NUMBER, seconds_between_clip_starts=seconds_between_clip_starts)

    def step(start: float, end: float) -> List[float]:
        clips = math.ceil((end - start) / seconds_between_clip_starts)
        starts = (start + clip * seconds_between_clip_starts for clip in range(clips))
        return [at for at in starts if at < end]  # Rounding may reach `end`.

    return _by_time(
        decoder,
        step,
        num_frames_per_clip,
        seconds_between_frames,
        sampling_range_start,
        sampling_range_end,
        policy,
    )


def _by_index(decoder, choose, clips, length, step, start, end, policy):
    _check(decoder, policy)
    _positive(
        INTEGER,
        num_clips=clips,
        num_frames_per_clip=length,
        num_indices_between_frames=step,
    )
    start = checked("sampling_range_start", start, INTEGER)
    end = checked("sampling_range_end", end, INTEGER, none=True)
    count = len(decoder)
    first = start + count if start < 0 else start
    if not 0 <= first < count:
        raise InvalidArgumentError(
            f"sampling_range_start is {start}, and there are {count} frames"
        )
    if end is None:
        end = max(count - (length - 1) * step, 1)
    elif end < 0:
        end += count
    end = min(end, count)
    _not_empty(first, end)
    plan = []
    for place in choose(first, end):
        clip = list(range(place, min(place + (length - 1) * step + 1, count), step))
        plan += _complete(clip, length, policy)
    return _clips(decoder.get_frames_at(plan), length)


def _by_time(decoder, choose, length, between, start, end, policy):
    _check(decoder, policy)
    _positive(INTEGER, num_frames_per_clip=length)
    start = checked("sampling_range_start", start, NUMBER, none=True)
    end = checked("sampling_range_end", end, NUMBER, none=True)
    metadata = decoder.metadata
    if metadata.end_stream_seconds is None:
        raise InvalidArgumentError("the stream does not state its end; sample by index")
    if between is None:
        if not metadata.average_fps:
            raise InvalidArgumentError(
                "the stream states no frame rate; give seconds_between_frames"
            )
        between = 1 / metadata.average_fps
    _positive(NUMBER, seconds_between_frames=between)
    begins, ends = metadata.begin_stream_seconds, metadata.end_stream_seconds
    if start is None:
        start = begins
    if not begins <= start < ends:
        raise InvalidArgumentError(
            f"sampling_range_start is {start}, and the stream plays from {begins} s "
            f"until {ends} s"
        )
    end = ends - (length - 1) * between if end is None else min(end, ends)
    _not_empty(start, end)
    plan = []
    for place in choose(start, end):
        times = (place + frame * between for frame in range(length))
        plan += _complete([time for time in times if time < ends], length, policy)
    return _clips(decoder.get_frames_played_at(plan), length)


def _check(decoder, policy):
    if not hasattr(decoder, "get_frames_played_at"):
        raise TypeError(f"decoder is {decoder!r}; it can be a VideoDecoder")
    if policy not in _POLICIES:
        raise InvalidArgumentError(f"Invalid policy {policy!r}; it can be {_POLICIES}")
    if _arrays.torch() is None and _arrays.numpy() is None:
        raise RuntimeError("clips need torch or numpy, for their dimensions")


def _positive(kind, **numbers):
    for name, number in numbers.items():
        if not checked(name, number, kind) > 0:
            raise InvalidArgumentError(f"{name} ({number}) must be strictly positive")


def _not_empty(start, end):
    if not start < end:
        raise InvalidArgumentError(
            f"sampling_range_start ({start}) must be smaller than sampling_range_end ({end})"
        )


def _complete(clip, length, policy):
    """Returns the clip with frames added up to `length`, as `policy` says."""
    if len(clip) < length and policy == "error":
        raise InvalidArgumentError(
            f"a clip of {length} frames reaches beyond the number of frames"
        )
    wraps = policy == "wrap"
    there = len(clip)
    return clip + [
        clip[frame % there if wraps else -1] for frame in range(there, length)
    ]


def _clips(batch, length):
    """Returns the batch with a first dimension for the clips."""
    shape = (len(batch) // length, length)
    return FrameBatch(
        batch.data.reshape(*shape, *batch.data.shape[1:]),
        batch.pts_seconds.reshape(shape),
        batch.duration_seconds.reshape(shape),
    )
