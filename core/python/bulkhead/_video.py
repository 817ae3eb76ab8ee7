# SPDX-License-Identifier: Apache-2.0
"""VideoDecoder, with the names and meanings of torchcodec's."""

import collections.abc
import operator
from typing import Any, Literal, Optional, Union

from bulkhead import _arrays, _core, _leases
from bulkhead._allowed import AllowedMedia
from bulkhead._arguments import BOOLEAN, COUNT, INTEGER, NUMBER, TIMES, Kind, checked
from bulkhead._decoder import Decoder
from bulkhead._errors import (
    BadInputError,
    CancelledError,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
)
from bulkhead._frame import Frame, FrameBatch, NativeFrame
from bulkhead._host import HOST, Host, member, stream_options
from bulkhead._metadata import VideoStreamMetadata, video_metadata
from bulkhead.transforms import DecoderTransform, settled, to_core


def _indices(given):
    if hasattr(given, "tolist"):  # A tensor or an array.
        return [int(index) for index in given.tolist()]
    return [operator.index(index) for index in given]


def _mappings(given):
    if hasattr(given, "read"):
        given = given.read()
    if isinstance(given, str):
        given = given.encode()
    if not isinstance(given, (bytes, bytearray, memoryview)):
        raise TypeError
    return bytes(given)


_INDICES: Kind = ("a list or tensor of whole numbers", _indices)
_MAPPINGS: Kind = ("JSON of ffprobe, as str, bytes or a file", _mappings)
_TRANSFORMS: Kind = ("a list of bulkhead.transforms", list)


