// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/batch/batch_plan.h"
#include "tools/cli/batch/batch_record.h"
#include "tools/cli/decode/progress.h"

namespace bulkhead::cli {

// Counts the results of a batch, or of one shard, and tells of them: a line of
// progress while it runs, a line for each failure, and a summary. What a person
// reads goes to stderr. Thread-safe.
class BatchReport {
 public:
  BatchReport(uint64_t files, Progress::Shown shown, bool quiet);

  // A result of an earlier run.
  void CountEarlier(const BatchRecord& record);
  // A result of this run. `told_before`: an input of the same contents was
  // told of, so this one is only counted.
  void CountResult(const BatchRecord& record, bool told_before);
  // An input that has no result: the next run tries it again.
  void CountLoss(const BatchItem& item, const Status& status);
  // Ends the line of progress.
  void FinishProgress();

  // `ended`: an error of no file has ended the run, and is told by the caller.
  void SaySummary(bool ended) const;
  nlohmann::ordered_json Facts(const BatchShard& shard) const;
  // The worst of all inputs, those of earlier runs included.
  int exit_code() const { return exit_code_; }

 private:
  void Count(const BatchRecord& record);
  void SayEarlierFailures() const;
  void SayAbove(const std::string& line);
  void Draw(bool now);
  std::string ProgressLine() const;

  struct Loss {
    std::string input;
    Status status;
  };

  const uint64_t files_;
  const bool on_terminal_;
  const bool shown_;
  const bool quiet_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::chrono::steady_clock::time_point drawn_;
  uint64_t earlier_ = 0;
  uint64_t results_ = 0;  // In any run.
  uint64_t failed_ = 0;   // In any run.
  uint64_t damaged_ = 0;  // In any run, decoded all the same.
  uint64_t noted_ = 0;    // In any run, with notes and without damage.
  uint64_t restarts_ = 0;
  uint64_t frames_ = 0;
  uint64_t copies_of_poison_ = 0;
  // Contents that kill workers are in both lists together once.
  std::vector<BatchRecord> earlier_failures_;
  std::vector<BatchRecord> failures_;  // Of this run.
  std::set<std::string> poison_;       // The contents that failures tell of.
  std::vector<Loss> losses_;
  int exit_code_ = 0;
};

}  // namespace bulkhead::cli
