// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/session_requests.h"

#include <algorithm>
#include <utility>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/application_limits.h"
#include "core/base/clean_text.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"
#include "core/control/crash_note.h"
#include "core/control/exit_messages.h"
#include "core/worker_protocol/step_deadline.h"

namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;
using Request = schema::HostRequest;
using Reply = schema::HostReply;

// The longest wait for the answer to a session's end. bulkheadd closes the
// session even if nobody waits for the answer.
constexpr std::chrono::milliseconds kClosePatience{500};

// The number of descriptors that a session uses while it is being opened.
constexpr uint64_t kFilesOfAnOpening = 8;

// Returns a warning for people if the application is about to have as many open
// files as it may have, and an empty string if not. `newest` is the highest
// descriptor of the session.
std::string NearTheLimit(int newest) {
  const auto files = NearOpenFiles(newest, kFilesOfAnOpening);
  if (!files) return "";
  return "the application has " + std::to_string(files->open) + " of the " +
         std::to_string(files->limit) +
         " open files that it may have, and each stream takes one: raise its "
         "limit on open files (ulimit -n, RLIMIT_NOFILE) or close some";
}

Status SupervisorDied() {
  return Status(Code::kBackendLost, "the supervisor bulkheadd died");
}

// Writes the fields of a request for a worker that are the same for every
// bulkheadd.
void Write(const SessionRequest& asked, const DeviceName& device,
           schema::OpenSession::Builder out) {
  out.setServed(asked.served);
  out.setWarning(NearTheLimit(*std::ranges::max_element(asked.memory)));
  out.setAudio(asked.audio);
  out.setDevice(device.ToString());
  out.setAlone(asked.alone);
  out.setInput(asked.input);
  out.setPath(asked.path);
  out.setCounter(asked.counter);
  out.setWorkerBytes(asked.worker_bytes);
  out.setSharedBytes(asked.session_bytes);
}

// Sets all members of `worker` that the answer contains.
void Read(schema::SessionStarted::Reader started, StartedWorker& worker) {
  worker.session = started.getSession();
  worker.backend = started.getBackend().cStr();
  worker.device = started.getDevice().cStr();
  worker.device_ordinal = started.getDeviceOrdinal();
  worker.pid = started.getWorkerPid();
  if (started.hasUnattached()) {
    const auto failure = started.getUnattached();
    worker.attached = Status(static_cast<Code>(failure.getCode()),
                             failure.getMessage().cStr());
  }
  worker.shared = started.getShared();
  for (const auto poisoned : started.getPoisoned()) {
    worker.poisoned.push_back(ToPoisoned(poisoned));
  }
}

ExitVerdict ToVerdict(schema::SessionExit::Reader exit) {
  ExitVerdict verdict{.report = ToExitReport(exit.getReport()),
                      .blamed = exit.getBlamed(),
                      .input_to_blame = exit.getInputToBlame(),
                      .device_to_blame = exit.getDeviceToBlame(),
                      .deaths_here = exit.getDeathsHere(),
                      .lacked_tasks = exit.getLackedTasks()};
  AddClaim(ReadCrashNote(exit.getClaim()), verdict.report);
  return verdict;
}

}  // namespace

Result<StartedWorker> SessionRequests::OpenSession(const SessionRequest& asked,
                                                   CancelSignal& cancel) {
  // Parsing also makes sure that the name is short enough for a message.
  ASSIGN_OR_RETURN(const auto device, ParseDeviceName(asked.device));
  StartedWorker worker;
  std::string describer;
  bool vetted = !asked.vet;
  const auto call = [&] {
    return calls_.Call(
        [&](Request::Builder request) {
          // Call() has set worker.generation before it calls this function.
          worker.end = connections_.TakeEnd(worker.generation);
          auto session = request.initOpenSession();
          Write(asked, device, session);
          session.setEnd(worker.end.number());
          session.setDescribed(vetted);
          if (asked.continues_generation == worker.generation) {
            session.setContinues(asked.continues);
          }
        },
        asked.memory, calls_.StartPatience(),
        [&](Reply::Reader reply, ipc::ReceivedMessage&) {
          if (reply.isPoisoned()) {
            return RefusalOf(ToPoisoned(reply.getPoisoned()),
                             asked.audio ? "sample" : "frame", asked.device);
          }
          if (reply.isDescribeFirst()) {
            describer = reply.getDescribeFirst().cStr();
            return Status();
          }
          if (!reply.isSessionStarted()) return UnexpectedReply();
          Read(reply.getSessionStarted(), worker);
          return Status();
        },
        &worker.generation, &cancel);
  };
  RETURN_IF_ERROR(call());
  // With a describer, bulkheadd has not started a worker, because it would have
  // to start a backend that may not decode this input. If `vet` accepts the
  // input, the request is made again.
  if (!describer.empty()) {
    RETURN_IF_ERROR(asked.vet(describer));
    vetted = true;
    RETURN_IF_ERROR(call());
  }
  if (worker.end) return worker;
  // All places on the EndBoard are taken, so nothing would show the worker's
  // end.
  CloseSession(worker);
  return Status(Code::kResourceExhausted,
                "a Host has at most " + std::to_string(kMostSessionEnds) +
                    " streams at a time; close some, or use another Host");
}

