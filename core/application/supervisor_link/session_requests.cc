// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/application_limits.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"
#include "core/control/crash_note.h"
#include "core/control/exit_messages.h"
#include "core/worker_protocol/step_deadline.h"

// The requests that a SupervisorLink makes about one session and its worker.
namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;

// bulkheadd closes a session also if nobody waits for it to do so.
constexpr std::chrono::milliseconds kClosePatience{500};

// The descriptors that a session takes while it is being opened.
constexpr uint64_t kFilesOfAnOpening = 8;

// Returns what to tell people if the application is about to have as many open
// files as it may have, and an empty string if not.
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

}  // namespace

Result<StartedWorker> SupervisorLink::OpenSession(const SessionRequest& asked,
                                                  CancelSignal& cancel) {
  // A longer name would not fit a message.
  ASSIGN_OR_RETURN(const auto device, ParseDeviceName(asked.device));
  StartedWorker worker;
  std::string describer;
  bool vetted = !asked.vet;
  const auto call = [&] {
    return Call(
        [&](Request::Builder request) {
          worker.end = TakeEnd(worker.generation);
          auto session = request.initOpenSession();
          session.setEnd(worker.end.number());
          session.setServed(asked.served);
          session.setWarning(
              NearTheLimit(*std::ranges::max_element(asked.memory)));
          session.setAudio(asked.audio);
          session.setDevice(device.ToString());
          session.setAlone(asked.alone);
          session.setInput(asked.input);
          session.setPath(asked.path);
          session.setCounter(asked.counter);
          session.setWorkerBytes(asked.worker_bytes);
          session.setSharedBytes(asked.session_bytes);
          session.setDescribed(vetted);
          if (asked.continues_generation == worker.generation) {
            session.setContinues(asked.continues);
          }
        },
        asked.memory, StartPatience(),
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
          const auto started = reply.getSessionStarted();
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
          return Status();
        },
        &worker.generation, &cancel);
  };
  RETURN_IF_ERROR(call());
  if (!describer.empty()) {
    RETURN_IF_ERROR(asked.vet(describer));
    vetted = true;
    RETURN_IF_ERROR(call());
  }
  if (worker.end) return worker;
  CloseSession(worker);
  return Status(Code::kResourceExhausted,
                "a Host has at most " + std::to_string(kMostSessionEnds) +
                    " streams at a time; close some, or use another Host");
}

bool SupervisorLink::StillServes(const StartedWorker& worker) const {
  // A later bulkheadd numbers its sessions anew and knows nothing of this
  // worker, so there is no reason to start one just to ask. In a fork() the
  // mutex may stay locked for ever, so the mark is checked first.
  return !fork_mark_.forked() && Serves(worker.generation);
}

Status SupervisorLink::AttachPool(const StartedWorker& worker,
                                  uint32_t slot_count, uint64_t slot_bytes,
                                  int fd, uint64_t kept_for,
                                  CancelSignal& cancel) {
  if (!StillServes(worker)) return SupervisorDied();
  const int descriptors[] = {fd};
  return Call(
      [&](Request::Builder request) {
        auto pool = request.initAttachPool();
        pool.setSession(worker.session);
        pool.setSlotCount(slot_count);
        pool.setSlotBytes(slot_bytes);
        pool.setKeptFor(fd < 0 ? kept_for : 0);
      },
      std::span(descriptors).first(fd < 0 ? 0 : 1),
      settings_.deadlines.worker_start + kSlack, TakeConfigured,
      /*generation=*/nullptr, &cancel);
}

