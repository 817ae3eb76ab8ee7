// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "backends/worker/media/demux/media_bytes.h"

namespace bulkhead::worker {

// Serves the bytes of a file from memory, for tests.
class MemoryBytes final : public demux::ByteServer {
 public:
  explicit MemoryBytes(std::string bytes) : bytes_(std::move(bytes)) {}

  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) override {
    if (offset < 0 || offset >= static_cast<int64_t>(bytes_.size())) return 0;
    const auto from = static_cast<size_t>(offset);
    const size_t count = std::min(out.size(), bytes_.size() - from);
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(from), count,
                out.begin());
    return static_cast<ssize_t>(count);
  }
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }

 private:
  const std::string bytes_;
};

}  // namespace bulkhead::worker
