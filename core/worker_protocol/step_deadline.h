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

// For each thread of a process, by thread id: the time for which it was ready
// to run but had no processor. Empty if the times are unknown.
using RunDelays = std::map<pid_t, std::chrono::nanoseconds>;

// Reads the delays of at most 256 threads from the kernel
// (/proc/PID/task/TID/schedstat). The kernel adds a wait only when the wait
// ends. So if a thread is waiting for a processor now, this wait is not
// included.
RunDelays ReadRunDelays(pid_t pid);

// Returns the name of a deadline in messages: "the deadline open (--limit
// open-ms=N)".
std::string NameOf(std::chrono::milliseconds Deadlines::*step);

// Decides when a worker is too late with a step. A worker on an overloaded
// machine gets more time: as much as its most delayed thread has waited for a
// processor, and as much as the host itself was late to call GoesOn(). Both
// together add at most the length of one timeout.
//
//     StepDeadline deadline(timeout, [pid] { return ReadRunDelays(pid); });
//     do {
//       if (AwaitReply(deadline.next())) return;
//     } while (deadline.GoesOn());
//
// A worker that reports progress within a long step gets a new timeout:
//
//     if (progressed) deadline.Renew(timeout);
//
// The last renewal is possible kMostTimeouts timeouts after the beginning of
// the step. So a worker that reports a little progress for ever is late in the
// end, too.
//
// The worker's delays are read after a quarter of the timeout and again at its
// end; the difference counts. A step that is done within the first quarter
// costs nothing more.
//
// Times are by CLOCK_MONOTONIC. It stands still while the machine is suspended,
// and ignores changes of the wall clock, so neither takes time from a step.
//
// Trust: a hostile worker can make its threads wait for each other, which gains
// it at most this extra time. Not thread-safe.
class StepDeadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Read = std::function<RunDelays()>;

  // The time after which Renew() is refused, in timeouts since the step began.
  // An honest step with many parts takes seconds, and a longer timeout can be
  // set for slow machines.
  static constexpr int kMostTimeouts = 100;

  StepDeadline(std::chrono::milliseconds timeout, Read read)
      : StepDeadline(timeout, std::move(read), Clock::now()) {}
  StepDeadline(std::chrono::milliseconds timeout, Read read,
               Clock::time_point now);

  // Returns the time until which to wait for the worker. Then call GoesOn().
  ipc::Deadline next() const { return ipc::Deadline::At(next_); }
  // Returns whether the worker still has time. May be called at any time.
  bool GoesOn() { return GoesOn(Clock::now()); }
  bool GoesOn(Clock::time_point now);
  // Extends the deadline by time for which the worker had to wait for the host.
  void Extend(Clock::duration by) {
    began_ += by;
    end_ += by;
    next_ += by;
  }
  // Starts a new timeout of this length now. Does nothing if kMostTimeouts
  // timeouts have passed since the step began; used_up() is then true.
  void Renew(std::chrono::milliseconds timeout) {
    Renew(timeout, Clock::now());
  }
  void Renew(std::chrono::milliseconds timeout, Clock::time_point now);
  // Returns true if Renew() was refused because the timeouts were used up.
  bool used_up() const { return used_up_; }

 private:
  // Returns the delay of the most delayed thread since before_ was read.
  std::chrono::nanoseconds Waited() const;

  std::chrono::nanoseconds timeout_;
  const Read read_;
  Clock::time_point began_;  // beginning of the step, not of the timeout
  bool used_up_ = false;
  Clock::time_point end_;             // end of the timeout without extra time
  Clock::time_point next_;            // when to call GoesOn() next
  std::optional<RunDelays> before_;   // delays in the first quarter, once read
  std::chrono::nanoseconds late_{0};  // time by which GoesOn() was called late
};

}  // namespace bulkhead::worker_protocol
