// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/application/batch/attempt.h"
#include "core/application/batch/summary.h"
#include "tools/cli/batch/batch_inputs.h"
#include "tools/cli/decode/progress.h"

namespace bulkhead::cli {

// Reports the results of a batch, or of one shard: a line of progress while it
// runs, a line for each failure, and a summary. What a person reads goes to
// stderr. Thread-safe.
class BatchReport {
 public:
  BatchReport(uint64_t files, Progress::Shown shown, bool quiet);

  // A result of an earlier run.
  void CountEarlier(const batch::Record& record);
  // A result of this run.
  void CountResult(const batch::Verdict& verdict);
  // An input that has no result: the next run tries it again.
  void CountLoss(const batch::Item& item, const Status& status);
  // Ends the line of progress.
  void FinishProgress();

  // `ended`: an error of no file has ended the run, and is reported by the
  // caller.
  void SaySummary(bool ended) const;
  nlohmann::ordered_json Facts(const BatchShard& shard) const;
  // The worst of all inputs, earlier runs' included.
  int exit_code() const;

 private:
  void SayAbove(const std::string& line);
  void Draw(bool now);

  const bool on_terminal_;
  const bool shown_;
  const bool quiet_;
  mutable std::mutex mutex_;  // Guards what follows.
  batch::Summary summary_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace bulkhead::cli
