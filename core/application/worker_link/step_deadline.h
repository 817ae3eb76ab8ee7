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

namespace bulkhead::session {

// How long each thread of a process, by its id, has been ready to run and had
// no processor. Empty: this cannot be told.
using RunDelays = std::map<pid_t, std::chrono::nanoseconds>;

// As the kernel counts it (/proc/PID/task/TID/schedstat), of at most 256
// threads. A wait is counted when it ends: a thread that got no processor at
// all counts for nothing yet.
RunDelays ReadRunDelays(pid_t pid);

// In a message: "the deadline open (--limit open-ms=N)".
std::string NameOf(std::chrono::milliseconds Deadlines::*step);

// When a worker is too late with a step. Where the machine is overloaded it may
// take longer: by as much as the thread of the worker that waited most for a
// processor has waited for it, and by as much as we ourselves came late to
// look, together at most by the timeout once more.
//
//     StepDeadline deadline(timeout, [pid] { return ReadRunDelays(pid); });
//     do {
//       if (AwaitReply(deadline.next())) return;
//     } while (deadline.GoesOn());
//
// A step that is done in a quarter of its time costs nothing more: only then
// the worker's delays are looked at for the first time, and again at the end.
// Waits before that first look do not count.
//
// Times are those of CLOCK_MONOTONIC, which stands still while the machine is
// suspended and does not know of the wall clock's leaps: neither takes anything
// from a step.
//
// Trust: a hostile worker can make its threads wait for each other, which gets
// it no more than the second timeout. Not thread-safe.
class StepDeadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Read = std::function<RunDelays()>;

  StepDeadline(std::chrono::milliseconds timeout, Read read)
      : StepDeadline(timeout, std::move(read), Clock::now()) {}
  StepDeadline(std::chrono::milliseconds timeout, Read read,
               Clock::time_point now);

  // Until when to wait before GoesOn() is asked.
  ipc::Deadline next() const { return ipc::Deadline::At(next_); }
  // False: the step is over. At any time.
  bool GoesOn() { return GoesOn(Clock::now()); }
  bool GoesOn(Clock::time_point now);
  // By time that the worker had no part in.
  void Extend(Clock::duration by) {
    end_ += by;
    next_ += by;
  }

 private:
  std::chrono::nanoseconds Waited() const;

  const std::chrono::nanoseconds timeout_;
  const Read read_;
  Clock::time_point end_;  // without overload
  Clock::time_point next_;
  std::optional<RunDelays> before_;  // at the first look
  std::chrono::nanoseconds late_{0};
};

}  // namespace bulkhead::session
