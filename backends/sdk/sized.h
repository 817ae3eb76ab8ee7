// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace bulkhead::sdk {

// Copies one versioned struct of the C ABI. The other side may have been built
// with an older or a newer header. Fields that the other side does not know are
// zero in the copy; fields that the caller does not know are left out.
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
