// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Where in its input a session is: what a worker's death is counted for.
struct InputPosition {
  enum class Step : uint8_t { kOpening, kScanning, kFrame };
  Step step = Step::kOpening;
  uint64_t frame = 0;  // of kFrame: the one that the caller waits for

  auto operator<=>(const InputPosition&) const = default;
};

// Where an input has killed workers.
struct PoisonedPosition {
  InputPosition position;
  uint32_t deaths = 0;
  ExitReport last;  // how the last of them ended
};

}  // namespace bulkhead
