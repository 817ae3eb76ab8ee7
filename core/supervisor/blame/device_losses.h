// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/supervisor/blame/restart_policy.h"

namespace bulkhead::blame {

// Counts how often the devices of a backend were lost, and says how long
// sessions must not use such a device.
//
// A card that falls off the bus ends every session on it at the same time. That
// is one loss: a session that was opened before the latest loss adds nothing.
// The losses of a device are forgiven once every input that lost it has got a
// frame from it. A frame of another input proves nothing: one file may make the
// device fail each time, and the others not.
//
// Bounded: a device has at most kMaxInputs inputs. If more inputs have lost the
// device, frames do not forgive its losses any more: only time ends the wait.
//
// Times are monotonic. Not thread-safe.
class DeviceLosses {
 public:
  using Time = RestartPolicy::Time;
  using MakePolicy = std::function<RestartPolicy()>;

  // `make_policy` makes the policy of a device that is lost for the first time.
  explicit DeviceLosses(MakePolicy make_policy)
      : make_policy_(std::move(make_policy)) {}

  static constexpr size_t kMaxInputs = 256;

  // Counts a loss of `device`, seen by a session on `input` that was opened at
  // `opened`.
  void Lost(const std::string& device, const std::string& input, Time opened,
            Time now);
  // Notes that a session on `input` got a frame from `device`.
  void Delivered(const std::string& device, const std::string& input);
  // Returns how long `device` must not be used; zero if it may be used.
  std::chrono::nanoseconds TimeLeft(const std::string& device, Time now) const;
  void Forget() { losses_.clear(); }

 private:
  struct Losses {
    RestartPolicy policy;
    Time latest;
    // The inputs that lost the device and have got no frame from it since.
    std::set<std::string> inputs;
  };

  const MakePolicy make_policy_;
  std::map<std::string, Losses> losses_;
};

}  // namespace bulkhead::blame
