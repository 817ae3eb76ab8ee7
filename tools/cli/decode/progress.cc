// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "tools/cli/terminal.h"

namespace bulkhead::cli::decode {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRedraw{100};
constexpr milliseconds kNextLine{1'000};
// A carriage return, and the escape sequence that erases the rest of the line.
constexpr char kStartOfLine[] = "\r\x1b[K";
constexpr size_t kBarWidth = 24;
// The longest name for which name, bar and numbers fit into 80 columns.
constexpr size_t kNameWidth = 20;

}  // namespace

std::string ProgressLine(const std::string& name, uint64_t done,
                         std::optional<uint64_t> total, double seconds,
                         const char* unit) {
  std::string line = name.size() > kNameWidth
                         ? "..." + name.substr(name.size() - kNameWidth + 3)
                         : name;
  if (total && *total >= done && *total > 0) {
    const size_t filled = done * kBarWidth / *total;
    line += fmt::format(" [{:#<{}}{:.<{}}] {}/{} {} ({}%)", "", filled, "",
                        kBarWidth - filled, done, *total, unit,
                        done * 100 / *total);
  } else {
    line += fmt::format(" {} {}", done, unit);
  }
  if (seconds > 0) {
    line +=
        fmt::format(", {:.0f} {}/s", static_cast<double>(done) / seconds, unit);
  }
  return line;
}

StatusLine::StatusLine(Shown shown)
    : on_terminal_(StderrIsTerminal()),
      shown_(shown == Shown::kAlways ||
             (shown == Shown::kOnTerminals && on_terminal_)),
      drawn_(Clock::now()) {}

void StatusLine::Draw(const std::function<std::string()>& text) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now - drawn_ < (on_terminal_ ? kRedraw : kNextLine)) return;
  drawn_ = now;
  if (on_terminal_) {
    std::fputs((kStartOfLine + Printable(text())).c_str(), stderr);
  } else {
    Say(text());
  }
}

void StatusLine::Erase() const {
  if (on_terminal_ && shown_) std::fputs(kStartOfLine, stderr);
}

void StatusLine::Finish(const std::function<std::string()>& text) const {
  Erase();
  if (shown_ && !on_terminal_) Say(text());
}

Progress::Progress(std::string name, Shown shown, const char* unit)
    : name_(std::move(name)), unit_(unit), start_(Clock::now()), line_(shown) {}

Progress::~Progress() {
  line_.Finish([this] { return Text(); });
}

void Progress::Show(uint64_t done, std::optional<uint64_t> total) {
  done_ = done;
  total_ = total;
  line_.Draw([this] { return Text(); });
}

std::string Progress::Text() const {
  const std::chrono::duration<double> time = Clock::now() - start_;
  return ProgressLine(name_, done_, total_, time.count(), unit_);
}

}  // namespace bulkhead::cli::decode
