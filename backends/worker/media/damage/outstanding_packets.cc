// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/outstanding_packets.h"

#include <algorithm>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

// The most packets that wait for their pictures. A decoder holds back some tens
// of packets. If so many wait, hardly anything is being decoded, and losses are
// only counted.
constexpr size_t kMostWaiting = 1 << 12;
constexpr size_t kMostRemembered = 1 << 12;

}  // namespace

void OutstandingPackets::Restart(int64_t entry) {
  waiting_.clear();
  earlier_.clear();
  entry_ = entry;
  shown_ = INT64_MIN;
  lossy_ = false;
  timed_ = true;
  uncounted_ = 0;
  first_position_ = -1;
  last_position_ = -1;
}

void OutstandingPackets::OnlyCount() {
  if (!timed_) return;
  timed_ = false;
  for (const auto& [pts, packet] : waiting_) Note(packet.position);
  uncounted_ = static_cast<int64_t>(waiting_.size());
  waiting_.clear();
}

void OutstandingPackets::Sent(int64_t pts, int64_t duration, int64_t position) {
  // Leading pictures of the packet at which decoding began do not count.
  if (timed_ && pts != BULKHEAD_NO_TIMESTAMP && pts < entry_) return;
  if (pts == BULKHEAD_NO_TIMESTAMP || waiting_.count(pts) > 0 ||
      waiting_.size() == kMostWaiting) {
    OnlyCount();
  }
  if (timed_) {
    waiting_.emplace(pts, Packet{duration, position});
  } else {
    if (uncounted_ == 0) first_position_ = -1;
    ++uncounted_;
    Note(position);
  }
}

void OutstandingPackets::Dropped(int64_t pts) {
  if (!timed_) {
    --uncounted_;
  } else if (waiting_.erase(pts) > 0) {
    Remember(pts, Origin::kDiscarded);
  }
}

void OutstandingPackets::Note(int64_t position) {
  if (position < 0) return;
  first_position_ =
      first_position_ < 0 ? position : std::min(first_position_, position);
  last_position_ = std::max(last_position_, position);
}

void OutstandingPackets::SentWithout(int64_t pts, bool discarded) {
  if (pts == BULKHEAD_NO_TIMESTAMP) return;
  Remember(pts, discarded ? Origin::kDiscarded : Origin::kPacket);
}

void OutstandingPackets::Remember(int64_t pts, Origin origin) {
  // If a discarded and a shown packet have the same time, it counts as shown.
  const auto [at, added] = earlier_.try_emplace(pts, origin);
  if (at->second == Origin::kDiscarded) at->second = origin;
  if (added && earlier_.size() > kMostRemembered) {
    earlier_.erase(earlier_.begin());
  }
}

OutstandingPackets::Origin OutstandingPackets::OriginOf(int64_t pts) const {
  const auto earlier = earlier_.find(pts);
  if (earlier != earlier_.end()) return earlier->second;
  const bool forgotten = pts != BULKHEAD_NO_TIMESTAMP &&
                         earlier_.size() == kMostRemembered &&
                         pts < earlier_.begin()->first;
  return forgotten ? Origin::kPacket : Origin::kNone;
}

OutstandingPackets::Picture OutstandingPackets::Shown(int64_t pts) {
  // Decoders exchange timestamps that contradict the order of the pictures. So
  // a picture that is awaited may have the timestamp of a discarded one.
  const bool waits = timed_ ? waiting_.count(pts) > 0 : uncounted_ > 0;
  if (!waits && OriginOf(pts) == Origin::kDiscarded) {
    return {.origin = Origin::kDiscarded};
  }
  if (timed_ && pts != BULKHEAD_NO_TIMESTAMP && pts < entry_) return {};
  // After damage a decoder guesses timestamps. If it goes back in time, the
  // packet with the guessed timestamp was lost or already shown.
  if (timed_ && lossy_ && pts != BULKHEAD_NO_TIMESTAMP && pts <= shown_) {
    return {.origin = IsLost(pts) ? Origin::kLost : Origin::kTooLate};
  }
  Picture picture;
  if (timed_ && !waits) {
    picture.origin = OriginOf(pts);
    if (picture.origin == Origin::kTooLate) return picture;
    OnlyCount();
  }
  if (!timed_) {
    --uncounted_;
    return picture;
  }
  // Packets with earlier timestamps that still wait are lost.
  auto packet = waiting_.begin();
  for (; packet->first != pts; packet = waiting_.erase(packet)) {
    picture.losses.push_back(
        {packet->first, packet->second.duration, packet->second.position, 1});
    Remember(packet->first, Origin::kLost);
  }
  lossy_ = lossy_ || !picture.losses.empty();
  shown_ = pts;
  picture.position = packet->second.position;
  waiting_.erase(packet);
  Remember(pts, Origin::kTooLate);
  return picture;
}

std::vector<Loss> OutstandingPackets::Ended() {
  std::vector<Loss> losses;
  for (const auto& [pts, packet] : waiting_) {
    losses.push_back({pts, packet.duration, packet.position, 1});
  }
  waiting_.clear();
  if (uncounted_ > 0) {
    losses.push_back(
        {.pts = BULKHEAD_NO_TIMESTAMP,
         .duration = 0,
         .position = first_position_,
         .packets = static_cast<uint64_t>(uncounted_),
         .end_position = first_position_ < 0 ? -1 : last_position_ + 1});
  }
  uncounted_ = 0;
  return losses;
}

}  // namespace bulkhead::worker::damage
