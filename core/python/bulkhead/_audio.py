# SPDX-License-Identifier: Apache-2.0
"""AudioDecoder, with the names and meanings of torchcodec's."""

import collections.abc
from typing import Any, Literal, Optional

from bulkhead import _arrays, _core
from bulkhead._allowed import AllowedMedia
from bulkhead._arguments import COUNT, NUMBER, checked
from bulkhead._decoder import Decoder
from bulkhead._errors import InvalidArgumentError
from bulkhead._frame import AudioSamples
from bulkhead._host import HOST, Host, member, stream_options
from bulkhead._metadata import AudioStreamMetadata, audio_metadata


_WAV_CODECS = [
    "pcm_u8",
    "pcm_s16le",
    "pcm_s24le",
    "pcm_s32le",
    "pcm_f32le",
    "pcm_f64le",
]


class AudioDecoder(Decoder):
    """One audio stream, decoded in a sandboxed process of its own.

        samples = AudioDecoder("clip.mp4", sample_rate=16000).get_all_samples()

    Samples are float32 in [-1, 1], [channels, samples]: a torch tensor if torch
    is installed, else a numpy array, with memory of its own.

    Args:
        source: As in VideoDecoder.
        stream_index: The index among all streams of the file; None is FFmpeg's
            best audio stream.
        sample_rate: In Hz; None keeps the rate of the stream.
        num_channels: None keeps the channels of the stream.
        output_dtype: "float32", the only possible value.
        device, on_failure, allowed, backend_options, host: As in VideoDecoder.
        on_corrupt: "error", or "skip": damaged samples are silence.
    """


    def __init__(
        self,
        source: Any,
        *,
        stream_index: Optional[int] = None,
        sample_rate: Optional[int] = None,
        num_channels: Optional[int] = None,
        output_dtype: Any = "float32",
        device: Any = None,
        on_corrupt: Literal["error", "skip"] = "error",
        on_failure: Any = None,
        allowed: Optional[AllowedMedia] = None,
        backend_options: Optional[collections.abc.Mapping[str, str]] = None,
        host: Optional[Host] = None,
    ) -> None:
        if _arrays.dtype_name(output_dtype) != "float32":
            raise InvalidArgumentError(
                f"output_dtype is {output_dtype!r}; samples are float32"
            )
        options = {
            "stream_index": checked("stream_index", stream_index, COUNT, none=True),
            "sample_rate": checked("sample_rate", sample_rate, COUNT, none=True),
            "num_channels": checked("num_channels", num_channels, COUNT, none=True),
            "on_corrupt": on_corrupt,
            **stream_options(device, on_failure, allowed, backend_options),
        }
        super().__init__(source, options, checked("host", host, HOST, none=True))

    def _core_options(self):
        given = self._options
        options = _core.AudioOptions()
        options.stream_index = given["stream_index"]
        options.stream_choice = _core.StreamChoice.best
        options.sample_rate = given["sample_rate"]
        options.num_channels = given["num_channels"]
        options.device = given["device"]
        options.on_corrupt = member(_core.OnCorrupt, "on_corrupt", given["on_corrupt"])
        options.on_failure = given["on_failure"]
        options.backend_options = list(given["backend_options"].items())
        if given["allowed"] is not None:
            options.allowed = given["allowed"].core()
        return options

    def _open_with(self, host, source, options):
        return host.open_audio(source, options)

    @property
    def metadata(self) -> AudioStreamMetadata:
        """The AudioStreamMetadata."""
        return audio_metadata(self._opened().metadata())

    def get_all_samples(self) -> AudioSamples:
        """Returns the whole stream."""
        return self._samples(self._opened().all_samples())

    def get_samples_played_in_range(
        self, start_seconds: float = 0.0, stop_seconds: Optional[float] = None
    ) -> AudioSamples:
        """Returns the samples of [start, stop), each bound rounded to a sample.

        `pts_seconds` of the result is the start that was asked for, as in
        torchcodec, or the beginning of the stream if that is later.
        """
        start = checked("start_seconds", start_seconds, NUMBER)
        stop = checked("stop_seconds", stop_seconds, NUMBER, none=True)
        stream = self._opened()
        sound = stream.samples_played_in_range(start, stop)
        return self._samples(sound, max(start, stream.metadata().begin_seconds))

    @staticmethod
    def _samples(sound, pts_seconds=None):
        return AudioSamples(
            _arrays.tensor(sound.array()),
            sound.pts_seconds if pts_seconds is None else pts_seconds,
            sound.duration_seconds,
            sound.sample_rate,
        )


class WavDecoder(AudioDecoder):
    """A WAV file of PCM or floats. Files of other formats are refused.

        samples = WavDecoder("sound.wav").get_all_samples()

    The samples are the file's, not resampled. Integers are scaled to [-1, 1].

    Args:
        source, device, on_corrupt, on_failure, backend_options, host: As in
            AudioDecoder.
    """

    def __init__(
        self,
        source: Any,
        *,
        device: Any = None,
        on_corrupt: Literal["error", "skip"] = "error",
        on_failure: Any = None,
        backend_options: Optional[collections.abc.Mapping[str, str]] = None,
        host: Optional[Host] = None,
    ) -> None:
        super().__init__(
            source,
            device=device,
            on_corrupt=on_corrupt,
            on_failure=on_failure,
            allowed=AllowedMedia(containers=["wav"], codecs=_WAV_CODECS),
            backend_options=backend_options,
            host=host,
        )
