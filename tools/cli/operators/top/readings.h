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

// Reads the running applications again and again, about once a second, in a
// thread of its own. An application that is stopped holds up a reading by the
// two seconds of FindRunningHosts(); the thread that reads keys must not wait
// for that.
//
//     Readings readings(wake);
//     poll(wake.fd()) ...
//     if (auto reading = readings.Take()) view.ShowTable(reading->table);
//
// The thread owns the rates, the causes and the connections for events. What
// the others share with it is the latest reading, under one mutex that nobody
// holds while asking. All methods belong to the thread that constructs the
// object, which waits for the thread in the destructor: not at all, or until
// the request under way has ended.
class Readings {
 public:
  using Clock = std::chrono::steady_clock;

  struct Reading {
    Table table;
    std::string error;  // Why nobody could be asked; then there are no rows.
  };

  // Signals `wake`, which must outlive the object, when a reading begins and
  // when it ends.
  explicit Readings(const Wake& wake);
  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;
  ~Readings();

  // Returns the latest reading if it was not taken yet.
  std::optional<Reading> Take();
  // Reads again at once, or once more if a reading is under way.
  void ReadNow();
  // Returns how long the applications have been asked and not all answered;
  // nullopt between two readings.
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
  bool again_ = false;
  bool stop_ = false;

  // Used by the thread alone.
  Rates rates_;
  Causes causes_;
  std::optional<EventFollower> follower_;

  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace bulkhead::cli::top
