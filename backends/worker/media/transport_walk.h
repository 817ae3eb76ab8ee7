// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Walks the packets of an MPEG transport stream. Bytes of a stream are lost
// where the continuity counter of its packets leaves out a number without the
// sign that this is meant, where one of its packets is marked as damaged, where
// one of its packets, or of a table, does not lead to another one, and where so
// many bytes are no packets that the counter could have come round. Files that
// were joined lose nothing: there the table of programs and then the stream
// count from 0, with the beginning of a table and of a packet. Padding at the
// end of the file (end_padding.h) is no loss.
//
// Sixteen lost packets leave the stream's counter as it was. Whoever knows that
// the timestamps jump asks is_suspicious() too.
class TransportWalk final : public ContainerWalk {
 public:
  // `pid` is the number of the stream's packets.
  TransportWalk(FileWindow file, int pid) : file_(std::move(file)), pid_(pid) {}

  // `position` is that of the transport packet in which the packet begins.
  bool LostUntil(int64_t position) override;
  bool DoubtsStart(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

  // Goes from the start of the file to the first packet of the stream. A
  // recording may begin within a packet of the transport stream, and with a
  // part of a packet of the stream.
  bool LostUntilFirst(int64_t position);
  // Returns whether, in the bytes that the last call went over, another
  // stream's counter leaves out a number, any packet is damaged, bytes are no
  // packet, or a packet of the stream begins that libavformat has not returned.
  bool is_suspicious() const { return is_suspicious_; }
  // Returns whether the next packets of other streams show that bytes between
  // them and those before are lost. Their tables come a few times a second.
  bool IsSuspiciousBehind();

 private:
  bool Walk(int64_t end);

  // Returns true if a packet of the stream is lost before this one.
  // `is_wanted`: it is the one that libavformat has returned.
  bool Take(std::span<const uint8_t> packet, bool is_wanted);
  // Returns whether bytes were taken out of the packet before `broken`, or put
  // into it, unless it is one of another stream.
  bool IsSpliced(int64_t broken);
  bool IsPadding(int64_t offset);
  bool IsGapInOther(std::span<const uint8_t> packet) const;
  void DoubtOthers();
  // Returns whether packets begin at `offset`, one behind the other.
  bool IsInStep(int64_t offset);
  void LearnLayout(int64_t position);

  FileWindow file_;
  int pid_;
  int64_t stride_ = 0;  // from packet to packet; 0: unknown
  int64_t next_ = -1;   // the offset of the next packet; -1: unknown
  std::optional<uint8_t> counter_;
  // The last packet of the table of programs, since the last one of the stream,
  // is as the first of a file.
  bool begins_file_ = false;
  // A packet of the stream was returned. Before the first one, others may begin
  // before the table of programs tells what they are.
  bool has_read_ = false;
  bool is_suspicious_ = false;
  int looks_behind_ = 0;
  std::optional<int64_t> padding_start_;     // once it was looked for
  std::unordered_map<int, uint8_t> others_;  // their counters
  std::bitset<1 << 13> streams_;  // the numbers of the others, without tables
};

}  // namespace bulkhead::worker
