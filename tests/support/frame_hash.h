// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bulkhead/frame.h"

namespace bulkhead::tests {

// MD5 of a picture as packed RGB24, in hexadecimal: what FFmpeg's framemd5
// says of it.
std::string HashOf(const Frame& frame);
std::string HashOf(std::span<const std::byte> packed);

}  // namespace bulkhead::tests
