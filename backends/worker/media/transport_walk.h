// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Walks the packets of an MPEG transport stream. Bytes of a stream are lost
// where the continuity counter of its packets leaves out a number without the
// sign that this is meant, where one of its packets is marked as damaged, and
// where so many bytes are no packets that the counter could have come round.
// Files that were joined lose nothing: there the table of programs and then the
// stream count from 0, with the beginning of a table and of a packet.
class TransportWalk final : public ContainerWalk {
 public:
  // `pid` is the number of the stream's packets.
  TransportWalk(FileWindow file, int pid) : file_(std::move(file)), pid_(pid) {}

  // `position` is that of the transport packet in which the packet begins.
  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

 private:
  bool Walk(int64_t end);
  // Returns true if a packet of the stream is lost before this one.
  bool Take(std::span<const uint8_t> packet);
  // Returns whether packets begin at `offset`, one behind the other.
  bool IsInStep(int64_t offset);
  void LearnLayout(int64_t position);

  FileWindow file_;
  const int pid_;
  int64_t stride_ = 0;  // from packet to packet; 0: unknown
  int64_t next_ = -1;   // the offset of the next packet; -1: unknown
  std::optional<uint8_t> counter_;
  // The last packet of the table of programs, since the last one of the stream,
  // is as the first of a file.
  bool begins_file_ = false;
};

}  // namespace bulkhead::worker
