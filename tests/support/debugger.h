// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <semaphore>
#include <thread>

namespace bulkhead::tests {

// Stops a process for good, whatever signals it gets, until it ends. bulkheadd
// stops zygotes by SIGSTOP and continues them, so that a test that sends the
// signal stops nothing.
//
//   const Debugger debugger(zygote);
//   ASSERT_TRUE(debugger.stopped());
//
// Its destructor waits until the process has ended.
class Debugger {
 public:
  explicit Debugger(pid_t pid);

  // Returns false if the process cannot be debugged.
  bool stopped() const { return stopped_; }

 private:
  void Attach(pid_t pid);

  std::atomic<bool> stopped_ = false;
  std::binary_semaphore attached_{0};
  const std::jthread thread_;  // the kernel lets it alone wait for the process
};

}  // namespace bulkhead::tests
