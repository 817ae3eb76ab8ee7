// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::catalog {

using BackendPointer = std::shared_ptr<backend::Backend>;

// The last attempt to replace a running backend by one from the present files
// (hot_reload.h).
struct ReloadAttempt {
  discovery::BackendCandidate files;
  BackendPointer successor;  // null once the attempt is over
  std::string failure;       // why the old backend goes on
  std::optional<kj::ForkedPromise<Status>> outcome;
};

// The backends that this bulkheadd has, each in the place that its candidate
// has in the order of precedence. A backend that left its place drains: it ends
// with its last session.
//
// A search (plugin_search.h) gives a place to each candidate:
// - A backend that does not run is replaced by one from the new files.
// - A backend that runs keeps its place, also if its files were removed.
//
// Bound to the event loop's thread; reads no file.
class BackendRoster {
 public:
  struct Entry {
    BackendPointer backend;
    // The present files; empty if they were removed.
    std::optional<discovery::BackendCandidate> present;
    ReloadAttempt attempt;
  };

  // `context` and `keeper` must outlive this object, `tasks` must be destroyed
  // before it.
  BackendRoster(const backend::StartContext& context,
                backend::BackendKeeper& keeper, kj::TaskSet& tasks)
      : context_(context), keeper_(keeper), tasks_(tasks) {}

  // Takes what a search has found. A backend in a directory for which
  // `is_silent` returns true keeps its files.
  void Update(discovery::Discovery latest,
              const std::function<bool(const std::string&)>& is_silent);
  // Makes a backend that has no place yet.
  BackendPointer Make(const discovery::BackendCandidate& candidate);
  // Gives the place of an entry to its successor.
  void Succeed(Entry& entry, BackendPointer successor);

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // The latest search. It has the backends of entries(), in that order.
  const discovery::Discovery& discovery() const { return discovery_; }
  // Returns the entry of a backend in its place, or null.
  Entry* InPlace(unsigned number);
  const Entry* EntryOf(const backend::Backend& backend) const;

  // Returns all backends; those that drain come last.
  std::vector<BackendPointer> All() const;
  std::vector<BackendPointer> Usable() const;
  // Returns the backend that has `device`; see discovery::FindBackend.
  Result<BackendPointer> Find(const DeviceName& device) const;
  // Returns the backend that has the device, if it serves now.
  BackendPointer Serving(const DeviceName& device) const;
  // Returns the backend of that name. If several have it, returns the usable
  // one.
  Result<BackendPointer> Named(const std::string& name) const;
  // Returns the backend that serves the session, or null.
  BackendPointer OfSession(uint64_t session) const;

 private:
  // Keeps a backend that left its place until its last session has ended.
  void Drain(BackendPointer old);
  // Returns a number that gives the backend a uid of its own outside the
  // sandbox (sandbox::OutsideId).
  unsigned FreeNumber();

  const backend::StartContext& context_;
  backend::BackendKeeper& keeper_;
  kj::TaskSet& tasks_;
  discovery::Discovery discovery_;
  std::vector<Entry> entries_;
  std::vector<BackendPointer> draining_;
  // All that live, also those that have no place yet.
  std::vector<std::weak_ptr<backend::Backend>> made_;
  unsigned next_number_ = 0;
};

}  // namespace bulkhead::catalog
