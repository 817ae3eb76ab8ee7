// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/description_validation.h"

#include <capnp/blob.h>

#include <optional>

#include "core/base/clean_text.h"
#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxTitleBytes = 512;

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

std::string Clean(capnp::Text::Reader text_untrusted,
                  size_t max_bytes = kMaxNameBytes) {
  return CleanText({text_untrusted.begin(), text_untrusted.size()}, max_bytes);
}

Ratio ToRatio(schema::Rational::Reader rational_untrusted) {
  const Ratio ratio{rational_untrusted.getNumerator(),
                    rational_untrusted.getDenominator()};
  return ratio.denominator > 0 && ratio.numerator > 0 ? ratio : Ratio{};
}

template <typename T>
std::optional<T> AboveZero(T value) {
  return value > 0 ? std::optional<T>(value) : std::nullopt;
}

StreamKind KindOf(schema::StreamDescription::Kind kind_untrusted) {
  using Kind = schema::StreamDescription::Kind;
  switch (kind_untrusted) {
    case Kind::VIDEO:
      return StreamKind::kVideo;
    case Kind::AUDIO:
      return StreamKind::kAudio;
    case Kind::SUBTITLE:
      return StreamKind::kSubtitle;
    case Kind::DATA:
      return StreamKind::kData;
    case Kind::ATTACHMENT:
      return StreamKind::kAttachment;
    case Kind::UNKNOWN:
      break;
  }
  return StreamKind::kUnknown;
}

void ReadPicture(schema::StreamDescription::Reader stream_untrusted,
                 StreamMetadata& stream) {
  stream.width = stream_untrusted.getWidth();
  stream.height = stream_untrusted.getHeight();
  stream.rotation = stream_untrusted.getRotation();
  stream.vertical_flip = stream_untrusted.getVerticalFlip();
  stream.sample_aspect_ratio = ToRatio(stream_untrusted.getSampleAspectRatio());
  stream.average_frame_rate = ToRatio(stream_untrusted.getAverageFrameRate());
  stream.base_frame_rate = ToRatio(stream_untrusted.getBaseFrameRate());
  stream.pixel_format = Clean(stream_untrusted.getPixelFormat());
  stream.color_primaries = stream_untrusted.getColorPrimaries();
  stream.color_transfer = stream_untrusted.getColorTransfer();
  stream.color_space = stream_untrusted.getColorSpace();
  stream.color_range = stream_untrusted.getColorRange();
}

void ReadTiming(schema::StreamDescription::Reader stream_untrusted,
                StreamMetadata& stream) {
  const Ratio unit = stream.time_base;
  stream.begin_seconds_from_header =
      SecondsIfTold(stream_untrusted.getStart(), unit);
  stream.duration_seconds_from_header =
      DurationIfTold(stream_untrusted.getDuration(), unit);
  stream.frame_count_from_header = AboveZero(stream_untrusted.getFrameCount());
  const auto content = stream_untrusted.getContent();
  if (!content.getScanned()) return;
  stream.frame_count_from_content = content.getPacketCount();
  stream.begin_seconds_from_content = SecondsIfTold(content.getBegin(), unit);
  if (content.getEnd() >= content.getBegin()) {
    stream.end_seconds_from_content = SecondsIfTold(content.getEnd(), unit);
  }
}

}  // namespace

Result<ClaimedContainer> ValidateContainer(
    schema::ContainerDescription::Reader container_untrusted,
    uint32_t max_streams) {
  ClaimedContainer claimed;
  claimed.stream_count = container_untrusted.getStreamCount();
  if (claimed.stream_count > max_streams) {
    return Violation("it reported more streams than it may");
  }
  ContainerMetadata& container = claimed.container;
  container.format = Clean(container_untrusted.getFormat());
  container.title = Clean(container_untrusted.getTitle(), kMaxTitleBytes);
  container.begin_seconds =
      SecondsIfTold(container_untrusted.getStart(), kMicrosecond);
  container.duration_seconds =
      DurationIfTold(container_untrusted.getDuration(), kMicrosecond);
  container.bit_rate = AboveZero(container_untrusted.getBitRate());
  const auto best = [&](int32_t index) -> std::optional<int> {
    return index < 0 ? std::nullopt : std::optional<int>(index);
  };
  container.best_video_stream = best(container_untrusted.getBestVideoStream());
  container.best_audio_stream = best(container_untrusted.getBestAudioStream());
  for (const auto& index :
       {container.best_video_stream, container.best_audio_stream}) {
    if (index && static_cast<uint32_t>(*index) >= claimed.stream_count) {
      return Violation("it reported a stream that does not exist");
    }
  }
  return claimed;
}

Result<StreamMetadata> ValidateStream(
    schema::StreamDescription::Reader stream_untrusted,
    const ContainerMetadata& container) {
  StreamMetadata stream;
  if (stream_untrusted.getIndex() != container.streams.size()) {
    return Violation("it reported its streams out of order");
  }
  stream.index = static_cast<int>(stream_untrusted.getIndex());
  stream.kind = KindOf(stream_untrusted.getKind());
  stream.codec = Clean(stream_untrusted.getCodec());
  stream.profile = Clean(stream_untrusted.getProfile());
  stream.language = Clean(stream_untrusted.getLanguage());
  stream.title = Clean(stream_untrusted.getTitle(), kMaxTitleBytes);
  stream.is_default = stream_untrusted.getIsDefault();
  stream.is_cover = stream_untrusted.getIsCover();
  stream.time_base = ToRatio(stream_untrusted.getTimeBase());
  stream.bit_rate = AboveZero(stream_untrusted.getBitRate());
  if (stream.kind == StreamKind::kVideo) {
    ReadPicture(stream_untrusted, stream);
    if (stream.rotation % 90 != 0 || stream.rotation < 0 ||
        stream.rotation >= 360) {
      return Violation("it reported an impossible rotation");
    }
  }
  if (stream.kind == StreamKind::kAudio) {
    stream.sample_format = Clean(stream_untrusted.getSampleFormat());
    stream.sample_rate = stream_untrusted.getSampleRate();
    stream.channels = stream_untrusted.getChannels();
    stream.channel_layout = Clean(stream_untrusted.getChannelLayout());
  }
  ReadTiming(stream_untrusted, stream);
  ChooseBest(stream,
             FrameRate(stream.average_frame_rate, stream.base_frame_rate),
             container.duration_seconds);
  return stream;
}

}  // namespace bulkhead::worker_protocol
