// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/metadata.h"

#include <nlohmann/json.hpp>

namespace bulkhead {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json FactsOf(const Ratio& ratio) {
  if (ratio.denominator == 0) return Json();
  return Json{{"numerator", ratio.numerator},
              {"denominator", ratio.denominator}};
}

void AddVideo(const StreamMetadata& stream, Json& facts) {
  facts["width"] = stream.width;
  facts["height"] = stream.height;
  facts["rotation"] = stream.rotation;
  facts["vertical_flip"] = stream.vertical_flip;
  facts["sample_aspect_ratio"] = FactsOf(stream.sample_aspect_ratio);
  facts["average_frame_rate"] = FactsOf(stream.average_frame_rate);
  facts["base_frame_rate"] = FactsOf(stream.base_frame_rate);
  facts["pixel_format"] = stream.pixel_format;
  facts["color_primaries"] = stream.color_primaries;
  facts["color_transfer"] = stream.color_transfer;
  facts["color_space"] = stream.color_space;
  facts["color_range"] = stream.color_range;
}

void AddAudio(const StreamMetadata& stream, Json& facts) {
  facts["sample_format"] = stream.sample_format;
  facts["sample_rate"] = stream.sample_rate;
  facts["channels"] = stream.channels;
  facts["channel_layout"] = stream.channel_layout;
}

void AddTiming(const StreamTiming& timing, Json& facts) {
  facts["begin_seconds"] = timing.begin_seconds;
  facts["end_seconds"] = OrNull(timing.end_seconds);
  facts["duration_seconds"] = OrNull(timing.duration_seconds);
  facts["frame_count"] = OrNull(timing.frame_count);
  facts["average_fps"] = OrNull(timing.average_fps);
  facts["begin_seconds_from_header"] = OrNull(timing.begin_seconds_from_header);
  facts["duration_seconds_from_header"] =
      OrNull(timing.duration_seconds_from_header);
  facts["frame_count_from_header"] = OrNull(timing.frame_count_from_header);
  facts["begin_seconds_from_content"] =
      OrNull(timing.begin_seconds_from_content);
  facts["end_seconds_from_content"] = OrNull(timing.end_seconds_from_content);
  facts["frame_count_from_content"] = OrNull(timing.frame_count_from_content);
}

Json FactsOf(const StreamMetadata& stream) {
  Json facts{{"index", stream.index},
             {"kind", StreamKindName(stream.kind)},
             {"codec", stream.codec},
             {"profile", stream.profile},
             {"language", stream.language},
             {"title", stream.title},
             {"is_default", stream.is_default},
             {"is_cover", stream.is_cover},
             {"time_base", FactsOf(stream.time_base)},
             {"bit_rate", OrNull(stream.bit_rate)}};
  if (stream.kind == StreamKind::kVideo) AddVideo(stream, facts);
  if (stream.kind == StreamKind::kAudio) AddAudio(stream, facts);
  AddTiming(stream, facts);
  return facts;
}

}  // namespace

const char* StreamKindName(StreamKind kind) {
  switch (kind) {
    case StreamKind::kVideo:
      return "video";
    case StreamKind::kAudio:
      return "audio";
    case StreamKind::kSubtitle:
      return "subtitle";
    case StreamKind::kData:
      return "data";
    case StreamKind::kAttachment:
      return "attachment";
    case StreamKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string ToJson(const ContainerMetadata& metadata) {
  Json facts{{"format", metadata.format},
             {"title", metadata.title},
             {"begin_seconds", OrNull(metadata.begin_seconds)},
             {"duration_seconds", OrNull(metadata.duration_seconds)},
             {"bit_rate", OrNull(metadata.bit_rate)},
             {"best_video_stream", OrNull(metadata.best_video_stream)},
             {"best_audio_stream", OrNull(metadata.best_audio_stream)}};
  Json& streams = facts["streams"] = Json::array();
  for (const StreamMetadata& stream : metadata.streams) {
    streams.push_back(FactsOf(stream));
  }
  return facts.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace bulkhead
