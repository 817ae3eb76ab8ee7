// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/step_deadline.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/served_media.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::session {

// One incarnation of a session's worker: started, spoken to, dead once and for
// all. WorkerRecovery makes the next one. Its process may serve other sessions
// too (worker_scope = "backend"), which for us means only: it is left alive
// when we are done with it, and killed all the same for what it does to us.
//
// Trust: the worker is hostile. Every reply is copied out, checked against what
// was asked and against the pool's ledger, and only then seen by anybody. The
// first thing that does not hold ends the worker with kBackendMisbehaved.
//
// Failure: kBackendLost when it died, kDeadlineExceeded when it was killed for
// being late, kBackendMisbehaved when it was killed for lying; after these
// dead() is true and exit() tells more. Any other code is what the worker said
// about the input, and it lives on.
//
// Not thread-safe.
class WorkerLink {
 public:
  static Result<std::unique_ptr<WorkerLink>> Start(
      std::shared_ptr<SupervisorLink> supervisor,
      const SessionRequest& request);
  // As End(), and closes the session.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // Waits until it reports its lock-down, then hands it its memory and the
  // media, or a window to it. `input` outlives the link.
  Status Attach(const MediaInput& input);

  Status Send(size_t max_words, const WorkerChannel::FillRequest& fill);
  // Of a step that begins now, which is `step` of the deadlines that there are:
  // &Deadlines::open.
  StepDeadline Within(std::chrono::milliseconds Deadlines::*step);
  // Waits for a reply and hands it to `take`, which validates. `step` is what
  // the worker is late with: "open the file". Meanwhile reads the media for it,
  // if it cannot do so itself, in time that does not count; when the
  // application's reader fails, so does this, and the link is spent().
  Status Receive(StepDeadline& deadline, const char* step,
                 const std::function<Status(ipc::schema::Reply::Reader)>& take);
  // The pool must have no slot granted to anybody else.
  Status AttachPool(std::shared_ptr<FramePool> pool);
  // kResourceExhausted: the application holds every slot.
  Status GrantFreeSlots();
  // What it says went wrong.
  Status FailureOf(ipc::schema::Failed::Reader failed_untrusted);
  // Ends it for what it sent, and says so.
  Status Misbehaved(const std::string& what);
  // In words, for the record of its end.
  void SetLastRequest(std::string request) {
    last_request_ = std::move(request);
  }

  // Null before AttachPool.
  const std::shared_ptr<FramePool>& pool() const { return pool_; }
  // Kills it if it lives and serves nobody else. Whether it is gone.
  bool End();
  bool dead() const { return dead_; }
  // It lives, but waits for bytes that it does not get: of no further use.
  bool spent() const { return spent_; }
  // True when the worker is known to have ended, so that its memory is ours.
  bool gone() const { return gone_; }
  // How it ended. Only when dead(), and once: bulkheadd is told, and counts it.
  // `session` has what the session knows, and the rest is added to it.
  ExitVerdict TakeExit(ObservedExit session);
  pid_t pid() const;
  const StartedWorker& started() const { return started_; }
  std::chrono::microseconds start_time() const { return start_time_; }

 private:
  WorkerLink(std::shared_ptr<SupervisorLink> supervisor,
             std::chrono::steady_clock::time_point asked_at,
             StartedWorker started, ipc::UniqueFd socket,
             std::unique_ptr<WorkerChannel> channel);

  // Returns a function that sends over the worker's socket until `deadline`,
  // and whose failure is that the worker died.
  WorkerChannel::SendMessage SendUntil(ipc::Deadline deadline);
  // Waits until it is dead.
  bool AwaitDeath() const;
  // Status() once it is served, in time that is added to `deadline`.
  Status Serve(ipc::schema::Read::Reader read_untrusted,
               StepDeadline& deadline);
  std::string TooLongTo(const char* step) const;
  Status Died();
  Status Kill(Code code, ExitReport::Kind kind, std::string message);

  const std::shared_ptr<SupervisorLink> supervisor_;
  const StartedWorker started_;
  const ipc::UniqueFd socket_;
  const std::unique_ptr<WorkerChannel> channel_;
  ipc::Waiter waiter_;
  std::shared_ptr<FramePool> pool_;
  std::optional<ServedMedia> served_media_;  // of media that has a reader
  const std::chrono::steady_clock::time_point asked_at_;
  std::chrono::microseconds start_time_{0};
  bool dead_ = false;
  bool spent_ = false;
  bool gone_ = false;
  bool met_media_ = false;
  ExitReport::Kind killed_for_ = ExitReport::Kind::kUnknown;
  std::string killed_because_;
  std::string last_request_;
  // Of the latest step.
  std::chrono::milliseconds Deadlines::*step_ = &Deadlines::worker_start;
};

}  // namespace bulkhead::session
