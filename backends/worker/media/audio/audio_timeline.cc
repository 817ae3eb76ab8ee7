// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_timeline.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ipc/damage_sign.h"

namespace bulkhead::worker::audio {
namespace {

using ipc::DamageSign;

// The longest loss. A longer one is taken for a wrong timestamp, since a small
// file could otherwise ask for days of silence.
constexpr int64_t kMostSecondsLost = 3600;
// The number of packets in a row with equally many samples that make a rule.
constexpr int64_t kRule = 4;
// Timestamps are not used if more than one step in this many jumps away from
// the samples.
constexpr int64_t kStepsToAJump = 8;
constexpr int64_t kMostNotes = 100;
// A gap is noted, even if the timestamps do not follow the samples, if it is
// longer than 1/10 s and longer than any packet.
constexpr int64_t kGapsASecond = 10;

// Limits a number, so that the sum of a few cannot overflow.
int64_t Bounded(__int128 value) {
  constexpr __int128 kMost = INT64_MAX / 16;
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

}  // namespace

AudioTimeline::AudioTimeline(const demux::StreamFacts& facts)
    : unit_(facts.time_base), start_(facts.start) {
  if (unit_.numerator <= 0 || unit_.denominator <= 0) unit_ = {1, 1};
}

int64_t AudioTimeline::At(int64_t ticks, int64_t rate) const {
  const __int128 scaled = __int128{ticks} * unit_.numerator * rate;
  const __int128 half = unit_.denominator / 2;
  return Bounded((scaled + (scaled < 0 ? -half : half)) / unit_.denominator);
}

int64_t AudioTimeline::Tolerance(int64_t rate) const {
  const __int128 tick = __int128{unit_.numerator} * rate;
  const int64_t two_ticks = At(2, rate);
  // Timestamps are exact if a tick is a sample or a whole fraction of one.
  const bool is_sample = tick % unit_.denominator == 0 && two_ticks <= 2;
  const bool is_finer = unit_.denominator % tick == 0;
  return is_sample || is_finer ? 0 : std::min(two_ticks + 1, rate);
}

bool AudioTimeline::IsGap(int64_t gap, int64_t rate) const {
  if (gap > longest_ && gap > rate / kGapsASecond) return true;
  // A gap of one packet is found if the timestamps are fine and follow the
  // samples.
  const int64_t tolerance = Tolerance(rate);
  return steps_ >= kRule && (jumps_ - 1) * kStepsToAJump <= steps_ &&
         gap > 2 * tolerance && gap + tolerance >= longest_;
}

int64_t AudioTimeline::UsualBlock() const {
  return repeats_ >= kRule ? block_ : 0;
}

std::optional<LostSamples> AudioTimeline::Add(const bulkhead_packet& packet,
                                              int64_t samples,
                                              const Rejection& rejection,
                                              int64_t next, int64_t rate) {
  if (start_ == BULKHEAD_NO_TIMESTAMP) start_ = packet.pts;
  auto told = samples > 0 ? Place(packet, samples, rejection, next, rate)
                          : std::nullopt;
  if (packet.position >= 0) {
    end_position_ = Bounded(__int128{packet.position} + packet.bytes);
  }
  if (rejection) {
    ++damage_.packets;
    damage_.ticks = Bounded(__int128{damage_.ticks} +
                            std::max<int64_t>(packet.duration, 0));
    damage_.samples += samples;
    if (damage_.first_byte < 0) damage_.first_byte = packet.position;
    damage_.last_byte = std::max(damage_.last_byte, packet.position);
    damage_.complaint = *rejection;
  } else if (samples > 0) {
    repeats_ = samples == block_ ? repeats_ + 1 : 1;
    block_ = samples;
    longest_ = std::max(longest_, samples);
  }
  return told;
}

std::optional<LostSamples> AudioTimeline::Place(const bulkhead_packet& packet,
                                                int64_t samples,
                                                const Rejection& rejection,
                                                int64_t next, int64_t rate) {
  const bool is_timed = packet.pts != BULKHEAD_NO_TIMESTAMP;
  // The packet's time, in samples, less the number of its first sample.
  int64_t offset = is_timed ? At(packet.pts, rate) - next : packet.pts;
  // A decoder leaves out the encoder's padding at the start of the audio, so
  // the first sample comes later than the packet's timestamp.
  const int64_t before = At(packet.duration, rate) - samples;
  if (is_timed && next == 0 && before > 0 && !rejection) offset += before;
  LostSamples told{.first = next};
  told.first_byte = told.last_byte = packet.position;
  const bool is_marked = (packet.flags & BULKHEAD_PACKET_CORRUPT) != 0;
  if (is_marked && !rejection) told.sign = DamageSign::kMarked;
  if (damage_.packets > 0) {
    bool estimated = false;
    const int64_t missing = Missing(offset, rate, &estimated);
    told = TakeDamage(next, missing, estimated);
    if (is_timed) offset -= missing;
  } else if (is_timed && reference_) {
    const int64_t gap = offset - *reference_;
    ++steps_;
    if (std::abs(gap) > std::max(Tolerance(rate), longest_ / 4)) ++jumps_;
    if (IsGap(gap, rate)) told.sign = DamageSign::kGap;
  }
  if (is_timed) reference_ = offset;
  if (told.sign == DamageSign::kUnknown) return std::nullopt;
  if (told.count == 0 && ++notes_ > kMostNotes) return std::nullopt;
  return told;
}

LostSamples AudioTimeline::TakeDamage(int64_t next, int64_t missing,
                                      bool estimated) {
  Damage damage = std::exchange(damage_, {});
  return {.first = next,
          .count = missing,
          .sign = missing > 0 ? DamageSign::kRejected : DamageSign::kMarked,
          .first_byte = damage.first_byte,
          .last_byte = damage.last_byte,
          .words = std::move(damage.complaint),
          .estimated = estimated && missing > 0};
}

int64_t AudioTimeline::Missing(int64_t offset, int64_t rate,
                               bool* estimated) const {
  *estimated = true;
  if (offset == BULKHEAD_NO_TIMESTAMP || jumps_ * kStepsToAJump > steps_) {
    return MissingByDurations(rate);
  }
  const int64_t tolerance = Tolerance(rate);
  const int64_t usual = UsualBlock();
  const int64_t slack = std::max(tolerance, usual / 8);
  const int64_t gap = offset - reference_.value_or(At(start_, rate));
  // A timestamp that goes back or jumps far ahead is taken to be wrong.
  if (gap < -slack || gap > kMostSecondsLost * rate) {
    return MissingByDurations(rate);
  }
  const int64_t missing = std::max<int64_t>(gap, 0);
  // If the timestamps are coarse, losses are rounded to whole packets.
  const int64_t whole = usual > 0 ? (missing + usual / 2) / usual * usual : 0;
  const bool is_whole = usual > 0 && std::abs(missing - whole) <= slack;
  *estimated = !reference_ || (tolerance > 0 && !is_whole);
  if (tolerance == 0) return missing;
  return is_whole ? whole : missing > tolerance ? missing : 0;
}

int64_t AudioTimeline::MissingByDurations(int64_t rate) const {
  const int64_t usual = UsualBlock() > 0 ? UsualBlock() : longest_;
  // Durations are rounded to ticks. So if they agree with the usual number of
  // samples, that number is used.
  const int64_t by_blocks = Bounded(__int128{damage_.packets} * usual);
  const int64_t by_ticks = At(damage_.ticks, rate);
  const __int128 slack = __int128{damage_.packets} * Tolerance(rate);
  const bool is_usual = std::abs(by_ticks - by_blocks) <= slack;
  const int64_t all = by_ticks == 0 || is_usual ? by_blocks : by_ticks;
  return std::clamp<int64_t>(all - damage_.samples, 0, kMostSecondsLost * rate);
}

std::optional<LostSamples> AudioTimeline::AddEnd(const demux::MissingEnd& end,
                                                 bool shrank, int64_t next,
                                                 int64_t drained,
                                                 int64_t rate) {
  const bool is_rejected = damage_.packets > 0;
  const bool is_stopped = !end.error.empty();
  // The length in the header counts only with another sign of a missing end: a
  // part that was copied from a .flac file has the header of the whole file.
  const bool is_short = shrank || is_stopped || is_rejected ||
                        end.declared_size >= 0 || end.packets > 0;
  const bool has_end = end.end != BULKHEAD_NO_TIMESTAMP && reference_;
  // The missing samples according to the header. If the decoder delays its
  // samples, so is reference_, until the drained samples make up for the delay.
  int64_t by_header = Bounded(__int128{end.packets} * longest_);
  if (has_end) by_header = At(end.end, rate) - *reference_ - (next - drained);
  const bool is_gap = end.is_of_stream && has_end && IsGap(by_header, rate);
  if (!is_short || (end.is_rounded && by_header < longest_)) by_header = 0;
  const int64_t by_durations = MissingByDurations(rate);
  const bool is_exact = has_end && !end.is_rounded;
  // A single rejected packet is no loss: it is cut by the end of the file, or
  // it is a tag after the audio.
  const bool are_many = !is_exact && damage_.packets > 1;
  int64_t missing = std::max(by_header, are_many ? by_durations : 0);
  if ((is_stopped || (shrank && !has_end)) && missing <= 0) {
    missing = std::max<int64_t>(longest_, 1);
  }
  const int64_t most = kMostSecondsLost * rate;
  LostSamples told = TakeDamage(next, std::clamp<int64_t>(missing, 0, most),
                                !is_exact || by_header <= 0 || missing > most);
  if (told.first_byte < 0) told.first_byte = told.last_byte = end_position_;
  if (told.count > 0) {
    told.declared_size = end.declared_size;
    if (shrank) {
      told.sign = DamageSign::kShrunk;
    } else if (is_stopped) {
      told.sign = DamageSign::kStopped;
      told.words = end.error;
    } else if (by_header > by_durations) {
      told.sign = DamageSign::kCutOff;
      const bool is_counted = end.declared_size < 0 && !told.estimated;
      if (is_counted) told.declared_samples = next + told.count;
    }
  } else if (end.ends_in_packet) {
    told.sign = DamageSign::kEndsInPacket;
  } else if (is_gap && !is_rejected) {
    told.sign = DamageSign::kGap;
  } else if (!is_rejected) {
    return std::nullopt;
  }
  return told;
}

}  // namespace bulkhead::worker::audio
