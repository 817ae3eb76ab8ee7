// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tools/cli/operators/top/causes.h"
#include "tools/cli/operators/top/rates.h"
#include "tools/cli/operators/top/rows.h"
#include "tools/cli/operators/top/wake.h"

namespace bulkhead::cli::top {

// Reads the state of the running applications about once a second, in a thread
// of its own. FindRunningHosts() waits two seconds for an application that is
// stopped (SIGSTOP), and the thread that reads keys must not wait.
//
//     Readings readings(wake);
//     poll(wake.fd()) ...
//     if (auto reading = readings.Take()) view.ShowTable(reading->table);
//
// The thread owns the rates, the causes and the connections for events. A mutex
// guards the latest reading, which the thread shares with the owner of this
// object. The thread never holds the mutex while it waits for an application.
// All methods must be called by the thread that constructed the object. The
// destructor waits until a request under way has ended.
class Readings {
 public:
  using Clock = std::chrono::steady_clock;

  struct Reading {
    Table table;
    std::string error;  // The reason why no application could be asked, or "".
  };

  // Signals `wake`, which must outlive the object, when a reading begins and
  // when it ends.
  explicit Readings(const Wake& wake);
  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;
  ~Readings();

  // Returns the latest reading; nullopt if there is none yet, or if Take() has
  // returned it before.
  std::optional<Reading> Take();
  // Starts a reading at once, or right after the reading under way.
  void ReadNow();
  // Returns for how long the reading under way has waited for answers; nullopt
  // if no reading is under way.
  std::optional<Clock::duration> asking() const;

 private:
  void Run();
  Reading Read();
  void FollowEvents();

  const Wake& wake_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::optional<Reading> latest_;
  std::optional<Clock::time_point> asking_since_;
  bool again_ = false;  // ReadNow() was called since the last reading began.
  bool stop_ = false;   // The destructor waits for the thread.

  // Used by the thread alone.
  Rates rates_;
  Causes causes_;
  std::optional<EventFollower> follower_;

  std::thread thread_;  // Must be the last member, since it uses all others.
};

}  // namespace bulkhead::cli::top
