// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::audio {

// Remembers which packet of an audio stream yielded which samples, from the
// first packet on, so that a later visit to a sample can begin at its packet.
// Bounded: holds the first million packets. A value type.
class PacketTable {
 public:
  struct Packet {
    int64_t pts;
    int64_t position;  // byte offset in the file
    size_t bytes;
    int64_t first_sample;  // the number of its first sample, after `silence`
    uint32_t samples;
    bool rejected;    // the decoder rejected the packet, or a part of it
    int64_t silence;  // samples of silence before it, in place of lost ones

    // Returns whether `read` is this packet.
    bool Is(const bulkhead_packet& read) const;
  };
  // The packets to decode in order to reach a sample: first `preroll` packets,
  // which only bring the decoder into the right state, then packet `target`,
  // which contains the sample. A sample after the table's end has the last
  // packet as its target: decoding goes on from there.
  struct Way {
    size_t target;
    size_t preroll;
    size_t start() const { return target - preroll; }
  };

  // Adds the next packet, unless the table is full.
  void Add(const Packet& packet);
  size_t size() const { return packets_.size(); }
  bool is_full() const;
  const Packet& operator[](size_t number) const { return packets_[number]; }

  // Returns the way to a sample for a decoder that needs `preroll` packets
  // (audio_preroll.h). The way begins at the first packet of the stream if
  // `preroll` is nullopt, or if a packet after the way's start was rejected.
  Way WayTo(int64_t sample, std::optional<int> preroll) const;

 private:
  std::vector<Packet> packets_;
};

}  // namespace bulkhead::worker::audio
