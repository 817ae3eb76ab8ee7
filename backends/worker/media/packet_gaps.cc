// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/packet_gaps.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bulkhead::worker {
namespace {

// The host refuses more in one gap. A longer hole is taken for timestamps that
// are wrong.
constexpr uint64_t kMostPackets = 1'000'000;
// Decoders hold back some tens of pictures.
constexpr size_t kMostNumbers = 512;
constexpr size_t kMostLosses = 64;
constexpr uint64_t kLeastPace = 8;
constexpr int64_t kMostStep = INT64_MAX / 8;
// Pages of Ogg have one timestamp for all their packets.
constexpr uint64_t kMostPacketsOfPage = 128;

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

// Of numbers of 0 or more and 1 or more.
uint64_t RoundedRatio(int64_t a, int64_t b) {
  return (static_cast<uint64_t>(a) + static_cast<uint64_t>(b) / 2) /
         static_cast<uint64_t>(b);
}

int64_t DurationAt(bulkhead_rational rate, bulkhead_rational unit) {
  if (rate.numerator <= 0 || rate.denominator <= 0 || unit.numerator <= 0 ||
      unit.denominator <= 0) {
    return 0;
  }
  return static_cast<int64_t>(__int128{rate.denominator} * unit.denominator /
                              (__int128{rate.numerator} * unit.numerator));
}

// Returns the time at which the stream ends according to the header. For Ogg
// and transport streams, libavformat takes it from the end of the file.
int64_t PromisedEnd(const StreamFacts& facts) {
  if (facts.container == "ogg" || facts.container == "mpegts") {
    return BULKHEAD_NO_TIMESTAMP;
  }
  // Of fragmented MP4, it is the end of the fragments that were read so far.
  if (facts.container == "mov,mp4,m4a,3gp,3g2,mj2" && facts.frame_count == 0) {
    return BULKHEAD_NO_TIMESTAMP;
  }
  if (facts.duration != BULKHEAD_NO_TIMESTAMP && facts.duration > 0) {
    return Sum(std::max<int64_t>(facts.start, 0), facts.duration);
  }
  // Another stream may be longer; the number of lost packets is an estimate.
  if (facts.container_microseconds <= 0 || facts.time_base.numerator <= 0) {
    return BULKHEAD_NO_TIMESTAMP;
  }
  const __int128 ticks = __int128{facts.container_microseconds} *
                         facts.time_base.denominator /
                         (__int128{facts.time_base.numerator} * 1'000'000);
  // Counted from 0 and not from where this stream starts.
  return static_cast<int64_t>(std::min<__int128>(ticks, INT64_MAX / 4));
}

}  // namespace

PacketGaps::PacketGaps(const StreamFacts& facts)
    : counts_bytes_(facts.container == "avi"),
      reordered_(2 * static_cast<uint64_t>(std::max(facts.video_delay, 0))),
      late_(facts.container == "ogg" ? kMostPacketsOfPage : 0),
      rate_duration_(DurationAt(facts.average_frame_rate, facts.time_base)),
      frame_count_(facts.frame_count),
      counts_empty_chunks_(facts.counts_empty_chunks),
      promised_end_(PromisedEnd(facts)) {
  if (rate_duration_ == 0) {
    rate_duration_ = DurationAt(facts.base_frame_rate, facts.time_base);
  }
}

void PacketGaps::Restart() {
  numbers_.clear();
  losses_.clear();
  edge_.reset();
  edge_number_ = sent_;
  from_beginning_ = false;
}

int64_t PacketGaps::FrameDuration(int64_t duration) const {
  if (duration > 0) return duration;
  return last_duration_ > 0 ? last_duration_ : rate_duration_;
}

uint64_t PacketGaps::PacketsIn(int64_t first_byte, int64_t end_byte) const {
  // Of the packets that came, with those of other streams between them.
  int64_t mean = 0;
  if (sent_ > 1 && !__builtin_sub_overflow(last_byte_, first_byte_, &mean) &&
      !__builtin_sub_overflow(mean, lost_bytes_, &mean)) {
    mean /= static_cast<int64_t>(sent_ - 1);
  }
  int64_t bytes;
  if (mean <= 0 || __builtin_sub_overflow(end_byte, first_byte, &bytes) ||
      bytes <= 0) {
    return 1;
  }
  return std::clamp<uint64_t>(RoundedRatio(bytes, mean), 1, kMostPackets);
}

