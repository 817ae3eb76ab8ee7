// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/health/health_check.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/device_name.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/health/clip_check.h"
#include "core/supervisor/health/known_clip.h"

namespace bulkhead::health {
namespace {

// Has an incarnation decode clips one after another. Owned by the promise of
// its run.
class ClipSequence {
 public:
  ClipSequence(kj::UnixEventPort& port,
               std::shared_ptr<backend::Incarnation> incarnation,
               std::vector<KnownClip> clips)
      : port_(port),
        incarnation_(std::move(incarnation)),
        clips_(std::move(clips)) {}
  KJ_DISALLOW_COPY(ClipSequence);

  // Runs the check on the device with the ordinal `device`; may be called once.
  // `limit` is the time for each clip. Resolves with OK or with the first
  // failure of the backend.
  kj::Promise<Status> Run(uint32_t device, std::chrono::milliseconds limit) {
    if (next_ == clips_.size()) return Status();
    auto check =
        std::make_unique<ClipCheck>(port_, incarnation_, clips_[next_++]);
    auto checked = check->Run(device, limit);
    return checked
        .then([this, &check = *check](Status status) {
          if (!check.unsupported()) ++decoded_;
          return status;
        })
        // The worker ends before the next clip's begins.
        .attach(std::move(check))
        .then([this, device, limit](Status status) -> kj::Promise<Status> {
          if (!status.ok()) return status;
          return Run(device, limit);
        });
  }
  // Returns how many clips were decoded. The backend does not support the
  // codecs of the others. Call it after the check.
  size_t decoded() const { return decoded_; }

 private:
  kj::UnixEventPort& port_;
  const std::shared_ptr<backend::Incarnation> incarnation_;
  const std::vector<KnownClip> clips_;
  size_t next_ = 0;  // the clip that is checked next
  size_t decoded_ = 0;
};

// Judges a start that failed. `of_device` is true if the check is to find out
// whether a device is lost.
Status JudgeStart(const backend::BackendStart& start, const Status& failure,
                  bool of_device) {
  // A start that fails before the devices are counted proves nothing here: the
  // files may have changed, and the next start will show that.
  const ExitReport* const end = failure.exit_report();
  const bool late = end != nullptr && end->kind == ExitReport::Kind::kDeadline;
  // Without a culprit, the worker that counts devices itself said that there is
  // no device.
  const bool fails =
      start.culprit() ? *start.culprit() != blame::Culprit::kNobody : of_device;
  if (start.probing() && !late && fails) return failure;
  return Status(Code::kResourceExhausted, failure.message());
}

}  // namespace

kj::Promise<backend::DecodingCheck::Outcome> HealthCheck::CheckRunning(
    const discovery::BackendCandidate& candidate,
    const backend::StartContext& context,
    std::shared_ptr<backend::Incarnation> incarnation,
    const backend::CountedDevice& device) const {
  KnownClips known = ClipsFor(candidate, device.capabilities);
  auto check = std::make_unique<ClipSequence>(
      context.port, std::move(incarnation), std::move(known.clips));
  auto checked = check->Run(device.ordinal, context.worker_deadline);
  return checked
      .then([&check = *check,
             left_out = std::move(known.left_out)](Status status) {
        Outcome outcome{.status = std::move(status)};
        if (outcome.status.ok() && check.decoded() == 0) {
          outcome.unchecked =
              "its decoding was not checked, since " +
              (left_out.empty() ? "it does not support the codec of "
                                  "Bulkhead's built-in clip"
                                : left_out) +
              "; open a stream to try it";
        }
        return outcome;
      })
      .attach(std::move(check));
}

kj::Promise<backend::DecodingCheck::Outcome> HealthCheck::CheckAfresh(
    const discovery::BackendCandidate& candidate, unsigned number,
    const backend::StartContext& context, const std::string& device) const {
  auto start =
      std::make_unique<backend::BackendStart>(candidate, number, context);
  auto started = start->Run();
  return started
      .then([this, &candidate, &context, device,
             &start = *start](Status started) -> kj::Promise<Outcome> {
        const bool launched = start.incarnation() != nullptr;
        if (!started.ok()) {
          return Outcome{.status = JudgeStart(start, started, !device.empty()),
                         .launched = launched};
        }
        backend::Devices devices(candidate);
        devices.Set(start.devices());
        if (device.empty()) {
          return CheckRunning(candidate, context, start.incarnation(),
                              devices.first());
        }
        const auto name = ParseDeviceName(device);
        if (!name) return Outcome{.status = name.error()};
        const auto found = devices.Find(*name);
        if (!found) return Outcome{.status = found.error()};
        return CheckRunning(candidate, context, start.incarnation(), *found);
      })
      .attach(std::move(start));
}

}  // namespace bulkhead::health
