// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/reference_chain.h"

#include <algorithm>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

constexpr size_t kMostRemembered = 1 << 12;

// The most pictures by which decoding and display order may differ, since a
// decoder's picture buffer has room for 16.
constexpr uint64_t kMostReordered = 16;

}  // namespace

void ReferenceChain::Restart() {
  packets_.clear();
  first_ = 0;
  sequences_ = {{.first = 0,
                 .pts = BULKHEAD_NO_TIMESTAMP,
                 .closed = false,
                 .has_keyframe = false,
                 .refreshed_from = 0}};
  doubtful_ = 0;
  refresh_began_ = 0;
  refresh_left_ = 0;
  shown_end_ = 0;
  latest_pts_ = BULKHEAD_NO_TIMESTAMP;
  last_is_field_ = false;
  timed_ = true;
  broken_ = false;
  broken_from_ = 0;
  accounted_ = 0;
}

void ReferenceChain::Sent(const PacketRole& role, int64_t pts, bool shows) {
  last_is_field_ = role.second_field && !packets_.empty();
  if (last_is_field_) {
    packets_.back().referred =
        packets_.back().referred || role.referred || !role.b_picture;
    return;
  }
  const uint64_t number = end();
  // The last reference picture of a gradual refresh is an entry, too.
  bool is_entry = role.entry;
  uint64_t refreshed_from = number;
  if (!is_entry && refresh_left_ > 0) {
    if (role.referred && !role.disposable && --refresh_left_ == 0) {
      is_entry = true;
      refreshed_from = refresh_began_;
    }
  } else if (!is_entry && role.refresh > 0) {
    refresh_began_ = number;
    refresh_left_ = role.refresh;
  }
  if (is_entry) {
    refresh_left_ = 0;
    sequences_.push_back({.first = number,
                          .pts = pts,
                          .closed = role.closed,
                          .has_keyframe = true,
                          .refreshed_from = refreshed_from});
  }
  Sequence& sequence = sequences_.back();
  sequence.has_keyframe = sequence.has_keyframe || role.keyframe;
  const bool leading =
      !is_entry && !sequence.closed && pts != BULKHEAD_NO_TIMESTAMP &&
      sequence.pts != BULKHEAD_NO_TIMESTAMP && pts < sequence.pts;
  const bool shown_early = pts != BULKHEAD_NO_TIMESTAMP && pts < latest_pts_;
  latest_pts_ = is_entry ? pts : std::max(latest_pts_, pts);
  // `referred` matters only for damaged packets, whose headers may have been
  // overwritten. So headers that say "a B-picture that nothing refers to" are
  // believed only if the container's timestamp agrees.
  const bool referred =
      is_entry ||
      (!role.disposable && (role.referred || !role.b_picture || !shown_early));
  packets_.push_back({.pts = pts,
                      .shows = shows,
                      .referred = referred,
                      .leading = leading,
                      .alone = role.alone,
                      .keyframe = is_entry || role.keyframe,
                      .waits = shows});
  Forget();
}

void ReferenceChain::Forget() {
  for (; packets_.size() > kMostRemembered; ++first_) packets_.pop_front();
  // Keeps one sequence more than the one of the first packet, since pictures
  // that lead the first packet's entry refer to the sequence before.
  while (sequences_.size() > 2 && sequences_[2].first <= first_) {
    sequences_.pop_front();
  }
}

void ReferenceChain::Cut() {
  if (packets_.empty()) return;
  broken_ = true;
  broken_from_ = end();
  packets_.back().cut = true;
  Break(end() - 1);
}

void ReferenceChain::Rejected() {
  ++accounted_;
  broken_ = true;
  broken_from_ = end();
  Doubt();
  if (last_is_field_) Cut();
  // Packets without a shown picture that may have caused the error count as
  // damaged, since no picture will come out to show that they are intact.
  for (uint64_t number = end(); number > std::max(first_, shown_end_);) {
    Packet& packet = At(--number);
    if (packet.shows) continue;
    packet.cut = true;
    Break(number);
  }
}

void ReferenceChain::Lost(int64_t pts) {
  const uint64_t number = Find(pts);
  if (number == end() || !At(number).waits) return;
  At(number).waits = false;
  Break(number);
}

