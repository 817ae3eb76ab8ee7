// SPDX-License-Identifier: Apache-2.0
#include "bulkhead/metadata.h"

#include <pybind11/chrono.h>

#include <optional>
#include <string>
#include <utility>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/damage.h"
#include "bulkhead/recovery.h"
#include "bulkhead/video_decoder.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

template <typename Struct>
void AddTiming(Record<Struct>& record) {
  record.field("begin_seconds_from_header", &Struct::begin_seconds_from_header)
      .field("duration_seconds_from_header",
             &Struct::duration_seconds_from_header)
      .field("frame_count_from_header", &Struct::frame_count_from_header)
      .field("begin_seconds_from_content", &Struct::begin_seconds_from_content)
      .field("end_seconds_from_content", &Struct::end_seconds_from_content)
      .field("frame_count_from_content", &Struct::frame_count_from_content)
      .field("begin_seconds", &Struct::begin_seconds)
      .field("duration_seconds", &Struct::duration_seconds)
      .field("end_seconds", &Struct::end_seconds)
      .field("frame_count", &Struct::frame_count)
      .field("average_fps", &Struct::average_fps);
}

void DefineStreams(py::module_& module) {
  Record<VideoMetadata> video(module, "VideoMetadata",
                              "The metadata of a video stream.");
  video.field("stream_index", &VideoMetadata::stream_index)
      .field("stream_count", &VideoMetadata::stream_count)
      .field("container", &VideoMetadata::container)
      .field("codec", &VideoMetadata::codec)
      .field("pixel_format", &VideoMetadata::pixel_format)
      .field("width", &VideoMetadata::width)
      .field("height", &VideoMetadata::height)
      .field("upright_width", &VideoMetadata::upright_width)
      .field("upright_height", &VideoMetadata::upright_height)
      .computed("dtype",
                [](const VideoMetadata& self) {
                  return self.dtype == Dtype::kFloat32 ? "float32" : "uint8";
                })
      .field("rotation", &VideoMetadata::rotation)
      .field("vertical_flip", &VideoMetadata::vertical_flip)
      .field("time_base", &VideoMetadata::time_base)
      .field("average_frame_rate", &VideoMetadata::average_frame_rate)
      .field("base_frame_rate", &VideoMetadata::base_frame_rate)
      .field("sample_aspect_ratio", &VideoMetadata::sample_aspect_ratio)
      .field("bit_rate", &VideoMetadata::bit_rate)
      .field("color_primaries", &VideoMetadata::color_primaries)
      .field("color_transfer", &VideoMetadata::color_transfer)
      .field("color_space", &VideoMetadata::color_space)
      .field("color_range", &VideoMetadata::color_range)
      .field("chroma_location", &VideoMetadata::chroma_location)
      .field("threads", &VideoMetadata::threads)
      .field("backend", &VideoMetadata::backend)
      .field("device", &VideoMetadata::device);
  AddTiming(video);

  Record<AudioMetadata> audio(module, "AudioMetadata",
                              "The metadata of an audio stream.");
  audio.field("stream_index", &AudioMetadata::stream_index)
      .field("stream_count", &AudioMetadata::stream_count)
      .field("container", &AudioMetadata::container)
      .field("codec", &AudioMetadata::codec)
      .field("sample_format", &AudioMetadata::sample_format)
      .field("sample_rate", &AudioMetadata::sample_rate)
      .field("num_channels", &AudioMetadata::num_channels)
      .field("channel_layout", &AudioMetadata::channel_layout)
      .field("time_base", &AudioMetadata::time_base)
      .field("bit_rate", &AudioMetadata::bit_rate)
      .field("backend", &AudioMetadata::backend)
      .field("device", &AudioMetadata::device);
  AddTiming(audio);
}

