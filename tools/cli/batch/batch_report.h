// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/application/batch/attempt.h"
#include "core/application/batch/summary.h"
#include "tools/cli/batch/batch_inputs.h"
#include "tools/cli/decode/progress.h"

namespace bulkhead::cli::batch {

// Reports the results of a batch, or of one shard, on stderr: a line of
// progress while it runs, a line for each failure, and a summary. Prints the
// texts that a batch::Summary makes. Thread-safe.
class BatchReport {
 public:
  // `files` is the number of inputs. `shown` says whether the line of progress
  // is shown on terminals only, always or never. `quiet` omits the summary.
  BatchReport(uint64_t files, decode::StatusLine::Shown shown, bool quiet)
      : quiet_(quiet), summary_(files), progress_(shown) {}

  // Counts a result of an earlier run.
  void CountEarlier(const bulkhead::batch::Record& record);
  // Counts a result of this run, and shows its error.
  void CountResult(const bulkhead::batch::Verdict& verdict);
  // Counts and shows an input that has no result. The next run tries it again.
  void CountLoss(const bulkhead::batch::Item& item, const Status& status);
  // On a terminal, erases the line of progress. Elsewhere, prints it once more.
  void FinishProgress();

  // Shows the summary. `ended` is true if an error that concerns all files has
  // ended the run, such as a full disk. The caller shows that error.
  void SaySummary(bool ended) const;
  // Returns the JSON object of --json.
  nlohmann::ordered_json Facts(const BatchShard& shard) const;
  // Returns the worst exit code of all inputs, including earlier runs'.
  int exit_code() const;

 private:
  // Prints a line in place of the line of progress.
  void SayAbove(const std::string& line);
  // Shows the line of progress if it was not shown a short time ago.
  void Draw();

  const bool quiet_;
  mutable std::mutex mutex_;  // Guards the members below.
  bulkhead::batch::Summary summary_;
  decode::StatusLine progress_;
};

}  // namespace bulkhead::cli::batch
