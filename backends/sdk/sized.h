// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace bulkhead::sdk {

// Copies one versioned struct of the C ABI. Whoever filled it may have been
// built against an older or a newer header than the reader; what it did not
// know of reads as zero here, and what the reader does not know is left out.
template <typename Struct>
Struct TakeSized(const Struct& source) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  static_assert(offsetof(Struct, size) == 0);
  uint32_t filled;
  std::memcpy(&filled, &source, sizeof(filled));
  Struct copy{};
  std::memcpy(&copy, &source, std::min<size_t>(filled, sizeof(Struct)));
  return copy;
}

}  // namespace bulkhead::sdk
