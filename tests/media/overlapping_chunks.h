// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::tests {

// Writes a QuickTime file with at least `packets` packets, each a picture of
// two by two pixels, of which only the first is a keyframe. Every chunk of the
// file is the same few bytes, so that there are many times more packets than
// bytes. `shade` makes files with different bytes. Returns the number of
// packets.
uint32_t WriteOverlappingChunks(const std::string& path, uint32_t packets,
                                uint8_t shade);

}  // namespace bulkhead::tests
