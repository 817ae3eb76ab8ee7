// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace bulkhead::ipc {

// A point in monotonic time after which waiting stops. A function that waits
// takes a Deadline by value and passes it to the functions it calls, so a step
// that consists of many waits has one bound. There is no deadline "never": each
// wait in the kernel has a bound.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // The longest duration that After() accepts. The limit keeps the sum of the
  // current time and any duration representable.
  static constexpr std::chrono::milliseconds kLongest =
      std::chrono::hours(24 * 365);

  static Deadline At(Clock::time_point when) { return Deadline(when); }
  // Returns the deadline `duration` from now, or kLongest from now if
  // `duration` is longer. A negative duration gives a deadline that has passed.
  static Deadline After(std::chrono::milliseconds duration) {
    return At(Clock::now() +
              std::clamp(duration, std::chrono::milliseconds(-1), kLongest));
  }

  // Returns the same deadline, but a wait with it also ends when `fd` becomes
  // readable. The wait then fails as if the time were over; the caller checks
  // `fd` to find out which it was. -1 means no descriptor. remaining() and
  // passed() ignore `fd`.
  Deadline OrReadable(int fd) const {
    Deadline same = *this;
    same.interrupt_fd_ = fd;
    return same;
  }
  int interrupt_fd() const { return interrupt_fd_; }

  // Returns the time left, or zero once the deadline has passed.
  std::chrono::nanoseconds remaining() const {
    return std::max(std::chrono::nanoseconds(when_ - Clock::now()),
                    std::chrono::nanoseconds(0));
  }
  bool passed() const { return Clock::now() >= when_; }

  // Returns remaining() in the form that ppoll() takes.
  timespec remaining_timespec() const { return ToTimespec(remaining()); }
  // Returns the point in time in the form that futex_waitv() takes: an absolute
  // time of CLOCK_MONOTONIC.
  timespec timespec_of_clock() const {
    return ToTimespec(when_.time_since_epoch());
  }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  static timespec ToTimespec(std::chrono::nanoseconds time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return {.tv_sec = static_cast<time_t>(seconds.count()),
            .tv_nsec = static_cast<long>((time - seconds).count())};
  }

  Clock::time_point when_;
  int interrupt_fd_ = -1;  // ppoll() ignores a negative descriptor
};

}  // namespace bulkhead::ipc
