// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/trials.h"

#include <utility>

#include "core/base/application_limits.h"
#include "core/supervisor/files/first_read.h"
#include "core/supervisor/files/object_verification.h"

namespace bulkhead::backend {

bool Trials::ProvesNothingElsewhere() const {
  return !LowLimits().empty() ||
         context_.task_limits.WereUsedUp(incarnations_.refused_tasks());
}

bool Trials::CanBeTried() const {
  return owner_.IsReady() && incarnations_.current()->zygote_alive();
}

std::chrono::steady_clock::time_point Trials::Now() const {
  const kj::Duration since =
      context_.port.getTimer().now() - kj::origin<kj::TimePoint>();
  return blame::RestartPolicy::Time(
      std::chrono::nanoseconds(since / kj::NANOSECONDS));
}

kj::Promise<Status> Trials::CheckHealth() { return CheckAfresh(""); }

kj::Promise<Status> Trials::CheckAfresh(const std::string& device) {
  if (!CanBeTried()) {
    return Status(Code::kBackendLost, "it ended before it could be checked");
  }
  const uint64_t refused_tasks = context_.task_limits.Refusals();
  return context_.decoding.CheckAfresh(candidate_, number_, context_, device)
      .then([this, device](DecodingCheck::Outcome checked)
                -> kj::Promise<DecodingCheck::Outcome> {
        // If nothing could be launched, the files may be gone, and the zygote
        // is the only copy of them. So its clones decode the clips, with tasks
        // that workers with media must leave free.
        if (checked.launched || !device.empty() || !CanBeTried()) {
          return checked;
        }
        return context_.decoding.CheckRunning(candidate_, context_,
                                              incarnations_.current(),
                                              incarnations_.devices().first());
      })
      .then([this](DecodingCheck::Outcome checked) {
        return Explain(std::move(checked));
      })
      .then([this, refused_tasks](Status status) {
        // A fresh incarnation has its own count of tasks, but limits that
        // others have set hold for it, too. If they were used up, a failure
        // proves nothing.
        if (status.ok() || !context_.task_limits.WereUsedUp(refused_tasks)) {
          return status;
        }
        return Status(Code::kResourceExhausted, status.message());
      });
}

Status Trials::Explain(DecodingCheck::Outcome checked) {
  if (!checked.unchecked.empty()) owner_.Explain(std::move(checked.unchecked));
  return std::move(checked.status);
}

kj::Promise<Trials::DeviceFate> Trials::CheckDevice(
    const std::string& device, std::chrono::steady_clock::time_point opened) {
  DeviceCheck& check = device_checks_[device];
  if (!check.under_way) {
    // A session that was opened before the last check was over has lost the
    // device together with the sessions that waited for that check.
    if (check.sessions > 0 && opened < check.over) {
      return DeviceFate{.lost = check.fate.lost, .together = true};
    }
    check.under_way = true;
    check.sessions = 0;
    check.ends = CheckAfresh(device)
                     .then([this, &check](const Status& status) {
                       check.under_way = false;
                       check.over = Now();
                       check.fate = {.lost = !status.ok() &&
                                             !blame::ProvesNothing(status) &&
                                             CanBeTried(),
                                     .together = check.sessions > 1};
                     })
                     .fork();
  }
  ++check.sessions;
  return KJ_ASSERT_NONNULL(check.ends).addBranch().then([&check] {
    return check.fate;
  });
}

kj::Promise<Status> Trials::CheckNewVersion() {
  for (const discovery::OwnClip& clip : candidate_.own_clips) {
    if (clip.fault.empty()) continue;
    return Status(Code::kBackendUnavailable,
                  "its bulkhead.toml names a clip for health checks that "
                  "cannot be used: " +
                      clip.fault);
  }
  if (!CanBeTried()) {
    return Status(Code::kBackendLost, "it ended before it could be checked");
  }
  return context_.decoding
      .CheckRunning(candidate_, context_, incarnations_.current(),
                    incarnations_.devices().first())
      .then([this](DecodingCheck::Outcome checked) {
        return Explain(std::move(checked));
      });
}

blame::QuarantineRecord Trials::DescribeObject() const {
  return {.backend = candidate_.name(),
          .path = ObjectPath(candidate_),
          .bytes = candidate_.plugin_identity.bytes,
          .modified_ns = candidate_.plugin_identity.modified_ns,
          .hash = "",
          .reason = ""};
}

kj::Promise<Result<std::string>> Trials::HashObject() {
  using Hash = Result<std::string>;
  return files::ReadFirst(context_.places, candidate_)
      .then([this](Status read) -> kj::Promise<Hash> {
        if (!read.ok()) return Hash(read);
        auto opened = discovery::OpenBackend(candidate_);
        if (!opened) return Hash(opened.error());
        const int object = opened->plugin.get();
        return files::HashObject(context_.port.getTimer(), object)
            .attach(*std::move(opened));
      });
}

}  // namespace bulkhead::backend
