// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "core/application/batch/attempt.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"
#include "tools/cli/batch/batch_report.h"
#include "tools/cli/batch/batch_stop.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// Decodes inputs, several at a time, and leaves for each an output and a
// record. A loss goes to the end of the queue, twice at most.
class BatchRun {
 public:
  // Borrows all but the job, which has neither a file nor an output.
  BatchRun(Host& host, const batch::Directory& directory,
           const batch::Records& records, const batch::Recipe& recipe,
           DecodeJob job, BatchReport& report, BatchStop& stop)
      : host_(host),
        directory_(directory),
        records_(records),
        recipe_(recipe),
        job_(std::move(job)),
        report_(report),
        stop_(stop) {}

  // Returns when every input has its result or is lost. Otherwise returns what
  // has ended the run: kCancelled after BatchStop::Request().
  Status Run(const std::vector<batch::Item>& items, size_t threads);

 private:
  struct Task {
    batch::Item item;
    int attempts = 0;
  };

  void Work(size_t thread);
  std::optional<Task> Take();
  void Try(Task task, size_t thread);
  void TakeVerdict(Task task, const batch::Verdict& verdict);
  void Lose(Task task, const Status& status);
  // Ends the run with the first status that is given.
  void End(const Status& status);

  Host& host_;
  const batch::Directory& directory_;
  const batch::Records& records_;
  const batch::Recipe& recipe_;
  const DecodeJob job_;
  BatchReport& report_;
  BatchStop& stop_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<Task> queue_;
  Status end_;
};

}  // namespace bulkhead::cli
