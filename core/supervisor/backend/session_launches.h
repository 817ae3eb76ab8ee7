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

// Launches a reaper and a zygote of its own for each session of a backend with
// start = "exec". The zygote loads the vendor's shared object anew, is cloned
// once, for the session's worker, and ends with the session. So no change in
// memory can reach a later session, whether an earlier session or the zygote
// that counted the devices made it. Each session has an address space layout, a
// sandbox, a log and, where there are cgroups, a cgroup of its own.
//
// A load costs as much as a start of the backend. So at most kMaxAtOnce loads
// run at a time: more of them would share the processors and miss the deadline,
// and the backend would be blamed. Other sessions wait for their turn, at most
// as long as a start may take.
//
// This class launches and reports the outcome. Incarnations decides whose fault
// a failure was. The session's worker (workers.h) holds the launched
// incarnation and so keeps it running. The vendor's code runs in the zygote
// before the zygote is ready, so the zygote is as hostile as any
// (incarnation.h).
//
// Owned by Incarnations. Bound to the event loop's thread.
class SessionLaunches : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr uint32_t kMaxAtOnce = 4;

  struct Outcome {
    Status status;
    // The launched incarnation; null if nothing was launched, which is not the
    // backend's fault.
    std::shared_ptr<Incarnation> incarnation;
    // True if the files are not the verified ones any more. Then the outcome
    // counts for nothing.
    bool files_changed = false;
  };

  // `on_zygote_end` is called when a zygote that was ready ends before its
  // session. `context` must outlive this object.
  SessionLaunches(const StartContext& context,
                  std::function<void(Incarnation&)> on_zygote_end);
  KJ_DISALLOW_COPY(SessionLaunches);

  // Launches for one session. `life` becomes the number of the incarnation.
  kj::Promise<Outcome> Launch(std::shared_ptr<const BackendLaunch> launch,
                              uint32_t life);
  // Ends the zygotes of all sessions, as Incarnation::KillZygote does. Sessions
  // go on without them; a load that is under way fails.
  void KillZygotes(Code code, const std::string& reason);

 private:
  // The permission to load, of which kMaxAtOnce exist. The destructor passes
  // the permission to the next session that waits.
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
  // Gives a turn that has ended to the next session that waits.
  void PassTurn();
  // Calls LoadUnchanged() if no file has changed.
  kj::Promise<Outcome> Load(std::shared_ptr<const BackendLaunch> launch,
                            uint32_t life);
  kj::Promise<Outcome> LoadUnchanged(
      std::shared_ptr<const BackendLaunch> launch, uint32_t life);
  // Calls on_zygote_end_ when the zygote ends before its session.
  void Watch(const std::shared_ptr<Incarnation>& incarnation);

  const StartContext& context_;
  const std::function<void(Incarnation&)> on_zygote_end_;
  uint32_t turns_ = 0;  // the turns that are taken
  std::deque<kj::Own<kj::PromiseFulfiller<MaybeTurn>>> waiting_;
  std::vector<std::weak_ptr<Incarnation>> launched_;
  kj::TaskSet tasks_;  // the last member: its tasks use the others
};

}  // namespace bulkhead::backend
