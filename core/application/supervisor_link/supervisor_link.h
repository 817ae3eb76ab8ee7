// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/end_board.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/interruptible_turn.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/session_counting.h"
#include "core/application/supervisor_link/started_worker.h"
#include "core/application/supervisor_link/supervisor_process.h"
#include "core/application/supervisor_link/supervisor_settings.h"
#include "core/application/supervisor_link/supervisor_watch.h"
#include "core/control/control_exchange.h"
#include "core/control/event_stream.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/host.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The application's connection to bulkheadd. The link starts bulkheadd, and
// starts it again after its death; sessions then find their workers dead and
// replay. A bulkheadd that hangs is ended and replaced as well: whoever waits
// for an answer asks it once a second whether it serves (supervisor_watch.h).
//
// Thread-safe. A call occupies one connection until its answer; a thread that
// finds all connections taken opens another, so that a slow start of one
// backend holds up nobody else. One connection is kept while nobody calls.
// Threads start bulkheadd and connect to it in turn; a call that waits for its
// turn can be cancelled. bulkheadd is trusted, but may die or be stopped at any
// point: each call has a deadline. In a fork() of the process every call
// returns an error, and destroying the copy disturbs nobody.
class SupervisorLink {
 public:
  static Result<std::shared_ptr<SupervisorLink>> Start(
      SupervisorSettings settings);
  // Ends bulkheadd. Waits for that, at most for Deadlines::close, only in an
  // application that has to reap it.
  ~SupervisorLink();

  // Asks bulkheadd to find or start a worker, and to send it the session's
  // memory once the worker is locked down. Returns kBackendLost if bulkheadd
  // died meanwhile; call again. Returns kPoisonedInput or kDeadlineExceeded if
  // the input has ended too many workers while it was opened, and kCancelled if
  // `cancel` was raised meanwhile. bulkheadd ends a worker that it starts after
  // that.
  Result<StartedWorker> OpenSession(const SessionRequest& request,
                                    CancelSignal& cancel);
  // Has bulkheadd send the worker a frame pool, and keep it for the next
  // worker. `fd` is its descriptor, or -1 if bulkheadd has kept it for the
  // session `kept_for`. Returns kNotFound if bulkheadd has no such pool,
  // kBackendLost if bulkheadd or the worker died.
  Status AttachPool(const StartedWorker& worker, uint32_t slot_count,
                    uint64_t slot_bytes, int fd, uint64_t kept_for,
                    CancelSignal& cancel);
  // Waits for the end of the worker; `how` says why it ends. Returns whether it
  // is known to have ended, kBackendLost if bulkheadd died or had to be ended,
  // so that the worker ends too, and kCancelled if `cancel`, which may be null,
  // was raised meanwhile.
  Result<bool> EndWorker(const StartedWorker& worker,
                         ipc::schema::EndWorker::How how,
                         std::chrono::milliseconds patience,
                         CancelSignal* cancel);
  // Reports the exit to bulkheadd, which counts it, and blocks until bulkheadd
  // knows how the worker ended. The report has the kind kUnknown if bulkheadd
  // does not know, or if `cancel` was raised meanwhile, which stays raised.
  // Call it once for each worker.
  ExitVerdict SessionExit(const StartedWorker& worker, const ObservedExit& seen,
                          CancelSignal& cancel);
  // Returns true if the bulkheadd that started the worker lives, as far as is
  // known.
  bool StillServes(const StartedWorker& worker) const;
  // Reports to bulkheadd that the session got past `position`: the input is not
  // to blame for the deaths there.
  void FrameDelivered(const StartedWorker& worker,
                      const InputPosition& position);
  // Adds the outcome to the crash records with these numbers: "recovered", or
  // the name of a Code.
  void TellOutcome(const std::vector<uint64_t>& crashes,
                   const std::string& outcome);
  void CloseSession(const StartedWorker& worker);
  // Reports to bulkheadd that a stream left `device` for `worker`'s. `text`
  // says why, for people.
  void TellFailover(const StartedWorker& worker, const std::string& device,
                    const std::string& text);
  // Reports to bulkheadd that a stream left `device`, and that the other one
  // failed as well.
  void TellFailedFailover(const std::string& device, const std::string& text);
  // Returns the backend that has the device. Starts nothing.
  Result<std::string> FindDevice(const std::string& device);
  // Returns an error if no backend, or more than one, has the device of
  // shadow(). Starts nothing, and asks nobody once the device was found.
  Status CheckShadowDevice();
  // The following five return kCancelled if `cancel`, which may be null, was
  // raised before the reply. What bulkheadd began goes on.

  // Starts the backend of `device`, unless the backend is ready.
  Status Prepare(const std::string& device, CancelSignal* cancel = nullptr);
  // Registers and starts backends. A bulkheadd that replaces this one later
  // registers them as well.
  Result<std::vector<DeviceInfo>> Load(const ExplicitLoad& load,
                                       CancelSignal* cancel = nullptr);
  // Passes an operator's command about a backend to bulkheadd.
  Status Command(const std::string& backend,
                 ipc::schema::BackendCommand::Action action,
                 CancelSignal* cancel = nullptr);
  // Has bulkheadd compare the frames of the worker's session, which the
  // application sends over the other end of `frames`, with another device's
  // frames. Sends no descriptors if `fill` says why that cannot be. Does
  // nothing if bulkheadd died meanwhile.
  void Shadow(const StartedWorker& worker,
              const std::function<void(ipc::schema::Shadow::Builder)>& fill,
              std::span<const int> media_and_frames);
  const std::optional<ShadowOptions>& shadow() const {
    return settings_.shadow;
  }
  Result<BackendReport> Backends(CancelSignal* cancel = nullptr);
  Result<SandboxReport> Sandbox(CancelSignal* cancel = nullptr);

