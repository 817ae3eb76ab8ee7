// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/incarnation.h"

namespace bulkhead::backend {

// Launches a reaper and a zygote of its own for each session of a backend whose
// sessions must have nothing in common. The zygote loads the object anew, is
// cloned once, for the session's worker, and ends with the session. So nothing
// that an earlier session, or the zygote that counted the devices, did in
// memory can reach a later session: each has an address space layout, a
// sandbox, a log and, where there are cgroups, a cgroup of its own.
//
// A load is as dear as a start of the backend, so at most kMaxAtOnce run at a
// time, and the others wait for their turn: loads that share the processors
// among too many would miss the deadline, and the backend would be blamed. A
// session waits for its turn at most as long as a start may take.
//
// Launches and reports; BackendProcesses says whose fault a failure was.
// Whoever holds the launched incarnation, which is the session's worker in
// workers.h, keeps it running. The vendor's code runs in the zygote before it
// is ready, so the zygote is as hostile as any (incarnation.h).
//
// Owned by BackendProcesses. Bound to the event loop's thread.
class SessionLaunches : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr uint32_t kMaxAtOnce = 4;

  struct Outcome {
    Status status;
    // Null if nothing was launched, which is not the backend's fault.
    std::shared_ptr<Incarnation> incarnation;
    // True if what was loaded, or could not be, is not what was verified.
    bool files_changed = false;
  };

  // `on_zygote_end` is called when a zygote that was ready ends before its
  // session. `context` must outlive this object.
  SessionLaunches(const StartContext& context,
                  std::function<void(Incarnation&)> on_zygote_end);
  KJ_DISALLOW_COPY(SessionLaunches);

  // Launches for one session. `life` becomes the incarnation's number.
  kj::Promise<Outcome> Launch(std::shared_ptr<const BackendLaunch> launch,
                              uint32_t life);
  // Ends the zygotes of all sessions, as Incarnation::KillZygote does. Sessions
  // go on without them; a load that is under way fails.
  void KillZygotes(Code code, const std::string& reason);

 private:
  // A place among the kMaxAtOnce. The next in line gets it when this one is
  // destroyed.
  class Turn {
   public:
    explicit Turn(SessionLaunches& launches) : launches_(launches) {}
    ~Turn() noexcept(false) { launches_.PassTurn(); }
    KJ_DISALLOW_COPY(Turn);

   private:
    SessionLaunches& launches_;
  };
  using MaybeTurn = kj::Maybe<kj::Own<Turn>>;

  void taskFailed(kj::Exception&&) override;
  // Resolves with a turn, or with nothing after the deadline of a start.
  kj::Promise<MaybeTurn> AwaitTurn();
  void PassTurn();
  kj::Promise<Outcome> Load(std::shared_ptr<const BackendLaunch> launch,
                            uint32_t life);
  kj::Promise<Outcome> LoadUnchanged(
      std::shared_ptr<const BackendLaunch> launch, uint32_t life);
  void Watch(const std::shared_ptr<Incarnation>& incarnation);

  const StartContext& context_;
  const std::function<void(Incarnation&)> on_zygote_end_;
  uint32_t turns_ = 0;
  std::deque<kj::Own<kj::PromiseFulfiller<MaybeTurn>>> waiting_;
  std::vector<std::weak_ptr<Incarnation>> launched_;
  kj::TaskSet tasks_;  // the last member: its tasks use the others
};

}  // namespace bulkhead::backend
