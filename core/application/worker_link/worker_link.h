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
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/served_media.h"
#include "core/worker_protocol/step_deadline.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::worker_link {

// One worker of a session, from its start to its death; WorkerRecovery makes
// the next one. The process may serve other sessions too (worker_scope =
// "backend"). The link then leaves it alive when the session is done with it,
// and kills it all the same when it is late or breaks the protocol.
//
// Trust: the worker is hostile. Every reply is copied out and checked against
// the request and against the ledger of the pool before anything else sees it.
// The first reply that does not pass ends the worker with kBackendMisbehaved.
//
// Failure: kBackendLost means that the worker died, kDeadlineExceeded that it
// was killed for being late, kBackendMisbehaved that it was killed for breaking
// the protocol. Then dead() is true and TakeExit() says more. kCancelled means
// that the application ended the call: the worker lives and may be at its step
// still, so the link is spent(). Any other code is what the worker said about
// the input; the worker lives on.
//
// Not thread-safe.
class WorkerLink {
 public:
  // Asks bulkheadd to find or start a worker, and to hand it the memory of the
  // session and the media, or a window to the media, once the worker is locked
  // down. `input` outlives the link.
  static Result<std::unique_ptr<WorkerLink>> Start(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      supervisor_link::SessionRequest request, const MediaInput& input,
      std::shared_ptr<supervisor_link::CancelSignal> cancel);
  // Ends the worker as End() does, and reports the session to bulkheadd as
  // closed.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // Returns why the worker got neither memory nor media. Call it once, before
  // any other function.
  Status CheckAttached();

  // Writes one request of at most `max_words`; does not wait.
  Status Send(size_t max_words,
              const worker_protocol::WorkerChannel::FillRequest& fill);
  // Returns the deadline of a step that begins now. `step` names the deadline
  // that applies: &Deadlines::open.
  worker_protocol::StepDeadline Within(
      std::chrono::milliseconds Deadlines::*step);
  // Returns how long a backend may return BULKHEAD_AGAIN from every call: half
  // of the shortest deadline of decoding, so that the worker names the breach
  // before it is late itself.
  std::chrono::milliseconds patience() const;
  // Gives a step that made progress the deadline `step` anew, as often as
  // StepDeadline allows.
  void Renew(worker_protocol::StepDeadline& deadline,
             std::chrono::milliseconds Deadlines::*step);
  // Waits for a reply and hands it to `take`, which validates it. `step` says
  // in a message what the worker was late with: "open the file". Where a reader
  // of the application has the media, reads it for the worker meanwhile; that
  // time is added to `deadline`. If the reader fails, Receive() fails too, and
  // the link is spent().
  Status Receive(worker_protocol::StepDeadline& deadline, const char* step,
                 const std::function<Status(ipc::schema::Reply::Reader)>& take);
  // Hands the worker the memory of the frames, in place of what it has. No slot
  // of the pool may be granted to another worker. Returns kNotFound if the
  // memory can be handed to no further worker, since bulkheadd has not kept it.
  // After another error the link is spent().
  Status AttachPool(std::shared_ptr<worker_protocol::FramePool> pool);
  // Allocates the first slot if there is none yet, so that the worker need not
  // wait for it. Where the memory is refused, GrantFreeSlots says so.
  void AllocateFirstSlot();
  // Grants the worker every free slot, and lets the pool grow towards `wanted`
  // granted slots, by one a call once the worker has two. Does nothing if no
  // slot is wanted. Returns kResourceExhausted if the application holds all
  // slots.
  Status GrantFreeSlots(uint64_t wanted);
  // Grants one slot more, since the decoder refers to all of the `grants` that
  // the worker has had. Does nothing if it has been granted more meanwhile.
  // Returns kResourceExhausted if the pool has no other slot.
  Status GrantAnotherSlot(uint32_t grants);
  // Returns the error that the worker reported.
  Status FailureOf(ipc::schema::Failed::Reader failed_untrusted);
  // Kills the worker for breaking the protocol as `what` describes, and returns
  // the error.
  Status Misbehaved(const std::string& what);
  // Kills the worker because it reports that its backend breaks the C ABI, and
  // returns the error.
  Status BrokeAbi(const std::string& report);
  // Sets the description of the latest request for the crash record.
  void SetLastRequest(std::string request) {
    last_request_ = std::move(request);
  }

