// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "core/include/bulkhead/backend_counts.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/process_exit.h"

namespace bulkhead::records {

// Keeps the counts of each backend, by its name, as long as bulkheadd lives.
// Class Backend does not keep them itself, because it is one version of the
// installed files: an operator's counters must not fall when another version
// takes over, nor count twice while the old version drains.
//
// Owned by StartServices. Bound to the event loop's thread.
class KeptCounts {
 public:
  // Returns the counts of the backend `name`. The reference stays valid.
  BackendCounts& Of(const std::string& name);
  const std::map<std::string, BackendCounts>& all() const { return counts_; }

 private:
  std::map<std::string, BackendCounts> counts_;
};

// Returns the kind under which the end of a worker is counted for operators.
WorkerEnd WorkerEndOf(const blame::ProcessExit& exit,
                      blame::HostObservation observed, blame::Culprit culprit);

// Adds a duration to a histogram.
void AddTo(DurationCounts& counts, std::chrono::nanoseconds duration);

}  // namespace bulkhead::records
