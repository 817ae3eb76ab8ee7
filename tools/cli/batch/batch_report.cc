// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/terminal.h"

namespace bulkhead::cli::batch {

void BatchReport::CountEarlier(const bulkhead::batch::Record& record) {
  const std::lock_guard lock(mutex_);
  summary_.CountEarlier(record);
}

void BatchReport::CountResult(const bulkhead::batch::Verdict& verdict) {
  const std::lock_guard lock(mutex_);
  const std::string failure =
      summary_.CountResult(verdict.record, verdict.copy_of_poison);
  if (!failure.empty()) SayAbove("bulkhead: " + failure);
  Draw();
}

void BatchReport::CountLoss(const bulkhead::batch::Item& item,
                            const Status& status) {
  const std::lock_guard lock(mutex_);
  summary_.CountLoss(item, status);
  SayAbove("bulkhead: " + status.message());
  Draw();
}

void BatchReport::FinishProgress() {
  const std::lock_guard lock(mutex_);
  progress_.Finish([this] { return summary_.ProgressLine(); });
}

void BatchReport::SayAbove(const std::string& line) {
  progress_.Erase();
  Say(line);
}

void BatchReport::Draw() {
  progress_.Draw([this] { return summary_.ProgressLine(); });
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

nlohmann::ordered_json BatchReport::Facts(const BatchShard& shard) const {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json facts{
      {"shard", fmt::format("{}/{}", shard.number, shard.count)}};
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