void PacketGaps::SentBehindLoss(const bulkhead_packet& packet, int64_t from,
                                std::optional<uint64_t> listed) {
  losses_.push_back({.number = sent_ + 1,
                     .first_byte = from,
                     .end_byte = packet.position,
                     .pts = packet.pts,
                     .listed = listed});
  if (losses_.size() > kMostLosses) losses_.pop_front();
  // The first packet of the stream is lost, so the hole begins before it.
  if (sent_ == 0 && packet.pts > 0) edge_ = 0;
  int64_t lost;
  if (first_byte_ >= 0 &&
      !__builtin_sub_overflow(packet.position, from, &lost) && lost > 0) {
    lost_bytes_ = Sum(lost_bytes_, lost);
  }
  Sent(packet);
}

void PacketGaps::Sent(const bulkhead_packet& packet) {
  ++sent_;
  if (packet.pts != BULKHEAD_NO_TIMESTAMP) {
    int64_t step;
    if (numbers_.empty()) {
      first_pts_ = packet.pts;
    } else if (!__builtin_sub_overflow(packet.pts, numbers_.rbegin()->first,
                                       &step)) {
      longest_step_ = std::max(longest_step_, std::min(step, kMostStep));
    }
    numbers_[packet.pts] = sent_;
    if (numbers_.size() > kMostNumbers) numbers_.erase(numbers_.begin());
  }
  if (packet.position < 0) return;
  if (first_byte_ < 0) first_byte_ = packet.position;
  last_byte_ = packet.position;
  end_byte_ = Sum(packet.position, static_cast<int64_t>(packet.bytes));
}

const PacketGaps::Loss* PacketGaps::FindLoss(uint64_t a, uint64_t b) const {
  const auto [first, last] = std::minmax(a, b);
  for (const Loss& loss : losses_) {
    if (loss.number + reordered_ + late_ >= first + (late_ > 0 ? 0 : 1) &&
        loss.number <= last + reordered_) {
      return &loss;
    }
  }
  return nullptr;
}

std::vector<PacketGap> PacketGaps::Shown(int64_t pts, int64_t duration) {
  std::vector<PacketGap> gaps;
  const auto known = numbers_.find(pts);
  const uint64_t number = known == numbers_.end() ? sent_ + 1 : known->second;
  const int64_t frame = FrameDuration(duration);
  if (counts_bytes_) {
    while (!losses_.empty() && losses_.front().number <= number) {
      const Loss& loss = losses_.front();
      const uint64_t packets = loss.listed
                                   ? std::min(*loss.listed, kMostPackets)
                                   : PacketsIn(loss.first_byte, loss.end_byte);
      // Bytes of another stream may be all that is lost.
      if (packets > 0) {
        gaps.push_back({.pts = loss.pts,
                        .first_byte = loss.first_byte,
                        .end_byte = loss.end_byte,
                        .packets = packets});
      }
      told_ += packets;
      losses_.pop_front();
    }
  }
  if (pts == BULKHEAD_NO_TIMESTAMP) return gaps;
  int64_t hole = 0;
  if (edge_ && !__builtin_sub_overflow(pts, *edge_, &hole) &&
      hole > frame / 2) {
    if (const Loss* loss = FindLoss(edge_number_, number)) {
      const uint64_t packets = frame > 0 ? RoundedRatio(hole, frame) : 1;
      gaps.push_back(
          {.pts = *edge_,
           .duration = hole,
           .first_byte = loss->first_byte,
           .end_byte = loss->end_byte,
           .packets = std::clamp<uint64_t>(packets, 1, kMostPackets)});
      told_ += gaps.back().packets;
      // The first timestamp behind lost pages accounts for all of them.
      if (late_ > 0) losses_.clear();
    }
  }
  if (!edge_ || pts >= *edge_) edge_number_ = number;
  const int64_t end = Sum(pts, frame);
  edge_ = edge_ ? std::max(*edge_, end) : end;
  if (duration > 0) last_duration_ = duration;
  while (!losses_.empty() && !counts_bytes_ &&
         losses_.front().number + 2 * reordered_ + late_ + 1 < number) {
    losses_.pop_front();
  }
  return gaps;
}

uint64_t PacketGaps::Pace::Packets(int64_t time) const {
  if (time <= 0 || ticks <= 0) return 0;
  // Half a packet may be rounding.
  return static_cast<uint64_t>(std::min<__int128>(
      (__int128{time} * packets + (ticks - 1) / 2) / ticks, kMostPackets));
}

