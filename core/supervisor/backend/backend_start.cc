// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_start.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "core/base/status_macros.h"
#include "core/supervisor/backend/device_count.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/files/file_reach.h"
#include "core/supervisor/files/file_settling.h"
#include "core/supervisor/files/first_read.h"
#include "core/supervisor/files/object_verification.h"

namespace bulkhead::backend {
namespace {

using std::chrono::milliseconds;

// The longest time to examine the files of the distribution: enough to hash
// gigabytes. Only the start of this backend waits.
constexpr milliseconds kMostExamination{60'000};

}  // namespace

Granting BackendStart::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(), hash_verdicts_);
}

kj::Promise<void> BackendStart::VerifyGrants(int object,
                                             std::vector<std::string> hashes) {
  if (hashes.empty()) return kj::READY_NOW;
  return files::VerifyObject(context_.port.getTimer(), object, hashes.back())
      .then([this, object, hashes](Status verified) mutable {
        hash_verdicts_[hashes.back()] = verified.ok();
        hashes.pop_back();
        return VerifyGrants(object, std::move(hashes));
      });
}

kj::Promise<Status> BackendStart::CheckQuarantine(int object) {
  if (candidate_.built_in) return Status();
  auto record = context_.quarantine.Find(ObjectPath(candidate_));
  if (!record) return Status();
  const auto lift = [this] {
    // A record that cannot be removed is compared again at the next start.
    (void)context_.quarantine.Lift(ObjectPath(candidate_));
    return Status();
  };
  const discovery::FileIdentity& identity = candidate_.plugin_identity;
  if (record->bytes != identity.bytes ||
      record->modified_ns != identity.modified_ns ||
      record->libraries_ns != libraries_ns_) {
    return lift();
  }
  return files::HashObject(context_.port.getTimer(), object)
      .then([this, lift, record = *std::move(record)](auto hash) -> Status {
        if (!hash) return std::move(hash).error();
        if (*hash != record.hash) return lift();
        quarantine_ = record;
        return Status(record.code, record.reason);
      });
}

kj::Promise<Status> BackendStart::Run() {
  auto paf = kj::newPromiseAndFulfiller<Status>();
  abandon_ = kj::mv(paf.fulfiller);
  under_way_ = true;
  return Attempt()
      .exclusiveJoin(kj::mv(paf.promise))
      .then([this](Status ended) {
        under_way_ = false;
        return ended;
      });
}

void BackendStart::Abandon() {
  abandoned_ = true;
  abandon_->fulfill(Status());
}

kj::Promise<Status> BackendStart::Attempt() {
  return files::ReadFirst(context_.places, candidate_)
      .then([this](Status read) -> kj::Promise<Status> {
        if (!read.ok()) return read;
        return AttemptLocally();
      });
}

kj::Promise<Status> BackendStart::AttemptLocally() {
  granted_ = Granted().effective;
  auto found = discovery::OpenBackend(candidate_);
  if (!found) return std::move(found).error();
  auto opened = std::make_shared<discovery::OpenedBackend>(*std::move(found));
  const int object = opened->plugin.get();
  return VerifyComplete(object)
      .then([this, object](Status verified) -> kj::Promise<Status> {
        if (!verified.ok()) return verified;
        return CheckQuarantine(Loaded(object));
      })
      .then([this, object](Status checked) -> kj::Promise<Status> {
        if (!checked.ok()) return checked;
        return VerifyGrants(Loaded(object), Granted().unverified).then([] {
          return Status();
        });
      })
      .then([this, opened](Status verified) -> kj::Promise<Status> {
        if (!verified.ok()) return verified;
        return FindFiles(*opened);
      })
      .then([this, opened](Status examined) -> kj::Promise<Status> {
        if (!examined.ok()) return examined;
        Status launched = Launch(std::move(*opened));
        if (!launched.ok()) return launched;
        return incarnation_->AwaitReady(context_.start_deadline)
            .then([this](Status status) -> kj::Promise<Status> {
              if (!status.ok()) return BlamingZygote(std::move(status));
              return Probe();
            });
      });
}

kj::Promise<Status> BackendStart::FindFiles(
    const discovery::OpenedBackend& opened) {
  struct stat object = {};
  if (fstat(opened.plugin.get(), &object) != 0) {
    return Status(Code::kBackendUnavailable, "its object cannot be examined");
  }
  own_files_.emplace(opened.directory.get(),
                     discovery::DistributionOf(candidate_),
                     candidate_.plugin_path, object);
  return ExamineFiles(context_.port.getTimer().now() +
                      kMostExamination.count() * kj::MILLISECONDS);
}