void ReferenceChain::Shown(int64_t pts, bool keyframe, bool damaged) {
  const uint64_t number = Find(pts);
  // broken_ is for pictures without timestamps. A keyframe that was sent after
  // the break ends it.
  if (keyframe && KeyframeOf(number) >= broken_from_) broken_ = false;
  ++accounted_;
  if (damaged) {
    broken_ = true;
    broken_from_ = end();
  }
  if (number == end()) return;
  At(number).waits = false;
  shown_end_ = std::max(shown_end_, number + 1);
  if (damaged) Break(number);
}

uint64_t ReferenceChain::KeyframeOf(uint64_t number) const {
  if (number != end() && At(number).keyframe) return number;
  // Without timestamps, counts pictures. Pictures that lead a keyframe are sent
  // after it and come out before it, hence + 1. If the decoder dropped
  // pictures, the result may be an earlier keyframe than the right one.
  for (number = std::min(accounted_ + 1, end()); number > first_;) {
    if (At(--number).keyframe) return number;
  }
  return 0;
}

void ReferenceChain::Break(uint64_t number) {
  const Packet& packet = At(number);
  const size_t at = SequenceOf(number);
  if (!packet.referred || !sequences_[at].has_keyframe) return;
  uint64_t& broken =
      packet.leading ? sequences_[at].leading_broken : sequences_[at].broken;
  broken = std::min(broken, number + 1);
  // A refresh that the break interrupts never makes an entry.
  if (refresh_began_ <= number) refresh_left_ = 0;
  for (size_t i = at + 1; i < sequences_.size();) {
    if (sequences_[i].refreshed_from > number) break;
    // The refresh that made this entry began before the break, so it is
    // incomplete, and the entry is merged with the sequence before.
    sequences_[i - 1].broken =
        std::min(sequences_[i - 1].broken, sequences_[i].broken);
    sequences_.erase(sequences_.begin() + static_cast<ptrdiff_t>(i));
  }
}

bool ReferenceChain::Settled(int64_t pts) const {
  if (!timed_) {
    // Once a damaged picture has come out, all pictures that wait are broken,
    // so there is nothing to wait for.
    return broken_ || doubtful_ == 0 ||
           accounted_ >= doubtful_ + kMostReordered;
  }
  const uint64_t number = Find(pts);
  if (number == end()) return true;
  // Asks about each earlier packet that an error may concern.
  for (uint64_t other = std::min(number, doubtful_); other > first_;) {
    --other;
    if (At(other).waits && DependsOn(number, other)) return false;
  }
  return true;
}

bool ReferenceChain::Broken(int64_t pts) const {
  if (!timed_) return broken_;
  const uint64_t number = Find(pts);
  if (number == end()) return false;
  const Packet& packet = At(number);
  const size_t at = SequenceOf(number);
  if (packet.cut || sequences_[at].broken <= number) return true;
  if (!packet.leading) return false;
  if (sequences_[at].leading_broken <= number) return true;
  if (packet.alone || at == 0) return false;
  // A leading picture may refer to the previous sequence, but not to pictures
  // that lead that sequence's entry, so only `broken` counts.
  return sequences_[at - 1].broken != UINT64_MAX;
}

uint64_t ReferenceChain::Find(int64_t pts) const {
  if (pts == BULKHEAD_NO_TIMESTAMP) return end();
  for (uint64_t number = end(); number > first_;) {
    if (At(--number).pts == pts) return number;
  }
  return end();
}

size_t ReferenceChain::SequenceOf(uint64_t number) const {
  const auto after = std::upper_bound(
      sequences_.begin(), sequences_.end(), number,
      [](uint64_t n, const Sequence& sequence) { return n < sequence.first; });
  return after == sequences_.begin()
             ? 0
             : static_cast<size_t>(after - sequences_.begin()) - 1;
}

bool ReferenceChain::DependsOn(uint64_t number, uint64_t other) const {
  if (!At(other).referred) return false;
  const size_t at = SequenceOf(number);
  const size_t from = SequenceOf(other);
  // Only leading pictures refer to leading pictures, and to the sequence before
  // their own.
  if (from == at) return At(number).leading || !At(other).leading;
  return from + 1 == at && At(number).leading && !At(number).alone &&
         !At(other).leading;
}

}  // namespace bulkhead::worker::damage
