// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ipc/damage_sign.h"
#include "ipc/index_entry.h"

namespace bulkhead::ipc {

// The damage of a stream, which a worker reports and the host keeps. It travels
// as UnseenFrame and LostSamples in schema/session.capnp. The worker may be
// hostile, so the host validates every member.

// Damaged frames that are not delivered. If `sign` is a note, the packet that
// the note is about. Timestamps are in the stream's time base.
struct Loss {
  int64_t pts = kNoTimestamp;  // kNoTimestamp: unknown
  int64_t duration = 0;        // 0: unknown
  // The byte offset of the packet in the file. If the packets themselves are
  // not known, the offset at which the bytes that hold them begin. -1: unknown.
  int64_t position = -1;
  // The number of packets: an estimate if not_in_index; 0 on the host for a
  // note.
  uint64_t packets = 1;
  DamageSign sign = DamageSign::kNoPicture;
  // True if the packets are missing at the end of the file. The index does not
  // have them then, and their frames have no numbers.
  bool not_in_index = false;
  // The offset at which the bytes that hold the packets end, if the packets are
  // not known or not in the index; -1: unknown.
  int64_t end_position = -1;
  // If the file is cut off, the size in bytes that its header states; -1:
  // unknown.
  int64_t declared_size = -1;
};

// Consecutive samples of a stream that cannot be decoded. If `sign` is a note,
// the sample before which the note applies.
struct LostSamples {
  int64_t first = 0;  // the number of the first lost sample, 0 or more
  int64_t count = 0;  // 0 for a note; first + count does not overflow
  DamageSign sign = DamageSign::kUnknown;
  // The offsets in the file of the first and the last damaged packet; -1 if
  // unknown.
  int64_t first_byte = -1;
  int64_t last_byte = -1;
  // The latest sentence of the backend about damage or, with kStopped,
  // libavformat's error message. May be empty.
  std::string words = {};
  bool estimated = false;  // nothing in the file states `count` exactly
  // If the file is cut off: declared_size is the size in bytes that its headers
  // state or, if they state none, declared_samples is the number of samples
  // that they state. -1 in all other cases.
  int64_t declared_size = -1;
  int64_t declared_samples = -1;
};

}  // namespace bulkhead::ipc