  SessionCounting::Lease CountSession() { return counting_->Take(); }

  // Marks the process that made the link. In a fork() of it every call returns
  // ForkedError().
  const ForkMark& process() const { return fork_mark_; }
  // Returns the pid of bulkheadd; 0 in a fork().
  pid_t pid() const;
  const Deadlines& deadlines() const { return settings_.deadlines; }
  // Returns where crashes are recorded; empty if they are not.
  const std::string& state_directory() const {
    return settings_.state_directory;
  }

 private:
  using Request = ipc::schema::HostRequest;
  using Reply = ipc::schema::HostReply;

  // Added to the time for which bulkheadd itself waits, so that its answer,
  // which names the cause, arrives before the application gives up.
  static constexpr std::chrono::milliseconds kSlack{2'000};

  struct Connection {
    ipc::UniqueFd socket;
    uint64_t generation = 0;
    std::shared_ptr<SupervisorWatch> watch;
  };

  SupervisorLink(SupervisorSettings settings,
                 std::shared_ptr<SessionCounting> counting,
                 InterruptibleTurn turn);
  // Returns how long bulkheadd may take to answer a request for which it may
  // have to start a backend. The time covers waiting until the installed files
  // no longer change, and the starts of the backend, of the worker that counts
  // devices, and of a session worker or of the check of a successor.
  std::chrono::milliseconds StartPatience() const;
  // Returns the same for a request that waits for nothing.
  std::chrono::milliseconds ListPatience() const;
  // The functions with InTurn in their names need turn_, and not mutex_. They
  // give up, with kDeadlineExceeded, once `interrupt_fd` is readable; -1 is for
  // none.
  Status StartInTurn(int interrupt_fd);
  Status ConfigureInTurn(int interrupt_fd);
  std::optional<Connection> TakeIdle();
  // Takes an idle connection or opens one; starts bulkheadd if it is dead, or
  // if it hangs and `timeout` is long enough to find out. Gives up as the
  // functions above do.
  Result<Connection> Acquire(std::chrono::milliseconds timeout,
                             int interrupt_fd);
  void Return(Connection connection);
  // Records that the bulkheadd with the number `generation` is dead. Returns
  // `loss`, or kResourceExhausted if limits of this process explain it.
  Status Lost(uint64_t generation, Status loss);
  // Returns the same for a bulkheadd that has answered nothing but its
  // configuration, and counts it.
  Status ExplainLossLocked(Status loss);
  // Sends one request, passes the reply to `take`, then delivers events. Sets
  // `*generation` to the number of the bulkheadd that was asked. Returns
  // kCancelled if `cancel`, which may be null, was raised before the reply.
  Status Call(const FillRequest& fill, std::span<const int> fds,
              std::chrono::milliseconds timeout, const TakeReply& take,
              uint64_t* generation = nullptr, CancelSignal* cancel = nullptr);
  // Returns whether that bulkheadd is the present one and not known to be lost.
  bool Serves(uint64_t generation) const;
  // Takes a place where that bulkheadd shows the end of a worker. Empty if the
  // bulkheadd was replaced, or if there is no place left.
  EndBoard::Place TakeEnd(uint64_t generation) const;
  // Calls once more if bulkheadd is lost, as any bulkheadd can answer.
  Status Ask(const FillRequest& fill, std::chrono::milliseconds timeout,
             const TakeReply& take, CancelSignal* cancel = nullptr);
  // Does the same as Exchange(), and returns kBackendLost if bulkheadd hangs.
  static Status WatchedExchange(const Connection& connection,
                                const FillRequest& fill,
                                std::span<const int> fds,
                                ipc::Deadline deadline, const TakeReply& take,
                                bool& answered);
  // Returns a socket on which bulkheadd serves.
  Result<ipc::UniqueFd> ConnectInTurn(std::chrono::milliseconds timeout,
                                      int interrupt_fd);
  // Subscribes to the events of the present bulkheadd.
  Status FollowInTurn(int interrupt_fd);
  // Hands events to the observer, unless another thread is doing so.
  void DeliverEvents();

  // Constant after construction.
  const SupervisorSettings settings_;
  const ForkMark fork_mark_;
  const std::shared_ptr<SessionCounting> counting_;
  std::atomic<bool> delivering_ = false;
  std::atomic<bool> shadow_device_known_ = false;

  // Held while bulkheadd is started or connected to, for as long as that takes.
  // Taken before mutex_.
  const InterruptibleTurn turn_;
  // Protected by turn_.
  std::shared_ptr<SupervisorWatch> watch_;
  // Changed under both turn_ and mutex_.
  std::shared_ptr<EndBoard> ends_;

  // Held for moments only.
  mutable std::mutex mutex_;
  // Changed under both turn_ and mutex_.
  SupervisorProcess process_;
  // Protected by mutex_.
  uint64_t generation_ = 0;
  bool alive_ = false;
  int futile_starts_ = 0;  // in a row, of bulkheadds that answered nothing
  std::vector<Connection> idle_;
  std::vector<ExplicitLoad> loads_;
  // The events of each bulkheadd in turn. The thread that delivers uses the
  // front one without the mutex.
  std::deque<EventStream> streams_;
};

}  // namespace bulkhead::supervisor_link
