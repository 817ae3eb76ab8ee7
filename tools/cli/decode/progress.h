// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bulkhead::cli::decode {

// A line on stderr that shows progress. On a terminal it is redrawn at most ten
// times a second. If stderr is no terminal, Shown::kAlways prints a new line
// every second. Not thread-safe.
class StatusLine {
 public:
  enum class Shown { kNever, kOnTerminals, kAlways };

  explicit StatusLine(Shown shown);

  // Shows the line that `text` returns if the last drawing is old enough.
  void Draw(const std::function<std::string()>& text);
  // Erases the line from a terminal, for another line in its place.
  void Erase() const;
  // Erases the line from a terminal. Elsewhere prints it a last time.
  void Finish(const std::function<std::string()>& text) const;

 private:
  const bool on_terminal_;
  const bool shown_;
  std::chrono::steady_clock::time_point drawn_;
};

// A progress bar on stderr for one file, in frames or another `unit`: a
// StatusLine, which the destructor finishes. Not thread-safe.
class Progress {
 public:
  using Shown = StatusLine::Shown;

  Progress(std::string name, Shown shown, const char* unit = "frames");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Sets the numbers of units, `total` if it is known. Redraws the bar if the
  // last drawing is old enough.
  void Show(uint64_t done, std::optional<uint64_t> total);

 private:
  std::string Text() const;

  const std::string name_;
  const char* const unit_;
  const std::chrono::steady_clock::time_point start_;
  StatusLine line_;
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
