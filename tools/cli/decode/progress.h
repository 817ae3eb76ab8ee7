// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bulkhead::cli::decode {

// A progress bar on stderr for one file, in frames or another `unit`. On a
// terminal the bar is one line, which is redrawn at most ten times a second and
// erased by the destructor. If stderr is no terminal, Shown::kAlways prints a
// new line every second and a last line in the destructor. Not thread-safe.
class Progress {
 public:
  enum class Shown { kNever, kOnTerminals, kAlways };

  // `total` is the expected number of units; nullopt if unknown.
  Progress(std::string name, Shown shown, std::optional<uint64_t> total,
           const char* unit = "frames");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void set_total(uint64_t total) { total_ = total; }
  // Counts `by` more units. Redraws the bar if the last drawing is old enough.
  void Advance(uint64_t by = 1);

  uint64_t done() const { return done_; }
  double seconds() const;

 private:
  void Draw();

  const std::string name_;
  const char* const unit_;
  const bool on_terminal_;
  const bool shown_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  std::optional<uint64_t> total_;
  uint64_t done_ = 0;
};

// Returns the line "clip.mp4 [#########...............] 45/120 frames (37%),
// 300 frames/s". Omits the bar if the total is unknown or smaller than `done`:
// a total from a file's header may be too small.
std::string ProgressLine(const std::string& name, uint64_t done,
                         std::optional<uint64_t> total, double seconds,
                         const char* unit = "frames");

}  // namespace bulkhead::cli::decode
