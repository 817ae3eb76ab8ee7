// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "core/supervisor/blame/restart_policy.h"

namespace bulkhead::supervisor {

// Counts how often the devices of a backend were lost, and makes sessions wait
// before such a device is asked for again.
//
// A card that falls off the bus ends every session on it at the same time. That
// is one loss: a session that was opened before the latest loss adds nothing.
// A frame from the device forgives all its losses.
//
// Times are monotonic. Not thread-safe.
class DeviceLosses {
 public:
  using Time = RestartPolicy::Time;
  using MakePolicy = std::function<RestartPolicy()>;

  // `make_policy` makes the policy of a device that is lost for the first time.
  explicit DeviceLosses(MakePolicy make_policy)
      : make_policy_(std::move(make_policy)) {}

  // Counts a loss of `device`, seen by a session that was opened at `opened`.
  void Lost(const std::string& device, Time opened, Time now);
  void Delivered(const std::string& device) { losses_.erase(device); }
  // Returns how long `device` must not be asked for; zero if it may be used.
  std::chrono::nanoseconds TimeLeft(const std::string& device, Time now) const;
  void Forget() { losses_.clear(); }

 private:
  struct Losses {
    RestartPolicy policy;
    Time latest;
  };

  const MakePolicy make_policy_;
  std::map<std::string, Losses> losses_;
};

}  // namespace bulkhead::supervisor
