// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/operators/fit.h"

namespace bulkhead::cli::top {
namespace {

// The widths of the columns. All but the mark and the state have a space before
// them.
constexpr int kMark = 2;
constexpr int kState = 11;
constexpr int kPid = 7;
constexpr int kRate = 8;
constexpr int kBar = 10;
constexpr int kRestarts = 4;
// The columns that every layout has, without the text of WHAT.
constexpr int kAlways = kMark + kState + 1 + kPid + 1 + 1 + kRate;
// The smallest widths of the terminal with restarts and causes, and with bars.
constexpr int kWithCauses = 56;
constexpr int kWithBars = 76;
constexpr int kNarrowestWhat = 12;
constexpr int kWidestWhat = 40;
constexpr int kUncutCause = 65'536;

std::string BarOf(double part, int columns) {
  const int inside = columns - 2;
  const auto filled = static_cast<int>(std::lround(part * inside));
  return "[" + std::string(static_cast<size_t>(filled), '#') +
         std::string(static_cast<size_t>(inside - filled), '-') + "]";
}

}  // namespace

Layout::Layout(int columns) {
  bar_ = columns >= kWithBars ? kBar : 0;
  restarts_ = columns >= kWithCauses;
  int left = columns - kAlways;
  if (bar_ > 0) left -= bar_ + 1;
  if (!restarts_) {
    what_ = left;
    return;
  }
  left -= kRestarts + 1;
  what_ = std::clamp(left * 2 / 5, kNarrowestWhat, kWidestWhat);
  cause_ = left - what_ - 1;
}

Layout Layout::Uncut() { return Layout(kWidestWhat, kBar, true, kUncutCause); }

std::string Layout::Join(const std::string& mark, const std::string& state,
                         const std::string& pid, const std::string& what,
                         const std::string& rate, const std::string& bar,
                         const std::string& restarts,
                         const std::string& cause) const {
  std::string line =
      fmt::format("{}{} {:>{}} {} {:>{}}", mark, operators::Fit(state, kState),
                  pid, kPid, operators::Fit(what, what_), rate, kRate);
  if (bar_ > 0) line += fmt::format(" {:<{}}", bar, bar_);
  if (restarts_) line += fmt::format(" {:>{}}", restarts, kRestarts);
  if (cause_ > 0) line += " " + operators::Cut(cause, cause_);
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Layout::Heading() const {
  return Join("  ", "STATE", "PID", "WHAT", "FRAMES/S", "OF FASTEST", "LOST",
              "CAUSE OR INPUT");
}

std::string Layout::LineOf(const Row& row, bool selected) const {
  const auto& rate = row.frames_per_second;
  return Join(
      selected ? "> " : "  ", row.state,
      row.key.pid > 0 ? std::to_string(row.key.pid) : "-", row.what,
      rate ? operators::Cut(fmt::format("{:.1f}", *rate), kRate) : "-",
      row.bar ? BarOf(*row.bar, kBar) : "",
      row.restarts > 0 ? std::to_string(std::min(row.restarts, 9'999u)) : "",
      row.cause);
}

}  // namespace bulkhead::cli::top
