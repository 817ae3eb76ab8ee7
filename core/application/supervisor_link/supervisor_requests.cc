// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/report_reading.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/clean_text.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"
#include "core/control/exit_messages.h"

// The requests that a SupervisorLink makes, over the connections that
// supervisor_link.cc keeps.
namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

// bulkheadd closes a session also if nobody waits for it to do so.
constexpr std::chrono::milliseconds kClosePatience{500};
// Added to the time for which bulkheadd itself waits, so that its answer, which
// names the cause, arrives before the application gives up.
constexpr std::chrono::milliseconds kSlack{2'000};
// The text of an event.
constexpr size_t kMaxTextBytes = 2'000;

}  // namespace

std::chrono::milliseconds SupervisorLink::StartPatience() const {
  // Files that settle, the start and, for a session that loads the backend
  // anew, its turn and its load; the device count and the clones.
  return 4 * settings_.deadlines.backend_start +
         3 * settings_.deadlines.worker_start + kSlack;
}

std::chrono::milliseconds SupervisorLink::ListPatience() const {
  // Enough to find out that bulkheadd hangs.
  return settings_.deadlines.supervisor_start + 2 * kSlack;
}

Result<StartedWorker> SupervisorLink::OpenSession(const SessionRequest& asked,
                                                  int worker_socket,
                                                  CancelSignal& cancel) {
  // A longer name would not fit a message.
  ASSIGN_OR_RETURN(const auto device, discovery::ParseDeviceName(asked.device));
  StartedWorker worker;
  std::string describer;
  bool vetted = !asked.vet;
  const int descriptors[] = {worker_socket};
  const auto call = [&] {
    return Call(
        [&](Request::Builder request) {
          auto session = request.initOpenSession();
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
        descriptors, StartPatience(),
        [&](Reply::Reader reply, ipc::ReceivedMessage& message) {
          if (reply.isPoisoned()) {
            return RefusalOf(ToPoisoned(reply.getPoisoned()),
                             asked.audio ? "sample" : "frame", asked.device);
          }
          if (reply.isDescribeFirst()) {
            describer = reply.getDescribeFirst().cStr();
            return Status();
          }
          if (!reply.isSessionStarted() || message.descriptors.size() != 1) {
            return UnexpectedReply();
          }
          const auto started = reply.getSessionStarted();
          worker.session = started.getSession();
          worker.backend = started.getBackend().cStr();
          worker.device = started.getDevice().cStr();
          worker.device_ordinal = started.getDeviceOrdinal();
          worker.pidfd = std::move(message.descriptors[0]);
          worker.shared = started.getShared();
          for (const auto poisoned : started.getPoisoned()) {
            worker.poisoned.push_back(ToPoisoned(poisoned));
          }
          return Status();
        },
        &worker.generation, &cancel);
  };
  RETURN_IF_ERROR(call());
  if (describer.empty()) return worker;
  RETURN_IF_ERROR(asked.vet(describer));
  vetted = true;
  RETURN_IF_ERROR(call());
  return worker;
}

bool SupervisorLink::StillServes(const StartedWorker& worker) const {
  // A later bulkheadd numbers its sessions anew and knows nothing of this
  // worker, so there is no reason to start one just to ask. In a fork() the
  // mutex may stay locked for ever, so the mark is checked first.
  return !fork_mark_.forked() && Serves(worker.generation);
}

Status SupervisorLink::ConfirmSession(const StartedWorker& worker,
                                      CancelSignal& cancel) {
  if (!StillServes(worker)) {
    return Status(Code::kBackendLost, "the supervisor bulkheadd died");
  }
  return Call(
      [&](Request::Builder request) {
        request.setConfirmSession(worker.session);
      },
      {}, settings_.deadlines.worker_start, TakeConfigured,
      /*generation=*/nullptr, &cancel);
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
  const auto ask = [&](Request::Builder request) {
    auto end = request.initSessionExit();
    end.setSession(worker.session);
    end.setDevice(worker.device);
    Write(seen, end);
  };
  const auto take = [&](Reply::Reader reply, ipc::ReceivedMessage&) {
    if (!reply.isExit()) return UnexpectedReply();
    told.report = ToExitReport(reply.getExit().getReport());
    told.blamed = reply.getExit().getBlamed();
    told.input_to_blame = reply.getExit().getInputToBlame();
    told.device_to_blame = reply.getExit().getDeviceToBlame();
    told.deaths_here = reply.getExit().getDeathsHere();
    return Status();
  };
  if (StillServes(worker)) {
    const Status asked =
        Call(ask, {}, kSlack + kSlack, take, &generation, &cancel);
    // Whoever asks next for the signal ends the call of the application.
    if (asked.code() == Code::kCancelled) cancel.Raise();
    if (asked.ok() && generation == worker.generation) exit = std::move(told);
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

void SupervisorLink::TellOutcome(const std::vector<uint64_t>& crashes,
                                 const std::string& outcome) {
  {
    std::lock_guard lock(mutex_);
    // Only the bulkheadd that made the records accepts an outcome for them, so
    // no other one is started here.
    if (!alive_) return;
  }
  (void)Call(
      [&](Request::Builder request) {
        auto told = request.initCrashOutcome();
        auto list = told.initCrashes(crashes.size());
        for (size_t i = 0; i < crashes.size(); ++i) list.set(i, crashes[i]);
        told.setOutcome(outcome);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::TellFailover(const StartedWorker& worker,
                                  const std::string& device,
                                  const std::string& text) {
  if (!StillServes(worker)) return;
  // If the call fails, operators are not told; the application is.
  (void)Call(
      [&](Request::Builder request) {
        auto failed = request.initFailedOver();
        failed.setSession(worker.session);
        failed.setDevice(device);
        failed.setText(CleanText(text, kMaxTextBytes));
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::TellFailedFailover(const std::string& device,
                                        const std::string& text) {
  {
    std::lock_guard lock(mutex_);
    // A bulkheadd that is started just for this has nobody who listens.
    if (!alive_) return;
  }
  (void)Call(
      [&](Request::Builder request) {
        auto failed = request.initFailedOver();
        failed.setDevice(device);
        failed.setText(CleanText(text, kMaxTextBytes));
        failed.setFailed(true);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

Result<std::string> SupervisorLink::FindDevice(const std::string& device) {
  std::string backend;
  RETURN_IF_ERROR(
      Ask([&](Request::Builder request) { request.setFindDevice(device); },
          ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isDeviceFound()) return UnexpectedReply();
            backend = reply.getDeviceFound().cStr();
            return Status();
          }));
  return backend;
}

Status SupervisorLink::CheckShadowDevice() {
  if (!shadow() || shadow()->share == 0 || shadow_device_known_) {
    return Status();
  }
  const auto found = FindDevice(shadow()->against);
  const Code code = found ? Code::kOk : found.error().code();
  if (code == Code::kNotFound || code == Code::kInvalidArgument) {
    return found.error().WithContext("option shadow.against of the Host");
  }
  // A backend that is of no use now is no mistake of the application's.
  shadow_device_known_ = true;
  return Status();
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

Status SupervisorLink::Prepare(const std::string& device,
                               CancelSignal* cancel) {
  ASSIGN_OR_RETURN(const auto name, discovery::ParseDeviceName(device));
  return Ask(
      [&](Request::Builder request) { request.setPrepare(name.ToString()); },
      StartPatience(), TakeConfigured, cancel);
}

Status SupervisorLink::Command(const std::string& backend,
                               schema::BackendCommand::Action action,
                               CancelSignal* cancel) {
  return Ask(
      [&](Request::Builder request) {
        auto command = request.initCommand();
        command.setBackend(backend);
        command.setAction(action);
      },
      StartPatience(), TakeConfigured, cancel);
}

Result<std::vector<DeviceInfo>> SupervisorLink::Load(const ExplicitLoad& load,
                                                     CancelSignal* cancel) {
  std::vector<DeviceInfo> devices;
  const Status status = Ask(
      [&](Request::Builder request) {
        auto out = request.initLoad();
        out.setPath(load.path);
        out.setEntryPoint(load.entry_point);
      },
      StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isLoaded()) return UnexpectedReply();
        devices = ToDevices(reply.getLoaded());
        return Status();
      },
      cancel);
  // A backend that is there but does not start, or not yet, stays registered as
  // well.
  if (status.ok() || status.code() == Code::kBackendUnavailable ||
      status.code() == Code::kCancelled) {
    std::lock_guard lock(mutex_);
    if (std::find(loads_.begin(), loads_.end(), load) == loads_.end()) {
      loads_.push_back(load);
    }
  }
  if (!status.ok()) return status;
  return devices;
}

Result<BackendReport> SupervisorLink::Backends(CancelSignal* cancel) {
  BackendReport report;
  report.diagnostics = settings_.plugin_path.diagnostics;
  const Diagnostics& grants = settings_.grant_files.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), grants.begin(),
                            grants.end());
  RETURN_IF_ERROR(
      Ask([](Request::Builder request) { request.setListBackends(); },
          ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isBackends()) return UnexpectedReply();
            AddTo(report, reply.getBackends());
            return Status();
          },
          cancel));
  return report;
}

Result<SandboxReport> SupervisorLink::Sandbox(CancelSignal* cancel) {
  SandboxReport report{};
  RETURN_IF_ERROR(
      Ask([](Request::Builder request) { request.setDescribeSandbox(); },
          settings_.deadlines.backend_start + ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isSandbox()) return UnexpectedReply();
            report = ToReport(reply.getSandbox());
            return Status();
          },
          cancel));
  return report;
}

}  // namespace bulkhead::session
