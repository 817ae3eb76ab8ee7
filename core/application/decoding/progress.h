// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace bulkhead::decoding {

// Gets the number of frames, or seconds of audio, that were decoded, and the
// number in all, if known. Called when decoding begins, when the number in all
// is known, and after each frame or piece of audio. May be empty.
using Progress =
    std::function<void(uint64_t done, std::optional<uint64_t> total)>;

// Counts what one job has decoded, reports it, and measures the time. Not
// thread-safe.
class ProgressCounter {
 public:
  // Starts to measure the time. `progress` must outlive the object.
  ProgressCounter(const Progress& progress, std::optional<uint64_t> total)
      : progress_(progress), total_(total) {
    Report();
  }

  void set_total(uint64_t total) {
    total_ = total;
    Report();
  }
  void Advance(uint64_t by = 1) {
    done_ += by;
    Report();
  }

  uint64_t done() const { return done_; }
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void Report() const {
    if (progress_) progress_(done_, total_);
  }

  const Progress& progress_;
  const Clock::time_point start_ = Clock::now();
  std::optional<uint64_t> total_;
  uint64_t done_ = 0;
};

}  // namespace bulkhead::decoding
