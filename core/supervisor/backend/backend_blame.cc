// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "core/supervisor/backend/backend.h"

// For what a Backend and its devices are to blame while it is ready.
namespace bulkhead::supervisor {
namespace {

// Of a lost device, that a session waits for instead of failing.
constexpr std::chrono::seconds kLongestWait{1};

}  // namespace

void Backend::NoteFrames() {
  for (auto& [id, session] : sessions_) {
    const SessionCounter* counter =
        context_.counters.Find(session.origin.counter);
    const uint64_t frames = counter ? counter->frames.load() : 0;
    if (counter && frames == session.frames) continue;
    session.frames = frames;
    suspects_.Acquit();
    device_losses_.erase(session.device);
  }
}

Culprit Backend::InputOrOwn(const std::string& input) {
  NoteFrames();
  if (suspects_.convicted()) return Culprit::kBackend;
  if (suspects_.Died(input)) BeginTrial();
  return Culprit::kInput;
}

void Backend::BeginTrial() {
  trial_ = CheckHealth()
               .then([this](Status status) -> kj::Promise<Status> {
                 // One death may be others' doing.
                 if (status.ok()) return status;
                 return CheckHealth();
               })
               .then([this](Status status) {
                 const bool ready =
                     state_ == BackendState::kReady && current_->zygote_alive();
                 suspects_.Judge(status.ok() || !ready);
                 if (!suspects_.convicted()) return;
                 // They were not to blame.
                 inputs_.Forget();
                 CountFailure(Code::kBackendUnavailable,
                              "its workers died of " +
                                  std::to_string(Suspects::kTooMany) +
                                  " different inputs, one after another, and " +
                                  status.message());
               })
               .eagerlyEvaluate(nullptr);
}

void Backend::CountDeviceLoss(uint64_t session) {
  NoteFrames();
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const auto [losses, first] = device_losses_.try_emplace(
      found->second.device, DeviceLosses{NewPolicy(), Now()});
  if (!first && found->second.opened <= losses->second.latest) return;
  losses->second.latest = Now();
  (void)losses->second.policy.Failed(Culprit::kDevice, Now());
}

kj::Promise<Status> Backend::AwaitDevice(const std::string& device) {
  const auto losses = device_losses_.find(device);
  if (losses == device_losses_.end() ||
      !losses->second.policy.backs_off(Now())) {
    return Status();
  }
  const auto left = losses->second.policy.retry_at() - Now();
  if (left > kLongestWait) {
    return Status(Code::kBackendUnavailable,
                  "the device " + device + " of the backend " +
                      candidate_.name() +
                      " was lost again and again; retry later, or use another");
  }
  return context_.port.getTimer()
      .afterDelay(std::chrono::nanoseconds(left).count() * kj::NANOSECONDS)
      .then([this] { return EnsureReady(); })
      .then([this, device](Status ready) -> kj::Promise<Status> {
        if (!ready.ok()) return ready;
        return AwaitDevice(device);
      });
}

}  // namespace bulkhead::supervisor
