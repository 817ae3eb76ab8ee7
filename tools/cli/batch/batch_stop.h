// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/cancellation.h>
#include <bulkhead/status.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace bulkhead::cli {

// Ends the decoders of all threads of a batch: when the user presses ^C, when
// an engine such as Slurm ends the job by SIGTERM, when the connection of a
// terminal is gone (SIGHUP, unless it is ignored, as nohup does), or when a
// thread has found that going on is of no use. A second signal kills as it
// always does. At most one object exists at a time, which handles the signals
// of the process until its end. Thread-safe.
class BatchStop {
 public:
  // kResourceExhausted if there is no descriptor for each of `threads`.
  static Result<std::unique_ptr<BatchStop>> Create(size_t threads);
  ~BatchStop();
  BatchStop(const BatchStop&) = delete;
  BatchStop& operator=(const BatchStop&) = delete;

  // For the decoders of one thread, one after the other.
  const Cancellation& cancellation(size_t thread) const {
    return cancellations_.at(thread);
  }
  bool requested() const;
  // Async-signal-safe.
  void Request() const;

 private:
  explicit BatchStop(std::vector<Cancellation> cancellations);

  const std::vector<Cancellation> cancellations_;
};

}  // namespace bulkhead::cli
