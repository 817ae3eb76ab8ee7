// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/transport_gaps.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace bulkhead::worker {
namespace {

constexpr int64_t kMostBytes = int64_t{4} << 20;
constexpr uint8_t kSync = 0x47;
constexpr size_t kPacket = 188;
constexpr uint16_t kNullPid = 0x1fff;

// Packets of 188 bytes have 0, 4 or 16 more around them.
struct Layout {
  size_t stride = 0;
  size_t offset = 0;
};

Layout LayoutOf(std::span<const uint8_t> bytes) {
  for (const Layout layout :
       {Layout{188, 0}, Layout{192, 0}, Layout{192, 4}, Layout{204, 0}}) {
    size_t found = 0;
    for (size_t at = layout.offset; at < bytes.size() && found < 3;
         at += layout.stride, ++found) {
      if (bytes[at] != kSync) break;
    }
    if (found == 3) return layout;
  }
  return {};
}

uint16_t PidOf(std::span<const uint8_t, kPacket> packet) {
  return static_cast<uint16_t>((packet[1] & 0x1f) << 8 | packet[2]);
}

bool BeginsPes(std::span<const uint8_t, kPacket> packet) {
  return (packet[1] & 0x40) != 0 && (packet[3] & 0x10) != 0;
}

// Returns whether the payload begins as a PES packet does.
bool HasPesHeader(std::span<const uint8_t, kPacket> packet) {
  const bool has_adaptation = (packet[3] & 0x20) != 0;
  const size_t at = has_adaptation ? size_t{5} + packet[4] : 4;
  return at + 4 <= kPacket && packet[at] == 0 && packet[at + 1] == 0 &&
         packet[at + 2] == 1;
}

// The continuity counters of all parts of the stream.
class Counters {
 public:
  // Returns true if a packet is missing before this one.
  bool IsGapBefore(std::span<const uint8_t, kPacket> packet) {
    const bool is_error = (packet[1] & 0x80) != 0;
    if (is_error) return true;
    const uint16_t pid = PidOf(packet);
    const bool has_payload = (packet[3] & 0x10) != 0;
    const bool has_adaptation = (packet[3] & 0x20) != 0;
    const bool is_meant =
        has_adaptation && packet[4] > 0 && (packet[5] & 0x80) != 0;
    if (pid == kNullPid || !has_payload) return false;
    const uint8_t counter = packet[3] & 0x0f;
    const auto [last, is_first] = last_.try_emplace(pid, counter);
    const uint8_t before = last->second;
    last->second = counter;
    // A packet may come twice.
    return !is_first && !is_meant && counter != before &&
           counter != ((before + 1) & 0x0f);
  }

 private:
  std::unordered_map<uint16_t, uint8_t> last_;
};

}  // namespace

bool HasTransportGap(MediaBytes file, int64_t from, int64_t read, int64_t to) {
  if (from < 0 || to <= from) return false;
  // One packet more, which the bytes must lead to.
  std::vector<uint8_t> buffer(static_cast<size_t>(
      std::min<int64_t>(to - from, kMostBytes) + 3 * int64_t{204}));
  size_t have = 0;
  while (have < buffer.size()) {
    const ssize_t got = file.ReadAt(from + static_cast<int64_t>(have),
                                    std::span(buffer).subspan(have));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  const std::span<const uint8_t> bytes(buffer.data(), have);
  const Layout layout = LayoutOf(bytes);
  if (layout.stride == 0) return have > 3 * size_t{204};
  Counters counters;
  std::optional<uint16_t> pid;
  for (size_t at = layout.offset; at < bytes.size(); at += layout.stride) {
    if (at > static_cast<size_t>(to - from) + layout.offset) break;
    if (bytes[at] != kSync) return true;
    // The start of a packet that is cut off (declared_size.h).
    if (at + kPacket > bytes.size()) break;
    const auto packet = bytes.subspan(at).first<kPacket>();
    if (counters.IsGapBefore(packet)) return true;
    const int64_t offset = from + static_cast<int64_t>(at - layout.offset);
    if (from > 0 && offset == from) pid = PidOf(packet);
    if (pid != PidOf(packet) || !BeginsPes(packet)) continue;
    if (!HasPesHeader(packet) || (offset > read && offset < to)) return true;
  }
  return false;
}

}  // namespace bulkhead::worker
