// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace bulkhead::ipc {

// A point in monotonic time after which waiting stops. Everything that waits
// takes one, by value, and hands it on to what it calls, so that a step made of
// many waits still has one bound. There is no deadline "never": nothing in
// Bulkhead waits without a bound.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // Keeps the sum representable whatever a caller asks for.
  static constexpr std::chrono::milliseconds kLongest =
      std::chrono::hours(24 * 365);

  static Deadline At(Clock::time_point when) { return Deadline(when); }
  // `duration` from now; at most kLongest, a negative one has passed.
  static Deadline After(std::chrono::milliseconds duration) {
    return At(Clock::now() +
              std::clamp(duration, std::chrono::milliseconds(-1), kLongest));
  }

  // Zero when it has passed.
  std::chrono::nanoseconds remaining() const {
    return std::max(std::chrono::nanoseconds(when_ - Clock::now()),
                    std::chrono::nanoseconds(0));
  }
  bool passed() const { return Clock::now() >= when_; }

  // remaining() for ppoll() and its like.
  timespec remaining_timespec() const {
    const auto left = remaining();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    return {.tv_sec = static_cast<time_t>(seconds.count()),
            .tv_nsec = static_cast<long>((left - seconds).count())};
  }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}

  Clock::time_point when_;
};

}  // namespace bulkhead::ipc
