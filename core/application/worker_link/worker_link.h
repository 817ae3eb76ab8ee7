// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_process.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/served_media.h"
#include "core/worker_protocol/step_deadline.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::worker_link {

// A session's link to one worker, from the start of the worker to its end:
// sends requests, and waits for the replies within deadlines. CurrentWorker,
// which owns the link, makes a new link for the next worker. The process may
// serve other sessions too (worker_scope = "backend"). The link then leaves the
// process alive when the session is done with it, but kills it when it is late
// or breaks the protocol.
//
// The link owns the shared memory of the session (WorkerChannel) and the view
// of the process (WorkerProcess). It and the frames in the frame pool together
// own the pool.
//
// Trust: the worker is hostile. Every reply is copied to private memory and
// checked against the request and the ledger of the pool before other code sees
// it. The first reply that is not valid makes the link kill the worker.
//
// Failure: the code says what became of the worker.
// - kBackendLost: it died. kDeadlineExceeded, kBackendMisbehaved: it was killed
//   because it was late or broke the protocol. It is dead(), and TakeExit()
//   says more.
// - kCancelled: the application ended the call. The worker lives, and may still
//   be working on the step, so the link is spent().
// - Any other code is the worker's error about the input. The worker lives.
//
// Not thread-safe.
class WorkerLink {
 public:
  // Asks bulkheadd to find or start a worker, and to send it the memory of the
  // session and the media once the worker is locked down. If the media come
  // from a reader of the application, the worker gets a window: shared memory
  // that holds one part of the media at a time. `input` must outlive the link.
  static Result<std::unique_ptr<WorkerLink>> Start(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      supervisor_link::SessionRequest request, const MediaInput& input,
      std::shared_ptr<supervisor_link::CancelSignal> cancel);
  // Calls End(), and closes the session itself if End() did not. Does nothing
  // in a forked child of the application.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // Returns OK if the worker got its memory and the media, and the reason if
  // not. Call it once, before any other function.
  Status CheckAttached();

  // Sends one request of at most `max_words` message words (8 bytes each). Does
  // not wait for the reply.
  Status Send(size_t max_words,
              const worker_protocol::WorkerChannel::FillRequest& fill);
  // Returns the deadline of a step that begins now. `step` is the member of
  // Deadlines that applies, for example &Deadlines::open.
  worker_protocol::StepDeadline Within(
      std::chrono::milliseconds Deadlines::*step);
  // Restarts the deadline of a step that made progress, with the timeout
  // `step`. StepDeadline limits the number of restarts.
  void Renew(worker_protocol::StepDeadline& deadline,
             std::chrono::milliseconds Deadlines::*step);
  // Waits for a reply and passes it to `take`, which validates it. `step`
  // completes the message about a late worker (WorkerProcess::TookTooLong()).
  // If the media come from a reader of the application, this function also
  // calls the reader when the worker asks for bytes, and extends `deadline` by
  // the time of the reader. If the reader fails, Receive() returns its error,
  // and the link is spent().
  Status Receive(worker_protocol::StepDeadline& deadline, const char* step,
                 const std::function<Status(ipc::schema::Reply::Reader)>& take);
  // Gives the worker `pool` as the memory for frames, in place of its present
  // pool. No slot of `pool` may be granted to another worker. Returns kNotFound
  // if neither the application nor this bulkheadd still has the descriptor of
  // the pool; the caller then makes a new pool. After any other error the link
  // is spent().
  Status AttachPool(std::shared_ptr<worker_protocol::FramePool> pool);
  // Returns the memory that the session shares with the worker.
  worker_protocol::WorkerChannel& channel() { return *channel_; }
  // FailureOf() and Misbehaved() call the functions of WorkerProcess with the
  // same names.
  Status FailureOf(ipc::schema::Failed::Reader failed_untrusted) {
    return process_.FailureOf(failed_untrusted);
  }
  Status Misbehaved(const std::string& what) {
    return process_.Misbehaved(what);
  }
  // Sets the description of the latest request for the crash record.
  void SetLastRequest(std::string request) {
    last_request_ = std::move(request);
  }

  // Returns null before AttachPool().
  const std::shared_ptr<worker_protocol::FramePool>& pool() const {
    return pool_;
  }
  // Closes the session, also at bulkheadd, and so ends the worker. Does nothing
  // if dead(), or if the process may serve several sessions
  // (StartedWorker::shared). Returns gone().
  bool End();
  // Returns true once the worker has died or was killed.
  bool dead() const { return process_.dead(); }
  // Returns the number of frames that the worker claims to have decoded
  // (RegionHeader::decoded).
  uint32_t decoded_untrusted() const {
    return channel_->worker_header()->decoded.load();
  }
  // Returns true if the worker lives but cannot be used any more: it waits for
  // media that it will not get, works on a step that was cancelled, or has
  // other memory than pool().
  bool spent() const { return spent_; }
  // Returns true if the process is known to have ended (WorkerProcess::gone()).
  bool gone() const { return process_.gone(); }
  // Reports to bulkheadd how the worker ended and returns the answer. Call this
  // only when dead(), and only once, since bulkheadd counts each exit.
  // `session` contains the session's part of the report. The link adds the
  // latest request and the reason why it killed the worker.
  supervisor_link::ExitVerdict TakeExit(supervisor_link::ObservedExit session);
  pid_t pid() const { return process_.pid(); }
  const supervisor_link::StartedWorker& started() const {
    return process_.started();
  }
  // Returns true if the worker sees the media only through a window (Start()).
  bool serves_media() const { return served_media_.has_value(); }
  const Deadlines& deadlines() const { return deadlines_; }
  // Returns the time from the call of Start() until the worker was started.
  std::chrono::microseconds start_time() const { return start_time_; }

 private:
  WorkerLink(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
             std::chrono::steady_clock::time_point asked_at,
             supervisor_link::StartedWorker started,
             std::unique_ptr<worker_protocol::WorkerChannel> channel,
             std::optional<worker_protocol::ServedMedia> served_media,
             std::shared_ptr<supervisor_link::CancelSignal> cancel);

  // Waits until the channel has a reply, and copies the reply. `step` is used
  // as in Receive().
  Status AwaitReply(worker_protocol::StepDeadline& deadline, const char* step);
  // Sends pool() and waits until the worker has mapped it.
  Status SendPool();
  // Reads the part of the media that the worker asks for, and extends
  // `deadline` by the time of the read.
  Status Serve(ipc::schema::Read::Reader read_untrusted,
               worker_protocol::StepDeadline& deadline);
  // Marks the link as spent. Returns kCancelled.
  Status Cancel();

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const Deadlines& deadlines_;
  WorkerProcess process_;
  const std::unique_ptr<worker_protocol::WorkerChannel> channel_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  ipc::Waiter waiter_;
  std::shared_ptr<worker_protocol::FramePool> pool_;
  // Set if the media come from a reader.
  std::optional<worker_protocol::ServedMedia> served_media_;
  const std::chrono::microseconds start_time_;
  bool closed_ = false;  // End() has closed the session, also at bulkheadd
  bool spent_ = false;
  bool met_media_ = false;  // the worker may have read from the media
  std::string last_request_;
  // The member of Deadlines that applies to the latest step.
  std::chrono::milliseconds Deadlines::*step_ = &Deadlines::worker_start;
};

}  // namespace bulkhead::worker_link
