// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/common.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/application/session/current_worker.h"
#include "core/application/session/death_account.h"
#include "core/application/session/failover.h"
#include "core/application/session/failover_record.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/session_counters.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/recovery.h"

namespace bulkhead::session {

// Carries out the steps of a session even if workers die. A step is one call on
// the stream, such as "next frame". WorkerRecovery starts a worker
// (CurrentWorker) when a step needs one. When the worker dies, it counts the
// death (DeathAccount) and repeats the interrupted step with another worker,
// until the step is done or DeathAccount gives up.
//
//     return recovery_.Run(Step::kNext, number, [&]() -> Result<Frame> {
//       ... recovery_.link() lives and has the stream open ...
//     });
//
// A step that fails has one of three outcomes:
//
//   the worker lives          The caller gets the error. The next step uses the
//                             same worker, or a new one if this one cannot be
//                             used any more (WorkerLink::spent()).
//   the worker died, and      Another worker repeats the step. The caller only
//   DeathAccount tries again  notices that the step took longer.
//   the worker died, and      The caller gets the error with an ExitReport.
//   DeathAccount gives up     The next call starts another worker.
//
// If the backend failed and the caller has named a second device (on_failure),
// the step is repeated on that device, and the caller gets no error
// (failover.h). The device changes at most once.
//
// bulkheadd decides who is to blame for a death
// (core/supervisor/blame/culprit.h), and remembers the positions at which an
// input has killed workers. This class refuses to try a step at such a
// position. After a death, each worker serves this session alone, so that a
// second death shows whose fault it is.
//
// Owned by a VideoSession, AudioSession or ProbeSession (here: the session),
// which decides how a new worker continues the step. Not thread-safe, except
// for Cancel().
class WorkerRecovery {
 public:
  using Step = Awaited::Step;

  using Client = CurrentWorker::Client;

  struct Settings {
    DeviceChoice device;
    // The device on which the stream continues if the backend of `device`
    // fails.
    std::optional<DeviceChoice> elsewhere;
    RecoveryObserver observer;  // may be empty
    Limits limits;
    std::shared_ptr<supervisor_link::CancelSignal> cancel;
  };

  // `input` and `client` must outlive the object.
  WorkerRecovery(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
                 const worker_link::MediaInput& input, Settings settings,
                 Client& client);

  // Calls `step`, with one worker after the other, until a worker survives the
  // call or the step is given up. `step` takes nothing and returns a Status or
  // a Result<T>. `asked` is the kind of the step.
  template <typename Call>
  auto Run(Step asked, const Call& step) -> decltype(step());
  // Does the same for a step that fetches the frame or sample with the number
  // `wanted`.
  template <typename Call>
  auto Run(Step asked, uint64_t wanted, const Call& step) -> decltype(step()) {
    awaited_.wanted = wanted;
    if (any_died()) account_.Want(wanted);
    return Run(asked, step);
  }
  // Starts the first worker, which opens the stream.
  Status Open();

  // Returns the link to the live worker. Valid only within a step or OpenOn().
  worker_link::WorkerLink& link() { return *worker_.link(); }
  // Returns the pid of the live worker, or 0 if there is none.
  int worker_pid() const { return worker_.link() ? worker_.link()->pid() : 0; }
  // Ends a worker that cannot be used any more, and destroys the link.
  void DropWorker();

  // Records that the worker that has just died was one frame ahead: it was
  // decoding the frame after the wanted frame.
  void DiedAhead() { awaited_.ahead = true; }
  // Records that the caller gets the wanted frame or samples. Forgets earlier
  // deaths and acquits the input of them.
  void Progressed();
  // Acquits the input: if something was blamed for a death at this position,
  // reports to bulkheadd that a worker got past the position.
  void Acquit();

  // Records a comparison of both devices' frames after a failover.
  void Compared(const Comparison& comparison) {
    failover_.Compared(comparison);
  }

  const RecoveryStats& stats() const { return stats_; }
  // Begins a call of the application, which may consist of any number of steps.
  // Returns an error in a forked child of the process that opened the session,
  // and kCancelled if Cancel() was called since the last call.
  //
  // A call is overdue after StepDeadline::kMostTimeouts times Deadlines::frame.
  // An overdue call ends with its next blamed death, even if it has delivered
  // frames.
  Status BeginCall();
  // Ends the present call; if no call is running, the next one. May be called
  // on any thread.
  void Cancel() { cancel_->Raise(); }

 private:
  // The deaths of workers during one step, from the first death on.
  struct Episode {
    std::chrono::steady_clock::time_point began =
        std::chrono::steady_clock::now();
    ExitReport last;
    uint32_t deaths = 0;
    std::vector<uint64_t> crashes;  // numbers of the crash records
  };

  // Returns whether any worker of this session has died.
  bool any_died() const { return stats_.restarts > 0; }
  // Returns the present episode, and begins one if there is none.
  Episode& BeginEpisode();
  // Makes sure that a worker lives and has the stream open, and that the input
  // is not known to kill workers at this position.
  Status Ready(Step asked);
  // Handles the failure of a step. Returns OK if the step must be repeated; if
  // not, returns the error for the caller.
  Status Failed(const Status& failure);
  // Handles the death of the worker. Returns the same as Failed().
  Status AccountDeath(const Status& death);
  // If `failure` is a failure of the backend and there is a second device,
  // changes to that device and returns true. If not, returns false.
  bool GoOnElsewhere(const Status& failure);
  // Ends a step that has succeeded. If workers died in it or the device has
  // changed, reports the recovery to the observer.
  void Recovered();
  // Ends the present episode, if any, and reports its outcome to bulkheadd for
  // the crash records.
  void EndEpisode(const std::string& outcome);
  // Describes the present step for the crash record of its worker.
  supervisor_link::ObservedExit DescribeStep() const;
  // Returns the input and the position in words: "clip.mp4, at frame 37".
  std::string PositionText() const;

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const supervisor_link::ForkMark& process_;
  const worker_link::MediaInput& input_;
  const RecoveryObserver observer_;  // may be empty
  const Limits limits_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  const char* const unit_;  // "frame" for video, "sample" for audio
  const supervisor_link::SessionCounting::Lease counting_;
  SessionCounter& counter_;

  Awaited awaited_;
  DeathAccount account_;
  std::optional<DeviceChoice> elsewhere_;  // second device; empty once in use
  CurrentWorker worker_;
  bool progressed_ = false;  // any worker has delivered something
  bool delivered_ = false;   // the latest worker has delivered something
  bool poisoned_ = false;    // CheckAccepts() refuses some position
  std::chrono::steady_clock::time_point call_began_;
  RecoveryStats stats_;
  FailoverRecord failover_;         // keeps stats_.failover
  std::optional<Episode> episode_;  // set from the first death of a step on
};

template <typename Call>
auto WorkerRecovery::Run(Step asked, const Call& step) -> decltype(step()) {
  const std::chrono::nanoseconds since = call_began_.time_since_epoch();
  counter_.waiting_since.store(since.count(), std::memory_order_relaxed);
  KJ_DEFER(counter_.waiting_since.store(0, std::memory_order_relaxed));
  for (;;) {
    Status failure = Ready(asked);
    if (failure.ok()) {
      auto result = step();
      if constexpr (std::is_same_v<decltype(result), Status>) {
        if (result.ok()) return Recovered(), result;
        failure = std::move(result);
      } else {
        if (result) return Recovered(), std::move(result);
        failure = std::move(result).error();
      }
    }
    if (Status end = Failed(failure); !end.ok()) return end;
  }
}

}  // namespace bulkhead::session
