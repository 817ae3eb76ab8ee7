// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/source.h>

#include <cstdint>
#include <string>

namespace bulkhead::cli {

// The most bytes read from a pipe, which are held in memory.
inline constexpr uint64_t kMaxPipedBytes = uint64_t{4} << 30;

// Returns the source for a FILE argument: a path, or "-" for stdin. A pipe on
// stdin is read to its end into memory, because decoding seeks; it can be read
// only once. Returns kResourceExhausted if it has more than `max_piped_bytes`.
Result<Source> OpenInput(const std::string& file,
                         uint64_t max_piped_bytes = kMaxPipedBytes);

}  // namespace bulkhead::cli
