// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/catalog/backend_roster.h"
#include "core/supervisor/catalog/path_changes.h"

namespace bulkhead::catalog {

// Replaces backends that run by ones from the present files.
//
// A successor is started beside the backend and checked (health_check.h). If it
// passes, new sessions go to the successor, and the old backend drains.
// Otherwise the old backend goes on, and the same files are tried again only on
// command. The attempts are kept in the entries of the roster.
//
// Bound to the event loop's thread.
class HotReload {
 public:
  // All are borrowed; `tasks` must be destroyed before this object.
  HotReload(BackendRoster& roster, PathChanges& changes, kj::TaskSet& tasks)
      : roster_(roster), changes_(changes), tasks_(tasks) {}

  // Replaces the backend, or joins an attempt that is under way.
  kj::Promise<Status> Replace(unsigned number);
  // Does as Replace(), but fails at once if the files were tried and failed.
  // Returns OK if the backend has left its place.
  kj::Promise<Status> ReplaceUnlessTried(unsigned number);
  // Says to each backend whose files changed that they have settled.
  void ReplaceChanged();
  // Returns whether the backend serves, its files changed, and the present
  // files were not tried yet.
  static bool IsToBeReplaced(const BackendRoster::Entry& entry);
  // Returns why a running backend differs from the installed files, such as why
  // a reload was rolled back; empty if it does not differ.
  std::string NoticeOf(const backend::Backend& backend) const;

 private:
  kj::Promise<Status> Replace(BackendRoster::Entry& entry);
  // Ends the attempt: retires the old backend if `checked` is OK. `changes` had
  // been noticed when it began.
  Status Conclude(const BackendPointer& old, const Status& checked,
                  uint64_t changes);

  BackendRoster& roster_;
  PathChanges& changes_;
  kj::TaskSet& tasks_;
};

}  // namespace bulkhead::catalog
