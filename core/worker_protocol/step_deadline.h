// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/include/bulkhead/host_options.h"
#include "ipc/deadline.h"

namespace bulkhead::worker_protocol {

// The time for which each thread of a process, by thread id, was ready to run
// but had no processor. Empty if the times are unknown.
using RunDelays = std::map<pid_t, std::chrono::nanoseconds>;

// Reads the delays that the kernel counts (/proc/PID/task/TID/schedstat) of at
// most 256 threads. The kernel counts a wait when it ends, so a thread that has
// not got a processor yet has no delay.
RunDelays ReadRunDelays(pid_t pid);

// Returns the name of a deadline in messages: "the deadline open (--limit
// open-ms=N)".
std::string NameOf(std::chrono::milliseconds Deadlines::*step);

// Decides when a worker is too late with a step. On an overloaded machine the
// step may take longer: by the time that the worker's most delayed thread
// waited for a processor, and by the time that the host itself came late to
// look, together at most by one more timeout.
//
//     StepDeadline deadline(timeout, [pid] { return ReadRunDelays(pid); });
//     do {
//       if (AwaitReply(deadline.next())) return;
//     } while (deadline.GoesOn());
//
// A worker that reports progress within a long step is given the timeout anew:
//
//     if (progressed) deadline.Renew(timeout);
//
// The renewals of a step end kMostTimeouts timeouts after it began, so that a
// worker that reports a little progress for ever is late too.
//
// The delays of the worker are read after a quarter of the timeout and again at
// its end, and the waits between the two readings count. A step that is done in
// the first quarter costs nothing more.
//
// Times are by CLOCK_MONOTONIC, which stands still while the machine is
// suspended and does not follow leaps of the wall clock: neither takes time
// from a step.
//
// Trust: a hostile worker can make its threads wait for each other, and gains
// no more than the second timeout by that. Not thread-safe.
class StepDeadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Read = std::function<RunDelays()>;

  // An honest step of many parts takes seconds. A step on a slow machine that
  // needs more than this can be given a longer timeout.
  static constexpr int kMostTimeouts = 100;

  StepDeadline(std::chrono::milliseconds timeout, Read read)
      : StepDeadline(timeout, std::move(read), Clock::now()) {}
  StepDeadline(std::chrono::milliseconds timeout, Read read,
               Clock::time_point now);

  // Returns the time until which to wait before calling GoesOn().
  ipc::Deadline next() const { return ipc::Deadline::At(next_); }
  // Returns false if the worker is too late. May be called at any time.
  bool GoesOn() { return GoesOn(Clock::now()); }
  bool GoesOn(Clock::time_point now);
  // Adds time for which the worker had to wait for the host.
  void Extend(Clock::duration by) {
    began_ += by;
    end_ += by;
    next_ += by;
  }
  // Begins a timeout of this length now, unless the step has used up
  // kMostTimeouts of them.
  void Renew(std::chrono::milliseconds timeout) {
    Renew(timeout, Clock::now());
  }
  void Renew(std::chrono::milliseconds timeout, Clock::time_point now);
  // Returns true if the step had no renewal left when it made progress.
  bool used_up() const { return used_up_; }

 private:
  // Returns the delay of the most delayed thread since the first look.
  std::chrono::nanoseconds Waited() const;

  std::chrono::nanoseconds timeout_;
  const Read read_;
  Clock::time_point began_;  // of the step, not of the timeout
  bool used_up_ = false;
  Clock::time_point end_;             // end of the timeout, without overload
  Clock::time_point next_;            // the time of the next look
  std::optional<RunDelays> before_;   // delays at the first look
  std::chrono::nanoseconds late_{0};  // lateness of the looks
};

}  // namespace bulkhead::worker_protocol