Status SessionRequests::AttachPool(const StartedWorker& worker,
                                   uint32_t slot_count, uint64_t slot_bytes,
                                   int fd, uint64_t kept_for,
                                   CancelSignal& cancel) {
  if (!StillServes(worker)) return SupervisorDied();
  const int descriptors[] = {fd};
  return calls_.Call(
      [&](Request::Builder request) {
        auto pool = request.initAttachPool();
        pool.setSession(worker.session);
        pool.setSlotCount(slot_count);
        pool.setSlotBytes(slot_bytes);
        pool.setKeptFor(fd < 0 ? kept_for : 0);
      },
      std::span(descriptors).first(fd < 0 ? 0 : 1),
      deadlines_.worker_start + SupervisorCalls::kSlack, TakeConfigured,
      /*generation=*/nullptr, &cancel);
}

Result<bool> SessionRequests::EndWorker(const StartedWorker& worker,
                                        schema::EndWorker::How how,
                                        std::chrono::milliseconds patience,
                                        CancelSignal* cancel) {
  if (!StillServes(worker)) return SupervisorDied();
  bool ended = false;
  uint64_t generation = 0;
  const bool closes = how == schema::EndWorker::How::CLOSE;
  // An ending process loses its threads slowly on an overloaded machine. So
  // with AWAIT, bulkheadd renews its wait whenever the process has fewer
  // threads than before. The last renewal comes at most kMostTimeouts times
  // `patience` after the beginning. Its wait lasts one `patience`, and can be
  // extended by another: so two are added.
  const int times = how == schema::EndWorker::How::AWAIT
                        ? worker_protocol::StepDeadline::kMostTimeouts + 2
                        : 1;
  RETURN_IF_ERROR(calls_.Call(
      [&](Request::Builder request) {
        auto end = request.initEndWorker();
        end.setSession(worker.session);
        end.setHow(how);
        end.setPatienceMs(static_cast<uint32_t>(patience.count()));
      },
      {}, times * patience + (closes ? kClosePatience : calls_.ListPatience()),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isEnded()) return UnexpectedReply();
        ended = reply.getEnded();
        return Status();
      },
      &generation, cancel));
  if (generation != worker.generation) return SupervisorDied();
  return ended;
}

ExitVerdict SessionRequests::SessionExit(const StartedWorker& worker,
                                         const ObservedExit& seen,
                                         CancelSignal& cancel) {
  // `exit` is the result if no bulkheadd can be asked: a worker is blamed if
  // the application killed it because it was late or broke the protocol.
  // `verdict` is the answer of bulkheadd, which replaces it.
  const bool blamed = seen.how != ObservedExit::How::kDied;
  ExitVerdict exit{
      .blamed = blamed,
      .input_to_blame = seen.how == ObservedExit::How::kLate && seen.met_media};
  uint64_t generation = 0;
  ExitVerdict verdict;
  if (StillServes(worker)) {
    // The timeout is long, because bulkheadd may start the backend once more to
    // find out whether a device is lost.
    const Status asked = calls_.Call(
        [&](Request::Builder request) {
          auto end = request.initSessionExit();
          end.setSession(worker.session);
          end.setDevice(worker.device);
          Write(seen, end);
        },
        {}, calls_.StartPatience(),
        [&](Reply::Reader reply, ipc::ReceivedMessage&) {
          if (!reply.isExit()) return UnexpectedReply();
          verdict = ToVerdict(reply.getExit());
          return Status();
        },
        &generation, &cancel);
    // The signal stays raised, because this function cannot return kCancelled:
    // the next function that looks at it ends the call of the application.
    if (asked.code() == Code::kCancelled) cancel.Raise();
    if (asked.ok() && generation == worker.generation)
      exit = std::move(verdict);
  }
  exit.report.backend = worker.backend;
  exit.report.device = worker.device;
  return exit;
}

void SessionRequests::FrameDelivered(const StartedWorker& worker,
                                     const InputPosition& position) {
  if (!StillServes(worker)) return;
  // If the call fails, the deaths that bulkheadd has counted expire by
  // themselves.
  calls_.Tell([&](Request::Builder request) {
    auto delivered = request.initFrameDelivered();
    delivered.setSession(worker.session);
    Write(position, delivered.initPosition());
  });
}

void SessionRequests::CloseSession(const StartedWorker& worker) {
  if (!StillServes(worker)) return;
  // If the call fails, the worker still ends: its socket closes with the
  // session.
  calls_.Tell(
      [&](Request::Builder request) {
        request.setCloseSession(worker.session);
      },
      kClosePatience);
}

void SessionRequests::TellFailover(const StartedWorker& worker,
                                   const std::string& device,
                                   const std::string& text) {
  if (!StillServes(worker)) return;
  // If the call fails, only operators miss the event. The application reports
  // the failover itself.
  calls_.Tell([&](Request::Builder request) {
    auto failed = request.initFailedOver();
    failed.setSession(worker.session);
    failed.setDevice(device);
    failed.setText(CleanText(text, kMaxEventTextBytes));
  });
}

void SessionRequests::Shadow(
    const StartedWorker& worker,
    const std::function<void(schema::Shadow::Builder)>& fill,
    std::span<const int> media_and_frames) {
  if (!StillServes(worker)) return;
  (void)calls_.Call(
      [&](Request::Builder request) {
        auto shadow = request.initShadow();
        shadow.setSession(worker.session);
        fill(shadow);
      },
      media_and_frames, SupervisorCalls::kSlack, TakeConfigured);
}

}  // namespace bulkhead::supervisor_link
