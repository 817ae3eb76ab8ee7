// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/application/session/death_account.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::session {

// The worker of a session, across its deaths: starts a worker when one is
// needed, has the session open its stream on it, and when it dies accounts for
// the death and repeats the step that was interrupted, until the step is done
// or there were deaths enough.
//
//     return recovery_.Run(DeathAccount::Step::kNext, [&]() -> Result<Frame> {
//       ... recovery_.link() lives and has the stream open ...
//     });
//
// Every failure of a step takes one of three ways:
//
//   the worker lives          the caller gets the error; the session can be
//                             used on, with the same worker unless the worker
//                             still waits for bytes (WorkerLink::spent)
//   the worker died, and      another worker is started and the step repeated;
//   DeathAccount tries again  the caller notices only that it took longer
//   the worker died, and      the caller gets the error with an ExitReport; the
//   DeathAccount gives up     next call starts another worker
//
// bulkheadd says who is to blame for a death
// (core/supervisor/blame/culprit.h), and remembers at which positions an
// input has killed workers; there the input is refused before a step is tried.
// Each worker after the first serves this session alone, so that a second death
// tells whose fault it is.
//
// What the caller is owed, and how a new worker goes on with it, is the
// session's business. Not thread-safe.
class WorkerRecovery {
 public:
  using Step = DeathAccount::Step;

  // The session that owns the recovery.
  class Client {
   public:
    // Has the session open its stream on a worker that has met the input. The
    // first worker of a session has the incarnation 1.
    virtual Status OpenOn(WorkerLink& link, uint32_t incarnation) = 0;
    // Tells the session that its link is about to be destroyed. Unless `gone`,
    // the worker may go on writing into the memory that it was given.
    virtual void WorkerLost(bool gone) = 0;

   protected:
    ~Client() = default;
  };

  struct Settings {
    std::string device;
    std::string input_key;      // InputKey() of the input and the options
    Crash::Request request;     // the options; the rest is filled in at a death
    RecoveryObserver observer;  // may be empty
    Limits limits;
  };

  // `input` and `client` outlive it.
  WorkerRecovery(std::shared_ptr<SupervisorLink> supervisor,
                 const MediaInput& input, Settings settings, Client& client);

  // Calls `step`, which takes nothing and returns a Status or a Result<T>, with
  // one worker after the other until one lives through it. `asked` says what
  // the caller of the session wants.
  template <typename Call>
  auto Run(Step asked, const Call& step) -> decltype(step());
  // Starts the first worker and has the stream opened.
  Status Open() {
    return Run(Step::kOpen, [] { return Status(); });
  }

  // Returns the link to the live worker. Only inside a step or OpenOn().
  WorkerLink& link() { return *link_; }
  // Returns null before the first worker has started and after one was dropped.
  const WorkerLink* link_if_any() const { return link_.get(); }
  // Ends a worker that lives but is of no further use.
  void DropWorker();

  // Says which frame or sample the caller waits for from here on.
  void Want(uint64_t frame) { account_.Want(frame); }
  // Says that the caller gets the frame: forgets the deaths before it, and
  // acquits the input of them.
  void Progressed();
  // Tells bulkheadd, if something was blamed for deaths at this position, that
  // the input got past it and is not to blame.
  void Acquit();

  const RecoveryStats& stats() const { return stats_; }
  // Returns an error in a fork() of the process that opened the session.
  Status CheckProcess() const { return supervisor_->CheckProcess(); }

 private:
  // The deaths during one step of the caller.
  struct Episode {
    std::chrono::steady_clock::time_point began;
    ExitReport last;
    uint32_t deaths = 0;
    std::vector<uint64_t> crashes;  // numbers of the records of these deaths
  };

  // Makes sure that a worker lives, that its stream is open, and that the input
  // is not known to kill workers at this position.
  Status Ready(Step asked);
  // Returns OK if the step is to be repeated, else the caller's error.
  Status Failed(const Status& failure);
  Status StartWorker();
  // Returns an error where the input is known to kill workers.
  Status CheckPoisoned() const;
  // As Failed(), for a step whose worker died.
  Status AccountDeath(const Status& death);
  // Tells the observer of the deaths that the step survived, if any.
  void Recovered();
  // Tells bulkheadd what became of the deaths of the step, if any.
  void EndEpisode(const std::string& outcome);
  // Describes the step for the record of a worker's exit.
  ObservedExit DescribeStep() const;
  const char* unit() const;  // what positions count: "frame" or "sample"
  std::string PositionText() const;

  const std::shared_ptr<SupervisorLink> supervisor_;
  const MediaInput& input_;
  const Settings settings_;
  Client& client_;
  SessionCounting::Lease counter_;

  DeathAccount account_;
  std::unique_ptr<WorkerLink> link_;
  std::string device_;  // that the latest worker decodes on
  uint32_t incarnation_ = 0;
  RecoveryStats stats_;
  std::optional<Episode> episode_;  // set from the first death of a step on
};

template <typename Call>
auto WorkerRecovery::Run(Step asked, const Call& step) -> decltype(step()) {
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
