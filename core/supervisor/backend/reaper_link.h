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
// and reports their ends. It is trusted, but others may kill or stop it.
//
// Owned by Incarnation. Bound to the event loop's thread. The destructor has
// the reaper end all processes of the incarnation, then itself. EndingReapers
// waits for that; the destructor does not.
class ReaperLink {
 public:
  // The pause between two attempts to send a message or a descriptor. Other
  // classes of an incarnation use it, too.
  static constexpr kj::Duration kStarvedPause = 20 * kj::MILLISECONDS;
  // The time to wait for the report of an end, once the socket has closed.
  static constexpr kj::Duration kPatience = 500 * kj::MILLISECONDS;

  // Gets the reports of the reaper. Pids are from the reaper's namespace. A
  // pidfd is empty if the reaper could not get it.
  class Listener {
   public:
    // The reaper has started the zygote.
    virtual void OnStarted(pid_t zygote, ipc::UniqueFd pidfd) = 0;
    // Answers to Watch(): the pidfd, or that the process is no child of the
    // reaper.
    virtual void OnWatched(pid_t pid, ipc::UniqueFd pidfd) = 0;
    virtual void OnRefused(pid_t pid) = 0;
    // The pidfd of process `pid` could not be sent, since other programs have
    // too many descriptors in flight. Before OnStarted(), the process is the
    // zygote.
    virtual void OnStarved(pid_t pid) = 0;
    virtual void OnExited(pid_t pid, int wait_status) = 0;
    // The reaper has ended, or was killed by GiveUp().
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
  // Reaps the reaper once it has ended, and reports that.
  kj::Promise<void> Reap();

  // Asks for the pidfd of a process that the zygote has named: `pid_untrusted`
  // may be any number. Calls `again` later if the socket is full.
  void Watch(pid_t pid_untrusted, std::function<void()> again);
  // Asks the reaper to kill its child `pid`.
  void Kill(pid_t pid);
  // Kills the reaper if it has not ended, since it does not answer or breaks
  // the protocol. Then calls OnReaperGone().
  void GiveUp();

  bool alive() const { return alive_; }
  pid_t pid() const { return pid_; }
  // Returns how the reaper ended; empty if it runs or bulkheadd killed it.
  const std::optional<blame::ProcessExit>& exit() const { return exit_; }
  // Returns whether the kernel has killed a process of the cgroup for lack of
  // memory since the last call.
  bool TakeOutOfMemoryKill() {
    return cgroup_ && cgroup_->TakeOutOfMemoryKill();
  }

 private:
  Status OnEvent(ipc::ReceivedMessage& message);
  // Sends the message, or calls `again` later if the socket is full.
  void Send(capnp::MessageBuilder& message, std::function<void()> again);
  // Sets exit_ if the reaper has ended by itself.
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
  bool killed_ = false;  // true once bulkheadd killed it
  std::optional<blame::ProcessExit> exit_;
};

}  // namespace bulkhead::backend
