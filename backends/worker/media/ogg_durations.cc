// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/ogg_durations.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

extern "C" {
#include <libavcodec/vorbis_parser.h>
}

namespace bulkhead::worker {
namespace {

bool StartsWith(const OggPart& packet, std::string_view text) {
  return packet.bytes >= text.size() &&
         std::memcmp(packet.start.data(), text.data(), text.size()) == 0;
}

// Returns the duration at 48 kHz, as the first two bytes tell it.
int64_t OfOpus(const OggPart& packet) {
  constexpr int64_t kMost = 5760;  // 120 ms
  if (packet.bytes == 0 || StartsWith(packet, "OpusHead") ||
      StartsWith(packet, "OpusTags")) {
    return 0;
  }
  const unsigned config = packet.start[0] >> 3;
  int64_t frame;
  if (config < 12) {
    frame = config % 4 == 3 ? 2880 : int64_t{480} << config % 4;
  } else if (config < 16) {
    frame = int64_t{480} << config % 2;
  } else {
    frame = int64_t{120} << config % 4;
  }
  const unsigned code = packet.start[0] & 3;
  int64_t frames = code == 0 ? 1 : 2;
  if (code == 3) frames = packet.bytes > 1 ? packet.start[1] & 0x3f : 0;
  return frame * frames <= kMost ? frame * frames : 0;
}

// Returns the number of samples that the header of the frame tells.
int64_t OfFlac(const OggPart& packet) {
  const auto& bytes = packet.start;
  if (packet.bytes < 6 || bytes[0] != 0xff || (bytes[1] & 0xfe) != 0xf8) {
    return 0;
  }
  const unsigned code = bytes[2] >> 4;
  if (code == 1) return 192;
  if (code >= 2 && code <= 5) return int64_t{576} << (code - 2);
  if (code >= 8) return int64_t{256} << (code - 8);
  if (code == 0) return 0;
  // The number of the frame is coded like a character of UTF-8.
  size_t at = 5;
  for (unsigned lead = bytes[4]; (lead & 0xc0) == 0xc0 && at < 12; lead <<= 1) {
    ++at;
  }
  const int64_t high = bytes[at];
  return code == 6 ? high + 1 : (high << 8 | bytes[at + 1]) + 1;
}

int64_t Little(const OggPart& packet, size_t at) {
  int64_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | packet.start[at + i];
  return value;
}

}  // namespace

OggDurations::OggDurations(const Demuxer& demuxer) {
  const std::string_view codec = demuxer.facts().codec;
  if (codec == "opus") codec_ = Codec::kOpus;
  if (codec == "flac") codec_ = Codec::kFlac;
  if (codec == "speex") codec_ = Codec::kSpeex;
  const bulkhead_codec_parameters& parameters = demuxer.codec_parameters();
  constexpr size_t kMost = std::numeric_limits<int>::max();
  if (codec != "vorbis" || parameters.extradata == nullptr ||
      parameters.extradata_bytes > kMost) {
    return;
  }
  vorbis_.reset(
      av_vorbis_parse_init(parameters.extradata,
                           static_cast<int>(parameters.extradata_bytes)),
      [](AVVorbisParseContext* parser) { av_vorbis_parse_free(&parser); });
  if (vorbis_ != nullptr) codec_ = Codec::kVorbis;
}

int64_t OggDurations::OfVorbis(const OggPart& packet) {
  const bool is_header = (packet.start[0] & 1) != 0;
  if (packet.bytes == 0 || is_header) return 0;
  // The parser wants a packet, and looks at its first byte.
  constexpr int kBytes = 16;
  uint8_t bytes[kBytes] = {};
  av_vorbis_parse_reset(vorbis_.get());
  bytes[0] = before_;
  av_vorbis_parse_frame(vorbis_.get(), bytes, kBytes);
  bytes[0] = packet.start[0];
  const int samples = av_vorbis_parse_frame(vorbis_.get(), bytes, kBytes);
  before_ = packet.start[0];
  // The first packet just fills the decoder's window.
  const bool is_first = !has_before_;
  has_before_ = true;
  return is_first ? 0 : std::max(samples, 0);
}

int64_t OggDurations::Of(const OggPart& packet) {
  switch (codec_) {
    case Codec::kVorbis:
      return OfVorbis(packet);
    case Codec::kOpus:
      if (StartsWith(packet, "OpusHead")) {
        preskip_ = packet.start[10] | packet.start[11] << 8;
      }
      return OfOpus(packet);
    case Codec::kFlac:
      return OfFlac(packet);
    case Codec::kSpeex:
      if (StartsWith(packet, "Speex   ")) {
        constexpr int64_t kMost = 1 << 16;
        speex_samples_ = std::min(Little(packet, 56), kMost) *
                         std::clamp<int64_t>(Little(packet, 64), 1, kMost);
        return 0;
      }
      return speex_samples_;
    case Codec::kOther:
      break;
  }
  return 0;
}

}  // namespace bulkhead::worker
