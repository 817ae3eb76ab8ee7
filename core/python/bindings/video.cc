// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/python/bindings/array.h"
#include "core/python/bindings/decoders.h"
#include "core/python/bindings/lease.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

// A decoded frame as Python gets it: its pixels, copied or in their slot, and
// its other properties.
struct Picture {
  // Copies of the planes, a copy of the RGB pixels, or the frame itself, whose
  // slot stays leased. Empty after the method of Python that takes them.
  std::variant<std::monostate, std::vector<Array>, Array, Frame> pixels;
  FrameInfo info;
  std::string pixel_format;
  std::string device;
};

// Several pictures in one array, with their times in seconds.
struct Pictures {
  Array array;
  std::vector<double> pts_seconds;
  std::vector<double> duration_seconds;
};

// Returns the frame for Python: itself if `lease`, else with its pixels copied.
Picture Taken(Frame frame, bool lease) {
  FrameInfo info;
  info.index = frame.index();
  info.pts = frame.pts();
  info.duration = frame.duration();
  info.pts_seconds = frame.pts_seconds();
  info.duration_seconds = frame.duration_seconds();
  info.keyframe = frame.keyframe();
  info.damaged = frame.damaged();
  info.width = frame.width();
  info.height = frame.height();
  info.color = frame.color();
  info.field_order = frame.field_order();
  Picture picture{{}, info, frame.pixel_format(), frame.device()};
  if (lease) {
    picture.pixels = std::move(frame);
  } else if (frame.format() == OutputFormat::kNative) {
    std::vector<Array> planes;
    for (const Plane& plane : frame.planes()) planes.emplace_back(plane);
    picture.pixels = std::move(planes);
  } else {
    picture.pixels = Array(frame);
  }
  return picture;
}

Result<Picture> Taken(Result<Frame> frame, bool lease) {
  if (!frame) return frame.error();
  return Taken(*std::move(frame), lease);
}

// Takes the pixels out of the picture. Throws if they are not of this type.
template <typename Pixels>
Pixels PixelsOf(Picture& picture) {
  if (!std::holds_alternative<Pixels>(picture.pixels)) {
    throw std::runtime_error(
        "the pixels of the picture were taken, or are there in another form");
  }
  return std::get<Pixels>(std::exchange(picture.pixels, {}));
}

Result<Pictures> Taken(Result<FrameBatch> batch) {
  if (!batch) return batch.error();
  std::vector<double> pts = std::move(batch->pts_seconds);
  std::vector<double> durations = std::move(batch->duration_seconds);
  // FrameBatch::size() is the length of pts_seconds, which was moved out.
  batch->pts_seconds.resize(pts.size());
  return Pictures{Array(*std::move(batch)), std::move(pts),
                  std::move(durations)};
}

// Calls `call` with memory to decode `count` pictures into. A batch that the
// library allocates is first filled with zeros; this memory is not, which saves
// one pass over it.
template <typename Call>
Result<Pictures> Into(VideoDecoder& decoder, size_t count, Call call) {
  const VideoMetadata& metadata = decoder.metadata();
  Array array(count, metadata.height, metadata.width, metadata.dtype);
  // Without memory, the library returns the error that names the limit.
  if (array.data() == nullptr) return Taken(call({}));
  Result<FrameBatch> batch = call({array.data(), array.bytes()});
  if (!batch) return batch.error();
  array.Truncate(batch->size());
  return Pictures{std::move(array), std::move(batch->pts_seconds),
                  std::move(batch->duration_seconds)};
}

Result<std::optional<Picture>> NextOf(VideoDecoder& decoder, bool lease) {
  Result<std::optional<Frame>> frame = decoder.Next();
  if (!frame) return frame.error();
  if (!*frame) return std::optional<Picture>();
  return std::make_optional(Taken(**std::move(frame), lease));
}

