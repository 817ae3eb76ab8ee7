// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/readiness.h"
#include "core/supervisor/backend/violation_watch.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// The zygote of one incarnation as bulkheadd sees it, from its start to its
// end: what it says, whether it can be used, and how it ended.
//
// When the zygote says that it is ready, it has run vendor code. So it is not
// trusted, and is checked at that point (readiness.h). Its messages must come
// in the order of the protocol; any other message ends the zygote. With
// Forbidden::kNotify, the first message hands over the listener of its seccomp
// filter: the descriptor on which the kernel asks bulkheadd about system calls.
//
// Owned by Incarnation, which learns from the reaper which process the zygote
// is and how it ended. Bound to the event loop's thread.
class ZygoteLink {
 public:
  class Listener {
   public:
    // Called with the zygote's answers to requests for clones. If a call fails,
    // the zygote is ended.
    virtual Status OnCloned(ipc::schema::Cloned::Reader cloned_untrusted) = 0;
    virtual Status OnCloneFailed(
        ipc::schema::CloneFailed::Reader failed_untrusted) = 0;
    // Called when the zygote has ended or was killed. Callers that wait for a
    // clone get `lost`.
    virtual void OnZygoteGone(const Status& lost) = 0;

   protected:
    ~Listener() = default;
  };

  // See Incarnation. References are borrowed; `tasks` must be destroyed before
  // this object.
  ZygoteLink(kj::UnixEventPort& port, ipc::UniqueFd control,
             sandbox::Forbidden forbidden, sandbox::ExpectedCalls& expected,
             const sandbox::LoadedMemory& loading, kj::TaskSet& tasks,
             Listener& listener);
  KJ_DISALLOW_COPY(ZygoteLink);

  // Reads what the zygote says until it ends.
  kj::Promise<void> Serve();
  // Resolves once the vendor's object is loaded; fails with the reason why it
  // is not.
  kj::Promise<Status> AwaitReady(std::chrono::milliseconds timeout) {
    return readiness_.Await(timeout);
  }
  ipc::Expected<void> Send(capnp::MessageBuilder& message,
                           std::span<const int> descriptors) {
    return socket_.Send(message, descriptors);
  }

  // Learns from the reaper which process the zygote is. `pidfd` may be empty.
  void OnStarted(pid_t inner_pid, ipc::UniqueFd pidfd);
  // Learns from the reaper how the process ended.
  void OnExited(blame::ProcessExit exit);
  // Fails the start because of `why`, which is nobody's fault.
  void OnStarved(Status why) { readiness_.Fail(std::move(why)); }
  // Learns that the reaper is gone, and the zygote with it.
  void OnReaperGone(const std::optional<blame::ProcessExit>& reaper);

  // Ends the zygote. Operators get `reason`; callers that wait for a clone get
  // `code`.
  void Kill(Code code, std::string reason);
  // Notes that the zygote's end, which is about to come, is nobody's fault.
  void Excuse(std::string reason);
  // Stop and continue the process.
  void Stop();
  void Continue();

  // See ViolationWatch::Give().
  void Give(pid_t pid, sandbox::ExpectedCalls::WorkerDescriptors descriptors) {
    violations_->Give(pid, std::move(descriptors));
  }
  // See ViolationWatch::Take().
  std::optional<sandbox::Violation> TakeViolation(pid_t pid) {
    return violations_ ? violations_->Take(pid) : std::nullopt;
  }

  bool alive() const { return alive_; }
  // Returns whether the zygote runs. Asks the kernel too, since the reaper may
  // not have reported the end yet.
  bool runs() const;
  bool stopped() const { return stopped_; }
  bool lost() const { return lost_; }
  bool declined() const { return readiness_.declined(); }
  void NoteFailedClone(bool declined) { readiness_.NoteFailedClone(declined); }
  // Returns whether the listener of the filter was handed over.
  bool has_listener() const { return violations_ != nullptr; }
  // Returns whether the zygote has yet to hand over that listener. No message
  // but its first may bring a descriptor.
  bool lacks_listener() const {
    return forbidden_ == sandbox::Forbidden::kNotify && !violations_;
  }
  // Returns the pid in the reaper's namespace; 0 before the start.
  pid_t inner_pid() const { return inner_pid_; }
  pid_t pid() const;
  int pidfd() const { return pidfd_.get(); }
  const std::string& end() const { return end_; }
  ExitReport report() const;
  kj::Promise<void> WhenGone() { return gone_.addBranch(); }

  // Returns kBackendMisbehaved. `what` says what the zygote did, as a verb
  // ("sent an unknown message").
  static Status Misbehaved(const std::string& what);

 private:
  // Handle the messages of the zygote; a failure ends it.
  Status OnEvent(ipc::ReceivedMessage& message);
  Status OnLocked(ipc::ReceivedMessage& message);
  Status OnFailed(ipc::schema::Failure::Reader failed_untrusted);
  void Signal(int signal);
  // Reports the end of the zygote to all who wait. Callers that wait for a
  // clone get `code`.
  void OnGone(Code code = Code::kBackendLost);

  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  sockets::EventSocket socket_;
  const sandbox::Forbidden forbidden_;
  sandbox::ExpectedCalls& expected_calls_;
  kj::TaskSet& tasks_;
  Listener& listener_;
  Readiness readiness_;
  std::unique_ptr<ViolationWatch> violations_;  // null if there is no listener

  pid_t inner_pid_ = 0;
  ipc::UniqueFd pidfd_;
  bool alive_ = true;
  bool lost_ = false;
  bool stopped_ = false;
  // True once the socket is closed and was read to the end.
  bool heard_out_ = false;
  std::optional<CrashClaim> claim_;
  std::optional<ExitReport> exit_;
  std::string end_;  // the end in words; empty while the zygote lives
  std::optional<Code> killed_for_;  // the code that Kill() got
  kj::PromiseFulfillerPair<void> going_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> gone_ = going_.promise.fork();
};

}  // namespace bulkhead::backend
