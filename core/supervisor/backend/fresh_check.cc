// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/fresh_check.h"

#include <memory>
#include <utility>

#include "core/base/device_name.h"
#include "core/supervisor/backend/check_clip.h"

namespace bulkhead::supervisor {

kj::Promise<Status> CheckClipsOn(const discovery::BackendCandidate& candidate,
                                 const StartContext& context,
                                 std::shared_ptr<Incarnation> incarnation,
                                 const CountedDevice& device,
                                 std::string& unchecked) {
  CheckClips check_clips = ClipsFor(candidate, device.capabilities);
  auto check = std::make_unique<HealthCheck>(
      context.port, std::move(incarnation), std::move(check_clips.clips));
  auto checked = check->Run(device.ordinal, context.worker_deadline);
  return checked
      .then([&unchecked, &check = *check,
             left_out = std::move(check_clips.left_out)](Status status) {
        if (status.ok() && check.decoded() == 0) {
          unchecked = "its decoding was not checked, since " +
                      (left_out.empty() ? "it does not support the codec of "
                                          "Bulkhead's built-in clip"
                                        : left_out) +
                      "; open a stream to try it";
        }
        return status;
      })
      .attach(std::move(check));
}

kj::Promise<Status> FreshCheck::Run(const std::string& device) {
  return start_.Run().then(
      [this, device](Status started) -> kj::Promise<Status> {
        if (!started.ok()) return JudgeStart(started, !device.empty());
        devices_.Set(start_.devices());
        if (device.empty()) return Decode(devices_.first());
        const auto name = discovery::ParseDeviceName(device);
        if (!name) return name.error();
        const auto found = devices_.Find(*name);
        if (!found) return found.error();
        return Decode(*found);
      });
}

kj::Promise<Status> FreshCheck::Decode(const CountedDevice& device) {
  return CheckClipsOn(candidate_, context_, start_.incarnation(), device,
                      unchecked_);
}

Status FreshCheck::JudgeStart(const Status& failure, bool of_device) const {
  // A start that fails before the devices are counted proves nothing here: the
  // files may have changed, and the next start will tell.
  const ExitReport* const end = failure.exit_report();
  const bool late = end != nullptr && end->kind == ExitReport::Kind::kDeadline;
  // Without a culprit, the list itself says that there is no device.
  const bool fails =
      start_.culprit() ? *start_.culprit() != Culprit::kNobody : of_device;
  if (start_.probing() && !late && fails) return failure;
  return Status(Code::kResourceExhausted, failure.message());
}

}  // namespace bulkhead::supervisor
