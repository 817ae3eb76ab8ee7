// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bulkhead::cli {

// A progress bar on stderr for one file, in frames or another `unit`. On a
// terminal it is one line, redrawn at most ten times a second and erased by the
// destructor. Elsewhere, with Shown::kAlways, it is a new line every second and
// a last one from the destructor. Not thread-safe.
class Progress {
 public:
  enum class Shown { kNever, kOnTerminals, kAlways };

  Progress(std::string name, Shown shown, std::optional<uint64_t> total,
           const char* unit = "frames");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void set_total(uint64_t total) { total_ = total; }
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

// Returns "clip.mp4 [#########...............] 45/120 frames (37%), 300
// frames/s". Omits the bar if the total is unknown or smaller than `done`: a
// header may promise fewer frames than the stream has.
std::string ProgressLine(const std::string& name, uint64_t done,
                         std::optional<uint64_t> total, double seconds,
                         const char* unit = "frames");

}  // namespace bulkhead::cli
