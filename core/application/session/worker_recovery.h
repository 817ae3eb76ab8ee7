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

#include "core/application/session/death_account.h"
#include "core/application/session/failover.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/session_counters.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::session {

class DeviceVetting;

// Keeps a session supplied with a worker. Starts a worker when one is needed
// and lets the session open its stream on the worker. When the worker dies,
// accounts for the death and repeats the interrupted step with another worker,
// until the step is done or DeathAccount gives up.
//
//     return recovery_.Run(Step::kNext, number, [&]() -> Result<Frame> {
//       ... recovery_.link() lives and has the stream open ...
//     });
//
// Every failure of a step takes one of three ways:
//
//   the worker lives          the caller gets the error; the session can be
//                             used on, with the same worker unless the worker
//                             still waits for bytes or is at a step that was
//                             cancelled (WorkerLink::spent)
//   the worker died, and      another worker is started and the step repeated;
//   DeathAccount tries again  the caller notices only that it took longer
//   the worker died, and      the caller gets the error with an ExitReport; the
//   DeathAccount gives up     next call starts another worker
//
// Where the backend failed and the caller named another device for that case,
// the step is repeated there instead of the error (failover.h), once.
//
// bulkheadd decides who is to blame for a death
// (core/supervisor/blame/culprit.h), and remembers the positions at which an
// input has killed workers. At those positions this class refuses the input
// before it tries a step. Each worker after a death serves this session alone,
// so that a second death shows whose fault it is.
//
// The session knows what the caller waits for and how a new worker continues.
// Not thread-safe.
class WorkerRecovery {
 public:
  using Step = Awaited::Step;

  // The session that owns the recovery.
  class Client {
   public:
    // Opens the stream of the session on a worker that has been given the
    // input. `link` stays valid until WorkerLost(). `incarnation` is 1 for the
    // first worker of the session. Returns false if an earlier worker found
    // another stream in the input.
    virtual Result<bool> OpenOn(worker_link::WorkerLink& link,
                                uint32_t incarnation) = 0;
    // Says to the session that the link, and the play on it, are about to be
    // destroyed. Unless `kept`, no other worker can get the memory that this
    // one was given: it may still write there, or bulkheadd keeps no descriptor
    // of it.
    virtual void WorkerLost(bool kept) = 0;
    // Says to the session that all later workers are from Settings::elsewhere.
    virtual void DeviceChanged() {}

   protected:
    ~Client() = default;
  };

  struct Settings {
    std::string device;
    std::string input_key;      // InputKey() of the input and the options
    Crash::Request request;     // the options; the rest is filled in at a death
    RecoveryObserver observer;  // may be empty
    Limits limits;
    std::shared_ptr<supervisor_link::CancelSignal> cancel;
    // Checks before the first worker is started whether the device is right for
    // the input (SessionRequest::vet), and explains why it was not. May be
    // null.
    std::shared_ptr<const DeviceVetting> vetting;
    // The device on which the stream goes on if the backend fails, or null. Of
    // these settings, only device, input_key, request and vetting count.
    std::shared_ptr<const Settings> elsewhere = nullptr;
  };

  // `input` and `client` must outlive the object.
  WorkerRecovery(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
                 const worker_link::MediaInput& input, Settings settings,
                 Client& client);

  // Calls `step`, which takes nothing and returns a Status or a Result<T>, with
  // one worker after the other until a worker survives the call. `asked` is the
  // step that the caller of the session asked for.
  template <typename Call>
  auto Run(Step asked, const Call& step) -> decltype(step());
  // Does the same for a step at whose end the caller has the frame or sample
  // `wanted`.
  template <typename Call>
  auto Run(Step asked, uint64_t wanted, const Call& step) -> decltype(step()) {
    awaited_.wanted = wanted;
    if (any_died()) account_.Want(wanted);
    return Run(asked, step);
  }
  // Starts the first worker and has the stream opened.
  Status Open();

  // Returns the link to the live worker. Call this only inside a step or
  // OpenOn().
  worker_link::WorkerLink& link() { return *link_; }
  // Returns the pid of the live worker, or 0 if there is none.
  int worker_pid() const { return link_ ? link_->pid() : 0; }
  // Ends the worker and destroys the link, for a worker that is of no further
  // use.
  void DropWorker();

  // Records that the worker, which has died, was at the frame after the wanted
  // one.
  void DiedAhead() { awaited_.ahead = true; }
  // Records that the caller gets the frame: forgets earlier deaths and acquits
  // the input of them.
  void Progressed();
  // Reports to bulkheadd, if something was blamed for deaths at this position,
  // that the input got past the position and is not to blame.
  void Acquit();

  // Records how the device's frames compare with the failed one's, if they were
  // compared.
  void Compared(const std::optional<Comparison>& comparison);

  const RecoveryStats& stats() const { return stats_; }
  // Begins a call of the application, in which any number of steps may follow.
  // A call that lasts for StepDeadline::kMostTimeouts of the deadline `frame`
  // ends with the next death that is not innocent, even if frames were
  // delivered in between. Returns an error in a fork() of the process that
  // opened the session, and kCancelled if Cancel() was called since the call
  // before.
  Status BeginCall();
  // Ends the call that is under way, or the next one. On any thread.
  void Cancel() { cancel_->Raise(); }

 private:
  // The deaths during one step of the caller.
  struct Episode {
    std::chrono::steady_clock::time_point began;
    ExitReport last;
    uint32_t deaths = 0;
    std::vector<uint64_t> crashes;  // numbers of the records of these deaths
  };

  bool any_died() const { return stats_.restarts > 0; }
  // Makes sure that a worker lives, that its stream is open, and that the input
  // is not known to kill workers at this position.
  Status Ready(Step asked);
  // Handles the failure of a step. Returns OK if the step is to be repeated,
  // else the error for the caller.
  Status Failed(const Status& failure);
  Status StartWorker();
  // Returns an error if the input is known to kill workers at this position.
  Status CheckPoisoned() const;
  // Handles the failure of a step whose worker died, with the same result as
  // Failed().
  Status AccountDeath(const Status& death);
  // Changes the device if `failure` is one of the backend and another device is
  // to go on. Returns false if the caller gets the failure.
  bool GoOnElsewhere(const Status& failure);
  // Reports the deaths and the change of the device that the step survived, if
  // any, to the observer.
  void Recovered();
  // Reports to bulkheadd what became of the deaths of the step, if any.
  void EndEpisode(const std::string& outcome);
  // Describes the step for the record of a worker's exit.
  supervisor_link::ObservedExit DescribeStep() const;
  const char* unit() const;  // what positions count: "frame" or "sample"
  std::string PositionText() const;

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const supervisor_link::ForkMark& process_;
  const worker_link::MediaInput& input_;
  Settings settings_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  Client& client_;
  const supervisor_link::SessionCounting::Lease counting_;
  SessionCounter& counter_;

  Awaited awaited_;
  DeathAccount account_;
  std::unique_ptr<worker_link::WorkerLink> link_;
  // The link of the worker that died last, until another has started: as long
  // as its session is open, bulkheadd keeps the version of the backend that it
  // had.
  std::unique_ptr<worker_link::WorkerLink> lost_;
  bool delivered_ = false;   // by the latest worker
  bool progressed_ = false;  // by any worker
  bool vetted_ = false;      // the present device
  bool told_failover_ = false;
  bool told_both_failed_ = false;
  std::string device_;  // of the latest worker
  uint32_t incarnation_ = 0;
  std::chrono::steady_clock::time_point call_began_;
  RecoveryStats stats_;
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
