// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// The reaper of one incarnation as bulkheadd sees it. It is pid 1 of its pid
// namespace, starts the zygote, opens the pidfds of the processes, kills them
// and reports their ends. It is trusted, and can still be killed or stopped by
// others.
//
// Owned by Incarnation. Bound to the event loop's thread. Destroying it ends
// the reaper and with the reaper every process of the incarnation;
// EndingReapers sees to that, and nothing waits.
class ReaperLink {
 public:
  // The time between two attempts to send, also for others of an incarnation.
  static constexpr kj::Duration kStarvedPause = 20 * kj::MILLISECONDS;
  // The time between the end of a process on its socket and the report of it.
  static constexpr kj::Duration kPatience = 500 * kj::MILLISECONDS;

  // Learns what the reaper says. Pids are from the reaper's namespace. A pidfd
  // is empty if the reaper could not get it.
  class Listener {
   public:
    virtual void OnStarted(pid_t zygote, ipc::UniqueFd pidfd) = 0;
    virtual void OnWatched(pid_t pid, ipc::UniqueFd pidfd) = 0;
    // The process is no child of the reaper.
    virtual void OnRefused(pid_t pid) = 0;
    // A pidfd could not be sent, since others have too many in flight. Until
    // the zygote has started, the pidfd is the zygote's.
    virtual void OnStarved(pid_t pid) = 0;
    virtual void OnExited(pid_t pid, int wait_status) = 0;
    // The reaper has ended, or was ended since it could not be spoken to.
    virtual void OnReaperGone() = 0;

   protected:
    ~Listener() = default;
  };

  // `tasks` and `listener` are borrowed; `tasks` must be destroyed before this
  // object.
  ReaperLink(kj::UnixEventPort& port, pid_t pid, ipc::UniqueFd pidfd,
             ipc::UniqueFd control, std::unique_ptr<sandbox::Cgroup> cgroup,
             EndingReapers& ending, kj::TaskSet& tasks, Listener& listener);
  ~ReaperLink() noexcept(false);
  KJ_DISALLOW_COPY(ReaperLink);

  // Reads what the reaper says until it ends.
  kj::Promise<void> Serve();
  // Reaps the reaper once it has ended.
  kj::Promise<void> Reap();

  // Asks for the pidfd of a process that the zygote has named, which may be
  // any. Calls `again` later if the socket is full.
  void Watch(pid_t pid_untrusted, std::function<void()> again);
  void Kill(pid_t pid);
  // Ends a reaper that cannot be spoken to, which neither reaps nor reports.
  void GiveUp();

  bool alive() const { return alive_; }
  pid_t pid() const { return pid_; }
  // Returns how the reaper ended, unless it runs or bulkheadd killed it.
  const std::optional<blame::ProcessExit>& exit() const { return exit_; }
  // Returns whether the kernel ended a process of the cgroup for want of
  // memory, since the last call.
  bool TakeOutOfMemoryKill() {
    return cgroup_ && cgroup_->TakeOutOfMemoryKill();
  }

 private:
  Status OnEvent(ipc::ReceivedMessage& message);
  void Send(capnp::MessageBuilder& message, std::function<void()> again);
  // Learns how the reaper ended, if it has.
  void Look();

  kj::Timer& timer_;
  const pid_t pid_;
  const ipc::UniqueFd pidfd_;
  kj::UnixEventPort::FdObserver observer_;
  std::unique_ptr<sockets::EventSocket> socket_;  // null during destruction
  std::unique_ptr<sandbox::Cgroup> cgroup_;       // null if there is none
  EndingReapers& ending_;
  kj::TaskSet& tasks_;
  Listener& listener_;
  bool alive_ = true;
  bool killed_ = false;
  std::optional<blame::ProcessExit> exit_;
};

}  // namespace bulkhead::backend
