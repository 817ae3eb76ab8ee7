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

#include "core/application/session/session_states.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::session {

// The worker of a session, across its deaths: starts one when one is needed,
// has the session open its stream on it, and when it dies accounts for that and
// does the step that was interrupted again, until it is done or there were
// deaths enough.
//
//     return recovery_.Run(SessionEvent::kFrameAsked, [&]() -> Result<Frame> {
//       ... recovery_.link() lives and has the stream open ...
//     });
//
// What happens when is the table of session_states.h, whose state is here.
// bulkheadd says whether anybody is to blame for a death
// (core/supervisor/blame/worker_blame.h), and remembers at which positions an
// input has killed workers; there it is refused at once. Progressed() resets
// the counts and acquits the input. Each worker after the first serves this
// session alone, so that a second death tells whose fault it is.
//
// What the caller is owed, and how to go on with it, is the session's business.
// Not thread-safe.
class WorkerRecovery {
 public:
  // The session, as far as its worker concerns it.
  class Client {
   public:
    // `link` has met the input: have the stream opened on it.
    virtual Status OpenOn(WorkerLink& link, uint32_t incarnation) = 0;
    // The link that was opened on is about to be destroyed. Unless `gone`, its
    // worker may go on writing into the memory that it was given.
    virtual void WorkerLost(bool gone) = 0;

   protected:
    ~Client() = default;
  };

  struct Settings {
    std::string device;
    bool audio = false;      // that is what is decoded, else video
    std::string input_key;   // of the input with its options; see InputKey
    Crash::Request request;  // with the options; the rest is filled in
    RecoveryObserver observer;
    Limits limits;
  };

  // `input` and `client` outlive it.
  WorkerRecovery(std::shared_ptr<SupervisorLink> supervisor,
                 const MediaInput& input, Settings settings, Client& client);

  // Does `step` (a Status or Result<T> of nothing), for which the caller asked
  // by `asked`, with workers until one lives through it.
  template <typename Step>
  auto Run(SessionEvent asked, const Step& step) -> decltype(step());

  // Inside a step or OpenOn: the worker that lives.
  WorkerLink& link() { return *link_; }
  // Null: none was started yet, or it died.
  const WorkerLink* link_if_any() const { return link_.get(); }
  // Ends a worker that lives but is of no further use.
  void DropWorker();

  void Raise(SessionEvent event) { state_ = session::Next(state_, event).next; }
  // Which frame the caller waits for from here on.
  void Want(uint64_t frame) { wanted_ = frame; }
  // The caller gets a frame.
  void Progressed();
  // The input is not to blame for the deaths at this position.
  void Acquit();

  const RecoveryStats& stats() const { return stats_; }
  // Not OK in a fork() of the process that it belongs to.
  Status CheckProcess() const { return supervisor_->CheckProcess(); }

 private:
  // The deaths since the caller's step began.
  struct Episode {
    std::chrono::steady_clock::time_point began;
    ExitReport last;
    uint32_t deaths = 0;
    std::vector<uint64_t> crashes;  // those of them that are recorded
  };

  // A worker that lives, whose stream is open and may be played.
  Status Ready(SessionEvent asked);
  // OK: do the step again. Else what the caller gets.
  Status Failed(const Status& failure);
  Status StartWorker();
  // Not OK where the input is known to kill workers.
  Status CheckPoisoned() const;
  Status AccountDeath(const Status& death);
  // `death` with what is known of it, if there is no further attempt.
  Status GiveUp(const Status& death, const ExitVerdict& exit) const;
  // What came of the deaths during a step, if there were any.
  void Recovered();
  void EndEpisode(const std::string& outcome);
  // For the record of a worker's end.
  ObservedExit DescribeStep() const;
  InputPosition position() const;
  const char* unit() const;  // in which positions are counted
  std::string PositionText() const;

  const std::shared_ptr<SupervisorLink> supervisor_;
  const MediaInput& input_;
  const Settings settings_;
  Client& client_;
  SessionCounting::Lease counter_;

  SessionState state_ = SessionState::kOpening;
  std::unique_ptr<WorkerLink> link_;
  std::string device_;  // of the latest worker
  uint64_t wanted_ = 0;
  uint32_t incarnation_ = 0;
  uint32_t blamed_deaths_ = 0;
  uint32_t innocent_deaths_ = 0;
  RecoveryStats stats_;
  SessionEvent asked_ = SessionEvent::kOpened;
  std::optional<Episode> episode_;
};

template <typename Step>
auto WorkerRecovery::Run(SessionEvent asked, const Step& step)
    -> decltype(step()) {
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