void DefineResults(py::module_& module) {
  py::enum_<FieldOrder>(module, "FieldOrder")
      .value("progressive", FieldOrder::kProgressive)
      .value("top_first", FieldOrder::kTopFirst)
      .value("bottom_first", FieldOrder::kBottomFirst);
  Record<Picture>(module, "Picture", "A frame.")
      .computed("index", [](const Picture& self) { return self.info.index; })
      .computed("pts", [](const Picture& self) { return self.info.pts; })
      .computed("duration",
                [](const Picture& self) { return self.info.duration; })
      .computed("pts_seconds",
                [](const Picture& self) { return self.info.pts_seconds; })
      .computed("duration_seconds",
                [](const Picture& self) { return self.info.duration_seconds; })
      .computed("keyframe",
                [](const Picture& self) { return self.info.keyframe; })
      .computed("damaged",
                [](const Picture& self) { return self.info.damaged; })
      .field("device", &Picture::device)
      .field("pixel_format", &Picture::pixel_format)
      .computed("width", [](const Picture& self) { return self.info.width; })
      .computed("height", [](const Picture& self) { return self.info.height; })
      .computed("color_primaries",
                [](const Picture& self) { return self.info.color.primaries; })
      .computed("color_transfer",
                [](const Picture& self) { return self.info.color.transfer; })
      .computed("color_space",
                [](const Picture& self) { return self.info.color.space; })
      .computed("color_range",
                [](const Picture& self) { return self.info.color.range; })
      .computed(
          "chroma_location",
          [](const Picture& self) { return self.info.color.chroma_location; })
      .computed("field_order",
                [](const Picture& self) { return self.info.field_order; })
      .hidden("planes",
              [](Picture& self) { return PixelsOf<std::vector<Array>>(self); })
      .hidden("array", [](Picture& self) { return PixelsOf<Array>(self); })
      .hidden(
          "lease",
          [](Picture& self, bool channels_first) {
            return std::make_unique<Lease>(PixelsOf<Frame>(self),
                                           channels_first);
          },
          py::arg("channels_first"));
  Record<Pictures>(module, "Pictures", "Pictures with their times.")
      .field("pts_seconds", &Pictures::pts_seconds)
      .field("duration_seconds", &Pictures::duration_seconds)
      .hidden("array", [](Pictures& self) { return std::move(self.array); });
}

}  // namespace

void DefineVideo(py::module_& module) {
  DefineResults(module);
  using Stream = VideoStream;
  py::class_<Stream>(module, "VideoStream", "One open video stream.")
      .def("metadata",
           [](Stream& self) {
             return self.Run([](VideoDecoder& decoder) {
               return Result<VideoMetadata>(decoder.metadata());
             });
           })
      .def("recovery",
           [](Stream& self) {
             return self.Run([](VideoDecoder& decoder) {
               return Result<RecoveryStats>(decoder.recovery());
             });
           })
      .def("damage",
           [](Stream& self) {
             return self.Run([](VideoDecoder& decoder) {
               return Result<std::vector<DamagedRange>>(decoder.damage());
             });
           })
      .def("worker_pid",
           [](Stream& self) {
             return self.Run([](VideoDecoder& decoder) {
               return Result<int>(decoder.worker_pid());
             });
           })
      .def(
          "next",
          [](Stream& self, bool lease) {
            return self.Run(
                [&](VideoDecoder& decoder) { return NextOf(decoder, lease); });
          },
          py::arg("lease"))
      .def("rewind",
           [](Stream& self) {
             self.Run([](VideoDecoder& decoder) {
               decoder.Rewind();
               return Status();
             });
           })
      .def("frame_count",
           [](Stream& self) {
             return self.Run(
                 [](VideoDecoder& decoder) { return decoder.FrameCount(); });
           })
      .def(
          "frame_at",
          [](Stream& self, int64_t index, bool lease) {
            return self.Run([&](VideoDecoder& decoder) {
              return Taken(decoder.FrameAt(index), lease);
            });
          },
          py::arg("index"), py::arg("lease"))
      .def(
          "frames_at",
          [](Stream& self, const std::vector<int64_t>& indices) {
            return self.Run([&](VideoDecoder& decoder) {
              return Into(decoder, indices.size(),
                          [&](std::span<std::byte> into) {
                            return decoder.FramesAt(indices, into);
                          });
            });
          },
          py::arg("indices"))
      .def("played_range",
           [](Stream& self) {
             const SecondsRange range = self.Run(
                 [](VideoDecoder& decoder) { return decoder.PlayedRange(); });
             return std::pair(range.begin, range.end);
           })
      .def(
          "frame_played_at",
          [](Stream& self, double seconds, bool lease) {
            return self.Run([&](VideoDecoder& decoder) {
              return Taken(decoder.FramePlayedAt(seconds), lease);
            });
          },
          py::arg("seconds"), py::arg("lease"))
      .def(
          "frames_played_at",
          [](Stream& self, const std::vector<double>& seconds) {
            return self.Run([&](VideoDecoder& decoder) {
              return Into(decoder, seconds.size(),
                          [&](std::span<std::byte> into) {
                            return decoder.FramesPlayedAt(seconds, into);
                          });
            });
          },
          py::arg("seconds"))
      .def(
          "frames_played_in_range",
          [](Stream& self, double start, double stop,
             std::optional<double> fps) {
            return self.Run([&](VideoDecoder& decoder) {
              return Taken(decoder.FramesPlayedInRange(start, stop, fps));
            });
          },
          py::arg("start"), py::arg("stop"), py::arg("fps"))
      .def(
          "all_frames",
          [](Stream& self, std::optional<double> fps) {
            return self.Run([&](VideoDecoder& decoder) {
              return Taken(decoder.AllFrames(fps));
            });
          },
          py::arg("fps"))
      .def("key_frame_indices",
           [](Stream& self) {
             return self.Run([](VideoDecoder& decoder) {
               return decoder.KeyFrameIndices();
             });
           })
      .def("cancel", [](Stream& self) { self.waiting().Cancel(); });
}

}  // namespace bulkhead::python