class VideoDecoder(Decoder):
    """One video stream, decoded in a sandboxed process of its own.

        with VideoDecoder("clip.mp4", device="openreg:1") as decoder:
            frame = decoder[0]                       # uint8 [3, H, W]
            batch = decoder.get_frames_at([0, 10, -1])

    Frames are torch tensors if torch is installed, else numpy arrays. Their memory
    is writable and not shared with the decoder. If the sandboxed process dies,
    another one continues, and the caller gets the same frames, later.

    Args:
        source: A path, bytes, a tensor or array of uint8, or an object with
            read(size) and seek(offset, whence).
        stream_index: The index among all streams of the file; None is FFmpeg's
            best video stream.
        dimension_order: "NCHW" or "NHWC". The layout of the memory is the same.
        num_ffmpeg_threads: The threads of the worker; 0 lets FFmpeg choose. The
            default 1 is right if many decoders run at the same time. For one large
            video alone, 0 is several times faster.
        device: "cpu", "openreg:1", or what bulkhead.devices() lists; None is the
            Host's default. There is no fallback: see on_failure.
        seek_mode: "exact" scans the whole file for an index when one is first
            needed; "approximate" trusts the header.
        transforms: A list of bulkhead.transforms, applied by the worker in this
            order, after rotation, on any device.
        output_dtype: "uint8", "float32" (torch.float32, numpy.float32), or "auto":
            float32 for streams of more than 8 bits.
        output_format: "rgb", or "native" for the planes as the decoder makes them,
            neither converted nor turned upright. Frames are bulkhead.NativeFrame
            then; iteration and [index] give lists of planes. Excludes transforms,
            output_dtype, batches and leases.
        autoscale: True scales every frame to the size of the first, as ffmpeg does.
            With False, each frame has its own size in the stream, and with "native"
            its own pixel format, so shapes of data differ. False excludes
            transforms. A batch then raises InvalidArgumentError for a frame whose
            size is not the first frame's.
        custom_frame_mappings: JSON of ffprobe that replaces the scan: str, bytes
            or a file.
        on_corrupt: "error", "skip", "nearest" or "show": the treatment of damaged
            frames (core/application/damage.md).
        on_failure: The device that continues the stream if the backend fails for
            good; see recovery.failover.
        allowed: bulkhead.AllowedMedia: the containers and codecs that may be
            decoded.
        backend_options: A dictionary of str for the backend.
        host: The bulkhead.Host to use; None is the Host that decoders share.
    """


    def __init__(
        self,
        source: Any,
        *,
        stream_index: Optional[int] = None,
        dimension_order: Literal["NCHW", "NHWC"] = "NCHW",
        num_ffmpeg_threads: int = 1,
        device: Any = None,
        seek_mode: Literal["exact", "approximate"] = "exact",
        transforms: Optional[collections.abc.Sequence[DecoderTransform]] = None,
        output_dtype: Any = "uint8",
        output_format: Literal["rgb", "native"] = "rgb",
        autoscale: bool = True,
        custom_frame_mappings: Any = None,
        on_corrupt: Literal["error", "skip", "nearest", "show"] = "error",
        on_failure: Any = None,
        allowed: Optional[AllowedMedia] = None,
        backend_options: Optional[collections.abc.Mapping[str, str]] = None,
        host: Optional[Host] = None,
    ) -> None:
        if dimension_order not in ("NCHW", "NHWC"):
            raise InvalidArgumentError(
                f"dimension_order is {dimension_order!r}; it can be 'NCHW', 'NHWC'"
            )
        if num_ffmpeg_threads is None:
            raise InvalidArgumentError("num_ffmpeg_threads is None; it is a number")
        transforms = checked("transforms", transforms, _TRANSFORMS, none=True) or []
        for transform in transforms:
            if not isinstance(transform, DecoderTransform):
                raise InvalidArgumentError(
                    f"transforms has a {type(transform).__name__}; those of "
                    "bulkhead.transforms can be applied"
                )
        options = {
            "stream_index": checked("stream_index", stream_index, COUNT, none=True),
            "threads": checked("num_ffmpeg_threads", num_ffmpeg_threads, COUNT),
            "seek_mode": seek_mode,
            "output_dtype": _arrays.dtype_name(output_dtype),
            "output_format": output_format,
            "autoscale": checked("autoscale", autoscale, BOOLEAN),
            "frame_mappings": checked(
                "custom_frame_mappings", custom_frame_mappings, _MAPPINGS, none=True
            ),
            "on_corrupt": on_corrupt,
            **stream_options(device, on_failure, allowed, backend_options),
            # The steps are the settled transforms; None before the stream is opened.
            "transforms": transforms,
            "steps": None,
            "channels_first": dimension_order == "NCHW",
        }
        super().__init__(source, options, checked("host", host, HOST, none=True))

    def _core_options(self):
        given = self._options
        options = _core.VideoOptions()
        options.stream_index = given["stream_index"]
        options.stream_choice = _core.StreamChoice.best
        options.threads = given["threads"]
        options.device = given["device"]
        options.seek_mode = member(_core.SeekMode, "seek_mode", given["seek_mode"])
        options.output_dtype = member(
            _core.OutputDtype, "output_dtype", given["output_dtype"]
        )
        options.output_format = member(
            _core.OutputFormat, "output_format", given["output_format"]
        )
        options.autoscale = given["autoscale"]
        if given["frame_mappings"] is not None:
            options.frame_mappings = _core.parse_frame_mappings(given["frame_mappings"])
        options.on_corrupt = member(_core.OnCorrupt, "on_corrupt", given["on_corrupt"])
        options.transforms = [to_core(step) for step in given["steps"] or ()]
        options.on_failure = given["on_failure"]
        options.backend_options = list(given["backend_options"].items())
        if given["allowed"] is not None:
            options.allowed = given["allowed"].core()
        return options

    def _open_stream(self, host, source):
        """Opens the stream. Settles the transforms first, which may need the size of the
        pictures."""
        given = self._options
        if given["steps"] is None:
            size = (None, None)
            if any(transform.needs_size for transform in given["transforms"]):
                size = self._upright_size(host, source)
            if size is None:
                # Opening raises the error that says why there is no size.
                return super()._open_stream(host, source)
            given["steps"] = settled(given["transforms"], *size)
        return super()._open_stream(host, source)

    def _upright_size(self, host, source):
        """Returns the height and width of the stream after rotation, or None."""
        options = self._core_options()
        found = host.probe(source, options.device, False, options.allowed)
        index = self._options["stream_index"]
        if index is None:
            index = found.best_video_stream
        for stream in found.streams:
            if stream.index == index and stream.kind == "video":
                self._options["stream_index"] = index
                return stream.height, stream.width
        return None

    def _open_with(self, host, source, options):
        return host.open_video(source, options)

    def _reset(self):
        self._next = None  # The index that the stream's next() returns, if known.

    @property
    def metadata(self) -> VideoStreamMetadata:
        """The VideoStreamMetadata. With seek_mode="exact", waits for the index."""
        stream = self._opened()
        if self._options["seek_mode"] == "exact":
            stream.frame_count()
        return video_metadata(stream.metadata())

    def __len__(self) -> int:
        return self._opened().frame_count()

    def __getitem__(self, key: Union[int, slice]) -> Any:
        """Returns the data of one frame, or of several for a slice."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self.get_frames_in_range(start, stop, step).data
        try:
            index = operator.index(key)
        except TypeError:
            raise TypeError(
                f"Unsupported key type {type(key).__name__}: use an int or a slice"
            ) from None
        return self.get_frame_at(index).data

    def __iter__(self) -> collections.abc.Iterator[Any]:
        """Yields the data of every frame, from the first."""
        return map(lambda picture: self._frame(picture).data, _Pictures(self, False))

    def frames(self, *, lease: bool = False) -> collections.abc.Iterator[Frame]:
        """Yields every frame, from the first. The data is a numpy array, even if torch is
        installed; without numpy, an object for memoryview().

        With `lease`, the data is a bulkhead.Lease: the pixels in the worker's shared
        memory, read-only, without a copy. If a consumer ignores that and writes, only
        this lease changes. The lease occupies a slot of the decoder until it is
        dropped; numpy.array(lease) makes a copy, which does not.
        """
        if self._lease(lease):
            return map(self._leased, _Pictures(self, True))
        return map(
            lambda picture: self._frame(picture, _arrays.native), _Pictures(self, False)
        )

    def _picture(self, index, lease):
        """Returns the picture at `index` or the next one that exists; None at the end.

        Several loops may call it in turn, on several threads, mixed with other calls.
        """
        with self._turn():
            stream = self._opened()
            if index == 0:
                stream.rewind()
                self._next = 0
            if self._next != index:
                # Another loop has moved the stream's position.
                return stream.frame_at(index, lease) if index < stream.frame_count() else None
            self._next = None  # Unknown if the call fails.
            try:
                picture = stream.next(lease)
            except (CancelledError, ResourceExhaustedError):
                self._next = index  # The picture is still due.
                raise
            except BadInputError:
                self._next = index + 1  # The stream goes on after the damage.
                raise
            if picture is not None:
                self._next = picture.index + 1
            return picture

    def get_frame_at(self, index: int, *, lease: bool = False) -> Frame:
        """Returns the frame at `index`; a negative index counts from the end.

        With `lease`, the data is a bulkhead.Lease; see frames().
        """
        number = self._number(checked("index", index, INTEGER))
        lease = self._lease(lease)
        picture = self._opened().frame_at(number, lease)
        return self._leased(picture) if lease else self._frame(picture)

    def get_frames_at(self, indices: collections.abc.Iterable[int]) -> FrameBatch:
        """Returns the frames at a list or tensor of indices, in its order. Elements of a
        tensor or array are cast to integers, as torch does."""
        numbers = checked("indices", indices, _INDICES)
        return self._batch(
            self._opened().frames_at([self._number(number) for number in numbers])
        )

    def _number(self, index):
        """Returns the index. Raises OutOfRangeError if it does not fit into 64 bits."""
        if -(2**63) <= index < 2**63:
            return index
        raise OutOfRangeError(
            f"{self._named()}: there is no frame {index}, the stream has {len(self)}"
        )

    def get_frames_in_range(
        self, start: Optional[int], stop: Optional[int], step: Optional[int] = 1
    ) -> FrameBatch:
        """Returns the frames of the slice [start:stop:step]."""
        start = checked("start", start, INTEGER, none=True)
        stop = checked("stop", stop, INTEGER, none=True)
        step = checked("step", step, INTEGER, none=True)
        if step is not None and step < 1:
            raise InvalidArgumentError(f"Step must be greater than 0, not {step}")
        return self.get_frames_at(range(*slice(start, stop, step).indices(len(self))))

    def get_frame_played_at(self, seconds: float, *, lease: bool = False) -> Frame:
        """Returns the frame that is on the screen at this time.

        With `lease`, the data is a bulkhead.Lease; see frames().
        """
        seconds = checked("seconds", seconds, NUMBER)
        lease = self._lease(lease)
        picture = self._opened().frame_played_at(seconds, lease)
        return self._leased(picture) if lease else self._frame(picture)

    def get_frames_played_at(self, seconds: collections.abc.Iterable[float]) -> FrameBatch:
        """Returns the frames on the screen at a list or tensor of times, in its order."""
        times = checked("seconds", seconds, TIMES)
        return self._batch(self._opened().frames_played_at(times))

    def get_frames_played_in_range(
        self, start_seconds: float, stop_seconds: float, fps: Optional[float] = None
    ) -> FrameBatch:
        """Returns the frames that are on the screen in [start, stop).

        With `fps`, returns round((stop - start) * fps) frames at that rate, for which
        some are repeated or left out.
        """
        start = checked("start_seconds", start_seconds, NUMBER)
        stop = checked("stop_seconds", stop_seconds, NUMBER)
        fps = checked("fps", fps, NUMBER, none=True)
        return self._batch(self._opened().frames_played_in_range(start, stop, fps))

    def get_all_frames(self, fps: Optional[float] = None) -> FrameBatch:
        """Returns every frame; with `fps`, frames of the whole stream at that rate."""
        return self._batch(
            self._opened().all_frames(checked("fps", fps, NUMBER, none=True))
        )

    def _get_key_frame_indices(self):
        return self._opened().key_frame_indices()

    def _is_native(self):
        return self._options["output_format"] == "native"

    def _lease(self, lease):
        lease = checked("lease", lease, BOOLEAN)
        if lease and self._is_native():
            raise InvalidArgumentError(
                "lease is True, and leases are of RGB; leave it out, or take "
                "output_format='rgb'"
            )
        return lease

    def _data(self, array, convert):
        data = convert(array)
        return _arrays.channels_first(data) if self._options["channels_first"] else data

    def _frame(self, picture, convert=_arrays.tensor):
        if self._is_native():
            return NativeFrame(
                [convert(plane) for plane in picture.planes()],
                picture.pts_seconds,
                picture.duration_seconds,
                picture.pixel_format,
                picture.width,
                picture.height,
                picture.color_primaries,
                picture.color_transfer,
                picture.color_space,
                picture.color_range,
                picture.chroma_location,
                picture.field_order.name,
            )
        return Frame(
            self._data(picture.array(), convert),
            picture.pts_seconds,
            picture.duration_seconds,
        )

    def _leased(self, picture):
        return Frame(
            _leases.take(picture, self._options["channels_first"]),
            picture.pts_seconds,
            picture.duration_seconds,
        )

    def _batch(self, pictures):
        return FrameBatch(
            self._data(pictures.array(), _arrays.tensor),
            _arrays.doubles(pictures.pts_seconds),
            _arrays.doubles(pictures.duration_seconds),
        )


class _Pictures:
    """Iterates over the pictures of a decoder. After an exception, the next call tries
    the same picture again; after a BadInputError, the next call returns the picture
    after the damaged one."""

    def __init__(self, decoder, lease):
        self._decoder = decoder
        self._lease = lease
        self._index = 0

    def __iter__(self):
        return self

    def __next__(self):
        try:
            picture = self._decoder._picture(self._index, self._lease)
        except BadInputError:
            self._index += 1
            raise
        if picture is None:
            raise StopIteration
        self._index = picture.index + 1
        return picture
