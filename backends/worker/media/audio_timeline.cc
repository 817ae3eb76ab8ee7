// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_timeline.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "backends/worker/media/audio_framing.h"

namespace bulkhead::worker {
namespace {

// A longer gap is taken for timestamps that are wrong: a file of a few
// kilobytes could otherwise ask for days of silence.
constexpr int64_t kMostSecondsLost = 3600;
// Headers of containers between two packets are shorter.
constexpr int64_t kMostHeaderBytes = 1024;
// So many packets must have had the same number of samples, or any at all,
// before that counts as a rule.
constexpr int64_t kRule = 4;

bool IsUntimed(std::string_view container) {
  return container == "mp3" || container == "aac" || container == "ac3";
}

// Reads the samples to leave out at the start of a packet, the first of the
// little-endian numbers in FFmpeg's side data.
int64_t SkippedBy(const bulkhead_packet& packet) {
  for (size_t i = 0; i < packet.side_data_count; ++i) {
    const bulkhead_side_data& item = packet.side_data[i];
    if (std::string_view(item.kind) != "Skip Samples" || item.bytes < 4) {
      continue;
    }
    uint32_t skipped = 0;
    for (int byte = 3; byte >= 0; --byte) {
      skipped = skipped << 8 | item.data[byte];
    }
    return skipped;
  }
  return 0;
}

bool IsTrimmed(const bulkhead_packet& packet) {
  return (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 ||
         std::any_of(packet.side_data,
                     packet.side_data + packet.side_data_count,
                     [](const bulkhead_side_data& item) {
                       return std::string_view(item.kind) == "Skip Samples";
                     });
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

}  // namespace

AudioTimeline::AudioTimeline(const StreamFacts& facts, int64_t size)
    : unit_(facts.time_base),
      duration_(facts.duration),
      container_microseconds_(facts.container_microseconds),
      size_(size),
      alone_(facts.stream_count == 1),
      gapless_(alone_ && facts.container == "ogg"),
      untimed_(IsUntimed(facts.container)),
      ends_are_exact_(facts.codec == "vorbis") {
  if (unit_.numerator <= 0 || unit_.denominator <= 0) unit_ = {1, 1};
  if (facts.codec == "mp1" || facts.codec == "mp2" || facts.codec == "mp3") {
    framing_ = Framing::kMpeg;
  } else if (facts.codec == "ac3") {
    framing_ = Framing::kAc3;
  } else if (facts.codec == "aac" &&
             (untimed_ || facts.container == "mpegts")) {
    framing_ = Framing::kAdts;
  }
}

int64_t AudioTimeline::At(int64_t ticks, int64_t rate) const {
  const __int128 scaled = __int128{ticks} * unit_.numerator * rate;
  const __int128 half = unit_.denominator / 2;
  const __int128 samples =
      (scaled + (scaled < 0 ? -half : half)) / unit_.denominator;
  constexpr __int128 kMost = INT64_MAX / 4;
  return static_cast<int64_t>(std::clamp(samples, -kMost, kMost));
}

int64_t AudioTimeline::Tolerance(int64_t rate) const {
  const int64_t tick = At(2, rate);
  const bool exact =
      __int128{unit_.numerator} * rate % unit_.denominator == 0 && tick <= 2;
  const bool finer =
      __int128{unit_.denominator} % (__int128{unit_.numerator} * rate) == 0;
  return exact || finer ? 0 : tick + 1;
}

int64_t AudioTimeline::Whole(int64_t gap, int64_t rate) const {
  const int64_t tolerance = Tolerance(rate);
  if (block_ > 0 && repeats_ >= kRule) {
    const int64_t whole = (gap + block_ / 2) / block_ * block_;
    if (std::abs(gap - whole) <= tolerance) return whole;
  }
  return gap > tolerance ? gap : 0;
}

void AudioTimeline::Suspect(int64_t position) {
  if (!suspect_) first_byte_ = last_byte_ = -1;
  suspect_ = true;
  if (position < 0) return;
  first_byte_ = first_byte_ < 0 ? position : std::min(first_byte_, position);
  last_byte_ = std::max(last_byte_, position);
}

void AudioTimeline::SeekSigns(const bulkhead_packet& packet) {
  if ((packet.flags & BULKHEAD_PACKET_CORRUPT) != 0) Suspect(packet.position);
  // Nothing may be missing between two pages of Ogg.
  if (gapless_ && reference_) Suspect(-1);
  const bool hole = alone_ && packet.position >= 0 && end_position_ >= 0 &&
                    packet.position > end_position_ + kMostHeaderBytes;
  if (hole) Suspect(end_position_);
  junk_packets_ = 0;
  surplus_ = false;
  if (framing_ == Framing::kNone) return;
  const std::span<const uint8_t> bytes(packet.data, packet.bytes);
  const size_t frame = framing_ == Framing::kMpeg   ? MpegAudioFrameBytes(bytes)
                       : framing_ == Framing::kAdts ? AdtsFrameBytes(bytes)
                                                    : Ac3FrameBytes(bytes);
  if (frame >= bytes.size()) return;
  if (IsTag(bytes.subspan(frame))) return;
  surplus_ = true;
  if (!untimed_ || sound_packets_ == 0) return;
  const auto surplus = static_cast<int64_t>(bytes.size() - frame);
  const int64_t average = std::max<int64_t>(sound_bytes_ / sound_packets_, 1);
  junk_packets_ = (surplus + average / 2) / average;
  // A packet without a header is junk as a whole, but its duration counts.
  if (frame == 0 && junk_packets_ > 0) --junk_packets_;
}

void AudioTimeline::Sent(const bulkhead_packet& packet) {
  SeekSigns(packet);
  sent_ = packet;
  skipped_ = SkippedBy(packet);
  started_ = false;
  rejected_ = false;
  const auto bytes = static_cast<int64_t>(packet.bytes);
  if (packet.position < 0 || packet.position == last_position_) {
    if (end_position_ >= 0) end_position_ = Sum(end_position_, bytes);
  } else {
    end_position_ = Sum(packet.position, bytes);
  }
  if (packet.position >= 0) last_position_ = packet.position;
  if (packet.pts == BULKHEAD_NO_TIMESTAMP) return;
  const int64_t end = Sum(packet.pts, std::max<int64_t>(packet.duration, 0));
  end_ = begin_ ? std::max(end_, end) : end;
  if (!begin_) begin_ = packet.pts;
}

void AudioTimeline::NotDecoded() {
  rejected_ = true;
  Suspect(sent_.position);
}

int64_t AudioTimeline::MissingBefore(int64_t next, int64_t count,
                                     int64_t rate) {
  if (started_) return 0;
  started_ = true;
  int64_t missing = 0;
  if (suspect_ && untimed_) missing = lost_junk_ * block_;
  if (sent_.pts == BULKHEAD_NO_TIMESTAMP) {
    if (suspect_) missing += At(lost_ticks_, rate);
  } else {
    int64_t here = At(sent_.pts, rate);
    if (ends_are_exact_ && sent_.duration > 0 && Tolerance(rate) == 0) {
      here = At(Sum(sent_.pts, sent_.duration), rate) - count;
    }
    int64_t offset = here - next;
    if (!reference_) {
      reference_ = suspect_ && begin_ ? At(*begin_, rate) : offset;
    }
    if (suspect_) missing += Whole(offset - *reference_, rate);
    if (missing > kMostSecondsLost * rate) missing = At(lost_ticks_, rate);
    missing = std::clamp<int64_t>(missing, 0, kMostSecondsLost * rate);
    offset -= missing;
    // Deviations within the unit of the timestamps are no drift.
    if (std::abs(offset - *reference_) > Tolerance(rate)) reference_ = offset;
  }
  suspect_ = false;
  lost_ticks_ = 0;
  lost_junk_ = 0;
  return missing;
}

std::optional<int64_t> AudioTimeline::Room(int64_t rate) const {
  if (repeats_ < kRule || sent_.duration <= 0 || IsTrimmed(sent_) ||
      std::abs(At(sent_.duration, rate) - block_) > Tolerance(rate)) {
    return std::nullopt;
  }
  return block_;
}

void AudioTimeline::Done(int64_t samples, bool resampled) {
  if (resampled) {
    always_yields_ = false;
    repeats_ = 0;
  }
  if (reference_) reference_ = Sum(*reference_, skipped_);
  const bool trimmed = IsTrimmed(sent_);
  if (samples == 0) {
    const bool rule = always_yields_ && sound_packets_ >= kRule;
    if (!rejected_ && !trimmed && rule) {
      Suspect(sent_.position);
    } else if (!rejected_ && !trimmed && sound_packets_ > 0) {
      always_yields_ = false;
    }
    lost_ticks_ = Sum(lost_ticks_, std::max<int64_t>(sent_.duration, 0));
  } else if (repeats_ >= kRule && samples < block_ && !trimmed) {
    if (!rejected_) Suspect(sent_.position);
    lost_ticks_ = Sum(lost_ticks_, 1);
  } else if (!surplus_ && !rejected_) {
    ++sound_packets_;
    sound_bytes_ = Sum(sound_bytes_, static_cast<int64_t>(sent_.bytes));
    if (!trimmed) {
      repeats_ = samples == block_ ? repeats_ + 1 : 1;
      block_ = samples;
    }
  }
  if (surplus_) {
    Suspect(sent_.position);
    lost_junk_ = Sum(lost_junk_, junk_packets_);
  }
  sent_.side_data_count = 0;  // the memory is the demuxer's
}

std::optional<int64_t> AudioTimeline::PromisedEnd(int64_t rate) const {
  if (!begin_) return std::nullopt;
  const int64_t begin = At(*begin_, rate);
  if (duration_ != BULKHEAD_NO_TIMESTAMP && duration_ > 0) {
    return Sum(begin, At(duration_, rate));
  }
  if (container_microseconds_ <= 0) return std::nullopt;
  const __int128 samples = __int128{container_microseconds_} * rate / 1'000'000;
  return Sum(begin,
             static_cast<int64_t>(std::min<__int128>(samples, INT64_MAX / 4)));
}

int64_t AudioTimeline::MissingAtEnd(int64_t next, int64_t rate, bool cut) {
  if (!reference_) return 0;
  int64_t missing = 0;
  // Surplus bytes at the end of a file are no audio.
  if (suspect_ && lost_ticks_ > 0 && !(untimed_ && surplus_)) {
    missing = Whole(At(end_, rate) - *reference_ - next, rate);
  }
  const bool unread = alone_ && !untimed_ && end_position_ >= 0 &&
                      size_ - end_position_ > kMostHeaderBytes;
  const auto promised = PromisedEnd(rate);
  if ((cut || unread) && promised) {
    const int64_t rest = *promised - *reference_ - next;
    const int64_t least = cut ? Tolerance(rate) : 2 * block_ + Tolerance(rate);
    if (rest > least && rest <= kMostSecondsLost * rate) {
      missing = std::max(missing, rest);
      Suspect(std::max<int64_t>(end_position_, 0));
    }
  }
  return std::clamp<int64_t>(missing, 0, kMostSecondsLost * rate);
}

}  // namespace bulkhead::worker
