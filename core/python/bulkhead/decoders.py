# SPDX-License-Identifier: Apache-2.0
"""Decoders, with the names of torchcodec.decoders."""

from bulkhead._audio import AudioDecoder, WavDecoder
from bulkhead._metadata import AudioStreamMetadata, VideoStreamMetadata
from bulkhead._video import VideoDecoder

SimpleVideoDecoder = VideoDecoder

__all__ = [
    "AudioDecoder",
    "AudioStreamMetadata",
    "SimpleVideoDecoder",
    "VideoDecoder",
    "VideoStreamMetadata",
    "WavDecoder",
]
