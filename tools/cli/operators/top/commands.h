// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tools/cli/operators/top/wake.h"

namespace bulkhead::cli::top {

// Sends an operator's command for a backend to one application, and waits for
// the outcome in a thread of its own. A reload checks the new backend and may
// take a minute, and the thread that reads keys must not wait. At most one
// command runs at a time.
//
// All methods must be called by the thread that constructs the object. The
// destructor waits for a command that still runs; see running().
class Commands {
 public:
  // Signals `wake`, which must outlive the object, after each command.
  explicit Commands(const Wake& wake) : wake_(wake) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands();

  // Starts the command. Returns a message to show until TakeOutcome() returns
  // the outcome. While another command runs, starts nothing and returns a
  // message that says so.
  std::string Start(int host_pid, const std::string& backend,
                    BackendCommand command);
  // Returns whether a started command has not ended yet.
  bool running() const { return running_; }
  // Returns the outcome as a sentence, once for each command that has ended.
  std::optional<std::string> TakeOutcome();

 private:
  const Wake& wake_;
  std::string doing_;  // "restart acme in process 4711"
  std::atomic<bool> running_ = false;
  std::mutex mutex_;
  std::optional<std::string> outcome_;  // Protected by mutex_.
  std::thread thread_;                  // Runs the current or last command.
};

}  // namespace bulkhead::cli::top
