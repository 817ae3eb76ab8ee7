// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ipc/damage_sign.h"

namespace bulkhead::worker {

// Consecutive samples of a stream that cannot be decoded, or with the sign of a
// note a place before which something was odd.
struct LostSamples {
  int64_t first = 0;  // the number of the first lost sample
  int64_t count = 0;  // 0 for a note
  ipc::DamageSign sign = ipc::DamageSign::kUnknown;
  // The offsets in the file of the first and the last damaged packet; -1 if
  // unknown.
  int64_t first_byte = -1;
  int64_t last_byte = -1;
  std::string complaint;   // the backend's last sentence about damage, or empty
  bool estimated = false;  // nothing in the file tells `count` exactly
  // Of a file that is cut off, what its headers tell: the size that it should
  // have, or else the number of samples; -1 otherwise.
  int64_t declared_size = -1;
  int64_t declared_samples = -1;
};

}  // namespace bulkhead::worker