kj::Promise<Status> BackendStart::ExamineFiles(kj::TimePoint limit) {
  kj::Timer& timer = context_.port.getTimer();
  if (own_files_->Step()) return Status();
  if (timer.now() > limit) {
    return Status(Code::kBackendUnavailable,
                  "to find out which files are its own took longer than " +
                      std::to_string(kMostExamination.count()) +
                      " ms: ship fewer or smaller files beside the backend");
  }
  // A timer and not evalLater(): kj polls descriptors only when nothing is
  // ready.
  return timer.afterDelay(0 * kj::SECONDS).then([this, limit] {
    return ExamineFiles(limit);
  });
}

kj::Promise<Status> BackendStart::VerifyComplete(int object) {
  const auto once_settled = [this, object] {
    return files::AwaitSettled(context_.port.getTimer(), object,
                               context_.start_deadline)
        .then([this, object](Status settled) -> kj::Promise<Status> {
          if (!settled.ok()) return settled;
          return VerifyCopy(object);
        });
  };
  // Only a hash in RECORD proves that the file is complete. A file with another
  // hash may still be being copied, so it is compared again once it has
  // settled.
  if (candidate_.plugin_hash.empty()) return once_settled();
  return VerifyCopy(object).then(
      [once_settled](Status verified) -> kj::Promise<Status> {
        if (verified.ok()) return verified;
        return once_settled();
      });
}

kj::Promise<Status> BackendStart::VerifyCopy(int object) {
  kj::Timer& timer = context_.port.getTimer();
  // Bulkhead's own files are trusted, and a copy of one would not share the
  // page cache with other processes. Only in tier full does the backend have a
  // root directory of its own, in which a copy can be shown.
  if (candidate_.built_in || context_.tier != sandbox::Tier::kFull) {
    return files::VerifyObject(timer, object, candidate_.plugin_hash);
  }
  return files::CopyObject(timer, object)
      .then([this, &timer, object](auto copied) -> kj::Promise<Status> {
        if (!copied) return std::move(copied).error();
        object_copy_ = *std::move(copied);
        return files::VerifyObject(timer, Loaded(object),
                                   candidate_.plugin_hash);
      });
}

Status BackendStart::Blaming(blame::Culprit culprit, Status status) {
  culprit_ = culprit;
  return status;
}

Status BackendStart::BlamingZygote(Status status) {
  if (status.code() == Code::kResourceExhausted) {
    return Blaming(blame::Culprit::kNobody, std::move(status));
  }
  if (incarnation_->declined()) {
    const std::string obstacle =
        files::ObstacleToFiles(candidate_, context_.reach());
    return obstacle.empty()
               ? status
               : Status(status.code(), status.message() + "; " + obstacle);
  }
  // The machine is the reason, which is no culprit.
  if (status.code() == Code::kSandboxUnavailable) return status;
  if (incarnation_->RanOutBeforeLoading()) {
    return Status(Code::kResourceExhausted, status.message());
  }
  if (incarnation_->before_loading() && !incarnation_->zygote_lost()) {
    return status;
  }
  return Blaming(incarnation_->zygote_lost() ? blame::Culprit::kNobody
                                             : blame::Culprit::kStart,
                 std::move(status));
}

Status BackendStart::Launch(discovery::OpenedBackend opened) {
  // VerifyGrants() may have found further grants that count.
  granted_ = Granted().effective;
  auto files = own_files_->Take();
  diagnostics_ = own_files_->diagnostics();
  own_files_.reset();
  if (!files) return std::move(files).error();
  launched_copy_ = static_cast<bool>(object_copy_);
  ASSIGN_OR_RETURN(launch_,
                   BackendLaunch::Prepare(
                       candidate_, number_, context_, std::move(opened),
                       std::move(object_copy_), *std::move(files), granted_));
  ASSIGN_OR_RETURN(incarnation_, launch_->Launch());
  // Only sessions with start = "exec" launch again; others need no open files.
  if (!StartsByExec(candidate_)) launch_.reset();
  return Status();
}

kj::Promise<Status> BackendStart::Probe() {
  return CountDevices(context_, candidate_, incarnation_)
      .then([this](DeviceCount count) -> Status {
        // The zygote made no probe and did not say why.
        if (count.step == DeviceCount::Step::kCloning &&
            !incarnation_->declined()) {
          return BlamingZygote(std::move(count.status));
        }
        probing_ = count.step == DeviceCount::Step::kCounting;
        devices_ = std::move(count.devices);
        culprit_ = count.culprit;
        return std::move(count.status);
      });
}

}  // namespace bulkhead::backend