void DefineContainer(py::module_& module) {
  Record<StreamMetadata> stream(module, "StreamMetadata",
                                "One stream of a container.");
  stream.field("index", &StreamMetadata::index)
      .computed(
          "kind",
          [](const StreamMetadata& self) { return StreamKindName(self.kind); })
      .field("codec", &StreamMetadata::codec)
      .field("profile", &StreamMetadata::profile)
      .field("language", &StreamMetadata::language)
      .field("title", &StreamMetadata::title)
      .field("is_default", &StreamMetadata::is_default)
      .field("is_cover", &StreamMetadata::is_cover)
      .field("time_base", &StreamMetadata::time_base)
      .field("bit_rate", &StreamMetadata::bit_rate)
      .field("width", &StreamMetadata::width)
      .field("height", &StreamMetadata::height)
      .field("rotation", &StreamMetadata::rotation)
      .field("vertical_flip", &StreamMetadata::vertical_flip)
      .field("sample_aspect_ratio", &StreamMetadata::sample_aspect_ratio)
      .field("average_frame_rate", &StreamMetadata::average_frame_rate)
      .field("base_frame_rate", &StreamMetadata::base_frame_rate)
      .field("pixel_format", &StreamMetadata::pixel_format)
      .field("color_primaries", &StreamMetadata::color_primaries)
      .field("color_transfer", &StreamMetadata::color_transfer)
      .field("color_space", &StreamMetadata::color_space)
      .field("color_range", &StreamMetadata::color_range)
      .field("sample_format", &StreamMetadata::sample_format)
      .field("sample_rate", &StreamMetadata::sample_rate)
      .field("channels", &StreamMetadata::channels)
      .field("channel_layout", &StreamMetadata::channel_layout);
  AddTiming(stream);

  Record<ContainerMetadata>(module, "ContainerMetadata",
                            "A media file and all of its streams.")
      .field("format", &ContainerMetadata::format)
      .field("title", &ContainerMetadata::title)
      .field("begin_seconds", &ContainerMetadata::begin_seconds)
      .field("duration_seconds", &ContainerMetadata::duration_seconds)
      .field("bit_rate", &ContainerMetadata::bit_rate)
      .field("best_video_stream", &ContainerMetadata::best_video_stream)
      .field("best_audio_stream", &ContainerMetadata::best_audio_stream)
      .field("streams", &ContainerMetadata::streams);
}

const char* ProofName(Failover::Proof proof) {
  switch (proof) {
    case Failover::Proof::kNothingBefore:
      return "nothing-before";
    case Failover::Proof::kSame:
      return "same";
    case Failover::Proof::kDifferent:
      return "different";
    case Failover::Proof::kNone:
      return "none";
  }
  return "none";
}

template <typename Damage>
void AddSign(Record<Damage>& record) {
  record
      .computed("kind",
                [](const Damage& self) { return DamageKindName(self.kind); })
      .computed("sign",
                [](const Damage& self) { return DamageSignName(self.sign); });
}

void DefineOutcomes(py::module_& module) {
  Record<DamagedRange> frames(module, "DamagedRange",
                              "A run of damaged frames, or a note.");
  AddSign(frames);
  frames.field("frames", &DamagedRange::frames)
      .field("first_frame", &DamagedRange::first_frame)
      .field("last_frame", &DamagedRange::last_frame)
      .field("begin_seconds", &DamagedRange::begin_seconds)
      .field("end_seconds", &DamagedRange::end_seconds)
      .field("first_byte", &DamagedRange::first_byte)
      .field("last_byte", &DamagedRange::last_byte)
      .field("backend_says", &DamagedRange::backend_says)
      .field("not_in_index", &DamagedRange::not_in_index);
  Record<DamagedSamples> samples(module, "DamagedSamples",
                                 "A run of damaged samples, or a note.");
  AddSign(samples);
  samples.field("samples", &DamagedSamples::samples)
      .field("first_sample", &DamagedSamples::first_sample)
      .field("begin_seconds", &DamagedSamples::begin_seconds)
      .field("end_seconds", &DamagedSamples::end_seconds)
      .field("first_byte", &DamagedSamples::first_byte)
      .field("last_byte", &DamagedSamples::last_byte)
      .field("backend_says", &DamagedSamples::backend_says)
      .field("estimated", &DamagedSamples::estimated);
  Record<Failover>(module, "Failover",
                   "A stream that went on on another device.")
      .field("source", &Failover::from)
      .field("to", &Failover::to)
      .field("frame", &Failover::frame)
      .computed("proof",
                [](const Failover& self) { return ProofName(self.proof); })
      .field("compared", &Failover::compared)
      .computed("cause",
                [](const Failover& self) { return self.cause.ToString(); })
      .field("text", &Failover::text);
  Record<RecoveryStats>(module, "RecoveryStats",
                        "The recoveries of one decoder.")
      .field("restarts", &RecoveryStats::restarts)
      .field("last_cause", &RecoveryStats::last_cause)
      .field("worker_start", &RecoveryStats::worker_start)
      .field("failover", &RecoveryStats::failover);
}

}  // namespace

void DefineMetadata(py::module_& module) {
  Record<Ratio>(module, "Ratio", "A fraction; denominator 0 is unknown.")
      .field("numerator", &Ratio::numerator)
      .field("denominator", &Ratio::denominator);
  DefineStreams(module);
  DefineContainer(module);
  DefineOutcomes(module);
}

}  // namespace bulkhead::python