PacketGaps::Pace PacketGaps::PaceOf() const {
  int64_t ticks;
  // Of a few packets that are not sent in order, some between are to come.
  if (from_beginning_ && sent_ > 1 + kLeastPace * reordered_ &&
      !numbers_.empty() &&
      !__builtin_sub_overflow(numbers_.rbegin()->first, first_pts_, &ticks) &&
      ticks > 0) {
    return {.ticks = ticks, .packets = sent_ + told_ - 1};
  }
  return {.ticks = FrameDuration(0), .packets = 1};
}

uint64_t PacketGaps::SkippedAtEnd(Pace pace) const {
  // Packets that are shown earlier than some before them were to follow.
  uint64_t skipped = 0;
  uint64_t left = reordered_ > 0 ? reordered_ + 1 : 0;
  for (auto later = numbers_.rbegin(); left > 0 && later != numbers_.rend();
       ++later, --left) {
    const auto earlier = std::next(later);
    if (earlier == numbers_.rend()) break;
    int64_t ticks;
    if (__builtin_sub_overflow(later->first, earlier->first, &ticks)) break;
    skipped += std::max<uint64_t>(pace.Packets(ticks), 1) - 1;
  }
  return skipped;
}

uint64_t PacketGaps::PromisedPackets() const {
  int64_t ticks = 0;
  if (!counts_empty_chunks_ || sent_ < 2 || numbers_.empty() ||
      __builtin_sub_overflow(numbers_.rbegin()->first, first_pts_, &ticks)) {
    return frame_count_;
  }
  // A chunk takes one unit of time. The rest is taken to have as many without
  // bytes as those that came.
  const auto packets = static_cast<int64_t>(sent_ - 1);
  if (ticks <= packets || frame_count_ > INT64_MAX) return frame_count_;
  const __int128 promised = __int128{packets} * frame_count_;
  return static_cast<uint64_t>((promised + ticks / 2) / ticks);
}

std::optional<PacketGap> PacketGaps::LostAtEnd(int64_t end,
                                               uint64_t listed) const {
  uint64_t packets = PacketsIn(end_byte_, end);
  const Pace pace = PaceOf();
  int64_t hole = 0;
  if (listed > 0) {
    packets = listed;
  } else if (from_beginning_ && frame_count_ > 0) {
    const uint64_t promised = PromisedPackets();
    if (promised <= sent_ + told_) return std::nullopt;
    packets = promised - sent_ - told_;
  } else if (edge_ && promised_end_ != BULKHEAD_NO_TIMESTAMP &&
             pace.ticks > 0) {
    if (__builtin_sub_overflow(promised_end_, *edge_, &hole)) {
      return std::nullopt;
    }
    packets = pace.Packets(hole) + SkippedAtEnd(pace);
    if (packets == 0) return std::nullopt;
  }
  return GapAtEnd(end, packets);
}

std::optional<PacketGap> PacketGaps::UncountedAtEnd(
    int64_t end, DeclaredFrames declared) const {
  if (!from_beginning_ || declared.frames <= sent_ || sent_ == 0) {
    return std::nullopt;
  }
  uint64_t missing = declared.frames - sent_;
  const Pace pace = PaceOf();
  if (declared.may_be_time && pace.ticks < INT64_MAX / 4) {
    // Programs that do not know how long the last packet lasts take the mean.
    const auto count = static_cast<int64_t>(pace.packets);
    const int64_t mean = pace.ticks / count;
    const int64_t hole =
        static_cast<int64_t>(declared.frames) - pace.ticks - mean;
    // Otherwise the last one may have been longer than any other.
    const bool is_constant = longest_step_ <= mean + 1;
    const int64_t least = is_constant ? mean / 2 : 4 * longest_step_;
    // A time that ends before the last packet begins is a number.
    if (hole > -2 * mean && hole <= least) return std::nullopt;
    if (hole > 0) missing = std::min(missing, pace.Packets(hole));
    if (missing == 0) return std::nullopt;
  }
  PacketGap gap = GapAtEnd(end, missing);
  gap.declared = sent_ + gap.packets;
  return gap;
}

PacketGap PacketGaps::GapAtEnd(int64_t end, uint64_t packets) const {
  PacketGap gap{.pts = edge_.value_or(BULKHEAD_NO_TIMESTAMP),
                .first_byte = end_byte_,
                .end_byte = end,
                .packets = std::clamp<uint64_t>(packets, 1, kMostPackets)};
  const int64_t frame = FrameDuration(0);
  if (edge_ && frame > 0 &&
      __builtin_mul_overflow(static_cast<int64_t>(gap.packets), frame,
                             &gap.duration)) {
    gap.duration = 0;
  }
  return gap;
}

}  // namespace bulkhead::worker
