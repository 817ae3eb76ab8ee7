// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::ipc {

// The version of the protocol in FORMAT.md. Both sides of a connection come
// from the same installation. The version detects a mixture of two
// installations: a side refuses a peer that sends another version.
inline constexpr uint32_t kProtocolVersion = 8;

}  // namespace bulkhead::ipc
