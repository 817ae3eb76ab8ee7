// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bulkhead/frame.h"

namespace bulkhead::tests {

// Returns the MD5 of a picture as packed RGB24, in hexadecimal. FFmpeg's
// framemd5 prints the same hash.
std::string HashOf(const Frame& frame);
std::string HashOf(std::span<const std::byte> packed);

}  // namespace bulkhead::tests
