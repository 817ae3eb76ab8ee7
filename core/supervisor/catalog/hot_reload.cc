// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/hot_reload.h"

#include <utility>

namespace bulkhead::catalog {

bool HotReload::IsToBeReplaced(const BackendRoster::Entry& entry) {
  if (!entry.present || *entry.present == entry.backend->candidate()) {
    return false;
  }
  // A backend that is starting is replaced once it is ready. A backend that
  // does not run was replaced by the search already (backend_roster.h).
  return entry.backend->lifecycle().serving() &&
         !(entry.attempt.files == *entry.present);
}

void HotReload::ReplaceChanged() {
  // Collected first, since an attempt may begin at once and change the entries.
  std::vector<BackendPointer> changed;
  for (const BackendRoster::Entry& entry : roster_.entries()) {
    if (IsToBeReplaced(entry)) changed.push_back(entry.backend);
  }
  for (const BackendPointer& backend : changed) {
    tasks_.add(backend->external_events().FilesSettled().ignoreResult());
  }
}

kj::Promise<Status> HotReload::Replace(unsigned number) {
  BackendRoster::Entry* entry = roster_.InPlace(number);
  // A draining backend has no place that a successor could take.
  if (entry == nullptr) {
    return Status(Code::kBackendLost, "the backend was replaced meanwhile");
  }
  return Replace(*entry);
}

kj::Promise<Status> HotReload::ReplaceUnlessTried(unsigned number) {
  BackendRoster::Entry* entry = roster_.InPlace(number);
  if (entry == nullptr) return Status();
  const std::string failure = NoticeOf(*entry->backend);
  // Without this check, every session would start the same broken files once
  // more.
  if (!failure.empty() && !entry->attempt.successor) {
    return Status(
        Code::kBackendUnavailable,
        "the backend " + entry->backend->candidate().name() + ": " + failure);
  }
  return Replace(*entry);
}

kj::Promise<Status> HotReload::Replace(BackendRoster::Entry& entry) {
  if (!entry.present) return Status(Code::kNotFound, NoticeOf(*entry.backend));
  ReloadAttempt& attempt = entry.attempt;
  if (attempt.successor) return attempt.outcome->addBranch();
  const BackendPointer successor = roster_.Make(*entry.present);
  auto outcome =
      successor->lifecycle()
          .EnsureReady()
          .then([successor](Status ready) -> kj::Promise<Status> {
            if (!ready.ok()) return ready;
            return successor->lifecycle().trials().CheckNewVersion();
          })
          .then([this, old = entry.backend, changes = changes_.count()](
                    Status checked) { return Conclude(old, checked, changes); })
          .fork();
  // This branch keeps the attempt going if the caller drops its promise.
  tasks_.add(outcome.addBranch().ignoreResult());
  auto branch = outcome.addBranch();
  attempt.files = *entry.present;
  attempt.successor = successor;
  attempt.outcome = kj::mv(outcome);
  return branch;
}

Status HotReload::Conclude(const BackendPointer& old, const Status& checked,
                           uint64_t changes) {
  // A search during the attempt may have given the place to another backend.
  BackendRoster::Entry* entry = roster_.InPlace(old->lifecycle().number());
  BackendPointer successor =
      entry == nullptr ? nullptr : std::move(entry->attempt.successor);
  // Files that changed during the attempt may differ from those just checked.
  if (changes_.count() != changes) changes_.Note();
  if (entry == nullptr) {
    return Status(Code::kBackendLost,
                  "the backend " + old->candidate().name() +
                      " was replaced or removed while it was reloaded; see "
                      "`bulkhead backends`");
  }
  if (!checked.ok() || !old->external_events().Retire()) {
    const std::string why =
        checked.ok() ? "it was disabled meanwhile" : checked.message();
    std::string& failure = entry->attempt.failure;
    failure =
        "what is installed now is not used, and what ran before goes on: " +
        why +
        "; it is tried again when its files change or after `bulkhead "
        "reload " +
        old->candidate().name() + "`";
    return Status(checked.code() == Code::kBackendMisbehaved
                      ? Code::kBackendMisbehaved
                      : Code::kBackendUnavailable,
                  "the backend " + old->candidate().name() +
                      " was not reloaded: " + failure);
  }
  roster_.Succeed(*entry, std::move(successor));
  return Status();
}

std::string HotReload::NoticeOf(const backend::Backend& backend) const {
  if (backend.lifecycle().state() == backend::BackendState::kDraining)
    return "";
  const BackendRoster::Entry* entry = roster_.EntryOf(backend);
  if (entry == nullptr || !entry->present) {
    return "its files were removed; it goes on with what it has in memory";
  }
  const bool failed = entry->attempt.files == *entry->present;
  return failed ? entry->attempt.failure : "";
}

}  // namespace bulkhead::catalog
