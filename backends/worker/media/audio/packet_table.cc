// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/packet_table.h"

#include <algorithm>

namespace bulkhead::worker::audio {
namespace {

// Limits the table to 48 MiB, enough for five hours of MP3. Later samples are
// reached by decoding onward from the last packet of the table.
constexpr size_t kMostPackets = size_t{1} << 20;

}  // namespace

bool PacketTable::Packet::Is(const bulkhead_packet& read) const {
  return read.pts == pts && read.position == position && read.bytes == bytes;
}

void PacketTable::Add(const Packet& packet) {
  if (!is_full()) packets_.push_back(packet);
}

bool PacketTable::is_full() const { return packets_.size() >= kMostPackets; }

PacketTable::Way PacketTable::WayTo(int64_t sample,
                                    std::optional<int> preroll) const {
  const auto after = std::upper_bound(
      packets_.begin(), packets_.end(), sample,
      [](int64_t value, const Packet& p) { return value < p.first_sample; });
  const size_t target =
      static_cast<size_t>(std::max<ptrdiff_t>(after - packets_.begin() - 1, 0));
  bool from_first = !preroll;
  // The result of decoding a damaged packet depends on all packets before it.
  for (size_t i = 0; !from_first && i < std::min<size_t>(*preroll, target);
       ++i) {
    from_first = packets_[target - i].rejected;
  }
  return {target, from_first ? target : std::min<size_t>(*preroll, target)};
}

}  // namespace bulkhead::worker::audio
