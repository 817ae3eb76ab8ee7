// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"

namespace bulkhead::batch {

// Counts the results of a batch, or of one shard, and has words for them. Not
// thread-safe.
class Summary {
 public:
  explicit Summary(uint64_t files);

  // A result of an earlier run.
  void CountEarlier(const Record& record);
  // A result of this run. `told_before`: an input of the same contents was
  // reported, so this one is only counted. Returns what is said of it now: its
  // failure, or nothing.
  std::string CountResult(const Record& record, bool told_before);
  // An input that has no result: the next run tries it again.
  void CountLoss(const Item& item, const Status& status);

  std::string ProgressLine() const;
  // Returns the lines at the end of a run. `of_missing` ends the line that
  // counts the files without a result.
  std::vector<std::string> Lines(const std::string& of_missing) const;
  nlohmann::ordered_json Facts() const;
  // The codes of all failures and losses, also of earlier runs.
  const std::set<Code>& codes() const { return codes_; }

 private:
  void Count(const Record& record);
  double Seconds() const;

  struct Loss {
    std::string input;
    Status status;
  };

  const uint64_t files_;
  const std::chrono::steady_clock::time_point start_;
  uint64_t earlier_ = 0;
  uint64_t results_ = 0;  // In any run.
  uint64_t failed_ = 0;   // In any run.
  uint64_t damaged_ = 0;  // In any run, decoded all the same.
  uint64_t noted_ = 0;    // In any run, with notes and without damage.
  uint64_t restarts_ = 0;
  uint64_t frames_ = 0;
  uint64_t copies_of_poison_ = 0;
  // Contents that kill workers are in both lists together once.
  std::vector<Record> earlier_failures_;
  std::vector<Record> failures_;  // Of this run.
  std::set<std::string> poison_;  // The contents that failures name.
  std::vector<Loss> losses_;
  std::set<Code> codes_;
};

}  // namespace bulkhead::batch
