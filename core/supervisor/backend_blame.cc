// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "core/supervisor/backend.h"

// For what a Backend and its devices are to blame while it is ready.
namespace bulkhead::supervisor {
namespace {

// Of a lost device, that a session waits for instead of failing.
constexpr std::chrono::seconds kLongestWait{1};

}  // namespace

bool Backend::DeliversFrames() {
  bool delivers = false;
  for (auto& [id, session] : sessions_) {
    const SessionCounter* counter =
        context_.counters.Find(session.origin.counter);
    const uint64_t frames = counter ? counter->frames.load() : 0;
    if (!counter || frames != session.frames) delivers = true;
    session.frames = frames;
  }
  return delivers;
}

Culprit Backend::InputOrOwn(const std::string& input) {
  if (DeliversFrames()) suspects_.Acquit();
  if (suspects_.convicted()) return Culprit::kBackend;
  if (suspects_.Died(input)) BeginTrial();
  return Culprit::kInput;
}

void Backend::BeginTrial() {
  const auto again = [this](Status status) -> kj::Promise<Status> {
    // One death may be others' doing.
    if (status.ok()) return status;
    return CheckHealth();
  };
  trial_ = CheckHealth()
               .then(again)
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
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const auto [loss, first] = device_losses_.try_emplace(found->second.device);
  if (!first && found->second.opened <= loss->second.counted) return;
  (void)policy_.Failed(Culprit::kDevice, Now());
  loss->second = {.counted = Now(), .retry_at = policy_.retry_at()};
  // The zygote has no device, and serves on.
  policy_.BecameReady(Now());
}

kj::Promise<Status> Backend::AwaitDevice(const std::string& device) {
  const auto loss = device_losses_.find(device);
  if (loss == device_losses_.end() || loss->second.retry_at <= Now()) {
    return Status();
  }
  const auto left = loss->second.retry_at - Now();
  if (left > kLongestWait) {
    return Status(Code::kBackendUnavailable,
                  "the device " + device + " of the backend " +
                      candidate_.name() +
                      " was lost again and again; retry later, or use another");
  }
  return context_.port.getTimer()
      .afterDelay(std::chrono::nanoseconds(left).count() * kj::NANOSECONDS)
      .then([this, device] { return AwaitDevice(device); });
}

}  // namespace bulkhead::supervisor
