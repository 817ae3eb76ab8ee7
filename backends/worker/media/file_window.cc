// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/file_window.h"

#include <algorithm>

namespace bulkhead::worker {
namespace {

constexpr size_t kLeastRead = 4096;

}  // namespace

std::span<const uint8_t> FileWindow::At(int64_t offset, size_t count) {
  if (offset < 0 || offset >= size_) return {};
  count = static_cast<size_t>(
      std::min<int64_t>(static_cast<int64_t>(count), size_ - offset));
  const auto have = static_cast<int64_t>(window_.size());
  if (offset < start_ || offset + static_cast<int64_t>(count) > start_ + have) {
    window_.resize(std::max(count, kLeastRead));
    start_ = offset;
    size_t got = 0;
    while (got < count) {
      const ssize_t read = bytes_.ReadAt(offset + static_cast<int64_t>(got),
                                         std::span(window_).subspan(got));
      if (read <= 0) break;
      got += static_cast<size_t>(read);
    }
    window_.resize(got);
  }
  const auto at = static_cast<size_t>(offset - start_);
  return std::span(window_).subspan(at, std::min(count, window_.size() - at));
}

}  // namespace bulkhead::worker
