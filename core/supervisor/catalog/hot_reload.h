// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/catalog/backend_roster.h"
#include "core/supervisor/catalog/path_changes.h"

namespace bulkhead::catalog {

// Replaces each running backend whose files changed by a successor: a new
// backend from the changed files.
//
// A successor is started beside the old backend and checked (health_check.h).
// If it passes, new sessions go to the successor, and the old backend drains.
// If it fails, the old backend goes on, and the same files are tried again only
// on an operator's command. Each entry of the roster holds its last attempt.
//
// Bound to the event loop's thread.
class HotReload {
 public:
  // All are borrowed; `tasks` must be destroyed before this object.
  HotReload(BackendRoster& roster, PathChanges& changes, kj::TaskSet& tasks)
      : roster_(roster), changes_(changes), tasks_(tasks) {}

  // Replaces the backend with that number, or joins an attempt that is under
  // way. Resolves with the outcome.
  kj::Promise<Status> Replace(unsigned number);
  // Does the same, but fails at once if the installed files were tried before
  // and failed. Resolves with OK if the backend was replaced meanwhile.
  kj::Promise<Status> ReplaceUnlessTried(unsigned number);
  // Reports to each backend whose files changed that the files have settled.
  // The backend then asks for a successor.
  void ReplaceChanged();
  // Returns whether the backend starts or is ready, its files changed, and the
  // installed files were not tried yet.
  static bool IsToBeReplaced(const BackendRoster::Entry& entry);
  // Returns, for operators, why a running backend is not from the installed
  // files: they were removed, or a successor from them failed. Empty if it is.
  std::string NoticeOf(const backend::Backend& backend) const;

 private:
  kj::Promise<Status> Replace(BackendRoster::Entry& entry);
  // Ends an attempt: if `checked` is OK, retires the old backend and gives its
  // place to the successor. `changes` is PathChanges::count() at the beginning
  // of the attempt.
  Status Conclude(const BackendPointer& old, const Status& checked,
                  uint64_t changes);

  BackendRoster& roster_;
  PathChanges& changes_;
  kj::TaskSet& tasks_;
};

}  // namespace bulkhead::catalog
