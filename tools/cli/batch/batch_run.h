// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/batch/batch_directory.h"
#include "tools/cli/batch/batch_plan.h"
#include "tools/cli/batch/batch_record.h"
#include "tools/cli/batch/batch_report.h"
#include "tools/cli/batch/batch_stop.h"
#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// The work that a run does on each of its inputs.
struct BatchRecipe {
  DecodeJob job;        // Without the file and the output.
  BatchRecord options;  // OptionsForRecords()
  BatchRecord makers;   // MakersForRecords()
};

// Decodes inputs, several at a time, and leaves for each an output and a
// record.
//
// A failure is one of three things. What is wrong with the file is its result:
// it gets a record, and nobody tries it again. What is wrong with the backend
// or with the time that it had is a loss: the input goes to the end of the
// queue, twice at most, and gets no record then. A disk that takes no output,
// or a machine without a sandbox, would fail every other input as well, so it
// ends the run.
class BatchRun {
 public:
  // Borrows all but the recipe.
  BatchRun(Host& host, const BatchDirectory& directory,
           const BatchRecords& records, BatchRecipe recipe, BatchReport& report,
           BatchStop& stop)
      : host_(host),
        directory_(directory),
        records_(records),
        recipe_(std::move(recipe)),
        report_(report),
        stop_(stop) {}

  // Returns when every input has its result or is lost. Otherwise returns what
  // has ended the run: kCancelled after BatchStop::Request().
  Status Run(const std::vector<BatchItem>& items, size_t threads);

 private:
  struct Task {
    BatchItem item;
    int attempts = 0;
  };

  void Work(size_t thread);
  std::optional<Task> Take();
  void Try(Task task, size_t thread);
  void TakeOutcome(Task task, const FileStamp& stamp,
                   const std::optional<std::string>& sha256,
                   const DecodeJob& job, FileOutcome outcome,
                   const std::string& name);
  void Lose(Task task, const Status& status);
  // Writes the record of an input whose output is in place.
  void Keep(const BatchItem& item, const BatchRecord& record,
            const std::string& name);
  // Ends the run with the first status that is given.
  void End(const Status& status);

  Host& host_;
  const BatchDirectory& directory_;
  const BatchRecords& records_;
  const BatchRecipe recipe_;
  BatchReport& report_;
  BatchStop& stop_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<Task> queue_;
  Status end_;
};

}  // namespace bulkhead::cli
