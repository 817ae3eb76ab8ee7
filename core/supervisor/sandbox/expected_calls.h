// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace bulkhead::sandbox {

// A system call on which the kernel waits for bulkheadd's decision.
struct PendingCall {
  pid_t process = 0;  // The pid in the backend's own pid namespace.
  pid_t thread = 0;   // The calling thread, as this process sees it.
  int threads = 0;    // The number of threads of the calling process.
  int number = 0;
  uint32_t architecture = 0;  // An AUDIT_ARCH_* value.
  uint64_t arguments[6] = {};
};

// Decides on the two calls that Bulkhead's own code makes in a backend and that
// vendor code must not make: cloning a worker, and installing a filter. Stage 1
// leaves them to bulkheadd (Rule::asks).
//
//   calls.ExpectClone();          // before the zygote is asked for a worker
//   calls.Approves(call)          // in the listener
//   calls.CloneAnswered();        // the zygote said what came of it
//
// A clone is approved for the zygote alone, once for each that bulkheadd asked
// for. So a backend has no process that bulkheadd does not know of. Each
// process may install exactly the filters of its own lock-down, in their order:
// the zygote the last one of stage 1, before it loads vendor code, and a worker
// those of stage 2. So no filter of the vendor's answers a call, logs it, or
// counts as one of ours. A filter is compared where it lies in the memory of
// the caller, which cannot change it: it has no other thread, and no process
// shares memory with it that can be written. (A granted device may; such a
// backend can then have filters that log, which is noise and no way out.)
//
// Used by bulkheadd's one thread. Every call is a hostile claim except for its
// process and thread, which the kernel names.
class ExpectedCalls {
 public:
  // `session_filter` is what the workers install as stage 2. With
  // `reads_memory` false, this machine does not let bulkheadd read the memory
  // of a backend; then the number of filters is bounded and not their content.
  ExpectedCalls(std::vector<sock_filter> session_filter, bool reads_memory);

  void ExpectClone() { ++expected_clones_; }
  void CloneAnswered();
  // Returns whether the call is executed. A call that is not ends its process.
  bool Approves(const PendingCall& call);
  // Forgets a process that has ended.
  void Forget(pid_t process) { filters_.erase(process); }
  // The number of clones that were approved and not answered yet.
  uint32_t clones_under_way() const { return clones_under_way_; }

 private:
  bool ApprovesFilter(const PendingCall& call);
  // Returns the filter that a process installs as its `index`-th, empty if
  // there is none.
  std::vector<sock_filter> Expected(pid_t process, size_t index) const;

  const std::vector<sock_filter> session_filter_;
  const bool reads_memory_;
  // Nobody but the zygote has the filter that asks before a clone is approved.
  pid_t zygote_ = 0;
  uint32_t expected_clones_ = 0;
  uint32_t clones_under_way_ = 0;
  // The number of filters that each process was allowed to install.
  std::map<pid_t, size_t> filters_;
};

// Returns whether this process can read the memory of `process` at `address`,
// where it has the 8 bytes `expected`.
bool CanReadMemory(pid_t process, const uint64_t* address, uint64_t expected);

}  // namespace bulkhead::sandbox
