// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/outstanding_packets.h"

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {
namespace {

// A decoder holds back some tens of packets at most. If more are outstanding,
// hardly anything is being decoded, and the losses are only counted.
constexpr size_t kMostWaiting = 1 << 12;

}  // namespace

void OutstandingPackets::Restart(int64_t entry) {
  waiting_.clear();
  entry_ = entry;
  timed_ = true;
  uncounted_ = 0;
}

void OutstandingPackets::OnlyCount() {
  if (!timed_) return;
  timed_ = false;
  uncounted_ = static_cast<int64_t>(waiting_.size());
  waiting_.clear();
}

void OutstandingPackets::Sent(int64_t pts, int64_t duration, int64_t position) {
  if (timed_ && pts != BULKHEAD_NO_TIMESTAMP && pts < entry_) return;
  if (pts == BULKHEAD_NO_TIMESTAMP || waiting_.count(pts) > 0 ||
      waiting_.size() == kMostWaiting) {
    OnlyCount();
  }
  if (timed_) {
    waiting_.emplace(pts, Packet{duration, position});
  } else {
    ++uncounted_;
  }
}

std::vector<Loss> OutstandingPackets::Shown(int64_t pts, int64_t* position) {
  *position = -1;
  if (timed_ && pts != BULKHEAD_NO_TIMESTAMP && pts < entry_) return {};
  if (timed_ && waiting_.count(pts) == 0) OnlyCount();
  if (!timed_) {
    --uncounted_;
    return {};
  }
  std::vector<Loss> losses;
  auto packet = waiting_.begin();
  for (; packet->first != pts; packet = waiting_.erase(packet)) {
    losses.push_back(
        {packet->first, packet->second.duration, packet->second.position, 1});
  }
  *position = packet->second.position;
  waiting_.erase(packet);
  return losses;
}

std::vector<Loss> OutstandingPackets::Ended() {
  std::vector<Loss> losses;
  for (const auto& [pts, packet] : waiting_) {
    losses.push_back({pts, packet.duration, packet.position, 1});
  }
  waiting_.clear();
  if (uncounted_ > 0) {
    losses.push_back(
        {BULKHEAD_NO_TIMESTAMP, 0, -1, static_cast<uint64_t>(uncounted_)});
  }
  uncounted_ = 0;
  return losses;
}

}  // namespace bulkhead::worker
