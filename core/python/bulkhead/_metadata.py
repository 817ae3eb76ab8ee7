# SPDX-License-Identifier: Apache-2.0
"""The metadata of streams, with torchcodec's names."""

import dataclasses
import fractions
from typing import Optional

# FFmpeg's names of the code points of ITU-T H.273. Other code points are unknown.
_PRIMARIES = {
    1: "bt709",
    4: "bt470m",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "film",
    9: "bt2020",
    10: "smpte428",
    11: "smpte431",
    12: "smpte432",
    22: "ebu3213",
}
_TRANSFERS = {
    1: "bt709",
    4: "bt470m",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "linear",
    9: "log100",
    10: "log316",
    11: "iec61966-2-4",
    12: "bt1361e",
    13: "iec61966-2-1",
    14: "bt2020-10",
    15: "bt2020-12",
    16: "smpte2084",
    17: "smpte428",
    18: "arib-std-b67",
}
_SPACES = {
    0: "gbr",
    1: "bt709",
    4: "fcc",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "ycgco",
    9: "bt2020nc",
    10: "bt2020c",
    11: "smpte2085",
    12: "chroma-derived-nc",
    13: "chroma-derived-c",
    14: "ictcp",
}
_RANGES = {1: "tv", 2: "pc"}


class _Listed:
    """Has a repr() with one line for each member."""

    def __repr__(self):
        lines = [
            f"  {field.name}: {getattr(self, field.name)}"
            for field in dataclasses.fields(self)
        ]
        return "\n".join([f"{type(self).__name__}:", *lines])


@dataclasses.dataclass(repr=False)
class StreamMetadata(_Listed):
    """The metadata of one stream. A value that the file does not have is None.

    A worker has read these values from the file. They are bounded and plausible, but
    not verified.
    """

    duration_seconds_from_header: Optional[float]
    begin_stream_seconds_from_header: Optional[float]
    bit_rate: Optional[float]
    codec: Optional[str]
    stream_index: int
    duration_seconds: Optional[float]
    begin_stream_seconds: Optional[float]


@dataclasses.dataclass(repr=False)
class VideoStreamMetadata(StreamMetadata):
    """The metadata of a video stream.

    Width and height are those of the upright picture, before transforms. The
    decoder turns pictures upright, except native ones, in two steps: if
    `vertical_flip` is set, the picture is flipped upside down; then it is rotated by
    `rotation` degrees counter-clockwise. Colours have FFmpeg's names. Values from
    the content need seek_mode="exact".
    """

    begin_stream_seconds_from_content: Optional[float]
    end_stream_seconds_from_content: Optional[float]
    width: Optional[int]
    height: Optional[int]
    num_frames_from_header: Optional[int]
    num_frames_from_content: Optional[int]
    average_fps_from_header: Optional[float]
    pixel_aspect_ratio: Optional[fractions.Fraction]
    rotation: Optional[float]
    color_primaries: Optional[str]
    color_space: Optional[str]
    color_transfer_characteristic: Optional[str]
    color_range: Optional[str]
    pixel_format: Optional[str]
    end_stream_seconds: Optional[float]
    num_frames: Optional[int]
    average_fps: Optional[float]
    container: str
    backend: str
    device: str
    vertical_flip: bool


@dataclasses.dataclass(repr=False)
class AudioStreamMetadata(StreamMetadata):
    """The metadata of an audio stream. Rate and channels are the stream's, even if the
    decoder converts them."""

    sample_rate: Optional[int]
    num_channels: Optional[int]
    channel_layout: Optional[str]
    sample_format: Optional[str]
    container: str
    backend: str
    device: str


def _common(found):
    return {
        "duration_seconds_from_header": found.duration_seconds_from_header,
        "begin_stream_seconds_from_header": found.begin_seconds_from_header,
        "bit_rate": float(found.bit_rate) if found.bit_rate else None,
        "codec": found.codec or None,
        "stream_index": found.stream_index,
        "duration_seconds": found.duration_seconds,
        "begin_stream_seconds": found.begin_seconds,
        "container": found.container,
        "backend": found.backend,
        "device": found.device,
    }


def _fraction(ratio):
    if not ratio.denominator:
        return None
    return fractions.Fraction(ratio.numerator, ratio.denominator)


def video_metadata(found):
    """Returns the VideoStreamMetadata for the library's VideoMetadata."""
    rate = _fraction(found.average_frame_rate)
    return VideoStreamMetadata(
        **_common(found),
        begin_stream_seconds_from_content=found.begin_seconds_from_content,
        end_stream_seconds_from_content=found.end_seconds_from_content,
        width=found.upright_width,
        height=found.upright_height,
        num_frames_from_header=found.frame_count_from_header,
        num_frames_from_content=found.frame_count_from_content,
        average_fps_from_header=float(rate) if rate else None,
        pixel_aspect_ratio=_fraction(found.sample_aspect_ratio) or None,
        rotation=float(found.rotation) if found.rotation else None,
        color_primaries=_PRIMARIES.get(found.color_primaries),
        color_space=_SPACES.get(found.color_space),
        color_transfer_characteristic=_TRANSFERS.get(found.color_transfer),
        color_range=_RANGES.get(found.color_range),
        pixel_format=found.pixel_format or None,
        end_stream_seconds=found.end_seconds,
        num_frames=found.frame_count,
        average_fps=found.average_fps,
        vertical_flip=found.vertical_flip,
    )


def audio_metadata(found):
    """Returns the AudioStreamMetadata for the library's AudioMetadata."""
    return AudioStreamMetadata(
        **_common(found),
        sample_rate=found.sample_rate or None,
        num_channels=found.num_channels or None,
        channel_layout=found.channel_layout or None,
        sample_format=found.sample_format or None,
    )
