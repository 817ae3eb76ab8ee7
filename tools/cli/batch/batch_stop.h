// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/cancellation.h>
#include <bulkhead/status.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace bulkhead::cli::batch {

// Stops the decoders of all threads of a batch, so that the run ends soon and
// in order. A stop is requested by a thread that calls Request(), and by these
// signals: SIGINT (^C), SIGTERM (such as from Slurm) and SIGHUP (the terminal
// was closed). A signal that is ignored, such as SIGHUP under nohup, stays
// ignored. A second signal of the same kind kills the process. At most one
// BatchStop may exist. It handles the signals until its destruction.
// Thread-safe.
class BatchStop {
 public:
  // Needs one descriptor for each of the `threads`. Returns kResourceExhausted
  // if the process has too few free descriptors.
  static Result<std::unique_ptr<BatchStop>> Create(size_t threads);
  ~BatchStop();
  BatchStop(const BatchStop&) = delete;
  BatchStop& operator=(const BatchStop&) = delete;

  // Returns the cancellation that the decoders of one thread use. A thread has
  // one decoder at a time.
  const Cancellation& cancellation(size_t thread) const {
    return cancellations_.at(thread);
  }
  // Returns whether a stop was requested.
  bool requested() const;
  // Requests a stop. Async-signal-safe.
  void Request() const;

 private:
  explicit BatchStop(std::vector<Cancellation> cancellations);

  const std::vector<Cancellation> cancellations_;
};

}  // namespace bulkhead::cli::batch
