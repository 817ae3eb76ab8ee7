// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/source.h>

#include <cstdint>
#include <string>

namespace bulkhead::cli {

// A pipe with more is refused: it is held in memory.
inline constexpr uint64_t kMaxPipedBytes = uint64_t{4} << 30;

// What a FILE on the command line stands for: a path, or stdin under the name
// "-". What is piped is read to its end into memory, since decoding takes
// seeking; it can be read once. kResourceExhausted beyond `max_piped_bytes`.
Result<Source> OpenInput(const std::string& file,
                         uint64_t max_piped_bytes = kMaxPipedBytes);

}  // namespace bulkhead::cli
