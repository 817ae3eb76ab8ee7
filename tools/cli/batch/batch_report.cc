// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/cli/terminal.h"

namespace bulkhead::cli::batch {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::milliseconds kNextLine{1'000};
// A carriage return, and the sequence that erases to the end of the line.
constexpr char kStartOfLine[] = "\r\x1b[K";

}  // namespace

BatchReport::BatchReport(uint64_t files, decode::Progress::Shown shown,
                         bool quiet)
    : on_terminal_(StderrIsTerminal()),
      shown_(shown == decode::Progress::Shown::kAlways ||
             (shown == decode::Progress::Shown::kOnTerminals && on_terminal_)),
      quiet_(quiet),
      summary_(files),
      drawn_(Clock::now()) {}

void BatchReport::CountEarlier(const bulkhead::batch::Record& record) {
  const std::lock_guard lock(mutex_);
  summary_.CountEarlier(record);
}

void BatchReport::CountResult(const bulkhead::batch::Verdict& verdict) {
  const std::lock_guard lock(mutex_);
  const std::string failure =
      summary_.CountResult(verdict.record, verdict.copy_of_poison);
  if (!failure.empty()) SayAbove("bulkhead: " + failure);
  Draw(false);
}

void BatchReport::CountLoss(const bulkhead::batch::Item& item,
                            const Status& status) {
  const std::lock_guard lock(mutex_);
  summary_.CountLoss(item, status);
  SayAbove("bulkhead: " + status.message());
  Draw(false);
}

void BatchReport::FinishProgress() {
  const std::lock_guard lock(mutex_);
  if (on_terminal_ && shown_) {
    std::fputs(kStartOfLine, stderr);
  } else {
    Draw(true);
  }
}

void BatchReport::SayAbove(const std::string& line) {
  if (on_terminal_ && shown_) std::fputs(kStartOfLine, stderr);
  Say(line);
}

void BatchReport::Draw(bool now) {
  const Clock::time_point time = Clock::now();
  if (!shown_) return;
  if (!now && time - drawn_ < (on_terminal_ ? kRedraw : kNextLine)) return;
  drawn_ = time;
  if (on_terminal_) {
    std::fputs((kStartOfLine + summary_.ProgressLine()).c_str(), stderr);
  } else {
    Say(summary_.ProgressLine());
  }
}

void BatchReport::SaySummary(bool ended) const {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  for (const std::string& line :
       summary_.Lines(ended ? ": an error has ended the run"
                            : "; the same command tries them again")) {
    Say(line);
  }
}

Json BatchReport::Facts(const BatchShard& shard) const {
  const std::lock_guard lock(mutex_);
  Json facts{{"shard", fmt::format("{}/{}", shard.number, shard.count)}};
  facts.update(summary_.Facts());
  return facts;
}

int BatchReport::exit_code() const {
  const std::lock_guard lock(mutex_);
  int exit_code = 0;
  for (const Code code : summary_.codes()) {
    exit_code = WorseExitCode(exit_code, ExitCodeFor(code));
  }
  return exit_code;
}

}  // namespace bulkhead::cli::batch
