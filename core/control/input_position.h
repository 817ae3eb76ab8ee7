// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "core/include/bulkhead/exit_report.h"

namespace bulkhead {

// A position of a session in its input. Deaths of workers are counted for a
// position.
struct InputPosition {
  enum class Step : uint8_t { kOpening, kScanning, kFrame };
  Step step = Step::kOpening;
  uint64_t frame = 0;  // For kFrame: the frame or sample that the caller wants.

  auto operator<=>(const InputPosition&) const = default;
};

// A position at which an input has killed workers.
struct PoisonedPosition {
  InputPosition position;
  uint32_t deaths = 0;
  ExitReport last;  // The end of the latest of these workers.
};

}  // namespace bulkhead
