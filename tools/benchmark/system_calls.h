// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace bulkhead::benchmark {

// Counts every system call of chosen processes by ptrace, from a forked tracer
// process. The counts are exact. Tracing slows the processes so much that times
// that are measured during a trace mean nothing.
//
//   auto trace = SystemCallTrace::Start({getpid(), worker});
//   (*trace)->BeginPhase();  // Sets the counts to zero.
//   ...
//   (*trace)->Calls(getpid());
//
// This process may be among the chosen ones. Threads that a process starts
// after Start() are not counted. Not thread-safe.
class SystemCallTrace {
 public:
  // Attaches to all threads of the processes. Returns kUnsupported if the
  // kernel does not let this user trace a process.
  static Result<std::unique_ptr<SystemCallTrace>> Start(
      std::vector<pid_t> processes);
  // Ends the trace. The processes run on.
  ~SystemCallTrace();
  SystemCallTrace(const SystemCallTrace&) = delete;
  SystemCallTrace& operator=(const SystemCallTrace&) = delete;

  // Sets all counts to zero.
  void BeginPhase();
  // Returns the counts of `process` since BeginPhase(), by the number of the
  // system call. Makes no system call itself.
  std::map<uint32_t, uint64_t> Calls(pid_t process) const;

 private:
  struct Tracer;
  explicit SystemCallTrace(std::unique_ptr<Tracer> tracer);

  std::unique_ptr<Tracer> tracer_;
};

}  // namespace bulkhead::benchmark
