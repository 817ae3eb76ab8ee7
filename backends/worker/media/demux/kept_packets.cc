// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/kept_packets.h"

extern "C" {
#include <libavcodec/packet.h>
}

namespace bulkhead::worker::demux {
namespace {

// Before its first picture a decoder takes one packet, one for each of up to 16
// pictures that it reorders, and one for each of its threads.
constexpr uint64_t kMost = 32;
constexpr size_t kMostBytes = 8 << 20;

}  // namespace

void KeptPackets::Free::operator()(AVPacket* packet) const {
  av_packet_free(&packet);
}

void KeptPackets::Keep(const AVPacket& packet) {
  if (!has_all_) return;
  bytes_ += static_cast<size_t>(packet.size);
  if (count_ < kMost && bytes_ <= kMostBytes) {
    packets_.emplace_back(av_packet_clone(&packet));
    if (packets_.back() != nullptr) {
      ++count_;
      return;
    }
  }
  GiveUp();
}

void KeptPackets::GiveUp() {
  has_all_ = false;
  packets_.clear();
}

bool KeptPackets::TakeNext(AVPacket* packet) {
  if (packets_.empty()) return false;
  av_packet_unref(packet);
  av_packet_move_ref(packet, packets_.front().get());
  packets_.pop_front();
  return true;
}

}  // namespace bulkhead::worker::demux
