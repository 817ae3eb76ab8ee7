// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/source.h>

#include <cstdint>
#include <string>

namespace bulkhead::cli::decode {

// The largest amount of data that is read from a pipe into memory.
inline constexpr uint64_t kMaxPipedBytes = uint64_t{4} << 30;

// Returns the source for a FILE argument: a path, or "-" for stdin. If stdin is
// a pipe, reads it to its end into memory, because decoding needs to seek. So a
// pipe can be opened only once. Returns kResourceExhausted if the pipe has more
// than `max_piped_bytes`.
Result<Source> OpenInput(const std::string& file,
                         uint64_t max_piped_bytes = kMaxPipedBytes);

}  // namespace bulkhead::cli::decode
