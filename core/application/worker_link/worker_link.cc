// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/worker_link.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The longest wait for the end of a worker whose session is closed regularly.
// bulkheadd ends a worker that takes longer.
constexpr milliseconds kClosePatience{500};

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::Start(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    supervisor_link::SessionRequest request, const MediaInput& input,
    std::shared_ptr<supervisor_link::CancelSignal> cancel) {
  const auto asked_at = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(auto channel,
                   worker_protocol::WorkerChannel::Create(
                       worker_protocol::WorkerChannel::Host::kThread));
  std::optional<worker_protocol::ServedMedia> served;
  if (input.fd() < 0) {
    ASSIGN_OR_RETURN(served,
                     worker_protocol::ServedMedia::Create(
                         input.reader(), [cancel] { return cancel->Take(); }));
  }
  request.memory = served ? channel->served_descriptors(served->fd())
                          : channel->descriptors(input.fd());
  request.served = served.has_value();
  auto started = supervisor->sessions().OpenSession(request, *cancel);
  if (!started) {
    // bulkheadd may still start a worker and give it the memory. The closed
    // channel makes this worker end.
    channel->Close();
    return std::move(started).error();
  }
  channel->CloseDescriptors();
  if (served) served->CloseDescriptor();
  return std::unique_ptr<WorkerLink>(
      new WorkerLink(std::move(supervisor), asked_at, *std::move(started),
                     std::move(channel), std::move(served), std::move(cancel)));
}

Status WorkerLink::CheckAttached() {
  const Status& attached = started().attached;
  if (attached.ok()) {
    // From now on, the worker may have read the input, so its death may be the
    // input's fault.
    met_media_ = true;
    last_request_ = "attach the input";
    return Status();
  }
  switch (attached.code()) {
    case Code::kDeadlineExceeded:
      return process_.TookTooLong("report its lock-down", step_);
    case Code::kBackendMisbehaved:
      return process_.Misbehaved(attached.message());
    case Code::kBackendLost:
      return process_.Died();
    default:
      return attached;
  }
}

WorkerLink::WorkerLink(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    std::chrono::steady_clock::time_point asked_at,
    supervisor_link::StartedWorker started,
    std::unique_ptr<worker_protocol::WorkerChannel> channel,
    std::optional<worker_protocol::ServedMedia> served_media,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : supervisor_(std::move(supervisor)),
      deadlines_(supervisor_->deadlines()),
      process_(supervisor_, std::move(started), cancel),
      channel_(std::move(channel)),
      cancel_(std::move(cancel)),
      waiter_(channel_->header(), channel_->worker_header(),
              {process_.end_word(), process_.started().end.Supervisor(),
               cancel_->word()}),
      served_media_(std::move(served_media)),
      start_time_(std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - asked_at)) {}

WorkerLink::~WorkerLink() {
  // In a forked child, the worker still belongs to the parent.
  if (supervisor_->process().forked()) return;
  End();
  if (closed_) return;
  channel_->Close();
  supervisor_->sessions().CloseSession(started());
}

bool WorkerLink::End() {
  if (dead() || started().shared) return gone();
  closed_ = true;
  // An idle worker ends by itself when its channel closes, even while bulkheadd
  // is stopped. bulkheadd kills a busy worker when it closes the session.
  channel_->Close();
  process_.AwaitClosing(std::min(kClosePatience, deadlines_.close));
  return gone();
}

Status WorkerLink::Send(
    size_t max_words, const worker_protocol::WorkerChannel::FillRequest& fill) {
  const Status sent = channel_->Request(max_words, fill);
  return sent.ok() ? sent : process_.Misbehaved(sent.message());
}

worker_protocol::StepDeadline WorkerLink::Within(
    milliseconds Deadlines::*step) {
  step_ = step;
  return worker_protocol::StepDeadline(deadlines_.*step, [this] {
    return worker_protocol::ReadRunDelays(pid());
  });
}

void WorkerLink::Renew(worker_protocol::StepDeadline& deadline,
                       milliseconds Deadlines::*step) {
  step_ = step;
  deadline.Renew(deadlines_.*step);
}

