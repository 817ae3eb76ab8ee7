// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::ipc {

// What FORMAT.md describes. The two sides of a connection are always of one
// installation; the number catches a mixture of two, which is refused.
inline constexpr uint32_t kProtocolVersion = 1;

}  // namespace bulkhead::ipc
