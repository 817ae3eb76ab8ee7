// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedraw{100};
// Carriage return, then erase to the end of the line.
constexpr char kStartOfLine[] = "\r\x1b[K";

}  // namespace

Progress::Progress(bool shown, std::optional<uint64_t> total)
    : start_(Clock::now()),
      drawn_(start_),
      total_(total),
      shown_(shown && StderrIsTerminal()) {}

Progress::~Progress() {
  if (shown_) std::fputs(kStartOfLine, stderr);
}

void Progress::Advance() {
  ++done_;
  const Clock::time_point now = Clock::now();
  if (!shown_ || now - drawn_ < kRedraw) return;
  drawn_ = now;
  Draw();
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::Draw() {
  const double per_second = static_cast<double>(done_) / seconds();
  std::string line = kStartOfLine;
  // A header may promise fewer frames than there are.
  if (total_ && *total_ >= done_ && *total_ > 0) {
    line += fmt::format("{}/{} frames ({}%), {:.0f} frames/s", done_, *total_,
                        done_ * 100 / *total_, per_second);
  } else {
    line += fmt::format("{} frames, {:.0f} frames/s", done_, per_second);
  }
  std::fputs(line.c_str(), stderr);
}

}  // namespace bulkhead::cli
