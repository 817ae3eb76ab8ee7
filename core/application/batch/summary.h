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

// Counts the results of a batch, or of one shard (a part of a batch), and
// describes them as text for people and as JSON. `bulkhead batch` and
// bulkhead.distributed share it, so that both report in the same words. Not
// thread-safe.
class Summary {
 public:
  // Begins to measure the time of the run. `files` is the number of inputs.
  explicit Summary(uint64_t files);

  // Counts a result that an earlier run has left.
  void CountEarlier(const Record& record);
  // Counts a result of this run. `copy_of_poison` is as in Verdict. Returns the
  // message that the caller shows: the input's error. Returns "" if there is no
  // error, or if it was already shown for another input with the same contents.
  std::string CountResult(const Record& record, bool copy_of_poison);
  // Counts an input that has no result. The next run tries it again.
  void CountLoss(const Item& item, const Status& status);

  // Returns the progress of a running batch: "3/8 files, 250 frames/s, …".
  std::string ProgressLine() const;
  // Returns the lines to show when a run ends. `of_missing` is the end of the
  // line that counts the files without a result.
  std::vector<std::string> Lines(const std::string& of_missing) const;
  // Returns the JSON object of `bulkhead batch --json`, without the shard.
  nlohmann::ordered_json Facts() const;
  // Returns the codes of all failures and losses of this run, and of all
  // failures of earlier runs.
  const std::set<Code>& codes() const { return codes_; }

 private:
  // Counts a result, of whichever run.
  void Count(const Record& record);
  // Returns the time since the beginning of the run.
  double Seconds() const;

  struct Loss {
    std::string input;
    Status status;
  };

  const uint64_t files_;
  const std::chrono::steady_clock::time_point start_;
  // Numbers of files, in this run and earlier runs together.
  uint64_t results_ = 0;
  uint64_t failed_ = 0;
  uint64_t damaged_ = 0;           // Decoded, with damage.
  uint64_t noted_ = 0;             // Decoded, with notes and without damage.
  uint64_t copies_of_poison_ = 0;  // Failed, but in neither list below.
  uint64_t earlier_ = 0;           // The files with results of earlier runs.
  // Numbers of this run.
  uint64_t restarts_ = 0;
  uint64_t frames_ = 0;
  // The failures of earlier runs, and of this run. If several files have the
  // same contents, which kill workers, only the first is in one of the lists.
  std::vector<Record> earlier_failures_;
  std::vector<Record> failures_;
  std::set<std::string> poison_;  // SHA-256 of contents that kill workers.
  std::vector<Loss> losses_;
  std::set<Code> codes_;
};

}  // namespace bulkhead::batch
