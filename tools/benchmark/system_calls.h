// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace bulkhead::benchmark {

// Counts every system call of chosen processes, by ptrace from a process of its
// own: exact, and slow enough that nothing else may be measured meanwhile.
//
//   auto trace = SystemCallTrace::Start({getpid(), worker});
//   (*trace)->BeginPhase();  // the counts begin at zero
//   ...
//   (*trace)->Calls(getpid());
//
// This process may be one of them. Each must have been running for long enough
// to have all of its threads: later ones are not counted. Not thread-safe.
class SystemCallTrace {
 public:
  // kUnsupported if the kernel does not let this user trace a process.
  static Result<std::unique_ptr<SystemCallTrace>> Start(
      std::vector<pid_t> processes);
  // Ends the trace. The processes run on.
  ~SystemCallTrace();
  SystemCallTrace(const SystemCallTrace&) = delete;
  SystemCallTrace& operator=(const SystemCallTrace&) = delete;

  // Starts to count from zero.
  void BeginPhase();
  // Returns the number of calls of `process` since BeginPhase(), by the number
  // of the call. Makes no system call.
  std::map<uint32_t, uint64_t> Calls(pid_t process) const;

 private:
  struct Tracer;
  explicit SystemCallTrace(std::unique_ptr<Tracer> tracer);

  std::unique_ptr<Tracer> tracer_;
};

}  // namespace bulkhead::benchmark