Result<bool> SupervisorLink::EndWorker(const StartedWorker& worker,
                                       schema::EndWorker::How how,
                                       std::chrono::milliseconds patience,
                                       CancelSignal* cancel) {
  if (!StillServes(worker)) return SupervisorDied();
  bool ended = false;
  uint64_t generation = 0;
  const bool closes = how == schema::EndWorker::How::CLOSE;
  // On an overloaded machine, bulkheadd waits longer for a process that the
  // kernel is ending, as long as it has fewer threads each time.
  const int times = how == schema::EndWorker::How::AWAIT
                        ? worker_protocol::StepDeadline::kMostTimeouts + 2
                        : 1;
  RETURN_IF_ERROR(Call(
      [&](Request::Builder request) {
        auto end = request.initEndWorker();
        end.setSession(worker.session);
        end.setHow(how);
        end.setPatienceMs(static_cast<uint32_t>(patience.count()));
      },
      {}, times * patience + (closes ? kClosePatience : ListPatience()),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isEnded()) return UnexpectedReply();
        ended = reply.getEnded();
        return Status();
      },
      &generation, cancel));
  if (generation != worker.generation) return SupervisorDied();
  return ended;
}

ExitVerdict SupervisorLink::SessionExit(const StartedWorker& worker,
                                        const ObservedExit& seen,
                                        CancelSignal& cancel) {
  // A worker that the application killed for being late or for lying is blamed
  // even if no bulkheadd can be asked.
  const bool blamed = seen.how != ObservedExit::How::kDied;
  ExitVerdict exit{
      .blamed = blamed,
      .input_to_blame = seen.how == ObservedExit::How::kLate && seen.met_media};
  uint64_t generation = 0;
  ExitVerdict told;
  CrashClaim claim;
  const auto ask = [&](Request::Builder request) {
    auto end = request.initSessionExit();
    end.setSession(worker.session);
    end.setDevice(worker.device);
    Write(seen, end);
  };
  const auto take = [&](Reply::Reader reply, ipc::ReceivedMessage&) {
    if (!reply.isExit()) return UnexpectedReply();
    told.report = ToExitReport(reply.getExit().getReport());
    claim = ReadCrashNote(reply.getExit().getClaim());
    told.blamed = reply.getExit().getBlamed();
    told.input_to_blame = reply.getExit().getInputToBlame();
    told.device_to_blame = reply.getExit().getDeviceToBlame();
    told.deaths_here = reply.getExit().getDeathsHere();
    told.lacked_tasks = reply.getExit().getLackedTasks();
    return Status();
  };
  if (StillServes(worker)) {
    // bulkheadd may start the backend once more to see if a device is lost.
    const Status asked =
        Call(ask, {}, StartPatience(), take, &generation, &cancel);
    // Whoever asks next for the signal ends the call of the application.
    if (asked.code() == Code::kCancelled) cancel.Raise();
    if (asked.ok() && generation == worker.generation) {
      exit = std::move(told);
      AddClaim(std::move(claim), exit.report);
    }
  }
  exit.report.backend = worker.backend;
  exit.report.device = worker.device;
  return exit;
}

void SupervisorLink::FrameDelivered(const StartedWorker& worker,
                                    const InputPosition& position) {
  if (!StillServes(worker)) return;
  // If the call fails, what bulkheadd has counted expires by itself.
  (void)Call(
      [&](Request::Builder request) {
        auto delivered = request.initFrameDelivered();
        delivered.setSession(worker.session);
        Write(position, delivered.initPosition());
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::CloseSession(const StartedWorker& worker) {
  if (!StillServes(worker)) return;
  // If the call fails the worker still ends: its socket closes with the
  // session.
  (void)Call(
      [&](Request::Builder request) {
        request.setCloseSession(worker.session);
      },
      {}, kClosePatience,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::Shadow(
    const StartedWorker& worker,
    const std::function<void(schema::Shadow::Builder)>& fill,
    std::span<const int> media_and_frames) {
  if (!StillServes(worker)) return;
  (void)Call(
      [&](Request::Builder request) {
        auto shadow = request.initShadow();
        shadow.setSession(worker.session);
        fill(shadow);
      },
      media_and_frames, kSlack, TakeConfigured);
}

}  // namespace bulkhead::supervisor_link
