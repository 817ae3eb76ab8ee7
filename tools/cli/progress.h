// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace bulkhead::cli {

// A line on a terminal that says how far decoding has come; on anything else,
// or when not `shown`, nothing. Redrawn ten times a second at most, and removed
// in the end. Not thread-safe.
class Progress {
 public:
  Progress(bool shown, std::optional<uint64_t> total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void set_total(uint64_t total) { total_ = total; }
  void Advance();

  uint64_t done() const { return done_; }
  double seconds() const;

 private:
  void Draw();

  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  std::optional<uint64_t> total_;
  uint64_t done_ = 0;
  const bool shown_;
};

}  // namespace bulkhead::cli