Status WorkerLink::AwaitReply(worker_protocol::StepDeadline& deadline,
                              const char* step) {
  ipc::Expected<bool> read = false;
  const auto ready = [&] {
    read = channel_->TryRead();
    return !read || *read;
  };
  auto wake = ipc::Wake::kDeadline;  // The loop goes on.
  // Each turn looks for a cancellation and a reply, then waits until
  // deadline.next(). A reply (valid or not) and the end of the worker leave the
  // loop early.
  // The deadline and the cancel signal are checked even before the first wait:
  // a worker that always has a reply ready would otherwise never be late, and a
  // signal that came while a reader of the application was slow would be
  // missed.
  while (wake == ipc::Wake::kDeadline && deadline.GoesOn()) {
    if (cancel_->Take()) return Cancel();
    if (ready()) {
      wake = ipc::Wake::kReady;
      break;
    }
    // Wakes the worker, since it may not have seen the latest grants.
    channel_->Wake();
    wake = waiter_.Await(ready, deadline.next());
    // An interruption proves no cancellation, since another thread may have
    // taken the signal. The next turn looks for it.
    if (wake == ipc::Wake::kInterrupted) wake = ipc::Wake::kDeadline;
  }
  if (!read) return process_.Misbehaved(read.error().message);
  if (*read) return Status();
  if (wake == ipc::Wake::kPeerGone) return process_.Died();
  // After the last renewal, the message names the sum of all timeouts.
  const int timeouts =
      deadline.used_up() ? worker_protocol::StepDeadline::kMostTimeouts : 1;
  return process_.TookTooLong(step, step_, timeouts);
}

Status WorkerLink::Receive(
    worker_protocol::StepDeadline& deadline, const char* step,
    const std::function<Status(schema::Reply::Reader)>& take) {
  for (;;) {
    RETURN_IF_ERROR(AwaitReply(deadline, step));
    bool asks_for_media = false;
    auto status = channel_->Take([&](schema::Reply::Reader reply_untrusted) {
      asks_for_media = served_media_ && reply_untrusted.isRead();
      return asks_for_media ? Serve(reply_untrusted.getRead(), deadline)
                            : take(reply_untrusted);
    });
    if (!status) return process_.Misbehaved(status.error().message);
    // The bytes were served: goes on waiting for the reply to the request.
    if (asks_for_media && status->ok()) continue;
    if (!asks_for_media && served_media_) served_media_->Progressed();
    return *std::move(status);
  }
}

Status WorkerLink::Serve(schema::Read::Reader read_untrusted,
                         worker_protocol::StepDeadline& deadline) {
  const auto asked = worker_protocol::StepDeadline::Clock::now();
  const Status served = served_media_->Serve(read_untrusted.getOffset(),
                                             read_untrusted.getSerial());
  if (served.code() == Code::kBackendMisbehaved) {
    return process_.Misbehaved(served.message());
  }
  // After a failure of the reader the worker waits for bytes that it will not
  // get. The worker is not to blame, so it is not killed here.
  spent_ = spent_ || !served.ok();
  RETURN_IF_ERROR(served);
  deadline.Extend(worker_protocol::StepDeadline::Clock::now() - asked);
  channel_->Wake();
  return Status();
}

Status WorkerLink::AttachPool(
    std::shared_ptr<worker_protocol::FramePool> pool) {
  last_request_ = "attach the frame pool";
  pool_ = std::move(pool);
  Status sent = SendPool();
  // After a failure, the worker cannot be used: a grant would mean a slot of
  // the new pool, and the worker would write into the old pool.
  spent_ = spent_ || (!sent.ok() && sent.code() != Code::kNotFound);
  return sent;
}

Status WorkerLink::SendPool() {
  const worker_protocol::FramePool::Keeper keeper = pool_->keeper();
  // The application closes the descriptor after it has sent it. Then only the
  // bulkheadd that got it can give the pool to another worker.
  if (pool_->fd() < 0 && keeper.supervisor != started().generation) {
    return Status(Code::kNotFound,
                  "the bulkheadd that kept the frame pool is gone");
  }
  const Status sent = supervisor_->sessions().AttachPool(
      started(), pool_->slot_count(), pool_->slot_bytes(), pool_->fd(),
      keeper.session, *cancel_);
  if (sent.code() == Code::kCancelled) return Cancel();
  if (sent.code() == Code::kBackendLost) return process_.Died();
  RETURN_IF_ERROR(sent);
  pool_->GiveTo(
      {.supervisor = started().generation, .session = started().session});
  worker_protocol::StepDeadline deadline = Within(&Deadlines::worker_start);
  RETURN_IF_ERROR(Send(worker_protocol::kSmallRequestWords,
                       [](auto request) { request.setAttachPool(); }));
  return Receive(
      deadline, "map the frame pool",
      [&](schema::Reply::Reader reply_untrusted) -> Status {
        if (reply_untrusted.isFailed()) {
          return FailureOf(reply_untrusted.getFailed());
        }
        return reply_untrusted.isPoolAttached()
                   ? Status()
                   : process_.Misbehaved("it did not attach the pool");
      });
}

Status WorkerLink::Cancel() {
  spent_ = true;
  return supervisor_link::Cancelled();
}

supervisor_link::ExitVerdict WorkerLink::TakeExit(
    supervisor_link::ObservedExit seen) {
  seen.met_media = met_media_;
  seen.last_message = last_request_;
  seen.request.deadline_ms = (deadlines_.*step_).count();
  return process_.TakeExit(std::move(seen));
}

}  // namespace bulkhead::worker_link
