// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/reply_validation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_index.h"
#include "core/worker_protocol/stream_timing.h"
#include "ipc/capnp_read.h"
#include "ipc/protocol_version.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

// Limits for texts: names of codecs and formats, messages of failures, and
// words of backends about damage.
constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxMessageBytes = 512;
constexpr size_t kMaxWordsBytes = 480;

Status Violation(const char* what) {
  return Status(Code::kBackendMisbehaved, what);
}

Ratio ToRatio(schema::Rational::Reader rational_untrusted) {
  const Ratio ratio{rational_untrusted.getNumerator(),
                    rational_untrusted.getDenominator()};
  return ratio.denominator > 0 && ratio.numerator >= 0 ? ratio : Ratio{};
}

}  // namespace

Status ValidateHello(ipc::ReceivedMessage& hello_untrusted, bool shared) {
  struct Claim {
    uint32_t version;
    std::string exhausted;
  };
  const auto claim = ipc::ReadCatching([&]() -> ipc::Expected<Claim> {
    auto root = hello_untrusted.root<schema::Hello>();
    if (!root) return tl::unexpected(root.error());
    return Claim{root->getProtocolVersion(), CleanWords(root->getExhausted())};
  });
  if (!claim || claim->version != ipc::kProtocolVersion) {
    return Violation("its hello is not of this protocol version");
  }
  if (claim->exhausted.empty()) return Status();
  if (!shared) return Violation("it refused the only session that it has");
  return Status(Code::kResourceExhausted, claim->exhausted);
}

Result<VideoMetadata> ValidateOpened(schema::Opened::Reader opened_untrusted,
                                     const Limits& limits) {
  VideoMetadata metadata;
  metadata.width = opened_untrusted.getWidth();
  metadata.height = opened_untrusted.getHeight();
  if (metadata.width == 0 || metadata.height == 0) {
    return Violation("it reported a picture without pixels");
  }
  if (metadata.width > limits.frame_pixels / metadata.height) {
    return Violation("it reported a picture beyond the limit it was given");
  }
  metadata.stream_index = opened_untrusted.getStreamIndex();
  metadata.stream_count = opened_untrusted.getStreamCount();
  RETURN_IF_ERROR(ValidateStreamIndex(metadata.stream_index,
                                      metadata.stream_count, limits));
  metadata.rotation = opened_untrusted.getRotation();
  if (metadata.rotation % 90 != 0 || metadata.rotation < 0 ||
      metadata.rotation >= 360) {
    return Violation("it reported an impossible rotation");
  }
  metadata.vertical_flip = opened_untrusted.getVerticalFlip();
  metadata.container =
      CleanText(opened_untrusted.getContainer().cStr(), kMaxNameBytes);
  metadata.codec = CleanText(opened_untrusted.getCodec().cStr(), kMaxNameBytes);
  metadata.pixel_format =
      CleanText(opened_untrusted.getPixelFormat().cStr(), kMaxNameBytes);
  metadata.time_base = ToRatio(opened_untrusted.getTimeBase());
  if (metadata.time_base.numerator <= 0) {
    return Violation("it reported no time base");
  }
  metadata.average_frame_rate = ToRatio(opened_untrusted.getAverageFrameRate());
  metadata.base_frame_rate = ToRatio(opened_untrusted.getBaseFrameRate());
  metadata.sample_aspect_ratio =
      ToRatio(opened_untrusted.getSampleAspectRatio());
  if (const uint64_t frames = opened_untrusted.getFrameCountFromHeader()) {
    metadata.frame_count_from_header = frames;
  }
  const Ratio unit = metadata.time_base;
  metadata.duration_seconds_from_header =
      DurationIfTold(opened_untrusted.getDurationFromHeader(), unit);
  metadata.begin_seconds_from_header =
      SecondsIfTold(opened_untrusted.getStartFromHeader(), unit);
  ChooseBest(
      metadata,
      FrameRate(metadata.average_frame_rate, metadata.base_frame_rate),
      DurationIfTold(opened_untrusted.getContainerDuration(), kMicrosecond));
  metadata.bit_rate = std::max<int64_t>(opened_untrusted.getBitRate(), 0);
  metadata.color_primaries = opened_untrusted.getColorPrimaries();
  metadata.color_transfer = opened_untrusted.getColorTransfer();
  metadata.color_space = opened_untrusted.getColorSpace();
  metadata.color_range = opened_untrusted.getColorRange();
  return metadata;
}

Result<ClaimedFailure> ValidateFailure(
    schema::Failure::Reader failure_untrusted) {
  if (failure_untrusted.getCode() > schema::ErrorCode::CANCELLED) {
    return Violation("it reported a failure of no known kind");
  }
  const Code code =
      FromIpc(static_cast<ipc::Code>(failure_untrusted.getCode()));
  const std::string message =
      CleanText(failure_untrusted.getMessage().cStr(), kMaxMessageBytes);
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kBadInput:
    case Code::kUnsupported:
    case Code::kBackendUnavailable:
    case Code::kResourceExhausted:
    case Code::kInternal:
      return ClaimedFailure{Status(code, message)};
    case Code::kBackendMisbehaved:
      // With this code, Bulkhead's own code in the worker reports that the
      // vendor's code misbehaved.
      return Violation(message.c_str());
    default:
      return Violation("it reported a failure that it cannot know of");
  }
}

std::string CleanWords(capnp::Text::Reader words_untrusted) {
  return CleanText({words_untrusted.begin(), words_untrusted.size()},
                   kMaxWordsBytes);
}

std::optional<ipc::DamageSign> SignIfKnown(schema::Sign sign_untrusted) {
  static_assert(static_cast<uint16_t>(schema::Sign::PROMISED) ==
                static_cast<uint16_t>(ipc::DamageSign::kPromised));
  static_assert(static_cast<uint16_t>(schema::Sign::GAP) ==
                static_cast<uint16_t>(ipc::kLastDamageSign));
  if (sign_untrusted > schema::Sign::GAP) return std::nullopt;
  return static_cast<ipc::DamageSign>(sign_untrusted);
}

}  // namespace bulkhead::worker_protocol