  // Returns null before AttachPool().
  const std::shared_ptr<worker_protocol::FramePool>& pool() const {
    return pool_;
  }
  // Kills the worker if it lives and serves no other session. Returns gone().
  bool End();
  // Returns true once the worker has died or was killed.
  bool dead() const { return dead_; }
  // Returns RegionHeader::decoded, which the worker may set to anything.
  uint32_t decoded_untrusted() const {
    return channel_->worker_header()->decoded.load();
  }
  // Returns true if the worker lives but waits for media that it will not get,
  // is at a step that was cancelled, or has other memory than pool(). Such a
  // worker is of no further use.
  bool spent() const { return spent_; }
  // Returns true if the process is known to have ended, so that nobody writes
  // into its memory any more. A killed worker that the kernel still holds is
  // dead() but not gone().
  bool gone() const { return gone_; }
  // Reports to bulkheadd how the worker ended and returns the answer. Call this
  // only when dead(), and only once, since bulkheadd counts each exit.
  // `session` describes the exit as far as the session knows; the link adds its
  // own part.
  supervisor_link::ExitVerdict TakeExit(supervisor_link::ObservedExit session);
  pid_t pid() const;
  const supervisor_link::StartedWorker& started() const { return started_; }
  // Returns whether a reader of the application has the media.
  bool serves_media() const { return served_media_.has_value(); }
  std::chrono::microseconds start_time() const { return start_time_; }

 private:
  WorkerLink(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
             std::chrono::steady_clock::time_point asked_at,
             supervisor_link::StartedWorker started,
             std::unique_ptr<worker_protocol::WorkerChannel> channel,
             std::optional<worker_protocol::ServedMedia> served_media,
             std::shared_ptr<supervisor_link::CancelSignal> cancel);

  using How = ipc::schema::EndWorker::How;
  // Sends pool_ and waits until the worker has mapped it.
  Status SendPool();
  // Has bulkheadd end the worker or wait for its end. Returns whether the
  // process is known to have ended, and an error if bulkheadd does not say.
  Result<bool> Ends(How how, std::chrono::milliseconds patience) const;
  // Reads media for the worker, and adds the time that this takes to
  // `deadline`.
  Status Serve(ipc::schema::Read::Reader read_untrusted,
               worker_protocol::StepDeadline& deadline);
  // Returns the message for a worker that is late with `step`. `times` is the
  // number of times that the deadline has passed.
  std::string TooLongTo(const char* step, int times = 1) const;
  // Died(), Cancel() and Kill() return the error that the caller is to return.
  Status Died();
  Status Cancel();
  Status Kill(Code code, ExitReport::Kind kind, std::string message);

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const Deadlines& deadlines_;
  const supervisor_link::StartedWorker started_;
  const ipc::WatchedWord worker_end_;  // set by bulkheadd
  const std::unique_ptr<worker_protocol::WorkerChannel> channel_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  ipc::Waiter waiter_;
  std::shared_ptr<worker_protocol::FramePool> pool_;
  std::optional<worker_protocol::ServedMedia>
      served_media_;  // set if a reader has the media
  const std::chrono::microseconds start_time_;
  bool dead_ = false;
  bool closed_ = false;  // bulkheadd knows that
  bool spent_ = false;
  bool gone_ = false;
  bool met_media_ = false;
  ExitReport::Kind killed_for_ = ExitReport::Kind::kUnknown;
  std::string killed_because_;
  bool claims_cause_ = false;  // the worker reported what it was killed for
  std::string last_request_;
  // The deadline of the latest step.
  std::chrono::milliseconds Deadlines::*step_ = &Deadlines::worker_start;
};

}  // namespace bulkhead::worker_link
