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

namespace bulkhead::cli::batch {

// Decodes the inputs of a batch on several threads, which take them from one
// queue. Gives each input an output and a record (batch::Attempt), and reports
// the result. An attempt is lost if the backend failed, or a deadline or limit
// was exceeded. The input then goes back to the end of the queue, up to twice.
class BatchRun {
 public:
  // Borrows all arguments except the job. `job` has the options for every
  // input; the file and the output are set later, for each input.
  BatchRun(Host& host, const bulkhead::batch::Directory& directory,
           const bulkhead::batch::Records& records,
           const bulkhead::batch::Recipe& recipe, decoding::Job job,
           BatchReport& report, BatchStop& stop)
      : host_(host),
        directory_(directory),
        records_(records),
        recipe_(recipe),
        job_(std::move(job)),
        report_(report),
        stop_(stop) {}

  // Returns OK when every input has its result or its last attempt was lost.
  // Returns kCancelled after BatchStop::Request(), or the error that has ended
  // the run. Called once.
  Status Run(const std::vector<bulkhead::batch::Item>& items, size_t threads);

 private:
  // An input, and the number of its attempts that were lost.
  struct Task {
    bulkhead::batch::Item item;
    int attempts = 0;
  };

  // Decodes tasks until the queue is empty or a stop is requested. `thread` is
  // the number of the calling thread.
  void Work(size_t thread);
  // Returns the next task; nullopt if there is none or a stop is requested.
  std::optional<Task> Take();
  // Makes one attempt at a task.
  void Try(Task task, size_t thread);
  // Acts on a verdict: reports a result, or calls Lose() or End().
  void TakeVerdict(Task task, const bulkhead::batch::Verdict& verdict);
  // Puts a task back into the queue, or reports it as lost.
  void Lose(Task task, const Status& status);
  // Stops all threads. The status of the first call becomes the run's.
  void End(const Status& status);

  Host& host_;
  const bulkhead::batch::Directory& directory_;
  const bulkhead::batch::Records& records_;
  const bulkhead::batch::Recipe& recipe_;
  const decoding::Job job_;
  BatchReport& report_;
  BatchStop& stop_;
  std::mutex mutex_;  // Guards the members below.
  std::deque<Task> queue_;
  Status end_;
};

}  // namespace bulkhead::cli::batch
