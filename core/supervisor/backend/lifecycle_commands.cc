// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <memory>
#include <utility>

#include "core/supervisor/backend/fresh_check.h"
#include "core/supervisor/backend/lifecycle.h"
#include "core/supervisor/files/file_reach.h"
#include "core/supervisor/files/first_read.h"
#include "core/supervisor/files/object_verification.h"

// What a Lifecycle does for operators, for the catalog that sees its files
// change, and for Blame.
namespace bulkhead::supervisor {

using State = BackendState;
using Event = BackendEvent;

kj::Promise<Status> Lifecycle::Restart() {
  return machine_.Raise(Event::kRestartAsked,
                        {.text = "it was restarted on command"});
}

kj::Promise<Status> Lifecycle::Disable() {
  return machine_.Raise(Event::kDisableAsked,
                        {.text = "it was disabled on command"});
}

kj::Promise<Status> Lifecycle::Enable() {
  // No operator disabled it: only other files help.
  if (!candidate_.usable()) return refusal_;
  return machine_.Raise(Event::kEnableAsked);
}

kj::Promise<Status> Lifecycle::Reload() {
  return machine_.Raise(Event::kReloadAsked);
}

bool Lifecycle::FilesChanged() {
  machine_.Raise(Event::kFilesChanged);
  return state() == State::kDraining;
}

kj::Promise<Status> Lifecycle::FilesSettled() {
  return machine_.Raise(Event::kFilesSettled);
}

bool Lifecycle::RunsOnItsFile() const {
  // No file takes the pages of a copy away, and the inode that it was made from
  // may be the number of another file by now. A zygote that is dead already
  // raises its own end.
  return !(start_ && start_->runs_copy()) && current_ &&
         current_->zygote_alive();
}

kj::Promise<void> Lifecycle::EndIfOverwritten() {
  const std::string object = ObjectPath(candidate_);
  struct stat now = {};
  return context_.places.Ask(object, [&] { ::stat(object.c_str(), &now); })
      .then([this](bool answers) {
        if (answers) CompareWithFile();
      });
}

void Lifecycle::CompareWithFile() {
  struct stat now = {};
  if (!RunsOnItsFile() || ::stat(ObjectPath(candidate_).c_str(), &now) != 0) {
    return;
  }
  const discovery::FileIdentity& loaded = candidate_.plugin_identity;
  const int64_t modified_ns =
      int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  // Another inode is a file renamed into place, which leaves the old object's
  // pages to whoever has mapped them.
  if (now.st_dev != loaded.device || now.st_ino != loaded.inode ||
      (now.st_size == loaded.bytes && modified_ns == loaded.modified_ns)) {
    return;
  }
  machine_.Raise(Event::kFilesOverwritten,
                 {.text = "its object was overwritten while it ran"});
}

bool Lifecycle::Retire() {
  machine_.Raise(Event::kSuccessorReady);
  return state() == State::kDraining;
}

void Lifecycle::SessionsEnded() { machine_.Raise(Event::kSessionsEnded); }

kj::Promise<void> Lifecycle::WhenDrained() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  drained_ = kj::mv(paf.fulfiller);
  return kj::mv(paf.promise);
}

kj::Promise<Status> Lifecycle::CheckHealth() { return CheckAfresh(""); }

kj::Promise<Status> Lifecycle::CheckAfresh(const std::string& device) {
  if (!CanBeTried()) {
    return Status(Code::kBackendLost, "it ended before it could be checked");
  }
  auto check = std::make_unique<FreshCheck>(candidate_, number_, context_);
  const uint64_t refused_tasks = context_.task_limits.Refusals();
  auto checked = check->Run(device);
  return checked
      .then([this, device,
             &check = *check](Status status) -> kj::Promise<Status> {
        // Of files that are gone the zygote is the only copy. Its clones that
        // decode our clips have tasks that workers with media must leave.
        if (!check.launched() && device.empty() && CanBeTried()) {
          return CheckClipsOn(candidate_, context_, current_, devices_.first(),
                              reason_);
        }
        if (!check.unchecked().empty()) reason_ = check.unchecked();
        return status;
      })
      .then([this, refused_tasks](Status status) {
        // A process of its own has a count of its own, and the limits that
        // others have set all the same.
        if (status.ok() || !context_.task_limits.WereUsedUp(refused_tasks)) {
          return status;
        }
        return Status(Code::kResourceExhausted, status.message());
      })
      .attach(std::move(check));
}

kj::Promise<Lifecycle::DeviceFate> Lifecycle::CheckDevice(
    const std::string& device, std::chrono::steady_clock::time_point opened) {
  DeviceCheck& check = device_checks_[device];
  if (!check.under_way) {
    // A session that was opened before that answer has lost the device with
    // those that got it.
    if (check.sessions > 0 && opened < check.over) {
      return DeviceFate{.lost = check.fate.lost, .together = true};
    }
    check.under_way = true;
    check.sessions = 0;
    check.ends =
        CheckAfresh(device)
            .then([this, &check](const Status& status) {
              check.under_way = false;
              check.over = Now();
              check.fate = {.lost = !status.ok() && !ProvesNothing(status) &&
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

kj::Promise<Status> Lifecycle::CheckNewVersion() {
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
  return CheckClipsOn(candidate_, context_, current_, devices_.first(),
                      reason_);
}

QuarantineRecord Lifecycle::DescribeObject() const {
  return {.backend = candidate_.name(),
          .path = ObjectPath(candidate_),
          .bytes = candidate_.plugin_identity.bytes,
          .modified_ns = candidate_.plugin_identity.modified_ns,
          .hash = "",
          .reason = ""};
}

kj::Promise<Result<std::string>> Lifecycle::HashObject() {
  using Hash = Result<std::string>;
  return ReadFirst(context_.places, candidate_)
      .then([this](Status read) -> kj::Promise<Hash> {
        if (!read.ok()) return Hash(read);
        auto opened = discovery::OpenBackend(candidate_);
        if (!opened) return Hash(opened.error());
        const int object = opened->plugin.get();
        return supervisor::HashObject(context_.port.getTimer(), object)
            .attach(*std::move(opened));
      });
}

std::vector<std::string> Lifecycle::DescribeAccess(
    Diagnostics& diagnostics) const {
  if (candidate_.usable() && !candidate_.built_in &&
      context_.places.Answered(candidate_.directory)) {
    const std::string obstacle = ObstacleToFiles(candidate_, context_.reach());
    if (!obstacle.empty()) {
      diagnostics.push_back({Diagnostic::Severity::kWarning,
                             ObjectPath(candidate_), 0, obstacle});
    }
  }
  const bool runs = state() == State::kReady;
  if (start_) {
    const Diagnostics& of_files = start_->diagnostics();
    diagnostics.insert(diagnostics.end(), of_files.begin(), of_files.end());
  }
  return DescribeGrants(candidate_, Granted(), context_.reach(),
                        runs ? &start_->granted() : nullptr, diagnostics);
}

}  // namespace bulkhead::supervisor
