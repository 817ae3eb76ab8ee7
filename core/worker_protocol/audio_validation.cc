// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/audio_validation.h"

#include <algorithm>
#include <optional>

#include "core/base/clean_text.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_index.h"
#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxNameBytes = 64;

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

bool IsPlausible(uint32_t sample_rate, uint32_t channels) {
  return sample_rate > 0 && sample_rate <= kMaxSampleRate && channels > 0 &&
         channels <= kMaxChannels;
}

bool IsAsAsked(uint32_t published, std::optional<int> asked, uint32_t own) {
  return published == (asked ? static_cast<uint32_t>(*asked) : own);
}

}  // namespace

Result<OpenedAudio> ValidateOpenedAudio(
    schema::OpenedAudio::Reader opened_untrusted, const AudioOptions& options,
    const Limits& limits) {
  OpenedAudio opened;
  AudioMetadata& metadata = opened.metadata;
  metadata.sample_rate = opened_untrusted.getSampleRate();
  metadata.num_channels = opened_untrusted.getChannelCount();
  opened.sample_rate = opened_untrusted.getPublishedRate();
  opened.channels = opened_untrusted.getPublishedChannels();
  if (!IsPlausible(metadata.sample_rate, metadata.num_channels) ||
      !IsPlausible(opened.sample_rate, opened.channels)) {
    return Violation("it reported audio of an impossible rate or width");
  }
  if (!IsAsAsked(opened.sample_rate, options.sample_rate,
                 metadata.sample_rate) ||
      !IsAsAsked(opened.channels, options.num_channels,
                 metadata.num_channels)) {
    return Violation("it will publish other samples than were asked for");
  }
  metadata.stream_index = opened_untrusted.getStreamIndex();
  metadata.stream_count = opened_untrusted.getStreamCount();
  RETURN_IF_ERROR(ValidateStreamIndex(metadata.stream_index,
                                      metadata.stream_count, limits));
  const auto text = [](const capnp::Text::Reader& text_untrusted) {
    return CleanText(text_untrusted.cStr(), kMaxNameBytes);
  };
  metadata.container = text(opened_untrusted.getContainer());
  metadata.codec = text(opened_untrusted.getCodec());
  metadata.sample_format = text(opened_untrusted.getSampleFormat());
  metadata.channel_layout = text(opened_untrusted.getChannelLayout());
  metadata.time_base = {opened_untrusted.getTimeBase().getNumerator(),
                        opened_untrusted.getTimeBase().getDenominator()};
  if (metadata.time_base.numerator <= 0 ||
      metadata.time_base.denominator <= 0) {
    return Violation("it reported no time base");
  }
  const Ratio unit = metadata.time_base;
  metadata.begin_seconds_from_content =
      SecondsIfTold(opened_untrusted.getFirstPts(), unit);
  metadata.begin_seconds_from_header =
      SecondsIfTold(opened_untrusted.getStartFromHeader(), unit);
  metadata.duration_seconds_from_header =
      DurationIfTold(opened_untrusted.getDurationFromHeader(), unit);
  ChooseBest(
      metadata, std::nullopt,
      DurationIfTold(opened_untrusted.getContainerDuration(), kMicrosecond));
  metadata.bit_rate = std::max<int64_t>(opened_untrusted.getBitRate(), 0);
  return opened;
}

}  // namespace bulkhead::worker_protocol
