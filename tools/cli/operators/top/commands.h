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

// Gives a backend of one application an operator's command, in a thread of its
// own: a reload with its check may take a minute, and the thread that reads
// keys must not wait for it. There is one command at a time.
//
// All methods belong to the thread that constructs the object. The destructor
// waits for the command under way; see running().
class Commands {
 public:
  // Signals `wake`, which must outlive the object, after each command.
  explicit Commands(const Wake& wake) : wake_(wake) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands();

  // Starts the command and returns the message for the time until its outcome;
  // while another command runs, starts nothing and returns a message that says
  // so.
  std::string Start(int host_pid, const std::string& backend,
                    BackendCommand command);
  // Returns true from Start() until the outcome is there to be taken.
  bool running() const { return running_; }
  // Returns the outcome in a sentence, once for each command that has ended.
  std::optional<std::string> TakeOutcome();

 private:
  const Wake& wake_;
  std::string doing_;  // "restart acme in process 4711"
  std::atomic<bool> running_ = false;
  std::mutex mutex_;
  std::optional<std::string> outcome_;  // Protected by mutex_.
  std::thread thread_;                  // The command under way or the last.
};

}  // namespace bulkhead::cli::top
